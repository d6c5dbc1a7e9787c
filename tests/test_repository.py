"""The repository about itself: pinned versions, who imports whom, what is committed."""

import ast
import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import trace

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def pins(text):
    """The versions that a constraints file gives, by name."""
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    return dict(line.split("==") for line in lines)


def needed(requirement):
    """An installed package and all it needs on this machine, as canonical names."""
    todo, seen = [Requirement(requirement)], set()
    while todo:
        name = canonicalize_name(todo.pop().name)
        if name in seen:
            continue
        seen.add(name)
        found = map(Requirement, metadata.requires(name) or [])
        todo += [one for one in found if one.marker is None or one.marker.evaluate({"extra": ""})]
    return seen


PINS = pins((ROOT / "constraints.txt").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
DIRECT = {
    group: [one for one in members if isinstance(one, str)] for group, members in GROUPS.items()
}


@pytest.mark.parametrize("requirement", DIRECT["lecture"] + DIRECT["test"])
def test_everything_that_is_installed_is_pinned(requirement):
    assert needed(requirement) - PINS.keys() == set()


def test_what_a_package_brings_along_is_among_what_is_needed():
    assert needed("jsonschema") >= {"jsonschema", "referencing", "rpds-py", "attrs"}


@pytest.mark.parametrize("requirement", DIRECT["lint"])
def test_the_linters_are_pinned(requirement):
    assert canonicalize_name(Requirement(requirement).name) in PINS


@pytest.mark.parametrize("name", PINS)
def test_a_pin_is_one_exact_version_that_every_platform_has(name):
    assert name == canonicalize_name(name)
    assert re.fullmatch(r"\d+(\.\d+)*", PINS[name])


def test_versions_agree():
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"## [{trace.__version__}]" in changelog
    assert f"\nversion: {trace.__version__}\n" in citation
    assert f"typeguard=={PINS['typeguard']}" in GROUPS["lecture"]


PACKAGES = re.compile(r"\bimport (?:torch|numpy)\b")
BARE = re.search(r"^for name in (.+); do$", (ROOT / ".ci/pythons").read_text("utf-8"), re.MULTILINE)


def without_a_word(source):
    """The tests that import torch or numpy, themselves or in a text of theirs, and say so to no one
    who has neither."""
    parts, lines = {}, source.splitlines(keepends=True)
    for one in ast.parse(source).body:
        if isinstance(one, (ast.Assign, ast.FunctionDef)):
            names = (
                [one.name] if isinstance(one, ast.FunctionDef) else map(ast.unparse, one.targets)
            )
            start = min([one, *getattr(one, "decorator_list", [])], key=lambda part: part.lineno)
            parts |= dict.fromkeys(names, "".join(lines[start.lineno - 1 : one.end_lineno]))

    def whole(name, seen):
        """Its source, and that of what it names."""
        if name in seen:
            return ""
        seen.add(name)
        others = parts.keys() & set(re.findall(r"\w+", parts[name]))
        return parts[name] + "".join(whole(other, seen) for other in others)

    tests = {name: whole(name, set()) for name in parts if name.startswith("test_")}
    return [
        name
        for name, text in tests.items()
        if PACKAGES.search(text) and 'importorskip("torch")' not in text
    ]


@pytest.mark.parametrize("name", BARE[1].split())
def test_what_other_pythons_run_needs_no_torch(name):
    """`.ci/pythons` runs these where neither is installed, an hour into the checks."""
    source = (ROOT / f"tests/test_{name}.py").read_text(encoding="utf-8")
    assert without_a_word(source) == []


def test_a_test_that_needs_torch_without_a_word_is_found():
    source = """
TEXT = "def main():\\n    import torch"
def helper(): return TEXT
def test_plain(): pass
def test_by_itself(): import numpy
def test_by_a_text(): assert TEXT
def test_by_a_helper(): helper()
@parametrize(TEXT)
def test_by_a_decorator(): pass
def test_with_a_word(): pytest.importorskip("torch"); helper()
"""
    found = ["by_itself", "by_a_text", "by_a_helper", "by_a_decorator"]
    assert without_a_word(source) == [f"test_{name}" for name in found]


def imports(source):
    """The modules that a source imports, with leading dots where it says so relatively."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield "." * node.level + node.module
        elif isinstance(node, ast.ImportFrom):
            yield from ("." * node.level + alias.name for alias in node.names)


def first_parts(folder):
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / folder).rglob("*.py"))
    return {name.split(".")[0] for source in sources for name in imports(source)}


def test_the_tracer_imports_itself_relatively_and_no_lecture():
    assert first_parts("trace") & {"trace", "lecture", "tests", "benchmarks"} == set()


def test_the_lecture_imports_neither_tests_nor_benchmarks():
    assert first_parts("lecture") & {"tests", "benchmarks"} == set()


def test_relative_and_absolute_imports_are_told_apart():
    source = "import trace.a\nfrom .b import c\nfrom d import e\nfrom .. import f, g"
    assert list(imports(source)) == ["trace.a", ".b", "d", "..f", "..g"]


ROOMS = ("rewrite", "meter", "said", "record", "document", "foreign", "serve")  # from below
COMMAND = (
    "aliases",
    "arguments",
    "cli",
    "costs",
    "import_and_convert",
    "pytest_claims",
    "pytest_plugin",
)  # above them


def floor(module):
    first = module.split(".")[0]
    return ROOMS.index(first) + 1 if first in ROOMS else (len(ROOMS) + 1) * (first in COMMAND)


def upward_imports(folder):
    """Imports of a room or file by one that stands below it, those inside functions too."""
    for file in sorted(folder.rglob("*.py")):
        module = file.relative_to(folder).with_suffix("").as_posix().replace("/", ".")
        for name in imports(file.read_text(encoding="utf-8")):
            level = len(name) - len(name.lstrip("."))
            there = ".".join([*module.split(".")[:-level], name.lstrip(".")]) if level else ""
            if floor(module) < floor(there):
                yield f"{module} imports {there}"


def test_a_room_of_the_tracer_imports_only_rooms_below_it():
    assert list(upward_imports(ROOT / "trace")) == []
    rooms = {path.parent.name for path in (ROOT / "trace").glob("*/__init__.py")}
    assert rooms == set(ROOMS)


@pytest.mark.parametrize("room", ["", *ROOMS])
def test_the_map_of_a_room_has_all_its_files(room):
    folder = ROOT / "trace" / room
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8")))
    named = set(re.findall(r"\w+", docstring))
    assert {file.stem for file in folder.glob("*.py")} - {"__init__"} - named == set()
    if room:
        entries = set(re.findall(r"^(\w+)  +\S", docstring, re.MULTILINE))
        assert entries == {file.stem for file in folder.glob("*.py")} - {"__init__"}


def test_imports_of_rooms_above_are_found(tmp_path):
    files = {
        "record/run.py": "def f():\n    from .. import costs",
        "record/limits.py": "from .run import f\nfrom ..meter.switch import metered\nimport sys",
        "errors.py": "from .serve import library",
        "cli.py": "from .serve.server import serve",
    }
    for name, source in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(source)
    assert list(upward_imports(tmp_path)) == [
        "errors imports serve",
        "record.run imports costs",
    ]


# a path -> whether git leaves it out
IGNORED = [
    (".venv/bin/python", True),
    ("node_modules/typescript/package.json", True),
    ("trace/__pycache__/costs.cpython-311.pyc", True),
    ("viewer/traces/mine.json", True),
    ("viewer/traces/mine.local.json", True),
    ("viewer/traces/index.local.json", True),
    ("viewer/traces/lecture.main.json", False),
    ("viewer/traces/index.json", False),
    ("tests/golden/loop.json", False),
]


@pytest.mark.parametrize(("path", "ignored"), IGNORED)
def test_only_what_is_published_is_committed(path, ignored, tmp_path):
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    found = subprocess.run(["git", "check-ignore", "--quiet", path], cwd=tmp_path)
    assert (found.returncode == 0) is ignored
