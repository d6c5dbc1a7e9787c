from lectrace import link, note, table, text


def main():
    text("# Gradients, step by step")
    text("""
        A derivative says how much an output changes
        when an input does.

        - It is a *local* statement.
        - It composes by the **chain rule**.
    """)
    by_hand()
    numerically()
    chain()
    text("## Where to go from here")
    link("https://example.org/autograd", title="A tour of autograd")


def by_hand():
    text("## By hand")
    text(r"""
        Take $f(x) = x^2$. Then

        $$f'(x) = \lim_{h \to 0} \frac{f(x + h) - f(x)}{h} = 2x$$
    """)
    x = 3.0  # @inspect x
    slope = 2 * x  # @inspect slope
    text("So at 3 the slope is 6.")
    note("Draw the tangent on the board.")


def numerically():
    text("## Numerically")
    text("The definition, with a small $h$:")
    x = 3.0
    for h in (1.0, 0.1, 0.01):
        slope = ((x + h) ** 2 - x**2) / h  # @inspect slope
        text(f"With h = {h} it is {slope:.4f}.")
    text("The smaller $h$, the nearer to 6.")
    text("""
        But not too small:

        1. subtraction cancels digits,
        2. division magnifies what is left.
    """)


def chain():
    text("## The chain rule")
    text("""
        ```python
        y = f(g(x))
        dy = f_prime(g(x)) * g_prime(x)
        ```
    """)
    text("A table of what is known:")
    table([["$x^2$", "$2x$"], ["$e^x$", "$e^x$"]], headers=["f", "derivative"])
    a = 2.0
    b = a * a  # @inspect b
    c = 3 * b  # @inspect c
    text("Backwards: $\\frac{dc}{da} = 3 \\cdot 2a = 12$.")
    text("> All of deep learning is this rule, applied often.")
