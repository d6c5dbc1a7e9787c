"""How tokens and numbers get from a file to the device that computes with them."""

import math
import mmap
import tempfile
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lecture.facts import (
    GPT2_VOCABULARY,
    GPT3_BATCH_TOKENS,
    GPT3_PARAMETERS,
    H100_SXM,
    LLAMA3_TRAINING_TOKENS,
    LLAMA3_VOCABULARY,
    LLAMA_TRAINING_TOKENS,
    LLAMA_VOCABULARY,
    PCIE5_DATA_SHARE,
    PCIE5_TRANSFERS_PER_SECOND,
    PCIE_LANES,
)
from lecture.lib.batches import get_batch, random_starts, regression_batch, squared_error
from lecture.lib.refused import refused
from lecture.lib.timing import time_call
from lecture.part6_training import m22_figures as figures
from trace.costs import measure


def a_token_file_is_a_flat_array():  # M22.1
    """A token file is a flat array.

    What does a corpus look like when training reads it? The text is gone. A
    [tokenizer](#a_tokenizer_turns_text_into_integers) has turned it into ids, and these lie one
    after the other in a file, each in as many bytes as its dtype has.
    """
    # Ten ids of GPT-2, the last of its vocabulary:
    ids = list(range(GPT2_VOCABULARY - 10, GPT2_VOCABULARY))
    file_bytes = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        for dtype in (np.int64, np.int32, np.uint16):
            np.array(ids, dtype=dtype).tofile(path)
            file_bytes[dtype.__name__] = path.stat().st_size  # @inspect file_bytes
            assert np.fromfile(path, dtype=dtype).tolist() == ids
    assert file_bytes == {"int64": 80, "int32": 40, "uint16": 20}
    # `uint16` has no sign and counts to 65 535. That is
    # [enough](#two_bytes_are_enough_for_65536_ids) for the ids of GPT-2 and of LLaMA. The 1.4
    # trillion tokens that the larger [LLaMA](https://arxiv.org/abs/2302.13971) models read take 2.8
    # TB in this form.
    ids_of_uint16 = np.iinfo(np.uint16).max + 1
    assert LLAMA_VOCABULARY < GPT2_VOCABULARY < ids_of_uint16 == 65_536
    bytes_per_token = file_bytes["uint16"] / len(ids)
    assert bytes_per_token * LLAMA_TRAINING_TOKENS == 2.8e12
    # A common mistake is to take over the dtype with the code. Llama 3 has ids up to 128 255; those
    # that do not fit lose their upper bits, in silence.
    last = np.array([LLAMA3_VOCABULARY - 1])
    assert last.astype(np.uint16).item() == 128_255 - 65_536
    # Its 15 trillion tokens need the next larger dtype, and 60 TB.
    assert last.astype(np.uint32).item() == 128_255
    assert np.dtype(np.uint32).itemsize * LLAMA3_TRAINING_TOKENS == 60e12


def a_raw_dump_has_no_header():  # M22.2 E101
    """A raw dump has no header.

    Does the file know what is in it? `np.save` writes a header with dtype and shape before the
    numbers. `tofile` writes the numbers.
    """
    tokens = np.arange(10, dtype=np.int32)
    with tempfile.TemporaryDirectory() as folder:
        saved, dumped = Path(folder, "saved.npy"), Path(folder, "dumped.npy")
        np.save(saved, tokens)
        tokens.tofile(dumped)
        header_bytes = saved.stat().st_size - dumped.stat().st_size
        assert (dumped.stat().st_size, header_bytes) == (40, 128)
        assert saved.read_bytes()[128:] == dumped.read_bytes()
        # The header is text that one can read: `<` puts the lowest byte first, `i4` is an integer
        # of four bytes.
        header = saved.read_bytes()[10:].split(b"}")[0].decode() + "}"  # @inspect header
        assert header == "{'descr': '<i4', 'fortran_order': False, 'shape': (10,), }"
        # A common mistake is to give a raw dump the name of the other kind. `np.load` looks for the
        # header and not at the name, and refuses.
        with refused(ValueError) as error:
            np.load(dumped)
        assert error.message
        # The worse mistake goes unnoticed. Whoever reads a dump has to know the dtype; with the
        # wrong one, ten tokens are twenty, and every second is zero.
        misread = np.memmap(dumped, dtype=np.int16, mode="r")
        assert misread.tolist() == [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0, 9, 0]
        # So the dtype belongs beside a dump, in a small file of its own, or into the file:
        # `np.load` maps what `np.save` has written, too.
        mapped = np.load(saved, mmap_mode="r")
        assert (mapped.dtype, mapped.tolist()) == (np.int32, tokens.tolist())


def has_holes(path: Path) -> bool:  # @stepover
    """Tell whether the file system keeps less than the whole file; it counts in 512 bytes."""
    return path.stat().st_blocks * 512 < path.stat().st_size


def a_mapped_file_is_read_where_it_is_touched():  # M22.2
    """A mapped file is read where it is touched.

    How does one train on a file that is larger than memory? By *mapping* it: its bytes get
    addresses, as if they were in memory, and the operating system fetches a *page*, some
    kilobytes, when one of its addresses is used for the first time.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        # As many tokens as LLaMA read, on any laptop: most file systems let a file have holes,
        # which read as zeros and are kept nowhere.
        shape = (LLAMA_TRAINING_TOKENS,)
        written = np.memmap(path, dtype=np.uint16, mode="w+", shape=shape)
        written[700_000_000_000:700_000_000_004] = [5, 6, 7, 8]
        written.flush()
        assert path.stat().st_size == 2.8e12
        holes = has_holes(path)
        assert holes
        # Mapped, it looks like an array that is there. Only addresses were given out: this array
        # owns no memory.
        tokens = np.memmap(path, dtype=np.uint16, mode="r")
        assert tokens.shape == (1_400_000_000_000,)
        assert not tokens.flags.owndata
        # A slice is a view, and still reads nothing. Four tokens in the middle of 2.8 TB:
        middle = tokens[700_000_000_000:][:4]
        assert np.shares_memory(middle, tokens)
        assert middle.tolist() == [5, 6, 7, 8]
        # What goes on to PyTorch is a copy of these four. It takes 32 bytes.
        with measure() as cost:
            batch = torch.tensor(middle.astype(np.int64))  # @inspect batch
        assert cost.allocated_bytes == 4 * 8
        assert batch.tolist() == middle.tolist()


def a_mapping_writes_through_unless_told_not_to():  # M22.2 E101
    """A mapping writes through unless told not to.

    What happens to the file when the array is changed? That depends on the mode, and the default
    is the dangerous one.
    """
    tokens = np.arange(10, dtype=np.uint16)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        tokens.tofile(path)
        # A common mistake: to leave the mode out. The default is "r+", read and write, and a line
        # that shifts a batch by one in place shifts the corpus, for good.
        mapped = np.memmap(path, dtype=np.uint16)
        assert np.array_equal(mapped, tokens)
        mapped[2:4] += 100
        mapped.flush()
        assert np.fromfile(path, dtype=np.uint16).tolist() == [0, 1, 102, 103, 4, 5, 6, 7, 8, 9]
        # With "r", an assignment raises an error.
        read_only = np.memmap(path, dtype=np.uint16, mode="r")
        assert mapped.flags.writeable
        assert not read_only.flags.writeable
        # With "c", *copy on write*, the array changes and the file does not: the page is copied at
        # the first write to it.
        private = np.memmap(path, dtype=np.uint16, mode="c")
        private[6] = 600
        assert private[6] == 600
        assert read_only.tolist() == [0, 1, 102, 103, 4, 5, 6, 7, 8, 9]
        # "w+" makes a new file, and empties one that is there.
        emptied = np.memmap(path, dtype=np.uint16, mode="w+", shape=(5,))
        assert emptied.tolist() == [0, 0, 0, 0, 0]
        assert path.stat().st_size == 5 * 2


def address(array: np.ndarray) -> int:  # @stepover
    """Return where in memory an array begins."""
    return int(array.__array_interface__["data"][0])


def pages_of(window: np.ndarray, tokens: np.ndarray) -> set[int]:  # @stepover
    """Return on which pages of a mapping the tokens of a window lie, by their addresses."""
    places = (address(window[token:]) for token in range(len(window)))
    return {(place - address(tokens)) // mmap.PAGESIZE for place in places}


def a_batch_touches_few_pages():  # M22.2
    """A batch touches few pages.

    How much of the file does a batch bring into memory? Whole pages: those that its windows of
    T + 1 tokens overlap.
    """
    T, B, pages = 500, 6, 64
    page_tokens = mmap.PAGESIZE // 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        np.zeros(pages * page_tokens, dtype=np.uint16).tofile(path)
        assert path.stat().st_size == 64 * mmap.PAGESIZE
        # The mapping begins at a page, so the addresses of its tokens say on which page they lie.
        # (With this seed and pages of 4 KiB, one of the windows crosses a border.)
        tokens = np.memmap(path, dtype=np.uint16, mode="r")
        starts = random_starts(len(tokens), T, B, torch.Generator().manual_seed(161))
        windows = [tokens[start : start + T + 1] for start in starts]
        touched = set().union(*(pages_of(window, tokens) for window in windows))
    file_pages = figures.file_pages(starts, T + 1, page_tokens, pages)  # @inspect file_pages
    assert [window.nbytes for window in windows] == 6 * [501 * 2]
    # Without addresses: from the page of the first token to that of the last.
    ends = [(start // page_tokens, (start + 500) // page_tokens) for start in starts]
    pages_between = {page for first, last in ends for page in range(first, last + 1)}
    assert sorted(touched) == sorted(pages_between)
    # So a window lies on one page or two. Of all places in a page where it can start, T make it
    # cross the border to the next.
    crossing = sum((first + T) // page_tokens for first in range(page_tokens))
    assert crossing == T == 500
    # What counts is the batch, not the file: at most two pages for each window, however large the
    # file is. (The system may read ahead, which random places make useless.)
    assert len(touched) <= 2 * B


def targets_are_inputs_one_token_later():  # M22.3
    """Targets are inputs, one token later.

    What does a language model learn from a stream of tokens? At each place, which token comes
    next. So a window of T + 1 tokens holds T inputs and T answers.
    """
    B, T = 3, 4
    tokens = np.arange(10, dtype=np.uint16)
    x, y = get_batch(tokens, B, T, torch.Generator().manual_seed(0))  # @inspect x y
    assert torch.equal(y[:, :-1], x[:, 1:])
    assert torch.equal(y, x + 1)
    # The windows differ: each row starts at its own random place. Where a document ends does not
    # matter; one window may hold the end of one text and the beginning of the next.
    assert len(set(x[:, 0].tolist())) == 3
    # Two bytes per token in the file are eight here: `int64` is what the loss takes for targets.
    assert x.dtype == y.dtype == torch.int64
    # Both are views of one tensor. It has B·(T + 1) elements, not twice B·T.
    assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == 3 * 5 * 8
    # In a file of n tokens a window can start at n − T places: here at six, and enough draws hit
    # each of them.
    x, y = get_batch(tokens, 500, T, torch.Generator().manual_seed(0))
    assert set(x[:, 0].tolist()) == {0, 1, 2, 3, 4, 5}
    assert y.max() == 9
    # A common mistake is one place too many. There the window has no last answer.
    assert len(tokens[6 : 6 + T + 1]) == 4
    # Why not compute with `uint16`? It cannot be negative, and differences wrap around in silence.
    assert (tokens[2:3] - tokens[5:6]).tolist() == [65_536 - 3]


def tokens_missed(starts: list[int], T: int, file_tokens: int) -> float:  # @stepover
    """Return the share of a file that lies in none of the windows."""
    seen = np.zeros(file_tokens, dtype=bool)
    for start in starts:
        seen[start : start + T] = True
    return float(1 - seen.mean())


def random_places_miss_a_third():  # M22.3
    """Random places miss a third of the text.

    After as many tokens as the file has, has the model read the file? Not if windows start at
    random places: some text is met twice, some not at all.
    """
    T, windows = 16, 4096
    file_tokens = T * windows
    generator = torch.Generator().manual_seed(0)
    # A token is missed by one window with probability $1 - T/n$, and by $n/T$ of them with
    # $(1-T/n)^{n/T}$, which is close to $1/e$, 37 %.
    starts = random_starts(file_tokens, T, windows, generator)
    missed = tokens_missed(starts, T, file_tokens)
    assert math.isclose(missed, 1 / math.e, abs_tol=0.02)  # @inspect missed
    # Three times as many windows leave $e^{-3}$, a twentieth.
    more = random_starts(file_tokens, T, 3 * windows, generator)
    assert math.isclose(tokens_missed(more, T, file_tokens), math.exp(-3), abs_tol=0.01)
    # To read everything once, the file is cut into windows side by side, and these are shuffled.
    shuffled = T * torch.randperm(file_tokens // T, generator=generator)
    assert len(shuffled) == windows == 4096
    assert tokens_missed(shuffled.tolist(), T, file_tokens) == 0
    # Where a corpus is much larger than what is read of it, there is little to gain: a hundredth of
    # the windows read next to a hundredth of the text.
    few = starts[: windows // 100]
    assert math.isclose(1 - tokens_missed(few, T, file_tokens), 0.01, rel_tol=0.05)


def schedule(
    copy_ms: float, compute_ms: float, batches: int, buffers: int
) -> list[tuple[str, int, float, float]]:  # @stepover
    """Let one engine copy batches and another compute with them, and note who works when.

    Each engine does one thing at a time. A copy needs a free buffer; computing frees it.
    """
    done: list[tuple[str, int, float, float]] = []
    copied_ms = 0.0
    computed_ms = [0.0] * buffers
    for batch in range(batches):
        start_ms = max(copied_ms, computed_ms[-buffers])
        copied_ms = start_ms + copy_ms
        done.append(("copy", batch, start_ms, copied_ms))
        start_ms = max(copied_ms, computed_ms[-1])
        computed_ms.append(start_ms + compute_ms)
        done.append(("compute", batch, start_ms, computed_ms[-1]))
    return done


def a_copy_can_hide_behind_the_computing():  # M22.4
    """A copy can hide behind the computing.

    Does the accelerator have to wait while the next batch is on its way? No: the engine that copies
    is another than the one that computes. With room for two batches, one is copied while the other
    is computed with, as [inside an accelerator](#every_operation_loads_computes_and_stores).
    """
    schedules = {
        buffers: schedule(copy_ms=2.0, compute_ms=3.0, batches=4, buffers=buffers)
        for buffers in (1, 2, 3)
    }
    timelines = figures.timelines(schedules)  # @inspect timelines
    # With one buffer the times add up. With two, only the first copy is waited for. A third gains
    # nothing as long as every batch takes as long as the others.
    finished_ms = {buffers: steps[-1][-1] for buffers, steps in schedules.items()}
    assert finished_ms == {1: 4 * (2 + 3), 2: 2 + 4 * 3, 3: 2 + 4 * 3}
    assert schedules[2][-1] == ("compute", 3, 2 + 3 * 3, 14)
    # If the copies take longer, they set the pace, and only the last computation sticks out.
    slow_copies = schedule(copy_ms=3.0, compute_ms=2.0, batches=4, buffers=2)
    assert slow_copies[-1] == ("compute", 3, 4 * 3, 4 * 3 + 2)
    # At best, when both take equally long, this halves the time of a long run.
    long_ms = [schedule(1.0, 1.0, batches=1000, buffers=buffers)[-1][-1] for buffers in (1, 2)]
    assert long_ms == [2000, 1001]


def tokens_are_light():  # M22.4
    """Tokens are light.

    How long is the copy that is to be hidden? For language models it is hardly worth a thought,
    and it is good to know why.
    """
    # A batch of GPT-3 is 3.2 million tokens and as many targets, 8 bytes each. Through one [PCIe 5
    # slot](#the_way_to_the_accelerator_is_narrow) of full width, 63 GB/s, all of it passes in less
    # than a millisecond.
    tokens = torch.empty(GPT3_BATCH_TOKENS, dtype=torch.int64, device="meta")
    batch_bytes = 2 * tokens.untyped_storage().nbytes()
    assert batch_bytes == 51_200_000
    bus_bytes_per_second = PCIE_LANES * PCIE5_TRANSFERS_PER_SECOND * PCIE5_DATA_SHARE / 8
    assert round(bus_bytes_per_second / 1e9) == 63
    copy_ms = 1000 * batch_bytes / bus_bytes_per_second  # @inspect copy_ms
    assert round(copy_ms, 4) == 0.8125
    # At half their peak, 1024 cards compute with it for 6.6 seconds.
    card_flops_per_second = 0.5 * H100_SXM.dense_flops_per_second["bf16"]
    batch_flops = 6 * GPT3_PARAMETERS * GPT3_BATCH_TOKENS
    assert round(batch_flops / (1024 * card_flops_per_second), 1) == 6.6
    # A token is 16 bytes on the bus and 6 FLOPs for each parameter. Both take equally long with
    # 21 thousand parameters; every larger model computes for longer.
    token_seconds = batch_bytes / GPT3_BATCH_TOKENS / bus_bytes_per_second
    balanced_parameters = token_seconds * card_flops_per_second / 6  # @inspect balanced_parameters
    assert round(balanced_parameters, -2) == 20_900
    # Images are another matter: 256 of them, with three colours of 224×224 points in fp32, are 154
    # MB. As the bytes that they were in the file they are a quarter, and the device can convert
    # them.
    images = torch.empty(256, 3, 224, 224, device="meta")
    assert images[0].numel() == 3 * 224 * 224
    as_bytes = images.to(torch.uint8)
    assert (
        images.untyped_storage().nbytes() == 154_140_672 == 4 * as_bytes.untyped_storage().nbytes()
    )
    assert round(1000 * 154_140_672 / bus_bytes_per_second, 1) == 2.4


def pinned_memory_stays_where_it_is():  # M22.4
    """Pinned memory stays where it is.

    What does it take for a copy to run beside the computing? The engine that copies reads memory
    by itself, while the operating system is free to move ordinary pages or to write them to disk.
    *Pinned* pages are promised to stay where they are.
    """
    tokens = torch.arange(2**20).view(2**10, 2**10)
    assert not tokens.is_pinned()
    if torch.cuda.is_available():
        # Only from here does `non_blocking=True` return early. Until the copy is done, the source
        # must not change.
        pinned = tokens.pin_memory()
        assert pinned.is_pinned()
        copying = torch.cuda.Stream()
        with torch.cuda.stream(copying):
            moved = pinned.to("cuda", non_blocking=True)
        computed = 2 * torch.ones(2**20, device="cuda")  # meanwhile, on the usual stream
        torch.cuda.current_stream().wait_stream(copying)
        assert torch.equal(moved.cpu(), tokens)
        assert (computed == 2).all()
        from_ordinary = time_call(lambda: tokens.to("cuda")).best_seconds  # @timed
        from_pinned = time_call(lambda: pinned.to("cuda", non_blocking=True)).best_seconds  # @timed
        speedup = from_ordinary / from_pinned  # @timed @inspect speedup
    else:
        # No CUDA device here: no copy was timed, and a request to pin is an error.
        with refused(RuntimeError) as error:
            tokens.pin_memory()
        assert error.message
    # From ordinary memory the driver first copies to a pinned buffer of its own, and the program
    # waits. To pin a batch is a copy, too: loaders do it in a thread of their own.


def made_up_data_have_a_known_loss():  # M22.5
    r"""Made-up data have a known loss.

    What should the loss be before the first step? With data that one makes up, that can be said
    beforehand. Draw x from a normal distribution with standard deviation 1, and let the answers be
    $y = x\cdot w^*$ with true weights 0, 1, ..., 15.
    """
    true_w = torch.arange(16.0)
    generator = torch.Generator().manual_seed(0)
    x, y = regression_batch(true_w, 4, generator)  # @inspect x y
    assert x.shape == (4, 16)
    assert torch.allclose(y[2], sum(d * x[2, d] for d in range(16)), atol=1e-4)
    # A model with weights w is off by $x\cdot(w-w^*)$. On average over x, products of different
    # features cancel and squares give 1, so the loss is $\|w-w^*\|^2$. At w = 0:
    zeros = torch.zeros(16)
    expected_loss = sum(d * d for d in range(16))  # @inspect expected_loss
    # Four examples scatter widely about it. Of one example, the standard deviation is $\sqrt 2$
    # times the mean; of 2¹⁶, the mean is good to a percent.
    many_x, many_y = regression_batch(true_w, 2**16, generator)
    assert len(many_y) == 65_536
    losses = many_y.square()
    assert math.isclose(squared_error(many_x, many_y, zeros), expected_loss, rel_tol=0.02)
    assert math.isclose(losses.std() / losses.mean(), math.sqrt(2), rel_tol=0.02)
    # Nothing but the squares and products of features entered. So 16 examples suffice to get
    # exactly 1240: one for each feature, four times the feature, as $4^2/16=1$.
    x = 4 * torch.eye(16)
    assert squared_error(x, x @ true_w, zeros) == 1240
    # With the true weights in reverse, each is off by 15 − 2d. With the true weights, none is.
    in_reverse = sum((15 - 2 * d) ** 2 for d in range(16))
    assert squared_error(x, x @ true_w, true_w.flip(0)) == in_reverse == 1360
    assert squared_error(many_x, many_y, true_w) < 1e-6


def a_batch_depends_on_its_arguments_alone():  # M22.3 M22.5 E102
    """A batch depends on its arguments alone.

    What may a function that makes batches look at? At its arguments. A common mistake is to let it
    read the sizes and the true weights from variables outside, which is shorter.
    """
    D = 4
    true_w = torch.arange(4.0)

    def batch_from_outside(B: int) -> tuple[Tensor, Tensor]:  # @stepover
        x = torch.ones(B, D)
        return x, x @ true_w

    assert batch_from_outside(2)[1].tolist() == [6, 6]
    # Further down, the same names are used for a larger model. The first problem has changed under
    # its old name.
    D = 5
    true_w = torch.arange(5.0)
    assert batch_from_outside(2)[1].tolist() == [10, 10]
    # With arguments, the sizes come from the weights that are handed in, and the chance from the
    # generator: the same call gives the same batch.
    first = regression_batch(torch.arange(4.0), 2, torch.Generator().manual_seed(1))
    again = regression_batch(torch.arange(4.0), 2, torch.Generator().manual_seed(1))
    assert first[0].shape == (2, 4)
    assert all(torch.equal(old, new) for old, new in zip(first, again, strict=True))
    # So does a batch of tokens, and it lands on the device that was named.
    tokens = np.arange(50, dtype=np.uint16)
    x, _ = get_batch(tokens, 2, 3, torch.Generator().manual_seed(1), device="meta")
    assert (x.device.type, x.shape) == ("meta", (2, 3))
    # Numbers that are made there need no copy. Those made here and moved are in memory twice. But a
    # GPU draws other numbers from the same seed: what has to agree on every machine is drawn on the
    # CPU.
    with measure() as made_there:
        torch.randn(8, device="meta")
    with measure() as made_here:
        torch.randn(8).to("meta")
    assert made_there.allocated_bytes == 8 * 4
    assert made_here.allocated_bytes == 2 * made_there.allocated_bytes
    # This chapter in short: a corpus is a file of ids that is mapped, not read. A batch is some
    # windows of it, chosen by a generator that was handed in. For language models the way to the
    # device is short; the computing is what takes time.
