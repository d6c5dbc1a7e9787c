"""`--html` and `--site`, each as one types them, and every sentence that can come of it."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.outside import ROOT, TOOL, copy_of_the_tool, tool
from trace.serve.library import machines_beside

PIPES = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
GOOD = '"""A title."""\ndef main():\n    x = 1  # @inspect x\n    assert x == 1\n'


@pytest.fixture
def lectures(tmp_path):
    """A folder with some lectures."""
    for name in ("first", "second"):
        (tmp_path / f"{name}.py").write_text(GOOD.replace("title", f"{name} title"))
    (tmp_path / "wrong.py").write_text("def main():\n    assert 1 == 2\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/first.py").write_text(GOOD)
    return tmp_path


@pytest.fixture
def published(lectures):
    """`published("first.py", "--site", "site")` carries it out with a tool of its own."""
    folder = copy_of_the_tool(lectures / "tool") / "trace"
    return lambda *arguments: tool(*arguments, cwd=lectures, folder=folder)


def titles(site):
    listed = json.loads((site / "traces/index.json").read_text())["documents"]
    return {entry["file"]: entry["title"] for entry in listed}


def test_one_file(published, lectures):
    status, stdout, stderr = published("first.py", "--html", "out/first.html")
    assert (status, stderr) == (0, "")
    assert stdout.splitlines()[-1] == f"{Path('out/first.html')} is written."
    page = (lectures / "out/first.html").read_text(encoding="utf-8")
    assert "<title>A first title</title>" in page
    assert {file.name for file in (lectures / "out").iterdir()} == {"first.html"}


def test_the_same_lecture_gives_the_same_file(published, lectures):
    published("first.py", "--html", "one.html", "-q")
    published("first.py", "--html", "two.html", "-q")
    assert (lectures / "one.html").read_bytes() == (lectures / "two.html").read_bytes()


def test_a_site_of_several_lectures(published, lectures):
    status, stdout, stderr = published("first.py", "second.py", "--site", "site")
    assert (status, stderr) == (0, "")
    assert len(stdout.splitlines()) == 3
    assert stdout.splitlines()[-1] == "site is written."
    site = lectures / "site"
    assert titles(site) == {"first.json": "A first title", "second.json": "A second title"}
    assert {file.name for file in (site / "traces").iterdir()} == {
        "first.json",
        "index.json",
        "second.json",
    }
    assert list(site.rglob(".*")) == [site / ".nojekyll"]
    assert not [*site.rglob("live.*"), *site.rglob("*.d.ts")]
    assert (site / "vendor/katex/LICENSE").exists()


def test_a_site_keeps_the_lectures_that_it_has(published, lectures):
    published("first.py", "--site", "site", "-q")
    published("second.py", "--site", "site", "-q")
    (lectures / "site/CNAME").write_text("lecture.example")
    assert list(titles(lectures / "site")) == ["first.json", "second.json"]
    (lectures / "site/traces/second.json").unlink()
    assert published("first.py", "--site", "site", "-q") == (0, "", "")
    assert list(titles(lectures / "site")) == ["first.json"]
    assert (lectures / "site/CNAME").exists()


def test_a_site_lists_its_lectures_in_the_order_in_which_they_are_named(published, lectures):
    (lectures / "a_third.py").write_text(GOOD)
    for named, listed in [
        (["second.py", "first.py"], ["second.json", "first.json"]),
        (["a_third.py"], ["second.json", "first.json", "a_third.json"]),
        (["first.py"], ["second.json", "first.json", "a_third.json"]),
        (["a_third.py", "second.py"], ["a_third.json", "first.json", "second.json"]),
    ]:
        assert published(*named, "--site", "site", "-q") == (0, "", "")
        assert list(titles(lectures / "site")) == listed


def test_nothing_in_a_site_is_addressed_from_its_root(published, lectures):
    published("first.py", "--site", "site", "-q")
    page = (lectures / "site/index.html").read_text()
    addresses = re.findall(r'(?:src|href)="([^"]*)"', page)
    addresses += re.findall(r'": "(\./[^"]*)"', page)
    assert len(addresses) > 20
    assert [one for one in addresses if one.startswith(("/", "http"))] == []
    files = [one for one in addresses if not one.endswith("/")]
    assert [one for one in files if not (lectures / "site" / one).exists()] == []


def test_a_current_document_is_published_without_a_run(published, lectures):
    published("first.py", "-q")
    status, stdout, _ = published("first.py", "--if-changed", "--site", "site")
    assert status == 0
    assert "is current." in stdout
    assert "steps" not in stdout
    assert list(titles(lectures / "site")) == ["first.json"]


def test_a_name_beyond_ascii_stays_in_a_file_and_in_a_site(published, lectures):
    (lectures / "übung_λ.py").write_text(GOOD, encoding="utf-8")
    arguments = ("übung_λ.py", "--html", "übung.html", "-q")
    assert published(*arguments) == (0, "", "")
    assert "<title>A title</title>" in (lectures / "übung.html").read_text(encoding="utf-8")
    assert published("übung_λ.py", "--site", "Größe", "-q") == (0, "", "")
    assert list(titles(lectures / "Größe")) == ["übung_λ.json"]
    assert (lectures / "Größe/traces/übung_λ.json").exists()
    status, stdout, stderr = published("übung_λ.py", "--check")
    assert (status, stdout.endswith("übung_λ.json is current.\n"), stderr) == (0, True, "")


def test_times_of_other_machines_have_labels(tmp_path):
    for name in (
        *("a.json", "a.times.json", "a.epyc.times.json", "a.m3-max.times.json"),
        *("a.b.json", "a.b.times.json", "ab.epyc.times.json"),
    ):
        (tmp_path / name).write_text("{}")
    assert machines_beside(tmp_path / "a.json") == ["epyc", "m3-max"]
    assert machines_beside(tmp_path / "a.b.json") == []


def test_a_site_has_the_times_that_were_measured(published, lectures):
    times = lectures / "site/traces/first.times.json"
    published("first.py", "--time", "--site", "site", "-q")
    assert json.loads(times.read_bytes())["module"] == "first"
    index = lectures / "site/traces/index.json"
    assert json.loads(index.read_bytes())["documents"][0]["times"] is True
    (lectures / ".lecture-trace/first.times.json").unlink()
    published("first.py", "--site", "site", "-q")
    assert not times.exists()
    assert "times" not in json.loads(index.read_bytes())["documents"][0]


@pytest.mark.parametrize("option", ["--html", "--site"])
def test_a_lecture_that_fails_is_not_published(option, published, lectures):
    status, stdout, stderr = published("wrong.py", option, "out")
    assert status == 1
    assert stderr.endswith("trace: out was not written, for the lecture failed.\n")
    assert "1 of 1 claim FAILED" in stdout
    assert not (lectures / "out").exists() or not (lectures / "out/index.html").exists()


def test_one_of_several_that_fails_keeps_all_from_being_published(published, lectures):
    status, _, stderr = published("wrong.py", "first.py", "--site", "site", "-q")
    assert status == 1
    assert stderr.endswith("trace: site was not written, for the lecture failed.\n")
    assert not (lectures / "site/index.html").exists()


def test_a_draft_shows_what_failed_up_to_there(published, lectures):
    (lectures / "broken.py").write_text("def main(:")
    published("second.py", "-q")
    (lectures / "second.py").write_text("def main(:")  # whose document is of another source
    names = ["wrong.py", "first.py", "broken.py", "second.py"]
    status, stdout, _ = published(*names, "--site", "site", "--draft")
    assert status == 1
    assert stdout.endswith("site: a draft, without 2 lectures that could not run.\n")
    assert titles(lectures / "site") == {"wrong.json": "wrong", "first.json": "A first title"}
    listed = json.loads((lectures / "site/traces/index.json").read_text())["documents"]
    assert [entry["failed"] for entry in listed] == [True, False]


def test_a_draft_of_nothing_is_none(published, lectures):
    for name in ("broken.py", "worse.py"):
        (lectures / name).write_text("def main(:")
    status, _, stderr = published("broken.py", "worse.py", "--site", "site", "--draft")
    assert status == 1
    assert stderr.endswith("site was not written, for the lecture failed.\n")
    assert not (lectures / "site/index.html").exists()


def test_a_folder_gives_its_lectures(published, lectures):
    files = {
        "course/b.py": GOOD.replace("A title", "B"),
        "course/a.py": GOOD.replace("A title", "A"),
        "course/c.py": "from a import main\n",
        "course/helper.py": "def double(x): return 2 * x\n",
        "course/_draft.py": GOOD,
        "course/test_a.py": GOOD,
        "course/deeper/d.py": GOOD,
        "pack/__init__.py": "",
        "pack/main.py": GOOD,
        "pack/part.py": GOOD,
    }
    for name, text in files.items():
        (lectures / name).parent.mkdir(parents=True, exist_ok=True)
        (lectures / name).write_text(text)
    assert published("course/", "pack/", "--site", "site", "-q") == (0, "", "")
    shown = titles(lectures / "site")
    assert shown == {"a.json": "A", "b.json": "B", "c.json": "c", "pack.main.json": "A title"}
    assert list(shown)[:2] == ["a.json", "b.json"]


def test_a_site_that_cannot_be_written_is_said_in_one_sentence(published, lectures):
    published("first.py", "--site", "site", "-q")
    (lectures / "site/index.html").unlink()
    (lectures / "site/index.html").mkdir()
    (lectures / "site/traces/first.json").unlink()
    (lectures / "site/traces/first.json").mkdir()
    status, stdout, stderr = published("first.py", "--site", "site", "-q")
    assert (status, stdout) == (2, "")
    assert "cannot write " in stderr
    (lectures / "site/index.html").rmdir()
    status, stdout, stderr = published("first.py", "--site", "site", "-q")
    assert (status, stdout) == (1, "")
    assert stderr.endswith("trace: site could not be written: Is a directory.\n")


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_one_of_several_that_is_killed_is_a_failure(published, lectures):
    (lectures / "wrong.py").write_text("import os\ndef main(): os.kill(os.getpid(), 9)")
    status, _, stderr = published("first.py", "wrong.py", "--site", "site", "-q")
    assert status == 1
    said = [line.partition("trace: ")[2] for line in stderr.splitlines()]
    assert said == [
        "wrong.py was ended by signal 9.",
        "site was not written, for the lecture failed.",
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_ctrl_c_ends_all_of_several(published, lectures):
    # If one of our threads took the signal, what sleeps would not wake up.
    text = "import os, signal, time\ndef main(): os.killpg(0, signal.SIGINT) or time.sleep(600)"
    (lectures / "first.py").write_text(text)
    command = [sys.executable, lectures / "tool/trace", "first.py", "second.py", "--site", "site"]
    with subprocess.Popen(command, cwd=lectures, start_new_session=True, **PIPES) as process:
        stdout, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert stdout.startswith("first: 1 step, 0 claims held in 0 checks, ended by: interrupt, ")
    assert stdout.count("\n") == 1
    assert stderr.endswith("\nKeyboardInterrupt\n")
    assert not (lectures / "site/index.html").exists()


def test_several_lectures_are_checked(published, lectures):
    published("first.py", "second.py", "-q")
    status, stdout, stderr = published("first.py", "second.py", "--check")
    assert (status, stderr, stdout.count("is current.")) == (0, "", 2)
    (lectures / "second.py").write_text(GOOD.replace("1", "2"))
    status, stdout, stderr = published("first.py", "second.py", "--check")
    assert (status, stdout.count("is current.")) == (1, 1)
    assert "second.json is not current: write it anew with " in stderr


def test_several_summaries_are_a_line_each(published):
    status, stdout, _ = published("first.py", "second.py", "--json")
    assert status == 0
    assert [json.loads(line)["lecture"] for line in stdout.splitlines()] == ["first", "second"]
    stdout = published("first.py", "--json", "--html", "first.html")[1]
    assert json.loads(stdout)["lecture"] == "first"


NO_SITE = "is neither empty nor a site that was made with --site: choose another folder."
ONE = "takes one lecture: name one, or leave it out."
WATCH = "--watch shows a lecture while it is written: leave out"
NO_LECTURE = "name a lecture to run, such as lecture.main, or give --serve."
# arguments -> the sentence; nothing is run, nothing is written
REFUSED = [
    (["first.py", "--site", "other"], f"other {NO_SITE}"),
    (["first.py", "--site", "first.py"], f"first.py {NO_SITE}"),
    (
        ["first.py", "--html", "other"],
        "cannot write other (it is a folder): choose another place with --html.",
    ),
    (
        ["first.py", "other/first.py", "--site", "s"],
        "of first.py and other/first.py, two would be first.json: rename one of the files.",
    ),
    (["first.py", "second.py", "--html", "a.html"], f"--html {ONE}"),
    (["first.py", "second.py", "-o", "a"], f"--output {ONE}"),
    *[
        (["first.py", "--watch", f"--{name}", "a"], f"{WATCH} --{name}.")
        for name in ("html", "site")
    ],
    *[(["first.py", "--watch", f"--{name}"], f"{WATCH} --{name}.") for name in ("check", "json")],
    (["first.py", "--check", "--html", "s"], "--check only compares: leave out --html."),
    (["first.py", "--check", "--site", "s"], "--check only compares: leave out --site."),
    (["first.py", "--check", "--serve"], "--check only compares: leave out --serve."),
    (["--site", "s"], NO_LECTURE),
    (["--html", "s"], NO_LECTURE),
    (["--watch", "--serve"], NO_LECTURE),
    (["--check"], NO_LECTURE),
    (
        ["first.py", "missing.py", "--site", "s"],
        "there is no file missing.py: give a lecture's path or module name.",
    ),
]


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED)
def test_what_cannot_be_carried_out_is_said_in_one_sentence(arguments, sentence, lectures):
    before = set(lectures.rglob("*"))
    status, stdout, stderr = tool(*arguments, cwd=lectures)
    assert (status, stdout) == (2, "")
    assert stderr == f"python {TOOL}: {sentence}\n"
    assert set(lectures.rglob("*")) == before


def test_the_workflow_publishes_what_is_written(tmp_path):
    workflow = (ROOT / ".github/workflows/pages.yml").read_text()
    assert "run: python -m trace lecture.main --is-current --site site\n" in workflow
    assert "path: site\n" in workflow


@pytest.mark.parametrize("lectures", [["a.py"], ["a.py", "b.py"]])
def test_what_is_only_published_needs_no_place_of_its_own(lectures, tmp_path):
    repository = copy_of_the_tool(tmp_path / "tool")
    for name in lectures:
        (tmp_path / name).write_text("def main(): pass\n")
    (tmp_path / ".lecture-trace").write_text("in the way")
    options = {"cwd": tmp_path, "folder": repository / "trace"}
    assert tool(*lectures, "--site", "site", "-q", **options) == (0, "", "")
    assert (tmp_path / "site/traces/a.json").is_file()
    if len(lectures) == 1:
        assert tool(*lectures, "--html", "a.html", "-q", **options) == (0, "", "")
        assert "cannot write" in tool(*lectures, "-q", **options)[2]
