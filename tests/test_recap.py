"""The last page of the lecture is a sheet: formulas that lead back to their sections."""

import inspect
import re
from pathlib import Path

import pytest

import lecture
from lecture.lib.transformer import TransformerConfig, TransformerLM
from lecture.part7_after import m28_recap as recap
from lecture.part7_after.m28_answers import letters_of, parameters
from lecture.part7_after.m28_figures import Sheet, in_units
from tests import sections

FILES = sorted((Path(__file__).parent.parent / "lecture").rglob("*.py"))
NAMES = {section.__name__ for section in sections.find_sections(lecture)}


def test_a_sheet_shows_formulas_with_links():
    sheet = Sheet("an example", [("AdamW", "14N", "29.8 G", "adamw_averages_both")])
    assert sheet._repr_markdown_().splitlines() == [
        "| | formula | an example |",
        "| :-- | :-- | --: |",
        "| [AdamW](#adamw_averages_both) | $14N$ | 29.8 G |",
    ]


# an amount, its unit -> as it is read
AMOUNTS = [
    ((0.5, "B"), "0.5 B"),
    ((999, ""), "999"),
    ((1000, ""), "1 k"),
    ((307_200, "B"), "307 kB"),
    ((4_513_336_524_800, ""), "4.51 T"),
    ((2.5e15, "B"), "2.5 PB"),
]


@pytest.mark.parametrize(("amount", "words"), AMOUNTS)
def test_an_amount_is_written_with_three_digits(amount, words):
    assert in_units(*amount).strip() == words


def test_letters_are_those_of_the_model():
    config = TransformerConfig(64, 8, 2, 32, heads=4, feed_forward=48, key_value_heads=2)
    a = letters_of(config, B=3)
    assert (a.B, a.T, a.D, a.F, a.H, a.G, a.K, a.L, a.V) == (3, 8, 32, 48, 4, 2, 8, 2, 64)
    assert a.R == 3 * 8
    model = TransformerLM(config, device="meta")
    assert a.N == parameters(a) == sum(weight.numel() for weight in model.parameters())


def test_links_between_sections_lead_somewhere():
    linked = [
        name for file in FILES for name in re.findall(r"\]\(#(\w+)\)", file.read_text("utf-8"))
    ]
    sheets = re.findall(r'"([a-z0-9]+(?:_[a-z0-9]+){2,})"', inspect.getsource(recap))
    assert [name for name in linked + sheets if name not in NAMES] == []
    assert len(sheets) > 20
