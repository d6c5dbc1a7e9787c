"""Counting FLOPs: what work is, how it is counted, and how it is timed."""

import itertools
import math
import statistics
from collections.abc import Callable

import torch
from einops import rearrange
from jaxtyping import Float
from torch import Tensor

from lecture.facts import (
    A100_SXM,
    GPT3_CONTEXT_TOKENS,
    GPT3_PARAMETERS,
    GPT3_TRAINING_FLOPS,
    GPT3_WIDTH,
    H100_SXM,
)
from lecture.lib.counting import Count, matmul, values
from lecture.lib.recorded import recorded_floors, recorded_machine
from lecture.lib.shapes import shape_checked
from lecture.lib.tiles import whole_numbers
from lecture.lib.timing import time_call
from lecture.part4_compute import m10_figures as figures
from trace.costs import measure


def one_amount_is_done_at_many_rates():  # M10.1 E44
    """One amount is done at many rates.

    We know what tensors are and what they take in memory. From here on we ask for the other
    currency: how much arithmetic is it, and how long does it take? An amount, in *FLOPs*, follows
    from the program. A rate, in *FLOP/s*, [depends on how and where it
    runs](#an_amount_is_not_a_rate). Here is one amount at two rates.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(32, 64, generator=generator)
    w = torch.randn(64, 32, generator=generator)
    rows, columns = x.unbind(), w.T.unbind()

    def element_by_element() -> list[Tensor]:
        return [row @ column for row in rows for column in columns]

    # A matmul at once, or each of its 1024 elements by a call of its own.
    with measure() as at_once:
        y = x @ w
    with measure() as one_by_one:
        elements = element_by_element()
    assert torch.allclose(torch.stack(elements), y.flatten(), atol=1e-4)  # another order of sums
    assert one_by_one.matmul_flops == at_once.matmul_flops
    # Guess the ratio of the rates before you look. Each call has a price of its own, and 1024 calls
    # pay it 1024 times.
    fast = at_once.matmul_flops / time_call(lambda: x @ w).best_seconds  # @timed @inspect fast
    slow = one_by_one.matmul_flops / time_call(element_by_element).best_seconds  # @timed
    assert 2 * slow < fast  # @timed @inspect slow
    # With units in place, an amount over a rate is a time: the 3.14e23 FLOPs of GPT-3 are 32 years
    # of one A100 at 312e12 FLOP/s. So: write "/s" on every rate.
    seconds = GPT3_TRAINING_FLOPS / A100_SXM.dense_flops_per_second["bf16"]
    assert round(seconds / (365 * 24 * 60 * 60)) == 32  # @predict


def a_product_costs_two_flops_per_triple():  # M10.2 E112
    """A matmul costs 2·R·D·F FLOPs.

    How much work is one linear layer? Each of R rows of D features meets a weight matrix of D×F.
    Each of the R·F results takes D multiplications and D additions, and both count alike: $2RDF$
    FLOPs.
    """
    # Is that what happens? Let the definition run on numbers that count what is done with them.
    R, D, F = 3, 5, 4
    x, w = whole_numbers(R, D, seed=0), whole_numbers(D, F, seed=1)
    count = Count()
    defined = matmul(count.numbers(x.tolist()), count.numbers(w.tolist()))
    assert values(defined) == (x @ w).tolist()
    assert (count.multiplications, count.additions) == (R * F * D, R * F * D)
    # The meter puts the shapes that it sees into this formula. At sizes that fill an accelerator,
    # the loops would run for months, and on the device `meta`, where tensors have shapes and no
    # numbers, the formula takes no time.
    with measure() as small:
        x @ w
    with measure() as large:
        torch.empty(16_384, 32_768, device="meta") @ torch.empty(32_768, 8192, device="meta")
    assert small.matmul_flops == count.flops == 120
    assert large.matmul_flops == 2 * 2**14 * 2**15 * 2**13 == 2**43
    # So: remember 2·R·D·F, twice the product of the three sizes. If you double any one of them, the
    # work doubles. (We will meet $2^{43}$, 8.8e12 FLOPs, again: people have timed it.)


@shape_checked
def product_without_zeros(
    x: Float[Tensor, "R D"], w: Float[Tensor, "D F"]
) -> tuple[Float[Tensor, "R F"], int, int]:
    """Multiply by loops; each sum starts with its first product. Count both kinds of FLOP."""
    y = torch.empty(x.shape[0], w.shape[1])
    multiplications = additions = 0
    for row, column in itertools.product(range(x.shape[0]), range(w.shape[1])):
        terms = [a * b for a, b in zip(x[row].tolist(), w[:, column].tolist(), strict=True)]
        multiplications += len(terms)
        total, *rest = terms
        for term in rest:
            total += term
            additions += 1
        y[row, column] = total
    return y, multiplications, additions


def the_last_addition_is_not_made():  # M10.3 E43
    """Two conventions are one addition apart.

    Is it 2D or 2D−1 for each result? Adding up D products takes D−1 additions; the first product
    has nothing to be added to. You will find both counts, so let us see how far apart they are.
    """
    x, w = torch.arange(10.0).view(2, 5), torch.arange(15.0).view(5, 3)
    y, multiplications, additions = product_without_zeros(x, w)
    assert torch.equal(y, x @ w)
    assert additions == y.numel() * (5 - 1)
    # The meter has one FLOP more for each element of the result.
    with measure() as cost:
        x @ w
    assert cost.matmul_flops == multiplications + additions + y.numel()
    # This lecture says 2D, for two reasons. Most processors have an instruction that multiplies and
    # adds, and a sum that starts from 0 takes D of them. And where a layer has a bias, that is the
    # addition that was missing, and 2D is exact.
    #
    # The two counts differ by one part in 2D: 0.2 % for 256 features, and 0.0015 % for 32 768.
    missing_percent = {}
    for D in (256, 32_768):
        with measure() as cost:
            z = torch.empty(1024, D, device="meta") @ torch.empty(D, 64, device="meta")
        missing_percent[D] = 100 * z.numel() / cost.matmul_flops  # @inspect missing_percent
        assert missing_percent[D] == 100 / (2 * D)
    # So: use either, and do not go looking for the missing FLOPs.


def forward_is_two_flops_per_parameter_and_token():  # M10.4 @core
    """A forward pass costs 2 FLOPs per parameter and token.

    What does $2RDF$ mean for a whole model? Its rows are tokens: B sequences of T tokens make $R =
    BT$ rows. And $DF$ is the number of weights of the layer, its *parameters*. So each parameter is
    used once per token, for one multiplication and one addition.
    """
    # @note Ask for the FLOPs of GPT-3 per token with nothing but its name to go by. If two answers
    # differ by a factor of 2048, ask whether each of them is for a token or for a sequence.
    B, T = 2, 7
    x = torch.ones(B, T, 6)
    first, second = torch.ones(6, 24), torch.ones(24, 5)
    parameters = first.numel() + second.numel()
    with measure() as forward:
        torch.relu(x @ first) @ second
    assert forward.matmul_flops == 2 * parameters * B * T
    # How the layers divide the parameters makes no difference, so we need only the size of a
    # model. By this rule GPT-3 does 349 billion FLOPs for each token.
    gpt3_flops_per_token = 2 * GPT3_PARAMETERS
    assert round(gpt3_flops_per_token / 1e9) == 349  # @predict
    # For a sequence of 2048 tokens that is 0.7 seconds of an H100 at its peak.
    h100_flops_per_second = H100_SXM.dense_flops_per_second["bf16"]
    h100_seconds = GPT3_CONTEXT_TOKENS * gpt3_flops_per_token / h100_flops_per_second
    assert round(h100_seconds, 1) == 0.7  # @predict
    # So: multiply twice the parameters by the tokens. With N parameters, a forward pass is $2NBT$.


def transformer_layer_flops(T: int, D: int) -> tuple[int, int]:  # @stepover
    """Count a layer's matmuls on `meta`, and its parameters: four D×D matrices around attention,
    then to 4·D features and back."""
    x = torch.empty(T, D, device="meta")
    query, key, value, output = (torch.empty(D, D, device="meta") for _ in range(4))
    up, down = torch.empty(D, 4 * D, device="meta"), torch.empty(4 * D, D, device="meta")
    with measure() as cost:
        queries, keys, values = x @ query, x @ key, x @ value
        mixed = (queries @ keys.T) @ values
        (mixed @ output) @ up @ down
    parameters = sum(weight.numel() for weight in (query, key, value, output, up, down))
    return cost.matmul_flops, parameters


def attention_grows_with_the_context():  # M10.4
    """In attention, work grows with the context.

    Does the rule hold for Transformers, which most language models are? Nearly. A layer of GPT-3
    has six weight matrices, and one step without any: [attention](#attention_takes_a_weighted_mean)
    compares each of T tokens with all T, and then mixes all T. That takes two matmuls without
    parameters, T×D by D×T and T×T by T×D.
    """
    excess = {}
    for T in (96, 384):
        flops, parameters = transformer_layer_flops(T, D=64)
        excess[T] = flops / (2 * T * parameters) - 1  # @inspect excess
        # A layer of this kind has $12D^2$ parameters, so the two matmuls of $2T^2D$ FLOPs add
        # $T/(6D)$.
        assert math.isclose(excess[T], T / (6 * 64))
    # At T = 6D the rule counts half of the work. (No token looks ahead, so half of the comparisons
    # have no use. Many counts of a model's FLOPs [have all of
    # them](#half_of_the_scores_are_masked), and so has this one.)
    assert math.isclose(excess[384], 1)
    # How much is it in practice? Take a dense model of GPT-3's shape. (GPT-3 itself lets every
    # second layer look at a band of neighbours only.) Its *context*, the most tokens it can look
    # at, is 2048, and its width 12 288: 2.8 %.
    flops, parameters = transformer_layer_flops(GPT3_CONTEXT_TOKENS, GPT3_WIDTH)
    gpt3_excess = flops / (2 * GPT3_CONTEXT_TOKENS * parameters) - 1  # @inspect gpt3_excess
    assert round(100 * gpt3_excess, 1) == 2.8  # @predict
    # At 128 times that context, attention costs 3.6 times as much as all the parameters.
    T = 128 * GPT3_CONTEXT_TOKENS
    flops, parameters = transformer_layer_flops(T, GPT3_WIDTH)
    assert round(flops / (2 * T * parameters) - 1, 1) == 3.6
    # So: $2NBT$ while T is small beside 6D. When it is not, add $T/(6D)$ of it for such layers.


def everything_else_is_linear():  # M10.5
    """Elementwise work is linear in the elements.

    Why do estimates speak of matmuls and of nothing else? An elementwise operation or a sum costs a
    fixed number of FLOPs per element. For n×n matrices that is a multiple of $n^2$ against $2n^3$.
    """
    operations: dict[str, Callable[[Tensor], Tensor]] = {
        "matmul": lambda x: x @ x,
        "GELU": torch.nn.functional.gelu,
        "ReLU": torch.relu,
    }
    flops: dict[str, dict[int, int]] = {name: {} for name in operations}
    for n in (4, 16, 64, 256, 1024):
        x = torch.empty(n, n, device="meta")
        for name, operation in operations.items():
            with measure() as cost:
                operation(x)
            flops[name][n] = cost.matmul_flops + cost.other_flops
    work = figures.flops_by_size(flops)  # @inspect work
    # Four times n is 16 times the elements. A matmul costs 64 times as much, the others 16 times.
    for small, large in itertools.pairwise(flops["matmul"]):
        assert flops["matmul"][large] == 4**3 * flops["matmul"][small]
        assert flops["GELU"][large] == 4**2 * flops["GELU"][small]
    # After a linear layer with D inputs, a ReLU adds one FLOP to each $2D$.
    ratios = [flops["matmul"][n] / flops["ReLU"][n] for n in flops["ReLU"]]  # @inspect ratios
    assert ratios == [2 * n for n in flops["ReLU"]]
    # How many FLOPs are an exponential or a root? There is no agreement. Our meter counts f = 20
    # for each, and as many for a [GELU](#gelu_moves_the_bytes_of_a_relu), a smoother ReLU. Whatever
    # f is, the matmul wins from 2n > f on.
    #
    # So: count the matmuls. But mind that FLOPs are not time. [Bytes](#relu_waits_for_memory) make
    # these small amounts expensive.


@shape_checked
def strassen_step(a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Multiply by quarters, with seven matmuls instead of eight."""
    (a11, a12), (a21, a22) = rearrange(a, "(i m) (j n) -> i j m n", i=2, j=2)
    (b11, b12), (b21, b22) = rearrange(b, "(i m) (j n) -> i j m n", i=2, j=2)
    m1 = (a11 + a22) @ (b11 + b22)
    m2 = (a21 + a22) @ b11
    m3 = a11 @ (b12 - b22)
    m4 = a22 @ (b21 - b11)
    m5 = (a11 + a12) @ b22
    m6 = (a21 - a11) @ (b11 + b12)
    m7 = (a12 - a22) @ (b21 + b22)
    upper = torch.cat([m1 + m4 - m5 + m7, m3 + m5], dim=1)
    lower = torch.cat([m2 + m4, m1 - m2 + m3 + m6], dim=1)
    return torch.cat([upper, lower])


def a_count_is_an_agreement():  # M10.5
    """A count is an agreement.

    Does a computer really have to do $2n^3$ operations for a matmul? No.
    [Strassen](https://doi.org/10.1007/BF02165411) found in 1969 that two matrices, each cut into
    quarters, can be multiplied with seven matmuls of quarters. By definition there are eight.
    """
    totals, moved = {}, {}
    for n in (8, 18, 32):
        a, b = whole_numbers(n, n, seed=0), whole_numbers(n, n, seed=1)
        with measure() as plain:
            product = a @ b
        with measure() as strassen:
            same_product = strassen_step(a, b)
        # With whole numbers from -9 to 9 nothing is rounded, so the results are equal.
        assert torch.equal(same_product, product)
        assert strassen.matmul_flops == plain.matmul_flops * 7 / 8
        # The price is 18 additions of quarters.
        assert strassen.other_flops == 18 * (n / 2) ** 2
        totals[n] = (plain.matmul_flops, strassen.matmul_flops + strassen.other_flops)
        moved[n] = tuple(cost.read_bytes + cost.written_bytes for cost in (plain, strassen))
    # So it pays for n above 18. Each of the seven can be taken apart in the same way. Then the
    # total grows like $n^{\log_2 7}$, or $n^{2.81}$.
    assert totals[8][0] < totals[8][1]  # @inspect totals
    assert totals[18][0] == totals[18][1]
    assert totals[32][0] > totals[32][1]
    # There is more to pay. It moves more bytes, here 7.6 times as many, and here it rounds worse.
    assert round(moved[32][1] / moved[32][0], 1) == 7.6
    a, b = a / 10, b / 10
    exact = a.double() @ b.double()
    plain_error = (a @ b - exact).norm()
    strassen_error = (strassen_step(a, b) - exact).norm()
    assert plain_error < strassen_error < 1e-4
    # So: a matmul counts as $2n^3$, whatever was executed. A count of FLOPs measures the task, not
    # the chip.


def a_stopwatch_needs_a_warm_up_and_a_median():  # M10.6 E9
    """A stopwatch needs a warm-up and a median.

    How long does an operation take? Take one reading, and you know little. Here is what an H100
    needed for the same matmul of 1024×1024 in bf16, eleven times in a row. Guess how long the first
    call took if most of the others took less than 30 microseconds.
    """
    first, *others = recorded_machine("H100").readings["1024×1024"]
    stopwatch = figures.readings(first, others, statistics.median(others))  # @inspect stopwatch
    # A tenth of a second, more than four thousand times as long. A first call pays for what is set
    # up once: it may have to load the code of a kernel, for example. (fp32, TF32 and fp16 had run
    # before in this process, each with a slow first call.) The second still takes nearly six times
    # as long. The mean of all eleven says 11 milliseconds, which none of them took.
    median, mean = statistics.median(others), statistics.mean((first, *others))
    assert first / median > 4000
    assert 5.5 < others[0] / median < 6
    assert round(1e3 * mean) == 11 > 300 * 1e3 * median  # @inspect median mean
    # So run it once, and throw that reading away. Of the others take the *median*, the one in the
    # middle. If four of these ten had been a second late, the median would still be below a tenth
    # of a millisecond, and the mean 0.4 seconds.
    late = [*others[:6], *(1.0 + seconds for seconds in others[6:])]
    assert statistics.median(late) < 1e-4
    assert round(statistics.mean(late), 1) == 0.4
    # The shortest answers another question: what the machine can do when left alone. The recorded
    # times in this lecture are the shortest, mostly of ten. `time_call` does all that here: a call
    # to warm up, then five that count.
    assert recorded_machine("H100").seconds["1024×1024"] == min(others) < median
    assert len(others) == 10
    x = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    timing = time_call(lambda: x @ x)  # @timed @inspect timing
    # And time what you will use, down to the numbers: GPUs were seen to multiply zeros and ones
    # [faster](https://www.thonking.ai/p/strangely-matrix-multiplications) than random numbers. (The
    # explanation there: fewer bits flip, that takes less power, and the clock stays high.)


def an_accelerator_answers_before_it_is_done():  # M10.6
    """An accelerator answers before it is done.

    Why does a matmul on a GPU seem to take no time? Python only puts it into a queue and goes on.
    The GPU works the queue off by itself.
    """
    # On the H100 we recorded, PyTorch needed 8 microseconds to ask for an addition. The fastest of
    # ten matmuls of 4096×4096 in bf16 took 200. If it is asked for as quickly, and you stop the
    # clock when Python goes on, you are off by a factor of 25.
    h100 = recorded_machine("H100")
    asked, done = 1e6 * h100.launch_seconds, 1e6 * h100.seconds["4096×4096"]
    microseconds = {
        "Python": [(0, asked, "ask"), (asked, done, "wait")],
        "GPU": [(asked, done, "compute")],
    }
    queue = figures.lanes("One call, waited for", microseconds, "µs")  # @inspect queue
    assert round(done / asked) == 25  # @inspect asked done
    # So wait, with `torch.cuda.synchronize`, before you start the clock and before you stop it:
    # before, to keep earlier work out of the reading, and after, to have this work in it. If you
    # never synchronize, you time the launch, not the kernel.
    #
    # For a short kernel that is not enough. To ask for next to nothing and wait for it took 20
    # microseconds. So queue a hundred calls between two waits and divide. A ReLU of 1024 numbers
    # still takes 8.5 then, which is the asking. In a [graph](#a_launch_takes_microseconds), which
    # leaves that out as well, it takes 1.2, and the matmul of the section above 6.5, where the
    # fastest of its ten calls took 26.
    assert round(1e6 * h100.waited_seconds) == 20
    relu_seconds = recorded_floors().relu_seconds[1024]
    assert [round(1e6 * relu_seconds[way], 1) for way in ("queued", "graph")] == [8.5, 1.2]
    in_a_graph, waited_for = recorded_floors().matmul_seconds[1024], h100.seconds["1024×1024"]
    assert [round(1e6 * in_a_graph, 1), round(1e6 * waited_for)] == [6.5, 26]
    if torch.cuda.is_available():
        x = torch.randn(8192, 8192, device="cuda")
        asking = time_call(lambda: x @ x, wait=lambda: None)  # @timed
        doing = time_call(lambda: x @ x)  # @timed @inspect asking doing
        assert doing.best_seconds > 2 * asking.best_seconds  # @timed
    else:
        skipped = "no CUDA device here: the recording above is of one"  # @inspect skipped
