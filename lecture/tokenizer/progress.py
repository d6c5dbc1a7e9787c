"""A bar that fills, on terminals only."""

import sys
import time
from typing import TextIO

WIDTH = 30
SECONDS_BETWEEN = 0.1


class ProgressBar:
    """Shows how much of a phase is done; silent where nobody watches."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.watched = self.stream.isatty()
        self.next_seconds = 0.0

    def __call__(self, phase: str, done: int, total: int) -> None:
        """Show the state, unless it was shown a moment ago."""
        now = time.monotonic()
        if not self.watched or (now < self.next_seconds and done < total):
            return
        self.next_seconds = now + SECONDS_BETWEEN
        share = done / total if total else 1.0
        bar = "#" * round(WIDTH * share)
        self.stream.write(f"\r{phase:<10} [{bar:<{WIDTH}}] {share:4.0%}")
        self.stream.flush()

    def clear(self) -> None:
        """Leave an empty line."""
        if self.watched:
            self.stream.write("\r" + " " * (WIDTH + 20) + "\r")
            self.stream.flush()
