"""How to read this page: claims, the meter, letters and units."""

import jaxtyping
import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.counting import Count, matmul, values
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.part1_why import m00_figures as figures
from trace.costs import measure

LETTERS = {
    "B": "sequences in a batch, the *batch size*",
    "T": "tokens in a sequence",
    "R": "rows of a matmul, R = B·T",
    "D": "features of a token, the width of the model",
    "F": "features that a linear layer gives; in a feed-forward network, those inside",
    "H": "attention heads",
    "K": "features of a head",
    "L": "layers",
    "V": "entries of the vocabulary",
    "N": "parameters",
}


def every_claim_is_checked_on_every_run():
    """Every claim that is reached is checked.

    Why believe a number on this page? Because the page is a program, and you are looking at one run
    of it. The text is the program's comments. A line that starts with `assert` is a *claim*: the
    program checks it when it gets there, and stops at the first one that is false. Claims that
    have to run on a GPU wait for one; where there is none, the section says so. Most numbers that
    nobody can measure here, such as the promises of a data sheet, stand in `lecture/facts.py` with
    unit and source, and what other machines showed in `lecture/recorded/`.
    """
    # We begin with the operation that does nearly all the work of a language model. A *matrix
    # multiplication*, *matmul* for short, takes one row of `x` and one column of `w`, multiplies
    # them number by number and adds up the products: that makes one number of the result. It does
    # so for each row and each column. Python writes it `@`.
    R, D, F = 2, 3, 4
    x = torch.arange(6.0).view(R, D)  # @inspect x
    w = torch.arange(12.0).view(D, F)  # @inspect w
    # (`view` cuts the six numbers into two rows of three.) How many additions and multiplications
    # will it be? `measure()` is the meter of this lecture. It watches the lines inside its `with`
    # block and keeps the account in `cost`.
    with measure() as cost:
        y = x @ w  # @inspect y
    # To check the meter, we write the matmul out as three loops and count by hand.
    multiplications = additions = 0
    for i in range(R):
        for j in range(F):
            total = 0.0
            for k in range(D):
                total += float(x[i, k] * w[k, j])
                multiplications += 1
                additions += 1
            assert total == y[i, j]
    assert cost.matmul_flops == multiplications + additions
    # And the memory? The result is eight numbers of four bytes.
    assert cost.allocated_bytes == 8 * 4  # @predict
    # The margin shows the same without our asking, line by line: FLOPs, bytes moved, FLOPs for each
    # of these bytes, bytes allocated. Under a tensor stands the number of its *storage*, its place
    # in memory; tensors with the same number share it.


def the_meter_knows_four_kinds_of_things():
    """What the meter knows.

    Is a number from the meter a measurement? Some are, and some are worked out. The meter sees
    which operators run, the shapes they get, and the memory that comes and goes: these it has
    *observed*. From them it derives the rest in three ways, and it pays to keep the four apart.
    """
    R, D, F = 3, 5, 4
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(R, D, generator=generator)
    w = torch.randn(D, F, generator=generator)
    with measure() as cost:
        y = (x @ w).exp()
    # Observed: memory for two results was allocated, and one of the two was freed again.
    assert (cost.allocated_bytes, cost.freed_bytes) == (2 * y.nbytes, y.nbytes)
    # *Formula*: the meter puts the observed shapes into $2RDF$. Is the formula right? We multiply
    # once more, with numbers that count what is done to them. (The tests of this lecture do so for
    # matmuls of many kinds, convolutions, attention and an LSTM.)
    count = Count()
    defined = matmul(count.numbers(x.tolist()), count.numbers(w.tolist()))
    assert torch.allclose(torch.tensor(values(defined)), x @ w)
    assert cost.matmul_flops == count.multiplications + count.additions == 2 * R * D * F == 120
    # *Convention*: how many additions is an exponential? Libraries differ, so this meter has a
    # price for it, 20, and the same for a square root. Another meter may have another price.
    with measure() as roots:
        y.sqrt()
    assert roots.other_flops == cost.other_flops > y.numel()
    # *Ideal*: bytes moved, meaning read and written, each number once in each operation. A real
    # machine loads some again and again (our three loops: two numbers for each multiplication), so
    # read it as "at least, with a kernel for each operation". [One kernel for
    # both](#fusion_saves_the_way_through_memory) would move the result once, not three times.
    # (Memory can have less to do than that, where a small result is read from a cache.)
    at_least_bytes = cost.read_bytes + cost.written_bytes  # @inspect at_least_bytes
    assert x.nbytes + w.nbytes + 3 * y.nbytes == at_least_bytes < 4 * 2 * count.multiplications
    # And where the margin says "would cost", nothing happened: on the device `meta`, tensors have
    # shapes and no numbers. The shapes are enough for the meter, and nobody here has a terabyte.
    with measure() as imagined:
        torch.empty(500_000, 1, device="meta") @ torch.empty(1, 500_000, device="meta")
    assert imagined.allocated_bytes > 10**12 > imagined.matmul_flops == 2 * 500_000**2


@shape_checked
def sum_over_features(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T"]:
    """Add up the features of each token."""
    return x.sum(dim=2)


def letters_name_the_axes():  # @core
    """Letters name the axes.

    Which axis of an array of numbers is which? A language model reads text as *tokens*, the pieces
    [a text is cut into](#a_tokenizer_turns_text_into_integers), and describes each token by a row
    of numbers, its *features*. Several sequences of tokens go through it together, a *batch*. Each
    of these sizes has a letter. (A few later chapters count rows by B. Loops over matrices run
    over i, j and k.)
    """
    # @note Write B, T and D on the board and leave them there. Before `rows` is shown, ask for its
    # shape, and which of its rows the last token of the *first* sequence becomes. (Row 2.)
    letters = figures.LetterTable(LETTERS)  # @inspect letters
    # *Parameters* are the numbers that training adjusts, also called *weights*. A *layer* is a step
    # of the model, most with weights of their own. A *linear* layer, which multiplies by a matrix,
    # does not care where one sequence ends and the next begins: it sees rows.
    B, T, D = 2, 3, 4
    x = torch.arange(24.0).view(B, T, D)  # @inspect x
    rows = x.view(B * T, D)
    batch = figures.batch_and_rows(B, T, D)  # @inspect batch
    # Counting from 0, the last token of the last sequence is row 5. Multiplied by a matrix, it
    # gives the same either way.
    assert x[1, 2].tolist() == rows[5].tolist() == [20, 21, 22, 23]
    w = torch.arange(12.0).view(D, 3)
    assert torch.equal((x @ w)[1, 2], (rows @ w)[5])
    # Some functions name the letters in their signature. `sum_over_features` takes a
    # `Float[Tensor, "B T D"]` and returns a `Float[Tensor, "B T"]`, and each call compares the
    # tensors with the letters.
    sums = sum_over_features(x)  # @inspect sums
    assert sums[1, 2] == 20 + 21 + 22 + 23
    # One sequence without its batch axis does not fit, and the call says so. (`refused` expects its
    # block to end with such an error, and keeps what it said.)
    with refused(jaxtyping.TypeCheckError) as error:
        sum_over_features(x[0])
    assert "B T D" in error.message
    # So: when a shape puzzles you, read its letters.


def an_amount_is_not_a_rate():  # @core
    """FLOPs are an amount, FLOP/s is a rate.

    How much work is it, and how fast is it done? A *FLOP* is one floating-point operation: one
    addition or one multiplication of numbers such as 3.14. *FLOPs* counts them. *FLOP/s* says how
    many a machine does in a second. Elsewhere FLOPS often stands for the rate; here the rate
    carries its "/s".
    """
    # @note Say "an H100 does 0.99e15 FLOPs" and wait until somebody asks: in what time? Then let
    # them say before the second claim whether the loop does more FLOPs, fewer, or as many.
    rows = torch.ones(6, 5)
    w = torch.ones(5, 4)
    with measure() as at_once:
        rows @ w
    # Each of the 6·4 results takes 5 multiplications and, from 0 on, 5 additions.
    assert at_once.matmul_flops == 6 * 4 * (5 + 5) == 240
    # The amount belongs to the work. Row by row the work may take longer, and is the same.
    with measure() as row_by_row:
        for row in rows:
            row @ w
    assert row_by_row.matmul_flops == at_once.matmul_flops
    # The rate belongs to the machine, and $\text{time}=\text{amount}/\text{rate}$. A machine that
    # sustains 80 FLOP/s needs three seconds for these 240 FLOPs.


def giga_is_not_gibi():  # @core
    """A gibibyte is 7.4 % more than a gigabyte.

    Is 1 GB $10^9$ bytes or $2^{30}$? Here kB, MB and GB are powers of 1000, and KiB, MiB and GiB
    (kibi-, mebi-, gibibyte) are powers of 1024. The costs beside the code are given in the latter.
    How far apart are they?
    """
    # @note Ask who has seen two sizes for one disk, and go on after a minute. The one thing to
    # keep: the gap is not the same for every prefix.
    excess_percent = {
        prefix: round(100 * (1024**power / 1000**power - 1), 1)
        for power, prefix in enumerate(("kilo", "mega", "giga", "tera"), start=1)
    }  # @inspect excess_percent
    # The gap grows with the prefix, from 2.4 % in kilobytes to a tenth in terabytes. A block of
    # 1024×1024×256 numbers of four bytes is exactly a gibibyte. In gigabytes:
    with measure() as cost:
        torch.empty(1024, 1024, 256, device="meta")
    gigabytes = cost.allocated_bytes / 10**9  # @inspect gigabytes
    assert round(gigabytes, 3) == round(1 + excess_percent["giga"] / 100, 3) == 1.074
    # So: when memory is tight, ask which of the two a number means.
