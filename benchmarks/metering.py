"""What metering costs: `python -m benchmarks.metering`.

A training step runs plainly, under `measure()`, and under torch's own FLOP counter, in turn, many
rounds in one process. The table shows the median milliseconds and the medians over the rounds of
the ratios to the plain step of the same round.
"""

import contextlib
import platform
import statistics
import time
from collections.abc import Callable

import torch
from torch import nn
from torch.utils.flop_counter import FlopCounterMode

from benchmarks.arguments import parser_of
from trace.costs import measure

ROUNDS = 60


def perceptron_step() -> Callable[[], None]:
    """A training step of an MLP 256-256-256, batch 64."""
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256))
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(64, 256)

    def step() -> None:
        model(x).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def transformer_step() -> Callable[[], None]:
    """A training step of a Transformer of 2 layers, width 128, batch 8 x 64."""
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True, norm_first=True)
    model = nn.Sequential(
        nn.Embedding(1000, 128), nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
        nn.Linear(128, 1000),
    )  # fmt: skip
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(1000, (8, 65))

    def step() -> None:
        logits = model(tokens[:, :-1])
        nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def seconds_of(step: Callable[[], None], context: contextlib.AbstractContextManager) -> float:
    """Time one step inside a context that is already set up."""
    with context:
        start = time.perf_counter()
        step()
        return time.perf_counter() - start


def compare(name: str, step: Callable[[], None], aim: float) -> None:
    """Print one row of the table."""
    for _ in range(5):
        step()
    rounds = [
        (
            seconds_of(step, contextlib.nullcontext()),
            seconds_of(step, measure()),
            seconds_of(step, FlopCounterMode(display=False)),
        )
        for _ in range(ROUNDS)
    ]
    plain, metered, counter = (statistics.median(column) for column in zip(*rounds, strict=True))
    ratios = [statistics.median(row[i] / row[0] for row in rounds) for i in (1, 2)]
    print(
        f"{name:<14}{1e3 * plain:9.2f}{1e3 * metered:9.2f}{1e3 * counter:9.2f}"
        f"{ratios[0]:10.2f}{ratios[1]:14.2f}{aim:8.2f}"
    )


def main() -> None:
    """Print the table."""
    parser_of(__doc__).parse_args()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    print(f"Python {platform.python_version()}, torch {torch.__version__}, {ROUNDS} rounds")
    print(f"{'ms':<14}{'plain':>9}{'meter':>9}{'torch':>9}{'meter':>10}{'torch':>14}{'aim':>8}")
    compare("MLP", perceptron_step(), 1.9)
    compare("Transformer", transformer_step(), 1.35)


if __name__ == "__main__":
    main()
