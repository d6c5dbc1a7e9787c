"""Pictures of the way from a file to the accelerator."""

import math
from collections.abc import Iterable, Mapping, Sequence

import altair

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text


def file_pages(
    starts: Iterable[int], window_tokens: int, page_tokens: int, pages: int
) -> Figure:  # @stepover
    """Draw the pages of a file, filled where a window touches them, with the bytes it reads."""
    columns, cell, pitch = 16, 22, 24
    read: dict[int, list[tuple[float, float]]] = {}
    for start in starts:
        stop = start + window_tokens
        for page in range(start // page_tokens, (stop - 1) // page_tokens + 1):
            first = max(start, page * page_tokens) - page * page_tokens
            last = min(stop, (page + 1) * page_tokens) - page * page_tokens
            read.setdefault(page, []).append((first / page_tokens, last / page_tokens))
    parts = []
    for page in range(pages):
        x, y = 4 + pitch * (page % columns), 4 + pitch * (page // columns)
        parts.append(box(x, y, cell, cell, COLOURS[0] if page in read else None))
        for first, last in read.get(page, ()):
            parts.append(
                f'<rect x="{x + cell * first:.4g}" y="{y}" width="{cell * (last - first):.3g}" '
                f'height="{cell}" fill="{COLOURS[3]}"/>'
            )
    y = 4 + pitch * (pages // columns) + 8
    parts.append(box(4, y, 14, 14, COLOURS[0]))
    parts.append(text(24, y + 12, "page touched", "start"))
    parts.append(f'<rect x="130" y="{y}" width="14" height="14" fill="{COLOURS[3]}"/>')
    parts.append(text(150, y + 12, "tokens of a window", "start"))
    words = f"{len(read)} of {pages} pages touched; the file goes on row by row"
    parts.append(text(4, y + 34, words, "start"))
    return Figure("Pages of a file that a batch touches", 8 + pitch * columns, y + 42, tuple(parts))


def timelines(
    schedules: Mapping[int, Sequence[tuple[str, int, float, float]]],
) -> Figure:  # @stepover
    """Draw for each schedule which engine works on which batch, on one axis of time."""
    left, height = 70, 24
    end = max(stop for schedule in schedules.values() for *_, stop in schedule)
    scale = (396 - left) / end
    parts = []
    y = 4.0
    for buffers, schedule in schedules.items():
        words = f"{buffers} buffer" + ("s" if buffers > 1 else "")
        parts.append(text(4, y + 13, words, "start", ' font-weight="bold"'))
        y += 20
        for line, engine in enumerate(("copy", "compute")):
            top = y + line * (height + 2)
            parts.append(text(4, top + 16, engine, "start"))
            parts += [
                box(
                    left + scale * start,
                    top,
                    scale * (stop - start),
                    height,
                    COLOURS[batch % len(COLOURS)],
                    str(batch),
                )
                for worker, batch, start, stop in schedule
                if worker == engine
            ]
        y += 2 * height + 8
        finished = max(stop for *_, stop in schedule)
        x = left + scale * finished
        parts.append(text(x, y + 10, f"{finished:g} ms", "end"))
        y += 22
    return Figure("Copying and computing; each number is a batch", 400, y, tuple(parts))


def coverage(missed: Mapping[int, float]) -> altair.LayerChart:  # @stepover
    """Draw how much of a text is missed after reading it so many times over, and the estimate."""
    curve = [number / 10 for number in range(31)]
    expected = altair.Chart(
        rows_of(
            times=curve,
            percent=[100 * math.exp(-times) for times in curve],
            kind=["expected, e to minus that"] * len(curve),
        )
    )
    found = altair.Chart(
        rows_of(
            times=missed.keys(),
            percent=[100 * share for share in missed.values()],
            kind=["measured"] * len(missed),
        )
    )
    x = altair.X(
        "times:Q",
        title="tokens read, over tokens in the file",
        axis=altair.Axis(values=[0, 1, 2, 3]),
    )
    y = altair.Y("percent:Q", title="percent never read")
    colour = altair.Color("kind:N", legend=legend_below(columns=2))
    layers = expected.mark_line().encode(x=x, y=y, color=colour) + found.mark_point(
        filled=True, size=90, opacity=1
    ).encode(x=x, y=y, color=colour, tooltip=["times:Q", altair.Tooltip("percent:Q", format=".1f")])
    return framed(layers, "Windows at random places", 200)
