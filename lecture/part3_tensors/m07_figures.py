"""Pictures of storages and the views that read them."""

import itertools

import torch
from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.drawing import CELL, COLOURS, Figure, arc, box, text
from lecture.lib.shapes import shape_checked


@shape_checked
def strides(x: Shaped[Tensor, "rows columns"]) -> Figure:  # @stepover
    """Draw a matrix above its storage, with one jump for each step along an axis."""
    memory = torch.empty(0, dtype=x.dtype).set_(x.untyped_storage()).tolist()
    rows, columns = x.shape
    owner = [None] * len(memory)
    parts = [text(4, 16, f"shape {tuple(x.shape)}, stride {x.stride()}", "start")]
    for i, j in itertools.product(range(rows), range(columns)):
        position = x.storage_offset() + i * x.stride(0) + j * x.stride(1)
        owner[position] = COLOURS[i % len(COLOURS)]
        place = (4 + CELL * j, 26 + CELL * i, CELL, CELL)
        parts.append(box(*place, owner[position], f"{x[i, j].item():g}"))
    top = 26 + CELL * rows + 56
    pitch = 23
    for position, number in enumerate(memory):
        parts.append(box(4 + pitch * position, top, pitch, CELL, owner[position], f"{number:g}"))

    def centre(i: int, j: int) -> float:
        return 4 + pitch * (x.storage_offset() + i * x.stride(0) + j * x.stride(1) + 0.5)

    for i in range(rows - 1):
        if x.stride(0):
            parts.append(arc(centre(i, 0), centre(i + 1, 0), top - 3, 18, COLOURS[0]))
    for j in range(columns - 1):
        if x.stride(1):
            below = top + CELL + 3
            parts.append(arc(centre(0, j), centre(0, j + 1), below, -9, COLOURS[3]))
    moves = [f"+{stride}" if stride else "+0, it stays" for stride in x.stride()]
    label_y = top + CELL + (32 if x.stride(1) else 18)
    parts.append(text(4, top - 30, f"a step along axis 0: {moves[0]}", "start"))
    parts.append(text(4, label_y, f"a step along axis 1: {moves[1]}", "start"))
    if x.storage_offset():
        parts.append(text(4, label_y + 20, f"offset: {x.storage_offset()}", "start"))
        label_y += 20
    width = max(8 + pitch * len(memory), 8 + CELL * columns, 230)
    return Figure("A matrix and its storage", width, label_y + 8, tuple(parts))


@shape_checked
def views_of_storage(
    base: Shaped[Tensor, "..."], views: dict[str, Shaped[Tensor, "..."]]
) -> Figure:  # @stepover
    """Draw one storage once for each view, with the index under which the view finds a cell."""
    cells = base.untyped_storage().nbytes() // base.element_size()
    left, row_height = 104, CELL + 10
    memory = torch.empty(0, dtype=base.dtype).set_(base.untyped_storage()).tolist()
    parts = [text(4, 24, "storage", "start")]
    parts += [box(left + CELL * n, 6, CELL, CELL, None, f"{memory[n]:g}") for n in range(cells)]
    for line, (name, view) in enumerate(views.items(), start=1):
        y = 6 + row_height * line + 8
        parts.append(text(4, y + 18, name, "start"))
        found = {
            view.storage_offset()
            + sum(index * stride for index, stride in zip(place, view.stride(), strict=True)): place
            for place in itertools.product(*map(range, view.shape))
        }
        for n in range(cells):
            colour = COLOURS[(line - 1) % len(COLOURS)] if n in found else None
            index = ",".join(map(str, found.get(n, ())))
            parts.append(box(left + CELL * n, y, CELL, CELL, colour, index))
    height = 6 + row_height * (len(views) + 1) + 24
    parts.append(text(4, height - 6, "filled: read by the view, under this index", "start"))
    return Figure(
        "One storage and its views", max(left + CELL * cells + 4, 300), height, tuple(parts)
    )
