"""Two questions for every chapter: how many bytes, how many FLOPs?

Each chapter has an experiment. It takes a size and returns figures per unit, of bytes and of FLOPs.
A figure that is the same at every size belongs to the unit and not to the experiment. The meter
sees operators on tensors and nothing else, so chapters whose work is not on tensors have no FLOPs
here."""

import functools
import io
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import einops
import numpy as np
import torch
from torch import nn

from lecture.facts import GPT2_VOCABULARY
from lecture.lib.batches import get_batch
from lecture.lib.gpt2 import XL, measured
from lecture.lib.layers import Linear, LinearStack
from lecture.lib.optim import AdamW
from lecture.lib.rounding import packed, quantized
from lecture.lib.segments import accumulate, loss_by_segments, new_rows, new_weights
from lecture.lib.transformer import attend
from lecture.syllabus import PARTS
from lecture.tokenizer.counting import count_texts
from lecture.tokenizer.splitting import Splitter
from lecture.tokenizer.token_files import write_ids
from trace.costs import measure

Figures = tuple[float, ...]
TwoFigures = tuple[Figures, Figures]
ROWS = 3


@functools.cache
def update_of_xl() -> Any:  # @stepover
    """Let AdamW change a model of the shape of GPT-2 XL, on the device `meta`; return the costs."""
    optimizer = AdamW(measured(XL).model.parameters(), lr=1e-4)
    with measure() as update:
        optimizer.step()
    return update


def trained(
    n: int, dtype: torch.dtype, steps: int = 1, autocast: bool = False
) -> TwoFigures:  # @stepover
    """Train n² weights with AdamW; return the bytes that stay and the FLOPs of products."""
    with measure() as cost:
        weight = nn.Parameter(torch.ones(n, n, dtype=dtype))
        optimizer = AdamW([weight])
        for _ in range(steps):
            x = torch.ones(ROWS, n, dtype=dtype, requires_grad=True)
            with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
                (x @ weight).sum().backward()
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        x.grad = None
    kept = ("parameters", "gradients", "optimizer state")
    # AdamW also keeps the number of steps, which is less than a byte for each weight.
    kept_bytes = sum(cost.live_bytes[part] for part in kept) // n**2
    return (kept_bytes,), (cost.matmul_flops / (steps * ROWS * n**2),)


def of_why(n: int) -> TwoFigures:  # @stepover
    """Train for a step."""
    return trained(n, torch.float32)


def of_text(n: int) -> TwoFigures:  # @stepover
    """Encode a letter and a picture sign, n times each."""
    letter, sign = (len((one * n).encode()) / n for one in ("a", "\N{GRINNING FACE}"))
    return (letter, sign), ()


def of_vocabularies(n: int) -> TwoFigures:  # @stepover
    """Count the words of a text that says the same n times."""
    counts = count_texts(["\nlow lower lowest" * n], Splitter("gpt2"))
    return (len(counts) / len({"\n", "low", " lower", " lowest"}),), ()


def of_encoding(n: int) -> TwoFigures:  # @stepover
    """Write n ids of a vocabulary of GPT-2's size to a file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids"
        write_ids(path, range(n), GPT2_VOCABULARY)
        return (path.stat().st_size / n,), ()


def of_tensors(n: int) -> TwoFigures:  # @stepover
    """Make a matrix."""
    with measure() as cost:
        torch.zeros(n, n)
    return (cost.allocated_bytes / n**2,), (cost.other_flops,)


def of_formats(n: int) -> TwoFigures:  # @stepover
    """Make a matrix in three formats, and multiply in two."""
    sizes, flops = [], []
    for dtype in (torch.float32, torch.bfloat16, torch.float8_e4m3fn):
        with measure() as making:
            matrix = torch.zeros(n, n, dtype=dtype)
        sizes.append(making.allocated_bytes / n**2)
        if matrix.element_size() > 1:
            with measure() as product:
                matrix @ matrix
            flops.append(product.matmul_flops / n**3)
    return tuple(sizes), tuple(flops)


def of_views(n: int) -> TwoFigures:  # @stepover
    """Transpose and reshape."""
    x = torch.zeros(n, n)
    with measure() as cost:
        transposed = x.T
        flat = x.view(n * n)
    return (cost.allocated_bytes,), (cost.other_flops,)


def of_operations(n: int) -> TwoFigures:  # @stepover
    """Multiply two matrices."""
    x, y = torch.ones(2, n, n)
    with measure() as cost:
        x @ y
    return (cost.allocated_bytes / n**2,), (cost.matmul_flops / n**3,)


def of_named_axes(n: int) -> TwoFigures:  # @stepover
    """Split heads; multiply two matrices and a vector in both orders."""
    a, b = torch.ones(2, n, n)
    v = torch.ones(n, 1)
    with measure() as splitting:
        einops.rearrange(a, "T (h K) -> h T K", h=2)
    with measure() as from_the_right:
        a @ (b @ v)
    with measure() as from_the_left:
        (a @ b) @ v
    flops = from_the_right.matmul_flops / n**2, from_the_left.matmul_flops / (n**3 + n**2)
    return (splitting.allocated_bytes,), flops


def of_flops(n: int) -> TwoFigures:  # @stepover
    """Send rows through a matrix."""
    x, weight = torch.ones(ROWS, n), torch.ones(n, n)
    with measure() as cost:
        x @ weight
    return (cost.allocated_bytes / (ROWS * n),), (cost.matmul_flops / (ROWS * n**2),)


def of_intensity(n: int) -> TwoFigures:  # @stepover
    """Multiply two matrices in bf16, and count what is moved."""
    x, y = torch.ones(2, n, n, dtype=torch.bfloat16)
    with measure() as cost:
        x @ y
    moved_bytes = cost.read_bytes + cost.written_bytes
    return (moved_bytes / n**2,), (cost.matmul_flops / n**3,)


def of_gradients(n: int) -> TwoFigures:  # @stepover
    """Go back through a matrix."""
    x, weight = torch.ones(ROWS, n, requires_grad=True), nn.Parameter(torch.ones(n, n))
    y = (x @ weight).sum()
    with measure() as cost:
        y.backward()
        x.grad = None
    return (cost.live_bytes["gradients"] / n**2,), (cost.matmul_flops / (ROWS * n**2),)


def of_initialization(n: int) -> TwoFigures:  # @stepover
    """Draw the weights of a layer."""
    with measure() as cost:
        layer = Linear(n, n, torch.Generator().manual_seed(0))
    assert layer.weight.shape == (n, n)
    return (cost.live_bytes["parameters"] / n**2,), (cost.other_flops / n**2,)


def of_small_models(n: int) -> TwoFigures:  # @stepover
    """Make a stack of layers, and send rows through."""
    with measure() as making:
        model = LinearStack(n, 2, torch.Generator().manual_seed(0))
    x = torch.ones(ROWS, n)
    with measure() as cost:
        model(x)
    parameters = 2 * n**2 + n
    flops = cost.matmul_flops / (ROWS * parameters)
    return (making.live_bytes["parameters"] / parameters,), (flops,)


def of_parts(n: int) -> TwoFigures:  # @stepover
    """Let n tokens attend to each other, with two heads and with four for the same features."""
    D = 8
    kept_bytes = []
    for h in (2, 4):
        q, k, v = torch.ones(3, h, n, D // h).requires_grad_()
        with measure() as cost:
            y = attend(q, k, v, torch.ones(n, n).bool())
        kept_bytes.append(cost.live_bytes["activations"])
        assert y.shape == (h, n, D // h)
    of_a_head = (kept_bytes[1] - kept_bytes[0]) / 2
    return (of_a_head / n**2,), (cost.matmul_flops / (n**2 * D),)


def of_the_bill(n: int) -> TwoFigures:  # @stepover
    """Read n texts with a model of the shape of GPT-2 XL; in GB and TFLOP."""
    step = measured(XL, n)
    model_bytes, flops = step.building.live_bytes["parameters"], step.forward_flops
    return (round(model_bytes / 1e9, 1),), (round(flops / n / 1e12, 1),)


def of_optimizers(n: int) -> TwoFigures:  # @stepover
    """Update n² weights with AdamW."""
    weight = nn.Parameter(torch.ones(n, n))
    weight.grad = torch.ones(n, n)
    optimizer = AdamW([weight])
    with measure() as cost:
        optimizer.step()
    return (cost.live_bytes["optimizer state"] // n**2,), (cost.other_flops / n**2,)


def of_memory(n: int) -> TwoFigures:  # @stepover
    """Send rows through n layers with GELU, and leave the rest to the way back."""
    weights, x = new_weights(n, 8), new_rows(ROWS, 8)
    with measure() as cost:
        loss = loss_by_segments(x, weights, 0)
    results = n * x.numel()
    kept_bytes = cost.live_bytes["activations"] - loss.nbytes
    return (kept_bytes / results,), (cost.matmul_flops / (results * 8),)


def of_accumulation(n: int) -> TwoFigures:  # @stepover
    """Take a batch whole, and in n parts."""
    weights, batch = new_weights(2, 4), new_rows(n, 4).detach()
    flops, kept_bytes = {}, {}
    for parts in (1, n):
        with measure() as cost:
            loss = loss_by_segments(batch[: n // parts], weights, 0)
        kept_bytes[parts] = cost.live_bytes["activations"] - loss.nbytes
        with measure() as cost:
            accumulate(batch, weights, parts, 0)
        flops[parts] = cost.matmul_flops
    return (n * kept_bytes[n] / kept_bytes[1],), (flops[n] / flops[1],)


def of_checkpoints(n: int) -> TwoFigures:  # @stepover
    """Cut n² layers into n segments, and compute inside each of them again."""
    weights, x = new_weights(n**2, 4), new_rows(ROWS, 4)
    with measure() as cost:
        loss = loss_by_segments(x, weights, n)
        kept_bytes = cost.live_bytes["activations"] - loss.nbytes
        loss.backward()
    flops = cost.matmul_flops / (ROWS * sum(weight.numel() for weight in weights))
    return (kept_bytes / (4 * x.numel() * n),), (flops,)


def of_randomness(n: int) -> TwoFigures:  # @stepover
    """Draw n numbers."""
    generator = torch.Generator().manual_seed(0)
    torch.randn(n, generator=generator)
    return (generator.get_state().nbytes,), ()


def of_data(n: int) -> TwoFigures:  # @stepover
    """Cut n windows out of a file of tokens."""
    with measure() as cost:
        x, y = get_batch(np.zeros(100), n, 9, torch.Generator().manual_seed(0))
    assert x.shape == y.shape == (n, 9)
    return (x.untyped_storage().nbytes() / (n * (9 + 1)),), (cost.other_flops,)


def of_the_loop(n: int) -> TwoFigures:  # @stepover
    """Train for n steps, and for one."""
    (kept,), flops = trained(n, torch.float32, steps=n)
    (kept_once,), _ = trained(n, torch.float32)
    return (kept - kept_once,), flops


def of_saving(n: int) -> TwoFigures:  # @stepover
    """Save a model and the state of AdamW; what the file has besides is little."""
    size = 64 * n
    weight = nn.Parameter(torch.ones(size, size))
    optimizer, file = AdamW([weight]), io.BytesIO()
    weight.grad = torch.ones_like(weight)
    optimizer.step()
    torch.save({"model": weight.detach(), "optimizer": optimizer.state_dict()}, file)
    return (round(file.tell() / weight.numel(), 1),), ()


def of_mixed_precision(n: int) -> TwoFigures:  # @stepover
    """Train for a step with products in bf16, and with weights in bf16."""
    (first, first_flops), (second, second_flops) = (
        trained(n, torch.float32, autocast=True),
        trained(n, torch.bfloat16),
    )
    return first + second, first_flops + second_flops


def of_inference(n: int) -> TwoFigures:  # @stepover
    """Keep a matrix in bf16, in 8 bits and in 4; send rows through."""
    x, weight = torch.ones(ROWS, n), torch.ones(n, n)
    with torch.inference_mode(), measure() as cost:
        x @ weight
    eight, four = (quantized(weight, bits, n)[0].flatten(1) for bits in (8, 4))
    sizes = (kept.nbytes / n**2 for kept in (weight.bfloat16(), eight, packed(four)))
    return tuple(sizes), (cost.matmul_flops / (ROWS * n**2),)


def of_the_whole(n: int) -> TwoFigures:  # @stepover
    """Train a model of the shape of GPT-2 XL on n texts for a step."""
    step = measured(XL, n)
    kept_bytes = (
        step.building.live_bytes["parameters"]
        + step.backward.live_bytes["gradients"]
        + update_of_xl().live_bytes["optimizer state"]
    )
    flops = step.forward_flops + step.backward_flops
    tokens = n * XL.context
    return (kept_bytes // step.parameters,), (round(flops / step.parameters / tokens, 1),)


EXPERIMENTS: dict[str, Callable[[int], TwoFigures]] = {
    "M1": of_why,
    "M2": of_text,
    "M3": of_vocabularies,
    "M4": of_encoding,
    "M5": of_tensors,
    "M6": of_formats,
    "M7": of_views,
    "M8": of_operations,
    "M9": of_named_axes,
    "M10": of_flops,
    "M11": of_intensity,
    "M12": of_gradients,
    "M13": of_initialization,
    "M14": of_small_models,
    "M15": of_parts,
    "M16": of_the_bill,
    "M17": of_optimizers,
    "M18": of_memory,
    "M19": of_accumulation,
    "M20": of_checkpoints,
    "M21": of_randomness,
    "M22": of_data,
    "M23": of_the_loop,
    "M24": of_saving,
    "M25": of_mixed_precision,
    "M26": of_inference,
    "M27": of_the_whole,
}


def figures_of(*parts: str, size: int) -> dict[str, TwoFigures]:  # @stepover
    """Measure the figures of all chapters of these parts of the lecture, by their titles."""
    return {
        title: EXPERIMENTS[chapter](size)
        for part in parts
        for chapter, title in PARTS[part].items()
    }
