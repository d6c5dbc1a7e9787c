from collections import Counter

from edtrace import Reference, image, link, note, text

shannon1948 = Reference(
    title="A Mathematical Theory of Communication",
    authors=["Claude Shannon"],
    date="1948-07",
    url="https://example.org/shannon",
)


def main():
    text("# Lecture 1: counting pairs")
    text("Last time: why language is predictable.")
    text("This time: the simplest model that can be trained.")

    motivation()
    counts()
    probabilities()
    sampling()
    summary()


def motivation():
    text("## Why start with pairs?")
    text("- A model of language assigns a probability to every string.")
    text("- Its parameters must be estimated from **data**.")
    text("- The number of strings grows as $V^n$.")
    text("The chain rule: $p(x_{1:n}) = \\prod_{i=1}^n p(x_i \\mid x_{1:i-1})$")
    text("Markov assumption: $p(x_i \\mid x_{1:i-1}) \\approx p(x_i \\mid x_{i-1})$")
    text("This goes back to "), link(shannon1948), text(".")
    image("stairs.svg", width=400)
    note("Ask who has read the paper.")


def counts():
    text("## Counting")
    text("Let us take a short corpus.")
    corpus = "the cat sat on the mat"  # @inspect corpus
    words = corpus.split()  # @inspect words
    text("Each pair of neighbours is counted:")
    pairs = list(zip(words, words[1:]))  # @inspect pairs
    counts = Counter(pairs)  # @inspect counts
    text(f"There are {len(pairs)} pairs, {len(counts)} of them different.")
    text("Observations:")
    text("- Most pairs occur once.")
    text("- Most possible pairs occur never.")
    text("- That is *sparsity*.")


def probabilities():
    text("## Probabilities")
    text("$$p(b \\mid a) = \\frac{n(a, b)}{\\sum_{b'} n(a, b')}$$")
    text("The set of words is $\\\\{\\text{the}, \\text{cat}, \\dots\\\\}$.")
    n_the, n_the_cat = 2, 1
    p = n_the_cat / n_the  # @inspect p
    text(f"So $p = {p}$, that is {p:.0%}.")
    text("What if a pair was never seen?")
    text("1. Add one to each count.")
    text("2. Back off to single words.")
    text("3. Interpolate.")


def sampling():
    text("## Sampling")
    text("Take the most likely successor, again and again.")
    word, sentence = "the", []
    followers = {"the": "cat", "cat": "sat", "sat": "on", "on": "the"}
    for _ in range(5):
        sentence.append(word)
        word = followers[word]  # @inspect word
    text("The result is " + " ".join(sentence) + ".")
    text("It repeats itself: `the cat sat on the`.")


def summary():
    text("## Summary")
    text("- Counting is training.")
    text("- Normalised counts are probabilities.")
    text("- Next time: **neural** models.")
