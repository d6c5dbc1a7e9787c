"""Mixed precision: which number of a training step is kept in which format."""

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn

from lecture.facts import A100_SXM, B200, FP8_BLOCK_VALUES, H100_SXM
from lecture.lib.optim import SGD, AdamW
from lecture.lib.rounding import relative_error
from lecture.lib.shapes import shape_checked
from lecture.part6_training import m25_figures as figures
from trace.costs import measure

BF16 = torch.bfloat16


def both_ends_have_their_price():  # M25.1
    """High and low precision both have their price.

    Why not one format for everything? fp32 is exact and dear, bf16 is cheap and coarse. Take one
    product in both, and look at the errors, the bytes, and what a data sheet promises.
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
    # Half the bytes, and on an H100 14.8 times the rate.
    assert 2 * moved_bytes["bf16"] == moved_bytes["fp32"] == 3 * 256 * 256 * 4
    rates = H100_SXM.dense_flops_per_second
    assert round(rates["bf16"] / rates["fp32"], 1) == 14.8
    # An error of 0.3 % instead of less than a millionth.
    assert 0.0025 < errors["bf16"] < 0.0035  # @inspect errors
    assert 1e-8 < errors["fp32"] < 1e-6
    # The 256 terms of each sum do not add to it, since sums are kept in fp32 inside. What is left
    # is that numbers were rounded once: both inputs and the result. The same in fp32:
    from_rounded_inputs = x.bfloat16().float() @ w.bfloat16().float()
    assert (from_rounded_inputs.bfloat16() == products["bf16"]).float().mean() > 0.999
    assert 0.7 < relative_error(from_rounded_inputs, exact) / errors["bf16"] < 0.9
    # Is 0.3 % too much? That depends on what becomes of it. A product is used and forgotten. A
    # weight is added to thousands of times, and what is lost each time is lost for good. So the
    # format is chosen for each tensor, and that is what *mixed precision* means.


def small_network(dtype: torch.dtype, blocks: int = 1) -> nn.Sequential:  # @stepover
    """Make blocks of two linear layers without biases, 64 to 128 to 64 features."""
    generator = torch.Generator().manual_seed(0)
    layers: list[nn.Module] = []
    for _ in range(blocks):
        up, down = nn.Linear(64, 128, False, dtype=dtype), nn.Linear(128, 64, False, dtype=dtype)
        for layer in (up, down):
            nn.init.normal_(layer.weight, 0, layer.in_features**-0.5, generator=generator)
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
    """Two recipes go by one name.

    What is "the standard recipe"? Two of [the recipes](#bytes_per_parameter_depend_on_the_recipe)
    have that name. In the first, weights, gradients and the optimizer's averages are fp32, and
    products are computed from copies in bf16 (or fp8). In the second, weights and gradients are
    bf16 themselves, and only the averages are fp32.
    """
    in_fp32 = bytes_of_a_step(torch.float32, autocast=False)
    first = bytes_of_a_step(torch.float32, autocast=True)  # @inspect first
    second = bytes_of_a_step(BF16, autocast=False)  # @inspect second
    recipes = {"all fp32": in_fp32, "bf16 products": first, "bf16 weights": second}
    weights = 4 * 2 * 64 * 128
    kept = ("parameters", "gradients", "optimizer state")
    per_parameter = {
        name: [found[part] / weights for part in kept] for name, found in recipes.items()
    }  # @inspect per_parameter
    # Per parameter the first recipe saves nothing. The second saves a quarter.
    assert per_parameter["all fp32"] == per_parameter["bf16 products"] == [4, 4, 8]
    assert per_parameter["bf16 weights"] == [2, 2, 8]
    stacked = figures.bytes_of_recipes(recipes)  # @inspect stacked
    # Results of layers take half of the bytes in both, but for the loss a copy of the last one is
    # made in fp32.
    results_bytes, copy_bytes = 4 * 16 * 4 * (128 + 64), 4 * 16 * 64
    assert in_fp32["activations"] - second["activations"] == results_bytes // 2 - copy_bytes
    # And the first recipe keeps the bf16 copies of its weights for the way back, as if they were
    # activations: two bytes more for each parameter, and a copy of x.
    assert first["activations"] - second["activations"] == 2 * weights + 2 * 16 * 64
    # So with these 16 tokens the first takes more memory than fp32. With many tokens it takes less,
    # since they have results and the weights have not. What it is for is time.
    assert sum(first.values()) > sum(in_fp32.values()) > sum(second.values())
    many = [bytes_of_a_step(torch.float32, autocast, 2048) for autocast in (False, True)]
    assert sum(many[1].values()) < 0.75 * sum(many[0].values())
    # Neither is the recipe of the [paper](https://arxiv.org/abs/1710.03740) that both are credited
    # to: fp16 weights and gradients, an fp32 copy of the weights, and a loss that is scaled.


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
    """bf16 weights stop learning.

    Bytes are one side. How do the recipes behave? Sixteen weights have to go from 1 to 1.25,
    in steps of 0.0015.
    """
    recipes = ("all fp32", "bf16 products", "bf16 weights")
    losses = {recipe: losses_on_the_way(recipe) for recipe in recipes}
    assert all(len(found) == 500 for found in losses.values())
    drawn = figures.losses_of_recipes(losses)  # @inspect drawn
    # With bf16 weights nothing happens, in 500 steps: above 1 the next bf16 number is 1 + 1/128,
    # and 0.0015 is less than half of that. Every update is rounded away.
    assert math.isclose(losses["bf16 weights"].mean(), 16 * 0.25**2, rel_tol=0.1)
    # A common mistake is to call this recipe stable since its averages are in fp32. They are, and
    # know the way; it is the weight that cannot take such a small step.
    assert torch.ones((), dtype=BF16) + 0.0015 == 1
    # The other two learn; after 100 steps about half of the way is left. What is computed in bf16
    # has errors, but of either sign, and they are made anew in each step.
    assert 0.3 < math.sqrt(losses["all fp32"][100]) < 0.7
    ends = {recipe: found[-50:].mean().item() for recipe, found in losses.items()}  # @inspect ends
    assert ends["all fp32"] < ends["bf16 products"] < 0.001 * ends["bf16 weights"]
    # The paper's arrangement is the same thing seen from the other side: the network has weights of
    # 16 bits, and the optimizer an fp32 *master* copy, from which they are rounded after each step.
    with_a_master = losses_on_the_way("master weights", steps=50)
    assert torch.equal(losses["bf16 products"][:50], with_a_master)
    # So where training in bf16 works, there is a master copy somewhere, or steps are large beside
    # their weights, or chance decides how they are rounded, which comes below.


def weight_after(updates: int, dtype: torch.dtype) -> float:  # @stepover
    """Let a weight of 1 in this format have so many updates of −0.001."""
    weight = nn.Parameter(torch.tensor(1.0, dtype=dtype))
    optimizer = SGD([weight], lr=0.001)
    for _ in range(updates):
        weight.grad = torch.ones_like(weight)
        optimizer.step()
    return weight.item()


def a_master_collects_small_updates():  # M25.3
    """A master copy collects small updates.

    How small is too small? A weight of 1 gets a thousand updates of −0.001, as when we saw that
    [small updates are lost](#small_updates_are_lost). Who could keep them?
    """
    ends = {dtype: weight_after(1000, dtype) for dtype in (torch.float32, BF16)}  # @inspect ends
    # In bf16 all of them are lost. In fp32 it ends at 9e-6 instead of 0: each update had a rounding
    # error, but a small one.
    assert ends[BF16] == 1
    assert round(ends[torch.float32], 6) == 9e-6
    # Below 1 the bf16 numbers are 1/256 apart, so the first update that counts is one of more than
    # half of that, 0.00195.
    one = torch.ones((), dtype=BF16)
    assert one - 0.00195 == 1
    assert one - 0.002 == 1 - 1 / 256
    # The master has 16 bits that the rounded copy has not. With them one can write down 65 536
    # places between two bf16 neighbours.
    assert (torch.finfo(BF16).eps / torch.finfo(torch.float32).eps) == 65_536


@shape_checked
def rounded_by_chance(
    x: Float[Tensor, " n"], generator: torch.Generator
) -> Float[Tensor, " n"]:  # @stepover
    """Round fp32 to bf16: up with the probability with which the number lies above the lower
    neighbour, by adding random numbers below the bits that are cut off."""
    noise = torch.randint(0, 2**16, x.shape, generator=generator, dtype=torch.int32)
    return ((x.view(torch.int32) + noise) & -(2**16)).view(torch.float32).bfloat16()


@shape_checked
def after_a_random_walk(
    weights: Float[Tensor, " n"], update: float, steps: int, generator: torch.Generator
) -> Float[Tensor, " n"]:  # @stepover
    """Add the update to all weights, round by chance, and do it again."""
    for _ in range(steps):
        weights = rounded_by_chance(weights.float() + update, generator)
    return weights


def rounding_by_chance_is_right_on_average():  # M25.3
    """Rounding by chance is right on average.

    Is there a way without the four bytes of a master? An update of a fifth of a step cannot be
    stored. But one can make a whole step with the probability of one fifth. This is called
    [*stochastic rounding*](https://arxiv.org/abs/1502.02551).
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.full((10_000,), 1 + 0.2 * torch.finfo(BF16).eps)
    rounded = rounded_by_chance(x, generator)
    assert rounded.unique().tolist() == [1, 1 + 1 / 128]
    share = (rounded > 1).float().mean().item()  # @inspect share
    assert abs(share - 0.2) < 3 * math.sqrt(0.2 * 0.8 / 10_000)
    # What bf16 can represent stays as it is.
    assert torch.equal(rounded_by_chance(rounded.float(), generator), rounded)
    # A thousand updates of −0.001, on all these weights. Their mean arrives at 0, as it should.
    # Each one has walked at random, and missed it by a few hundredths.
    start = torch.ones_like(rounded)
    weights = after_a_random_walk(start, -0.001, steps=1000, generator=generator)
    mean, spread = weights.float().mean().item(), weights.float().std().item()
    assert abs(mean) < 4 * spread / math.sqrt(10_000)  # @inspect mean spread
    assert 0.01 < spread < 0.1
    # Rounded to nearest, the mean is still 1.
    assert torch.equal(start - 0.001, start)


def a_scale_lifts_gradients_into_range():  # M25.4
    """A scale lifts gradients into range.

    What does fp16 lose? It has more digits than bf16 and less range: its smallest number is
    $2^{-24}$, and gradients of a mean over many tokens are often below that.
    """
    assert torch.tensor(2.0**-24).half() > 0
    assert torch.tensor(2.0**-27).half() == 0
    # The cure is to multiply the loss by a number before the way back. Every gradient is a product
    # of factors that starts with it, so all are multiplied.
    gradients = {}
    for scale in (1, 1024):
        w = torch.ones(2, dtype=torch.float16, requires_grad=True)
        y = (w * torch.tensor([0.5, 2.0]).half()).float()
        loss = (y * 2.0**-26).sum()
        (scale * loss).backward()
        gradients[scale] = w.grad.float() / scale  # @inspect gradients
    # On the way back they pass through fp16, where y is: $2^{-26}$ vanishes, $2^{-16}$ does not.
    # Divided in fp32, they are right to the last bit. Powers of two cost no digits.
    assert gradients[1].tolist() == [0, 0]
    assert gradients[1024].tolist() == [0.5 * 2**-26, 2.0 * 2**-26]
    # Divide *before* anything depends on their size: clipping, and AdamW's ε.
    # bf16 has the range of fp32 and needs none of this.
    assert torch.tensor(2.0**-27).bfloat16() == 2.0**-27
    assert torch.finfo(BF16).tiny == torch.finfo(torch.float32).tiny
    # Of the powers of two, fp16 has 40, subnormals included, and bf16 261.
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
    """A scale is found by overflowing.

    How large a scale? As large as possible without reaching infinity, and that changes during
    training. So one tries: after some good steps the scale is doubled; when a gradient is infinite
    the step is left out and the scale halved.
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
    # It doubles after three good steps, and again. $2^{16}$ is too large for fp16 by a hair. So it
    # goes down, tries again after three good steps, and from then on loses every fourth.
    assert scales == [14, 14, 15, 15, 15, 16, 15, 15, 15, 16]  # @inspect scales
    assert made == [True] * 6 + [False] + [True] * 3
    # The steps that were made had the right gradient: it is divided by the scale before the
    # optimizer sees it. In practice it tries again only after 2000 steps.
    assert weight.tolist() == [-9.0, -9.0]
    assert torch.amp.GradScaler("cpu").get_growth_interval() == 2000


def autocast_chooses_operation_by_operation():  # M25.5
    """autocast chooses operation by operation.

    Who writes all these casts? PyTorch has a tool for it since 2020, three years after the
    [idea](https://arxiv.org/abs/1710.03740): inside `torch.autocast` operations from a list get
    their inputs in bf16, and operations from another list in fp32.
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
    # Products are on the first list, losses on the second. What is on neither takes what comes, and
    # of two formats the wider.
    assert (y.dtype, loss.dtype, summed.dtype) == (BF16, torch.float32, torch.float32)
    assert torch.equal(summed, y.float() + x)
    # Weights stay in fp32. So do their gradients, with bf16's digits: they came through the cast.
    assert weight.dtype == weight.grad.dtype == torch.float32
    assert torch.equal(weight.grad.bfloat16().float(), weight.grad)
    # A weight is cast once, however often it is used, and the copy dropped at the end of the block.
    with torch.autocast("cpu", dtype=BF16), measure() as first:
        network[0](x)
    with torch.autocast("cpu", dtype=BF16):
        network[0](x)
        with measure() as second:
            network[0](x)
    assert first.allocated_bytes - second.allocated_bytes == 2 * 64 * 128
    # Where sums are delicate it can be turned off, as for attention's scores: 0.3 % of a score of
    # 30 is a factor of 1.1 after the exponential.
    with torch.autocast("cpu", dtype=BF16):
        scores = x @ x.T
        with torch.autocast("cpu", enabled=False):
            careful = x @ x.T
    assert (scores.dtype, careful.dtype) == (BF16, torch.float32)


def a_step_passes_to_bf16_and_back():  # M25.5 M25.6
    """A step passes to bf16 and back.

    Which number has which format, then? One layer and one step, with what autocast does written
    out: products in bf16, the loss and AdamW in fp32.
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
    # Each gradient has the format of its tensor: at a cast on the way forward there is the opposite
    # one on the way back.
    assert all(backward[name].dtype == forward[name].dtype for name in forward)
    in_bf16 = [name for name, tensor in forward.items() if tensor.dtype == BF16]
    assert in_bf16 == ["copy of w", "x", "y = x w"]
    # What is large and short-lived is in bf16. What stays from step to step is in fp32, and so are
    # the few numbers in which exponentials are added up.
    assert {tensor.dtype for tensor in update.values()} == {torch.float32}
    # The gradient of w is made in bf16 and cast. fp32 does not bring back its digits; it gives room
    # to add up the gradients of several batches.
    assert torch.equal(backward["w"], backward["copy of w"].float())
    assert torch.allclose(backward["copy of w"], x.T @ backward["y = x w"], rtol=0.02, atol=1e-3)


E4M3_MOST = torch.finfo(torch.float8_e4m3fn).max


@shape_checked
def in_fp8(
    x: Float[Tensor, "rows columns"], block: int
) -> Float[Tensor, "rows columns"]:  # @stepover
    """Round to E4M3 with one scale for each block of a row, which brings its largest to 448."""
    blocks = x.unflatten(1, (-1, block))
    scales = E4M3_MOST / blocks.abs().amax(dim=2, keepdim=True)
    return ((blocks * scales).to(torch.float8_e4m3fn).float() / scales).flatten(1)


def eight_bits_need_scales():  # M25.6
    """Eight bits need scales.

    And half of 16? [fp8](https://arxiv.org/abs/2209.05433) in E4M3 has 3 bits of fraction and ends
    at 448, and at the other end at 1/512. No tensor of a training step fits in there by itself.
    """
    generator = torch.Generator().manual_seed(0)
    gradients, w = (torch.randn(64, 1024, generator=generator) for _ in range(2))
    gradients *= 1e-4
    assert E4M3_MOST == 448
    assert gradients.to(torch.float8_e4m3fn).float().abs().max() == 0
    # Multiplied by a number that brings the largest to 448, and divided by it afterwards, they have
    # an error of 2.6 %, which is what 3 bits allow. One such number for each row is enough, as the
    # numbers in it are of similar size.
    wide, exact = in_fp8(gradients, block=1024), gradients.double()
    assert round(relative_error(wide, exact), 3) == 0.026
    # fp8 has exponents, so numbers may differ in size by some powers of ten. But let one in each
    # row be 100 000 times as large as the others. They are scaled down with it, to where only
    # subnormal numbers are left.
    outliers = gradients.clone()
    outliers[:, 0] = 10.0
    later = slice(FP8_BLOCK_VALUES, None)
    errors = {
        block: relative_error(in_fp8(outliers, block)[:, later], exact[:, later])
        for block in (1024, FP8_BLOCK_VALUES)
    }  # @inspect errors
    assert round(errors[1024], 2) == 0.13
    # With a scale for every 128 numbers, as in the training of
    # [DeepSeek-V3](https://arxiv.org/abs/2412.19437), an outlier spoils its own block only.
    assert round(errors[128], 3) == 0.026
    assert 32 / FP8_BLOCK_VALUES == 0.25  # bits for an fp32 scale, per number
    # A product adds up many such errors of either sign, from both of its factors. However many
    # there are, its error is $\sqrt2$ times that of a single number.
    product = in_fp8(gradients, 128) @ in_fp8(w, 128).T
    of_product = relative_error(product, exact @ w.double().T)  # @inspect of_product
    assert math.isclose(of_product, 0.026 * math.sqrt(2), rel_tol=0.05)


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
    # From one format to the next with half the bits the rate doubles on each card, as the same
    # silicon and the same wires carry twice as many numbers. (tf32 has the bytes of fp32.) fp32
    # without tensor cores stands apart.
    for found in rates.values():
        steps = [rate * bits[name] for name, rate in found.items() if name in bits]
        assert max(steps) / min(steps) < 1.001  # data sheets round
    # Each generation of these cards brought a shorter format: bf16 in 2020, fp8 in 2022, fp4 in
    # 2024. Large models follow with some delay: DeepSeek-V3, trained in fp8, is of the end of 2024.
    # They are built so that they survive the format: norms in front of products, no outliers, sizes
    # that fill the tiles. Formats of 4 bits are in use for weights that are only read, and being
    # tried for training.
    most = rates["B200"]["fp4"] / rates["A100 SXM"]["bf16"]
    assert round(most) == 29  # @inspect most
    # A factor of 4 of this came from bits, in two halvings. The rest is more silicon.
    from_bits = rates["B200"]["fp4"] / rates["B200"]["bf16"]
    assert from_bits == 4
    assert round(most / from_bits, 1) == 7.2
    # This chapter in short: what is used and forgotten may be short; what collects small changes
    # may not.
