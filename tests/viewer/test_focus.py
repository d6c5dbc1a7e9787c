"""Code in whole blocks, and what one line measured in one card beside it."""

import itertools

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import painted, settled, show_everything
from tests.viewer.test_access import assert_accessible, rich
from tests.viewer.test_page import line, told

LINE_HEIGHT = 21.7
TALL = {
    "type": "dict",
    "entries": [
        [{"type": "str", "value": f"a long key {number}"}, {"type": "int", "value": number}]
        for number in range(9)
    ],
    "length": 9,
}


def top(locator) -> float:
    box = locator.bounding_box()
    assert box
    return box["y"]


def card(page):
    return page.locator("#article .card")


@pytest.mark.parametrize("density", ["story", "evidence", "everything"])
def test_nothing_parts_the_lines_of_a_block(density, page, show):
    """Lines 20 to 23 of `views` follow each other, however much stands beside the first."""
    show(page, documents.with_values(TALL, TALL))
    page.evaluate(
        """async (chosen) => {
            (await import("viewer/state/state.js")).density.value = chosen;
        }""",
        density,
    )
    painted(page)
    tops = [top(line(page, number).locator("pre")) for number in (20, 21, 22, 23)]
    assert all(0 < after - before <= LINE_HEIGHT + 1 for before, after in itertools.pairwise(tops))
    shown = line(page, 20).locator(".beside-line .named-value").count()
    assert shown == (3 if density == "evidence" else 0)


def test_the_card_of_a_line_leaves_the_value_above_it_in_sight(page, show):
    """What one compares a claim with stands there."""
    show(page, documents.with_values(TALL))
    value = line(page, 20).locator(".beside-line .named-value").first
    value.wait_for()
    end = page.locator(".line", has=page.locator("pre", has_text="assert x.size"))
    end.hover(position={"x": 5, "y": 5})
    card(page).wait_for()
    settled(page)
    shown = value.bounding_box()
    assert shown
    assert shown["y"] + shown["height"] > top(end), "it reaches below its own line"
    assert top(card(page)) >= shown["y"] + shown["height"]
    line(page, 20).hover(position={"x": 5, "y": 5})
    expect(line(page, 20).locator(".card")).to_be_visible()
    assert abs(top(card(page)) - top(line(page, 20))) < 20


def test_the_card_of_a_line_stands_beside_a_narrow_value_above_it(page, show):
    """Below it the card would be far from its line."""
    page.set_viewport_size({"width": 1600, "height": 900})
    show(page, documents.with_values(TALL))
    grid = line(page, 20).locator(".beside-line .grid").first
    grid.wait_for()
    end = page.locator(".line", has=page.locator("pre", has_text="assert x.size"))
    end.hover(position={"x": 5, "y": 5})
    card(page).wait_for()
    settled(page)
    shown, box = grid.bounding_box(), card(page).bounding_box()
    assert shown
    assert box
    assert abs(box["y"] - top(end)) < 20
    assert shown["x"] + shown["width"] < box["x"]
    assert box["x"] + box["width"] <= 1600


def test_a_card_that_would_cover_a_value_below_stays_at_its_line(page, show):
    show(page, documents.with_values(TALL))
    end = page.locator(".line", has=page.locator("pre", has_text="assert x.size"))
    end.hover(position={"x": 5, "y": 5})
    card(page).wait_for()
    assert top(card(page)) > top(end) + 20
    line(page, 20).hover(position={"x": 5, "y": 5})
    page.evaluate(
        """() => {
            const values = document.querySelector("#article .beside-line");
            const other = values.cloneNode(true);
            other.style.top = `${values.offsetHeight + 10}px`;
            values.after(other);
        }"""
    )
    other = line(page, 20).locator(".beside-line").last
    assert top(other) > top(end) + 20
    end.hover(position={"x": 5, "y": 5})
    card(page).wait_for()
    assert abs(top(card(page)) - top(end)) < 20


def test_values_that_find_room_are_whole(page, show):
    show(page, documents.small())
    for number in (11, 20):  # nothing stands beside the lines below them
        values = line(page, number).locator(".beside-line")
        expect(values.locator(".named-value").first).to_be_visible()
        assert "is-cut" not in values.get_attribute("class")


HIGH = """
def main():
    views()
    others()


def views():
    "Views."
    saved = {name: list(range(12)) + [name] for name in "abcdefghijkl"}  # @inspect saved
    # What follows stands close below, however high its value is.
    assert len(saved) == 12
    # There is room beside this, too.
    first = len(saved)  # @inspect first
    assert list(saved["a"][:10]) == [saved["b"][index] for index in range(10)]


def others():
    "Others."
    assert 1 + 1 == 2
"""


def test_high_values_move_no_prose_and_end_where_the_next_ones_begin(page, show):
    show(page, trace_source(HIGH))
    blocks = page.locator("#article .section .section :is(.row-line, .row-rest)")
    blocks.nth(3).wait_for()
    painted(page)
    boxes = [blocks.nth(index).bounding_box() for index in range(4)]
    gaps = [low["y"] - high["y"] - high["height"] for high, low in itertools.pairwise(boxes)]
    assert max(gaps) < LINE_HEIGHT
    high, low = (page.locator("#article .beside-line").nth(index) for index in (0, 1))
    cut = high.bounding_box()
    assert cut["height"] > 3 * LINE_HEIGHT
    assert 0 <= top(low) - cut["y"] - cut["height"] < 2 * LINE_HEIGHT, "as many as find room"
    shown, all_of_it = whole_rows(high)
    assert 0 < shown < all_of_it
    assert high.locator(".beside-more").inner_text() == f"{all_of_it - shown} more rows"
    line(page, 8).hover()
    assert whole_rows(card(page)) == (all_of_it, all_of_it)


def whole_rows(place) -> tuple[int, int]:
    """How many rows of a value are seen, and how many there are; none is seen in part."""
    tops, bottoms, end = place.locator(".named-value").evaluate(
        """(value) => {
            const boxes = [...value.querySelectorAll("dl > div")]
                .map((row) => row.getBoundingClientRect());
            const end = value.getBoundingClientRect().bottom + 1;
            return [boxes.map(({ top }) => top), boxes.map(({ bottom }) => bottom), end];
        }"""
    )
    shown = sum(bottom <= end + 1 for bottom in bottoms)
    assert shown == sum(top < end - 2 for top in tops)
    return shown, len(tops)


SMALL = {**documents.TENSOR, "shape": [2, 3], "strides": [3, 1],
         "elements": [100.0, 2.0, 3.0, 4.0, 5.0, 6.0]}  # fmt: skip


def test_of_values_that_find_no_room_whole_ones_are_shown_and_the_others_counted(page, show):
    show(page, documents.with_values(*[SMALL] * 4))
    place = line(page, 20).locator(".beside-line")
    place.locator(".beside-more", has_text="more").wait_for()
    values = place.locator(".named-value")
    seen = [value for value in values.all() if value.is_visible()]
    assert 0 < len(seen) < values.count()
    assert place.locator(".beside-more").inner_text() == f"{values.count() - len(seen)} more"
    for value in seen:
        assert value.evaluate("(e) => e.scrollHeight <= e.clientHeight + 1")
        assert value.locator("td").count() == 6


def test_a_card_is_whole_at_the_end_of_a_section(page, show):
    show(page, trace_source(HIGH))
    line(page, 13).hover()
    box = card(page).bounding_box()
    title = page.locator("#article .section-title", has_text="Others")
    assert box["y"] + box["height"] > top(title), "it would end within its section"
    is_shown = "([x, y]) => Boolean(document.elementFromPoint(x, y)?.closest('.card'))"
    assert page.evaluate(is_shown, [box["x"] + 20, box["y"] + box["height"] - 6])


def test_a_tensor_beside_a_line_is_one_stop_for_keys(page, show):
    show(page, documents.small())
    tensor = line(page, 20).locator(".beside-line .named-value.is-tensor").first
    tensor.locator(".inspect").focus()
    painted(page)
    assert page.locator(".card").count() == 0, "it would stand before what has the focus"
    assert tensor.locator('button:not([tabindex="-1"])').count() == 1


def test_the_card_follows_the_pointer(page, show):
    show(page, documents.small())
    before = top(line(page, 14))
    line(page, 10).hover()
    card(page).wait_for()
    assert card(page).locator(".named-value").inner_text().split() == ["y", "6"]
    assert card(page).locator(".cost").inner_text().startswith("2.1 MFLOP")
    line(page, 13).hover()
    card(page).locator(".claim").wait_for()
    assert card(page).locator(".claim").inner_text().split() == ["✓", "held", "y", "=", "6"]
    assert card(page).locator(".cost").count() == 0
    assert abs(top(card(page)) - top(line(page, 13))) < LINE_HEIGHT
    assert top(line(page, 14)) == before
    page.keyboard.press("e")
    card(page).wait_for(state="detached")


def test_the_card_follows_keys_and_scrolling(page, show):
    page.set_viewport_size({"width": 1280, "height": 400})
    show(page, documents.small())
    seen = []
    for _ in range(3):
        page.keyboard.press(".")
        page.wait_for_function(
            "before => document.querySelector('.in-focus')?.dataset.step !== before",
            arg=seen[-1] if seen else None,
        )
        seen.append(page.locator(".in-focus").get_attribute("data-step"))
    assert len(set(seen)) == 3
    page.keyboard.press(",")
    page.locator(f'.in-focus[data-step="{seen[1]}"]').wait_for()
    page.mouse.move(5, 5)
    for number in (13, 20):
        line(page, number).evaluate(
            "one => scrollBy(0, one.getBoundingClientRect().top - 0.38 * innerHeight + 8)"
        )
        page.locator(f'.in-focus[data-first="{number}"]').wait_for()


def test_a_card_whose_keys_are_in_use_stays(page, show):
    """Tab leads to what is half in sight, and the browser scrolls there."""
    page.set_viewport_size({"width": 1280, "height": 400})
    show(page, documents.small())
    page.mouse.move(5, 5)
    page.keyboard.press(".")
    legend = card(page).locator(".card-legend")
    legend.focus()
    page.keyboard.press("Shift")  # the reader goes on
    first = page.locator(".in-focus").get_attribute("data-first")
    for number in (13, 20):
        line(page, number).evaluate(
            "one => scrollBy(0, one.getBoundingClientRect().top - 0.38 * innerHeight + 8)"
        )
        page.wait_for_timeout(400)  # longer than a reader rests
    expect(legend).to_be_focused()
    assert page.locator(".in-focus").get_attribute("data-first") == first


MANY = """
def main():
    many()


def many():
    "Many."
""" + "".join(
    f"    # Paragraph {number}.\n    one = {number} * {number}  # @inspect one\n"
    for number in range(40)
)


def lines_led_through(page, keys) -> list[int]:
    found = []
    for key in keys:
        page.keyboard.press(key)
        page.wait_for_timeout(220)  # longer than after scrolling, when one is reading
        found.append(int(page.locator(".in-focus").get_attribute("data-first")))
    return found


def test_a_line_that_a_key_led_to_is_the_place_in_step_and_on_the_way_back(page, show):
    page.set_viewport_size({"width": 1280, "height": 600})
    show(page, trace_source(MANY))
    settled(page)
    lines_led_through(page, ["."] * 4)
    chosen = page.locator(".line.in-focus:focus")
    number, low = chosen.get_attribute("data-first"), chosen.bounding_box()["y"]
    assert low > 0.6 * 600, "it is far from where the section begins"
    page.keyboard.press("r")
    expect(page.locator(".program-line.current .line-number")).to_have_text(number)
    page.keyboard.press("r")
    marked = page.locator(f'.line.aimed[data-first="{number}"]')
    marked.wait_for()
    assert 72 < marked.bounding_box()["y"] < 0.8 * 600


def test_keys_lead_through_all_lines_and_back(page, show):
    """The scrolling that a key causes is not the reader's, and the next Tab leads into the card."""
    page.set_viewport_size({"width": 1280, "height": 500})
    document = trace_source(MANY)
    for _ in range(3):  # where a machine is busy, a scroll may come too late to be known as ours
        show(page, document)
        settled(page)
        page.mouse.move(900, 300)  # where lines pass below it
        lines = page.locator("#article .line.has-notes")
        numbers = lines.evaluate_all("all => all.map((one) => Number(one.dataset.first))")
        assert len(numbers) == 40
        seen = lines_led_through(page, ["."] * 40 + [","] * 39)
        if seen == numbers + numbers[-2::-1]:
            break
    assert seen == numbers + numbers[-2::-1]
    focused = "document.activeElement.closest('.in-focus') !== null"
    assert page.evaluate(focused)
    page.keyboard.press("Tab")
    assert page.evaluate(focused)


def test_a_card_is_in_nobodys_way(page, show):
    """Away from its line it goes; what stands beside another line can be pointed at."""
    show(page, documents.with_values(TALL, TALL))
    line(page, 23).hover()
    card(page).wait_for()
    page.locator("#article .section-title").first.hover()
    expect(card(page)).to_have_count(0)
    line(page, 23).hover()
    card(page).hover()
    expect(page.locator(".in-focus")).to_have_attribute("data-first", "23")


def test_scrolling_shows_the_line_that_one_points_at(page, show):
    page.set_viewport_size({"width": 1280, "height": 500})
    show(page, trace_source(MANY))
    settled(page)
    lines = page.locator("#article .line.has-notes")
    lines.nth(9).scroll_into_view_if_needed()
    lines.nth(9).hover()
    page.wait_for_timeout(400)  # nothing says that no other card came
    page.mouse.wheel(0, 3)
    page.wait_for_timeout(400)
    assert page.locator(".in-focus").evaluate("one => one.matches(':hover')")


BESIDE_A_LOOP = """
def main():
    sums()


def sums():
    "Sums."
    # Prose.
    total = 1
    assert (total + 1) * 2 == 4 and total * 1000 == 1000
    for one in (1, 2):
        total += one
    # More.
    assert (total + 1) * 2 == 10 and total * 1000 == 4000
""" + "".join(f"    # Paragraph {number}.\n    total += 1\n" for number in range(30))


def test_a_card_that_comes_by_itself_covers_no_value_of_a_loop(page, show):
    page.set_viewport_size({"width": 1280, "height": 400})
    show(page, trace_source(BESIDE_A_LOOP))
    settled(page)
    page.mouse.move(5, 5)
    for number, others in ((13, ["13"]), (9, [])):
        line(page, number).evaluate(
            "one => scrollBy(0, one.getBoundingClientRect().top - 0.38 * innerHeight + 8)"
        )
        page.wait_for_timeout(600)  # nothing says that one is reading and no card came
        painted(page)
        shown = page.locator(".in-focus").evaluate_all("all => all.map((e) => e.dataset.first)")
        assert shown == others
    line(page, 9).hover()
    card(page).wait_for()


def test_scrolling_opens_no_card_that_holds_names_alone(page, show):
    document = documents.small()
    picture = {"type": "Picture", "svg": '<svg xmlns="http://www.w3.org/2000/svg"></svg>'}
    document["values"].append(picture)
    row = document["inspections"]["event"].index(7)  # `y = double(3)` on line 10
    document["inspections"]["value"][row] = len(document["values"]) - 1
    document["costs"] = {name: [] for name in document["costs"]}
    page.set_viewport_size({"width": 1280, "height": 400})
    show(page, document)
    page.mouse.move(5, 5)
    for number in (13, 10):
        line(page, number).evaluate(
            "one => scrollBy(0, one.getBoundingClientRect().top - 0.38 * innerHeight + 8)"
        )
        page.wait_for_timeout(600)  # nothing says that one is reading and no card came
        painted(page)
        shown = page.locator(".in-focus").evaluate_all("all => all.map((e) => e.dataset.first)")
        assert shown == (["13"] if number == 13 else [])
    line(page, 10).hover()
    assert card(page).locator(".card-name").all_inner_texts() == ["double"]
    # And no key leads to it as to what a line measured.
    page.mouse.move(5, 5)
    found = set()
    for key in "......,,,,,,":
        page.keyboard.press(key)
        painted(page)
        shown = page.locator(".in-focus:focus")
        found.update(shown.evaluate_all("all => all.map((e) => e.dataset.first)"))
    assert "13" in found
    assert "10" not in found


def test_the_cost_of_an_assert_is_not_told(page, show):
    document = documents.small()
    document["costs"]["step"] = [1, 14]  # the second is of `assert y == 6`
    show(page, document)
    show_everything(page)
    assert told(page, 13).locator(".claim").count() == 1
    assert told(page, 13).locator(".cost").count() == 0
    assert told(page, 20).locator(".cost").count() == 1


def test_sides_that_are_equal_are_said_once(page, show):
    document = documents.small()
    document["assertions"][0].update(text="y == n + 3 == 6", operands=["y", "n + 3", "6"])
    document["claims"]["operands"][1] = [6, 6, 6]
    show(page, document)
    show_everything(page)
    claim = told(page, 13).locator(".claim")
    assert claim.locator(".operand-source").all_inner_texts() == ["y", "n + 3"]
    assert claim.locator(".operand-value").all_inner_texts() == ["6"]


def test_sides_that_are_only_cut_alike_are_not_called_equal(page, show):
    document = documents.small()
    document["assertions"][0].update(text="not same(y, n)", operands=["y", "n"])
    document["claims"]["operands"][1] = [6, 6]
    show(page, document)
    show_everything(page)
    claim = told(page, 13).locator(".claim")
    assert claim.locator(".operand-source").all_inner_texts() == ["y", "n"]
    assert claim.locator(".operand-value").all_inner_texts() == ["6", "6"]


def test_a_switch_shows_less_or_more_and_is_remembered(page, show):
    show(page, documents.small())
    values, listed = page.locator("#article .beside-line"), page.locator("#article .evidence")
    shown = []
    switch = page.locator('[data-command="density"]')
    for chosen in ("Evidence", "Everything", "Story", "Evidence", "Story"):
        switch.get_by_text(chosen).click()
        page.locator(f".modes .on:text('{chosen}')").wait_for()
        painted(page)
        shown.append((values.count() > 0, listed.count() > 0))
    assert shown == [(True, False), (False, True), (False, False), (True, False), (False, False)]
    page.keyboard.press("e")  # goes on to the next
    values.first.wait_for()
    page.keyboard.press("e")
    listed.first.wait_for()
    page.reload()
    listed.first.wait_for()
    page.keyboard.press("e")
    page.keyboard.press("e")
    values.first.wait_for()


def test_a_claim_that_failed_says_why_below_its_line(page, show):
    show(page, documents.failing())
    told_below = line(page, 13).locator(".failed-claims")
    assert "y == n + 2" in told_below.inner_text()
    assert line(page, 13).locator(".held-mark").inner_text().split()[0] == "✗"


def test_the_legend_is_one_click_away(page, show):
    show(page, documents.small())
    line(page, 13).hover()
    card(page).locator(".card-legend").click()
    page.locator("dialog .meanings").first.wait_for()
    text = page.locator("dialog").inner_text()
    assert "the line claims something" in text
    assert "convention" in text
    page.keyboard.press("Escape")
    page.locator("dialog .meanings").first.wait_for(state="detached")
    page.keyboard.press("L")
    page.locator("dialog .meanings").first.wait_for()


def test_on_a_phone_a_touch_shows_it_below_the_line(phone, show):
    show(phone, documents.small())
    line(phone, 13).click()
    card(phone).wait_for()
    box, above = card(phone).bounding_box(), line(phone, 13).locator("pre").bounding_box()
    assert box and above and box["y"] >= above["y"] + above["height"] - 1
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


def test_on_a_phone_few_elements_stand_below_their_line_and_no_name_is_cut(phone, show):
    show(phone, documents.with_values(SMALL, SMALL, TALL), at="views")
    values = line(phone, 20).locator(".beside-line .named-value")
    values.first.wait_for()
    line_height = 22
    small, tall = values.all()[1:3], values.nth(3).bounding_box()
    for value in small:
        box = value.bounding_box()
        assert box["height"] > 2 * line_height
        expect(value.locator("td", has_text="100")).to_be_visible()
        assert value.evaluate("(e) => e.scrollWidth <= e.clientWidth")
    assert tall["height"] <= line_height, "what is higher waits for a touch"
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_the_card_the_legend_and_everything(theme, page, show):
    page.emulate_media(color_scheme=theme)
    show(page, rich(), at="1")
    line(page, 10).hover()
    card(page).wait_for()
    assert_accessible(page, "card")
    show_everything(page)
    assert_accessible(page, "everything")
    page.keyboard.press("L")
    page.locator("dialog .meanings").first.wait_for()
    assert_accessible(page, "legend")


def test_code_is_copied_as_it_is_written(page, show, context):
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    show(page, documents.small(), at="views")
    block = page.locator("#activation-1 .row-line").first
    block.hover()
    button = block.get_by_role("button", name="copy")
    button.click()
    block.get_by_role("button", name="copied").wait_for()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith("x = make()\nif x is None:\n    x = 0\n")
    page.evaluate(
        """() => {
            const lines = document.querySelectorAll("#activation-1 .line pre");
            getSelection().setBaseAndExtent(lines[0], 0, lines[2], lines[2].childNodes.length);
        }"""
    )
    page.keyboard.press("Control+c")
    assert page.evaluate("navigator.clipboard.readText()").strip() == (
        "x = make()\nif x is None:\n    x = 0"
    )
    page.mouse.move(2, 2)
    button.wait_for(state="detached")


LITERALS = [("0b0_110", "0b0_110"), ("0x06", "0x06"), ("0b11", "0b110"), ("6", None)]


@pytest.mark.parametrize(("literal", "shown"), LITERALS)
def test_an_integer_is_written_as_what_it_is_compared_with(page, show, literal, shown):
    document = documents.small()
    text = f"y == {literal}"
    document["assertions"][0] = {"statement": 4, "text": text, "operands": ["y", literal]}
    show(page, document)
    show_everything(page)
    measured = page.locator('.evidence [data-line="13"] .operand-value').inner_text()
    assert measured == (shown or "6")


def test_values_below_their_line_leave_no_hole(page, show):
    """Where the screen is narrow a tensor of nine rows is one line until it is tapped."""
    tensor = {**documents.TENSOR, "shape": [9, 1], "strides": [1, 1],
              "elements": [float(number) for number in range(9)]}  # fmt: skip
    show(page, documents.with_values(tensor), at="views")
    height = "e => e.getBoundingClientRect().height"
    row = page.locator("#activation-1 .row", has=page.locator(".row-line")).first
    lines = row.locator(".row-line")
    assert row.evaluate(height) > 1.5 * lines.evaluate(height), "beside the code there is room"
    page.set_viewport_size({"width": 820, "height": 1180})
    assert row.evaluate(height) < 1.5 * lines.evaluate(height)


@pytest.mark.parametrize(
    ("width", "is_there"), [(1280, True), (820, True), (768, True), (390, False)]
)
def test_where_there_is_room_what_stands_beside_code_is_chosen_at_the_top(
    width, is_there, page, show
):
    page.set_viewport_size({"width": width, "height": 900})
    show(page, documents.small())
    switch = page.locator('.bar [data-command="density"]')
    assert switch.is_visible() == is_there
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_second_call_of_one_line_is_no_second_sentence(page, show):
    """Line 10 calls `double` twice."""
    document = documents.small()
    call = [-3, 11, 12, 0]
    at = document["events"].index(-3)
    document["events"][at + len(call) : at + len(call)] = call
    for table, columns in (("inspections", ["event", "at"]), ("claims", ["at"])):
        for column in columns:
            document[table][column] = [
                number + len(call) * (number >= at + len(call))
                for number in document[table][column]
            ]
    document["claims"]["step"][1] += 2
    document["output"][0] |= {"step": 17, "at": 25}
    show(page, document)
    assert page.locator(".into").count() == 1, "one mark for both"
    page.locator(".into").click()
    summaries = page.locator(".calls summary")
    summaries.first.wait_for()
    assert summaries.all_inner_texts() == ["stepped into double", "again\nstepped into double"]
    first, second = (summaries.nth(place).bounding_box() for place in (0, 1))
    assert first["y"] == second["y"]


def test_a_claim_without_sides_has_no_card(page, show):
    """Its tick stands beside the line already."""
    document = documents.small()
    document["files"][0]["source"] = document["files"][0]["source"].replace("y == 6", "yes   ")
    document["assertions"][0] = {"statement": 4, "text": "yes", "operands": []}
    document["claims"]["operands"][1] = []
    show(page, document)
    line(page, 20).hover()
    card(page).wait_for()
    line(page, 13).hover()
    card(page).wait_for(state="detached")
    expect(line(page, 13).locator(".held-mark")).to_be_visible()


def test_an_amount_and_its_unit_stay_on_one_line(page, show):
    show(page, documents.small())
    line(page, 20).hover()
    amounts = card(page).locator(".cost span")
    amounts.nth(3).wait_for()
    assert amounts.all_inner_texts() == [
        "6 FLOP",
        "≥ 48 B moved",
        "≤ 0.13 FLOP/B",
        "4 KiB allocated",
    ]
    page.evaluate("document.querySelector('.card').style.width = '7rem'")
    boxes = [amount.bounding_box() for amount in amounts.all()]
    assert boxes[-1]["y"] > boxes[0]["y"], "the card is so narrow that they do not fit beside"
    assert len({round(box["height"]) for box in boxes}) == 1


def test_the_legend_keeps_its_shape_after_other_panels(page, show):
    show(page, documents.small())
    page.evaluate(
        """() => import("viewer/parts/styles.js").then((all) => all.styled("inspect.css"))"""
    )
    page.keyboard.press("L")
    page.locator("dialog .meanings").first.wait_for()
    widths = page.locator(".meanings > div").evaluate_all(
        "rows => rows.map((row) => Math.round(row.getBoundingClientRect().width))"
    )
    assert len(set(widths)) == 1


def test_keys_stand_in_two_columns_and_by_their_signs(page, show):
    show(page, documents.small())
    page.keyboard.press("?")
    tables = page.locator(".keys")
    tables.nth(3).wait_for()
    lefts = {round(table.bounding_box()["x"]) for table in tables.all()}
    assert len(lefts) == 2
    assert "Arrow" not in page.locator("dialog").inner_text()


def test_where_there_is_no_keyboard_the_menu_names_no_keys(browser, site):
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    site.publish(demo=documents.small())
    page = context.new_page()
    page.goto(f"{site.address}#doc=demo")
    page.locator('[data-command="menu"]').click()
    page.locator(".menu button").first.wait_for()
    assert page.locator(".menu kbd:visible").count() == 0
    items = page.locator(".menu button")
    names = page.locator(".menu button > span").all_inner_texts()
    assert all(len(name.split()) <= 4 for name in names), "the title says the rest"
    assert len(set(names)) == len(names)
    assert len({item.bounding_box()["height"] for item in items.all()}) == 1, "a line each"
    # And what the switch of a wide window shows is said.
    chosen = page.locator('.menu [data-command="density"] em')
    assert chosen.inner_text() == "evidence"
    chosen.click()
    page.locator(".menu").wait_for(state="detached")
    page.locator('[data-command="menu"]').click()
    expect(chosen).to_have_text("everything")
    context.close()


TARGETS = """(all) => all.filter((e) => e.checkVisibility()).map((e) => {
    e.scrollIntoView({ block: "center", behavior: "instant" });
    const { left, right, top, bottom } = e.getBoundingClientRect();
    const isOn = (y) => e.contains(document.elementFromPoint((left + right) / 2, y));
    let reached = 0;
    for (let y = Math.floor(top) - 8.5; y < bottom + 8; y++) reached += isOn(y);
    return [e.className, Math.round(right - left), reached];
})"""


def test_a_finger_has_targets_of_24_pixels_and_no_line_moves_for_them(browser, site):
    site.publish(demo=documents.small())
    tops = []
    for is_touched in (True, False):
        context = browser.new_context(
            viewport={"width": 390, "height": 844}, has_touch=is_touched, is_mobile=True
        )
        page = context.new_page()
        page.goto(f"{site.address}#doc=demo")
        line(page, 20).locator(".inspect").wait_for()
        painted(page)
        rows = page.locator("#article .line")
        tops.append([round(top(rows.nth(index)), 1) for index in range(rows.count())])
        if is_touched:
            found = page.locator("#article :is(.inspect, .into, .quiet-link, .value-name)")
            targets = found.evaluate_all(TARGETS)
            assert {name.split()[0] for name, _, _ in targets} >= {"inspect", "into", "value-name"}
            assert [own for own in targets if min(own[1:]) < 24] == []
        context.close()
    assert tops[0] == tops[1]
