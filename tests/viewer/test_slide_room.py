"""What stands on a slide has the room that is free there."""

import re

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer.conftest import VIEWER, painted
from tests.viewer.test_speaker import open_speaker


def turn_to(page, selector) -> None:
    """Go on until something is on the page that is shown."""
    for _ in range(9):
        if page.locator(selector).is_visible():
            return
        page.keyboard.press("PageDown")
    pytest.fail(f"{selector} is on no page")


TALL_VALUES = '''
def main():
    """A talk."""
    a()


def a():
    """Values reach beyond their page."""
    # What is below the loop on the next page is as wide as that page.
    for number in (1, 2):
        squares = {f"the square of {n}": n * n for n in range(number, 14)}  # @inspect squares
        assert len(squares) == 14 - number
    # Words with nothing beside them have the width of the slide, however high the values are that
    # stand beside the code of the page before: those are not seen here.
    assert number == 2
    # And these stand still further down, after another line of code, where no value is either.
    assert number + 1 == 3
'''

NARROW = """() => [...document.querySelectorAll(".slide-body .prose > p:not(.wide)")]
    .filter((words) => words.dataset.slidePage)
    .filter((words) => {
        const page = words.dataset.slidePage;
        return ![...document.querySelectorAll(".beside-line:not(.below), .scrubber")].some(
            (place) => place.closest("[data-slide-page]")?.dataset.slidePage === page);
    }).length"""


def test_words_are_narrow_only_beside_values_of_their_page(page, show):
    show(page, trace_source(TALL_VALUES), at="a", present="1")
    page.locator(".slide-body .scrubber").wait_for(state="attached")
    pages = set()
    for height in range(300, 700, 20):
        page.set_viewport_size({"width": 1366, "height": height})
        painted(page)
        assert page.evaluate(NARROW) == 0
        pages.add(page.locator(".slide-body p[data-slide-page='1']").count() > 0)
    assert True in pages, "words stand on the second page"


FIGURES = '''
class Figure:
    def __init__(self, width, height):
        self.size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'

    def _repr_svg_(self):
        box = '<rect width="100%" height="100%" fill="red"/>'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {self.size}>{box}</svg>'


def main():
    """A talk."""
    tall()


def tall():
    """A figure on a page of its own."""
    figure = Figure(200, 600)  # @inspect figure
'''


@pytest.mark.parametrize("size", [(1366, 768), (1920, 1080)])
def test_a_figure_alone_on_a_page_has_all_of_it(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    words = "".join(f"    # Paragraph {number} of it.\n    #\n" for number in range(9))
    text = FIGURES.replace("    figure = ", words + "    figure = ")
    text = text + "    # " + "And more words. " * 5 + "\n    #\n" + words
    show(page, trace_source(text), at="tall", present="1")
    page.locator(".slide-body .picture svg").wait_for(state="attached")
    painted(page)
    turn_to(page, ".slide-body .picture svg")
    figure = page.locator(".slide-body .picture svg").bounding_box()
    shown = page.locator(".slide-body [data-slide-page]:not(.off-page)")
    below = max(box["y"] + box["height"] for box in (e.bounding_box() for e in shown.all()))
    assert size[1] * 0.9 < below <= size[1]
    if shown.count() == 1:
        middle = figure["x"] + figure["width"] / 2
        assert abs(middle - size[0] / 2) < 4
        assert figure["height"] > 0.8 * size[1]


CHART = '''
import altair


def drawn():  # @stepover
    values = altair.Data(values=[{"x": n, "y": n * n} for n in range(9)])
    return altair.Chart(values).mark_line().encode(x="x:Q", y="y:Q")


def main():
    """A talk."""
    first()
    second()


def first():
    """First."""
    WORDS
    chart = drawn()  # @inspect chart


def second():
    """Second."""
    chart = drawn()  # @inspect chart
'''


def test_the_speaker_sees_charts_of_the_next_page_and_of_the_next_slide(page, show):
    words = "".join(f"# Paragraph {number} of it.\n    #\n    " for number in range(7))
    show(page, trace_source(CHART.replace("WORDS", words)), at="first", present="1")
    page.locator(".slide-part").wait_for()
    chart = page.locator(".chart")
    expect(page.locator("[data-slide-page='1']").filter(has=chart)).to_have_count(1)
    window = open_speaker(page)
    following = window.locator(".speaker-next .slide .chart svg")
    window.get_by_role("heading", name="Next: more of this slide").wait_for()
    following.wait_for()
    page.keyboard.press("PageDown")
    window.get_by_role("heading", name="Next: Second").wait_for()
    following.wait_for()
    window.close()


def test_the_plot_of_a_chart_grows_with_its_letters(page, show):
    found = []
    chart = CHART.replace('y="y:Q")', 'y="y:Q").properties(height=200)').replace("WORDS", "")
    for size in ((1280, 720), (1920, 1080)):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        show(page, trace_source(chart), at="second", present="1")
        page.locator(".slide-body .chart svg").wait_for(state="attached")
        painted(page)
        turn_to(page, ".slide-body .chart svg")
        plot = page.locator(".slide-body .chart .role-frame path.background").first
        high = plot.evaluate("part => part.getBoundingClientRect().height")
        found.append(high / size[1])
    assert found[0] == pytest.approx(found[1], rel=0.05)


LONG_BELOW = '''
def main():
    """A talk."""
    a()


def a():
    """Values above a line whose own go below it."""
    total_of_all = 30_000
    counts = {f"number {n}": n * n * 1000 for n in range(5)}  # @inspect counts
    percent = [round(100 * part / total_of_all, 2) for part in counts.values()]  # @inspect percent
    assert percent[0] == 0
'''

OVERPRINTED = """() => {
    const boxes = (selector) => [...document.querySelectorAll(`.slide-body ${selector}`)]
        .filter((e) => e.checkVisibility()).map((e) => e.getBoundingClientRect());
    const codes = boxes(".line .source-line");
    return boxes(".beside-line:not(.below)").filter((value) => codes.some((code) =>
        value.left < code.right && code.left < value.right
        && value.top < code.bottom - 4 && code.top < value.bottom - 4)).length;
}"""


@pytest.mark.parametrize("width", [1100, 1200, 1280, 1366])
def test_values_do_not_grow_over_code_below_whose_values_went_away(width, page, show):
    page.set_viewport_size({"width": width, "height": 720})
    show(page, trace_source(LONG_BELOW), at="a", present="1")
    page.locator(".slide-body .beside-line").first.wait_for(state="attached")
    painted(page)
    assert page.locator(".slide-body .beside-line.below").count() > 0
    assert page.evaluate(OVERPRINTED) == 0


NAMED = '''
def main():
    """A talk."""
    a()


def a():
    """A model in the shape of GPT-2 XL has 2.1 billion parameters"""
    assert 2 + 2 == 4
'''

LINES_OF_NAME = """() => {
    const text = document.querySelector(".slide-body .section-title").firstChild;
    const range = document.createRange();
    range.setStart(text, text.data.indexOf("GPT"));
    range.setEnd(text, text.data.indexOf(" XL"));
    return new Set([...range.getClientRects()].map(({ top }) => top)).size;
}"""


def test_a_title_does_not_break_within_a_name(page, show):
    show(page, trace_source(NAMED), at="a", present="1")
    page.locator(".slide-body .section-title").wait_for()
    for width in range(900, 1500, 20):
        page.set_viewport_size({"width": width, "height": 720})
        painted(page)
        assert page.evaluate(LINES_OF_NAME) == 1, f"at {width}"


LETTERED = FIGURES.replace(
    "{box}</svg>", '{box}<text x="9" y="40" font-size="24">Once</text></svg>'
).replace("Figure(200, 600)", "Figure(300, 60)")

LETTERS = """() => {
    const words = document.querySelector(".slide-body .prose p");
    const svg = document.querySelector(".slide-body .picture svg");
    const unit = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [24 * unit, parseFloat(getComputedStyle(words).fontSize)];
}"""


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_letters_of_a_figure_are_as_large_as_words_and_no_larger(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    words = "    # A figure with letters.\n"
    text = LETTERED.replace("    figure = ", words + "    figure = ")
    show(page, trace_source(text), at="tall", present="1")
    page.locator(".slide-body .picture svg").wait_for()
    painted(page)
    own, around = page.evaluate(LETTERS)
    assert own == pytest.approx(around, rel=0.02)


HIGH = FIGURES.replace(
    "{box}</svg>", '{box}<text x="9" y="40" font-size="14">Once</text></svg>'
).replace("Figure(200, 600)", "Figure(300, 400)")


def test_a_figure_with_small_letters_has_a_page_of_its_own(page, show):
    """Below its code it would be so small that nobody in the hall can read it."""
    page.set_viewport_size({"width": 1280, "height": 720})
    code = "".join(f"    number_{n} = {n}\n" for n in range(6))
    show(page, trace_source(HIGH.replace("    figure = ", code + "    figure = ")), at="tall")
    page.keyboard.press("P")
    page.locator(".slide-body .picture svg").wait_for(state="attached")
    painted(page)
    turn_to(page, ".slide-body .picture svg")
    painted(page)
    figure = page.locator(".slide-body .picture svg").bounding_box()
    assert figure["height"] > 0.65 * 720


VALUED = '''
import torch


def main():
    """A talk."""
    a()


def a():
    """Two tensors."""
    x = torch.arange(6.0).view(2, 3)  # @inspect x
'''


def test_elements_are_nearly_as_large_as_code(page, show):
    show(page, trace_source(VALUED), at="a", present="1")
    page.locator(".slide .grid td").first.wait_for()
    size_of = "e => parseFloat(getComputedStyle(e).fontSize)"
    code = page.locator(".slide .source-line").first.evaluate(size_of)
    for part in (".grid td", ".dtype", ".shape", ".layout"):
        assert page.locator(f".slide {part}").first.evaluate(size_of) >= 0.85 * code


FOR_READERS = '''
import math


def main():
    """A talk."""
    # ## Roots
    # What a root is.
    #
    # Skip it if you know what
    # a root is.
    #
    # Two of them follow.
    a()


def a():
    """A root."""
    root = math.isqrt(16)
    assert root == 4
'''


def test_an_audience_is_shown_no_imports_and_not_what_to_skip(page, show):
    show(page, trace_source(FOR_READERS), at="a", present="1")
    page.locator(".slide-body .line[data-step]").first.wait_for()
    assert page.locator(".slide-body summary:visible", has_text="imports").count() == 0
    page.keyboard.press("k")
    words = page.locator(".slide-heading")
    expect(words).to_contain_text("What a root is.")
    expect(words).to_contain_text("Two of them follow.")
    assert "Skip it" not in words.inner_text()


CODE_AND_WORDS = '''
def main():
    """A talk."""
    little()
    exercise_more()
    much()


def little():
    """One line of code."""
    assert 1 + 1 == 2


def exercise_more():  # @exercise
    """Exercise: words alone

    How much is three and three?
    """
    six = 3 + 3
    assert six == 6


def much():
    """Much code."""
BODY
'''


def test_type_is_as_large_on_all_slides_with_code(page, show):
    page.set_viewport_size({"width": 1920, "height": 1080})
    body = "\n".join(
        f"    # Words of number {n}.\n    assert {n} + 1 == {n + 1}" for n in range(30)
    )
    show(page, trace_source(CODE_AND_WORDS.replace("BODY", body)), at="little", present="1")
    scale = "() => Number(document.documentElement.style.getPropertyValue('--scale'))"
    scales = []
    for title in ("One line of code", "Exercise: words alone", "Much code"):
        page.locator(".slide .section-title", has_text=title).wait_for()
        painted(page)
        scales.append(page.evaluate(scale))
        page.keyboard.press("n")
    assert scales[0] == scales[2]
    assert scales[1] > scales[0]


ASKED_ALONE = '''
def main():
    """A talk."""
    a()


def a():
    """Asks."""
WORDS
    half = 21
    assert 2 * half == 42  # @predict
WORDS
'''

# A block that nothing parts leaves a page to what follows it.
BLOCK = "    for one in (1, 2):\n" + "".join(f"        {n} + one\n" for n in range(12))
ASKED_LAST = ASKED_ALONE.replace("WORDS\n    half", f"{BLOCK}    half").replace("WORDS\n", "")

GIVEN = "e => [e.style.zoom, e.style.paddingTop]"


def test_a_question_that_is_nearly_alone_stands_lower_and_larger(page, show):
    page.set_viewport_size({"width": 1280, "height": 440})
    show(page, trace_source(ASKED_LAST), at="a", present="1")
    page.locator(".slide-part").wait_for()
    body, alone = page.locator(".slide-body"), 0
    for height in range(440, 760, 40):
        page.set_viewport_size({"width": 1280, "height": height})
        painted(page)
        turn_to(page, ".slide-body .question")
        painted(page)
        zoom, above = body.evaluate(GIVEN)
        box = page.locator(".slide-body .question").bounding_box()
        assert box["y"] + box["height"] < height
        assert box["x"] + box["width"] <= 1280
        alone += above != "" and zoom == "1.3"
    assert alone > 0


ASKED = "    assert 2 * half == 42  # @predict\n"
MORE = f"    # What is twice that?\n{ASKED}    assert 3 * half == 63  # @predict\n"
ASKED_TWICE = ASKED_LAST.replace(ASKED, MORE)


def test_a_page_stays_as_it_is_when_its_question_is_answered(page, show):
    """Who looks on would lose the place."""
    page.set_viewport_size({"width": 1280, "height": 440})
    show(page, trace_source(ASKED_TWICE), at="a", present="1")
    page.locator(".slide-part").wait_for()
    turn_to(page, ".slide-body .question >> nth=0")
    painted(page)
    body = page.locator(".slide-body")
    question = page.locator(".slide-body .question:visible")
    given, top = body.evaluate(GIVEN), question.first.bounding_box()["y"]
    assert given[1] != ""
    page.keyboard.press("Space")
    page.locator(".slide-body .held-mark").first.wait_for(state="attached")
    painted(page)
    assert body.evaluate(GIVEN) == given
    held = page.locator(".slide-body .row-line:has(.held-mark)").first.bounding_box()
    assert abs(held["y"] - top) < 30, "its answer stands where it was asked"


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_a_figure_stands_below_the_code_that_draws_it(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    words = "".join(f"    # {'Words of a paragraph. ' * 9}\n    #\n" for _ in range(4))
    code = "".join(f"    number_{n} = {n}\n" for n in range(6))
    made = "    made = Figure(1, 1)\n"  # so that its class is shown there
    text = FIGURES.replace("    figure = ", made + words + code + "    figure = ")
    show(page, trace_source(text), at="tall", present="1")
    page.locator(".slide-body .picture svg").wait_for(state="attached")
    painted(page)
    turn_to(page, ".slide-body .picture svg")
    assert page.locator(".slide-body .line", has_text="figure = ").is_visible()
    figure = page.locator(".slide-body .picture svg").bounding_box()
    assert figure["y"] + figure["height"] <= size[1]
    assert figure["height"] > 0.4 * size[1]


@pytest.mark.parametrize("size", [(1280, 720), (1920, 1080)])
def test_what_says_where_one_is_can_be_read_with_the_words(size, page, show):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    many = CODE_AND_WORDS.replace("BODY", "    # Words with code.\n    assert 1 + 1 == 2")
    show(page, trace_source(many), at="much", present="1")
    page.locator(".slide .prose p").wait_for()
    painted(page)
    size_of = "e => parseFloat(getComputedStyle(e).fontSize)"
    count, words = (
        page.locator(of).first.evaluate(size_of) for of in (".slide-count", ".slide .prose p")
    )
    assert count >= 0.6 * words


PLACES = """() => Object.fromEntries(
    [...document.querySelectorAll(".slide-body [data-slide-page]")]
        .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.querySelector("form"))
        .filter((e) => !e.matches("form"))
        .map((e) => [e.innerText, [e.getBoundingClientRect().top, getComputedStyle(e).fontSize]]))
"""


@pytest.mark.parametrize("height", [480, 600, 720])
def test_nothing_moves_when_an_answer_brings_more_than_fits(height, page, show):
    """The size of a page is that of all that it will show."""
    page.set_viewport_size({"width": 1280, "height": height})
    lines = "\n".join(f"    # Words {number}.\n    {number}" for number in range(12))
    show(page, trace_source(ASKED_ALONE.replace("WORDS", lines)), at="a", present="1")
    page.locator(".slide-part").wait_for()
    turn_to(page, ".slide-body .question")
    painted(page)
    before = page.evaluate(PLACES)
    page.keyboard.press("PageDown")
    page.locator(".slide-body .held-mark").wait_for()
    painted(page)
    after = page.evaluate(PLACES)
    assert set(before) < set(after)
    assert {text: after[text] for text in before} == before


TOLD_ABOVE = '''
def main():
    """A talk."""
    a()


def a():
    """Asks."""
    half = 21
    # SENTENCES
    double = 2 * half
    assert double == 42  # @predict
'''


@pytest.mark.parametrize("count", [1, 6, 12])
def test_words_that_wait_for_an_answer_have_their_room_and_say_nothing(count, page, show):
    words = "Twice that is 42, *as* we `know`. " * count
    show(page, trace_source(TOLD_ABOVE.replace("SENTENCES", words)), at="a", present="1")
    page.locator(".slide .question").wait_for()
    page.locator(".slide .veiled[data-says]").wait_for(state="attached")
    painted(page)
    assert "asked next" not in page.locator(".slide").inner_text()
    line = page.locator(".slide .line", has_text="2 * half")
    before = line.bounding_box()
    page.keyboard.press("PageDown")
    page.get_by_text("Twice that is 42").wait_for()
    painted(page)
    assert line.bounding_box()["y"] == pytest.approx(before["y"], abs=4)


def test_values_and_code_stay_when_an_answer_brings_a_figure_that_comes_next(page, show):
    """In our lecture, where values stand below a line and a picture waited for an answer."""
    lecture = (VIEWER / "traces" / "lecture.main.json").read_text(encoding="utf-8")
    page.set_viewport_size({"width": 1280, "height": 720})
    show(page, lecture, at="a_slice_is_an_offset_and_a_stride", present="1")
    page.locator(".slide .question").first.wait_for(state="attached")
    painted(page)
    assert "gives an answer away" not in page.locator(".slide").inner_text()
    line = page.locator(".slide .line", has_text="picked = ")
    for _ in range(2):
        before = line.bounding_box() if line.is_visible() else None
        page.keyboard.press("Space")
        painted(page)
        assert before in (None, line.bounding_box())
    cells = page.locator(".slide .grid td")
    assert [cell.is_visible() for cell in cells.all()] == [True] * 4
    assert page.locator(".slide .beside-more:visible", has_text="more").count() == 0
    page.keyboard.press("Space")
    expect(page.locator(".slide .picture svg").first).to_be_visible()
    # It has the line that draws it, and the words before: both were seen, and are quiet.
    expect(page.locator(".slide .again.line")).to_have_text(re.compile("picked = "))
    expect(page.locator(".slide p.again")).to_have_text(re.compile("^What does"))


def test_a_slide_looks_the_same_on_screens_of_one_shape(page, show):
    sizes = []
    for width in (1440, 1920, 3840):
        page.set_viewport_size({"width": width, "height": width * 9 // 16})
        show(page, trace_source(FIGURES), at="tall", present="1")
        page.locator(".slide .section-title").wait_for()
        painted(page)
        letter = "() => parseFloat(getComputedStyle(document.documentElement).fontSize)"
        page.locator(".slide .picture svg").wait_for(state="attached")
        turn_to(page, ".slide .picture svg")
        figure = page.locator(".slide .picture svg").bounding_box()["height"]
        sizes.append((page.evaluate(letter) / width, figure / width))
    assert sizes[1:] == [pytest.approx(sizes[0], rel=0.02)] * 2
    assert sizes[0][0] > 0.017
