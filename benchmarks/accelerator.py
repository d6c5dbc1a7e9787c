"""What a device reaches: `python -m benchmarks.accelerator`, on CUDA, MPS or a CPU.

    python -m benchmarks.accelerator                      the fastest device there is; one page
    python -m benchmarks.accelerator --json h100.json     and a file that the roofline can read
    python -m benchmarks.accelerator --device cpu --quick small sizes, done in seconds

Every reading is from idle to idle, after one call that is set apart: the first. The page shows the
best and the median of the others; the file has all of them.
"""

import datetime
import importlib.util
import json
import os
import platform
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks.arguments import file_to_write, parser_of
from lecture.accounting.memory import Training, peak_bytes
from lecture.facts import ACCELERATORS
from lecture.lib.optim import AdamW
from lecture.lib.transformer import TransformerConfig, TransformerLM, cross_entropy
from trace.costs import measure
from trace.document.times import processor_name

FORMAT = "lecture-accelerator"
DTYPES = {
    "fp32": torch.float32,
    "tf32": torch.float32,
    "fp16": torch.float16,
    "bf16": torch.bfloat16,
}


@dataclass
class Reading:
    """One thing that was timed: what it does, and the seconds of each call."""

    name: str
    dtype: str
    flops: int
    moved_bytes: int  # at least
    first_seconds: float
    seconds: list[float] = field(default_factory=list)

    @property
    def best_seconds(self) -> float:
        return min(self.seconds)

    @property
    def median_seconds(self) -> float:
        return statistics.median(self.seconds)


@dataclass(frozen=True)
class Device:
    """Where things run, and how to wait until they have."""

    kind: str
    repeats: int
    quick: bool

    def wait(self) -> None:
        if self.kind == "cuda":
            torch.cuda.synchronize()
        elif self.kind == "mps":
            torch.mps.synchronize()

    def seconds_of(self, call: Callable[[], object]) -> float:
        self.wait()
        start = time.perf_counter()
        call()
        self.wait()
        return time.perf_counter() - start

    def read(
        self, name: str, dtype: str, call: Callable[[], object], flops: int, moved_bytes: int
    ) -> Reading:
        """Time a call, the first one apart."""
        reading = Reading(name, dtype, flops, moved_bytes, self.seconds_of(call))
        reading.seconds = [self.seconds_of(call) for _ in range(self.repeats)]
        return reading

    def metered(self, name: str, dtype: str, call: Callable[[], object]) -> Reading:
        """Time a call, and let the meter say what it does."""
        first_seconds = self.seconds_of(call)
        with measure() as cost:
            call()
        moved_bytes = cost.read_bytes + cost.written_bytes
        reading = Reading(name, dtype, cost.matmul_flops + cost.other_flops, moved_bytes, 0.0)
        reading.first_seconds = first_seconds
        reading.seconds = [self.seconds_of(call) for _ in range(self.repeats)]
        return reading

    def drawn(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Random numbers: a matrix of ones runs faster on some devices."""
        return torch.randn(*shape, device=self.kind).to(dtype)


def machine_of(device: Device) -> dict[str, Any]:
    """Say on what, with what and when."""
    name: str = processor_name()
    memory_bytes: int | None = None
    if device.kind == "cuda":
        properties = torch.cuda.get_device_properties(0)
        name, memory_bytes = properties.name, properties.total_memory
    return {
        "device": device.kind,
        "name": name,
        "memory_bytes": memory_bytes,
        "threads": torch.get_num_threads() if device.kind == "cpu" else None,
        "python": platform.python_version(),
        "torch": torch.__version__,
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }


def formats_of(device: Device) -> list[str]:
    """The formats to multiply in; tf32 is one only on tensor cores that have it."""
    if device.kind != "cuda":
        return ["fp32", "bf16"] if device.kind == "cpu" else ["fp32", "fp16", "bf16"]
    ampere = torch.cuda.get_device_capability() >= (8, 0)
    return ["fp32", "tf32", "fp16", "bf16"] if ampere else ["fp32", "fp16"]


def matmuls(device: Device) -> Iterator[Reading]:
    """Square matmuls by size and format."""
    sizes = (128, 256) if device.quick else (256, 512, 1024, 2048)
    if device.kind == "cuda" and not device.quick:
        sizes = (1024, 2048, 4096, 8192, 16_384)
    for dtype in formats_of(device):
        torch.set_float32_matmul_precision("high" if dtype == "tf32" else "highest")
        for n in sizes:
            x, w = (device.drawn(n, n, dtype=DTYPES[dtype]) for _ in range(2))
            moved_bytes = 3 * n * n * x.element_size()
            yield device.read(f"{n}×{n}", dtype, lambda x=x, w=w: x @ w, 2 * n**3, moved_bytes)
    torch.set_float32_matmul_precision("highest")


def launches(device: Device) -> dict[str, float]:
    """Seconds of a kernel that does next to nothing: queued behind others, and waited for."""
    x, calls = device.drawn(16), 100 if device.quick else 2000

    def queued() -> None:
        for _ in range(calls):
            x.add_(1.0)

    def waited_for() -> None:
        for _ in range(calls):
            x.add_(1.0)
            device.wait()

    queued()
    return {
        "queued": min(device.seconds_of(queued) for _ in range(3)) / calls,
        "waited for": min(device.seconds_of(waited_for) for _ in range(3)) / calls,
    }


def copies(device: Device) -> Iterator[Reading]:
    """Copies within the memory of the device, by size."""
    for power in (16, 20) if device.quick else (16, 20, 24, 28 if device.kind == "cuda" else 26):
        x = torch.ones(2**power, device=device.kind)
        y = torch.empty_like(x)
        name = f"copy of 2^{power} numbers"
        yield device.read(name, "fp32", lambda x=x, y=y: y.copy_(x), 0, 2 * x.nbytes)


def elementwise(device: Device) -> Iterator[Reading]:
    """One kernel, one of twenty times its FLOPs, the same in eight kernels, and these compiled."""
    power = 18 if device.quick else 28 if device.kind == "cuda" else 24  # more than a cache holds
    x = device.drawn(2**power)

    def written_out() -> Tensor:
        return 0.5 * x * (1 + torch.tanh(0.797885 * (x + 0.044715 * x**3)))

    yield device.metered("ReLU", "fp32", lambda: torch.relu(x))
    yield device.metered("GELU", "fp32", lambda: functional.gelu(x, approximate="tanh"))
    eight_kernels = device.metered("GELU written out", "fp32", written_out)
    yield eight_kernels
    if not device.quick and can_compile(device):
        # The meter does not see into what was compiled; it loads x and stores the result. What
        # earlier runs compiled is not used: the first call is to show what compiling takes.
        call, flops = torch.compile(written_out), eight_kernels.flops
        with torch.compiler.config.patch(force_disable_caches=True):
            reading = device.read("GELU compiled", "fp32", call, flops, 2 * x.nbytes)
        yield reading


def can_compile(device: Device) -> bool:
    """Whether `torch.compile` finds the compiler that it hands its kernels to."""
    if device.kind == "cuda" and importlib.util.find_spec("triton") is None:
        return False
    return any(map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++")))


def attentions(device: Device) -> Iterator[Reading]:
    """A forward and backward pass of attention, fused and written out, by tokens."""
    dtype = "bf16" if device.kind == "cuda" and "bf16" in formats_of(device) else "fp32"
    lengths = (64, 128) if device.quick else (256, 512, 1024)
    if device.kind == "cuda" and not device.quick:
        lengths = (512, 1024, 2048, 4096)
    for T in lengths:
        q, k, v = (
            device.drawn(1, 16, T, 64, dtype=DTYPES[dtype]).requires_grad_() for _ in range(3)
        )

        def fused(q: Tensor = q, k: Tensor = k, v: Tensor = v) -> None:
            functional.scaled_dot_product_attention(q, k, v, is_causal=True).sum().backward()

        def written_out(q: Tensor = q, k: Tensor = k, v: Tensor = v, T: int = T) -> None:
            visible = torch.ones(T, T, dtype=torch.bool, device=q.device).tril()
            scores = (q @ k.mT / 8).masked_fill(~visible, -torch.inf)
            (scores.softmax(-1) @ v).sum().backward()

        yield device.metered(f"fused, {T} tokens", dtype, fused)
        yield device.metered(f"written out, {T} tokens", dtype, written_out)


def transfers(device: Device) -> Iterator[Reading]:
    """Copies to the device, from ordinary and from pinned memory."""
    if device.kind != "cuda":
        return
    there = torch.empty(2**26, dtype=torch.uint8, device="cuda")
    for name, memory in (("ordinary", False), ("pinned", True)):
        here = torch.empty(2**26, dtype=torch.uint8, pin_memory=memory)
        copy = lambda here=here: there.copy_(here, non_blocking=True)  # noqa: E731
        yield device.read(f"to the device, {name}", "uint8", copy, 0, here.nbytes)
        back = lambda here=here: here.copy_(there, non_blocking=True)  # noqa: E731
        yield device.read(f"from the device, {name}", "uint8", back, 0, here.nbytes)


def training_peaks(device: Device) -> Iterator[dict[str, Any]]:
    """The most memory of a training step, beside what the calculator says."""
    config = TransformerConfig(50_257, 1024, 12, 768, 12, 3072)
    batch = 4
    if device.kind != "cuda" or device.quick:
        config, batch = TransformerConfig(1000, 64, 2, 64, 4, 256), 2
    for precision in ("fp32", "bf16"):
        yield {
            "precision": precision,
            "measured_bytes": _measured_peak(device, config, batch, precision),
            "by": "torch.cuda.max_memory_allocated" if device.kind == "cuda" else "the meter",
            "calculated_bytes": peak_bytes(
                config, Training(config.context, batch, precision=precision)
            ),
        }


def _measured_peak(device: Device, config: TransformerConfig, batch: int, precision: str) -> int:
    torch.manual_seed(0)
    tokens = torch.zeros(batch, config.context, dtype=torch.int64, device=device.kind)
    with measure() as cost:
        model = TransformerLM(config, device=device.kind)
        optimizer = AdamW(model.parameters())
        for _ in range(2):
            before = sum(cost.live_bytes.values())
            allocated_before = torch.cuda.memory_allocated() if device.kind == "cuda" else 0
            with measure() as step:
                with torch.autocast(device.kind, torch.bfloat16, enabled=precision == "bf16"):
                    loss = cross_entropy(model(tokens), tokens)
                loss.backward()
                del loss
                optimizer.step()
                optimizer.zero_grad()
    if device.kind == "cuda":
        return allocated_before + step.allocator["peak_bytes"]
    return before + step.peak_bytes


def results_of(device: Device) -> dict[str, Any]:
    """Run everything; what a device cannot do is left out."""
    readings = {
        "matmul": matmuls(device),
        "copy": copies(device),
        "elementwise": elementwise(device),
        "attention": attentions(device),
        "transfer": transfers(device),
    }
    timed = {kind: list(found) for kind, found in readings.items()}
    peaks: dict[str, float] = {}
    for reading in timed["matmul"]:
        rate = reading.flops / reading.best_seconds
        peaks[reading.dtype] = max(rate, peaks.get(reading.dtype, 0.0))
    return {
        "format": FORMAT,
        "version": 1,
        "machine": machine_of(device),
        "best_flops_per_second": peaks,
        # The largest copy: the others may lie in a cache.
        "best_bytes_per_second": timed["copy"][-1].moved_bytes / timed["copy"][-1].best_seconds,
        "launch_seconds": launches(device),
        "readings": {kind: list(map(asdict, found)) for kind, found in timed.items()},
        "training_peaks": list(training_peaks(device)) if device.kind != "mps" else [],
    }


def page_of(results: dict[str, Any]) -> Iterator[str]:
    """Write the results for people."""
    machine = results["machine"]
    threads = f", {machine['threads']} threads" if machine["threads"] else ""
    yield f"{machine['name']}{threads}, torch {machine['torch']}, {machine['date']}"
    card = ACCELERATORS.get(machine["name"])
    for kind, readings in results["readings"].items():
        if readings:
            yield f"\n{kind:<28}{'dtype':>7}{'first':>11}{'median':>11}{'best':>11}{'rate':>18}"
        for found in readings:
            yield _row(Reading(**found), card.dense_flops_per_second if card else {})
    yield "\nlaunch of a small kernel"
    for name, seconds in results["launch_seconds"].items():
        yield f"  {name:<26}{1e6 * seconds:18.2f} µs"
    yield f"\nlargest copy: {results['best_bytes_per_second'] / 1e9:.1f} GB/s"
    for peak in results["training_peaks"]:
        measured, calculated = peak["measured_bytes"], peak["calculated_bytes"]
        yield (
            f"training step in {peak['precision']}: {measured / 2**20:.1f} MiB by {peak['by']}, "
            f"{calculated / 2**20:.1f} MiB by the calculator ({measured / calculated - 1:+.1%})"
        )


def _row(reading: Reading, promised: dict[str, float]) -> str:
    times = (reading.first_seconds, reading.median_seconds, reading.best_seconds)
    milliseconds = "".join(f"{1e3 * seconds:8.3f} ms" for seconds in times)
    if "×" in reading.name:
        rate = reading.flops / reading.best_seconds
        share = f" {rate / promised[reading.dtype]:4.0%}" if reading.dtype in promised else ""
        speed = f"{rate / 1e12:8.2f} TFLOP/s{share}"
    else:
        speed = f"{reading.moved_bytes / reading.best_seconds / 1e9:9.1f} GB/s"
    return f"  {reading.name:<26}{reading.dtype:>7}{milliseconds}{speed:>18}"


def fastest_device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def main(arguments: list[str]) -> int:
    """Print the page and write the file; return the exit status."""
    parser = parser_of(__doc__)
    parser.add_argument("--device", choices=("cuda", "mps", "cpu"), default=fastest_device())
    parser.add_argument(
        "--json", type=file_to_write, metavar="FILE", help="write all readings there"
    )
    parser.add_argument("--repeats", type=int, default=10, metavar="N", help="calls; default 10")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(arguments)
    if options.repeats < 1:
        parser.error("--repeats must be at least 1")
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there.get(options.device, True):
        parser.error(f"there is no {options.device} device here")
    results = results_of(Device(options.device, options.repeats, options.quick))
    print("\n".join(page_of(results)))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
