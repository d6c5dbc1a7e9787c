"""From what was heard to rows of the document, and to prose where calls do nothing else."""

import ast
import dataclasses
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Set

from ..events import Place
from ..rewrite.rows import Tables
from ..schema import Document, Function, Prose, Said, Value
from .libraries import SPEAKERS
from .paragraphs import PARAGRAPH
from .pieces import fenced

_HEADING = re.compile(r"#{1,6} +([^\n]+)")


def place_said(rows: Iterable[tuple[int, int]], places: Mapping[int, Place]) -> Said:
    """Return the rows of what was heard: (at, value). What the lecture said while it was imported,
    before the first step, is said with that one."""
    said = Said()
    for at, value in rows:
        said.step.append(max(0, places[at].step))
        said.at.append(at)
        said.value.append(value)
    return said


def join_verbatim(said: Said, values: list[Value]) -> None:
    """Make one block of the verbatim lines that one statement says one after the other."""
    joined = Said()
    lines: list[str] = []

    def end() -> None:
        if lines:
            values.append({"type": "text", "markdown": fenced("\n".join(lines))})
            joined.value[-1] = len(values) - 1
            lines.clear()

    for step, at, value in zip(said.step, said.at, said.value, strict=True):
        is_verbatim = values[value]["type"] == "verbatim"
        if not (is_verbatim and lines and joined.step[-1] == step):
            end()
            joined.step.append(step)
            joined.at.append(at)
            joined.value.append(value)
        if is_verbatim:
            lines.append(values[value]["text"])
    end()
    said.step, said.at, said.value = joined.step, joined.at, joined.value


def mark_prose(document: Document, tables: Tables, events: list[int]) -> None:
    """Let statements that only say something be prose, and give titles to functions and document
    that begin by saying a heading, or else their names in words."""
    steps = [event for event in events if event > 0]
    moments = zip(document.said.step, document.said.at, document.said.value, strict=True)
    speaking = {
        step for step, at, value in moments if at and document.values[value]["type"] != PARAGRAPH
    }
    executions = Counter(steps)
    spoke = Counter(steps[step] for step in speaking)
    by_file: dict[int, list[Prose]] = defaultdict(list)
    for_speaking = [_lines_for_speaking(file.source) for file in document.files]
    for number, row in enumerate(tables.statements, 1):
        is_call = row.kind in ("call", "expression")
        if row.first_line in for_speaking[row.file]:
            is_prose = is_call or (row.kind in ("return", "assign") and spoke[number] > 0)
        else:
            is_prose = is_call and number in spoke and executions[number] == spoke[number]
        if is_prose:
            by_file[row.file].append(Prose(row.first_line, row.last_line, "call", ""))
    for index, blocks in by_file.items():
        file = document.files[index]
        lines = {line for block in blocks for line in range(block.first_line, block.last_line + 1)}
        document.files[index] = dataclasses.replace(
            file,
            prose=sorted([*file.prose, *blocks], key=lambda block: block.first_line),
            # What a hidden line says is shown all the same.
            hidden=[pair for pair in file.hidden if not lines.intersection(range(*_open(pair)))],
        )
    _give_titles(document, events)


def _lines_for_speaking(source: str) -> set[int]:
    """Return the first lines of the statements that are there to say something: they are no code
    either where they did not run, or had nothing to say.

    >>> _lines_for_speaking("if x: text('a'), graph(None)\\nelse: y.text()\\nreturn text('b')")
    {1, 3}
    >>> _lines_for_speaking("x = text('a')\\n_ = text('b')\\nx and text('c') if y else None")
    {2, 3}
    """
    tree = ast.parse(source)
    own = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
    speakers = {*SPEAKERS} - own
    return {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr | ast.Return | ast.Assign)
        if not isinstance(node, ast.Assign) or [*map(ast.unparse, node.targets)] == ["_"]
        if node.value and _only_speaks(node.value, speakers)
    }


def _only_speaks(node: ast.expr, speakers: Set[str]) -> bool:
    """Whether an expression is there for what it says, and its value is nothing."""
    match node:
        case ast.Call(func=ast.Name(id=name)):
            return name in speakers
        case ast.Tuple(elts=[_, *_] as parts) | ast.List(elts=[_, *_] as parts):
            return all(_only_speaks(part, speakers) for part in parts)
        case ast.ListComp(elt=part) | ast.BoolOp(values=[*_, part]):
            return _only_speaks(part, speakers)
        case (
            ast.IfExp(body=one, orelse=ast.Constant()) | ast.IfExp(body=ast.Constant(), orelse=one)
        ):
            return _only_speaks(one, speakers)
        case ast.IfExp(body=one, orelse=other):
            return _only_speaks(one, speakers) and _only_speaks(other, speakers)
    return False


def _open(pair: list[int]) -> tuple[int, int]:
    return pair[0], pair[1] + 1


def _give_titles(document: Document, events: list[int]) -> None:
    steps = [event for event in events if event > 0]
    root = next((-event - 1 for event in events if event < 0), 0)
    titles: dict[int, str] = {}
    begins: str | None = None
    said = document.said
    for step, at, value in zip(said.step, said.at, said.value, strict=True):
        if at:
            text = document.values[value].get("markdown", "")
            heading = _HEADING.match(text)
            title = heading[1].strip() if heading else ""
            titles.setdefault(document.statements[steps[step] - 1].function, title)
            begins = (title if text.startswith("# ") else "") if begins is None else begins
    titles.setdefault(root, "")
    for index, title in titles.items():
        function = document.functions[index]
        if not title and index == root:
            title = words_of(document.module.rpartition(".")[2])
        elif not title and _is_section(document, function):
            title = words_of(function.name)
        if title and not function.title:
            document.functions[index] = dataclasses.replace(function, title=title)
    if document.title == document.module:
        document.title = begins or document.functions[root].title


def words_of(name: str) -> str:
    """A name as a title.

    >>> words_of("kernel_fusion")
    'Kernel fusion'
    """
    words = " ".join(name.split("_")).strip()
    return words[:1].upper() + words[1:]


def _is_section(document: Document, function: Function) -> bool:
    """Whether a function takes nothing and stands by itself."""
    line = document.files[function.file].source.splitlines()[function.line - 1]
    return "." not in function.name and bool(re.match(r"(async )?def \w+\(\)", line))


def is_title_of_name(function: Function, document: Document) -> bool:
    """Whether the title of a function is its name in words, or the root's that of its module."""
    names = (function.name, document.module.rpartition(".")[2])
    return function.title in map(words_of, names)
