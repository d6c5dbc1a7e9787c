"""Prose of every kind."""
# A comment at module level.


def main():  # T1 T2
    """Title of the section.

    A paragraph with *emphasis*, `code`, a [link](https://example.org) and $e^{i\\pi} = -1$.

    - a list
    - of two
    """
    x = 1  # a code comment
    # First paragraph of a comment,
    # on two lines.
    #
    # Second paragraph: é, 你好, 🙂.
    y = {  # @inspect y
        # a comment inside a statement is no prose
        "🙂": f"{x!r:>3}",
    }
    # Hidden words  # @hide
    z = y  # rest of the line @inspect z
