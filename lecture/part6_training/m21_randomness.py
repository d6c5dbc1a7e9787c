"""Where random numbers come from, and what it takes to get the same ones again."""

import collections
import math
import os
import random
import subprocess
import sys

import numpy as np
import torch
from jaxtyping import Float, Float32, Int64, Shaped
from torch import Tensor
from torch.utils.data import DataLoader

from lecture.lib.batches import derived_generator
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m21_figures as figures


@shape_checked
def drawn_in_training(generator: torch.Generator) -> dict[str, Shaped[Tensor, "..."]]:
    """Draw what a small training run draws."""
    return {
        "weights": torch.rand(2, 3, generator=generator),
        "order": torch.randperm(6, generator=generator),
        "kept by dropout": torch.full((8,), 0.5).bernoulli(generator=generator),
    }


def a_seed_repeats_the_numbers():  # M21.1
    """A seed repeats the numbers.

    Three things in training are left to chance: the weights at the start, the order of the data,
    and which numbers *dropout* sets to zero. How can such a run be run again? Its chance is
    computed. A *generator* holds a state; each draw reads a number off it and moves it on. A *seed*
    is what the first state is made from.
    """
    first = drawn_in_training(torch.Generator().manual_seed(1))  # @inspect first
    again = drawn_in_training(torch.Generator().manual_seed(1))
    other = drawn_in_training(torch.Generator().manual_seed(2))
    # The same seed gives the same of everything. So a failure at step 1000 comes back as often as
    # one needs to find its cause.
    assert all(torch.equal(first[purpose], again[purpose]) for purpose in first)
    assert not any(torch.equal(first[purpose], other[purpose]) for purpose in first)
    # What all seeds agree on is the distribution: weights between 0 and 1, each of six items once,
    # some numbers dropped and some kept. Together that took 20 draws.
    for run in (first, other):
        assert run["weights"].shape == (2, 3)
        assert 0 <= run["weights"].min() <= run["weights"].max() < 1
        assert run["order"].sort().values.tolist() == [0, 1, 2, 3, 4, 5]
        assert run["kept by dropout"].unique().tolist() == [0, 1]
        assert sum(drawn.numel() for drawn in run.values()) == 6 + 6 + 8
    generator = torch.Generator().manual_seed(3)
    drawn_in_training(generator)  # @stepover
    # Where the draws stand is in the state, not in the seed. To go on from the middle, the state
    # [has to be kept](#resuming_equals_never_stopping): seeding again would go back to the start.
    state = generator.get_state()
    following = torch.rand(3, generator=generator)
    assert torch.equal(torch.rand(3, generator=generator.set_state(state)), following)
    assert not torch.equal(torch.rand(3, generator=generator.manual_seed(3)), following)
    # On the CPU that is a [Mersenne Twister](https://doi.org/10.1145/272991.272995): 624 numbers,
    # for which PyTorch takes 8 bytes each, and 64 bytes of bookkeeping.
    assert state.numel() == 624 * 8 + 64


def three_generators_are_seeded_apart():  # M21.1
    """Three generators are seeded apart.

    Is one seed enough for a program? Python, NumPy and PyTorch each have a generator of their own,
    and none knows of the others.
    """
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    first = (random.random(), np.random.rand(), torch.rand(1).item())  # @inspect first
    assert [round(number, 4) for number in first] == [0.8444, 0.5488, 0.4963]
    # A common mistake is to seed PyTorch alone. It starts over, the other two go on.
    torch.manual_seed(0)
    second = (random.random(), np.random.rand(), torch.rand(1).item())  # @inspect second
    assert [old == new for old, new in zip(first, second, strict=True)] == [False, False, True]
    # Nobody touched their streams: they are as if PyTorch did not exist.
    assert [first[0], second[0]] == [(alone := random.Random(0)).random(), alone.random()]
    assert [first[1], second[1]] == np.random.RandomState(0).rand(2).tolist()
    # NumPy even has two kinds. What `default_rng` makes is an object with a state of its own, and
    # `np.random.seed` does not reach it.
    own = np.random.default_rng(0)
    before = own.random()
    np.random.seed(0)
    assert [before, own.random()] == np.random.default_rng(0).random(2).tolist()
    # Each GPU has one more. `torch.manual_seed` seeds these, too, but they compute other numbers
    # from the same seed.
    if torch.cuda.is_available():
        torch.manual_seed(0)
        on_the_gpu = torch.rand(3, device="cuda")
        assert torch.cuda.initial_seed() == torch.initial_seed()
        assert not torch.equal(on_the_gpu.cpu(), torch.rand(3))
        torch.manual_seed(0)
        assert torch.equal(torch.rand(3, device="cuda"), on_the_gpu)
    else:
        skipped = "no CUDA device here: its generator was not seeded"  # @inspect skipped


@shape_checked
def from_one_stream(
    generator: torch.Generator, counts: dict[str, int]
) -> dict[str, Float[Tensor, "..."]]:
    """Draw so many numbers for each purpose, one purpose after the other."""
    return {purpose: torch.rand(count, generator=generator) for purpose, count in counts.items()}


def an_extra_draw_shifts_all_that_follow():  # M21.2
    """An extra draw shifts all that follow.

    The seed is fixed. Is an experiment with one more layer a fair comparison? Let the weights, the
    order of the data and dropout draw from one stream, in this order.
    """
    counts = {"weights": 4, "order": 3, "dropout": 3}
    small = from_one_stream(torch.Generator().manual_seed(0), counts)
    large = from_one_stream(torch.Generator().manual_seed(0), counts | {"weights": 6})
    runs = {"4 weights": small, "6 weights": large}
    streams = figures.streams("One stream for everything", runs)  # @inspect streams
    # The numbers are the same, what they are for is not. The two new weights take what was drawn
    # for the order of the data, and everything behind moves up.
    assert torch.equal(large["weights"][:4], small["weights"])
    assert torch.equal(large["weights"][4:], small["order"][:2])
    assert torch.equal(large["order"], torch.cat([small["order"][2:], small["dropout"][:2]]))
    # So one change made three: the models also see other data in another order, and lose other
    # numbers to dropout. A line that draws a sample for a look at it does the same.
    assert torch.equal(large["dropout"][:1], small["dropout"][2:])
    assert not torch.isin(large["dropout"][1:], small["dropout"]).any()


@shape_checked
def from_own_streams(
    seeds: dict[str, int], counts: dict[str, int]
) -> dict[str, Float[Tensor, "..."]]:
    """Draw so many numbers for each purpose, each from a generator of its own."""
    generators = {purpose: torch.Generator().manual_seed(seeds[purpose]) for purpose in counts}
    return {
        purpose: torch.rand(counts[purpose], generator=generators[purpose]) for purpose in counts
    }


def each_purpose_gets_its_own_stream():  # M21.2
    """Each purpose gets its own stream.

    How can one thing be changed and everything else stay? With a `torch.Generator` for each
    purpose, handed to whoever draws. None of them then depends on how much the others take.
    """
    counts = {"weights": 4, "order": 3, "dropout": 3}
    seeds = {purpose: number for number, purpose in enumerate(counts)}  # @inspect seeds
    small = from_own_streams(seeds, counts)
    large = from_own_streams(seeds, counts | {"weights": 6})
    runs = {"4 weights": small, "6 weights": large}
    streams = figures.streams("A stream for each purpose", runs)  # @inspect streams
    assert torch.equal(large["weights"][:4], small["weights"])
    assert large["weights"].shape == (4 + 2,)
    assert torch.equal(large["order"], small["order"])
    assert torch.equal(large["dropout"], small["dropout"])
    # And each can be changed by itself. Another seed for the data leaves the weights at the start
    # as they are: how much does the result owe to the order of the data?
    reordered = from_own_streams(seeds | {"order": len(seeds)}, counts)
    same = {purpose: reordered[purpose].equal(small[purpose]) for purpose in counts}
    assert same == {"weights": True, "order": False, "dropout": True}  # @inspect same
    # Nor does it matter any more who draws first.
    backwards = from_own_streams(seeds, dict(reversed(counts.items())))
    assert list(backwards) == ["dropout", "order", "weights"]
    assert all(torch.equal(backwards[purpose], small[purpose]) for purpose in counts)


def some_draws_are_not_in_sight():  # M21.2
    """Some draws are not in sight.

    Who draws without being handed a generator? Layers and loaders do, from the global one, the
    generator that `torch.manual_seed` seeds.
    """
    torch.manual_seed(5)
    expected = torch.rand(4)
    # A loop over a `DataLoader` takes a number from it even when nothing is shuffled: a seed for
    # its worker processes, needed or not.
    torch.manual_seed(5)
    batches = [batch.tolist() for batch in DataLoader(range(4), batch_size=2)]
    assert batches == [[0, 1], [2, 3]]
    assert not torch.equal(torch.rand(4), expected)
    # A loader with its own generator leaves the global one alone.
    torch.manual_seed(5)
    own = torch.Generator().manual_seed(6)
    shuffled = [batch.item() for batch in DataLoader(range(4), shuffle=True, generator=own)]
    assert torch.equal(torch.rand(4), expected)
    assert sorted(shuffled) == [0, 1, 2, 3]
    # [`dropout`](#recomputing_needs_the_same_dice) takes no generator. It draws from the global
    # one, which can be seeded anew inside `fork_rng`: at the end of the block its state is put
    # back.
    torch.manual_seed(5)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        dropped = torch.nn.functional.dropout(torch.ones(10_000), p=0.25)
    assert torch.equal(torch.rand(4), expected)
    # About a quarter is zero, and the rest is larger, so that the mean stays about 1.
    assert len(dropped) == 10_000
    assert math.isclose((dropped == 0).float().mean(), 0.25, abs_tol=0.02)
    assert math.isclose(dropped.max(), 1 / (1 - 0.25), rel_tol=1e-6)


def seeds_are_derived_not_added():  # M21.2
    """Seeds are derived, not added.

    Where do all these seeds come from? Each epoch (a pass through the data) of each run needs one.
    A common mistake is to add up: seed of the run plus number of the epoch.
    """
    places = [(seed, epoch) for seed in range(4) for epoch in range(5)]
    generators = [torch.Generator().manual_seed(seed + epoch) for seed, epoch in places]
    shuffles = {tuple(torch.randperm(100, generator=each).tolist()) for each in generators}
    # 20 shuffles, of which 8 differ: epoch 1 of run 0 is epoch 0 of run 1.
    assert (len(generators), len(shuffles)) == (20, 8)
    # NumPy's `SeedSequence` mixes the bits of several numbers into one seed of 64 bits. All 20
    # differ, and the order counts.
    derived = {derived_generator(*place).initial_seed() for place in places}  # @stepover
    assert len(derived) == 20
    assert derived_generator(1, 2).initial_seed() != derived_generator(2, 1).initial_seed()
    # The order of epoch 3 then needs nothing but its numbers: no shuffle before it has to be drawn
    # again.
    order = torch.randperm(8, generator=derived_generator(1, 3))  # @inspect order
    assert torch.equal(torch.randperm(8, generator=derived_generator(1, 3)), order)
    assert order.sort().values.tolist() == list(range(8))
    # Even two libraries can meet in one stream. NumPy's old generator and PyTorch's are both
    # Mersenne Twisters, started in the same way: asked for 16 bits, they give the same numbers.
    np.random.seed(5)
    from_numpy = np.random.randint(2**16, size=4).tolist()
    from_torch = torch.randint(2**16, (4,), generator=torch.Generator().manual_seed(5)).tolist()
    assert from_torch == from_numpy == [35_683, 18_638, 20_463, 59_069]
    # Python's is one, too. It scrambles its seed first.
    python = random.Random(5)
    from_python = [python.getrandbits(32) % 2**16 for _ in range(4)]
    assert from_python == [31813, 55353, 49305, 64444]


def hash_in_another_process(hash_seed: str) -> str:  # @stepover
    """Start Python anew, seed its generator, and ask for the hash of a word."""
    program = "import random; random.seed(0); print(random.random(), hash('token'))"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-S", "-c", program]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return finished.stdout


def a_seed_does_not_fix_everything():  # M21.1 M21.2
    """A seed does not fix everything.

    What can still differ between two runs with the same seeds? First, what is not drawn from a
    generator at all.
    """
    # Python mixes the hashes of strings with a number that it picks anew for each process, and the
    # order of a set follows from its hashes. Here three processes get that number, as
    # `PYTHONHASHSEED`. Each reports what it draws first after `random.seed(0)`, which is always the
    # same, and the hash of a word, which is not.
    reports = [hash_in_another_process(hash_seed).split() for hash_seed in ("1", "1", "2")]
    assert {drawn for drawn, _ in reports} == {"0.8444218515250481"}
    assert [text_hash == reports[0][1] for _, text_hash in reports] == [True, True, False]
    # So a vocabulary that is numbered by looping over a set of strings is another one in each
    # process. Sorted, it is the same. The list of files in a folder has no fixed order, either.
    vocabulary = sorted({"the", "cat", "sat"})  # @inspect vocabulary
    # Then, a seed promises its numbers only for the same way of drawing. Below 16 normal numbers
    # PyTorch makes them one by one, from 16 on in blocks, and the first is another.
    few = torch.randn(15, generator=torch.Generator().manual_seed(0))
    more = torch.randn(16, generator=torch.Generator().manual_seed(0))
    assert not torch.isclose(few, more[:15]).any()
    # Between 0 and 1, ten numbers begin like a hundred. In fp64 they are others: each is made of
    # more bits.
    ten = torch.rand(10, generator=torch.Generator().manual_seed(0))
    hundred = torch.rand(100, generator=torch.Generator().manual_seed(0))
    double = torch.rand(10, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.equal(ten, hundred[:10])
    # A GPU, another version of PyTorch: other numbers again. What must not change is stored.
    assert not torch.isclose(ten, double.float()).any()


@shape_checked
def embedding_gradient(
    tokens: Int64[Tensor, " T"], arriving: Float32[Tensor, "T D"], V: int
) -> Float32[Tensor, "V D"]:
    """Add to the row of each token what arrives for it, in the order given."""
    gradient = torch.zeros(V, arriving.shape[1], device=arriving.device)
    return gradient.index_add_(0, tokens, arriving)


def no_seed_fixes_the_order_of_additions():  # M21.2
    """No seed fixes the order of additions.

    Where does chance come in without any random number? In sums. Rounding makes them depend on the
    order of their terms.
    """
    large = torch.tensor(1e16, dtype=torch.float64)
    assert (large + 1) - large == 0
    assert (large - large) + 1 == 1
    # In the backward pass of an [embedding](#an_embedding_is_a_table_of_vectors), a table with a
    # row for each token, the gradients of all places where a token occurs are added to its row.
    # Here token 2 occurs 1000 times.
    T, V = 1000, 4
    tokens = torch.full((T,), 2)
    arriving = torch.rand(T, 1, generator=torch.Generator().manual_seed(0))
    gradient = embedding_gradient(tokens, arriving, V)  # @inspect gradient
    table = torch.zeros(V, 1, requires_grad=True)
    torch.nn.functional.embedding(tokens, table).backward(arriving)
    assert gradient.shape == (4, 1)
    assert torch.equal(table.grad, gradient)
    # On a GPU, thousands of threads can add to one row at once: no addition gets lost, but whoever
    # comes first is served first. Let the same terms arrive in 200 orders.
    generator = torch.Generator().manual_seed(1)
    orders = [torch.randperm(T, generator=generator) for _ in range(200)]
    sums = [
        embedding_gradient(tokens, arriving[order], V)[2].item() for order in orders
    ]  # @stepover
    # `fsum` rounds only once, at the end. Around 500, neighbours in fp32 are $2^{-15}$ apart, and
    # that is the unit here: how many numbers away is each sum from the best one?
    best = round(math.fsum(arriving.flatten().tolist()) * 2**15)
    steps_away = collections.Counter(int(total * 2**15) - best for total in sums)
    sums_by_order = figures.sums_by_order(steps_away)  # @inspect sums_by_order
    # 28 different sums of the same 1000 numbers, and one order in 20 finds the best.
    assert best == 16_414_305
    assert steps_away.total() == 200
    assert len(steps_away) == 28
    assert steps_away[0] == 10
    assert (min(steps_away), max(steps_away)) == (-13, 15)


def an_order_can_be_asked_for():  # M21.2
    """A fixed order can be asked for.

    How does one get the same bits from a machine that adds up in any order? PyTorch has a switch.
    With it, operations take a way with a fixed order, if they have one, and it may be slower.
    """
    # This lecture has it on throughout.
    assert torch.are_deterministic_algorithms_enabled()
    # On a GPU, `index_add_` needs it. With the switch on, two runs agree to the last bit.
    tokens = torch.arange(6000) % 3
    arriving = torch.rand(6000, 2, generator=torch.Generator().manual_seed(0))
    if torch.cuda.is_available():
        runs = [embedding_gradient(tokens.cuda(), arriving.cuda(), V=3) for _ in range(2)]
        assert torch.equal(*runs)
    else:
        skipped = "no CUDA device here: nothing was added in parallel"  # @inspect skipped
    # On the CPU each row adds up what is meant for it from first to last.
    gradient = embedding_gradient(tokens, arriving, V=3)  # @inspect gradient
    from_first_to_last = np.add.accumulate(arriving.view(2000, 3, 2).numpy())[-1]
    assert gradient.tolist() == from_first_to_last.tolist()
    # An operation that has no such way is refused, even here. `put_` writes numbers to places. If a
    # place is named twice, it is open which number stays; to add both is well defined.
    places, numbers = torch.tensor([1, 1]), torch.tensor([10.0, 20])
    results: list[object] = []
    for accumulate in (True, False):
        try:
            results.append(torch.zeros(3).put_(places, numbers, accumulate).tolist())
        except RuntimeError:
            results.append("refused")
    assert results == [[0, 10 + 20, 0], "refused"]
    # The switch covers one machine and one version. On a GPU two more settings belong to it:
    # `CUBLAS_WORKSPACE_CONFIG=:4096:8` in the environment, for matrix products, and
    # `torch.backends.cudnn.benchmark`, which is off until somebody turns it on: then a race decides
    # which algorithm is used.
    assert not torch.backends.cudnn.benchmark
    # This chapter in short: a seed repeats all draws, and a generator for each purpose keeps a
    # change of one from moving the others. What no seed fixes is the order of additions. It can be
    # asked for, on one machine.
