"""GPT-2 XL, and what the meter finds in a model."""

import functools
from dataclasses import dataclass, replace

import torch

from lecture.accounting.presets import PRESETS
from lecture.lib.transformer import TransformerConfig, TransformerLM
from trace.costs import measure

XL = PRESETS["gpt2-xl"]
LONG_XL = replace(XL, context=16 * XL.context)


@dataclass(frozen=True)
class Measured:
    """What the meter finds in one model and one step."""

    parameters: int
    forward_flops: int
    backward_flops: int


@functools.cache
def measured(config: TransformerConfig) -> Measured:  # @stepover
    """Build a model without numbers, send a full context through it and back, and count."""
    model = TransformerLM(config, device="meta")
    tokens = torch.zeros(1, config.context, dtype=torch.int64, device="meta")
    with measure() as forward:
        logits = model(tokens)
    with measure() as backward:
        logits.mean().backward()
    numel = sum(weight.numel() for weight in model.parameters())
    return Measured(numel, forward.matmul_flops, backward.matmul_flops)
