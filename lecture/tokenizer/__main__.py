"""`python -m lecture.tokenizer`."""

import signal
import sys

if __name__ == "__main__":
    if not __package__:
        print("Run it from the repository root: python -m lecture.tokenizer", file=sys.stderr)
        raise SystemExit(2)

    from lecture.tokenizer.cli import main

    # Asked to end, as when asked from the keyboard: what is half-written is taken away first.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    raise SystemExit(main(sys.argv[1:]))
