"""What a converted lecture imports no more."""

import ast
from pathlib import Path

from ..said.libraries import OWN, SPEAKERS, speaks

_LIBRARIES = ("edtrace", "lectrace", OWN)


def without_unused_imports(text: str, folder: Path) -> str:
    """Take out what is imported from the tools, and from modules of this folder that speak by them,
    and is used no more."""
    tree = ast.parse(text)
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    lines: list[str | None] = [*text.split("\n")]
    for node in tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        kept = [alias for alias in node.names if _is_needed(node, alias, used, folder)]
        if len(kept) < len(node.names):
            lines[node.lineno - 1] = _written(node, kept) if kept else None
            for line in range(node.lineno, node.end_lineno or node.lineno):
                lines[line] = None
    return "\n".join(line for line in lines if line is not None).lstrip("\n")


def _is_needed(
    node: ast.Import | ast.ImportFrom, alias: ast.alias, used: set[str], folder: Path
) -> bool:
    module = alias.name if isinstance(node, ast.Import) else node.module or ""
    first = module.partition(".")[0]
    if first not in _LIBRARIES and not speaks(folder / f"{first}.py"):
        return True
    if alias.name == "*":
        return not used.isdisjoint(SPEAKERS) or first not in _LIBRARIES
    return (alias.asname or alias.name).partition(".")[0] in used


def _written(node: ast.Import | ast.ImportFrom, names: list[ast.alias]) -> str:
    if isinstance(node, ast.Import):
        return ast.unparse(ast.Import(names))
    return ast.unparse(ast.ImportFrom(node.module, names, node.level))
