"""That each rule of tests/sections.py can be broken, and what is said then."""

import pytest

from tests import sections

GOOD = '''\
def bytes_are_counted():  # M5.3, E7
    """Bytes are counted."""
    assert 2 * 4 == 8
'''

# the source of a section -> its faults
SECTIONS = [
    (GOOD, []),
    ("@decorated\n" + GOOD, []),
    (
        "def untitled():\n    assert 2 * 4 == 8\n",
        ["has no docstring whose first line is its title"],
    ),
    (
        'def untitled():\n    """ """\n    assert 2 * 4 == 8\n',
        ["has no docstring whose first line is its title"],
    ),
    (
        'def claimless():\n    """It says nothing."""\n    print(8)\n',
        ["claims nothing: it has no assert"],
    ),
    (GOOD + "    print()\n" * 42, []),
    (GOOD + "    print()\n" * 43, ["has 46 lines; 45 fit on a screen"]),
    # What only the speaker sees takes no room; prose does.
    (GOOD + "    # @note Ask.\n    # Wait.\n    #\n" + "    print()\n" * 42, []),
    (
        GOOD + "    # @note Ask.\n    #\n    # Prose.\n" + "    print()\n" * 42,
        ["has 46 lines; 45 fit on a screen"],
    ),
    (
        GOOD + "    print(2)  # @note Ask.\n" * 43,
        ["has 46 lines; 45 fit on a screen"],
    ),
]


@pytest.mark.parametrize(("source", "faults"), SECTIONS)
def test_a_section_has_a_title_a_claim_and_few_lines(source, faults):
    assert list(sections.faults_of_a_section(source)) == faults


# the first line of a section -> the topics it names
DEF_LINES = [
    ("def f():", []),
    ("def f():  # M7.4", ["M7.4"]),
    ("def f():  # M7.4, M12.10 E36", ["M7.4", "M12.10"]),
    ("@decorated  # M1.1\ndef f():  # M7.4", ["M7.4"]),
]


@pytest.mark.parametrize(("line", "topics"), DEF_LINES)
def test_topics_stand_on_the_def_line(line, topics):
    assert sections.topics_named(f"{line}\n    pass  # M1.1\n") == topics


# the first line of a section -> the mistakes it names
MISTAKES = [
    ("def f():  # M7.4", []),
    ("def f():  # M7.4 E36, E7", ["E36", "E7"]),
    ("def f():  # M7.4 FE36 E36b", []),
]


@pytest.mark.parametrize(("line", "mistakes"), MISTAKES)
def test_mistakes_stand_on_the_def_line(line, mistakes):
    assert sections.mistakes_named(f"{line}\n    pass  # E1\n") == mistakes


def section(name, labels, claims=1):
    return f"def {name}():  # {labels}\n    print()\n" + "    assert 1 + 1 == 2\n" * claims


# the sections, the topics -> the faults, where M1.9 may share a claim and M9 is open
TOPICS = [
    ([section("a", "M1.1"), section("b", "M1.1 M1.2", 2)], ["M1.1", "M1.2"], []),
    ([section("a", "M1.1")], ["M1.1", "M1.2"], ["no section names M1.2"]),
    ([section("a", "M1.1 M9.9", 2)], ["M1.1"], ["a names M9.9, which is no topic"]),
    (
        [section("a", "M1.1 M1.2 M1.3 M1.4", 4)],
        ["M1.1", "M1.2", "M1.3", "M1.4"],
        ["a names 4 topics; 3 are enough"],
    ),
    ([section("a", "M1.1 M1.2")], ["M1.1", "M1.2"], ["a names 2 topics and makes 1 claims"]),
    ([section("a", "M1.1 M1.9")], ["M1.1", "M1.9"], []),
    ([section("a", "M1.1", 0)], ["M1.1"], ["a names 1 topics and makes 0 claims"]),
    ([section("a", "M1.1")], ["M1.1", "M9.1"], []),
    ([section("a", "M1.1")], ["M1.1", "M99.1"], ["no section names M99.1"]),
]


@pytest.mark.parametrize(("sources", "topics", "faults"), TOPICS)
def test_topics_and_sections_name_each_other(sources, topics, faults):
    assert list(sections.faults_of_the_topics(sources, topics, ["M9"], ["M1.9"])) == faults


def test_a_claim_may_stand_in_a_block():
    assert sections.claims("def f():\n    for n in (2, 3):\n        assert n > 1\n") == 1


# the sections, the mistakes of M1 -> the faults, where M9 is open
MISTAKEN = [
    ([section("a", "M1.1 E1"), section("b", "E2")], ["E1", "E2"], []),
    ([section("a", "M1.1 E1")], ["E1", "E2"], ["no section names E2"]),
    ([section("a", "M1.1 E12")], ["E1"], ["no section names E1"]),
]


@pytest.mark.parametrize(("sources", "mistakes", "faults"), MISTAKEN)
def test_every_mistake_of_a_complete_group_has_its_section(sources, mistakes, faults):
    every = {"M1": mistakes, "M9": ["E90"]}
    assert list(sections.faults_of_the_mistakes(sources, every, ["M9"])) == faults


MAIN = """\
def main():
    tensors.views()
    twice()
    for _ in range(2):
        twice()
"""


def test_the_contents_call_each_section_once():
    assert sections.calls_of_main(MAIN) == ["tensors.views", "twice", "range", "twice"]
    assert list(sections.faults_of_the_contents([MAIN], ["views"])) == []
    assert list(sections.faults_of_the_contents([MAIN, MAIN], ["views"])) == [
        "views is called 2 times"
    ]
    assert list(sections.faults_of_the_contents([MAIN], ["views", "twice", "never"])) == [
        "twice is called 2 times",
        "never is called 0 times",
    ]


# an import -> whether the lecture may make it
IMPORTS = [
    ("from trace.costs import measure", True),
    ("import torch", True),
    ("from lecture import facts", True),
    ("import trace", False),
    ("import trace.costs", False),
    ("from trace import costs", False),
    ("from trace.costs import measure, Meter", False),
    ("from trace.record.recorder import record", False),
    ("def f():\n    from trace import costs", False),
]


@pytest.mark.parametrize(("source", "allowed"), IMPORTS)
def test_the_meter_is_all_the_lecture_takes_from_the_tracer(source, allowed):
    assert (sections.foreign_imports(source) == []) is allowed


CHAPTER = "lecture.part3_tensors.m07_storage"

# a module, what it imports -> whether it may
CHAPTERS_IMPORTED = [
    (CHAPTER, "from lecture.part3_tensors import m07_figures as figures", True),
    (CHAPTER, "from lecture.lib.memory import same_storage", True),
    (CHAPTER, "from lecture.tokenizer import Tokenizer", True),
    (CHAPTER, "from lecture.part3_tensors import m08_operations", False),
    (CHAPTER, "from lecture.part3_tensors.m08_figures import axes", False),
    (CHAPTER, "from lecture.part4_compute import m11_intensity", False),
    (CHAPTER, "import lecture.part4_compute.m11_intensity as intensity", False),
    (CHAPTER, "from lecture.part3_tensors import contents", False),
    (CHAPTER, "from lecture import part4_compute", False),
    (CHAPTER, "from . import m08_operations", False),
    (CHAPTER, "def f():\n    from lecture.part4_compute import m11_intensity", False),
    (CHAPTER.replace("m07", "m07a"), "from lecture.part3_tensors import m07b_views", False),
    (CHAPTER.replace("m07", "m07a"), "from lecture.part3_tensors import m07_figures", True),
    ("lecture.lib.memory", "from lecture.facts import H100_SXM", True),
    ("lecture.lib.memory", "from lecture.part3_tensors.m07_storage import whole_storage", False),
    ("lecture.train.loop", "from lecture.part6_training import m22_figures", False),
]


@pytest.mark.parametrize(("module", "source", "allowed"), CHAPTERS_IMPORTED)
def test_chapters_are_imported_by_the_contents_only(module, source, allowed):
    assert (sections.chapters_imported(module, source) == []) is allowed
