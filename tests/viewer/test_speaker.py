"""The window of the speaker: notes, a clock, what is shown and what comes next."""

import re

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import painted, show_everything
from tests.viewer.test_present import parts


@pytest.fixture
def speaker(page, show):
    show(page, documents.with_note("Ask who has **seen** it."))
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    window = opened.value
    window.locator(".speaker-notes").wait_for()
    yield page, window
    if not window.is_closed():
        window.close()


def test_the_speaker_has_notes_a_clock_and_the_next_slide(speaker):
    page, window = speaker
    assert window.locator(".speaker-notes > h1").inner_text() == "Small numbers"
    assert "No notes" in window.locator(".speaker-notes").inner_text()
    window.locator(".speaker-current .slide .section-title", has_text="Small numbers").wait_for()
    following = window.locator(".speaker-next")
    expect(following.locator("> h2")).to_have_text("Next: more of this slide")
    expect(window.locator(".speaker-later li").first).to_contain_text("Views share storage")
    page.keyboard.press("PageDown")  # its last page
    window.locator(".speaker-current .slide .line:visible", has_text="total").first.wait_for()
    following.locator("> h2", has_text=re.compile("^Next: Views share storage")).wait_for()
    following.locator(".slide .line", has_text="make").wait_for()
    assert re.search(r"0:0\d", window.locator(".speaker-clock").inner_text())
    window.locator(".speaker-clock b", has_text=re.compile("0:0[1-9]")).wait_for()  # it runs
    page.keyboard.press("n")
    window.locator(".speaker-notes > h1", has_text="Views share storage").wait_for()
    note = window.locator(".speaker-notes strong")
    assert note.inner_text() == "seen"
    size = note.evaluate("e => parseFloat(getComputedStyle(e).fontSize)")
    assert size >= 24, "it is read at arm's length"
    assert following.locator("> h2").inner_text().endswith("the end")


def test_the_speaker_sees_the_slide_as_it_is_shown_and_its_next_page(presented):
    page = presented
    page.set_viewport_size({"width": 1280, "height": 230})
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    window = opened.value
    page.keyboard.press("n")
    page.locator(".slide-part").wait_for()
    for number in range(parts(page) - 1):
        painted(page)
        here = window.locator(".speaker-current .slide [data-slide-page]:visible")
        here.first.wait_for()
        expected = page.locator(f'.slide-body [data-slide-page="{number}"]').all_inner_texts()
        assert here.all_inner_texts() == expected
        following = window.locator(".speaker-next .slide [data-slide-page]:visible")
        assert following.first.get_attribute("data-slide-page") == str(number + 1)
        page.keyboard.press("PageDown")
        window.get_by_text(f"part {number + 2} of").wait_for()
    window.close()


def test_a_narrow_window_shows_the_speaker_what_comes_next_too(speaker):
    window = speaker[1]
    window.set_viewport_size({"width": 600, "height": 800})
    following = window.locator(".speaker-next .thumbnail")
    following.scroll_into_view_if_needed()
    expect(following).to_be_visible()


def test_the_speaker_sees_whether_the_minutes_suffice(speaker):
    page, window = speaker
    assert window.locator(".speaker-pace").count() == 0
    window.get_by_label("min", exact=False).fill("90")
    window.keyboard.press("Tab")
    assert window.locator(".speaker-pace").inner_text() == "on time"
    page.keyboard.press("n")
    window.locator(".speaker-pace.ahead", has_text=re.compile(r"^\d+ min ahead$")).wait_for()
    window.locator(".speaker-clock").click()  # the time begins anew, here
    window.locator(".speaker-pace", has_text="on time").wait_for()
    page.keyboard.press("Escape")
    page.locator(".bar").wait_for()
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    with page.expect_popup() as again:
        page.keyboard.press("s")
    assert again.value.get_by_label("min", exact=False).input_value() == "90"
    again.value.close()


def test_the_windows_are_in_step(speaker):
    page, window = speaker
    window.keyboard.press("n")
    page.locator(".slide-count", has_text="2 / 2").wait_for()
    window.keyboard.press("b")
    page.locator(".slide-blank").wait_for()
    assert "blank" in window.locator(".speaker-place").inner_text()
    window.get_by_role("button", name="Back by as much").click()  # brings the screen back
    page.locator(".slide-blank").wait_for(state="detached")
    with window.expect_event("close"):
        page.keyboard.press("Escape")
    page.locator(".bar").wait_for()


def test_notes_are_seen_by_the_speaker_alone(page, show):
    show(page, documents.with_note("Ask who has **seen** it."), at="views")
    assert "Ask who" not in page.locator("body").inner_text()
    show_everything(page)
    assert "Ask who" not in page.locator("body").inner_text()
    page.keyboard.press("r")
    page.locator("#stepping .program-line").first.wait_for()
    assert "Ask who" not in page.locator("body").inner_text()
    page.keyboard.press("/")
    page.locator(".search-field").fill("Ask who")
    page.get_by_text("Nothing that ran contains").wait_for()


def test_a_browser_that_opens_no_window_is_said_so(presented):
    presented.evaluate("() => { window.open = () => null; }")
    presented.keyboard.press("s")
    assert "opened no window" in presented.get_by_role("alert").inner_text()


EXERCISE = """
def main():
    begin()
    exercise_twice()
    long()


def begin():
    "Begin."
    one = 1


def exercise_twice():  # @exercise
    "Exercise: what is twice 21?"
    twice = 2 * 21
    assert twice == 42


def long():
    "A long one."
    half = 21
    assert 2 * half == 42  # @predict
    # What follows the question.
    other = 3
"""

LONG = EXERCISE + "\n".join(f"    # Paragraph {number} of it.\n\n" for number in range(30))


def open_speaker(page):
    with page.expect_popup() as opened:
        page.keyboard.press("s")
    opened.value.locator(".speaker-notes").wait_for()
    return opened.value


@pytest.fixture
def at_exercise(page, show):
    show(page, trace_source(LONG), at="exercise_twice", present="1")
    page.locator(".slide .solution").wait_for()
    return page


def test_the_speaker_sees_a_solution_that_was_opened(at_exercise):
    window = open_speaker(at_exercise)
    expect(window.locator(".speaker-next > h2")).to_have_text("Next: the answer")
    expect(window.locator(".speaker-next > h3")).to_have_text("Then: A long one")
    window.locator(".speaker-next .thumbnail .section-title", has_text="A long one").wait_for()
    at_exercise.keyboard.press("PageDown")
    shown = window.locator(".speaker-current .solution .line", has_text="assert twice")
    shown.wait_for()
    expect(window.locator(".speaker-next > h2")).to_have_text("Next: A long one")


def test_the_speaker_sees_answers_before_the_audience_does(at_exercise):
    window = open_speaker(at_exercise)
    answers = window.locator(".speaker-answers li")
    expect(answers).to_have_text(["twice == 42"])
    at_exercise.keyboard.press("PageDown")
    expect(answers).to_have_count(0)
    at_exercise.keyboard.press("n")
    expect(answers).to_have_text(["2 * half == 42"])
    at_exercise.keyboard.press("PageDown")
    expect(answers).to_have_count(0)
    window.close()


def test_the_speaker_sees_the_first_page_of_the_next_slide_up_to_its_question(at_exercise):
    window = open_speaker(at_exercise)
    at_exercise.keyboard.press("PageDown")
    following = window.locator(".speaker-next .thumbnail")
    following.locator(".question").wait_for()
    painted(window)
    expect(following.get_by_text("What follows the question.")).to_be_hidden()
    first = following.locator("[data-slide-page='0']").all_inner_texts()
    assert following.get_by_text("Paragraph 29 of it.").is_hidden()
    at_exercise.keyboard.press("n")
    at_exercise.locator(".slide-part").wait_for()
    painted(at_exercise)
    own = at_exercise.locator(".slide [data-slide-page='0']").all_inner_texts()
    assert first[:2] == own[:2]
    at_exercise.keyboard.press("PageDown")
    window.get_by_role("heading", name="Next: more of this slide").wait_for()
    after = window.locator(".speaker-next [data-slide-page='1']:visible")
    after.first.wait_for()
    window.close()


def test_the_next_slide_is_seen_in_type_of_the_usual_size(at_exercise):
    window = open_speaker(at_exercise)
    at_exercise.keyboard.press("PageDown")
    thumbnail = window.locator(".speaker-next .thumbnail")
    thumbnail.locator(".question").wait_for()
    sizes = """frame => {
        const letters = parseFloat(getComputedStyle(frame.querySelector(".prose > *")).fontSize);
        const wide = parseFloat(frame.style.getPropertyValue("--wide"));
        return [frame.clientWidth, letters / wide, frame.classList.contains("measured")];
    }"""
    width, part, is_measured = thumbnail.evaluate(sizes)
    at_exercise.keyboard.press("n")
    slide = at_exercise.locator(".slide .prose > *").first
    slide.wait_for(state="attached")
    own = slide.evaluate("p => parseFloat(getComputedStyle(p).fontSize)")
    assert not is_measured
    assert width < 800
    assert part * 1280 == pytest.approx(own, rel=0.01)
    window.close()


def test_slides_that_follow_are_named_with_the_numbers_that_lead_there(at_exercise):
    window = open_speaker(at_exercise)
    assert window.locator(".speaker-later li").all_inner_texts() == ["4 A long one"]
    assert "·" not in window.locator(".speaker-place").inner_text()
    at_exercise.keyboard.press("n")
    window.locator(".speaker-later").wait_for(state="detached")
    window.close()


def test_styles_that_come_later_reach_the_window(at_exercise):
    window = open_speaker(at_exercise)
    at_exercise.evaluate("""import("viewer/parts/styles.js")
        .then(({ styled }) => styled("costs.css"))""")
    window.locator("link[href$='costs.css']").wait_for(state="attached")
    window.close()


NOTED = '''
def main():
    """A talk."""
    a()
    b()


def a():
    """Noted."""
    # @note Ask for hands first.
    assert 1 + 1 == 2


def b():
    """Without."""
    assert 2 + 2 == 4
'''


@pytest.mark.parametrize("size", [(1200, 760), (1440, 900), (1920, 1080)])
def test_the_windows_room_is_used_by_the_slide_that_is_shown(size, page, show):
    show(page, trace_source(NOTED), at="a", present="1")
    page.locator(".slide .section-title").wait_for()
    window = open_speaker(page)
    window.set_viewport_size({"width": size[0], "height": size[1]})
    here, following = (
        window.locator(f".speaker-{part} .thumbnail") for part in ("current", "next")
    )
    here.locator(".section-title").wait_for()
    for title in ("Noted", "Without"):
        window.locator(".speaker-notes h1", has_text=title).wait_for()
        painted(window)
        box = here.bounding_box()
        assert box["width"] > 0.44 * size[0]
        if title == "Noted":
            note = window.locator(".speaker-notes .prose").bounding_box()
            assert note["y"] > box["y"] + box["height"]
            assert note["y"] + note["height"] < size[1]
            assert following.bounding_box()["width"] > 0.25 * size[0]
        page.keyboard.press("n")
    window.close()
