"""The command line of `python -m lecture.train`."""

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import FrameType
from typing import NoReturn

import jaxtyping
import torch

from lecture.tokenizer import TokenizerError
from lecture.tokenizer.progress import ProgressBar
from lecture.train import checkpoints, metrics
from lecture.train.config import CONFIGS, read_config
from lecture.train.corpus import Corpus, open_corpus, prepare
from lecture.train.errors import LostProcessError, TrainingError
from lecture.train.judging import judge, levels_for, promised_flops_per_second, step_flops, tell
from lecture.train.loop import Run, train
from lecture.train.parallel import Alone, join

DEVICES = ("auto", "cpu", "cuda", "mps")
LOG, PICTURE = "metrics.jsonl", "metrics.svg"


def _build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lecture.train", description="Train a language model."
    )
    add = parser.add_argument
    add("--config", default="lecture", help=f"a TOML file or one of {', '.join(CONFIGS)}")
    add("--text", type=Path, metavar="FILE", help="UTF-8 text to learn from; default: stories")
    add("--output", type=Path, metavar="FOLDER", help="where to write; default runs/CONFIG")
    add("--device", choices=DEVICES, default="auto")
    add("--precision", choices=("auto", "fp32", "bf16"), default="auto", help="of products")
    add("--compile", action="store_true", help="fuse operations with torch.compile")
    add("--resume", action="store_true", help="go on from the newest checkpoint")
    add("--save-every", type=int, default=100, metavar="STEPS", help="default 100")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; return the exit status."""
    options = _build_parser().parse_args(arguments)
    try:
        run_command(options)
    except LostProcessError as error:
        print(error, file=sys.stderr)
        return 1
    except (TrainingError, TokenizerError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; --resume goes on from the newest checkpoint", file=sys.stderr)
        return 130
    return 0


def run_command(options: argparse.Namespace) -> None:
    """Prepare everything, train, and say what came of it."""
    if options.save_every < 1:
        raise TrainingError(f"--save-every has to be at least 1, and is {options.save_every}")
    config = read_config(options.config)
    folder = options.output or Path("runs", Path(options.config).stem)
    device = choose_device(options.device)
    precision = choose_precision(options.precision, device)
    _make_reproducible()
    if options.resume and options.text:
        raise TrainingError(f"--resume goes on with the tokens in {folder}; leave out --text")
    group = join(device)
    before = signal.signal(signal.SIGTERM, ended_from_outside)
    try:
        if group.rank == 0 and not options.resume:
            refuse_to_overwrite(folder)
            folder.mkdir(parents=True, exist_ok=True)
            prepare(folder, config.vocabulary, options.text)
        group.wait()
        run = Run(config, device)
        if options.resume:
            run.load_state_dict(checkpoints.load(checkpoints.newest(folder)))
        corpus = open_corpus(folder)
        if options.compile:
            compile_model(run)
        train_and_report(run, corpus, folder, group, precision, options.save_every)
    finally:
        group.leave()
        signal.signal(signal.SIGTERM, before)


def ended_from_outside(number: int, frame: FrameType | None) -> NoReturn:
    """Leave in order when asked to; `torchrun` asks when another process has failed."""
    raise LostProcessError("ended from outside; --resume goes on from the newest checkpoint")


def choose_device(name: str) -> torch.device:
    """Return the device of this name, or the fastest there is; each process has its own GPU."""
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next((kind for kind, is_there in there.items() if is_there), "cpu")
    if not there.get(name, True):
        raise TrainingError(f"there is no {name} device here; --device auto takes what there is")
    if name == "cuda":
        torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", "0")))
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device(name)


def choose_precision(name: str, device: torch.device) -> str:
    """Take bf16 where the device is built for it."""
    if name != "auto":
        return name
    return "bf16" if device.type == "cuda" and torch.cuda.is_bf16_supported() else "fp32"


def _make_reproducible() -> None:
    """Add up in a fixed order wherever there is a way to."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.use_deterministic_algorithms(True, warn_only=True)


def refuse_to_overwrite(folder: Path) -> None:
    """Protect the run that is there."""
    if checkpoints.checkpoints_in(folder):
        raise TrainingError(
            f"{folder} has checkpoints of a run; add --resume or choose another --output"
        )


def compile_model(run: Run) -> None:
    """Let PyTorch fuse operations. Checks of shapes would cut the model into small pieces."""
    jaxtyping.config.update("jaxtyping_disable", True)
    run.forward = torch.compile(run.model)


def train_and_report(
    run: Run, corpus: Corpus, folder: Path, group: Alone, precision: str, save_every: int
) -> None:
    """Train to the end, with a log and checkpoints; only the first process writes."""
    config, log = run.config, folder / LOG
    bar = ProgressBar()
    if group.rank == 0:
        metrics.forget_after(log, run.step)
        print(describe(run, corpus, group, precision))
    flops, promised = step_flops(config), promised_flops_per_second(run.device, precision)
    try:
        start_seconds = time.perf_counter()
        for step in train(run, corpus.training, group, precision):
            seconds = time.perf_counter() - start_seconds
            if group.rank == 0:
                row = asdict(step) | {"tokens_per_second": config.step_tokens / seconds}
                if promised is not None:
                    row["mfu"] = flops / seconds / (promised * group.size)
                metrics.append_row(log, row)
                bar("training", step.step, config.steps)
                if step.step % save_every == 0 or step.step == config.steps:
                    checkpoints.save(checkpoints.path_for(folder, step.step), run.state_dict())
                    checkpoints.keep_newest(folder, 2)
            start_seconds = time.perf_counter()
    finally:
        bar.clear()
    if group.rank == 0:
        report(run, corpus, folder)


def describe(run: Run, corpus: Corpus, group: Alone, precision: str) -> str:
    """Say what is about to happen."""
    parameters = sum(weight.numel() for weight in run.model.parameters())
    return (
        f"{parameters:,} parameters, {len(corpus.training):,} tokens, {run.device} in {precision}, "
        f"{group.size} process{'es' * (group.size > 1)}, steps {run.step} to {run.config.steps}"
    )


def report(run: Run, corpus: Corpus, folder: Path) -> None:
    """Judge the model by text it has not seen, draw the log, and let it tell something."""
    found = judge(run, corpus)
    rows = metrics.read_rows(folder / LOG)
    svg = metrics.picture(rows, levels_for(corpus))
    (folder / PICTURE).write_text(svg, encoding="utf-8")
    print(f"validation loss {found.nats_per_token:.4f} nats per token, ", end="")
    print(f"{found.nats_per_byte:.4f} nats per byte")
    print(f"{folder / LOG}, {folder / PICTURE}, {checkpoints.newest(folder)}")
    print(tell(run, corpus))
