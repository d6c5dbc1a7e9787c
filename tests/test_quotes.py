"""Values of the run in the text: `@{name:format}`."""

import json
from typing import Any

import pytest

from tests.tracing import trace_source
from trace.document.decoding import from_json
from trace.rewrite.quotes import quotes_in


def quoted(source: str, **options: Any) -> list[tuple[int, str, str]]:
    """The first line of the prose, what stands between the braces, and the text, in order."""
    document = trace_source(source, **options)
    if "quotes" not in document:
        return []
    quotes, names = document["quotes"], document["names"]
    rows = zip(quotes["line"], quotes["mark"], quotes["text"], strict=True)
    return [(line, names[mark], names[text]) for line, mark, text in rows]


CASES = {
    "a comment is about the statement below": (
        "def main():\n    # @{x} is\n    x = 1\n    x = 2",
        [(2, "x", "1")],
    ),
    "a format": ("def main():\n    # @{x:.0%}\n    x = 0.931", [(2, "x:.0%", "93%")]),
    "attributes": ("def main():\n    # @{x.imag}\n    x = 2j", [(2, "x.imag", "2.0")]),
    "a docstring is about the end": (
        'def main():\n    """Title.\n\n    @{x}\n    """\n    x = 1\n    x = 2',
        [(2, "x", "2")],
    ),
    "before a function returns": (
        'def main():\n    """Title. @{x}"""\n    x = 1\n    # @{x}\n    return x',
        [(2, "x", "1"), (4, "x", "1")],
    ),
    "each time round": (
        "def main():\n    for n in range(2):\n        # @{n}\n        pass",
        [(3, "n", "0"), (3, "n", "1")],
    ),
    "a whole loop": (
        "def main():\n    # @{n}\n    for n in range(3):\n        pass",
        [(2, "n", "2")],
    ),
    "blank lines and other comments between": (
        "def main():\n    # @{x}\n\n    # more\n    x = 3",
        [(2, "x", "3")],
    ),
    "private names": (
        (
            "class A:\n    def __init__(self):\n        # @{self.__x}\n        self.__x = 4\n"
            "def main():\n    A()"
        ),
        [(3, "self.__x", "4")],
    ),
    "code and maths keep their braces": (
        "def main():\n    # `@{x}` $x_{x}$ {x} @{} @{1}\n    x = 1",
        [],
    ),
    "a value that depends on the clock is not written": (
        "def main():\n    # @{x}\n    x = 1  # @timed",
        [],
    ),
    "the statement raised": (
        "def main():\n    x = 1\n    # @{x}\n    x = 1 / 0",
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_values_are_read_below_the_text(case: str) -> None:
    source, expected = CASES[case]
    assert quoted(source) == expected


COMPLAINTS = [
    ("def main():\n    # @{y}\n    x = 1", "sample.py:3: y does not exist here."),
    (
        (
            "class A:\n    def __format__(self, form):\n        raise ValueError(form)\n"
            "def main():\n    # @{x:.2f}\n    x = A()"
        ),
        "sample.py:6: x cannot be written as '.2f': ValueError: .2f.",
    ),
    (
        '"""Module.\n\n@{x}\n"""\ndef main():\n    pass',
        "sample.py:3: @{x} has no value: no statement of a function stands below it.",
    ),
    (
        "def main():\n    # @{x[0]:.2f}\n    x = [1]",
        (
            "sample.py:2: @{x[0]:.2f} has no value: "
            "give what is not a name a name first, as for @inspect."
        ),
    ),
    (
        "def main():\n    x = 1\n    # @{x}",
        "sample.py:3: @{x} has no value: no statement of a function stands below it.",
    ),
]


@pytest.mark.parametrize(("source", "warning"), COMPLAINTS)
def test_what_has_no_value_is_a_warning(source: str, warning: str) -> None:
    document = trace_source(source)
    assert document["warnings"] == [warning]
    assert document["failure"] is None


def test_marks_in_fences_are_code() -> None:
    assert list(quotes_in("```\n@{a}\n```\n~~~\n@{b}\n~~~")) == []


def test_a_document_without_any_says_nothing_of_them() -> None:
    document = trace_source("def main():\n    x = 1")
    assert "quotes" not in document
    assert from_json(document).quotes.at == []
    full = trace_source("def main():\n    # @{x}\n    x = 1")
    assert vars(from_json(json.loads(json.dumps(full))).quotes) == full["quotes"]


def test_reading_runs_nothing_of_the_lecture_on_the_record() -> None:
    source = """
    class Loud:
        def __format__(self, form):
            shout()
            return "loud"

    def shout():
        print("!")

    def main():
        # @{x}
        x = Loud()
        print("end")
    """
    document = trace_source(source)
    assert [piece["text"] for piece in document["output"]] == ["end\n"]
    assert quoted(source) == [(10, "x", "loud")]


def test_a_statement_that_fails_has_no_second_complaint() -> None:
    document = trace_source("def main():\n    x = 1 / 0  # @inspect x")
    assert document["failure"]["type"] == "ZeroDivisionError"
    assert document["warnings"] == []
