"""Rates: what data sheets promise, which share of it arrives, and why."""

import itertools
import math
import statistics
from dataclasses import replace

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lecture.facts import (
    A100_CHIP,
    A100_SXM,
    ACCELERATORS,
    B200,
    GPT2_VOCABULARY,
    H100_MEAN_OF_FIVE_SECONDS,
    H100_SXM,
    H100_SXM_CHIP,
    H100_WARM_FLOPS_PER_SECOND,
    H200,
    PALM_HFU,
    PALM_MFU,
    RTX_3090,
    RTX_3090_CHIP,
    RTX_3090_WARM_FLOPS_PER_SECOND,
    RTX_4090,
    Chip,
)
from lecture.lib.hardware import AMPERE, accelerator_named, gpu_is_at_least, share_of_peak
from lecture.lib.recorded import recorded_machine
from lecture.lib.refused import refused
from lecture.lib.shapes import shape_checked
from lecture.lib.tiles import product_by_tiles, whole_numbers
from lecture.lib.timing import (
    best_matmul_flops_per_second,
    flops_per_second,
    matmul_flops_per_second,
    time_call,
)
from lecture.part4_compute import m10_figures as figures
from trace.costs import measure


def a_data_sheet_has_a_rate_for_each_format():  # M10.7
    """A data sheet has a rate for each format.

    How fast is a GPU? That depends on the width of the numbers. A data sheet prints its peaks by
    format. The ones here are *dense*, that is, for matrices without zeros in agreed places.
    """
    # The sheets: [RTX
    # 3090](https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf),
    # [A100](https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf),
    # [H100](https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet),
    # [H200](https://www.nvidia.com/en-us/data-center/h200/) and, as an eighth of a box of eight,
    # B200 ([fp8 and fp4](https://www.nvidia.com/en-us/data-center/dgx-b200/), [the
    # others](https://www.nvidia.com/en-us/data-center/hgx/)). Not every sheet has every format.
    cards = [RTX_3090, A100_SXM, H100_SXM, H200, B200]
    peaks = figures.promised(cards)  # @inspect peaks
    # On tensor cores, units for [small matrices](#tensor_cores_multiply_tiles), half the bits are
    # twice the rate in these formats: TF32 takes 32 bits of memory, bf16 16, fp8 8. fp32 proper is
    # apart, as no tensor core multiplies it. So an A100 gains a factor of 16 by bf16, and an RTX
    # 3090, made for games, a factor of 2.
    h100, a100 = H100_SXM.dense_flops_per_second, A100_SXM.dense_flops_per_second
    rtx_3090 = RTX_3090.dense_flops_per_second
    assert h100["fp8"] / h100["bf16"] == a100["bf16"] / a100["tf32"] == 2
    assert a100["bf16"] / a100["fp32"] == 16  # @predict
    assert round(rtx_3090["bf16"] / rtx_3090["fp32"], 1) == 2.0
    # Many sheets print twice these rates, "with sparsity": [two sections
    # on](#two_of_every_four_weights_are_zero) we see of what. And a program can look its GPU up by
    # the name that PyTorch reports. A name that only resembles a known one has no peak here, since
    # an RTX 3090 Ti is another card.
    assert accelerator_named("NVIDIA H100 80GB HBM3").name == "H100 SXM"
    with refused(LookupError) as error:
        accelerator_named("NVIDIA GeForce RTX 3090 Ti")
    assert "no data sheet" in error.message
    # So: name the format, the GPU and "dense" whenever you quote a peak.


def peaks_from_clocks(chip: Chip) -> tuple[float, float]:
    """Return FLOP/s in fp32 and in bf16: units times work per tick times ticks per second."""
    fp32 = 2 * chip.fp32_units * chip.fp32_hertz
    bf16 = 2 * chip.tensor_cores * chip.tensor_core_multiply_adds * chip.tensor_core_hertz
    return fp32, bf16


def a_peak_is_units_times_clock():  # M10.7
    """A peak is units times clock.

    Where does the number on a data sheet come from? It is computed. A chip has so many units;
    each does so many multiply-adds, of two FLOPs, in one tick of the clock; and the maker names a
    clock, the *rated boost*.
    """
    rebuilt = {
        "A100": (*peaks_from_clocks(A100_CHIP), A100_SXM),
        "H100": (*peaks_from_clocks(H100_SXM_CHIP), H100_SXM),
        "RTX 3090": (*peaks_from_clocks(RTX_3090_CHIP), RTX_3090),
    }  # @inspect rebuilt
    for fp32, bf16, card in rebuilt.values():
        assert math.isclose(fp32, card.dense_flops_per_second["fp32"], rel_tol=0.003)
        assert math.isclose(bf16, card.dense_flops_per_second["bf16"], rel_tol=0.003)
    # An A100 has 432 tensor cores of 256 multiply-adds, at 1.41 GHz: 312e12 FLOP/s. The H100 needs
    # two clocks. Its tensor cores are rated at 1.83 GHz (in fp64 at 1.98), its other units at 1.98.
    #
    # So a peak is reached when every unit is busy in every tick, at that clock. Under full load a
    # GPU may [run slower](#a_clock_follows_the_power), for want of power: at 1.4 GHz, say, tensor
    # cores that never rest reach 76 % of the peak.
    slower = replace(H100_SXM_CHIP, tensor_core_hertz=1.4e9)
    share = peaks_from_clocks(slower)[1] / H100_SXM.dense_flops_per_second["bf16"]
    assert round(100 * share) == 76


@shape_checked
def two_of_every_four(w: Float[Tensor, "F D"]) -> Bool[Tensor, "F D"]:
    """Mark the two largest, by absolute value, of every four weights in a row."""
    groups = rearrange(w.abs(), "F (groups four) -> F groups four", four=4)
    largest = groups.topk(2, dim=2).indices
    kept = torch.zeros_like(groups, dtype=torch.bool).scatter(2, largest, True)
    return rearrange(kept, "F groups four -> F (groups four)")


def two_of_every_four_weights_are_zero():  # M10.8
    """In 2:4 sparsity, two of every four weights are zero.

    What has to be zero for the larger number on the sheet? Not just half of the weights: two of
    every four neighbours, so that the hardware knows how many there are without looking.
    """
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(3, 8, generator=generator)
    kept = two_of_every_four(w)
    groups = figures.groups_of_four(w, kept)  # @inspect groups
    in_each_group = rearrange(kept, "F (groups four) -> F groups four", four=4).sum(dim=2)
    assert (in_each_group == 2).all()
    # Usually the larger two are kept. Of weights from a normal distribution that is half of them,
    # and, being the larger ones, 87 % of the sum of their squares.
    large = torch.randn(512, 512, generator=generator)
    squares = large.square()
    kept_share = (squares * two_of_every_four(large)).sum() / squares.sum()  # @inspect kept_share
    assert 0.86 < kept_share < 0.875
    # Can ordinary training use it? No: its weights are not zero to begin with, and zeros that fall
    # at random rarely fit. Of the 16 ways to mark weights in a group, 11 have at most two to keep.
    # If each weight is zero with probability one half, all sixteen groups in a row of 64 weights
    # fit once in 400 times.
    fitting = sum(sum(ways) <= 2 for ways in itertools.product((0, 1), repeat=4))
    assert fitting == 11
    assert round((16 / fitting) ** (64 / 4)) == 401
    # So: for training, look for the dense rate. On the sheets of this lecture it is half of what
    # they print "with sparsity".


@shape_checked
def kept_and_places(
    w: Float[Tensor, "F D"], kept: Bool[Tensor, "F D"]
) -> tuple[Float[Tensor, "F half"], list[list[int]]]:
    """Return the kept weights without the zeros between them, and the columns they came from."""
    places = [row.nonzero().flatten().tolist() for row in kept]
    return torch.stack([row[columns] for row, columns in zip(w, places, strict=True)]), places


def zeros_save_work_only_if_they_are_skipped():  # M10.8
    """Zeros save work only if they are skipped.

    Why does hardware have to know where the zeros are? Because a multiplication by zero takes as
    many ticks as any multiplication. (On a GPU zeros save [power](#a_clock_follows_the_power), and
    so they may save time.) Here is a matrix of zeros only, on the clock of this machine:
    """
    generator = torch.Generator().manual_seed(0)
    zeros, numbers = torch.zeros(512, 512), torch.randn(512, 512, generator=generator)
    zeros_seconds = time_call(lambda: zeros @ numbers).best_seconds  # @timed @inspect zeros_seconds
    seconds = time_call(lambda: numbers @ numbers).best_seconds  # @timed @inspect seconds
    assert 0.5 < zeros_seconds / seconds < 2  # @timed
    # To save work, pack the kept weights and note their columns. Then each row picks the numbers of
    # x that it needs: half the FLOPs. That is all the doubled rate means. Results arrive in half
    # the time at best, and nobody does more FLOPs per second.
    w, x = torch.randn(128, 64, generator=generator), torch.randn(64, generator=generator)
    kept = two_of_every_four(w)
    with measure() as dense:
        y = (w * kept) @ x
    packed, places = kept_and_places(w, kept)
    with measure() as sparse:
        same_y = torch.stack(
            [values @ x[columns] for values, columns in zip(packed, places, strict=True)]
        )
    assert torch.allclose(same_y, y, atol=1e-5)  # another order of additions
    assert sparse.matmul_flops * 2 == dense.matmul_flops
    # The packed weights take half the memory and the places two bits each: for bf16, 9 bytes in
    # place of 16.
    sparse_bits = 16 * packed.numel() + 2 * sum(map(len, places))
    assert sparse_bits / (16 * w.numel()) == 9 / 16  # @predict
    # It is another matrix, though. 13 % of the squares were cut, and the error is the root of that,
    # more than a third of the results. NVIDIA's [recipe](https://arxiv.org/abs/2104.08378) trains
    # such networks again after half of their weights were cut.
    full_y = w @ x
    error = ((y - full_y).norm() / full_y.norm()).item()  # @inspect error
    assert round(error, 1) == round(math.sqrt(0.13), 1)


def utilization_is_useful_over_promised():  # M10.9 @core
    """Utilization is useful over promised.

    How much of a peak arrives? For one operation we call it its *share of the peak*: its FLOP/s
    over those that are promised for this device and this format. Guess it for a large matmul.
    """
    # @note Collect two guesses and keep them on the board: the share of the peak for one large
    # matmul, and for a whole training run. Afterwards ask whether work that is done twice should
    # count as useful.
    #
    # Owners of an RTX 3090 and of an H100 have [published their
    # readings](https://github.com/zzc0721/torch-performance-test-data): square matmuls of random
    # numbers, timed after ten calls that do not count. Here are some of the best in fp32.
    rtx_3090, h100 = RTX_3090.dense_flops_per_second, H100_SXM.dense_flops_per_second
    rates = {
        "RTX 3090": (RTX_3090_WARM_FLOPS_PER_SECOND["fp32"], rtx_3090["fp32"]),
        "H100 SXM": (H100_WARM_FLOPS_PER_SECOND["fp32"], h100["fp32"]),
    }
    in_fp32 = figures.achieved_and_promised(rates, "One matmul in fp32")  # @inspect in_fp32
    assert [round(share_of_peak(*pair), 2) for pair in rates.values()] == [0.7, 0.77]
    # And a whole training run? There the ratio has a name, *model FLOPs utilization* or MFU: the
    # FLOPs that the definition of the model asks for, with attention, over the time that passed and
    # the peak of all devices. It is mostly [lower](#utilization_decides_the_bill): devices wait for
    # data, for memory, and for the program. [PaLM](https://arxiv.org/abs/2204.02311) reports 46 %,
    # [Llama 3 405B](https://arxiv.org/abs/2407.21783) 38 to 43 %.
    #
    # Shares of the time add up, and what is left multiplies the share of the peak. Say that 0.2 of
    # the time goes to communication and 0.1 to idling, and that in the other 0.7 matmuls in bf16
    # reach 0.806 of the peak. Then 0.56 are left, before any operation that is no matmul.
    left = 0.7 * share_of_peak(H100_WARM_FLOPS_PER_SECOND["bf16"], h100["bf16"])
    assert round(left, 2) == 0.56
    # So: compare an MFU with published runs, and a share of the peak with published matmuls.


def far_above_the_peak_is_a_mistake():  # M10.10 E8
    """Far above the peak is a mistake.

    What if a measurement beats the peak? Owners of an RTX 3090 read 76.7e12 FLOP/s in bf16.
    """
    rate = RTX_3090_WARM_FLOPS_PER_SECOND["bf16"]
    # A common mistake is to divide that by the number at hand, the fp32 peak, and to go on with a
    # utilization of 2.15. Nothing runs at 215 % of its peak: check the denominator. This lecture's
    # function refuses to return it.
    promises = RTX_3090.dense_flops_per_second
    with refused(ValueError) as error:
        share_of_peak(rate, promises["fp32"])  # @stepover
    assert "a share of 2.15 is impossible" in error.message
    # With the peak for bf16 it is 1.08. That need not be a mistake. The sheet multiplies by its
    # rated boost, 1.695 GHz, and GPUs for games run above it while power and heat allow. At 1.83
    # GHz the peak would be what was read.
    assert round(share_of_peak(rate, promises["bf16"]), 2) == 1.08
    faster = replace(RTX_3090_CHIP, tensor_core_hertz=1.83e9)
    assert math.isclose(peaks_from_clocks(faster)[1], rate, rel_tol=0.01)
    # So: far above 1 is a mistake, and a little above 1 asks for the clock.


def a_cold_call_hides_in_a_mean():  # M10.11 E14
    """A cold call hides in a mean.

    Does bf16 bring what its peak promises, 14.8 times fp32 on an H100? [A lecture at
    Stanford](https://github.com/stanford-cs336/spring2025-lectures) has published its recorded run
    of a matmul of $2^{43}$ FLOPs: 0.163 seconds in fp32 and 0.031 in bf16, each the mean of five
    calls. That is 5.3 times. What happened?
    """
    with measure() as cost:
        torch.empty(16_384, 32_768, device="meta") @ torch.empty(32_768, 8192, device="meta")
    peaks, means = H100_SXM.dense_flops_per_second, H100_MEAN_OF_FIVE_SECONDS
    rates = {
        f"{dtype}, {way}": (rate, peaks[dtype])
        for dtype in means
        for way, rate in (
            ("mean of five", cost.matmul_flops / means[dtype]),
            ("warm", H100_WARM_FLOPS_PER_SECOND[dtype]),
        )
    }
    shares = {name: round(share_of_peak(*pair), 2) for name, pair in rates.items()}
    by_format = figures.achieved_and_promised(rates, "On two H100")  # @inspect by_format
    assert shares["fp32, mean of five"] == 0.81
    assert shares["bf16, mean of five"] == 0.29
    # A common mistake is to conclude that bf16 gets no more of its peak. Warm, another H100 reaches
    # 0.81 in bf16 as well.
    assert shares["bf16, warm"] == 0.81
    # In that program, fp32 had run once before its clock was started, and bf16 had not. If four of
    # its five calls ran at the warm rate, the first took 0.11 seconds. The [first call that we
    # recorded](#a_stopwatch_needs_a_warm_up_and_a_median) took 0.12.
    warm_seconds = cost.matmul_flops / H100_WARM_FLOPS_PER_SECOND["bf16"]
    first_seconds = 5 * means["bf16"] - 4 * warm_seconds  # @inspect warm_seconds first_seconds
    assert round(first_seconds, 2) == 0.11
    assert round(recorded_machine("H100").readings["1024×1024"][0], 2) == 0.12
    # So: look at all readings, not at their mean.


def small_products_are_slow_in_every_format():  # M10.11
    """Small matmuls are slow in both formats.

    What does this machine reach? We time matmuls in two formats, at sizes that double, on one core.
    (These rates differ from run to run, so they lie in a file of their own beside the document. The
    page names at its end the machine they are from.)
    """
    sizes = [4, 8, 16, 32, 64, 128, 256, 512]
    rates = {
        "fp32": {n: matmul_flops_per_second(n, torch.float32) for n in sizes},
        "bf16": {n: matmul_flops_per_second(n, torch.bfloat16) for n in sizes},
    }  # @timed
    by_size = figures.rate_by_size(rates)  # @timed @inspect by_size
    # At n = 4 either format reaches less than a quarter of its best rate.
    assert rates["fp32"][512] > 4 * rates["fp32"][4]  # @timed
    assert max(rates["bf16"].values()) > 4 * rates["bf16"][4]  # @timed
    # Which format is faster depends on the processor: some have instructions that multiply bf16,
    # and others have none.
    #
    # So: batch small work until it is large. What "large" means on a GPU, [three
    # floors](#three_floors_hold_up_every_operation) will say.


@shape_checked
def loss_of_chain(
    x: Float[Tensor, "R D"], weights: list[Float[Tensor, "D D"]], recompute: bool
) -> Float[Tensor, ""]:
    """Pass x through layers; with `recompute`, keep only what enters each of them."""

    def layer(features: Tensor, weight: Tensor) -> Tensor:
        return torch.relu(features @ weight)

    for weight in weights:
        if recompute:
            x = checkpoint(layer, x, weight, use_reentrant=False)
        else:
            x = layer(x, weight)
    return x.square().sum()


def recomputed_flops_are_not_useful():  # M10.12 E10
    """Recomputed FLOPs count for the hardware and not for the model.

    What is useful work? Is it every FLOP that was done? Then you could raise your utilization by
    doing something twice. [Training can do that](#what_is_thrown_away_is_computed_again), to save
    memory: it throws away results inside a layer in the forward pass, and computes them again in
    the backward pass.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(6, 8, generator=generator, requires_grad=True)
    weights = [torch.randn(8, 8, generator=generator, requires_grad=True) for _ in range(3)]
    flops, gradients = {}, {}
    for recompute in (False, True):
        with measure() as step:
            loss = loss_of_chain(x, weights, recompute)
            gradients[recompute] = torch.autograd.grad(loss, [x, *weights])
        flops[recompute] = step.matmul_flops / (3 * 8 * 8 * 6)  # @inspect flops
    # The gradients are the same. Per parameter and row it took 2 FLOPs more: 2 forward, 2 once
    # more, 4 backward.
    assert all(torch.equal(*pair) for pair in zip(*gradients.values(), strict=True))
    assert flops == {False: 2 + 4, True: 2 + 2 + 4}
    # *Model FLOPs* are what the definition of the model asks for. *Hardware FLOPs* are what was
    # executed. Over the time and the peak they are the *hardware FLOPs utilization*, HFU. Here it
    # is larger by a third.
    assert flops[True] / flops[False] == 4 / 3  # @predict
    # The authors of [PaLM](https://arxiv.org/abs/2204.02311) report both: 57.8 % beside 46.2 %.
    # Their HFU would promise a training a quarter faster than it was.
    assert round(PALM_HFU / PALM_MFU, 2) == 1.25  # @predict
    # So: HFU says how busy the device is, MFU how fast the training is. Ask which one you are told.


def tensor_cores_multiply_tiles():  # M10.13
    """Tensor cores multiply tiles.

    What is a tensor core? A unit that multiplies small matrices in one go. In an A100 each of the
    432 does 256 multiply-adds per tick, where each of the 6912 ordinary units does one. So what
    happens to a matrix that is not a multiple of a tile?
    """
    chip = A100_CHIP
    assert chip.tensor_cores * chip.tensor_core_multiply_adds / chip.fp32_units == 16  # @predict
    # A large matmul is cut into tiles, and zeros fill up what does not come out even.
    x, w = whole_numbers(9, 8, seed=0), whole_numbers(8, 20, seed=1)
    y, tile_products = product_by_tiles(x, w, tile=8)
    assert torch.equal(y, x @ w)
    with measure() as cost:
        x @ w
    # One row above 8, four columns short of 24: six matmuls of tiles run, and not even half of
    # their work is useful.
    assert tile_products == 2 * 1 * 3  # @predict
    assert round(cost.matmul_flops / (tile_products * 2 * 8**3), 2) == 0.47
    # In tiles of 64, with larger matrices, it looks like this. A side of 68 is 4 more than a tile,
    # and eight tiles are multiplied for the work of 1.2. Guess what smaller tiles change, and move
    # the slider.
    useful = figures.useful_share_by_size(tile=64)  # @inspect useful
    _, tile_products = product_by_tiles(torch.ones(68, 68), torch.ones(68, 68), 64)
    assert tile_products == 8  # @predict
    assert math.ceil(68 / 64) ** 3 == tile_products
    # So where sizes are multiples of the tile, no work is wasted. GPT-2 has 50 257 entries in its
    # vocabulary; people who train such a model often make room for 50 304. In tiles of 64 that is
    # no more work. In bf16, the rows of its output then begin at multiples of 128 bytes, which
    # is what [an A100 is fastest
    # with](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html).
    padded_vocabulary = 64 * math.ceil(GPT2_VOCABULARY / 64)
    assert padded_vocabulary == 50_304  # @predict
    assert 2 * padded_vocabulary % 128 == 0 < 2 * GPT2_VOCABULARY % 128
    # The same happens once more a level up, where [tiles come in
    # waves](#blocks_come_in_waves).


def fp32_gets_tensor_cores_on_request():  # M10.13
    """fp32 gets tensor cores on request.

    Which matmuls run on tensor cores? Those in bf16, fp16 and fp8 do so unasked, where the tensor
    cores have the format. fp32 numbers have to be shortened to
    [TF32](#tf32_is_for_computing_not_for_storing) first, which changes results, so PyTorch asks for
    permission.
    """
    before = torch.get_float32_matmul_precision()
    assert before == "highest"
    assert not torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision("high")
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision(before)
    assert allowed
    assert not torch.backends.cuda.matmul.allow_tf32
    # What is the permission worth? By the sheets a factor of 7.4 on an H100, and nothing on an RTX
    # 3090, where both formats have the same peak. On the H100 we recorded it was 7.3.
    gains = {
        card.name: card.dense_flops_per_second["tf32"] / card.dense_flops_per_second["fp32"]
        for card in (H100_SXM, RTX_3090)
    }  # @inspect gains
    assert [round(gain, 1) for gain in gains.values()] == [7.4, 1.0]
    peaks = recorded_machine("H100").peaks
    assert round(peaks["tf32"] / peaks["fp32"], 1) == 7.3
    if gpu_is_at_least(AMPERE):
        rates = {"fp32": matmul_flops_per_second(8192, torch.float32, "cuda")}
        torch.set_float32_matmul_precision("high")
        rates["tf32"] = matmul_flops_per_second(8192, torch.float32, "cuda")
        torch.set_float32_matmul_precision(before)
        rates["bf16"] = matmul_flops_per_second(8192, torch.bfloat16, "cuda")
        device = torch.cuda.get_device_name()  # @inspect device
        if device in ACCELERATORS:
            promised = accelerator_named(device).dense_flops_per_second
            pairs = {name: (rate, promised[name]) for name, rate in rates.items()}
            used = figures.achieved_and_promised(pairs, device)  # @timed @inspect used
            assert rates["bf16"] > 1.2 * rates["fp32"]  # @timed
    else:
        skipped = "no GPU here that knows TF32: the recording above is of one"  # @inspect skipped
    # So: allow it, unless your results need the last 13 bits.


def the_best_observed_rate_is_a_peak_for_any_machine():  # M10.14
    """The best observed rate is a peak for any machine.

    What do you divide by where no sheet promises anything? For the processor of a laptop you rarely
    find a peak in FLOP/s. Calibrate it instead: time some large matmuls and call the best rate
    *best observed*.
    """
    # One core of this machine, in fp32:
    peak = best_matmul_flops_per_second((512, 1024), torch.float32)  # @timed @inspect peak
    # Now you can compare other work with it. A running sum waits for each addition before the next,
    # and stores every result. A plain sum, which may add in any order, does more in a second.
    x = torch.rand(1000, 1000, generator=torch.Generator().manual_seed(0))

    def running_sums() -> Tensor:
        return x.cumsum(dim=1)

    assert torch.allclose(running_sums()[:, 999], x.sum(dim=1))
    rate = flops_per_second(running_sums)  # @timed @inspect rate
    assert share_of_peak(rate, peak) < 0.5  # @timed
    assert rate < flops_per_second(lambda: x.sum(dim=1))  # @timed
    # What is it worth? It contains the library, the threads and the heat of this machine. So mostly
    # it is lower than what a sheet would say, and a share of it is higher. Say its name with it. If
    # something beats it, that is no mistake of the division but news about the peak. The fastest
    # call of the H100 we recorded reached 78 % of what its sheet promises, at 16 384×16 384. (One
    # of ten calls; their median reached 68 %.)
    h100 = recorded_machine("H100")
    share = share_of_peak(h100.flops_per_second, H100_SXM.dense_flops_per_second[h100.dtype])
    assert round(share, 2) == 0.78  # @inspect share
    seconds = h100.readings["16384×16384"][1:]
    assert round(share * min(seconds) / statistics.median(seconds), 2) == 0.68
    # What we can do now: count the work of a model from its shapes, two FLOPs for each parameter
    # and token in the forward pass; measure a rate, warmed up and more than once; and compare it
    # with a peak of the same format. We saw large matmuls get some 80 % of an H100's, and small
    # ones run far slower than large ones here. The next chapter opens the GPU to see why.


def exercise_a_prompt_on_a_desk():  # M10.9 @exercise
    """Exercise: a prompt on a desk.

    A model with 8 billion parameters reads a prompt of 1000 tokens on an RTX 4090, in bf16, at half
    of the peak. The sheet says 165e12 FLOP/s. How long does that take? Write a number down before
    you look.
    """
    # Two FLOPs for each parameter and token, 16e12 in all, at half of 165e12 a second. How the
    # parameters are shared out makes no difference, so here they are one matrix.
    with measure() as prompt:
        torch.empty(1000, 80_000, device="meta") @ torch.empty(80_000, 100_000, device="meta")
    assert prompt.matmul_flops == 2 * 8e9 * 1000
    half_of_peak = 0.5 * RTX_4090.dense_flops_per_second["bf16"]
    seconds = prompt.matmul_flops / half_of_peak  # @inspect seconds
    assert round(seconds, 2) == 0.19


def exercise_twice_the_width():  # M10.4 @exercise
    """Exercise: twice the width.

    You make every layer of a model twice as wide and keep everything else. By which factor do the
    parameters of its feed-forward networks grow, and by which their FLOPs for a token?
    """

    def cost_of_width(D: int) -> tuple[int, int]:
        weights = [torch.empty(D, 4 * D, device="meta"), torch.empty(4 * D, D, device="meta")]
        with measure() as cost:
            torch.empty(1, D, device="meta") @ weights[0] @ weights[1]
        return sum(w.numel() for w in weights), cost.matmul_flops

    # Four times both: each matrix is twice as wide and twice as high. FLOPs per parameter stay 2.
    # (It is not quite four in the whole model, whose tables of the vocabulary only double.)
    narrow, wide = cost_of_width(512), cost_of_width(1024)  # @inspect narrow wide
    assert [after / before for before, after in zip(narrow, wide, strict=True)] == [4, 4]
