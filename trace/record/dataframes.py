"""Data frames and series as tables of HTML, with the types of their columns below the names.

pandas decides which rows and columns are shown and how numbers are written (`pd.set_option`); what
it leaves out is counted.
"""

import html
import re
import sys
from typing import Any

from ..own_builtins import use_own_builtins
from ..schema import Value

use_own_builtins(globals())

MAX_ROWS = 200
"""Rows of a table, whatever the options say."""
MAX_COLUMNS = 30
"""Columns of a table."""
_BLANK = re.compile(r"<th></th>")
_LIBRARIES = ("pandas", "polars")


def table_of_pandas(value: Any, name: str, pandas: Any) -> Value | None:
    """Return the picture of a DataFrame or a Series of pandas, or None of anything else."""
    if isinstance(value, pandas.Series):
        frame = value.to_frame("" if value.name is None else value.name)
        size = f"{len(value):,} {'value' if len(value) == 1 else 'values'}, {value.dtype}"
    elif isinstance(value, pandas.DataFrame):
        frame, size = value, _size(value)
    else:
        return None
    rows, columns = frame.shape
    most_rows, most_columns = _limits(pandas, rows)
    few_rows = pandas.get_option("display.min_rows")
    written = frame.to_html(
        border=0,
        max_rows=most_rows if rows <= most_rows else min(few_rows or most_rows, most_rows),
        max_cols=most_columns,
        show_dimensions=False,
    )
    head, end, body = written.partition("</thead>")
    head = _with_types(head, frame, most_columns)
    is_cut = rows > most_rows or columns > most_columns
    note = f"<p>{size}</p>" if is_cut or isinstance(value, pandas.Series) else ""
    picture: Value = {"type": name, "html": head + end + body + note, "text": size}
    if is_cut:
        picture["cut"] = True
    return picture


def at_a_glance(value: Any, cls: type) -> str | None:
    """Return what a frame or a series says in a line, or None of anything else."""
    for library in _LIBRARIES:
        known: Any = sys.modules.get(library)
        if cls is getattr(known, "DataFrame", None):
            return f"{cls.__name__} of {_size(value)}"
        if cls is getattr(known, "Series", None):
            return f"{cls.__name__} of {len(value):,} {value.dtype}"
    return None


def _size(frame: Any) -> str:
    rows, columns = frame.shape
    return (
        f"{rows:,} {'row' if rows == 1 else 'rows'} × "
        f"{columns:,} {'column' if columns == 1 else 'columns'}"
    )


def _limits(pandas: Any, rows: int) -> tuple[int, int]:
    """Return how many rows and columns are shown, an even number of columns."""
    most_rows = pandas.get_option("display.max_rows") or rows
    most_columns = pandas.get_option("display.max_columns") or MAX_COLUMNS
    most_columns = min(most_columns, MAX_COLUMNS)
    return max(1, min(most_rows, MAX_ROWS)), max(2, most_columns - most_columns % 2)


def _with_types(head: str, frame: Any, most_columns: int) -> str:
    """Return the head of a table with the type of each column that is shown."""
    names = [str(kind) for kind in frame.dtypes]
    if not names:
        return head
    if len(names) > most_columns:
        half = most_columns // 2
        names = [*names[:half], "…", *names[-half:]]
    cells = "".join(f"<th><small>{html.escape(name)}</small></th>" for name in names)
    before, row, last = head.rpartition("<tr>")
    blanks = list(_BLANK.finditer(last))
    if row and len(blanks) >= len(names):  # the row of the names of the index has room
        return before + row + last[: blanks[-len(names)].start()] + cells + "</tr>"
    return head + f"<tr>{'<th></th>' * frame.index.nlevels}{cells}</tr>"
