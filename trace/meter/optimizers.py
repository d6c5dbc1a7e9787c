"""Optimizers, and what they keep. Needs torch."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from ..own_builtins import use_own_builtins
from .traffic import tensors
from .unseen import Tell, Watch, never_compiled

use_own_builtins(globals())

_SETTINGS = ("param_groups", "defaults")


@contextlib.contextmanager
def _made_optimizers(tell: Tell) -> Iterator[None]:
    kind: Any = torch.optim.Optimizer
    prepare = kind._patch_step_function  # by which each begins that is made, copied or loaded

    @never_compiled
    def prepare_telling(self: Any) -> None:
        prepare(self)
        tell(self)

    kind._patch_step_function = prepare_telling
    try:
        yield
    finally:
        kind._patch_step_function = prepare


made_optimizers = Watch(_made_optimizers)
"""Each optimizer that is made while somebody listens, and each that gets the state of another."""


def kept_by(optimizer: Any) -> Iterator[Any]:
    """Yield the tensors in the `state` of an optimizer, and in other attributes that its author
    gave it; but not its settings, nor what it trains."""
    kept = [value for name, value in vars(optimizer).items() if name not in _SETTINGS]
    return (tensor for tensor in tensors(kept) if not tensor.requires_grad)
