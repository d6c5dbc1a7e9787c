"""FLOPs of everything that is no matrix product: a convention, in one table.

What a processor spends on a square root or an exponential differs from one to the next, so these
are counts by agreement and not measurements:

- an addition, subtraction, multiplication, division, comparison or absolute value is 1 FLOP, a sum
  that scales its second part (`alpha`) 2;
- an elementary function of one number (square root, exponential, logarithm, sine, tanh, erf, power,
  and the activations built on one of them: sigmoid, SiLU, GELU) is 20;
- a power with one of the exponents 0 to 3 is as many products as it takes;
- moving, filling, indexing, converting or drawing elements is 0;
- a reduction is 1 for each element it reads;
- integers, truth values and complex numbers count like real ones.

An entry gives FLOPs per element of the result, or of the (first) argument where that is said.
"""

from typing import NamedTuple

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

FUNCTION_FLOPS = 20
"""Of an elementary function of one number."""
WHOLE_POWERS: dict[float, int] = {0: 0, 1: 0, 2: 1, 3: 2}
"""Products for each element, by exponent; torch multiplies here instead of calling a function."""


class Rate(NamedTuple):
    """What an operator costs for each element."""

    flops: int
    of: str = "result"
    """The elements that are counted: of the `result`, or of the first `argument`."""


def _names(text: str) -> list[str]:
    return [f"aten.{name}" for name in text.split()]


RATES: dict[str, Rate] = {}

for _name in _names("""
    empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like new_zeros ones
    ones_like new_ones full full_like new_full fill zero eye arange linspace scalar_tensor
    rand randn randint randperm rand_like randn_like randint_like normal uniform bernoulli
    exponential random multinomial copy clone contiguous _to_copy to detach lift lift_fresh
    lift_fresh_copy alias view _unsafe_view reshape _reshape_alias cat stack split unsafe_split
    split_with_sizes unsafe_chunk index index_put _index_put_impl_ index_select index_copy
    index_fill gather scatter select_scatter slice_scatter diagonal_scatter take embedding
    where masked_fill masked_select masked_scatter tril triu flip roll repeat repeat_interleave
    expand pad constant_pad_nd slice_backward select_backward unfold_backward diagonal_backward
    as_strided as_strided_copy t transpose permute squeeze unsqueeze set_ resize_
    _local_scalar_dense
    item is_same_size nonzero sort argsort topk unique unique2 _unique2 bucketize searchsorted
    _foreach_zero _foreach_copy _amp_update_scale _pin_memory record_stream
    complex real imag view_as_real view_as_complex _conj conj_physical resolve_conj
    tril_indices triu_indices narrow_copy _to_sparse _to_sparse_csr values indices nll_loss_forward
    nll_loss_backward
"""):
    RATES[_name] = Rate(0)

for _name in _names("""
    add sub rsub mul div neg abs sign relu hardtanh maximum minimum clamp clamp_min clamp_max eq ne
    lt le gt ge logical_and logical_or logical_not logical_xor bitwise_and bitwise_or bitwise_not
    bitwise_xor floor ceil round trunc remainder fmod floor_divide reciprocal square threshold
    threshold_backward isnan isinf isfinite native_dropout native_dropout_backward sgn leaky_relu
    leaky_relu_backward hardtanh_backward fmin fmax heaviside copysign xlogy
    _foreach_add _foreach_sub _foreach_mul _foreach_div _foreach_neg _foreach_abs _foreach_maximum
    _foreach_minimum _foreach_clamp_min _foreach_clamp_max _foreach_reciprocal _foreach_sign
"""):
    RATES[_name] = Rate(1)

for _name in _names("""
    sqrt rsqrt exp exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan atan2 sinh cosh tanh
    erf erfc erfinv pow sigmoid silu gelu mish elu softplus log_sigmoid_forward logaddexp logit
    lgamma digamma hypot elu_backward softplus_backward log_sigmoid_backward mish_backward
    _foreach_sqrt _foreach_rsqrt _foreach_exp _foreach_log _foreach_pow _foreach_tanh
"""):
    RATES[_name] = Rate(FUNCTION_FLOPS)

for _name in _names("""
    sum mean prod amax amin max min argmax argmin any all cumsum cumprod logcumsumexp nansum
    count_nonzero median trace aminmax histc bincount
"""):
    RATES[_name] = Rate(1, "argument")

RATES |= {
    "aten.lerp": Rate(3),  # start + weight * (end - start)
    "aten._foreach_lerp": Rate(3),
    "aten._amp_foreach_non_finite_check_and_unscale": Rate(2, "argument"),  # comparison, product
    "aten.equal": Rate(1, "argument"),
    "aten.addcmul": Rate(3),  # self + value * a * b
    "aten._foreach_addcmul": Rate(3),
    "aten.addcdiv": Rate(3),  # self + value * a / b
    "aten._foreach_addcdiv": Rate(3),
    "aten.ger": Rate(1),
    "aten.addr": Rate(2),
    "aten.var": Rate(4, "argument"),  # mean; deviation, its square, their sum
    "aten.std": Rate(4, "argument"),
    "aten.var_mean": Rate(4, "argument"),
    "aten.norm": Rate(2, "argument"),  # square, sum
    "aten.linalg_vector_norm": Rate(2, "argument"),
    "aten._foreach_norm": Rate(2, "argument"),
    "aten._softmax": Rate(FUNCTION_FLOPS + 4),  # maximum, difference, exp, sum, quotient
    "aten._safe_softmax": Rate(FUNCTION_FLOPS + 4),
    "aten._log_softmax": Rate(FUNCTION_FLOPS + 4),
    "aten.logsumexp": Rate(FUNCTION_FLOPS + 3, "argument"),
    "aten._softmax_backward_data": Rate(4),  # product, sum, difference, product
    "aten._log_softmax_backward_data": Rate(FUNCTION_FLOPS + 3),
    "aten.sigmoid_backward": Rate(3),
    "aten.tanh_backward": Rate(3),
    "aten.silu_backward": Rate(FUNCTION_FLOPS + 5),
    "aten.gelu_backward": Rate(2 * FUNCTION_FLOPS + 6),  # erf and its derivative
    "aten.native_layer_norm": Rate(8),  # mean 1, variance 3, normalise 2, gain and bias 2
    "aten.native_layer_norm_backward": Rate(14, "argument"),
    "aten._fused_rms_norm": Rate(4),  # square, sum, scale, gain
    "aten._fused_rms_norm_backward": Rate(8, "argument"),
    "aten.native_batch_norm": Rate(8),
    "aten.native_batch_norm_backward": Rate(14, "argument"),
    "aten.native_group_norm": Rate(8),
    "aten.native_group_norm_backward": Rate(14, "argument"),
    "aten.embedding_dense_backward": Rate(1, "argument"),  # each gradient is added to its row
    "aten.index_add": Rate(1, "argument"),
    "aten.scatter_add": Rate(1, "argument"),
    "aten.mse_loss": Rate(3, "argument"),
    "aten.mse_loss_backward": Rate(3),
    "aten.smooth_l1_loss": Rate(5, "argument"),
    "aten.smooth_l1_loss_backward": Rate(5),
    "aten.huber_loss": Rate(5, "argument"),
    "aten.huber_loss_backward": Rate(5),
    "aten.binary_cross_entropy": Rate(2 * FUNCTION_FLOPS + 5, "argument"),
    "aten.binary_cross_entropy_backward": Rate(5),
    "aten._fused_adamw": Rate(13 + FUNCTION_FLOPS, "argument"),  # 3 + 4 + 24 + 2, as written out
    "aten._fused_adam": Rate(11 + FUNCTION_FLOPS, "argument"),
    "aten._fused_sgd": Rate(4, "argument"),
    "aten._fused_adagrad": Rate(5 + FUNCTION_FLOPS, "argument"),
}


def rate_of(operator: str) -> Rate | None:
    """Return the entry of an operator; an in-place one costs what its other form costs."""
    return RATES.get(operator) or RATES.get(operator.removesuffix("_"))
