"""Nothing jumps, nothing is wider than the screen, and documents of every kind have a page."""

import hashlib
import json
import threading

import pytest
from playwright.sync_api import expect

from tests.tracing import trace_source
from tests.viewer import documents
from tests.viewer.conftest import PATIENCE, painted, settled, show_everything, still
from tests.viewer.programs import recorded
from trace.serve.overlay import Shown
from trace.serve.server import make_server

PLACES = """() => Object.fromEntries(
    [...document.querySelectorAll(".section-head")].map((head) => [
        head.parentElement.id, head.getBoundingClientRect().top + scrollY]))"""

TOO_WIDE = """() => [...document.querySelectorAll("main *")].filter((element) => {
    if (element.closest(".visually-hidden, .katex-mathml, dialog")) return false;
    for (let outer = element.parentElement; outer; outer = outer.parentElement)
        if (["auto", "scroll", "hidden"].includes(getComputedStyle(outer).overflowX)) return false;
    return element.getBoundingClientRect().right > innerWidth + 1;
}).map((element) => element.outerHTML.slice(0, 80))"""

SHIFTS = """new PerformanceObserver((list) => {
    window.shifts ??= [];
    for (const entry of list.getEntries())
        if (!entry.hadRecentInput) shifts.push(entry.value);
}).observe({ type: "layout-shift", buffered: true });"""


WHEN_SHOWN = """new MutationObserver((_, observer) => {
    if (!document.querySelector('#article [data-step="151"]')) return;
    observer.disconnect();
    window.waitingThen = document.querySelectorAll(".waiting").length;
}).observe(document, { childList: true, subtree: true });"""
"""How many sections were not laid out when the wanted line was there."""

TAKEN_OR_REFUSED = """async () => {
    const { loaded } = await import("viewer/state/state.js");
    for (let frames = 0; frames < 60 && !loaded.value?.times; frames++)
        await new Promise(requestAnimationFrame);
}"""
"""Refused seconds leave no sign: they had a second's time."""


def wait_until_laid_out(page):
    page.locator("#article").wait_for()
    page.wait_for_function("() => !document.querySelector('.waiting')", timeout=5 * PATIENCE)
    painted(page)  # what is laid out but not drawn yet has no text for `innerText`


def many_sections(count: int) -> dict:
    """`main` calls `views` on that many lines; no section has anything but the same few lines."""
    document = documents.small()
    calls = "".join("    views()\n" for _ in range(count))
    text = f"def main():\n{calls}\n\ndef views():\n    x = 1\n    assert x == 1\n"
    file = document["files"][0]
    file.update(source=text, tokens=documents.tokens(text), prose=[])
    body = count + 4
    document["statements"] = [
        *([0, 2 + call, 2 + call, -1, "call", 0, []] for call in range(count)),
        [0, body + 1, body + 1, -1, "assign", 1, []],
        [0, body + 2, body + 2, -1, "assert", 1, []],
    ]
    document["functions"] = [
        documents.function("main", 1, count + 1, "Many.", ""),
        documents.function("views", body, body + 2, "A section.", ""),
    ]
    run = [[call + 1, -2, count + 1, count + 2, 0] for call in range(count)]
    document["events"] = [-1, *(event for events in run for event in events), 0]
    document["inspections"] = {"event": [], "at": [], "name": [], "value": []}
    document["assertions"] = []
    document["claims"] = {"statement": [], "step": [], "at": [], "held": [], "operands": []}
    document["output"] = []
    document["costs"] = None
    return document


def test_sections_that_are_laid_out_later_move_nothing_above_them(page, show):
    page.add_init_script(SHIFTS)
    show(page, many_sections(60))
    early = page.evaluate(PLACES)
    wait_until_laid_out(page)
    late = page.evaluate(PLACES)
    painted(page)
    assert len(late) == 61
    assert "activation-4" in early
    assert late["activation-4"] == early["activation-4"]
    assert sum(page.evaluate("window.shifts ?? []")) < 0.01


def pass_through(page):
    """A busy machine may not paint each section as it is laid out, and what it did not has a height
    that is guessed until it has been on the screen once."""
    page.evaluate(
        """async () => {
            for (let top = 0; top < document.documentElement.scrollHeight; top += innerHeight / 2) {
                scrollTo(0, top);
                for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
            }
            scrollTo(0, 0);
        }"""
    )


def test_a_place_far_down_is_shown_first_and_does_not_move(page, show):
    """What stands above it is laid out later, and the browser holds what is on the screen."""
    page.add_init_script(WHEN_SHOWN)
    show(page, many_sections(60), at="151")
    place = page.locator('#article [data-step="151"]').first
    place.wait_for()
    assert page.evaluate("window.waitingThen") > 30
    early = place.bounding_box()
    wait_until_laid_out(page)
    still(place)
    late = place.bounding_box()
    assert early and late and abs(late["y"] - early["y"]) <= 2
    assert page.evaluate("location.hash").endswith("at=151")


def test_what_was_laid_out_once_is_skipped_while_it_is_far_away(page, show):
    show(page, many_sections(60))
    wait_until_laid_out(page)
    pass_through(page)
    only_visible = """(end) => {
        const rows = [...document.querySelectorAll("#article .section .section .row")];
        const [first, last] = [rows[0], rows.at(-1)].map((row) =>
            row.checkVisibility({ contentVisibilityAuto: true }));
        return end ? last && !first : first && !last;
    }"""
    page.wait_for_function(only_visible, arg=False)
    before = page.evaluate("document.documentElement.scrollHeight")
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    page.wait_for_function(only_visible, arg=True)
    assert page.evaluate("document.documentElement.scrollHeight") == before


def test_the_outline_follows_without_moving_the_page(page, show):
    page.set_viewport_size({"width": 1280, "height": 500})
    show(page, many_sections(60))
    wait_until_laid_out(page)
    pass_through(page)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    still(page.locator(".outline [aria-current]"))
    moved = page.evaluate(
        """async () => {
            const found = [];
            for (let turn = 0; turn < 12; turn++) {
                const before = scrollY;
                scrollBy(0, -200);
                for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
                found.push(before - scrollY);
            }
            return found;
        }"""
    )
    assert moved == [200] * 12
    still(page.locator(".outline [aria-current]"))
    entry = page.locator(".outline [aria-current]").bounding_box()
    assert entry and 40 < entry["y"] < 500


def test_returning_to_read_lays_out_the_place_first(page, show):
    show(page, many_sections(60))
    wait_until_laid_out(page)
    page.keyboard.press("r")
    page.locator("#stepping").wait_for()
    page.get_by_role("slider", name="step").fill("151")
    page.evaluate(WHEN_SHOWN)
    page.keyboard.press("r")
    page.locator('#article [data-step="151"]').first.wait_for()
    assert page.evaluate("window.waitingThen") > 30


def test_prose_of_a_branch_that_did_not_run_is_quiet(page, show):
    document = documents.small()
    file = document["files"][0]
    lines = file["source"].split("\n")
    assert lines[21].strip()  # line 22 did not run
    lines[20] = " " * (len(lines[21]) - len(lines[21].lstrip())) + "# Why it is there."
    file["source"] = "\n".join(lines)
    file["prose"].append(
        {"first_line": 21, "last_line": 21, "kind": "comment", "text": "Why it is there."}
    )
    show(page, document)
    quiet = page.locator("#article .prose.unrun")
    assert quiet.all_inner_texts() == ["Why it is there."]
    places = ["#article .prose.unrun", "#article .unrun pre", "#article .unrun .source-line"]
    colour = "element => getComputedStyle(element).color"
    colours = [page.locator(place).first.evaluate(colour) for place in places]
    assert len(set(colours)) == 1


def test_a_picture_has_its_title_below_it_unless_it_draws_it(page, show):
    head = '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">'
    silent = f'{head}<title>A row of cells</title><rect width="9" height="9"/></svg>'
    drawn = f"{head}<title>Two bits</title><text>Two bits</text></svg>"
    show(
        page,
        documents.with_values({"type": "A", "svg": silent}, {"type": "B", "svg": drawn}),
    )
    page.locator(".picture svg").nth(1).wait_for()
    captions = page.locator("#article figcaption")
    page.wait_for_function("() => document.querySelectorAll('#article .caption b').length === 2")
    assert captions.all_inner_texts() == ["Figure 1. A row of cells", "Figure 2"]
    page.keyboard.press("r")
    page.locator("#stepping .picture svg").nth(1).wait_for()
    assert page.locator("#stepping figcaption").all_inner_texts() == ["A row of cells"]


def test_step_shows_directives_only_in_the_source_as_it_is_written(page, show):
    show(page, documents.small(), mode="step")
    assert "@inspect" not in page.locator(".program-lines").inner_text()
    page.keyboard.press("R")
    assert "@inspect" in page.locator(".program-lines").inner_text()


SECTIONS = '''
def cats():
    """Cats."""
    assert 2 + 2 == 4


def dogs():
    """Dogs."""
    assert 3 + 3 == 6
'''

FLAT = """
def main():
    '''Animals.'''
    # ## Cats first
    # Why they come first.
    cats()

    # ## Then dogs
    dogs()
"""

IN_PARTS = """
def main():
    '''Animals.'''
    one()
    two()


def one():
    # ## Cats first
    # Why they come first.
    cats()


def two():
    # ## Then dogs
    dogs()
"""

READ = """() => [
    ...document.querySelectorAll("#article :is(h1, h2, h3, p), .chapter-line, .outline-entry"),
].map((element) => [element.localName, element.className, element.innerText])"""


def test_parts_of_a_table_of_contents_read_as_one(page, show):
    shown = []
    for main in (FLAT, IN_PARTS):
        show(page, trace_source(SECTIONS + main), whole="")
        wait_until_laid_out(page)
        shown.append(page.evaluate(READ))
        page.keyboard.press("P")
        for _ in range(5):
            shown[-1].append(page.locator(".slide").inner_text())
            page.keyboard.press("n")
    headings = [words for element, _, words in shown[0][:-5] if element in ("h1", "h2", "h3")]
    assert headings == ["Animals", "1. Cats first", "Cats", "2. Then dogs", "Dogs"]
    assert shown[1] == shown[0]


@pytest.mark.parametrize(
    ("step", "here"),
    [("0", ["1. Cats first"]), ("2", ["Cats"]), ("3", ["2. Then dogs"]), ("5", ["Dogs"])],
    ids=["one()", "in cats", "two()", "in dogs"],
)
def test_a_step_between_sections_is_of_its_chapter(step, here, page, show):
    show(page, trace_source(SECTIONS + IN_PARTS), mode="step", at=step)
    page.keyboard.press("o")  # beside a program of this width it is closed at first
    marked = page.locator(".outline [aria-current]").all_inner_texts()
    assert [text.split("\n")[0] for text in marked] == here


def test_at_its_title_a_lecture_of_one_page_has_no_current_section(page, show):
    show(page, many_sections(9))
    wait_until_laid_out(page)
    assert page.locator(".outline [aria-current]").count() == 0


def two_files() -> dict:
    """`main` in one file, `double` in another."""
    document = documents.small()
    first = document["files"][0]
    document["files"].append({**first, "path": "demo/other.py"})
    func = next(at for at, row in enumerate(document["functions"]) if row["name"] == "double")
    document["functions"][func]["file"] = 1
    for row in document["statements"]:
        if row[5] == func:
            row[0] = 1
    return document


def test_files_that_are_entered_next_are_ready_and_frozen(page, show):
    show(page, two_files(), mode="step", at="3")
    page.locator(".program-file.frozen").wait_for(state="attached")
    assert page.locator(".program-file").count() == 2
    assert page.locator(".program-file:not(.away)").count() == 1
    shown = page.locator(".program-file:not(.away) .program-lines")
    before = page.locator(".path").inner_text()
    while page.locator(".path").inner_text() == before:
        page.keyboard.press("l")
    assert shown.get_attribute("aria-label") == f"source of {page.locator('.path').inner_text()}"
    assert page.locator(".program-line.current").count() == 1
    marker = shown.locator(".marker").bounding_box()
    line = page.locator(".program-line.current").bounding_box()
    assert marker and line and abs(marker["y"] - line["y"]) < 1
    assert page.locator(".program-file[inert]").count() == 1, "no key leads there"


def test_the_first_lines_stand_where_the_page_puts_them(page, show):
    """What is shown before the page's code is there does not move when it comes."""
    page.add_init_script(
        """new MutationObserver((_, observer) => {
            const first = document.querySelector("#first .prose");
            if (!first) return;
            const { top, left } = first.getBoundingClientRect();
            window.first = [first.textContent, top, left];
            observer.disconnect();
        }).observe(document, { childList: true, subtree: true });"""
    )
    show(page, documents.small())
    text, top, left = page.evaluate("window.first")
    assert text.startswith("Prose with")
    assert "**" not in text
    box = page.locator("#article .prose").first.bounding_box()
    assert (box["y"], box["x"]) == (top, left)
    assert page.locator("#first").count() == 0


def test_no_figure_is_wider_than_a_phone(phone, show):
    spec = {
        "mark": "bar",
        "width": 900,
        "data": {"values": [{"a": "x", "b": 1}]},
        "encoding": {"x": {"field": "b", "type": "quantitative"}},
    }
    svg = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="900" height="90">'
        '<rect width="900" height="90"/></svg>'
    )
    show(
        phone,
        documents.with_values(
            {"type": "Chart", "vega": spec},
            {"type": "Figure", "svg": svg},
            {"type": "Table", "markdown": "| a | b |\n|---|---|\n" + f"| {'x' * 90} | y |"},
        ),
    )
    phone.locator(".chart svg .mark-rect path").first.wait_for()
    for selector in (".chart svg", ".picture svg"):
        assert phone.locator(selector).first.bounding_box()["width"] <= 390
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.evaluate(TOO_WIDE) == []


def sidecar(document: dict, seconds: list[float], **changes) -> str:
    source = document["files"][0]["source"].encode()
    return json.dumps(
        {
            "format": "lecture-trace-times",
            "version": 1,
            "module": "demo.main",
            "sources": {"demo/main.py": hashlib.sha256(source).hexdigest()},
            "environment": {"device": "cpu", "processor": "A Processor", "threads": 2},
            "seconds": seconds,
            "inspections": {"4": {"type": "float", "value": 0.125}},
            "claims": {"1": {"0": {"type": "float", "value": 0.25}}},
            **changes,
        }
    )


def with_times(page, site, times: str, document: dict | None = None):
    """Open a document, and wait until its seconds have come, and were taken or refused."""
    site.publish(demo=document or documents.small())
    site.headers = {"Lecture-Server": "1"}
    site.texts["/traces/demo.times.json"] = times
    site.texts["/traces/index.local.json"] = '{"documents": []}'
    page.goto("about:blank")
    with page.expect_response("**/demo.times.json") as response:
        page.goto(f"{site.address}#doc=demo")
        page.locator("#article").wait_for()
    response.value.finished()
    page.evaluate(TAKEN_OR_REFUSED)
    painted(page)


def test_measured_seconds_stand_in_the_margin_and_the_headings(page, site):
    seconds = [0.001, 0.25, 0.0000001, 0.004, *[0.5] * 3, *[0.0] * 9]
    with_times(page, site, sidecar(documents.small(), seconds))
    show_everything(page)
    views = page.locator("#activation-1")
    assert views.locator(".section-meta .cost").inner_text().endswith("took 250 ms")
    costs = page.locator("#article .evidence .cost").all_inner_texts()
    assert any(text.endswith("1.5 s") for text in costs), "with the calls of the line"
    assert "on A Processor, 2 threads" in page.locator("#article .cost").first.get_attribute(
        "title"
    )
    assert "in another run, on A Processor, 2 threads" in page.locator(".colophon").inner_text()
    line = page.locator('#article .evidence [data-line="10"]')
    assert line.locator(".named-value").inner_text().split() == ["y", "0.125"]


def test_what_was_timed_has_no_more_digits_than_a_clock_can_tell(page, site):
    parts = [{"type": "float", "value": value} for value in (8245344.284475196, 0.0004046000123)]
    claims = {"1": {"0": {"type": "tuple", "items": parts}}}
    with_times(page, site, sidecar(documents.small(), [0.0] * 16, claims=claims))
    show_everything(page)
    shown = page.locator("#article .operand-value").all_inner_texts()
    assert "(8\u202f245\u202f340.0, 0.0004046)" in shown


@pytest.mark.parametrize(
    "changes",
    [{"sources": {}}, {"seconds": [1.0]}, {"format": "other"}, {"seconds": ["1"] * 16}],
    ids=["sources", "length", "format", "types"],
)
def test_seconds_of_other_sources_are_not_shown(page, site, changes):
    with_times(page, site, sidecar(documents.small(), **{"seconds": [1.0] * 16, **changes}))
    assert "another run" not in page.locator(".colophon").inner_text()
    show_everything(page)
    assert page.locator("#article .cost", has_text=" s").count() == 0


def test_a_list_that_names_seconds_is_enough_for_any_server(page, site):
    site.publish(demo=documents.small())
    listed = json.loads(site.texts["/traces/index.json"])
    listed["documents"][0]["times"] = True
    site.texts["/traces/index.json"] = json.dumps(listed)
    site.texts["/traces/demo.times.json"] = sidecar(documents.small(), [1.0] * 16)
    page.goto("about:blank")
    page.goto(f"{site.address}#doc=demo")
    page.locator("#article").wait_for()
    page.locator(".colophon", has_text="another run").wait_for()


def test_the_reader_chooses_among_machines(page, site):
    site.publish(demo=documents.small())
    listed = json.loads(site.texts["/traces/index.json"])
    listed["documents"][0] |= {"times": True, "machines": ["epyc"]}
    site.texts["/traces/index.json"] = json.dumps(listed)
    day = {"processor": "Epyc", "cores": 64, "torch": "2.13.0", "date": "2026-11-23"}
    first = {"device": "cpu", "processor": "A Processor", "threads": 2}
    for label, seconds, environment in (("", 1.0, first), (".epyc", 0.25, day)):
        text = sidecar(documents.small(), [seconds] * 16, environment=environment)
        site.texts[f"/traces/demo{label}.times.json"] = text
    page.goto("about:blank")
    page.goto(f"{site.address}#doc=demo")
    page.locator("#article").wait_for()
    page.locator(".colophon", has_text="A Processor").wait_for()
    show_everything(page)
    section = page.locator(".section-meta .cost").first
    before = section.inner_text()
    page.get_by_label("machine").select_option("epyc")
    page.get_by_text("Epyc, 64 cores, torch 2.13.0, 2026-11-23").wait_for()
    assert section.inner_text() != before


def test_another_server_is_not_asked_for_seconds(page, show, site):
    site.requests.clear()
    show(page, documents.small())
    page.locator(".colophon").wait_for()
    assert not any(path.endswith(".times.json") for path in site.requests)


def empty() -> dict:
    document = documents.small()
    document["events"] = []
    document["inspections"] = {"event": [], "at": [], "name": [], "value": []}
    document["claims"] = {"statement": [], "step": [], "at": [], "held": [], "operands": []}
    document["output"] = []
    document["costs"] = None
    return document


@pytest.mark.parametrize("mode", ["read", "step"])
def test_a_run_without_steps_says_so(page, show, mode):
    show(page, empty(), mode=mode)
    assert "Nothing of this lecture ran" in page.locator("#app main").inner_text()
    for key in ("r", "ArrowRight", "End", "c", "Escape", "/"):
        page.keyboard.press(key)


def test_a_failure_before_the_first_step_is_shown(page, show):
    document = empty()
    document["failure"] = {
        "kind": "exception",
        "type": "ImportError",
        "message": "no such module",
        "step": -1,
        "at": 0,
        "traceback": [{"path": "demo/main.py", "line": 1, "function": "<module>"}],
    }
    show(page, document)
    assert "ImportError: no such module" in page.locator(".failure").inner_text()
    assert page.locator(".traceback button").count() == 0


def test_a_loop_of_many_turns_opens_at_once_and_shows_any_turn(page, show):
    document = documents.small()
    turns = 200_000
    document["events"] = [-1, *[3, 4] * turns, 3, 5, 6, 0]
    document["inspections"] = {
        "event": [2 * turns],
        "at": [2 * turns + 1],
        "name": [document["names"].index("total")],
        "value": [5],
    }
    document["claims"].update(step=[2 * turns + 1] * 2, at=[2 * turns + 3] * 2)
    document["output"] = []
    document["costs"] = None
    show(page, document)
    count = page.locator(".scrubber-count")
    assert count.inner_text() == f"round 1 of {turns}"
    page.get_by_role("slider", name="round").fill(str(turns))
    assert count.inner_text() == f"round {turns} of {turns}"
    row = page.locator("#article .line", has=page.locator('.line-number:text-is("12")')).last
    assert row.locator(".named-value").inner_text().split() == ["total", "5"]
    page.get_by_title("Previous round").click()
    assert row.locator(".named-value").count() == 0
    assert count.inner_text() == f"round {turns - 1} of {turns}"


def test_huge_values_stay_in_their_place(phone, show):
    items = [{"type": "int", "value": number} for number in range(300)]
    entries = [
        [{"type": "str", "value": f"key {number}" * 9}, items[number]] for number in range(90)
    ]
    nested = {"type": "int", "value": 1}
    for _ in range(30):
        nested = {"type": "list", "items": [nested], "length": 1}
    show(
        phone,
        documents.with_values(
            {"type": "list", "items": items, "length": 10**9, "cut": True},
            {"type": "dict", "entries": entries, "length": 90},
            {"type": "str", "value": "x" * 20_000, "length": 10**6, "cut": True},
            {"type": "str", "value": "line\n" * 900},
            {"type": "int", "text": "9" * 4000},
            nested,
        ),
    )
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.locator("#article .named-value").count() == 6 + 4  # x, y, i and total besides
    assert "999\u202f999\u202f700 more" in phone.locator("#article").inner_text()


def test_keys_of_edtrace_show_prose_raw_or_hide_it(page, show):
    show(page, documents.small(), mode="step", at="1")
    prose = page.locator(".program-prose")
    shown = prose.count()
    assert shown > 0
    page.keyboard.press("R")
    assert prose.count() == 0
    assert "# A view moves no data." in page.locator(".program-lines").inner_text()
    assert page.locator('[data-line="19"]').count() == 1
    page.keyboard.press("N")
    assert page.locator('[data-line="19"]').count() == 0
    assert prose.count() == 0
    page.keyboard.press("N")
    assert prose.count() == shown
    page.keyboard.press("g")
    page.locator(".search-field:focus").wait_for()
    page.keyboard.type("11")
    assert page.locator(".results li").first.inner_text().startswith("step 11")
    page.keyboard.press("Enter")
    page.locator("dialog").wait_for(state="detached")
    assert page.locator(".timeline-count").inner_text() == "11 / 16"


def test_the_marker_stands_on_the_current_lines(page, show):
    show(page, documents.small(), mode="step")
    for key in ["l"] * 6 + ["u", "End", "Home"]:
        page.keyboard.press(key)
        marker = page.locator(".marker").bounding_box()
        line = page.locator(".program-line.current").bounding_box()
        assert abs(marker["y"] - line["y"]) < 1
        assert abs(marker["height"] - line["height"]) < 1


@pytest.mark.parametrize("written", [True, False])
def test_our_server_answers_for_seconds_that_are_not_there(page, tmp_path, written):
    """The page asks for them on every opening, and must not fill the console with errors."""
    document = documents.small()
    file = tmp_path / "demo.json"
    file.write_text(json.dumps(document))
    if written:
        file.with_suffix(".times.json").write_text(sidecar(document, [1.0] * 16))
    with make_server(Shown(file), 0) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}/#doc=demo"
        opened = page.context.new_page()
        noise = []
        opened.on("console", lambda message: noise.append(message.text))
        opened.goto(address)
        opened.locator("#article").wait_for()
        text = opened.locator(".colophon").inner_text()
        opened.close()
        server.shutdown()
    assert ("another run" in text) == written
    assert noise == []


def test_groups_of_digits_stay_together(page, show):
    document = documents.small()
    document["files"][0]["prose"][3]["text"] = "It has 10 000 rows, 12 345 678 bytes and 3 4000 x."
    show(page, document)
    prose = page.locator("#article .prose", has_text="rows").first
    assert (
        prose.inner_text()
        == "It has 10\u00a0000 rows, 12\u00a0345\u00a0678\u00a0bytes and 3 4000 x."
    )


BEYOND_ASCII = """
def main():
    '''Kapitel.'''
    abschnitt_ü()
    小节()


def abschnitt_ü():
    '''Ein Abschnitt.'''
    assert 1 == 1


def 小节():
    '''第一节.'''
    assert 2 == 2
"""


def test_functions_with_names_beyond_ascii_are_sections(page, show):
    show(page, trace_source(BEYOND_ASCII))
    wait_until_laid_out(page)
    titles = page.locator("#article :is(h1, h2, h3)").all_inner_texts()
    assert titles == ["Kapitel", "Ein Abschnitt", "第一节"]


def test_columns_of_a_table_stand_as_the_text_says(page, show):
    document = documents.small()
    table = "| a | b | c | d |\n| --- | ---: | :---: | :--- |\n| 1 | 2 | 3 | 4 |"
    document["files"][0]["prose"][3]["text"] = table
    show(page, document)
    for cell in ("th", "td"):
        found = page.locator(f"#article .prose table {cell}")
        aligned = found.evaluate_all("cells => cells.map((one) => getComputedStyle(one).textAlign)")
        sides = [side.removeprefix("-webkit-") for side in aligned]
        assert sides == ["left", "right", "center", "left"]


def test_a_course_has_a_front_page_and_its_lectures_lead_on(page, site):
    site.publish(one=documents.small(), two=documents.small(), three=documents.small())
    index = json.loads(site.texts["/traces/index.json"])
    names = [entry["file"].removesuffix(".json") for entry in index["documents"]]
    for entry, group in zip(index["documents"], ["Week 1", "Week 1", None], strict=True):
        entry["group"] = group
    facts = {"title": "Bits <b>", "author": "A. Author", "licence": "CC0", "language": "de"}
    site.texts["/traces/index.json"] = json.dumps({**index, "course": facts})
    page.goto("about:blank")
    page.goto(site.address)
    page.locator(".home").wait_for()
    assert page.locator(".home :is(h1, h2)").all_inner_texts() == ["Bits <b>", "Week 1"]
    assert page.locator(".byline").inner_text() == "A. Author · CC0"
    assert page.locator("html").get_attribute("lang") == "de"
    assert page.title() == "Bits <b>"
    lists = page.locator(".documents").evaluate_all("all => all.map((one) => one.children.length)")
    assert lists == [2, 1]
    page.goto(f"{site.address}#doc={names[1]}")
    links = page.locator(".neighbours a")
    links.first.wait_for()
    found = [[link.get_attribute("rel"), link.get_attribute("href")] for link in links.all()]
    assert found == [["prev", f"#doc={names[0]}"], ["next", f"#doc={names[2]}"]]


WITHIN = """
def main():
    "Calls."
    # ## First
    # Of two chapters.
    outer()
    # ## Second
    # The other one.
    one(4)


def outer():
    "A call within an expression."
    value = 1 + helper()
    assert value == 2


def helper():
    one(3)
    return 1


def one(number):
    "One."
    twice = 2 * number
    assert twice == number + number
"""


def test_what_a_call_within_an_expression_calls_is_laid_out(page, show):
    show(page, trace_source(WITHIN))
    page.keyboard.press("n")
    page.locator("#article .into").first.click()
    page.locator("#article .line", has_text="twice = 2").first.wait_for(timeout=10_000)


LONG_AND_SHORT = (
    """
def main():
    long()
    middle()
    short()


def long():
    "Long."
"""
    + "    # A paragraph.\n    one = 1\n" * 60
    + """

def middle():
    "Middle."
    two = 2


def short():
    "Short."
    three = 3
"""
)


def test_the_outline_marks_the_last_section_at_the_end_of_the_page(page, show):
    show(page, trace_source(LONG_AND_SHORT))
    settled(page)
    page.keyboard.press("End")
    here = page.locator(".outline [aria-current=location]")
    expect(here).to_contain_text("Short")
    page.locator(".outline a", has_text="Middle").click()
    expect(here).to_contain_text("Middle")


MANY_SECTIONS = (
    "def main():\n"
    + "".join(f"    part_{number}()\n" for number in range(60))
    + "".join(
        f'\n\ndef part_{number}():\n    "Part {number}."\n'
        + f"    # A paragraph.\n    one = {number}\n" * 30
        for number in range(60)
    )
)


def test_the_key_end_leads_to_the_end(page, show):
    """However wrong the heights are that are guessed for what was not near yet."""
    show(page, trace_source(MANY_SECTIONS))
    page.locator("#article .line").first.wait_for()
    assert page.locator("#article .waiting").count() > 0
    page.keyboard.press("End")
    settled(page)
    painted(page)
    left = "document.documentElement.scrollHeight - innerHeight - scrollY"
    assert page.evaluate(left) < 2
    expect(page.locator(".section-title", has_text="Part 59")).to_be_visible()
    bottom = page.locator("#article .line").last.bounding_box()
    assert bottom and 0 < bottom["y"] < 800


LONG_LINES = """
def share_of_peak(reached, rates_of_the_accelerator):
    return 1


def main():
    "Long lines."
    best_seconds_of_all, rates_of_the_accelerator = [1, 2, 3], {"bf16": 1, "fp32": 2}
    if best_seconds_of_all:
        share = share_of_peak(best_seconds_of_all.count(1), rates_of_the_accelerator["fp32"])
        share = best_seconds_of_all.copy().copy().copy().copy().copy().copy().copy().count(2)
        share = {"a long name": (rates_of_the_accelerator["fp32"], share_of_peak(1, 2))}
"""

BROKEN_NAMES = r"""() => {
    const broken = [];
    const range = document.createRange();
    for (const line of document.querySelectorAll("#article .source-line")) {
        const texts = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
        for (let node = texts.nextNode(); node; node = texts.nextNode())
            for (const { index, 0: name } of node.data.matchAll(/\w+/g)) {
                range.setStart(node, index);
                range.setEnd(node, index + name.length);
                const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
                if (new Set(tops).size > 1) broken.push(name);
            }
    }
    return broken;
}"""


def test_no_name_breaks_within_itself_on_a_phone(phone, show):
    show(phone, recorded(LONG_LINES))
    assert phone.locator("#article wbr").count() > 5
    assert phone.evaluate(BROKEN_NAMES) == []
    phone.evaluate("for (const element of document.querySelectorAll('wbr')) element.remove()")
    assert phone.evaluate(BROKEN_NAMES) != []


OF_A_CLASS = '''
class Work:
    """What is to be done."""

    flops: int = 3

    def done(self):  # @stepover
        return 0


def main():
    """A lecture."""
    work = Work()
    assert work.flops == 3
'''


def test_definitions_of_files_in_which_nothing_ran_have_colours(page, show):
    document = trace_source(OF_A_CLASS)
    document["files"][0]["tokens"] = []
    show(page, document)
    definition = page.locator(".definition", has_text="class Work")
    expect(definition.locator(".token-keyword").first).to_have_text("class")
    expect(definition.locator(".token-definition").first).to_have_text("Work")
    expect(definition.locator(".token-string").first).to_contain_text("What is to be done.")
    expect(definition).not_to_contain_text("@stepover")
