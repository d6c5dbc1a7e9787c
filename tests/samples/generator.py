"""Generators are left and resumed."""


def main():
    """Two at a time."""
    for pair in zip(squares(3), letters()):  # @inspect pair
        print(pair)


def squares(n):
    for i in range(n):
        yield i * i


def letters():
    yield from "ab"
