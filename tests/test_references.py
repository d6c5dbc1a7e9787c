"""Figures, equations, footnotes and citations: numbers in the order of the text, links that lead
there, and a warning with its line for what leads nowhere or will not be shown."""

import re
from pathlib import Path

import pytest

from tests.outside import ROOT
from tests.tracing import trace_source
from trace.document.bibliography import cited, entries_in, reference
from trace.document.references import referenced
from trace.document.unshown import SHOWN_TAGS, warnings_of_unshown
from trace.schema import Prose, SourceFile

BIB = r"""
@comment{nothing, title = {no}}
@book{knuth, author = {Knuth, Donald E.}, title = {The {\TeX}book}, year = 1984,
  publisher = "Addison-Wesley"}
@article{erdos, author = {Paul Erd{\H{o}}s and Alfr{\'e}d R{\'e}nyi},
  title = {On {\"o}dd graphs_}, year={1959}, doi={10.1/x}, pages = {290--297}}
@misc{many, author = {A and B and C}, title = {Three \& more}, url = {javascript:x}}
"""


def written(*texts: str, folder: Path = Path("/nowhere")) -> tuple[list[str], list[str]]:
    """Blocks of prose as they are written, and warnings; a block a line, in the order given."""
    blocks = [Prose(number, number, "comment", text) for number, text in enumerate(texts, 1)]
    file = SourceFile("a.py", "", blocks, [], [])
    files, warnings = referenced([file], {"a_section": "A title."}, folder)
    return [prose.text for prose in files[0].prose], warnings


REPLACED = [
    ('![A](a.svg "Cap")', ('<figure>\n<img src="a.svg" alt="A">\n<figcaption>\n\n**Figure 1.** Cap'
     "\n\n</figcaption>\n</figure>")),
    ("![A](a.svg){width=30 #x}", '<figure id="x"><img src="a.svg" alt="A" width="30"></figure>'),
    ("see ![A](a.svg){height=30px} here", 'see <img src="a.svg" alt="A" height="30"> here'),
    ("![A](a.svg)", "![A](a.svg)"),
    ("$$\nx \\label{eq:1}\n$$", '<div id="eq:1"></div>\n\n$$\nx \\tag{1}\n$$'),
    ("$$ a $$", "$$ a $$"),
    ("[](#a_section)", "[A title](#a_section)"),
    ("one[^a]\n\n[^a]: two\n  three", ('one<sup id="from-note-1"><a href="#note-1">1</a></sup>\n\n'
     '<div class="prose-notes">\n\n1. <span id="note-1"></span>two three [↩](#from-note-1)\n\n'
     "</div>")),
    ("`[^a]` and ```x``` and `![A](a \"b\")`", "`[^a]` and ```x``` and `![A](a \"b\")`"),
    ("~~~\n[](#a_section)\n~~~", "~~~\n[](#a_section)\n~~~"),
    ("[text](#a_section) a@b.c @x [x] $[@a]$", "[text](#a_section) a@b.c @x [x] $[@a]$"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), REPLACED)
def test_what_is_numbered_becomes_plain_markdown(text: str, expected: str) -> None:
    assert written(text) == ([expected], [])


def test_numbers_follow_the_order_of_the_text() -> None:
    texts, warnings = written(
        "[](#second), \\eqref{b}, $\\ref{a}$ and $x + \\eqref{b}$",
        '![](a.svg "One"){#first}',
        '![](a.svg "Two"){#second}',
        "$$ \\label{a} $$",
        "$$ \\label{b} $$",
    )
    assert texts[0] == "[Figure 2](#second), [(2)](#b), [(1)](#a) and $x + \\text{(2)}$"
    assert "**Figure 2.** Two" in texts[2] and "\\tag{2}" in texts[4]
    assert warnings == []


def test_citations_name_who_and_when(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(BIB, encoding="utf-8")
    texts, warnings = written("x [see @knuth, p. 3; @erdos].", "[@*]", folder=tmp_path)
    assert texts[0] == (
        "x (see [Knuth 1984](#ref-knuth), p. 3; [Erdős and Rényi 1959](#ref-erdos))."
    )
    assert warnings == []
    assert texts[1].index("ref-erdos") < texts[1].index("ref-knuth")
    assert "ref-many" not in texts[1]


ENTRIES = [
    ("knuth", "Knuth 1984", "Knuth, Donald E. (1984). *The TeXbook*. Addison-Wesley."),
    ("erdos", "Erdős and Rényi 1959",
     "Paul Erdős; Alfréd Rényi (1959). *On ödd graphs\\_*. 290–297. <https://doi.org/10.1/x>"),
    ("many", "A et al.", "A; B; C. *Three & more*."),
]  # fmt: skip


@pytest.mark.parametrize(("key", "in_text", "in_list"), ENTRIES)
def test_entries_of_bibtex(key: str, in_text: str, in_list: str) -> None:
    entries = dict(entries_in(BIB))
    assert sorted(entries) == ["erdos", "knuth", "many"]
    assert cited(key, entries[key]) == in_text
    assert reference(key, entries[key]) == in_list


WRONG = [
    ("\\eqref{no}", "a.py:1: \\eqref{no} refers to nothing."),
    ("a[^b]", "a.py:1: the footnote b has no text."),
    ("a\n\n[^b]: c", "a.py:1: nothing refers to the footnote b."),
    ("[@no]", "a.py:1: no .bib file beside the lecture has an entry no."),
    ('![](a.svg "a"){big}',
     "a.py:1: {big} is no mark of an image: #name, width=300, height=200."),
    ('![](a.svg "a"){#x}\n\n![](a.svg "a"){#x}', "a.py:1: the label x is there twice."),
    ("$$ x \\label{a_section} $$",
     "a.py:1: the label a_section is the name of a function, too."),
]  # fmt: skip


@pytest.mark.parametrize(("text", "warning"), WRONG)
def test_what_leads_nowhere_is_a_warning(text: str, warning: str) -> None:
    assert written(text)[1] == [warning]


def test_citations_without_a_list_are_a_warning(tmp_path: Path) -> None:
    (tmp_path / "a.bib").write_text(BIB, encoding="utf-8")
    assert "put [@*] where" in written("[@knuth]", folder=tmp_path)[1][0]


LEFT_OUT = "is not shown: a page leaves this element out."
UNSHOWN = [
    ("<iframe src=x></iframe>", [f"<iframe> {LEFT_OUT}"]),
    ("<name> and <b>bold</b>, a < b, <https://x.example>", [f"<name> {LEFT_OUT}"]),
    ("`<iframe>` and $a <b> c$", []),
    (r"$\frc{1}{2}$", [r"the formula $\frc{1}{2}$ is wrong: \frc is no command that is known."]),
    (r"$\frac{1}{2$", [r"the formula $\frac{1}{2$ is wrong: a { is not closed."]),
    (r"$a}$", ["the formula $a}$ is wrong: a } closes nothing."]),
    (r"$\left( x$", [r"the formula $\left( x$ is wrong: \left and \right do not pair."]),
    (r"$$\end{a}$$", [r"the formula $\end{a}$ is wrong: \end{a} ends nothing."]),
    (r"$$\begin{a} a$$", [r"the formula $\begin{a} a$ is wrong: \begin{a} has no end."]),
    (r"$\newcommand{\own}{1} \own$ and $\{a\}$, $\mathbb{R}^{n}$ $\eqref{a}$, 3$ or 4$", []),
]  # fmt: skip


@pytest.mark.parametrize(("text", "complaints"), UNSHOWN, ids=lambda case: str(case)[:30])
def test_what_is_not_shown_is_a_warning(text: str, complaints: list[str]) -> None:
    file = SourceFile("a.py", "", [Prose(1, 1, "comment", text)], [], [])
    assert warnings_of_unshown([file]) == [f"a.py:1: {complaint}" for complaint in complaints]


def test_the_page_shows_the_elements_that_are_named_here() -> None:
    source = (ROOT / "viewer/parts/prose.js").read_text(encoding="utf-8")
    listed = source.partition("ALLOWED_TAGS = [")[2].partition("];")[0]
    assert set(" ".join(re.findall(r'"([\w ]+)"', listed)).split()) == SHOWN_TAGS


def test_warnings_of_a_lecture_have_their_line() -> None:
    document = trace_source(
        '''
        def main():
            """Title.

            Fine.

            <video src="a.mp4">
            """
            # One
            # [](#nowhere)
            x = 1
        '''
    )
    assert document["warnings"] == [
        "sample.py:9: the link #nowhere leads to no function of the lecture.",
        "sample.py:6: <video> is not shown: a page leaves this element out.",
    ]


def test_citations_are_no_directives() -> None:
    document = trace_source("def main():\n    # as [@stepove] and [@timer] say\n    x = 1")
    assert [warning[-8:] for warning in document["warnings"]] == ["stepove.", "y timer."]
