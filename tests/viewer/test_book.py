"""A lecture with headings is a book: a front page, and chapters one at a time."""

import copy
import functools
import re

import pytest
from playwright.sync_api import expect

from tests.viewer import documents
from tests.viewer.conftest import quiet_page, settled
from tests.viewer.programs import recorded
from tests.viewer.test_access import assert_accessible, assert_large_enough

WORDS = "words " * 400

SOURCE = f'''
"""Numbers, small and large."""


def main():
    """All of arithmetic.

    What one must know: nothing.
    """
    # Nothing is random.
    seed = 1
    addition()
    multiplication()


def addition():
    # ## Adding
    # What sums cost.
    ones()
    twos()

    # ## Adding again
    ones_again()


def multiplication():
    # ## Multiplying
    # Products.
    products()


def ones():
    """One and one."""
    assert 1 + 1 == 2


def twos():
    """Two and two.

    More is [said elsewhere](#products).
    """
    total = 2 + 2
    assert total == 4
    twice()


def twice():
    """Twice the same."""
    assert 4 + 4 == 8


def ones_again():  # @exercise
    """One and one again."""
    assert 1 + 1 == 2


def products():
    """Products."""
    for factor in range(30):
        assert factor * 2 == factor + factor
    # {WORDS}
'''


@functools.cache
def recorded_book() -> dict:
    return recorded(SOURCE)


def book() -> dict:
    return copy.deepcopy(recorded_book())


def texts(page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


def titles(page) -> list[str]:
    """Also of what is not painted yet."""
    return page.locator("#article :is(h1, h2, h3)").all_text_contents()


@pytest.fixture
def front(page, show):
    show(page, book())
    page.locator(".map").wait_for()
    return page


def open_chapter(page, number: int) -> None:
    page.locator(f".map-chapters li:has-text('{number}') a").first.click()
    page.locator(".chapter-head").wait_for()


def test_the_front_page_says_what_there_is(front):
    assert front.locator("h1").inner_text() == "All of arithmetic"
    assert "What one must know: nothing." in front.locator("#article").inner_text()
    assert texts(front, ".map-title") == ["Adding", "Adding again", "Multiplying"]
    facts = texts(front, ".map-facts")
    assert facts == ["1 min · 3 claims", "1 min · 1 claim · 1 exercise", "2 min · 1 claim"]
    amounts = ["3\nminutes", "3\nchapters", "5\nclaims", "1\nexercise"]
    assert texts(front, ".amounts li") == amounts
    assert texts(front, ".map-chapters .prose")[0] == "What sums cost."
    assert front.locator(".section .section").count() == 0
    set_up = front.get_by_text("seed = 1")
    expect(set_up).not_to_be_visible()  # what is done first stands below the map
    front.locator(".set-up summary").click()
    set_up.wait_for()
    assert "Nothing is random." in front.locator(".set-up").inner_text()


def test_a_chapter_stands_alone_and_leads_to_its_neighbours(front, site):
    open_chapter(front, 1)
    assert titles(front) == ["Adding", "One and one", "Two and two", "Twice the same"]
    assert "Chapter 1 of 3" in front.locator(".chapter-place").inner_text()
    assert "What sums cost." in front.locator(".chapter-head").inner_text()
    front.wait_for_url(f"{site.address}#doc=demo&chapter=adding")
    front.locator('.chapter-foot [rel="next"]').click()
    front.locator("h1", has_text="Adding again").wait_for()
    assert titles(front) == ["Adding again", "One and one again"]
    assert front.evaluate("scrollY") == 0
    front.locator('.chapter-foot [rel="next"]').click()
    front.locator("h1", has_text="Multiplying").wait_for()
    assert front.locator('.chapter-foot [rel="next"]').count() == 0
    front.go_back()
    front.locator("h1", has_text="Adding again").wait_for()
    front.locator('.chapter-foot [rel="prev"]').click()
    front.locator("h1", has_text="Adding").wait_for()


@pytest.mark.parametrize(
    ("parameters", "heading"),
    [
        ({"chapter": "multiplying"}, "Multiplying"),
        ({"at": "products"}, "Multiplying"),
        ({"at": "programs.py:ones_again:1.1"}, "Adding again"),
        ({"at": "programs.py:twice:1.1"}, "Adding"),
        ({"at": "programs.py:main:2.1"}, "Adding"),
        ({"at": "programs.py:main:3.1"}, "Multiplying"),
        ({"at": "programs.py:main:1.1"}, "All of arithmetic"),
        ({"chapter": "subtracting"}, "All of arithmetic"),
    ],
    ids=lambda case: "-".join(case.values()) if isinstance(case, dict) else "",
)
def test_every_address_leads_to_its_chapter(parameters, heading, page, show):
    show(page, book(), **parameters)
    page.locator("h1", has_text=heading).wait_for()
    assert page.locator("h1").all_inner_texts() == [heading]
    missing = parameters.get("chapter") == "subtracting"
    assert page.locator(".page-notice").count() == missing


def test_a_link_in_the_text_leads_into_another_chapter(page, show, site):
    show(page, book(), chapter="adding")
    page.get_by_role("link", name="said elsewhere").click()
    page.locator("h1", has_text="Multiplying").wait_for()
    page.wait_for_url(f"{site.address}#doc=demo&at=programs.py:products:1.1")


def test_keys_lead_through_sections_and_chapters(page, show):
    page.set_viewport_size({"width": 1280, "height": 300})
    show(page, book(), chapter="adding")
    read = page.locator(".outline a[aria-current]")
    seen = []
    for _ in range(3):
        page.keyboard.press("j")
        page.wait_for_function(
            "before => document.querySelector('.outline a[aria-current]').innerText !== before",
            arg=seen[-1] if seen else "1. Adding",
        )
        seen.append(read.inner_text())
    assert [text.split("\n")[0] for text in seen] == [
        "One and one",
        "Two and two",
        "Twice the same",
    ]
    page.keyboard.press("k")
    page.locator(".outline a[aria-current]", has_text="Two and two").wait_for()
    page.keyboard.press("n")
    page.locator("h1", has_text="Adding again").wait_for()
    page.keyboard.press("p")
    page.keyboard.press("p")
    page.locator("h1", has_text="All of arithmetic").wait_for()
    page.keyboard.press("p")
    page.keyboard.press("ArrowRight")
    page.locator("h1", has_text="Adding").wait_for()


def test_all_on_one_page_is_a_choice_that_keeps_the_place(page, show, site):
    show(page, book(), at="products")
    page.locator("h1", has_text="Multiplying").wait_for()
    page.keyboard.press("w")
    page.locator("h1", has_text="All of arithmetic").wait_for()
    headings = texts(page, "#article h2")
    assert headings == ["1. Adding", "2. Adding again", "3. Multiplying"]
    page.wait_for_url(f"{site.address}#doc=demo&whole&at=programs.py:products:1.1")
    page.reload()
    page.locator("h1", has_text="All of arithmetic").wait_for()
    page.keyboard.press("w")
    page.locator("h1", has_text="Multiplying").wait_for()


def test_only_the_chapter_that_is_read_is_open_in_the_outline(page, show):
    show(page, book(), chapter="adding")
    opened = page.locator(".chapter.is-open .chapter-link")
    assert opened.all_inner_texts() == ["1. Adding"]
    page.locator(".chapter-link", has_text="Multiplying").click()
    page.locator("h1", has_text="Multiplying").wait_for()
    assert opened.all_inner_texts() == ["3. Multiplying"]
    page.get_by_role("button", name="Sections of Adding again").click()
    assert opened.count() == 2
    page.locator(".outline-entry a", has_text="One and one again").click()
    page.locator("h1", has_text="Adding again").wait_for()
    assert opened.all_inner_texts() == ["2. Adding again"]


def test_the_way_back_from_a_claim_leads_to_the_place_that_was_left(front):
    """To the line, not only to its section."""
    front.set_viewport_size({"width": 1280, "height": 300})
    front.evaluate("location.hash = '#doc=demo&at=products'")
    line = front.locator("#article [data-step]", has_text="for factor").first
    line.wait_for()
    settled(front)
    front.evaluate("(box) => scrollBy(0, box.y - 120)", line.bounding_box())
    settled(front)
    before = line.bounding_box()["y"]
    front.keyboard.press("c")
    front.get_by_label("the whole lecture").check()
    front.locator(".claim-entry").first.click()
    front.locator("h1", has_text="Adding").wait_for()
    front.go_back()
    front.locator("h1", has_text="Multiplying").wait_for()
    settled(front)
    assert abs(line.bounding_box()["y"] - before) < 2


def search(front, words):
    front.keyboard.press("/")
    front.locator(".search-field:focus").wait_for()
    front.keyboard.type(words)
    front.locator(".results li").first.wait_for()
    front.keyboard.press("Enter")


SCROLLED_TOO_EARLY = """(top) => addEventListener("hashchange", async (event) => {
    event.stopImmediatePropagation();
    scrollTo(0, top);
    for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    dispatchEvent(new HashChangeEvent("hashchange"));
}, { capture: true, once: true })"""
"""The browser scrolls on the way back while the chapter that is left is still there."""


def test_on_the_way_back_the_address_is_that_of_what_is_shown(front):
    front.set_viewport_size({"width": 1280, "height": 300})
    front.evaluate("location.hash = '#doc=demo&chapter=adding'")
    front.locator("h1", has_text="Adding").wait_for()
    settled(front)
    title = front.locator("#article .section-title", has_text="Two and two")
    title.evaluate("(title) => scrollBy(0, title.getBoundingClientRect().top - 60)")
    marked = front.locator(".outline-entry a[aria-current]", has_text="Two and two")
    marked.wait_for()
    front.wait_for_url("**at=*twos*")
    left, top = front.url, front.evaluate("scrollY")
    search(front, "factor * 2")
    front.locator("h1", has_text="Multiplying").wait_for()
    settled(front)
    front.clock.install()
    front.evaluate(SCROLLED_TOO_EARLY, top)
    front.go_back()
    front.locator("h1", has_text="Adding").wait_for()
    settled(front)
    front.clock.fast_forward(1000)
    assert front.url == left
    assert front.evaluate("scrollY") == top
    marked.wait_for()


def test_search_step_and_claims_lead_to_the_chapter(front):
    search(front, "factor * 2")
    front.locator("h1", has_text="Multiplying").wait_for()
    front.keyboard.press("r")
    front.locator("#stepping").wait_for()
    assert front.locator(".bar-chapter").inner_text() == "3. Multiplying"
    front.keyboard.press("Home")
    front.keyboard.press("r")
    front.locator("h1", has_text="All of arithmetic").wait_for()
    front.keyboard.press("c")
    front.locator(".claim-entry").first.click()
    front.locator("h1", has_text="Adding").wait_for()


def test_claims_begin_with_those_of_the_chapter_that_is_read(page, show):
    show(page, book(), chapter="multiplying")
    page.keyboard.press("c")
    page.locator(".claim-entry").first.wait_for()
    choices = [text.strip() for text in texts(page, ".claim-choices label")]
    assert choices[0] == "chapter 3. Multiplying"
    assert choices[-1] == "the whole lecture"
    assert page.locator(".claim-choices input").first.is_checked()
    of_chapter = page.locator(".claim-entry").count()
    assert page.locator(".claim-list h3").count() == 0, "it stands above"
    page.get_by_label("the whole lecture").check()
    page.locator(".claim-list h3").first.wait_for()
    assert page.locator(".claim-entry").count() > of_chapter > 0
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("c")
    assert page.locator(".claim-choices input").first.is_checked()


def test_the_front_page_offers_the_place_where_the_reader_stopped(context, site, show):
    with quiet_page(context, site, 1280, 300) as page:
        show(page, book(), chapter="adding")
        page.locator("#title-4").wait_for()
        page.mouse.wheel(0, 450)
        page.wait_for_function("() => Object.keys(localStorage).includes('lecture-place-demo')")
        read = page.locator(".outline a[aria-current] .outline-title").inner_text()
        page.goto("about:blank")
        page.goto(f"{site.address}#doc=demo")
        page.get_by_role("button", name=f"Continue at “{read}”").click()
        page.locator("h1", has_text="Adding").wait_for()


def test_a_line_below_the_bar_shows_how_much_is_read(page, show):
    page.set_viewport_size({"width": 1280, "height": 300})
    show(page, book(), chapter="multiplying")
    shown = (
        "() => Number(getComputedStyle(document.documentElement).getPropertyValue('--progress'))"
    )
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function(f"() => {shown} > 0.95")
    page.keyboard.press("p")
    page.locator("h1", has_text="Adding again").wait_for()
    page.wait_for_function(f"() => {shown} < 0.2")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function(f"() => {shown} > 0.95")
    page.keyboard.press("r")  # Step is not read from top to bottom
    page.wait_for_function(f"() => {shown} === 0")


def test_a_chapter_is_printed_with_its_contents(page, show):
    show(page, book(), chapter="adding")
    page.evaluate("window.print = () => dispatchEvent(new Event('print-called'))")
    page.evaluate("async () => (await import('viewer/views/print.js')).printPage()")
    page.locator(".printed-contents").wait_for(state="attached")
    assert texts(page, ".printed-contents li") == ["One and one", "Two and two"]
    assert titles(page) == ["Adding", "One and one", "Two and two", "Twice the same"]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.locator(".printed-contents").wait_for(state="detached")


def test_a_printed_chapter_has_bookmarks_and_links_to_its_sections(page, show):
    show(page, book(), chapter="adding")
    page.evaluate("window.print = () => (window.isPrinted = true)")
    page.evaluate("async () => (await import('viewer/views/print.js')).printPage()")
    page.wait_for_function("() => window.isPrinted")
    found = page.pdf(outline=True, tagged=True)
    bookmarks = re.findall(rb"<<(/Title \(([^)]*)\)[^<>]*/Dest[^<>]*)>>", found)
    titles = {title: entry for entry, title in bookmarks}
    assert titles.keys() == {b"Adding", b"One and one", b"Two and two", b"Twice the same"}
    assert b"/First" in titles[b"Adding"], "sections stand below their chapter"
    assert b"/First" not in titles[b"One and one"]
    assert len(re.findall(rb"/Subtype /Link[^<>]*/Dest /title-\d+", found)) == 2, "contents"
    page.evaluate("dispatchEvent(new Event('afterprint'))")


def test_the_front_page_prints_everything(front):
    front.evaluate("window.print = () => {}")
    front.evaluate("async () => (await import('viewer/views/print.js')).printPage()")
    assert texts(front, "#article h2") == ["1. Adding", "2. Adding again", "3. Multiplying"]
    assert front.get_by_text("assert factor * 2").count() == 1
    front.evaluate("dispatchEvent(new Event('afterprint'))")
    front.locator(".map").wait_for()


def files_book() -> dict:
    """Without headings, sections of two files are two chapters."""
    document = documents.small()
    first = document["files"][0]
    text = '"""Views of tensors."""\n' + "\n" * 20
    other = copy.deepcopy(first)
    lines = first["source"].split("\n")
    other["path"] = "demo/storage_views.py"
    other["prose"] = [block for block in first["prose"] if block["first_line"] > 15]
    third = copy.deepcopy(other)
    third["path"] = "demo/doubling.py"
    third["source"] = text + "\n".join(lines[21:])
    document["files"] += [other, third]
    for func, file in ((1, 1), (2, 2)):
        document["functions"][func]["file"] = file
        for row in document["statements"]:
            if row[5] == func:
                row[0] = file
    document["functions"][2]["title"] = "Doubling."
    source = first["source"].replace("y = double(3)  # @inspect y", "double(3)")
    first.update(source=source, tokens=documents.tokens(source))
    document["statements"][1][4] = "call"
    return document


def test_files_are_chapters_where_there_are_no_headings(page, show):
    show(page, files_book())
    page.locator(".map").wait_for()
    assert texts(page, ".map-title") == ["storage views", "doubling"]
    page.locator(".map-link").nth(1).click()
    page.locator("h1", has_text="doubling").wait_for()
    assert titles(page) == ["doubling", "Doubling"]
    page.keyboard.press("w")
    page.locator("h2", has_text="2. doubling").wait_for()


def test_a_lecture_of_one_file_without_headings_is_one_page(page, show):
    show(page, documents.small())
    assert page.locator(".map, .chapter-head, .outline-pages").count() == 0
    assert titles(page) == ["Small numbers", "Views share storage"]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_the_front_page_and_in_a_chapter(theme, page, show):
    page.emulate_media(color_scheme=theme)
    show(page, book())
    page.locator(".map").wait_for()
    assert_accessible(page, "front page")
    open_chapter(page, 1)
    assert_accessible(page, "chapter")


def test_what_one_presses_in_a_book_is_large_enough(front):
    assert_large_enough(front)
    open_chapter(front, 3)
    assert_large_enough(front)


def test_the_timeline_of_a_book_reaches_over_a_section_at_first(page, show):
    show(page, book(), mode="step", at="twos")
    count = page.locator(".timeline-count")
    assert page.locator('[data-command="reach"]').inner_text() == "this section"
    within = int(count.inner_text().split(" / ")[1])
    page.keyboard.press("z")
    page.keyboard.press("z")
    assert page.locator('[data-command="reach"]').inner_text() == "whole run"
    assert int(count.inner_text().split(" / ")[1]) > within
    titles = page.locator(".timeline-band").evaluate_all("bands => bands.map((band) => band.title)")
    assert [title.split(":")[0] for title in titles] == [
        "1. Adding",
        "2. Adding again",
        "3. Multiplying",
    ]
    for part in page.locator(".timeline-band > :visible").all():  # whole words or nothing
        assert part.evaluate("part => part.getBoundingClientRect().width") > 4


def test_claims_stand_below_their_chapters(front):
    front.keyboard.press("c")
    front.locator(".claim-entry").first.wait_for()
    assert texts(front, ".claim-list h3") == ["1. Adding", "2. Adding again", "3. Multiplying"]
    front.get_by_label("filter claims").fill("factor")
    front.locator(".claim-list h3").get_by_text("Adding").first.wait_for(state="detached")
    assert texts(front, ".claim-list h3") == ["3. Multiplying"]
    assert_accessible(front, "claims by chapter")
