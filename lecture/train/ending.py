"""How a run ends when somebody asks for it with SIGTERM: Slurm, `docker stop`, `timeout`."""

import contextlib
from collections.abc import Iterator
from types import FrameType

from lecture.train.errors import EndedFromOutside


class EndRequest:
    """A signal handler that ends the process at once, or between two steps where that is better.

    A step that is cut off leaves parameters that no checkpoint may hold. While `waiting`, the
    handler only notes that it was called; the loop looks at `asked` after each step. A second
    signal ends the process in any case.
    """

    def __init__(self) -> None:
        self.asked = False
        self._can_wait = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.asked or not self._can_wait:
            raise EndedFromOutside(
                "ended from outside; --resume goes on from the newest checkpoint, if there is one"
            )
        self.asked = True

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Let requests wait for the end of a step in here."""
        self._can_wait = True
        try:
            yield
        finally:
            self._can_wait = False
