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
    """A linear layer is one product.

    What is the smallest part that models are built from? A module with one matrix, `Linear` here,
    whose `forward` multiplies with it. It has no bias (a vector to add); many large models,
    LLaMA among them, leave it out.
    """
    D, K = 64, 16
    generator = torch.Generator().manual_seed(0)
    with measure() as start:
        layer = Linear(D, K, generator)
    assert start.live_bytes["parameters"] == 4 * D * K == 4096
    # It starts as in [the last chapter](#dividing_by_the_root_of_the_inputs_keeps_the_scale):
    # normal numbers with standard deviation $1/\sqrt{D}$, cut at three of those.
    assert layer.weight.abs().max() <= 3 / 8
    assert math.isclose(layer.weight.std().item(), 1 / 8, rel_tol=0.05)
    # Rows are mapped one by one, so there may be any axes in front.
    x = torch.randn(2, 5, D, generator=generator)
    with measure() as forward:
        y = layer(x)
    assert y.shape == (2, 5, 16)
    assert torch.allclose(y[1, 3], x[1, 3] @ layer.weight, atol=1e-6)
    # Two FLOPs for each row and parameter.
    assert forward.matmul_flops == 2 * (2 * 5) * layer.weight.numel() == 20_480
    # PyTorch has a layer like it. Its weight is stored [the other way
    # round](#a_row_of_the_matrix_for_each_output), (out, in), and transposed for the product; a
    # transpose is a view and costs nothing.
    theirs = torch.nn.Linear(D, K, bias=False)
    assert theirs.weight.shape == (16, 64)
    with torch.no_grad():
        theirs.weight.copy_(layer.weight.T)
    with measure() as cost:
        assert torch.allclose(theirs(x), y, atol=1e-6)
    assert cost.matmul_flops == forward.matmul_flops


def layers_stack_up_to_a_number():  # M14.1
    """Layers stack up to a number.

    How does one number come out of rows of features? `LinearStack` has L square layers, and a last
    one with a single output, the *head*.
    """
    B, D, L = 8, 64, 2
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)
    x = torch.randn(B, D, generator=generator)
    with measure() as forward:
        y = model(x)  # @inspect y
    # The axis of size 1 is taken off: a number for each row.
    assert y.shape == (8,)
    first, second = (layer.weight for layer in model.layers)
    assert torch.allclose(y, (x @ first @ second @ model.final.weight)[:, 0], atol=1e-5)
    assert forward.matmul_flops == 2 * B * (L * D * D + D) == 132_096
    # Thanks to the scale of the weights, numbers come out about as large as they went in. A head of
    # 64 weights is a small sample, so single models differ; here is the average over 200. It is a
    # little below 1, as each of three matrices has lost its tails.
    many = torch.stack([LinearStack(D, L, generator)(x) for _ in range(200)])  # @stepover
    gain = (many.square().mean() / x.square().mean()).item()  # @inspect gain
    assert many.shape == (200, 8)
    assert math.isclose(gain, std_of_a_cut_normal(3.0) ** (2 * 3), rel_tol=0.05)
    # What waits for the way back are the activations: two layers of 8×64, and the 8 numbers, first
    # as a column. Taking off the axis is a view and takes nothing.
    assert forward.live_bytes["activations"] == 4 * (2 * 8 * 64 + 8) == 4128


def parameters_are_counted_by_name():  # M14.1 M14.2 E58
    """Parameters are counted by name.

    How many parameters does it have? Every module can list them, with names that say where in the
    model they are.
    """
    D = 64
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, 2, generator)
    shapes = {name: tuple(weight.shape) for name, weight in model.named_parameters()}
    sizes = {name: weight.numel() for name, weight in model.named_parameters()}  # @inspect sizes
    assert sizes == {"layers.0.weight": 4096, "layers.1.weight": 4096, "final.weight": 64}
    drawn = figures.matrices_to_scale(shapes)  # @inspect drawn
    # Two squares and a column: $2D^2+D$.
    total = sum(sizes.values())
    assert total == 2 * D**2 + D == 8256
    # A common mistake is $D^2+D$, one square for the whole stack: right for L = 1 only.
    by_layers = {
        L: sum(weight.numel() for weight in LinearStack(D, L, generator).parameters())
        for L in (1, 2, 3)
    }  # @inspect by_layers
    assert by_layers == {1: 4160, 2: 8256, 3: 12_352}
    # It pays to check the sum against the memory that is taken: 4 bytes for each.
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
    are parameters or modules. It does not look into lists or dictionaries.
    """
    D = 4
    generator = torch.Generator().manual_seed(0)
    model = ForgetfulStack(D, generator)
    names = [name for name, _ in model.named_parameters()]  # @inspect names
    assert names == ["final.weight"]
    # A common mistake, and a quiet one. The model computes; the layers get gradients; and an
    # optimizer that asks for the parameters will never change them.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    first, second = (layer.weight for layer in model.layers)
    before = first.detach().clone()
    y = torch.ones(1, D) @ first @ second @ model.final.weight
    y.sum().backward()
    assert torch.allclose(first.grad, (second @ model.final.weight).T.expand(D, D))
    head = model.final.weight
    changed = head.detach() - 0.5 * head.grad
    optimizer.step()
    assert torch.equal(head, changed)
    assert torch.equal(first, before)
    # Counting finds it: there should be $2D^2+D$.
    assert sum(weight.numel() for weight in model.parameters()) == 4
    model.layers = torch.nn.ModuleList(model.layers)
    assert sum(weight.numel() for weight in model.parameters()) == 2 * D**2 + D == 36


def a_state_dict_names_every_tensor():  # M14.2
    """A state dict names every tensor.

    What has to be [saved](#a_checkpoint_holds_parameters_and_state) to have the same model again?
    Its numbers. The `state_dict` is a dictionary of names and tensors; the program is not in it.
    """
    D, L = 8, 2
    generator = torch.Generator().manual_seed(0)
    model, other = (LinearStack(D, L, generator) for _ in range(2))
    with measure() as cost:
        state = model.state_dict()
    assert list(state) == ["layers.0.weight", "layers.1.weight", "final.weight"]
    assert sum(tensor.numel() for tensor in state.values()) == 2 * 8**2 + 8
    # It takes no memory, and this can surprise: its tensors *are* those of the model. What is kept
    # as "the best so far" goes on changing with every step, unless it is copied.
    assert cost.allocated_bytes == 0
    assert same_storage(state["final.weight"], model.final.weight)
    kept = {name: tensor.clone() for name, tensor in state.items()}
    with torch.no_grad():
        model.final.weight.zero_()
    assert state["final.weight"].abs().max() == 0
    # To load copies the numbers into the tensors that are there. Then both models are the same.
    model.load_state_dict(kept)
    other.load_state_dict(kept)
    x = torch.randn(3, D, generator=generator)
    assert torch.equal(model(x), other(x))
    assert model(x).shape == (3,)
    assert not same_storage(model.final.weight, other.final.weight)
    # Names are checked, and shapes: a model with another number of layers refuses.
    deeper = LinearStack(D, L + 1, generator)
    assert len(deeper.state_dict()) == 4
    with refused(RuntimeError) as error:
        deeper.load_state_dict(kept)
    assert error.message


def moving_a_model_keeps_its_parameters():  # M14.2 E61
    """Moving a model keeps its parameters.

    What does `model.to(...)` do? For a tensor it returns another one. A module changes itself, and
    its parameters stay the same objects with other numbers behind them.
    """
    model = LinearStack(4, 2, torch.Generator().manual_seed(0))
    before = list(model.parameters())
    assert len(before) == 2 + 1
    keeps_notes_at_once = torch.optim.Adagrad(model.parameters())
    keeps_notes_later = torch.optim.AdamW(model.parameters())
    model.to(torch.float64)
    # A move to another dtype goes the same way as one to another device, and can be seen anywhere.
    for old, new in zip(before, model.parameters(), strict=True):
        assert new is old
    assert all(weight.dtype == torch.float64 for weight in model.parameters())
    # So an optimizer that was made before still has the right parameters: AdamW works.
    model(torch.ones(2, 4, dtype=torch.float64)).sum().backward()
    weight = model.final.weight
    unmoved = weight.detach().clone()
    keeps_notes_later.step()
    assert not torch.equal(weight, unmoved)
    assert keeps_notes_later.state[weight]["exp_avg"].dtype == torch.float64
    # But what an optimizer has noted by then does not move. AdaGrad makes its notes when it is
    # made, AdamW at the first step. Hence the rule: first move the model, then make the optimizer.
    assert keeps_notes_at_once.state[weight]["sum"].dtype == torch.float32
    # Where things are is worth an assert.
    assert {weight.device.type for weight in model.parameters()} == {"cpu"}
    if torch.cuda.is_available():
        model.to("cuda")
        assert all(new is old for old, new in zip(before, model.parameters(), strict=True))
        assert {weight.device.type for weight in model.parameters()} == {"cuda"}
        assert keeps_notes_at_once.state[weight]["sum"].device.type == "cpu"
    else:
        skipped = "no CUDA device here: only the dtype was changed"  # @inspect skipped
    # The exception is `meta`, where there are no numbers: a model that goes there gets new
    # parameters, and an optimizer made before would hold on to the old ones.
    model.to("meta")
    assert not any(new is old for old, new in zip(before, model.parameters(), strict=True))


def a_deep_network_repeats_a_block():  # M14.3
    """A deep network repeats a block.

    How are deep models written? Not layer by layer: a *block* is described once and repeated.
    Here it is a linear layer and ReLU, in a Transformer it will be more.
    """
    B, D, L = 2, 4, 3
    generator = torch.Generator().manual_seed(0)
    model = DeepNetwork(D, L, generator)
    assert sum(weight.numel() for weight in model.parameters()) == L * D**2 == 48
    x = torch.randn(B, D, generator=generator)
    with measure() as forward:
        y = model(x)  # @inspect y
    assert y.shape == (2, 4)
    assert (y >= 0).all()
    # ReLU adds no parameters, and one FLOP for each number that passes.
    assert forward.matmul_flops == 2 * B * 48 == 192
    assert forward.other_flops == B * D * L == 24
    # A block takes what a block gives, so its shape can be relied on: four features in, four out.
    by_hand = x
    for block in model.blocks:
        by_hand = (by_hand @ block.linear.weight).relu()
    assert torch.equal(by_hand, y)
    # Memory [waiting for the way back](#a_weight_needs_what_it_multiplied): ReLU keeps its result,
    # which is also what the next product keeps of its input. One B×D per block, and no second one.
    assert forward.live_bytes["activations"] == 4 * B * D * L == 96


def a_mean_over_everything_meets_any_target():  # M14.3 E59
    """A mean over everything meets any target.

    The network gives four numbers for each row, and the target has one: take the mean. Over which
    axis? A common mistake is to write `.mean()`, which takes all of them.
    """
    y = torch.arange(8.0).view(2, 4)  # @inspect y
    target = torch.tensor([0.0, 1])
    by_row, by_all = y.mean(dim=1), y.mean()
    assert by_row.tolist() == [1.5, 5.5]
    assert by_all == 3.5
    # One number for all rows is broadcast to every target. PyTorch computes a loss, and warns.
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.nn.functional.mse_loss(by_row, target)
        assert caught == []
        torch.nn.functional.mse_loss(by_all, target)
    warning = str(caught[0].message).partition(". ")[0]  # @inspect warning
    assert "target size (torch.Size([2])) that is different to the input size" in warning
    # The loss will even go down. But one number cannot be 0 and 1. The best it can be is their
    # mean, and the loss stops at the variance of the targets.
    guesses = torch.arange(5.0) / 4
    losses = torch.stack([(guess - target).square().mean() for guess in guesses])
    assert losses.tolist() == [0.5, 0.3125, 0.25, 0.3125, 0.5]  # @inspect losses
    assert losses.min() == target.var(correction=0) == 0.25
    # A number for each row has no such floor: one step against its gradient meets both targets.
    answers = by_row.clone().requires_grad_()
    torch.nn.functional.mse_loss(answers, target).backward()
    assert (answers - answers.grad).tolist() == [0, 1]
    # The same happens to a column with a row of targets: every row meets every target, and only
    # the diagonal of these differences was meant.
    column = by_row.view(2, 1)
    assert (column - target).tolist() == [[1.5, 0.5], [5.5, 4.5]]


def linear_layers_collapse_into_one():  # M14.4
    """Linear layers collapse into one.

    Does a stack of linear layers learn more than one? It multiplies by one matrix after the other,
    and products can be multiplied first: $(xW_1)W_2=x(W_1W_2)$.
    """
    B, D, L = 8, 64, 3
    generator = torch.Generator().manual_seed(0)
    model = LinearStack(D, L, generator)
    x = torch.randn(B, D, generator=generator)
    with torch.no_grad():
        one_matrix = model.final.weight
        for layer in reversed(model.layers):
            one_matrix = layer.weight @ one_matrix
    with measure() as stacked:
        y = model(x)
    with measure() as collapsed:
        y_at_once = (x @ one_matrix)[:, 0]
    # All of it is one column of 64 numbers.
    assert one_matrix.shape == (64, 1)
    assert torch.allclose(y_at_once, y, atol=1e-5)
    # 12 352 parameters do what 64 could, for 193 times the FLOPs.
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters / one_matrix.numel() == 193
    assert stacked.matmul_flops == 193 * collapsed.matmul_flops
    assert collapsed.matmul_flops == 2 * B * D == 1024
    # Training is another matter. The gradient of a layer contains the layers above it, so a stack
    # does not [learn](https://arxiv.org/abs/1312.6120) as its one matrix would.
    y.sum().backward()
    above = model.layers[1].weight @ model.layers[2].weight @ model.final.weight
    through_all = x.sum(dim=0)[:, None] * above.T
    assert torch.allclose(model.layers[0].weight.grad, through_all, atol=1e-5)


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
    space of inputs and watch one output.
    """
    D, L = 16, 3
    generator = torch.Generator().manual_seed(0)
    linear, deep = LinearStack(D, L, generator), DeepNetwork(D, L, generator)
    assert sum(weight.numel() for weight in deep.parameters()) == 3 * 16**2
    start, direction = torch.randn(2, D, dtype=torch.float64, generator=generator)
    linear.double()
    deep.double()
    places = torch.linspace(-4, 4, 161, dtype=torch.float64)
    x = start + places.view(161, 1) * direction
    assert torch.allclose(x[60], start - direction)
    assert torch.allclose(x[160], start + 4 * direction)
    with torch.no_grad():
        heights = {"linear layers": linear(x), "with ReLU": deep(x).sum(dim=1)}
    # Second differences are zero where the curve is straight.
    bent = {name: y.diff().diff().abs() > 1e-9 for name, y in heights.items()}
    bends = {name: where.sum().item() for name, where in bent.items()}  # @inspect bends
    assert bends["linear layers"] == 0
    # With ReLU it is straight in pieces. The dots are where a unit of some layer goes on or off;
    # without a dot between three neighbours there is no bend.
    switches = switches_between(deep, x)
    walk = figures.outputs_along_a_line(places, heights, switches)  # @inspect walk
    assert not (bent["with ReLU"] & ~(switches[1:] | switches[:-1])).any()
    assert bends["with ReLU"] > 10
    # Here 48 units cut the line into this many pieces. How many there can be grows [exponentially
    # with the depth](https://arxiv.org/abs/1402.1869).
    pieces = 1 + switches.sum().item()  # @inspect pieces
    assert pieces == 36


def two_relus_make_an_absolute_value():  # M14.4
    """Two ReLUs make an absolute value.

    Which function is out of reach for linear layers? Without a bias they give $f(-x)=-f(x)$, so
    they can never be the absolute value. One ReLU for each half can.
    """
    y = torch.tensor([-2.0, -0.5, 0, 3])
    assert y.relu().tolist() == [0, 0, 0, 3]
    assert (y.relu() + (-y).relu()).tolist() == y.abs().tolist() == [2, 0.5, 0, 3]
    # The same with networks: to know linear layers at x is to know them at -x.
    B, D, L = 5, 16, 3
    generator = torch.Generator().manual_seed(0)
    linear, deep = LinearStack(D, L, generator), DeepNetwork(D, L, generator)
    x = torch.randn(B, D, generator=generator)
    assert torch.allclose(linear(-x), -linear(x))
    assert len(linear.layers) == len(deep.blocks) == 3
    # The deep network goes its own way at -x: it is never below zero, and not zero everywhere.
    assert (deep(x) + deep(-x)).shape == (5, 16)
    assert torch.minimum(deep(x), deep(-x)).min() == 0
    assert torch.maximum(deep(x), deep(-x)).max() > 0
    # This chapter in short: a model is made of modules, and its parameters have names by which they
    # are counted, saved and moved. Linear layers alone are one matrix, however many there are; a
    # nonlinearity between them makes them more.
