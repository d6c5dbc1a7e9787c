"""A log of a run, one line of JSON for each step, and a picture of it."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lecture.tokenizer.files import replacing

Row = dict[str, Any]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, GAP = 640, 150, 60, 20, 30, 46
PANELS = {"loss": "loss, nats per token", "lr": "learning rate", "gradient_norm": "gradient norm"}


def append_row(path: Path, row: Row) -> None:
    """Add a line. Whoever watches the file sees it at once."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")


def read_rows(path: Path) -> list[Row]:
    """Read the lines of a log. A last line without an end was cut off when the run was killed."""
    whole, _, _ = path.read_text(encoding="utf-8").rpartition("\n")
    return [json.loads(line) for line in whole.splitlines()]


def forget_after(path: Path, step: int) -> None:
    """Take out what a killed run did after its last checkpoint: it will be done again."""
    rows = [row for row in read_rows(path) if row["step"] <= step] if path.exists() else []
    with replacing(path) as file:
        file.write("".join(json.dumps(row) + "\n" for row in rows).encode())


def validation_dots(rows: Sequence[Row], top: float, high: float) -> list[str]:
    """Draw the loss on validation text, where it was measured, into the panel of the loss."""
    return [
        f'<circle cx="{LEFT + (WIDTH - LEFT - RIGHT) * row["step"] / rows[-1]["step"]:.1f}" '
        f'cy="{top + HEIGHT * (1 - min(row["validation_loss"] / high, 1)):.1f}" r="3" '
        'fill="#f58518"><title>validation loss</title></circle>'
        for row in rows
        if "validation_loss" in row
    ]


def picture(rows: Sequence[Row], levels: Mapping[str, float]) -> str:
    """Draw loss, learning rate and gradient norm over the steps, as SVG.

    `levels` are losses to compare with, such as that of a blind guess; each is a dashed line.
    """
    steps = [row["step"] for row in rows if "loss" in row]
    parts = []
    for number, (name, title) in enumerate(PANELS.items()):
        top = TOP + number * (HEIGHT + GAP)
        values = [row[name] for row in rows if name in row]
        shown = levels if name == "loss" else {}
        high = max([*values, *shown.values()]) or 1.0
        parts.append(f'<text x="{LEFT}" y="{top - 8}" font-weight="bold">{title}</text>')
        for tick in (0.0, high / 2, high):
            y = top + HEIGHT * (1 - tick / high)
            parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#8886"/>')
            parts.append(
                f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:.3g}</text>'
            )
        for label, level in shown.items():
            y = top + HEIGHT * (1 - level / high)
            parts.append(
                f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#e45756" '
                f'stroke-dasharray="5 3"/><text x="{WIDTH - RIGHT}" y="{y + 13:.1f}" '
                f'text-anchor="end">{label} {level:.3g}</text>'
            )
        points = " ".join(
            f"{LEFT + (WIDTH - LEFT - RIGHT) * step / steps[-1]:.1f},"
            f"{top + HEIGHT * (1 - value / high):.1f}"
            for step, value in zip(steps, values, strict=True)
        )
        parts.append(f'<polyline points="{points}" fill="none" stroke="#4c78a8"/>')
        if name == "loss":
            parts += validation_dots(rows, top, high)
    bottom = TOP + len(PANELS) * (HEIGHT + GAP)
    parts.append(
        f'<text x="{WIDTH - RIGHT}" y="{bottom - GAP + 18}" text-anchor="end">'
        f"step {steps[-1]:,}</text>"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{bottom}" '
        f'viewBox="0 0 {WIDTH} {bottom}" font-family="sans-serif" font-size="12" '
        f'fill="#444"><rect width="100%" height="100%" fill="#fff"/>{"".join(parts)}</svg>\n'
    )
