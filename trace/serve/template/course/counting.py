"""The first lecture of the course."""


def main():
    """Counting pairs.

    Text is in comments and docstrings, in Markdown, with formulas such as $n^2$. The next lecture
    is about [halving](#doc=halving).
    """
    the_pairs_are_half_of_a_square()


def the_pairs_are_half_of_a_square():
    r"""The pairs are half of a square.

    Of $n$ things, each can be paired with $n - 1$ others; that counts every pair twice.
    """
    things = "abcde"
    pairs = []
    for at, first in enumerate(things):
        for second in things[at + 1 :]:
            pairs.append(first + second)
    words = " ".join(pairs)  # @inspect words
    assert words.endswith("de")
    assert len(pairs) == len(things) * (len(things) - 1) / 2
