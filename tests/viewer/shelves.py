"""Which module of the viewer imports which, read from their sources."""

import graphlib
import json
import re
from pathlib import Path

VIEWER = Path(__file__).parents[2] / "viewer"
SHELVES = ("model", "state", "parts", "views")
"""A shelf imports from itself and from those before it."""

_COMMENT = re.compile(r"/\*.*?\*/|^\s*//.*?$", re.DOTALL | re.MULTILINE)
_STATIC = re.compile(r'(?:\bfrom|\bimport)\s*"([^"]+)"')
_DYNAMIC = re.compile(r'\bimport\(\s*"([^"]+)"\s*,?\s*\)')


def own_modules() -> list[str]:
    """Paths of the viewer's own modules below its folder."""
    paths = (path.relative_to(VIEWER) for path in VIEWER.rglob("*.js"))
    return sorted(path.as_posix() for path in paths if path.parts[0] != "vendor")


def imports_of(module: str, *, dynamic: bool = True) -> list[str]:
    """The files that a module imports, as paths below the viewer's folder."""
    text = _COMMENT.sub("", (VIEWER / module).read_text(encoding="utf-8"))
    names = _STATIC.findall(text) + (_DYNAMIC.findall(text) if dynamic else [])
    return [path_of(name) for name in names]


def path_of(name: str) -> str:
    """The file that a name in an import leads to: the import map decides."""
    page = (VIEWER / "index.html").read_text(encoding="utf-8")
    found = re.search(r'<script type="importmap">(.*?)</script>', page, re.DOTALL)
    assert found
    places = json.loads(found[1])["imports"]
    return places.get(name, name).removeprefix("viewer/").removeprefix("./")


def needed_by(module: str) -> list[str]:
    """The files that a browser fetches before it runs a module, in the order of the imports."""
    found: list[str] = []
    for path in imports_of(module, dynamic=False):
        if path not in found:
            found += [path, *needed_by(path)]
    return list(dict.fromkeys(found))


def upward(graph: dict[str, list[str]]) -> list[str]:
    """The imports that lead from a shelf to a higher one, or off the shelves."""
    order = {shelf: height for height, shelf in enumerate(SHELVES)}

    def height(path: str) -> int:
        return order.get(path.partition("/")[0], len(SHELVES))

    return [
        f"{module} imports {path}"
        for module, paths in graph.items()
        for path in paths
        if not path.startswith("vendor/") and height(path) > height(module)
    ]


def circle(graph: dict[str, list[str]]) -> list[str]:
    """Modules that import each other in a circle, or nothing."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


_EXPORT = re.compile(r"^export (?:async )?(?:function|const|let|class) (\w+)", re.MULTILINE)


def exports_nobody_imports() -> list[str]:
    """Names that a module exports and that neither another one nor a test asks for."""
    sources = {path: (VIEWER / path).read_text(encoding="utf-8") for path in own_modules()}
    tests = [path for path in Path(__file__).parent.iterdir() if path.suffix in (".js", ".py")]
    texts = sources | {str(path): path.read_text(encoding="utf-8") for path in tests}
    return [
        f"{path} {name}"
        for path, source in sources.items()
        for name in _EXPORT.findall(source)
        if not any(
            re.search(rf"\bimport\b[^;]*\b{name}\b[^;]*\bfrom\b|\)\.{name}\b|{{ {name}\b", text)
            for other, text in texts.items()
            if other != path
        )
    ]
