"""Machines that `python -m benchmarks.accelerator --json FILE` has measured, once and elsewhere.

The files lie in `lecture/recorded/`, each with the name of the machine, its library and the day.
"""

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "recorded"


@dataclass(frozen=True)
class Machine:
    """What a machine reached."""

    name: str
    date: str
    dtype: str  # in which its matmuls were fastest
    flops_per_second: float
    peaks: dict[str, float]
    """By format: FLOP/s of the fastest matmul."""
    bytes_per_second: float
    launch_seconds: float  # of a kernel that does next to nothing, one asked for after the other
    waited_seconds: float  # the same, waiting for each
    seconds: dict[str, float]
    """By name: the fastest call, of matmuls in `dtype`."""
    readings: dict[str, list[float]]
    """By name: all calls in their order."""
    points: dict[str, tuple[float, float]]
    """By operation: FLOPs for each byte that has to be moved, and FLOP/s."""


def recorded_machines(folder: Path) -> list[Machine]:  # @stepover
    """Read all files of a folder."""
    return [machine_of(json.loads(path.read_bytes())) for path in sorted(folder.glob("*.json"))]


def recorded_machine(kind: str) -> Machine:  # @stepover
    """Find the recorded machine whose name contains this."""
    return next(machine for machine in recorded_machines(FOLDER) if kind in machine.name)


def machine_of(results: dict) -> Machine:  # @stepover
    """Take from the results what a roofline shows."""
    peaks = results["best_flops_per_second"]
    dtype = max(peaks, key=peaks.__getitem__)
    readings = results["readings"]
    matmuls = [found for found in readings["matmul"] if found["dtype"] == dtype]
    others = [found for kind in readings if kind != "matmul" for found in readings[kind]]
    timed = [*matmuls, *others]
    shown = [*readings["elementwise"], *matmuls]
    return Machine(
        name=results["machine"]["name"],
        date=results["machine"]["date"],
        dtype=dtype,
        flops_per_second=peaks[dtype],
        peaks=peaks,
        bytes_per_second=results["best_bytes_per_second"],
        launch_seconds=results["launch_seconds"]["queued"],
        waited_seconds=results["launch_seconds"]["waited for"],
        seconds={found["name"]: min(found["seconds"]) for found in timed},
        readings={found["name"]: [found["first_seconds"], *found["seconds"]] for found in timed},
        points={
            found["name"]: (
                found["flops"] / found["moved_bytes"],
                found["flops"] / min(found["seconds"]),
            )
            for found in shown
        },
    )


@dataclass(frozen=True)
class Floors:
    """What `python -m benchmarks.floors --json FILE` found: seconds of a call, by size."""

    name: str
    date: str
    relu_seconds: dict[int, dict[str, float]]
    """By numbers in bf16; "queued" by Python, and in a "graph" that the GPU runs by itself."""
    copy_seconds: dict[int, float]
    """By stride: 2^24 numbers of four bytes."""
    matmul_seconds: dict[int, float]
    """By n: n×n matrices in bf16."""


def recorded_floors(path: Path = FOLDER / "floors/h100.json") -> Floors:  # @stepover
    """Read a file of `benchmarks.floors`."""
    results = json.loads(path.read_bytes())
    tables = {
        name: {int(size): seconds for size, seconds in results[name].items()}
        for name in ("relu_seconds", "copy_seconds", "matmul_seconds")
    }
    return Floors(results["machine"]["name"], results["machine"]["date"], **tables)
