"""What authors write that Markdown lacks, what values show of themselves, and definitions: on the
page as it is."""

import base64
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.tracing import trace_source
from tests.viewer import documents

LECTURE = r'''
import math
from dataclasses import dataclass


@dataclass
class Account:
    """An account."""

    balance: int = 0


def main():
    r"""An article.

    The stairs in [](#stairs) have @{steps} steps, by \eqref{energy}[^known].

    [^known]: Since then.

    > [!WARNING]
    > Mind the gap.

    ![Stairs](stairs.svg "Five steps"){#stairs width=120}

    $$
    E = mc^2 \label{energy}
    $$

    ```python
    def f(x):  # a comment
        return "text"
    ```
    """
    account = Account(3)
    for n in range(3):
        # Here n is @{n}.
        square = n * n
    steps = 5
    section()
    # It goes on.
    folded = helper(math.pi)  # @fold
    shown = helper(2)  # @section
    alone(3)
    assert steps == 5


def section():
    """A section."""
    assert 1 == 1


def helper(value):
    """A helper's title."""
    return value


def alone(value):  # @fold
    """Never a section."""
    return value
'''
TABLE = {
    "type": "DataFrame",
    "html": "<table><thead><tr><th></th>" + "<th>column</th>" * 40 + "</tr></thead><tbody>"
    "<tr><th>0</th>" + '<td align="right">3.5</td>' * 40 + "</tr></tbody></table><p>1 row</p>",
    "text": "1 row × 40 columns",
}
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJ"
    "RU5ErkJggg=="
)


@pytest.fixture(scope="module")
def document():
    found = trace_source(LECTURE)
    square = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'
    found["assets"] = {
        "stairs.svg": {"mime": "image/svg+xml", "base64": base64.b64encode(square).decode()}
    }
    return found


def test_prose_has_figures_notes_callouts_and_values(page, show, document):
    show(page, document)
    figure = page.locator(".prose figure#in-text-stairs")
    assert figure.locator("figcaption").inner_text() == "Figure 1. Five steps"
    assert figure.locator("img").get_attribute("width") == "120"
    text = page.locator(".prose", has_text="The stairs in").first.inner_text()
    assert "The stairs in Figure 1 have 5 steps, by (1)1." in text
    assert page.locator(".callout-warning").inner_text().split("\n")[0] == "Warning"
    assert "(1)" in page.locator(".katex-display").inner_text()
    code = page.locator(".prose pre code").first
    assert code.locator(".token-keyword").all_inner_texts() == ["def", "return"]
    assert code.locator(".token-comment").inner_text() == "# a comment"
    assert code.locator(".token-definition").inner_text() == "f"


def test_references_lead_to_their_place(page, show, document):
    show(page, document)
    page.set_viewport_size({"width": 800, "height": 300})
    page.get_by_role("link", name="Figure 1").click()
    page.wait_for_function(
        """() => {
            const box = document.querySelector("#in-text-stairs").getBoundingClientRect();
            return box.top >= 0 && box.bottom <= innerHeight;
        }"""
    )
    assert "stairs" not in page.url


def test_a_value_follows_the_turn_of_its_loop(page, show, document):
    show(page, document)
    loop = page.locator(".loop")
    assert loop.locator(".prose").inner_text() == "Here n is 0."
    loop.get_by_title("Next round").click()
    page.wait_for_function(
        "() => document.querySelector('.loop .prose').innerText === 'Here n is 1.'"
    )


def test_values_are_in_step_too(page, show, document):
    show(page, document, mode="step")
    page.get_by_text("Here n is 2.").first.wait_for()


def test_calls_fold_and_unfold_as_their_author_says(page, show, document):
    show(page, document)
    titles = page.locator("#article .section-title").all_inner_texts()
    assert titles == ["An article", "A section", "A helper's title"]
    assert page.locator(".section-end").count() == 2
    folded = [text.split("\n")[0] for text in page.locator("summary").all_inner_texts()]
    assert "code" in folded
    titles = page.locator(".into").evaluate_all("marks => marks.map((mark) => mark.title)")
    assert "What ran in alone: Never a section" in titles


WRITTEN = """
import asyncio


def main():
    words = {"a": 1}
    tables(words)
    asyncio.run(waiting())
    chosen = picked(words)  # @section


def tables(words):
    \"\"\"Tables.\"\"\"
    assert words


async def waiting():
    \"\"\"Waiting.\"\"\"
    await asyncio.sleep(0)


def picked(words):
    \"\"\"Picked.\"\"\"
    return [*words]
"""


def test_a_call_stands_below_the_title_of_its_section(page, show):
    with ThreadPoolExecutor() as pool:  # in this thread there is a loop of events already
        show(page, pool.submit(trace_source, WRITTEN).result())
    titles = ["Tables", "Waiting", "Picked"]
    assert page.locator("#article .section-title").all_inner_texts()[1:] == titles
    assert page.locator(".outline-title").all_inner_texts() == titles
    calls = [text.split(" ", 1)[1] for text in page.locator(".section-meta").all_inner_texts()[1:]]
    assert calls[0].startswith("tables(words)") and calls[1:] == [
        "asyncio.run(waiting())",
        "picked()",
    ]
    lines = page.locator("#article .line pre").all_inner_texts()
    assert [line.strip() for line in lines if "words" in line] == [
        'words = {"a": 1}',
        "assert words",
        "chosen = picked(words)",
        "return [*words]",
    ]


def test_pictures_below_each_other_say_which_they_are(page, show, document):
    names = document["names"]
    rows = {"event": [1, 1], "at": [2, 2], "name": [0, 1], "value": [len(document["values"])] * 2}
    several = {**document, "values": [*document["values"], TABLE], "inspections": rows}
    show(page, several)
    assert page.locator(".drawn-name:visible").all_inner_texts() == names[:2]
    one = {name: column[:1] for name, column in rows.items()}
    show(page, {**several, "inspections": one})
    page.locator(".drawn").wait_for()
    assert page.locator(".drawn-name:visible").count() == 0


LONG = """
class Account:
    def __repr__(self):
        return "Account(owner='somebody', balance=100)"


def main():
    account = Account()  # @inspect account
    left = 3  # @inspect left
"""


def test_a_value_beside_one_line_begins_on_it(page, show):
    show(page, trace_source(LONG))
    page.set_viewport_size({"width": 1280, "height": 800})
    place, value = page.locator(".beside-line.is-one"), page.locator(".is-one .value")
    place.wait_for()
    assert place.evaluate("({ scrollHeight, clientHeight }) => scrollHeight <= clientHeight + 2")
    assert value.evaluate("({ scrollWidth, clientWidth }) => scrollWidth > clientWidth"), (
        "too short"
    )


@pytest.mark.parametrize(("size", "said"), [(16, "3 more rows"), (21, "3 more")])
def test_what_is_left_out_of_a_value_beside_one_line_is_said_whole(page, show, size, said):
    name = "x" * size
    source = f"def main():\n    {name} = 1  # @inspect {name}\n    y = 2  # @inspect y\n"
    document = trace_source(source)
    high = {"shape": [3, 6], "elements": [1.25] * 18}
    place = document["inspections"]["value"][0]
    document["values"][place] = {**documents.TENSOR, **high}
    show(page, document)
    more = page.locator(".is-one .beside-more")
    more.wait_for()
    assert more.inner_text() == said
    end = more.evaluate("(more) => more.parentElement.getBoundingClientRect().right")
    box = more.bounding_box()
    assert box["x"] + box["width"] <= end + 1


def test_a_link_to_a_class_shows_its_definition(page, show):
    source = "class Own:\n    pass\n\ndef main():\n    # [this](#Own)\n    Own()"
    document = trace_source(source)
    assert document["warnings"] == []
    show(page, document)
    page.get_by_role("link", name="this").click()
    page.locator(".definition-panel").get_by_text("class Own").wait_for()


def test_definitions_stand_where_they_are_first_used(page, show, document):
    show(page, document)
    definitions = page.locator("details.definition")
    assert definitions.locator("summary").all_inner_texts() == ["class Account", "imports"]
    assert "balance: int = 0" in definitions.first.text_content()
    before = page.evaluate(
        """() => document.querySelector("details.definition").compareDocumentPosition(
            document.querySelector('#article [data-step]'))"""
    )
    assert before & 4, "the definition follows its use"


def test_definitions_do_not_cut_a_loop_open(page, show):
    source = """
        import math
        import statistics

        class Own:
            pass

        def main():
            "A lecture."
            total = 0
            for number in range(3):
                if number:
                    total += math.sqrt(number)
                kept = Own()
            assert statistics.mean([1, 3]) == 2
    """
    show(page, trace_source(source))
    page.locator(".loop").wait_for()
    names = page.locator("details.definition summary")
    assert names.all_inner_texts() == ["class Own", "imports"]
    assert page.locator(".loop details.definition").count() == 0
    follows = """() => [...document.querySelectorAll("details.definition")].map((definition) =>
        definition.compareDocumentPosition(document.querySelector(".loop")) & 4)"""
    assert page.evaluate(follows) == [4, 4]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_tables_scroll_and_can_be_read(page, show, document, theme):
    marked = TABLE["html"].replace("<td", '<td style="background-color: #ffff00"', 1)
    document = {**document, "values": [*document["values"], {**TABLE, "html": marked}]}
    inspections = document["inspections"]
    document["inspections"] = {
        "event": [1],
        "at": [2],
        "name": [0],
        "value": [len(document["values"]) - 1],
    }
    assert inspections["event"] == []
    page.emulate_media(color_scheme=theme)
    show(page, document)
    scroll = page.locator(".data-scroll")
    scroll.wait_for()
    assert scroll.evaluate("({ scrollWidth, clientWidth }) => scrollWidth > 2 * clientWidth")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    cell = page.locator(".data td").first
    assert cell.evaluate("(cell) => getComputedStyle(cell).color") == "rgb(17, 17, 17)"
    assert cell.evaluate("(cell) => getComputedStyle(cell).textAlign") == "right"


def test_sound_and_films_can_be_played(page, show, document):
    file = document["files"][0]
    text = "![A bell](bell.wav) ![A film](film.mp4)"
    prose = [{**file["prose"][1], "text": f"An article.\n\n{text}"}]
    assets = {
        "bell.wav": {"mime": "audio/wav", "base64": "UklGRg=="},
        "film.mp4": {"mime": "video/mp4", "base64": "AAAA"},
    }
    show(page, {**document, "files": [{**file, "prose": prose}], "assets": assets})
    assert page.locator("audio[controls]").get_attribute("src") == "data:audio/wav;base64,UklGRg=="
    assert page.locator("video[controls]").get_attribute("aria-label") == "A film"


def test_arrays_of_bytes_are_drawn_with_their_shape(page, show, document):
    value = {"type": "ndarray", "dtype": "uint8", "shape": [8, 9, 3], "png": PIXEL, "every": 2}
    document = {**document, "values": [*document["values"], value]}
    row = {"event": [1], "at": [2], "name": [0], "value": [len(document["values"]) - 1]}
    show(page, {**document, "inspections": row})
    caption = page.locator("figure.picture figcaption")
    caption.wait_for()
    assert "uint8 [8, 9, 3]" in caption.inner_text()
    assert "every second pixel" in caption.inner_text()
    assert page.locator("figure.picture img").evaluate("({ width }) => width") == 17 * 9


def test_a_short_definition_is_unfolded_where_it_is_first_used(page, show, document):
    show(page, document)
    definitions = page.locator("details.definition")
    opened = definitions.evaluate_all("all => all.map((e) => e.open)")
    assert opened == [True, False], "a class is read, imports are not"
