"""One letter has one meaning: the table in the conventions holds in the chapters listed here.

`python -m tests.test_letters` reports on all chapters.
"""

import ast
import itertools
import re
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from lecture.part1_why.m00_conventions import LETTERS
from lecture.part1_why.m00_figures import LetterTable

LECTURE = Path(__file__).parent.parent / "lecture"

# Chapters that keep to the table, by the beginnings of their files. One that does, joins.
HELD = (
    *("m00", "m01", "m02", "m03", "m04", "m05", "m06", "m07", "m08", "m09"),
    *("m10", "m11", "m12", "m13", "m14", "m15", "m16", "m17", "m18b", "m21", "m22"),
    *("m24", "m25", "m27b", "m28_recap"),
)
# Letters that one chapter needs for itself: M numbers fit in a cache, P parameters are read.
OWN = {"M": "m11", "P": "m28"}
CHAPTERS = [path for name in HELD for path in sorted(LECTURE.glob(f"part*/{name}*.py"))]

# What prose counts -> the letter that counts it.
COUNTED = {
    "sequences": "B",
    "tokens": "T",
    "rows": "R",
    "features": "DFK",
    "heads": "H",
    "layers": "L",
    "parameters": "N",
}


def letters_bound(module: ast.Module) -> Iterator[str]:
    """Capital letters that a name stands for: variables and parameters, not imported modules."""
    for node in ast.walk(module):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg


def axes_of_annotations(module: ast.Module) -> Iterator[list[str]]:
    """The axes of each shape: of `Float[Tensor, "B T D"]`, B and T and D."""
    for node in ast.walk(module):
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple):
            for shape in node.slice.elts[-1:]:
                if isinstance(shape, ast.Constant) and isinstance(shape.value, str):
                    yield shape.value.replace("{", "").replace("}", "").split()


def axes_of_calls(module: ast.Module) -> Iterator[list[str]]:
    """The sizes that a call is given as plain names: of `torch.ones(R, D)`, R and D."""
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield [argument.id for argument in node.args if isinstance(argument, ast.Name)]


def faults_of_letters(source: str, own: Collection[str] = ()) -> Iterator[str]:
    """Where a chapter gives a letter another meaning than the table, its own letters aside."""
    module = ast.parse(source)
    shapes = list(axes_of_annotations(module))
    used = set(letters_bound(module)) | {axis for axes in shapes for axis in axes}
    for letter in sorted(used):
        if len(letter) == 1 and letter.isupper() and letter not in {*LETTERS, *own}:
            yield f"{letter} is not in the table"
    for axes in [*shapes, *axes_of_calls(module)]:
        for first, second in itertools.pairwise(axes):
            if first == "B" and second in {"D", "F", "K", "V"}:
                yield f"B {second}: rows of features are counted by R"
    for letter, noun in re.findall(r"(?<![·\w])([A-Z]) (" + "|".join(COUNTED) + r")\b", source):
        if letter not in COUNTED[noun] and letter in LETTERS:
            yield f"{letter} {noun}: they are counted by {COUNTED[noun]}"


def faults_of_chapter(path: Path) -> list[str]:
    own = [letter for letter, chapter in OWN.items() if path.name.startswith(chapter)]
    return list(faults_of_letters(path.read_text(encoding="utf-8"), own))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_a_chapter_keeps_to_the_table(path):
    assert faults_of_chapter(path) == []


def test_no_chapter_has_a_letter_of_the_table_for_itself():
    assert not set(OWN) & set(LETTERS)


def test_every_chapter_listed_exists():
    assert {name for name in HELD if not list(LECTURE.glob(f"part*/{name}*.py"))} == set()


# a line of a chapter -> what is wrong with it
LINES = [
    ("B, T, D = 2, 3, 4", []),
    ("# R rows of D features, H heads of K features, L layers, N parameters", []),
    ("def f(x: Float[Tensor, 'B T D']): ...", []),
    ("x = torch.ones(R, D)", []),
    ("import torch.nn.functional as F", []),
    ("M = 3", ["M is not in the table"]),
    ("def f(x: Float[Tensor, 'R M']): ...", ["M is not in the table"]),
    ("def f(x: Float[Tensor, 'B D']): ...", ["B D: rows of features are counted by R"]),
    ("x = torch.ones(B, D)", ["B D: rows of features are counted by R"]),
    ("# x has B rows", ["B rows: they are counted by R"]),
    ("# K heads", ["K heads: they are counted by H"]),
]


@pytest.mark.parametrize(("line", "faults"), LINES, ids=[line for line, _ in LINES])
def test_another_meaning_is_found(line, faults):
    assert list(faults_of_letters(line)) == faults


def test_the_page_shows_the_whole_table():
    shown = LetterTable(LETTERS)._repr_markdown_()
    assert [line.split("**")[1] for line in shown.splitlines()[2:]] == list(LETTERS)


if __name__ == "__main__":
    for chapter in sorted(LECTURE.glob("part*/m*.py")):
        for fault in faults_of_chapter(chapter):
            print(f"{chapter.name}: {fault}")
