"""Commands in messages: what this program is called here, and paths as a shell takes them."""

import sys
from pathlib import Path


def quoted(argument: str) -> str:
    """Return an argument as it has to be typed, on every system."""
    return f'"{argument}"' if " " in argument else argument


def counted(number: int, noun: str) -> str:
    """Return a number of things as a message gives it."""
    return f"{number:,} {noun}{'s' * (number != 1)}"


def say(line: str) -> None:
    """Print a line; what stdout cannot encode is written with backslashes, as on stderr."""
    encoding = sys.stdout.encoding or "utf-8"
    print(line.encode(encoding, "backslashreplace").decode(encoding), flush=True)


def _program() -> str:
    started = sys.argv[0] if sys.argv else ""
    return f"python {quoted(started)}" if Path(started).is_dir() else "python -m trace"


PROGRAM = _program()
"""`python -m trace`, or `python path/to/trace` if its folder was started."""
