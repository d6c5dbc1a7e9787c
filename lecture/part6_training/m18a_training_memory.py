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


def four_things_fill_the_memory():  # M18.1 @core
    """Four things fill the memory.

    What is in memory while a model is trained? Its parameters; their gradients; the optimizer
    state; and the *activations*, results of the forward pass that the backward pass will need. (A
    batch of tokens is small beside them.) Which of them are there at the same time? We watch two
    steps.
    """
    # @note Follow the chart with a finger and name what is being done: forward, backward, step, and
    # again. Before the last claims, ask which of the two steps has the higher peak.
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
    over_time = figures.memory_over_time(cost.timeline[built:])  # @inspect over_time
    # In bytes: four per parameter, and B×D numbers from each of the layers. The loss leaves numbers
    # of its own, 16 means of rows and itself. (The spikes are tensors that live for one operation.)
    parameters, activations = 4 * L * D**2, 4 * (B * D * L + B + 1)
    # Activations come in the forward pass. In the backward pass gradients take their place.
    assert seen["forward", 1] == [parameters, 0, 0, activations]
    assert seen["backward", 1] == [parameters, parameters, 0, 4]
    # AdamW makes its two numbers per parameter in the first step and keeps them permanently.
    assert seen["step", 1] == [parameters, 0, 2 * parameters, 0]
    # So the second step finds less room than the first: a run that got through one step may still
    # run out of memory. So try two.
    assert seen["forward", 2] == [parameters, 0, 2 * parameters, activations]
    totals = [sum(moment.values()) for moment in cost.timeline]
    assert totals.index(cost.peak_bytes) > len(totals) / 2


def a_small_model_takes_496_bytes():  # M18.2 E71 E52
    r"""A small model takes 496 bytes by the formula, and 504 by count.

    Count with me: two linear layers of width 4 and an output layer, two rows of data, and AdaGrad,
    which keeps one number per parameter. All in fp32. A short formula adds parameters, gradients,
    state and $B\cdot D$ activations per layer: $4(3N+BDL)$ bytes.
    """
    B, D, L = 2, 4, 2
    model = LinearStack(D, L, torch.Generator().manual_seed(0))  # @stepover
    optimizer = AdaGrad(model.parameters())  # @stepover
    N = sum(weight.numel() for weight in model.parameters())
    formula_bytes = 4 * (3 * N + B * D * L)
    assert (N, formula_bytes) == (36, 496)
    x = torch.ones(B, D)
    with measure() as step:
        y = model(x)
        activations_bytes = step.live_bytes["activations"]
        y.square().mean().backward()
        optimizer.step()
    live_bytes = step.live_bytes  # @inspect live_bytes
    assert live_bytes["gradients"] == live_bytes["optimizer state"] == 4 * N
    # The activations are more than the formula says. It leaves out the output, a number for each
    # row; and x, which the first layer needs in the backward pass.
    assert activations_bytes == 4 * (B * D * L + B)
    counted_bytes = 4 * 3 * N + activations_bytes
    assert counted_bytes == 504  # @inspect counted_bytes
    assert counted_bytes + held_bytes(x) == 536  # @predict
    # FLOPs have an exception, too. The rule says $6BN=432$. But the first layer does two matmuls
    # and not three, because the data need no gradient.
    assert step.matmul_flops == 6 * B * N - 2 * B * D * D


def the_sum_is_for_one_optimizer():  # M18.3 E60
    """The sum holds for one optimizer.

    Now take parameters, gradients and activations in bf16, two bytes a number. Does the optimizer
    state halve as well? It should not: by PyTorch's default, AdamW's average of squares fades by a
    thousandth in each step, which [bf16 cannot resolve](#small_updates_are_lost). So ours keep
    their state in fp32.
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
    # 48 parameters, and B·D = 8 numbers from each of three blocks.
    assert list(parts["AdamW"].values()) == [2 * 48, 2 * 48, 8 * 48, 2 * 8 * 3]
    # The state takes 8 bytes per parameter, 4, or none, as it does for weights in fp32. So
    # check that the sum is for the optimizer that the program uses: here it is a factor of 2.6.
    assert [parts[name]["state"] / 48 for name in parts] == [8, 4, 0]
    totals = {name: sum(found.values()) for name, found in parts.items()}  # @inspect totals
    assert round(totals["AdamW"] / totals["SGD"], 1) == 2.6


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

    You will see 8, 12, 16 and 18 bytes per parameter quoted; each is right for some recipe, that
    is, for some formats and some optimizer. Parameters, gradients and state do not grow with the
    data, so a recipe has a [price for each parameter](#bytes_per_parameter_depend_on_the_recipe).
    We measure it after one step of each.
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
    # In bf16: half for weight and gradient, the averages as before. With a *master copy* of the
    # weights in fp32 nothing is left of the saving. It is there because bf16 [rounds small updates
    # away](#bf16_weights_stop_learning). (Sums of gradients in fp32 bring it to 18.)
    assert totals[4:6] == [2 + 2 + (4 + 4), 2 + 2 + 4 + (4 + 4)]
    # After a step with a master copy, the weights are those of fp32, rounded.
    whole = torch.full((1000,), 5 / 512)
    rounded = whole.bfloat16()
    bytes_per_parameter(rounded, AdamWWithMaster)
    bytes_per_parameter(whole, AdamW)
    assert torch.equal(rounded, whole.bfloat16())
    # PyTorch's AdamW keeps its averages [in the format of the
    # weights](#an_optimizer_is_paid_for_in_memory). If you call `model.bfloat16()` and go on as
    # before, you train with the last recipe: 8 bytes, and with the default $\beta_2$ an average of
    # squares that never fades.
    assert totals[6] == 2 + 2 + (2 + 2)


def an_optimizer_needs_room_to_work():  # M18.4
    """An optimizer needs room to work.

    Is its state all that an optimizer takes? During a step it makes temporary tensors, such as
    roots and updates. We measure them for ten tensors of a thousand parameters.
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
    # Ours and PyTorch's plain loop work on one tensor at a time. PyTorch's makes up to three others
    # of its size.
    assert at_work["ours"] == 1 / 10 < at_work["PyTorch, one by one"] <= 3 / 10
    # On a GPU PyTorch's default is `foreach`, which treats all tensors at once. It launches few
    # kernels, and its temporary tensors are as large as all parameters together: four bytes per
    # parameter on top of the sixteen, and more in AdaGrad.
    assert 1 <= at_work["PyTorch, foreach"] < at_work["PyTorch, AdaGrad foreach"]
    # `fused` reads, changes and writes each parameter in one kernel, with nothing in between. So
    # use it where memory is short.
    assert at_work["PyTorch, fused"] == 0


@shape_checked
def tensors_kept(
    network: Callable[..., Tensor], weights: list[Float[Tensor, "..."]]
) -> list[Float[Tensor, "..."]]:  # @stepover
    """Run a network, and return what autograd keeps for the backward pass besides the weights."""
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

    Why keep activations at all? The [gradient of a weight
    matrix](#the_gradient_of_a_weight_sums_over_the_batch) is $x^Tg$, where $x$ entered its layer in
    the forward pass and $g$ arrives in the backward pass. So $x$ has to wait, longest in the first
    layer. How many tensors wait in a network of L layers?
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
    # Matmuls alone keep what enters them: L tensors, the first of which is x.
    assert [counts["linear", L] for L in (1, 2, 5)] == [1, 2, 5]
    # An activation function has needs of its own. ReLU can tell its slope from its result, which
    # the next matmul keeps anyway: one tensor more for the last. GELU needs what it was given, a
    # second tensor for each layer.
    assert [counts["ReLU", L] for L in (1, 2, 5)] == [1 + 1, 2 + 1, 5 + 1]
    assert [counts["GELU", L] for L in (1, 2, 5)] == [2 * 1, 2 * 2, 2 * 5]
    # So one formula B·D·L cannot be right for all three. Which tensors are kept is a property of
    # each operation: look it up with a hook, as here, and do not guess.


def what_is_frozen_needs_no_activations():  # M18.5
    """Fine-tuning keeps what its gradients need.

    *Fine-tuning* often trains some layers and freezes the rest. Does that save activations? Guess
    for four linear layers with ReLU: what is kept if only the last layer is trained, and what if
    only the first?
    """
    L = 4
    x, kept = torch.ones(6, 8), {}
    for trained in ((0, 1, 2, 3), (2, 3), (3,), (0,), ()):
        weights = [torch.eye(8).requires_grad_(layer in trained) for layer in range(L)]

        def network(weights: list[Tensor] = weights) -> Tensor:
            return functools.reduce(lambda h, weight: (h @ weight).relu(), weights, x)

        kept[trained] = len(tensors_kept(network, weights))  # @stepover
        assert network().requires_grad == bool(trained)
    # Each of four ReLUs needs its result, and the first matmul what entered it, here x.
    assert kept[0, 1, 2, 3] == 4 + 1  # @predict
    # Training the upper half keeps the upper half and what enters it: the backward pass ends there.
    assert kept[2, 3] == 2 + 1  # @predict
    assert kept[3,] == 1 + 1  # @predict @inspect kept
    # Training the first layer alone keeps everything: the backward pass leads through every ReLU,
    # and each has to know where it was flat. So few trained parameters need not mean few
    # activations, [nor little work](#frozen_weights_still_pass_gradients_on).
    assert kept[0,] == kept[0, 1, 2, 3]
    assert kept[()] == 0  # @predict


def inference_keeps_the_layer_at_hand():  # M18.5 E117
    """Inference keeps one layer at a time.

    And if nothing requires a gradient? Then a result is needed only until the next layer has used
    it. How does the peak grow with the number of layers?
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
    # Not at all. In tensors of B×D there are three at any depth: what enters a layer, its matmul's
    # result, and what ReLU makes of that. In training they add up.
    assert [inference for _, inference in peaks.values()] == [3, 3, 3, 3]  # @inspect peaks
    assert [training for training, _ in peaks.values()] == [L + 1 for L in (2, 4, 8, 16)]
    # This holds for a single forward pass. A Transformer that decodes token by token keeps [keys
    # and values](#a_cache_reads_each_token_once) of all earlier tokens, in all layers.


def stale_gradients_take_room():  # M18.1
    """Stale gradients take room.

    Does it matter when gradients are cleared? `zero_grad`
    [frees](#clearing_gradients_frees_their_memory) their memory, so that activations can use it. It
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
    # With zeros, activations and gradients are there at once: the peak is higher by one number for
    # each parameter.
    assert peaks[16, False] - peaks[16, True] == 4 * (4 * 8**2)
    # With two rows it is half of that. They make so few activations that without zeros the peak is
    # at the end of the backward pass, where gradients are in any case.
    assert peaks[2, False] - peaks[2, True] == 2 * (4 * 8**2)


def peak_bytes(B: int, D: int, L: int, number_bytes: int, state_numbers: int) -> int:
    """Return the most that a step of the deep network has in memory, by formula.

    The state is in fp32, and an optimizer that has one takes roots of a matrix at a time.
    """
    rows_bytes, matrix_bytes = number_bytes * B * D, number_bytes * D**2
    always_bytes = rows_bytes + L * (matrix_bytes + state_numbers * 4 * D**2)
    roots_bytes = 4 * D**2 * (state_numbers > 0)
    moments = (
        (L + 2) * rows_bytes + 2 * number_bytes,  # the backward pass begins
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


def a_formula_foretells_the_peak():  # M18.1 M18.3
    """A formula predicts the peak.

    Can we know the peak before the run? Parameters, state and data are always there. On top comes
    the largest of four moments. When the backward pass begins, all L activations wait, and two more
    B×D tensors are live: the incoming gradient and a temporary. When it comes to the first layer,
    all gradients but one are there, and three B×D tensors. When it ends, all gradients and one such
    tensor. In the optimizer's step, all gradients and the roots of one matrix.
    """
    # `peak_bytes` is that sentence in code, and right to the byte for all of these models.
    state_numbers = {SGD: 0, AdaGrad: 1, AdamW: 2}
    assert all(
        peak_bytes(B, D, L, dtype.itemsize, state_numbers[optimizer])
        == measured_peak_bytes(B, D, L, dtype, optimizer)
        for B, D, L in itertools.product((2, 6, 16), (4, 8), (1, 4))
        for dtype in (torch.float32, torch.bfloat16)
        for optimizer in state_numbers
    )  # @stepover
    # Now take width 8, four layers, fp32 and AdamW, and more and more rows. While they are few, the
    # peak is in the optimizer: a row costs its data only. Later each row costs seven vectors of D
    # numbers: its data, four activations, and two tensors of the backward pass.
    D, L = 8, 4
    peaks = {B: measured_peak_bytes(B, D, L, torch.float32, AdamW) for B in range(1, 17)}
    predicted = {B: peak_bytes(B, D, L, 4, 2) for B in peaks}  # @stepover
    assert peaks == predicted
    by_rows = figures.peak_by_rows(peaks, predicted)  # @inspect by_rows
    growth = [(more - less) / (4 * D) for less, more in itertools.pairwise(peaks.values())]
    assert growth[:4] == [1] * 4
    assert growth[-8:] == [1 + L + 2] * 8  # @inspect growth
    # What we can do now: name the four parts, price a recipe per parameter and a batch per row, and
    # predict the peak as the largest of a few moments.


def exercise_adagrad_on_bf16_weights():  # M18.4 @exercise
    """Exercise: AdaGrad on bf16 weights.

    How many bytes per parameter does our AdaGrad take with weights and gradients in bf16? And is
    that less than AdamW with everything in PyTorch's bf16?
    """
    bf16 = torch.ones(1000).bfloat16()
    ours = sum(bytes_per_parameter(bf16, AdaGrad).values())  # @inspect ours
    theirs = sum(bytes_per_parameter(bf16, torch.optim.AdamW).values())  # @inspect theirs
    # 2 + 2 and 4 for the sum in fp32: as much as four numbers in bf16.
    assert ours == 2 + 2 + 4 == theirs


def exercise_train_the_last_two():  # M18.5 @exercise
    """Exercise: train the last two of six layers.

    Six linear layers with GELU, of which only the last two are trained. How many tensors wait for
    the backward pass?
    """
    x = torch.ones(6, 8)
    weights = [torch.eye(8).requires_grad_(layer >= 4) for layer in range(6)]

    def network() -> Tensor:
        return functools.reduce(lambda h, weight: gelu(h @ weight), weights, x)

    kept = tensors_kept(network, weights)
    # What enters each of the two matmuls, and what enters each GELU. The four frozen layers keep
    # nothing, since no gradient goes further down.
    assert len(kept) == 2 * 2
