"""The second lecture of the course."""


def main():
    """Halving.

    How often can 1000 be halved before less than 2 is left?
    """
    ten_halvings_are_a_thousand()


def ten_halvings_are_a_thousand():
    r"""Ten halvings are about a thousand.

    For $2^{10} = 1024$ is close to $10^3$.
    """
    left, halvings = 1000.0, 0
    while left >= 2:  # @inspect left
        left /= 2
        halvings += 1
    assert halvings == 9
    assert 2**10 / 1000 == 1.024
