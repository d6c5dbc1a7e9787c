"""The meter counts what a hand count gives, and says what it does not know."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from tests.tracing import trace_source
from trace.costs import measure


def gpt_attention_flops(batch: int, heads: int, length: int, width: int) -> int:
    return 2 * 2 * batch * heads * length * length * width


B, D, K = 3, 5, 7
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


def test_backward_is_two_matmuls() -> None:
    w = torch.ones(D, K, requires_grad=True)
    x = torch.ones(B, D, requires_grad=True)
    with measure() as forward:
        y = (x @ w).sum()
    with measure() as backward:
        y.backward()
    assert backward.matmul_flops == 2 * forward.matmul_flops == 4 * B * D * K


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


def test_what_is_not_counted_is_said() -> None:
    with measure() as cost:
        torch.ones(3).relu()
    assert cost.uncounted == {"aten.ones": 1, "aten.relu": 1}
    assert (cost.other_flops, cost.read_bytes, cost.written_bytes) == (None, None, None)


def test_the_meter_changes_no_kernel() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(16, 2, batch_first=True).eval()
    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        plain = layer(x)
        with measure():
            metered = layer(x)
    assert torch.equal(plain, metered)


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
