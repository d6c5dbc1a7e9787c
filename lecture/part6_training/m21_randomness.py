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
from lecture.lib.refused import refused
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

    A run fails at step 1000. Can we run it again and get the same failure? Three things in training
    are drawn by chance: the weights at the start, the order of the data, and which numbers
    *dropout* sets to zero. But this chance is computed. A *generator* holds a state; each draw
    reads a number off it and moves it on. A *seed* is what the first state is made from.
    """
    first = drawn_in_training(torch.Generator().manual_seed(1))  # @inspect first
    again = drawn_in_training(torch.Generator().manual_seed(1))
    other = drawn_in_training(torch.Generator().manual_seed(2))
    # The same seed gives the same of everything that is drawn. If the failure hangs on that alone,
    # it comes back as often as we need it.
    assert all(torch.equal(first[purpose], again[purpose]) for purpose in first)
    assert not any(torch.equal(first[purpose], other[purpose]) for purpose in first)
    # What all seeds agree on is the distribution: for example, each of six items once.
    for run in (first, other):
        assert 0 <= run["weights"].min() <= run["weights"].max() < 1
        assert run["order"].sort().values.tolist() == [0, 1, 2, 3, 4, 5]
    # How do we go on from the middle of a run? Where the draws stand is in the state, not in the
    # seed: seeding again goes back to the start. So the state [goes into the
    # checkpoint](#resuming_equals_never_stopping).
    generator = torch.Generator().manual_seed(3)
    drawn_in_training(generator)  # @stepover
    state = generator.get_state()
    following = torch.rand(3, generator=generator)
    assert torch.equal(torch.rand(3, generator=generator.set_state(state)), following)
    assert not torch.equal(torch.rand(3, generator=generator.manual_seed(3)), following)


def three_generators_are_seeded_apart():  # M21.1
    """Three generators are seeded apart.

    Is one seed enough for a program? Python, NumPy and PyTorch each have a global generator, and
    none knows of the others.
    """
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
    first = (random.random(), np.random.rand(), torch.rand(1).item())  # @inspect first
    # Now seed PyTorch alone, and draw again. Which of the three repeat?
    torch.manual_seed(0)
    second = (random.random(), np.random.rand(), torch.rand(1).item())  # @inspect second
    assert [old == new for old, new in zip(first, second, strict=True)] == [False, False, True]
    # The other two went on as if PyTorch did not exist.
    python = random.Random(0)
    assert [first[0], second[0]] == [python.random(), python.random()]
    # NumPy has two kinds. What `default_rng` makes is an object with a state of its own, and
    # `np.random.seed` does not reach it.
    own = np.random.default_rng(0)
    before = own.random()
    np.random.seed(0)
    assert own.random() != before
    # Each GPU has one more. `torch.manual_seed` seeds it, too, but it computes other numbers from
    # the same seed.
    if torch.cuda.is_available():
        torch.manual_seed(0)
        on_the_gpu = torch.rand(3, device="cuda")
        assert not torch.equal(on_the_gpu.cpu(), torch.rand(3))
        torch.manual_seed(0)
        assert torch.equal(torch.rand(3, device="cuda"), on_the_gpu)
    else:
        skipped = "no CUDA device here: its generator was not seeded"  # @inspect skipped
    # So: seed all three. And what has to be the same on every machine, draw on the CPU, with one
    # version of PyTorch, by `rand` or `randperm`. (The last digits of `randn` depend on the
    # processor's instructions.)


@shape_checked
def from_one_stream(
    generator: torch.Generator, counts: dict[str, int]
) -> dict[str, Float[Tensor, "..."]]:
    """Draw so many numbers for each purpose, one purpose after the other."""
    return {purpose: torch.rand(count, generator=generator) for purpose, count in counts.items()}


def an_extra_draw_shifts_all_that_follow():  # M21.2
    """An extra draw shifts all that follow.

    The seed is fixed. Is an experiment with a larger model a fair comparison? Let the weights, the
    order of the data and dropout draw from one stream, in this order, and give the model two more
    weights.
    """
    counts = {"weights": 4, "order": 3, "dropout": 3}
    small = from_one_stream(torch.Generator().manual_seed(0), counts)
    large = from_one_stream(torch.Generator().manual_seed(0), counts | {"weights": 6})
    runs = {"4 weights": small, "6 weights": large}
    streams = figures.streams("One stream for everything", runs)  # @inspect streams
    # The numbers are the same, what they are for is not. The two new weights take what was drawn
    # for the order of the data, and everything behind moves up.
    assert torch.equal(large["weights"][4:], small["order"][:2])
    assert torch.equal(large["order"], torch.cat([small["order"][2:], small["dropout"][:2]]))
    # So one change made three: the larger model also sees the data in another order, and loses
    # other numbers to dropout. One line that draws a sample, for a look at it, does the same.
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

    How can we change one thing and keep everything else? We make a `torch.Generator` for each
    purpose and hand it to the code that draws. Then none depends on how much the others draw.
    """
    counts = {"weights": 4, "order": 3, "dropout": 3}
    seeds = {purpose: number for number, purpose in enumerate(counts)}  # @inspect seeds
    small = from_own_streams(seeds, counts)
    large = from_own_streams(seeds, counts | {"weights": 6})
    runs = {"4 weights": small, "6 weights": large}
    streams = figures.streams("A stream for each purpose", runs)  # @inspect streams
    assert torch.equal(large["weights"][:4], small["weights"])
    assert torch.equal(large["order"], small["order"])
    assert torch.equal(large["dropout"], small["dropout"])
    # And each can be changed by itself. How much does a result owe to the order of the data? Give
    # the order another seed, and the weights at the start stay.
    reordered = from_own_streams(seeds | {"order": len(seeds)}, counts)
    same = {purpose: reordered[purpose].equal(small[purpose]) for purpose in counts}
    assert same == {"weights": True, "order": False, "dropout": True}  # @inspect same


def hash_in_another_process(hash_seed: str) -> str:  # @stepover
    """Start Python anew, seed its generator, and ask for the hash of a word."""
    program = "import random; random.seed(0); print(random.random(), hash('token'))"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-S", "-c", program]
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return finished.stdout


def some_draws_are_not_in_sight():  # M21.1 M21.2
    """Some draws are not in sight.

    Our code hands generators around. What else draws? Layers and loaders do, from the global
    generator, the one that `torch.manual_seed` seeds.
    """
    torch.manual_seed(5)
    expected = torch.rand(4)
    # A loop over a `DataLoader` takes a number even when nothing is shuffled: a seed for its worker
    # processes, needed or not. With its own generator, it leaves the global one alone.
    torch.manual_seed(5)
    assert len(list(DataLoader(range(4), batch_size=2))) == 2
    assert not torch.equal(torch.rand(4), expected)
    torch.manual_seed(5)
    own = torch.Generator().manual_seed(6)
    assert len(list(DataLoader(range(4), batch_size=2, shuffle=True, generator=own))) == 2
    assert torch.equal(torch.rand(4), expected)
    # [`dropout`](#recomputing_needs_the_same_dice) takes no generator. `fork_rng` puts the global
    # one back at the end of its block, so inside we may seed it as we like.
    torch.manual_seed(5)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        dropped = torch.nn.functional.dropout(torch.ones(10_000), p=0.25)
    assert torch.equal(torch.rand(4), expected)
    assert math.isclose((dropped == 0).float().mean(), 0.25, abs_tol=0.02)
    # And some chance comes from no generator. Python mixes the hashes of strings with a number that
    # it picks for each process, and the order of a set of strings follows the hashes. Here three
    # processes are given that number. All draw the same; the third has another hash.
    reports = [hash_in_another_process(hash_seed).split() for hash_seed in ("1", "1", "2")]
    assert len({drawn for drawn, _ in reports}) == 1
    assert [text_hash == reports[0][1] for _, text_hash in reports] == [True, True, False]
    # So: if you number a vocabulary by looping over a set, sort it first.
    vocabulary = sorted({"the", "cat", "sat"})  # @inspect vocabulary


def seeds_are_derived_not_added():  # M21.2
    """Seeds are derived, not added.

    Where do all these seeds come from? Each epoch (a pass through the data) of each run needs one.
    A common mistake is to add: seed of the run plus number of the epoch. With 4 runs of 5 epochs,
    how many different orders does that give?
    """
    places = [(seed, epoch) for seed in range(4) for epoch in range(5)]
    generators = [torch.Generator().manual_seed(seed + epoch) for seed, epoch in places]
    shuffles = {tuple(torch.randperm(100, generator=each).tolist()) for each in generators}
    # 8 instead of 20: epoch 1 of run 0 is epoch 0 of run 1.
    assert len(shuffles) == 8
    # `derived_generator` mixes the bits of several numbers into one seed, with NumPy's
    # `SeedSequence`. All 20 orders differ, and the order of the numbers counts.
    derived = {
        tuple(torch.randperm(100, generator=derived_generator(*place)).tolist()) for place in places
    }  # @stepover
    assert len(derived) == 20
    assert derived_generator(1, 2).initial_seed() != derived_generator(2, 1).initial_seed()
    # What does not count are zeros at the end, so give it equally many numbers each time.
    assert derived_generator(1).initial_seed() == derived_generator(1, 0).initial_seed()
    # (A seed may have 64 bits. The generator of the CPU reads the lower 32 of them.)
    alike = [torch.rand(4, generator=torch.Generator().manual_seed(s)) for s in (7, 7 + 2**32)]
    assert torch.equal(*alike)
    # The order of epoch 3 then depends on two numbers and on nothing that was drawn before.
    order = torch.randperm(8, generator=derived_generator(1, 3))  # @inspect order
    assert torch.equal(torch.randperm(8, generator=derived_generator(1, 3)), order)


@shape_checked
def embedding_gradient(
    tokens: Int64[Tensor, " R"], arriving: Float32[Tensor, "R D"], V: int
) -> Float32[Tensor, "V D"]:
    """Add to the row of each token what arrives for it, in the order given."""
    gradient = torch.zeros(V, arriving.shape[1], device=arriving.device)
    return gradient.index_add_(0, tokens, arriving)


def no_seed_fixes_the_order_of_additions():  # M21.1
    """No seed fixes the order of additions.

    All seeds are set, and two runs on a GPU can still differ in the last digits. Where does chance
    come in without any random number? For one, in sums:
    [rounding](#counting_stops_early_in_16_bits) makes them depend on the order of their terms.
    """
    large = torch.tensor(1e16, dtype=torch.float64)
    assert (large + 1) - large == 0
    assert (large - large) + 1 == 1  # @predict
    # In the backward pass of an [embedding](#an_embedding_is_a_table_of_vectors), a table with a
    # row for each token, the gradients of all places where a token occurs are added to its row.
    # Here token 2 occurs 1000 times.
    R, V = 1000, 4
    tokens = torch.full((R,), 2)
    arriving = torch.rand(R, 1, generator=torch.Generator().manual_seed(0))
    gradient = embedding_gradient(tokens, arriving, V)  # @inspect gradient
    table = torch.zeros(V, 1, requires_grad=True)
    torch.nn.functional.embedding(tokens, table).backward(arriving)
    assert torch.equal(table.grad, gradient)
    # On a GPU, `index_add_` has many threads add to one row at once. No addition gets lost, but the
    # order is a race. (By PyTorch's documentation, the gradient of `index_select` is a race
    # there, too. The embedding's is not on that list.) Let the same terms arrive in 200 orders. How
    # many different sums will there be?
    generator = torch.Generator().manual_seed(1)
    orders = [torch.randperm(R, generator=generator) for _ in range(200)]
    sums = [
        embedding_gradient(tokens, arriving[order], V)[2].item() for order in orders
    ]  # @stepover
    # The picture counts in steps of fp32, which near 500 are $2^{-15}$, from the sum that is
    # rounded only once, at its end.
    best = round(math.fsum(arriving.flatten().tolist()) * 2**15)
    steps_away = collections.Counter(int(total * 2**15) - best for total in sums)
    sums_by_order = figures.sums_by_order(steps_away)  # @inspect sums_by_order
    # 28. One order in 20 finds the best.
    assert len(steps_away) == 28
    assert steps_away[0] / steps_away.total() == 1 / 20
    assert max(map(abs, steps_away)) == 15


def an_order_can_be_asked_for():  # M21.1
    """A fixed order can be asked for.

    Can we get the same bits from a machine that adds in any order? PyTorch has a switch. With it,
    operations use an algorithm with a fixed order, if they have one. It may be slower.
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
    # On the CPU, each row adds what is meant for it from first to last.
    gradient = embedding_gradient(tokens, arriving, V=3)  # @inspect gradient
    from_first_to_last = np.add.accumulate(arriving.view(2000, 3, 2).numpy())[-1]
    assert gradient.tolist() == from_first_to_last.tolist()
    # What if an operation has no such algorithm? PyTorch refuses it, even here. `put_` writes
    # numbers to places, and if a place is named twice, either number may stay. To add both is well
    # defined.
    places, numbers = torch.tensor([1, 1]), torch.tensor([10.0, 20])
    assert torch.zeros(3).put_(places, numbers, accumulate=True).tolist() == [0, 10 + 20, 0]
    with refused(RuntimeError) as error:
        torch.zeros(3).put_(places, numbers)
    assert "deterministic" in error.message
    # The switch covers one machine and one version. On a GPU one more setting belongs to it,
    # `torch.backends.cudnn.benchmark = False`, or else a race decides which algorithm is used.
    # (Older versions ask for `CUBLAS_WORKSPACE_CONFIG=:4096:8` in the environment, for matmuls.)
    assert not torch.backends.cudnn.benchmark
    # What we can do now: repeat a run, change one thing of it at a time, and say which differences
    # no seed explains.


def exercise_a_thousand_seeds():  # M21.2 @exercise
    """Exercise: a thousand seeds.

    A thousand jobs draw a seed each, out of 65 536. How many jobs can expect to find theirs taken?
    """
    generator = torch.Generator().manual_seed(0)
    taken = [
        1000 - len(torch.randint(2**16, (1000,), generator=generator).unique()) for _ in range(200)
    ]  # @stepover
    average = sum(taken) / len(taken)  # @inspect average
    # There are $1000^2/2$ pairs, and each is alike once in $2^{16}$: nearly eight. Draw from all of
    # the $2^{32}$ that the CPU's generator tells apart, and two are alike once in 8600 times. Or
    # number the jobs and take the number as the seed: then no two are alike.
    expected = 1000**2 / 2 / 2**16  # @inspect expected
    assert abs(average - expected) < 0.5


def exercise_sixteen_at_once():  # M21.1 @exercise
    """Exercise: sixteen at once.

    From the same seed, are `torch.rand(16)` and sixteen times `torch.rand(1)` the same numbers? And
    with `torch.randn`?
    """
    same = {}
    for draw in (torch.rand, torch.randn):
        generator = torch.Generator().manual_seed(0)
        apart = torch.cat([draw(1, generator=generator) for _ in range(16)])
        at_once = draw(16, generator=generator.manual_seed(0))
        same[draw.__name__] = torch.equal(apart, at_once)  # @inspect same
    # From 16 numbers on, PyTorch makes normal numbers on a CPU in another way, for vector
    # instructions, and other ones come out. So a seed repeats a program, not the numbers of another
    # program.
    assert same == {"rand": True, "randn": False}
