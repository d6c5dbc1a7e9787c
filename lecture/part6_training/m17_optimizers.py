"""Optimizers: how gradients become updates, what is remembered for that, and what it costs."""

import functools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture.facts import H100_SXM
from lecture.lib.layers import LinearStack
from lecture.lib.memory import same_storage
from lecture.lib.optim import SGD, AdaGrad, AdamW, RMSProp
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m17_figures as figures
from trace.costs import measure

MakeOptimizer = Callable[[list[nn.Parameter]], torch.optim.Optimizer]


@shape_checked
def trained(make: MakeOptimizer) -> Float[Tensor, "4 3"]:  # @stepover
    """Learn from noisy targets that all weights should be 1, in 100 steps on the same batches at
    each call; return the weights in the end."""
    generator = torch.Generator().manual_seed(0)
    weight = nn.Parameter(torch.randn(4, 3, generator=generator))
    optimizer = make([weight])
    for _ in range(100):
        x = torch.randn(8, 4, generator=generator)
        target = x.sum(dim=1, keepdim=True) + torch.randn(8, 3, generator=generator)
        optimizer.zero_grad()
        (x @ weight - target).square().mean().backward()
        optimizer.step()
    return weight.detach()


@shape_checked
def moves(make: MakeOptimizer, gradients: Float[Tensor, " t"]) -> Float[Tensor, " t"]:  # @stepover
    """Give one weight these gradients, one after the other, and return how far each step goes."""
    weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = make([weight])
    places = [0.0]
    for gradient in gradients:
        weight.grad = gradient.double()
        optimizer.step()
        places.append(weight.item())
    return -torch.tensor(places, dtype=torch.float64).diff()


def a_step_goes_against_the_gradient():  # M17.3
    """A step goes against the gradient.

    What does an optimizer do with the gradients? The simplest one, *stochastic gradient descent* or
    SGD, subtracts from each weight its gradient times the *learning rate*, a small number that
    somebody has to choose. It is stochastic since the gradient is that of a batch, which was drawn
    at random, and not that of all data.
    """
    weight = nn.Parameter(torch.tensor([3.0, -2.0]))
    (weight**2).sum().backward()
    # The gradient of $w^2$ is $2w$: here 6 and −4.
    by_hand = weight.detach() - 0.25 * weight.grad
    assert by_hand.tolist() == [3 - 0.25 * 6, -2 + 0.25 * 4]
    optimizer = SGD([weight], lr=0.25)
    with measure() as cost:
        optimizer.step()
    assert weight.tolist() == by_hand.tolist()  # @inspect weight
    # Two FLOPs for each parameter, in place, and nothing is remembered.
    assert cost.other_flops == 2 * weight.numel()
    assert cost.allocated_bytes == 0
    # PyTorch's SGD does the same, to the last bit, over a hundred steps.
    ours = trained(lambda weights: SGD(weights, lr=0.1))
    theirs = trained(lambda weights: torch.optim.SGD(weights, lr=0.1))
    assert torch.equal(ours, theirs)
    # All weights of that example should become 1, and nearly are.
    assert (ours - 1).abs().max() < 0.2


def an_optimizer_keeps_state_and_settings():  # M17.2
    """An optimizer keeps state and settings.

    What is an optimizer in PyTorch? An object that knows the parameters, has settings for them, and
    remembers things about each. Ours in `lecture/lib/optim.py` are of the same class, so all that
    works with PyTorch's works with them.
    """
    embedding, matrix = nn.Parameter(torch.ones(5, 2)), nn.Parameter(torch.ones(2, 3))
    # Parameters come in groups. A group may have settings of its own; for the rest, those given for
    # all hold.
    optimizer = AdamW([{"params": [embedding], "weight_decay": 0.0}, {"params": [matrix]}], lr=0.01)
    assert isinstance(optimizer, torch.optim.Optimizer)
    decays = [group["weight_decay"] for group in optimizer.param_groups]
    assert decays == [0.0, AdamW([matrix]).defaults["weight_decay"]] == [0, 0.01]
    # A learning rate that changes during training is written into the groups.
    assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.01]
    # For each parameter there is a dictionary, which the first step fills. AdamW keeps two tensors
    # of the shape of the parameter and counts its steps.
    assert len(optimizer.state) == 0
    for weight in (embedding, matrix):
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    state = optimizer.state[matrix]  # @inspect state
    assert list(state) == ["step", "m", "v"]
    assert state["m"].shape == state["v"].shape == (2, 3)
    assert optimizer.state[embedding]["m"].shape == (5, 2)
    # It survives from step to step: the next one continues in the same memory.
    m = state["m"]
    optimizer.step()
    assert optimizer.state[matrix]["step"] == 2
    assert optimizer.state[matrix]["m"] is m
    # So the past has a say. With a gradient of zero, SGD stays where it is. AdamW goes on, by three
    # quarters of its rate.
    before = matrix.detach().clone()
    optimizer.param_groups[1]["weight_decay"] = 0.0
    matrix.grad = torch.zeros(2, 3)
    SGD([matrix]).step()
    assert torch.equal(matrix, before)
    optimizer.step()
    assert torch.allclose(before - matrix, torch.tensor(0.00773), atol=1e-5)


def a_saved_state_goes_by_number():  # M17.2
    """A saved state goes by number.

    A model's [state dict](#a_state_dict_names_every_tensor) has a name for each tensor. And an
    optimizer's? It was given parameters without names.
    """
    first, second = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    optimizer = AdamW([first, second])
    first.grad, second.grad = torch.tensor([1.0, 2]), torch.tensor([10.0, 20])
    optimizer.step()
    saved = optimizer.state_dict()  # @inspect saved
    # The parameters are numbered in the order in which they were given.
    assert list(saved["state"]) == saved["param_groups"][0]["params"] == [0, 1]
    assert torch.equal(saved["state"][1]["m"], optimizer.state[second]["m"])
    # With the same order everything fits again.
    resumed = AdamW([first, second])
    resumed.load_state_dict(saved)
    assert torch.allclose(resumed.state[second]["m"], torch.tensor([1.0, 2]))
    # In another order each gets the averages of the other, and as the shapes agree, nothing
    # complains. Whoever changes the order of layers between two runs does this.
    swapped = AdamW([second, first])
    swapped.load_state_dict(saved)
    assert torch.allclose(swapped.state[second]["m"], torch.tensor([0.1, 0.2]))
    # PyTorch's optimizers may share memory with a dictionary they load. Ours copy.
    assert not same_storage(resumed.state[first]["m"], optimizer.state[first]["m"])


def clearing_gradients_frees_their_memory():  # M17.8
    """Clearing gradients frees their memory.

    Why is there a `zero_grad` in every training loop? `backward` [adds](#gradients_add_up) to the
    gradients that are there. A common mistake is to forget it; then each step uses the sum of all
    gradients so far, and [their length shows it](#the_gradient_norm_is_a_symptom).
    """
    weight = nn.Parameter(torch.ones(1000))
    optimizer = SGD([weight])
    for factor in (2.0, 3.0):
        (factor * weight).sum().backward()
    assert (weight.grad == 2 + 3).all()
    optimizer.zero_grad()
    assert weight.grad is None
    # It does not write zeros, it lets go of the tensor. So the memory is free until the next
    # backward pass: on the way forward, gradients take nothing.
    with measure() as cost:
        weight.sum().backward()
        while_there = cost.live_bytes["gradients"]
        optimizer.zero_grad()
        afterwards = cost.live_bytes["gradients"]
    assert (while_there, afterwards) == (4 * 1000, 0)
    # Zeros can be had as well. They keep the memory, and are read and added to.
    weight.sum().backward()
    assert weight.grad.sum() == 1000
    with measure() as zeros:
        optimizer.zero_grad(set_to_none=False)
    assert zeros.freed_bytes == 0
    assert (zeros.written_bytes, weight.grad.sum()) == (4 * 1000, 0)
    # And they mean something else: `None` is no gradient, and the parameter is passed over. Zero
    # is one, and what remembers gradients goes on moving the weight.
    for gradient, length in ((None, 0.0), (torch.zeros(1000), 0.5)):
        optimizer = SGD([weight], lr=1.0, momentum=0.5)
        weight.grad = torch.ones(1000)
        optimizer.step()
        before = weight.detach().clone()
        weight.grad = gradient
        optimizer.step()
        assert (before - weight == length).all()


def momentum_sums_up_the_past():  # M17.5 M17.1
    """Momentum sums up the past.

    Each batch is chance. Can gradients help each other? *Momentum* keeps a sum in which the past
    fades, and steps against that. It is one more line, and one more number for each parameter.
    """
    gradients = torch.tensor([1.0, 1, 1, -1, 1, -1])
    velocity = 0.0
    places = []
    for gradient in gradients.tolist():
        velocity = 0.5 * velocity + gradient
        places.append(velocity)
    found = moves(lambda weights: SGD(weights, lr=1.0, momentum=0.5), gradients)  # @inspect found
    assert found.tolist() == places == [1, 1.5, 1.75, -0.125, 0.9375, -0.53125]
    # With nothing of the past it is SGD.
    assert torch.equal(moves(lambda w: SGD(w, lr=1.0, momentum=0.0), gradients), gradients)
    # A gradient that stays the same adds up to 1/(1 − β) times itself: with β = 0.9 to ten times.
    # One that changes its sign each time is damped, to 1/(1 + β). After 50 steps a share of
    # $\beta^{50}$, 0.5 %, is still missing from both.
    make = functools.partial(SGD, lr=1.0, momentum=0.9)
    steady, changing = torch.ones(50), torch.tensor([1.0, -1.0]).repeat(25)
    assert math.isclose(moves(make, steady)[-1], (1 - 0.9**50) / (1 - 0.9), rel_tol=1e-9)
    assert math.isclose(moves(make, changing)[-1], -(1 - 0.9**50) / (1 + 0.9), rel_tol=1e-9)
    # So whoever turns momentum on has multiplied the learning rate. A running *average*, with
    # 1 − β in front of the new gradient, does not. (Begun at zero it would be the same path at a
    # tenth of the rate. PyTorch's, with `dampening`, begins with the whole first gradient.)
    average = moves(lambda w: SGD(w, lr=1.0, momentum=0.9, dampening=0.9), steady)
    assert math.isclose(average[-1], 1, rel_tol=1e-6)
    # PyTorch agrees about both.
    for settings in ({"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.9}):
        ours = trained(lambda weights, s=settings: SGD(weights, **s))
        theirs = trained(lambda weights, s=settings: torch.optim.SGD(weights, **s))
        assert torch.equal(ours, theirs)


def nesterov_looks_ahead():  # M17.5 E65
    """Nesterov looks ahead.

    Whose idea is it? A common mistake is to credit momentum to Nesterov. The sum that fades is
    [Polyak's](https://doi.org/10.1016/0041-5553(64)90137-5) heavy ball of 1964. Nesterov's method
    of 1983 differs in where it takes the gradient: not here, but where the ball is about to be.
    """
    beta, lr = 0.5, 0.25
    # One weight on $\frac{1}{2}w^2$, whose gradient is w, from w = 1.
    heavy = ahead = 1.0
    heavy_speed = ahead_speed = 0.0
    heavy_path, ahead_path = [], []
    for _ in range(4):
        heavy_speed = beta * heavy_speed + heavy
        heavy -= lr * heavy_speed
        heavy_path.append(heavy)
        ahead_speed = beta * ahead_speed + (ahead - lr * beta * ahead_speed)
        ahead -= lr * ahead_speed
        ahead_path.append(ahead)
    # They begin alike. From the second step on they differ: Nesterov brakes earlier. With the
    # fourth the heavy ball has rolled past the lowest place, 0, and Nesterov's has not.
    assert heavy_path == [0.75, 0.4375, 0.171875, -0.00390625]
    assert ahead_path == [0.75, 0.46875, 0.24609375, 0.10107421875]
    # Optimizers keep the place that lies ahead as their weight, so that they need one gradient
    # only, the one there. Turned back by that last stretch, it is the same path.
    for nesterov, path in ((False, heavy_path), (True, ahead_path)):
        weight = nn.Parameter(torch.tensor(1.0))
        optimizer = SGD([weight], lr=lr, momentum=beta, nesterov=nesterov)
        for place in path:
            weight.grad = weight.detach().clone()
            optimizer.step()
            speed = optimizer.state[weight]["velocity"].item()
            assert weight.item() + (lr * beta * speed if nesterov else 0) == place
    ours = trained(lambda weights: SGD(weights, lr=0.05, momentum=0.9, nesterov=True))
    settings = {"lr": 0.05, "momentum": 0.9, "nesterov": True}
    theirs = trained(lambda weights: torch.optim.SGD(weights, **settings))
    assert torch.equal(ours, theirs)


@shape_checked
def path_in_a_ravine(
    make: MakeOptimizer, turn_degrees: float = 0.0, steps: int = 40
) -> Float[Tensor, "place 2"]:  # @stepover
    """Go down in a ravine 25 times as steep across as along; return all places, measured along and
    across it. The ravine may be turned against the axes of the weights."""
    angle = math.radians(turn_degrees)
    rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    turned = torch.tensor(rows, dtype=torch.float64)
    weight = nn.Parameter(torch.tensor([-10.0, 2]).double() @ turned)
    optimizer = make([weight])
    places = [weight.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        along, across = turned @ weight
        (along**2 / 2 + 25 * across**2 / 2).backward()
        optimizer.step()
        places.append(weight.detach().clone())
    return torch.stack(places) @ turned.T


def the_steepest_direction_limits_the_rate():  # M17.1
    """The steepest direction limits the rate.

    Why not a larger learning rate? Where the loss is curved like $\\frac{1}{2}cw^2$ the gradient is
    cw, and each step multiplies w by 1 − lr·c. Beyond lr = 2/c that is below −1, and the weight
    jumps from side to side and outwards. In a ravine this limit is that of the steep sides, and the
    way along the bottom has to be gone with it.
    """
    ends = {}
    for lr in (0.079, 2 / 26, 0.081):
        path = path_in_a_ravine(lambda weights, lr=lr: SGD(weights, lr=lr))
        ends[round(lr, 3)] = path[-1].norm().item()  # @inspect ends
    # Curvatures of 1 and 25: the limit is 2/25 = 0.08.
    assert ends[0.081] > 4 > ends[0.079]
    assert math.isclose(ends[0.077], (24 / 26) ** 40 * math.hypot(10, 2), rel_tol=1e-9)
    # 2/(1 + 25) is the best rate there is: both directions shrink by 24/26 in each step. In
    # general (κ − 1)/(κ + 1), where κ is the ratio of the curvatures.
    # Momentum turns the ratio into its root: with the best settings (√κ − 1)/(√κ + 1), here 4/6.
    heavy = path_in_a_ravine(lambda weights: SGD(weights, lr=1 / 9, momentum=4 / 9))
    factor = (heavy[-1].norm() / heavy[-11].norm()).item() ** (1 / 10)  # @inspect factor
    assert 0.67 < factor < 0.69
    assert heavy[-1].norm() < 1e-4 < 0.4 < ends[0.077]
    # So one step of momentum gains as many digits as nearly five without, and the larger κ is, the
    # greater the advantage.
    assert 4.5 < math.log(factor) / math.log(24 / 26) < 5


def adagrad_sums_up_squares():  # M17.4 E62 E63
    """AdaGrad sums up squares.

    One learning rate for all weights? A word that occurs once in a thousand batches moves its
    embedding a thousand times less often than one that is always there.
    [AdaGrad](https://jmlr.org/papers/v12/duchi11a.html) gives each weight a rate of its own: it
    divides by the root of the sum of all squares of its gradients so far.
    """
    model = LinearStack(4, 2, torch.Generator().manual_seed(0))
    model(torch.ones(3, 4)).square().mean().backward()
    before = [weight.detach().clone() for weight in model.parameters()]
    optimizer = AdaGrad(model.parameters(), lr=0.01)
    with measure() as cost:
        optimizer.step()
    # One number for each parameter: two squares and a column, 36.
    assert cost.live_bytes["optimizer state"] == 4 * (2 * 4**2 + 4) == 4 * 36
    # In the first step that is $g/\sqrt{g^2}$, the sign: every weight moves by the learning rate,
    # be its gradient large or small.
    for old, weight in zip(before, model.parameters(), strict=True):
        assert torch.allclose(old - weight, 0.01 * weight.grad.sign(), atol=1e-7)
    # With a gradient that stays the same, the sum after t steps is $tg^2$, and step t has the size
    # $lr/\sqrt{t}$, whatever g.
    gradients = torch.full((4,), 3.0)
    found = moves(AdaGrad, gradients).tolist()
    assert [round(size, 5) for size in found] == [0.01, 0.00707, 0.00577, 0.005]  # @inspect found
    # A common mistake is to say that it *averages* the squares. Then steps would not shrink.
    squares = 0.0
    averaged = []
    for t, gradient in enumerate(gradients.tolist(), start=1):
        squares += gradient**2
        averaged.append(0.01 * gradient / math.sqrt(squares / t))
    assert averaged == [0.01, 0.01, 0.01, 0.01]
    # Another is to sum only the gradients *before* this one. Then the first step divides by next to
    # nothing: with 1e-5 under the root, as some write it, by 0.003.
    assert round(0.01 * gradient / math.sqrt(1e-5), 1) == 9.5
    assert round(found[0], 9) == 0.01
    assert torch.equal(trained(AdaGrad), trained(torch.optim.Adagrad))


def epsilon_decides_what_is_small():  # M17.4 E64
    """Epsilon decides what is small.

    What if a gradient is zero? Zero by zero is no number, so a small one, ε, is added to what is
    divided by. It may stand inside the root, $\\sqrt{s+\\varepsilon}$, or outside,
    $\\sqrt{s}+\\varepsilon$, and it says below which size a gradient no longer counts in full.
    """
    gradients = torch.tensor([0.01, 0.003, 0.0001], dtype=torch.float64)
    inside = gradients / (gradients**2 + 1e-5).sqrt()
    outside = gradients / (gradients + 1e-10)
    # The first step of AdaGrad, in units of the learning rate. 1e-5 inside is felt where the
    # gradient is not far above $\sqrt{10^{-5}}=0.003$; 1e-10 outside is not felt at all.
    assert [round(share, 3) for share in inside.tolist()] == [0.953, 0.688, 0.032]
    assert math.isclose(1 - outside.min(), 1e-6, rel_tol=1e-3)  # @inspect inside outside
    # Inside, 1e-5 has to be compared with squares: its root is 0.003. So numbers for ε cannot be
    # carried over from one form to the other. PyTorch's and ours have it outside; the first step
    # shows it.
    for epsilon, share in ((0.003, 0.5), (0.009, 0.25)):
        make = functools.partial(AdaGrad, lr=1.0, eps=epsilon)
        assert math.isclose(moves(make, gradients[1:2])[0], share, rel_tol=1e-6)
    # It matters for AdamW as well, where 1e-8 is usual: a weight whose gradients are as small as
    # that learns at half speed.
    for gradient, share in ((1e-7, 10 / 11), (1e-8, 1 / 2)):
        make = functools.partial(AdamW, lr=1.0)
        assert math.isclose(moves(make, torch.tensor([gradient]))[0], share, rel_tol=1e-4)


def rmsprop_forgets():  # M17.5
    """RMSProp forgets.

    AdaGrad's steps get smaller and smaller, also when a weight has work left to do.
    [RMSProp](https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf) replaces the
    sum by a running average, in which old squares fade. That is again a change of one line.
    """
    average = 0.0
    by_hand = []
    for gradient in (2.0, 2.0, -1.0):
        average = 0.75 * average + 0.25 * gradient**2
        by_hand.append(gradient / math.sqrt(average))
    make = functools.partial(RMSProp, lr=1.0, alpha=0.75, eps=0.0)
    found = moves(make, torch.tensor([2.0, 2, -1]))
    assert torch.allclose(found, torch.tensor(by_hand, dtype=torch.float64), rtol=1e-12)
    # Now a gradient that is 1 for 200 steps, and 0.01 from then on.
    gradients = torch.cat([torch.ones(200), torch.full((400,), 0.01)])
    rms = moves(lambda weights: RMSProp(weights, lr=0.01, alpha=0.96), gradients)
    ada = moves(lambda weights: AdaGrad(weights, lr=0.01), gradients)
    drawn = {"AdaGrad": ada, "RMSProp": rms}
    sizes = figures.step_sizes(
        {n: {t + 1: f[t].item() for t in range(0, 600, 15)} for n, f in drawn.items()}, fall=200
    )  # @inspect sizes
    # While nothing changes, RMSProp's step is the learning rate; AdaGrad's goes down.
    assert math.isclose(rms[199], 0.01, rel_tol=0.1)
    assert math.isclose(ada[199], 0.01 / math.sqrt(200), rel_tol=1e-6)
    # Then both are too careful. RMSProp forgets and is back at its rate after some hundred steps.
    # AdaGrad remembers everything, and its step stays a thousand times below the rate.
    assert rms[200] < 0.0002
    assert math.isclose(rms[-1], 0.01, rel_tol=0.01)
    assert ada[-1] < 0.01 / 1000
    assert math.isclose(ada[-1], 0.01**2 / math.sqrt(200 + 400 * 0.01**2), rel_tol=1e-7)
    # In its first step RMSProp is five times too fast: the average has begun at 0, and only 4 % of
    # the new square, a fifth of its root, are in it.
    assert math.isclose(rms[0], 5 * 0.01, rel_tol=1e-6)
    assert torch.equal(trained(RMSProp), trained(torch.optim.RMSprop))


def adamw_averages_both():  # M17.6 M17.1 E66
    """AdamW averages both.

    Can one have the two at once, a direction that is steady and a rate for each weight?
    [Adam](https://arxiv.org/abs/1412.6980) keeps a running average m of the gradient and one, v, of
    its square. [AdamW](https://arxiv.org/abs/1711.05101) shrinks the weights a little as well.
    """
    beta1, beta2, lr, decay = 0.9, 0.999, 0.01, 0.1
    w, m, v = 2.0, 0.0, 0.0
    weight = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))
    optimizer = AdamW([weight], lr=lr, weight_decay=decay)
    for t, gradient in enumerate((0.5, -3.0, 4.0, 4.0), start=1):
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient**2
        # Both begin at 0 and are too small at first. Divided by what they have seen so far, they
        # are averages of the gradients there were. This is the *bias correction*.
        direction = (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + 1e-8)
        w = w - lr * decay * w - lr * direction
        weight.grad = torch.tensor(gradient, dtype=torch.float64)
        optimizer.step()
        assert math.isclose(weight.item(), w, rel_tol=1e-14)  # @inspect w m v
    assert (round(w, 5), round(m, 5), round(v, 5)) == (1.98109, 0.55345, 0.04122)
    # So the first step is the learning rate times the sign of the gradient, whatever its size.
    gradients = torch.tensor([2e-3, -40])
    make = functools.partial(AdamW, lr=0.01)
    first = torch.cat([moves(make, gradient.view(1)) for gradient in gradients])
    assert round((gradients.abs().max() / gradients.abs().min()).item()) == 20_000
    assert torch.allclose(first, torch.tensor([0.01, -0.01]).double(), rtol=1e-5)
    # A common mistake is "Adam is RMSProp with momentum". Put together like that, without the
    # correction, a tenth of the gradient goes into the first step of RMSProp, which is 31.6 times
    # as long as its rate. So Adam's would be 3.16 times as long.
    rms_first = moves(lambda w: RMSProp(w, lr=1.0, alpha=beta2), torch.ones(1))[0].item()
    assert round((1 - beta1) * rms_first, 2) == 3.16
    # With β1 = 0 it *is* RMSProp with corrected squares. RMSProp's steps are larger by the root.
    settings = {"lr": lr, "eps": 0.0}
    adam = moves(lambda w: AdamW(w, betas=(0.0, 0.99), weight_decay=0.0, **settings), gradients)
    rms = moves(lambda w: RMSProp(w, alpha=0.99, **settings), gradients)
    assert torch.allclose(adam, rms * (1 - 0.99 ** torch.arange(1.0, 3).double()).sqrt(), rtol=1e-9)
    # After 100 steps PyTorch's arrives at the same weights, to the last bit.
    assert torch.equal(trained(AdamW), trained(torch.optim.AdamW))


def adamw_does_not_see_the_scale_of_the_loss():  # M17.6
    """AdamW does not see the scale of the loss.

    Does it matter whether the loss is a sum or a mean? For SGD it is as if the learning rate were
    another. AdamW divides gradients by their own size, and the factor cancels.
    """
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn(50, generator=generator)
    for kind, factor in ((SGD, 1000), (RMSProp, 1), (AdamW, 1)):
        small, large = moves(kind, gradients), moves(kind, 1000 * gradients)
        assert torch.allclose(large, factor * small, rtol=1e-4)
    # The same holds for each weight: be its gradients large or small, its steps stay near the
    # learning rate. That bounds how far a weight gets. If its gradients agree, 50 steps at a rate
    # of 0.001 go 0.05 far; if not, less.
    steady = torch.ones_like(gradients)
    distances = moves(AdamW, steady).sum(), moves(AdamW, gradients).sum().abs()
    assert math.isclose(distances[0], 50 * 0.001, rel_tol=1e-3)
    assert distances[1] < distances[0]
    # A mean over a hundred times as many examples has a tenth of the noise, and AdamW notices:
    # gradients that agree give nearly full steps, those that are mostly noise shorter ones.
    noisy = moves(AdamW, gradients + 0.1).abs().mean() / 0.001
    clear = moves(AdamW, gradients / 10 + 0.1).abs().mean() / 0.001
    assert (round(noisy.item(), 2), round(clear.item(), 2)) == (0.29, 0.77)  # @inspect noisy clear


def decay_is_no_gradient():  # M17.6
    """Decay is no gradient.

    Large weights are discouraged, and there are two ways to do so. *Weight decay* shrinks each
    weight by a share of itself in each step. An *L2 penalty* adds $\\frac{\\lambda}{2}w^2$ to the
    loss, and so λw to the gradient. For SGD both are the same.
    """
    weight = nn.Parameter(torch.tensor([1.0, 0.5]))
    weight.grad = torch.tensor([0.25, -0.25])
    SGD([weight], lr=0.5, weight_decay=0.25).step()
    shrunk = (1 - 0.5 * 0.25) * torch.tensor([1.0, 0.5]) - 0.5 * torch.tensor([0.25, -0.25])
    assert weight.tolist() == shrunk.tolist() == [0.75, 0.5625]
    # Where gradients are divided by their size they are not. Here the loss says nothing, and only
    # the penalty acts. Adam makes the penalty as large as any gradient: the weight goes down by the
    # learning rate in each step, however small λ is.
    ends = {}
    for decay in (0.1, 0.001):
        for kind in (torch.optim.Adam, AdamW):
            weight = nn.Parameter(torch.tensor(1.0, dtype=torch.float64))
            optimizer = kind([weight], lr=0.1, weight_decay=decay)
            for _ in range(5):
                weight.grad = torch.zeros((), dtype=torch.float64)
                optimizer.step()
            ends[kind.__name__, decay] = round(weight.item(), 4)  # @inspect ends
    assert abs(ends["Adam", 0.1] - ends["Adam", 0.001]) < 0.001
    assert abs(ends["Adam", 0.1] - (1 - 5 * 0.1)) < 0.01
    # AdamW, which has its W from *weight decay*, shrinks by lr·λ in each step, apart from the
    # averages.
    assert ends["AdamW", 0.1] == round((1 - 0.1 * 0.1) ** 5, 4) == 0.951
    assert ends["AdamW", 0.001] == round((1 - 0.1 * 0.001) ** 5, 4) == 0.9995
    # So what counts is the product: with the usual 1e-3 and 0.01 it takes 69 000 steps until a
    # weight without gradients is half of what it was. A schedule that lowers the rate lowers the
    # decay with it.
    half_life_steps = math.log(0.5) / math.log(1 - 1e-3 * 0.01)  # @inspect half_life_steps


def an_optimizer_is_paid_for_in_memory():  # M17.2 M17.6
    """An optimizer is paid for in memory.

    What does the family cost? Each idea is one more number for each parameter.
    """
    makers: dict[str, MakeOptimizer] = {
        "SGD": SGD,
        "momentum": lambda weights: SGD(weights, momentum=0.9),
        "AdaGrad": AdaGrad,
        "RMSProp": RMSProp,
        "AdamW": AdamW,
    }
    per_parameter, allocated = {}, {}
    weight = nn.Parameter(torch.ones(30, 40))
    weight.grad = torch.ones(30, 40)
    for name, make in makers.items():
        optimizer = make([weight])
        with measure() as first:
            optimizer.step()
        with measure() as later:
            optimizer.step()
        per_parameter[name] = first.live_bytes["optimizer state"] / 1200
        allocated[name] = (later.allocated_bytes, later.freed_bytes)
    assert list(per_parameter.values()) == [0, 4, 4, 4, 8]  # @inspect per_parameter
    # It is made in the first step and stays.
    assert list(allocated.values()) == [(0, 0)] * 2 + [(4 * 1200, 4 * 1200)] * 3
    # (The divisor is made anew and freed, one parameter at a time.) With bf16 weights PyTorch's
    # AdamW keeps bf16 averages, and 0.999 times a bf16 number is that number again: squares do not
    # fade. (It is enough to try the 128 between two powers of two.) Ours keeps fp32.
    half = nn.Parameter(torch.arange(128, 256).bfloat16())
    assert torch.equal(half * 0.999, half)
    half.grad = torch.ones_like(half)
    ours, theirs = AdamW([half]), torch.optim.AdamW([half])
    with measure() as cost:
        ours.step()
    assert cost.live_bytes["optimizer state"] == 128 * (4 + 4)
    with measure() as cost:
        theirs.step()
    assert cost.live_bytes["optimizer state"] - 4 == 128 * (2 + 2)  # 4 are its counter of steps


def adamw_costs_33_flops_per_parameter():  # M17.7 E67
    """A step of AdamW costs 33 FLOPs per parameter.

    And in FLOPs? Line by line, as the meter books them.
    """
    lr, beta1, beta2, decay = 1e-3, 0.9, 0.999, 0.01
    w, g, m, v = (torch.full((100,), start) for start in (1.0, 1e-6, 0.0, 0.0))
    with measure() as average:
        m = beta1 * m + (1 - beta1) * g
    with measure() as average_of_squares:
        v = beta2 * v + (1 - beta2) * (g * g)
    with measure() as shrinking:
        w = w - (lr * decay) * w
    with measure() as update:
        w = w - lr * m / (v.sqrt() + 1e-8)
    assert math.isclose(1 - w[0].item(), 1e-5 + 1e-10 / (3.162e-8 + 1e-8), rel_tol=1e-3)
    lines = (average, average_of_squares, update, shrinking)
    flops = [line.other_flops / 100 for line in lines]  # @inspect flops
    assert flops == [3, 4, 24, 2]
    # The bias correction is missing here. Ours and PyTorch's divide by it in v (1 FLOP more), leave
    # that of m to a number that all parameters share, and shrink by one product (1 less).
    weight = nn.Parameter(torch.ones(2_126_902_400, device="meta"))
    weight.grad = torch.empty_like(weight)
    with measure() as step:
        AdamW([weight]).step()
    assert step.other_flops == sum(flops) * weight.numel() == 33 * 2_126_902_400
    # For the matrices of a model in the shape of GPT-2 XL, 70 GFLOPs. Most of it, 20 of 33, is the
    # root, by agreement. With 1 for it there are 14.
    assert round(step.other_flops / 1e9, 1) == 70.2
    assert sum(flops) - 20 + 1 == 14
    # Is it much? By the rule of 6, the passes take 6 FLOPs per parameter and token, so the number
    # of parameters cancels: with 1024 texts of 1024 tokens in a batch it is a 190 000th.
    model = LinearStack(64, 8, torch.Generator().manual_seed(0))
    with measure() as passes:
        model(torch.ones(1024, 64, requires_grad=True)).mean().backward()
    with measure() as step:
        AdamW(model.parameters()).step()
    assert passes.matmul_flops == 6 * 1024 * (8 * 64**2 + 64)
    assert math.isclose(step.other_flops / passes.matmul_flops, 33 / 6 / 1024)


def an_update_waits_for_memory():  # M17.7
    """An update waits for memory.

    So the optimizer is for free? Its FLOPs are. But it does 33 of them for each parameter, and has
    to move gradient, weight and both averages for it.
    """
    parameters = 2_126_902_400
    weight = nn.Parameter(torch.empty(parameters, device="meta"))
    weight.grad = torch.empty_like(weight)
    optimizer = AdamW([weight])
    optimizer.step()
    with measure() as cost:
        optimizer.step()
    assert cost.other_flops == 33 * 2_126_902_400
    # Ours is eight operations, one after the other, which read 13 numbers and write 8. One kernel
    # that does it all at once, as PyTorch's with `fused=True`, has to read 4 and write 3.
    assert (cost.read_bytes, cost.written_bytes) == (13 * 4 * parameters, 8 * 4 * parameters)
    one_kernel_bytes = (4 + 3) * 4 * parameters
    move_milliseconds = 1e3 * one_kernel_bytes / H100_SXM.memory_bytes_per_second
    compute_milliseconds = 1e3 * cost.other_flops / H100_SXM.dense_flops_per_second["fp32"]
    # On an H100 the bytes take 17.8 ms, the FLOPs 1.
    assert round(move_milliseconds, 1) == 17.8  # @inspect move_milliseconds
    assert round(compute_milliseconds, 1) == 1.0
    # Beside a batch of a million tokens, with 13.5 s at the peak of the tensor cores, that is
    # nothing. Beside a single text of 1024 tokens it is more than both passes.
    peak = H100_SXM.dense_flops_per_second["bf16"]
    passes_milliseconds = {
        tokens: 1e3 * 6 * parameters * tokens / peak for tokens in (1024, 1024 * 1024)
    }  # @inspect passes_milliseconds
    assert round(passes_milliseconds[1024], 1) == 13.2 < move_milliseconds
    assert round(passes_milliseconds[1024 * 1024] / 1e3, 1) == 13.5
    # An optimizer's step costs the same for any batch. One more reason for large ones.


FAMILY: dict[str, dict[str, str]] = {
    "SGD": {},
    "momentum": {"SGD": "sum of gradients"},
    "AdaGrad": {"SGD": "sum of squares"},
    "RMSProp": {"AdaGrad": "fading average"},
    "Adam": {"momentum": "averaged", "RMSProp": "bias correction"},
    "AdamW": {"Adam": "decay apart from gradients"},
}


IN_THE_RAVINE: dict[str, MakeOptimizer] = {
    "SGD": functools.partial(SGD, lr=0.07),
    "momentum": functools.partial(SGD, lr=1 / 9, momentum=4 / 9),
    "AdaGrad": functools.partial(AdaGrad, lr=3.0),
    "RMSProp": functools.partial(RMSProp, lr=0.3, alpha=0.9),
    "AdamW": functools.partial(AdamW, lr=0.6, betas=(0.8, 0.9), weight_decay=0.0),
}


def the_family_in_a_ravine():  # M17.1
    """Rates per weight do not feel a ravine along the axes.

    How do they get down? All start at the same place in the ravine of before, 25 times as steep
    across as along, and make 40 steps.
    """
    tree = figures.family_tree(FAMILY)  # @inspect tree
    paths = {name: path_in_a_ravine(make) for name, make in IN_THE_RAVINE.items()}
    drawn = figures.paths_in_a_ravine("40 steps along the axes", paths, 25)  # @inspect drawn
    # SGD jumps from wall to wall and creeps along the bottom. Momentum swings further at first, and
    # is down sooner.
    across = {name: path[:, 1] for name, path in paths.items()}
    assert (across["SGD"][1:] * across["SGD"][:-1] < 0).all()
    ends = {name: path[-1].norm().item() for name, path in paths.items()}  # @inspect ends
    assert ends["momentum"] < 1e-4 < 0.5 < ends["SGD"]
    assert math.isclose(ends["SGD"], 10 * (1 - 0.07) ** 40, rel_tol=1e-6)
    # Those that divide by the size of the gradient do not feel the ravine. In their first step they
    # go equally far in both directions.
    for name, length in (("AdaGrad", 3), ("RMSProp", 0.3 / math.sqrt(0.1)), ("AdamW", 0.6)):
        first = (paths[name][1] - paths[name][0]).abs()
        assert torch.allclose(first, torch.tensor(length).double(), rtol=1e-5)
        assert ends[name] < ends["SGD"]
    # RMSProp does not come to rest. In the long run it goes to and fro across the lowest place, in
    # steps of the learning rate. Hence [schedules](#a_rate_rises_and_falls) that lower it towards
    # the end.
    longer = path_in_a_ravine(IN_THE_RAVINE["RMSProp"], steps=400)
    assert torch.allclose(longer[-1], -longer[-2], rtol=0.05)
    assert torch.allclose(longer[-1].abs(), torch.tensor(0.3 / 2).double(), rtol=0.05)


def a_rate_per_weight_sees_only_the_axes():  # M17.1
    """A rate per weight sees only the axes.

    Do rates per weight make ravines harmless? Only those along an axis. Turn the same ravine by 45
    degrees, so that it lies across the weights: both gradients are now those of the steep side.
    """
    makers = {name: make for name, make in IN_THE_RAVINE.items() if name != "RMSProp"}
    straight = {name: path_in_a_ravine(make) for name, make in makers.items()}
    turned = {name: path_in_a_ravine(make, turn_degrees=45) for name, make in makers.items()}
    drawn = figures.paths_in_a_ravine("The ravine turned by 45°", turned, 25)  # @inspect drawn
    # SGD and momentum add up gradients, and a sum turns with the ravine: the paths are the same.
    for name in ("SGD", "momentum"):
        assert torch.allclose(turned[name], straight[name], atol=1e-9)
    # The others take each weight by itself. After ten steps they were ahead of SGD, and now they
    # are behind.
    bends = {
        name: (turned[name] - straight[name]).abs().max().item() for name in makers
    }  # @inspect bends
    assert max(bends["SGD"], bends["momentum"]) < 1e-9
    assert min(bends["AdaGrad"], bends["AdamW"]) > 1
    for name in ("AdaGrad", "AdamW"):
        assert straight[name][10].norm() < straight["SGD"][10].norm() < turned[name][10].norm()
    # To see directions that are not axes one would have to remember products of gradients, a
    # matrix as large as the square of the number of parameters.
    # [Shampoo](https://arxiv.org/abs/1802.09568) does so for the rows and columns of each matrix.


def losses_of_the_toy(lr: float) -> list[float]:  # @stepover
    """Make the mean of the squares of 100 weights small, at a rate that falls with the root of the
    step; return the loss before each of ten steps."""
    start = 5 * torch.randn(10, 10, generator=torch.Generator().manual_seed(0))
    weight = nn.Parameter(start)
    optimizer = SGD([weight], lr=lr)
    losses = []
    for t in range(10):
        optimizer.zero_grad()
        loss = weight.square().mean()
        loss.backward()
        optimizer.param_groups[0]["lr"] = lr / math.sqrt(t + 1)
        optimizer.step()
        losses.append(loss.item())
    return losses


def a_learning_rate_has_an_edge():  # M17.9 E104
    """A learning rate has an edge.

    How is the learning rate found? By trying, in factors of ten or so. A toy: the loss is the mean
    of the squares of 100 weights, and step t, counted from 0, has the rate $lr/\\sqrt{t+1}$.
    """
    losses = {lr: losses_of_the_toy(lr) for lr in (1, 10, 100, 1000)}
    by_rate = {lr: dict(enumerate(found)) for lr, found in losses.items()}
    curves = figures.losses_by_rate(by_rate)  # @inspect curves
    assert all(round(found[0], 1) == 26.3 for found in losses.values())
    last = {lr: found[-1] for lr, found in losses.items()}  # @inspect last
    assert (round(last[1], 1), round(last[10], 2), f"{last[1000]:.2g}") == (21.7, 3.53, "2.4e+18")
    # 1 is slow, 10 better, 1000 diverges. A common mistake would be to conclude that 100 is the
    # best rate and that such rates are good elsewhere. The gradient of one weight is w/50, so
    # step t multiplies it by $1-lr/(50\sqrt{t+1})$. With 100 the first factor is −1 and nothing is
    # gained; and at t = 3 it is zero, by luck.
    factors = [1 - 100 / (50 * math.sqrt(t + 1)) for t in range(10)]  # @inspect factors
    assert len(factors) == len(losses[100])
    assert math.isclose(losses[100][1], losses[100][0], rel_tol=1e-6)
    assert losses[100][4] < 1e-12 < 0.1 < losses[100][3]


def end_of_training(make: MakeOptimizer) -> float:  # @stepover
    """Fit a curve with 16 units of ReLU between two layers in 100 steps; return the last loss."""
    generator = torch.Generator().manual_seed(0)
    x = torch.linspace(-2, 2, 32).unsqueeze(dim=1)
    target = torch.sin(3 * x)
    weights = [nn.Parameter(torch.randn(1, 16, generator=generator)) for _ in range(2)]
    weights.append(nn.Parameter(torch.randn(16, 1, generator=generator) / 4))
    optimizer = make(weights)
    for _ in range(100):
        optimizer.zero_grad()
        hidden = torch.relu(x * weights[0] + weights[1])
        loss = (hidden @ weights[2] - target).square().mean()
        loss.backward()
        optimizer.step()
    return loss.item()


def a_sweep_shows_the_range():  # M17.9
    """A sweep shows the range of good rates.

    How wide is the range in which training works? Try rates on a logarithmic axis, train a little
    with each, and look at the end. Here 100 steps of a small network that is to learn a sine.
    """
    makers: dict[str, Callable[..., torch.optim.Optimizer]] = {
        "SGD": SGD,
        "momentum": lambda weights, lr: SGD(weights, lr=lr, momentum=0.9),
        "AdamW": AdamW,
    }
    rates = [10 ** (power / 2) for power in range(-7, 1)]
    ends = {
        name: {lr: end_of_training(lambda w, k=kind, lr=lr: k(w, lr=lr)) for lr in rates}
        for name, kind in makers.items()
    }
    sweep = figures.final_losses(ends)  # @inspect sweep
    best = {name: min(found, key=found.get) for name, found in ends.items()}  # @inspect best
    # From the left the curves fall: a larger rate gets further in 100 steps. What is too large for
    # SGD shows at once: one mark beyond its best rate the loss is infinite, or no number, and is
    # not drawn.
    for name in ("SGD", "momentum"):
        assert math.isclose(best[name], 10**-1)
        assert not math.isfinite(ends[name][10**-0.5])
    # Momentum of 0.9 multiplies the rate by ten, so as long as the rate is small its curve is that
    # of SGD, one power of ten to the left. Then it goes lower.
    for power in (-3.5, -3, -2.5):
        assert math.isclose(
            ends["momentum"][10**power], ends["SGD"][10 ** (power + 1)], rel_tol=0.05
        )
    assert min(ends["momentum"].values()) < 0.2 * min(ends["SGD"].values())
    # With AdamW no rate leads to infinity, as a step is not much longer than its rate, and it does
    # not care much which one it gets between 0.03 and 0.1.
    assert all(math.isfinite(end) for end in ends["AdamW"].values())
    assert math.isclose(ends["AdamW"][10**-1.5], ends["AdamW"][10**-1.0], rel_tol=0.2)
    # That momentum wins here means little. Ranges move with the model, the batch and the length of
    # training; a sweep is cheap on a small model and has to be done again on a large one.
    #
    # This chapter in short: an idea of the family is at most one more number for each parameter,
    # and AdamW keeps two. A step is little work. What it costs is memory, and the time to move it.
