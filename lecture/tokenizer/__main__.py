"""`python -m lecture.tokenizer`."""

import sys

if __name__ == "__main__":
    if not __package__:
        print("Run it from the repository root: python -m lecture.tokenizer", file=sys.stderr)
        raise SystemExit(2)

    from lecture.tokenizer.cli import main

    raise SystemExit(main(sys.argv[1:]))
