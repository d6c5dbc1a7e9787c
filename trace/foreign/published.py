"""A trace that edtrace, its forerunner of CS336 2025 or lectrace wrote, as a document of ours.

Such a trace has its sources, for each step the calls that are open, by file and line, and what was
shown after it. Statements, functions and highlighting come from the sources; events from how the
open calls change. Nothing is run. Claims, costs and variables were not recorded.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..document.beside import assets_of
from ..errors import LectureError, UsageError
from ..rewrite.numbering import Numbering
from ..rewrite.prose import prose_of
from ..rewrite.rows import Tables
from ..rewrite.source import Source
from ..said.media import Media
from ..said.pieces import value_of
from ..said.placing import join_verbatim, mark_prose
from ..schema import (
    Claims,
    Document,
    Environment,
    Failure,
    Inspections,
    Locals,
    Memory,
    Output,
    Said,
    SourceFile,
    Value,
)
from ..terminal import counted
from .contents import MAX_CHARACTERS, value_of_contents


def read_published(path: Path, download: bool = False) -> Document:
    """Return the document of a trace in a file. Raises UsageError where it is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path} ({error.strerror}).") from None
    # Traces lie with their lecture, or in `var/traces` below it.
    folders = (Path(), *path.resolve().parents[:3])
    return document_of(data, str(path), Media(download, folders))


def document_of(data: bytes, path: str, media: Media) -> Document:
    """Return the document of a trace, which was read from this path. Raises UsageError where it is
    none, LectureError where it is not as its tool writes it."""
    trace = _read(data, path)
    if not isinstance(trace.get("steps"), list) or not isinstance(trace.get("files"), dict):
        raise UsageError(
            f"{path} is no trace of edtrace, CS336 or lectrace: it has no steps or no files."
        )
    if (version := str(trace.get("version", KNOWN_VERSION))) != KNOWN_VERSION:
        raise UsageError(
            f"{path} is of version {version:.20} of lectrace's traces: {KNOWN_VERSION} is read."
        )
    try:
        return _Published(Path(path), trace, media).document()
    except _MISTAKES as error:
        raise LectureError(f"{path} is not as its tool writes it: {_told(error)}.") from None


def _read(data: bytes, path: str) -> dict[str, Any]:
    """Return the object that is in a file. Raises UsageError where there is none."""
    try:
        trace = json.loads(data)
    except json.JSONDecodeError as error:
        is_cut = error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated")
        why = f"{error.msg} in line {error.lineno}, column {error.colno}"
        why = "it ends in the middle" if is_cut and error.doc.strip() else why
        raise UsageError(f"{path} is not JSON: {why}.") from None
    except ValueError:
        raise UsageError(f"{path} is not JSON: it is no text.") from None
    except RecursionError:
        raise UsageError(f"{path} is nested too deeply for a trace.") from None
    if isinstance(trace, dict) and "statements" in trace and "events" in trace:
        raise UsageError(f"{path} is a document of this tool: it needs no import.")
    return trace if isinstance(trace, dict) else {}


def _told(error: Exception) -> str:
    return str(error) if isinstance(error, _Malformed) else f"{type(error).__name__}: {error}"


KNOWN_VERSION = "2"
"""Of lectrace's traces; the others say none."""

_MISTAKES = (AttributeError, LookupError, TypeError, ValueError, OverflowError, RecursionError)
"""What reading raises where something is of another kind than its tool writes."""


class _Malformed(ValueError):
    """A step is not as its tool writes it."""


@dataclass
class _Open:
    """A call that has not returned."""

    function: int
    """Its number, from 1."""
    entry: int
    """Index of the event that entered it."""
    statement: int = 0
    """Number of the statement it stands at, or 0."""
    event: int = -1
    """Index of the event of that statement, or of the entry."""
    step: int = -1


@dataclass
class _Published:
    path: Path
    trace: dict[str, Any]
    media: Media
    tables: Tables = field(default_factory=Tables)
    events: list[int] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    inspections: Inspections = field(default_factory=Inspections)
    said: Said = field(default_factory=Said)
    output: list[Output] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    _open: list[_Open] = field(default_factory=list)
    _steps: int = 0
    _left_out: int = 0
    """Steps on lines that no statement owns."""
    _left: bool = False
    """Whether a call was left since the last step, or one that is not the lecture's was seen."""

    def __post_init__(self) -> None:
        self._interned: dict[str, int] = {}
        self._statements: dict[tuple[str, int, int], int] = {}

    def document(self) -> Document:
        """Return the document."""
        files = [*self._sources()]
        self._find_statements()
        for number, step in enumerate(self.trace["steps"]):
            try:
                self._step(step)
            except _MISTAKES as error:
                raise _Malformed(f"in step {number}, {_told(error)}") from None
        if self._left_out:
            steps = counted(self._left_out, "step")
            self.warnings.append(f"{steps} left out: no statement stands where they were.")
        self.events += [0] * len(self._open)
        document = self._document(files)
        join_verbatim(document.said, document.values)
        mark_prose(document, self.tables, self.events)
        document.assets |= assets_of(self.media)
        document.warnings += [f"{name} {why}." for name, why in self.media.missing.items()]
        return document

    def _document(self, files: list[SourceFile]) -> Document:
        metadata = self.trace.get("metadata") or {}
        tool = "lectrace" if metadata else "edtrace"
        environment = Environment(python=str(metadata.get("python_version", "?")), recorded_by=tool)
        module = str(metadata.get("module") or self.path.stem)
        return Document(
            module=module,
            title=module,
            environment=environment,
            files=files,
            statements=self.tables.statements,
            functions=self.tables.functions,
            events=self.events,
            names=self.names,
            values=self.values,
            inspections=self.inspections,
            locals=Locals(),
            readings=[],
            effects=[],
            assertions=[],
            claims=Claims(),
            output=self.output,
            said=self.said,
            costs=None,
            memory=Memory(),
            uncounted={},
            topics={},
            assets={},
            warnings=self.warnings,
            failure=self._failure(metadata.get("error")),
        )

    def _failure(self, error: dict[str, Any] | None) -> Failure | None:
        if not error:
            return None
        return Failure(
            kind="exception",
            type=str(error.get("exception_type")),
            message=str(error.get("message")),
            step=self._steps - 1,
            at=len(self.events),
            traceback=[],
        )

    # Sources ------------------------------------------------------------------------------------

    def _sources(self) -> Iterator[SourceFile]:
        hidden = self.trace.get("hidden_line_numbers") or {}
        for path, text in self.trace["files"].items():
            try:
                source = Source(path, text, complaints=self.warnings)
            except SyntaxError as error:
                raise LectureError(f"{path}:{error.lineno or 1}: {error.msg}.") from None
            Numbering(source, self.tables).below(source.tree)
            yield SourceFile(
                path=path,
                source=text,
                prose=prose_of(source),
                tokens=source.tokens,
                hidden=[[line, line] for line in hidden.get(path, [])],
            )

    def _find_statements(self) -> None:
        """The innermost statement of each line of each function."""
        for number, row in enumerate(self.tables.statements, 1):
            path = self.tables.paths[row.file]
            for line in range(row.first_line, row.last_line + 1):
                self._statements[path, line, row.function + 1] = number

    def _function_at(self, path: str, line: int, name: str) -> int:
        """Number of the innermost function of a name around a line; 0 if there is none."""
        found = 0
        for number, row in enumerate(self.tables.functions, 1):
            is_there = self.tables.paths[row.file] == path and row.line <= line <= row.end_line
            if is_there and row.name.rpartition(".")[2] == name:
                found = number
        return found

    # Steps --------------------------------------------------------------------------------------

    def _step(self, step: dict[str, Any]) -> None:
        frames = [frame for frame in step["stack"] if frame["path"] in self.trace["files"]]
        calls = [
            (self._function_at(frame["path"], line, str(frame["function_name"])), line, frame)
            for frame in frames
            for line in [int(frame["line_number"])]
        ]
        calls = [call for call in calls if call[0]]
        self._left_out += bool(frames) and not calls
        if calls:
            self._open_calls([function for function, _, _ in calls])
            function, line, frame = calls[-1]
            if line == self.tables.functions[function - 1].line:
                self._enter_again(function)
            else:
                self._run(self._statements.get((frame["path"], line, function), 0))
        if len(calls) < len(step["stack"]):
            self._left = True
        self._note(step)

    def _open_calls(self, functions: list[int]) -> None:
        """Leave and enter calls until these are open."""
        same = 0
        for call, function in zip(self._open, functions, strict=False):
            if call.function != function:
                break
            same += 1
        while len(self._open) > same:
            self._leave()
        for function in functions[same:]:
            self._enter(function)

    def _enter(self, function: int) -> None:
        self.events.append(-function)
        entry = len(self.events) - 1
        self._open.append(_Open(function, entry, event=entry))
        self._left = False

    def _leave(self) -> None:
        self._open.pop()
        self.events.append(0)
        self._left = True

    def _enter_again(self, function: int) -> None:
        """A step on the line of a `def` is a call of it: a new one, if the open one has begun."""
        if self._open[-1].statement:
            self._leave()
            self._enter(function)

    def _run(self, statement: int) -> None:
        """A step on a line; one that comes back to the line whose call it has left is none."""
        call = self._open[-1]
        self._left_out += not statement
        if not statement or (self._left and call.statement == statement):
            self._left = False
            return
        self.events.append(statement)
        call.statement, call.event, call.step = statement, len(self.events) - 1, self._steps
        self._steps += 1
        self._left = False

    # What steps show ----------------------------------------------------------------------------

    def _note(self, step: dict[str, Any]) -> None:
        if not self._open:
            return
        call = self._open[-1]
        shown = next((one.step for one in reversed(self._open) if one.step >= 0), -1)
        for name, written in (step.get("env") or {}).items():
            self.inspections.event.append(call.event)
            self.inspections.at.append(len(self.events))
            self.inspections.name.append(self._name(name))
            index = None if written is None else self._intern(_value_of(written))
            self.inspections.value.append(index)
        for rendering in step.get("renderings") or []:
            value = value_of(_as_object(rendering), self.media, not self.trace.get("metadata"))
            value = value or value_of_contents(rendering.get("data"))
            self.said.step.append(shown)
            self.said.at.append(len(self.events))
            self.said.value.append(self._intern(value))
        for stream in ("stdout", "stderr"):
            if text := step.get(stream):
                at = len(self.events)
                self.output.append(Output(step=shown, at=at, stream=stream, text=str(text)))

    def _name(self, name: str) -> int:
        if name not in self.names:
            self.names.append(name)
        return self.names.index(name)

    def _intern(self, value: Value) -> int:
        index = self._interned.setdefault(repr(value), len(self.values))
        if index == len(self.values):
            self.values.append(value)
        return index


def _value_of(written: Any) -> Value:
    try:
        return value_of_contents(written)
    except _MISTAKES:  # such as a tensor whose shape is not that of its elements
        return {"type": "unknown", "text": json.dumps(written, default=str)[:MAX_CHARACTERS]}


def _as_object(written: Any) -> Any:
    """JSON with its fields as attributes, as deep as renderings need it."""
    if not isinstance(written, dict):
        return written
    nested = ("external_link", "internal_link")
    parts = {key: _as_object(part) if key in nested else part for key, part in written.items()}
    return SimpleNamespace(**parts)
