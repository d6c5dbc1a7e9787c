"""The first screen of a lecture with chapters: what it is, how much there is, the ways through, and
a picture of the run."""

import copy
import functools

import pytest

from tests.viewer import documents
from tests.viewer.conftest import PAINTED, painted, quiet_page
from tests.viewer.programs import recorded
from tests.viewer.test_access import assert_accessible

SOURCE = '''
"""A talk."""


class Bar:
    def __init__(self, width):
        self.width = width

    def _repr_svg_(self):
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="30">'
            f'<rect width="{self.width}" height="30" fill="teal"/></svg>'
        )


def main():
    """What bars cost.

    How long is a bar, and what does it cost? Two chapters find out, from nothing.

    **Who this is for.** You have seen a bar.
    """
    # ## Sizes
    # How large bars are.
    a_short_bar()
    # ## Costs
    # What bars cost.
    a_long_bar()


def a_short_bar():
    """A short bar."""
    short = Bar(40)  # @inspect short
    assert short.width == 40


def a_long_bar():  # @cover
    """A long bar."""
    long = Bar(300)  # @inspect long
    assert long.width == 300
'''


@functools.cache
def _recorded() -> dict:
    return recorded(SOURCE)


def talk() -> dict:
    return copy.deepcopy(_recorded())


@pytest.fixture
def front(page, show):
    show(page, talk())
    page.locator(".ways").wait_for()
    return page


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (1920, 1080), (390, 844)])
def test_the_first_screen_says_what_it_is_and_where_to_begin(context, site, show, width, height):
    document = talk()
    with quiet_page(context, site, width, height) as page:
        show(page, document)
        page.locator(".cover-picture svg").wait_for()
        for said in ("h1", ".cover .prose", ".amounts", ".ways", ".cover-picture svg"):
            box = page.locator(said).bounding_box()
            assert box["y"] >= 44 and box["y"] + box["height"] <= height, said
            assert box["x"] >= 0 and box["x"] + box["width"] <= width, said
        beside = page.locator(".cover-picture").bounding_box()
        text = page.locator(".cover-text").bounding_box()
        assert (beside["x"] >= text["x"] + text["width"]) == (width > 1000)
        assert "from nothing" in page.locator(".cover .prose").inner_text()
        assert "You have seen a bar" not in page.locator(".cover").inner_text()
        assert "You have seen a bar" in page.locator("#article").inner_text()
        page.get_by_role("link", name="Start reading").click()
        page.locator("h1", has_text="Sizes").wait_for()


def test_its_author_says_which_section_draws_the_picture(front):
    assert front.locator(".cover-picture svg").get_attribute("width") == "300"
    front.get_by_role("button", name="“A long bar”").click()
    front.locator("h1", has_text="Costs").wait_for()


def test_its_picture_is_the_same_on_the_short_path(page, show):
    source = SOURCE.replace("    a_long_bar()\n", "    a_long_bar()\n    a_wide_bar()\n", 1)
    source = source.replace("def a_short_bar():", "def a_short_bar():  # @core")
    wide = "    '''A wide bar.'''\n    wide = Bar(200)  # @inspect wide\n"
    show(page, recorded(f"{source}\n\ndef a_wide_bar():  # @core\n{wide}"), path="core")
    page.locator(".cover-picture svg").wait_for()
    assert page.locator(".cover-picture svg").get_attribute("width") == "300"
    assert page.locator(".cover-picture button").count() == 0  # it is drawn in what is left out


def test_the_first_picture_stands_there_where_no_section_is_chosen(page, show):
    document = talk()
    for function in document["functions"]:
        function["marks"] = []
    show(page, document)
    page.locator(".cover-picture svg").wait_for()
    assert page.locator(".cover-picture svg").get_attribute("width") == "40"


def test_who_wrote_it_stands_below_the_title(page, site, show):
    document = talk()
    site.publish(demo=document)
    page.route(
        "**/traces/index.json",
        lambda route: route.fulfill(
            json={"course": {"author": "Jo Doe", "licence": "MIT"}, "documents": []}
        ),
    )
    page.goto(f"{site.address}#doc=demo")
    page.locator(".cover .section-meta", has_text="Jo Doe · MIT").wait_for()


LINKED = [[], [1], [1, 2], [2], [3, 1], []]
"""Which chapters the sections of each one link to; some links lead the long way round."""


def linked() -> dict:
    """A lecture with a chapter for each entry of LINKED."""
    calls = "".join(f"    # ## Chapter {letter}\n    section_{letter}()\n" for letter in "ABCDEF")
    sections = "".join(
        f"def section_{'ABCDEF'[index]}():\n"
        f'    """Section {"ABCDEF"[index]}.\n\n'
        + "".join(f"    See [there](#section_{'ABCDEF'[number - 1]}).\n" for number in own)
        + '    """\n    assert 1 + 1 == 2\n\n\n'
        for index, own in enumerate(LINKED)
    )
    return recorded(f'def main():\n    """All letters."""\n{calls}\n\n{sections}')


@pytest.fixture
def mapped(page, show):
    show(page, linked())
    page.locator(".map").scroll_into_view_if_needed()
    page.locator(".chapter-map svg").wait_for()
    return page


def chapters_lit(page, kind: str) -> list[str]:
    return [
        text.strip() for text in page.locator(f".map-box.{kind} .box-title").all_text_contents()
    ]


def test_lines_of_the_map_that_run_beside_each_other_have_colours_of_their_own(mapped):
    colour = "(all) => all.map((line) => getComputedStyle(line.querySelector('path')).stroke)"
    from_1, *from_2, from_3 = mapped.locator(".map-line").evaluate_all(colour)
    assert from_2[0] == from_2[1]
    assert len({from_1, from_2[0], from_3}) == 3


def test_the_map_shows_what_builds_on_what(mapped):
    labels = mapped.locator(".map-box a").evaluate_all("all => all.map((one) => one.ariaLabel)")
    assert labels == [
        "1 Chapter A, leads to 2",
        "2 Chapter B, builds on 1, leads to 3, 4",
        "3 Chapter C, builds on 2, leads to 5",
        "4 Chapter D, builds on 2",
        "5 Chapter E, builds on 3",
        "6 Chapter F",
    ]
    assert mapped.locator(".map-line").count() == 4, "1 to 3 and 1 to 5 go without saying"
    mapped.locator(".map-box").nth(2).hover()
    mapped.locator(".map-box.chosen").wait_for()
    assert chapters_lit(mapped, "before") == ["Chapter A", "Chapter B"]
    assert chapters_lit(mapped, "after") == ["Chapter E"]
    assert mapped.locator(".map-line.before").count() == 2
    assert mapped.locator(".map-line.after").count() == 1
    mapped.locator(".map-box").nth(2).click()
    mapped.locator("h1", has_text="Chapter C").wait_for()


def test_titles_keep_within_their_boxes(page, show):
    document = linked()
    for block in document["files"][0]["prose"]:
        block["text"] = block["text"].replace("Chapter F", "The whole on one map")
    show(page, document)
    page.locator(".map").scroll_into_view_if_needed()
    page.locator(".map-box").nth(5).get_by_text("map").wait_for()
    rooms = page.locator(".map-box").evaluate_all(
        """(boxes) => boxes.map((box) => box.querySelector("rect").getBBox().x
            + box.querySelector("rect").getBBox().width
            - box.querySelector(".box-title").getBBox().x
            - box.querySelector(".box-title").getBBox().width)"""
    )
    assert min(rooms) > 4, "no letter touches a border"


def test_the_map_is_for_keys_too(mapped):
    mapped.locator(".map-box a").nth(4).focus()
    mapped.locator(".map-box.chosen").wait_for()
    assert chapters_lit(mapped, "chosen") == ["Chapter E"]
    assert len(chapters_lit(mapped, "before")) == 3
    mapped.keyboard.press("Shift+Tab")
    mapped.locator(".map-box.chosen", has_text="Chapter D").wait_for()
    mapped.keyboard.press("Enter")
    mapped.locator("h1", has_text="Chapter D").wait_for()


def test_the_list_of_chapters_says_the_same(mapped):
    entries = mapped.locator(".map-chapters li")
    said = [entry.locator(".chapter-needs").all_inner_texts() for entry in entries.all()]
    assert said == [
        [],
        ["Builds on 1. Chapter A"],
        ["Builds on 2. Chapter B"],
        ["Builds on 2. Chapter B"],
        ["Builds on 3. Chapter C"],
        [],
    ]
    assert_accessible(mapped, "the map")


def test_the_bar_of_a_phone_has_the_name_of_a_chapter_and_leaves_the_lectures_to_the_page(
    phone, show
):
    show(phone, linked())
    phone.locator(".map-chapters li").last.wait_for()
    assert phone.locator(".bar-title:visible").count() == 0
    phone.locator(".map-chapters li a").first.click()
    chapter = phone.locator(".bar-chapter")
    chapter.wait_for()
    assert chapter.bounding_box()["height"] >= 24
    assert phone.locator(".bar-title:visible").count() == 1


def test_a_phone_has_the_list_alone(phone, show):
    show(phone, linked())
    phone.locator(".map-chapters li").last.scroll_into_view_if_needed()
    phone.locator(".chapter-map").wait_for(state="attached")
    assert phone.locator(".chapter-map svg").count() == 0
    assert phone.locator(".map-chapters .chapter-needs").count() == 4
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("width", [1280, 390])
def test_the_map_is_printed_whatever_the_screen(context, site, show, width):
    with quiet_page(context, site, width, 844) as page:
        show(page, linked())
        page.locator(".ways").wait_for()
        page.evaluate("import('viewer/views/print.js')")
        page.emulate_media(media="print")
        page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
        page.locator(".chapter-map svg").wait_for()
        assert page.locator(".map-box").count() == len(LINKED)
        assert "Point at one" not in page.locator(".chapter-map").inner_text()
        heads = page.locator("h1, .chapter-map, h2").evaluate_all(
            "all => all.map((e) => e.tagName)"
        )
        assert heads[:3] == ["H1", "FIGURE", "H2"]
        page.evaluate("() => dispatchEvent(new Event('afterprint'))")
        page.locator(".ways").wait_for()


def test_without_links_there_is_no_map(page, show):
    show(page, talk())
    page.locator(".map-chapters").scroll_into_view_if_needed()
    page.evaluate("""import("viewer/views/map.js").then(() => {})""")
    painted(page)
    assert page.locator(".chapter-map").count() == 0


def specimens(page) -> dict[str, str]:
    page.locator(".specimen-list").wait_for()
    found = page.locator(".specimen")
    return {
        one.get_attribute("class").rpartition("is-")[2]: one.locator("dt").inner_text()
        for one in found.all()
    }


def test_lines_of_the_run_show_what_the_marks_mean(page, show):
    document = documents.small()
    document["assertions"][0]["predict"] = True
    show(page, document)
    page.keyboard.press("L")
    assert specimens(page) == {
        "claim": "assert x.size == 6",
        "value": "x = make()",
        "cost": "m = n * 2",
        "question": "y = ?",
    }
    assert "✓" in page.locator(".specimen.is-claim").inner_text()
    assert page.locator(".specimen.is-value .named-value td").count() == 6
    assert "2.1 MFLOP" in page.locator(".specimen.is-cost .cost").inner_text()
    assert_accessible(page, "the legend")
    legend = page.locator(".panel-legend")
    assert legend.inner_text().count("Beside the code") == 1
    assert legend.get_by_role("button", name="All marks").count() == 0, "these are all"
    marks = legend.locator(".meanings dt").all_inner_texts()
    assert not {"✓", "x = float32 [2, 3]"} & set(marks), "the lines above have them"
    assert "✗" in marks
    page.locator(".specimen.is-value dt button").click()
    page.wait_for_url("**&at=main.py:views:1.1")
    page.locator(".panel-legend").wait_for(state="detached")


def test_the_front_page_has_the_marks_that_the_run_has(front):
    assert specimens(front) == {"claim": "assert short.width == 40"}
    front.get_by_role("button", name="All marks").click()
    front.locator(".panel-legend").wait_for()


SHIFTS = """
window.shifted = 0;
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) window.shifted += entry.value;
}).observe({ type: "layout-shift", buffered: true });
"""


def test_nothing_on_the_first_screen_moves_while_it_comes(page, show):
    page.add_init_script(SHIFTS)
    page.set_viewport_size({"width": 1280, "height": 420})  # where less would do, more would move
    show(page, talk())
    page.locator(".cover-picture svg").wait_for()
    page.locator(".map").wait_for()
    assert page.evaluate("window.shifted") < 0.02


def many_sections() -> dict:
    """With titles that fill the list beside the page to different ends."""
    chapters = "".join(f"    # ## {' '.join(['word'] * size)}\n    a()\n" for size in range(1, 9))
    section = '    """A section."""\n    assert 1 + 1 == 2\n'
    main = f'def main():\n    """A talk."""\n{chapters}    # ## Left out\n    b()\n'
    return recorded(f"{main}\n\ndef a():  # @core\n{section}\n\ndef b():\n{section}")


def test_the_list_of_chapters_is_there_from_the_start(page, show):
    page.add_init_script(
        """addEventListener("DOMContentLoaded", () => {
            const places = () => [...document.querySelectorAll(
                ".bar-title, .outline-pages > *, .chapter-line, .chapter-toggle, .chapter-link",
            )].map((each) => [each.textContent.trim(), each.getBoundingClientRect().toJSON()]);
            new MutationObserver(() => {
                if (document.querySelector("#first .outline")) window.before ??= places();
                if (document.querySelector("#app .outline")) window.after ??= places();
            }).observe(document.body, { childList: true, subtree: true });
        })"""
    )
    show(page, many_sections())
    page.locator("#app .outline").wait_for()
    before, after = page.evaluate("[window.before, window.after]")
    assert [text for text, _ in before][:4] == ["A talk", "Front", "One page", "Short path"]
    lines = [place for text, place in before if text.startswith("›")]
    assert len(lines) == 2 * 9, "each with its mark"
    assert len({place["y"] for _, place in before[1:4]}) == 1, "pages stand in one row"
    for (text, place), (_, then) in zip(before, after, strict=True):
        assert place["x"] == pytest.approx(then["x"], abs=1), text
        assert place["y"] == pytest.approx(then["y"], abs=1), text


@pytest.mark.parametrize("width", [1280, 1920, 390])
def test_the_ways_through_are_equally_large(context, site, show, width):
    with quiet_page(context, site, width, 844) as page:
        show(page, many_sections())
        ways = page.locator(".way")
        ways.first.wait_for()
        boxes = [way.bounding_box() for way in ways.all()]
        assert len(boxes) == 4
        for side in ("width", "height"):
            assert max(b[side] for b in boxes) - min(b[side] for b in boxes) < 1, side
        assert len({round(box["x"]) for box in boxes}) == (1 if width == 390 else 2)


def test_what_stands_there_while_it_comes_moves_nothing_when_it_goes(page, show):
    """On a busy machine a sentence is painted before the page is there."""
    page.add_init_script(SHIFTS)

    def after_a_sentence(route):
        page.locator(".notice-inline").wait_for()
        page.evaluate(PAINTED)
        route.continue_()

    page.route("**/demo.json", after_a_sentence)
    show(page, talk(), at="main.py:a_long_bar:1.1")
    painted(page)
    assert page.evaluate("window.shifted") < 0.02


def test_a_chart_keeps_room_for_its_legend(page, show):
    """Its names have no room beside each other."""
    names = [
        f"{name} in a run of this lecture" for name in ("counted", "derived", "assumed", "said")
    ]
    legend = {"orient": "bottom", "columns": 1}
    chart = {
        "mark": "bar",
        "height": 120,
        "data": {"values": [{"name": name, "count": 1} for name in names]},
        "encoding": {
            "x": {"field": "count", "type": "quantitative"},
            "color": {"field": "name", "legend": legend},
        },
    }
    show(page, documents.with_values({"type": "C", "vega": chart}))
    place = page.locator(".chart-place")
    kept = place.evaluate("(place) => parseFloat(getComputedStyle(place).minHeight)")
    place.locator("svg").wait_for()
    assert 0 <= kept - place.locator("svg").bounding_box()["height"] < 40


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_front_page_is_accessible(front, scheme):
    front.emulate_media(color_scheme=scheme)
    assert_accessible(front, "the front page")
