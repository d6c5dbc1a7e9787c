"""The rules of the lecture, as functions of its sources that name what breaks them.

A section is a public function without parameters, other than `main`, defined in a module of the
package; a helper takes parameters. There is no list of either.
"""

import ast
import importlib
import pkgutil
import re
import string
import traceback
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from types import ModuleType

from trace.pytest_plugin import sections_of

MOST_LINES = 45
MOST_TOPICS = 3
METER = ("trace.costs", "measure")


def modules(package: ModuleType) -> list[ModuleType]:
    """The package's modules, imported."""
    found = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    return [importlib.import_module(module.name) for module in found]


def find_sections(package: ModuleType) -> list[Callable[[], object]]:
    return [section for module in modules(package) for section in sections_of(module)]


def run_with_its_clocks(section: Callable[[], object], tries: int = 3) -> None:
    """Run a section, and anew where a claim about seconds fails: others use the processor too."""
    for remaining in reversed(range(tries)):
        try:
            section()
        except AssertionError as failure:
            if not remaining or not is_about_seconds(failure):
                raise
        else:
            return


def is_about_seconds(failure: BaseException) -> bool:
    """Whether the line that failed is marked `@timed`."""
    place = traceback.extract_tb(failure.__traceback__)[-1]
    return "@timed" in (place.line or "").partition("#")[2]


def parse_function(source: str) -> ast.FunctionDef:
    return next(node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef))


def faults_of_a_section(source: str) -> Iterator[str]:
    """What a section lacks: a title, a claim, brevity."""
    function = parse_function(source)
    title = (ast.get_docstring(function) or "").partition("\n")[0]
    if not title.strip():
        yield "has no docstring whose first line is its title"
    if not claims(source):
        yield "claims nothing: it has no assert"
    shown = parse_function(without_notes(source))
    lines = shown.end_lineno - shown.lineno + 1
    if lines > MOST_LINES:
        yield f"has {lines} lines; {MOST_LINES} fit on a screen"


def without_notes(source: str) -> str:
    """A section without what is for the speaker alone: no page shows it among the rest. A note
    ends with its comment, or at an empty `#`, which is the last of its lines."""
    return re.sub(r"^ *# @note\b.*\n(?: *#.+\n)*(?: *#\n)?", "", source, flags=re.MULTILINE)


def comment_on_def(source: str) -> str:
    """What stands behind the `#` on a function's `def` line."""
    line = source.splitlines()[parse_function(source).lineno - 1]
    return line.partition("#")[2]


def topics_named(source: str) -> list[str]:
    """The topic ids on a function's `def` line."""
    return re.findall(r"\bM\d+\.\d+\b", comment_on_def(source))


def mistakes_named(source: str) -> list[str]:
    """The ids of common mistakes on a function's `def` line."""
    return re.findall(r"\bE\d+\b", comment_on_def(source))


def claims(source: str) -> int:
    """How many asserts a function has."""
    return sum(isinstance(node, ast.Assert) for node in ast.walk(parse_function(source)))


def faults_of_the_topics(
    sources: list[str],
    topics: Collection[str],
    open_groups: Collection[str] = (),
    sharing: Collection[str] = (),
) -> Iterator[str]:
    """Topics without a section, unknown ones, and sections with too many or too few claims.

    A section has a claim for each topic it names; those in `sharing` may go without. A group that
    is open may lack sections.
    """
    for source in sources:
        name, ids = parse_function(source).name, topics_named(source)
        if len(ids) > MOST_TOPICS:
            yield f"{name} names {len(ids)} topics; {MOST_TOPICS} are enough"
        yield from (
            f"{name} names {topic}, which is no topic" for topic in ids if topic not in topics
        )
        needed = sum(topic not in sharing for topic in ids)
        if claims(source) < needed:
            yield f"{name} names {needed} topics and makes {claims(source)} claims"
    treated = {topic for source in sources for topic in topics_named(source)}
    yield from (
        f"no section names {topic}"
        for topic in topics
        if topic not in treated and topic.partition(".")[0] not in open_groups
    )


def faults_of_the_mistakes(
    sources: list[str], mistakes: Mapping[str, Collection[str]], open_groups: Collection[str]
) -> Iterator[str]:
    """Mistakes of complete groups that no section measures."""
    treated = {mistake for source in sources for mistake in mistakes_named(source)}
    for group, ids in mistakes.items():
        if group not in open_groups:
            yield from (f"no section names {mistake}" for mistake in ids if mistake not in treated)


def calls_of_main(source: str) -> list[str]:
    """What `main()` calls, in the order of the source."""
    main = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == "main"
    )
    called = [node for node in ast.walk(main) if isinstance(node, ast.Call)]
    in_order = sorted(called, key=lambda call: (call.lineno, call.col_offset))
    return [ast.unparse(call.func) for call in in_order]


def faults_of_the_contents(sources: Collection[str], names: Collection[str]) -> Iterator[str]:
    """Sections that the parts of the table of contents forget or repeat."""
    called = [name for source in sources for name in calls_of_main(source)]
    times = Counter(name.rpartition(".")[2] for name in called)
    yield from (f"{name} is called {times[name]} times" for name in names if times[name] != 1)


def imports(source: str) -> Iterator[tuple[str, str]]:
    """All imports, those within functions too: the module, and what is taken from it or nothing."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield from ((module, alias.name) for alias in node.names)


def foreign_imports(source: str) -> list[tuple[str, str]]:
    """Imports from `trace` other than the meter."""
    return [
        found for found in imports(source) if found[0].split(".")[0] == "trace" and found != METER
    ]


def chapter_of(module: str) -> str:
    """The number that a chapter's modules share: m07 of `lecture.part3_tensors.m07_figures`."""
    found = re.match(r"lecture\.part\d_\w+\.(m\d+[a-z]?)_", module)
    return found[1] if found else ""


def chapters_imported(module: str, source: str) -> list[str]:
    """What a module imports from chapters that it is no part of.

    Where a chapter is cut in two, m10a and m10b, both draw with `m10_figures`.
    """
    own = chapter_of(module)
    groups = (own, own.rstrip(string.ascii_lowercase))
    names = [f"{name}.{what}".rstrip(".") for name, what in imports(source)]
    foreign = [name for name in names if not own or chapter_of(name) not in groups]
    return [name for name in foreign if name.startswith(("lecture.part", "."))]
