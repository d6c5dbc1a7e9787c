"""`python -m benchmarks.accelerator`: what a device reaches, on one page and in one file."""

import json

import pytest
import torch

from benchmarks import accelerator
from benchmarks.accelerator import Device, Reading


def test_the_page_and_the_file_tell_of_one_run(tmp_path, capsys):
    path = tmp_path / "cpu.json"
    arguments = ["--device", "cpu", "--quick", "--repeats", "2", "--json", str(path)]
    assert accelerator.main(arguments) == 0
    page = capsys.readouterr().out
    found = json.loads(path.read_text())
    assert (found["format"], found["machine"]["device"]) == ("lecture-accelerator", "cpu")
    assert page.startswith(found["machine"]["name"])
    assert "2×" not in page.splitlines()[0]
    assert [kind for kind, readings in found["readings"].items() if not readings] == ["transfer"]
    for kind, readings in found["readings"].items():
        for reading in (Reading(**row) for row in readings):
            assert reading.name in page, kind
            assert len(reading.seconds) == 2
            assert min(reading.first_seconds, *reading.seconds) > 0
            assert reading.flops or reading.moved_bytes
    matmuls = [Reading(**row) for row in found["readings"]["matmul"]]
    assert {row.name: row.flops for row in matmuls} == {
        "128×128": 2 * 128**3,
        "256×256": 2 * 256**3,
    }
    best = max(row.flops / row.best_seconds for row in matmuls if row.dtype == "fp32")
    assert found["best_flops_per_second"]["fp32"] == best
    for peak in found["training_peaks"]:
        assert peak["measured_bytes"] == pytest.approx(peak["calculated_bytes"], rel=0.02)


@pytest.mark.parametrize("compiler", [None, "/usr/bin/g++"])
def test_a_chain_is_compiled_where_there_is_a_compiler(compiler, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: compiler)
    monkeypatch.setattr("torch.compile", lambda function: function)
    monkeypatch.setattr(accelerator.Device, "drawn", lambda self, *shape: torch.ones(8))
    readings = {found.name: found for found in accelerator.elementwise(Device("cpu", 1, False))}
    assert ("GELU compiled" in readings) == bool(compiler)
    if compiler:
        compiled, written_out = readings["GELU compiled"], readings["GELU written out"]
        assert compiled.flops == written_out.flops
        assert compiled.moved_bytes == readings["GELU"].moved_bytes < written_out.moved_bytes


WRONG = [
    (["--repeats", "0"], "--repeats must be at least 1"),
    (["--device", "mps"], "there is no mps device here"),
    (["--device", "abacus"], "invalid choice: 'abacus'"),
]


@pytest.mark.parametrize(("arguments", "sentence"), WRONG)
def test_what_cannot_be_measured_is_refused(arguments, sentence, capsys, monkeypatch):
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: False)
    with pytest.raises(SystemExit) as exit_:
        accelerator.main(arguments)
    assert exit_.value.code == 2
    assert sentence in capsys.readouterr().err
