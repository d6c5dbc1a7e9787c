"""`python -m benchmarks.floors`, and what the lecture reads of its file."""

import json

import pytest

from benchmarks import floors
from lecture.lib.recorded import FOLDER, recorded_floors


def test_the_file_can_be_read(tmp_path, capsys):
    path = tmp_path / "floors.json"
    assert floors.main(["--quick", "--json", str(path)]) == 0
    assert capsys.readouterr().out == ""
    found = recorded_floors(path)
    assert found.date == json.loads(path.read_text())["machine"]["date"]
    assert list(found.relu_seconds) == [1024, 2048]
    assert list(found.copy_seconds) == [1, 2, 4, 8, 16, 32, 64]
    assert list(found.matmul_seconds) == [64, 128]
    ways = [seconds for both in found.relu_seconds.values() for seconds in both.values()]
    assert min(*ways, *found.copy_seconds.values(), *found.matmul_seconds.values()) > 0


def test_without_a_file_it_is_printed(capsys):
    assert floors.main(["--quick"]) == 0
    assert json.loads(capsys.readouterr().out)["format"] == floors.FORMAT


def test_a_wrong_option_is_refused(capsys):
    with pytest.raises(SystemExit) as exit_:
        floors.main(["--slow"])
    assert exit_.value.code == 2
    assert "unrecognized arguments" in capsys.readouterr().err


def test_what_is_recorded_names_its_machine_and_day():
    found = recorded_floors()
    assert json.loads((FOLDER / "floors/h100.json").read_bytes())["format"] == floors.FORMAT
    assert (found.name, found.date) == ("NVIDIA H100 80GB HBM3", "2026-11-23")
