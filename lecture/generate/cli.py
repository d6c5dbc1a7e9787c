"""The command line of `python -m lecture.generate`: from a prompt to a text, as it is written."""

import argparse
import codecs
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import torch

from lecture import stories
from lecture.lib.generation import stream
from lecture.tokenizer import Tokenizer, TokenizerError
from lecture.train import checkpoints, sharding
from lecture.train.config import config_from
from lecture.train.corpus import VOCABULARY
from lecture.train.errors import TrainingError
from lecture.train.loop import Run
from lecture.train.session import check, newest


def _build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lecture.generate", description="Let a trained model write."
    )
    add = parser.add_argument
    add("run", type=Path, metavar="FOLDER", help="where lecture.train wrote to")
    add("--prompt", default="", help="the text to go on from; default: the beginning of a text")
    add("--tokens", type=int, metavar="N", help="at most; default: until the context is full")
    add("--temperature", type=float, default=0.8, metavar="X", help="0: most likely; default 0.8")
    add("--top-p", type=float, default=0.95, metavar="P", help="leave out the rest; default 0.95")
    add("--seed", type=int, default=0, help="another seed, another text; default 0")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Write as the arguments say; return the exit status."""
    options = _build_parser().parse_args(arguments)
    try:
        print(options.prompt, end="", flush=True)
        for piece in pieces(options):
            print(piece, end="", flush=True)
    except (TrainingError, TokenizerError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print()
        return 130
    print()
    return 0


def pieces(options: argparse.Namespace) -> Iterator[str]:
    """Yield the text as it is written, until the model ends it or there is no room for more."""
    run, tokenizer = open_run(options.run)
    end = tokenizer.special_ids.get(stories.END)
    first = [] if end is None else [end]  # texts stand behind the end of another
    prompt = first + tokenizer.encode(options.prompt)
    room = run.config.context - len(prompt)
    count = room if options.tokens is None else options.tokens
    if room < 1:
        raise TrainingError(
            f"a prompt of {len(prompt)} tokens leaves no room in a context of {run.config.context}"
        )
    generator = torch.Generator().manual_seed(options.seed)
    # A character may come in several tokens.
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    for drawn in stream(
        run.model,
        torch.tensor([prompt]),
        count,
        temperature=options.temperature,
        top_p=options.top_p,
        generator=generator,
    ):
        token = int(drawn)
        if token == end:
            break
        # A model may have room for more tokens than a short text has.
        if token < len(tokenizer):
            yield decoder.decode(tokenizer.decode_bytes([token]))
    yield decoder.decode(b"", final=True)


def open_run(folder: Path) -> tuple[Run, Tokenizer]:
    """Return the newest state of a run, on the CPU, and its tokenizer."""
    if not folder.is_dir():
        raise TrainingError(f"there is no folder {folder}; python -m lecture.train makes one")
    path = newest(folder)
    check(path)
    tokenizer = Tokenizer.load(folder / VOCABULARY)
    is_sharded = path.suffix == sharding.SUFFIX
    state = checkpoints.load(path / sharding.REST if is_sharded else path)
    run = Run(config_from(state["config"]))
    if is_sharded:
        sharding.load(path, run)
    else:
        run.load_state_dict(state)
    return run, tokenizer
