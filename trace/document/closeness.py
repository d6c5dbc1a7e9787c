"""Do two pictures of a value differ by no more than rounding, made where floats round differently?

What an operator computes is rounded, and what comes after builds on it; training multiplies a small
difference at each step. So the more operators ran before, the more a number may be off. In a tensor
or a curve that is in relation to the largest number: what is small beside others may be what is
left of their difference.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from ..schema import Value

RELATIVE_TOLERANCE = 1e-4
"""How far a number may be off in relation to itself, where few operators ran."""
ABSOLUTE_TOLERANCE = 2.0**-18
"""How far where numbers of one were rounded, and how much of the largest in a tensor or a curve: 64
roundings of float32."""
OPERATOR_TOLERANCE = 2.0**-20
"""How much further for each operator: one that adds 256 products rounds so often, up and down, and
ends within some 16 roundings."""
LARGEST_TOLERANCE = 0.35
"""How far at most, however long the training: two runs of one model learn the same in the end, but
the gradient of a single late step is off by a quarter with other kernels."""

_Leaf = tuple[tuple[Any, ...], Any]
"""To which series it belongs; a number, a truth value, None, or a text that has to be the same."""
_ALIKE = "alike"  # in the name of a series: its numbers are of one kind

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?", re.IGNORECASE)
_TAG = re.compile(r"<[^>]*>")
_STYLE = re.compile(r' style="[^"]*"')
_COMPUTED_NAME = re.compile(r'data-[0-9a-f]{32}|(?<=#)[\w-]+|(?<=id=")[\w-]+')
"""What Altair and matplotlib name after the numbers in it."""


def close(was: Value | None, now: Value | None, operators: int = 0) -> bool:
    """Tell whether two pictures may be of one value, computed by so many operators.

    Names, types, shapes and truth values have to be equal, floats close. Texts and integers may
    have been computed from floats, and are not compared.
    """
    return parting(was, now, operators) is None


def parting(was: Value | None, now: Value | None, operators: int = 0) -> str | None:
    """Return None for two pictures that are close, else what parts them: the two numbers that are
    farthest from it, or an empty text where it is no number."""
    before, after = list(_leaves(was, ())), list(_leaves(now, ()))
    if [series for series, _ in before] != [series for series, _ in after]:
        return ""
    numbers: dict[tuple[Any, ...], list[tuple[float, float]]] = defaultdict(list)
    for (series, old), (_, new) in zip(before, after, strict=True):
        if {type(old), type(new)} in ({float}, {int, float}):
            numbers[series].append((old, new))
        elif type(old) is not type(new) or (old != new and type(old) is not int):
            return ""
    far = [
        (abs(old - new) / allowed, f"{old} is now {new}")
        for series, pairs in numbers.items()
        for (old, new), allowed in zip(
            pairs, _tolerances(pairs, operators, _ALIKE in series), strict=True
        )
        if abs(old - new) > allowed
    ]
    return max(far)[1] if far else None


def _tolerances(pairs: list[tuple[float, float]], operators: int, alike: bool) -> list[float]:
    largest = max(abs(number) for pair in pairs for number in pair) if alike else 0
    grown = min(operators * OPERATOR_TOLERANCE, LARGEST_TOLERANCE)
    beside = ABSOLUTE_TOLERANCE * max(largest, 1) + grown * largest
    return [
        max((RELATIVE_TOLERANCE + grown) * max(abs(old), abs(new)), beside) for old, new in pairs
    ]


def _leaves(part: Any, series: tuple[Any, ...]) -> Iterator[_Leaf]:
    """Take a picture apart, in an order that is the same for pictures of one kind."""
    if isinstance(part, str):  # it may have been computed
        yield series, ""
    elif isinstance(part, list):
        yield series, f"{len(part)} items"
        for item in part:
            yield from _leaves(item, series)
    elif not isinstance(part, dict):
        yield series, part
    elif isinstance(part.get("type"), str):
        yield from _leaves_of_picture(part, series)
    else:
        for key, value in part.items():
            yield from _leaves(value, (*series, key))


def _leaves_of_picture(picture: dict[str, Any], series: tuple[Any, ...]) -> Iterator[_Leaf]:
    yield series, repr([picture.get(key) for key in ("type", "dtype", "shape")])
    if picture["type"] == "float":
        yield series, picture.get("text", "finite")  # or nan, inf
    for key in ("value", "items", "fields"):
        if key in picture:
            yield from _leaves(picture[key], (*series, key))
    for key, value in picture.get("entries", ()):
        yield (*series, "entries"), _without_numbers(key.get("value", ""))
        yield from _leaves(value, (*series, "entries"))
    if "items" in picture or "entries" in picture:
        yield series, f"{picture.get('length')} in all"
    for element in picture.get("elements", ()):
        yield (*series, "elements", _ALIKE), _without_numbers(element)  # a text is nan or inf
    for key, number in picture.get("statistics", {}).items():
        exact = isinstance(number, int)  # so many are nan or inf
        yield (*series, key, _ALIKE), f"{number} {key}" if exact else number
    if "vega" in picture:
        yield from _leaves_of_chart(picture["vega"], (*series, "vega"))
    for tag in _TAG.findall(picture.get("svg", "")):  # texts between tags may be computed
        yield (*series, "svg"), _without_numbers(tag)
        for number in _NUMBER.findall(_COMPUTED_NAME.sub("", tag)):
            yield (*series, "svg", _ALIKE), float(number)
    if "html" in picture:
        yield from _leaves_of_table(_STYLE.sub("", picture["html"]), (*series, "html"))


def _leaves_of_table(source: str, series: tuple[Any, ...]) -> Iterator[_Leaf]:
    """Numbers between tags were computed; tags and words have to be the same."""
    yield series, _without_numbers(source)
    for number in _NUMBER.findall(_TAG.sub(" ", source)):
        yield (*series, _ALIKE), float(number)


def _leaves_of_chart(part: Any, series: tuple[Any, ...]) -> Iterator[_Leaf]:
    """Numbers of a column are of one kind where the texts beside them are the same: a curve."""
    if isinstance(part, list):
        yield series, f"{len(part)} items"
        for item in part:
            yield from _leaves_of_chart(item, series)
    elif isinstance(part, dict):
        curve = tuple(_without_numbers(text) for text in part.values() if isinstance(text, str))
        for key, value in part.items():
            yield from _leaves_of_chart(value, (*series, curve, _without_numbers(key)))
    else:
        yield (*series, _ALIKE), _without_numbers(part)


def _without_numbers(part: object) -> object:
    """A text may show numbers that were computed; the rest of it has to be the same."""
    return _NUMBER.sub("0", _COMPUTED_NAME.sub("", part)) if isinstance(part, str) else part
