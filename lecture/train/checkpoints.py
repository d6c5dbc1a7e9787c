"""Checkpoints: files from which a run goes on as if it had never stopped.

A checkpoint is a line of text and what `torch.save` writes. The line says what the file is, and
has a checksum of the rest. It is written under another name, brought to the disk, and renamed when
it is whole. So whenever a process is killed, what has the name of a checkpoint is one.
"""

import hashlib
import io
import os
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import torch

from lecture.train.errors import TrainingError

HEADER = "checkpoint of lecture.training, version 1, sha256 "
SUFFIX, UNFINISHED, DAMAGED = ".checkpoint", ".unfinished", ".damaged"


def path_for(folder: Path, step: int) -> Path:
    """Return the name of the checkpoint after so many steps; names sort by step."""
    return folder / f"step-{step:08}{SUFFIX}"


def checkpoints_in(folder: Path) -> list[Path]:
    """Return the checkpoints of a folder, the newest last."""
    return sorted(folder.glob(f"step-*{SUFFIX}"))


def header_for(contents: bytes) -> bytes:
    """Return the first line of a checkpoint."""
    return f"{HEADER}{hashlib.sha256(contents).hexdigest()}\n".encode()


def save(path: Path, state: dict[str, Any]) -> None:  # @stepover
    """Write a checkpoint, all of it or none."""
    buffer = io.BytesIO()
    torch.save(state, buffer)
    contents = buffer.getvalue()
    unfinished = path.with_name(path.name + UNFINISHED)
    with unfinished.open("wb") as file:
        file.write(header_for(contents) + contents)
        file.flush()
        os.fsync(file.fileno())  # the bytes are on the disk ...
    unfinished.replace(path)  # ... before the name is theirs
    bring_to_disk(path.parent)


def bring_to_disk(folder: Path) -> None:
    """Make the names in a folder survive a power cut; Windows has no way to ask for it."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        os.fsync(handle)
        os.close(handle)


def load(path: Path) -> dict[str, Any]:  # @stepover
    """Read a checkpoint onto the CPU, or say what is wrong with the file.

    Only tensors and plain values are read: a pickle could run any program.
    """
    contents = checked_contents(path)
    try:
        state: dict[str, Any] = torch.load(io.BytesIO(contents), "cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise TrainingError(f"{path} holds more than tensors and plain values") from None
    return state


def checked_contents(path: Path) -> bytes:
    """Return what stands behind the first line, if that is the line for it."""
    header, _, contents = path.read_bytes().partition(b"\n")
    if not header.startswith(HEADER.encode()):
        raise TrainingError(f"{path} is no checkpoint; its first line should be '{HEADER}...'")
    if header + b"\n" != header_for(contents):
        raise TrainingError(f"{path} is damaged or was cut off: its checksum is another")
    return contents


def newest(folder: Path) -> Path:
    """Return the newest checkpoint of a folder."""
    if not (found := checkpoints_in(folder)):
        raise TrainingError(
            f"there is no checkpoint in {folder} to go on from; start without --resume"
        )
    return found[-1]


def set_damaged_aside(
    found: Iterable[Path], check: Callable[[Path], object] = checked_contents
) -> list[str]:
    """Give damaged checkpoints another name until the newest is whole; say which.

    They come with the newest last, and `check` raises `TrainingError` for one that is damaged.
    Where none is whole nothing is renamed, and the fault of the newest is raised.
    """
    faults: dict[Path, TrainingError] = {}
    for path in reversed([*found]):
        try:
            check(path)
        except TrainingError as error:
            faults[path] = error
            continue
        for damaged in faults:
            damaged.replace(damaged.with_name(damaged.name + DAMAGED))
        return [f"{fault}; going on from {path.name}" for fault in faults.values()]
    if faults:
        raise next(iter(faults.values()))
    return []


def keep_newest(folder: Path, count: int) -> None:
    """Delete all but the newest checkpoints, and what a killed process did not finish."""
    for path in [*checkpoints_in(folder)[:-count], *folder.glob(f"*{SUFFIX}{UNFINISHED}")]:
        path.unlink(missing_ok=True)
