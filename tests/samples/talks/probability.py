import random

from edtrace import graph, link, make_graph, plot, text


def main():
    text("# Probability")
    random.seed(0)
    coins()
    bayes()
    expectation()


def coins():
    text("## Coins")
    text("Toss a coin ten times.")
    tosses = [random.randint(0, 1) for _ in range(10)]  # @inspect tosses
    heads = sum(tosses)  # @inspect heads
    text(f"{heads} heads, {10 - heads} tails.")
    text("The probability of $k$ heads is $\\binom{n}{k} p^k (1-p)^{n-k}$.")
    text("Which $k$ is the most likely?"), text(" Five.")


def bayes():
    text("## Bayes' rule")
    text("$p(h \\mid e) = \\frac{p(e \\mid h) p(h)}{p(e)}$")
    graph(make_graph([{"id": "h"}, {"id": "e"}], [{"source": "h", "target": "e"}]))
    prior = 0.01  # @inspect prior
    likelihood = 0.9  # @inspect likelihood
    evidence = likelihood * prior + 0.1 * (1 - prior)  # @inspect evidence
    posterior = likelihood * prior / evidence  # @inspect posterior
    text("A test that is right nine times out of ten,")
    text("a disease of one in a hundred:")
    text(f"the posterior is only {posterior:.1%}.")
    text("**Base rates** matter.")
    text("- Most people are healthy.")
    text("- So most positive tests are wrong.")  # @clear prior likelihood


def expectation():
    text("## Expectation")
    text("$\\mathbb{E}[X] = \\sum_x x \\, p(x)$")
    text("Of a die:")
    mean = sum(range(1, 7)) / 6  # @inspect mean
    text("It is linear:")
    text("- $\\mathbb{E}[X + Y] = \\mathbb{E}[X] + \\mathbb{E}[Y]$")
    text("- *even if* $X$ and $Y$ depend on each other.")
    while mean > 3:
        text("A loop that only ran once.")
        mean -= 1  # @inspect mean
    text("Homework:")
    text("1. variance,")
    text("2. covariance,")
    text("3. "), link("https://example.org/dice", title="dice that beat each other")
