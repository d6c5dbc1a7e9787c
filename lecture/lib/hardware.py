"""Which accelerator this is, and how much of what it promises arrives."""

import torch

from lecture.facts import (
    ACCELERATORS,
    MULTIPROCESSOR_REGISTERS,
    NEAR_BYTES_PER_TICK,
    REGISTER_BYTES,
    Accelerator,
    Gpu,
)


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


MOST_SHARE = 1.2
"""Cards for games run above the clock that their sheet is computed with, by a tenth or so."""


def share_of_peak(flops_per_second: float, promised_flops_per_second: float) -> float:
    """Divide the rate of an operation by what its device promises.

    Raises ValueError if it is far more than all of it.
    """
    share = flops_per_second / promised_flops_per_second
    if share > MOST_SHARE:
        raise ValueError(
            f"a share of {share:.3g} is impossible: {flops_per_second:.3g} FLOP/s "
            f"cannot come from a peak of {promised_flops_per_second:.3g}; is it the peak of this "
            "dtype and this device?"
        )
    return share


def mfu(model_flops_per_second: float, promised_flops_per_second: float) -> float:
    """Model FLOPs utilization: the share of the peak that the FLOPs of a model's definition take.

    Raises ValueError if it is far more than all of it.
    """
    return share_of_peak(model_flops_per_second, promised_flops_per_second)


Level = tuple[int, float | None, int | None]
"""Of a level of memory on the whole chip: bytes, bytes per second, ticks until it answers."""


def memory_levels(
    gpu: Gpu, card: Accelerator, cache_bytes_per_second: float | None
) -> dict[str, Level]:  # @stepover
    """Put together the levels of memory of a GPU. Registers have only a size."""
    many = gpu.multiprocessors
    near_bytes_per_second = many * NEAR_BYTES_PER_TICK * gpu.highest_hertz
    return {
        "registers": (many * MULTIPROCESSOR_REGISTERS * REGISTER_BYTES, None, None),
        "L1, shared": (many * gpu.near_bytes, near_bytes_per_second, gpu.near_ticks),
        "L2": (card.cache_bytes, cache_bytes_per_second, gpu.cache_ticks),
        "HBM": (card.memory_bytes, card.memory_bytes_per_second, gpu.memory_ticks),
    }
