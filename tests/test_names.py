"""What is read of names after a statement: every way to bind one, every way to change what it
stands for."""

import json
import sys
from typing import Any

import pytest

from tests.locals_rule import Moments, ends
from tests.tracing import plain, record_source, trace_source
from trace.record.glances import (
    MAX_CHARACTERS,
    MAX_DEPTH,
    MAX_INNER_CHARACTERS,
    MAX_ITEMS,
    MAX_PARTS,
)
from trace.record.recorder import FULL_READINGS

GONE = "gone"


def after(source: str, **options: Any) -> dict[int, dict[str, Any]]:
    """Return by line what the names of its function stand for after it ran last; marked ones are
    texts that begin with `as of`."""
    document = trace_source(source, costs=False, **options)
    moments, found = Moments(document), {}
    for event, end in sorted(ends(document), key=lambda step: step[1]):
        while moments.at < end:
            moments.next()
        line = document["statements"][document["events"][event] - 1][1]
        if moments.chain:
            call = moments.chain[-1]
            found[line] = {
                name: shown(moments, document["values"][value], moments.is_certain(call, name))
                for name, value in call.values.items()
            }
    return found


def shown(moments: Moments, picture: dict[str, Any], is_certain: bool) -> Any:
    if not is_certain:
        return f"as of: {plain(picture)}"
    marked = None
    if "object" in picture:
        picture, marked = moments.contents(picture)
    value = picture.get("elements") or contents(picture)
    return value if marked is None else f"as of: {value}"


def contents(picture: dict[str, Any]) -> Any:
    if "fields" in picture:
        return {name: contents(value) for name, value in picture["fields"].items()}
    return plain(picture)


BINDINGS = {
    "assignment": ("x = 1", {"x": 1}),
    "several": ("x, (y, *z) = 1, (2, 3)", {"x": 1, "y": 2, "z": [3]}),
    "chained": ("x = y = 2", {"x": 2, "y": 2}),
    "annotated": ("x: int = 3", {"x": 3}),
    "annotated only": ("x: int", {}),
    "augmented": ("x = 1; x += 1", {"x": 2}),
    "walrus": ("(x := 4)", {"x": 4}),
    "walrus in a comprehension": ("[y := i for i in range(3)]", {"y": 2}),
    "comprehension": ("x = [i for i in range(2)]", {"x": [0, 1]}),
    "loop": ("for x in range(3): pass", {"x": 2}),
    "loop over pairs": ("for x, y in [(1, 2)]: pass", {"x": 1, "y": 2}),
    "loop without items": ("for x in []: pass", {}),
    "with": ("with nullcontext(5) as x: y = x", {"x": 5, "y": 5}),
    "match": ("match [1, 2, 3]:\n        case [x, *y]: pass", {"x": 1, "y": [2, 3]}),
    "match of a mapping": ("match {'a': 1, 'b': 2}:\n        case {'a': x, **y}: pass",
                           {"x": 1, "y": {"b": 2}}),
    "del": ("x = 1; y = 2; del x", {"y": 2}),
    "import": ("import json", {}),
    "def": ("def f(): pass", {}),
    "class": ("class C: pass", {}),
    "lambda": ("x = lambda: 1", {}),
    "module in a name": ("x = math", {}),
    "private": ("__x = 1", {"__x": 1}),
    "not ASCII": ("größe = 1", {"größe": 1}),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), BINDINGS.values(), ids=BINDINGS.keys())
def test_every_way_to_bind_a_name(statement: str, expected: dict[str, Any]) -> None:
    source = (
        f"import math\nfrom contextlib import nullcontext\ndef main():\n    {statement}\n    pass"
    )
    last = max(after(source).items())[1]
    assert last == expected


def test_an_exception_has_its_name_only_in_the_handler() -> None:
    found = after(
        """
        def main():
            try:
                1 / 0
            except ZeroDivisionError as error:
                text = str(error)
                pass
            pass
        """
    )
    assert found[5] == {"error": "division by zero", "text": "division by zero"}
    assert found[7] == {"text": "division by zero"}


RAISED = """
    class Counter:
        def add(self, numbers):
            self.last = numbers.pop() + numbers.index(9)

    def inner(numbers, unbound=None):
        del unbound
        numbers.append(3) or (count := len(numbers)) / 0
        late = 1

    def main():
        numbers = [1, 2]
        try:
            inner(numbers)
        except ZeroDivisionError:
            pass
        WHAT
    """


@pytest.mark.parametrize("what", ["pass", "inner(numbers)", "Counter().add(numbers)"])
def test_what_a_statement_did_that_raised_is_read(what: str) -> None:
    """Before its function is left, whether the exception is caught there, later, or not at all."""
    found = after(RAISED.replace("WHAT", what))
    numbers = [1, 2, 3, 3] if what.startswith("inner") else [1, 2, 3]
    assert found[7] == {"numbers": numbers, "count": len(numbers)}
    if what.startswith("Counter"):
        assert found[3]["numbers"] == [1, 2]
    if what != "pass":
        assert found[16]["numbers"] == numbers[: 2 if what.startswith("Counter") else None]


def test_variables_are_read_where_a_lecture_is_told_that_it_is_traced(monkeypatch) -> None:
    """As lectures of other tools are; one that sets a trace function is not read."""
    monkeypatch.setattr(sys, "gettrace", lambda: print)
    assert after("def main():\n    x = 1\n    pass")[2] == {"x": 1}
    follow = "import sys\ndef main():\n    sys.settrace(lambda *_: None)\n    x = 1\n"
    assert after(f"{follow}    sys.settrace(None)")[4] == {}


def test_arguments_are_read_at_the_entry_and_what_is_returned_at_the_end() -> None:
    document = trace_source(
        """
        def main():
            return add(1, *[2, 3], d=4, e=5) + 1

        def add(a, /, b, *c, d, **e):
            return a + b
        """
    )
    rows = document["locals"]
    names = [document["names"][name] for name in rows["name"]]
    values = [plain(document["values"][value]) for value in rows["value"]]
    assert [*zip(names, values, rows["at"], strict=True)] == [
        *(("a", 1, 3), ("b", 2, 3), ("c", [3], 3), ("d", 4, 3), ("e", {"e": 5}, 3)),
        *(("return", 3, 4), ("return", 4, 5)),
    ]


MUTATIONS = {
    "through another name": ("a = [1]; b = a", "b.append(2)", "a", [1, 2]),
    "by a method": ("a = [2, 1]", "a.sort()", "a", [1, 2]),
    "by an alias in a container": ("a = [1]; b = {'k': [a]}", "b['k'][0].append(2)", "a", [1, 2]),
    "in a callee": ("a = [1]", "touch(a)", "a", [1, 9]),
    "in a callee, through a global": ("a = [1]; KEPT.append(a)", "touch_kept()", "a", [1, 9]),
    "in a callee, through a closure": ("a = [1]\n    def f(): a.append(2)", "f()", "a", [1, 2]),
    "by a closure's nonlocal": ("a = 1\n    def f():\n        nonlocal a; a = 2", "f()", "a", 2),
    "in a generator": ("a = []; g = fill(a)", "next(g)", "a", [0]),
    "by a library": ("a = [3, 1]", "heapq.heapify(a)", "a", [1, 3]),
    "a slice": ("a = [1, 2]", "a[:] = []", "a", []),
    "augmented": ("a = [1]; b = a", "b += [2]", "a", [1, 2]),
    "an item": ("a = {}", "a['x'] = 1", "a", {"x": 1}),
    "a set": ("a = {1}", "a.add(0)", "a", [0, 1]),
    "an attribute": ("a = Thing(); b = a", "b.x = 2", "a", {"x": 2}),
    "an attribute by a method": ("a = Thing()", "a.set(3)", "a", {"x": 3}),
    "an attribute of another object": ("a = Thing(); b = Thing(); b.x = a", "b.x.x = 5", "a",
                                       {"x": 5}),
    "del": ("a = [1, 2]; b = a", "del b[0]", "a", [2]),
    "in a comprehension": ("a = []", "[a.append(i) for i in range(2)]", "a", [0, 1]),
    "in a condition": ("a = [1]", "if a.pop(): pass", "a", []),
    "in a lambda": ("a = [1]; f = lambda: a.clear()", "f()", "a", []),
    "a bytearray": ("a = bytearray(b'x'); b = a", "b[0] = 121", "a", "b'y'"),
}  # fmt: skip
HELPERS = """
import heapq
KEPT = []
class Thing:
    def __init__(self): self.x = 0
    def set(self, x): self.x = x
def touch(items): items.append(9)
def touch_kept(): KEPT[-1].append(9)
def fill(items):
    items.append(0)
    yield
def main():
"""


@pytest.mark.parametrize(
    ("before", "change", "name", "expected"), MUTATIONS.values(), ids=MUTATIONS.keys()
)
def test_every_way_to_change_what_a_name_stands_for(
    before: str, change: str, name: str, expected: Any
) -> None:
    found = after(f"{HELPERS}    {before}\n    {change}\n    pass")
    assert max(found.items())[1][name] == expected


TENSORS = {
    "in place": ("x = torch.zeros(2)", "x.add_(1)", "x", [1, 1]),
    "through a view": ("x = torch.zeros(2); y = x[:1]", "y.fill_(3)", "x", [3, 0]),
    "seen in a view": ("x = torch.zeros(2); y = x.view(2, 1)", "x[0] = 5", "y", [5, 0]),
    "through a transposed view": ("x = torch.zeros(1, 2); y = x.T", "y[0] = 5", "x", [5, 0]),
    "through an array": ("y = np.zeros(2); x = torch.from_numpy(y)", "y[0] = 2", "x", [2, 0]),
    "an array by a tensor": ("x = np.zeros(2); y = torch.from_numpy(x)", "y[0] = 2", "x", [2, 0]),
    "a view of an array": ("x = np.zeros(2); y = x[1:]", "y += 4", "x", [0, 4]),
    "out=": ("x = torch.zeros(2); y = torch.ones(2)", "torch.add(y, y, out=x)", "x", [2, 2]),
    "without autograd": ("x = torch.zeros(2, requires_grad=True)",
                         "with torch.no_grad(): x += 1", "x", [1, 1]),
    "by an optimizer": (
        "x = torch.ones(1, requires_grad=True); o = torch.optim.SGD([x], 1.0); x.sum().backward()",
        "o.step()", "x", [0]),
    "nan": ("x = torch.zeros(1)", "x /= 0", "x", ["nan"]),
    "minus zero": ("x = torch.zeros(1)", "x *= -1", "x", [-0.0]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("before", "change", "name", "expected"), TENSORS.values(), ids=TENSORS.keys()
)
def test_every_way_to_change_a_tensor(before: str, change: str, name: str, expected: Any) -> None:
    pytest.importorskip("torch")
    source = f"import torch\nimport numpy as np\ndef main():\n    {before}\n    {change}\n    pass"
    found = max(after(source).items())[1][name]
    assert [*map(str, map(float, found))] == [*map(str, map(float, expected))]


def test_what_a_callee_did_not_read_is_marked_in_its_callers() -> None:
    source = """
        def main():
            a, b, c = [1], (2, "x"), 3
            helper(len(a))
            pass

        def helper(n):
            m = n + 1
            return m
        """
    document = trace_source(source)
    moments = Moments(document)
    while not (len(moments.chain) == 2 and moments.document["events"][moments.at] == 0):
        moments.next()
    main = moments.chain[0]
    pictures = {name: document["values"][value] for name, value in main.values.items()}
    assert all(moments.is_certain(main, name) for name in "abc")
    assert moments.contents(pictures["a"])[1] is not None
    assert plain(pictures["b"]) == [2, "x"] and plain(pictures["c"]) == 3


def objects_of(source: str) -> dict[str, int]:
    """Return the number of the object that each name stands for at the end of main()."""
    document = trace_source(source)
    moments = Moments(document)
    while moments.at < len(document["events"]) - 1:
        moments.next()
    values = moments.chain[0].values.items()
    return {name: document["values"][value].get("object", 0) for name, value in values}


def test_one_object_has_one_number_whatever_the_name() -> None:
    found = objects_of(
        """
        def same(x):
            y = x
            return y

        def main():
            a = [1]
            b = a
            c = [1]
            d = (a, c)
            e = same(a)
            f, g = 1, "text"
            pass
        """
    )
    assert found["a"] == found["b"] == found["e"] != found["c"]
    assert found["d"] == found["f"] == found["g"] == 0


def test_a_number_is_not_given_to_another_object_at_the_same_address() -> None:
    document = trace_source(
        """
        def main():
            rows = []
            for i in range(4):
                rows.append([i])
                rows.pop()
            pass
        """
    )
    inner = {
        item["object"]: plain(item)
        for value in document["values"]
        for item in value.get("items", ())
        if "object" in item
    }
    assert sorted(inner.values()) == [[0], [1], [2], [3]]


BOUNDS = {
    "text": (
        f"x = 'a' * {MAX_CHARACTERS + 1}",
        {"value": "a" * MAX_INNER_CHARACTERS, "length": MAX_CHARACTERS + 1, "cut": True},
    ),
    "list": (f"x = [*range({MAX_ITEMS + 1})]", {"length": MAX_ITEMS + 1, "cut": True}),
    "dict": (f"x = dict.fromkeys(range({MAX_ITEMS + 1}))", {"length": MAX_ITEMS + 1, "cut": True}),
    "large set": ("x = {*range(2000)}", {"length": 2000, "items": [], "cut": True}),
    "set of objects": ("x = {object(), 1}", {"length": 2, "cut": True}),
    "large integer": ("x = 10 ** 30", {"text": "1" + 30 * "0"}),
    "nan": ("x = float('nan')", {"type": "float", "text": "nan"}),
    "generator": ("x = (i for i in [])", {"type": "generator", "object": 1}),
    "range": ("x = range(3)", {"type": "range", "text": "range(0, 3)"}),
    "bytes": ("x = b'ab'", {"type": "bytes", "text": "b'ab'"}),
    "function in a list": ("x = [len]", {"type": "list", "length": None}),
    "exception": ("x = ValueError('no', 3)", {"type": "ValueError", "text": "no, 3"}),
    "object of a library": ("import random; x = random.Random(1)", {"type": "Random", "object": 1}),
    "slots": ("x = Slots()", {"type": "Slots", "fields": {"b": {"type": "int", "value": 1}}}),
    "enum": ("x = Color.RED", {"type": "Color", "text": "Color.RED"}),
    "named tuple": ("x = Pair(1, 2)", {"type": "Pair"}),
    "own list": ("x = Own([1])", {"type": "Own", "items": [{"type": "int", "value": 1}]}),
}


@pytest.mark.parametrize(("statement", "expected"), BOUNDS.values(), ids=BOUNDS.keys())
def test_bounds_and_kinds(statement: str, expected: dict[str, Any]) -> None:
    source = f"""
        import collections, enum
        class Slots:
            __slots__ = ("a", "b")
            def __init__(self):
                self.b = 1
        class Color(enum.Enum):
            RED = 1
        Pair = collections.namedtuple("Pair", "a b")
        class Own(list):
            def __iter__(self): raise SystemExit
            def __len__(self): raise SystemExit
        def main():
            {statement}
            pass
        """
    document = trace_source(source)
    rows = document["locals"]
    picture = next(
        document["values"][value]
        for name, value in zip(rows["name"], rows["value"], strict=True)
        if document["names"][name] == "x"
    )
    assert {key: picture.get(key) for key in expected} == expected


def test_of_many_fields_those_for_others_are_shown() -> None:
    document = trace_source(
        f"""
        class Wide:
            pass
        def main():
            x = Wide()
            for number in range({MAX_ITEMS}):
                setattr(x, f"_{{number}}", number)
            x.public = 1
            pass
        """
    )
    latest = [*document["values"][document["locals"]["value"][-1]]["fields"]]
    assert latest == ["public", *(f"_{number}" for number in range(MAX_ITEMS - 1))]


def depth_of(picture: dict[str, Any]) -> int:
    return 1 + max(map(depth_of, picture.get("items", ())), default=0)


def test_what_is_deep_or_wide_is_cut() -> None:
    document = trace_source(
        f"""
        def main():
            deep = 0
            for _ in range({MAX_DEPTH + 3}):
                deep = [deep]
            wide = [[[0] * 8 for _ in range(8)] for _ in range(8)]
            pass
        """
    )
    assert max(map(depth_of, document["values"])) == MAX_DEPTH + 1

    def count(picture: dict[str, Any]) -> int:
        return 1 + sum(map(count, picture.get("items", ())))

    assert MAX_PARTS < max(map(count, document["values"])) <= MAX_PARTS + 30


def test_the_account_of_a_meter_is_read_while_it_runs() -> None:
    pytest.importorskip("torch")
    document = trace_source(
        """
        import torch
        from trace.costs import measure
        def main():
            with measure() as cost:
                x = torch.ones(2, 3)
                y = x @ x.T
        """
    )
    costs = [value["fields"] for value in document["values"] if value["type"] == "Cost"]
    flops = [fields["matmul_flops"]["value"] for fields in costs]
    assert flops[0] == 0 and flops[-1] == 2 * 2 * 3 * 2
    assert [fields["allocated_bytes"]["value"] for fields in costs] == [0, 24, 40]
    assert "seconds" not in costs[-1]


def test_nothing_of_a_class_runs_for_a_glance() -> None:
    document = trace_source(
        """
        class Meta(type):
            def __getattribute__(cls, name): print("meta", name)

        class Loud(metaclass=Meta):
            __slots__ = ("x", "__dict__")
            @property
            def p(self): print("p")
            def __getattribute__(self, name): print("get", name)
            def __getattr__(self, name): print("getattr", name)
            def __repr__(self): print("repr")
            def __eq__(self, other): print("eq")
            def __hash__(self): print("hash")
            def __bool__(self): print("bool"); return True
            def __len__(self): print("len"); return 0
            def __iter__(self): print("iter")
            @property
            def __class__(self): print("class")

        def main():
            x = Loud()
            y = [x, {1: x}]
            z = x
            pass
        """
    )
    assert document["output"] == []
    assert [document["names"][name] for name in document["locals"]["name"]] == ["x", "y", "z"]


def test_often_run_statements_are_read_ever_more_rarely() -> None:
    count = 5 * FULL_READINGS
    document = trace_source(
        f"""
        def main():
            for i in range({count}):
                pass
        """
    )
    rows = document["locals"]
    values = [plain(document["values"][value]) for value in rows["value"]]
    rarely = [2 * FULL_READINGS - 1, 4 * FULL_READINGS - 1, count - 1]
    assert values == [*range(FULL_READINGS), *rarely]
    moments = Moments(document)
    marks = 0
    while moments.at < len(document["events"]) - 1:
        moments.next()
        marks += not moments.is_certain(moments.chain[0], "i")
    assert marks == 2 * (count - FULL_READINGS - 2)  # after the header, and after `pass`


def test_what_depends_on_the_clock_is_left_out() -> None:
    source = """
        import time
        from time import perf_counter as now

        def main():
            start = now()  # @timed
            seconds = {}
            seconds["all"] = now() - start  # @timed
            rate = work(now())  # @timed
            done = True

        def work(at):
            later = at + 1
            return later
        """
    documents = [trace_source(source) for _ in range(2)]
    assert json.dumps(documents[0]) == json.dumps(documents[1])
    found = after(source)
    clock = "depends on the clock, not recorded"
    assert found[9] == {"start": clock, "seconds": clock, "rate": clock, "done": True}


def test_addresses_are_small_numbers() -> None:
    found = after("def main():\n    a = b = []\n    x = id(a)\n    y = [id(a), id(b)]\n    pass")
    assert found[4]["x"] == "#1" and found[4]["y"] == ["#1", "#1"]


def test_stepover_and_no_locals_leave_names_out() -> None:
    source = """
        def main():
            x = helper()  # @stepover
            y = quick()

        def helper():
            inside = 1
            return inside

        def quick():  # @stepover
            inside = 2
            return inside
        """
    document = trace_source(source)
    assert [document["names"][name] for name in document["locals"]["name"]] == ["x", "y"]
    bare = trace_source(source, locals=False)
    assert bare["locals"] == {"event": [], "at": [], "name": [], "value": []}
    assert bare["readings"] == bare["effects"] == []
    assert bare["events"] == document["events"]


def test_readings_show_in_no_namespace() -> None:
    source = """
        import sys
        def main():
            a = 1
            def inner():
                b = a
                return sorted(locals()), inner.__code__.co_varnames, inner.__code__.co_freevars
            print(sorted(locals()), inner(), sys._getframe().f_code.co_cellvars)
            print(dir(), sys.gettrace(), sys.exception())
        """
    told = "".join(row.text for row in record_source(source).recorder.output)
    assert told == (
        "['a', 'inner'] (['a', 'b', 'inner'], ('b',), ('a', 'inner')) ('a', 'inner')\n"
        "['a', 'inner'] None None\n"
    )


def test_a_class_that_has_something_else_in_place_of_the_dict_of_its_objects_is_not_asked():
    """`__dict__` as a property is code of the lecture, which a glance does not run."""
    recording = record_source(
        """
        asked = []

        class Odd:
            @property
            def __dict__(self):
                asked.append(self)
                return {"a": 1}

        def main():
            odd = Odd()
            x = 1
            assert asked == []
        """
    )
    assert recording.error is None
