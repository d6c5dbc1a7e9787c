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

    def __init__(self, D: int, K: int) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(D, K))
        self.register_buffer("mean", torch.zeros(K))
        self.forgotten = torch.ones(K, requires_grad=True)


def a_parameter_is_a_tensor_that_modules_register():  # M13.1
    """A parameter is a tensor that modules register.

    A model has many tensors. How does the optimizer know which to change? `nn.Parameter` is a
    tensor with a mark on it: a *module*, PyTorch's class for parts of models, writes down each
    attribute that has the mark.
    """
    D, K = 3, 2
    with measure() as cost:
        model = OneMatrix(D, K)
    assert isinstance(model.weight, torch.Tensor)
    assert model.weight.requires_grad
    assert model.weight.shape == (3, 2)
    assert [name for name, _ in model.named_parameters()] == ["weight"]  # @inspect model.weight
    # The numbers without the mark are in `.data`, in the same memory.
    assert type(model.weight.data) is torch.Tensor
    assert not model.weight.data.requires_grad
    assert same_storage(model.weight.data, model.weight)
    # A *buffer* is registered and not trained: it is saved and moved with the model.
    assert list(model.state_dict()) == ["weight", "mean"]
    # A common mistake is a plain tensor that only asks for a gradient. It gets one, and nobody who
    # asks the model will find, change, save or move it.
    assert model.forgotten.requires_grad
    assert all(found is not model.forgotten for found in model.parameters())
    # The meter knows parameters by their mark, too.
    live_bytes = cost.live_bytes  # @inspect live_bytes
    assert live_bytes["parameters"] == 4 * D * K == 24
    assert live_bytes["other tensors"] == 4 * K + 4 * K == 16


def data_are_not_parameters():  # M13.1 E56
    """Data are not parameters.

    What happens if the input of a model is wrapped as a parameter as well? Everything works, and
    it is a common mistake.
    """
    B, D, K = 16, 8, 4
    costs = {}
    for kind, wrap in (("tensor", torch.Tensor.clone), ("parameter", torch.nn.Parameter)):
        x = wrap(torch.ones(B, D))
        w = torch.nn.Parameter(torch.ones(D, K))
        with measure() as cost:
            (x @ w).square().mean().backward()
        costs[kind] = cost
        assert (x.grad is None) == (kind == "tensor")
    # It costs one of the [three products](#a_layer_works_once_forward_and_twice_backward) of the
    # layer, for a gradient that nobody uses.
    assert costs["tensor"].matmul_flops == 2 * (2 * B * D * K) == 2048
    assert costs["parameter"].matmul_flops == 3 * (2 * B * D * K)
    # And the gradient has the size of the data. Here it is four times that of the weights.
    gradient_bytes = {kind: cost.live_bytes["gradients"] for kind, cost in costs.items()}
    assert gradient_bytes["tensor"] == 4 * D * K == 128  # @inspect gradient_bytes
    assert gradient_bytes["parameter"] - gradient_bytes["tensor"] == 4 * B * D == 512
    # If an optimizer is given it, the data are changed to fit the model.
    torch.optim.SGD([x], lr=0.5).step()
    assert torch.equal(x, torch.full((B, D), 0.5))


@shape_checked
def trained(
    w1: Float[Tensor, "2 2"], w2: Float[Tensor, "2 1"], steps: int
) -> tuple[Float[Tensor, "2 2"], Float[Tensor, "2 1"]]:
    """Take steps against the gradient of two layers that shall turn (1, 2) into one half."""
    for _ in range(steps):
        w1, w2 = w1.detach().requires_grad_(), w2.detach().requires_grad_()
        y = (torch.tensor([[1.0, 2]]) @ w1).relu() @ w2
        (y - 0.5).square().sum().backward()
        w1, w2 = w1 - 0.25 * w1.grad, w2 - 0.25 * w2.grad
    return w1.detach(), w2.detach()


def equal_weights_stay_equal():  # M13.2
    """Equal weights stay equal.

    Why start from random numbers, when zeros or ones are cheaper? Take two layers with two *units*
    (columns of w1) between them, all weights the same, and train: each step goes a quarter of the
    gradient, and the answer should become one half.
    """
    w1, w2 = trained(torch.full((2, 2), 0.5), torch.full((2, 1), 0.5), 1)  # @inspect w1 w2
    # The weights have moved, and both units alike. They see the same input, send on the same
    # number, and so they get the same gradient.
    assert w1.tolist() == [[0.25, 0.25], [0, 0]]
    assert w2.tolist() == [[-0.25], [-0.25]]
    # It stays that way, to the last bit. Two units do the work of one, and so would a thousand.
    w1, w2 = trained(torch.full((2, 2), 0.5), torch.full((2, 1), 0.5), 3)  # @inspect w1 w2
    assert torch.equal(w1[:, 0], w1[:, 1])
    assert w2[0] == w2[1] != -0.25
    # With zeros in both layers it is worse: each gradient is a product with a zero, and nothing
    # moves at all.
    w1, w2 = trained(torch.zeros(2, 2), torch.zeros(2, 1), 3)
    assert (w1.abs().max(), w2.abs().max()) == (0, 0)
    # Any difference at the start is enough to go apart. Random numbers give one to every pair.
    w1, w2 = trained(torch.tensor([[0.5, 0.5], [0.5, 0.0]]), torch.full((2, 1), 0.5), 1)
    assert w1.tolist() == [[0.375, 0.375], [0.25, -0.25]]
    assert w2.tolist() == [[0.125], [0.375]]


def plain_random_weights_blow_up():  # M13.2 E57
    """Plain random weights blow up.

    Which random numbers? The first idea is a normal distribution with standard deviation 1, and it
    is not a good one.
    """
    B, D, K = 64, 16_384, 32
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, generator=generator)
    w = torch.randn(D, K, generator=generator)
    with measure() as cost:
        y = x @ w
    assert cost.matmul_flops == 2 * B * D * K == 67_108_864
    # Each output is a sum of 16 384 products. A product of two independent numbers with mean 0 and
    # variance 1 has mean 0 and variance 1, and variances of independent terms add up. So an output
    # has variance 16 384, and standard deviation $\sqrt{16384}=128$.
    measured_std = y.std().item()  # @inspect measured_std
    assert math.isclose(measured_std, 128, rel_tol=0.05)
    assert abs(y.mean()) < 10
    # A common mistake is to read this as a range from -128 to 128. Of a normal distribution 32 %
    # are farther out than one standard deviation, and the largest of many are several times as far.
    share_outside = (y.abs() > math.sqrt(D)).float().mean().item()  # @inspect share_outside
    assert 0.29 < share_outside < 0.35
    assert y.abs().max() > 3 * 128
    # A few numbers say little about a spread. One row has 32 outputs, and from so few the estimate
    # is typically off by $1/\sqrt{64}$, an eighth.
    row_stds = y.std(dim=1) / math.sqrt(D)
    typical_error = (row_stds - 1).square().mean().sqrt().item()  # @inspect typical_error
    assert 0.10 < typical_error < 0.15


def the_spread_grows_with_the_inputs():  # M13.2 E55
    """The spread grows with the number of inputs.

    "It grows with the width." A layer has two widths, D in and K out. Which one?
    """
    B = 256
    generator = torch.Generator().manual_seed(0)

    def output_std(D: int, K: int) -> float:  # @stepover
        x = torch.randn(B, D, generator=generator)
        return (x @ torch.randn(D, K, generator=generator)).std().item()

    # The number of outputs says only how many sums there are.
    with measure() as cost:
        by_outputs = {K: output_std(256, K) for K in (64, 256, 1024)}  # @inspect by_outputs
    assert cost.matmul_flops == 2 * 256 * 256 * (64 + 256 + 1024)
    assert all(math.isclose(std, 16, rel_tol=0.05) for std in by_outputs.values())
    # What matters is how long a sum is: the number of inputs, also called the *fan-in*.
    with measure() as cost:
        by_inputs = {D: output_std(D, 256) for D in (16, 64, 256, 1024, 4096)}  # @inspect by_inputs
    assert cost.matmul_flops == 2 * 256 * 256 * (16 + 64 + 256 + 1024 + 4096)
    assert all(math.isclose(std, math.sqrt(D), rel_tol=0.05) for D, std in by_inputs.items())
    # A common slip is to say "the hidden size" and to scale by the outputs. In square layers it
    # goes unnoticed.
    #
    # On two logarithmic axes it is a straight line. Four times the inputs, twice the spread: the
    # slope is one half, here over eight powers of two.
    std_by_fan_in = figures.std_by_fan_in(by_inputs)  # @inspect std_by_fan_in
    slope = math.log2(by_inputs[4096] / by_inputs[16]) / 8  # @inspect slope
    assert math.isclose(slope, 0.5, rel_tol=0.05)


def dividing_by_the_root_of_the_inputs_keeps_the_scale():  # M13.3
    """Dividing by the root of the inputs keeps the scale.

    If a sum of D terms is $\\sqrt{D}$ times too large, make the terms smaller: weights with
    standard deviation $1/\\sqrt{D}$.
    """
    B, K = 64, 256
    generator = torch.Generator().manual_seed(0)
    stds = {}
    for D in (64, 1024, 16_384):
        x = torch.randn(B, D, generator=generator)
        w = torch.randn(D, K, generator=generator) / math.sqrt(D)
        y = x @ w
        stds[D] = y.std().item()  # @inspect stds
    # At any width the outputs have standard deviation 1, like the inputs.
    assert all(math.isclose(std, 1, rel_tol=0.03) for std in stds.values())
    # And they are normally distributed, since sums of many small terms are: 68 % lie within one
    # standard deviation and 95 % within 1.96.
    assert y.numel() == 64 * 256
    assert 0.66 < (y.abs() < 1).float().mean() < 0.70
    assert 0.94 < (y.abs() < 1.96).float().mean() < 0.96
    # The weights have become small. With 16 384 inputs it is 1/128.
    assert math.isclose(128 * w.std().item(), 1, rel_tol=0.01)


@shape_checked
def spread_by_layer(
    x: Float[Tensor, "B D"], gain: float, activation: Callable[[Tensor], Tensor]
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

    Would it matter if the spread of a layer were a little off? Layers feed on each other: what one
    does to the scale, eight do eight times.
    """
    B, D = 64, 512
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, generator=generator)
    same = torch.nn.Identity()
    with measure() as cost:
        spreads = {
            "std 1": spread_by_layer(x, math.sqrt(D), same),
            "std 1/√D": spread_by_layer(x, 1.0, same),
            "a tenth less": spread_by_layer(x, 0.9, same),
        }
    assert cost.matmul_flops == 3 * 8 * (2 * 64 * 512 * 512)
    by_layer = figures.spread_by_layer(spreads, "Eight linear layers")  # @inspect by_layer
    # Scaled, the eighth layer is as good as the first.
    assert all(0.95 < spread < 1.05 for spread in spreads["std 1/√D"])
    # Unscaled, each layer multiplies by $\sqrt{512}$, which is 22.6. After eight it is
    # $512^4=2^{36}$.
    assert math.isclose(spreads["std 1"][7], 2**36, rel_tol=0.05)
    # A tenth less in each layer leaves 43 % at the end.
    assert math.isclose(spreads["a tenth less"][7], 0.9**8, rel_tol=0.05)
    # fp32 can hold $2^{36}$. fp16 [ends at 65 504](#fp16_ends_soon_on_both_sides), and after the
    # fourth layer four fifths of the numbers are infinite.
    h = x.half()
    infinite_share = []
    for _ in range(4):
        h = h @ torch.randn(D, D, generator=generator).half()
        infinite_share.append(h.isinf().float().mean().item())  # @inspect infinite_share
    assert [round(share, 1) for share in infinite_share] == [0, 0, 0, 0.8]
    # In one more product, positive infinities meet negative ones: not a number.
    assert (h @ torch.ones(D, 1).half()).isnan().all()


def tails_are_cut_where_the_bounds_say():  # M13.4 E53
    """Tails are cut where the bounds say.

    Of half a million normal numbers some are four and a half standard deviations out. By chance
    alone, the square of such a weight counts as much as twenty usual ones. So the tails are cut,
    often at 3. How does one say that?
    """
    D, K = 16_384, 32
    std = 1 / math.sqrt(D)
    generator = torch.Generator().manual_seed(0)
    w = torch.empty(D, K)
    # A common mistake is `a=-3, b=3`. The bounds are numbers, not multiples of the standard
    # deviation: 3 is 384 standard deviations away here, and nothing is cut.
    torch.nn.init.trunc_normal_(w, std=std, a=-3.0, b=3.0, generator=generator)
    uncut = w / std
    assert uncut.square().max() > 20
    assert math.isclose(uncut.std().item(), 1, rel_tol=0.01)
    # 0.27 % of a normal distribution is farther out than 3, some 1415 of these 524 288 weights.
    expected_outside = D * K * math.erfc(3 / math.sqrt(2))
    outside = (uncut.abs() > 3).sum().item()  # @inspect outside
    assert math.floor(expected_outside) == 1415
    assert 1250 < outside < 1600
    # The bounds have to be scaled as well.
    torch.nn.init.trunc_normal_(w, std=std, a=-3 * std, b=3 * std, generator=generator)
    cut = w / std
    tails = figures.tails({"a=-3, b=3": uncut, "a=-3·std, b=3·std": cut})  # @inspect tails
    assert 2.99 < cut.abs().max() < 3.0001
    # The price is a spread that is 1.3 % [smaller than asked
    # for](#cutting_the_tails_shrinks_the_spread). JAX's
    # [initializers](https://docs.jax.dev/en/latest/_autosummary/jax.nn.initializers.variance_scaling.html)
    # divide by that factor, PyTorch's function does not.
    assert round(std_of_a_cut_normal(3.0), 4) == 0.9866
    assert math.isclose(cut.std().item(), std_of_a_cut_normal(3.0), rel_tol=0.004)


def gradients_ask_for_another_scale():  # M13.5
    """Gradients ask for another scale.

    What does a layer that keeps the scale on the way forward do on the way back? There its inputs
    and outputs change places: the gradient of an input is a sum over the K outputs.
    """
    B, D, K = 64, 1024, 256
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, generator=generator, requires_grad=True)
    g = torch.randn(B, K, generator=generator)
    scales = {"1/√D": 1 / math.sqrt(D), "1/√K": 1 / math.sqrt(K)}
    scales["in between"] = math.sqrt(2 / (D + K))
    stds = {}
    for name, std in scales.items():
        w = std * torch.randn(D, K, generator=generator)
        with measure() as cost:
            y = x @ w
            (x_gradient,) = torch.autograd.grad(y, x, g)
        assert cost.matmul_flops == 2 * (2 * 64 * 1024 * 256)
        stds[name] = (y.std().item(), x_gradient.std().item())
    rounded = {name: (round(y, 1), round(x, 1)) for name, (y, x) in stds.items()}
    # Scaled by the inputs, activations keep their scale, and gradients are multiplied by
    # $\sqrt{K/D}$, a half. Scaled by the outputs, it is the other way round.
    assert rounded["1/√D"] == (1.0, 0.5)  # @inspect rounded
    assert rounded["1/√K"] == (2.0, 1.0)
    # Both cannot be had unless D = K. [Glorot and
    # Bengio](https://proceedings.mlr.press/v9/glorot10a.html) divide by the mean of the two widths:
    # the variance of a weight is $\frac{2}{D+K}$. Neither scale is kept, and neither is far off:
    # the two variances add up to 2.
    assert rounded["in between"] == (1.3, 0.6)
    assert math.isclose(sum(std**2 for std in stds["in between"]), 2, rel_tol=0.03)


def xavier_looks_at_both_sides():  # M13.5 E54
    """Xavier looks at both sides.

    Is $1/\\sqrt{D}$ the *Xavier initialization* that one reads about? This is a common mistake,
    and in square layers it makes no difference.
    """
    D, K = 16_384, 32
    generator = torch.Generator().manual_seed(0)
    w = torch.empty(D, K)
    # Xavier (Glorot's first name) is the compromise of the section above.
    torch.nn.init.xavier_normal_(w, generator=generator)
    assert w.shape == (16_384, 32)
    xavier_std = w.std().item()  # @inspect xavier_std
    assert math.isclose(xavier_std, math.sqrt(2 / (D + K)), rel_tol=0.01)
    # To scale by the inputs alone is older: [LeCun and
    # others](http://yann.lecun.com/exdb/publis/pdf/lecun-98b.pdf) gave the argument of this chapter
    # in 1998. For few outputs the two differ by nearly $\sqrt{2}$.
    fan_in_std = 1 / math.sqrt(D)  # @inspect fan_in_std
    assert round(xavier_std / fan_in_std, 1) == 1.4
    square = torch.nn.init.xavier_normal_(torch.empty(1024, 1024), generator=generator)
    assert square.numel() == 1024**2
    assert math.isclose(square.std().item(), 1 / math.sqrt(1024), rel_tol=0.01)
    # Xavier cannot be put in wrongly: D and K may be exchanged. Rules for one side have to know
    # which is which. PyTorch's take the second axis for the inputs, as its own layers store their
    # weights (out, in). Given a D×K matrix for `x @ w`, they scale by the outputs, 23 times too
    # large.
    torch.nn.init.kaiming_normal_(w, nonlinearity="linear", generator=generator)
    assert math.isclose(w.std().item(), 1 / math.sqrt(K), rel_tol=0.01)
    assert round(w.std().item() / fan_in_std) == 23
    torch.nn.init.kaiming_normal_(w.T, nonlinearity="linear", generator=generator)
    assert math.isclose(w.std().item(), fan_in_std, rel_tol=0.01)


def relu_takes_half_of_the_squares():  # M13.5
    """ReLU takes half of the squares.

    What about the nonlinearity between layers, also called *activation function*? ReLU sets
    negative numbers to 0. Of numbers that are as often negative as positive, it removes half of the
    squares.
    """
    B, D, K = 64, 512, 128
    x = torch.randn(B, D, generator=torch.Generator().manual_seed(0))
    kept_share = x.relu().square().sum() / x.square().sum()
    assert math.isclose(kept_share.item(), 0.5, rel_tol=0.04)
    with measure() as cost:
        spreads = {
            "1/√D, ReLU": spread_by_layer(x, 1.0, torch.relu),
            "√(2/D), ReLU": spread_by_layer(x, math.sqrt(2), torch.relu),
            "√(1/3D), as nn.Linear": spread_by_layer(x, math.sqrt(1 / 3), torch.nn.Identity()),
        }
    assert cost.matmul_flops == 3 * 8 * (2 * 64 * 512 * 512)
    by_layer = figures.spread_by_layer(spreads, "With ReLU, and without")  # @inspect by_layer
    # Half of the squares in every layer: after eight, $\sqrt{2^{-8}}$ of the scale is left.
    assert math.isclose(spreads["1/√D, ReLU"][7], 1 / 16, rel_tol=0.2)
    # [He and others](https://arxiv.org/abs/1502.01852) put the factor 2 back into the variance of
    # the weights.
    assert math.isclose(spreads["√(2/D), ReLU"][7], 1, rel_tol=0.2)
    # `nn.Linear` does neither. Its weights are uniform between $\pm 1/\sqrt{D}$, and a uniform
    # distribution has a third of the square of its bound as variance.
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        weight = torch.nn.Linear(D, K, bias=False).weight
    assert weight.shape == (128, 512)
    assert weight.abs().max() <= 1 / math.sqrt(D)
    assert math.isclose(weight.std().item(), math.sqrt(1 / 3 / D), rel_tol=0.02)
    # So plain stacks of it shrink what passes by $\sqrt{3}$ in each layer. Most deep models of
    # today do not notice, since [norms](#rmsnorm_divides_by_the_root_mean_square) between their
    # layers set the scale anew.
    assert math.isclose(spreads["√(1/3D), as nn.Linear"][7], 3**-4, rel_tol=0.05)


@shape_checked
def spread_of_sums(x: Float[Tensor, "B D"], L: int, gain: float) -> list[float]:  # @stepover
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
    to what came in. A norm gives each layer inputs of size 1. Is the scale safe then?
    """
    B, D, L = 64, 256, 24
    x = torch.randn(B, D, generator=torch.Generator().manual_seed(0))
    with measure() as cost:
        plain = spread_of_sums(x, L, 1.0)
        smaller = spread_of_sums(x, L, 1 / math.sqrt(L))
    assert cost.matmul_flops == 2 * 24 * (2 * 64 * 256 * 256)
    spreads = {"std 1/√D": plain, "std 1/√(DL)": smaller}
    by_layer = figures.spread_by_layer(spreads, "Layers that add")  # @inspect by_layer
    # It does not explode. Each layer adds a variance of 1, which makes 1 + 24 in the end, and so
    # the root of the number of layers. But the later a layer, the less it changes.
    assert math.isclose(plain[2], math.sqrt(1 + 3), rel_tol=0.03)
    assert math.isclose(plain[-1], math.sqrt(1 + 24), rel_tol=0.03)
    # The authors of
    # [GPT-2](https://cdn.openai.com/better-language-models/language_models_are_unsupervised_multitask_learners.pdf)
    # divide the weights of the layers that add by the root of their number. All of them together
    # then add a variance of 1, however deep the model. (All others start with [standard deviation
    # 0.02](https://github.com/openai/gpt-2/blob/master/src/model.py), whatever the width: the
    # $1/\sqrt{D}$ of 2500 inputs.)
    assert math.isclose(smaller[11], math.sqrt(1 + 12 / 24), rel_tol=0.03)
    assert math.isclose(smaller[-1], math.sqrt(2), rel_tol=0.03)
    # This chapter in short: weights start random, so that units can become different, and small, by
    # the root of the number of inputs, so that numbers keep their size through many layers.
