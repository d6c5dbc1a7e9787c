"""The event log: what ran, as integers in one list. This module alone knows what they mean.

    n > 0                      step: statement n runs
    -k                         entry: function k is called, and an activation of it begins
    0                          exit: the innermost activation is left, for good or at a `yield`
    RESUMED - index            resumption: the activation goes on whose entry has that index

An activation is known by the index of its entry. The recorder appends to a plain list, so that a
step costs no more than that. Two things differ elsewhere from what it notes:

- entering a function often implies its first step, which the recorder leaves out (`first_steps`);
  a `Log` and the document have all steps;
- a document with k functions says -(k + a) for "the a-th activation goes on", counted from 1.
"""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from .own_builtins import use_own_builtins

use_own_builtins(globals())

EXIT = 0
RESUMED = -(1 << 50)
RESUMPTIONS = RESUMED // 2
"""Events below this are resumptions, those between it and 0 are entries."""


def steps_of(events: Iterable[int]) -> list[int]:
    """Return the statement numbers of the steps, of a document's events or a log's.

    >>> steps_of([-1, 5, -2, 8, 0, 6, 0])
    [5, 8, 6]
    """
    return [event for event in events if event > 0]


def latest_step_or_entry(events: Sequence[int], index: int, function_count: int) -> int:
    """Return the index of the latest step or entry, at an event of a document or before; or -1.

    >>> latest_step_or_entry([-1, 5, -2, 8, 0, 6, -4, 9, 0, 0], 6, function_count=2)
    5
    """
    while index >= 0 and (events[index] == EXIT or events[index] < -function_count):
        index -= 1
    return index


def count_recorded_steps(events: Iterable[int], first_steps: Mapping[int, int]) -> int:
    """Return how many steps there are in events of the recorder, with those that it leaves out.

    >>> count_recorded_steps([-1, -2, 0, 6, 0], first_steps={1: 5, 2: 8})
    3
    """
    return sum(event > 0 or -event in first_steps for event in events)


class Place(NamedTuple):
    """Where the program stood when so many events were recorded; -1 where there is none."""

    step: int
    """The innermost step that was running."""
    event: int
    """Index of the latest step, or else the entry, of the innermost activation."""
    entry: int
    """Index of the event that entered it."""
    by_statement: dict[int, int]
    """Index of its latest step of each statement that was asked for."""


class Log:
    """Events with all steps."""

    def __init__(self, events: list[int], implied: Sequence[int] = ()) -> None:
        self.events = events
        self._implied = implied
        """Indices, in the recorder's list, of the entries after which a step was added here."""

    @classmethod
    def of_recorder(cls, events: Iterable[int], first_steps: Mapping[int, int]) -> "Log":
        """Add the steps that entries imply.

        >>> Log.of_recorder([-1, -2, 0, 6, 0], first_steps={1: 5, 2: 8}).events
        [-1, 5, -2, 8, 0, 6, 0]
        """
        events = _with_sound_resumptions(list(events))
        complete: list[int] = []
        implied: list[int] = []
        append, first_step = complete.append, first_steps.get
        for index, event in enumerate(events):
            append(event)
            if event < 0:
                step = first_step(-event)
                if step:
                    append(step)
                    implied.append(index)
                elif event < RESUMPTIONS:  # its entry has moved by the steps added before it
                    complete[-1] = event - bisect_left(implied, RESUMED - event)
        return cls(complete, implied)

    def as_document(self, function_count: int) -> list[int]:
        """Return the events as a document with so many functions has them.

        >>> Log([-1, 5, -2, 8, 0, 6, RESUMED - 2, 9, 0, 0]).as_document(function_count=2)
        [-1, 5, -2, 8, 0, 6, -4, 9, 0, 0]
        """
        if min(self.events, default=0) > RESUMPTIONS:
            return self.events
        entries = [i for i, event in enumerate(self.events) if RESUMPTIONS < event < 0]
        numbers = {RESUMED - index: number for number, index in enumerate(entries, 1)}
        return [
            event if event > RESUMPTIONS else -(function_count + numbers[event])
            for event in self.events
        ]

    def cut(self, max_steps: int) -> "Log":
        """Return a log that ends with step number `max_steps` at the latest.

        >>> Log([-1, 5, -2, 8, 0, 6, 0]).cut(2).events
        [-1, 5, -2, 8, 0]
        """
        if len(self.events) > max_steps:
            steps = 0
            for index, event in enumerate(self.events):
                steps += event > 0
                if steps > max_steps:
                    return Log(self.events[:index], self._implied)
        return self

    def at(self, at: int) -> int:
        """Return how many events there are here when the recorder had noted `at`."""
        return at + bisect_left(self._implied, at)

    def spread(self, values: Iterable[float]) -> list[float]:
        """Return what the recorder noted for each event, given again for each implied step."""
        implied = set(self._implied)
        result: list[float] = []
        for index, value in enumerate(values):
            result += [value] * (1 + (index in implied))
        return result

    def places(self, questions: Mapping[int, set[int]]) -> dict[int, Place]:
        """Return the place at each number of events in `questions`.

        A question names the statements whose latest step it asks for.

        >>> Log([-1, 5, -2, 8, 0, 6, 0]).places({4: set(), 5: {5}})[5]
        Place(step=0, event=1, entry=0, by_statement={5: 1})
        """
        replay = Replay(self.events, set().union(*questions.values()))
        places = {}
        for at in sorted(questions):
            replay.to(at)
            entry, latest = replay.entry, replay.latest
            known = {n: latest[entry, n] for n in questions[at] if (entry, n) in latest}
            places[at] = Place(replay.step, replay.event, entry, known)
        return places


def _with_sound_resumptions(events: list[int]) -> list[int]:
    """Let each resumption name an entry before it. When several threads go on with generators,
    their events come in any order, and what a thread took for its entry may be another event."""
    for index, event in enumerate(events):
        if event < RESUMPTIONS:
            entry = min(RESUMED - event, index - 1)
            while entry >= 0 and not RESUMPTIONS < events[entry] < EXIT:
                entry -= 1
            # No function was entered before: the end of none changes nothing.
            events[index] = RESUMED - entry if entry >= 0 else EXIT
    return events


class Replay:
    """Goes through the events of a log, and knows where the program stands.

    >>> replay = Replay([-1, 5, -2, 8, 0, 6, 0])
    >>> replay.to(4)
    >>> replay.step, replay.event, replay.entry
    (1, 3, 2)
    """

    def __init__(self, events: list[int], watched: Collection[int] = ()) -> None:
        self.events = events
        self.watched = watched
        """Statements whose latest step is kept."""
        self.done = 0
        """How many events there were so far."""
        self.steps = 0
        """How many of them are steps."""
        self.step, self.event, self.entry = -1, -1, -1
        """As of a `Place`. An activation stands at the step it was called from until its first."""
        self.latest: dict[tuple[int, int], int] = {}
        """Index of the latest step by its activation and its statement, if that is watched."""
        self._callers: list[tuple[int, int, int]] = []
        self._left: dict[int, tuple[int, int]] = {}
        """Event and step at which an activation was left, to go on from there."""
        self._is_resumable = min(events, default=0) < RESUMPTIONS

    def to(self, at: int) -> None:
        """Go on until there were `at` events."""
        # Documents have millions of events: all that the loop needs is local, and what is kept only
        # for activations that go on, or statements that are watched, is not kept for others.
        events, watched, is_resumable = self.events, self.watched, self._is_resumable
        callers, left = self._callers, self._left
        steps, step, event, entry = self.steps, self.step, self.event, self.entry
        for index in range(self.done, at):
            code = events[index]
            if code > 0:
                event, step = index, steps
                steps += 1
                if watched and code in watched:
                    self.latest[entry, code] = index
            elif code == EXIT:
                if is_resumable:
                    left[entry] = event, step
                event, step, entry = callers.pop() if callers else (-1, -1, -1)
            else:
                callers.append((event, step, entry))
                if code > RESUMPTIONS:
                    event = entry = index
                else:
                    entry = RESUMED - code
                    # Never left: another thread's events stand between.
                    event, step = left.get(entry) or (entry, step)
        self.done, self.steps, self.step, self.event, self.entry = at, steps, step, event, entry
