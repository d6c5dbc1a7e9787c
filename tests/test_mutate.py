"""What is changed in an example, who judges it, and what is said in the end."""

import ast
import collections
import importlib
import multiprocessing
import tempfile
from pathlib import Path

import pytest

from tests import judging, mutants, mutate
from tests.mutants import Mutant

ROOT = Path(__file__).parent.parent


def changes(body, cuda=False):
    """What a section with this body and a claim about c would be changed to: (before, after)."""
    lines = [*body.splitlines(), "assert c"]
    source = "def section():\n" + "".join(f"    {line}\n" for line in lines)
    return [(mutant.before, mutant.after) for mutant in mutants.mutants("m", source, cuda)]


# the body of a section -> its changes
BODIES = [
    # operators
    ("c = a + b", [("a + b", "a - b")]),
    ("c = a - b", [("a - b", "a + b")]),
    ("c = a * b", [("a * b", "a + b")]),
    ("c = a / b", [("a / b", "a * b")]),
    ("c = a // b", [("a // b", "a * b")]),
    ("c = a % b", [("a % b", "a * b")]),
    ("c = a ** b", [("a ** b", "a * b")]),
    ("c = a @ b", [("a @ b", "a * b")]),
    ("c = a << b", [("a << b", "a >> b")]),
    ("c = a & b", [("a & b", "a | b")]),
    ("c = a ^ b", [("a ^ b", "a & b")]),
    ("c += a", [("c += a", "c -= a")]),
    ("c = -a", [("-a", "+a")]),
    # comparisons, each of a chain by itself
    ("c = a == b", [("a == b", "a != b")]),
    ("c = a is b", [("a is b", "a is not b")]),
    ("c = a in b", [("a in b", "a not in b")]),
    ("c = a < b <= d", [("a < b <= d", "a <= b <= d"), ("a < b <= d", "a < b < d")]),
    ("c = a > b >= d", [("a > b >= d", "a >= b >= d"), ("a > b >= d", "a > b > d")]),
    # numbers, among them axes and indices
    ("c = 3", [("3", "4")]),
    ("c = 0.5", [("0.5", "1.0")]),
    ("c = 0.0", [("0.0", "1.0")]),
    ("c = True", []),
    ("c = x[0]", [("0", "1")]),
    ("c = x.sum(dim=0)", [("dim=0", "dim=1")]),
    ("c = x.sum(dim=1)", [("dim=1", "dim=0")]),
    ("c = x.sum(axis=2)", [("axis=2", "axis=1")]),
    ("c = x.sum(dim=-1)", [("-1", "+1"), ("1", "2")]),
    ("c = x.sum(keepdim=1, dim=a)", [("1", "2")]),
    # the order of axes in a pattern
    ("c = f('b t d -> t b d')", [("'b t d -> t b d'", "'b t d -> b t d'")]),
    ("c = f('b (h d) -> b h d')", [("'b (h d) -> b h d'", "'b (h d) -> h b d'")]),
    ("c = f('b t -> b')", []),
    ("c = 'plain words'", []),
    # the order of arguments
    ("f(a, b, c)", [("f(a, b, c)", "f(b, a, c)"), ("f(a, b, c)", "f(a, c, b)")]),
    ("f(a, a)", []),
    ("f(*a, b)", []),
    ("f(x.transpose(1, 2))", [("1", "2"), ("2", "3")]),
    ("f(a, key=b)", []),
    # left alone
    ("assert a + 1 == 2", []),
    ("for n in a:\n    assert n > 1", []),
    ("raise ValueError(a + 1)", []),
    ("'A text of 2 + 2 words.'", []),
    ("c = f'{a + 1:.2f}'", []),
    ("with refused(ValueError) as error:\n    f(a + 1, b)", []),
    ("c = figures.bars(a + 1, b)", []),
    ("c = generator.manual_seed(1)", []),
    ("c: f[2] = a", []),
    # what no claim could notice: seeds, sizes, what is only shown, an order that does not matter
    ("c = derived_generator(0, 1)", []),
    ("c = f(a + b, seed=3)", [("a + b", "a - b")]),
    ("c = torch.ones(2, 3)", []),
    ("c = torch.full((2, 3), 0.5)", [("0.5", "1.0")]),
    ("c = x.view(-1, 3)", [("-1", "+1"), ("1", "2")]),
    ("c = [n for n in range(3)]", []),
    ("c = range(a + b)", [("a + b", "a - b")]),
    ("B, T = 2, 3", []),
    ("n = 5", []),
    ("steps = 5\nf(steps)", [("5", "6")]),
    (
        "f(max(a, b)) + isclose(a, b)",
        [("f(max(a, b)) + isclose(a, b)", "f(max(a, b)) - isclose(a, b)")],
    ),
    ("f(2 * 2)", [("2", "3"), ("2", "3")]),
    ("f(2 * 3)", [("2 * 3", "2 + 3"), ("2", "3"), ("3", "4")]),
    ("share = a / b", []),
    ("share = a / b\nassert share < 1", [("a / b", "a * b")]),
    ("share = a / b\nhalf = share * 2\nfigures.bars(half)", []),
    ("share = a / b\nreturn share", [("a / b", "a * b")]),
    ("shares = {name: a / b for name, a in sizes.items()}", []),
    ("share = f(a / b)", [("a / b", "a * b")]),
    ("with measure() as cost:\n    y = x @ w", [("x @ w", "x * w")]),
    # what does not run here
    ("if gpu_is_at_least(AMPERE):\n    c = f(a, b)", []),
    ("if torch.cuda.is_available():\n    c = a + b\nelse:\n    c = a - b", [("a - b", "a + b")]),
]


@pytest.mark.parametrize(("body", "expected"), BODIES)
def test_examples_are_changed_and_nothing_else(body, expected):
    assert changes(body) == expected


def test_on_cuda_the_other_branch_is_changed():
    body = "if torch.cuda.is_available():\n    c = a + b\nelse:\n    c = a - b"
    assert changes(body, cuda=True) == [("a + b", "a - b")]


def test_signatures_and_modules_are_changed_where_they_compute():
    source = "SIZE = 2\n\n@decorated(3)\ndef f(n: g[4] = 5) -> g[6]:\n    return n\n\nprint(7)\n"
    assert [(one.definition, one.before) for one in mutants.mutants("m", source)] == [
        ("SIZE", "2"),
        ("f", "5"),
    ]


def test_each_mutant_changes_one_place():
    source = "def section():\n    c = a + 1 < 2\n    return f(c, 3)\n"
    changed = [ast.unparse(mutants.mutated(one, source)) for one in mutants.mutants("m", source)]
    assert changed == [
        "def section():\n    c = a + 1 <= 2\n    return f(c, 3)",
        "def section():\n    c = a - 1 < 2\n    return f(c, 3)",
        "def section():\n    c = a + 2 < 2\n    return f(c, 3)",
        "def section():\n    c = a + 1 < 3\n    return f(c, 3)",
        "def section():\n    c = a + 1 < 2\n    return f(3, c)",
        "def section():\n    c = a + 1 < 2\n    return f(c, 4)",
    ]


SOURCES = {
    "lecture.one": """
SIZE = 2

def area(n):
    return SIZE * n

def lonely(n):
    return n

def first():
    area(1)

def second():
    first

def main():
    area(1)
""",
    "lecture.two": """
from lecture import one
from lecture.one import lonely as alone

class Model:
    def forward(self):
        return alone(1)

def third():
    Model()

def fourth():
    one.area(1)

def drawn() -> int:
    return 4

def fifth():
    drawn()
""",
}

# a definition -> the sections that judge its mutants
REACHING = [
    (("lecture.one", "first"), [("lecture.one", "first")]),
    (("lecture.one", "area"), [("lecture.one", "first"), ("lecture.one", "second")]),
    (("lecture.one", "SIZE"), [("lecture.one", "first"), ("lecture.one", "second")]),
    (("lecture.one", "lonely"), [("lecture.two", "third")]),
    (("lecture.two", "Model"), [("lecture.two", "third")]),
    (("lecture.two", "drawn"), [("lecture.two", "fifth")]),  # it returns something
    (("lecture.two", "nothing"), []),
]


@pytest.mark.parametrize(("definition", "sections"), REACHING)
def test_a_helper_is_judged_by_the_sections_that_call_it(definition, sections):
    assert mutants.sections_reaching(definition, SOURCES) == sections


CHAPTER = """
import os

def doubled(n):
    return 2 * n

def tripled(n):
    return 3 * n

def a_claim_looks():
    total = doubled(5)
    assert total == 10

def nobody_looks():
    total = doubled(5)
    assert total > 5

def a_loop_ends():
    left = 6
    while left != 3:
        left = left - 1
    assert left == 3

def a_process_may_end():
    n = 2
    if n > 2:
        os._exit(0)
    assert n == 2

def files_are_left():
    open("left", "w").write("2" * 3)
    assert True
"""
OTHER_CHAPTER = """
from lecture.chapter import tripled

def it_uses_the_helper_of_another():
    assert tripled(2) == 6
"""

# the change -> its verdict
VERDICTS = {
    "doubled: 2 * n -> 2 + n": "killed",
    "doubled: 2 -> 3": "killed",
    "tripled: 3 * n -> 3 + n": "killed",
    "tripled: 3 -> 4": "killed",
    "a_claim_looks: 5 -> 6": "killed",
    "nobody_looks: 5 -> 6": "survived",
    "a_loop_ends: 6 -> 7": "survived",
    "a_loop_ends: left != 3 -> left == 3": "killed",
    "a_loop_ends: 3 -> 4": "killed",
    "a_loop_ends: left - 1 -> left + 1": "crashed",  # it never ends
    "a_loop_ends: 1 -> 2": "crashed",  # nor does this
    "a_process_may_end: n > 2 -> n >= 2": "crashed",
}


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root/lecture"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "chapter.py").write_text(CHAPTER)
    (folder / "other.py").write_text(OTHER_CHAPTER)
    return folder.parent


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def verdicts_of(root, *names):
    tasks = mutate.tasks_for(names, mutate.read_sources(root), cuda=False)
    return {
        f"{mutant.definition}: {mutant.before} -> {mutant.after}": verdict
        for mutant, verdict in judging.verdicts(tasks, root, seconds=0.5)
    }


@pytest.mark.slow
def test_mutants_are_killed_crash_or_survive_and_leave_nothing_behind(root, temporary):
    files = {path for path in root.rglob("*") if "__pycache__" not in path.parts}
    found = verdicts_of(root)
    assert {change: found[change] for change in VERDICTS} == VERDICTS
    assert any(change.startswith("files_are_left") for change in found)
    assert {path for path in root.rglob("*") if "__pycache__" not in path.parts} == files
    assert list(temporary.iterdir()) == []
    assert multiprocessing.active_children() == []


@pytest.mark.slow
def test_whoever_stops_listening_leaves_nothing_behind(root, temporary):
    tasks = mutate.tasks_for((), mutate.read_sources(root), cuda=False)
    results = judging.verdicts(tasks, root)
    next(results)
    assert len(multiprocessing.active_children()) == 2
    results.close()
    assert multiprocessing.active_children() == []
    assert list(temporary.iterdir()) == []


@pytest.mark.slow
def test_a_section_that_fails_as_it_is_stops_everything(root, capsys):
    (root / "lecture/chapter.py").write_text(
        "def broken():\n    n = len('ab') + 2\n    assert n == 3\n"
    )
    assert mutate.main(["broken"], root) == 1
    said = capsys.readouterr()
    assert said.err == "lecture.chapter.broken fails unchanged: AssertionError()\n"


def test_chapters_and_sections_can_be_chosen(root):
    sources = mutate.read_sources(root)

    def chosen(*names):
        return {task.mutant.definition for task in mutate.tasks_for(names, sources, cuda=False)}

    assert chosen("nobody_looks") == {"nobody_looks"}
    assert chosen("chapter") == chosen("lecture.chapter") == chosen()
    with pytest.raises(SystemExit, match="nothing to change in nowhere"):
        chosen("chapter", "nowhere")


SLOW = """
import functools, time

@functools.cache
def remembered(n):
    time.sleep(0.8)
    return n + 1

def a_cache_is_asked():
    total = remembered(2)
    assert total == 3
"""


@pytest.mark.slow
def test_what_a_cache_remembers_leaves_a_mutant_no_less_time(root):
    (root / "lecture/slow.py").write_text(SLOW)
    assert verdicts_of(root, "remembered")["remembered: n + 1 -> n - 1"] == "killed"


@pytest.mark.slow
def test_numbers_can_be_left_out(root, capsys):
    assert mutate.main(["doubled", "--without-numbers"], root) == 0
    assert capsys.readouterr().out.splitlines()[-1].split() == [
        *("lecture.chapter", "1", "0", "0", "0", "100.0%", "100.0%")
    ]


def test_modules_without_sections_count_where_sections_use_them(root):
    (root / "lecture/parts.py").write_text("USED = 2\nUNUSED = 3\n")
    (root / "lecture/other.py").write_text(
        "from lecture.parts import USED\n\ndef section():\n    assert USED == 2\n"
    )
    (root / "lecture/facts.py").write_text("FACT = 4\n")
    tasks = mutate.tasks_for((), mutate.read_sources(root), cuda=False)
    assert {"USED", "UNUSED", "FACT"} & {task.mutant.definition for task in tasks} == {"USED"}


def mutant(number, definition="section", before="2", after="3"):
    return Mutant("lecture.chapter", definition, number, 10 + number, before, after)


ENTRY = """
[[mutant]]
module = "lecture.chapter"
definition = "section"
before = "2"
after = "3"
reason = "Any number above 1 will do."
"""


def test_a_listed_survivor_is_excused_once():
    results = [(mutant(0), "survived"), (mutant(1), "survived"), (mutant(2), "killed")]
    excused, stale = mutate.with_equivalents(results, mutate.read_equivalents(ENTRY))
    assert [verdict for _, verdict in excused] == ["equivalent", "survived", "killed"]
    assert stale == []
    excused, stale = mutate.with_equivalents(results, mutate.read_equivalents(ENTRY + "count = 2"))
    assert [verdict for _, verdict in excused] == ["equivalent", "equivalent", "killed"]
    assert stale == []


@pytest.mark.parametrize("verdict", ["killed", "crashed"])
def test_an_entry_that_excuses_nobody_is_named(verdict):
    listed = mutate.read_equivalents(ENTRY)
    excused, stale = mutate.with_equivalents([(mutant(0), verdict)], listed)
    assert excused == [(mutant(0), verdict)]
    assert stale == [
        "equivalent_mutants.toml lists section: 2 -> 3, which does not survive",
    ]
    assert mutate.with_equivalents([(mutant(0, "elsewhere"), "killed")], listed)[1] == []


def test_an_entry_needs_a_reason():
    with pytest.raises(SystemExit, match="no reason is given for"):
        mutate.read_equivalents(ENTRY.replace("Any number above 1 will do.", " "))


def test_every_entry_is_a_mutant_of_the_lecture():
    listed = mutate.read_equivalents(mutate.EQUIVALENTS.read_text(encoding="utf-8"))
    sources = mutate.read_sources(ROOT)
    found = collections.Counter(
        mutate.key_of(one) for module in sources for one in mutants.mutants(module, sources[module])
    )
    assert [key for key, count in listed.items() if found[key] < count] == []
    assert list(mutate.too_many_equivalents(listed, sources)) == []


# killed, crashed, survived, equivalent -> what is wrong
COUNTS = [
    ((90, 5, 10, 0), []),
    ((9, 0, 1, 8), []),
    ((89, 50, 11, 9), ["c: claims noticed 89.0%; 90% are asked for"]),
    ((0, 9, 0, 0), []),
]


@pytest.mark.parametrize(("numbers", "faults"), COUNTS)
def test_a_chapter_can_be_below_the_bar(numbers, faults):
    names = ("killed", "crashed", "survived", "equivalent")
    counts = collections.Counter(dict(zip(names, numbers, strict=True)))
    assert list(mutate.below_the_bar("c", counts)) == faults


# how many of forty mutants are listed -> what is wrong
LISTED = [
    (0, []),
    (2, []),
    (3, ["lecture.chapter: 3 of 40 mutants are called equivalent; 5% may be"]),
]


@pytest.mark.parametrize(("count", "faults"), LISTED)
def test_few_mutants_may_be_called_equivalent(count, faults):
    listed = mutate.read_equivalents(f"{ENTRY}count = {count}")
    sources = {"lecture.chapter": f"def section():\n    return [{'2, ' * 40}]\n"}
    assert list(mutate.too_many_equivalents(listed, sources)) == faults


def test_survivors_are_listed_above_a_table(capsys):
    results = [
        (mutant(1, before="a + b", after="a - b"), "survived"),
        (mutant(0, before="a * b", after="a + b"), "killed"),
        (mutant(2, before="a < b", after="a <= b"), "crashed"),
        *((mutant(number), "killed") for number in (3, 4, 5)),
        (mutant(6), "survived"),
    ]
    assert mutate.report(results) == [
        "lecture.chapter: claims noticed 50.0%; 90% are asked for",
    ]
    *survivors, heads, row = capsys.readouterr().out.splitlines()
    assert survivors == [
        "survived  lecture/chapter.py:11 in section: a + b -> a - b",
        "survived  lecture/chapter.py:16 in section: 2 -> 3",
    ]
    assert heads.split() == ["killed", "crashed", "survived", "equivalent", "score", "numbers"]
    assert row.split() == ["lecture.chapter", "1", "1", "1", "0", "50.0%", "75.0%"]
    assert len(row) == len(heads)


NUMBERS = [
    *(("2", True), ("1e-08", True), ("2 ** 28", True), ("-10.0", True), ("3 * (1 + 2)", True)),
    *(("a + b", False), ("2 ** n", False), ("dim=0", False), ("2 < 3", False), ("f(1, 2)", False)),
    *(("'a b -> b a'", False), ("total += 1", False)),
]


@pytest.mark.parametrize(("before", "expected"), NUMBERS)
def test_another_number_is_no_other_computation(before, expected):
    assert mutant(0, before=before).of_a_number is expected


# how it ends -> the verdict
ENDS = [
    ("total = 2", "survived"),
    ("assert False", "killed"),
    ("raise AssertionError", "killed"),
    ("[][0]", "crashed"),
    ("raise SystemExit", "crashed"),
    ("import unittest; unittest.TestCase().fail()", "crashed"),
]


@pytest.mark.parametrize(("code", "verdict"), ENDS)
def test_only_a_claim_of_the_lecture_kills(tmp_path, code, verdict):
    compiled = compile(code, str(tmp_path / "lecture/chapter.py"), "exec")
    assert judging.judge(lambda: exec(compiled), tmp_path) == verdict


def neighbours_of_ranks(before, after, longest_wait_seconds):
    """Three ranks pass on a tensor, where the chapter on many devices says `after` for `before`."""
    module = "lecture.part7_after.m27a_many_devices"
    path = judging.path_of(module, ROOT)
    tree = ast.parse(path.read_text(encoding="utf-8").replace(before, after))
    importlib.import_module("lecture")
    with judging.installed(tree, module, path):
        judging.change_all_ranks(tree, module, path, longest_wait_seconds)
        changed = importlib.import_module(module)
        return changed.on_ranks(3, changed.mine_and_my_neighbours)


@pytest.mark.slow
def test_every_rank_runs_what_was_changed():
    found = neighbours_of_ranks("x[rank] = 1\n", "x[rank] = 2\n", longest_wait_seconds=60)
    assert [own for own, _ in found] == [[2, 0, 0], [0, 2, 0], [0, 0, 2]]


@pytest.mark.slow
def test_ranks_that_wait_for_a_message_that_nobody_sends_give_up():
    with pytest.raises(RuntimeError, match=r"[Tt]imed out"):
        neighbours_of_ranks("(rank - 1) % n", "(rank + 1) % n", longest_wait_seconds=3)
