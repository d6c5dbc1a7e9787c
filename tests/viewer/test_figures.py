"""Figures of the article: one hand for drawings and charts, with captions below them."""

import re

import pytest
from playwright.sync_api import expect

from tests.viewer import documents

BARS = {
    "title": "Two bars",
    "mark": "bar",
    "data": {"values": [{"what": "a", "many": 1000}, {"what": "b", "many": 20000}]},
    "encoding": {
        "x": {"field": "what", "type": "nominal"},
        "y": {"field": "many", "type": "quantitative"},
    },
}
DRAWING = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="20" viewBox="0 0 80 20">'
    '<title>A box</title><rect width="9" height="9" fill="#4c78a8" stroke="#123456"/></svg>'
)

DARK = {"type": "point", "filled": True, "color": "black"}


@pytest.fixture
def drawn(page, show):
    show(
        page,
        documents.with_values({"type": "C", "vega": BARS}, {"type": "D", "svg": DRAWING}),
    )
    page.locator(".drawn .chart svg").wait_for()
    page.locator(".drawn .picture rect").last.wait_for()
    page.locator(".caption").nth(1).get_by_text("Figure 2.").wait_for()
    return page


def test_charts_and_drawings_have_captions_of_one_kind(drawn):
    captions = drawn.locator("figure.drawn > figcaption")
    assert captions.all_inner_texts() == ["Figure 1. Two bars", "Figure 2. A box"]
    assert drawn.locator(".chart svg").get_by_text("Two bars").count() == 0
    for figure in drawn.locator("figure.drawn").all():
        picture, caption = figure.locator(".picture"), figure.locator("figcaption")
        assert picture.bounding_box()["y"] < caption.bounding_box()["y"]


def test_in_step_a_chart_has_its_title(page, show):
    show(page, documents.with_values({"type": "C", "vega": BARS}), mode="step", at="2")
    page.locator("#stepping .chart svg").get_by_text("Two bars").wait_for()


CHOICE = {"name": "chosen", "value": "a", "bind": {"input": "select", "options": ["a", "b"]}}


def test_what_one_chooses_in_a_chart_is_as_large_as_the_words_beside_it(page, show):
    show(page, documents.with_values({"type": "C", "vega": {**BARS, "params": [CHOICE]}}))
    choice = page.locator(".vega-bindings select")
    choice.wait_for()
    sizes = choice.evaluate(
        "e => [e, e.closest('.vega-bind')].map((one) => getComputedStyle(one).fontSize)"
    )
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_drawings_have_the_colours_of_charts(theme, drawn):
    drawn.emulate_media(color_scheme=theme)
    bar = drawn.locator(".chart svg .mark-rect path").first
    drawn.wait_for_function(
        """() => {
            const fill = (selector) => getComputedStyle(document.querySelector(selector)).fill;
            return fill(".chart svg .mark-rect path") === fill(".drawn .picture:not(.chart) rect");
        }"""
    )
    expect(bar).to_be_visible()
    box = drawn.locator(".drawn .picture:not(.chart) rect")
    assert box.evaluate("box => getComputedStyle(box).stroke") == "rgb(18, 52, 86)"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_is_drawn_in_black_is_seen_on_a_dark_page(theme, page, show):
    page.emulate_media(color_scheme=theme)
    show(page, documents.with_values({"type": "C", "vega": {**BARS, "mark": DARK}}))
    page.locator('.chart path[fill="black"]').first.wait_for()
    fill, text = page.evaluate(
        """() => [
            getComputedStyle(document.querySelector('.chart path[fill="black"]')).fill,
            getComputedStyle(document.documentElement).color,
        ]"""
    )
    assert fill == text


def test_a_drawing_grows_with_the_letters(drawn):
    width = "svg => svg.getBoundingClientRect().width"
    drawing = drawn.locator(".drawn .picture:not(.chart) svg")
    assert drawing.evaluate(width) == 80
    drawn.evaluate("document.documentElement.style.fontSize = '20px'")
    assert drawing.evaluate(width) == 100


def test_numbers_at_axes_are_grouped_as_those_of_values(drawn):
    labels = drawn.locator(".chart svg .role-axis-label text").all_text_contents()
    assert "20\u202f000" in labels
    assert "8000" in labels, "four digits stand together"


def test_a_picture_is_compared_as_a_picture(page, show):
    document = documents.with_values({"type": "D", "svg": DRAWING})
    document["inspections"]["event"][-1], document["inspections"]["at"][-1] = 4, 5  # one step later
    show(page, document, mode="step", at="1")
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("d")
    page.locator(".difference svg rect").first.wait_for()


SERIES = {
    "title": "Three lines",
    "mark": {"type": "line", "point": True},
    "height": 200,
    "data": {
        "values": [{"x": x, "y": x, "of": f"line {n}"} for x in (1, 2) for n in range(3)],
    },
    "encoding": {
        "x": {"field": "x", "type": "quantitative", "title": "steps"},
        "y": {"field": "y", "type": "quantitative", "title": "what is measured here, " * 2},
        "color": {
            "field": "of",
            "type": "nominal",
            "legend": {"columns": 2, "orient": "bottom", "labelLimit": 200},
        },
    },
}


HEIGHT = "part => part.getBoundingClientRect().height"


def test_a_title_is_no_longer_than_its_axis_and_a_legend_has_one_line(page, show):
    show(page, documents.with_values({"type": "C", "vega": SERIES}))
    page.locator(".chart svg").wait_for()
    plot = page.locator(".chart .role-frame path.background").first.evaluate(HEIGHT)
    titles = page.locator(".chart .role-axis-title").all()
    assert max(title.evaluate(HEIGHT) for title in titles) <= plot + 1
    names = page.locator(".chart .role-legend-label text")
    assert names.all_text_contents() == ["line 0", "line 1", "line 2"]
    tops = names.evaluate_all("all => all.map((name) => name.getBoundingClientRect().top)")
    assert max(tops) - min(tops) < 1


def test_what_is_in_a_figure_can_be_reached_and_is_told(page, show):
    written = DRAWING.replace("<rect", '<text y="9">Norm</text><text y="19">Sum</text><rect')
    show(
        page,
        documents.with_values({"type": "C", "vega": SERIES}, {"type": "D", "svg": written}),
    )
    chart = page.get_by_role("figure", name="Three lines", exact=True).locator(".chart-place")
    expect(chart).to_have_attribute("aria-label", re.compile("^line, points; x: steps; y: what"))
    expect(page.get_by_role("img", name="A box").locator("desc")).to_have_text("Norm Sum")
