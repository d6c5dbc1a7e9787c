"""What `--import` and `--convert` do: traces and lectures of other tools, taken over."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from .document.beside import moved_out
from .document.encoding import encode, write
from .document.summary import Summary
from .errors import HELD, LectureError, UsageError
from .foreign.convert import NamedMedia, convert
from .foreign.published import read_published
from .record.run import Recording
from .said.media import Media
from .schema import Document
from .serve import library
from .target import Target, file_of
from .terminal import counted, say

Record = Callable[[Target, Media], tuple[Recording, Document]]


def path_of_imported(file: Path) -> Path:
    """Return where the document of another tool's trace is written unless told otherwise."""
    return file.parent / library.AUTHORS / f"{file.stem}.json"


def write_imported(file: Path, path: Path, options: argparse.Namespace) -> int:
    """Write the document of a trace of another tool; return the exit status."""
    document = read_published(file, options.download)
    library.require_writable(path)
    files, summary = moved_out(document), Summary.of(document)
    library.save(encode(document), path, summary, files)
    if not options.quiet:
        for warning in document.warnings:
            sys.stderr.write(f"warning: {warning}\n")
        said = counted(len(document.said.step), "rendering")
        values = counted(len(document.inspections.value), "value")
        steps = counted(summary.steps, "step")
        say(f"{summary.module}: {steps}, {values}, {said}, in {path}.")
    return HELD


def write_converted(target: Target, options: argparse.Namespace, record: Record) -> int:
    """Write a lecture that says things by calling as one whose comments say them; return the exit
    status."""
    lecture, path = file_of(target), options.output
    if path.resolve() == lecture:
        raise UsageError(f"{path} is the lecture itself: give another place with -o.")
    recording, document = record(target, NamedMedia(options.download))
    if document.failure is not None:
        raise LectureError("what a lecture says is known once it has run to its end.")
    if not document.said.step:
        raise UsageError(f"{target.module} says nothing by calling: there is nothing to convert.")
    name = lecture.relative_to(target.root).as_posix()
    [source] = [source for source in recording.files if source.path == name]
    converted = convert(source, document)
    write(converted.source.encode(), path)
    for line in converted.left:
        sys.stderr.write(f"left as it is: {line}\n")
    if not options.quiet:
        comments = counted(converted.comments, "comment")
        docstrings = counted(converted.docstrings, "docstring")
        left = counted(len(converted.left), "call")
        say(f"{path}: {comments} and {docstrings} in place of calls, {left} left as they are.")
    return HELD
