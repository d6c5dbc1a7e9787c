"""What is in a GPU: who computes, who waits, and what an operation costs at the least."""

import itertools
import math

from lecture.facts import (
    A100_CACHE_BYTES_PER_SECOND,
    A100_GPU,
    A100_NVLINK_BYTES_PER_SECOND,
    A100_SXM,
    B200,
    B200_GPU,
    B200_NVLINK_BYTES_PER_SECOND,
    BLOCK_THREADS,
    H100_CACHE_BYTES_PER_SECOND,
    H100_GPU,
    H100_NVLINK_BYTES_PER_SECOND,
    H100_SHARED_MEMORY_BYTES,
    H100_SXM,
    H100_SXM_CHIP,
    INFINIBAND_NDR_BYTES_PER_SECOND,
    MULTIPROCESSOR_BLOCKS,
    MULTIPROCESSOR_QUARTERS,
    MULTIPROCESSOR_REGISTERS,
    MULTIPROCESSOR_THREADS,
    NEAR_BYTES_PER_TICK,
    PCIE5_DATA_SHARE,
    PCIE5_TRANSFERS_PER_SECOND,
    PCIE_LANES,
    REGISTER_BYTES,
    THREAD_REGISTERS,
    WARP_THREADS,
)
from lecture.lib.hardware import memory_levels
from lecture.lib.multiprocessor import (
    blocks_that_fit,
    fetched_bytes,
    issued_instructions,
    run_blocks,
    run_streams,
    run_warps,
)
from lecture.lib.recorded import recorded_floors, recorded_machine
from lecture.part4_compute import m10c_figures as figures


def a_gpu_is_many_multiprocessors():  # M10.15
    """A GPU is many multiprocessors.

    We can count the FLOPs of a program, and we have seen that a large matmul gets some 80 % of an
    H100's peak and that small ones are slow. We cannot say yet why. So let us open the chip. What
    is in it?
    """
    # The same thing, many times over. An H100 SXM has 132 *streaming multiprocessors* (SMs), an
    # A100 108. Each is a small processor with four quarters. A quarter has a *warp scheduler*,
    # which can start one instruction in each tick of the clock; 32 *lanes*, which carry it out (16
    # in an A100); 16 384 *registers* for the numbers at hand; and one [tensor
    # core](#tensor_cores_multiply_tiles). The quarters share one piece of fast memory.
    floor_plan = figures.floor_plan(H100_GPU.multiprocessors)  # @inspect floor_plan
    # NVIDIA's white paper prints both the parts and the totals: 132·4 are 528 tensor cores, and
    # 132·128 are 16 896 lanes for fp32.
    tensor_cores = H100_GPU.multiprocessors * MULTIPROCESSOR_QUARTERS
    lanes = H100_GPU.multiprocessors * H100_GPU.fp32_lanes
    assert tensor_cores == H100_SXM_CHIP.tensor_cores == 528
    assert lanes == H100_SXM_CHIP.fp32_units == 16_896
    # Now multiply: 528 tensor cores, 512 multiply-adds each, 2 FLOPs for each of those, 1.83
    # billion ticks a second. That is the peak on the sheet. So whatever keeps one of these parts
    # from working in one of these ticks costs its share of the peak. This chapter is about what
    # does.
    ticks = H100_SXM_CHIP.tensor_core_hertz
    peak = tensor_cores * H100_SXM_CHIP.tensor_core_multiply_adds * 2 * ticks
    assert math.isclose(peak, H100_SXM.dense_flops_per_second["bf16"], rel_tol=0.001)


def threads_work_in_warps():  # M10.16
    """Threads work in warps of 32.

    A program for a GPU, a *kernel*, says what one *thread* does: load a number, change it, store
    it. The GPU runs it in as many threads as you ask for, say a million. But it does not run them
    one by one. It takes 32 at a time, a *warp*, and all 32 carry out the same instruction together.
    What if they disagree, at an `if`?
    """
    # Say that positive numbers take 10 instructions and negative ones 30. A warp goes through each
    # path that one of its threads takes, and the others wait. Here are 64 threads, so two warps.
    lengths = {"positive": 10, "negative": 30}
    alternating = ["positive", "negative"] * WARP_THREADS
    by_sign = sorted(alternating)
    issued = {
        "all positive": issued_instructions(["positive"] * 64, lengths),
        "sorted by sign": issued_instructions(by_sign, lengths),
        "alternating": issued_instructions(alternating, lengths),
    }  # @inspect issued
    # The same numbers cost twice as much when the signs alternate: each warp walks both paths.
    assert issued["all positive"] == 2 * 10  # @predict
    assert issued["sorted by sign"] == 10 + 30  # @predict
    assert issued["alternating"] == 2 * (10 + 30)  # @predict
    # Half a warp costs a whole one. 33 threads need two warps, and 31 lanes of the second idle.
    assert issued_instructions(["positive"] * 33, lengths) == issued["all positive"]
    # So: let neighbours do the same. A ReLU does, whatever the signs, since the larger of x and 0
    # is one instruction and no `if`.


def near_memory_is_small():  # M10.15
    """Near memory is small and far memory is slow.

    Where are the numbers? At four distances. Registers belong to a thread. *L1* and *shared
    memory*, one piece of *SRAM*, memory that is part of the chip, belong to a multiprocessor. The
    *L2* cache belongs to the chip. And *HBM*, the memory that a sheet means with its "80GB", lies
    beside the chip. Guess: how much longer does HBM take to answer than L1?
    """
    levels = {
        "A100": memory_levels(A100_GPU, A100_SXM, A100_CACHE_BYTES_PER_SECOND),
        "H100": memory_levels(H100_GPU, H100_SXM, H100_CACHE_BYTES_PER_SECOND),
        "B200": memory_levels(B200_GPU, B200, None),  # we found no measurement of its L2
    }
    distances = figures.distances(levels["H100"])  # @inspect distances
    # (Sizes and bandwidths are those of the whole chip. One multiprocessor has 256 KiB of registers
    # and as much L1.)
    of_one = [
        levels["H100"][name][0] / H100_GPU.multiprocessors for name in ("registers", "L1, shared")
    ]
    assert of_one == [256 * 2**10] * 2
    # A load that waits for the one before it takes 40 ticks from L1, 291 from the nearer half of
    # the L2, and 700 from HBM: more than 17 times as long as from L1. At 1.98 GHz those 700 are 354
    # nanoseconds. Meanwhile the tensor cores of one multiprocessor could have done 2.9 million
    # FLOPs.
    assert 17 < H100_GPU.memory_ticks / H100_GPU.near_ticks < 18
    assert round(1e9 * H100_GPU.memory_ticks / H100_GPU.highest_hertz) == 354
    per_tick = 2 * MULTIPROCESSOR_QUARTERS * H100_SXM_CHIP.tensor_core_multiply_adds
    assert round(H100_GPU.memory_ticks * per_tick / 1e6, 1) == 2.9
    # And on other GPUs? The levels are the same, and in each multiprocessor a B200 has 256 KiB more
    # for the sums of its tensor cores. (Readings of the L2 differ. On H100s people found 5.5
    # and 7 TB/s; we take the lower.)
    side_by_side = figures.side_by_side(levels)  # @inspect side_by_side
    # From the A100 to the B200 arithmetic grew by a factor of 7, and the bandwidth of HBM by nearly
    # 4. What did not shrink is the time until memory answers.
    flops = B200.dense_flops_per_second["bf16"] / A100_SXM.dense_flops_per_second["bf16"]
    bandwidth = B200.memory_bytes_per_second / A100_SXM.memory_bytes_per_second
    waits = [gpu.memory_ticks / gpu.highest_hertz for gpu in (A100_GPU, B200_GPU)]
    assert [round(ratio, 1) for ratio in (flops, bandwidth, waits[1] / waits[0])] == [7.2, 3.8, 1.1]
    # So: bring a number near once, and use it there as often as you can.


def the_cache_shows_on_the_clock():  # M10.15
    """The cache shows on the clock.

    Is the L2 really faster than HBM? We recorded an H100 while it computed ReLUs of more and more
    numbers in bf16, a hundred times each. If input and output together stay well below 50 MiB, all
    but the first of the hundred can find their numbers in the L2.
    """
    seconds = {n: found["graph"] for n, found in recorded_floors().relu_seconds.items()}

    def bytes_per_second(fewer: int, more: int) -> float:
        return 2 * 2 * (more - fewer) / (seconds[more] - seconds[fewer])

    # What do more numbers cost? We take the difference of two times, so that what each call
    # costs by itself drops out.
    in_cache = bytes_per_second(2**22, 2**23)  # @inspect in_cache
    in_memory = bytes_per_second(2**27, 2**28)  # @inspect in_memory
    # In the cache the last numbers that fit come and go at 4.1e12 bytes per second, and earlier
    # ones faster. HBM promises 3.35e12, so they cannot all have passed it. Beyond the cache it is
    # 3.0e12, nine tenths of the promise.
    assert bytes_per_second(2**20, 2**21) > in_cache
    assert in_cache > H100_SXM.memory_bytes_per_second > in_memory
    assert round(in_cache / 1e12, 1) == 4.1
    assert round(in_memory / H100_SXM.memory_bytes_per_second, 1) == 0.9
    # From 2^23 to 2^24 the numbers double and the time triples. If you ever measure more bandwidth
    # than the sheet has, look at how much you touched.
    assert round(seconds[2**24] / seconds[2**23], 1) == 3.0


def waiting_warps_hide_latency():  # M10.16
    """Waiting warps hide the latency of others.

    700 ticks for a number, and a scheduler that could start an instruction in each of them. How
    does a GPU ever get anything done? It keeps many warps at hand. While one waits, another runs.
    """
    # Our scheduler is 15 lines of Python: in each tick it starts the next instruction of the
    # warp that has been ready longest. A load takes 20 ticks, an addition 4, and each needs the
    # result of the one before. One warp alone takes 4·(20 + 4) ticks.
    ticks = {"load": 20, "add": 4}
    program = ["load", "add"] * 4
    alone = run_warps([program], ticks)
    assert alone[-1].done == 4 * (20 + 4)  # @predict
    runs = {warps: run_warps([program] * warps, ticks) for warps in (2, 8, 24, 32)}  # @stepover
    needed = {warps: max(issue.done for issue in run) for warps, run in runs.items()}
    few = figures.warps(runs[2])  # @inspect few
    many = figures.warps(runs[8])  # @inspect many
    # Eight warps do eight times the work in 110 ticks instead of 96. Up to there, more warps are
    # nearly free: *latency*, the time of one load, is hidden, and *throughput*, loads per tick,
    # grows. From 24 on the scheduler has something to start in nearly every tick: eight more warps,
    # of eight instructions each, take 60 ticks more. (The other 4 of these 64 start in ticks in
    # which 24 warps had left it idle.)
    assert (needed[8], needed[32] - needed[24]) == (110, 60)  # @inspect needed
    assert 24 * 8 / needed[24] > 0.96
    # How many warps are enough? So many that one starts in each tick of the time that one waits: 24
    # ticks for two instructions, so 12, if they never get in each other's way. This is Little's
    # law: *in flight = throughput × latency*. With loads only, 5 warps in flight and a latency of
    # 20 make a quarter of a load per tick.
    loads = run_warps([["load"] * 10] * 5, ticks)  # @stepover
    per_tick = len(loads) / max(issue.done for issue in loads)  # @inspect per_tick
    assert math.isclose(per_tick, 5 / 20, rel_tol=0.03)
    # To get the full bandwidth of an H100, then, bandwidth × latency = 1.2 MB must be on the way at
    # every moment. So an operation that moves less than a megabyte cannot have all of it.
    latency_seconds = H100_GPU.memory_ticks / H100_GPU.highest_hertz
    in_flight = H100_SXM.memory_bytes_per_second * latency_seconds
    assert round(in_flight / 1e6, 1) == 1.2
    # Shared among 132 multiprocessors of 2048 threads, that is 4.4 bytes for each, more than one
    # fp32 number. So: start many threads, and let each ask for several numbers before it uses one.
    per_thread = in_flight / (H100_GPU.multiprocessors * MULTIPROCESSOR_THREADS)
    assert round(per_thread, 1) == 4.4


def a_block_needs_room():  # M10.16
    """A block needs room.

    How many threads can wait at once? A kernel starts them in *blocks* of up to 1024. A block lives
    on one multiprocessor, where its threads share memory, and stays until all of them are done. It
    moves in if there is room: for its threads, their registers and its shared memory.
    """
    room = {
        "threads": MULTIPROCESSOR_THREADS,
        "registers": MULTIPROCESSOR_REGISTERS,
        "blocks": MULTIPROCESSOR_BLOCKS,
        "shared bytes": H100_SHARED_MEMORY_BYTES,
    }
    # Blocks of 256 threads move in until one more does not fit. The share of the 2048 threads that
    # are there then is the *occupancy*. Registers decide: with 32 for each thread all fit, with 248
    # one block. Move the threads of a block: do larger ones help?
    occupancy = {}
    for registers in range(16, THREAD_REGISTERS + 1, 8):
        need = {"threads": 256, "registers": 256 * registers, "blocks": 1}
        blocks = blocks_that_fit(need, room)
        assert blocks == min(2048 // 256, 65_536 // (256 * registers), 32)
        occupancy[registers] = blocks * 256 / MULTIPROCESSOR_THREADS
    stairs = figures.occupancy_by_registers(occupancy, room, threads=256)  # @inspect stairs
    assert (occupancy[32], occupancy[40], occupancy[248]) == (1, 6 / 8, 1 / 8)
    # A block of 1024 threads with 255 registers each does not fit at all.
    largest = {"threads": BLOCK_THREADS, "registers": BLOCK_THREADS * THREAD_REGISTERS}
    assert blocks_that_fit(largest, room) == 0
    # Shared memory decides where a block asks for much of it: with 100 KiB each, two fit.
    assert blocks_that_fit({"shared bytes": 100 * 2**10}, room) == 228 // 100
    # Large blocks leave larger gaps. Small ones run into the limit of 32: with one warp each, half
    # of the threads are missing.
    blocks = blocks_that_fit({"threads": WARP_THREADS, "blocks": 1}, room)
    assert blocks * WARP_THREADS / MULTIPROCESSOR_THREADS == 1 / 2  # @predict
    # So is more occupancy always better? No. It hides latency, and so does a thread that has
    # several loads under way. A matmul may want few threads with many registers, as we will see.


def neighbours_load_together():  # M10.16
    """Neighbours load together.

    Does it matter which numbers the threads of a warp load? Memory delivers whole segments. If
    thread t loads number t, the 32 numbers of a warp lie side by side and share a few segments: the
    load is *coalesced*. If it loads number s·t, at a *stride* of s, each may need its own.
    """
    # Say that a segment has 64 bytes. At a stride of 1, the 32 numbers of a warp, of 4 bytes each,
    # fill two of them. At a stride of 16, 32 segments arrive for the same 32 numbers.
    assert fetched_bytes([4 * t for t in range(32)], 64) == 32 * 4  # @predict
    assert fetched_bytes([4 * 16 * t for t in range(32)], 64) == 32 * 64  # @predict
    strides = (1, 2, 4, 8, 16, 32)
    counted = {s: fetched_bytes([4 * s * t for t in range(32)], 64) / 32 for s in strides}
    assert counted == {s: min(4 * s, 64) for s in strides}  # @inspect counted
    # An H100 was timed copying 2^24 numbers at each stride. It stores 4 bytes for each number
    # besides. If the bytes decide, the times are to each other as what we counted, plus 4.
    seconds = recorded_floors().copy_seconds
    predicted = {s: seconds[1] * (counted[s] + 4) / (counted[1] + 4) for s in strides}
    by_stride = figures.seconds_by_stride(predicted, seconds)  # @inspect by_stride
    for s in strides:
        assert math.isclose(predicted[s], seconds[s], rel_tol=0.1)
    # They are, within a tenth: every 16th number takes eight times as long as every number, and
    # every 32nd hardly longer. With segments of 32 bytes, every 16th would have taken 4.5 times as
    # long; with 128, every 32nd 16.5 times. So 64 is what this GPU seems to fetch from its memory
    # at a time. (NVIDIA's manuals speak of sectors of 32 bytes, the unit of the caches: they seem
    # to come in pairs, which is a setting that CUDA lets you change. At a stride of 64 it gets
    # slower still, which our count does not explain.)
    halved = fetched_bytes([4 * 16 * t for t in range(32)], 32) / 32
    doubled = fetched_bytes([4 * 32 * t for t in range(32)], 128) / 32
    assert ((halved + 4) / (4 + 4), (doubled + 4) / (4 + 4)) == (4.5, 16.5)
    assert [round(seconds[s] / seconds[1], 1) for s in (16, 32)] == [8.0, 8.7]
    # So: let neighbouring threads load neighbouring numbers. It is one reason why [strides and
    # contiguity](#contiguous_means_row_major_without_gaps) matter on a GPU.


def blocks_come_in_waves():  # M10.16
    """Blocks come in waves.

    A matmul is cut into tiles, one block for each. What if there are more blocks than
    multiprocessors? Each multiprocessor takes the next one when it is done. So equal blocks run in
    *waves*, and the last wave may be nearly empty. This is *wave quantization*. (We give each
    multiprocessor one block at a time. Where k have room, a wave is k times as many.)
    """
    runs = run_blocks([10] * 9, multiprocessors=4)
    waves = figures.waves(runs)  # @inspect waves
    stop = max(run.stop for run in runs)
    assert stop == math.ceil(9 / 4) * 10
    # Nine blocks took as long as twelve would have, and a quarter of the time is lost.
    assert sum(run.stop - run.start for run in runs) / (4 * stop) == 3 / 4  # @predict
    # On an A100, which has 108 multiprocessors, 109 blocks take twice as long as 108.
    ticks = {
        blocks: max(run.stop for run in run_blocks([10] * blocks, A100_GPU.multiprocessors))
        for blocks in (16, 108, 109, 216)
    }  # @stepover @inspect ticks
    assert ticks[109] == ticks[216] == 2 * ticks[108]
    # And 16 blocks take as long as 108. A 512×512 result has 16 tiles of 128×128, so a matmul of
    # 512×512 matrices leaves 92 of the 108 multiprocessors without work.
    tiles = math.ceil(512 / 128) ** 2
    busy = {
        run.multiprocessor for run in run_blocks([10] * tiles, A100_GPU.multiprocessors)
    }  # @stepover
    assert ticks[tiles] == ticks[108]
    assert A100_GPU.multiprocessors - len(busy) == 92  # @predict
    # At 1024×1024 there are 64, and an H100 has 132 multiprocessors. Libraries know, and can cut
    # smaller tiles where there are few, or share out the sum of one tile; both cost something.
    #
    # So: count your blocks. With many waves the last one hardly matters: 8.5 of them cost 9.
    many = round(8.5 * A100_GPU.multiprocessors)
    stop = max(run.stop for run in run_blocks([10] * many, A100_GPU.multiprocessors))  # @stepover
    assert round(many * 10 / (stop * A100_GPU.multiprocessors), 2) == 0.94


def a_larger_matmul_can_take_less_time():  # M10.16
    """A larger matmul can take less time.

    Do tiles and waves show on a real GPU? Here is what an H100 reached with n×n matmuls in bf16,
    at sizes 64 apart. Guess which is done first: n = 3904, or n = 4096 with 15 % more work?
    """
    seconds = recorded_floors().matmul_seconds
    rates = {n: 2 * n**3 / found for n, found in seconds.items()}
    by_side = figures.rate_by_side(rates)  # @inspect by_side
    # It reaches 77 % of the peak in the end. But the way there goes up and down, and the larger one
    # is done first. In tiles of 128×256 both take four waves, which would explain the same time and
    # not less. (Which tiles the library took we have not seen.)
    peak = H100_SXM.dense_flops_per_second["bf16"]
    assert round(rates[4096] / peak, 2) == 0.77
    assert seconds[4096] < seconds[3904]
    assert rates[4096] / rates[3904] > (4096 / 3904) ** 3 > 1.15
    for n in (3904, 4096):
        tiles = math.ceil(n / 128) * math.ceil(n / 256)
        assert math.ceil(tiles / H100_GPU.multiprocessors) == 4
    # A step of 2 % in the side, from 3200 to 3264, costs 25 % of time for 6 % of work. The library
    # chooses among many shapes of tiles, so we cannot predict each step of these stairs. But stairs
    # they are.
    assert round(seconds[3264] / seconds[3200], 2) == 1.25 > (3264 / 3200) ** 3
    # At how many of these sizes would some larger matmul have been faster?
    falling = [n for n in seconds if min(seconds[m] for m in seconds if m >= n) < seconds[n]]
    assert len(falling) == 12  # @inspect falling
    # At twelve, and none of them is a multiple of 256. But such a multiple is no promise: 2560
    # takes 23 % more time than 2496, for 8 % more work. So: where you can choose a size, time its
    # neighbours.
    assert not any(n % 256 == 0 for n in falling)
    assert round(seconds[2560] / seconds[2496], 2) == 1.23 > round((2560 / 2496) ** 3, 2) == 1.08


def uses_of_a_number(rows: int, columns: int) -> float:  # @stepover
    """Build up a tile of the result, slice by slice; count how often a loaded number is used."""
    loads = multiply_adds = 0
    for _ in range(3):  # slices: a column of x and a row of w for each
        loads += rows + columns
        for _ in itertools.product(range(rows), range(columns)):
            multiply_adds += 1
    return 2 * multiply_adds / loads


def a_tensor_core_lives_on_reuse():  # M10.15
    """A tensor core lives on reuse.

    The four tensor cores of a multiprocessor do 2048 multiply-adds in a tick. Each takes two
    numbers of two bytes: 8 KiB in each tick, if every number were fetched each time. Shared memory
    delivers 128 bytes. How can that be enough?
    """
    needed_bytes = MULTIPROCESSOR_QUARTERS * H100_SXM_CHIP.tensor_core_multiply_adds * 2 * 2
    assert needed_bytes / NEAR_BYTES_PER_TICK == 64
    # A number that is loaded has to be used 64 times. Tiles do it. Who multiplies, on an H100 four
    # warps together, keeps a tile of the result in registers, loads a thin slice of both matrices,
    # and multiplies each number of the one slice with each of the other. How often is a number
    # used on average? We count, in loops.
    tiles = ((64, 64), (64, 256))
    uses = {tile: uses_of_a_number(*tile) for tile in tiles}  # @inspect uses
    for rows, columns in tiles:
        assert math.isclose(uses[rows, columns], 2 * rows * columns / (rows + columns))
    # With a tile of 64×64 each number is used 64 times, just enough. With 64×256, for which four
    # warps have room, it is 102 times on average: 256 times those of one slice, 64 times those of
    # the other. (Two such groups make a block with a tile of 128×256. It uses what it fetches 171
    # times on average.)
    assert uses[64, 64] == 64  # @predict
    assert round(uses[64, 256]) == 102
    assert round(uses_of_a_number(128, 256)) == 171
    # One limit of the block's tile is the room for the result. As fp32 sums, 128×256 of them are
    # 128 KiB, half of the registers that a multiprocessor has. With 256 threads that is 128
    # registers for each, before anything else: two such blocks fit if nothing else needs a
    # register, else one.
    result_bytes = 128 * 256 * REGISTER_BYTES
    assert result_bytes / (MULTIPROCESSOR_REGISTERS * REGISTER_BYTES) == 1 / 2
    room = {"threads": MULTIPROCESSOR_THREADS, "registers": MULTIPROCESSOR_REGISTERS}
    assert blocks_that_fit({"threads": 256, "registers": 256 * 128}, room) == 2
    assert blocks_that_fit({"threads": 256, "registers": 256 * 168}, room) == 1
    # So such a matmul has one block of 256 threads, an occupancy of an eighth.


def a_clock_follows_the_power():  # M10.15
    """A rated clock is no promise.

    How fast does the clock tick? A sheet computes with a *rated boost*: on an H100 1.83 GHz for
    bf16 in tensor cores, 1.98 for fp32. The first is no limit, and neither is a promise. GPUs for
    games [run above theirs](#far_above_the_peak_is_a_mistake) while they are cool. And a GPU that
    draws as much power as it may slows down until it draws no more.
    """
    # We cannot see the clock of the H100 that we recorded. But we can bound it: if no tensor core
    # had rested for a tick, its best matmul took 1.42 GHz. The true clock lay between that and
    # 1.98, the highest that the driver allows.
    h100 = recorded_machine("H100")
    per_tick = 2 * H100_SXM_CHIP.tensor_cores * H100_SXM_CHIP.tensor_core_multiply_adds
    least_hertz = h100.flops_per_second / per_tick  # @inspect least_hertz
    assert round(least_hertz / 1e9, 2) == 1.42
    assert least_hertz < H100_SXM_CHIP.tensor_core_hertz < H100_GPU.highest_hertz
    # In ticks of 1.98 GHz, the peak would be 8 % higher than the sheet says.
    highest = per_tick * H100_GPU.highest_hertz / H100_SXM.dense_flops_per_second["bf16"]
    assert round(highest, 2) == 1.08
    # So: when two people measure different rates on the same GPU, ask for watts and clocks. Random
    # numbers flip more bits than zeros, [draw more
    # power](https://www.thonking.ai/p/strangely-matrix-multiplications), and run slower.


def a_launch_takes_microseconds():  # M10.17
    """A launch takes microseconds.

    What does an operation cost that does nothing? The program has to ask for it, and the GPU to
    start and to end it. What each takes when many follow one another is the *launch*, as we call
    it. (The *launch latency* of a kernel is the time from the call to its start. A single one, from
    idle to idle, took 20 microseconds by PyTorch.) We recorded a kernel that adds 1 to each of 16
    numbers.
    """
    h100 = recorded_machine("H100")
    by_python = h100.launch_seconds
    # Asked for by PyTorch, one after the other, it took 8 microseconds: the time of Python, of
    # PyTorch's own code and of the driver, while the GPU mostly idles. Without them it takes 1.2.
    # For that, many launches are recorded as a *graph* (`torch.cuda.CUDAGraph`), which the GPU
    # works through by itself. (This one is a ReLU of 1024 numbers.)
    by_graph = recorded_floors().relu_seconds[1024]["graph"]
    launches = {"asked for by PyTorch": by_python, "in a graph": by_graph}  # @inspect launches
    assert round(1e6 * by_python) == 8
    assert round(1e6 * by_graph, 1) == 1.2
    assert round(1e6 * h100.waited_seconds) == 20  # idle, ask, wait, each time
    # In the shorter time, tensor cores at their peak do a matmul of 832×832, and in the longer one
    # of 1572×1572.
    peak = H100_SXM.dense_flops_per_second["bf16"]
    sides = [math.floor((seconds * peak / 2) ** (1 / 3)) for seconds in (by_graph, by_python)]
    assert sides == [832, 1572]  # @inspect sides
    # So: a model of many small operations may run at the speed of Python. `torch.compile` helps by
    # making fewer kernels, and with `mode="reduce-overhead"` it records graphs where it can. If you
    # see 8 microseconds for everything, you are timing the launch.


def streams_let_copies_run_beside_kernels():  # M10.17
    """Streams let copies run beside kernels.

    Must a GPU stand still while data arrive? Work is asked for in a *stream*, and within a stream
    each piece waits for the one before. But different streams need not wait for each other, and
    copies between CPU and GPU have an engine of their own.
    """
    # Four batches, of which each takes 3 ticks to copy and 4 to compute. In one stream they take
    # 4·(3 + 4).
    batch = [("copy", 3), ("compute", 4)]
    one = run_streams({"one stream": batch * 4})
    two = run_streams({"stream A": batch * 2, "stream B": batch * 2})
    one_stop, two_stop = (
        max(stop for lane in lanes.values() for _, stop, _ in lane) for lanes in (one, two)
    )
    assert one_stop == 4 * (3 + 4)  # @predict
    # In two streams that take turns, only the first copy is waited for. The others are done while
    # the batch before is computed.
    overlapped = figures.lanes("Four batches in two streams", two, "ticks")  # @inspect overlapped
    assert two_stop == 3 + 4 * 4  # @predict
    # So: let the [next batch arrive](#a_copy_can_hide_behind_the_computing) while this one is
    # computed. And the arithmetic? Kernels that fill the GPU leave no room for a second stream's.
    # Small ones may run side by side, which our model leaves out.


def memory_seconds(moved_bytes: int) -> float:  # @stepover
    """Seconds to move bytes on an H100, from its L2 if they fit there and else from HBM."""
    if moved_bytes < H100_SXM.cache_bytes:
        return moved_bytes / H100_CACHE_BYTES_PER_SECOND
    return moved_bytes / H100_SXM.memory_bytes_per_second


def three_floors_hold_up_every_operation():  # M10.17 @core
    """Three floors hold up every operation.

    How long does a ReLU of a million bf16 numbers take on an H100? It moves 4 MiB; if they came
    from HBM, that would be 1.25 microseconds. Guess what the stopwatch said.
    """
    # @note Take guesses in microseconds first. Then go along the chart from small to large and ask
    # which floor one stands on now. Short of time, keep one sentence: nothing is faster than
    # its highest floor.
    found = recorded_floors().relu_seconds
    # It said 2.1 in a graph, and 8.9 asked for by PyTorch.
    million = found[2**20]
    assert round(1e6 * 4 * 2**20 / H100_SXM.memory_bytes_per_second, 2) == 1.25
    assert round(1e6 * million["graph"], 1) == 2.1
    assert round(1e6 * million["queued"], 1) == 8.9
    # No operation is faster than its *launch*, than its bytes over the bandwidth of the memory
    # they lie in, or than its FLOPs over the peak of the arithmetic. Each is a floor; where two
    # are alike, times may add up. Each ReLU ran a hundred times on the same numbers. Well below
    # 50 MiB, all but the first could find them in the L2, a cache. (No sheet promises its rate. Our
    # 5.5 TB/s are the lower of two readings, so this floor is an estimate.)
    launch = found[1024]["graph"]
    floors = {"launch": {}, "memory": {}, "arithmetic": {}}
    for n in found:
        floors["launch"][n] = launch
        floors["memory"][n] = memory_seconds(4 * n)
        floors["arithmetic"][n] = n / H100_SXM.dense_flops_per_second["fp32"]
        highest = max(floor[n] for floor in floors.values())
        assert highest <= found[n]["graph"] < 2 * highest
    standing = figures.relu_floors(floors, found)  # @inspect standing
    # No reading lies below the highest floor, and none at twice that.
    holds = {n: max(floors, key=lambda kind: floors[kind][n]) for n in found}  # @inspect holds
    # So estimated, the launch is the highest up to a million, then the memory, and the arithmetic
    # never. (From HBM, up to half a million.)
    assert [n for n in holds if holds[n] == "launch"][-1] == 2**20
    assert 4 * 2**19 < launch * H100_SXM.memory_bytes_per_second < 4 * 2**20
    assert "arithmetic" not in holds.values()
    # Asked for by PyTorch, it is the launch while the L2 has the numbers: moving 34 MB, for 2^23 of
    # them, takes 9.1 microseconds, hardly more than next to nothing takes.
    queued = [round(1e6 * found[n]["queued"], 1) for n in (1024, 2**23, 2**24)]
    assert queued == [8.5, 9.1, 26.1]  # @inspect queued
    assert memory_seconds(4 * 2**23) < found[1024]["queued"] < memory_seconds(4 * 2**24)


def a_small_matmul_waits_for_its_launch():  # M10.17
    """The highest floor of a small matmul is its launch.

    And a matmul? Three n×n matrices in bf16 are $6n^2$ bytes, and the FLOPs are $2n^3$. Which floor
    is the highest at which n?
    """
    seconds = recorded_floors().matmul_seconds
    launch = recorded_floors().relu_seconds[1024]["graph"]
    floors = {
        "launch": dict.fromkeys(seconds, launch),
        "memory": {n: memory_seconds(6 * n**2) for n in seconds},
        "arithmetic": {n: 2 * n**3 / H100_SXM.dense_flops_per_second["bf16"] for n in seconds},
    }
    holds = {n: max(floors, key=lambda kind: floors[kind][n]) for n in seconds}
    # The launch up to n = 832, and from 896 on the arithmetic. The memory nowhere, if these
    # matrices lie in the L2 as long as they fit. As floors go, such a matmul does not wait for
    # memory.
    assert [n for n in holds if holds[n] == "launch"][-1] == 832
    assert {holds[n] for n in seconds if n >= 896} == {"arithmetic"}
    # (At n = 3008 they no longer fit, and the arithmetic is over three times the memory's floor.)
    assert 3 < floors["arithmetic"][3008] / floors["memory"][3008] < 4
    by_side = figures.matmul_floors(floors, seconds)  # @inspect by_side
    # The readings come down to the floor late. At n = 832 an H100 takes 5.5 times its launch, and
    # for what we cannot say. At n = 1024 it takes 6.5 microseconds for 2.2 of arithmetic. (In tiles
    # of 128×128 it has 64 blocks, fewer than multiprocessors.) At 4096 it takes 1.3 times the
    # floor.
    times_floor = {n: seconds[n] / max(floor[n] for floor in floors.values()) for n in seconds}
    assert round(1e6 * seconds[1024], 1) == 6.5
    assert round(1e6 * floors["arithmetic"][1024], 1) == 2.2
    assert min(times_floor.values()) > 1
    assert round(times_floor[832], 1) == 5.5
    assert round(times_floor[1024], 1) == 3.0  # @inspect times_floor
    assert round(times_floor[4096], 1) == 1.3
    # So: floors from a sheet say what cannot be beaten at its clock, and are honest about large
    # operations. For small ones ask a stopwatch.


def a_cpu_waits_less_and_does_less():  # M10.15
    """A CPU waits less and does less.

    Is a GPU always faster? A *CPU* has cores in place of multiprocessors, mostly fewer. It spends
    its area on finding work within one thread: it guesses branches, runs instructions out of order,
    and has megabytes of cache for each core. And an operation there is a call, not a launch.
    """
    cpu, gpu = recorded_machine("Xeon"), recorded_machine("H100")
    # Here are the two that we recorded. Of the CPU we had two cores, on a server that others used,
    # too.
    ratios = {
        "launch": gpu.launch_seconds / cpu.launch_seconds,
        "bandwidth": gpu.bytes_per_second / cpu.bytes_per_second,
        "bf16": gpu.flops_per_second / cpu.flops_per_second,
    }  # @inspect ratios
    # The GPU moves 120 times as much and computes 330 times as much, and takes four times as long
    # to begin each of many operations. (A single one that finds it idle waits longer. And that is
    # beside two cores: a whole CPU has dozens, and comes closer.)
    assert round(ratios["launch"]) == 4
    assert [round(ratios[name], -1) for name in ("bandwidth", "bf16")] == [120, 330]
    # So small work can be faster on the CPU: a copy of 65 536 numbers, from idle to idle. A copy of
    # sixteen times as many numbers is faster on the GPU.
    small, large = "copy of 2^16 numbers", "copy of 2^20 numbers"
    copies = {name: gpu.seconds[name] / cpu.seconds[name] for name in (small, large)}
    assert copies[small] > 1 > 8 * copies[large]  # @inspect copies
    # (The same numbers were copied again and again, so they lay in the CPU's caches. From its
    # memory, at the 25 GB/s we recorded, the small copy would take 21 microseconds and not 5. The
    # GPU took 17.5.)
    from_memory = 2 * 4 * 2**16 / cpu.bytes_per_second
    times = [cpu.seconds[small], gpu.seconds[small], from_memory]
    assert [round(1e6 * seconds, 1) for seconds in times] == [5.0, 17.5, 21.1]  # @inspect times
    # So: a model of a few thousand parameters may well train faster on a laptop's CPU.


def links_are_narrower_than_memory():  # M10.18
    """Links are narrower than memory.

    What if the numbers are not on this GPU at all? Then they come over a link. *PCIe* connects GPU
    and CPU. *NVLink* connects the GPUs of a box. *InfiniBand* connects boxes. How do they compare
    with what is inside?
    """
    pcie = PCIE5_TRANSFERS_PER_SECOND * PCIE_LANES * PCIE5_DATA_SHARE / 8
    near = H100_GPU.multiprocessors * NEAR_BYTES_PER_TICK * H100_GPU.highest_hertz
    bytes_per_second = {
        "InfiniBand NDR, a port": INFINIBAND_NDR_BYTES_PER_SECOND,
        "PCIe 5, 16 lanes": pcie,
        "NVLink 3, A100": A100_NVLINK_BYTES_PER_SECOND,
        "NVLink 4, H100": H100_NVLINK_BYTES_PER_SECOND,
        "NVLink 5, B200": B200_NVLINK_BYTES_PER_SECOND,
        "HBM, H100": H100_SXM.memory_bytes_per_second,
        "L2, H100": H100_CACHE_BYTES_PER_SECOND,
        "L1, all of an H100": near,
    }
    ladder = figures.links(bytes_per_second)  # @inspect ladder
    # From an H100, one direction of NVLink is 7 times narrower than HBM, and the way out of the box
    # 67 times. (Sheets print NVLink with both directions added up: 900 GB/s for an H100.)
    hbm = H100_SXM.memory_bytes_per_second
    assert round(hbm / H100_NVLINK_BYTES_PER_SECOND) == 7  # @predict
    assert round(hbm / INFINIBAND_NDR_BYTES_PER_SECOND) == 67  # @predict
    # The other way, into the chip, L1 is 10 times wider.
    assert round(near / hbm) == 10
    # Over PCIe, our recorded H100 received 53 GB/s from pinned memory, 84 % of what 16 lanes can.
    h100 = recorded_machine("H100")
    reached = 2**26 / h100.seconds["to the device, pinned"]  # @inspect reached
    assert round(reached / 1e9) == 53
    assert round(reached / pcie, 2) == 0.84
    # So the advice of this chapter goes on outside the chip: bring a number near once, and use it
    # often. What several GPUs do about it has two chapters of its own.
    #
    # What we can do now: look at an operation, and say which of three floors it stands on. Count
    # its blocks; count the segments its warps touch; and know that a reading below ten microseconds
    # may be the launch. The next chapter takes two of the floors, memory and arithmetic, and asks
    # for one operation after the other which one is higher.


def exercise_a_row_and_a_column():  # M10.16 @exercise
    """Exercise: a row and a column.

    A matrix has 1000 columns in fp32, row by row in memory. A warp reads the first 32 numbers of
    its first row, or of its first column. How many times as many bytes arrive for the column, in
    segments of 64?
    """
    row = fetched_bytes([4 * column for column in range(32)], 64)
    column = fetched_bytes([4 * 1000 * row for row in range(32)], 64)
    # 16 times: 2 segments for the row, and one for each number of the column. (The second row
    # begins in the middle of a segment, and takes 3.)
    assert column / row == 16
    assert fetched_bytes([4 * (1000 + column) for column in range(32)], 64) == 3 * 64


def exercise_three_percent_larger():  # M10.16 @exercise
    """Exercise: three percent larger.

    A result of 4096×4096 is cut into tiles of 128×256, on 132 multiprocessors with a tile each.
    What share of their time is used? And by how much does it take longer at 4224×4224, if each tile
    takes as long?
    """
    ticks = {}
    for n in (4096, 4224):
        tiles = math.ceil(n / 128) * math.ceil(n / 256)
        runs = run_blocks([10] * tiles, H100_GPU.multiprocessors)  # @stepover
        ticks[n] = max(run.stop for run in runs)
        if n == 4096:
            used = tiles * 10 / (ticks[n] * H100_GPU.multiprocessors)  # @inspect used
    # 512 tiles are 3.9 waves, and 4 are paid for: 97 %. 561 tiles are 4.25 waves, and 5 are paid
    # for: a quarter more time, for 6 % more results.
    assert round(used, 2) == 0.97
    assert ticks[4224] / ticks[4096] == 5 / 4
