"""The dispatch mode below PyTorch's operators. Needs torch."""

import contextlib
import threading
import weakref
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils._python_dispatch import TorchDispatchMode

from .costs import (
    ACTIVATIONS,
    GRADIENTS,
    OPTIMIZER_STATE,
    OTHER,
    PARAMETERS,
    Account,
    Storage,
    Work,
)
from .pricing import Operator, has_storage
from .traffic import tensors
from .unseen import CAN_KEEP_COMPILER_OUT, compiled_regions, never_compiled, other_threads

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_OPERATORS: dict[int, Operator] = {}
"""By the id of the operator: its own hash is Python code."""
_COMPILED = Work(counted=False)
_current_backward_pass = torch._C._current_graph_task_id  # -1: none
_is_grad_enabled = torch.is_grad_enabled


class _Reference(weakref.ref[Any]):
    """A weak reference to torch's storage that knows ours."""

    __slots__ = ("key", "watched")
    key: int
    watched: Storage


class Meter(TorchDispatchMode):  # type: ignore[misc]
    """Counts each operator and passes it on unchanged."""

    supports_higher_order_operators = True  # without it torch.compile is silently turned off

    def __init__(self) -> None:
        super().__init__()
        self.accounts: list[Account] = []
        self.storages: dict[int, _Reference] = {}
        """By the id of torch's storage, as long as that lives."""
        self.storage_count = 0
        self.regions: list[bool] = []
        """The labelled regions that are open, and whether each is the step of an optimizer."""
        self.lock = threading.Lock()

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Let torch choose the same kernels as without us."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch's own way to keep the compiler out costs 2 us a call."""
        return not CAN_KEEP_COMPILER_OUT

    @contextlib.contextmanager
    def reporting_to(self, account: Account) -> Iterator[None]:
        """Report to one more account inside the block."""
        outermost = not self.accounts
        self.accounts.append(account)
        try:
            with self._at_work() if outermost else contextlib.nullcontext():
                yield
        finally:
            self.accounts.remove(account)

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        registration = register_module_parameter_registration_hook(self._registered)
        try:
            with compiled_regions(self._ran_compiled), other_threads(self._ran_elsewhere), self:
                yield
        finally:
            registration.remove()
            self.regions.clear()

    @never_compiled
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operator = _OPERATORS.get(id(func)) or _operator(func)
        if operator.is_composite:  # arrives whole under inference_mode; its parts count
            with self:
                return func._op_dk(_COMPOSITE, *args, **(kwargs or {}))
        out = func(*args, **kwargs) if kwargs else func(*args)
        if not operator.is_free:
            work = operator.price(args, kwargs or {}, out)
            for account in self.accounts:
                account.ran(operator.name, work)
        elif operator.marks_region:
            self._mark_region(args)
        if operator.lifts:
            self._watch_new(operator, (), out)
        elif operator.returns_arguments:
            if True in self.regions:
                self._label_changed(args)
        elif not operator.is_free:
            self._watch_new(operator, (args, kwargs), out)
        return out

    # Memory -------------------------------------------------------------------------------------

    def _watch_new(self, operator: Operator, inputs: Any, out: Any) -> None:
        """Watch the storages of results that are not those of arguments."""
        known: set[int] | None = None
        category = ""
        for tensor in (out,) if type(out) is torch.Tensor else tensors(out):
            if not has_storage(tensor):
                continue
            storage = tensor.untyped_storage()
            if id(storage) in self.storages:
                continue
            if known is None:
                old = tensors(inputs) if operator.may_return_storage else ()
                known = {id(argument.untyped_storage()) for argument in filter(has_storage, old)}
            if id(storage) not in known:
                category = category or self._category(operator, inputs)
                self._watch(storage, category)

    def _watch(self, storage: Any, category: str) -> None:
        """Report a storage now, and again when it dies."""
        self.storage_count += 1
        watched = Storage(self.storage_count, storage.nbytes(), category)
        reference = _Reference(storage, self._freed)
        reference.key, reference.watched = id(storage), watched
        self.storages[reference.key] = reference
        for account in self.accounts:
            account.allocated(watched)

    @never_compiled
    def _freed(self, reference: "_Reference") -> None:
        del self.storages[reference.key]
        for account in self.accounts:
            account.freed(reference.watched)

    def _category(self, operator: Operator, inputs: Any) -> str:
        """Tell what the new results of an operator are for."""
        if _is_grad_enabled():  # forward, or recomputing in the middle of a backward pass
            if not operator.is_factory and self._is_recorded(inputs):
                return ACTIVATIONS
        elif _current_backward_pass() != -1:
            return GRADIENTS
        return OPTIMIZER_STATE if True in self.regions else OTHER

    def _is_recorded(self, inputs: Any) -> bool:
        """Tell whether autograd records an operator; learn what its arguments are for."""
        recorded = False
        for tensor in tensors(inputs):
            if tensor.requires_grad:
                recorded = True
                if type(tensor) is torch.nn.Parameter:
                    self._label(tensor, PARAMETERS)
                elif not tensor.is_leaf:  # made by a custom function, which runs without autograd
                    self._label(tensor, ACTIVATIONS)
        return recorded

    def _label(self, tensor: Any, category: str) -> None:
        """Say what a storage is for: a parameter whatever was thought before, an activation if
        nothing better is known."""
        known = self.storages.get(id(tensor.untyped_storage())) if has_storage(tensor) else None
        if known and (category is PARAMETERS or known.watched.category is OTHER):
            known.watched.category = category

    def _label_changed(self, args: Any) -> None:
        """What autograd starts from, and an optimizer changes in place, is a parameter."""
        for changed in args[:1]:
            for tensor in changed if type(changed) is list else (changed,):
                if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.is_leaf:
                    self._label(tensor, PARAMETERS)

    def _registered(self, module: object, name: str, parameter: Any) -> None:
        if isinstance(parameter, torch.Tensor):
            self._label(parameter, PARAMETERS)

    def _mark_region(self, args: Any) -> None:
        """Torch labels regions for its profiler; optimizers do so around each step."""
        if args and type(args[0]) is str:
            self.regions.append(args[0].startswith("Optimizer.step"))
        elif self.regions:
            self.regions.pop()

    # What runs unseen ---------------------------------------------------------------------------

    def _ran_compiled(self) -> None:
        for account in self.accounts:
            account.ran("compiled region", _COMPILED)

    def _ran_elsewhere(self, func: Any) -> None:
        operator = _OPERATORS.get(id(func)) or _operator(func)
        if not operator.is_free:
            with self.lock:
                for account in self.accounts:
                    account.ran_elsewhere(f"{operator.name} in another thread")


def _operator(func: Any) -> Operator:
    return _OPERATORS.setdefault(id(func), Operator(func))


METER = Meter()
"""The one meter of this process."""
