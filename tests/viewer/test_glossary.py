"""The glossary: which sentence defines a term, and that each of the lecture's can be read alone."""

import functools
import inspect
import re
from pathlib import Path

import pytest

from lecture.part7_after.m28_words import WORDS
from tests import test_reading
from trace.rewrite.prose import prose_of
from trace.rewrite.source import Source


@functools.cache
def prose_in(file: str):
    return prose_of(Source(file, Path(file).read_text(encoding="utf-8")))


def lecture() -> list[tuple[str, list[str]]]:
    """The sections of the lecture with their prose, as a reader sees it."""
    found = []
    for section in test_reading.SECTIONS:
        first = section.__code__.co_firstlineno
        last = first + test_reading.source_of(section).count("\n")
        own = [
            block.text
            for block in prose_in(inspect.getsourcefile(section))
            if first < block.first_line <= last and block.kind not in ("bridge", "note")
        ]
        found.append((section.__name__, own))
    return found


@pytest.fixture(scope="module")
def entries(ask):
    return ask("definitions", lecture(), WORDS)


def fault(entry: dict) -> str:
    """Why an entry does not define its term, if that can be seen from its words."""
    text = re.sub(r"[*\[\]]", "", entry["text"])
    if not entry["isAlone"]:
        return "goes on from what is not there"
    if text.endswith("?"):
        return "asks"
    if re.search(r"\bis the (opposite|same|other|rest)\b", text):
        return "says only what else it is like"
    if entry["term"].lower().rstrip("s") not in text.lower():
        return "does not name its term"
    return "" if len(text.split()) > len(entry["term"].split()) + 3 else "says nothing"


def test_every_entry_can_be_read_alone(entries):
    faults = [(entry["term"], fault(entry)) for entry in entries]
    assert [(term, why) for term, why in faults if why] == []
    assert len(entries) > 240


# Prose with a term in italics -> what is wrong with the entry that it makes.
MADE = {
    "An *all-reduce* adds up the numbers of all ranks.": "",
    "So the rule of 6 needs the parameters that are *active* for a token.": "goes on",
    "It takes 32 at a time, a *warp*, and all of them start together.": "goes on",
    "What about the nonlinearity between layers, the *activation function*?": "goes on",
    "Is this the *Xavier initialization* that you read about?": "goes on",
    "*Attention* is the opposite.": "says only",
    "A *bus*.": "says nothing",
    "Shapes of 1 are repeated. This is *broadcasting*.": "",
    "It is repeated. This is *broadcasting*.": "goes on",
}


@pytest.mark.parametrize(("prose", "why"), MADE.items())
def test_what_is_wrong_with_an_entry_is_noticed(ask, prose, why):
    [entry] = ask("definitions", [("a section", [prose])], {})
    found = fault(entry)
    assert found.startswith(why) and bool(found) == bool(why)


def test_an_entry_names_its_term(ask):
    [entry] = ask("definitions", [], {"warp": "Thirty-two threads that start together."})
    assert fault(entry) == "does not name its term"


def test_the_first_sentence_that_stands_alone_defines_a_term(ask):
    prose = ["So it is a *kernel*.\n\nA *kernel* is a program for a GPU. Many *kernels* wait."]
    [entry] = ask("definitions", [("a section", prose)], {})
    assert (entry["term"], entry["text"]) == ("kernel", "A *kernel* is a program for a GPU.")


def test_a_table_of_terms_has_the_last_word(ask):
    sections = [("first", ["Nothing."]), ("second", ["The *Bias* is added."])]
    [bias, seed] = ask("definitions", sections, {"bias": "A bias is a number.", "seed": "A seed."})
    assert (bias["text"], bias["title"]) == ("A bias is a number.", "second")
    assert (seed["text"], seed["title"]) == ("A seed.", "")
