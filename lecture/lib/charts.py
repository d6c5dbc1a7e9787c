"""What charts have in common."""

import math
from collections.abc import Iterable, Mapping, Sequence

import altair

Layout = dict[str, object]


def framed(chart: altair.Chart, title: str, height: int) -> altair.Chart:
    """Give every chart the width of the page."""
    return chart.properties(title=title, width="container", height=height)


def legend_below(columns: int) -> altair.Legend:
    """Leave the width to the chart, of which a phone has little."""
    return altair.Legend(title=None, orient="bottom", columns=columns, labelLimit=200)


def rows_of(**columns: Iterable[object]) -> altair.Data:
    """Turn columns into the rows that a chart takes."""
    records = zip(*columns.values(), strict=True)
    return altair.Data(values=[dict(zip(columns, record, strict=True)) for record in records])


def powers_of_ten(title: str, low: int, high: int, step: int = 1) -> Layout:
    """Lay out a logarithmic axis with the labels 1e3, 1e4 and so on."""
    axis = altair.Axis(
        values=[10.0**power for power in range(low, high + 1, step)],
        labelExpr="'1e' + format(log(datum.value) / LN10, '.0f')",
        labelOverlap="parity",
        labelFlush=False,
    )
    scale = altair.Scale(type="log", domain=[10.0**low, 10.0**high])
    return {"title": f"{title}, logarithmic", "scale": scale, "axis": axis}


def doublings(title: str, values: Iterable[int]) -> Layout:
    """Lay out a logarithmic axis with a label at each of these values."""
    axis = altair.Axis(values=list(values), format="d")
    scale = altair.Scale(type="log", base=2, nice=False)
    return {"title": f"{title}, logarithmic", "scale": scale, "axis": axis}


def slider(name: str, label: str, values: tuple[int, int, int], start: int) -> altair.Parameter:
    """Let the reader choose a number: from, to and step, and where it begins.

    Its name is for the chart's formulas. On paper, the chart shows where it begins.
    """
    low, high, step = values
    bound = altair.binding_range(min=low, max=high, step=step, name=f"{label} ")
    return altair.param(name, value=start, bind=bound)


def choice(name: str, label: str, options: Iterable[str], start: str) -> altair.Parameter:
    """Let the reader choose one of several words; its name is for the chart's formulas."""
    bound = altair.binding_select(options=list(options), name=f"{label} ")
    return altair.param(name, value=start, bind=bound)


def lines(
    series: Mapping[str, Mapping[float, float]],
    x: Layout,
    y: Layout,
    title: str,
    height: int = 220,
) -> altair.Chart:
    """Draw a line for each series; colours and the shapes of its points tell them apart."""
    points = [(name, *point) for name, found in series.items() for point in found.items()]
    names, places, values = zip(*points, strict=True)
    order = list(series)
    chart = altair.Chart(rows_of(series=names, x=places, y=values)).mark_line(point=True)
    chart = chart.encode(
        x=altair.X("x:Q", **x),
        y=altair.Y("y:Q", **y),
        color=altair.Color("series:N", sort=order, legend=legend_below(columns=2)),
        shape=altair.Shape("series:N", sort=order),
        tooltip=[
            altair.Tooltip("series:N", title="line"),
            altair.Tooltip("x:Q", title=x["title"], format=".4g"),
            altair.Tooltip("y:Q", title=y["title"], format=".4g"),
        ],
    )
    return framed(chart, title, height)


def unfolded(curves: Mapping[str, Sequence[float]]) -> altair.Chart:
    """Unfold long rows of numbers in the chart, which keeps the page short."""
    chart = altair.Chart(rows_of(curve=curves.keys(), amount=curves.values()))
    chart = chart.transform_flatten(["amount"])
    return chart.transform_window(moment="row_number()", groupby=["curve"])


def ways_over_time(
    ways: Mapping[str, Sequence[float]], unit: str, title: str
) -> altair.Chart:  # @stepover
    """Draw what is alive during a step, for several ways to do it."""
    chart = (
        unfolded(ways)
        .mark_line(interpolate="step-after", strokeWidth=1.5)
        .encode(
            x=altair.X("moment:Q", title="time, in changes of memory"),
            y=altair.Y("amount:Q", title=unit),
            color=altair.Color(
                "curve:N", scale=altair.Scale(domain=list(ways)), legend=legend_below(columns=2)
            ),
            tooltip=["curve:N", "moment:Q", "amount:Q"],
        )
    )
    return framed(chart, title, 220)


def ladder(steps: Mapping[str, float], unit: str, title: str) -> altair.LayerChart:  # @stepover
    """Draw the rungs of a ladder, the last on top, on a logarithmic axis."""
    least, most = min(steps.values()) / 1.5, max(steps.values())
    most *= max(4, (most / least) ** 0.3)  # room for the last amount
    is_large = most > 1_000
    base = altair.Chart(rows_of(rung=list(steps), amount=list(steps.values()))).encode(
        y=altair.Y("rung:N", title=None, sort=list(steps)[::-1], axis=altair.Axis(grid=True)),
        x=altair.X(
            "amount:Q",
            title=f"{unit}, logarithmic",
            scale=altair.Scale(type="log", domain=[least, most], nice=False),
            axis=altair.Axis(
                format="~s" if is_large else "~g", grid=False, values=decades(least, most)
            ),
        ),
        tooltip=["rung:N", altair.Tooltip("amount:Q", format=".3g")],
    )
    points = base.mark_point(filled=True, size=90, opacity=1)
    amounts = base.mark_text(align="left", dx=10).encode(
        text=altair.Text("amount:Q", format=".2s" if is_large else ".2g")
    )
    return framed(points + amounts, title, 50 + 26 * len(steps))


def decades(least: float, most: float) -> list[float]:
    """Return the powers of ten from the least to the most."""
    exponents = range(math.ceil(math.log10(least)), math.floor(math.log10(most)) + 1)
    return [10.0**exponent for exponent in exponents]
