"""Pictures of batches taken in parts."""

from collections.abc import Mapping, Sequence

import altair

from lecture.lib.charts import ways_over_time


def memory_over_time(
    timelines: Mapping[int, Sequence[Mapping[str, int]]],
) -> altair.Chart:  # @stepover
    """Draw what a step takes beside the weights, for several sizes of its parts."""
    largest = max(timelines)
    ways = {
        f"{rows} rows at once" if rows == largest else f"{largest // rows} parts of {rows}": [
            sum(moment.values()) for moment in timeline
        ]
        for rows, timeline in timelines.items()
    }
    title = f"One batch of {largest} rows, forward and back"
    return ways_over_time(ways, "bytes beside the weights", title)
