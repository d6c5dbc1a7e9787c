"""A fingerprint of this machine's arithmetic: equal where floats come out equal to the last bit.

Two processors with the same vector instructions may still round differently: libraries choose
their kernels by the model of the processor, its caches and the number of threads, and each kernel
adds in an order of its own. So some kernels are run on fixed numbers, and their results hashed.
"""

import ctypes
import hashlib
import math
from collections.abc import Iterator
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

DIGITS = 12
"""Hexadecimal digits of a fingerprint."""

_DTYPES = ("float64", "float32", "bfloat16", "float16")
# Rows, inner size and columns of matrix products: smaller than a vector register, odd, a matrix
# times a vector, cut into blocks, cut into parts for several threads.
_PRODUCTS = ((3, 5, 7), (17, 33, 65), (8, 64, 1), (61, 257, 130), (192, 256, 320))
_MAPS = ("exp", "log1p", "sin", "tanh", "sigmoid", "erf", "sqrt", "rsqrt", "reciprocal")
_ALONG_ROWS = ("softmax", "log_softmax", "logsumexp", "cumsum", "sum", "mean", "std", "norm")
_LONG = 70_001  # elements: more than torch gives to a single thread, and odd


def fingerprint(torch: Any) -> str:
    """Return a short hash of what torch on the CPU and Python's `math` compute here.

    It follows the settings in force, such as the number of threads, and changes none. It draws no
    random numbers and uses no GPU. Call it outside of metering.
    """
    hashed = hashlib.sha256(repr(list(_of_python())).encode())
    with torch.no_grad(), torch.autocast("cpu", enabled=False):
        for name in _DTYPES:
            for result in _of_torch(torch, getattr(torch, name)):
                hashed.update(_bytes_of(result.contiguous()))
    return hashed.hexdigest()[:DIGITS]


def _bytes_of(tensor: Any) -> bytes:
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def _of_python() -> Iterator[float]:
    for n in range(1, 64):
        x = n / 61
        yield from (math.exp(x), math.log(x), math.sin(x), math.tanh(x), math.erf(x), x**1.7)


def _of_torch(torch: Any, dtype: Any) -> Iterator[Any]:
    """Run the kernels one by one, and return what each computes."""

    def numbers(*shape: int) -> Any:
        """Numbers from -0.5 to 0.5 without a pattern: rounded quotients, the same everywhere."""
        count = torch.arange(math.prod(shape), dtype=torch.int64, device="cpu")
        return ((count * 7919 % 1009).double() / 1009 - 0.5).to(dtype).view(shape)

    for rows, inner, columns in _PRODUCTS:
        left, right = numbers(rows, inner), numbers(inner, columns)
        yield left @ right
        yield left.T.contiguous().T @ right  # as in the backward of a product
    positive = numbers(61, 53).abs() + 0.25
    for name in _MAPS:
        yield getattr(torch, name)(positive)
    for name in _ALONG_ROWS:
        yield getattr(torch, name)(positive, dim=-1)
    for name in ("sum", "mean", "std", "norm"):
        yield getattr(torch, name)(numbers(_LONG))
    functions = torch.nn.functional
    yield functions.gelu(positive)
    yield functions.silu(positive)
    yield functions.layer_norm(positive, (53,))
    yield functions.rms_norm(positive, (53,))
    yield functions.conv2d(numbers(2, 3, 12, 11), numbers(5, 3, 3, 3))
    heads = numbers(3, 2, 4, 19, 16)
    yield functions.scaled_dot_product_attention(*heads, is_causal=True)
