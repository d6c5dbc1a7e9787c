"""FLOPs of matrix products, two per multiply-add, where torch's own formulas are silent.

`torch.utils.flop_counter` knows `mm`, `addmm`, `bmm`, `baddbmm`, convolutions and the attention
kernels of CUDA. Here are the others, by the name of the operator: a function of its arguments and
its result. What the kernel computes is counted: fused attention keeps no scores and computes them
once more in its backward pass, attention written out does not. Causal masking is not discounted.
Adding a bias is part of the product: the k products of an element need k - 1 additions among
themselves and one for the bias. A complex multiply-add is four real ones.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

Formula = Callable[[Sequence[Any], Mapping[str, Any], Any], int]


def product_flops(rows: int, inner: int, columns: int) -> int:
    """FLOPs of a (rows, inner) by (inner, columns) product."""
    return 2 * rows * inner * columns


def attention_flops(query: Any, key: Any, value: Any) -> int:
    """FLOPs of scores and weighted values for (..., heads, length, width) tensors.

    Heads of keys and values that several heads of queries share count once for each of those.
    """
    *batch, queries, width = map(int, query.shape)
    keys, value_width = map(int, value.shape[-2:])
    return math.prod(batch) * (
        product_flops(queries, width, keys) + product_flops(queries, keys, value_width)
    )


def attention_backward_flops(query: Any, key: Any, value: Any) -> int:
    """FLOPs of the backward pass: the scores once more, and two products for each of the two."""
    *batch, queries, width = map(int, query.shape)
    keys = int(value.shape[-2])
    scores = math.prod(batch) * product_flops(queries, width, keys)
    return scores + 2 * attention_flops(query, key, value)


def _matrix_vector(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    matrix = args[-2]
    return product_flops(matrix.shape[0], matrix.shape[1], 1)


def _dot(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    return product_flops(1, args[0].shape[0], 1)


def _sum_of_products(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    batch, rows, inner = map(int, args[1].shape)
    return batch * product_flops(rows, inner, args[2].shape[-1])


def _plain_product(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    rows, inner = args[0].shape
    return product_flops(rows, inner, out.shape[-1])


def _added_product(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """A product of two matrices, or of two stacks of them, added to the first argument."""
    return product_flops(int(args[1].numel()), 1, args[2].shape[-1])


def _grouped_product(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """Groups of rows, of columns, of inner indices, or whole matrices, each with its partner."""
    first, second = args[:2]
    by_columns = first.dim() == 3 and second.dim() == 2
    elements = int(first.numel()) // (first.shape[0] if by_columns else 1)
    return product_flops(elements, 1, second.shape[-1])


def _trilinear(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """Two products: over the first factor's axis, then over the second's."""
    sizes = _common_sizes(args)
    summed = [sizes[axis] for axis in args[6]]
    whole = math.prod(sizes)
    return 2 * whole + (2 * whole // summed[0] if len(summed) > 1 else 0)


def _common_sizes(args: Sequence[Any]) -> list[int]:
    """Sizes of the axes that the three factors of `_trilinear` are expanded to."""
    sizes: dict[int, int] = {}
    for factor, expanded in zip(args[:3], args[3:6], strict=True):
        axes = [axis for axis in range(factor.dim() + len(expanded)) if axis not in expanded]
        sizes.update(zip(axes, factor.shape, strict=True))
    return [sizes[axis] for axis in sorted(sizes)]


def _recurrent_layer(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """Each step multiplies the input and the state by their weights."""
    steps, batch = args[0].shape[:2]
    return sum(product_flops(steps * batch, *weight.shape) for weight in args[1:3])


def _recurrent_layer_backward(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    return 2 * _recurrent_layer(args, kwargs, out)


def _cudnn_recurrent(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    steps, batch = args[0].shape[:2]
    matrices = [weight for weight in args[1] if weight.dim() == 2]
    return sum(product_flops(steps * batch, *weight.shape) for weight in matrices)


def _attention(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    return attention_flops(*args[:3])


def _attention_backward(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    return attention_backward_flops(*args[1:4])


def _native_attention(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """`nn.MultiheadAttention` as one operator: projections, scores, values, output."""
    batch, queries, width = map(int, args[0].shape)
    keys = int(args[1].shape[1])
    projections = product_flops(batch * queries, width, 2 * width)  # queries, output
    projections += product_flops(batch * keys, width, 2 * width)  # keys, values
    return projections + 2 * batch * product_flops(queries, width, keys)


def _encoder_layer(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """`nn.TransformerEncoderLayer` as one operator."""
    source, first, second = args[0], args[14], args[16]
    batch, length, _ = source.shape
    feed_forward = sum(product_flops(batch * length, *weight.shape) for weight in (first, second))
    return _native_attention((source, source, source), kwargs, out) + feed_forward


def _convolution_backward(args: Sequence[Any], kwargs: Mapping[str, Any], out: Any) -> int:
    """Each gradient asked for takes the products of the forward pass. (torch's own formula is too
    large where there are groups.)"""
    gradient, source, weight = args[:3]
    transposed, wanted = args[7], args[10]
    elements = int((source if transposed else gradient).numel())
    forward_flops = product_flops(elements, math.prod(weight.shape[1:]), 1)
    return forward_flops * sum(map(bool, wanted[:2]))


FORMULAS: dict[str, Formula] = {
    "aten.mv": _matrix_vector,
    "aten.addmv": _matrix_vector,
    "aten.addmv_": _matrix_vector,
    "aten.dot": _dot,
    "aten.vdot": _dot,
    "aten.addmm_": _added_product,
    "aten.baddbmm_": _added_product,
    "aten._addmm_activation": _added_product,
    "aten._grouped_mm": _grouped_product,
    "aten._scaled_grouped_mm": _grouped_product,
    "aten.addbmm": _sum_of_products,
    "aten.addbmm_": _sum_of_products,
    "aten._int_mm": _plain_product,
    "aten._weight_int8pack_mm": _plain_product,
    "aten._weight_int4pack_mm": _plain_product,
    "aten._weight_int4pack_mm_for_cpu": _plain_product,
    "aten._trilinear": _trilinear,
    "aten.mkldnn_rnn_layer": _recurrent_layer,
    "aten.mkldnn_rnn_layer_backward": _recurrent_layer_backward,
    "aten._cudnn_rnn": _cudnn_recurrent,
    "aten._scaled_dot_product_flash_attention_for_cpu": _attention,
    "aten._scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "aten.convolution_backward": _convolution_backward,
    "aten._native_multi_head_attention": _native_attention,
    "aten._transformer_encoder_layer_fwd": _encoder_layer,
}
