"""What one call of an operator costs: formulas and tables brought together. Needs torch."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import torch
from torch.utils.flop_counter import flop_registry

from ..own_builtins import use_own_builtins
from .ledger import Work
from .products import FORMULAS, product_flops
from .rates import RATES, WHOLE_POWERS, rate_of
from .traffic import read_and_written_bytes, tensors

use_own_builtins(globals())

_BOOKKEEPING = ("profiler.", "prim.", "inductor.")
"""Operators of these namespaces compute nothing."""
_OPAQUE = ("_native_multi_head_attention", "_transformer_encoder_layer_fwd", "_rnn")
"""Operators that hold more arithmetic than their matrix products."""


class Operator:
    """What is known of one operator, found out once; with the prices of calls seen before."""

    def __init__(self, func: Any) -> None:
        self.func = func
        self.name = str(getattr(func, "_overloadpacket", func))
        self.is_composite = isinstance(func, torch._ops.OpOverload) and _is_composite(func.name())
        self.is_free = _is_view(func, self.name) or self.name.startswith(_BOOKKEEPING)
        self.marks_region = self.name.startswith("profiler._record_function")
        self.is_factory = _is_factory(self.name)
        """Its result does not depend on the values of its arguments."""
        self.lifts = self.name == "aten.lift_fresh"
        """Its argument was allocated just before, where no mode sees it."""
        self.returns_arguments = _returns_arguments(func)
        self.may_return_storage = _may_return_storage(func)
        self.may_resize = self.name.startswith(_RESIZING) or _has_out(func)
        self.rate = rate_of(self.name)
        priced_by_shapes = self.rate is not None or self.name in _PRODUCTS
        self._depends_on_shapes_only = priced_by_shapes and self.name not in _POWERS
        self._prices: dict[tuple[Any, ...], Work] = {}

    def price(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Work:
        """Return what a call costs."""
        if _tracing_state() is not None:  # torch.jit.trace would record each question for a size
            return Work(counted=False)
        if not self._depends_on_shapes_only:
            return self._price_or_none(args, kwargs, out)
        arguments = (*args, *kwargs.values(), _scales(kwargs)) if kwargs else args
        if self.returns_arguments:
            results: Any = ()
        else:
            results = (out,) if type(out) is torch.Tensor else tensors(out)
        key = _shapes(arguments, results)
        if key is None:
            return self._price_or_none(args, kwargs, out)
        work = self._prices.get(key)
        if work is None:
            if len(self._prices) >= MAX_PRICES:
                self._prices.clear()
            work = self._prices[key] = self._price_or_none(args, kwargs, out)
        return work

    def _price_or_none(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Work:
        try:
            work = self._price(args, kwargs, out)
        except Exception:  # a formula that does not fit must not end what is measured
            work = Work(counted=False)
        return work._replace(meta=True) if _is_on_meta((out, args, kwargs)) else work

    def _price(self, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> Work:
        tree = (args, kwargs, out)
        if not all(map(has_storage, tensors(tree))) or has_nested(tree):
            return _price_of_sparse(self.name, args, out)
        read, written = read_and_written_bytes(self.func, args, kwargs, out)
        matmul_flops = _matmul_flops(self.func, self.name, args, kwargs, out)
        if matmul_flops is not None:
            whole = not any(part in self.name for part in _OPAQUE)
            around = _flops_around_product(self.name, args)
            return Work(matmul_flops, around, read, written, whole)
        if self.rate is None:
            return Work(0, 0, read, written, counted=False)
        of_result = self.rate.of == "result"
        elements = _result_elements(args, out) if of_result else _elements(args[:1])
        each = _flops_of_power(self.name, args)
        if each is None:
            each = self.rate.flops + _scales(kwargs)
        return Work(0, each * elements, read, written)


_tracing_state = torch._C._get_tracing_state
MAX_PRICES = 10_000
"""Prices remembered for an operator."""
_PRODUCTS = frozenset(f"aten.{name}" for name in ("mm", "addmm", "bmm", "baddbmm", "mv", "dot"))
_POWERS = frozenset(("aten.pow", "aten.pow_", "aten._foreach_pow", "aten._foreach_pow_"))
_STRIDED = torch.strided
_PLAIN = frozenset((torch.Tensor, torch.nn.Parameter))


def _scales(kwargs: Mapping[str, Any]) -> bool:
    """Tell whether a sum scales its second part, which is one product more for each element."""
    return bool(kwargs.get("alpha", 1) != 1)


def _flops_of_power(name: str, args: Sequence[Any]) -> int | None:
    """Return the products in a whole power for which torch calls no function; None: other cases."""
    if name not in _POWERS or not isinstance(args[1], int | float):
        return None
    return WHOLE_POWERS.get(args[1])


def _shapes(arguments: Sequence[Any], results: Iterable[Any]) -> tuple[Any, ...] | None:
    """Return what the price of an elementwise operator or a product depends on; None: not known.

    The size of the result may depend on numbers among the arguments, on values, and on torch's
    default type.
    """
    key: list[Any] = []
    for result in results:
        if type(result) not in _PLAIN or result.layout is not _STRIDED:
            return None
        key += (result.nbytes, result.is_meta)
    for argument in arguments:
        kind = type(argument)
        if kind in _PLAIN:
            if argument.layout is not _STRIDED or argument.is_nested:  # those have no shape
                return None
            key += (argument.shape, argument.stride(), argument.dtype, argument.is_meta)
        elif kind is float or kind is int:  # the size of the result says enough
            continue
        elif kind is bool or kind is torch.dtype:
            key.append(argument)
        elif isinstance(argument, torch.Tensor):
            return None
        elif isinstance(argument, list | tuple):
            if argument and not isinstance(argument[0], int | bool):
                return None
            key.append(tuple(argument))
    return tuple(key)


def _is_composite(qualified_name: str) -> bool:
    """Tell whether an operator is only made of others, with no kernel of its own (as the backward
    pass of SiLU has). Some operators of TorchScript are not registered at all."""
    if not torch._C._dispatch_has_kernel(qualified_name):
        return False
    has_kernel = torch._C._dispatch_has_kernel_for_dispatch_key
    kernels = any(has_kernel(qualified_name, key) for key in ("CPU", "CUDA", "Meta"))
    return not kernels and has_kernel(qualified_name, "CompositeImplicitAutograd")


def _is_factory(name: str) -> bool:
    return name.endswith("_like") or name.startswith("aten.new_")


def _returns_arguments(func: Any) -> bool:
    """Tell whether all that an operator returns are arguments it has changed in place."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return False
    return all(
        value.alias_info is not None and value.alias_info.is_write for value in schema.returns
    )


_RESIZING = ("aten.resize", "aten._resize")


def _has_out(func: Any) -> bool:
    """Tell whether a result goes to a tensor that is given, which may have to grow for it."""
    schema = getattr(func, "_schema", None)
    return schema is not None and any(argument.is_out for argument in schema.arguments)


_UNDECLARED_VIEWS = frozenset(
    f"aten.{name}"
    for name in (
        "_unsafe_view",
        "_reshape_alias",
        "unsafe_split",
        "unsafe_split_with_sizes",
        "lift",
    )
)


def _is_view(func: Any, name: str) -> bool:
    """Tell whether an operator only views its argument anew, in place or as another tensor."""
    in_place = torch.Tag.inplace_view in getattr(func, "tags", ())
    return in_place or bool(getattr(func, "is_view", False)) or name in _UNDECLARED_VIEWS


def _may_return_storage(func: Any) -> bool:
    """Tell whether a result may lie in the storage of an argument."""
    schema = getattr(func, "_schema", None)
    return schema is None or any(value.alias_info is not None for value in schema.returns)


def has_storage(tensor: Any) -> bool:
    """Tell whether a tensor lies in one strided storage (sparse ones and wrappers do not)."""
    return tensor.layout is torch.strided and type(tensor) in _PLAIN


def has_nested(tree: Any) -> bool:
    """Tell whether there is a nested tensor, which has no shape."""
    return any(tensor.is_nested for tensor in tensors(tree))


def _is_on_meta(tree: Any) -> bool:
    """Tell whether an operator ran on device `meta`: its results lie there or, where it returns
    none, its arguments."""
    first = next(tensors(tree), None)
    return first is not None and bool(first.is_meta)


def _matmul_flops(
    func: Any, name: str, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any
) -> int | None:
    own = FORMULAS.get(name)
    if own is not None:
        flops = own(args, kwargs, out)
    else:
        formula = flop_registry.get(getattr(func, "_overloadpacket", func))
        if formula is None:
            return None
        flops = int(formula(*args, **kwargs, out_val=out))
    return _complex_flops(flops, out)


_LENGTH_BEFORE_HEADS = ("aten._flash_attention", "aten._efficient_attention")


def _flops_around_product(name: str, args: Sequence[Any]) -> int:
    """The softmax inside an attention kernel, which is one operator with its products."""
    if "attention" not in name or "native" in name:
        return 0
    backward = name.endswith("_backward")
    query, key = (args[1], args[2]) if backward else (args[0], args[1])
    keys = key.shape[-3 if name.startswith(_LENGTH_BEFORE_HEADS) else -2]
    scores = math.prod(query.shape[:-1]) * keys
    softmax = RATES["aten._softmax_backward_data" if backward else "aten._softmax"]
    return int((softmax.flops + 1) * scores)  # and the scale


def _price_of_sparse(name: str, args: Sequence[Any], out: Any) -> Work:
    """A sparse matrix and a dense one; of other operators on such tensors nothing is known."""
    factors = [argument for argument in args if isinstance(argument, torch.Tensor)][-2:]
    sparse = [_is_sparse(factor) for factor in factors]
    if name not in _SPARSE_PRODUCTS or len(factors) < 2 or sum(sparse) != 1:
        return Work(counted=False)
    if not has_storage(factors[sparse.index(False)]):
        return Work(counted=False)
    first, second = factors
    if sparse[0]:
        flops = product_flops(_stored(first), 1, second.shape[-1] if second.dim() > 1 else 1)
    else:
        flops = product_flops(_stored(second), 1, first.shape[-2])
    return Work(_complex_flops(flops, out), counted=False)


_SPARSE_PRODUCTS = tuple(f"aten.{name}" for name in ("mm", "addmm", "_sparse_addmm", "bmm", "mv"))
_SPARSE_LAYOUTS = (
    torch.sparse_coo,
    torch.sparse_csr,
    torch.sparse_csc,
    torch.sparse_bsr,
    torch.sparse_bsc,
)


def _is_sparse(tensor: Any) -> bool:
    """Tell whether a tensor stores some of its elements only."""
    return type(tensor) is torch.Tensor and tensor.layout in _SPARSE_LAYOUTS


def _stored(tensor: Any) -> int:
    """Elements that a sparse tensor stores."""
    return int((tensor._values() if tensor.is_sparse else tensor.values()).numel())


def _complex_flops(flops: int, out: Any) -> int:
    first = next(tensors(out), None)
    return 4 * flops if first is not None and first.is_complex() else flops


def _elements(tree: Any) -> int:
    return sum(tensor.numel() for tensor in tensors(tree))


def _result_elements(args: Sequence[Any], out: Any) -> int:
    """Elements of the result, or of the lists of tensors that are changed in place."""
    first = next(tensors(out), None)
    if first is None:
        return _elements(args[:1])
    return int(first.numel()) if isinstance(out, tuple) else _elements(out)
