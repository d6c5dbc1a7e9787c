"""What a value says of itself in HTML, made plain: tables, text, pictures and sound.

Scripts, forms and whatever is hidden are left out; of style sheets stays what concerns single
elements; ids and classes go, which many libraries draw at random. So two runs give the same text,
and the page decides how tables look. The viewer has a sanitiser of its own.
"""

import html
import re
from html.parser import HTMLParser

from ..own_builtins import use_own_builtins
from .stylesheets import Element, Rule, rules_of, style_of

use_own_builtins(globals())

_KEPT = frozenset(
    "a abbr audio b blockquote br caption code col colgroup dd del details dfn div dl dt em "  # noqa: SIM905
    "figcaption figure h1 h2 h3 h4 h5 h6 hr i img ins kbd li mark ol p pre s samp small source "
    "span strong sub summary sup table tbody td tfoot th thead tr u ul var video".split()
)
_CALLED = {
    "article": "div",
    "center": "div",
    "footer": "div",
    "header": "div",
    "label": "div",
    "main": "div",
    "nav": "div",
    "section": "div",
    "strike": "s",
    "tt": "code",
}
"""Elements that are shown as others."""
_LEFT_OUT = frozenset(
    "button canvas embed frame head iframe link math meta noscript object script select "  # noqa: SIM905
    "style template textarea title".split()
)
"""Elements that are left out with all that is in them."""
_VOID = frozenset("br col embed frame hr img input link meta source wbr".split())  # noqa: SIM905
_ATTRIBUTES = frozenset(
    "align alt colspan controls height open reversed rowspan scope span start title type "  # noqa: SIM905
    "width".split()
)
_BETWEEN = frozenset(["table", "thead", "tbody", "tfoot", "tr", "colgroup", "ul", "ol", "dl"])
"""Elements in which space is none."""
_ADDRESSES = {
    "href": re.compile(r"https?://|mailto:|#", re.IGNORECASE),
    "src": re.compile(r"data:(image|audio|video)/[\w.+-]+;base64,", re.IGNORECASE),
}
_COLOURED = frozenset("b caption code div em i p pre small span strong td th tr".split())  # noqa: SIM905
"""Elements that may have colours of their own."""
_NUMBER = re.compile(
    r"[-+\u2212$€£]{0,2}[\d.,]*\d[\d.,]*(?:e[-+]?\d+)?\s?%?|nan|NaN|-?inf|<NA>|NaT|None|null"
)
_SHEET = re.compile(r"<style\b[^>]*>(.*?)</style\s*>", re.DOTALL | re.IGNORECASE)
_SVG = re.compile(r"<svg\b.*?</svg\s*>", re.DOTALL | re.IGNORECASE)
_SIZED = re.compile(r"<svg\b[^>]*\b(?:width|viewBox)\s*=", re.IGNORECASE)
_PLACE = "\ue000{}\ue001"
"""Stands for a drawing while the text around it is read."""


MAX_BODY_ROWS = 100
"""Rows in the body of a table; of a longer one those at both ends are shown."""


def plain_html(text: str) -> str:
    """Return HTML without what runs, fetches, is hidden or differs from run to run.

    >>> plain_html('<p id="a" onclick="b()">1 &lt; 2<script>c()</script>')
    '<p>1 &lt; 2</p>'
    """
    drawings: list[str] = []

    def keep(match: re.Match[str]) -> str:
        drawings.append(steady_names(_SHEET.sub("", match[0])) if _SIZED.match(match[0]) else "")
        return _PLACE.format(len(drawings) - 1)

    parser = _Parser(rules_of(_SHEET.findall(text)))
    parser.feed(_SVG.sub(keep, text))
    parser.close()
    result = parser.text()
    for number, drawing in enumerate(drawings):
        result = result.replace(_PLACE.format(number), drawing)
    return result.strip()


_NAME = re.compile(r"""\bid\s*=\s*["']([^"']+)["']""")


def steady_names(svg: str) -> str:
    """Return a drawing with its ids replaced by p1, p2, ...: some are drawn at random."""
    numbers: dict[str, str] = {}
    for name in _NAME.findall(svg):
        numbers.setdefault(name, f"p{len(numbers) + 1}")
    names = "|".join(re.escape(name) for name in sorted(numbers, key=len, reverse=True))
    if not names:
        return svg
    named = re.compile(rf"""(?P<before>\bid\s*=\s*["']|["'(]#)(?P<name>{names})(?=["')])""")
    return named.sub(lambda match: match["before"] + numbers[match["name"]], svg)


class _Cell:
    """A cell of the table that is being read."""

    def __init__(self, at: int, tag: str, is_head: bool, span: int) -> None:
        self.at = at
        self.tag = tag
        self.is_head = is_head
        self.span = span
        self.text = ""


class _Table:
    """The cells of a table by rows; its columns of numbers end up right-aligned."""

    def __init__(self) -> None:
        self.rows: list[list[_Cell]] = []
        self.body: list[int] = []
        """Where the rows outside of the head begin."""
        self.is_head = False

    def numeric_cells(self) -> list[int]:
        """Return where the cells of columns of numbers begin. Columns are counted from the right:
        on the left, cells span rows."""
        columns: dict[int, list[_Cell]] = {}
        for row in self.rows:
            place = 0
            for cell in reversed(row):
                if cell.span == 1:
                    columns.setdefault(place, []).append(cell)
                place += cell.span
        found = []
        for cells in columns.values():
            said = [cell.text.strip() for cell in cells if cell.tag == "td" and not cell.is_head]
            known = [text for text in said if text not in ("", "…", "...", "&hellip;")]
            if known and all(map(_NUMBER.fullmatch, known)):
                found += [cell.at for cell in cells]
        return found


class _Parser(HTMLParser):
    """Writes down what is kept while it reads."""

    def __init__(self, rules: list[Rule]) -> None:
        super().__init__(convert_charrefs=True)
        self._rules = rules
        self._pieces: list[str] = []
        self._path: list[Element] = []
        self._written: list[str] = []
        """Of each open element the tag that it was given, or nothing."""
        self._hidden = 0
        """How many elements of the path are in one that is left out, it included."""
        self._tables: list[_Table] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        element = Element(tag, given.get("id", ""), frozenset(given.get("class", "").split()))
        path = [*self._path, element]
        style = style_of(path, self._rules, given.get("style", ""), with_colours=tag in _COLOURED)
        display = style.pop("display", "none" if "hidden" in given else "")
        hides = tag in _LEFT_OUT or display == "none"
        if tag not in _VOID:
            self._path.append(element)
            self._hidden += bool(self._hidden or hides)
        called = _CALLED.get(tag, tag)
        is_kept = not self._hidden and not hides and called in _KEPT
        if tag not in _VOID:
            self._written.append(called if is_kept else "")
        if is_kept:
            self._begin(called, given, style)

    def _begin(self, tag: str, given: dict[str, str], style: dict[str, str]) -> None:
        kept = {name: value for name, value in given.items() if name in _ATTRIBUTES}
        for name, known in _ADDRESSES.items():
            if known.match(given.get(name, "")):
                kept[name] = given[name]
        if style:
            kept["style"] = "; ".join(f"{name}: {value}" for name, value in sorted(style.items()))
        self._note_cell(tag, kept)
        written = "".join(f' {name}="{html.escape(value)}"' for name, value in kept.items())
        self._pieces.append(f"<{tag}{written}>")

    def _note_cell(self, tag: str, given: dict[str, str]) -> None:
        if tag == "table":
            self._tables.append(_Table())
        if not self._tables:
            return
        table = self._tables[-1]
        if tag in ("thead", "tbody", "tfoot"):
            table.is_head = tag == "thead"
        elif tag == "tr":
            table.rows.append([])
            if not table.is_head:
                table.body.append(len(self._pieces))
        elif tag in ("td", "th") and table.rows:
            span = given.get("colspan", "1")
            cell = _Cell(len(self._pieces), tag, table.is_head, int(span) if span.isdigit() else 1)
            table.rows[-1].append(cell)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in _VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if all(element.tag != tag for element in self._path):
            return
        while self._end() != tag:
            continue

    def _end(self) -> str:
        """Close the innermost element; returns its tag."""
        tag, written = self._path.pop().tag, self._written.pop()
        self._hidden = max(0, self._hidden - 1)
        if written:
            self._pieces.append(f"</{written}>")
        if written == "table":
            self._end_table(self._tables.pop())
        return tag

    def _end_table(self, table: _Table) -> None:
        for place in table.numeric_cells():
            if "align" not in self._pieces[place]:
                self._pieces[place] = self._pieces[place][:-1] + ' align="right">'
        rest = len(table.body) - MAX_BODY_ROWS
        if rest > 0:
            columns = max(sum(cell.span for cell in row) for row in table.rows)
            count = f'<tr><td colspan="{columns}">… {rest:,} more rows</td></tr>'
            first, after = table.body[MAX_BODY_ROWS // 2], table.body[-(MAX_BODY_ROWS // 2)]
            self._pieces[first:after] = [count, *[""] * (after - first - 1)]

    def handle_data(self, data: str) -> None:
        if self._hidden:
            return
        within = self._written[-1] if self._written else ""
        if not data.strip() and (within in _BETWEEN or "\n" in data):
            return
        if self._tables and self._tables[-1].rows and self._tables[-1].rows[-1]:
            self._tables[-1].rows[-1][-1].text += data
        is_kept = "pre" in self._written
        self._pieces.append(
            html.escape(data if is_kept else re.sub(r"\s+", " ", data), quote=False)
        )

    def text(self) -> str:
        while self._path:
            self._end()
        return "".join(self._pieces)
