"""What is shown of a source file: prose, highlighted pieces, hidden lines."""

import ast
import io
import keyword
import string
import textwrap
import tokenize
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tracing import trace_source
from trace.rewrite.highlighting import highlighted
from trace.rewrite.prose import hidden_lines, misread_docstrings, prose_of
from trace.rewrite.source import Source
from trace.rewrite.syntax import SourceLines
from trace.schema import TOKEN_KINDS


def prose(source):
    """Each block as first line, last line, first letter of its kind, text."""
    blocks = prose_of(Source("a.py", source))
    return [(block.first_line, block.last_line, block.kind[0], block.text) for block in blocks]


# what it shows -> source, expected blocks
PROSE = {
    "docstrings of module, class and functions": (
        '''
        """Module."""
        class A:
            """Class."""
            def f(self):
                """Method."""
        async def g():
            """Coroutine."""
        ''',
        [(1, 1, "d", "Module."), (3, 3, "d", "Class."), (5, 5, "d", "Method."),
         (7, 7, "d", "Coroutine.")],
    ),
    "a docstring loses its indentation": (
        '''
        def f():
            """Title.

            - one
              - two
            """
        ''',
        [(2, 6, "d", "Title.\n\n- one\n  - two")],
    ),
    "raw docstrings and escapes": (
        r'''
        def f():
            r"""$\frac{a}{b}$"""
        def g():
            """a\tb"""
        ''',
        [(2, 2, "d", r"$\frac{a}{b}$"), (4, 4, "d", "a       b")],
    ),
    "an empty docstring, a string that is none, an f-string": (
        '''
        def f():
            """"""
        def g():
            pass
            """not the first statement"""
        def h():
            f"""computed"""
        ''',
        [],
    ),
    "comments on consecutive lines are one block": (
        """
        # One,
        #
        # two.
        x = 1
        """,
        [(1, 3, "c", "One,\n\ntwo.")],
    ),
    "an empty line, and another indentation, begin a new block": (
        """
        # One.

        # Two.
        def f():
            # Three.
            pass
            # Four.
        # Five.
        """,
        [(1, 1, "c", "One."), (3, 3, "c", "Two."), (5, 5, "c", "Three."), (7, 7, "c", "Four."),
         (8, 8, "c", "Five.")],
    ),
    "Markdown in comments": (
        """
        # # Heading
        #   - indented
        #no space
        ### ruled ###
        """,
        [(1, 4, "c", "# Heading\n  - indented\nno space\nruled ###")],
    ),
    "docstrings and comments in the order of the source": (
        '''
        # First.
        def f():
            """Second."""
            # Third.
        ''',
        [(1, 1, "c", "First."), (3, 3, "d", "Second."), (4, 4, "c", "Third.")],
    ),
    "words of other tools": (
        """
        #!/usr/bin/env python
        # -*- coding: utf-8 -*-
        # vim: set fileencoding=utf-8
        # noqa: E501
        # NOQA
        # type: ignore
        # fmt: off
        # mypy: strict
        # ruff: noqa
        # pylint: disable=all
        # pragma: no cover
        #type: ignore
        """,
        [],
    ),
    "they end a block": (
        """
        # One.
        # noqa: E501
        # Two.
        """,
        [(1, 1, "c", "One."), (3, 3, "c", "Two.")],
    ),
    "words that begin like those": (
        """
        # noqabcd
        # types are checked
        # codings
        # pragmatic
        """,
        [(1, 4, "c", "noqabcd\ntypes are checked\ncodings\npragmatic")],
    ),
    "comments beside code, or inside a statement": (
        """
        x = 1  # beside
        y = [
            # inside
            1,
        ]
        # below
        f(  # beside
            # inside
        )
        """,
        [(6, 6, "c", "below")],
    ),
    "comments inside a header": (
        """
        def f(
            # the width
            n,
        ):
            # in the body
            if (
                # inside
                n
            ):
                pass
            elif n and (
                # inside
                n
            ):
                pass
        @decorate(
            # inside
        )
        # between
        class A: pass
        """,
        [(5, 5, "c", "in the body"), (19, 19, "c", "between")],
    ),
    "comments in strings": ('x = """\n# inside\n"""\n', []),
    "hidden ones, and such as stand at a hidden statement": (
        """
        def f():
            # ---- a banner ----  @hide
            x = 1
            # shown
            y = 2  # @hide
        """,
        [(4, 4, "c", "shown")],
    ),
    "notes for the speaker, to the end of the comment or an empty line": (
        """
        def f():
            # Prose.
            # @note Ask first.
            # Then wait.
            #
            # Prose again.
            x = 1
            # @note
            # Alone.
        """,
        [(2, 2, "c", "Prose."), (3, 5, "n", "Ask first.\nThen wait."), (6, 6, "c", "Prose again."),
         (8, 9, "n", "Alone.")],
    ),
    "text that is not ASCII": ("# naïve 😀 — ∑\n", [(1, 1, "c", "naïve 😀 — ∑")]),
}  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), PROSE.values(), ids=PROSE)
def test_prose(source, expected):
    assert prose(textwrap.dedent(source).lstrip("\n")) == expected


def test_lines_of_hidden_statements_and_comments():
    source = textwrap.dedent(
        """\
        def main():
            # a  @hide
            x = [  # @hide
                1,
            ]
            for x in x:  # @hide
                pass
            y = 2
        """
    )
    assert hidden_lines(Source("a.py", source).directives) == [[2, 2], [3, 5], [6, 7]]


def tokens_of(source):
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return highlighted(tokens, source.split("\n"))


def pieces(source):
    """Line, text as JavaScript cuts it out, and kind of each highlighted piece."""
    lines = [line.encode("utf-16-le") for line in source.split("\n")]
    flat = tokens_of(source)
    result = []
    for line, column, length, kind in zip(*[iter(flat)] * 4, strict=True):
        text = lines[line - 1][2 * column : 2 * (column + length)].decode("utf-16-le")
        result.append((line, text, TOKEN_KINDS[kind]))
    return result


def said(source):
    """The pieces that are no operators, without their lines, as `text/kind`."""
    return [f"{text}/{kind}" for _, text, kind in pieces(source) if kind != "operator"]


# source, its pieces apart from operators
TOKENS = [
    ("x = y", []),
    ("x = 1_000 + 0x1F + 2.5e-3 + 4j", ["1_000/number", "0x1F/number", "2.5e-3/number",
                                      "4j/number"]),
    ("if x is not None: pass", ["if/keyword", "is/keyword", "not/keyword", "None/keyword",
                              "pass/keyword"]),
    ("match = case = type_ = 1", ["1/number"]),
    ("def f(): pass", ["def/keyword", "f/definition", "pass/keyword"]),
    ("class print: pass", ["class/keyword", "print/definition", "pass/keyword"]),
    ("print(len(x))", ["print/builtin", "len/builtin"]),
    ("x.sum().max() + sum(y)", ["sum/builtin"]),
    ("'a' \"b\" b'c' r'\\d'", ["'a'/string", '"b"/string', "b'c'/string", "r'\\d'/string"]),
    ("f'a {x} b'", ["f'a {x} b'/string"]),
    ("f'{f\"{x}\"}' + f'{x:{y}}'", ["f'{f\"{x}\"}'/string", "f'{x:{y}}'/string"]),
    ("f'{len(x)!r:>{10}}' + rf'\\{x}'", ["f'{len(x)!r:>{10}}'/string", "rf'\\{x}'/string"]),
    ("f'{{no name}}'", ["f'{{no name}}'/string"]),
    ("x = '''a\n\n  b\n  '''", ["'''a/string", "b/string", "'''/string"]),
    ("f'''a {x}\n  {y} b'''", ["f'''a {x}/string", "{y} b'''/string"]),
    ("@cache\ndef f(): pass", ["@/decorator", "cache/decorator", "def/keyword", "f/definition",
                              "pass/keyword"]),
    ("@a.b(max)\ndef f(): pass", ["@/decorator", "a/decorator", "max/builtin", "def/keyword",
                                 "f/definition", "pass/keyword"]),
    ("class A:\n    @p\n    # why\n    @q\n    def f(): pass", [
        "class/keyword", "A/definition", "@/decorator", "p/decorator", "# why/comment",
        "@/decorator", "q/decorator", "def/keyword", "f/definition", "pass/keyword"]),
    ("y = x @ w", []),
    ("y = (x\n     @ w\n     @v)", []),
    ("x  # words", ["# words/comment"]),
    ("x  # @inspect x", ["# @inspect x/directive"]),
    ("x  #@inspect x @clear y", ["#@inspect x @clear y/directive"]),
    ("x  # the sum @inspect x", ["# the sum /comment", "@inspect x/directive"]),
    ("x  # the sum  # @hide @inspect x", ["# the sum  # /comment", "@hide @inspect x/directive"]),
    ("x  # me@inspect.org", ["# me@inspect.org/comment"]),
    ("x  # @author is prose", ["# @author is prose/comment"]),
    ("'# @inspect x'", ["'# @inspect x'/string"]),
    ("x = '😀'  # 😀 a @inspect x", ["'😀'/string", "# 😀 a /comment", "@inspect x/directive"]),
    ("变 = 1  # 量", ["1/number", "# 量/comment"]),
    ("x = '\u2028', '\x0c', 1", ["'\u2028'/string", "'\x0c'/string", "1/number"]),
    ("\x0cx = 1\n\x0cy = 2", ["1/number", "2/number"]),
    ("x = 1 + \\\n    2", ["1/number", "2/number"]),
    ("async def f(): await g()", ["async/keyword", "def/keyword", "f/definition", "await/keyword"]),
    ("", []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), TOKENS)
@pytest.mark.parametrize("end", ["", "\n"], ids=["no newline at the end", "newline"])
def test_tokens(source, expected, end):
    assert said(source + end) == expected


def test_lines_and_columns_of_tokens():
    assert pieces("x = '''😀\n  a'''; y = '😀' + 1\n") == [
        (1, "=", "operator"),
        (1, "'''😀", "string"),
        (2, "a'''", "string"),
        (2, ";", "operator"),
        (2, "=", "operator"),
        (2, "'😀'", "string"),
        (2, "+", "operator"),
        (2, "1", "number"),
    ]
    assert tokens_of("'😀', 1")[4:8] == [1, 4, 1, TOKEN_KINDS.index("operator")]


NAMES = st.text(string.ascii_letters + "_äλ变𝔵", min_size=1).filter(
    lambda name: name.isidentifier() and not keyword.iskeyword(name)
)
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"], exclude_characters="\\'{}"))
PARTS = st.one_of(
    NAMES.map(lambda name: (name, None)),
    TEXTS.map(lambda text: (f"'{text}'", "string")),
    TEXTS.map(lambda text: (f"f'{text}{{x}}'", "string")),
    st.integers(min_value=0).map(lambda number: (str(number), "number")),
    st.sampled_from(["None", "True", "False"]).map(lambda word: (word, "keyword")),
)


@given(
    st.lists(st.lists(PARTS, min_size=1), min_size=1), TEXTS.filter(lambda text: "@" not in text)
)
def test_tokens_cut_out_exactly_their_text(rows, comment):
    """Lines of tuples, a comment at the end of each."""
    comment = f"# {comment.replace('#', '')}".rstrip()
    source, expected = "", []
    for number, parts in enumerate(rows, 1):
        source += "; ".join(f"{text} ," for text, _ in parts) + f"  {comment}\n"
        for index, (text, kind) in enumerate(parts):
            kind = kind or ("builtin" if is_builtin(text) else None)
            expected += [(number, ";", "operator")] * bool(index)
            expected += [(number, text, kind)] * bool(kind) + [(number, ",", "operator")]
        expected.append((number, comment, "comment"))
    assert pieces(source) == expected


def is_builtin(name):
    return said(name) == [f"{name}/builtin"]


# the source -> the line and the escape that is named
MISREAD = [
    ('def f():\n    """A title.\n\n    $\\frac{1}{2}$"""', "a.py:4: Python reads \\f in"),
    ('"""$\\theta$ and $\\beta$"""', "a.py:1: Python reads \\t in"),
    ('class A:\n    "$\\nabla$"', "a.py:2: Python reads \\n in"),
    ('"""$\\\\\\frac$"""', "a.py:1: Python reads \\f in"),
]
READ_AS_WRITTEN = [
    'r"""$\\frac{1}{2}$"""',
    'R"$\\frac{1}{2}$"',
    '"""$\\\\frac{1}{2}$"""',
    '"""$\\dots \\sqrt{2}$ caf\\xe9"""',
    "def f():\n    # $\\frac{1}{2}$\n    x = '\\f'",
]


@pytest.mark.parametrize(("source", "complaint"), MISREAD)
def test_a_docstring_that_python_changes_is_named(source, complaint):
    (found,) = misread_docstrings(Source("a.py", source))
    assert found.startswith(complaint)


@pytest.mark.filterwarnings("ignore:invalid escape sequence")
@pytest.mark.parametrize("source", READ_AS_WRITTEN)
def test_a_docstring_that_is_read_as_written_is_not(source):
    assert list(misread_docstrings(Source("a.py", source))) == []


REPOSITORY = Path(__file__).parent.parent


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"], ids=repr)
@pytest.mark.parametrize("path", ["trace/rewrite/syntax.py", "tests/test_source.py"])
def test_segments_are_those_of_python(path, ending):
    source = (REPOSITORY / path).read_text(encoding="utf-8").replace("\n", ending)
    lines = SourceLines(source)
    nodes = [n for n in ast.walk(ast.parse(source)) if isinstance(n, ast.expr | ast.stmt)][::3]
    assert len(nodes) > 100
    for node in nodes:
        assert lines.segment(node) == ast.get_source_segment(source, node)


def test_a_very_long_line() -> None:
    numbers = ",".join(map(str, range(20_000)))
    assert len(tokens_of(f"x = [{numbers}]\n")) == 4 * (2 * 20_000 + 2)


def test_a_source_is_tokenised_and_parsed_once(monkeypatch):
    counts = {"generate_tokens": 0, "parse": 0}

    def count(module, name):
        original = getattr(module, name)

        def counting(*arguments, **options):
            counts[name] += 1
            return original(*arguments, **options)

        monkeypatch.setattr(module, name, counting)

    count(tokenize, "generate_tokens")
    count(ast, "parse")
    trace_source("def main():  # T1\n    # Prose.\n    x = 1  # @inspect x\n    assert x == 1")
    assert counts == {"generate_tokens": 1, "parse": 1}
