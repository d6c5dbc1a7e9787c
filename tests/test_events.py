"""The event log: its forms say the same, and a replay knows where the program stands."""

import pytest

from tests.tracing import record_source
from trace.events import RESUMED, Log, Replay, count_recorded_steps, steps_of

GENERATORS = """
    def main():
        first, second = numbers(), numbers()
        next(first)
        next(second)
        next(first)

    def numbers():
        yield 1
        yield 2
    """


def test_a_log_has_the_steps_that_the_recorder_leaves_out():
    recording = record_source(GENERATORS)
    events, first_steps = recording.recorder.events, recording.tables.first_steps
    log = Log.of_recorder(events, first_steps)
    assert len(steps_of(log.events)) == count_recorded_steps(events, first_steps) == 7
    assert len(log.events) > len(events)
    written = log.as_document(len(recording.tables.functions))
    # main, two generators, the first of them again; then Python closes both.
    assert [event for event in written if event < 0][:4] == [-1, -2, -2, -2 - 2]
    assert written != log.events, "the log itself stays as it was"


def test_a_log_follows_the_positions_of_the_recorder():
    log = Log.of_recorder([-1, -2, 7, 0, RESUMED - 1, 0, 6], {1: 5, 2: 8})
    assert log.events == [-1, 5, -2, 8, 7, 0, RESUMED - 2, 0, 6]
    assert [log.at(at) for at in range(8)] == [0, 2, 4, 5, 6, 7, 8, 9]
    assert log.spread([0, 1, 2, 3, 4, 5, 6]) == [0, 0, 1, 1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize(("max_steps", "count"), [(0, 1), (1, 3), (2, 5), (3, 7), (4, 7)])
def test_a_log_is_cut_before_the_first_step_too_many(max_steps, count):
    events = [-1, 5, -2, 8, 0, 6, 0]
    assert Log(list(events)).cut(max_steps).events == events[:count]


def test_an_activation_goes_on_at_the_step_where_it_was_left():
    #         0   1   2   3  4  5            6  7
    events = [-1, 5, -2, 8, 0, 6, RESUMED - 2, 9]
    replay, seen = Replay(events), []
    for at in range(len(events) + 1):
        replay.to(at)
        seen.append((replay.event, replay.step, replay.entry))
    assert seen == [
        (-1, -1, -1),
        (0, -1, 0),
        (1, 0, 0),
        (2, 0, 2),  # called by step 0, which it is at until its first
        (3, 1, 2),
        (1, 0, 0),
        (5, 2, 0),
        (3, 1, 2),
        (7, 3, 2),
    ]
