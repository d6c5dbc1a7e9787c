"""A loop with values."""


def main():
    """Triangular numbers.

    The sum of the first $n$ numbers is $n(n+1)/2$.
    """
    total = 0
    # Each item adds itself.
    for i in range(1, 5):  # @inspect i
        total += i  # @inspect total
    assert total == 4 * 5 // 2
