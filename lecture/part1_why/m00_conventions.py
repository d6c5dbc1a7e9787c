"""Letters and units, fixed once for the whole lecture."""

import jaxtyping
import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib.counting import Count, matmul, values
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from trace.costs import measure


def every_claim_is_checked_on_every_run():
    """Every claim is checked on every run.

    Why believe a number on this page? Because the page is a program. The text you read is its
    comments, and each line that starts with `assert` is a *claim*: the program checks it when it
    gets there, and stops at the first one that is false. Most claims compare what was measured with
    what was derived in another way. (Some lines wait for a GPU. Where there is none, the section
    says so.) Numbers that cannot be measured here, such as what a data sheet promises, are
    constants in `lecture/facts.py`, each with its unit, source and date. A link within the text
    leads to the section that explains a word.
    """
    B, D, K = 2, 3, 4
    x = torch.arange(6.0).view(B, D)  # @inspect x
    w = torch.arange(12.0).view(D, K)  # @inspect w
    # `measure()` is the lecture's meter. It counts what the lines inside its block did: here the
    # FLOPs (additions and multiplications) of one matrix product, which Python writes `@`, and the
    # memory taken for the result.
    with measure() as cost:
        y = x @ w  # @inspect y
    # The same product, written out as three loops. They find the same numbers and count for
    # themselves; the first addition, to zero, counts as well.
    multiplications = additions = 0
    for row in range(B):
        for column in range(K):
            total = 0.0
            for inner in range(D):
                total += float(x[row, inner] * w[inner, column])
                multiplications += 1
                additions += 1
            assert total == y[row, column]
    assert cost.matmul_flops == multiplications + additions
    # The memory: eight results of four bytes each.
    assert cost.allocated_bytes == 8 * 4


def the_meter_knows_four_kinds_of_things():
    """What the meter knows.

    Is a number of the meter a measurement? Not always. It sees which operators run, with which
    shapes, and what memory comes and goes: that is *observed*. The rest it works out, in three ways
    that we keep apart.
    """
    B, D, K = 3, 5, 4
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(*shape, generator=generator) for shape in ((B, D), (D, K)))
    with measure() as cost:
        y = (x @ w).exp()
    # Observed: two results came to life, of which one is gone.
    assert (cost.allocated_bytes, cost.freed_bytes) == (2 * y.nbytes, y.nbytes)
    # *Formula*: the observed shapes, put into 2BDK. To prove it, take numbers that count what is
    # done with them and run the definition of the product. (The tests of this lecture do the same
    # for each operator that has a formula.)
    count = Count()
    defined = matmul(count.numbers(x.tolist()), count.numbers(w.tolist()))
    assert torch.allclose(torch.tensor(values(defined)), x @ w)
    assert cost.matmul_flops == count.multiplications + count.additions == 2 * B * D * K == 120
    # *Convention*: nobody can say how many additions an exponential is, so a price is agreed. A
    # root has the same, whatever a processor thinks of it.
    with measure() as roots:
        y.sqrt()
    assert roots.other_flops == cost.other_flops > y.numel()
    # *Ideal*: bytes read and written, each element once, as if nothing ever had to be loaded again.
    # It is *at least* that: the loops load two numbers of four bytes for each multiplication.
    at_least_bytes = cost.read_bytes + cost.written_bytes  # @inspect at_least_bytes
    assert x.nbytes + w.nbytes + 3 * y.nbytes == at_least_bytes < 4 * 2 * count.multiplications
    # And on the device `meta` tensors have shapes and no numbers. Nothing happens there, so the
    # page says "would cost": nobody here has a terabyte.
    with measure() as imagined:
        torch.empty(500_000, 1, device="meta") @ torch.empty(1, 500_000, device="meta")
    assert imagined.allocated_bytes > 10**12 > imagined.matmul_flops == 2 * 500_000**2


@shape_checked
def sum_over_features(x: Float[Tensor, "B T D"]) -> Float[Tensor, "B T"]:
    """Add up the features of each token."""
    return x.sum(dim=2)


def letters_name_the_axes():
    """Letters name the axes.

    What do the sizes of an array of numbers stand for? A language model works on *tokens*, the
    pieces [a text is cut into](#a_tokenizer_turns_text_into_integers). Three letters come back in
    most chapters: B sequences in a batch, T tokens in each sequence, D numbers (*features*) for
    each token; D is also called the *width*. Others are K outputs of a layer or features of an
    attention head, F features inside a feed-forward network, L layers, h attention heads, V entries
    of the vocabulary and N parameters.
    """
    B, T, D = 2, 3, 4
    x = torch.arange(24.0).view(B, T, D)  # @inspect x
    # The last token of the last sequence, counted from 0, has four features.
    assert x[1, 2].tolist() == [20, 21, 22, 23]
    # Functions here state the letters in their signature: this one takes `Float[Tensor, "B T D"]`
    # and returns `Float[Tensor, "B T"]`. Each call compares the tensors with the letters, and a
    # letter has to mean the same size throughout the call.
    sums = sum_over_features(x)  # @inspect sums
    assert sums[1, 2] == 20 + 21 + 22 + 23
    # So one sequence without its batch axis is refused.
    with refused(jaxtyping.TypeCheckError) as error:
        sum_over_features(x[0])
    assert error.message


def an_amount_is_not_a_rate():
    """FLOPs are an amount, FLOP/s is a rate.

    How much work is it, and how fast is it done? A *FLOP* is one floating-point operation: one
    addition or one multiplication of numbers such as 3.14. *FLOPs* counts them; *FLOP/s* says how
    many a machine does in a second. Elsewhere FLOPS may stand for the rate, one capital letter
    away from the amount. Here the rate always carries its "/s", and a name in the code ends in its
    unit.
    """
    rows = torch.ones(6, 5)
    w = torch.ones(5, 4)
    with measure() as at_once:
        rows @ w
    # Each of 6·4 results takes 5 multiplications and 5 additions.
    assert at_once.matmul_flops == 6 * 4 * (5 + 5) == 240
    # The amount belongs to the work: row by row it is the same, however long it takes.
    with measure() as row_by_row:
        for row in rows:
            row @ w
    assert row_by_row.matmul_flops == at_once.matmul_flops
    # The rate belongs to the machine, and time is amount over rate: a machine that sustains 80
    # FLOP/s would need three seconds for this.
    machine_flops_per_second = 80
    seconds = at_once.matmul_flops / machine_flops_per_second  # @inspect seconds
    assert seconds == 3


def giga_is_not_gibi():
    """A gibibyte is 7.4 % more than a gigabyte.

    Is 1 GB $10^9$ bytes or $2^{30}$? Both are in use. Here kB, MB and GB are powers of 1000, and
    KiB, MiB and GiB (kibi-, mebi-, gibibyte) are powers of 1024. The costs beside the code are
    given in the latter.
    """
    excess_percent = {}  # @inspect excess_percent
    for power, prefix in enumerate(("kilo", "mega", "giga", "tera"), start=1):
        excess_percent[prefix] = round(100 * (1024**power / 1000**power - 1), 1)
    # The difference grows with the prefix: to mix the two up costs little in kilobytes and a tenth
    # in terabytes. A cube of 1024×1024×256 numbers of four bytes is a gibibyte, and 1.074
    # gigabytes.
    with measure() as cost:
        torch.empty(1024, 1024, 256, device="meta")
    assert round(cost.allocated_bytes / 10**9, 3) == round(1 + excess_percent["giga"] / 100, 3)
