"""A lecture in one file, opened from disk without a network, and as a site below any address."""

import base64
import copy
import dataclasses
import hashlib
import json
import re

import pytest

from tests.viewer import documents
from tests.viewer.conftest import PATIENCE, VIEWER, painted
from tests.viewer.test_security import ATTACK, HOSTILE_PROSE
from trace.rewrite.prose import prose_of
from trace.rewrite.source import Source
from trace.serve import one_file as exporting
from trace.serve.one_file import one_file
from trace.serve.packing import packed, slim
from trace.serve.publication import Publication

MAX_BYTES = 2_660_000  # of 34 chapters; a third of it is what all names stand for
PIXEL = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
CHART = {
    "mark": "bar",
    "title": "Bytes",
    "data": {"values": [{"a": "x", "b": 1}, {"a": "y", "b": 2}]},
    "encoding": {
        "x": {"field": "a", "type": "nominal"},
        "y": {"field": "b", "type": "quantitative"},
    },
}


def rich() -> dict:
    """A lecture with maths, an image, a picture, a chart and a tensor."""
    picture = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><circle r="5"/></svg>'
    chart = {"type": "Chart", "vega": copy.deepcopy(CHART)}
    document = documents.with_values(chart, {"type": "Figure", "svg": picture})
    document["files"][0]["prose"][3]["text"] = r"Maths $\sum_i x_i^2$ and ![a pixel](dot.gif)"
    document["assets"] = {
        "dot.gif": {"mime": "image/gif", "base64": base64.b64encode(PIXEL).decode()}
    }
    return document


def encoded(document: dict) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


@pytest.fixture
def offline(browser):
    """A page without any network, which may print no error and ask for nothing."""
    context = browser.new_context(offline=True)
    context.set_default_timeout(PATIENCE)
    noise = []
    context.route(
        re.compile("^(?!file:|data:)"),
        lambda route: (noise.append(route.request.url), route.abort()),
    )
    page = context.new_page()
    page.on("console", lambda message: message.type == "error" and noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (noise.append("dialog"), dialog.dismiss()))
    page.noise = noise
    yield page
    context.close()
    assert noise == []


@pytest.fixture
def opened(offline, tmp_path):
    """`opened(document)` exports a document and opens the file."""

    def open_file(document, hash_text=""):
        file = tmp_path / "lecture.html"
        file.write_bytes(one_file(encoded(document), "demo"))
        offline.goto(f"{file.as_uri()}{hash_text}")
        offline.locator("#app main").first.wait_for()
        return offline

    return open_file


RESTORED = """async () => {
    const { restored } = await import("viewer/model/packing.js");
    return JSON.stringify(restored(JSON.parse(document.getElementById("document").textContent)));
}"""


def document_in(page, **options) -> dict:
    """What the page makes of the document that it carries."""
    return json.loads(page.evaluate(RESTORED), **options)


def test_a_file_shows_all_that_a_lecture_can_hold(opened):
    page = opened(rich())
    page.locator(".chart svg .mark-rect path").nth(1).wait_for()
    page.locator(".katex").first.wait_for()
    assert page.locator("img[alt='a pixel']").evaluate("image => image.naturalWidth") == 1
    assert page.locator(".picture circle").count() == 1
    assert page.title() == "Small numbers"
    page.evaluate("document.fonts.ready")
    fonts = page.evaluate(
        "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
    )
    assert any(font.strip('"').startswith("KaTeX") for font in fonts)
    assert (
        page.locator(".katex")
        .first.evaluate("e => getComputedStyle(e).fontFamily")
        .startswith("KaTeX_Main")
    )


def test_one_can_step_through_a_file(opened):
    page = opened(documents.small())
    page.locator("[data-command=mode]").get_by_text("Step").click()
    page.locator(".page.mode-step").wait_for()
    before = page.url
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_function("before => location.href !== before", arg=before)
    assert "at=" in page.url


def test_our_lecture_opens_from_disk(opened):
    published = json.loads((VIEWER / "traces/lecture.main.json").read_bytes(), parse_int=float)
    page = opened(json.loads((VIEWER / "traces/lecture.main.json").read_bytes()))
    there = document_in(page, parse_int=float)
    for ours, theirs in zip(published["files"], there["files"], strict=True):
        assert theirs == ours or theirs["source"] == ""
    assert there | {"files": []} == published | {"files": []}
    page.keyboard.press("w")
    page.locator(".katex").first.wait_for()
    page.locator("figure.chart").first.wait_for(state="attached")
    page.evaluate("document.querySelector('figure.chart').scrollIntoView()")
    page.locator("figure.chart svg path").first.wait_for(state="attached")
    page.locator("[data-command=mode]").get_by_text("Step").click()
    page.locator(".page.mode-step").wait_for()


def test_an_address_names_a_place_in_a_file(opened):
    page = opened(documents.small(), "#doc=demo&mode=step&at=5")
    page.locator(".page.mode-step").wait_for()


def test_hostile_text_in_a_file_runs_and_fetches_nothing(opened):
    document = documents.with_prose(HOSTILE_PROSE.replace("![", "[").replace("<img", "<b"))
    document["title"] = f"</title><script>{ATTACK}</script>"
    document["output"][0]["text"] = f"</script><script>{ATTACK}</script>"
    page = opened(document)
    page.get_by_text("styled").wait_for()
    assert page.evaluate("window.attacked") is None
    page.noise.clear()  # the policy speaks where the sanitiser parses an attack


# markup that found its way into the page in spite of all
INJECTED = [
    f"<script>{ATTACK}</script>",
    f'<script src="data:text/javascript,{ATTACK}"></script>',
    f'<script type="module">{ATTACK}</script>',
    f'<img src="x:" onerror="{ATTACK}">',
    f'<iframe srcdoc="<script>parent.{ATTACK}</script>"></iframe>',
    '<script type="module" src="data:text/javascript,window.attacked=true"></script>',
]


@pytest.mark.parametrize("markup", INJECTED)
def test_the_policy_lets_nothing_else_run(markup, opened):
    page = opened(documents.small())
    page.evaluate(
        "markup => document.body.append(document.createRange().createContextualFragment(markup))",
        markup,
    )
    while not page.noise:  # the policy refuses it
        painted(page)
    page.wait_for_function("() => [...document.images].every(({ complete }) => complete)")
    painted(page)
    assert page.evaluate("window.attacked") is None
    page.noise.clear()


def test_the_policy_names_the_hashes_of_what_runs_and_nothing_wider():
    page = one_file(encoded(documents.small()), "demo").decode()
    policy = re.search(r'Content-Security-Policy" content="([^"]*)', page)[1]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives.pop("style-src-attr") == "'unsafe-inline'"
    assert "unsafe" not in str(directives)
    assert "self" not in str(directives)
    assert directives["default-src"] == "'none'"
    inline = re.findall(r"<script(?: type=\"module\")?>((?:.|\n)*?)</script>", page)
    assert len(inline) == 2
    for script in inline:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in directives["script-src"]


def test_charts_bring_their_libraries_only_where_there_is_one():
    plain = one_file(encoded(documents.small()), "demo")
    charted = one_file(encoded(rich()), "demo")
    assert len(charted) > len(plain) + 200_000
    about_charts = {**documents.small(), "title": 'says "vega": here'}
    assert len(one_file(encoded(about_charts), "demo")) < len(plain) + 1000


def test_our_lecture_is_small_enough():
    published = (VIEWER / "traces/lecture.main.json").read_bytes()
    without_charts = published.replace(b'"vega":', b'"other":')
    assert len(one_file(without_charts, "lecture.main")) <= MAX_BYTES


def test_fonts_are_left_out_where_nothing_asks_for_them():
    plain = len(one_file(encoded(documents.small()), "demo"))
    some = len(one_file(encoded(documents.with_prose(r"$\mathcal{L}$")), "demo"))
    assert plain + 15_000 < some < plain + 22_000


def test_files_that_were_not_stepped_through_are_left_out(opened):
    document = documents.small()
    unseen = {"path": "demo/other.py", "source": "x = 1", "prose": [], "tokens": [], "hidden": []}
    document["files"].append(unseen)
    there = document_in(opened(document))
    assert there["files"] == [document["files"][0], {**unseen, "source": ""}]


def test_it_needs_no_other_file():
    page = one_file(encoded(rich()), "demo").decode()
    outside = re.sub(r'id="parts">[^<]*', "", page)
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*', outside) == []
    assert "url(" not in outside


# lists -> how they are packed
PACKED = [
    ([], []),
    ([5], [0, 5]),
    ([7, 8, 9, 10], [1, 7, 1, 1, 1]),
    ([9, 0, 99, 2, 9, 4, 99, 2], [4, 9, 0, 99, 2, 0, 4, 0, 0]),
    ([2**53, 1], [0, 2**53, 1]),
    ([1, "a"], [None, 1, "a"]),
    ([1.0, 2], [None, 1.0, 2]),
    ([None, 1], [None, None, 1]),
    ([True, 1], [None, True, 1]),
    (["a", 1], ["a", 1]),
    ([[1, 2], {"a": [3]}], [[0, 1, 2], {"a": [0, 3]}]),
    ([[7, "a"], [8, "b"], [9, "c"]], [True, [1, 7, 1, 1], ["a", "b", "c"]]),
    ([[[9], [2]], [[3], [4]]], [True, [True, [0, 9, 3]], [True, [1, 2, 2]]]),
    ([[], []], [[], []]),
    ([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}], [False, {"a": [0, 1, 2], "b": ["x", "y"]}]),
    ([{"a": 1}, {"b": 1}], [{"a": 1}, {"b": 1}]),
    ([{"a": 1, "b": 2}, {"b": 2, "a": 1}], [{"a": 1, "b": 2}, {"b": 2, "a": 1}]),
    ([{}, {}], [{}, {}]),
    ([False, {"a": [0]}], [None, False, {"a": [0, 0]}]),
    ([[1, 2], [3]], [[0, 1, 2], [0, 3]]),
    ({"a": None, "b": 1.5}, {"a": None, "b": 1.5}),
]


@pytest.mark.parametrize(("value", "expected"), PACKED)
def test_lists_are_packed_as_differences_and_columns(value, expected):
    assert packed(value) == expected


def test_what_is_packed_is_unpacked(opened):
    lists = [value for value, _ in PACKED]
    document = {**documents.small(), "extra": lists, "more": list(range(0, 900, 3))}
    page = opened(document)
    there = document_in(page)
    assert there == json.loads(encoded(document))


PROSE_OF_ALL_KINDS = '''\
"""One line."""


def f():
    r"""Maths $\\frac12$.

      Indented, and a "quote\\"
    and more
    """
    # a comment
    #
    #   with a code block,
    #\ta tab\u2028 and a line separator
    ## and two signs


class C:
    """ "quoted" """


class D:
    """An escape: \\\\sum."""


class E:
    'single quotes'
'''


def test_prose_is_read_from_the_source_again(opened):
    prose = prose_of(Source("a.py", PROSE_OF_ALL_KINDS))
    document = documents.small()
    file = document["files"][0]
    document["files"][0] = file | {
        "source": PROSE_OF_ALL_KINDS + file["source"],
        "prose": [dataclasses.asdict(one) for one in prose],
    }
    left_out = [one["text"] is None for one in slim(document)["files"][0]["prose"]]
    assert left_out == [True, False, True, False, False, False]
    there = document_in(opened(document))
    assert there["files"] == document["files"]


def test_the_page_of_the_viewer_has_all_the_places_that_are_filled(monkeypatch):
    read = exporting._text
    monkeypatch.setattr(exporting, "_text", lambda path: read(path).replace("</body>", ""))
    with pytest.raises(AssertionError, match=r"0 times \(\?=</body>\)"):
        one_file(encoded(documents.small()), "demo")


# Sites ------------------------------------------------------------------------------------------


def test_a_site_works_below_any_address(host, tmp_path, browser):
    for name in ("first", "second"):
        document = {**rich(), "module": name, "title": f"The {name} lecture."}
        (tmp_path / f"{name}.json").write_bytes(encoded(document))
    site = tmp_path / "some" / "place"
    Publication(None, site).publish([tmp_path / "first.json", tmp_path / "second.json"])
    context = browser.new_context()
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    noise = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.on("response", lambda answer: answer.status < 400 or noise.append(answer.url))
    page.goto(f"{host}some/place/")
    page.get_by_role("link", name="The second lecture").click()
    page.locator(".chart svg .mark-rect path").nth(1).wait_for()
    page.locator(".katex").first.wait_for()
    assert page.title() == "Small numbers"
    context.close()
    assert noise == []
