"""The command line: `python -m lecture.tokenizer train|encode|decode|show|inspect ...`.

`-` stands for standard input, and for standard output. What the commands say about their work then
goes to standard error.
"""

import argparse
import codecs
import contextlib
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from lecture.tokenizer.core import Tokenizer
from lecture.tokenizer.counting import read_text
from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.files import check_place, escape, replacing
from lecture.tokenizer.progress import ProgressBar
from lecture.tokenizer.splitting import PATTERNS
from lecture.tokenizer.token_files import IDS_AT_ONCE, id_type, read_ids, write_ids

LONGEST_SHOWN = 10
STANDARD = Path("-")
BACKGROUNDS = ("\x1b[30;46m", "\x1b[30;43m")
PLAIN = "\x1b[0m"


VOCABULARY = (
    "what train wrote; or a tokenizer.json, a merges.txt or vocab.bpe with its ids beside it, or "
    "a folder with such files"
)


def _build_parser() -> argparse.ArgumentParser:  # @stepover
    """Return the parser of the commands."""
    parser = argparse.ArgumentParser(
        prog="python -m lecture.tokenizer", description="A byte-level BPE tokenizer."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, what: str, file: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=what, description=what)
        sub.add_argument("file", type=Path, metavar="FILE", help=file)
        return sub

    train = command("train", "learn a vocabulary from text", "UTF-8 text, of any size; - reads it")
    train.add_argument("-o", "--output", type=Path, help="the vocabulary; default FILE.vocab")
    train.add_argument("--size", type=int, default=10_000, help="tokens in all; default 10000")
    train.add_argument(
        "--special", action="append", default=[], metavar="TEXT", help="a special token; repeatable"
    )
    train.add_argument("--pattern", choices=PATTERNS, default="gpt2", help="default gpt2")
    train.add_argument(
        "--workers",
        type=int,
        default=1,
        help="processes that count, each from one special token to another; default 1",
    )

    encode = command(
        "encode", "turn text into a file of ids", "UTF-8 text, of any size; - reads it"
    )
    encode.add_argument(
        "-o", "--output", type=Path, help="the ids; default FILE.ids, or - where FILE is -"
    )
    decode = command("decode", "turn a file of ids into text", "what encode wrote; - reads it")
    decode.add_argument("-o", "--output", type=Path, help="the text; default: print it")
    what = "show a text with its tokens marked, and their ids"
    show = commands.add_parser("show", help=what, description=what)
    show.add_argument("text", nargs="*", metavar="TEXT", help="default: read it")
    for sub in (encode, decode, show):
        sub.add_argument("-v", "--vocabulary", type=Path, required=True, help=VOCABULARY)
    inspect = command("inspect", "describe a vocabulary", VOCABULARY)
    inspect.add_argument("--text", type=Path, help="also say how well it compresses this text")
    return parser


def main(arguments: Sequence[str]) -> int:  # @stepover
    """Run a command; return the exit status."""
    options = _build_parser().parse_args(arguments)
    bar = ProgressBar()
    commands = {
        "train": train,
        "encode": encode,
        "decode": decode,
        "show": show,
        "inspect": inspect,
    }
    try:
        commands[options.command](options, bar)
    except BrokenPipeError:  # as `| head` does when it has seen enough
        sys.stdout = None  # type: ignore[assignment]  # nothing is left to flush
        return 1
    except (TokenizerError, OSError) as error:
        bar.clear()
        is_of_file = isinstance(error, OSError) and error.filename is not None
        print(f"{error.filename}: {error.strerror}" if is_of_file else error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        bar.clear()
        print("interrupted; no file was written", file=sys.stderr)
        return 130
    return 0


def train(options: argparse.Namespace, bar: ProgressBar) -> None:  # @stepover
    """Learn a vocabulary, write it and describe it."""
    if STANDARD in (options.file, options.output) and options.output in (None, STANDARD):
        raise TokenizerError("a vocabulary is written to a file: give -o FILE")
    output = output_of(options, ".vocab")
    with readable(options.file) as text:
        start_seconds = time.perf_counter()
        tokenizer = Tokenizer.train(
            text,
            options.size,
            options.special,
            options.pattern,
            workers=options.workers,
            progress=bar,
        )
        seconds = time.perf_counter() - start_seconds
        size = text.stat().st_size
    tokenizer.save(output)
    bar.clear()
    print(f"{output}: {describe_speed(size, seconds)}")
    if len(tokenizer) < options.size:
        print(f"fewer tokens than {options.size:,}: every word of the text is one token")
    describe(tokenizer)


def encode(options: argparse.Namespace, bar: ProgressBar) -> None:  # @stepover
    """Write the ids of a text, and say how well it was compressed and how fast."""
    tokenizer = Tokenizer.load(options.vocabulary)
    output = output_of(options, ".ids")
    if output == STANDARD and sys.stdout.isatty():
        raise TokenizerError("ids are no text: give -o FILE or a pipe, or see them with show")
    with readable(options.file) as text, writable(output) as place:
        start_seconds = time.perf_counter()
        ids = tokenizer.encode_iterable(watched_text(text, bar))
        token_count = write_ids(place, ids, len(tokenizer))
        seconds = time.perf_counter() - start_seconds
        size = text.stat().st_size
    bar.clear()
    bits = 8 * id_type(len(tokenizer)).itemsize
    said = sys.stderr if output == STANDARD else sys.stdout
    ratio = describe_ratio(size, token_count)
    print(f"{output}: {token_count:,} ids of {bits} bits, {ratio}", file=said)
    print(describe_speed(size, seconds), file=said)


def decode(options: argparse.Namespace, bar: ProgressBar) -> None:  # @stepover
    """Write the text of a file of ids, or print it."""
    tokenizer = Tokenizer.load(options.vocabulary)
    with readable(options.file) as path:
        ids = read_ids(path, len(tokenizer))
        if options.output in (None, STANDARD):
            for text in decoded_text(tokenizer, ids, bar):
                sys.stdout.write(text)
            return
        start_seconds = time.perf_counter()
        with replacing(options.output) as file:
            for text in decoded_text(tokenizer, ids, bar):
                file.write(text.encode())
        seconds = time.perf_counter() - start_seconds
    bar.clear()
    print(f"{options.output}: {describe_speed(options.output.stat().st_size, seconds)}")


def show(options: argparse.Namespace, bar: ProgressBar) -> None:  # @stepover
    """Print a text with its tokens marked, in colours on a terminal, and the ids below it."""
    tokenizer = Tokenizer.load(options.vocabulary)
    with readable(STANDARD) if not options.text else contextlib.nullcontext() as path:
        text = " ".join(options.text) if path is None else "".join(read_text(path))
    for line in text.splitlines() or [""]:
        ids = tokenizer.encode(line)
        print(marked([tokenizer.vocabulary[number] for number in ids], sys.stdout.isatty()))
        print(*ids)
        plural = "s" * (len(ids) != 1)
        print(f"{len(ids)} token{plural}, {describe_ratio(len(line.encode()), len(ids))}")


def inspect(options: argparse.Namespace, bar: ProgressBar) -> None:  # @stepover
    """Describe a vocabulary, and what it does to a text."""
    tokenizer = Tokenizer.load(options.file)
    describe(tokenizer)
    if options.text is not None:
        with readable(options.text) as text:
            start_seconds = time.perf_counter()
            token_count = sum(1 for _ in tokenizer.encode_iterable(watched_text(text, bar)))
            seconds = time.perf_counter() - start_seconds
            size = text.stat().st_size
        bar.clear()
        print(f"{options.text}: {token_count:,} tokens, {describe_ratio(size, token_count)}")
        print(describe_speed(size, seconds))


def marked(tokens: Sequence[bytes], coloured: bool) -> str:
    """Write tokens beside each other, with spaces that can be seen."""
    words = [escape(token).replace("\\s", "␣") for token in tokens]
    if not coloured:
        return "|".join(words)
    return "".join(f"{BACKGROUNDS[n % 2]}{word}{PLAIN}" for n, word in enumerate(words))


@contextlib.contextmanager
def readable(path: Path) -> Iterator[Path]:
    """Give a file to read; what standard input has is kept in one while it is needed."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "standard input"
        with copied.open("wb") as file:
            shutil.copyfileobj(sys.stdin.buffer, file)
        yield copied


@contextlib.contextmanager
def writable(path: Path) -> Iterator[Path]:
    """Give a place to write to; what is meant for standard output goes there at the end."""
    if path != STANDARD:
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "standard output"
        yield written
        with written.open("rb") as file:
            shutil.copyfileobj(file, sys.stdout.buffer)


def output_of(options: argparse.Namespace, ending: str) -> Path:
    """Return where to write; what makes that impossible is said before the work, not after it."""
    if options.file != STANDARD:
        options.file.open("rb").close()
        output: Path = options.output or options.file.with_name(options.file.name + ending)
    else:
        output = options.output or STANDARD
    if output != STANDARD:
        check_place(output)
    return output


def watched_text(path: Path, bar: ProgressBar) -> Iterator[str]:
    """Return the text of a file, block by block, and show how much of it has been read."""
    total_bytes = path.stat().st_size
    return read_text(path, progress=lambda done_bytes: bar("encoding", done_bytes, total_bytes))


def decoded_text(tokenizer: Tokenizer, ids: Sequence[int], bar: ProgressBar) -> Iterator[str]:
    """Yield the text of ids, some at a time; a character may be spread over two times."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for start in range(0, len(ids), IDS_AT_ONCE):
        yield decoder.decode(tokenizer.decode_bytes(map(int, ids[start : start + IDS_AT_ONCE])))
        bar("decoding", min(start + IDS_AT_ONCE, len(ids)), len(ids))
    yield decoder.decode(b"", True)


def describe_ratio(size: int, token_count: int) -> str:
    """Say how many bytes a token stands for."""
    return f"{size / token_count:.3f} bytes per token" if token_count else "no tokens"


def describe_speed(size: int, seconds: float) -> str:
    """Say how many bytes there were and how many of them in a second."""
    return f"{size:,} bytes in {seconds:.2f} s, {size / seconds:,.0f} bytes/s"


def describe(tokenizer: Tokenizer) -> None:
    """Print what a vocabulary consists of, its longest tokens, and how long tokens are."""
    merges, special = len(tokenizer.merges), len(tokenizer.special_tokens)
    print(f"{len(tokenizer):,} tokens: 256 bytes, {merges:,} merges, {special} special")
    print(
        f"split pattern {tokenizer.pattern}; ids fit into {id_type(len(tokenizer)).itemsize} bytes"
    )
    learnt = [token for token in tokenizer.tokens if len(token) > 1]
    longest = sorted(learnt, key=len, reverse=True)[:LONGEST_SHOWN]
    print("longest tokens: " + (" ".join(map(escape, longest)) or "none"))
    lengths = Counter(map(len, learnt))
    by_length = ", ".join(f"{n}: {lengths[n]:,}" for n in sorted(lengths))
    print("tokens of n bytes: " + (by_length or "none"))
    if special:
        print("special tokens: " + " ".join(escape(t.encode()) for t in tokenizer.special_tokens))
