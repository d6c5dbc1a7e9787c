"""Several processes that train one model: the same losses, so many bytes, a clear end."""

import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from lecture import stories
from lecture.lib.transformer import TransformerLM
from lecture.train import checkpoints, cli
from lecture.train.config import CONFIGS
from lecture.train.errors import TrainingError
from lecture.train.parallel import Alone, Together, join

ROOT = Path(__file__).parent.parent
TINY = CONFIGS["tiny"]
PARAMETERS = sum(
    weight.numel() for weight in TransformerLM(TINY.model(), device="meta").parameters()
)
pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available(), reason="this PyTorch has no torch.distributed"
)


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    path = tmp_path_factory.mktemp("text") / "stories.txt"
    path.write_text(stories.text(30_000), encoding="utf-8")
    return path


def arguments(text, folder):
    files = ["--text", str(text), "--output", str(folder)]
    return ["lecture.train", "--config", "tiny", "--device", "cpu", *files]


def torchrun(*command):
    """`torchrun`, on a free port of this machine, with one thread for each process."""
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return subprocess.Popen(
        [*launcher, "--nproc-per-node", "2", "-m", *command],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def losses_of(folder):
    lines = (folder / "metrics.jsonl").read_text().splitlines()
    return [json.loads(line)["loss"] for line in lines]


@pytest.mark.slow
def test_two_processes_find_the_losses_of_one(text, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    process = torchrun("tests.reducing", *arguments(text, two)[1:])
    alone = [sys.executable, "-m", *arguments(text, one)]
    subprocess.run(alone, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    printed, errors = process.communicate()
    assert process.returncode == 0, errors
    assert "2 processes, steps 0 to 20" in printed
    for loss, expected in zip(losses_of(two), losses_of(one), strict=True):
        assert math.isclose(loss, expected, rel_tol=1e-4)
    # Each process hands over four bytes for each parameter and each step, and the loss.
    reduced = [int(found) for found in re.findall(r"reduced (\d+) bytes", printed)]
    assert reduced == 2 * [TINY.steps * 4 * (PARAMETERS + 1)]
    # All made the same steps: their weights agree to the last bit.
    assert len(set(re.findall(r"weights (\w+)", printed))) == 1


@pytest.mark.slow
def test_pytorchs_data_parallelism_finds_the_same_losses(text, tmp_path):
    plain, ddp = tmp_path / "plain", tmp_path / "ddp"
    more = ["--micro-batches", "2", "--recompute"]
    for folder, how in ((plain, "plain"), (ddp, "ddp")):
        process = torchrun("tests.reducing", *arguments(text, folder)[1:], *more, "--average", how)
        printed, errors = process.communicate()
        assert process.returncode == 0, errors
        # The copies agree to the last bit, whoever averages; PyTorch's class leaves us the loss.
        assert len(set(re.findall(r"weights (\w+)", printed))) == 1
        reduced = [int(found) for found in re.findall(r"reduced (\d+) bytes", printed)]
        averaged = PARAMETERS + 1 if how == "plain" else 1
        assert reduced == 2 * [TINY.steps * 4 * averaged]
    for loss, expected in zip(losses_of(ddp), losses_of(plain), strict=True):
        assert math.isclose(loss, expected, rel_tol=1e-4)
    # Its checkpoints are those of one process.
    state = checkpoints.load(ddp / "step-00000020.checkpoint")
    assert state["model"].keys() == TransformerLM(TINY.model(), device="meta").state_dict().keys()


@pytest.mark.parametrize(
    ("chosen", "sentence"),
    [
        (["--average", "ddp", "--sharding", "full"], "--sharding and --average ddp"),
        (["--compile", "--average", "ddp"], "--compile and --average ddp"),
        (["--compile", "--sharding", "full"], "--compile and --sharding"),
    ],
)
def test_what_does_not_go_together_is_refused(text, tmp_path, capsys, chosen, sentence):
    assert cli.main([*arguments(text, tmp_path)[1:], *chosen]) == 2
    assert f"{sentence} do not go together; leave one out" in capsys.readouterr().err


def sharded(processes, text, folder, *more):
    command = [*arguments(text, folder), "--sharding", "full", "--save-every", "10", *more]
    if "--resume" in more:
        del command[command.index("--text") : command.index("--text") + 2]
    launcher = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    finished = subprocess.run(
        [*launcher, "--nproc-per-node", str(processes), "-m", *command]
        if processes > 1
        else [sys.executable, "-m", *command],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


@pytest.mark.slow
def test_a_sharded_run_finds_the_losses_of_one_and_goes_on_with_another_number(text, tmp_path):
    one, two = tmp_path / "one", tmp_path / "two"
    alone = [sys.executable, "-m", *arguments(text, one)]
    subprocess.run(alone, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    printed = sharded(2, text, two)
    assert "2 processes, steps 0 to 20" in printed
    for loss, expected in zip(losses_of(two), losses_of(one), strict=True):
        assert math.isclose(loss, expected, rel_tol=1e-4)
    # Go on from the middle, with one process and with four.
    for processes in (1, 4):
        folder = tmp_path / f"on {processes}"
        shutil.copytree(two, folder)
        shutil.rmtree(folder / "step-00000020.shards")
        printed = sharded(processes, text, folder, "--resume")
        assert "steps 10 to 20" in printed
        assert len(losses_of(folder)) == 20
        for loss, expected in zip(losses_of(folder), losses_of(one), strict=True):
            assert math.isclose(loss, expected, rel_tol=1e-4)
    # Two lines of the log stand before, and at the end each kind of checkpoint is what was asked.
    assert [path.name for path in sorted(two.glob("step-*"))] == [
        "step-00000010.shards",
        "step-00000020.shards",
    ]
    assert (tmp_path / "on 1/step-00000020.checkpoint").exists()


def children_of(process):
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(status.read_text().rpartition(")")[2].split()[1])
            environment = (status.parent / "environ").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if parent == process.pid and b"RANK=1" in environment:
            found.append(int(status.parent.name))
    return found


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_a_process_that_dies_ends_the_run_with_a_sentence(text, tmp_path):
    config, folder = tmp_path / "long.toml", tmp_path / "run"
    names = ("vocabulary", "context", "layers", "width", "heads", "feed_forward", "batch")
    settings = {name: getattr(TINY, name) for name in names} | {"steps": 100_000}
    config.write_text("".join(f"{name} = {value}\n" for name, value in settings.items()))
    command = arguments(text, folder)
    command[command.index("tiny")] = str(config)
    process = torchrun(*command)
    try:
        while not (folder / "metrics.jsonl").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        [second] = children_of(process)
        os.kill(second, signal.SIGKILL)
        _, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert process.returncode == 1
    assert "--resume goes on from the newest checkpoint" in errors
    assert re.search(
        r"process 0 of 2 cannot reach the others: one of them has ended|ended from outside", errors
    )


def test_without_torchrun_a_process_is_alone(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    group = join(torch.device("cpu"))
    assert type(group) is Alone
    batch = torch.arange(6).view(3, 2)
    assert group.share(batch) is batch


class OneOfTwo(Together):
    """The second of two processes, without the first."""

    def __init__(self):
        self.rank, self.size, self.reduced_bytes = 1, 2, 0


def test_rows_are_dealt_out_in_turn():
    batch = torch.arange(8).view(4, 2)
    assert OneOfTwo().share(batch).tolist() == [[2, 3], [6, 7]]


def test_a_batch_that_cannot_be_shared_out_is_refused():
    with pytest.raises(TrainingError, match="a batch of 3 cannot be shared out evenly among 2"):
        OneOfTwo().share(torch.ones(3, 2))


def test_the_mean_takes_the_place_of_each_tensor(monkeypatch):
    def with_threes(flat):
        flat += 3

    monkeypatch.setattr(torch.distributed, "all_reduce", with_threes)
    group, tensors = OneOfTwo(), [torch.tensor(1.0), torch.tensor([[5.0, 7], [9, 11]])]
    group.average(tensors)
    assert [tensor.tolist() for tensor in tensors] == [2, [[4, 5], [6, 7]]]
    assert group.reduced_bytes == 4 * 5
