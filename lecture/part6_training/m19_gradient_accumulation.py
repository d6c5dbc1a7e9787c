"""Gradient accumulation: a large batch in the memory of a small one."""

import itertools
import math

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.layers import DeepNetwork, LinearStack, loss_of_rows
from lecture.lib.memory import held_bytes
from lecture.lib.optim import SGD, AdamW
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m19_figures as figures
from trace.costs import measure


def a_larger_batch_has_a_steadier_gradient():  # M19.1
    """A larger batch has a steadier gradient.

    Why do batches have many rows? The gradient that one wants is the mean over all data. A batch is
    a sample of them, and the mean of a sample is off by chance. Here every possible batch of a
    small data set is drawn, with repetition, to see how far off it is.
    """
    generator = torch.Generator().manual_seed(0)
    x, target = torch.randn(2, 6, dtype=torch.float64, generator=generator)
    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    # One weight, and half the square of the error as loss: a gradient for each of six rows.
    losses = (w * x - target).square() / 2
    of_rows = [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]
    gradients = torch.stack(of_rows)  # @inspect gradients
    assert torch.allclose(gradients, (0.5 * x - target) * x)
    wanted = gradients.mean()
    variances = {}
    for B in (1, 2, 3, 4):
        batches = torch.tensor(list(itertools.product(range(6), repeat=B)))
        means = gradients[batches].mean(dim=1)
        # Their mean is right for every size. It is the spread that shrinks.
        assert torch.isclose(means.mean(), wanted)
        variances[B] = (means - wanted).square().mean().item()  # @inspect variances
    # The variance is divided by the number of rows, so the error by its root: four times the rows
    # for half the error. From some size on that is a bad bargain; from which one [depends on the
    # task](https://arxiv.org/abs/1812.06162).
    assert all(math.isclose(variances[B], variances[1] / B) for B in variances)
    spread = {B: round(math.sqrt(variances[B] / variances[1]), 3) for B in variances}
    assert spread == {1: 1, 2: 0.707, 3: 0.577, 4: 0.5}


@shape_checked
def relu_layers(
    x: Float[Tensor, "B D"], weights: Float[Tensor, "L D D"]
) -> Float[Tensor, "B D"]:  # @stepover
    """Send rows through layers: a product, then ReLU."""
    for weight in weights:
        x = (x @ weight).relu()
    return x


def activations_grow_with_the_batch():  # M19.1
    """Activations grow with the batch.

    What stands in the way of a large batch? Not parameters, gradients or state: they are the same
    for one row and for a million. Activations are there for each row.
    """
    D, L = 1024, 16
    live_bytes = {}
    with torch.device("meta"):
        for B in (1, 64, 256, 2**20):
            weights = torch.empty(L, D, D, dtype=torch.bfloat16, requires_grad=True)
            with measure() as step:
                h = relu_layers(torch.empty(B, D, dtype=torch.bfloat16), weights)
                live_bytes["forward", B] = step.live_bytes["activations"]
                h.sum().backward()
            live_bytes["backward", B] = step.live_bytes["gradients"]  # @inspect live_bytes
    # In bf16, with ReLU: two bytes for each row, feature and layer. 64 rows make 2 MiB.
    assert live_bytes["forward", 64] == 2 * 64 * 1024 * 16 == 2 * 2**20
    assert live_bytes["forward", 2**20] == 2**20 * live_bytes["forward", 1] == 2**35
    # The gradients take 32 MiB in any case. A million rows, or tokens, take 32 GiB beside them.
    assert {live_bytes["backward", B] for B in (1, 64, 256, 2**20)} == {2 * 1024**2 * 16}


@shape_checked
def micro_batches(
    batch: Float[Tensor, "B D"], rows: int
) -> list[Float[Tensor, "b D"]]:  # @stepover
    """Cut a batch into parts of so many rows. Raises ValueError where they do not fit."""
    if len(batch) % rows:
        raise ValueError(f"a batch of {len(batch)} rows cannot be cut into parts of {rows}")
    return list(batch.split(rows))


@shape_checked
def taken_gradients(model: torch.nn.Module) -> Float[Tensor, " N"]:  # @stepover
    """Take the gradients away from a model, as one long row."""
    gradients = [weight.grad.flatten() for weight in model.parameters()]
    model.zero_grad()
    return torch.cat(gradients)


def parts_of_a_batch_add_up_to_it():  # M19.2
    """The parts of a batch add up to it.

    Must all rows be in memory at one time? The loss is a mean over rows, so its gradient is a mean
    of gradients, and those can be added one after the other. *Micro-batches* go forward and back in
    turn, `backward` [adds](#gradients_add_up) to what is there, and the optimizer waits for the
    last of them.
    """
    B, D, L = 16, 8, 4
    generator = torch.Generator().manual_seed(0)
    model = DeepNetwork(D, L, generator)  # @stepover
    batch = torch.randn(B, D, generator=generator)
    gradients, most, timelines = {}, {}, {}
    for rows in (16, 8, 4):
        with measure(timeline=True) as step:
            for part in micro_batches(batch, rows):
                # The mean of the parts' means: each is divided by the number of parts.
                loss = loss_of_rows(model(part)) / (B // rows)  # @stepover
                kept_bytes = step.live_bytes["activations"] - held_bytes(loss)
                loss.backward()
                del loss
        timelines[rows] = step.timeline
        most[rows] = kept_bytes  # @inspect most
        gradients[rows] = taken_gradients(model)
    over_time = figures.memory_over_time(timelines)  # @inspect over_time
    # Half the rows keep half the bytes: L results of D features for each, and the mean of the row.
    assert most == {rows: 4 * rows * (4 * 8 + 1) for rows in (16, 8, 4)}
    # The gradients are the same but for the order of additions.
    for rows in (8, 4):
        assert (gradients[rows] - gradients[16]).norm() < 1e-6 * gradients[16].norm()
    assert gradients[16].numel() == 4 * 8**2


def a_sum_of_means_is_no_mean():  # M19.2
    """A sum of means is no mean.

    A common mistake is to leave out the division by the number of parts. Four parts then give four
    times the gradient. Does anybody notice? It depends on the optimizer.
    """
    generator = torch.Generator().manual_seed(0)
    batch = torch.randn(16, 8, generator=generator)
    moved = {}
    for optimizer_class in (SGD, AdamW):
        gradients, updates = {}, {}
        for divisor in (4, 1):
            model = DeepNetwork(8, 4, torch.Generator().manual_seed(1))  # @stepover
            before = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
            optimizer = optimizer_class(model.parameters())  # @stepover
            for part in micro_batches(batch, 4):
                (loss_of_rows(model(part)) / divisor).backward()  # @stepover
            optimizer.step()
            after = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
            gradients[divisor] = taken_gradients(model)
            updates[divisor] = (after - before).norm().item()
        # Four is a power of two, so nothing is rounded: exactly four times.
        assert torch.equal(gradients[1], 4 * gradients[4])
        assert gradients[1].numel() == 4 * 8**2
        moved[optimizer_class.__name__] = updates[1] / updates[4]  # @inspect moved
    # For SGD it is the same as four times the learning rate.
    assert round(moved["SGD"], 3) == 4
    # AdamW [does not see the scale](#adamw_does_not_see_the_scale_of_the_loss) of its gradients and
    # does nearly the same with both. So the mistake can live on, until gradients are
    # [clipped](#one_norm_for_all_gradients) at some size.
    assert round(moved["AdamW"], 3) == 1


def a_part_is_no_larger_than_the_whole():  # M19.2 E68
    """A part is no larger than the whole.

    A common mistake is to turn the sizes round, with micro-batches of 256 for a batch of 64. What
    would that mean? The optimizer would have to step after every quarter of a micro-batch.
    """
    D, L = 1024, 16
    # Programs differ in what they do then. Integers divide to 0, and to ask whether a number is a
    # multiple of 0 is an error. `split` cuts nothing, and says nothing.
    batch = torch.arange(64.0)[:, None]
    assert [len(part) for part in batch.split(256)] == [64]
    # Ours refuses, as it does when the parts would not be equal.
    messages = []
    for rows in (256, 48, 32, 64):
        with refused(ValueError) as error:
            micro_batches(batch, rows)
        messages.append(error.message)  # @inspect messages
    complaints = [f"a batch of 64 rows cannot be cut into parts of {rows}" for rows in (256, 48)]
    assert messages == [*complaints, "", ""]
    # And if the data really came 256 rows at a time, memory would grow: four times as many
    # activations as for the batch that was to be made smaller.
    kept_bytes = {}
    for rows in (16, 64, 256):
        weights = torch.empty(L, D, D, dtype=torch.bfloat16, device="meta", requires_grad=True)
        x = torch.empty(rows, D, dtype=torch.bfloat16, device="meta")
        with measure() as forward:
            y = relu_layers(x, weights)
        kept_bytes[y.shape] = forward.live_bytes["activations"]  # @inspect kept_bytes
    assert kept_bytes == {(16, D): 2**19, (64, D): 2 * 2**20, (256, D): 8 * 2**20}


def accumulate(model: torch.nn.Module, parts: list[Tensor]) -> None:  # @stepover
    """Add the gradients of equal parts to those of the model; the loss is the mean square."""
    for part in parts:
        (model(part).square().mean() / len(parts)).backward()


def accumulation_spends_no_flops():  # M19.3 E69
    """Accumulation spends next to no FLOPs.

    What is the price? A common mistake is to say compute. Every row goes forward and back once,
    whatever the company it is in.
    """
    B, D, L = 64, 16, 2
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)  # @stepover
    batch = torch.randn(B, D, generator=generator)
    flops, additions, moved_bytes, gradients = {}, {}, {}, {}
    for rows in (64, 16, 4, 1):
        with measure() as step:
            accumulate(model, micro_batches(batch, rows))
        gradients[rows] = taken_gradients(model)
        flops[rows], additions[rows] = step.matmul_flops, step.other_flops
        moved_bytes[rows] = step.read_bytes + step.written_bytes
    assert set(flops.values()) == {169_984}  # @inspect flops
    assert all(torch.allclose(found, gradients[64], atol=1e-5) for found in gradients.values())
    # Each further part is added to the gradient, one FLOP per parameter, and its loss divided,
    # forward and back. ([To recompute activations](#a_second_way_forward_makes_eight_of_six), in
    # the next chapter, does spend FLOPs.)
    assert additions[1] - additions[64] == 63 * (2 * 16**2 + 16 + 2)
    assert additions[16] - additions[64] == 3 * (2 * 16**2 + 16 + 2)
    # What grows is the traffic with memory. Each part reads all weights again, and adds a gradient
    # of each to what is there. So there are fewer FLOPs for each byte,
    intensity = {n: round(flops[n] / moved_bytes[n], 2) for n in flops}  # @inspect intensity
    assert intensity == {64: 2.71, 16: 1.74, 4: 0.71, 1: 0.21}
    # and parts that are [too small to keep a device busy](#a_batch_shares_the_weights) take longer.
    # The rule is to make them as large as memory allows.


def unequal_parts_need_weights():  # M19.3
    """Unequal parts need weights.

    What if the parts are not equal, because the last one is shorter or because texts have different
    numbers of tokens? Then a mean of means gives every row of a small part more say.
    """
    B, D = 64, 16
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, 2, generator)  # @stepover
    batch = torch.randn(B, D, generator=generator)
    ways = {
        "whole": ([64], [1]),
        "means": ([24, 24, 16], [1 / 3, 1 / 3, 1 / 3]),
        "by rows": ([24, 24, 16], [24 / 64, 24 / 64, 16 / 64]),
    }
    gradients = {}
    for way, (sizes, shares) in ways.items():
        for part, share in zip(batch.split(sizes), shares, strict=True):
            (model(part).square().mean() * share).backward()  # @stepover
        gradients[way] = taken_gradients(model)
    whole = gradients["whole"]
    assert whole.numel() == 2 * 16**2 + 16
    error_percent = {
        way: round((100 * (found - whole).norm() / whole.norm()).item(), 4)
        for way, found in gradients.items()
    }  # @inspect error_percent
    # Nothing fails, and the loss looks as it should. But it is another gradient.
    assert round(error_percent["means"], 1) == 6.8
    # Each part has to count for as many rows as it has; in language models, tokens. In 2024 [widely
    # used programs](https://huggingface.co/blog/gradient_accumulation) were found to take the mean
    # of means.
    assert error_percent["by rows"] == 0


def rows_must_not_know_each_other():  # M19.3
    """Rows must not know each other.

    When do parts add up to the whole? When each row would be treated in the same way in any
    company. A layer that looks at statistics of its batch breaks this: *batch normalization*
    subtracts the mean over the rows and divides by their standard deviation.
    """
    generator = torch.Generator().manual_seed(0)
    batch, target = torch.randn(2, 16, 8, generator=generator)
    scale = torch.ones(8, requires_grad=True)
    norms = {
        "over the batch": lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
        "over features": lambda x: torch.nn.functional.rms_norm(x, (8,)),
    }
    error_percent = {}
    for name, norm in norms.items():
        found = {}
        for rows in (16, 4):
            scale.grad = None
            for part, wanted in zip(batch.split(rows), target.split(rows), strict=True):
                ((scale * norm(part) - wanted).square().mean() / (len(batch) // rows)).backward()
            found[rows] = scale.grad
        error = (found[4] - found[16]).norm() / found[16].norm()
        error_percent[name] = round(100 * error.item(), 4)  # @inspect error_percent
    assert round(error_percent["over the batch"], 1) == 8.7
    # The [norms of Transformers](#rmsnorm_divides_by_the_root_mean_square) look at the features of
    # one token, so parts add up.
    assert error_percent["over features"] == 0


@shape_checked
def sum_of_gradients(
    weight: Float[Tensor, " n"], parts: int, total: Float[Tensor, " n"] | None
) -> Float[Tensor, " n"]:  # @stepover
    """Add the gradients of parts, each of them 1, in `.grad` or in a total of its own format."""
    for _ in range(parts):
        weight.sum().backward()
        if total is not None:
            total += weight.grad
            weight.grad = None
    return weight.grad if total is None else total


def a_long_sum_needs_more_digits():  # M19.2
    """A long sum needs more digits.

    Where does the sum live? In `.grad`, which has the format of the weight. With weights in bf16
    it has eight significant bits, and there can be hundreds of parts.
    """
    sums = {}
    for dtype in (torch.bfloat16, torch.float32):
        weight = torch.ones(3, dtype=dtype, requires_grad=True)
        sums[dtype] = sum_of_gradients(weight, 300, None)
    # Each part adds 1. From 256 on, bf16 has [no number](#counting_stops_early_in_16_bits) for "one
    # more", and the sum stands still.
    assert sums[torch.bfloat16].tolist() == [256] * 3
    assert sums[torch.float32].tolist() == [300] * 3
    # So the sum is often kept apart, in fp32: four bytes per parameter instead of two. The gradient
    # of each part is added to it and let go, so two more are taken for a while.
    weight = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    apart = sum_of_gradients(weight, 300, torch.zeros(3))
    assert apart.tolist() == [300] * 3
    assert weight.grad is None
    assert apart.element_size() - sums[torch.bfloat16].element_size() == 2
    # This chapter in short: a large batch can be taken in parts, one after the other, for the same
    # FLOPs and in the memory of one part. Each part has to count for as many rows as it has.
