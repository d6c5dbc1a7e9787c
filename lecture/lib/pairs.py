"""Pairs of tokens, and how they are merged."""

Pair = tuple[bytes, bytes]


def merge(tokens: list[bytes], pair: Pair) -> list[bytes]:
    """Join the pair wherever it occurs, from left to right."""
    merged: list[bytes] = []
    place = 0
    while place < len(tokens):
        size = 2 if tuple(tokens[place : place + 2]) == pair else 1
        merged.append(b"".join(tokens[place : place + size]))
        place += size
    return merged
