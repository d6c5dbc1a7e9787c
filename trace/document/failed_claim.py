"""What the sides of a false claim were, in one line for a terminal."""

import ast

from ..schema import Document, Value

MAX_CHARACTERS = 200
"""Longer texts of a value are cut."""
_BRACKETS = {"tuple": ("(", ")"), "set": ("{", "}"), "frozenset": ("{", "}")}


def sides_of_failed_claim(document: Document) -> str:
    """Return what was measured on each side, such as `total = 55, 10 * 11 = 110`.

    Empty if no claim ended the run, or where it compares nothing that has a value.
    """
    failure, claims = document.failure, document.claims
    if failure is None or failure["kind"] != "claim" or not claims.statement:
        return ""
    names = next(
        assertion["operands"]
        for assertion in document.assertions
        if assertion["statement"] == claims.statement[-1]
    )
    measured = zip(names, claims.operands[-1], strict=False)
    return ", ".join(
        f"{name} = {_cut(_text(document.values[index]))}"
        for name, index in measured
        if index is not None and not _is_literal(name)
    )


def _is_literal(source: str) -> bool:
    try:
        ast.literal_eval(source)
    except (ValueError, SyntaxError):
        return False
    return True


def _text(value: Value) -> str:
    if "value" in value:
        return repr(value["value"])
    if "items" in value:
        start, end = _BRACKETS.get(value["type"], ("[", "]"))
        more = [", ..."] if value.get("cut") else []
        return "".join([start, ", ".join(map(_text, value["items"])), *more, end])
    if "elements" in value:
        return f"{value['dtype']} {value['shape']} {value['elements']}"
    return str(value.get("text", value["type"]))


def _cut(text: str) -> str:
    return text if len(text) <= MAX_CHARACTERS else f"{text[: MAX_CHARACTERS - 3]}..."
