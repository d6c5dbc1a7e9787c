"""Our model in the shape of GPT-2 XL, and what the meter finds in a model."""

import functools
from dataclasses import dataclass, replace
from typing import Any

import torch

from lecture.lib.presets import PRESETS
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import TransformerConfig, TransformerLM, cross_entropy
from trace.costs import measure

XL = PRESETS["gpt2-xl"]
LONG_XL = replace(XL, context=16 * XL.context)


@dataclass(frozen=True)
class Measured:
    """What the meter finds in one model and one step, forward and back."""

    model: TransformerLM
    building: Any  # what the meter found, as are the others
    forward: Any
    backward: Any
    kept_bytes: dict[str, int]  # by what they are for, when the loss has been computed
    peak_bytes: int  # the most on the way forward and back

    @property
    def parameters(self) -> int:  # @stepover
        return sum(weight.numel() for weight in self.model.parameters())

    @property
    def forward_flops(self) -> int:  # @stepover
        return self.forward.matmul_flops

    @property
    def backward_flops(self) -> int:  # @stepover
        return self.backward.matmul_flops


def measured(
    config: TransformerConfig, texts: int = 1, dtype: torch.dtype = torch.float32
) -> Measured:  # @stepover
    """Build a model without numbers, send full contexts through it and back, and measure.

    A model of 48 layers takes a second. So each is built and measured only once, and all who ask
    get the same one, with its gradients.
    """
    return _measured(config, texts, dtype)


@functools.cache  # it tells `f(x)` from `f(x, 1)`, so this one has no defaults
def _measured(config: TransformerConfig, texts: int, dtype: torch.dtype) -> Measured:
    with measure() as building:
        model = TransformerLM(config, device="meta", dtype=dtype)
    tokens = torch.zeros(texts, config.context, dtype=torch.int64, device="meta")
    with without_checks(), measure() as step:  # 48 layers alike; they take a sixth of the time
        with measure() as forward:
            loss = cross_entropy(model(tokens), tokens)
        kept_bytes = step.live_bytes
        with measure() as backward:
            loss.backward()
    return Measured(model, building, forward, backward, kept_bytes, step.peak_bytes)
