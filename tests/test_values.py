"""Pictures of values: true, bounded, and safe to take."""

import dataclasses
import enum
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trace.values import MAX_CHARACTERS, MAX_DEPTH, MAX_ITEMS, Snapshots


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


class Raises:
    def __repr__(self) -> str:
        raise ValueError("no repr")


class Svg:
    def _repr_svg_(self) -> str:
        return "<svg/>"


class Attributes:
    def __getattr__(self, name: str) -> object:
        raise RuntimeError(name)


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
    (Custom(), {"type": "Custom", "text": "<custom at #1>"}),
    (Raises(), {"type": "Raises", "error": "ValueError: no repr"}),
    (Svg(), {"type": "Svg", "svg": "<svg/>"}),
    (len, {"type": "builtin_function_or_method", "text": "len"}),
    (int, {"type": "type", "text": "int"}),
    (torch.float32, {"type": "dtype", "text": "torch.float32"}),
    (torch.device("cpu"), {"type": "device", "text": "device(type='cpu')"}),
    (torch.Size([2, 3]), {"type": "Size", "text": "torch.Size([2, 3])"}),
    (np.float32(1.5), {"type": "float32", "text": "np.float32(1.5)"}),
    (Counter("aab"), {"type": "Counter", "text": "Counter({'a': 2, 'b': 1})"}),
    (deque([1]), {"type": "deque", "text": "deque([1])"}),
]


@pytest.mark.parametrize(("value", "picture"), SIMPLE, ids=lambda value: type(value).__name__)
def test_simple_values(value: object, picture: dict) -> None:
    assert take(value) == picture


def test_hostile_attributes_do_no_harm() -> None:
    assert take(Attributes())["type"] == "Attributes"


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


def test_a_small_tensor_is_recorded_whole_with_its_storage() -> None:
    snapshots = Snapshots()
    x = torch.arange(6.0).view(2, 3)
    first, view, copy = (snapshots.take(value) for value in (x, x.T, x.clone()))
    assert first == {
        **{"type": "Tensor", "dtype": "float32", "shape": [2, 3], "device": "cpu", "bytes": 24},
        **{"strides": [3, 1], "offset": 0, "contiguous": True, "storage": 1, "storage_bytes": 24},
        **{"elements": [0.0, 1.0, 2.0, 3.0, 4.0, 5.0], "requires_grad": False},
    }
    assert (view["storage"], view["strides"], view["contiguous"]) == (1, [1, 3], False)
    assert view["elements"] == [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]
    assert copy["storage"] == 2


def test_a_large_tensor_is_corners_statistics_and_a_histogram() -> None:
    x = torch.arange(10_000.0).view(100, 100)
    x[0, 0], x[0, 1] = math.nan, math.inf
    picture = take(x)
    assert picture["shown"] == [[0, 1, 2, 3, 96, 97, 98, 99]] * 2
    assert picture["elements"][:3] == ["nan", "inf", 2.0]
    assert picture["elements"][-1] == 9999.0
    assert picture["statistics"]["min"] == 2.0
    assert (picture["statistics"]["nan"], picture["statistics"]["inf"]) == (1, 1)
    assert sum(picture["histogram"]["counts"]) == 9998
    assert len(json.dumps(picture)) < 2_000


KINDS_OF_TENSOR = {
    "0-d": torch.tensor(1.0),
    "zero-size": torch.empty(0, 3),
    "expanded": torch.zeros(3, 1).expand(3, 4),
    "bool": torch.tensor([True]),
    "complex": torch.tensor([1j]),
    "float8": torch.tensor([1.5]).to(torch.float8_e4m3fn),
    "bfloat16": torch.tensor([1.5], dtype=torch.bfloat16),
    "uint16": torch.tensor([1], dtype=torch.uint16),
    "meta": torch.empty(10**6, 10**6, device="meta"),
    "sparse": torch.eye(3).to_sparse(),
    "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
    "parameter": torch.nn.Parameter(torch.ones(2)),
    "requires grad, large": torch.ones(300, requires_grad=True),
    "array": np.arange(6).reshape(2, 3).T,
    "structured array": np.zeros(2, dtype=[("a", "i4"), ("b", "f8")]),
    "masked array": np.ma.masked_array([1, 2], [False, True]),
    "text array": np.array(["a", "b"]),
}


@pytest.mark.parametrize("tensor", KINDS_OF_TENSOR.values(), ids=KINDS_OF_TENSOR.keys())
def test_kinds_of_tensor(tensor: object) -> None:
    picture = take(tensor)
    assert "error" not in picture
    assert (picture["shape"], picture["type"]) == (list(tensor.shape), type(tensor).__name__)
    json.dumps(picture, allow_nan=False)


def test_float32_elements_have_no_digits_of_noise() -> None:
    assert take(torch.tensor([0.1, 1 / 3]))["elements"] == [0.1, 0.33333334]


def test_a_chart_is_its_specification() -> None:
    import altair as alt

    chart = alt.Chart(alt.Data(values=[{"a": 1}])).mark_bar().encode(x="a:Q")
    picture = take(chart)
    assert picture["vega"]["mark"] == {"type": "bar"}
    assert "config" not in picture["vega"]


def test_reading_consumes_no_random_numbers_and_costs_nothing() -> None:
    from trace.costs import measure

    x = torch.ones(1000, requires_grad=True)
    state = torch.get_rng_state()
    with measure() as cost:
        take(x)
    assert torch.equal(state, torch.get_rng_state())
    assert (cost.allocated_bytes, dict(cost.uncounted)) == (0, {})


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
def test_any_value_gives_bounded_json(value: object) -> None:
    text = json.dumps(take(value), allow_nan=False)
    assert len(text) < 1_000_000
    assert take(value) == take(value) or "nan" in text
