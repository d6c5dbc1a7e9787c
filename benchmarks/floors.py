"""What keeps a device from its peak, by size: `python -m benchmarks.floors --json FILE`.

A ReLU of more and more numbers, numbers read at larger and larger strides, and matmuls of sizes
between powers of two. On CUDA many calls are recorded as a graph, which the GPU then runs without
waiting for Python; "queued" is the time of a call when Python asks for each.
"""

import datetime
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch

from benchmarks.arguments import file_to_write, parser_of

FORMAT = "lecture-floors"
Call = Callable[[], object]


def seconds_of(call: Call) -> float:
    """Time a call from idle to idle, three times, and return the shortest."""
    readings = []
    for _ in range(3):
        wait()
        start = time.perf_counter()
        call()
        wait()
        readings.append(time.perf_counter() - start)
    return min(readings)


def wait() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def repeat(call: Call, calls: int) -> None:
    for _ in range(calls):
        call()


def queued_seconds(call: Call, calls: int) -> float:
    """Seconds of a call when Python asks for one after the other."""
    repeat(call, 3)
    return seconds_of(lambda: repeat(call, calls)) / calls


def graph_seconds(call: Call, calls: int) -> float:
    """Seconds of a call when the GPU has the list of all calls before it begins."""
    if not torch.cuda.is_available():
        return queued_seconds(call, calls)
    repeat(call, 3)
    wait()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        repeat(call, calls)
    graph.replay()
    return seconds_of(graph.replay) / calls


def relu_by_numbers(device: str, powers: Sequence[int]) -> dict[int, dict[str, float]]:
    """Time a ReLU of 2^power numbers in bf16."""
    found = {}
    for power in powers:
        x = torch.randn(2**power, device=device).to(torch.bfloat16)
        y = torch.empty_like(x)
        call = lambda x=x, y=y: torch.clamp_min(x, 0, out=y)  # noqa: E731
        found[2**power] = {"queued": queued_seconds(call, 100), "graph": graph_seconds(call, 100)}
    return found


def copy_by_stride(device: str, numbers: int) -> dict[int, float]:
    """Time copies of so many fp32 numbers, of which each lies `stride` after the one before."""
    found = {}
    for stride in (1, 2, 4, 8, 16, 32, 64):
        x, y = torch.zeros(numbers * stride, device=device), torch.empty(numbers, device=device)
        found[stride] = graph_seconds(lambda x=x, y=y, s=stride: y.copy_(x[::s]), 10)
    return found


def matmul_by_side(device: str, sides: Sequence[int]) -> dict[int, float]:
    """Time n×n matmuls in bf16."""
    found = {}
    for n in sides:
        x, w, y = (torch.randn(n, n, device=device).to(torch.bfloat16) for _ in range(3))
        found[n] = graph_seconds(lambda x=x, w=w, y=y: torch.mm(x, w, out=y), 20)
    return found


def results_of(device: str, quick: bool) -> dict[str, Any]:
    """Run everything; `quick` takes small sizes."""
    return {
        "format": FORMAT,
        "version": 1,
        "machine": {
            "name": torch.cuda.get_device_name() if device == "cuda" else "CPU",
            "torch": torch.__version__,
            "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        },
        "relu_seconds": relu_by_numbers(device, range(10, 12 if quick else 29)),
        "copy_seconds": copy_by_stride(device, 2 ** (10 if quick else 24)),
        "matmul_seconds": matmul_by_side(
            device, (64, 128) if quick else range(256, 4097, 64)
        ),
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    """Measure, and write the readings to the file or to the page."""
    parser = parser_of(__doc__)
    parser.add_argument(
        "--json", type=file_to_write, metavar="FILE", help="write the readings there"
    )
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(arguments)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    text = json.dumps(results_of(device, options.quick), indent=1) + "\n"
    if options.json:
        options.json.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
