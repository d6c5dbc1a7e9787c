"""A headless Chromium that opens the viewer or the floor page and times what is painted."""

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from benchmarks.viewer_site import Site

CHROMIUM_ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
WAITS = 1200

FIRST_LINE = {
    "floor": ".line",
    "read": ".article :is(.prose, .line)",
    "step": ".program-line.current",
}
"""What has text when the first line of a page can be read."""

WHOLE = {"floor": ".line", "read": "#article .line", "step": ".program-line.current"}
"""What is there when a page answers to keys."""

WATCH = """
const painted = (done) => requestAnimationFrame(() => {
  const channel = new MessageChannel();
  channel.port1.onmessage = () => done(performance.now());
  channel.port2.postMessage(0);
});
const watch = (selector, done) => new MutationObserver((_, observer) => {
  if (!document.querySelector(selector)?.textContent.trim()) return;
  observer.disconnect();
  painted(done);
}).observe(document, { childList: true, subtree: true });
watch(FIRST_LINE, (now) => (window.firstLine = now));
watch(WHOLE, (now) => (window.whole = now));
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

TO_THE_MIDDLE = """slider => {
  slider.value = Math.floor(slider.max / 2);
  slider.dispatchEvent(new Event("input", { bubbles: true }));
}"""


class Browser:
    """Opens pages of one site, each in a browser context of its own."""

    def __init__(self, chromium: Any, site: Site):
        self.chromium = chromium
        self.site = site

    @contextlib.contextmanager
    def opened(self, kind: str, name: str, throttle: int = 1) -> Iterator[tuple[Any, Any]]:
        """A page (`floor`, `read` or `step`) that is whole, and its protocol client."""
        context = self.chromium.new_context(viewport={"width": 1280, "height": 800})
        page = context.new_page()
        selectors = {"FIRST_LINE": FIRST_LINE[kind], "WHOLE": WHOLE[kind]}
        constants = "".join(f"const {key} = {json.dumps(text)};" for key, text in selectors.items())
        page.add_init_script(constants + WATCH)
        client = context.new_cdp_session(page)
        client.send("Emulation.setCPUThrottlingRate", {"rate": throttle})
        path = "floor.html" if kind == "floor" else ""
        mode = {"read": "&whole", "step": "&mode=step"}.get(kind, "")
        page.goto(f"{self.site.address}{path}#doc={name}{mode}")
        wait_until(page, "window.firstLine > 0 && window.whole > 0")
        yield page, client
        context.close()

    def opening(self, kind: str, name: str, throttle: int) -> tuple[float, float]:
        """Milliseconds to the first readable line, and until the page answers to keys."""
        with self.opened(kind, name, throttle) as (page, _):
            return page.evaluate("firstLine"), page.evaluate("whole")

    def presses(self, kind: str, name: str, throttle: int, count: int) -> list[float]:
        """Milliseconds from each key press to the next paint, in the middle of the run."""
        with self.opened(kind, name, throttle) as (page, client):
            if kind == "step":
                page.get_by_role("slider", name="step").evaluate(TO_THE_MIDDLE)
            page.wait_for_timeout(500)
            for number in range(count):
                event = {"key": "ArrowRight", "code": "ArrowRight", "windowsVirtualKeyCode": 39}
                client.send("Input.dispatchKeyEvent", {"type": "keyDown", **event})
                client.send("Input.dispatchKeyEvent", {"type": "keyUp", **event})
                page.wait_for_timeout(20 + number % 7 * 5)  # not in step with the frames
            wait_until(page, f"presses.length >= {count}")
            return sorted(page.evaluate("presses"))

    def heap(self, kind: str, name: str) -> float:
        """Bytes in use, typed arrays included, after a collection of garbage."""
        with self.opened(kind, name) as (page, client):
            page.wait_for_timeout(1000)
            client.send("HeapProfiler.collectGarbage")
            usage = client.send("Runtime.getHeapUsage")
            return float(usage["usedSize"] + usage.get("backingStorageSize", 0))

    def asked_for(self, name: str) -> tuple[set[str], set[str], set[str]]:
        """The files that Read of a document asks for, those of Step and of every panel besides."""
        self.site.asked.clear()
        with self.opened("read", name) as (page, _):
            page.wait_for_timeout(1000)
            read = self.files_asked_for()
            page.keyboard.press("r")
            wait_until(page, "document.querySelector('.program-line.current') !== null")
            step = self.files_asked_for() - read
            for key in ("c", "Escape", "/", "Escape", "?", "Escape"):
                page.keyboard.press(key)
                page.wait_for_timeout(200)
            page.wait_for_timeout(500)
        return read, step, self.files_asked_for() - read - step

    def files_asked_for(self) -> set[str]:
        return {path for path in self.site.asked if not path.startswith("/traces/")}

    def scrolling(self, name: str) -> list[float]:
        """Milliseconds between the frames while Read scrolls from top to bottom."""
        with self.opened("read", name) as (page, _):
            wait_until(page, "!document.querySelector('.waiting')")
            page.wait_for_timeout(500)
            return list(page.evaluate(SCROLL))


def wait_until(page: Any, condition: str) -> None:
    """Playwright's own way to wait evaluates text within the page, which the policy forbids."""
    for _ in range(WAITS):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(50)
    raise TimeoutError(f"{condition}: not within a minute")


NETWORKS = {
    "9 Mbit/s, 40 ms": {"downloadThroughput": 9e6 / 8, "uploadThroughput": 3e6 / 8, "latency": 40},
    "1.6 Mbit/s, 150 ms": {
        "downloadThroughput": 1.6e6 / 8,
        "uploadThroughput": 0.75e6 / 8,
        "latency": 150,
    },
}

COME = """async () => {
  if (!document.querySelector("#article .line") || document.querySelector("#article .waiting"))
    return false;
  const { loaded } = await import("viewer/state/state.js");
  return loaded.value.document.costs?.step.length > 0;
}"""
"""Whether a chapter is laid out and all that was measured is there."""


def over_a_network(chromium: Any, address: str, network: dict[str, float]) -> dict[str, float]:
    """Milliseconds from asking for a page, by somebody who was never there, until one can read its
    first line, until the page answers, and until all of it is there."""
    context = chromium.new_context(viewport={"width": 1280, "height": 800})
    page = context.new_page()
    selectors = {"FIRST_LINE": FIRST_LINE["read"], "WHOLE": WHOLE["read"]}
    constants = "".join(f"const {key} = {json.dumps(text)};" for key, text in selectors.items())
    page.add_init_script(constants + WATCH)
    client = context.new_cdp_session(page)
    client.send("Network.enable")
    client.send("Network.emulateNetworkConditions", {"offline": False, **network})
    page.goto(address, wait_until="commit")
    wait_until(page, "window.firstLine > 0 && window.whole > 0")
    wait_until(page, COME)
    found = page.evaluate("({ line: firstLine, answers: whole, all: performance.now() })")
    context.close()
    return dict(found)
