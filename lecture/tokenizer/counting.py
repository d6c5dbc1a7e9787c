"""Counting words, in texts or in files larger than memory, with one process or several.

A file is cut into ranges at special tokens, where no word and no merge reaches across. Each range
is counted by itself, block by block, and the counts are added up. The sum does not depend on where
the cuts fell or on who counted what.
"""

import codecs
import contextlib
import multiprocessing
import signal
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType

from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.splitting import Splitter

BLOCK_BYTES = 2**18
# The counts of a range are sent to the process that adds them up, so a range is not too small. The
# last range that a worker counts is what the others wait for, so each worker gets several.
LEAST_RANGE_BYTES = 2**20
MOST_RANGE_BYTES = 2**24
RANGES_PER_WORKER = 8

Range = tuple[int, int]
Counted = tuple[Counter[str], int]


def count_parts(parts: Iterable[tuple[str, str]], splitter: Splitter) -> Counter[str]:
    """Count the words of parts of text; special tokens are not counted."""
    counts: Counter[str] = Counter()
    for text, _ in parts:
        counts.update(splitter.words(text))
    return counts


def count_texts(texts: Iterable[str], splitter: Splitter) -> Counter[str]:  # @stepover
    """Count the words of texts, each by itself."""
    return count_parts((part for text in texts for part in splitter.parts(text)), splitter)


def read_text(
    path: Path,
    start: int = 0,
    stop: int | None = None,
    progress: Callable[[int], object] = lambda done_bytes: None,
) -> Iterator[str]:
    """Yield the text of a part of a file, block by block."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        file.seek(start)
        place = start
        while block := file.read(BLOCK_BYTES if stop is None else min(BLOCK_BYTES, stop - place)):
            yield decode_block(decoder, block, path, place)
            place += len(block)
            progress(place - start)
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
        """Return (start, stop) of ranges that cover the file; but for the last, none is smaller."""
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
    path: Path,
    splitter: Splitter,
    bounds: Range,
    progress: Callable[[int], object] = lambda done_bytes: None,
) -> Counted:
    """Count the words of one range; return also its size in bytes."""
    start, stop = bounds
    text = read_text(path, start, stop, progress)
    return count_parts(splitter.stream(text), splitter), stop - start


@contextlib.contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Ignore Ctrl-C for a moment, and for good in processes that are started meanwhile.

    It reaches all processes at once. One of them is to deal with it, and to end the others.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # Python sends no interrupts there, and does not let one choose
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _empty_main_program() -> Iterator[None]:
    """Keep the main program out of processes that are started meanwhile.

    A new process first imports the main program again, for functions that it might be asked to
    run. Ours are asked for nothing from there, so they are shown an empty one: they start sooner,
    and a program that trains when it is imported does not train again in each of them.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


def count_side_by_side(
    count: Callable[[Range], Counted], ranges: Sequence[Range], workers: int
) -> Iterator[Counted]:
    """Count ranges in processes that have nothing of this one: no threads, no locks."""
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"))
    try:
        with _interrupts_ignored(), _empty_main_program():
            results = executor.map(count, ranges)
        yield from results
    except BrokenProcessPool:
        raise TokenizerError(
            "a worker was killed; with fewer workers less memory is used"
        ) from None
    finally:
        executor.shutdown(cancel_futures=True)


def good_range_bytes(total_bytes: int, workers: int) -> int:
    """Return how large the ranges of a file should be."""
    share = total_bytes // (RANGES_PER_WORKER * workers)
    return min(max(share, LEAST_RANGE_BYTES), MOST_RANGE_BYTES)


def count_file(
    path: Path,
    splitter: Splitter,
    workers: int = 1,
    progress: Callable[[int, int], object] = lambda done, total: None,
    range_bytes: int | None = None,
) -> Counter[str]:  # @stepover
    """Count the words of a file with as many processes as there are workers."""
    if workers < 1:
        raise TokenizerError(f"{workers} workers count nothing; there must be at least 1")
    special_tokens = tuple(token.encode() for token in splitter.special_tokens)
    total_bytes, done_bytes = path.stat().st_size, 0
    range_bytes = range_bytes or good_range_bytes(total_bytes, workers)
    ranges = Cutter(path, special_tokens).ranges(range_bytes)
    counts: Counter[str] = Counter()

    def add(result: Counted) -> None:
        nonlocal done_bytes
        counts.update(result[0])
        done_bytes += result[1]

    def tell(done_here: int) -> None:
        progress(done_bytes + done_here, total_bytes)

    # A process that is a worker itself, such as one that loads data, may not start others.
    if min(workers, len(ranges)) == 1 or multiprocessing.current_process().daemon:
        for bounds in ranges:
            add(count_range(path, splitter, bounds, tell))
    else:
        count = partial(count_range, path, splitter)
        with closing(count_side_by_side(count, ranges, min(workers, len(ranges)))) as results:
            for result in results:
                add(result)
                tell(0)
    return counts
