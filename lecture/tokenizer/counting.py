"""Counting words, in texts or in files larger than memory, with one process or several.

A file is cut at special tokens, where no word and no merge reaches across, into ranges of about
`RANGE_BYTES`. Each range is counted by itself, block by block, and the counts are added up. The sum
does not depend on where the cuts fell or on who counted what.
"""

import codecs
import multiprocessing
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from multiprocessing.pool import Pool
from pathlib import Path
from types import ModuleType

from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.splitting import Splitter

RANGE_BYTES = 2**24
BLOCK_BYTES = 2**18


def count_parts(parts: Iterable[tuple[str, str]], splitter: Splitter) -> Counter[str]:
    """Count the words of parts of text; special tokens are not counted."""
    counts: Counter[str] = Counter()
    for text, _ in parts:
        counts.update(splitter.words(text))
    return counts


def count_texts(texts: Iterable[str], splitter: Splitter) -> Counter[str]:  # @stepover
    """Count the words of texts, each by itself."""
    return count_parts((part for text in texts for part in splitter.parts(text)), splitter)


def read_text(path: Path, start: int = 0, stop: int | None = None) -> Iterator[str]:
    """Yield the text of a part of a file, block by block."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        file.seek(start)
        place = start
        while block := file.read(BLOCK_BYTES if stop is None else min(BLOCK_BYTES, stop - place)):
            yield decode_block(decoder, block, path, place)
            place += len(block)
    yield decode_block(decoder, b"", path, place, final=True)


def decode_block(
    decoder: codecs.IncrementalDecoder, block: bytes, path: Path, place: int, final: bool = False
) -> str:
    """Decode the next bytes of a file, or say where they are no UTF-8."""
    kept = len(decoder.getstate()[0])  # of a character that the last block has begun
    try:
        return decoder.decode(block, final)
    except UnicodeDecodeError as error:
        raise TokenizerError(
            f"{path} is not UTF-8 at byte {place - kept + error.start:,}: {error.reason}"
        ) from None


@dataclass(frozen=True)
class Cutter:
    """Finds places in a file where a special token begins, and no other one overlaps it."""

    path: Path
    special_tokens: tuple[bytes, ...]

    def ranges(self, range_bytes: int) -> list[tuple[int, int]]:  # @stepover
        """Return (start, stop) of ranges of at least this size; they cover the file."""
        size = self.path.stat().st_size
        cuts = [0]
        with self.path.open("rb") as file:
            while (aim := cuts[-1] + range_bytes) < size and self.special_tokens:
                if (cut := self._next_cut(file.seek, file.read, aim)) is None:
                    break
                cuts.append(cut)
        return [*zip(cuts, [*cuts[1:], size], strict=True)]

    def _next_cut(
        self, seek: Callable[[int], object], read: Callable[[int], bytes], aim: int
    ) -> int | None:
        """Return the first place from `aim` on where the file can be cut."""
        longest = max(map(len, self.special_tokens))
        start = max(0, aim - 2 * longest)  # what overlaps a token at `aim` is in sight
        seek(start)
        window = b""
        while block := read(BLOCK_BYTES):
            window += block
            for cut in self._cuts(window):
                in_sight = longest <= cut or start == 0
                if in_sight and aim <= start + cut and cut + 2 * longest <= len(window):
                    return start + cut
            kept = min(len(window), 4 * longest)
            start += len(window) - kept
            window = window[-kept:]
        return None

    def _cuts(self, window: bytes) -> Iterator[int]:
        """Yield the starts of tokens that no other one overlaps, in order."""
        found = sorted(
            (place, place + len(token))
            for token in self.special_tokens
            for place in places_of(token, window)
        )
        reached = 0
        for number, (start, stop) in enumerate(found):
            clear_behind = number + 1 == len(found) or found[number + 1][0] >= stop
            if start >= reached and clear_behind:
                yield start
            reached = max(reached, stop)


def places_of(token: bytes, window: bytes) -> Iterator[int]:
    """Yield where a token begins, overlaps with itself included."""
    place = window.find(token)
    while place >= 0:
        yield place
        place = window.find(token, place + 1)


def count_range(
    path: Path, splitter: Splitter, bounds: tuple[int, int]
) -> tuple[Counter[str], int]:
    """Count the words of one range; return also its size in bytes."""
    start, stop = bounds
    counts = count_parts(splitter.stream(read_text(path, start, stop)), splitter)
    return counts, stop - start


def start_workers(workers: int) -> Pool:
    """Start processes that have nothing of this one: no threads, no locks, no main program.

    A new process first imports the main program again, for functions that it might be asked to
    run. Ours are asked for nothing from there, so they are shown an empty one: they start sooner,
    and a program that trains when it is imported does not train again in each of them.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        return multiprocessing.get_context("spawn").Pool(workers)
    finally:
        sys.modules["__main__"] = main


def count_file(
    path: Path,
    splitter: Splitter,
    workers: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
    range_bytes: int = RANGE_BYTES,
) -> Counter[str]:  # @stepover
    """Count the words of a file with as many processes as there are workers."""
    if workers < 1:
        raise TokenizerError(f"{workers} workers count nothing; there must be at least 1")
    special_tokens = tuple(token.encode() for token in splitter.special_tokens)
    ranges = Cutter(path, special_tokens).ranges(range_bytes)
    count = partial(count_range, path, splitter)
    total_bytes, done_bytes = path.stat().st_size, 0
    counts: Counter[str] = Counter()

    def add(results: Iterable[tuple[Counter[str], int]]) -> None:
        nonlocal done_bytes
        for range_counts, range_size in results:
            counts.update(range_counts)
            done_bytes += range_size
            progress(done_bytes, total_bytes)

    # A process that is a worker itself, such as one that loads data, may not start others.
    if min(workers, len(ranges)) == 1 or multiprocessing.current_process().daemon:
        add(map(count, ranges))
    else:
        with start_workers(min(workers, len(ranges))) as pool:
            add(pool.imap(count, ranges))
    return counts
