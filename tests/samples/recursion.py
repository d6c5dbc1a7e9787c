"""A function that calls itself."""


def main():
    """Factorials."""
    result = factorial(3)  # @inspect result
    assert result == 3 * 2 * 1


def factorial(n):  # @inspect n
    """The product of the numbers up to n."""
    if n == 0:
        return 1  # @inspect
    return n * factorial(n - 1)  # @inspect
