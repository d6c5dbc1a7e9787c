"""Learning merges from counted words: incremental counts, an index, and a queue that is lazy.

All words lie in one row of symbols. A merge writes the new symbol over the left one and unhooks the
right one from the chain, so that a place keeps its number for good and the index of places never
moves. A pair is one number, `left << SHIFT | right`.

Only a new symbol brings new pairs, and from then on a count only falls. So a pair waits in the
bucket of a count that it had once, and moves down to its present count when its turn comes.
"""

import bisect
import heapq
from collections.abc import Callable, Mapping

from lecture.tokenizer.splitting import utf8

Pair = tuple[bytes, bytes]
SHIFT = 32
RIGHT = (1 << SHIFT) - 1
EDGE = -1  # stands between words
GONE = -2  # the right half of a merge


class SymbolRow:
    """All words, symbol by symbol, with the count and the places of every pair."""

    def __init__(self, word_counts: Mapping[str, int]) -> None:
        self.symbols: list[int] = []
        self.word_counts: list[int] = []  # at each place, how often its word occurs
        for word, count in word_counts.items():
            symbols = [*utf8(word), EDGE]
            if len(symbols) > 2 and count > 0:
                self.symbols += symbols
                self.word_counts += [count] * len(symbols)
        places = len(self.symbols)
        self.next = [*range(1, places + 1)]
        self.previous = [*range(-1, places - 1)]
        self.symbols.append(EDGE)  # before the first place: Python's symbols[-1]
        self.pair_counts: dict[int, int] = {}
        self.places: dict[int, list[int]] = {}
        for place in range(places):
            left, right = self.symbols[place : place + 2]
            if left >= 0 and right >= 0:
                pair = left << SHIFT | right
                self.pair_counts[pair] = self.pair_counts.get(pair, 0) + self.word_counts[place]
                self.places.setdefault(pair, []).append(place)

    def merge(self, pair: int, new: int) -> dict[int, int]:  # @stepover
        """Replace a pair by a new symbol; return the pairs that this brings, with their counts."""
        symbols, following, previous = self.symbols, self.next, self.previous
        counts, places = self.pair_counts, self.places
        brought: dict[int, int] = {}
        left, right = pair >> SHIFT, pair & RIGHT
        for place in places.pop(pair):
            # The index is lazy, too: an earlier merge may have taken one of the two symbols.
            if symbols[place] != left:
                continue
            taken = following[place]
            if symbols[taken] != right:
                continue
            count = self.word_counts[place]
            before, after = previous[place], following[taken]
            if (symbol := symbols[before]) >= 0:
                lost, found = symbol << SHIFT | left, symbol << SHIFT | new
                (brought if symbol == new else counts)[lost] -= count
                if found in brought:
                    brought[found] += count
                    places[found].append(before)
                else:
                    brought[found] = count
                    places[found] = [before]
            if (symbol := symbols[after]) >= 0:
                lost, found = right << SHIFT | symbol, new << SHIFT | symbol
                counts[lost] -= count
                if found in brought:
                    brought[found] += count
                    places[found].append(place)
                else:
                    brought[found] = count
                    places[found] = [place]
            symbols[place], symbols[taken] = new, GONE
            following[place], previous[after] = after, place
        del counts[pair]
        brought = {pair: count for pair, count in brought.items() if count}
        counts.update(brought)
        return brought


class Buckets:
    """Pairs by count, the most frequent first and, where counts are equal, the largest."""

    def __init__(self, size: Callable[[int], Pair]) -> None:
        self.size = size
        self.pairs: dict[int, list[int]] = {}
        self.counts: list[int] = []  # a heap of the counts that have a bucket, negated
        self.sorted = 0  # the count whose bucket is sorted

    def add(self, pair: int, count: int) -> None:
        """Put a pair into the bucket of its count."""
        if count == self.sorted:
            bisect.insort(self.pairs[count], pair, key=self.size)
        elif count in self.pairs:
            self.pairs[count].append(pair)
        else:
            self.pairs[count] = [pair]
            heapq.heappush(self.counts, -count)

    def pop(self, present: Mapping[int, int]) -> int | None:  # @stepover
        """Take out the pair with the largest of the present counts, or None if there is none."""
        while self.counts:
            count = -self.counts[0]
            bucket = self.pairs[count]
            if count != self.sorted:
                bucket.sort(key=self.size)
                self.sorted = count
            while bucket:
                pair = bucket.pop()
                if (now := present[pair]) == count:
                    return pair
                if now:
                    self.add(pair, now)
            heapq.heappop(self.counts)
            del self.pairs[count]
            self.sorted = 0
        return None


def learn_merges(
    word_counts: Mapping[str, int],
    wanted_merges: int,
    progress: Callable[[int], object] = lambda merges: None,
) -> list[Pair]:  # @stepover
    """Return the merges in order; fewer than wanted if every word has become one token.

    Merged is always the most frequent pair, and of equally frequent ones the one whose pair of byte
    strings is largest.
    """
    vocabulary = [bytes([value]) for value in range(256)]

    def spelled(pair: int) -> Pair:
        return vocabulary[pair >> SHIFT], vocabulary[pair & RIGHT]

    row = SymbolRow(word_counts)
    buckets = Buckets(spelled)
    for pair, count in row.pair_counts.items():
        buckets.add(pair, count)
    merges: list[Pair] = []
    while len(merges) < wanted_merges and (pair := buckets.pop(row.pair_counts)) is not None:
        merges.append(spelled(pair))
        vocabulary.append(b"".join(merges[-1]))
        for found, count in row.merge(pair, len(vocabulary) - 1).items():
            buckets.add(found, count)
        progress(len(merges))
    return merges
