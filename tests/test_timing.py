"""The stopwatch of the lecture, on clocks that say when time passes."""

import itertools

import pytest
import torch

from lecture.lib import timing


class Clock:
    """A clock that only moves when told to."""

    def __init__(self):
        self.now = 0

    def __call__(self):
        return self.now


# what each call takes -> the median and the shortest of those after the first
DURATIONS = [
    ([5, 1], 1, 1),
    ([9, 2, 2, 90, 3, 2], 2, 2),
    ([0, 4, 1], 2.5, 1),
]


@pytest.mark.parametrize(("durations", "median", "best"), DURATIONS)
def test_the_first_call_is_set_apart_and_one_interruption_does_not_count(durations, median, best):
    clock, left = Clock(), iter(durations)

    def call():
        clock.now += next(left)

    found = timing.time_call(call, repeats=len(durations) - 1, clock=clock)
    assert found == timing.Timing(durations[0], tuple(durations[1:]))
    assert (found.median_seconds, found.best_seconds) == (median, best)
    assert list(left) == []


def test_it_waits_before_the_clock_starts_and_before_it_stops():
    happened = []

    def clock():
        happened.append("clock")
        return len(happened)

    timing.time_call(
        lambda: happened.append("call"),
        repeats=1,
        clock=clock,
        wait=lambda: happened.append("wait"),
    )
    assert happened == 2 * ["wait", "clock", "call", "wait", "clock"]


@pytest.mark.parametrize("available", [True, False])
def test_a_gpu_is_waited_for_where_there_is_one(monkeypatch, available):
    waited = []
    monkeypatch.setattr(torch.cuda, "is_available", lambda: available)
    monkeypatch.setattr(torch.cuda, "synchronize", lambda: waited.append(True))
    timing.time_call(lambda: None, repeats=2)
    assert len(waited) == (2 * 3 if available else 0)


def ticking():
    """A clock that moves on by a second at each look, so that every call takes one."""
    return itertools.count().__next__


def test_a_rate_is_what_the_meter_counts_over_the_median():
    x = torch.ones(3, 5)
    assert timing.flops_per_second(lambda: (x @ x.T).relu(), ticking()) == 2 * 3 * 5 * 3 + 3 * 3
    assert timing.matmul_flops_per_second(7, torch.bfloat16, clock=ticking()) == 2 * 7**3


def test_a_calibration_takes_the_best():
    best = timing.best_matmul_flops_per_second((3, 6, 2), torch.float32, clock=ticking())
    assert best == 2 * 6**3
    assert timing.best_bytes_per_second(10, torch.bfloat16, clock=ticking()) == 10 * (2 + 2)


def test_it_times_on_one_thread_and_leaves_their_number_as_it_was():
    before = torch.get_num_threads()
    seen = []
    torch.set_num_threads(2)
    try:
        timing.time_call(lambda: seen.append(torch.get_num_threads()), repeats=1)
        assert seen == [1, 1]
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
