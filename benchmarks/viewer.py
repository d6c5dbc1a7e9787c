"""How fast the viewer is: `python -m benchmarks.viewer`; arguments choose measurements.

Each measurement is taken beside a floor: a page that fetches and parses the same document, puts the
lines of its first file into the page, and moves one class on a key press. Both pages come from one
server and run in one headless Chromium, in turn. `--lecture FILE` measures another document.

`network` opens a chapter of the lecture under Chromium's emulation of networks, from our server as
another machine sees it, and from two that know nothing but the files of `--site`: one that sends
texts compressed, and `http.server`, which cannot.

Bytes are counted as a server would send them: each file that the browser asked for, as `--site`
writes it, without comments, gzipped alone.
"""

import gzip
import itertools
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.arguments import existing_file, parser_of
from benchmarks.viewer_browser import CHROMIUM_ARGUMENTS, NETWORKS, Browser, over_a_network
from benchmarks.viewer_site import (
    VIEWER,
    Site,
    content,
    recorded,
    served_over_networks,
    without_charts,
)
from tests.chromium import find_chromium
from tests.viewer.shelves import needed_by

LECTURE = VIEWER / "traces" / "lecture.main.json"
OPENINGS = 7
PRESSES = 60
THROTTLES = (1, 4)
NETWORK_OPENINGS = 3
NETWORK_AIMED_AT = "9 Mbit/s, 40 ms"
CHAPTER = "floating-point-formats"
KB = 1000


class Table:
    """The results, printed as they come."""

    def __init__(self) -> None:
        self.missed = 0

    def note(self, what: str, aim: str, measured: str, met: bool | None = None) -> None:
        """Print a row; `met` is None where there is no aim."""
        self.missed += met is False
        verdict = {True: "ok", False: "MISS", None: ""}[met]
        print(f"{verdict:<4} {what:<48} {aim:<36} {measured}", flush=True)


def opening(browser: Browser, table: Table, name: str, throttle: int) -> None:
    """The first readable line, in pairs; the median of their ratios."""
    for kind in ("floor", "read"):  # the first of each warms the caches of the machine
        browser.opening(kind, name, throttle)
    floors, lines, wholes, ratios = [], [], [], []
    for _ in range(OPENINGS):
        floor, _ = browser.opening("floor", name, throttle)
        line, whole = browser.opening("read", name, throttle)
        floors.append(floor)
        lines.append(line)
        wholes.append(whole)
        ratios.append(line / floor)
    ratio = statistics.median(ratios)
    floor, line = statistics.median(floors), statistics.median(lines)
    table.note(
        f"{name}: first readable line{slowed(throttle)}",
        "<= 1.5x floor",
        f"{line:.0f} ms, floor {floor:.0f} ms: {ratio:.2f}x",
        ratio <= 1.5,
    )
    whole = statistics.median(wholes)
    table.note(f"{name}: answers to keys{slowed(throttle)}", "", f"{whole:.0f} ms")


def stepping(browser: Browser, table: Table, name: str, throttle: int) -> None:
    """A key press to the next paint."""
    floor, ours = (browser.presses(kind, name, throttle, PRESSES) for kind in ("floor", "step"))
    for what, position, margin in (("median", 0.5, 4), ("95th percentile", 0.95, 10)):
        at = int(position * (PRESSES - 1))
        limit = max(1.3 * floor[at], floor[at] + margin)
        table.note(
            f"{name}: key to paint, {what}{slowed(throttle)}",
            f"<= max(1.3x floor, floor + {margin} ms)",
            f"{ours[at]:.1f} ms, floor {floor[at]:.1f} ms",
            ours[at] <= limit,
        )


def heap(browser: Browser, table: Table, name: str) -> None:
    floor, ours = (browser.heap(kind, name) for kind in ("floor", "read"))
    table.note(
        f"{name}: heap with typed arrays",
        "<= 2x floor",
        f"{ours / 1e6:.1f} MB, floor {floor / 1e6:.1f} MB: {ours / floor:.2f}x",
        ours <= 2 * floor,
    )


def loaded(browser: Browser, table: Table, name: str) -> None:
    """All files of Read of a document without charts; those of Step and the panels come later."""
    pages, step, panels = browser.asked_for(name)
    sizes = {path: len(gzip.compress(content(path), 9)) for path in pages | step | panels}
    assert not any("vega" in path for path in sizes)
    whole = sum(sizes[path] for path in pages)
    own = sum(sizes[path] for path in pages if not path.startswith("/vendor/"))
    fonts = sum(sizes[path] for path in pages if path.endswith(".woff2"))
    aim = "<= 180 kB"
    table.note("loaded, gzipped, without charts", aim, f"{whole / KB:.1f} kB", whole <= 180 * KB)
    code = whole - fonts
    without = f"{code / KB:.1f} kB: {(code - own) / KB:.1f} are libraries"
    table.note("of it without the fonts of maths", aim, without, code <= 180 * KB)
    ours = f"{own / KB:.2f} kB; {len(pages)} files in all"
    table.note("of it our own", "<= 80 kB", ours, own <= 80 * KB)
    least = ["index.html", "style.css", "main.js", *needed_by("main.js"), "early.js"]
    least += [*needed_by("early.js"), "views/article.js", *needed_by("views/article.js")]
    chapter = sum(
        len(gzip.compress(content(path), 9)) for path in {*least} if not path.startswith("vendor/")
    )
    kilobytes = f"{chapter / KB:.2f} kB"
    table.note("of it before a chapter is seen", "<= 80 kB", kilobytes, chapter <= 80 * KB)
    first = ["index.html", "style.css", "early.js", "views/beginning.js", *needed_by("early.js")]
    before = sum(len(gzip.compress(content(path), 9)) for path in first)
    early = f"{before / KB:.2f} kB in {len(first)} files"
    table.note("our own before the first readable line", "<= 60 kB", early, before <= 60 * KB)
    stepping = sum(sizes[path] for path in step)
    table.note("fetched when Step opens", "", f"{stepping / KB:.2f} kB in {len(step)} files")
    later = sum(sizes[path] for path in panels)
    table.note("fetched later, for the panels", "", f"{later / KB:.2f} kB in {len(panels)} files")


def scrolling(browser: Browser, table: Table, name: str) -> None:
    frames = browser.scrolling(name)
    table.note(
        f"{name}: longest frame while scrolling Read",
        "<= 50 ms",
        f"{max(frames):.1f} ms of {len(frames)} frames",
        max(frames) <= 50,
    )


def network(chromium: Any, table: Table, lecture: Path, folder: Path) -> None:
    """A chapter over networks, from our server and from others that only know files; medians."""
    servers = served_over_networks(lecture, folder)
    for (kind, address), (label, conditions) in itertools.product(
        servers.items(), NETWORKS.items()
    ):
        tries = [
            over_a_network(chromium, f"{address}&chapter={CHAPTER}", conditions)
            for _ in range(NETWORK_OPENINGS)
        ]
        for what, name, most_seconds in (
            ("first line", "line", 1.5),
            ("answers to keys", "answers", None),
            ("chapter with values", "all", 3),
        ):
            seconds = statistics.median(one[name] for one in tries) / 1000
            has_aim = most_seconds is not None and label == NETWORK_AIMED_AT
            table.note(
                f"{kind}, {label}: {what}",
                f"<= {most_seconds} s" if has_aim else "",
                f"{seconds:.2f} s",
                seconds <= (most_seconds or 0) if has_aim else None,
            )


def slowed(throttle: int) -> str:
    return f", {throttle}x slower" if throttle > 1 else ""


def measure(browser: Browser, table: Table, chosen: list[str]) -> None:
    """All measurements, or those whose names are chosen."""
    if "bytes" in chosen:
        loaded(browser, table, "plain")
    if "scrolling" in chosen:
        scrolling(browser, table, "lecture")
    if "heap" in chosen:
        heap(browser, table, "1M-steps")
    for throttle in THROTTLES:
        if "opening" in chosen:
            opening(browser, table, "lecture", throttle)
        if "keys" in chosen:
            for name in ("lecture", "100k-steps", "1M-steps"):
                stepping(browser, table, name, throttle)
    if "opening" in chosen:
        opening(browser, table, "1M-steps", 1)


def main() -> int:
    """Print the table; exit with 1 if an aim is missed."""
    from playwright.sync_api import sync_playwright

    parser = parser_of(__doc__)
    names = ["bytes", "scrolling", "heap", "opening", "keys", "network"]
    parser.add_argument("chosen", nargs="*", metavar="measurement", help=", ".join(names))
    parser.add_argument(
        "--lecture", type=existing_file, metavar="FILE", default=LECTURE, help="the document"
    )
    options = parser.parse_args()
    if unknown := [name for name in options.chosen if name not in names]:
        parser.error(f"{unknown[0]} is no measurement: {', '.join(names)}")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        lecture = options.lecture.read_bytes()
        documents = {"lecture": lecture, "plain": without_charts(lecture)}
        chosen = options.chosen or names
        if not {"heap", "opening", "keys"}.isdisjoint(chosen):
            documents["100k-steps"] = recorded(100_000, Path(folder))
            documents["1M-steps"] = recorded(1_000_000, Path(folder))
        chromium = playwright.chromium.launch(
            executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS
        )
        print(f"Chromium {chromium.version}, {OPENINGS} openings, {PRESSES} key presses\n")
        table = Table()
        measure(Browser(chromium, Site(documents)), table, chosen)
        if "network" in chosen:
            network(chromium, table, options.lecture, Path(folder))
        chromium.close()
    return 1 if table.missed else 0


if __name__ == "__main__":
    sys.exit(main())
