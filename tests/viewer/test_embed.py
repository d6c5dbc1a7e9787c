"""One section or one step in a frame of a page of somebody else."""

import json
import threading
import urllib.request

import pytest

from tests.viewer import documents
from tests.viewer.conftest import PATIENCE
from tests.viewer.test_book import book
from trace.arguments import parse
from trace.errors import UsageError
from trace.serve.overlay import Shown
from trace.serve.publication import Publication
from trace.serve.server import make_server

OUTER = """<!doctype html><title>Course notes</title><link rel="icon" href="data:,"><p>Before</p>
<iframe title="views" src="{address}" width="700" height="50"></iframe><p>After</p>
<script>
window.heights = [];
addEventListener("message", ({{ data, source }}) => {{
  if (data?.type !== "lecture-height") return;
  heights.push(data.height);
  for (const frame of document.querySelectorAll("iframe"))
    if (frame.contentWindow === source) frame.height = data.height;
}});
</script>"""

FITS = """frame => heights.length > 0 &&
    document.querySelector("iframe").clientHeight === heights.at(-1)"""


@pytest.fixture
def embedded(browser, site, host, tmp_path):
    """`embedded(document, hash)` shows it in a page of another origin."""
    context = browser.new_context(viewport={"width": 900, "height": 900})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    noise = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))

    def open_page(document, place):
        site.publish(demo=document)
        (tmp_path / "outer.html").write_text(
            OUTER.format(address=f"{site.address}?embed#doc=demo&amp;{place}")
        )
        page.goto(f"{host}outer.html")
        page.wait_for_function(FITS)
        return page, page.frame_locator("iframe")

    yield open_page
    context.close()
    assert noise == []


def test_a_section_stands_alone_at_its_height(embedded):
    page, frame = embedded(documents.small(), "at=views")
    frame.get_by_role("heading", name="Views share storage").wait_for()
    frame.get_by_text("A view moves no data").wait_for()
    assert frame.locator(".bar, .sidebar, .controls").count() == 0
    assert frame.get_by_text("Small numbers").count() == 1, "the link to all of it"
    page.wait_for_function(FITS)
    body = frame.locator("html")
    assert body.evaluate("html => html.scrollHeight <= innerHeight"), "nothing is cut"
    assert body.evaluate("() => innerHeight - document.body.offsetHeight < 60"), "nor left over"


def test_the_height_follows(embedded):
    page, frame = embedded(documents.small(), "at=views")
    frame.get_by_text("A view moves no data").wait_for()
    page.wait_for_function(FITS)
    before = page.evaluate("heights.at(-1)")
    frame.locator("#article").evaluate("article => (article.style.paddingTop = '300px')")
    page.wait_for_function("before => heights.at(-1) >= before + 290", arg=before)
    page.wait_for_function(FITS)


def test_a_step_is_shown_with_its_variables(embedded):
    _, frame = embedded(documents.small(), "mode=step&amp;at=2")
    frame.locator(".program-line.current").wait_for()
    frame.locator(".facts").wait_for()
    assert frame.locator(".bar, .sidebar").count() == 0
    assert frame.locator("html").evaluate("html => html.scrollHeight <= innerHeight")
    before = frame.locator(".program-line.current").inner_text()
    frame.get_by_role("button", name="forward", exact=False).first.click()
    frame.locator(".program-line.current").filter(has_not_text=before).wait_for()


def test_a_chapter_stands_alone_too(embedded):
    _, frame = embedded(book(), "chapter=multiplying")
    frame.get_by_role("heading", name="Multiplying").wait_for()
    assert frame.locator(".bar, .sidebar, .chapter-foot:visible").count() == 0


def test_the_way_back_is_that_of_the_page_around_it(embedded):
    page, frame = embedded(documents.small(), "at=views")
    frame.get_by_text("A view moves no data").wait_for()
    before = page.evaluate("history.length")
    frame.locator("html").evaluate(
        """async () => {
            const { goTo } = await import("viewer/state/address.js");
            goTo(5, { jump: true });
        }"""
    )
    frame.get_by_text("m = n * 2").wait_for()
    assert page.evaluate("history.length") == before
    kept = frame.locator("html").evaluate("() => localStorage.getItem('lecture-place-demo')")
    assert kept is None


def test_the_link_leads_to_the_whole_lecture(embedded):
    page, frame = embedded(documents.small(), "at=views")
    link = frame.get_by_role("link", name="Small numbers")
    link.wait_for()
    with page.context.expect_page() as opened:
        link.click()
    opened.value.locator(".bar").wait_for()
    opened.value.locator("#article").get_by_text("Prose with").wait_for()
    assert "embed" not in opened.value.url


@pytest.mark.parametrize(("frames", "is_shown"), [((), False), (("{host}",), True), (("*",), True)])
def test_whom_the_server_lets_show_its_pages(browser, host, tmp_path, frames, is_shown):
    file = tmp_path / "demo.json"
    file.write_text(json.dumps(documents.small()))
    named = tuple(frame.format(host=host.rstrip("/")) for frame in frames)
    shown = Shown(file, allowed_hosts=("lecture.localhost",), frames=named)
    with make_server(shown, 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://lecture.localhost:{server.server_port}/?embed#doc=demo&amp;at=views"
        (tmp_path / "outer.html").write_text(OUTER.format(address=address))
        context = browser.new_context()
        page = context.new_page()
        refused = []
        page.on("console", lambda message: refused.append(message.text))
        page.goto(f"{host}outer.html")
        if is_shown:
            page.frame_locator("iframe").get_by_text("A view moves no data").wait_for()
        else:
            while not any("frame-ancestors" in text for text in refused):
                page.wait_for_timeout(10)
            assert page.evaluate("heights") == []
        context.close()
        server.shutdown()


def test_editors_on_this_machine_may_show_it():
    with make_server(Shown(), 0) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        with urllib.request.urlopen(address) as answer:
            assert answer.headers["Content-Security-Policy"] is None
        server.shutdown()


def test_what_a_site_says_to_servers(tmp_path):
    file = tmp_path / "demo.json"
    file.write_text(json.dumps(documents.small()))
    site = tmp_path / "site"
    Publication(None, site).publish([file])
    headers = site / "_headers"
    assert headers.read_text().endswith("/*\n  Content-Security-Policy: frame-ancestors 'self'\n")
    Publication(None, site, frames=("https://a.example", "*")).publish([file])
    assert headers.read_text().endswith("frame-ancestors 'self' https://a.example *\n")
    headers.write_text("/*\n  X-Mine: 1\n")
    Publication(None, site).publish([file])
    assert headers.read_text() == "/*\n  X-Mine: 1\n"


# what is given -> what the policy says
ORIGINS = [
    ("https://example.org", "https://example.org"),
    ("https://*.Example.org:8000", "https://*.example.org:8000"),
    ("any", "*"),
    ("example.org", None),
    ("https://example.org/page", None),
    ("https://a.example; script-src *", None),
]


@pytest.mark.parametrize(("text", "origin"), ORIGINS)
def test_an_origin_is_one_of_a_page(text, origin, capsys):
    if origin:
        assert parse(["a.py", "--site", "x", "--frames", text]).frames == [origin]
    else:
        with pytest.raises(SystemExit):
            parse(["a.py", "--site", "x", "--frames", text])
        assert f"{text} is no origin" in capsys.readouterr().err
    with pytest.raises(UsageError, match="--frames says who may show pages"):
        parse(["a.py", "--frames", "any"])
