"""Axes with names: annotations, the checker that makes them bind, and einops."""

import itertools
import math
from collections.abc import Callable

import jaxtyping
import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Float, Int, Shaped, jaxtyped
from torch import Tensor
from torch.fx.experimental.proxy_tensor import make_fx

from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m09_figures as figures
from trace.costs import measure


def numbered_axes_hide_their_meaning():  # M9.1 E41
    """Numbered axes hide their meaning.

    What does `x @ x.transpose(-2, -1)` compute? It depends on what the axes stand for, and numbers
    do not say that. A comment can, until the code changes and the comment does not.
    """
    # Two sequences of two tokens, three features each. The product compares all tokens of a
    # sequence with one another; -2 and -1 count axes from the end.
    x = torch.arange(12.0).view(2, 2, 3)  # @inspect x
    similar = x @ x.transpose(-2, -1)  # batch, sequence, sequence
    assert similar.shape == (2, 2, 2)
    assert similar[1, 0, 1] == (x[1, 0] * x[1, 1]).sum()
    # Here `permute` has put the axis of the batch where that of the tokens belongs. The comment
    # still reads well, the shape is the same, and the numbers are wrong.
    mixed = x @ x.permute(1, 2, 0)  # batch, sequence, sequence
    assert mixed.shape == similar.shape
    assert not torch.equal(mixed, similar)
    # A common mistake is to try code on axes that happen to have the same size. With a size of its
    # own for each axis, here 2 sequences, 3 tokens against 5, and 4 features, the slip is refused.
    queries = torch.arange(24.0).view(2, 3, 4)
    keys = torch.arange(40.0).view(2, 5, 4)
    assert (queries @ keys.transpose(-2, -1)).shape == (2, 3, 5)
    with refused(RuntimeError) as error:
        queries @ keys.permute(1, 2, 0)
    assert error.message


def sum_over_tokens(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B D"]:
    """Promise much and check nothing: on purpose, there is no decorator here."""
    return x.sum(dim=1)


def an_annotation_only_describes():  # M9.2
    """An annotation only describes.

    Can the names be part of the program? [jaxtyping](https://docs.kidger.site/jaxtyping/) has
    types for tensors: `Float[Tensor, "B T D"]` is a tensor of floating-point numbers with three
    axes of these names. A number instead of a name fixes the size.
    """
    # Such a type next to a name has no effect when the program runs. This one is false.
    x: Float[Tensor, "2 3"] = torch.arange(6.0).view(3, 2)  # @inspect x
    assert x.shape == (3, 2)
    # `isinstance` does compare. A name stands for any size.
    assert not isinstance(x, Float[Tensor, "2 3"])
    assert isinstance(x, Float[Tensor, "3 2"])
    assert isinstance(x, Float[Tensor, "B T"])
    assert not isinstance(x, Float[Tensor, "B T D"])
    # The same name means the same size, so "D D" is a square matrix.
    assert isinstance(torch.zeros(3, 3), Float[Tensor, "D D"])
    assert not isinstance(x, Float[Tensor, "D D"])
    # The dtype has its say as well. `Float` stands for all floating-point formats, `Shaped` for
    # any dtype.
    assert not isinstance(x.long(), Float[Tensor, "3 2"])
    assert isinstance(x.long(), Int[Tensor, "3 2"])
    assert isinstance(x.double(), Float[Tensor, "3 2"])
    assert isinstance(x.long(), Shaped[Tensor, "3 2"])
    # Nor does a function check anything by itself. This one asks for three axes and is given two;
    # it promises two and returns one.
    assert sum_over_tokens(x).shape == (3,)


@shape_checked
def add_bias(x: Float[Tensor, "B D"], bias: Float[Tensor, " D"]) -> Float[Tensor, "B D"]:
    """Add the same numbers to each row."""
    return x + bias


@shape_checked
def means_of_columns(x: Float[Tensor, "B D"]) -> Float[Tensor, " B"]:
    """Promise a number for each row, and return one for each column."""
    return x.mean(dim=0)


def complaint_about(call: Callable[[], object]) -> str:  # @stepover
    """Return what the checker says about a call, or nothing when it lets it pass."""
    with refused(jaxtyping.TypeCheckError) as error:
        call()
    return error.message


def a_checker_makes_annotations_bind():  # M9.3
    """A checker makes annotations bind.

    Who compares the tensors with the types? A decorator can, on each call: in this lecture it is
    `shape_checked`, made of jaxtyping and the type checker typeguard.
    """
    x, bias = torch.zeros(2, 3), torch.tensor([10.0, 20, 30])
    assert add_bias(x, bias)[1].tolist() == [10, 20, 30]
    # D was 3 in x, so it has to be 3 in the bias. A bias of one number would be broadcast without
    # a word; the checker refuses, and says what it knows of the names.
    complaint = complaint_about(lambda: add_bias(x, bias[:1]))  # @inspect complaint
    assert all(part in complaint for part in ("parameter 'bias'", "f32[1]", "B=2\nD=3"))
    assert (x + bias[:1]).shape == (2, 3)
    # A wrong dtype is refused, too, and a result that is not what was promised.
    assert "i64[3]" in complaint_about(lambda: add_bias(x, bias.long()))
    assert "return value" in complaint_about(lambda: means_of_columns(x))
    # Names hold for one call: the next may come with other sizes.
    assert complaint_about(lambda: add_bias(torch.zeros(4, 5), torch.zeros(5))) == ""
    # jaxtyping keeps the sizes of the names, and typeguard compares. Without a checker the same
    # decorator lets everything pass, and no error says so. (The same happens with some versions of
    # typeguard; the lecture keeps to one that compares.) Only a bad call that fails shows that a
    # checker works. Here is the function below the decorator, decorated without one.
    unchecked = jaxtyped(typechecker=None)(add_bias.__wrapped__)
    assert complaint_about(lambda: unchecked(x, bias[:1])) == ""


@shape_checked
def centre_with_a_wrong_note(x: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
    """Subtract from each column its mean, and call the means by the wrong axis."""
    means: Float[Tensor, " B"] = x.mean(dim=0)
    return x - means


@shape_checked
def centre_with_a_check(x: Float[Tensor, "B D"]) -> Float[Tensor, "B D"]:
    """Subtract from each column its mean, and ask which axis the means have."""
    means = x.mean(dim=0)
    if not isinstance(means, Float[Tensor, " B"]):
        raise ValueError("means should have one axis, B")
    return x - means


def a_checker_sees_only_signatures():  # M9.3
    """A checker sees only signatures.

    What slips through? Everything that is not an argument or a result, and every mistake that
    leaves names and sizes as they should be.
    """
    x = torch.tensor([[1.0, 2, 3], [5, 6, 7]])
    # Types of names inside a function are not compared. Here one is false, and the call passes.
    assert centre_with_a_wrong_note(x).tolist() == [[-2, -2, -2], [2, 2, 2]]
    # `isinstance` inside a checked function is compared with the names of the call. There the same
    # false statement fails.
    with refused(ValueError) as error:
        centre_with_a_check(x)
    assert "one axis, B" in error.message
    # Sizes that agree by chance hide a mistake. With as many columns as rows, the false statement
    # passes, and so does a transpose where none should be.
    square = x[:, :2]
    assert centre_with_a_check(square).tolist() == [[-2, -2], [2, 2]]
    assert complaint_about(lambda: add_bias(square.T, x[0, :2])) == ""
    # Types say nothing about values, such as "not infinite" or "each row adds up to 1". Such
    # conditions are left to `assert`.
    assert complaint_about(lambda: add_bias(x, torch.full((3,), torch.inf))) == ""


@shape_checked
def scores_by_loops(
    queries: Float[Tensor, "B q d"], keys: Float[Tensor, "B k d"]
) -> tuple[Float[Tensor, "B q k"], int]:  # @stepover
    """Sum over d for each triple (B, q, k), and count the multiplications and additions."""
    B, q, d = queries.shape
    k = keys.shape[1]
    scores = torch.zeros(B, q, k)
    flops = 0
    for b, i, j in itertools.product(range(B), range(q), range(k)):
        for feature in range(d):
            scores[b, i, j] += queries[b, i, feature] * keys[b, j, feature]
            flops += 2
    return scores, flops


def einsum_sums_over_what_is_left_out():  # M9.4
    """`einsum` sums over what is left out.

    Can an operation be stated by its names alone?
    [einops](https://openreview.net/forum?id=oapKSVM2bcj) writes the axes of the operands, an
    arrow, and the axes of the result. Numbers whose indices agree in every shared name are
    multiplied, and the products are added up over the names that are missing on the right.
    """
    queries = torch.arange(24.0).view(2, 3, 4)
    keys = torch.arange(40.0).view(2, 5, 4)
    # Again each token of one kind (q) is compared with each of another (k), for every sequence of
    # the batch (B), over the features (d).
    pattern = "B q d, B k d -> B q k"
    wiring = figures.wiring(pattern, queries, keys)  # @inspect wiring
    with measure() as cost:
        scores = einsum(queries, keys, pattern)  # @inspect scores
    # It is the matrix product with a transpose, and it is four loops, one for each name.
    assert torch.equal(scores, queries @ keys.transpose(1, 2))
    by_loops, flops = scores_by_loops(queries, keys)
    assert torch.equal(scores, by_loops)
    # The FLOPs can be read off the names: where something is summed, two for each combination of
    # all indices, kept or not.
    assert cost.matmul_flops == flops == 2 * 2 * 3 * 5 * 4
    # The order on the right is ours to choose. A transposed result takes no more FLOPs.
    with measure() as turned:
        transposed = einsum(queries, keys, "B q d, B k d -> B k q")
    assert torch.equal(transposed, scores.transpose(1, 2))
    assert turned.matmul_flops == flops


def one_rule_covers_the_usual_products():  # M9.4
    """One rule covers the usual products.

    Which operations are einsums? All that multiply and then add, some that do only one of the two,
    and a transpose, which does neither.
    """
    x, y = torch.arange(3.0) + 1, torch.arange(3.0) + 4
    w = torch.arange(12.0).view(4, 3)
    stack = torch.arange(24.0).view(2, 4, 3)
    both = {
        "inner product": (einsum(x, y, "d, d ->"), x @ y),
        "outer product": (einsum(x, y, "i, j -> i j"), x.view(3, 1) * y),
        "matrix times vector": (einsum(w, x, "K D, D -> K"), w @ x),
        "linear layer": (einsum(stack, w, "B T D, K D -> B T K"), stack @ w.T),
        "elementwise product": (einsum(w, w, "K D, K D -> K D"), w * w),
        "sum over an axis": (einsum(w, "K D -> D"), w.sum(dim=0)),
        "transpose": (einsum(w, "K D -> D K"), w.T),
    }
    for name, (by_names, usual) in both.items():
        assert torch.equal(by_names, usual), name
    assert both["inner product"][0] == 1 * 4 + 2 * 5 + 3 * 6
    assert both["linear layer"][0].shape == (2, 4, 4)
    # A common mistake is to believe that one name means one size. Another size is refused, but a
    # size of 1 is stretched to fit, here to three columns that are all alike. The types of
    # jaxtyping take 1 for a size like any other.
    narrow = torch.arange(4.0).view(4, 1)
    assert torch.equal(einsum(narrow, x, "K D, D -> K"), narrow.expand(4, 3) @ x)
    assert "parameter 'bias'" in complaint_about(lambda: add_bias(narrow, x))
    with refused(RuntimeError) as error:
        einsum(narrow.expand(4, 2), x, "K D, D -> K")
    assert error.message


@shape_checked
def scores_of(
    queries: Float[Tensor, "*lead q d"], keys: Float[Tensor, "*lead k d"]
) -> Float[Tensor, "*lead q k"]:
    """Compare each query with each key, whatever axes come first."""
    return einsum(queries, keys, "... q d, ... k d -> ... q k")


def an_ellipsis_stands_for_any_axes_in_front():  # M9.5
    """An ellipsis stands for any axes in front.

    Must code be written again when an axis is added? Three dots stand for any number of axes,
    which are kept as they are. In the types of jaxtyping a star does the same: `*lead`.
    """
    queries = torch.arange(48.0).view(2, 2, 3, 4)
    keys = torch.arange(80.0).view(2, 2, 5, 4)
    # Say, 2 sequences and 2 heads in front; then the heads of one sequence; then one head.
    with measure() as two_axes:
        scores = scores_of(queries, keys)  # @inspect scores.shape
    assert scores.shape == (2, 2, 3, 5)
    assert torch.equal(scores_of(queries[1], keys[1]), scores[1])
    assert torch.equal(scores_of(queries[1, 0], keys[1, 0]), scores[1, 0])
    # One axis of size 4 in place of two of size 2 gives the same numbers for the same FLOPs.
    with measure() as one_axis:
        flat = scores_of(queries.view(4, 3, 4), keys.view(4, 5, 4))
    assert torch.equal(flat.view(2, 2, 3, 5), scores)
    assert one_axis.matmul_flops == two_axes.matmul_flops == 4 * (2 * 3 * 5 * 4)
    # The price: what stands for any axes says nothing about them, not even how many there are. An
    # axis too many passes through einsum, and the one in front is broadcast.
    extra = einsum(queries, keys[1], "... q d, ... k d -> ... q k")
    assert torch.equal(extra[0], einsum(queries[0], keys[1], "h q d, h k d -> h q k"))
    # The checker notices, because `*lead` has to be the same in both.
    assert "parameter 'keys'" in complaint_about(lambda: scores_of(queries, keys[1]))


def reduce_names_what_goes():  # M9.6 E40
    """`reduce` removes axes by name.

    What does `x.mean(dim=2)` leave? With `reduce` the answer is part of the line: axes that are
    missing on the right are gathered into one number, by the operation one names.
    """
    x = torch.arange(24.0).view(2, 3, 4)
    mean = reduce(x, "B T D -> B T", "mean")  # @inspect mean
    assert torch.equal(mean, x.mean(dim=2))
    assert mean[1, 2] == (20 + 21 + 22 + 23) / 4
    # A common mistake is to take `"sum"` for the same. The sum is the mean times the number of
    # elements, here four.
    total = reduce(x, "B T D -> B T", "sum")
    assert torch.equal(total, 4 * mean)
    assert not torch.equal(total, mean)
    # In a loss it makes the gradients as many times larger, and more so with a larger batch.
    # ([AdamW would not notice](#adamw_does_not_see_the_scale_of_the_loss).)
    losses = torch.zeros(8, requires_grad=True)
    slopes = [torch.autograd.grad(reduce(losses, "B ->", how), losses) for how in ("sum", "mean")]
    assert [slope.tolist() for (slope,) in slopes] == [[1] * 8, [1 / 8] * 8]
    # Several axes can go at once; a `1` keeps the place of one, ready for broadcasting.
    assert torch.equal(reduce(x, "B T D -> B", "max"), torch.tensor([11.0, 23]))
    centred = x - reduce(x, "B T D -> B T 1", "mean")
    assert centred[0, 0].tolist() == [-1.5, -0.5, 0.5, 1.5]
    # Parentheses take an axis apart. Four features as two pairs, with the larger of each pair: that
    # is max pooling.
    with measure() as cost:
        pooled = reduce(x, "B T (pairs two) -> B T pairs", "max", two=2)  # @inspect pooled
    assert pooled[0].tolist() == [[1, 3], [5, 7], [9, 11]]
    # The meter books one operation for each element that is read.
    assert cost.other_flops == x.numel()


def heads_are_split_without_moving_data():  # M9.7
    """Heads are split without moving data.

    Attention treats the D features of a token as h *heads* of d features each (K in [the parts of a
    Transformer](#heads_share_out_the_features)). How are they taken apart? `rearrange` writes an
    axis made of two as `(h d)`, the first name counting slower.
    """
    x = torch.arange(48.0).view(2, 3, 8)
    with measure() as cost:
        split = rearrange(x, "B T (h d) -> B T h d", h=2)  # @inspect split
    # New strides are enough, so the result is a view.
    assert split.shape == (2, 3, 2, 4)
    assert same_storage(split, x)
    assert cost.allocated_bytes == 0
    assert torch.equal(rearrange(split, "B T h d -> B T (h d)"), x)
    # A common mistake is to swap the names in the parentheses. The shape is the same, and each
    # head gets every second feature. Joined by the other pattern, features have changed places.
    other = rearrange(x, "B T (d h) -> B T h d", h=2)
    splits = figures.heads(
        x[0, 0], {"(h d) -> h d": split[0, 0], "(d h) -> h d": other[0, 0]}
    )  # @inspect splits
    assert other.shape == split.shape
    assert split[0, 0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert other[0, 0].tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]
    assert not torch.equal(rearrange(other, "B T h d -> B T (h d)"), x)
    # Attention wants heads in front of tokens, which is a view as well. Its result lies in memory
    # in that order, here as `contiguous` writes it. No strides read the features of a token
    # together again: joining them copies every number.
    in_front = rearrange(x, "B T (h d) -> B h T d", h=2)
    assert same_storage(in_front, x)
    after_attention = in_front.contiguous()
    with measure() as cost:
        joined = rearrange(after_attention, "B h T d -> B T (h d)")
    assert torch.equal(joined, x)
    assert cost.allocated_bytes == x.numel() * x.element_size() == 192


@shape_checked
def act_on_heads(x: Float[Tensor, "B T D"], w: Float[Tensor, "h d d"]) -> Float[Tensor, "B T D"]:
    """Take the features apart into heads, multiply each with a matrix of its own, and join."""
    heads = rearrange(x, "B T (h d) -> B T h d", h=w.shape[0])
    acted = einsum(heads, w, "B T h d, h d e -> B T h e")
    return rearrange(acted, "B T h e -> B T (h e)")


def heads_are_blocks_of_one_matrix():  # M9.7
    """Heads are the blocks of one matrix.

    What does a layer give up by working on each head separately? Features of different heads do not
    meet. As one matrix for all features, it would be zero outside the blocks on its diagonal. (A
    Transformer lets them meet before and after its heads, in matrices for all features.)
    """
    x = torch.arange(48.0).view(2, 3, 8)
    w = torch.arange(32.0).view(2, 4, 4)
    with measure() as by_head:
        y = act_on_heads(x, w)
    blocks = torch.block_diag(*w)  # @inspect blocks
    with measure() as as_one:
        y_as_one = x @ blocks
    assert torch.equal(y, y_as_one)
    assert blocks.shape == (8, 8)
    # What is given up is also saved: h times fewer parameters, and h times fewer FLOPs.
    assert w.numel() * 2 == blocks.numel()
    assert by_head.matmul_flops * 2 == as_one.matmul_flops
    assert as_one.matmul_flops == 2 * (2 * 3) * 8 * 8
    # A change to the features of the second head leaves the results of the first as they were.
    x[:, :, 4:] += 1
    change = act_on_heads(x, w) - y  # @inspect change
    assert not change[:, :, :4].any()
    assert torch.equal(change[:, :, 4:], w[1].sum(dim=0).expand(2, 3, 4))


def flops_by_loops(*sizes: int) -> int:  # @stepover
    """Run through all combinations of indices, with a multiplication and an addition each."""
    flops = 0
    for _ in itertools.product(*map(range, sizes)):
        flops += 2
    return flops


def the_order_of_products_decides_their_price():  # M9.8 E42
    """The order of products decides their price.

    A product of three can be computed in two ways: (ab)v = a(bv), exactly so for the whole numbers
    here, and up to rounding for others. Which is cheaper, when a and b are matrices and v is a
    vector?
    """
    n = 64
    a, b, v = torch.ones(n, n).triu(), torch.ones(n, n).tril(), torch.ones(n)
    with measure() as left_to_right:
        from_left = (a @ b) @ v
    with measure() as right_to_left:
        from_right = a @ (b @ v)
    assert torch.equal(from_left, from_right)
    assert from_left[0] == sum(range(1, 65))
    # From the right there are only products with a vector. From the left there is one of two
    # matrices, which takes n times the work of one of those.
    assert left_to_right.matmul_flops == flops_by_loops(n, n, n) + flops_by_loops(n, n) == 532_480
    assert right_to_left.matmul_flops == 2 * flops_by_loops(n, n) == 16_384
    # Does einsum find the better order? A common mistake is to count on it. PyTorch takes the
    # operands from left to right, unless the package
    # [opt_einsum](https://doi.org/10.21105/joss.00753) is installed and there are at least three of
    # them. To see the plain behaviour on any machine, it is switched off for a moment.
    before = torch.backends.opt_einsum.enabled
    with torch.backends.opt_einsum.flags(enabled=False):
        with measure() as as_given:
            result = einsum(a, b, v, "i j, j k, k -> i")
        with measure() as turned_round:
            same_result = einsum(v, b, a, "k, j k, i j -> i")
    assert torch.backends.opt_einsum.enabled == before
    assert torch.equal(result, from_left)
    assert torch.equal(same_result, from_left)
    assert as_given.matmul_flops == left_to_right.matmul_flops
    assert turned_round.matmul_flops == right_to_left.matmul_flops


@shape_checked
def chain(
    a: Float[Tensor, "i j"], b: Float[Tensor, "j k"], v: Float[Tensor, " k"]
) -> Float[Tensor, " i"]:
    """Multiply three factors in one line, in the order that was found: b and v first."""
    with torch.backends.opt_einsum.flags(enabled=False):
        return einsum(b, v, a, "j k, k, i j -> i")


@shape_checked
def flops_of_each_order(
    factors: dict[str, tuple[str, Shaped[Tensor, "..."]]], result: str
) -> dict[str, int]:  # @stepover
    """For three factors, multiply each pair first, and count."""
    flops = {}
    for first, second in itertools.combinations(factors, 2):
        (x_axes, x), (y_axes, y) = factors[first], factors[second]
        z_axes, z = next(factors[name] for name in factors if name not in (first, second))
        needed = f"{z_axes} {result}".split()
        kept = " ".join(dict.fromkeys(n for n in f"{x_axes} {y_axes}".split() if n in needed))
        with measure() as cost:
            pair = einsum(x, y, f"{x_axes}, {y_axes} -> {kept}")
            einsum(pair, z, f"{kept}, {z_axes} -> {result}")
        flops[f"{first} and {second}"] = cost.matmul_flops + cost.other_flops
    return flops


def an_order_is_found_once_from_the_sizes():  # M9.8
    """An order is found once, from the sizes.

    What does it take to find the cheapest order? No numbers, only sizes. On the device `meta`,
    tensors have a shape and no numbers; nothing is computed there, and the meter counts what would
    be.
    """
    a = torch.empty(10, 20, device="meta")
    b = torch.empty(20, 30, device="meta")
    v = torch.empty(30, device="meta")
    # With three factors there are three pairs to begin with. a and v have no axis in common; to
    # begin with them is possible, too, and would keep all 6000 products.
    flops = flops_of_each_order({"a": ("i j", a), "b": ("j k", b), "v": ("k", v)}, result="i")
    orders = figures.flops_by_order(flops)  # @inspect orders
    assert flops == {"a and b": 12_600, "a and v": 18_000, "b and v": 1600}
    assert flops["a and b"] == 2 * 10 * 20 * 30 + 2 * 10 * 30
    assert flops["a and v"] == 10 * 20 * 30 + 2 * 10 * 20 * 30
    assert flops["b and v"] == 2 * 20 * 30 + 2 * 10 * 20
    # With more factors the search gets long: each step chooses one of all pairs that are left. Four
    # factors have 18 orders and ten have over two billion, so for many factors a search settles
    # for an order that is good.
    assert len(flops) == math.comb(3, 2) * math.comb(2, 2)
    assert math.prod(math.comb(left, 2) for left in (4, 3, 2)) == 18
    assert math.prod(math.comb(left, 2) for left in range(2, 11)) == 2_571_912_000
    # Sizes rarely change from one step of training to the next, so one search can serve them all.
    # `chain` is written in the order that was found. `make_fx`, a part of `torch.compile`, records
    # the operators that run. In the record there is no einsum and no search any more: two products
    # are left, in an order that is fixed.
    recorded = make_fx(chain)(a, b, v)
    operators = [str(node.target) for node in recorded.graph.nodes]
    assert operators.count("aten.bmm.default") == 2
    assert not any("einsum" in name for name in operators)
    with measure() as cost:
        recorded(a, b, v)
    assert cost.matmul_flops == min(flops.values())
    # This chapter in short: names say what an axis is, and a checker makes them binding. From the
    # names of a product one reads off its FLOPs, and from its sizes the best order.
