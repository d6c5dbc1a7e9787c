"""The command line: `python -m trace lecture.main`."""

import sys

if not __package__:
    sys.stderr.write("start the tracer from the repository root: python -m trace lecture.main\n")
    raise SystemExit(2)

from .cli import main

if __name__ == "__main__":
    raise SystemExit(main())
