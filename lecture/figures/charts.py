"""What charts have in common."""

from collections.abc import Iterable, Mapping

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
