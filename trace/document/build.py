"""From a recording to the document."""

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from ..events import Log, Place, steps_of
from ..meter.ledger import CATEGORIES, live_bytes_over_time
from ..record.run import Recording
from ..rewrite.prose import hidden_lines, prose_of
from ..rewrite.rows import AssertionRow, Tables
from ..rewrite.source import Source
from ..said.placing import join_verbatim, mark_prose, place_said
from ..schema import (
    Assertion,
    Asset,
    Claims,
    Costs,
    Document,
    Failure,
    Function,
    Inspections,
    Memory,
    Output,
    Quotes,
    SourceFile,
)
from .beside import assets_of
from .data import fingerprints
from .images import embedded_images
from .links import warnings_of_links
from .locals import Rows, locals_of, reads_of
from .references import labels_in, referenced
from .unshown import warnings_of_unshown
from .unused import leave_out_unused

Places = dict[int, Place]
_Dated = list[tuple[int, Any]]
"""Rows of the recorder with the number of events of the document that were there."""

_COMPOUND = ("for", "while", "if", "with", "try", "match", "class")
"""Statements that need not be the latest of their activation when their marks are read."""


class _Cut:
    """What the recorder noted up to the step limit: rows, each with the number of events of the
    document that were there."""

    def __init__(self, recording: Recording, log: Log) -> None:
        recorder = recording.recorder
        self._log = log
        self.inspections = self._dated(recorder.inspections)
        self.claims = self._dated(recorder.claims)
        self.quotes = self._dated(recorder.quotes)
        self.output = self._dated(recorder.output)
        self.heard = self._dated(recorder.said)
        self.operators = self._dated((*call, calls) for call, calls in recorder.operators.items())
        self.storages = self._dated(
            (at, storage, storage.bytes if live else -storage.bytes)
            for at, storage, live in zip(
                recorder.storages_at, recorder.storages, recorder.storages_live, strict=True
            )
        )

    def _dated(self, rows: Iterable[Any]) -> _Dated:
        at = self._log.at
        dated = ((at(row[0] if isinstance(row, tuple) else row.at), row) for row in rows)
        return [(at, row) for at, row in dated if at <= len(self._log.events)]

    def places(self, tables: Tables) -> Places:
        """Return where the rows belong among the steps."""
        placed = (self.claims, self.output, self.heard, self.operators, self.storages)
        questions: dict[int, set[int]] = {at: set() for rows in placed for at, _ in rows}
        for at, row in self.inspections:
            asked = tables.sites[row.site].statement
            known = asked > 0 and tables.statements[asked - 1].kind in _COMPOUND
            questions.setdefault(at, set()).update([asked] if known else [])
        return self._log.places(questions)


def build(recording: Recording) -> Document:
    """Return the document of a recording, cut at the step limit."""
    recorder, tables = recording.recorder, recording.tables
    log = Log.of_recorder(recorder.events, tables.first_steps).cut(recording.max_steps)
    cut = _Cut(recording, log)
    places = cut.places(tables)
    names = _Names()
    reads = reads_of(tables, recorder.readings, recorder.returned, log)
    glanced = locals_of(tables, log, reads, Rows(recorder, names.of))
    is_whole = recording.failure is None
    files, assets, complaints = told(
        recording.files, tables.functions, recording.target.root, whole=is_whole
    )
    document = Document(
        module=recording.target.module,
        title=recording.title,
        environment=recording.environment,
        files=files,
        statements=[
            row._replace(binds=[names.of(name) for name in facts.binds])
            for row, facts in zip(tables.statements, tables.facts, strict=True)
        ],
        functions=tables.functions,
        events=log.as_document(len(tables.functions)),
        names=names.list,
        values=recorder.values,
        inspections=_inspections(recording, cut.inspections, places, names),
        locals=glanced.rows,
        readings=glanced.readings,
        effects=glanced.effects,
        assertions=[
            assertion_of(number - 1, row) for number, row in sorted(tables.assertions.items())
        ],
        claims=_claims(cut.claims, places),
        quotes=_quotes(recording, cut.quotes, names),
        output=_output(cut.output, places),
        said=place_said(
            ((at, recorder.intern_picture(row.value)) for at, row in cut.heard), places
        ),
        costs=_costs(cut.operators, cut.storages, places, names),
        memory=_memory([row for row in cut.storages if row[1][1].exists], names),
        uncounted=_uncounted(cut.operators, recorder.elsewhere_operators),
        topics=recording.topics,
        assets=assets,
        data=fingerprints(recording.data, recording.target.root),
        warnings=[*recording.warnings, *complaints],
        failure=_failure(recording, log),
    )
    if cut.heard:
        join_verbatim(document.said, document.values)
        mark_prose(document, tables, log.events)
        document.assets |= assets_of(recording.media)
        document.warnings += [f"{name} {why}." for name, why in recording.media.missing.items()]
    leave_out_unused(document)
    return document


def told(
    sources: list[Source], functions: list[Function], root: Path, *, whole: bool
) -> tuple[list[SourceFile], dict[str, Asset], list[str]]:
    """Return what sources say besides their code: the files with their prose, the images that it
    names, and warnings. `whole`: the run came to its end, so that all functions are known."""
    files = [_source_file(source) for source in sources]
    assets, complaints = embedded_images(files, root)
    known = {row.name for row in functions} if whole else None
    complaints += warnings_of_links(files, known, labels_in(files))
    complaints += warnings_of_unshown(files)
    titles = {row.name: row.title for row in functions}
    files, wrong = referenced(files, titles, root)
    return files, assets, [*complaints, *wrong]


def assertion_of(statement: int, row: AssertionRow) -> Assertion:
    """Return what the document says of an `assert`."""
    assertion = Assertion(statement=statement, text=row.text, operands=row.operands)
    if row.predict:
        assertion["predict"] = True
    return assertion


def _source_file(file: Source) -> SourceFile:
    return SourceFile(
        path=file.path,
        source=file.text,
        prose=prose_of(file),
        tokens=file.tokens,
        hidden=hidden_lines(file.directives),
    )


class _Names:
    """Strings of the columns, each once."""

    def __init__(self) -> None:
        self.list: list[str] = []
        self._index: dict[str, int] = {}

    def of(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.list)
            self.list.append(name)
        return self._index[name]


def _inspections(recording: Recording, rows: _Dated, places: Places, names: _Names) -> Inspections:
    result = Inspections()
    on_display: dict[int, dict[str, None]] = {}  # by the entry of the activation
    for at, row in rows:
        site = recording.tables.sites[row.site]
        place = places[at]
        shown = on_display.setdefault(place.entry, {})
        for name in list(shown) if site.name == "*" else [site.name]:
            result.event.append(place.by_statement.get(site.statement, place.event))
            result.at.append(at)
            result.name.append(names.of(name))
            result.value.append(row.value)
            shown[name] = None
            if row.value is None:
                del shown[name]
    return result


def _quotes(recording: Recording, rows: _Dated, names: _Names) -> Quotes:
    result = Quotes()
    for at, row in rows:
        quote = recording.tables.sites[row.site].quote
        assert quote
        file, line, mark, _ = quote
        result.at.append(at)
        result.file.append(file)
        result.line.append(line)
        result.mark.append(names.of(mark))
        result.text.append(names.of(row.text))
    return result


def _output(rows: _Dated, places: Places) -> list[Output]:
    return [
        Output(step=places[at].step, at=at, stream=row.stream, text=row.text) for at, row in rows
    ]


def _claims(rows: _Dated, places: Places) -> Claims:
    result = Claims()
    for at, row in rows:
        result.statement.append(row.statement - 1)
        result.step.append(places[at].step)
        result.at.append(at)
        result.held.append(row.held)
        result.operands.append(row.operands)
    return result


def _costs(
    operators: _Dated,
    storages: _Dated,
    places: Places,
    names: _Names,
) -> Costs | None:
    """Sum what ran by step, operator and whether on `meta`; memory without the operator."""
    if not operators and not storages:
        return None
    sums: dict[tuple[int, str, bool], list[int]] = {}

    def row(step: int, operator: str, meta: bool) -> list[int]:
        return sums.setdefault((step, operator, meta), [0] * 8)

    for at, (_, operator, work, calls) in operators:
        counts = row(places[at].step, operator, work.meta)
        for index, count in enumerate((1, *work[:4])):
            counts[index] += calls * count
        counts[7] += 0 if work.counted else calls
    for at, (_, storage, change_bytes) in storages:
        counts = row(places[at].step, "memory", not storage.exists)
        counts[5 if change_bytes > 0 else 6] += abs(change_bytes)
    rows = [
        (step, names.of(operator), *counts, int(meta))
        for (step, operator, meta), counts in sorted(sums.items())
    ]
    return Costs(*(list(column) for column in zip(*rows, strict=True)))


def _memory(storages: _Dated, names: _Names) -> Memory:
    """Bytes alive by category. Of several changes at one moment, the highest and the last count."""
    result = Memory()
    shown = dict.fromkeys(CATEGORIES, 0)
    states = live_bytes_over_time((storage, change) for _, (_, storage, change) in storages)
    dated = zip((at for at, _ in storages), states, strict=True)
    for at, moment in itertools.groupby(dated, key=itemgetter(0)):
        highest, last = _highest_and_last(state for _, state in moment)
        for state in (highest, last):
            for category in CATEGORIES:
                if state[category] != shown[category]:
                    result.at.append(at)
                    result.live_bytes.append(state[category])
                    result.category.append(names.of(category))
            shown = state
    return result


def _highest_and_last(states: Iterator[dict[str, int]]) -> tuple[dict[str, int], dict[str, int]]:
    """Return two states of the memory among possibly millions, without keeping the others."""
    highest = last = next(states)
    for last in states:
        if sum(last.values()) > sum(highest.values()):
            highest = last
    return highest, last


def _uncounted(operators: _Dated, elsewhere: Mapping[str, int]) -> dict[str, int]:
    counts = Counter(elsewhere)
    for _, (_, operator, work, calls) in operators:
        if not work.counted:
            counts[operator] += calls
    return dict(sorted(counts.items()))


def _failure(recording: Recording, log: Log) -> Failure | None:
    failure = recording.failure
    if failure is None:
        return None
    at = min(log.at(failure["at"]), len(log.events))
    steps = steps_of(log.events)
    step = _failed_step(recording, steps, failure)
    message = failure["message"]
    if failure["kind"] == "step limit" and (place := _loop_around(recording.tables, steps)):
        message += f" It ended in the loop at {place}."
    return {**failure, "at": at, "step": step, "message": message}


def _failed_step(recording: Recording, steps: list[int], failure: Failure) -> int:
    """Return the last step at the innermost line of the traceback that is the lecture's."""
    paths = recording.tables.paths
    for entry in reversed(failure["traceback"]):
        for step in range(len(steps) - 1, -1, -1):
            row = recording.tables.statements[steps[step] - 1]
            same_file = paths[row.file] == entry["path"]
            if same_file and row.first_line <= entry["line"] <= row.last_line:
                return step
    return len(steps) - 1


def _loop_around(tables: Tables, steps: list[int]) -> str:
    """Return the place of the outermost loop around the last step, or nothing."""
    number = steps[-1] if steps else 0
    place = ""
    while number > 0:
        row = tables.statements[number - 1]
        if row.kind in ("for", "while"):
            place = f"{tables.paths[row.file]}:{row.first_line}"
        number = row.enclosing + 1
    return place
