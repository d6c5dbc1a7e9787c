"""Reading actively: the short path, predictions, exercises, the glossary, one's own answers."""

import functools
import json
import re
import subprocess
import sys

import pytest
from playwright.sync_api import expect

from lecture import main as lecture_main
from tests import test_reading
from tests.viewer.conftest import VIEWER, painted, still
from tests.viewer.programs import recorded
from tests.viewer.test_access import assert_accessible
from tests.viewer.test_names import point_at

LECTURE = VIEWER / "traces" / "lecture.main.json"

SOURCE = '''
"""A talk."""


class Letters:
    def _repr_markdown_(self):
        return "| Letter | counts |\\n| :-- | :-- |\\n| **B** | sequences in a batch |"


def main():
    """What it costs."""
    # ## Sizes
    # How large things are.
    a_matrix()
    a_detour()
    # @bridge The detour showed that the *format* decides.
    its_format()
    # ## Detours
    # Only those.
    another_detour()
    # ## Work
    # How much there is to do.
    work()
    exercise_twice()


def a_matrix():  # @core
    """A matrix is large.

    A *matrix* is a table of numbers.
    """
    letters = Letters()  # @inspect letters
    rows, columns = 1024, 4096
    matrix_bytes = 4 * rows * columns
    # That is 16 777 216 bytes.
    assert matrix_bytes == 16_777_216  # @predict
    assert rows < columns  # @predict
    assert 2 * rows == 2048


def a_detour():
    """A detour."""
    assert 1 + 1 == 2


def another_detour():
    """Another detour."""
    assert 1 + 1 == 2


def its_format():  # @core
    """Half of that."""
    # Each matrix has one.
    ratio = 16 / 3
    assert round(ratio, 2) == 5.33  # @predict


def work():  # @core
    """A product costs 2mnk.

    Of the matrices [that are large](#a_matrix).
    """
    flops = 2 * 2 * 3 * 4
    assert flops == 48


def exercise_twice():  # @exercise
    """Exercise: twice.

    What is twice 21?

    **Hint.** It is even.
    """
    answer = 2 * 21  # @inspect answer
    assert answer == 42
'''


@functools.cache
def document():
    return recorded(SOURCE)


@pytest.fixture
def talk(page, show):
    """The first chapter of the talk."""
    show(page, document())
    page.keyboard.press("n")
    page.locator(".question").first.wait_for()
    return page


def words_of(place):
    return " ".join(re.sub(r"[^!-~]", " ", place.inner_text()).split())


def titles(page):
    return page.locator("#article .section-title").all_inner_texts()


def test_a_marked_claim_is_a_question_until_it_is_answered(talk):
    assert talk.locator(".question").count() == 3
    assert "16_777_216" not in talk.inner_text("#article")
    field = talk.get_by_label("What is matrix_bytes?").locator("visible=true").last
    field.fill("40 MB")
    field.press("Enter")
    missed = talk.locator(".missed")
    missed.wait_for()
    said = words_of(missed)
    assert re.fullmatch(r"You said 40 MB: it is too much\. Line \d+ decides it\. Once more\?", said)
    assert "16_777_216" not in talk.inner_text("#article"), "a first answer that is far off"
    field.fill("10 MB")
    field.press("Enter")
    said = words_of(talk.locator(".answered").first)
    assert "You said 10 MB: off: 1.68 times too little. It is 16 777 216. Line " in said
    assert "16_777_216" in talk.inner_text("#article")
    assert talk.locator(".question").count() == 2


def test_a_near_answer_counts_at_once(talk):
    field = talk.get_by_label("What is matrix_bytes?").locator("visible=true").last
    field.fill("17 MB")
    field.press("Enter")
    talk.locator(".answered.near").wait_for()
    assert talk.locator(".missed").count() == 0


CHOOSING = '''
import torch


def main():
    """Kinds."""
    x = torch.ones(2)
    assert x.is_contiguous() == True  # @predict
    assert x.dtype == torch.float32  # @predict
'''


def test_of_several_choices_the_first_wrong_one_is_struck_out(page, show):
    show(page, recorded(CHOOSING))
    asked = page.locator(".question")
    asked.nth(1).wait_for()
    asked.nth(0).get_by_role("button", name="False").click()
    page.locator(".answered.off").wait_for()
    choices = asked.locator(".choice")
    wrong = choices.filter(has_not_text="float32").first
    name = wrong.inner_text()
    wrong.click()
    page.locator(".missed", has_text="something else came out").wait_for()
    expect(asked.get_by_role("button", name=name, exact=True)).to_be_disabled()
    choices.filter(has_text=re.compile("^float32$")).click()
    page.locator(".answered.right").wait_for()


ASKED = '''
import torch


def main():
    """Asked."""
    loss = torch.arange(2.0).mean()
    seen = torch.ones(3).isnan().any()
    load_seconds = 2.5
    few = 1
    assert loss == 0.5  # @predict
    assert 1e3 * load_seconds == 2500  # @predict
    assert load_seconds == 2.5  # @predict
    assert few == 1  # @predict
    assert seen == False  # @predict
'''


def test_what_is_asked_has_its_unit_and_a_number_for_an_answer(page, show):
    show(page, recorded(ASKED))
    asked = page.locator(".question")
    expect(asked).to_have_count(5)
    hints = [" ".join(question.inner_text().split()[-4:]) for question in asked.all()[:4]]
    assert hints == ["between 0 and 1", "1000 and 10 000", "between 1 and 10", "between 0 and 10"]
    units = [question.locator(".question-unit").all_inner_texts() for question in asked.all()]
    assert units == [[], [], ["seconds"], [], []]
    asked.nth(4).get_by_role("button", name="False").click()
    page.locator(".answered.right").wait_for()
    asked.nth(0).locator("input").fill(".5")
    asked.nth(0).locator("input").press("Enter")
    expect(page.locator(".answered.right")).to_have_count(2)


def test_the_list_of_claims_asks_what_is_asked(talk):
    talk.locator(".question").first.wait_for()
    source = talk.locator(".question-source").first.inner_text()
    talk.keyboard.press("c")
    asked = talk.locator(".claim-entry", has_text=f"? asked there: {source}")
    expect(asked).to_have_count(1)
    talk.keyboard.press("Escape")
    talk.locator(".question").first.get_by_text("show").click()
    talk.keyboard.press("c")
    talk.locator(".claim-entry").first.wait_for()
    expect(asked).to_have_count(0)


@pytest.mark.parametrize("presented", [False, True])
def test_the_line_that_decides_is_one_click_away(presented, talk):
    talk.set_viewport_size({"width": 1100, "height": 420})  # where it is on another page of a slide
    if presented:
        talk.keyboard.press("P")
        talk.locator(".slide").wait_for()
        while not talk.locator(".question:visible").count():
            talk.keyboard.press("PageDown")
    field = talk.get_by_label("What is matrix_bytes?").locator("visible=true").last
    field.fill("10 MB")
    field.press("Enter")
    talk.locator(".missed").wait_for()
    field.press("Enter")
    link = talk.locator(".answered .line-link")
    number = link.inner_text().removeprefix("Line ")
    talk.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    link.click()
    line = talk.locator(f'.line.aimed[data-first="{number}"]:visible')
    line.wait_for()
    assert "matrix_bytes = 4 * rows * columns" in line.inner_text()
    top = line.bounding_box()["y"]
    assert 0 <= top < 420


def test_who_presents_sees_where_in_the_chapter(page, show):
    show(page, document())
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    assert page.locator(".slide-place").count() == 0, "before the first chapter"
    for number in (1, 2, 3):
        page.keyboard.press("n")
        page.locator(".slide-place", has_text=f"Ch. 1: {number} / 4").wait_for()
    page.set_viewport_size({"width": 390, "height": 844})
    expect(page.locator(".slide-place")).to_be_visible()
    bar = page.locator(".slide-bar").bounding_box()
    assert bar["x"] >= 0 and bar["x"] + bar["width"] <= 390


def test_an_exercise_whose_solution_is_folded_has_the_whole_slide(page, show):
    page.set_viewport_size({"width": 1920, "height": 1080})
    show(page, document(), at="exercise_twice")
    expect(page.locator("#article .exercise")).to_be_in_viewport()  # slides begin where one is
    page.keyboard.press("P")
    page.locator(".slide .exercise").wait_for()
    painted(page)
    box = page.locator(".slide .exercise").bounding_box()
    left, right = box["x"], 1920 - box["x"] - box["width"]
    assert box["width"] > 0.7 * 1920
    assert abs(left - right) < 10


@pytest.mark.parametrize("height", range(300, 620, 80))
def test_who_opens_a_solution_on_a_slide_sees_it(height, page, show):
    """Also where the title and the question leave too little room for it."""
    page.set_viewport_size({"width": 1280, "height": height})
    show(page, document(), at="exercise_twice")
    expect(page.locator("#article .exercise")).to_be_in_viewport()  # slides begin where one is
    page.keyboard.press("P")
    while not page.locator(".slide .solution:visible").count():
        painted(page)
        page.keyboard.press("PageDown")
    painted(page)
    if page.locator(".slide .solution:not([open])").count():
        page.keyboard.press("PageDown")
    page.locator(".slide .solution[open] summary:visible").wait_for()


def test_prose_that_gives_the_answer_away_waits_for_it(talk):
    assert "That is 16" not in talk.inner_text("#article")
    assert talk.locator(".veiled").count() == 1
    talk.locator(".question").first.get_by_text("show").click()
    assert "That is 16" in talk.inner_text("#article")
    assert talk.locator(".veiled").count() == 0


GIVEN_AWAY = '''
"""A talk."""


class Drawn:
    def __init__(self, words):
        self.words = words

    def _repr_svg_(self):
        texts = "".join(f'<text x="0" y="9">{word}</text>' for word in self.words)
        return f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="20">{texts}</svg>'


def main():
    """What it costs."""
    strides()


def strides():
    """Strides."""
    strides = (4, 1)
    kept = {"weights": 4096}  # @inspect kept
    others = {"weights": 4096}  # @inspect others
    drawn = Drawn(["stride (4, 1)"])  # @inspect drawn
    silent = Drawn(["4", "1", "cells"])  # @inspect silent
    # They are what one steps by: (4, 1).
    assert strides == (4, 1)  # @predict
    ticks = 35
    line = Drawn(["35 ticks"])  # @inspect line
    assert ticks == 35  # @predict
    assert [ticks, 70] == [35, 70]
    assert kept["weights"] == 4096  # @predict
'''


@pytest.fixture
def told(page, show):
    """A section whose figures, values and prose answer what it asks."""
    show(page, recorded(GIVEN_AWAY))
    page.locator(".question").nth(2).wait_for()
    return page


def test_figures_and_values_that_give_an_answer_away_wait_for_it(told):
    article = told.locator("#article")
    assert told.locator(".picture").count() == 1, "only the cells tell nothing"
    assert told.locator(".veiled").count() == 5
    assert "[35, 70]" not in article.inner_text()
    told.locator(".question", has_text="strides").get_by_role("button", name="show: ").click()
    told.locator(".picture", has_text="stride (4, 1)").wait_for()
    assert told.locator(".picture", has_text="35 ticks").count() == 0
    assert "They are what one steps by" in article.inner_text()
    kept, others = (told.locator(".beside-line", has_text=name) for name in ("kept", "others"))
    assert "4096" not in kept.inner_text()
    assert "4096" in others.inner_text(), "nothing asks about it"
    told.locator("#article .line", has_text="kept = {").hover()
    told.locator(".card").get_by_text("Show it").click()
    assert "4096" in kept.inner_text()
    assert "4096" in told.locator(".card").inner_text()
    assert told.locator(".question").count() == 2, "to look is no answer"
    claimed = told.locator(".veiled", has_text="What this line claims")
    claimed.get_by_text("Show it").click()
    assert "[35, 70]" in article.inner_text()
    told.locator(".veiled").get_by_text("Show it").click()
    told.locator(".picture", has_text="35 ticks").wait_for()
    assert told.locator(".veiled").count() == 0


ROUNDED = '''
def main():
    excess()


def excess():
    """Excess."""
    share = 1 / 36  # @inspect share
    assert round(100 * share, 1) == 2.8  # @predict
'''


def test_a_number_that_is_asked_for_rounded_is_told_nowhere(page, show):
    """Neither beside its line nor in its card, nor to who points at its name."""
    show(page, recorded(ROUNDED))
    page.locator(".question").wait_for()
    page.mouse.move(5, 300)
    page.evaluate("""import("viewer/views/names.js").then(() => {})""")
    point_at(page, 8, "share")
    page.locator(".card").wait_for()
    tip = page.locator(".name-tip")
    expect(tip).to_have_text("share = ?")
    assert "0.027" not in page.inner_text("body")
    page.locator(".question").get_by_text("show").click()
    point_at(page, 8, "share")
    expect(tip).to_contain_text("0.027")


ASKED_TWICE = '''
def main():
    one()
    other()


def one():
    """One."""
    tiles = 2 * 3
    assert tiles == 6  # @predict


def other():
    """Other."""
    tiles = 2 * 4
    assert tiles == 8  # @predict
'''


def test_axe_finds_nothing_where_one_name_is_asked_for_twice(page, show):
    show(page, recorded(ASKED_TWICE))
    page.locator(".question").nth(1).wait_for()
    assert_accessible(page, "two questions of one name")


def test_a_claim_of_a_list_with_the_answer_waits_for_it(told):
    told.keyboard.press("e")
    told.locator(".evidence").first.wait_for()
    assert "70" not in told.inner_text("#article")
    told.locator(".question", has_text="ticks").get_by_text("show").click()
    told.locator(".line", has_text="[35, 70]").wait_for()


def test_no_claim_waits_where_nothing_is_asked(told):
    told.keyboard.press("Q")
    told.keyboard.press("Q")
    told.locator(".line", has_text="[35, 70]").wait_for()
    assert told.locator(".veiled, .question").count() == 0


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("ticks =", ["ticks = 35", "ticks = ?"]),
        ("ticks == 35", []),
        ("[35, 70]", []),
        ("what one steps", []),
        ('kept["weights"]', ['kept["weights"] = ?']),
        ("kept = {'weights'", []),
        ("others = {'weights'", ["others = {'weights': 4096}"]),
    ],
)
def test_the_search_asks_what_is_asked(query, found, told):
    told.keyboard.press("/")
    told.locator(".search-field").fill(query)
    told.locator(".results li, .panel-search .quiet").first.wait_for()
    shown = told.locator(".result-text").all_inner_texts()
    assert [" ".join(text.split()) for text in shown] == found


def test_what_cannot_be_read_is_said_and_nothing_is_shown(talk):
    field = talk.locator(".question input").first
    field.fill("a lot")
    field.press("Enter")
    talk.locator(".question-wrong").first.get_by_text("Write it as 12").wait_for()
    assert "16_777_216" not in talk.inner_text("#article")


def test_an_exercise_is_as_wide_as_other_words(talk):
    talk.keyboard.press("n")
    talk.keyboard.press("n")
    wide, other = talk.locator(".exercise"), talk.locator(".section > .prose").first
    assert wide.bounding_box()["width"] == other.bounding_box()["width"]


def test_answers_are_kept_and_can_be_asked_again(talk):
    field = talk.locator(".question input").first
    field.fill("16 MiB")
    field.press("Enter")
    assert "exactly" in talk.locator(".answered").inner_text()
    assert "16_777_216" in talk.locator(".line:focus").inner_text()
    talk.reload()
    talk.locator(".answered").wait_for()
    talk.get_by_text("ask again").click()
    assert talk.locator(".question").count() == 3


def test_both_sides_are_shown_on_request_and_on_paper(talk):
    talk.locator(".question").first.get_by_text("show").click()
    assert "16_777_216" in talk.inner_text("#article")
    assert talk.locator(".answered").count() == 0
    talk.evaluate("async () => { (await import('viewer/state/state.js')).printing.value = true; }")
    painted(talk)
    assert talk.locator(".question").count() == 0


def test_one_may_be_asked_of_all_numbers_or_of_none(talk):
    talk.keyboard.press("Q")
    talk.get_by_label("What is 2 * rows?").first.wait_for()
    talk.keyboard.press("Q")
    painted(talk)
    assert talk.locator(".question").count() == 0
    assert "16_777_216" in talk.inner_text("#article")


@pytest.mark.parametrize(("keys", "bridges"), [("", 0), ("S", 1)])
def test_a_bridge_is_on_a_slide_of_the_short_path_alone(talk, keys, bridges):
    for key in keys:
        talk.keyboard.press(key)
        talk.get_by_text("The detour showed").wait_for()
    talk.keyboard.press("P")
    talk.locator(".slide").wait_for()
    talk.keyboard.press("Home")
    title = talk.locator(".slide .section-title", has_text="Half of that")
    for _ in range(8):
        painted(talk)
        if title.count():
            break
        talk.keyboard.press("n")
    expect(title).to_be_visible()
    assert talk.get_by_text("The detour showed").count() == bridges


def test_a_bridge_and_fewer_sections_stand_on_the_short_path(talk):
    assert titles(talk)[1:] == ["A matrix is large", "A detour", "Half of that"]
    assert "The detour showed" not in talk.inner_text("#article")
    talk.keyboard.press("S")
    talk.get_by_text("The detour showed").wait_for()
    assert titles(talk)[1:] == ["A matrix is large", "Half of that"]
    assert talk.locator(".outline .chapter-link").all_inner_texts() == ["1. Sizes", "3. Work"]
    talk.reload()
    talk.get_by_text("The detour showed").wait_for()
    talk.keyboard.press("n")
    talk.get_by_text("A product costs 2mnk").first.wait_for()
    assert "Detours" not in talk.inner_text("#article")


def amounts(page):
    return page.locator(".amounts li").all_inner_texts()


def test_the_front_page_leads_to_its_first_section(page, show, site):
    show(page, document())
    page.locator(".amounts").wait_for()
    assert amounts(page)[1:] == ["3\nchapters", "8\nclaims", "1\nexercise"]
    way = page.get_by_role("link", name="The short path: 3 sections, 1 minute")
    assert way.get_attribute("href") == "#doc=demo&path=core&chapter=sizes"
    way.click()
    page.get_by_text("The detour showed").wait_for()
    assert page.url == f"{site.address}#doc=demo&path=core&chapter=sizes"
    assert titles(page)[1:] == ["A matrix is large", "Half of that"]
    page.go_back()
    page.locator(".amounts", has_text="3\nchapters").wait_for()


def test_it_counts_what_it_shows(page, show):
    show(page, document(), path="core")
    page.locator(".map-facts").first.wait_for()
    assert amounts(page)[1:] == ["2\nchapters", "5\nclaims"]
    assert [facts.split(" · ")[1] for facts in page.locator(".map-facts").all_inner_texts()] == [
        "4 claims",
        "1 claim",
    ]
    assert page.locator('[data-command="claims"]').inner_text() == "✓ 5 claims"
    assert page.locator(".outline .chapter .outline-claims").all_inner_texts() == ["✓ 4", "✓ 1"]
    page.keyboard.press("n")
    page.locator(".chapter-facts", has_text="4 claims").wait_for()
    page.get_by_role("button", name="All sections").first.click()
    page.locator(".chapter-facts", has_text="5 claims").wait_for()
    assert page.locator('[data-command="claims"]').inner_text() == "✓ 8 claims"


def test_its_claims_are_listed_alone(page, show):
    show(page, document(), path="core")
    page.locator('[data-command="claims"]').click()
    page.locator(".panel-claims", has_text="5 claims in 5 executions of the short path").wait_for()
    assert page.locator(".panel-claims h3").all_inner_texts() == ["1. Sizes", "3. Work"]
    assert "1 + 1 == 2" not in page.inner_text(".panel-claims")


def test_slides_follow_the_choice(talk):
    talk.keyboard.press("P")
    talk.locator(".slide-bar").wait_for()
    of_all = talk.evaluate(SLIDES)
    talk.keyboard.press("Escape")
    talk.locator(".outline").wait_for()
    talk.keyboard.press("S")
    talk.wait_for_url("**path=core**")
    talk.keyboard.press("P")
    talk.locator(".slide-bar").wait_for()
    assert talk.evaluate(SLIDES) < of_all


SLIDES = "async () => (await import('viewer/state/slides.js')).slides().length"


def test_one_figure_says_how_long_it_takes(ask):
    """The button, the text of the front page, and the rule that the sections keep to agree."""
    minutes = ask("path", json.loads(LECTURE.read_text(encoding="utf-8")))["minutes"]
    core = [one for one in test_reading.SECTIONS if one.__name__ in test_reading.CORE]
    exact = sum(test_reading.minutes_of(test_reading.source_of(one)) for one in core)
    exact += sum(len(one.split()) for one in test_reading.bridges()) / 180
    assert abs(minutes - exact) < 2.5
    assert f"In about {minutes} minutes: the short path." in lecture_main.main.__doc__


def test_all_its_links_keep_to_it(page, show, site):
    show(page, document(), path="core", chapter="work")
    page.get_by_text("A product costs 2mnk").first.wait_for()
    written = page.locator('a[href^="#doc="]').evaluate_all("all => all.map(({ hash }) => hash)")
    assert len(written) > 5
    assert [address for address in written if "path=core" not in address] == []
    page.get_by_role("link", name="that are large").click()
    page.wait_for_url("**#doc=demo&path=core&at=*a_matrix*")
    assert titles(page)[1:] == ["A matrix is large", "Half of that"]
    page.keyboard.press("n")
    page.wait_for_url("**#doc=demo&path=core&chapter=work")
    page.keyboard.press("r")
    page.wait_for_url("**#doc=demo&mode=step&path=core&at=*")


def test_its_address_is_enough(page, show):
    show(page, document(), path="core", at="its_format")
    page.get_by_text("The detour showed").wait_for()
    assert page.evaluate("localStorage.length") == 0 or "path" not in page.evaluate(
        "Object.keys(localStorage).join()"
    )
    show(page, document(), at="its_format")
    page.get_by_text("Half of that").first.wait_for()
    assert titles(page)[1:] == ["A matrix is large", "A detour", "Half of that"]


def test_its_end_leads_to_all_chapters(page, show):
    show(page, document(), path="core", chapter="sizes")
    page.locator(".chapter-foot").wait_for()
    assert page.get_by_text("Here the short path ends").count() == 0
    page.keyboard.press("n")
    page.get_by_role("button", name="Here the short path ends").click()
    page.locator(".amounts", has_text="3\nchapters").wait_for()
    assert "path=core" not in page.url


def test_slides_of_it_name_their_chapters(page, show):
    """Also where the chapter's heading stands above a section that is left out."""
    show(page, document(), path="core", chapter="work")
    page.locator(".chapter-place").wait_for()
    page.keyboard.press("P")
    page.locator(".slide").wait_for()
    page.keyboard.press("End")
    page.locator(".slide-place", has_text="Ch. 3:").wait_for()
    assert page.locator("h2.slide-chapter").inner_text() == "Work"


def test_chapters_keep_their_numbers_on_it(page, show):
    show(page, document(), path="core", chapter="work")
    page.locator(".chapter-place", has_text="Chapter 3 · 2 of 2 on the short path").wait_for()
    assert page.locator(".outline .chapter-link").all_inner_texts() == ["1. Sizes", "3. Work"]
    assert page.locator(".chapter-needs").inner_text() == "Builds on 1. Sizes"
    assert page.locator(".bar-chapter").inner_text() == "3. Work"


@pytest.mark.parametrize(
    ("place", "said"),
    [({"at": "a_detour"}, "A detour"), ({"chapter": "detours"}, "Detours")],
    ids=["a section", "a chapter"],
)
def test_what_it_leaves_out_is_shown_among_all(page, show, place, said):
    show(page, document(), path="core", **place)
    sentence = f"“{said}” is not on the short path, so all sections are shown"
    page.locator(".page-notice", has_text=sentence).wait_for()
    assert "path=core" not in page.url
    page.locator("#article .section-title", has_text="etour").first.wait_for()
    page.keyboard.press("S")
    page.wait_for_url("**path=core**")


def test_the_last_choice_holds_where_the_address_names_no_place(page, show, site):
    show(page, document())
    page.keyboard.press("S")
    page.wait_for_url("**#doc=demo&path=core")
    page.goto("about:blank")
    page.goto(site.address)
    page.locator(".amounts", has_text="2\nchapters").wait_for()
    assert page.url == f"{site.address}#doc=demo&path=core"
    page.get_by_role("button", name="All sections").first.click()
    page.wait_for_url(f"{site.address}#doc=demo")
    page.go_back()
    page.locator(".amounts", has_text="2\nchapters").wait_for()


def test_a_chapter_names_those_that_it_builds_on(talk):
    assert talk.locator(".chapter-needs").count() == 0
    talk.keyboard.press("n")
    talk.keyboard.press("n")
    talk.locator(".chapter-needs").wait_for()
    assert talk.locator(".chapter-needs").inner_text() == "Builds on 1. Sizes"
    talk.locator(".chapter-needs a").click()
    talk.locator("h1", has_text="Sizes").wait_for()


def test_presenting_keeps_to_it(talk):
    talk.keyboard.press("S")
    talk.get_by_text("The detour showed").wait_for()
    talk.keyboard.press("P")
    seen = []
    for _ in range(8):
        painted(talk)
        seen.append(talk.inner_text("main"))
        talk.keyboard.press("ArrowRight")
    assert not any("Another detour" in text for text in seen)
    assert any("A product costs" in text for text in seen)


def test_an_exercise_asks_before_it_shows(talk):
    talk.keyboard.press("n")
    talk.keyboard.press("n")
    talk.locator(".exercise").wait_for()
    expect(talk.get_by_text("answer = 2 * 21")).not_to_be_visible()
    expect(talk.get_by_text("It is even.")).not_to_be_visible()
    talk.get_by_text("a hint").click()
    expect(talk.get_by_text("It is even.")).to_be_visible()
    talk.locator(".exercise textarea").fill("42")
    talk.locator(".solution summary").click()
    talk.get_by_label("I had it").check()
    talk.reload()
    talk.locator(".exercise").wait_for()
    assert talk.locator(".exercise textarea").input_value() == "42"
    talk.locator(".solution summary").click()
    assert talk.get_by_label("I had it").is_checked()


def test_the_exercises_of_a_chapter_are_a_file(talk, tmp_path):
    talk.keyboard.press("n")
    talk.keyboard.press("n")
    with talk.expect_download() as download:
        talk.get_by_text("as a Python file").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert "answer = 2 * 21" not in text
    (tmp_path / "programs.py").write_text(SOURCE, encoding="utf-8")
    file = tmp_path / "test_exercises.py"
    for solution, status in (("", 1), ("answer = 42", 0)):
        file.write_text(text.replace("# Your code", f"{solution}\n    # Your code"))
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(file)]
        assert subprocess.run(command, cwd=tmp_path, capture_output=True).returncode == status


def test_the_glossary_is_made_from_the_text(talk):
    talk.keyboard.press("W")
    talk.locator(".glossary dt").first.wait_for()
    assert talk.locator(".glossary dt").all_inner_texts() == ["B", "matrix"]
    entry = talk.locator(".glossary dd").nth(1).inner_text()
    assert "A matrix is a table of numbers." in entry
    assert "used in Half of that" in entry.replace("\n", " ")
    talk.get_by_role("button", name="Half of that").last.click()
    assert talk.locator("dialog[open]").count() == 0


def test_the_glossary_is_looked_up_as_one_types(talk):
    talk.keyboard.press("W")
    talk.locator(".search-field:focus").wait_for()
    talk.keyboard.type("mat")
    assert talk.locator(".glossary dt").all_inner_texts() == ["matrix"]


def test_the_search_suggests_words_that_are_near(talk):
    talk.keyboard.press("/")
    talk.locator(".search-field").fill("matirx")
    talk.locator(".suggestion").get_by_text("matrix", exact=True).click()
    talk.locator(".results li").first.wait_for()
    assert talk.locator(".search-field").input_value() == "matrix"
    places = talk.locator(".result-place").all_inner_texts()
    assert "A matrix is large" in places
    assert "a_matrix" not in places
    talk.locator(".search-field").fill("qqqqqq")
    talk.get_by_text("Nothing that ran contains").wait_for()
    assert talk.locator(".suggestion").count() == 0


@pytest.mark.parametrize(
    ("query", "text", "place"),
    [
        ("How large", "Sizes How large things are.", "Sizes"),
        ("Only those", "Detours Only those.", "Detours"),
        ("letters =", "letters = Letters()", "A matrix is large"),
    ],
)
def test_the_search_names_chapters_and_shows_no_directives(query, text, place, page, show):
    show(page, recorded(SOURCE.replace('    """What it costs."""\n', "")))
    page.keyboard.press("/")
    page.locator(".search-field").fill(query)
    found = page.locator(".results li", has_text=query)
    found.first.wait_for()
    assert " ".join(found.first.locator(".result-text").inner_text().split()) == text
    assert found.first.locator(".result-place").inner_text() == place


@pytest.mark.parametrize(
    ("query", "shown"),
    [("6ND", ["6·N·D", "6 * N * D"]), ("6nd", ["6·N·D", "6 * N * D"]), ("6N", ["6·N", "6 * N"])],
)
def test_a_product_is_found_however_it_is_written(query, shown, page, show):
    source = 'def main():\n    """Work."""\n    # Training takes 6·N·D; not 16ND, 6 in all.\n'
    show(page, recorded(f"{source}    N = D = 1\n    work = 6 * N * D\n"))
    page.keyboard.press("/")
    page.locator(".search-field").fill(query)
    page.locator(".results mark").first.wait_for()
    assert page.locator(".results mark").all_inner_texts() == shown


def test_a_product_that_is_nowhere_is_looked_for_without_its_last_factor(page, show):
    """Not as a word with other letters, as “and”."""
    source = (
        'def main():\n    """Work."""\n    # Training takes 6N·tokens, and 16N bytes.\n    x = 1\n'
    )
    show(page, recorded(source))
    page.keyboard.press("/")
    page.locator(".search-field").fill("6ND")
    page.get_by_role("button", name="6N", exact=True).click()
    page.locator(".results mark").first.wait_for()
    assert page.locator(".suggestion").count() == 0


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("2RDF", "2·R·D·F"),
        ("flash attention", "FlashAttention"),
        ("kv-cache", "KV cache"),
        ("f (x=1)", "f(x=1)"),
    ],
)
def test_the_search_finds_other_ways_to_write_it_in_titles(query, shown, page, show):
    source = f'def main():\n    """Work."""\n    part()\n\n\ndef part():\n    """Of {shown}."""\n'
    show(page, recorded(f"{source}    x = 1\n"))
    page.keyboard.press("/")
    page.locator(".search-field").fill(query)
    expect(page.locator(".result-text.title mark")).to_have_text(shown)


def test_a_term_is_found_in_its_row(page, show):
    rows = "".join(f"| word{number} | Meaning. |\\n" for number in range(90))
    source = (
        "class Words:\n    def _repr_markdown_(self):\n"
        f'        return "| Term | meaning |\\n|---|---|\\n{rows}"\n\n\n'
        'def main():\n    """Work."""\n    words = Words()  # @inspect words\n    x = 1\n'
    )
    show(page, recorded(source))
    page.keyboard.press("/")
    page.locator(".search-field").fill("word77")
    page.locator(".result-text.term").click()
    row = page.locator("tr", has_text="word77")
    expect(row).to_be_focused()
    still(row)
    expect(row).to_be_in_viewport()


def test_the_search_knows_terms_and_their_plurals(talk):
    talk.keyboard.press("/")
    talk.locator(".search-field").fill("matrixs")
    talk.locator(".results li").first.wait_for()
    assert "A matrix is a table" in talk.locator(".results li").first.inner_text()


def test_a_term_under_the_pointer_is_explained(talk):
    talk.get_by_text("Each matrix has one.").first.wait_for()
    talk.mouse.move(5, 5)
    box = talk.evaluate(
        """() => {
            const walker = document.createTreeWalker(document.getElementById("article"), 4);
            for (let node = walker.nextNode(); node; node = walker.nextNode()) {
                const at = node.textContent.indexOf("Each matrix");
                if (at < 0) continue;
                node.parentElement.scrollIntoView({ block: "center" });
                const range = document.createRange();
                range.setStart(node, at + 6);
                range.setEnd(node, at + 10);
                const { x, y, width, height } = range.getBoundingClientRect();
                return [x + width / 2, y + height / 2];
            }
        }"""
    )
    talk.wait_for_timeout(300)
    talk.mouse.move(*box)
    talk.mouse.move(box[0] + 1, box[1])
    talk.locator(".name-tip").wait_for()
    assert talk.locator(".name-tip").inner_text() == "A matrix is a table of numbers."


def test_answers_are_counted_saved_and_forgotten(talk):
    field = talk.locator(".question input").first
    field.fill("16 MiB")
    field.press("Enter")
    talk.locator("h1").first.click()
    talk.keyboard.press("Y")
    talk.get_by_text("1 claim predicted right").wait_for()
    with talk.expect_download() as download:
        talk.get_by_text("Save as a file").click()
    saved = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [reply["grade"] for reply in saved["answers"].values()] == ["right"]
    talk.get_by_text("Forget all").click()
    talk.get_by_text("Forget 1 answer for good?").wait_for()
    talk.get_by_role("button", name="Keep").click()
    assert talk.get_by_text("1 claim predicted right").count() == 1
    talk.get_by_text("Forget all").click()
    talk.get_by_role("button", name="Forget", exact=True).click()
    talk.get_by_text("0 claims predicted right").wait_for()


LOOKS = """element => {
    const { textDecorationLine: line, borderTopWidth: border } = getComputedStyle(element);
    return line === "underline" || border !== "0px";
}"""


def test_actions_do_not_look_like_prose(talk):
    assert talk.locator(".question").first.get_by_text("show").evaluate(LOOKS)
    field = talk.locator(".question input").first
    field.fill("16 MiB")
    field.press("Enter")
    assert talk.get_by_text("ask again").evaluate(LOOKS)
    talk.locator("h1").first.click()
    talk.keyboard.press("Y")
    assert talk.get_by_text("Save as a file").evaluate(LOOKS)
    assert talk.get_by_text("Forget all").evaluate(LOOKS)
    talk.keyboard.press("Escape")
    talk.locator("dialog").wait_for(state="detached")
    talk.keyboard.press("n")
    talk.keyboard.press("n")
    assert talk.get_by_text("as a Python file").evaluate(LOOKS)


@pytest.mark.parametrize("key", ["", "W", "Y"])
def test_it_is_accessible(key, talk):
    if key:
        talk.keyboard.press(key)
        talk.locator("dialog[open]").wait_for()
        painted(talk)
    assert_accessible(talk, key or "a chapter")
