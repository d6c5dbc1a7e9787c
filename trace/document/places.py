"""One walk over the events: which step each note of the recorder belongs to."""

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from ..record.resume import RESUMED

_RESUMED = RESUMED // 2
"""Events below this are resumptions."""


class Place(NamedTuple):
    """Where the program stood when so many events were recorded."""

    step: int
    """The innermost step that was running, or -1."""
    event: int
    """Index of the latest step, or else the entry, of the innermost activation."""
    entry: int
    """Index of the event that entered it."""
    by_statement: dict[int, int]
    """Index of its latest step of each statement that was asked for."""


def find_places(
    events: list[int], function_count: int, questions: Mapping[int, set[int]]
) -> dict[int, Place]:
    """Return the place at each number of events in `questions`.

    A question names the statements whose latest step it asks for. Resumptions, which the recorder
    notes by the index of the entry, are rewritten in `events` as the document has them.
    """
    statements = set().union(*questions.values())
    latest: dict[tuple[int, int], int] = {}  # (entry, statement) -> index of the event
    resumable = bool(events) and min(events) < _RESUMED
    numbers: dict[int, int] = {}  # entry -> number of the activation
    left: dict[int, tuple[int, int]] = {}  # entry -> event and step at which it was left
    stack: list[tuple[int, int, int]] = []
    places: dict[int, Place] = {}
    steps = start = 0
    event, step, entry = -1, -1, -1  # of the innermost activation
    for at in sorted({*questions, len(events)}):
        for index in range(start, at):
            number = events[index]
            if number > 0:
                event, step = index, steps
                steps += 1
                if statements and number in statements:
                    latest[entry, number] = index
            elif number == 0:
                if resumable:
                    left[entry] = event, step
                event, step, entry = stack.pop() if stack else (-1, -1, -1)
            elif number > _RESUMED:
                stack.append((event, step, entry))
                event = entry = index
                if resumable:
                    numbers[index] = len(numbers) + 1
            else:
                stack.append((event, step, entry))
                entry = RESUMED - number
                event, step = left[entry]
                events[index] = -(function_count + numbers[entry])
        start = at
        asked = questions.get(at, ())
        known = {n: latest[entry, n] for n in asked if (entry, n) in latest}
        places[at] = Place(step, event, entry, known)
    return places


class Expansion:
    """The events with the steps that entries imply, and where the recorder's positions went."""

    def __init__(self, events: list[int], first_steps: Mapping[int, int]) -> None:
        self.events: list[int] = []
        self._entries: list[int] = []  # positions of the entries after which a step was added
        append, first_step = self.events.append, first_steps.get
        for index, event in enumerate(events):
            append(event)
            if event < 0:
                step = first_step(-event)
                if step:
                    append(step)
                    self._entries.append(index)
                elif event < _RESUMED:
                    self.events[-1] = RESUMED - self.at(RESUMED - event)

    def spread(self, values: Iterable[float]) -> list[float]:
        """Return what was noted for each event, given again for each implied step."""
        entries = set(self._entries)
        result: list[float] = []
        for index, value in enumerate(values):
            result += [value] * (1 + (index in entries))
        return result

    def at(self, at: int) -> int:
        """Return how many events there are when the recorder had noted `at`."""
        return at + bisect_left(self._entries, at)


def cut_events(events: list[int], max_steps: int) -> list[int]:
    """Return a copy of the events up to and with step number `max_steps`."""
    if len(events) <= max_steps:
        return list(events)
    steps = 0
    for index, event in enumerate(events):
        steps += event > 0
        if steps > max_steps:
            return events[:index]
    return list(events)
