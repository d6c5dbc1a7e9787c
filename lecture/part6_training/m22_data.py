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

    We have a model that reads tokens. What does a corpus look like when training reads it? The text
    is gone. A [tokenizer](#a_tokenizer_turns_text_into_integers) has turned it into ids, and these
    lie one after the other in a file, each in as many bytes as its dtype has.
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
    # `uint16` has no sign and counts to 65 535, [enough](#two_bytes_are_enough_for_65536_ids) for
    # the ids of GPT-2 and of LLaMA. How large a disk do the 1.4 trillion tokens of
    # [LLaMA](https://arxiv.org/abs/2302.13971) need? 2.8 TB.
    assert LLAMA_VOCABULARY < GPT2_VOCABULARY <= np.iinfo(np.uint16).max
    bytes_per_token = file_bytes["uint16"] / len(ids)
    assert bytes_per_token * LLAMA_TRAINING_TOKENS == 2.8e12  # @predict
    # Mind the dtype when you take over code. Llama 3 has ids up to 128 255; where an array of
    # them is converted to `uint16`, NumPy drops their upper bits and says nothing.
    last = np.array([LLAMA3_VOCABULARY - 1])
    assert last.astype(np.uint16).item() == LLAMA3_VOCABULARY - 1 - 2**16
    # As `uint32`, its 15 trillion tokens take four bytes each, 60 TB.
    assert last.astype(np.uint32).item() == LLAMA3_VOCABULARY - 1
    assert np.dtype(np.uint32).itemsize * LLAMA3_TRAINING_TOKENS == 60e12  # @predict


def a_raw_dump_has_no_header():  # M22.1 M22.2 E101
    """A raw dump has no header.

    Does the file know what is in it? `np.save` writes a header with dtype and shape before the
    numbers. `tofile` writes the numbers.
    """
    tokens = np.arange(10, dtype=np.int32)
    with tempfile.TemporaryDirectory() as folder:
        saved, dumped = Path(folder, "saved.npy"), Path(folder, "dumped.npy")
        np.save(saved, tokens)
        tokens.tofile(dumped)
        header_bytes = saved.stat().st_size - dumped.stat().st_size  # @inspect header_bytes
        assert saved.read_bytes()[header_bytes:] == dumped.read_bytes()
        # The header is text that we can read: `<` puts the lowest byte first, `i4` is an integer of
        # four bytes.
        header = saved.read_bytes()[10:].split(b"}")[0].decode() + "}"  # @inspect header
        assert header == "{'descr': '<i4', 'fortran_order': False, 'shape': (10,), }"
        # If you give a raw dump the name `.npy`, `np.load` looks for the header and refuses.
        with refused(ValueError) as error:
            np.load(dumped)
        assert error.message
        # The worse mistake goes unnoticed. What happens if you read the dump with the wrong dtype?
        # Read as `int16`, ten tokens become twenty, every other one zero.
        misread = np.memmap(dumped, dtype=np.int16, mode="r")  # @inspect misread
        assert misread[::2].tolist() == tokens.tolist()
        assert not misread[1::2].any()
        # So: write the dtype into a small file beside the dump, or use `np.save`, whose files can
        # be mapped just as well.
        mapped = np.load(saved, mmap_mode="r")
        assert (mapped.dtype, mapped.tolist()) == (np.int32, tokens.tolist())


def has_holes(path: Path) -> bool:  # @stepover
    """Tell whether the file system keeps less than the whole file; it counts in 512 bytes."""
    return path.stat().st_blocks * 512 < path.stat().st_size


def a_mapped_file_is_read_where_it_is_touched():  # M22.2
    """A mapped file is read where it is touched.

    How do we train on a file that is larger than memory? We *map* it: its bytes get addresses, as
    if they were in memory, and the operating system fetches a *page*, some kilobytes, when one of
    its addresses is used for the first time.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        # As many tokens as LLaMA read, on a laptop: most file systems let a file have holes, which
        # read as zeros and are kept nowhere.
        shape = (LLAMA_TRAINING_TOKENS,)
        written = np.memmap(path, dtype=np.uint16, mode="w+", shape=shape)
        written[700_000_000_000:700_000_000_004] = [5, 6, 7, 8]
        written.flush()
        assert path.stat().st_size == 2.8e12
        assert has_holes(path)
        # Mapped, it looks like an array. It owns no memory: only addresses were given out.
        tokens = np.memmap(path, dtype=np.uint16, mode="r")
        assert tokens.shape == shape
        assert not tokens.flags.owndata
        # A slice is a view, and still reads nothing. Only now, four tokens in the middle of 2.8 TB:
        middle = tokens[700_000_000_000:][:4]
        assert middle.tolist() == [5, 6, 7, 8]
        # What goes on to PyTorch is a copy of these four.
        with measure() as cost:
            batch = torch.tensor(middle.astype(np.int64))  # @inspect batch
        assert cost.allocated_bytes == 4 * 8
        assert batch.tolist() == middle.tolist()


def a_mapping_writes_through_unless_told_not_to():  # M22.2 E101
    """A mapping writes through unless told not to.

    We change the array. What happens to the file? That depends on the mode, and the default is the
    dangerous one.
    """
    tokens = np.arange(10, dtype=np.uint16)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokens.bin")
        tokens.tofile(path)
        # A common mistake is to leave the mode out. The default is "r+", read and write, and a line
        # that changes a batch in place changes the corpus, permanently.
        mapped = np.memmap(path, dtype=np.uint16)
        mapped[2:4] += 100
        mapped.flush()
        assert np.fromfile(path, dtype=np.uint16).tolist() == [0, 1, 102, 103, 4, 5, 6, 7, 8, 9]
        # With "r", an assignment raises an error.
        read_only = np.memmap(path, dtype=np.uint16, mode="r")
        with refused(ValueError) as error:
            read_only[0] = 1
        assert "read-only" in error.message
        # With "c", *copy on write*, the array changes and the file does not: the system copies a
        # page at the first write to it.
        private = np.memmap(path, dtype=np.uint16, mode="c")
        private[6] = 600
        assert private[6] == 600
        assert read_only[6] == 6
        # And "w+" makes a new file, and empties one that is there.
        emptied = np.memmap(path, dtype=np.uint16, mode="w+", shape=(5,))
        assert emptied.tolist() == [0, 0, 0, 0, 0]
    # So: to read, `mode="r"`.


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
        # The mapping begins at a page, so the addresses of its tokens say on which page they lie.
        # (With this seed and pages of 4 KiB, one of the windows crosses a border.)
        tokens = np.memmap(path, dtype=np.uint16, mode="r")
        starts = random_starts(len(tokens), T, B, torch.Generator().manual_seed(161))
        windows = [tokens[start : start + T + 1] for start in starts]
        touched = set().union(*(pages_of(window, tokens) for window in windows))
    file_pages = figures.file_pages(starts, T + 1, page_tokens, pages)  # @inspect file_pages
    # By addresses, or by counting from the page of the first token to that of the last:
    ends = [(start // page_tokens, (start + T) // page_tokens) for start in starts]
    pages_between = {page for first, last in ends for page in range(first, last + 1)}
    assert sorted(touched) == sorted(pages_between)
    # A window that is shorter than a page lies on one page or two. So a batch touches at most $2B$
    # pages, however large the file is. (The system may read ahead, which is wasted on random
    # places.)
    assert B <= len(touched) <= 2 * B


def targets_are_inputs_one_token_later():  # M22.3
    """Targets are inputs, one token later.

    What does a language model learn from a stream of tokens? At each place, which token comes next.
    So a window of T + 1 tokens holds T inputs and T answers, $y_t=x_{t+1}$.
    """
    B, T = 3, 4
    tokens = np.arange(10, dtype=np.uint16)
    x, y = get_batch(tokens, B, T, torch.Generator().manual_seed(0))  # @inspect x y
    assert torch.equal(y[:, :-1], x[:, 1:])
    assert torch.equal(y, x + 1)
    # Both are views of one tensor with B·(T + 1) elements, not twice B·T. Two bytes per token in
    # the file are eight here, as the loss wants `int64`.
    assert x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()
    assert x.untyped_storage().nbytes() == B * (T + 1) * 8
    # Each window starts at its own random place. In a file of n tokens, how many places are there?
    # $n-T$, here six: the last window needs an answer for its last token.
    x, y = get_batch(tokens, 500, T, torch.Generator().manual_seed(0))
    assert set(x[:, 0].tolist()) == {0, 1, 2, 3, 4, 5}
    assert y.max() == tokens[-1]
    # One window may hold the end of one document and the beginning of the next. Here we let that
    # pass. [Llama 3](https://arxiv.org/abs/2407.21783) masks attention between documents, which
    # matters for long contexts.
    #
    # Why not compute with `uint16` and save memory? It cannot be negative: differences of arrays
    # wrap around, and nobody tells you.
    assert (tokens[2:3] - tokens[5:6]).tolist() == [2**16 - 3]


def tokens_missed(starts: list[int], T: int, file_tokens: int) -> float:  # @stepover
    """Return the share of a file that lies in none of the windows."""
    seen = np.zeros(file_tokens, dtype=bool)
    for start in starts:
        seen[start : start + T] = True
    return float(1 - seen.mean())


def random_places_miss_a_third():  # M22.3
    """Random places miss a third of the text.

    The model has read as many tokens as the file has. Has it read the file? Not if windows start at
    random places: it met some text twice, and some not at all. How much did it miss?
    """
    T, windows = 16, 4096
    file_tokens = T * windows
    generator = torch.Generator().manual_seed(0)
    # One window misses a token with probability $1 - T/n$, and $n/T$ windows miss it with
    # $(1-T/n)^{n/T}\approx 1/e$, 37 %. After three times as many, $e^{-3}$, a twentieth, is left.
    missed = {}
    for times in (1, 2, 3):
        starts = random_starts(file_tokens, T, times * windows, generator)
        missed[times] = tokens_missed(starts, T, file_tokens)  # @inspect missed
        assert math.isclose(missed[times], math.exp(-times), abs_tol=0.02)
    coverage = figures.coverage(missed)  # @inspect coverage
    # To read everything once, cut the file into windows side by side, and shuffle these.
    shuffled = T * torch.randperm(windows, generator=generator)
    assert tokens_missed(shuffled.tolist(), T, file_tokens) == 0
    # Does it matter? Not where the corpus is much larger than what we read of it: a hundredth of
    # the windows covers almost a hundredth of the text.
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

    [Copies run beside kernels](#streams_let_copies_run_beside_kernels) if a GPU has something to
    compute in the meantime. That takes room: a *buffer* that is copied into, and another that is
    computed with. How many buffers do you need? Take four batches, with copies of 2 ms and 3 ms of
    computing each.
    """
    schedules = {
        buffers: schedule(copy_ms=2.0, compute_ms=3.0, batches=4, buffers=buffers)
        for buffers in (1, 2, 3)
    }
    timelines = figures.timelines(schedules)  # @inspect timelines
    # With one buffer the times add up. With two, the GPU waits for the first copy only. A third
    # gains nothing as long as every batch takes as long as the others.
    finished_ms = {buffers: steps[-1][-1] for buffers, steps in schedules.items()}
    assert finished_ms == {1: 4 * (2 + 3), 2: 2 + 4 * 3, 3: 2 + 4 * 3}
    # If copies take longer, they set the pace, and only the last batch of computing sticks out.
    slow_copies = schedule(copy_ms=3.0, compute_ms=2.0, batches=4, buffers=2)
    assert slow_copies[-1][-1] == 4 * 3 + 2
    # So with two buffers, n batches take about $n·\max(\text{copy},\text{compute})$ instead of
    # $n·(\text{copy}+\text{compute})$: at best, half.
    long_ms = [schedule(1.0, 1.0, batches=1000, buffers=buffers)[-1][-1] for buffers in (1, 2)]
    assert long_ms == [2000, 1001]


def tokens_are_light():  # M22.4
    """Tokens are light.

    How long is the copy that we hide? We measure what `get_batch` sends to the device for each
    token: 8 bytes, since inputs and targets are views of one tensor.
    """
    B, T = 64, 1024
    tokens = np.zeros(10_000, dtype=np.uint16)
    with measure() as cost:
        x, _ = get_batch(tokens, B, T, torch.Generator().manual_seed(0), device="meta")
    sent_bytes = x.untyped_storage().nbytes()
    assert cost.allocated_bytes >= sent_bytes == 8 * B * (T + 1)
    bytes_per_token = sent_bytes / (B * T)  # @inspect bytes_per_token
    # A batch of GPT-3 has 3.2 million tokens. Through one [PCIe 5
    # slot](#the_way_to_the_accelerator_is_narrow), 63 GB/s at best, it passes in less than half a
    # millisecond.
    bus_bytes_per_second = PCIE_LANES * PCIE5_TRANSFERS_PER_SECOND * PCIE5_DATA_SHARE / 8
    copy_ms = 1000 * bytes_per_token * GPT3_BATCH_TOKENS / bus_bytes_per_second  # @inspect copy_ms
    assert round(copy_ms, 1) == 0.4
    # At half their peak by the rule of 6, 1024 H100 compute with it for 6.6 seconds, 16 thousand
    # times as long.
    gpu_flops_per_second = 0.5 * H100_SXM.dense_flops_per_second["bf16"]
    compute_seconds = 6 * GPT3_PARAMETERS * GPT3_BATCH_TOKENS / (1024 * gpu_flops_per_second)
    assert round(compute_seconds, 1) == 6.6
    assert round(1000 * compute_seconds / copy_ms, -3) == 16_000
    # How small must a model be for the copy to matter? A token is 8 bytes on the bus and 6 FLOPs
    # for each parameter. Both take equally long at ten thousand parameters.
    token_seconds = bytes_per_token / bus_bytes_per_second
    balanced_parameters = token_seconds * gpu_flops_per_second / 6  # @inspect balanced_parameters
    assert round(balanced_parameters, -3) == 10_000
    # Images are heavier: 256 of them, with three colours of 224×224 points in fp32, are 154 MB. A
    # decoder of image files returns a byte for each colour. Send those, and convert on the GPU.
    images = torch.empty(256, 3, 224, 224, device="meta")
    assert images.nbytes == 4 * images.to(torch.uint8).nbytes == 154_140_672


def pinned_memory_stays_where_it_is():  # M22.4
    """Pinned memory stays where it is.

    What else does it take for a copy to run beside the computing? The engine that copies reads
    memory by itself, while the operating system is free to move ordinary pages, or to write them to
    disk. *Pinned* pages are promised to stay where they are.
    """
    tokens = torch.arange(2**20).view(2**10, 2**10)
    assert not tokens.is_pinned()
    if torch.cuda.is_available():
        # From here, `non_blocking=True` returns before the copy is done. Until it is, the source
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
    # From ordinary memory, the driver first copies to a pinned buffer of its own, and the program
    # waits. (Pinning a batch is a copy, too: with workers and `pin_memory=True`, a `DataLoader`
    # does it in a thread.)
    # So: two buffers, pinned, `non_blocking=True`, and a stream for the copies.


def made_up_data_have_a_known_loss():  # M22.5
    r"""Made-up data have a known loss.

    What should the loss be? On text we know it [before the first
    step](#a_model_starts_by_guessing) at most; on data that we make up, for any weights. Draw x
    from a normal distribution with standard deviation 1, and let the answers be $y = x\cdot w^*$
    with true weights 0, 1, ..., 15.
    """
    true_w = torch.arange(16.0)
    generator = torch.Generator().manual_seed(0)
    x, y = regression_batch(true_w, 4, generator)  # @inspect x y
    assert torch.allclose(y[2], sum(d * x[2, d] for d in range(16)), atol=1e-4)
    # A model with weights w is off by $x\cdot(w-w^*)$. On average over x, products of different
    # features cancel and squares give 1, so the loss is $\|w-w^*\|^2$. At w = 0 that is
    # $0^2+1^2+\dots+15^2$.
    zeros = torch.zeros(16)
    expected_loss = sum(d * d for d in range(16))  # @inspect expected_loss
    # Four rows scatter widely about it: the standard deviation of one row's loss is $\sqrt 2$ times
    # the mean. With 65 536 rows, the mean is good to a percent.
    many_x, many_y = regression_batch(true_w, 2**16, generator)
    losses = many_y.square()
    assert math.isclose(squared_error(many_x, many_y, zeros), expected_loss, rel_tol=0.02)
    assert math.isclose(losses.std() / losses.mean(), math.sqrt(2), rel_tol=0.02)
    # Halfway to the true weights, what is the loss? A quarter. At the true weights, nothing.
    assert math.isclose(squared_error(many_x, many_y, true_w / 2), expected_loss / 4, rel_tol=0.02)
    assert squared_error(many_x, many_y, true_w) < 1e-6
    # So: before you trust a training loop on text, let it find weights that you know.


def a_batch_depends_on_its_arguments_alone():  # M22.3 M22.5 E102
    """A batch depends on its arguments alone.

    What may a function that makes batches look at? It is shorter to let it read the sizes and the
    true weights from variables outside. What goes wrong?
    """
    D = 4
    true_w = torch.arange(4.0)

    def batch_from_outside(R: int) -> tuple[Tensor, Tensor]:  # @stepover
        x = torch.ones(R, D)
        return x, x @ true_w

    assert batch_from_outside(2)[1].tolist() == [6, 6]
    # Further down, somebody uses the same names for a larger model. The first problem has changed
    # under its old name.
    D = 5
    true_w = torch.arange(5.0)
    assert batch_from_outside(2)[1].tolist() == [10, 10]
    # With arguments, sizes come from the weights, and chance from the generator that is handed in:
    # the same call gives the same batch.
    first = regression_batch(torch.arange(4.0), 2, torch.Generator().manual_seed(1))
    again = regression_batch(torch.arange(4.0), 2, torch.Generator().manual_seed(1))
    assert all(torch.equal(old, new) for old, new in zip(first, again, strict=True))
    # A batch of tokens lands on the device that was named.
    tokens = np.arange(50, dtype=np.uint16)
    x, _ = get_batch(tokens, 2, 3, torch.Generator().manual_seed(1), device="meta")
    assert (x.device.type, tuple(x.shape)) == ("meta", (2, 3))
    # And where do we make the numbers? Made there, they need no copy; made here and moved, they are
    # in memory twice.
    with measure() as made_there:
        torch.randn(8, device="meta")
    with measure() as made_here:
        torch.randn(8).to("meta")
    assert made_here.allocated_bytes == 2 * made_there.allocated_bytes == 2 * (8 * 4)
    # What we can do now: keep a corpus of any size in a file, cut batches from it that a seed
    # repeats, and bring them to the GPU while it computes.


def exercise_how_fast_a_disk():  # M22.1 @exercise
    """Exercise: how fast a disk.

    One H100 trains a model of 124 million parameters, by the rule of 6 at 0.4 of its peak. How many
    megabytes of tokens does it read each second, at two bytes a token?
    """
    flops_per_second = 0.4 * H100_SXM.dense_flops_per_second["bf16"]
    tokens_per_second = flops_per_second / (6 * 124e6)  # @inspect tokens_per_second
    # Half a million tokens, a megabyte: little beside the bandwidth of a disk. (In windows of 1024
    # tokens at random places, it is 520 places a second, which are many for a disk that turns.)
    assert round(tokens_per_second * np.dtype(np.uint16).itemsize / 1e6, 1) == 1.1
    assert round(tokens_per_second / 1024, -1) == 520


def exercise_the_last_start():  # M22.3 @exercise
    """Exercise: the last start.

    A file has 1000 tokens, a sequence 128, and targets are inputs one token later. How many
    different sequences can be cut from the file?
    """
    tokens, T = np.arange(1000, dtype=np.uint16), 128
    x, y = get_batch(tokens, 12_000, T, torch.Generator().manual_seed(0))
    starts = x[:, 0].unique()  # @inspect starts
    # The last target is token 999, so the last sequence starts 128 tokens before it, at 871.
    assert y.max() == 999
    assert (starts.max(), len(starts)) == (871, 872)
