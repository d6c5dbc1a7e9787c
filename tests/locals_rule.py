"""What a viewer may show of names at a moment, and what it has to mark: the rule, as a pure
function of a document. `viewer/model/variables.js` follows it; tests hold it against Python.

A moment is a number of events. At each one there is a chain of open calls; of each call the last
reading is known, and what that read may have changed since:

1. a name may stand for something else, if a statement of the call ran since that may bind it; or if
   other code may bind it, and any ran;
2. an object may hold something else, if anything ran since it was last read, under whatever name.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Picture = dict[str, Any]


@dataclass
class Call:
    """An open activation of a function."""

    number: int
    """Activation, from 0."""
    function: dict[str, Any]
    read_at: int = -1
    """Moment of the last reading; -1: none yet."""
    values: dict[str, int] = field(default_factory=dict)
    """What names stood for then, without those that had no value."""
    bound_since: set[str] = field(default_factory=set)
    """Names that statements which ran since may bind."""


@dataclass
class Seen:
    """When and how an object was last read with its parts."""

    at: int
    picture: Picture


class Moments:
    """Goes through a document moment by moment."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.document = document
        self.chain: list[Call] = []
        self.objects: dict[int, Seen] = {}
        self.last_effect = -1
        self.at = 0
        events = document["events"]
        self._readings = spread(document["readings"], len(events) + 1)
        self._effects = spread(document["effects"], len(events))
        self._rows: dict[int, list[tuple[str, int | None]]] = {}
        rows = document["locals"]
        for at, name, value in zip(rows["at"], rows["name"], rows["value"], strict=True):
            self._rows.setdefault(at, []).append((document["names"][name], value))
        self._calls: list[Call] = []
        self._read()

    def next(self) -> None:
        """Go on by one event, and what was read after it."""
        index, functions = self.at, self.document["functions"]
        code = self.document["events"][index]
        if code > 0 and self.chain:
            statement = self.document["statements"][code - 1]
            self.chain[-1].bound_since |= {self.document["names"][n] for n in statement[6]}
        elif code == 0:
            self.chain.pop()
        elif -code <= len(functions):
            self._calls.append(Call(len(self._calls), functions[-code - 1]))
            self.chain.append(self._calls[-1])
        elif code < 0:
            self.chain.append(self._calls[-code - len(functions) - 1])
        if self._effects[index]:
            self.last_effect = index
        self.at += 1
        self._read()

    def _read(self) -> None:
        rows = self._rows.get(self.at, [])
        if not self.chain:
            return
        call = self.chain[-1]
        read = []
        for name, value in rows:
            if name != "return":
                call.values.pop(name, None)
                if value is not None:
                    call.values[name] = value
            read += [value] if name == "return" else []
        if self._readings[self.at]:
            call.read_at, call.bound_since = self.at, set()
            read += call.values.values()
        found: dict[int, tuple[int, Picture]] = {}
        for value in read:
            for depth, picture in objects_in(self.document["values"][value]):
                number = picture["object"]
                if number not in found or depth < found[number][0]:
                    found[number] = depth, picture
        for number, (_, picture) in found.items():
            self.objects[number] = Seen(self.at, picture)

    def is_certain(self, call: Call, name: str) -> bool:
        """Whether a name surely stands for what it stood for when it was read."""
        is_shared = name in call.function["shared"] and self.last_effect >= call.read_at
        return not (name in call.bound_since or is_shared)

    def contents(self, picture: Picture) -> tuple[Picture, int | None]:
        """Return an object as it was last seen with its parts, and the moment that is to be marked
        with; None: it is as it is shown."""
        seen = self.objects.get(picture["object"])
        if seen is None:
            return picture, None
        return seen.picture, None if self.last_effect < seen.at else seen.at


def spread(runs: list[int], length: int) -> list[bool]:
    """Return what lengths of runs stand for.

    >>> spread([0, 2, 1, 1], 6)
    [True, True, False, True, False, False]
    """
    flags = [bool(index % 2) for index, count in enumerate(runs) for _ in range(count)]
    return flags + [False] * (length - len(flags))


def objects_in(picture: Picture, depth: int = 0) -> Iterator[tuple[int, Picture]]:
    """Yield every object that a picture shows with its parts, and how deep."""
    if "object" in picture and has_parts(picture):
        yield depth, picture
    for part in parts_of(picture):
        yield from objects_in(part, depth + 1)


def has_parts(picture: Picture) -> bool:
    return not picture.get("cut") or bool({"items", "entries", "fields", "shape"} & picture.keys())


def parts_of(picture: Picture) -> list[Picture]:
    entries = [part for entry in picture.get("entries", ()) for part in entry]
    return [*picture.get("items", ()), *entries, *picture.get("fields", {}).values()]


def ends(document: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """Yield each step with the moment at which a viewer shows it: when the calls it made first have
    ended, or its own call was left."""
    events, stays, end_of = document["events"], [], {}
    for index, code in enumerate(events):
        if code < 0:
            stays.append(index)
        elif code == 0 and stays:
            end_of[stays.pop()] = index + 1
    for index, code in enumerate(events):
        if code > 0:
            end = index + 1
            while end < len(events) and events[end] < 0:
                end = end_of.get(end, len(events))
            yield index, end
