"""Is the written document still what the sources say? The differences, in words."""

import dataclasses
import difflib
import math
from collections.abc import Iterator, Sequence
from typing import Any

from ..events import latest_step_or_entry, steps_of
from ..schema import Columns, Document, Failure, Value

RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-6
"""How far floats may differ between environments; within one, not at all."""


_ClaimRow = tuple[str, str, bool | None, list[Value | None]]
"""Place, source text, outcome and operands."""
_InspectionRow = tuple[str, str, Value | None]
"""Place, name and value."""


def differences(old: Document, new: Document) -> list[str]:
    """Return how two documents of one lecture differ, a sentence each; empty if they agree.

    In equal environments they agree if they are equal. Otherwise sources, steps, claims and their
    outcomes, names, types, shapes and truth values have to be equal and floats close; texts and
    integers may have been computed from floats, and are not compared.
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
        for was, now in zip(operands, now_operands, strict=False):
            if not _agree(was, now, exact):
                yield f"{place}: in `{text}`, {_change(was, now)}."
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
    for (_, _, was), (place, name, now) in zip(before[:alike], after[:alike], strict=True):
        if not _agree(was, now, exact):
            yield f"{place}: of {name}, {_change(was, now)}."
    yield from _parting(before, after, alike, "values were shown")


def _inspection_rows(document: Document) -> Iterator[_InspectionRow]:
    inspections = document.inspections
    for event, name, value in zip(
        inspections.event, inspections.name, inspections.value, strict=True
    ):
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
    for name in (field.name for field in dataclasses.fields(Document)):
        was, now = getattr(old, name), getattr(new, name)
        if _text(was) != _text(now):
            step, _ = min(_step_rows(was) ^ _step_rows(now), default=(-1, ""))
            yield f"{_place_of_step(new, step)}: the field `{name}` differs."


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
    index = latest_step_or_entry(document.events, index, len(document.functions))
    if index < 0:
        return document.module
    event = document.events[index]
    if event > 0:
        return _place(document, event - 1)
    function = document.functions[-event - 1]
    return f"{document.files[function.file].path}:{function.line}"


def _agree(old: Any, new: Any, exact: bool) -> bool:
    """Compare two values, or parts of them."""
    if exact:
        return _text(old) == _text(new)
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, float) or isinstance(new, float):
        numbers = isinstance(old, int | float) and isinstance(new, int | float)
        return numbers and math.isclose(
            old, new, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE
        )
    if isinstance(old, dict) and isinstance(new, dict):
        if isinstance(old.get("type"), str) and isinstance(new.get("type"), str):
            return _values_agree(old, new)
        return old.keys() == new.keys() and all(_agree(old[key], new[key], exact) for key in new)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            _agree(before, after, exact) for before, after in zip(old, new, strict=True)
        )
    return type(old) is type(new)


def _values_agree(old: dict[str, Any], new: dict[str, Any]) -> bool:
    if any(old.get(key) != new.get(key) for key in ("type", "dtype", "shape")):
        return False
    kept = [
        key for key in ("value", "items", "fields", "entries", "elements") if key in {**old, **new}
    ]
    return all(key in old and key in new and _agree(old[key], new[key], False) for key in kept)


def _text(value: Any) -> str:
    """A text tells apart what Python calls equal: 1 and 1.0, 0.0 and -0.0."""
    return repr(value)


def _change(was: Any, now: Any) -> str:
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
