"""Gradients: what they say, how they are checked, and where they come from."""

import math

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part4_compute import m12_figures as figures
from trace.costs import measure


def a_gradient_says_how_the_loss_answers():  # M12.1
    """A gradient says how the loss answers.

    Which way should a parameter move to make the loss smaller? The *gradient* of the loss with
    respect to w has one number for each number of w: how fast the loss grows with it. A model with
    three parameters: $x\\cdot w$ should be 5, and the loss is half the square of the error.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.ones(3, requires_grad=True)
    prediction = x @ w
    error = prediction - 5
    loss = error.square() / 2
    assert prediction == 6
    assert loss == 0.5
    # By hand, from the end to the start. $\frac{1}{2}e^2$ grows with e at the rate e, which is 1
    # here. The error grows with the prediction at the rate 1, and the prediction with $w_i$ at the
    # rate $x_i$. The *chain rule* multiplies: the gradient is $e\cdot 1\cdot x$, or (1, 2, 3).
    by_hand = error.item() * x  # @inspect by_hand
    # `backward` walks the same way and leaves the gradient at the parameter. `retain_grad` has the
    # tensors in between keep theirs as well, for the picture.
    prediction.retain_grad()
    error.retain_grad()
    loss.retain_grad()
    loss.backward()
    assert w.grad.tolist() == by_hand.tolist() == [1, 2, 3]
    values = {"w": w, "prediction = x · w": prediction, "error = prediction − 5": error}
    graph = figures.value_graph({**values, "loss = ½ error²": loss}, x)  # @inspect graph
    # The data have no gradient, since nobody asked for one.
    assert x.grad is None
    # A small step against the gradient makes the loss smaller: the prediction moves by 0.05 times
    # $x\cdot x=14$, from 6 to 5.3.
    with torch.no_grad():
        w -= 0.05 * w.grad
    better_loss = ((x @ w - 5).square() / 2).item()  # @inspect better_loss
    assert round(better_loss, 4) == round(0.3**2 / 2, 4) == 0.045


@shape_checked
def half_square_error(w: Float[Tensor, " 3"]) -> Float[Tensor, ""]:
    """Return half the square of the error that x · w - 5 is, for x = (1, 2, 3)."""
    return (torch.tensor([1.0, 2, 3]) @ w - 5).square() / 2


def differences_check_a_gradient():  # M12.1
    """Differences check a gradient.

    Who checks the rules by which a gradient was derived? Move one parameter by a small step and
    look how the loss changes: no rules are needed.
    """
    w = torch.ones(3)
    step = 0.125
    forward_differences, central_differences = [], []
    for direction in torch.eye(3):
        here = half_square_error(w)
        above = half_square_error(w + step * direction)
        below = half_square_error(w - step * direction)
        forward_differences.append((above - here).item() / step)
        central_differences.append((above - below).item() / (2 * step))
    # Upwards only, the curvature gets in the way: the error is $\frac{1}{2}x_i^2$ times the step.
    assert forward_differences == [1 + 0.5 * 0.125, 2 + 2 * 0.125, 3 + 4.5 * 0.125]
    # One step up and one down, the curvature cancels. For a square, nothing else is left.
    assert central_differences == [1, 2, 3]  # @inspect forward_differences central_differences
    # PyTorch has such a check for any function, in fp64. It finds a slip that looks harmless:
    # `detach` takes a factor out of the way back, and half of the gradient of $w^2$ is lost.
    precise = w.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda w: w * w, precise)
    with refused(RuntimeError) as error:
        torch.autograd.gradcheck(lambda w: w * w.detach(), precise)
    assert error.message


def a_difference_needs_a_middling_step():  # M12.1
    """A difference needs a step of middling size.

    Why not the smallest step there is? Look at $w^3$, where the gradient is $3w^2$. The central
    difference with step s is $3w^2+s^2$, so smaller is better on paper.
    """
    w = torch.tensor(1.3).item()  # 1.3, rounded to fp32: both formats have this number
    errors = {}
    for dtype in (torch.float32, torch.float64):
        errors[str(dtype)] = {}
        for power in range(1, 41):
            step = 0.5**power
            above, below = torch.tensor([w + step, w - step], dtype=dtype)
            slope = (above * above * above - below * below * below) / (2 * step)
            errors[str(dtype)][power] = abs(slope.item() - 3 * w * w)
    error_by_step = figures.error_by_step(errors)  # @inspect error_by_step
    # Look at the chart from the right. While the step is large the error is $s^2$, in both formats.
    in_fp32, in_fp64 = errors.values()
    for found in (in_fp32, in_fp64):
        assert round(found[1], 6) == 0.5**2
        assert round(found[3], 5) == round(0.5 ** (2 * 3), 5)
    # But the two losses get closer with the step, and the digits they share cancel. What is left
    # is their rounding, divided by the step. fp32 rounds by up to $2^{-24}$, so the best step is
    # near the third root of that, $2^{-8}$.
    best = {dtype: min(found, key=found.get) for dtype, found in errors.items()}  # @inspect best
    assert 6 <= best["torch.float32"] <= 11
    # Where the step is lost in rounding, so is the gradient.
    assert in_fp32[40] == 3 * w * w
    # fp64 rounds by $2^{-53}$ and turns near $2^{-18}$.
    assert 15 <= best["torch.float64"] <= 21
    # So at its best, a difference has nearly six right digits in fp32 and nearly twelve in fp64.
    # This is why checks of gradients are done in fp64.
    least = [min(found.values()) for found in errors.values()]
    digits = [math.log10(3 * w * w / error) for error in least]  # @inspect digits
    assert [round(count, 2) for count in digits] == [5.82, 11.86]


def one_way_back_serves_all_parameters():  # M12.1 M12.4
    """One way back serves all parameters.

    Differences need no rules and no memory. Why does nobody train with them? Each parameter takes
    two more passes forward.
    """
    B, D, K = 4, 6, 5
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(B, D, dtype=torch.float64, generator=generator)
    w = torch.randn(D, K, dtype=torch.float64, generator=generator, requires_grad=True)
    with measure() as forward:
        loss = (x @ w).square().mean()
    with measure() as backward:
        loss.backward()
    by_differences = torch.zeros(D, K)
    with torch.no_grad(), measure() as differences:
        for place in range(D * K):
            moved = torch.zeros(D * K, dtype=torch.float64)
            moved[place] = 0.5
            above = (x @ (w + moved.view(D, K))).square().mean()
            below = (x @ (w - moved.view(D, K))).square().mean()
            by_differences.view(-1)[place] = above - below
    assert torch.allclose(by_differences, w.grad.float(), atol=1e-6)
    # The way back costs as much as the way forward, here in a model of one layer, and finds all 30
    # numbers. It never takes more than a few times the FLOPs of the way forward, whatever the
    # function: the ["cheap gradient principle"](https://arxiv.org/abs/1502.05767) that all of deep
    # learning rests on. Its price is memory, since the numbers of the way forward [have to be
    # kept](#a_weight_needs_what_it_multiplied).
    assert forward.matmul_flops == backward.matmul_flops == 2 * 4 * 6 * 5
    # The differences take 60 passes, and the gap grows with the number of parameters.
    assert differences.matmul_flops == 60 * forward.matmul_flops == 14_400


def autograd_records_where_numbers_come_from():  # M12.7
    """Autograd records where numbers come from.

    How does `backward` know the way? While the model runs forward, PyTorch's *autograd* writes
    down which operation made each tensor, from which others.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.ones(3, requires_grad=True)
    loss = half_square_error(w)
    node = loss.grad_fn
    way_back = []
    while node is not None:
        way_back.append(type(node).__name__)  # @inspect way_back
        node = next((before for before, _ in node.next_functions if before is not None), None)
    made_by = ["DivBackward0", "PowBackward0", "SubBackward0", "DotBackward0"]
    assert way_back == [*made_by, "AccumulateGrad"]
    # At the end is a *leaf*, a tensor that no recorded operation has made. Leaves that require a
    # gradient are where `backward` leaves one, in `.grad`.
    assert w.is_leaf
    assert not loss.is_leaf
    # A tensor in between hands its gradient on and forgets it, unless it is told to keep it.
    prediction = x @ w
    forgetful = prediction - 5
    prediction.retain_grad()
    (forgetful.square() / 2).backward()
    assert prediction.grad == 1
    assert not forgetful.retains_grad
    # Nothing is written down where nobody will ask. `detach` gives the same numbers, in the same
    # memory, without their past.
    with torch.no_grad():
        assert (x @ w).grad_fn is None
    assert prediction.detach().grad_fn is None
    assert same_storage(prediction.detach(), prediction)
    # Nobody has to derive gradients by hand, then. But what autograd keeps and what it computes has
    # to be paid for, and that is what the rest of this chapter measures.


def autograd_keeps_what_the_way_back_needs():  # M12.7
    """Autograd keeps what the way back needs.

    What does the record cost in memory? For each operation autograd keeps the numbers from which
    the gradients will be computed. For the product $xw$ that may be both factors.
    """
    B, D, K = 16, 8, 4
    x, w = torch.ones(B, D), torch.nn.Parameter(torch.ones(D, K))
    with measure() as step:
        loss = (x @ w).square().mean()
        mean = loss.grad_fn
        square = mean.next_functions[0][0]
        product = square.next_functions[0][0]
        # What a node has kept are its attributes that begin with `_saved`.
        assert same_storage(product._saved_self, x)
        # The gradient of x would need w. As nobody asked for it, w is not kept.
        assert product._saved_mat2 is None
        # The square keeps its input, 16·4 numbers that have no name in this program. The mean keeps
        # only how many numbers there were, and the loss is one more.
        assert square._saved_self.shape == (16, 4)
        assert step.live_bytes["activations"] == 4 * (B * K + 1) == 260
        loss.backward()
    # What was kept is let go on the way back, so one can go back only once.
    with refused(RuntimeError) as error:
        kept_tensor = product._saved_self
    assert error.message
    with refused(RuntimeError) as error:
        loss.backward()
    assert error.message
    # Gradients have taken its place: as many as parameters, however many rows the data have.
    live_bytes = step.live_bytes  # @inspect live_bytes
    assert live_bytes["gradients"] == w.untyped_storage().nbytes() == 4 * 8 * 4
    assert live_bytes["activations"] == 4
    assert x.grad is None


def gradients_add_up():  # M12.7
    """Gradients add up.

    What if a parameter is used twice? Then the loss depends on it in two ways, and its gradient is
    the sum over both.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.tensor([2.0, 3, 5], requires_grad=True)
    loss = x @ (w * w)
    loss.backward()
    assert w.grad.tolist() == [4, 12, 30]
    # Each use of w alone gives half of that.
    once, other = (w.detach().clone().requires_grad_() for _ in range(2))
    (x @ (once * other)).backward()
    assert torch.equal(once.grad, x * other)
    assert torch.equal(w.grad, once.grad + other.grad)
    # Autograd goes on adding across calls: a second `backward` adds to what is there.
    (x @ w).backward()
    assert w.grad.tolist() == [4 + 1, 12 + 2, 30 + 3]
    # So old gradients have to be cleared before the next step. An optimizer's
    # [`zero_grad`](#clearing_gradients_frees_their_memory) writes `None`, and lets go of the
    # tensor.
    w.grad = None
    # And a batch that is too large can be taken in parts, which is called [*gradient
    # accumulation*](#parts_of_a_batch_add_up_to_it).
    rows = torch.tensor([[1.0, 2, 3], [0, 1, 4]])
    for row in rows:
        (row @ w).backward()
    (at_once,) = torch.autograd.grad(rows @ w, w, torch.ones(2))
    assert w.grad.tolist() == at_once.tolist() == [1, 3, 7]
