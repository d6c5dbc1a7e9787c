"""A server with the viewer and any documents, a Chromium, and a page that must stay quiet."""

import contextlib
import functools
import http.server
import json
import threading
from pathlib import Path
from urllib.parse import quote

import pytest
from playwright.sync_api import Error, Locator, Page, expect

from tests.chromium import find_chromium
from tests.viewer import documents
from tests.viewer.javascript import Modules

VIEWER = Path(__file__).parents[2] / "viewer"
CHROMIUM_ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


PATIENCE = 60_000
"""Milliseconds after which something that does not come is missing, however busy the machine is."""
expect.set_options(timeout=PATIENCE)

PAINTED = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
FINISHED = """() => document.getAnimations()
    .every(({ playState, effect }) =>
        playState !== "running" || effect.getComputedTiming().iterations === Infinity)"""
SETTLED = """async () => {
    const { isHolding } = await import("viewer/state/holding.js");
    const isBusy = () => isHolding() || document.querySelector(".waiting");
    for (let quiet = 0; quiet < 20; quiet = isBusy() ? 0 : quiet + 1)
        await new Promise(requestAnimationFrame);
}"""
STILL = """async (element) => {
    let [before, frames] = [NaN, 0];
    for (; frames < 20; frames++) {
        const { top } = element.getBoundingClientRect();
        if (top !== before) frames = 0;
        before = top;
        await new Promise(requestAnimationFrame);
    }
}"""


def painted(page) -> None:
    """Wait until what has changed is on the screen, and what moves has come to rest."""
    page.evaluate(PAINTED)
    page.wait_for_function(FINISHED)


ANSWERED = f"Promise.race([{PAINTED}, new Promise((done) => setTimeout(done, 1000))])"
"""What is painted next, or a while where nothing is painted: in a window behind another one."""


def answered(act, page_of):
    """An action that waits for what it changes to be on the screen: who looks next sees that."""

    @functools.wraps(act)
    def and_answered(*arguments, **options):
        result = act(*arguments, **options)
        with contextlib.suppress(Error):  # it led elsewhere, or closed the page
            page_of(*arguments).evaluate(ANSWERED)
        return result

    return and_answered


LOOK = """(elements) => {
    const onScreen = (part) => {
        const { top, bottom } = part.getBoundingClientRect();
        return top < innerHeight && bottom > 0;
    };
    const within = (element) => {
        const part = element.parentElement?.closest(".settled");
        return part ? [part, ...within(part)] : [];
    };
    const waits = (element) =>
        !element.checkVisibility({ contentVisibilityAuto: true }) &&
        element.checkVisibility() && within(element).every(onScreen);
    const parts = elements.flatMap((element) => [...element.querySelectorAll(".settled > *")]);
    const texts = elements.map((element) => element.innerText);
    return { texts, isDrawn: ![...elements, ...parts].some(waits) };
}"""
"""Texts, and whether all that is on the screen is drawn: at one moment, for the next frame may
begin to draw a part, and `innerText` of what is not drawn is empty."""


def looked_at(read):
    """What reads texts, once those that are on the screen are drawn."""

    @functools.wraps(read)
    def read_drawn(own, *arguments, **options):
        for _ in range(100):
            with contextlib.suppress(Error):  # the page is on its way elsewhere
                own.page.evaluate(ANSWERED)
            seen = read(own, *arguments, **options)
            if seen["isDrawn"]:
                break
        return seen["texts"]

    return read_drawn


def read_one(own, **options):
    """`inner_text`, and whether it is drawn."""
    seen = own.evaluate(f"(element) => ({LOOK})([element])", **options)
    return {**seen, "texts": seen["texts"][0]}


def read_all(own):
    """`all_inner_texts`, and whether they are drawn."""
    return own.evaluate_all(LOOK)


def read_first(own, selector, **options):
    """`inner_text` of a page."""
    return own.locator(selector).first.inner_text(**options)


READERS = {"inner_text": looked_at(read_one), "all_inner_texts": looked_at(read_all)}


def settled(page) -> None:
    """Wait until all of the article is laid out, and nothing holds its place any more. (A function
    that `wait_for_function` has to wait for is true at once.)"""
    page.evaluate(SETTLED)


def still(locator) -> None:
    """Wait until something has been in the same place for some frames."""
    locator.evaluate(STILL)


def show_everything(page) -> None:
    """What `e` leads to, but not kept for other tests, which share the browser's storage."""
    page.evaluate(
        """async () => {
            (await import("viewer/state/state.js")).density.value = "everything";
        }"""
    )
    painted(page)


class Site:
    """The viewer's folder with these texts as `traces/NAME.json` instead of those on disk."""

    def __init__(self):
        self.texts: dict[str, str] = {}
        self.requests: list[str] = []
        self.headers: dict[str, str] = {}
        handler = functools.partial(SiteHandler, self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}/"

    def publish(self, **documents: dict | str) -> None:
        """Serve these documents and an index of those that are whole."""
        self.headers = {}
        self.texts = {
            f"/traces/{name}.json": document if isinstance(document, str) else json.dumps(document)
            for name, document in documents.items()
        }
        listed = [
            {
                "file": f"{name}.json",
                "module": name,
                "title": f"Lecture {name}.",
                "steps": 16,
                "claims": 2,
                "held": 2,
                "failed": False,
            }
            for name in documents
        ]
        self.texts["/traces/index.json"] = json.dumps({"documents": listed})


class SiteHandler(http.server.SimpleHTTPRequestHandler):
    def __init__(self, site: Site, *arguments):
        self.site = site
        with contextlib.suppress(ConnectionError):  # a page may close before all has come
            super().__init__(*arguments, directory=str(VIEWER))

    def do_GET(self):
        path = self.path.partition("?")[0]
        self.site.requests.append(path)
        text = self.site.texts.get(path)
        if text is None:
            if path.startswith("/traces/"):
                self.send_error(404)
            else:
                super().do_GET()
            return
        data = text.encode()
        self.send_response(200)
        is_page = path.endswith(".html")
        self.send_header("Content-Type", "text/html" if is_page else "application/json")
        self.send_header("Content-Length", str(len(data)))
        for name, value in self.site.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture(scope="session")
def ask():
    """`ask(question, ...)` asks the viewer's pure modules, as `answers.js` says, without a page."""
    modules = Modules()
    yield modules
    modules.close()


@pytest.fixture(scope="session")
def site():
    served = Site()
    threading.Thread(target=served.server.serve_forever, daemon=True).start()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture(scope="session")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=find_chromium(), args=CHROMIUM_ARGUMENTS)
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def context(browser):
    """Shared, so that the viewer's files are fetched once."""
    opened = browser.new_context()
    opened.set_default_timeout(PATIENCE)
    yield opened
    opened.close()


@contextlib.contextmanager
def quiet_page(context, site, width, height, expected=lambda message: False):
    """A page that may print nothing to the console that is not expected, and ask nobody else."""
    page = context.new_page()
    page.set_viewport_size({"width": width, "height": height})
    noise = []
    page.on(
        "console",
        lambda message: expected(message) or is_verbose(message) or noise.append(message.text),
    )
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noise.append("dialog"), dialog.dismiss()))
    page.on(
        "request",
        lambda request: (
            request.url.startswith((site.address, "data:"))
            or noise.append(f"request elsewhere: {request.url}")
        ),
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(page.keyboard, "press", answered(page.keyboard.press, lambda *_: page))
        patched.setattr(Locator, "click", answered(Locator.click, lambda own: own.page))
        for name, reader in READERS.items():
            patched.setattr(Locator, name, reader)
        patched.setattr(Page, "inner_text", read_first)
        yield page
    if page.url.startswith(site.address):
        page.evaluate("localStorage.clear()")  # what one reader chose is no other reader's choice
    page.close()
    assert noise == []


def is_verbose(message) -> bool:
    """Chromium's hint that a place was asked for in a part that it had not drawn: tests do that."""
    return message.text.startswith("Rendering was performed in a subtree hidden")


@pytest.fixture
def page(context, site):
    with quiet_page(context, site, 1280, 800) as opened:
        yield opened


def is_refusal(message) -> bool:
    """The policy speaks where the sanitiser parses an attack, and a local image may be missing."""
    refused = ("Executing inline event handler", "Applying inline style", "Setting the document's")
    parsed = message.location["url"].endswith("purify.min.js") and message.text.startswith(refused)
    return parsed or "404" in message.text


@pytest.fixture
def attacked(context, site):
    with quiet_page(context, site, 1280, 800, is_refusal) as opened:
        yield opened


@pytest.fixture
def phone(context, site):
    with quiet_page(context, site, 390, 844) as opened:
        yield opened


@pytest.fixture
def show(site):
    """`show(page, document, mode="step", at="3")` opens a document and waits until it is there."""

    def open_document(page, document, **parameters):
        site.publish(demo=document)
        hash_parameters = "".join(f"&{name}={quote(text)}" for name, text in parameters.items())
        page.goto("about:blank")  # a change of the hash alone would not fetch the document again
        page.goto(f"{site.address}#doc=demo{hash_parameters}")
        page.locator("#app main").first.wait_for()
        return page

    return open_document


@pytest.fixture
def presented(page, show):
    show(page, documents.small())
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    return page


class QuietHandler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture
def host(tmp_path):
    """A web server that knows nothing of us; gives the address of its folder."""
    handler = functools.partial(QuietHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
