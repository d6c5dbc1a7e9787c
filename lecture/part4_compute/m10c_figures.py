"""Pictures of a GPU: its parts, its queues, and the floors under its operations."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import altair

from lecture.facts import H100_SXM
from lecture.lib.charts import doublings, framed, ladder, lines, powers_of_ten, rows_of, slider
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.drawing import lanes as lanes
from lecture.lib.hardware import Level
from lecture.lib.multiprocessor import Issue, Run


def floor_plan(multiprocessors: int) -> Figure:  # @stepover
    """Draw all multiprocessors of a chip, and one of them enlarged."""
    columns, side, top = 12, 15, 26
    parts = [text(4, 14, f"{multiprocessors} multiprocessors", "start")]
    for number in range(multiprocessors):
        row, column = divmod(number, columns)
        colour = COLOURS[1] if number == columns - 1 else COLOURS[0]
        parts.append(box(4 + side * column, top + side * row, side - 3, side - 3, colour))
    rows = -(-multiprocessors // columns)
    bottom = top + side * rows + 4
    parts.append(box(4, bottom, side * columns - 3, 24, COLOURS[2], "L2 cache"))
    parts.append(box(4, bottom + 32, side * columns - 3, 24, None, "HBM, beside the chip"))
    left, width = 214, 106
    parts.append(text(left, 14, "one of them", "start"))
    for quarter in range(4):
        x, y = left + (width + 6) * (quarter % 2), top + 82 * (quarter // 2)
        parts.append(box(x, y, width, 76, COLOURS[1]))
        contents = ("warp scheduler", "16 384 registers", "32 lanes", "tensor core")
        for line, words in enumerate(contents):
            parts.append(text(x + width / 2, y + 17 + 17 * line, words, "middle"))
    parts.append(box(left, top + 164, 2 * width + 6, 26, COLOURS[3], "L1 and shared memory"))
    return Figure("An H100", left + 2 * width + 12, max(bottom + 60, top + 196), tuple(parts))


def distances(levels: Mapping[str, Level]) -> Figure:  # @stepover
    """Draw levels of memory as bars as long as their latency, with size and bandwidth beside."""
    left, per_tick, high = 92, 0.24, 30
    parts = []
    for x, words, anchor in (
        (left - 8, "level", "end"),
        (left, "ticks to answer", "start"),
        (360, "size, whole chip", "end"),
        (456, "bandwidth", "end"),
    ):
        parts.append(text(x, 14, words, anchor, ' font-style="italic"'))
    for number, (name, (size_bytes, rate, ticks)) in enumerate(levels.items()):
        y = 24 + (high + 6) * number
        parts.append(text(left - 8, y + 19, name, "end"))
        if ticks:
            parts.append(box(left, y, per_tick * ticks, high, COLOURS[number % 4]))
            parts.append(text(left + per_tick * ticks + 6, y + 19, str(ticks), "start"))
        parts.append(text(360, y + 19, _size(size_bytes), "end"))
        if rate:
            parts.append(text(456, y + 19, f"{rate / 1e12:.1f} TB/s", "end"))
    return Figure("How far a number is away", 464, 24 + (high + 6) * len(levels), tuple(parts))


@dataclass(frozen=True)
class Table:
    """A table that shows itself as Markdown."""

    rows: tuple[tuple[str, ...], ...]

    def _repr_markdown_(self) -> str:
        head, *body = (f"| {' | '.join(row)} |" for row in self.rows)
        return "\n".join([head, "|---" * len(self.rows[0]) + "|", *body])


def side_by_side(gpus: Mapping[str, Mapping[str, Level]]) -> Table:  # @stepover
    """Write size, bandwidth and latency of each level, a column for each GPU."""
    names = list(next(iter(gpus.values())))
    rows = [("", *gpus)]
    for name in names:
        rows.append((name, *(_level(levels[name]) for levels in gpus.values())))
    return Table(tuple(rows))


def _level(level: Level) -> str:
    size_bytes, rate, ticks = level
    words = [_size(size_bytes)]
    words += [f"{rate / 1e12:.1f} TB/s"] if rate else []
    words += [f"{ticks} ticks"] if ticks else []
    return ", ".join(words)


def _size(size_bytes: int) -> str:
    mebibytes = size_bytes / 2**20
    return f"{mebibytes:.4g} MiB" if mebibytes < 1024 else f"{mebibytes / 1024:.0f} GiB"


def warps(issues: Sequence[Issue]) -> Figure:  # @stepover
    """Draw what each warp does, and when the scheduler has nothing to start."""
    number = 1 + max(issue.warp for issue in issues)
    stop = max(issue.done for issue in issues)
    rows: dict[str, list[tuple[float, float, str]]] = {f"warp {w}": [] for w in range(number)}
    for issue in issues:
        rows[f"warp {issue.warp}"] += [
            (issue.tick, issue.tick + 1, "start"),
            (issue.tick + 1, issue.done, "wait for it"),
        ]
    rows["scheduler"] = [(issue.tick, issue.tick + 1, "start") for issue in issues]
    title = f"{number} warps: {len(issues)} instructions in {stop} ticks"
    return lanes(title, rows, "ticks")


def occupancy_by_registers(
    registers: Iterable[int], room: Mapping[str, int], threads: int
) -> altair.Chart:  # @stepover
    """Draw the stairs: the share of threads that fit, over the registers of each.

    A slider changes the threads of a block. A GPU hands out registers by eights for each thread, so
    33 count as 40: the stairs step down behind a multiple of eight.
    """
    chart = altair.Chart(rows_of(registers=registers)).mark_line(interpolate="step-before")
    chart = chart.add_params(slider("threads", "threads in a block", (32, 1024, 32), threads))
    most = (
        f"floor({room['threads']} / threads)",
        f"floor({room['registers']} / (threads * datum.registers))",
        f"{room['blocks']}",
    )
    share = f"min({', '.join(most)}) * threads / {room['threads']}"
    chart = chart.transform_calculate(percent=f"100 * {share}").encode(
        x=altair.X("registers:Q", title="registers for each thread"),
        y=altair.Y("percent:Q", title="occupancy, percent", scale=altair.Scale(domain=[0, 100])),
        tooltip=["registers:Q", altair.Tooltip("percent:Q", format=".1f")],
    )
    return framed(chart, "Blocks on a multiprocessor", 170)


def seconds_by_stride(
    predicted: Mapping[int, float], measured: Mapping[int, float]
) -> altair.Chart:  # @stepover
    """Draw the times of a copy over its stride, counted and on the stopwatch."""
    series = {
        "counted in 64-byte segments": {s: 1e6 * found for s, found in predicted.items()},
        "measured": {s: 1e6 * found for s, found in measured.items()},
    }
    x = doublings("stride, in numbers of four bytes", measured)
    return lines(
        series, x, {"title": "microseconds"}, "A copy of 16.8 million numbers on an H100", 200
    )


def waves(runs: Sequence[Run]) -> Figure:  # @stepover
    """Draw which multiprocessor has which block, wave by wave."""
    rows: dict[str, list[tuple[float, float, str]]] = {}
    for run in sorted(runs, key=lambda run: run.multiprocessor):
        wave = run.start // (run.stop - run.start)
        rows.setdefault(f"SM {run.multiprocessor}", []).append(
            (run.start, run.stop, f"wave {wave + 1}")
        )
    return lanes(f"{len(runs)} blocks on {len(rows)} multiprocessors", rows, "ticks")


def rate_by_side(rates: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw the rates that n×n matmuls reached, at sizes close together."""
    chart = altair.Chart(rows_of(n=rates.keys(), rate=[rate / 1e12 for rate in rates.values()]))
    chart = chart.mark_line(point=True).encode(
        x=altair.X("n:Q", title="n", scale=altair.Scale(domain=[0, 4200])),
        y=altair.Y("rate:Q", title="TFLOP/s"),
        tooltip=["n:Q", altair.Tooltip("rate:Q", format=".0f")],
    )
    return framed(chart, "n×n matmuls in bf16 on an H100, as recorded", 220)


def relu_floors(
    floors: Mapping[str, Mapping[int, float]], found: Mapping[int, Mapping[str, float]]
) -> altair.LayerChart:  # @stepover
    """Draw the floors under a ReLU over its numbers, and what a stopwatch said.

    That of the memory grows with the numbers, 4 bytes for each, and jumps where the L2 is full.
    """
    full, memory = H100_SXM.cache_bytes // 4, floors["memory"]
    before, after = max(n for n in memory if n < full), min(n for n in memory if n >= full)
    step = {full - 1: memory[before] * full / before, full: memory[after] * full / after}
    floors = {**floors, "memory": {**memory, **step}}
    measured = {
        way: {n: seconds[way] for n, seconds in found.items()} for way in ("graph", "queued")
    }
    series = {
        "in a graph": measured["graph"],
        "asked for by PyTorch": measured["queued"],
    }
    sizes = list(found)
    return _over_floors(floors, series, doublings("numbers", sizes[::3]), "ReLU in bf16, H100")


def matmul_floors(
    floors: Mapping[str, Mapping[int, float]], seconds: Mapping[int, float]
) -> altair.LayerChart:  # @stepover
    """Draw the floors under a matmul over its side, and what a stopwatch said."""
    x = doublings("n", (256, 512, 1024, 2048, 4096))
    return _over_floors(floors, {"in a graph": seconds}, x, "n×n matmul in bf16, H100")


def _over_floors(
    floors: Mapping[str, Mapping[int, float]],
    series: Mapping[str, Mapping[int, float]],
    x: dict[str, object],
    title: str,
) -> altair.LayerChart:
    """Draw floors as lines and readings as points, in microseconds on logarithmic axes."""
    everything = {**floors, **series}
    highest = max(seconds for found in everything.values() for seconds in found.values())
    y = powers_of_ten("microseconds", -1, 3 if highest > 2e-4 else 2 + (highest > 1e-4))
    points = [
        (name, size, 1e6 * seconds)
        for name, found in everything.items()
        for size, seconds in found.items()
        if seconds > 1e-7
    ]
    names, sizes, times = zip(*points, strict=True)
    base = altair.Chart(rows_of(what=names, size=sizes, time=times)).encode(
        x=altair.X("size:Q", **x),
        y=altair.Y("time:Q", **y),
        color=altair.Color(
            "what:N",
            sort=list(everything),
            legend=altair.Legend(title=None, orient="bottom", columns=3),
        ),
        tooltip=["what:N", "size:Q", altair.Tooltip("time:Q", format=".3g")],
    )
    is_floor = altair.FieldOneOfPredicate("what", list(floors))
    lines_of_floors = base.transform_filter(is_floor).mark_line(strokeDash=[5, 3])
    is_reading = altair.FieldOneOfPredicate("what", list(series))
    readings = base.transform_filter(is_reading).mark_point(filled=True, size=45, opacity=1)
    return framed(altair.layer(lines_of_floors, readings), title, 260)


def links(bytes_per_second: Mapping[str, float]) -> altair.LayerChart:  # @stepover
    """Draw bandwidths as a ladder."""
    return ladder(bytes_per_second, "bytes per second", "From a port to a multiprocessor")
