"""Bytes that an operator reads and writes: each element once, as if the caches were perfect.

An input counts its distinct elements, so that a broadcast one counts its real bytes; two inputs
count separately even if they are the same tensor. An output counts once. An operator in place reads
and writes its tensor, unless it only fills it. Views move nothing.
"""

import functools
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_EMPTY = frozenset(
    ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize_", "set_")
)
_FILL = frozenset(
    (
        *("fill_", "zero_", "copy_", "_foreach_zero_", "_foreach_copy_", "uniform_", "normal_"),
        *("bernoulli_", "random_", "exponential_", "cauchy_", "geometric_"),
    )
)
"""They overwrite their first argument without reading it."""
_SELECT = frozenset(("embedding", "index_select", "gather", "index", "take", "masked_select"))
"""Of their first argument they read only what they return."""


def read_and_written_bytes(
    func: Any, args: Sequence[Any], kwargs: Mapping[str, Any], out: Any
) -> tuple[int, int]:
    """Return the bytes an operator reads and writes. Tensors have to be strided."""
    name, mutated = _facts(func)
    written = {id(tensor): tensor for tensor in tensors(out)}
    read = 0
    for key, argument in (*enumerate(args), *kwargs.items()):
        for tensor in tensors(argument):
            if key in mutated:
                written[id(tensor)] = tensor
                if name in _FILL or key in _OUT:
                    continue
            read += tensor_bytes(tensor)
    if name.endswith("_like") or name.startswith("new_"):
        read = 0
    if name in _SELECT and args:
        first, selected = tensor_bytes(args[0]), sum(map(tensor_bytes, tensors(out)))
        read += min(first, selected) - first
    if name in _EMPTY:
        return 0, 0
    return read, sum(map(tensor_bytes, written.values()))


_OUT = ("out", "out0", "out1", "out2", "out3")


@functools.cache
def _facts(func: Any) -> tuple[str, frozenset[int | str]]:
    """Name of an operator, and the positions and names of the arguments it writes to."""
    schema = getattr(func, "_schema", None)
    if schema is None:
        return str(func), frozenset()
    mutated: set[int | str] = set()
    for position, argument in enumerate(schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            mutated |= {position, argument.name}
    return schema.name.partition("::")[2], frozenset(mutated)


def tensor_bytes(tensor: Any) -> int:
    """Bytes of the distinct elements of a strided tensor."""
    if tensor.is_contiguous():
        return int(tensor.numel()) * int(tensor.element_size())
    distinct, extent = 1, 1
    for size, stride in zip(tensor.shape, tensor.stride(), strict=True):
        if stride:
            distinct *= size
        extent += (size - 1) * stride
    return min(distinct, extent) * int(tensor.element_size()) if math.prod(tensor.shape) else 0


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
