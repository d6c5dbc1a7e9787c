"""The dispatch mode below PyTorch's operators. Needs torch."""

import contextlib
import itertools
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch._C._functorch import is_functorch_wrapped_tensor
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.utils._python_dispatch import _pop_mode, _push_mode

from ..own_builtins import use_own_builtins
from .ledger import (
    ACTIVATIONS,
    GRADIENTS,
    OPTIMIZER_STATE,
    OTHER,
    PARAMETERS,
    Account,
    Storage,
    Work,
)
from .operators import Operator, has_nested, has_storage
from .optimizers import kept_by, made_optimizers
from .traffic import tensors
from .unseen import OnlookerMode, compiled_regions, never_compiled, other_threads

use_own_builtins(globals())

_COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
_OPERATORS: dict[int, Operator] = {}
"""By the id of the operator: its own hash is Python code."""
_COMPILED = Work(counted=False)
_STORAGE_NUMBERS = itertools.count(1)
_current_backward_pass = torch._C._current_graph_task_id  # -1: none
_is_grad_enabled = torch.is_grad_enabled
_DTYPES = {
    bool: torch.bool,
    int: torch.int64,
    float: torch.float64,
    complex: torch.complex128,
}
"""What torch makes of Python's numbers where they are to be tensors."""


class _Reference(weakref.ref[Any]):
    """A weak reference to torch's storage that knows ours."""

    __slots__ = ("key", "watched")
    key: int
    watched: Storage


class Meter(OnlookerMode):
    """Counts each operator of one thread and passes it on unchanged."""

    def __init__(self) -> None:
        super().__init__()
        self.accounts: list[Account] = []
        self.storages: dict[int, _Reference] = {}
        """By the id of torch's storage, as long as that lives."""
        self.regions: list[bool] = []
        """The labelled regions that are open, and whether each is the step of an optimizer."""
        self.optimizers: weakref.WeakSet[Any] = weakref.WeakSet()
        self.has_unexplained = False
        """Whether an optimizer may keep what was taken for something else so far."""
        self.thread = threading.get_ident()
        self.lock = threading.Lock()
        self.work = contextlib.ExitStack()

    @contextlib.contextmanager
    def reporting_to(self, account: Account) -> Iterator[None]:
        """Report to one more account inside the block. Blocks need not nest: one in a generator may
        end in the middle of another."""
        if not self.accounts:
            self.work.enter_context(self._at_work())
        self.accounts.append(account)
        try:
            yield
        finally:
            self.accounts.remove(account)
            if not self.accounts:
                self.work.close()

    @contextlib.contextmanager
    def _at_work(self) -> Iterator[None]:
        registration = register_module_parameter_registration_hook(self._registered)
        try:
            with (
                compiled_regions.told_to(self._ran_compiled),
                other_threads.told_to(self._ran_elsewhere),
                made_optimizers.told_to(self._made_optimizer),
                self._below_operators(),
            ):
                yield
        finally:
            registration.remove()
            self.regions.clear()

    @contextlib.contextmanager
    def _below_operators(self) -> Iterator[None]:
        """Be a mode inside the block. (`with self` would set flags of the whole process.)"""
        _push_mode(self)
        try:
            yield
        finally:
            _pop_mode()

    @never_compiled
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        operator = _OPERATORS.get(id(func)) or _operator(func)
        if args and type(args[0]) in _DTYPES:
            args = _with_tensors(func, args)
        # Under inference_mode a composite operator arrives whole, not as the parts that it consists
        # of elsewhere. It is taken apart here: its parts come back to us, and they are counted.
        if operator.is_composite and not types and not has_nested((args, kwargs)):
            with self._below_operators():
                return func._op_dk(_COMPOSITE, *args, **(kwargs or {}))
        # An operator that may resize an argument's storage has to be asked before it runs.
        sizes = _sizes((args, kwargs)) if operator.may_resize else None
        out = func(*args, **kwargs) if kwargs else func(*args)
        # Work, or, among those without any, the labels that optimizers put around their steps.
        if not operator.is_free:
            work = operator.price(args, kwargs or {}, out)
            for account in self.accounts:
                account.ran(operator.name, work)
        elif operator.marks_region:
            self._mark_region(args)
        # New memory. The argument of `lift` was allocated where no mode sees it: it is new as well.
        # What gives back its arguments has none, but where it changes a parameter, an optimizer is
        # at work. Views, which are free, share the memory of what they view.
        if operator.lifts:
            self._watch_new(operator, (), out)
        elif operator.returns_arguments:
            if self.regions or self.optimizers:
                self._label_changed(args)
        elif not operator.is_free:
            self._watch_new(operator, (args, kwargs), out)
        if sizes:
            self._watch_resized(operator, (args, kwargs), sizes)
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
            if id(storage) in self.storages or (operator.lifts and not storage.resizable()):
                continue  # of one that torch did not allocate (numpy's), it cannot change the size
            if known is None:
                old = tensors(inputs) if operator.may_return_storage else ()
                known = {id(argument.untyped_storage()) for argument in filter(has_storage, old)}
            if id(storage) not in known:
                category = category or self._category(operator, inputs)
                self._watch(storage, category)

    def _watch(self, storage: Any, category: str) -> None:
        """Report a storage now, and again when it dies."""
        exists = storage.device.type != "meta"
        watched = Storage(next(_STORAGE_NUMBERS), storage.nbytes(), category, exists=exists)
        reference = _Reference(storage, self._freed)
        reference.key, reference.watched = id(storage), watched
        self.storages[reference.key] = reference
        self.has_unexplained |= category is OTHER
        for account in self.accounts:
            account.allocated(watched)

    def _watch_resized(
        self, operator: Operator, inputs: Any, sizes: Sequence[tuple[Any, int]]
    ) -> None:
        """A storage that has changed its size is new memory in the place of the old."""
        for storage, before_bytes in sizes:
            if storage.nbytes() != before_bytes:
                old = self.storages.pop(id(storage), None)
                category = old.watched.category if old else self._category(operator, inputs)
                self._watch(storage, category)
                if old:
                    for account in self.accounts:
                        account.freed(old.watched)

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
        """What autograd starts from, and an optimizer changes in place, is a parameter. By then
        the optimizer has made what it keeps."""
        for changed in args[:1]:
            for tensor in changed if type(changed) is list else (changed,):
                if isinstance(tensor, torch.Tensor) and tensor.requires_grad and tensor.is_leaf:
                    if True in self.regions:
                        self._label(tensor, PARAMETERS)
                    self._label_kept()

    def _label_kept(self) -> None:
        if self.has_unexplained:
            self.has_unexplained = False
            for optimizer in tuple(self.optimizers):
                for tensor in kept_by(optimizer):
                    self._label(tensor, OPTIMIZER_STATE)

    def _made_optimizer(self, optimizer: Any) -> None:
        if threading.get_ident() == self.thread:
            self.optimizers.add(optimizer)
            self._label_kept()

    def _registered(self, module: object, name: str, parameter: Any) -> None:
        if isinstance(parameter, torch.Tensor) and not is_functorch_wrapped_tensor(parameter):
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
        if not operator.is_free and threading.get_ident() != self.thread:
            with self.lock:
                for account in self.accounts:
                    account.ran_elsewhere(f"{operator.name} in another thread")


def _operator(func: Any) -> Operator:
    return _OPERATORS.setdefault(id(func), Operator(func))


def _with_tensors(func: Any, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Give tensors back to an operator that asks for them and got numbers: torch hands constants
    of `torch.jit` to a mode as numbers, which few operators take."""
    return tuple(
        torch.tensor(value, dtype=_DTYPES[type(value)])
        if type(value) in _DTYPES and isinstance(row.type, torch.TensorType)
        else value
        for value, row in zip(args, func._schema.arguments, strict=False)
    )


def _sizes(tree: Any) -> list[tuple[Any, int]]:
    """Storages of tensors, and their bytes."""
    storages = (tensor.untyped_storage() for tensor in tensors(tree) if has_storage(tensor))
    return [(storage, storage.nbytes()) for storage in storages]


class _Here(threading.local):
    def __init__(self) -> None:
        self.meter = Meter()


_HERE = _Here()


def meter_of_this_thread() -> Meter:
    """Return the one meter of the thread that asks."""
    return _HERE.meter
