"""Gradient accumulation: a large batch in the memory of a small one."""

import itertools
import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture.lib.layers import DeepNetwork, LinearStack, loss_of_rows
from lecture.lib.memory import held_bytes
from lecture.lib.next_byte import NextByte, draw_windows, story_bytes, train_next_byte
from lecture.lib.optim import SGD, AdamW
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked, without_checks
from lecture.part6_training import m19_figures as figures
from trace.costs import measure


def a_larger_batch_has_a_steadier_gradient():  # M19.4
    r"""A larger batch has a steadier gradient.

    Why do batches have many rows? We want the gradient of the mean loss over all data. A batch is a
    sample, and the mean of a sample is off by chance. Guess how much four times the *batch size*
    helps. To see, we draw every possible batch of a data set of six rows, with repetition.
    """
    generator = torch.Generator().manual_seed(0)
    x, target = torch.randn(2, 6, dtype=torch.float64, generator=generator)
    w = torch.tensor(0.5, dtype=torch.float64, requires_grad=True)
    # One weight, and half the squared error as loss: each of the six rows has a gradient, its error
    # times its input.
    losses = (w * x - target).square() / 2
    of_rows = [torch.autograd.grad(loss, w, retain_graph=True)[0] for loss in losses]
    gradients = torch.stack(of_rows)  # @inspect gradients
    assert torch.allclose(gradients, (w * x - target) * x)
    wanted = gradients.mean()
    variances = {}
    for B in (1, 2, 3, 4):
        batches = torch.tensor(list(itertools.product(range(6), repeat=B)))
        means = gradients[batches].mean(dim=1)
        # The average over all batches is right for every batch size. What shrinks is the variance.
        assert torch.isclose(means.mean(), wanted)
        variances[B] = (means - wanted).square().mean().item()  # @inspect variances
    # The variance is divided by B, so the standard deviation by $\sqrt B$: four times the rows
    # halve the error.
    assert all(math.isclose(variances[B], variances[1] / B) for B in variances)
    ratio = math.sqrt(variances[4] / variances[1])
    assert math.isclose(ratio, 1 / 2)  # @inspect ratio


@shape_checked
def steps_to_a_thousandth(B: int, D: int, runs: int = 400) -> int:  # @stepover
    """Fit D weights to answers without noise, each batch size at its best rate; count the steps
    until the mean squared distance to the right weights is a thousandth."""
    generator = torch.Generator().manual_seed(0)
    away = torch.ones(runs, D)
    lr = B / (2 * (B + D + 1))
    steps = 0
    while away.square().sum(dim=1).mean() > D / 1000:
        x = torch.randn(runs, B, D, generator=generator)
        error = torch.einsum("rbd,rd->rb", x, away)
        away -= lr * 2 / B * torch.einsum("rb,rbd->rd", error, x)
        steps += 1
    return steps


def a_batch_has_a_critical_size():  # M19.4
    r"""A batch has a critical size.

    So we take the largest batch that fits? A steadier gradient allows a larger learning rate, and
    so fewer steps. But each step reads more examples. For a linear model, normal inputs and answers
    without noise we can [compute](#a_toy_run_can_be_predicted) the trade. On average a step
    multiplies the loss by
    $1-4\eta+\frac4B(B+D+1)\eta^2$. The best rate is $\eta=\frac{B}{2(B+D+1)}$, and with it the
    factor is $1-\frac{B}{B+D+1}$.
    """
    D = 16
    sizes = (1, 2, 4, 8, 16, 32, 64, 128, 256)
    measured = {B: steps_to_a_thousandth(B, D) for B in sizes}
    predicted = {B: math.log(1000) / -math.log(1 - B / (B + D + 1)) for B in sizes}
    trade = figures.steps_and_examples(measured, predicted)  # @inspect trade
    assert all(abs(measured[B] - predicted[B]) < 1 + 0.05 * predicted[B] for B in sizes)
    # Small batches are steady workers: twice the batch nearly halves the steps, and the run reads
    # nearly the same number of examples.
    assert measured[1] / measured[2] > 1.8
    # Large batches waste: from 128 to 256 the steps fall by a quarter, the examples grow by half.
    assert measured[128] / measured[256] < 1.5  # @inspect measured
    assert 256 * measured[256] > 1.4 * 128 * measured[128]
    # The bend is at the *critical batch size*, here D + 1 = 17: there $\frac{B}{B+D+1}$ is a half,
    # so a step makes half the progress that it would make with the exact gradient. A run near that
    # size reads 40 to 50 % more examples than one row at a time.
    assert 1.4 < 16 * measured[16] / measured[1] < 1.5
    # So: well below the critical size a larger batch saves steps for hardly more FLOPs. Above it
    # you pay in examples, and in FLOPs, for every step you save.


def noise_over_signal(mean_squares: dict[int, float]) -> float:
    """Return tr Σ / |G|², where |G|² + tr Σ / B is known for two batch sizes B."""
    (small, of_small), (large, of_large) = mean_squares.items()
    trace = (of_small - of_large) / (1 / small - 1 / large)
    return trace / (of_large - trace / large)


def gradient_noise_scale(model: NextByte, tokens: Tensor) -> float:  # @stepover
    """Estimate tr Σ / |G|² from the squared norms of gradients of small and of large batches."""
    generator = torch.Generator().manual_seed(5)
    means = {}
    for B, draws in ((16, 64), (4096, 4)):
        total = 0.0
        for _ in range(draws):
            x, y = draw_windows(tokens, B, generator)
            loss = nn.functional.cross_entropy(model(x), y)
            gradients = torch.autograd.grad(loss, [*model.parameters()])
            total += sum(gradient.square().sum().item() for gradient in gradients)
        means[B] = total / draws
    return noise_over_signal(means)


def the_noise_grows_as_the_loss_falls():  # M19.4
    r"""The noise grows as the loss falls.

    A real model has no formula for its critical batch size. Can we measure one? [McCandlish and
    others](https://arxiv.org/abs/1812.06162) compare two numbers: $\operatorname{tr}\Sigma$, the
    variance of the gradient of one example, summed over all parameters, and $|G|^2$, the square of
    the true gradient. Their ratio, the *gradient noise scale*, is the batch size at which noise and
    signal are equal.
    """
    # The square of a batch's gradient is, on average, $|G|^2+\operatorname{tr}\Sigma/B$. So two
    # batch sizes give both numbers. If they are 2 and 600:
    squares = {B: 2 + 600 / B for B in (16, 4096)}
    assert round(noise_over_signal(squares), 6) == 600 / 2
    tokens, V = story_bytes(100_000, 1)
    model = NextByte(V, F=64, generator=torch.Generator().manual_seed(0))
    optimizer = AdamW(model.parameters(), lr=2**-6, betas=(0.9, 0.95), weight_decay=0.0)
    noise, losses = {}, []
    with without_checks():
        for steps_before, steps in ((0, 0), (0, 25), (25, 75), (100, 300)):
            losses += train_next_byte(model, [optimizer], tokens, steps, B=64, seed=steps)
            noise[steps_before + steps] = gradient_noise_scale(model, tokens)
    grown = figures.noise_scale(noise)  # @inspect grown noise
    # A small language model on stories: about a hundred before the first step, about a thousand
    # after 400 steps, when the loss is about half of what it was. (Not at every step: here it is
    # lower after 100 than after 25.)
    assert 30 < noise[0] < 300
    assert noise[400] > 5 * noise[0]
    assert losses[-1] < 0.6 * losses[0]
    # So the batch may grow during training. [GPT-3](https://arxiv.org/abs/2005.14165)'s runs grew
    # it, and [Llama 3](https://arxiv.org/abs/2407.21783) went from 4 to 16 million tokens. The
    # noise scale gives the order of magnitude, not a setting: it assumes that curvature is the same
    # in all directions.


@shape_checked
def relu_layers(
    x: Float[Tensor, "B D"], weights: Float[Tensor, "L D D"]
) -> Float[Tensor, "B D"]:  # @stepover
    """Send rows through layers: a matmul, then ReLU."""
    for weight in weights:
        x = (x @ weight).relu()
    return x


def activations_grow_with_the_batch():  # M19.1
    """Activations grow with the batch.

    What stands in the way of a large batch? Not parameters, gradients or optimizer state: they are
    the same for one row and for a million. How much do the activations take?
    """
    D, L = 1024, 16
    live_bytes = {}
    with torch.device("meta"):
        for B in (1, 64, 2**20):
            weights = torch.empty(L, D, D, dtype=torch.bfloat16, requires_grad=True)
            with measure() as step:
                h = relu_layers(torch.empty(B, D, dtype=torch.bfloat16), weights)
                live_bytes["forward", B] = step.live_bytes["activations"]
                h.sum().backward()
            live_bytes["backward", B] = step.live_bytes["gradients"]  # @inspect live_bytes
    # In bf16 with ReLU: two bytes for each row, feature and layer. 64 rows take 2 MiB, a million
    # take 32 GiB.
    assert live_bytes["forward", 64] == 2 * 64 * D * L
    assert live_bytes["forward", 2**20] == 2**20 * live_bytes["forward", 1] == 32 * 2**30
    # The gradients take 32 MiB in any case.
    assert {live_bytes["backward", B] for B in (1, 64, 2**20)} == {2 * D**2 * L}


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

    Must all rows be in memory at the same time? The loss is a mean over rows, so its gradient is a
    mean of gradients, and we can add those one after the other. *Gradient accumulation* sends
    *micro-batches* forward and backward in turn; `backward` [adds](#gradients_add_up) to what is
    there, and the optimizer waits for the last one.
    """
    B, D, L = 16, 8, 4
    generator = torch.Generator().manual_seed(0)
    model = DeepNetwork(D, L, generator)  # @stepover
    batch = torch.randn(B, D, generator=generator)
    gradients, most_bytes, timelines = {}, {}, {}
    for rows in (16, 8, 4):
        with measure(timeline=True) as step:
            for part in micro_batches(batch, rows):
                # The mean of the micro-batches' means: each is divided by their number.
                loss = loss_of_rows(model(part)) / (B // rows)  # @stepover
                kept_bytes = step.live_bytes["activations"] - held_bytes(loss)
                loss.backward()
                del loss
        timelines[rows] = step.timeline
        most_bytes[rows] = kept_bytes  # @inspect most_bytes
        gradients[rows] = taken_gradients(model)
    over_time = figures.memory_over_time(timelines)  # @inspect over_time
    # Half the rows keep half the bytes: L results of D features for each row, and its mean.
    assert most_bytes == {rows: 4 * rows * (L * D + 1) for rows in (16, 8, 4)}
    # The gradients agree but for the order of additions.
    for rows in (8, 4):
        assert (gradients[rows] - gradients[16]).norm() < 1e-6 * gradients[16].norm()


def a_sum_of_means_is_no_mean():  # M19.2
    """A sum of means is not a mean.

    A common mistake is to leave out the division by the number of micro-batches. Four of them then
    give four times the gradient. Would you notice? It depends on the optimizer.
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
        moved[optimizer_class.__name__] = updates[1] / updates[4]  # @inspect moved
    # For SGD it acts like four times the learning rate.
    assert round(moved["SGD"], 3) == 4
    # AdamW [does not see the scale](#adamw_does_not_see_the_scale_of_the_loss) of its gradients and
    # makes nearly the same step. So the mistake can stay unseen, until somebody
    # [clips](#one_norm_for_all_gradients) gradients at a fixed norm.
    assert round(moved["AdamW"], 3) == 1


def a_part_is_no_larger_than_the_whole():  # M19.2 E68
    """A micro-batch is no larger than its batch.

    The two sizes are easily swapped in a configuration: micro-batches of 256 for a batch of 64.
    What does a program do then?
    """
    # `split` cuts nothing and says nothing: one part with all 64 rows. The run goes on, without
    # accumulation, in as much memory as before.
    batch = torch.arange(64.0)[:, None]
    assert [len(part) for part in batch.split(256)] == [64]
    # Ours refuses, as it does when the parts would not be equal.
    messages = {}
    for rows in (256, 48, 32, 64):
        with refused(ValueError) as error:
            micro_batches(batch, rows)
        messages[rows] = error.message  # @inspect messages
    for rows in (256, 48):
        assert messages[rows] == f"a batch of 64 rows cannot be cut into parts of {rows}"
    assert messages[32] == messages[64] == ""
    # And if the data really came 256 rows at a time, activations would grow fourfold, and the
    # optimizer would learn from four times the batch that was planned. So check that one size
    # divides the other. `lecture.train --micro-batches`, which takes the number of parts, does so.


def accumulate(model: torch.nn.Module, parts: list[Tensor]) -> None:  # @stepover
    """Add the gradients of equal parts to those of the model; the loss is the mean square."""
    for part in parts:
        (model(part).square().mean() / len(parts)).backward()


def accumulation_spends_no_flops():  # M19.3 E69
    """Accumulation costs next to no FLOPs.

    What is the price? Guess: more FLOPs, more bytes, or more optimizer steps?
    """
    B, D, L = 64, 16, 2
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)  # @stepover
    N = sum(weight.numel() for weight in model.parameters())
    batch = torch.randn(B, D, generator=generator)
    flops, additions, moved_bytes, gradients = {}, {}, {}, {}
    for rows in (64, 16, 4, 1):
        with measure() as step:
            accumulate(model, micro_batches(batch, rows))
        gradients[rows] = taken_gradients(model)
        flops[rows], additions[rows] = step.matmul_flops, step.other_flops
        moved_bytes[rows] = step.read_bytes + step.written_bytes
    # Not FLOPs: every row goes forward and backward once, in whatever company.
    assert len(set(flops.values())) == 1  # @inspect flops
    assert all(torch.allclose(found, gradients[64], atol=1e-5) for found in gradients.values())
    # Each further micro-batch is added to the gradient: one FLOP per parameter, beside 6 for each
    # of its rows. Its loss is divided, forward and backward. There is still one optimizer step.
    assert additions[1] - additions[64] == 63 * (N + 2)
    # What grows is the traffic with memory. Each micro-batch reads all weights again (twice, but
    # once the first matrix, which sends nothing further back), writes a gradient of each, and to
    # add it reads two numbers and writes one. So there are fewer FLOPs for each byte.
    more_bytes = moved_bytes[1] - moved_bytes[64]
    assert round(more_bytes / (63 * 4 * (6 * N - D**2)), 2) == 1
    intensity = {n: round(flops[n] / moved_bytes[n], 2) for n in flops}  # @inspect intensity
    assert sorted(intensity.values(), reverse=True) == [*intensity.values()]
    assert intensity[64] > 10 * intensity[1]
    # So make micro-batches as large as memory allows: small ones [do not keep a device
    # busy](#a_batch_shares_the_weights).


def unequal_parts_need_weights():  # M19.2
    """Unequal parts need weights.

    What if micro-batches are not equal, because the last one is shorter or because sequences have
    different numbers of tokens? Then a mean of means gives each row of a small part more weight.
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
    error_percent = {
        way: round((100 * (found - whole).norm() / whole.norm()).item(), 4)
        for way, found in gradients.items()
    }  # @inspect error_percent
    # Nothing fails. But the gradient is another one.
    assert 5 < error_percent["means"] < 10
    # Weight each part by its number of rows; in language models, of targets. In 2024 [widely used
    # programs](https://huggingface.co/blog/gradient_accumulation) were found to take the mean of
    # means.
    assert error_percent["by rows"] == 0


def rows_must_not_know_each_other():  # M19.2
    """Rows must not know each other.

    When do the parts add up to the whole? Only if a row's result does not depend on the other rows.
    *Batch normalization* breaks this: it subtracts the mean over the rows and divides by their
    standard deviation.
    """
    generator = torch.Generator().manual_seed(0)
    batch, target = torch.randn(2, 16, 8, generator=generator)
    scale = torch.ones(8, requires_grad=True)
    layers = {
        "over the batch": lambda x: torch.nn.functional.batch_norm(x, None, None, training=True),
        "over features": lambda x: torch.nn.functional.rms_norm(x, (8,)),
    }
    error_percent = {}
    for name, layer in layers.items():
        found = {}
        for rows in (16, 4):
            scale.grad = None
            for part, wanted in zip(batch.split(rows), target.split(rows), strict=True):
                ((scale * layer(part) - wanted).square().mean() / (len(batch) // rows)).backward()
            found[rows] = scale.grad
        error = (found[4] - found[16]).norm() / found[16].norm()
        error_percent[name] = round(100 * error.item(), 4)  # @inspect error_percent
    assert error_percent["over the batch"] > 5
    # The [normalization layers of Transformers](#rmsnorm_divides_by_the_root_mean_square) look at
    # the features of one token, so micro-batches add up.
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

    Where does the sum live? In `.grad`, by default in the format of its weight. With weights in
    bf16 that is eight significant bits, and there can be hundreds of micro-batches.
    """
    sums = {}
    for dtype in (torch.bfloat16, torch.float32):
        weight = torch.ones(3, dtype=dtype, requires_grad=True)
        sums[dtype] = sum_of_gradients(weight, 300, None)
    # Each part adds 1. From 256 on, bf16 has [no number](#counting_stops_early_in_16_bits) for "one
    # more", and the sum stands still.
    assert sums[torch.bfloat16].tolist() == [256] * 3
    assert sums[torch.float32].tolist() == [300] * 3
    # So keep the sum apart, in fp32: four bytes per parameter. The gradient of each micro-batch is
    # added to it and freed, so its two bytes per parameter come and go.
    weight = torch.ones(3, dtype=torch.bfloat16, requires_grad=True)
    apart = sum_of_gradients(weight, 300, torch.zeros(3))
    assert apart.tolist() == [300] * 3
    assert weight.grad is None
    # What we can do now: estimate up to which size a batch helps, train with it in the memory of a
    # small one at the same FLOPs, and weight its parts so that they add up to the whole.


def exercise_half_the_error():  # M19.4 @exercise
    """Exercise: half the error.

    With 32 rows the gradient of a batch is typically 10 % off. How many rows for 5 %, and for 1 %?
    """
    generator = torch.Generator().manual_seed(0)
    gradients = 1 + 0.1 * math.sqrt(32) * torch.randn(500, 3200, generator=generator)
    errors = {B: gradients[:, :B].mean(dim=1).std().item() for B in (32, 128, 3200)}
    # Four times the rows, and a hundred times: 128 and 3200.
    assert math.isclose(errors[32], 0.10, rel_tol=0.15)  # @inspect errors
    assert math.isclose(errors[128], 0.05, rel_tol=0.15)
    assert math.isclose(errors[3200], 0.01, rel_tol=0.15)


def exercise_four_steps_or_one():  # M19.2 @exercise
    """Exercise: four steps or one.

    Four micro-batches are in memory one after the other. You could make an SGD step after each,
    with a quarter of the learning rate, instead of one step after all four. What changes, if the
    rate is small?
    """
    batch = torch.randn(64, 16, generator=torch.Generator().manual_seed(0))
    differences = {}
    for lr in (0.002, 0.001):
        ends = {}
        for parts in (1, 4):
            model = LinearStack(16, 2, torch.Generator().manual_seed(1))  # @stepover
            start = taken_weights(model)
            optimizer = SGD(model.parameters(), lr=lr / parts)
            for part in batch.chunk(parts):
                optimizer.zero_grad()
                model(part).square().mean().backward()  # @stepover
                optimizer.step()
            ends[parts] = taken_weights(model) - start
        difference = (ends[1] - ends[4]).norm() / ends[1].norm()
        differences[lr] = difference.item()  # @inspect differences
    # Next to nothing: the gradients add up either way, at places that hardly differ. At half the
    # rate they differ by half as much. So at such rates accumulation saves three optimizer steps in
    # four, and learns no more.
    assert differences[0.002] < 0.05
    assert round(differences[0.002] / differences[0.001], 1) == 2


@shape_checked
def taken_weights(model: torch.nn.Module) -> Float[Tensor, " N"]:  # @stepover
    """Copy all parameters of a model as one long row."""
    return torch.nn.utils.parameters_to_vector(model.parameters()).detach().clone()
