"""Is the written document still what the sources say? The differences, in words."""

import dataclasses
import difflib
import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from ..events import latest_step_or_entry, steps_of
from ..schema import Columns, Document, Failure, Inspections, Locals, Value
from .closeness import parting

_ClaimRow = tuple[str, str, bool | None, list[Value | None]]
"""Place, source text, outcome and operands."""
_InspectionRow = tuple[str, str, Value | None]
"""Place, name and value."""


def differences(old: Document, new: Document) -> list[str]:
    """Return how two documents of one lecture differ, a sentence each; empty if they agree.

    In equal environments, arithmetic included, they agree if they are equal. Otherwise sources,
    steps, claims and their outcomes, names, types, shapes and truth values have to be equal, and
    floats that are shown close; texts and integers may have been computed from floats, and are not
    compared, nor are the sides of a claim that held in both.
    """
    exact = old.environment == new.environment
    found = [
        *_sources(old, new),
        *_steps(old, new),
        *_claims(old, new, exact),
        *_inspections(old, new, exact),
        *_outcome(old, new),
    ]
    if exact and not found:
        found = list(_rest(old, new))
    return list(dict.fromkeys(found))


def _sources(old: Document, new: Document) -> Iterator[str]:
    before = {file.path: file.source.split("\n") for file in old.files}
    after = {file.path: file.source.split("\n") for file in new.files}
    for path in before:
        if path not in after:
            yield f"{path} is no longer used."
    for path, lines in after.items():
        if path not in before:
            yield f"{path} is new."
            continue
        matcher = difflib.SequenceMatcher(None, before[path], lines, autojunk=False)
        for tag, first, last, start, end in matcher.get_opcodes():
            if tag != "equal":
                was = before[path][first].strip() if last > first else ""
                now = lines[start].strip() if end > start else ""
                yield f"{path}:{start + 1}: the source was `{was}`, is now `{now}`."


def _steps(old: Document, new: Document) -> Iterator[str]:
    if old.events == new.events:
        return
    pairs = zip(old.events, new.events, strict=False)
    shorter = min(len(old.events), len(new.events))
    parting = next((index for index, (was, now) in enumerate(pairs) if was != now), shorter)
    place = _place_of_event(new, min(parting, len(new.events) - 1))
    counts = [len(steps_of(document.events)) for document in (old, new)]
    if counts[0] != counts[1]:
        yield f"{place}: there were {counts[0]:,} steps, there are now {counts[1]:,}."
    else:
        yield f"{place}: the steps are not in the same order."


def _claims(old: Document, new: Document, exact: bool) -> Iterator[str]:
    before, after = (list(_claim_rows(document)) for document in (old, new))
    alike = _alike(before, after)
    for (_, _, held, operands), (place, text, now_held, now_operands) in zip(
        before[:alike], after[:alike], strict=True
    ):
        if held != now_held:
            yield f"{place}: `{text}` was {held}, is now {now_held}."
        if held and now_held and not exact:
            continue  # it says itself how close its sides have to be
        for was, now in zip(operands, now_operands, strict=False):
            if change := _change(was, now, exact):
                yield f"{place}: in `{text}`, {change}."
    yield from _parting(before, after, alike, "asserts were checked")


def _claim_rows(document: Document) -> Iterator[_ClaimRow]:
    texts = {row["statement"]: row["text"] for row in document.assertions}
    claims = document.claims
    for statement, held, operands in zip(
        claims.statement, claims.held, claims.operands, strict=True
    ):
        values = [None if index is None else document.values[index] for index in operands]
        yield _place(document, statement), texts.get(statement, ""), held, values


def _inspections(old: Document, new: Document, exact: bool) -> Iterator[str]:
    before, after = (list(_inspection_rows(document)) for document in (old, new))
    alike = _alike(before, after)
    for (_, _, was), (place, name, now), operators in zip(
        before[:alike], after[:alike], operators_before(new), strict=False
    ):
        if change := _change(was, now, exact, operators):
            yield f"{place}: of {name}, {change}."
    yield from _parting(before, after, alike, "values were shown")


def operators_before(document: Document) -> Iterator[int]:
    """Yield how many operators each inspected value may depend on: those that ran since the first
    statement of its file. A chapter is a file, and may keep results from section to section."""
    calls = [0] * sum(event > 0 for event in document.events)
    if document.costs:
        for step, count in zip(document.costs.step, document.costs.calls, strict=True):
            calls[step] += count if step >= 0 else 0
    of_steps = iter(calls)
    per_event = [next(of_steps) if event > 0 else 0 for event in document.events]
    total = list(itertools.accumulate(per_event, initial=0))
    started: dict[int, int] = {}
    for index, event in enumerate(document.events):
        if event > 0:
            started.setdefault(document.statements[event - 1].file, total[index])
    for event, at in zip(document.inspections.event, document.inspections.at, strict=True):
        file, _ = _file_and_line(document, event)
        yield total[at] - started.get(file, 0)


def _inspection_rows(document: Document) -> Iterator[_InspectionRow]:
    return _rows(document, document.inspections)


def _rows(document: Document, table: Inspections | Locals) -> Iterator[_InspectionRow]:
    for event, name, value in zip(table.event, table.name, table.value, strict=True):
        picture = None if value is None else document.values[value]
        yield _place_of_event(document, event), document.names[name], picture


def _alike(before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]]) -> int:
    """Return how many rows at the beginning are about the same thing."""
    pairs = zip(before, after, strict=False)
    shorter = min(len(before), len(after))
    return next((index for index, (was, now) in enumerate(pairs) if was[1] != now[1]), shorter)


def _parting(
    before: Sequence[tuple[Any, ...]], after: Sequence[tuple[Any, ...]], alike: int, verb: str
) -> Iterator[str]:
    """Name the first rows that are about different things; those below it cannot be compared."""
    if alike == len(before) == len(after):
        return
    was, now = (
        f"`{rows[alike][1]}`" if alike < len(rows) else "nothing" for rows in (before, after)
    )
    place = (after if alike < len(after) else before)[alike][0]
    yield f"{place}: {now} instead of {was}; {len(before):,} {verb}, now {len(after):,}."


def _outcome(old: Document, new: Document) -> Iterator[str]:
    was, now = (_end(document.failure) for document in (old, new))
    failure = new.failure or old.failure
    if failure and was != now:
        place = new.module
        if failure["traceback"]:
            place = "{path}:{line}".format(**failure["traceback"][-1])
        yield f"{place}: the run ended with {was}, now with {now}."


def _end(failure: Failure | None) -> str:
    return f"{failure['kind']} ({failure['type']})" if failure else "no failure"


def _rest(old: Document, new: Document) -> Iterator[str]:
    """Everything else, in equal environments."""
    yield from itertools.islice(_names(old, new), 1)
    for name in (field.name for field in dataclasses.fields(Document)):
        was, now = getattr(old, name), getattr(new, name)
        if name in ("values", "locals"):  # said above
            continue
        if _text(was) != _text(now):
            step, _ = min(_step_rows(was) ^ _step_rows(now), default=(-1, ""))
            yield f"{_place_of_step(new, step)}: the field `{name}` differs."


def _names(old: Document, new: Document) -> Iterator[str]:
    """Say what names stood for that stands for something else now."""
    before, after = (list(_rows(document, document.locals)) for document in (old, new))
    for (_, _, was), (place, name, now) in zip(before, after, strict=False):
        if change := _change(was, now, exact=True):
            yield f"{place}: of {name}, {change}."
    yield from _parting(before, after, _alike(before, after), "names were read")


def _step_rows(field: Any) -> set[tuple[int, str]]:
    """Step and content of each row of a field, if its rows have steps."""
    if isinstance(field, Columns):
        columns = vars(field)
        field = [
            dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)
        ]
    rows = field if isinstance(field, list) else []
    return {(row["step"], _text(row)) for row in rows if isinstance(row, dict) and "step" in row}


def _place(document: Document, statement: int) -> str:
    row = document.statements[statement]
    return f"{document.files[row.file].path}:{row.first_line}"


def _place_of_step(document: Document, step: int) -> str:
    numbers = steps_of(document.events)
    return _place(document, numbers[step] - 1) if 0 <= step < len(numbers) else document.module


def _place_of_event(document: Document, index: int) -> str:
    """Return the place of the latest step or entry at an event."""
    file, line = _file_and_line(document, index)
    return f"{document.files[file].path}:{line}" if file >= 0 else document.module


def _file_and_line(document: Document, index: int) -> tuple[int, int]:
    index = latest_step_or_entry(document.events, index, len(document.functions))
    if index < 0:
        return -1, 0
    event = document.events[index]
    if event > 0:
        statement = document.statements[event - 1]
        return statement.file, statement.first_line
    function = document.functions[-event - 1]
    return function.file, function.line


def _change(was: Value | None, now: Value | None, exact: bool, operators: int = 0) -> str:
    """Say in what two values differ; empty if they agree."""
    if not exact:
        far = parting(was, now, operators)
        return "" if far is None else far or _difference(was, now)
    return _difference(was, now) if _text(was) != _text(now) else ""


def _text(value: Any) -> str:
    """A text tells apart what Python calls equal: 1 and 1.0, 0.0 and -0.0."""
    return repr(value)


def _difference(was: Any, now: Any) -> str:
    """Say what of a value is different; if not what it shows, then one of its properties."""
    texts = _short(was), _short(now)
    if texts[0] != texts[1]:
        return f"{texts[0]} is now {texts[1]}"
    was, now = was or {}, now or {}
    key = next(key for key in {**was, **now} if _text(was.get(key)) != _text(now.get(key)))
    return f"`{key}` {_cut(was.get(key))} is now {_cut(now.get(key))}"


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    keys = ("value", "text", "elements", "items", "fields", "error", "type")
    return next(_cut(value[key]) for key in keys if key in value)


def _cut(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
