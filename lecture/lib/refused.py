"""One way to expect an error."""

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass
class Refusal:
    """What an expected error said, or nothing where none was raised."""

    message: str = ""


@contextlib.contextmanager
def refused(kind: type[Exception]) -> Iterator[Refusal]:  # @stepover
    """Let a block end with an error of this kind, and keep what it said."""
    refusal = Refusal()
    try:
        yield refusal
    except kind as error:
        refusal.message = str(error)
