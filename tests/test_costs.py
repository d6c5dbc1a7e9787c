"""The meter counts what a hand count gives, and says what it does not know."""

import contextlib

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils._python_dispatch import is_in_torch_dispatch_mode

from tests.tracing import trace_source
from trace.costs import measure
from trace.meter.products import FORMULAS

B, D, K = 3, 5, 7


def grouped(first, second, offsets):
    factors = (torch.ones(*shape, dtype=torch.bfloat16) for shape in (first, second))
    return torch._grouped_mm(*factors, offs=torch.tensor(offsets, dtype=torch.int32))


MATMULS = {
    "x @ w": (lambda: torch.ones(B, D) @ torch.ones(D, K), 2 * B * D * K),
    "batched": (lambda: torch.ones(2, B, D) @ torch.ones(2, D, K), 2 * 2 * B * D * K),
    "broadcast weight": (lambda: torch.ones(2, B, D) @ torch.ones(D, K), 2 * 2 * B * D * K),
    "linear with bias": (lambda: nn.Linear(D, K)(torch.ones(B, D)), 2 * B * D * K),
    "einsum": (
        lambda: torch.einsum("bqd,bkd->bqk", torch.ones(2, B, D), torch.ones(2, K, D)),
        2 * 2 * B * D * K,
    ),
    "convolution": (
        lambda: F.conv1d(torch.ones(1, 2, 10), torch.ones(4, 2, 3)),
        2 * 8 * 4 * 2 * 3,
    ),
    "elementwise": (lambda: torch.ones(B).relu() + 1, 0),
    "matrix-vector": (lambda: torch.ones(B, D) @ torch.ones(D), 2 * B * D),
    "addmv": (lambda: torch.addmv(torch.ones(B), torch.ones(B, D), torch.ones(D)), 2 * B * D),
    "addmm in place": (
        lambda: torch.ones(B, K).addmm_(torch.ones(B, D), torch.ones(D, K)),
        2 * B * D * K,
    ),
    "baddbmm in place": (
        lambda: torch.ones(2, B, K).baddbmm_(torch.ones(2, B, D), torch.ones(2, D, K)),
        2 * 2 * B * D * K,
    ),
    "groups of rows": (
        lambda: grouped((12, 16), (2, 16, 32), [4, 12]),
        2 * 16 * 32 * (4 + 8),
    ),
    "groups of columns": (
        lambda: grouped((2, 16, 16), (16, 24), [8, 24]),
        2 * 16 * 16 * (8 + 16),
    ),
    "dot": (lambda: torch.dot(torch.ones(D), torch.ones(D)), 2 * D),
    "complex": (
        lambda: torch.ones(B, D, dtype=torch.complex64) @ torch.ones(D, K, dtype=torch.complex64),
        4 * 2 * B * D * K,
    ),
    "int8": (
        lambda: torch._int_mm(
            torch.ones(32, 64, dtype=torch.int8), torch.ones(64, 16, dtype=torch.int8)
        ),
        2 * 32 * 64 * 16,
    ),
    "sparse": (lambda: torch.eye(4).to_sparse() @ torch.ones(4, K), 2 * 4 * K),
    "dense by sparse": (lambda: torch.ones(K, 4) @ torch.eye(4).to_sparse_csr(), 2 * 4 * K),
    "sparse blocks": (lambda: torch.eye(4).to_sparse_bsr((2, 2)) @ torch.ones(4, K), 2 * 8 * K),
    "sparse matrix-vector": (lambda: torch.eye(4).to_sparse() @ torch.ones(4), 2 * 4),
    "sparse rows": (lambda: torch.eye(4).to_sparse_csr() @ torch.ones(4, K), 2 * 4 * K),
    "conv2d, stride, groups": (
        lambda: F.conv2d(torch.ones(1, 4, 8, 8), torch.ones(6, 2, 3, 3), stride=2, groups=2),
        2 * 6 * 3 * 3 * 2 * 9,
    ),
    "conv3d": (
        lambda: F.conv3d(torch.ones(1, 1, 4, 4, 4), torch.ones(2, 1, 3, 3, 3)),
        2 * 2 * 8 * 27,
    ),
    "transposed conv1d": (
        lambda: F.conv_transpose1d(torch.ones(1, 2, 5), torch.ones(2, 3, 4)),
        2 * 5 * 2 * 3 * 4,
    ),
    "bilinear": (
        lambda: F.bilinear(torch.ones(B, 2), torch.ones(B, 3), torch.ones(4, 2, 3)),
        2 * B * 4 * 2 * 3 + 2 * B * 4 * 3,
    ),
    "attention": (
        lambda: F.scaled_dot_product_attention(*[torch.ones(2, 3, 5, 7)] * 3),
        2 * 3 * (2 * 5 * 7 * 5 + 2 * 5 * 5 * 7),
    ),
    "causal attention is not discounted": (
        lambda: F.scaled_dot_product_attention(*[torch.ones(2, 3, 5, 7)] * 3, is_causal=True),
        2 * 3 * (2 * 5 * 7 * 5 + 2 * 5 * 5 * 7),
    ),
    "attention with shared heads": (
        lambda: F.scaled_dot_product_attention(
            torch.ones(2, 4, 5, 7), *[torch.ones(2, 2, 6, 7)] * 2, enable_gqa=True
        ),
        2 * 4 * (2 * 5 * 7 * 6 + 2 * 5 * 6 * 7),
    ),
    "attention on meta": (
        lambda: F.scaled_dot_product_attention(*[torch.ones(2, 3, 5, 7, device="meta")] * 3),
        2 * 3 * (2 * 5 * 7 * 5 + 2 * 5 * 5 * 7),
    ),
    "LSTM": (
        lambda: nn.LSTM(D, K)(torch.ones(4, B, D)),
        4 * B * (2 * D * 4 * K + 2 * K * 4 * K),
    ),
    "GRU": (
        lambda: nn.GRU(D, K)(torch.ones(4, B, D)),
        4 * B * (2 * D * 3 * K + 2 * K * 3 * K),
    ),
}


@pytest.mark.parametrize(("run", "matmul_flops"), MATMULS.values(), ids=MATMULS.keys())
def test_matmul_flops_equal_a_hand_count(run, matmul_flops: int) -> None:
    with measure() as cost:
        run()
    assert cost.matmul_flops == matmul_flops


def test_inference_mode_and_meta_count_the_same() -> None:
    with torch.inference_mode(), measure() as cost:
        F.linear(torch.ones(B, D), torch.ones(K, D))
        torch.matmul(torch.ones(2, B, D), torch.ones(D, K))
    assert cost.matmul_flops == 3 * 2 * B * D * K
    with torch.device("meta"), measure() as cost:
        torch.ones(B, D) @ torch.ones(D, K)
    assert cost.matmul_flops == 2 * B * D * K


def test_autocast_and_no_grad_change_no_flops() -> None:
    layer = nn.Linear(D, K)
    for context in (torch.autocast("cpu", torch.bfloat16), torch.no_grad()):
        with context, measure() as cost:
            layer(torch.ones(B, D))
        assert cost.matmul_flops == 2 * B * D * K
        assert not cost.uncounted


def test_backward_is_two_matmuls() -> None:
    w = torch.ones(D, K, requires_grad=True)
    x = torch.ones(B, D, requires_grad=True)
    with measure() as forward:
        y = (x @ w).sum()
    with measure() as backward:
        y.backward()
    assert backward.matmul_flops == 2 * forward.matmul_flops == 4 * B * D * K


def test_layers_that_are_one_operator_count_like_their_parts() -> None:
    batch, length, width, inner = 2, 3, 8, 16
    layer = nn.TransformerEncoderLayer(width, 2, inner, batch_first=True)
    x = torch.ones(batch, length, width)
    attention = 4 * 2 * batch * length * width**2 + 4 * batch * length**2 * width
    with torch.no_grad(), measure() as parts:
        layer.train()(x)
    with torch.no_grad(), measure() as whole:
        layer.eval()(x)
    hand = attention + 2 * 2 * batch * length * width * inner
    assert (parts.matmul_flops, whole.matmul_flops) == (hand, hand)
    assert dict(whole.uncounted) == {"aten._transformer_encoder_layer_fwd": 1}
    heads = nn.MultiheadAttention(width, 2, batch_first=True).eval()
    with torch.no_grad(), measure() as cost:
        heads(x, x, x)
    assert cost.matmul_flops == attention


def test_torch_s_own_counter_agrees_where_it_counts() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model = nn.Sequential(nn.Conv1d(2, 4, 3), nn.Flatten(), nn.Linear(24, 5), nn.ReLU())
    x = torch.ones(3, 2, 8, requires_grad=True)
    with FlopCounterMode(display=False) as counter:
        model(x).sum().backward()
    with measure() as cost:
        model(x).sum().backward()
    assert cost.matmul_flops == counter.get_total_flops() > 0


ELEMENTWISE = {
    "addition": (lambda x: x + x, 1),
    "broadcast addition": (lambda x: x + 1, 1),
    "scaled addition": (lambda x: torch.add(x, x, alpha=0.5), 2),
    "scaled subtraction in place": (lambda x: x.sub_(1, alpha=2), 2),
    "addition scaled by one": (lambda x: torch.add(x, x, alpha=1), 1),
    "exponential": (lambda x: x.exp(), 20),
    "square root": (lambda x: x.sqrt_(), 20),
    "square": (lambda x: x.square(), 1),
    "cube": (lambda x: x**3, 2),
    "cubes of a list": (lambda x: torch._foreach_pow([x], 3), 2),
    "cube, then another power": (lambda x: (x**3, x**2.5), 22),
    "power of tensors": (lambda x: x**x, 20),
    "powers of two": (lambda x: 2**x, 20),
    "GELU": (lambda x: F.gelu(x), 20),
    "softmax": (lambda x: x.softmax(-1), 24),
    "sum": (lambda x: x.sum(), 1),
    "mean over an axis": (lambda x: x.mean(0), 1),
    "running sum": (lambda x: x.cumsum(0), 1),
    "comparison": (lambda x: x > 0, 1),
    "layer norm": (lambda x: F.layer_norm(x, (6,)), 8),
    "transpose": (lambda x: x.T, 0),
    "copy": (lambda x: x.clone(), 0),
    "conversion": (lambda x: x.to(torch.bfloat16), 0),
    "concatenation": (lambda x: torch.cat([x, x]), 0),
    "lookup": (lambda x: F.embedding(torch.tensor([1, 2]), x), 0),
}


@pytest.mark.parametrize(("run", "flops"), ELEMENTWISE.values(), ids=ELEMENTWISE.keys())
def test_other_flops_per_element_follow_the_convention(run, flops: int) -> None:
    x = torch.ones(4, 6)
    with measure() as cost:
        run(x)
    assert (cost.matmul_flops, cost.other_flops, dict(cost.uncounted)) == (0, 24 * flops, {})


TRAFFIC = {
    "two inputs, one output": (lambda x, w: x + x, 2 * 96, 96),
    "a product": (lambda x, w: x @ w, 96 + 48, 32),
    "a broadcast input counts its real bytes": (lambda x, w: x + x[:1], 96 + 24, 96),
    "an expanded input too": (lambda x, w: x[:1].expand(4, 6) + x, 24 + 96, 96),
    "in place": (lambda x, w: x.add_(1), 96, 96),
    "filling reads nothing": (lambda x, w: x.zero_(), 0, 96),
    "copying": (lambda x, w: x.copy_(x.flip(0)), 2 * 96, 2 * 96),
    "out=": (lambda x, w: torch.add(x, x, out=w.resize_(4, 6)), 2 * 96, 96),
    "a view moves nothing": (lambda x, w: x.T[1:].reshape(5, 4), 0, 0),
    "half of a tensor": (lambda x, w: x[:, ::2] + 1, 48, 48),
    "a lookup reads what it returns": (
        lambda x, w: F.embedding(torch.tensor([1, 1]), x),
        48 + 16,
        48,
    ),
    "a sum": (lambda x, w: x.sum(), 96, 4),
    "bfloat16": (lambda x, w: x.to(torch.bfloat16), 96, 48),
    "uninitialised memory is not written": (lambda x, w: torch.empty_like(x), 0, 0),
    "a factory writes": (lambda x, w: torch.zeros_like(x), 0, 96),
    "a view inside a product": (
        lambda x, w: torch.matmul(x.view(2, 2, 6), w),
        96 + 48,
        32,
    ),
    "a view in place": (lambda x, w: x.t_().unsqueeze_(0).squeeze_(), 0, 0),
    "indices change what they point to": (
        lambda x, w: x.index_copy_(0, torch.tensor([1, 2]), w.T),
        16 + 48,
        48,
    ),
    "and read it only if they add": (
        lambda x, w: x.index_add_(0, torch.tensor([1, 2]), w.T),
        16 + 2 * 48,
        48,
    ),
    "an assignment": (lambda x, w: x.index_put_((torch.tensor([1]),), w.T[:1]), 8 + 24, 24),
    "two results that are given": (
        lambda x, w: torch.max(x, 0, out=(torch.empty(6), torch.empty(6, dtype=torch.long))),
        96,
        24 + 48,
    ),
    "windows of a part": (lambda x, w: x[:, :4].unfold(1, 3, 1) + 0, 4 * 4 * 4, 4 * 2 * 3 * 4),
    "windows in two directions": (
        lambda x, w: x[:3, :4].unfold(0, 2, 1).unfold(1, 3, 1) + 0,
        3 * 4 * 4,
        2 * 2 * 2 * 3 * 4,
    ),
}


@pytest.mark.parametrize(("run", "read", "written"), TRAFFIC.values(), ids=TRAFFIC.keys())
def test_bytes_read_and_written(run, read: int, written: int) -> None:
    x, w = torch.ones(4, 6), torch.ones(6, 2)
    with measure() as cost:
        run(x, w)
    assert (cost.read_bytes, cost.written_bytes) == (read, written)


# what is written depends on more than the shapes of the tensors
LENGTHS = {
    "a range": lambda n: torch.arange(n),
    "a permutation": lambda n: torch.randperm(n),
    "the largest": lambda n: torch.ones(9).topk(n),
    "as many as there are": lambda n: (torch.arange(9) < n).nonzero(),
    "a selection": lambda n: torch.arange(9).masked_select(torch.arange(9) < n),
    "the gradient of a table": lambda n: torch.ops.aten.embedding_dense_backward(
        torch.ones(2, 3), torch.tensor([0, 1]), n, -1, False
    ),
}


@pytest.mark.parametrize("run", LENGTHS.values(), ids=LENGTHS)
def test_a_price_is_not_that_of_a_similar_call(run) -> None:
    written = []
    for length in (3, 5):
        with measure() as cost:
            run(length)
        with measure() as again:
            run(length)
        assert cost.written_bytes == again.written_bytes
        written.append(cost.written_bytes)
    assert written[0] < written[1]


def test_the_type_of_a_result_is_known_from_the_result() -> None:
    integers = torch.ones(4, dtype=torch.long)
    for number, written_bytes in ((1, 32), (1.5, 16)):
        with measure() as cost:
            integers + number
        assert cost.written_bytes == written_bytes


def test_an_adamw_step_costs_the_same_in_every_implementation() -> None:
    """3 for the first moment, 4 for the second, 24 for the update, 2 for the decay."""
    costs = {}
    for name in ("foreach", "fused", "for loop"):
        weight = nn.Parameter(torch.ones(100, 100))
        options = {} if name == "for loop" else {name: True}
        if name == "for loop":
            options = {"foreach": False}
        optimizer = torch.optim.AdamW([weight], **options)
        weight.grad = torch.ones(100, 100)
        optimizer.step()
        with measure() as cost:
            optimizer.step()
        costs[name] = cost.other_flops / weight.numel()
        assert dict(cost.uncounted) == {}
    assert {name: round(flops) for name, flops in costs.items()} == dict.fromkeys(costs, 33)


def test_memory_is_counted_by_storage() -> None:
    with measure() as cost:
        x = torch.zeros(4, 8)
        x.T, x[0], x.view(32), x.expand(2, 4, 8)
    assert (cost.allocated_bytes, cost.freed_bytes, cost.peak_bytes) == (128, 0, 128)
    with measure() as cost:
        del x
    assert (cost.allocated_bytes, cost.freed_bytes) == (0, 0), "it began before the block"
    with measure() as cost:
        x = torch.zeros(4, 8)
        y = x + 1
        del x
        z = y * 2
        z += 1
    assert (cost.allocated_bytes, cost.freed_bytes, cost.peak_bytes) == (384, 128, 256)


def test_a_tensor_made_from_a_list_is_allocated() -> None:
    with measure() as cost:
        torch.tensor([1.0, 2.0])
    assert (cost.allocated_bytes, cost.freed_bytes) == (8, 8)


def test_what_autograd_keeps_is_alive() -> None:
    x = torch.ones(100, requires_grad=True)
    with measure() as cost:
        y = x.exp().sin()
    kept = 2 * 400
    assert cost.allocated_bytes - cost.freed_bytes == kept, "exp and sin each keep one tensor"
    assert y.grad_fn is not None


def test_blocks_nest_and_survive_exceptions() -> None:
    with measure() as outer:
        with pytest.raises(ValueError), measure() as inner:
            torch.ones(B, D) @ torch.ones(D, K)
            raise ValueError
        torch.ones(B, D) @ torch.ones(D, K)
    assert (inner.matmul_flops, outer.matmul_flops) == (2 * B * D * K, 4 * B * D * K)
    torch.ones(B, D) @ torch.ones(D, K)
    assert outer.matmul_flops == 4 * B * D * K, "nothing is counted after the block"


def test_blocks_may_end_in_any_order() -> None:
    def generator():
        with measure() as cost:
            yield cost

    suspended = generator()
    first = next(suspended)
    with measure() as second:
        torch.ones(B, D) @ torch.ones(D, K)
        suspended.close()
        torch.ones(B, D) @ torch.ones(D, K)
    torch.ones(B, D) @ torch.ones(D, K)
    assert (first.matmul_flops, second.matmul_flops) == (2 * B * D * K, 4 * B * D * K)


def test_what_is_not_counted_is_said() -> None:
    with measure() as cost:
        torch.linalg.svd(torch.ones(3, 3))
    assert dict(cost.uncounted) == {"aten._linalg_svd": 1}


def training_step(**options) -> list[torch.Tensor]:
    model = nn.Sequential(
        nn.Linear(8, 8), nn.GELU(), nn.Dropout(), nn.LayerNorm(8), nn.Linear(8, 3)
    )
    optimizer = torch.optim.AdamW(model.parameters(), **options)
    for _ in range(2):
        loss = F.cross_entropy(model(torch.randn(4, 8)), torch.tensor([0, 1, 2, 0]))
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return list(model.parameters())


def evaluated(layer: nn.Module, *shape: int) -> torch.Tensor:
    with torch.inference_mode():
        return layer.eval()(torch.randn(*shape))


def heads() -> torch.Tensor:
    x = torch.randn(2, 3, 8)
    with torch.no_grad():
        return nn.MultiheadAttention(8, 2, batch_first=True).eval()(x, x, x)[0]


def attended(**options) -> torch.Tensor:
    q = torch.randn(1, 2, 5, 8, requires_grad=True)
    F.scaled_dot_product_attention(q, q, q, **options).sum().backward()
    return q.grad


def autocast() -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return nn.Linear(8, 8)(torch.randn(2, 8))


def silu() -> torch.Tensor:
    x = torch.randn(64, 64, requires_grad=True)
    F.silu(x).square().sum().backward()
    return x.grad


def nested() -> list[torch.Tensor]:
    rows = [torch.randn(2, 4), torch.randn(3, 4)]
    layer = nn.Linear(4, 5)
    with torch.inference_mode():
        return [
            part
            for layout in (torch.strided, torch.jagged)
            for part in layer(torch.nested.nested_tensor(rows, layout=layout)).unbind()
        ]


def encoder_with_padding() -> torch.Tensor:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    padding = torch.tensor([[False, False, True], [False, False, False]])
    with torch.inference_mode():
        return encoder(torch.randn(2, 3, 8), src_key_padding_mask=padding)


def own_parameter(x: torch.Tensor) -> torch.Tensor:
    module = nn.Module()
    module.weight = nn.Parameter(x)
    return (module.weight * x).sum()


def flexible() -> torch.Tensor:
    from torch.nn.attention.flex_attention import flex_attention

    return flex_attention(*[torch.randn(1, 2, 16, 8)] * 3, score_mod=lambda s, b, h, i, j: s + i)


PROGRAMS = {
    "training, one tensor at a time": lambda: training_step(foreach=False),
    "training, all tensors at once": lambda: training_step(foreach=True),
    "training, fused": lambda: training_step(fused=True),
    "encoder layer, one operator": lambda: evaluated(
        nn.TransformerEncoderLayer(8, 2, batch_first=True), 2, 3, 8
    ),
    "multi-head attention, one operator": heads,
    "attention": attended,
    "causal attention": lambda: attended(is_causal=True),
    "LSTM": lambda: nn.LSTM(8, 5)(torch.randn(3, 2, 8))[0],
    "convolution": lambda: evaluated(nn.Conv2d(2, 3, 3), 1, 2, 8, 8),
    "autocast": autocast,
    "SiLU, whose backward has a kernel of its own": silu,
    "nested tensors": nested,
    "encoder with padding": encoder_with_padding,
    "parameters inside vmap": lambda: torch.func.vmap(own_parameter)(torch.randn(2, 3)),
    "parameters inside grad": lambda: torch.func.grad(own_parameter)(torch.randn(3)),
    "vmap": lambda: torch.func.vmap(torch.sin)(torch.randn(3, 2)),
    "grad of vmap": lambda: torch.func.grad(lambda x: torch.func.vmap(torch.sin)(x).sum())(
        torch.randn(3)
    ),
    "compile": lambda: torch.compile(lambda x: x.sin() + 1, backend="eager", fullgraph=True)(
        torch.randn(3)
    ),
    "flex attention": flexible,
}


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_the_meter_changes_no_bit(program) -> None:
    results = []
    for context in (contextlib.nullcontext(), measure()):
        torch.manual_seed(0)
        with context:
            results.append(program())
    plain, metered = (result if isinstance(result, list) else [result] for result in results)
    assert all(torch.equal(a, b) for a, b in zip(plain, metered, strict=True))


def test_under_vmap_and_grad_the_batched_operators_are_counted() -> None:
    x, w = torch.ones(4, B, D), torch.ones(D, K)
    with measure() as cost:
        torch.func.vmap(lambda row: row @ w)(x)
    assert cost.matmul_flops == 4 * 2 * B * D * K
    with measure() as cost:
        torch.func.grad(lambda w: (x[0] @ w).sum())(w)
    assert cost.matmul_flops == 2 * 2 * B * D * K, "forward, and the gradient of w"


def test_tensor_subclasses_are_priced_by_the_tensors_inside_or_listed() -> None:
    class Sub(torch.Tensor):
        pass

    x = torch.ones(B, D).as_subclass(Sub)
    with measure() as cost:
        x @ torch.ones(D, K)
    assert cost.matmul_flops == 2 * B * D * K or cost.uncounted["aten.mm"] == 1


def test_checkpointing_trades_memory_for_one_more_forward_pass() -> None:
    from torch.utils.checkpoint import checkpoint

    weights = [torch.ones(64, 64) for _ in range(4)]

    def block(x: torch.Tensor) -> torch.Tensor:
        for weight in weights:
            x = (x @ weight).sin()
        return x

    costs = {}
    for name in ("plain", "checkpointed"):
        x = torch.ones(32, 64, requires_grad=True)
        with measure() as forward:
            y = block(x) if name == "plain" else checkpoint(block, x, use_reentrant=False)
        with measure() as backward:
            y.sum().backward()
        costs[name] = forward, backward
    product = 2 * 32 * 64 * 64
    assert costs["plain"][0].matmul_flops == costs["checkpointed"][0].matmul_flops == 4 * product
    assert costs["plain"][1].matmul_flops == 4 * product
    assert costs["checkpointed"][1].matmul_flops == 2 * 4 * product
    kept = {name: c[0].allocated_bytes - c[0].freed_bytes for name, c in costs.items()}
    result = 32 * 64 * 4
    assert kept["plain"] == 4 * result + result, "the argument of each sine, and the result"
    assert kept["checkpointed"] == result


SOURCE = """
    import torch
    from trace.costs import measure

    def main():
        x = torch.ones(3, 5)
        w = torch.ones(5, 7)
        with measure() as cost:  # @inspect cost
            y = f(x, w)  # @inspect y
        assert cost.matmul_flops == 2 * 3 * 5 * 7
        assert cost.allocated_bytes == 3 * 7 * 4

    def f(x, w):
        return x @ w
    """


def test_the_document_books_costs_on_the_innermost_step() -> None:
    document = trace_source(SOURCE)
    assert document["failure"] is None
    costs, names = document["costs"], document["names"]
    rows = zip(costs["step"], costs["operator"], costs["matmul_flops"], strict=True)
    assert [row for row in ((s, names[o], f) for s, o, f in rows) if row[2]] == [
        (4, "aten.mm", 210)
    ]
    by_step = dict.fromkeys(costs["step"], 0)
    for step, allocated in zip(costs["step"], costs["allocated_bytes"], strict=True):
        by_step[step] += allocated
    assert {step: n for step, n in by_step.items() if n} == {0: 60, 1: 140, 4: 84}
    assert document["memory"]["live_bytes"][:3] == [60, 200, 284]


def test_no_costs_leaves_them_out() -> None:
    assert trace_source(SOURCE, costs=False)["costs"] is None


def kernels_of(program, context) -> set[str]:
    torch.manual_seed(0)
    with torch.profiler.profile() as profile, context:
        program()
    return {event.name for event in profile.events() if event.name.startswith("aten::")}


GRADIENTS_THAT_MEET = {"aten::add", "aten::add_", "aten::detach"}
"""Under any dispatch mode, torch's engine adds them into new memory."""


@pytest.mark.parametrize("program", [run for name, run in PROGRAMS.items() if name != "compile"])
def test_torch_chooses_the_same_kernels_under_the_meter(program) -> None:
    program()  # the first call may do more
    plain = kernels_of(program, contextlib.nullcontext())
    assert kernels_of(program, measure()) ^ plain <= GRADIENTS_THAT_MEET
    assert plain


def test_a_formula_that_fails_is_listed_and_ends_nothing(monkeypatch) -> None:
    def fail(*_: object) -> int:
        raise ValueError

    monkeypatch.setitem(FORMULAS, "aten.dot", fail)
    with measure() as cost:
        torch.dot(torch.ones(1234), torch.ones(1234))
    assert dict(cost.uncounted) == {"aten.dot": 1}


def test_blocks_that_do_not_nest_leave_no_flag_of_torch_behind() -> None:
    def block():
        with measure() as cost:
            yield
            yield cost

    first, second = block(), block()
    for generator in (first, second, first, second):
        next(generator)
    first.close()
    torch.ones(2) + 1
    second.close()
    assert not is_in_torch_dispatch_mode()


def test_costs_are_numbers_while_jit_traces() -> None:
    with measure() as cost:
        function = lambda x: x + x if x.shape[0] == 2 else x  # noqa: E731
        torch.jit.trace(function, torch.ones(2), check_trace=False)
    assert type(cost.other_flops) is int
    assert set(cost.uncounted) == {"aten._local_scalar_dense"}
