"""What values draw of themselves: charts, figures, tables, and whatever shows itself in a notebook.

An object is asked by the methods that notebooks ask (`_repr_svg_`, `_repr_html_`,
`_repr_mimebundle_`, ...); a few libraries whose own answer needs a script or a server, or differs
from run to run, are asked otherwise.
"""

import base64
import importlib.util
import io
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, cast

from ..own_builtins import use_own_builtins
from ..schema import Value
from .bounds import MAX_PICTURE_SECONDS, bounded
from .dataframes import table_of_pandas
from .markup import plain_html, steady_names

use_own_builtins(globals())

MAX_PICTURE_CHARACTERS = 1_000_000
"""Characters of a picture a value draws of itself."""

METHODS = (
    ("_repr_svg_", "svg"),
    ("_repr_markdown_", "markdown"),
    ("_repr_latex_", "markdown"),
    ("_repr_html_", "html"),
    ("_repr_png_", "png"),
    ("_repr_jpeg_", "jpeg"),
)
"""What an object may answer to, the best first, and what the document calls it."""
_MEDIA = {
    "image/svg+xml": "svg",
    "text/markdown": "markdown",
    "text/latex": "markdown",
    "text/html": "html",
    "image/png": "png",
    "image/jpeg": "jpeg",
}
"""The same for `_repr_mimebundle_`, which gives several at once."""


def drawing_of(value: Any, cls: type, name: str) -> Value | None:
    """Return what a value draws of itself, if it does."""
    library = str(cls.__module__).partition(".")[0]
    draw = _LIBRARIES.get(library)
    with bounded(None, MAX_PICTURE_SECONDS):
        drawn = draw(value, cls, name) if draw else None
        if drawn is None and library != "sklearn":  # whose diagrams hide what was set
            drawn = next(_answers(value, cls, name), None)
    return drawn


def _answers(value: Any, cls: type, name: str) -> Iterator[Value]:
    """Yield what an object answers as notebooks ask it, as far as a page can show it."""
    if hasattr(cls, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_(include=None, exclude=None)
        bundle = bundle[0] if type(bundle) is tuple else bundle
        for media, key in _MEDIA.items():
            if type(bundle) is dict and media in bundle:
                yield from _kept(bundle[media], key, name)
    for method, key in METHODS:
        if hasattr(cls, method):
            yield from _kept(getattr(value, method)(), key, name)


def _kept(drawn: Any, key: str, name: str) -> Iterator[Value]:
    if type(drawn) is tuple:  # data and metadata in IPython's protocol
        drawn = drawn[0]
    if type(drawn) is bytes:
        drawn = base64.b64encode(drawn).decode("ascii")
    if type(drawn) is not str:
        return
    if key == "html":
        drawn = plain_html(drawn)
    if len(drawn) <= MAX_PICTURE_CHARACTERS and (drawn or key != "html"):
        yield cast(Value, {"type": name, key: drawn})


# Libraries --------------------------------------------------------------------------------------


def _altair(value: Any, cls: type, name: str) -> Value | None:
    if not hasattr(cls, "to_dict"):
        return None
    spec = json.dumps(value.to_dict())
    plain = json.loads(spec, parse_constant=lambda _: None)  # nan is a gap
    return {"type": name, "vega": {key: plain[key] for key in plain if key != "config"}}


def _matplotlib(value: Any, cls: type, name: str) -> Value | None:
    figure = value if hasattr(cls, "savefig") else _figure_around(value, cls)
    return None if figure is None else {"type": name, "svg": _svg_of_figure(figure)}


def _figure_around(value: Any, cls: type) -> Any:
    """Return the figure that axes, or a grid of them, are part of."""
    if not hasattr(cls, "get_figure") or not hasattr(cls, "plot"):
        figure = getattr(value, "figure", None) if cls.__module__.startswith("seaborn.") else None
        return figure if hasattr(type(figure), "savefig") else None
    figure = value.get_figure()
    while not hasattr(type(figure), "savefig") and hasattr(figure, "figure"):  # of a part of one
        figure = figure.figure
    return figure


def _svg_of_figure(figure: Any) -> str:
    """Draw a matplotlib figure, nothing of it cut off; the same figure gives the same text."""
    matplotlib: Any = sys.modules["matplotlib"]
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "trace"}):
        figure.savefig(
            buffer, format="svg", bbox_inches="tight", metadata={"Date": None, "Creator": None}
        )
    svg = buffer.getvalue()
    # On a dark page a drawing may be turned into its negative, a picture may not.
    kind = "photograph" if "<image" in svg else "drawing"
    return svg.replace("<svg ", f'<svg class="{kind}" ', 1)


def figure_of_axes(array: Any) -> Value | None:
    """Return the figure of an array of axes, such as `plt.subplots(2, 2)` gives."""
    if "matplotlib" not in sys.modules or not array.size:
        return None
    first = array.reshape(-1)[0]
    cls = type(first)
    if not str(cls.__module__).startswith("matplotlib.") or not hasattr(cls, "get_figure"):
        return None
    with bounded(None, MAX_PICTURE_SECONDS):
        return _matplotlib(first, cls, "Axes")


def _pandas(value: Any, cls: type, name: str) -> Value | None:
    table = table_of_pandas(value, name, sys.modules["pandas"])
    if table is not None:
        table["html"] = plain_html(table["html"])
    return table


def _polars(value: Any, cls: type, name: str) -> Value | None:
    if cls.__name__ not in ("DataFrame", "Series"):
        return None
    table = plain_html(value._repr_html_())
    return {"type": name, "html": table, "text": f"shape {value.shape}"}


def _plotly(value: Any, cls: type, name: str) -> Value | None:
    """A figure of plotly is a script; as a drawing it exists where kaleido is installed."""
    if not hasattr(cls, "to_image"):
        return None
    if importlib.util.find_spec("kaleido") is None:
        kinds = ", ".join(str(trace.type) for trace in list(value.data)[:10])
        reason = f"of {kinds or 'nothing'}; it is drawn where the package kaleido is installed"
        return {"type": name, "text": f"figure {reason}"}
    return {"type": name, "svg": steady_names(value.to_image(format="svg").decode("utf-8"))}


_LIBRARIES: dict[str, Callable[[Any, type, str], Value | None]] = {
    "altair": _altair,
    "matplotlib": _matplotlib,
    "pandas": _pandas,
    "plotly": _plotly,
    "polars": _polars,
    "seaborn": _matplotlib,
}
