"""FLOPs of layers forward and backward: by hand, by torch's own counter where it has a formula, and
the same on the CPU as on the meta device."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from tests.programs_of_torch import ModelOfGpt2Shape
from trace.costs import measure

B, T, D, K, H = 2, 6, 8, 5, 2
"""Batch, length, width, outputs, heads."""


def differentiable(*shape):
    return torch.ones(*shape, requires_grad=True)


def product(rows, inner, columns):
    return 2 * rows * inner * columns


def attention(batch, heads, queries, keys, width):
    """Scores, and values weighted by them."""
    return batch * heads * (product(queries, width, keys) + product(queries, keys, width))


def attended(*shapes, **options):
    q, k, v = (differentiable(*shape) for shape in shapes)
    return F.scaled_dot_product_attention(q, k, v, **options)


SCORES_AGAIN = B * H * product(T, D, T)
"""A flash kernel keeps no scores: its backward pass computes them once more."""

# a layer on inputs that need gradients -> FLOPs forward, FLOPs backward
LAYERS = {
    "linear": (
        lambda: nn.Linear(D, K)(differentiable(B, D)),
        product(B, D, K),
        2 * product(B, D, K),
    ),
    "linear on data, which needs no gradient": (
        lambda: nn.Linear(D, K)(torch.ones(B, D)),
        product(B, D, K),
        product(B, D, K),
    ),
    "bmm": (
        lambda: torch.bmm(differentiable(B, T, D), differentiable(B, D, K)),
        B * product(T, D, K),
        2 * B * product(T, D, K),
    ),
    "einsum": (
        lambda: torch.einsum("btd,bsd->bts", differentiable(B, T, D), differentiable(B, K, D)),
        B * product(T, D, K),
        2 * B * product(T, D, K),
    ),
    "matrix-vector": (
        lambda: differentiable(T, D) @ differentiable(D),
        product(T, D, 1),
        product(D, T, 1),  # to the vector; to the matrix it is an outer product, elementwise
    ),
    "conv1d, padded": (
        lambda: F.conv1d(differentiable(B, 3, 10), differentiable(4, 3, 5), padding=2),
        2 * B * 4 * 10 * 3 * 5,
        2 * 2 * B * 4 * 10 * 3 * 5,
    ),
    "conv2d, stride 2": (
        lambda: F.conv2d(differentiable(B, 3, 8, 8), differentiable(4, 3, 2, 2), stride=2),
        2 * B * 4 * 4 * 4 * 3 * 2 * 2,
        2 * 2 * B * 4 * 4 * 4 * 3 * 2 * 2,
    ),
    "conv2d, groups": (
        lambda: F.conv2d(differentiable(B, 4, 6, 6), differentiable(6, 2, 3, 3), groups=2),
        2 * B * 6 * 4 * 4 * 2 * 3 * 3,
        2 * 2 * B * 6 * 4 * 4 * 2 * 3 * 3,
    ),
    "conv3d, dilated": (
        lambda: F.conv3d(differentiable(B, 2, 5, 5, 5), differentiable(3, 2, 2, 2, 2), dilation=2),
        2 * B * 3 * 3 * 3 * 3 * 2 * 8,
        2 * 2 * B * 3 * 3 * 3 * 3 * 2 * 8,
    ),
    "conv_transpose2d": (
        lambda: F.conv_transpose2d(differentiable(B, 3, 4, 4), differentiable(3, 2, 2, 2)),
        2 * B * 3 * 4 * 4 * 2 * 2 * 2,
        2 * 2 * B * 3 * 4 * 4 * 2 * 2 * 2,
    ),
    "attention": (
        lambda: attended(*[(B, H, T, D)] * 3),
        attention(B, H, T, T, D),
        2 * attention(B, H, T, T, D) + SCORES_AGAIN,
    ),
    "causal attention, not discounted": (
        lambda: attended(*[(B, H, T, D)] * 3, is_causal=True),
        attention(B, H, T, T, D),
        2 * attention(B, H, T, T, D) + SCORES_AGAIN,
    ),
    "attention with a mask": (
        lambda: attended(*[(B, H, T, D)] * 3, attn_mask=torch.ones(T, T).tril().bool()),
        attention(B, H, T, T, D),
        2 * attention(B, H, T, T, D) + SCORES_AGAIN,
    ),
    "attention written out": (
        lambda: (
            (differentiable(B, H, T, D) @ differentiable(B, H, D, T)).softmax(-1)
            @ differentiable(B, H, T, D)
        ),
        attention(B, H, T, T, D),
        2 * attention(B, H, T, T, D),
    ),
    "LSTM": (
        lambda: nn.LSTM(D, K)(differentiable(T, B, D))[0],
        T * B * (product(1, D, 4 * K) + product(1, K, 4 * K)),
        2 * T * B * (product(1, D, 4 * K) + product(1, K, 4 * K)),
    ),
    "multi-head attention": (
        lambda: nn.MultiheadAttention(D, H, batch_first=True)(*[differentiable(B, T, D)] * 3)[0],
        4 * product(B * T, D, D) + attention(B, H, T, T, D // H),
        2 * (4 * product(B * T, D, D) + attention(B, H, T, T, D // H)),
    ),
}
SILENT = {"matrix-vector", "attention with a mask", "LSTM", "conv2d, groups"}
SILENT |= {"attention", "causal attention, not discounted"}
"""Where torch's counter has no formula for what the CPU runs, or one that is too large (groups)."""


@pytest.mark.parametrize("name", LAYERS)
def test_layers_cost_what_a_hand_count_gives(name):
    run, forward_flops, backward_flops = LAYERS[name]
    with measure() as forward:
        result = run()
    with measure() as backward:
        result.sum().backward()
    assert (forward.matmul_flops, backward.matmul_flops) == (forward_flops, backward_flops)


@pytest.mark.parametrize("name", LAYERS)
def test_torch_s_counter_agrees_wherever_it_has_a_formula(name):
    run, forward_flops, backward_flops = LAYERS[name]
    with FlopCounterMode(display=False) as counter:
        run().sum().backward()
    agrees = counter.get_total_flops() == forward_flops + backward_flops
    assert agrees is (name not in SILENT)


@pytest.mark.parametrize("needs_gradient", [True, False])
def test_two_layers_forward_and_backward(needs_gradient):
    rows, width, outputs = 1024, 256, 64
    model = nn.Sequential(
        nn.Linear(width, width, bias=False), nn.Linear(width, outputs, bias=False)
    )
    x = torch.randn(rows, width, requires_grad=needs_gradient)
    with measure() as forward:
        loss = model(x).square().mean()
    with measure() as backward:
        loss.backward()
    assert forward.matmul_flops == 167_772_160
    assert backward.matmul_flops == (335_544_320 if needs_gradient else 201_326_592)


def test_grouped_heads_count_once_for_each_head_of_queries():
    with measure() as cost:
        attended((B, 4, T, D), (B, 2, K, D), (B, 2, K, D), enable_gqa=True)
    assert cost.matmul_flops == attention(B, 4, T, K, D)


def transformer():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(D, H, 4 * D, dropout=0.0, batch_first=True)
    return nn.Sequential(nn.Embedding(11, D), nn.TransformerEncoder(layer, 2), nn.Linear(D, 11))


def attention_written_out():
    torch.manual_seed(0)
    return ModelOfGpt2Shape(layers=2, width=D, heads=H)


def convolutions():
    return nn.Sequential(
        nn.Embedding(11, D), nn.Conv1d(T, 4, 3), nn.GELU(), nn.Flatten(), nn.Linear(4 * 6, 3)
    )


def costs_on(device, build):
    model = build().to(device)
    tokens = torch.zeros(B, T, dtype=torch.long, device=device)
    with measure() as forward:
        result = model(tokens)
    with measure() as backward:
        result.square().mean().backward()
    assert not forward.uncounted + backward.uncounted
    return forward, backward


@pytest.mark.parametrize("build", [attention_written_out, convolutions])
def test_the_meta_device_costs_the_same_as_the_cpu(build):
    on_cpu, on_meta = (
        [(cost.matmul_flops, cost.other_flops) for cost in costs_on(device, build)]
        for device in ("cpu", "meta")
    )
    assert on_cpu == on_meta
    assert all(min(flops) > 0 for flops in on_cpu)


def test_on_meta_torch_writes_attention_out_and_keeps_the_scores():
    (cpu_forward, cpu_backward), (meta_forward, meta_backward) = (
        costs_on(device, transformer) for device in ("cpu", "meta")
    )
    assert cpu_forward.matmul_flops == meta_forward.matmul_flops
    scores_of_both_layers = 2 * B * H * product(T, D // H, T)
    assert cpu_backward.matmul_flops - meta_backward.matmul_flops == scores_of_both_layers


# layers, width, heads, length -> FLOPs of a forward pass
GPT2_SHAPES = [
    (12, 768, 12, 1024, 349_630_365_696),
    (24, 1024, 16, 1024, 1_033_109_504_000),
    (36, 1280, 20, 1024, 2_257_754_521_600),
    (48, 1600, 25, 1024, 4_513_336_524_800),
    (48, 1600, 25, 16384, 149_522_795_724_800),
]


@pytest.mark.parametrize(("layers", "width", "heads", "length", "flops"), GPT2_SHAPES)
def test_whole_models_of_the_shapes_of_gpt2(layers, width, heads, length, flops):
    with torch.device("meta"):
        model = ModelOfGpt2Shape(layers, width, heads)
        tokens = torch.zeros(1, length, dtype=torch.long)
    with measure() as forward:
        logits = model(tokens)
    assert forward.matmul_flops == flops
    with measure() as backward:
        logits.sum().backward()
    assert backward.matmul_flops == 2 * flops
