"""Encoding one word: of all pairs that the training merged, the earliest first."""

import heapq
from collections.abc import Callable
from itertools import pairwise, repeat

NEVER = 1 << 62
# Up to about here a scan for each merge is faster than a heap; at twice the length it is not.
LONGEST_SCANNED = 48

Merged = Callable[[tuple[int, int], int], int]


def merge_symbols(symbols: list[int], merged: Merged) -> list[int]:
    """Merge the symbols of a word; `merged(pair, NEVER)` is the symbol of a pair.

    Symbols are numbered in the order of training, so the smallest symbol is the earliest merge.
    """
    if len(symbols) > LONGEST_SCANNED:
        return merge_long(symbols, merged)
    return merge_short(symbols, merged)


def merge_short(symbols: list[int], merged: Merged) -> list[int]:
    """Merge a short word: look for the smallest symbol among all, as often as one is there."""
    offers = [*map(merged, pairwise(symbols), repeat(NEVER))]
    while offers and (new := min(offers)) != NEVER:
        place = offers.index(new)
        symbols[place] = new
        del symbols[place + 1], offers[place]
        if place:
            offers[place - 1] = merged((symbols[place - 1], new), NEVER)
        if place < len(offers):
            offers[place] = merged((new, symbols[place + 1]), NEVER)
    return symbols


def merge_long(symbols: list[int], merged: Merged) -> list[int]:
    """Merge a word that is too long to be scanned for each merge, with a heap and a chain."""
    length = len(symbols)
    following, previous = [*range(1, length + 1)], [*range(-1, length - 1)]
    gone = -1

    def offer(left: int, right: int) -> None:
        if left >= 0 and right < length:
            new = merged((symbols[left], symbols[right]), NEVER)
            if new != NEVER:
                heapq.heappush(heap, (new, left, symbols[left], symbols[right]))

    heap: list[tuple[int, int, int, int]] = []
    for place in range(length - 1):
        offer(place, place + 1)
    while heap:
        new, place, left, right = heapq.heappop(heap)
        taken = following[place]
        # The offer is stale if one of the two symbols has become part of another merge.
        if symbols[place] != left or taken == length or symbols[taken] != right:
            continue
        symbols[place], symbols[taken] = new, gone
        after = following[place] = following[taken]
        if after < length:
            previous[after] = place
        offer(previous[place], place)
        offer(place, after)
    return [symbol for symbol in symbols if symbol != gone]
