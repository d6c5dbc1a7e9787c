"""Bytes against FLOPs: what an operation waits for, its data or its arithmetic."""

import bisect
import math
from collections.abc import Callable, Mapping

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import gelu, scaled_dot_product_attention

from lecture.facts import (
    A100_SXM,
    B200,
    FLASH_ATTENTION_MOVED_BYTES,
    GPT2_VOCABULARY,
    H100_SHARED_MEMORY_BYTES,
    H100_SXM,
    H100_WARM_FLOPS_PER_SECOND,
    H200,
    RTX_3090,
    Accelerator,
)
from lecture.lib.cache import (
    loads_of_attention,
    loads_of_attention_written_out,
    loads_of_tiles,
    moved_numbers,
)
from lecture.lib.hardware import AMPERE, gpu_is_at_least
from lecture.lib.intensity import Work, bf16, intensity_of, work_of, work_of_all_layers
from lecture.lib.recorded import FOLDER, recorded_machines
from lecture.lib.shapes import shape_checked
from lecture.lib.tiles import product_by_tiles
from lecture.lib.timing import (
    Clock,
    best_bytes_per_second,
    best_matmul_flops_per_second,
    time,
    time_call,
)
from lecture.part4_compute import m11_figures as figures
from trace.costs import measure


def move_seconds(work: Work, card: Accelerator) -> float:  # @stepover
    """Time to move the bytes of an operation."""
    return work.moved_bytes / card.memory_bytes_per_second


def compute_seconds(work: Work, card: Accelerator) -> float:  # @stepover
    """Time for its FLOPs, in bf16 on the tensor cores."""
    return work.flops / card.dense_flops_per_second["bf16"]


def schedule(
    tiles: int, load: int, compute: int, store: int
) -> dict[str, list[tuple[int, int, str]]]:
    """Work through tiles in two lanes; what a tile waits for is loaded while others compute."""
    memory: list[tuple[int, int, str]] = []
    processor: list[tuple[int, int, str]] = []
    memory_free = processor_free = 0
    for tile in range(tiles + 1):
        if tile < tiles:
            loaded = memory_free + load
            memory.append((memory_free, loaded, "load"))
            memory_free = loaded
        if tile > 0:
            start = max(memory_free, processor[tile - 1][1])
            memory.append((start, start + store, "store"))
            memory_free = start + store
        if tile < tiles:
            start = max(processor_free, loaded)
            processor.append((start, start + compute, "compute"))
            processor_free = start + compute
    return {"memory": memory, "processor": processor}


def every_operation_loads_computes_and_stores():  # M11.1
    """Every operation loads, computes and stores.

    What does an operation do besides its FLOPs? It loads its inputs from memory to where numbers
    are multiplied, and stores what came out. How long is that, when each part takes its time?
    """
    x = torch.linspace(-1, 1, 9)
    with measure() as cost:
        y = torch.relu(x)
    assert (cost.read_bytes, cost.other_flops, cost.written_bytes) == (36, 9, 36)
    assert y.sum() == 0.25 + 0.5 + 0.75 + 1
    assert y[8] == 1
    # The parts need not wait for each other. Cut into tiles, the next one can be loaded while one
    # is computed. Here eight tiles with 2 ticks to load each, 4 to compute and 1 to store.
    overlapped = schedule(tiles=8, load=2, compute=4, store=1)
    two_lanes = figures.lanes("Eight tiles", overlapped, "ticks")  # @inspect two_lanes
    memory_ticks = sum(stop - start for start, stop, _ in overlapped["memory"])
    processor_ticks = sum(stop - start for start, stop, _ in overlapped["processor"])
    assert (memory_ticks, processor_ticks) == (8 * (2 + 1), 8 * 4)
    ticks = max(stop for lane in overlapped.values() for _, stop, _ in lane)
    assert ticks == 2 + processor_ticks + 1
    # With many small tiles only the longer of the two lanes is left: *time is the larger of bytes
    # over bandwidth and FLOPs over peak*. Without any overlap it would be their sum, which is at
    # most twice as much. So whoever takes the larger is never off by more than a factor of 2 for
    # this reason.
    # In the first of these three the processor has the longer lane, in the others the memory.
    one_by_one = 0
    for load, compute, store in ((2, 4, 1), (4, 4, 3), (5, 1, 5)):
        lanes = schedule(tiles=20, load=load, compute=compute, store=store)
        ticks = max(stop for lane in lanes.values() for _, stop, _ in lane)
        total = 20 * (load + compute + store)
        assert 20 * max(load + store, compute) <= ticks <= 20 * max(load + store, compute) + 11
        assert ticks < total <= 2 * 20 * max(load + store, compute)
        one_by_one += total
    assert one_by_one == 20 * (7 + 11 + 11)


def an_accelerator_has_an_intensity():  # M11.2
    """An accelerator has an intensity, too.

    How much arithmetic must come with each byte, so that a card is kept busy? Its peak divided by
    the bandwidth of its memory: the FLOPs it can do while one byte arrives.
    """
    cards = (RTX_3090, A100_SXM, H200, B200, H100_SXM)
    intensities = {card.name: intensity_of(card) for card in cards}
    bars = figures.accelerator_intensities(intensities)  # @inspect bars
    assert round(intensities["H100 SXM"], 2) == 295.37
    # For each bf16 number that is loaded an H100 could do 591 FLOPs. Whoever does one of them and
    # stores the result leaves the rest unused.
    assert round(2 * intensities["H100 SXM"]) == 591
    # The number is a ratio of two parts of a card. From the A100 to the H100 tensor cores grew
    # faster than memory. The H200 is the same chip with faster memory, and from the H100 to the
    # B200 both have more than doubled.
    assert round(intensities["RTX 3090"], 1) == 75.9
    assert round(intensities["A100 SXM"], 1) == 153.0
    assert round(intensities["H200"], 1) == 206.1
    assert round(intensities["B200"], 1) == 293.3
    # It belongs to a format as well. In fp32, without tensor cores, 20 FLOPs per byte are enough to
    # be busy; in fp8 it takes 591.
    by_format = {dtype: round(intensity_of(H100_SXM, dtype)) for dtype in ("fp32", "bf16", "fp8")}
    assert by_format == {"fp32": 20, "bf16": 295, "fp8": 591}


def two_tests_find_the_same_bottleneck():  # M11.3
    """Two tests find the same bottleneck.

    Does an operation wait for its bytes or for its FLOPs? One can compare two times: that of
    moving and that of computing. Or two intensities: FLOPs per byte of the operation, and of the
    card. The operation is *memory-bound* if its own is lower, *compute-bound* if it is higher.
    """
    # It is one inequality, divided by the same positive numbers on both sides: FLOPs over peak is
    # more than bytes over bandwidth where FLOPs over bytes is more than peak over bandwidth. Of
    # these five operations on matrices of 4096×4096, one waits for its arithmetic.
    operations = operations_at(4096)
    by_time = {
        name
        for name, work in operations.items()
        if compute_seconds(work, H100_SXM) > move_seconds(work, H100_SXM)
    }
    assert by_time == {"matrix × matrix"}
    # The intensities are handier. That of the operation follows from its shapes alone, that of
    # the card from its sheet, and each is found once.
    product = work_of(lambda: bf16(512, 512) @ bf16(512, 512))
    assert product.flops == 2 * 512**3
    cards = (RTX_3090, A100_SXM, H100_SXM)
    assert [product.intensity > intensity_of(card) for card in cards] == [True, True, False]


def relu_waits_for_memory():  # M11.4
    """ReLU waits for memory.

    How long does a ReLU of a million numbers take on an H100? For each number, one comparison,
    which is counted as one FLOP, two bytes in and two bytes out.
    """
    n = 2**20
    x = torch.ones(n, dtype=torch.bfloat16)
    relu = work_of(lambda: torch.relu(x))
    assert relu.flops == n
    assert relu.moved_bytes == n * (2 + 2)
    assert relu.intensity == 0.25
    # To move the numbers takes 1.25 microseconds, and to compare them a thousandth of one.
    move_microseconds = 1e6 * move_seconds(relu, H100_SXM)  # @inspect move_microseconds
    compute_microseconds = 1e6 * compute_seconds(relu, H100_SXM)  # @inspect compute_microseconds
    assert round(move_microseconds, 3) == 1.252
    assert round(compute_microseconds, 3) == 0.001
    # By its intensity, the [MFU](#utilization_is_useful_over_promised) is at most 8.5e-4. (That a
    # ReLU cannot use tensor cores makes no difference: at the fp32 peak, computing would still be
    # an 80th of the time.)
    assert relu.intensity / intensity_of(H100_SXM, "fp32") == 1 / 80
    mfu_bound = relu.intensity / intensity_of(H100_SXM)
    assert round(mfu_bound, 6) == 0.000846
    # In fp32 each number is twice as wide: half the intensity, twice the time. For a memory-bound
    # operation, narrow numbers are fast because they are narrow.
    wide_x = x.to(torch.float32)
    wide = work_of(lambda: torch.relu(wide_x))
    assert wide.moved_bytes == 2 * relu.moved_bytes
    assert wide.flops == relu.flops


def gelu_moves_the_bytes_of_a_relu():  # M11.5 E109
    """GELU moves the bytes of a ReLU.

    Is a complicated function slower than a simple one?
    [GELU](https://arxiv.org/abs/1606.08415) multiplies x by the probability that a normal random
    number is below x. The meter books 20 FLOPs for it. That is an agreement: a processor takes some
    tens of instructions, and how many depends on its library.
    """
    n = 2**20
    relu, gelu_work = (work_of(lambda f=f: f(bf16(n))) for f in (torch.relu, gelu))
    assert gelu_work.moved_bytes == relu.moved_bytes == 4 * 2**20
    assert gelu_work.intensity == 5
    # Twenty times the work, and the same time: both wait for the same bytes. At the bf16 peak it
    # would take 1182 FLOPs per number until the arithmetic is the longer part.
    assert compute_seconds(gelu_work, H100_SXM) < move_seconds(gelu_work, H100_SXM)
    assert move_seconds(gelu_work, H100_SXM) == move_seconds(relu, H100_SXM)
    break_even_flops = math.ceil(intensity_of(H100_SXM) * relu.moved_bytes / n)
    assert break_even_flops == 1182
    # On a CPU the margin is thinner, and whether the two take equally long depends on the machine.
    x = torch.ones(n)
    relu_time = time_call(lambda: torch.relu(x)).median_seconds  # @timed @inspect relu_time
    gelu_time = time_call(lambda: gelu(x)).median_seconds  # @timed @inspect gelu_time
    # A common mistake is to conclude that ReLU is never faster. It takes three conditions. The
    # function is one *kernel*, a program for the device that loads once and stores once. The data
    # comes from memory: numbers that still lie in a cache arrive faster. And the units that compute
    # it are fast enough. A GELU does not run on tensor cores, so the fp32 peak is what counts: 20
    # FLOPs per byte. Its 5 are fewer, and would be with three times the count. (But the peak holds
    # for multiply-adds only; not every instruction is as fast.)
    assert 3 * gelu_work.intensity < intensity_of(H100_SXM, "fp32") == 20


@shape_checked
def gelu_by_tanh(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Write the tanh formula out."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)
    return 0.5 * x * (1 + torch.tanh(inner))


@shape_checked
def gelu_by_erf(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """Write the definition out; erf gives the probability below x."""
    return 0.5 * x * (1 + torch.erf(x / math.sqrt(2)))


def two_functions_are_called_gelu():  # M11.5 E108
    """Two functions are called GELU.

    Which formula is it? The definition needs the error function erf. The
    [paper](https://arxiv.org/abs/1606.08415) also gives an approximation by tanh, and both are in
    use.
    """
    x = torch.linspace(-8, 8, 16_001, dtype=torch.float64)
    assert round(x[10_700].item(), 9) == 2.7
    # PyTorch computes the definition, unless it is asked for the other.
    assert torch.allclose(gelu(x), gelu_by_erf(x), rtol=0, atol=1e-14)
    assert torch.allclose(gelu(x, approximate="tanh"), gelu_by_tanh(x), rtol=0, atol=1e-14)
    # A common mistake is to explain one by the other. They differ by up to 4.7e-4, at about ±2.7.
    gap = (gelu_by_tanh(x) - gelu_by_erf(x)).abs()
    assert round(gap.max().item(), 5) == 0.00047
    assert round(abs(x[gap.argmax()].item()), 1) == 2.7
    # It is small, and in bf16 it disappears behind the rounding where results are large: next to
    # 2.7, bf16 has steps of 1/64. It does not disappear where they are small: at -2.7 the result
    # itself is -0.009, and the gap is a twentieth of it. So a model should run with the function it
    # was trained with. For GPT-2 that is [the one with
    # tanh](https://github.com/openai/gpt-2/blob/master/src/model.py).
    at = torch.tensor([-2.7], dtype=torch.float64)
    relative_gap = (gelu_by_tanh(at) / gelu_by_erf(at) - 1).abs().item()  # @inspect relative_gap
    assert 0.04 < relative_gap < 0.06
    near = torch.tensor([2.7], dtype=torch.bfloat16).view(torch.int16)
    neighbours = torch.cat([near, near + 1]).view(torch.bfloat16)
    assert neighbours[1] - neighbours[0] == 1 / 64
    # And the count of 20 FLOPs is an assumption. Written out, the meter finds 24 for one and 28
    # for the other, of which 20 are for erf or tanh. As long as memory is what one waits for, it
    # makes no difference.
    written = [work_of(lambda f=f: f(bf16(100))).flops / 100 for f in (gelu_by_erf, gelu_by_tanh)]
    assert written == [24, 28]


def written_out_gelu_moves_nine_times_the_bytes():  # M11.5 E109
    """Written out, a GELU moves nine times the bytes.

    What if a function is written in several operations? Each of them loads its input and stores its
    result. Between two of them all numbers go to memory and come back.
    """
    n = 1_000_000
    ways: dict[str, Callable[[Tensor], Tensor]] = {
        "relu": torch.relu,
        "gelu": gelu,
        "erf, written out": gelu_by_erf,
        "tanh, written out": gelu_by_tanh,
    }
    moved_bytes = {
        name: work_of(lambda f=f: f(bf16(n))).moved_bytes / n for name, f in ways.items()
    }
    by_way = figures.bytes_by_way(moved_bytes)  # @inspect by_way
    # Written with erf it is five operations, of which one loads two tensors; with tanh eight, of
    # which two do. That makes 11 and 18 passes over the numbers, of two bytes each.
    assert moved_bytes["relu"] == moved_bytes["gelu"] == 2 * 2
    assert moved_bytes["erf, written out"] == 2 * 11
    assert moved_bytes["tanh, written out"] == 2 * 18
    assert moved_bytes["tanh, written out"] / moved_bytes["gelu"] == 9
    # A compiler such as `torch.compile` makes one kernel of such a chain, and so does whoever calls
    # `gelu`. The difference shows on any machine. The same numbers as one operation and as eight:
    x = torch.ones(n)
    fused_seconds = time_call(lambda: gelu(x)).best_seconds  # @timed @inspect fused_seconds
    written_seconds = time_call(
        lambda: gelu_by_tanh(x)
    ).best_seconds  # @timed @inspect written_seconds
    assert written_seconds > fused_seconds  # @timed


def a_dot_product_does_one_flop_per_two_bytes():  # M11.6
    """A dot product does one FLOP for two bytes.

    Do products use memory better than elementwise operations? The smallest product multiplies two
    rows of n numbers and adds up: it loads 2n numbers and stores one.
    """
    n = 2**20
    dot = work_of(lambda: bf16(n) @ bf16(n))
    assert dot.moved_bytes == 2 * (n + n + 1) == 4 * n + 2
    # Twice the intensity of ReLU, as next to nothing is stored. Nearly one half: each number is
    # used for one multiplication and one addition, and then never again.
    assert round(dot.intensity, 7) == 0.4999998
    # By the other convention, without the addition to zero, it is as near.
    assert round((dot.flops - 1) / dot.moved_bytes, 7) == 0.4999995
    # One FLOP for 2 bytes is far from 295 for each: on an H100, an MFU of 0.2 % at most.
    mfu_bound = dot.intensity / intensity_of(H100_SXM)
    assert round(mfu_bound, 5) == 0.00169
    # For small rows the result is no longer nothing. A single pair: 2 FLOPs, 6 bytes.
    one = work_of(lambda: bf16(1) @ bf16(1))
    assert one == Work(flops=2, moved_bytes=6)


def a_matrix_times_a_vector_uses_each_weight_once():  # M11.7
    """A matrix times a vector uses each weight once.

    What changes with a whole matrix? For n×n weights and one row of n features, the features are
    used n times. But there are few of them. Most of the bytes are weights.
    """
    n = 1024
    one_row = work_of(lambda: bf16(n, n) @ bf16(n))
    assert one_row.moved_bytes == 2 * (n * n + n + n)
    assert one_row.flops == 2 * n * n
    assert round(one_row.intensity, 5) == 0.99805
    # Without the additions to zero, 0.99756. Either way it is 1: two FLOPs for a weight of two
    # bytes. Larger matrices do not help, since there are more weights to load for each of them.
    assert round((one_row.flops - n) / one_row.moved_bytes, 5) == 0.99756
    large = work_of(lambda: bf16(64 * n, 64 * n) @ bf16(64 * n))
    assert large.flops == 2 * 65_536**2
    assert 0.9999 < large.intensity < 1
    # So the time is that of reading the weights. On an H100, 0.63 microseconds here, in which its
    # tensor cores are busy for a third of a percent.
    assert round(1e6 * move_seconds(one_row, H100_SXM), 2) == 0.63
    assert (
        round(100 * compute_seconds(one_row, H100_SXM) / move_seconds(one_row, H100_SXM), 2) == 0.34
    )


def a_matrix_product_uses_each_number_often():  # M11.8
    """A matrix product uses each number often.

    And a matrix times a matrix? Each of $2n^2$ numbers is used n times. The bytes grow with $n^2$
    and the FLOPs with $n^3$, so their ratio grows with n.
    """
    intensities = {}
    for n in (64, 256, 1024, 4096):
        product = work_of(lambda n=n: bf16(n, n) @ bf16(n, n))
        assert product.moved_bytes == 2 * (3 * n * n)
        intensities[n] = product.intensity  # @inspect intensities
        assert math.isclose(product.intensity, n / 3)
    assert [round(value) for value in intensities.values()] == [21, 85, 341, 1365]
    # At n = 1024 an H100 computes for 2.17 microseconds and loads for 1.88. This product is the
    # first of this chapter to wait for arithmetic.
    product = work_of(lambda: bf16(1024, 1024) @ bf16(1024, 1024))
    assert round(1e6 * compute_seconds(product, H100_SXM), 2) == 2.17
    assert round(1e6 * move_seconds(product, H100_SXM), 2) == 1.88
    assert round((product.flops - 1024**2) / product.moved_bytes, 2) == 341.17
    # It has to be a matrix in every direction. One thin side is enough to end the reuse: 16 rows
    # only, with any number of features and results, stay below 16.
    thin = work_of(lambda: bf16(16, 65_536) @ bf16(65_536, 65_536))
    assert thin.flops == 2 * 16 * 65_536**2
    assert 15.9 < thin.intensity < 16


def a_small_cache_reads_numbers_again():  # M11.8
    """A small cache reads numbers again.

    Can each number really be loaded once and used n times? Only if it stays near while it is
    needed. The meter counts as if it did. A device has little memory beside its arithmetic, and
    works in [tiles](#tensor_cores_multiply_tiles) that fit there.
    """
    n = 8
    x, w = torch.ones(n, n).triu(), torch.ones(n, n).tril()
    loaded = {}
    for tile in (1, 2, 4, 8):
        y, tile_products = product_by_tiles(x, w, tile)
        assert torch.equal(y, x @ w)
        # Each product of tiles loads two of them; the results are kept until they are complete.
        loaded[tile] = tile_products * 2 * tile * tile  # @inspect loaded
    # With tiles of t×t every number is loaded n/t times, $2n^3/t$ in all.
    assert loaded == {1: 1024, 2: 512, 4: 256, 8: 128}
    flops = work_of(lambda: x @ w).flops
    assert flops / loaded[4] == 4
    # So there is one FLOP for each loaded number and unit of tile size; at 2 bytes a number, the
    # intensity of a large product in tiles is t/2. To keep an H100 busy from its memory takes tiles
    # of 591×591.
    least_tile = math.ceil(2 * intensity_of(H100_SXM))
    assert least_tile == 591
    # In bf16 such a tile is 682 KiB, three times what one multiprocessor has for its threads to
    # share. But all of them share a larger cache, and a tile that one has loaded can be read there
    # by others. So a tile of the whole card may be larger than that of each part.
    tile_bytes = 2 * least_tile**2
    assert round(tile_bytes / 1024) == 682
    assert round(tile_bytes / H100_SHARED_MEMORY_BYTES) == 3


def caches_load_numbers_again():  # M11.8
    """Caches load numbers again.

    The meter's bytes are at least what is moved: each number once. What does a cache of M numbers
    really load? Here is a small one to try. It holds lines of four neighbours and drops the line
    that was used least recently. We replay in it what a matmul of two n×n matrices touches.
    """
    n, M = 48, 192
    x = torch.ones(n, n)
    with measure() as cost:
        x @ x
    at_least = (cost.read_bytes + cost.written_bytes) / 4
    assert at_least == 3 * n * n
    assert cost.matmul_flops == 2 * n**3
    moved = {
        "three loops": moved_numbers(loads_of_tiles(n, n), M),
        "tiles of 8": moved_numbers(loads_of_tiles(n, 8), M),
    }  # @inspect at_least moved
    # Loops walk down a column of the second matrix for each result, and by the time they come back
    # the cache has dropped it. Three tiles of 8×8 fit: 3·64 = M.
    assert moved["three loops"] > 10 * moved["tiles of 8"] > 50 * at_least
    # Tiles load $2n^3/t$ numbers, and t can be $\sqrt{M/3}$. So loads grow with $n^3/\sqrt{M}$:
    # half the side, an eighth; four times the cache, half. [Hong and
    # Kung](https://doi.org/10.1145/800076.802486) proved in 1981 that no order of the loops does
    # better than a constant factor.
    smaller = moved_numbers(loads_of_tiles(n // 2, 8), M)
    larger_cache = moved_numbers(loads_of_tiles(n, 16), 4 * M)  # @inspect smaller larger_cache
    assert math.isclose(moved["tiles of 8"] / smaller, 8, rel_tol=0.05)
    assert math.isclose(moved["tiles of 8"] / larger_cache, 2, rel_tol=0.05)
    # So: read "moved" beside the code as "at least", and ask what has to be loaded again.


def least_size(intensity: float, work: Callable[[int], Work]) -> int:  # @stepover
    """Find the smallest size for which an operation reaches an intensity, by halving a range."""
    sizes = range(1, 4096)
    return sizes[bisect.bisect_left(sizes, intensity, key=lambda size: work(size).intensity)]


def compute_takes_over_at_three_times_the_intensity():  # M11.9
    """Compute takes over at three times the intensity.

    From which size on does a product keep a card busy? The intensity of a square product is n/3,
    so n has to be three times that of the card.
    """
    sizes = {
        card.name: least_size(
            intensity_of(card), lambda n: work_of(lambda: bf16(n, n) @ bf16(n, n))
        )
        for card in (RTX_3090, A100_SXM, H200, H100_SXM)
    }  # @inspect sizes
    assert sizes == {"RTX 3090": 228, "A100 SXM": 460, "H200": 619, "H100 SXM": 887}
    # So a model can be too small for a better card: 512 features keep an A100 busy and leave an
    # H100 waiting.
    assert sizes["A100 SXM"] < 512 < sizes["H100 SXM"]
    assert math.ceil(3 * intensity_of(H100_SXM)) == sizes["H100 SXM"]
    # The convention of $2n-1$ FLOPs moves one of them, and by one: on the RTX 3090, n = 228 is just
    # enough with the addition to zero and just too little without.
    at = work_of(lambda: bf16(228, 228) @ bf16(228, 228))
    assert at.flops == 2 * 228**3
    assert (at.flops - 228**2) / at.moved_bytes < intensity_of(RTX_3090) < at.intensity
    # For numbers of b bytes the intensity is $2n/3b$. fp32 halves it, and since the peak falls by
    # more, an H100 without tensor cores is busy from n = 120 on.
    wide = torch.empty(120, 120, device="meta")
    assert work_of(lambda: wide @ wide).intensity == intensity_of(H100_SXM, "fp32") == 20


def attainable_flops_per_second(
    intensity: float, peak: float, bytes_per_second: float
) -> float:  # @stepover
    """The roofline: what memory can feed, up to what the arithmetic can do."""
    return min(peak, intensity * bytes_per_second)


def operations_at(n: int) -> dict[str, Work]:  # @stepover
    """Let the meter watch each of them."""
    return {
        "ReLU": work_of(lambda: torch.relu(bf16(n * n))),
        "dot product": work_of(lambda: bf16(n * n) @ bf16(n * n)),
        "matrix × vector": work_of(lambda: bf16(n, n) @ bf16(n)),
        "GELU": work_of(lambda: gelu(bf16(n * n))),
        "matrix × matrix": work_of(lambda: bf16(n, n) @ bf16(n, n)),
    }


def the_roofline_bounds_every_operation():  # M11.10 E110
    """The roofline bounds every operation.

    What is the best rate for a given intensity? Few FLOPs per byte: as many as the bytes bring.
    Many: the peak. On logarithmic axes that is a slope and a flat roof, one for each card. The
    corner is at the card's intensity.
    """
    cards = (A100_SXM, H100_SXM, B200)
    operations = operations_at(1024)
    found = {name: round(work.intensity, 2) for name, work in operations.items()}  # @inspect found
    assert list(found.values()) == [0.25, 0.5, 1.0, 5.0, 341.33]
    points = {
        (card.name, name): attainable_flops_per_second(
            work.intensity, card.dense_flops_per_second["bf16"], card.memory_bytes_per_second
        )
        for card in cards
        for name, work in operations.items()
    }
    roofline = figures.roofline(cards, operations, points)  # @inspect roofline
    # The roof says the same as the two times: FLOPs over the longer of them. On all three cards
    # four of the five are on the slope, and the product of matrices has reached the roof.
    at_peak = [pair for pair in points if points[pair] in (312e12, 989.5e12, 2250e12)]
    assert at_peak == [(card.name, "matrix × matrix") for card in cards]
    # So the roof bounds the MFU: by intensity over the card's intensity, or by 1. A common mistake
    # is to read the bound as the MFU. It assumes perfect overlap, full bandwidth and the highest
    # clock. The roofline allows a matmul of 8192×8192 all of an H100's peak; [the
    # stopwatch](#a_cold_call_hides_in_a_mean) said 81 %.
    product = work_of(lambda: bf16(8192, 8192) @ bf16(8192, 8192))
    assert product.intensity > intensity_of(H100_SXM)
    peak = H100_SXM.dense_flops_per_second["bf16"]
    assert round(H100_WARM_FLOPS_PER_SECOND["bf16"] / peak, 2) == 0.81


def observed_points(
    calls: Mapping[str, Callable[[], object]], clock: Clock = time.perf_counter
) -> dict[str, tuple[float, float]]:  # @stepover
    """Measure the intensity of each call, and time its rate."""
    points = {}
    for name, call in calls.items():
        work = work_of(call)
        points[name] = (work.intensity, work.flops / time_call(call, clock=clock).best_seconds)
    return points


def this_machine_has_a_roofline():  # M11.10
    """This machine has a roofline.

    Do measured rates keep below the roof? For a machine without a data sheet both parts are
    [calibrated](#the_best_observed_rate_is_a_peak_for_any_machine): the slope by copying numbers,
    the roof by matmuls.
    """
    device, dtype, n = "cpu", torch.float32, 512
    if gpu_is_at_least(AMPERE):
        device, dtype, n = "cuda", torch.bfloat16, 8192
    else:
        skipped = "no GPU here: this is the roofline of one core, in fp32"  # @inspect skipped
    x = torch.rand(n, n, generator=torch.Generator().manual_seed(0)).to(device, dtype)
    # More numbers than a cache holds, so that they come from memory.
    many = torch.rand(2**23, generator=torch.Generator().manual_seed(0)).to(device, dtype)
    calls = {
        "ReLU": lambda: torch.relu(many),
        "matrix × vector": lambda: x @ x[0],
        "8 rows": lambda: x[:8] @ x,
        "64 rows": lambda: x[:64] @ x,
        "matrix × matrix": lambda: x @ x,
    }
    points = observed_points(calls)  # @timed
    assert points["ReLU"][0] == 1 / (2 * dtype.itemsize)
    peak = best_matmul_flops_per_second([n], dtype, device)  # @timed @inspect peak
    bandwidth = best_bytes_per_second(2**23, dtype, device)  # @timed @inspect bandwidth
    measured = figures.measured_roofline(peak, bandwidth, points)  # @timed @inspect measured
    # They do where the numbers come from memory. A small matrix sits in a cache that is faster than
    # the memory which was calibrated, so its points may lie above the slope. Rates rise with
    # arithmetic intensity.
    assert points["ReLU"][1] < 2 * points["ReLU"][0] * bandwidth  # @timed
    assert points["matrix × matrix"][1] > points["64 rows"][1] / 2  # @timed
    assert points["matrix × matrix"][1] > points["ReLU"][1]  # @timed


def recorded_machines_have_rooflines():  # M11.10
    """Recorded machines have rooflines.

    And machines that are not here? `python -m benchmarks.accelerator` measures the one it runs on.
    These readings were recorded once, each on the machine and the day that the title names.
    """
    machines = recorded_machines(FOLDER)
    rooflines = []
    for machine in machines:
        roofline = figures.measured_roofline(
            machine.flops_per_second,
            machine.bytes_per_second,
            machine.points,
            f"{machine.name}, {machine.date}, {machine.dtype}",
        )  # @inspect roofline
        rooflines.append(roofline)
        # The largest matmul is the fastest thing each of them did, and a ReLU waits for memory: it
        # is no faster than a copy of the same bytes, give or take a fifth.
        matmul = max(rate for name, (_, rate) in machine.points.items() if "×" in name)
        assert matmul == machine.flops_per_second
        relu_intensity, relu_rate = machine.points["ReLU"]
        assert relu_rate < 1.2 * relu_intensity * machine.bytes_per_second < matmul
        # A GELU has twenty times the FLOPs by convention. Written out as eight kernels it does what
        # one kernel does, in more time.
        assert machine.points["GELU written out"][0] < machine.points["GELU"][0]
    # So the picture of this chapter is not only arithmetic: it was seen.
    assert rooflines


def a_batch_shares_the_weights():  # M11.11
    """A batch shares the weights.

    When is a linear layer compute-bound? Its weights are loaded once for all rows of its input.
    For D features, D results and B rows, $2BD^2$ FLOPs meet $2(D^2+2BD)$ bytes. While B is small
    beside D, that is an intensity of B.
    """
    D = 4096
    batches = [2**power for power in range(13)]
    intensities = {B: work_of(lambda B=B: bf16(B, D) @ bf16(D, D)).intensity for B in batches}
    rules = {card.name: intensity_of(card) for card in (RTX_3090, A100_SXM, H100_SXM)}
    by_batch = figures.intensity_by_batch(intensities, rules)  # @inspect by_batch
    assert round(intensities[1], 4) == 0.9995
    assert round(intensities[16], 1) == 15.9
    assert round(intensities[256], 1) == 227.6
    assert round(intensities[512], 1) == 409.6
    # With all of 4096 rows it is the product of square matrices.
    assert max(intensities.values()) == intensities[4096]
    assert math.isclose(intensities[4096], D / 3)
    # An H100 is busy from 346 rows on. They may come from one text or from 346: a linear layer does
    # not know whose tokens it works on.
    least_rows = least_size(
        intensity_of(H100_SXM), lambda B: work_of(lambda: bf16(B, D) @ bf16(D, D))
    )
    assert least_rows == 346


def training_and_inference_differ_in_their_rows():  # M11.11 E111
    """Training and inference differ in their rows.

    Which of the two waits for memory? Training sends whole texts through a layer, thousands of
    rows. A model that writes has only its last token to work on: one row for each text.
    """
    T, D = 2048, 4096
    layer = {
        "training, 4 texts": work_of(lambda: bf16(4 * T, D) @ bf16(D, D)),
        "reading one prompt": work_of(lambda: bf16(T, D) @ bf16(D, D)),
        "writing one text": work_of(lambda: bf16(1, D) @ bf16(D, D)),
        "writing 512 texts": work_of(lambda: bf16(512, D) @ bf16(D, D)),
    }
    roof = intensity_of(H100_SXM)
    bound = {name: "compute" if w.intensity > roof else "memory" for name, w in layer.items()}
    assert [round(work.intensity, 1) for work in layer.values()] == [1638.4, 1024.0, 1.0, 409.6]
    # A common mistake is to remember this as "training is compute-bound, inference is
    # memory-bound". Of inference only writing few texts at a time is. Reading the prompt, all of
    # it at once, is like training, and so are many texts written together.
    assert list(bound.values()) == ["compute", "compute", "memory", "compute"]
    # And of training only the products are compute-bound. Elementwise operations have no more
    # intensity there than elsewhere, and [the update of the weights](#an_update_waits_for_memory)
    # has about 1: some [14 to 33 FLOPs](#adamw_costs_33_flops_per_parameter) for each weight, with
    # which its gradient, m and v are moved.
    assert work_of(lambda: gelu(bf16(4 * T, D))).intensity == 5
    weight = torch.ones(100, requires_grad=True)
    weight.grad = torch.ones(100)
    optimizer = torch.optim.AdamW([weight], fused=True)
    optimizer.step()
    update = work_of(optimizer.step)  # @inspect update.intensity
    assert 0.4 < update.intensity < 1.2
    # In attention, a token that is written meets the keys of its own text. No batch shares those:
    # with 1 text or 64, each number is used once.
    one, many = (work_of(lambda b=b: bf16(b, 1, 128) @ bf16(b, 128, T)) for b in (1, 64))
    assert many.flops == 64 * one.flops == 64 * 2 * 128 * 2048
    assert round(one.intensity, 2) == round(many.intensity, 2) == 0.99


def work_of_all_caches(texts: int, T: int) -> Work:  # @stepover
    """Let each text's last token meet the keys and the values of T tokens, in 48 layers with 25
    heads of 64 features."""
    scores = work_of(lambda: bf16(texts, 25, 1, 64) @ bf16(texts, 25, 64, T))
    mixing = work_of(lambda: bf16(texts, 25, 1, T) @ bf16(texts, 25, T, 64))
    return Work(48 * (scores.flops + mixing.flops), 48 * (scores.moved_bytes + mixing.moved_bytes))


def a_written_token_costs_a_walk_through_all_weights():  # M11.11
    """A written token costs a walk through all weights.

    How fast can a model write? For each token every weight has to come by once. Take 48 layers of
    width 1600, as in GPT-2 XL, with three matrices in the [feed-forward
    networks](#swiglu_lets_one_half_gate_the_other), as most models have today. Its matrices have
    2.1 billion parameters.
    """
    one = work_of_all_layers(tokens=1)
    assert round(one.intensity, 2) == 1.0
    # On an H100 that is 1.22 milliseconds, and so at most 818 tokens per second. The arithmetic
    # would be done in 4 microseconds.
    assert round(1e3 * move_seconds(one, H100_SXM), 2) == 1.22
    assert round(1 / move_seconds(one, H100_SXM)) == 818
    assert round(1e6 * compute_seconds(one, H100_SXM), 1) == 4.1
    # Two bytes for every parameter would make 1.27. The difference is the table of embeddings, of
    # which a token needs one row.
    parameters = one.flops // 2 + GPT2_VOCABULARY * 1600
    assert parameters == 2_126_902_400
    assert round(1e3 * 2 * parameters / H100_SXM.memory_bytes_per_second, 2) == 1.27
    # In these layers 64 texts at once take 6 % longer than one, and yield 64 tokens. This is why
    # services put the requests of many together, and why weights are stored in [fewer
    # bits](#writing_reads_every_weight_for_a_token) for writing: half the bytes, half the time.
    many = work_of_all_layers(tokens=64)
    assert round(move_seconds(many, H100_SXM) / move_seconds(one, H100_SXM), 3) == 1.056
    assert many.flops == 64 * one.flops
    assert compute_seconds(many, H100_SXM) < move_seconds(many, H100_SXM)
    # What texts do not share are the keys and values of their earlier tokens, which attention
    # meets again for each new one. They are kept, in the [*KV
    # cache*](#a_cache_reads_each_token_once): 0.31 MB for each token. With 1000 tokens in each of
    # 64 texts they take 4.6 times as long to load as all weights.
    caches = work_of_all_caches(texts=64, T=1000)
    assert round(caches.moved_bytes / 64 / 1000 / 1e6, 2) == 0.31
    assert round(caches.intensity, 2) == 0.98
    assert round(move_seconds(caches, H100_SXM) / move_seconds(many, H100_SXM), 1) == 4.6


def chain_of_factors(
    numbers: list[float], factors: list[float], fused: bool
) -> tuple[list[float], int, int]:
    """Multiply numbers by all factors, in one kernel or in one for each factor.

    Count FLOPs, and numbers that pass between memory and the processor.
    """
    memory = list(numbers)
    flops, moved = 0, 0
    kernels = [factors] if fused else [[factor] for factor in factors]
    for kernel in kernels:
        for place, value in enumerate(memory):
            moved += 1
            for factor in kernel:
                value *= factor
                flops += 1
            memory[place] = value
            moved += 1
    return memory, flops, moved


def fusion_saves_the_way_through_memory():  # M11.12
    """Fusion saves the way through memory.

    What do kernels of one's own bring, if the FLOPs stay the same? A kernel loads a number, does
    with it all that is to be done, and stores it. k operations in one kernel move the bytes of one.
    """
    numbers, factors = [3.0, 5.0, 7.0], [2.0, 0.5, 4.0, 0.25, 8.0, 2.0]
    intensities = {"one kernel each": {}, "fused": {}}
    for k in range(1, len(factors) + 1):
        separate, separate_flops, separate_moved = chain_of_factors(numbers, factors[:k], False)
        fused, fused_flops, fused_moved = chain_of_factors(numbers, factors[:k], True)
        assert fused == separate
        assert fused_flops == separate_flops == 3 * k
        assert separate_moved == k * fused_moved == k * 2 * 3
        # In bf16 each number is two bytes.
        intensities["one kernel each"][k] = separate_flops / (2 * separate_moved)
        intensities["fused"][k] = fused_flops / (2 * fused_moved)
    assert fused == [48, 80, 112]
    chains = figures.intensity_by_length(intensities)  # @inspect chains
    # Separate kernels stay at a quarter of a FLOP per byte, however many there are. Fused ones gain
    # with each operation, and are done in the time of the first.
    assert set(intensities["one kernel each"].values()) == {0.25}
    assert intensities["fused"][1] == 0.25
    assert intensities["fused"][6] == 6 * 0.25
    # PyTorch's operations are one kernel each, and the meter agrees with the loops.
    x = torch.tensor(numbers, dtype=torch.bfloat16)

    def three_factors() -> Tensor:
        return x * 2.0 * 0.5 * 4.0

    assert three_factors().tolist() == [12, 20, 28]
    written_out = work_of(three_factors)
    assert written_out.intensity == intensities["one kernel each"][3]
    assert written_out.moved_bytes == 3 * (2 + 2) * 3


def fused_attention_does_not_store_its_scores():  # M11.12
    """Fused attention does not store its scores.

    Where does fusion matter most? Where something large is made only to be used up at once. In
    [attention](#attention_takes_a_weighted_mean) these are the scores, T×T for each head, between
    two matmuls.
    """
    d, T = 8, 64
    q = torch.randn(1, 1, T, d, generator=torch.Generator().manual_seed(0))
    with measure() as written_out:
        y = (q @ q.mT / d**0.5).softmax(dim=3) @ q
    with measure() as fused:
        same_y = scaled_dot_product_attention(q, q, q)
    assert torch.allclose(same_y, y, atol=1e-5)  # another order of additions
    # The matmuls are the same, and the scores stay where they are computed. The meter's bytes are
    # those of q, k, v and the result, and a number for each row.
    assert fused.matmul_flops == written_out.matmul_flops == 2 * (2 * T * T * d)
    assert fused.read_bytes + fused.written_bytes == 4 * (4 * T * d + T)
    # A common mistake is to conclude that memory traffic is now linear in T. That is the ideal. All
    # keys and values have to pass by again for each block of queries, and a cache of M numbers has
    # room for a block of about M/4d. Replayed in a cache:
    moved = {
        (T, M): moved_numbers(loads_of_attention(T, d, block=M // (4 * d)), M)
        for T, M in ((64, 256), (128, 256), (128, 512))
    }  # @inspect moved
    # Twice the tokens, nearly four times the loads; twice the cache, nearly half. So it is
    # $T^2d^2/M$, as the [paper on FlashAttention](https://arxiv.org/abs/2205.14135) proves.
    assert 3.7 < moved[128, 256] / moved[64, 256] < 4
    assert 1.8 < moved[128, 256] / moved[128, 512] < 2
    # Attention that writes its scores down moves more in the same cache, and what it moves is not
    # saved by a larger one.
    through_memory = moved_numbers(loads_of_attention_written_out(128, d), 512)
    assert through_memory > 6 * moved[128, 512]
    assert through_memory == moved_numbers(loads_of_attention_written_out(128, d), 256)
    # For GPT-2 medium on an A100 the paper (in its arXiv edition) reads 40.3 GB without and 4.4 GB
    # with the fused kernel, forward and backward. It does more FLOPs, not fewer, and waits less.
    without, with_it = FLASH_ATTENTION_MOVED_BYTES
    assert round(without / with_it) == 9


def fused_attention_takes_less_time():  # M11.12
    """Fused attention takes less time.

    Does it show on a clock? One head of 64 features on one core, forward pass only; see the bars
    for the machine that this page names at its end.
    """
    seconds: dict[str, dict[int, float]] = {"written out": {}, "fused": {}}
    for T in (256, 512, 1024):
        q = torch.randn(1, 1, T, 64, generator=torch.Generator().manual_seed(0))

        def written_out(q: Tensor = q) -> Tensor:
            return (q @ q.mT / 8).softmax(dim=3) @ q

        def fused(q: Tensor = q) -> Tensor:
            return scaled_dot_product_attention(q, q, q)

        assert torch.allclose(written_out(), fused(), atol=1e-5)
        seconds["written out"][T] = time_call(written_out).best_seconds  # @timed
        seconds["fused"][T] = time_call(fused).best_seconds  # @timed
    by_tokens = figures.seconds_by_tokens(seconds)  # @timed @inspect by_tokens
    # The FLOPs are equal. What the fused kernel saves are the trips of the scores.
    assert seconds["fused"][1024] < seconds["written out"][1024]  # @timed
    # This chapter in short: an operation takes the longer of two times, that of its bytes and that
    # of its FLOPs. Products of large matrices wait for their FLOPs. Nearly everything else waits
    # for bytes, and is made faster by moving fewer of them.
