"""One section at a time for an audience, and everything at once on paper."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import PATIENCE, VIEWER, painted, settled
from tests.viewer.test_access import rich
from tests.viewer.test_book import book
from tests.viewer.test_page import current_line
from trace.serve.one_file import one_file


def title(page) -> str:
    return page.locator(".slide .section-title").inner_text()


def count(page) -> str:
    return page.locator(".slide-count").inner_text()


def chaptered() -> dict:
    """The small lecture with a chapter heading above the call on line 9, not a docstring."""
    document = documents.small()
    blocks = document["files"][0]["prose"]
    blocks[1] = {
        "first_line": 5,
        "last_line": 8,
        "kind": "comment",
        "text": "## Views\nWhat a view is.",
    }
    return document


def test_the_presentation_begins_where_the_reader_is(page, show):
    show(page, documents.small(), mode="step", at="2")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    assert title(page) == "Views share storage"
    assert count(page) == "2 / 2"
    page.keyboard.press("Escape")
    page.locator("#stepping").wait_for()
    assert current_line(page) == 21


def test_a_slide_shows_one_section_and_nothing_of_the_page(presented):
    assert title(presented) == "Small numbers"
    assert presented.locator(".bar, .sidebar").count() == 0
    assert "views()" not in presented.locator(".slide").inner_text()
    presented.keyboard.press("PageDown")
    expect(presented.locator('[data-step="14"]')).to_be_visible()  # the rest of main
    presented.keyboard.press("n")
    assert title(presented) == "Views share storage"
    assert presented.locator('[data-step="14"]').count() == 0
    expect(presented.locator(".tensor")).to_be_visible()
    large = "parseFloat(getComputedStyle(document.querySelector('.slide .prose')).fontSize)"
    assert presented.evaluate(large) > 20


@pytest.mark.parametrize(
    ("forward", "back"),
    [("PageDown", "PageUp"), ("ArrowRight", "ArrowLeft"), ("Space", "Shift+Space")],
)
def test_clickers_and_arrows_turn_the_slides(presented, forward, back):
    presented.set_viewport_size({"width": 1280, "height": 4000})  # a section fits
    presented.keyboard.press("Home")
    for _ in range(parts(presented)):
        presented.keyboard.press(forward)
    assert count(presented) == "2 / 2"
    presented.keyboard.press(forward)
    assert count(presented) == "2 / 2"
    presented.keyboard.press(back)
    assert count(presented) == "1 / 2"
    for _ in range(2):
        presented.keyboard.press(back)
    assert count(presented) == "1 / 2"


SEEN = """() => [...document.querySelectorAll(".slide-body *")].filter((e) =>
    e.children.length === 0 && e.textContent.trim() &&
    e.checkVisibility({ visibilityProperty: true })
    && !e.closest(".visually-hidden, .line-number, mjx-container"))"""
OUTSIDE = f"""() => ({SEEN})().map((e) => e.getBoundingClientRect())
    .filter(({{ bottom, width }}) => width && bottom > innerHeight).length"""
TEXTS = f"() => ({SEEN})().map((e) => e.textContent.trim())"


def parts(page) -> int:
    return max(1, page.locator(".slide-part i").count())


def test_a_long_section_is_cut_into_pages_that_fit(presented):
    presented.set_viewport_size({"width": 1280, "height": 230})
    presented.keyboard.press("n")
    presented.locator(".slide-part").wait_for()
    number = parts(presented)
    assert number > 1
    seen = []
    for place in range(number):
        assert count(presented) == "2 / 2"
        assert presented.evaluate("document.documentElement.scrollHeight <= innerHeight")
        assert presented.evaluate(OUTSIDE) == 0, "nothing is cut in the middle"
        assert presented.locator(".slide-part i").nth(place).get_attribute("class") == "here"
        seen += presented.evaluate(TEXTS)
        presented.keyboard.press("PageDown")
    for text in ["A view moves no data.", "make"]:
        assert sum(text in piece for piece in seen) == 1, "each piece stands on one page"
    for place in reversed(range(number - 1)):
        presented.keyboard.press("PageUp")
        assert presented.locator(".slide-part i").nth(place).get_attribute("class") == "here"
    presented.keyboard.press("PageUp")
    assert count(presented) == "1 / 2"
    last = presented.locator(".slide-part i").last
    assert last.get_attribute("class") == "here", "going back one comes to the end of a slide"
    presented.keyboard.press("End")
    assert count(presented) == "2 / 2"
    presented.keyboard.press("Home")
    assert count(presented) == "1 / 2"


def test_a_slide_that_fits_a_larger_window_is_cut_anew(presented):
    presented.set_viewport_size({"width": 1280, "height": 230})
    presented.keyboard.press("n")
    presented.locator(".slide-part").wait_for()
    presented.set_viewport_size({"width": 1280, "height": 2000})
    presented.locator(".slide-part").wait_for(state="detached")


def test_figures_grow_with_the_page_and_are_seen_whole(page, show):
    letter = '<text font-size="9">a</text>'
    small = f'<svg xmlns="http://www.w3.org/2000/svg" width="200" height="{{}}">{letter}</svg>'
    drawn = [{"type": "Picture", "svg": small.format(height)} for height in (60, 3000)]
    show(page, documents.with_values(*drawn), mode="step", at="2")
    page.keyboard.press("P")
    page.locator(".slide .picture svg").first.wait_for(state="attached")
    page.wait_for_function("() => document.querySelectorAll('.resized').length === 2")
    size = "e => { const { width, height } = e.getBoundingClientRect(); return [width, height]; }"
    sizes = page.locator(".slide .picture svg").evaluate_all(
        "all => all.map((e) => e.parentElement.style.zoom)"
    )
    assert float(sizes[0]) > 1.5
    assert float(sizes[1]) < 0.5
    while not page.locator(".slide .picture svg").nth(1).is_visible():
        page.keyboard.press("PageDown")
    assert page.locator(".slide .picture svg").nth(1).evaluate(size)[1] < 800


LOOP = """
def main():
    rounds()


def rounds():
    "Rounds."
{before}
    total = 0
    for number in range(3):
        half = number / 2
        other = half + 1
        total += other  # @inspect total
        half = other
        other = half
    assert total == 4.5
"""


ANNOUNCED = """
def main():
    parts()


def parts():
    "Parts."
{before}
    # So all of these are equal, as the next lines say:
    first = 1
    second = first
    third = second
    fourth = third
    fifth = fourth
    sixth = fifth
    assert sixth == first
"""


@pytest.mark.parametrize("height", [300, 320, 340])
def test_a_sentence_that_announces_code_is_on_the_slide_of_the_code(height, page, show):
    before = "\n".join(f"    # Words {number}.\n    {number}" for number in range(4))
    show(page, trace_source(ANNOUNCED.format(before=before)), at="1")
    page.set_viewport_size({"width": 1280, "height": height})
    page.keyboard.press("P")
    page.locator(".slide p:has-text('the next lines say')").wait_for(state="attached")
    place = "e => e.closest('[data-slide-page]')?.dataset.slidePage"
    page.wait_for_function("() => document.querySelector('.slide p[data-slide-page]')")
    announced = page.locator(".slide p:has-text('the next lines say')").evaluate(place)
    code = page.locator(".slide .line:has-text('first = 1')").evaluate(place)
    assert announced == code


SENTENCE = """
def main():
    parts()


def parts():
    "Parts."
{before}
    # So with many small tiles
    {between}
    # $$a = b.$$
{after}
"""


@pytest.mark.parametrize("between", ["#", "second = 2"])
def test_a_sentence_that_ends_in_a_formula_is_on_the_slide_of_the_formula(between, page, show):
    lines = [f"    # Words {number}.\n    {number}" for number in range(6)]
    before, after = "\n".join(lines[:3]), "\n".join(lines[3:])
    show(page, trace_source(SENTENCE.format(before=before, between=between, after=after)), at="1")
    page.keyboard.press("P")
    place = "e => e.closest('[data-slide-page]')?.dataset.slidePage"
    page.locator(".slide .katex-display").wait_for(state="attached")
    for height in range(320, 440, 20):
        page.set_viewport_size({"width": 1280, "height": height})
        painted(page)
        words = page.locator(".slide p:has-text('many small tiles')").evaluate(place)
        assert page.locator(".slide .katex-display").evaluate(place) == words, height


@pytest.mark.parametrize("lines", range(3, 12, 2))
def test_a_loop_is_on_one_slide_with_its_slider(lines, page, show):
    before = "\n".join(f"    # Words {number}.\n    {number}" for number in range(lines))
    show(page, trace_source(LOOP.format(before=before)), at="1")
    page.set_viewport_size({"width": 1280, "height": 500})
    page.keyboard.press("P")
    slider, body = page.locator(".slide .scrubber"), page.locator(".slide .line:has-text('half')")
    body.first.wait_for(state="attached")
    for _ in range(6):
        painted(page)
        if slider.is_visible() or body.last.is_visible():
            break
        page.keyboard.press("PageDown")
    for part in (slider, body.first, body.last):
        expect(part).to_be_visible()


def test_words_and_figures_have_the_room_of_values_where_there_are_none(page, show):
    letter = '<text font-size="9">a</text>'
    wide = f'<svg xmlns="http://www.w3.org/2000/svg" width="600" height="200">{letter}</svg>'
    show(page, documents.with_values({"type": "Picture", "svg": wide}), mode="step", at="2")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.keyboard.press("P")
    page.locator(".slide .picture.resized svg").wait_for(state="attached")
    while not page.locator(".slide .picture svg").is_visible():
        page.keyboard.press("PageDown")
    painted(page)
    assert page.locator(".slide .picture svg").bounding_box()["width"] > 0.7 * 1920


LONG_LINES = """
def main():
    values()


def values():
    "Values."
    numbers = [1, 2, 3]  # @inspect numbers
    # Words between.
    total = sum(numbers)  # @inspect total
    wanted = total + total + total + total + total + total + total + total + total + total + total
    assert total == 6
    # What follows has no values beside it.
    other = total + total + total + total + total + total + total + total + total + total + total
    assert other + other + other + other + other + other + other + other == 8 * 11 * total
"""

OVERLAPS = """() => {
    const boxes = (kind) => [...document.querySelectorAll(kind)]
        .filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
    return boxes(".slide .beside-line").filter((value) => boxes(".slide .wide").some((line) =>
        line.right > value.left && line.top < value.bottom - 2 && line.bottom > value.top + 2
    )).length;
}"""


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_code_without_values_beside_it_has_their_room(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(LONG_LINES), at="1")
    page.keyboard.press("P")
    long = page.locator(".slide .line", has_text="other = total")
    while not long.is_visible():
        page.keyboard.press("PageDown")
        painted(page)
    expect(page.locator(".slide .beside-line").first, "of the same slide").to_be_visible()
    letter = page.locator(".slide .line", has_text="numbers = ").bounding_box()["height"]
    assert long.bounding_box()["height"] < 1.9 * letter, "it is not broken"
    assert page.evaluate(OVERLAPS) == 0
    ends = page.locator(".slide .wide, .slide .held-mark").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect().right)"
    )
    assert max(ends) <= size[0]


OPENED = """
def main():
    a()


def widened(one):  # @stepover
    "Add a number many times, in a line that is longer than what is left of a slide beside it."
    return one + one + one + one + one + one + one + one + one + one + one + one + one + one + one


def a():
    "A section."
    assert widened(1) == 15
"""


@pytest.mark.parametrize("size", [(1024, 768), (1280, 720)])
def test_the_code_of_an_opened_function_ends_on_the_slide(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(OPENED), at="1")
    page.keyboard.press("P")
    page.keyboard.press("End")
    code = page.locator(".slide .folded-body .source-line", has_text="return")
    code.first.wait_for(state="attached")
    painted(page)
    ends = page.locator(".slide .source-line").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect().right)"
    )
    assert 0 < max(ends) <= size[0]


VALUES_IN_THE_WAY = """
def main():
    values()


def values():
    "Values."
    one = [1, 2, 3]  # @inspect one
    total = one[0] + one[1] + one[2] + one[0] + one[1] + one[2] + one[0] + one[1]  # @inspect total
    for number in (one[0] + one[1] + one[2], one[0] + one[1] + one[2], one[1]):
        half = number / 2
    assert half == 1.0
    # Words beside which nothing stands have the width of the slide, in which these very words find
    # room on fewer lines than in their usual measure, that is for reading.
    assert total == 15
"""

CODE_UNDER = """() => {
    const seen = (kind) => [...document.querySelectorAll(kind)].filter((e) => e.checkVisibility())
        .map((e) => e.getBoundingClientRect());
    const code = seen(".slide .source-line, .slide .held-mark, .slide .prose > *");
    return seen(".slide .beside-line, .slide .scrubber").filter((value) => code.some((box) =>
        box.right > value.left && box.left < value.right
        && box.bottom > value.top + 3 && box.top < value.bottom - 3
    )).length;
}"""
BROKEN = """(lines) => lines.filter((line) =>
    line.getBoundingClientRect().height > 1.5 * parseFloat(getComputedStyle(line).lineHeight)
).length"""


@pytest.mark.parametrize("size", [(1024, 768), (1280, 720), (1920, 1080)])
def test_values_give_way_to_code_and_words_have_the_width_of_the_slide(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(VALUES_IN_THE_WAY), at="1")
    page.keyboard.press("P")
    page.locator(".slide .beside-line").first.wait_for(state="attached")
    words = page.locator(".slide .prose p", has_text="Words beside which")
    for _ in range(4):
        painted(page)
        assert page.locator(".slide .source-line").evaluate_all(BROKEN) == 0
        assert page.evaluate(CODE_UNDER) == 0, "values are beside or below code"
        assert page.evaluate(OUTSIDE) == 0
        if words.is_visible():
            break
        page.keyboard.press("PageDown")
    assert words.bounding_box()["width"] > 0.75 * size[0]


FONT_SIZE = "e => parseFloat(getComputedStyle(e).fontSize)"


def type_size(page) -> float:
    return page.locator(".slide .prose").first.evaluate(FONT_SIZE)


HEADED = """
import contextlib


def main():
    a()


def a():
    "Title."
    with contextlib.nullcontext():
        if 1 + 1 == 2:
{body}
"""


@pytest.mark.parametrize("size", [(1280, 560), (1280, 500), (900, 620), (390, 844)])
def test_code_that_goes_on_within_a_block_stands_below_what_heads_it(size, page, show):
    body = "\n".join(
        f"            x{line} = {line}\n            # Words {line}." for line in range(40)
    )
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(HEADED.format(body=body)), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide-part").wait_for()
    count = page.locator(".slide-part i").count()
    assert count > 2
    for _ in range(count - 1):
        page.keyboard.press("PageDown")
        painted(page)
        lines = page.locator(".slide .line:visible pre").all_inner_texts()
        assert [line.strip() for line in lines[:2]] == [
            "with contextlib.nullcontext():",
            "if 1 + 1 == 2:",
        ]
        assert page.evaluate(OUTSIDE) == 0


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_type_is_larger_where_a_slide_has_few_words_and_no_code(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    section = 'def main():\n    a()\n\n\ndef a():\n    """Title.\n\n    {}\n    """\n'
    many = "\n\n    ".join(["Many words on a slide. " * 8] * 4)
    sizes, frames = [], []
    for words in ("Few words.", many):
        show(page, trace_source(section.format(words)), at="1")
        page.keyboard.press("P")
        page.locator(".slide").wait_for()
        page.keyboard.press("End")
        page.locator(".slide .prose", has_text="words").wait_for()
        painted(page)
        assert page.evaluate(OUTSIDE) == 0
        assert page.locator(".slide-part").count() == 0
        sizes.append(type_size(page))
        frames.append(page.locator(".slide-count").evaluate(FONT_SIZE))
    assert frames[0] == frames[1], "what frames the slides is as large on each"
    assert sizes[0] > 1.1 * sizes[1]
    assert sizes[1] >= 22 * size[1] / 1080, "it is read from the last row"


LONG_LOOP = """
def main():
    rounds()


def rounds():
    "Rounds."
    # Words.
    first = 1
    for number in range(3):
        one = number
        # Words between.
{body}
        assert one == number
"""


def test_the_first_line_of_a_long_loop_is_not_left_behind(page, show):
    body = "\n".join(f"        two = {line}\n        # Words {line}." for line in range(20))
    show(page, trace_source(LONG_LOOP.format(body=body)), at="1")
    page.set_viewport_size({"width": 1280, "height": 560})
    for height in range(400, 700, 30):
        page.set_viewport_size({"width": 1280, "height": height})
        page.keyboard.press("P")
        header, body = (
            page.locator(".slide .line", has_text=text) for text in ("range(3)", "one = n")
        )
        header.wait_for(state="attached")
        painted(page)
        while not header.is_visible():
            page.keyboard.press("PageDown")
            painted(page)
        expect(body).to_be_visible()
        page.keyboard.press("Escape")
        page.locator(".bar").wait_for()


def test_going_on_answers_what_a_slide_asks(page, show):
    source = (
        'def main():\n    a()\n\n\ndef a():\n    """Asks."""\n    assert 6 * 7 == 42  # @predict\n'
    )
    show(page, trace_source(source), at="1")
    settled(page)  # what the reader went to counts, although the page is at its top
    page.keyboard.press("P")
    page.locator(".slide .question").wait_for()
    page.keyboard.press("PageDown")
    page.locator(".slide .held-mark").wait_for()
    assert page.locator(".slide .question").count() == 0
    assert "42" in page.locator(".slide").inner_text()


DRAWN_ABOVE = """
class Drawing:
    def _repr_svg_(self):
        size = 'width="300" height="HEIGHT"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}><text y="50">4242</text></svg>'


def main():
    a()


def a():
    "Asks."
    half = 2121
    drawing = Drawing()  # @inspect drawing
    # How much is it twice?
    assert half + half == 4242  # @predict
"""


def go_to_the_question(page) -> None:
    """Of the last slide."""
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .question").wait_for(state="attached")
    painted(page)
    while not page.locator(".slide .question:visible").count():
        page.keyboard.press("PageDown")
        painted(page)


@pytest.mark.parametrize("height", [60, 600], ids=["beside the question", "on a page of its own"])
def test_a_figure_that_waits_above_its_question_comes_after_the_answer(height, page, show):
    show(page, trace_source(DRAWN_ABOVE.replace("HEIGHT", str(height))), at="1")
    go_to_the_question(page)
    assert page.locator(".slide .veiled").count() == 1
    page.keyboard.press("PageDown")
    expect(page.locator(".slide .line", has_text="== 4242")).to_be_visible()
    expect(page.locator(".slide .drawn")).not_to_be_visible()
    page.keyboard.press("PageDown")
    expect(page.locator(".slide .drawn")).to_be_visible()
    page.keyboard.press("PageUp")
    expect(page.locator(".slide .line", has_text="== 4242")).to_be_visible()


def test_a_figure_that_is_fetched_after_its_page_is_shown_stays_there(page, show):
    held = []
    page.route("**/parts/picture.js", lambda route: held.append(route))
    show(page, trace_source(DRAWN_ABOVE.replace("HEIGHT", "600")), at="1")
    go_to_the_question(page)
    page.keyboard.press("PageDown")
    answer = page.locator(".slide .line", has_text="== 4242")
    expect(answer).to_be_visible()
    painted(page)
    page.keyboard.press("PageDown")
    painted(page)
    held.pop().continue_()
    expect(page.locator(".slide .drawn")).to_be_visible()
    painted(page)
    page.keyboard.press("PageUp")
    painted(page)
    assert answer.is_visible()
    assert not page.locator(".slide .drawn").is_visible()


ASKED = """
def main():
    a()


def a():
    "Asks."
{before}
    # Take a number.
    number = 1234
    # What is its half?
    assert number / 2 == 617  # @predict
{after}
"""


@pytest.mark.parametrize("before", [2, 3, 4, 5])
def test_a_question_stands_on_the_page_of_what_it_asks_about(before, page, show):
    words = [f"    # Words {one}.\n    #" for one in range(12)]
    texts = {"before": "\n".join(words[:before]), "after": "\n".join(words[before:])}
    show(page, trace_source(ASKED.format(**texts)), at="1")
    page.set_viewport_size({"width": 1280, "height": 520})
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    painted(page)
    while not page.locator(".slide .question:visible").count():
        page.keyboard.press("PageDown")
        painted(page)
    expect(page.locator(".slide .line", has_text="number = 1234")).to_be_visible()
    expect(page.locator(".slide p", has_text="Take a number.")).to_be_visible()


LONG_TABLE = """
class Table:
    def _repr_markdown_(self):
        rows = "".join(f"| {row} | row number {row} |\\n" for row in range(400))
        return "| term | meaning |\\n| --- | --- |\\n" + rows


def main():
    a()


def a():
    "A long table."
    table = Table()  # @inspect table
"""


def test_a_table_that_no_page_holds_is_cut_between_its_rows(page, show):
    show(page, trace_source(LONG_TABLE), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide-part", has_text="part 1 /").wait_for()
    seen = []
    parts = int(page.locator(".slide-part").inner_text().split("/")[1])
    for part in range(1, parts + 1):
        page.locator(".slide-part", has_text=f"part {part} /").wait_for()
        rows = page.locator(".slide tbody tr:visible")
        seen += [row.split("\t")[0].strip() for row in rows.all_inner_texts()]
        if rows.count():
            box = rows.last.bounding_box()
            assert box["y"] + box["height"] <= page.viewport_size["height"]
        page.keyboard.press("PageDown")
    assert seen == [str(row) for row in range(400)]


ANSWERED_ABOVE_VALUES = """
def main():
    a()


def a():
    "Asks."
    one = 617
    assert one + one == 1234  # @predict
    rates = {  # @inspect rates
        key: one / key for key in range(1, 9) if "{letters}"
    }
    assert len(rates) == 8
"""


@pytest.mark.parametrize("letters", [8, 20])
def test_values_that_come_with_an_answer_are_whole_where_there_is_room(letters, page, show):
    source = ANSWERED_ABOVE_VALUES.replace("{letters}", letters * "x")
    show(page, trace_source(source), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .question:visible").wait_for()
    page.keyboard.press("PageDown")
    page.locator(".slide .line:visible", has_text="len(rates)").wait_for()
    painted(page)
    values = page.locator(".slide .beside-line", has_text="rates")
    assert values.locator(".beside-more").all_inner_texts() in ([], [""])
    assert "308.5" in values.inner_text()


ASKED_BEFORE_A_LOOP = """
def main():
    a()


def a():
    "Asks."
    assert 2 * 21 == 42  # @predict
    for half in (21, 22):
        assert half > 20
"""


def test_no_edge_is_seen_of_code_that_waits_for_an_answer(page, show):
    show(page, trace_source(ASKED_BEFORE_A_LOOP), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .question:visible").wait_for()
    edges = """(rows) => rows
        .filter((row) => getComputedStyle(row).visibility === "visible")
        .filter((row) => parseFloat(getComputedStyle(row).borderLeftWidth) > 0)
        .map((row) => getComputedStyle(row).borderLeftColor)"""
    waiting = page.locator(".slide .row-line:has(> .unrevealed)")
    assert set(waiting.evaluate_all(edges)) == {"rgba(0, 0, 0, 0)"}


@pytest.mark.parametrize("mode", ["read", "step"])
def test_the_address_of_a_slide_opens_it_again(mode, page, show):
    show(
        page,
        trace_source(
            ASKED_BEFORE_A_LOOP.replace("    a()", "    a()\n    b()")
            + '\n\ndef b():\n    "Another."\n    two = 2\n'
        ),
        at="b",
        mode=mode,
    )
    settled(page)
    page.keyboard.press("P")
    page.locator(".slide", has_text="Another").wait_for()
    page.wait_for_url("**&present*")
    page.reload()
    page.locator(".slide", has_text="Another").wait_for()
    page.keyboard.press("Escape")
    page.locator(".bar").wait_for()
    page.wait_for_function("() => !location.hash.includes('present')")


def test_the_address_says_which_part_of_a_slide_is_shown(presented):
    page = presented
    page.set_viewport_size({"width": 1280, "height": 230})
    page.keyboard.press("n")
    page.keyboard.press("PageDown")
    page.wait_for_url("**&present=2&*")
    page.reload()
    expect(page.locator(".slide-part i").nth(1)).to_have_class("here")
    page.keyboard.press("PageUp")
    page.wait_for_url("**&present&*")


NARROW = """
def main():
    a()


def a():
    "Parts."
    three_by_two = matrix()  # @inspect three_by_two
    assert len(three_by_two) == 2


def matrix():
    import torch
    return torch.arange(6.0).view(2, 3)
"""


@pytest.mark.parametrize("size", [(390, 844), (844, 390), (800, 600)])
def test_on_a_narrow_slide_values_stand_below_their_line_and_are_seen(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(NARROW), at="a", present="1")
    cells = page.locator(".slide .beside-line td")
    cells.first.wait_for()
    painted(page)
    for cell in cells.all():
        expect(cell).to_be_in_viewport()
    assert cells.count() == 6
    assert page.locator(".slide .beside-line").bounding_box()["width"] > 200


def test_a_part_that_is_there_only_later_is_shown_when_it_comes(page, show, site):
    """What comes late makes more parts of a slide; here a lower window does."""
    paragraphs = "\n".join(f"    # Paragraph {number}.\n    #" for number in range(60))
    show(
        page, trace_source(f'def main():\n    a()\n\ndef a():\n    "A."\n{paragraphs}\n    x = 1\n')
    )
    page.goto("about:blank")
    page.goto(f"{site.address}#doc=demo&present=9&at=a")
    page.locator(".slide-part i.here").wait_for()
    last = parts(page)
    assert last > 2
    expect(page.locator(".slide-part i").nth(last - 1)).to_have_class("here")
    page.set_viewport_size({"width": 1280, "height": 250})
    expect(page.locator(".slide-part i").nth(8)).to_have_class("here")
    page.keyboard.press("PageUp")
    expect(page.locator(".slide-part i").nth(7)).to_have_class("here")
    page.set_viewport_size({"width": 1280, "height": 260})
    painted(page)
    assert page.locator(".slide-part i.here").count() == 1


def test_it_is_said_how_slides_come_from_now_on(presented):
    for words in ("by claim", "by line", "at once"):
        presented.keyboard.press("i")
        expect(presented.locator("[role=status] .slide-said")).to_contain_text(words)
    expect(presented.locator(".slide-said")).to_have_count(0)


def test_the_title_of_a_lecture_has_an_address_of_its_own(page, show):
    """Its step is also that of the first chapter."""
    show(page, book())
    page.keyboard.press("P")
    page.locator(".slide-count", has_text=re.compile("^1 /")).wait_for()
    page.wait_for_url("**&present")
    page.reload()
    page.locator(".slide-count", has_text=re.compile("^1 /")).wait_for()
    page.keyboard.press("n")
    page.wait_for_url("**&present&at=*")


FOLLOWED = """
def main():
    a()


def a():
    "Asks."
    half = 21
    assert 2 * half == 42  # @predict
    # So the double of that is 84.
    double = 84  # @inspect double
    assert double == 2 * (half + half)
"""


@pytest.mark.parametrize(("reveal", "pressed"), [("all", 0), ("claims", 1), ("steps", 2)])
def test_what_follows_a_question_waits_for_its_answer(reveal, pressed, page, show):
    show(page, trace_source(FOLLOWED), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .question").wait_for(state="attached")
    begin_again(page, reveal)
    for _ in range(pressed):
        expect(page.locator(".slide .question")).not_to_be_visible()
        page.keyboard.press("PageDown")
    expect(page.locator(".slide .question")).to_be_visible()
    words = page.locator(".slide").inner_text()
    assert "half = 21" in words
    assert "84" not in words and "half + half" not in words
    page.keyboard.press("PageDown")
    expect(page.locator(".slide .line", has_text="== 42")).to_be_visible()
    for _ in range(pressed):
        painted(page)
        page.keyboard.press("PageDown")
    expect(page.locator(".slide .line", has_text="half + half")).to_be_visible()
    expect(page.locator(".slide .prose", has_text="is 84")).to_be_visible()


ROWS = """
import torch


def main():
    rows()


def rows():
    "Rows."
    numbers = torch.arange(8) / 4  # @inspect numbers
    longer_name_of_the_same_numbers = numbers + 100  # @inspect longer_name_of_the_same_numbers
"""


def test_a_row_of_numbers_is_seen_whole(page, show):
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, trace_source(ROWS), at="1")
    page.keyboard.press("P")
    page.locator(".slide .slices").last.wait_for()
    painted(page)
    cut = "all => all.filter((e) => e.scrollWidth > e.clientWidth + 1).length"
    assert page.locator(".slide .slices").evaluate_all(cut) == 0
    ends = page.locator(".slide .slices td").evaluate_all(
        "all => all.map((e) => e.getBoundingClientRect().right)"
    )
    assert len(ends) == 16
    assert max(ends) <= 1280


BEFORE_A_FIGURE = """
class Drawing:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" width="600" height="400"><g></g></svg>'


def main():
    high(Drawing())


def high(given):
    "High."
    ends = {f"fp{n}": n / 2 for n in range(8)}  # @inspect ends
    drawing = given  # @inspect drawing
"""


def test_a_figure_on_the_next_page_takes_no_room_from_values(page, show):
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, trace_source(BEFORE_A_FIGURE), at="1")
    page.keyboard.press("P")
    rows = page.locator(".slide .beside-line dl > div")
    rows.first.wait_for()
    page.locator(".slide .picture.resized").wait_for(state="attached")
    painted(page)
    assert not page.locator(".slide .picture").is_visible()
    assert [row.is_visible() for row in rows.all()] == 8 * [True]
    assert page.locator(".slide .is-cut").count() == 0


LONG = """
def main():
    long()


def long():
    "Long."
    line = "a line that is too long to stand beside the code, and stands below"
    said = "\\n".join(f"{line_number}: {line}" for line_number in range(11))  # @inspect said
"""


def test_a_text_below_its_line_is_seen_whole(page, show):
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, trace_source(LONG), at="1")
    page.keyboard.press("P")
    text = page.locator(".slide .below pre.value")
    text.wait_for()
    painted(page)
    assert text.evaluate("e => e.scrollHeight - e.clientHeight") == 0
    assert text.bounding_box()["y"] + text.bounding_box()["height"] < 720


STORY = """
def main():
    story()


def story():
    "Story."
    words = "Once upon a time"
    told = " ".join(24 * [words])  # @inspect told
    length = 1 + len(told)
    of_each = 24
    one = length // of_each
    half = length // 2  # @inspect half
"""


def test_a_text_that_is_cut_says_that_there_is_more(page, show):
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, trace_source(STORY), at="1")
    page.keyboard.press("P")
    place = page.locator(".slide .beside-line", has_text="Once upon").first
    place.wait_for()
    painted(page)
    assert place.locator(".is-clipped").count() == 1
    assert place.locator(".beside-more").inner_text() == "more"


LABEL = """
def main():
    rounds()


def rounds():
    "Rounds."
    for name, number in (("some rather long word", 1), ("another one", 2)):
        assert name, number
    for words in (" ".join(["many"] * 60), "few"):
        assert words
"""


@pytest.mark.parametrize("size", [(1024, 768), (1280, 720), (1920, 1080)])
def test_what_a_loop_binds_is_read_beside_its_slider(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, trace_source(LABEL), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    labels = page.locator(".slide .scrubber-count")
    expect(labels.last).to_be_visible()
    painted(page)
    room = "e => [e.scrollWidth, e.clientWidth, e.getBoundingClientRect().right]"
    whole, shown, _ = labels.first.locator("code").evaluate(room)
    assert whole <= shown
    assert labels.first.inner_text().replace("\n", "").endswith("number = 1, round 1 of 2")
    whole, shown, _ = labels.last.locator("code").evaluate(room)
    assert whole <= shown or shown > 0.4 * size[0], "as much as there is room for"
    for label in labels.all():
        whole, shown, end = label.evaluate(room)
        assert whole <= shown, "which round it is stands behind it"
        assert end <= size[0]
    assert page.evaluate(CODE_UNDER) == 0


TALL = """
def main():
    a()


def a():
    "Asks."
    config = {{f"name_{{n}}": 100 * n for n in range(9, 27)}}  # @inspect config
    one = 1
    total = {total}
    # Words between.
    assert config["name_10"] == 1000  # @predict
    assert total == 25 * one
"""


def test_an_answer_leaves_the_pages_of_a_slide_as_they_are(page, show):
    page.set_viewport_size({"width": 1280, "height": 420})
    show(page, trace_source(TALL.format(total=" + ".join(["one"] * 25))), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .question").wait_for()
    painted(page)
    before = parts(page)
    page.keyboard.press("PageDown")
    answered = page.locator(".slide .line", has_text="== 1000")
    expect(answered).to_be_visible()
    painted(page)
    assert parts(page) == before
    expect(page.locator(".slide .prose", has_text="Words between")).to_be_visible()
    more = page.locator(".slide .beside-more", has_text="18 more rows")
    expect(more).to_be_visible()
    assert page.evaluate(CODE_UNDER) == 0
    more.click()
    expect(page.locator(".slide .opened dt", has_text="name_26")).to_be_visible()
    # Who comes back finds values whole, their rows in columns.
    page.keyboard.press("k")
    page.keyboard.press("n")
    rows = page.locator(".slide .below dt")
    expect(rows.last).to_be_visible()
    painted(page)
    lines = {round(row.bounding_box()["y"]) for row in rows.all()}
    assert len(lines) <= 9 < rows.count() == 18
    assert page.evaluate(OUTSIDE) == 0


def begin_again(page, reveal: str) -> None:
    """Begin a talk anew, in which pages are shown at once, claim by claim or line by line."""
    for _ in range(("all", "claims", "steps").index(reveal)):
        page.keyboard.press("i")
    page.keyboard.press("Escape")
    page.locator(".bar").wait_for()
    settled(page)
    page.keyboard.press("P")
    page.locator(".slide").wait_for()


def revealed(page) -> int:
    """Lines of code that are on the screen."""
    return sum(
        page.locator(".slide .line").evaluate_all(
            "all => all.map((e) => e.checkVisibility({ visibilityProperty: true }))"
        )
    )


def test_a_slide_comes_claim_by_claim_or_line_by_line(presented):
    presented.set_viewport_size({"width": 1280, "height": 2000})
    presented.keyboard.press("n")
    lines = revealed(presented)
    assert lines == 4
    presented.keyboard.press("i")  # claim by claim: what was seen stays
    assert revealed(presented) == 4
    presented.keyboard.press("PageUp")
    assert revealed(presented) == 3
    presented.keyboard.press("PageDown")
    assert (revealed(presented), count(presented)) == (4, "2 / 2")
    presented.keyboard.press("PageUp")
    assert revealed(presented) == 3
    presented.keyboard.press("i")  # line by line
    shown = [revealed(presented)]
    for key in ("PageUp", "PageUp", "PageDown", "PageDown", "PageDown"):
        presented.keyboard.press(key)
        shown.append(revealed(presented))
    assert shown == [3, 1, 0, 1, 3, 4], "a line that did not run is no stop"
    presented.keyboard.press("k")
    assert count(presented) == "1 / 2"
    presented.keyboard.press("Escape")
    presented.locator(".bar").wait_for()
    presented.keyboard.press("P")
    button = presented.locator('.slide-bar [data-command="reveal"]', has_text="by line")
    button.wait_for(state="attached")


CLAIMS_ALONE = """
def main():
    a()


def a():
    "Claims."
    {words}
    assert 1 < 2
    # More words.
    assert 2 < 3
"""


@pytest.mark.parametrize("reveal", ["claims", "steps"])
def test_no_page_is_empty_before_its_first_claim(reveal, page, show):
    show(page, trace_source(CLAIMS_ALONE.format(words='"""Words. """\n    ' * 30)), at="1")
    page.set_viewport_size({"width": 1280, "height": 420})
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    begin_again(page, reveal)
    last = page.locator(".slide .line", has_text="2 < 3")
    for _ in range(60):
        painted(page)
        assert page.evaluate(TEXTS), "something is on the screen"
        if last.evaluate("e => e.checkVisibility({ visibilityProperty: true })"):
            break
        page.keyboard.press("PageDown")
    expect(last).to_be_visible()


HELPED = """
def main():
    a()


def helper(one):  # @stepover
    "Helps."
    two = one + one
    return two + two


def a():
    "A section."
    # Some words.
    one = 1
    # More words.
    assert helper(one) == 4
"""

LEFT_BEHIND = """() => {
    const pieces = [...document.querySelectorAll(".slide-body [data-slide-page]")];
    return pieces.filter((piece, at) => piece.matches(".folded[open] > summary")
        && pieces[at + 1].dataset.slidePage !== piece.dataset.slidePage).length;
}"""


@pytest.mark.parametrize("lines", [1, 13], ids=["short", "nearly as high as a page"])
def test_the_name_of_a_function_is_not_left_behind(lines, page, show):
    helped = HELPED.replace("    two = one + one\n", "    two = one + one\n" * lines)
    show(page, trace_source(helped), at="1")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide .folded[open] > summary").first.wait_for(state="attached")
    for height in range(240, 480, 8):
        page.set_viewport_size({"width": 1280, "height": height})
        painted(page)
        assert page.evaluate(LEFT_BEHIND) == 0


CUT = """
def main():
    values()


def values():
    "Values."
    first = {f"name_{n}": float(n**9) for n in range(12)}  # @inspect first
    last = {f"name_{n}": float(n**8) for n in range(12)}  # @inspect last
    assert first != last
"""


def test_values_that_are_cut_on_a_slide_are_shown_whole_at_a_press(page, show):
    show(page, trace_source(CUT), at="1")
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    place = page.locator(".slide .beside-line.is-cut").first
    place.wait_for()
    before = place.bounding_box()["height"]
    place.locator(".beside-more").click()
    opened = page.locator(".slide .beside-line.opened")
    box = opened.bounding_box()
    assert box["height"] > 2 * before
    assert box["y"] + box["height"] <= 1080
    page.locator(".slide .section-title").click()
    opened.wait_for(state="detached")
    assert page.locator(".slide .is-cut").count() >= 1


def test_a_number_leads_to_its_slide(presented):
    presented.keyboard.press("2")
    prompt = presented.locator(".slide-jump")
    assert "Slide 2 of 2: Views share storage" in prompt.inner_text()
    presented.keyboard.press("Escape")
    prompt.wait_for(state="detached")
    assert count(presented) == "1 / 2"
    for key in ("7", "Backspace", "2", "Enter"):
        presented.keyboard.press(key)
    presented.locator(".slide-count", has_text="2 / 2").wait_for()
    assert prompt.count() == 0
    presented.keyboard.press("1")
    presented.keyboard.press("n")  # is a command again, and no number any more
    assert prompt.count() == 0
    presented.keyboard.press("Enter")
    presented.locator("#stepping").wait_for()


@pytest.mark.parametrize("key", ["b", "."])
def test_the_screen_goes_blank_and_comes_back(presented, key):
    presented.keyboard.press(key)
    blank = presented.locator(".slide-blank")
    box = blank.bounding_box()
    assert (box["width"], box["height"]) == (1280, 800)
    assert blank.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(0, 0, 0)"
    presented.locator("#live", has_text="blank").wait_for(state="attached")
    presented.keyboard.press("PageDown")  # only brings the screen back
    blank.wait_for(state="detached")
    assert count(presented) == "1 / 2"
    presented.keyboard.press(key)
    blank.wait_for()
    presented.keyboard.press(key)
    blank.wait_for(state="detached")


def test_leaving_keeps_the_place(presented, site):
    presented.keyboard.press("n")
    presented.keyboard.press("Escape")
    presented.locator(".bar").wait_for()
    presented.wait_for_url(f"{site.address}#doc=demo&at=main.py:views:1.1")
    assert presented.locator("#article h2").inner_text() == "Views share storage"
    assert presented.locator("html.presenting").count() == 0


def test_escape_closes_a_panel_first(presented):
    presented.keyboard.press("?")
    presented.locator("dialog .keys").first.wait_for()
    presented.keyboard.press("Escape")
    presented.locator("dialog").wait_for(state="detached")
    expect(presented.locator(".slide")).to_be_visible()
    presented.keyboard.press("Enter")
    presented.locator("#stepping").wait_for()


def test_a_panel_leads_to_another_slide(presented):
    presented.keyboard.press("c")
    presented.locator(".claim-entry").first.click()  # x.size == 6
    presented.locator("dialog").wait_for(state="detached")
    presented.locator(".slide-count", has_text="2 / 2").wait_for()
    assert title(presented) == "Views share storage"


def test_each_slide_is_announced(presented):
    presented.keyboard.press("n")
    presented.locator("#live", has_text="Views share storage, 2 of 2").wait_for(state="attached")


def test_a_chapter_has_a_slide_of_its_own(page, show):
    show(page, chaptered())
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    assert count(page) == "1 / 3"
    assert "What a view is" not in page.locator(".slide").inner_text()
    page.keyboard.press("n")
    assert page.locator(".slide-heading").inner_text().split("\n\n") == ["Views", "What a view is."]
    page.keyboard.press("n")
    assert page.locator(".slide-chapter").inner_text() == "Views"


@pytest.mark.parametrize("width", [390, 1024])
def test_from_the_head_of_a_chapter_a_talk_begins_with_its_title(width, page, show):
    page.set_viewport_size({"width": width, "height": 600})
    show(page, book(), chapter="multiplying")
    page.locator(".chapter-head").wait_for()
    settled(page)
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    assert page.locator(".slide h2").first.inner_text().split("\n")[-1] == "Multiplying"
    assert page.locator(".slide").get_by_text("Products.", exact=True).count() == 1


def test_all_words_of_a_chapters_slide_are_on_the_screen(page, show):
    document = chaptered()
    document["files"][0]["prose"][1]["text"] = (
        "## Before we look at views\nHow to read what follows: claims, the meter, the letters "
        "and the units of all that is counted.\n\nSkip it if you have counted bytes before."
    )
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, document)
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("n")
    last = page.locator(".slide-heading p").last
    last.wait_for()
    painted(page)
    box = last.bounding_box()
    assert box["y"] + box["height"] < 720


def test_every_part_of_our_lecture_is_on_a_slide(ask):
    text = (VIEWER / "traces/lecture.main.json").read_text(encoding="utf-8")
    found = ask("slides", json.loads(text))
    assert found[0] == found[1]
    files = sorted((file["path"], file["source"]) for file in json.loads(text)["files"])
    contents = "".join(
        source for path, source in files if path.endswith(("main.py", "contents.py"))
    )
    assert found[2] == re.findall(r"^ +# ## (.+)$", contents, re.MULTILINE)


# Paper ------------------------------------------------------------------------------------------


@pytest.fixture
def printer(page):
    """`printer(page)` lays the page out for paper, as the command does, and gives the PDF."""

    return lambda: print_to_pdf(page)


def print_to_pdf(page) -> bytes:
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.keyboard.press("Control+p")
    page.wait_for_function("() => window.printed", timeout=120_000)
    return page.pdf(prefer_css_page_size=True)


def pages_of(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def displayed(page, selector: str) -> list[bool]:
    return page.locator(selector).evaluate_all(
        "all => all.map((e) => e.checkVisibility({ contentVisibilityAuto: true }))"
    )


@pytest.fixture
def paper(page, show, printer):
    """The rich lecture in a dark theme, laid out for paper and kept so."""
    page.emulate_media(color_scheme="dark")
    show(page, rich())
    pdf = printer()
    page.emulate_media(media="print", color_scheme="dark")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    page.locator(".chart svg").wait_for()
    return page, pdf


def test_paper_has_everything_unfolded_and_nothing_to_press(paper):
    page, pdf = paper
    assert pages_of(pdf) >= 1
    assert page.locator(".waiting").count() == 0
    assert page.locator("details:not([open])").count() == 0
    expect(page.get_by_text("m = n * 2")).to_be_visible()  # in a call that is folded on the screen
    assert not any(displayed(page, ".bar, .sidebar, .line-number, .scrubber button, .quiet-link"))


def test_paper_does_not_follow_a_recursion_to_its_end(page, show, printer):
    document = documents.small()
    document["events"] = [-1, 2, *[-3, 11] * 40, *[12, 0] * 40, 6, 0]
    document["inspections"] = {"event": [], "at": [], "name": [], "value": []}
    document["claims"] = {"statement": [], "step": [], "at": [], "held": [], "operands": []}
    document["output"] = []
    show(page, document)
    assert pages_of(printer()) < 4
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert 4 < page.locator(".folded-body").count() < 8


def test_in_story_paper_has_no_code(page, show, printer):
    show(page, rich())
    page.evaluate(
        """async () => { (await import("viewer/state/state.js")).density.value = "story"; }"""
    )
    printer()
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert not any(displayed(page, "#article .line, #article .evidence, #article .folded"))
    assert any(displayed(page, "#article .prose"))
    assert any(displayed(page, "#article .picture"))


def test_paper_is_light(paper):
    page, _ = paper
    colour = page.evaluate("getComputedStyle(document.body).color")
    assert max(map(int, re.findall(r"\d+", colour)[:3])) < 80
    assert page.locator("html").get_attribute("data-theme") == "light"


def test_links_are_readable_on_paper(paper):
    page, _ = paper
    link = page.locator('.prose a[href="https://example.org/a"]')
    after = "e => getComputedStyle(e, '::after').content"
    assert "https://example.org/a" in link.evaluate(after)


@pytest.mark.parametrize("selector", [".chart", ".picture", ".tensor", ".claim"])
def test_figures_stay_whole_on_paper(paper, selector):
    page, _ = paper
    breaks = page.locator(selector).evaluate_all(
        "all => all.map(e => getComputedStyle(e).breakInside)"
    )
    assert set(breaks) == {"avoid"}


def test_after_printing_the_page_is_as_it_was(page, show, printer):
    page.emulate_media(color_scheme="dark")
    show(page, documents.small(), mode="step", at="5")
    pdf = printer()
    assert pages_of(pdf) >= 1
    page.locator("#stepping").wait_for()
    assert current_line(page) == 27
    page.keyboard.press("r")
    page.locator("#article").wait_for()
    assert page.locator("html").get_attribute("data-theme") != "light"
    page.keyboard.press("t")
    page.keyboard.press("t")
    page.keyboard.press("t")


def test_the_browsers_own_command_lays_out_everything_too(page, show):
    show(page, documents.small())
    page.evaluate("""async () => { await import("viewer/views/print.js"); }""")
    page.pdf()
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.get_by_text("m = n * 2").count() == 1
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    page.locator(".folded-body").wait_for(state="detached")


# A browser that prints lets promises end after its event, and waits for no frame and no timer.
ON_PAPER = """async () => {
    dispatchEvent(new Event("beforeprint"));
    for (let turn = 0; turn < 1000; turn++) await null;
    const found = {
        empty: document.querySelectorAll(".chart-place:empty, .chart:empty").length,
        colours: [...document.querySelectorAll(".chart svg text")].map(
            (text) => getComputedStyle(text).fill),
    };
    dispatchEvent(new Event("afterprint"));
    return found;
}"""


@pytest.mark.parametrize("mode", ["read", "step"])
def test_the_browsers_own_command_draws_charts_for_paper(page, show, mode):
    page.emulate_media(color_scheme="dark")
    show(page, rich())
    page.locator(".chart").wait_for(state="attached")
    page.evaluate(
        "document.querySelector('.chart').scrollIntoView()"
    )  # it may be redrawn meanwhile
    page.locator(".chart svg text").first.wait_for()
    if mode == "step":
        page.keyboard.press("r")
        page.locator("#stepping").wait_for()
    page.evaluate("""async () => { await import("viewer/views/print.js"); }""")
    printed = page.evaluate(ON_PAPER)
    assert printed["empty"] == 0
    assert printed["colours"]
    for colour in printed["colours"]:
        assert max(map(int, re.findall(r"\d+", colour)[:3])) < 150, "dark letters on paper"


UNDRAWN = """() => {
    dispatchEvent(new Event("beforeprint"));
    return [...document.querySelectorAll(".chart-place:empty, .chart:empty")].map(
        (place) => getComputedStyle(place, "::before").content);
}"""


def test_a_chart_that_is_not_drawn_yet_says_so_on_paper(page, show):
    show(page, rich(), mode="step")  # nothing has fetched the libraries
    page.evaluate("""async () => { await import("viewer/views/print.js"); }""")
    page.emulate_media(media="print")
    [said] = page.evaluate(UNDRAWN)
    assert "not drawn yet" in said
    page.locator(".chart svg text").first.wait_for()
    assert page.evaluate(UNDRAWN) == []


def test_an_address_that_is_spelled_out_is_not_printed_twice(page, show, printer):
    document = documents.small()
    document["files"][0]["prose"][3]["text"] = (
        "See <https://example.org/b> and [a paper](https://example.org/a)."
    )
    show(page, document)
    printer()
    page.emulate_media(media="print")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    after = "all => all.map((e) => getComputedStyle(e, '::after').content)"
    assert page.locator("#article .prose a").evaluate_all(after) == [
        "none",
        '" (https://example.org/a)"',
    ]


def test_the_outline_opens_over_a_presentation(presented):
    page = presented
    page.keyboard.press("o")
    page.locator("dialog .outline a", has_text="Views share storage").click()
    page.locator("dialog").wait_for(state="detached")
    assert page.locator(".slide .section-title").inner_text() == "Views share storage"
    page.keyboard.press("Escape")
    page.locator(".sidebar .outline").wait_for()


def test_a_page_in_one_file_presents_and_shows_costs(browser, tmp_path):
    file = tmp_path / "lecture.html"
    file.write_bytes(one_file(json.dumps(rich()).encode(), "demo"))
    context = browser.new_context(offline=True)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    noise = []
    page.on("console", lambda message: message.type == "error" and noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.goto(file.as_uri())
    page.locator("#app main").first.wait_for()
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    assert page.locator(".panel-costs").bounding_box()["width"] > 1000  # has its styles
    page.get_by_role("tab", name="Memory").click()
    page.locator(".memory-legend").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    assert page.locator("html.presenting .slide-bar").count() == 1
    page.keyboard.press("Escape")
    page.locator(".bar").wait_for()
    page.evaluate("() => { window.print = () => { window.printed = true; }; }")
    page.keyboard.press("Control+p")
    page.wait_for_function("() => window.printed")
    assert pages_of(page.pdf()) >= 1
    context.close()
    assert noise == []
