from edtrace import image, link, note, text, video


def main():
    text("# Alignment")
    text("From a model of text to an assistant.")
    text("## Demonstrations"), text("Supervised fine-tuning on dialogues:")
    text("- Prompt: *What is a monoid?*")
    text("- Response: *A set with ...*")
    text("<mark>Quality matters more than quantity.</mark>")
    image("stairs.svg", width=200), image("stairs.svg", width=200)
    text("Line one<br>line two")
    preferences()
    reward_models()
    hacking()


def preferences():
    text("## Preferences")
    text("1. Sample two responses.")
    text("2. Ask which one is better.")
    text("   - people disagree in a third of all cases")
    text("   - they like long answers")
    text("3. Train on the answers.")
    text("Bradley and Terry: $p(a \\succ b) = \\sigma(r_a - r_b)$")
    r_a, r_b = 2.0, 1.0  # @inspect r_a r_b
    import math
    p = 1 / (1 + math.exp(r_b - r_a))  # @inspect p
    text("A difference of one gives 73 %.")
    note("Derive it on the board if there is time.")


def reward_models():
    text("## Reward models")
    text("A model that gives each response a number.")
    text("- initialised from the fine-tuned model")
    text("- one linear layer on top")
    text("Costs: "), text("a second model in memory")
    text("The objective:")
    text(r"$$\max_\pi \mathbb{E}[r(x, y)] - \beta \, \text{KL}(\pi \,\|\, \pi_0)$$")
    text("Steps of a loop:"); text("- sample"); text("- score"); text("- update")
    text("## Code", verbatim=False)


def hacking():
    text("## Hacking")
    text("What can go wrong?")
    for problem in ["length", "flattery", "lists"]:
        text("A model learns " + problem + ".")
    text("Proxies break when optimised: *Goodhart's law*.")
    text("Mitigations")
    text("- a penalty")
    text("- ensembles")
    text("- *fresh* data")
    text("[a talk](https://example.org/talk) says more")
    text("Thanks to everyone who marked up answers!")
