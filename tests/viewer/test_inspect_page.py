"""The inspectors in Chromium: by mouse, by keyboard, on a phone, in a file."""

import copy
import itertools

import pytest
from playwright.sync_api import expect

from tests.viewer import documents
from tests.viewer.conftest import painted, settled
from tests.viewer.programs import recorded, step_on
from tests.viewer.test_export import offline, opened  # noqa: F401
from tests.viewer.test_page import current_line, line, variables

CUBE = {
    **documents.TENSOR,
    "shape": [2, 3, 4],
    "strides": [12, 4, 1],
    "bytes": 96,
    "storage_bytes": 96,
    "elements": [float(number) for number in range(-12, 12)],
}
ROW = {
    **documents.TENSOR,
    "shape": [2, 2],
    "strides": [0, 4],
    "offset": 5,
    "contiguous": False,
    "bytes": 16,
    "storage_bytes": 96,
    "elements": [-7.0, -3.0, -7.0, -3.0],
}
ODD = {**documents.TENSOR, "storage": 2, "shape": [4], "strides": [1], "bytes": 16}
ODD |= {"storage_bytes": 16, "elements": [1.0, "nan", "inf", "-inf"]}


def changing() -> dict:
    """`x` of `views` at step 1, then again, changed, at step 3, beside a number that goes too."""
    document = documents.small()
    inspections = document["inspections"]
    document["names"].append("k")
    document["values"] += [
        {**documents.TENSOR, "elements": [0.0, 1.0, 2.0, 3.0, 4.0, 1.5]},
        {"type": "int", "value": 41},
    ]
    for event, name, value in ((3, "k", 8 + 1), (5, "x", 8), (5, "y", 3)):
        inspections["event"].append(event)
        inspections["at"].append(event + 1)
        inspections["name"].append(document["names"].index(name))
        inspections["value"].append(value)
    return document


def inspector(page, tensor=0):
    # Not by a pointer: the card of a line comes with it, and has the same tensor in that place.
    page.locator(".tensor .inspect").nth(tensor).evaluate("button => button.click()")
    panel = page.locator(".panel-inspect .inspector")
    panel.wait_for()
    return panel


def picked(panel) -> list[str]:
    """What is picked of the elements, and of the storage."""
    return [
        panel.locator(f".{kind}[aria-pressed=true]").get_attribute("aria-label")
        for kind in ("heat-cell", "strip-cell")
    ]


def test_a_tensor_opens_with_its_shape_first(page, show):
    panel = inspector(show(page, documents.small()))
    assert panel.locator("h3").inner_text() == "x in views"
    assert panel.locator(".headline").inner_text() == "[2, 3] float32"
    facts = panel.locator(".inspect-facts").first.inner_text()
    assert "contiguous" in facts
    assert "24 B" in facts
    assert facts.split()[-3:] == ["requires", "grad", "no"]
    assert panel.locator(".words").all_inner_texts() == [
        "All 24 bytes of its storage; no other name seen so far views it."
    ]
    assert panel.locator(".heat-cell").all_inner_texts() == [
        "0.0",
        "1.0",
        "2.0",
        "3.0",
        "4.0",
        "5.5",
    ]
    assert panel.locator(".legend-scale").inner_text().split() == ["0", "5.5"]
    assert "Computed here from all 6 elements." in panel.inner_text()
    assert panel.locator(".bins rect").count() == 6


def equally_spaced(rectangles) -> bool:
    lefts = [float(rectangle.get_attribute("x")) for rectangle in rectangles.all()]
    steps = [right - left for left, right in itertools.pairwise(lefts)]
    return max(steps) - min(steps) < 1e-6


# elements -> the bars of the histogram, what it is called, what stands below it
SPREADS = {
    "uniform": (
        [float(number) for number in range(16)],
        16,
        "Histogram of 16 values from 0 to 15; each is there 1 time.",
        ["0", "highest bar: 1", "15"],
    ),
    "some more often": (
        [2, 4, 6, 8] * 2 + [4] * 8,
        4,
        "Histogram of 4 values from 2 to 8; 4 most often, 10 times.",
        ["2", "highest bar: 10", "8"],
    ),
}


@pytest.mark.parametrize(("elements", "bars", "name", "below"), SPREADS.values(), ids=SPREADS)
def test_few_values_have_a_bar_each_without_gaps(page, show, elements, bars, name, below):
    value = {**documents.TENSOR, "shape": [4, 4], "strides": [4, 1], "elements": elements}
    panel = inspector(show(page, documents.with_values(value)), 1)
    drawn = panel.locator(".bins rect")
    assert drawn.count() == bars
    assert equally_spaced(drawn)
    assert panel.get_by_role("img", name=name, exact=True).count() == 1
    assert panel.locator(".bins figcaption span").all_inner_texts() == below


TRUTHS = {
    **documents.TENSOR,
    "dtype": "bool",
    "shape": [3, 4],
    "strides": [4, 1],
    "storage": 9,
    "elements": [*[True] * 10, False, False],
}


def widths(cells) -> set[float]:
    return {round(cell.bounding_box()["width"], 1) for cell in cells.all()}


def test_booleans_have_cells_of_one_width_and_no_statistics_of_numbers(page, show):
    show(page, documents.with_values(TRUTHS))
    cells = page.locator("#article .tensor").nth(1).locator("td")
    assert cells.count() == 12
    assert len(widths(cells)) == 1
    panel = inspector(page, 1)
    assert len(widths(panel.locator(".heat-cell"))) == 1
    text = panel.inner_text()
    assert "10 of 12 true" in text
    assert "std" not in text
    assert panel.locator(".legend, .bins").count() == 0


def test_of_many_booleans_the_article_says_how_many_are_true(page, show):
    large = {
        **TRUTHS,
        "shape": [40, 25],
        "cut": True,
        "shown": [[0, 39], [0, 24]],
        "elements": [True, False, True, True],
        "statistics": {"min": 0.0, "max": 1.0, "mean": 0.506, "std": 0.49996},
        "histogram": {"low": 0.0, "high": 1.0, "counts": [494, *[0] * 18, 506]},
    }
    show(page, documents.with_values(large))
    line(page, 20).hover()
    said = page.locator(".card .tensor .statistics")
    said.wait_for()
    assert said.inner_text() == "506 of 1000 true"


def test_a_tensor_on_meta_is_said_to_have_no_elements(page, show):
    tensor = {"type": "Tensor", "dtype": "float32", "shape": [4, 4], "device": "meta"}
    panel = inspector(show(page, documents.with_values(tensor)), 1)
    assert panel.locator(".words").all_inner_texts() == [
        "A tensor on the device meta has a shape but no elements: nothing is computed there."
    ]


# where a variable is that nothing inspects -> why its elements are not recorded
UNRECORDED = {
    "here": ({}, "those of variables are only where they are few"),
    "elsewhere": (
        {"device": "cuda:0"},
        "those of variables on cuda:0 are only where the lecture inspects them",
    ),
}


@pytest.mark.parametrize(("place", "reason"), UNRECORDED.values(), ids=UNRECORDED)
def test_why_elements_are_not_recorded_is_said_and_how_they_are_to_authors(
    page, show, place, reason
):
    """The page of authors follows the lecture while it is written."""
    tensor = {"type": "Tensor", "dtype": "float32", "shape": [6, 8], **place}
    document = documents.with_values(tensor)
    said = inspector(show(page, document), 1).locator(".words")
    assert said.all_inner_texts() == [f"Its elements are not recorded here: {reason}."]
    page.keyboard.press("Escape")
    said.wait_for(state="detached")
    page.evaluate("""() => {
        const script = document.createElement("script");
        script.type = "text/plain";
        script.dataset.recorded = "today";
        document.head.append(script);
    }""")
    assert (
        f"{reason}; a comment “@inspect v0” records them."
        in inspector(page, 1).locator(".words").inner_text()
    )


def test_elements_and_cells_are_walked_with_the_keys(page, show):
    panel = inspector(show(page, documents.small()))
    panel.locator(".heat-cell").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert picked(panel) == ["x[1, 1] is 4, cell 4", "cell 4: x[1, 1]"]
    assert "0 + 1·3 + 1·1 = 4, so cell 4, byte 16" in panel.locator(".sum").inner_text()
    page.keyboard.press("Home")
    assert picked(panel)[0] == "x[1, 0] is 3, cell 3"
    panel.locator(".strip-cell[aria-pressed=true]").focus()
    page.keyboard.press("End")
    assert picked(panel) == ["x[1, 2] is 5.5, cell 5", "cell 5: x[1, 2]"]
    panel.get_by_label("index on axis 0, of 2").fill("0")
    assert picked(panel) == ["x[0, 2] is 2, cell 2", "cell 2: x[0, 2]"]
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


@pytest.mark.parametrize(("shape", "labels"), [([6], []), ([1, 6], ["0"]), ([2, 3], ["0", "1"])])
def test_a_tensor_of_one_axis_has_no_row_to_count(shape, labels, page, show):
    strides = [*shape[1:], 1]
    value = {**documents.TENSOR, "shape": shape, "strides": strides}
    panel = inspector(show(page, documents.with_values(value)), 1)
    panel.locator(".heat-cell").first.wait_for()
    assert panel.locator(".heat th[scope=row]").all_inner_texts() == labels


@pytest.mark.parametrize("size", [(1440, 900), (1280, 800), (390, 844), (844, 390)])
def test_elements_of_one_axis_go_on_below_where_there_is_no_room(size, page, show):
    value = {
        **{**documents.TENSOR, "shape": [16], "strides": [1], "bytes": 64},
        "elements": [float(at) for at in range(16)],
    }
    page.set_viewport_size(dict(zip(("width", "height"), size, strict=True)))
    panel = inspector(show(page, documents.with_values(value), mode="step", at="2"), 1)
    panel.locator(".heat-cell").first.wait_for()
    painted(page)
    assert panel.locator(".heat-cell").all_inner_texts() == [str(at) for at in range(16)]
    assert panel.locator(".heat-place").evaluate("e => e.scrollWidth - e.clientWidth") == 0


def test_a_cell_says_which_elements_read_it(page, show):
    panel = inspector(show(page, documents.with_values(CUBE, ROW)), 2)
    assert panel.locator(".words").all_inner_texts() == [
        "A view of the storage of x, 8 of 96 bytes.",
        "A view in which elements share a place: apart, they would be 16 bytes.",
    ]
    panel.get_by_role("button", name="cell 9:").click()
    assert "Cell 9 holds 2 elements: [0, 1], [1, 1]." in panel.locator(".sum").inner_text()
    assert picked(panel)[0].startswith("v1[0, 1]")
    assert panel.locator(".heat-cell.alike").get_attribute("aria-label").startswith("v1[1, 1]")
    panel.get_by_role("button", name="cell 6: not read by v1").click()
    assert panel.locator(".sum").inner_text().strip() == "Cell 6 is not read by v1."
    assert panel.locator(".strip-cell.unread").count() == 22
    panel.locator(".heat-cell").first.click()
    assert "5 + 0·0 + 0·4 = 5, so cell 5" in panel.locator(".sum").inner_text()


def test_slices_and_axes_are_chosen(page, show):
    panel = inspector(show(page, documents.with_values(CUBE)), 1)
    cells = panel.locator(".heat-cell")
    assert cells.first.inner_text() == "-12"
    assert cells.count() == 12
    panel.get_by_label("index on axis 0").first.fill("1")
    assert cells.first.inner_text() == "0"
    assert panel.locator(".slice-name").inner_text() == "v0[1, :, :]"
    panel.get_by_label("rows").select_option("0")
    assert panel.locator(".slice-name").inner_text() == "v0[:, 0, :]"
    panel.get_by_label("columns").select_option("0")
    assert panel.locator(".slice-name").inner_text() == "v0[:, 0, :]"
    assert cells.all_inner_texts() == [
        str(number) for row in range(4) for number in (row - 12, row)
    ]
    assert panel.locator(".legend").inner_text().split() == ["-12", "0", "12"]


def test_what_is_no_number_is_marked(page, show):
    panel = inspector(show(page, documents.with_values(ODD)), 1)
    assert panel.locator(".heat-cell.is-nan").inner_text() == "nan"
    assert panel.locator(".heat-cell.is-inf").all_inner_texts() == ["inf", "-inf"]
    assert panel.locator(".legend").inner_text().split() == ["0", "1", "nan", "infinite"]
    assert "of the finite ones" in panel.inner_text()


def test_a_large_tensor_says_what_is_recorded(page, show):
    large = {
        **documents.TENSOR,
        "shape": [100, 100],
        "strides": [100, 1],
        "bytes": 40_000,
        "storage": 7,
        "storage_bytes": 40_000,
        "cut": True,
        "shown": [[0, 1, 99], [0, 99]],
        "elements": [1.0, 2.0, 3.0, "nan", -5.0, 6.0],
        "statistics": {"min": -5.0, "max": 6.0, "mean": 0.25, "std": 1.5, "nan": 1, "inf": 0},
        "histogram": {"low": -5.0, "high": 6.0, "counts": [1, 5, 3]},
    }
    panel = inspector(show(page, documents.with_values(large)), 1)
    text = panel.inner_text().replace("\u202f", " ")
    assert "Of 10 000 elements 6 are recorded" in text
    assert "Recorded by the run, from all 10 000 elements" in text
    assert panel.locator(".strip-cell").count() == 64
    panel.get_by_label("index on axis 0, of 100").fill("99")
    panel.get_by_label("index on axis 1, of 100").fill("99")
    assert picked(panel)[1] == "cell 9999: v0[99, 99]"
    chosen = panel.locator(".strip-cell[aria-pressed=true]")
    panel.get_by_label("first cell that is drawn").fill("128")
    assert chosen.get_attribute("aria-label") == "cell 128: v0[1, 28]"
    chosen.focus()
    for key, cell in (("ArrowLeft", 127), ("ArrowLeft", 126), ("ArrowRight", 127), ("End", None)):
        page.keyboard.press(key)
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused == chosen.get_attribute("aria-label")
        assert cell is None or focused == f"cell {cell}: v0[1, {cell - 100}]"


def test_other_names_of_the_storage_lead_on(page, show):
    document = documents.with_values(CUBE, ROW)
    panel = inspector(show(page, document), 1)
    names = panel.locator(".alias-name")
    assert names.all_inner_texts() == ["x", "v1"]
    names.nth(1).click()
    assert panel.locator("h3").inner_text() == "v1 in views"
    panel.locator(".alias-list .jump").first.click()
    assert page.locator("dialog").count() == 0
    assert "views:1.1" in page.url


def test_the_edge_of_the_inspector_moves_and_is_remembered(page, show):
    show(page, changing(), mode="step", at="4")
    page.keyboard.press("i")
    edge = page.get_by_role("separator", name="height of what is docked")
    height = page.locator(".dock").bounding_box()["height"]
    edge.focus()
    place = page.url
    page.keyboard.press("ArrowUp")
    assert edge.get_attribute("aria-valuenow") == "65"
    higher = page.locator(".dock").bounding_box()["height"]
    assert higher > height + 20
    assert page.url == place, "the key moves the edge alone"
    box = edge.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 6)
    page.mouse.down()
    page.mouse.move(box["x"] + 50, 2000)
    page.mouse.up()
    assert edge.get_attribute("aria-valuenow") == "20"
    page.mouse.move(box["x"] + 50, 300)
    assert edge.get_attribute("aria-valuenow") == "20", "who let go moves nothing"
    page.reload()
    page.locator(".stepping").wait_for()
    page.keyboard.press("i")
    assert edge.get_attribute("aria-valuenow") == "20"


def test_a_graph_has_most_of_the_room_beside_the_inspector(page, show):
    show(page, changing(), mode="step", at="4")
    page.keyboard.press("i")
    edge = page.get_by_role("separator", name="height of what is docked")
    assert edge.get_attribute("aria-valuenow") == "60"
    page.keyboard.press("G")
    page.locator(".graph").wait_for()
    assert edge.get_attribute("aria-valuenow") == "40"
    shown = page.locator(".facts").bounding_box()["height"]
    assert shown > page.locator(".dock").bounding_box()["height"]


@pytest.mark.parametrize("mode", ["read", "step"])
def test_an_element_of_a_tensor_leads_into_the_inspector(mode, page, show):
    document = recorded(GLANCED.replace("view(4, 4)", "view(4, 4)  # @inspect x"))
    show(page, document, mode=mode, at="2" if mode == "step" else "main")
    element = page.locator(".tensor .grid td").nth(5)
    box = element.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    painted(page)
    page.mouse.click(box["x"] + 5, box["y"] + 5)  # in Read on the card, which has come in front
    expect(page.locator(".inspector h3")).to_have_text("x in main")


def test_the_first_press_on_an_element_leads_there_too(page, show, site):
    """What follows it is fetched only when there is a reader who does something."""
    held = []
    page.route(f"{site.address}views/cells.js", lambda route: held.append(route))
    show(page, recorded(GLANCED.replace("view(4, 4)", "view(4, 4)  # @inspect x")), at="main")
    settled(page)
    element = page.locator(".tensor .grid td").nth(5)
    with page.expect_request("**/views/cells.js"):
        element.click()  # where it stands still, whatever style comes late
    expect(page.locator(".inspector")).to_have_count(0)
    held.pop().continue_()
    expect(page.locator(".inspector h3")).to_have_text("x in main")
    settled(page)
    expect(page.locator(".inspector h3")).to_have_count(1)


def test_the_longest_number_fits_its_cell(phone, show):
    elements = [-34_537.0, 1.0, 2.0, 3.0, 4.0, 5.5]
    panel = inspector(show(phone, documents.with_values({**documents.TENSOR, "storage": 9})))
    narrow = panel.locator(".strip-cell").first.bounding_box()["width"]
    phone.keyboard.press("Escape")
    value = {**documents.TENSOR, "storage": 9, "elements": elements}
    panel = inspector(show(phone, documents.with_values(value)), 1)
    for cell in panel.locator(".strip-cell").all():
        assert cell.bounding_box()["width"] > narrow
        assert cell.evaluate("e => e.scrollWidth <= e.clientWidth")


def test_nan_is_hatched_in_the_storage_too(page, show):
    panel = inspector(show(page, documents.with_values(ODD)), 1)
    picture = "e => getComputedStyle(e).backgroundImage"
    hatched = panel.locator(".strip-cell.is-nan, .strip-cell.is-inf").all()
    assert len(hatched) == 3
    assert all("gradient" in cell.evaluate(picture) for cell in hatched)
    none = {**ODD, "elements": ["nan"] * 4}
    panel = inspector(show(page, documents.with_values(none)), 1)
    assert "from all 4 elements; none is finite." in panel.inner_text()


def test_equal_elements_elsewhere_are_said_to_be_no_view(page, show):
    panel = inspector(show(page, documents.with_values({**documents.TENSOR, "storage": 9})), 1)
    assert panel.locator(".words").all_inner_texts() == [
        "All 24 bytes of its storage; no other name seen so far views it.",
        "x holds equal elements in another storage: they share no memory.",
    ]


def test_elements_that_an_earlier_step_recorded_say_so(page, show):
    show(page, documents.small(), mode="step", at="3")
    panel = inspector(page)
    assert "As they were when step 2 recorded them." in panel.inner_text()


def test_a_long_line_is_broken(page, show):
    elements = [number / 4 for number in range(-40, 40)]
    line_of = {**documents.TENSOR, "shape": [80], "strides": [1], "bytes": 320, "storage": 8}
    value = {**line_of, "storage_bytes": 320, "elements": elements}
    panel = inspector(show(page, documents.with_values(value)), 1)
    rows = panel.locator(".heat tbody tr")
    assert rows.locator("th").all_inner_texts() == ["0", "16", "32", "48", "64"]
    assert panel.locator(".gap, .gap-above").count() == 0
    panel.get_by_label("index on axis 0, of 80").fill("79")
    strip = panel.locator(".strip")
    shown, box = strip.locator(".picked").bounding_box(), strip.bounding_box()
    assert box["y"] <= shown["y"]
    assert shown["y"] + shown["height"] <= box["y"] + box["height"]


def test_a_tensor_of_one_number_is_inspected_too(page, show):
    value = {**ODD, "shape": [], "strides": [], "bytes": 4, "storage_bytes": 16, "offset": 2}
    show(page, documents.with_values({**value, "elements": [2.5]}), mode="step", at="2")
    assert page.locator(".variable .type").all_inner_texts() == ["Tensor", "Tensor"]
    page.locator(".variable .inspect", has_text="2.5").click()
    panel = page.locator(".inspector")
    assert panel.locator(".headline").inner_text() == "[] float32"
    page.keyboard.press("Escape")
    one = {**value, "shape": [1], "strides": [1], "elements": [1_234_567.5]}
    show(page, documents.with_values(one), mode="step", at="2")
    page.locator(".variable-name button", has_text="v0").click()
    page.keyboard.press("i")
    assert "= 1\u202f234\u202f567.5" in panel.locator(".index-inputs").inner_text(), (
        "as it is recorded"
    )
    page.keyboard.press("Escape")
    show(page, documents.with_values({**value, "elements": [2.5]}), mode="step", at="2")
    page.locator(".variable .inspect", has_text="2.5").click()
    assert "offset: 2, so cell 2, byte 8" in panel.locator(".sum").inner_text()
    assert panel.locator(".strip-cell").count() == 4
    assert panel.locator(".words").inner_text() == "A part of a storage: 4 of 16 bytes."


def test_a_variable_is_inspected_by_keys(page, show):
    show(page, changing(), mode="step", at="3")
    page.keyboard.press("i")
    panel = page.locator(".inspector")
    panel.wait_for()
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    page.locator(".variable-name button[aria-pressed]", has_text="x").click()
    page.locator("[data-command=inspect]").click()
    panel.wait_for()
    assert panel.locator("h3").inner_text() == "x in views"
    tabs = panel.get_by_role("tab")
    tabs.first.focus()
    page.keyboard.press("ArrowRight")
    panel.locator(".history-list li").first.wait_for()
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert panel.locator(".history-list li").count() == 2


GLANCED = """import torch


def main():
    'What a glance tells.'
    x = torch.arange(16.0).view(4, 4)
    corner = x[1:, 2:]
    turned = x.T
"""


# name -> bytes, strides, offset, order
LAYOUTS = {
    "x": ("64 B", "(4, 1)", "0", "contiguous"),
    "corner": ("24 B", "(4, 1)", "6", "not contiguous"),
    "turned": ("64 B", "(1, 4)", "0", "not contiguous"),
}


def test_of_a_tensor_at_a_glance_it_is_said_where_it_lies(page, show):
    """A glance leaves out what is usual, and the size of the storage."""
    document = recorded(GLANCED)
    show(page, document, mode="step", at=str(step_on(document, "turned = x.T") + 1))
    panel = page.locator(".inspector")
    for name, (size, *layout) in LAYOUTS.items():
        page.locator(".variable-name button[aria-pressed]", has_text=name).click()
        page.keyboard.press("i")
        expect(panel.locator("h3")).to_have_text(f"{name} in main")
        facts = panel.locator(".inspect-facts").first
        terms, found = (facts.locator(part).all_inner_texts() for part in ("dt", "dd"))
        usual = ["elements", "size", "device", "strides", "offset", "order", "storage"]
        assert terms == [*usual, "requires grad"]
        assert found[1:6] == [size, "cpu", *layout]
        assert panel.locator(".strip-cell").count() == 16
        expect(panel).to_contain_text(f"shown up to the last one that {name} reads.")
        page.keyboard.press("Escape")
        panel.wait_for(state="detached")


SUBJECTS = """import torch


def main():
    'What a line is about.'
    x = torch.arange(6.0).view(2, 3)
    row = x[0]
    separate = x.clone()
    row[1] = 100  # separate stays as it is
    assert x[1, 2] == separate[1, 2]
    torch.set_num_threads(1)
    assert separate.view(-1).sum() == 15, "row"
"""
# line -> the variable that `i` opens, if any
OPENED = [
    ("separate = x.clone()", "separate"),
    ("row[1] = 100  # separate stays as it is", "row"),
    ("assert x[1, 2] == separate[1, 2]", "x"),
    ('assert separate.view(-1).sum() == 15, "row"', "separate"),
    ("torch.set_num_threads(1)", ""),
]


@pytest.fixture(scope="module")
def subjects():
    return recorded(SUBJECTS)


@pytest.mark.parametrize(("text", "name"), OPENED)
def test_what_a_line_is_about_is_inspected_first(page, show, subjects, text, name):
    show(page, subjects, mode="step", at=str(step_on(subjects, text)))
    page.keyboard.press("i")
    dock = page.locator(".dock")
    if name:
        dock.locator("h3").wait_for()
        assert dock.locator("h3").inner_text() == f"{name} in main"
    else:
        dock.get_by_text("This line changes no variable and names none").wait_for()
    page.keyboard.press("i")
    dock.wait_for(state="detached")


def crowded(more: str = "") -> dict:
    """A call with more variables than fit above an inspector, two of which are tensors."""
    names = "".join(f"    name_{number} = {number}\n" for number in range(30))
    source = "import torch\n\n\ndef main():\n    'Many names.'\n    first = torch.arange(4.0)\n"
    return recorded(
        f"{source}{names}    last = torch.arange(4.0, 8.0)\n    end = 1\n{more}    return end\n"
    )


def test_the_history_is_that_of_what_is_inspected(page, show):
    document = crowded()
    show(page, document, mode="step", at=str(step_on(document, "end = 1")))
    inspector(page, 1)
    heading = page.locator(".inspector h3")
    assert heading.inner_text() == "last in main"
    page.keyboard.press("v")
    page.locator(".history-list li").first.wait_for()
    assert heading.inner_text() == "last in main"
    page.keyboard.press("i")
    page.locator(".headline").wait_for()
    page.locator(".variable-name button", has_text="name_3").first.evaluate("e => e.click()")
    page.keyboard.press("v")
    page.locator(".history-list li").first.wait_for()
    assert heading.inner_text() == "name_3 in main", "what was chosen since"
    page.keyboard.press("v")
    page.locator(".dock").wait_for(state="detached")


SAME_AGAIN = """
import torch


def main():
    "A new tensor in each round."
    for turn in range(3):
        here = torch.tensor(0.5)
        kept = here
    return kept
"""


def test_a_history_says_which_changes_read_the_same(page, show):
    document = recorded(SAME_AGAIN)
    show(page, document, mode="step", at=str(step_on(document, "return kept")))
    page.locator(".variable-name button", has_text="here").first.click()
    page.keyboard.press("v")
    page.locator(".history-list li").first.wait_for()
    expect(page.locator(".inspector")).to_contain_text(
        "with 2 changes, 2 of them to another object that reads the same."
    )


def test_what_is_inspected_stays_in_sight_above_the_panel(page, show):
    document = crowded()
    show(page, document, mode="step", at=str(step_on(document, "end = 1")))
    inspector(page, 1)
    row = page.locator(".variable", has=page.locator("code:text-is('last')")).bounding_box()
    box = page.locator(".variables-list > .apart").bounding_box()
    assert box["y"] <= row["y"]
    assert row["y"] + row["height"] <= box["y"] + box["height"]


def is_inside(box, row) -> bool:
    outer, inner = box.bounding_box(), row.bounding_box()
    return outer["y"] <= inner["y"] and inner["y"] + inner["height"] <= outer["y"] + outer["height"]


def test_what_a_step_changes_is_in_sight_and_otherwise_what_is_inspected(page, show):
    document = crowded("    name_0 = 7\n    print()\n")
    show(page, document, mode="step", at=str(step_on(document, "end = 1")))
    inspector(page, 1)
    box = page.locator(".variables-list > .apart")
    changed, watched = (
        page.locator(".variable", has=page.locator(f"code:text-is('{name}')"))
        for name in ("name_0", "last")
    )
    page.keyboard.press("ArrowRight")
    expect(page.locator(".variable.changed code").first).to_have_text("name_0")
    assert (is_inside(box, changed), is_inside(box, watched)) == (True, False)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".variable.changed")).to_have_count(0)
    assert is_inside(box, watched)


def test_the_values_of_a_loop_make_a_chart_that_leads_there(page, show):
    show(page, documents.small(), mode="step", at="11")
    page.locator(".variable", has=page.locator("code:text-is('total')")).locator(".type").click()
    panel = page.locator(".inspector")
    assert "Recorded 3 times, with 2 changes." in panel.inner_text()
    chart = panel.get_by_role("img")
    assert "from 0 at first to 4 at last" in chart.get_attribute("aria-label")
    assert panel.locator(".history-list .here").inner_text().split() == ["step", "11", "2"]
    chart.click(position={"x": 5, "y": 20})
    assert "1 of 3: 0" in panel.locator("output").inner_text()
    panel.get_by_role("slider", name="record").press("End")
    assert "3 of 3: 4" in panel.locator("output").inner_text()
    panel.locator(".history-list .jump").last.press("Enter")
    assert page.locator("dialog").count() == 0
    assert variables(page)["total"] == "4"


def looping(turns: int) -> dict:
    """The small lecture with a longer loop and no claims."""
    document = documents.small()
    inspections = document["inspections"]
    names = [document["names"].index(name) for name in ("i", "total")]
    document["events"] = [-1, *[3, 4] * turns, 3, 0]
    document["values"] = [{"type": "int", "value": number} for number in range(2 * turns)]
    rows = [
        (1 + 2 * turn + at, names[at], turn * (at + 1)) for turn in range(turns) for at in (0, 1)
    ]
    inspections["event"] = [event for event, _, _ in rows]
    inspections["at"] = [event + 1 for event, _, _ in rows]
    inspections["name"] = [name for _, name, _ in rows]
    inspections["value"] = [value for _, _, value in rows]
    document["claims"] = {name: [] for name in document["claims"]}
    return {**document, "output": [], "costs": None}


def test_of_a_long_history_what_is_near_is_listed(page, show):
    show(page, looping(400), mode="step", at="300")
    page.locator(".variable .type").last.click()
    panel = page.locator(".inspector")
    records = panel.locator(".history-list li")
    records.first.wait_for()
    assert records.count() == 60
    assert panel.locator(".history-list .here").inner_text().split() == ["step", "300", "298"]
    box, here = (
        panel.locator(place).bounding_box() for place in (".history-list", ".history-list .here")
    )
    assert box["y"] <= here["y"] < here["y"] + here["height"] <= box["y"] + box["height"]
    panel.get_by_role("slider", name="record").press("Home")
    assert records.first.inner_text().split() == ["step", "2", "0"]
    panel.get_by_text("show 60 more").click()
    assert records.count() == 120


def test_a_name_in_the_article_opens_its_values_in_all_calls(page, show):
    document = documents.small()
    show(page, document)
    page.get_by_role("button", name="What ran in double").click()
    page.locator(".arguments .value-name").click()
    assert page.locator(".inspector h3").inner_text() == "n in double"
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    line(page, 27).locator(".value-name").click()
    panel = page.locator(".inspector")
    assert panel.locator("h3").inner_text() == "m in double"
    assert panel.locator(".history-list li").count() == 1


def test_what_was_recorded_again_and_is_equal_is_said_to_be(page, show):
    document = changing()
    document["inspections"]["value"][-2] = 7  # `x` as before
    show(page, document, mode="step", at="1")
    page.keyboard.type("mlld")
    panel = page.locator(".panel-compare")
    panel.locator(".differences li").first.wait_for()
    assert "Equal at both: x." in panel.inner_text()


def test_a_call_that_shows_values_is_compared_first(page, show):
    show(page, documents.small(), mode="step", at="3")
    page.keyboard.press("m")
    page.keyboard.type("lll")  # from `views` into `double`; `main` knows nothing yet
    page.keyboard.press("d")
    title = page.locator(".pair-title")
    title.wait_for()
    assert title.inner_text() == "Differences in views (A) and double (B)"
    assert page.locator(".difference h4").all_inner_texts() == ["n added", "m added", "x removed"]


def test_two_steps_are_compared(page, show):
    show(page, changing(), mode="step", at="1")
    page.keyboard.press("d")
    page.locator(".panel-compare").get_by_role("button", name="Pin step 2 as A").click()
    page.keyboard.press("Escape")
    page.locator(".dock").wait_for(state="detached")
    page.keyboard.type("lld")
    panel = page.locator(".panel-compare")
    panel.locator(".differences li").first.wait_for()
    shown = panel.locator(".difference h4").all_inner_texts()
    assert shown == ["x changed", "y added"]
    text = panel.inner_text()
    assert "1 of 6 elements changed. The largest change is 4, at [1, 2]." in text
    kept = "Not recorded again between A and B, or not whole, so nothing is known of a change: k."
    assert kept in text
    assert "Equal at both" not in text
    assert panel.locator(".heat-cell").last.inner_text() == "-4"
    panel.get_by_role("button", name="Swap").click()
    panel.get_by_text("y removed").wait_for()
    assert panel.locator(".difference h4").all_inner_texts() == ["x changed", "y removed"]


VIEWS = """\
import torch


def main():
    '''Views share storage.'''
    x = torch.arange(6.0).reshape(2, 3)
    separate = x.clone()
    turned = x.T
    x[0, 0] = 100  # @inspect x separate turned
    return x
"""


ONE_SEEN_WHOLE = """\
import torch


def main():
    '''One of two views is inspected.'''
    x = torch.arange(6.0).reshape(2, 3)  # @inspect x
    turned = x.T
    alone = torch.arange(65.0)  # @inspect alone
    return x
"""


def test_what_another_view_tells_of_a_storage_is_known(page, show):
    document = recorded(ONE_SEEN_WHOLE)
    show(page, document, mode="step", at=str(step_on(document, "return x")))
    panel = inspector(page, 1)
    facts = dict(text.split("\n") for text in panel.locator(".inspect-facts div").all_inner_texts())
    assert panel.locator("h3").inner_text() == "turned in main"
    assert facts["storage"].endswith(", 24 B")
    assert (facts["order"], facts["requires grad"]) == ("not contiguous", "no")
    assert "A view of the storage of x, all 24 bytes." in panel.inner_text()
    assert "not recorded" not in panel.inner_text()
    headings = panel.locator("h4").all_inner_texts()
    assert headings[:3] == ["Elements", "Where it lies in storage", "All together"]
    headings = inspector(page, 2).locator("h4").all_inner_texts()
    assert headings[:3] == ["Elements", "All together", "Where it lies in storage"]


def test_what_one_record_does_not_tell_is_no_change(page, show):
    """A glance leaves out device, strides and offset; `@inspect` tells them."""
    document = recorded(VIEWS)
    show(page, document, mode="step", at=str(step_on(document, "turned = x.T")))
    page.keyboard.type("mld")
    panel = page.locator(".panel-compare")
    panel.locator(".differences li").first.wait_for()
    assert panel.locator(".difference h4").all_inner_texts() == ["x changed", "turned changed"]
    assert "Equal at both: separate." in panel.inner_text()
    assert panel.locator(".notes").count() == 0, "nothing but an element changed"
    page.keyboard.press("Escape")
    panel.wait_for(state="detached")
    page.locator(".variable", has=page.locator("code:text-is('separate')")).locator(".type").click()
    history = page.locator(".inspector")
    history.locator(".history-list li").first.wait_for()
    assert "Recorded 2 times, without a change." in history.inner_text()
    assert history.locator(".history-list li").count() == 1
    assert "2 times, last at step 4" in history.locator(".history-list li").inner_text()


def test_claims_of_a_section_are_listed_beside_its_heading(page, show):
    show(page, documents.small())
    page.locator(".section-meta").get_by_title("List the claims of this section").first.click()
    entries = page.locator(".claim-entry .condition")
    entries.first.wait_for()
    assert entries.all_inner_texts() == ["x.size == 6"]
    page.get_by_label("the whole lecture").check()
    assert entries.all_inner_texts() == ["x.size == 6", "y == 6"]


def test_the_claims_of_the_reader_s_section_are_one_press_away(page, show):
    show(page, documents.small(), mode="step", at="2")
    page.keyboard.press("c")
    places = page.locator(".claim-place")
    places.first.wait_for()
    before = ["Views share storage · step 4", "Small numbers · step 15"]
    assert places.all_inner_texts() == before
    page.get_by_label("the whole lecture").focus()
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("section “Views share storage”").is_checked()
    assert places.all_inner_texts() == ["step 4"]
    page.keyboard.press("ArrowUp")
    assert places.all_inner_texts() == before


def test_every_time_a_claim_was_checked_is_listed_the_failed_ones_first(page, show):
    document = documents.small()
    claims = document["claims"]
    for column, cells in {"statement": [4, 4], "step": [9, 11], "at": [16, 18]}.items():
        claims[column] += cells
    claims["held"] += [True, False]
    claims["operands"] += [[6, 6], [5, 6]]
    show(page, document)
    page.keyboard.press("c")
    entry = page.locator(".claim-list > li").first
    assert entry.locator(".condition").inner_text() == "y == 6"
    entry.locator("summary").click()
    assert entry.locator("summary").inner_text() == "failed 1 of 3 times"
    steps = entry.locator(".occurrences .jump")
    expect(steps).to_have_text(["step 12", "step 15", "step 10"])
    steps.nth(2).click()
    assert page.locator("dialog").count() == 0
    assert "main:3.2" in page.url


LINKS = "[there](#double), [nowhere](#nothing_of_that_name), [views](#views)"


def test_a_link_to_a_function_leads_to_its_first_statement(page, show):
    document = documents.with_prose(LINKS)
    show(page, document, mode="step", at="2")
    page.get_by_role("link", name="there").click()
    page.wait_for_url("**/*mode=step&at=main.py:double:1.1")
    assert page.locator(".variable-name code").all_inner_texts()[0] == "n"
    before = page.url
    page.get_by_role("link", name="nowhere").first.click()
    page.wait_for_url(before)
    assert current_line(page) == 27


def test_a_link_in_the_article_scrolls_to_the_section(page, show):
    document = documents.with_prose(LINKS)
    show(page, document)
    page.get_by_role("link", name="views", exact=True).click()
    page.wait_for_url("**/*at=main.py:views:1.1")
    assert page.locator(".mode-read").count() == 1
    page.locator(".aimed", has_text="Views share storage").wait_for(state="attached")


def test_on_a_phone_elements_stand_right_below_the_shape(phone, show):
    panel = inspector(show(phone, documents.with_values(CUBE, ROW)), 1)
    panel.locator(".heat").wait_for()
    parts = [".headline", ".heat", ".inspect-facts", ".words", "#together-title"]
    tops = [panel.locator(part).first.bounding_box()["y"] for part in parts]
    assert tops == sorted(tops)


def test_on_a_phone_nothing_is_wider_than_the_screen(phone, show):
    panel = inspector(show(phone, documents.with_values(CUBE, ROW)), 1)
    assert panel.locator(".strip-cell").count() == 24
    wide = phone.evaluate(
        """() => [document.querySelector(".panel-body"), document.documentElement].map(
            (box) => box.scrollWidth - box.clientWidth)"""
    )
    assert wide == [0, 0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_can_be_read_on_every_colour(page, show, scheme):
    page.emulate_media(color_scheme=scheme)
    panel = inspector(show(page, documents.with_values(CUBE)), 1)
    ratios = panel.locator(".heat-cell").evaluate_all(
        """(cells) => {
            const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
            const light = (colour) => {
                canvas.fillStyle = colour;
                canvas.fillRect(0, 0, 1, 1);
                const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map((part) => {
                    const share = part / 255;
                    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
                });
                return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
            };
            return cells.map((cell) => {
                const { color, backgroundColor } = getComputedStyle(cell);
                const [one, other] = [light(color), light(backgroundColor)].sort((a, b) => b - a);
                return (one + 0.05) / (other + 0.05);
            });
        }"""
    )
    page.emulate_media(color_scheme=None)
    assert min(ratios) >= 4.5


def test_a_page_in_one_file_has_the_inspectors(opened):  # noqa: F811
    page = opened(copy.deepcopy(documents.small()))
    panel = inspector(page)
    assert panel.locator(".strip-cell").first.evaluate("e => getComputedStyle(e).display") == "flex"
    page.keyboard.press("Escape")
    page.goto(f"{page.url.split('#')[0]}#double")
    page.wait_for_url("**/*at=main.py:double:1.1")


def test_the_first_page_fetches_no_inspector(page, show, site):
    site.requests.clear()
    show(page, documents.small())
    assert not [path for path in site.requests if path.startswith("/inspect/")]


def test_many_claims_are_listed_a_hundred_at_a_time(page, show):
    document = documents.small()
    claims, statements = document["claims"], document["statements"]
    for number in range(128):
        statements.append(list(statements[4]))
        statement = len(statements) - 1
        document["assertions"].append(
            {"statement": statement, "text": f"claim_{number}", "operands": []}
        )
        row = {"statement": statement, "step": 14, "at": 20, "held": number != 126, "operands": []}
        for name, cell in row.items():
            claims[name].append(cell)
    show(page, document)
    page.keyboard.press("c")
    entries = page.locator(".claim-entry .condition")
    entries.first.wait_for()
    assert (entries.count(), entries.first.inner_text()) == (100, "claim_126")
    page.get_by_text("show 30 more of 130").click()
    assert entries.count() == 130
    page.get_by_label("filter claims").fill("claim_12")
    assert entries.count() == 9
    page.get_by_label("failed only").check()
    assert entries.all_inner_texts() == ["claim_126"]
