"""A small cache, and the loads of a few algorithms to replay in it.

The cache holds so many numbers, in lines of neighbours that come and go together, and makes room by
dropping the line that was used least recently. What counts is how many numbers are moved from the
memory behind it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Iterator

LINE = 4
"""Numbers in a line."""

Address = tuple[str, int]
"""The name of an array, and the place of a number in it."""


class Cache:
    """A cache for `capacity` numbers; all that it counts is `moved`, numbers loaded into it."""

    def __init__(self, capacity: int) -> None:
        self.lines = capacity // LINE
        self.kept: OrderedDict[Address, None] = OrderedDict()
        self.moved = 0

    def touch(self, array: str, place: int) -> None:
        """Use a number: its line is loaded unless it is there."""
        line = (array, place // LINE)
        if line in self.kept:
            self.kept.move_to_end(line)
            return
        self.moved += LINE
        self.kept[line] = None
        if len(self.kept) > self.lines:
            self.kept.popitem(last=False)


def moved_numbers(addresses: Iterable[Address], capacity: int) -> int:  # @stepover
    """Replay loads and stores in a cache; return how many numbers it had to load."""
    cache = Cache(capacity)
    for array, place in addresses:
        cache.touch(array, place)
    return cache.moved


def loads_of_tiles(n: int, tile: int) -> Iterator[Address]:  # @stepover
    """A product of two n×n matrices, one tile of the result after the other.

    With a tile of n it is three plain loops.
    """
    starts = range(0, n, tile)
    for row, column, inner in ((i, j, k) for i in starts for j in starts for k in starts):
        for i in range(row, row + tile):
            for j in range(column, column + tile):
                for k in range(inner, inner + tile):
                    yield "x", i * n + k
                    yield "w", k * n + j
                yield "y", i * n + j


def loads_of_attention(T: int, d: int, block: int) -> Iterator[Address]:  # @stepover
    """Fused attention: all keys and values pass by for each block of queries.

    Of each row of d features only the lines are touched. Scores and sums stay in registers.
    """
    for first in range(0, T, block):
        for key in range(T):
            for query in range(first, first + block):
                for feature in range(0, d, LINE):
                    yield "k", key * d + feature
                    yield "v", key * d + feature
                    yield "q", query * d + feature
                    yield "y", query * d + feature


def loads_of_attention_written_out(T: int, d: int, block: int) -> Iterator[Address]:  # @stepover
    """Attention in three steps, of which each leaves its result in memory: scores, softmax, mean.

    Each matmul goes through its rows in blocks, so that a key is used for a block of queries.
    """
    for scores, mixed in (("k", "q"), ("v", "y")):
        if scores == "v":
            for place in range(0, T * T, LINE):
                yield "scores", place  # the softmax, between the two
        for first in range(0, T, block):
            for key in range(T):
                for query in range(first, first + block):
                    for feature in range(0, d, LINE):
                        yield scores, key * d + feature
                        yield mixed, query * d + feature
                    yield "scores", query * T + key
