"""Bounded pictures of tensors and arrays: shape, dtype, strides, storage, elements or corners.

torch and numpy are looked up in `sys.modules`: if neither is loaded, nothing is a tensor.
"""

import contextlib
import math
import sys
import weakref
from collections.abc import Iterator
from typing import Any

from ..own_builtins import use_own_builtins
from ..schema import Value

use_own_builtins(globals())

MAX_ELEMENTS = 200
"""Tensors with at most so many elements are recorded whole."""
EDGE = 4
"""Indices kept at each end of each of the last two axes of a larger tensor."""
MAX_STATISTICS_ELEMENTS = 10_000_000
"""Tensors with more elements are recorded without statistics."""
BLOCK_ELEMENTS = 100_000
"""Elements that are copied at a time to compute statistics."""
BINS = 20
"""Bins of a histogram."""
DIGITS = {"float64": 17, "float32": 8, "float16": 5}
"""Significant digits recorded of an element; other floating-point types get 4."""


class StorageNumbers:
    """Gives each storage a small number in the order of first sight; a number is never reused."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._count = 0

    def of(self, storage: Any) -> int:
        """Return the number of a storage."""
        key = id(storage)
        if key not in self._numbers:
            self._count += 1
            self._numbers[key] = self._count
            weakref.finalize(storage, self._numbers.pop, key, None).atexit = False
        return self._numbers[key]


def _is_torch(value: object) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and issubclass(type(value), torch.Tensor)


def is_tensor(value: object) -> bool:
    """Tell whether a value is a torch tensor or a numpy array."""
    numpy = sys.modules.get("numpy")
    return _is_torch(value) or (numpy is not None and issubclass(type(value), numpy.ndarray))


def snapshot(value: Any, storages: StorageNumbers) -> Value:
    """Return the picture of a tensor or an array. Reads nothing but the elements it shows."""
    if not _is_torch(value):
        return _array(value)
    with unobserved():
        picture = _tensor(value.detach(), storages)
    picture["type"] = type(value).__name__
    picture["requires_grad"] = bool(value.requires_grad)
    return picture


@contextlib.contextmanager
def unobserved() -> Iterator[None]:
    """What runs inside is seen by no dispatch mode (hence by no meter), by no autograd, and not by
    `torch.jit.trace`."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    from torch.utils._python_dispatch import _disable_current_modes

    tracing = torch._C._get_tracing_state()
    torch._C._set_tracing_state(None)
    try:
        with torch._C.DisableTorchFunction(), _disable_current_modes(), torch.no_grad():
            yield
    finally:
        torch._C._set_tracing_state(tracing)


MAX_GLANCE_ELEMENTS = 64
"""Tensors with at most so many elements are shown whole at a glance."""


def text_at_a_glance(value: Any, cls: type) -> str | None:
    """Return the text of what says briefly itself what it is: a dtype, a shape, a numpy scalar."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and cls in (torch.dtype, torch.device, torch.Size):
        return repr(value)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.generic):
        return str(_number(value.item(), str(value.dtype)))
    return None


def glance(
    value: Any, cls: type, storages: StorageNumbers, *, whole: bool
) -> dict[str, Any] | None:
    """Return what a tensor or an array shows at a glance, as plain hashable values, or None of
    anything else. What is usual is left out; elements are shown where they are few, if `whole`.
    """
    torch: Any = sys.modules.get("torch")
    if torch is not None and issubclass(cls, torch.Tensor):
        is_plain = cls is torch.Tensor or cls is torch.nn.Parameter
        if is_plain and not _is_observed(torch) and not _is_of_eight_bits(value):
            return _tensor_at_a_glance(value, storages, whole=whole)
        with unobserved():
            return _tensor_at_a_glance(value, storages, whole=whole and is_plain)
    numpy: Any = sys.modules.get("numpy")
    if numpy is not None and issubclass(cls, numpy.ndarray):
        return _array_at_a_glance(value, whole=whole and cls is numpy.ndarray)
    return None


def _is_observed(torch: Any) -> bool:
    """Tell whether somebody sees that attributes of a plain tensor are asked for."""
    is_traced = torch._C._get_tracing_state() is not None
    return is_traced or bool(torch._C._len_torch_function_stack())


def _is_of_eight_bits(tensor: Any) -> bool:
    """Tell whether elements are floats that have to be cast to be read."""
    return bool(tensor.element_size() == 1 and tensor.is_floating_point())


def _tensor_at_a_glance(tensor: Any, storages: StorageNumbers, *, whole: bool) -> dict[str, Any]:
    shape = tuple(tensor.shape)
    picture: dict[str, Any] = {"dtype": str(tensor.dtype).removeprefix("torch."), "cut": True}
    if not all(type(size) is int for size in shape):
        return picture
    picture["shape"] = shape
    if tensor.device.type != "cpu":
        picture["device"] = str(tensor.device)
    if tensor.requires_grad:
        picture["requires_grad"] = True
    try:
        if tensor.layout is sys.modules["torch"].strided and not tensor.is_quantized:
            _add_memory(picture, tensor, storages, shape)
            if whole and tensor.device.type == "cpu" and math.prod(shape) <= MAX_GLANCE_ELEMENTS:
                known = tensor.float() if _is_of_eight_bits(tensor) else tensor
                _add_few(picture, known.tolist())
    except Exception:  # inside vmap, or of a class that only knows shapes
        picture["cut"] = True
    return picture


def _add_memory(
    picture: dict[str, Any], tensor: Any, storages: StorageNumbers, shape: tuple[int, ...]
) -> None:
    """Add where the elements lie."""
    picture["storage"] = storages.of(tensor.untyped_storage())
    if not tensor.is_contiguous():
        picture["strides"] = tuple(tensor.stride())
    if offset := tensor.storage_offset():
        picture["offset"] = offset


def _array_at_a_glance(array: Any, *, whole: bool) -> dict[str, Any]:
    shape = tuple(array.shape)
    picture: dict[str, Any] = {"dtype": str(array.dtype), "shape": shape, "cut": True}
    if not array.flags.c_contiguous and array.itemsize:
        picture["strides"] = tuple(stride // array.itemsize for stride in array.strides)
    if whole and array.dtype.kind in "biufc" and math.prod(shape) <= MAX_GLANCE_ELEMENTS:
        _add_few(picture, array.tolist())
    return picture


def _add_few(picture: dict[str, Any], elements: Any) -> None:
    """Add the elements of nested lists, in row-major order."""
    for _ in picture["shape"][1:]:
        elements = [item for row in elements for item in row]
    if not picture["shape"]:
        elements = [elements]
    picture["elements"] = tuple([_number(item, picture["dtype"]) for item in elements])
    del picture["cut"]


def numpy_scalar(value: Any) -> Value:
    """Return the picture of a numpy scalar such as `float32(1.5)`."""
    item = _number(value.item(), str(value.dtype))
    name = type(value).__name__
    return {"type": name, "text": item} if isinstance(item, str) else {"type": name, "value": item}


def _tensor(tensor: Any, storages: StorageNumbers) -> Value:
    picture: Value = {"type": "Tensor", "dtype": str(tensor.dtype).removeprefix("torch.")}
    shape = list(tensor.shape)
    if not all(type(size) is int for size in shape):  # a symbol stands for a ragged axis
        return {**picture, "text": f"shape ({', '.join(map(str, shape))})"}
    picture |= {
        "type": "Tensor",
        "shape": shape,
        "device": str(tensor.device),
        "bytes": tensor.numel() * tensor.element_size(),
    }
    try:
        return _with_contents(picture, tensor, storages)
    except Exception:  # inside vmap, or of a class that only knows shapes
        return {**picture, "text": "its elements cannot be read"}


def _with_contents(picture: Value, tensor: Any, storages: StorageNumbers) -> Value:
    if str(tensor.layout) != "torch.strided" or tensor.is_quantized:
        return {**picture, "text": f"{str(tensor.layout).removeprefix('torch.')} tensor"}
    storage = tensor.untyped_storage()
    picture |= {
        "type": "Tensor",
        "strides": list(tensor.stride()),
        "offset": tensor.storage_offset(),
        "contiguous": tensor.is_contiguous(),
        "storage": storages.of(storage),
        "storage_bytes": storage.nbytes(),
    }
    if tensor.device.type != "meta":
        _add_elements(picture, tensor)
    return picture


def _array(array: Any) -> Value:
    picture: Value = {
        "type": type(array).__name__,
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "strides": [stride // array.itemsize if array.itemsize else 0 for stride in array.strides],
        "contiguous": bool(array.flags.c_contiguous),
        "bytes": int(array.nbytes),
    }
    numpy: Any = sys.modules["numpy"]
    if issubclass(type(array), numpy.matrix):  # which always has two axes
        array = array.view(numpy.ndarray)
    _add_elements(picture, array)
    return picture


def _add_elements(picture: Value, tensor: Any) -> None:
    """All elements of a small tensor; of a large one its corners and statistics."""
    dtype, shape = picture["dtype"], picture["shape"]
    if math.prod(shape) <= MAX_ELEMENTS:
        picture["elements"] = [_number(item, dtype) for item in _flat_list(tensor)]
        return
    edges = [1] * max(0, len(shape) - 2) + [EDGE] * min(2, len(shape))
    shown = [_ends(size, edge) for size, edge in zip(shape, edges, strict=True)]
    corners = tensor
    for axis, indices in enumerate(shown):
        corners = corners[(slice(None),) * axis + (indices,)]
    picture["shown"] = shown
    picture["elements"] = [_number(item, dtype) for item in _flat_list(corners)]
    picture["cut"] = True
    if math.prod(shape) <= MAX_STATISTICS_ELEMENTS:
        _add_statistics(picture, tensor)


def _ends(size: int, edge: int) -> list[int]:
    return list(range(size)) if size <= 2 * edge else [*range(edge), *range(size - edge, size)]


def _flat_list(tensor: Any) -> list[Any]:
    """Elements in row-major order as Python numbers."""
    if _is_torch(tensor) and tensor.is_floating_point() and tensor.element_size() < 4:
        tensor = tensor.float()  # the 8-bit types know few operations
    tensor = tensor.cpu() if _is_torch(tensor) else tensor
    return list(tensor.reshape(-1).tolist())


def _number(item: Any, dtype: str) -> Any:
    """An element as JSON holds it, without digits its type does not have; an object as it is."""
    if item is None or isinstance(item, bool | str):  # None: masked
        return item
    if isinstance(item, int):
        return item if abs(item) < 2**53 else str(item)
    if isinstance(item, float):
        if not math.isfinite(item):
            return repr(item)
        return float(f"{item:.{DIGITS.get(dtype, 4)}g}")
    return item if dtype == "object" else str(item)


def _add_statistics(picture: Value, tensor: Any) -> None:
    """Range, mean, deviation and histogram of the finite elements; counts of nan and inf."""
    numpy: Any = sys.modules.get("numpy")
    if numpy is None or "complex" in picture["dtype"]:
        return
    if not _is_torch(tensor) and tensor.dtype.kind not in "fiub":
        return
    sums = _Sums(numpy)
    for block in _blocks(tensor):
        sums.add(block)
    picture["statistics"] = {"nan": sums.nan, "inf": sums.inf}
    if not sums.count:
        return
    low, high = (_number(float(end), picture["dtype"]) for end in (sums.low, sums.high))
    mean, deviation = (float(f"{moment:.6g}") for moment in sums.moments())
    picture["statistics"] |= {"min": low, "max": high, "mean": mean, "std": deviation}
    # No histogram where the range, or a bin, is too large or too small for a number.
    with contextlib.suppress(ValueError), numpy.errstate(over="ignore", invalid="ignore"):
        counts = sum(
            numpy.histogram(_finite(numpy, block), bins=BINS, range=(sums.low, sums.high))[0]
            for block in _blocks(tensor)
        )
        picture["histogram"] = {"low": low, "high": high, "counts": counts.tolist()}


def _blocks(tensor: Any) -> Iterator[Any]:
    """The elements as float64 arrays of bounded length, so that no copy of the whole is made."""
    rows = max(1, BLOCK_ELEMENTS // max(1, math.prod(tensor.shape[1:])))
    for start in range(0, tensor.shape[0], rows):
        block = tensor[start : start + rows]
        if _is_torch(block):
            block = block.cpu().double().resolve_neg().numpy()
        elif hasattr(block, "compressed"):  # without what is masked
            block = block.compressed()
        yield block.reshape(-1).astype("float64", copy=False)


def _finite(numpy: Any, block: Any) -> Any:
    finite = numpy.isfinite(block)
    return block if finite.all() else block[finite]


class _Sums:
    """Statistics of the finite elements, gathered block by block."""

    def __init__(self, numpy: Any) -> None:
        self.numpy = numpy
        self.count = self.nan = self.inf = 0
        self.low, self.high = math.inf, -math.inf
        self._mean = self._squares = 0.0  # mean so far, sum of squared deviations from it

    def add(self, block: Any) -> None:
        finite = _finite(self.numpy, block)
        missing = int(self.numpy.isnan(block).sum()) if len(finite) < len(block) else 0
        self.nan += missing
        self.inf += len(block) - len(finite) - missing
        if not len(finite):
            return
        with self.numpy.errstate(over="ignore"):  # near the largest number they are infinite
            count, mean = len(finite), float(finite.mean())
            squares = float(((finite - mean) ** 2).sum())
        self.low = min(self.low, float(finite.min()))
        self.high = max(self.high, float(finite.max()))
        total, shift = self.count + count, mean - self._mean
        self._squares += squares + shift * shift * self.count * count / total
        self._mean += shift * count / total
        self.count = total

    def moments(self) -> tuple[float, float]:
        """Mean, and the deviation of the elements as a population."""
        return self._mean, math.sqrt(self._squares / self.count)
