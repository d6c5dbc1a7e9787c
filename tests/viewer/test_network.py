"""What comes over a network: large documents in parts, and how much of them is there."""

import copy
import gzip
import json
import random
import re
import subprocess
from pathlib import Path

import pytest

from tests.viewer import documents
from tests.viewer.conftest import VIEWER, painted
from tests.viewer.javascript import node
from tests.viewer.shelves import needed_by
from trace.serve import comments, packing
from trace.serve.publication import Publication

BYTES_A_SECOND = 200_000


def large() -> dict:
    """A lecture with more values than one wants to wait for; x and y are among the first."""
    document = documents.small()
    digits = random.Random(0)
    document["values"] += [
        {"type": "str", "value": f"{digits.getrandbits(400):x}"} for _ in range(5000)
    ]
    unrun = {"path": "other.py", "source": "def other():\n    pass\n", "prose": []}
    document["files"].append({**unrun, "tokens": [], "hidden": []})
    return document


def encoded(document: dict) -> bytes:
    return json.dumps(document, separators=(",", ":")).encode()


@pytest.fixture
def published(host, tmp_path):
    """The address of a site with the large lecture, on a web server that knows nothing of us."""
    (tmp_path / "demo.json").write_bytes(encoded(large()))
    assert Publication(None, tmp_path / "site").publish([tmp_path / "demo.json"]) == 0
    return f"{host}site/"


@pytest.fixture
def reader(browser):
    """A page of somebody who was never here, and what was wrong with it."""
    context = browser.new_context()
    page = context.new_page()
    noise = []
    page.on("console", lambda message: noise.append(message.text))
    page.on("pageerror", lambda error: noise.append(str(error)))
    page.noise = noise
    yield page
    context.close()


def hold_back(page, pattern: str):
    """Let requests wait; calling what is returned lets them go on."""
    waiting = []
    page.route(re.compile(pattern), lambda route: waiting.append(route))
    return lambda: [route.continue_() for route in waiting]


def asked_for(page) -> list[str]:
    names = page.evaluate("performance.getEntriesByType('resource').map(({ name }) => name)")
    return [name.rpartition("/traces/")[2] for name in names if "/traces/" in name]


def test_a_document_is_the_sum_of_its_parts(reader, published):
    reader.goto(f"{published}#doc=demo")
    reader.locator("#article").get_by_text("6", exact=True).first.wait_for()
    reader.evaluate(
        """async () => {
            const { loaded } = await import("viewer/state/state.js");
            const whole = ({ values }) => values.length > 5000 && values[7].shape !== undefined;
            while (!whole(loaded.value.document)) await new Promise(requestAnimationFrame);
        }"""
    )
    there = reader.evaluate(
        """async () => {
            const { current } = await import("viewer/state/state.js");
            const { document } = current();
            return JSON.stringify({ ...document, events: [...document.events] });
        }"""
    )
    found, wanted = json.loads(there), json.loads(encoded(large()))
    assert {key: found[key] for key in wanted} == wanted
    assert "demo.json" not in asked_for(reader)
    assert reader.noise == []


def test_one_reads_before_values_are_there(reader, published):
    go_on = hold_back(reader, r"\.values\.json\.gz$")
    reader.goto(f"{published}#doc=demo")
    article = reader.locator("#article")
    article.get_by_text("A view moves no data").wait_for()
    painted(reader)
    assert "5.5" not in article.inner_text()
    reader.evaluate("window.page = document.querySelector('.page')")
    go_on()
    article.get_by_text("5.5").first.wait_for()
    assert reader.evaluate("window.page === document.querySelector('.page')"), "it is not made anew"
    assert reader.noise == []


def test_what_never_comes_is_said(reader, published):
    reader.route(re.compile(r"\.values\.json\.gz$"), lambda route: route.abort())
    reader.goto(f"{published}#doc=demo")
    reader.get_by_text("What was measured could not be fetched").wait_for()
    reader.locator("#article").get_by_text("A view moves no data").wait_for()


NOTE_PROGRESS = """
window.told = [];
new MutationObserver(() => {
    const text = document.getElementById("coming")?.textContent;
    if (text !== undefined && text !== told.at(-1)) told.push(text);
}).observe(document, { childList: true, subtree: true, characterData: true });
"""


def test_progress_is_told_in_bytes(reader, published):
    reader.add_init_script(NOTE_PROGRESS)
    client = reader.context.new_cdp_session(reader)
    client.send("Network.enable")
    slow = {"downloadThroughput": BYTES_A_SECOND, "uploadThroughput": BYTES_A_SECOND}
    client.send("Network.emulateNetworkConditions", {"offline": False, "latency": 40, **slow})
    reader.goto(f"{published}#doc=demo")
    reader.locator("#article").get_by_text("5.5").first.wait_for()
    told = reader.evaluate("told")
    sizes = [re.fullmatch(r"Fetching values: (\d\.\d) of (\d\.\d) MB", text) for text in told]
    received = [float(size[1]) for size in sizes if size]
    assert len({*received}) > 2, told
    assert received == sorted(received)
    assert {float(size[2]) for size in sizes if size} == {max(received)}
    assert told[-1] == "", "nothing is on its way any more"


def test_a_server_may_unpack_what_is_compressed(reader, published):
    """Some send `.gz` files so that browsers take them apart."""

    def unpack(route):
        route.fulfill(response=route.fetch(), headers={"Content-Encoding": "gzip"})

    reader.route(re.compile(r"\.json\.gz$"), unpack)
    reader.goto(f"{published}#doc=demo")
    reader.locator("#article").get_by_text("5.5").first.wait_for()


def own_code() -> list[Path]:
    files = (path for ending in comments.CODE for path in VIEWER.rglob(f"*{ending}"))
    return [path for path in files if VIEWER / "vendor" not in path.parents]


CHECK_SYNTAX = """
import { readdirSync, readFileSync } from "node:fs";
import { SourceTextModule } from "node:vm";
const files = readdirSync(import.meta.dirname).filter((name) => name.startsWith("module"));
for (const name of files) new SourceTextModule(`${readFileSync(`${import.meta.dirname}/${name}`)}`);
if (files.length < 90) throw new Error(`only ${files.length} modules`);
"""


def test_code_travels_without_comments(tmp_path):
    texts = {path: path.read_text(encoding="utf-8") for path in own_code()}
    sent = {path: comments.without_comments(text) for path, text in texts.items()}
    assert sum(map(len, sent.values())) < 0.9 * sum(map(len, texts.values()))
    for path, text in sent.items():
        assert text.split("\n") == lines_outside_comments(texts[path]), path
    modules = [text for path, text in sent.items() if path.suffix == ".js"]
    for number, text in enumerate(modules):
        (tmp_path / f"module{number}.mjs").write_text(text, encoding="utf-8")
    (tmp_path / "all.mjs").write_text(CHECK_SYNTAX)
    subprocess.run([node(), "--experimental-vm-modules", tmp_path / "all.mjs"], check=True)


def test_a_first_page_is_small():
    """Own code, each file compressed alone: before anything can be read, and with all of Read."""

    def weight(paths) -> int:
        texts = [(VIEWER / path).read_text(encoding="utf-8") for path in paths]
        return sum(
            len(gzip.compress(comments.without_comments(text).encode(), 9)) for text in texts
        )

    first = ["index.html", "style.css", "early.js", "views/beginning.js", *needed_by("early.js")]
    rest = {"main.js", *needed_by("main.js")} - {*first}
    assert weight(first) < 60_000
    assert weight([*first, *(path for path in rest if not path.startswith("vendor/"))]) < 80_000
    least = {"main.js", *needed_by("main.js"), "views/article.js", *needed_by("views/article.js")}
    least |= {"index.html", "style.css", "early.js", *needed_by("early.js")}
    chapter = [path for path in least if not path.startswith("vendor/")]
    assert weight(chapter) < 83_500, "what a chapter imports before it is seen; the aim is 80 kB"


def lines_outside_comments(text: str) -> list[str]:
    """Lines of which no comment is all that they say."""
    found, is_inside = [], False
    for line in text.split("\n"):
        word = line.strip()
        begins = word.startswith("/*") and ("*/" not in word or word.endswith("*/"))
        if not is_inside and not begins and not word.startswith("//"):
            found.append(re.sub(r"/\*\* @[^*]*\*/ ?", "", word))
        is_inside = (is_inside or begins) and not word.endswith("*/")
    return [line.strip() for line in found if line.strip()] + [""]


def test_small_and_older_documents_have_no_parts():
    document = large()
    assert {*packing.parts_of(encoded(document))} == {packing.TEXT, packing.VALUES}
    assert packing.parts_of(encoded(documents.small())) == {}
    assert packing.parts_of(encoded({**document, "version": 1})) == {}


def test_what_calls_said_comes_with_the_text():
    document = copy.deepcopy(large())
    document["said"] = {"step": [0], "at": [2], "value": [3]}
    text = packing.packed({"values": [packing._COMING] * 3 + [document["values"][3]]})
    parts = packing.parts_of(encoded(document))
    assert json.loads(packing.gzip.decompress(parts[packing.TEXT]))["values"][:4] == text["values"]
