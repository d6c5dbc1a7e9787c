"""From one thing that was said to a value of the document: Markdown, text, a chart or a picture."""

import base64
import csv
import json
import re
import urllib.parse
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..schema import Value
from .graphs import svg_of
from .media import Media, is_address

MAX_UNKNOWN_CHARACTERS = 2000
BULK_ROWS = 5
"""How many rows of a data frame or an array are shown at each end unless a call says so."""
LONGEST_FLOAT = 10
"""Letters of a float that stands in full in a table."""
_CODE_OR_MATHS = re.compile(
    r"(?P<code>(`+)[\s\S]*?\2)|\$\$(?:(?!\$\$)[\s\S])+\$\$|\$(?![\s$])[^$\n]+?(?<!\s)\$(?!\d)"
)


def undoubled(markdown: str) -> str:
    r"""Take back what authors do whose tool reads Markdown before maths: backslashes are doubled.

    >>> undoubled(r"the set $\\{0, 1\\}$ and `\\n`")
    'the set $\\{0, 1\\}$ and `\\\\n`'
    """

    def once(match: re.Match[str]) -> str:
        return match[0] if match["code"] else _DOUBLED.sub(r"\\", match[0])

    return _CODE_OR_MATHS.sub(once, markdown)


_DOUBLED = re.compile(r"\\\\(?!(?<!\\\\\\)\n)")
"""A pair of backslashes, unless it is alone at the end of a line: that ends a row."""


def value_of(rendering: object, media: Media, markdown_first: bool) -> Value | None:
    """Return the value of one rendering, of whatever tool: its fields, or the keys of a mapping,
    are asked for by name. None: what it shows is an object that is no chart by itself. What cannot
    be shown is a box."""
    if isinstance(rendering, Mapping):
        rendering = SimpleNamespace(**rendering)
    try:
        return _value_of(rendering, media, markdown_first)
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        kind = str(getattr(rendering, "type", "text"))
        return {"type": kind, "markdown": f"> {kind}: `{type(error).__name__}`"}


def _value_of(rendering: object, media: Media, markdown_first: bool) -> Value | None:
    kind = str(getattr(rendering, "type", "text"))
    style = getattr(rendering, "style", None) or {}
    data = getattr(rendering, "data", None)
    if kind == "markdown" and _is_verbatim(style):
        kind = "text"
    if kind == "link":
        return {"type": "text", "markdown": _link(rendering)}
    if kind in ("markdown", "note"):
        text = undoubled(str(data)) if markdown_first else str(data)
        text = _with_pictures(text, media)
        return {"type": "note" if kind == "note" else "text", "markdown": text}
    if kind in ("image", "video", "audio", "iframe"):
        return {"type": kind, "markdown": _medium(kind, str(data), style, media)}
    made = _MADE[kind](data, style) if kind in _MADE else None
    is_drawn = kind == "plot" and not isinstance(data, str | dict)
    return made or (None if is_drawn else _unknown(rendering, kind))


def _is_verbatim(style: Mapping[str, Any]) -> bool:
    spaces = style.get("whiteSpace", style.get("white-space", ""))
    return str(spaces).startswith("pre")


def _verbatim(data: Any, _: Mapping[str, Any]) -> Value:
    return {"type": "verbatim", "text": str(data)}


def fenced(text: str, language: str = "") -> str:
    """Return a text as a block of code in Markdown."""
    longest = max((len(ticks) for ticks in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _code_cell(data: Any, style: Mapping[str, Any]) -> Value:
    language = str(style.get("language", "python"))
    return {"type": "text", "markdown": fenced(str(data), language)}


def _plot(data: Any, _: Mapping[str, Any]) -> Value | None:
    spec = data.to_dict() if hasattr(data, "to_dict") else data
    if isinstance(spec, str):
        spec = json.loads(spec)
    if not isinstance(spec, dict):
        return None
    plain = json.loads(json.dumps(spec, default=str), parse_constant=lambda _: None)
    return {"type": "plot", "vega": {key: plain[key] for key in plain if key != "config"}}


def _graph(data: Any, _: Mapping[str, Any]) -> Value | None:
    return {"type": "graph", "svg": svg_of(data)} if isinstance(data, dict) else None


def _gap(*_: object) -> Value:
    return {"type": "space", "markdown": "<p><br></p>"}


def _rule(*_: object) -> Value:
    return {"type": "hr", "markdown": "<hr>"}


def _table(data: Any, _: Mapping[str, Any]) -> Value | None:
    if isinstance(data, str):
        data = _comma_separated(data)
    if not isinstance(data, dict):
        return None
    rows: Any = data.get("rows")
    headers = data.get("headers")
    is_bulk = hasattr(rows, "itertuples") or hasattr(rows, "tolist")
    if hasattr(rows, "itertuples") and hasattr(rows, "columns"):
        headers = headers or [str(column) for column in rows.columns]
        rows = [tuple(row) for row in rows[headers].itertuples(index=False)]
    rows = [*getattr(rows, "tolist", lambda: rows or ())()]
    if rows and isinstance(rows[0], Mapping):
        headers = headers or [*dict.fromkeys(key for row in rows for key in row)]
        rows = [[row.get(header) for header in headers] for row in rows]
    head, tail = data.get("head"), data.get("tail")
    if is_bulk and "head" not in data and "tail" not in data:
        head = tail = BULK_ROWS
    if isinstance(head, int) or isinstance(tail, int):
        kept = (head or 0) if isinstance(head, int) else 0
        last = tail if isinstance(tail, int) else 0
        if len(rows) > kept + last:
            gap = [["…"] * len(rows[0])] if kept and last else []
            rows = [*rows[:kept], *gap, *rows[len(rows) - last :]]
    width = max(map(len, [headers or [], *rows]), default=0)
    if not width:
        return {"type": "table", "markdown": f"> table: {data.get('caption') or 'empty'}"}
    lines = [_row(headers or [""] * width), "|" + " --- |" * width, *map(_row, rows)]
    caption = f"\n\n<em>{data['caption']}</em>" if data.get("caption") else ""
    return {"type": "table", "markdown": "\n".join(lines) + caption}


def _comma_separated(data: str) -> dict[str, Any]:
    """The rows of a table given as comma-separated values or as the path of a file of them."""
    if "\n" not in data.strip():
        if not Path(data).is_file():
            return {"caption": f"`{data}` is not here"}
        data = Path(data).read_text("utf-8-sig")
    headers, *rows = [row for row in csv.reader(data.strip().splitlines()) if row]
    return {"headers": headers, "rows": rows}


def _row(cells: Any) -> str:
    texts = (_TAG.sub("&lt;", _cell(cell)) for cell in cells)
    return "| " + " | ".join(re.sub(r"\s*\n\s*", " ", t).replace("|", r"\|") for t in texts) + " |"


def _cell(cell: object) -> str:
    """A cell as text; of a float that is long, six digits."""
    text = "" if cell is None else str(cell)
    return f"{cell:.6g}" if isinstance(cell, float) and len(text) > LONGEST_FLOAT else text


_TAG = re.compile(r"<(?=[\w/!?])(?!br\b)")
"""What Markdown would take for a tag, such as `<pad>` in a table of tokens."""


def _unknown(rendering: object, kind: str) -> Value:
    """What a course has invented: a box with its name, and what it says or leads to."""
    data = getattr(rendering, "data", None)
    if getattr(rendering, "external_link", None) is not None:
        said = _link(rendering)
    elif isinstance(data, str):
        said = data[:MAX_UNKNOWN_CHARACTERS].replace("\n", "\n> ")
    elif data is None:
        said = ""
    else:
        said = f"`{json.dumps(data, default=str)[:MAX_UNKNOWN_CHARACTERS].replace('`', ' ')}`"
    return {"type": kind, "markdown": f"> {kind}: {said}" if said else f"> {kind}"}


_MADE: dict[str, Callable[[Any, Mapping[str, Any]], Value | None]] = {
    "text": _verbatim,
    "code_cell": _code_cell,
    "plot": _plot,
    "graph": _graph,
    "table": _table,
    "space": _gap,
    "hr": _rule,
}


def _link(rendering: Any) -> str:
    source = getattr(rendering, "external_link", None)
    names = (rendering.data, getattr(source, "title", None), getattr(source, "url", None))
    label = re.sub(r"([\[\]`*_<>\\$])", r"\\\1", str(next(filter(None, names), "")))
    if getattr(rendering, "internal_link", None) is not None:
        return f"[{label}](#{rendering.data})"
    url = getattr(source, "url", None)
    if not url:
        return label
    told = [getattr(source, "title", None), ", ".join(getattr(source, "authors", None) or [])]
    told += [getattr(source, name, None) for name in ("organization", "date", "notes")]
    tooltip = " · ".join(str(part) for part in told if part).replace('"', "'")
    tooltip = " ".join(tooltip.replace("\\", "").split())
    address = str(url).replace(" ", "%20").replace("(", "%28").replace(")", "%29")
    return f'[{label}]({address} "{tooltip}")' if tooltip else f"[{label}]({address})"


def _medium(kind: str, place: str, style: Mapping[str, Any], media: Media) -> str:
    named = _file_name(place, kind)
    name = _name_of(place, kind, media) if kind != "iframe" else None
    if name and kind != "image":
        return f"![{named}]({name})"
    if name:
        width = _width(style.get("width"))
        sized = f' width="{width}"' if width else ""
        picture = f'<img src="{name}" alt="{named}"{sized}>'
        is_centred = style.get("center") or style.get("textAlign") == "center"
        return f'<p align="center">{picture}</p>' if is_centred else picture
    return f"> {_absent(kind, place)}"


def _width(width: object) -> str:
    """A width in pixels or as a share; a number up to 1 is a share, as some courses have it."""
    if isinstance(width, int | float) and 0 < width <= 1:
        return f"{width:.0%}"
    return re.sub(r"[^\d.%]", "", str(width or ""))


def _file_name(place: str, kind: str) -> str:
    return re.sub(r'[<>"&\\]', "", Path(place).name if not place.startswith("data:") else kind)


def _absent(kind: str, place: str) -> str:
    """What stands in the place of what is not shown."""
    named = _file_name(place, kind)
    label = {"image": "Picture", "video": "Film", "audio": "Sound", "iframe": "Page"}[kind]
    return f"{label}: " + (f"[{named or place}]({place})" if is_address(place) else f"`{named}`")


def _name_of(place: str, kind: str, media: Media) -> str | None:
    """The name of a file, or of what an address has in itself."""
    return _kept(place, media) if place.startswith("data:") else media.name_of(place, kind)


_PICTURE = re.compile(
    r"(?P<code>(`+)[\s\S]*?\2)"
    r"|!\[[^\]]*\]\((?P<path>[^)\s]+)[^)]*\)"
    r"""|<img\b[^>]*?\ssrc\s*=\s*(?P<quote>["']?)(?P<source>[^"'>]+?)(?P=quote)(?=\s|/?>)[^>]*>""",
    re.IGNORECASE,
)


def _with_pictures(text: str, media: Media) -> str:
    """Name the pictures within a text as they are kept; those that are not here by their names."""

    def kept(match: re.Match[str]) -> str:
        place = match["path"] or match["source"]
        if match["code"] or place.startswith("data:"):
            return match[0]
        name = media.name_of(place, "image")
        return match[0].replace(place, name) if name else _absent("image", place)

    text = _PICTURE.sub(kept, text)
    return _EMBEDDED.sub(lambda match: _kept(match[0], media), text)


_EMBEDDED = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp|svg\+xml);base64,[A-Za-z0-9+/]+=*")
"""A picture that a text has in itself; as a file it may lie beside the document."""


def _kept(place: str, media: Media) -> str:
    head, _, body = place.partition(",")
    suffix = "." + head.partition("/")[2].partition(";")[0].partition("+")[0]
    is_base64 = head.endswith(";base64")
    data = base64.b64decode(body) if is_base64 else urllib.parse.unquote_to_bytes(body)
    return media.keep(data, suffix)
