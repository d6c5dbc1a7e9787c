"""Parameters, and the numbers they start from."""

import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.memory import same_storage
from lecture.lib.normal import std_of_a_cut_normal
from lecture.lib.shapes import shape_checked
from lecture.part5_models import m13_figures as figures
from trace.costs import measure


class OneMatrix(torch.nn.Module):
    """A module with a matrix that is trained, a vector that is not, and a plain tensor."""

    def __init__(self, D: int, F: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(D, F))
        self.register_buffer("mean", torch.zeros(F))
        self.forgotten = torch.ones(F, requires_grad=True)


def a_parameter_is_a_tensor_that_modules_register():  # M13.1
    """A parameter is a tensor that modules register.

    We can compute gradients and know their price. Now we build models. A model has many tensors.
    How does an optimizer know which to change? Those are its *parameters*, also called weights.
    `nn.Parameter` marks a tensor as one, and a *module*, PyTorch's class for parts of models, keeps
    a list of the attributes that have the mark.
    """
    D, F = 3, 2
    with measure() as cost:
        model = OneMatrix(D, F)
    assert model.weight.requires_grad
    assert [name for name, _ in model.named_parameters()] == ["weight"]  # @inspect model.weight
    # A parameter is a tensor. Without the mark, the same numbers in the same memory are in `.data`.
    assert isinstance(model.weight, torch.Tensor)
    assert type(model.weight.data) is torch.Tensor
    assert same_storage(model.weight.data, model.weight)
    # A *buffer* is registered and not trained: it moves with the model and, by default, is saved.
    assert list(model.state_dict()) == ["weight", "mean"]
    # A common mistake is a plain tensor that only asks for a gradient. It gets one, but no
    # optimizer that asks the model will find it, and a saved `state_dict` does not have it.
    assert model.forgotten.requires_grad
    assert all(found is not model.forgotten for found in model.parameters())
    # The meter knows parameters by their mark, too. A buffer and a forgotten tensor are "other".
    live_bytes = cost.live_bytes  # @inspect live_bytes
    assert live_bytes["parameters"] == 4 * D * F
    assert live_bytes["other tensors"] == 4 * F + 4 * F
    # So: wrap what you train in `nn.Parameter`, and register what you only keep as a buffer.


def data_are_not_parameters():  # M13.1 E56
    """Data are not parameters.

    What if you wrap the input of a model as a parameter as well? Everything works. Guess what it
    costs.
    """
    R, D, F = 16, 8, 4
    costs = {}
    for kind, wrap in (("tensor", torch.Tensor.clone), ("parameter", torch.nn.Parameter)):
        x = wrap(torch.ones(R, D))
        w = torch.nn.Parameter(torch.ones(D, F))
        with measure() as cost:
            (x @ w).square().mean().backward()
        costs[kind] = cost
        assert (x.grad is None) == (kind == "tensor")
    # One of the [three matmuls](#a_layer_works_once_forward_and_twice_backward) of the layer more,
    # for a gradient that nobody uses.
    assert costs["parameter"].matmul_flops / costs["tensor"].matmul_flops == 3 / 2  # @predict
    # And that gradient has the size of the data. Here it is four times that of the weights.
    gradient_bytes = {kind: cost.live_bytes["gradients"] for kind, cost in costs.items()}
    assert gradient_bytes["parameter"] - gradient_bytes["tensor"] == 4 * R * D
    assert gradient_bytes["tensor"] == 4 * D * F  # @inspect gradient_bytes
    # If you give it to an optimizer, the optimizer changes the data to fit the model.
    torch.optim.SGD([x], lr=0.5).step()
    assert not torch.equal(x, torch.ones(R, D))
    # So: only what the model is to learn is a parameter.


@shape_checked
def trained(
    w1: Float[Tensor, "2 2"], w2: Float[Tensor, "2 1"], steps: int
) -> tuple[Float[Tensor, "2 2"], Float[Tensor, "2 1"]]:
    """Take steps against the gradient of two layers that shall turn (1, 2) into one half."""
    for _ in range(steps):
        w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        y = (torch.tensor([[1.0, 2]]) @ w1).relu() @ w2
        (y - 0.5).square().sum().backward()
        w1, w2 = w1 - 0.125 * w1.grad, w2 - 0.125 * w2.grad
    return w1.detach(), w2.detach()


def equal_weights_stay_equal():  # M13.2
    """Equal weights stay equal.

    Why start from random numbers, when zeros or ones are cheaper? Take two layers with two *units*
    (columns of w1) between them, all weights the same, and train: each step goes an eighth of the
    gradient, and the answer should become one half. Guess what the two units learn.
    """
    w1, w2 = trained(torch.full((2, 2), 0.5), torch.full((2, 1), 0.5), 1)  # @inspect w1 w2
    # The same. They see the same input, and what they send on gets the same weight, so they get the
    # same gradient.
    assert torch.equal(w1[:, 0], w1[:, 1])
    # It stays that way, to the last bit, while the answer comes to one half. Two units do the work
    # of one, and so would a thousand.
    w1, w2 = trained(torch.full((2, 2), 0.5), torch.full((2, 1), 0.5), 10)  # @inspect w1 w2
    assert torch.equal(w1[:, 0], w1[:, 1])
    assert w2[0] == w2[1]
    answer = (torch.tensor([[1.0, 2]]) @ w1).relu() @ w2  # @inspect answer
    assert math.isclose(answer.item(), 0.5, rel_tol=1e-3)
    # With zeros in both layers it is worse: each gradient is a product with a zero, and nothing
    # moves at all.
    w1, w2 = trained(torch.zeros(2, 2), torch.zeros(2, 1), 3)
    assert (w1.abs().max(), w2.abs().max()) == (0, 0)
    # Here a difference in one weight is enough for them to go apart.
    w1, w2 = trained(torch.tensor([[0.5, 0.5], [0.5, 0.0]]), torch.full((2, 1), 0.5), 1)
    assert not torch.equal(w1[:, 0], w1[:, 1])  # @inspect w1 w2
    assert w2[0] != w2[1]
    # So: start from random numbers. They give a difference to every pair.


def plain_random_weights_blow_up():  # M13.2 E57
    """Plain random weights blow up.

    Which random numbers? The first idea is a normal distribution with standard deviation 1. What
    becomes of inputs of size 1 in a layer with 16 384 of them? Guess the standard deviation of its
    outputs.
    """
    R, D, F = 64, 16_384, 32
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator)
    w = torch.randn(D, F, generator=generator)
    y = x @ w
    measured_std = y.std().item()  # @inspect measured_std
    # It is 128. Each output is a sum of D products. A product of two independent numbers with mean
    # 0 and variance 1 has mean 0 and variance 1, and variances of independent terms add up. So an
    # output has variance D and standard deviation $\sqrt{D}$.
    assert math.isclose(measured_std, math.sqrt(D), rel_tol=0.05)
    # (That is no bound. Of a normal distribution 32 % are farther out than one standard deviation,
    # and the largest of many are several times as far.)
    share_outside = (y.abs() > math.sqrt(D)).float().mean().item()  # @inspect share_outside
    assert 0.29 < share_outside < 0.35
    assert y.abs().max() > 3 * math.sqrt(D)
    # And a few numbers say little about a standard deviation. A row has n = 32 outputs. From so few
    # the estimate is typically off by $1/\sqrt{2n}$, an eighth.
    row_stds = y.std(dim=1) / math.sqrt(D)
    typical_error = (row_stds - 1).square().mean().sqrt().item()  # @inspect typical_error
    assert math.isclose(typical_error, 1 / math.sqrt(2 * F), rel_tol=0.2)
    # So: weights of standard deviation 1 are far too large for a wide layer.


def the_spread_grows_with_the_inputs():  # M13.2 E55
    """The standard deviation grows with the inputs.

    "It grows with the width." A layer has two widths, D in and F out. Which one?
    """
    R = 256
    generator = torch.Generator().manual_seed(0)

    def output_std(D: int, F: int) -> float:  # @stepover
        x = torch.randn(R, D, generator=generator)
        return (x @ torch.randn(D, F, generator=generator)).std().item()

    # Not the outputs. F says only how many sums there are.
    by_outputs = {F: output_std(256, F) for F in (64, 256, 1024)}  # @inspect by_outputs
    assert all(math.isclose(std, math.sqrt(256), rel_tol=0.05) for std in by_outputs.values())
    # What matters is how long a sum is: the number of inputs, also called the *fan-in*.
    by_inputs = {D: output_std(D, 256) for D in (16, 64, 256, 1024, 4096)}  # @inspect by_inputs
    assert all(math.isclose(std, math.sqrt(D), rel_tol=0.05) for D, std in by_inputs.items())
    # On two logarithmic axes $\sqrt{D}$ is a straight line. Four times the inputs, twice the
    # standard deviation: the slope is one half, here over eight powers of two.
    std_by_fan_in = figures.std_by_fan_in(by_inputs)  # @inspect std_by_fan_in
    slope = math.log2(by_inputs[4096] / by_inputs[16]) / 8  # @inspect slope
    assert math.isclose(slope, 0.5, rel_tol=0.05)
    # So: say "inputs", not "width". In a square layer a slip goes unnoticed.


def dividing_by_the_root_of_the_inputs_keeps_the_scale():  # M13.3
    """Dividing by the root of the inputs keeps the scale.

    If a sum of D terms is $\\sqrt{D}$ times too large, what is the cure? Smaller terms: weights
    with standard deviation $1/\\sqrt{D}$.
    """
    R, F = 64, 256
    generator = torch.Generator().manual_seed(0)
    stds = {}
    for D in (64, 1024, 16_384):
        x = torch.randn(R, D, generator=generator)
        w = torch.randn(D, F, generator=generator) / math.sqrt(D)
        y = x @ w
        stds[D] = y.std().item()  # @inspect stds
    # At each of the widths the outputs have standard deviation 1, like the inputs.
    assert all(math.isclose(std, 1, rel_tol=0.03) for std in stds.values())
    # And they are nearly normally distributed, as sums of many small terms are: 68 % lie within one
    # standard deviation and 95 % within 1.96.
    assert 0.66 < (y.abs() < 1).float().mean() < 0.70
    assert 0.94 < (y.abs() < 1.96).float().mean() < 0.96
    # So: scale a weight by $1/\sqrt{\text{inputs}}$. With 16 384 inputs it is 1/128.
    assert math.isclose(w.std().item(), 1 / 128, rel_tol=0.01)


@shape_checked
def scale_by_layer(
    x: Float[Tensor, "R D"], gain: float, activation: Callable[[Tensor], Tensor]
) -> list[float]:  # @stepover
    """Send numbers through eight layers; return the root of their mean square after each.

    The weights have standard deviation gain / sqrt(D).
    """
    generator = torch.Generator().manual_seed(1)
    D = x.shape[1]
    found = []
    for _ in range(8):
        w = torch.randn(D, D, generator=generator) * (gain / math.sqrt(D))
        x = activation(x @ w)
        found.append(x.square().mean().sqrt().item())
    return found


def depth_raises_the_scale_to_a_power():  # M13.3
    """Depth raises the scale to a power.

    Would it matter if the scale of a layer were a little off, by a tenth say? Layers feed on each
    other. What one does to the scale, eight do eight times.
    """
    R, D = 64, 512
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator)
    same, less = torch.nn.Identity(), 0.9
    scales = {
        "std 1": scale_by_layer(x, math.sqrt(D), same),
        "std 1/√D": scale_by_layer(x, 1.0, same),
        "a tenth less": scale_by_layer(x, less, same),
    }
    by_layer = figures.scale_by_layer(scales, "Eight linear layers")  # @inspect by_layer
    # With $1/\sqrt{D}$ the eighth layer is as good as the first. A tenth less in each leaves 43 %
    # at the end. Move the gain: it takes little to vanish, or to explode.
    assert all(0.95 < scale < 1.05 for scale in scales["std 1/√D"])
    assert math.isclose(scales["a tenth less"][7], less**8, rel_tol=0.05)
    assert math.isclose(scales["a tenth less"][7], 0.43, rel_tol=0.05)
    by_gain = figures.scale_by_gain(scales["a tenth less"], less)  # @inspect by_gain
    # With standard deviation 1 each layer multiplies by $\sqrt{512}$. After eight it is
    # $512^4=2^{36}$.
    assert math.isclose(scales["std 1"][7], 512 ** (8 / 2), rel_tol=0.05)
    # fp32 can hold $2^{36}$. fp16 [ends at 65 504](#fp16_ends_soon_on_both_sides), and after the
    # fourth layer four fifths of the numbers are infinite.
    h = x.half()
    infinite_share = []
    for _ in range(4):
        h = h @ torch.randn(D, D, generator=generator).half()
        infinite_share.append(h.isinf().float().mean().item())  # @inspect infinite_share
    assert infinite_share[2] < 0.01
    assert round(infinite_share[3], 1) == 0.8
    # In one more matmul, positive infinities meet negative ones: not a number.
    assert (h @ torch.ones(D, 1).half()).isnan().all()
    # So: the deeper a model is, the more its start matters.


def cutting_the_tails_shrinks_the_spread():  # M13.4
    """Cutting the tails shrinks the standard deviation.

    The largest of many normal numbers are several standard deviations out. So many programs cut the
    tails off, so that no single weight starts as an outlier. (Whether that helps is not known to
    us; others do without.) If we ask for a standard deviation of 1 and cut at ±2, what standard
    deviation do we get?
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.empty(2**16)
    torch.nn.init.trunc_normal_(x, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=generator)
    assert x.abs().max() <= 2
    # For a standard normal distribution cut at $\pm a$, the variance is $1 - 2a\,\varphi(a)/P$,
    # with $\varphi$ its density before the cut and $P$ the probability of landing inside.
    derived_std = std_of_a_cut_normal(2.0)  # @inspect derived_std
    assert math.isclose(x.std().item(), derived_std, rel_tol=0.005)
    # 0.88: the argument `std` is the standard deviation before the cut. JAX's
    # [`variance_scaling`](https://docs.jax.dev/en/latest/_autosummary/jax.nn.initializers.variance_scaling.html),
    # where it cuts, at two, divides by this factor; PyTorch's function does not. Cut at ±3, it is
    # 1.3 % less than what we asked for.
    assert round(derived_std, 2) == 0.88
    assert round(std_of_a_cut_normal(3.0), 3) == 0.987
    # The draws that the cut removes are made up for in the middle.
    uncut = torch.randn(2**16, generator=generator)
    histograms = figures.two_histograms({"cut at ±2": x, "not cut": uncut})  # @inspect histograms
    assert uncut.abs().max() > 3


def tails_are_cut_where_the_bounds_say():  # M13.4 E53
    """Tails are cut where the bounds say.

    Some recipes cut a normal distribution at three standard deviations. How do you ask for that?
    PyTorch's `trunc_normal_` takes the bounds a and b.
    """
    D, F = 16_384, 32
    std = 1 / math.sqrt(D)
    generator = torch.Generator().manual_seed(0)
    w = torch.empty(D, F)
    # A common mistake is `a=-3, b=3`. The bounds are numbers, not multiples of the standard
    # deviation: 3 is 384 standard deviations away here, and nothing is cut. 0.27 % of the weights
    # are farther out than three standard deviations, as without a cut.
    torch.nn.init.trunc_normal_(w, std=std, a=-3.0, b=3.0, generator=generator)
    uncut = w / std
    share_outside = (uncut.abs() > 3).float().mean().item()  # @inspect share_outside
    assert math.isclose(share_outside, math.erfc(3 / math.sqrt(2)), rel_tol=0.1)
    # The bounds have to be scaled as well.
    torch.nn.init.trunc_normal_(w, std=std, a=-3 * std, b=3 * std, generator=generator)
    cut = w / std
    tails = figures.tails({"a=-3, b=3": uncut, "a=-3·std, b=3·std": cut})  # @inspect tails
    assert 2.99 < cut.abs().max() < 3.0001
    # Now the standard deviation is smaller by the 1.3 % that we expect.
    assert math.isclose(cut.std().item(), std_of_a_cut_normal(3.0), rel_tol=0.004)
    # So: write `a=-3 * std, b=3 * std`.


def gradients_ask_for_another_scale():  # M13.5
    """Gradients ask for another scale.

    What does a layer that keeps the scale forward do in the backward pass? There inputs and outputs
    change places: the gradient of an input is a sum over the F outputs.
    """
    R, D, F = 64, 1024, 256
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator, requires_grad=True)
    g = torch.randn(R, F, generator=generator)
    scales = {"1/√D": 1 / math.sqrt(D), "1/√F": 1 / math.sqrt(F)}
    scales["in between"] = math.sqrt(2 / (D + F))
    stds = {}
    for name, std in scales.items():
        w = std * torch.randn(D, F, generator=generator)
        y = x @ w
        (x_gradient,) = torch.autograd.grad(y, x, g)
        stds[name] = (y.std().item(), x_gradient.std().item())  # @inspect stds
    rounded = {name: (round(y, 1), round(x, 1)) for name, (y, x) in stds.items()}
    # Scaled by the inputs, activations keep their scale, and gradients are multiplied by
    # $\sqrt{F/D}$, a half. Scaled by the outputs, it is the other way round.
    assert rounded["1/√D"] == (1.0, 0.5)
    assert rounded["1/√F"] == (2.0, 1.0)
    # You cannot have both unless D = F. [Glorot and
    # Bengio](https://proceedings.mlr.press/v9/glorot10a.html) divide by the mean of the two widths:
    # the variance of a weight is $\frac{2}{D+F}$. Neither scale is kept, here it is 1.3 forward and
    # 0.6 backward. The two variances add up to 2.
    assert rounded["in between"] == (1.3, 0.6)
    assert math.isclose(sum(std**2 for std in stds["in between"]), 2, rel_tol=0.03)
    # So: of the two, care for the forward scale. A constant factor in the gradients [cancels in
    # AdamW](#adamw_does_not_see_the_scale_of_the_loss).


def xavier_looks_at_both_sides():  # M13.5 E54
    """Xavier looks at both sides.

    Is $1/\\sqrt{D}$ the *Xavier initialization* that you read about? No: Xavier, which is Glorot's
    first name, is the compromise of the section above, $\\sqrt{2/(D+F)}$.
    """
    D, F = 16_384, 32
    generator = torch.Generator().manual_seed(0)
    w = torch.empty(D, F)
    torch.nn.init.xavier_normal_(w, generator=generator)
    xavier_std = w.std().item()  # @inspect xavier_std
    assert math.isclose(xavier_std, math.sqrt(2 / (D + F)), rel_tol=0.01)
    # To scale by the inputs alone is older: [LeCun and
    # others](http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf) gave the argument of this chapter
    # in 1998. For few outputs the two differ by nearly $\sqrt{2}$, and in square layers not at all.
    fan_in_std = 1 / math.sqrt(D)  # @inspect fan_in_std
    assert math.isclose(xavier_std / fan_in_std, math.sqrt(2), rel_tol=0.01)
    square = torch.nn.init.xavier_normal_(torch.empty(1024, 1024), generator=generator)
    assert math.isclose(square.std().item(), 1 / math.sqrt(1024), rel_tol=0.01)
    # A rule for one side has to know which side that is. PyTorch's own linear layers store their
    # weights (out, in), so its functions take the second axis for the inputs. Give them a D×F
    # matrix for `x @ w`, and they scale by the outputs: 23 times too large.
    torch.nn.init.kaiming_normal_(w, nonlinearity="linear", generator=generator)
    assert round(w.std().item() / fan_in_std) == round(math.sqrt(D / F)) == 23
    torch.nn.init.kaiming_normal_(w.T, nonlinearity="linear", generator=generator)
    assert math.isclose(w.std().item(), fan_in_std, rel_tol=0.01)
    # So: after initialization, print the standard deviation of one output.


def relu_takes_half_of_the_squares():  # M13.5
    """ReLU takes half of the squares.

    What about the nonlinearity between layers, the *activation function*? ReLU sets negative
    numbers to 0. If many numbers lie symmetrically around 0, it takes away half of the sum of their
    squares.
    """
    R, D, F = 64, 512, 128
    x = torch.randn(R, D, generator=torch.Generator().manual_seed(0))
    kept_share = x.relu().square().sum() / x.square().sum()
    assert math.isclose(kept_share.item(), 0.5, rel_tol=0.04)
    scales = {
        "1/√D, ReLU": scale_by_layer(x, 1.0, torch.relu),
        "√(2/D), ReLU": scale_by_layer(x, math.sqrt(2), torch.relu),
        "√(1/3D), as nn.Linear": scale_by_layer(x, math.sqrt(1 / 3), torch.nn.Identity()),
    }
    by_layer = figures.scale_by_layer(scales, "With ReLU, and without")  # @inspect by_layer
    # Half of the squares in every layer: after eight, $\sqrt{2^{-8}}$ of the scale is left. [He and
    # others](https://arxiv.org/abs/1502.01852) put the factor 2 back into the variance of the
    # weights.
    assert math.isclose(scales["1/√D, ReLU"][7], math.sqrt(2**-8), rel_tol=0.2)
    assert math.isclose(scales["√(2/D), ReLU"][7], 1, rel_tol=0.2)
    # `nn.Linear` does neither. Its weights are uniform between $\pm 1/\sqrt{D}$, and a uniform
    # distribution has a third of the square of its bound as variance.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        weight = torch.nn.Linear(D, F, bias=False).weight
    assert weight.abs().max() <= 1 / math.sqrt(D)
    assert math.isclose(weight.std().item(), math.sqrt(1 / 3 / D), rel_tol=0.02)
    # So plain stacks of it, without biases, shrink what passes by $\sqrt{3}$ in each layer.
    # [Normalization layers](#rmsnorm_divides_by_the_root_mean_square) between them set the scale of
    # what passes anew.
    assert math.isclose(scales["√(1/3D), as nn.Linear"][7], 3**-4, rel_tol=0.05)


@shape_checked
def scale_of_sums(x: Float[Tensor, "R D"], L: int, gain: float) -> list[float]:  # @stepover
    """Add to x what each of L layers makes of it; return the root mean square after each.

    The weights have standard deviation gain / sqrt(D).
    """
    generator = torch.Generator().manual_seed(1)
    D = x.shape[1]
    found = []
    for _ in range(L):
        w = torch.randn(D, D, generator=generator) * (gain / math.sqrt(D))
        x = x + torch.nn.functional.rms_norm(x, (D,)) @ w
        found.append(x.square().mean().sqrt().item())
    return found


def layers_that_add_start_smaller():  # M13.3
    """Layers that add start smaller.

    In a Transformer, what a layer makes is not handed on but [added](#a_block_adds_to_what_came_in)
    to what came in. A normalization layer gives each layer inputs of scale 1. Is the scale safe
    then?
    """
    R, D, L = 64, 256, 24
    x = torch.randn(R, D, generator=torch.Generator().manual_seed(0))
    plain = scale_of_sums(x, L, 1.0)
    smaller = scale_of_sums(x, L, 1 / math.sqrt(L))
    scales = {"std 1/√D": plain, "std 1/√(DL)": smaller}
    by_layer = figures.scale_by_layer(scales, "Layers that add")  # @inspect by_layer
    # It does not explode. Each layer adds a variance of 1, which makes $1+L$ in the end, and a
    # scale of $\sqrt{1+L}$. But the later a layer, the less it changes.
    assert math.isclose(plain[2], math.sqrt(1 + 3), rel_tol=0.03)
    assert math.isclose(plain[-1], math.sqrt(1 + L), rel_tol=0.03)
    # The paper on
    # [GPT-2](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf)
    # divides the weights of layers that add by the root of their number. In our toy all of them
    # together then add a variance of 1, however deep it is.
    assert math.isclose(smaller[-1], math.sqrt(1 + 1), rel_tol=0.03)
    # GPT-2 itself does not start at $1/\sqrt{D}$ but at [standard deviation
    # 0.02](https://github.com/openai/gpt-2/blob/master/src/model.py), whatever the width. (The code
    # that was released samples and does not train. It has no trace of the division.) In the toy,
    # 0.02, so divided, makes layers add $0.02^2D$ in all: 0.31 at width 768, and 0.64 at 1600.
    for width in (768, 1600):
        wide = torch.randn(R, width, generator=torch.Generator().manual_seed(0))
        scale = scale_of_sums(wide, 8, 0.02 * math.sqrt(width) / math.sqrt(8))[-1]
        added = scale**2 / wide.square().mean().item() - 1
        assert math.isclose(added, 0.02**2 * width, rel_tol=0.05)
    # What we can do now: start a model of any depth so that numbers keep their scale. Weights are
    # random, so that units can become different; small by the root of the inputs; and smaller by
    # the root of the depth where layers add. Next we build models from such layers.


def exercise_zeros_and_ones():  # M13.3 @exercise
    """Exercise: zeros and ones.

    The D inputs of a layer are 0 or 1, with equal chance. Which standard deviation should its
    weights have so that the outputs have a root mean square of 1? And what is the variance of an
    output then, over many inputs?
    """
    R, D, F = 512, 1024, 64
    generator = torch.Generator().manual_seed(0)
    x = torch.randint(0, 2, (R, D), generator=generator).float()
    # Half of the terms of a sum are gone: the mean square of an input is 1/2. So it is
    # $\sqrt{2/D}$, as after a ReLU.
    w = torch.randn(D, F, generator=generator) * math.sqrt(2 / D)
    y = x @ w
    output_scale = y.square().mean().sqrt().item()  # @inspect output_scale
    assert math.isclose(output_scale, 1, rel_tol=0.05)
    # The other half of the square is a mean that stays, since inputs have the mean 1/2. Over the
    # inputs, an output has the variance 1/2.
    variance = y.var(dim=0).mean().item()  # @inspect variance
    assert math.isclose(variance, 1 / 2, rel_tol=0.05)


def exercise_three_layers_in_fp16():  # M13.2 @exercise
    """Exercise: three layers in fp16.

    Inputs of scale 1 go through layers of width 1024 whose weights have standard deviation 1. fp16
    ends at 65 504. After how many layers are the first numbers infinite, and what share of them?
    """
    R, D = 64, 1024
    generator = torch.Generator().manual_seed(0)
    h = torch.randn(R, D, generator=generator)
    for _ in range(3):
        h = h @ torch.randn(D, D, generator=generator)
    # Each layer multiplies by $\sqrt{1024}=32$. After two it is 1024, after three 32 768, and the
    # end is two standard deviations out: 5 % are beyond it.
    share = h.half().isinf().float().mean().item()  # @inspect share
    assert math.isclose(share, math.erfc(2 / math.sqrt(2)), rel_tol=0.15)
