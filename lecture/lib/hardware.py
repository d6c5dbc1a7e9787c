"""Which accelerator this is, and how much of what it promises arrives."""

import torch

from lecture.facts import ACCELERATORS, Accelerator


def accelerator_named(device_name: str) -> Accelerator:
    """Look up the card that PyTorch reports under this name."""
    if device_name not in ACCELERATORS:
        raise LookupError(
            f"lecture/facts.py has no data sheet of {device_name!r}; it has those of "
            f"{', '.join(card.name for card in ACCELERATORS.values())}"
        )
    return ACCELERATORS[device_name]


AMPERE = (8, 0)
"""The compute capability of the A100, from which on tensor cores multiply TF32 and bf16."""


def gpu_is_at_least(capability: tuple[int, int]) -> bool:
    """Tell whether there is a GPU here, and of that compute capability or a later one."""
    return torch.cuda.is_available() and torch.cuda.get_device_capability() >= capability


MOST_UTILIZATION = 1.2
"""Cards for games run above the clock that their sheet is computed with, by a tenth or so."""


def mfu(model_flops_per_second: float, promised_flops_per_second: float) -> float:
    """Divide what a model used by what its device promises.

    Raises ValueError if it is far more than all of it.
    """
    utilization = model_flops_per_second / promised_flops_per_second
    if utilization > MOST_UTILIZATION:
        raise ValueError(
            f"an MFU of {utilization:.3g} is impossible: {model_flops_per_second:.3g} FLOP/s "
            f"cannot come from a peak of {promised_flops_per_second:.3g}; is it the peak of this "
            "dtype and this device?"
        )
    return utilization
