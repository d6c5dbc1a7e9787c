"""What the programs of this folder take on their command lines, checked before they measure."""

import argparse
import sys
from pathlib import Path


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of the program whose docstring this is, named as it was started."""
    program = Path(sys.argv[0]).stem
    return argparse.ArgumentParser(
        prog=f"python -m benchmarks.{program}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def existing_folder(text: str) -> Path:
    """Return the folder of this name."""
    if not Path(text).is_dir():
        raise argparse.ArgumentTypeError(f"{text} is no folder")
    return Path(text).resolve()


def existing_file(text: str) -> Path:
    """Return the file of this name."""
    if not Path(text).is_file():
        raise argparse.ArgumentTypeError(f"there is no file {text}")
    return Path(text)


def file_to_write(text: str) -> Path:
    """Return where a file of this name goes: into a folder that there is."""
    path = Path(text)
    if path.is_dir() or not path.parent.is_dir():
        raise argparse.ArgumentTypeError(f"no file can be written as {text}")
    return path
