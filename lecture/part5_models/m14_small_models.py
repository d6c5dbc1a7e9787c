"""Small models: linear layers, what is in them, and what a nonlinearity adds."""

import math
import warnings

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from lecture.lib.layers import DeepNetwork, Linear, LinearStack
from lecture.lib.memory import same_storage
from lecture.lib.normal import std_of_a_cut_normal
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part5_models import m14_figures as figures
from trace.costs import measure


def a_linear_layer_is_one_product():  # M14.1
    """A linear layer is one matmul.

    We know from which numbers a model should start. What is the smallest part that models are built
    from? A module with one matrix, `Linear` here, whose `forward` multiplies with it. (It has no
    *bias*, a vector to add; many large models, LLaMA among them, leave it out.)
    """
    D, F = 64, 16
    generator = torch.Generator().manual_seed(0)
    layer = Linear(D, F, generator)
    # It starts as in [the chapter before](#dividing_by_the_root_of_the_inputs_keeps_the_scale):
    # normal numbers with standard deviation $1/\sqrt{D}$, cut at three of those.
    assert layer.weight.abs().max() <= 3 / math.sqrt(D)
    assert math.isclose(layer.weight.std().item(), 1 / math.sqrt(D), rel_tol=0.05)
    # It maps rows one by one, so there may be any axes in front. Here B = 2 sequences of T = 5
    # tokens, which are R = 10 rows, for two FLOPs per row and parameter.
    x = torch.randn(2, 5, D, generator=generator)
    with measure() as forward:
        y = layer(x)
    assert torch.allclose(y[1, 3], x[1, 3] @ layer.weight, atol=1e-6)
    assert forward.matmul_flops == 2 * (2 * 5) * layer.weight.numel()
    # PyTorch has a layer like it. It stores its weight [the other way
    # round](#a_row_of_the_matrix_for_each_output), (out, in), and transposes it for the matmul; a
    # transpose is a view and costs nothing.
    theirs = torch.nn.Linear(D, F, bias=False)
    assert theirs.weight.shape == (F, D)
    with torch.no_grad():
        theirs.weight.copy_(layer.weight.T)
    with measure() as cost:
        assert torch.allclose(theirs(x), y, atol=1e-6)
    assert cost.matmul_flops == forward.matmul_flops
    # So: a linear layer is a matrix, and what you know about matmuls is what you know about it.


def layers_stack_up_to_a_number():  # M14.1
    """Layers stack up to a scalar.

    How does one number, a *scalar*, come out of a row of features? `LinearStack` has L square
    layers, and a last one with a single output, the *head*.
    """
    R, D, L = 8, 64, 2
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)
    x = torch.randn(R, D, generator=generator)
    with measure() as forward:
        y = model(x)  # @inspect y
    # A scalar for each row. The axis of size 1 is taken off.
    assert y.shape == (R,)
    first, second = (layer.weight for layer in model.layers)
    assert torch.allclose(y, (x @ first @ second @ model.final.weight)[:, 0], atol=1e-5)
    # It costs $2R(LD^2+D)$ FLOPs.
    assert forward.matmul_flops == 2 * R * (L * D * D + D)
    # Thanks to the scale of the weights, numbers come out about as large as they went in. A head of
    # 64 weights is a small sample, so single models differ; here is the average over 200. It is a
    # little below 1, as each of three matrices has lost its tails.
    many = torch.stack([LinearStack(D, L, generator)(x) for _ in range(200)])  # @stepover
    gain = (many.square().mean() / x.square().mean()).item()  # @inspect gain
    assert math.isclose(gain, std_of_a_cut_normal(3.0) ** (2 * 3), rel_tol=0.05)
    # What is in memory before the backward pass are the activations: L layers of R×D numbers, which
    # it needs, and the R results. (Taking off the axis is a view and takes nothing.)
    assert forward.live_bytes["activations"] == 4 * (L * R * D + R)
    # So: parameters grow with $D^2$, activations with $RD$.


def parameters_are_counted_by_name():  # M14.1 M14.2 E58
    """Parameters are counted by name.

    How many parameters does it have? Every module can list them, with names that say where in the
    model they are. Guess for D = 64 and L = 2 before you look.
    """
    D = 64
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, 2, generator)
    shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    sizes = {name: weight.numel() for name, weight in model.named_parameters()}  # @inspect sizes
    drawn = figures.matrices_to_scale(shapes)  # @inspect drawn
    assert list(sizes) == ["layers.0.weight", "layers.1.weight", "final.weight"]
    # Two squares and a column: $N=2D^2+D=8256$.
    total = sum(sizes.values())
    assert total == 2 * D**2 + D == 8256
    # A common mistake is $D^2+D$, one square for the whole stack: right for L = 1 only.
    by_layers = {
        L: sum(weight.numel() for weight in LinearStack(D, L, generator).parameters())
        for L in (1, 2, 3)
    }  # @inspect by_layers
    for L, parameters in by_layers.items():
        assert parameters == L * D**2 + D
    # So: check the sum against the memory that is taken, 4 bytes for each.
    with measure() as start:
        another = LinearStack(D, 2, generator)
    assert start.live_bytes["parameters"] == 4 * total


class ForgetfulStack(torch.nn.Module):
    """Two layers in a plain list, and their head."""

    def __init__(self, D: int, generator: torch.Generator) -> None:
        super().__init__()
        self.layers = [Linear(D, D, generator) for _ in range(2)]
        self.final = Linear(D, 1, generator)


def a_plain_list_hides_its_layers():  # M14.2
    """A plain list hides its layers.

    Why is `layers` in the stack a `ModuleList` and not a list? A module registers attributes that
    are parameters or modules. It does not look into lists or dictionaries. What happens to a model
    that keeps its layers in a list?
    """
    D = 4
    generator = torch.Generator().manual_seed(0)
    model = ForgetfulStack(D, generator)
    names = [name for name, _ in model.named_parameters()]  # @inspect names
    assert names == ["final.weight"]
    # Quietly, two of its three matrices never learn. The model computes; the layers get gradients;
    # and an optimizer that asks for the parameters changes the head alone.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    first, second = (layer.weight for layer in model.layers)
    head = model.final.weight
    before = [tensor.detach().clone() for tensor in (first, second, head)]
    (torch.ones(1, D) @ first @ second @ head).sum().backward()
    assert torch.allclose(first.grad, (second @ head).T.expand(D, D))
    optimizer.step()
    kept = [torch.equal(*pair) for pair in zip(before, (first, second, head), strict=True)]
    assert kept == [True, True, False]  # @inspect kept
    # Counting finds it: there should be $2D^2+D$.
    assert sum(weight.numel() for weight in model.parameters()) == D
    model.layers = torch.nn.ModuleList(model.layers)
    assert sum(weight.numel() for weight in model.parameters()) == 2 * D**2 + D
    # So: count the parameters of every model you build.


def a_state_dict_names_every_tensor():  # M14.2
    """A state dict names what is saved.

    What do you have to [save](#a_checkpoint_holds_parameters_and_state) to have the same model
    again? Its numbers. The `state_dict` is a dictionary of names and tensors; the program is not in
    it.
    """
    D, L = 8, 2
    generator = torch.Generator().manual_seed(0)
    model, other = (LinearStack(D, L, generator) for _ in range(2))
    with measure() as cost:
        state = model.state_dict()
    assert list(state) == ["layers.0.weight", "layers.1.weight", "final.weight"]
    # It takes no memory, and this can surprise: its tensors **are** those of the model. If you keep
    # it as "the best so far", it goes on changing with every step. Copy it.
    assert cost.allocated_bytes == 0  # @predict
    assert same_storage(state["final.weight"], model.final.weight)
    kept = {name: tensor.clone() for name, tensor in state.items()}
    with torch.no_grad():
        model.final.weight.zero_()
    assert state["final.weight"].abs().max() == 0
    # `load_state_dict` copies numbers into the tensors that are there. Then both models are the
    # same.
    model.load_state_dict(kept)
    other.load_state_dict(kept)
    x = torch.randn(3, D, generator=generator)
    assert torch.equal(model(x), other(x))
    assert not same_storage(model.final.weight, other.final.weight)
    # It checks names and shapes, so a model with another number of layers refuses.
    deeper = LinearStack(D, L=L + 1, generator=generator)
    with refused(RuntimeError) as error:
        deeper.load_state_dict(kept)
    assert "layers.2.weight" in error.message


def moving_a_model_keeps_its_parameters():  # M14.2 E61
    """Moving a model keeps its parameters.

    What does `model.to(...)` do? For a tensor it returns another one, unless nothing is to change.
    A module changes itself, and its parameters stay the same objects with other numbers behind
    them. What about an optimizer that was made before?
    """
    model = LinearStack(4, 2, torch.Generator().manual_seed(0))
    before = list(model.parameters())
    keeps_notes_at_once = torch.optim.Adagrad(model.parameters())
    keeps_notes_later = torch.optim.AdamW(model.parameters())
    # A move to another dtype goes the same way as one to another device, and can be seen anywhere.
    model.to(torch.float64)
    assert all(new is old for old, new in zip(before, model.parameters(), strict=True))
    # It still has the right parameters: AdamW works.
    model(torch.ones(2, 4, dtype=torch.float64)).sum().backward()
    weight = model.final.weight
    unmoved = weight.detach().clone()
    keeps_notes_later.step()
    assert not torch.equal(weight, unmoved)
    assert keeps_notes_later.state[weight]["exp_avg"].dtype == torch.float64
    # But what an optimizer has noted by then does not move. AdaGrad makes its notes when it is
    # made, AdamW at the first step.
    assert keeps_notes_at_once.state[weight]["sum"].dtype == torch.float32
    # So: first move the model, then make the optimizer.
    if torch.cuda.is_available():
        model.to("cuda")
        assert all(new is old for old, new in zip(before, model.parameters(), strict=True))
        assert {weight.device.type for weight in model.parameters()} == {"cuda"}
        assert keeps_notes_at_once.state[weight]["sum"].device.type == "cpu"
    else:
        skipped = "no CUDA device here: only the dtype was changed"  # @inspect skipped
    # An exception is `meta`, where there are no numbers: a model that goes there gets new
    # parameters, and an optimizer made before holds on to the old ones.
    model.to("meta")
    assert not any(new is old for old, new in zip(before, model.parameters(), strict=True))


def a_deep_network_repeats_a_block():  # M14.3
    """A deep network repeats a block.

    How are deep models written? Not layer by layer: you describe a *block* once and repeat it. Here
    it is a linear layer and ReLU, in a Transformer it will be more.
    """
    R, D, L = 2, 4, 3
    generator = torch.Generator().manual_seed(0)
    model = DeepNetwork(D, L, generator)
    x = torch.randn(R, D, generator=generator)
    with measure() as forward:
        y = model(x)  # @inspect y
    # L blocks have $LD^2$ parameters. ReLU adds none, and one FLOP for each number that passes.
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters == L * D**2
    assert forward.matmul_flops == 2 * R * parameters
    assert forward.other_flops == R * D * L
    # A block takes what a block gives, so you can rely on its shape: D features in, D out.
    by_hand = x
    for block in model.blocks:
        by_hand = (by_hand @ block.linear.weight).relu()
    assert torch.equal(by_hand, y)
    assert y.shape == x.shape
    # What [waits for the backward pass](#a_weight_needs_what_it_multiplied)? ReLU keeps its result,
    # and that is also what the next matmul keeps of its input. One R×D per block, and no second
    # one.
    assert forward.live_bytes["activations"] == 4 * R * D * L
    # So: the cost of a deep model is that of its block, times L.


def a_mean_over_everything_meets_any_target():  # M14.1 E59
    """A mean over everything meets any target.

    The network gives four numbers for each row, and the target has one: take the mean. Over which
    axis? A common mistake is to write `.mean()`, which takes all of them. What does training do
    then?
    """
    y = torch.arange(8.0).view(2, 4)  # @inspect y
    target = torch.tensor([0.0, 1])
    by_row, by_all = y.mean(dim=1), y.mean()
    assert by_row.shape == target.shape != by_all.shape
    # PyTorch broadcasts the one number to every target, computes a loss, and warns.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.nn.functional.mse_loss(by_row, target)
        assert caught == []
        torch.nn.functional.mse_loss(by_all, target)
    warning = str(caught[0].message).partition(". ")[0]  # @inspect warning
    assert "target size (torch.Size([2])) that is different to the input size" in warning
    # The loss can even go down. But one number cannot be 0 and 1. The best it can be is their
    # mean, and the loss stops at the variance of the targets.
    guesses = torch.arange(5.0) / 4
    losses = torch.stack([(guess - target).square().mean() for guess in guesses])
    assert losses.min() == target.var(correction=0)  # @inspect losses
    assert guesses[losses.argmin()] == target.mean()
    # A number for each row has no such floor: one step against its gradient meets both targets.
    answers = by_row.clone().requires_grad_()
    torch.nn.functional.mse_loss(answers, target).backward()
    assert torch.equal(answers - answers.grad, target)
    # The same happens to a column beside a row of targets: every row meets every target, and only
    # the diagonal of these differences was meant.
    column = by_row.view(2, 1)
    assert (column - target).shape == (2, 2)  # @predict
    assert torch.equal((column - target).diagonal(), by_row - target)
    # So: compare the shapes of prediction and target, in an assert.


def linear_layers_collapse_into_one():  # M14.4
    """Linear layers collapse into one.

    Can a stack of linear layers do more than one of them? It multiplies by one matrix after the
    other, and you may multiply the matrices first: $(xW_1)W_2=x(W_1W_2)$.
    """
    R, D, L = 8, 64, 3
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)
    x = torch.randn(R, D, generator=generator)
    with torch.no_grad():
        one_matrix = model.final.weight
        for layer in reversed(model.layers):
            one_matrix = layer.weight @ one_matrix
    with measure() as stacked:
        y = model(x)
    with measure() as collapsed:
        y_at_once = (x @ one_matrix)[:, 0]
    # No. All of it is one column of 64 numbers.
    assert one_matrix.shape == (D, 1)
    assert torch.allclose(y_at_once, y, atol=1e-5)
    # 12 352 parameters do what 64 could, for $LD+1=193$ times the FLOPs.
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters / one_matrix.numel() == L * D + 1
    assert stacked.matmul_flops == (L * D + 1) * collapsed.matmul_flops
    # Training is another matter. The gradient of a layer contains the layers above it, so a stack
    # does not [learn](https://arxiv.org/abs/1312.6120) as its one matrix would.
    y.sum().backward()
    above = model.layers[1].weight @ model.layers[2].weight @ model.final.weight
    through_all = x.sum(dim=0)[:, None] * above.T
    assert torch.allclose(model.layers[0].weight.grad, through_all, atol=1e-5)
    # So: depth without a nonlinearity adds no function that one matrix cannot compute.


@shape_checked
def switches_between(
    model: DeepNetwork, x: Float[Tensor, "n D"]
) -> Bool[Tensor, " n-1"]:  # @stepover
    """Tell between which neighbouring rows some unit of some layer goes on or off."""
    on = []
    for block in model.blocks:
        x = block(x)
        on.append(x > 0)
    units = torch.cat(on, dim=1)
    return (units[1:] != units[:-1]).any(dim=1)


def a_nonlinearity_bends_the_line():  # M14.4
    """A nonlinearity bends the line.

    What can a network with ReLU do that one matrix cannot? Walk along a straight line through the
    space of inputs and watch the sum of the outputs.
    """
    D, L = 16, 3
    generator = torch.Generator().manual_seed(0)
    linear, deep = LinearStack(D, L, generator), DeepNetwork(D, L, generator)
    start, direction = torch.randn(2, D, dtype=torch.float64, generator=generator)
    linear.double()
    deep.double()
    stretch = (-4, 4)
    places = torch.linspace(*stretch, 161, dtype=torch.float64)
    x = start + places.view(161, 1) * direction
    with torch.no_grad():
        heights = {"linear layers": linear(x), "with ReLU": deep(x).sum(dim=1)}
    # Along the line, linear layers draw a straight line. A network with ReLU draws one that is
    # straight in pieces. The dots are where a unit of some layer goes on or off.
    switches = switches_between(deep, x)
    walk = figures.outputs_along_a_line(places, heights, switches)  # @inspect walk
    # Where the curve is straight, the difference of neighbouring differences is zero.
    bent = {name: y.diff().diff().abs() > 1e-9 for name, y in heights.items()}
    bends = {name: where.sum().item() for name, where in bent.items()}  # @inspect bends
    assert bends["linear layers"] == 0
    assert bends["with ReLU"] > 10
    # It never bends but at a dot: in one of the two gaps between the three neighbours.
    assert not (bent["with ReLU"] & ~(switches[1:] | switches[:-1])).any()
    # Looked at a hundred times as closely, 48 units cut this stretch into 47 pieces, each
    # with its own units on. (Some never switch here, and some of the later layers more than once.
    # For special weights there can be
    # [exponentially more with the depth](https://arxiv.org/abs/1402.1869).)
    closely = torch.linspace(*stretch, 16_001, dtype=torch.float64).view(-1, 1)
    pieces = 1 + switches_between(deep, start + closely * direction).sum().item()  # @stepover
    assert pieces == 47
    # So: ReLUs buy pieces.


def two_relus_make_an_absolute_value():  # M14.4
    """Two ReLUs make an absolute value.

    Which function is out of reach for linear layers? Without a bias they give $f(-x)=-f(x)$, so
    they can never be the absolute value. One ReLU for each half can.
    """
    y = torch.tensor([-2.0, -0.5, 0, 3])
    assert (y.relu() + (-y).relu()).tolist() == y.abs().tolist() == [2, 0.5, 0, 3]
    # The same with networks: if you know linear layers at x, you know them at -x.
    R, D, L = 5, 16, 3
    generator = torch.Generator().manual_seed(0)
    linear, deep = LinearStack(D, L, generator), DeepNetwork(D, L, generator)
    x = torch.randn(R, D, generator=generator)
    assert torch.allclose(linear(-x), -linear(x))
    # The deep network goes its own way at -x: it is never below zero, and not zero everywhere.
    assert torch.minimum(deep(x), deep(-x)).min() == 0
    assert torch.maximum(deep(x), deep(-x)).max() > 0
    # What we can do now: build a model from modules, count its parameters by name, save and move
    # it, and say what it costs. Linear layers alone are one matrix, however many there are; a
    # nonlinearity between them makes them more. The next chapter takes the model apart that most
    # language models are today, the Transformer.


def exercise_parameters_with_biases():  # M14.2 @exercise
    """Exercise: parameters with biases.

    A feed-forward network has two linear layers, from D = 256 features to F = 4D and back, both
    with a bias. How many parameters is that, and what share of them are biases?
    """
    D = 256
    network = torch.nn.Sequential(
        torch.nn.Linear(D, 4 * D), torch.nn.ReLU(), torch.nn.Linear(4 * D, D)
    )
    sizes = {name: weight.numel() for name, weight in network.named_parameters()}  # @inspect sizes
    # $8D^2$ weights, and $4D+D$ biases. The share is $5/(8D+5)$, a quarter of a percent.
    assert sum(sizes.values()) == 8 * D**2 + 5 * D
    biases = sizes["0.bias"] + sizes["2.bias"]
    assert math.isclose(biases / sum(sizes.values()), 5 / (8 * D + 5))


def exercise_a_bias_is_no_nonlinearity():  # M14.4 @exercise
    """Exercise: a bias is no nonlinearity.

    You add a bias to each of three linear layers. Now $f(-x)$ is not $-f(x)$ any more. Can the
    stack do what one layer with a bias cannot?
    """
    D = 8
    generator = torch.Generator().manual_seed(0)
    weights, biases = (
        torch.randn(3, D, D, generator=generator),
        torch.randn(3, D, generator=generator),
    )
    x = torch.randn(5, D, generator=generator)
    y = x
    for w, b in zip(weights, biases, strict=True):
        y = y @ w + b
    # No. It is one matrix, and one bias: what the stack makes of zero.
    matrix = weights[0] @ weights[1] @ weights[2]
    bias = (biases[0] @ weights[1] + biases[1]) @ weights[2] + biases[2]
    assert torch.allclose(y, x @ matrix + bias, atol=1e-3)
