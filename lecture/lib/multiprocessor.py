"""A GPU small enough to read: warps that take turns, blocks that move in, loads that are counted.

It knows no speeds. Time passes in ticks, and what comes out is counted.
"""

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lecture.facts import WARP_THREADS


@dataclass(frozen=True)
class Issue:
    """An instruction that a warp began; `done` is the tick at which its result is there."""

    warp: int
    kind: str
    tick: int
    done: int


def run_warps(programs: Sequence[Sequence[str]], ticks: Mapping[str, int]) -> list[Issue]:
    """Run warps under one scheduler, which issues at most one instruction in each tick.

    Each instruction of a warp needs the result of the one before. So a warp is ready when that is
    there; of those that are ready, the scheduler takes the one that has waited longest.
    """
    ready = [0] * len(programs)
    places = [0] * len(programs)
    issues = []
    tick = 0
    while unfinished := [w for w, program in enumerate(programs) if places[w] < len(program)]:
        able = [warp for warp in unfinished if ready[warp] <= tick]
        if able:
            warp = min(able, key=ready.__getitem__)
            kind = programs[warp][places[warp]]
            issues.append(Issue(warp, kind, tick, tick + ticks[kind]))
            ready[warp] = tick + ticks[kind]
            places[warp] += 1
        tick += 1
    return issues


def issued_instructions(paths: Sequence[str], lengths: Mapping[str, int]) -> int:
    """Count the instructions that warps issue when thread t takes the path `paths[t]`.

    A warp goes through each path that at least one of its threads takes; the others wait.
    """
    issued = 0
    for first in range(0, len(paths), WARP_THREADS):
        for path in dict.fromkeys(paths[first : first + WARP_THREADS]):
            issued += lengths[path]
    return issued


def fetched_bytes(addresses: Sequence[int], segment_bytes: int) -> int:
    """Count the bytes that memory delivers when thread t loads from `addresses[t]`.

    Memory delivers whole segments. Threads of a warp that need the same one share it.
    """
    segments = 0
    for first in range(0, len(addresses), WARP_THREADS):
        warp = addresses[first : first + WARP_THREADS]
        segments += len({address // segment_bytes for address in warp})
    return segments * segment_bytes


def blocks_that_fit(need: Mapping[str, int], room: Mapping[str, int]) -> int:
    """Let equal blocks move into a multiprocessor until one more finds no room."""
    left, blocks = dict(room), 0
    while all(left[kind] >= need[kind] for kind in need):
        for kind in need:
            left[kind] -= need[kind]
        blocks += 1
    return blocks


@dataclass(frozen=True)
class Run:
    """A block on its multiprocessor, from one tick to another."""

    multiprocessor: int
    start: int
    stop: int


def run_blocks(durations: Iterable[int], multiprocessors: int) -> list[Run]:
    """Hand out blocks in their order, each to the multiprocessor that is free first."""
    free = [(0, number) for number in range(multiprocessors)]
    runs = []
    for duration in durations:
        start, number = heapq.heappop(free)
        runs.append(Run(number, start, start + duration))
        heapq.heappush(free, (start + duration, number))
    return runs


Piece = tuple[str, int]
"""Work for one of the engines of a GPU, such as "copy" or "compute", and its ticks."""


def run_streams(
    streams: Mapping[str, Sequence[Piece]],
) -> dict[str, list[tuple[int, int, str]]]:
    """Run streams of work; return for each engine when it worked, and for which stream.

    The pieces of a stream wait for one another, and each engine does one piece at a time. Of the
    pieces that are next in their streams, the one that can start first does.
    """
    places = dict.fromkeys(streams, 0)
    after = dict.fromkeys(streams, 0)
    lanes: dict[str, list[tuple[int, int, str]]] = {}
    free = {engine: 0 for pieces in streams.values() for engine, _ in pieces}
    while waiting := [name for name in streams if places[name] < len(streams[name])]:
        starts = {name: max(after[name], free[streams[name][places[name]][0]]) for name in waiting}
        name = min(waiting, key=starts.__getitem__)
        engine, ticks = streams[name][places[name]]
        stop = starts[name] + ticks
        lanes.setdefault(engine, []).append((starts[name], stop, name))
        after[name] = free[engine] = stop
        places[name] += 1
    return lanes
