"""Axes with names: annotations, the checker that makes them bind, and einops."""

import itertools
from collections.abc import Callable

import jaxtyping
import torch
from einops import einsum, rearrange, reduce
from jaxtyping import Float, Int, Shaped, jaxtyped
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention
from typeguard import typechecked

from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m09_figures as figures
from trace.costs import measure


def numbered_axes_hide_their_meaning():  # M9.1 E41
    """Numbered axes hide their meaning.

    What does `x @ x.transpose(-2, -1)` compute? We know every operation in it (-2 and -1 count axes
    from the end), and cannot say: that depends on what the axes stand for, and numbers do not tell.
    A comment can, until the code changes and the comment does not.
    """
    # Two sequences of two tokens, three features each. The matmul compares all tokens of a sequence
    # with one another.
    x = torch.arange(12.0).view(2, 2, 3)  # @inspect x
    similar = x @ x.transpose(-2, -1)  # batch, sequence, sequence
    assert similar[1, 0, 1] == (x[1, 0] * x[1, 1]).sum()
    # In the next line, `permute` has put the axis of the batch where that of the tokens belongs.
    # The comment still reads well, the shape is the same, and the numbers are wrong.
    mixed = x @ x.permute(1, 2, 0)  # batch, sequence, sequence
    assert mixed.shape == similar.shape
    assert not torch.equal(mixed, similar)
    # How would you have noticed? By trying the code on axes of different sizes. With 2 sequences, 3
    # tokens against 5, and 4 features, PyTorch refuses the slip.
    queries = torch.arange(24.0).view(2, 3, 4)
    keys = torch.arange(40.0).view(2, 5, 4)
    assert (queries @ keys.transpose(-2, -1)).shape == (2, 3, 5)  # @predict
    with refused(RuntimeError) as error:
        queries @ keys.permute(1, 2, 0)
    assert "size" in error.message
    # So: in a test, give each axis a size of its own.


def sum_over_features_unchecked(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T"]:
    """Promise much and check nothing: on purpose, there is no decorator here."""
    return x.sum(dim=1)


def an_annotation_only_describes():  # M9.2
    """An annotation only describes.

    Can the names be part of the program? [jaxtyping](https://docs.kidger.site/jaxtyping/) has types
    for tensors: `Float[Tensor, "B T D"]` is a tensor of floating-point numbers with three axes of
    these names. A number instead of a name fixes the size. What happens if such a type is false?
    """
    x: Float[Tensor, "2 3"] = torch.arange(6.0).view(3, 2)  # @inspect x
    # Nothing. Python does not compare types when it runs. `isinstance` does; in it, a name stands
    # for any size, and the same name for the same size.
    assert not isinstance(x, Float[Tensor, "2 3"])
    assert isinstance(x, Float[Tensor, "3 2"])
    assert isinstance(x, Float[Tensor, "R D"])
    assert not isinstance(x, Float[Tensor, "B T D"])
    assert not isinstance(x, Float[Tensor, "D D"])
    assert isinstance(torch.zeros(3, 3), Float[Tensor, "D D"])
    # The dtype counts as well. `Float` is floating-point from fp64 to fp8, `Shaped` any dtype.
    assert not isinstance(x.long(), Float[Tensor, "3 2"])
    assert isinstance(x.long(), Int[Tensor, "3 2"])
    assert isinstance(x.double(), Float[Tensor, "3 2"])
    assert isinstance(x.long(), Shaped[Tensor, "3 2"])
    # Nor does a function check anything by itself. This one asks for three axes and gets two; it
    # promises two and returns one.
    assert sum_over_features_unchecked(x).shape == (3,)  # @predict


def add_bias(x: Float[Tensor, "R D"], bias: Float[Tensor, " D"]) -> Float[Tensor, "R D"]:
    """Add the same numbers to each row."""
    return x + bias


def means_of_columns(x: Float[Tensor, "R D"]) -> Float[Tensor, " R"]:
    """Promise a number for each row, and return one for each column."""
    return x.mean(dim=0)


def complaint_about(call: Callable[[], object]) -> str:  # @stepover
    """Return what the checker says about a call, or nothing when it lets it pass."""
    with refused(jaxtyping.TypeCheckError) as error:
        call()
    return error.message


def a_checker_makes_annotations_bind():  # M9.3
    """A checker makes annotations bind.

    Who compares the tensors with the types? A decorator can, on each call. It takes two parts:
    jaxtyping keeps the sizes of the names, and a type checker, here typeguard, compares. The
    lecture has the same under the name `shape_checked`.
    """
    checked = jaxtyped(typechecker=typechecked)
    add = checked(add_bias)
    x, bias = torch.zeros(2, 3), torch.tensor([10.0, 20, 30])
    assert add(x, bias)[1].tolist() == [10, 20, 30]
    # D is 3 in x, so it has to be 3 in the bias. PyTorch would broadcast a bias of one number
    # without a word; the checker refuses, and says what it knows of the names.
    complaint = complaint_about(lambda: add(x, bias[:1]))  # @inspect complaint
    assert all(part in complaint for part in ("parameter 'bias'", "f32[1]", "R=2\nD=3"))
    assert (x + bias[:1]).shape == (2, 3)  # @predict
    # It refuses a wrong dtype, too, and a result that is not what was promised.
    assert "i64[3]" in complaint_about(lambda: add(x, bias.long()))
    assert "return value" in complaint_about(lambda: checked(means_of_columns)(x))
    # Names hold for one call: the next may come with other sizes.
    assert complaint_about(lambda: add(torch.zeros(4, 5), torch.zeros(5))) == ""
    # And if the type checker is `None`, the decorator lets everything pass, and no error says so.
    # So: write one bad call as a test, to see that the checker works.
    unchecked = jaxtyped(typechecker=None)(add_bias)
    assert complaint_about(lambda: unchecked(x, bias[:1])) == ""


@shape_checked
def centre_with_a_wrong_note(x: Float[Tensor, "R D"]) -> Float[Tensor, "R D"]:
    """Subtract from each column its mean, and call the means by the wrong axis."""
    means: Float[Tensor, " R"] = x.mean(dim=0)
    return x - means


@shape_checked
def centre_with_a_check(x: Float[Tensor, "R D"]) -> Float[Tensor, "R D"]:
    """Subtract from each column its mean, and ask which axis the means have."""
    means = x.mean(dim=0)
    if not isinstance(means, Float[Tensor, " R"]):
        raise ValueError("means should have one axis, R")
    return x - means


def a_checker_sees_only_signatures():  # M9.3
    """A checker sees only signatures.

    What slips through? Everything that is not an argument or a result, and every mistake that
    leaves names and sizes as they should be.
    """
    x = torch.tensor([[1.0, 2, 3], [5, 6, 7]])
    # Our decorator does not compare types of names inside a function. The one in this function is
    # false. (Used by itself, a newer typeguard compares such types, each for itself.)
    assert centre_with_a_wrong_note(x).tolist() == [[-2, -2, -2], [2, 2, 2]]
    # `isinstance` inside a checked function is compared with the names of the call, and finds it.
    with refused(ValueError) as error:
        centre_with_a_check(x)
    assert "one axis, R" in error.message
    # Sizes that agree by chance hide a mistake. With as many columns as rows, the false statement
    # passes, and so does a transpose where none should be.
    square = x[:, :2]
    assert centre_with_a_check(square).tolist() == [[-2, -2], [2, 2]]
    add = shape_checked(add_bias)
    assert complaint_about(lambda: add(square.T, x[0, :2])) == ""
    # And types say nothing about values, such as "not infinite". That is what `assert` is for.
    assert complaint_about(lambda: add(x, torch.full((3,), torch.inf))) == ""


@shape_checked
def scores_by_loops(
    queries: Float[Tensor, "B i K"], keys: Float[Tensor, "B j K"]
) -> tuple[Float[Tensor, "B i j"], int]:  # @stepover
    """Sum over K for each triple (b, i, j), and count the multiplications and additions."""
    B, query_count, K = queries.shape
    key_count = keys.shape[1]
    scores = torch.zeros(B, query_count, key_count)
    flops = 0
    for b, i, j in itertools.product(range(B), range(query_count), range(key_count)):
        for k in range(K):
            scores[b, i, j] += queries[b, i, k] * keys[b, j, k]
            flops += 2
    return scores, flops


def einsum_sums_over_what_is_left_out():  # M9.4
    """`einsum` sums over what is left out.

    Can we state a whole operation by its names? [einops](https://openreview.net/forum?id=oapKSVM2bcj)
    writes the axes of the operands, an arrow, and the axes of the result. Numbers whose indices
    agree in every shared name are multiplied; the products are added up over the names that are
    missing on the right.
    """
    queries = torch.arange(24.0).view(2, 3, 4)
    keys = torch.arange(40.0).view(2, 5, 4)
    # Again each token of one kind (i) is compared with each of another (j), for every sequence (B),
    # over the features of a head (K).
    pattern = "B i K, B j K -> B i j"
    wiring = figures.wiring(pattern, queries, keys)  # @inspect wiring
    with measure() as cost:
        scores = einsum(queries, keys, pattern)  # @inspect scores
    # It is the matmul with a transpose. And it is four loops, one for each name.
    assert torch.equal(scores, queries @ keys.transpose(1, 2))
    by_loops, flops = scores_by_loops(queries, keys)
    assert torch.equal(scores, by_loops)
    # So we can read the FLOPs off the names, kept or not: $2·B·i·j·K$.
    assert cost.matmul_flops == flops == 2 * (2 * 3 * 5 * 4)
    # The order on the right is ours to choose. A transposed result costs no more FLOPs.
    with measure() as turned:
        transposed = einsum(queries, keys, "B i K, B j K -> B j i")
    assert torch.equal(transposed, scores.transpose(1, 2))
    assert turned.matmul_flops == flops


def one_rule_covers_the_usual_products():  # M9.4
    """One rule covers the usual operations.

    Which operations are einsums? Those that add up products, some that do only one of the two, and
    a transpose, which does neither. Cover the einsums and write them yourself.
    """
    x, y = torch.arange(3.0) + 1, torch.arange(3.0) + 4
    w = torch.arange(12.0).view(4, 3)
    stack = torch.arange(24.0).view(2, 4, 3)
    both = {
        "inner product": (einsum(x, y, "D, D ->"), x @ y),
        "outer product": (einsum(x, y, "i, j -> i j"), x.view(3, 1) * y),
        "matrix times vector": (einsum(w, x, "F D, D -> F"), w @ x),
        "linear layer": (einsum(stack, w, "B T D, F D -> B T F"), stack @ w.T),
        "elementwise product": (einsum(w, w, "F D, F D -> F D"), w * w),
        "sum over an axis": (einsum(w, "F D -> D"), w.sum(dim=0)),
        "transpose": (einsum(w, "F D -> D F"), w.T),
    }
    for name, (by_names, usual) in both.items():
        assert torch.equal(by_names, usual), name
    # One trap: a name does not quite mean one size. einsum refuses two sizes for one name, but
    # stretches a size of 1 to fit. The types of jaxtyping take 1 for a size like any other.
    narrow = torch.arange(4.0).view(4, 1)
    assert torch.equal(einsum(narrow, x, "F D, D -> F"), narrow.expand(4, 3) @ x)
    with refused(RuntimeError) as error:
        einsum(narrow.expand(4, 2), x, "F D, D -> F")
    assert error.message
    assert "parameter 'bias'" in complaint_about(lambda: shape_checked(add_bias)(narrow, x))


@shape_checked
def scores_of(
    queries: Float[Tensor, "*lead i K"], keys: Float[Tensor, "*lead j K"]
) -> Float[Tensor, "*lead i j"]:
    """Compare each query with each key, whatever axes come first."""
    return einsum(queries, keys, "... i K, ... j K -> ... i j")


def an_ellipsis_stands_for_any_axes_in_front():  # M9.5
    """An ellipsis stands for any axes in front.

    Do we have to write the code again when an axis is added? Three dots stand for any number of
    axes, which are kept as they are if the dots stand on the right, too. In the types of jaxtyping
    a star stands for any number of axes: `*lead`.
    """
    queries = torch.arange(48.0).view(2, 2, 3, 4)
    keys = torch.arange(80.0).view(2, 2, 5, 4)
    # 2 sequences and 2 heads in front; then the heads of one sequence; then one head.
    with measure() as two_axes:
        scores = scores_of(queries, keys)  # @inspect scores.shape
    assert torch.equal(scores_of(queries[1], keys[1]), scores[1])
    assert torch.equal(scores_of(queries[1, 0], keys[1, 0]), scores[1, 0])
    # One axis of size 4 in place of two of size 2 gives the same numbers for the same FLOPs.
    with measure() as one_axis:
        flat = scores_of(queries.view(4, 3, 4), keys.view(4, 5, 4))
    assert torch.equal(flat.view(2, 2, 3, 5), scores)
    assert one_axis.matmul_flops == two_axes.matmul_flops
    # The price: what stands for any axes says nothing about them, not even how many there are. Here
    # the keys lack the axis of the sequences, and einsum broadcasts them.
    extra = einsum(queries, keys[1], "... i K, ... j K -> ... i j")
    assert extra.shape == scores.shape
    assert not torch.equal(extra[0], scores[0])
    # The checker notices, because `*lead` has to be the same in both.
    assert "parameter 'keys'" in complaint_about(lambda: scores_of(queries, keys[1]))


def reduce_names_what_goes():  # M9.6 E40
    """`reduce` removes axes by name.

    What does `x.mean(dim=2)` leave? With `reduce` the answer is part of the line: axes that are
    missing on the right are gathered into one number, by the operation you name.
    """
    x = torch.arange(24.0).view(2, 3, 4)
    mean = reduce(x, "B T D -> B T", "mean")  # @inspect mean
    assert torch.equal(mean, x.mean(dim=2))
    # A common mistake is to take `"sum"` for the same. The sum is the mean times the number of
    # elements, here four.
    total = reduce(x, "B T D -> B T", "sum")
    assert torch.equal(total, 4 * mean)
    assert not torch.equal(total, mean)
    # In a loss, that makes the gradients as many times larger as there are rows: a step along them
    # grows with the batch. ([AdamW hardly notices](#adamw_does_not_see_the_scale_of_the_loss).)
    losses = torch.zeros(8, requires_grad=True)
    [of_sum] = torch.autograd.grad(reduce(losses, "R ->", "sum"), losses)
    [of_mean] = torch.autograd.grad(reduce(losses, "R ->", "mean"), losses)
    assert torch.equal(of_sum, 8 * of_mean)
    # Several axes can go at once; a `1` keeps the place of one, ready for broadcasting.
    assert torch.equal(reduce(x, "B T D -> B", "max"), torch.tensor([11.0, 23]))
    centred = x - reduce(x, "B T D -> B T 1", "mean")
    assert centred[0, 0].tolist() == [-1.5, -0.5, 0.5, 1.5]
    # Parentheses take an axis apart. Four features as two pairs, with the larger of each pair:
    pooled = reduce(x, "B T (pairs two) -> B T pairs", "max", two=2)  # @inspect pooled
    assert pooled[0].tolist() == [[1, 3], [5, 7], [9, 11]]


def heads_are_split_without_moving_data():  # M9.7
    """Heads are split without moving data.

    Attention divides the D features of a token's query, key and value among H *heads* of K features
    each, which [look at the other tokens](#heads_share_out_the_features) separately. How do we take
    them apart? `rearrange` writes an axis made of two as `(H K)`, the second name counting faster.
    """
    x = torch.arange(48.0).view(2, 3, 8)
    with measure() as cost:
        split = rearrange(x, "B T (H K) -> B T H K", H=2)  # @inspect split
    # New strides are enough, so the result is a view.
    assert split.shape == (2, 3, 2, 4)  # @predict
    assert same_storage(split, x)
    assert cost.allocated_bytes == 0  # @predict
    # Swap the names in the parentheses, and the shape is the same. Which features does a head get?
    other = rearrange(x, "B T (K H) -> B T H K", H=2)
    splits = figures.heads(
        x[0, 0], {"(H K) -> H K": split[0, 0], "(K H) -> H K": other[0, 0]}
    )  # @inspect splits
    assert other.shape == split.shape
    assert split[0, 0].tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert other[0, 0].tolist() == [[0, 2, 4, 6], [1, 3, 5, 7]]
    # Attention wants heads in front of tokens, which is a view as well. If its result lies in
    # memory in that order, as `contiguous` writes it here, no strides read the features of a token
    # together again: joining the heads copies every number.
    in_front = rearrange(x, "B T (H K) -> B H T K", H=2)
    assert same_storage(in_front, x)
    after_attention = in_front.contiguous()
    with measure() as cost:
        joined = rearrange(after_attention, "B H T K -> B T (H K)")
    assert torch.equal(joined, x)
    assert cost.allocated_bytes == x.nbytes
    # If it still lies token by token, joining is a view. (PyTorch's fused attention for the CPU
    # writes it so if it finds the queries so.)
    assert same_storage(rearrange(in_front, "B H T K -> B T (H K)"), x)
    mixed = scaled_dot_product_attention(in_front, in_front, in_front)
    assert same_storage(rearrange(mixed, "B H T K -> B T (H K)"), mixed)


def heads_are_blocks_of_one_matrix():  # M9.7
    """Heads are column blocks of one matrix.

    Where do the features of a head come from? In attention, each head has a matrix of its own that
    makes its queries from the features of the token: all D of them, times D×K. Do H heads then
    need H matmuls?
    """
    T, H, K = 3, 2, 4
    D = H * K
    x = torch.arange(float(T * D)).view(T, D)
    of_heads = torch.arange(float(H * D * K)).view(H, D, K).remainder(7)
    with measure() as head_by_head:
        queries = torch.stack([x @ of_heads[head] for head in range(H)])
    # Put side by side, they are one D×D matrix. One matmul makes the queries of all heads, and
    # `rearrange` takes them apart, as above.
    w = rearrange(of_heads, "H D K -> D (H K)")
    blocks = figures.column_blocks(w, H)  # @inspect blocks
    with measure() as at_once:
        together = x @ w
    assert torch.equal(rearrange(together, "T (H K) -> H T K", H=H), queries)
    # It costs as much, in one call. So the number of heads changes neither the parameters nor the
    # FLOPs of this layer: $2TD^2$.
    assert at_once.matmul_flops == head_by_head.matmul_flops == 2 * T * D**2
    assert w.numel() == of_heads.numel()
    # Each head reads all features. Add 1 to the last one, and the queries of every head move by
    # its part of the last row of the matrix.
    changed = x.clone()
    changed[:, -1] += 1
    moved = rearrange(changed @ w, "T (H K) -> H T K", H=H) - queries
    assert torch.equal(moved, rearrange(w[-1], "(H K) -> H 1 K", H=H).expand(H, T, K))


def flops_by_loops(*sizes: int) -> int:  # @stepover
    """Run through all combinations of indices, with a multiplication and an addition each."""
    flops = 0
    for _ in itertools.product(*map(range, sizes)):
        flops += 2
    return flops


def the_order_of_products_decides_their_price():  # M9.8 E42
    """The order of matmuls decides their price.

    We can multiply three factors in two ways, $(ab)v=a(bv)$, and get the same numbers, up to
    rounding. Which is cheaper when a and b are matrices of 64×64 and v is a vector?
    """
    n = 64
    a, b, v = torch.ones(n, n).triu(), torch.ones(n, n).tril(), torch.ones(n)
    with measure() as left_to_right:
        from_left = (a @ b) @ v
    with measure() as right_to_left:
        from_right = a @ (b @ v)
    assert torch.equal(from_left, from_right)
    # From the right, both are a matrix times a vector, $4n^2$. From the left, one is a matmul of
    # two matrices, $2n^3+2n^2$: more by a factor of $(n+1)/2$.
    assert left_to_right.matmul_flops == flops_by_loops(n, n, n) + flops_by_loops(n, n)
    assert right_to_left.matmul_flops == 2 * flops_by_loops(n, n)
    assert left_to_right.matmul_flops / right_to_left.matmul_flops == (n + 1) / 2
    # Does einsum find the better order? Do not count on it. PyTorch takes operands from left to
    # right, unless the package [opt_einsum](https://doi.org/10.21105/joss.00753) is installed. (To
    # see the same on any machine, we switch that off.)
    with torch.backends.opt_einsum.flags(enabled=False), measure() as as_given:
        result = einsum(a, b, v, "i j, j k, k -> i")
    assert torch.equal(result, from_left)
    assert as_given.matmul_flops == left_to_right.matmul_flops
    # To compare orders we need no numbers, only sizes: on `meta`, the meter says what each would
    # cost. Three factors have three pairs to begin with. (a and v share no axis; to begin with them
    # makes all products and adds up none, and here it is the most expensive.)
    a, b, v = (torch.empty(*shape, device="meta") for shape in ((10, 20), (20, 30), (30,)))
    with measure() as ab_first:
        einsum(einsum(a, b, "i j, j k -> i k"), v, "i k, k -> i")
    with measure() as av_first:
        einsum(einsum(a, v, "i j, k -> i j k"), b, "i j k, j k -> i")
    with measure() as bv_first:
        einsum(a, einsum(b, v, "j k, k -> j"), "i j, j -> i")
    costs = {"a and b": ab_first, "a and v": av_first, "b and v": bv_first}
    flops = {pair: cost.matmul_flops + cost.other_flops for pair, cost in costs.items()}
    orders = figures.flops_by_order(flops)  # @inspect orders
    assert min(flops.values()) == flops["b and v"] == 2 * (20 * 30) + 2 * (10 * 20)
    assert max(flops.values()) == flops["a and v"] == (1 + 2) * (10 * 20 * 30)
    # What we can do now: name every axis, have the names checked, and read the FLOPs off them.


def exercise_scores_by_name():  # M9.4 @exercise
    """Exercise: scores by name.

    Queries and keys have shape "b t (h k)" with b = 2, t = 5, h = 4, k = 8. Write the scores of
    each head with `rearrange` and `einsum`. How many FLOPs do they cost?
    """
    q, k = torch.randn(2, 2, 5, 32, generator=torch.Generator().manual_seed(0))
    q, k = (rearrange(x, "b t (h k) -> b h t k", h=4) for x in (q, k))
    with measure() as cost:
        scores = einsum(q, k, "b h q k, b h s k -> b h q s")
    # Two for each combination of the five letters. A row of scores belongs to a query.
    assert cost.matmul_flops == 2 * (2 * 4 * 5 * 5 * 8)
    assert scores.shape == (2, 4, 5, 5)
    assert torch.allclose(scores[0, 0, 1], k[0, 0] @ q[0, 0, 1], atol=1e-5)


def exercise_four_become_one():  # M9.6 @exercise
    """Exercise: four become one.

    Halve an image of shape (1, 28, 28, 3): of every 2×2 pixels keep the largest number of each
    colour. One line, no loop.

    **Hint.** An axis in parentheses is cut: "(h 2)".
    """
    image = torch.randn(1, 28, 28, 3, generator=torch.Generator().manual_seed(0))
    small = reduce(image, "b (h y) (w x) c -> b h w c", "max", y=2, x=2)
    assert small.shape == (1, 14, 14, 3)
    assert torch.equal(small[0, 3, 5], image[0, 6:8, 10:12].amax(dim=(0, 1)))
