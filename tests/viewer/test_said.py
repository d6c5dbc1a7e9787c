"""Lectures of other tools in the page: what calls say stands in place of the calls."""

import textwrap

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
    assert article.locator(".loop .said").inner_text() == "turn 2"
    assert article.locator(".said svg circle").count() == 2
    article.locator(".said .chart, .said canvas, .said .vega-embed, .said svg").first.wait_for()
    assert "2" in article.locator(".row", has_text="y = 2").last.inner_text()


def test_a_loop_says_what_its_turn_said(page, show):
    show(page, trace_source(TALK))
    page.locator(".loop .scrubber button").first.click()
    page.locator(".loop .said", has_text="turn 1").wait_for()


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
    assert article.locator(".line", has_text="total = add(1)").is_visible()
