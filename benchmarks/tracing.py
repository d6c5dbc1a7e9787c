"""What recording costs: `python -m benchmarks.tracing`.

Each workload runs plainly, under a no-op `sys.settrace`, under the recorder without locals and with
them, in turn, several rounds in one process. The table shows the median seconds of processor time,
in which other programs count for little, and the median over the rounds of

    added cost of the recorder / added cost of the no-op trace function.

The rest are prices of single things: a step, an inspected value, a name at a glance, a step in the
document; and, where they are installed, what PySnooper and edtrace ask for a step, all variables
shown (`pip install --target FOLDER pysnooper edtrace`, and `PYTHONPATH=FOLDER`).
"""

import contextlib
import dataclasses
import importlib.util
import io
import platform
import statistics
import sys
import tempfile
import textwrap
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from benchmarks.arguments import parser_of
from trace.document.build import build
from trace.document.encoding import encode
from trace.options import Options
from trace.record.recorder import FULL_READINGS
from trace.record.run import Recording, record
from trace.target import find_target

ROUNDS = 7
MANY = Options(max_steps=100_000_000, costs=False)
BARE = dataclasses.replace(MANY, locals=False)

MAIN = """
import time

def main():
    start = time.process_time()
    work()
    print(time.process_time() - start)
"""

WORKLOADS = {
    "line-dense loop": """
def work():
    total = 0
    for i in range(300_000):
        a = i & 7
        b = a + 1
        if b > 4:
            total += b
        else:
            total -= a
    return total
""",
    "recursion": """
def work():
    return fibonacci(22)

def fibonacci(n):
    if n < 2:
        return n
    return fibonacci(n - 1) + fibonacci(n - 2)
""",
    "call-dense": """
def work():
    total = 0
    for i in range(100_000):
        total = add(total, i)
    return total

def add(a, b):
    return a + b
""",
    "library-heavy": """
import json

def work():
    data = {"a": [{"b": i, "c": str(i)} for i in range(200)]}
    for _ in range(300):
        text = json.dumps(data, indent=1)
        data = json.loads(text)
    return data
""",
    "generator-dense": """
def work():
    return sum(pairs(60_000))

def pairs(count):
    for number in numbers(count):
        yield number * 2

def numbers(count):
    yield from range(count)
""",
    "task-dense": """
import asyncio

def work():
    return asyncio.run(all_of(3_000))

async def all_of(count):
    return sum(await asyncio.gather(*(one(number) for number in range(count))))

async def one(number):
    await asyncio.sleep(0)
    return number
""",
    "exception-dense": """
def work():
    caught = 0
    for number in range(60_000):
        try:
            refuse(number)
        except ValueError:
            caught += 1
    return caught

def refuse(number):
    raise ValueError(number)
""",
    "gc-dense": """
def work():
    kept = []
    for number in range(60_000):
        node = Node(number)
        kept.append(node)
        if len(kept) > 100:
            kept.clear()

class Node:
    def __init__(self, number):
        self.number = number
        self.itself = self
""",
}

STEPOVER = "def work():\n    call()  # @stepover\n" + WORKLOADS["call-dense"].replace(
    "work()", "call()"
)


def run_plainly(file: Path) -> float:
    """Return the seconds that the workload takes without the recorder."""
    namespace: dict[str, object] = {"__name__": file.stem}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    printed = io.StringIO()
    main = namespace["main"]
    assert callable(main)
    with contextlib.redirect_stdout(printed):
        main()
    return float(printed.getvalue())


def run_with_trace_function(file: Path) -> float:
    """Return the seconds under a trace function that does nothing."""

    def nothing(frame: FrameType, event: str, argument: object) -> Callable:
        return nothing

    sys.settrace(nothing)
    try:
        return run_plainly(file)
    finally:
        sys.settrace(None)


def run_recorded(file: Path, options: Options = MANY) -> tuple[float, Recording]:
    """Return the seconds under the recorder, and the recording."""
    with contextlib.redirect_stdout(io.StringIO()):
        recording = record(find_target(str(file)), options)
    assert recording.failure is None, recording.error
    return float(recording.recorder.output[-1].text), recording


def compare(name: str, file: Path) -> None:
    """Print one row: plain, trace function, recorder without and with locals, and ratios."""
    rounds = [
        (
            run_plainly(file),
            run_with_trace_function(file),
            run_recorded(file, BARE)[0],
            run_recorded(file)[0],
        )
        for _ in range(ROUNDS)
    ]
    medians = [statistics.median(column) for column in zip(*rounds, strict=True)]
    bare = statistics.median((b - p) / (h - p) for p, h, b, _ in rounds)
    added = statistics.median((r - p) / (h - p) for p, h, _, r in rounds)
    whole = statistics.median(r / p for p, _, _, r in rounds)
    seconds = "".join(f"{median:9.4f}" for median in medians)
    print(f"{name:<18}{seconds}{bare:12.2f}{added:12.2f}{whole:12.3f}")


def price_of_the_document(name: str, file: Path) -> None:
    """Print what a step costs on disk, in time to write, and in memory while recording."""
    bare = run_recorded(file, BARE)[1]
    bare_bytes = len(encode(build(bare)))
    tracemalloc.start()
    _, recording = run_recorded(file)
    held_bytes = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    steps = recording.recorder.step_count(len(recording.recorder.events))
    start = time.perf_counter()
    data = encode(build(recording))
    seconds = time.perf_counter() - start
    print(
        f"{name:<18}{steps:>10,}{1e6 * seconds / steps:10.3f}{bare_bytes / steps:10.2f}"
        f"{len(data) / steps:10.2f}{held_bytes / steps:12.1f}"
    )


SHORTER = {"300_000": "3_000", "100_000": "2_000", "(22)": "(13)"}
"""A peer takes a thousand times as long as the plain run."""


def run_with_pysnooper(file: Path) -> float:
    """Return the seconds under PySnooper, whose lines nobody reads."""
    import pysnooper

    namespace: dict[str, Any] = {"__name__": file.stem}
    exec(compile(file.read_text(), str(file), "exec"), namespace)
    snoop = pysnooper.snoop(lambda text: None, depth=30, color=False)
    namespace["work"] = snoop(namespace["work"])
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        namespace["main"]()
    return float(printed.getvalue())


def run_with_edtrace(file: Path) -> float:
    """Return the seconds under edtrace, which prints each step between."""
    from edtrace.execute import execute

    sys.path.insert(0, str(file.parent))
    try:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            execute(file.stem, inspect_all_variables=True)
    finally:
        sys.path.remove(str(file.parent))
        del sys.modules[file.stem]
    own = [line for line in printed.getvalue().split("\n") if line[:1].isdigit()]
    return float(own[-1])


PEERS = {"pysnooper": run_with_pysnooper, "edtrace": run_with_edtrace}


def compare_with_peers(name: str, folder: Path) -> None:
    """Print the microseconds a step of ours, and of those that are installed; a step is ours."""
    source = WORKLOADS[name]
    for long, short in SHORTER.items():
        source = source.replace(long, short)
    file = write(folder, f"short {name}", source)
    _, recording = run_recorded(file)
    steps = recording.recorder.step_count(len(recording.recorder.events))
    ways = {"no-op": run_with_trace_function, "ours": lambda file: run_recorded(file)[0]}
    ways |= {peer: run for peer, run in PEERS.items() if importlib.util.find_spec(peer)}
    told = [f"{name}, {steps:,} steps"]
    for way, run in ways.items():
        seconds = statistics.median(run(file) for _ in range(3))
        told.append(f"{way} {1e6 * seconds / steps:.1f}")
    print("us a step: " + ", ".join(told))


def price_of_a_value(folder: Path) -> None:
    """Print the seconds per inspected scalar in a loop, against the loop without it."""
    seconds = {}
    for directive in ("", "  # @inspect total"):
        source = f"""
def work():
    total = 0
    for i in range(100_000):
        total += 1{directive}
"""
        file = write(folder, "scalar" + str(len(directive)), source)
        seconds[directive] = statistics.median(run_recorded(file)[0] for _ in range(ROUNDS))
    each = (seconds["  # @inspect total"] - seconds[""]) / 100_000
    print(f"one inspected scalar in a hot loop: {1e6 * each:.2f} us")


def price_of_a_glance(folder: Path) -> None:
    """Print the seconds per scalar at a glance, in a function that is called less often than it
    takes to be read more rarely."""
    names = "".join(f"    a{i} = n + {i}\n" for i in range(10))
    source = f"""
def work():
    for n in range({FULL_READINGS}):
        ten(n)

def ten(n):
{names}
"""
    file = write(folder, "glances", source)
    seconds = [
        statistics.median(run_recorded(file, options)[0] for _ in range(ROUNDS))
        for options in (BARE, MANY)
    ]
    _, recording = run_recorded(file)
    glances = sum(len(reading.glances) for reading in recording.recorder.readings)
    each = (seconds[1] - seconds[0]) / glances
    print(f"one scalar at a glance, of {glances:,}: {1e6 * each:.2f} us")


def price_of_stepover(folder: Path) -> None:
    """Print the time of a `@stepover` call relative to its plain time."""
    file = write(folder, "stepover", STEPOVER)
    ratios = [run_recorded(file)[0] / run_plainly(file) for _ in range(ROUNDS)]
    print(f"a @stepover call: {statistics.median(ratios):.2f} times its plain time")


def price_of_a_tensor(folder: Path) -> None:
    """Print what one inspected 1000 x 1000 tensor costs."""
    import torch

    torch.set_num_threads(2)
    source = """
import torch
X = torch.randn(1000, 1000)

def work():
    y = X  {directive}
"""
    results = {}
    for name, directive in {"without": "", "with": "# @inspect y"}.items():
        file = write(folder, f"tensor_{name}", source.replace("{directive}", directive))
        runs = [run_recorded(file) for _ in range(ROUNDS)]
        seconds = statistics.median(seconds for seconds, _ in runs)
        results[name] = seconds, len(encode(build(runs[-1][1])))
    milliseconds = 1e3 * (results["with"][0] - results["without"][0])
    document_bytes = results["with"][1] - results["without"][1]
    print(f"one inspected 1000 x 1000 tensor: {milliseconds:.1f} ms, {document_bytes:,} bytes")


def ten_million_steps(folder: Path) -> None:
    """Record and write ten million steps; print memory and seconds."""
    source = """
def work():
    total = 0
    for i in range(3_333_333):
        total += 1
        total -= 1
"""
    import resource

    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, recording = run_recorded(write(folder, "ten_million", source))
    held_bytes = sys.getsizeof(recording.recorder.events)
    start = time.perf_counter()
    data = encode(build(recording))
    written = time.perf_counter() - start
    peak_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib
    print(
        f"ten million steps: {seconds:.2f} s to record, {held_bytes / 1e6:.0f} MB held, "
        f"{written:.2f} s to write {len(data) / 1e6:.0f} MB, peak {peak_kib / 1024:.0f} MiB"
    )


def write(folder: Path, name: str, source: str) -> Path:
    """Write a workload and return its file."""
    file = folder / f"{name.replace('-', '_').replace(' ', '_')}.py"
    file.write_text(MAIN + textwrap.dedent(source))
    return file


def main() -> None:
    """Print all tables."""
    parser_of(__doc__).parse_args()
    print(f"Python {platform.python_version()}, {platform.machine()}, {ROUNDS} rounds")
    print(f"\n{'':<18}{'plain':>9}{'no-op':>9}{'bare':>9}{'locals':>9}", end="")
    print(f"{'bare/no-op':>12}{'loc./no-op':>12}{'loc./plain':>12}")
    print(
        f"{'':<18}{'s':>9}{'s':>9}{'s':>9}{'s':>9}{'added cost':>12}{'added cost':>12}{'whole':>12}"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {title: write(folder, title, source) for title, source in WORKLOADS.items()}
        for title, file in files.items():
            compare(title, file)
        print(f"\n{'':<18}{'':>10}{'':>10}{'bare':>10}{'locals':>10}")
        print(
            f"{'':<18}{'steps':>10}{'us/step':>10}{'B/step':>10}{'B/step':>10}{'B held/step':>12}"
        )
        for title in ("line-dense loop", "recursion", "call-dense"):
            price_of_the_document(title, files[title])
        print()
        for title in ("line-dense loop", "recursion", "call-dense"):
            compare_with_peers(title, folder)
        print()
        price_of_a_value(folder)
        price_of_a_glance(folder)
        price_of_stepover(folder)
        price_of_a_tensor(folder)
        ten_million_steps(folder)


if __name__ == "__main__":
    main()
