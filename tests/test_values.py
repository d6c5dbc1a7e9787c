"""Pictures of values: true, bounded, and safe to take."""

import dataclasses
import enum
import json
import math
import os
import signal
import sys
import time
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trace.record.pictures import MAX_CHARACTERS, MAX_DEPTH, MAX_ITEMS, Snapshots

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "60"))
"""Generated values of each kind; `make fuzz` takes many more."""


def take(value: object) -> dict:
    return Snapshots().take(value)


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Point:
    x: int
    y: float


Pair = namedtuple("Pair", "first second")


class Custom:
    def __repr__(self) -> str:
        return f"<custom at {hex(id(self))}>"


class Account:
    def __init__(self) -> None:
        self.balance = 3


class Table:
    """Says itself what it is best shown as."""

    def __init__(self) -> None:
        self.rows, self.cache = {"a": 1}, "of no interest"

    def asdict(self) -> dict:
        return self.rows


class Raises:
    def __repr__(self) -> str:
        raise ValueError("no repr")


class Svg:
    def _repr_svg_(self) -> str:
        return "<svg/>"


SIMPLE = [
    (None, {"type": "NoneType", "value": None}),
    (True, {"type": "bool", "value": True}),
    (3, {"type": "int", "value": 3}),
    (2**53, {"type": "int", "text": "9007199254740992"}),
    (-(2**53) + 1, {"type": "int", "value": -(2**53) + 1}),
    (1.5, {"type": "float", "value": 1.5}),
    (math.nan, {"type": "float", "text": "nan"}),
    (-math.inf, {"type": "float", "text": "-inf"}),
    (1 + 2j, {"type": "complex", "text": "(1+2j)"}),
    ("é", {"type": "str", "value": "é"}),
    (b"\x00a", {"type": "bytes", "text": "b'\\x00a'", "length": 2}),
    (Color.RED, {"type": "Color", "text": "Color.RED"}),
    (range(3), {"type": "range", "text": "range(0, 3)"}),
    ((), {"type": "tuple", "items": [], "length": 0}),
    ([1], {"type": "list", "items": [{"type": "int", "value": 1}], "length": 1}),
    (
        {2, 1},
        {
            "type": "set",
            "items": [{"type": "int", "value": 1}, {"type": "int", "value": 2}],
            "length": 2,
        },
    ),
    (
        {"a": 1},
        {
            "type": "dict",
            "entries": [[{"type": "str", "value": "a"}, {"type": "int", "value": 1}]],
            "length": 1,
        },
    ),
    (
        Point(1, 2.0),
        {
            "type": "Point",
            "fields": {"x": {"type": "int", "value": 1}, "y": {"type": "float", "value": 2.0}},
        },
    ),
    (
        Pair(1, 2),
        {
            "type": "Pair",
            "fields": {
                "first": {"type": "int", "value": 1},
                "second": {"type": "int", "value": 2},
            },
        },
    ),
    (Account(), {"type": "Account", "fields": {"balance": {"type": "int", "value": 3}}}),
    (
        Table(),
        {
            "type": "Table",
            "entries": [[{"type": "str", "value": "a"}, {"type": "int", "value": 1}]],
            "length": 1,
        },
    ),
    (Custom(), {"type": "Custom", "text": "<custom at #1>"}),
    (Raises(), {"type": "Raises", "error": "ValueError: no repr"}),
    (Svg(), {"type": "Svg", "svg": "<svg/>"}),
    (len, {"type": "builtin_function_or_method", "text": "len"}),
    (int, {"type": "type", "text": "int"}),
    (deque([1]), {"type": "deque", "length": 1, "items": [{"type": "int", "value": 1}]}),
    (
        Counter("a"),
        {
            "type": "Counter",
            "length": 1,
            "entries": [[{"type": "str", "value": "a"}, {"type": "int", "value": 1}]],
        },
    ),
]


@pytest.mark.parametrize(("value", "picture"), SIMPLE, ids=lambda value: type(value).__name__)
def test_simple_values(value: object, picture: dict) -> None:
    assert take(value) == picture


def loops(*_: object) -> object:
    while True:
        pass


def sleeps(*_: object) -> object:
    time.sleep(60)


def raises(*_: object) -> object:
    raise RuntimeError("never look inside")


def exits(*_: object) -> object:
    raise SystemExit(3)


def huge(*_: object) -> str:
    return "x" * 10_000_000


METHODS = (
    *("__repr__", "__str__", "__len__", "__iter__", "__getitem__", "__bool__", "__eq__"),
    *("__hash__", "__getattr__", "__getattribute__", "__class__", "__format__", "__dir__"),
    *("_repr_svg_", "_repr_markdown_", "_repr_png_", "_repr_latex_"),
)
BEHAVIOURS = (loops, sleeps, raises, exits, huge)
BASES = (object, list, dict, tuple, set, int, str, float)


def hostile(base: type, methods: Iterable[str], behaviour: Callable) -> object:
    """An instance whose methods misbehave."""
    make = property if "__class__" in methods else (lambda method: method)
    members = {name: make(behaviour) if name == "__class__" else behaviour for name in methods}
    return base.__new__(type("Hostile", (base,), members))


HOSTILE = st.builds(
    hostile,
    st.sampled_from(BASES),
    st.sets(st.sampled_from([name for name in METHODS if "_repr_" not in name[:6]]), min_size=1),
    st.sampled_from(BEHAVIOURS),
)


def seconds_to_take(value: object) -> float:
    start = time.perf_counter()
    text = json.dumps(take(value), allow_nan=False)
    assert len(text) < 100_000
    return time.perf_counter() - start


@pytest.mark.parametrize("behaviour", BEHAVIOURS, ids=lambda function: function.__name__)
@pytest.mark.parametrize("base", BASES)
def test_hostile_classes_are_survived(base: type, behaviour: Callable) -> None:
    methods = [name for name in METHODS if not name.startswith("_repr_")]
    value = hostile(base, methods, behaviour)
    assert take(value)["type"] == "Hostile"
    assert seconds_to_take([value, value]) < 2


@given(st.recursive(HOSTILE, lambda inner: st.lists(inner, max_size=4), max_leaves=4))
@settings(max_examples=EXAMPLES)
def test_any_hostile_value_is_survived(value: object) -> None:
    assert seconds_to_take(value) < 2


def test_a_loop_in_repr_is_stopped_by_lines_and_a_sleep_by_the_clock() -> None:
    errors = {
        loops: "not shown: it ran more than 20,000 lines",
        sleeps: "not shown: it took longer than 0.1 s",
    }
    for behaviour, error in errors.items():
        assert take(hostile(object, ["__repr__"], behaviour)) == {"type": "Hostile", "error": error}


def test_the_lecture_s_own_alarm_and_trace_function_stay() -> None:
    def on_alarm(*_: object) -> None:
        raise AssertionError("it rang early")

    def on_event(*_: object) -> None:
        return None

    outer, before = sys.gettrace(), signal.signal(signal.SIGALRM, on_alarm)
    signal.setitimer(signal.ITIMER_REAL, 60)
    sys.settrace(on_event)
    try:
        take(Custom())
        assert sys.gettrace() is on_event
        assert signal.getsignal(signal.SIGALRM) is on_alarm
        assert signal.getitimer(signal.ITIMER_REAL)[0] > 50
    finally:
        sys.settrace(outer)
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_many_parts_are_cut() -> None:
    value = [[[0] * 50] * 50] * 50
    text = json.dumps(take(value))
    assert len(text) < 100_000
    assert '"cut": true' in text


def test_long_and_deep_values_are_cut_and_say_so() -> None:
    text = take("a" * (MAX_CHARACTERS + 1))
    assert (len(text["value"]), text["length"], text["cut"]) == (2000, 2001, True)
    items = take(list(range(MAX_ITEMS + 1)))
    assert (len(items["items"]), items["length"], items["cut"]) == (50, 51, True)
    assert "cut" not in take(list(range(MAX_ITEMS)))
    nested: list = []
    for _ in range(MAX_DEPTH + 1):
        nested = [nested]
    assert '"cut": true' in json.dumps(take(nested))


def test_a_container_that_contains_itself() -> None:
    value: list = [1]
    value.append(value)
    assert take(value)["items"][1] == {
        "type": "list",
        "text": "... (contains itself)",
        "cut": True,
    }


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(), inner)
        | st.builds(OrderedDict, st.dictionaries(st.text(), inner))
        | st.builds(lambda d: defaultdict(int, d), st.dictionaries(st.text(), inner))
    ),
)


@given(ANYTHING)
@settings(max_examples=EXAMPLES)
def test_any_value_gives_bounded_json(value: object) -> None:
    text = json.dumps(take(value), allow_nan=False)
    assert len(text) < 1_000_000
    assert take(value) == take(value) or "nan" in text


def test_a_module_is_named_without_its_place() -> None:
    assert take(json) == {"type": "module", "text": "json"}
