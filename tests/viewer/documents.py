"""Documents written by hand, so that what the viewer makes of them can be computed by hand too."""

import copy
import re

SOURCE = '''\
"""A small lecture."""


def main():  # M1.1
    """Small numbers.

    Prose with $x^2$ and **bold**.
    """
    views()
    y = double(3)  # @inspect y
    for i in range(3):  # @inspect i
        total = i * 2  # @inspect total
    assert y == 6
    print("done")


def views():  # M1.2 E1
    """Views share storage."""
    # A view moves no data.
    x = make()  # @inspect x
    if x is None:
        x = 0
    assert x.size == 6


def double(n):  # @inspect n
    m = n * 2  # @inspect m
    return m  # @inspect
'''

STATEMENTS = [
    # file, first line, last line, enclosing, kind, function, names that it binds
    [0, 9, 9, -1, "call", 0, []],
    [0, 10, 10, -1, "assign", 0, []],
    [0, 11, 11, -1, "for", 0, []],
    [0, 12, 12, 2, "assign", 0, []],
    [0, 13, 13, -1, "assert", 0, []],
    [0, 14, 14, -1, "call", 0, []],
    [0, 20, 20, -1, "assign", 1, []],
    [0, 21, 21, -1, "if", 1, []],
    [0, 22, 22, 7, "assign", 1, []],
    [0, 23, 23, -1, "assert", 1, []],
    [0, 27, 27, -1, "assign", 2, []],
    [0, 28, 28, -1, "return", 2, []],
]

EVENTS = [
    -1,  # main
    *[1, -2, 7, 8, 10, 0],  # step 0 calls views: steps 1, 2, 3
    *[2, -3, 11, 12, 0],  # step 4 calls double: steps 5, 6
    *[3, 4, 3, 4, 3, 4, 3],  # steps 7 to 13: three turns, and the header once more
    *[5, 6, 0],  # steps 14, 15
]

TENSOR = {
    "type": "Tensor",
    "dtype": "float32",
    "shape": [2, 3],
    "strides": [3, 1],
    "offset": 0,
    "device": "cpu",
    "contiguous": True,
    "requires_grad": False,
    "bytes": 24,
    "storage": 1,
    "storage_bytes": 24,
    "elements": [0.0, 1.0, 2.0, 3.0, 4.0, 5.5],
}

VALUES = [
    *[{"type": "int", "value": number} for number in range(7)],
    TENSOR,
]

INSPECTIONS = [
    # event, at, name, value
    (3, 4, "x", 7),
    (8, 9, "n", 3),
    (9, 10, "m", 6),
    (10, 11, "return", 6),
    (7, 12, "y", 6),
    (12, 13, "i", 0),
    (13, 14, "total", 0),
    (14, 15, "i", 1),
    (15, 16, "total", 2),
    (16, 17, "i", 2),
    (17, 18, "total", 4),
]


def tokens(source: str) -> list[int]:
    """Keywords, strings and directives, in the order of the text."""
    kinds = {"keyword": 0, "string": 1, "directive": 4, "definition": 5}
    pattern = re.compile(
        r"(?P<directive># @.*)|(?P<string>\"[^\"]*\")|(?<=def )(?P<definition>\w+)"
        r"|(?P<keyword>\b(?:def|for|in|if|is|assert|return)\b)"
    )
    return [
        number
        for line, text in enumerate(source.split("\n"), 1)
        for match in pattern.finditer(text)
        for number in (line, match.start(), len(match[0]), kinds[match.lastgroup])
    ]


def function(name: str, line: int, end_line: int, title: str, marks: str, *parameters: str):
    return {
        "file": 0,
        "name": name,
        "line": line,
        "end_line": end_line,
        "title": title,
        "marks": marks.split(),
        "parameters": list(parameters),
        "shared": [],
    }


def prose(first: int, last: int, kind: str, text: str):
    return {"first_line": first, "last_line": last, "kind": kind, "text": text}


def small() -> dict:
    """A lecture of three functions, sixteen steps and two claims that hold, without locals."""
    names = sorted({row[2] for row in INSPECTIONS} | {"aten.mul", "aten.mm"})
    return {
        "format": "lecture-trace",
        "version": 2,
        "module": "demo.main",
        "title": "A small lecture.",
        "environment": {"python": "3.11", "torch": "2.13.0", "device": "cpu"},
        "files": [
            {
                "path": "demo/main.py",
                "source": SOURCE,
                "prose": [
                    prose(1, 1, "docstring", "A small lecture."),
                    prose(5, 8, "docstring", "Small numbers.\n\nProse with $x^2$ and **bold**."),
                    prose(18, 18, "docstring", "Views share storage."),
                    prose(19, 19, "comment", "A view moves no data."),
                ],
                "tokens": tokens(SOURCE),
                "hidden": [],
            }
        ],
        "statements": copy.deepcopy(STATEMENTS),
        "functions": [
            function("main", 4, 14, "Small numbers.", "M1.1"),
            function("views", 17, 23, "Views share storage.", "M1.2 E1"),
            function("double", 26, 28, "", "", "n"),
        ],
        "events": list(EVENTS),
        "names": names,
        "values": copy.deepcopy(VALUES),
        "inspections": {
            "event": [row[0] for row in INSPECTIONS],
            "at": [row[1] for row in INSPECTIONS],
            "name": [names.index(row[2]) for row in INSPECTIONS],
            "value": [row[3] for row in INSPECTIONS],
        },
        "locals": {"event": [], "at": [], "name": [], "value": []},
        "readings": [],
        "effects": [],
        "assertions": [
            {"statement": 4, "text": "y == 6", "operands": ["y", "6"]},
            {"statement": 9, "text": "x.size == 6", "operands": ["x.size", "6"]},
        ],
        "claims": {
            "statement": [9, 4],
            "step": [3, 14],
            "at": [6, 20],
            "held": [True, True],
            "operands": [[6, 6], [6, 6]],
        },
        "said": {"step": [], "at": [], "value": []},
        "output": [{"step": 15, "at": 21, "stream": "stdout", "text": "done\n"}],
        "costs": {
            "step": [1, 5],
            "operator": [names.index("aten.mul"), names.index("aten.mm")],
            "calls": [1, 1],
            "matmul_flops": [0, 2_100_000],
            "other_flops": [6, 0],
            "read_bytes": [24, 48],
            "written_bytes": [24, 24],
            "allocated_bytes": [4096, 0],
            "freed_bytes": [0, 0],
            "uncounted": [0, 0],
            "meta": [0, 0],
        },
        "memory": {"at": [], "live_bytes": [], "category": []},
        "uncounted": {"aten.sort": 2},
        "topics": {"M1.1": "Numbers", "M1.2": "Views"},
        "assets": {},
        "warnings": [],
        "failure": None,
    }


def failing() -> dict:
    """The same run with a claim that is false at step 14, where it ends."""
    document = small()
    document["assertions"][0] = {"statement": 4, "text": "y == n + 2", "operands": ["y", "n + 2"]}
    document["claims"]["held"][1] = False
    document["claims"]["operands"][1] = [6, 5]
    document["events"] = [*document["events"][:-2], 0]
    document["output"] = []
    document["failure"] = {
        "kind": "claim",
        "type": "AssertionError",
        "message": "",
        "step": 14,
        "at": 20,
        "traceback": [{"path": "demo/main.py", "line": 13, "function": "main"}],
    }
    return document


def with_values(*values: dict) -> dict:
    """The small lecture with other values of `x` on line 20, one name each."""
    document = small()
    inspections = document["inspections"]
    for number, value in enumerate(values):
        document["names"].append(f"v{number}")
        document["values"].append(value)
        inspections["event"].append(3)
        inspections["at"].append(4)
        inspections["name"].append(len(document["names"]) - 1)
        inspections["value"].append(len(document["values"]) - 1)
    return document


def with_prose(text: str) -> dict:
    """The small lecture with other text in the comment on line 19."""
    document = small()
    document["files"][0]["prose"][3]["text"] = text
    return document


def with_note(text: str) -> dict:
    """The small lecture with a note for the speaker in place of the comment on line 19."""
    document = with_prose(text)
    document["files"][0]["prose"][3]["kind"] = "note"
    return document
