"""The lecture of this repository in a browser, laid out once for all that is asked of it here."""

import itertools
import json

import pytest

from tests.viewer.conftest import VIEWER, quiet_page
from tests.viewer.test_present import pages_of, print_to_pdf
from tests.viewer.test_reading import TOO_WIDE, wait_until_laid_out

PUBLISHED = (VIEWER / "traces" / "lecture.main.json").read_text(encoding="utf-8")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def page(context, site):
    """One page for all tests, which leave it as they find it, but for the last."""
    with quiet_page(context, site, 1280, 800) as opened:
        site.publish(lecture=PUBLISHED)
        opened.goto(f"{site.address}#doc=lecture&whole")
        wait_until_laid_out(opened)
        yield opened


def test_it_opens_and_is_stepped_through(page):
    claims = len(set(json.loads(PUBLISHED)["claims"]["statement"]))
    assert page.locator('[data-command="claims"]').inner_text() == f"✓ {claims} claims"
    assert page.locator(".wrong").count() == 0
    for key in ["r", *["ArrowRight"] * 20, "j", "u", "End"]:
        page.keyboard.press(key)
    shown, last = page.locator(".timeline-count").inner_text().split(" / ")
    assert shown == last
    page.keyboard.press("r")
    page.locator("#article").wait_for()


def test_headings_go_down_one_level_at_a_time(page):
    levels = page.locator("#article :is(h1, h2, h3, h4, h5, h6)").evaluate_all(
        "all => all.map((heading) => Number(heading.tagName[1]))"
    )
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.parametrize("width", [1280, 820, 390])
def test_it_is_never_wider_than_the_screen(page, width):
    page.set_viewport_size({"width": width, "height": 844})
    for place in ("#article", "#stepping"):
        page.locator(place).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate(TOO_WIDE) == []
        page.keyboard.press("r")
    page.locator("#article").wait_for()
    page.set_viewport_size({"width": 1280, "height": 800})


def test_it_is_printed(page):
    pdf = print_to_pdf(page)
    sections = page.evaluate(
        """async () => (await import("viewer/state/state.js")).current().sections.length"""
    )
    assert pages_of(pdf) > sections / 3
