"""The last page of the lecture leads back to its sections."""

import inspect
import re
from pathlib import Path

import pytest

import lecture
from lecture import recap
from tests import sections

FILES = sorted((Path(__file__).parent.parent / "lecture").rglob("*.py"))
SOURCES = {
    section.__name__: inspect.getsource(section) for section in sections.find_sections(lecture)
}


@pytest.mark.parametrize("group", recap.ANSWERS)
def test_the_last_page_leads_to_a_section_of_the_chapter(group):
    *_, section = recap.ANSWERS[group]
    topics = sections.topics_named(SOURCES[section])
    assert group in {topic.partition(".")[0] for topic in topics}


def test_links_between_sections_lead_somewhere():
    linked = [
        name for file in FILES for name in re.findall(r"\]\(#(\w+)\)", file.read_text("utf-8"))
    ]
    sheets = re.findall(r'"([a-z0-9]+(?:_[a-z0-9]+){3,})"', inspect.getsource(recap))
    assert [name for name in linked + sheets if name not in SOURCES] == []
    assert len(sheets) > len(recap.ANSWERS)
