"""The search leads to the line that was found, to the definition that holds it, to the chapter."""

import functools

import pytest
from playwright.sync_api import expect

from tests.viewer.conftest import settled
from tests.viewer.programs import recorded
from tests.viewer.test_book import book

LINES = "".join(f"    sum_{number} = of + {number}\n" for number in range(30))

SOURCE = f'''
"""Lines of all kinds."""


def main():
    """Lines of all kinds."""
    halving()
    turning()
    calling()


def elsewhere(of):  # @stepover
    """It is called where the text does not show it."""
    return of // 1


def halves(  # @stepover
    of,
    least=1,
):
    """Half of it, and half of that."""
    if of <= least:
        return elsewhere(of)
    upper = halves(of // 2)
    lower = halves(of // 2)
    return upper + lower


def long(of):  # @stepover
{LINES}    return sum_29 - of


def halving():
    """Parts come first."""
    eight = 8
    # {"Words in between. " * 60}
    assert halves(eight) == 8
    assert long(0) == 29


def turning():
    """Rounds follow."""
    last = 0
    for turn in range(5):
        if turn == 3:
            last = turn * 7
        if turn > 9:
            never = turn

        def inside(one):
            # {"Words in between. " * 60}
            return one + 40

        assert inside(turn) >= 40
    folded = last + 100  # @fold
    assert folded == 121


def doubled(one):
    """Twice."""
    # {"Words in between. " * 60}
    twice = 2 * one
    return twice


def fourth(one):
    """Of four calls the last."""
    four = 4 * one
    return four


def calling():
    """Calls end it."""
    # {"Words in between. " * 60}
    assert doubled(1) + doubled(2) + doubled(3) + fourth(0) == 12
    assert [doubled(one) for one in range(5)][4] == 8
'''


@functools.cache
def recorded_lines() -> dict:
    return recorded(SOURCE)


def ask(page, query: str) -> None:
    """Search, and leave for the first that is found."""
    page.keyboard.press("/")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type(query)
    page.locator(".results li").first.wait_for()
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")


PAUSED = """() => {
    const rules = new CSSStyleSheet();
    rules.replaceSync(".aimed { animation-play-state: paused !important; }");
    document.adoptedStyleSheets = [rules];
}"""
"""What marks a line does not fade."""


@pytest.fixture
def lines(page, show):
    page.set_viewport_size({"width": 1280, "height": 400})
    show(page, recorded_lines())
    page.evaluate(PAUSED)
    return page


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("def halves", "def halves("),
        ("halves", "def halves("),
        ("least=1", "    least=1,"),
        ("lower = halves", "    lower = halves(of // 2)"),
        ("sum_27 = ", "    sum_27 = of + 27"),
        ("eight = 8", "eight = 8"),
        ("last = turn * 7", "        last = turn * 7"),
        ("never = turn", "        never = turn"),
        ("return one + 40", "return one + 40"),
        ("folded = last", "folded = last + 100"),
        ("twice = 2 *", "twice = 2 * one"),
        ("four = 4 *", "four = 4 * one"),
    ],
    ids=lambda text: text.strip(),
)
def test_code_that_is_found_is_in_focus_and_marked(query, shown, lines):
    ask(lines, query)
    line = lines.locator("#article :focus")
    expect(line).to_contain_text(shown.strip())
    settled(lines)
    assert (line.locator("pre").or_(line)).last.text_content().rstrip("\n") == shown
    expect(line).to_be_in_viewport(ratio=1)
    assert "aimed" in line.get_attribute("class").split()


@pytest.mark.parametrize(
    ("query", "numbers", "marked"),
    [
        ("def elsewhere", ["12", "13", "14"], "def elsewhere(of):"),
        ("of // 1", ["12", "13", "14"], "    return of // 1"),
    ],
)
@pytest.mark.parametrize("mode", ["read", "step"])
def test_a_definition_that_the_text_does_not_show_opens_beside_it(
    mode, query, numbers, marked, page, show
):
    show(page, recorded_lines(), mode=mode)
    page.evaluate(PAUSED)
    ask(page, query)
    panel = page.locator(".definition-panel")
    panel.locator(".definition-body:focus").wait_for()
    assert panel.locator(".definition-number").all_inner_texts() == numbers
    assert panel.locator(".aimed code").text_content().rstrip() == marked


@pytest.mark.parametrize(
    ("query", "current"),
    [
        ("last = turn * 7", "last = turn * 7"),
        ("twice = 2 *", "twice = 2 * one"),
        ("lower = halves", "assert halves(eight) == 8"),
    ],
)
def test_step_goes_to_the_step_of_a_line_or_to_what_its_definition_is_for(
    query, current, page, show
):
    show(page, recorded_lines(), mode="step")
    ask(page, query)
    expect(page.locator(".program-line.current code")).to_have_text(current)


def test_a_solution_stays_closed_when_its_code_is_found(page, show):
    source = SOURCE.replace("def calling():", "def calling():  # @exercise")
    show(page, recorded(source))
    ask(page, "doubled(1) + doubled(2)")
    expect(page.locator(".solution summary:focus")).to_have_text("the solution, as it ran")
    settled(page)
    assert not page.locator(".solution").evaluate("(solution) => solution.open")


def test_chapters_come_first_with_their_numbers(page, show):
    show(page, book())
    page.keyboard.press("/")
    page.locator(".search-field").fill("adding")
    expect(page.locator(".results .title")).to_have_text(["1. Adding", "2. Adding again"])
    texts = page.locator(".result-text").all_inner_texts()
    assert texts == ["1. Adding", "2. Adding again"]


@pytest.mark.parametrize(
    ("parameters", "shown", "address"),
    [
        ({"chapter": "adding"}, ".chapter-head h1", "#doc=demo&chapter=multiplying"),
        ({"whole": ""}, "#article :focus", "#doc=demo&whole&at=programs.py:main:3.1"),
        ({"mode": "step"}, ".bar-chapter", "#doc=demo&mode=step&at=programs.py:main:3.1"),
    ],
    ids=["chapter", "whole", "step"],
)
def test_a_chapter_that_is_found_opens(parameters, shown, address, page, show):
    show(page, book(), **parameters)
    ask(page, "multiplying")
    expect(page.locator(shown)).to_contain_text("Multiplying")
    assert page.evaluate("location.hash") == address
