"""Stand-ins that answer as libraries do which the tests do not install: word for word, but less."""

import itertools
from typing import Any

_SERIAL = itertools.count()


def _of(module: str) -> Any:
    """Let a class say that it is of this module."""

    def name(cls: type) -> type:
        cls.__module__ = module
        return cls

    return name


@_of("polars.dataframe.frame")
class DataFrame:
    """polars 2.1"""

    shape = (2, 2)

    def _repr_html_(self) -> str:
        return (
            "<div><style>\n.dataframe > thead > tr,\n.dataframe > tbody > tr {\n"
            "  text-align: right;\n  white-space: pre-wrap;\n}\n</style>\n"
            '<small>shape: (2, 2)</small><table border="1" '
            'class="dataframe"><thead><tr><th>a</th><th>b</th></tr><tr><td>i64</td><td>str</td></tr>'
            "</thead><tbody><tr><td>1</td><td>&quot;x&quot;</td></tr><tr><td>2</td><td>&quot;y&quot;"
            "</td></tr></tbody></table></div>"
        )


@_of("great_tables.gt")
class GT:
    """great_tables 1.1: an id drawn at random, and a style sheet for all of it."""

    def _repr_html_(self) -> str:
        name = f"random{next(_SERIAL)}"
        return f"""<div id="{name}" style="padding-left:0px;overflow-x:auto;height:auto;">
<style>#{name} table {{ font-family: -apple-system; }}
#{name} .gt_table {{ display: table; color: #333333; background-color: #FFFFFF; }}
#{name} .gt_right {{ text-align: right; font-variant-numeric: tabular-nums; }}
</style>
<table class="gt_table" data-quarto-disable-processing="false">
<thead><tr class="gt_col_headings"><th class="gt_col_heading gt_right" id="{name}-mean">mean</th>
</tr></thead>
<tbody class="gt_table_body"><tr>
<td style="color: #FFFFFF; background-color: #1f77b4;" class="gt_row gt_right">3,969</td>
</tr></tbody></table></div>"""


@_of("graphviz.graphs")
class Digraph:
    """graphviz 0.21, where `dot` is installed"""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None, **_: Any) -> dict:
        svg = '<svg width="62pt" height="116pt" viewBox="0 0 62 116"><g id="node1"><title>a</title>'
        return {"image/svg+xml": svg + "</g></svg>"}


@_of("plotly.graph_objs._figure")
class Figure:
    """plotly 7.1: its own answer is a script; `to_image` needs kaleido"""

    class Trace:
        type = "scatter"

    data = (Trace(), Trace())

    def _repr_html_(self) -> str:
        return '<div><script src="https://cdn.plot.ly/plotly.min.js"></script></div>'

    def to_image(self, format: str) -> bytes:  # noqa: A002
        serial = next(_SERIAL)
        return (
            f'<svg class="main-svg" width="700" height="500"><defs id="defs-{serial}a">'
            f'<clipPath id="clip{serial}axy"><rect width="9"/></clipPath></defs>'
            f"<g clip-path=\"url('#clip{serial}axy')\"></g></svg>"
        ).encode()


@_of("sklearn.pipeline")
class Pipeline:
    """scikit-learn 1.9: 56 kB of style and script around what its text says"""

    def _repr_mimebundle_(self, **_: Any) -> dict:
        return {"text/plain": repr(self), "text/html": "<style>a{}</style><div hidden>…</div>"}

    def __repr__(self) -> str:
        return "Pipeline(steps=[('linearregression', LinearRegression())])"


@_of("xarray.core.dataset")
class Dataset:
    """xarray: disclosures that are boxes to tick, and drawings beside them"""

    def _repr_html_(self) -> str:
        return (
            "<div><svg style='position: absolute; width: 0'><defs><symbol id='icon'/></defs></svg>"
            "<pre class='xr-text-repr-fallback' hidden>text</pre><ul><li><input id='s-3f' "
            "type='checkbox' checked><label for='s-3f'>Dimensions:</label></li></ul></div>"
        )
