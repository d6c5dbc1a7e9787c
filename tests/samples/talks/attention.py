from execute_util import Reference, image, link, remark, text

bahdanau2014 = Reference(
    title="Neural Machine Translation", authors=["Dzmitry Bahdanau"], date="2014-09", url="https://example.org/1409"
)
vaswani2017 = Reference(
    title="Attention Is All You Need", authors=["Ashish Vaswani", "Noam Shazeer"], date="2017-06", url="https://example.org/1706"
)


def main():
    text("# Lecture 3: attention")
    text("Everything about the layer that mixes positions.")
    text("Outline:")
    text("1. "), link(history)
    text("2. "), link(dot_products)
    text("3. "), link(cost)
    history()
    dot_products()
    cost()


def history():
    text("## History")
    text("- Recurrent models compress the past into one vector "), link(bahdanau2014)
    text("- Attention looks at all of it "), link(vaswani2017)
    text("  - one query, many keys")
    text("  - no recurrence")
    text("- Everything since uses it.")
    image("stairs.svg", width=600)
    remark("Sit at the front.")
    text("Figure 1: from the paper", style={"fontSize": "80%"})


def dot_products():
    text("## Dot products")
    text("A query $q$ is compared with keys $k_1, \\dots, k_n$:")
    text("$$\\alpha_i = \\frac{\\exp(q \\cdot k_i / \\sqrt{d})}{\\sum_j \\exp(q \\cdot k_j / \\sqrt{d})}$$")
    text("The output is a weighted mean of the values: $\\sum_i \\alpha_i v_i$.")
    q = [1.0, 0.0]  # @inspect q
    k = [[1.0, 0.0], [0.0, 1.0]]  # @inspect k
    scores = [sum(a * b for a, b in zip(q, row)) for row in k]  # @inspect scores
    text("The larger score belongs to the key that points the same way.")
    best = max(scores)  # @inspect best
    text(f"It is {best}.")
    text("Note: <font color='red'>without</font> the division by $\\sqrt{d}$ the softmax saturates.")


def cost():
    text("## Cost")
    text("For $n$ positions of $d$ dimensions:")
    text("| part | multiplications |\n| --- | --- |\n| scores | $n^2 d$ |\n| mean | $n^2 d$ |")
    n, d = 1024, 64
    scores = n * n * d  # @inspect scores
    mean = n * n * d  # @inspect mean
    total = scores + mean  # @inspect total
    text(f"Together {total:,}.")
    text("In code:")
    text("weights = softmax(q @ k.T)\nout = weights @ v\n\nreturn out", verbatim=True)
    text("**Summary**")
    text("- quadratic in $n$")
    text("- all of it matrix products")
