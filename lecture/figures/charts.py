"""What charts have in common."""

from collections.abc import Iterable

import altair


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
