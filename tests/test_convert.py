"""A lecture that says things by calling becomes one whose comments and docstrings say them."""

import json
import shutil
import textwrap
from pathlib import Path

import pytest

from trace.cli import main

LONG = "A line that is longer than what fits, " * 4

# the lecture -> the converted one, what stays
CASES = {
    "a heading becomes the docstring, texts comments": (
        """
        from edtrace import text, link

        def main():
            text("# Title")
            text("one")
            text("two")
            x = 1  # @inspect x
            text("- a")
            text("- b"), text("- c")
            inner()

        def inner():
            text("## Inner\\n\\nwith $\\\\\\\\alpha$")
            link("https://example.org", title="E")
        """,
        '''
        def main():
            """Title"""
            # one
            #
            # two
            x = 1  # @inspect x
            # - a
            # - b
            # - c
            inner()

        def inner():
            r"""Inner

            with $\\alpha$
            """
            # [\\[E\\]](https://example.org "E")
        ''',
        [],
    ),
    "what the end of a with says goes on being said by it": (
        """
        import contextlib
        from edtrace import text

        def main():
            with contextlib.ExitStack() as stack:
                stack.callback(text, "end")
                text("one")
                text("two")
            with contextlib.ExitStack() as stack:
                stack.callback(text, "end")
                print("work")
        """,
        '''
        import contextlib
        from edtrace import text

        def main():
            """Talk"""
            with contextlib.ExitStack() as stack:
                stack.callback(text, "end")
                # one
                text("two")
            with contextlib.ExitStack() as stack:
                stack.callback(text, "end")
                print("work")
        ''',
        ["9: other statements say a part of it"],
    ),
    "what a call that returns early leaves out stays": (
        """
        from edtrace import text

        def main():
            text("# Title")
            down(1)

        def down(depth):
            text("down")
            if depth == 0:
                return
            down(depth - 1)
            text("up")
        """,
        '''
        from edtrace import text

        def main():
            """Title"""
            down(1)

        def down(depth):
            # down
            if depth == 0:
                return
            down(depth - 1)
            text("up")
        ''',
        ["13: it is not said each time"],
    ),
    "what returns or is assigned stays": (
        """
        from edtrace import text

        def main():
            text("# Title")
            _ = text("two")
            return text("three")
        """,
        '''
        from edtrace import text

        def main():
            """Title"""
            _ = text("two")
            return text("three")
        ''',
        ["6: it returns or assigns a value, too", "7: it returns or assigns a value, too"],
    ),
    "each paragraph of a note is one": (
        """
        from edtrace import note

        def main():
            note("one\\n\\ntwo\\nlines\\n\\n- an item")
        """,
        '''
        def main():
            """Talk"""
            # *one*
            #
            # *two
            # lines*
            #
            # - an item
            pass  # @hide
        ''',
        [],
    ),
    "a picture that a text has in itself stays": (
        """
        from edtrace import image, text

        DOT = "data:image/gif;base64,R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs="

        def main():
            text("before")
            text(f"![dot]({DOT})")
            image(DOT)
        """,
        '''
        from edtrace import image, text

        DOT = "data:image/gif;base64,R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs="

        def main():
            """Talk"""
            # before
            text(f"![dot]({DOT})")
            image(DOT)
        ''',
        ["8: it has a picture in itself", "9: it has a picture in itself"],
    ),
    "what draws, or is not known before it runs, stays": (
        """
        from edtrace import text, plot, note

        def main():
            for word in ["a", "*b*"]:
                text("turn " + word)
                text("each")
            plot({"mark": "bar"})
            text(f"```\\n{word}\\n```")
            x = half(8)
            words = ["x", "y"]
            text(words.pop())
            text("so "), text(str(half(x)))
            note("aside")

        def half(n):
            text("half")
            return n / 2
        """,
        '''
        from edtrace import text, plot

        def main():
            """Talk"""
            for word in ["a", "*b*"]:
                text("turn " + word)
                # each
            plot({"mark": "bar"})
            text(f"```\\n{word}\\n```")
            x = half(8)
            words = ["x", "y"]
            text(words.pop())
            text("so "), text(str(half(x)))
            # *aside*

        def half(n):
            text("half")
            return n / 2
        ''',
        [
            "6: what it says varies",
            "8: what it says varies or is no text",
            "9: it has values of the run",
            "12: what it computes changes what comes later",
            "13: it calls functions of the lecture",
            "17: its function is called within an expression",
        ],
    ),
    "directives go on without the call, and are not made of text": (
        """
        from edtrace import text

        def main():
            x = 1
            text("gone")  # @clear x
            text("here")  # @inspect x @stepover @hide
            text("say @inspect x, `@clear`, [@a] and @{x}")
            text("type: a hint")
            text("@note that")
            text("```\\nx = 1  # @inspect x\\n```")

            def inner():
                text("read with the definition, too")

            inner()
        """,
        '''
        from edtrace import text

        def main():
            """Talk"""
            x = 1
            # gone
            pass  # @hide @clear x
            # here
            pass  # @hide @inspect x
            # say &#64;inspect x, <code>&#64;clear</code>, [&#64;a] and &#64;{x}
            #
            # &#116;ype: a hint
            #
            # &#64;note that
            text("```\\nx = 1  # @inspect x\\n```")

            def inner():
                text("read with the definition, too")

            inner()
        ''',
        [
            "11: its text would be read as a directive",
            "14: its function is inside another",
        ],
    ),
    "texts on one line, in one line, and beside comments": (
        """
        from edtrace import text, link

        def main():
            x = 1
            # before
            text("a"); text("b"); text("- c"); text("- d")
            # after
            text("Open: ")
            text("one, ")

            text("two")
            if x: text("As seen.")
            text("- p")

            text("- q")
            text("two  \\nlines")
            text("")
            return x
        """,
        '''
        def main():
            """Talk"""
            x = 1
            # before
            #
            # a
            #
            # b
            #
            # - c
            # - d
            #
            # after
            #
            # Open: one, two
            if x:
                # As seen.
                pass  # @hide
            # - p
            # - q
            #
            # two\\
            # lines
            return x
        ''',
        [],
    ),
    "texts put together become prose with values": (
        """
        from edtrace import text

        def main():
            x, y = 1.5, 2
            text(f"x is {x:.2f}, {y} of {{it}}")
            text(f"then {y}")
            z = x
            text(f"before {z}")
            z = 3
            text(f"sum {x + y}, {x!r}")
            text(f"`{y}` " + ("and" if x else "or") + " %d%%" % y)
            text("{} of {:.1f}".format(y, x))
            for y in range(2):
                text(f"turn {y}")
                w = y
            text(f"last {w}")
            for word in ("a", "b"):
                text(word)
        """,
        '''
        def main():
            """Talk"""
            x, y = 1.5, 2
            # x is @{x:.2f}, @{y} of {it}
            #
            # then @{y}
            z = x
            # before @{z}
            pass  # @hide
            z = 3
            # sum @{x_y}, @{repr_x}
            x_y, repr_x = x + y, repr(x)  # @hide
            # <code>@{y}</code> @{x_value} @{y:d}%
            x_value = 'and' if x else 'or'  # @hide
            # @{y} of @{x:.1f}
            pass  # @hide
            for y in range(2):  # @section
                # turn @{y}
                w = y
            # last @{w}
            pass  # @hide
            for word in ("a", "b"):
                # @{word}
                pass  # @hide
        ''',
        [],
    ),
    "a branch that is not always taken stays, but in turns that are all shown": (
        """
        from edtrace import text

        def main():
            for n in range(2):  # @inspect n
                if n:
                    text("odd")
                else:
                    text("even")
            show(True)
            show(False)

        def show(is_long):
            if is_long:
                text("long")
        """,
        '''
        from edtrace import text

        def main():
            """Talk"""
            for n in range(2):  # @inspect n @section
                if n:
                    # odd
                    pass  # @hide
                else:
                    # even
                    pass  # @hide
            show(True)
            show(False)

        def show(is_long):
            if is_long:
                text("long")
        ''',
        ["15: it is not said each time"],
    ),
    "a block is never left empty": (
        """
        from edtrace import text

        def main():
            if True:
                text('''first
        second''')
            else:
                text("never")
            return 1
        """,
        '''
        from edtrace import text

        def main():
            """Talk"""
            if True:
                # first
                # second
                pass  # @hide
            else:
                text("never")
            return 1
        ''',
        [],
    ),
}


def run(file, *options) -> dict:
    place = file.with_suffix(".json")
    assert main([str(file), "-o", str(place), "--quiet", *options]) == 0
    return json.loads(place.read_text())


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_convert(case, tmp_path, capsys):
    before, after, left = case
    file, new = tmp_path / "talk.py", tmp_path / "mine.py"
    file.write_text(textwrap.dedent(before))
    assert main([str(file), "--convert", "-o", str(new)]) == 0
    assert new.read_text().strip() == textwrap.dedent(after).strip()
    said = capsys.readouterr().err.splitlines()
    assert len(said) == len(left)
    for line, reason in zip(said, left, strict=True):
        assert line.startswith(f"left as it is: talk.py:{reason}")


def texts_of(document: dict) -> list[str]:
    """Paragraphs and items in the order of the source: of prose, or of what was said."""
    kinds = {block["kind"] for file in document["files"] for block in file["prose"]}
    if "call" not in kinds:
        text = "\n\n".join(block["text"] for block in document["files"][0]["prose"])
    else:
        values = [document["values"][index] for index in document["said"]["value"]]
        text = "\n\n".join(value["markdown"] for value in values)
    text = text.replace("\n- ", "\n\n- ")
    return [part.strip("# ").strip() for part in text.split("\n\n") if part.strip()]


def test_the_converted_lecture_is_the_same_article_with_the_same_values(tmp_path):
    file, new = tmp_path / "talk.py", tmp_path / "mine.py"
    file.write_text(textwrap.dedent(CASES["a heading becomes the docstring, texts comments"][0]))
    before = run(file)
    assert main([str(file), "--convert", "-o", str(new), "--quiet"]) == 0
    after = run(new)
    assert "said" not in after
    assert sorted(texts_of(after)) == sorted(texts_of(before))
    assert [function["title"] for function in after["functions"]] == [
        function["title"] for function in before["functions"]
    ]
    for document in (before, after):
        shown = document["inspections"]
        assert [document["values"][index] for index in shown["value"]] == [
            {"type": "int", "value": 1}
        ]


TALKS = sorted(
    file
    for file in (Path(__file__).parent / "samples" / "talks").glob("*.py")
    if not file.stem.endswith("_util")
)
"""Lectures in the shapes and the proportions that are found in public ones."""


def inspected(document: dict) -> list[tuple[str, object]]:
    """What `@inspect` and `@clear` did, in their order."""
    rows = document["inspections"]
    return [
        (document["names"][name], None if value is None else document["values"][value])
        for name, value in zip(rows["name"], rows["value"], strict=True)
    ]


def speaking(document: dict) -> int:
    """How many statements said something."""
    steps = [event for event in document["events"] if event > 0]
    return len({steps[step] for step in document.get("said", {"step": []})["step"]})


def converted(talk: Path, folder: Path) -> tuple[dict, dict]:
    """The documents of a talk and of what it is converted to, with as many files beside it."""
    for file in talk.parent.iterdir():
        if file.is_file():
            shutil.copy(file, folder)
    before = run(folder / talk.name)
    new = folder / "mine.py"
    assert main([str(folder / talk.name), "--convert", "-o", str(new), "--quiet"]) == 0
    return before, run(new)


def test_of_lectures_as_they_are_found_98_of_100_calls_become_prose(tmp_path):
    """The same texts on the page: tests/viewer/test_said.py."""
    said = left = 0
    for talk in TALKS:
        before, after = converted(talk, tmp_path)
        assert inspected(before) == inspected(after), talk.name
        assert [one["title"] for one in before["functions"]] == [
            one["title"] for one in after["functions"]
        ], talk.name
        said += speaking(before)
        left += speaking(after)
    assert said > 400
    assert left / said <= 0.02


def test_pictures_keep_their_path(tmp_path):
    (tmp_path / "red.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    file, new = tmp_path / "talk.py", tmp_path / "mine.py"
    file.write_text("from edtrace import image\n\ndef main():\n    image('red.svg', width=9)\n")
    assert main([str(file), "--convert", "-o", str(new), "--quiet"]) == 0
    assert '# <img src="red.svg" alt="red.svg" width="9">' in new.read_text()
    assert [*run(new)["assets"]] == ["red.svg"]


# arguments -> the sentence
REFUSED = [
    (["talk.py", "--convert"], "--convert needs a place for the new lecture: give -o mine.py."),
    (["talk.py", "--convert", "-o", "talk.py"], "talk.py is the lecture itself"),
    (["silent.py", "--convert", "-o", "mine.py"], "silent says nothing by calling"),
    (["fails.py", "--convert", "-o", "mine.py"], "is known once it has run to its end."),
    (["--convert", "-o", "mine.py"], "name a lecture to run"),
    (
        ["talk.py", "--convert", "-o", "mine.py", "--html", "a.html"],
        "--convert only writes a lecture",
    ),
    (["talk.py", "--import", "a.json"], "--import runs nothing: leave out talk.py."),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_cannot_be_converted_is_said_in_one_sentence(
    arguments, sentence, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.py").write_text("from edtrace import text\n\ndef main():\n    text('x')\n")
    (tmp_path / "silent.py").write_text("def main():\n    pass\n")
    (tmp_path / "fails.py").write_text(
        "from edtrace import text\n\ndef main():\n    text('x')\n    raise ValueError\n"
    )
    assert main(arguments) in (1, 2)
    assert sentence in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "mine.py").exists()
