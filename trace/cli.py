"""What the command line does with its arguments.

What only some commands need is imported by them: the smallest run takes a fifth less time.
"""

import sys

if __name__ == "__main__":  # where nothing below can be imported
    sys.stderr.write("Start the folder, not a file in it: python -m trace my_lecture.py\n")
    raise SystemExit(2)

import argparse
import atexit
import json
import os
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from .aliases import answer_to_all_names
from .arguments import parse
from .document.beside import moved_out, whole
from .document.build import build
from .document.check import differences
from .document.decoding import decode
from .document.encoding import encode, write
from .document.failed_claim import sides_of_failed_claim
from .document.summary import Summary
from .document.times import encode_times
from .errors import FAILED, HELD, INTERRUPTED, USAGE, LectureError, UsageError
from .options import Options
from .record.frames import cut_own_frames
from .record.progress import progress_on
from .record.run import Recording, record
from .said.media import Media
from .schema import Document
from .serve import library
from .serve.course import Course, course_of
from .serve.library import TIMES
from .serve.overlay import Shown
from .serve.publication import Publication
from .target import Target, find_target
from .terminal import PROGRAM, complain, counted, own_command, quoted, say

MAX_SHOWN_DIFFERENCES = 20


def main(arguments: list[str] | None = None) -> int:
    """Carry out one command; return its exit status."""
    # How torch's threads wait for each other is read when it is imported. Left alone they ask again
    # and again, which slows a lecture down beside other programs; asleep at once, they wake up too
    # late. So they ask for a moment and then sleep (benchmarks/RESULTS.md).
    if "OMP_WAIT_POLICY" not in os.environ:
        os.environ["OMP_WAIT_POLICY"] = "PASSIVE"
        os.environ.setdefault("GOMP_SPINCOUNT", "5000")
    try:
        options = parse(arguments)
        answer_to_all_names()
        if options.stand_by:
            from .serve.standby import wait_for_turn

            if not wait_for_turn(options.stand_by):
                return INTERRUPTED
        return _Command(options).run()
    except UsageError as error:
        return complain(error, USAGE)
    except LectureError as error:
        return complain(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED


@dataclass
class _Command:
    options: argparse.Namespace

    def run(self) -> int:
        options = self.options
        if options.new is not None:
            return self._write_example(options.new)
        if options.new_course is not None:
            return self._write_course(options.new_course)
        targets = [find_target(lecture) for lecture in options.lectures]
        course = course_of(targets[0].root if targets else Path.cwd())
        publication = Publication(options.html, options.site, course, tuple(options.frames))
        paths = [options.output or self._place(target, publication) for target in targets]
        if options.imported is not None:
            from .import_and_convert import path_of_imported

            paths = [options.output or path_of_imported(options.imported)]
        publication.require_distinct(options.lectures, paths)
        publication.require_writable()
        if options.convert:
            from .import_and_convert import write_converted

            return write_converted(targets[0], options, self._recorded)
        if options.watch:
            from .serve.watch import watch

            watch(targets, options, course)
            return HELD
        before = [library.stamp(path) for path in paths]
        statuses = self._run_all(targets, paths)
        status = max(statuses, default=HELD)
        if options.is_current and status != HELD:
            return status
        if publication.is_wanted and status == HELD:
            status = publication.publish(paths)
        elif publication.is_wanted and status != INTERRUPTED:
            status = self._publish_draft(publication, paths, before, statuses)
        if options.serve and status != INTERRUPTED:
            self._serve(targets, paths, course)
        elif publication.is_wanted and status == HELD and not (options.quiet or options.json):
            verb = "are" if options.html and options.site else "is"
            say(f"{publication} {verb} written.{publication.word_about_size}")
        return status

    def _place(self, target: Target, publication: Publication) -> Path:
        """Return where the document of a lecture is written. One that is only published may lie
        anywhere, where its own place cannot be written."""
        path = library.default_path(target, self.options.path)
        is_kept = self.options.serve or self.options.check or not publication.is_wanted
        if is_kept or library.looks_writable(path):
            return path
        folder = tempfile.mkdtemp(prefix="lecture-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / path.name

    def _run_all(self, targets: list[Target], paths: list[Path]) -> list[int]:
        """Run the lectures, several of them each in a process of its own, as if alone; return their
        exit statuses. The last is INTERRUPTED if it was."""
        if self.options.imported is not None:
            from .import_and_convert import write_imported

            return [write_imported(self.options.imported, paths[0], self.options)]
        if len(targets) == 1:
            return [self._run(targets[0], paths[0])]
        statuses = []
        for lecture, target, path in zip(self.options.lectures, targets, paths, strict=True):
            place = None if path == library.default_path(target, self.options.path) else path
            statuses.append(self._run_apart(lecture, place))
            if statuses[-1] == INTERRUPTED:
                break
        return statuses

    def _publish_draft(
        self,
        publication: Publication,
        paths: list[Path],
        before: list[tuple[int, int] | None],
        statuses: list[int],
    ) -> int:
        """Publish what was recorded, if that is wanted, with lectures that failed on the way."""
        status = max(statuses)
        if not self.options.draft:
            return publication.refuse(status)
        runs = zip(paths, before, statuses, strict=True)
        shown = [path for path, old, own in runs if own == HELD or library.stamp(path) != old]
        if not shown:
            return publication.refuse(status)
        if not self.options.quiet:
            missing = counted(len(paths) - len(shown), "lecture")
            without = f", without {missing} that could not run" if len(shown) < len(paths) else ""
            say(f"{publication}: a draft{without}.")
        return max(status, publication.publish(shown))

    def _run_apart(self, lecture: str, place: Path | None) -> int:
        options = argparse.Namespace(**{**vars(self.options), "output": place})
        with subprocess.Popen(own_command(options, lecture)) as process:
            try:
                status = process.wait()
            except KeyboardInterrupt:  # which it was told too, and writes what it has recorded
                process.wait()
                return INTERRUPTED
        if status < 0:
            return complain(f"{lecture} was ended by signal {-status}.", FAILED)
        return status

    def _run(self, target: Target, path: Path) -> int:
        if self.options.check:
            return self._check(target, path)
        if self.options.is_current:
            return self._require_current(target, path)
        if self.options.if_changed and library.is_current(path, target):
            self._say_current(path)
            return HELD
        return self._trace(target, path)

    def _require_current(self, target: Target, path: Path) -> int:
        if library.is_current(path, target):
            self._say_current(path)
            return HELD
        return complain(f"{library.shown(path)} is not current: {_command(self.options)}", FAILED)

    def _write_example(self, path: Path) -> int:
        from .serve.new import write_example

        write_example(path)
        if not self.options.quiet:
            see = f"{PROGRAM} {quoted(str(path))} --serve --watch --open"
            say(f"{path} is yours to change; see it: {see}")
        return HELD

    def _write_course(self, folder: Path) -> int:
        from .serve.new import write_course

        write_course(folder)
        if not self.options.quiet:
            see = f"{PROGRAM} {quoted(str(folder))} --serve"
            say(f"{folder} is yours to change; see it: {see}")
        return HELD

    def _trace(self, target: Target, path: Path) -> int:
        library.require_writable(path)
        start_seconds = time.perf_counter()
        recording, document = self._record(target)
        files = moved_out(document)
        data, summary = encode(document), Summary.of(document)
        try:
            library.save(data, path, summary, files)
            if self.options.time:
                write(encode_times(recording), path.with_suffix(TIMES))
            library.update_index(path, target)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            return complain(f"{library.shown(path)} could not be written: {reason}.", FAILED)
        _print_complaints(recording, document)
        self._list_details(document)
        seconds = round(time.perf_counter() - start_seconds, 1)
        self._say_closing_line(summary, path, len(data), seconds)
        return _status(document, self.options.strict)

    def _recorded(self, target: Target, media: Media) -> tuple[Recording, Document]:
        """Run a lecture, and say what was wrong."""
        recording, document = self._record(target, media)
        _print_complaints(recording, document)
        return recording, document

    def _record(self, target: Target, media: Media | None = None) -> tuple[Recording, Document]:
        """Run a lecture."""
        options = self.options
        progress = progress_on(target.module, quiet=options.quiet, wanted=options.progress)
        try:
            recording = record(
                target,
                Options(
                    max_steps=options.max_steps,
                    costs=not options.no_costs,
                    locals=not options.no_locals,
                    time=options.time,
                    include=tuple(options.include),
                    exclude=tuple(options.exclude),
                    path=options.path,
                    download=options.download,
                    progress=progress,
                ),
                media,
            )
        finally:
            if progress:
                progress(None)
        return recording, build(recording)

    def _list_details(self, document: Document) -> None:
        if self.options.verbose:
            for file in document.files:
                sys.stderr.write(f"traced {file.path}\n")
            for operator, calls in document.uncounted.items():
                sys.stderr.write(f"not counted: {operator}, {counted(calls, 'call')}\n")

    def _say_closing_line(
        self, summary: Summary, path: Path, document_bytes: int, seconds: float
    ) -> None:
        if self.options.json:
            facts = {
                "lecture": summary.module,
                "document": library.shown(path),
                "steps": summary.steps,
                "claims": summary.claims,
                "occurrences": summary.checks,
                "failed": summary.failed_claims,
                "bytes": document_bytes,
                "seconds": seconds,
                "failure": summary.failure,
            }
            print(json.dumps(facts))
        elif not self.options.quiet:
            size = f"{_size(document_bytes)} in {library.shown(path)}"
            say(_closing_line(summary, size, seconds, self.options))

    def _check(self, target: Target, path: Path) -> int:
        # What cannot be read is refused before the lecture runs.
        written, _ = library.read(path, bytes_of=whole)
        recording, document = self._record(target)
        recorded = encode(document)
        _print_complaints(recording, document)
        found = [] if recorded == written else differences(decode(written), decode(recorded))
        for line in found[:MAX_SHOWN_DIFFERENCES]:
            sys.stderr.write(f"{line}\n")
        if len(found) > MAX_SHOWN_DIFFERENCES:
            sys.stderr.write(f"... and {len(found) - MAX_SHOWN_DIFFERENCES} more differences\n")
        if found:
            sys.stderr.write(f"{library.shown(path)} is not current: write it anew with ")
            sys.stderr.write(f"{_command(self.options)}\n")
            return FAILED
        self._say_current(path)
        return _status(document, self.options.strict)

    def _say_current(self, path: Path) -> None:
        if not self.options.quiet:
            say(f"{library.shown(path)} is current.")

    def _serve(self, targets: list[Target], paths: list[Path], course: Course) -> None:
        from .serve.server import serve

        shown = Shown(
            course=course,
            document=paths[0] if len(paths) == 1 else None,
            host=self.options.host,
            allowed_hosts=tuple(self.options.allow_host),
            shelf=library.shelf_of(targets[0]) if targets else library.shelf_here(),
            others=tuple(paths) if len(paths) > 1 else (),
            frames=tuple(self.options.frames),
        )
        serve(shown, port=self.options.port, open_browser=self.options.open)


def _status(document: Document, strict: bool) -> int:
    if document.failure is not None:
        return INTERRUPTED if document.failure["kind"] == "interrupt" else FAILED
    return FAILED if strict and document.warnings else HELD


def _print_complaints(recording: Recording, document: Document) -> None:
    """Warnings, and the traceback as Python prints it, without the tracer's own frames; below it
    what both sides of a false claim were."""
    for warning in document.warnings:
        sys.stderr.write(f"warning: {warning}\n")
    if recording.error is not None:
        cut_own_frames(recording.error)
        # Which may be the lecture's own.
        sys.excepthook(type(recording.error), recording.error, recording.error.__traceback__)
        if sides := sides_of_failed_claim(document):
            sys.stderr.write(f"{sides}\n")


def _closing_line(summary: Summary, size: str, seconds: float, options: argparse.Namespace) -> str:
    claims, failed = counted(summary.claims, "claim"), summary.failed_claims
    held = f"{failed:,} of {claims} FAILED" if failed else f"{claims} held"
    parts = [
        f"{summary.module}: {counted(summary.steps, 'step')}",
        f"{held} in {counted(summary.checks, 'check')}",
        size,
        f"{seconds} s",
    ]
    if summary.failure not in (None, "claim"):
        parts.insert(2, f"ended by: {summary.failure}")
    look = "" if options.serve else f"; see it: {PROGRAM} {quoted(options.lectures[0])} --serve"
    return ", ".join(parts) + look


def _size(size_bytes: int) -> str:
    return f"{size_bytes / 1e6:.1f} MB" if size_bytes >= 1e5 else f"{size_bytes / 1e3:.1f} kB"


def _command(options: argparse.Namespace) -> str:
    """Return the command that writes the document, as it is typed."""
    path = f" --path {options.path}" if options.path else ""
    place = f" -o {quoted(str(options.output))}" if options.output else ""
    return f"{PROGRAM} {quoted(options.lectures[0])}{path}{place}"
