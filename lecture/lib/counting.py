"""Numbers that count what is done with them, and definitions of operations to try them on.

A definition adds products to a sum that begins at zero, so n products come with n additions. In a
backward pass what was multiplied gets the gradient times the other factor, and what was added the
gradient itself. Constants get none.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Union

Nested = Union["Number", Sequence["Nested"]]
Vector = list["Number"]
Matrix = list[Vector]


@dataclass
class Count:
    """How many multiplications and additions there were."""

    multiplications: int = 0
    additions: int = 0

    @property
    def flops(self) -> int:  # @stepover
        return self.multiplications + self.additions

    def numbers(self, nested: object) -> Nested:  # @stepover
        """Turn nested lists of floats into numbers that are counted here."""
        if isinstance(nested, list):
            return [self.numbers(inner) for inner in nested]
        return Number(float(nested), self)


class Number:
    """A number that tells its count of each multiplication and addition, and remembers of what it
    was made."""

    def __init__(
        self, value: float, count: Count, made_of: tuple = (), *, is_constant: bool = False
    ) -> None:  # @stepover
        self.value = value
        self.count = count
        self.made_of = tuple(pair for pair in made_of if not pair[0].is_constant)
        self.is_constant = is_constant or (bool(made_of) and not self.made_of)
        self.gradient = 0.0

    def __add__(self, other: "Number") -> "Number":
        self.count.additions += 1
        return Number(self.value + other.value, self.count, ((self, None), (other, None)))

    def __mul__(self, other: "Number") -> "Number":
        self.count.multiplications += 1
        return Number(
            self.value * other.value, self.count, ((self, other.value), (other, self.value))
        )

    def through(self, value: float, slopes: Sequence[tuple["Number", float]]) -> "Number":
        """Make a number by a function that is not counted here, with its slopes."""
        return Number(value, self.count, tuple((source, (slope,)) for source, slope in slopes))

    def constant(self, value: float) -> "Number":
        """Make a number that is counted with this one and gets no gradient."""
        return Number(value, self.count, is_constant=True)


def backward(results: Sequence[Number]) -> None:
    """Pass the gradients of the results back to all that they were made of."""
    for number in reversed(_in_order(results)):
        for source, by in number.made_of:
            if by is None:  # a sum passes its gradient on
                source.gradient += number.gradient
            elif isinstance(by, tuple):  # a function that is not counted
                source.gradient += number.gradient * by[0]
            else:
                number.count.multiplications += 1
                number.count.additions += 1
                source.gradient += number.gradient * by


def _in_order(results: Sequence[Number]) -> list[Number]:
    """List all numbers, each behind what it was made of."""
    order: list[Number] = []
    seen: set[int] = set()
    waiting = [(number, False) for number in results]
    while waiting:
        number, is_done = waiting.pop()
        if is_done:
            order.append(number)
        elif id(number) not in seen:
            seen.add(id(number))
            waiting.append((number, True))
            waiting += [(source, False) for source, _ in number.made_of]
    return order


def flat(nested: Nested) -> list[Number]:  # @stepover
    """List the numbers of nested lists."""
    return list(_flat(nested))


def _flat(nested: Nested) -> Iterator[Number]:
    if isinstance(nested, Number):
        yield nested
    else:
        for inner in nested:
            yield from _flat(inner)


def values(nested: Nested) -> list:  # @stepover
    """Turn numbers back into floats."""
    return nested.value if isinstance(nested, Number) else [values(inner) for inner in nested]


def dot(x: Vector, w: Vector, start: Number | None = None) -> Number:
    """Add up products, to zero or to what is there already."""
    total = x[0].constant(0.0) if start is None else start
    for one, other in zip(x, w, strict=True):
        total = total + one * other
    return total


def transpose(matrix: Matrix) -> Matrix:  # @stepover
    return [list(column) for column in zip(*matrix, strict=True)]


def matmul(x: Matrix, w: Matrix, bias: Vector | None = None) -> Matrix:
    """Multiply two matrices, and add to a bias for each column."""
    starts = [None] * len(w[0]) if bias is None else bias
    columns = transpose(w)
    return [
        [dot(row, column, start) for column, start in zip(columns, starts, strict=True)]
        for row in x
    ]


def softmax(scores: Vector) -> Vector:
    """Positive numbers that add up to 1; exponentials are not counted."""
    largest = max(score.value for score in scores)
    exponentials = [math.exp(score.value - largest) for score in scores]
    shares = [one / sum(exponentials) for one in exponentials]
    return [
        scores[i].through(
            share,
            [(scores[j], share * ((i == j) - other)) for j, other in enumerate(shares)],
        )
        for i, share in enumerate(shares)
    ]


def attention(query: Matrix, key: Matrix, value: Matrix) -> Matrix:
    """A weighted mean of the values for each query. The scale is not counted."""
    scale = 1 / math.sqrt(len(query[0]))
    scores = [
        [one.through(one.value * scale, [(one, scale)]) for one in row]
        for row in matmul(query, transpose(key))
    ]
    return matmul([softmax(row) for row in scores], value)


def convolution(
    x: Sequence[Matrix], w: Sequence[Sequence[Matrix]], stride: int = 1
) -> list[Matrix]:
    """Slide (outputs, inputs, height, width) over the (inputs, rows, columns) of a picture."""
    height, width = len(w[0][0]), len(w[0][0][0])
    rows = range(0, len(x[0]) - height + 1, stride)
    columns = range(0, len(x[0][0]) - width + 1, stride)

    def window(row: int, column: int) -> Vector:
        return [
            plane[row + i][column + j] for plane in x for i in range(height) for j in range(width)
        ]

    return [
        [[dot(window(row, column), flat(kernel)) for column in columns] for row in rows]
        for kernel in w
    ]


def elementwise(function: Callable[[float], float], slope: Callable[[float], float]) -> Callable:
    """A function of one number that is not counted; its slope is a function of its result."""

    def applied(x: Number) -> Number:
        result = function(x.value)
        return x.through(result, [(x, slope(result))])

    return applied


sigmoid = elementwise(lambda x: 1 / (1 + math.exp(-x)), lambda y: y * (1 - y))
tanh = elementwise(math.tanh, lambda y: 1 - y * y)


def uncounted_sum_of_products(*pairs: tuple[Number, Number]) -> Number:
    """Add up products elementwise, which the matmuls beside them do not count."""
    total = sum(one.value * other.value for one, other in pairs)
    slopes = [(one, other.value) for one, other in pairs]
    return pairs[0][0].through(total, slopes + [(other, one.value) for one, other in pairs])


def lstm(
    inputs: Matrix, input_weights: Matrix, state_weights: Matrix, state: Vector | None = None
) -> Matrix:
    """One LSTM layer without biases over the steps of one sequence; return its states.

    It begins with constant zeros unless a state is given.
    """
    width = len(state_weights[0])
    cell = [inputs[0][0].constant(0.0)] * width
    state = state or cell
    states = []
    for x in inputs:
        gates = [
            dot(state, from_state, dot(x, from_input))
            for from_input, from_state in zip(input_weights, state_weights, strict=True)
        ]
        take, keep, new, show = (gates[i * width : (i + 1) * width] for i in range(4))
        cell = [
            uncounted_sum_of_products((sigmoid(k), c), (sigmoid(t), tanh(n)))
            for k, c, t, n in zip(keep, cell, take, new, strict=True)
        ]
        state = [
            uncounted_sum_of_products((sigmoid(s), tanh(c)))
            for s, c in zip(show, cell, strict=True)
        ]
        states.append(state)
    return states
