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
    H100_GPU,
    H100_PCIE,
    H100_SXM,
    H200,
    MULTIPROCESSOR_REGISTERS,
    REGISTER_BYTES,
    RTX_3090,
    RTX_4090,
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
from lecture.lib.recorded import FOLDER, recorded_floors, recorded_machine, recorded_machines
from lecture.lib.shapes import shape_checked
from lecture.lib.tiles import product_by_slices, whole_numbers
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
    """Seconds to move the bytes of an operation at the full bandwidth of the memory."""
    return work.moved_bytes / card.memory_bytes_per_second


def compute_seconds(work: Work, card: Accelerator) -> float:  # @stepover
    """Seconds for its FLOPs at the full bf16 peak of the tensor cores."""
    return work.flops / card.dense_flops_per_second["bf16"]


def schedule(
    tiles: int, load: int, compute: int, store: int
) -> dict[str, list[tuple[int, int, str]]]:
    """Work through tiles in two lanes; the next tile is loaded while one is computed."""
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

    We know the three [floors](#three_floors_hold_up_every_operation) under an operation. For large
    ones the launch does not count, and two are left: the bytes it moves, and the FLOPs it does. Do
    their times add up, or does the longer one hide the other?
    """
    # Cut into tiles, an operation need not wait: it loads the next tile while it computes one. Here
    # are eight tiles, with 2 ticks to load each, 4 to compute and 1 to store.
    overlapped = schedule(tiles=8, load=2, compute=4, store=1)
    two_lanes = figures.lanes("Eight tiles", overlapped, "ticks")  # @inspect two_lanes
    ticks = max(stop for lane in overlapped.values() for _, stop, _ in lane)
    assert ticks == 2 + 8 * 4 + 1  # @predict
    # The processor works for 8·4 ticks without a pause. The memory works for 8·3 of them, and the
    # only ticks to wait for are those of the first load and the last store.
    busy = {name: sum(stop - start for start, stop, _ in lane) for name, lane in overlapped.items()}
    assert busy == {"memory": 8 * 3, "processor": 8 * 4}
    # So with many small tiles
    #
    # $$\text{time} = \max\left(\frac{\text{bytes}}{\text{bandwidth}},
    # \frac{\text{FLOPs}}{\text{peak}}\right).$$
    #
    # Is that so whichever is longer? In the first of these, the processor is, in the others the
    # memory. Twenty tiles take the longer of the two lanes, and one tile more at most.
    for load, compute, store in ((2, 4, 1), (4, 4, 3), (5, 1, 5)):
        lanes = schedule(tiles=20, load=load, compute=compute, store=store)
        ticks = max(stop for lane in lanes.values() for _, stop, _ in lane)
        longer = 20 * max(load + store, compute)
        assert longer <= ticks <= longer + (load + compute + store)
        # Without any overlap the times would add up. That is at most twice the longer one.
        assert ticks < 20 * (load + compute + store) <= 2 * longer
    # So: estimate with the larger of the two. Overlap or not changes it by a factor of 2 at most.
    # (What else keeps it from its floors, such as [waves](#blocks_come_in_waves), is in the chapter
    # before this one.)


def an_accelerator_has_an_intensity():  # M11.2 @core
    """An accelerator has an intensity, too.

    How much arithmetic must come with each byte, so that a GPU does not wait for memory? An
    operation's FLOPs over the bytes it moves are its *arithmetic intensity*. A GPU's own, its
    *machine balance*, is its peak over the bandwidth of its memory: the FLOPs it can do while one
    byte arrives. Guess it for an H100: 3, 30, or 300?
    """
    # @note Vote: 3, 30 or 300? Before the bars, ask whether an H200 has a higher or a lower number
    # than an H100, given the same chip and a faster memory. The one to remember: about 300, for an
    # H100 in bf16.
    cards = (RTX_3090, A100_SXM, H200, B200, H100_SXM)
    intensities = {
        card.name: {dtype: intensity_of(card, dtype) for dtype in card.dense_flops_per_second}
        for card in cards
    }
    # An H100 promises 0.99e15 FLOP/s in bf16, and its memory 3.35e12 bytes a second.
    h100 = intensities["H100 SXM"]
    assert round(h100["bf16"]) == 295  # @predict
    bars = figures.accelerator_intensities(intensities, start="bf16")  # @inspect bars
    # From the A100 to the H100, tensor cores grew more than memory, and the ratio rose from 153.
    # The H200 is the same chip as the H100 with faster memory: 206. The B200 has 2.3 times the peak
    # of the H100 and 2.3 times the bandwidth: 293.
    in_bf16 = [round(found["bf16"]) for found in intensities.values()]
    assert in_bf16 == [76, 153, 206, 293, 295]
    # It belongs to a format as well; choose another in the chart. In fp32, without tensor cores, an
    # H100 waits for arithmetic from 20 FLOPs per byte on; in fp8 from twice as many as in bf16, so
    # from as many per number.
    assert round(h100["fp32"]) == 20
    assert round(h100["fp8"] / h100["bf16"], 2) == 2
    # So: remember one number for your GPU, 150 to 300 for the data-center cards of this chart, 378
    # for an H100 in the PCIe slot, whose memory is slower.
    assert round(intensity_of(H100_PCIE)) == 378


def two_tests_find_the_same_bottleneck():  # M11.3
    """Two tests find the same bottleneck.

    Does an operation wait for its bytes or for its FLOPs? You can compare two times: that of moving
    and that of computing. Or you can compare two intensities: the operation's own FLOPs per byte,
    and those of the GPU. If its own is lower, the operation is *memory-bound*; if it is higher,
    *compute-bound*.
    """
    # Both tests ask the same. FLOPs over peak is more than bytes over bandwidth exactly where FLOPs
    # over bytes is more than peak over bandwidth. Here are five operations on matrices of
    # 4096×4096. By the first test, one of them waits for its arithmetic.
    operations = operations_at(4096)
    by_time = {
        name
        for name, work in operations.items()
        if compute_seconds(work, H100_SXM) > move_seconds(work, H100_SXM)
    }
    assert by_time == {"matrix × matrix"}
    # All five load at most two matrices. For each number of one, they do this many FLOPs:
    assert [work.flops / 4096**2 for work in operations.values()] == [1, 2, 2, 20, 2 * 4096]
    # The second test is handier, as each side is found once: the operation's from its shapes alone,
    # the GPU's from its sheet. A matmul of 512×512 has 171 FLOPs per byte, which is more than an
    # A100 needs and less than an H100 does.
    product = work_of(lambda: bf16(512, 512) @ bf16(512, 512))
    assert round(product.intensity) == 171  # @predict
    assert intensity_of(A100_SXM) < product.intensity < intensity_of(H100_SXM)
    # (Compute-bound is not busy. In [tiles of 128×128](#blocks_come_in_waves) most multiprocessors
    # have nothing to do at that size. And [its launch](#a_small_matmul_waits_for_its_launch) takes
    # longer than these two tests give its bytes or its FLOPs.)
    #
    # So: compare intensities first, and times when you need to know how long.


def relu_waits_for_memory():  # M11.4
    """ReLU waits for memory.

    How long does a ReLU of $n=2^{28}$ numbers in fp32 take on an H100? For each number it reads 4
    bytes, does one comparison, which we count as one FLOP, and writes 4 bytes: $8n$ bytes and $n$
    FLOPs.
    """
    n = 2**28
    relu = work_of(lambda: torch.relu(torch.empty(n, device="meta")))
    assert relu == Work(flops=n, moved_bytes=8 * n)
    # The memory needs 0.64 milliseconds. The arithmetic, outside the tensor cores, needs 0.004 at
    # its peak. (Twice that: a peak counts a multiply-add as two FLOPs, and these are comparisons.)
    move_milliseconds = 1e3 * move_seconds(relu, H100_SXM)  # @inspect move_milliseconds
    compute_milliseconds = 1e3 * n / H100_SXM.dense_flops_per_second["fp32"]
    assert round(move_milliseconds, 2) == 0.64  # @predict
    assert round(compute_milliseconds, 3) == 0.004  # @predict
    # We recorded 0.73 milliseconds: 88 % of the bandwidth on the sheet, and less than 1 % of the
    # fp32 peak.
    seconds = recorded_machine("H100").seconds["ReLU"]
    assert round(1e3 * seconds, 2) == 0.73
    assert round(move_milliseconds / (1e3 * seconds), 2) == 0.88
    # In bf16 each number is half as wide: the same FLOPs, half the bytes, and half the time. Our
    # recording has that, too, in a graph of a hundred calls.
    narrow = work_of(lambda: torch.relu(bf16(n)))
    assert narrow == Work(flops=relu.flops, moved_bytes=relu.moved_bytes // 2)
    narrow_seconds = recorded_floors().relu_seconds[n]["graph"]
    assert math.isclose(narrow_seconds / seconds, 1 / 2, rel_tol=0.05)  # @inspect narrow_seconds
    # So: a memory-bound operation gets faster by moving fewer bytes. Narrow numbers are
    # fast here because they are narrow.


def gelu_moves_the_bytes_of_a_relu():  # M11.5 E109
    """GELU moves the bytes of a ReLU.

    Is a complicated function slower than a simple one?
    [GELU](https://arxiv.org/abs/1606.08415), a smoother ReLU, multiplies x by the probability that
    a normal random number is below x. A processor takes several instructions for that. The
    meter counts f = 20 FLOPs for it, which is our convention.
    """
    n = 2**28
    relu = work_of(lambda: torch.relu(torch.empty(n, device="meta")))
    gelu_work = work_of(lambda: gelu(torch.empty(n, device="meta")))
    assert gelu_work.moved_bytes == relu.moved_bytes
    # Twenty times the FLOPs, and the same bytes. If both wait for memory, they take the same time.
    # Guess before you look: what did the H100 say, and what did a CPU? (They computed the form with
    # tanh, of which [the next section](#two_functions_are_called_gelu) speaks.)
    ratios = {
        machine.name: machine.seconds["GELU"] / machine.seconds["ReLU"]
        for machine in recorded_machines(FOLDER)
    }  # @inspect ratios
    on_gpu, on_cpu = (
        next(ratio for name, ratio in ratios.items() if kind in name) for kind in ("H100", "Xeon")
    )
    # On the H100 the fastest of ten GELUs took as long as that of ten ReLUs, within a hundredth. On
    # the CPU it took 1.8 times as long, and 3.4 without what both [seem to pay for the memory of a
    # new result](#recorded_machines_have_rooflines).
    assert 0.99 < on_gpu < 1.01
    assert round(on_cpu, 1) == 1.8
    xeon = recorded_machine("Xeon")
    copied = 8 * 2**24 / xeon.bytes_per_second
    paid = xeon.seconds["ReLU"] - copied
    assert round((xeon.seconds["GELU"] - paid) / copied, 1) == 3.4  # @inspect paid
    # GELU has f/8 FLOPs per byte in fp32, 2.5 by our convention. The H100 can do 20 outside its
    # tensor cores, or 10 where none is a multiply-add, so there is room up to f = 80. (In
    # bf16, with half the bytes, up to 40.) By that count the CPU had room as well, more than 10,
    # and yet it took longer: our 20 is a convention, and no count of instructions.
    room = {
        "H100": intensity_of(H100_SXM, "fp32"),
        "Xeon": xeon.peaks["fp32"] / xeon.bytes_per_second,
    }  # @inspect room
    assert round(room["H100"]) == 20 > room["Xeon"] > 10 > 2 * gelu_work.intensity
    # So: on such a GPU choose an elementwise function for what it does, not for its price;
    # elsewhere time it. But it has to be **one** kernel, as the section after next shows.


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

    Which formula is it? The definition needs the error function, $\\frac{x}{2}(1+\\text{erf}
    \\frac{x}{\\sqrt2})$. The [paper](https://arxiv.org/abs/1606.08415) also gives an approximation
    by tanh. Both are in use. Which one is cheaper, and does it matter which one you take?
    """
    # As one kernel that waits for memory, neither is: both move the same bytes.
    definition = work_of(lambda: gelu(bf16(2**20)))
    approximation = work_of(lambda: gelu(bf16(2**20), approximate="tanh"))
    assert approximation.moved_bytes == definition.moved_bytes == 2 * 2 * 2**20
    x = torch.linspace(-8, 8, 16_001, dtype=torch.float64)
    # PyTorch computes the definition unless you ask for the approximation.
    assert torch.allclose(gelu(x), gelu_by_erf(x), rtol=0, atol=1e-14)
    assert torch.allclose(gelu(x, approximate="tanh"), gelu_by_tanh(x), rtol=0, atol=1e-14)
    # They differ by 4.7e-4 at most, near ±2.7.
    gap = (gelu_by_tanh(x) - gelu_by_erf(x)).abs()
    assert round(gap.max().item(), 5) == 0.00047
    assert round(abs(x[gap.argmax()].item()), 1) == 2.7
    # At 2.7 that is little beside a step of bf16, 1/64 there. At -2.7 it is not little: the result
    # itself is only -0.009, and the gap is a twentieth of it.
    near = torch.tensor([2.7], dtype=torch.bfloat16)
    assert torch.nextafter(near, torch.tensor([3.0], dtype=torch.bfloat16)) - near == 1 / 64
    at = torch.tensor([-2.7], dtype=torch.float64)
    relative_gap = (gelu_by_tanh(at) / gelu_by_erf(at) - 1).abs().item()  # @inspect relative_gap
    assert 0.04 < relative_gap < 0.06
    # So: run a model with the function it was trained with. For GPT-2 that is [the one with
    # tanh](https://github.com/openai/gpt-2/blob/master/src/model.py).


def written_out_gelu_moves_nine_times_the_bytes():  # M11.5 E109
    """Written out, a GELU moves nine times the bytes.

    What if you write the tanh formula in PyTorch, one operation after the other? Each operation
    loads its input from memory and stores its result there. Between two of them all numbers make
    the whole trip.
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
    # With tanh it is eight operations, of which two load a second tensor: 18 passes over the
    # numbers. `gelu` is one kernel and makes two.
    assert moved_bytes["tanh, written out"] == 2 * (8 + 8 + 2)  # @predict
    assert moved_bytes["gelu"] == 2 * 2  # @predict
    assert moved_bytes["tanh, written out"] / moved_bytes["gelu"] == 9
    # Nine times the bytes, for the same function. Nine times the time? On the recorded H100, 8.8
    # times.
    h100 = recorded_machine("H100")
    slower = h100.seconds["GELU written out"] / h100.seconds["GELU"]  # @inspect slower
    assert round(slower, 1) == 8.8
    # Here, on one core, the same numbers as one operation and as eight:
    x = torch.ones(n)
    one_seconds = time_call(lambda: gelu(x)).best_seconds  # @timed @inspect one_seconds
    eight_seconds = time_call(lambda: gelu_by_tanh(x)).best_seconds  # @timed @inspect eight_seconds
    assert eight_seconds > one_seconds  # @timed
    # So: look for the function in the library before you write it out. If there is none, [a
    # compiler](#a_compiler_fuses_what_is_written_out) makes one kernel of such a chain.


def a_dot_product_does_one_flop_per_two_bytes():  # M11.6 @core
    """A dot product does one FLOP for two bytes.

    Elementwise operations wait for memory. Do products use it better? The smallest one multiplies
    two vectors of n numbers and adds up. In bf16 it loads $4n$ bytes, stores 2, and does $2n$
    FLOPs.
    """
    # @note Let them count n = 4 on paper: bytes in, bytes out, FLOPs. (16, 2 and 8.) Then ask what
    # would have to happen to a number, once loaded, for this to get better. That is the next
    # section.
    n = 2**20
    dot = work_of(lambda: bf16(n) @ bf16(n))
    assert dot == Work(flops=2 * n, moved_bytes=4 * n + 2)
    # So its arithmetic intensity is nearly 1/2. That is twice that of ReLU in bf16, as next to
    # nothing is stored. But each number is used for one multiplication and one addition and then
    # never again, and 1/2 is far from 295.
    assert math.isclose(dot.intensity, 1 / 2, rel_tol=1e-6)
    relu = work_of(lambda: torch.relu(bf16(n)))
    assert math.isclose(dot.intensity / relu.intensity, 2, rel_tol=1e-6)
    # From an H100's HBM it reaches at most 0.17 % of the peak.
    most_share = dot.intensity / intensity_of(H100_SXM)  # @inspect most_share
    assert round(100 * most_share, 2) == 0.17
    # So being a product is not enough. A number has to be used more than once.


def a_matrix_times_a_vector_uses_each_weight_once():  # M11.7
    """A matrix times a vector uses each weight once.

    Take a whole matrix of n×n weights, and one row of n features. Now each feature is used n times.
    Does that help?
    """
    n = 8192
    one_row = work_of(lambda: bf16(n, n) @ bf16(n))
    # Hardly. The features are few; most of the $2(n^2+2n)$ bytes are weights, and each weight is
    # used once, for 2 of the $2n^2$ FLOPs.
    assert one_row == Work(flops=2 * n * n, moved_bytes=2 * (n * n + n + n))
    assert round(one_row.intensity, 3) == 1.0  # @predict
    # A larger matrix does not help either, since it has more weights to load: with eight times the
    # features, 64 times as many.
    large = work_of(lambda: bf16(8 * n, 8 * n) @ bf16(8 * n))
    assert one_row.intensity < large.intensity < 1
    assert round(large.moved_bytes / one_row.moved_bytes) == 64
    # So the least time is that of reading the weights: 40 microseconds on an H100, in which the
    # tensor cores are busy for a third of a percent.
    assert round(1e6 * move_seconds(one_row, H100_SXM)) == 40
    share = compute_seconds(one_row, H100_SXM) / move_seconds(one_row, H100_SXM)  # @inspect share
    assert round(100 * share, 2) == 0.34
    # Remember this one. It is what a model does [for each token it
    # writes](#a_written_token_costs_a_walk_through_all_weights).


def a_matrix_product_uses_each_number_often():  # M11.8 @core
    """A matmul uses each number often.

    And a matrix times a matrix? Both have $n^2$ numbers, and each is used n times. The bytes are
    $6n^2$ and the FLOPs $2n^3$, so the arithmetic intensity is $n/3$: it grows with n.
    """
    # @note Ask at which n the rule n/3 passes the 295 of an H100. (Beyond 885.) Then the other way
    # round: how high can it get with 16 rows, if the other two sides may be as large as you like?
    intensities = {}
    for n in (64, 256, 1024, 4096):
        product = work_of(lambda n=n: bf16(n, n) @ bf16(n, n))
        intensities[n] = product.intensity  # @inspect intensities
        assert math.isclose(product.intensity, 2 * n**3 / (6 * n**2))
    # At n = 8192 an H100 moves for 0.12 milliseconds and computes for 1.11. At best it took 1.45.
    product = work_of(lambda: bf16(8192, 8192) @ bf16(8192, 8192))
    assert round(1e3 * move_seconds(product, H100_SXM), 2) == 0.12  # @predict
    assert round(1e3 * compute_seconds(product, H100_SXM), 2) == 1.11  # @predict
    recorded_seconds = recorded_machine("H100").seconds["8192×8192"]  # @inspect recorded_seconds
    assert round(1e3 * recorded_seconds, 2) == 1.45
    # All three sides have to be large. In general, for R×D times D×F,
    #
    # $$\text{intensity} = \frac{2RDF}{2(RD+DF+RF)},$$
    #
    # which is less than the smallest side. With 16 rows it stays below 16, whatever the rest is.
    thin = work_of(lambda: bf16(16, 65_536) @ bf16(65_536, 65_536))
    assert 15.9 < thin.intensity < 16
    # So: matmuls are what a GPU is good at, and rows are what makes them large.


def a_small_cache_reads_numbers_again():  # M11.8
    """A small cache reads numbers again.

    Can each number really be loaded once and used n times? Only if it stays near until it was used.
    The meter counts as if it did. A multiprocessor has little room, so it makes [one tile of the
    result](#a_tensor_core_lives_on_reuse) at a time. How often is a number loaded then?
    """
    n = 16
    x, w = whole_numbers(n, n, seed=0), whole_numbers(n, n, seed=1)
    loaded = {}
    for tile in (1, 4, 16):
        for depth in (1, 4):
            y, loaded[tile, depth] = product_by_slices(x, w, tile, depth)  # @inspect loaded
            assert torch.equal(y, x @ w)
            assert loaded[tile, depth] == 2 * n**3 / tile
    # The inputs pass by in thin slices, and how thin makes no difference. With t×t tiles each
    # number is loaded n/t times, $2n^3/t$ numbers in all, for $2n^3$ FLOPs. So each number we load
    # pays for t FLOPs (it is used in t multiply-adds, which take two), and a byte of bf16 for t/2.
    flops = work_of(lambda: x @ w).flops
    assert flops / loaded[4, 1] == 4
    # To be compute-bound from HBM alone, an H100 would need t/2 = 295: tiles of 591×591.
    least_tile = math.ceil(2 * intensity_of(H100_SXM))  # @inspect least_tile
    # What has to stay near is the tile of the result: in fp32, 1.4 MB, more than five times the
    # registers of a multiprocessor. But neighbouring blocks need the same rows and columns. What
    # one has loaded, others can find in the L2, or share without it. So for HBM the tile that
    # counts is that of the whole chip, which has 33 MiB of registers.
    result_bytes = 4 * least_tile**2
    registers_bytes = MULTIPROCESSOR_REGISTERS * REGISTER_BYTES
    assert round(result_bytes / 1e6, 1) == 1.4
    assert registers_bytes * 5 < result_bytes < registers_bytes * H100_GPU.multiprocessors / 20


def caches_load_numbers_again():  # M11.8
    """Caches load numbers again.

    Into an empty cache, each number has to come at least once, as the meter counts it. What does a
    cache of M numbers really load? Here is a small one to try, with M = 192. It holds lines
    of four neighbours and drops the line that was used least recently. We replay in it what a
    matmul of two n×n matrices touches.
    """
    n, cache = 48, 192
    x = torch.ones(n, n)
    with measure() as cost:
        x @ x
    at_least = (cost.read_bytes + cost.written_bytes) / 4
    moved = {
        "three loops": moved_numbers(loads_of_tiles(n, n), cache),
        "tiles of 8": moved_numbers(loads_of_tiles(n, 8), cache),
    }  # @inspect at_least moved
    # Three plain loops walk down a column of the second matrix for each result. By the time they
    # come back, the cache has dropped it. So a multiply-add loads five numbers: one of the first
    # matrix, and a line of the second, for one number in it. Of tiles of 8×8, three fit: 3·64 = M.
    assert at_least == 3 * n * n
    assert round(moved["three loops"] / (cost.matmul_flops / 2)) == 5
    assert moved["three loops"] > 10 * moved["tiles of 8"] > 50 * at_least
    # Tiles load about $2n^3/t$ numbers (and the result, and lines that were dropped too early), and
    # t can be $\sqrt{M/3}$. So loads grow with $n^3/\sqrt{M}$: half the side, an eighth; four times
    # the cache, half. [Hong and Kung](https://doi.org/10.1145/800076.802486) proved in 1981 that no
    # order of the loops gains more than a constant factor.
    smaller = moved_numbers(loads_of_tiles(n // 2, 8), cache)
    larger_cache = moved_numbers(loads_of_tiles(n, 16), 4 * cache)  # @inspect smaller larger_cache
    assert math.isclose(moved["tiles of 8"] / smaller, 8, rel_tol=0.05)
    assert math.isclose(moved["tiles of 8"] / larger_cache, 2, rel_tol=0.05)
    # So: read "moved" beside the code as "at least", and ask what has to be loaded again.


def least_size(intensity: float, work: Callable[[int], Work]) -> int:  # @stepover
    """Find the smallest size for which an operation reaches an intensity, by halving a range."""
    sizes = range(1, 4096)
    return sizes[bisect.bisect_left(sizes, intensity, key=lambda size: work(size).intensity)]


def compute_takes_over_at_three_times_the_intensity():  # M11.9
    """Compute takes over at three times the intensity.

    From which size on is a square matmul compute-bound? Its arithmetic intensity is n/3, so n has
    to be three times the intensity of the GPU. Is a GPU busy from that size on?
    """
    sizes = {
        card.name: least_size(
            intensity_of(card), lambda n: work_of(lambda: bf16(n, n) @ bf16(n, n))
        )
        for card in (RTX_3090, A100_SXM, H200, H100_SXM)
    }  # @inspect sizes
    assert sizes["H100 SXM"] == math.ceil(3 * intensity_of(H100_SXM)) == 887
    assert sizes["A100 SXM"] == math.ceil(3 * intensity_of(A100_SXM)) == 460
    # No. To be compute-bound is necessary and not sufficient. A result of 887×887 has 49 tiles of
    # 128×128, for 132 multiprocessors. Our H100 reached 26 % of its peak at n = 896, and 77 % at
    # 4096.
    seconds = recorded_floors().matmul_seconds
    peak = H100_SXM.dense_flops_per_second["bf16"]
    shares = {n: 2 * n**3 / seconds[n] / peak for n in (896, 4096)}  # @inspect shares
    assert [round(100 * share) for share in shares.values()] == [26, 77]
    # And n is a side of a square, not the width of a model. In a model, the rows are all tokens of
    # a batch. With R = 8192 rows, a layer from 512 to 512 features has 248 FLOPs per byte, and one
    # from 512 to 2048 has 390: compute-bound on an H100, narrow as it is.
    R, D = 8192, 512
    layers = {F: work_of(lambda F=F: bf16(R, D) @ bf16(D, F)).intensity for F in (512, 2048)}
    for F, intensity in layers.items():
        assert math.isclose(intensity, R * D * F / (R * D + D * F + R * F))
    assert layers[512] < intensity_of(H100_SXM) < layers[2048]  # @inspect layers
    # So: ask for all three sides, then count the tiles.


def attainable_flops_per_second(
    intensity: float, peak: float, bytes_per_second: float
) -> float:  # @stepover
    """The roofline: what memory can feed, up to what the arithmetic can do."""
    return min(peak, intensity * bytes_per_second)


def operations_at(n: int) -> dict[str, Work]:  # @stepover
    """Let the meter watch five operations on n×n numbers in bf16."""
    return {
        "ReLU": work_of(lambda: torch.relu(bf16(n * n))),
        "dot product": work_of(lambda: bf16(n * n) @ bf16(n * n)),
        "matrix × vector": work_of(lambda: bf16(n, n) @ bf16(n)),
        "GELU": work_of(lambda: gelu(bf16(n * n))),
        "matrix × matrix": work_of(lambda: bf16(n, n) @ bf16(n, n)),
    }


def the_roofline_bounds_every_operation():  # M11.10 E110 @core
    """The roofline bounds what comes from memory.

    What is the best rate for a given arithmetic intensity? With few FLOPs per byte, as many as the
    bytes bring; with many, the peak: $\\min(\\text{peak}, \\text{intensity} \\times
    \\text{bandwidth})$. On logarithmic axes that is a slope and a flat roof, and the corner is the
    GPU's own intensity. Move the size, and watch which operation moves.
    """
    # @note Stay: about five minutes. Move the size slowly, and let the class say which point moves
    # and why the others do not. End with the question what an upper bound is good for if we reach a
    # third of it.
    cards = (A100_SXM, H100_SXM, B200)
    by_size = {n: operations_at(n) for n in (64, 128, 256, 512, 1024, 2048, 4096, 8192)}
    roofline = figures.roofline(cards, by_size, attainable_flops_per_second)  # @inspect roofline
    # Only the matmul: the other four stay on the slope at any size.
    intensities = {
        name: [operations[name].intensity for operations in by_size.values()]
        for name in by_size[64]
    }
    growth = {name: found[-1] / found[0] for name, found in intensities.items()}  # @inspect growth
    assert [name for name, factor in growth.items() if factor > 1.1] == ["matrix × matrix"]
    assert math.isclose(growth["matrix × matrix"], 8192 / 64)
    others = [max(found) for name, found in intensities.items() if name != "matrix × matrix"]
    assert max(others) < min(map(intensity_of, cards))
    # Does a real GPU stay below its roof? The ReLU, the GELU and the matmul that we recorded on an
    # H100 do.
    h100 = recorded_machine("H100")
    for name, dtype in (("ReLU", "fp32"), ("GELU", "fp32"), ("8192×8192", h100.dtype)):
        intensity, rate = h100.points[name]
        roof = attainable_flops_per_second(
            intensity, H100_SXM.dense_flops_per_second[dtype], H100_SXM.memory_bytes_per_second
        )
        assert 0.75 * roof < rate < roof  # @inspect name rate roof
    # A common mistake is to read the roof as what you will get. It is an upper bound, for what is
    # not [in a cache](#the_cache_shows_on_the_clock): it assumes perfect overlap, full bandwidth,
    # the sheet's clock, busy units, and a launch in no time. It allows a matmul of 1024×1024 all
    # of an H100's peak. We recorded a third.
    assert by_size[1024]["matrix × matrix"].intensity > intensity_of(H100_SXM)
    peak = H100_SXM.dense_flops_per_second["bf16"]
    share = 2 * 1024**3 / recorded_floors().matmul_seconds[1024] / peak  # @inspect share
    assert round(share, 2) == 0.34


def observed_points(
    calls: Mapping[str, Callable[[], object]], clock: Clock = time.perf_counter
) -> dict[str, tuple[float, float]]:  # @stepover
    """Measure the arithmetic intensity of each call, and time its rate."""
    points = {}
    for name, call in calls.items():
        work = work_of(call)
        points[name] = (work.intensity, work.flops / time_call(call, clock=clock).best_seconds)
    return points


def this_machine_has_a_roofline():  # M11.10
    """This machine has a roofline.

    Do measured rates keep below the roof? This machine has no sheet, so we
    [calibrate](#the_best_observed_rate_is_a_peak_for_any_machine) both parts: the slope by copying
    numbers, the roof by matmuls.
    """
    device, dtype, n, numbers = "cpu", torch.float32, 512, 2**23
    if gpu_is_at_least(AMPERE):
        device, dtype, n, numbers = "cuda", torch.bfloat16, 8192, 2**27
    else:
        skipped = "no GPU here: this is the roofline of one core, in fp32"  # @inspect skipped
    x = torch.rand(n, n, generator=torch.Generator().manual_seed(0)).to(device, dtype)
    # More numbers than many caches hold, so that they come from memory. (Some servers have hundreds
    # of MiB of cache. There the slope is that of the cache.)
    many = torch.rand(numbers, generator=torch.Generator().manual_seed(0)).to(device, dtype)
    calls = {
        "ReLU": lambda: torch.relu(many),
        "matrix × vector": lambda: x @ x[0],
        "8 rows": lambda: x[:8] @ x,
        "64 rows": lambda: x[:64] @ x,
        "matrix × matrix": lambda: x @ x,
    }
    points = observed_points(calls)  # @timed
    assert points["ReLU"][0] == 1 / (2 * dtype.itemsize)
    # For each weight that it loads, a matrix × vector does two FLOPs.
    assert math.isclose(points["matrix × vector"][0], 2 / dtype.itemsize, rel_tol=0.01)
    peak = best_matmul_flops_per_second([n], dtype, device)  # @timed @inspect peak
    bandwidth = best_bytes_per_second(numbers, dtype, device)  # @timed @inspect bandwidth
    measured = figures.measured_roofline(peak, bandwidth, points)  # @timed @inspect measured
    # Where the numbers come from memory they should. Readings scatter, so the claim lets a ReLU
    # reach twice the slope. A small matrix sits in a cache that is faster than the memory we
    # calibrated, so its points may lie above the slope.
    slope = points["ReLU"][0] * bandwidth  # @timed
    assert slope / 50 < points["ReLU"][1] < 2 * slope  # @timed
    assert points["matrix × matrix"][1] > points["64 rows"][1] / 2  # @timed
    assert points["matrix × matrix"][1] > points["ReLU"][1]  # @timed
    # So: draw the roofline of your machine once. An operation far below it is worth a look.


def recorded_machines_have_rooflines():  # M11.10
    """Recorded machines have rooflines.

    And machines that are not here? `python -m benchmarks.accelerator` measures the one it runs on.
    These readings were recorded once, each on the machine and the day that the title names.
    """
    machines = recorded_machines(FOLDER)
    fastest, relu_shares = {}, {}
    for machine in machines:
        roofline = figures.measured_roofline(
            machine.flops_per_second,
            machine.bytes_per_second,
            machine.points,
            f"{machine.name}, {machine.date}, {machine.dtype}",
        )  # @inspect roofline
        # (The matmuls are in bf16, whose roof is drawn; the elementwise operations in fp32.) No
        # recorded ReLU was faster than a copy of the same bytes.
        relu_intensity, relu_rate = machine.points["ReLU"]
        relu_shares[machine.name] = relu_rate / (relu_intensity * machine.bytes_per_second)
        assert relu_shares[machine.name] < 1
        # The GELU that is written out in eight kernels has fewer FLOPs per byte than the one
        # kernel, so it lies further to the left.
        assert machine.points["GELU written out"][0] < machine.points["GELU"][0]
        fastest[machine.name] = max(machine.points, key=lambda name: machine.points[name][1])
    # On the H100 it is as fast. On the CPU it takes three times as long, most likely because each
    # result goes to memory that the system has to hand out first, page by page. The copies wrote to
    # pages they had.
    assert [round(share, 1) for share in relu_shares.values()] == [1.0, 0.3]  # @inspect relu_shares
    # What was the fastest call of each? On both it was one of the largest matmul that was tried.
    assert list(fastest.values()) == ["16384×16384", "2048×2048"]  # @inspect fastest
    # So the picture of this chapter is not only arithmetic: it was seen.


def a_batch_shares_the_weights():  # M11.11
    """A batch shares the weights.

    When is a linear layer compute-bound? It loads its weights once for all rows of its input. With
    D features in and D out, and R rows, $2RD^2$ FLOPs meet $2(D^2+2RD)$ bytes. While R is small
    beside D, that is an arithmetic intensity of R.
    """
    D = 4096
    row_counts = [2**power for power in range(13)]
    intensities = {R: work_of(lambda R=R: bf16(R, D) @ bf16(D, D)).intensity for R in row_counts}
    for R, intensity in intensities.items():
        assert math.isclose(intensity, R * D / (D + 2 * R))
    rules = {card.name: intensity_of(card) for card in (RTX_3090, A100_SXM, H100_SXM)}
    by_rows = figures.intensity_by_rows(intensities, rules)  # @inspect by_rows
    # One row has an intensity of 1, 16 rows have 15.9. An H100 becomes compute-bound at 346 rows.
    # Does a narrower layer need fewer rows or more? Move D: it needs more, and at D = 512 no batch
    # is enough. (The intensity stays below D/2.)
    narrow = work_of(lambda: bf16(2**24, 512) @ bf16(512, 512)).intensity
    assert narrow < 512 / 2 < intensity_of(H100_SXM)  # @inspect narrow
    assert [round(intensities[R], 1) for R in (1, 16)] == [1.0, 15.9]
    least_rows = least_size(
        intensity_of(H100_SXM), lambda R: work_of(lambda: bf16(R, D) @ bf16(D, D))
    )
    assert least_rows == 346  # @predict
    # They may be 346 tokens of one sequence, or one token of each of 346. A linear layer does not
    # know whose tokens it works on.
    #
    # So: up to a hundred rows or so, more rows add next to nothing to the least time. That is what
    # a *batch* is for: B sequences that go through the model together, where B is the *batch size*.
    few, many = (work_of(lambda R=R: bf16(R, D) @ bf16(D, D)) for R in (1, 128))
    assert move_seconds(many, H100_SXM) < 1.07 * move_seconds(few, H100_SXM)


def training_and_inference_differ_in_their_rows():  # M11.11 E111
    """Training and inference differ in their rows.

    Which of the two waits for memory? Training sends whole sequences through a layer, thousands of
    rows at a time. Inference has two phases. *Prefill* reads the prompt, all tokens at once.
    *Decode* writes one token after the other, so a layer sees one row for each sequence.
    """
    T, D = 2048, 4096
    layer = {
        "training, 4 sequences": work_of(lambda: bf16(4 * T, D) @ bf16(D, D)),
        "prefill, 1 sequence": work_of(lambda: bf16(T, D) @ bf16(D, D)),
        "decode, 1 sequence": work_of(lambda: bf16(1, D) @ bf16(D, D)),
        "decode, 512 sequences": work_of(lambda: bf16(512, D) @ bf16(D, D)),
    }
    intensities = {name: round(w.intensity) for name, w in layer.items()}  # @inspect intensities
    assert [*intensities.values()] == [1638, 1024, 1, 410]
    roof = intensity_of(H100_SXM)
    bound = {name: "compute" if w.intensity > roof else "memory" for name, w in layer.items()}
    # A common mistake is to remember this as "training is compute-bound, inference is
    # memory-bound". Of these four, only decoding one sequence is. (Reading a short prompt is, too.)
    assert list(bound.values()) == ["compute", "compute", "memory", "compute"]  # @inspect bound
    # But a model is not only linear layers. In attention, the new token of a sequence meets the
    # keys and values of all earlier tokens of that sequence, which other texts do not share. With 1
    # sequence or 64, each of those numbers is used once. (Where 8 heads [share keys and
    # values](#groups_of_heads_share_keys_and_values), 8 times: still far from 295.)
    one, many = (work_of(lambda B=B: bf16(B, 1, 128) @ bf16(B, 128, T)) for B in (1, 64))
    assert many.flops == 64 * one.flops
    assert round(one.intensity, 2) == round(many.intensity, 2) == 0.99
    # And training has operations besides its matmuls. [The update of the
    # weights](#an_update_waits_for_memory) moves each weight, its gradient and two averages, for
    # about 1 FLOP per byte.
    weight = torch.ones(100, requires_grad=True)
    weight.grad = torch.ones(100)
    optimizer = torch.optim.AdamW([weight], fused=True)
    optimizer.step()
    update = work_of(optimizer.step)  # @inspect update.intensity
    assert 0.4 < update.intensity < 1.2
    # So: in wide linear layers, training and the prefill of long prompts wait for arithmetic.
    # Decoding waits for memory: for the weights while the batch is small, and, in attention like
    # this one, for keys and values at any batch.


def work_of_all_caches(B: int, T: int) -> Work:  # @stepover
    """Let each sequence's last token meet the keys and values of T tokens, in 48 layers with 25
    heads of 64 features."""
    scores = work_of(lambda: bf16(B, 25, 1, 64) @ bf16(B, 25, 64, T))
    mixing = work_of(lambda: bf16(B, 25, 1, T) @ bf16(B, 25, T, 64))
    return Work(48 * (scores.flops + mixing.flops), 48 * (scores.moved_bytes + mixing.moved_bytes))


def a_written_token_costs_a_walk_through_all_weights():  # M11.11
    """A written token costs a walk through all weights.

    How fast can a model decode? Each token meets every matrix once. Take 48 layers of width 1600,
    as in GPT-2 XL, with three matrices in the [feed-forward
    networks](#swiglu_lets_one_half_gate_the_other), as Llama 3 has. Its matrices have 2.05 billion
    parameters. Guess the tokens per second on an H100.
    """
    one = work_of_all_layers(tokens=1)
    assert round(one.intensity, 2) == 1.0  # @predict
    assert round(one.flops / 2 / 1e9, 2) == 2.05
    # To load them takes 1.22 milliseconds, so it is 818 tokens per second at most. The arithmetic
    # would be done in 4 microseconds. (The table of embeddings is left out: a token needs one row.)
    assert round(1e3 * move_seconds(one, H100_SXM), 2) == 1.22  # @predict
    assert round(1 / move_seconds(one, H100_SXM)) == 818  # @predict
    assert round(1e6 * compute_seconds(one, H100_SXM)) == 4  # @predict
    # Now decode for 64 sequences at once. The *latency* of a token rises by 6 % in these layers,
    # and the *throughput* is 64 tokens instead of one. So a service gains by batching the requests
    # of many people. It also gains by storing weights in [fewer
    # bits](#writing_reads_every_weight_for_a_token): half the bytes, half the time at best.
    many = work_of_all_layers(tokens=64)
    assert round(move_seconds(many, H100_SXM) / move_seconds(one, H100_SXM), 2) == 1.06
    assert compute_seconds(many, H100_SXM) < move_seconds(many, H100_SXM)
    # What the sequences do not share are the keys and values of their earlier tokens. A model keeps
    # them, in the [*KV cache*](#a_cache_reads_each_token_once): 0.31 MB for each token. With 1000
    # tokens in each of 64 sequences, attention moves 4.9 times the bytes of all the weights, and
    # uses each number once, however many sequences there are.
    caches = work_of_all_caches(B=64, T=1000)
    assert round(caches.intensity, 1) == 1.0
    assert round(caches.moved_bytes / 64 / 1000 / 1e6, 2) == 0.31
    assert round(move_seconds(caches, H100_SXM) / move_seconds(one, H100_SXM), 1) == 4.9
    # So: decoding costs bytes. Count weights plus KV cache, and divide by the bandwidth.


def decode_seconds(B: int, T: int) -> float:  # @stepover
    """Seconds to decode a token for each of B sequences that have T tokens each, on an H100."""
    one_after_the_other = work_of_all_layers(tokens=B), work_of_all_caches(B, T)
    return sum(
        max(move_seconds(work, H100_SXM), compute_seconds(work, H100_SXM))
        for work in one_after_the_other
    )


def long_sequences_spoil_a_batch():  # M11.11
    """Long sequences spoil a batch.

    Does a larger batch always write more tokens per second? Each sequence of the batch shares the
    weights and brings its own KV cache. With c bytes of cache per token, B sequences of T tokens
    wait for
    $$\\text{time} = \\frac{\\text{weights} + B\\,T\\,c}{\\text{bandwidth}}.$$
    Guess how the throughput grows with B, and move T.
    """
    throughput = {
        (B, T): B / decode_seconds(B, T)
        for B in (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)
        for T in (64, 256, 1024, 4096, 16_384)
    }
    by_batch = figures.throughput_by_batch(throughput)  # @inspect by_batch
    # (At B = 512 the layers take longer to compute than to load their weights, and that counts.)
    layers = work_of_all_layers(tokens=512)
    assert compute_seconds(layers, H100_SXM) > move_seconds(layers, H100_SXM)
    # With 64 tokens in each, 64 sequences write 47 times as many tokens per second as one. With
    # 16 384 in each, 1.8 times: loading the caches is nearly all they do. (If they fitted: one H100
    # holds 16 such caches.)
    gains = {T: throughput[64, T] / throughput[1, T] for T in (64, 16_384)}  # @inspect gains
    assert round(gains[64]) == 47
    assert round(gains[16_384], 1) == 1.8
    # Then the limit is bandwidth over $T\,c$, whatever B is. Two vectors of 1600 numbers in each of
    # 48 layers are c = 0.31 MB, so it is 666 tokens per second.
    cache_bytes = 16_384 * (2 * 48 * 1600 * 2)
    limit = H100_SXM.memory_bytes_per_second / cache_bytes  # @inspect limit
    assert round(limit) == 666
    assert 0.97 * limit < throughput[512, 16_384] < limit
    # (512 such caches would not fit, either: they are 2.6 TB, thirty times the memory.) So: to
    # serve long sequences, make the cache smaller, with fewer bits or fewer keys and values.
    assert 512 * cache_bytes > 30 * H100_SXM.memory_bytes


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

    Why write your own kernel if it does the same arithmetic? A kernel loads a number, does with it
    all there is to do, and stores it. *Fused* into one kernel, k operations move the bytes of one.
    """
    numbers, factors = [3.0, 5.0, 7.0], [2.0, 0.5, 4.0, 0.25, 8.0, 2.0]
    intensities = {"one kernel each": {}, "fused": {}}
    for k in range(1, len(factors) + 1):
        separate, separate_flops, separate_moved = chain_of_factors(numbers, factors[:k], False)
        fused, fused_flops, fused_moved = chain_of_factors(numbers, factors[:k], True)
        assert fused == separate == [number * math.prod(factors[:k]) for number in numbers]
        assert fused_flops == separate_flops
        assert separate_moved == k * fused_moved
        # In bf16 each number is two bytes.
        intensities["one kernel each"][k] = separate_flops / (2 * separate_moved)
        intensities["fused"][k] = fused_flops / (2 * fused_moved)
    chains = figures.intensity_by_length(intensities)  # @inspect chains
    # Separate kernels stay at a quarter of a FLOP per byte, however many there are. The fused one
    # gains with each operation, and takes the time of the first while it waits for memory.
    assert set(intensities["one kernel each"].values()) == {1 / 4}
    assert list(intensities["fused"].values()) == [k / 4 for k in range(1, 7)]

    # Such operations of PyTorch are one kernel each, and the meter agrees with the loops.
    def written_out() -> Tensor:
        x = torch.tensor(numbers, dtype=torch.bfloat16)
        return x * 2.0 * 0.5 * 4.0

    assert work_of(written_out).intensity == intensities["one kernel each"][3]
    assert written_out().tolist() == chain_of_factors(numbers, factors[:3], False)[0]
    # So: to speed up a memory-bound chain, fuse it. No faster arithmetic would help.


def a_compiler_fuses_what_is_written_out():  # M11.12
    """A compiler fuses what is written out.

    Who writes all these kernels? Often a program: `torch.compile` reads your function, writes one
    kernel for the chain in it, and has that compiled. Take the GELU that we
    [wrote out](#written_out_gelu_moves_nine_times_the_bytes) in eight operations. What does it
    bring, and what does it cost?
    """
    # To compile takes seconds, so it was done once, for the record of a processor's readings. The
    # first call compiles. The others take 0.3 of the time of the eight operations, and 1.4 times
    # that of the library's one.
    record = recorded_machine("Xeon")
    seconds = {
        way: record.seconds[way] for way in ("GELU written out", "GELU compiled", "GELU")
    }  # @inspect seconds
    assert round(seconds["GELU compiled"] / seconds["GELU written out"], 1) == 0.3
    assert round(seconds["GELU compiled"] / seconds["GELU"], 1) == 1.4
    # It also makes seven results fewer. If each [pays for its
    # memory](#recorded_machines_have_rooflines) what a ReLU's seems to, that is three quarters of
    # what is saved.
    saved = seconds["GELU written out"] - seconds["GELU compiled"]
    for_memory = record.seconds["ReLU"] - 8 * 2**24 / record.bytes_per_second
    assert round(7 * for_memory / saved, 2) == 0.75  # @inspect for_memory
    # So compiling pays off after so many calls of this function:
    to_compile, *_ = record.readings["GELU compiled"]
    calls = math.ceil(to_compile / saved)  # @inspect to_compile calls
    assert to_compile + calls * seconds["GELU compiled"] <= calls * seconds["GELU written out"]
    assert 2 < calls < 500
    # A training step is run thousands of times, and may be worth the seconds. A function that runs
    # once is not. (A second size compiles once more, and then for nearly any.)


def fused_attention_does_not_store_its_scores():  # M11.12
    """Fused attention does not store its scores.

    Where does fusion matter? Where something large is made only to be used up at once. In
    [attention](#attention_takes_a_weighted_mean) each of T tokens is compared with all T: these
    *scores* are a T×T matrix, between two matmuls. Fused attention keeps them where they are
    computed.
    """
    K, T = 8, 64
    q = torch.randn(1, 1, T, K, generator=torch.Generator().manual_seed(0))
    with measure() as written_out:
        y = (q @ q.mT / K**0.5).softmax(dim=3) @ q
    with measure() as fused:
        same_y = scaled_dot_product_attention(q, q, q)
    assert torch.allclose(same_y, y, atol=1e-5)  # another order of additions
    # The matmuls are the same. The meter's ideal bytes are those of q, k, v and the result, and a
    # number for each row: linear in T.
    assert fused.matmul_flops == written_out.matmul_flops
    assert fused.read_bytes + fused.written_bytes == 4 * (4 * T * K + T)
    # A common mistake is to take the ideal for the traffic. All keys and values have to pass by
    # again for each block of queries. A query brings K numbers and its result K more; with half of
    # a cache of M numbers left for what passes by, a block has M/4K queries. Replayed in a cache:
    moved = {
        (T, cache): moved_numbers(loads_of_attention(T, K, block=cache // (4 * K)), cache)
        for T, cache in ((64, 256), (128, 256), (128, 512))
    }  # @inspect moved
    # Twice the tokens, nearly four times the loads; twice the cache, nearly half. That fits
    # $T^2K^2/M$, which the [paper on FlashAttention](https://arxiv.org/abs/2205.14135) proves.
    assert 3.7 < moved[128, 256] / moved[64, 256] < 4
    assert 1.8 < moved[128, 256] / moved[128, 512] < 2
    # Attention that writes its scores down loads $3T^2$ more: when they are made (this cache loads
    # a line to write in it), for the softmax, and when they are used. (What it writes back comes
    # on top.) Twice the cache does not help with that.
    for cache in (256, 512):
        loads = loads_of_attention_written_out(128, K, block=cache // (4 * K))
        assert moved_numbers(loads, cache) - moved[128, cache] == 3 * 128**2
    # For GPT-2 medium on an A100 the paper (in its arXiv edition) counts 40.3 GB read and written
    # without and 4.4 GB with the fused kernel, forward and backward.
    without, with_it = FLASH_ATTENTION_MOVED_BYTES
    assert round(without / with_it) == 9


def fused_attention_takes_less_time():  # M11.12
    """Fused attention takes less time.

    Does it show on a clock? On the H100 we recorded causal attention, in which no token looks
    ahead, with 16 heads of 64 features, forward and backward: guess the factor at 4096 tokens.
    """
    h100 = recorded_machine("H100")
    recorded = {
        way: {T: h100.seconds[f"{way}, {T} tokens"] for T in (512, 1024, 2048, 4096)}
        for way in ("written out", "fused")
    }
    on_h100 = figures.seconds_by_tokens(recorded, "Causal attention, H100")  # @inspect on_h100
    # By the fastest of ten calls it takes an eleventh of the time. Not all of that is fusion: the
    # fused kernel also skips the half of the pairs that is masked, and the other way makes its mask
    # in that time. At 512 tokens the factor is two and a half, and that seems to be launches:
    # written out, it asks for more kernels. It takes no less time than 1024 tokens do, which have
    # four times the scores.
    assert recorded["written out"][512] >= recorded["written out"][1024]
    gains = {T: recorded["written out"][T] / recorded["fused"][T] for T in recorded["fused"]}
    assert 2.5 < gains[512] < 3 < 11 < gains[4096] < 12  # @inspect gains
    # From 512 to 2048 tokens the pairs are 16 times as many, and the fused way takes 1.1 times as
    # long: it seems to wait for the program that asks for it, not for its kernels.
    longer = recorded["fused"][2048] / recorded["fused"][512]
    assert round(longer, 1) == 1.1  # @inspect longer
    # And here, without a mask, one head on one core, forward pass only:
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
    here = figures.seconds_by_tokens(seconds, "Attention on one core")  # @timed @inspect here
    assert seconds["fused"][1024] < seconds["written out"][1024]  # @timed
    # What we can do now: take any operation, divide its FLOPs by its bytes, compare with one number
    # of the GPU, and say what it waits for. Wide matmuls with many rows wait for arithmetic. Nearly
    # all else that we met waits for bytes, so it gets faster by moving fewer of them: narrower
    # numbers, fused kernels, weights that a larger batch shares. What we cannot do yet is train.
    # That takes gradients.


def exercise_a_softmax():  # M11.3 @exercise
    """Exercise: a softmax.

    A softmax over rows of bf16 scores is one kernel. It takes an exponential for each number, and
    some additions and divisions. Is it memory-bound on an H100? By how many times would an
    exponential have to cost more before it is not?
    """
    work = work_of(lambda: bf16(1024, 1024).softmax(dim=1))
    # It reads and writes each number once, 4 bytes, for 24 FLOPs by the meter's convention. That is
    # 6 per byte, where the H100 has 20 outside its tensor cores: memory-bound.
    assert work.moved_bytes == 2 * 2 * 1024**2
    assert round(work.intensity) == 6  # @inspect work.intensity
    # 20 of the 24 are the exponential. With 76 it would be 80 for 4 bytes: 3.8 times as much. That
    # is if all were multiply-adds, which the sheet counts as two. If none is, half as many FLOPs
    # fit.
    others = work.flops / 1024**2 - 20
    most = [4 * rate - others for rate in (intensity_of(H100_SXM, "fp32") / n for n in (1, 2))]
    assert [round(flops / 20, 1) for flops in most] == [3.8, 1.8]  # @inspect most


def exercise_rows_for_an_rtx_4090():  # M11.11 @exercise
    """Exercise: rows for an RTX 4090.

    From how many rows on is a layer of 4096×4096 in bf16 compute-bound on an RTX 4090? An H100
    needs 346. The RTX 4090 has a sixth of its peak, and less than a third of its bandwidth.
    """
    D, intensity = 4096, intensity_of(RTX_4090)  # @inspect intensity
    least_rows = least_size(intensity, lambda R: work_of(lambda: bf16(R, D) @ bf16(D, D)))
    # 179. It can do I = 164 FLOPs while a byte arrives, and $RD/(D+2R)$ reaches that at $R =
    # ID/(D-2I)$. The ratio of peak and bandwidth decides, not the peak.
    assert least_rows == math.ceil(intensity * D / (D - 2 * intensity)) == 179
