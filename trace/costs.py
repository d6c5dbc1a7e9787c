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
import functools
import sys
import time
import weakref
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
    with _meter().reporting_to(account):
        yield


@functools.cache
def _meter() -> Any:
    """Return the one meter of this process."""
    return _meter_class()()


@functools.cache
def _meter_class() -> Any:
    """Make the dispatch mode; its base class exists only once torch is loaded."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    from . import pricing
    from .traffic import tensors

    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    operators: dict[int, pricing.Operator] = {}  # by id: an operator's own hash is Python code

    class Meter(TorchDispatchMode):  # type: ignore[misc]
        """Counts each operator and passes it on unchanged."""

        supports_higher_order_operators = True  # without it torch.compile is silently turned off

        def __init__(self) -> None:
            super().__init__()
            self.accounts: list[Account] = []
            self.storages: dict[int, weakref.ref[Any]] = {}
            self.storage_count = 0

        @classmethod
        def is_infra_mode(cls) -> bool:
            return True  # lets torch choose the same kernels as without us

        @contextlib.contextmanager
        def reporting_to(self, account: Account) -> Iterator[None]:
            outermost = not self.accounts
            self.accounts.append(account)
            try:
                with self if outermost else contextlib.nullcontext():
                    yield
            finally:
                self.accounts.remove(account)

        def __torch_dispatch__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            operator = operators.get(id(func))
            if operator is None:
                operator = operators[id(func)] = pricing.Operator(func)
            if operator.is_composite:  # arrives whole under inference_mode; its parts count
                with self:
                    return func._op_dk(composite, *args, **(kwargs or {}))
            out = func(*args, **kwargs) if kwargs else func(*args)
            if not operator.is_free:
                work = operator.price(args, kwargs or {}, out)
                for account in self.accounts:
                    account.ran(operator.name, work)
            if operator.lifts or not (operator.is_free or operator.returns_arguments):
                old = (args, kwargs) if operator.may_return_storage and not operator.lifts else ()
                self.watch_new(old, out)
            return out

        def watch_new(self, inputs: Any, out: Any) -> None:
            """Watch the storages of results that are not those of arguments."""
            known: set[int] | None = None
            for tensor in (out,) if type(out) is torch.Tensor else tensors(out):
                if not pricing.has_storage(tensor):
                    continue
                storage = tensor.untyped_storage()
                if id(storage) in self.storages:
                    continue
                if known is None:
                    plain = filter(pricing.has_storage, tensors(inputs))
                    known = {id(argument.untyped_storage()) for argument in plain}
                if id(storage) not in known:
                    self.watch(storage)

        def watch(self, storage: Any) -> None:
            self.storage_count += 1
            key, number, storage_bytes = id(storage), self.storage_count, storage.nbytes()

            def when_freed(_: object) -> None:
                del self.storages[key]
                for account in self.accounts:
                    account.freed(number, storage_bytes)

            self.storages[key] = weakref.ref(storage, when_freed)
            for account in self.accounts:
                account.allocated(number, storage_bytes)

    return Meter
