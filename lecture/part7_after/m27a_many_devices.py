"""Many devices: ranks and their messages, data parallelism, and state that is sharded."""

import math
import tempfile

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as checkpoint
from jaxtyping import Float, Shaped
from torch import Tensor, nn
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.nn.parallel import DistributedDataParallel

from lecture.accounting.sharding import bytes_per_parameter
from lecture.facts import (
    ZERO_EXAMPLE_PARAMETERS,
    ZERO_EXAMPLE_RANKS,
    ZERO_GIGABYTES_BY_STAGE,
)
from lecture.lib.memory import held_bytes
from lecture.lib.optim import AdamW
from lecture.lib.ranks import Traffic, on_ranks, on_ranks_elsewhere
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.transformer import TransformerConfig, TransformerLM, cross_entropy
from lecture.part7_after import m27_figures as figures


@shape_checked
def from_the_left(x: Shaped[Tensor, "*shape"]) -> Shaped[Tensor, "*shape"]:
    """Send a tensor to the next rank of the ring, and return what the one before has sent."""
    rank, n = dist.get_rank(), dist.get_world_size()
    received = torch.empty_like(x)
    sending = dist.isend(x, (rank + 1) % n)
    dist.recv(received, (rank - 1) % n)
    sending.wait()
    return received


def mine_and_my_neighbours(rank: int, n: int) -> tuple[list[float], list[float]]:
    """Write into an own tensor, pass it to the right, and return both what is here and came."""
    x = torch.zeros(n)
    x[rank] = 1
    return x.tolist(), from_the_left(x).tolist()


def ranks_share_nothing_but_messages():  # M27.1
    """Ranks share nothing but messages.

    So far one GPU did everything, and two things were out of reach: a model whose 16 bytes per
    parameter [do not fit](#memory_limits_the_batch), and [a run of
    years](#one_card_takes_18_years). Both need more devices. The usual way to use them: start the
    same program once for each, as a process of its own. Such a process is a *rank*. It knows its
    number and how many there are, and the rest follows from that. The ranks on this page are real
    processes on the machine that made it; on a cluster each has a GPU.
    """
    # Three ranks run the function above. Each makes `x` and writes a 1 at the place of its number.
    # What does rank 1 see of the other two?
    found = on_ranks(3, mine_and_my_neighbours)
    mine = [own for own, _ in found]  # @inspect mine
    # Nothing. There are three tensors of that name, in three memories.
    assert mine == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    # What another rank is to know has to be sent, and received there. Each rank sent `x` to its
    # right-hand neighbour, the last one to the first: the ranks form a *ring*.
    received = [left for _, left in found]  # @inspect received
    assert received == [mine[2], mine[0], mine[1]]


def collectives_of_four_numbers(rank: int, n: int) -> dict[str, list[float]]:
    """Let each rank bring four numbers, call each collective once, and return what comes out."""
    x = torch.tensor([1.0, 2, 3, 4]) * 10**rank
    broadcast, summed, all_of_it = x.clone(), x.clone(), torch.empty(n)
    dist.broadcast(broadcast, src=0)
    dist.all_reduce(summed)
    part = torch.empty(len(x) // n)
    dist.reduce_scatter_single(part, x)
    dist.all_gather_single(all_of_it, x[:1])
    put_together = torch.empty_like(x)
    dist.all_gather_single(put_together, part)
    return {
        "before": x.tolist(),
        "broadcast": broadcast.tolist(),
        "all-gather of the first": all_of_it.tolist(),
        "reduce-scatter": part.tolist(),
        "all-reduce": summed.tolist(),
        "reduce-scatter, all-gather": put_together.tolist(),
    }


def four_collectives_move_everything():  # M27.2
    """Four collectives move everything.

    Nobody writes out who sends what to whom. All ranks call the same *collective*, and four of them
    are nearly enough for a whole training run. Four ranks bring four numbers each, of which the
    number of zeros says whose they are.
    """
    found = on_ranks(4, collectives_of_four_numbers)
    after = {name: [rank[name] for rank in found] for name in found[0]}
    table = figures.collectives(after)  # @inspect table
    # *Broadcast*: everybody gets what one rank has, such as the first weights.
    assert after["broadcast"] == 4 * [[1, 2, 3, 4]]
    # *All-gather*: each brings a part, everybody gets all parts.
    assert after["all-gather of the first"] == 4 * [[1, 10, 100, 1000]]
    # *Reduce-scatter*: the numbers are added up across the ranks, and each rank gets a part of the
    # sums.
    assert after["reduce-scatter"] == [[1111], [2222], [3333], [4444]]
    # *All-reduce*: they are added up, and everybody gets all sums. So an all-reduce is a
    # reduce-scatter followed by an all-gather.
    assert after["all-reduce"] == 4 * [[1111, 2222, 3333, 4444]]  # @predict
    assert after["reduce-scatter, all-gather"] == after["all-reduce"]


@shape_checked
def ring_all_reduce(x: Float[Tensor, " n"]) -> int:
    """Replace x by its sum over the ranks; return the bytes that this rank has sent for it."""
    rank, n = dist.get_rank(), dist.get_world_size()
    parts, sent_bytes = x.chunk(n), 0
    for adding in (True, False):  # first a reduce-scatter, then an all-gather
        for turn in range(n - 1):
            leaving = parts[(rank - turn + (not adding)) % n]
            coming = parts[(rank - turn - adding) % n]
            received = from_the_left(leaving)
            sent_bytes += leaving.nbytes
            coming.copy_(coming + received if adding else received)
    return sent_bytes


@shape_checked
def all_reduce_at_one(x: Float[Tensor, " n"]) -> int:
    """Do the same by sending everything to rank 0 and back; return the bytes that this rank sends
    or receives on the way in."""
    rank, moved_bytes = dist.get_rank(), 0
    for other in range(1, dist.get_world_size()):
        if rank == 0:
            received = torch.empty_like(x)
            dist.recv(received, other)
            x += received
        elif rank == other:
            dist.send(x, 0)
        moved_bytes += x.nbytes * (rank in (0, other))
    dist.broadcast(x, src=0)
    return moved_bytes


def two_all_reduces(rank: int, n: int, elements: int) -> tuple[bool, int, int]:
    """Sum up one tensor in both ways; say whether both agree with the library's, and the bytes."""
    x = torch.arange(float(elements)) * (rank + 1)
    ring, at_one, expected = x.clone(), x.clone(), x.clone()
    dist.all_reduce(expected)
    ring_bytes, at_one_bytes = ring_all_reduce(ring), all_reduce_at_one(at_one)
    agree = torch.equal(ring, expected) and torch.equal(at_one, expected)
    return agree, ring_bytes, at_one_bytes


def an_all_reduce_moves_twice_the_tensor():  # M27.2 @core
    """An all-reduce moves twice the tensor.

    What does it cost to add up a tensor of S bytes across n ranks? Guess first: with 1000 ranks,
    how many times S does each of them have to send?
    """
    # @note Collect guesses for 1000 ranks. Three people with three slips of paper each can act out
    # the ring in a minute: two turns to add up, two turns to pass on.
    elements = 1200
    S = 4 * elements
    sent_bytes, at_one_bytes = {}, {}
    for n in (2, 3, 4):
        found = on_ranks(n, two_all_reduces, elements)
        assert all(agree for agree, _, _ in found)
        [sent_bytes[n]] = {ring for _, ring, _ in found}
        at_one_bytes[n] = max(at_one for _, _, at_one in found)
    # Sent round in a *ring*, the tensor is cut into n parts. In n − 1 turns every rank passes one
    # part on and adds what it receives to its own; then each part is complete at one rank. In n − 1
    # more turns the complete parts go round. So each rank sends $2(n-1)$ parts:
    # $$\frac{2(n-1)}{n}\cdot S$$
    # This is never more than 2S, even with 1000 ranks.
    assert sent_bytes == {n: 2 * (n - 1) * S // n for n in (2, 3, 4)}  # @inspect sent_bytes
    # The obvious way sends everything to one rank and the sum back from there. On the way in alone,
    # $(n-1)\cdot S$ pass that one rank, and the others wait.
    assert at_one_bytes == {n: (n - 1) * S for n in (2, 3, 4)}  # @inspect at_one_bytes
    # A reduce-scatter or an all-gather alone is half of it. Libraries have other orders for
    # small tensors, with fewer waits; without help from the network none sends fewer bytes in all.
    # (A switch that adds by itself, as in a box of H100s, lets each rank send little more than S.)
    # From here on, `Traffic` counts the library's collectives by this formula.


SMALL = TransformerConfig(vocabulary=64, context=8, layers=3, width=32, heads=4, feed_forward=64)


def small_model(seed: int = 0) -> TransformerLM:  # @stepover
    """Draw the same model on every rank."""
    return TransformerLM(SMALL, generator=torch.Generator().manual_seed(seed))


@shape_checked
def small_batch(step: int) -> Float[Tensor, "B T"]:  # @stepover
    """Draw four sequences and, for each token, the one that follows."""
    generator = torch.Generator().manual_seed(step)
    return torch.randint(SMALL.vocabulary, (4, SMALL.context + 1), generator=generator).float()


def train_copies(rank: int, n: int, steps: int) -> tuple[list[float], Tensor, int]:
    """Train a copy of the model on this rank's share of each batch; return the losses, all
    weights in one row, and the bytes that this rank sent."""
    model, losses = small_model(), []
    optimizer = AdamW(model.parameters(), lr=0.01)
    with Traffic() as traffic, without_checks():
        for step in range(steps):
            share = small_batch(step)[rank::n].long()
            loss = cross_entropy(model(share[:, :-1]), share[:, 1:])  # @stepover
            optimizer.zero_grad()
            loss.backward()
            for tensor in [loss.detach(), *(weight.grad for weight in model.parameters())]:
                dist.all_reduce(tensor)
                tensor /= n
            optimizer.step()  # @stepover
            losses.append(loss.item())
    weights = nn.utils.parameters_to_vector(model.parameters()).detach()
    return losses, weights, traffic.sent_bytes


def equal_copies_make_equal_steps():  # M27.3
    """Equal copies make equal steps.

    How do n ranks train one model? The simplest way is *data parallelism*: every rank has a copy of
    the model, takes its share of each batch, and before the step the gradients are averaged by an
    all-reduce. Same weights plus same gradient is same weights. Is the result that of one device
    with the whole batch?
    """
    steps, n = 4, 2
    [(alone, weights_alone, _)] = on_ranks(1, train_copies, steps)
    (losses, weights, sent_bytes), (_, weights_of_1, _) = on_ranks(n, train_copies, steps)
    # It is, but for the order in which numbers are added.
    assert torch.allclose(torch.tensor(losses), torch.tensor(alone), rtol=1e-5)
    assert (weights - weights_alone).abs().mean() < 1e-5  # @inspect losses alone
    # And the copies are equal to the last bit, although nobody ever sends weights.
    assert torch.equal(weights, weights_of_1)
    # In every step each rank sends $2(n-1)/n$ times the gradients (and the loss), in fp32.
    N = sum(weight.numel() for weight in small_model().parameters())
    assert sent_bytes == steps * 2 * (n - 1) * 4 * (N + 1) // n
    # The mean of two means is the mean of all only if the shares are [equally
    # large](#unequal_parts_need_weights). So: data parallelism divides the FLOPs and the
    # activations by n. It divides nothing of the 16 bytes per parameter.


class Stack(nn.Sequential):
    """Four square layers, drawn the same on every rank."""

    def __init__(self, D: int) -> None:
        generator = torch.Generator().manual_seed(0)
        super().__init__(*(nn.Linear(D, D, bias=False) for _ in range(4)))
        for weight in self.parameters():
            weight.data = torch.randn(D, D, generator=generator) / D**0.5


def gradients_sent_early(rank: int, n: int) -> tuple[list[str], float]:
    """Start an all-reduce for each gradient as soon as it is there; return what happened when, and
    how far the gradients are from those of PyTorch's `DistributedDataParallel`."""
    events, waiting = [], []
    x = torch.randn(8, 32, generator=torch.Generator().manual_seed(rank))
    model = Stack(32)

    def send(weight: Tensor) -> None:
        [number] = [place for place, own in enumerate(model.parameters()) if own is weight]
        events.append(f"gradient of layer {number}")
        waiting.append(dist.all_reduce(weight.grad, async_op=True))
        events.append(f"layer {number} leaves")

    for weight in model.parameters():
        weight.register_post_accumulate_grad_hook(send)
    model(x).square().mean().backward()
    events.append("backward is done")
    for message in waiting:
        message.wait()
    library = DistributedDataParallel(Stack(32))
    library(x).square().mean().backward()
    pairs = zip(model.parameters(), library.parameters(), strict=True)
    return events, max((ours.grad / n - its.grad).abs().max().item() for ours, its in pairs)


def gradients_travel_while_others_are_computed():  # M27.3
    """Gradients travel while others are computed.

    Do the GPUs have to wait for the all-reduce? Not for all of it. The backward pass finds the
    gradient of the last layer first, and nothing below will change it (if no layer below has the
    same weights). So it can leave at once.
    """
    (events, distance), _ = on_ranks(2, gradients_sent_early)  # @inspect events
    # When the gradient of layer 0 is still to come, those of layers 3, 2 and 1 have been sent off.
    assert events.index("layer 1 leaves") < events.index("gradient of layer 0")
    assert [event for event in events if "leaves" in event] == [
        f"layer {number} leaves" for number in (3, 2, 1, 0)
    ]
    # This is what `DistributedDataParallel` does, which packs gradients into buckets of 25 MiB, the
    # first of 1 MiB, so that few messages are small. Its gradients are ours.
    assert distance < 1e-6
    # Only the first layer's gradient has nothing to hide behind. So a step takes the forward pass,
    # and then, at best, about the larger of the two, backward pass and sending, and not their sum.


def zero_divides_what_every_rank_keeps():  # M27.4 @core
    """ZeRO divides what every rank keeps.

    Must every rank keep the same 16 bytes per parameter? In mixed precision these are 2 for the
    bf16 weight, 2 for its gradient, and 12 for the optimizer: an fp32 copy of the weight, m and v.
    The optimizer's 12 are needed for the update alone, and each weight has to be updated only once.
    """
    # @note Write 16 = 2 + 2 + 12 on the board and let the class divide it for two ranks, stage by
    # stage. (16, 10, 9, 8.) Then ask which term is left over when n becomes very large.
    #
    # [ZeRO](https://arxiv.org/abs/1910.02054) divides in three stages what n ranks would keep n
    # times: *sharding*. Stage 1 gives each rank an nth of the optimizer's state, stage 2 an nth of
    # the gradients as well, stage 3 an nth of everything. Bytes per parameter:
    # $$16,\quad 4+\tfrac{12}{n},\quad 2+\tfrac{14}{n},\quad \tfrac{16}{n}$$
    # This table of the paper is for 7.5 billion parameters on 64 GPUs.
    n, N = ZERO_EXAMPLE_RANKS, ZERO_EXAMPLE_PARAMETERS
    gigabytes = [bytes_per_parameter(stage, n) * N / 1e9 for stage in range(4)]
    assert [round(size, 1) for size in gigabytes] == list(ZERO_GIGABYTES_BY_STAGE)
    # With more GPUs, stage 3 has no floor, stage 2 ends at the weights, stage 1 at both.
    by_ranks = {
        f"stage {stage}" if stage else "data parallel": {
            ranks: bytes_per_parameter(stage, ranks) for ranks in (1, 2, 4, 8, 16, 32, 64, 128)
        }
        for stage in range(4)
    }
    kept = figures.kept_by_ranks(by_ranks)  # @inspect kept
    # Activations are left out. Data parallelism itself divides them, as each rank sees only its
    # share of the batch.


class ZeroLayer:
    """A matrix in bf16 and what AdamW needs for it, kept on this rank as a stage of ZeRO says."""

    def __init__(self, weight: Tensor, stage: int) -> None:
        self.stage, self.shape = stage, weight.shape
        whole = weight.flatten().bfloat16()
        own = whole.chunk(dist.get_world_size())[dist.get_rank()].clone()
        self.weight = own.clone() if stage >= 3 else whole
        self.gradient = torch.zeros_like(own if stage >= 2 else whole)
        self.master = (own if stage >= 1 else whole).float()
        self.m, self.v = torch.zeros_like(self.master), torch.zeros_like(self.master)

    def kept_bytes(self) -> int:
        kept = (self.weight, self.gradient, self.master, self.m, self.v)
        return sum(held_bytes(tensor) for tensor in kept)

    def matrix(self) -> Tensor:
        """The whole matrix; in stage 3 its parts come from all ranks, to be dropped after use."""
        if self.stage < 3:
            return self.weight.view(self.shape)
        whole = self.weight.new_empty(self.shape).flatten()
        dist.all_gather_single(whole, self.weight)
        return whole.view(self.shape)

    def take(self, gradient: Tensor) -> None:
        """Add up a gradient across the ranks and keep what this rank needs of it."""
        if self.stage == 0:
            self.gradient.copy_(gradient.flatten())
            dist.all_reduce(self.gradient)
        else:
            part = self.gradient.chunk(dist.get_world_size())[dist.get_rank()]
            own = self.gradient if self.stage >= 2 else part
            dist.reduce_scatter_single(own, gradient.flatten())

    def update(self, lr: float) -> None:
        """Make AdamW's first step with what is kept here, and hand out the new weights."""
        n, rank = dist.get_world_size(), dist.get_rank()
        whole = self.stage == 1
        gradient = (self.gradient.chunk(n)[rank] if whole else self.gradient).float() / n
        self.m.lerp_(gradient, 0.1)
        self.v.lerp_(gradient.square(), 0.05)
        self.master -= lr * (self.m / 0.1) / ((self.v / 0.05).sqrt() + 1e-8)
        if self.stage in (1, 2):
            dist.all_gather_single(self.weight, self.master.bfloat16())
        else:
            self.weight.copy_(self.master)


def one_step_with_zero(rank: int, n: int, stage: int, D: int) -> tuple[int, int, Tensor]:
    """Make one step of a stack of layers; return what this rank keeps for it, what it sent, and the
    weights after it."""
    generator = torch.Generator().manual_seed(0)
    draw = lambda *shape: torch.randn(*shape, generator=generator)  # noqa: E731
    layers = [ZeroLayer(draw(D, D) / D**0.5, stage) for _ in range(3)]
    inputs = [draw(8, D)[rank::n].bfloat16()]
    with Traffic() as traffic:
        for layer in layers:
            inputs.append(inputs[-1] @ layer.matrix())
        dy = inputs.pop()  # of half the sum of squares
        for layer in reversed(layers):
            x = inputs.pop()
            layer.take(x.T @ dy)
            dy = dy @ layer.matrix().T
        for layer in layers:
            layer.update(lr=0.01)
    kept_bytes = sum(layer.kept_bytes() for layer in layers)
    return kept_bytes, traffic.sent_bytes, torch.stack([layer.matrix() for layer in layers])


def one_step_alone(D: int) -> Tensor:  # @stepover
    """Make that step on one device, in fp32; return the weights after it."""
    generator = torch.Generator().manual_seed(0)
    layers = [nn.Parameter(torch.randn(D, D, generator=generator) / D**0.5) for _ in range(3)]
    x = torch.randn(8, D, generator=generator)
    for layer in layers:
        x = x @ layer
    (x.square().sum() / 2).backward()
    AdamW(layers, lr=0.01, weight_decay=0.0).step()
    return torch.stack([layer.detach() for layer in layers])


def each_stage_of_zero_keeps_what_it_promises():  # M27.4
    """Each stage of ZeRO keeps what it promises.

    A formula on paper is one thing. Here all four make the same step on four ranks, and each rank
    adds up what it really keeps. What does the saving cost in messages?
    """
    n, D = 4, 32
    N = 3 * D * D
    kept, sent, weights = {}, {}, {}
    for stage in range(4):
        found = on_ranks(n, one_step_with_zero, stage, D)
        [kept[stage]] = {kept_bytes / N for kept_bytes, _, _ in found}
        [sent[stage]] = {sent_bytes / N for _, sent_bytes, _ in found}
        weights[stage] = found[-1][2]
    # Bytes per parameter on every rank: the formula.
    assert kept == {stage: bytes_per_parameter(stage, n) for stage in range(4)}  # @inspect kept
    # Bytes sent per parameter, in bf16: stages 1 and 2 send nothing extra. They end the all-reduce
    # half-way, after the reduce-scatter, update, and gather weights where gradients would have been
    # gathered. Stage 3 gathers the weights twice, once forward and once backward: half as much
    # again.
    full = 2 * (n - 1) / n
    assert sent == {0: 2 * full, 1: 2 * full, 2: 2 * full, 3: 3 * full}  # @inspect sent
    # And all four arrive at the same weights, those of AdamW on one device. (Each weight has moved
    # by 0.01; bf16 is off by less than a tenth of that on average.)
    assert all(torch.equal(weights[stage], weights[0]) for stage in range(1, 4))
    assert (weights[0] - one_step_alone(D)).abs().mean() < 0.001
    # So: stage 1 costs no bytes. (In time it may: its all-gather comes after the update and cannot
    # hide behind the backward pass, but behind the next forward pass.) Nor does stage 2, unless
    # gradients of several micro-batches are added up: then each of them is scattered.


def sharded_model(reshard: bool = True) -> TransformerLM:  # @stepover
    """Draw the model, and let FSDP shard each block, then what is left."""
    model = small_model()
    for block in model.blocks:
        fully_shard(block, reshard_after_forward=reshard)
    return fully_shard(model, reshard_after_forward=reshard)


MOMENTS = ("exp_avg", "exp_avg_sq")


def bytes_of_parts(tensors: list[DTensor]) -> int:
    """Add up what this rank holds of tensors that are shared out; several may lie in one piece of
    memory."""
    storages = [tensor.to_local().untyped_storage() for tensor in tensors]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def one_step_with_fsdp(rank: int, n: int) -> tuple[float, dict[str, int], int, dict[str, int]]:
    """Make one step; return the loss, the bytes kept on this rank, those of the largest gather, and
    how often which collective was called."""
    model = sharded_model()
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    share = small_batch(0)[rank::n].long()
    with Traffic() as traffic, without_checks():
        loss = cross_entropy(model(share[:, :-1]), share[:, 1:])  # @stepover
        loss.backward()
        optimizer.step()
    mean = loss.detach()
    dist.all_reduce(mean)
    weights = [*model.parameters()]
    states = [optimizer.state[weight] for weight in weights]
    kept_bytes = {
        "weights": bytes_of_parts(weights),
        "gradients": bytes_of_parts([weight.grad for weight in weights]),
        "m and v": bytes_of_parts([state[name] for state in states for name in MOMENTS]),
    }
    return mean.item() / n, kept_bytes, traffic.largest_bytes, dict(traffic.calls)


def fsdp_gathers_one_block_at_a_time():  # M27.4
    """FSDP gathers one block at a time.

    PyTorch's stage 3 is called FSDP, *fully sharded data parallelism*: `fully_shard(block)`. If no
    rank has the weights, what does it multiply with? Just before a block runs, its ranks gather its
    weights, and drop them right after.
    """
    n = 4
    found = on_ranks_elsewhere(n, one_step_with_fsdp)
    loss, kept_bytes, gathered_bytes, calls = found[0]  # @inspect kept_bytes calls
    model = small_model()
    N = sum(weight.numel() for weight in model.parameters())
    # Each rank keeps an nth of the 16 bytes (here all in fp32: 4 + 4 + 8).
    assert kept_bytes == {"weights": 4 * N // n, "gradients": 4 * N // n, "m and v": 8 * N // n}
    assert all(kept == kept_bytes for _, kept, _, _ in found)
    # The largest thing that was gathered at once: one block. (The rest, embedding and LM head, is
    # gathered first, and stays beside the blocks until the pass ends. It is smaller here. In many
    # real models it is not, and gets a `fully_shard` of its own.)
    of_block = sum(4 * weight.numel() for weight in model.blocks[0].parameters())
    assert gathered_bytes == of_block < 4 * N / 2
    # Blocks and rest are gathered on the way forward, gathered again for the backward pass, and
    # their gradients scattered.
    assert calls["reduce-scatter"] == SMALL.layers + 1
    assert calls["all-gather"] == 2 * (SMALL.layers + 1)
    # The loss is that of a single device.
    batch = small_batch(0).long()
    alone = cross_entropy(model(batch[:, :-1]), batch[:, 1:]).item()  # @stepover
    assert abs(loss - alone) < 1e-5
    # So: sharding by blocks makes room for the model. It costs little time as long as gathering the
    # next block hides behind the computation of this one, and then two blocks are there at once.


def write_shards(rank: int, n: int, folder: str) -> None:
    """Write the weights, each rank its own part."""
    model = sharded_model()  # @stepover
    checkpoint.save(model.state_dict(), checkpoint_id=folder)  # @stepover


def read_shards(rank: int, n: int, folder: str) -> tuple[int, float]:
    """Read this rank's part; return its bytes and how far all is from the model's first weights."""
    model = sharded_model()  # @stepover
    for weight in model.parameters():
        weight.data.zero_()
    state = model.state_dict()
    checkpoint.load(state, checkpoint_id=folder)  # @stepover
    expected = small_model().state_dict()
    distances = [
        (tensor.full_tensor() - expected[name]).abs().max().item() for name, tensor in state.items()
    ]
    return sum(tensor.to_local().nbytes for tensor in state.values()), max(distances)


def a_checkpoint_can_change_its_ranks():  # M27.4
    """A checkpoint can change its ranks.

    A run has 512 GPUs on Monday and 256 on Tuesday. If each rank writes its shard to a file of its
    own, who reads the other 256 files?
    """
    with tempfile.TemporaryDirectory() as folder:
        on_ranks_elsewhere(2, write_shards, folder)
        found = {n: on_ranks_elsewhere(n, read_shards, folder) for n in (1, 3, 4)}
    # `torch.distributed.checkpoint` writes beside the numbers which part of which tensor they are.
    # So a rank can ask for the part that it needs now, and take it from several files. What two
    # ranks wrote is read here by one, three and four.
    assert all(distance == 0 for ranks in found.values() for _, distance in ranks)
    kept = {n: [kept_bytes for kept_bytes, _ in ranks] for n, ranks in found.items()}
    [whole_bytes] = kept[1]  # @inspect kept
    assert all(sum(parts) == whole_bytes for parts in kept.values())
    # `torchrun --nproc-per-node 2 -m lecture.train --sharding full` trains so, and `--resume` takes
    # the same folder with another number of ranks.
    # What we can do now: train a model as large as all devices together hold, as long as one block
    # fits on each beside the rest, and say how many bytes each rank keeps and sends for it.


def micro_batches(rank: int, parts: int) -> Float[Tensor, "parts 8 32"]:  # @stepover
    """Draw the micro-batches of a rank."""
    return torch.randn(parts, 8, 32, generator=torch.Generator().manual_seed(rank))


def accumulate_and_meet(rank: int, n: int, parts: int, each_time: bool) -> tuple[Tensor, int]:
    """Add up the gradients of micro-batches, and average over the ranks each time or once."""
    model = Stack(32)
    total = torch.zeros(4, 32, 32)
    with Traffic() as traffic:
        for part in micro_batches(rank, parts):
            model.zero_grad()
            (model(part).square().mean() / parts).backward()
            gradient = torch.stack([weight.grad for weight in model.parameters()]) / n
            if each_time:
                dist.all_reduce(gradient)
            total += gradient
        if not each_time:
            dist.all_reduce(total)
    return total, traffic.sent_bytes


def exercise_when_to_meet():  # M27.3 @exercise
    """Exercise: when to meet.

    Two ranks train on eight micro-batches for each optimizer step. They can average the gradients
    after each micro-batch, or add up their own and average once. Is the result the same? What is
    the difference in bytes?
    """
    (each_time, bytes_each_time), _ = on_ranks(2, accumulate_and_meet, 8, True)
    (once, bytes_once), _ = on_ranks(2, accumulate_and_meet, 8, False)
    # A mean of sums is a sum of means, so the gradients agree, for an eighth of the bytes.
    # PyTorch's `DistributedDataParallel` has a switch for it, `no_sync`.
    assert torch.allclose(each_time, once, atol=1e-6)
    assert bytes_each_time == 8 * bytes_once  # @inspect bytes_each_time bytes_once
    # And it is the gradient that one device finds with all 16.
    alone = Stack(32)
    alone(torch.cat([micro_batches(rank, 8) for rank in (0, 1)])).square().mean().backward()
    gradients = torch.stack([weight.grad for weight in alone.parameters()])
    assert torch.allclose(once, gradients, atol=1e-6)


def seconds_of_a_ring(link_rates: list[float], S: float) -> float:
    """Let each rank of a ring pass on its 2(n - 1) parts, over links of these rates; return when
    the last part has come. A rank can send a part when it has received the one before."""
    n = len(link_rates)
    received = [0.0] * n
    link_free = [0.0] * n
    for _ in range(2 * (n - 1)):
        link_free = [
            max(here, free) + S / n / rate
            for here, free, rate in zip(received, link_free, link_rates, strict=True)
        ]
        received = [link_free[(rank - 1) % n] for rank in range(n)]
    return max(received)


def exercise_one_slow_link():  # M27.2 @exercise
    """Exercise: one slow link.

    Eight ranks add up 8 GB around a ring, over links of 50 GB/s. How long does it take at least?
    One of the eight links breaks down to half its rate. By how much is the whole slower?
    """
    seconds = seconds_of_a_ring(8 * [50e9], S=8e9)
    one_slow = seconds_of_a_ring([*7 * [50e9], 25e9], S=8e9)  # @inspect seconds one_slow
    # $2\cdot\frac78\cdot8$ GB are 14 GB through each link: 0.28 s. In each of 14 turns a part has
    # to pass the slow link, and all wait for it: twice the time, not an eighth more.
    assert math.isclose(seconds, 2 * 7 / 8 * 8e9 / 50e9)
    assert one_slow == 2 * seconds
