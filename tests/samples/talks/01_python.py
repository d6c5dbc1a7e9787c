from textwrap import dedent

from edtrace import text


def main():
    text("# Python in an hour")
    text("What you need to follow the course.")
    variables()
    functions()
    classes()
    pitfalls()


def variables():
    text("## Variables")
    text("A name refers to an object.")
    x = 1  # @inspect x
    y = x  # @inspect y
    x = 2  # @inspect x y
    text("- Assignment copies nothing.")
    text("- Numbers never change.")
    text("Lists do:")
    a = [1]  # @inspect a
    b = a
    b.append(2)  # @inspect a b
    text("Both names show the change.")


def functions():
    text("## Functions")
    text(dedent("""\
        A function has

        - parameters,
        - a body,
        - a result.
    """))
    text("```python\ndef double(n):\n    # twice\n    return 2 * n\n```")
    n = double(4)  # @inspect n
    text(f"`double(4)` is {n}.")
    text("Arguments are passed by *assignment*.")


def double(n):  # @inspect n
    return 2 * n


def classes():
    text("## Classes")
    text("A class makes objects that carry data and functions.")
    p = Point(1, 2)  # @inspect p.x p.y
    text(f"Its x is {p.x}, its y {p.y}.")
    p.move(3)  # @inspect p.x
    text("`self` is the object itself.")


class Point:
    """A point."""

    def __init__(self, x, y):
        self.x, self.y = x, y

    def move(self, by):
        self.x += by


def pitfalls():
    text("## Pitfalls")
    text("- Default arguments are made once.")
    text("- `is` is not `==`.")
    text("- Integer division is `//`.")
    text("%d of %d students know the first." % (3, 10))
    text("{} know the last.".format("Few"))
    text("Escapes: a backslash is written `\\\\`, a star \\*.")
    text("""
Three lines
of one
paragraph.
""")
    text("That's it.")
