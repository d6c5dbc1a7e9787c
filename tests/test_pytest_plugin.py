"""The sections of any lecture as test cases, in a folder that has nothing else to do with us."""

import re
import sys
import textwrap

import pytest

from tests.outside import ROOT, run, tool

PYTEST = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
PLUGIN = ["-o", f"pythonpath={ROOT}", "-p", "trace.pytest_plugin"]
LECTURE = """\
import functools
from contextlib import contextmanager

def main():
    six_is_seven()

def six_is_seven():
    product = 2 * 3
    assert product == 7

def a_sum_is_a_sum():
    assert 2 + 3 == 5

def helper(number): assert False
def _private(): assert False
def numbers(): yield 1 / 0
async def later(): assert False

@contextmanager
def opened(): yield

@functools.cache
def table(): assert False
"""


def outcomes_of(stdout):
    """The outcome of each test case."""
    return dict(re.findall(r"^(\S+) (PASSED|FAILED)", stdout, re.MULTILINE))


@pytest.fixture
def folder(tmp_path):
    """`folder({"lec.py": text})` writes files into an empty folder."""

    def write(files):
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(textwrap.dedent(text), encoding="utf-8")
        return tmp_path

    return write


def run_pytest(folder, *arguments, plugin=PLUGIN):
    """Run pytest there; returns its exit status and the outcomes, or what it said if there are
    none."""
    status, stdout, stderr = run(
        [*PYTEST, *plugin, "-v", *arguments], folder, PYTEST_DISABLE_PLUGIN_AUTOLOAD="1"
    )
    return status, outcomes_of(stdout) or stdout + stderr


def test_each_section_is_a_test_case_and_nothing_else_is(folder):
    assert run_pytest(folder({"lec.py": LECTURE}), "--lecture", "lec.py") == (
        1,
        {
            "lec.py::main": "FAILED",
            "lec.py::six_is_seven": "FAILED",
            "lec.py::a_sum_is_a_sum": "PASSED",
        },
    )


# a false claim -> what pytest says, what we add
FALSE_CLAIMS = [
    ("assert product == 7", "assert 6 == 7", "6 == 7"),
    ("assert product == 10 * 11", "assert 6 == (10 * 11)", "6 == 110"),
    ("assert product + 1 in (1, product)", "assert (6 + 1) in (1, 6)", "7 in (1, 6)"),
    ("assert [1, 2] == [product]", "assert [1, 2] == [6]", "[1, 2] == [6]"),
]


@pytest.mark.parametrize(("claim", "said", "sides"), FALSE_CLAIMS)
def test_a_false_claim_shows_both_values(claim, said, sides, folder):
    files = {"lec.py": f"def six():\n    product = 2 * 3\n    {claim}\n"}
    status, stdout, _ = run([*PYTEST, *PLUGIN, "--lecture", "lec.py"], folder(files))
    assert status == 1
    assert f"E       {said}\n" in stdout
    assert re.search(rf"Both sides of the claim -+\n{re.escape(sides)}\n", stdout)


def test_only_the_last_claim_is_shown_and_only_of_lectures(folder):
    files = {
        "lec.py": "def error():\n    try: assert 1 == 2\n    except AssertionError: pass\n",
        "test_other.py": "def test_other(): assert 3 == 4\n",
    }
    status, stdout, _ = run([*PYTEST, *PLUGIN, "--lecture", "lec.py", "."], folder(files))
    assert (status, "Both sides" in stdout) == (1, False)
    assert "assert 3 == 4" in stdout


SIX = "def six(): assert 2 * 3 == 6\n"
LARGE = "assert number > 9\n"
# a lecture -> its test cases, and whether they pass
MAINS = [
    ("def main():\n    assert 1 + 1 == 3", {"main": "FAILED"}),
    ("if True:\n    def main():\n        assert 1 == 1", {"main": "PASSED"}),
    (f"def main(): six()\n{SIX}", {"six": "PASSED"}),
    (f"import functools\nmain = functools.partial(print)\n{SIX}", {"six": "PASSED"}),
    (f"def main(): large(8)\n{SIX}def large(number): {LARGE}", {"main": "FAILED", "six": "PASSED"}),
    (f"def main(): large(8)\ndef large(*number): {LARGE}", {"main": "FAILED"}),
    (
        f"def main(): Large(8)\nclass Large:\n    def __init__(self, number): {LARGE}",
        {"main": "FAILED"},
    ),
    (
        f"def main(): _large()\n{SIX}def _large(number=8): {LARGE}",
        {"main": "FAILED", "six": "PASSED"},
    ),
    ("def main(): list(some())\ndef some():\n    yield\n    assert 1 == 2", {"main": "FAILED"}),
    (
        f"import functools\ndef main(): six()\n@functools.cache\n{SIX}def one(): pass",
        {"main": "PASSED", "one": "PASSED"},
    ),
    ("import beside\ndef main(): beside.large(8)", {"main": "FAILED"}),
    ("assert 1 == 1\ndef main(): pass\ndef one(): pass", {"one": "PASSED"}),
]


@pytest.mark.parametrize(("source", "expected"), MAINS)
def test_main_is_a_test_case_if_a_claim_stands_in_none(source, expected, folder):
    place = folder({"lec.py": source, "beside.py": f"def large(number): {LARGE}"})
    status, outcomes = run_pytest(place, "--lecture", "lec.py")
    assert {name.removeprefix("lec.py::"): how for name, how in outcomes.items()} == expected
    assert status == ("FAILED" in outcomes.values())


def said_of_claims(folder, *arguments, plugin=PLUGIN):
    _, stdout, stderr = run([*PYTEST, *plugin, *arguments], folder)
    found = re.findall(r"^\d+ of \d+ claims were checked.*$", stdout, re.MULTILINE)
    assert len(found) == 1, stdout + stderr
    return found[0]


THREE = """def main():
    six()
    seven(7)

def six():
    assert 2 * 3 == 6

def seven(number):
    if number > 7:
        assert number == 8
    for _ in range(3):
        assert number == 7
"""
MISSED = "2 of 3 claims were checked; not reached: lec.py:10"


@pytest.mark.parametrize("options", [[], ["--assert=plain"], ["--import-mode=importlib"]])
def test_the_summary_counts_the_claims_and_names_those_that_no_test_reached(options, folder):
    place = folder({"lec.py": THREE})
    assert said_of_claims(place, "--lecture", "lec.py", *options) == MISSED
    chosen = said_of_claims(place, "--lecture", "lec.py", "-k", "six", *options)
    assert chosen == "1 of 3 claims were checked; not reached: lec.py:10, lec.py:12"


def test_it_counts_over_all_processes_and_files(folder):
    place = folder({"lec.py": f"import beside\n{THREE}", "beside.py": SIX})
    options = ["-n", "2", "-p", "xdist", "--lecture", "lec.py"]
    assert said_of_claims(place, *options) == ("3 of 4 claims were checked; not reached: lec.py:11")


def test_a_false_claim_is_one_that_was_checked(folder):
    place = folder({"lec.py": "def one(): assert 1 == 2\n"})
    assert said_of_claims(place, "--lecture", "lec.py") == "1 of 1 claims were checked"


def test_a_section_may_return_something(folder):
    place = folder({"lec.py": "def one():\n    assert 1 == 1\n    return 1\n"})
    assert run_pytest(place, "-W", "error", "--lecture", "lec.py") == (0, {"lec.py::one": "PASSED"})
    other = folder({"test_one.py": "def test_one(): return 1\n"})
    assert run_pytest(other, "-W", "error", "test_one.py")[0] == 1


PACKAGE = {
    "course/__init__.py": "",
    "course/main.py": """\
        from course import sums
        from course.deeper import products

        def main():
            sums.a_sum()
            products.a_product()
    """,
    "course/sums.py": "def main(): assert False\ndef a_sum(): assert 1 + 1 == 2\n",
    "course/deeper/__init__.py": "",
    "course/deeper/products.py": """\
        from course.sums import a_sum

        def a_product():
            product = 2 * 2
            assert product == 5
    """,
    "course/test_sums.py": "def test_sums(): pass\n",
    "course/conftest.py": "def pytest_report_header(): return 'theirs'\n",
}


def test_of_a_package_all_modules_are_tested(folder):
    outcomes = {
        "course/main.py::main": "FAILED",  # for the claim of the main() in sums.py
        "course/sums.py::a_sum": "PASSED",
        "course/deeper/products.py::a_product": "FAILED",
    }
    assert run_pytest(folder(PACKAGE), "--lecture", "course/main.py") == (1, outcomes)


def test_a_module_name_will_do_as_well(folder):
    assert run_pytest(folder(PACKAGE), "--lecture", "course.main", "-k", "sum") == (
        0,
        {"course/sums.py::a_sum": "PASSED"},
    )


def test_a_single_file_brings_what_it_imports_from_its_folder(folder):
    files = {
        "lec.py": "import first\ndef main(): first.one()\n",
        "first.py": "from second import two\nimport lec\ndef one(): assert two() is None\n",
        "second.py": "def two():\n    value = 2\n    assert value == 3\n",
        "third.py": "def three(): assert False\n",
    }
    assert run_pytest(folder(files), "--lecture", "lec.py") == (
        1,
        {"first.py::one": "FAILED", "second.py::two": "FAILED"},
    )


INI = f"""\
[pytest]
pythonpath = {ROOT}
addopts = -p trace.pytest_plugin
lecture = lectures/größe.py
strict_config = true
"""
SMALL = "def one_is_one(): assert 1 == 1\n"


def test_a_configuration_will_do_and_other_tests_stay(folder):
    files = {"pytest.ini": INI, "lectures/größe.py": SMALL, "test_own.py": "def test_own(): pass\n"}
    place = folder(files)
    both = {"lectures/größe.py::one_is_one": "PASSED", "test_own.py::test_own": "PASSED"}
    assert run_pytest(place, plugin=[]) == (0, both)
    status, outcomes = run_pytest(place / "lectures", plugin=[])
    assert (status, list(outcomes.values())) == (0, ["PASSED"])


def test_the_lecture_of_a_configuration_need_not_lie_among_the_tests(folder):
    files = {
        "pytest.ini": INI + "testpaths = tests\n",
        "lectures/größe.py": SMALL,
        "tests/test_own.py": "def test_own(): pass\n",
    }
    status, outcomes = run_pytest(folder(files), plugin=[])
    assert (status, list(outcomes.values())) == (0, ["PASSED", "PASSED"])


@pytest.mark.parametrize("name", ["lec.py", "test_lec.py"])
def test_one_section_is_chosen_by_its_name(name, folder):
    place = folder({name: LECTURE})
    one = (0, {f"{name}::a_sum_is_a_sum": "PASSED"})
    assert run_pytest(place, "--lecture", name, f"{name}::a_sum_is_a_sum") == one
    assert run_pytest(place, "--lecture", name, "-k", "a_sum") == one


def test_the_meter_is_there(folder):
    files = {
        "lec.py": """\
        from trace.costs import measure

        def nothing_costs_nothing():
            with measure() as cost:
                pass
            assert cost.matmul_flops == 0
        """
    }
    assert run_pytest(folder(files), "--lecture", "lec.py")[0] == 0


def test_a_document_has_to_be_current(folder):
    place = folder({"größe.py": "def main(): assert len('größe') == 5\n"})
    check = ["--lecture", "größe.py", "--lecture-check", "größe.json"]
    assert tool("größe.py", "-o", "größe.json", cwd=place)[0] == 0
    both = {"größe.py::main": "PASSED", "größe.py::the_document_is_current": "PASSED"}
    assert run_pytest(place, *check) == (0, both)
    (place / "größe.py").write_text("def main():\n    assert len('große') == 5\n", encoding="utf-8")
    status, stdout, _ = run([*PYTEST, *PLUGIN, *check], place)
    assert status == 1
    assert "assert len('größe') == 5" in stdout
    assert "größe.json is not current: write it anew with python " in stdout
    (place / "größe.json").unlink()
    assert "there is no document größe.json" in run([*PYTEST, *PLUGIN, *check], place)[1]


def test_the_document_may_stand_in_the_configuration(folder):
    place = folder({"pytest.ini": INI, "lectures/größe.py": "def main(): assert 1 == 1\n"})
    assert tool("lectures/größe.py", "-o", "out.json", cwd=place)[0] == 0
    (place / "pytest.ini").write_text(INI + "lecture_check = out.json\n", encoding="utf-8")
    outcomes = run_pytest(place / "lectures", plugin=[])[1]
    assert [name.rpartition("::")[2] for name in outcomes] == ["main", "the_document_is_current"]


# the source, options -> the exit status, a sentence
REFUSED = {
    "no such file": ("", ["--lecture", "nix.py"], 4, "ERROR: there is no file nix.py: give a"),
    "a taken name": ("", ["--lecture", "random"], 4, "ERROR: random belongs to Python or to"),
    "documents without lectures": (
        "",
        ["--lecture", "lec.py", "--lecture-check", "a", "--lecture-check", "b"],
        4,
        "ERROR: give --lecture-check as often as --lecture, in the same order.",
    ),
    "a mistake": ("def main(:", ["--lecture", "lec.py"], 2, "SyntaxError: invalid syntax"),
    "a missing import": ("import nix", ["--lecture", "lec.py"], 2, "No module named 'nix'"),
    "no sections": ("def main(): pass", ["--lecture", "lec.py"], 5, "no tests ran"),
}


@pytest.mark.parametrize(
    ("source", "options", "status", "sentence"), REFUSED.values(), ids=list(REFUSED)
)
def test_what_cannot_be_tested_is_said(source, options, status, sentence, folder):
    found, said = run_pytest(folder({"lec.py": source}), *options)
    assert found == status
    assert sentence in said
    assert "INTERNALERROR" not in said


def test_without_a_lecture_the_plugin_does_nothing(folder):
    place = folder({"lec.py": LECTURE, "test_own.py": "def test_own(): pass\n"})
    assert run_pytest(place) == (0, {"test_own.py::test_own": "PASSED"})
