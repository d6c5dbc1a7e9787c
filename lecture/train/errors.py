"""What goes wrong with a run because of what it was given."""


class TrainingError(ValueError):
    """A sentence that says what was wrong and what is possible."""


class LostProcessError(RuntimeError):
    """A run ended because a process did, and not because of what it was given."""


class EndedFromOutside(BaseException):
    """Somebody asked this process to end.

    It is raised by a signal handler, so in the middle of anything, and is no `Exception`: nothing
    on the way to the command line may take it for a failure of its own.
    """
