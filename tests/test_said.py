"""Lectures written for other tools: what their calls say is in the document, in its order."""

import base64
import hashlib
import json
import struct
import subprocess
import sys
import textwrap
import zlib
from types import SimpleNamespace

import pytest

from trace.cli import main
from trace.document.beside import whole
from trace.said.graphs import svg_of
from trace.said.media import CACHE, Media, cache_names
from trace.said.pieces import fenced, undoubled, value_of
from trace.said.stand_in import Reference, Rendering, make_graph
from trace.serve.overlay import Shown

OWN = '''
from dataclasses import dataclass

@dataclass(frozen=True)
class Rendering:
    type: str
    data: object = None
    style: dict = None
    external_link: object = None
    internal_link: object = None

_current_renderings = []

def pop_renderings():
    renderings = _current_renderings.copy()
    _current_renderings.clear()
    return renderings

def text(message, style=None, verbatim=False):
    style = {"whiteSpace": "pre"} if verbatim else style
    for line in message.split("\\n") if verbatim else [message]:
        _current_renderings.append(Rendering("markdown", line, style))

def sing(song):
    """A helper that only this course has."""
    _current_renderings.append(Rendering("song", song))
'''
"""The module of a course that has functions of its own."""


def png(size: int, rows: bytes) -> bytes:
    """A PNG file of rows of bytes, each behind a zero."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
    parts = [chunk(b"IHDR", header), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def picture(size: int = 2) -> bytes:
    """A PNG file of one colour."""
    return png(size, (b"\0" + b"\xff\0\0" * size) * size)


def noise(size: int) -> bytes:
    """A PNG file that cannot be packed."""
    pixels = hashlib.shake_256(b"noise").digest(3 * size * size)
    rows = (pixels[3 * size * row : 3 * size * (row + 1)] for row in range(size))
    return png(size, b"".join(b"\0" + row for row in rows))


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Run a lecture of a folder of files; return its document."""

    def run(files: dict[str, str | bytes], name: str = "talk.py", *options: str) -> dict:
        for path, content in files.items():
            if isinstance(content, str):
                content = textwrap.dedent(content).encode()
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_bytes(content)
        place = tmp_path / "out.json"
        status = main([str(tmp_path / name), "-o", str(place), "--quiet", *options])
        document = json.loads(place.read_text())
        return {**document, "status": status}

    return run


def said(document: dict) -> list[tuple[int, object]]:
    """Line of the step and what it said."""
    steps = [event for event in document["events"] if event > 0]
    lines = [document["statements"][steps[step] - 1][1] for step in document["said"]["step"]]
    values = [document["values"][index] for index in document["said"]["value"]]
    shown = [value.get("markdown", value.get("text", value["type"])) for value in values]
    return list(zip(lines, shown, strict=True))


# source after the import -> what was said, by line
DIALECTS = {
    "one call, a tuple of calls, two on a line": (
        """
        def main():
            text("# One")
            text("two "), text("three")
            text("four"); text("five")
        """,
        [(4, "# One"), (5, "two "), (5, "three"), (6, "four"), (6, "five")],
    ),
    "in a loop, each time": (
        """
        def main():
            for i in range(3):
                text(f"turn {i}")
        """,
        [(5, "turn 0"), (5, "turn 1"), (5, "turn 2")],
    ),
    "through a function of the lecture": (
        """
        def main():
            twice("x")

        def twice(word):
            text(word)
            text(word)
        """,
        [(7, "x"), (8, "x")],
    ),
    "under stepover and hide, too": (
        """
        def main():
            inner()  # @stepover
            text("seen")  # @hide

        def inner():
            text("heard")
        """,
        [(4, "heard"), (5, "seen")],
    ),
    "notes, verbatim texts of several lines": (
        """
        def main():
            note("aside")
            text("a\\n  b", verbatim=True)
        """,
        [(4, "aside"), (5, "```\na\n  b\n```")],
    ),
}


@pytest.mark.parametrize("library", ["edtrace", "lectrace", "edtrace.execute_util"])
@pytest.mark.parametrize("case", DIALECTS.values(), ids=DIALECTS.keys())
def test_what_calls_say_is_heard(case, library, run):
    source, expected = case
    document = run({"talk.py": f"from {library} import *\n" + textwrap.dedent(source)})
    assert document["status"] == 0
    if library == "lectrace":  # which cuts white space around a text
        expected = [(line, text.strip()) for line, text in expected]
    assert said(document) == expected


def test_statements_that_only_say_something_are_prose(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text

            def main():
                text("# Title")
                x = text("an assignment")  # @inspect x
                for i in range(2):
                    sometimes(i)
                text("hidden")  # @hide

            def sometimes(i):
                if i:
                    text("said below a call that does not always speak")
            """
        }
    )
    assert document["title"] == document["functions"][0]["title"] == "Title"
    blocks = document["files"][0]["prose"]
    assert [(block["first_line"], block["kind"]) for block in blocks] == [
        *((line, "call") for line in (5, 9, 13)),
    ]
    assert document["files"][0]["hidden"] == []
    assert [line for line, _ in said(document)] == [5, 6, 13, 9]


# a body of a function of x, which is 0 and then 1 -> whether its first line is prose
SPELLINGS = {
    'return text("a")': True,
    'return text("a"), link(title="b", url="https://example.org")': True,
    '_ = text("a")': True,
    '_ = [text(word) for word in ("a", "b")]': True,
    '[text(word) for word in ("a", "b")[x:]]': True,
    'text("a") if x else text("b")': True,
    'text("a") if x else None': True,
    'None if x else text("a")': True,
    'x and text("a")': True,
    '(lambda: text("a"))()': True,
    "helper(2)": False,
    "helper(x)": False,
    "return helper(2)": False,
    "return table(x)": False,
    "_ = helper(2)": False,
    'y = text("a")': False,
    'assert not text("a"), text("b")': False,
    'return text("a"), x': False,
}


@pytest.mark.parametrize("body", SPELLINGS, ids=str)
def test_a_statement_is_prose_if_it_only_says_something(body, run):
    source = """
        from edtrace import link, text

        def main():
            f(0)
            f(1)

        def helper(n):
            for i in range(n):
                text("from the helper")

        def table(x):
            helper(2)
            return x

        def f(x):
            BODY
        """.replace("BODY", body)
    document = run({"talk.py": source})
    assert document["status"] == 0
    prose = {block["first_line"] for block in document["files"][0]["prose"]}
    assert (17 in prose) == SPELLINGS[body]


def test_helpers_in_other_files_speak_on_the_calling_line(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text
            from helper import paper
            import part

            def main():
                paper("https://example.org")
                part.section()
            """,
            "helper.py": """
            from edtrace import link

            def paper(url):
                link(url, title="Paper")
            """,
            "part.py": """
            from edtrace import text

            def section():
                text("from a part")
            """,
        }
    )
    assert [file["path"] for file in document["files"]] == ["talk.py", "part.py"]
    assert said(document) == [
        (7, '[\\[Paper\\]](https://example.org "Paper")'),
        (5, "from a part"),
    ]


def test_the_functions_of_a_course_are_listened_to(run):
    document = run(
        {
            "execute_util.py": OWN,
            "talk.py": r"""
            from execute_util import text, sing

            def main():
                text("sets $\\{0\\}$ and `\\n`")
                text("a\nb", verbatim=True)
                sing("la la")
            """,
        }
    )
    assert said(document) == [
        (5, r"sets $\{0\}$ and `\n`"),
        (6, "```\na\nb\n```"),
        (7, "> song: la la"),
    ]
    assert document["values"][document["said"]["value"][-1]]["type"] == "song"


COURSE = """
import requests
from file_util import cached
from arxiv_util import arxiv_reference
from reference import Reference


class Rendering:
    def __init__(self, type, data=None, style=None, external_link=None):
        self.type, self.data, self.style = type, data, style
        self.external_link, self.internal_link = external_link, None


_current_renderings = []


def pop_renderings():
    return _current_renderings


def text(message):
    _current_renderings.append(Rendering("markdown", message))


def image(url):
    _current_renderings.append(Rendering("image", cached(url, "image")))


def link(url):
    _current_renderings.append(Rendering("link", external_link=arxiv_reference(url)))
"""


def test_a_course_that_downloads_by_itself_goes_on_without_a_network(run):
    document = run(
        {
            "requests.py": "def get(url):\n    raise ConnectionError(url)",
            "file_util.py": "import requests\ndef cached(url, kind):\n    requests.get(url)",
            "arxiv_util.py": """
            from file_util import cached
            from reference import Reference

            def arxiv_reference(url):
                return Reference(title=open(cached(url, "arxiv")).read(), url=url)
            """,
            "reference.py": """
            from dataclasses import dataclass

            @dataclass
            class Reference:
                title: str = None
                url: str = None
                authors: list = None
                organization: str = None
                date: str = None
                description: str = None
                notes: str = None
            """,
            "execute_util.py": COURSE,
            "references.py": """
            from arxiv_util import arxiv_reference
            cited = arxiv_reference("https://arxiv.org/abs/1706.03762")
            """,
            "talk.py": """
            from execute_util import text, image, link
            from references import cited

            def main():
                image("https://example.org/a.png")
                link("https://arxiv.org/abs/2005.14165")
                text(f"Cited: {cited.url}")
            """,
        }
    )
    assert (document["status"], document["failure"]) == (0, None)
    assert [text for _, text in said(document)] == [
        "> Picture: [a.png](https://example.org/a.png)",
        "[https://arxiv.org/abs/2005.14165](https://arxiv.org/abs/2005.14165)",
        "Cited: https://arxiv.org/abs/1706.03762",
    ]
    assert document["warnings"] == ["https://example.org/a.png is not here: --download fetches it."]


def test_calls_that_had_nothing_to_say_are_no_code(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text, graph

            def main():
                text("first")
                graph(None)
                if 1 > 2:
                    text("never"), text("this")
                    compute()

            def compute():
                pass
            """
        }
    )
    spoken = [block["first_line"] for block in document["files"][0]["prose"]]
    assert spoken == [5, 6, 8]


def test_pictures_are_shown_from_the_folder_and_the_cache(run, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    here, there = "https://example.org/a.png", "https://example.org/b.png"
    cached = next(cache_names(here, "image"))
    assert cached.parent == CACHE
    assert cached.name.startswith(f"image-{hashlib.md5(here.encode()).hexdigest()}-https_example")
    document = run(
        {
            "talk.py": f"""
            from edtrace import image

            def main():
                image("figures/red.png", width=300)
                image("{here}", width="50%")
                image("{there}")
                image("missing.png")
            """,
            "figures/red.png": picture(2),
            str(cached): picture(3),
        }
    )
    small, large = (hashlib.sha256(picture(size)).hexdigest()[:16] + ".png" for size in (2, 3))
    assert document["status"] == 0
    assert [text for _, text in said(document)] == [
        f'<img src="{small}" alt="red.png" width="300">',
        f'<img src="{large}" alt="a.png" width="50%">',
        f"> Picture: [b.png]({there})",
        "> Picture: `missing.png`",
    ]
    assert {name: asset["mime"] for name, asset in document["assets"].items()} == {
        small: "image/png",
        large: "image/png",
    }
    assert document["warnings"] == [
        f"{there} is not here: --download fetches it.",
        "missing.png is not here.",
    ]


def test_large_pictures_lie_beside_the_document(run, tmp_path, capsys):
    large = noise(150)
    source = """
        from edtrace import image

        def main():
            image("small.png")
            image("large.png")
        """
    files = {"talk.py": source, "small.png": picture(), "large.png": large}
    places = ["--html", str(tmp_path / "a.html"), "--site", str(tmp_path / "site")]
    document = run(files, "talk.py", *places)
    small, beside = document["assets"].values()
    assert small.keys() == {"mime", "base64"}
    assert beside.keys() == {"mime", "file"}
    name = beside["file"]
    assert (tmp_path / "out.files" / name).read_bytes() == large
    assert (tmp_path / "site/traces/out.files" / name).read_bytes() == large
    assert (tmp_path / "a.html").stat().st_size > len(large)
    assert base64.b64encode(large) in whole(tmp_path / "out.json")
    shown = Shown(document=tmp_path / "out.json")
    assert shown.place_of(("out.files", name))[1].read_bytes() == large
    (tmp_path / "out.files" / name).unlink()
    assert main([str(tmp_path / "talk.py"), "-o", str(tmp_path / "out.json"), "--check"]) == 2
    assert f"(out.files/{name} is missing): run without" in capsys.readouterr().err.replace(
        f"{tmp_path}/", ""
    )
    document = run({"talk.py": source.replace('image("large.png")', "pass")})
    assert len(document["assets"]) == 1
    assert not [*(tmp_path / "out.files").iterdir()]


def test_an_object_that_cannot_say_yet_what_it_is_is_shown_by_its_fields(run):
    document = run(
        {
            "talk.py": """
            from lectrace import text

            class Agent:
                def __init__(self):  # @inspect self
                    self.name = "R2"  # @inspect self

                def __lectrace__(self):
                    return {"called": self.name}

            def main():
                text("hello")
                Agent()
            """
        }
    )
    before, after = (document["values"][index] for index in document["inspections"]["value"])
    assert before == {"type": "Agent", "fields": {}}
    [(key, name)] = after["entries"]
    assert (key["value"], name["value"]) == ("called", "R2")


def test_a_picture_within_a_text_is_a_file_like_any_other(run):
    document = run(
        {
            "talk.py": """
            import base64
            from edtrace import text

            def main():
                data = base64.b64encode(open("large.png", "rb").read()).decode()
                text(f"Before ![noise](data:image/png;base64,{data}) after")
                text("In code: `data:image/png;base64,` is how it begins.")
            """,
            "large.png": noise(150),
        }
    )
    [(name, asset)] = document["assets"].items()
    assert asset["file"] == name
    assert [text for _, text in said(document)] == [
        f"Before ![noise]({name}) after",
        "In code: `data:image/png;base64,` is how it begins.",
    ]


def test_large_pictures_that_values_draw_lie_beside_the_document(run, tmp_path, capsys):
    source = """
        import hashlib
        import numpy as np

        class Drawing:
            def __init__(self, count):
                self.count = count

            def _repr_svg_(self):
                return "<svg>" + "<circle r='9'/>" * self.count + "</svg>"

        class Photograph:
            def _repr_png_(self):
                return hashlib.shake_256(b"photograph").digest(60_000)

        def main():
            small = Drawing(10)  # @inspect small
            large = [Drawing(5000), Photograph()]  # @inspect large
            noise = hashlib.shake_256(b"noise").digest(3 * 200 * 200)
            pixels = np.frombuffer(noise, "uint8").reshape(200, 200, 3)  # @inspect pixels
        """
    document = run({"talk.py": source}, "talk.py", "--html", str(tmp_path / "a.html"))
    shown = [document["values"][index] for index in document["inspections"]["value"]]
    small, (drawing, photograph), pixels = shown[0], shown[1]["items"], shown[2]
    assert "svg" in small
    assert "file" not in small
    for value, suffix in ((drawing, ".svg"), (photograph, ".png"), (pixels, ".png")):
        assert not {"svg", "png", "jpeg"} & value.keys()
        assert value["file"].endswith(suffix)
    files = {file.name: file.read_bytes() for file in (tmp_path / "out.files").iterdir()}
    assert files.keys() == {drawing["file"], photograph["file"], pixels["file"]}
    assert files[drawing["file"]].count(b"<circle") == 5000
    assert len(files[photograph["file"]]) == 60_000
    assert (tmp_path / "out.json").stat().st_size < 20_000
    assert (tmp_path / "a.html").stat().st_size > 180_000
    again = json.loads(whole(tmp_path / "out.json"))["values"]
    restored = [again[index] for index in document["inspections"]["value"]]
    assert restored[1]["items"][0]["svg"].encode() == files[drawing["file"]]
    assert base64.b64decode(restored[2]["png"]) == files[pixels["file"]]
    check = [str(tmp_path / "talk.py"), "-o", str(tmp_path / "out.json"), "--check"]
    assert main(check) == 0
    (tmp_path / "talk.py").write_text(textwrap.dedent(source.replace("(10)", "(11)")))
    capsys.readouterr()
    assert main(check) == 1
    source_line, drawn = capsys.readouterr().err.splitlines()[:2]
    assert "the source was `small = Drawing(10)" in source_line
    assert "of small, `svg` <svg><circle" in drawn


def test_one_file_with_many_pictures_says_how_large_it_is(run, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("trace.serve.publication.LARGE_BYTES", 1_000_000)
    source = "from edtrace import image\n\ndef main():\n    image('large.png')\n"
    page = tmp_path / "a.html"
    (tmp_path / "talk.py").write_text(source)
    (tmp_path / "large.png").write_bytes(noise(700))
    assert (
        main([str(tmp_path / "talk.py"), "-o", str(tmp_path / "o.json"), "--html", str(page)]) == 0
    )
    assert capsys.readouterr().out.splitlines()[-1].endswith("MB, with all its pictures.")


def test_figures_are_drawn(run):
    source = """
        from lectrace import plot
        from matplotlib.figure import Figure

        def main():
            figure = Figure()
            axes = figure.subplots()
            axes.plot([1, 2])
            plot(figure)
            plot(axes)
        """
    document = run({"talk.py": source})
    values = [document["values"][index] for index in document["said"]["value"]]
    assert ["svg" in value for value in values] == [True, True]


def test_pictures_that_a_text_names_are_kept(run):
    source = """
        from edtrace import note, text

        def main():
            text("Before ![red](red.png 'Title') and ![](none.png) after `![red](red.png)`")
            text("<img width=9 src='a/red%20one.png?raw=true'/> <IMG SRC=/red.png>")
            note("![far](https://example.org/far.png)")
        """
    files = {"talk.py": source, "red.png": picture(2), "a/red one.png": picture(3)}
    document = run(files)
    two, three = (hashlib.sha256(picture(size)).hexdigest()[:16] for size in (2, 3))
    assert [text for _, text in said(document)] == [
        f"Before ![red]({two}.png 'Title') and Picture: `none.png` after `![red](red.png)`",
        f"<img width=9 src='{three}.png'/> <IMG SRC={two}.png>",
        "Picture: [far.png](https://example.org/far.png)",
    ]
    assert {*document["assets"]} == {f"{two}.png", f"{three}.png"}
    assert document["warnings"] == [
        "none.png is not here.",
        "https://example.org/far.png is not here: --download fetches it.",
    ]


def test_what_is_said_while_a_lecture_is_imported_is_said_with_its_first_step(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text

            text("at the import")

            def main():
                compute()
                text("# Title")

            def compute():
                pass
            """
        }
    )
    assert said(document) == [(7, "at the import"), (8, "# Title")]
    assert document["title"] == "Title"
    assert [block["first_line"] for block in document["files"][0]["prose"]] == [8]


def test_what_other_threads_say_is_said_where_they_were_started(run):
    document = run(
        {
            "talk.py": """
            import threading
            from edtrace import text

            def main():
                text("before")
                thread = threading.Thread(target=text, args=["in the thread"])
                thread.start()
                thread.join()
                text("after")
            """
        }
    )
    assert said(document) == [(6, "before"), (8, "in the thread"), (10, "after")]


# source after the import -> titles of the functions and of the document
TITLES = {
    "a heading that main begins with": (
        """
        def main():
            text("## One")
            a_part()

        def a_part():
            text("prose")
        """,
        ["One", "A part", "One"],
    ),
    "none: the name of the file, and headings of the first level": (
        """
        def main():
            text("prose")
            part()
            Class().method()
            helper(1)

        def part():
            text("## Second level")
            text("# First level")

        class Class:
            def method(self):
                text("said")

        def helper(x):
            text("said")
        """,
        ["Long talk", "Second level", "", "", "Long talk"],
    ),
    "a part says it first": (
        """
        def main():
            part()

        def part():
            text("# First level")
        """,
        ["Long talk", "First level", "First level"],
    ),
}


@pytest.mark.parametrize("case", TITLES.values(), ids=TITLES.keys())
def test_titles_are_headings_or_names_in_words(case, run):
    source, expected = case
    lecture = "from edtrace import text\n" + textwrap.dedent(source)
    document = run({"long_talk.py": lecture}, "long_talk.py")
    assert [row["title"] for row in document["functions"]] + [document["title"]] == expected


APART = {
    "util.py": """
    from contextlib import contextmanager
    from edtrace import text

    @contextmanager
    def box(title):
        text(f"Begin {title}.")
        yield
        text(f"End {title}.")
    """,
    "talk.py": """
    from edtrace import text
    from util import box

    def main():
        with box("one"):
            text("inside "), text("one line")
        with box("two"):
            print("work")
        with box("three"):
            inner()
        print("after"); both()  # @stepover

    def inner():
        text("in a call")

    def both():
        text("first"), text("its line")
        text("second")
        with box("four"):
            pass
        for word in ("once", "twice"):
            text(word)
    """,
}
APART_SAID = [
    (6, "text", "Begin one."),
    (7, "text", "inside "),
    (7, "text", "one line"),
    (7, "paragraph", "End one."),
    (8, "text", "Begin two."),
    (9, "paragraph", "End two."),
    (10, "text", "Begin three."),
    (15, "text", "in a call"),
    (11, "paragraph", "End three."),
    (12, "text", "first"),
    (12, "text", "its line"),
    (12, "paragraph", "second"),
    (12, "paragraph", "Begin four."),
    (12, "paragraph", "End four."),
    (12, "paragraph", "once"),
    (12, "paragraph", "twice"),
]


def test_what_the_end_of_a_with_says_goes_on_in_no_line(run):
    document = run(APART)
    kinds = [document["values"][index]["type"] for index in document["said"]["value"]]
    heard = [(line, kind, text) for (line, text), kind in zip(said(document), kinds, strict=True)]
    assert heard == APART_SAID
    prose = {block["first_line"] for block in document["files"][0]["prose"]}
    assert {7, 15} <= prose
    assert 9 not in prose  # it works, and says nothing itself


def test_what_a_generator_says_under_a_stepover_is_said_there(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text

            def words():
                text("first")
                yield 1
                text("second")
                yield 2

            def main():
                stream = words()
                next(stream)
                two = next(stream)  # @stepover
                text("last")
            """
        }
    )
    assert said(document) == [(5, "first"), (13, "second"), (14, "last")]


def test_a_course_may_collect_what_is_said_in_any_way_of_a_list(run):
    own = """
        _current_renderings = []

        def text(message):
            global _current_renderings
            _current_renderings += [{"type": "markdown", "data": message}]

        def first(message):
            _current_renderings.insert(0, {"type": "markdown", "data": message})

        def several(*kinds):
            _current_renderings.extend({"type": kind} for kind in kinds)
        """
    source = """
        from execute_util import first, several, text

        def main():
            text("one"), first("two"), several("song", "dance")
        """
    document = run({"talk.py": source, "execute_util.py": own})
    assert [text for _, text in said(document)] == ["one", "two", "> song", "> dance"]


def test_films_and_sounds_are_kept_too(run):
    source = """
        from edtrace import audio, video

        def main():
            video("film.mp4")
            audio("sound.mp3")
            video("none.mp4")
        """
    document = run({"talk.py": source, "film.mp4": b"film", "sound.mp3": b"sound"})
    film, sound = (hashlib.sha256(data).hexdigest()[:16] for data in (b"film", b"sound"))
    assert [text for _, text in said(document)] == [
        f"![film.mp4]({film}.mp4)",
        f"![sound.mp3]({sound}.mp3)",
        "> Film: `none.mp4`",
    ]
    kinds = {name: asset["mime"] for name, asset in document["assets"].items()}
    assert kinds == {f"{film}.mp4": "video/mp4", f"{sound}.mp3": "audio/mpeg"}


def test_a_lecture_is_run_in_its_folder_and_told_that_it_is_traced(run):
    document = run(
        {
            "week/talk.py": """
            import sys
            from pathlib import Path
            from edtrace import text

            def main():
                text(Path("words.txt").read_text() + str(bool(sys.gettrace())))
            """,
            "week/words.txt": "here ",
        },
        "week/talk.py",
    )
    assert said(document) == [(7, "here True")]


def test_directives_are_taken_as_their_own_tool_takes_them(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text

            class Node:
                next = None

            def main():
                node = Node()  # @inspect node.next.value
                x, y = 1, 2  # @inspect x, @inspect y  # more
                text("a")  # @inspect x[0]
                z = [  # @inspcet z
                    x,
                ]  # @inspect z
                return z  # @animate
            """
        }
    )
    rows = zip(document["inspections"]["name"], document["inspections"]["value"], strict=True)
    shown = [(document["names"][name], document["values"][value]) for name, value in rows]
    assert [name for name, _ in shown] == ["node.next.value", "x", "y", "z"]
    assert shown[0][1] == {"type": "NoneType", "value": None}
    assert [warning.partition(": ")[0] for warning in document["warnings"]] == [
        "talk.py:10",
        "talk.py:11",
    ]


def test_other_lectures_are_run_as_before(run):
    document = run(
        {
            "talk.py": """
            import sys
            from pathlib import Path
            import helper

            def main():
                place = str(Path.cwd())  # @inspect place
                traced = sys.gettrace() is not None  # @inspect traced
                helper.help()
            """,
            "helper.py": "def help():\n    return 1\n",
        }
    )
    values = [document["values"][index]["value"] for index in document["inspections"]["value"]]
    assert values == [".", False]  # as a document writes the folder of the command
    assert "said" not in document  # nobody called what says something
    assert len(document["files"]) == 2


def test_a_lecture_that_fails_leaves_what_it_said(run):
    document = run(
        {
            "talk.py": """
            from edtrace import text
            from edtrace.file_util import download_file

            def main():
                text("before")
                download_file("https://example.org/data", "data.txt")
            """
        }
    )
    assert document["status"] == 1
    assert said(document) == [(6, "before")]
    assert "--download fetches it" in document["failure"]["message"]


WITHOUT = """
    from edtrace import text
    import triton_that_is_not_here as triton
    import triton_that_is_not_here.language as tl
    from kernels_that_are_not_here import Base, launch

    class Mine(Base):
        pass

    @triton.jit
    def kernel(x: tl.constexpr, y: Base | None = None):
        return x

    @triton.autotune(configs=[triton.Config({})], key=["n"])
    def tuned(x):
        return x

    def main():
        text("before")
        x = kernel(3)  # @inspect x
        USE
        text("after")
"""


@pytest.mark.parametrize(
    "use", ["tl.load(3)", "triton.cdiv", "launch(tuned)", "class B(Base): pass"]
)
def test_a_lecture_runs_up_to_where_it_needs_a_package_that_is_not_here(use, run):
    known = {*sys.modules}
    document = run({"talk.py": WITHOUT.replace("USE", use)})
    assert document["status"] == 1
    assert document["failure"]["type"] == "ModuleNotFoundError"
    assert document["failure"]["message"].startswith("No module named")
    assert [text for _, text in said(document)] == ["before"]
    assert document["values"][document["inspections"]["value"][0]] == {"type": "int", "value": 3}
    assert [line.partition(" is not installed")[0] for line in document["warnings"]] == [
        "triton_that_is_not_here",
        "kernels_that_are_not_here",
    ]
    assert not any("not_here" in name for name in {*sys.modules} - known)


def test_whoever_asks_whether_a_package_is_there_hears_that_it_is_not(run):
    document = run(
        {
            "talk.py": """
            import helper
            from edtrace import text
            import package_that_is_not_here

            try:
                import other_that_is_not_here as other
            except ImportError:
                other = None

            def main():
                text(f"{helper.found} {other}")
            """,
            "helper.py": """
            try:
                import package_that_is_not_here as found
            except ImportError:
                found = None
            """,
        }
    )
    assert [text for _, text in said(document)] == ["None None"]


def test_a_part_of_a_tool_that_there_is_not_is_no_missing_package(run, capsys):
    with pytest.raises(FileNotFoundError):  # nothing could be written
        run({"talk.py": "from edtrace.nothing import text\n\ndef main():\n    text('x')"})
    assert "No module named 'edtrace.nothing'" in capsys.readouterr().err


def test_a_lecture_may_speak_by_a_module_beside_it_alone(run):
    document = run(
        {
            "talk.py": "from helper import paper\n\ndef main():\n    paper('A')",
            "helper.py": "from edtrace import text\n\ndef paper(name):\n    text(name)",
        }
    )
    assert said(document) == [(4, "A")]


def test_an_installed_library_is_there_again_after_the_run(run):
    source = "from edtrace import text\n\ndef main():\n    text('x')\n"
    before = set(sys.modules)
    run({"talk.py": source})
    assert not {name for name in set(sys.modules) - before if name.startswith("edtrace")}


# in Markdown before maths -> as maths is read here
DOUBLED = [
    (r"$\\{a\\}$", r"$\{a\}$"),
    (r"$$a \\\\ b$$", r"$$a \\ b$$"),
    (r"$\alpha$ \\ $\\beta$", r"$\alpha$ \\ $\beta$"),
    (r"`$\\{$` $\\{$", r"`$\\{$` $\{$"),
    ("$$a \\\\\nb \\\\\\\\\nc$$", "$$a \\\\\nb \\\\\nc$$"),
    (r"costs $5 and \\ $6", r"costs $5 and \\ $6"),
]


@pytest.mark.parametrize(("before", "after"), DOUBLED)
def test_doubled_backslashes_are_taken_back(before, after):
    assert undoubled(before) == after


LADA = Reference(
    title='On "engines"',
    authors=["Ada Lovelace", "X Y"],
    date="1843-08-01",
    url="https://a.org/(1)",
)
# a rendering -> its value
TWELVE = SimpleNamespace(tolist=lambda: [[n] for n in range(12)])
"""As an array of NumPy answers."""
PIECES = [
    (
        Rendering("link", LADA.label, external_link=LADA),
        {
            "type": "text",
            "markdown": "[\\[Lovelace+ 1843\\]](https://a.org/%281%29 "
            "\"On 'engines' · Ada Lovelace, X Y · 1843-08-01\")",
        },
    ),
    (Rendering("link", "none", external_link=Reference()), {"type": "text", "markdown": "none"}),
    (
        Rendering("plot", {"mark": "bar", "config": {}, "gap": float("nan")}),
        {"type": "plot", "vega": {"mark": "bar", "gap": None}},
    ),
    (
        Rendering("table", {"rows": [{"a": 1, "b": "x|y"}, {"b": None}]}),
        {"type": "table", "markdown": "| a | b |\n| --- | --- |\n| 1 | x\\|y |\n|  |  |"},
    ),
    (
        Rendering("table", {"rows": [[1], [2], [3], [4]], "headers": ["n"], "head": 1, "tail": 1}),
        {"type": "table", "markdown": "| n |\n| --- |\n| 1 |\n| … |\n| 4 |"},
    ),
    *(
        (Rendering("image", "data:image/png;base64,iVBORw==", {"width": width}), {
            "type": "image",
            "markdown": f'<img src="0f4636c78f65d363.png" alt="image"{sized}>',
        })
        for width, sized in ((1.0, ' width="100%"'), (0.25, ' width="25%"'), (40, ' width="40"'), (
            "50%", ' width="50%"'), ("300px", ' width="300"'), (None, ""))
    ),
    (Rendering("table", {"rows": [], "headers": None}), {
        "type": "table", "markdown": "> table: empty",
    }),
    (Rendering("image", "data:image/svg+xml,%3Csvg/%3E"), {
        "type": "image",
        "markdown": f'<img src="{hashlib.sha256(b"<svg/>").hexdigest()[:16]}.svg" alt="image">',
    }),
    (Rendering("table", {"rows": [[1 / 7, 0.25, 1234567.25, 10**12]], "headers": [*"abcd"]}), {
        "type": "table",
        "markdown": "| a | b | c | d |\n| --- | --- | --- | --- |\n"
        "| 0.142857 | 0.25 | 1234567.25 | 1000000000000 |",
    }),
    (Rendering("table", {"rows": [["<pad>", "a < b", "a<br>b"]], "caption": "*x*"}), {
        "type": "table",
        "markdown": "|  |  |  |\n| --- | --- | --- |\n| &lt;pad> | a < b | a<br>b |\n\n"
        "<em>*x*</em>",
    }),
    (Rendering("table", "n,word\n1,\"a, b\"\n"), {
        "type": "table", "markdown": "| n | word |\n| --- | --- |\n| 1 | a, b |",
    }),
    (Rendering("table", "absent.csv"), {
        "type": "table", "markdown": "> table: `absent.csv` is not here",
    }),
    (Rendering("space", 2), {"type": "space", "markdown": "<p><br></p>"}),
    (Rendering("hr"), {"type": "hr", "markdown": "<hr>"}),
    (Rendering("hologram", {"x": 1}), {"type": "hologram", "markdown": '> hologram: `{"x": 1}`'}),
    (Rendering("article", "Own", external_link=Reference(url="https://a.org")), {
        "type": "article", "markdown": "> article: [Own](https://a.org)",
    }),
    (Rendering("table", {"rows": TWELVE, "headers": ["n"]}), {
        "type": "table",
        "markdown": "\n".join(f"| {n} |" for n in ("n", "---", *range(5), "…", *range(7, 12))),
    }),
    (Rendering("video", "https://a.org/f.mp4"), {
        "type": "video", "markdown": "> Film: [f.mp4](https://a.org/f.mp4)",
    }),
    (Rendering("code_cell", "x = 1", {"language": "py"}), {
        "type": "text", "markdown": "```py\nx = 1\n```",
    }),
]  # fmt: skip


@pytest.mark.parametrize(("rendering", "value"), PIECES)
def test_pieces(rendering, value):
    assert value_of(rendering, Media(), markdown_first=True) == value


def test_a_fence_is_longer_than_those_inside():
    assert fenced("a\n````\nb") == "`````\na\n````\nb\n`````"


def test_graphs_are_drawn():
    graph = make_graph(
        [{"id": 1, "label": "<one>"}, {"id": 2}, {"id": 3}],
        [{"source": 1, "target": 2, "label": "e"}, {"source": 3, "target": 3}],
        layout="breadthfirst",
    )
    drawn = svg_of(graph)
    assert drawn.count("<circle") == 3
    assert drawn.count("<line") == 1
    assert "&lt;one&gt;" in drawn
    placed = make_graph([{"id": 1, "x": 0, "y": 0}, {"id": 2, "x": 1, "y": 1}], [])
    assert 'cx="40.0" cy="40.0"' in svg_of(placed)
    assert svg_of(make_graph([], [])).endswith("</svg>")


def test_a_plain_program_runs_without_the_libraries_being_there(tmp_path):
    """The stand-in is there for the time of a run and no longer."""
    done = subprocess.run(
        [sys.executable, "-c", "import edtrace"], capture_output=True, text=True, cwd=tmp_path
    )
    assert "No module named 'edtrace'" in done.stderr
