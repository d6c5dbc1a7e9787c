"""What is said on a terminal, and how: messages, and commands as they are typed or started."""

import argparse
import sys
from pathlib import Path

from .target import IS_INSTALLED, PACKAGE

_FLAGS = (
    "check",
    "if_changed",
    "is_current",
    "time",
    "no_costs",
    "no_locals",
    "download",
    "strict",
    "json",
    "quiet",
    "verbose",
)
_LISTS = ("include", "exclude", "stand_by")


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


_SCRIPT = "lecture-trace"
"""The command of the installed package; see `pyproject.toml`."""


def _program() -> str:
    started = Path(sys.argv[0] if sys.argv else "")
    if started.is_dir():
        return f"python {quoted(str(started))}"
    return _SCRIPT if started.stem == _SCRIPT else f"python -m {__package__}"


PROGRAM = _program()
"""`lecture-trace`, `python -m trace`, or `python path/to/trace` if its folder was started."""


def complain(error: Exception | str, status: int) -> int:
    """Say one sentence on stderr; return the exit status."""
    sys.stderr.write(f"{PROGRAM}: {error}\n")
    return status


def how_to_start() -> list[str]:
    """Return the words that start this package in a process of its own, wherever that runs."""
    return [sys.executable, *(["-m", str(__package__)] if IS_INSTALLED else [str(PACKAGE)])]


def own_command(options: argparse.Namespace, lecture: str) -> list[str]:
    """Return the command that runs one lecture, with these options, as this process was started."""
    started = sys.argv[0]
    command = [started] if Path(started).is_dir() else ["-m", str(__package__)]
    for name in (*_FLAGS, "progress"):
        if getattr(options, name):
            command.append(f"--{name.replace('_', '-')}")
    command.append(f"--max-steps={options.max_steps}")
    for name in _LISTS:
        command += [f"--{name.replace('_', '-')}={word}" for word in getattr(options, name)]
    if options.path:
        command.append(f"--path={options.path}")
    if options.output:
        command.append(f"--output={options.output}")
    return [sys.executable, *command, "--", lecture]
