"""Checkpoints: a run that resumes, files that are damaged, processes that are killed."""

import itertools
import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lecture.train import checkpoints
from lecture.train.config import CONFIGS
from lecture.train.errors import TrainingError
from lecture.train.loop import Run, train

ROOT = Path(__file__).parent.parent
TINY = CONFIGS["tiny"]
TOKENS = torch.randint(TINY.vocabulary, (3000,), generator=torch.Generator().manual_seed(0)).numpy()


def leaves(value):
    """A state as plain values, to compare."""
    if isinstance(value, dict):
        return {name: leaves(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [leaves(part) for part in value]
    return value.tolist() if isinstance(value, torch.Tensor) else value


@pytest.fixture(scope="module")
def straight():
    """The steps and the end of a run that never stops."""
    run = Run(TINY)
    return [*train(run, TOKENS)], leaves(run.state_dict())


@pytest.mark.parametrize("stops", [[1], [10], [19], [2, 3, 4], [20]])
def test_a_run_that_stops_and_resumes_ends_as_one_that_does_not(stops, straight, tmp_path):
    steps, path = [], tmp_path / "run.checkpoint"
    for start, stop in itertools.pairwise([0, *stops, TINY.steps]):
        run = Run(TINY)
        if start:
            run.load_state_dict(checkpoints.load(path))
        steps += itertools.islice(train(run, TOKENS), stop - start)
        checkpoints.save(path, run.state_dict())
    assert (steps, leaves(run.state_dict())) == straight


def test_what_is_saved_is_what_is_loaded(tmp_path):
    run = Run(TINY)
    next(train(run, TOKENS))
    checkpoints.save(tmp_path / "a.checkpoint", run.state_dict())
    loaded = checkpoints.load(tmp_path / "a.checkpoint")
    assert leaves(loaded) == leaves(run.state_dict())
    assert [path.name for path in tmp_path.iterdir()] == ["a.checkpoint"]


def test_a_checkpoint_of_another_run_is_refused():
    state = Run(TINY).state_dict()
    with pytest.raises(TrainingError, match=r"of another run \(batch: 4, not 8; seed: 0, not 1\)"):
        Run(replace(TINY, batch=8, seed=1)).load_state_dict(state)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "a.checkpoint"
    checkpoints.save(path, Run(TINY).state_dict())
    return path.read_bytes()


@given(st.data())
def test_no_flipped_bit_goes_unnoticed(tmp_path_factory, whole, data):
    path = tmp_path_factory.getbasetemp() / "flipped.checkpoint"
    place, bit = data.draw(st.integers(0, len(whole) - 1)), data.draw(st.integers(0, 7))
    damaged = bytearray(whole)
    damaged[place] ^= 1 << bit
    path.write_bytes(damaged)
    with pytest.raises(TrainingError, match=r"is damaged or was cut off|is no checkpoint"):
        checkpoints.load(path)


@given(st.data())
def test_no_missing_end_goes_unnoticed(tmp_path_factory, whole, data):
    path = tmp_path_factory.getbasetemp() / "short.checkpoint"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    with pytest.raises(TrainingError, match=r"is damaged or was cut off|is no checkpoint"):
        checkpoints.load(path)


def write_text(path):
    path.write_text("Once upon a time")


def write_nothing(path):
    path.write_bytes(b"")


def write_a_pickle(path):
    path.write_bytes(pickle.dumps({"step": 1}))


def write_tensors(path):
    torch.save({"step": 1}, path)


@pytest.mark.parametrize("write", [write_text, write_nothing, write_a_pickle, write_tensors])
def test_a_foreign_file_is_refused(write, tmp_path):
    write(tmp_path / "a.checkpoint")
    with pytest.raises(TrainingError) as error:
        checkpoints.load(tmp_path / "a.checkpoint")
    assert str(error.value) == (
        f"{tmp_path / 'a.checkpoint'} is no checkpoint; its first line should be "
        "'checkpoint of lecture.training, version 1, sha256 ...'"
    )


def test_a_checkpoint_runs_no_program(tmp_path):
    checkpoints.save(tmp_path / "a.checkpoint", {"step": print})
    with pytest.raises(TrainingError, match="holds more than tensors and plain values"):
        checkpoints.load(tmp_path / "a.checkpoint")


def test_the_newest_is_found_and_old_ones_go(tmp_path):
    with pytest.raises(TrainingError, match=r"there is no checkpoint in .* to go on from"):
        checkpoints.newest(tmp_path)
    for step in (9, 10, 100, 2_000_000):
        checkpoints.save(checkpoints.path_for(tmp_path, step), {"step": step})
    (tmp_path / "step-00000007.checkpoint.unfinished").touch()
    assert checkpoints.load(checkpoints.newest(tmp_path)) == {"step": 2_000_000}
    checkpoints.keep_newest(tmp_path, 2)
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["step-00000100.checkpoint", "step-02000000.checkpoint"]


def test_damaged_files_are_set_aside_unless_there_is_nothing_else(tmp_path):
    paths = [checkpoints.path_for(tmp_path, step) for step in (1, 2, 3)]
    for step, path in enumerate(paths, start=1):
        checkpoints.save(path, {"step": step})
    assert checkpoints.set_damaged_aside(tmp_path) == []
    paths[2].write_bytes(b"")
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    newest, second = checkpoints.set_damaged_aside(tmp_path)
    assert "step-00000003" in newest
    assert "step-00000002" in second
    assert newest.endswith("going on from step-00000001.checkpoint")
    assert checkpoints.checkpoints_in(tmp_path) == [paths[0]]
    paths[0].write_bytes(b"")
    with pytest.raises(TrainingError, match=r"step-00000001\.checkpoint is no checkpoint"):
        checkpoints.set_damaged_aside(tmp_path)
    assert checkpoints.checkpoints_in(tmp_path) == [paths[0]]


def test_an_error_while_writing_leaves_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "a.checkpoint"
    checkpoints.save(path, {"step": 1})

    def no_space(handle):
        raise OSError("no space left")

    monkeypatch.setattr(checkpoints.os, "fsync", no_space)
    with pytest.raises(OSError, match="no space left"):
        checkpoints.save(path, {"step": 2})
    assert checkpoints.load(path) == {"step": 1}


def test_bytes_reach_the_disk_before_the_name_does(tmp_path, monkeypatch):
    names = []
    fsync = os.fsync

    def watched(handle):
        names.append([path.name for path in tmp_path.iterdir()])
        fsync(handle)

    monkeypatch.setattr(checkpoints.os, "fsync", watched)
    checkpoints.save(tmp_path / "a.checkpoint", {"step": 1})
    assert names[0] == ["a.checkpoint.unfinished"]
    if os.name == "posix":
        assert names[1:] == [["a.checkpoint"]]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_whenever_it_is_killed_the_newest_checkpoint_is_whole(tmp_path):
    command = [sys.executable, "-m", "tests.killing", str(tmp_path)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # threads do not survive a fork
    finished = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout.startswith("killed 50 times, ")
