"""What the document says that names stood for, against what Python itself says."""

import contextlib
import gc
import io
import json
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.locals_rule import Call, Moments, Picture, ends, parts_of
from tests.programs import PROGRAMS
from tests.reference import Reference
from tests.test_trust import SETTINGS, is_repeated, is_statement, written
from trace.document.build import build
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import record
from trace.target import find_target

MAX_STEPS = 2000
"""Longer programs are not compared: each statement is, with all names."""


def document_of(file: Path) -> dict[str, Any]:
    with contextlib.redirect_stdout(io.StringIO()):
        recording = record(find_target(str(file)), Options(costs=False))
    return json.loads(encode(build(recording)))


class Comparison:
    """Of all names at one moment."""

    def __init__(self, moments: Moments, tally: Counter[str]) -> None:
        self.moments, self.tally = moments, tally
        self.objects: dict[int, int] = {}
        """Object of the document -> object of Python."""

    def names(self, call: Call, names: dict[str, Any], free: set[str]) -> None:
        for name in call.values.keys() | names.keys():
            if "." in name:
                continue
            if not self.moments.is_certain(call, name):
                self.tally["name marked"] += 1
                continue
            shown = call.values.get(name)
            if shown is None and name in names and (name in free or call.read_at < 0):
                continue
            picture = None if shown is None else self.moments.document["values"][shown]
            assert (picture is None) == (name not in names), name
            if picture is not None:
                self.same(picture, names[name], name)

    def same(self, picture: Picture, frozen: Any, where: str) -> None:
        """Hold a picture against what it shows, as far as it is not marked."""
        assert picture["type"] == frozen[0], where
        if "value" in picture:
            assert repr(picture["value"]) == frozen[1], where
            self.tally["true"] += 1
            return
        if "object" in picture:
            number = picture["object"]
            assert self.objects.setdefault(number, frozen[1]) == frozen[1], where
            picture, marked = self.moments.contents(picture)
            if marked is not None:
                self.tally["marked"] += 1
                return
        self.tally["true"] += 1
        if len(frozen) < 3 or "..." in frozen or not has_parts(picture):
            return
        if "shape" in picture:
            assert [picture["shape"], picture["elements"]] == frozen[2], where
            return
        parts = frozen[2]
        if "fields" in picture:
            assert [*picture["fields"]] == parts[::2], where
            parts = parts[1::2]
        else:
            per_item = 2 if "entries" in picture else 1
            shown = len(picture.get("items", picture.get("entries", ())))
            assert picture.get("length", shown) * per_item == len(parts), where
        for index, (part, one) in enumerate(zip(parts_of(picture), parts, strict=False)):
            self.same(part, one, f"{where}[{index}]")


def has_parts(picture: Picture) -> bool:
    return bool({"items", "entries", "fields", "elements"} & picture.keys()) or (
        "length" not in picture and not picture.get("cut")
    )


def compare(document: dict[str, Any], reference: Reference) -> Counter[str]:
    """Hold what a viewer shows at each step against the frames of all open calls after it."""
    tally: Counter[str] = Counter()
    steps = list(ends(document))
    lines = [document["statements"][document["events"][event] - 1][1] for event, _ in steps]
    assert lines == reference.lines
    moments = Moments(document)
    for ordinal, (_, end) in sorted(enumerate(steps), key=lambda step: step[1][1]):
        while moments.at < end:
            moments.next()
        comparison = Comparison(moments, tally)
        chain = reference.after[ordinal]
        assert [call.number for call in moments.chain] == [number for number, *_ in chain]
        for call, (_, names, free) in zip(moments.chain, chain, strict=True):
            try:
                comparison.names(call, names, free)
            except AssertionError as error:
                error.add_note(f"after line {lines[ordinal]}, in {call.function['name']}")
                raise
        found = list(comparison.objects.values())
        assert len(found) == len(set(found)), "one object has two numbers"
    return tally


def compared(file: Path) -> Counter[str]:
    reference = Reference(file, is_statement, is_repeated).run()
    if len(reference.lines) > MAX_STEPS:
        return Counter()
    return compare(document_of(file), reference)


@given(PROGRAMS)
@SETTINGS
def test_what_is_shown_is_true_or_marked(tmp_path_factory: pytest.TempPathFactory, source) -> None:
    file = written(source, tmp_path_factory.mktemp("generated"))
    tally = compared(file)
    TALLY.update(tally)


TALLY: Counter[str] = Counter()


def test_most_of_it_is_not_marked() -> None:
    # About 4 times; 2.9 times have been seen, by the programs that came up.
    assert TALLY["true"] > 2 * TALLY["marked"]
    assert TALLY["true"] > 2 * TALLY["name marked"]


LIES = {
    "nothing has an effect": lambda document: document.update(effects=[]),
    "no statement binds a name": lambda document: [
        row[6].clear() for row in document["statements"]
    ],
    "a value is another one": lambda document: document["values"].reverse(),
    "two objects are one": lambda document: [
        value.update(object=1) for value in document["values"] if "object" in value
    ],
    "a row is missing": lambda document: [column.pop(0) for column in document["locals"].values()],
}
PROGRAM = """
KEPT = []
def change():
    KEPT[0].append(2)
    return 1
def main():
    a, b = [1], [1]
    KEPT.append(a)
    c = (d := 5) + change()
    return c
"""


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
def test_a_lie_is_found(tmp_path: Path, lie: Any) -> None:
    file = written(PROGRAM, tmp_path)
    reference, document = Reference(file, is_statement, is_repeated).run(), document_of(file)
    assert compare(document, reference)["marked"] > 0
    lie(document)
    with pytest.raises((AssertionError, KeyError)):
        compare(document, reference)


def test_the_collector_of_garbage_does_not_look_at_what_is_known_of_a_file(tmp_path):
    """It would take longer with each statement, whenever a lecture asks for it."""
    seen = {}
    for count in (5, 500):
        file = tmp_path / f"collects_{count}.py"
        statements = "".join(f"        x{index} = f(y, x={index})\n" for index in range(count))
        file.write_text(
            f"import gc\n\ndef main():\n    if not gc:\n{statements}"
            "    gc.collect()\n    size = len(gc.get_objects())\n    print(size)\n"
        )
        recording = record(find_target(str(file)), Options(costs=False))
        (seen[count],) = [int(one.text) for one in recording.recorder.output if one.text.strip()]
    assert seen[500] < seen[5] + 100
    source = weakref.ref(recording.files[0])
    del recording
    gc.collect()
    assert source() is None, "it is in a circle that nobody looks for"


OF_SIZES = """
import numpy
import torch


def main():
    most, more = torch.arange(64.0), torch.arange(65.0)
    matrix = torch.arange(64).view(8, 8)
    numbers, beyond = numpy.arange(64), numpy.arange(65)
"""


def test_tensors_that_are_no_larger_than_a_chessboard_are_shown_whole(tmp_path):
    pytest.importorskip("torch")
    document = document_of(written(OF_SIZES, tmp_path))
    table = document["locals"]
    shown = {
        document["names"][name]: document["values"][value]
        for name, value in zip(table["name"], table["value"], strict=True)
    }
    for name in ("most", "matrix", "numbers"):
        assert shown[name]["elements"] == list(range(64)), name
    for name in ("more", "beyond"):
        assert shown[name].get("cut"), name
        assert "elements" not in shown[name], name
