"""Training memory: parameters, gradients, optimizer state and activations."""

import functools
import itertools
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.layers import DeepNetwork, LinearStack, gelu, loss_of_rows
from lecture.lib.memory import held_bytes, same_storage
from lecture.lib.optim import SGD, AdaGrad, AdamW
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m18a_figures as figures
from trace.costs import measure


def four_things_fill_the_memory():  # M18.1
    """Four things fill the memory.

    What is in memory while a model is trained? Its parameters; their gradients; what the optimizer
    remembers from step to step; and the activations, results of the way forward that the way back
    will need. (And a batch of data, which is small.) Watch two steps from the start.
    """
    B, D, L = 16, 8, 4
    seen = {}
    generator = torch.Generator().manual_seed(0)
    with measure(timeline=True) as cost:
        model = DeepNetwork(D, L, generator)  # @stepover
        optimizer = AdamW(model.parameters())  # @stepover
        x = torch.randn(B, D, generator=generator)
        built = len(cost.timeline)
        for step in (1, 2):
            loss = loss_of_rows(model(x))  # @stepover
            seen["forward", step] = list(cost.live_bytes.values())[:4]
            loss.backward()
            seen["backward", step] = list(cost.live_bytes.values())[:4]
            del loss
            optimizer.step()
            optimizer.zero_grad()
            seen["step", step] = list(cost.live_bytes.values())[:4]
    # The spikes are tensors that live for one operation.
    over_time = figures.memory_over_time(cost.timeline[built:])  # @inspect over_time
    # In bytes: four per parameter, and a result of B×D from each of the layers. The loss leaves
    # numbers of its own, 16 means of rows and itself.
    parameters, activations = 4 * L * D**2, 4 * (B * D * L + B + 1)
    # Each part has its own time. Activations come on the way forward. On the way back, gradients
    # take their place.
    assert seen["forward", 1] == [parameters, 0, 0, activations]
    assert seen["backward", 1] == [parameters, parameters, 0, 4]
    # AdamW makes its two numbers per parameter in the first step and keeps them for good.
    assert seen["step", 1] == [parameters, 0, 2 * parameters, 0]
    # So the second step finds less room than the first: a training that got through one step may
    # still run out of memory.
    assert seen["forward", 2] == [parameters, 0, 2 * parameters, activations]
    totals = [sum(moment.values()) for moment in cost.timeline]
    assert totals.index(cost.peak_bytes) > len(totals) / 2


def a_small_model_takes_496_bytes():  # M18.2 E71 E52
    """A small model takes 496 bytes.

    Small enough to count on fingers: two linear layers of width 4 and a head, two rows of data, and
    AdaGrad, which remembers one number per parameter. All in fp32.
    """
    B, D, L = 2, 4, 2
    model = LinearStack(D, L, torch.Generator().manual_seed(0))  # @stepover
    optimizer = AdaGrad(model.parameters())  # @stepover
    parameters = sum(weight.numel() for weight in model.parameters())
    assert parameters == 2 * 4**2 + 4 == 36
    # The usual sum: parameters, gradients, state, and B·D activations in each layer.
    formula_bytes = 4 * (parameters + parameters + parameters + B * D * L)
    assert formula_bytes == 4 * (36 + 36 + 36 + 16) == 496
    x = torch.ones(B, D)
    with measure() as step:
        y = model(x)
        activations_bytes = step.live_bytes["activations"]
        y.square().mean().backward()
        optimizer.step()
    live_bytes = step.live_bytes  # @inspect live_bytes
    assert live_bytes["gradients"] == live_bytes["optimizer state"] == 4 * 36
    # The activations are more than the formula says: it leaves out the output, a number for each
    # row, and x, which the first layer needs. Beside wide layers they hardly count; x does if it
    # is long.
    assert activations_bytes == 4 * (B * D * L + B) == 72
    assert activations_bytes + held_bytes(x) == 4 * (16 + 2 + 8)
    # A common mistake is to expect $6\cdot B\cdot N=432$ FLOPs. The first layer multiplies twice
    # and not three times, as the data need no gradient. (And 12 bytes for each of 36 parameters
    # are 432, too: equal numbers are no proof.)
    assert 6 * B * parameters == 12 * parameters == 432
    assert step.matmul_flops == 432 - 2 * B * D * D == 368


def the_sum_is_for_one_optimizer():  # M18.3 E60
    """The sum holds for one optimizer.

    What if parameters, gradients and activations are in bf16, two bytes a number, as here in a deep
    network with three blocks? The optimizer should not follow: AdamW's average of squares fades by
    a thousandth in each step, which [bf16 cannot resolve](#small_updates_are_lost). So ours keep
    what they remember in fp32.
    """
    B, D, L = 2, 4, 3
    parts = {}
    for name, optimizer_class in (("AdamW", AdamW), ("AdaGrad", AdaGrad), ("SGD", SGD)):
        model = DeepNetwork(D, L, torch.Generator().manual_seed(0)).bfloat16()  # @stepover
        optimizer = optimizer_class(model.parameters())  # @stepover
        with measure() as step:
            y = model(torch.ones(B, D, dtype=torch.bfloat16))  # @stepover
            activation_bytes = step.live_bytes["activations"]
            loss_of_rows(y).backward()
            optimizer.step()
        parts[name] = {
            "weights": sum(map(held_bytes, model.parameters())),
            "gradients": step.live_bytes["gradients"],
            "state": step.live_bytes["optimizer state"],
            "activations": activation_bytes,
        }
    # 48 parameters, and eight numbers from each layer.
    assert list(parts["AdamW"].values()) == [2 * 48, 2 * 48, 8 * 48, 2 * 8 * 3] == [96, 96, 384, 48]
    totals = {name: sum(found.values()) for name, found in parts.items()}  # @inspect totals
    assert totals["AdamW"] == 624
    # A common mistake: the program says AdaGrad and the sum says AdamW. The state is 4 bytes per
    # parameter or 8, whatever the format of the weights; and none for plain SGD.
    assert [parts[name]["state"] / 48 for name in parts] == [8, 4, 0]
    assert totals == {"AdamW": 624, "AdaGrad": 432, "SGD": 240}


class AdamWWithMaster(AdamW):
    """AdamW for weights in few bits, which are rounded anew at each step from a copy in fp32."""

    def update(
        self, weight: Tensor, gradient: Tensor, state: dict[str, object], group: dict[str, object]
    ) -> None:
        master = state.pop("master") if state else weight.float()
        super().update(master, gradient.float(), state, group)
        state["master"] = master
        weight.copy_(master)


@shape_checked
def bytes_per_parameter(
    weight: Float[Tensor, " n"], make_optimizer: Callable[..., torch.optim.Optimizer]
) -> dict[str, float]:  # @stepover
    """Train for a step, and measure what each part keeps."""
    weight = torch.nn.Parameter(weight)
    optimizer = make_optimizer([weight])
    weight.square().sum().backward()
    optimizer.step()
    kept = {"weights": weight, "gradients": weight.grad, **optimizer.state[weight]}
    return {
        part: held_bytes(tensor) / weight.numel()
        for part, tensor in kept.items()
        if isinstance(tensor, Tensor) and tensor.shape == weight.shape
    }


def each_recipe_has_its_bytes_per_parameter():  # M18.4
    """Each recipe has its bytes per parameter.

    Parameters, gradients and state grow with the model, not with the data. So a recipe of training,
    its formats and its optimizer, has a [price for each
    parameter](#bytes_per_parameter_depend_on_the_recipe). The recipes that are in use, measured
    after one step of each:
    """
    fp32 = torch.ones(1000)
    bf16 = fp32.bfloat16()
    parts = {
        "SGD": bytes_per_parameter(fp32, SGD),
        "SGD, momentum": bytes_per_parameter(fp32, lambda weights: SGD(weights, momentum=0.9)),
        "AdaGrad": bytes_per_parameter(fp32, AdaGrad),
        "AdamW": bytes_per_parameter(fp32, AdamW),
        "AdamW on bf16": bytes_per_parameter(bf16, AdamW),
        "bf16 with master": bytes_per_parameter(bf16, AdamWWithMaster),
        "all in bf16": bytes_per_parameter(bf16, torch.optim.AdamW),
    }
    table = figures.bytes_by_recipe(parts)  # @inspect table
    totals = [sum(found.values()) for found in parts.values()]
    # In fp32: weight and gradient, and none, one or two numbers more.
    assert totals[:4] == [4 + 4, 4 + 4 + 4, 4 + 4 + 4, 4 + 4 + (4 + 4)]
    # In bf16: half for weight and gradient, the averages as before. With a *master*, a copy of the
    # weights in fp32, nothing is left of what was saved. It is kept because bf16 [rounds small
    # updates away](#bf16_weights_stop_learning).
    assert totals[4:6] == [2 + 2 + (4 + 4), 2 + 2 + 4 + (4 + 4)]
    # PyTorch's own AdamW keeps its averages [in the format of the
    # weights](#an_optimizer_is_paid_for_in_memory). Whoever calls `model.bfloat16()` and goes on as
    # before trains with the last recipe.
    assert totals[6] == 2 + 2 + (2 + 2)


def an_optimizer_needs_room_to_work():  # M18.4
    """An optimizer needs room to work.

    Is what an optimizer remembers all that it takes? While it computes, it makes tensors for a
    moment: roots, for one, and the updates. Ten matrices of a thousand parameters:
    """
    at_work = {}
    settings = {
        "ours": (AdamW, {}),
        "PyTorch, one by one": (torch.optim.AdamW, {"foreach": False}),
        "PyTorch, foreach": (torch.optim.AdamW, {"foreach": True}),
        "PyTorch, fused": (torch.optim.AdamW, {"fused": True}),
        "PyTorch, AdaGrad foreach": (torch.optim.Adagrad, {"foreach": True}),
    }
    for name, (optimizer_class, setting) in settings.items():
        weights = [torch.nn.Parameter(torch.ones(1000)) for _ in range(10)]
        optimizer = optimizer_class(weights, **setting)  # @stepover
        for _ in ("first step", "second step"):
            sum(weight.sum() for weight in weights).backward()
            with measure() as step:
                optimizer.step()
        at_work[name] = step.peak_bytes / (4 * 10 * 1000)  # @inspect at_work
    # Ours and PyTorch's loop work on one matrix at a time. PyTorch's makes up to three tensors of
    # its size.
    assert at_work["ours"] == 1 / 10 < at_work["PyTorch, one by one"] <= 3 / 10
    # On a GPU PyTorch prefers a form that treats all matrices in one go, `foreach`. It launches
    # few kernels, and makes tensors as large as all parameters together: four bytes per parameter
    # on top of the sixteen, and more in AdaGrad.
    assert 1 <= at_work["PyTorch, foreach"] < at_work["PyTorch, AdaGrad foreach"]
    # In one kernel, `fused`, each parameter is read, changed and written with nothing in between.
    assert at_work["PyTorch, fused"] == 0


@shape_checked
def tensors_kept(
    network: Callable[..., Tensor], weights: list[Float[Tensor, "..."]]
) -> list[Float[Tensor, "..."]]:  # @stepover
    """Run a network, and return what autograd keeps for the way back besides the weights."""
    kept: list[Tensor] = []

    def keep(tensor: Tensor) -> Tensor:
        if not any(same_storage(tensor, known) for known in (*weights, *kept)):
            kept.append(tensor)
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        network()
    return kept


def a_weight_needs_what_it_multiplied():  # M18.5 E70
    """A weight needs what it multiplied.

    Why keep activations at all? The [gradient of a
    weight](#the_gradient_of_a_weight_sums_over_the_batch) is $x^Tg$, with what entered its layer on
    the way forward and the gradient that comes back. The first is known long before the second. So
    it waits, and the first layer of a deep network waits longest.
    """
    x = torch.ones(6, 8)
    counts = {}
    for L in (1, 2, 5):
        weights = [torch.eye(8).requires_grad_() for _ in range(L)]
        for name, activation in (("linear", torch.clone), ("ReLU", torch.relu), ("GELU", gelu)):

            def network(weights=weights, activation=activation) -> Tensor:
                return functools.reduce(lambda h, weight: activation(h @ weight), weights, x)

            counts[name, L] = len(tensors_kept(network, weights))  # @inspect counts
            with torch.no_grad():
                assert tensors_kept(network, weights) == []
    # Products alone keep what enters them: L tensors, the first of which is x.
    assert [counts["linear", L] for L in (1, 2, 5)] == [1, 2, 5]
    # An activation function has needs of its own. ReLU looks at its result, which the next product
    # keeps anyway: only the last one is more. GELU looks at what it was given, and that is a
    # second tensor for each layer.
    assert [counts["ReLU", L] for L in (1, 2, 5)] == [1 + 1, 2 + 1, 5 + 1]
    assert [counts["GELU", L] for L in (1, 2, 5)] == [2 * 1, 2 * 2, 2 * 5]
    # A common mistake is to count B·D·L for all three. Which tensors are kept is a property of each
    # operation, and it is better looked up than guessed.


def what_is_frozen_needs_no_activations():  # M18.5
    """What is frozen needs no activations.

    So it should depend on which gradients are asked for. It does: autograd looks at what requires a
    gradient before it keeps anything. Four linear layers with ReLU:
    """
    B, D, L = 6, 8, 4
    kept = {}
    for trained in ((0, 1, 2, 3), (2, 3), (3,), (0,), ()):
        weights = [torch.eye(D).requires_grad_(layer in trained) for layer in range(L)]
        with measure() as forward:
            y = functools.reduce(lambda h, weight: (h @ weight).relu(), weights, torch.ones(B, D))
        kept[trained] = forward.live_bytes["activations"]  # @inspect kept
        assert y.requires_grad == bool(trained)
    assert kept[0, 1, 2, 3] == 4 * (4 * 6 * 8)
    # Training the upper half keeps the upper half, and the way back ends there.
    assert kept[2, 3] == 2 * (4 * 6 * 8)
    assert kept[3,] == 4 * 6 * 8
    # To train the first layer alone needs all of them: the way back leads through every ReLU, and
    # each has to know where it was flat. Few trained parameters do not mean few activations, [nor
    # little work](#frozen_weights_still_pass_gradients_on).
    assert kept[0,] == kept[0, 1, 2, 3]
    assert kept[()] == 0


def inference_keeps_the_layer_at_hand():  # M18.5 E117
    """Inference keeps the layer at hand.

    And if no gradients are asked for? Then a result is needed until the next layer has it.
    """
    B, D = 6, 8
    peaks = {}
    for L in (2, 4, 8, 16):
        model = DeepNetwork(D, L, torch.Generator().manual_seed(0))  # @stepover
        x = torch.ones(B, D)
        with measure() as training:
            model(x)  # @stepover
        with torch.inference_mode(), measure() as inference:
            model(x)  # @stepover
        peaks[L] = (training.peak_bytes / (4 * B * D), inference.peak_bytes / (4 * B * D))
    # In tensors of B×D: what enters a layer, its product, and what ReLU makes of it. It is the same
    # for every depth. In training, they add up.
    assert [inference for _, inference in peaks.values()] == [3, 3, 3, 3]  # @inspect peaks
    assert inference.peak_bytes == 3 * 4 * 6 * 8
    assert [training for training, _ in peaks.values()] == [L + 1 for L in (2, 4, 8, 16)]
    # This holds for one way forward. A Transformer that writes a text token by token keeps [keys
    # and values](#a_cache_reads_each_token_once) of all tokens before, in all layers.


def stale_gradients_take_room():  # M18.1
    """Stale gradients take room.

    Does it matter when gradients are cleared? `zero_grad` [lets
    go](#clearing_gradients_frees_their_memory) of their memory, so that activations can have it. It
    can also keep the tensors and fill them with zeros.
    """
    peaks = {}
    for B in (16, 2):
        for let_go in (True, False):
            model = DeepNetwork(8, 4, torch.Generator().manual_seed(0))  # @stepover
            x = torch.ones(B, 8)
            for _ in ("first step", "second step"):
                with measure() as step:
                    loss_of_rows(model(x)).backward()  # @stepover
                    gradient_bytes = sum(held_bytes(weight.grad) for weight in model.parameters())
                    model.zero_grad(set_to_none=let_go)
            # Old gradients were there before the step.
            peaks[B, let_go] = step.peak_bytes + (0 if let_go else gradient_bytes)  # @inspect peaks
    # With zeros, activations and gradients are there at once, and the peak is higher by one number
    # for each parameter.
    assert peaks[16, False] - peaks[16, True] == 4 * (4 * 8**2) == 1024
    # Two rows make so few activations that the peak is at the end of the way back, where there are
    # gradients in any case.
    assert peaks[2, False] - peaks[2, True] < 1024


def peak_bytes(B: int, D: int, L: int, number_bytes: int, state_numbers: int) -> int:
    """Return the most that a step of the deep network has in memory, by formula.

    The state is in fp32, and an optimizer that has one takes roots of a matrix at a time.
    """
    rows_bytes, matrix_bytes = number_bytes * B * D, number_bytes * D**2
    always_bytes = rows_bytes + L * (matrix_bytes + state_numbers * 4 * D**2)
    roots_bytes = 4 * D**2 * (state_numbers > 0)
    moments = (
        (L + 2) * rows_bytes + 2 * number_bytes,  # the way back begins
        (L - 1) * matrix_bytes + 3 * rows_bytes + 2 * number_bytes,  # it comes to the first layer
        L * matrix_bytes + rows_bytes + 2 * number_bytes,  # it ends
        L * matrix_bytes + roots_bytes + number_bytes,  # the optimizer steps
    )
    return always_bytes + max(moments)


def measured_peak_bytes(
    B: int, D: int, L: int, dtype: torch.dtype, optimizer_class: type[torch.optim.Optimizer]
) -> int:  # @stepover
    """Train the deep network for two steps and return the peak of the second."""
    with measure() as before:
        model = DeepNetwork(D, L, torch.Generator().manual_seed(0)).to(dtype)
        optimizer = optimizer_class(model.parameters())
        x = torch.ones(B, D, dtype=dtype)
        for _ in ("first", "second"):
            always_bytes = sum(before.live_bytes.values())
            with measure() as step:
                loss = loss_of_rows(model(x))
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
                del loss
    return always_bytes + step.peak_bytes


def a_formula_foretells_the_peak():  # M18.3 M18.4
    """A formula foretells the peak.

    Can the peak be known before the run? Parameters, state and data are always there. On top comes
    the largest of four moments. On the way back, activations go and gradients come, so it is
    highest at the beginning or in the first layer: two or three tensors of B×D more are in use, for
    the gradient that comes in and the one that goes on. At the end of it all gradients are there,
    and one such tensor. When the optimizer steps, there are the gradients, and roots for a matrix.
    """
    assert peak_bytes(2, 4, 3, 4, 2) == measured_peak_bytes(2, 4, 3, torch.float32, AdamW) == 868
    # It is right to the byte for all of these models.
    state_numbers = {SGD: 0, AdaGrad: 1, AdamW: 2}
    assert all(
        peak_bytes(B, D, L, dtype.itemsize, state_numbers[optimizer])
        == measured_peak_bytes(B, D, L, dtype, optimizer)
        for B, D, L in itertools.product((2, 6, 16), (4, 8), (1, 4))
        for dtype in (torch.float32, torch.bfloat16)
        for optimizer in state_numbers
    )  # @stepover
    # Width 8, four layers, fp32 and AdamW, with more and more rows. While they are few the peak is
    # in the optimizer: a row costs no more than its data, since there is room that is empty while
    # the model runs. Later each row costs seven: its data, four results, two gradients on the way.
    peaks = {B: measured_peak_bytes(B, 8, 4, torch.float32, AdamW) for B in range(1, 17)}
    foretold = {B: peak_bytes(B, 8, 4, 4, 2) for B in peaks}  # @stepover
    assert foretold == peaks
    by_rows = figures.peak_by_rows(peaks, foretold)  # @inspect by_rows
    growth_in_rows = [(more - less) / 32 for less, more in itertools.pairwise(peaks.values())]
    assert growth_in_rows == [1] * 4 + [3.125, 4, 4] + [1 + 4 + 2] * 8  # @inspect growth_in_rows
    # This chapter in short: parameters, gradients and state have a price for each parameter, which
    # the recipe sets; activations have one for each row, which the layers set. The peak is the
    # largest of a few moments, and can be known before the run.
