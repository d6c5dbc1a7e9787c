"""Tensors and the bytes they take."""

import math

import torch

from lecture.facts import (
    GPT2_VOCABULARY,
    GPT3_CONTEXT_TOKENS,
    GPT3_FEED_FORWARD_WIDTH,
    GPT3_LAYERS,
    GPT3_PARAMETERS,
    GPT3_WIDTH,
    H100_SXM,
    PCIE5_DATA_SHARE,
    PCIE5_TRANSFERS_PER_SECOND,
    PCIE_LANES,
)
from lecture.lib.normal import std_of_a_cut_normal
from lecture.lib.refused import refused
from lecture.part3_tensors import m05_figures as figures
from trace.costs import measure


def everything_is_a_tensor():  # M5.1
    """Everything is a tensor.

    What is it that takes up memory in training? One step touches five kinds of things, and all
    five are *tensors*: arrays of numbers of one type, with a size along each axis.
    """
    generator = torch.Generator().manual_seed(0)
    data = torch.randn(4, 3, generator=generator)  # @inspect data
    parameters = torch.randn(3, 2, generator=generator, requires_grad=True)
    # Forward: the data are multiplied with the parameters, and what comes out are activations.
    activations = data @ parameters  # @inspect activations
    # Backward: the *loss* is one number that says how wrong the result is, and a gradient says for
    # each parameter how the loss changes with it.
    loss = activations.square().mean()
    loss.backward()
    gradients = parameters.grad  # @inspect gradients
    # Update: the optimizer changes the parameters, and keeps notes on the gradients it has seen.
    # [AdamW](#adamw_averages_both) keeps two averages, of the gradients (`exp_avg`) and of their
    # squares (`exp_avg_sq`).
    optimizer = torch.optim.AdamW([parameters])
    optimizer.step()
    optimizer_state = optimizer.state[parameters]["exp_avg"]  # @inspect optimizer_state
    five_kinds = (data, parameters, activations, gradients, optimizer_state)
    for thing in five_kinds:
        assert isinstance(thing, torch.Tensor)
        assert thing.dtype == torch.float32
    # Four bytes for each number.
    assert [thing.untyped_storage().nbytes() for thing in five_kinds] == [48, 24, 32, 24, 24]
    # A gradient and an average have one number for each parameter. They stay as they are when more
    # data come in; activations grow with the data, row by row.
    assert gradients.shape == optimizer_state.shape == parameters.shape == (3, 2)
    assert activations.shape == (4, 2)
    assert (torch.cat([data, data]) @ parameters).shape == (8, 2)


def rank_means_two_things():  # M5.1 E37
    """Rank means two things.

    How many axes does a tensor have, and what is that number called? A tensor from the inside of a
    Transformer has four: B sequences, T tokens, h attention heads, K features of a head.
    """
    with measure() as cost:
        x = torch.zeros(32, 16, 16, 64)  # @inspect x.shape
    assert x.shape == (32, 16, 16, 64)
    assert x.ndim == 4
    # A row of numbers has one axis, a single number has none.
    assert x.flatten().ndim == 1
    assert x.sum().ndim == 0
    # Its elements are as many as the product of the sizes.
    assert x.numel() == 524_288
    # At 4 bytes a number that makes 2 MiB.
    assert cost.allocated_bytes == 2 * 2**20
    # The number of axes is often called the *rank*. In linear algebra the rank of a matrix is
    # something else: how many of its rows are linearly independent. A common mistake is to mix the
    # two, so this lecture says "axes", and `ndim` in code. (The [rank of a
    # merge](#the_smallest_rank_comes_first) was a third thing, a place in a list.)
    ones, identity = torch.ones(4, 4), torch.eye(4)
    assert ones.ndim == identity.ndim == 2
    assert ones.shape == identity.shape
    assert torch.linalg.matrix_rank(ones) == 1
    assert torch.linalg.matrix_rank(identity) == 4


def a_tensor_is_made_from_values_or_from_a_rule():  # M5.2
    """A tensor is made from values or from a rule.

    How does a tensor come to be? From values that exist, from a constant, from chance, or from
    whatever was in memory before.
    """
    listed = torch.tensor([[1.0, 2, 3], [4, 5, 6]])  # @inspect listed
    assert listed.shape == (2, 3)
    # The same by counting: `arange` stops before its end, `view` sets the shape.
    counted = torch.arange(1.0, 7).view(2, 3)
    assert torch.equal(counted, listed)
    # For a constant, a shape is enough; `full` takes any number.
    zeros, ones = torch.zeros(4, 8), torch.ones(4, 8)
    assert (zeros + ones).sum() == ones.numel() == 32
    assert torch.full((4, 8), 0.5).sum() == 16
    # Chance comes from a [generator with a seed](#a_seed_repeats_the_numbers), so that the same
    # numbers come again.
    normal = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))  # @inspect normal
    again = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))
    assert torch.equal(normal, again)
    # `empty` only takes the memory, which is enough where every element is written next.
    with measure() as cost:
        empty = torch.empty(4, 8)
    assert empty.shape == zeros.shape
    assert cost.allocated_bytes == zeros.untyped_storage().nbytes()
    # Until then its numbers are undefined: whatever the memory held. The deterministic mode, which
    # this lecture turns on in its first lines, fills them with NaN ("not a number"), so that a
    # forgotten element cannot hide.
    assert empty.isnan().all()


def cutting_the_tails_shrinks_the_spread():  # M5.2
    """Cutting the tails shrinks the spread.

    Weights often start from a normal distribution without its tails, so that no single weight
    starts out huge. What does the cut do to the standard deviation one asked for?
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.empty(2**16)
    torch.nn.init.trunc_normal_(x, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=generator)
    assert x.abs().max() <= 2
    # For a standard normal distribution cut at $\pm a$, integrating $x^2$ by parts gives the
    # variance $1 - 2a\,\varphi(a)/P$, with $\varphi$ its density before the cut and $P$ the
    # probability of landing inside.
    derived_std = std_of_a_cut_normal(2.0)  # @inspect derived_std
    assert round(derived_std, 4) == 0.8796
    # Asked for 1, got 0.88: `std` is the spread before the cut. 65 536 draws agree with the
    # derivation to half a percent.
    assert math.isclose(x.std().item(), derived_std, rel_tol=0.005)
    # Cut at 3, the spread stays within two percent of what was asked for.
    assert round(std_of_a_cut_normal(3.0), 4) == 0.9866
    # Uncut, as many draws reach beyond 3. The cut ones are denser in the middle instead.
    uncut = torch.randn(2**16, generator=generator)
    histograms = figures.two_histograms({"cut at ±2": x, "not cut": uncut})  # @inspect histograms
    assert uncut.abs().max() > 3
    # The cuts are values and [no multiples of `std`](#tails_are_cut_where_the_bounds_say). With a
    # spread of 0.02, usual for weights, the default cuts at -2 and 2 are a hundred spreads away.
    weights = torch.nn.init.trunc_normal_(torch.empty(2**16), std=0.02, generator=generator)
    assert math.isclose(weights.std().item(), 0.02, rel_tol=0.005)
    assert weights.abs().max() > 4 * 0.02


def bytes_are_elements_times_element_size():  # M5.3
    """Bytes are elements times element size.

    How much memory do the numbers of a tensor take? Nothing is compressed and nothing is added: the
    number of elements times the size of one. The type of the elements, the *dtype*, has its size in
    bits in its name. (What `e4m3fn` says is for [the next chapter](#e4m3_gives_up_infinity).)
    """
    shape = (4, 8)
    elements = math.prod(shape)
    bits_per_element = {
        torch.float64: 64,
        torch.float32: 32,
        torch.float16: 16,
        torch.bfloat16: 16,
        torch.float8_e4m3fn: 8,
        torch.int8: 8,
    }
    measured_bytes = {}
    for dtype, bits in bits_per_element.items():
        with measure() as cost:
            torch.zeros(shape, dtype=dtype)
        measured_bytes[str(dtype)] = cost.allocated_bytes
        assert cost.allocated_bytes == elements * bits // 8
    assert list(measured_bytes.values()) == [256, 128, 64, 64, 32, 32]
    dtype_chart = figures.bytes_by_dtype(measured_bytes)  # @inspect dtype_chart
    # `bool` has no number in its name: a truth value is one bit of information, and takes a byte.
    with measure() as cost:
        torch.zeros(shape, dtype=torch.bool)
    assert cost.allocated_bytes == elements == 32


def one_gpt3_matrix_takes_gigabytes():  # M5.4 E15
    """One matrix of GPT-3 takes 2.4 gigabytes.

    How large is one weight matrix of a large model? GPT-3 has a [feed-forward
    network](#swiglu_lets_one_half_gate_the_other) in each of its layers, which widens the 12 288
    features of a token four times and narrows them again.
    """
    # In fp32, four bytes each. On the device `meta` a tensor has a shape and a dtype and no
    # numbers: the meter books what the matrix would take, and no memory is needed.
    shape = (GPT3_FEED_FORWARD_WIDTH, GPT3_WIDTH)  # @inspect shape
    matrix = torch.empty(shape, device="meta")
    assert matrix.shape == (49_152, 12_288)
    matrix_bytes = matrix.untyped_storage().nbytes()  # @inspect matrix_bytes
    assert matrix_bytes == 2_415_919_104
    # One number, and two right ways to shorten it.
    assert round(matrix_bytes / 1e9, 3) == 2.416
    assert matrix_bytes / 2**30 == 2.25
    # A common mistake is to mix the two, and divide MiB by 1000. That gives 2.3, which is neither
    # gigabytes nor gibibytes.
    assert matrix_bytes / 2**20 == 2304
    assert round(matrix_bytes / 2**20 / 1000, 1) == 2.3
    # Two such matrices per layer are two thirds of the whole model.
    feed_forward_parameters = 2 * GPT3_LAYERS * matrix.numel()
    assert round(feed_forward_parameters / GPT3_PARAMETERS, 2) == 0.66
    # The rest is nearly all attention (four square matrices per layer) and the tables that turn
    # tokens and positions into features. Together they give the
    # [published](https://arxiv.org/abs/2005.14165) 174.6 billion, which is as exact as that table
    # is. What is left out, such as one number that is added to each output, is too little to show.
    attention_parameters = 4 * GPT3_LAYERS * GPT3_WIDTH**2
    table_parameters = (GPT2_VOCABULARY + GPT3_CONTEXT_TOKENS) * GPT3_WIDTH
    parameters = feed_forward_parameters + attention_parameters + table_parameters
    assert round(parameters, -8) == GPT3_PARAMETERS  # @inspect parameters


def a_tensor_lives_on_one_device():  # M5.5 E26
    """A tensor lives on one device.

    Where are the bytes? In the memory of one device, by default the computer's own: `cpu`. An
    operation runs where its inputs are.
    """
    # A tensor in the wrong place makes a program slow, or stop late. So assert where it is.
    with measure() as cost:
        x, y = torch.zeros(32, 32), torch.zeros(32, 32)
    assert x.device == torch.device("cpu")
    assert cost.allocated_bytes == 2 * 32 * 32 * 4 == 8192
    # `.to(device)` makes a copy elsewhere; with `device=...` a tensor is made where it belongs.
    if torch.cuda.is_available():
        before_bytes = torch.cuda.memory_allocated()
        moved = x.to("cuda")
        made_there = torch.zeros(32, 32, device="cuda")
        assert moved.device == made_there.device == torch.device("cuda", 0)
        assert torch.cuda.memory_allocated() - before_bytes == 8192
        # The GPU's allocator deals in blocks of 512 bytes: a single number takes a whole one.
        single = torch.zeros(1, device="cuda")
        assert single.untyped_storage().nbytes() == 4
        assert torch.cuda.memory_allocated() - before_bytes == 8192 + 512
    else:
        skipped = "no CUDA device here: only the CPU half was measured"  # @inspect skipped
    # Tensors on different devices do not meet by themselves: a copy must be asked for. Only a
    # single number on the CPU, a tensor without axes, is taken along.
    with refused(RuntimeError) as error:
        x + y.to("meta")
    assert error.message
    assert (x.sum() + y.to("meta")).device == torch.device("meta")


def the_way_to_the_accelerator_is_narrow():  # M5.6
    """The way to the accelerator is narrow.

    What does `.to("cuda")` cost? An accelerator has memory of its own, next to its processor. What
    comes from the memory of the computer, the *host*, has to pass a bus, PCI Express.
    """
    # A PCIe 5 slot of full width has 16 lanes, each with 32e9 transfers of one bit per second in
    # each direction. One gigabyte takes 15.6 ms.
    bus_bytes_per_second = PCIE_LANES * PCIE5_TRANSFERS_PER_SECOND / 8
    assert bus_bytes_per_second == 64e9
    transfer_seconds = 1e9 / bus_bytes_per_second
    assert round(1000 * transfer_seconds, 1) == 15.6
    # At best: of 130 bits on the wire 128 are data (128b/130b), which leaves 63 GB/s, and packet
    # headers take their share after that.
    assert round(bus_bytes_per_second * PCIE5_DATA_SHARE / 1e9, 1) == 63.0
    # The operating system may move ordinary memory about, so it is copied once more on the way.
    # [*Pinned* memory](#pinned_memory_stays_where_it_is) stays where it is and goes straight
    # across. A card that is here can show it.
    if torch.cuda.is_available():
        card = torch.cuda.get_device_properties(0)
        assert 100 * card.L2_cache_size < card.total_memory  # @inspect card.name
        numbers = torch.zeros(2**28, dtype=torch.uint8).pin_memory()
        with measure() as cost:
            moved = numbers.to("cuda")
        assert cost.allocated_bytes == 2**28
        bytes_per_second = 2**28 / cost.seconds  # @timed @inspect bytes_per_second
    else:
        skipped = "no CUDA device here: no transfer was timed"  # @inspect skipped
    # At 3.35 TB/s an H100 reads the same gigabyte from its own memory 52 times faster. The links
    # are drawn as wide as they are fast.
    read_seconds = 1e9 / H100_SXM.memory_bytes_per_second
    assert round(1000 * read_seconds, 2) == 0.30
    assert round(transfer_seconds / read_seconds) == 52
    machine = figures.host_and_accelerator(H100_SXM, bus_bytes_per_second)  # @inspect machine
    # So data should be moved once, and early: while a gigabyte passes the bus, the processor could
    # do 15.5e12 FLOPs in matrix products of bf16.
    waiting_flops = transfer_seconds * H100_SXM.dense_flops_per_second["bf16"]
    assert round(waiting_flops / 1e12, 1) == 15.5
    # This chapter in short: a tensor takes its elements times the size of one, nothing more and
    # nothing less, in the memory of one device. From one device to another it is a long way.
