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
from lecture.lib.next_byte import NextByte, story_bytes, train_next_byte
from lecture.lib.optim import SGD, AdaGrad, AdamW, Muon, RMSProp, orthogonalized
from lecture.lib.shapes import shape_checked, without_checks
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
    """Give one weight these gradients, one after the other; return how far against them each step
    goes."""
    weight = nn.Parameter(torch.zeros((), dtype=torch.float64))
    optimizer = make([weight])
    places = [0.0]
    for gradient in gradients:
        weight.grad = gradient.double()
        optimizer.step()
        places.append(weight.item())
    return -torch.tensor(places, dtype=torch.float64).diff()


def a_step_goes_against_the_gradient():  # M17.3
    r"""A step goes against the gradient.

    We can compute the gradient of a loss for every parameter. What do we do with it? *Stochastic
    gradient descent*, SGD, is the simplest answer: from each parameter $w$ it subtracts the
    gradient $g$ times the *learning rate* $\eta$, $w\leftarrow w-\eta g$. It is stochastic because
    the gradient comes from a batch drawn at random, not from all data. The learning rate is a
    *hyperparameter*: we choose it, training does not.
    """
    weight = nn.Parameter(torch.tensor([3.0, -2.0]))
    (weight**2).sum().backward()
    # The gradient of $w^2$ is $2w$: here 6 and −4. A quarter of it is 1.5 and −1.
    optimizer = SGD([weight], lr=0.25)
    with measure() as cost:
        optimizer.step()
    assert weight.tolist() == [3 - 0.25 * 6, -2 + 0.25 * 4]  # @inspect weight
    # A step costs two FLOPs per parameter. It happens in place and remembers nothing.
    assert cost.other_flops == 2 * weight.numel()
    assert cost.allocated_bytes == 0
    # The optimizers of this chapter are our own. To see that they are right, we train a small
    # linear model for a hundred steps with ours and with PyTorch's: equal to the last bit.
    ours = trained(lambda weights: SGD(weights, lr=0.1))
    theirs = trained(lambda weights: torch.optim.SGD(weights, lr=0.1))
    assert torch.equal(ours, theirs)
    # All weights of that model should become 1, and end within 0.2 of it.
    assert (ours - 1).abs().max() < 0.2


def an_optimizer_keeps_state_and_settings():  # M17.2
    """An optimizer keeps state and settings.

    What does an optimizer need to know besides the gradients? In PyTorch it is an object with two
    kinds of memory: *parameter groups*, which hold settings such as the learning rate, and a
    *state* for each parameter, which it fills itself.
    """
    embedding, matrix = nn.Parameter(torch.ones(5, 2)), nn.Parameter(torch.ones(2, 3))
    # A group may override a setting. Here the embedding is not to decay; the matrix gets AdamW's
    # default, 0.01.
    optimizer = AdamW([{"params": [embedding], "weight_decay": 0.0}, {"params": [matrix]}], lr=0.01)
    decays = [group["weight_decay"] for group in optimizer.param_groups]
    assert decays == [0.0, AdamW([matrix]).defaults["weight_decay"]]  # @inspect decays
    # A schedule changes the learning rate by writing it into the groups.
    assert [group["lr"] for group in optimizer.param_groups] == [0.01, 0.01]
    # AdamW keeps two tensors of the shape of each parameter, and a count of steps. Of how many
    # parameters, before the first step?
    assert len(optimizer.state) == 0  # @predict
    # It fills the state when it is first needed.
    for weight in (embedding, matrix):
        weight.grad = torch.ones_like(weight)
    optimizer.step()
    state = optimizer.state[matrix]  # @inspect state
    assert list(state) == ["step", "m", "v"]
    assert state["m"].shape == state["v"].shape == (2, 3)
    # State survives from step to step, in the same memory, so the past has a say: with a gradient
    # of zero plain SGD stays where it is, and AdamW goes on.
    m, before = state["m"], matrix.detach().clone()
    optimizer.param_groups[1]["weight_decay"] = 0.0
    matrix.grad = torch.zeros(2, 3)
    SGD([matrix]).step()
    assert torch.equal(matrix, before)
    optimizer.step()
    assert optimizer.state[matrix]["m"] is m
    # By how much? m has faded from 0.1 to 0.09; corrected for its start at zero it is 9/19 of the
    # first gradient, and the root of v is 0.7 of it. We come to both formulas below.
    expected = 0.01 * (0.09 / (1 - 0.9**2)) / math.sqrt(0.999 * 0.001 / (1 - 0.999**2))
    assert torch.allclose(before - matrix, torch.tensor(expected), rtol=1e-4)  # @inspect expected


def a_saved_state_goes_by_number():  # M17.2
    """A saved state goes by number.

    A model's [state dict](#a_state_dict_names_every_tensor) has a name for each tensor. What does
    an optimizer's have, which was given parameters without names?
    """
    first, second = nn.Parameter(torch.zeros(2)), nn.Parameter(torch.zeros(2))
    optimizer = AdamW([first, second])
    first.grad, second.grad = torch.tensor([1.0, 2]), torch.tensor([10.0, 20])
    optimizer.step()
    saved = optimizer.state_dict()  # @inspect saved
    # It numbers the parameters in the order in which it was given them.
    assert list(saved["state"]) == saved["param_groups"][0]["params"] == [0, 1]
    # In the same order everything fits again: a tenth of each gradient is in m.
    resumed = AdamW([first, second])
    resumed.load_state_dict(saved)
    assert torch.allclose(resumed.state[second]["m"], second.grad / 10)
    # In another order each parameter gets the averages of the other. The shapes agree, so nothing
    # complains. This happens if you change the order of layers between saving and loading.
    swapped = AdamW([second, first])
    swapped.load_state_dict(saved)
    assert torch.allclose(swapped.state[second]["m"], first.grad / 10)
    # So build the model and its optimizer by the same code when you resume. (PyTorch's optimizers
    # may share memory with a dictionary they load; ours copy.)
    assert not same_storage(resumed.state[first]["m"], optimizer.state[first]["m"])


def clearing_gradients_frees_their_memory():  # M17.8
    """Clearing gradients frees their memory.

    A training loop calls `zero_grad`. What if we forget it? `backward`
    [adds](#gradients_add_up) to the gradients that are there, so each step would use the sum of all
    gradients so far; the [gradient norm shows it](#the_gradient_norm_is_a_symptom).
    """
    weight = nn.Parameter(torch.ones(1000))
    optimizer = SGD([weight])
    for factor in (2.0, 3.0):
        (factor * weight).sum().backward()
    assert (weight.grad == 2 + 3).all()
    # Despite its name it writes no zeros: it drops the tensor. The memory is free until the next
    # backward pass, so gradients take no room during the forward pass.
    optimizer.zero_grad()
    assert weight.grad is None
    with measure() as cost:
        weight.sum().backward()
        while_there = cost.live_bytes["gradients"]
        optimizer.zero_grad()
        afterwards = cost.live_bytes["gradients"]
    assert (while_there, afterwards) == (4 * 1000, 0)  # @predict
    # `set_to_none=False` does write zeros, and keeps the memory.
    weight.sum().backward()
    with measure() as zeros:
        optimizer.zero_grad(set_to_none=False)
    assert (zeros.freed_bytes, zeros.written_bytes, weight.grad.sum()) == (0, 4 * 1000, 0)
    # It also means something else. With `None` the optimizer passes the parameter over. Zero is a
    # gradient, and an optimizer with a memory goes on moving the parameter.
    for gradient, length in ((None, 0.0), (torch.zeros(1000), 0.5)):
        optimizer = SGD([weight], lr=1.0, momentum=0.5)
        weight.grad = torch.ones(1000)
        optimizer.step()
        before = weight.detach().clone()
        weight.grad = gradient
        optimizer.step()
        assert (before - weight == length).all()


def momentum_sums_up_the_past():  # M17.5 M17.1 E65
    r"""Momentum sums up the past.

    The gradient of one batch is noisy. Can the batches before it help? *Momentum* keeps a velocity
    $u$ in which old gradients fade, and steps against that: $u\leftarrow\beta u+g$,
    $w\leftarrow w-\eta u$. It costs one more line and one more number per parameter.
    """
    gradients = torch.tensor([1.0, 1, 1, -1, 1, -1])
    u, by_hand = 0.0, []
    for g in gradients.tolist():
        u = 0.5 * u + g
        by_hand.append(u)
    found = moves(lambda weights: SGD(weights, lr=1.0, momentum=0.5), gradients)  # @inspect found
    assert found.tolist() == by_hand
    # Guess: how long do steps become when the gradient stays the same? The sum is geometric,
    # $1+\beta+\beta^2+\dots=1/(1-\beta)$: ten times the gradient for β = 0.9. A gradient that flips
    # its sign each time is damped to $1/(1+\beta)$. After 50 steps 0.5 % are still missing.
    make = functools.partial(SGD, lr=1.0, momentum=0.9)
    steady, flipping = torch.ones(50), torch.tensor([1.0, -1.0]).repeat(25)
    assert math.isclose(moves(make, steady)[-1], 1 / (1 - 0.9), rel_tol=0.006)
    assert math.isclose(moves(make, flipping)[-1], -1 / (1 + 0.9), rel_tol=0.006)
    # So if you turn momentum on, you multiply a small rate by ten; divide the rate in return.
    # A running average, with $1-\beta$ in front of $g$ (`dampening`), leaves the rate as it is.
    average = moves(lambda w: SGD(w, lr=1.0, momentum=0.9, dampening=0.9), steady)
    assert math.isclose(average[-1], 1, rel_tol=1e-6)
    # Nesterov's version, in PyTorch's form, steps against $g+\beta u$ instead of $u$. That is the
    # step which momentum would make next if the gradient stayed as it is. ([Sutskever
    # and others](https://www.cs.toronto.edu/~fritz/absps/momentum.pdf) take the gradient ahead of
    # the weights, which is the same up to a shift.)
    ahead = moves(lambda w: SGD(w, lr=1.0, momentum=0.5, nesterov=True), gradients)
    assert ahead.tolist() == [g + 0.5 * u for g, u in zip(gradients.tolist(), by_hand, strict=True)]
    one_more = torch.cat([gradients, gradients[-1:]])
    assert moves(lambda w: SGD(w, lr=1.0, momentum=0.5), one_more)[-1] == ahead[-1]
    for settings in ({}, {"dampening": 0.9}, {"nesterov": True}):
        ours = trained(lambda weights, s=settings: SGD(weights, momentum=0.9, **s))
        theirs = trained(lambda weights, s=settings: torch.optim.SGD(weights, momentum=0.9, **s))
        assert torch.equal(ours, theirs)


@shape_checked
def path_in_a_ravine(
    make: MakeOptimizer, turn_degrees: float = 0.0, steps: int = 40, steepness: float = 25.0
) -> Float[Tensor, "place 2"]:  # @stepover
    """Go down in a ravine so many times as steep across as along; return all places, measured along
    and across it. The ravine may be turned against the axes of the weights."""
    angle = math.radians(turn_degrees)
    rows = [[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]
    turned = torch.tensor(rows, dtype=torch.float64)
    weight = nn.Parameter(torch.tensor([-10.0, 2]).double() @ turned)
    optimizer = make([weight])
    places = [weight.detach().clone()]
    for _ in range(steps):
        optimizer.zero_grad()
        along, across = turned @ weight
        (along**2 / 2 + steepness * across**2 / 2).backward()
        optimizer.step()
        places.append(weight.detach().clone())
    return torch.stack(places) @ turned.T


def the_steepest_direction_limits_the_rate():  # M17.5 M17.9
    r"""The steepest direction limits the rate.

    Why not simply take a larger learning rate? Let the loss be $\frac12cw^2$ with curvature $c$.
    Its gradient is $cw$, so a step multiplies $w$ by $1-\eta c$. If $\eta>2/c$ that is below −1:
    the weight jumps across the minimum and outwards. In a ravine, steep across and flat along, the
    steep walls set this limit, and we must walk along the bottom with it.
    """
    ends = {}
    for lr in (0.079, 2 / 26, 0.081):
        path = path_in_a_ravine(lambda weights, lr=lr: SGD(weights, lr=lr))
        ends[round(lr, 3)] = path[-1].norm().item()  # @inspect ends
    # With curvatures of 1 and 25 the limit is 2/25 = 0.08. Just above it we end further out than
    # just below.
    assert ends[0.081] > 4 > ends[0.079]
    # The best rate shrinks both directions alike: $1-\eta=-(1-25\eta)$ at $\eta=2/26$, by 24/26 in
    # each step. For a ratio κ of curvatures that is $(\kappa-1)/(\kappa+1)$.
    assert math.isclose(ends[0.077], (24 / 26) ** 40 * math.hypot(10, 2), rel_tol=1e-9)
    # Momentum turns κ into its root. [Polyak](https://doi.org/10.1016/0041-5553(64)90137-5) showed
    # that for curvatures from 1 to κ, with $\eta=4/(\sqrt\kappa+1)^2$ and
    # $\sqrt\beta=(\sqrt\kappa-1)/(\sqrt\kappa+1)$, every direction shrinks by $\sqrt\beta$ in each
    # step in the long run, here by 4/6. No others do better in the slowest.
    root = math.sqrt(25)
    best = {"lr": 4 / (root + 1) ** 2, "momentum": ((root - 1) / (root + 1)) ** 2}
    heavy = path_in_a_ravine(lambda weights: SGD(weights, **best))
    factor = (heavy[-1].norm() / heavy[-11].norm()).item() ** (1 / 10)  # @inspect factor
    assert math.isclose(factor, (root - 1) / (root + 1), rel_tol=0.03)
    # One step with momentum gains as many digits as about five without, and the worse the ravine,
    # the larger the advantage.
    assert 4.5 < math.log(factor) / math.log(24 / 26) < 5


def adagrad_sums_up_squares():  # M17.4 E62 E63
    r"""AdaGrad sums up squares.

    Should all parameters share one learning rate? The embedding of a word that occurs in every
    thousandth batch gets a thousandth of the updates.
    [AdaGrad](https://jmlr.org/papers/v12/duchi11a.html) gives each parameter a rate of its own: it
    adds up the squares of all its gradients so far, $s\leftarrow s+g^2$, and divides by the root,
    $w\leftarrow w-\eta g/(\sqrt s+\varepsilon)$.
    """
    model = LinearStack(4, 2, torch.Generator().manual_seed(0))
    model(torch.ones(3, 4)).square().mean().backward()
    before = [weight.detach().clone() for weight in model.parameters()]
    optimizer = AdaGrad(model.parameters(), lr=0.01)
    # A step calls the method below once for each parameter. This is all of AdaGrad.
    (settings,) = optimizer.param_groups
    with torch.no_grad():
        for weight in model.parameters():
            optimizer.update(weight, weight.grad, optimizer.state[weight], settings)
    # In the first step $g/\sqrt{g^2}$ is a sign: each weight moves by the learning rate, whether
    # its gradient is large or small. The state is one number for each parameter.
    for old, weight in zip(before, model.parameters(), strict=True):
        assert optimizer.state[weight]["square_sum"].shape == weight.shape
        assert torch.allclose(old - weight, 0.01 * weight.grad.sign(), atol=1e-7)
    # With a gradient that stays the same, $s=tg^2$ after t steps: step t has length
    # $\eta/\sqrt t$, whatever g.
    found = moves(AdaGrad, torch.full((4,), 3.0)).tolist()  # @inspect found
    assert all(math.isclose(found[t - 1], 0.01 / math.sqrt(t), rel_tol=1e-6) for t in range(1, 5))
    # A common mistake is to say that AdaGrad averages the squares. Then all four steps would be as
    # long as the first, and the fourth is half of it.
    assert math.isclose(found[3], found[0] / 2, rel_tol=1e-6)
    assert torch.equal(trained(AdaGrad), trained(torch.optim.Adagrad))


def epsilon_decides_what_is_small():  # M17.4 E64
    r"""Epsilon decides what is small.

    What if all gradients of a parameter are zero? 0/0 is undefined, so a small ε is added to the
    denominator. It stands outside the root in PyTorch, $\sqrt s+\varepsilon$, and inside in some
    texts, $\sqrt{s+\varepsilon}$. Does that matter?
    """
    # The first step of AdaGrad, in units of the learning rate, for three sizes of a gradient. An ε
    # of 1e-5 inside has to be compared with squares: it begins to count near $\sqrt{10^{-5}}$,
    # 0.003, where the step is 0.7 of the rate. Outside, an ε of 0.003 does much the same: there it
    # halves the step.
    gradients = torch.tensor([0.01, 0.003, 0.0001], dtype=torch.float64)
    inside = gradients / (gradients**2 + 1e-5).sqrt()  # @inspect inside
    outside = torch.cat(
        [
            moves(functools.partial(AdaGrad, lr=1.0, eps=0.003), gradient.view(1))
            for gradient in gradients
        ]
    )  # @inspect outside
    assert round(inside[1].item(), 1) == 0.7
    assert torch.allclose(outside, gradients / (gradients + 0.003))
    assert (inside - outside).abs().max() < 0.2
    # 1e-5 outside would hardly be felt. So a value for ε cannot be carried from one form to the
    # other.
    unfelt = moves(functools.partial(AdaGrad, lr=1.0, eps=1e-5), gradients[1:2])[0]
    assert unfelt > 0.99
    # ε says below which size a gradient no longer counts in full. AdamW's default is 1e-8: a weight
    # whose gradients are as small as that learns at half speed.
    for gradient, share in ((1e-7, 10 / 11), (1e-8, 1 / 2)):
        make = functools.partial(AdamW, lr=1.0)
        assert math.isclose(moves(make, torch.tensor([gradient]))[0], share, rel_tol=1e-4)


def rmsprop_forgets():  # M17.5
    r"""RMSProp forgets.

    Under a steady gradient AdaGrad's steps shrink for ever, also if a weight has work left to do.
    [RMSProp](https://www.cs.toronto.edu/~tijmen/csc321/slides/lecture_slides_lec6.pdf) changes one
    line: a running average in which old squares fade, $s\leftarrow\alpha s+(1-\alpha)g^2$, takes
    the place of the sum.
    """
    average, by_hand = 0.0, []
    for gradient in (2.0, 2.0, -1.0):
        average = 0.75 * average + 0.25 * gradient**2
        by_hand.append(gradient / math.sqrt(average))
    make = functools.partial(RMSProp, lr=1.0, alpha=0.75, eps=0.0)
    found = moves(make, torch.tensor([2.0, 2, -1]))
    assert torch.allclose(found, torch.tensor(by_hand, dtype=torch.float64), rtol=1e-12)
    # Let a gradient be 1 for 200 steps, and 0.01 from then on. Which of the two recovers?
    gradients = torch.cat([torch.ones(200), torch.full((400,), 0.01)])
    rms = moves(lambda weights: RMSProp(weights, lr=0.01, alpha=0.96), gradients)
    ada = moves(lambda weights: AdaGrad(weights, lr=0.01), gradients)
    drawn = {"AdaGrad": ada, "RMSProp": rms}
    sizes = figures.step_sizes(
        {n: {t + 1: f[t].item() for t in range(0, 600, 15)} for n, f in drawn.items()}, fall=200
    )  # @inspect sizes
    # While the gradient is steady, RMSProp's step is the learning rate and AdaGrad's shrinks.
    assert math.isclose(rms[199], 0.01, rel_tol=0.1)
    assert math.isclose(ada[199], 0.01 / math.sqrt(200), rel_tol=1e-6)
    # After the fall both are too careful. RMSProp forgets, and four hundred steps later it is back
    # at its rate. AdaGrad remembers everything: its steps stay a thousand times below the rate.
    assert rms[200] < 0.0002
    assert math.isclose(rms[-1], 0.01, rel_tol=0.01)
    assert ada[-1] < 0.01 / 1000
    # RMSProp's first step is too long: the average has begun at 0 and holds 4 % of the new square,
    # a fifth of its root, so the step is five times the rate. Adam will correct that.
    assert math.isclose(rms[0], 5 * 0.01, rel_tol=1e-6)
    assert torch.equal(trained(RMSProp), trained(torch.optim.RMSprop))


def adamw_averages_both():  # M17.6 M17.1 E66 @core
    r"""AdamW averages both.

    Can we have both ideas, a steady direction and a rate for each weight?
    [Adam](https://arxiv.org/abs/1412.6980) keeps a running average $m$ of the gradient and $v$ of
    its square. Both begin at 0, so early on they are too small: after t steps m has seen a share of
    $1-\beta_1^t$, and Adam divides by that, the *bias correction*. The step is
    $\eta\,\hat m/(\sqrt{\hat v}+\varepsilon)$. [AdamW](https://arxiv.org/abs/1711.05101) also
    shrinks each weight by $\eta\lambda w$.
    """
    # @note Do the first step by hand: corrected, m is the gradient and v its square. What is their
    # quotient? Ask how much further the first step goes if the gradient is a thousand times as
    # large. (No further, up to ε.)
    beta1, beta2, lr, decay = 0.9, 0.999, 0.01, 0.1
    w, m, v = 2.0, 0.0, 0.0
    weight = nn.Parameter(torch.tensor(2.0, dtype=torch.float64))
    optimizer = AdamW([weight], lr=lr, weight_decay=decay)
    for t, gradient in enumerate((0.5, -3.0, 4.0, 4.0), start=1):
        m = beta1 * m + (1 - beta1) * gradient
        v = beta2 * v + (1 - beta2) * gradient**2
        direction = (m / (1 - beta1**t)) / (math.sqrt(v / (1 - beta2**t)) + 1e-8)
        w = w - lr * decay * w - lr * direction  # @inspect w m v
        # These four lines are AdamW's method `update`, which a step calls for each parameter.
        with torch.no_grad():
            found = torch.tensor(gradient, dtype=torch.float64)
            optimizer.update(weight, found, optimizer.state[weight], optimizer.param_groups[0])
        assert math.isclose(weight.item(), w, rel_tol=1e-14)
    # So the first step is as long as the learning rate, and goes against the sign of the gradient,
    # however large it is.
    make = functools.partial(AdamW, lr=0.01)
    first = [-moves(make, torch.tensor([gradient])).item() for gradient in (2e-3, -40.0)]
    assert [round(step, 6) for step in first] == [-0.01, 0.01]  # @inspect first
    # You will read that Adam is RMSProp with momentum. Almost: without the correction a tenth of
    # the gradient would be divided by the root of a thousandth of its square, and the first step
    # would be $0.1/\sqrt{0.001}=3.16$ times as long.
    rms_first = moves(lambda w: RMSProp(w, lr=1.0, alpha=beta2), torch.ones(1))[0].item()
    assert math.isclose((1 - beta1) * rms_first, 0.1 / math.sqrt(0.001), rel_tol=1e-4)
    assert torch.equal(trained(AdamW), trained(torch.optim.AdamW))
    # Start with β1 = 0.9, β2 = 0.95, λ = 0.1: so do [GPT-3](https://arxiv.org/abs/2005.14165),
    # [LLaMA](https://arxiv.org/abs/2302.13971) and
    # [DeepSeek-V3](https://arxiv.org/abs/2412.19437).


def adamw_does_not_see_the_scale_of_the_loss():  # M17.6
    """AdamW does not see the scale of the loss.

    Does it matter whether the loss is a sum over the batch or a mean? For SGD the sum is like a
    larger learning rate. AdamW divides each gradient by its own size, so the factor cancels, unless
    gradients come near ε.
    """
    generator = torch.Generator().manual_seed(0)
    gradients = torch.randn(50, generator=generator)
    for kind, factor in ((SGD, 1000), (RMSProp, 1), (AdamW, 1)):
        small, large = moves(kind, gradients), moves(kind, 1000 * gradients)
        assert torch.allclose(large, factor * small, rtol=1e-4)
    # So if a gradient stays the same, a step is as long as the learning rate, whichever weight it
    # is: 50 steps at a rate of 0.001 go 0.05 far. They go less far if it changes its sign, and
    # further if it grows from step to step: by a tenth each time, 0.063.
    series = {
        "steady": torch.ones(50),
        "changing sign": gradients,
        "growing": 1.1 ** torch.arange(50),
    }
    distances = {name: moves(AdamW, found).sum().abs().item() for name, found in series.items()}
    assert math.isclose(distances["steady"], 50 * 0.001, rel_tol=1e-3)
    assert distances["changing sign"] < distances["steady"] / 2  # @inspect distances
    assert round(distances["growing"], 3) == 0.063
    # What AdamW does see is noise. A batch of a hundred times as many examples has a tenth of the
    # noise in its gradient: the gradients agree better, and steps come closer to the full rate.
    noisy, clear = (
        moves(AdamW, noise + 0.1).abs().mean() / 0.001 for noise in (gradients, gradients / 10)
    )
    assert noisy < 0.4 < 0.7 < clear < 1  # @inspect noisy clear


def decay_is_no_gradient():  # M17.6
    r"""Weight decay is not a gradient.

    There are two ways to discourage large weights. *Weight decay* shrinks each weight by a share of
    itself in every step. An *L2 penalty* adds $\frac\lambda2w^2$ to the loss, and so $\lambda w$ to
    the gradient. Are they the same?
    """
    # For SGD without momentum they are: $w-\eta(g+\lambda w)=(1-\eta\lambda)w-\eta g$.
    weight = nn.Parameter(torch.tensor([1.0, 0.5]))
    weight.grad = torch.tensor([0.25, -0.25])
    SGD([weight], lr=0.5, weight_decay=0.25).step()
    shrunk = (1 - 0.5 * 0.25) * torch.tensor([1.0, 0.5]) - 0.5 * torch.tensor([0.25, -0.25])
    assert weight.tolist() == shrunk.tolist()
    # For Adam they are not. Let the loss say nothing, so that only the penalty acts: Adam divides
    # it by its own size. The weight falls by the learning rate in each step, for both λ here.
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
    # AdamW keeps decay out of the averages (its W stands for weight decay), and shrinks by ηλ.
    for decay in (0.1, 0.001):
        assert ends["AdamW", decay] == round((1 - 0.1 * decay) ** 5, 4)
    # So only the product ηλ counts: with PyTorch's defaults of 1e-3 and 0.01, a weight whose
    # gradients are zero halves in 69 000 steps. A schedule that lowers η lowers the decay with it.
    weight = nn.Parameter(torch.ones((), dtype=torch.float64))
    weight.grad = torch.zeros_like(weight)
    AdamW([weight]).step()
    half_life_steps = math.log(0.5) / math.log(weight.item())  # @inspect half_life_steps
    assert round(half_life_steps, -3) == 69_000


def an_optimizer_is_paid_for_in_memory():  # M17.2 M17.6
    """An optimizer costs memory.

    What does the family cost? Guess from the formulas how many numbers each keeps per parameter.
    """
    makers: dict[str, MakeOptimizer] = {
        "SGD": SGD,
        "momentum": lambda weights: SGD(weights, momentum=0.9),
        "AdaGrad": AdaGrad,
        "RMSProp": RMSProp,
        "AdamW": AdamW,
    }
    kept_bytes, temporary_bytes = {}, {}
    weight = nn.Parameter(torch.ones(30, 40))
    weight.grad = torch.ones(30, 40)
    for name, make in makers.items():
        optimizer = make([weight])
        with measure() as first:
            optimizer.step()
        with measure() as later:
            optimizer.step()
        kept_bytes[name] = first.live_bytes["optimizer state"] / weight.numel()
        temporary_bytes[name] = later.allocated_bytes / weight.numel()
    # One number per parameter for each idea, made in the first step and kept permanently. The
    # denominators are made anew in each step and freed.
    assert list(kept_bytes.values()) == [0, 4, 4, 4, 8]  # @inspect kept_bytes
    assert list(temporary_bytes.values()) == [0, 0, 4, 4, 4]
    # In which format? Ours keep fp32 for weights in bf16. PyTorch's AdamW keeps bf16 averages then,
    # and by its default, 0.999 times a bf16 number rounds back to that number: old squares never
    # fade. (With 0.95 they do. The 128 numbers between two powers of two are enough to try.)
    half = nn.Parameter(torch.arange(128, 256).bfloat16())
    assert torch.equal(half * 0.999, half)
    half.grad = torch.ones_like(half)
    state_bytes = {}
    for name, kind in (("ours", AdamW), ("PyTorch's", torch.optim.AdamW)):
        optimizer = kind([half])
        optimizer.step()
        kept = [t for t in optimizer.state[half].values() if getattr(t, "ndim", 0)]
        state_bytes[name] = sum(t.nbytes for t in kept) / half.numel()
    assert state_bytes == {"ours": 4 + 4, "PyTorch's": 2 + 2}  # @inspect state_bytes


def pytorch_step_late_in_a_run(start: Tensor, g: Tensor, lr: float, decay: float) -> Tensor:
    """Return the weights after a step of PyTorch's AdamW, with averages that begin at 0."""
    weight = nn.Parameter(start)
    weight.grad = g
    late = torch.optim.AdamW([weight], lr=lr, weight_decay=decay)
    nothing_yet = {"exp_avg": torch.zeros_like(start), "exp_avg_sq": torch.zeros_like(start)}
    late.state[weight] = {"step": torch.tensor(1e6), **nothing_yet}
    late.step()
    return weight


def adamw_costs_33_flops_per_parameter():  # M17.7 E67
    """A step of AdamW costs 13 FLOPs and a square root per parameter.

    Is the optimizer's arithmetic worth a thought? We count it line by line. The meter counts 20
    FLOPs for a square root, by convention.
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
    lines = (average, average_of_squares, shrinking, update)
    flops = [line.other_flops / 100 for line in lines]  # @inspect flops
    assert flops == [3, 4, 2, 4 + 20]
    # Are these lines AdamW? Late in a run, when its bias correction is 1, PyTorch's step ends at
    # the same weights.
    late = pytorch_step_late_in_a_run(torch.ones(100), g, lr, decay)  # @stepover
    assert torch.allclose(late, w, rtol=1e-6)
    # The lines leave out the bias corrections. Our AdamW divides the root of v by that of v's
    # correction, 1 FLOP more, puts m's correction into a number all parameters share, and shrinks
    # with one multiplication, 1 FLOP less.
    weight = nn.Parameter(torch.ones(2_126_902_400, device="meta"))
    weight.grad = torch.empty_like(weight)
    with measure() as step:
        AdamW([weight]).step()
    assert step.other_flops == sum(flops) * weight.numel()
    # For the matrices of a model of GPT-2 XL's shape that would be 28 GFLOPs and 2 billion roots.
    without_roots = step.other_flops - 20 * weight.numel()
    assert round(without_roots / 1e9) == 28
    # Is that much? Forward and backward pass cost 6 FLOPs per parameter and token, so the number of
    # parameters cancels: with a thousand rows the optimizer takes a half percent of the work, with
    # a million tokens nearly nothing.
    R = 1024
    model = LinearStack(64, 8, torch.Generator().manual_seed(0))
    with measure() as passes:
        model(torch.ones(R, 64, requires_grad=True)).mean().backward()
    with measure() as step:
        AdamW(model.parameters()).step()
    assert math.isclose(step.other_flops / passes.matmul_flops, 33 / (6 * R))


def an_update_waits_for_memory():  # M17.7
    """An update waits for memory.

    So the optimizer's step takes no time? Its FLOPs hardly do. But for a few FLOPs per parameter it
    has to move gradient, weight and both averages. What limits it, then?
    """
    parameters = 2_126_902_400
    weight = nn.Parameter(torch.empty(parameters, device="meta"))
    weight.grad = torch.empty_like(weight)
    optimizer = AdamW([weight])
    optimizer.step()
    with measure() as cost:
        optimizer.step()
    # Ours is eight operations, one after the other. They would read 13 numbers per parameter and
    # write 8. (Or 12: the meter counts the gradient twice where it is both factors of a square.)
    # One kernel for all of it, PyTorch's `fused=True`, reads 4 and writes 3.
    assert (cost.read_bytes, cost.written_bytes) == (13 * 4 * parameters, 8 * 4 * parameters)
    one_kernel_bytes = (4 + 3) * 4 * parameters
    # On an H100 these bytes take at least 17.8 ms. At half a FLOP per byte (14, with one for the
    # root, for 28 bytes) the step is memory-bound by far: at the peak in fp32 the FLOPs
    # would take 0.4 ms.
    move_milliseconds = 1e3 * one_kernel_bytes / H100_SXM.memory_bytes_per_second
    flops = cost.other_flops - 19 * parameters
    compute_milliseconds = 1e3 * flops / H100_SXM.dense_flops_per_second["fp32"]
    assert round(move_milliseconds, 1) == 17.8  # @inspect move_milliseconds @predict
    assert round(compute_milliseconds, 1) == 0.4  # @inspect compute_milliseconds
    # Beside a batch of a million tokens, 13.5 s at the peak of the tensor cores, that is nothing.
    # Beside a single sequence of 1024 tokens it is more than both passes at that peak.
    peak = H100_SXM.dense_flops_per_second["bf16"]
    passes_milliseconds = {
        tokens: 1e3 * 6 * parameters * tokens / peak for tokens in (1024, 1024 * 1024)
    }  # @inspect passes_milliseconds
    assert passes_milliseconds[1024] < move_milliseconds
    assert move_milliseconds < passes_milliseconds[1024 * 1024] / 500
    # The optimizer's step costs the same for any batch. One more reason for large ones.


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
    """Per-parameter learning rates cancel a ravine along the axes.

    How does each of the family get down? All start at one place of the ravine above, 25 times as
    steep across as along, and make 40 steps. Which will be slowest?
    """
    tree = figures.family_tree(FAMILY)  # @inspect tree
    paths = {name: path_in_a_ravine(make) for name, make in IN_THE_RAVINE.items()}
    drawn = figures.paths_in_a_ravine("40 steps along the axes", paths, 25)  # @inspect drawn
    # SGD: it jumps from wall to wall and creeps along the bottom. Momentum swings further at first
    # and is down sooner.
    across = {name: path[:, 1] for name, path in paths.items()}
    assert (across["SGD"][1:] * across["SGD"][:-1] < 0).all()
    ends = {name: path[-1].norm().item() for name, path in paths.items()}  # @inspect ends
    assert ends["momentum"] < 1e-4 < 0.5 < ends["SGD"]
    # Optimizers that divide by the size of each gradient do not feel the ravine: their first step
    # goes equally far in both directions, and in a ravine four times as steep they go the same way.
    for name, length in (("AdaGrad", 3), ("RMSProp", 0.3 / math.sqrt(0.1)), ("AdamW", 0.6)):
        first = (paths[name][1] - paths[name][0]).abs()
        assert torch.allclose(first, torch.tensor(length).double(), rtol=1e-5)
        steeper = path_in_a_ravine(IN_THE_RAVINE[name], steepness=100)
        assert torch.allclose(steeper, paths[name], atol=1e-4)
        assert ends[name] < ends["SGD"]
    # RMSProp does not come to rest. It ends up jumping across the minimum in steps as long as the
    # learning rate, one reason why [schedules](#a_rate_rises_and_falls) lower the rate.
    longer = path_in_a_ravine(IN_THE_RAVINE["RMSProp"], steps=400)
    assert torch.allclose(longer[-1], -longer[-2], rtol=0.05)
    assert torch.allclose(longer[-1].abs(), torch.tensor(0.3 / 2).double(), rtol=0.05)


def a_rate_per_weight_sees_only_the_axes():  # M17.1
    """A rate per parameter sees only the axes.

    Does that make ravines harmless? Turn the same ravine by 45 degrees, so that it runs diagonally
    between the two weights. In both gradients the steep wall now outweighs the flat bottom.
    """
    makers = {name: make for name, make in IN_THE_RAVINE.items() if name != "RMSProp"}
    straight = {name: path_in_a_ravine(make) for name, make in makers.items()}
    turned = {name: path_in_a_ravine(make, turn_degrees=45) for name, make in makers.items()}
    drawn = figures.paths_in_a_ravine("The ravine turned by 45°", turned, 25)  # @inspect drawn
    # SGD and momentum add up gradients, and a sum turns with the ravine: their paths are the same.
    # The others take each weight by itself.
    bends = {
        name: (turned[name] - straight[name]).abs().max().item() for name in makers
    }  # @inspect bends
    assert max(bends["SGD"], bends["momentum"]) < 1e-9
    assert min(bends["AdaGrad"], bends["AdamW"]) > 1
    # After ten steps they were ahead of SGD. Now they are behind, AdaGrad to the end. (AdamW, with
    # this rate, is ahead again from the 28th step on.)
    for name in ("AdaGrad", "AdamW"):
        assert straight[name][10].norm() < straight["SGD"][10].norm() < turned[name][10].norm()
    distances = {name: path.norm(dim=1) for name, path in turned.items()}
    assert (distances["AdamW"] < distances["SGD"])[28:].all()
    assert (distances["AdaGrad"] > distances["SGD"])[10:].all()
    # The direct way to see other directions is to remember products of gradients: for all
    # parameters at once a matrix as large as the square of their number. The next section has a
    # cheaper way, for one matrix of the model at a time.


def muon_makes_all_directions_equal():  # M17.10
    r"""Muon makes most directions about equal.

    The parameters of a layer form a matrix, and a matrix has directions of its own: its singular
    vectors. In the gradient below a few singular values are large and most are small, so SGD would
    move along a few directions and hardly along the rest.
    [*Muon*](https://kellerjordan.github.io/posts/muon) takes momentum and brings its singular
    values to about 1.
    """
    tokens, V = story_bytes(100_000, 1)
    model = NextByte(V, 128, torch.Generator().manual_seed(0))
    train_next_byte(model, [SGD(model.parameters(), lr=0.1)], tokens, steps=3)
    gradient = model.middle.grad
    # Five iterations of a polynomial do it, with matmuls alone; no singular vector is computed.
    direction = orthogonalized(gradient)
    spectra = {
        "gradient": torch.linalg.svdvals(gradient),
        "AdamW's first step": torch.linalg.svdvals(gradient.sign()),
        "Muon's direction": torch.linalg.svdvals(direction),
    }
    drawn = figures.spectra(spectra)  # @inspect drawn
    # The ten largest of 128 singular values hold nine tenths of the gradient's square.
    squares = spectra["gradient"].square()
    assert squares[:10].sum() > 0.9 * squares.sum()
    # After the iterations nine in ten lie between 0.5 and 1.3. (The polynomial trades accuracy for
    # speed: it brings small values up fast and lets large ones swing around 1.)
    near_one = spectra["Muon's direction"].clamp(0.5, 1.3) == spectra["Muon's direction"]
    assert near_one.float().mean() > 0.9
    # The directions stay: where the matrix sends its first singular vector has not turned.
    left, _, right = torch.linalg.svd(gradient)
    sent = direction @ right[0]
    assert (left[:, 0] @ sent) / sent.norm() > 0.999
    # Ours agrees with PyTorch's, which rounds fifteen matmuls to bf16, within 5 %.
    ours, theirs = nn.Parameter(torch.zeros(128, 128)), nn.Parameter(torch.zeros(128, 128))
    settings = {"lr": 0.01, "weight_decay": 0.0}
    for weight in (ours, theirs):
        weight.grad = gradient
    Muon([ours], **settings).step()
    torch.optim.Muon([theirs], adjust_lr_fn="match_rms_adamw", **settings).step()
    assert (ours - theirs).norm() < 0.05 * theirs.norm()


def best_loss(kind: str, lrs: list[float]) -> float:  # @stepover
    """Train the small language model, its hidden matrices at each of these rates; return the best
    mean of the last ten losses."""
    tokens, V = story_bytes(100_000, 1)
    ends = []
    for lr in lrs:
        model = NextByte(V, 128, torch.Generator().manual_seed(0))
        hidden, others = [model.up, model.middle], [model.embedding, model.head]
        adamw = {"betas": (0.9, 0.95), "weight_decay": 0.0}
        if kind == "AdamW":
            for_hidden = AdamW(hidden, lr=lr, **adamw)
        else:
            for_hidden = Muon(hidden, lr=lr, weight_decay=0.0)
        for_others = AdamW(others, lr=0.01, **adamw)
        with without_checks():
            losses = train_next_byte(model, [for_hidden, for_others], tokens, steps=60)
        ends.append(sum(losses[-10:]) / 10)
    return min(ends)


def muon_costs_matmuls_and_one_number():  # M17.10
    r"""Muon costs matmuls and saves a number.

    Is it worth it? First the price. Muon keeps one number per parameter, the momentum, where AdamW
    keeps two. But an iteration is three matmuls with a D×D matrix: $6D^3$ FLOPs, so $30D$ per
    parameter for all five.
    """
    D = 1600
    weight = nn.Parameter(torch.empty(D, D, device="meta"))
    weight.grad = torch.empty_like(weight)
    costs = {}
    for kind in (AdamW, Muon):
        with measure() as step:
            optimizer = kind([weight])
            optimizer.step()
        costs[kind.__name__] = (
            step.live_bytes["optimizer state"] / D**2,
            (step.matmul_flops + step.other_flops) / D**2,
        )
    assert [kept for kept, _ in costs.values()] == [8, 4]  # @inspect costs
    assert costs["AdamW"][1] == 33
    assert math.isclose(costs["Muon"][1], 30 * D, rel_tol=0.01)
    # 48 000 FLOPs per parameter instead of 33 look frightening. But forward and backward pass cost
    # 6 per parameter and row: with R rows in a batch Muon adds 5D/R, 0.8 % for a million.
    overhead = costs["Muon"][1] / (6 * 2**20)  # @inspect overhead
    assert 0.007 < overhead < 0.008
    # Now the gain, on the small language model, 60 steps. The two hidden matrices go to AdamW or to
    # Muon, each at its best rate out of four. Embedding and head stay with AdamW, as Muon's author
    # advises, at a rate of 0.01 in both runs.
    losses = {
        "AdamW": best_loss("AdamW", [2.0**-power for power in (8, 7, 6, 5)]),
        "Muon": best_loss("Muon", [2.0**-power for power in (7, 6, 5, 4)]),
    }  # @inspect losses
    assert 0.05 < losses["AdamW"] - losses["Muon"] < 0.2
    # A tenth of a nat per byte better after the same 60 steps. That is what a small run shows, and
    # no more: one model, one length, few rates, and one for the rest. The authors of
    # [Moonlight](https://arxiv.org/abs/2502.16982) report half the FLOPs for the same loss, from
    # scaling-law runs, and then trained a model of 16 billion parameters with it. [A later
    # comparison](https://arxiv.org/abs/2509.02046), with AdamW tuned as carefully, found less.


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
    r"""A learning rate has an edge.

    How do we find a learning rate? We try some, a factor of ten apart. In this toy the loss is the
    mean of the squares of 100 weights, and step t, counted from 0, has the rate $\eta/\sqrt{t+1}$.
    """
    losses = {lr: losses_of_the_toy(lr) for lr in (1, 10, 100, 1000)}
    by_rate = {lr: dict(enumerate(found)) for lr, found in losses.items()}
    curves = figures.losses_by_rate(by_rate)  # @inspect curves
    last = {lr: found[-1] for lr, found in losses.items()}  # @inspect last
    # 1 is slow, 10 is better, 1000 diverges, and 100 looks wonderful. Is it the best rate?
    assert last[1] > last[10] > last[100]
    assert last[1000] > 1e18
    # Work it out. The gradient of one weight is w/50, so step t multiplies the weights by
    # $1-\eta/(50\sqrt{t+1})$. With η = 100 the first factor is −1, which gains nothing; and at
    # t = 3 the factor is 0, by luck.
    factors = [1 - 100 / (50 * math.sqrt(t + 1)) for t in range(10)]  # @inspect factors
    predicted = [losses[100][0] * math.prod(factors[:t]) ** 2 for t in range(10)]
    assert all(
        math.isclose(loss, expected, rel_tol=1e-3, abs_tol=1e-9)
        for loss, expected in zip(losses[100], predicted, strict=True)
    )
    # A loss three times as steep makes all steps three times as long, as η = 300 does here: after
    # nine of them it is 77 000 times as high. So sweep in smaller steps around the best rate, and
    # keep a distance from the edge.
    first, *_, ninth = losses_of_the_toy(300)
    assert round(ninth / first, -3) == 77_000


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

    How wide is the range in which training works? A *sweep* trains briefly with each rate on a
    logarithmic axis and compares the ends. Here a small network learns a sine in 100 steps.
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
    # From left to right each curve falls, then SGD falls off a cliff, with momentum or without:
    # half a power of ten beyond its best rate the loss is infinite or not a number, and is not
    # drawn.
    for name in ("SGD", "momentum"):
        assert math.isclose(best[name], 10**-1)
        assert not math.isfinite(ends[name][10**-0.5])
    # Momentum of 0.9 [multiplies the rate by ten](#momentum_sums_up_the_past): while the rate is
    # small, its curve is SGD's, one power of ten further left.
    for power in (-3.5, -3, -2.5):
        assert math.isclose(
            ends["momentum"][10**power], ends["SGD"][10 ** (power + 1)], rel_tol=0.05
        )
    # The cliff does not move along: with momentum a curvature c allows rates up to $2(1+\beta)/c$,
    # nearly twice [those without](#the_steepest_direction_limits_the_rate). So close to the cliff
    # do not divide by ten where, as here, each step sees all the data: the best rate stays, and
    # momentum gets further with it.
    edge = 2 * (1 + 0.9) / 25
    below, above = (
        path_in_a_ravine(lambda w, lr=lr: SGD(w, lr=lr, momentum=0.9), steps=400)[-1].norm().item()
        for lr in (0.99 * edge, 1.01 * edge)
    )
    assert below < 1e-3 < 1e3 < above
    assert ends["momentum"][10**-1] < ends["SGD"][10**-1] / 2
    # AdamW diverges at none of these rates. It does about equally well with 0.03 and with 0.1.
    assert all(math.isfinite(end) for end in ends["AdamW"].values())
    assert math.isclose(ends["AdamW"][10**-1.5], ends["AdamW"][10**-1.0], rel_tol=0.2)
    # Ranges move with the model, the batch and the length of training. A sweep is cheap on a small
    # model; [muP](#mup_carries_the_rate_over) carries its result to a large one.
    #
    # What we can do now: write down any optimizer of the family, say what it keeps and what its
    # step costs, and find a learning rate for it. A step is little arithmetic. Its price is memory,
    # and the time to move it.


def exercise_a_sum_in_place_of_a_mean():  # M17.6 @exercise
    """Exercise: a sum in place of a mean.

    You change the loss from the mean over 64 rows to their sum. What do you do with the learning
    rate of SGD, and what with that of AdamW?
    """
    gradients = torch.randn(20, generator=torch.Generator().manual_seed(1))
    # All gradients become 64 times as large. SGD needs a 64th of the rate.
    of_mean = moves(lambda w: SGD(w, lr=0.1), gradients)
    of_sum = moves(lambda w: SGD(w, lr=0.1 / 64), 64 * gradients)
    assert torch.allclose(of_mean, of_sum)
    # AdamW needs nothing: it divides by their size. (But clipping at a fixed norm may clip now.)
    assert torch.allclose(moves(AdamW, gradients), moves(AdamW, 64 * gradients), rtol=1e-4)


def exercise_state_of_two_optimizers():  # M17.2 @exercise
    """Exercise: the state of two optimizers.

    Of the parameters of a model, 80 % are hidden matrices and go to Muon, the rest to AdamW. How
    many bytes of optimizer state does a parameter take on average?
    """
    hidden, others = nn.Parameter(torch.ones(40, 20)), nn.Parameter(torch.ones(10, 20))
    for weight in (hidden, others):
        weight.grad = torch.ones_like(weight)
    optimizers = [Muon([hidden]), AdamW([others])]
    with measure() as cost:
        for optimizer in optimizers:
            optimizer.step()
    each = cost.live_bytes["optimizer state"] / (hidden.numel() + others.numel())  # @inspect each
    # 4 bytes for four of five, 8 for the fifth; AdamW for all would take 8.
    assert math.isclose(each, 0.8 * 4 + 0.2 * 8)
