"""A lecture to begin with. Change it, and see what becomes of the page."""

try:
    import torch
except ImportError:  # all but one section works without it
    torch = None


def main():
    r"""Adding up the first numbers.

    Comments and docstrings are the text of the page, in *Markdown* with maths, as in $\sqrt{2}$.
    The first line of a docstring is a title; `main` is the beginning, and each function that it
    calls becomes a section.
    """
    # Comments that end in this word are for you alone and not on the page. @hide
    the_sum_has_a_formula()
    the_sums_grow_like_a_square()
    a_line_shows_its_cost()


def the_sum_has_a_formula():
    r"""The sum has a formula.

    What is $1 + 2 + \dots + n$? Two equal stairs make a rectangle, $n$ wide and $n + 1$ high:

    ![Two equal stairs, one turned over, fill a rectangle.](my_lecture.svg)

    Half of it is one stair, so

    $$1 + 2 + \dots + n = \frac{n (n + 1)}{2}.$$
    """
    # The picture is a file beside this one. The r before a docstring keeps its \ as it is. @hide
    # The loop adds up number by number. The page shows one round of it; drag to see the others.
    total = 0
    # The words at the end of the next lines name variables to show. @hide
    for number in range(1, 11):  # @inspect number
        total += number  # @inspect total
    # Each `assert` is a claim: it is checked on every run, and the page shows both of its sides.
    assert total == 10 * 11 / 2


def the_sums_grow_like_a_square():
    """The sums grow like a square.

    A value that can draw itself is shown as a picture.
    """
    # Altair charts and matplotlib figures can, and any class with a method _repr_svg_. @hide
    sums = [n * (n + 1) // 2 for n in range(1, 11)]
    chart = Bars(sums)  # @inspect chart
    # Twice as many numbers, almost four times the sum: $55 / 15 \approx 3.7$.
    assert sums[9] == 55
    assert sums[4] == 15


def a_line_shows_its_cost():
    """A line shows its cost.

    Operations on tensors of PyTorch are metered: beside the line stands how many operations on
    numbers it took and how many bytes it moved.
    """
    if torch is None:  # To see it: python -m pip install torch numpy
        return
    numbers = torch.arange(1.0, 101.0)  # @inspect numbers
    total = numbers.sum()  # @inspect total
    assert total == 5050


class Bars:
    """A bar chart, drawn by hand."""

    def __init__(self, values):  # @stepover
        self.values = values

    def _repr_svg_(self):
        width, height, step = 320, 120, 320 / len(self.values)
        bars = ""
        for i, value in enumerate(self.values):
            tall = height * value / max(self.values)
            bars += f'<rect x="{i * step:.1f}" y="{height - tall:.1f}" '
            bars += f'width="{0.8 * step:.1f}" height="{tall:.1f}" fill="steelblue"/>'
        size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        return f'<svg xmlns="http://www.w3.org/2000/svg" {size}>{bars}</svg>'


if __name__ == "__main__":  # it is also a program: python my_lecture.py
    main()
