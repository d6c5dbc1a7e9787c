from edtrace import image, link, text


def main():
    text("# Scaling laws")
    text("How does the loss depend on size?")
    what_they_are()
    fitting()
    using()


def what_they_are():
    text("## What they are")
    text("A power law: $L(N) = E + A / N^\\alpha$")
    text("- $E$: the entropy of the data")
    text("- $A$: how far off a small model is")
    text("- $\\alpha$: how fast that falls")
    text("On a double logarithmic scale it is a line.")
    image("stairs.svg", width="60%")
    text("Two families of results:")
    text("**Kaplan**: grow the model faster than the data.")
    text("**Hoffmann**: grow both alike.")


def fitting():
    text("## Fitting")
    sizes = [1e6, 1e7, 1e8]  # @inspect sizes
    losses = [5.0, 4.0, 3.4]  # @inspect losses
    text("Three runs:")
    for size, loss in zip(sizes, losses):
        text(f"- {size:.0e} parameters: {loss}")
    ratio = (losses[0] - losses[1]) / (losses[1] - losses[2])  # @inspect ratio
    text("Each tenfold gains less.")
    text("Pitfalls:")
    text("- too few points")
    text("- runs that were not tuned")
    text("- a schedule that ends at the wrong place")


def using():
    text("## Using them")
    text("1. Train small models.")
    text("2. Fit the law.")
    text("3. Extrapolate.")
    compute = 6 * 1e9 * 20e9  # @inspect compute
    text("The rule of thumb is $C = 6 N D$:")
    text("with $N = 10^9$ and $D = 20 N$ that is $1.2 \\times 10^{20}$ FLOPs.")
    text("Open questions: ")
    text("data that repeats, ")
    text("and mixtures.")
    text("See "), link("https://example.org/chinchilla"), text(" and "), link("https://example.org/kaplan")
