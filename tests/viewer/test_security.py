"""Documents are untrusted: they run nothing, fetch nothing elsewhere, never leave a blank page."""

import base64
import hashlib
import json
import re

import pytest

from tests.viewer import documents
from tests.viewer.conftest import VIEWER, painted

ELSEWHERE = "https://elsewhere.example"
PIXEL = b"GIF89a\x01\x00\x01\x00\x00\x00\x00;"
ATTACK = "window.attacked = true"

HOSTILE_PROSE = f"""
<script>{ATTACK}</script><img src=x onerror="{ATTACK}"><svg onload="{ATTACK}"></svg>
<a href="javascript:{ATTACK}">one</a> [two](javascript:{ATTACK}) [three](data:text/html,x)
[mail](mailto:a@b.example) [odd](ftp://b.example) [slashes](//elsewhere.example)
[good](https://good.example/page) [near](#doc=demo)
<iframe src="{ELSEWHERE}"></iframe><object data="{ELSEWHERE}"></object>
<form action="{ELSEWHERE}"><input name=a></form>
![far]({ELSEWHERE}/far.png) ![slashes](//elsewhere.example/far.png)
<img srcset="{ELSEWHERE}/a.png 1x">
<style>@import url({ELSEWHERE}/a.css);</style>
<p style="background:url({ELSEWHERE}/b.png)">styled</p>
<meta http-equiv="refresh" content="0;url={ELSEWHERE}"><base href="{ELSEWHERE}">
<link rel=stylesheet href="{ELSEWHERE}">
$\\href{{javascript:{ATTACK}}}{{x}}$ $\\includegraphics{{{ELSEWHERE}/c.png}}$
<math><mtext><img src=x onerror="{ATTACK}"></mtext></math>
<span data-maths="99">placeholder</span>
""".replace("\n", "\n\n")  # each line a block of its own, or Markdown would take all for HTML

HOSTILE_SVG = f"""<svg xmlns="http://www.w3.org/2000/svg" width="50" height="50" onload="{ATTACK}">
<script>{ATTACK}</script><image href="{ELSEWHERE}/a.png" width="9" height="9"/>
<use href="{ELSEWHERE}/b.svg#x"/>
<foreignObject><img src="x" onerror="{ATTACK}"/></foreignObject>
<style>@import url({ELSEWHERE}/c.css);</style>
<rect width="9" height="9" fill="url({ELSEWHERE}/d.svg#x)" style="fill:url({ELSEWHERE}/e.svg)"/>
<a href="javascript:{ATTACK}"><text>x</text></a>
<circle id="kept" r="5" fill="currentColor"/></svg>"""

HOSTILE_CHARTS = [
    {"mark": "bar", "data": {"url": f"{ELSEWHERE}/data.json"}, "encoding": {}},
    {
        "mark": {"type": "image", "width": 9, "height": 9},
        "data": {"values": [{"u": f"{ELSEWHERE}/pixel.png"}]},
        "encoding": {"url": {"field": "u", "type": "nominal"}},
    },
    {
        "mark": "point",
        "data": {"values": [{"a": 1}]},
        "transform": [{"calculate": f"constructor.constructor('{ATTACK}')()", "as": "b"}],
        "encoding": {"href": {"value": f"javascript:{ATTACK}"}},
    },
]


def assert_harmless(page):
    page.wait_for_function("() => [...document.images].every(({ complete }) => complete)")
    painted(page)
    assert page.evaluate("window.attacked") is None
    assert page.locator("main script, main iframe, main object, main form, main style").count() == 0
    attributes = page.evaluate(
        """[...document.querySelectorAll("*")].flatMap((element) =>
            [...element.attributes].map(({ name, value }) => [name, value]))"""
    )
    assert not [name for name, _ in attributes if name.startswith("on")]
    addresses = [value for name, value in attributes if name in ("href", "src", "xlink:href")]
    schemes = {match[1] for text in addresses if (match := re.match(r"\s*([\w.+-]*:|//)", text))}
    assert schemes <= {"http:", "https:", "data:", "mailto:"}
    assert not [
        text for text in addresses if text.startswith("data:") and "image/" not in text[:12]
    ]


@pytest.mark.parametrize("mode", ["read", "step"])
def test_prose_runs_and_fetches_nothing(attacked, show, mode):
    show(attacked, documents.with_prose(HOSTILE_PROSE), mode=mode, at="1")
    attacked.get_by_text("styled").wait_for()
    assert_harmless(attacked)
    good = attacked.locator('a[href="https://good.example/page"]')
    assert "noopener" in good.get_attribute("rel")
    for address in ("#doc=demo", "mailto:a@b.example"):
        assert attacked.locator(f'main a[href="{address}"]').count() == 1
    assert attacked.locator("main p[style]").count() == 0


HOSTILE_HTML = f"""<table id="kept" class="dock" onclick="{ATTACK}"><tr><td style="
background-color: red; position: fixed; background-image: url({ELSEWHERE}/f.png)">cell</td></tr>
</table><script>{ATTACK}</script><img src="{ELSEWHERE}/g.png" onerror="{ATTACK}">
<iframe src="{ELSEWHERE}"></iframe><form action="{ELSEWHERE}"><input></form>
<style>@import url({ELSEWHERE}/h.css);</style><a href="javascript:{ATTACK}">x</a>
<video src="{ELSEWHERE}/i.mp4" poster="{ELSEWHERE}/j.png"></video>{HOSTILE_SVG}"""


def test_tables_run_and_fetch_nothing(attacked, show):
    show(attacked, documents.with_values({"type": "DataFrame", "html": HOSTILE_HTML}))
    cell = attacked.locator("main td", has_text="cell")
    cell.wait_for()
    assert_harmless(attacked)
    assert cell.get_attribute("style") == "background-color: red; color: rgb(246, 246, 246);"
    assert attacked.locator("main table.dock, main #kept").count() == 0
    assert attacked.locator("main [src], main [poster]").count() == 0
    assert attacked.locator("main svg image[href], main svg rect[style]").count() == 0


def test_pictures_run_and_fetch_nothing(attacked, show):
    values = [
        {"type": "Figure", "svg": HOSTILE_SVG},
        {"type": "Figure", "svg": "no picture at all"},
        {"type": "Figure", "png": f'"><img src={ELSEWHERE}>'},
        {"type": "Figure", "markdown": HOSTILE_PROSE},
        {"type": f"<img src=x onerror={ATTACK}>", "text": f"<script>{ATTACK}</script>"},
    ]
    show(attacked, documents.with_values(*values))
    attacked.locator("circle[id$=kept]").wait_for()
    assert_harmless(attacked)
    assert attacked.locator("main svg image[href], main svg use[href]").count() == 0
    assert attacked.locator("main svg rect[fill], main svg rect[style]").count() == 0


@pytest.mark.parametrize("spec", HOSTILE_CHARTS, ids=["data", "image", "expression"])
def test_charts_fetch_and_run_nothing(attacked, show, spec):
    show(attacked, documents.with_values({"type": "Chart", "vega": spec}))
    attacked.locator(".chart svg, .chart .wrong").first.wait_for()
    assert_harmless(attacked)


def test_names_and_files_are_text(attacked, show):
    document = documents.small()
    markup = f'<img src=x onerror="{ATTACK}">'
    document["files"][0]["path"] = f"{markup}.py"
    document["functions"][1]["title"] = markup
    document["functions"][1]["marks"] = [markup]
    document["names"] = [f"{name}{markup}" for name in document["names"]]
    document["topics"] = {markup: markup}
    document["output"][0]["text"] = markup
    document["uncounted"] = {markup: 1}
    document["warnings"] = [markup]
    show(attacked, document)
    assert_harmless(attacked)
    attacked.keyboard.press("r")
    attacked.locator("#stepping").wait_for()
    assert_harmless(attacked)


def test_images_come_from_the_document_or_from_this_site(page, show):
    pixel = base64.b64encode(PIXEL).decode()
    document = documents.with_prose("![in](a.gif) ![odd](b.html)")
    document["assets"] = {
        "a.gif": {"mime": "image/gif", "base64": pixel},
        "b.html": {"mime": "text/html", "base64": pixel},
    }
    show(page, document)
    images = page.locator("#article .prose img")
    assert images.count() == 1
    assert images.get_attribute("src") == f"data:image/gif;base64,{pixel}"


@pytest.mark.parametrize("name", ["größe.gif", "two%20words.gif", "100%.gif", "./a.gif"])
def test_an_image_is_found_by_its_name_in_the_text(name, page, show):
    pixel = base64.b64encode(PIXEL).decode()
    document = documents.with_prose(f"![a picture]({name})")
    document["assets"] = {name: {"mime": "image/gif", "base64": pixel}}
    show(page, document)
    source = page.locator("#article .prose img").get_attribute("src")
    assert source == f"data:image/gif;base64,{pixel}"


def edited(change) -> str:
    document = documents.small()
    change(document)
    return json.dumps(document)


BROKEN = {
    "nothing": ("", "not complete JSON"),
    "cut": (json.dumps(documents.small())[:900], "not complete JSON"),
    "other": ('{"a": 1}', "not a recorded lecture"),
    "null": ("null", "not a recorded lecture"),
    "newer": (edited(lambda d: d.update(version=3)), "version 3"),
    "list": (edited(lambda d: d.pop("statements")), "lacks the list “statements”"),
    "table": (edited(lambda d: d.update(topics=None)), "lacks the table “topics”"),
    "column": (edited(lambda d: d["claims"].pop("held")), "“claims.held”"),
    "short": (edited(lambda d: d["inspections"]["name"].pop()), "“inspections.name”"),
    "outside": (edited(lambda d: d["inspections"]["value"].append(99)), "“inspections.value”"),
    "value": (edited(lambda d: d["values"].clear()), "points outside “values”"),
    "file": (edited(lambda d: d["files"].clear()), "“statements.file” points outside “files”"),
    "part of a file": (edited(lambda d: d["files"][0].pop("prose")), "files of this document"),
    "row": (edited(lambda d: d["statements"][0].clear()), "“statements.file”"),
    "function": (edited(lambda d: d["functions"].__setitem__(0, None)), "“functions.file”"),
    "enclosing": (edited(lambda d: d["statements"][0].__setitem__(3, -2)), "enclosing"),
    "operand": (edited(lambda d: d["claims"]["operands"][0].append(99)), "“claims.operands”"),
    "failure": (edited(lambda d: d.update(failure=5)), "lacks the table “failure”"),
    "event": (edited(lambda d: d["events"].insert(0, 5)), "event 0"),
    "statement": (edited(lambda d: d["events"].insert(1, 500)), "event 1"),
    "leave": (edited(lambda d: d["events"].append(0)), "event 22"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_document_ends_in_one_sentence(page, site, name):
    text, expected = BROKEN[name]
    site.publish(demo=text)
    page.goto(f"{site.address}#doc=demo")
    said = page.locator(".notice-page [role=alert] p")
    said.wait_for()
    assert expected in said.inner_text()


def test_a_document_that_breaks_a_component_ends_in_one_sentence(browser, site):
    """The console may speak here: what went wrong is of use to who mends it."""
    site.publish(demo=edited(lambda d: d["values"].__setitem__(7, {"shape": 5, "elements": [1]})))
    opened = browser.new_page()
    opened.goto(f"{site.address}#doc=demo")
    said = opened.locator(".notice-page [role=alert] p")
    said.wait_for()
    assert "cannot be shown" in said.inner_text()
    opened.close()


def test_a_name_that_is_not_there_ends_in_one_sentence(browser, site):
    """A browser prints a 404 on its console, so this page is not the quiet one."""
    site.publish(demo=documents.small())
    opened = browser.new_page()
    opened.goto(f"{site.address}#doc=missing")
    said = opened.locator(".notice-page [role=alert] p")
    said.wait_for()
    assert said.inner_text() == "There is no lecture “missing” here."
    opened.goto(f"{site.address}#doc=../../secret")
    opened.get_by_text("names no lecture").wait_for()
    opened.close()


def test_the_policy_names_the_import_map():
    page = (VIEWER / "index.html").read_text(encoding="utf-8")
    import_map = re.search(r'<script type="importmap">(.*?)</script>', page, re.S)[1]
    digest = base64.b64encode(hashlib.sha256(import_map.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'self' 'sha256-{digest}'; style-src 'self'; "
        "style-src-attr 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'"
    )
    line = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    assert line in page, f"paste this line into viewer/index.html:\n{line}"
