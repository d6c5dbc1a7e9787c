"""A lecture as a test suite: each of its sections is a test case.

    pytest --lecture my_lecture.py

The same may stand in the lecture's own configuration, as `lecture`. From the repository, where
nothing is installed, pytest is also told `-o pythonpath=path/to/the/repository -p
trace.pytest_plugin`. A section is a public function without parameters; `main` is a test case if a
claim stands in a function that is none. `-m core` chooses the sections marked `@core`, the short
path through the lecture. `--lecture-check DOCUMENT` adds one more, that the written
document is current.
"""

import ast
import fnmatch
import functools
import inspect
import reprlib
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from .aliases import answer_to_all_names
from .errors import UsageError
from .pytest_claims import Claims, claims_of
from .rewrite.short_path import marked_functions
from .target import Target, file_of, find_target, is_own
from .terminal import how_to_start

IS_LECTURE_PLUGIN = True
"""By this a copy of the plugin knows another: of the repository, beside one that is installed."""


@dataclass(frozen=True)
class _Lecture:
    target: Target
    document: Path | None

    @property
    def file(self) -> Path:
        return file_of(self.target)


CORE = "core"
"""The mark of a section on the short path, and its marker here."""

_LECTURES = pytest.StashKey[dict[Path, _Lecture]]()
"""The lecture of each file of a lecture."""
_CLAIMS = pytest.StashKey[Claims]()
_REACHED = "lecture_claims_reached"
"""What a process that shares in the tests calls the claims that it reached."""
_SIDES = pytest.StashKey[str | None]()
"""The two sides of the comparison that was false last."""

_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = 400


def _gives_way(manager: pytest.PytestPluginManager) -> bool:
    """Tell whether another copy of this plugin was there first."""
    plugins = [plugin for _, plugin in manager.list_name_plugin()]
    copies = [plugin for plugin in plugins if getattr(plugin, "IS_LECTURE_PLUGIN", False)]
    return copies[0] is not sys.modules[__name__]


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Options, and the same for a configuration file, where paths are relative to it."""
    if _gives_way(pluginmanager):
        return
    add = parser.getgroup("lecture").addoption
    add("--lecture", action="append", default=[], metavar="FILE", help="test this lecture")
    add(
        "--lecture-check",
        action="append",
        default=[],
        metavar="DOCUMENT",
        help="test that this document of the lecture is current; if given, once for each lecture",
    )
    parser.addini("lecture", "lectures to test, one in a line", "paths", default=[])
    parser.addini("lecture_check", "their documents, to be current", "paths", default=[])


def pytest_configure(config: pytest.Config) -> None:
    """Find the lectures and, unless paths are given, have them collected."""
    if _gives_way(config.pluginmanager):
        return
    lectures = list(_lectures(config))
    patterns = config.getini("python_files")
    files = {file: lecture for lecture in lectures for file in _files_of(lecture, patterns)}
    if not lectures:
        return
    config.addinivalue_line("markers", f"{CORE}: a section on the short path of its lecture")
    config.stash[_LECTURES] = files
    config.stash[_CLAIMS] = Claims(files, config)
    config.stash[_CLAIMS].install()
    answer_to_all_names(only_if_free=True)
    if config.args_source is not pytest.Config.ArgsSource.ARGS:
        here = [] if config.option.lecture else config.args
        config.args = [*here, *map(str, files)]


def pytest_unconfigure(config: pytest.Config) -> None:
    """Leave the import system as it was."""
    if _CLAIMS in config.stash:
        config.stash[_CLAIMS].uninstall()


def _lectures(config: pytest.Config) -> Iterator[_Lecture]:
    names = config.option.lecture or config.getini("lecture")
    documents = config.option.lecture_check
    if not config.option.lecture:
        documents = documents or config.getini("lecture_check")
    if documents and len(documents) != len(names):
        raise pytest.UsageError("give --lecture-check as often as --lecture, in the same order.")
    for name, document in zip(names, documents or [None] * len(names), strict=True):
        try:
            target = find_target(str(name))
        except UsageError as error:
            raise pytest.UsageError(str(error)) from None
        yield _Lecture(target, document and Path(document).absolute())


def _files_of(lecture: _Lecture, test_files: list[str]) -> list[Path]:
    """Return the files that may hold sections: of a package all, of a single file what it imports
    from its folder."""
    target = lecture.target
    if target.folder == target.root:
        files = list(_with_siblings(lecture.file, []))
    else:
        found = sorted(target.folder.rglob("*.py"))
        files = [file for file in found if is_own(file, target.folder)]
    others = ["conftest.py", *test_files]
    return [
        file
        for file in files
        if file == lecture.file or not any(fnmatch.fnmatch(file.name, glob) for glob in others)
    ]


def _with_siblings(file: Path, found: list[Path]) -> list[Path]:
    """Add a file, and what it imports from its folder, to those that were found."""
    if file not in found:
        found.append(file)
        for name in _imported_names(file):
            sibling = file.with_name(f"{name}.py")
            if sibling.is_file():
                _with_siblings(sibling, found)
    return found


def _imported_names(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):  # said when it is imported
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(
    file_path: Path, parent: pytest.Collector
) -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """Collect the sections of a lecture's file, and nothing else of it."""
    collectors = yield
    if file_path.resolve() not in parent.config.stash.get(_LECTURES, {}):
        return collectors
    return [_File.from_parent(parent, path=file_path)]


class _File(pytest.Module):
    """A file of a lecture, imported as pytest imports test files."""

    def collect(self) -> Iterator[pytest.Item]:
        lecture = self.config.stash[_LECTURES][self.path.resolve()]
        is_main = self.path.resolve() == lecture.file
        sections = sections_of(self.obj)
        main = getattr(self.obj, "main", None)
        if is_main and inspect.isfunction(main) and self._is_needed(lecture):
            sections.insert(0, main)
        core = marked_functions(self.path, CORE)
        for section in sections:
            case = pytest.Function.from_parent(self, name=section.__name__, callobj=section)
            if section.__name__ in core:
                case.add_marker(CORE)
            yield case
        if is_main and lecture.document:
            current = functools.partial(_the_document_is_current, lecture)
            yield pytest.Function.from_parent(self, name="the_document_is_current", callobj=current)

    def _is_needed(self, lecture: _Lecture) -> bool:
        """Tell whether a claim would be left out without `main`."""
        files = [file for file, of in self.config.stash[_LECTURES].items() if of is lecture]
        return not all(in_section for file in files for _, in_section in claims_of(file))


def sections_of(module: ModuleType) -> list[Callable[[], object]]:
    """Return a module's sections, in its order."""
    return [value for value in vars(module).values() if is_section(value, module)]


def is_section(value: object, module: ModuleType) -> bool:
    """Tell whether a value is a public function of this module without parameters."""
    return (
        inspect.isfunction(value)
        and value.__module__ == module.__name__
        and value.__name__ != "main"
        and not value.__name__.startswith("_")
        and not inspect.signature(value).parameters
        and not _only_begins(inspect.unwrap(value))
    )


def _only_begins(function: Callable[..., object]) -> bool:
    """Tell whether a call runs nothing yet: generators (context managers, too), coroutines."""
    return inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a section: one that returns something is, unlike a test that does, no mistake."""
    if not isinstance(pyfuncitem.parent, _File):
        return None
    pyfuncitem.obj()
    return True


@pytest.hookimpl(tryfirst=True)
def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    """Keep what the sides of a false comparison were: pytest says `55 == (10 * 11)`."""
    config.stash[_SIDES] = f"{_SHORT.repr(left)} {op} {_SHORT.repr(right)}"
    return None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show both sides of a false claim of a lecture."""
    report = yield
    sides = item.config.stash.get(_SIDES, None)
    if sides and report.failed and isinstance(item.parent, _File):
        report.sections.append(("Both sides of the claim", sides))
    item.config.stash[_SIDES] = None
    return report


def _the_document_is_current(lecture: _Lecture) -> None:
    """Run the lecture in a process of its own, where pytest has not touched its modules."""
    command = [*how_to_start(), lecture.file, "--check", "-o", lecture.document, "--quiet"]
    finished = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, encoding="utf-8"
    )
    if finished.returncode:
        pytest.fail(finished.stderr.strip(), pytrace=False)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where several processes share the tests, each hands over which claims it reached."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None and _CLAIMS in session.config.stash:
        output[_REACHED] = sorted(session.config.stash[_CLAIMS].reached)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """Take over which claims another process reached."""
    claims = node.config.stash.get(_CLAIMS, None)
    if claims:
        claims.reached.update(getattr(node, "workeroutput", {}).get(_REACHED, []))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say how many claims were checked, and which were not."""
    claims = config.stash.get(_CLAIMS, None)
    if claims and claims.all and not config.option.collectonly:
        terminalreporter.write_line(str(claims))
