"""Lectures of other tools in the page: what calls say stands in place of the calls."""

import base64
import re
import textwrap

import pytest
from playwright.sync_api import expect

from tests.test_convert import TALKS, converted
from tests.tracing import trace_source

TALK = textwrap.dedent(r"""
    from edtrace import Reference, graph, link, make_graph, plot, text

    ADA = Reference(title="Notes", authors=["Ada Lovelace"], date="1843", url="https://a.org/notes")

    def main():
        text("# Sets")
        text("- the set $\\{0, 1\\}$"), text("- two")
        text("- three <font color='red'>red</font>")
        text("Paper: "), link(ADA)
        numbers()

    def numbers():
        text("## Numbers")
        for i in range(3):
            text(f"turn **{i}**")
        plot({
            "mark": "bar",
            "data": {"values": [{"a": 1}]},
            "encoding": {"x": {"field": "a", "type": "quantitative"}},
        })
        graph(make_graph([{"id": "a"}, {"id": "b"}], [{"source": "a", "target": "b"}]))
        y = 2  # @inspect y
        text("after"),
        return y
""")


def test_read_shows_what_calls_say_and_not_the_calls(page, show):
    show(page, trace_source(TALK))
    page.locator(".said svg circle").first.wait_for()
    article = page.locator("#article")
    assert "text(" not in article.inner_text()
    assert article.locator("h1").all_inner_texts() == ["Sets"]
    assert article.locator("h2").all_inner_texts() == ["Numbers"]
    items = article.locator(".said ul li")
    assert [" ".join(item.split()[-1:]) for item in items.all_inner_texts()][1:] == ["two", "red"]
    assert article.locator(".said ul").count() == 1
    assert article.locator(".said .katex annotation").all_text_contents() == [r"\{0, 1\}"]
    link = article.locator(".said a", has_text="[Lovelace 1843]")
    assert link.get_attribute("href") == "https://a.org/notes"
    assert link.locator("xpath=..").inner_text() == "Paper: [Lovelace 1843]"
    assert article.locator(".loop .said p").all_inner_texts() == ["turn 0", "turn 1", "turn 2"]
    assert article.locator(".loop .scrubber").count() == 0
    assert article.locator(".said svg circle").count() == 2
    article.locator(".said .chart, .said canvas, .said .vega-embed, .said svg").first.wait_for()
    assert "2" in article.locator(".row", has_text="y = 2").last.inner_text()


LOOPS = textwrap.dedent(r"""
    from edtrace import text

    def main():
        text("# Loops")
        for n in range(3):
            square = n * n
            if n % 2:
                text(f"{n} is odd")
            else:
                text(f"{n} is even")
        for n in range(3):
            tell(n)
        for n in range(20):
            total = n
            text(f"step {n}")
        for n in range(2):
            for m in range(2):
                text(f"pair {n} {m}")

    def tell(n):
        text(f"told {n}")
""")


def test_every_turn_of_a_loop_that_speaks_is_read(page, show):
    show(page, trace_source(LOOPS))
    article = page.locator("#article")
    article.locator(".said", has_text="pair 1 1").wait_for()
    told = [text for text in article.locator(".prose p").all_text_contents() if text[0] != "s"]
    assert told == [
        *("0 is even", "1 is odd", "2 is even"),
        *("told 0", "told 1", "told 2"),
        *("pair 0 0", "pair 0 1", "pair 1 0", "pair 1 1"),
    ]
    assert article.locator(".line", has_text="for n in range(3)").count() == 2
    # Of many turns that do more than to speak one is shown, and what all said can be unfolded.
    many = article.locator("details", has_text="what all 20 turns say")
    assert many.locator("p").all_text_contents() == [f"step {n}" for n in range(20)]
    assert article.locator(".scrubber").count() == 1


def test_what_follows_the_turns_of_a_loop_is_said_once(page, show):
    source = """
        from edtrace import text

        def main():
            for n in range(2):
                text(f"turn {n}")
            else:
                text("no turn left")
            for n in range(5):
                square = n * n
            else:
                last = square  # @inspect last
    """
    show(page, trace_source(textwrap.dedent(source)))
    article = page.locator("#article")
    article.locator(".said", has_text="no turn left").wait_for()
    assert article.locator(".said p").all_text_contents() == ["turn 0", "turn 1", "no turn left"]
    assert article.locator(".line", has_text="else:").count() == 2
    assert article.locator(".scrubber").inner_text().endswith("round 1 of 5")
    assert "16" in article.locator(".row", has_text="last = square").last.inner_text()


APART = textwrap.dedent(r"""
    from edtrace import image, text

    RED = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/%3E"

    def main():
        text("# Apart")
        for word in words():
            text(f"got {word}")
        for word in numbered("ab"):
            text(f"- told {word}")
        for word in numbered("cd"):
            x = word
            text(f"- told {x}")
        image(RED, width=9), image(RED, width=9)
        image(RED, width=9)
        text("<b title='an only = word' onclick='alert(1)' onload=\"alert(2)\">bold</b>")
        text("<style>b { display: none }</style><p>styled</p>")
        Counter(2).count()
        last()

    def words():
        text("the first")
        yield 1
        text("the second")
        yield 2
        return text("the end")

    class Counter:
        def __init__(self, n):
            text("made")

        def count(self):
            text("counted")

    def last():
        return text("what a return says")

    def numbered(words):  # @stepover
        for word in words:
            yield word
            text(f"*after {word}*")
""")


def test_what_stands_between_calls_is_read_in_its_order(page, show):
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    show(page, trace_source(APART))
    article = page.locator("#article")
    article.get_by_text("what a return says").wait_for()
    told = article.locator(".prose :is(p, li)", has_not_text=re.compile("bold|styled|made|return"))
    assert told.all_inner_texts()[:13] == [
        *("the first", "got 1", "the second", "got 2", "the end"),
        *("told a", "after a", "told b", "after b"),
        *("told c", "after c", "told d", "after d"),
    ]
    first, second, below = (image.bounding_box() for image in article.locator("img").all())
    assert first["y"] == second["y"]
    assert below["y"] > first["y"] + first["height"]
    bold = article.locator(".said b")
    assert bold.get_attribute("title") == "an only = word"
    assert bold.get_attribute("onclick") is None
    expect(article.get_by_text("styled", exact=True)).to_be_visible()
    made, counted = (article.get_by_text(word, exact=True) for word in ("made", "counted"))
    assert made.bounding_box()["y"] < counted.bounding_box()["y"]
    assert 'text("' not in article.inner_text(), "the definition of what is stepped over is shown"
    assert complaints == []


TEXTS = """async () => {
    const { page } = await import("viewer/state/state.js");
    const { isLaidOut } = await import("viewer/state/layout.js");
    page.value = (await import("viewer/model/book.js")).WHOLE;
    const pause = (time) => new Promise((done) => setTimeout(done, time));
    const article = document.getElementById("article");
    const read = () =>
        [...article.querySelectorAll(":is(.section-title, .prose :is(p, li, pre, th, td))")]
            .filter((part) => !(part.matches("p") && part.closest("li")))
            .map((part) => {
                const copy = part.cloneNode(true);
                for (const inner of copy.querySelectorAll("ul, ol")) inner.remove();
                return copy.textContent.trim().replace(/\\s+/g, " ");
            });
    for (let before = ""; !isLaidOut.value || before !== String(read()); await pause(300))
        before = String(read());
    return read();
}"""
"""What is read in the whole article, when nothing is added to it any more."""


@pytest.mark.parametrize("name", ["data_sources", "inference", "systems", "alignment"])
def test_a_converted_lecture_is_the_same_article(name, page, show, tmp_path):
    [talk] = [talk for talk in TALKS if talk.stem == name]
    before, after = [show(page, document).evaluate(TEXTS) for document in converted(talk, tmp_path)]
    assert len(before) > 25
    assert after == before


def test_a_later_line_of_a_statement_may_be_hidden_from_read(page, show):
    source = """
        def main():
            x = [
                1,  # @hide
                2,
            ]
            y = x  # moves @animate
            return y
    """
    show(page, trace_source(source))
    lines = page.locator("#article .line pre").all_inner_texts()
    shown = [text.strip() for line in lines for text in line.splitlines() if text.strip()]
    assert shown == ["x = [", "2,", "]", "y = x  # moves", "return y"]


def test_step_passes_what_only_speaks_unless_the_source_is_shown(page, show):
    show(page, trace_source(TALK), mode="step", at="1")

    def marked(line):
        page.locator(f'.current[data-line="{line}"]').wait_for()
        assert page.locator(".current[data-line]").count() == 1

    page.keyboard.press("ArrowRight")
    marked(10)  # the call of numbers()
    page.keyboard.press("ArrowRight")
    marked(14)
    text = page.locator(".program-prose").all_inner_texts()
    assert any("Paper: [Lovelace 1843]" in block for block in text)
    page.keyboard.press("R")
    page.locator(".program-line", has_text="text(f").wait_for()
    page.keyboard.press("ArrowRight")
    marked(15)


WORKING = textwrap.dedent(r"""
    from edtrace import text

    def main():
        text("# Work")
        first(), second()
        total = add(1)  # @stepover
        for part in parts():  # @stepover
            total += part

    def first():
        text("said by the first")

    def second():
        text("said by the second")

    def add(n):
        text("said while adding")
        return n

    def parts():
        text("said in a header")
        return [1]
""")


def test_what_other_statements_and_folded_calls_say_is_read_too(page, show):
    show(page, trace_source(WORKING))
    article = page.locator("#article")
    for words in ("by the first", "by the second", "while adding", "in a header"):
        article.locator(".said", has_text=f"said {words}").wait_for()
    expect(article.locator(".line", has_text="total = add(1)")).to_be_visible()


LARGE = textwrap.dedent("""
    class Drawing:
        def _repr_svg_(self):
            return "<svg width='30' height='30'><circle r='9'/></svg>"

    def main():
        drawing = Drawing()  # @inspect drawing
        photograph = Drawing()  # @inspect photograph
""")


def test_large_pictures_come_from_their_files(page, show):
    lecture = trace_source(LARGE)
    drawing = next(value for value in lecture["values"] if "svg" in value)
    source = drawing.pop("svg")
    photograph = {"type": "Drawing", "file": "photograph.png"}
    lecture["values"].append(photograph)
    lecture["inspections"]["value"][-1] = len(lecture["values"]) - 1
    drawing["file"] = "drawing.svg"
    page.route(
        "**/traces/demo.files/drawing.svg",
        lambda route: route.fulfill(content_type="image/svg+xml", body=source),
    )
    dot = base64.b64decode("R0lGODdhAQABAIAAAP///////ywAAAAAAQABAAACAkQBADs=")
    page.route(
        "**/traces/demo.files/photograph.png",
        lambda route: route.fulfill(content_type="image/gif", body=dot),
    )
    show(page, lecture)
    page.locator("#article figure.picture svg circle").first.wait_for()
    image = page.locator("#article figure.picture img[src$='demo.files/photograph.png']").first
    image.wait_for()
    assert image.evaluate("image => image.decode().then(() => image.naturalWidth)") == 1
    page.unroute_all()
