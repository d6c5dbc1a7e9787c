"""By keyboard from the first step to the last: the table says what the frames of Python hold."""

import re
from collections.abc import Iterable
from typing import Any

import pytest

from tests import reference
from tests.test_trust import is_repeated, is_statement
from tests.viewer.programs import PROGRAMS, recorded

MORE = """

class Chain:
    '''Numbers one behind the other.'''

    def __init__(self):
        self.first = None

    def push(self, value):
        self.first = (value, self.first)
        return self

    def __iter__(self):
        link = self.first
        while link:
            yield link[0]
            link = link[1]


def orders(items, chosen=()):
    '''All orders of some items.'''
    if not items:
        return [chosen]
    found = []
    for index, item in enumerate(items):
        rest = items[:index] + items[index + 1 :]
        found += orders(rest, (*chosen, item))
    return found


def more():
    '''Names that come and go.'''
    chain, empty = Chain().push(1.5).push(2), set()
    pair = [number for number in chain]
    (first, *others), alias = pair, empty
    alias.add(first)
    try:
        pair[9]
    except IndexError as error:
        told = str(error)
    if (count := len(pair)) > 1:
        del pair
    edges = {"a": {"b"}, "b": set()}
    edges["b"] |= {"a"}
    both = orders(["a", "b"])
    kept = (edges, edges["a"])
    edges["a"].clear()
    return both
"""
PROGRAM = (
    PROGRAMS.replace("    product = views()", "    product = views()\n    both = more()") + MORE
)

ROWS = """() => [...document.querySelectorAll(".open-call")].map((call) =>
    [...call.querySelectorAll(".variable")].map((row) => {
        const text = (part) => row.querySelector(part)?.innerText ?? "";
        return {
            name: text(".variable-name code"),
            shown: text(".variable-value .value") || text(".variable-value .tensor-head"),
            elements: [...row.querySelectorAll("td")].map((cell) => Number(cell.title)),
            isGone: row.classList.contains("gone"),
            step: Number(text(".as-of").replace(/[^0-9]/g, "")),
        };
    }))"""


def written(value: Any, depth: int = 0) -> Any:
    """Return a value as text, as a reader would write it; of a tensor its elements."""
    if depth > 8:
        return "cut off"
    if type(value).__name__ == "Tensor":
        return value.flatten().tolist() if value.numel() <= 16 else []

    def joined(parts: Iterable[object]) -> str:
        return ", ".join(written(part, depth + 1) for part in parts)

    match value:
        case list():
            return f"[{joined(value)}]"
        case tuple():
            return f"({joined(value)}{',' if len(value) == 1 else ''})"
        case set():
            return f"{{{joined(sorted(value))}}}" if value else "set()"
        case dict():
            return f"{{{', '.join(f'{joined([k])}: {joined([v])}' for k, v in value.items())}}}"
        case BaseException():
            return str(value)
    fields = getattr(value, "__dict__", {}).items()
    inside = ", ".join(f"{name}={joined([part])}" for name, part in fields)
    return f"{type(value).__name__}({inside})" if fields else repr(value)


def is_as_shown(row: dict[str, Any], value: Any) -> bool:
    """Tell whether a row shows a value, as far as it does not say that something is left out."""
    if isinstance(value, list):
        return row["elements"] == value
    shown = re.escape(row["shown"].replace("\u202f", ""))
    if shown.startswith("‹"):  # a generator: its type is all that is said
        return True
    return re.fullmatch(re.sub(r"…(\\ \d+\\ more)?", ".*", shown), value) is not None


@pytest.mark.parametrize(
    ("shown", "value", "expected"),
    [
        ("[1, 2]", "[1, 2]", True),
        ("[1, 2]", "[1, 3]", False),
        ("[1, … 2 more]", "[1, 2, 3]", True),
        ("[1, … 2 more]", "[2, 2, 3]", False),
        ("Node(rest=…)", "Node(rest=Node())", True),
        ("{}", "set()", False),
        ("1", "12", False),
    ],
)
def test_what_is_not_so_is_noticed(shown, value, expected):
    assert is_as_shown({"shown": shown}, value) is expected


STOP = """async () => {
    const { isAhead, nextStop, reachedStep, stopNow } = await import("viewer/state/stops.js");
    const reached = reachedStep();
    return { ...stopNow(), reached, isAhead: isAhead(), isLast: !nextStop(1) };
}"""


def test_at_each_step_the_table_says_what_the_frame_holds(page, show, tmp_path, monkeypatch):
    """Before the calls of a statement, what it held when they began."""
    file = tmp_path / "programs.py"
    file.write_text(PROGRAM)
    monkeypatch.setattr(reference, "frozen", written)
    known = reference.Reference(file, is_statement, is_repeated).run()
    show(page, recorded(PROGRAM), mode="step")
    page.keyboard.press("Home")
    rows_read, seen = 0, []
    stop = page.evaluate(STOP)
    while True:
        step = stop["step"]
        seen.append(step)
        page.wait_for_function(
            "text => document.querySelector('.timeline-count').innerText.startsWith(text)",
            arg=f"{stop['reached'] + 1} /",
        )
        said = "its calls come first" if stop["isAhead"] else "after "
        assert said in page.locator(".program .where").inner_text()
        activation, names, _ = known.after[step][-1]
        if stop["isAhead"]:
            names = next(then for number, then, _ in known.after[step + 1] if number == activation)
        rows = {row["name"]: row for row in page.evaluate(ROWS)[0]}
        assert names.keys() <= rows.keys(), step
        for name, row in rows.items():
            then = names
            if row["step"]:
                past = known.after[row["step"] - 1]
                then = next((then for number, then, _ in past if number == activation), names)
            if row["isGone"]:
                assert name not in then, (step, name)
            elif "." in name:
                assert f"{name.removeprefix('self.')}=" in names["self"], (step, name)
            elif name != "return":
                assert is_as_shown(row, then[name]), (step, row, then[name])
                rows_read += 1
        if stop["isLast"]:
            break
        page.keyboard.press("ArrowRight")
        stop = page.evaluate(STOP)
    assert set(seen) == set(range(len(known.after)))
    assert len(seen) > len(set(seen)), "one comes back to calls"
    assert rows_read > 3 * len(known.after)
