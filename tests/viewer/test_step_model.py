"""What Step shows of names, held against the rule for it, on programs that were really recorded."""

from typing import Any

import pytest

from tests.locals_rule import Moments, has_parts, parts_of
from tests.viewer.programs import PROGRAMS, recorded

HOT = """\
def main():
    '''Statements that run too often to be read each time.'''
    total, seen = 0, []
    for number in range(3000):
        total += number
        if number % 500 == 0:
            seen.append(number)
    return total
"""

SHARED = """\
def main():
    '''Names that other functions bind.'''
    count, log = 0, []

    def note(text):
        nonlocal count
        count += 1
        log.append(text)
        return len(log)

    note("a")
    both = [note("b"), note("c")]
    for letter in "xy":
        both.append(letter)
    return both
"""

GENERATORS = """\
def main():
    '''Calls that are suspended.'''
    first, second = numbers([1]), numbers([5])
    pairs = []
    for one in first:
        pairs.append((one, next(second)))
    return pairs


def numbers(held):
    for _ in range(3):
        held.append(len(held))
        yield held
"""


FAILING = """\
def main():
    for number in (2, 1, 0):
        shares = [share(number)]


def share(number):
    return 1 / number
"""


@pytest.mark.parametrize("source", [PROGRAMS, HOT, SHARED, GENERATORS, FAILING])
def test_one_stops_at_each_step_and_again_when_its_calls_have_ended(ask, source):
    document = recorded(source)
    steps = ask("steps", document)
    events = [step["event"] for step in steps]
    stops = [((event, 1, 0), step, False) for step, event in enumerate(events)]
    for number, step in enumerate(steps):
        has_steps = number + 1 < len(steps) and events[number + 1] < step["end"]
        is_cut_short = document["failure"] and step["end"] > events[-1]
        if has_steps and not is_cut_short:
            stops.append(((step["end"], 0, -step["event"]), number, True))
    there, back = ask("stops", document).values()
    assert there == [[step, is_returned] for _, step, is_returned in sorted(stops)]
    assert back == there[::-1]


@pytest.mark.parametrize("source", [PROGRAMS, HOT, SHARED, GENERATORS])
def test_what_is_not_marked_is_true(ask, source):
    """And what is marked is the rule's doing, but for a few that the viewer marks besides."""
    document = recorded(source)
    moments = Moments(document)
    unmarked = marked_besides = 0
    for state in sorted(ask("states", document), key=lambda state: state["end"]):
        while moments.at < state["end"]:
            moments.next()
        calls = {call.number: call for call in moments.chain}
        for frame in state["frames"]:
            call = calls[frame["activation"]]
            shown = {variable["text"]: variable for variable in frame["variables"]}
            bound = {text for text, variable in shown.items() if variable["value"]}
            assert bound - {"return"} == call.values.keys()
            for name in call.values:
                allowed = is_certain(moments, call, name, shown[name]["value"])
                if shown[name]["since"] < 0:
                    unmarked += 1
                    assert allowed, (state["end"], frame["activation"], name)
                else:
                    marked_besides += allowed
    assert unmarked > 20
    assert marked_besides <= unmarked / 10


def is_certain(moments: Moments, call: Any, name: str, value: dict[str, Any]) -> bool:
    """Whether the rule lets a name be shown with this value and without a mark."""
    if not moments.is_certain(call, name):
        return False
    for node in nodes(value):
        if "object" in node:
            seen, mark = moments.contents(node)
            if mark is not None:
                return False
            if has_parts(node) and has_parts(seen):
                assert shallow(node) == shallow(seen), (moments.at, name)
    return True


def nodes(value: dict[str, Any]) -> list[dict[str, Any]]:
    return [value, *(node for part in parts_of(value) for node in nodes(part))]


def shallow(value: dict[str, Any]) -> Any:
    """A value, with the objects in it by their number alone."""
    own = {key: part for key, part in value.items() if key not in ("items", "entries", "fields")}
    parts = [part.get("object") or shallow(part) for part in parts_of(value)]
    return own, parts if "cut" not in value else len(parts)
