"""The document's contract (`schema.py`) in other languages: JSON Schema, and the viewer's copy.

`python -m trace.schema` prints the one, `python -m trace.schema --viewer` writes the other.
"""

import argparse
import ast
import dataclasses
import inspect
import json
import sys
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from .schema import FORMAT, OPTIONAL, TOKEN_KINDS, VERSION, Columns, Document, Index

VIEWER = Path(__file__).resolve().parents[1] / "viewer"
MAX_COLUMNS = 100
"""Of a line, as the viewer's formatter has it."""


def main() -> None:
    """Print the JSON Schema, or write the viewer's copy."""
    parser = argparse.ArgumentParser(
        prog="python -m trace.schema", description="Print the JSON Schema of the document."
    )
    parser.add_argument("--viewer", action="store_true", help="write the viewer's copy instead")
    if not parser.parse_args().viewer:
        json.dump(json_schema(), sys.stdout, indent=1)
        print()
        return
    for path, text in viewer_files().items():
        (VIEWER / path).write_text(text, encoding="utf-8")


# JSON Schema ------------------------------------------------------------------------------------


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of `Document`."""
    definitions: dict[str, Any] = {}
    root = _schema_of(Document, definitions)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **root, "$defs": definitions}


_SCALARS = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def _schema_of(annotation: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type annotation, adding the classes it names to `definitions`."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any:
        return {}
    if origin is Annotated:
        return _schema_of(arguments[0], definitions)
    if annotation in _SCALARS:
        return {"type": _SCALARS[annotation]}
    if origin in (typing.Required, NotRequired):
        return _schema_of(arguments[0], definitions)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _schema_of(arguments[0], definitions)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _schema_of(arguments[1], definitions)}
    if origin in (types.UnionType, typing.Union):
        return {"anyOf": [_schema_of(argument, definitions) for argument in arguments]}
    if annotation.__name__ not in definitions:
        definitions[annotation.__name__] = {}  # stands in while a recursive class is described
        definitions[annotation.__name__] = _schema_of_class(annotation, definitions)
    return {"$ref": f"#/$defs/{annotation.__name__}"}


def _schema_of_class(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = typing.get_type_hints(cls, include_extras=True)
    texts = field_texts(cls)
    properties = {
        name: {**_schema_of(hint, definitions), "description": texts[name]}
        for name, hint in hints.items()
    }
    if issubclass(cls, tuple):
        rows = [{"title": name, **schema} for name, schema in properties.items()]
        sizes = dict.fromkeys(("minItems", "maxItems"), len(rows))
        return {
            "type": "array",
            "description": inspect.getdoc(cls),
            "prefixItems": rows,
            **sizes,
        }
    required = list(hints) if dataclasses.is_dataclass(cls) else sorted(cls.__required_keys__)
    if cls is Document:
        required = [name for name in required if name not in OPTIONAL]
    return {
        "type": "object",
        "description": inspect.getdoc(cls),
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def field_texts(cls: type) -> dict[str, str]:
    """Return the docstring that stands under each field of a class."""
    definition = ast.parse(inspect.getsource(cls)).body[0]
    assert isinstance(definition, ast.ClassDef)
    texts = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(following, ast.Expr):
            assert isinstance(statement.target, ast.Name)
            texts[statement.target.id] = inspect.cleandoc(ast.literal_eval(following.value))
    return texts


# The viewer's copy ------------------------------------------------------------------------------


def viewer_files() -> dict[str, str]:
    """Return the text of each file of the viewer's copy by its path in the viewer."""
    return {"model/contract.js": _facts(), "model/contract.d.ts": _types()}


_MADE = "// Made from `trace/schema.py` by `python -m trace.schema --viewer`. Not to be edited.\n"


class _Field(NamedTuple):
    """A field of the document."""

    name: str
    container: Literal["list", "table", "columns", "value"]
    cls: Any
    """The class of what is in it."""
    may_be_null: bool


def _fields() -> Iterator[_Field]:
    for name, hint in typing.get_type_hints(Document, include_extras=True).items():
        options = typing.get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
        may_be_null = type(None) in options
        cls, origin = options[0], typing.get_origin(options[0])
        if origin is list:
            yield _Field(name, "list", typing.get_args(cls)[0], may_be_null)
        elif origin is dict or typing.is_typeddict(cls):
            yield _Field(name, "table", cls, may_be_null)
        elif issubclass(cls, Columns):
            yield _Field(name, "columns", cls, may_be_null)
        else:
            yield _Field(name, "value", cls, may_be_null)


def _facts() -> str:
    """What the viewer checks a document by."""
    fields = list(_fields())
    rows = {field.name: list(_hints(field.cls)) for field in fields if _is_row(field.cls)}
    columns = {field.name: list(_hints(field.cls)) for field in fields if field[1] == "columns"}
    facts = {
        "FORMAT": (FORMAT, "What every document says it is."),
        "VERSION": (VERSION, "The version that is described here."),
        "TOKEN_KINDS": (list(TOKEN_KINDS), "Kinds of source text: tokens have the index."),
        "LISTS": ([field.name for field in fields if field[1] == "list"], "Lists."),
        "TABLES": ([field.name for field in fields if field[1] == "table"], "Objects."),
        "COLUMNS": (columns, "Tables that are stored by columns, lists of one length."),
        "NULLABLE": ([field.name for field in fields if field.may_be_null], "What may be null."),
        "ROWS": (rows, "Lists of rows that are lists, and what stands in each place."),
        "REFERENCES": (
            [[field.name, *reference] for field in fields for reference in _references(field.cls)],
            "Table, column, the list that its numbers point into, and the lowest: -1 is nothing.",
        ),
    }
    return f"{_MADE}\n" + "\n".join(
        f"/** {meaning} */\nexport const {_constant(name, value)}\n"
        for name, (value, meaning) in facts.items()
    )


def _constant(name: str, value: Any) -> str:
    return f"{name} = {_literal(value, f'export const {name} = ;')};"


def _is_row(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, tuple)


def _hints(cls: Any) -> dict[str, Any]:
    """Types of the fields of a class; none for others than those of `schema.py`."""
    is_ours = getattr(cls, "__module__", "") == Document.__module__
    return typing.get_type_hints(cls, include_extras=True) if is_ours else {}


def _references(cls: Any) -> Iterator[tuple[str, str, int]]:
    for column, hint in _hints(cls).items():
        for index in _indices(hint):
            yield column, index.into, -1 if index.optional else 0


def _indices(hint: Any) -> Iterator[Index]:
    """Find what a type says of the numbers in it."""
    if typing.get_origin(hint) is Annotated:
        yield from (note for note in hint.__metadata__ if isinstance(note, Index))
    else:
        for inner in typing.get_args(hint):
            yield from _indices(inner)


def _literal(value: Any, around: str, depth: int = 0) -> str:
    """Return a value in JavaScript, broken into lines as the viewer's formatter does."""
    if isinstance(value, str | int):
        return json.dumps(value)
    is_list = isinstance(value, list)
    are_lists = is_list and len(value) > 1 and all(isinstance(item, list) for item in value)
    if is_list and not are_lists:
        line = f"[{', '.join(_literal(item, '') for item in value)}]"
        if len(around) + len(line) <= MAX_COLUMNS:
            return line
    margin = "  " * (depth + 1)
    keys = [""] * len(value) if is_list else [f"{key}: " for key in value]
    items = value if is_list else value.values()
    lines = [
        f"{margin}{key}{_literal(item, f'{margin}{key},', depth + 1)},\n"
        for key, item in zip(keys, items, strict=True)
    ]
    start, end = "[]" if is_list else "{}"
    return f"{start}\n{''.join(lines)}{'  ' * depth}{end}"


def _types() -> str:
    """What the viewer's type check knows of a document."""
    constants = (
        ("FORMAT", "string"),
        ("VERSION", "number"),
        ("TOKEN_KINDS", "string[]"),
        ("LISTS", "string[]"),
        ("TABLES", "string[]"),
        ("COLUMNS", "Record<string, string[]>"),
        ("NULLABLE", "string[]"),
        ("ROWS", "Record<string, string[]>"),
        ("REFERENCES", "[table: string, column: string, list: string, lowest: number][]"),
    )
    classes: dict[str, str] = {}
    _describe(Document, classes)
    lines = [f"export const {name}: {kind};\n" for name, kind in constants]
    return f"{_MADE}\n{''.join(lines)}{''.join(classes.values())}"


def _describe(cls: Any, classes: dict[str, str]) -> None:
    """Add the description of a class, and of those that it names."""
    classes[cls.__name__] = ""  # keeps its place, and ends the recursion
    texts = field_texts(cls)
    optional = () if dataclasses.is_dataclass(cls) else getattr(cls, "__optional_keys__", ())
    fields = []
    for name, hint in _hints(cls).items():
        mark = "?" if name in optional else ""
        end = "," if _is_row(cls) else ";"
        fields += [
            *_comment(texts[name], "  "),
            _member(f"{name}{mark}", _type(hint, classes), end),
        ]
    start, end = (
        (f"export type {cls.__name__} = [", "];")
        if _is_row(cls)
        else (f"export interface {cls.__name__} {{", "}")
    )
    lines = ["", *_comment(inspect.getdoc(cls) or "", ""), start, *fields, end]
    classes[cls.__name__] = "\n".join(lines) + "\n"


def _member(name: str, kind: str, end: str) -> str:
    line = f"  {name}: {kind}{end}"
    if len(line) <= MAX_COLUMNS:
        return line
    return f"  {name}:\n" + "\n".join(f"    | {option}" for option in kind.split(" | ")) + end


def _comment(text: str, margin: str) -> list[str]:
    first, *others = text.replace("*/", "* /").split("\n")
    if not others:
        return [f"{margin}/** {first} */"]
    lines = [f"{margin} * {line}".rstrip() for line in (first, *others)]
    return [f"{margin}/**", *lines, f"{margin} */"]


_TYPESCRIPT = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def _type(hint: Any, classes: dict[str, str]) -> str:
    """Return a type in TypeScript; describes the classes that it names."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return "any"
    if hint in _TYPESCRIPT:
        return _TYPESCRIPT[hint]
    if origin in (Annotated, typing.Required, NotRequired):
        return _type(arguments[0], classes)
    if origin is Literal:
        return " | ".join(map(json.dumps, arguments))
    if origin is list:
        inner = _type(arguments[0], classes)
        is_union = " | " in inner and not inner.endswith(")[]")
        return f"({inner})[]" if is_union else f"{inner}[]"
    if origin is dict:
        return f"Record<string, {_type(arguments[1], classes)}>"
    if origin in (types.UnionType, typing.Union):
        return " | ".join(dict.fromkeys(_type(argument, classes) for argument in arguments))
    if hint.__name__ not in classes:
        _describe(hint, classes)
    return str(hint.__name__)
