"""`--watch`: a saved change is run and told of; what goes on is stopped; nothing is left behind."""

import argparse
import contextlib
import http.client
import json
import os
import queue
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from trace.cli import main
from trace.schema import Prose, SourceFile
from trace.serve import watch as watching
from trace.serve.changes import Sources
from trace.serve.news import Bulletin
from trace.serve.standby import Standby
from trace.target import find_target

ROOT = Path(__file__).parent.parent
PATIENCE_SECONDS = 120

pytest.importorskip("watchfiles")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals to end it with")


def save(file, text):
    """Write a file as editors do: under another name, then renamed."""
    new = file.with_name(f".{file.name}.new")
    new.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    new.replace(file)


class Watched:
    """A command that watches, and what a page that is open hears from it."""

    def __init__(self, folder, *arguments, tool=("-m", "trace"), cwd=ROOT):
        (folder / "tmp").mkdir(exist_ok=True)
        self.temporary = folder / "tmp"
        self.process = subprocess.Popen(
            [sys.executable, *map(str, [*tool, *arguments]), "--watch", "--port", "0"],
            cwd=cwd,
            env={**os.environ, "TMPDIR": str(self.temporary)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        self.address = self.process.stdout.readline().split()[1]
        self.port = int(self.address.split(":")[2].partition("/")[0])
        self._news = queue.Queue()
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", "/news")
        answer = connection.getresponse()
        assert answer.headers.get_content_type() == "text/event-stream"
        with contextlib.suppress(ConnectionError, http.client.IncompleteRead, ValueError):
            for line in answer:
                if line.startswith(b"data: "):
                    self._news.put(json.loads(line[6:]))

    def hear(self, **wanted):
        """The next notice like that; what comes before it is passed over."""
        while True:
            notice = self._news.get(timeout=PATIENCE_SECONDS)
            if wanted.items() <= notice.items():
                return notice

    def get(self, path):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        connection.request("GET", path)
        with contextlib.closing(connection):
            return connection.getresponse().read()

    def document(self, name="lecture"):
        return json.loads(self.get(f"/traces/{name}.json"))

    def end(self, number=signal.SIGINT):
        """Interrupt it; returns its status and what it said."""
        self.process.send_signal(number)
        said = self.process.communicate(timeout=PATIENCE_SECONDS)
        return self.process.returncode, *said


@pytest.fixture
def start(tmp_path):
    """`start(source, "--time")` writes a lecture and watches it."""
    started = []

    def watch(source, *options, name="lecture", folder=tmp_path, **keywords):
        folder.mkdir(exist_ok=True)
        save(folder / f"{name}.py", source)
        started.append(Watched(folder, folder / f"{name}.py", *options, **keywords))
        return started[-1]

    yield watch
    for watched in started:
        with contextlib.suppress(ProcessLookupError):
            watched.process.kill()
        watched.process.communicate()


def lecture(number):
    return f"""
        def main():
            x = {number}  # @inspect x
            assert x == {number}
        """


def value_of(document):
    return document["values"][document["inspections"]["value"][0]]["value"]


def test_each_saved_change_is_recorded(start, tmp_path):
    watched = start(lecture(0))
    recorded = {watched.hear(state="done")["recorded"]}
    assert value_of(watched.document()) == 0
    for number in range(1, 11):
        save(tmp_path / "lecture.py", lecture(number))
        notice = watched.hear(state="done")
        assert notice["document"] == "lecture"
        assert notice["sentence"] == ""
        recorded.add(notice["recorded"])
        assert value_of(watched.document()) == number
    assert len(recorded) == 11
    status, stdout, stderr = watched.end()
    assert (status, stderr) == (0, "")
    assert stdout.count(" lecture: 2 steps, 1 claim held, ") == 11


# what is saved in place of the lecture, the end of what pages are told, whether it is recorded
BROKEN = [
    ("def main(:", "lecture.py:1: SyntaxError: invalid syntax", False),
    ("import missing\ndef main(): pass", "ModuleNotFoundError: No module named 'missing'", False),
    ("x = 1", "define one without arguments; it is what the tracer calls.", False),
    ("def main():\n    x = 1  # @inpsect x", "@exercise, @fold, @section.)", False),
    ("def main():\n    1 / 0", "lecture.py:2: ZeroDivisionError: division by zero", True),
    ("def main():\n    assert 1 == 2, 'no'", "lecture.py:2: a claim is false: no", True),
    ("import os\ndef main(): os._exit(3)", "The run ended with status 3.", False),
]


@pytest.mark.parametrize(("source", "sentence", "is_recorded"), BROKEN)
def test_a_broken_save_is_told_and_the_next_one_recovers(
    source, sentence, is_recorded, start, tmp_path
):
    watched = start(lecture(1))
    good = watched.hear(state="done")["recorded"]
    save(tmp_path / "lecture.py", source)
    notice = watched.hear(state="failed")
    assert notice["sentence"].endswith(sentence)
    assert "python -m trace" not in notice["sentence"]
    assert (notice["recorded"] != good) == is_recorded
    assert (watched.document()["failure"] is not None) == is_recorded
    save(tmp_path / "lecture.py", lecture(2))
    assert watched.hear(state="done")["sentence"] == ""
    assert value_of(watched.document()) == 2


def test_pages_are_told_of_the_first_warning(start, tmp_path):
    watched = start("def main():\n    x = 1  # @inspect y\n    z = 2  # @inspect x a b")
    sentence = "lecture.py:2: y does not exist here. (2 more in the terminal)"
    assert watched.hear(state="done")["sentence"] == sentence
    save(tmp_path / "lecture.py", "def main():\n    x = 1  # @inspect y")
    assert watched.hear(state="done")["sentence"] == "lecture.py:2: y does not exist here."
    save(tmp_path / "lecture.py", lecture(2))
    assert watched.hear(state="done")["sentence"] == ""


def test_a_lecture_that_is_broken_at_first(start, tmp_path):
    watched = start("import beside\ndef main(:")
    assert watched.hear(state="failed")["recorded"] == ""
    assert json.loads(watched.get("/traces/index.local.json")) == {"documents": []}
    save(tmp_path / "lecture.py", "import beside\ndef main(): assert beside.x == 1")
    assert "No module named 'beside'" in watched.hear(state="failed")["sentence"]
    save(tmp_path / "beside.py", "x = 1")
    assert watched.hear(state="done")["recorded"]
    assert len(json.loads(watched.get("/traces/index.local.json"))["documents"]) == 1


def test_started_by_its_folder_from_elsewhere(start, tmp_path):
    watched = start(lecture(1), tool=[ROOT / "trace"], cwd=tmp_path)
    watched.hear(state="done")
    assert value_of(watched.document()) == 1
    save(tmp_path / "lecture.py", "def main(:")
    sentence = "lecture.py:1: SyntaxError: invalid syntax"
    assert watched.hear(state="failed")["sentence"] == sentence
    assert watched.end()[0] == 0


WAITING = """
    import subprocess, time, pathlib
    def main():
        helper = subprocess.Popen(["sleep", "60"])
        pathlib.Path(r"{folder}/pid").write_text(str(helper.pid))
        print("ready", flush=True)
        time.sleep(60)
    """


def is_alive(pid):
    """Whether a process runs; one that has ended and waits for its parent does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]
    except OSError:
        return False
    return state != "Z"


def gone(pid):
    for _ in range(200):
        if not is_alive(pid):
            return True
        time.sleep(0.05)
    return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc")


@needs_proc
def test_a_run_that_is_still_going_is_stopped_by_the_next_save(start, tmp_path):
    watched = start(WAITING.format(folder=tmp_path))
    assert watched.process.stdout.readline() == "ready\n"
    pid = int((tmp_path / "pid").read_text())
    assert is_alive(pid)
    save(tmp_path / "lecture.py", lecture(5))
    assert watched.hear(state="done")
    assert value_of(watched.document()) == 5
    assert gone(pid)
    status, stdout, stderr = watched.end()
    assert (status, stderr) == (0, "")
    assert stdout.count("\n") == 1


@needs_proc
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_behind(number, start, tmp_path):
    watched = start(WAITING.format(folder=tmp_path))
    assert watched.process.stdout.readline() == "ready\n"
    pid = int((tmp_path / "pid").read_text())
    children = Path(f"/proc/{watched.process.pid}/task/{watched.process.pid}/children")
    child = int(children.read_text().split()[0]) if children.exists() else pid
    assert list(watched.temporary.iterdir()) != []
    assert watched.end(number) == (0, "", "")
    assert list(watched.temporary.iterdir()) == []
    assert gone(pid)
    assert gone(child)
    names = {file.name for file in tmp_path.iterdir()} - {"__pycache__"}
    assert names == {"lecture.py", "pid", "tmp"}


def test_a_lecture_that_does_not_let_itself_be_interrupted(start, tmp_path):
    stubborn = """
        import signal, time
        def main():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            print("ready", flush=True)
            while True:
                time.sleep(1)
        """
    watched = start(stubborn)
    assert watched.process.stdout.readline() == "ready\n"
    save(tmp_path / "lecture.py", lecture(6))
    assert watched.hear(state="done")
    assert value_of(watched.document()) == 6


def test_a_lecture_that_leaves_a_process_in_a_session_of_its_own(start, tmp_path):
    leaving = """
        import pathlib, subprocess
        def main():
            helper = subprocess.Popen(["sleep", "60"], start_new_session=True)
            pathlib.Path(r"{folder}/pid").write_text(str(helper.pid))
        """
    watched = start(leaving.format(folder=tmp_path))
    try:
        assert watched.hear(state="done")
        save(tmp_path / "lecture.py", lecture(7))
        assert watched.hear(state="done")
        assert value_of(watched.document()) == 7
    finally:
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


def test_two_lectures_do_not_mix(start, tmp_path):
    first = start(lecture(1), folder=tmp_path / "first")
    second = start(lecture(2), folder=tmp_path / "second")
    first.hear(state="done"), second.hear(state="done")
    assert (value_of(first.document()), value_of(second.document())) == (1, 2)
    save(tmp_path / "second/lecture.py", lecture(3))
    second.hear(state="done")
    assert (value_of(first.document()), value_of(second.document())) == (1, 3)
    assert first._news.empty()


def test_lectures_in_one_folder_do_not_mix(start, tmp_path):
    first = start(lecture(1), name="first")
    first.hear(state="done")
    second = start(lecture(2), name="second")
    second.hear(state="done")
    save(tmp_path / "second.py", lecture(3))
    second.hear(state="done")
    time.sleep(2 * watching.QUIET_SECONDS)
    assert first._news.empty()
    assert value_of(first.document("first")) == 1


def test_what_a_lecture_imports_and_shows_is_watched_too(start, tmp_path):
    (tmp_path / "images").mkdir()
    source = (
        "import beside\ndef main():\n    # ![dot](images/dot.gif)\n    x = beside.f()  # @inspect x"
    )
    save(tmp_path / "beside.py", "def f(): return 1")
    watched = start(source)
    watched.hear(state="done")
    save(tmp_path / "beside.py", "def f(): return 2")
    watched.hear(state="done")
    assert value_of(watched.document()) == 2
    (tmp_path / "images/dot.gif").write_bytes(b"GIF89a\x01\x00\x01\x00\x00\x00\x00;")
    watched.hear(state="done")
    assert list(watched.document()["assets"]) == ["images/dot.gif"]


COUNTS_ITS_RUNS = """
    def main():
        # {text}
        with open("table.csv") as table:
            x = table.read()  # @inspect x
        with open("runs.txt", "a") as runs:
            runs.write("again ")
    """


def test_text_alone_is_told_without_a_run_and_data_with_one(start, tmp_path):
    (tmp_path / "table.csv").write_text("1")
    watched = start(
        COUNTS_ITS_RUNS.format(text="Before."), cwd=tmp_path, tool=(str(ROOT / "trace"),)
    )
    watched.hear(state="done")
    save(tmp_path / "lecture.py", COUNTS_ITS_RUNS.format(text="After,\n        # twice."))
    watched.hear(state="done")
    document = watched.document()
    assert document["files"][0]["prose"][0]["text"] == "After,\ntwice."
    assert (tmp_path / "runs.txt").read_text() == "again "
    (tmp_path / "table.csv").write_text("2")
    watched.hear(state="done")
    assert value_of(watched.document()) == "2"
    assert (tmp_path / "runs.txt").read_text() == "again again "
    status, stdout, stderr = watched.end()
    assert (status, stderr) == (0, "")
    assert stdout.count("new text, without a run, 0.") == 1


def test_several_lectures_are_watched_at_once(start, tmp_path):
    for number in (1, 2):
        save(tmp_path / f"week{number}.py", lecture(number))
    watched = start(lecture(0), tmp_path / "week1.py", tmp_path / "week2.py")
    documents = {watched.hear(state="done")["document"] for _ in range(3)}
    assert documents == {"lecture", "week1", "week2"}
    save(tmp_path / "week2.py", lecture(5))
    assert watched.hear(state="done")["document"] == "week2"
    assert value_of(watched.document("week2")) == 5
    assert value_of(watched.document("week1")) == 1
    assert watched.end()[0] == 0


def test_the_next_run_waits_and_is_not_left_behind(start, tmp_path):
    def waiting():
        found = subprocess.run(["ps", "-ewwo", "args"], capture_output=True, text=True, check=True)
        return [line for line in found.stdout.splitlines() if str(tmp_path) in line
                and "--stand-by" in line]  # fmt: skip

    watched = start("import numpy\n" + textwrap.dedent(lecture(0)))
    for number in range(1, 4):
        watched.hear(state="done")
        until = time.monotonic() + PATIENCE_SECONDS
        while not waiting() and time.monotonic() < until:
            time.sleep(0.05)
        assert len(waiting()) == 1
        save(tmp_path / "lecture.py", "import numpy\n" + textwrap.dedent(lecture(number)))
    watched.hear(state="done")
    assert value_of(watched.document()) == 3
    status, _, stderr = watched.end()
    assert (status, stderr, waiting()) == (0, "", [])


def test_with_an_output_the_document_stays(start, tmp_path):
    output = tmp_path / "out" / "kept.json"
    watched = start(lecture(1), "-o", output, "--time", "-q")
    assert watched.hear(state="done")["document"] == "kept"
    assert watched.document("kept")["module"] == "lecture"
    assert json.loads(watched.get("/traces/kept.times.json"))["module"] == "lecture"
    assert watched.end() == (0, "", "")
    assert value_of(json.loads(output.read_bytes())) == 1
    assert {file.name for file in output.parent.iterdir()} == {"kept.json", "kept.times.json"}


def test_if_changed_begins_with_the_document_that_is_there(start, tmp_path):
    output = tmp_path / "out.json"
    first = start(lecture(1), "-o", output)
    first.hear(state="done")
    first.end()
    written = output.stat().st_mtime_ns
    second = start(lecture(1), "-o", output, "--if-changed")
    second.hear(state="done")
    assert value_of(json.loads(output.read_bytes())) == 1
    assert "steps" not in second.end()[1]
    assert output.stat().st_mtime_ns >= written


def test_it_says_what_it_needs(monkeypatch, tmp_path, capsys):
    (tmp_path / "lec.py").write_text("def main(): pass")
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    assert main([str(tmp_path / "lec.py"), "--watch"]) == 2
    sentence = "--watch needs the package watchfiles: python -m pip install watchfiles"
    assert capsys.readouterr() == ("", f"python -m trace: {sentence}\n")


# Parts ------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_that_strikes_in_a_finalizer_ends_it_too(monkeypatch):
    class Finalized:
        def __del__(self):
            signal.raise_signal(signal.SIGINT)

    def wait(sessions):
        if not waits.pop():
            raise AssertionError("it went on")
        Finalized()

    waits = [False, True]
    session = object.__new__(watching._Session)
    session.run, session.is_due = None, False
    session._sources = argparse.Namespace(changed=lambda: False)
    monkeypatch.setattr(watching, "_wait", wait)
    with watching._ended_by_signals() as is_asked_to_end:
        watching._keep_up([session], Standby(), "", is_asked_to_end)
    assert waits == [False]


def test_pages_hear_the_latest_notice_at_once_and_each_new_one():
    bulletin = Bulletin()
    bulletin.post(state="running")
    bulletin.post(state="done")
    events = bulletin.events()
    assert next(events) == b'data: {"state": "done"}\n\n'
    bulletin.post(state="failed")
    assert next(events) == b'data: {"state": "failed"}\n\n'


def test_a_page_that_has_nothing_to_hear_is_asked_whether_it_is_there(monkeypatch):
    monkeypatch.setattr("trace.serve.news.STILL_THERE_SECONDS", 0.01)
    bulletin = Bulletin()
    events = bulletin.events()
    assert next(events).startswith(b"data: {}")
    assert next(events) == b":\n\n"


@pytest.fixture
def sources(tmp_path):
    save(tmp_path / "lec.py", lecture(1))
    save(tmp_path / "other.py", "x = 1")
    return Sources(find_target(str(tmp_path / "lec.py")))


def test_before_there_is_a_document_all_files_beside_it_count(sources, tmp_path):
    sources.remember()
    assert not sources.changed()
    save(tmp_path / "new.py", "")
    assert sources.changed()
    sources.remember()
    assert not sources.changed()
    (tmp_path / "other.py").unlink()
    assert sources.changed()


def file(path, *texts):
    """A source file with these comments."""
    prose = [Prose(1, 1, "comment", text) for text in texts]
    return SourceFile(path, "", prose, tokens=[], hidden=[])


def test_then_only_those_that_were_used(sources, tmp_path):
    sources.remember()
    sources.follow([file("lec.py", "![a](sub/b.png)")], time.time_ns())
    assert sources.folders() == {tmp_path}
    save(tmp_path / "other.py", "x = 22")
    assert not sources.changed()
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/b.png").touch()
    assert sources.changed()
    assert sources.folders() == {tmp_path, tmp_path / "sub"}


def test_a_file_that_changed_while_the_run_went_on_is_noticed(sources, tmp_path):
    sources.remember()
    began = time.time_ns() - 10**9
    save(tmp_path / "new.py", "x = 1")
    sources.follow([file("lec.py"), file("new.py")], began)
    assert sources.changed()
    sources.remember()
    assert not sources.changed()


def test_of_a_package_all_folders_count(tmp_path):
    (tmp_path / "pack/inner").mkdir(parents=True)
    for name in ("pack/__init__.py", "pack/lec.py", "pack/inner/__init__.py"):
        (tmp_path / name).touch()
    sources = Sources(find_target(str(tmp_path / "pack/lec.py")))
    sources.remember()
    assert sources.folders() == {tmp_path / "pack", tmp_path / "pack/inner"}
    (tmp_path / "pack/inner/more.py").touch()
    assert sources.changed()
