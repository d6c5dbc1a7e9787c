"""Elementwise operations and matrix products: what computes, and what it allocates."""

import itertools
import math
import operator
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m08_figures as figures
from trace.costs import measure


def an_elementwise_result_has_its_own_memory():  # M8.1
    """An elementwise result has its own memory.

    What does `x + y` cost? In an *elementwise* operation each number of the result depends only on
    the numbers at the same place in the inputs. Unlike a view, the result is made of new numbers,
    and they need a place.
    """
    x = torch.arange(12.0).view(3, 4)
    y = torch.full((3, 4), 10.0)
    with measure() as cost:
        z = x + y  # @inspect z
    assert z[2, 3] == x[2, 3] + 10 == 21
    assert not same_storage(z, x)
    assert not same_storage(z, y)
    assert cost.allocated_bytes == z.untyped_storage().nbytes() == 48
    # One addition for each element of the result. For it, two numbers are read and one is written:
    # 12 bytes move for every FLOP. [A later chapter](#an_accelerator_has_an_intensity) compares
    # that with what machines can do.
    assert cost.other_flops == 12
    assert cost.read_bytes + cost.written_bytes == 12 * cost.other_flops
    # How many bytes the result takes depends on its dtype, which need not be that of the inputs. A
    # comparison gives one byte for each element. One operand in fp64 makes the result fp64.
    # Integers and single numbers do not: fp32 with int64, also of 8 bytes, is fp32.
    with measure() as comparison:
        smaller = x < y
    assert smaller.sum() == 10
    assert comparison.allocated_bytes == 12
    precise = y.double()
    with measure() as promoted:
        z_precise = x + precise
    assert torch.equal(z_precise, z.double())
    assert promoted.allocated_bytes == 12 * 8
    assert (x + y.long()).dtype == (x + precise.sum()).dtype == torch.float32


def a_chain_makes_temporaries():  # M8.1
    """A chain of operations makes temporaries.

    How much memory does `(2 * x + 1).relu()` need besides x? It is one line, and three operations.
    Each of them writes a whole tensor for the next one to read. (`relu` replaces negative numbers
    by 0.)
    """
    x = torch.arange(-2.0, 2.0)
    with measure() as cost:
        y = (2 * x + 1).relu()  # @inspect y
    assert y.tolist() == [0, 0, 1, 3]
    result_bytes = y.untyped_storage().nbytes()
    assert cost.allocated_bytes == 3 * result_bytes
    # The first two are *temporaries*: nothing refers to them once the next operation is done.
    assert cost.freed_bytes == 2 * result_bytes
    # So at most two exist at a time, the one that is read and the one that is written, however
    # long the chain. (In training, those that the backward pass needs are kept as well.)
    assert cost.peak_bytes == 2 * result_bytes
    # Giving each step a name keeps them all alive. The work is the same, the peak is not.
    with measure() as named:
        doubled = 2 * x
        shifted = doubled + 1
        last = shifted.relu()
    assert torch.equal(last, y)
    assert named.other_flops == cost.other_flops == 3 * 4
    assert named.freed_bytes == 0
    assert named.peak_bytes == 3 * result_bytes
    # The bytes that move are the larger bill: every operation reads four numbers and writes four.
    # A [*fused*](#fusion_saves_the_way_through_memory) kernel, as a compiler makes it from such a
    # chain, would read x once and write y once: 32 bytes instead of 96.
    assert cost.read_bytes + cost.written_bytes == 3 * (2 * result_bytes) == 96
    assert x.untyped_storage().nbytes() + result_bytes == 32


def in_place_operations_keep_the_storage():  # M8.1
    """In-place operations keep the storage.

    Can the new memory be saved? An operation whose name ends in an underscore writes its result
    over its input.
    """
    x = torch.arange(-2.0, 2.0)
    same_tensor = x
    with measure() as cost:
        x.mul_(2).add_(1).relu_()  # @inspect x
    assert x.tolist() == [0, 0, 1, 3]
    assert cost.allocated_bytes == 0
    # Memory is all that is saved. The numbers are still read and written three times.
    assert cost.other_flops == 3 * 4
    assert cost.read_bytes == cost.written_bytes == 3 * 16
    # `x += 1` works in place as well, and whoever else holds the tensor sees it. `x = x + 1` makes
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
    assert error.message
    assert (whole + 0.5).tolist() == [0.5, 1.5, 2.5, 3.5]


def the_backward_pass_needs_the_old_numbers():  # M8.1
    """The backward pass needs the old numbers.

    Is it always safe to save memory in place? A common mistake is to think so. To compute
    gradients, PyTorch [keeps](#autograd_keeps_what_the_way_back_needs) some of the numbers that the
    forward pass saw, and they must not have changed when the backward pass reads them.
    """
    x = torch.zeros(3, requires_grad=True)
    # The derivative of $e^x$ is $e^x$ itself, so the result of `exp` is kept, and overwritten.
    doubled = x.exp().mul_(2)
    assert doubled.tolist() == [2, 2, 2]
    with refused(RuntimeError) as error:
        doubled.sum().backward()
    message = error.message.partition(" Hint")[0]  # @inspect message
    # PyTorch notices, because a tensor has a version number that goes up when it is written to.
    assert "is at version 1; expected version 0" in message
    assert doubled._version == 1
    # With a new tensor for the product the gradient is found: $2e^0$ for each element.
    (x.exp() * 2).sum().backward()
    assert x.grad.tolist() == [2, 2, 2]
    # Where the old numbers are not needed, in place is fine. To multiply by 3, only the 3 has to
    # be kept; to add 1, nothing. A parameter itself cannot be changed in the forward pass: no
    # old one would be left to give the gradient to. (Under `torch.no_grad` it can; optimizers do.)
    x.grad = None
    line = (x * 3).add_(1)
    line.sum().backward()
    assert line.tolist() == [1, 1, 1]
    assert x.grad.tolist() == [3, 3, 3]
    with refused(RuntimeError) as error:
        x.exp_()
    assert error.message


def shapes_are_lined_up_from_the_right():  # M8.1
    """Shapes are lined up from the right.

    What is the place of an element when the shapes differ? They are written one above the other,
    flush right. Where sizes differ, one of them has to be 1 or missing, and is repeated. This is
    called *broadcasting*, and nothing is copied for it: the stride of that axis [is
    0](#expanding_repeats_without_copying).
    """
    x = torch.arange(12.0).view(3, 4)
    bias = torch.tensor([100.0, 200, 300, 400])
    with measure() as cost:
        y = x + bias  # @inspect y
    assert y[2].tolist() == [108, 209, 310, 411]
    assert cost.allocated_bytes == 12 * 4
    assert bias.expand(3, 4).stride() == (0, 1)
    # To take from each row its own number, that number needs an axis of size 1 to be repeated
    # along.
    means = x.mean(dim=1)  # @inspect means
    centred = x - means.view(3, 1)  # @inspect centred
    assert means.tolist() == [1.5, 5.5, 9.5]
    assert centred.mean(dim=1).tolist() == [0, 0, 0]
    # Without that axis, 3 meets 4, and the slip is refused.
    with refused(RuntimeError) as error:
        x - means
    assert error.message
    # A common mistake is to rely on that. With as many rows as columns the same slip passes, and
    # each column loses the mean of some row. `keepdim=True` keeps the axis, as size 1.
    square = torch.arange(9.0).view(3, 3)
    slip = square - square.mean(dim=1)
    right = square - square.mean(dim=1, keepdim=True)
    assert slip.shape == right.shape == (3, 3)
    assert right.sum(dim=1).tolist() == [0, 0, 0]
    assert slip[0].tolist() == [0 - 1, 1 - 4, 2 - 7]


def the_upper_triangle_is_kept_by_position():  # M8.2
    """The upper triangle is kept by position.

    Which tokens come after which? If row t and column t both stand for token t, the elements right
    of the diagonal belong to the future. `triu` ("triangle, upper") keeps these and the diagonal,
    and puts 0 everywhere else.
    """
    upper = torch.ones(3, 3).triu()  # @inspect upper
    assert upper.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1]]
    # It is elementwise: whether element (i, j) is kept depends on i and j and on nothing else in
    # the matrix. The zeros are stored like other numbers, so half a matrix takes as much memory as
    # a whole one.
    x = torch.arange(1.0, 17.0).view(4, 4)
    with measure() as cost:
        kept = x.triu()  # @inspect kept
    i, j = torch.arange(4).view(4, 1), torch.arange(4)
    assert torch.equal(kept, torch.where(i <= j, x, 0))
    assert cost.allocated_bytes == x.untyped_storage().nbytes()
    # `diagonal` moves the border. Starting one step to the right leaves the future alone, without
    # the present.
    future = torch.ones(4, 4, dtype=torch.bool).triu(diagonal=1)  # @inspect future
    assert future[0].tolist() == [False, True, True, True]
    assert not future.diagonal().any()
    assert future.shape == x.shape
    # Of $T^2$ pairs of tokens, $T(T-1)/2$ are in the future: 6 of 16 here, and almost half in long
    # sequences.
    assert future.sum() == 4 * 3 / 2
    assert torch.ones(100, 100).triu(diagonal=1).mean() == 0.495
    # Together with `tril`, the lower triangle, nothing is left out and the diagonal counts twice.
    assert torch.equal(x.triu() + x.tril(), x + x.diag().diag())


def masked_scores_leave_nothing_for_the_future():  # M8.2
    """Masked scores leave nothing for the future.

    How is a model kept from reading ahead? In [attention](https://arxiv.org/abs/1706.03762), which
    [a later chapter](#attention_takes_a_weighted_mean) takes apart, each token (a row) gives every
    token (a column) a score, and `softmax` turns each row of scores into weights that add up to 1:
    it raises e to each score and divides by the sum of the results. (So that no power overflows,
    the largest score of a row is [subtracted first](#softmax_survives_large_numbers); the quotients
    are the same.)
    """
    T = 4
    scores = torch.arange(16.0).view(T, T)  # @inspect scores
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    # A score of minus infinity becomes $e^{-\infty}=0$. No rounding is involved, the weight is
    # exactly zero.
    masked = scores.masked_fill(future, -torch.inf)  # @inspect masked
    weights = masked.softmax(dim=1)  # @inspect weights
    assert (weights[future] == 0).all()
    assert torch.allclose(weights.sum(dim=1), torch.ones(4))
    assert (weights[~future] > 0).all()
    # So whatever the future scores are, the weights are the same to the last bit.
    other = scores + 100 * future
    assert torch.equal(other.masked_fill(future, -torch.inf).softmax(dim=1), weights)
    assert torch.equal(other[future], scores[future] + 100)
    # A mask [saves no work](#half_of_the_scores_are_masked) by itself: here the products that lead
    # to the scores were computed for all 16 pairs, and the 6 of the future thrown away. [Fused
    # kernels](https://arxiv.org/abs/2307.08691) skip the blocks that are masked as a whole.
    queries, keys = torch.ones(T, 5), torch.ones(5, T)
    with measure() as cost:
        causal = (queries @ keys).masked_fill(future, -torch.inf)
    assert cost.matmul_flops == 16 * (5 + 5)
    assert causal[future].tolist() == 6 * [-torch.inf]


def a_mask_can_go_wrong_in_three_ways():  # M8.2
    """A mask can go wrong in three ways.

    Why minus infinity, and why before the softmax? Three other ways look as good and are not.
    """
    scores = torch.ones(3, 3)
    future = torch.ones(3, 3, dtype=torch.bool).triu(diagonal=1)
    # A common mistake: to set future scores to 0. A score of 0 is a score like any other, and
    # $e^0=1$ has its share.
    zeroed = scores.masked_fill(future, 0).softmax(dim=1)  # @inspect zeroed
    assert torch.allclose(zeroed[0], torch.tensor([math.e, 1, 1]) / (math.e + 2))
    # Another: to set the weights to 0 after the softmax. What is left no longer adds up to 1, as
    # the future has had its part in the sum that was divided by. (Divided by its own sum, it would
    # be right.)
    late = scores.softmax(dim=1).masked_fill(future, 0)  # @inspect late
    assert torch.allclose(late.sum(dim=1), torch.tensor([1 / 3, 2 / 3, 1]))
    right = scores.masked_fill(future, -torch.inf).softmax(dim=1)
    assert torch.allclose(late / late.sum(dim=1, keepdim=True), right)
    # A third: to make the mask by multiplying ones and zeros with minus infinity. But
    # $0\cdot\infty$ is NaN, "not a number", and one NaN in a row of scores spoils all its weights.
    products = scores + future * -torch.inf  # @inspect products
    assert (products[future] == -torch.inf).all()
    assert products[~future].isnan().all()
    assert products.softmax(dim=1).isnan().all()
    # A row in which everything is masked has no weights that add up to 1, and becomes NaN, too.
    # With this mask alone that cannot happen, since the diagonal is never masked. With a second
    # one, for places that hold no token, it can.
    assert torch.full((3,), -torch.inf).softmax(dim=0).isnan().all()


def a_product_pairs_every_row_with_every_column():  # M8.3
    """A product pairs every row with every column.

    What is the matrix product `x @ w`? Its element (i, k) is made of row i of x and column k of w:
    multiply the two number by number and add up. (The letter j numbers what is added up.)
    """
    x = torch.arange(12.0).view(3, 4)
    w = torch.arange(8.0).view(4, 2)
    y = x @ w  # @inspect y
    row_times_column = figures.row_times_column(x, w, 1, 0)  # @inspect row_times_column
    by_pairs = [[(row * column).sum() for column in w.T] for row in x]
    assert torch.equal(torch.tensor(by_pairs), y)
    # A row of x must be as long as a column of w. That size disappears, the other two remain:
    # 16×32 times 32×2 is 16×2.
    ones = torch.ones(16, 32) @ torch.ones(32, 2)
    assert ones.shape == (16, 2)
    assert (ones == 32).all()
    # The other way round the sizes do not meet. If both are transposed as well, they do, and the
    # result is the transpose.
    with refused(RuntimeError) as error:
        w @ x
    assert error.message
    assert torch.equal(w.T @ x.T, y.T)


def a_stack_is_multiplied_matrix_by_matrix():  # M8.3
    """A stack is multiplied matrix by matrix.

    A batch has more than two axes. What does `@` do with them? The last two axes are those of a
    matrix, the axes before them number the matrices, and each is multiplied with w.
    """
    # Three matrices, each multiplied with the transpose of the first.
    small = torch.arange(24.0).view(3, 2, 4)
    picture = figures.stacked_product(small, small[0].T)  # @inspect picture
    assert (small @ small[0].T).shape == (3, 2, 2)
    # Two axes in front, 4 and 8, number 32 matrices of 16×32.
    x = torch.arange(16384.0).view(4, 8, 16, 32)
    w = torch.arange(64.0).view(32, 2).remainder(5)
    with measure() as at_once:
        y = x @ w  # @inspect y.shape
    assert y.shape == (4, 8, 16, 2)
    assert y[0, 0, 0].tolist() == [962, 1023]
    with measure() as one_by_one:
        for a, b in itertools.product(range(4), range(8)):
            assert torch.equal(y[a, b], x[a, b] @ w)
    assert at_once.matmul_flops == one_by_one.matmul_flops == 65_536
    # Since w is the same for all, the rows of all matrices can as well be the rows of one: that is
    # how the B·T tokens of a batch go through a layer. Only the result is allocated.
    assert torch.equal(x.view(512, 32) @ w, y.view(512, 2))
    assert at_once.allocated_bytes == y.numel() * y.element_size() == 4096
    # w may be a stack, too. Then the axes in front are broadcast: 4×1 against 8 makes 4×8.
    firsts = x[:, :1]
    stack = torch.stack([w + n for n in range(8)])
    with measure() as broadcast:
        z = firsts @ stack
    assert z.shape == y.shape
    assert torch.equal(z[3, 7], x[3, 0] @ (w + 7))
    # Unlike in elementwise operations, this broadcasting is paid for. PyTorch copies both factors
    # to the full number of 32 matrices before it multiplies.
    copied_bytes = 32 * (16 * 32 + 32 * 2) * 4
    assert broadcast.allocated_bytes == copied_bytes + at_once.allocated_bytes == 77_824


def the_star_is_not_the_matrix_product():  # M8.3 E39
    """The star is not the matrix product.

    What does `x * w` do with two matrices? A common mistake is to write it for the product. It
    multiplies number by number, so the shapes have to match in another way.
    """
    x = torch.arange(6.0).view(2, 3)
    w = torch.arange(12.0).view(3, 4)
    assert (x @ w).shape == (2, 4)
    # If one is lucky, they do not match.
    with refused(RuntimeError) as error:
        x * w
    assert error.message
    # Square matrices give a result of the right shape with the wrong numbers. A test with square
    # matrices that looks at shapes sees no difference.
    square = torch.tensor([[1.0, 2], [3, 4]])
    with measure() as by_element_cost:
        by_element = square * square  # @inspect by_element
    with measure() as product_cost:
        product = square @ square  # @inspect product
    assert by_element.tolist() == [[1, 4], [9, 16]]
    assert product.tolist() == [[7, 10], [15, 22]]
    # The meter tells them apart: 4 multiplications here, 8 multiplications and 8 additions there.
    assert (by_element_cost.matmul_flops, by_element_cost.other_flops) == (0, 4)
    assert (product_cost.matmul_flops, product_cost.other_flops) == (16, 0)


@shape_checked
def product_by_loops(
    x: Float[Tensor, "m n"], w: Float[Tensor, "n p"], combine: Callable[[float, float], float]
) -> tuple[Float[Tensor, "m p"], int]:
    """Compute a product element by element, and count the multiplications and additions."""
    y = torch.zeros(x.shape[0], w.shape[1])
    flops = 0
    for i in range(x.shape[0]):
        for k in range(w.shape[1]):
            for j in range(x.shape[1]):
                pair = combine(x[i, j].item(), w[j, k].item())
                flops += 1
                y[i, k] += pair
                flops += 1
    return y, flops


def every_triple_multiplies_and_adds():  # M8.4 E38
    """Every triple multiplies and adds.

    How many FLOPs does a matrix product take? With indices, $y_{ik}=\\sum_j x_{ij}w_{jk}$. For m
    rows, n inner positions and p columns there are $mnp$ triples (i, j, k), and each takes one
    multiplication and one addition: $2mnp$.
    """
    counted = {}
    for m, n, p in ((1, 5, 1), (4, 1, 3), (2, 3, 4)):
        x = torch.arange(float(m * n)).view(m, n)
        w = torch.arange(float(n * p)).view(n, p)
        by_loops, flops = product_by_loops(x, w, operator.mul)  # @inspect by_loops flops
        with measure() as cost:
            y = x @ w
        assert torch.equal(by_loops, y)
        assert flops == cost.matmul_flops == 2 * m * n * p
        counted[m, n, p] = flops  # @inspect counted
    assert counted == {(1, 5, 1): 10, (4, 1, 3): 24, (2, 3, 4): 48}
    # Each sum starts at 0, and the addition to 0 is counted, too. Without it, an element takes
    # $2n-1$ FLOPs. Processors multiply and add in one instruction, FMA (*fused multiply-add*), and
    # use it n times for each element, so $2n$ is what this lecture counts. ([A later
    # section](#the_last_addition_is_not_made) weighs the two.)
    assert flops / by_loops.numel() == 2 * n == 6
    # A common mistake in the innermost line: to add where it should multiply. That takes as many
    # FLOPs, so the count does not notice. The comparison of the results does.
    added, added_flops = product_by_loops(x, w, operator.add)
    assert added_flops == flops
    assert not torch.equal(added, y)


@shape_checked
def distance_walked(
    x: Float[Tensor, "m n"], w: Float[Tensor, "n p"], y: Float[Tensor, "m p"], order: str
) -> int:  # @stepover
    """Add up how far apart in memory the numbers are that follow each other in the loops.

    The loops over i (rows of x), j (inner) and k (columns of w) are nested in the given order.
    """
    factors = ((x, "ij"), (w, "jk"), (y, "ik"))
    sizes = {"i": x.shape[0], "j": x.shape[1], "k": w.shape[1]}
    walks = []
    for place in itertools.product(*(range(sizes[letter]) for letter in order)):
        at = dict(zip(order, place, strict=True))
        walks.append(
            [at[row] * z.stride(0) + at[column] * z.stride(1) for z, (row, column) in factors]
        )
    return sum(
        abs(after - before)
        for step in itertools.pairwise(walks)
        for before, after in zip(*step, strict=True)
    )


def the_loops_nest_in_any_order():  # M8.4
    """The loops may be nested in any order.

    Does it matter which of the three loops is outside? Not for the FLOPs: there are six orders, and
    each visits the same triples. It matters for memory. It hands out whole lines of neighbours, 64
    bytes, say, so the next number is often there already and a distant one hardly ever.
    """
    x, w, y = torch.zeros(4, 8), torch.zeros(8, 16), torch.zeros(4, 16)
    orders = ["".join(letters) for letters in itertools.permutations("ijk")]
    # For each order, walk through all 512 triples, and add up by how many elements one has to move
    # on in x, in w and in y from each triple to the next.
    distances = {order: distance_walked(x, w, y, order) for order in orders}
    walked = figures.distance_by_order(distances)  # @inspect walked
    # Textbooks have the rows outside, then the columns, and the sum inside: ikj with our letters.
    # Exchanging the last two makes the walk an eighth as long: with the column k innermost, each
    # step goes to the next number in w and y, and stays where it is in x.
    assert distances["ikj"] == 15_143
    assert min(distances.values()) == distances["ijk"] == 1823
    assert round(distances["ikj"] / distances["ijk"]) == 8
    # With the row i innermost, each step in x and y is a whole row long.
    assert max(distances.values()) == distances["kji"] == 21_795
    assert {order for order in orders if distances[order] > 17_000} == {"jki", "kji"}
    # This chapter in short: an elementwise operation makes a tensor of its own for little work; a
    # product does two FLOPs for each triple, in whatever order; and only a product brings rows
    # together with columns.
