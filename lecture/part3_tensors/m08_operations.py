"""Elementwise operations and matmuls: what computes, and what it allocates."""

import itertools
import math
import operator
from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.cache import LINE, Address, moved_numbers
from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m08_figures as figures
from trace.costs import measure


def an_elementwise_result_has_its_own_memory():  # M8.1
    """An elementwise result has its own memory.

    Views move no data. What does `x + y` cost? In an *elementwise* operation each number of the
    result depends only on the numbers at the same place in the inputs. The numbers are new, so they
    need a place.
    """
    x = torch.arange(12.0).view(3, 4)
    y = torch.full((3, 4), 10.0)
    with measure() as cost:
        z = x + y  # @inspect z
    assert z[2, 3] == x[2, 3] + 10 == 21
    assert not same_storage(z, x)
    assert cost.allocated_bytes == z.untyped_storage().nbytes() == 48
    # One addition for each element. For it, two numbers are read and one is written: 12 bytes move
    # for every FLOP. Keep that number; [a later chapter](#an_accelerator_has_an_intensity) compares
    # it with what machines can do.
    assert cost.other_flops == z.numel()
    assert cost.read_bytes + cost.written_bytes == 12 * cost.other_flops
    # The dtype of the result need not be that of the inputs. A comparison gives one byte for each
    # element, here true for 0 to 9, and one operand in fp64 makes the result fp64, twice as large.
    with measure() as comparison:
        smaller = x < y  # @inspect smaller
    assert comparison.allocated_bytes == smaller.numel()
    assert x[smaller].tolist() == [*range(10)]
    precise = y.double()
    with measure() as promoted:
        z_precise = x + precise
    assert torch.equal(z_precise, z.double())
    assert promoted.allocated_bytes == 2 * cost.allocated_bytes
    # A floating-point tensor is not promoted by integers, nor by a scalar of higher precision: fp32
    # stays fp32. Integers are promoted by a floating-point tensor, and by a scalar such as 0.5.
    assert (x + y.long()).dtype == (x + precise.sum()).dtype == torch.float32
    assert (y.long() + x).dtype == (y.long() + 0.5).dtype == torch.float32


def a_chain_makes_temporaries():  # M8.1
    """A chain of operations makes temporaries.

    How much memory does `(2 * x + 1).relu()` need besides x? (`relu` replaces negative numbers by
    0.) It is one line, and three operations. Each of them writes a whole tensor for the next one to
    read. How many of the three exist at a time?
    """
    x = torch.arange(-2.0, 2.0)
    with measure() as cost:
        y = (2 * x + 1).relu()  # @inspect y
    result_bytes = y.untyped_storage().nbytes()
    assert cost.allocated_bytes == 3 * result_bytes
    # The first two are *temporaries*: nothing refers to them once the next operation is done. At
    # most two exist, the one that is read and the one that is written, however long the chain. (In
    # training, those that the backward pass needs are kept as well.)
    assert cost.freed_bytes == 2 * result_bytes
    assert cost.peak_bytes == 2 * result_bytes
    # If you give each step a name, all of them stay alive.
    with measure() as named:
        doubled = 2 * x
        shifted = doubled + 1
        last = shifted.relu()
    assert torch.equal(last, y)
    assert named.freed_bytes == 0  # @predict
    assert named.peak_bytes == 3 * result_bytes
    # The price is in the bytes that move: every operation reads four numbers and writes four. A
    # [*fused*](#fusion_saves_the_way_through_memory) kernel, which a compiler can make from such a
    # chain, would read x once and write y once: a third.
    assert cost.read_bytes + cost.written_bytes == 3 * (x.nbytes + y.nbytes)
    chain = figures.chain(
        {"x": x.nbytes, "2 * x": doubled.nbytes, "+ 1": shifted.nbytes, "relu": y.nbytes}
    )  # @inspect chain


def in_place_operations_keep_the_storage():  # M8.1
    """In-place operations keep the storage.

    Can we save the new memory? An operation whose name ends in an underscore writes its result over
    its input.
    """
    x = torch.arange(-2.0, 2.0)
    same_tensor = x
    with measure() as cost:
        x.mul_(2).add_(1).relu_()  # @inspect x
    assert x.tolist() == [0, 0, 1, 3]
    assert cost.allocated_bytes == 0  # @predict
    # What we save is memory. By the meter, the numbers are still read and written three times.
    assert cost.other_flops == 3 * x.numel()
    assert cost.read_bytes == cost.written_bytes == 3 * x.nbytes
    # `x += 1` works in place as well, and every other name of the tensor sees it. `x = x + 1` makes
    # a new tensor and gives it the old name.
    x += 1
    assert same_tensor.tolist() == x.tolist() == [1, 1, 2, 4]
    x = x + 1
    assert x.tolist() == [2, 2, 3, 5]
    assert same_tensor.tolist() == [1, 1, 2, 4]
    # The result has to fit where the input was: halves have no place among integers.
    whole = torch.arange(4)
    with refused(RuntimeError) as error:
        whole.add_(0.5)
    assert "can't be cast" in error.message


def the_backward_pass_needs_the_old_numbers():  # M8.1
    """The backward pass needs the old numbers.

    Is it always safe to save memory in place? To compute gradients, PyTorch
    [keeps](#autograd_keeps_what_the_way_back_needs) some of the numbers that the forward pass saw.
    If they have changed when the backward pass reads them, the gradient would be wrong.
    """
    x = torch.zeros(3, requires_grad=True)
    # The derivative of $e^x$ is $e^x$ itself, so PyTorch keeps the result of `exp`. Then we double
    # it in place.
    doubled = x.exp().mul_(2)
    with refused(RuntimeError) as error:
        doubled.sum().backward()
    message = error.message.partition(" Hint")[0]  # @inspect message
    # PyTorch notices: a tensor has a version number that goes up when it is written to.
    assert "is at version 1; expected version 0" in message
    # With a new tensor for the product, the gradient is $2e^0$ for each element.
    (x.exp() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    # Where the old numbers are not needed, in place is fine: the gradient of $3x + 1$ needs the 3
    # and nothing else.
    x.grad = None
    line = (x * 3).add_(1)
    line.sum().backward()
    assert x.grad.tolist() == [3, 3, 3]
    # A parameter itself cannot be overwritten in the forward pass: PyTorch refuses at once. (Under
    # `torch.no_grad` it can; optimizers do.)
    with refused(RuntimeError) as error:
        x.exp_()
    assert "in-place" in error.message


def shapes_are_lined_up_from_the_right():  # M8.1
    """Shapes are lined up from the right.

    How do you add a 3×4 matrix and a row of 4? Write the shapes above each other, flush right.
    Where sizes differ, one of them has to be 1 or missing, and is repeated. This is *broadcasting*.
    Nothing is copied for it: the stride of that axis [is 0](#expanding_repeats_without_copying).
    """
    x = torch.arange(12.0).view(3, 4)
    bias = torch.tensor([100.0, 200, 300, 400])
    with measure() as cost:
        y = x + bias  # @inspect y
    assert y[2].tolist() == [108, 209, 310, 411]
    assert cost.allocated_bytes == y.nbytes
    assert bias.expand(3, 4).stride() == (0, 1)  # @predict
    # To subtract from each row its own mean, the means need an axis of size 1, to be repeated along
    # it.
    means = x.mean(dim=1)
    centred = x - means.view(3, 1)  # @inspect means centred
    assert centred.mean(dim=1).tolist() == [0, 0, 0]
    # Without that axis, 3 meets 4, and PyTorch refuses.
    with refused(RuntimeError) as error:
        x - means
    assert "must match" in error.message
    # A common mistake is to rely on that. With as many rows as columns, the same slip passes, and
    # each column loses the mean of some row. `keepdim=True` keeps the axis, as size 1.
    square = torch.arange(9.0).view(3, 3)
    slip = square - square.mean(dim=1)  # @inspect slip
    right = square - square.mean(dim=1, keepdim=True)
    assert slip.shape == right.shape
    assert right.sum(dim=1).tolist() == [0, 0, 0]
    assert slip[0].tolist() == [0 - 1, 1 - 4, 2 - 7]


def the_upper_triangle_is_kept_by_position():  # M8.2
    """The upper triangle is kept by position.

    A model that predicts the next token must not see it. Which pairs of tokens does that rule out?
    If row i and column j stand for tokens i and j, the elements right of the diagonal are the
    future. `triu` ("triangle, upper") keeps these and the diagonal, and puts 0 everywhere else.
    """
    x = torch.arange(1.0, 17.0).view(4, 4)
    with measure() as cost:
        kept = x.triu()  # @inspect kept
    # Whether element (i, j) is kept depends on i and j alone.
    i, j = torch.arange(4).view(4, 1), torch.arange(4)
    assert torch.equal(kept, torch.where(i <= j, x, 0))
    # The zeros are stored like other numbers: half a matrix takes as much memory as a whole one.
    assert cost.allocated_bytes == x.untyped_storage().nbytes()
    # `diagonal=1` moves the border one step to the right: the future without the present.
    future = torch.ones(4, 4, dtype=torch.bool).triu(diagonal=1)  # @inspect future
    assert future[0].tolist() == [False, True, True, True]
    assert not future.diagonal().any()
    # Of $T^2$ pairs of tokens, $T(T-1)/2$ are in the future: 6 of 16 here, and almost half in long
    # sequences.
    assert future.sum() == 4 * 3 / 2  # @predict
    assert torch.ones(100, 100).triu(diagonal=1).mean() == 0.495  # @predict


def masked_scores_leave_nothing_for_the_future():  # M8.2
    """Masked scores leave nothing for the future.

    How do we keep a model from reading ahead? In [attention](https://arxiv.org/abs/1706.03762)
    each token (a row) gives every token (a column) a score. `softmax` turns each row of scores into
    *attention weights* that add up to 1: $e$ to each score, divided by the sum of all. With these
    weights the token averages what the others offer. ([A later
    chapter](#attention_takes_a_weighted_mean) takes attention apart.)
    """
    T = 4
    scores = torch.arange(16.0).view(T, T) / 4  # @inspect scores
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    # Which score gives a weight of 0? Minus infinity: $e^{-\infty}=0$, with no rounding at all.
    masked = scores.masked_fill(future, -torch.inf)
    weights = masked.softmax(dim=1)
    steps = figures.masking(scores, masked, weights)  # @inspect steps
    assert (weights[future] == 0).all()
    assert torch.allclose(weights.sum(dim=1), torch.ones(T))
    # So the future scores do not matter. With others, the weights are the same to the last bit.
    other = scores + 100 * future
    assert (other != scores).sum() == 6
    assert torch.equal(other.masked_fill(future, -torch.inf).softmax(dim=1), weights)
    # Does the mask save work? Not by itself: the matmul computes the scores of all 16 pairs, and
    # the mask throws 6 away. [Fused kernels](https://arxiv.org/abs/2307.08691) skip blocks that are
    # masked as a whole.
    K = 5
    queries, keys = torch.ones(T, K), torch.ones(T, K)
    with measure() as cost:
        causal = (queries @ keys.T).masked_fill(future, -torch.inf)
    assert (causal == -torch.inf).sum() == 6
    assert cost.matmul_flops == 2 * T * T * K


def a_mask_can_go_wrong_in_three_ways():  # M8.2
    """A mask can go wrong in three ways.

    Why minus infinity, and why before the softmax? Here are three other ways. Find the fault of
    each before you read on.
    """
    scores = torch.ones(3, 3)
    future = torch.ones(3, 3, dtype=torch.bool).triu(diagonal=1)
    # Set future scores to 0. But a score of 0 is a score like any other, and $e^0=1$ has its share.
    zeroed = scores.masked_fill(future, 0).softmax(dim=1)  # @inspect zeroed
    assert torch.allclose(zeroed[0], torch.tensor([math.e, 1, 1]) / (math.e + 2))
    # Set future weights to 0, after the softmax. But the future had its part in the sum that
    # softmax divided by, and only the last row still adds up to 1. (Dividing by its own sum fixes a
    # row.)
    late = scores.softmax(dim=1).masked_fill(future, 0)  # @inspect late
    assert torch.allclose(late.sum(dim=1), torch.tensor([1 / 3, 2 / 3, 1]))
    right = scores.masked_fill(future, -torch.inf).softmax(dim=1)
    assert torch.allclose(late / late.sum(dim=1, keepdim=True), right)
    # Multiply the mask of ones and zeros with minus infinity, and add it. But $0\cdot\infty$ is
    # NaN, and one NaN in a row of scores spoils all its weights.
    products = scores + future * -torch.inf  # @inspect products
    assert (products[future] == -torch.inf).all()
    assert products[~future].isnan().all()
    assert products.softmax(dim=1).isnan().all()
    # And a right mask can meet a row with nothing left: no weights add up to 1, so they are NaN.
    # This mask never hides the diagonal; a second one, for places that hold no token, may.
    assert torch.full((3,), -torch.inf).softmax(dim=0).isnan().all()


def a_product_pairs_every_row_with_every_column():  # M8.3
    """A matmul pairs every row with every column.

    Elementwise operations pair numbers at the same place. What pairs whole rows with columns?
    Element (i, j) of the matmul `x @ w` is made of row i of `x` and column j of `w`,
    $y_{ij}=\\sum_k x_{ik}w_{kj}$.
    """
    x = torch.arange(12.0).view(3, 4)
    w = torch.arange(8.0).view(4, 2)
    y = x @ w  # @inspect y
    row_times_column = figures.row_times_column(x, w, 1, 0)  # @inspect row_times_column
    by_pairs = [[(row * column).sum() for column in w.T] for row in x]
    assert torch.equal(torch.tensor(by_pairs), y)
    # A row of `x` must be as long as a column of `w`. That size disappears, the other two remain:
    # what is the shape of 16×32 times 32×2?
    ones = torch.ones(16, 32) @ torch.ones(32, 2)
    assert ones.shape == (16, 2)  # @predict
    assert (ones == 32).all()
    # In the other order, the sizes do not meet. Transpose both and they do, and the result is the
    # transpose: $(xw)^T=w^Tx^T$.
    with refused(RuntimeError) as error:
        w @ x
    assert "cannot be multiplied" in error.message
    assert torch.equal(w.T @ x.T, y.T)


def a_stack_is_multiplied_matrix_by_matrix():  # M8.3
    """A stack is multiplied matrix by matrix.

    A batch has more than two axes. What does `@` do with them? The last two are those of a matrix,
    the axes before them number the matrices, and each matrix is multiplied with w.
    """
    small = torch.arange(24.0).view(3, 2, 4)
    picture = figures.stacked_product(small, small[0].T)  # @inspect picture
    # Two axes in front, 4 and 8, number 32 matrices of 16×32.
    x = torch.arange(16384.0).view(4, 8, 16, 32)
    w = torch.arange(64.0).view(32, 2).remainder(5)
    with measure() as at_once:
        y = x @ w  # @inspect y.shape
    assert y.shape == (4, 8, 16, 2)  # @predict
    with measure() as one_by_one:
        for a, b in itertools.product(range(4), range(8)):
            assert torch.equal(y[a, b], x[a, b] @ w)
    assert at_once.matmul_flops == one_by_one.matmul_flops
    # As w is the same for all, we may as well stack the rows of all matrices into one matrix. That
    # is how the R = B·T tokens of a batch go through a layer.
    assert torch.equal(x.view(512, 32) @ w, y.view(512, 2))
    assert at_once.allocated_bytes == y.nbytes
    # w may be a stack, too. Then the axes in front are broadcast: 4×1 against 8 makes 4×8.
    firsts = x[:, :1]
    stack = torch.stack([w + n for n in range(8)])
    with measure() as broadcast:
        z = firsts @ stack
    assert z.shape == y.shape
    assert torch.equal(z[3, 7], x[3, 0] @ (w + 7))
    # Unlike in elementwise operations, broadcasting can cost memory. Here PyTorch copies both
    # factors to the full number of 32 matrices before it multiplies.
    copied_bytes = 32 * (16 * 32 + 32 * 2) * 4
    assert broadcast.allocated_bytes == copied_bytes + z.nbytes


def the_star_is_not_the_matrix_product():  # M8.3 E39
    """The star is not the matmul.

    What does `x * w` do with two matrices? In mathematics, two letters side by side are a matmul;
    in Python the star multiplies number by number.
    """
    x = torch.arange(6.0).view(2, 3)
    w = torch.arange(12.0).view(3, 4)
    # If you are lucky, the shapes do not match, and you are told.
    assert (x @ w).shape == (2, 4)  # @predict
    with refused(RuntimeError) as error:
        x * w
    assert "must match" in error.message
    # Square matrices give the right shape and the wrong numbers. A test that uses square matrices
    # and looks at shapes sees no difference.
    square = torch.tensor([[1.0, 2], [3, 4]])
    with measure() as by_element_cost:
        by_element = square * square
    with measure() as matmul_cost:
        by_matmul = square @ square  # @inspect by_element by_matmul
    assert by_element.tolist() == [[1, 4], [9, 16]]
    assert by_matmul.tolist() == [[7, 10], [15, 22]]
    # The meter tells them apart: 4 multiplications here, 8 multiplications and 8 additions there.
    assert (by_element_cost.matmul_flops, by_element_cost.other_flops) == (0, 4)
    assert (matmul_cost.matmul_flops, matmul_cost.other_flops) == (16, 0)  # @predict


@shape_checked
def product_by_loops(
    x: Float[Tensor, "i k"], w: Float[Tensor, "k j"], combine: Callable[[float, float], float]
) -> tuple[Float[Tensor, "i j"], int]:
    """Compute a matmul element by element, and count the multiplications and additions."""
    y = torch.zeros(x.shape[0], w.shape[1])
    flops = 0
    for i in range(x.shape[0]):
        for j in range(w.shape[1]):
            for k in range(x.shape[1]):
                pair = combine(x[i, k].item(), w[k, j].item())
                flops += 1
                y[i, j] += pair
                flops += 1
    return y, flops


def every_triple_multiplies_and_adds():  # M8.4 E38 @core
    """Every triple multiplies and adds.

    How many FLOPs does a matmul cost? In $y_{ij}=\\sum_k x_{ik}w_{kj}$, R rows, D inner positions
    and F columns make $RDF$ triples (i, j, k). Each triple costs one multiplication and one
    addition: $2RDF$.
    """
    # @note Unfold `product_by_loops`, point at its innermost loop and count a single triple aloud.
    # Whether it should be 2D − 1 will come up: read out the sentence about it and move on.
    counted = {}
    for R, D, F in ((1, 5, 1), (4, 1, 3), (2, 3, 4)):
        x = torch.arange(float(R * D)).view(R, D)
        w = torch.arange(float(D * F)).view(D, F)
        by_loops, flops = product_by_loops(x, w, operator.mul)  # @inspect by_loops flops
        with measure() as cost:
            y = x @ w
        assert torch.equal(by_loops, y)
        assert flops == cost.matmul_flops == 2 * R * D * F
        counted[R, D, F] = flops  # @inspect counted
    # Each sum starts at 0, and the addition to 0 is counted, too. Without it, an element would cost
    # $2D-1$ FLOPs. Many processors multiply and add in one instruction, FMA (*fused multiply-add*),
    # and use it D times for each element: $2D$. ([Later](#the_last_addition_is_not_made) we weigh
    # the two.)
    assert flops / by_loops.numel() == 2 * D
    # FLOPs do not tell a right program from a wrong one. Add in the innermost line where you should
    # multiply, and the count is the same.
    added, added_flops = product_by_loops(x, w, operator.add)
    assert added_flops == flops
    assert not torch.equal(added, y)


def addresses_in_order(n: int, order: str) -> Iterator[Address]:
    """Walk through the loops of an n×n matmul, nested in this order; name each number touched.

    `yield` hands out one address, and the loop goes on when the next one is asked for.
    """
    for place in itertools.product(range(n), repeat=3):
        at = dict(zip(order, place, strict=True))
        i, j, k = at["i"], at["j"], at["k"]
        yield "x", i * n + k
        yield "w", k * n + j
        yield "y", i * n + j


def the_loops_nest_in_any_order():  # M8.4
    """The loops may be nested in any order.

    Does it matter which of the three loops is outside? Not for the FLOPs: there are six orders, and
    each visits the same triples. But memory does not hand out single numbers. It hands out a *line*
    of neighbours (64 bytes, on most CPUs), which stays in a small *cache* until others push it
    out. Which order is kind to that?
    """
    # We walk through a matmul of 16×16, each order in turn, with a cache of 12 lines of 4 numbers,
    # and count the numbers that memory has to hand out. The three matrices have 768 in all.
    orders = ["".join(letters) for letters in itertools.permutations("ijk")]
    moved = {
        order: moved_numbers(addresses_in_order(16, order), capacity=12 * LINE) for order in orders
    }  # @stepover
    chart = figures.moved_by_order(moved)  # @inspect chart
    # ijk is the order of the formula: with k innermost, each step in w is a whole row long, and
    # lands on another line. Exchange the two inner loops: in ikj, j is innermost, each step goes to
    # the next number of w and y, and x waits. That loads less than a quarter.
    assert moved["ijk"] / moved["ikj"] == 4.5
    assert min(moved.values()) == moved["ikj"]
    # With i innermost, both x and y jump.
    assert sorted(moved, key=moved.get)[-2:] == ["kji", "jki"]
    # So: what belongs in the innermost loop is the index that stands last wherever it occurs.
    # ([Tiles](#a_small_cache_reads_numbers_again) do better still.)
    #
    # What we can do now: predict the memory and the FLOPs of elementwise operations and matmuls. An
    # elementwise operation makes a new tensor for little work; a matmul costs two FLOPs for each
    # triple.


def exercise_scores_and_values():  # M8.3 @exercise
    """Exercise: scores and values.

    Queries, keys and values have shape (2, 4, 8, 16): batch, heads, tokens, features. How many
    matmul FLOPs does `(q @ k.mT) @ v` cost, and what does it allocate, in fp32?
    """
    q, k, v = torch.ones(3, 2, 4, 8, 16)
    with measure() as cost:
        y = (q @ k.mT) @ v
    # Twice $2\cdot8\cdot8\cdot16$ for each of 8 heads of the batch. The scores have 8 numbers for
    # each token and head, the result 16.
    assert cost.matmul_flops == 2 * (2 * 4) * (2 * 8 * 8 * 16)
    assert cost.allocated_bytes == y.nbytes + 4 * (2 * 4 * 8 * 8)


def exercise_in_place():  # M8.1 @exercise
    """Exercise: in place.

    `x.mul_(2).add_(1).relu_()` in place of `((x * 2) + 1).relu()`: does it save FLOPs, memory or
    both?
    """
    x = torch.linspace(-1, 1, steps=1000)
    with measure() as chain:
        y = ((x * 2) + 1).relu()
    with measure() as in_place:
        x.mul_(2).add_(1).relu_()
    assert torch.equal(x, y)
    # The same arithmetic, without three new tensors. (Autograd objects if x is a parameter, or if
    # [the backward pass needs its old numbers](#the_backward_pass_needs_the_old_numbers).)
    assert in_place.other_flops == chain.other_flops > 0
    assert (chain.allocated_bytes, in_place.allocated_bytes) == (3 * x.nbytes, 0)
