"""Mixed precision: which number of a training step is kept in which format."""

import math
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture.facts import A100_GPU, A100_SXM, B200, B200_GPU, FP8_BLOCK_VALUES, H100_SXM
from lecture.lib.next_byte import NextByte, story_bytes, train_next_byte
from lecture.lib.optim import SGD, AdamW
from lecture.lib.rounding import relative_error
from lecture.lib.shapes import shape_checked, without_checks
from lecture.part6_training import m25_figures as figures
from trace.costs import measure

BF16 = torch.bfloat16


def both_ends_have_their_price():  # M25.1
    """High and low precision both have their price.

    Why not one format for everything? fp32 is accurate and expensive, bf16 is cheap and coarse. We
    take one matmul in both and compare errors, bytes, and what a data sheet promises.
    """
    generator = torch.Generator().manual_seed(0)
    x, w = (torch.randn(256, 256, generator=generator) for _ in range(2))
    exact = x.double() @ w.double()
    products, errors, moved_bytes = {}, {}, {}
    for name, dtype in (("fp32", torch.float32), ("bf16", BF16)):
        rounded_x, rounded_w = x.to(dtype), w.to(dtype)
        with measure() as cost:
            products[name] = rounded_x @ rounded_w
        errors[name] = relative_error(products[name].float(), exact)
        moved_bytes[name] = cost.read_bytes + cost.written_bytes
    # Half the bytes of three matrices, and on an H100 15 times the rate.
    assert moved_bytes == {"fp32": 3 * 4 * 256**2, "bf16": 3 * 2 * 256**2}  # @inspect moved_bytes
    rates = H100_SXM.dense_flops_per_second
    assert round(rates["bf16"] / rates["fp32"]) == 15  # @predict
    # The price is an error of 0.3 % instead of less than a millionth. (Relative: the norm of the
    # difference over the norm of the exact result.)
    assert 0.0025 < errors["bf16"] < 0.0035  # @inspect errors
    assert errors["fp32"] < 1e-6
    # Guess where it comes from: from the 256 terms of each sum? No, those sums are kept in fp32
    # here. Both inputs and the result are rounded once, and that explains nearly all numbers.
    from_rounded_inputs = x.bfloat16().float() @ w.bfloat16().float()
    assert (from_rounded_inputs.bfloat16() == products["bf16"]).float().mean() > 0.999
    # Is 0.3 % too much? That depends on what becomes of the number. A product is used and
    # forgotten. A weight is added to thousands of times, and what is rounded away is lost each
    # time. So we choose the format tensor by tensor: *mixed precision*.


def small_network(dtype: torch.dtype, blocks: int = 1) -> nn.Sequential:  # @stepover
    """Make blocks of two linear layers without biases, 64 to 128 to 64 features."""
    generator = torch.Generator().manual_seed(0)
    layers: list[nn.Module] = []
    for _ in range(blocks):
        up, down = nn.Linear(64, 128, False, dtype=dtype), nn.Linear(128, 64, False, dtype=dtype)
        for layer in (up, down):
            nn.init.normal_(layer.weight, std=layer.in_features**-0.5, generator=generator)
        layers += [up, nn.ReLU(), down]
    return nn.Sequential(*layers)


def bytes_of_a_step(
    kept_in: torch.dtype, autocast: bool, tokens: int = 16
) -> dict[str, int]:  # @stepover
    """Make one training step of four blocks; return what each part of the memory holds: activations
    at the end of the forward pass, the others at the end of the step."""
    with measure() as cost:
        network = small_network(kept_in, blocks=4)
        optimizer = AdamW(network.parameters())
        x = torch.ones(tokens, 64, dtype=kept_in, requires_grad=True)
        with torch.autocast("cpu", dtype=BF16, enabled=autocast):
            y = network(x)
        loss = y.float().square().mean()
        after_forward = cost.live_bytes
        loss.backward()
        optimizer.step()
        x.grad = None
    return {**cost.live_bytes, "activations": after_forward["activations"]}


def two_recipes_go_by_one_name():  # M25.2 E103
    """bf16 in the matmuls is not bf16 in the weights.

    "We train in bf16" can mean two things. Under *autocast*, weights, gradients and the optimizer's
    averages stay in fp32, and matmuls get copies in bf16. After `model.bfloat16()` the weights and
    gradients are bf16 themselves. Which saves memory?
    """
    in_fp32 = bytes_of_a_step(torch.float32, autocast=False)
    copies = bytes_of_a_step(torch.float32, autocast=True)  # @inspect copies
    weights_too = bytes_of_a_step(BF16, autocast=False)  # @inspect weights_too
    recipes = {"all fp32": in_fp32, "autocast": copies, "bf16 weights": weights_too}
    N = 4 * 2 * 64 * 128
    kept = ("parameters", "gradients", "optimizer state")
    per_parameter = {
        name: [found[part] / N for part in kept] for name, found in recipes.items()
    }  # @inspect per_parameter
    # Per parameter autocast saves nothing; bf16 weights save a quarter with our AdamW.
    assert per_parameter["all fp32"] == per_parameter["autocast"] == [4, 4, 8]
    assert per_parameter["bf16 weights"] == [2, 2, 8]
    stacked = figures.bytes_of_recipes(recipes)  # @inspect stacked
    # Activations take half in both, beside the loss and the fp32 copy of y that it squares. But
    # autocast also keeps the bf16 copies of the weights for the backward pass, two bytes per
    # parameter, and a copy of x.
    assert weights_too["activations"] - (16 * 64 + 1) * 4 == (in_fp32["activations"] - 4) / 2
    assert copies["activations"] - weights_too["activations"] == 2 * N + 2 * 16 * 64
    # So with these 16 tokens autocast takes more memory than fp32. With many tokens it takes less,
    # because activations grow and copies of weights do not.
    assert sum(copies.values()) > sum(in_fp32.values()) > sum(weights_too.values())
    many = [bytes_of_a_step(torch.float32, autocast, 2048) for autocast in (False, True)]
    assert sum(many[1].values()) < 0.75 * sum(many[0].values())
    # Many runs combine them: bf16 weights, an fp32 *master* copy in the optimizer, and mostly fp32
    # sums of gradients, [16 to 18 bytes per parameter](#each_recipe_has_its_bytes_per_parameter).


@shape_checked
def losses_on_the_way(recipe: str, steps: int = 500) -> Float[Tensor, " step"]:  # @stepover
    """Move 16 weights from 1 towards 1.25 with AdamW, by one of four recipes; return the losses."""
    generator = torch.Generator().manual_seed(0)
    kept_in = BF16 if recipe == "bf16 weights" else torch.float32
    weight = nn.Parameter(torch.ones(16, dtype=kept_in))
    optimizer = AdamW([weight], lr=0.0015, weight_decay=0.0)
    losses = []
    for _ in range(steps):
        x = torch.randn(32, 16, generator=generator)
        used = weight
        if recipe == "master weights":
            used = weight.detach().bfloat16().requires_grad_()
        products = x * used if recipe == "all fp32" else x.bfloat16() * used.bfloat16()
        loss = (products.float().sum(dim=1) - 1.25 * x.sum(dim=1)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        if recipe == "master weights":
            weight.grad = used.grad.float()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses)


def bf16_weights_stop_learning():  # M25.2 M25.3 E103
    r"""bf16 weights stop learning as the rate falls.

    Bytes are one side. Do the recipes learn alike? Sixteen weights have to go from 1 to 1.25, in
    steps of AdamW with a rate of 0.0015.
    """
    recipes = ("all fp32", "bf16 products", "bf16 weights")
    losses = {recipe: losses_on_the_way(recipe) for recipe in recipes}
    drawn = figures.losses_of_recipes(losses)  # @inspect drawn
    # With bf16 weights nothing happens in 500 steps. Above 1 the next bf16 number is 1 + 1/128, and
    # 0.0015 is less than half of that: every update is rounded away.
    assert math.isclose(losses["bf16 weights"].mean(), 16 * 0.25**2, rel_tol=0.1)
    assert torch.ones((), dtype=BF16) + 0.0015 == 1
    # Keeping the averages in fp32 does not help, and this recipe does keep them so: it is the
    # weight that cannot take the step. bf16 in the matmuls alone is harmless here.
    ends = {recipe: found[-50:].mean().item() for recipe, found in losses.items()}  # @inspect ends
    assert max(ends["all fp32"], ends["bf16 products"]) < 0.001 * ends["bf16 weights"]
    # What counts is the step beside the weight: below $2^{-9}$ of it, an update of a bf16 weight is
    # always lost. Weights of a wide model begin far below 1. With a standard deviation of
    # $1/\sqrt{1600}$, how many lose an update as long as the learning rate?
    generator = torch.Generator().manual_seed(0)
    weights = (torch.randn(100_000, generator=generator) / math.sqrt(1600)).bfloat16()
    steps = (3e-4, 1e-4, 3e-5, 0.2 * 3e-4)
    lost = {step: (weights - step == weights).float().mean().item() for step in steps}
    assert lost[3e-4] < 0.001  # @inspect lost
    assert round(lost[1e-4], 1) == 0.2
    assert round(lost[3e-5], 1) == 0.8
    # Hardly any at 3e-4, a usual peak rate, a fifth at 1e-4, and most at 3e-5, where a schedule
    # may end. And in noise AdamW's steps are [a fifth of the rate](#warm_up_tames_the_first_steps):
    # of those, half are lost at the peak already. So bf16 weights lose updates from the start, and
    # most of them as the rate decays.
    assert 0.4 < lost[0.2 * 3e-4] < 0.6
    #
    # A cure is an fp32 *master* copy in the optimizer, from which the bf16 weights are rounded
    # after each step. Seen from the matmuls that is the same as autocast, to the bit.
    with_a_master = losses_on_the_way("master weights", steps=50)
    assert torch.equal(losses["bf16 products"][:50], with_a_master)


def weight_after(updates: int, dtype: torch.dtype) -> float:  # @stepover
    """Let a weight of 1 in this format have so many updates of −0.001."""
    weight = nn.Parameter(torch.tensor(1.0, dtype=dtype))
    optimizer = SGD([weight], lr=0.001)
    for _ in range(updates):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return weight.item()


def a_master_collects_small_updates():  # M25.3 @core
    """A master copy collects small updates.

    A weight of 1 gets a thousand updates of −0.001, as when we saw that [small updates are
    lost](#small_updates_are_lost). Where does it end in bf16, and where in fp32?
    """
    # @note Ask where the weight ends, once for each format, before `ends` is shown. Point out that
    # fp32 rounds as well; then ask what the difference is.
    ends = {dtype: weight_after(1000, dtype) for dtype in (torch.float32, BF16)}  # @inspect ends
    # bf16 loses all of them. fp32 ends within 1e-5 of 0: each update is rounded, but finely.
    assert ends[BF16] == 1
    assert abs(ends[torch.float32]) < 1e-5
    # Below 1 the bf16 numbers are 1/256 apart, so an update counts above half of that, 0.00195.
    one = torch.ones((), dtype=BF16)
    assert one - 0.00195 == 1
    assert one - 0.002 == 1 - 1 / 256
    # The master's 16 further bits make 65 536 places from one bf16 number to the next, and from 1
    # the rounded weight moves when more than half are passed. So the master can collect 32 768
    # of the smallest updates before that.
    smallest, next_number = torch.finfo(torch.float32).eps, 1 + torch.finfo(BF16).eps
    rounded_to = [torch.tensor(1 + count * smallest).to(BF16) for count in (32_768, 32_769)]
    assert rounded_to == [1, next_number]


@shape_checked
def rounded_by_chance(
    x: Float[Tensor, " n"], generator: torch.Generator
) -> Float[Tensor, " n"]:  # @stepover
    """Round fp32 to bf16, away from zero as often as the number has come on its way to the next
    one, by adding random numbers below the bits that are cut off."""
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32)
    return ((x.view(torch.int32) + noise) & -(2**16)).view(torch.float32).bfloat16()


@shape_checked
def after_a_random_walk(
    weights: Float[Tensor, " n"], update: float, steps: int, generator: torch.Generator
) -> Float[Tensor, " n"]:  # @stepover
    """Add the update to all weights, round stochastically, and do it again."""
    for _ in range(steps):
        weights = rounded_by_chance(weights.float() + update, generator)
    return weights


def rounding_by_chance_is_right_on_average():  # M25.3
    """Stochastic rounding is right on average.

    Can we do without the four bytes of a master? An update of a fifth of the distance between two
    bf16 numbers cannot be stored. But we can move by the whole distance with a probability of one
    fifth: [*stochastic rounding*](https://arxiv.org/abs/1502.02551).
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.full((10_000,), 1 + 0.2 * torch.finfo(BF16).eps)
    rounded = rounded_by_chance(x, generator)
    assert rounded.unique().tolist() == [1, 1 + 1 / 128]
    share = (rounded > 1).float().mean().item()  # @inspect share
    assert abs(share - 0.2) < 3 * math.sqrt(0.2 * 0.8 / 10_000)
    # What bf16 can represent stays as it is.
    assert torch.equal(rounded_by_chance(rounded.float(), generator), rounded)
    # Now a thousand updates of −0.001 on all these weights. Their mean arrives at 0, as it should;
    # each single weight has walked at random and misses by a few hundredths. Rounded to nearest,
    # all would still be 1.
    start = torch.ones_like(rounded)
    weights = after_a_random_walk(start, -0.001, steps=1000, generator=generator)
    mean, std = weights.float().mean().item(), weights.float().std().item()
    assert abs(mean) < 4 * std / math.sqrt(10_000)  # @inspect mean std
    assert 0.01 < std < 0.1
    assert torch.equal(start - 0.001, start)


def a_scale_lifts_gradients_into_range():  # M25.4
    """A scale lifts gradients into range.

    fp16 has more digits than bf16 and less range: its smallest number is $2^{-24}$. Gradients of a
    mean over many tokens can be smaller. What then?
    """
    assert torch.tensor(2.0**-24).half() > 0
    assert torch.tensor(2.0**-27).half() == 0
    # They become zero. A cure is to multiply the loss by a constant before the backward pass:
    # every gradient is a product of factors that starts with the loss, so all are multiplied.
    gradients = {}
    for scale in (1, 1024):
        w = torch.ones(2, dtype=torch.float16, requires_grad=True)
        y = (w * torch.tensor([0.5, 2.0]).half()).float()
        loss = (y * 2.0**-26).sum()
        (scale * loss).backward()
        gradients[scale] = w.grad.float() / scale  # @inspect gradients
    # In the backward pass they go through fp16: $2^{-26}$ vanishes there, 1024 times as much does
    # not. Divided in fp32 afterwards, they are right to the last bit, since powers of two cost no
    # digits.
    assert gradients[1].tolist() == [0, 0]
    assert gradients[1024].tolist() == [0.5 * 2**-26, 2.0 * 2**-26]
    # Divide before anything depends on the size of gradients: clipping, and AdamW's ε.
    #
    # bf16 needs none of this, as it has the range of fp32. Of the powers of two, fp16 can represent
    # 40, subnormal numbers included, and bf16 261.
    powers = torch.tensor([2.0**power for power in range(-200, 200)], dtype=torch.float64)
    survivors = {dtype: int((powers.to(dtype) == powers).sum()) for dtype in (torch.float16, BF16)}
    assert survivors == {torch.float16: 40, BF16: 261}  # @inspect survivors


@shape_checked
def scaled_step(
    weight: Float[nn.Parameter, " D"], optimizer: SGD, scaler: torch.amp.GradScaler
) -> bool:  # @stepover
    """Make a step on a loss whose gradients are all 1, seen through fp16; tell whether the weights
    moved."""
    before = weight.detach().clone()
    optimizer.zero_grad()
    scaler.scale(weight.half().sum()).backward()
    scaler.step(optimizer)
    scaler.update()
    return not torch.equal(weight, before)


def next_scale(scale: float, good_steps: int) -> tuple[float, int]:  # @stepover
    """Do what a scaler does: return the next scale, and how many steps went well with it."""
    fits = torch.isfinite(torch.tensor(scale).half()).item()
    if not fits:
        return scale / 2, 0
    return (2 * scale, 0) if good_steps + 1 == 3 else (scale, good_steps + 1)


def a_scale_is_found_by_overflowing():  # M25.4
    """A loss scale is found by overflowing.

    How large should the scale be? As large as possible without reaching infinity, and that changes
    during training. So a *gradient scaler* tries: after some good steps it doubles the scale; when
    a gradient is infinite it skips the step and halves the scale.
    """
    weight = nn.Parameter(torch.zeros(2))
    optimizer = SGD([weight], lr=1.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**14, backoff_factor=0.5, growth_interval=3)
    by_hand = (2.0**14, 0)
    scales, made = [], []
    # The gradients are 1, so scaled they are as large as the scale, and fp16 ends at 65 504.
    for _ in range(10):
        made.append(scaled_step(weight, optimizer, scaler))
        by_hand = next_scale(*by_hand)
        assert scaler.get_scale() == by_hand[0]
        scales.append(round(math.log2(scaler.get_scale())))
    # It doubles after three good steps, and again. $2^{16}$ just exceeds fp16. So the scale goes
    # down, three steps later up again, and from then on every fourth step is lost.
    assert scales == [14, 14, 15, 15, 15, 16, 15, 15, 15, 16]  # @inspect scales
    assert made == [True] * 6 + [False] + [True] * 3
    # The steps that were made had the right gradient, because the scaler divides by the scale
    # before the optimizer sees it. By default it tries again only after 2000 steps.
    assert weight.tolist() == [-9.0, -9.0]
    assert torch.amp.GradScaler("cpu").get_growth_interval() == 2000


def autocast_chooses_operation_by_operation():  # M25.5
    """autocast chooses operation by operation.

    Who writes all these casts? Inside `torch.autocast`, operations on one list get their inputs in
    bf16 and operations on another in fp32. (The [idea](https://arxiv.org/abs/1710.03740) is of
    2017, with fp16.) Guess which is which: matmul, loss, addition.
    """
    network = small_network(torch.float32)
    x = torch.randn(4, 64, generator=torch.Generator().manual_seed(1))
    with torch.autocast("cpu", dtype=BF16):
        y = network(x)
        loss = nn.functional.mse_loss(y, torch.zeros_like(y))
        summed = y + x
    loss.backward()
    weight = network[0].weight
    dtypes = {"x": x, "y": y, "loss": loss, "y + x": summed, "w": weight, "gradient": weight.grad}
    found = {name: tensor.dtype for name, tensor in dtypes.items()}  # @inspect found
    # Matmuls run in bf16, losses in fp32 (on a GPU softmax, sums and LayerNorm, too).
    # Other operations run in the format they are given; mixed inputs are promoted to the wider one.
    assert (y.dtype, loss.dtype, summed.dtype) == (BF16, torch.float32, torch.float32)
    assert torch.equal(summed, y.float() + x)
    # Weights stay in fp32. So do their gradients, but with bf16's digits: they came back through
    # the cast.
    assert weight.dtype == weight.grad.dtype == torch.float32
    assert torch.equal(weight.grad.bfloat16().float(), weight.grad)
    # Within a block autocast casts each weight that is trained once, however often it is used.
    with torch.autocast("cpu", dtype=BF16), measure() as first:
        network[0](x)
    with torch.autocast("cpu", dtype=BF16):
        network[0](x)
        with measure() as second:
            network[0](x)
    assert first.allocated_bytes - second.allocated_bytes == 2 * 64 * 128
    # Attention needs no exception: queries and keys meet in bf16 on the tensor cores, and a fused
    # kernel keeps sums and softmax in fp32. Scores that are rounded to bf16 in between lose: near
    # 30 its numbers are 1/8 apart, and two scores whose exponentials differ by 6 % become equal.
    scores = torch.tensor([30.0, 30.06])
    assert scores[0].bfloat16() == scores[1].bfloat16()
    assert (scores[1] - scores[0]).exp() > 1.06


def a_step_passes_to_bf16_and_back():  # M25.5
    """A step passes to bf16 and back.

    Which tensor has which format, then? We write out what autocast does for one layer and one step:
    matmul in bf16, loss and AdamW in fp32.
    """
    generator = torch.Generator().manual_seed(0)
    weight = nn.Parameter(torch.randn(32, 10, generator=generator))
    labels = torch.arange(10)
    x = torch.randn(10, 32, generator=generator).bfloat16().requires_grad_()
    copy = weight.bfloat16()
    y = x @ copy
    logits = y.float()
    loss = nn.functional.cross_entropy(logits, labels)
    forward = {"w": weight, "copy of w": copy, "x": x, "y = x w": y, "logits": logits, "loss": loss}
    for tensor in (copy, y, logits, loss):
        tensor.retain_grad()
    loss.backward()
    backward = {name: forward[name].grad for name in reversed(forward)}
    optimizer = AdamW([weight])
    optimizer.step()
    update = {"m": optimizer.state[weight]["m"], "v": optimizer.state[weight]["v"], "w": weight}
    stages = {"forward": forward, "gradients": backward, "update": update}
    dtype_map = figures.dtype_map(stages)  # @inspect dtype_map
    # Each gradient has the format of its tensor: every cast of the forward pass has its opposite in
    # the backward pass.
    assert all(backward[name].dtype == forward[name].dtype for name in forward)
    in_bf16 = [name for name, tensor in forward.items() if tensor.dtype == BF16]
    assert in_bf16 == ["copy of w", "x", "y = x w"]
    # Large and short-lived tensors are in bf16. What survives from step to step is in fp32, and so
    # are the loss, where exponentials are added up, and its logits. This is the rule to keep.
    assert {tensor.dtype for tensor in update.values()} == {torch.float32}
    # The gradient of w comes out of a bf16 matmul and is cast. fp32 does not bring back digits; it
    # gives room to add up the gradients of several micro-batches.
    assert torch.equal(backward["w"], backward["copy of w"].float())
    assert torch.allclose(backward["copy of w"], x.T @ backward["y = x w"], rtol=0.02, atol=1e-3)


E4M3, E5M2 = torch.float8_e4m3fn, torch.float8_e5m2


@shape_checked
def in_fp8(
    x: Float[Tensor, "rows columns"], block: int, dtype: torch.dtype = E4M3
) -> Float[Tensor, "rows columns"]:  # @stepover
    """Round to eight bits with one scale for each block of a row, which brings its largest number
    to the largest of the format."""
    blocks = x.unflatten(1, (-1, block))
    largest = blocks.abs().amax(dim=2, keepdim=True).clamp(min=1e-30)
    scales = torch.finfo(dtype).max / largest
    return ((blocks * scales).to(dtype).float() / scales).flatten(1)


def eight_bits_need_scales():  # M25.6
    r"""Eight bits need scales.

    Half of 16 bits again? [FP8](https://arxiv.org/abs/2209.05433) comes in two formats: E4M3 has 4
    bits of exponent and 3 of fraction and ends at 448; E5M2 has one bit of range more and one of
    precision less. Weights near 0.03 and activations near 1 fit E4M3 as they are. (Real ones have
    outliers, and recipes scale them, too.) Do gradients?
    """
    generator = torch.Generator().manual_seed(0)
    gradients, w = (torch.randn(64, 1024, generator=generator) for _ in range(2))
    w /= math.sqrt(1024)
    for x in (w, 20 * w):  # weights, and activations as large as a layer makes them
        assert relative_error(x.to(E4M3).float(), x.double()) < 0.03
    # No. Gradients of a mean over many tokens can be smaller than E4M3's smallest number, 1/512.
    gradients *= 1e-4
    assert gradients.to(E4M3).float().abs().max() == 0
    # Scaled so that the largest number becomes 448, and divided afterwards, they have an error of
    # 2.6 %: what 3 bits of fraction allow. E5M2 needs less help with range and has twice the error.
    exact = gradients.double()
    errors = {d: relative_error(in_fp8(gradients, 1024, d), exact) for d in (E4M3, E5M2)}
    assert math.isclose(errors[E4M3], 0.026, rel_tol=0.05)  # @inspect errors
    assert math.isclose(errors[E5M2], 2 * errors[E4M3], rel_tol=0.05)
    # One scale per tensor or row has a weakness. Let one number in each row be 100 000 times as
    # large as the others: these are scaled down with it, nearly all to where numbers are subnormal.
    outliers = gradients.clone()
    outliers[:, 0] = 10.0
    later = slice(FP8_BLOCK_VALUES, None)
    by_block = {
        block: relative_error(in_fp8(outliers, block)[:, later], exact[:, later])
        for block in (1024, FP8_BLOCK_VALUES)
    }  # @inspect by_block
    assert by_block[1024] > 0.1
    # With a scale for every 128 numbers, as [DeepSeek-V3](https://arxiv.org/abs/2412.19437) has for
    # activations, an outlier spoils its own block only. An fp32 scale then costs a quarter of a bit
    # per number.
    assert math.isclose(by_block[FP8_BLOCK_VALUES], errors[E4M3], rel_tol=0.05)
    # A matmul adds up many such errors, of either sign and from both factors. With terms of either
    # sign, as here, the result is off by $\sqrt2$ times the error of one number.
    product = in_fp8(gradients, FP8_BLOCK_VALUES) @ in_fp8(w, FP8_BLOCK_VALUES).T
    of_product = relative_error(product, exact @ w.double().T)  # @inspect of_product
    assert math.isclose(of_product, math.sqrt(2) * by_block[FP8_BLOCK_VALUES], rel_tol=0.05)


class InFp8(torch.autograd.Function):
    """A matmul whose inputs are rounded to eight bits, forward and backward; sums are in fp32."""

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w: Tensor, dtype_of_gradients: torch.dtype, is_scaled: bool
    ) -> Tensor:
        x, w = rounded(x, E4M3, is_scaled), rounded(w, E4M3, is_scaled)
        ctx.save_for_backward(x, w)
        ctx.settings = dtype_of_gradients, is_scaled
        return x @ w

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, w = ctx.saved_tensors
        gradient = rounded(gradient, *ctx.settings)
        return gradient @ w.T, x.T @ gradient, None, None


@shape_checked
def rounded(
    x: Float[Tensor, "rows columns"], dtype: torch.dtype, is_scaled: bool
) -> Float[Tensor, "rows columns"]:  # @stepover
    """Round to eight bits, with one scale for the tensor or with none; what is too large is cut."""
    most = torch.finfo(dtype).max
    scale = most / x.abs().amax().clamp(min=1e-30) if is_scaled else 1.0
    return (x * scale).clamp(-most, most).to(dtype).float() / scale


def losses_in_fp8(gradients_in: torch.dtype | None, is_scaled: bool) -> list[float]:  # @stepover
    """Train the small language model for 80 steps, its hidden matmuls in fp8 or, with None, in
    fp32; return the losses."""
    tokens, V = story_bytes(100_000, 1)

    def multiply(h: Tensor, w: Tensor) -> Tensor:
        is_head = w.shape[1] == V
        if gradients_in is None or is_head:
            return h @ w
        return InFp8.apply(h, w, gradients_in, is_scaled)

    model = NextByte(V, F=128, generator=torch.Generator().manual_seed(0), multiply=multiply)
    optimizer = AdamW(model.parameters(), lr=2**-6, betas=(0.9, 0.95), weight_decay=0.0)
    with without_checks():
        return train_next_byte(model, [optimizer], tokens, steps=80)


def a_recipe_trains_in_eight_bits():  # M25.7
    """A recipe trains in eight bits.

    Can we train like that? This is a simulation: each input of a matmul is really rounded to eight
    bits, forward and backward, and then multiplied in fp32. It shows the errors of the formats. It
    shows no speed, and it is kinder than hardware: on Hopper, tensor cores keep about 14 bits of a
    sum in FP8, found the authors of DeepSeek-V3, who move their sums to fp32 every 128 terms.
    """
    losses = {
        "fp32": losses_in_fp8(None, is_scaled=False),
        "E4M3, gradients E5M2, scaled": losses_in_fp8(E5M2, is_scaled=True),
        "all E4M3, scaled": losses_in_fp8(E4M3, is_scaled=True),
        "all E4M3, no scales": losses_in_fp8(E4M3, is_scaled=False),
    }
    drawn = figures.losses_in_fp8(losses)  # @inspect drawn
    # Where a run that goes astray ends is chance: what is above 9 nats is shown as 9.
    ends = {
        name: min(sum(found[-20:]) / 20, 9.0) for name, found in losses.items()
    }  # @inspect ends
    # With a scale for each tensor, both recipes stay within 3 % of fp32. The [paper on the two
    # formats](https://arxiv.org/abs/2209.05433) gives gradients the range of E5M2; DeepSeek-V3 has
    # E4M3 everywhere and finer scales.
    for name in ("E4M3, gradients E5M2, scaled", "all E4M3, scaled"):
        assert abs(ends[name] / ends["fp32"] - 1) < 0.03
    # Without scales, and all in E4M3, the run goes astray.
    assert ends["all E4M3, no scales"] > 1.5 * ends["fp32"]
    # What never was in eight bits here: the embedding, the output matrix, the loss, the weights
    # that AdamW changes, and its averages. DeepSeek-V3's recipe keeps the same, and attention
    # and normalization layers; others have averages in eight bits. So: FP8 for the inputs of large
    # matmuls, scales from the data, and more bits for everything that adds up.


def models_follow_the_hardware():  # M25.6
    """Models follow the hardware.

    Why all this trouble? Because of one line on [the data
    sheets](#a_data_sheet_has_a_rate_for_each_format): half the bits, twice the rate.
    """
    bits = {"tf32": 32, "bf16": 16, "fp8": 8, "fp4": 4}
    formats = ("fp32", *bits)
    rates = {
        card.name: {
            f: card.dense_flops_per_second[f] for f in formats if f in card.dense_flops_per_second
        }
        for card in (A100_SXM, H100_SXM, B200)
    }
    drawn = figures.rates_of_formats(rates)  # @inspect drawn
    # Along the formats of the tensor cores, each halving of the bits doubles the rate, on all
    # three. (tf32 has the bytes of fp32.) fp32 outside the tensor cores stands apart.
    for found in rates.values():
        steps = [rate * bits[name] for name, rate in found.items() if name in bits]
        assert max(steps) / min(steps) < 1.001  # data sheets round
    # Each generation added a format: bf16 in 2020, fp8 in 2022, fp4 in 2024. Large models follow
    # with some delay: DeepSeek-V3, trained in FP8, is of the end of 2024.
    most = rates["B200"]["fp4"] / rates["A100 SXM"]["bf16"]
    assert round(most) == 29  # @inspect most
    # Of this factor, 4 came from two halvings of the bits. Of the other 7.2, there are 1.4 times as
    # many multiprocessors, and their clock is up to 1.4 times as fast. What remains, nearly 4, is
    # tensor cores that do more in a tick.
    from_bits = rates["B200"]["fp4"] / rates["B200"]["bf16"]
    assert round(most / from_bits, 1) == 7.2
    more = B200_GPU.multiprocessors / A100_GPU.multiprocessors
    faster = B200_GPU.highest_hertz / A100_GPU.highest_hertz
    assert (round(more, 1), round(faster, 1)) == (1.4, 1.4)
    assert 3.6 < most / from_bits / more / faster < 4
    # What we can do now: choose a format for each tensor of a step. What is used and forgotten may
    # be short; what collects small changes may not; and eight bits come with scales.


def exercise_when_a_weight_stands_still():  # M25.3 @exercise
    """Exercise: when a weight stands still.

    A bf16 weight of 0.02 gets updates as long as the learning rate. Below which rate does it stand
    still?
    """
    weight = torch.tensor(0.02).bfloat16()
    # 0.02 lies between 1/64 and 1/32, where bf16 numbers are 1/64/128 apart. Half of that is 6e-5.
    spacing = 1 / 64 / 128
    assert weight - 0.4 * spacing == weight
    assert weight - 0.6 * spacing < weight  # @inspect weight spacing
    # If a schedule ends at a few 1e-5, the weight stands still there.


def exercise_two_formats_of_eight_bits():  # M25.6 @exercise
    """Exercise: two formats of eight bits.

    By which factor can two numbers differ in E4M3 and in E5M2, if both are to survive? What does a
    scale change about that?
    """
    smallest = {E4M3: 2.0**-9, E5M2: 2.0**-16}
    for dtype, number in smallest.items():
        assert torch.tensor(number).to(dtype).float() == number
        assert torch.tensor(number / 2.1).to(dtype).float() == 0
    factors = {dtype: torch.finfo(dtype).max / smallest[dtype] for dtype in smallest}
    # 229 000 and 3.8 billion. A scale moves this window and does not widen it; only further
    # scales, one for each block, do.
    assert 2e5 < factors[E4M3] < 2.5e5  # @inspect factors
    assert factors[E5M2] > 3e9
