"""Pictures of what is lost when a run stops."""

from collections.abc import Mapping

import altair

from lecture.lib.charts import framed, rows_of


def differences(by_part: Mapping[str, float]) -> altair.Chart:  # @stepover
    """Draw how far a resumed run ends from one that never stopped."""
    chart = altair.Chart(rows_of(part=by_part, difference=by_part.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("part:N", title="left out of the file", sort=list(by_part)),
        x=altair.X("difference:Q", title="largest difference of a parameter"),
        tooltip=["part:N", altair.Tooltip("difference:Q", format=".3g")],
    )
    return framed(chart, "Resumed after 10 steps, and never stopped", 150)


def lost_time(by_minutes: Mapping[int, float]) -> altair.Chart:  # @stepover
    """Draw what is lost to saving and to failures, by how often one saves."""
    chart = altair.Chart(rows_of(minutes=by_minutes, lost=by_minutes.values()))
    chart = chart.mark_line(point=True).encode(
        x=altair.X("minutes:Q", title="minutes between checkpoints"),
        y=altair.Y("lost:Q", title="time lost", axis=altair.Axis(format=".0%")),
        tooltip=["minutes:Q", altair.Tooltip("lost:Q", format=".1%")],
    )
    return framed(chart, "A minute to save, a failure a day", 180)
