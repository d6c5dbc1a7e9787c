"""Documents of version 1, as they were written before version 2: they are still read.

`older/version_1.json` was recorded then, of a lecture of two sections with an operator that has no
formula. It is never written anew.
"""

import json
from pathlib import Path

import pytest

from trace.document.decoding import decode, from_json
from trace.errors import UsageError
from trace.schema import VERSION
from trace.serve import library
from trace.target import Target

OLDER = Path(__file__).parent / "older/version_1.json"


def test_what_version_2_has_more_is_taken_from_what_version_1_tells():
    document = decode(OLDER.read_bytes())
    assert document.version == 1
    assert {function.name: function.marks for function in document.functions} == {
        "main": [],
        "polar_numbers": ["M1.1", "E1"],
        "products": ["M1.2"],
    }
    costs = document.costs
    rows = zip(costs.step, costs.operator, costs.uncounted, strict=True)
    assert [(step, document.names[name]) for step, name, count in rows if count] == [
        (2, "aten.polar")
    ]
    assert set(costs.meta) == {0}


def test_it_is_listed():
    entry = library.entry_of(OLDER)
    assert entry == {
        "file": "version_1.json",
        "module": "course.main",
        "title": "A lecture of version 1",
        "steps": 21,
        "claims": 2,
        "held": 5,
        "failed": False,
    }


def test_the_check_says_that_it_is_of_another_version():
    with pytest.raises(UsageError, match=f"it is of version 1 and not {VERSION}"):
        library.read(OLDER)


def test_it_is_not_current(tmp_path):
    """Though its sources are the same, it is to be recorded anew."""
    plain = json.loads(OLDER.read_bytes())
    for file in plain["files"]:
        path = tmp_path / file["path"]
        path.parent.mkdir(exist_ok=True)
        path.write_text(file["source"], encoding="utf-8")
    target = Target(module=plain["module"], root=tmp_path, folder=tmp_path / "course")
    assert not library.is_current(OLDER, target)
    written = tmp_path / "out.json"
    written.write_text(json.dumps(as_version_2(plain)))
    assert library.is_current(written, target)


def as_version_2(plain):
    functions = [
        {**{key: value for key, value in row.items() if key != "labels"}, "marks": [], "shared": []}
        for row in plain["functions"]
    ]
    zeros = [0] * len(plain["costs"]["step"])
    costs = {**plain["costs"], "uncounted": zeros, "meta": zeros}
    names = {"event": [], "at": [], "name": [], "value": []}
    return {
        **plain,
        "version": 2,
        "functions": functions,
        "statements": [[*row, []] for row in plain["statements"]],
        "locals": names,
        "readings": [],
        "effects": [],
        "costs": costs,
    }


def test_columns_of_different_lengths_are_refused():
    plain = as_version_2(json.loads(OLDER.read_bytes()))
    plain["costs"]["meta"] = [0]
    with pytest.raises(ValueError, match="the columns of Costs are not of one length"):
        from_json(plain)
    plain["costs"]["meta"] = None
    with pytest.raises(ValueError, match="its fields are not what they should be"):
        from_json(plain)
