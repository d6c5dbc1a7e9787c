"""What tensor programs cost: one meter for the tracer and for `with measure() as cost:`.

The meter sits below PyTorch's operators as a dispatch mode and counts, for each of them,

- matmul FLOPs, two per multiply-add: by the formulas of `torch.utils.flop_counter`, and by those
  of `meter/products.py` where torch has none;
- other FLOPs, by the convention of `meter/rates.py`;
- bytes read and written, each element once in each operator (`meter/traffic.py`);
- bytes allocated and freed, by storage: a view allocates nothing, and a storage counts as freed
  when its last owner, a variable or autograd, lets go of it. What a storage is for is told
  apart as far as torch lets us know (`Storage.category`). (Under any dispatch mode, torch adds
  gradients that meet into new memory instead of in place: where a tensor is used twice, the peak
  of a backward pass may be one gradient too high.)

Each figure is known in one of four ways (`Cost` says which): *observed* while the program ran, by
*formula* from observed shapes (proved in the tests by numbers that count what is done with them),
by *convention*, or as the *ideal*, a lower bound. What ran on device `meta` was not computed: there
a `Cost` says what it would be.

An operator without a formula is listed in `uncounted` by name, so that 0 means zero and never
"unknown". So is what the meter cannot look into: regions compiled by inductor, operators in threads
that were started inside the block, and, under its own name, what a tensor subclass, a custom
operator or a control-flow operator (`torch.cond`) does inside.

Not seen, and not listed: other processes, other threads that ran before, and memory that no
operator allocates (read by `torch.load`, copied by `deepcopy` of a bare tensor, numpy's, a bare
storage or one resized directly). A block belongs to the thread that opens it.

torch is looked up in `sys.modules` and never imported: a lecture without it pays nothing.
"""

import contextlib
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

from .meter.ledger import CATEGORIES, Storage, Work, live_bytes_over_time
from .meter.switch import metered
from .own_builtins import use_own_builtins

use_own_builtins(globals())


class Cost:
    """What ran inside one `with measure() as cost:` block; final when the block has ended.

    Formula: `matmul_flops`. Convention: `other_flops`, since what a processor spends on a root or
    an exponential is nowhere laid down. Ideal: `read_bytes` and `written_bytes`, at least so many
    bytes moved, with each element loaded once and caches perfect. Observed: `allocated_bytes`,
    `freed_bytes`, `peak_bytes`, `live_bytes`, `timeline` and `uncounted`.

    Memory is counted for storages that came to life inside the block. `seconds`, observed as well,
    is the time from its beginning to its end, including what the meter itself takes.
    """

    __match_args__ = (
        *("matmul_flops", "other_flops", "read_bytes", "written_bytes"),
        *("allocated_bytes", "freed_bytes", "peak_bytes"),
    )
    """Also what is seen of a `Cost` at a glance, while a lecture is stepped through."""

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
        self.allocator: dict[str, int] = {}
        """On CUDA, the allocator's own figures: `allocated_bytes`, what the block left behind, and
        `peak_bytes`, the most it held beyond what was there before."""
        self._living: dict[int, Storage] = {}
        self._changes: list[tuple[Storage, int]] | None = None

    def __repr__(self) -> str:
        counts = {name: count for name, count in vars(self).items() if type(count) is int}
        return f"Cost({', '.join(f'{name}={count}' for name, count in counts.items())})"

    @property
    def live_bytes(self) -> dict[str, int]:
        """Bytes allocated inside the block and not freed, by category (`meter/ledger.py`)."""
        live = dict.fromkeys(CATEGORIES, 0)
        for storage in self._living.values():
            live[storage.category] += storage.bytes
        return live

    @property
    def timeline(self) -> list[dict[str, int]]:
        """`live_bytes` after each change. Raises ValueError unless `measure(timeline=True)`."""
        if self._changes is None:
            raise ValueError("write measure(timeline=True) to keep the timeline")
        return list(live_bytes_over_time(self._changes))

    def ran(self, operator: str, work: Work) -> None:
        """Book one call of an operator."""
        self.matmul_flops += work.matmul_flops
        self.other_flops += work.other_flops
        self.read_bytes += work.read_bytes
        self.written_bytes += work.written_bytes
        if not work.counted:
            self.uncounted[operator] += 1

    def ran_elsewhere(self, operator: str) -> None:
        """Book one call of an operator in another thread."""
        self.uncounted[operator] += 1

    def allocated(self, storage: Storage) -> None:
        """Book a storage that came to life."""
        self._living[storage.number] = storage
        self.allocated_bytes += storage.bytes
        self.peak_bytes = max(self.peak_bytes, self.allocated_bytes - self.freed_bytes)
        if self._changes is not None:
            self._changes.append((storage, storage.bytes))

    def freed(self, storage: Storage) -> None:
        """Book the end of a storage, if it began in this block."""
        if self._living.pop(storage.number, None):
            self.freed_bytes += storage.bytes
            if self._changes is not None:
                self._changes.append((storage, -storage.bytes))


@contextlib.contextmanager
def measure(*, timeline: bool = False) -> Iterator[Cost]:
    """Measure what the tensor operators inside the block cost.

    Blocks may nest; each sees everything that runs inside it. With `timeline`, `cost.timeline` has
    the memory alive after each change.

    >>> import torch
    >>> a, b = torch.ones(2, 3), torch.ones(3, 5)
    >>> with measure() as cost:
    ...     c = a @ b
    >>> cost.matmul_flops, cost.allocated_bytes
    (60, 40)
    >>> cost.live_bytes["other tensors"]
    40
    """
    cost = Cost()
    if timeline:
        cost._changes = []
    with _allocator_figures(cost), metered(cost):
        start_seconds = _seconds()
        try:
            yield cost
        finally:
            cost.seconds = _seconds() - start_seconds


def _allocator_figures(cost: Cost) -> contextlib.AbstractContextManager[None]:
    torch: Any = sys.modules.get("torch")
    if torch is None or not torch.cuda.is_available():
        return contextlib.nullcontext()
    from .meter.allocator import allocator_figures

    return allocator_figures(cost.allocator)


def _seconds() -> float:
    """Read the clock once the accelerator has done what it was asked to."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        torch.cuda.synchronize()
    return time.perf_counter()
