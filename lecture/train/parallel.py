"""Data parallelism: several processes that train copies of one model.

Each takes its share of every batch. Their gradients are averaged, so all make the same step and
the copies stay equal. `torchrun` starts the processes and tells each its number.
"""

import contextlib
import os
from collections.abc import Iterator, Sequence

import torch
import torch.distributed as dist
from torch import Tensor
from torch.nn.parallel import DistributedDataParallel

from lecture.train.errors import LostProcessError, TrainingError


class Alone:
    """A single process: it has everything, and there is nobody to wait for."""

    rank, size = 0, 1
    reduced_bytes = 0
    sharded = False
    """Whether each process has only a part of the model; then all take part in everything."""

    def share(self, batch: Tensor) -> Tensor:
        """Return the rows of a batch that are for this process."""
        return batch

    def average(self, tensors: Sequence[Tensor]) -> None:
        """Put the mean over all processes in the place of each tensor."""

    def unshared(self, gradients: list[Tensor]) -> list[Tensor]:
        """Return the gradients that have yet to be averaged."""
        return gradients

    def forward_of(self, model: torch.nn.Module) -> torch.nn.Module:
        """Return what runs the model, where that is not the model itself."""
        return model

    def any(self, is_so: bool) -> bool:
        """Tell whether it is so for one of the processes, where all have to do the same."""
        return is_so

    def wait(self) -> None:
        """Go on when all have come this far."""

    def leave(self) -> None:
        """Say goodbye."""


class Together(Alone):
    """One of several processes."""

    def __init__(self, device: torch.device) -> None:
        backend = "nccl" if device.type == "cuda" else "gloo"
        dist.init_process_group(backend)
        self.device = device
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.reduced_bytes = 0  # what this process has handed over to be averaged

    def share(self, batch: Tensor) -> Tensor:
        if len(batch) % self.size:
            raise TrainingError(
                f"a batch of {len(batch)} cannot be shared out evenly among {self.size} processes"
            )
        return batch[self.rank :: self.size]

    def average(self, tensors: Sequence[Tensor]) -> None:
        # One long message costs one wait; a message for each tensor would cost many.
        flat = torch.cat([tensor.detach().flatten() for tensor in tensors])
        with self.watching():
            dist.all_reduce(flat)
        self.reduced_bytes += flat.nbytes
        flat /= self.size
        for tensor, mean in zip(tensors, flat.split([t.numel() for t in tensors]), strict=True):
            tensor.detach().copy_(mean.view_as(tensor))

    def wait(self) -> None:
        with self.watching():
            dist.barrier()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Say in a sentence that others are gone, if they are."""
        try:
            yield
        except RuntimeError as error:
            raise LostProcessError(
                f"process {self.rank} of {self.size} cannot reach the others: one of them has "
                "ended; --resume goes on from the newest checkpoint, if any"
            ) from error

    def leave(self) -> None:
        dist.destroy_process_group()


class Overlapping(Together):
    """One of several processes whose gradients PyTorch averages: in buckets, each as soon as it is
    full, while the backward pass goes on."""

    def forward_of(self, model: torch.nn.Module) -> torch.nn.Module:
        devices = [self.device] if self.device.type == "cuda" else None
        # The buffers are cosines and sines, which all have made alike.
        return DistributedDataParallel(model, device_ids=devices, broadcast_buffers=False)

    def unshared(self, gradients: list[Tensor]) -> list[Tensor]:
        return []


class Sharing(Together):
    """One of several processes that share out one model: its gradients come averaged."""

    sharded = True

    def unshared(self, gradients: list[Tensor]) -> list[Tensor]:
        return []

    def any(self, is_so: bool) -> bool:
        flag = torch.tensor(float(is_so), device=self.device)
        with self.watching():
            dist.all_reduce(flag)
        return bool(flag)


TOGETHER = {"plain": Together, "ddp": Overlapping, "sharded": Sharing}


def join(device: torch.device, how: str = "plain") -> Alone:
    """Join the processes that `torchrun` has started, if it has."""
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        return TOGETHER[how](device)
    return Alone()
