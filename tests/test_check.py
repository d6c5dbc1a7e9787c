"""`--check`: what differs between two documents is said in words, and all of it is said."""

import contextlib
import copy
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracing import trace_source
from trace.document import check
from trace.document.build import build
from trace.document.closeness import close, parting
from trace.document.decoding import from_json
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import record
from trace.schema import Costs
from trace.target import find_target


def differences(old, new):
    """How two documents differ that are given as JSON has them."""
    return check.differences(from_json(old), from_json(new))


GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.json"))

SOURCE = """\
def main():
    n = 3  # @inspect n
    for i in range(n):
        assert i < n
    print(square(n))


def square(x):
    # Prose.
    y = x * x
    return y  # @inspect
"""

with contextlib.redirect_stdout(io.StringIO()):
    DOCUMENT = trace_source(SOURCE)


# what is changed -> by what it is replaced, all that is said
CHANGES = {
    "nothing": ("", "", []),
    "prose": (
        "# Prose.",
        "# Words.",
        ["sample.py:9: the source was `# Prose.`, is now `# Words.`."],
    ),
    "a number": (
        "n = 3",
        "n = 4",
        [
            "sample.py:2: the source was `n = 3  # @inspect n`, is now `n = 4  # @inspect n`.",
            "sample.py:4: there were 11 steps, there are now 13.",
            "sample.py:4: in `i < n`, 3 is now 4.",
            "sample.py:4: `i < n` instead of nothing; 3 asserts were checked, now 4.",
            "sample.py:2: of n, 3 is now 4.",
            "sample.py:11: of return, 9 is now 16.",
            "sample.py:11: of x, 3 is now 4.",
            "sample.py:11: of y, 9 is now 16.",
        ],
    ),
    "the number of steps": (
        "range(n)",
        "range(n - 1)",
        [
            "sample.py:3: the source was `for i in range(n):`, is now `for i in range(n - 1):`.",
            "sample.py:5: there were 11 steps, there are now 9.",
            "sample.py:4: nothing instead of `i < n`; 3 asserts were checked, now 2.",
        ],
    ),
    "a claim that fails": (
        "assert i < n",
        "assert i < 2",
        [
            "sample.py:4: the source was `assert i < n`, is now `assert i < 2`.",
            "sample.py:4: there were 11 steps, there are now 7.",
            "sample.py:4: `i < 2` instead of `i < n`; 3 asserts were checked, now 3.",
            "sample.py:11: nothing instead of `return`; 4 values were shown, now 1.",
            "sample.py:4: the run ended with no failure, now with claim (AssertionError).",
        ],
    ),
    "an inspected name": (
        "@inspect\n",
        "@inspect y\n",
        [
            "sample.py:11: the source was `return y  # @inspect`, is now `return y  # @inspect y`.",
            "sample.py:11: `y` instead of `x`; 4 values were shown, now 3.",
        ],
    ),
    "a line more": (
        "    # Prose.\n",
        "    # Prose.\n    # More.\n",
        ["sample.py:10: the source was ``, is now `# More.`."],
    ),
    "a line less": (
        "    # Prose.\n",
        "",
        ["sample.py:9: the source was `# Prose.`, is now ``."],
    ),
    "an exception": (
        "x * x",
        "x / 0",
        [
            "sample.py:10: the source was `y = x * x`, is now `y = x / 0`.",
            "sample.py:10: there were 11 steps, there are now 10.",
            "sample.py:11: nothing instead of `return`; 4 values were shown, now 1.",
            "sample.py:10: the run ended with no failure, now with exception (ZeroDivisionError).",
        ],
    ),
    "a claim more, with which those below it are not compared": (
        "    for i",
        "    assert n == 3\n    for i",
        [
            "sample.py:3: the source was ``, is now `assert n == 3`.",
            "sample.py:5: there were 11 steps, there are now 12.",
            "sample.py:3: `n == 3` instead of `i < n`; 3 asserts were checked, now 4.",
        ],
    ),
}


@pytest.mark.parametrize(("old", "new", "sentences"), CHANGES.values(), ids=CHANGES)
def test_changes_of_the_source(old, new, sentences, capsys):
    assert differences(trace_source(SOURCE), trace_source(SOURCE.replace(old, new))) == sentences


def test_lines_are_counted_as_python_does():
    before = 'def main():\n    a = "\u2028\x0c"\n    b = 1\n'
    found = differences(trace_source(before), trace_source(before.replace("1", "2")))
    assert found == ["sample.py:3: the source was `b = 1`, is now `b = 2`."]


# what a file holds that the lecture reads, before and after -> all that is said
READS = {
    "nothing": ("1.0", "1.0", []),
    "the value alone": ("1.0", "2.0", [
        "reads.py:6: in `x > 0`, 1.0 is now 2.0.",
        "reads.py:4: of x, 1.0 is now 2.0.",
    ]),
    "an outcome": ("1.0", "-1.0", [
        "reads.py:8: there were 8 steps, there are now 9.",
        "reads.py:6: `x > 0` was True, is now False.",
        "reads.py:6: in `x > 0`, 1.0 is now -1.0.",
        "reads.py:4: of x, 1.0 is now -1.0.",
    ]),
    "a sign that Python does not see": ("0.0", "-0.0", [
        "reads.py:6: in `x > 0`, 0.0 is now -0.0.",
        "reads.py:4: of x, 0.0 is now -0.0.",
    ]),
    "a type": ("1.0", "1", [
        "reads.py:6: in `x > 0`, 1.0 is now 1.",
        "reads.py:4: of x, 1.0 is now 1.",
    ]),
    "another way through": ("1.0", "5.0", [
        "reads.py:12: the steps are not in the same order.",
        "reads.py:6: in `x > 0`, 1.0 is now 5.0.",
        "reads.py:4: of x, 1.0 is now 5.0.",
    ]),
    "a file that is read now": ("1.0", "7.0", [
        "beside.py is new.",
        "reads.py:15: there were 8 steps, there are now 9.",
        "reads.py:6: in `x > 0`, 1.0 is now 7.0.",
        "reads.py:4: of x, 1.0 is now 7.0.",
    ]),
    "what is printed": ("1.0", "1.0 ", [
        "reads.py:3: of text, 1.0 is now 1.0 .",
        "reads.py:16: the field `output` differs.",
        "reads: the field `data` differs.",
    ]),
    "how it fails": ("no", "", [
        "reads.py:20: the run ended with exception (ValueError), now with exception (EOFError)."
    ]),
}  # fmt: skip
READER = """\
from pathlib import Path
def main():
    text = Path(__file__).with_name("input.txt").read_text()
    x = number(text)  # @inspect x @stepover
    try:
        assert x > 0
    except AssertionError:
        pass
    if x != 5:
        y = 1
    else:
        y = 2
    if x == 7:
        # It is imported only here.
        import beside
    print(repr(text))

def number(text):
    if not text:
        raise EOFError
    return int(text) if text == "1" else float(text)
"""


@pytest.mark.parametrize(("before", "after", "sentences"), READS.values(), ids=READS)
def test_changes_of_what_the_lecture_reads(before, after, sentences, tmp_path, capsys):
    (tmp_path / "reads.py").write_text(READER)
    (tmp_path / "beside.py").write_text("def f(): pass\n")
    documents = []
    for text in (before, after):
        (tmp_path / "input.txt").write_text(text)
        recording = record(find_target(str(tmp_path / "reads.py")), Options())
        documents.append(json.loads(encode(build(recording))))
    assert differences(*documents) == sentences
    new, old = documents
    assert bool(differences(old, new)) == bool(sentences)


def test_files_that_came_and_went():
    old, new = copy.deepcopy(DOCUMENT), copy.deepcopy(DOCUMENT)
    old["files"][0]["path"] = "old.py"
    assert differences(old, new) == ["old.py is no longer used.", "sample.py is new."]


# two pictures of a value -> whether they may come from two environments
PICTURES = [
    ({"type": "float", "value": 0.3}, {"type": "float", "value": 0.30000001}, True),
    ({"type": "float", "value": 0.3}, {"type": "float", "value": 0.3001}, False),
    ({"type": "float", "value": 0.0}, {"type": "float", "value": 1e-9}, True),
    ({"type": "float", "value": 0.0}, {"type": "float", "text": "nan"}, False),
    ({"type": "float", "text": "inf"}, {"type": "float", "text": "nan"}, False),
    ({"type": "float", "value": 1e-3}, {"type": "float", "value": 1.01e-3}, False),
    ({"type": "float", "value": 1.0}, {"type": "int", "value": 1}, False),
    ({"type": "int", "value": 3}, {"type": "int", "value": 4}, True),
    ({"type": "str", "value": "3.1"}, {"type": "str", "value": "3.2"}, True),
    ({"type": "bool", "value": True}, {"type": "bool", "value": False}, False),
    ({"type": "str", "value": "a"}, {"type": "NoneType", "value": None}, False),
    ({"type": "A", "text": "A #1"}, {"type": "A", "text": "A #2"}, True),
    ({"type": "A", "text": "A #1"}, {"type": "B", "text": "A #1"}, False),
    ({"type": "list", "items": [{"type": "float", "value": 1.0}]},
     {"type": "list", "items": [{"type": "float", "value": 1.0000001}]}, True),
    ({"type": "list", "items": [{"type": "float", "value": 1.0}]},
     {"type": "list", "items": [{"type": "float", "value": 2.0}]}, False),
    ({"type": "list", "items": [{"type": "float", "value": 1.0}]}, {"type": "list", "items": []},
     False),
    ({"type": "A", "fields": {"type": {"type": "int", "value": 1}}},
     {"type": "A", "fields": {"type": {"type": "int", "value": 2}}}, True),
    ({"type": "A", "fields": {"type": {"type": "int"}, "x": {"type": "int"}}},
     {"type": "A", "fields": {"type": {"type": "int"}, "x": {"type": "A"}}}, False),
    ({"type": "A", "fields": {"x": {"type": "int", "value": 1}}},
     {"type": "A", "fields": {"y": {"type": "int", "value": 1}}}, False),
    ({"type": "dict", "entries": [[{"type": "int", "value": 1}, {"type": "float", "value": 1.0}]]},
     {"type": "dict", "entries": [[{"type": "int", "value": 1}, {"type": "float", "value": 3.0}]]},
     False),
    ({"type": "Tensor", "dtype": "float32", "shape": [1, 2], "elements": [1.0, 2.0], "storage": 1},
     {"type": "Tensor", "dtype": "float32", "shape": [1, 2], "elements": [1, 2.0000001]}, True),
    ({"type": "Tensor", "dtype": "float32", "shape": [1, 2], "elements": [1.0, 2.0]},
     {"type": "Tensor", "dtype": "float32", "shape": [2, 1], "elements": [1.0, 2.0]}, False),
    ({"type": "Tensor", "dtype": "float32", "shape": [1], "elements": [1.0]},
     {"type": "Tensor", "dtype": "float64", "shape": [1], "elements": [1.0]}, False),
    ({"type": "Tensor", "dtype": "bool", "shape": [1], "elements": [True]},
     {"type": "Tensor", "dtype": "bool", "shape": [1], "elements": [False]}, False),
    ({"type": "Tensor", "dtype": "float32", "shape": [2], "elements": [900.0, 0.1]},
     {"type": "Tensor", "dtype": "float32", "shape": [2], "elements": [900.0, 0.101]}, True),
    ({"type": "Tensor", "dtype": "float32", "shape": [2], "elements": [900.0, 0.1]},
     {"type": "Tensor", "dtype": "float32", "shape": [2], "elements": [900.0, 0.2]}, False),
    ({"type": "Tensor", "dtype": "float32", "shape": [1], "elements": ["nan"]},
     {"type": "Tensor", "dtype": "float32", "shape": [1], "elements": ["inf"]}, False),
    ({"type": "Tensor", "statistics": {"mean": 0.5, "nan": 0}},
     {"type": "Tensor", "statistics": {"mean": 0.5, "nan": 1}}, False),
    ({"type": "Tensor", "statistics": {"mean": 0.5, "nan": 0}},
     {"type": "Tensor", "statistics": {"mean": 0.6, "nan": 0}}, False),
    ({"type": "dict", "entries": [[{"type": "str", "value": "fp32"}, {"type": "int"}]]},
     {"type": "dict", "entries": [[{"type": "str", "value": "bf16"}, {"type": "int"}]]}, False),
    ({"type": "list", "length": 60, "items": []}, {"type": "list", "length": 61, "items": []},
     False),
    (None, {"type": "int", "value": 1}, False),
]  # fmt: skip


def chart(losses, **changed):
    rows = [{"step": n, "loss": loss, "run": "1e-3"} for n, loss in enumerate(losses)]
    return {"type": "Chart", "vega": {"data": {"values": rows}, "mark": "line"} | changed}


def drawing(svg):
    return {"type": "Figure", "svg": f"<svg viewBox='0 0 400 100'>{svg}</svg>"}


# two drawn pictures -> whether they may come from two environments
DRAWN = [
    (chart([2.0, 0.5]), chart([2.0, 0.50002]), True),
    (chart([2.0, 0.5]), chart([2.0, 0.51]), False),
    (chart([2.0, 0.5]), chart([2.0]), False),
    (chart([2.0, 0.5]), chart([2.0, None]), False),
    (chart([2.0, 0.5]), chart([2.0, 0.5], mark="point"), False),
    (chart([2.0, 0.5]), chart([2.0, 0.5], title="more"), False),
    (chart([2.0], title="ends at 0.512"), chart([2.0], title="ends at 0.513"), True),
    (chart([2.0], title="ends at 0.512"), chart([2.0], title="begins at 0.512"), False),
    (chart([], data={"name": "data-" + "a" * 32}), chart([], data={"name": "data-" + "b" * 32}),
     True),
    (drawing("<path d='M1.0 2L30 40'/>"), drawing("<path d='M1.0001 2L30 40'/>"), True),
    (drawing("<path d='M1.0 2L30 40'/>"), drawing("<path d='M9.0 2L30 40'/>"), False),
    (drawing("<path d='M1.0 2L30 40'/>"), drawing("<path d='M1.0 2L30 40L5 6'/>"), False),
    (drawing("<path d='M1.0 2'/>"), drawing("<line d='M1.0 2'/>"), False),
    (drawing("<text x='5'>0.31</text>"), drawing("<text x='5'>0.32</text>"), True),
    (drawing("<text x='5'>0.31</text>"), drawing("<text x='7'>0.31</text>"), False),
    (chart([2.0]), drawing(""), False),
]  # fmt: skip


@pytest.mark.parametrize(("was", "now", "agree"), DRAWN)
def test_what_is_drawn_is_compared_by_its_numbers(was, now, agree):
    assert close(was, now) is agree
    assert close(now, was) is agree


def test_of_a_picture_the_numbers_that_are_farthest_apart_are_named():
    assert parting(chart([2.0, 0.5, 0.3]), chart([2.0, 0.51, 0.4])) == "0.3 is now 0.4"
    assert parting(chart([2.0]), chart([2.0], mark="point")) == ""
    assert parting(chart([2.0]), chart([2.0])) is None


def test_a_curve_may_be_off_by_more_the_more_operators_ran():
    """Losses of two long runs part; a loss of another height was not computed by the same steps."""
    first, other = chart([2.0, 0.42, 0.40]), chart([2.0, 0.40, 0.42])
    assert not close(first, other, 1000)
    assert close(first, other, 100_000)
    assert not close(first, chart([2.0, 1.4, 1.3]), 100_000)
    assert not close(first, chart([2.0, 1.4, 1.3]), 10**9)
    # What is no curve is compared with itself.
    many = {"type": "float", "value": 0.42}, {"type": "float", "value": 0.43}
    assert not close(*many, 1000)
    assert close(*many, 100_000)
    pair = (
        {"type": "list", "items": [{"type": "float", "value": x} for x in row]}
        for row in ((9e9, 0.4), (9e9, 0.5))
    )
    assert not close(*pair, 100_000)


STEPS = """\
import beside
def main():
    x = 1.0  # @inspect x
    beside.f()
    first()
    second()
def first():
    x = 2.0  # @inspect x
def second():
    x = 3.0  # @inspect x
"""


def test_operators_are_counted_from_the_first_statement_of_a_file(tmp_path):
    """A file is a chapter, of which sections may keep results for others."""
    (tmp_path / "chapter.py").write_text(STEPS)
    (tmp_path / "beside.py").write_text("def f():\n    y = 1.0  # @inspect y\n")
    document = build(record(find_target(str(tmp_path / "chapter.py")), Options()))
    assert list(check.operators_before(document)) == [0, 0, 0, 0]
    document.costs = Costs(step=[0, 2, 4, 6], calls=[1, 10, 100, 1000])
    assert list(check.operators_before(document)) == [1, 10, 111, 1111]


@pytest.mark.parametrize(("was", "now", "agree"), PICTURES)
def test_between_environments_only_what_floats_determine_may_differ(was, now, agree):
    """Within one, everything counts."""
    before, after = copy.deepcopy(DOCUMENT), copy.deepcopy(DOCUMENT)
    for document, value in ((before, was), (after, now)):
        document["values"].append(value)
        document["inspections"]["value"][0] = len(document["values"]) - 1
    assert [line[:12] for line in differences(before, after)] == ["sample.py:2:"]
    before["environment"] = {"python": "3.11", "cpu_capability": "another"}
    assert [line[:12] for line in differences(before, after)] == ["sample.py:2:"] * (not agree)


def test_a_difference_that_is_no_text_is_named():
    before, after = copy.deepcopy(DOCUMENT), copy.deepcopy(DOCUMENT)
    before["values"][0] = {"type": "Tensor", "dtype": "float32", "elements": [1.0] * 99}
    after["values"][0] = {"type": "Tensor", "dtype": "float64", "elements": [1.0] * 99}
    assert "sample.py:2: of n, `dtype` float32 is now float64." in differences(before, after)


# what else may differ between environments -> a document of another one agrees with that change
ELSEWHERE = [
    (("output", 0, "text"), "9.0\n", True),
    (("costs",), vars(Costs()), True),
    (("names", 0), "m", False),
    (("claims", "held", 0), False, False),
    (("assertions", 0, "text"), "i < m", False),
    (("events", 1), 2, False),
    (("files", 0, "source"), SOURCE.replace("Prose", "Words"), False),
    (("failure",), {"kind": "exit", "type": "SystemExit", "traceback": []}, False),
]


@pytest.mark.parametrize(("path", "value", "agree"), ELSEWHERE, ids=lambda row: str(row)[:20])
def test_between_environments_the_rest_is_exact(path, value, agree):
    other = {**changed(DOCUMENT, path, value), "environment": {"python": "3.99"}}
    assert (differences(DOCUMENT, other) == []) is agree
    assert differences(DOCUMENT, changed(DOCUMENT, path, value)) != []


@pytest.mark.parametrize("file", GOLDEN, ids=lambda file: file.stem)
def test_a_document_does_not_differ_from_itself(file):
    text = file.read_text(encoding="utf-8")
    assert differences(json.loads(text), json.loads(text)) == []


def leaves(tree, path=()):
    """The path to each value in a tree of dicts and lists that is neither."""
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from leaves(value, (*path, key))
    else:
        yield path


def changed(document, path, value):
    """A copy with another value at one path."""
    copied = inner = copy.deepcopy(document)
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copied


LEAVES = [path for path in leaves(DOCUMENT) if path[0] in ("values", "claims", "events", "output")]
TABLES = {"events": st.integers(-2, 4), "step": st.integers(0, 4), "at": st.integers(0, 4)}
TABLES |= {"statement": st.integers(0, 4), "operands": st.integers(0, 4)}
ANYTHING = st.integers() | st.booleans() | st.none() | st.text() | st.floats(allow_nan=False)


@given(st.sampled_from(LEAVES), st.data())
def test_any_change_of_a_leaf_is_said(path, data):
    """An index stays within the table it leads to."""
    names = [key for key in path if key in TABLES]
    other = changed(DOCUMENT, path, data.draw(TABLES[names[-1]] if names else ANYTHING))
    assert bool(differences(DOCUMENT, other)) == (json.dumps(other) != json.dumps(DOCUMENT))
