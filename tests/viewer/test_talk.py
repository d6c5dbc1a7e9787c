"""A book as a talk: its title and chapters on slides, keys that work from any place, its end."""

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer.conftest import painted
from tests.viewer.programs import recorded
from tests.viewer.test_slide_room import turn_to

TALK = '''
def main():
    """Numbers.

    What numbers are for.

    **Ways through.** For who reads this at home.
    """
    # Nothing is random.
    seed = 1
    # ## Sums
    # What sums cost.
    ones()
    detour()
    # ## Products
    # What products cost.
    another_detour()
    # @bridge A detour showed what a factor is.
    products()


def ones():  # @core
    """One and one."""
    total = 1 + 1
    assert total == 2


def detour():
    """A detour."""
    assert 2 + 2 == 4


def another_detour():
    """Another detour."""
    assert 3 + 3 == 6


def products():  # @core
    """Products."""
    half = 21
    assert 2 * half == 42  # @predict
    assert 4 * half == 84  # @predict
'''


def count(page) -> str:
    return page.locator(".slide-count").inner_text()


@pytest.fixture
def talk(page, show):
    def open_at(**place):
        show(page, recorded(TALK), **place)
        page.locator(".slide-body").wait_for()
        return page

    return open_at


def test_the_title_of_a_book_has_its_first_words_and_nothing_for_readers(talk):
    page = talk(present="1")
    body = page.locator(".slide-body")
    expect(body.locator("h1")).to_have_text("Numbers")
    expect(body).to_contain_text("What numbers are for.")
    assert page.locator(".slide-part").count() == 0
    for text in ("Ways through", "seed", "random"):
        expect(body).not_to_contain_text(text)


def test_each_chapter_of_the_short_path_begins_with_its_title(talk):
    page = talk(present="1", path="core")
    titles = []
    for _ in range(4):
        page.keyboard.press("n")
        painted(page)
        titles.append(page.locator(".slide-body :is(h1, h2, .section-title)").first.inner_text())
    assert titles == ["Sums", "One and one", "Products", "Products"]
    page.keyboard.press("k")
    bridge = "A detour showed what a factor is."
    assert page.locator(".slide-heading").inner_text().split("\n")[-1] == bridge


def test_the_end_is_said(talk):
    page = talk(present="1", at="products")
    for _ in range(4):
        page.keyboard.press("PageDown")
    expect(page.locator(".slide-said")).to_have_text("This was the last slide.")


def test_a_clicker_goes_on_from_the_field_of_a_question_and_escape_leaves_it(talk):
    page = talk(present="1", at="products")
    field = page.locator(".question input:not([disabled])").first
    field.fill("7")
    field.press("Enter")
    expect(field).to_be_focused()
    before = count(page)
    page.keyboard.press("Escape")
    expect(field).not_to_be_focused()
    assert count(page) == before, "the talk goes on"
    field.focus()
    page.keyboard.press("PageDown")
    page.locator(".slide-body .held-mark").first.wait_for(state="attached")
    page.locator(".question input:not([disabled])").first.focus()
    page.keyboard.press("PageUp")
    expect(page.locator(".question input:focus")).to_have_count(0)


def test_the_outline_over_a_talk_marks_the_section_that_is_shown(talk):
    page = talk(present="1", at="ones")
    for section in ("One and one", "A detour"):
        page.keyboard.press("o")
        here = page.locator("dialog .outline [aria-current]")
        expect(here).to_contain_text(section)
        page.keyboard.press("Escape")
        page.locator("dialog").wait_for(state="detached")
        page.keyboard.press("n")


ASKED = '''
def main():
    """A talk."""
    a()


def a():
    """Asks."""
WORDS
    # Take a half.
    half = 21
    # Which is so much twice: 42.
    assert 2 * half == 42  # @predict
    # And that is all.
    rest = 1
'''
WORDS = "    # More of the same, again and again, until the page is full.\n    #\n"
TOPS = """() => [...document.querySelectorAll(".slide-body [data-slide-page]")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.matches(".again"))
    .map((e) => [e.innerText.trim(), e.getBoundingClientRect().top])"""


def test_a_page_that_asks_at_once_says_again_what_about_also_when_that_is_answered(page, show):
    page.set_viewport_size({"width": 1280, "height": 480})
    shown = 0
    for number in range(3, 9):
        source = ASKED.replace("WORDS\n", number * WORDS)
        show(page, trace_source(source), at="a", present="1")
        page.locator(".slide-part").wait_for()
        painted(page)
        turn_to(page, ".slide-body .question")
        painted(page)
        before = page.evaluate(TOPS)
        page.keyboard.press("PageDown")
        page.locator(".slide-body .held-mark").first.wait_for(state="attached")
        painted(page)
        assert page.evaluate(TOPS) == before
        page.evaluate("localStorage.clear()")  # else it is answered on the next page, too
        shown += any("half" in text for text, _ in before)
    assert shown > 0
