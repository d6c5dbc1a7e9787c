"""Programs to step through, recorded as a reader would record them."""

import contextlib
import functools
import io
import json
import tempfile
from pathlib import Path
from typing import Any

PROGRAMS = """\
'''Small programs to step through.'''


class Node:
    '''A link of a list.'''

    def __init__(self, value, rest=None):
        self.value = value
        self.rest = rest


def linked():
    '''A linked list, reversed in place.'''
    head = None
    for word in ["a", "b", "c"]:
        head = Node(word, head)
    back = None
    while head:
        head.rest, back, head = back, head, head.rest
    return back


def depth(tree):
    '''How deep a tree is.'''
    if not tree:
        return 0
    return 1 + max(depth(tree[0]), depth(tree[1]))


def graph():
    '''Nodes that reach each other.'''
    edges = {"a": ["b", "c"], "b": ["c"], "c": ["a"]}
    seen, waiting = [], ["a"]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.append(node)
        waiting += edges[node]
    ring = [1]
    ring.append(ring)
    return seen


def views():
    '''Views of one storage.'''
    import torch

    x = torch.arange(6.0).reshape(2, 3)
    y = x.T
    row = x[1]
    row.fill_(7)
    big = torch.zeros(20, 30)
    assert y[2, 1] == 7
    return x @ y


def main():
    '''Small programs to step through.'''
    back = linked()
    tree = [[[], []], []]
    deep = depth(tree)
    seen = graph()
    product = views()
    numbers = list(range(100))
    same = numbers
    same[3] = back
    words = " ".join(seen)
    assert words == "a c b" and deep == 2, words
    del tree
    print(words)
"""


@functools.cache
def recorded_text(source: str, name: str = "programs", *, costs: bool = False) -> str:
    """The document of a lecture of one file, as JSON."""
    from trace.document.build import build
    from trace.document.encoding import encode
    from trace.options import Options
    from trace.record.run import record
    from trace.target import find_target

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        file = Path(folder) / f"{name}.py"
        file.write_text(source, encoding="utf-8")
        recording = record(find_target(str(file)), Options(costs=costs))
        return encode(build(recording)).decode()


def recorded(source: str = PROGRAMS, *, costs: bool = False) -> dict[str, Any]:
    """The same, as what it stands for, to be changed at will."""
    return json.loads(recorded_text(source, costs=costs))


def step_on(document: dict[str, Any], text: str, occurrence: int = 1) -> int:
    """The step that runs the line with this text for the n-th time."""
    lines = document["files"][0]["source"].split("\n")
    line = next(number for number, own in enumerate(lines, 1) if own.strip() == text)
    steps = [code for code in document["events"] if code > 0]
    found = [at for at, code in enumerate(steps) if document["statements"][code - 1][1] == line]
    return found[occurrence - 1]
