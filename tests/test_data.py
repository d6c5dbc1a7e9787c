"""Data lectures: tables, figures and pictures are shown as such, the same each time."""

import base64
import json
import sys
from collections.abc import Callable
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tests import notebook_values as stand_ins
from tests.tracing import shown, trace_source
from trace.document.closeness import close
from trace.record.dataframes import MAX_COLUMNS
from trace.record.markup import MAX_BODY_ROWS, plain_html, steady_names
from trace.record.pictures import Snapshots
from trace.record.rasters import MOST_PIXELS


def take(value: object) -> dict:
    return Snapshots().take(value)


@pytest.fixture(autouse=True)
def _no_window():
    plt.switch_backend("agg")
    yield
    plt.close("all")


# HTML ---------------------------------------------------------------------------------------------

WAV = '<source src="data:audio/wav;base64,AAAA">'
PLAIN = [
    ("<p id=a class=b>x</p>", "<p>x</p>"),
    ("<script>a()</script>b<style>c{}</style>", "b"),
    ('<a href="javascript:x">y</a>', "<a>y</a>"),
    ('<a href="https://x.example">y</a>', '<a href="https://x.example">y</a>'),
    ('<img src="https://x.example/a.png" alt="a">', '<img alt="a">'),
    ('<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,AAAA">'),
    ('<img src="data:text/html;base64,AAAA">', "<img>"),
    ("<form><input value=1>a</form>", "a"),
    ("<section><label>a</label></section>", "<div><div>a</div></div>"),
    ("<p hidden>a</p>b", "b"),
    ('<p style="display:none">a<b>c</b></p>b', "b"),
    ("<style>.x{display:none}</style><p class=x>a</p>b", "b"),
    ("<style>p{display:none} b p{display:block}</style><b><p>a</b>", "<b><p>a</p></b>"),
    ('<td style="background:url(x)">a</td>', "<td>a</td>"),
    ('<p onclick="a()" data-x=1>b</p>', "<p>b</p>"),
    ("a &lt; b &amp; c", "a &lt; b &amp; c"),
    ("<pre>a\n  b</pre>", "<pre>a\n  b</pre>"),
    ("<b>a</i></b></p>c", "<b>a</b>c"),
    ('<svg width="1"><g id="x7f"/></svg>', '<svg width="1"><g id="p1"/></svg>'),
    ("<!-- a --><?php b ?><![CDATA[c]]>d", "d"),
    (f"<audio>{WAV}</audio>", f"<audio>{WAV}</audio>"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "plain"), PLAIN)
def test_html_is_made_plain(source: str, plain: str) -> None:
    assert plain_html(source) == plain


def test_only_single_cells_have_colours() -> None:
    cells = "<table><tr><td id=i>a</td><td>b</td></tr></table>"
    source = f"<style>#i{{color:red}} td{{color:blue}}</style>{cells}"
    assert 'style="color: red"' in plain_html(source) and "blue" not in plain_html(source)


@given(st.text(alphabet="<>/'\"= abp&;svgtdrcipon#{}:-!", max_size=80))
def test_any_text_is_made_plain_once_and_for_all(text: str) -> None:
    once = plain_html(text)
    assert plain_html(once) == once
    assert "<script" not in once and " on" not in "".join(
        part.partition(">")[0] for part in once.split("<")[1:]
    )


def test_columns_of_numbers_are_right_aligned() -> None:
    head = "<tr><th></th><th>n</th><th>word</th></tr>"
    rows = "".join(f"<tr><th>{i}</th><td>{i / 7:.2f}</td><td>w{i}</td></tr>" for i in range(3))
    plain = plain_html(f"<table><thead>{head}</thead><tbody>{rows}</tbody></table>")
    assert plain.count('<td align="right">') == 3
    assert '<th align="right">n</th>' in plain and "<th>word</th>" in plain


def test_long_tables_are_cut_with_a_count() -> None:
    rows = "".join(f"<tr><td>row {i}</td><td>x</td></tr>" for i in range(1000))
    plain = plain_html(f"<table><tbody>{rows}</tbody></table>")
    assert plain.count("<tr>") == MAX_BODY_ROWS + 1
    assert '<td colspan="2">… 900 more rows</td>' in plain
    assert "row 0<" in plain and "row 999<" in plain


def test_names_of_drawings_are_steady() -> None:
    first, second = (
        f'<g id="{n}"><use href="#{n}" clip="url(#{n})"/></g>' for n in ("f3a9", "c0de")
    )
    assert (
        steady_names(first)
        == steady_names(second)
        == ('<g id="p1"><use href="#p1" clip="url(#p1)"/></g>')
    )


# Libraries ----------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"name": ["a", "b"], "n": [1, 2], "x": [0.5, None]})


def test_a_small_frame_is_shown_whole_with_its_types() -> None:
    picture = take(FRAME)
    assert picture["type"] == "DataFrame"
    assert picture["text"] == "2 rows × 3 columns"
    for part in ("<small>int64</small>", "<small>float64</small>", '<td align="right">0.5</td>'):
        assert part in picture["html"]
    assert "<td>a</td>" in picture["html"] and "cut" not in picture


def test_a_large_frame_is_cut_and_counted() -> None:
    picture = take(pd.DataFrame(np.arange(100_000).reshape(1000, 100)))
    assert picture["cut"] is True
    assert "<p>1,000 rows × 100 columns</p>" in picture["html"]
    assert picture["html"].count("int64") == MAX_COLUMNS
    body = picture["html"].partition("<tbody>")[2]
    assert body.count("<tr>") == pd.get_option("display.min_rows") + 1
    assert all(row.count("<td") == MAX_COLUMNS + 1 for row in body.split("</tr>")[:-1])


def test_the_options_of_pandas_hold() -> None:
    with pd.option_context("display.max_rows", 4, "display.min_rows", 2, "display.precision", 1):
        html = take(pd.DataFrame({"x": np.arange(9) / 7}))["html"]
    assert html.partition("<tbody>")[2].count("<tr>") == 3
    assert ">1.1</td>" in html


FRAMES = {
    "empty": (pd.DataFrame(), "0 rows × 0 columns"),
    "no columns": (pd.DataFrame(index=[1]), "1 row × 0 columns"),
    "names of the index": (FRAME.set_index("name"), "2 rows × 2 columns"),
    "levels": (FRAME.groupby(["name", "n"]).sum(), "2 rows × 1 column"),
    "levels of columns": (FRAME.groupby("name").agg(["min", "max"]), "2 rows × 4 columns"),
    "categories": (pd.DataFrame({"c": pd.Categorical(["u"])}), "1 row × 1 column"),
    "markup": (pd.DataFrame({"<b>": ["<script>"]}), "1 row × 1 column"),
    "same names": (pd.DataFrame([[1, "a"]], columns=["x", "x"]), "1 row × 2 columns"),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_each_column_has_its_type(kind: str) -> None:
    frame, size = FRAMES[kind]
    picture = take(frame)
    assert picture["text"] == size
    assert picture["html"].count("<small>") == len(frame.columns)
    head = picture["html"].partition("</thead>")[0].rpartition("<tr")[2]
    assert (
        head.count("<th") == len(frame.columns) + frame.index.nlevels if len(frame.columns) else 1
    )
    assert "<script" not in picture["html"]


def test_a_series_has_its_name_type_and_length() -> None:
    html = take(FRAME["x"])["html"]
    assert ">x</th>" in html and "2 values, float64" in html
    assert "<p>1 value, int64</p>" in take(pd.Series([5]))["html"]


def test_a_styler_keeps_its_colours_and_loses_its_name() -> None:
    first, second = (take(FRAME[["n"]].style.highlight_max()) for _ in range(2))
    assert first == second
    assert 'style="background-color: yellow"' in first["html"]
    assert "id=" not in first["html"] and "T_" not in first["html"]


def test_frames_are_named_at_a_glance() -> None:
    document = trace_source(
        """
        import pandas
        def main():
            frame = pandas.DataFrame({"a": [1, 2]})
            column = frame["a"]
            again = frame
        """
    )
    texts = {value.get("text") for value in document["values"]}
    assert {"DataFrame of 2 rows × 1 column", "Series of 2 int64"} <= texts
    frames = [v for v in document["values"] if v["type"] == "DataFrame"]
    assert len(frames) == 1 and frames[0]["object"] > 0


STAND_INS = [
    (stand_ins.DataFrame, "html", '<td align="right">2</td>'),
    (stand_ins.GT, "html", "background-color: #1f77b4; color: #FFFFFF; text-align: right"),
    (stand_ins.Digraph, "svg", "<title>a</title>"),
    (stand_ins.Figure, "text", "figure of scatter, scatter; it is drawn where the package kaleido"),
    (stand_ins.Pipeline, "text", "Pipeline(steps=[('linearregression', LinearRegression())])"),
    (stand_ins.Dataset, "html", "<div><ul><li><div>Dimensions:</div></li></ul></div>"),
]


@pytest.mark.parametrize(("cls", "key", "part"), STAND_INS, ids=lambda case: str(case)[:40])
def test_other_libraries_show_themselves(cls: Callable[[], Any], key: str, part: str) -> None:
    first, second = take(cls()), take(cls())
    assert part in first[key]
    assert first == second, "differs from run to run"
    assert not {"<script", "<style", " id=", " class="} & set(first.get("html", ""))


def test_plotly_draws_with_kaleido(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: name == "kaleido" or None)
    first, second = take(stand_ins.Figure()), take(stand_ins.Figure())
    assert "url('#p2')" in first["svg"] and first == second


def test_what_an_object_answers_is_tried_in_turn() -> None:
    class Nothing:
        def _repr_html_(self) -> None:
            return None

        def _repr_png_(self) -> bytes:
            return b"\x89PNG"

    class Bundle:
        def _repr_mimebundle_(self, include=None, exclude=None):
            return {"text/plain": "p", "image/jpeg": b"\xff\xd8"}, {}

    class OnlyScript:
        def _repr_html_(self) -> str:
            return "<script>draw()</script>"

        def __repr__(self) -> str:
            return "as text"

    assert take(Nothing())["png"] == base64.b64encode(b"\x89PNG").decode()
    assert take(Bundle())["jpeg"] == base64.b64encode(b"\xff\xd8").decode()
    assert take(OnlyScript()) == {"type": take(OnlyScript())["type"], "text": "as text"}


# Figures ------------------------------------------------------------------------------------------


def test_axes_and_grids_draw_their_figure() -> None:
    figure, axes = plt.subplots(1, 2)
    drawn = take(figure)["svg"]
    assert take(axes[0])["svg"] == take(axes)["svg"] == drawn
    grid = type("FacetGrid", (), {"__module__": "seaborn.axisgrid"})()
    grid.figure = figure
    assert take(grid)["svg"] == drawn
    assert 'class="drawing"' in drawn


def test_nothing_of_a_figure_is_cut_off() -> None:
    figure, axes = plt.subplots(figsize=(2, 1))
    plain = take(figure)["svg"]
    axes.set_ylabel("a label that is\nfar higher\nthan\nthe figure", labelpad=150)
    wide = take(figure)["svg"]
    width = [float(svg.partition('width="')[2].partition("pt")[0]) for svg in (plain, wide)]
    assert width[1] > width[0] + 100


def test_pixels_are_not_turned_into_their_negative() -> None:
    figure, axes = plt.subplots()
    axes.imshow([[0, 1]])
    assert 'class="photograph"' in take(figure)["svg"]


SHOWING = """
import matplotlib.pyplot as plt
from PIL import Image

def main():
    plt.plot([1, 2])
    plt.show()
    assert not plt.get_fignums()
    figure = plt.figure()
    other = plt.figure()
    plt.show()
    figure.show()
    Image.new("L", (9, 9)).show()
    helper()  # @stepover

def helper():
    plt.plot([3, 1])
    plt.show()
"""


def test_show_shows_on_the_page() -> None:
    before = plt.show, plt.Figure.show, Image.Image.show
    document = trace_source(SHOWING)
    found = [(line, name) for line, name, _ in shown(document)]
    assert found == [
        (6, "figure"), (10, "figure"), (10, "figure 2"),
        (11, "figure"), (12, "image"), (13, "figure"),
    ]  # fmt: skip
    values = [document["values"][index] for index in document["inspections"]["value"]]
    assert ["svg" in value or "png" in value for value in values] == [True] * 6
    assert (plt.show, plt.Figure.show, Image.Image.show) == before
    assert document["warnings"] == [] and document["failure"] is None


# Pixels -------------------------------------------------------------------------------------------


def pixels(height: int, width: int, channels: int = 3) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, channels), np.uint8)


@pytest.mark.parametrize("channels", [3, 4])
@pytest.mark.parametrize("make", [np.asarray, torch.from_numpy], ids=["numpy", "torch"])
def test_arrays_of_bytes_are_pictures(channels: int, make: Callable) -> None:
    array = pixels(20, 30, channels)
    picture = take(make(array))
    assert (picture["every"], picture["shape"]) == (1, [20, 30, channels])
    assert np.array_equal(opened(picture), array)


def opened(picture: dict) -> np.ndarray:
    import io

    return np.asarray(Image.open(io.BytesIO(base64.b64decode(picture["png"]))))


def test_large_pictures_are_shown_smaller() -> None:
    array = pixels(2 * MOST_PIXELS, 10)
    picture = take(array)
    assert picture["every"] == 2
    assert np.array_equal(opened(picture), array[::2, ::2])


NO_PICTURES = [pixels(4, 40), pixels(40, 40, 2), pixels(40, 40).astype(float), pixels(9, 9)[..., 0]]


@pytest.mark.parametrize("array", NO_PICTURES, ids=["low", "channels", "floats", "matrix"])
def test_other_arrays_are_numbers(array: np.ndarray) -> None:
    assert "png" not in take(array)


def test_images_of_pillow_are_pictures() -> None:
    picture = take(Image.fromarray(pixels(20, 30)))
    assert np.array_equal(opened(picture), pixels(20, 30))


# Objects ------------------------------------------------------------------------------------------


class Account:
    def __init__(self) -> None:
        self._pin, self.balance = 1234, 3


def test_private_fields_stay_hidden() -> None:
    assert list(take(Account())["fields"]) == ["balance"]
    account = Account()
    del account.balance
    assert "fields" not in take(account) and "1234" not in json.dumps(take(account))


def library_class(monkeypatch: pytest.MonkeyPatch, **body: Any) -> Any:
    """A class of a module that lies where pip installs."""
    module = type(sys)("drawn_from")
    module.__file__ = "/lib/site-packages/drawn_from.py"
    monkeypatch.setitem(sys.modules, "drawn_from", module)
    return type("Thing", (), {**body, "__module__": "drawn_from"})()


def test_libraries_may_take_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(_: object) -> str:
        return str(sum(1 for _ in range(50_000) if True))

    assert take(library_class(monkeypatch, __repr__=slow))["text"] == "50000"
    own = type("Thing", (), {"__repr__": slow})()
    assert "20,000 lines" in take(own)["error"]


def test_libraries_are_asked_for_their_text(monkeypatch: pytest.MonkeyPatch) -> None:
    thing = library_class(monkeypatch, __str__=lambda _: "Graph with 4 nodes")
    thing.nodes = [1]
    assert take(thing) == {"type": "Thing", "text": "Graph with 4 nodes"}


# Machines that round differently ------------------------------------------------------------------

TABLE = {
    "type": "DataFrame",
    "html": '<table><tr><td align="right">0.12345</td><td>a</td></tr></table>',
}
TABLES = [
    ("0.12345", "0.12346", True),
    ("0.12345", "0.22345", False),
    ("<td>a", "<td>b", False),
    ('<td align="right">0.12345</td>', "", False),
]


@pytest.mark.parametrize(("was", "now", "agree"), TABLES)
def test_tables_are_compared_by_their_numbers(was: str, now: str, agree: bool) -> None:
    assert was in TABLE["html"]
    other = {**TABLE, "html": TABLE["html"].replace(was, now)}
    assert close(TABLE, other) is agree  # type: ignore[arg-type]
