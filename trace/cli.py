"""What the command line does with its arguments.

Exit status: 0 done; 1 the lecture failed, `--check` found a difference, or `--strict` a warning;
2 the command cannot be carried out; 130 interrupted.
"""

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from . import documents
from .check import differences
from .document import build
from .encoding import encode, write
from .errors import LectureError, UsageError
from .failures import without_own_frames
from .run import Recording, record
from .schema import Document
from .server import MAX_PORT, serve
from .surroundings import Options
from .target import Target, find_target
from .times import encode_times

HELD, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

MAX_STEPS = 1_000_000_000
MAX_SHOWN_DIFFERENCES = 20


def main(arguments: list[str] | None = None) -> int:
    """Carry out one command; return its exit status."""
    options = _parser().parse_args(arguments)
    try:
        return _Command(options).run()
    except UsageError as error:
        return _complain(error, USAGE)
    except LectureError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


def _complain(error: Exception | str, status: int) -> int:
    sys.stderr.write(f"python -m trace: {error}\n")
    return status


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(_complain(f"{message}; --help lists the options.", USAGE))


def _number(least: int, most: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text} is not one of {least:,} to {most:,}")
        return int(text)

    return number


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m trace",
        description="Run a lecture, record it, and write one JSON document for the viewer.",
        epilog="Exit status: 0 done; 1 the lecture failed, --check differs or --strict warns; "
        "2 the command cannot be carried out; 130 interrupted.",
    )
    add = parser.add_argument
    add("lecture", nargs="?", help="module (lecture.main) or path of a .py file with a main()")
    add("-o", "--output", type=Path, metavar="PATH", help="where to write the document")
    add("--serve", action="store_true", help="serve the viewer on 127.0.0.1 and print its address")
    add(
        "--port",
        type=_number(0, MAX_PORT),
        default=8000,
        metavar="N",
        help="port to serve on; a busy one takes the next",
    )
    add("--open", action="store_true", help="with --serve: open a browser where there is a display")
    add("--if-changed", action="store_true", help="run only if the sources of the document changed")
    add("--check", action="store_true", help="run again and compare with the written document")
    add(
        "--max-steps",
        type=_number(1, MAX_STEPS),
        default=Options.max_steps,
        metavar="N",
        help="stop after this many steps",
    )
    add("--time", action="store_true", help="also write NAME.times.json: seconds, @timed values")
    add("--no-costs", action="store_true", help="do not meter FLOPs and memory")
    add("--strict", action="store_true", help="warnings fail the run")
    add("--include", action="append", default=[], metavar="GLOB", help="trace only such paths")
    add("--exclude", action="append", default=[], metavar="GLOB", help="do not trace such paths")
    add("--json", action="store_true", help="print the summary as JSON")
    add("-q", "--quiet", action="store_true", help="print nothing but errors")
    add("-v", "--verbose", action="store_true", help="list the traced files")
    return parser


@dataclass
class _Command:
    options: argparse.Namespace

    def run(self) -> int:
        options = self.options
        if options.lecture is None:
            if not options.serve:
                raise UsageError("name a lecture to run, such as lecture.main, or give --serve.")
            self._serve(None, None)
            return HELD
        target = find_target(options.lecture)
        path = options.output or documents.default_path(target)
        if options.check:
            return self._check(target, path)
        status = HELD
        if options.if_changed and documents.is_current(path, target):
            self._say_current(path)
        else:
            status = self._trace(target, path)
        if options.serve and status != INTERRUPTED:
            self._serve(target, path)
        return status

    def _trace(self, target: Target, path: Path) -> int:
        documents.require_writable(path)
        start_seconds = time.perf_counter()
        recording, document, data = self._record(target)
        try:
            write(data, path)
            if self.options.time:
                write(encode_times(recording), path.with_suffix(".times.json"))
            documents.update_index(path, target)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return _complain(f"{documents.shown(path)} could not be written: {reason}.", FAILED)
        self._report(recording, document, path, len(data), time.perf_counter() - start_seconds)
        return _status(recording, self.options.strict)

    def _record(self, target: Target) -> tuple[Recording, Document, bytes]:
        options = self.options
        with _progress(target.module, options.quiet) as progress:
            recording = record(
                target,
                Options(
                    max_steps=options.max_steps,
                    costs=not options.no_costs,
                    time=options.time,
                    include=tuple(options.include),
                    exclude=tuple(options.exclude),
                    progress=progress,
                ),
            )
        document = build(recording)
        return recording, document, encode(document)

    def _report(
        self,
        recording: Recording,
        document: Document,
        path: Path,
        document_bytes: int,
        seconds: float,
    ) -> None:
        """Warnings and the failure on stderr, one closing line on stdout."""
        _print_complaints(recording, document)
        if self.options.verbose:
            for file in document.files:
                sys.stderr.write(f"traced {file.path}\n")
        claims = document.claims
        rows = zip(claims.statement, claims.held, strict=True)
        summary = {
            "lecture": document.module,
            "document": documents.shown(path),
            "steps": sum(event > 0 for event in document.events),
            "claims": len(set(claims.statement)),
            "occurrences": len(claims.held),
            "failed": len({statement for statement, held in rows if not held}),
            "bytes": document_bytes,
            "seconds": round(seconds, 1),
            "failure": document.failure and document.failure["kind"],
        }
        if self.options.json:
            print(json.dumps(summary))
        elif not self.options.quiet:
            print(_closing_line(summary, self.options))

    def _check(self, target: Target, path: Path) -> int:
        old_data, old = documents.read(path)
        recording, document, data = self._record(target)
        _print_complaints(recording, document)
        found = [] if data == old_data else differences(old, json.loads(data))
        for line in found[:MAX_SHOWN_DIFFERENCES]:
            sys.stderr.write(f"{line}\n")
        if len(found) > MAX_SHOWN_DIFFERENCES:
            sys.stderr.write(f"... and {len(found) - MAX_SHOWN_DIFFERENCES} more differences\n")
        if found:
            sys.stderr.write(f"{documents.shown(path)} is not current: write it anew with ")
            sys.stderr.write(f"python -m trace {self.options.lecture}\n")
            return FAILED
        self._say_current(path)
        return _status(recording, self.options.strict)

    def _say_current(self, path: Path) -> None:
        if not self.options.quiet:
            print(f"{documents.shown(path)} is current.")

    def _serve(self, target: Target | None, path: Path | None) -> None:
        serve(
            path,
            target.module if target else None,
            port=self.options.port,
            open_browser=self.options.open,
        )


def _status(recording: Recording, strict: bool) -> int:
    if recording.failure is not None:
        return INTERRUPTED if recording.failure["kind"] == "interrupt" else FAILED
    return FAILED if strict and recording.warnings else HELD


def _print_complaints(recording: Recording, document: Document) -> None:
    """Warnings, and the traceback as Python prints it, without the tracer's own frames."""
    for warning in document.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    if recording.error is not None:
        _cut_own_frames(recording.error, set())
        sys.__excepthook__(type(recording.error), recording.error, recording.error.__traceback__)


def _cut_own_frames(error: BaseException | None, done: set[int]) -> None:
    """Cut them from an exception, what it came from, and what it holds."""
    if error is None or id(error) in done:
        return
    done.add(id(error))
    error.__traceback__ = without_own_frames(error.__traceback__)
    held = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    for other in (error.__cause__, error.__context__, *held):
        _cut_own_frames(other, done)


def _closing_line(summary: dict[str, Any], options: argparse.Namespace) -> str:
    claims = _counted(summary["claims"], "claim")
    held = f"{summary['failed']:,} of {claims} FAILED" if summary["failed"] else f"{claims} held"
    parts = [
        f"{summary['lecture']}: {_counted(summary['steps'], 'step')}",
        f"{held} in {_counted(summary['occurrences'], 'check')}",
        f"{summary['bytes'] / 1e6:.1f} MB in {summary['document']}",
        f"{summary['seconds']} s",
    ]
    if summary["failure"] not in (None, "claim"):
        parts.insert(2, f"ended by: {summary['failure']}")
    look = "" if options.serve else f"; see it: python -m trace {options.lecture} --serve"
    return ", ".join(parts) + look


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


@contextlib.contextmanager
def _progress(module: str, quiet: bool) -> Iterator[Any]:
    """Show the number of events on a terminal's stderr while the lecture runs."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    stream = sys.stderr
    shown = False

    def show(count: int | None) -> None:
        """Show the count; None: wipe it away, for something else comes."""
        nonlocal shown
        if count is not None or shown:
            stream.write("\r\x1b[K" if count is None else f"\r{module}: {count:,} events")
            stream.flush()
        shown = count is not None

    try:
        yield show
    finally:
        show(None)
