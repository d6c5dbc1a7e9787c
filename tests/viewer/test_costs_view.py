"""The costs of a run: who spent what, how fast that could be, and what was alive when."""

import itertools
import json
import re

import pytest
from playwright.sync_api import expect

from lecture import facts
from tests.viewer import documents
from tests.viewer.conftest import VIEWER, show_everything
from tests.viewer.programs import recorded
from tests.viewer.test_book import book
from tests.viewer.test_reading import sidecar, with_times

CATEGORIES = ["parameters", "gradients", "optimizer state", "activations", "other tensors"]


def spent(document, rows):
    """Give a document these rows of costs: step, operator, matmul FLOPs, read bytes."""
    names = sorted({*document["names"], *(row[1] for row in rows)})
    order = [names.index(name) for name in document["names"]]
    inspections = document["inspections"]
    inspections["name"] = [order[name] for name in inspections["name"]]
    zeros = [0] * len(rows)
    document["names"] = names
    document["costs"] = {
        "step": [row[0] for row in rows],
        "operator": [names.index(row[1]) for row in rows],
        "calls": [1] * len(rows),
        "matmul_flops": [row[2] for row in rows],
        "other_flops": zeros,
        "read_bytes": [row[3] for row in rows],
        "written_bytes": zeros,
        "allocated_bytes": zeros,
        "freed_bytes": zeros,
        "uncounted": [int(row[1] == "aten.sort") for row in rows],
        "meta": zeros,
    }
    return document


def priced():
    """Steps 0 (main calls views), 1 and 2 (views), 5 (double, called by step 4), 8 (the loop)."""
    rows = [
        (0, "aten.a", 1, 1),
        (1, "aten.b", 20, 10),
        (2, "aten.b", 300, 0),
        (5, "aten.c", 4000, 40),
        (8, "aten.sort", 50_000, 500),
    ]
    return spent(documents.small(), rows)


def claimed():
    """What the asserts of steps 3 (in views) and 14 spent, too."""
    document = priced()
    rows = [(3, "aten.b", 600_000, 8), (14, "aten.b", 7_000_000, 8)]
    for name, values in spent(documents.small(), rows)["costs"].items():
        document["costs"][name] = document["costs"][name] + values
    for row in (-2, -1):
        document["costs"]["operator"][row] = document["names"].index("aten.b")
    return document


def flops_by(ask, document, grouping, first=0, beyond=16, with_calls=False, with_claims=False):
    entries = ask("tally", document, grouping, first, beyond, with_calls, with_claims)
    return {entry["key"]: (entry["matmul_flops"], entry["step"]) for entry in entries}


# grouping, with the calls -> key -> FLOPs and the step to go to
TALLIES = [
    ("line", False, {0: (1, 0), 6: (20, 1), 7: (300, 2), 10: (4000, 5), 3: (50_000, 8)}),
    (
        "line",
        True,
        {0: (321, 0), 6: (20, 1), 7: (300, 2), 1: (4000, 4), 10: (4000, 5), 3: (50_000, 8)},
    ),
    ("call", False, {0: (50_001, 8), 1: (320, 2), 2: (4000, 5)}),
    ("call", True, {0: (54_321, 8), 1: (320, 2), 2: (4000, 5)}),
    ("section", False, {0: (54_001, 0), 1: (320, 1)}),
    ("section", True, {0: (54_321, 0), 1: (320, 1)}),
]


def named(found):
    """Only lines, functions and sections that spent something."""
    return {key: value for key, value in found.items() if value[0]}


@pytest.mark.parametrize(("grouping", "with_calls", "expected"), TALLIES)
def test_costs_are_summed_by_place(ask, grouping, with_calls, expected):
    assert named(flops_by(ask, priced(), grouping, with_calls=with_calls)) == expected


def test_costs_are_summed_by_operator(ask):
    document = priced()
    found = flops_by(ask, document, "operator")
    by_name = {document["names"][key]: value for key, value in found.items()}
    assert by_name == {
        "aten.a": (1, 0),
        "aten.b": (320, 2),
        "aten.c": (4000, 5),
        "aten.sort": (50_000, 8),
    }


def test_costs_of_a_part_leave_out_the_calls_around_it(ask):
    found = flops_by(ask, priced(), "call", 1, 4, with_calls=True)
    assert named(found) == {1: (320, 2)}


def test_seconds_are_summed_with_the_rest(ask):
    entries = ask("tally", priced(), "call", 0, 16, False)
    assert {entry["key"]: entry["seconds"] for entry in entries} == {0: 10, 1: 2, 2: 2}
    entries = ask("tally", priced(), "call", 0, 16, True)
    assert {entry["key"]: entry["seconds"] for entry in entries} == {0: 14, 1: 2, 2: 2}
    entries = ask("tally", priced(), "whole", 0, 16, False, True)
    assert [entry["seconds"] for entry in entries] == [16]


@pytest.mark.parametrize(("grouping", "with_calls", "expected"), TALLIES)
def test_what_asserts_spent_is_no_work_of_the_lecture(ask, grouping, with_calls, expected):
    assert named(flops_by(ask, claimed(), grouping, with_calls=with_calls)) == expected


def test_what_asserts_spent_is_counted_where_it_is_asked_for(ask):
    found = flops_by(ask, claimed(), "line", with_claims=True)
    assert (found[9], found[4]) == ((600_000, 3), (7_000_000, 14))
    assert flops_by(ask, claimed(), "whole", with_claims=True) == {0: (7_654_321, 14)}


def test_a_call_within_an_assert_is_of_the_assert(ask):
    document = recorded(
        "import torch\n\n\ndef double(x):\n    y = x * 2\n    return y\n\n\n"
        "def main():\n    x = torch.ones(4)\n    assert double(x)[0] == 2\n    double(x)\n",
        costs=True,
    )
    steps = len(document["events"])
    for with_claims, calls in ((False, 1), (True, 2)):
        entries = ask("tally", document, "operator", 0, steps, False, with_claims)
        products = [entry for entry in entries if document["names"][entry["key"]] == "aten.mul"]
        assert [(entry["calls"], entry["other_flops"]) for entry in products] == [
            (calls, 4 * calls)
        ]


def test_a_sum_with_an_uncounted_operator_is_marked(ask):
    entries = ask("tally", priced(), "line", 0, 16, False)
    assert [entry["key"] for entry in entries if entry["uncounted"]] == [3]


def cells(page) -> dict[str, list[str]]:
    return {
        row.locator("th").inner_text().split("\n")[0]: row.locator("td").all_inner_texts()
        for row in page.locator(".costs-table tbody tr").all()
    }


def first_cells(page) -> list[str]:
    return [text.split("\n")[0] for text in page.locator(".costs-table tbody th").all_inner_texts()]


@pytest.fixture
def table(page, show):
    show(page, priced())
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    return page


def test_the_table_lists_lines_with_the_dearest_first(table):
    assert first_cells(table)[0] == "total = i * 2"
    assert cells(table)["m = n * 2"] == [
        *("1", "4 kFLOP", "0", "40 B", "0", "100 FLOP/B", "0", "0")
    ]
    assert cells(table)["total = i * 2"][1] == "50 kFLOP+"
    last = table.locator(".costs-table tfoot td").all_inner_texts()
    assert last[1] == "54.3 kFLOP+"


def test_headers_sort_with_the_keyboard_and_say_so(table):
    read = table.locator("th", has=table.get_by_role("button", name="read"))
    assert read.get_attribute("aria-sort") == "none"
    read.get_by_role("button").focus()
    table.keyboard.press("Enter")
    assert read.get_attribute("aria-sort") == "descending"
    table.keyboard.press("Space")
    assert read.get_attribute("aria-sort") == "ascending"
    assert first_cells(table)[0] == "if x is None:"
    assert table.locator("th[aria-sort$=scending]").count() == 1
    table.get_by_role("button", name="line", exact=True).click()
    assert first_cells(table) == sorted(first_cells(table), key=str.casefold)


def test_every_grouping_has_its_rows(table):
    expected = {
        "function": ["main()", "double()", "views()"],
        "section": ["Small numbers", "Views share storage"],
        "operator": ["aten.sort", "aten.c", "aten.b", "aten.a"],
    }
    for grouping, rows in expected.items():
        table.get_by_label(grouping, exact=True).check()
        assert first_cells(table) == rows


def test_by_operator_memory_has_the_last_row_and_the_others_have_none(page, show):
    """It is listed, too, where more operators ran than are listed at once."""
    operators = [(8, f"aten.number_{number}", number + 1, 1) for number in range(70)]
    document = spent(documents.small(), [*operators, (8, "memory", 0, 0)])
    costs = document["costs"]
    costs["calls"] = [1] * 70 + [0]
    costs["allocated_bytes"] = costs["freed_bytes"] = [0] * 70 + [2048]
    show(page, document)
    page.keyboard.press("C")
    page.get_by_label("operator", exact=True).check()
    heads = page.locator(".costs-table thead")
    for column in ("matmul FLOPs", "allocated", "operator"):
        heads.get_by_role("button", name=re.compile(rf"{column}$")).click()
        *listed, last = cells(page).items()
        assert last == ("memory", ["–"] * 6 + ["2 KiB"] * 2)
        assert len(listed) == 60
        assert all(found[-2:] == ["–", "–"] for _, found in listed)
    assert page.locator(".costs-table tfoot td").all_inner_texts()[-2:] == ["2 KiB"] * 2
    expect(page.get_by_text("counted in a row of its own, the last, memory")).to_be_visible()
    page.get_by_role("button", name="Show all 71 rows").click()
    expect(page.locator(".costs-table tbody tr")).to_have_count(71)
    assert list(cells(page))[-1] == "memory"
    page.get_by_label("line", exact=True).check()
    assert [found[-1] for found in cells(page).values()] == ["2 KiB"]
    expect(page.get_by_text("in a row of its own")).to_have_count(0)


def test_a_row_leads_to_its_place(table):
    table.get_by_role("button", name="m = n * 2").click()
    table.locator("dialog").wait_for(state="detached")
    assert table.evaluate("location.hash") == "#doc=demo&at=main.py:double:1.1"


def test_the_panel_opens_on_the_section_that_is_read(page, show):
    show(page, priced(), mode="step", at="2")
    page.keyboard.press("C")
    part = page.get_by_label("part of the run")
    page.locator(".costs-table").wait_for()
    assert part.evaluate("e => e.selectedOptions[0].text") == "here: Views share storage"
    assert set(first_cells(page)) == {"x = make()", "if x is None:"}
    part.select_option("the whole run")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    page.keyboard.press("C")
    assert len(first_cells(page)) == 5, "what a reader chose stays"


def spent_in_each_step(document: dict) -> dict:
    """The document, where each step costs one FLOP."""
    steps = [step for step, _ in enumerate(code for code in document["events"] if code > 0)]
    empty = spent(documents.small(), [(step, "aten.a", 1, 1) for step in steps])["costs"]
    document["names"].append("aten.a")
    document["costs"] = empty | {"operator": [len(document["names"]) - 1] * len(steps)}
    return document


def test_a_chapter_can_be_chosen(page, show):
    """The chapter of multiplication has one section of 61 steps, of which 30 are asserts."""
    document = spent_in_each_step(book())
    steps = [code for code in document["events"] if code > 0]
    show(page, document, at="products")
    page.keyboard.press("C")
    part = page.get_by_label("part of the run")
    foot = page.locator(".costs-table tfoot td")
    foot.first.wait_for()
    assert part.evaluate("e => e.selectedOptions[0].text") == "here: Products"
    assert foot.all_inner_texts()[1] == "31 FLOP"
    part.select_option("chapter 3: Multiplying")
    assert foot.all_inner_texts()[1] == "33 FLOP", "with the calls of both"
    part.select_option("the whole run")
    claims = len(document["claims"]["statement"])
    assert foot.all_inner_texts()[1] == f"{len(steps) - claims} FLOP"


def test_a_panel_that_comes_before_the_article_is_of_the_place_that_was_asked_for(page, show):
    held = []
    page.route("**/views/section.js", lambda route: held.append(route))
    show(page, spent_in_each_step(book()), at="products")
    page.keyboard.press("C")
    part = page.get_by_label("part of the run")
    part.wait_for()
    [section] = held
    section.continue_()
    assert part.evaluate("e => e.selectedOptions[0].text") == "here: Products"


ON_META = """\
import torch


def main():
    'On paper.'
    x = torch.ones(4, 4, device="meta")
    y = x @ x
    assert (x @ x).shape == (4, 4)
    return torch.ones(1) + 1
"""


def test_what_would_be_spent_has_one_total(page, show):
    """What asserts would spend is no part of it, as in the table that a press leads to."""
    show(page, recorded(ON_META, costs=True))
    page.keyboard.press("C")
    apart = page.locator(".costs-notes p.on-meta")
    expect(apart).to_contain_text("Apart from this, 128 FLOP and")
    apart.get_by_role("button", name="Show what would be spent there").click()
    foot = page.locator(".costs-table tfoot")
    expect(foot).to_contain_text("128 FLOP")
    page.get_by_role("button", name="Count asserts too").click()
    expect(foot).to_contain_text("256 FLOP")
    apart.get_by_role("button", name="Show what happened").click()
    expect(apart).to_contain_text("Apart from this, 256 FLOP and")


def test_the_head_of_a_long_table_stays_in_sight(page, show):
    show(page, spent(documents.small(), [(step, "aten.a", 1, 1) for step in range(16)]))
    page.set_viewport_size({"width": 1280, "height": 500})
    page.keyboard.press("C")
    region = page.get_by_role("region", name="table of costs")
    head, row = region.locator("thead th").nth(1), region.locator("tbody tr").first
    before = head.bounding_box()["y"], row.bounding_box()["y"]
    region.evaluate("e => (e.scrollTop = 60)")
    after = head.bounding_box()["y"], row.bounding_box()["y"]
    assert after[1] < before[1] - 30
    assert abs(after[0] - before[0]) < 1


def test_each_column_says_what_kind_of_evidence_it_is(table):
    heads = table.locator(".costs-table thead th").all_inner_texts()
    assert [head.split("\n")[-1].strip() for head in heads[1:]] == [
        *("observed", "formula", "convention"),
        *("ideal", "ideal", "ideal", "observed", "observed"),
    ]


def test_the_costs_of_asserts_are_apart_until_they_are_asked_for(page, show):
    show(page, claimed())
    page.keyboard.press("C")
    all_flops = page.locator(".costs-table tfoot td").nth(1)
    expect(all_flops).to_have_text("54.3 kFLOP+")
    assert not [name for name in first_cells(page) if name.startswith("assert")]
    expect(page.locator(".costs-notes")).to_contain_text(
        "Apart from this, asserts spent 2 operators with 7.6 MFLOP to check what they claim."
    )
    page.get_by_role("button", name="Count asserts too").click()
    expect(all_flops).to_have_text("7.65 MFLOP+")
    assert [name for name in first_cells(page) if name.startswith("assert")] == [
        "assert y == 6",
        "assert x.size == 6",
    ]
    page.get_by_role("tab", name="Roofline").click()
    page.get_by_role("button", name="Leave asserts out").click()
    expect(page.get_by_role("button", name="Count asserts too")).to_be_visible()
    page.get_by_label("part of the run").select_option("Views share storage")
    expect(page.locator(".costs-notes")).to_contain_text("asserts spent 1 operator with 600 kFLOP")
    page.get_by_role("tab", name="Memory").click()
    expect(page.locator(".costs-notes")).not_to_contain_text("asserts")


def test_where_a_part_cost_nothing_the_way_leads_to_more(page, show):
    show(page, spent(documents.small(), [(8, "aten.a", 5, 1)]), at="views")
    page.keyboard.press("C")
    page.get_by_text("Nothing here cost anything.").wait_for()
    page.get_by_role("tab", name="Roofline").click()
    page.get_by_text("No operator here has a count of both FLOPs and bytes.").wait_for()
    page.get_by_role("button", name="Show the whole run").click()
    page.get_by_text("1 of 1 operators wait for memory").wait_for()
    page.get_by_role("tab", name="Table").click()
    expect(page.locator(".costs-table tfoot td").nth(1)).to_have_text("5 FLOP")
    assert page.get_by_role("button", name="Show the whole run").count() == 0


def test_where_a_section_cost_nothing_its_chapter_is_offered(page, show):
    document = book()
    document["names"].append("aten.a")
    costs = spent(documents.small(), [(0, "aten.a", 5, 1)])["costs"]
    document["costs"] = costs | {"operator": [len(document["names"]) - 1]}
    show(page, document, at="products")
    page.keyboard.press("C")
    page.get_by_role("button", name="Show the chapter").click()
    expect(page.get_by_label("part of the run")).to_have_value("chapter 2")
    expect(page.get_by_role("button", name="Show the chapter")).to_have_count(0)


def test_a_part_of_the_run_can_be_chosen(table):
    table.get_by_label("part of the run").select_option("Views share storage")
    assert set(first_cells(table)) == {"x = make()", "if x is None:"}
    table.get_by_label("part of the run").select_option("the whole run")
    assert len(first_cells(table)) == 5


@pytest.mark.parametrize("view", ["Table", "Roofline", "Memory"])
def test_what_is_not_counted_is_always_in_sight(table, view):
    table.get_by_role("tab", name=view).click()
    assert "aten.sort (2 times)" in table.locator(".inspect-uncounted").inner_text()


def test_of_a_part_only_what_ran_in_it_is_said_not_to_be_counted(table, page, show):
    missing = table.locator(".inspect-uncounted")
    table.get_by_label("part of the run").select_option("Views share storage")
    expect(table.get_by_text("Every operator of this part is counted.")).to_be_visible()
    assert missing.count() == 0
    document = priced()
    document["costs"]["step"][-1] = 2  # one of the two times that aten.sort ran
    show(page, document)
    page.keyboard.press("C")
    assert "aten.sort (2 times)." in missing.inner_text()
    page.get_by_label("part of the run").select_option("Views share storage")
    assert "aten.sort (1 time)." in missing.inner_text()


def test_on_a_phone_the_names_of_rows_stay_in_sight(phone, show):
    show(phone, priced())
    phone.keyboard.press("C")
    table = phone.locator(".inspect-scroll")
    name = table.locator("tbody th").first
    before = name.bounding_box()
    heads = table.locator("thead th")
    seen = [head for head in heads.all() if head.is_visible()]
    assert len(seen) < heads.count(), "columns without any amount have no room"
    seen[-1].locator("button").focus()
    phone.keyboard.press("Enter")
    sorts = table.locator("thead [aria-sort=descending]").bounding_box()
    assert before["x"] + before["width"] <= sorts["x"] + 1
    assert abs(before["x"] + before["width"] - sorts["x"]) <= 1, "the column that sorts is first"
    assert phone.evaluate("document.activeElement.closest('[aria-sort=descending]') !== null")
    expect(table).to_have_attribute("data-more", "")
    table.evaluate("e => (e.scrollLeft = e.scrollWidth)")
    expect(table).not_to_have_attribute("data-more", "")
    table.evaluate("e => (e.scrollLeft = 200)")
    assert name.bounding_box()["x"] == before["x"]
    assert before["width"] < 390 / 2
    assert name.locator(".inspect-place").evaluate("e => e.scrollWidth <= e.clientWidth")


FEW_PRODUCTS = """
import torch


def main():
    'One product among many.'
    a = torch.zeros(100)
    b = torch.zeros(200)
    c = torch.zeros(300)
    d = torch.zeros(400)
    e = torch.zeros(500)
    f = torch.ones(SIZE, SIZE) @ torch.ones(SIZE, SIZE)
"""


@pytest.mark.parametrize(
    ("lines", "size", "sorts"),
    [(6, 2, "written"), (4, 2, "matmul FLOPs"), (6, 200, "matmul FLOPs")],
)
def test_what_sorts_a_table_is_what_many_of_its_rows_have_or_what_is_paid_for(
    lines, size, sorts, page, show
):
    source = FEW_PRODUCTS.replace("SIZE", str(size)).strip().splitlines()
    text = "\n".join([*source[:5], *source[-lines:]]) + "\n"
    show(page, recorded(text, costs=True))
    page.keyboard.press("C")
    head = page.locator(".costs-table thead [aria-sort=descending] button")
    expect(head).to_contain_text(sorts)


def test_lines_that_took_time_alone_do_not_choose_what_sorts_a_table(page, site):
    document = spent(documents.small(), [(4, "aten.mm", 8, 2)])
    with_times(page, site, sidecar(document, [0.5] * 16))
    page.keyboard.press("C")
    table = page.locator(".costs-table")
    table.locator("tbody tr").nth(5).wait_for()  # of fewer rows, one would be many
    expect(table.locator("thead [aria-sort=descending] button")).to_contain_text("FLOPs")


BROKEN = r"""() => [...document.querySelectorAll(".costs-table tbody th :is(code, .inspect-place)")]
    .flatMap((cell) => {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        const found = [];
        for (let text = texts.nextNode(); text; text = texts.nextNode())
            for (const { 0: name, index } of text.data.matchAll(/\w{2,}/g)) {
                const range = document.createRange();
                range.setStart(text, index);
                range.setEnd(text, index + name.length);
                const lines = new Set([...range.getClientRects()].map(({ top }) => top));
                if (lines.size > 1) found.push(name);
            }
        return found;
    })"""
"""Names, or words of long ones, that go on in the next line."""


def test_on_a_phone_no_name_is_broken_in_the_middle(phone, show):
    document = priced()
    document["files"][0]["path"] = "part6_training/m17_optimizers.py"
    document["files"][0]["source"] = document["files"][0]["source"].replace(
        "m = n * 2",
        "m = AdamW(model.parameters(), requires_grad=True).measured_late_in_a_long_run()",
    )
    show(phone, document)
    phone.keyboard.press("C")
    phone.locator(".costs-table").wait_for()
    shown = phone.locator(".costs-table tbody code", has_text="AdamW").inner_text()
    assert "measured_late_in_a_long_run()" in shown, "what is copied has no breaks"
    assert phone.evaluate(BROKEN) == []


def test_on_a_phone_the_number_of_a_line_is_not_broken(phone, show):
    document = priced()
    file = document["files"][0]
    file["path"] = "part4_compute/m10a_counting_flops.py"
    lines = file["source"].split("\n")
    file["source"] = "\n".join([*lines, *[""] * (120 - len(lines)), "    m = n * 2"])
    document["statements"][10][1:3] = [121, 121]
    show(phone, document)
    phone.keyboard.press("C")
    phone.locator(".inspect-place", has_text="flops.py:121").wait_for()
    assert phone.evaluate(BROKEN) == []


def test_on_a_phone_what_is_not_counted_stands_right_below_a_short_table(phone, show):
    show(phone, priced())
    phone.keyboard.press("C")
    table, note = phone.locator(".costs-scroll"), phone.locator(".inspect-uncounted")
    end = table.bounding_box()["y"] + table.bounding_box()["height"]
    assert note.bounding_box()["y"] - end < 60


def test_a_statement_of_several_lines_says_that_it_goes_on(page, show):
    document = priced()
    document["statements"][10][1:3] = [27, 28]
    show(page, document)
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    assert "m = n * 2 …" in first_cells(page)


def test_measured_seconds_are_one_more_column(page, site):
    seconds = [0.001, 0.25, 0.0, 0.004, *[0.5] * 3, *[0.0] * 9]
    with_times(page, site, sidecar(documents.small(), seconds))
    page.keyboard.press("C")
    page.get_by_label("function", exact=True).check()
    page.get_by_role("button", name="time", exact=True).click()
    last = {name: found[-1] for name, found in cells(page).items()}
    assert list(last.items()) == [("double()", "1 s"), ("main()", "500 ms"), ("views()", "250 ms")]
    assert "another run, on A Processor, 2 threads" in page.locator("#costs-view").inner_text()


def test_arrow_keys_go_through_the_views(table):
    table.get_by_role("tab", name="Table").focus()
    table.keyboard.press("ArrowRight")
    assert table.evaluate("document.activeElement.textContent") == "Roofline"
    assert table.locator("[role=tab][aria-selected=true]").inner_text() == "Roofline"
    table.keyboard.press("ArrowLeft")
    expect(table.locator(".costs-table")).to_be_visible()


def test_a_run_without_costs_says_so(page, show):
    show(page, {**documents.small(), "costs": None})
    page.keyboard.press("C")
    page.get_by_text("recorded without costs").wait_for()


# Roofline ---------------------------------------------------------------------------------------


def test_accelerators_are_those_of_the_lecture(ask):
    cards = {card.name: card for card in facts.ACCELERATORS.values()}
    shown = {card["name"]: card for card in ask("accelerators")}
    assert set(shown) == set(cards)
    text = (VIEWER.parent / "lecture" / "facts.py").read_text(encoding="utf-8")
    for name, card in shown.items():
        assert card["memory"] == cards[name].memory_bytes_per_second, name
        assert card["rates"] == cards[name].dense_flops_per_second, name
        assert card["source"] in text, name


def texts(page, selector: str) -> set[str]:
    return {text.strip() for text in page.locator(selector).all_text_contents()}


ROOF_IS_CLEAR = """() => {
    const roof = document.querySelector(".roof");
    const length = roof.getTotalLength();
    const points = Array.from({ length: 500 }, (_, at) => roof.getPointAtLength(at * length / 499));
    return [...document.querySelectorAll(".roof-label")].every((label) => {
        const { x, y, width, height } = label.getBBox();
        return points.every((point) =>
            point.x < x || point.x > x + width || point.y < y || point.y > y + height);
    });
}"""
"""Whether no name lies on the roof."""


def test_names_in_the_roofline_are_pieces_of_code_and_off_the_roof(page, site):
    """A mark is that of a line whose code one reads; which line it is, is said of it."""
    document = documents.small()
    source = document["files"][0]["source"]
    long = source.replace("m = n * 2", "m = n * one_number_that_is_always_two")
    document["files"][0]["source"] = long
    document["statements"][6][1:3] = [20, 21]  # of a statement of two lines one sees the first
    seconds = [0.001, 0.25, 0.0, 0.0, *[0.5] * 3, *[0.0] * 9]
    with_times(page, site, sidecar(document, seconds), document)
    page.keyboard.press("C")
    page.get_by_role("tab", name="Roofline").click()
    page.locator(".roof-label").first.wait_for()
    assert texts(page, ".roof-label") == {"x = make() …", "n * one_number_that_is_alway…"}
    assert page.evaluate(ROOF_IS_CLEAR)
    said = " ".join(texts(page, ".roof-point title"))
    assert "m = n * one_number_that_is_always_two, main.py:27: " in said
    chart = page.get_by_role("slider", name="Roofline of A Processor, 2 threads")
    chart.focus()
    page.keyboard.press("End")
    assert re.match(r".+, main\.py:\d+: ", chart.get_attribute("aria-valuetext"))
    page.mouse.move(0, 0)
    places = page.locator("#costs-view .inspect-place").all_inner_texts()
    assert {"main.py:20", "main.py:27"} <= set(places)
    page.locator(".roof-label", has_text="n * one").hover()
    expect(page.locator(".roofline .inspect-readout")).to_contain_text(
        "m = n * one_number_that_is_always_two, main.py:27: "
    )
    page.get_by_label("Accelerator").select_option("H100 SXM")
    page.locator(".roof:not(.reached)").wait_for()
    assert texts(page, ".roof-label") == {"mul", "mm"}
    assert page.evaluate(ROOF_IS_CLEAR)


MARKS_AND_LINES_ARE_CLEAR = """() => {
    const boxes = (what) => [...document.querySelectorAll(what)].map((one) => one.getBBox());
    const clear = (one, other) => one.x >= other.x + other.width || other.x >= one.x + one.width ||
        one.y >= other.y + other.height || other.y >= one.y + one.height;
    const others = boxes("svg[role=slider] :is(.roof-point:not(.slight), .roof-ridge)");
    return boxes(".roof-label").every((label) => others.every((other) => clear(label, other)));
}"""
"""Whether no name lies on a mark that counts, nor on the line where the roof bends."""


def test_names_in_the_roofline_lie_on_no_mark_and_no_line(page, site):
    with_times(page, site, sidecar(documents.small(), [0.001, 0.25, 0, 0, *[0.5] * 3, *[0] * 9]))
    page.keyboard.press("C")
    page.get_by_role("tab", name="Roofline").click()
    page.locator(".roof-label").first.wait_for()
    marks = page.locator("svg[role=slider] .roof-point")
    for at in range(marks.count()):
        marks.nth(at).hover()
        page.locator(".roof-point.shown").wait_for()
        assert page.locator(".roof-label").count() == 1
        assert page.evaluate(MARKS_AND_LINES_ARE_CLEAR)
    page.mouse.move(0, 0)
    expect(page.locator(".roof-point.shown")).to_have_count(0)
    assert page.evaluate(MARKS_AND_LINES_ARE_CLEAR)


def test_on_a_phone_marks_of_the_roofline_have_the_numbers_of_rows_below(phone, site):
    with_times(phone, site, sidecar(documents.small(), [0.001, 0.25, 0, 0, *[0.5] * 3, *[0] * 9]))
    phone.keyboard.press("C")
    phone.get_by_role("tab", name="Roofline").click()
    phone.locator(".roof-label").first.wait_for()
    rows = phone.locator("#costs-view .inspect-table tbody tr").all_inner_texts()
    numbers = [row.split()[0].rstrip(".") for row in rows]
    assert texts(phone, ".roof-label") == set(numbers)
    assert len(numbers) == len(set(numbers)) > 1


def test_the_roofline_names_what_waits_for_memory(table):
    table.get_by_role("tab", name="Roofline").click()
    chart = table.get_by_role("slider", name="Roofline of H100 SXM in bf16")
    assert chart.locator(".roof-point").count() == 3
    expect(table.get_by_text("3 of 3 operators wait for memory")).to_be_visible()
    chart.focus()
    table.keyboard.press("Home")
    assert chart.get_attribute("aria-valuetext").startswith("aten.a: 1 FLOP/B")
    table.keyboard.press("ArrowRight")
    assert chart.get_attribute("aria-valuetext").startswith("aten.b: 32 FLOP/B")
    assert "320 FLOP" in table.locator(".inspect-readout").inner_text()
    assert table.locator(".inspect-readout").inner_text().endswith(" in 2 calls.")
    chart.locator(".roof-point").nth(0).hover()
    assert table.locator(".inspect-readout").inner_text().startswith("aten.")
    table.get_by_label("Accelerator").select_option("RTX 3090")
    table.get_by_label("Arithmetic in").select_option("fp32")
    table.get_by_role("slider", name="Roofline of RTX 3090 in fp32").wait_for()
    rows = table.locator(".inspect-table tbody tr").all_inner_texts()
    limits = {row.split()[1]: row.split()[-1] for row in rows}
    assert limits == {"aten.a": "memory", "aten.b": "memory", "aten.c": "arithmetic"}
    table.keyboard.press("Escape")
    table.locator("dialog").wait_for(state="detached")
    table.keyboard.press("C")
    table.get_by_role("slider", name="Roofline of RTX 3090 in fp32").wait_for()


def test_what_lines_reached_is_below_the_best_of_them(ask):
    """Steps 1 and 2 are of two lines, step 5 of a third; what is too fast for a clock has none."""
    seconds = [1e-6, 2.0, 3.0, *[0.0] * 2, 4.0, *[0.0] * 2, 1.0, *[0.0] * 7]
    document = priced()
    document["costs"]["read_bytes"][2] = 600
    limits, points = ask("measured", document, seconds)
    assert limits == {"peak": 1000, "memory": 200}
    found = {point["name"]: (point["rate"], point["attainable"]) for point in points}
    assert found == {"10": (1000, 1000), "7": (100, 100), "6": (10, 400)}, "8 is not counted whole"
    assert [point["seconds"] for point in points] == [4, 3, 2]


def test_measured_lines_stand_below_a_roof_that_says_what_it_is(page, site):
    seconds = [0.001, 0.25, 0.0, 0.004, *[0.5] * 3, *[0.0] * 9]
    with_times(page, site, sidecar(documents.small(), seconds))
    page.keyboard.press("C")
    page.get_by_role("tab", name="Roofline").click()
    chart = page.get_by_role("slider", name="Roofline of A Processor, 2 threads")
    assert chart.locator(".roof-point.measured").count() == 2
    assert chart.locator(".roof.reached").count() == 1
    assert "lies on the roof by construction" in page.locator("#costs-view").inner_text()
    table = page.get_by_role("region", name="measured lines of the roofline")
    rows = [row.inner_text().split("\t") for row in table.locator("tbody tr").all()]
    assert [row[2:5] for row in rows] == [
        ["4.2 MFLOP/s", "100 %", "500 ms"],
        ["24 FLOP/s", "100 %", "250 ms"],
    ]
    assert table.locator("thead th").last.inner_text() == "of 1.8 s", (
        "1.751 s, also of other lines, not of asserts"
    )
    assert [row[5] for row in rows] == ["28.6 %", "14.3 %"]
    assert "These 2 lines took 750 ms of the 1.8 s" in page.locator("#costs-view").inner_text()
    assert "the more of the 1.8 s" in page.locator(".inspect-readout").inner_text()
    page.get_by_label("Accelerator").select_option("H100 SXM")
    page.get_by_role("slider", name="Roofline of H100 SXM in bf16").wait_for()
    assert page.locator(".roof-point.measured").count() == 0, "nothing ran there"
    text = page.locator("#costs-view").inner_text()
    assert "Nothing here ran on this accelerator" in text
    assert "lie on the roof by construction" in text


def test_lines_measured_on_an_accelerator_stand_below_its_own_roof(page, site):
    seconds = [0.001, 0.25, 0.0, 0.004, *[0.5] * 3, *[0.0] * 9]
    machine = {"device": "NVIDIA H100 80GB HBM3", "date": "2026-01-01"}
    times = sidecar(documents.small(), seconds, environment=machine)
    with_times(page, site, times)
    page.keyboard.press("C")
    page.get_by_role("tab", name="Roofline").click()
    page.get_by_label("Accelerator").select_option("H100 SXM")
    chart = page.get_by_role("slider", name="Roofline of H100 SXM in bf16")
    assert chart.locator(".roof-point.measured").count() == 2
    assert chart.locator(".roof-point:not(.measured)").count() == 2
    page.get_by_label("Accelerator").select_option("A100 SXM")
    page.get_by_role("slider", name="Roofline of A100 SXM in bf16").wait_for()
    assert page.locator(".roof-point.measured").count() == 0


# Memory -----------------------------------------------------------------------------------------


def remembered(rows):
    """The small lecture with rows of memory: events recorded, category, bytes alive."""
    document = documents.small()
    document["names"] += CATEGORIES
    places = [document["names"].index(name) for name in CATEGORIES]
    document["memory"] = {
        "at": [row[0] for row in rows],
        "category": [places[row[1]] for row in rows],
        "live_bytes": [row[2] for row in rows],
    }
    return document


ROWS = [
    (2, 0, 100),  # step 0
    (4, 3, 50),  # step 1: most, and then the last
    (4, 3, 10),
    (10, 1, 7),  # step 5
    (10, 3, 90),
    (13, 3, 0),  # step 7
]


def test_memory_is_followed_by_category(ask):
    moments, part = ask("memory", remembered(ROWS), {"first": 2, "beyond": 10}, 4)
    assert moments == [
        [0, [100, 0, 0, 0, 0], 100],
        [1, [100, 0, 0, 50, 0], 150],
        [1, [100, 0, 0, 10, 0], 110],
        [5, [100, 7, 0, 90, 0], 197],
        [7, [100, 7, 0, 0, 0], 107],
    ]
    assert [(step, total) for step, _, total in part] == [(2, 110), (5, 197), (6, 197), (8, 107)]


@pytest.fixture
def memory(page, show):
    show(page, remembered(ROWS), mode="step", at="2")
    page.keyboard.press("C")
    page.get_by_label("part of the run").select_option("the whole run")
    page.get_by_role("tab", name="Memory").click()
    page.locator(".memory-legend").wait_for()
    return page


def legend(page) -> list[list[str]]:
    rows = page.locator(".memory-legend tr").all()
    return [row.locator("th, td").all_inner_texts() for row in rows]


def test_the_current_step_and_the_peak_are_marked(memory):
    assert memory.locator(".memory-here").count() == 1
    assert memory.locator(".memory-peak text").text_content() == "peak 197 B"
    head, *rows = legend(memory)
    assert head == ["category", "after the current step", "at the peak"]
    assert rows[0] == ["parameters", "100 B", "100 B"]
    assert rows[3] == ["activations", "10 B", "90 B"]
    assert rows[-1] == ["all", "110 B", "197 B"]
    assert "step 6 of 16" in memory.locator("#costs-view").inner_text()


def test_who_reads_has_no_current_step(page, show):
    show(page, remembered(ROWS))
    page.keyboard.press("C")
    page.get_by_label("part of the run").select_option("the whole run")
    page.get_by_role("tab", name="Memory").click()
    page.locator(".memory-legend").wait_for()
    assert page.locator(".memory-here").count() == 0
    assert legend(page)[0] == ["category", "at the peak"]
    assert legend(page)[-1] == ["all", "197 B"]


def test_the_current_step_is_not_the_highest_of_its_column(memory):
    """At step 1 most are 150 bytes; when it has run, 110 are left."""
    memory.keyboard.press("Escape")
    memory.locator("dialog").wait_for(state="detached")
    memory.keyboard.press("h")
    memory.keyboard.press("C")
    memory.locator(".memory-legend").wait_for()
    assert legend(memory)[-1] == ["all", "110 B", "197 B"]
    said = memory.locator(".inspect-readout").inner_text()
    assert said == "step 2, line 20 of views, in “Views share storage”: 110 B, the current step"
    chart = memory.get_by_role("slider", name="memory over time")
    chart.press("ArrowLeft")
    chart.press("ArrowRight")
    assert legend(memory)[0][1] == "at the cursor"
    assert legend(memory)[-1] == ["all", "150 B", "197 B"]


def test_what_would_be_spent_on_meta_is_told_apart(page, show):
    document = priced() | {"memory": remembered(ROWS)["memory"]}
    document["names"] += CATEGORIES
    document["memory"]["category"] = [document["names"].index(CATEGORIES[row[1]]) for row in ROWS]
    show(page, document)
    page.keyboard.press("C")
    chooser = page.get_by_label("what happened or what would")
    page.locator(".costs-table").wait_for()
    assert chooser.count() == 0
    page.keyboard.press("Escape")

    document["costs"]["meta"] = [0, 0, 0, 1, 0]
    show(page, document)
    show_everything(page)
    assert page.locator(".cost.on-meta").first.inner_text().startswith("would cost 4 kFLOP")
    page.keyboard.press("C")
    foot = page.locator(".costs-table tfoot")
    assert "50.3 kFLOP" in foot.inner_text()
    apart = page.locator(".costs-notes p.on-meta")
    assert "Apart from this, 4 kFLOP and 40 B moved would have been spent" in apart.inner_text()
    apart.get_by_role("button", name="Show what would be spent there").click()
    page.locator("#costs-view.on-meta").wait_for()
    assert chooser.input_value() == "meta"
    assert foot.inner_text().split("\t")[1:3] == ["1", "4 kFLOP"]
    page.get_by_role("tab", name="Memory").click()
    assert "not in this chart" in apart.inner_text()
    assert chooser.count() == 0, "there is nothing to choose"
    page.locator("#costs-view.on-meta").wait_for(state="detached")
    page.get_by_role("tab", name="Table").click()
    apart.get_by_role("button", name="Show what happened").click()
    assert "50.3 kFLOP" in foot.inner_text()


def test_what_is_spent_on_meta_alone_is_shown_at_once(page, show):
    """The section of steps 1 to 3 spends nothing, and would on `meta`."""
    document = priced()
    document["costs"]["meta"] = [0, 1, 1, 0, 0]
    show(page, document, mode="step", at="2")
    page.keyboard.press("C")
    chooser = page.get_by_label("what happened or what would")
    page.locator("#costs-view.on-meta").wait_for()
    assert chooser.input_value() == "meta"
    assert set(first_cells(page)) == {"x = make()", "if x is None:"}
    note = page.locator(".costs-notes p.on-meta")
    back = note.get_by_role("button", name="Show what happened")
    assert back.evaluate("e => getComputedStyle(e).borderTopWidth") == "1px", "as buttons are"
    part = page.get_by_label("part of the run")
    part.select_option("the whole run")
    assert chooser.input_value() == "ran", "something was spent there"
    part.select_option("Views share storage")
    back.click()
    page.get_by_text("Nothing here cost anything.").wait_for()
    page.get_by_role("tab", name="Memory").click()
    assert "not in this chart" in note.inner_text()


def test_a_section_among_many_is_found_by_its_name(page, show):
    names = [f"number_{number}" for number in range(25)]
    calls = "".join(f"    {name}()\n" for name in names)
    bodies = "".join(
        f'\n\ndef {name}():\n    """About {name[7:]}."""\n    x = 1\n' for name in names
    )
    document = recorded(f'def main():\n    """Numbers."""\n{calls}{bodies}')
    document |= {
        "costs": spent(documents.small(), [(1, "aten.a", 1, 1), (3, "aten.a", 20, 1)])["costs"]
    }
    document["names"].append("aten.a")
    document["costs"]["operator"] = [len(document["names"]) - 1] * 2
    show(page, document)
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    field = page.get_by_label("find a part of the run")
    found = page.get_by_role("list", name="parts found").get_by_role("button")
    field.fill("about 1")
    assert found.count() == 8
    assert "and 3 more" in page.locator(".scope-found").inner_text()
    field.fill("bout 1")
    field.press("Enter")
    assert page.locator(".costs-table tfoot td").nth(1).inner_text() == "20 FLOP"
    assert field.input_value() == ""
    field.fill("nothing")
    expect(page.get_by_text("No section has “nothing” in its name.")).to_be_visible()
    field.fill("About 0")
    found.first.click()
    assert page.locator(".costs-table tfoot td").nth(1).inner_text() == "1 FLOP"


def test_the_legend_says_what_each_column_is_and_how_it_is_known(page, site):
    with_times(page, site, sidecar(documents.small(), [0.001] * 16))
    page.keyboard.press("C")
    page.get_by_text("What these numbers are").click()
    terms = page.locator(".costs-legend .costs-terms dt").all_inner_texts()
    heads = page.locator(".costs-table thead th:not(:first-child) button").all_inner_texts()
    assert terms == [head.removeprefix("▼").strip() for head in heads]
    assert terms[0] == "operators"
    assert terms[-1] == "time"
    kinds = page.locator(".costs-legend .costs-kinds dt").all_inner_texts()
    assert kinds == ["observed", "formula", "convention", "ideal", "would cost"]


def test_the_roofline_says_where_its_roof_bends_and_cuts_no_number_off(table):
    table.get_by_role("tab", name="Roofline").click()
    chart = table.locator(".roofline > svg")
    assert "the roof bends at 295" in chart.text_content()
    titles = chart.locator(".inspect-axis-title")
    assert titles.all_text_contents()[1].strip() == "FLOPs in each second (FLOP/s)"
    title = titles.nth(1).bounding_box()
    assert title["x"] >= chart.bounding_box()["x"]
    rates = chart.locator(".inspect-axis text[text-anchor=end]").all()
    assert title["x"] + title["width"] <= min(rate.bounding_box()["x"] for rate in rates)
    edge = chart.bounding_box()["x"] + chart.bounding_box()["width"]
    for number in chart.locator(".inspect-axis text").all():
        box = number.bounding_box()
        assert box["x"] + box["width"] <= edge


def test_one_line_is_not_spoken_of_as_several(page, site):
    with_times(page, site, sidecar(documents.small(), [0.0, 0.25, *[0.0] * 14]))
    page.keyboard.press("C")
    page.get_by_role("tab", name="Roofline").click()
    page.get_by_text("This line took 250 ms of the 250 ms").wait_for()


def test_the_legend_of_the_roofline_says_what_its_columns_are(table):
    table.get_by_role("tab", name="Roofline").click()
    table.get_by_text("What these numbers are").click()
    heads = table.locator("#costs-view thead th:not(:first-child)").all_inner_texts()
    named = {head for head in heads if not re.match(r"of [0-9]", head)}
    terms = set(table.locator(".costs-legend .costs-terms dt").all_inner_texts())
    assert named == {"intensity", "at most", "at least", "limited by"}
    assert named < terms


def test_the_legend_defines_each_category_of_memory(memory):
    memory.get_by_text("What these numbers are").click()
    assert memory.locator(".costs-legend .costs-terms dt").all_inner_texts() == CATEGORIES
    said = memory.locator(".costs-legend .costs-terms dd").all_inner_texts()
    assert said[2] == "what an optimizer keeps, and what its step makes on the way"


def test_rows_that_are_equal_where_the_table_is_sorted_go_by_what_else_they_spent(page, show):
    rows = [(0, "aten.a", 0, 1), (1, "aten.b", 9, 1), (2, "aten.b", 0, 70)]
    show(page, spent(documents.small(), rows))
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    assert [row[3] for row in cells(page).values()] == ["1 B", "70 B", "1 B"]


def test_the_last_row_of_the_table_has_an_edge_while_others_pass_below_it(table):
    edge = "(cell) => getComputedStyle(cell).backgroundImage"
    for cell in table.locator(".costs-table tfoot :is(th, td)").all():
        assert "linear-gradient" in cell.evaluate(edge)
    heads = table.locator(".costs-table thead button").all_inner_texts()
    assert [head for head in heads if head.endswith("FLOPs")] == ["▼matmul FLOPs", "other FLOPs"]


def test_a_table_without_matrix_products_is_sorted_by_what_it_has(page, show):
    """By a column of zeros the rows would stand in any order."""
    show(page, spent(documents.small(), [(0, "aten.a", 0, 1), (2, "aten.b", 0, 7)]))
    page.keyboard.press("C")
    page.locator(".costs-table").wait_for()
    assert page.locator(".costs-table [aria-sort=descending]").inner_text() == "▼read\nideal"
    reads = [row[3] for row in cells(page).values()]
    assert reads == ["7 B", "1 B"]
    page.get_by_role("button", name="matmul").click()
    chosen = page.locator(".costs-table [aria-sort=descending]")
    assert "matmul" in chosen.inner_text(), "what a reader chose stays"


def test_memory_is_drawn_to_scale_with_its_sections_below(memory):
    assert memory.get_by_label("Scale").input_value() == "linear"
    assert memory.locator(".memory-area").count() == len(CATEGORIES)
    bands = memory.locator(".memory-band title").evaluate_all("all => all.map(e => e.textContent)")
    assert bands == ["1 Views share storage"]


def test_what_is_stacked_has_no_logarithmic_scale(page, show):
    """Of 64 times as many bytes in one short spike, too: on logarithms heights do not add up."""
    rows = [(event, category, 3 * 2**10) for event in (2, 4) for category in (0, 3)]
    show(page, remembered([*rows, (10, 3, 2**20), (11, 3, 3 * 2**10)]), mode="step", at="2")
    page.keyboard.press("C")
    page.get_by_label("part of the run").select_option("the whole run")
    page.get_by_role("tab", name="Memory").click()
    areas = page.locator(".memory > svg .memory-area")
    expect(areas).to_have_count(len(CATEGORIES))
    assert page.get_by_label("Scale").input_value() == "linear"
    page.get_by_label("Scale").select_option("logarithmic")
    expect(areas).to_have_count(1)


def test_keys_move_over_the_memory_and_go_to_a_step(memory):
    chart = memory.get_by_role("slider", name="memory over time")
    chart.focus()
    memory.keyboard.press("p")
    said = "step 6, line 27 of double: 197 B"
    assert chart.get_attribute("aria-valuetext") == said
    memory.keyboard.press("ArrowLeft")
    assert chart.get_attribute("aria-valuetext").endswith(": 110 B")
    memory.keyboard.press("ArrowRight")
    memory.keyboard.press("Enter")
    memory.locator("dialog").wait_for(state="detached")
    assert memory.locator(".program-line.current").get_attribute("data-line") == "27"


def test_a_click_on_the_memory_goes_to_the_step(memory):
    box = memory.locator(".memory > svg").bounding_box()
    memory.mouse.click(box["x"] + box["width"] - 20, box["y"] + box["height"] / 2)
    memory.locator("dialog").wait_for(state="detached")
    assert memory.locator(".timeline-count").inner_text() == "16 / 16"


# Machado et al. 2009, severity 1, for linear RGB
SEEN = {
    "all colours": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "without red": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "without green": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "without blue": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}


def linear(colour: str) -> list[float]:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def lab(rgb: list[float]) -> list[float]:
    """CIE L*a*b* of linear RGB under D65."""
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    white = (0.9505, 1.0, 1.089)
    xyz = [sum(a * b for a, b in zip(row, rgb, strict=True)) for row in rows]
    f = [
        (part / of) ** (1 / 3) if part / of > 0.008856 else 7.787 * part / of + 16 / 116
        for part, of in zip(xyz, white, strict=True)
    ]
    return [116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])]


def difference(one: str, other: str, seen) -> float:
    first, second = (
        lab([max(0, sum(a * b for a, b in zip(row, linear(colour), strict=True))) for row in seen])
        for colour in (one, other)
    )
    return sum((a - b) ** 2 for a, b in zip(first, second, strict=True)) ** 0.5


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eyes", SEEN)
def test_categories_are_told_apart_by_everyone(eyes, theme):
    css = (VIEWER / "costs.css").read_text(encoding="utf-8")
    colours = [
        re.search(rf"\.memory-{index} {{\s*fill: light-dark\((#\w+), (#\w+)\)", css)[theme + 1]
        for index in range(len(CATEGORIES))
    ]
    closest = min(
        difference(one, other, SEEN[eyes]) for one, other in itertools.combinations(colours, 2)
    )
    assert closest > 15  # 2.3 can just be noticed


PAIRS = [("positive", "negative"), ("positive", "cell"), ("negative", "cell"), ("accent", "wrong")]


@pytest.mark.parametrize("theme", [0, 1])
@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("pair", PAIRS)
def test_colours_that_mean_something_are_told_apart_by_everyone(pair, eyes, theme):
    """A claim has its sign besides, and what changed a dot."""
    css = (VIEWER / "style.css").read_text(encoding="utf-8")
    one, other = (
        re.search(rf"--{name}: light-dark\((#\w+), (#\w+)\)", css)[theme + 1] for name in pair
    )
    assert difference(one, other, SEEN[eyes]) > 15


def test_the_margin_says_no_intensity_where_something_is_not_counted(page, show):
    document = spent(documents.small(), [(1, "aten.sort", 24, 48), (5, "aten.mm", 2_100_000, 48)])
    show(page, document)
    show_everything(page)
    text = page.locator("#article").inner_text()
    assert "44\u202f000 FLOP/B" in text
    assert "24 FLOP" in text
    assert "0.5 FLOP/B" not in text
    assert "48 B moved · ≤ 0.5" not in text


def test_a_document_of_version_1_is_shown_with_what_version_2_makes_of_it(page, show, ask):
    """Step 2 runs `aten.polar`, which has no formula, beside operators that are counted."""
    path = VIEWER.parent / "tests/older/version_1.json"
    older = json.loads(path.read_bytes())
    show(page, older)
    show_everything(page)
    text = page.locator("#article").inner_text()
    assert "Polar numbers have no formula" in text
    assert page.locator("#article .topic").all_inner_texts() == ["M1.1", "M1.2"]
    texts = {step: text for step, _, text in ask("margins", older)}
    assert "FLOP" in texts[2]
    assert "FLOP/B" not in texts[2]
    assert "FLOP/B" in texts[6]


def test_no_step_with_an_uncounted_operator_has_an_intensity(ask):
    """In any of the documents that are published here."""
    for path in (VIEWER / "traces").glob("*.main.json"):
        margins = ask("margins", json.loads(path.read_bytes()))
        uncounted = [text for _, calls, text in margins if calls]
        assert uncounted
        assert [text for text in uncounted if "FLOP/B" in text] == []
