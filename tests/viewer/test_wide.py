"""Wide screens: code has the room that is free before it is broken."""

import pytest

from tests.tracing import trace_source
from tests.viewer.conftest import painted, settled

LONG_LINES = """
def main():
    values()


def values():
    "Values."
    one = [1, 2, 3]  # @inspect one
    first = one[0] + one[1] + one[2] + one[0] + one[1] + one[2] + one[0] + one[1] + one[2] + 1
    assert first == 19
    # Words that are read have their own measure, however wide the screen is, since a line of more
    # than eighty letters makes the eye lose the beginning of the next one: these words are many.
    assert one
"""

BOX = """(element) => {
    const { left, right, height } = element.getBoundingClientRect();
    return [left, right, height];
}"""


def box_of(page, selector: str, text: str) -> tuple[float, float, float]:
    return tuple(page.locator(selector, has_text=text).first.evaluate(BOX))


@pytest.mark.parametrize(("width", "lines"), [(1920, 1), (1000, 2)])
def test_code_is_broken_only_where_there_is_no_room(width, lines, page, show):
    page.set_viewport_size({"width": width, "height": 1080})
    show(page, trace_source(LONG_LINES), at="1")
    settled(page)
    painted(page)
    *_, one = box_of(page, "#article .line pre", "one = [")
    _, end, long = box_of(page, "#article .line pre", "first = ")
    assert round(long / one) == lines
    beside, _, _ = box_of(page, ".beside-line", "one")
    assert end < beside, "values have a column of their own"
    begin, words_end, _ = box_of(page, "#article .prose p", "Words that are read")
    assert words_end - begin < 800, "prose keeps its measure"


def test_a_broken_line_goes_on_just_right_of_where_it_began(page, show):
    page.set_viewport_size({"width": 1000, "height": 900})
    show(page, trace_source(LONG_LINES), at="1")
    settled(page)
    begins = page.locator("#article .line .source-line", has_text="first = one").evaluate(
        """(line) => {
            const range = document.createRange();
            range.selectNodeContents(line);
            const boxes = [...range.getClientRects()].filter(({ width }) => width > 1);
            const end = Math.max(...boxes.map(({ bottom }) => bottom));
            const left = (own) => Math.min(...own.map((box) => box.left));
            const letter = document.createElement("span");
            letter.textContent = "0";
            line.append(letter);
            const { width } = letter.getBoundingClientRect();
            letter.remove();
            return (left(boxes.filter(({ bottom }) => bottom > end - 2)) - left(boxes)) / width;
        }"""
    )
    assert 1 < begins < 3
