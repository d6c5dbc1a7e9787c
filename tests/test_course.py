"""What lectures have in common: found, understood, refused in one sentence."""

import json

import pytest

from tests.outside import copy_of_the_tool, tool
from trace.errors import UsageError
from trace.serve.course import NO_COURSE, Course, course_of
from trace.serve.overlay import Shown, extra_files

FACTS = {"title": "Bits & <b>", "author": "A. Author", "date": "2026", "licence": "CC BY 4.0"}
SETTINGS = "".join(f'{name} = "{text}"\n' for name, text in FACTS.items())
GROUPS = """
[[groups]]
title = "Week 1"
lectures = ["b", "a"]

[[groups]]
title = "Week 2"
lectures = ["d", "nowhere"]
"""
DOCUMENTS = [{"module": name} for name in "abcd"]


def test_it_is_found_in_the_folder_or_above_it_and_the_nearest_counts(tmp_path):
    folder = tmp_path / "course/week1"
    folder.mkdir(parents=True)
    assert course_of(folder) == NO_COURSE
    (tmp_path / "pyproject.toml").write_text(f"[tool.lecture-trace]\n{SETTINGS}")
    assert course_of(folder) == Course(FACTS)
    (tmp_path / "course/pyproject.toml").write_text("[tool.other]\ntitle = 1\n")
    assert course_of(folder) == Course(FACTS)
    (tmp_path / "course/lecture.toml").write_text('title = "Nearer"')
    assert course_of(folder) == Course({"title": "Nearer"})


def test_groups_are_the_order_and_the_others_follow(tmp_path):
    (tmp_path / "lecture.toml").write_text(SETTINGS + GROUPS)
    found = course_of(tmp_path).index([dict(one) for one in DOCUMENTS])
    assert found["course"] == FACTS
    assert [(one["module"], one.get("group")) for one in found["documents"]] == [
        ("b", "Week 1"),
        ("a", "Week 1"),
        ("d", "Week 2"),
        ("c", None),
    ]


def test_a_lecture_that_left_its_group_is_in_none(tmp_path):
    (tmp_path / "lecture.toml").write_text(GROUPS)
    found = course_of(tmp_path).index([{"module": "c", "group": "Week 1"}])
    assert found["documents"] == [{"module": "c"}]


def test_without_a_course_the_index_stays_as_it_is():
    assert NO_COURSE.index(DOCUMENTS) == {"documents": DOCUMENTS}


# settings -> what is said
WRONG = [
    (
        "titel = 'x'",
        "lecture.toml: titel is none of title, author, date, licence, language, address, accent, ",
    ),
    ("title = 1", "lecture.toml: title has to be a text in quotes."),
    ("language = 'English!'", "lecture.toml: English! is no language: write en, de or pt-BR."),
    ("address = 'example.org'", "lecture.toml: example.org is no address: write https://"),
    ("picture = 'no.svg'", "lecture.toml: picture has to be a file beside it that ends in .png or"),
    ("groups = 1", "lecture.toml: groups are written as [[groups]] with title = "),
    ("[[groups]]\ntitle = 'x'", "lecture.toml: groups are written as [[groups]] with title = "),
    ("[[groups]]\ntitle = 'x'\nlectures = [1]", "lecture.toml: groups are written as [[groups]]"),
    ("title = ", "lecture.toml cannot be read: "),
    ("accent = 'red; x'", 'lecture.toml: accent is a colour such as "#1f5fa8", or one for light'),
    ("accent = ['red']", 'lecture.toml: accent is a colour such as "#1f5fa8", or one for light'),
    ("links = 1", "lecture.toml: links are written as [[links]] with title = "),
    ("[[links]]\ntitle='a'\naddress='javascript:x'", "lecture.toml: links are written as [[links]"),
    ("logo = 'no.svg'", "lecture.toml: logo has to be a file beside it that ends in .svg or .png"),
    ("css = 'lecture.toml'", "lecture.toml: css has to be a file beside it that ends in .css; "),
]


@pytest.mark.parametrize(("settings", "sentence"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(settings, sentence, tmp_path):
    (tmp_path / "lecture.toml").write_text(settings)
    with pytest.raises(UsageError) as said:
        course_of(tmp_path)
    assert str(said.value).startswith(sentence)
    assert "\n" not in str(said.value)


@pytest.mark.parametrize("rule", ["@import 'a.css';", "p { background: url(https://x.example) }"])
def test_a_style_sheet_fetches_nothing(rule, tmp_path):
    (tmp_path / "own.css").write_text(rule)
    (tmp_path / "lecture.toml").write_text("css = 'own.css'")
    with pytest.raises(UsageError, match=r"^own\.css: a page fetches nothing from elsewhere: "):
        course_of(tmp_path)


LOOKS = """
accent = ["#1f5fa8", "#7fb4f0"]
logo = "img/Logo.SVG"
css = "own.css"
[[links]]
title = "Forum"
address = "https://forum.example"
"""


def test_it_may_have_looks_of_its_own(tmp_path):
    (tmp_path / "img").mkdir()
    (tmp_path / "img/Logo.SVG").write_text("<svg/>")
    (tmp_path / "own.css").write_text("p { background: url(data:image/png;base64,AA) }")
    (tmp_path / "lecture.toml").write_text(LOOKS)
    (tmp_path / "a.py").write_text("def main(): pass\n")
    repository = copy_of_the_tool(tmp_path / "tool")
    command = {"cwd": tmp_path, "folder": repository / "trace"}
    assert tool("a.py", "--site", "site", "-q", **command) == (0, "", "")
    course = json.loads((tmp_path / "site/traces/index.json").read_bytes())["course"]
    assert course == {
        "accent": ["#1f5fa8", "#7fb4f0"],
        "links": [{"title": "Forum", "address": "https://forum.example"}],
        "logo": "course/logo.svg",
        "css": "course/css.css",
    }
    assert (tmp_path / "site" / course["logo"]).read_text() == "<svg/>"
    assert (tmp_path / "site" / course["css"]).read_bytes() == (tmp_path / "own.css").read_bytes()
    served = extra_files(Shown(course=course_of(tmp_path)))
    assert served["/course/logo.svg"]() == b"<svg/>"


def test_it_says_where_it_will_lie_and_how_links_to_it_look(tmp_path):
    (tmp_path / "preview.png").write_bytes(b"PNG")
    (tmp_path / "lecture.toml").write_text(
        "address = 'https://example.org/it'\npicture = 'preview.png'"
    )
    course = course_of(tmp_path)
    assert course.facts == {
        "address": "https://example.org/it/",
        "picture": "course/picture.png",
    }
    assert course.files == {"course/picture.png": tmp_path / "preview.png"}


def test_a_site_has_it(tmp_path):
    repository = copy_of_the_tool(tmp_path / "tool")
    for name in "abc":
        (tmp_path / f"{name}.py").write_text("def main(): pass\n")
    (tmp_path / "lecture.toml").write_text(SETTINGS + GROUPS)
    command = {"cwd": tmp_path, "folder": repository / "trace"}
    assert tool("a.py", "b.py", "c.py", "--site", "site", "-q", **command) == (0, "", "")
    index = json.loads((tmp_path / "site/traces/index.json").read_bytes())
    assert index["course"] == FACTS
    assert [one["file"] for one in index["documents"]] == ["b.json", "a.json", "c.json"]
    assert tool("c.py", "--site", "site", "-q", **command) == (0, "", "")
    assert json.loads((tmp_path / "site/traces/index.json").read_bytes()) == index
