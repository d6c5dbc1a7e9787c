"""A lecture that says things by calling becomes one whose comments and docstrings say them."""

import json
import textwrap

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
    "what varies, draws, or would be a directive stays": (
        """
        from edtrace import text, plot, note

        def main():
            for i in range(2):
                text("turn " + str(i))
                text("each")
            text(f"{i}")
            plot({"mark": "bar"})
            text("say @inspect x here")
            text("gone")  # @clear x
            text("a"); text("b")
            note("aside")
        """,
        """
        from edtrace import text, plot

        def main():
            for i in range(2):
                text("turn " + str(i))
                # each
            text(f"{i}")
            plot({"mark": "bar"})
            text("say @inspect x here")
            text("gone")  # @clear x
            text("a"); text("b")
            # *aside*
        """,
        [
            "6: what it says varies",
            "8: it has values of the run",
            "9: what it says varies or is no text",
            "10: its text would be read as a directive",
            "11: it carries a directive",
            "12: what it says varies or is no text",
        ],
    ),
    "f-strings of names become prose with values": (
        """
        from edtrace import text

        def main():
            x, y = 1.5, 2
            text(f"x is {x:.2f}, {y} of {{it}}")
            text(f"then {y}")
            z = x
            text(f"before {z}")
            z = 3
            text(f"sum {x + y}")
            text(f"`{y}`")
            for y in range(2):
                text(f"turn {y}")
                w = y
            text(f"last {w}")
        """,
        """
        from edtrace import text

        def main():
            x, y = 1.5, 2
            # x is @{x:.2f}, @{y} of {it}
            #
            # then @{y}
            z = x
            text(f"before {z}")
            z = 3
            text(f"sum {x + y}")
            text(f"`{y}`")
            for y in range(2):
                # turn @{y}
                w = y
            text(f"last {w}")
        """,
        [
            "9: it has values",
            "11: it has values",
            "12: it has values",
            "16: it has values",
        ],
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
        """
        from edtrace import text

        def main():
            if True:
                # first
                # second
                pass
            else:
                text("never")
            return 1
        """,
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
