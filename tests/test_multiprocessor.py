"""The GPU that the lecture counts on: what each of its parts does in cases worked out by hand."""

import itertools

import pytest

from lecture.lib.multiprocessor import (
    Issue,
    Run,
    blocks_that_fit,
    fetched_bytes,
    issued_instructions,
    run_blocks,
    run_streams,
    run_warps,
)

TICKS = {"load": 5, "add": 2}

# programs of warps -> (warp, instruction, tick, done) of all that was issued
PROGRAMS = [
    ([], []),
    ([[]], []),
    ([["add", "add"]], [(0, "add", 0, 2), (0, "add", 2, 4)]),
    ([["load"], ["add"]], [(0, "load", 0, 5), (1, "add", 1, 3)]),
    # At tick 5 both are ready; warp 1 has been since tick 3.
    (
        [["load", "add"], ["add", "add", "add"]],
        [
            (0, "load", 0, 5),
            (1, "add", 1, 3),
            (1, "add", 3, 5),
            (0, "add", 5, 7),
            (1, "add", 6, 8),
        ],
    ),
]


@pytest.mark.parametrize(("programs", "issues"), PROGRAMS)
def test_a_scheduler_takes_the_warp_that_has_waited_longest(programs, issues):
    assert run_warps(programs, TICKS) == [Issue(*issue) for issue in issues]


def test_at_most_one_instruction_starts_in_a_tick_and_none_before_the_one_it_needs():
    issues = run_warps([["load", "add"] * 3] * 7, TICKS)
    assert len({issue.tick for issue in issues}) == len(issues) == 6 * 7
    for warp in range(7):
        own = [issue for issue in issues if issue.warp == warp]
        assert all(before.done <= after.tick for before, after in itertools.pairwise(own))


# the paths of threads -> instructions issued, where "a" has 3 and "b" 4
PATHS = [
    ([], 0),
    (["a"], 3),
    (["a"] * 32, 3),
    (["a"] * 33, 6),
    (["a", "b"] * 16, 7),
    (["a"] * 32 + ["b"] * 32, 7),
    (["a"] * 31 + ["b"] * 33, 7 + 4),
]


@pytest.mark.parametrize(("paths", "issued"), PATHS)
def test_a_warp_walks_each_path_that_one_of_its_threads_takes(paths, issued):
    assert issued_instructions(paths, {"a": 3, "b": 4}) == issued


# what each thread loads from -> bytes that arrive, in segments of 64
ADDRESSES = [
    ([], 0),
    ([0], 64),
    ([63, 64], 128),
    ([8] * 32, 64),
    ([4 * thread for thread in range(32)], 128),
    ([4 + 4 * thread for thread in range(32)], 192),
    ([64 * thread for thread in range(32)], 32 * 64),
    ([8] * 33, 128),  # the second warp asks for itself
]


@pytest.mark.parametrize(("addresses", "arrived"), ADDRESSES)
def test_memory_delivers_whole_segments_to_a_warp(addresses, arrived):
    assert fetched_bytes(addresses, 64) == arrived


# what a block needs, what there is -> how many fit
NEEDS = [
    ({"threads": 3}, {"threads": 2}, 0),
    ({"threads": 3}, {"threads": 9}, 3),
    ({"threads": 3, "registers": 5}, {"threads": 9, "registers": 14}, 2),
    ({"threads": 3, "registers": 0}, {"threads": 10, "registers": 0}, 3),
]


@pytest.mark.parametrize(("need", "room", "blocks"), NEEDS)
def test_blocks_move_in_until_one_finds_no_room(need, room, blocks):
    before = dict(room)
    assert blocks_that_fit(need, room) == blocks
    assert room == before


def test_each_block_goes_to_the_multiprocessor_that_is_free_first():
    assert run_blocks([5, 2, 2, 9], 2) == [Run(0, 0, 5), Run(1, 0, 2), Run(1, 2, 4), Run(1, 4, 13)]
    assert run_blocks([], 3) == []


def test_streams_share_engines_and_wait_only_for_themselves():
    streams = {"a": [("copy", 2), ("compute", 5)], "b": [("copy", 3), ("compute", 1)]}
    assert run_streams(streams) == {
        "copy": [(0, 2, "a"), (2, 5, "b")],
        "compute": [(2, 7, "a"), (7, 8, "b")],
    }
    one = {"one": [*streams["a"], *streams["b"]]}
    assert run_streams(one)["compute"][-1] == (10, 11, "one")
