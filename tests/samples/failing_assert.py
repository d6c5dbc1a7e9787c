"""A claim that does not hold."""


def main():
    """Ends in a false claim."""
    halves(8)
    halves(7)


def halves(n):
    """A number is twice its half."""
    half = n // 2  # @inspect half
    assert 2 * half == n, "only even numbers have a whole half"
