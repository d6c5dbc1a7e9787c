"""Sharded training: each process keeps a part of weights, gradients and state (FSDP, ZeRO 3).

Its checkpoints are folders to which each process writes its part. Which part of what that is stands
beside it, so any number of processes can go on from there, one included. What PyTorch has for this
takes seconds to import, so functions import it when a run is sharded.
"""

import hashlib
import shutil
import warnings
from pathlib import Path

import torch.distributed as dist
from torch import Tensor

from lecture.lib.optim import zeros_for
from lecture.lib.transformer import TransformerLM
from lecture.train import checkpoints
from lecture.train.errors import TrainingError
from lecture.train.loop import Run

# It says of every model whose result is a view what would happen if it were changed in place.
warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)

SUFFIX, UNFINISHED, REST, SUMS = ".shards", ".unfinished", "rest", "sha256sums"


def shard(model: TransformerLM) -> None:
    """Share out each block, and what is left, among the processes; to be called before there is an
    optimizer. Each block is gathered when it runs and dropped after it, and so is the rest."""
    from torch.distributed.fsdp import fully_shard

    for block in model.blocks:
        fully_shard(block)
    fully_shard(model, reshard_after_forward=True)


def tensors_of(run: Run) -> dict[str, Tensor]:
    """Return weights and moments by name, with moments of zero where there are none yet."""
    found = {}
    for name, weight in run.model.named_parameters():
        state = run.optimizer.state[weight]
        if not state:
            state.update(step=run.step, m=zeros_for(weight), v=zeros_for(weight))
        found |= {f"weight.{name}": weight.data, f"m.{name}": state["m"], f"v.{name}": state["v"]}
    return found


def save(folder: Path, run: Run) -> None:
    """Write a checkpoint together; it gets its name when all parts are written."""
    import torch.distributed.checkpoint as distributed

    path = folder / f"step-{run.step:08}{SUFFIX}"
    unfinished = path.with_name(path.name + UNFINISHED)
    alone = not dist.is_initialized()
    is_first = alone or dist.get_rank() == 0
    if is_first:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
    distributed.save(tensors_of(run), checkpoint_id=unfinished, no_dist=alone)
    if is_first:
        checkpoints.save(unfinished / REST, run.rest_of_state())
        write_sums(unfinished)
        unfinished.replace(path)
        for older in shards_in(folder)[:-2]:
            shutil.rmtree(older)


def write_sums(path: Path) -> None:
    """Write a checksum for each file of a checkpoint, as `sha256sum -c` reads them."""
    lines = [f"{sha256_of(part)}  {part.name}\n" for part in sorted(path.iterdir())]
    (path / SUMS).write_text("".join(lines), encoding="utf-8")


def sha256_of(path: Path) -> str:
    """Return the checksum of a file, which may be larger than memory."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(path: Path) -> None:
    """Raise `TrainingError` if a file of a checkpoint is gone or is not as it was written."""
    if not (path / SUMS).exists():
        raise TrainingError(f"{path} has no {SUMS}: it is damaged, or of an older version")
    lines = (path / SUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    expected_sums = {
        name: expected for expected, _, name in (line.partition("  ") for line in lines)
    }
    if unlisted := {part.name for part in path.iterdir()} - {*expected_sums, SUMS}:
        raise TrainingError(f"{path} is damaged: {SUMS} lacks {min(unlisted)}")
    for name, expected in expected_sums.items():
        if not (path / name).is_file():
            raise TrainingError(f"{path} is damaged: {name} is gone")
        if sha256_of(path / name) != expected:
            raise TrainingError(f"{path} is damaged: {name} has another checksum")


def shards_in(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder that are made of parts, the newest last."""
    return sorted(folder.glob(f"step-*{SUFFIX}"))


def load(path: Path, run: Run) -> None:
    """Go on from there, with as many processes as there are now."""
    import torch.distributed.checkpoint as distributed

    run.load_rest(checkpoints.load(path / REST))
    tensors = tensors_of(run)
    try:
        distributed.load(tensors, checkpoint_id=path, no_dist=not dist.is_initialized())
    except distributed.CheckpointException as error:
        raise TrainingError(f"{path} lacks parts, or they are of another model") from error
    for weight in run.model.parameters():
        run.optimizer.state[weight]["step"] = run.step
