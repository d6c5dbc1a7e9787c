"""Inference: what is different when a model is only used, and weights in a few bits."""

import math

import einops
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from lecture.facts import H100_SXM
from lecture.lib.intensity import intensity_of, work_of, work_of_all_layers
from lecture.lib.refused import refused
from lecture.lib.rounding import packed, quantized, relative_error
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.timing import time_call
from lecture.lib.transformer import LayerCache, TransformerConfig, TransformerLM
from lecture.part7_after import m26_figures as figures
from trace.costs import measure


def layers_of_gelu(L: int) -> nn.Sequential:  # @stepover
    """Stack L linear layers of width 64, each with GELU behind it."""
    layers = [layer for _ in range(L) for layer in (nn.Linear(64, 64, False), nn.GELU())]
    return nn.Sequential(*layers)


def using_a_model_needs_no_way_back():  # M26.1
    """Using a model needs no way back.

    What falls away when a model is only used? The way back, and with it gradients, the optimizer's
    state, and everything that was kept for them.
    """
    model, x = layers_of_gelu(10), torch.ones(32, 64)
    with measure() as training:
        loss = model(x).sum()
        while_training = training.live_bytes["activations"]
        loss.backward()
    with torch.inference_mode(), measure() as inference:
        model(x)
    # Of 6 FLOPs for each parameter and token 2 are left. Here it is a little more than a third, as
    # training had to compute no gradient of x.
    parameters = sum(weight.numel() for weight in model.parameters())
    assert inference.matmul_flops == 2 * 32 * parameters
    assert round(training.matmul_flops / inference.matmul_flops, 1) == 2.9
    # In training both results of each layer wait for the way back, the product and its GELU, except
    # for the last GELU, which a sum does not need. In inference only what is being worked on is
    # alive: two tensors, [whatever the depth](#inference_keeps_the_layer_at_hand).
    layer_bytes = 4 * 32 * 64
    assert while_training == (2 * 10 - 1) * layer_bytes + 4  # 4 are the loss
    assert inference.peak_bytes == 2 * layer_bytes
    peaks = {}
    for L in (5, 20):
        deeper = layers_of_gelu(L)
        with torch.inference_mode(), measure() as cost:
            deeper(x)
        peaks[L] = cost.peak_bytes  # @inspect peaks
    assert peaks[5] == peaks[20] == 2 * layer_bytes
    # And nothing is left at the end, where training has its gradients.
    assert training.live_bytes["gradients"] == 4 * parameters
    assert inference.live_bytes["gradients"] == inference.live_bytes["activations"] == 0


def a_model_that_writes_remembers():  # M26.1 E117
    """A model that writes remembers.

    Does inference keep nothing, then? A common mistake is to say so. For one pass it is true. But
    whoever writes token by token needs keys and values of all earlier tokens, in all layers. They
    are kept, so that [each token is read once](#a_cache_reads_each_token_once), and this *cache*
    grows with the text.
    """
    L, D, T = 3, 16, 8
    config = TransformerConfig(
        vocabulary=64, context=T, layers=L, width=D, heads=2, feed_forward=48
    )
    generator = torch.Generator().manual_seed(0)
    model = TransformerLM(config, generator=generator)  # @stepover
    tokens = torch.randint(64, (1, T), generator=generator)
    caches = [LayerCache() for _ in range(L)]  # @stepover
    cache_bytes = []
    for token in tokens.T:
        with torch.inference_mode(), measure() as step:
            logits = model(token[None], caches)  # @stepover
        cache_bytes.append(sum(cache.key.nbytes + cache.value.nbytes for cache in caches))
    # A key and a value of D numbers, in each layer, for each token.
    assert cache_bytes == [2 * 4 * D * L * seen for seen in range(1, T + 1)]  # @inspect cache_bytes
    assert cache_bytes[-1] == 3072
    # Without it, the last of eight tokens needs a pass over all eight: the same result, and eight
    # times the work.
    with torch.inference_mode(), measure() as again:
        logits_again = model(tokens)  # @stepover
    assert torch.allclose(logits[0, -1], logits_again[0, -1], atol=1e-5)
    assert again.matmul_flops == 8 * step.matmul_flops


def eval_does_not_stop_the_recording():  # M26.1
    """eval does not stop the recording.

    How does one say that there will be no way back? There are two switches, and they do different
    things.
    """
    model = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Dropout(0.5))
    x = torch.ones(32, 64)
    # `eval` is for layers that behave differently in use. Dropout, which zeroes a part of the
    # numbers in training, lets everything pass.
    torch.manual_seed(0)
    assert 0.4 < (model.train()(x) == 0).float().mean() < 0.6
    assert (model.eval()(x) != 0).all()
    # A common mistake is to take it for the other switch. Autograd goes on recording, and keeps all
    # activations for as long as somebody holds the result. Here three batches are scored.
    kept_bytes = {}
    for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
        with mode(), measure() as cost:
            results = [model(x) for _ in range(3)]
        kept_bytes[mode.__name__] = cost.allocated_bytes - cost.freed_bytes  # @inspect kept_bytes
        assert results[2].requires_grad == (mode is torch.enable_grad)
    # Recorded, each keeps the product under the GELU beside its result.
    result_bytes = 32 * 128 * 4
    assert list(kept_bytes.values()) == [3 * 2 * result_bytes, 3 * result_bytes, 3 * result_bytes]
    # `inference_mode` goes further than `no_grad`: what is made in it can be part of no way back.
    w = torch.ones((), requires_grad=True)
    assert results[0].is_inference()
    with refused(RuntimeError) as error:
        (w * results[0]).sum().backward()
    assert error.message


def decode(model: TransformerLM, tokens: Tensor, cached: bool) -> Tensor:  # @stepover
    """Find the logits after each token as if it had just been written; return the last."""
    caches = [LayerCache() for _ in model.blocks] if cached else None
    with torch.inference_mode(), without_checks():
        for seen in range(1, tokens.shape[1] + 1):
            new = tokens[:, seen - 1 : seen] if cached else tokens[:, :seen]
            logits = model(new, caches)
    return logits[0, -1]


def a_cache_saves_time():  # M26.1
    """A cache saves time.

    Is it worth its memory? Without the cache, decoding T tokens passes 1 + 2 + ... + T of them
    through the model. With it, T.
    """
    T = 24
    config = TransformerConfig(
        vocabulary=64, context=T, layers=2, width=64, heads=2, feed_forward=172
    )
    generator = torch.Generator().manual_seed(0)
    model = TransformerLM(config, generator=generator)  # @stepover
    tokens = torch.randint(64, (1, T), generator=generator)
    with measure() as with_cache:
        last = decode(model, tokens, cached=True)
    with measure() as without:
        same_last = decode(model, tokens, cached=False)
    assert torch.allclose(last, same_last, atol=1e-4)
    # Per token of a pass the matmuls with weights cost the same, so their FLOPs are (T + 1)/2 times
    # as many; attention grows faster.
    assert without.matmul_flops > (T + 1) / 2 * with_cache.matmul_flops
    # On a clock it is less than that: passes of a single token wait for their launches and for the
    # weights, and a longer pass waits once.
    seconds = {}
    for cached in (True, False):
        timing = time_call(lambda cached=cached: decode(model, tokens, cached), repeats=2)  # @timed
        seconds[cached] = timing.best_seconds  # @timed @inspect seconds
    assert seconds[False] < (T + 1) / 2 * seconds[True]  # @timed


def writing_reads_every_weight_for_a_token():  # M26.1
    """Writing reads every weight for each token.

    What does a written token wait for? Its products are of a matrix and a vector, and those [wait
    for memory](#a_matrix_times_a_vector_uses_each_weight_once). So what counts is how many bytes
    the weights have.
    """
    one = work_of_all_layers(tokens=1)  # bf16; a model in the shape of GPT-2 XL
    assert round(one.intensity, 2) == 1.0
    assert round(intensity_of(H100_SXM)) == 295
    # In bf16 the limit on an H100 is [818 tokens a
    # second](#a_written_token_costs_a_walk_through_all_weights). With fewer bits for each weight,
    # and the arithmetic as before, it rises in proportion, as long as weights are nearly all that
    # is moved.
    weights = one.flops // 2
    assert round(one.moved_bytes / (2 * weights), 3) == 1.001
    per_second = {
        bits: H100_SXM.memory_bytes_per_second / (weights * bits / 8) for bits in (32, 16, 8, 4)
    }  # @inspect per_second
    assert [round(rate) for rate in per_second.values()] == [409, 818, 1637, 3274]
    # And so does the size of the largest model whose weights fit into one of 80 GB.
    billions = [round(H100_SXM.memory_bytes / (bits / 8) / 1e9) for bits in per_second]
    assert billions == [21, 43, 85, 170]
    # Training has no such gain in sight. It reads a weight once for thousands of tokens, so the
    # bytes of weights hardly matter, and it has to change them, by little at a time.
    x, w = torch.ones(4096, 512, device="meta"), torch.ones(512, 512, device="meta")
    many = work_of(lambda: x @ w)
    assert many.moved_bytes == (8 + 1 + 8) * 4 * w.numel()  # x and y are 8 times as large as w


@shape_checked
def restored(
    integers: Int[Tensor, "rows blocks block"], scales: Float[Tensor, "rows blocks 1"]
) -> Float[Tensor, "rows columns"]:  # @stepover
    """Multiply integers by their scales."""
    return einops.rearrange(integers * scales, "rows blocks block -> rows (blocks block)")


def a_scale_makes_weights_integers():  # M26.2
    """A scale makes weights integers.

    How is a weight stored in 8 bits? As an integer from −127 to 127, times a number that it shares
    with others: the *scale*. This is *quantization*, and it is done once, after the training.
    """
    w = torch.tensor([[0.5, -1.27, 0.333, 0.0], [30.0, 0.2, -63.5, 1.0]])
    integers, scales = quantized(w, bits=8, block=4)  # @inspect integers scales
    # For each row the largest number gets 127, so its scale is a 127th of it.
    assert torch.allclose(scales.flatten(), torch.tensor([0.01, 0.5]))
    assert integers[0].tolist() == [[50, -127, 33, 0]]
    assert integers[1].tolist() == [[60, 0, -127, 2]]
    # Rounding is off by at most half a scale. Beside the −63.5 a 0.2 is nothing.
    back = restored(integers, scales)  # @inspect back
    assert ((back - w).abs() <= scales[:, 0] / 2 + 1e-6).all()
    assert (back[1, 1], back[1, 3]) == (0, 1)
    # A quarter of fp32's bytes, and four for each row: with 256 columns 8.125 bits for each weight.
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    with measure() as cost:
        integers, scales = quantized(w, bits=8, block=256)
    kept_bytes = cost.allocated_bytes - cost.freed_bytes
    assert kept_bytes == 256 * 256 + 256 * 4
    assert 8 * kept_bytes / w.numel() == 8.125
    assert (integers.abs().amax(dim=(1, 2)) == 127).all()


def each_bit_halves_the_error():  # M26.2
    """Each bit halves the error.

    How many bits are enough? A random matrix, random inputs, and what comes out.
    """
    generator = torch.Generator().manual_seed(0)
    w, x = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = x.double() @ w.T.double()
    errors = {}
    for name, block in (("a scale per row of 256", 256), ("a scale per 32", 32)):
        errors[name] = {}
        for bits in range(2, 9):
            y = x @ restored(*quantized(w, bits, block)).T
            errors[name][bits] = relative_error(y, exact)
    error_by_bits = figures.error_by_bits(errors)  # @inspect error_by_bits
    by_row, by_block = errors.values()
    # With 2 bits there are −1, 0 and 1, and four fifths are error.
    found = [round(error, 2) for error in by_row.values()]
    assert found == [0.81, 0.29, 0.13, 0.06, 0.03, 0.01, 0.01]
    assert round(by_row[8], 3) == 0.007
    assert round(by_row[4], 3) == 0.126
    assert round(by_block[4], 3) == 0.097
    # One bit more has twice as many integers, or nearly: 7 become 15, 63 become 127.
    assert round(by_row[5] / by_row[4], 2) == round(7 / 15, 2)
    assert round(by_row[8] / by_row[7], 2) == round(63 / 127, 2)
    # How large is the error? Rounding is off by anything up to half a scale; the root of the mean
    # square of that is the scale divided by $\sqrt{12}$. The scale is the largest number of the row
    # divided by 127, and in a row of 256 normal numbers the largest is about 3.
    largest = w.abs().amax(dim=1).square().mean().sqrt().item()  # @inspect largest
    assert math.isclose(by_row[8], largest / 127 / math.sqrt(12), rel_tol=0.02)
    # The largest of 32 numbers is smaller, and so are the scale and the error. At 4 bits that is
    # worth the bytes of the additional scales.
    assert 0.7 < by_block[4] / by_row[4] < 0.8


def an_outlier_costs_its_block():  # M26.2
    """An outlier costs its block.

    What if one weight is a hundred times as large as the others? Integers are spread evenly up to
    the largest, and for the others few are left.
    """
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    w[0, 0] = 100.0
    others = w.abs() < w.max()
    errors, spoiled, scale_bits = {}, {}, {}
    for name, rows, block in (("whole", 1, 65_536), ("row", 256, 256), ("32", 256, 32)):
        integers, scales = quantized(w.view(rows, -1), 8, block)
        found = restored(integers, scales).view(256, 256)
        errors[name] = relative_error(found[others], w[others].double())
        spoiled[name] = int(((found - w).abs() > 0.05).sum())
        scale_bits[name] = 8 * scales.half().nbytes / w.numel()
    # With one scale for the whole matrix all of it suffers: most weights are off by more than 0.05.
    # With one for each row, this happens in one row of 256; with one for every 32 weights, in an
    # eighth of that row.
    assert math.isclose(errors["whole"], 100 / 127 / math.sqrt(12), rel_tol=0.02)
    assert errors["32"] < 0.5 * errors["row"] < 0.01 < errors["whole"]
    assert spoiled["whole"] > 0.8 * w.numel()  # @inspect errors spoiled
    assert 0.8 * 256 < spoiled["row"] <= 256
    assert 0.8 * 32 < spoiled["32"] <= 32
    # Smaller blocks cost memory: with scales of 16 bits, half a bit for each weight.
    assert [round(bits, 4) for bits in scale_bits.values()] == [0.0002, 0.0625, 0.5]


@shape_checked
def unpacked(pairs: UInt8[Tensor, "rows half"]) -> Int[Tensor, "rows columns"]:  # @stepover
    """Take them out again; 8 to 15 stand for −8 to −1."""
    nibbles = torch.stack([pairs & 0xF, pairs >> 4], dim=2).flatten(1).to(torch.int8)
    return torch.where(nibbles >= 8, nibbles - 16, nibbles)


def four_bits_go_in_pairs():  # M26.2
    """Four bits go in pairs.

    The smallest thing a memory hands out is a byte. Where do 4 bits go? Two weights share one.
    """
    integers = torch.tensor([[1, -1, 7, -8]], dtype=torch.int8)
    pairs = packed(integers)  # @inspect pairs
    # −1 is 1111 in 4 bits, −8 is 1000.
    assert [f"{pair:08b}" for pair in pairs[0].tolist()] == ["11110001", "10000111"]
    assert unpacked(pairs).tolist() == integers.tolist()
    w = torch.randn(256, 256, generator=torch.Generator().manual_seed(0))
    integers, scales = quantized(w, bits=4, block=32)
    with measure() as cost:
        kept = packed(integers.flatten(1)), scales.half()
    # Half a byte for each weight, and half a bit for its share of a scale.
    kept_bytes = sum(tensor.numel() * tensor.element_size() for tensor in kept)
    assert kept_bytes == w.numel() // 2 + 2 * w.numel() // 32
    assert 8 * kept_bytes / w.numel() == 4.5
    assert cost.allocated_bytes - cost.freed_bytes == kept_bytes
    # Nothing computes with such pairs. They are unpacked and multiplied by their scales on the way
    # from memory to the product, in the registers of the processor. That costs FLOPs, of which
    # there are plenty, and saves bytes, of which there are not.
    wide = unpacked(kept[0]).view(256, 8, 32)
    assert torch.equal(wide, integers)
    with measure() as unpacking:
        restored(wide, kept[1].float())
    assert unpacking.other_flops == w.numel()


def products_of_integers_are_exact():  # M26.2
    """Products of integers are exact.

    Can one compute with the integers themselves? With 8 bits, yes: the inputs are quantized as
    well, row by row, and the scales multiplied in at the end.
    """
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(32, 256, generator=generator) for _ in range(2))
    (x_integers, x_scales), (w_integers, w_scales) = (quantized(t, 8, 256) for t in (x, w))
    sums = x_integers[:, 0].int() @ w_integers[:, 0].int().T  # @inspect sums
    y = sums * (x_scales[:, 0] * w_scales[:, 0].T)
    # The sums of integers are in 32 bits and have no rounding at all. All of the error is that of
    # the two quantizations: $\sqrt{2}$ times that of one.
    exact = x.double() @ w.double().T
    assert torch.equal(sums.double(), x_integers[:, 0].double() @ w_integers[:, 0].double().T)
    weights_only = relative_error(x @ restored(w_integers, w_scales).T, exact)
    error = relative_error(y, exact)  # @inspect error weights_only
    assert math.isclose(error, math.sqrt(2) * weights_only, rel_tol=0.05)
    assert round(weights_only, 3) == 0.007
    # Could a sum overflow? At the worst each product is $127^2$, and $2^{31}$ has room for more
    # than 133 000 of them.
    assert torch.iinfo(torch.int32).max // 127**2 == 133_144
    worst = torch.full((1, 133_144), 127, dtype=torch.int32)
    assert (worst @ worst.T).item() == 133_144 * 127**2 > 0
    # In 8 bits not even one product fits: 127 times 127 comes out as 1.
    most = torch.tensor(127, dtype=torch.int8)
    assert most * most == 1


@shape_checked
def errors_after_training(bits: list[int], when: str) -> Float[Tensor, " bits"]:  # @stepover
    """Learn 64 weights from noisy examples and keep them as one of 2^bits − 1 numbers that lie
    evenly between −2 and 2: from the end of the training on, after each step, or only where they
    are used. Return their relative error for each number of bits."""
    generator = torch.Generator().manual_seed(0)
    steps = torch.tensor([2 / (2 ** (count - 1) - 1) for count in bits]).unsqueeze(dim=1)
    target = torch.randn(64, generator=generator).clamp(-1.9, 1.9)
    weight = torch.zeros(len(bits), 64)
    for _ in range(800):
        x = torch.randn(16, 64, generator=generator)
        noise = 0.1 * torch.randn(16, generator=generator)
        used = (weight / steps).round() * steps if when == "where used" else weight
        residue = ((used - target)[:, None] * x).sum(dim=2) + noise
        weight = weight - 0.01 * (residue[:, :, None] * x).mean(dim=1)
        if when == "after each step":
            weight = (weight / steps).round() * steps
    if when != "never":
        weight = (weight / steps).round() * steps
    return (weight - target).norm(dim=1) / target.norm()


def afterwards_is_easier_than_during():  # M26.2
    """Afterwards is easier than during.

    If weights can do with 4 to 8 bits, why are they not trained with them? 64 weights are learnt
    from noisy examples, and rounded to a grid: at the end, or after each step.
    """
    moments = ("afterwards", "where used", "after each step", "never")
    bits = list(range(4, 17, 2))
    errors = {
        when: dict(zip(bits, errors_after_training(bits, when).tolist(), strict=True))
        for when in moments
    }
    exact = errors.pop("never")[8]
    drawn = figures.error_by_moment(errors, exact)  # @inspect drawn
    at_the_end, where_used, each_step = errors.values()
    # Rounded at the end, the error is the grid's, on top of the 0.2 % that training leaves.
    assert 0.0015 < exact < 0.0025
    assert math.isclose(at_the_end[4], 2 / 7 / math.sqrt(12), rel_tol=0.1)
    assert math.isclose(at_the_end[8], math.hypot(exact, 2 / 127 / math.sqrt(12)), rel_tol=0.15)
    # Rounded after each step, the weights stop as soon as an update is less than half a step of the
    # grid. With 4 bits they do not move at all; 8 bits are some 19 times as bad as the same 8 bits
    # afterwards.
    assert round(each_step[4], 2) == 1
    assert 17 < each_step[8] / at_the_end[8] < 21
    # It takes some 14 bits to train in, and 10 to use. (Training makes many small changes; use
    # makes none.)
    assert each_step[12] > 1.2 * exact
    assert each_step[14] < 1.1 * exact
    assert at_the_end[8] > 2 * exact
    assert at_the_end[10] < 1.3 * exact
    # In between: the weights are kept in fp32, and rounded where they are used. This is
    # *quantization-aware training*, a master copy again. It learns with any number of bits.
    assert all(where_used[count] < 2 * at_the_end[count] for count in bits)
    # This chapter in short: writing waits for the bytes of the weights, so fewer bits are more
    # tokens a second; and a scale for few weights keeps the error small.


@shape_checked
def error_when_cut(w: Float[Tensor, "rows columns"], bits: int, percent: int) -> float:  # @stepover
    """Quantize with scales for so many percent of the largest number of each row, and cut off what
    is beyond; return the relative error."""
    most = 2 ** (bits - 1) - 1
    scales = percent / 100 * w.abs().amax(dim=1, keepdim=True) / most
    found = (w / scales).round().clamp(-most, most) * scales
    return relative_error(found, w.double())


def the_largest_weight_need_not_fit():  # M26.2
    """The largest weight need not fit.

    Is the scale by the largest weight the best one? With few bits it is not. A smaller scale cuts
    off the largest and serves all others better.
    """
    w = torch.randn(64, 256, generator=torch.Generator().manual_seed(0))
    errors = {
        bits: {percent: error_when_cut(w, bits, percent) for percent in range(50, 101, 5)}
        for bits in (3, 4, 8)
    }
    by_cut = figures.error_by_cut(errors)  # @inspect by_cut
    best = {bits: min(found, key=found.get) for bits, found in errors.items()}  # @inspect best
    # With 8 bits nothing is gained. With 4 it pays to cut at 80 % of the largest, with 3 at 65 %.
    assert best == {3: 65, 4: 80, 8: 100}
    gains = {bits: 1 - found[best[bits]] / found[100] for bits, found in errors.items()}
    assert [round(gain, 2) for gain in gains.values()] == [0.26, 0.1, 0]  # @inspect gains
    # Better methods do not look at the weights but at what comes out: at the inputs that really
    # occur. [GPTQ](https://arxiv.org/abs/2210.17323) changes the weights that are still to be
    # rounded so that they make up for the errors so far, and
    # [AWQ](https://arxiv.org/abs/2306.00978) protects those that meet large inputs.
