"""The pure modules, run in a page on a document whose answers were worked out by hand."""

import json

import pytest

from tests.viewer import documents

MODEL = """
async ([code, document]) => {
    const modules = {};
    const files = "replay run sorted changes stepping places source blocks loops sections " +
        "format values costs search narration";
    for (const name of files.split(" "))
        Object.assign(modules, await import(`viewer/model/${name}.js`));
    const model = modules.buildModel(document);
    const steps = (read) => Array.from({ length: model.steps }, (_, step) => read(model, step));
    const calls = (read) => Array.from({ length: model.activations }, (_, id) => read(model, id));
    const names = ["m", "model", "document", "events", "steps", "calls"];
    const run = new Function(...names, `return ${code}`);
    const plain = (key, value) => (ArrayBuffer.isView(value) ? Array.from(value) : value);
    const found = run(modules, model, document, document.events, steps, calls) ?? null;
    return JSON.parse(JSON.stringify(found, plain));
}
"""

REPLAYED = [
    # what is computed, by hand
    ("steps(m.eventOf)", [1, 3, 4, 5, 7, 9, 10, 12, 13, 14, 15, 16, 17, 18, 19, 20]),
    ("steps(m.endOf)", [7, 4, 5, 6, 12, 10, 11, 13, 14, 15, 16, 17, 18, 19, 20, 21]),
    ("steps(m.activationOf)", [0, 1, 1, 1, 0, 2, 2, *[0] * 9]),
    ("calls(m.callerOf)", [-1, 0, 4]),
    ("calls(m.entryOf)", [0, 2, 8]),
    ("calls(m.leaveOf)", [21, 6, 11]),
    (
        "steps((model, step) => m.statementOf(model, step) === 2 && step).filter(Boolean)",
        [7, 9, 11, 13],
    ),
    ("steps(m.stepAfter)", [4, 2, 3, 4, 7, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]),
    (
        "events.map((_, event) => m.stepsBefore(model, event)).slice(0, 9)",
        [0, 0, 1, 1, 2, 3, 4, 4, 5],
    ),
    ("m.callsBy(model, 4)", [2]),
    ("m.callsBy(model, 5)", []),
    ("[...m.firstRuns(model)]", [0, 4, 7, 8, 14, 15, 1, 2, -1, 3, 5, 6]),
    ("m.stepRange(model, 1)", [1, 4]),
]

STEPPED = [
    ("m.over(model, 0)", 4),
    ("m.over(model, 3)", 4),
    ("m.over(model, 6)", 7),
    ("m.over(model, 15)", 15),
    ("m.backOver(model, 7)", 4),
    ("m.backOver(model, 4)", 0),
    ("m.backOver(model, 5)", 4),
    ("m.backOver(model, 0)", 0),
    ("m.out(model, 5)", 7),
    ("m.out(model, 0)", 0),
    ("m.clamp(model, 99)", 15),
    ("m.callStack(model, 5)", [{"activation": 0, "step": 4}, {"activation": 2, "step": 5}]),
    ("m.callStack(model, 9)", [{"activation": 0, "step": 9}]),
    ("m.runToLine(model, 0, 12, 8)", 10),
    ("m.runToLine(model, 0, 9, 8)", 0),
    ("m.runToLine(model, 0, 22, 8)", -1),
    ("m.nextChange(model, 0, document.names.indexOf('i'), 7, 1)", 9),
    ("m.nextChange(model, 0, document.names.indexOf('i'), 9, -1)", 7),
    ("m.nextChange(model, 0, document.names.indexOf('y'), 4, 1)", -1),
]


def environment(activation: int, step: int) -> str:
    return (
        f"Object.fromEntries([...m.environmentAt(model, {activation}, m.endOf(model, {step}))]"
        ".map(([name, {row, count}]) => "
        "[document.names[name], [document.inspections.value[row], count]]))"
    )


KNOWN = [
    (environment(0, 0), {}),
    (environment(0, 4), {"y": [6, 1]}),
    (environment(0, 5), {}),  # inside double, the caller's y is not known yet
    (environment(2, 5), {"n": [3, 1], "m": [6, 1]}),
    (environment(0, 11), {"y": [6, 1], "i": [2, 3], "total": [2, 2]}),
]

PLACES = [
    ("m.placeOfStep(model, 9)", "main.py:main:3.2"),
    ("m.placeOfStep(model, 3)", "main.py:views:4.1"),
    ("m.stepOfPlace(model, 'main.py:main:3.2')", 9),
    ("m.stepOfPlace(model, 'main.py:main:3.99')", 13),
    ("m.stepOfPlace(model, 'main.py:views:3.1')", 2),  # that line did not run: the one before
    ("m.stepOfPlace(model, '7')", 7),
    ("m.stepOfPlace(model, '700')", 15),
    ("m.stepOfPlace(model, 'main.py:nowhere:1.1')", -1),
    ("m.stepOfPlace(model, 'nonsense')", -1),
    ("m.stepOfPlace(model, 'double')", 5),
    ("m.readHash('#double')", {"doc": "", "mode": "read", "at": "double"}),
    ("m.readHash('#gr%C3%B6%C3%9Fe')", {"doc": "", "mode": "read", "at": "größe"}),
    (
        "m.readHash('#doc=a.b&mode=step&at=main.py:f:1.2')",
        {"doc": "a.b", "mode": "step", "at": "main.py:f:1.2"},
    ),
    ("m.readHash('')", {"doc": "", "mode": "read", "at": ""}),
    (
        "m.writeHash({doc: 'a.b', mode: 'step', at: 'é/main.py:f:1.2'})",
        "#doc=a.b&mode=step&at=%C3%A9/main.py:f:1.2",
    ),
    ("m.writeHash({doc: 'a', mode: 'read', at: ''})", "#doc=a"),
    ("m.shortPaths(['a/b/c.py', 'a/d.py'])", ["b/c.py", "d.py"]),
]

SCOPE = "m.wholeScope(model, 0)"
TURNS = f"m.turnsOf(model, {SCOPE}, 2)"
TURN = f"m.turnOf(model, {SCOPE}, 2, {TURNS}.headers, index)"
READ = [
    (f"m.turnsOf(model, {SCOPE}, 2)", {"headers": [12, 14, 16, 18], "count": 3, "end": 19}),
    (f"[0, 1, 2].map((index) => {TURN}.header)", [7, 9, 11]),
    (
        f"[0, 1, 2].map((index) => [{TURN}.scope.from, {TURN}.scope.to])",
        [[13, 14], [15, 16], [17, 18]],
    ),
    (
        f"[6, 7, 8, 10, 12, 13, 14].map((s) => m.turnAt(model, {TURNS}, s))",
        [-1, 0, 0, 1, 2, 2, -1],
    ),
    (f"[...m.lastSteps(model, {SCOPE})].slice(0, 4)", [[0, 0], [1, 4], [2, 13], [3, 12]]),
    (f"[...m.lastSteps(model, {{...{SCOPE}, from: 15, to: 16}})]", [[3, 10]]),
    ("m.callsOf(model, 0)", {"section": 1, "folded": []}),
    ("m.callsOf(model, 4)", {"section": -1, "folded": [2]}),
    ("m.sectionsOf(model).map(({activation, depth}) => [activation, depth])", [[0, 0], [1, 1]]),
    ("m.claimsWithin(model, m.sectionsOf(model)[1])", {"claims": 1, "failed": 0}),
    ("m.isBareCall(model, 0)", True),
    ("m.isBareCall(model, 5)", False),
    (
        "m.bodyOf(document, 0).blocks.map((block) => [block.kind, block.first, block.last])",
        [
            *[["code", 9, 9], ["code", 10, 10], ["loop", 11, 12]],
            *[["code", 13, 13], ["code", 14, 14]],
        ],
    ),
    ("m.bodyOf(document, 0).docstring", "Prose with $x^2$ and **bold**."),
    ("m.bodyOf(document, 1).blocks[0].text", "A view moves no data."),
    (
        "m.withoutDirectives(m.pieces(document.files[0], 11, 4)).map((p) => p.text).join('')",
        "for i in range(3):",
    ),
    ("m.pieces(document.files[0], 11).at(-1).kind", "directive"),
    (
        "m.costText(m.costMeter(document.costs)(4, 7))",
        "2.1 MFLOP · 72 B moved · 29\u202f000 FLOP/B",
    ),
    (
        "m.costText(m.costMeter(document.costs)(1, 2))",
        "6 FLOP · 48 B moved · 0.13 FLOP/B · 4 KiB allocated",
    ),
    ("m.costText(m.costMeter(null)(0, 9))", ""),
    ("m.search(model, 'moves').map((found) => [found.kind, found.step])", [["prose", 1]]),
    ("m.search(model, 'share').map((found) => found.kind)", ["title", "prose"]),
    ("m.search(model, 'x')", []),
    ("m.narrate(model, 4)", "line 10: y = double(3); y is 6"),
    ("m.narrate(model, 14)", "line 13: assert y == 6; claim held"),
]

FORMATTED = [
    ("m.flops(0)", "0 FLOP"),
    ("m.flops(999)", "999 FLOP"),
    ("m.flops(2100000)", "2.1 MFLOP"),
    ("m.flops(3.14e23)", "314000 EFLOP"),
    ("m.bytes(1023)", "1023 B"),
    ("m.bytes(1024)", "1 KiB"),
    ("m.bytes(1536)", "1.5 KiB"),
    ("m.bytes(80 * 2**30)", "80 GiB"),
    ("m.number(1 / 3)", "0.333333"),
    ("m.number(3537136.79)", "3537136.8"),
    ("m.number(6.3e24)", "6.3e24"),
    ("m.number(12345)", "12\u202f345"),
    ("m.number(1e-7)", "1e-7"),
    ("m.shape([2, 3])", "[2, 3]"),
    ("m.shape([])", "[]"),
    ("m.valueText({type: 'NoneType', value: null})", "None"),
    ("m.valueText({type: 'str', value: \"it's\"})", '"it\'s"'),
    ("m.valueText({type: 'float', text: 'nan'})", "nan"),
    ("m.valueText({type: 'tuple', items: [{type: 'int', value: 1}], length: 1})", "(1,)"),
    (
        "m.valueText({type: 'list', items: [{type: 'bool', value: true}], length: 9, cut: true})",
        "[True, … 8 more]",
    ),
    (
        "m.valueText({type: 'dict', entries: [[document.values[0], document.values[1]]]})",
        "{0: 1}",
    ),
    ("m.valueText({type: 'Point', fields: {x: {type: 'int', value: 1}}})", "Point(x=1)"),
    ("m.valueText(document.values[7])", "float32 [[0, 1, 2], [3, 4, 5.5]]"),
    ("m.valueText({type: 'X', error: 'ValueError: no'})", "‹ValueError: no›"),
    ("m.valueText({type: 'Strange'})", "‹Strange›"),
    *[
        (f"m.isLiteral({json.dumps(text)})", True)
        for text in ("6", "-1.5e3", "'a'", "(2, 3)", '{"a": 1}', "True", "73_741")
    ],
    *[(f"m.isLiteral({json.dumps(text)})", False) for text in ("x", "8 * 4", "len(x)", "(B, T)")],
]


@pytest.mark.parametrize(
    "table",
    [REPLAYED, STEPPED, KNOWN, PLACES, READ, FORMATTED],
    ids=["replayed", "stepped", "known", "places", "read", "formatted"],
)
def test_model(model_page, table):
    found = [(code, model_page.evaluate(MODEL, [code, documents.small()])) for code, _ in table]
    assert found == table


def test_generators_suspend_and_resume(model_page):
    """main (activation 0) takes two items from a generator (1) that is entered once."""
    document = documents.small()
    document["events"] = [-1, 3, -3, 11, 0, 4, 3, -(3 + 2), 12, 0, 0]
    document["inspections"] = {"event": [], "at": [], "name": [], "value": []}
    document["claims"] = {"statement": [], "step": [], "at": [], "held": [], "operands": []}
    run = lambda code: model_page.evaluate(MODEL, [code, document])  # noqa: E731
    assert run("steps(m.activationOf)") == [0, 1, 0, 0, 1]
    assert run("steps(m.endOf)") == [5, 4, 6, 10, 9]
    assert run("m.callStack(model, 1).map((frame) => frame.step)") == [0, 1]
    assert run("m.callStack(model, 4).map((frame) => frame.step)") == [3, 4]


def test_a_million_events_are_fine(model_page):
    took = model_page.evaluate(
        """async (document) => {
            const { buildModel } = await import("viewer/model/replay.js");
            const { over } = await import("viewer/model/stepping.js");
            const events = [-1];
            while (events.length < 1e6) events.push(3, 4);
            document.events = events;
            for (const column in document.inspections) document.inspections[column] = [];
            const start = performance.now();
            const model = buildModel(document);
            return [model.steps, over(model, 500), performance.now() - start];
        }""",
        documents.small(),
    )
    assert took[:2] == [1_000_000, 501]
    assert took[2] < 3000


@pytest.fixture(scope="module")
def model_page(browser, site):
    """A page without the policy, which would forbid to evaluate the tables above."""
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    site.publish(demo=documents.small())
    page.goto(f"{site.address}#doc=demo")
    page.locator("#app main").wait_for()
    yield page
    context.close()


@pytest.mark.parametrize("build", [documents.small, documents.failing])
def test_documents_written_by_hand_are_valid(build):
    jsonschema = pytest.importorskip("jsonschema")
    from trace.contract import json_schema

    jsonschema.validate(build(), json_schema())
