"""The tests that are written in JavaScript, beside the modules that they are of."""

import json

import pytest

from tests.viewer import documents
from tests.viewer.javascript import HERE, run_tests

FILES = sorted(HERE.glob("*.test.js"))


@pytest.fixture(scope="module")
def document(tmp_path_factory):
    path = tmp_path_factory.mktemp("documents") / "small.json"
    path.write_text(json.dumps(documents.small()), encoding="utf-8")
    return path


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_javascript(file, document):
    done = run_tests(file, document)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_are_such_tests():
    assert FILES


FAILING = 'import { test } from "node:test"; test("no", () => { throw new Error("wrong"); });'


def test_a_test_in_javascript_can_fail(tmp_path, document):
    (tmp_path / "failing.test.js").write_text(FAILING)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    done = run_tests(tmp_path / "failing.test.js", document)
    assert done.returncode == 1
    assert "wrong" in done.stdout


@pytest.mark.parametrize("build", [documents.small, documents.failing])
def test_documents_written_by_hand_are_valid(build):
    jsonschema = pytest.importorskip("jsonschema")
    from trace.contract import json_schema

    jsonschema.validate(build(), json_schema())
