"""The dispatch mode below PyTorch's operators. Needs torch."""

import contextlib
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .costs import Account
from .pricing import Operator, has_storage
from .traffic import tensors

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_OPERATORS: dict[int, Operator] = {}
"""By the id of the operator: its own hash is Python code."""


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
        """Let torch choose the same kernels as without us."""
        return True

    @contextlib.contextmanager
    def reporting_to(self, account: Account) -> Iterator[None]:
        """Report to one more account inside the block."""
        outermost = not self.accounts
        self.accounts.append(account)
        try:
            with self if outermost else contextlib.nullcontext():
                yield
        finally:
            self.accounts.remove(account)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operator = _OPERATORS.get(id(func))
        if operator is None:
            operator = _OPERATORS[id(func)] = Operator(func)
        if operator.is_composite:  # arrives whole under inference_mode; its parts count
            with self:
                return func._op_dk(_COMPOSITE, *args, **(kwargs or {}))
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
            if not has_storage(tensor):
                continue
            storage = tensor.untyped_storage()
            if id(storage) in self.storages:
                continue
            if known is None:
                plain = filter(has_storage, tensors(inputs))
                known = {id(argument.untyped_storage()) for argument in plain}
            if id(storage) not in known:
                self.watch(storage)

    def watch(self, storage: Any) -> None:
        """Report a storage now, and again when it dies."""
        self.storage_count += 1
        key, number, storage_bytes = id(storage), self.storage_count, storage.nbytes()

        def when_freed(_: object) -> None:
            del self.storages[key]
            for account in self.accounts:
                account.freed(number, storage_bytes)

        self.storages[key] = weakref.ref(storage, when_freed)
        for account in self.accounts:
            account.allocated(number, storage_bytes)


METER = Meter()
"""The one meter of this process."""
