"""What lectures have in common: found, understood, refused in one sentence."""

import json

import pytest

from tests.outside import copy_of_the_tool, tool
from trace.errors import UsageError
from trace.serve.course import NO_COURSE, Course, course_of

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
        "lecture.toml: titel is none of title, author, date, licence, language, groups.",
    ),
    ("title = 1", "lecture.toml: title has to be a text in quotes."),
    ("language = 'English!'", "lecture.toml: English! is no language: write en, de or pt-BR."),
    ("groups = 1", "lecture.toml: groups are written as [[groups]] with title = "),
    ("[[groups]]\ntitle = 'x'", "lecture.toml: groups are written as [[groups]] with title = "),
    ("[[groups]]\ntitle = 'x'\nlectures = [1]", "lecture.toml: groups are written as [[groups]]"),
    ("title = ", "lecture.toml cannot be read: "),
]


@pytest.mark.parametrize(("settings", "sentence"), WRONG)
def test_what_is_wrong_is_said_in_one_sentence(settings, sentence, tmp_path):
    (tmp_path / "lecture.toml").write_text(settings)
    with pytest.raises(UsageError) as said:
        course_of(tmp_path)
    assert str(said.value).startswith(sentence)
    assert "\n" not in str(said.value)


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
