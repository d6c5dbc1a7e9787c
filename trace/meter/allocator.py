"""What CUDA's own allocator says, beside what the meter counts by storage. Needs torch.

It rounds sizes up and holds what kernels need for themselves, so its figures are the larger ones.
They are those of the current device.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_OPEN: list[dict[str, int]] = []


@contextlib.contextmanager
def allocator_figures(figures: dict[str, int], cuda: Any = torch.cuda) -> Iterator[None]:
    """Fill in `figures` at the end of the block, if CUDA has been used before or in it.

    Blocks may nest. Torch's own record of the peak begins anew with each of them.
    """
    before_bytes = cuda.memory_allocated() if cuda.is_initialized() else 0
    _note_peak(cuda)
    mine = {"peak": before_bytes}
    _OPEN.append(mine)
    try:
        yield
    finally:
        _note_peak(cuda)
        _OPEN[:] = [block for block in _OPEN if block is not mine]  # two may have equal peaks
        if cuda.is_initialized():
            figures["allocated_bytes"] = cuda.memory_allocated() - before_bytes
            figures["peak_bytes"] = mine["peak"] - before_bytes


def _note_peak(cuda: Any) -> None:
    """Pass the peak so far on to the open blocks, and let it begin anew."""
    if cuda.is_initialized():
        peak_bytes = cuda.max_memory_allocated()
        for block in _OPEN:
            block["peak"] = max(block["peak"], peak_bytes)
        cuda.reset_peak_memory_stats()
