"""Playing, filtering, searching values, loops on one line, documents that are broken anywhere."""

import json
import random

import pytest

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import painted
from tests.viewer.shelves import needed_by

TIMERS = """
const [start, end] = [window.setInterval, window.clearInterval];
window.ticking = new Set();
window.setInterval = (...all) => {
    const id = start(...all);
    window.ticking.add(id);
    return id;
};
window.clearInterval = (id) => {
    window.ticking.delete(id);
    end(id);
};
"""


def wait_until_nothing_ticks(page):
    page.wait_for_function("() => window.ticking.size === 0")


def test_play_steps_until_paused(page, show):
    page.add_init_script(TIMERS)
    show(page, documents.small(), mode="step", at="1")
    page.keyboard.press("A")
    page.locator('[data-line="21"].current').wait_for()
    page.locator('[data-line="23"].current').wait_for()
    page.keyboard.press("A")
    page.locator('[data-command="play"][aria-pressed="false"]').wait_for()
    wait_until_nothing_ticks(page)


def test_any_other_key_ends_playing(page, show):
    page.add_init_script(TIMERS)
    show(page, documents.small(), mode="step", at="0")
    page.keyboard.press("p")
    page.wait_for_function("() => window.ticking.size === 1")
    page.keyboard.press("j")
    page.locator('[data-command="play"][aria-pressed="false"]').wait_for()
    wait_until_nothing_ticks(page)
    assert page.locator(".where").inner_text().startswith("after line ")


def test_a_line_is_chosen_and_run_to_by_keys(page, show):
    show(page, documents.small(), mode="step", at="4")
    page.keyboard.press("ArrowDown")
    page.locator('[data-line="11"] button:focus').wait_for()
    page.keyboard.press("ArrowDown")
    page.locator('[data-line="12"] button:focus').wait_for()
    page.keyboard.press("Enter")
    page.locator('[data-line="12"].current').wait_for()
    assert page.locator(".timeline-count").inner_text() == "9 / 16"
    page.keyboard.press("ArrowUp")
    page.locator('[data-line="11"] button:focus').wait_for()
    page.keyboard.press("End")
    page.locator('[data-line="14"].current').wait_for()
    page.keyboard.press("ArrowUp")  # from where the run is now
    page.locator('[data-line="13"] button:focus').wait_for()


def test_only_lines_that_can_run_are_chosen(page, show):
    source = "def main():\n    first = 1\n\n    if not first:\n        pass\n    last = 2\n"
    show(page, trace_source(source), mode="step", at="0")
    for line in ("4", "5", "6"):
        page.keyboard.press("ArrowDown")
        page.locator(f'[data-line="{line}"] button:focus').wait_for()
    assert page.locator('[data-line="3"] button').count() == 0
    assert page.locator('[data-line="3"] .line-number').inner_text() == "3"


def test_a_timeline_over_the_whole_run_says_so(page, show):
    document = documents.small()
    show(page, document, mode="step", at="0")
    page.evaluate("async () => (await import('viewer/state/state.js')).reach.value = 'section'")
    painted(page)
    words = page.locator(".timeline-words")
    assert "/ 16" in words.inner_text()
    assert words.locator('[data-command="reach"]').inner_text() == "whole run"


def test_arrows_scroll_what_is_known_when_that_has_the_focus(page, show):
    show(page, documents.small(), mode="step", at="4")
    page.keyboard.press("ArrowDown")
    page.locator('[data-line="11"] button:focus').wait_for()
    page.locator(".variable-name button").first.focus()
    page.keyboard.press("ArrowDown")
    assert page.locator(".variable-name button:focus").count() == 1


def test_the_pinned_step_is_marked_on_the_timeline(page, show):
    show(page, documents.small(), mode="step", at="4")
    ticks = page.locator("canvas.ticks")
    drawn = "canvas => canvas.toDataURL()"
    differs = "([canvas, before, other]) => (canvas.toDataURL() !== before) === other"
    page.keyboard.press("l")
    before = ticks.evaluate(drawn)
    page.keyboard.press("m")
    page.locator('[data-command="pin"][aria-pressed="true"]').wait_for()
    page.wait_for_function(differs, arg=[ticks.element_handle(), before, True])
    page.keyboard.press("m")
    page.locator('[data-command="pin"][aria-pressed="false"]').wait_for()
    page.wait_for_function(differs, arg=[ticks.element_handle(), before, False])


def test_an_open_call_tells_its_line(page, show):
    show(page, documents.small(), mode="step", at="5")
    frames = page.locator(".frame")
    assert frames.locator("code").all_inner_texts() == ["double", "main"]
    lines = [" ".join(text.split()) for text in frames.all_inner_texts()]
    assert lines == ["double , line 27", "main , line 10: no variables"]
    page.get_by_role("button", name="main").click()
    page.locator(".program-line.caller").wait_for()
    assert frames.locator(".frame-line").all_inner_texts() == [", line 27", ", line 10"]


@pytest.mark.parametrize("mode", ["read", "step"])
def test_spaces_in_a_value_are_all_shown(page, show, mode):
    value = {"type": "str", "value": "two  spaces"}
    show(page, documents.with_values(value), mode=mode, at="1")
    shown = page.locator(".value code", has_text="spaces").first
    assert shown.inner_text() == "'two  spaces'"


def test_what_is_fetched_ahead_waits_while_the_reader_steps(page, show):
    show(page, documents.small(), mode="step", at="4")
    order = """async () => {
        const { goTo, rested } = await import("viewer/state/address.js");
        const order = [];
        goTo(5);
        const rest = rested().then(() => order.push("rested"));
        await new Promise((resolve) => setTimeout(resolve));
        order.push("stepped");
        await rest;
        return order;
    }"""
    assert page.evaluate(order) == ["stepped", "rested"]


def test_variables_hide_and_show(page, show):
    show(page, documents.small(), mode="step", at="5")
    page.keyboard.press("E")
    assert page.locator(".variable").count() == 0
    page.keyboard.press("E")
    assert page.locator(".variable").count() == 2


def test_claims_are_filtered_and_the_failed_stand_first(page, show):
    show(page, documents.failing())
    page.keyboard.press("c")
    shown = page.locator("dialog .condition")
    shown.first.wait_for()
    assert shown.all_inner_texts() == ["y == n + 2", "x.size == 6"]
    page.get_by_label("failed only").check()
    assert shown.all_inner_texts() == ["y == n + 2"]
    page.get_by_label("failed only").uncheck()
    page.get_by_label("filter claims").fill("SIZE")
    assert shown.all_inner_texts() == ["x.size == 6"]
    page.get_by_label("filter claims").fill("nothing such")
    assert "No claim contains" in page.locator("dialog").inner_text()


def test_search_finds_values(page, show):
    show(page, documents.with_values({"type": "str", "value": "walrus"}), mode="step")
    page.keyboard.press("/")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type("walrus")
    assert page.locator(".result-text.value").inner_text() == "v0 = 'walrus'"
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")
    assert page.locator(".program-line.current").get_attribute("data-line") == "20"


def test_letters_typed_before_the_search_is_there_are_not_lost(page, show):
    """They are neither commands nor gone: the field has them when it comes."""
    waiting = []
    page.route("**/views/panels.js", lambda route: waiting.append(route))
    show(page, documents.small())
    page.keyboard.press("/")
    page.keyboard.type("Vix")
    page.keyboard.press("Backspace")
    page.keyboard.press("Enter")
    page.keyboard.type("ews")
    assert page.locator(".search-field").count() == 0
    waiting.pop().continue_()
    field = page.locator(".search-field:focus")
    field.wait_for()
    page.keyboard.type(" sh")
    assert field.input_value() == "Views sh"
    page.keyboard.press("ArrowDown")
    page.locator(".results button:focus").first.wait_for()
    page.keyboard.type("a")
    assert page.locator(".search-field:focus").input_value() == "Views sha"
    page.keyboard.press("Escape")
    field.wait_for(state="detached")
    page.keyboard.press("/")
    field.wait_for()
    assert field.input_value() == ""


def test_a_loop_on_one_line_shows_its_values(page, show):
    document = documents.small()
    document["statements"][3][1:3] = [11, 11]  # `for i in range(3): total = i * 2`
    show(page, document)
    loop = page.locator(".loop > .row")
    assert loop.locator(".value-name").all_inner_texts() == ["i", "total"]
    assert loop.locator(".value").all_inner_texts() == ["0", "0"]  # of the first turn


def test_motion_is_reduced_for_those_who_ask(browser, site):
    opened = browser.new_page(reduced_motion="reduce")
    site.publish(demo=documents.small())
    opened.goto(f"{site.address}#doc=demo&at=3")
    opened.locator("#article").wait_for()
    longest = opened.evaluate(
        """() => Math.max(...[...document.querySelectorAll("*")].map(
            (element) => parseFloat(getComputedStyle(element).animationDuration)))"""
    )
    opened.close()
    assert longest == 0


def test_a_page_without_charts_fetches_what_is_announced(page, show, site):
    asked = []
    page.on("request", lambda request: asked.append(request.url))
    show(page, documents.small())
    page.locator(".colophon").wait_for()
    painted(page)
    scripts = {name.removeprefix(site.address) for name in asked if name.endswith(".js")}
    end = {"views/colophon.js", "parts/styles.js"}  # fetched when all before the end is there
    entries = ("early.js", "main.js", "views/article.js", "views/beginning.js")
    assert scripts == {*entries, *(file for entry in entries for file in needed_by(entry))} | end


def test_a_document_cut_anywhere_is_refused(ask):
    text = json.dumps(documents.small())
    places = random.Random(1).sample(range(len(text)), 300)
    assert ask("accepted", [text[:place] for place in places]) == []


WRONG = [None, 5, "text", True]
LISTS = ["files", "statements", "functions", "events", "names", "values", "assertions", "output"]


def test_lists_and_tables_of_wrong_types_are_refused(ask):
    tables = ["inspections", "claims", "environment", "uncounted", "topics", "assets"]
    texts = [
        json.dumps({**documents.small(), name: wrong}) for name in LISTS + tables for wrong in WRONG
    ]
    named = [name for name in LISTS + tables for _ in WRONG]
    accepted = ask("accepted", texts)
    assert [name for name, text in zip(named, texts, strict=True) if text in accepted] == []


def test_a_missing_column_is_refused(ask):
    texts = []
    for table in ("inspections", "claims", "costs"):
        for column in documents.small()[table]:
            document = documents.small()
            del document[table][column]
            texts.append(json.dumps(document))
    assert ask("accepted", texts) == []


@pytest.mark.parametrize("name", ["events", "statements", "functions", "files"])
def test_a_list_of_anything_ends_in_one_sentence(browser, site, name):
    document = documents.small()
    document[name] = ["odd", None, {}]
    site.publish(demo=document)
    opened = browser.new_page()
    opened.goto(f"{site.address}#doc=demo")
    said = opened.locator(".notice-page [role=alert] p")
    said.wait_for()
    assert "ecord it again" in said.inner_text()
    opened.close()


def test_two_hundred_megabytes_end_in_one_sentence(page, show, site):
    site.publish(demo=json.dumps(documents.small()) + " " * 200_000_000)
    page.goto(f"{site.address}#doc=demo")
    said = page.locator(".notice-page [role=alert] p")
    said.wait_for()
    assert "has 200 MB" in said.inner_text()
    site.publish(demo=documents.small())
