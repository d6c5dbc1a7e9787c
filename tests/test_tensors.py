"""Pictures of tensors and arrays, of what torch adds, and of charts."""

import json
import math
import re

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from trace.record.pictures import Snapshots


def take(value: object) -> dict:
    return Snapshots().take(value)


SIMPLE = [
    (torch.float32, {"type": "dtype", "text": "torch.float32"}),
    (torch.device("cpu"), {"type": "device", "text": "device(type='cpu')"}),
    (torch.Size([2, 3]), {"type": "Size", "text": "torch.Size([2, 3])"}),
    (np.float32(0.1), {"type": "float32", "value": 0.1}),
    (np.float64("nan"), {"type": "float64", "text": "nan"}),
    (np.int64(3), {"type": "int64", "value": 3}),
]


@pytest.mark.parametrize(("value", "picture"), SIMPLE, ids=lambda value: type(value).__name__)
def test_simple_values(value: object, picture: dict) -> None:
    assert take(value) == picture


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
    "negated": torch.ones(300, dtype=torch.complex128).conj().imag,
    "matrix": np.ones((20, 20)).view(np.matrix),
    "array of objects": np.array([None, 1, "a", json], dtype=object),
    "shapes alone": FakeTensorMode().from_tensor(torch.ones(2)),
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


def test_a_module_is_a_tree_with_parameter_counts() -> None:
    network = torch.nn.Sequential(torch.nn.Linear(2, 3, bias=False), torch.nn.ReLU())
    picture = take(network)
    assert picture["type"] == "Sequential"
    assert picture["fields"]["parameters"]["value"] == 6
    assert picture["fields"]["0"]["fields"]["weight"]["shape"] == [3, 2]
    assert picture["fields"]["1"] == {
        "type": "ReLU",
        "fields": {"parameters": {"type": "int", "value": 0}},
    }


def test_optimizers_and_state_dicts() -> None:
    layer = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(layer.parameters())
    assert take(optimizer)["text"].startswith("AdamW (")
    names = [entry[0]["value"] for entry in take(layer.state_dict())["entries"]]
    assert names == ["weight", "bias"]


def test_a_matplotlib_figure_is_the_same_svg_each_time() -> None:
    from matplotlib.figure import Figure

    def draw() -> dict:
        figure = Figure(figsize=(2, 1))
        figure.subplots().plot([1, 2])
        return take(figure)

    assert draw()["svg"].startswith("<?xml")
    assert draw() == draw()


def test_sympy_is_maths() -> None:
    import sympy

    assert take(sympy.Symbol("x") ** 2)["markdown"] == "$\\displaystyle x^{2}$"


# ends of the range -> whether bins between them are numbers
RANGES = [(-1e308, 1e308, False), (1.0, 1.0 + 2**-52, False), (0.0, 1.0, True)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("low", "high", "has_histogram"), RANGES)
def test_statistics_at_the_limits_of_numbers(low, high, has_histogram) -> None:
    numbers = torch.full((1000,), high, dtype=torch.float64)
    numbers[0] = low
    picture = take(numbers)
    assert (picture["statistics"]["min"], picture["statistics"]["max"]) == (low, high)
    assert ("histogram" in picture) is has_histogram


def test_statistics_leave_out_what_is_masked() -> None:
    values = np.arange(300.0)
    picture = take(np.ma.masked_array(values, values >= 250))
    assert picture["statistics"]["std"] == pytest.approx(values[:250].std(), rel=1e-5)
    assert sum(picture["histogram"]["counts"]) == 250


def test_objects_in_an_array_are_numbered() -> None:
    assert take(np.array([object()]))["elements"] == ["<object object at #1>"]


def test_inside_vmap_the_shape_of_one_is_seen() -> None:
    pictures = []
    torch.vmap(lambda x: pictures.append(take(x)) or x)(torch.ones(2, 3))
    assert pictures[0]["shape"] == [3]


def test_a_ragged_axis_has_a_symbol() -> None:
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    picture = take(torch.nested.nested_tensor(parts, layout=torch.jagged))
    assert re.fullmatch(r"shape \(2, j\d+, 3\)", picture["text"])
    json.dumps(picture)


def test_what_is_no_number_is_a_gap_in_a_chart() -> None:
    import altair as alt

    rows = [{"a": math.nan}, {"a": math.inf}, {"a": 1.5}]
    picture = take(alt.Chart(alt.Data(values=rows)).mark_bar().encode(x="a:Q"))
    assert picture["vega"]["data"]["values"] == [{"a": None}, {"a": None}, {"a": 1.5}]


def test_reading_is_not_part_of_what_jit_traces() -> None:
    pictures = []
    traced = torch.jit.trace(lambda x: (pictures.append(take(x)), 2 * x)[1], torch.ones(2))
    assert (pictures[0]["shape"], str(traced.graph).count("aten::")) == ([2], 1)
