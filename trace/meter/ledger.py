"""What the meter reports, and to whom: the work of an operator, and storages that come and go."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

from ..own_builtins import use_own_builtins

use_own_builtins(globals())

PARAMETERS = "parameters"
"""Registered in a module, made an `nn.Parameter`, or changed by an optimizer."""
GRADIENTS = "gradients"
"""Made by a backward pass, for a parameter or on the way to one."""
OPTIMIZER_STATE = "optimizer state"
"""What an optimizer keeps, in its `state` or in attributes of its own, and what its `step` makes.
An optimizer is one of `torch.optim.Optimizer`. What it keeps is looked at whenever a parameter is
changed in place; one that was made before the meter began is known by its `step` alone."""
ACTIVATIONS = "activations"
"""Results of operators that autograd records, also of those it records anew to recompute them, and
of a backward pass that is recorded itself (`create_graph=True`)."""
OTHER = "other tensors"
"""Data, and all that runs without autograd."""
CATEGORIES = (PARAMETERS, GRADIENTS, OPTIMIZER_STATE, ACTIVATIONS, OTHER)


class Work(NamedTuple):
    """What one call of an operator costs; `counted` is False when no formula knows all of it. With
    `meta` it ran on the device of that name, and this is what it would cost."""

    matmul_flops: int = 0
    other_flops: int = 0
    read_bytes: int = 0
    written_bytes: int = 0
    counted: bool = True
    meta: bool = False


class Storage:
    """A piece of memory that tensors view. The category may turn out late: a parameter is one from
    birth, but is known as one only when it is registered or used."""

    __slots__ = ("bytes", "category", "exists", "number")

    def __init__(
        self, number: int, storage_bytes: int, category: str, *, exists: bool = True
    ) -> None:
        self.number = number
        """Never used twice."""
        self.bytes = storage_bytes
        self.category = category
        self.exists = exists
        """False on the device `meta`: there `bytes` is what it would take."""


def live_bytes_over_time(changes: Iterable[tuple[Storage, int]]) -> Iterator[dict[str, int]]:
    """Yield the bytes alive in each category after each change, a storage and its bytes (negative
    when it died).

    >>> weight, data = Storage(1, 64, PARAMETERS), Storage(2, 8, OTHER)
    >>> for live in live_bytes_over_time([(weight, 64), (data, 8), (data, -8)]):
    ...     print(live[PARAMETERS], live[OTHER])
    64 0
    64 8
    64 0
    """
    live = dict.fromkeys(CATEGORIES, 0)
    for storage, change_bytes in changes:
        live[storage.category] += change_bytes
        yield dict(live)


class Account(Protocol):
    """Something the meter reports to: a `Cost`, or the recorder."""

    def ran(self, operator: str, work: Work) -> None:
        """One call of an operator."""

    def ran_elsewhere(self, operator: str) -> None:
        """One call of an operator in another thread; no more is known of it."""

    def allocated(self, storage: Storage) -> None:
        """A storage came to life."""

    def freed(self, storage: Storage) -> None:
        """A storage died."""
