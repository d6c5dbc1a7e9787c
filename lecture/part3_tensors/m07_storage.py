"""Storage, strides and views: one block of memory, many ways to read it."""

import io
import itertools

import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.memory import same_storage
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m07_figures as figures
from trace.costs import measure


@shape_checked
def whole_storage(x: Shaped[Tensor, "..."]) -> Shaped[Tensor, " n"]:
    """Return all the memory behind a tensor, as one flat row."""
    elements = x.untyped_storage().nbytes() // x.element_size()
    return x.as_strided((elements,), (1,), storage_offset=0)


def a_tensor_is_a_pointer_and_metadata():  # M7.1
    """A tensor is a pointer and metadata.

    We know how many bytes a matrix has. But memory is one long row of bytes. How does a matrix lie
    in it? A tensor points to a *storage*, the bytes of its numbers in a row on one device, and
    keeps a few facts that say how to read them: the dtype, the shape, one *stride* per axis, and
    the offset of the first element.
    """
    x = torch.arange(16.0).view(4, 4)  # @inspect x
    assert whole_storage(x).tolist() == list(range(16))
    # A stride says how many elements we move on in storage for one step along its axis. Here row
    # lies after row: *row-major* order.
    assert x.stride() == (4, 1)  # @predict
    strides = figures.strides(x)  # @inspect strides
    # The storage holds the numbers, four bytes each, and nothing else.
    assert x.untyped_storage().nbytes() == 16 * 4  # @predict
    # The facts belong to the tensor, so two tensors may read one storage in two ways. Read as an
    # integer, the four bytes of 1.0 are over a billion: [127 in the exponent
    # field](#exponents_are_stored_with_a_bias), above 23 zeros.
    integers = x.view(torch.int32)
    assert same_storage(integers, x)
    assert integers[0, 1] == 127 * 2**23


def strides_find_every_element():  # M7.2 E29
    """Strides find every element.

    Where in storage is element $(i, j)$? Start at the offset $o$, take $i$ steps along axis 0 and
    $j$ along axis 1. With strides $s_0$ and $s_1$ that is position $o+is_0+js_1$; a third axis adds
    $ks_2$, and so on.
    """
    x = torch.arange(16.0).view(4, 4)
    memory = whole_storage(x)
    for i, j in itertools.product(range(4), range(4)):
        assert memory[x.storage_offset() + i * x.stride(0) + j * x.stride(1)] == x[i, j]
    # Element (1, 2) is at 1·4 + 2·1 = 6. If you pair the first index with the last stride, you land
    # at 1·1 + 2·4 = 9. On the diagonal nobody would notice.
    assert memory[6] == x[1, 2]
    assert memory[9] == x[2, 1]
    # The offset is for tensors that begin later. What are offset and strides of this corner?
    corner = x[1:, 2:]
    corner_strides = figures.strides(corner)  # @inspect corner_strides
    # It starts at element (1, 2) of the matrix it was cut from, and has its strides.
    assert corner.storage_offset() == 6  # @predict
    assert corner.stride() == (4, 1)  # @predict
    assert memory[6 + 2 * 4 + 1] == corner[2, 1]


def a_slice_is_an_offset_and_a_stride():  # M7.3 E31 E32
    """A slice is an offset and a stride.

    What does `x[2:9:2]` have to copy? Nothing: a new offset, stride and size describe it.
    """
    x = torch.arange(10)
    with measure() as cost:
        y = x[2:9:2]  # @inspect y
    assert y.tolist() == [2, 4, 6, 8]
    assert cost.allocated_bytes == cost.read_bytes == cost.written_bytes == 0
    assert y.storage_offset() == 2  # @predict
    picked = figures.views_of_storage(x, {"x[2:9:2]": y})  # @inspect picked
    assert y.stride(0) == 2  # @predict
    # That is a number. Without an axis, `stride()` is a tuple with one entry per axis, also when
    # there is one axis.
    assert y.stride() == (y.stride(0),) != y.stride(0)
    # How can we tell that they share memory? By the storage, all ten numbers of it. `data_ptr()` is
    # the address of the first element, and that is two elements of 8 bytes further on.
    assert same_storage(x, y)
    assert y.untyped_storage().nbytes() == 10 * 8  # @predict
    assert y.data_ptr() - x.data_ptr() == y.storage_offset() * y.element_size() == 16
    # A step backwards would need a negative stride. NumPy has them, PyTorch refuses; `flip` copies.
    with refused(ValueError) as error:
        x[::-1]
    assert "step" in error.message
    assert not same_storage(x, x.flip(0))


def views_share_storage():  # M7.4 E35
    """Views move no data.

    Which operations can get away with new metadata? A tensor that reads the storage of another is
    called a *view* of it.
    """
    x = torch.arange(1.0, 7).view(2, 3)  # @inspect x
    with measure() as cost:
        row = x[0]
        column = x[:, 1]
        three_by_two = x.view(3, 2)
        transposed = x.T
    assert cost.allocated_bytes == cost.read_bytes == cost.written_bytes == 0
    for view in (row, column, three_by_two, transposed):
        assert same_storage(view, x)
    # Two of them are 3×2. What tells them apart?
    views = figures.views_of_storage(
        x,
        {"x[0]": row, "x[:, 1]": column, "x.view(3, 2)": three_by_two, "x.T": transposed},
    )  # @inspect views three_by_two transposed
    # `view(3, 2)` cuts the storage into lines of two; the transpose swaps the strides.
    assert three_by_two.stride() == (2, 1)  # @predict
    assert transposed.stride() == (1, 3)  # @predict
    # A column is read by moving a whole row on at each step.
    assert column.stride() == (3,)  # @predict
    assert column.tolist() == [2, 5]
    # So reading the transpose line by line jumps back and forth in storage.
    order = [i * transposed.stride(0) + j * transposed.stride(1) for i in (0, 1) for j in (0, 1)]
    assert whole_storage(x)[order].tolist() == transposed[:2].flatten().tolist() == [1, 4, 2, 5]


def writing_through_a_view_changes_the_others():  # M7.5
    """Writing through one view changes the others.

    Nothing was copied. So if we write to a view, whose number changes? Everybody's. That is useful:
    two layers can share their weights, and we can fill part of a tensor by itself. And it is a
    trap.
    """
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    row, three_by_two, transposed = x[0], x.view(3, 2), x.T
    separate = x.clone()
    x[0, 0] = 100  # @inspect x row three_by_two transposed separate
    assert row[0] == three_by_two[0, 0] == transposed[0, 0] == 100
    # From a view to its base, too.
    transposed[2, 1] = -6
    assert x[1, 2] == three_by_two[2, 1] == -6
    # `clone` is the way out: it has memory of its own.
    assert separate.tolist() == [[1, 2, 3], [4, 5, 6]]
    # Not every piece of a tensor is a view. A list of positions need not have a stride, so indexing
    # with one copies, even where a slice would say the same.
    assert same_storage(x, x[0:2])
    assert not same_storage(x, x[[0, 1]])
    # Left of an equals sign such an index writes to the tensor itself.
    x[[0, 1]] = separate
    assert row.tolist() == [1, 2, 3]


@shape_checked
def lies_in_row_major_order(x: Shaped[Tensor, "..."]) -> bool:
    """Tell whether walking the axes, last one fastest, walks the storage without gaps."""
    expected_stride = 1
    for size, stride in zip(reversed(x.shape), reversed(x.stride()), strict=True):
        if size == 1:
            continue  # one element: no step is ever taken along this axis
        if stride != expected_stride:
            return False
        expected_stride *= size
    return True


@shape_checked
def random_piece(
    x: Shaped[Tensor, "a b c"], generator: torch.Generator
) -> Shaped[Tensor, "p q r"]:  # @stepover
    """Cut a random block out of a tensor and shuffle its axes."""
    start = [int(torch.randint(size, (), generator=generator)) for size in x.shape]
    stop = [
        int(torch.randint(low + 1, size + 1, (), generator=generator))
        for low, size in zip(start, x.shape, strict=True)
    ]
    block = x[start[0] : stop[0], start[1] : stop[1], start[2] : stop[2]]
    return block.permute(torch.randperm(3, generator=generator).tolist())


def contiguous_means_row_major_without_gaps():  # M7.6 E33
    """Contiguous means row-major without gaps.

    When do the elements of a tensor lie in memory in the order of their indices, without gaps? The
    last axis has stride 1, and a step along any other axis moves on by exactly the block below it:
    with sizes $n_i$ and strides $s_i$, $s_i=s_{i+1}n_{i+1}$. Axes of size 1 do not matter. Such a
    tensor is *contiguous*.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.zeros(4, 3, 5)
    answers = {True: 0, False: 0}
    # Is that PyTorch's rule, too? We cut pieces out of a tensor, shuffle their axes and compare.
    # (None is empty. To PyTorch, a tensor without elements is contiguous whatever its strides.)
    for _ in range(60):
        piece = random_piece(x, generator)  # @inspect piece.shape
        assert lies_in_row_major_order(piece) == piece.is_contiguous()
        answers[piece.is_contiguous()] += 1  # @inspect answers
    assert min(answers.values()) > 10
    # A common mistake is "slices and transposes are never contiguous". The first rows of a matrix
    # are one block. And along an axis of size 1 no step is ever taken, so its stride is free.
    assert torch.ones(4, 4)[0:2].is_contiguous()
    assert torch.ones(1, 5).T.is_contiguous()
    assert not torch.ones(4, 4)[:, 0:2].is_contiguous()
    assert not torch.ones(2, 5).T.is_contiguous()


def most_operations_take_any_strides():  # M7.6 E116
    """Most operations take any strides.

    Do we have to make a tensor contiguous before we use it? You will see `.contiguous()` sprinkled
    over code. It is sometimes needed for `view`, as the next sections show, and for *kernels*
    (programs for one operation) that somebody wrote for one order only.
    """
    x = torch.arange(1.0, 7).view(2, 3)
    transposed = x.T
    copied = transposed.contiguous()
    assert copied.is_contiguous()
    assert not transposed.is_contiguous()
    # Arithmetic, matmuls and sums read through the strides, and find the same numbers.
    with measure() as cost:
        larger, product, total = transposed + 1, transposed @ x, transposed.sum(dim=0)
    assert torch.equal(larger, copied + 1)
    assert torch.equal(product, copied @ x)
    assert torch.equal(total, copied.sum(dim=0))
    # The meter saw no copy: only the results were allocated.
    assert cost.allocated_bytes == larger.nbytes + product.nbytes + total.nbytes
    # (The meter sees what operators return; inside, a kernel may still rearrange what it reads.)
    # Reading in jumps can be slower than reading in one sweep, so a copy can pay if it is read many
    # times. That is a question for a stopwatch, not a requirement.


def reshape_copies_only_when_it_must():  # M7.7 E34
    """Reshape copies only when it must.

    Which of `view`, `reshape` and `contiguous` copies? `view` never does, it fails instead.
    `reshape` copies if new metadata cannot do the job, `contiguous` if the numbers are not in
    row-major order without gaps.
    """
    x = torch.tensor([[1.0, 2, 3], [4, 5, 6]])
    # No pair of strides reads the transpose as 2×3: it would have to jump 0, 3, 1 in one line.
    with refused(RuntimeError) as error:
        x.T.view(2, 3)
    assert "size and stride" in error.message
    # `contiguous` writes the numbers down in the order of their indices; then `view` can give them
    # any shape. `reshape` does both. Each has written the six numbers once more.
    with measure() as cost:
        tidy = x.T.contiguous().view(2, 3)
        reshaped = x.T.reshape(2, 3)  # @inspect reshaped
    assert reshaped.tolist() == tidy.tolist() == [[1, 4, 2], [5, 3, 6]]
    assert cost.allocated_bytes == 2 * x.untyped_storage().nbytes()
    assert not same_storage(reshaped, x)
    # Of a contiguous tensor, `reshape` makes a view, and `contiguous` has nothing to do.
    with measure() as cost:
        flat, same = x.reshape(6), x.contiguous()
    assert cost.allocated_bytes == 0  # @predict
    assert same_storage(flat, x)
    assert same_storage(same, x)
    # So whether writing to a reshaped tensor changes the original depends on strides that you may
    # not know: use `view` where you rely on sharing, `clone` where you rely on a copy.


def some_tensors_with_gaps_can_be_viewed():  # M7.7
    """Some tensors with gaps can be viewed.

    Does `view` need a contiguous tensor? It needs strides for the new shape. Which of these two can
    work on the left part of a matrix: to split an axis, or to merge two?
    """
    x = torch.arange(24.0).view(4, 6)
    left = x[:, :4]
    assert not left.is_contiguous()
    # Splitting works whatever the stride: the inner part keeps the stride, the outer part moves a
    # whole inner part on. That is how a Transformer [splits features into attention
    # heads](#heads_are_split_without_moving_data).
    heads = left.view(4, 2, 2)  # @inspect heads
    assert same_storage(heads, x)
    assert heads.stride() == (6, 2, 1)  # @predict
    # `contiguous` would have copied, since the rows of the part do not follow each other.
    assert not same_storage(left.contiguous(), x)
    # Merging works when one axis continues the other without a gap. Here two numbers are left out
    # after every four, so `view` fails and `reshape` copies.
    assert left.stride(0) != left.shape[1] * left.stride(1)
    with refused(RuntimeError) as error:
        left.view(left.numel())
    assert "size and stride" in error.message
    assert not same_storage(left.reshape(left.numel()), x)


def expanding_repeats_without_copying():  # M7.8
    """Expanding repeats without copying.

    Can a tensor have more elements than its memory has room for? With a stride of 0 it can: a step
    along that axis goes nowhere.
    """
    column = torch.arange(1.0, 4).view(3, 1)
    with measure() as cost:
        wide = column.expand(3, 4)  # @inspect wide
    assert wide.tolist() == [[1] * 4, [2] * 4, [3] * 4]
    assert wide.stride() == (1, 0)  # @predict
    assert cost.allocated_bytes == 0  # @predict
    wide_strides = figures.strides(wide)  # @inspect wide_strides
    # Twelve elements that would take 48 bytes are read from 12. So elements times element size is
    # the logical size of a tensor; what it **holds** is its storage.
    assert wide.numel() * wide.element_size() == 48  # @predict
    assert wide.untyped_storage().nbytes() == 12  # @predict
    # Where many elements share one number, what should adding 1 to each mean? PyTorch refuses. It
    # refuses to assign to a whole row as well.
    with refused(RuntimeError) as error:
        wide.add_(1)
    assert "clone" in error.message
    with refused(RuntimeError) as error:
        wide[0] = 7
    assert "clone" in error.message
    # `contiguous` pays the difference, and then every element has a number of its own.
    own_numbers = wide.contiguous()
    assert own_numbers.untyped_storage().nbytes() == 48  # @predict
    # Assigning to one element is not refused. It changes a whole row of `wide`, and one element of
    # the copy.
    wide[0, 0] = own_numbers[0, 0] = 7  # @inspect wide own_numbers
    assert wide[0].tolist() == [7, 7, 7, 7]
    assert own_numbers[0].tolist() == [7, 1, 1, 1]


def a_view_keeps_the_whole_storage_alive():  # M7.8 E36
    """A view keeps the whole storage alive.

    Views are free to make. Are they free to keep? We take one row of a matrix and delete the
    matrix. How many bytes come back?
    """
    with measure() as cost:
        matrix = torch.eye(1000)
        row = matrix[0]
        del matrix
    assert row.numel() * row.element_size() == 4_000  # @predict
    # Not one of four million. A storage is released when the last tensor that reads it is gone.
    assert cost.freed_bytes == 0  # @predict
    assert row.untyped_storage().nbytes() == cost.allocated_bytes == 4_000_000
    # A clone of the row holds 4 kB and lets the rest go.
    with measure() as cost:
        matrix = torch.eye(1000)
        own_row = matrix[0].clone()
        del matrix
    assert cost.freed_bytes == 4_000_000  # @predict
    assert own_row.untyped_storage().nbytes() == 4_000  # @predict
    # Files inherit this: `torch.save` writes the whole storage, so that views stay views after
    # loading. One row of a thousand numbers becomes a file of four megabytes.
    row_file, own_row_file = io.BytesIO(), io.BytesIO()
    torch.save(row, row_file)
    torch.save(own_row, own_row_file)
    assert row_file.tell() > 4_000_000
    assert own_row_file.tell() < 8_000
    # So: keep a clone of a small part, not a view.
    #
    # What we can do now: say which lines move no data (slices, transposes, `view`, `expand`), which
    # copy, and which tensor holds the memory. Next come the operations that make new numbers.


def exercise_a_row_of_a_transpose():  # M7.2 @exercise
    """Exercise: a row of a transpose.

    `x` has shape (2, 3, 4) and is contiguous. `y = x.transpose(0, 2)[1]`. What are the shape, the
    strides and the offset of `y`? No number is moved.
    """
    x = torch.arange(24.0).view(2, 3, 4)
    y = x.transpose(0, 2)[1]  # @inspect y
    # x has strides (12, 4, 1). The transpose exchanges the first with the last; index 1 on an axis
    # with stride 1 starts one element later, and takes the axis away.
    assert (y.shape, y.stride(), y.storage_offset()) == ((3, 2), (4, 12), 1)
    assert same_storage(x, y)


def exercise_more_than_there_is():  # M7.8 @exercise
    """Exercise: more than there is.

    `x.unfold(0, 3, 1)` gives all windows of three neighbours of ten numbers. How many numbers does
    it show, and how many bytes does it allocate?
    """
    x = torch.arange(10.0)
    with measure() as cost:
        windows = x.unfold(0, 3, 1)  # @inspect windows
    # Eight windows of three numbers, on the ten that are there: both axes have stride 1.
    assert windows.stride() == (1, 1)
    assert windows.numel() == 24 > x.numel()
    assert cost.allocated_bytes == 0
