"""What a run is compared with: text it has not seen, simpler models, and the peak of its device."""

import math
from dataclasses import dataclass

import torch

from lecture import stories
from lecture.lib.generation import generate
from lecture.lib.hardware import accelerator_named
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import TransformerLM
from lecture.train.config import TrainingConfig
from lecture.train.corpus import Corpus
from lecture.train.loop import Run
from lecture.train.scoring import model_nats, pair_nats, uniform_nats
from trace.costs import measure

TOKENS_ON_THE_WAY = 8192


@dataclass(frozen=True)
class Judgement:
    """What the validation text costs, on average."""

    nats_per_token: float
    nats_per_byte: float


def validation_loss(run: Run, corpus: Corpus) -> float:
    """Return the loss on the beginning of the validation text, in nats per token.

    It is for a look on the way: a fixed piece, the same each time, and so short that it costs
    little beside the steps between two looks.
    """
    some = corpus.validation[:TOKENS_ON_THE_WAY]
    with without_checks():  # the shapes are those of the step before
        return float(model_nats(run.model, some, corpus.end).double().mean())


def judge(run: Run, corpus: Corpus) -> Judgement:
    """Let the model read the validation text."""
    with without_checks():
        nats = float(model_nats(run.model, corpus.validation, corpus.end).double().sum())
    text_bytes = len(corpus.tokenizer.decode_bytes(corpus.validation.tolist()))
    return Judgement(nats / len(corpus.validation), nats / text_bytes)


def levels_for(corpus: Corpus) -> dict[str, float]:
    """Return what the validation text costs others, in nats per token; smaller is better."""
    size, tokens = len(corpus.tokenizer), corpus.validation
    pairs = pair_nats(corpus.training, tokens, corpus.end, size)
    levels = {"uniform": uniform_nats(size), "pairs": float(pairs.mean())}
    whole = [*map(int, (tokens == corpus.end).nonzero()[0])]
    if len(whole) > 1:
        told = tokens[whole[0] + 1 : whole[-1] + 1]
        source_bits = stories.bits(corpus.tokenizer.decode(told.tolist()))
        if math.isfinite(source_bits):  # they are our stories: nobody can do better
            levels["source"] = source_bits * math.log(2) / len(told)
    return levels


def step_flops(config: TrainingConfig) -> int:
    """Count the matrix products of a step, forward and twice as much backward.

    On the `meta` device nothing is computed, and the meter counts all the same.
    """
    model = TransformerLM(config.model(), device="meta")
    tokens = torch.zeros(1, config.context, dtype=torch.int64, device="meta")
    with measure() as cost, torch.no_grad():
        model(tokens)
    return 3 * cost.matmul_flops * config.batch


def promised_flops_per_second(device: torch.device, precision: str) -> float | None:
    """Return the peak of the device, if its data sheet is known and has a rate for this format."""
    if device.type != "cuda":
        return None
    try:
        card = accelerator_named(torch.cuda.get_device_name(device))
    except LookupError:
        return None
    return card.dense_flops_per_second.get(precision)


def tell(run: Run, corpus: Corpus) -> str:
    """Let the model write, from where a text ended, until its context is full."""
    has_ends = bool((corpus.validation == corpus.end).any())
    first = corpus.end if has_ends else int(corpus.validation[0])
    start = torch.full((1, 1), first, device=run.device)
    generator = torch.Generator(run.device).manual_seed(run.config.seed)
    [row] = generate(run.model, start, run.config.context - 1, generator=generator).tolist()
    # A short text may have fewer tokens than the model has room for.
    known = len(corpus.tokenizer)
    return corpus.tokenizer.decode(token for token in row[1:] if token < known)
