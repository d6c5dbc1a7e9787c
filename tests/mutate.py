"""Would a claim notice if an example were changed a little?

Every change of `mutants.py` is made by itself, and the section it stands in is run; a helper's
changes are judged by the sections that call it. A mutant is *killed* when a claim fails, *crashed*
when something else does (a wrong shape, say), when it takes far too long or when its ranks wait ten
seconds for one another, and *survived* when nobody noticed.

Some mutants compute something else: an operator, a comparison, an axis, the order of arguments. For
each chapter killed / (killed + survived) of these must be at least 90 %. The others compute the
same with another number (`2**28` is one as well). Where a claim holds for any, no claim is made
just to pin it; so their score is told and has no bar, and the survivors are there to be read.
Mutants that mean the same as the original are listed, with the reason, in
`equivalent_mutants.toml`, and may be 5 %.
"""

import argparse
import ast
import collections
import functools
import re
import sys
import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path

from tests import mutants
from tests.judging import (
    CRASHED,
    KILLED,
    SURVIVED,
    ForeignFaultError,
    Section,
    Task,
    cuda_is_here,
    verdicts,
)
from tests.mutants import Mutant

ROOT = Path(__file__).parent.parent
EQUIVALENTS = Path(__file__).parent / "equivalent_mutants.toml"
# Data, pictures, or tested by themselves.
NO_EXAMPLES = (
    *("charts", "contents", "counting", "drawing", "facts", "hardware", "main"),
    *("recorded", "stories", "syllabus"),
)
PROGRAMS = ("accounting", "tokenizer", "train")
EQUIVALENT = "equivalent"
LOWEST_SCORE = 0.9
MOST_EQUIVALENTS = 0.05


def read_sources(root: Path) -> dict[str, str]:
    """The modules with examples, by name."""
    files = sorted((root / "lecture").rglob("*.py"))
    return {
        ".".join(file.relative_to(root).with_suffix("").parts): file.read_text(encoding="utf-8")
        for file in files
        if file.stem not in (*NO_EXAMPLES, "__init__")
        and not file.stem.endswith(("_figures", "_boxes"))
        and file.parent.name not in PROGRAMS
    }


def tasks_for(names: Collection[str], sources: dict[str, str], cuda: bool) -> list[Task]:
    """The mutants of the chapters and sections of these names, or of all."""
    tasks = []
    for module, source in sources.items():
        if names and not names_in(module, source) & set(names):
            continue
        is_chapter = bool(mutants.sections_of(source))

        @functools.cache
        def reaching(definition: str, module: str = module) -> tuple[Section, ...]:
            return tuple(mutants.sections_reaching((module, definition), sources))

        for mutant in mutants.mutants(module, source, cuda):
            if names and not names_of(mutant) & set(names):
                continue
            sections = reaching(mutant.definition)
            if is_chapter or sections:
                tasks.append(Task(mutant, sections))
    if unknown := set(names) - {part for task in tasks for part in names_of(task.mutant)}:
        raise SystemExit(f"nothing to change in {', '.join(sorted(unknown))}")
    return tasks


def names_of_module(module: str) -> set[str]:
    file = module.rpartition(".")[2]  # m07_storage is known as storage too
    return {module, file, re.sub(r"^m\d+[a-z]?_", "", file)}


def names_of(mutant: Mutant) -> set[str]:
    return {*names_of_module(mutant.module), mutant.definition}


def names_in(module: str, source: str) -> set[str]:
    """By what a module or one of its definitions can be asked for."""
    return {*names_of_module(module), *map(mutants.definition_of, ast.parse(source).body)}


Listed = dict[tuple[str, str, str, str], int]


def key_of(mutant: Mutant) -> tuple[str, str, str, str]:
    return mutant.module, mutant.definition, mutant.before, mutant.after


def read_equivalents(text: str) -> Listed:
    """The mutants that are listed with a reason, and how many of that kind."""
    listed: Listed = {}
    for entry in tomllib.loads(text).get("mutant", []):
        if not entry["reason"].strip():
            raise SystemExit(f"no reason is given for {entry}")
        key = (entry["module"], entry["definition"], entry["before"], entry["after"])
        listed[key] = listed.get(key, 0) + entry.get("count", 1)
    return listed


def with_equivalents(
    results: list[tuple[Mutant, str]], listed: Listed
) -> tuple[list[tuple[Mutant, str]], list[str]]:
    """Excuse survivors that are listed, and name entries that excuse none."""
    left = collections.Counter(listed)
    excused = []
    for mutant, verdict in results:
        if verdict == SURVIVED and left[key_of(mutant)] > 0:
            left[key_of(mutant)] -= 1
            verdict = EQUIVALENT
        excused.append((mutant, verdict))
    judged = {(mutant.module, mutant.definition) for mutant, _ in results}
    stale = [
        f"{EQUIVALENTS.name} lists {definition}: {before} -> {after}, which does not survive"
        for (module, definition, before, after), count in left.items()
        if count > 0 and (module, definition) in judged
    ]
    return excused, stale


def score(counts: collections.Counter[str]) -> float:
    """The share that claims noticed, of those that somebody could notice."""
    judged = counts[KILLED] + counts[SURVIVED]
    return counts[KILLED] / judged if judged else 1.0


def below_the_bar(chapter: str, counts: collections.Counter[str]) -> Iterator[str]:
    """Whether the claims of a chapter notice too little of what computes something else."""
    if score(counts) < LOWEST_SCORE:
        yield f"{chapter}: claims noticed {score(counts):.1%}; {LOWEST_SCORE:.0%} are asked for"


def too_many_equivalents(listed: Listed, sources: dict[str, str]) -> Iterator[str]:
    """Chapters of which too large a share is called equivalent."""
    for chapter, source in sources.items():
        count = sum(number for key, number in listed.items() if key[0] == chapter)
        total = len(mutants.mutants(chapter, source))
        if count > MOST_EQUIVALENTS * total:
            most = f"{MOST_EQUIVALENTS:.0%} may be"
            yield f"{chapter}: {count} of {total} mutants are called equivalent; {most}"


def report(results: list[tuple[Mutant, str]]) -> list[str]:
    """Print survivors and a table; return what is wrong."""
    for mutant, verdict in sorted(results, key=lambda one: (one[0].module, one[0].number)):
        if verdict == SURVIVED:
            print(f"survived  {mutant}")
    chapters: dict[str, collections.Counter[str]] = {}
    numbers: dict[str, collections.Counter[str]] = {}
    for mutant, verdict in results:
        for counts in (chapters, numbers):
            counts.setdefault(mutant.module, collections.Counter())
        (numbers if mutant.of_a_number else chapters)[mutant.module][verdict] += 1
    columns = (KILLED, CRASHED, SURVIVED, EQUIVALENT)
    width = max([24, *(len(chapter) + 1 for chapter in chapters)])
    heads = (*columns, "score", "numbers")
    print(" " * width + "".join(f"{name:>12}" for name in heads))
    for chapter, counts in sorted(chapters.items()):
        cells = "".join(f"{counts[name]:12}" for name in columns)
        print(f"{chapter:{width}}{cells}{score(counts):12.1%}{score(numbers[chapter]):12.1%}")
    return [
        fault for chapter in sorted(chapters) for fault in below_the_bar(chapter, chapters[chapter])
    ]


def progress(done: int, total: int) -> None:
    """One line that is written over, where somebody looks."""
    if sys.stderr.isatty():
        print(f"\r{done} of {total} mutants", end="\n" if done == total else "", file=sys.stderr)


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    if not __debug__:
        raise SystemExit("python -O removes the claims: run it without")
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a chapter or a section")
    parser.add_argument(
        "--without-numbers", action="store_true", help="only what computes something else"
    )
    parser.add_argument("--workers", type=int, default=2, help="processes at a time (2)")
    options = parser.parse_args(arguments)
    sources = read_sources(root)
    tasks = tasks_for(options.names, sources, cuda_is_here())
    listed = read_equivalents(EQUIVALENTS.read_text(encoding="utf-8"))
    excusable = listed
    if options.without_numbers:
        tasks = [task for task in tasks if not task.mutant.of_a_number]
        excusable = {key: n for key, n in listed.items() if not mutants.is_number(key[2])}
    results = []
    try:
        for mutant, verdict in verdicts(tasks, root, options.workers):
            results.append((mutant, verdict))
            progress(len(results), len(tasks))
    except ForeignFaultError as fault:
        print(fault, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    excused, stale = with_equivalents(results, excusable)
    faults = [*stale, *report(excused), *too_many_equivalents(listed, sources)]
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
