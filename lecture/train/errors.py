"""What goes wrong with a run because of what it was given."""


class TrainingError(ValueError):
    """A sentence that says what was wrong and what is possible."""


class LostProcessError(RuntimeError):
    """A run ended because a process did, and not because of what it was given."""
