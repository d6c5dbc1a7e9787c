"""Pictures of texts, their bytes and their tokens."""

from collections.abc import Collection, Mapping, Sequence

import altair

from lecture.lib.charts import framed, legend_below, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.token_boxes import WIDTH
from lecture.lib.token_boxes import coloured_tokens as coloured_tokens


def sizes_by_script(
    sizes: Mapping[str, Sequence[int]], characters: Mapping[str, int], names: Sequence[str]
) -> altair.Chart:  # @stepover
    """Draw the bytes that each encoding takes for one character of each text."""
    rows = [
        (script, encoding, size / characters[script])
        for script, by_encoding in sizes.items()
        for encoding, size in zip(names, by_encoding, strict=True)
    ]
    scripts, encodings, each = zip(*rows, strict=True)
    chart = altair.Chart(rows_of(script=scripts, encoding=encodings, bytes=each)).mark_bar()
    chart = chart.encode(
        x=altair.X("script:N", title=None, sort=list(sizes), axis=altair.Axis(labelAngle=0)),
        xOffset=altair.XOffset("encoding:N", sort=list(names)),
        y=altair.Y("bytes:Q", title="bytes per character"),
        color=altair.Color("encoding:N", sort=list(names), legend=legend_below(columns=3)),
        tooltip=["script:N", "encoding:N", "bytes:Q"],
    )
    return framed(chart, "What a character takes", 200)


def pairs_that_are_text(valid: Collection[tuple[int, int]]) -> Figure:  # @stepover
    """Draw a square of all pairs of bytes and fill those that are UTF-8 text."""
    left, top, pixel = 62, 24, 1.25
    runs: list[str] = []
    for first in range(256):
        row = sorted(second for one, second in valid if one == first)
        start = 0
        for place in range(len(row)):
            if place + 1 == len(row) or row[place + 1] != row[place] + 1:
                length = place + 1 - start
                runs.append(
                    f"M{left + pixel * row[start]:g} {top + pixel * first:g}h{pixel * length:g}"
                    f"v{pixel:g}h-{pixel * length:g}z"
                )
                start = place + 1
    side = 256 * pixel
    parts = [
        f'<path d="{"".join(runs)}" fill="{COLOURS[0]}"/>',
        box(left, top, side, side),
        text(left + 64 * pixel, top + 68 * pixel, "two characters", more=' fill="white"'),
        text(left + 122 * pixel, top + 213 * pixel, "one character", "end"),
    ]
    for value in (0, 0x80, 0xC2, 0xE0):
        y = top + pixel * value
        parts.append(text(left - 6, y + 5, f"{value:02X}", "end"))
    for value in (0, 0x80, 0xC0):
        parts.append(text(left + pixel * value, top - 6, f"{value:02X}", "start"))
    parts.append(text(left, top + side + 16, "down: first byte, across: second byte", "start"))
    return Figure("Pairs of bytes that are UTF-8", WIDTH, top + side + 26, tuple(parts))
