"""`python -m lecture.accounting`."""

import sys

if __name__ == "__main__":
    if not __package__:
        print("Run it from the repository root: python -m lecture.accounting", file=sys.stderr)
        raise SystemExit(2)

    from lecture.accounting.cli import main

    raise SystemExit(main(sys.argv[1:]))
