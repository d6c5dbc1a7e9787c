"""Run a lecture again whenever one of its sources changes, and tell the pages that show it.

Each run is a process of its own, so that modules are fresh, and a run that is still going when the
next change comes is stopped. The next one of the lecture that ran last begins in advance, and waits
(`standby.py`).
"""

import argparse
import contextlib
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from ..document.decoding import decode
from ..document.encoding import encode, write
from ..document.summary import Summary
from ..errors import UsageError
from ..schema import Document
from ..target import Target
from ..terminal import PROGRAM, counted, own_command, say
from . import library
from .changes import Sources
from .course import NO_COURSE, Course
from .library import TIMES
from .news import Bulletin
from .overlay import Shown, address_name
from .process import Run
from .rewording import reworded
from .server import announce, make_server, open_in_browser
from .standby import Standby

QUIET_SECONDS = 1.0
"""How often the sources are looked at even if the system reports no change."""


def watch(targets: list[Target], options: argparse.Namespace, course: Course = NO_COURSE) -> None:
    """Serve lectures and keep what is served up to date, until interrupted."""
    _require_watchfiles()
    with contextlib.ExitStack() as stack:
        end = stack.enter_context(_ended_by_signals())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lecture-")))
        documents = [options.output or folder / f"{target.module}.json" for target in targets]
        library.require_writable(documents[0])
        bulletin = Bulletin()
        shown = Shown(
            documents[0],
            bulletin,
            options.host,
            tuple(options.allow_host),
            library.shelf_of(targets[0]),
            tuple(documents[1:]),
            course,
            tuple(options.frames),
        )
        server = stack.enter_context(make_server(shown, options.port))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        stack.callback(server.shutdown)
        address = announce(server, shown)
        standby = Standby()
        stack.callback(standby.end)
        sessions = []
        for lecture, target, document in zip(options.lectures, targets, documents, strict=True):
            staging = folder / "new" / target.module
            session = _Session(target, lecture, options, document, staging, bulletin, standby, end)
            stack.callback(session.stop)
            session.begin()
            sessions.append(session)
        _keep_up(sessions, standby, address if options.open else "", end)


def _keep_up(
    sessions: list["_Session"],
    standby: Standby,
    wanted_address: str,
    end: "_End",
) -> None:
    """Run each lecture again after each change, one at a time; open a browser once all have run."""
    while not end.is_asked_for:
        for session in sessions:
            session.look(may_run=not any(other.is_running for other in sessions))
        if not any(session.is_running or session.is_due for session in sessions):
            standby.prepare()
            if wanted_address:
                open_in_browser(wanted_address)
            wanted_address = ""
        _wait(sessions)


def _wait(sessions: list["_Session"]) -> None:
    """Wait until a file changes beside a source, a run ends, or a while has passed."""
    from watchfiles import watch as changes

    folders = set().union(*(session.folders() for session in sessions))
    runs = [session.run for session in sessions if session.run]
    ended = runs[0].ended if runs else threading.Event()
    try:
        next(
            changes(
                *folders,
                watch_filter=None,
                recursive=False,
                debounce=500,
                stop_event=ended,
                rust_timeout=round(QUIET_SECONDS * 1000),
                yield_on_timeout=True,
            ),
            None,
        )
    except (OSError, RuntimeError):  # a folder is gone, or the system watches no more of them
        ended.wait(QUIET_SECONDS)


def _require_watchfiles() -> None:
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        raise UsageError(
            "--watch needs the package watchfiles: python -m pip install watchfiles"
        ) from None


class _End:
    """Whether somebody asked for the end. Python drops the exception of a signal where it strikes
    in a finalizer; this tells of it all the same."""

    def __init__(self) -> None:
        self.is_asked_for = False
        self._has_to_wait = False

    def ask(self) -> None:
        """Interrupt what goes on, or what comes after it if that must not be cut in two."""
        self.is_asked_for = True
        if not self._has_to_wait:
            raise KeyboardInterrupt

    @contextlib.contextmanager
    def waits(self) -> Iterator[None]:
        """Let the end wait for the block."""
        self._has_to_wait = True
        try:
            yield
        finally:
            self._has_to_wait = False
        if self.is_asked_for:
            raise KeyboardInterrupt


@contextlib.contextmanager
def _ended_by_signals() -> Iterator[_End]:
    """End the block at the first signal that asks for it, and clean up undisturbed by others."""
    asked = _End()
    numbers = [signal.SIGINT, signal.SIGTERM]
    if hasattr(signal, "SIGHUP"):
        numbers.append(signal.SIGHUP)
    previous = {number: signal.getsignal(number) for number in numbers}

    def end(number: int, frame: object) -> None:
        for other in numbers:
            signal.signal(other, signal.SIG_IGN)
        asked.ask()

    for number in numbers:
        signal.signal(number, end)
    try:
        yield asked
    except KeyboardInterrupt:
        pass
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)


class _Session:
    """One lecture that is watched: its sources, the run that is going, what pages were told."""

    def __init__(
        self,
        target: Target,
        lecture: str,
        options: argparse.Namespace,
        document: Path,
        staging: Path,
        bulletin: Bulletin,
        standby: Standby,
        end: _End,
    ) -> None:
        self._target = target
        self._lecture = lecture
        self._options = options
        self._document = document
        self._new = staging / document.name
        self._bulletin = bulletin
        self._standby = standby
        self._end = end
        self._sources = Sources(target)
        self.run: Run | None = None
        self._current: Document | None = None
        """The document of the last run, which shows how the sources were then."""
        self.is_due = False
        """Whether a run is wanted that has to wait for one of another lecture."""
        self._told = {"document": address_name(document), "recorded": "", "sentence": ""}

    def begin(self) -> None:
        """Begin with a document that is there and current, if that is wanted; else with a run."""
        there = self._options.output or library.default_path(self._target, self._options.path)
        if self._options.if_changed and library.is_current(there, self._target):
            self._tell_of(self._take_over(there.read_bytes(), time.time_ns()))
        else:
            self.is_due = True

    @property
    def is_running(self) -> bool:
        """Tell whether a run is going."""
        return self.run is not None

    def folders(self) -> set[Path]:
        """Return the folders in which something may change."""
        return self._sources.folders()

    def look(self, *, may_run: bool) -> None:
        """Take over a run that has ended; run again after a change, at once where that is
        allowed or a run of this lecture is going."""
        if self.run and self.run.ended.is_set():
            self._finish(self.run)
            self.run = None
            self._standby.want(self._target, self._options_of_run(), self._lecture)
        if self._sources.changed():
            self.is_due = not self._reword() or self.is_due
        if self.is_due and (may_run or self.run):
            self._start()

    def stop(self) -> None:
        """End a run that is going; what it has written is dropped."""
        if self.run:
            self.run.stop()
            self.run = None
        shutil.rmtree(self._new.parent, ignore_errors=True)

    def _reword(self) -> bool:
        """Tell the document anew without a run, where only its text has changed."""
        if self.run is not None or self._current is None or self._options.time:
            return False
        began_ns = time.time_ns()
        self._sources.remember()
        document = reworded(self._current, self._target)
        if document is None:
            return False
        seconds = (time.time_ns() - began_ns) / 1e9
        self._say(f"new text, without a run, {seconds:.2f} s")
        self._tell_of(self._take_over(encode(document), began_ns))
        return True

    def _start(self) -> None:
        self.is_due = False
        self.stop()
        self._sources.remember()
        self._tell("running")
        options = self._options_of_run()
        # A run that is not known yet would go on alone.
        with self._end.waits():
            self.run = self._standby.take(self._target, options, self._lecture) or Run(
                own_command(options, self._lecture)
            )

    def _options_of_run(self) -> argparse.Namespace:
        options = argparse.Namespace(**vars(self._options))
        options.output, options.json, options.if_changed = self._new, False, False
        options.progress = options.progress or (sys.stderr.isatty() and not options.quiet)
        options.quiet = True  # the closing line is ours
        return options

    def _finish(self, run: Run) -> None:
        """Take over the document of a run, or tell why there is none."""
        if self._new.exists():
            times = self._new.with_suffix(TIMES)
            if times.exists():
                write(times.read_bytes(), self._document.with_suffix(TIMES))
            summary = self._take_over(self._new.read_bytes(), run.began_ns)
            # Said first: who hears of it may end the watching at once.
            self._say(f"{_facts(summary)}, {run.seconds:.1f} s")
            self._tell_of(summary)
        else:
            self._sources.follow(None, run.began_ns)
            self._told["sentence"] = run.last_words().removeprefix(f"{PROGRAM}: ")
            self._say("nothing new to show")
            self._tell("failed")

    def _take_over(self, data: bytes, began_ns: int) -> Summary:
        """Serve this document from now on, and watch the sources that it names."""
        document = decode(data)
        summary = Summary.of(document)
        library.save(data, self._document, summary)
        library.update_index(self._document, self._target)
        self._sources.follow(document.files, began_ns, document.data)
        self._current = document
        return summary

    def _tell_of(self, summary: Summary) -> None:
        self._told |= {"recorded": str(time.time_ns()), "sentence": summary.complaint}
        self._tell("failed" if summary.failure else "done")

    def _tell(self, state: str) -> None:
        self._bulletin.post(state=state, **self._told)

    def _say(self, text: str) -> None:
        if not self._options.quiet:
            say(f"{time.strftime('%H:%M:%S')} {self._target.module}: {text}")


def _facts(summary: Summary) -> str:
    outcome = "and then it FAILED" if summary.failure else "held"
    return f"{counted(summary.steps, 'step')}, {counted(summary.claims, 'claim')} {outcome}"
