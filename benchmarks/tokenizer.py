"""How fast the tokenizer is: `python -m benchmarks.tokenizer`.

Beside Hugging Face's `tokenizers` and OpenAI's `tiktoken`, on one thread, on the same text with the
same split pattern, in turn, several rounds in one process; the table shows medians and their
ratios. The text is whatever source and documentation is installed here: 5 MB to train on,
5 MB of other files to encode. Trained is to 10 000 tokens. `cold` is a tokenizer that has not
encoded anything before, `warm` one that has.

At last, words are counted in 100 MB of stories, by one process and by two.
"""

import functools
import os
import platform
import random
import statistics
import sys
import sysconfig
import tempfile
import time
import tracemalloc
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ["RAYON_NUM_THREADS"] = "1"  # the peers' threads; read when they are imported
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import regex
import tiktoken
import tokenizers

from benchmarks.arguments import parser_of
from lecture import stories
from lecture.tokenizer import Tokenizer
from lecture.tokenizer.counting import count_file
from lecture.tokenizer.splitting import PATTERNS, Splitter

ROUNDS = 5
TEXT_CHARACTERS = 5_000_000
PIECE_CHARACTERS = 2**16
LARGE_BYTES = 100_000_000
SIZE = 10_000
END = stories.END
SUFFIXES = {".py", ".pyi", ".txt", ".rst", ".md", ".c", ".h", ".hpp", ".js", ".json"}
FILE_CHARACTERS = 1_500
MOST_OF_A_FOLDER = 30


def texts_here(characters: int) -> tuple[str, str]:
    """Return two texts from the middle of installed files, each with `END` between files."""
    folders = {Path(sysconfig.get_path(name)) for name in ("stdlib", "purelib")}
    files = sorted({file for folder in folders for file in folder.rglob("*")})
    random.Random(0).shuffle(files)
    texts: list[str] = []
    parts: list[str] = []
    found, taken = 0, Counter[Path]()
    for file in files:
        if file.suffix in SUFFIXES and file.is_file() and taken[file.parent] < MOST_OF_A_FOLDER:
            taken[file.parent] += 1
            whole = file.read_text(encoding="utf-8", errors="ignore")
            start = max(0, (len(whole) - FILE_CHARACTERS) // 2)  # beginnings are much alike
            parts.append(whole[start : start + FILE_CHARACTERS])
            found += len(parts[-1])
        if found >= characters:
            texts.append(END.join(parts))
            parts, found = [], 0
            if len(texts) == 2:
                return texts[0], texts[1]
    raise SystemExit("there is not enough text installed here")


def seconds_of(call: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """Return the seconds of a call; those of the processor, which other programs hardly disturb."""
    start = clock()
    call()
    return clock() - start


def train_peer(documents: list[str]) -> tokenizers.Tokenizer:
    """Train Hugging Face's tokenizer as ours is trained."""
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    peer.pre_tokenizer = byte_level
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=SIZE,
        special_tokens=[END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    peer.train_from_iterator(documents, trainer)
    return peer


def tiktoken_of(tokenizer: Tokenizer) -> tiktoken.Encoding:
    """Give tiktoken our vocabulary."""
    plain = tokenizer.vocabulary[: 256 + len(tokenizer.merges)]
    return tiktoken.Encoding(
        "ours",
        pat_str=PATTERNS[tokenizer.pattern],
        mergeable_ranks={token: number for number, token in enumerate(plain)},
        special_tokens=tokenizer.special_ids,
    )


def untrained_copy(tokenizer: Tokenizer) -> Tokenizer:
    """Return the same tokenizer with nothing remembered."""
    return Tokenizer(tokenizer.merges, tokenizer.special_tokens, tokenizer.pattern)


def pieces_of(text: str) -> Iterator[str]:
    for start in range(0, len(text), PIECE_CHARACTERS):
        yield text[start : start + PIECE_CHARACTERS]


def exhaust(ids: Iterator[int]) -> None:
    for _ in ids:
        pass


def training_rounds(documents: list[str]) -> dict[str, float]:
    seconds: dict[str, list[float]] = {"ours": [], "tokenizers": []}
    for _ in range(ROUNDS):
        seconds["ours"].append(seconds_of(lambda: Tokenizer.train(documents, SIZE, [END])))
        seconds["tokenizers"].append(seconds_of(lambda: train_peer(documents)))
    return {name: statistics.median(times) for name, times in seconds.items()}


def encoding_rounds(
    tokenizer: Tokenizer, peer: tokenizers.Tokenizer, text: str
) -> dict[str, float]:
    """Return median seconds; each round starts with tokenizers as if newly loaded."""
    peer_json, seconds = peer.to_str(), {}
    openai = tiktoken_of(tokenizer)
    documents = text.split(END)
    for _ in range(ROUNDS):
        ours, streaming = untrained_copy(tokenizer), untrained_copy(tokenizer)
        hugging_face = tokenizers.Tokenizer.from_str(peer_json)
        calls: dict[str, Callable[[], Any]] = {
            "cold": lambda ours=ours: ours.encode(text),
            "warm": lambda ours=ours: ours.encode(text),
            "stream": lambda ours=streaming: exhaust(ours.encode_iterable(pieces_of(text))),
            "tokenizers": lambda peer=hugging_face: [peer.encode(one).ids for one in documents],
            "tiktoken": lambda: openai.encode(text, allowed_special="all"),
        }
        for name, call in calls.items():
            seconds.setdefault(name, []).append(seconds_of(call))
    return {name: statistics.median(times) for name, times in seconds.items()}


def peak_of_stream(tokenizer: Tokenizer, text: str) -> int:
    """Return the bytes that streaming takes at its peak, once the words are remembered."""
    tokenizer.encode(text)
    tracemalloc.start()
    exhaust(tokenizer.encode_iterable(pieces_of(text)))
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak_bytes


def counting_rounds(path: Path) -> dict[int, float]:
    splitter = Splitter("gpt2", [END])
    seconds: dict[int, list[float]] = {1: [], 2: []}
    for _ in range(3):
        for workers, times in seconds.items():
            count = functools.partial(count_file, path, splitter, workers)
            times.append(seconds_of(count, time.perf_counter))
    return {workers: statistics.median(times) for workers, times in seconds.items()}


def row(what: str, aim: str, measured: str, met: bool) -> None:
    print(f"| {what} | {aim} | {measured} | {'yes' if met else 'no'} |", flush=True)


def main() -> None:
    parser_of(__doc__).parse_args()
    versions = ", ".join(f"{name.__name__} {name.__version__}" for name in (tokenizers, tiktoken))
    print(f"CPython {platform.python_version()}, {platform.machine()}, {versions}")
    text, other = texts_here(TEXT_CHARACTERS)
    documents = text.split(END)
    distinct = len(set(regex.findall(PATTERNS["gpt2"], text)))
    print(f"{len(text):,} characters with {distinct:,} different words")
    assert distinct >= 50_000, "the text is too uniform to say anything"
    print("\n| what | aim | measured | met |\n| --- | --- | --- | --- |")

    training = training_rounds(documents)
    ratio = training["ours"] / training["tokenizers"]
    measured = f"{ratio:.2f} times: {training['ours']:.2f} s, {training['tokenizers']:.2f} s"
    row("training, time of `tokenizers`", "at most 3 times", measured, ratio <= 3)

    tokenizer, peer = Tokenizer.train(documents, SIZE, [END]), train_peer(documents)
    seconds = encoding_rounds(tokenizer, peer, other)
    speed = {name: len(other.encode()) / time / 1e6 for name, time in seconds.items()}
    for name, peer_name, aim in (("cold", "tokenizers", 2.0), ("cold", "tiktoken", 0.4)):
        ratio = speed[name] / speed[peer_name]
        measured = f"{ratio:.2f} times: {speed[name]:.1f} MB/s, {speed[peer_name]:.1f} MB/s"
        what = f"encoding, throughput of `{peer_name}`"
        row(what, f"at least {aim:g} times", measured, ratio >= aim)
    print(f"| encoding, words remembered | | {speed['warm']:.1f} MB/s | |")
    ratio = seconds["stream"] / seconds["cold"]
    row("streaming, time of whole-text", "at most 1.2 times", f"{ratio:.2f} times", ratio <= 1.2)
    peaks = [peak_of_stream(tokenizer, other[: len(other) // part]) / 1e6 for part in (4, 1)]
    measured = f"{peaks[0]:.1f} MB for a quarter, {peaks[1]:.1f} MB for the whole"
    row("streaming, peak memory", "constant", measured, peaks[1] < 1.2 * peaks[0] + 1)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stories.txt"
        with path.open("w", encoding="ascii") as file:
            file.writelines(stories.pieces(LARGE_BYTES))
        counting = counting_rounds(path)
    ratio = counting[1] / counting[2]
    measured = f"{ratio:.2f} times: {counting[1]:.1f} s, {counting[2]:.1f} s"
    row("counting 100 MB with 2 processes", "at least 1.6 times", measured, ratio >= 1.6)


if __name__ == "__main__":
    sys.exit(main())
