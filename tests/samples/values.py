"""Values of many kinds."""

import enum
from dataclasses import dataclass
from fractions import Fraction


class Color(enum.Enum):
    RED = 1


@dataclass
class Point:
    x: int
    y: float


class Square:
    def _repr_svg_(self):
        return '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9"/></svg>'


def main():
    """One of each."""
    numbers = [1, -2.5, 1e300, float("nan"), 2**64, 3j]  # @inspect numbers
    texts = ("", "é", "a" * 3000, b"\x00\xff")  # @inspect texts
    containers = {"list": [[]], "set": {3, 1, 2}, "none": None}  # @inspect containers
    objects = Point(1, 2.0), Color.RED, Fraction(1, 3), object()  # @inspect objects
    picture = Square()  # @inspect picture
    cycle = []
    cycle.append(cycle)  # @inspect cycle
    del cycle  # @clear cycle
