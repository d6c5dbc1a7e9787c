"""What the inspectors compute, against torch and against replays written here."""

import itertools
import json
import math
import statistics as python_statistics
from pathlib import Path

import pytest

from tests.viewer import documents
from tests.viewer.test_golden import replay
from trace.record.tensors import StorageNumbers, snapshot

torch = pytest.importorskip("torch")
numpy = pytest.importorskip("numpy")

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))


def tensors() -> dict:
    """Tensors of every kind of layout, each a view of a storage that counts from 0."""
    base = torch.arange(24.0)
    return {
        "whole": base,
        "matrix": base.view(4, 6),
        "transposed": base.view(4, 6).T,
        "row": base.view(4, 6)[2],
        "column": base.view(4, 6)[:, 5],
        "every second": base[1::2],
        "block": base.view(2, 3, 4)[:, 1:, ::2],
        "permuted": base.view(2, 3, 4).permute(2, 0, 1),
        "expanded": base[3:6].unsqueeze(0).expand(4, 3),
        "windows": base[:10].unfold(0, 4, 1),
        "wide windows": base[:10].unfold(0, 3, 2),
        "scalar": base[7],
        "empty": base[5:5],
        "repeats": base.as_strided((3, 2, 3), (2, 0, 1), 4),
        "half": torch.arange(24, dtype=torch.float16)[4:],
        "bytes": torch.arange(24, dtype=torch.uint8).view(4, 6)[:, ::3],
    }


def picture(tensor) -> dict:
    return json.loads(json.dumps(snapshot(tensor, StorageNumbers())))


def all_indices(shape) -> list[list[int]]:
    return [list(index) for index in itertools.product(*map(range, shape))]


@pytest.mark.parametrize("name", tensors())
def test_elements_lie_where_torch_has_them(ask, name):
    """The storage holds 0, 1, 2, ..., so that what an element is says where it lies."""
    tensor = tensors()[name]
    indices = all_indices(tensor.shape)
    found = ask("layout", picture(tensor), indices)
    expected = [int(tensor[tuple(index)]) for index in indices]
    assert found["cells"] == expected
    assert found["layout"]["cells"] == tensor.untyped_storage().nbytes() // tensor.element_size()
    assert found["layout"]["itemBytes"] == tensor.element_size()
    assert found["read"] == len(set(expected))
    for cell, readers in enumerate(found["readers"]):
        there = [index for index, lies in zip(indices, expected, strict=True) if lies == cell]
        assert readers["count"] == len(there)
        assert readers["indices"] == there[:12]
        assert readers["isAll"]


@pytest.mark.parametrize("name", tensors())
def test_at_a_glance_elements_lie_where_torch_has_them(ask, name):
    """What a glance leaves out is usual; how many cells there are it does not tell."""
    tensor = tensors()[name]
    value = picture(tensor)
    for part in ("bytes", "storage_bytes", "contiguous", "device", "requires_grad"):
        value.pop(part, None)
    if tensor.is_contiguous():
        del value["strides"]
    if not value["offset"]:
        del value["offset"]
    indices = all_indices(tensor.shape)
    found = ask("layout", value, indices)
    expected = [int(tensor[tuple(index)]) for index in indices]
    assert found["cells"] == expected
    layout = found["layout"]
    assert (layout["known"], layout["isWhole"]) == (True, False)
    assert layout["cells"] == max(expected, default=-1) + 1
    assert layout["itemBytes"] == tensor.element_size()


def test_arrays_of_numpy_count_from_the_first_cell_that_they_read(ask):
    array = numpy.arange(12.0).reshape(3, 4)[::-1, ::2]
    found = ask("layout", picture(array), all_indices(array.shape))
    assert found["layout"]["known"] is False
    assert found["cells"] == [int(value) for value in array.reshape(-1)]
    for cell, readers in enumerate(found["readers"]):
        there = [index for index in all_indices(array.shape) if array[tuple(index)] == cell]
        assert readers == {"count": len(there), "isAll": True, "indices": there}


def test_any_two_axes_make_a_plane(ask):
    tensor = torch.arange(120.0).view(2, 3, 4, 5)
    planes = [
        [rows, columns, [1, 2, 3, 4]] for rows, columns in itertools.permutations(range(4), 2)
    ]
    found = ask("planes", picture(tensor), planes)
    for (rows, columns, at), cells in zip(planes, found, strict=True):
        fixed = {axis: place for axis, place in enumerate(at) if axis not in (rows, columns)}
        assert len(cells) == tensor.shape[rows] * tensor.shape[columns]
        assert [(index[rows], index[columns]) for index, _ in cells] == list(
            itertools.product(range(tensor.shape[rows]), range(tensor.shape[columns]))
        )
        for index, cell in cells:
            assert cell == float(tensor[tuple(index)])
            assert all(index[axis] == place for axis, place in fixed.items())


def test_a_plane_of_a_tensor_that_was_cut_has_the_recorded_indices(ask):
    tensor = torch.arange(3 * 30 * 40.0).view(3, 30, 40)
    value = picture(tensor)
    ends = [0, 1, 2, 3]
    found = ask("planes", value, [[1, 2, [1, 0, 0]], [2, 0, [0, 7, 0]]])
    first = {tuple(index): cell for index, cell in found[0]}
    rows, columns = [*ends, 26, 27, 28, 29], [*ends, 36, 37, 38, 39]
    assert list(first) == [(2, row, column) for row in rows for column in columns]
    assert all(cell == float(tensor[index]) for index, cell in first.items())
    assert [index for index, _ in found[1]] == [[place, 29, c] for c in columns for place in (0, 2)]


def test_statistics_of_a_tensor_recorded_whole_are_those_of_torch(ask):
    tensor = torch.randn(10, 9, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = ask("summary", picture(tensor))
    assert found["recorded"] is False
    assert found["of"] == 90
    known = dict(found["statistics"])
    assert known["min"] == pytest.approx(float(tensor.min()))
    assert known["max"] == pytest.approx(float(tensor.max()))
    assert known["mean"] == pytest.approx(float(tensor.mean()))
    assert known["std"] == pytest.approx(float(tensor.std()))
    assert known["nan"] == known["inf"] == 0
    counts = [bar["count"] for bar in found["histogram"]["bars"]]
    assert counts == torch.histc(tensor, 20).int().tolist()


def test_statistics_leave_out_what_is_not_finite(ask):
    numbers = [1.0, 3.0, math.nan, math.inf, -math.inf, math.inf, 8.0]
    known = dict(ask("summary", picture(torch.tensor(numbers)))["statistics"])
    assert (known["nan"], known["inf"]) == (1, 3)
    assert known["mean"] == 4
    assert known["std (÷ n)"] == pytest.approx(python_statistics.pstdev([1, 3, 8]))
    assert "std" not in known


def test_statistics_of_a_large_tensor_are_those_of_the_run(ask):
    tensor = torch.randn(100, 100, generator=torch.Generator().manual_seed(2))
    value = picture(tensor)
    found = ask("summary", value)
    assert found["recorded"] is True
    assert found["of"] == 10_000
    known = dict(found["statistics"])
    assert known == {**value["statistics"], "std": known["std"]}
    assert known["std"] == pytest.approx(float(tensor.std()), rel=1e-5)
    bars = found["histogram"]["bars"]
    assert [bar["count"] for bar in bars] == value["histogram"]["counts"]
    assert bars[0]["from"] == value["histogram"]["low"]


@pytest.mark.parametrize("spread", range(1, 20))
@pytest.mark.parametrize("low", [-9999, -7, 0, 9980])
def test_each_of_few_integers_of_a_large_tensor_has_its_bar(ask, spread, low):
    """The run counted them in 20 parts of their range, which are no parts of theirs."""
    generator = torch.Generator().manual_seed(spread)
    tensor = torch.randint(low, low + spread + 1, (500,), generator=generator)
    found = ask("summary", picture(tensor))["histogram"]
    values, counts = tensor.unique(return_counts=True)
    assert [bar["count"] for bar in found["bars"]] == counts.tolist()
    assert [(bar["from"] + bar["to"]) / 2 for bar in found["bars"]] == values.tolist()


# how many elements, how many of them are true
TRUTHS = [(12, 10), (12, 0), (12, 12), (1000, 506), (1000, 0), (1000, 1000)]


@pytest.mark.parametrize(("count", "true"), TRUTHS)
def test_of_booleans_it_is_counted_how_many_are_true(ask, count, true):
    found = ask("summary", picture(torch.arange(count) < true))
    assert found["truths"].replace("\u202f", "") == f"{true} of {count} true"
    assert (found["statistics"], found["histogram"]) == ([], None)
    assert found["recorded"] is (count == 1000)


def test_complex_numbers_have_no_statistics(ask):
    assert ask("summary", picture(torch.zeros(3, dtype=torch.complex64))) is None


# Records ----------------------------------------------------------------------------------------


def recorded(*rows: tuple[int, str, dict]) -> dict:
    """The small lecture with these values: step, name and value."""
    document = documents.small()
    inspections = document["inspections"]
    events = [event for event, code in enumerate(document["events"]) if code > 0]
    for step, name, value in rows:
        if name not in document["names"]:
            document["names"].append(name)
        document["values"].append(value)
        inspections["event"].append(events[step])
        inspections["at"].append(events[step] + 1)
        inspections["name"].append(document["names"].index(name))
        inspections["value"].append(len(document["values"]) - 1)
    return document


def views() -> dict:
    """`a` and views of its storage, which different steps of `main` show."""
    numbers = StorageNumbers()
    base = torch.arange(6.0)
    shown = [base, base.view(2, 3).T, base[2:4], base.clone()]
    pictures = [json.loads(json.dumps(snapshot(tensor, numbers))) for tensor in shown]
    for value in pictures:
        value["storage"] += 10
    first, transposed, part, copied = pictures
    parameters = {"type": "dict", "length": 1, "entries": [[{"type": "str", "value": "w"}, part]]}
    return recorded(
        (4, "a", first),
        (7, "b", transposed),
        (9, "c", parameters),
        (11, "a", copied),
        (13, "d", first),
    )


def test_names_of_a_storage_are_told_apart_by_time(ask):
    document = views()
    at = {step: ask("aliases", document, 11, step) for step in (4, 9, 11, 15)}
    assert at[4] == [["a", 4, "now"], ["b", 7, "later"], ["c['w']", 9, "later"], ["d", 13, "later"]]
    assert at[9][:3] == [["a", 4, "now"], ["b", 7, "now"], ["c['w']", 9, "now"]]
    assert at[11][0] == ["a", 4, "earlier"]  # the name shows a copy by then
    assert at[15] == [
        ["a", 4, "earlier"],
        ["b", 7, "now"],
        ["c['w']", 9, "now"],
        ["d", 13, "now"],
    ]
    assert ask("aliases", document, 12, 15) == [["a", 11, "now"]]


def words(ask, document: dict, value: int, name: str, step: int, path: bool = False) -> list[str]:
    """What is said of a value of the document beside a step, or of the first part of it."""
    return ask("words", document, {"of": value, "path": path}, name, step)["words"]


def test_copy_or_view_is_said_in_words(ask):
    document = views()
    first = len(documents.VALUES)
    alone = "All 24 bytes of its storage; no other name seen so far views it."
    assert words(ask, document, first, "a", 4) == [alone]
    assert words(ask, document, first + 1, "b", 7) == ["A view of the storage of a, all 24 bytes."]
    assert words(ask, document, first, "a", 9) == [
        "All 24 bytes of its storage, which b and c['w'] view too."
    ]
    assert words(ask, document, first + 2, "w", 9, path=True) == [
        "A view of the storage of a, 8 of 24 bytes."
    ]
    assert words(ask, document, first + 3, "a", 11) == [alone]


@pytest.mark.parametrize(
    ("when", "said"),
    [
        ("earlier", "All 24 bytes of its storage."),
        ("later", "All 24 bytes of its storage; no other name seen so far views it."),
    ],
)
def test_who_viewed_a_storage_before_is_not_called_alone(ask, when, said):
    aliases = [
        {"name": name, "when": seen, "activation": 1} for name, seen in (("x", "now"), ("y", when))
    ]
    assert ask("storageWords", picture(torch.arange(6.0)), "x", 1, aliases) == [said]


@pytest.mark.parametrize(("name", "others"), [("x", "y and row"), ("y", "x and row")])
def test_where_only_the_number_of_a_storage_is_recorded_all_who_share_it_are_named(
    ask, name, others
):
    """The first name seen with it, too: that it is its own cannot be said."""
    value = picture(torch.arange(6.0))
    for part in ("storage_bytes", "offset", "bytes"):
        del value[part]
    aliases = [{"name": one, "when": "now", "activation": 1} for one in ("x", "y", "row")]
    said = f"It shares its storage with {others}."
    assert ask("storageWords", value, name, 1, aliases) == [said]


def test_a_name_of_another_call_is_said_to_be_of_it(ask):
    """`a` of main is passed to `double`, whose `n` views it too; both are known at step 5."""
    numbers = StorageNumbers()
    base = torch.arange(6.0)
    first, second = (json.loads(json.dumps(snapshot(t, numbers))) for t in (base, base[:2]))
    for value in (first, second):
        value["storage"] = 11
    document = recorded((0, "a", first), (5, "n", second))
    document["inspections"]["at"][-2] = 2  # known when step 0 began
    first_value = len(documents.VALUES)
    assert words(ask, document, first_value + 1, "n", 5) == [
        "A view of the storage of a in main, 8 of 24 bytes."
    ]
    assert words(ask, document, first_value, "a", 5) == [
        "All 24 bytes of its storage, which n in double views too."
    ]


def test_a_part_of_a_larger_storage_and_repeated_elements_are_said(ask):
    def said(tensor):
        return ask("storageWords", picture(tensor), "x", 0, [])

    assert said(torch.arange(6.0)[2:4]) == ["A part of a storage: 8 of 24 bytes."]
    assert said(torch.ones(3).expand(4, 3)) == [
        "All 12 bytes of its storage; no other name seen so far views it.",
        "A view in which elements share a place: apart, they would be 48 bytes.",
    ]


def test_a_shown_part_of_a_container_is_found(ask):
    document = views()
    container = {"of": len(document["values"]) - 3, "path": True}
    found = ask("words", document, container, "w", 13)
    assert (found["name"], found["activation"]) == ("c['w']", 0)


def owners(document: dict) -> list[int]:
    """The activation of each event, by a stack."""
    functions = len(document["functions"])
    stack, owner, entered = [], [], 0
    for code in document["events"]:
        if code < 0:
            stack.append(entered if -code <= functions else -code - functions - 1)
            entered += -code <= functions
        owner.append(stack[-1])
        if code == 0:
            stack.pop()
    return owner


def with_inspections_alone(path: Path) -> dict:
    """A document as recorded with `--no-locals`; `test_step_model.py` has what names stand for."""
    document = json.loads(path.read_text(encoding="utf-8"))
    no_rows = {column: [] for column in document["locals"]}
    return document | {"locals": no_rows, "readings": [], "effects": []}


def entered(document: dict) -> list[int]:
    functions = len(document["functions"])
    return [-code - 1 for code in document["events"] if code < 0 and -code <= functions]


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_histories_are_those_of_a_replay(ask, path):
    document = with_inspections_alone(path)
    rows, owner, functions = document["inspections"], owners(document), entered(document)
    found = ask("histories", document)
    steps_before = list(itertools.accumulate((code > 0 for code in document["events"]), initial=0))
    last = steps_before[-1] - 1
    order = sorted(range(len(rows["at"])), key=lambda row: (rows["at"][row], row))
    for activation, name in itertools.product(range(len(functions)), range(len(document["names"]))):
        for everywhere in (False, True):
            wanted, before = [], object()
            for row in order:
                of = owner[rows["event"][row]]
                same = functions[of] == functions[activation] if everywhere else of == activation
                if rows["name"][row] != name or not same:
                    continue
                value = rows["value"][row]
                step = min(steps_before[rows["event"][row]], last)
                wanted.append([row, step, value != before])
                before = value
            assert found[activation][name][everywhere] == wanted


# Comparison -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_two_steps_differ_as_a_replay_says(ask, path):
    document = with_inspections_alone(path)
    steps = replay(document)
    count = len(steps)
    pairs = [(a, b) for a in range(0, count, 3) for b in range(0, count, 2)][:400]
    functions, values = entered(document), document["values"]
    for (before, after), found in zip(pairs, ask("differences", document, pairs), strict=True):
        one, other = steps[before], steps[after]
        common = [activation for activation in other["stack"] if activation in one["stack"]]
        inner = (one["activation"], other["activation"])
        expected = [(activation, activation) for activation in reversed(common)]
        if inner[0] != inner[1]:
            alike = functions[inner[0]] == functions[inner[1]]
            expected.insert(0 if alike or not expected else len(expected), inner)
        shown = [(pair["before"]["activation"], pair["after"]["activation"]) for pair in found]
        assert shown == expected
        for pair in found:
            if (pair["before"]["activation"], pair["after"]["activation"]) != inner:
                continue
            old, new = one["known"], other["known"]
            kinds = {
                name: "added"
                if name not in old
                else "removed"
                if name not in new
                else "same"
                if values[old[name]] == values[new[name]]
                else "changed"
                for name in {**old, **new}
            }
            assert pair["found"] == kinds


def test_tensors_recorded_whole_are_compared_element_by_element(ask):
    before = torch.tensor([[1.0, 2.0, math.nan], [4.0, math.inf, 6.0]])
    after = torch.tensor([[1.0, -3.0, math.nan], [4.5, 2.0, 6.0]])
    found = ask("detail", picture(before), picture(after))
    assert found["by"] == "elements"
    assert (found["count"], found["changed"]) == (6, 3)
    assert (found["largest"], found["where"]) == (5, [0, 1])
    assert found["differences"] == [0, -5, 0, 0.5, "-inf", 0]
    assert ask("detail", picture(before), picture(before)) is None


def test_large_tensors_are_compared_by_statistics_and_by_what_is_recorded(ask):
    generator = torch.Generator().manual_seed(3)
    before = torch.randn(50, 50, generator=generator)
    after = before.clone()
    after[0, 0] = 9.0
    after[20, 20] = -9.0  # not recorded
    one, other = picture(before), picture(after)
    found = ask("detail", one, other)
    assert found["by"] == "statistics"
    assert (found["shown"], found["changed"]) == (64, 1)
    names = {"min": "min", "mean": "mean", "max": "max", "std": "std (÷ n)"}
    assert found["rows"] == [
        [shown, one["statistics"][name], other["statistics"][name]] for name, shown in names.items()
    ]


def test_what_else_changed_about_a_tensor_is_named(ask):
    numbers = StorageNumbers()
    base = torch.arange(6.0)
    one, other, third = (
        json.loads(json.dumps(snapshot(tensor, numbers)))
        for tensor in (base.view(2, 3), base.view(2, 3).T, base.view(2, 3).half())
    )
    found = ask("detail", one, other)
    assert found["by"] == "layout"
    assert found["notes"] == ["shape [2, 3] → [3, 2]", "strides (3, 1) → (1, 3)"]
    found = ask("detail", one, third)
    assert found["notes"] == ["dtype float32 → float16", "storage #1 → #2"]
    assert (found["by"], found["changed"]) == ("elements", 0)


def test_other_values_are_compared_by_their_parts(ask):
    def items(*numbers):
        return {"type": "list", "length": len(numbers), "items": [number(n) for n in numbers]}

    def number(value):
        return {"type": "int", "value": value}

    assert ask("detail", number(3), number(8)) == {"by": "number", "notes": [], "difference": 5}
    found = ask("detail", items(1, 2, 3), items(1, 5))
    assert found["parts"] == [["[1]", "2", "5"], ["[2]", "3", "–"]]
    found = ask("detail", number(3), {"type": "str", "value": "a"})
    assert found == {"by": "text", "notes": ["type int → str"]}


# Claims -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_claims_are_grouped_and_the_failed_ones_come_first(ask, path):
    document = json.loads(path.read_text(encoding="utf-8"))
    claims = document["claims"]
    for first, beyond in ((0, 10**9), (3, 12)):
        found = ask("claimGroups", document, {"first": first, "beyond": beyond})
        rows = [row for row, step in enumerate(claims["step"]) if first <= step < beyond]
        assert sorted(row for _, _, group in found for row in group) == rows
        assert {s: sorted(group) for s, _, group in found} == {
            s: [row for row in rows if claims["statement"][row] == s]
            for s in {claims["statement"][row] for row in rows}
        }
        held = [[claims["held"][row] is True for row in group] for _, _, group in found]
        assert held == [sorted(group) for group in held]
        assert [all(group) for group in held] == sorted(all(group) for group in held)
        assert [failed for _, failed, _ in found] == [group.count(False) for group in held]
