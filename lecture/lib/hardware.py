"""Which accelerator this is, and how much of what it promises arrives."""

from lecture.facts import ACCELERATORS, Accelerator


def accelerator_named(device_name: str) -> Accelerator:
    """Look up the card that PyTorch reports under this name."""
    if device_name not in ACCELERATORS:
        raise LookupError(
            f"lecture/facts.py has no data sheet of {device_name!r}; it has those of "
            f"{', '.join(card.name for card in ACCELERATORS.values())}"
        )
    return ACCELERATORS[device_name]


def mfu(model_flops_per_second: float, promised_flops_per_second: float) -> float:
    """Divide what a model used by what its device promises; more than all of it is refused."""
    utilization = model_flops_per_second / promised_flops_per_second
    if utilization > 1:
        raise ValueError(
            f"an MFU of {utilization:.3g} is impossible: {model_flops_per_second:.3g} FLOP/s "
            f"cannot come from a peak of {promised_flops_per_second:.3g}; is it the peak of this "
            "dtype and this device?"
        )
    return utilization
