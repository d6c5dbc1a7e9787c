"""Which tool a lecture was written for, and which files of it are recorded."""

import ast
import re
from pathlib import Path

STAND_INS = frozenset(
    {
        *("edtrace", "edtrace.execute_util", "edtrace.file_util", "edtrace.reference"),
        *("edtrace.arxiv_util", "lectrace", "lectrace.renderings", "lectrace.reference"),
        "lectrace.files",
    }
)
"""Modules that we stand in for."""
OWN = "execute_util"
"""The module of a lecture that has functions of its own."""
_SPEAKING = {"edtrace", "lectrace", OWN}
SPEAKERS = (
    *("text", "image", "video", "audio", "link", "note", "plot", "graph", "table", "iframe"),
    *("code_cell", "system_text", "space"),
)
"""Functions that say something."""
_IMPORTED = re.compile(r"^(?:from|import)[ \t]+(\w+)", re.MULTILINE)
"""A module that a file imports on its top level."""


def speaks(file: Path) -> bool:
    """Tell whether a lecture says things by calling: whether it, or a module beside it that it
    imports, imports one of the tools."""
    return any(not _libraries_of(one).isdisjoint(_SPEAKING) for one in (file, *_beside(file)))


def _beside(file: Path) -> list[Path]:
    """The modules in the folder of a lecture that it imports."""
    try:
        names = _IMPORTED.findall(file.read_text("utf-8"))
    except (OSError, ValueError):  # said when it is imported
        return []
    found = (file.with_name(f"{name}.py") for name in dict.fromkeys(names))
    return [one for one in found if one.is_file()]


def is_part(file: Path) -> bool:
    """Tell whether a file beside such a lecture is a part of it, and no helper: it speaks in
    functions that take nothing, and has no `main()`."""
    if _libraries_of(file).isdisjoint(_SPEAKING):
        return False
    functions = [node for node in _tree(file).body if isinstance(node, ast.FunctionDef)]
    names = {function.name for function in functions}
    return "main" not in names and any(
        not any(ast.iter_child_nodes(function.args)) and _says_something(function)
        for function in functions
    )


def _says_something(function: ast.FunctionDef) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in SPEAKERS
        for node in ast.walk(function)
    )


def _libraries_of(file: Path) -> set[str]:
    """The names of the packages that a file imports on its top level."""
    found: set[str] = set()
    for node in _tree(file).body:
        if isinstance(node, ast.Import):
            found.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def _tree(file: Path) -> ast.Module:
    """The syntax tree of a file that may import one of the tools; else an empty one."""
    try:
        source = file.read_bytes()
        if any(name.encode() in source for name in _SPEAKING):
            return ast.parse(source)
    except (OSError, SyntaxError, ValueError):  # said when it is imported
        pass
    return ast.Module([], [])
