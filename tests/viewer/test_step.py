"""Step in Chromium: variables of all open calls, panels that follow, the timeline, the code."""

import copy
from collections import Counter

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import painted
from tests.viewer.programs import recorded, step_on
from tests.viewer.test_access import assert_accessible
from tests.viewer.test_page import current_line, variables
from tests.viewer.test_reading import sidecar, with_times

WIDE, PHONE = (1280, 800), (390, 844)


@pytest.fixture(scope="module")
def programs():
    return recorded()


@pytest.fixture
def stepped(page, show, programs):
    """`stepped(text)` opens the programs after a line with this text ran."""

    def open_at(text: str, occurrence: int = 1):
        return show(page, programs, mode="step", at=str(step_on(programs, text, occurrence)))

    yield open_at
    page.evaluate("localStorage.clear()")


def row(page, name: str):
    return page.locator(".variable", has=page.locator(f".variable-name code:text-is('{name}')"))


def test_each_variable_of_each_open_call_is_shown_the_innermost_first(stepped):
    page = stepped("node = waiting.pop()")
    calls = page.locator(".open-call")
    assert calls.locator(".frame code").all_inner_texts() == ["graph", "main"]
    assert calls.locator(".frame").nth(0).get_attribute("aria-expanded") == "true"
    assert calls.nth(1).locator(".variable").count() == 0, "only the current one is open"
    assert variables(page) == {
        "edges": "{'a': ['b', 'c'], 'b': ['c'], 'c': ['a']}",
        "seen": "[]",
        "waiting": "[]",
        "node": "'a'",
    }
    calls.nth(1).locator(".frame").click()
    assert list(variables(page)) == ["back", "tree", "deep"]
    assert page.locator(".program-line.caller").count() == 1
    expect(row(page, "edges"), "what was open stays so").to_be_visible()


DEEP = """\
def main():
    '''Many open calls.'''
    return deep(30)


def deep(left):
    if left:
        return deep(left - 1)
    return left
"""


def test_open_calls_of_one_name_say_their_files(page, show):
    document = copy.deepcopy(recorded("def main():\n    inner()\n\n\ndef inner():\n    x = 1\n"))
    _outer, inner = (
        next(f for f in document["functions"] if f["name"] == n) for n in ("main", "inner")
    )
    path = "a/folder/of_many_lectures/and_one_more/other.py"
    document["files"].append({**document["files"][0], "path": path})
    inner |= {"name": "main", "file": 1}
    show(page, document, mode="step", at=str(step_on(document, "x = 1")))
    said = page.locator(".open-call .frame").all_inner_texts()
    assert len(said) == 2
    assert path in said[0]
    assert document["files"][0]["path"] in said[1]
    page.set_viewport_size({"width": 390, "height": 844})
    painted(page)
    for part in page.locator(".open-call .frame > *").all():
        box = part.bounding_box()
        assert box["width"] > 20
        assert box["x"] + box["width"] <= 390


def test_of_many_open_calls_those_at_both_ends_are_shown(page, show):
    document = recorded(DEEP)
    show(page, document, mode="step", at=str(step_on(document, "return left")))
    calls = page.locator(".open-call .frame")
    assert calls.count() == 14
    assert calls.last.locator("code").inner_text() == "main"
    assert page.locator(".variables .more").inner_text() == "18 more calls between"
    assert variables(page)["left"] == "0"


def test_what_changed_is_marked_in_colour_and_in_words(stepped):
    page = stepped("node = waiting.pop()")
    changed = page.locator(".variable.changed .variable-name")
    assert [text.split("\n")[0] for text in changed.all_inner_texts()] == ["waiting", "node"]
    assert "●" in changed.first.inner_text()
    assert "changed" in changed.first.inner_text()
    page.keyboard.press("ArrowRight")
    assert page.locator(".variable.changed").count() == 0


def test_what_may_have_changed_since_says_which_step_it_is_from(stepped, programs):
    page = stepped("node = waiting.pop()")
    page.locator(".open-call .frame").nth(1).click()
    past = row(page, "tree")
    assert "past" in past.get_attribute("class")
    number = int(past.locator(".as-of").inner_text().removeprefix("as of step "))
    opacity = "e => getComputedStyle(e).opacity"
    dimmed = float(past.locator(".variable-value > *").first.evaluate(opacity))
    assert 0.8 <= dimmed < 1, "fainter than the rest, and still read"
    assert row(page, "deep").locator(".as-of").count() == 0, "nothing can be written to a number"
    past.locator(".as-of").click()
    expect(page.locator(".timeline-step")).to_have_text(f"step {number} ended")


def test_what_is_not_bound_any_more_is_shown_as_gone(stepped):
    page = stepped("del tree")
    assert variables(page)["back"]
    gone = row(page, "tree")
    assert "no longer bound" in gone.inner_text()
    assert "gone" in gone.get_attribute("class")


def test_what_a_function_returns_is_shown_when_it_does(stepped):
    page = stepped("return seen")
    returned = row(page, "return")
    assert returned.locator(".variable-value").inner_text().split("\n")[0] == "['a', 'c', 'b']"
    assert returned.locator(".type").inner_text() == "returned"
    assert returned.locator(".shares").inner_text() == "also seen"
    assert row(page, "seen").locator(".shares").count() == 0, "what is returned has no name"
    page.keyboard.press("u")
    assert row(page, "return").count() == 0
    assert page.locator(".program-line.current").inner_text().strip().endswith("graph()")


def test_who_shares_an_object_or_a_storage_is_said(stepped):
    page = stepped("same[3] = back")
    assert row(page, "numbers").locator(".shares").inner_text() == "also same"
    page = stepped("row.fill_(7)")
    assert row(page, "x").locator(".shares").inner_text() == "shares storage with y, row"
    cells = row(page, "x").locator("td").all_inner_texts()
    assert [float(cell) for cell in cells] == [0, 1, 2, 7, 7, 7], "as written through another view"


VIEWS = """\
import torch


def main():
    numbers = torch.arange(16.0)
    as_a_matrix_of_four_rows = numbers.view(4, 4)
    its_transpose_of_four_rows = as_a_matrix_of_four_rows.T
    the_first_of_its_rows = as_a_matrix_of_four_rows[0]
    the_last_of_its_columns = as_a_matrix_of_four_rows[:, -1]
    every_second_of_the_numbers = numbers[::2]
    every_third_of_the_numbers = numbers[::3]
    return numbers
"""
STICKING_OUT = """(row) => [...row.querySelectorAll(".badge, .layout, .slice, .tensor")].filter(
    (part) => part.getBoundingClientRect().right > row.getBoundingClientRect().right ||
        (part.scrollWidth > part.clientWidth && !part.matches(".slice, span")))
    .map((part) => part.textContent)"""


@pytest.mark.parametrize("shape", [WIDE, PHONE])
def test_what_is_said_of_a_variable_is_not_cut_off(page, show, shape):
    page.set_viewport_size(dict(zip(("width", "height"), shape, strict=True)))
    document = recorded(VIEWS)
    show(page, document, mode="step", at=str(step_on(document, "return numbers")))
    rows = page.locator(".variable")
    assert rows.count() == 8, "the returned value is one"
    assert [row.evaluate(STICKING_OUT) for row in rows.all()] == [[]] * 8
    said = row(page, "every_third_of_the_numbers").locator(".shares").inner_text()
    assert said.startswith("shares storage with numbers, as_a_matrix_of_four_rows, ")
    assert said.endswith(" and 2 more"), "of six, four by name"


def test_table_or_graph_is_remembered(stepped):
    page = stepped("ring.append(ring)")
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    page.reload()
    page.locator(".graph").wait_for()
    page.locator("[data-command=graph]").click()
    page.locator(".variable").first.wait_for()
    page.reload()
    page.locator(".variable").first.wait_for()


def boxes(page) -> dict[str, tuple[float, float]]:
    """Where each box of the graph stands, by its object."""
    return page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll(".graph-box")].map((box) =>
            [box.dataset.key, new DOMMatrix(getComputedStyle(box).transform)].map((place, at) =>
                at ? [place.e, place.f] : place)))"""
    )


def test_in_the_graph_each_object_stands_once_and_cycles_are_seen(stepped):
    page = stepped("ring.append(ring)")
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    assert len(boxes(page)) == page.locator(".graph-box").count()
    cyclic = page.locator(".graph-box.is-cyclic")
    assert cyclic.count() == 1
    assert "↻" in cyclic.inner_text()
    assert page.locator(".graph-arrows .back").count() == 1
    page = stepped("same[3] = back")
    page.locator(".graph").wait_for()
    shared = page.locator(".graph-box.is-shared")
    assert "×2" in shared.filter(has_text="list of 100").inner_text()
    assert "more" in shared.filter(has_text="list of 100").inner_text(), "cut, with a count"


def test_in_the_graph_calls_of_one_name_are_told_apart_by_their_files(page, show):
    document = documents.small()
    document["files"].append({**document["files"][0], "path": "demo/other.py"})
    document["functions"][2] |= {"name": "main", "file": 1}
    show(page, document, mode="step", at="6")
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    titles = page.locator(".graph-box.is-call .graph-title code").all_inner_texts()
    paths = [file["path"] for file in document["files"]]
    assert sorted(titles) == sorted(f"main, {path}" for path in paths)


def test_views_point_at_one_storage(stepped):
    page = stepped("row.fill_(7)")
    page.keyboard.press("G")
    storage = page.locator(".graph-box.is-storage")
    storage.wait_for()
    assert storage.count() == 1
    assert storage.locator(".graph-label").all_inner_texts() == ["x", "y", "row"]
    key = storage.get_attribute("data-key")
    tracks = [track.bounding_box() for track in storage.locator(".graph-part").all()]
    assert len({(track["x"], track["width"]) for track in tracks}) == 1, "one scale for all"
    bars = storage.locator(".graph-part span")
    lefts = [bar.evaluate("e => e.style.left") for bar in bars.all()]
    assert lefts == ["0%", "0%", "50%"], (key, "the row is the second half")


def test_boxes_stay_where_they_are_while_one_steps(stepped):
    page = stepped('edges = {"a": ["b", "c"], "b": ["c"], "c": ["a"]}')
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    before = boxes(page)
    first, seen = set(before), set(before)
    for _ in range(24):
        page.keyboard.press("ArrowRight")
        after = boxes(page)
        stayed = before.keys() & after.keys()
        assert {key: before[key] for key in stayed} == {key: after[key] for key in stayed}
        before = after
        seen |= set(after)
    assert seen > first, "some came meanwhile"


def test_what_one_hears_of_the_graph_is_what_the_table_says(stepped):
    page = stepped("node = waiting.pop()")
    page.locator(".open-call .frame").nth(1).click()
    table = {
        found.locator(".variable-name code").inner_text(): found.inner_text()
        for found in page.locator(".variable").all()
    }
    page.keyboard.press("G")
    names = page.locator(".graph-name button")
    names.first.wait_for()
    assert names.count() == len(table)
    for name in names.all():
        heard = name.locator(".visually-hidden").text_content()
        own = heard.split(",")[0].split(" ")[0]
        said = table[own]
        assert name.get_attribute("title") == heard
        assert ("changed" in heard) == ("●" in said)
        assert ("as of step" in heard) == ("as of step" in said)
        value = next(part for part in said.split("\n") if part.strip("● ") not in ("", own))
        assert value in heard


def test_the_graph_is_reached_and_followed_by_keys(stepped):
    page = stepped("same[3] = back")
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    page.locator(".graph-name button[title^=numbers]").focus()
    page.keyboard.press("Enter")
    lit = page.locator(".graph-box.lit")
    assert lit.filter(has_text="list of 100").count() == 1
    assert lit.count() > 1, "and what it holds"
    line = current_line(page)
    page.keyboard.press("ArrowRight")
    assert current_line(page) == line + 1


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("shape", [WIDE, PHONE])
@pytest.mark.parametrize("view", ["table", "graph"])
def test_axe_finds_nothing_in_variables(theme, shape, view, stepped, page):
    page.emulate_media(color_scheme=theme)
    page.set_viewport_size(dict(zip(("width", "height"), shape, strict=True)))
    stepped("row.fill_(7)")
    if view == "graph":
        page.keyboard.press("G")
        page.locator(".graph").wait_for()
    painted(page)
    assert_accessible(page, f"{view} of variables")


def test_the_inspector_follows_the_step_and_keys_step_on(stepped):
    page = stepped("seen.append(node)")
    row(page, "seen").locator(".variable-name button").click()
    page.keyboard.press("i")
    shown = page.locator(".dock .whole-value")
    shown.wait_for()
    assert shown.inner_text() == "['a']"
    while shown.inner_text() == "['a']":
        page.keyboard.press("ArrowRight")
    assert "changed" in row(page, "seen").get_attribute("class")
    assert shown.inner_text() == "['a', 'c']"
    assert page.locator("dialog").count() == 0
    page.keyboard.press("v")
    page.locator(".dock .history-list .here").wait_for()
    assert page.locator(".dock .history-list .here code").inner_text() == "['a', 'c']"
    page.keyboard.press("Escape")
    page.locator(".dock").wait_for(state="detached")


def test_the_inspector_says_when_its_variable_has_no_value(stepped):
    page = stepped("seen.append(node)")
    row(page, "seen").locator(".variable-name button").click()
    page.keyboard.press("i")
    page.locator(".dock .whole-value").wait_for()
    page.keyboard.press("Home")
    assert "seen has no value at this step." in page.locator(".dock").inner_text()


def test_two_steps_stay_compared_while_one_steps(stepped):
    page = stepped('seen, waiting = [], ["a"]')
    page.keyboard.type("mld")
    entries = page.locator(".dock .difference h4")
    page.get_by_text("No difference in graph").wait_for()
    page.keyboard.press("ArrowRight")
    entries.first.wait_for()
    assert entries.all_inner_texts() == ["waiting changed", "node added"]
    page.keyboard.press("d")
    page.locator(".dock").wait_for(state="detached")


def test_a_notice_pushes_no_button_off_the_screen(phone, show):
    place = "no_such_section_and_its_name_is_so_long_that_it_takes_several_lines"
    show(phone, documents.small(), mode="step", at=f"demo/main.py:{place}:1.1")
    phone.locator(".page-notice").wait_for()
    boxes = [one.bounding_box() for one in phone.locator(".control-buttons button:visible").all()]
    height = phone.viewport_size["height"]
    assert boxes
    assert max(box["y"] + box["height"] for box in boxes) <= height
    assert phone.locator(".program").bounding_box()["height"] > height / 4


def test_in_a_short_window_five_lines_are_seen_and_the_rest_scrolls(phone, show, programs):
    """As a zoom of 400 % makes it."""
    phone.set_viewport_size({"width": 320, "height": 256})
    show(phone, programs, mode="step", at=str(step_on(programs, "node = waiting.pop()")))
    lines, buttons = phone.locator(".program-lines"), phone.locator(".control-buttons")
    painted(phone)
    box = lines.first.bounding_box()
    height = lines.first.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
    assert buttons.bounding_box()["y"] + buttons.bounding_box()["height"] <= 256
    assert min(box["y"] + box["height"], buttons.bounding_box()["y"]) - box["y"] >= 5 * height
    phone.locator(".timeline input").scroll_into_view_if_needed()
    last, track = (
        phone.locator(one).last.bounding_box() for one in (".open-call", ".timeline-track")
    )
    assert last["y"] + last["height"] <= track["y"], "what is known stands above the timeline"
    assert track["y"] + track["height"] <= buttons.bounding_box()["y"]
    assert buttons.bounding_box()["y"] + buttons.bounding_box()["height"] <= 256


@pytest.mark.parametrize("size", [(844, 390), (720, 450), (640, 320)])
def test_in_a_low_window_code_stands_beside_the_variables(size, page, show, programs):
    """As a phone on its side makes it, or a zoom of 200 %."""
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, programs, mode="step", at=str(step_on(programs, "node = waiting.pop()")))
    painted(page)
    lines = page.locator(".program-lines").first
    code, facts, controls = (
        one.bounding_box() for one in (lines, page.locator(".facts"), page.locator(".controls"))
    )
    height = lines.evaluate("e => parseFloat(getComputedStyle(e).lineHeight)")
    assert code["height"] >= 9 * height
    assert facts["x"] >= code["x"] + code["width"], "beside it, not below"
    assert min(code["width"], facts["width"]) > 0.35 * size[0]
    assert facts["y"] + facts["height"] <= controls["y"] + 1
    assert controls["y"] + controls["height"] <= size[1]
    parts = page.locator(".controls :is(button, input, output):visible")
    boxes = [part.bounding_box() for part in parts.all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= size[0] for box in boxes)
    assert page.locator(".timeline-track").bounding_box()["width"] > 60


CALLING = """
def main():
    y = f()


def f():
    x = 1
    return x
"""


def stop_of(page):
    """What is said of the stop: which step of how many, and what ran."""
    painted(page)
    return page.locator(".timeline-count").inner_text(), page.locator(".where").inner_text()


def test_a_step_forward_never_leads_back(page, show):
    """A statement comes before the calls that it makes, and once more with the last of these."""
    show(page, recorded(CALLING), mode="step", at="0")
    stops = [stop_of(page)]
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        stops.append(stop_of(page))
    assert stops == [
        ("1 / 3", "line 3: its calls come first"),
        ("2 / 3", "after line 7 ran"),
        ("3 / 3", "after line 8 ran"),
        ("3 / 3", "after line 3 ran"),
    ]
    for stop in reversed(stops[:-1]):
        page.keyboard.press("ArrowLeft")
        assert stop_of(page) == stop


NESTED = """
def main():
    a = 1
    y = f()
    z = f()


def f():
    x = 1
    return x
"""


def test_over_calls_one_sees_what_they_came_to_and_back_out_of_one_where_it_began(page, show):
    show(page, recorded(NESTED), mode="step", at="0")
    after = {}
    for _ in range(2):
        page.keyboard.press("j")
        after[stop_of(page)] = variables(page).get("y")
    assert after == {("4 / 7", "after line 4 ran"): "1", ("7 / 7", "after line 5 ran"): "1"}
    page.keyboard.press("k")
    assert stop_of(page) == ("5 / 7", "line 5: its calls come first")
    page.keyboard.press("k")
    assert stop_of(page) == ("4 / 7", "after line 4 ran")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("k")
    assert stop_of(page) == ("3 / 7", "after line 9 ran")
    page.keyboard.press("k")
    assert stop_of(page) == ("2 / 7", "line 4: its calls come first")
    assert "y" not in variables(page)


def test_over_the_last_line_of_a_call_one_is_back_at_what_made_it(page, show):
    document = recorded(NESTED)
    show(page, document, mode="step", at=str(step_on(document, "return x")))
    page.keyboard.press("j")
    assert stop_of(page) == ("4 / 7", "after line 4 ran")


def test_who_comes_from_elsewhere_sees_what_a_statement_came_to(page, show):
    document = recorded(NESTED)
    show(page, document, mode="step", at=str(step_on(document, "y = f()")))
    assert stop_of(page) == ("4 / 7", "after line 4 ran")
    assert variables(page)["y"] == "1"
    slider = page.get_by_role("slider", name="step")
    slider.evaluate("e => { e.value = 1; e.dispatchEvent(new Event('input')); }")
    assert stop_of(page) == ("2 / 7", "line 4: its calls come first"), "the thumb stays where it is"


def test_a_line_that_does_not_run_again_leads_back_and_says_so(page, show):
    document = recorded(NESTED)
    show(page, document, mode="step", at=str(step_on(document, "z = f()")))
    line = page.locator('.program-file:not(.away) [data-line="9"] button.line-number')
    line.click()
    assert stop_of(page) == ("6 / 7", "back at line 9, its last run")
    line.click()
    assert stop_of(page)[0] == "6 / 7", "it stays there"


LOOPS = """
def main():
    total = 0
    for row in range(3):
        for column in "ab":
            if row == 1:
                total += 1
            total += 2
    return total
"""


def test_the_round_of_a_loop_is_said_and_leads_to_the_same_line_in_others(page, show):
    document = recorded(LOOPS)
    show(page, document, mode="step", at=str(step_on(document, "total += 2", 3)))
    rounds = page.locator(".rounds")
    inner = rounds.locator("span")
    expect(inner).to_have_text("round 1 of 2")
    assert variables(page) == {"total": "7", "row": "1", "column": "'a'"}
    before, after = rounds.get_by_role("button").all()
    expect(before).to_be_disabled()
    after.click()
    expect(inner).to_have_text("round 2 of 2")
    assert page.locator(".where").inner_text() == "after line 8 ran"
    assert variables(page) == {"total": "10", "row": "1", "column": "'b'"}
    expect(after).to_be_disabled()
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    expect(inner, "of the outer loop").to_have_text("round 3 of 3")
    expect(rounds).to_have_attribute("aria-label", "rounds of the loop on line 4")
    page.keyboard.press("Home")
    expect(rounds).to_have_count(0)


PAIRS = """
def main():
    for i, j in [(0, 0), (0, 1), (1, 1), (1, 1)]:
        total = i + j
"""


@pytest.mark.parametrize(
    ("occurrence", "bound"), [(1, "i = 0, j = 0"), (2, "i = 0, j = 1"), (4, "i = 1, j = 1")]
)
def test_of_a_round_all_that_it_binds_is_told(occurrence, bound, page, show):
    """A name that is bound to the value that it had is not recorded anew."""
    document = recorded(PAIRS)
    show(page, document, mode="step", at=str(step_on(document, "total = i + j", occurrence)))
    expect(page.locator(".rounds span")).to_have_attribute("title", bound)


SKIPPED = """
def main():
    total = 0
    for row in range(3):
        if row == 1:
            total += 1
"""


def test_a_line_that_a_round_does_not_reach_leads_to_its_first_line(page, show):
    document = recorded(SKIPPED)
    show(page, document, mode="step", at=str(step_on(document, "total += 1")))
    page.locator(".rounds button").last.click()
    expect(page.locator(".where")).to_have_text("after line 4 ran")
    expect(page.locator(".rounds span")).to_have_text("round 3 of 3")


MANY = "def main():\n" + "".join(f"    name_{number} = {number}\n" for number in range(40))


def test_what_a_step_changed_is_in_sight(phone, show):
    document = recorded(MANY + "    name_0 = name_39 = 50\n    name_1 = 51\n")
    show(phone, document, mode="step", at=str(step_on(document, "name_38 = 38")))
    for name in ("name_38", "name_39", "name_0", "name_1"):
        expect(row(phone, name)).to_have_class("variable changed")
        expect(row(phone, name)).to_be_in_viewport(ratio=0.9)
        phone.keyboard.press("ArrowRight")


def test_times_and_counts_beside_a_statement_say_what_they_are(page, site):
    with_times(page, site, sidecar(documents.small(), [0.25] * 16))
    page.keyboard.press("r")
    page.locator(".outcome .cost").wait_for()
    assert page.locator(".outcome .cost").inner_text().endswith("took 250 ms")
    page.keyboard.press("End")
    total = row(page, "total").locator(".type")
    assert total.inner_text() == "int, seen\xa03\xa0times"


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_the_page_is_not_higher_than_the_window(size, page, show, programs):
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, programs, mode="step", at="3")
    page.locator(".program").wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") == size[1]


def test_the_history_of_pictures_shows_them_small(page, show):
    document = documents.with_values()
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><circle r="{}"/></svg>'
    )
    document["names"].append("figure")
    for event, radius in ((12, 5), (14, 9)):
        document["values"].append({"type": "Figure", "svg": picture.format(radius)})
        for column, entry in (
            ("event", event),
            ("at", event + 1),
            ("name", len(document["names"]) - 1),
            ("value", len(document["values"]) - 1),
        ):
            document["inspections"][column].append(entry)
    show(page, document, mode="step", at="9")
    row(page, "figure").locator(".type").click()
    drawings = page.locator(".dock .history-list.drawn svg")
    drawings.nth(1).wait_for()
    assert drawings.count() == 2
    for drawing in drawings.all():
        assert drawing.bounding_box()["width"] < 250


def test_the_timeline_names_sections_and_explains_its_marks(page, show):
    show(page, documents.small(), mode="step", at="4")
    bands = page.locator(".timeline-band")
    assert bands.all_inner_texts() == ["Views share storage"]
    assert page.locator(".timeline-legend li:not(.unused)").all_inner_texts() == [
        "section begins",
        "claim held",
    ]
    bands.first.click()
    assert current_line(page) == 20


CALLS = """
def main():
    shallow = 1
    found = outer()
    shallow = 2


def outer():
    between = 1
    inner()
    between = 2


def inner():
    deep = 1
    deep = 2
"""

HEIGHTS = """(canvas) => {
    const [wide, high] = [canvas.width, canvas.height];
    const { data } = canvas.getContext("2d").getImageData(0, 0, wide, high);
    return [...Array(8).keys()].map((place) => {
        const x = Math.floor(((place + 0.5) * wide) / 8);
        return [...Array(high).keys()].filter((y) => data[4 * (y * wide + x) + 3] > 0).length;
    });
}"""


def test_where_no_sections_are_the_timeline_shows_how_deep_calls_are(page, show):
    show(page, trace_source(CALLS), mode="step")
    strip = page.locator(".timeline-bands canvas")
    strip.wait_for()
    painted(page)
    ground, *heights = strip.evaluate(HEIGHTS)
    one, two = heights[1], heights[3]
    assert 0 < ground < one < two
    assert [ground, *heights] == [ground, ground, one, one, two, two, one, ground]
    assert page.locator(".timeline-legend li:not(.unused)").all_inner_texts() == ["open calls"]


def test_the_bar_of_steps_is_as_high_whatever_it_reaches_over(page, show):
    show(page, documents.small(), mode="step", at="2")
    bar = page.locator(".controls")
    heights = []
    for _ in range(3):
        heights.append(bar.bounding_box()["height"])
        page.keyboard.press("z")
    assert len(set(heights)) == 1


def test_the_timeline_is_limited_to_a_section_or_a_call(page, show):
    show(page, documents.small(), mode="step", at="2")
    slider = page.get_by_role("slider", name="step")
    limits = "e => [Number(e.min), Number(e.max)]"
    assert slider.evaluate(limits) == [0, 15]
    page.keyboard.press("z")
    assert slider.evaluate(limits) == [1, 3]
    assert page.locator(".timeline-count").inner_text() == "2 / 3"
    page.keyboard.press("u")
    assert slider.evaluate(limits) == [0, 15], "no section is here"
    page.keyboard.press("z")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert slider.evaluate(limits) == [5, 6]
    assert slider.get_attribute("aria-valuetext") == "step 1 / 2 of double"
    page.wait_for_url("**double:1.1")
    page.reload()
    page.locator("#stepping").wait_for()
    assert slider.evaluate(limits) == [5, 6]
    page.evaluate("localStorage.clear()")


@pytest.mark.parametrize("outline", [False, True])
def test_eighty_columns_of_code_fit_at_1280_pixels(page, show, outline):
    document = documents.small()
    lines = document["files"][0]["source"].split("\n")
    lines[13] = "    " + "x" * 76
    document["files"][0]["source"] = "\n".join(lines)
    document["files"][0]["tokens"] = []
    show(page, document, mode="step")
    if outline:
        page.keyboard.press("o")
        page.locator(".sidebar").wait_for()
    one, long = (page.locator(f'[data-line="{line}"] .source') for line in (13, 14))
    assert long.bounding_box()["height"] == one.bounding_box()["height"]


def test_a_line_that_wraps_has_its_number_at_the_top(page, show):
    document = documents.small()
    lines = document["files"][0]["source"].split("\n")
    lines[13] = "    " + "long " * 60
    document["files"][0]["source"] = "\n".join(lines)
    document["files"][0]["tokens"] = []
    show(page, document, mode="step")
    whole = page.locator('[data-line="14"]')
    number = whole.locator(".line-number").bounding_box()
    assert whole.bounding_box()["height"] > 2 * number["height"]
    assert abs(number["y"] - whole.bounding_box()["y"]) < 4


def test_names_never_break_inside(page, show, programs):
    document = copy.deepcopy(programs)
    name = "writing_through_a_view_changes_the_others_" * 3
    document["functions"][
        document["functions"].index(
            next(func for func in document["functions"] if func["name"] == "graph")
        )
    ]["name"] = name
    document["names"][document["names"].index("waiting")] = name
    show(page, document, mode="step", at=str(step_on(programs, "node = waiting.pop()")))
    for code in page.locator(".variable-name code, .frame code").all():
        box = code.bounding_box()
        assert box["height"] < 30
        assert box["x"] + box["width"] <= 1280


@pytest.mark.parametrize("size", [WIDE, PHONE])
@pytest.mark.parametrize(
    ("elements", "stretch"),
    [
        ([float(number) for number in range(984, 1000)], 4),
        ([float(number) for number in range(9)] + [100.0] * 7, 4),
        ([1.00000001 * number for number in range(123_456_701, 123_456_717)], 2),
    ],
    ids=["short", "of two lengths", "long"],
)
def test_a_row_of_elements_is_shown_whole_and_goes_on_below_in_even_rows(
    size, elements, stretch, page, show
):
    row_of_sixteen = {
        **documents.TENSOR,
        "shape": [16],
        "strides": [1],
        "elements": elements,
    }
    document = documents.with_values(row_of_sixteen)
    document["locals"] = {
        "event": [3],
        "at": [4],
        "name": [document["names"].index("v0")],
        "value": [len(document["values"]) - 1],
    }
    page.set_viewport_size({"width": size[0], "height": size[1]})
    show(page, document, mode="step", at="2")
    cells = page.locator(".variable-value .grid").first.locator("td")
    cells.last.wait_for()
    assert cells.count() == 16
    cut = """(cells) => cells.filter((cell) => {
        const { right } = cell.getBoundingClientRect();
        return right > cell.closest(".slice").getBoundingClientRect().right + 1;
    }).length"""
    assert cells.evaluate_all(cut) == 0
    counted = Counter(cells.evaluate_all("cells => cells.map((cell) => cell.offsetTop)"))
    *rows, last = counted.values()
    assert len(rows) >= 1 or size == WIDE
    assert {row % stretch for row in rows} <= {0}
    assert len(set(rows)) <= 1
    assert last <= max(rows, default=16)


LONG = """
import torch


def main():
    'Long ones.'
    column = torch.arange(64.0).view(64, 1)
    row = torch.arange(64.0)
    short = torch.arange(36.0).view(6, 6)
    end = True
"""


@pytest.mark.parametrize(
    ("name", "shown", "rest"),
    [("column", 8, "and 56 more rows"), ("row", 32, "and 32 more elements"), ("short", 36, "")],
)
def test_of_a_long_tensor_the_first_elements_are_shown_until_one_asks(
    name, shown, rest, page, show
):
    document = recorded(LONG)
    show(page, document, mode="step", at=str(step_on(document, "end = True") + 1))
    value = page.locator(".variable", has=page.get_by_text(name, exact=True)).first
    cells = value.locator("td:visible")
    expect(cells).to_have_count(shown)
    more = value.locator(".variable-value > .quiet-link")
    assert more.all_inner_texts() == [rest] * bool(rest)
    if rest:
        more.click()
        expect(cells).to_have_count(64)


ARROWS = """
def first(numbers: list[float], count: int) -> list[float]:
    return numbers[:count]


def last(numbers: list[float], number: int) -> list[float]:
    return numbers[-number:]


def middle(names: tuple[str, ...], at: int = 0) -> tuple[str, ...]:
    return names[at:]


def main():
    first([1.0], 1)
"""


def test_no_line_is_broken_within_an_arrow(page, show):
    show(page, trace_source(ARROWS), mode="step", at="1")
    broken = """() => [...document.querySelectorAll(".token-operator")]
        .filter((operator) => operator.textContent === "->")
        .map((operator) => operator.getClientRects().length)"""
    for width in range(320, 480, 5):
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate(broken) == [1] * 3


def test_elements_have_the_room_below_the_words_beside_them(page, show):
    value = {
        **{**documents.TENSOR, "shape": [5, 5], "strides": [5, 1], "bytes": 100},
        "elements": [at / 7 for at in range(25)],
    }
    page.set_viewport_size({"width": 844, "height": 390})
    show(page, documents.with_values(value), mode="step", at="2")
    of_tensor = page.locator(".variable", has=page.locator(".grid tr:nth-child(5)"))
    of_tensor.wait_for()
    whole, head, words = (
        of_tensor.locator(part).bounding_box()
        for part in (".variable-value", ".tensor-head", ".type")
    )
    assert whole["x"] + whole["width"] >= words["x"] + words["width"] - 1
    assert head["x"] + head["width"] <= words["x"]
    assert abs(head["y"] - words["y"]) < 8, "on the same line"


BREAKS = """() => [...document.querySelectorAll(".source-line wbr")].map((end) => {
    const range = document.createRange();
    range.setStart(end.parentElement, 0);
    range.setEndBefore(end);
    return range.toString().trim();
})"""


def test_a_line_breaks_within_its_long_runs_of_letters_alone(page, show):
    line = "x = [[1]] + sorted(''.join(str(1))).copy() + [1][0:1] + [1]"
    show(page, trace_source(f"def main():\n    {line}\n"), mode="step", at="0")
    assert page.evaluate(BREAKS) == [
        "x = [[1]] + sorted(",
        "x = [[1]] + sorted(''.join(",
        "x = [[1]] + sorted(''.join(str(",
        "x = [[1]] + sorted(''.join(str(1)))",
    ]


ONE_STEP = """
def doubled(number):  # @stepover
    return 2 * number


def tripled(number):
    return 3 * number


class Number:
    def doubled(self):
        return 2


def main():
    both = doubled(1) + tripled(1)
    none = Number().doubled()
    number = Number()
    none = number.doubled()
"""


def test_what_is_recorded_as_one_step_is_named_where_it_is_called(page, show):
    document = trace_source(ONE_STEP)
    show(page, document, mode="step", at=str(step_on(document, "both = doubled(1) + tripled(1)")))
    page.keyboard.press("j")
    said = page.locator(".one-step")
    expect(said).to_have_text("doubled is recorded as one step.")
    for line in ("none = Number().doubled()", "none = number.doubled()"):
        show(page, document, mode="step", at=str(step_on(document, line)))
        expect(page.locator(".outcome")).to_have_count(1)
        expect(said).to_have_count(0)


PAUSES = """() => {
    const wait = window.setInterval;
    window.pauses = [];
    window.setInterval = (act, pause) => {
        window.pauses.push(pause);
        return wait(act, pause);
    };
}"""


def test_it_plays_at_the_speed_that_is_chosen(page, show):
    show(page, documents.small(), mode="step", at="0")
    page.evaluate(PAUSES)
    button = page.locator('.controls [data-command="speed"]')
    pauses = {}
    for speed in ("1×", "2×", "4×", "0.5×"):
        expect(button).to_have_text(speed)
        page.keyboard.press("p")
        pauses[speed] = page.evaluate("window.pauses.at(-1)")
        page.keyboard.press("p")
        page.keyboard.press(">")
    usual = pauses["1×"]
    assert pauses == {"1×": usual, "2×": usual / 2, "4×": usual / 4, "0.5×": 2 * usual}
    expect(button).to_have_text("1×")


LONG_NAMES = """
def main():
    forward_differences, central_differences = [1], [2]
    differences_of_differences = [3]
    found = differences_check_a_gradient(forward_differences)


def differences_check_a_gradient(forward_differences):
    return forward_differences[0]
"""

CUT_NAMES = """() => [...document.querySelectorAll(".graph-label, .graph-title code")]
    .filter((name) => name.scrollWidth > name.clientWidth + 1)
    .map((name) => name.textContent)"""


def test_names_in_the_graph_have_the_room_beside_it(page, show):
    document = trace_source(LONG_NAMES)
    page.set_viewport_size({"width": 1366, "height": 768})
    show(page, document, mode="step", at=str(step_on(document, "return forward_differences[0]")))
    page.keyboard.press("G")
    page.locator(".graph-box.is-call").first.wait_for()
    painted(page)
    assert page.evaluate(CUT_NAMES) == []
    graph = page.locator(".graph")
    assert graph.evaluate("e => e.scrollWidth - e.clientWidth") == 0
    left = "e => e.getBoundingClientRect().left"
    before = page.locator(".graph-box:not(.is-call)").first.evaluate(left)
    page.keyboard.press("ArrowLeft")
    painted(page)
    assert page.locator(".graph-box:not(.is-call)").first.evaluate(left) == before


NUMBERED = """\
def helper():  # a word for readers
    return 1


def main():  # M7.4 E35, E7a @core
    'Topics with numbers.'
    return helper()
"""


def test_numbers_of_topics_are_for_who_asks_for_the_source(page, show):
    document = recorded(NUMBERED)
    show(page, document, mode="step", at=str(step_on(document, "return helper()")))
    heads = page.locator(".program-line", has_text="def ").locator("code")
    assert [text.strip() for text in heads.all_inner_texts()] == [
        "def helper():  # a word for readers",
        "def main():",
    ]
    page.keyboard.press("R")
    heads.get_by_text("# M7.4 E35, E7a").wait_for()


def test_on_a_phone_the_menu_has_what_the_bar_of_step_has_no_room_for(page, phone, show):
    switches = {"speed", "notes", "raw", "variables"}
    for screen, expected in ((page, set()), (phone, switches)):
        show(screen, documents.small(), mode="step", at="3")
        screen.locator('[data-command="menu"]').click()
        items = screen.locator(".menu button")
        items.first.wait_for()
        found = items.evaluate_all("(all) => all.map((e) => e.dataset.command)")
        assert switches & set(found) == expected
        assert "density" not in found, "that is of Read"
    phone.locator('.menu [data-command="notes"]').click()
    phone.locator(".menu").wait_for(state="detached")
    expect(phone.locator(".program .prose")).to_have_count(0)
    phone.locator('[data-command="menu"]').click()
    expect(phone.locator('.menu [data-command="notes"] em')).to_have_text("hidden")


STEADY = """\
import torch


def main():
    'Lines of each kind.'
    x = torch.ones(2, 2)
    n = 1
    assert n + 1 == 2
    y = x @ x
    print(n)
    return y
"""


def test_variables_and_timeline_stay_where_they_are(page, show):
    show(page, recorded(STEADY, costs=True), mode="step", at="0")
    where = """() => [
        document.querySelector(".variables h2").getBoundingClientRect().top,
        document.querySelector(".timeline-track").offsetWidth,
    ]"""
    found = set()
    for key in ["ArrowRight"] * 5 + ["m"]:
        found.add(tuple(page.evaluate(where)))
        page.keyboard.press(key)
        painted(page)
    found.add(tuple(page.evaluate(where)))
    assert len(found) == 1


WIDE_STATE = "def main():\n" + "".join(f"    name_{n} = {n}\n" for n in range(60))


def test_what_a_step_came_to_stays_in_sight_above_its_variables(page, show):
    document = recorded(WIDE_STATE + "    assert name_59 == 59\n    return name_0\n")
    show(page, document, mode="step", at=str(step_on(document, "name_59 = 59")))
    page.keyboard.press("ArrowRight")
    for part in (".facts .claim", '[data-command="pin"]'):
        expect(page.locator(part)).to_be_in_viewport(ratio=1)
    expect(row(page, "name_59"), "the list stays where it was").to_be_in_viewport(ratio=1)
    expect(row(page, "name_0")).not_to_be_in_viewport()


def test_the_number_of_a_step_that_panels_name_stands_beside_the_timeline(page, show):
    show(page, documents.small(), mode="step", at="2")
    number = page.locator(".timeline-step")
    expect(number).to_have_text("")
    page.keyboard.press("z")
    expect(number).to_have_text("step 3")
    assert page.locator(".timeline-count").inner_text() == "2 / 3"
    page.evaluate("localStorage.clear()")


MANY_OBJECTS = "def main():\n" + "".join(
    f"    rows_{at} = [[{at}, 0], [{at}, 1], [{at}, 2]]\n" for at in range(7)
)
CHANGED_BOX = """(graph) => {
    const [box, { left, right, top, bottom }] = [graph.querySelector(".graph-box.of-change"), graph]
        .map((one) => one.getBoundingClientRect());
    return box.left >= left && box.right <= right && box.top >= top && box.bottom <= bottom;
}"""


@pytest.mark.parametrize("size", [WIDE, PHONE])
def test_in_the_graph_what_a_step_changed_is_in_sight_and_told_apart(size, page, show):
    document = trace_source(MANY_OBJECTS)
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    show(
        page, document, mode="step", at=str(step_on(document, "rows_4 = [[4, 0], [4, 1], [4, 2]]"))
    )
    page.keyboard.press("G")
    graph = page.locator(".graph")
    for name in ("rows_4", "rows_5", "rows_6"):
        box = page.locator(".graph-box.of-change", has_text=name)
        box.wait_for()
        painted(page)
        assert page.locator(".graph-box.of-change").count() == 1, "what holds it did not change"
        assert graph.evaluate(CHANGED_BOX)
        arrow = page.locator(".graph-arrows > path.of-change")
        assert arrow.count() == 1
        colour, others = (
            page.locator(f".graph-arrows > path{which}").first.evaluate(
                "path => getComputedStyle(path).stroke"
            )
            for which in (".of-change", ":not(.of-change)")
        )
        assert colour != others
        page.keyboard.press("ArrowRight")
    page.evaluate("localStorage.clear()")


def test_the_head_of_an_arrow_is_as_large_whatever_its_line_is(stepped):
    page = stepped("same[3] = back")
    page.keyboard.press("G")
    marker = page.locator(".graph-arrows marker")
    marker.wait_for(state="attached")
    assert marker.evaluate("one => one.markerUnits.baseVal") == 1, "in pixels, not in widths"


def test_on_a_phone_most_of_a_graph_of_two_columns_is_in_sight(phone, show, programs):
    show(phone, programs, mode="step", at=str(step_on(programs, "row.fill_(7)")))
    phone.keyboard.press("G")
    storage = phone.locator(".graph-box.is-storage")
    storage.wait_for()
    painted(phone)
    left = storage.locator(".graph-title").evaluate(
        "title => title.closest('.graph').getBoundingClientRect().right"
        " - title.getBoundingClientRect().left"
    )
    assert left > 80, "its title can be read"
