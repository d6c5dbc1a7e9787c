"""Bytes that an operator reads and writes: each element once, as if the caches were perfect.

An input counts its distinct elements, so that a broadcast one counts its real bytes; two inputs
count separately even if they are the same tensor. An output counts once. An operator in place reads
and writes its tensor, unless it only fills it; one with indices, only what they point to (with a
mask, all of it). Views move nothing.
"""

import functools
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

_EMPTY = frozenset(
    ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_")
)
_FILL = frozenset(
    (
        "fill_",
        "zero_",
        "copy_",
        "_foreach_zero_",
        "_foreach_copy_",
        "uniform_",
        "normal_",
        "bernoulli_",
        "random_",
        "exponential_",
        "cauchy_",
        "geometric_",
    )
)
"""They overwrite their first argument without reading it."""
_SELECT = frozenset(("embedding", "index_select", "gather", "index", "take", "masked_select"))
"""Of their first argument they read only what they return."""

_SCATTER = {
    "index_put_": False,
    "_index_put_impl_": False,
    "index_copy_": False,
    "index_fill_": False,
    "scatter_": False,
    "index_add_": True,
    "index_reduce_": True,
    "scatter_add_": True,
    "scatter_reduce_": True,
}
"""They change what their indices point to in their first argument; whether they add to it."""


def read_and_written_bytes(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any
) -> tuple[int, int]:
    """Return the bytes an operator reads and writes. Tensors have to be strided."""
    name, mutated, overwritten = _facts(func)
    written = {id(tensor): tensor for tensor in tensors(out)}
    read = 0
    for key, argument in (*enumerate(args), *kwargs.items()):
        for tensor in tensors(argument):
            if key in mutated:
                written[id(tensor)] = tensor
                if key in overwritten:
                    continue
            read += tensor_bytes(tensor)
    if name.endswith("_like") or name.startswith("new_"):
        read = 0
    if name in _SELECT and args:
        first, selected = tensor_bytes(args[0]), sum(map(tensor_bytes, tensors(out)))
        read += min(first, selected) - first
    if name in _EMPTY:
        return 0, 0
    if name in _SCATTER:
        whole, changed = tensor_bytes(args[0]), _changed_bytes(name, args)
        adds = _SCATTER[name] or (name.endswith(("put_", "impl_")) and args[3:4] == (True,))
        return read - whole + (changed if adds else 0), changed
    return read, sum(map(tensor_bytes, written.values()))


@functools.cache
def _facts(func: Any) -> tuple[str, frozenset[int | str], frozenset[int | str]]:
    """Name of an operator, and the positions and names of the arguments it writes to: of all, and
    of those that it does not read."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return str(func), frozenset(), frozenset()
    name = schema.name.partition("::")[2]
    mutated: set[int | str] = set()
    overwritten: set[int | str] = set()
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            mutated |= {position, argument.name}
            if name in _FILL or argument.is_out:
                overwritten |= {position, argument.name}
    return name, frozenset(mutated), frozenset(overwritten)


def _changed_bytes(name: str, args: Sequence[Any]) -> int:
    """Bytes of the elements that an operator with indices changes in place."""
    first = args[0]
    if name.startswith("scatter"):
        elements = args[2].numel()
    elif name.endswith(("put_", "impl_")):
        elements = _indexed_elements(first, args[1])
    else:
        elements = first.numel() // max(1, first.shape[args[1]]) * args[2].numel()
    return min(int(elements * first.element_size()), tensor_bytes(first))


def _indexed_elements(tensor: Any, indices: Sequence[Any]) -> int:
    import torch

    given = [index for index in indices if index is not None]
    if any(index.dtype in (torch.bool, torch.uint8) for index in given):
        return int(tensor.numel())
    pairs = itertools.zip_longest(tensor.shape, indices)
    rest = math.prod(size for size, index in pairs if index is None)
    return int(rest * math.prod(torch.broadcast_shapes(*(index.shape for index in given))))


def tensor_bytes(tensor: Any) -> int:
    """Bytes of the distinct elements of a strided tensor."""
    if tensor.is_contiguous():
        return int(tensor.numel()) * int(tensor.element_size())
    if not tensor.numel():
        return 0
    steps: dict[int, int] = {}  # by how many places along each stride
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride and size > 1:
            steps[stride] = steps.get(stride, 0) + size - 1
    combinations = math.prod(1 + count for count in steps.values())
    spread = sum(stride * count for stride, count in steps.items())
    extent = spread // max(1, math.gcd(*steps)) + 1
    return min(combinations, extent) * int(tensor.element_size())


def tensors(tree: Any) -> Iterator[Any]:
    """Yield the tensors in nested tuples, lists and dicts."""
    import torch

    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, tuple | list):
        for item in tree:
            yield from tensors(item)
    elif isinstance(tree, dict):
        yield from tensors(list(tree.values()))
