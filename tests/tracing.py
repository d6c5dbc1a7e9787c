"""Trace a source text and read the record back in a form that fits beside it."""

import json
import tempfile
import textwrap
from pathlib import Path
from typing import Any

from trace.document.build import build
from trace.document.encoding import encode
from trace.options import Options
from trace.record.run import Recording, record
from trace.target import find_target


def trace_source(source: str, name: str = "sample", **options: Any) -> dict[str, Any]:
    """Return the document of a module with this text, as a viewer reads it."""
    return json.loads(encode(build(record_source(source, name, **options))))


def record_source(source: str, name: str = "sample", **options: Any) -> Recording:
    """Record a module with this text; line 1 is the first line after the opening quotes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        return record(find_target(str(file)), Options(**options))


def lines(document: dict[str, Any]) -> list[int]:
    """Return the first line of each executed statement."""
    return [document["statements"][event - 1][1] for event in document["events"] if event > 0]


def story(document: dict[str, Any]) -> str:
    """Return the events as text: `2 f( 5 6 ) 3`; a generator that goes on is `~g(`."""
    functions, words, entered = document["functions"], [], []
    for event in document["events"]:
        if event > 0:
            words.append(str(document["statements"][event - 1][1]))
        elif event == 0:
            words.append(")")
        elif -event <= len(functions):
            entered.append(functions[-event - 1]["name"])
            words.append(f"{entered[-1]}(")
        else:
            words.append(f"~{entered[-event - len(functions) - 1]}(")
    return " ".join(words).removeprefix("main( ").removesuffix(" )")


def shown(document: dict[str, Any]) -> list[tuple[int, str, Any]]:
    """Return line, name and plain value of each inspection (None: cleared)."""
    inspections, result = document["inspections"], []
    for event, name, value in zip(
        inspections["event"], inspections["name"], inspections["value"], strict=True
    ):
        number = document["events"][event]
        if number > 0:
            line = document["statements"][number - 1][1]
        else:
            line = document["functions"][-number - 1]["line"]
        picture = None if value is None else plain(document["values"][value])
        result.append((line, document["names"][name], picture))
    return result


def plain(picture: dict[str, Any]) -> Any:
    """Return the value a picture stands for where it is a simple one, else its text or shape."""
    for key in ("value", "text", "error"):
        if key in picture:
            return picture[key]
    if "items" in picture:
        return [plain(item) for item in picture["items"]]
    if "entries" in picture:
        return {plain(key): plain(value) for key, value in picture["entries"]}
    return picture.get("fields") or picture.get("shape")


def claims(document: dict[str, Any]) -> list[tuple[str, bool | None, list[Any]]]:
    """Return condition, outcome and plain operands of each executed assert."""
    texts = {row["statement"]: row["text"] for row in document["assertions"]}
    rows = zip(*(document["claims"][key] for key in ("statement", "held", "operands")), strict=True)
    return [
        (texts[statement], held, [None if v is None else plain(document["values"][v]) for v in ids])
        for statement, held, ids in rows
    ]
