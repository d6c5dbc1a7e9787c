"""The command line of `python -m lecture.train`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jaxtyping
import torch

from lecture.tokenizer import TokenizerError
from lecture.train import checkpoints
from lecture.train.config import CONFIGS, TrainingConfig, read_config
from lecture.train.corpus import open_corpus, prepare
from lecture.train.ending import EndRequest
from lecture.train.errors import EndedFromOutside, LostProcessError, TrainingError
from lecture.train.loop import Run
from lecture.train.parallel import join
from lecture.train.saving_memory import fuse_attention, recompute_blocks
from lecture.train.session import Plan, all_checkpoints_in, check, go_on, train_and_report
from lecture.train.sharding import shard

DEVICES = ("auto", "cpu", "cuda", "mps")


def _build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m lecture.train", description="Train a language model."
    )
    add = parser.add_argument
    add("--config", default="lecture", help=f"a TOML file or one of {', '.join(CONFIGS)}")
    add("--steps", type=int, help="as many steps, in place of the configuration's")
    add("--text", type=Path, metavar="FILE", help="UTF-8 text to learn from; default: stories")
    add("--output", type=Path, metavar="FOLDER", help="where to write; default runs/CONFIG")
    add("--device", choices=DEVICES, default="auto")
    add("--precision", choices=("auto", "fp32", "bf16"), default="auto", help="of matmuls")
    add("--compile", action="store_true", help="fuse operations with torch.compile")
    add("--attention", choices=("written-out", "fused"), default="written-out", help="how")
    add("--micro-batches", type=int, default=1, metavar="N", help="cut each batch into N parts")
    add("--recompute", action="store_true", help="recompute activations, block by block")
    add(
        "--sharding",
        choices=("none", "full"),
        default="none",
        help="with torchrun: full shares out weights, gradients and state among the processes",
    )
    add(
        "--average",
        choices=("plain", "ddp"),
        default="plain",
        help="with torchrun: who averages gradients, an all-reduce after the backward pass or "
        "PyTorch's DistributedDataParallel during it",
    )
    add("--resume", action="store_true", help="go on from the newest checkpoint")
    add("--save-every", type=int, default=100, metavar="STEPS", help="default 100")
    add("--validate-every", type=int, metavar="STEPS", help="default: a tenth of all steps")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Train as the arguments say; return the exit status."""
    options = _build_parser().parse_args(arguments)
    try:
        run_command(options)
    except (LostProcessError, EndedFromOutside) as error:
        print(error, file=sys.stderr)
        return 1
    except (TrainingError, TokenizerError) as error:
        print(error, file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename}: {error.strerror}" if error.filename else error, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("interrupted; --resume goes on from the newest checkpoint, if any", file=sys.stderr)
        return 130
    return 0


def run_command(options: argparse.Namespace) -> None:
    """Prepare everything, train, and say what came of it."""
    config = read_config(options.config)
    if options.steps is not None:
        config = replace(config, steps=options.steps)
    folder = options.output or Path("runs", Path(options.config).stem)
    device = choose_device(options.device)
    plan = plan_of(options, config, device)
    _make_reproducible()
    if options.resume and options.text:
        raise TrainingError(f"--resume goes on with the tokens in {folder}; leave out --text")
    group = join(device, how_to_join(options))
    request = EndRequest()
    before = signal.signal(signal.SIGTERM, request)
    try:
        if group.rank == 0:
            make_ready(folder, config, options)
        group.wait()
        run = Run(config, device, shard) if group.sharded else Run(config, device)
        if options.resume:
            go_on(run, folder, group)
        corpus = open_corpus(folder)
        if options.attention == "fused":
            fuse_attention(run.model)
        if options.recompute:
            recompute_blocks(run.model)
        run.forward = group.forward_of(run.model)
        if options.compile:
            compile_model(run)
        train_and_report(run, corpus, folder, group, plan, request)
    finally:
        group.leave()
        signal.signal(signal.SIGTERM, before)


def how_to_join(options: argparse.Namespace) -> str:
    """Return how processes share the work; refuse what does not go together."""
    chosen = {
        "--compile": options.compile,
        "--sharding": options.sharding != "none",
        "--average ddp": options.average == "ddp",
    }
    if len(both := [name for name, is_chosen in chosen.items() if is_chosen]) > 1:
        raise TrainingError(f"{both[0]} and {both[1]} do not go together; leave one out")
    if chosen["--sharding"]:
        return "sharded"
    return options.average


def make_ready(folder: Path, config: TrainingConfig, options: argparse.Namespace) -> None:
    """See to it that there are tokens, or a whole checkpoint to go on from."""
    if options.resume:
        for fault in checkpoints.set_damaged_aside(all_checkpoints_in(folder), check):
            print(fault, flush=True)
        return
    refuse_to_overwrite(folder)
    folder.mkdir(parents=True, exist_ok=True)
    print("making tokens of", options.text or "stories", flush=True)
    prepare(folder, config, options.text)


def plan_of(options: argparse.Namespace, config: TrainingConfig, device: torch.device) -> Plan:
    """Return how to train; refuse numbers with which nothing would happen."""
    validate_every = options.validate_every
    if validate_every is None:
        validate_every = max(config.steps // 10, 1)
    counts = {
        "--save-every": options.save_every,
        "--validate-every": validate_every,
        "--micro-batches": options.micro_batches,
    }
    for name, count in counts.items():
        if count < 1:
            raise TrainingError(f"{name} has to be at least 1, and is {count}")
    precision = choose_precision(options.precision, device)
    return Plan(precision, options.micro_batches, options.save_every, validate_every)


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
    """Add up in a fixed order wherever there is a way to, and warn where there is none."""
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    # `torch.use_deterministic_algorithms` sets the same, and imports the compiler to tell it too.
    torch.set_deterministic_debug_mode("warn")


def refuse_to_overwrite(folder: Path) -> None:
    """Protect the run that is there."""
    if all_checkpoints_in(folder):
        raise TrainingError(
            f"{folder} has checkpoints of a run; add --resume or choose another --output"
        )


def compile_model(run: Run) -> None:
    """Let PyTorch fuse operations. Checks of shapes would cut the model into small pieces."""
    jaxtyping.config.update("jaxtyping_disable", True)
    run.forward = torch.compile(run.model)
