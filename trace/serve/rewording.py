"""A lecture whose text alone has changed: its document can be told without a run.

Comments and docstrings are no code, so what was recorded still holds, a few lines further up or
down. Whatever else has changed, or might be noticed by the lecture, asks for a run.
"""

import ast
import copy
import dataclasses
import importlib.util
import re
from pathlib import Path

from ..document.build import assertion_of, told
from ..document.data import fingerprints
from ..document.unused import files_in_which_something_ran
from ..errors import LectureError
from ..rewrite.instrument import instrument
from ..rewrite.prose import misread_docstrings
from ..rewrite.quotes import quotes_elsewhere
from ..rewrite.rows import Site, Tables
from ..rewrite.source import Source
from ..schema import Assertion, Document, Function, Quotes, Statement
from ..target import Target, file_of

_LOOKS_AT_ITSELF = re.compile(r"__doc__|getdoc|getsource|lineno|linecache|traceback")
"""What a lecture says that may compute with its own text."""


@dataclasses.dataclass
class _File:
    """A source as the tracer reads it."""

    source: Source
    tables: Tables
    code: str
    """Its tree with what is recorded, without docstrings and places."""
    warnings: list[str]


def reworded(document: Document, target: Target) -> Document | None:
    """Return the document as a run would write it now, or None where only a run can tell."""
    is_elsewhere = any("file" in asset for asset in document.assets.values())
    if document.failure or document.said.step or is_elsewhere:
        return None
    if document.data != fingerprints(list(document.data), target.root):
        return None
    try:
        texts = [_text_of(target.root / file.path) for file in document.files]
        if any(map(_LOOKS_AT_ITSELF.search, texts)):
            return None
        return _with_texts(document, texts, target)
    except (LectureError, OSError, SyntaxError, ValueError):
        return None


def _text_of(path: Path) -> str:
    return importlib.util.decode_source(path.read_bytes())


def _with_texts(document: Document, texts: list[str], target: Target) -> Document | None:
    old = [_read(file.path, file.source) for file in document.files]
    new = [
        before if text == before.source.text else _read(before.source.path, text)
        for before, text in zip(old, texts, strict=True)
    ]
    if not all(map(_runs_alike, old, new)):
        return None
    functions = _functions(new)
    before = told([file.source for file in old], document.functions, target.root, whole=True)
    if document.warnings != before[2] or any(file.warnings for file in new):
        return None  # others name lines, and only the run knew why
    if document.functions != _functions(old) or document.statements != _statements(document, old):
        return None
    sources = [file.source for file in new]
    files, assets, warnings = told(sources, functions, target.root, whole=True)
    ran = files_in_which_something_ran(document)
    return dataclasses.replace(
        document,
        title=_title(new, target),
        files=[
            file if index in ran else dataclasses.replace(file, prose=[], tokens=[], hidden=[])
            for index, file in enumerate(files)
        ],
        statements=_statements(document, new),
        functions=functions,
        assertions=_assertions(document, new, ran),
        quotes=_quotes(document, old, new),
        assets=assets,
        warnings=warnings,
    )


def _read(path: str, text: str) -> _File:
    source, tables = Source(path, text), Tables()
    tree = instrument(source, tables, reads_locals=True)
    warnings = [*tables.warnings, *misread_docstrings(source), *quotes_elsewhere(source)]
    return _File(source, tables, ast.dump(_without_docstrings(tree)), warnings)


def _without_docstrings(tree: ast.Module) -> ast.Module:
    tree = copy.deepcopy(tree)
    documented = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            del node.body[0]
    return tree


def _runs_alike(old: _File, new: _File) -> bool:
    """Tell whether two texts are of the same code with the same marks."""
    if old is new:
        return True
    return old.code == new.code and [*map(_asked, old.tables.sites)] == [
        *map(_asked, new.tables.sites)
    ]


def _asked(site: Site) -> Site:
    """What is read there, wherever it stands."""
    quote = site.quote and (0, 0, *site.quote[2:])
    return dataclasses.replace(site, quote=quote)


def _functions(files: list[_File]) -> list[Function]:
    return [
        dataclasses.replace(row, file=index)
        for index, file in enumerate(files)
        for row in file.tables.functions
    ]


def _statements(document: Document, files: list[_File]) -> list[Statement]:
    """The statements of the document with the lines that they have in these files."""
    ran = files_in_which_something_ran(document)
    rows = [row for index in sorted(ran) for row in files[index].tables.statements]
    return [
        old._replace(first_line=row.first_line, last_line=row.last_line)
        for old, row in zip(document.statements, rows, strict=True)
    ]


def _assertions(document: Document, files: list[_File], ran: set[int]) -> list[Assertion]:
    rows = [
        row for index in sorted(ran) for _, row in sorted(files[index].tables.assertions.items())
    ]
    return [
        assertion_of(old["statement"], row)
        for old, row in zip(document.assertions, rows, strict=True)
    ]


def _quotes(document: Document, old: list[_File], new: list[_File]) -> Quotes:
    """What stood for names in prose, where the prose stands now."""
    lines = {
        (index, was.quote[1]): now.quote[1]
        for index, (before, after) in enumerate(zip(old, new, strict=True))
        for was, now in zip(before.tables.sites, after.tables.sites, strict=True)
        if was.quote and now.quote
    }
    quotes = document.quotes
    places = zip(quotes.file, quotes.line, strict=True)
    return dataclasses.replace(quotes, line=[lines[place] for place in places])


def _title(files: list[_File], target: Target) -> str:
    """The title of the lecture, as its run takes it from docstrings."""
    own = file_of(target).relative_to(target.root).as_posix()
    [tree] = [file.source.tree for file in files if file.source.path == own]
    mains = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "main"
    ]
    texts = [*(ast.get_docstring(node) for node in mains[-1:]), ast.get_docstring(tree)]
    titles = ((text or "").strip().partition("\n")[0].removesuffix(".") for text in texts)
    return next(filter(None, titles), target.module)
