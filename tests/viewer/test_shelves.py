"""The viewer's modules stand on shelves: model, state, parts, views, each upon those before it."""

import re

import pytest

from tests.viewer.shelves import (
    SHELVES,
    VIEWER,
    circle,
    exports_nobody_imports,
    imports_of,
    needed_by,
    own_modules,
    upward,
)

ENTRIES = ["early.js", "main.js", "unpack.js"]


def whole_graph() -> dict[str, list[str]]:
    return {module: imports_of(module) for module in own_modules()}


def test_every_module_is_on_a_shelf_or_where_a_page_begins():
    on_top = [module for module in own_modules() if "/" not in module]
    assert on_top == ENTRIES
    assert {module.split("/")[0] for module in own_modules() if "/" in module} == set(SHELVES)


def test_every_import_leads_to_a_file():
    assert [
        (module, path)
        for module, paths in whole_graph().items()
        for path in paths
        if not (VIEWER / path).is_file()
    ] == []


def test_a_shelf_imports_from_itself_and_those_before_it():
    assert upward(whole_graph()) == []


def test_no_modules_import_each_other_in_a_circle():
    assert circle(whole_graph()) == []


def test_nobody_imports_where_a_page_begins():
    imported = {path for paths in whole_graph().values() for path in paths}
    assert imported.isdisjoint(ENTRIES)


def test_every_export_is_imported():
    assert exports_nobody_imports() == []


def test_model_needs_no_library():
    """So that it runs anywhere."""
    assert [
        (module, path)
        for module, paths in whole_graph().items()
        for path in paths
        if module.startswith("model/") and not path.startswith("model/")
    ] == []


@pytest.mark.parametrize(
    ("module", "path"),
    [
        ("model/run.js", "state/state.js"),
        ("model/run.js", "views/read.js"),
        ("state/commands.js", "views/print.js"),
        ("parts/value.js", "views/step.js"),
        ("state/theme.js", "early.js"),
    ],
)
def test_an_import_upward_is_found(module, path):
    assert upward({module: ["vendor/preact/preact.js", module, path]}) == [
        f"{module} imports {path}"
    ]


def test_a_circle_is_found():
    assert set(circle({"a.js": ["b.js"], "b.js": ["c.js"], "c.js": ["a.js"]})) == {
        *("a.js", "b.js", "c.js")
    }


@pytest.mark.parametrize(
    "text",
    [
        'import { a } from "viewer/state/state.js";',
        'import {\n  a,\n  b,\n} from "viewer/state/state.js";',
        'import "viewer/state/state.js";',
        'export { a } from "viewer/state/state.js";',
        'const a = await import("viewer/state/state.js");',
        'load(() => import(\n  "viewer/state/state.js",\n));',
    ],
)
def test_each_way_to_import_is_seen(text, tmp_path):
    assert imports_of(write(tmp_path, text)) == ["state/state.js"]


def test_an_import_in_a_comment_is_none(tmp_path):
    text = '// import "viewer/a.js"\n/** @type {import("viewer/b.js").B} */\n'
    assert imports_of(write(tmp_path, text)) == []


def write(folder, text: str) -> str:
    (folder / "module.js").write_text(text)
    return str(folder / "module.js")


def test_what_a_page_needs_is_asked_for_at_once():
    """Otherwise a browser would find each module only after the one that imports it."""
    head, later = (VIEWER / "index.html").read_text(encoding="utf-8").split('<template id="later">')
    announced = re.compile(r'<link rel="modulepreload" href="([^"]+)">')
    before = needed_by("early.js")
    assert announced.findall(head) == before
    after = [path for path in needed_by("main.js") if path not in before]
    always, *parts = later.split("<template ")
    expected = {always: after}
    for part, module in zip(parts, ("views/front.js", "views/article.js"), strict=True):
        needed = [module, *needed_by(module)]
        expected[part] = [path for path in needed if path not in before + after]
    for part, paths in expected.items():
        assert announced.findall(part) == paths, "write these lines into viewer/index.html:\n" + (
            "\n".join(f'<link rel="modulepreload" href="{path}">' for path in paths)
        )
