"""Timing done properly, and the best rates that a machine has shown.

On a CPU, `time_call` takes one thread. Two threads wait for each other at the end of each
operation, and where other programs want the processor as well, that wait can be all one measures.
"""

import contextlib
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch

from trace.costs import measure

Clock = Callable[[], float]


@dataclass(frozen=True)
class Timing:
    """What a stopwatch showed: for the first call, which is set apart, and for those after it."""

    first_seconds: float
    repeated_seconds: tuple[float, ...]

    @property
    def median_seconds(self) -> float:  # @stepover
        """Half of the calls took less; one that was interrupted does not move it."""
        return statistics.median(self.repeated_seconds)

    @property
    def best_seconds(self) -> float:  # @stepover
        """The shortest: what the machine can do when it is left alone."""
        return min(self.repeated_seconds)


def _wait_for_accelerator() -> None:
    """Wait until a GPU has done all it was asked to do, if there is one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


@contextlib.contextmanager
def _on_one_thread() -> Iterator[None]:
    """Leave out what it takes for threads to wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def time_call(
    call: Callable[[], object],
    repeats: int = 5,
    clock: Clock = time.perf_counter,
    wait: Callable[[], None] = _wait_for_accelerator,
) -> Timing:  # @stepover
    """Time a call that warms up and some more, each from idle to idle."""
    seconds = []
    with _on_one_thread():
        for _ in range(1 + repeats):
            wait()
            start = clock()
            call()
            wait()
            seconds.append(clock() - start)
    return Timing(seconds[0], tuple(seconds[1:]))


def flops_per_second(
    call: Callable[[], object], clock: Clock = time.perf_counter
) -> float:  # @stepover
    """Divide what the meter counts in a call by the median time of the call."""
    with measure() as cost:
        call()
    flops = cost.matmul_flops + cost.other_flops
    return flops / time_call(call, clock=clock).median_seconds


def matmul_flops_per_second(
    n: int, dtype: torch.dtype, device: str = "cpu", clock: Clock = time.perf_counter
) -> float:  # @stepover
    """Time the product of two n×n matrices."""
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(n, n, generator=generator).to(device, dtype)
    w = torch.randn(n, n, generator=generator).to(device, dtype)
    return flops_per_second(lambda: x @ w, clock)


def best_matmul_flops_per_second(
    sizes: Iterable[int],
    dtype: torch.dtype,
    device: str = "cpu",
    clock: Clock = time.perf_counter,
) -> float:  # @stepover
    """Calibrate: take the best of square products of these sizes for the peak."""
    return max(matmul_flops_per_second(n, dtype, device, clock) for n in sizes)


def best_bytes_per_second(
    elements: int,
    dtype: torch.dtype,
    device: str = "cpu",
    clock: Clock = time.perf_counter,
) -> float:  # @stepover
    """Calibrate the memory: read many numbers and write them to another place."""
    x = torch.ones(elements, dtype=dtype, device=device)
    y = torch.empty_like(x)
    with measure() as cost:
        y.copy_(x)
    timing = time_call(lambda: y.copy_(x), clock=clock)
    return (cost.read_bytes + cost.written_bytes) / timing.best_seconds


def fastest_seconds(call: Callable[[], object]) -> float:  # @stepover
    """Time a call: the fastest of up to five readings, of two where a call takes long.

    What disturbs a reading makes it longer, never shorter. Read are the seconds that the processor
    works for us, of which other programs take none.
    """
    readings: list[float] = []
    while len(readings) < 2 or (len(readings) < 5 and sum(readings) < 0.3):
        start = time.process_time()
        call()
        readings.append(time.process_time() - start)
    return min(readings)
