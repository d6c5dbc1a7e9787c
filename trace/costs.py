"""What tensor programs cost: one meter for the tracer and for `with measure() as cost:`.

The meter sits below PyTorch's operators as a dispatch mode and counts, for each of them,

- matmul FLOPs, two per multiply-add: by the formulas of `torch.utils.flop_counter`, and by those
  of `matmuls.py` where torch has none;
- other FLOPs, by the convention of `arithmetic.py`;
- bytes read and written, each element once (`traffic.py`);
- bytes allocated and freed, by storage: a view allocates nothing, and a storage counts as freed
  when its last owner lets go of it, be that a variable or autograd.

An operator without a formula is listed in `uncounted` by name, so that 0 means zero and never
"unknown". Compiled code runs without its operators being seen, and so do other threads.

torch is looked up in `sys.modules` and never imported: a lecture without it pays nothing.
"""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol


class Work(NamedTuple):
    """What one call of an operator costs; `counted` is False when no formula knows it."""

    matmul_flops: int = 0
    other_flops: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    counted: bool = True


class Cost:
    """What ran inside one `with measure() as cost:` block; final when the block has ended.

    Memory is counted for storages that came to life inside the block. `seconds` is the time from
    its beginning to its end, including what the meter itself takes.
    """

    def __init__(self) -> None:
        self.matmul_flops = 0
        self.other_flops = 0
        self.read_bytes = 0
        self.written_bytes = 0
        self.allocated_bytes = 0
        self.freed_bytes = 0
        self.peak_bytes = 0
        self.seconds = 0.0
        self.uncounted: Counter[str] = Counter()
        self._own_storages: set[int] = set()

    def __repr__(self) -> str:
        counts = {name: count for name, count in vars(self).items() if type(count) is int}
        return f"Cost({', '.join(f'{name}={count}' for name, count in counts.items())})"

    def ran(self, operator: str, work: Work) -> None:
        """Book one call of an operator."""
        self.matmul_flops += work.matmul_flops
        self.other_flops += work.other_flops
        self.read_bytes += work.read_bytes
        self.written_bytes += work.written_bytes
        if not work.counted:
            self.uncounted[operator] += 1

    def allocated(self, storage: int, storage_bytes: int) -> None:
        """Book a storage that came to life."""
        self._own_storages.add(storage)
        self.allocated_bytes += storage_bytes
        self.peak_bytes = max(self.peak_bytes, self.allocated_bytes - self.freed_bytes)

    def freed(self, storage: int, storage_bytes: int) -> None:
        """Book the end of a storage, if it began in this block."""
        if storage in self._own_storages:
            self._own_storages.remove(storage)
            self.freed_bytes += storage_bytes


class Account(Protocol):
    """Something the meter reports to: a `Cost`, or the recorder."""

    def ran(self, operator: str, work: Work) -> None:
        """One call of an operator."""

    def allocated(self, storage: int, storage_bytes: int) -> None:
        """A storage came to life; `storage` is a number that is never used twice."""

    def freed(self, storage: int, storage_bytes: int) -> None:
        """The storage with that number died."""


@contextlib.contextmanager
def measure() -> Iterator[Cost]:
    """Measure what the tensor operators inside the block cost.

    Blocks may nest; each sees everything that runs inside it.
    """
    cost = Cost()
    start_seconds = _seconds()
    with metered(cost):
        try:
            yield cost
        finally:
            cost.seconds = _seconds() - start_seconds


def _seconds() -> float:
    """Read the clock once the accelerator has done what it was asked to."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()


@contextlib.contextmanager
def metered(account: Account) -> Iterator[None]:
    """Report to `account` what runs inside the block. Without torch there is nothing to report."""
    if "torch" not in sys.modules:
        yield
        return
    from .meter import METER

    with METER.reporting_to(account):
        yield
