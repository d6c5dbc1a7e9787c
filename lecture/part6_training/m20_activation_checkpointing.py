"""Activation checkpointing: keep some results, and compute the others again."""

import functools
import math
import time
import warnings
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor
from torch.nn.functional import dropout
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

from lecture.lib.layers import gelu
from lecture.lib.segments import accumulate, gelu_layers, loss_by_segments, new_rows, new_weights
from lecture.lib.shapes import shape_checked
from lecture.lib.timing import time_call
from lecture.lib.transformer import Block, RotaryPositions
from lecture.part6_training import m20_figures as figures
from trace.costs import measure


def same_numbers(found: Iterable[Tensor], wanted: Iterable[Tensor]) -> bool:  # @stepover
    """Tell whether two rows of tensors are equal to the last bit."""
    return all(torch.equal(*pair) for pair in zip(found, wanted, strict=True))


class Recomputed(torch.autograd.Function):
    """Run a network and keep what enters it; run it again in the backward pass."""

    @staticmethod
    def forward(ctx: Any, network: Callable[..., Tensor], *entering: Tensor) -> Tensor:
        ctx.network = network
        ctx.save_for_backward(*entering)
        return network(*entering)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        entering = [tensor.detach().requires_grad_() for tensor in ctx.saved_tensors]
        with torch.enable_grad():
            result = ctx.network(*entering)
        return None, *torch.autograd.grad(result, entering, gradient)


def what_is_thrown_away_is_computed_again():  # M20.1 @core
    """What is thrown away is computed again.

    Activations wait in memory for the backward pass, and most of training memory can be theirs.
    Must they wait? They were computed from what entered the network. If we keep that, we can
    compute them again when needed. `Recomputed` does so in a few lines: its forward pass runs
    without autograd, so that nothing else is kept; its backward pass runs the network once more,
    now with autograd.
    """
    # @note Ask for both sides of the bargain before the claims: what do we save, and how many FLOPs
    # more, on top of six? Then ask who would take it, and when not.
    B, D, L = 6, 8, 4
    weights, x = new_weights(L, D), new_rows(B, D)
    kept_bytes, flops, gradients = {}, {}, {}
    for recompute in (False, True):
        with measure() as step:
            y = (
                Recomputed.apply(gelu_layers, x, *weights)
                if recompute
                else gelu_layers(x, *weights)
            )
            kept_bytes[recompute] = step.allocated_bytes - step.freed_bytes
            gradients[recompute] = torch.autograd.grad(y.sum(), [x, *weights])
        flops[recompute] = step.matmul_flops / (B * L * D * D)
    # Two tensors for each of four layers have become one, the result, beside the input that was
    # there before. (While the network is computed again all are back, unless it is [cut into
    # segments](#a_segment_comes_back_whole).)
    assert kept_bytes == {False: 2 * 4 * (4 * 6 * 8), True: 4 * 6 * 8}  # @inspect kept_bytes
    # The gradients are the same to the last bit, since the same operations ran on the same numbers.
    assert same_numbers(*gradients.values())
    # We paid for memory with FLOPs: per parameter and row 2 forward, 2 again, 4 backward. (An MFU
    # [does not count](#recomputed_flops_are_not_useful) the second time.)
    assert flops == {False: 2 + 4, True: 2 + 2 + 4}  # @inspect flops
    # This is *activation checkpointing*, also called gradient checkpointing or rematerialization. A
    # paper on it for deep networks promises [sublinear
    # memory](https://arxiv.org/abs/1604.06174). (The
    # [checkpoints](#a_checkpoint_holds_parameters_and_state) from which a run resumes are files.)


class Watch:
    """Sees results being computed, and later tells which are still in memory."""

    def __init__(self) -> None:
        self.times_made: Counter[str] = Counter()
        self.storages: dict[str, Callable[[], object]] = {}

    @shape_checked
    def see(self, name: str, x: Float[Tensor, "..."]) -> None:
        """Count a result, and remember its memory without keeping it alive."""
        self.times_made[name] += 1
        self.storages.setdefault(name, weakref.ref(x.untyped_storage()))

    def in_memory(self) -> list[str]:  # @stepover
        """Name the results that are still referenced."""
        return [name for name, storage in self.storages.items() if storage() is not None]


@shape_checked
def watched_layers(
    x: Float[Tensor, "B D"],
    weights: dict[int, Float[Tensor, "D D"]],
    activation: Callable[..., Tensor],
    watch: Watch,
) -> Float[Tensor, "B D"]:  # @stepover
    """Send rows through numbered layers: g is the matmul, h what the activation makes of it."""
    for number, weight in weights.items():
        g = x @ weight
        watch.see(f"g{number}", g)
        x = activation(g)
        watch.see(f"h{number}", x)
    return x


def fates_of_results(activation: Callable[..., Tensor], layers_each: int) -> dict[str, str]:
    """Run a step of four layers, and say what became of x, g1, h1, ... in between.

    With `layers_each`, segments of so many layers are recomputed.
    """
    weights, x = new_weights(4, 8), new_rows(6, 8)
    watch = Watch()
    watch.see("x", x)
    h = x
    for first in range(0, len(weights), layers_each or len(weights)):
        numbers = range(first, first + (layers_each or len(weights)))
        segment = {number + 1: weights[number] for number in numbers}
        if layers_each:
            h = checkpoint(watched_layers, h, segment, activation, watch, use_reentrant=False)
        else:
            h = watched_layers(h, segment, activation, watch)
    loss = h.square().sum()
    del h
    kept = watch.in_memory()
    loss.backward()
    again = [name for name, times in watch.times_made.items() if times > 1]
    return {
        name: "kept" if name in kept else "recomputed" if name in again else "freed"
        for name in watch.storages
    }


def everything_is_two_tensors_for_each_layer():  # M20.3 E70
    """Keeping everything means two tensors for each layer.

    What is there to throw away? A layer has two results: g from the matmul, and h from the
    activation function. The next layer needs h for the gradient of its weight. GELU needs g to know
    how steep it was there. What does ReLU need?
    """
    fates = {
        "GELU": fates_of_results(gelu, 0),
        "ReLU": fates_of_results(torch.relu, 0),
        "GELU, one layer at a time": fates_of_results(gelu, 1),
        "GELU, two layers at a time": fates_of_results(gelu, 2),
        "GELU, all four at once": fates_of_results(gelu, 4),
    }
    strips = figures.strips(fates)  # @inspect strips
    by_fate = {name: Counter(found.values()) for name, found in fates.items()}  # @inspect by_fate
    # So GELU [keeps both](#a_weight_needs_what_it_multiplied). With x it makes 2L + 1, as long as
    # the loss needs the last h.
    assert by_fate["GELU"] == {"kept": 2 * 4 + 1}
    # ReLU can tell from its result where it was flat, so g is freed, and L + 1 are kept.
    assert by_fate["ReLU"] == {"kept": 4 + 1, "freed": 4}
    # Recomputing every layer by itself makes GELU as frugal as ReLU.
    each, pairs, whole = list(by_fate.values())[2:]
    assert each == {"kept": 4 + 1, "recomputed": 4}
    # Longer segments keep less: what enters each, and what the loss needs. Everything between is
    # recomputed, but not the last h of a segment, which is kept already.
    in_pairs = fates["GELU, two layers at a time"]
    assert [name for name, fate in in_pairs.items() if fate == "kept"] == ["x", "h2", "h4"]
    assert pairs == {"kept": 1 + 2, "recomputed": 6}
    assert whole == {"kept": 1 + 1, "recomputed": 7}


def a_second_way_forward_makes_eight_of_six():  # M20.2
    """A second forward pass makes eight of six.

    What does it cost, and what does it save? We cut sixteen layers into segments of equal length,
    keep what enters a segment, and recompute everything inside. The unit of memory is one tensor of
    B×D. Guess which length costs most FLOPs.
    """
    B, D, L = 6, 8, 16
    weights, x = new_weights(L, D), new_rows(B, D)
    tensors_kept, flops, gradients = {}, {}, {}
    for layers_each in (0, 1, 2, 4, 8, 16):
        with measure() as step:
            loss = loss_by_segments(x, weights, layers_each)
            # x was there before, and the loss is a number more.
            kept_bytes = 4 * x.numel() + step.live_bytes["activations"] - 4
            gradients[layers_each] = torch.autograd.grad(loss, [x, *weights])
        tensors_kept[layers_each] = kept_bytes / (4 * B * D)  # @inspect tensors_kept
        flops[layers_each] = step.matmul_flops / (B * L * D * D)  # @inspect flops
    # Without recomputation 33 tensors wait, two for every layer and x. With it, x and one for each
    # segment.
    assert tensors_kept == {0: 33, 1: 1 + 16, 2: 1 + 8, 4: 1 + 4, 8: 1 + 2, 16: 1 + 1}
    # The cost does not depend on the segments, since each layer is run once more: eight FLOPs per
    # parameter and row instead of six, a third more, wherever the cuts are.
    assert flops == {0: 6, 1: 8, 2: 8, 4: 8, 8: 8, 16: 8}
    assert round(flops[16] / flops[0], 3) == 1.333  # @predict
    # The gradients are the same to the bit in all six cases.
    for found in gradients.values():
        assert same_numbers(found, gradients[0])
    # And on the clock? We time eight wider layers. A third more matmuls take about a third more of
    # the processor's time.
    wide, rows, seconds = new_weights(8, 512), new_rows(256, 512), {}
    for layers_each in (0, 4):
        call = functools.partial(loss_by_segments, rows, wide, layers_each)
        timing = time_call(lambda f=call: f().backward(), clock=time.process_time)  # @timed
        seconds[layers_each] = timing.best_seconds  # @timed
    slower = seconds[4] / seconds[0]  # @timed @inspect slower
    assert 1.1 < slower < 1.7  # @timed
    # The rule of 6 holds if x needs a gradient. If x is data, the first layer's backward pass has
    # one matmul less, and the recomputation saves none.
    data = x.detach()
    for layers_each in (0, 4):
        with measure() as step:
            loss_by_segments(data, weights, layers_each).backward()
        flops[layers_each] = step.matmul_flops / (B * L * D * D)
    assert (flops[0], flops[4]) == (6 - 2 / L, 8 - 2 / L)


def a_segment_comes_back_whole():  # M20.4 E72
    r"""A segment comes back whole.

    If the cost is the same, why not make one segment of all layers and keep nothing but x? Because
    the peak counts, and in the backward pass a whole segment is in memory again. With k layers in
    each of L/k segments, two tensors per layer: how large is the peak?
    """
    B, D, L = 6, 8, 18
    weights, x = new_weights(L, D), new_rows(B, D)
    most, timelines = {}, {}
    for layers_each in (0, 18, 9, 6, 3, 2, 1):
        with measure(timeline=True) as step:
            loss = loss_by_segments(x, weights, layers_each)
            forward = len(step.timeline)
            loss.backward()
        # One tensor of B×D is the unit again. The loss, one number, does not count.
        tensors = [moment["activations"] // (4 * B * D) for moment in step.timeline]
        timelines[layers_each] = tensors
        most[layers_each] = max(tensors[forward:])  # @inspect most
    over_time = figures.ways_over_time(
        {
            "all kept": timelines[0],
            "one segment of 18": timelines[18],
            "segments of 3": timelines[3],
        },
        "activations, in tensors B×D",
        "Activations during one step of 18 layers",
    )  # @inspect over_time
    # A common mistake is to wrap the whole network into one checkpoint. It keeps the least after
    # the forward pass. Then everything comes back at once: 35 tensors instead of 36, for a third
    # more FLOPs.
    assert (most[0], most[18]) == (36, 35)
    # Short segments leave many borders, long ones come back large: $L/k-1$ results are kept between
    # segments, and $2k-1$ come back, all but the last h of the segment.
    assert most == {0: 36, **{k: (18 // k - 1) + (2 * k - 1) for k in (18, 9, 6, 3, 2, 1)}}
    parts = figures.most_by_segment({k: most[k] for k in (1, 2, 3, 6, 9, 18)}, L)  # @inspect parts
    # The sum is smallest where both terms are equal, $L/k=2k$, so for $k=\sqrt{L/2}$: 3 layers, and
    # a peak of 10 tensors instead of 36. (The 2 stands for two tensors per layer; with one per
    # layer, as below, the rule is $k=\sqrt L$.)
    best = min(most, key=most.get)  # @inspect best
    assert best == math.sqrt(L / 2)
    assert most[best] == 10


class Buffer(dict[int, Tensor]):
    """Holds results by the number of their layer, and remembers how many it held at most."""

    most = 0

    def __setitem__(self, layer: int, result: Tensor) -> None:
        super().__setitem__(layer, result)
        self.most = max(self.most, len(self))


@torch.no_grad()
@shape_checked
def gradients_with_a_buffer(
    x: Float[Tensor, "B D"],
    weights: list[Float[Tensor, "D D"]],
    kept: set[int],
    hold_what_is_recomputed: bool,
) -> tuple[list[Float[Tensor, "D D"]], Buffer, list[int]]:  # @stepover
    """Go through tanh layers and back, by hand, with the results of some layers in a buffer.

    The loss is the sum of the last result. Returned are the gradients, the buffer, and the layers
    that were run again.
    """
    buffer, again = Buffer(), []
    h = x
    for layer, weight in enumerate(weights, start=1):
        h = (h @ weight).tanh()
        if layer in kept:
            buffer[layer] = h
    gradient = torch.ones_like(h)
    gradients = []
    for layer in range(len(weights), 0, -1):
        # The backward pass of a layer needs its result, which is here by now, and what entered it.
        start = max((held for held in buffer if held < layer), default=0)
        h = buffer.get(start, x)
        for lower in range(start + 1, layer):
            h = (h @ weights[lower - 1]).tanh()
            again.append(lower)
            buffer[lower] = h
            if not hold_what_is_recomputed:
                buffer.pop(lower - 1, None)
        gradient = gradient * (1 - buffer.pop(layer).square())
        gradients.append(h.T @ gradient)
        gradient = gradient @ weights[layer - 1].T
    return gradients[::-1], buffer, again


def what_is_on_the_shelf_need_not_be_made_again():  # M20.4
    """What is in the buffer need not be recomputed.

    How much must we recompute for how much memory? From here on we count in layers that keep one
    tensor each, and do forward and backward pass by hand, with a *recomputation buffer*. A layer is
    recomputed from the nearest result below it in the buffer, or from x. Nine layers, with every
    third result kept: in which order do the others come back?
    """
    L = 9
    weights, x = new_weights(L, 2), torch.ones(3, 2)
    with measure() as cost:
        gradients, buffer, again = gradients_with_a_buffer(x, weights, {3, 6, 9}, True)
    strip = figures.buffer_strip(L, {3, 6, 9}, again)  # @inspect strip
    # The backward pass begins at the end. Layer 9 needs what entered it, so layers 7 and 8 are run
    # again, from h6; later 4 and 5, then 1 and 2.
    assert again == [7, 8, 4, 5, 1, 2]
    # At most five results were held at a time: the three, and two that had come back.
    assert buffer.most == 3 + 2
    # The forward pass is one matmul for each layer, the backward pass two. The meter counted those,
    # and six more.
    assert cost.matmul_flops == 2 * 3 * 2 * 2 * (9 + 2 * 9 + 6)
    # Autograd finds the same gradients.
    h = x
    for weight in weights:
        h = (h @ weight).tanh()
    for mine, theirs in zip(gradients, torch.autograd.grad(h.sum(), weights), strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)


def keeping_nothing_costs_a_square():  # M20.4 E72
    r"""Never keeping anything costs a square.

    What are the extremes? Everything in the buffer, or nothing at all; and in between, results that
    are $\sqrt L$ layers apart. Guess how many layers are run again if nothing is ever kept.
    """
    counts = {}
    for L in (9, 16, 64, 100):
        root = math.isqrt(L)
        weights, x = new_weights(L, 2), torch.eye(2)
        plans = {
            "all": (set(range(L, 0, -1)), True),
            "every root": (set(range(L, 0, -root)), True),
            "the last": ({L}, True),
            "nothing, ever": ({L}, False),
        }
        found = {}
        for plan, (kept, hold) in plans.items():
            found[plan], buffer, again = gradients_with_a_buffer(x, weights, kept, hold)
            assert same_numbers(found[plan], found["all"])
            counts.setdefault(plan, {})[L] = (buffer.most, len(again))
    # With all L results kept, nothing is run again.
    assert counts["all"] == {9: (9, 0), 16: (16, 0), 64: (64, 0), 100: (100, 0)}
    # If we hold only what is in use, three results at most, each layer starts again at x: L - 1
    # layers, then L - 2, and so on. That adds up to L(L - 1)/2.
    assert counts["nothing, ever"] == {9: (3, 36), 16: (3, 120), 64: (3, 2016), 100: (3, 4950)}
    # The square is not the price of keeping nothing in the forward pass. If recomputed results are
    # held until they are used, less than one more forward pass is enough; but then the memory is as
    # full as if all had been kept.
    assert counts["the last"] == {9: (9, 8), 16: (16, 15), 64: (64, 63), 100: (100, 99)}
    # Every $\sqrt L$-th result is the middle way: about $2\sqrt L$ results in memory, most layers
    # run twice, none three times.
    assert counts["every root"] == {9: (5, 6), 16: (7, 12), 64: (15, 56), 100: (19, 90)}


def the_root_is_the_best_of_equal_steps():  # M20.4
    r"""The root is the best of equal steps.

    Why the root of L? With a result kept every k layers, L/k are in the buffer, and k - 1 more
    while a segment is being recomputed. We want the smallest $L/k+k-1$.
    """
    L = 64
    weights, x = new_weights(L, 2), torch.eye(2)
    by_step = {}
    for step in (1, 2, 4, 8, 16, 32, 64):
        _, buffer, again = gradients_with_a_buffer(x, weights, set(range(L, 0, -step)), True)
        by_step[step] = (buffer.most, len(again))  # @inspect by_step
    assert by_step == {k: (64 // k + k - 1, 64 - 64 // k) for k in (1, 2, 4, 8, 16, 32, 64)}
    # Two terms of fixed product, L/k and k, have the smallest sum when they are equal.
    assert min(by_step, key=by_step.get) == math.sqrt(64) == 8
    # Halving the memory is cheap: it takes half a forward pass more. Beyond the root there is
    # nothing to gain: larger steps cost memory and FLOPs.
    assert by_step[2] == (33, 32)
    assert by_step[8] == (15, 56)
    assert by_step[16] == (19, 60)
    never_any = gradients_with_a_buffer(x, weights, {L}, False)
    against_compute = figures.memory_against_recomputation(
        by_step, (never_any[1].most, len(never_any[2])), L
    )  # @inspect against_compute
    assert len(never_any[2]) == 64 * 63 / 2 == 2016


@torch.no_grad()
@shape_checked
def gradients_by_halves(
    x: Float[Tensor, "B D"],
    gradient: Float[Tensor, "B D"],
    weights: list[Float[Tensor, "D D"]],
    buffer: Buffer,
) -> tuple[Float[Tensor, "B D"], list[Float[Tensor, "D D"]]]:  # @stepover
    """Go through tanh layers and back: run to the middle, do the upper half, then the lower."""
    if len(weights) == 1:
        (weight,) = weights
        before_tanh = gradient * (1 - (x @ weight).tanh().square())
        return before_tanh @ weight.T, [x.T @ before_tanh]
    middle = len(weights) // 2
    h = x
    for weight in weights[:middle]:
        h = (h @ weight).tanh()
    place = len(buffer)
    buffer[place] = h
    gradient, upper = gradients_by_halves(h, gradient, weights[middle:], buffer)
    del buffer[place]
    gradient, lower = gradients_by_halves(x, gradient, weights[:middle], buffer)
    return gradient, lower + upper


def halves_of_halves_need_a_logarithm():  # M20.4
    r"""Halves of halves need a logarithm.

    Is the root the best there is? A segment that is recomputed is a network of its own, so it can
    be cut again. Keep the middle only, treat the upper half in the same way, then the lower.
    """
    counts = {}
    for L in (4, 16, 64):
        weights, x = new_weights(L, 2), new_rows(3, 2)
        buffer = Buffer()
        with measure() as cost:
            _, found = gradients_by_halves(x, torch.ones(3, 2), weights, buffer)
        at_once, _, _ = gradients_with_a_buffer(x, weights, set(range(L + 1)), True)
        assert same_numbers(found, at_once)
        # Two matmuls for each layer are the backward pass, and one is the first forward pass.
        layers_again = cost.matmul_flops / (2 * 3 * 2 * 2) - 3 * L
        counts[L] = (buffer.most, layers_again)  # @inspect counts
    # One result for each halving of the network, $\log_2 L$ in all; and for each of them half of
    # the layers are run once more, $\frac L2\log_2L$ in all.
    assert counts == {4: (2, 4), 16: (4, 32), 64: (6, 192)}
    assert all(again == L / 2 * math.log2(L) for L, (_, again) in counts.items())
    # So 64 layers fit into a buffer of six if each is run four times on average; every eighth
    # result needed fifteen places. For a chain of steps that cost alike, the best choice for a
    # buffer of any given size is [known](https://doi.org/10.1145/347837.347846).
    assert 1 + counts[64][1] / 64 == 4


def pytorch_stops_as_soon_as_it_can():  # M20.5
    """PyTorch stops as soon as it can.

    What does `checkpoint(..., use_reentrant=False)` do, which we used above? The same as
    `Recomputed`, built on *hooks*: a hook replaces each tensor that autograd would save by an empty
    placeholder. Unpacking the first placeholder in the backward pass triggers the recomputation,
    which stops when every placeholder has its tensor. What does that save?
    """
    B, D, L = 6, 8, 4
    weights, x = new_weights(L, D), new_rows(B, D)
    flops, gradients = {}, {}
    for way in ("keep", "by hand", "hooks"):
        with measure() as step:
            if way == "keep":
                y = gelu_layers(x, *weights)
            elif way == "by hand":
                y = Recomputed.apply(gelu_layers, x, *weights)
            else:
                y = checkpoint(gelu_layers, x, *weights, use_reentrant=False)
            gradients[way] = torch.autograd.grad(y.sum(), [x, *weights])
        flops[way] = (step.matmul_flops, step.other_flops)
    for found in gradients.values():
        assert same_numbers(found, gradients["keep"])
    # All matmuls are run again in both, and the last GELU by hand only: autograd had not saved its
    # result. (The meter counts 20 FLOPs for each number of a GELU, by convention.)
    again = [flops[way][0] - flops["keep"][0] for way in ("by hand", "hooks")]
    assert again == [2 * B * L * D * D] * 2 == [3072, 3072]
    others = [flops[way][1] - flops["keep"][1] for way in ("by hand", "hooks")]
    assert others == [4 * 20 * 6 * 8, 3 * 20 * 6 * 8]
    # The other form, `use_reentrant=True`, works as `Recomputed` does and has a trap. It asks only
    # its arguments whether they require a gradient. The weights of a module are not among them, so
    # around layers whose input is data it finds nothing, and trains none of them.
    layers = torch.nn.Linear(D, D, bias=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        untrained = checkpoint(layers, x.detach(), use_reentrant=True)
    assert not untrained.requires_grad
    warning = str(caught[0].message)  # @inspect warning
    assert "Gradients will be None" in warning
    assert checkpoint(layers, x.detach(), use_reentrant=False).requires_grad


@shape_checked
def layer_with_dropout(
    x: Float[Tensor, "B D"], weight: Float[Tensor, "D D"]
) -> Float[Tensor, "B D"]:  # @stepover
    """Multiply, and drop half of the results at random."""
    return dropout(x @ weight, 0.5)


def recomputing_needs_the_same_dice():  # M20.5
    """Recomputation needs the same random numbers.

    What if a network draws random numbers? *Dropout* sets results to zero at random during
    training. If the second forward pass drops others, the gradients belong to a network that never
    ran.
    """
    (weight,) = new_weights(1, 8)
    x = new_rows(6, 8)
    ways = {
        "keep": layer_with_dropout,
        "replay": functools.partial(checkpoint, layer_with_dropout, use_reentrant=False),
        "no replay": functools.partial(
            checkpoint, layer_with_dropout, use_reentrant=False, preserve_rng_state=False
        ),
    }
    losses, gradients, next_numbers, flops = {}, {}, {}, {}
    with torch.random.fork_rng(devices=[]):
        for way, layer in ways.items():
            torch.manual_seed(0)
            with measure() as step:
                loss = layer(x, weight).square().sum()
                (gradients[way],) = torch.autograd.grad(loss, weight)
            flops[way] = step.matmul_flops  # @inspect flops
            losses[way] = loss.item()  # @inspect losses
            next_numbers[way] = torch.rand(()).item()
    # One matmul forward, one again, one for the gradient of the weight.
    assert flops["replay"] == flops["no replay"] == 3 * (2 * 6 * 8 * 8)
    # PyTorch saves the state of its generators before a segment, restores it for the recomputation,
    # and afterwards returns to where it was.
    assert torch.equal(gradients["replay"], gradients["keep"])
    assert next_numbers["replay"] == next_numbers["keep"]
    # `preserve_rng_state=False` skips that to save time. A network with dropout is then wrong in a
    # way that is hard to see: the loss is the same, and the gradients are not.
    assert losses["keep"] == losses["replay"] == losses["no replay"]
    assert not torch.allclose(gradients["no replay"], gradients["keep"])
    assert next_numbers["no replay"] != next_numbers["keep"]


@shape_checked
def layer_with_own_generator(
    x: Float[Tensor, "B D"], weight: Float[Tensor, "D D"], generator: torch.Generator
) -> Float[Tensor, "B D"]:  # @stepover
    """Multiply, and drop half of the results by numbers of this generator."""
    y = x @ weight
    return y * (torch.rand(y.shape, generator=generator) < 0.5)


@shape_checked
def layer_with_saved_state(
    x: Float[Tensor, "B D"], weight: Float[Tensor, "D D"], state: UInt8[Tensor, " n"]
) -> Float[Tensor, "B D"]:  # @stepover
    """Do the same with a generator that starts from a given state."""
    generator = torch.Generator()
    generator.set_state(state)
    return layer_with_own_generator(x, weight, generator)


def only_known_dice_are_replayed():  # M20.5
    """Only PyTorch's own generators are restored.

    It is good practice to give [each purpose](#each_purpose_gets_its_own_stream) a random generator
    of its own. Does a checkpoint know about those? No: PyTorch saves the state of its own
    generators, one for each device.
    """
    (weight,) = new_weights(1, 8)
    x = new_rows(6, 8)
    generator = torch.Generator().manual_seed(0)
    state = generator.get_state()
    loss = layer_with_own_generator(x, weight, generator).square().sum()
    (right,) = torch.autograd.grad(loss, weight)
    generator.set_state(state)
    same_loss = (
        checkpoint(layer_with_own_generator, x, weight, generator, use_reentrant=False)
        .square()
        .sum()
    )
    assert same_loss == loss
    # The generator has moved on between the first time and the second, and nothing warns.
    (wrong,) = torch.autograd.grad(same_loss, weight)
    error_percent = (100 * (wrong - right).norm() / right.norm()).item()  # @inspect error_percent
    assert error_percent > 50
    # The fix is to pass the state and not the generator. What enters a segment is kept, so the
    # second forward pass starts where the first did.
    y = checkpoint(layer_with_saved_state, x, weight, state, use_reentrant=False)
    (right_again,) = torch.autograd.grad(y.square().sum(), weight)
    assert torch.equal(right_again, right)


def keep_products(
    context: Any, operator: Any, *arguments: Any, **more: Any
) -> CheckpointPolicy:  # @stepover
    """Keep the results of matmuls, and let everything else be recomputed."""
    if operator == torch.ops.aten.mm.default:
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE


def products_are_kept_and_the_rest_is_made_again():  # M20.5
    """Matmuls are kept and the rest is recomputed.

    Are all results equally expensive? A matmul with a D×D matrix costs 2D FLOPs for each number it
    makes, thousands in a large model; GELU counts as 20. Both numbers take four bytes. So keep
    the results of matmuls. *Selective* checkpointing asks for each operation what to do.
    """
    B, D, L = 6, 8, 16
    weights, x = new_weights(L, D), new_rows(B, D)
    measured, gradients = {}, {}
    rules = functools.partial(create_selective_checkpoint_contexts, keep_products)
    ways = {
        "keep": gelu_layers,
        "recompute": functools.partial(checkpoint, gelu_layers, use_reentrant=False),
        "keep products": functools.partial(
            checkpoint, gelu_layers, use_reentrant=False, context_fn=rules
        ),
    }
    for way, network in ways.items():
        with measure() as step:
            loss = network(x, *weights).square().mean()
            kept_bytes = 4 * x.numel() + step.live_bytes["activations"] - 4
            gradients[way] = torch.autograd.grad(loss, [x, *weights])
        flops = step.matmul_flops / (B * L * D * D)
        measured[way] = (kept_bytes / (4 * B * D), flops, step.other_flops)  # @inspect measured
        assert same_numbers(gradients[way], gradients["keep"])
    # About half of the memory, and not one matmul more: x, a g for each layer, and the last h.
    assert [measured[way][:2] for way in ways] == [(33, 6), (2, 8), (1 + 16 + 1, 6)]
    # Only GELU is run again, for all layers but the last. (In the backward pass all results of a
    # segment are there, as before; to keep the peak low, make segments short.)
    assert measured["keep products"][2] - measured["keep"][2] == 15 * 20 * 6 * 8


def keep_expensive_matmuls(
    width: int, context: Any, operator: Any, *arguments: Any, **more: Any
) -> CheckpointPolicy:  # @stepover
    """Keep matmuls of which each number is a sum over at least `width` terms."""
    products = (torch.ops.aten.mm.default, torch.ops.aten.bmm.default)
    if operator in products and arguments[0].shape[-1] >= width:
        return CheckpointPolicy.MUST_SAVE
    return CheckpointPolicy.PREFER_RECOMPUTE


def new_block(T: int, D: int, H: int, F: int) -> Block:  # @stepover
    """Make a block of a Transformer for sequences of T tokens."""
    rotary = RotaryPositions(D // H, T)
    return Block(D, H, F, rotary, generator=torch.Generator().manual_seed(0))


def attention_scores_are_cheap_to_make_again():  # M20.5
    """Attention scores are cheap to recompute.

    Which results of a Transformer are worth their bytes? A number from a matmul with a weight
    matrix is a sum over D terms or more; an attention score is one over the D/H features of a head.
    And each token has T scores in every head: much memory for little work.
    """
    B, D, H, F = 2, 8, 2, 24
    policy = functools.partial(keep_expensive_matmuls, D)
    rules = functools.partial(create_selective_checkpoint_contexts, policy)
    tensors_kept, flops = {}, {}
    for T in (2, 6):
        block, x = new_block(T, D, H, F), new_rows(B * T, D).view(B, T, D)
        run_again = functools.partial(checkpoint, block, use_reentrant=False)
        ways = {
            "keep": block,
            "recompute": run_again,
            "keep expensive": functools.partial(run_again, context_fn=rules),
        }
        for way, network in ways.items():
            with measure() as step:
                y = network(x)  # @stepover
                tensors_kept[way, T] = step.live_bytes["activations"] / (4 * B * T * D)
                y.sum().backward()  # @stepover
            flops[way, T] = step.matmul_flops
    # What a block keeps for each token grows with the context, by a number for every attention
    # weight: HT/D tensors of B×T×D. In GPT-2 XL, with 25 heads, 1600 features and 1024 tokens, that
    # is 16.
    grown = tensors_kept["keep", 6] - tensors_kept["keep", 2]  # @inspect tensors_kept
    assert grown == 2 * (6 - 2) / 8
    # The expensive matmuls do not grow: queries, keys, values, the output of attention, then 3 + 3
    # + 1 in the feed-forward network, which is three times as wide inside, and the block's result.
    assert [tensors_kept["keep expensive", T] for T in (2, 6)] == [3 + 1 + (3 + 3 + 1) + 1] * 2
    assert [tensors_kept["recompute", T] for T in (2, 6)] == [1, 1]
    # Recomputed are two matmuls over pairs of tokens (one where T reaches D), here 3.4 % of the
    # work. Recomputing the whole block costs 26 %, not a third: it stops before the last matmul,
    # whose result no backward pass needs.
    again = [flops["keep expensive", T] - flops["keep", T] for T in (2, 6)]  # @inspect flops again
    assert again == [2 * (2 * 2 * T * T * 8) for T in (2, 6)]
    more = [flops[way, 6] / flops["keep", 6] for way in ("keep expensive", "recompute")]
    assert [round(100 * (times - 1), 1) for times in more] == [3.4, 26.4]
    # [Selective recomputation](https://arxiv.org/abs/2205.05198) of attention was proposed for very
    # large models. [FlashAttention](#fused_attention_keeps_a_number_for_each_row) does it inside
    # one kernel, so with fused attention this trade is already made.


def taken_gradients(weights: list[Tensor]) -> list[Tensor | None]:  # @stepover
    """Take the gradients away from their weights."""
    gradients = [weight.grad for weight in weights]
    for weight in weights:
        weight.grad = None
    return gradients


def the_two_trades_multiply():  # M20.2 M20.4
    """The two trades multiply.

    [Gradient accumulation](#parts_of_a_batch_add_up_to_it) takes the rows of a batch in turns;
    checkpointing takes the layers of a network in turns. Can we have both savings?
    """
    B, D, L = 16, 8, 18
    weights, batch = new_weights(L, D), new_rows(B, D)
    most, flops, gradients, timelines = {}, {}, {}, {}
    ways = {"whole": (1, 0), "four parts": (4, 0), "segments": (1, 3), "both": (4, 3)}
    for way, (parts, layers_each) in ways.items():
        with measure(timeline=True) as step:
            accumulate(batch, weights, parts, layers_each)
        # In rows of D numbers; the loss, one number, is left out.
        timelines[way] = [moment["activations"] // (4 * D) for moment in step.timeline]
        most[way] = max(timelines[way])  # @inspect most
        flops[way] = step.matmul_flops / (B * L * D * D)  # @inspect flops
        gradients[way] = taken_gradients(weights)
    over_time = figures.ways_over_time(
        timelines, "activations, in rows of D", "Batch in parts, layers in segments"
    )  # @inspect over_time
    # All sixteen rows at once have two results in each layer and one in the squares of the loss.
    # Four micro-batches have those for four rows, segments of three layers have ten results, and
    # both together ten results for four rows.
    results = 2 * 18 + 1
    assert most == {
        **{"whole": 16 * results, "four parts": 4 * results},
        **{"segments": 16 * 10, "both": 4 * 10},
    }
    # The FLOPs are those of the segments alone.
    assert flops == {"whole": 6, "four parts": 6, "segments": 8, "both": 8}
    # The gradients are equal to the bit with segments, and up to the order of additions with
    # micro-batches.
    assert same_numbers(gradients["segments"], gradients["whole"])
    assert same_numbers(gradients["both"], gradients["four parts"])
    for added, whole in zip(gradients["both"], gradients["whole"], strict=True):
        assert (added - whole).norm() < 1e-5 * whole.norm()
    # What we can do now: pay for memory with FLOPs. One more forward pass, a third more FLOPs,
    # shrinks the activations from all layers to a few times the root of their number; what is cheap
    # to recompute goes first. `lecture.train --recompute` does it block by block.


def exercise_ninety_six_layers():  # M20.4 @exercise
    """Exercise: ninety-six layers.

    A network of 96 layers with GELU is cut into equal segments. Which lengths give the lowest peak,
    and how many tensors of B×D is it?
    """
    B, D, L = 2, 4, 96
    weights, x = new_weights(L, D), new_rows(B, D)
    most = {}
    for layers_each in (3, 6, 8, 12):
        with measure(timeline=True) as step:
            loss_by_segments(x, weights, layers_each).backward()
        most[layers_each] = max(m["activations"] // (4 * B * D) for m in step.timeline)
    # The best k is near $\sqrt{96/2}=6.9$, which divides nothing. 6 and 8 are equally good.
    assert most[6] == most[8] == min(most.values()) == 26  # @inspect most


def exercise_what_happens_to_the_mfu():  # M20.2 @exercise
    """Exercise: what happens to the MFU.

    A run reaches an [MFU](#utilization_is_useful_over_promised) of 50 %. You turn on checkpointing
    of every layer, and the GPU works as fast as before. What is the MFU now?
    """
    B, D, L = 6, 8, 16
    weights, x = new_weights(L, D), new_rows(B, D)
    flops = {}
    for layers_each in (0, 1):
        with measure() as step:
            loss_by_segments(x, weights, layers_each).backward()
        flops[layers_each] = step.matmul_flops
    # Useful FLOPs stay at 6 per parameter and token, and 8 are computed: three quarters of 50 %.
    mfu_percent = 50 * flops[0] / flops[1]  # @inspect mfu_percent
    assert mfu_percent == 37.5
