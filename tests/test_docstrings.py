"""The examples in docstrings of the tracer are true."""

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = [
    path.relative_to(ROOT).with_suffix("").as_posix().replace("/", ".")
    for path in sorted((ROOT / "trace").rglob("*.py"))
    if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_say_what_happens(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted and not found.failed
