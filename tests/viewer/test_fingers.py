"""Slides under a finger: swipes and taps at an edge lead further and back."""

import pytest

from tests.tracing import trace_source
from tests.viewer.conftest import painted

TALK = '''
def main():
    """A talk."""
    first()
    second()


def first():
    """First."""
    assert 3 + 4 == 7  # @predict


def second():
    """Second."""
    assert 3 + 3 == 6
'''
WIDTH, HEIGHT = 390, 844
MIDDLE = (WIDTH / 2, HEIGHT / 2)


@pytest.fixture
def talk(browser, site):
    site.publish(demo=trace_source(TALK))
    context = browser.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True
    )
    page = context.new_page()
    page.goto(f"{site.address}#doc=demo&present=1&at=first")
    page.locator(".slide .question").wait_for()
    painted(page)
    yield page
    context.close()


def swipe(page, start, end) -> None:
    """Move one finger, as a hand does: in several steps."""
    session = page.context.new_cdp_session(page)

    def touch(kind, *points):
        points = [{"x": x, "y": y} for x, y in points]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", start)
    for part in range(1, 6):
        moved = [a + (b - a) * part / 5 for a, b in zip(start, end, strict=True)]
        touch("touchMove", moved)
    touch("touchEnd")
    painted(page)


def title(page) -> str:
    return page.locator("main.slide").get_attribute("aria-label")


def is_answered(page) -> bool:
    return page.locator(".slide .question").count() == 0


def test_a_swipe_leads_to_what_comes_next_and_back(talk):
    assert not is_answered(talk)
    left, right = (330, 400), (60, 420)
    swipe(talk, left, right)
    assert (title(talk), is_answered(talk)) == ("First", True)
    swipe(talk, left, right)
    assert title(talk) == "Second"
    swipe(talk, right, left)
    assert title(talk) == "First"


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ((200, 600), (180, 300)),
        ((200, 300), (300, 600)),
        ((200, 400), (175, 400)),
    ],
    ids=["up", "askew", "a little"],
)
def test_other_movements_lead_nowhere(talk, start, end):
    talk.keyboard.press("n")
    swipe(talk, start, end)
    assert title(talk) == "Second"


def test_a_tap_at_an_edge_leads_further_or_back_and_one_within_does_not(talk):
    low = HEIGHT - 200
    talk.touchscreen.tap(*MIDDLE)
    painted(talk)
    assert (title(talk), is_answered(talk)) == ("First", False)
    talk.touchscreen.tap(WIDTH - 12, low)
    painted(talk)
    assert is_answered(talk)
    talk.touchscreen.tap(WIDTH - 12, low)
    painted(talk)
    assert title(talk) == "Second"
    talk.touchscreen.tap(12, low)
    painted(talk)
    assert title(talk) == "First"


def test_a_tap_on_something_of_the_slide_is_for_that(talk):
    talk.locator(".slide .question .quiet-link").tap()
    talk.locator(".slide .question").wait_for(state="detached")
    assert title(talk) == "First"


def test_a_swipe_after_the_presentation_leads_nowhere(talk):
    talk.keyboard.press("Escape")
    talk.locator("main.slide").wait_for(state="detached")
    before = talk.url
    swipe(talk, (330, 400), (60, 420))
    assert talk.url == before


def test_the_number_of_a_line_is_high_enough_for_a_finger_in_step(talk, site):
    talk.goto("about:blank")
    talk.goto(f"{site.address}#doc=demo&mode=step&at=first")
    numbers = talk.locator(".program-line button.line-number")
    numbers.first.wait_for()
    painted(talk)
    heights = numbers.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
    assert len(heights) > 2
    assert min(heights) >= 24


def test_what_one_presses_beside_the_program_is_high_and_wide_enough_for_a_finger(talk, site):
    source = TALK.replace("    assert 3 + 3 == 6", "    i = 1\n    it = [i, i]\n    assert i in it")
    site.publish(demo=trace_source(source))
    talk.goto("about:blank")
    talk.goto(f"{site.address}#doc=demo&mode=step&at=second")
    talk.locator("#stepping .program-line").first.wait_for()
    for _ in range(2):
        talk.keyboard.press("ArrowRight")
    talk.locator(".variable .type").nth(1).wait_for()
    talk.locator(".variable-name button").first.tap()
    painted(talk)
    sizes = talk.locator(".facts button").evaluate_all(
        "all => all.map((one) => one.getBoundingClientRect()).map(({width, height}) =>"
        " [width, height])"
    )
    assert len(sizes) > 8
    assert min(min(size) for size in sizes) >= 24
    tools = talk.locator(".changes button").evaluate_all("all => all.map((one) => one.offsetTop)")
    assert len(tools) == 7
    assert len(set(tools)) == 1, "they have one row"


PRESSED = """(all) => all.map((own) => {
    const { left, top, width, height } = own.getBoundingClientRect();
    const [x, y] = [left + width / 2, top + height / 2];
    const isOwn = (x, y) => own.contains(document.elementFromPoint(x, y));
    const reach = (right, down) => {
        let far = 0;
        while (isOwn(x + right * (far + 1), y + down * (far + 1))) far++;
        return far;
    };
    return isOwn(x, y) && [reach(-1, 0) + reach(1, 0) + 1, reach(0, -1) + reach(0, 1) + 1];
}).filter(Boolean)"""
"""How wide and high that is where a finger presses them, of those that are in sight."""


@pytest.mark.parametrize("size", [(WIDTH, HEIGHT), (HEIGHT, WIDTH)])
def test_a_finger_has_forty_pixels_around_what_it_presses_in_step(size, talk, site):
    source = TALK.replace("    assert 3 + 3 == 6", "    i = 1\n    it = [i, i]\n    assert i in it")
    site.publish(demo=trace_source(source))
    talk.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    talk.goto("about:blank")
    talk.goto(f"{site.address}#doc=demo&mode=step&at=second")
    talk.locator("#stepping .program-line").first.wait_for()
    for _ in range(2):
        talk.keyboard.press("ArrowRight")
    talk.locator(".variable .type").nth(1).wait_for()
    painted(talk)
    lines = talk.locator(".program-line .source").first.bounding_box()["height"]
    for what, count, axes in (
        (".changes .command", 3, [0, 1]),
        (".variable-name > button", 2, [0, 1]),
        (".variable > .type", 2, [1]),
        (".program-line button.line-number", 2, [0]),
        (".timeline-track input", 1, [1]),
    ):
        sizes = talk.locator(what).evaluate_all(PRESSED)
        assert len(sizes) >= count, what
        assert min(found[axis] for found in sizes for axis in axes) >= 40, what
    assert lines < 30, "lines of code are as high as they were"
