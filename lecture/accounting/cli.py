"""The command line: `python -m lecture.accounting --shape gpt2-xl`."""

import argparse
import json
import math
import sys
from collections.abc import Sequence
from dataclasses import replace

from lecture.accounting.memory import ATTENTION, OPTIMIZERS, PRECISIONS
from lecture.accounting.sheet import GIB, Plan, lines_of, sheet_of
from lecture.facts import ACCELERATORS
from lecture.lib.presets import PRESETS
from lecture.lib.transformer import TransformerConfig

SIZES = {
    "layers": "blocks, L",
    "width": "features of a token, D",
    "heads": "attention heads, H",
    "feed_forward": "features inside a feed-forward network, F",
    "vocabulary": "entries of the vocabulary, V",
    "context": "tokens of a sequence, T",
}
VARIATIONS = {
    "key_value_heads": "heads of keys and values, shared by the others; default as many as heads",
    "experts": "feed-forward networks in each layer; default 1",
    "active_experts": "of which each token passes so many; default 1",
}
CARDS = {card.name.lower().replace(" ", "-"): card for card in ACCELERATORS.values()}


def _build_parser() -> argparse.ArgumentParser:  # @stepover
    parser = argparse.ArgumentParser(
        prog="python -m lecture.accounting",
        description="What the Transformer of this lecture costs (lecture/lib/transformer.py): "
        "parameters, FLOPs, memory and days of training.",
    )
    model = parser.add_argument_group("the model: a shape, or all sizes, or a shape and changes")
    model.add_argument("--shape", choices=PRESETS, help="sizes that are known by a name")
    for name, meaning in (SIZES | VARIATIONS).items():
        model.add_argument(f"--{name.replace('_', '-')}", type=int, metavar="N", help=meaning)
    model.add_argument(
        "--tied",
        action=argparse.BooleanOptionalAction,
        help="whether the LM head is the embedding matrix; default no",
    )
    training = parser.add_argument_group("training")
    training.add_argument("--batch", type=int, default=1, metavar="N", help="sequences; default 1")
    training.add_argument(
        "--micro-batches", type=int, default=1, metavar="N", help="parts of a batch; default 1"
    )
    training.add_argument(
        "--precision",
        choices=PRECISIONS,
        default="bf16",
        help="bf16, the default: fp32 weights and products in bf16, as lecture.train does it; "
        "bf16-weights: a model in bf16",
    )
    training.add_argument(
        "--optimizer",
        choices=OPTIMIZERS,
        default="adamw",
        help="default adamw, one weight after the other; adamw-foreach is PyTorch's on a GPU",
    )
    training.add_argument(
        "--attention", choices=ATTENTION, default="written-out", help="default written-out"
    )
    training.add_argument(
        "--tokens",
        type=float,
        metavar="N",
        help="in the whole training, such as 3e11; default 20 for each active parameter",
    )
    device = parser.add_argument_group("the device")
    device.add_argument("--accelerator", choices=CARDS, help="its memory and its rate are known")
    device.add_argument("--devices", type=int, default=1, metavar="N", help="default 1")
    device.add_argument(
        "--shard-state", action="store_true", help="divide the optimizer's state among the devices"
    )
    device.add_argument("--memory-gib", type=float, metavar="X", help="instead of the card's")
    device.add_argument(
        "--mfu", type=float, default=0.4, metavar="X", help="share of the peak; default 0.4"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser


def main(arguments: Sequence[str]) -> int:  # @stepover
    """Print the sheet; return the exit status."""
    options = _build_parser().parse_args(arguments)
    try:
        sheet = sheet_of(_plan_of(options))
        text = json.dumps(sheet, indent=2) if options.json else "\n".join(lines_of(sheet))
    except OverflowError:
        print("These sizes are too large to compute with.", file=sys.stderr)
        return 2
    except ValueError as error:
        print(error, file=sys.stderr)
        return 2
    try:
        print(text, flush=True)
    except BrokenPipeError:  # as `| head` does when it has seen enough
        sys.stdout = None  # nothing is left to flush
        return 1
    return 0


def _plan_of(options: argparse.Namespace) -> Plan:  # @stepover
    """Put the options together."""
    return Plan(
        config=_config_of(options),
        batch=options.batch,
        micro_batches=options.micro_batches,
        precision=options.precision,
        optimizer=options.optimizer,
        attention=options.attention,
        accelerator=CARDS.get(options.accelerator),
        devices=options.devices,
        shard_state=options.shard_state,
        memory_bytes=_whole("--memory-gib", options.memory_gib, GIB),
        mfu=options.mfu,
        training_tokens=_whole("--tokens", options.tokens),
    )


def _config_of(options: argparse.Namespace) -> TransformerConfig:  # @stepover
    """Take the sizes from the shape, unless they are given; and what is varied."""
    given = {name: getattr(options, name) for name in (*SIZES, *VARIATIONS, "tied")}
    given = {name: size for name, size in given.items() if size is not None}
    if options.shape:
        return replace(PRESETS[options.shape], **given)
    if missing := [f"--{name.replace('_', '-')}" for name in SIZES if name not in given]:
        raise ValueError(f"Give --shape, or all sizes; what is missing: {', '.join(missing)}.")
    return TransformerConfig(**given)


def _whole(name: str, value: float | None, unit: int = 1) -> int | None:  # @stepover
    """Turn an amount into a whole number of its unit's parts."""
    if value is None:
        return None
    if not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, not {value}.")
    return int(value * unit)
