"""What the targets run, and how little the second time: with a Python that only takes notes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
INSTALL = "-m pip --disable-pip-version-check install --quiet --constraint constraints.txt"
TOOLS = ("make", "sh", "sed", "grep", "awk", "mkdir", "cp", "touch")
NOTING = """\
#!/bin/sh
case "$*" in
  "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && exit ;;
  *"config list") printf "%s" "$FAKE_CONFIG" && exit ;;
  "-c "*) exit $FAKE_TOO_OLD ;;
esac
echo "$*" >> "$LOG"
case "$*" in *--is-current*) exit $FAKE_STALE ;; esac
"""

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="there is no make")


def program(path, script):
    path.write_text(script)
    path.chmod(0o755)


@pytest.fixture
def make(tmp_path):
    """Runs make where nothing is installed; returns what the noting Python was asked to do."""
    (tmp_path / "bin").mkdir()
    for name in TOOLS:
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    program(tmp_path / "bin/noting", NOTING)
    program(tmp_path / "bin/uname", "#!/bin/sh\necho ${FAKE_SYSTEM:-Linux}\n")
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    log = tmp_path / "log"

    def run(*arguments, status=0, **fakes):
        log.write_text("")
        environment = {"PATH": str(tmp_path / "bin"), "LOG": str(log), "FAKE_TOO_OLD": "0"}
        environment |= {"FAKE_STALE": "0"} | fakes
        command = ["make", f"PYTHON={tmp_path / 'bin/noting'}", *arguments]
        finished = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True
        )
        assert finished.returncode == status, finished.stdout + finished.stderr
        run.said = finished.stdout + finished.stderr
        return log.read_text().splitlines()

    return run


VIEW = "-m trace lecture.main --is-current --serve --open"
TRACE = "-m trace lecture.main --serve --open"
PYTEST = "-m pytest --numprocesses=auto --maxprocesses=4 --dist=loadfile --no-loadscope-reorder"
TEST = ["-m tests.chromium", f"{PYTEST} -m not slow"]


@pytest.fixture
def own_index():
    """What `pip config list` prints where pip is told to use an index of its own."""
    return "global.extra-index-url='https://example.org/simple'\n"


def test_view_sets_nothing_up_where_the_document_is_current(make, tmp_path):
    assert make("view") == [VIEW]
    assert not (tmp_path / ".venv").exists()


def test_view_runs_the_lecture_where_it_is_not(make, own_index):
    first = make("view", FAKE_STALE="1", FAKE_CONFIG=own_index)
    assert first[0] == VIEW
    assert first[2:] == [f"{INSTALL} --group lecture", TRACE]


def test_trace_sets_up_once_and_shows_what_it_writes(make, own_index):
    first = make("trace", FAKE_CONFIG=own_index)
    assert first[0].endswith("install --quiet --upgrade pip>=25.1")
    assert first[1:] == [f"{INSTALL} --group lecture", TRACE]
    assert make("trace", FAKE_CONFIG=own_index) == [TRACE]


def test_test_adds_what_tests_need_and_a_chromium(make, own_index):
    first = make("test", FAKE_CONFIG=own_index)
    assert first[1:] == [f"{INSTALL} --group lecture", f"{INSTALL} --group test", *TEST]
    assert make("test", FAKE_CONFIG=own_index) == TEST


def test_slow_tests_are_all_others(make, own_index):
    make("test", FAKE_CONFIG=own_index)
    assert make("slow", FAKE_CONFIG=own_index) == ["-m tests.chromium", f"{PYTEST} -m slow"]


def test_other_requirements_are_installed_again(make, own_index, tmp_path):
    make("trace", FAKE_CONFIG=own_index)
    stamp = (tmp_path / ".venv/.lecture-ready").stat().st_mtime
    os.utime(tmp_path / "constraints.txt", (stamp + 10, stamp + 10))
    assert make("trace", FAKE_CONFIG=own_index) == [f"{INSTALL} --group lecture", TRACE]


# the system, what pip is told, whether there is an NVIDIA card -> whether the CPU index is asked
TORCH = [
    ("Linux", "", False, True),
    ("Linux", "global.cert='/etc/cert.pem'\n", False, True),
    ("Linux", ":env:.find-links=''\n", False, True),
    ("Linux", ":env:.find-links='/wheels'\n", False, False),
    ("Linux", "global.index-url='https://example.org/simple'\n", False, False),
    ("Linux", "", True, False),
    ("Darwin", "", False, False),
]


@pytest.mark.parametrize(("system", "config", "card", "asked"), TORCH)
def test_the_small_torch_is_taken_where_cuda_is_of_no_use(
    make, tmp_path, system, config, card, asked
):
    if card:
        program(tmp_path / "bin/nvidia-smi", "#!/bin/sh\n")
    ran = make("trace", FAKE_SYSTEM=system, FAKE_CONFIG=config)
    version = next(
        line
        for line in (ROOT / "constraints.txt").read_text().split()
        if line.startswith("torch==")
    )
    small = f"{INSTALL} --no-deps --extra-index-url {CPU_INDEX} {version}"
    assert (small in ran) is asked
    assert len(ran) == 3 + asked


def test_a_python_that_is_too_old_gets_one_sentence(make):
    assert make("trace", status=2, FAKE_TOO_OLD="1") == []
    assert "Python 3.11 or newer is needed" in make.said
    assert not any(line.startswith("Traceback") for line in make.said.splitlines())


def test_a_port_can_be_chosen(make):
    assert make("view", "PORT=8001") == [f"{VIEW} --port 8001"]
    assert make("trace", "PORT=8001")[-1] == f"{TRACE} --port 8001"


def test_tests_can_be_chosen(make):
    assert make("test", "ARGS=-m lecture")[-1] == f"{PYTEST} -m not slow -m lecture"


def test_chapters_to_mutate_can_be_chosen(make):
    assert make("mutate")[-1] == "-m tests.mutate"
    assert make("mutate", "ARGS=storage tensors")[-1] == "-m tests.mutate storage tensors"


def test_a_failing_step_fails_the_target_and_is_tried_again(make, tmp_path, own_index):
    make("trace", FAKE_CONFIG=own_index)
    (tmp_path / ".venv/.lecture-ready").unlink()
    program(tmp_path / ".venv/bin/python", "#!/bin/sh\nexit 1\n")
    make("trace", status=2)
    assert not (tmp_path / ".venv/.lecture-ready").exists()


def test_without_a_target_the_targets_are_listed(make):
    make()
    listed = make.said
    assert "make view " in listed
    assert "make test " in listed
    make("help")
    assert make.said == listed
