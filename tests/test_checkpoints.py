"""Checkpoints: a run that resumes, files that are damaged, processes that are killed."""

import itertools
import os
import pickle
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lecture.train import checkpoints, session, sharding
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
    assert checkpoints.set_damaged_aside(paths) == []
    paths[2].write_bytes(b"")
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    newest, second = checkpoints.set_damaged_aside(paths)
    assert "step-00000003" in newest
    assert "step-00000002" in second
    assert newest.endswith("going on from step-00000001.checkpoint")
    assert checkpoints.checkpoints_in(tmp_path) == [paths[0]]
    paths[0].write_bytes(b"")
    with pytest.raises(TrainingError, match=r"step-00000001\.checkpoint is no checkpoint"):
        checkpoints.set_damaged_aside(paths[:1])
    assert checkpoints.checkpoints_in(tmp_path) == [paths[0]]


def append_a_byte(path):
    path.write_bytes(path.read_bytes() + b"x")


def flip_a_bit(path):
    contents = bytearray(path.read_bytes())
    contents[len(contents) // 2] ^= 1
    path.write_bytes(contents)


@pytest.mark.parametrize("damage", [append_a_byte, flip_a_bit, Path.unlink])
def test_damage_to_any_file_of_a_checkpoint_of_parts_is_noticed(tmp_path, damage):
    run = Run(TINY)
    next(train(run, TOKENS))
    sharding.save(tmp_path, run)
    [whole] = sharding.shards_in(tmp_path)
    names = sorted(part.name for part in whole.iterdir())
    assert {sharding.REST, sharding.SUMS, ".metadata"} < {*names}
    assert session.check(whole) is None
    for name in names:
        copy = tmp_path / "copy.shards"
        shutil.copytree(whole, copy)
        damage(copy / name)
        with pytest.raises(TrainingError, match="damaged"):
            session.check(copy)
        shutil.rmtree(copy)


def test_a_damaged_checkpoint_of_parts_is_set_aside_for_the_one_before_it(tmp_path):
    run = Run(TINY)
    for step in itertools.islice(train(run, TOKENS), 3):
        if step.step == 2:
            checkpoints.save(checkpoints.path_for(tmp_path, 2), run.state_dict())
        else:
            sharding.save(tmp_path, run)
    newest = session.newest(tmp_path)
    assert newest.name == "step-00000003.shards"
    flip_a_bit(newest / "__0_0.distcp")
    found = session.all_checkpoints_in(tmp_path)
    [said] = checkpoints.set_damaged_aside(found, session.check)
    assert "__0_0.distcp has another checksum" in said
    assert said.endswith("going on from step-00000002.checkpoint")
    flip_a_bit(tmp_path / "step-00000002.checkpoint")
    [said] = checkpoints.set_damaged_aside(session.all_checkpoints_in(tmp_path), session.check)
    assert said.endswith("going on from step-00000001.shards")
    again = Run(TINY)
    sharding.load(session.newest(tmp_path), again)
    assert again.step == 1


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
