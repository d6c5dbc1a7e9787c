"""The pages of a site as plain HTML: what one reads without JavaScript, and how the viewer takes
them over."""

import json
import re
from html.parser import HTMLParser

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import PATIENCE, VIEWER, settled
from tests.viewer.test_access import assert_accessible
from tests.viewer.test_book import book as a_book
from tests.viewer.test_book import files_book
from trace.document.decoding import decode
from trace.serve.book import Book
from trace.serve.course import Course
from trace.serve.markdown import as_html
from trace.serve.publication import Publication

GOLDEN = sorted((VIEWER.parent / "tests/golden").glob("*.json"))
OF_PAGES = {
    "book": lambda: json.dumps(a_book()).encode(),
    "files": lambda: json.dumps(files_book()).encode(),
    "small": lambda: json.dumps(documents.small()).encode(),
    "lecture": (VIEWER / "traces/lecture.main.json").read_bytes,
    **{path.stem: path.read_bytes for path in GOLDEN},
}


@pytest.mark.parametrize("name", OF_PAGES)
def test_sections_and_chapters_are_those_of_the_viewer(ask, name):
    data = OF_PAGES[name]()
    book = Book(decode(data))
    found = ask("book", json.loads(data))
    sections = [[one.activation, one.depth, one.parent] for one in book.sections]
    assert sections == found["sections"]
    assert [
        {**vars(chapter), "sections": [one.activation for one in chapter.sections]}
        for chapter in book.chapters
    ] == found["chapters"]


FACTS = {"title": "A course", "address": "https://example.org/course/", "author": "Somebody"}


def publish(folder, document, facts=None, name="demo"):
    (folder / f"{name}.json").write_text(json.dumps(document))
    site = folder / "site"
    publication = Publication(None, site, Course(facts or {}))
    assert publication.publish([folder / f"{name}.json"]) == 0
    return site


@pytest.fixture
def without_javascript(browser):
    context = browser.new_context(java_script_enabled=False)
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


def test_a_lecture_can_be_read_without_javascript(without_javascript, host, tmp_path):
    publish(tmp_path, a_book())
    page = without_javascript
    page.goto(f"{host}site/")
    assert (
        page.get_by_role("heading", level=1).inner_text() == Book(decode(encoded(a_book()))).title
    )
    chapters = Book(decode(encoded(a_book()))).chapters
    for chapter in chapters:
        page.goto(f"{host}site/")
        page.locator("main").get_by_role("link", name=chapter.title, exact=True).click()
        assert page.get_by_role("heading", level=1).inner_text() == chapter.title
        assert page.locator("main pre").count() > 0
    page.locator("main").get_by_role("link", name=chapters[-2].title).click()
    page.get_by_role("heading", level=1, name=chapters[-2].title).wait_for()
    expect(page.get_by_text("needs JavaScript")).not_to_be_visible()


@pytest.mark.parametrize("kind", ["note", "bridge"])
def test_notes_for_the_speaker_and_bridges_are_on_no_page(tmp_path, kind):
    document = documents.with_note("## Ask who has seen it.")
    for block in document["files"][0]["prose"]:
        block["kind"] = kind if block["kind"] == "note" else block["kind"]
    site = publish(tmp_path, document)
    pages = [path.read_text(encoding="utf-8") for path in site.rglob("*.html")]
    assert any("x = make()" in page for page in pages)
    assert not any("Ask who" in page for page in pages)


def test_what_was_said_and_values_in_prose_are_on_the_page(tmp_path):
    said = trace_source(
        """
        from edtrace import text, link

        def main():
            text("# Title")
            text("Paper: "), link("https://example.org", title="E")
            for n in range(2):
                text(f"- turn {n}")
        """
    )
    quoted = trace_source(
        '''
        def main():
            """Title"""
            show(1)
            show(2)

        def show(n):
            """Shown"""
            # Called with @{n}.
            return n
        '''
    )
    page = (publish(tmp_path, said, name="said") / "said.html").read_text("utf-8")
    assert re.search(r"<p>Paper: <a [^>]*>", page)
    assert "<li>turn 0</li><li>turn 1</li>" in page.replace("\n", "")
    page = (publish(tmp_path, quoted, name="quoted") / "quoted.html").read_text("utf-8")
    assert "<p>Called with 1.</p>" in page
    assert "@{" not in page


def encoded(document) -> bytes:
    return json.dumps(document).encode()


def test_a_short_lecture_is_one_page(without_javascript, host, tmp_path):
    publish(tmp_path, documents.small())
    page = without_javascript
    page.goto(f"{host}site/demo.html")
    text = page.locator("main").inner_text()
    parts = ["Small numbers", "Prose with $x^2$ and bold.", "Views share storage"]
    parts += ["A view moves no data.", "x = make()", "assert x.size == 6", "y = double(3)"]
    places = [text.index(part) for part in parts]
    assert places == sorted(places), "in the order of the lecture"
    assert "@inspect" not in text
    assert "def views" not in text


class Head(HTMLParser):
    """What the head of a page says."""

    def __init__(self, text: str):
        super().__init__()
        self.said: dict[str, str] = {}
        self.feed(text)

    def handle_starttag(self, tag, pairs):
        given = dict(pairs)
        if tag == "meta" and "content" in given:
            self.said[given.get("name") or given.get("property") or ""] = given["content"]
        if tag == "link" and given.get("rel") == "canonical":
            self.said["canonical"] = given["href"]


def test_each_page_says_what_it_is(tmp_path):
    site = publish(tmp_path, a_book(), {**FACTS, "picture": "course/picture.png"})
    chapter = Book(decode(encoded(a_book()))).chapters[0]
    file = f"demo.{chapter.name}.html"
    text = (site / file).read_text(encoding="utf-8")
    said = Head(text).said
    assert re.search("<title>(.*)</title>", text)[1].startswith(f"{chapter.title} · ")
    assert said["canonical"] == said["og:url"] == f"https://example.org/course/{file}"
    assert said["og:image"] == "https://example.org/course/course/picture.png"
    assert said["og:title"].startswith(chapter.title)
    assert said["description"] == said["og:description"] != ""
    assert said["author"] == "Somebody"
    plain = Head((publish(tmp_path, a_book(), name="other") / file).read_text()).said
    assert plain["canonical"] == f"https://example.org/course/{file}", "it stays as it was"
    again = Head((publish(tmp_path, a_book()) / file).read_text()).said
    assert again["canonical"] == file
    assert not {"og:url", "og:image"} & again.keys()


def test_pages_of_chapters_that_are_gone_go_too(tmp_path):
    site = publish(tmp_path, a_book())
    (site / "demo.notes.html").write_text("mine")
    before = {path.name for path in site.glob("demo*.html")}
    assert len(before) > 3
    publish(tmp_path, documents.small())
    assert {path.name for path in site.glob("demo*.html")} == {"demo.html", "demo.notes.html"}


def test_several_lectures_have_a_list(without_javascript, host, tmp_path):
    publish(tmp_path, a_book(), name="one")
    publish(tmp_path, documents.small(), name="two")
    without_javascript.goto(f"{host}site/")
    title = documents.small()["title"].removesuffix(".")
    without_javascript.get_by_role("link", name=title, exact=True).click()
    without_javascript.get_by_text("A view moves no data").wait_for()


def test_the_page_takes_a_list_over_too(browser, host, tmp_path):
    publish(tmp_path, a_book(), name="one")
    publish(tmp_path, documents.small(), name="two")
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.goto(f"{host}site/")
    page.locator("#app").get_by_role("link").first.wait_for()
    assert page.locator("#first").count() == 0
    context.close()


# What is on the screen in each frame: the plain text, the page's own, or both.
WATCH = """
window.frames_seen = [];
const look = () => {
    const shown = ["#first main", "#app main"].filter(
        (place) => document.querySelector(place)?.textContent.trim());
    if (document.body && frames_seen.at(-1) !== shown.join()) frames_seen.push(shown.join());
    requestAnimationFrame(look);
};
requestAnimationFrame(look);
"""


@pytest.mark.parametrize("kind", ["front", "chapter"])
def test_the_page_takes_it_over_without_a_moment_of_both_or_of_none(browser, host, tmp_path, kind):
    publish(tmp_path, a_book())
    chapter = Book(decode(encoded(a_book()))).chapters[1]
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    noise = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.add_init_script(WATCH)
    file = f"demo.{chapter.name}.html" if kind == "chapter" else ""
    page.goto(f"{host}site/{file}")
    page.locator("#app main").get_by_role("heading", level=1).wait_for()
    page.wait_for_function("() => frames_seen.at(-1) === '#app main'")
    frames = [frame for frame in page.evaluate("frames_seen") if frame]
    assert frames == ["#first main", "#app main"]
    assert page.locator("h1").count() == 1
    assert chapter.title in page.title() or kind == "front"
    page.locator(".outline").get_by_text("Front", exact=True).click()
    page.wait_for_function("() => location.hash.startsWith('#doc=demo')")
    assert page.url.startswith(f"{host}site/#doc=demo")
    page.reload()
    page.locator("#app main").get_by_role("heading", level=1).wait_for()
    context.close()
    assert noise == []


def test_an_address_within_a_page_wins_and_shows_nothing_else_before(browser, host, tmp_path):
    publish(tmp_path, a_book())
    first, second = Book(decode(encoded(a_book()))).chapters[:2]
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.add_init_script(
        "const shown = () => [...document.querySelectorAll('h1')]"
        "  .find((title) => title.checkVisibility())?.textContent ?? '';"
        "window.titles = new Set(); const look = () => {"
        "  titles.add(shown()); requestAnimationFrame(look); }; requestAnimationFrame(look);"
    )
    for file in (f"demo.{first.name}.html", ""):
        page.goto("about:blank")
        page.goto(f"{host}site/{file}#doc=demo&chapter={second.name}")
        page.locator("#chapter-title", has_text=second.title).wait_for()
        page.wait_for_function("() => titles.size > 0")
        assert {*page.evaluate("[...titles]")} <= {"", second.title}
    context.close()


def test_a_chapter_can_be_read_before_the_document_is_there(browser, host, tmp_path):
    publish(tmp_path, a_book())
    chapter = Book(decode(encoded(a_book()))).chapters[1]
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    waiting = []
    page.route(re.compile(r"/traces/demo\."), lambda route: waiting.append(route))
    page.goto(f"{host}site/#doc=demo&chapter={chapter.name}")
    page.locator("#first h1", has_text=chapter.title).wait_for()
    while not waiting:
        page.wait_for_timeout(10)
    waiting[0].continue_()
    page.locator("#chapter-title", has_text=chapter.title).wait_for()
    assert page.locator("h1").count() == 1
    context.close()


def test_who_has_read_on_meanwhile_stays_there(browser, host, tmp_path):
    publish(tmp_path, a_book())
    chapter = Book(decode(encoded(a_book()))).chapters[0]
    context = browser.new_context(viewport={"width": 900, "height": 250})
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    waiting = []
    page.route(re.compile(r"/traces/demo\."), lambda route: waiting.append(route))
    page.goto(f"{host}site/demo.{chapter.name}.html")
    page.locator("#first #twos").evaluate("section => scrollTo(0, section.offsetTop - 40)")
    before = page.locator("#first #twos h2").bounding_box()["y"]
    assert page.evaluate("scrollY") > 0
    while not waiting:
        page.wait_for_timeout(10)
    waiting[0].continue_()
    title = page.locator("#app .section-title", has_text="Two and two")
    title.wait_for()
    settled(page)
    assert abs(title.bounding_box()["y"] - before) < 3
    context.close()


# Markdown -> HTML
MARKDOWN = [
    ("<script>alert(1)</script>", "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>"),
    ("[a](javascript:alert(1))", "<p>a</p>"),
    ('[a](https://example.org"onclick=)', "<p>a</p>"),
    ("[a](data:text/html,x)", "<p>a</p>"),
    ("[a](//evil.example/x.html)", "<p>a</p>"),
    ("![alt <b>](x.png)", "<p><em>alt &lt;b&gt;</em></p>"),
    ("`a*b*c` and *b*", "<p><code>a*b*c</code> and <em>b</em></p>"),
    ("$a_1*b*c_2$", "<p><span>$a_1*b*c_2$</span></p>"),
    ("a_b_c and 2 * 3 * 4", "<p>a_b_c and 2 * 3 * 4</p>"),
    ("**[b](#x)**", '<p><strong><a href="#x">b</a></strong></p>'),
    ("# One\ntext", "<h2>One</h2>\n<p>text</p>"),
    ("```py\na < b\n\n*c*\n```\nd", "<pre><code>a &lt; b\n\n*c*\n</code></pre>\n<p>d</p>"),
    ("- a\n  b\n- c\n  - d", "<ul><li>a\nb</li><li>c<ul><li>d</li></ul></li></ul>"),
    ("text\n1. a\n2. b", "<p>text</p>\n<ol><li>a</li><li>b</li></ol>"),
    ("> a\n> b", "<blockquote><p>a\nb</p></blockquote>"),
    (
        "| a |\n| - |\n| `2` |",
        "<table><thead><tr><th>a</th></tr></thead><tbody><tr><td><code>2</code></td></tr></tbody></table>",
    ),
]


@pytest.mark.parametrize(("text", "expected"), MARKDOWN)
def test_markdown(text, expected):
    assert as_html(text) == expected


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_plain_pages_are_accessible(browser, host, tmp_path, theme):
    publish(tmp_path, a_book())
    chapter = Book(decode(encoded(a_book()))).chapters[0]
    context = browser.new_context(color_scheme=theme)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    page.route(re.compile(r"/early\.js$"), lambda route: route.abort())
    for file in ("", f"demo.{chapter.name}.html"):
        page.goto(f"{host}site/{file}")
        page.locator("#first main").wait_for()
        page.locator("#not-served").wait_for()  # which comes after a while, as no script ran
        assert_accessible(page, file or "front page")
    context.close()
