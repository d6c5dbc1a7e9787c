"""Traces that other tools wrote become documents: steps, values, prose and pictures."""

import copy
import json
import textwrap

import pytest

from trace.cli import main
from trace.foreign.contents import value_of_contents

SOURCE = textwrap.dedent("""\
    from edtrace import text

    def main():
        text("# Title")
        x = double(2)  # @inspect x
        for i in range(2):
            text(f"turn {i}")  # @hide
        text("end")  # @clear x

    def double(n):  # @inspect n
        return 2 * n
    """)

FRAME = {"path": "talk.py", "code": ""}
MARKDOWN = {"type": "markdown", "style": {}, "external_link": None, "internal_link": None}


def step(*stack: tuple[str, int], env=(), said=(), **more) -> dict:
    """One step as edtrace writes it; each frame is (function, line)."""
    return {
        "stack": [{**FRAME, "function_name": name, "line_number": line} for name, line in stack],
        "env": dict(env),
        "renderings": [{**MARKDOWN, "data": text} for text in said],
        **more,
    }


def number(value: int) -> dict:
    return {"type": "int", "contents": value, "dtype": None, "shape": None}


EDTRACE = {
    "files": {"talk.py": SOURCE},
    "hidden_line_numbers": {"talk.py": [7]},
    "steps": [
        step(("main", 3)),
        step(("main", 4), said=["# Title"]),
        step(("main", 5)),
        step(("main", 5), ("double", 10), env={"n": number(2)}),
        step(("main", 5), ("double", 11)),
        step(("main", 5), env={"x": number(4)}),
        step(("main", 6)),
        step(("main", 7), said=["turn 0"]),
        step(("main", 6)),
        step(("main", 7), said=["turn 1"]),
        step(("main", 6)),
        step(("main", 8), env={"x": None}, said=["end"]),
    ],
}


def of_cs336() -> dict:
    """Values are plain JSON, and what is printed is there."""
    trace = copy.deepcopy(EDTRACE)
    del trace["hidden_line_numbers"]
    for one in trace["steps"]:
        one["env"] = {name: value and value["contents"] for name, value in one["env"].items()}
        one |= {"stdout": "", "stderr": ""}
    trace["steps"][-1]["stdout"] = "printed\n"
    return trace


def of_lectrace() -> dict:
    """A frame has its source line, the trace a version and how it ended."""
    trace = copy.deepcopy(EDTRACE)
    for one in trace["steps"]:
        for frame in one["stack"]:
            frame["source_line"] = frame.pop("code")
    error = {"exception_type": "ValueError", "message": "no", "traceback": "..."}
    metadata = {"title": "talk", "module": "talk", "python_version": "3.12.1", "error": error}
    return {**trace, "version": "2", "metadata": metadata}


DIALECTS = {"edtrace": EDTRACE, "cs336": of_cs336(), "lectrace": of_lectrace()}


@pytest.fixture
def take(tmp_path, capsys):
    def take(trace) -> dict:
        file = tmp_path / "talk.json"
        file.write_text(trace if isinstance(trace, str) else json.dumps(trace))
        assert main(["--import", str(file)]) == 0
        return json.loads((tmp_path / ".lecture-trace" / "talk.json").read_text())

    return take


def story(document: dict) -> str:
    """Lines of steps; functions where they are entered and left."""
    told = []
    for event in document["events"]:
        if event > 0:
            told.append(str(document["statements"][event - 1][1]))
        else:
            told.append(f"{document['functions'][-event - 1]['name']}(" if event else ")")
    return " ".join(told)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_steps_values_and_prose_are_taken_over(dialect, take):
    document = take(DIALECTS[dialect])
    assert story(document) == "main( 4 5 double( 11 ) 6 7 6 7 6 8 )"
    rows = zip(*document["inspections"].values(), strict=True)
    values = [None, *document["values"]]
    shown = [
        (event, at, document["names"][name], values[0 if value is None else value + 1])
        for event, at, name, value in rows
    ]
    assert shown == [
        (3, 4, "n", {"type": "int", "value": 2}),
        (2, 6, "x", {"type": "int", "value": 4}),
        (11, 12, "x", None),
    ]
    said = [document["values"][index]["markdown"] for index in document["said"]["value"]]
    assert said == ["# Title", "turn 0", "turn 1", "end"]
    assert document["said"]["step"] == [0, 4, 6, 8]
    assert document["title"] == "Title"
    assert [block["first_line"] for block in document["files"][0]["prose"]] == [4, 7, 8]
    assert document["environment"]["recorded_by"] in ("edtrace", "lectrace")
    assert document["costs"] is None


def test_what_a_dialect_has_more_is_kept(take):
    assert take(of_cs336())["output"] == [
        {"step": 8, "at": 12, "stream": "stdout", "text": "printed\n"}
    ]
    document = take(of_lectrace())
    assert document["failure"]["type"] == "ValueError"
    assert document["environment"]["python"] == "3.12.1"


def test_frames_of_libraries_and_two_calls_of_one_function(take):
    trace = copy.deepcopy(EDTRACE)
    library = {"path": "torch/nn.py", "code": "", "function_name": "_call_impl", "line_number": 9}
    inner = trace["steps"][3:5]
    for one in inner:
        one["stack"].insert(1, library)
    trace["steps"][5:5] = copy.deepcopy(inner)
    assert story(take(trace)).startswith("main( 4 5 double( 11 ) double( 11 ) 6")


def changed(part: str, value: object) -> str:
    """The trace with something else in its second step."""
    trace = copy.deepcopy(EDTRACE)
    trace["steps"][1][part] = value
    return json.dumps(trace)


WHOLE = json.dumps(EDTRACE)
DEEP = 100_000

# what is in the file -> the sentence
NO_TRACES = {
    "nothing": ("", "talk.json is not JSON: Expecting value in line 1, column 1."),
    "cut off in a text": (
        WHOLE[: len(WHOLE) // 2],
        "talk.json is not JSON: it ends in the middle.",
    ),
    "cut off at the end": (WHOLE[:-1], "talk.json is not JSON: it ends in the middle."),
    "a mistake": ('{"steps": [,', "is not JSON: Expecting value in line 1, column 12."),
    "no text": (b"\x1f\x8b\x08\x00", "talk.json is not JSON: it is no text."),
    "too deep": ("[" * DEEP + "]" * DEEP, "talk.json is nested too deeply for a trace."),
    "a list": ("[]", "is no trace of edtrace, CS336 or lectrace"),
    "no files": ('{"steps": []}', "it has no steps or no files."),
    "our own": ('{"statements": [], "events": []}', "is a document of this tool"),
    "a later version": (
        json.dumps({**of_lectrace(), "version": "3"}),
        "talk.json is of version 3 of lectrace's traces: 2 is read.",
    ),
    "no step": ('{"steps": [3], "files": {}}', "as its tool writes it: in step 0, TypeError"),
    "no path": ('{"steps": [{"stack": [{}]}], "files": {}}', "in step 0, KeyError: 'path'"),
    "no calls": (changed("stack", None), "in step 1, TypeError"),
    "no variables": (changed("env", [1]), "in step 1, AttributeError"),
    "no line": (
        changed("stack", [{**FRAME, "function_name": "main", "line_number": float("inf")}]),
        "in step 1, OverflowError",
    ),
    "no Python": ('{"steps": [], "files": {"a.py": "def"}}', "a.py:1: "),
    "a null byte": ('{"steps": [], "files": {"a.py": "\\u0000"}}', "a.py:1: "),
}


@pytest.mark.parametrize(("text", "sentence"), NO_TRACES.values(), ids=NO_TRACES)
def test_what_is_no_trace_is_refused_in_one_sentence(text, sentence, tmp_path, capsys):
    file = tmp_path / "talk.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    assert main(["--import", str(file)]) in (1, 2)
    [line] = capsys.readouterr().err.splitlines()
    assert sentence in line
    assert not (tmp_path / ".lecture-trace").exists()


def test_what_is_wrong_in_a_value_or_a_rendering_costs_no_more_than_that(take):
    trace = copy.deepcopy(EDTRACE)
    wrong = {"type": "torch.Tensor", "contents": [1, 2], "dtype": "torch.int64", "shape": [2, 2]}
    deep = json.loads("[" * 500 + "]" * 500)
    trace["steps"][5]["env"] = {"x": wrong, "y": {"type": "list", "contents": deep}}
    trace["steps"][1]["renderings"] += [{"type": "plot", "data": "{", "style": {}}]
    trace["steps"].append(step(("main", 9)))
    document = take(trace)
    shown = [document["values"][value] for value in document["inspections"]["value"] if value]
    assert [value["type"] for value in shown] == ["int", "unknown", "unknown"]
    box = {"type": "plot", "markdown": "> plot: `JSONDecodeError`"}
    assert document["values"][document["said"]["value"][1]] == box
    assert document["warnings"] == ["1 step left out: no statement stands where they were."]


def test_pictures_are_found_where_the_trace_lies_or_above(tmp_path, monkeypatch):
    """The working folder may be any other."""
    trace = copy.deepcopy(EDTRACE)
    rendering = {**MARKDOWN, "type": "image", "data": "images/red.svg"}
    trace["steps"][1]["renderings"] = [rendering, {**rendering, "data": "images/no.svg"}]
    file = tmp_path / "course" / "var" / "traces" / "talk.json"
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps(trace))
    (tmp_path / "course" / "images").mkdir()
    (tmp_path / "course" / "images" / "red.svg").write_text("<svg/>")
    monkeypatch.chdir(tmp_path)
    assert main(["--import", str(file), "-o", str(tmp_path / "out.json")]) == 0
    document = json.loads((tmp_path / "out.json").read_text())
    assert len(document["assets"]) == 1
    assert document["warnings"] == ["images/no.svg is not here."]


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main(["--import", str(tmp_path / "none.json")]) == 2
    assert "cannot read" in capsys.readouterr().err


BIG = list(range(20_000))
# as a tool writes it -> our value
CONTENTS = [
    ({"type": "float", "contents": "nan"}, {"type": "float", "text": "nan"}),
    ({"type": "str", "contents": "nan"}, {"type": "str", "value": "nan"}),
    (
        {"type": "talk.Point", "contents": {"x": {"type": "int", "contents": 1}}},
        {"type": "Point", "fields": {"x": {"type": "int", "value": 1}}},
    ),
    (
        {"type": "dict", "contents": {"x": {"type": "int", "contents": 1}}},
        {
            "type": "dict",
            "entries": [[{"type": "str", "value": "x"}, {"type": "int", "value": 1}]],
            "length": 1,
        },
    ),
    (
        {
            "type": "torch.Tensor",
            "dtype": "torch.float32",
            "shape": [2, 1],
            "contents": [[0.5], ["nan"]],
        },
        {"type": "Tensor", "dtype": "float32", "shape": [2, 1], "elements": [0.5, "nan"]},
    ),
    (
        {"type": "numpy.ndarray", "dtype": "int64", "shape": [20_000], "contents": BIG},
        {
            "type": "ndarray",
            "dtype": "int64",
            "shape": [20_000],
            "shown": [[0, 1, 2, 19_997, 19_998, 19_999]],
            "cut": True,
            "elements": [0, 1, 2, 19_997, 19_998, 19_999],
        },
    ),
    (2**60, {"type": "int", "text": str(2**60)}),
    ("x" * 3000, {"type": "str", "value": "x" * 2000, "length": 3000, "cut": True}),
]


@pytest.mark.parametrize(("written", "value"), CONTENTS)
def test_contents(written, value):
    assert value_of_contents(written) == value


def test_long_lists_are_cut_and_say_so():
    value = value_of_contents(BIG)
    assert (len(value["items"]), value["length"], value["cut"]) == (50, 20_000, True)
