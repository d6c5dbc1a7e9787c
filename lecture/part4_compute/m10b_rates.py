"""Rates: what data sheets promise, which share of it arrives, and why."""

import itertools
import math
from dataclasses import replace

import torch
from einops import rearrange
from jaxtyping import Bool, Float
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from lecture.facts import (
    A100_CHIP,
    A100_GPU,
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
    Chip,
)
from lecture.lib.hardware import AMPERE, accelerator_named, gpu_is_at_least, mfu
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

    How fast is an accelerator? That depends on the width of the numbers. The sheets of NVIDIA's
    cards print a peak for each format; these are dense, that is, for matrices without agreed zeros.
    """
    # The sources: sheets of the [RTX
    # 3090](https://www.nvidia.com/content/PDF/nvidia-ampere-ga-102-gpu-architecture-whitepaper-v2.pdf),
    # [A100](https://www.nvidia.com/content/dam/en-zz/Solutions/Data-Center/a100/pdf/nvidia-a100-datasheet-us-nvidia-1758950-r4-web.pdf),
    # [H100](https://resources.nvidia.com/en-us-tensor-core/nvidia-tensor-core-gpu-datasheet),
    # [H200](https://www.nvidia.com/en-us/data-center/h200/) and, as an eighth of a box of eight,
    # [B200](https://www.nvidia.com/en-us/data-center/dgx-b200/). Not every sheet has every format.
    cards = [RTX_3090, A100_SXM, H100_SXM, H200, B200]
    peaks = figures.promised(cards)  # @inspect peaks
    # Among the formats that tensor cores multiply, half the bits are twice the rate: TF32 takes 32
    # bits of memory, bf16 16, fp8 8.
    h100, a100 = H100_SXM.dense_flops_per_second, A100_SXM.dense_flops_per_second
    assert h100["fp8"] == 2 * h100["bf16"]
    assert a100["bf16"] == 2 * a100["tf32"] == 312e12
    # fp32 proper is apart: no tensor core multiplies it. An A100 gains a factor of 16 by bf16, an
    # RTX 3090, made for games, a factor of 2.
    rtx_3090 = RTX_3090.dense_flops_per_second
    assert a100["bf16"] / a100["fp32"] == 16
    assert round(rtx_3090["bf16"] / rtx_3090["fp32"], 1) == 2.0
    # Many sheets print twice these rates, "with sparsity"; [the section after
    # next](#two_of_every_four_weights_are_zero) shows of what.
    assert H100_SXM.sparse_flops_per_second["bf16"] == 2 * h100["bf16"] == 1979e12
    # The H200 promises the rates of the H100. What was improved is its memory.
    assert round(H200.memory_bytes_per_second / H100_SXM.memory_bytes_per_second, 2) == 1.43
    # A program can look its card up by the name that PyTorch reports. A name that only resembles a
    # known one has no peak: an RTX 3090 Ti is another card.
    assert accelerator_named("NVIDIA H100 80GB HBM3").name == "H100 SXM"
    with refused(LookupError) as error:
        accelerator_named("NVIDIA GeForce RTX 3090 Ti")
    assert "no data sheet" in error.message


def peaks_from_clocks(chip: Chip) -> tuple[float, float]:
    """Return FLOP/s in fp32 and in bf16: units times work per tick times ticks per second."""
    fp32 = 2 * chip.fp32_units * chip.fp32_hertz
    bf16 = 2 * chip.tensor_cores * chip.tensor_core_multiply_adds * chip.tensor_core_hertz
    return fp32, bf16


def a_peak_is_units_times_clock():  # M10.7
    """A peak is units times clock.

    Where does the number on a data sheet come from? Nobody measured it. A chip has so many units;
    each does so many multiply-adds, of two FLOPs, in one tick of the clock; and the clock has a
    highest frequency.
    """
    rebuilt = {
        "A100": (*peaks_from_clocks(A100_CHIP), A100_SXM),
        "H100": (*peaks_from_clocks(H100_SXM_CHIP), H100_SXM),
        "RTX 3090": (*peaks_from_clocks(RTX_3090_CHIP), RTX_3090),
    }
    for fp32, bf16, card in rebuilt.values():
        assert math.isclose(fp32, card.dense_flops_per_second["fp32"], rel_tol=0.003)
        assert math.isclose(bf16, card.dense_flops_per_second["bf16"], rel_tol=0.003)
    # An A100 has 432 tensor cores of 256 multiply-adds, at 1.41 GHz. The fp32 of an RTX 3090 comes
    # from 10 496 units of one, at 1.695 GHz.
    assert round(rebuilt["A100"][1] / 1e12, 1) == 311.9
    assert round(rebuilt["RTX 3090"][0] / 1e12, 2) == 35.58
    # An H100 is no exception, but needs two clocks: its tensor cores are rated at 1.83 GHz, its
    # other units at 1.98 GHz.
    # So a peak is reached when every unit is busy in every tick, and the chip holds its highest
    # clock. Under full load it often does not, for want of power. If the clock falls to 1.4 GHz,
    # say, tensor cores that never rest reach 77 %.
    assert round(100 * 1.4e9 / H100_SXM_CHIP.tensor_core_hertz) == 77


@shape_checked
def two_of_every_four(w: Float[Tensor, "K D"]) -> Bool[Tensor, "K D"]:
    """Mark the two largest, by absolute value, of every four weights in a row."""
    groups = rearrange(w.abs(), "K (groups four) -> K groups four", four=4)
    largest = groups.topk(2, dim=2).indices
    kept = torch.zeros_like(groups, dtype=torch.bool).scatter(2, largest, True)
    return rearrange(kept, "K groups four -> K (groups four)")


def two_of_every_four_weights_are_zero():  # M10.8
    """In 2:4 sparsity, two of every four weights are zero.

    What has to be zero for the larger number on the sheet? Not just half of the weights: two of
    every four neighbours, so that the hardware knows how many there are without looking.
    """
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(3, 8, generator=generator)
    kept = two_of_every_four(w)
    groups = figures.groups_of_four(w, kept)  # @inspect groups
    in_each_group = rearrange(kept, "K (groups four) -> K groups four", four=4).sum(dim=2)
    assert in_each_group.tolist() == [[2, 2], [2, 2], [2, 2]]
    # Usually the larger two are kept. Of weights from a normal distribution that is half of them,
    # and, being the larger ones, 87 % of the sum of their squares.
    large = torch.randn(512, 512, generator=generator)
    mask = two_of_every_four(large)
    assert mask.sum() * 2 == mask.numel() == 512 * 512
    squares = large.square()
    kept_share = (squares * mask).sum() / squares.sum()  # @inspect kept_share
    assert 0.86 < kept_share < 0.875
    # Ordinary training cannot use it. Its weights are not zero to begin with, and zeros that fall
    # at random rarely fit. Of the 16 ways to mark weights in a group, 11 have at most two to keep.
    fitting = sum(sum(ways) <= 2 for ways in itertools.product((0, 1), repeat=4))
    assert fitting == 1 + 4 + 6
    # If each weight is zero with probability one half, a group fits 11 times in 16, and all sixteen
    # groups in a row of 64 weights once in 400 times.
    assert round((16 / fitting) ** (64 / 4)) == 401
    assert large.count_nonzero() == large.numel()


@shape_checked
def kept_and_places(
    w: Float[Tensor, "K D"], kept: Bool[Tensor, "K D"]
) -> tuple[Float[Tensor, "K half"], list[list[int]]]:
    """Return the kept weights without the zeros between them, and the columns they came from."""
    places = [row.nonzero().flatten().tolist() for row in kept]
    return torch.stack([row[columns] for row, columns in zip(w, places, strict=True)]), places


def zeros_save_work_only_if_they_are_skipped():  # M10.8
    """Zeros save work only if they are skipped.

    Why does hardware have to know where the zeros are? Because a multiplication by zero costs what
    any multiplication costs.
    """
    generator = torch.Generator().manual_seed(0)
    w = torch.randn(128, 64, generator=generator)
    x = torch.randn(64, generator=generator)
    kept = two_of_every_four(w)
    with measure() as dense:
        y = (w * kept) @ x
    # The clock does not see the zeros either. A matrix of zeros only is multiplied as slowly:
    zeros, numbers = torch.zeros(512, 512), torch.randn(512, 512, generator=generator)
    zeros_seconds = time_call(lambda: zeros @ numbers).best_seconds  # @timed @inspect zeros_seconds
    seconds = time_call(lambda: numbers @ numbers).best_seconds  # @timed @inspect seconds
    assert 0.5 < zeros_seconds / seconds < 2  # @timed
    # With the weights packed, each row picks the 32 numbers of x that it needs: half the FLOPs,
    # which is all that the doubled rate means. Results arrive in half the time, and nobody does
    # more FLOPs per second.
    packed, places = kept_and_places(w, kept)
    with measure() as sparse:
        same_y = torch.stack(
            [values @ x[columns] for values, columns in zip(packed, places, strict=True)]
        )
    assert torch.allclose(same_y, y, atol=1e-5)  # another order of additions
    assert sparse.matmul_flops * 2 == dense.matmul_flops
    # The packed weights take half the memory and the places two bits each: for bf16, 9 bytes in
    # place of 16.
    assert packed.shape == (128, 32)
    dense_bits = 16 * w.numel()
    sparse_bits = 16 * packed.numel() + 2 * sum(map(len, places))
    assert sparse_bits / dense_bits == 9 / 16
    # It is another matrix, though. 13 % of the squares were cut, and the error is the root of that,
    # more than a third of the results. Networks that are used this way are [trained
    # again](https://arxiv.org/abs/2104.08378) after half of their weights were cut.
    full_y = w @ x
    error = ((y - full_y).norm() / full_y.norm()).item()  # @inspect error
    assert round(error, 1) == round(math.sqrt(0.13), 1) == 0.4


def utilization_is_useful_over_promised():  # M10.9
    """Utilization is useful over promised.

    How much of a peak arrives? *Model FLOP/s utilization* divides the rate of useful work by the
    rate that is promised for this device and this format.
    """
    # Owners of an RTX 3090 and of an H100 have [published their
    # readings](https://github.com/zzc0721/torch-performance-test-data): square matmuls of random
    # numbers, timed after ten calls that do not count. Here are the best of them in fp32.
    readings = (
        (RTX_3090, RTX_3090_WARM_FLOPS_PER_SECOND),
        (H100_SXM, H100_WARM_FLOPS_PER_SECOND),
    )
    rates = {
        card.name: (reading["fp32"], card.dense_flops_per_second["fp32"])
        for card, reading in readings
    }
    in_fp32 = figures.achieved_and_promised(rates, "One product in fp32")  # @inspect in_fp32
    assert [round(mfu(*pair), 2) for pair in rates.values()] == [0.7, 0.77]
    # These are single products. Whole training runs [get less](#utilization_decides_the_bill), as
    # cards wait for each other's data, for their own memory, and for the program.
    # [PaLM](https://arxiv.org/abs/2204.02311) reports 46 %, [Llama 3
    # 405B](https://arxiv.org/abs/2407.21783) 38 to 43 %. Losses multiply. Say that of each second
    # 0.2 go to communication and 0.1 to idling, and that products run at 0.7 of the peak: 0.49 are
    # left.


def far_above_the_peak_is_a_mistake():  # M10.10 E8
    """Far above the peak is a mistake.

    What if a measurement beats the peak? Owners of an RTX 3090 read 76.7e12 FLOP/s in bf16.
    """
    rate = RTX_3090_WARM_FLOPS_PER_SECOND["bf16"]
    # A common mistake is to divide that by the number that was at hand, the fp32 peak, and to go on
    # with an MFU of 2.15. Nothing runs at 215 % of its peak: check the denominator. This lecture's
    # function refuses to return it.
    promises = RTX_3090.dense_flops_per_second
    with refused(ValueError) as error:
        mfu(rate, promises["fp32"])  # @stepover
    assert "an MFU of 2.15 is impossible" in error.message
    # With the peak for bf16 it is 1.08, and that is no mistake. The sheet multiplies by a clock
    # that it calls boost, 1.695 GHz, and cards for games run above it while power and heat allow.
    # At 1.83 GHz the peak is what was read.
    assert round(mfu(rate, promises["bf16"]), 2) == 1.08
    faster = replace(RTX_3090_CHIP, tensor_core_hertz=1.83e9)
    assert math.isclose(peaks_from_clocks(faster)[1], rate, rel_tol=0.01)
    # So far above 1 is a mistake, and a little above 1 asks for the clock. The white paper also has
    # 142e12: for fp16 with sums in fp16, which bf16 does not have, and for bf16 with sparsity,
    # which this product does not have. Divided by that it would be 0.54.
    fp16_sums = 2 * peaks_from_clocks(RTX_3090_CHIP)[1]
    assert round(fp16_sums / 1e12) == RTX_3090.sparse_flops_per_second["bf16"] / 1e12 == 142
    assert round(mfu(rate, fp16_sums), 2) == 0.54


def a_cold_call_hides_in_a_mean():  # M10.11 E14
    """A cold call hides in a mean.

    Does bf16 bring what its peak promises, 14.8 times fp32 on an H100? [A lecture at
    Stanford](https://github.com/stanford-cs336/spring2025-lectures) has published its recorded run
    of the large product of this chapter: 0.163 seconds in fp32 and 0.031 in bf16, the mean of five
    calls. That is 5.3 times.
    """
    with measure() as cost:
        torch.empty(16_384, 32_768, device="meta") @ torch.empty(32_768, 8192, device="meta")
    assert cost.matmul_flops == 2**43
    peaks, means = H100_SXM.dense_flops_per_second, H100_MEAN_OF_FIVE_SECONDS
    rates = {
        f"{dtype}, {way}": (rate, peaks[dtype])
        for dtype in means
        for way, rate in (
            ("mean of five", cost.matmul_flops / means[dtype]),
            ("warm", H100_WARM_FLOPS_PER_SECOND[dtype]),
        )
    }
    shares = {name: round(mfu(*pair), 2) for name, pair in rates.items()}  # @inspect shares
    by_format = figures.achieved_and_promised(rates, "On an H100")  # @inspect by_format
    assert shares["fp32, mean of five"] == 0.81
    assert shares["bf16, mean of five"] == 0.29
    # A common mistake is to blame the sparsity that the sheet assumes. But 0.29 is of the dense
    # peak. Another is to conclude that a faster format uses less of its peak. Warm, another H100
    # reaches 0.81 in bf16 as well.
    assert shares["bf16, warm"] == 0.81
    # In the program, fp32 had run once before its clock was started, and bf16 had not. If four of
    # its five calls ran at the warm rate, the first took 0.11 seconds, ten times as long: a library
    # was loaded, kernels were chosen. So run it once, throw that reading away, and look at all
    # readings, not at their mean.
    warm_seconds = cost.matmul_flops / H100_WARM_FLOPS_PER_SECOND["bf16"]
    first_seconds = 5 * means["bf16"] - 4 * warm_seconds  # @inspect warm_seconds first_seconds
    assert round(first_seconds, 2) == 0.11
    assert round(first_seconds / warm_seconds) == 10


def small_products_are_slow_in_every_format():  # M10.11
    """Small products are slow in every format.

    What does this machine reach? Here products are timed in two formats and at sizes that double.
    What is timed runs on one core, so that no thread waits for another. The rates differ from run
    to run and from machine to machine: they lie in a file of their own beside the document, and the
    page names at its end on which machine they were measured.
    """
    sizes = [4, 8, 16, 32, 64, 128, 256, 512]
    rates = {
        "fp32": {n: matmul_flops_per_second(n, torch.float32) for n in sizes},
        "bf16": {n: matmul_flops_per_second(n, torch.bfloat16) for n in sizes},
    }  # @timed
    by_size = figures.rate_by_size(rates)  # @timed @inspect by_size
    # Small products are all launch and no work.
    assert rates["fp32"][512] > 4 * rates["fp32"][4]  # @timed
    assert max(rates["bf16"].values()) > 4 * rates["bf16"][4]  # @timed
    # Which format is faster depends on the processor. Some multiply bf16 in instructions of their
    # own, others turn every number into fp32 first and lose by it. No sheet of ours says which this
    # one does; the curves do.


@shape_checked
def loss_of_chain(
    x: Float[Tensor, "B D"], weights: list[Float[Tensor, "D D"]], recompute: bool
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

    What is useful work? A common mistake is to define utilization as FLOPs done over FLOPs
    available. There are ways to do more FLOPs without training faster. [One saves
    memory](#what_is_thrown_away_is_computed_again): results inside a layer are thrown away on the
    way forward, and computed again on the way back.
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
    # The gradients are the same. Per parameter and token it took 2 FLOPs more: 2 forward, 2 once
    # more, 4 backward.
    assert all(torch.equal(*pair) for pair in zip(*gradients.values(), strict=True))
    assert flops == {False: 2 + 4, True: 2 + 2 + 4}
    # *Model FLOPs* are what the definition of the model asks for, and *hardware FLOPs* what was
    # executed. So there is a second ratio, *hardware FLOP/s utilization* or HFU. Here it is larger
    # by a third. It says how busy the device is; MFU says how fast the training is.
    hfu_over_mfu = flops[True] / flops[False]
    assert hfu_over_mfu == 4 / 3
    # The authors of [PaLM](https://arxiv.org/abs/2204.02311) report both: 57.8 % beside 46.2 %.
    # Dividing by their HFU would promise a training a quarter faster than it was.
    assert round(PALM_HFU / PALM_MFU, 2) == 1.25


def tensor_cores_multiply_tiles():  # M10.13
    """Tensor cores multiply tiles.

    What is a tensor core? A unit that multiplies small matrices in one go. In an A100 each of the
    432 does 256 multiply-adds per tick, where each of the 6912 ordinary units does one.
    """
    chip = A100_CHIP
    assert chip.tensor_cores * chip.tensor_core_multiply_adds / chip.fp32_units == 16
    # A large product has to be cut into tiles for them, and zeros fill up what does not come out
    # even.
    x, w = whole_numbers(9, 8, seed=0), whole_numbers(8, 20, seed=1)
    y, tile_products = product_by_tiles(x, w, tile=8)
    assert torch.equal(y, x @ w)
    with measure() as cost:
        x @ w
    # One row above 8, four columns short of 24: of the work in six products of tiles, not even half
    # is useful.
    assert tile_products == 2 * 1 * 3
    executed_flops = tile_products * 2 * 8**3
    assert round(cost.matmul_flops / executed_flops, 2) == 0.47
    # In tiles of 64, with larger matrices, it looks like this.
    shares = {n: (n / (64 * math.ceil(n / 64))) ** 3 for n in range(16, 516, 4)}
    useful = figures.useful_share_by_size(shares)  # @inspect useful
    # A side of 68 is 4 more than a tile, and eight tiles are multiplied for the work of one.
    _, tile_products = product_by_tiles(torch.ones(68, 68), torch.ones(68, 68), 64)
    assert tile_products == 8
    assert math.isclose(shares[68], 68**3 / (tile_products * 64**3))
    # So sizes are best multiples of a large power of two. GPT-2 has 50 257 entries in its
    # vocabulary; whoever trains such a model often makes room for 50 304. In tiles that is no more
    # work. In bf16, rows of scores then begin at multiples of 128 bytes, which is what [an A100 is
    # fastest with](https://docs.nvidia.com/deeplearning/performance/dl-performance-matrix-multiplication/index.html).
    padded_vocabulary = 64 * math.ceil(GPT2_VOCABULARY / 64)
    assert padded_vocabulary == 50_304
    assert 2 * padded_vocabulary % 128 == 0
    # The same happens once more a level up, as *wave quantization*. An A100 has 108
    # multiprocessors, each with four tensor cores. Of 109 equal pieces of work 108 run at once, and
    # then one alone.
    assert chip.tensor_cores == 4 * A100_GPU.multiprocessors
    pieces = A100_GPU.multiprocessors + 1
    rounds = math.ceil(pieces / A100_GPU.multiprocessors)
    assert round(pieces / (rounds * A100_GPU.multiprocessors), 3) == 0.505


def fp32_gets_tensor_cores_on_request():  # M10.13
    """fp32 gets tensor cores on request.

    Which products run on tensor cores? Those in bf16, fp16 and fp8 do so unasked. fp32 numbers
    have to be shortened to [TF32](#tf32_is_for_computing_not_for_storing) first, which changes
    results, so PyTorch asks for permission.
    """
    before = torch.get_float32_matmul_precision()
    assert before == "highest"
    assert not torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision("high")
    allowed = torch.backends.cuda.matmul.allow_tf32
    torch.set_float32_matmul_precision(before)
    assert allowed
    assert not torch.backends.cuda.matmul.allow_tf32
    # What is the permission worth? By the sheets a factor of 8 on an A100, 7.4 on an H100, and
    # nothing on an RTX 3090, where both formats have the same peak.
    gains = {}
    for card in (A100_SXM, H100_SXM, RTX_3090):
        peaks = card.dense_flops_per_second
        gains[card.name] = round(peaks["tf32"] / peaks["fp32"], 1)  # @inspect gains
    assert gains == {"A100 SXM": 8.0, "H100 SXM": 7.4, "RTX 3090": 1.0}
    if gpu_is_at_least(AMPERE):
        rates = {"fp32": matmul_flops_per_second(8192, torch.float32, "cuda")}
        torch.set_float32_matmul_precision("high")
        rates["tf32"] = matmul_flops_per_second(8192, torch.float32, "cuda")
        torch.set_float32_matmul_precision(before)
        rates["bf16"] = matmul_flops_per_second(8192, torch.bfloat16, "cuda")
        device = torch.cuda.get_device_name()  # @inspect device
        if device in ACCELERATORS:
            peaks = accelerator_named(device).dense_flops_per_second
            pairs = {name: (rate, peaks[name]) for name, rate in rates.items() if name in peaks}
            shares = {name: mfu(*pair) for name, pair in pairs.items()}  # @timed @inspect shares
            used = figures.achieved_and_promised(pairs, device)  # @timed @inspect used
            assert rates["bf16"] > 1.2 * rates["fp32"]  # @timed
    else:
        skipped = "no GPU here that knows TF32: rates were not measured"  # @inspect skipped


def the_best_observed_rate_is_a_peak_for_any_machine():  # M10.14
    """The best observed rate is a peak for any machine.

    What to divide by, where no sheet promises anything? For the processor of a laptop one rarely
    finds a peak in FLOP/s. It can be calibrated instead: time some large products and call the
    best rate *best observed*.
    """
    # One core of this machine, in fp32:
    peak = best_matmul_flops_per_second((512, 1024), torch.float32)  # @timed @inspect peak
    # Against it other work can be put. A running sum has to wait for each addition before the next,
    # and shows it.
    x = torch.rand(1000, 1000, generator=torch.Generator().manual_seed(0))

    def running_sums() -> Tensor:
        return x.cumsum(dim=1)

    assert torch.allclose(running_sums()[:, 999], x.sum(dim=1))
    rate = flops_per_second(running_sums)  # @timed @inspect rate
    assert mfu(rate, peak) < 0.5  # @timed
    # What it is worth: it contains the library, the threads and the heat of this machine, so it is
    # lower than what a sheet would say, and an MFU against it is higher. It must carry its name.
    # And a better observation may come along. Then an MFU above 1 is no mistake of the division but
    # news about the peak.
    #
    # On a clock by which every call takes a second, the rate of the sums is their million of
    # additions, and the best of two sizes is the larger.
    ticking = itertools.count().__next__
    assert flops_per_second(running_sums, clock=ticking) == 1000 * 1000
    observed = best_matmul_flops_per_second((9, 4), torch.float32, clock=ticking)
    assert observed == 2 * 9**3
    # This chapter in short: work is counted from shapes, two FLOPs for each parameter and token on
    # the way forward. A rate is measured, warmed up and more than once. Utilization compares it
    # with a peak, which has to be that of the same format.
