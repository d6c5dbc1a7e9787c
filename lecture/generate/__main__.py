"""`python -m lecture.generate`."""

import sys
from contextlib import suppress

if __name__ == "__main__":
    if not __package__:
        print("Run it from the repository root: python -m lecture.generate", file=sys.stderr)
        raise SystemExit(2)

    from lecture.generate.cli import main

    with suppress(BrokenPipeError):
        raise SystemExit(main(sys.argv[1:]))
