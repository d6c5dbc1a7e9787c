"""The command line: `python -m trace`, or from any other folder `python path/to/trace`; installed,
`lecture-trace` or `python -m lecture_trace`."""

import sys
from importlib import import_module
from pathlib import Path

FOLDER = Path(__file__).resolve().parent

if sys.version_info < (3, 11):  # noqa: UP036 (whoever starts it may not know yet)
    sys.stderr.write("Python 3.11 or newer is needed: start it with such a Python.\n")
    raise SystemExit(2)
if __spec__ is None:
    sys.stderr.write(f'Start the folder, not a file in it: python "{FOLDER}" my_lecture.py\n')
    raise SystemExit(2)
if not __package__:  # the folder was started: Python searches in it, and has to where it lies
    sys.path[0] = str(FOLDER.parent)

main = import_module(f"{FOLDER.name}.cli").main

if __name__ == "__main__":
    raise SystemExit(main())
