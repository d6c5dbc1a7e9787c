"""Is the written document still what the sources say? The differences, in words."""

import difflib
import math
from collections.abc import Iterator
from typing import Any

RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-6
"""How far floats may differ between environments; within one, not at all."""


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Return how two documents of one lecture differ, a sentence each; empty if they agree.

    In equal environments they agree if they are equal. Otherwise sources, steps, claims and their
    outcomes, names, types and shapes have to be equal and floats close; texts and integers may have
    been computed from floats, and are not compared.
    """
    exact = old.get("environment") == new.get("environment")
    found = [
        *_sources(old, new),
        *_steps(old, new),
        *_claims(old, new, exact),
        *_inspections(old, new, exact),
        *_outcome(old, new),
    ]
    if exact and not found:
        found = [
            f"the field `{name}` differs." for name in new if old.get(name) != new[name]
        ]  # fmt: skip
    return found


def _sources(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    before = {file["path"]: file["source"].splitlines() for file in old["files"]}
    after = {file["path"]: file["source"].splitlines() for file in new["files"]}
    for path in before.keys() - after.keys():
        yield f"{path} is no longer used."
    for path, lines in after.items():
        if path not in before:
            yield f"{path} is new."
            continue
        matcher = difflib.SequenceMatcher(None, before[path], lines, autojunk=False)
        for tag, first, last, start, _ in matcher.get_opcodes():
            if tag != "equal":
                was = before[path][first].strip() if last > first else ""
                now = lines[start].strip() if start < len(lines) and tag != "delete" else ""
                yield f"{path}:{start + 1}: the source was `{was}`, is now `{now}`."


def _steps(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    if old["events"] == new["events"]:
        return
    counts = [sum(event > 0 for event in document["events"]) for document in (old, new)]
    if counts[0] != counts[1]:
        yield f"there were {counts[0]:,} steps, there are now {counts[1]:,}."
    else:
        yield "the steps are not in the same order."


def _claims(old: dict[str, Any], new: dict[str, Any], exact: bool) -> Iterator[str]:
    rows = [list(_claim_rows(document)) for document in (old, new)]
    if len(rows[0]) != len(rows[1]):
        yield f"{len(rows[0]):,} asserts were checked, now {len(rows[1]):,}."
    for before, after in zip(*rows, strict=False):
        if before[:2] != after[:2]:
            yield f"{after[0]}: `assert {after[1]}` was `assert {before[1]}`."
        elif before[2] != after[2]:
            yield f"{after[0]}: `{after[1]}` was {before[2]}, is now {after[2]}."
        else:
            for was, now in zip(before[3], after[3], strict=False):
                if not _agree(was, now, exact):
                    yield f"{after[0]}: in `{after[1]}`, {_short(was)} is now {_short(now)}."


def _claim_rows(document: dict[str, Any]) -> Iterator[tuple[str, str, Any, list[Any]]]:
    texts = {row["statement"]: row["text"] for row in document["assertions"]}
    claims = document["claims"]
    for statement, held, operands in zip(
        claims["statement"], claims["held"], claims["operands"], strict=True
    ):
        values = [None if index is None else document["values"][index] for index in operands]
        yield _place(document, statement), texts.get(statement, ""), held, values


def _place(document: dict[str, Any], statement: int) -> str:
    file, line = document["statements"][statement][:2]
    return f"{document['files'][file]['path']}:{line}"


def _inspections(old: dict[str, Any], new: dict[str, Any], exact: bool) -> Iterator[str]:
    rows = [list(_inspection_rows(document)) for document in (old, new)]
    if len(rows[0]) != len(rows[1]):
        yield f"{len(rows[0]):,} values were shown, now {len(rows[1]):,}."
    for (_, name, was), (place, new_name, now) in zip(*rows, strict=False):
        if name != new_name:
            yield f"{place}: {new_name} is shown instead of {name}."
        elif not _agree(was, now, exact):
            yield f"{place}: {name} was {_short(was)}, is now {_short(now)}."


def _inspection_rows(document: dict[str, Any]) -> Iterator[tuple[str, str, Any]]:
    inspections, function_count = document["inspections"], len(document["functions"])
    for event_index, name, value in zip(
        inspections["event"], inspections["name"], inspections["value"], strict=True
    ):
        event = document["events"][event_index] if event_index >= 0 else 0
        place = document["module"]
        if event > 0:
            place = _place(document, event - 1)
        elif -function_count <= event < 0:
            function = document["functions"][-event - 1]
            place = f"{document['files'][function['file']]['path']}:{function['line']}"
        yield place, document["names"][name], value if value is None else document["values"][value]


def _outcome(old: dict[str, Any], new: dict[str, Any]) -> Iterator[str]:
    was, now = (document["failure"] and document["failure"]["kind"] for document in (old, new))
    if was != now:
        yield f"the run ended with {was or 'no failure'}, now with {now or 'no failure'}."


def _agree(old: Any, new: Any, exact: bool) -> bool:
    """Compare two values, or parts of them."""
    if exact:
        return bool(old == new)
    if isinstance(old, float) or isinstance(new, float):
        numbers = isinstance(old, int | float) and isinstance(new, int | float)
        return numbers and math.isclose(
            old, new, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE
        )
    if isinstance(old, dict) and isinstance(new, dict):
        kept = ("type", "dtype", "shape", "value", "items", "fields", "entries", "elements")
        keys = [key for key in (kept if "type" in new else new) if key in old or key in new]
        return all(key in old and key in new and _agree(old[key], new[key], exact) for key in keys)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(
            _agree(before, after, exact) for before, after in zip(old, new, strict=True)
        )
    return type(old) is type(new)


def _short(value: Any) -> str:
    if value is None:
        return "nothing"
    for key in ("value", "text", "elements", "items", "fields", "error"):
        if key in value:
            text = str(value[key])
            return text if len(text) <= 60 else f"{text[:57]}..."
    return str(value["type"])
