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
from lecture.lib.shapes import shape_checked
from lecture.lib.tiles import whole_numbers
from lecture.lib.timing import (
    time_call,
)
from lecture.part4_compute import m10_figures as figures
from trace.costs import measure


def one_amount_is_done_at_many_rates():  # M10.1 E44
    """One amount is done at many rates.

    Why [insist](#an_amount_is_not_a_rate) on "FLOPs" for an amount and "FLOP/s" for a rate? Because
    the amount follows from the program, and the rate from how and where it runs. Here is one amount
    at two rates.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(32, 64, generator=generator)
    w = torch.randn(64, 32, generator=generator)
    rows, columns = x.unbind(), w.T.unbind()

    def element_by_element() -> list[Tensor]:
        return [row @ column for row in rows for column in columns]

    # All of a matrix product at once, or each of its elements by a call of its own.
    with measure() as at_once:
        y = x @ w
    with measure() as one_by_one:
        elements = element_by_element()
    assert torch.allclose(torch.stack(elements), y.flatten(), atol=1e-4)  # another order of sums
    assert one_by_one.matmul_flops == at_once.matmul_flops == 131_072
    # Each call costs some time of its own, and 1024 calls cost it 1024 times. The rates are
    # different on every run, so the page shows only that the claim held. Even a slow call, of 128
    # FLOPs, takes less than a millisecond.
    fast = at_once.matmul_flops / time_call(lambda: x @ w).best_seconds  # @timed @inspect fast
    slow = one_by_one.matmul_flops / time_call(element_by_element).best_seconds  # @timed
    assert fast > slow > 128 * 1000  # @timed
    # A common mistake is to write FLOPS for both, or to tell them apart by a capital letter. An
    # A100 "has 312 TFLOPS": is that a day's work, or what is in its data sheet? With units the
    # question does not come up. An amount over a rate is a time: the 3.14e23 FLOPs of GPT-3 are 32
    # years of one A100 at its peak, 312e12 FLOP/s.
    rate_flops_per_second = A100_SXM.dense_flops_per_second["bf16"]
    seconds = GPT3_TRAINING_FLOPS / rate_flops_per_second
    assert round(seconds / (365 * 24 * 60 * 60), 1) == 31.9


def a_product_costs_two_flops_per_triple():  # M10.2 E112
    """A matrix product costs 2·B·D·K FLOPs.

    How much work is one linear layer? B rows of D features meet a weight matrix of D×K. Each of
    the B·K results takes D multiplications and D additions, and both count alike.
    """
    B, D, K = 1024, 256, 64
    x, w = torch.ones(B, D), torch.ones(D, K)
    with measure() as cost:
        y = x @ w
    assert (y == 256).all()
    assert cost.matmul_flops == y.numel() * (D + D) == 33_554_432
    # The sizes enter as factors: twice the rows, the features or the results, twice the work.
    doubled = [(2 * B, D, K), (B, 2 * D, K), (B, D, 2 * K)]
    for rows, features, results in doubled:
        with measure() as twice:
            torch.ones(rows, features) @ torch.ones(features, results)
        assert twice.matmul_flops == 2 * cost.matmul_flops
    # At a size that fills an accelerator it is 8.8e12. (This product comes back: people have timed
    # it on two cards.) On the device `meta` tensors have shapes and no numbers, so here it costs no
    # time and no memory.
    with measure() as large:
        z = torch.empty(16_384, 32_768, device="meta") @ torch.empty(32_768, 8192, device="meta")
    assert z.shape == (16_384, 8192)
    # A common mistake is to quote such a number without its sizes, as what "the layer" costs. Both
    # numbers are right, and they are a factor of 262 144 apart.
    assert large.matmul_flops == 2**18 * cost.matmul_flops == 8_796_093_022_208


@shape_checked
def product_without_zeros(
    x: Float[Tensor, "B D"], w: Float[Tensor, "D K"]
) -> tuple[Float[Tensor, "B K"], int, int]:
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

    Is it 2D or 2D−1? To add up D products takes D−1 additions; the first has nothing to be added
    to.
    """
    x, w = torch.arange(10.0).view(2, 5), torch.arange(15.0).view(5, 3)
    y, multiplications, additions = product_without_zeros(x, w)
    assert torch.equal(y, x @ w)
    assert multiplications == y.numel() * 5
    assert additions == y.numel() * (5 - 1)
    # The meter has one FLOP more for each element of the result.
    with measure() as cost:
        x @ w
    assert cost.matmul_flops == multiplications + additions + y.numel() == 60
    # This lecture says 2D, for two reasons. Processors have one instruction that multiplies and
    # adds, and they use it D times. And where a layer has a bias, the sum starts from that, and 2D
    # is exact.
    with measure() as with_bias:
        torch.nn.functional.linear(x, w.T, bias=torch.ones(3))
    assert with_bias.matmul_flops == multiplications + additions + y.numel()
    assert with_bias.other_flops == 0
    # A common mistake is to mix them and to look for the missing FLOPs. They differ by one part in
    # 2D: 0.2 % for the 256 features of the section before, 0.0015 % for 32 768.
    exact_flops, missing_percent = {}, {}
    for D in (256, 32_768):
        with measure() as cost:
            z = torch.empty(1024, D, device="meta") @ torch.empty(D, 64, device="meta")
        exact_flops[D] = cost.matmul_flops - z.numel()
        missing_percent[D] = round(100 * z.numel() / cost.matmul_flops, 4)
    assert exact_flops == {256: 33_488_896, 32_768: 4_294_901_760}
    assert missing_percent == {256: 0.1953, 32_768: 0.0015}  # @inspect missing_percent


def forward_is_two_flops_per_parameter_and_token():  # M10.4
    """Forward costs 2 FLOPs per parameter and token.

    What does 2·B·D·K mean for a model? B counts the rows, which for a language model are tokens,
    and D·K is the number of weights. So each weight is used once per token, for one multiplication
    and one addition.
    """
    tokens = 7
    first, second = torch.ones(6, 24), torch.ones(24, 5)
    parameters = first.numel() + second.numel()
    assert parameters == 264
    with measure() as forward:
        y = torch.relu(torch.ones(tokens, 6) @ first) @ second
    assert y.shape == (7, 5)
    assert (y == 6 * 24).all()
    assert forward.matmul_flops / (parameters * tokens) == 2
    # It does not matter how the parameters are spread over layers. That makes a rule for models of
    # which only the size is known: GPT-3 does 349 billion FLOPs for each token that it reads or
    # writes.
    gpt3_flops_per_token = 2 * GPT3_PARAMETERS
    assert round(gpt3_flops_per_token / 1e9) == 349
    # For text of 2048 tokens that is 0.7 seconds of an H100 at its peak.
    h100_flops_per_second = H100_SXM.dense_flops_per_second["bf16"]
    h100_seconds = GPT3_CONTEXT_TOKENS * gpt3_flops_per_token / h100_flops_per_second
    assert round(h100_seconds, 2) == 0.72


def transformer_layer_flops(T: int, D: int) -> tuple[int, int]:  # @stepover
    """Count a layer's matrix products on `meta`, and its parameters: four D×D matrices around
    attention, then to 4·D features and back."""
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

    Does the rule hold for Transformers, which most language models are? Nearly, as long as texts
    are short. Their layers have, as in GPT-3, six weight matrices, and one step without any:
    [attention](#attention_takes_a_weighted_mean) compares each of T tokens with all T. That takes
    two products, T×D with D×T and T×T with T×D.
    """
    excess = {}
    for T in (96, 384):
        flops, parameters = transformer_layer_flops(T, D=64)
        excess[T] = flops / (2 * T * parameters) - 1  # @inspect excess
        assert parameters == 12 * 64 * 64
        # A layer of this kind has 12·D·D parameters, so the two products of 2·T·T·D add $T/(6D)$.
        assert math.isclose(excess[T], T / (6 * 64))
    # At T = 6D the rule counts half of the work. (A model that writes uses half of the pairs, as no
    # token looks ahead. Counts of a model's FLOPs [usually have all of
    # them](#half_of_the_scores_are_masked), and so has this one.)
    assert math.isclose(excess[96], 1 / 4)
    assert math.isclose(excess[384], 1)
    # The width of GPT-3 is such that its *context* of 2048 tokens, the most that it can look at, is
    # short: 2.8 %.
    flops, parameters = transformer_layer_flops(GPT3_CONTEXT_TOKENS, GPT3_WIDTH)
    gpt3_excess = flops / (2 * GPT3_CONTEXT_TOKENS * parameters) - 1
    assert round(100 * gpt3_excess, 1) == 2.8
    # At 128 times that context, 262 144 tokens, attention would outweigh all parameters.
    flops, parameters = transformer_layer_flops(128 * GPT3_CONTEXT_TOKENS, GPT3_WIDTH)
    assert round(flops / (2 * 128 * GPT3_CONTEXT_TOKENS * parameters), 2) == 4.56


def everything_else_is_linear():  # M10.5
    """Everything else is linear in the size.

    Why do estimates speak of matrix products and of nothing else? An elementwise operation or a
    sum costs a fixed number of FLOPs per element. For n×n matrices that is a multiple of $n^2$
    against $2n^3$.
    """
    operations: dict[str, Callable[[Tensor], Tensor]] = {
        "product": lambda x: x @ x,
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
    # Four times the size is 64 times the work for a product, and 16 times for the others.
    for small, large in itertools.pairwise(flops["product"]):
        assert flops["product"][large] == 4**3 * flops["product"][small]
        assert flops["GELU"][large] == 4**2 * flops["GELU"][small]
    # A ReLU after a linear layer is one FLOP against 2D, for each element.
    ratios = [flops["product"][n] / flops["ReLU"][n] for n in flops["ReLU"]]
    assert ratios == [8, 32, 128, 512, 2048]
    # In small models it is the other way round. A [GELU](#gelu_moves_the_bytes_of_a_relu), a
    # smoother ReLU, is booked at 20 FLOPs, by agreement; with that, the product is the lesser part
    # below n = 10.
    assert flops["product"][4] < flops["GELU"][4]
    assert flops["product"][16] > flops["GELU"][16]


@shape_checked
def strassen_step(a: Float[Tensor, "n n"], b: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """Multiply by quarters, with seven products instead of eight."""
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

    Does a computer really do $2n^3$ operations for a product? It may do fewer.
    [Strassen](https://doi.org/10.1007/BF02165411) found in 1969 that two matrices, each cut into
    quarters, can be multiplied with seven products of quarters. By definition there are eight.
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
    assert (a.min(), a.max()) == (-9, 9)
    # So it pays for n above 18. The seven products can be taken apart in the same way, down to a
    # total of about $n^{\log_2 7}$, or $n^{2.81}$.
    assert totals == {8: (1024, 1184), 18: (11_664, 11_664), 32: (65_536, 61_952)}
    # What is counted as work is $2n^3$, whatever was executed: a count of FLOPs is an estimate of
    # the task, and no measurement of a chip.
    #
    # The trick is seldom used. It moves more bytes, here 7.6 times as many, and rounds worse: its
    # terms are larger than what is left of them in the end.
    assert moved[32] == (3 * 4 * 32 * 32, 91 * 1024)  # @inspect moved
    a, b = a / 10, b / 10
    exact = a.double() @ b.double()
    plain_error = (a @ b - exact).norm()
    strassen_error = (strassen_step(a, b) - exact).norm()
    assert plain_error < strassen_error < 1e-4


def a_stopwatch_needs_a_warm_up_and_a_median():  # M10.6 E9
    """A stopwatch needs a warm-up and a median.

    How long does an operation take? One reading says little: the first call pays for what is set up
    once (libraries, memory, caches), and any call may be interrupted by other programs. To see
    what becomes of that, here is a function on a clock of our own: it takes 2 ticks, or 3.
    """
    now = 0
    durations = iter((90, 2, 3, 2, 50, 2))

    def interrupted_call() -> None:
        nonlocal now
        now += next(durations)

    timing = time_call(interrupted_call, clock=lambda: now)
    assert timing.first_seconds == 90
    assert timing.repeated_seconds == (2, 3, 2, 50, 2)
    # A common mistake is to take the mean of all calls, which here is ten times what the function
    # usually needs. Without the first it is still five times that: one interruption is enough. The
    # median is the reading in the middle, and half of the calls would have to be disturbed to move
    # it.
    mean_of_all = statistics.mean((timing.first_seconds, *timing.repeated_seconds))
    mean_of_repeats = statistics.mean(timing.repeated_seconds)
    assert round(mean_of_all, 1) == 24.8
    assert mean_of_repeats == 11.8
    assert timing.median_seconds == 2
    levels = {
        "mean of all": mean_of_all,
        "mean of repeats": mean_of_repeats,
        "median": timing.median_seconds,
    }
    stopwatch = figures.readings(90, timing.repeated_seconds, levels)  # @inspect stopwatch
    # What is timed should look like what will be used, down to the numbers: a GPU multiplies zeros
    # and ones [faster](https://www.thonking.ai/p/strangely-matrix-multiplications) than random
    # numbers. Fewer bits flip, that takes less power, and with power left the clock stays high.
    #
    # The shortest reading answers another question: what the machine can do when left alone.
    assert timing.best_seconds == 2
    assert now == 90 + 2 + 3 + 2 + 50 + 2


def an_accelerator_answers_before_it_is_done():  # M10.6
    """An accelerator answers before it is done.

    Why does a product on a GPU seem to take no time? The program only puts it into a queue and goes
    on. The GPU works the queue off by itself. In ticks: 5 to put work into the queue, 100 to do it.
    """
    now = 0
    queue = [1000]  # work that is left from before

    def launch() -> None:
        nonlocal now
        now += 5
        queue.append(100)

    def wait() -> None:
        nonlocal now
        now += sum(queue)
        queue.clear()

    # Whoever waits neither before nor after reads what it takes to ask.
    asked = time_call(launch, clock=lambda: now, wait=lambda: None)
    assert asked.median_seconds == 5
    # Waiting after the call lets the work be done inside the reading. Waiting before it keeps
    # earlier work out of the reading.
    done = time_call(launch, clock=lambda: now, wait=wait)
    assert done.first_seconds == done.median_seconds == 5 + 100
    assert now == 6 * 5 + sum((1000, 6 * 100)) + 6 * (5 + 100)
    queueing = figures.lanes(
        "One call, waited for",
        {"program": [(0, 5, "ask"), (5, 105, "wait")], "GPU": [(5, 105, "compute")]},
        "ticks",
    )  # @inspect queueing
    # The same on a real device, where `torch.cuda.synchronize` waits.
    if torch.cuda.is_available():
        x = torch.randn(8192, 8192, device="cuda")
        asked = time_call(lambda: x @ x, wait=lambda: None)  # @timed
        done = time_call(lambda: x @ x)  # @timed @inspect asked done
        assert done.best_seconds > 2 * asked.best_seconds  # @timed
    else:
        skipped = "no CUDA device here: the queue above is a model of one"  # @inspect skipped
