"""What somebody meets who reads the page in another way: axe-core in every mode, both themes."""

import importlib.resources
import json

import pytest

from tests.viewer import documents
from tests.viewer.conftest import VIEWER, painted
from tests.viewer.programs import recorded

RUN = """async () => {
    const { violations } = await axe.run(document, { resultTypes: ["violations"] });
    return violations.flatMap(({ id, impact, nodes }) =>
        nodes.map(({ html, failureSummary }) => [impact, id, html.slice(0, 160), failureSummary]));
}"""


def axe_source() -> str:
    package = importlib.resources.files(pytest.importorskip("axe_playwright_python"))
    return (package / "axe.min.js").read_text(encoding="utf-8")


def assert_accessible(page, place: str) -> None:
    page.evaluate(axe_source() + "; 0")
    found = page.evaluate(RUN)
    assert found == [], f"{place}: {json.dumps(found, indent=1)}"


def rich() -> dict:
    """A lecture with every kind of value, a loop, a picture, a chart, a cut tensor, memory."""
    picture = (
        '<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">'
        '<title>A circle</title><circle cx="9" cy="9" r="5"/></svg>'
    )
    large = {
        **documents.TENSOR,
        "shape": [100, 100],
        "strides": [1, 100],
        "contiguous": False,
        "cut": True,
        "shown": [[0, 1, 99], [0, 99]],
        "elements": [1.0, 2.0, 3.0, "nan", -5.0, 6.0],
        "statistics": {"min": -5.0, "max": 6.0, "mean": 0.25, "nan": 1},
        "histogram": {"low": -5.0, "high": 6.0, "counts": [1, 5, 3]},
    }
    chart = {
        "type": "Chart",
        "vega": {
            "mark": "bar",
            "title": "Bytes",
            "data": {"values": [{"a": "x", "b": 1}]},
            "encoding": {
                "x": {"field": "a", "type": "nominal"},
                "y": {"field": "b", "type": "quantitative"},
            },
        },
    }
    document = documents.with_values(
        large,
        chart,
        {"type": "Figure", "svg": picture},
        {"type": "str", "value": "text"},
        {"type": "list", "length": 2, "items": [{"type": "int", "value": 1}]},
        {"type": "Thing", "error": "ValueError: no"},
    )
    document["output"].append({"step": 2, "at": 7, "stream": "stderr", "text": "careful\n"})
    names = [*document["names"], "parameters", "activations", "other tensors"]
    document["names"] = names
    places = [names.index(name) for name in ("parameters", "activations", "other tensors")]
    document["memory"] = {
        "at": [4, 8, 8, 12],
        "live_bytes": [4096, 9000, 100, 500],
        "category": [places[0], places[1], places[1], places[2]],
    }
    document["files"][0]["prose"][3]["text"] = (
        "A view moves no data, says [a paper](https://example.org/a). $x^2$\n\n"
        "| a | b |\n|---|---|\n| 1 | 2 |\n\n> quoted\n\n```\ncode\n```"
    )
    return document


def press(*keys: str):
    def act(page):
        for key in keys:
            page.keyboard.press(key)

    return act


def open_view(name: str):
    def act(page):
        page.keyboard.press("C")
        page.get_by_role("tab", name=name).click()
        page.locator(f"#costs-{name.lower()}[aria-selected=true]").wait_for()

    return act


def inspect(page):
    page.keyboard.press("i")
    page.locator(".panel-inspect button").nth(1).wait_for()


def search(page):
    page.keyboard.press("/")
    page.locator(".search-field").fill("sh")


# what is looked at -> mode, what is done there, what then is on the page
PLACES = {
    "read": ("read", press(), "#article .tensor"),
    "step": ("step", press(), ".variable"),
    "read, unfolded": (
        "read",
        lambda page: page.locator(".into").click(),
        ".folded-body",
    ),
    "claims": ("read", press("c"), ".claim-entry"),
    "search": ("read", search, ".results li"),
    "help": ("step", press("?"), ".keys"),
    "menu": ("read", press("M"), ".menu"),
    "inspector": ("step", inspect, ".panel-inspect"),
    "history": ("step", press("v"), ".panel-inspect"),
    "compare": ("step", press("m", "l", "d"), ".panel-compare"),
    "costs": ("read", press("C"), ".costs-table td"),
    "roofline": ("read", open_view("Roofline"), ".roof"),
    "memory": ("step", open_view("Memory"), ".memory-legend"),
    "presenting, title": ("read", press("P"), ".slide"),
    "presenting": ("read", press("P", "n"), ".slide"),
}


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", PLACES)
def test_axe_finds_nothing(place, theme, page, show):
    mode, act, there = PLACES[place]
    page.emulate_media(color_scheme=theme)
    show(page, rich(), mode=mode, at="8" if mode == "step" else "1")
    page.locator(".waiting").first.wait_for(state="detached")
    act(page)
    page.locator(there).first.wait_for()
    painted(page)
    assert_accessible(page, place)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_a_failure_a_list_and_a_sentence(theme, page, show, site):
    page.emulate_media(color_scheme=theme)
    show(page, documents.failing())
    page.locator(".failure").wait_for()
    assert_accessible(page, "failure")
    show(page, documents.failing(), mode="step")
    page.locator(".failure").wait_for()
    assert_accessible(page, "failure in Step")
    site.publish(first=documents.small(), second=documents.small())
    page.goto("about:blank")
    page.goto(site.address)
    page.locator(".documents a").nth(1).wait_for()
    assert_accessible(page, "home")
    site.publish(demo='{"a": 1}')
    page.goto("about:blank")
    page.goto(f"{site.address}#doc=demo")
    page.locator(".notice-page").wait_for()
    assert_accessible(page, "sentence")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_on_a_phone(theme, phone, show):
    phone.emulate_media(color_scheme=theme)
    show(phone, rich())
    assert_accessible(phone, "read")
    phone.keyboard.press("o")
    phone.locator("dialog .outline").wait_for()
    assert_accessible(phone, "outline")
    phone.keyboard.press("Escape")
    phone.locator("dialog").wait_for(state="detached")
    phone.keyboard.press("r")
    phone.locator("#stepping").wait_for()
    assert_accessible(phone, "step")
    phone.keyboard.press("C")
    phone.locator(".costs-table").wait_for()
    assert_accessible(phone, "costs")


def open_our_lecture(page, site, theme, address) -> None:
    page.emulate_media(color_scheme=theme)
    site.publish(lecture=(VIEWER / "traces/lecture.main.json").read_text(encoding="utf-8"))
    page.goto("about:blank")
    page.goto(f"{site.address}#doc=lecture&{address}")


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing_in_sections_of_our_lecture(theme, page, site):
    """While one section is presented, all of its values, pictures and charts are drawn."""
    open_our_lecture(page, site, theme, "whole")
    page.locator("#article .section").nth(2).wait_for()
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    for number in range(2, 11):
        page.keyboard.press("n")
        page.locator(".slide-count", has_text=f"{number} /").wait_for()
        painted(page)
        assert_accessible(page, page.locator(".slide-count").inner_text())


FOCUS = """() => {
    const place = document.activeElement;
    const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(place);
    const { width, height, right, bottom } = place.getBoundingClientRect();
    return {
        name: `${place.tagName} ${place.className} ${place.textContent.slice(0, 20)}`,
        isBody: place === document.body,
        isOnScreen: width > 0 && height > 0 && right > 0 && bottom > 0,
        isMarked: outlineStyle !== "none" && parseFloat(outlineWidth) >= 1,
    };
}"""


@pytest.mark.parametrize("mode", ["read", "step"])
def test_whatever_has_the_focus_is_marked(page, show, mode):
    show(page, rich(), mode=mode, at="8")
    seen = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUS)
        if found["isBody"]:
            break
        seen.append(found["name"])
        assert found["isMarked"], found
        assert found["isOnScreen"] or "skip" in found["name"], found
    else:
        pytest.fail(f"the keyboard is caught: {seen[-8:]}")
    assert len(seen) > 10


# where the focus can be led to between lines of code, and in a table
INSET = {
    "a line": ("read", ".line[data-step]"),
    "its number": ("read", ".line .line-number"),
    "the program": ("step", ".program-lines"),
    "a line of it": ("step", ".program-line"),
    "a row of words": ("read", ".prose tr"),
}


@pytest.mark.parametrize(("mode", "place"), INSET.values(), ids=INSET)
def test_the_ring_of_the_focus_covers_nothing_beside_it(page, show, mode, place):
    document = rich()
    document["files"][0]["prose"][1]["text"] += "\n\n| term | meaning |\n|---|---|\n| a | b |"
    show(page, document, mode=mode)
    found = page.locator(place).first
    found.wait_for()
    page.keyboard.press("Shift")  # who uses keys is shown where the focus is
    reach = found.evaluate(
        """(place) => {
            place.tabIndex = -1;
            place.focus();
            const { outlineStyle, outlineOffset, outlineWidth } = getComputedStyle(place);
            return outlineStyle === "solid" && parseFloat(outlineOffset) + parseFloat(outlineWidth);
        }"""
    )
    assert reach == 0


def test_elements_that_are_wider_than_their_place_are_scrolled_with_the_keyboard(page, show):
    document = documents.small()
    show(page, document)
    page.locator("#article .slice").first.wait_for()
    painted(page)
    assert page.locator("#article .slice[tabindex]").count() == 0, "what is seen whole is no stop"
    tensor = next(value for value in document["values"] if value["type"] == "Tensor")
    tensor.update(shape=[1, 40], strides=[40, 1], elements=[float(cell) for cell in range(40)])
    show(page, document)
    reached = page.locator("#article .slice[tabindex='0']").first
    reached.wait_for()
    assert reached.get_attribute("aria-label") == "elements of x"
    assert_accessible(page, "a tensor that is wider than its place")
    reached.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")


def test_a_switch_of_the_bar_is_one_choice_of_several(page, show):
    show(page, documents.small())
    beside = page.get_by_role("radiogroup", name="beside code")
    names = ["Story", "Evidence", "Everything"]
    assert [beside.get_by_role("radio", name=name).count() for name in names] == [1, 1, 1]
    assert beside.get_by_role("radio", name="Evidence").is_checked()
    beside.get_by_role("radio", name="Evidence").focus()
    page.keyboard.press("ArrowRight")
    assert beside.get_by_role("radio", name="Everything").is_checked()
    page.keyboard.press("Tab")  # one stop for all choices of a switch
    view = page.get_by_role("radiogroup", name="view")
    assert view.get_by_role("radio", name="Read").evaluate("(it) => it === document.activeElement")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**mode=step**")
    assert view.get_by_role("radio", name="Step").is_checked()
    page.keyboard.press("r")
    page.locator("#article").wait_for()
    assert view.get_by_role("radio", name="Read").is_checked()


TARGETS = """async () => {
    const options = { runOnly: { type: "rule", values: ["target-size"] } };
    const { violations } = await axe.run(document, options);
    return violations.flatMap(({ nodes }) => nodes.map(({ html }) => html.slice(0, 160)));
}"""


def assert_large_enough(page) -> None:
    """24 pixels, or as far from all others: axe-core asks for that only where one wants it."""
    painted(page)
    page.evaluate(axe_source() + "; 0")
    assert page.evaluate(TARGETS) == []


@pytest.mark.parametrize(
    ("mode", "key"), [("read", ""), ("step", ""), ("step", "g"), ("read", "C")]
)
def test_what_one_presses_is_large_enough_for_an_unsteady_hand(mode, key, page, show):
    show(page, rich(), mode=mode)
    page.locator("#article .line, .program-line").first.wait_for()
    if key:
        page.keyboard.press(key)
        page.locator(".graph, #costs-view, .panel-body").first.wait_for()
    assert_large_enough(page)


CROWDED = """import math


def main():
    'Values beside lines that follow each other, and loops in loops.'
    first = math.sqrt(2.0)  # @inspect first
    second = math.sqrt(3.0)  # @inspect second
    third, fourth = first + second, first * second  # @inspect third fourth

    # More of them.
    for row in range(3):
        for column in range(2):
            place = 2 * row + column  # @inspect place row column
            found = place * first  # @inspect found
    assert found > first
"""


@pytest.fixture(scope="module")
def crowded():
    return recorded(CROWDED)


@pytest.mark.parametrize("width", [1400, 1024, 390])
def test_what_one_presses_on_one_line_covers_nothing_of_the_next(width, page, show, crowded):
    page.set_viewport_size({"width": width, "height": 900})
    show(page, crowded)
    page.locator("#article .value-name").nth(5).wait_for()
    page.locator("#article .scrubber").nth(1).wait_for()
    assert_large_enough(page)


PITCH = (
    "(line) => line.getBoundingClientRect().height / parseFloat(getComputedStyle(line).fontSize)"
)


def test_lines_that_nothing_is_pressed_beside_are_as_near_as_ever(page, show, crowded):
    show(page, crowded)
    page.locator("#article .value-name").first.wait_for()
    lines = page.locator("#article .line").all()
    assert round(min(line.evaluate(PITCH) for line in lines), 2) == 1.52


@pytest.mark.slow
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_one_presses_in_a_chapter_of_our_lecture_is_large_enough(theme, page, site):
    open_our_lecture(page, site, theme, "chapter=bytes-against-flops")
    page.locator("#article .scrubber").nth(1).wait_for(state="attached")
    assert_large_enough(page)


def test_who_points_at_a_switch_goes_on_with_the_keys_of_the_page(page, show):
    show(page, documents.small())
    page.get_by_text("Step", exact=True).click()
    page.locator(".stepping").wait_for()
    place = page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != place and "mode=step" in url)


def test_the_choice_of_a_switch_is_seen_in_colours_of_the_system(page, show):
    page.emulate_media(forced_colors="active")
    show(page, documents.small())
    colour = "(label) => getComputedStyle(label).backgroundColor"
    chosen, other = (page.get_by_text(name, exact=True).evaluate(colour) for name in MODES)
    assert chosen != other


MODES = ("Read", "Step")


def test_walking_over_the_bar_with_the_keyboard_keeps_the_place(page, show):
    paragraphs = "".join(f"    # Paragraph {number}.\n    #\n" for number in range(200))
    show(page, recorded(f'def main():\n    """A talk."""\n{paragraphs}    x = 1\n'))
    page.evaluate("scrollTo({ top: 3000, behavior: 'instant' })")
    painted(page)
    before = page.evaluate("scrollY")
    page.locator(".bar button").first.focus()
    places = []
    while page.evaluate("document.activeElement.closest('.bar') !== null"):
        places.append(page.evaluate("scrollY"))
        page.keyboard.press("Tab")
        painted(page)
    assert len(places) > 5
    assert before > 2000
    assert set(places) == {before}


@pytest.mark.parametrize(("mode", "target"), [("read", "article"), ("step", "stepping")])
def test_the_first_link_skips_what_is_before_the_lecture(page, show, mode, target):
    show(page, documents.small(), mode=mode)
    page.keyboard.press("Tab")
    assert page.locator(".skip").get_attribute("href") == f"#{target}"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == target


def test_pictures_have_words(page, show):
    show(page, rich())
    page.locator(".chart svg path").first.wait_for(state="attached")
    page.locator(".picture > svg").wait_for()
    without = page.evaluate(
        """() => [...document.querySelectorAll("[role=img], img")].filter((place) =>
            !(place.getAttribute("aria-label") || place.getAttribute("alt") ||
                place.querySelector(":scope > title"))).map((place) => place.outerHTML)"""
    )
    assert without == []


# keys -> what a screen reader hears then
HEARD = [
    (["Home"], "line 9: views()"),
    (["l"], "line 20: x = make(); x is float32([[0, 1, 2], [3, 4, 5.5]])"),
    (["u", "u"], None),
    (["End", "h"], "claim held"),
]


def test_each_step_is_told(page, show):
    show(page, documents.small(), mode="step")
    for keys, expected in HEARD:
        for key in keys:
            page.keyboard.press(key)
        if expected:
            page.locator("#live", has_text=expected).wait_for(state="attached")
    assert page.locator("#live").get_attribute("aria-live") == "polite"
