"""One walk over the events: which step each note of the recorder belongs to."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from .recorder import RESUMED


@dataclass
class _Frame:
    """An activation during the walk."""

    event: int
    """Index of its latest step or of its entry."""
    step: int
    """Its latest step; before the first one, its caller's."""
    entry: int
    """Index of the event that entered it."""
    by_statement: dict[int, int] = field(default_factory=dict)
    """Latest event of each statement that is asked for."""

    def place(self) -> "Place":
        return Place(self.step, self.event, self.entry, dict(self.by_statement))


@dataclass
class Place:
    """Where the program stood when `at` events were recorded."""

    step: int
    event: int
    entry: int
    by_statement: dict[int, int]


class Walk:
    """One pass over the events: finds places, and numbers the resumed activations."""

    def __init__(self, events: list[int], function_count: int) -> None:
        self.events = events
        self.function_count = function_count
        self.places: dict[int, Place] = {}

    def find(self, ats: Iterable[int], statements: set[int]) -> None:
        """Fill `places` for each `at`; remember the latest event of the given statements."""
        wanted = sorted(set(ats), reverse=True)
        numbers: dict[int, int] = {}  # event index of an entry -> number of the activation
        frames: dict[int, _Frame] = {}  # the same -> frame, for those that may be resumed
        bottom = _Frame(-1, -1, -1)
        stack, step, top = [bottom], -1, bottom
        resumable = any(event < RESUMED // 2 for event in self.events)
        for index, event in enumerate(self.events):
            while wanted and wanted[-1] <= index:
                self.places[wanted.pop()] = top.place()
            if event > 0:
                step += 1
                top.event, top.step = index, step
                if event in statements:
                    top.by_statement[event] = index
            elif event == 0:
                stack.pop()
                top = stack[-1] if stack else bottom
            else:
                if event > RESUMED // 2:
                    top = _Frame(index, top.step, index)
                    if resumable:
                        numbers[index] = len(numbers) + 1
                        frames[index] = top
                else:
                    entry = RESUMED - event
                    top = frames[entry]
                    self.events[index] = -(self.function_count + numbers[entry])
                stack.append(top)
        for at in wanted:
            self.places[at] = top.place()


def cut_events(events: list[int], max_steps: int) -> list[int]:
    """Return the events up to and with step number `max_steps`."""
    if len(events) <= max_steps:
        return list(events)
    steps = 0
    for index, event in enumerate(events):
        steps += event > 0
        if steps > max_steps:
            return events[:index]
    return list(events)
