"""Leaves out of a document what nothing in it refers to."""

import dataclasses
import itertools

from ..schema import Document


def leave_out_unused(document: Document) -> None:
    """Leave out what was read after the cut, and what is said of files in which nothing ran."""
    _leave_out_values(document)
    _leave_out_files(document)


def _leave_out_values(document: Document) -> None:
    inspections, claims, names = document.inspections, document.claims, document.locals
    rows = [inspections.value, names.value, *claims.operands]
    indices = {index for row in rows for index in row} | {*document.said.value}
    used = sorted(index for index in indices if index is not None)
    if len(used) == len(document.values):
        return
    new: dict[int | None, int] = {old: index for index, old in enumerate(used)}
    document.values = [document.values[old] for old in used]
    inspections.value = [new.get(index) for index in inspections.value]
    document.said.value = [new[index] for index in document.said.value]
    names.value = [new.get(index) for index in names.value]
    claims.operands = [[new.get(index) for index in row] for row in claims.operands]


def _leave_out_files(document: Document) -> None:
    """Of a file in which nothing ran, keep the source and the places of its functions: names in
    other files lead there. Its statements, of which none is an event, are numbered no more."""
    ran = files_in_which_something_ran(document)
    if len(ran) == len(document.files):
        return
    document.files = [
        file if index in ran else dataclasses.replace(file, prose=[], tokens=[], hidden=[])
        for index, file in enumerate(document.files)
    ]
    is_kept = [row.file in ran for row in document.statements]
    numbers = list(itertools.accumulate(map(int, is_kept)))  # new ones, from 1 as in events
    document.statements = [
        row._replace(enclosing=numbers[row.enclosing] - 1 if row.enclosing >= 0 else -1)
        for row in itertools.compress(document.statements, is_kept)
    ]
    document.events = [numbers[event - 1] if event > 0 else event for event in document.events]
    document.assertions = [
        {**row, "statement": numbers[row["statement"]] - 1}
        for row in document.assertions
        if is_kept[row["statement"]]
    ]
    claims = document.claims
    claims.statement = [numbers[statement] - 1 for statement in claims.statement]


def files_in_which_something_ran(document: Document) -> set[int]:
    """Return the indices of these files."""
    statements, functions = document.statements, document.functions
    events = set(document.events)
    return {
        *(statements[event - 1].file for event in events if event > 0),
        *(functions[-event - 1].file for event in events if -len(functions) <= event < 0),
    }
