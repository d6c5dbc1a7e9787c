"""Pictures of tensors, their bytes and where they live."""

from collections.abc import Mapping

import altair

from lecture.facts import Accelerator
from lecture.lib.charts import framed, rows_of
from lecture.lib.drawing import COLOURS, Figure, box, link, text


def host_and_accelerator(card: Accelerator, bus_bytes_per_second: float) -> Figure:  # @stepover
    """Draw both memories; the links between boxes are as wide as they are fast."""
    memory_gb_per_second = card.memory_bytes_per_second / 1e9
    bus_gb_per_second = bus_bytes_per_second / 1e9
    memory_width = 60.0
    bus_width = memory_width * bus_gb_per_second / memory_gb_per_second
    memory_tb = f"{memory_gb_per_second / 1000:g} TB/s"
    parts = (
        box(4, 4, 352, 84),
        text(14, 24, "host", "start", ' font-weight="bold"'),
        box(14, 34, 150, 44, COLOURS[2], "CPU"),
        box(196, 34, 150, 44, COLOURS[0], "RAM"),
        link(271, 88, bus_width, 66),
        text(258, 116, f"PCIe 5, 16 lanes: {bus_gb_per_second:.3g} GB/s", "end"),
        box(4, 154, 352, 216),
        text(14, 174, card.name, "start", ' font-weight="bold"'),
        box(196, 184, 150, 44, COLOURS[0], f"memory {card.memory_bytes / 1e9:.0f} GB"),
        link(271, 228, memory_width, 66),
        text(230, 266, memory_tb, "end"),
        box(196, 294, 150, 62, COLOURS[1], "processor"),
        text(184, 322, "bf16, dense:", "end"),
        text(184, 340, f"{card.dense_flops_per_second['bf16'] / 1e12:g} TFLOP/s", "end"),
    )
    return Figure("Host and accelerator, links drawn to scale", 360, 374, parts)


def bytes_by_dtype(sizes: Mapping[str, int]) -> altair.Chart:  # @stepover
    """Draw one bar for each dtype."""
    names = [name.removeprefix("torch.") for name in sizes]
    chart = altair.Chart(rows_of(dtype=names, bytes=sizes.values())).mark_bar()
    chart = chart.encode(
        y=altair.Y("dtype:N", title=None, sort=names),
        x=altair.X("bytes:Q", title="bytes", axis=altair.Axis(values=list(range(0, 257, 64)))),
        tooltip=["dtype:N", "bytes:Q"],
    )
    return framed(chart, "32 elements of each dtype", 170)
