"""Models that are split: tensor parallelism, pipelines, experts, and what links allow."""

from dataclasses import dataclass

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor, nn

from lecture.accounting.sharding import bytes_per_parameter
from lecture.facts import (
    DEEPSEEK_V3,
    DEEPSEEK_V3_DAYS_PER_TRILLION,
    DEEPSEEK_V3_EXPERT_RANKS,
    DEEPSEEK_V3_GPU_HOURS,
    DEEPSEEK_V3_GPU_HOURS_PER_TRILLION,
    DEEPSEEK_V3_GPUS,
    DEEPSEEK_V3_NAMED_PARAMETERS,
    DEEPSEEK_V3_PIPELINE,
    DEEPSEEK_V3_TRAINING_TOKENS,
    H100_NVLINK_BYTES_PER_SECOND,
    H100_SXM,
    H800_NVLINK_BYTES_PER_SECOND,
    INFINIBAND_NDR_BYTES_PER_SECOND,
    LLAMA3_405B_GPU_HOURS,
    LLAMA3_405B_PARAMETERS,
    LLAMA3_405B_TRAINING_FLOPS,
    LLAMA3_BATCH_TOKENS,
    LLAMA3_LAYOUTS,
    SECONDS_PER_DAY,
    Layout,
)
from lecture.lib.presets import PRESETS
from lecture.lib.ranks import Traffic, on_ranks
from lecture.lib.shapes import shape_checked
from lecture.lib.transformer import Block, TransformerConfig
from lecture.part7_after import m27_figures as figures
from trace.costs import measure

H100_FLOPS_PER_SECOND = H100_SXM.dense_flops_per_second["bf16"]
LINKS = {
    "HBM": H100_SXM.memory_bytes_per_second,
    "NVLink": H100_NVLINK_BYTES_PER_SECOND,
    "InfiniBand": INFINIBAND_NDR_BYTES_PER_SECOND,
}
NEEDED = {name: H100_FLOPS_PER_SECOND / rate for name, rate in LINKS.items()}
"""FLOPs that an H100 can do while a byte passes each link."""


def columns(w: Tensor) -> Tensor:
    """The part of a D×F matrix that makes this rank's share of the F results."""
    return w.chunk(dist.get_world_size(), dim=1)[dist.get_rank()]


def rows(w: Tensor) -> Tensor:
    """The part of an F×D matrix that meets this rank's share of the F inputs."""
    return w.chunk(dist.get_world_size(), dim=0)[dist.get_rank()]


def split_network(rank: int, n: int) -> tuple[list[int], Tensor, Tensor, int]:
    """Multiply by two matrices, the first split by columns and the second by rows; return the shape
    in between, the result before and after the ranks have met, and how often they did."""
    generator = torch.Generator().manual_seed(0)
    x, up, down = (torch.randn(*shape, generator=generator) for shape in ((3, 4), (4, 8), (8, 4)))
    with Traffic() as traffic:
        hidden = (x @ columns(up)).relu()
        part = hidden @ rows(down)
        y = part.clone()
        dist.all_reduce(y)
    return list(hidden.shape), part, y, traffic.calls["all-reduce"]


def columns_first_rows_second():  # M27.5
    """Columns first, rows second.

    What if one layer is too large for a device, or one sequence too slow on it? Then a matrix has
    to be split. By its columns, each rank makes some of the results, and by its rows, each rank
    takes some of the inputs. Which of the two needs a message?
    """
    found = on_ranks(2, split_network)
    hidden_shape, part, y, meetings = found[0]  # @inspect hidden_shape part y
    # Split by columns, $x W = [\,x W_1 \;\; x W_2\,]$: each rank has half of the 8 features inside,
    # complete. A ReLU, which takes numbers one by one, can go on with them.
    assert hidden_shape == [3, 8 // 2]
    # The second matrix is split by rows, so that it meets exactly those features:
    # $h W = h_1 W_1 + h_2 W_2$. Each rank has a part of every sum, and one all-reduce makes them
    # whole.
    assert torch.equal(y, found[1][2])
    assert torch.allclose(part + found[1][1], y)
    assert meetings == 1
    # No rank multiplied by a whole matrix. Is the result right?
    generator = torch.Generator().manual_seed(0)
    x, up, down = (torch.randn(*shape, generator=generator) for shape in ((3, 4), (4, 8), (8, 4)))
    assert torch.allclose(y, (x @ up).relu() @ down, atol=1e-6)
    # So: columns, then rows, and one all-reduce for a pair of matrices. This is *tensor
    # parallelism*, as [Megatron](https://arxiv.org/abs/1909.08053) does it.


class SumOfParts(torch.autograd.Function):
    """Add up the parts of all ranks; the gradient of a sum is that of each part."""

    @staticmethod
    def forward(ctx, part: Tensor) -> Tensor:
        whole = part.clone()
        dist.all_reduce(whole)
        return whole

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return gradient


class SharedInput(torch.autograd.Function):
    """Hand on what every rank has; each rank finds a part of its gradient, so these are added."""

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: Tensor) -> Tensor:
        return SumOfParts.forward(ctx, gradient)


@shape_checked
def split_block(
    x: Float[Tensor, "B T D"], weights: dict[str, Tensor], heads: int
) -> Float[Tensor, "B T D"]:
    """Pass a block of which this rank has so many heads, and its part of the network's features."""
    B, T, D = x.shape
    shared = SharedInput.apply(nn.functional.rms_norm(x, (D,)))
    query, key, value = (
        (shared @ weights[name]).view(B, T, heads, -1).transpose(1, 2) for name in ("q", "k", "v")
    )
    mean = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
    x = x + SumOfParts.apply(mean.transpose(1, 2).flatten(2) @ weights["output"])
    shared = SharedInput.apply(nn.functional.rms_norm(x, (D,)))
    hidden = nn.functional.silu(shared @ weights["gate"]) * (shared @ weights["up"])
    return x + SumOfParts.apply(hidden @ weights["down"])


@dataclass(frozen=True)
class SplitPass:
    """What a rank finds out when a block passes."""

    y: Tensor
    x_gradient: Tensor
    weight_bytes: int
    forward_flops: int
    calls: tuple[int, int]  # of all-reduces: forward, backward
    sent_bytes: tuple[int, int]


B, T, D, F, H = 2, 8, 32, 64, 4
LLAMA3 = PRESETS["llama-3-405b"]


def weights_of_a_layer(config: TransformerConfig) -> int:
    """Count the weights of the matrices of one layer: four of attention, three of the network."""
    shared = 2 * config.width * (config.width + config.key_value_width)
    return shared + 3 * config.width * config.feed_forward


def whole_block(seed: int) -> tuple[Tensor, Block]:  # @stepover
    """Draw a batch, and the lecture's block, which does not turn queries and keys here."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(B, T, D, generator=generator).requires_grad_()
    return x, Block(D, H, F, rotary=lambda query, positions: query, generator=generator)


def pass_split_block(rank: int, n: int) -> SplitPass:
    """Send a batch through a block that is split among the ranks, forward and backward."""
    x, block = whole_block(seed=0)
    attention, network = block.attention, block.feed_forward
    by_columns = {"q": attention.query, "k": attention.key, "v": attention.value}
    by_columns |= {"gate": network.gate, "up": network.up}
    by_rows = {"output": attention.output, "down": network.down}
    parts = {name: columns(layer.weight.T) for name, layer in by_columns.items()}
    parts |= {name: rows(layer.weight.T) for name, layer in by_rows.items()}
    weights = {name: part.detach().clone().requires_grad_() for name, part in parts.items()}
    with Traffic() as forward, measure() as cost:
        y = split_block(x, weights, H // n)
    with Traffic() as backward:
        y.square().sum().backward()
    return SplitPass(
        y=y.detach(),
        x_gradient=x.grad,
        weight_bytes=sum(weight.nbytes for weight in weights.values()),
        forward_flops=cost.matmul_flops,
        calls=(forward.calls["all-reduce"], backward.calls["all-reduce"]),
        sent_bytes=(forward.sent_bytes, backward.sent_bytes),
    )


def a_block_meets_twice_each_way():  # M27.5
    """A block meets twice each way.

    How often do the ranks of a Transformer block have to meet? Attention splits where it is split
    already: each rank takes some of the heads, which do not know of each other. The matrices that
    make queries, keys and values are cut by columns, the one behind the heads by rows.
    """
    x, block = whole_block(seed=0)
    with measure() as alone:
        y = block(x)  # @stepover
    y.square().sum().backward()  # @stepover
    found = {n: on_ranks(n, pass_split_block) for n in (2, 4)}
    for n, ranks in found.items():
        for rank in ranks:
            # Output and gradient are those of the block on one device.
            assert torch.allclose(rank.y, y, atol=1e-4)
            assert torch.allclose(rank.x_gradient, x.grad, rtol=1e-3, atol=1e-3)
            # Weights and FLOPs are divided by n. (The optimizer's state goes with the weights.)
            assert rank.weight_bytes == 4 * (4 * D * D + 3 * D * F) // n
            assert rank.forward_flops == alone.matmul_flops // n
            # Forward, the ranks meet behind attention and behind the network. Backward they meet
            # where these begin, since each rank knows only its part of the gradient of x.
            assert rank.calls == (2, 2)
            # Each time all R = B·T rows of D numbers are added up. Forward:
            # $$2\cdot\frac{2(n-1)}{n}\cdot R\,D \text{ numbers}$$
            assert rank.sent_bytes[0] == 2 * (2 * (n - 1) * B * T * D * 4) // n
            assert rank.sent_bytes[1] == rank.sent_bytes[0]
    per_rank = {n: ranks[0].weight_bytes for n, ranks in found.items()}  # @inspect per_rank
    # The messages of data parallelism grow with the weights and can hide behind the backward pass.
    # These grow with the batch, and on the way forward the next matmul waits for each of them.


def plan_of(rank: int, n: int, micro_batches: int, early: bool) -> list[tuple[str, int]]:
    """Say in which order a rank does its work. `early`: backward as soon as there is something."""
    ahead = min(n - rank, micro_batches) if early else micro_batches
    plan = [("forward", number) for number in range(ahead)]
    for number in range(micro_batches):
        plan.append(("backward", number))
        if number + ahead < micro_batches:
            plan.append(("forward", number + ahead))
    return plan


TICKS = {"forward": 1, "backward": 2}
WIDTH = 8

Piece = tuple[int, int, str, int]


class Neighbours:
    """Sends rows to the ranks before and behind, and with them the tick at which they left."""

    def __init__(self) -> None:
        self.rank, self.n = dist.get_rank(), dist.get_world_size()
        self.sent: list[tuple[dist.Work, Tensor]] = []

    def send(self, x: Tensor, tick: int, to: int) -> None:
        if 0 <= to < self.n:
            message = torch.cat([x.flatten(), torch.tensor([float(tick)])])
            self.sent.append((dist.isend(message, to), message))

    def receive(self, shape: tuple[int, int], sender: int) -> tuple[Tensor, int]:
        message = torch.empty(shape[0] * shape[1] + 1)
        dist.recv(message, sender)
        return message[:-1].view(shape), int(message[-1])


def run_pipeline(
    rank: int, n: int, micro_batches: int, early: bool
) -> tuple[list[Piece], int, Tensor]:
    """Be one stage of a pipeline for a batch; return what was done from which tick to which, the
    most activations that were kept at a time, and the gradient of this stage's matrix."""
    neighbours = Neighbours()
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(n, WIDTH, WIDTH, generator=generator)[rank].requires_grad_()
    batch = torch.randn(micro_batches, 2, WIDTH, generator=generator)
    pieces, kept, most_kept, clock = [], {}, 0, 0
    for kind, number in plan_of(rank, n, micro_batches, early):
        # Wait for what the work needs, but no longer.
        came, ready = (batch[number], 0) if kind == "forward" else (torch.ones(2, WIDTH), 0)
        sender = rank - 1 if kind == "forward" else rank + 1
        if 0 <= sender < n:
            came, ready = neighbours.receive((2, WIDTH), sender)
        start = max(clock, ready)
        clock = start + TICKS[kind]
        pieces.append((start, clock, kind, number))
        if kind == "forward":
            x = came.requires_grad_()
            kept[number] = x, (x @ w).tanh()
            neighbours.send(kept[number][1].detach(), clock, rank + 1)
        else:
            x, y = kept.pop(number)
            y.backward(came)
            neighbours.send(x.grad, clock, rank - 1)
        most_kept = max(most_kept, len(kept))
    for sending, _ in neighbours.sent:
        sending.wait()
    return pieces, most_kept, w.grad


def a_pipeline_waits_at_both_ends():  # M27.6
    """A pipeline waits at both ends.

    A third way to split a model is by depth: rank 0 has the first layers, rank 1 the next ones, and
    all that travels are the activations between them, and back their gradients. But rank 1 cannot
    begin before rank 0 has finished. How do four ranks work at the same time?
    """
    # By cutting the batch into m micro-batches, so that rank 0 does the second while rank 1 does
    # the first. The ranks below really pass activations and gradients on; each message also carries
    # the tick at which it was sent. A forward pass takes one tick, a backward pass two.
    p, m = 4, 8
    found = on_ranks(p, run_pipeline, m, False)
    done = [pieces for pieces, _, _ in found]
    picture = figures.schedule("All forward, then all backward", done)  # @inspect picture
    ticks = max(stop for pieces, _, _ in found for _, stop, _, _ in pieces)
    busy = sum(stop - start for start, stop, _, _ in found[0][0])
    # Every rank works for $m$ of $m+p-1$ turns. The rest is the *bubble*:
    # $$\frac{p-1}{m+p-1}$$
    assert (busy, ticks) == (3 * m, 3 * (m + p - 1))
    bubble = 1 - busy / ticks  # @inspect bubble
    assert round(bubble, 3) == round(3 / 11, 3)
    # The gradient is that of the whole batch on one device.
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(p, WIDTH, WIDTH, generator=generator).requires_grad_()
    y = torch.randn(m * 2, WIDTH, generator=generator)
    for stage in range(p):
        y = (y @ w[stage]).tanh()
    y.sum().backward()
    assert all(torch.allclose(w.grad[rank], found[rank][2], atol=1e-5) for rank in range(p))
    # So: a bubble below a tenth takes more than nine times as many micro-batches as there are ranks
    # to wait for.


def backward_early_keeps_less():  # M27.6
    """Backward early keeps less.

    While all forward passes come first, each rank keeps the activations of all micro-batches. Does
    it have to? A backward pass frees what it has used, so the idea is to do each as early as
    possible: one forward, one backward, *1F1B*.
    """
    p, m = 4, 8
    late, early = (on_ranks(p, run_pipeline, m, order) for order in (False, True))
    done = [pieces for pieces, _, _ in early]
    picture = figures.schedule("One forward, one backward", done)  # @inspect picture
    kept = {"all forward first": [most for _, most, _ in late]}
    kept["1F1B"] = [most for _, most, _ in early]  # @inspect kept
    # In flight are at most as many micro-batches as there are stages from this one to the last,
    # itself included: p − rank of them, however many a batch has. All forward first keeps m.
    assert list(kept.values()) == [4 * [m], [p - rank for rank in range(p)]]
    # Same work, same time, same bubble.
    lasts = [max(piece[1] for rank in found for piece in rank[0]) for found in (late, early)]
    assert lasts[0] == lasts[1]
    assert all(torch.equal(a[2], b[2]) for a, b in zip(late, early, strict=True))
    # Now m can be large, and that makes the bubble small. What else helps: give each rank v thin
    # slices of the model in place of a thick one. A turn is v times as short, and the bubble
    # $(p-1)/(vm+p-1)$, for about v times as many messages.


def pass_experts(rank: int, n: int) -> tuple[Tensor, list[int], int]:
    """Send each token to the rank that has its expert, and take the result back; return the
    results, how many tokens came to this rank from each, and the bytes that left."""
    generator = torch.Generator().manual_seed(0)
    experts = torch.randn(n, 4, 4, generator=generator)
    tokens, chosen = all_tokens(n)
    x, expert = tokens[rank], chosen[rank]
    order = expert.argsort(stable=True)
    leaving = torch.bincount(expert, minlength=n)
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    here = x.new_empty(int(coming.sum()), 4)
    dist.all_to_all_single(here, x[order], coming.tolist(), leaving.tolist())
    made = here @ experts[rank]
    back = torch.empty_like(x)
    dist.all_to_all_single(back, made, leaving.tolist(), coming.tolist())
    y = torch.empty_like(x)
    y[order] = back
    away = int(leaving.sum() - leaving[rank]) + int(coming.sum() - coming[rank])
    return y, coming.tolist(), away * 4 * x.element_size()


@shape_checked
def all_tokens(n: int) -> tuple[Float[Tensor, "n R D"], Int[Tensor, "n R"]]:
    """Draw 16 tokens for each rank, and the expert of each; low numbers are more popular."""
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(n, 16, 4, generator=generator)
    return x, (torch.rand(n, 16, generator=generator).square() * n).long()


def experts_make_tokens_travel():  # M27.2
    """Experts make tokens travel.

    In a mixture of experts each token uses a few of many feed-forward networks. The experts fill
    the memory, so they are spread over the ranks. The token's expert is then usually somewhere
    else. What moves, the expert or the token?
    """
    n = 4
    found = on_ranks(n, pass_experts)
    tokens, chosen = all_tokens(n)
    experts = torch.randn(n, 4, 4, generator=torch.Generator().manual_seed(0))
    expected = (tokens[:, :, None] @ experts[chosen])[:, :, 0]
    # The token: it is D numbers there and D back, and its expert 3·D·F. (So tokens are less, up to
    # 1.5·F of them from one rank for one expert.) In an *all-to-all* every rank sends each other
    # rank what is for it, and a second one brings the results home.
    assert torch.allclose(torch.stack([y for y, _, _ in found]), expected, atol=1e-5)
    sent_bytes = [sent for _, _, sent in found]  # @inspect sent_bytes
    strangers = int((chosen != torch.arange(n)[:, None]).sum())
    assert sum(sent_bytes) == 2 * strangers * 4 * 4
    # If the router liked all experts equally, $(n-1)/n$ of the tokens would travel, and each rank
    # would have 16 to work on. It does not, and all wait for the busiest.
    load = [sum(coming) for _, coming, _ in found]  # @inspect load
    assert sum(load) == n * 16
    assert max(load) > 1.5 * 16
    # So routers are trained, or corrected as they go, to spread the load.


def train_two_layers(rank: int, n: int, R: int) -> tuple[int, int]:
    """Do forward and backward pass on R rows, and average gradients in bf16; return FLOPs and bytes
    sent."""
    x = torch.ones(R, 32, dtype=torch.bfloat16, requires_grad=True)
    layers = nn.Sequential(nn.Linear(32, 64, False), nn.Linear(64, 32, False)).bfloat16()
    with Traffic() as traffic, measure() as cost:
        layers(x).sum().backward()
        for weight in layers.parameters():
            dist.all_reduce(weight.grad)
    return cost.matmul_flops, traffic.sent_bytes


def a_link_has_a_roofline():  # M27.7
    """A link has a roofline.

    When do messages cost more time than matmuls? It is the question of [the
    roofline](#the_roofline_bounds_every_operation), with the link in place of the memory: how many
    FLOPs come with each byte that is sent, and how many can the GPU do in the meantime?
    """
    # An H100 does so many bf16 FLOPs while a byte comes from its memory, from a GPU of the same box
    # (NVLink), from another box (InfiniBand).
    needed = {name: round(flops) for name, flops in NEEDED.items()}  # @inspect needed
    assert list(needed.values()) == [295, 2199, 19_790]
    # Data parallelism, measured on two ranks: 6 FLOPs for each weight and row, and $2(n-1)/n$
    # gradients of 2 bytes for each weight.
    n, R = 2, 16
    flops, sent_bytes = on_ranks(n, train_two_layers, R)[0]
    N = 2 * 32 * 64
    assert flops == 6 * N * R
    assert sent_bytes == 2 * (n - 1) / n * 2 * N
    # With many ranks that approaches 4 bytes for 6R FLOPs, an arithmetic intensity of 1.5·R. The
    # weights have dropped out: what counts is how many rows each rank has.
    assert flops / sent_bytes * (n - 1) / n == 1.5 * R
    # So each H100 needs this many tokens per step, or the link decides. (That is generous: messages
    # can hide behind the backward pass only, 4 of the 6.)
    rows_needed = {name: NEEDED[name] / 1.5 for name in ("NVLink", "InfiniBand")}
    assert [*map(round, rows_needed.values())] == [1466, 13_193]  # @inspect rows_needed
    # The second is for one GPU in a box. In a box of eight, the eight add up over NVLink first, and
    # each port carries an eighth of the sums: 1649 tokens, about what NVLink itself needs. (If both
    # links work at the same time, on different gradients. One after the other it is 2900 tokens,
    # and 1400 GPUs below.)
    in_a_box = rows_needed["InfiniBand"] / 8
    in_turn = 7 / 8 * rows_needed["NVLink"] + in_a_box
    assert (round(in_a_box), round(in_turn, -2), round(4e6 / in_turn, -2)) == (1649, 2900, 1400)
    # Batches [cannot grow for ever](#a_batch_has_a_critical_size), and this is what ends
    # data parallelism: a batch of 4 million tokens feeds some 2400 GPUs. To use more, a box
    # must hold only a part of the model. (Eight GPUs that share out all weights see the same 13 193
    # tokens: 1649 for each of them again.) With one of 16
    # [stages of a pipeline](#a_pipeline_waits_at_both_ends) in each box, its ports carry the sums
    # of a sixteenth of the weights, and for the links the same batch would do for 39 000. (But each
    # pipeline then has 13 000 tokens, not two sequences of 8192, and is mostly bubble.)
    assert round(4e6 / in_a_box, -2) == 2400
    assert round(16 * 4e6 / in_a_box, -3) == 39_000
    assert round(16 * 8 * in_a_box / 16, -3) == 13_000 and 15 / (2 + 15) > 0.8


def the_most_talkative_axis_stays_inside():  # M27.7
    """The most talkative axis stays inside.

    Beside experts, and sequences (next section), there are three axes along which to split: batch,
    matrices, depth. And two links, of which the one inside the box is nine times as fast. Which
    axis goes where?
    """
    # FLOPs for each byte sent by tensor parallelism, counted on two and four ranks and with numbers
    # of 4 bytes. For n ranks: $c\cdot D/(n-1)$, where c grows with F/D and, for the scores, T/D.
    found = {n: on_ranks(n, pass_split_block)[0] for n in (2, 4)}
    intensity = {n: rank.forward_flops / rank.sent_bytes[0] for n, rank in found.items()}
    products = 2 * (4 * D * D + 3 * D * F) + 4 * T * D
    assert intensity == {n: products / (4 * 4 * (n - 1) * D) for n in (2, 4)}
    # The rows are not in it: no batch is large enough to help. Width helps. For a layer of Llama 3
    # with 405 billion parameters, in bf16, without its scores:
    width, layer = LLAMA3.width, weights_of_a_layer(LLAMA3)
    of_llama = {n: 2 * layer / (4 * 2 * (n - 1) * width) for n in (2, 4, 8, 16)}
    # Eight ranks have three times what NVLink needs, and far less than InfiniBand needs. Inside the
    # box that is not free: forward, the next matmul waits, so the messages add a third. Backward
    # has twice the FLOPs for the same bytes: a fifth of the whole, if gradients of weights, which
    # need no message, are not computed meanwhile.
    forward, backward = NEEDED["NVLink"] / of_llama[8], NEEDED["NVLink"] / (2 * of_llama[8])
    assert round(forward, 2) == 0.32
    assert round((forward + 2 * backward) / 3, 2) == 0.21
    assert NEEDED["NVLink"] < of_llama[8] < NEEDED["InfiniBand"] / 2  # @inspect of_llama
    # Sixteen would hardly do even over NVLink, and 4 would wait for InfiniBand.
    assert of_llama[16] < 1.5 * NEEDED["NVLink"]
    assert of_llama[4] < NEEDED["InfiniBand"]
    # A stage of a pipeline sends R·D numbers for all its layers, with 16 stages of about 8 layers:
    of_stage = LLAMA3.layers / 16 * 2 * layer / (2 * width)  # @inspect of_stage
    assert 70 < of_stage / NEEDED["InfiniBand"] < 80
    # So: tensor parallelism inside the box, pipelines and data parallelism across boxes.


def ranks_of(run: Layout) -> int:
    """Count the ranks of a layout: each axis divides what the others leave."""
    return run.tensor * run.context * run.pipeline * run.data


def bubble_of(p: int, m: int, slices: int = 1) -> float:
    """Return the share of the time that a pipeline waits; each rank may have several slices."""
    return (p - 1) / (slices * m + p - 1)


def llama3_lays_out_16384_gpus():  # M27.8
    """Llama 3 lays out 16 384 GPUs.

    Do real runs look like that? The report on Llama 3 says how its largest model was laid out:
    8-way tensor, 16-way pipeline and 64- or 128-way data parallelism. Long sequences are
    also cut into 16 parts (*context parallelism*, next to the tensor axis), and data parallelism is
    8-way.
    """
    N = LLAMA3.layers * weights_of_a_layer(LLAMA3) + 2 * LLAMA3.vocabulary * LLAMA3.width
    assert round(N / LLAMA3_405B_PARAMETERS, 3) == 1.002
    bubbles = []
    for run in LLAMA3_LAYOUTS:
        assert ranks_of(run) == run.gpus
        # The MFU that the report names, 0.38 to 0.43, is the share of the peak in bf16.
        utilization = run.flops_per_second / H100_SXM.dense_flops_per_second["bf16"]
        assert abs(utilization - run.mfu) < 0.01
        # A rank of data parallelism has so many sequences of the batch.
        m = LLAMA3_BATCH_TOKENS // run.sequence_tokens // run.data
        bubbles.append(bubble_of(run.pipeline, m))
    # With a sequence for a micro-batch, 16 stages of 1F1B would wait for a third to a half of the
    # time. So the report interleaves: each rank has several thin slices.
    assert [round(bubble, 2) for bubble in bubbles] == [0.32, 0.48, 0.48]  # @inspect bubbles
    # With eight, a layer each, it would be a tenth.
    assert round(bubble_of(run.pipeline, m, slices=8), 2) == 0.1
    # Memory: 128 GPUs share one copy of the weights, and the 128 copies share gradients and
    # optimizer state (ZeRO stage 2; the weights are not resharded). If the gradients of each
    # micro-batch are shared out at once, that takes less than a tenth of a GPU:
    run = LLAMA3_LAYOUTS[1]
    own = N / (run.tensor * run.pipeline)
    gigabytes = own * bytes_per_parameter(2, run.data) / 1e9  # @inspect gigabytes
    assert 6 < gigabytes < 7 < 0.1 * H100_SXM.memory_bytes / 1e9
    # With the copies of a plain data parallel run it would be 51 GB.
    assert round(own * bytes_per_parameter(0, run.data) / 1e9) == 51
    # The whole run at this layout's rate, 400 TFLOP/s for each GPU, and what was booked, in days:
    days = LLAMA3_405B_TRAINING_FLOPS / (run.gpus * run.flops_per_second) / SECONDS_PER_DAY
    booked_days = LLAMA3_405B_GPU_HOURS / 24 / run.gpus  # @inspect days booked_days
    assert round(days) == 67
    assert round(booked_days) == 78


def deepseek_v3_splits_its_experts():  # M27.8
    """DeepSeek-V3 splits its experts.

    How is a mixture of experts laid out? DeepSeek-V3 has 671 billion parameters, of which a token
    meets 37 billion. Training uses no tensor parallelism at all: 16 pipeline stages, and the
    experts of each layer on 64 GPUs.
    """
    shape, N = DEEPSEEK_V3, DEEPSEEK_V3_NAMED_PARAMETERS
    expert = 3 * shape.width * shape.expert_feed_forward
    # The 256 experts of 58 layers are nearly the whole model.
    in_experts = (shape.layers - shape.dense_layers) * shape.routed_experts * expert
    share = in_experts / N["all"]  # @inspect share
    assert round(share, 3) == 0.975
    # On 64 ranks there are 4 experts of each layer, and with 16 stages some 4 layers on a GPU. What
    # is not in experts is divided by the stages alone.
    here = in_experts / (DEEPSEEK_V3_PIPELINE * DEEPSEEK_V3_EXPERT_RANKS)
    here += (N["all"] - in_experts) / DEEPSEEK_V3_PIPELINE
    billions = here / 1e9  # @inspect billions
    assert round(billions, 2) == 1.71
    # (Twice that: its pipeline runs from both ends at once, so each GPU holds two stages.)
    # Moving tokens is expensive. Forward, a token brings $6DF$ FLOPs to an expert, comes in 8 bits
    # and goes back in 16: 2F FLOPs for each byte, and experts are narrow, F = 2048.
    intensity = 2 * expert / (3 * shape.width)
    in_fp8 = H100_SXM.dense_flops_per_second["fp8"]  # the rate of an H800, too
    on_h800 = in_fp8 / H800_NVLINK_BYTES_PER_SECOND  # @inspect intensity on_h800
    assert round(intensity / on_h800, 1) == 0.4
    # That is two fifths of what these matmuls in FP8 need inside a box of H800, whose NVLink is
    # cut, and a tenth of what they need over InfiniBand. So the report lets each token visit at
    # most four boxes, and hides its journey behind the computation of another micro-batch.
    assert round(intensity / (in_fp8 / INFINIBAND_NDR_BYTES_PER_SECOND), 1) == 0.1
    # The bill: by the rule of 6, each GPU reached 343 TFLOP/s. That is 35 % of its peak in bf16,
    # and 17 % of that in FP8, in which most of its matmuls run.
    work = 6 * N["active"] * DEEPSEEK_V3_TRAINING_TOKENS
    reached = work / (DEEPSEEK_V3_GPU_HOURS * 3600)  # @inspect reached
    assert round(reached / 1e12) == 343
    assert round(reached / H100_FLOPS_PER_SECOND, 2) == 0.35
    assert round(reached / in_fp8, 2) == 0.17
    # 2048 of them read a trillion tokens in 3.7 days.
    days = DEEPSEEK_V3_GPU_HOURS_PER_TRILLION / DEEPSEEK_V3_GPUS / 24
    assert round(days, 1) == DEEPSEEK_V3_DAYS_PER_TRILLION
    # What we can do now: read a line such as "TP 8, PP 16, DP 128" and say what is sent, what is
    # kept, and who waits.


def exercise_twice_the_stages():  # M27.6 @exercise
    """Exercise: twice the stages.

    A model runs on 4 pipeline stages with 8 micro-batches. You double the stages to 8, so that each
    has half of the layers, and change nothing else. How many times as fast is a step? Write down a
    number before you look.
    """
    ticks = {}
    for p in (4, 8):
        found = on_ranks(p, run_pipeline, 8, True)
        ticks[p] = max(stop for pieces, _, _ in found for _, stop, _, _ in pieces)
    # A stage with half of the layers takes half of the time for each tick.
    gain = ticks[4] / (ticks[8] / 2)  # @inspect gain
    assert round(gain, 2) == round(2 * 11 / 15, 2)
    # Not 2: the bubble grows from 3/11 to 7/15 of the time.


def exercise_seventy_billion_on_eighty_gigabytes():  # M27.4 @exercise
    """Exercise: 70 billion on 80 gigabytes.

    Half of an 80 GB GPU may go to the 16 bytes per parameter of a model of 70 billion; the other
    half is for activations. How many GPUs does each stage of ZeRO need at the least?
    """
    room = 40e9 / 70e9
    needed = {
        stage: next((n for n in range(1, 1000) if bytes_per_parameter(stage, n) <= room), None)
        for stage in (1, 2, 3)
    }  # @stepover @inspect needed
    # Stages 1 and 2 never fit: 2 bytes for the weights alone are 140 GB on every rank. They need
    # another axis beside them, which divides the weights first.
    assert needed == {1: None, 2: None, 3: 28}
