"""What tensor programs cost: one meter for the tracer and for `with measure() as cost:`.

The meter sits below PyTorch's operators as a dispatch mode. It counts

- matmul FLOPs, two per multiply-add, by the formulas of `torch.utils.flop_counter`;
- bytes allocated and freed, by storage: a view allocates nothing, and a storage counts as freed
  when its last owner lets go of it, be that a variable or autograd.

An operator without a formula is counted in `uncounted` by name, so that 0 means zero and never
"unknown". What is not counted yet (`other_flops`, `read_bytes`, `written_bytes`) is None.

torch is looked up in `sys.modules` and never imported: a lecture without it pays nothing.
"""

import contextlib
import functools
import sys
import time
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Protocol


class Cost:
    """What ran inside one `with measure() as cost:` block; final when the block has ended.

    Memory is counted for storages that came to life inside the block.
    """

    def __init__(self) -> None:
        self.matmul_flops = 0
        self.other_flops: int | None = None
        self.read_bytes: int | None = None
        self.written_bytes: int | None = None
        self.allocated_bytes = 0
        self.freed_bytes = 0
        self.peak_bytes = 0
        self.seconds = 0.0
        self.uncounted: Counter[str] = Counter()
        self._own_storages: set[int] = set()

    def __repr__(self) -> str:
        counts = {
            "matmul_flops": self.matmul_flops,
            "allocated_bytes": self.allocated_bytes,
            "freed_bytes": self.freed_bytes,
            "peak_bytes": self.peak_bytes,
        }
        return f"Cost({', '.join(f'{name}={count}' for name, count in counts.items())})"

    def ran(self, operator: str, matmul_flops: int | None) -> None:
        """Book one call of an operator; `matmul_flops` is None when no formula knows it."""
        if matmul_flops is None:
            self.uncounted[operator] += 1
        else:
            self.matmul_flops += matmul_flops

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

    def ran(self, operator: str, matmul_flops: int | None) -> None:
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
    start_seconds = time.perf_counter()
    with metered(cost):
        try:
            yield cost
        finally:
            cost.seconds = time.perf_counter() - start_seconds


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
    from torch.utils.flop_counter import flop_registry

    composite = torch._C.DispatchKey.CompositeImplicitAutograd
    made_before_dispatch = torch.ops.aten.lift_fresh.default

    class Meter(TorchDispatchMode):  # type: ignore[misc]
        """Counts each operator and passes it on unchanged."""

        supports_higher_order_operators = True  # without it torch.compile is silently turned off

        def __init__(self) -> None:
            super().__init__()
            self.accounts: list[Account] = []
            self.storages: dict[int, tuple[weakref.ref[Any], int]] = {}  # id -> reference, number
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
            kwargs = kwargs or {}
            if _is_composite(func):  # arrives whole under inference_mode; its parts are counted
                with self:
                    return func._op_dk(composite, *args, **kwargs)
            out = func(*args, **kwargs)
            self.count(func, args, kwargs, out)
            return out

        def count(self, func: Any, args: Any, kwargs: Any, out: Any) -> None:
            packet = getattr(func, "_overloadpacket", func)
            formula = flop_registry.get(packet)
            if formula is not None:
                self.report("ran", str(packet), int(formula(*args, **kwargs, out_val=out)))
            elif not getattr(func, "is_view", False):
                self.report("ran", str(packet), None)
            inputs = () if func is made_before_dispatch else tuple(_tensors((args, kwargs)))
            known = {id(tensor.untyped_storage()) for tensor in inputs if _has_storage(tensor)}
            for tensor in _tensors(out):
                if _has_storage(tensor) and id(tensor.untyped_storage()) not in known:
                    self.watch(tensor.untyped_storage())

        def watch(self, storage: Any) -> None:
            if id(storage) in self.storages:
                return
            self.storage_count += 1
            number, storage_bytes = self.storage_count, storage.nbytes()
            key = id(storage)
            when_freed = functools.partial(self.unwatch, key, number, storage_bytes)
            self.storages[key] = (weakref.ref(storage, when_freed), number)
            self.report("allocated", number, storage_bytes)

        def unwatch(self, key: int, number: int, storage_bytes: int, _: object) -> None:
            del self.storages[key]
            self.report("freed", number, storage_bytes)

        def report(self, what: str, *facts: Any) -> None:
            for account in self.accounts:
                book: Callable[..., None] = getattr(account, what)
                book(*facts)

    return Meter


@functools.cache
def _is_composite(func: Any) -> bool:
    import torch

    return isinstance(func, torch._ops.OpOverload) and bool(
        torch._C._dispatch_has_kernel_for_dispatch_key(func.name(), "CompositeImplicitAutograd")
    )


def _has_storage(tensor: Any) -> bool:
    """Tell whether the tensor lies in one strided storage (sparse ones and wrappers do not)."""
    import torch

    return bool(tensor.layout is torch.strided) and type(tensor) in (
        torch.Tensor,
        torch.nn.Parameter,
    )


def _tensors(tree: Any) -> Iterator[Any]:
    """Yield the tensors in nested tuples, lists and dicts."""
    import torch

    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from _tensors(item)
    elif isinstance(tree, dict):
        yield from _tensors(list(tree.values()))
