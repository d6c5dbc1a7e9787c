"""Where a link leads: to the title of a section, just below the bar, wherever it stands."""

import random
import time

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import VIEWER, quiet_page, settled, show_everything
from tests.viewer.programs import recorded
from tests.viewer.test_book import book
from tests.viewer.test_reading import many_sections

BELOW_THE_BAR = range(44, 90)

SECTIONS = """async () => {
    const { current } = await import("viewer/state/state.js");
    const { placeOfStep } = await import("viewer/model/places.js");
    const { model, sections } = current();
    return sections
        .filter(({ depth }) => depth > 0)
        .map(({ activation, first }) => [activation, placeOfStep(model, first)]);
}"""


def top_of_title(page, activation: int) -> float:
    settled(page)
    box = page.locator(f"#title-{activation}").bounding_box()
    assert box
    return round(box["y"])


def sample(page, count: int) -> list[tuple[int, str]]:
    return random.Random(0).sample(page.evaluate(SECTIONS), count)


def current_entry(page):
    return page.locator(".outline a[aria-current]")


def test_a_click_in_the_outline_lands_on_the_title(page, show):
    show(page, many_sections(60))
    for activation, _ in [*sample(page, 5), (60, "the last one"), (1, "the first one")]:
        page.locator(f'.outline a[data-activation="{activation}"]').click()
        assert top_of_title(page, activation) in BELOW_THE_BAR
        assert current_entry(page).get_attribute("data-activation") == str(activation)


def test_a_link_lands_however_late_the_article_comes(page, site, show):
    """Longer than a place is held that is there already."""
    page.route(
        f"{site.address}views/article.js", lambda route: (time.sleep(2.5), route.continue_())
    )
    show(page, claims_in_sections(50), at="section_40")
    title = page.locator(".section-title", has_text="Section 40")
    title.wait_for()
    settled(page)
    assert round(title.bounding_box()["y"]) in BELOW_THE_BAR


def claims_in_sections(count: int) -> dict:
    numbers = range(1, count + 1)
    return recorded(
        "def main():\n"
        + "".join(f"    section_{number}()\n" for number in numbers)
        + "".join(
            f'\n\ndef section_{number}():\n    "Section {number}."\n'
            f"    x = {number}  # @inspect x\n    assert x == {number}\n"
            for number in numbers
        )
    )


def test_a_key_that_leads_to_a_line_marks_the_section_of_the_line(page, show):
    """Also where its title stands lower than that of a section does when one reads it."""
    show(page, claims_in_sections(20), at="section_8")
    title = page.locator(".section-title", has_text="Section 8")
    title.wait_for()
    settled(page)
    page.mouse.move(1270, 400)
    page.mouse.wheel(0, -200)
    page.wait_for_function(
        "() => document.querySelector('.outline [aria-current]').textContent.includes('Section 7')"
    )
    settled(page)
    page.keyboard.press(".")
    page.locator(".line.in-focus:focus").wait_for()
    title, top = page.locator(".line.in-focus:focus").evaluate(
        """(line) => {
            const title = line.closest(".section").querySelector(".section-title");
            return [/Section \\d+/.exec(title.textContent)[0], title.getBoundingClientRect().top];
        }"""
    )
    assert top > 200
    expect(current_entry(page)).to_contain_text(title)
    page.mouse.wheel(0, -5)
    expect(current_entry(page)).not_to_contain_text(title)


def test_what_grows_above_does_not_push_a_title_away(page, show):
    show(page, many_sections(60), at="91")  # the first step of section 31
    page.locator("#title-31").wait_for()
    page.evaluate("document.querySelector('#activation-29').style.paddingTop = '900px'")
    assert top_of_title(page, 31) in BELOW_THE_BAR


def test_who_scrolls_is_not_held(page, show):
    show(page, many_sections(60), at="91")
    page.locator("#title-31").wait_for()
    page.wait_for_function(
        "() => document.querySelector('#title-31').getBoundingClientRect().top < 90"
    )
    page.locator(".waiting").first.wait_for(state="detached")
    page.evaluate("scrollBy(0, 400)")
    assert top_of_title(page, 31) < 0


@pytest.mark.slow
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_links_into_our_lecture_land_on_titles(context, site, width, height):
    text = (VIEWER / "traces" / "lecture.main.json").read_text(encoding="utf-8")
    site.publish(lecture=text)
    with quiet_page(context, site, width, height) as page:
        page.goto(f"{site.address}#doc=lecture")
        page.locator("#article").wait_for()
        chosen = sample(page, 12)
        for activation, place in chosen:
            page.evaluate("hash => (location.hash = hash)", f"#doc=lecture&at={place}")
            page.locator(f"#title-{activation}").wait_for()
            assert top_of_title(page, activation) in BELOW_THE_BAR, place
        for activation, place in chosen[:2]:
            page.goto("about:blank")
            page.goto(f"{site.address}#doc=lecture&at={place}")
            page.locator(f"#title-{activation}").wait_for()
            assert top_of_title(page, activation) in BELOW_THE_BAR, place


def test_the_address_of_a_chapter_leads_to_its_top(page, show, site):
    """Also from far down in another chapter of the same tab."""
    page.set_viewport_size({"width": 1280, "height": 300})
    show(page, book(), at="programs.py:twos:1.1")
    page.locator("h1", has_text="Adding").wait_for()
    page.wait_for_function("() => scrollY > 200")
    settled(page)
    page.evaluate("location.hash = '#doc=demo&chapter=multiplying'")
    page.locator("h1", has_text="Multiplying").wait_for()
    settled(page)
    assert page.evaluate("scrollY") == 0
    page.wait_for_url(f"{site.address}#doc=demo&chapter=multiplying")


@pytest.mark.parametrize("address", ["doc=demo&at=no_such_section", "no_such_section"])
def test_an_address_that_names_nothing_says_so(page, show, address):
    show(page, documents.small())
    page.evaluate("hash => (location.hash = hash)", f"#{address}")
    page.get_by_role("status").get_by_text(
        "There is no “no_such_section” in this lecture"
    ).wait_for()
    page.locator(".outline a").first.click()
    page.locator(".page-notice").wait_for(state="detached")


def test_the_address_of_a_function_that_did_not_run_shows_its_definition(page, show):
    unused = "def helper():\n    return 1\n\n\n"
    show(page, trace_source(f'{unused}def main():\n    "Title."\n    assert 1\n'), at="helper")
    definition = page.locator(".definition-panel")
    definition.locator("code", has_text="return 1").wait_for()
    assert page.get_by_role("status").get_by_text("There is no").count() == 0


def test_a_claim_on_the_clock_is_one_quiet_line(page, show):
    document = documents.small()
    document["values"].append({"type": "int", "text": "depends on the clock, not recorded"})
    document["claims"]["operands"][1] = [len(document["values"]) - 1] * 2
    document["inspections"]["value"][4] = len(document["values"]) - 1
    show(page, document)
    show_everything(page)
    told = page.locator("#article .on-clock")
    told.first.wait_for()
    assert told.all_inner_texts() == ["depends on the clock: --time measures it"] * 2
    assert "not recorded" not in page.locator("#article").inner_text()
