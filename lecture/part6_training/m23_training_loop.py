"""The training loop: what is done at each step, how to watch it, and a real run."""

import itertools
import json
import math
import tempfile
from dataclasses import asdict
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor, nn

from lecture import stories
from lecture.facts import H100_SXM
from lecture.lib.batches import regression_batch, squared_error
from lecture.lib.layers import LinearStack
from lecture.lib.optim import SGD, AdamW
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.transformer import TransformerConfig, TransformerLM, cross_entropy
from lecture.part6_training import m23_figures as figures
from lecture.tokenizer import Tokenizer
from lecture.train.clipping import clip_gradients, global_norm
from lecture.train.config import CONFIGS
from lecture.train.loop import Run, train
from lecture.train.metrics import append_row, forget_after, read_rows
from lecture.train.schedule import learning_rate
from lecture.train.story_run import could_begin, run_on_stories
from trace.costs import measure


def six_moves_make_a_step():  # M23.1 @core
    """Six moves make a step.

    What happens over and over again when a model is trained? Draw a batch; run the model, the
    forward pass; compute the loss; compute the gradients, the backward pass; let the optimizer
    change the parameters; clear the gradients.
    """
    # @note Write the six moves on the board in the wrong order and have them sorted. Then ask what
    # happens if the last one is forgotten. (The next gradients are added to the old.)
    D, L, B = 5, 2, 3
    generator = torch.Generator().manual_seed(0)
    true_w = torch.arange(float(D))
    model = LinearStack(D, L, generator)  # @stepover
    optimizer = SGD(model.parameters(), lr=0.02)
    x, y = regression_batch(true_w, B, generator)  # @inspect x y
    answers = model(x)  # @inspect answers
    loss = (answers - y).square().mean()  # @inspect loss
    loss.backward()
    gradients = [weight.grad.clone() for weight in model.parameters()]
    optimizer.step()
    optimizer.zero_grad()
    assert all(weight.grad is None for weight in model.parameters())
    # Did it help? On the same batch the loss should be smaller now, and we can say by how much:
    # moving each weight by $-\eta g$ changes the loss by $-\eta g^2$, so all together lower it by
    # the learning rate times the squared norm of the gradient. For so small a step that is right
    # within a twentieth.
    expected = 0.02 * sum(gradient.square().sum() for gradient in gradients)
    fall = loss - (model(x) - y).square().mean()  # @inspect fall expected
    assert math.isclose(fall.item(), expected.item(), rel_tol=0.05)


def regression_losses(lr: float, layers: int, steps: int) -> list[float]:  # @stepover
    """Fit a stack of linear layers to made-up data; return the loss of each step."""
    generator = torch.Generator().manual_seed(0)
    true_w = torch.arange(16.0)
    model = LinearStack(16, layers, generator)
    optimizer = SGD(model.parameters(), lr=lr)
    losses = []
    for _ in range(steps):
        x, y = regression_batch(true_w, 32, generator)
        loss = (model(x) - y).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return losses


def careless_losses(lr: float, layers: int, steps: int) -> list[float]:  # @stepover
    """Do the same, with two settings that do not arrive."""
    return regression_losses(0.01, 0, steps)


def steps_apart(one: list[float], other: list[float]) -> int:  # @stepover
    """Count the steps at which two runs have different losses."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def a_setting_must_reach_its_use():  # M23.1 E99
    """A setting must reach its use.

    The loop is a function now, with learning rate and number of layers as parameters. Does it use
    them? A common mistake: inside stands a number from an earlier experiment, and nothing fails.
    Every run is the same run, and the learning rate "makes no difference". How would we notice?
    """
    settings = ((0.01, 0), (0.1, 0), (0.002, 1))
    careless = [careless_losses(lr, layers, 30) for lr, layers in settings]
    assert [steps_apart(run, regression_losses(0.01, 0, 30)) for run in careless] == [0, 0, 0]
    # The test is cheap. The first loss comes before the first step: the learning rate cannot
    # matter. From the second on it has to, at each of 29 steps.
    slow, fast, deeper = (regression_losses(lr, layers, 30) for lr, layers in settings)
    assert slow[0] == fast[0]
    assert steps_apart(slow, fast) == 29
    # Another number of layers is another model, and shows at once.
    assert steps_apart(slow, deeper) == 30
    # The loss falls in all three, by very different factors.
    falls = [run[0] / run[-1] for run in (slow, fast, deeper)]  # @inspect falls
    assert min(falls) > 1 and falls[1] > 1e4 * falls[0]
    # Random numbers hide such mistakes, because each run looks a little different anyway. So seed
    # everything: here equal settings then give equal bits, and a difference means something.
    assert steps_apart(regression_losses(0.1, 0, 30), fast) == 0


@shape_checked
def toy_losses(
    lr: float,
    steps: int,
    runs: int,
    dtype: torch.dtype = torch.float32,
    B: int = 4,
    D: int = 16,
) -> Float[Tensor, "{steps} {runs}"]:  # @stepover
    """Train many models of D weights at once, each on batches of its own."""
    generator = torch.Generator().manual_seed(0)
    true_w = torch.arange(float(D), dtype=dtype)
    w = torch.randn(runs, D, generator=generator, dtype=dtype) / math.sqrt(D)
    losses = []
    for _ in range(steps):
        x = torch.randn(runs, B, D, generator=generator, dtype=dtype)
        error = torch.einsum("rbd,rd->rb", x, w - true_w)
        losses.append(error.square().mean(dim=1))
        w -= lr * 2 / B * torch.einsum("rb,rbd->rd", error, x)
    return torch.stack(losses)


def a_toy_run_can_be_predicted():  # M23.2
    r"""A toy run can be predicted.

    Is a loss of 877 in the tenth step good? In a case that is simple enough we can know. A model of
    D = 16 weights $w$ learns $y=x\cdot w^*$ from batches of B = 4 rows, new at each step. Inputs
    are standard normal, so the loss is on average the squared distance $\|w-w^*\|^2$. With
    $d=w-w^*$ and the batch as a matrix X, a step is $d\leftarrow(1-\frac{2\eta}BX^TX)d$. Now take
    averages: that of $X^TX$ is B times the identity, that of $(X^TX)^2$ is $B(B+D+1)$ times the
    identity (fourth moments of normal numbers). So a step multiplies the loss, on average, by
    $1-4\eta+\frac4B(B+D+1)\eta^2$.
    """
    runs = {lr: toy_losses(lr, 10, runs=4000) for lr in (0.01, 0.1)}
    losses = {lr: found.mean(dim=1).tolist() for lr, found in runs.items()}
    assert all(found.shape == (10, 4000) for found in runs.values())
    # Random weights with variance 1/16 have squares that add up to 1, those of $w^*$, which are 0
    # to 15, add up to 1240. With the sizes put in, the factor is $1-4\eta+21\eta^2$.
    expected = {
        lr: [1241 * (1 - 4 * lr + 21 * lr**2) ** step for step in range(10)] for lr in losses
    }
    assert [round(expected[lr][-1]) for lr in losses] == [877, 186]
    for lr in losses:
        pairs = zip(losses[lr], expected[lr], strict=True)
        assert all(math.isclose(loss, mean, rel_tol=0.04) for loss, mean in pairs)
    curves = figures.toy_curves(losses, expected)  # @inspect curves
    # So 877 is right for the smaller rate. With the larger one, fewer than one run in a hundred has
    # so large a loss.
    assert (runs[0.1][9] > 877).float().mean() < 0.01
    # The best rate is where the parabola is lowest, $\eta=2/21$. At 4/21 the factor is 1:
    # the loss stays, and beyond it grows.
    assert math.isclose(toy_losses(4 / 21, 10, runs=4000)[-1].mean(), 1241, rel_tol=0.15)
    assert toy_losses(0.3, 10, runs=4000)[-1].mean() > 20 * 1241
    # The same formula for other sizes, where the third term is $6.5\eta^2$:
    first, second = toy_losses(0.1, 2, runs=4000, B=8, D=4).mean(dim=1)
    assert math.isclose(second / first, 1 - 0.4 + 0.065, rel_tol=0.05)


def a_loss_stops_where_the_digits_end():  # M23.2
    """A loss stops where the digits end.

    The data have no noise, so how small can the loss get? On average every step removes the same
    share. Guess what ends it.
    """
    # We look at the median of 300 runs after 200 steps. At a rate of 0.01 it is somewhat below the
    # predicted mean. (A few runs with large losses lift a mean, but not a median.)
    slow = toy_losses(0.01, 200, runs=300)
    assert slow.shape == (200, 300)
    assert 0.5 < slow[-1].median().item() / (1241 * (1 - 0.04 + 0.0021) ** 199) < 1
    # At a rate of 0.1 the prediction is 8·10⁻¹⁶, and fp32 does not get there: from 8 on its numbers
    # are 10⁻⁶ apart. An error of a tenth of that in each of 16 weights is a loss of about 10⁻¹³.
    single, double = (
        toy_losses(0.1, 200, runs=300, dtype=dtype) for dtype in (torch.float32, torch.float64)
    )
    assert single.shape == double.shape == slow.shape
    assert (torch.tensor(8.0).nextafter(torch.tensor(9.0)) - 8).item() == 2**-20
    assert 1e-14 < single[-1].median().item() < 1e-12
    # In fp64 there is no such floor yet.
    assert double[-1].median().item() < 7.6e-16
    # So the end of a curve can be the end of a format and not of learning. With noise in the data,
    # as in all text, the floor is [far above](#a_schedule_can_leave_its_end_open).


def a_rate_rises_and_falls():  # M23.3
    r"""A learning rate rises and falls.

    Should all steps have the same learning rate? At the start the rate *warms up* in a straight
    line over $s_w$ steps. (It became known with [large batches of
    SGD](https://arxiv.org/abs/1706.02677). AdamW has a reason of its own: its averages have seen
    few gradients.) Later, smaller steps average out the noise of the batches: from the highest rate
    it falls to the lowest along half a [cosine](https://arxiv.org/abs/1608.03983),
    $\eta=\eta_{min}+\frac12(\eta_{max}-\eta_{min})(1+\cos\pi u)$, where u is the share of the
    steps after the warm-up that is done.
    """
    settings = {"max_lr": 1.0, "min_lr": 0.1, "warm_up_steps": 7, "end_step": 21}
    rates = [learning_rate(step, **settings) for step in range(26)]  # @stepover
    schedule = figures.schedule(rates)  # @inspect schedule
    # Step 0 has rate 0: it costs as much as any other and moves no weight. So our loop begins with
    # the rate of step 1.
    assert rates[0] == 0
    assert math.isclose(rates[3], 3 / 7)
    assert max(rates) == rates[7] == 1
    assert rates[21:] == 5 * [0.1]
    # Half-way down, the cosine is at the mean of both ends, and it is above before as much as below
    # after. So all steps together go as far as they would at the mean rate.
    assert math.isclose(sum(rates[7:21]) + sum(rates[8:22]), 2 * 14 * (1 + 0.1) / 2)
    # It falls slowly at both ends and fastest between, $\pi/2$ times as fast as a straight line.
    falls = [rates[step] - rates[step + 1] for step in range(7, 21)]
    assert falls.index(max(falls)) in (6, 7)
    assert math.isclose(max(falls), math.pi / 2 * (1 - 0.1) / 14, rel_tol=0.01)
    # A usual choice: 2000 steps of warm-up, and a tenth of the highest rate at the end.


@shape_checked
def wandering(warm_up_steps: int, steps: int) -> Float[Tensor, "{steps}+1 D"]:  # @stepover
    """Let AdamW follow gradients that are noise; return where 1000 weights are after each step."""
    generator = torch.Generator().manual_seed(0)
    weight = nn.Parameter(torch.zeros(1000))
    optimizer = AdamW([weight], lr=0.01, weight_decay=0.0)
    places = [weight.detach().clone()]
    for step in range(1, steps + 1):
        optimizer.param_groups[0]["lr"] = 0.01 * min(step / warm_up_steps, 1)
        weight.grad = torch.randn(len(weight), generator=generator)
        optimizer.step()
        places.append(weight.detach().clone())
    return torch.stack(places)


def warm_up_tames_the_first_steps():  # M23.3
    r"""Warm-up tames the first steps.

    Why be careful just when there is most to learn? AdamW divides its average of gradients by the
    root of its average of squares. At the first step it knows one gradient, so the quotient is 1 or
    −1: every weight moves by the whole learning rate, however small its gradient (if far above ε).
    Take gradients that are nothing but noise, so that every move leads astray. How far do the
    weights go?
    """
    at_once, warmed = (wandering(warm_up_steps, steps=60) for warm_up_steps in (1, 10))
    first_gradient = torch.randn(1000, generator=torch.Generator().manual_seed(0))
    assert first_gradient.abs().max() > 1000 * first_gradient.abs().min()
    assert torch.allclose(at_once[1].abs(), torch.tensor(0.01), rtol=1e-4)
    assert torch.equal(at_once[1] > 0, first_gradient < 0)
    # Later the average of gradients has seen many, and the noise cancels: the average keeps a
    # standard deviation of $\sqrt{(1-\beta_1)/(1+\beta_1)}$, and its mean absolute value is
    # $\sqrt{2/\pi}$ times that.
    moves = at_once.diff(dim=0).abs().mean(dim=1)
    left = math.sqrt(2 / math.pi * (1 - 0.9) / (1 + 0.9))  # @inspect left
    assert math.isclose(moves[-1], left * 0.01, rel_tol=0.1)
    distances = {
        "full rate at once": at_once.square().mean(dim=1).sqrt(),
        "warm-up over 10 steps": warmed.square().mean(dim=1).sqrt(),
    }
    astray = figures.distances(distances)  # @inspect astray
    # With ten steps of warm-up those first steps lead less than half as far. Only after twenty
    # steps is that run as far astray as the other was after ten. (A part of that is the lower rate
    # alone, which shortens the steps of any optimizer.)
    at_once_distance, warmed_distance = distances.values()
    assert len(warmed_distance) == 60 + 1
    assert warmed_distance[10] < 0.5 * at_once_distance[10]
    assert math.isclose(warmed_distance[20], at_once_distance[10], rel_tol=0.05)
    # From the tenth step on both make the same moves.
    assert torch.allclose(warmed.diff(dim=0)[9:], at_once.diff(dim=0)[9:], atol=1e-7)


def with_gradient(shape: tuple[int, ...], gradient: float) -> nn.Parameter:  # @stepover
    """Make a parameter whose gradient has the same number everywhere."""
    weight = nn.Parameter(torch.zeros(shape))
    weight.grad = torch.full(shape, gradient)
    return weight


def one_norm_for_all_gradients():  # M23.4
    r"""One norm for all gradients.

    What if one batch has a gradient a hundred times as long as usual? One step can undo many.
    [*Gradient clipping*](https://arxiv.org/abs/1211.5063) shortens what is too long. It looks at
    the norm of all gradients together, as if they were one vector: the root of the sum of all
    squares. If that exceeds a limit c, every gradient is multiplied by $c/\|g\|$.
    """
    # Two parameters, with three threes and four fours: $\sqrt{3\cdot9+4\cdot16}$.
    ours, theirs, each = ([with_gradient((3,), 3.0), with_gradient((2, 2), 4.0)] for _ in range(3))
    norm = clip_gradients(ours, max_norm=1.0)  # @inspect norm
    assert round(norm, 4) == 9.5394
    assert math.isclose(norm, math.hypot(3, 3, 3, 4, 4, 4, 4), rel_tol=1e-6)
    assert math.isclose(global_norm([weight.grad for weight in ours]), 1, rel_tol=1e-6)
    # PyTorch does the same, with $10^{-6}$ added to the norm.
    theirs_norm = nn.utils.clip_grad_norm_(theirs, 1.0)
    assert math.isclose(theirs_norm, norm, rel_tol=1e-6)
    assert all(
        torch.allclose(one.grad, other.grad, rtol=1e-5)
        for one, other in zip(ours, theirs, strict=True)
    )
    # All gradients shrink by one factor: the step is shorter and keeps its direction. A common
    # mistake is to clip each tensor by itself. Both then have norm 1, together $\sqrt2$; and the
    # threes and fours, which were as 3 to 4, are as 2 to $\sqrt3$: another direction.
    assert math.isclose(ours[0].grad[0] / ours[1].grad[0, 0], 3 / 4, rel_tol=1e-6)
    for weight in each:
        clip_gradients([weight], max_norm=1.0)  # @stepover
    assert round(global_norm([weight.grad for weight in each]), 3) == 1.414
    assert math.isclose(each[0].grad[0] / each[1].grad[0, 0], 2 / math.sqrt(3), rel_tol=1e-6)
    # A gradient that is short enough stays as it is.
    assert clip_gradients(ours, max_norm=2.0) == global_norm([weight.grad for weight in ours])


def clipping_is_for_the_exception():  # M23.4
    """Clipping is for the exception.

    Where should the limit be? [AdamW does not see the
    scale](#adamw_does_not_see_the_scale_of_the_loss) of its gradients, so if they are about equally
    long, clipping all changes little. What AdamW does notice is one unlike the others: a *spike*.
    """
    generator = torch.Generator().manual_seed(0)
    usual = torch.randn(40, 6, generator=generator) + 2
    spiked = usual.clone()
    spiked[20] *= -100  # one batch that is far off
    limit = 12.0
    assert (spiked.norm(dim=1) > limit).nonzero().tolist() == [[20]]
    places = {
        "usual": adamw_path(usual, math.inf),
        "spike": adamw_path(spiked, math.inf),
        "spike, clipped": adamw_path(spiked, limit),
    }
    paths = figures.paths(places)  # @inspect paths
    # The spike sends AdamW the wrong way for some twenty steps, while it outweighs the others in
    # the average of gradients. In that of squares, which divides every further step, it outweighs
    # them while $(1-\beta_2)\cdot100^2\cdot\beta_2^t>1$: for two thousand steps (with
    # $\beta_2=0.95$, for a hundred).
    assert places["spike"][20:] == sorted(places["spike"][20:], reverse=True)
    # Early in a run, as here, AdamW hardly moves afterwards. Late in one, it goes on at a third of
    # its pace. (With 0.95, it is back at nine tenths after 160 steps.)
    assert places["spike"][-1] < 0.5 * places["usual"][-1]
    late = usual.repeat(75, 1)
    late[2820] *= -100
    paces = {}
    for beta2 in (0.999, 0.95):
        path = adamw_path(late, math.inf, beta2)
        paces[beta2] = (path[-1] - path[-41]) / places["usual"][-1]  # @inspect paces
    assert 0.3 < paces[0.999] < 0.4 and 0.85 < paces[0.95] < 0.95
    # Clipped, the spike costs a few steps.
    assert places["spike, clipped"][-1] > 0.75 * places["usual"][-1]
    # If the limit is below every norm, every gradient is rescaled to the same length, and AdamW's
    # path hardly changes.
    assert math.isclose(adamw_path(usual, 0.01)[-1], places["usual"][-1], rel_tol=0.02)
    # So set the limit above the usual norm, which the log tells; 1.0 is a common choice.


@shape_checked
def adamw_path(
    gradients: Float[Tensor, "t D"], limit: float, beta2: float = 0.999
) -> list[float]:  # @stepover
    """Give AdamW these gradients, clipped; return how far against them it has come each time."""
    weight = nn.Parameter(torch.zeros(gradients.shape[1]))
    optimizer = AdamW([weight], lr=0.01, betas=(0.9, beta2), weight_decay=0.0)
    path = []
    for gradient in gradients:
        weight.grad = gradient.clone()
        clip_gradients([weight], limit)
        optimizer.step()
        path.append(-weight.mean().item())
    return path


def gradient_norms(forget: bool, steps: int) -> tuple[list[float], list[float]]:  # @stepover
    """Fit 16 weights, and forget to clear gradients or not; return losses and gradient norms."""
    generator = torch.Generator().manual_seed(0)
    true_w = torch.arange(16.0)
    weight = nn.Parameter(torch.randn(16, generator=generator) / math.sqrt(16))
    optimizer = SGD([weight], lr=0.01)
    losses, norms = [], []
    for _ in range(steps):
        x, y = regression_batch(true_w, 32, generator)
        loss = squared_error(x, y, weight)
        loss.backward()
        losses.append(loss.item())
        norms.append(global_norm([weight.grad]))
        optimizer.step()
        if not forget:
            optimizer.zero_grad()
    return losses, norms


def the_gradient_norm_is_a_symptom():  # M23.5
    """The gradient norm is a symptom.

    A run does not learn as it should. Where do we look first? At the gradient norm, which costs one
    number in the log. Here two runs of 11 steps differ in one line of code. Which one?
    """
    _, healthy = gradient_norms(forget=False, steps=11)
    _, sick = gradient_norms(forget=True, steps=11)
    norms = figures.norms(healthy, sick)  # @inspect norms
    # In the healthy run the norm falls slowly, as the loss does, with the noise of the batches. In
    # the other it grows from the first step on, and so evenly that something must be adding up: the
    # second gradient contains the first, the third contains both.
    # [`zero_grad`](#clearing_gradients_frees_their_memory) is missing.
    assert healthy[0] == sick[0] > healthy[10]
    assert all(later > sooner for sooner, later in itertools.pairwise(sick))
    assert sick[10] > 5 * sick[0]
    # The loss alone would have hidden it for a while. In the sick run it even falls faster, since
    # the sum of old gradients is momentum without friction: it shoots past the minimum, comes back,
    # and goes on like that.
    losses, _ = gradient_norms(forget=False, steps=41)
    swinging, _ = gradient_norms(forget=True, steps=41)
    losses_of_both = figures.losses_of_both(losses, swinging)  # @inspect losses_of_both
    assert swinging[10] < 0.1 * losses[10]
    assert swinging[25] > 20 * swinging[10]
    assert losses[40] < losses[25] < losses[10]
    assert swinging[40] > 2 * losses[40]


@shape_checked
def fit_one_batch(
    tokens: Int64[Tensor, "B T_and_one"], steps: int, lr: float
) -> tuple[TransformerLM, list[float]]:  # @stepover
    """Train a small model on one batch, again and again."""
    config = TransformerConfig(
        vocabulary=64, context=16, layers=2, width=32, heads=2, feed_forward=96
    )
    model = TransformerLM(config, generator=torch.Generator().manual_seed(0))
    optimizer = AdamW(model.parameters(), lr=lr, weight_decay=0.0)
    losses = []
    with without_checks():
        for _ in range(steps):
            loss = cross_entropy(model(tokens[:, :-1]), tokens[:, 1:])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            losses.append(loss.item())
    return model, losses


def one_batch_can_be_learnt_by_heart():  # M23.6
    """One batch can be learnt by heart.

    Before we spend hours on a run, how do we know that the loop works? We ask for something that
    has to succeed: *overfitting* one batch. A few examples, over and over, until the model knows
    them by heart. That takes seconds; if it fails, look for the mistake before the long run.
    """
    B, T = 4, 16
    generator = torch.Generator().manual_seed(0)
    tokens = torch.randint(64, (B, T + 1), generator=generator)
    model, losses = fit_one_batch(tokens, steps=30, lr=0.01)
    # It starts from ln V, the loss of a guess among V = 64 tokens. Random tokens have no pattern,
    # so whatever falls below that is memory.
    assert math.isclose(losses[0], math.log(64), rel_tol=0.05)
    assert losses[-1] < 0.03
    by_heart = figures.by_heart(losses)  # @inspect by_heart
    guesses = model(tokens[:, :-1]).argmax(dim=-1)  # @stepover
    assert torch.equal(guesses, tokens[:, 1:])
    # Read backwards, the same tokens are new to it, and it does worse than a guess: it is sure, and
    # wrong. The gap between the loss on what a model was trained on and on other text is how we see
    # overfitting; hence the *validation loss*, on text set apart.
    others = tokens.flip(dims=[1])
    backwards = cross_entropy(model(others[:, :-1]), others[:, 1:])  # @stepover
    assert backwards > 1.5 * math.log(64)
    # One thing cannot be learnt. Two rows that begin alike and go on differently leave the model
    # with even odds at that place, at a cost of ln 2 in either row: a floor of the loss.
    twins = tokens[:2].clone()
    twins[1, :9] = twins[0, :9]
    assert twins[1, 9] != twins[0, 9]
    _, losses = fit_one_batch(twins, steps=60, lr=0.01)
    floor = 2 * math.log(2) / (2 * T)  # @inspect floor
    assert math.isclose(losses[-1], floor, rel_tol=0.1)


def a_report_can_be_checked():  # M23.7 E107
    r"""A report can be checked by arithmetic.

    What does a line of somebody's log tell? Suppose a student reports: "5000 steps on children's
    stories in 2.8 hours on a laptop". The log ends earlier, after 2 hours: step 3000, loss 1.66.
    """
    steps, hours, loss = 3000, 2, 1.66
    # The 2.8 hours are 5000 times the 2 seconds that a stopwatch gives for one step. The log says
    # 2.4 seconds, and so 3.3 hours: validation, checkpoints or a laptop that gets warm may be in
    # the run and not in the step. Divide the time of a run by its steps.
    step_seconds = hours * 3600 / steps  # @inspect step_seconds
    # The loss is in nats per token, a [perplexity](#perplexity_counts_the_choices) of 5.3.
    # The line leaves three questions open. Is it the loss of one batch, which is noise? On training
    # or on validation text? And per token of which tokenizer? Here are two, of 300 and 900 tokens,
    # on stories that they were not trained on.
    nats_per_byte = {}
    unseen = "".join(itertools.islice(stories.stories(seed=1), 20))
    for size in (300, 900):
        tokenizer = Tokenizer.train(itertools.islice(stories.stories(), 50), size)  # @stepover
        bytes_per_token = len(unseen.encode()) / len(tokenizer.encode(unseen))  # @stepover
        nats_per_byte[size] = loss / bytes_per_token  # @inspect bytes_per_token nats_per_byte
    # The same loss per token is more than twice the loss per byte with the shorter tokens. So
    # report nats per byte, or bits per byte ($1/\ln 2$ times as many): on the same text, these can
    # be compared.
    assert nats_per_byte[300] > 2 * nats_per_byte[900]


def a_small_model_learns_from_stories():  # M23.7 M23.1
    """A small model learns from stories.

    Now everything together: our tokenizer and a mapped file of tokens, our Transformer with two
    layers, our AdamW, warm-up and cosine, gradient clipping. What can 300 steps do? Guess the first
    loss and the last.
    """
    config = CONFIGS["lecture"]  # @inspect config
    story_run = run_on_stories(config)  # @stepover
    parameters = sum(weight.numel() for weight in story_run.run.model.parameters())
    log = story_run.log
    assert (parameters, len(log), log[-1].step) == (658_048, 300, 300)
    # A step reads 8 sequences of 128 tokens at random places of the file; all steps together read
    # half as many tokens as there are, as many as half an *epoch*, a pass through the data.
    assert config.step_tokens == 8 * 128  # @predict
    assert round(300 * config.step_tokens / story_run.training_tokens, 1) == 0.5
    # What does it cost? The meter finds 0.9 times the rule's 6 FLOPs per parameter and token: in so
    # small a model, the embedding that is only looked up saves more than attention's scores add.
    # All steps together would take an H100 a millisecond at its bf16 peak.
    with measure() as cost:
        next(train(Run(config), np.zeros(200)))  # @stepover
    assert round(cost.matmul_flops / (6 * parameters * 1024), 2) == 0.9
    run_flops = 300 * cost.matmul_flops  # @inspect run_flops
    assert 0.001 < run_flops / H100_SXM.dense_flops_per_second["bf16"] < 0.0012
    # The loss begins at ln 1024, that of a guess among the vocabulary, and falls below a quarter of
    # it.
    losses = [step.loss for step in log]
    assert math.isclose(losses[0], math.log(1024), rel_tol=0.02)
    assert max(losses[225:]) < math.log(1024) / 4
    # The learning rate is highest after 20 steps. The gradient norm is highest before that; there
    # gradients are clipped, and later not once.
    rates = figures.curve(log, "lr", "learning rate")  # @inspect rates
    norms = figures.curve(log, "gradient_norm", "gradient norm")  # @inspect norms
    assert max(step.lr for step in log) == log[19].lr == config.max_lr
    clipped = [step.step for step in log if step.gradient_norm > config.max_norm]
    assert 1 < len(clipped) < 12  # @inspect clipped
    assert clipped[-1] < 20
    # A batch is a small sample: from step to step the loss rises nearly as often as it falls. Do
    # not read one step.
    assert 22 < sum(b > a for a, b in itertools.pairwise(losses[225:])) < 52


def the_source_sets_the_floor():  # M23.7
    """The source sets the floor.

    Is that loss good? For natural text nobody knows the best possible one. Our stories are drawn by
    a program, which can say how likely each of them was. The mean of minus the logarithm is its
    *entropy*, and in the long run no model gets below it. If one seems to, ask whether it has seen
    the validation text, or the very token that it predicts.
    """
    story_run = run_on_stories(CONFIGS["lecture"])  # @stepover
    # Four predictors read 60 kB of unseen stories: the model; the source itself; a table that
    # counts in the training text how often each token followed which ("pairs"); and a uniform
    # guess. We add up nats over whole stories and divide by bytes, which are the same for all four.
    total_bytes = story_run.story_bytes.sum()
    assert 60_000 <= total_bytes < 61_000
    levels = {
        who: float(nats.sum() / total_bytes) for who, nats in story_run.nats.items()
    }  # @inspect levels
    bytes_per_token = total_bytes / story_run.validation_tokens
    assert round(bytes_per_token, 1) == 3.4
    # (The gray curve is the loss of each training batch, over the bytes of a token.)
    chart = figures.loss_and_levels(story_run.log, bytes_per_token, levels)  # @inspect chart
    # How far is the model above the source? Subtract story by story: a story with rare words is
    # expensive for both, and that cancels.
    excess = story_run.nats["model"] - story_run.nats["source"]
    standard_error = float(excess.std(ddof=1) * math.sqrt(len(excess)) / total_bytes)
    above = {who: level - levels["source"] for who, level in levels.items()}
    # By less than a tenth of a nat per byte, and by more than ten times the standard error of the
    # 101 stories: there is something left to learn.
    assert 10 * standard_error < above["model"] < 0.1  # @inspect above standard_error
    # The table of pairs, from the same two megabytes, is at least three times as far above, and the
    # uniform guess three times as far again. So compare a loss with a simpler model's, always, and
    # with the source's where it is known.
    assert 3 * above["model"] < above["pairs"] < above["uniform"] / 3


def the_model_tells_a_story():  # M23.7
    """The model tells a story.

    What do these numbers sound like? We let the model decode from the end-of-story token, one token
    after the other, each from the likeliest that make up 90 %.
    """
    story_run = run_on_stories(CONFIGS["lecture"])  # @stepover
    told = story_run.tell(count=40, seed=0)  # @stepover
    sample = told[0]  # @inspect sample
    # First sentences sound right: of forty, some could be the source's own to the letter.
    openings = sum(map(could_begin, told))  # @inspect openings
    assert 6 <= openings <= 26
    # A whole story is harder. It settles on a name, a thing and an animal, and has to keep to them.
    # Of the stories that came to an end, how many could the source have told?
    ended = [text.split(stories.END)[0] for text in told if stories.END in text]
    possible = sum(stories.probability(story) > 0 for story in ended)  # @inspect possible
    assert len(ended) > 8
    assert all(story.endswith(".") for story in ended)
    assert possible < openings / 4
    # Hardly any. Read the sample: does a "she" become a "he", does the thing stay the same, is each
    # word one? Such a mistake takes a few tokens of a story and ruins the whole. So a loss near the
    # floor says less about what a model can do than it seems.


def a_log_has_a_line_for_each_step():  # M23.8
    """A log has a line for each step.

    What should be left of a run besides the model? What we want to look at when something is odd:
    loss, learning rate, gradient norm, tokens per second. Tracking tools draw curves from such
    numbers; a file with a line of JSON for each step will do. What if the process dies while it
    writes?
    """
    config = CONFIGS["tiny"]
    tokens = torch.arange(config.vocabulary).numpy()
    log = [*itertools.islice(train(Run(config), tokens), 3)]  # @stepover
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "metrics.jsonl")
        for step in log:
            append_row(path, asdict(step))  # @stepover
        lines = path.read_text().splitlines()
        first_line = lines[0]  # @inspect first_line
        # Every line stands by itself. Numbers come back to the last bit, because Python writes as
        # many digits as that takes.
        assert (len(lines), json.loads(first_line)["step"]) == (3, 1)
        assert [json.loads(line) for line in lines] == [asdict(step) for step in log]
        # Cut off in the middle of a line, all other lines can still be read.
        with path.open("a") as file:
            file.write(first_line[:20])
        assert len(path.read_text().splitlines()) == 4
        assert read_rows(path) == [asdict(step) for step in log]
        # A run that resumes from step 2 makes step 3 again, so that line has to go first.
        forget_after(path, 2)  # @stepover
        assert [row["step"] for row in read_rows(path)] == [1, 2]
    # What we can do now: write the six moves, test the loop on one batch, predict what can be
    # predicted, and read the rest off a log.


def exercise_the_first_loss():  # M23.7 @exercise
    """Exercise: the first loss.

    A new model with a vocabulary of 50 257 tokens reports a loss of 16 at its first step. What do
    you expect there, and what is wrong?
    """
    V = 50_257
    targets = torch.arange(200)
    flat = cross_entropy(torch.zeros(200, V), targets).item()  # @inspect flat
    assert math.isclose(flat, math.log(V), rel_tol=1e-4)
    # ln V is 10.8. A loss far above it means that the first logits are not nearly equal: the model
    # is sure of something before it has seen anything. Here they have a standard deviation of 3.4.
    logits = 3.4 * torch.randn(200, V, generator=torch.Generator().manual_seed(0))
    sure = cross_entropy(logits, targets).item()  # @inspect sure
    assert 15 < sure < 18


def exercise_the_first_half_of_a_cosine():  # M23.3 @exercise
    r"""Exercise: the first half of a cosine.

    A schedule without warm-up falls from its highest rate to 0 along a cosine. Which share of the
    distance, the sum of all rates, is covered in the first half of the steps? Half of it?
    """
    ends = {"max_lr": 1.0, "min_lr": 0.0, "warm_up_steps": 0, "end_step": 1000}
    rates = [learning_rate(step, **ends) for step in range(1000)]  # @stepover
    share = sum(rates[:500]) / sum(rates)  # @inspect share
    # $\frac12+\frac1\pi$, 82 %. If a run is stopped half-way, little distance is left to go; what
    # it misses is the low rate.
    assert math.isclose(share, 1 / 2 + 1 / math.pi, rel_tol=0.01)
