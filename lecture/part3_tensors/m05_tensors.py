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
from lecture.lib.refused import refused
from lecture.part3_tensors import m05_figures as figures
from trace.costs import measure


def everything_is_a_tensor():  # M5.1 @core
    """Everything is a tensor.

    We can estimate what training costs. We cannot yet say what all those bytes are. One training
    step touches five kinds of things, and all five are *tensors*: arrays of numbers of one type,
    with a size along each axis. Which of them grow when we feed in more data?
    """
    # @note Have the five kinds counted on five fingers. Then go through them once more: does this
    # one grow with the data? Ask why the three that belong to the parameters do not.
    generator = torch.Generator().manual_seed(0)
    data = torch.randn(4, 3, generator=generator)  # @inspect data
    parameters = torch.randn(3, 2, generator=generator, requires_grad=True)
    # Forward pass: the matmul of data and parameters gives activations. `requires_grad` tells
    # PyTorch that we will ask for gradients of the parameters.
    activations = data @ parameters  # @inspect activations
    # Backward pass: a gradient says for each parameter how the loss changes with it.
    loss = activations.square().mean()
    loss.backward()
    gradients = parameters.grad  # @inspect gradients
    # Update: the optimizer changes the parameters, and keeps notes on the gradients it has seen.
    # [AdamW](#adamw_averages_both) keeps two averages, of the gradients (`exp_avg`) and of their
    # squares.
    optimizer = torch.optim.AdamW([parameters])
    optimizer.step()
    optimizer_state = optimizer.state[parameters]["exp_avg"]  # @inspect optimizer_state
    five_kinds = (data, parameters, activations, gradients, optimizer_state)
    assert all(isinstance(thing, torch.Tensor) for thing in five_kinds)
    # In memory, four bytes for each number.
    assert [thing.untyped_storage().nbytes() for thing in five_kinds] == [48, 24, 32, 24, 24]
    # Gradients have one number for each parameter, and so has each of the two averages. What of the
    # activations, if the data are twice as many?
    assert gradients.shape == optimizer_state.shape == parameters.shape
    assert (torch.cat([data, data]) @ parameters).shape == (8, 2)  # @predict
    # They have a row for each row of data: twice the data, twice the activations.


def rank_means_two_things():  # M5.1 E37
    """Rank means two things.

    How many axes does a tensor have? A tensor from inside a Transformer has four: B sequences, T
    tokens, H attention heads, K features of a head.
    """
    B, T, H, K = 32, 16, 16, 64
    with measure() as cost:
        x = torch.zeros(B, T, H, K)  # @inspect x.shape
    assert x.ndim == 4
    # A row of numbers has one axis. A single number has none, and is called a *scalar*.
    assert x.flatten().ndim == 1  # @predict
    assert x.sum().ndim == 0  # @predict
    # The number of elements is the product of the sizes. At 4 bytes each, these take 2 MiB.
    assert x.numel() == B * T * H * K
    assert cost.allocated_bytes == 4 * x.numel() == 2 * 2**20
    # Many texts call the number of axes the *rank*. In linear algebra, the rank of a matrix is
    # something else: how many of its rows are linearly independent. Two matrices, two axes each:
    ones, identity = torch.ones(4, 4), torch.eye(4)
    assert ones.ndim == identity.ndim == 2
    assert torch.linalg.matrix_rank(ones) == 1  # @predict
    assert torch.linalg.matrix_rank(identity) == 4
    # So we say "axes", and `ndim` in code.


def a_tensor_is_made_from_values_or_from_a_rule():  # M5.2
    """A tensor is made from values or from a rule.

    Where do the first numbers come from? From values that exist, from a constant, from chance, or
    from whatever was in memory before.
    """
    listed = torch.tensor([[1.0, 2, 3], [4, 5, 6]])  # @inspect listed
    # The same by counting: `arange` stops before its end, `view` sets the shape.
    counted = torch.arange(1.0, 7).view(2, 3)
    assert torch.equal(counted, listed)
    # For a constant, a shape is enough; `full` takes any number.
    zeros, ones = torch.zeros(4, 8), torch.ones(4, 8)
    assert (zeros + ones).sum() == ones.numel() == 32
    assert torch.full((4, 8), 0.5).sum() == 16  # @predict
    # If chance is to repeat, we hand in a [generator with a seed](#a_seed_repeats_the_numbers): the
    # same seed, the same numbers.
    normal = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))  # @inspect normal
    again = torch.randn(4, 8, generator=torch.Generator().manual_seed(7))
    assert torch.equal(normal, again)
    # `empty` only allocates. That is enough where every element is written next.
    with measure() as cost:
        empty = torch.empty(4, 8)
    assert cost.allocated_bytes == zeros.untyped_storage().nbytes()
    # Until then its numbers are undefined: whatever the memory held. This lecture turns on a mode
    # that fills them with NaN ("not a number"), so that a forgotten element cannot hide.
    assert empty.isnan().all()


def bytes_are_elements_times_element_size():  # M5.3 @core
    """Bytes are elements times element size.

    How much memory do the numbers of a tensor need? The type of the elements, the *dtype*, has its
    size in bits in its name, so you can predict all of these: $\\text{bytes} = \\text{elements}
    \\times \\text{bits}/8$. (What `e4m3fn` says is for [the next
    chapter](#fp8_comes_in_two_kinds).)
    """
    # @note Before the chart, let them say the bytes for each dtype in order; it goes fast, and it
    # should. Stop at `bool`: collect bets before the last claim.
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
    dtype_chart = figures.bytes_by_dtype(measured_bytes)  # @inspect dtype_chart
    # `bool` has no number in its name. A truth value is one bit of information; guess what it
    # takes.
    with measure() as cost:
        torch.zeros(shape, dtype=torch.bool)
    assert cost.allocated_bytes == elements
    # A byte. So these are the bytes of the **numbers**. What is held in memory can be more (the
    # allocator of a GPU deals in blocks) or less (one number can [stand for
    # many](#expanding_repeats_without_copying)).


def one_gpt3_matrix_takes_gigabytes():  # M5.4 E15
    """One matrix of GPT-3 takes 2.4 gigabytes in fp32.

    How large is one weight matrix of a large model? GPT-3 has a feed-forward network in each of its
    layers: one matrix widens the 12 288 features of a token four times, a second one narrows them
    again.
    """
    # In fp32, four bytes each, this would need 2.4 GB. On the device `meta` it needs nothing: the
    # tensor has a shape and a dtype and no numbers.
    shape = (GPT3_FEED_FORWARD_WIDTH, GPT3_WIDTH)  # @inspect shape
    matrix = torch.empty(shape, device="meta")
    matrix_bytes = matrix.untyped_storage().nbytes()  # @inspect matrix_bytes
    # One number, and two right ways to shorten it.
    assert round(matrix_bytes / 1e9, 3) == 2.416  # @predict
    assert matrix_bytes / 2**30 == 2.25  # @predict
    # What share of the model is in such matrices? Two in each layer make two thirds.
    feed_forward_parameters = 2 * GPT3_LAYERS * matrix.numel()
    assert round(feed_forward_parameters / GPT3_PARAMETERS, 2) == 0.66
    # Nearly all the rest is attention, four square matrices per layer, and the two tables that turn
    # tokens and positions into features. Together they give the
    # [published](https://arxiv.org/abs/2005.14165) 174.6 billion, to the last printed digit.
    attention_parameters = 4 * GPT3_LAYERS * GPT3_WIDTH**2
    table_parameters = (GPT2_VOCABULARY + GPT3_CONTEXT_TOKENS) * GPT3_WIDTH
    N = feed_forward_parameters + attention_parameters + table_parameters
    assert round(N, -8) == GPT3_PARAMETERS  # @inspect N


def a_tensor_lives_on_one_device():  # M5.5 E26
    """A tensor lives on one device.

    Where are the bytes? In the memory of one device, by default that of the CPU. An operation runs
    where its inputs are.
    """
    # A tensor in the wrong place can make a program slow, or stop it an hour later. So assert where
    # it is.
    with measure() as cost:
        x, y = torch.zeros(32, 32), torch.zeros(32, 32)
    assert x.device == torch.device("cpu")
    assert cost.allocated_bytes == 2 * (32 * 32 * 4)  # @predict
    # `.to(device)` makes a copy elsewhere; with `device=...` a tensor is made where it belongs.
    if torch.cuda.is_available():
        before_bytes = torch.cuda.memory_allocated()
        moved = x.to("cuda")
        made_there = torch.zeros(32, 32, device="cuda")
        assert moved.device == made_there.device == torch.device("cuda", 0)
        assert torch.cuda.memory_allocated() - before_bytes == 8192
        # The GPU's allocator deals in blocks of 512 bytes: one number takes a whole block.
        scalar = torch.zeros(1, device="cuda")
        assert scalar.untyped_storage().nbytes() == 4
        assert torch.cuda.memory_allocated() - before_bytes == 8192 + 512
    else:
        skipped = "no CUDA device here: only the CPU half was measured"  # @inspect skipped
    # What if we add tensors of different devices? PyTorch refuses: a copy must be asked for. Only a
    # scalar on the CPU, a tensor without axes, is taken along.
    with refused(RuntimeError) as error:
        x + y.to("meta")
    assert "device" in error.message
    assert (x.sum() + y.to("meta")).device == torch.device("meta")


def the_way_to_the_accelerator_is_narrow():  # M5.6
    """The way to the accelerator is narrow.

    What does `.to("cuda")` cost? A GPU has memory of its own. What comes from the memory of the
    CPU, the *host*, usually passes a bus, PCI Express. (Some machines have a faster link there, and
    some share one memory.)
    """
    # A full PCIe 5 slot has 16 lanes, each with 32e9 transfers of one bit per second in each
    # direction. 128 of each 130 bits on the wire are data, which leaves 63 GB/s.
    bus_bytes_per_second = PCIE_LANES * PCIE5_TRANSFERS_PER_SECOND * PCIE5_DATA_SHARE / 8
    assert round(bus_bytes_per_second / 1e9) == 63
    # One gigabyte takes 16 ms, at best: packet headers take their share, too.
    transfer_seconds = 1e9 / bus_bytes_per_second  # @inspect transfer_seconds
    assert round(1000 * transfer_seconds) == 16  # @predict
    # From its own memory (*HBM*, high-bandwidth memory) an H100 SXM reads the same gigabyte at 3.35
    # TB/s, at best. How many times faster is that? In the picture, the links are as wide as they
    # are fast.
    read_seconds = 1e9 / H100_SXM.memory_bytes_per_second
    assert round(transfer_seconds / read_seconds) == 53  # @predict
    machine = figures.host_and_accelerator(H100_SXM, bus_bytes_per_second)  # @inspect machine
    # And in the 16 ms, the processor could at its peak do 16 TFLOP of matmuls in bf16.
    waiting_flops = transfer_seconds * H100_SXM.dense_flops_per_second["bf16"]
    assert round(waiting_flops / 1e12) == 16
    # If there is a GPU here, we can time the copy. The source is
    # [*pinned*](#pinned_memory_stays_where_it_is): the operating system leaves it where it is.
    if torch.cuda.is_available():
        numbers = torch.zeros(2**28, dtype=torch.uint8).pin_memory()
        with measure() as cost:
            moved = numbers.to("cuda")
        assert cost.allocated_bytes == moved.numel()
        bytes_per_second = 2**28 / cost.seconds  # @timed @inspect bytes_per_second
    else:
        skipped = "no CUDA device here: no transfer was timed"  # @inspect skipped
    # So: move data once, and early.
    #
    # What we can do now: name the five kinds of tensors in a training step, compute the bytes of a
    # tensor, and say where they are. How a number fits into two bytes comes next.


def exercise_ids_and_activations():  # M5.3 @exercise
    """Exercise: ids and activations.

    A batch of 16 sequences of 4096 tokens comes as int64 ids. The first layer turns each id into
    8192 features in bf16. How many bytes are the ids, and by which factor do the bytes grow?
    """
    ids = torch.empty(16, 4096, dtype=torch.int64, device="meta")
    x = torch.empty(*ids.shape, 8192, dtype=torch.bfloat16, device="meta")
    sizes = ids.nbytes, x.nbytes  # @inspect sizes
    # Half a mebibyte, and $8192\cdot2/8$ times as much: data are small, activations are not.
    assert ids.nbytes == 512 * 2**10
    assert x.nbytes // ids.nbytes == 2048


def exercise_one_and_nothing():  # M5.1 @exercise
    """Exercise: one and nothing.

    How many elements have `torch.zeros(())` and `torch.zeros(0, 1000)`, and how many axes? Write
    down four numbers before you look.
    """
    scalar, empty = torch.zeros(()), torch.zeros(0, 1000)
    # The number of elements is the product of the sizes. A product of no factors is 1; one with a
    # factor of 0 is 0, however large the others are.
    assert (scalar.numel(), scalar.ndim) == (1, 0)
    assert (empty.numel(), empty.ndim) == (0, 2)
