"""How the house is built: modules, arrows, floors, circles and sizes of functions, for each part.

    python -m benchmarks.house            this checkout
    python -m benchmarks.house FOLDER     another one, such as an older commit's

An arrow is an import of one module of a part by another, those inside functions and dynamic ones
included. A module's floor is one above the highest it imports; modules that import each other in a
circle share one. Sizes of functions are in lines, docstring included; those of the viewer are read
by acorn, which the linter brings (`npm ci`), in Node.js.
"""

import ast
import json
import posixpath
import re
import shutil
import statistics
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

from benchmarks.arguments import existing_folder, parser_of

ROOT = Path(__file__).parent.parent
PYTHON_PARTS = ("trace", "lecture", "tests", "benchmarks")
Graph = dict[str, set[str]]


def module_name(path: Path, root: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def nodes_of_the_module(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those of `if __name__ == "__main__":`, which is a program of its own."""
    yield node
    if not (isinstance(node, ast.If) and ast.unparse(node.test) == "__name__ == '__main__'"):
        for child in ast.iter_child_nodes(node):
            yield from nodes_of_the_module(child)


def python_imports(tree: ast.AST, name: str, is_package: bool) -> Iterator[str]:
    """Every name that might be a module, wherever it is imported."""
    for node in nodes_of_the_module(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = name.split(".")[: -node.level or None] if node.level else []
            if node.level and is_package:
                base = name.split(".")[: 1 - node.level or None]
            start = ".".join([*base, *(node.module or "").split(".")]).strip(".")
            yield from (f"{start}.{alias.name}" for alias in node.names)
            yield start


def python_graph(root: Path, part: str) -> Graph:
    """Who imports whom; a name of a module stands for that module."""
    paths = {module_name(path, root): path for path in sorted((root / part).rglob("*.py"))}
    graph: Graph = {}
    for name, path in paths.items():
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found = set(python_imports(tree, name, path.name == "__init__.py"))
        # `from .a import b` names both a and a.b: the longer one, if it is a module, is meant.
        packages = {one.rpartition(".")[0] for one in found & paths.keys()} - {""}
        graph[name] = (found & paths.keys()) - packages - {name}
    return graph


def viewer_graph(root: Path) -> Graph:
    folder = root / "viewer"
    paths = [path for path in sorted(folder.rglob("*.js")) if "vendor" not in path.parts]
    names = {path.relative_to(folder).as_posix(): path for path in paths}
    pattern = re.compile(r"""(?:from|import)\s*\(?\s*["'](viewer/|\.{1,2}/)([^"']+)["']""")
    graph: Graph = {}
    for name, path in names.items():
        found = pattern.findall(path.read_text(encoding="utf-8"))
        relative = {
            posixpath.normpath(f"{name}/../{start}{rest}") if start[0] == "." else rest
            for start, rest in found
        }
        graph[name] = {target for target in relative if target in names} - {name}
    return graph


def circles(graph: Graph) -> list[set[str]]:
    """The sets of modules that reach each other (Tarjan's strongly connected components)."""
    reach = {name: reachable(graph, name) for name in graph}
    found = []
    for name in graph:
        circle = {other for other in reach[name] if name in reach[other]}
        if circle and circle not in found:
            found.append(circle)
    return found


def reachable(graph: Graph, start: str) -> set[str]:
    seen: set[str] = set()
    todo = [*graph[start]]
    while todo:
        name = todo.pop()
        if name not in seen:
            seen.add(name)
            todo += graph[name]
    return seen


def floors(graph: Graph) -> int:
    """The number of floors; a circle is on one."""
    together = {name: frozenset([name]) for name in graph}
    together |= {name: frozenset(circle) for circle in circles(graph) for name in circle}
    heights: dict[frozenset[str], int] = {}

    def height(group: frozenset[str]) -> int:
        if group not in heights:
            below = {together[target] for name in group for target in graph[name]} - {group}
            heights[group] = 1 + max((height(one) for one in below), default=0)
        return heights[group]

    return max((height(group) for group in together.values()), default=0)


def rooms_of(graph: Graph, separator: str) -> Graph:
    """The same with folders for modules: a file at the top of a part is a room of its own."""
    first = 1 if separator == "." else 0  # names of Python modules begin with the part's

    def room(name: str) -> str:
        parts = name.split(separator)
        return parts[first] if len(parts) > first else name

    result: Graph = {room(name): set() for name in graph}
    for name, targets in graph.items():
        result[room(name)] |= {room(target) for target in targets} - {room(name)}
    return result


def python_sizes(folder: Path) -> list[int]:
    nodes = (
        node
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    )
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [node.end_lineno - node.lineno + 1 for node in nodes if isinstance(node, functions)]


VIEWER_SIZES = """
const { parse } = require("acorn"), fs = require("fs");
const sizes = [];
const visit = (node) => {
  if (node === null || typeof node !== "object") return;
  if (/Function/.test(node.type)) sizes.push(node.loc.end.line - node.loc.start.line + 1);
  Object.values(node).forEach(visit);
};
for (const path of process.argv.slice(1)) {
  const options = { ecmaVersion: "latest", sourceType: "module", locations: true };
  visit(parse(fs.readFileSync(path, "utf-8"), options));
}
console.log(JSON.stringify(sizes));
"""


def viewer_sizes(root: Path) -> list[int]:
    paths = [path for path in (root / "viewer").rglob("*.js") if "vendor" not in path.parts]
    command = ["node", "-e", VIEWER_SIZES, *map(str, paths)]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [size for size in json.loads(said) if size > 1]  # without those of a part of a line


def sizes_in_words(sizes: Iterable[int]) -> str:
    ordered = sorted(sizes)
    over = sum(size > 60 for size in ordered)
    return (
        f"{len(ordered):6,} {statistics.median(ordered):6.0f} "
        f"{ordered[int(len(ordered) * 0.9)]:4} {ordered[-1]:5} {over:8}"
    )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=existing_folder, default=ROOT, help="a checkout")
    root = parser.parse_args().folder
    if missing := [part for part in (*PYTHON_PARTS, "viewer") if not (root / part).is_dir()]:
        parser.error(f"{root} is no checkout of this project: it lacks {', '.join(missing)}")
    if shutil.which("node") is None:
        parser.error("the sizes in the viewer are read in Node.js, which is not here")
    print("part       modules  arrows  floors  circles (largest)   rooms  arrows  floors  circles")
    graphs = {part: (python_graph(root, part), ".") for part in ("trace", "lecture")}
    graphs["viewer"] = (viewer_graph(root), "/")
    for part, (graph, separator) in graphs.items():
        rooms = rooms_of(graph, separator)
        found, of_rooms = circles(graph), circles(rooms)
        largest = max(map(len, found), default=0)
        arrows, room_arrows = (sum(map(len, one.values())) for one in (graph, rooms))
        print(
            f"{part:10} {len(graph):7} {arrows:7} {floors(graph):7} {len(found):8} ({largest:2})"
            f"{len(rooms):14} {room_arrows:7} {floors(rooms):7} {len(of_rooms):8}"
        )
    print("\npart       functions median  p90   max  over 60")
    for part in PYTHON_PARTS:
        print(f"{part:12}{sizes_in_words(python_sizes(root / part))}")
    print(f"{'viewer':12}{sizes_in_words(viewer_sizes(root))}")


if __name__ == "__main__":
    main()
