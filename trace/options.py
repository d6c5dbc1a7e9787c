"""What can be chosen about a run and about serving, with bounds and what holds unless chosen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_STEPS = 1_000_000_000
HOST = "127.0.0.1"
"""Where pages are served unless told otherwise: for this machine alone."""
MAX_PORT = 65535


@dataclass(frozen=True)
class Options:
    """What can be chosen about a run."""

    max_steps: int = 1_000_000
    costs: bool = True
    locals: bool = True
    """Read all names after each statement."""
    time: bool = False
    """Note the clock at each step, and what `@timed` statements measure."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    path: str = ""
    """Run only the sections with this mark, and what they call."""
    download: bool = False
    """Fetch what lectures of other tools show by its address."""
    progress: Callable[[Any], None] | None = None
    """Called now and then with what was recorded so far, and with None before output."""
