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

    We can price a forward pass. To train, we also need to know which way each parameter should move
    to make the loss smaller. That is what the *gradient* says: one number for each parameter, the
    rate at which the loss grows with it. Here is a model with three parameters. Its prediction
    $x\\cdot w$ should be 5, and the loss is half the square of the error.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.ones(3, requires_grad=True)
    prediction = x @ w
    error = prediction - 5
    loss = error.square() / 2
    assert loss == (6 - 5) ** 2 / 2  # @predict
    # By hand, from the end to the start. $\frac{1}{2}e^2$ grows with e at the rate e, which is 1
    # here. The error grows with the prediction at the rate 1, and the prediction with $w_i$ at the
    # rate $x_i$. The *chain rule* multiplies: the gradient is $e\cdot 1\cdot x$, or (1, 2, 3).
    by_hand = error.item() * x  # @inspect by_hand
    # `backward` does the same and leaves the gradient at the parameter, in `.grad`. To go from the
    # loss back to the parameters like this is called *backpropagation*, or the *backward pass*.
    # (`retain_grad` has the tensors in between keep their gradients as well, for the picture.)
    for tensor in (prediction, error, loss):
        tensor.retain_grad()
    loss.backward()
    assert torch.equal(w.grad, by_hand)
    values = {"w": w, "prediction = x · w": prediction, "error = prediction − 5": error}
    graph = figures.value_graph({**values, "loss = ½ error²": loss}, x)  # @inspect graph
    # The data x have no gradient, since nobody asked for one.
    assert x.grad is None
    # Does the gradient keep its word? A small step against it, of 0.05 times the gradient, moves
    # the prediction by $0.05\,x\cdot x=0.7$, from 6 to 5.3. So the loss should fall to $0.3^2/2$.
    with torch.no_grad():
        w -= 0.05 * w.grad
    better_loss = ((x @ w - 5).square() / 2).item()  # @inspect better_loss
    assert math.isclose(better_loss, 0.3**2 / 2, rel_tol=1e-5)


@shape_checked
def half_square_error(w: Float[Tensor, " 3"]) -> Float[Tensor, ""]:
    """Return half the square of the error that x · w - 5 is, for x = (1, 2, 3)."""
    return (torch.tensor([1.0, 2, 3]) @ w - 5).square() / 2


def differences_check_a_gradient():  # M12.1
    """Differences check a gradient.

    How would you know that a gradient is right? Move one parameter by a small step h and look how
    the loss changes. That takes no rules at all.
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
    # A step up only, $(L(w+h)-L(w))/h$, is off by half the curvature times h: here $x_i^2h/2$.
    assert forward_differences == [1 + 0.5 * 0.125, 2 + 2 * 0.125, 3 + 4.5 * 0.125]
    # One step up and one down, $(L(w+h)-L(w-h))/2h$, and the curvature cancels. For a square,
    # nothing else is left.
    assert central_differences == [1, 2, 3]  # @inspect forward_differences central_differences
    # PyTorch has such a check for functions in fp64. It finds a slip that looks harmless:
    # `detach` takes a factor out of the backward pass, and half of the gradient of $w^2$ is lost.
    precise = w.double().requires_grad_()
    assert torch.autograd.gradcheck(lambda w: w * w, precise)
    with refused(RuntimeError) as error:
        torch.autograd.gradcheck(lambda w: w * w.detach(), precise)
    assert "Jacobian mismatch" in error.message
    # So: if you write a gradient yourself, let `gradcheck` look at it.


def a_difference_needs_a_middling_step():  # M12.1
    """A difference needs a step of middling size.

    How small should the step h be? As small as possible? Look at $w^3$, whose gradient is $3w^2$.
    The central difference is $3w^2+h^2$, so smaller is better on paper.
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
    # Read the chart from the right. While the step is large the error is $h^2$, in both formats.
    in_fp32, in_fp64 = errors.values()
    for found in (in_fp32, in_fp64):
        assert math.isclose(found[3], 0.5 ** (2 * 3), rel_tol=1e-3)
    # But the two losses get closer as the step shrinks, and the digits they share cancel. What is
    # left is their rounding, divided by the step. fp32 rounds by up to $2^{-24}$, so the best step
    # is near the third root of that, $2^{-8}$. fp64 rounds by $2^{-53}$ and turns near $2^{-18}$.
    best = {dtype: min(found, key=found.get) for dtype, found in errors.items()}  # @inspect best
    assert abs(best["torch.float32"] - 24 / 3) <= 3
    assert abs(best["torch.float64"] - 53 / 3) <= 3
    # Where the step itself is lost in rounding, the difference is 0 and all of the gradient is
    # error.
    assert in_fp32[40] == 3 * w * w
    # At its best, a difference has nearly six right digits in fp32 and nearly twelve in fp64.
    least = [min(found.values()) for found in errors.values()]
    digits = [math.log10(3 * w * w / error) for error in least]  # @inspect digits
    assert [round(count, 1) for count in digits] == [5.8, 11.9]
    # So: check gradients in fp64, with a step near $10^{-6}$.


def one_way_back_serves_all_parameters():  # M12.1 M12.4
    """One backward pass serves all parameters.

    Differences need no rules and keep no activations. Why not train with them? Each parameter takes
    two more forward passes. How many does the backward pass take? Guess, for the 30 parameters
    here.
    """
    R, D, F = 4, 6, 5
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, dtype=torch.float64, generator=generator)
    w = torch.randn(D, F, dtype=torch.float64, generator=generator, requires_grad=True)
    with measure() as forward:
        loss = (x @ w).square().mean()
    with measure() as backward:
        loss.backward()
    step = 2.0**-10
    by_differences = torch.zeros(D * F, dtype=torch.float64)
    with torch.no_grad(), measure() as differences:
        for place in range(D * F):
            moved = torch.zeros(D * F, dtype=torch.float64)
            moved[place] = step
            above = (x @ (w + moved.view(D, F))).square().mean()
            below = (x @ (w - moved.view(D, F))).square().mean()
            by_differences[place] = (above - below) / (2 * step)
    assert torch.allclose(by_differences.view(D, F), w.grad)
    # It takes one, here in a model of one layer, and finds all 30 numbers. The differences take 60.
    assert backward.matmul_flops == forward.matmul_flops
    assert differences.matmul_flops == 2 * w.numel() * forward.matmul_flops
    # If a program computes one number in simple steps, each with a derivative, the backward pass
    # takes at most a few times the FLOPs of the forward pass: the ["cheap gradient
    # principle"](https://arxiv.org/abs/1502.05767). (The *Jacobian* has the rates of all results
    # with all inputs. A backward pass multiplies it from the left, a vector-Jacobian product. A
    # *Jacobian-vector product*, from the right, says what one change of all inputs does, as a
    # difference does. Neither writes the Jacobian down.)
    #
    # The price is memory: numbers of the forward pass [have to be
    # kept](#a_weight_needs_what_it_multiplied).


def autograd_records_where_numbers_come_from():  # M12.7
    """Autograd records where numbers come from.

    How does `backward` know what to do? During the forward pass, PyTorch's *autograd* writes down
    which operation made each tensor, and from which others.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.ones(3, requires_grad=True)
    loss = half_square_error(w)
    node = loss.grad_fn
    way_back = []
    while node is not None:
        way_back.append(type(node).__name__)  # @inspect way_back
        node = next((before for before, _ in node.next_functions if before is not None), None)
    # The notes lead from the division by two through square, subtraction and dot product to the
    # parameter.
    made_by = ["DivBackward0", "PowBackward0", "SubBackward0", "DotBackward0"]
    assert way_back == [*made_by, "AccumulateGrad"]
    # At the end is a *leaf*, a tensor that no recorded operation has made. `backward` leaves a
    # gradient at the leaves that require one. A tensor in between hands its gradient on and forgets
    # it, unless you tell it to keep it.
    assert w.is_leaf
    assert not loss.is_leaf
    prediction = x @ w
    forgetful = prediction - 5
    prediction.retain_grad()
    (forgetful.square() / 2).backward()
    assert prediction.grad == 1  # @predict
    assert not forgetful.retains_grad
    # Nothing is written down where nobody will ask. `detach` gives the same numbers, in the same
    # memory, without their past.
    with torch.no_grad():
        assert (x @ w).grad_fn is None
    assert prediction.detach().grad_fn is None
    assert same_storage(prediction.detach(), prediction)
    # So: you need not derive gradients by hand, but you pay for what autograd keeps and computes.
    # Evaluate under `no_grad`, and you pay for neither.


def autograd_keeps_what_the_way_back_needs():  # M12.7
    """Autograd keeps what the backward pass needs.

    What does the record cost in memory? For each operation autograd keeps the numbers from which it
    will compute gradients. For the matmul $xw$ that may be both factors.
    """
    R, D, F = 16, 8, 4
    x, w = torch.ones(R, D), torch.nn.Parameter(torch.ones(D, F))
    with measure() as step:
        loss = (x @ w).square().mean()
        mean = loss.grad_fn
        square = mean.next_functions[0][0]
        product = square.next_functions[0][0]
        # What a node has kept are its attributes that begin with `_saved`. The gradient of w needs
        # x. The gradient of x would need w, but nobody asked for it, so w is not kept.
        assert same_storage(product._saved_self, x)
        assert product._saved_mat2 is None
        # The square keeps its input, R·F numbers that have no name in this program. The mean keeps
        # none, and the loss is one more.
        assert square._saved_self.shape == (16, 4)
        assert step.live_bytes["activations"] == 4 * (R * F + 1)
        loss.backward()
    # The backward pass lets go of what was kept. So where something was, you can run it only once,
    # unless you ask it to keep all with `retain_graph=True`.
    with refused(RuntimeError) as error:
        loss.backward()
    assert "a second time" in error.message
    # Gradients have taken its place: as many as parameters, however many rows the data have.
    live_bytes = step.live_bytes  # @inspect live_bytes
    assert live_bytes["gradients"] == w.untyped_storage().nbytes()
    assert live_bytes["activations"] == 4  # @predict
    # So: memory for gradients grows with the model, and memory for activations with the rows, too.


def gradients_add_up():  # M12.7
    """Gradients add up.

    What if a parameter is used twice? Then the loss depends on it in two ways, and its gradient is
    the sum over both.
    """
    x = torch.tensor([1.0, 2, 3])
    w = torch.tensor([2.0, 3, 5], requires_grad=True)
    (x @ (w * w)).backward()
    once, again = (w.detach().clone().requires_grad_() for _ in range(2))
    (x @ (once * again)).backward()
    assert torch.equal(w.grad, once.grad + again.grad)
    assert torch.equal(w.grad, 2 * x * w)
    # Autograd goes on adding across calls: a second `backward` adds to what is there.
    before = w.grad.clone()
    (x @ w).backward()
    assert torch.equal(w.grad, before + x)  # @inspect w.grad
    # So clear old gradients before the next step. An optimizer's
    # [`zero_grad`](#clearing_gradients_frees_their_memory) writes `None`, which lets go of the
    # tensor. People forget, and the run trains on the sum of all its steps.
    w.grad = None
    # The same habit is useful where a batch is too large for the memory. If the loss is a sum over
    # the rows, the gradients of parts add up to that of the whole: [*gradient
    # accumulation*](#parts_of_a_batch_add_up_to_it).
    rows = torch.tensor([[1.0, 2, 3], [0, 1, 4]])
    for row in rows:
        (row @ w).backward()
    (at_once,) = torch.autograd.grad(rows @ w, w, torch.ones(2))
    assert torch.equal(w.grad, at_once)
