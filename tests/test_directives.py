"""How directives are spelled, where they may stand, and what they show."""

import keyword
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracing import record_source, shown, trace_source
from trace.document.build import build
from trace.errors import LectureError
from trace.rewrite.directives import DIRECTIVES, begin_of_directives, split_comment
from trace.rewrite.source import Source

SPELLINGS = [
    ("# @inspect x", "#", [("inspect", ["x"])]),
    ("#@inspect x", "#", [("inspect", ["x"])]),
    ("# @inspect x y z", "", [("inspect", ["x", "y", "z"])]),
    ("# @inspect x, y,z;", "", [("inspect", ["x", "y", "z"])]),
    ("# @inspect x, @inspect y", "", [("inspect", ["x"]), ("inspect", ["y"])]),
    ("# @inspect w.grad x.T.shape", "", [("inspect", ["w.grad", "x.T.shape"])]),
    ("# @stepover @inspect v", "", [("stepover", []), ("inspect", ["v"])]),
    ("# @inspect v @stepover @clear w", "", [
        ("inspect", ["v"]), ("stepover", []), ("clear", ["w"]),
    ]),
    ("# rank 2 tensor (matrix) @inspect x", "rank 2 tensor (matrix)", [("inspect", ["x"])]),
    ("# P[..]  # @inspect f", "P[..]", [("inspect", ["f"])]),
    ("# @inspect z l2  # does not reach x", "does not reach x", [("inspect", ["z", "l2"])]),
    ("# @inspect", "", [("inspect", [])]),
    ("# @clear", "", [("clear", [])]),
    ("# @inspect 向量", "", [("inspect", ["向量"])]),
    ("# @hide", "", [("hide", [])]),
    ("# @timed", "", [("timed", [])]),
    ("# @invisible", "", [("hide", []), ("stepover", [])]),
    ("# @animate @inspect x", "", [("inspect", ["x"])]),
    ("# M1.2 @core E3", "M1.2 E3", [("core", [])]),
    ("# @exercise", "", [("exercise", [])]),
    ("# see @code and @score", "see @code and @score", []),
    ("# @animate and @invisible are prose", "@animate and @invisible are prose", []),
    ("# write to me@inspect.org", "write to me", []),
    ("# plain words", "plain words", []),
]  # fmt: skip


@pytest.mark.parametrize(("comment", "words", "directives"), SPELLINGS)
def test_spellings(comment: str, words: str, directives: list) -> None:
    assert split_comment(comment, "a.py:1")[1] == directives


@pytest.mark.parametrize(
    ("comment", "begin"),
    [
        ("# so @invisible", 5),
        ("# so @animate @inspect x", 5),
        ("# @animate", 2),
        ("# so @hide", 5),
        ("# @animate is a word", None),
        ("# @inspect x[0]", None),
        ("# me@hide.org", None),
    ],
)
def test_where_directives_begin(comment: str, begin: int | None) -> None:
    assert begin_of_directives(comment) == begin


def test_words_may_stand_before_what_other_tools_say():
    document = trace_source(
        """
        def main():
            secret = 1  # not to be seen @invisible
            x = 2  # moves @animate
            return x
        """
    )
    assert document["files"][0]["hidden"] == [[2, 2]]


MISTAKES = [
    ("# @inpsect x", "unknown directive @inpsect: did you mean @inspect?"),
    ("# @step_over", "did you mean @stepover?"),
    ("# @Inspect x", "did you mean @inspect?"),
    ("# @inspects x", "did you mean @inspect?"),
    ("# @notes for me", "did you mean @note?"),
    ("# @exercize", "did you mean @exercise?"),
    ("# @inspect x[0]", "@inspect takes names such as `x` or `x.shape`, not `x[0]`"),
    ("# @inspect f(x)", "not `f(x)`: give the expression a name first."),
    ("# @clear 3", "@clear takes names"),
    ("# @inspect None", "not `None`"),
    ("# @inspect x.class", "not `x.class`"),
]


@pytest.mark.parametrize(("comment", "sentence"), MISTAKES)
def test_mistakes_are_named(comment: str, sentence: str) -> None:
    with pytest.raises(LectureError) as caught:
        split_comment(comment, "a.py:7")
    assert str(caught.value).startswith("a.py:7: ")
    assert sentence in str(caught.value)


NOTES_ELSEWHERE = {
    "at the end of a statement": "def main():\n    x = 1  # @note Wait.\n",
    "inside of a comment": "def main():\n    # Prose, @note wait.\n    x = 1\n",
}


@pytest.mark.parametrize("source", NOTES_ELSEWHERE.values(), ids=NOTES_ELSEWHERE)
def test_a_note_begins_a_comment_of_its_own(source: str) -> None:
    with pytest.raises(LectureError, match=r"a.py:2: @note begins a comment on a line of its own"):
        Source("a.py", source)


NAMES = (
    st.text(string.ascii_lowercase + "_", min_size=1)
    .filter(str.isidentifier)
    .filter(lambda name: not keyword.iskeyword(name))
)


@given(st.lists(st.tuples(st.sampled_from(DIRECTIVES[:2]), st.lists(NAMES))), NAMES)
def test_any_list_of_directives_is_read_back(directives: list, words: str) -> None:
    comment = "# " + words + "".join(f" @{name} {' '.join(names)}" for name, names in directives)
    assert split_comment(comment, "") == (words, directives)


PLACES = {
    "after the statement": ("x = 1  # @inspect x", [(2, "x", 1)]),
    "first line of several": ("x = [  # @inspect x\n    1,\n]", [(2, "x", [1])]),
    "middle line": ("x = [\n    1,  # @inspect x\n]", [(2, "x", [1])]),
    "last line": ("x = [\n    1,\n]  # @inspect x", [(2, "x", [1])]),
    "own line inside a statement": ("x = [\n    # @inspect x\n    1,\n]", [(2, "x", [1])]),
    "for: each item": (
        "for i in range(2):  # @inspect i\n    pass",
        [(2, "i", 0), (2, "i", 1)],
    ),
    "while: each evaluation": (
        "n = 1\nwhile n:  # @inspect n\n    n -= 1",
        [(3, "n", 1), (3, "n", 0)],
    ),
    "if": ("x = 1\nif x:  # @inspect x\n    x = 2", [(3, "x", 1)]),
    "if that is false": ("x = 0\nif x:  # @inspect x\n    x = 2", [(3, "x", 0)]),
    "elif": ("x = 1\nif x == 2:\n    pass\nelif x:  # @inspect x\n    pass", [(5, "x", 1)]),
    "else: the start of that block": (
        "x = 0\nif x:\n    pass\nelse:  # @inspect x\n    x = 5",
        [(3, "x", 0)],
    ),
    "with": (
        "from contextlib import nullcontext\nwith nullcontext(3) as x:  # @inspect x\n    pass",
        [(3, "x", 3)],
    ),
    "except": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:  # @inspect e.args\n    pass",
        [(2, "e.args", ["division by zero"])],
    ),
    "finally": ("try:\n    x = 1\nfinally:  # @inspect x\n    pass", [(2, "x", 1)]),
    "match": (
        "x = 3\nmatch x:  # @inspect x\n    case 1:\n        pass",
        [(3, "x", 3)],
    ),
    "case": ("match 3:\n    case x:  # @inspect x\n        pass", [(2, "x", 3)]),
    "assert": ("x = 3\nassert x  # @inspect x", [(3, "x", 3)]),
    "class": ("class A:  # @inspect A\n    b = 1", [(2, "A", "main.<locals>.A")]),
    "class body": ("class A:\n    b = 1  # @inspect b", [(3, "b", 1)]),
    "one-line compound": ("if True: x = 1  # @inspect x", [(2, "x", 1)]),
    "semicolons": ("a = 1; b = 2  # @inspect a b", [(2, "a", 1), (2, "b", 2)]),
    "lambda and comprehension": ("f = [(lambda: i)() for i in (1, 2)]  # @inspect f",
                                 [(2, "f", [1, 2])]),
    "return": ("x = 1\nreturn x + 1  # @inspect x", [(3, "return", 2), (3, "x", 1)]),
    "a statement that raises": (
        "x = 1\ntry:\n    x = 1 / 0  # @inspect x\nexcept ZeroDivisionError:\n    pass",
        [(4, "x", 1)],
    ),
    "bare inspect: all locals that have a value": (
        "a = 1\nb = 2  # @inspect\nc = 3",
        [(3, "a", 1), (3, "b", 2)],
    ),
    "clear": ("x = 1  # @inspect x\npass  # @clear x", [(2, "x", 1), (3, "x", None)]),
    "bare clear": (
        "x = y = 1  # @inspect x y\npass  # @clear",
        [(2, "x", 1), (2, "y", 1), (3, "x", None), (3, "y", None)],
    ),
    "attribute chain": ("x = 3 + 4j  # @inspect x.real x.imag",
                        [(2, "x.real", 3.0), (2, "x.imag", 4.0)]),
    "a string is no comment": ('x = "# @inspect x"', []),
    "private names in a class": (
        "class A:\n    def f(self):\n        __x = 1  # @inspect __x\nA().f()",
        [(4, "__x", 1)],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), PLACES.values(), ids=PLACES.keys())
def test_places(body: str, expected: list) -> None:
    source = "def main():\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    assert shown(trace_source(source)) == expected


def test_arguments_are_read_on_entry_and_the_value_after_the_calls_of_a_statement() -> None:
    document = trace_source(
        """
        def main():
            x = f(2)  # @inspect x

        def f(n):  # @inspect n
            n += 1  # @inspect n
            return n
        """
    )
    assert shown(document) == [(4, "n", 2), (5, "n", 3), (2, "x", 3)]
    assert document["inspections"]["event"] == [2, 3, 1]
    assert document["inspections"]["at"] == [3, 4, 6], "x is not known while f runs"


def test_a_name_without_a_value_is_a_warning_and_no_exception() -> None:
    document = trace_source(
        """
        def main():
            x = 1  # @inspect y x.nothing x
        """
    )
    assert shown(document) == [(2, "x", 1)]
    assert document["warnings"] == [
        "sample.py:2: y does not exist here.",
        "sample.py:2: x.nothing has no value.",
    ]


OUT_OF_PLACE = [
    ("X = 1  # @inspect X\ndef main(): pass", "sample.py:1: @inspect outside of a function"),
    ("def main():\n    # @inspect x\n    x = 1", "sample.py:2: @inspect stands on a line of its"),
    ("def main():\n    x = 1  # @inpsect x", "sample.py:2: unknown directive @inpsect"),
]


@pytest.mark.parametrize(("source", "sentence"), OUT_OF_PLACE)
def test_directives_out_of_place_stop_the_run(source: str, sentence: str) -> None:
    with pytest.raises(LectureError, match=sentence.replace(".", r"\.")):
        record_source(source)


def test_hide() -> None:
    document = trace_source(
        """
        def main():
            # ---- a banner ----  @hide
            x = 1
            # prose
            for i in range(2):  # @hide
                x = i
        """
    )
    assert document["files"][0]["hidden"] == [[2, 2], [5, 6]]
    assert [prose["text"] for prose in document["files"][0]["prose"]] == ["prose"]


def test_hide_on_a_later_line_hides_that_line() -> None:
    document = trace_source(
        """
        def main():
            x = [  # all of it
                1,
                2,  # @hide
            ]
            return x
        """
    )
    assert document["files"][0]["hidden"] == [[4, 4]]


def test_timed_values_stay_out_of_the_document() -> None:
    source = """
        import time

        def main():
            t = time.perf_counter()  # @inspect t @timed
            assert t > 0  # @timed
        """
    documents = [trace_source(source) for _ in range(2)]
    assert documents[0] == documents[1]
    assert documents[0]["claims"]["held"] == [True]


def test_private_names_are_those_of_the_class() -> None:
    document = trace_source(
        """
        class Account:
            def __init__(self):
                self.__balance = 3  # @inspect self.__balance

            def add(self, n):
                __n = n
                pass  # @inspect

        def main():
            Account().add(1)
        """
    )
    assert shown(document)[0] == (3, "self.__balance", 3)
    assert [name for _, name, _ in shown(document)[1:]] == ["self", "n", "__n"]
    assert document["warnings"] == []


def test_names_are_compared_as_python_does() -> None:
    document = trace_source("def main():\n    µ, ϕ = 1, 2  # @inspect µ ϕ\n")
    assert shown(document) == [(2, "\u03bc", 1), (2, "\u03c6", 2)]


@pytest.mark.parametrize("pattern", ["2 | _", "(_ as y)", "_", "y"])
def test_a_match_whose_last_case_fits_all(pattern: str) -> None:
    source = f"""
        def main():
            for x in (1, 2):
                match x:  # @inspect x
                    case 1:
                        pass
                    case {pattern}:
                        pass
        """
    assert shown(trace_source(source)) == [(3, "x", 1), (3, "x", 2)]


MARKED = """
    def main():  # M1.2, E3; @core @cover
        a(1)

    @staticmethod
    def a(
        n,
    ):  # @exercise @inspect n
        pass

    class A:
        def b(self):  # words of the author, core
            pass

    def c(): pass
    """


def test_what_stands_on_the_line_of_a_def_is_its_marks() -> None:
    document = trace_source(MARKED)
    assert {row["name"]: row["marks"] for row in document["functions"]} == {
        "main": ["M1.2", "E3", "core", "cover"],
        "a": ["exercise"],
        "A.b": ["words", "of", "the", "author"],
        "c": [],
    }
    assert shown(document) == [(5, "n", 1)]


@pytest.mark.parametrize(
    "body",
    ["x = 1  # @core", "for i in ():  # @core\n        pass", "class A:  # @core\n        pass"],
)
def test_marks_are_said_of_functions(body: str) -> None:
    with pytest.raises(LectureError) as caught:
        record_source(f"def main():\n    {body}\n")
    assert str(caught.value) == (
        "sample.py:2: @core is said of a function: put it at the end of its `def` line."
    )


def test_a_mark_on_a_line_of_its_own_is_refused() -> None:
    with pytest.raises(LectureError, match="@exercise stands on a line of its own"):
        record_source("# @exercise\ndef main():\n    pass\n")


def test_claims_that_are_to_be_predicted() -> None:
    recording = record_source("def main():\n    assert 1 < 2  # @predict\n    assert 2 < 3\n")
    assert [row.get("predict") for row in build(recording).assertions] == [True, None]


def test_only_a_claim_can_be_predicted() -> None:
    with pytest.raises(LectureError, match="@predict is said of a claim: put it at"):
        record_source("def main():\n    x = 1  # @predict\n")
