from edtrace import Reference, image, link, note, text

course = Reference(title="The course", organization="A university", date="2026", url="https://example.org")


def main():
    text("# Overview of the course")
    text("Welcome!")
    text("This is a lecture that is a program; it runs while you read.")
    text("You can:")
    text("- step forwards and backwards,")
    text("- look at every value,")
    text("- jump to where something is defined.")

    text("## Why this course")
    why()
    text("## What is in it")
    contents()
    text("## How it works")
    logistics()


def why():
    text("Problem: people lose touch with the machinery.")
    text("- 2016: everybody trained their own models.")
    text("- 2018: everybody fine-tuned BERT.")
    text("- Today: everybody prompts.")
    text("Abstractions are useful, but they *leak*.")
    text("There are 3 kinds of knowledge:")
    text("- **Mechanics**: how things work")
    text("- **Mindset**: take scaling seriously")
    text("- **Intuitions**: which decisions are good")
    text("We can teach the first two.")
    image("stairs.svg", width=800)
    text("*Bitter lesson*: what matters is what scales.")
    text("accuracy = efficiency x resources")
    text("Wrong reading: scale is all that matters, algorithms do not.")
    text("Right reading: algorithms that scale are what matters.")


def contents():
    text("### Basics")
    text("Components: tokenizer, model, training.")
    text("Goal: a version that runs from end to end.")
    tokenization()
    architecture()
    text("### Systems")
    text("Kernels, parallelism, inference.")
    text("### Scaling laws")
    text("Do experiments at small scale, predict at large scale.")
    text("### Data")
    text("Evaluation, curation, processing.")


def tokenization():
    text("#### Tokenization")
    text("Strings to integers and back.")
    string = "Hello, world"  # @inspect string
    indices = [72, 101]  # @inspect indices
    text("Byte pair encoding: frequent pairs become one.")
    text("Without tokens? "), link(title="bytes", url="https://example.org/byt5"), text(", "), link(title="patches", url="https://example.org/mega")


def architecture():
    text("#### Architecture")
    text("Starting point: the original Transformer.")
    text("Variants:")
    text("- Activations: ReLU, SwiGLU")
    text("- Positions: sinusoidal, rotary")
    text("- Norms: LayerNorm, RMSNorm")
    text("- Placement: before, after")
    text("- Attention: full, sliding, linear")
    text("Formula of the norm: $\\frac{x}{\\sqrt{\\frac{1}{d} \\sum_i x_i^2 + \\epsilon}} \\odot g$")


def logistics():
    text("All of it is on "), link(course), text(".")
    text("- 5 assignments")
    text("- no scaffolding")
    text("- unit tests")
    text("Rules of *collaboration*: groups are fine, copying is not.")
    note("Say when the office hours are.")
    text("AI tools: use them to understand, not to submit.")
    text("See you on Thursday!")
