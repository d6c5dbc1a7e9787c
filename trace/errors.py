"""What can be wrong with a lecture or a command, said in one sentence."""


class UsageError(Exception):
    """The command cannot be carried out as given; exit status 2."""


class LectureError(Exception):
    """The lecture's source is wrong; exit status 1."""
