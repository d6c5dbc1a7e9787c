"""What the command line does with its arguments.

Exit status: 0 done; 1 the lecture failed, `--check` found a difference, or `--strict` a warning;
2 the command cannot be carried out; 130 interrupted.
"""

import argparse
import contextlib
import json
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import documents
from .check import differences
from .document import build
from .encoding import encode, write
from .errors import LectureError, UsageError
from .run import Options, Recording, record, without_own_frames
from .schema import Document
from .server import serve
from .target import Target, find_target

HELD, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

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


def _complain(error: Exception, status: int) -> int:
    sys.stderr.write(f"python -m trace: {error}\n")
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m trace",
        description="Run a lecture, record it, and write one JSON document for the viewer.",
        epilog="Exit status: 0 done; 1 the lecture failed, --check differs or --strict warns; "
        "2 the command cannot be carried out; 130 interrupted.",
    )
    add = parser.add_argument
    add("lecture", nargs="?", help="module (lecture.main) or path of a .py file with a main()")
    add("-o", "--output", type=Path, metavar="PATH", help="where to write the document")
    add("--serve", action="store_true", help="serve the viewer on 127.0.0.1 and print its address")
    add("--port", type=int, default=8000, help="port to serve on; a busy one takes the next")
    add("--open", action="store_true", help="with --serve: open a browser where there is a display")
    add("--if-changed", action="store_true", help="run only if the sources of the document changed")
    add("--check", action="store_true", help="run again and compare with the written document")
    add("--max-steps", type=int, default=Options.max_steps, metavar="N", help="stop after N steps")
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
            return self._serve(None, None)
        target = find_target(options.lecture)
        path = options.output or documents.default_path(target)
        if options.check:
            return self._check(target, path)
        status = HELD
        if not (options.if_changed and documents.is_current(path, target)):
            status = self._trace(target, path)
        return self._serve(target, path) or status if options.serve else status

    def _trace(self, target: Target, path: Path) -> int:
        documents.require_writable(path)
        start_seconds = time.perf_counter()
        recording, document, data = self._record(target)
        write(data, path)
        documents.update_index(path, target)
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
        for warning in document.warnings:
            sys.stderr.write(f"warning: {warning}\n")
        if recording.error is not None:
            _print_failure(recording.error)
        if self.options.verbose:
            for file in document.files:
                sys.stderr.write(f"traced {file.path}\n")
        summary = {
            "lecture": document.module,
            "document": documents.shown(path),
            "steps": sum(event > 0 for event in document.events),
            "claims": len(set(document.claims.statement)),
            "occurrences": len(document.claims.held),
            "failed": document.claims.held.count(False),
            "bytes": document_bytes,
            "seconds": round(seconds, 1),
            "failure": document.failure and document.failure["kind"],
        }
        if self.options.json:
            print(json.dumps(summary))
        elif not self.options.quiet:
            print(_closing_line(summary, self.options))

    def _check(self, target: Target, path: Path) -> int:
        old = documents.read(path)
        recording, _, data = self._record(target)
        if recording.error is not None:
            _print_failure(recording.error)
        found = [] if data == old else differences(json.loads(old), json.loads(data))
        for line in found[:MAX_SHOWN_DIFFERENCES]:
            sys.stderr.write(f"{line}\n")
        if len(found) > MAX_SHOWN_DIFFERENCES:
            sys.stderr.write(f"... and {len(found) - MAX_SHOWN_DIFFERENCES} more differences\n")
        if found:
            sys.stderr.write(f"{documents.shown(path)} is not current: write it anew with ")
            sys.stderr.write(f"python -m trace {self.options.lecture}\n")
            return FAILED
        if not self.options.quiet:
            print(f"{documents.shown(path)} is current.")
        return _status(recording, self.options.strict)

    def _serve(self, target: Target | None, path: Path | None) -> int:
        serve(
            path,
            target.module if target else None,
            port=self.options.port,
            open_browser=self.options.open,
        )
        return HELD


def _status(recording: Recording, strict: bool) -> int:
    if recording.failure is not None:
        return INTERRUPTED if recording.failure["kind"] == "interrupt" else FAILED
    return FAILED if strict and recording.warnings else HELD


def _print_failure(error: BaseException) -> None:
    """Print the traceback as Python does, without the tracer's own frames."""
    link: BaseException | None = error
    while link is not None:
        link.__traceback__ = without_own_frames(link.__traceback__)
        link = link.__cause__ or link.__context__
    traceback.print_exception(error)


def _closing_line(summary: dict[str, Any], options: argparse.Namespace) -> str:
    claims = f"{summary['claims']:,} claim{'s' * (summary['claims'] != 1)}"
    held = f"{summary['failed']:,} of {claims} FAILED" if summary["failed"] else f"{claims} held"
    if summary["failure"] and not summary["failed"]:
        held += f", ended by: {summary['failure']}"
    parts = [
        f"{summary['lecture']}: {summary['steps']:,} steps",
        f"{held} in {summary['occurrences']:,} checks",
        f"{summary['bytes'] / 1e6:.1f} MB in {summary['document']}",
        f"{summary['seconds']} s",
    ]
    look = "" if options.serve else f"; see it: python -m trace {options.lecture} --serve"
    return ", ".join(parts) + look


@contextlib.contextmanager
def _progress(module: str, quiet: bool) -> Iterator[Any]:
    """Show the number of events on a terminal's stderr while the lecture runs."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    stream = sys.stderr
    yield lambda count: (stream.write(f"\r{module}: {count:,} events"), stream.flush())
    stream.write("\r\x1b[K")
