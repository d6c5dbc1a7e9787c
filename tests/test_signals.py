"""Signals reach a recorded lecture as they reach a plain one, and the step limit needs none."""

import contextlib
import json
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from trace.record.bounds import TooSlow, bounded
from trace.record.opened import opened_files

ROOT = Path(__file__).parent.parent
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")

# What a lecture sees of Ctrl-C: its handler, and what happens when it raises it itself.
PROGRAM = """
    import asyncio, signal

    async def waits():
        return signal.getsignal(signal.SIGINT) is signal.default_int_handler

    def main():
        print(signal.getsignal(signal.SIGINT))
        try:
            signal.raise_signal(signal.SIGINT)
            print("went on")
        except KeyboardInterrupt:
            print("interrupted")
        print(asyncio.run(waits()))
        interrupts = []
        signal.signal(signal.SIGINT, lambda number, frame: interrupts.append(number))
        signal.raise_signal(signal.SIGINT)
        print(interrupts, len(interrupts))
    """


def outcome(folder: Path, *command: str, ignored: bool) -> str:
    """What the program prints, in a process that was started to ignore Ctrl-C or not to."""
    handler = signal.SIG_IGN if ignored else signal.SIG_DFL
    done = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, handler),
    )
    return done.stdout


def written(source: str, folder: Path) -> Path:
    file = folder / "lec.py"
    file.write_text(textwrap.dedent(source))
    return file


@POSIX
@pytest.mark.parametrize("ignored", [False, True])
def test_a_lecture_finds_the_handlers_that_it_would_find_plainly(ignored, tmp_path):
    written(PROGRAM, tmp_path)
    plain = outcome(tmp_path, "-c", "import lec; lec.main()", ignored=ignored)
    tool = [str(ROOT / "trace"), "lec.py", "-o", "out.json", "--quiet"]
    assert outcome(tmp_path, *tool, ignored=ignored) == plain
    assert plain.count("went on") == ignored, "the two ways to start it are different ones"


# Lectures that make steps without end, and do with signals and exceptions what they like.
ENDLESS = {
    "ignores the signal": """
        import signal
        def main():
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            while True:
                pass
        """,
    "has a handler of its own": """
        import signal
        def main():
            signal.signal(signal.SIGINT, lambda number, frame: print("called"))
            while True:
                pass
        """,
    "goes on after every exception": """
        def main():
            count = 0
            while count < 3:
                try:
                    while True:
                        pass
                except BaseException:
                    count += 1
        """,
    "reads a value for most of the time": """
        class Slow:
            def __repr__(self):
                for _ in range(2000):
                    pass
                return "slow"

        def main():
            slow = Slow()
            while True:
                slow = slow  # @inspect slow
        """,
    "is a coroutine": """
        import asyncio

        async def forever():
            while True:
                await asyncio.sleep(0)

        def main():
            asyncio.run(forever())
        """,
}


@POSIX
@pytest.mark.parametrize("name", ENDLESS)
def test_the_step_limit_ends_a_lecture_that(name, tmp_path):
    file = written(ENDLESS[name], tmp_path)
    output = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, ROOT / "trace", file, "-o", output, "--max-steps=50", "--quiet"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert "the lecture made more than 50 steps; raise --max-steps" in done.stderr
    document = json.loads(output.read_bytes())
    assert document["failure"]["kind"] == "step limit"


READ = """
    import signal, sys

    class Interrupted:
        def __repr__(self):
            signal.raise_signal(signal.SIGINT)
            return "interrupted"

    def main():
        HANDLER
        value = Interrupted()  # @inspect value
        print("went on")
    """
HANDLERS = {  # what the lecture does at Ctrl-C -> exit status, output
    "pass": (130, ""),
    "signal.signal(signal.SIGINT, lambda *_: print('called'))": (0, "called\nwent on\n"),
    "signal.signal(signal.SIGINT, signal.SIG_IGN)": (0, "went on\n"),
}


@POSIX
@pytest.mark.parametrize("handler", HANDLERS)
def test_ctrl_c_while_a_value_is_read_is_the_lectures(handler, tmp_path):
    """Not that of the value, whose exceptions are its own affair."""
    file = written(READ.replace("HANDLER", handler), tmp_path)
    output = tmp_path / "out.json"
    done = subprocess.run(
        [sys.executable, ROOT / "trace", file, "-o", output, "--quiet"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == HANDLERS[handler]
    assert output.exists()


def test_an_alarm_that_rings_while_it_is_set_does_not_go_on_ringing(monkeypatch):
    set_timer, handler = signal.setitimer, signal.getsignal(signal.SIGALRM)

    def set_late(which, seconds, interval=0.0):
        before = set_timer(which, seconds, interval)
        time.sleep(2 * interval)  # as on a machine that has other things to do
        return before

    monkeypatch.setattr(signal, "setitimer", set_late)
    with pytest.raises(TooSlow), bounded(None, 0.01):
        time.sleep(10)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is handler


@pytest.fixture
def harmless_alarm():
    """What rings late, in a process with other threads, does not end it."""
    before = signal.signal(signal.SIGALRM, lambda *_: None)
    yield signal.getsignal(signal.SIGALRM)
    time.sleep(0.1)
    signal.signal(signal.SIGALRM, before)


@POSIX
def test_an_alarm_that_rings_while_a_bound_is_set_or_lifted_leaves_nothing_behind(
    harmless_alarm, monkeypatch
):
    """Where a machine is busy, more than the block's own time may pass before it is over."""
    set_timer = signal.setitimer

    def set_soon(which, seconds, interval=0.0):
        return set_timer(which, seconds, interval and 0.02)  # handlers need time of their own

    monkeypatch.setattr(signal, "setitimer", set_soon)
    with opened_files():  # its audit hook stays for good, and is called by `sys.settrace`
        pass
    before = sys.gettrace(), harmless_alarm, random.getstate()
    for microseconds in range(4000):
        with contextlib.suppress(TooSlow), bounded(1000, (5 + microseconds % 100) * 1e-6):
            random.random()
        after = sys.gettrace(), signal.getsignal(signal.SIGALRM), random.getstate()
        timer = set_timer(signal.ITIMER_REAL, 0)
        sys.settrace(before[0])
        assert after == before, microseconds
        assert timer == (0.0, 0.0)
