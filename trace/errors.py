"""What can be wrong with a lecture or a command, said in one sentence, and the exit statuses."""

HELD, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130
"""Exit statuses of a command: all is well; the lecture failed, `--check` found a difference, or
`--strict` a warning; the command cannot be carried out; it was interrupted."""


class UsageError(Exception):
    """The command cannot be carried out as given; exit status `USAGE`."""


class LectureError(Exception):
    """The lecture's source is wrong; exit status `FAILED`."""


class StepLimitReached(BaseException):
    """Raised inside the lecture by the timer; not an Exception, so that lectures let it pass."""
