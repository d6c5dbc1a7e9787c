"""How fast the viewer is: `python -m benchmarks.viewer`.

Each measurement is taken beside a floor: a page that fetches and parses the same document, puts the
lines of its first file into the page, and moves one class on a key press. Both pages come from one
server and run in one headless Chromium, in turn.

Bytes are counted as a server would send them: each file that the browser asked for, gzipped alone.
"""

import contextlib
import functools
import gzip
import http.server
import io
import json
import statistics
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.chromium import find_chromium
from trace.document import build
from trace.encoding import encode
from trace.run import Options, record
from trace.target import find_target

VIEWER = Path(__file__).parents[1] / "viewer"
LECTURE = VIEWER / "traces" / "lecture.main.json"
CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
OPENINGS = 7
PRESSES = 60
WAITS = 1200
THROTTLES = (1, 4)
KB = 1000

FLOOR = """<!doctype html><meta charset="utf-8"><title>floor</title>
<style>pre div.current { background: yellow }</style><pre id="lines"></pre>
<script type="module">
const name = new URLSearchParams(location.hash.slice(1)).get("doc");
window.held = JSON.parse(await (await fetch(`traces/${name}.json`)).text());
const place = document.getElementById("lines");
for (const text of held.files[0].source.split("\\n")) {
  const line = document.createElement("div");
  line.className = "line";
  line.textContent = text || " ";
  place.append(line);
}
let at = 0;
addEventListener("keydown", () => {
  place.children[at].classList.remove("current");
  at = (at + 1) % place.children.length;
  place.children[at].classList.add("current");
});
</script>"""

WATCH = """
const painted = (done) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(performance.now());
  channel.port2.postMessage(0);
});
new MutationObserver((_, observer) => {
  if (!document.querySelector(SELECTOR)?.textContent.trim()) return;
  observer.disconnect();
  painted((now) => (window.firstLine = now));
}).observe(document, { childList: true, subtree: true });
window.presses = [];
addEventListener("keydown", (event) => painted((now) => presses.push(now - event.timeStamp)), true);
"""

SCROLL = """async () => {
  const end = document.documentElement.scrollHeight;
  const frames = [];
  let before = await new Promise(requestAnimationFrame);
  for (let top = 0; top < end; top += 200) {
    scrollTo(0, top);
    const now = await new Promise(requestAnimationFrame);
    frames.push(now - before);
    before = now;
  }
  return frames;
}"""

MANY_STEPS = '''
def main():
    """Many steps."""
    total = 0
    for i in range({turns}):
        total = add(total, i)
        odd = total % 2  # @inspect odd
        if odd:
            total += 1
        total -= 1
        total += 2
        total -= 1
    assert total > 0


def add(a, b):
    """A sum."""
    return a + b
'''


class Server:
    """The viewer, the floor page and the documents of the benchmark; counts what is asked for."""

    def __init__(self, documents: dict[str, bytes]):
        self.texts = {f"/traces/{name}.json": data for name, data in documents.items()}
        self.texts["/floor.html"] = FLOOR.encode()
        self.texts["/traces/index.json"] = json.dumps({"documents": []}).encode()
        self.asked: list[str] = []
        handler = functools.partial(Handler, self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Handler(http.server.SimpleHTTPRequestHandler):
    """Serves a `Server`, with connections that stay open."""

    protocol_version = "HTTP/1.1"

    def __init__(self, server: Server, *arguments: Any):
        self.site = server
        super().__init__(*arguments, directory=str(VIEWER))

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.site.asked.append(path)
        data = self.site.texts.get(path)
        if data is None:
            super().do_GET()
            return
        self.send_response(200)
        kind = "text/html" if path.endswith(".html") else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class Bench:
    """A browser, the server, and the table of results."""

    def __init__(self, browser: Any, server: Server):
        self.browser = browser
        self.server = server
        self.rows: list[tuple[str, str, str, bool]] = []

    def note(self, what: str, aim: str, measured: str, met: bool) -> None:
        self.rows.append((what, aim, measured, met))
        print(f"{'ok  ' if met else 'MISS'} {what:<46} {aim:<34} {measured}", flush=True)

    @contextlib.contextmanager
    def opened(self, kind: str, name: str, mode: str, throttle: int) -> Iterator[tuple[Any, Any]]:
        """A page that has painted its first line, in a browser context of its own."""
        context = self.browser.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        selector = {"floor": ".line", "read": "#article :is(.prose, .line)"}.get(kind, "")
        if mode == "step" and kind != "floor":
            selector = ".program-line.current"
        page.add_init_script(f"const SELECTOR = {json.dumps(selector)};{WATCH}")
        client = context.new_cdp_session(page)
        client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        path = "floor.html" if kind == "floor" else ""
        page.goto(f"{self.server.address}{path}#doc={name}&mode={mode}")
        wait_until(page, "window.firstLine > 0")
        yield page, client
        context.close()

    def first_line(self, kind: str, name: str, throttle: int) -> float:
        with self.opened(kind, name, "read", throttle) as (page, _):
            return float(page.evaluate("firstLine"))

    def opening(self, name: str, throttle: int) -> None:
        """The first readable line, in pairs; the median of their ratios."""
        for kind in ("floor", "read"):  # the first of each warms the caches of the machine
            self.first_line(kind, name, throttle)
        pairs = [
            (self.first_line("floor", name, throttle), self.first_line("read", name, throttle))
            for _ in range(OPENINGS)
        ]
        floor, ours = (statistics.median(column) for column in zip(*pairs, strict=True))
        ratio = statistics.median(ours / floor for floor, ours in pairs)
        self.note(
            f"{name}: first readable line{slowed(throttle)}",
            "<= 1.5x floor",
            f"{ours:.0f} ms, floor {floor:.0f} ms: {ratio:.2f}x",
            ratio <= 1.5,
        )

    def presses(self, kind: str, name: str, throttle: int) -> list[float]:
        """Milliseconds from each key press to the next paint, in the middle of the run."""
        with self.opened(kind, name, "step", throttle) as (page, client):
            if kind != "floor":
                page.get_by_role("slider", name="step").evaluate(
                    "slider => { slider.value = Math.floor(slider.max / 2);"
                    " slider.dispatchEvent(new Event('input', { bubbles: true })); }"
                )
            page.wait_for_timeout(500)
            for number in range(PRESSES):
                event = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
                client.send("Input.dispatchKeyEvent", {"type": "keyDown", **event})
                client.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})
                page.wait_for_timeout(20 + number % 7 * 5)  # not in step with the frames
            wait_until(page, f"presses.length >= {PRESSES}")
            return list(page.evaluate("presses"))

    def stepping(self, name: str, throttle: int) -> None:
        floor, ours = (sorted(self.presses(kind, name, throttle)) for kind in ("floor", "step"))
        for what, position, margin in (("median", 0.5, 4), ("95th percentile", 0.95, 10)):
            at = int(position * (PRESSES - 1))
            limit = max(1.3 * floor[at], floor[at] + margin)
            self.note(
                f"{name}: key to paint, {what}{slowed(throttle)}",
                f"<= max(1.3x floor, floor + {margin} ms)",
                f"{ours[at]:.1f} ms, floor {floor[at]:.1f} ms",
                ours[at] <= limit,
            )

    def heap(self, name: str) -> None:
        used = {}
        for kind in ("floor", "read"):
            with self.opened(kind, name, "read", 1) as (page, client):
                page.wait_for_timeout(1000)
                client.send("HeapProfiler.collectGarbage")
                usage = client.send("Runtime.getHeapUsage")
                used[kind] = usage["usedSize"] + usage.get("backingStorageSize", 0)
        ratio = used["read"] / used["floor"]
        megabytes = {kind: f"{size / 1e6:.1f} MB" for kind, size in used.items()}
        self.note(
            f"{name}: heap with typed arrays",
            "<= 2x floor",
            f"{megabytes['read']}, floor {megabytes['floor']}: {ratio:.2f}x",
            ratio <= 2,
        )

    def bytes_loaded(self, name: str) -> None:
        """All files of Read, Step and every panel, of a document without charts."""
        self.server.asked.clear()
        with self.opened("read", name, "read", 1) as (page, _):
            for key in ("c", "Escape", "/", "Escape", "?", "Escape", "r"):
                page.keyboard.press(key)
                page.wait_for_timeout(100)
            page.wait_for_timeout(500)
        files = {path for path in self.server.asked if not path.startswith("/traces/")}
        sizes = {path: len(gzip.compress(read(path), 9)) for path in files}
        own = sum(size for path, size in sizes.items() if not path.startswith("/vendor/"))
        whole = sum(sizes.values())
        assert not any("vega" in path for path in files)
        fonts = sum(size for path, size in sizes.items() if path.endswith(".woff2"))
        libraries = whole - own - fonts
        self.note(
            "loaded, gzipped, without charts",
            "<= 180 kB",
            f"{whole / KB:.1f} kB: {libraries / KB:.1f} libraries, {fonts / KB:.1f} fonts",
            whole <= 180 * KB,
        )
        self.note(
            "of it our own", "<= 60 kB", f"{own / KB:.1f} kB in {len(files)} files", own <= 60 * KB
        )

    def scrolling(self, name: str) -> None:
        with self.opened("read", name, "read", 1) as (page, _):
            wait_until(page, "!document.querySelector('.waiting')")
            page.wait_for_timeout(500)
            frames = page.evaluate(SCROLL)
        self.note(
            f"{name}: longest frame while scrolling Read",
            "<= 50 ms",
            f"{max(frames):.1f} ms of {len(frames)} frames",
            max(frames) <= 50,
        )


def wait_until(page: Any, condition: str) -> None:
    """Playwright's own way to wait evaluates text within the page, which the policy forbids."""
    for _ in range(WAITS):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(f"{condition}: not within a minute")


def slowed(throttle: int) -> str:
    return f", {throttle}x slower" if throttle > 1 else ""


def read(path: str) -> bytes:
    return (VIEWER / (path.strip("/") or "index.html")).read_bytes()


def recorded(steps: int, folder: Path) -> bytes:
    """A document of about that many steps: a loop with calls and values."""
    file = folder / f"steps_{steps}.py"
    file.write_text(MANY_STEPS.lstrip().replace("{turns}", str(steps // 8)))
    with contextlib.redirect_stdout(io.StringIO()):
        recording = record(find_target(str(file)), Options(max_steps=2 * steps, costs=False))
    return encode(build(recording))


def without_charts(data: bytes) -> bytes:
    document = json.loads(data)
    for value in document["values"]:
        value.pop("vega", None)
    return json.dumps(document).encode()


def measure(bench: Bench, chosen: Callable[[str], bool]) -> None:
    """All measurements, or those whose names are chosen."""
    if chosen("bytes"):
        bench.bytes_loaded("plain")
    if chosen("scrolling"):
        bench.scrolling("lecture")
    if chosen("heap"):
        bench.heap("1M-steps")
    for throttle in THROTTLES:
        if chosen("opening"):
            bench.opening("lecture", throttle)
        if chosen("keys"):
            for name in ("lecture", "100k-steps", "1M-steps"):
                bench.stepping(name, throttle)
    if chosen("opening"):
        bench.opening("1M-steps", 1)


def main() -> int:
    """Print the table; exit with 1 if an aim is missed. Arguments choose measurements."""
    from playwright.sync_api import sync_playwright

    wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        documents = {
            "lecture": LECTURE.read_bytes(),
            "plain": without_charts(LECTURE.read_bytes()),
            "100k-steps": recorded(100_000, Path(folder)),
            "1M-steps": recorded(1_000_000, Path(folder)),
        }
        browser = playwright.chromium.launch(
            executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS
        )
        print(f"Chromium {browser.version}, {OPENINGS} openings, {PRESSES} key presses\n")
        bench = Bench(browser, Server(documents))
        measure(bench, lambda name: not wanted or name in wanted)
        browser.close()
    return 0 if all(met for *_, met in bench.rows) else 1


if __name__ == "__main__":
    sys.exit(main())
