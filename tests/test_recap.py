"""The last page of the lecture has figures of every chapter, and leads back to its sections."""

import inspect
import re
import string
from pathlib import Path

import pytest

import lecture
from lecture.part7_after import m27_figures as figures
from lecture.part7_after import m27_recap as recap
from lecture.part7_after.m27_answers import EXPERIMENTS
from lecture.part7_after.m27_figures import WORDINGS, TwoAnswers, worded
from lecture.syllabus import PARTS
from tests import sections

FILES = sorted((Path(__file__).parent.parent / "lecture").rglob("*.py"))
SOURCES = {
    section.__name__: inspect.getsource(section) for section in sections.find_sections(lecture)
}
MEASURED_APART = {"M16", "M27"}  # as large as GPT-2 XL; the last page itself measures them


def test_every_chapter_is_asked_in_the_order_of_the_lecture():
    chapters = [chapter for part in PARTS.values() for chapter in part]
    assert list(EXPERIMENTS) == list(WORDINGS) == chapters


def test_every_part_is_asked_on_the_last_page_once():
    asked = re.findall(r"found = figures_of\((.*), size=size", inspect.getsource(recap))
    parts = [part for call in asked for part in re.findall(r'"(\w+)"', call)]
    assert sorted(parts) == sorted(PARTS)


@pytest.mark.parametrize("chapter", WORDINGS)
def test_the_last_page_leads_to_a_section_of_the_chapter(chapter):
    topics = sections.topics_named(SOURCES[WORDINGS[chapter].section])
    assert chapter in {topic.partition(".")[0] for topic in topics}


@pytest.mark.parametrize("chapter", [name for name in WORDINGS if name not in MEASURED_APART])
def test_an_answer_has_a_place_for_each_of_its_figures(chapter):
    wording = WORDINGS[chapter]
    pairs = zip((wording.in_bytes, wording.in_flops), EXPERIMENTS[chapter](8), strict=True)
    for words, found in pairs:
        places = [field for _, field, _, _ in string.Formatter().parse(words) if field == ""]
        assert len(places) == len(found)


def test_figures_are_put_into_words():
    table = TwoAnswers({"Small models": ((4.0,), (0,)), "Optimizers": ((8,), (0.5,))})
    assert table._repr_markdown_().splitlines()[2:] == [
        (
            "| [Small models](#parameters_are_counted_by_name)"
            " | 4 per parameter in fp32 | none per parameter and row |"
        ),
        (
            "| [Optimizers](#adamw_costs_33_flops_per_parameter)"
            " | 8 per parameter for AdamW | 0.5 per parameter |"
        ),
    ]


@pytest.mark.parametrize(
    ("figure", "words"), [(0, "none"), (0.0, "none"), (16.0, "16"), (0.5, "0.5"), (5056, "5056")]
)
def test_a_figure_is_worded(figure, words):
    assert worded(figure) == words


def test_links_between_sections_lead_somewhere():
    linked = [
        name for file in FILES for name in re.findall(r"\]\(#(\w+)\)", file.read_text("utf-8"))
    ]
    named = "".join(inspect.getsource(module) for module in (figures, recap))
    sheets = re.findall(r'"([a-z0-9]+(?:_[a-z0-9]+){3,})"', named)
    assert [name for name in linked + sheets if name not in SOURCES] == []
    assert len(sheets) > len(WORDINGS)
