"""Pictures of optimizers."""

from collections.abc import Mapping

import altair
from jaxtyping import Float
from torch import Tensor

from lecture.lib.charts import Layout, lines, powers_of_ten
from lecture.lib.drawing import COLOURS, Figure, box, text
from lecture.lib.shapes import shape_checked

PLACES = {
    "SGD": (122, 4),
    "momentum": (4, 84),
    "AdaGrad": (240, 84),
    "RMSProp": (240, 164),
    "Adam": (122, 244),
    "AdamW": (122, 324),
}
"""Where the boxes of the family tree stand: left edge and top."""
BOX_WIDTH, BOX_HEIGHT = 120, 40


def family_tree(parents: Mapping[str, Mapping[str, str]]) -> Figure:  # @stepover
    """Draw who descends from whom, with what is new beside the arrow."""
    parts = []
    for name, news in parents.items():
        left, top = PLACES[name]
        parts.append(box(left, top, BOX_WIDTH, BOX_HEIGHT, COLOURS[0]))
        parts.append(text(left + BOX_WIDTH / 2, top + 25, name, more=' font-weight="bold"'))
        for parent, new in news.items():
            parent_left, parent_top = PLACES[parent]
            aside = (left > parent_left) - (left < parent_left)
            start_x = parent_left + BOX_WIDTH / 2 + 34 * aside
            end_x, start_y, end_y = left + BOX_WIDTH / 2 - 34 * aside, parent_top + BOX_HEIGHT, top
            parts.append(
                f'<path d="M{start_x:g} {start_y:g}L{end_x:g} {end_y - 6:g}" '
                'stroke="currentColor" stroke-width="1.5"/>'
                f'<path d="M{end_x:g} {end_y:g}l-4.5 -8h9z" fill="currentColor"/>'
            )
            middle_x, middle_y = (start_x + end_x) / 2, (start_y + end_y) / 2
            if aside:
                outwards = -1 if middle_x < 190 else 1
                anchor = "end" if outwards < 0 else "start"
                place = middle_x + 18 * outwards
            else:
                anchor, place = "start", middle_x + 10
            if aside and start_y > 100:
                middle_y += 6
            parts.append(text(place, middle_y + 4, new, anchor, ' font-size="12"'))
    return Figure("A family of optimizers", 398, 370, tuple(parts))


@shape_checked
def paths_in_a_ravine(
    title: str, paths: Mapping[str, Float[Tensor, "_ 2"]], steepness: float
) -> Figure:  # @stepover
    """Draw each path over lines of equal loss, in a panel of its own; a dot is a step."""
    scale_x, scale_y, width, height = 7.4, 11.0, 186, 104
    parts = []
    for number, (name, path) in enumerate(paths.items()):
        left, top = 4 + (width + 10) * (number % 2), 6 + (height + 26) * (number // 2)
        x0, y0 = left + 98, top + height / 2
        parts.append(box(left, top, width, height))
        for radius in (3, 6, 9, 11.5):
            parts.append(
                f'<ellipse cx="{x0:g}" cy="{y0:g}" rx="{radius * scale_x:g}" '
                f'ry="{radius / steepness**0.5 * scale_y:g}" fill="none" '
                'stroke="currentColor" stroke-opacity="0.25"/>'
            )
        places = [(x0 + scale_x * along, y0 - scale_y * across) for along, across in path.tolist()]
        route = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        colour = COLOURS[number % len(COLOURS)]
        parts.append(f'<path d="M{route}" fill="none" stroke="{colour}" stroke-width="1.2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2" fill="{colour}"/>' for x, y in places]
        parts.append(text(left + width / 2, top + height + 16, name))
    rows = (len(paths) + 1) // 2
    return Figure(title, 390, 6 + (height + 26) * rows, tuple(parts))


def step_sizes(sizes: Mapping[str, Mapping[int, float]], fall: int) -> altair.Chart:  # @stepover
    """Draw how far each step goes."""
    x: Layout = {"title": "step"}
    title = f"The gradient falls to a hundredth after step {fall}"
    return lines(sizes, x, powers_of_ten("change of the weight", -6, -1), title)


@shape_checked
def spectra(found: Mapping[str, Float[Tensor, " n"]]) -> altair.Chart:  # @stepover
    """Draw the singular values of some matrices, each as a share of its largest, if the axis has
    room for it."""
    shares = {name: (values / values[0]).tolist() for name, values in found.items()}
    series = {
        name: {n + 1: values[n] for n in range(0, len(values), 3) if values[n] >= 1e-4}
        for name, values in shares.items()
    }
    x: Layout = {"title": "singular value, from the largest"}
    y = powers_of_ten("share of the largest", -4, 0)
    return lines(series, x, y, "How many directions does a step have?", 200)


def losses_by_rate(losses: Mapping[float, Mapping[int, float]]) -> altair.Chart:  # @stepover
    """Draw the loss of each step for each learning rate."""
    series = {f"lr {rate:g}": found for rate, found in losses.items()}
    x: Layout = {"title": "steps made", "axis": altair.Axis(tickMinStep=1)}
    return lines(series, x, powers_of_ten("loss", -24, 24, 8), "Four learning rates, one problem")


def final_losses(losses: Mapping[str, Mapping[float, float]]) -> altair.Chart:  # @stepover
    """Draw the loss after training over the learning rate."""
    highest = 10.0
    series = {
        name: {rate: loss for rate, loss in found.items() if loss < highest}
        for name, found in losses.items()
    }
    x, y = powers_of_ten("learning rate", -4, 0), powers_of_ten("loss at the end", -2, 1)
    return lines(series, x, y, "Each optimizer has its range of rates")
