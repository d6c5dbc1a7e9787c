"""Train a tiny model in processes that are killed at random moments, and look at what is left.

    python -m tests.killing FOLDER

The processes are forked from this one, which has imported torch, so that each starts at once.
Prints how often one was killed while it wrote a checkpoint. Ends with an error if ever the newest
checkpoint was not whole, or if the run did not end as one that was never killed.
"""

import os
import random
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import torch

from lecture.train import checkpoints
from lecture.train.config import CONFIGS
from lecture.train.loop import Run, train

KILLS, MOST_SECONDS = 50, 0.03
CONFIG = replace(CONFIGS["tiny"], vocabulary=40, width=8, feed_forward=16, steps=3000)
TOKENS = torch.randint(40, (2000,), generator=torch.Generator().manual_seed(0)).numpy()


def resumed(folder: Path) -> Run:
    run = Run(CONFIG)
    if checkpoints.checkpoints_in(folder):
        run.load_state_dict(checkpoints.load(checkpoints.newest(folder)))
    return run


def train_and_save(folder: Path) -> None:
    run = resumed(folder)
    for step in train(run, TOKENS):
        checkpoints.save(checkpoints.path_for(folder, step.step), run.state_dict())
        checkpoints.keep_newest(folder, 2)


def kill_one(folder: Path, chance: random.Random) -> bool:
    """Start a process, kill it some time after it has saved; return whether it was writing."""
    checkpoints.keep_newest(folder, 2)
    before = checkpoints.checkpoints_in(folder)
    child = os.fork()
    if child == 0:
        train_and_save(folder)
        os._exit(0)
    while checkpoints.checkpoints_in(folder)[-1:] == before[-1:]:
        time.sleep(0.001)
    time.sleep(chance.uniform(0, MOST_SECONDS))
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "it ended before it could be killed"
    return any(folder.glob(f"*{checkpoints.UNFINISHED}"))


def main(folder: Path) -> None:
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    chance, writing = random.Random(0), 0
    for _ in range(KILLS):
        writing += kill_one(folder, chance)
        for path in checkpoints.checkpoints_in(folder):
            checkpoints.load(path)  # every one is whole, also the newest
    run, straight = resumed(folder), Run(CONFIG)
    steps = zip(range(run.step), train(straight, TOKENS), strict=False)
    assert run.step >= KILLS
    assert len([*steps]) == run.step == straight.step
    for weight, other in zip(run.model.parameters(), straight.model.parameters(), strict=True):
        assert torch.equal(weight, other), "it is not what it would be without the kills"
    print(f"killed {KILLS} times, {writing} times while writing, {run.step} steps")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
