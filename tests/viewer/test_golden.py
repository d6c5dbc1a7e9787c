"""The model of the golden documents against a replay written here, from the contract alone."""

import json
from pathlib import Path

import pytest

GOLDEN = sorted((Path(__file__).parents[1] / "golden").glob("*.json"))


def replay(document: dict) -> list[dict]:
    """What each step is, by walking the events with a stack and looking at everything anew."""
    events, functions = document["events"], len(document["functions"])
    stack: list[int] = []
    steps: list[dict] = []
    running: dict[int, dict] = {}  # activation -> its step that is not over
    owner: list[int] = []  # activation of each event
    entered = 0
    for event, code in enumerate(events):
        if code >= 0 and stack[-1] in running:
            running.pop(stack[-1])["end"] = event
        if code > 0:
            step = {"event": event, "statement": code - 1, "activation": stack[-1]}
            step |= {"end": len(events), "stack": list(stack)}
            steps.append(step)
            running[stack[-1]] = step
        elif code < 0:
            stack.append(entered if -code <= functions else -code - functions - 1)
            entered += -code <= functions
        owner.append(stack[-1])
        if code == 0:
            stack.pop()
    for step in steps:
        step["known"] = known(document, owner, step)
    return steps


def known(document: dict, owner: list[int], step: dict) -> dict[str, int]:
    columns = document["inspections"]
    found: dict[str, int] = {}
    for event, at, name, value in zip(*columns.values(), strict=True):
        if owner[event] == step["activation"] and at <= step["end"]:
            found[document["names"][name]] = value
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_the_model_of_a_golden_document(ask, path):
    document = json.loads(path.read_text(encoding="utf-8"))
    assert ask("steps", document) == replay(document)
