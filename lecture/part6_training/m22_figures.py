"""Pictures of the way from a file to the accelerator."""

from collections.abc import Iterable, Mapping, Sequence

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
