"""Draw the pictures of guide and README anew, from the viewer itself: `python -m docs.pictures`."""

import functools
import http.server
import io
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.chromium import find_chromium

HERE = Path(__file__).parent
ROOT = HERE.parent
TOOL = ROOT / "trace"
COLOURS = 256


def run(folder: Path, *arguments: str) -> None:
    """Run the tool; a lecture that fails is one of the pictures."""
    subprocess.run([sys.executable, TOOL, *arguments, "--quiet"], cwd=folder, capture_output=True)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder; give its address."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing about it."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def take(page: Page, address: str, file: Path, height: int) -> None:
    """Take a picture of what an address shows."""
    page.set_viewport_size({"width": 1200, "height": height})
    page.goto("about:blank")
    page.goto(address)
    page.locator("#app main").first.wait_for()
    page.wait_for_timeout(3000)  # the line that an address leads to is marked for a while
    picture = Image.open(io.BytesIO(page.screenshot()))
    picture.convert("RGB").quantize(COLOURS).save(file, optimize=True)


def main() -> None:
    """Look at our lecture; write a new one, look at it, make a mistake in it, look again."""
    with tempfile.TemporaryDirectory() as name, sync_playwright() as started:
        folder = Path(name)
        browser = started.chromium.launch(executable_path=find_chromium())
        with served(ROOT / "viewer") as site:
            at = f"{site}#doc=lecture.main&at=views_share_storage"
            take(browser.new_page(), at, ROOT / ".github" / "read.png", 860)
        page = browser.new_page(device_scale_factor=0.8)
        run(folder, "--new", "my_lecture.py")
        document = "site/traces/my_lecture.json"
        with served(folder / "site") as site:
            run(folder, "my_lecture.py", "-o", document, "--site", "site")
            at = f"{site}#doc=my_lecture"
            take(page, at, HERE / "read.png", 1100)
            take(page, f"{at}&mode=step&at=14", HERE / "step.png", 640)
            source = folder / "my_lecture.py"
            text = source.read_text(encoding="utf-8")
            source.write_text(text.replace("10 * 11 / 2", "10 * 11"), encoding="utf-8")
            run(folder, "my_lecture.py", "-o", document)
            take(page, at, HERE / "mistake.png", 480)
        browser.close()


if __name__ == "__main__":
    main()
