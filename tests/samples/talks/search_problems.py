from dataclasses import dataclass, field

from edtrace import image, link, text

from lecture_util import article_link


@dataclass(frozen=True)
class Step:
    action: str
    cost: float
    state: int


def main():
    text("# Search")
    text("Given a problem, find the sequence of actions of the least cost.")
    modelling()
    exhaustive()
    dynamic_programming()
    text("## Summary")
    text("- A **search problem** has a start, successors and an end.")
    text("- The algorithms do not depend on the problem.")


def modelling():
    text("### Modelling")
    text("We travel from block 1 to block $n$.")
    text("- Walking from $i$ to $i+1$ costs 1.")
    text("- The tram from $i$ to $2i$ costs 2.")
    text("How long does it take?")
    image("stairs.svg", width=300), text("A picture of the streets")
    text("Here is the problem as a class:")
    problem = TravelProblem(6)  # @inspect problem.num_blocks
    start = problem.start()  # @inspect start
    steps = problem.successors(start)  # @inspect steps
    text("A state must hold all that matters for the future.")  # @clear steps
    text("More on the history: "), article_link("https://example.org/search")


class TravelProblem:
    def __init__(self, num_blocks):
        self.num_blocks = num_blocks

    def start(self):
        return 1

    def successors(self, state):  # @inspect state
        steps = []
        if state + 1 <= self.num_blocks:
            steps.append(Step("walk", 1, state + 1))
        if 2 * state <= self.num_blocks:
            steps.append(Step("tram", 2, 2 * state))
        return steps

    def is_end(self, state):
        return state == self.num_blocks


def exhaustive():
    text("### Exhaustive search")
    text("Try every path. For each:")
    text("- remember its cost,")
    text("- keep the best.")
    problem = TravelProblem(4)
    best = explore(problem, 1, 0)  # @inspect best @stepover
    text("The time is **exponential** in the number of blocks.")
    text("The space is linear.")
    text("Can we do better?")


def explore(problem, state, cost):
    if problem.is_end(state):
        return cost
    return min(explore(problem, s.state, cost + s.cost) for s in problem.successors(state))


def dynamic_programming():
    text("### Dynamic programming")
    text("**Key idea**: the future cost depends on the state alone.")
    text("$$\\text{FutureCost}(s) = \\min_a [\\text{Cost}(s, a) + \\text{FutureCost}(\\text{Succ}(s, a))]$$")
    cache = {}
    cost = future_cost(TravelProblem(6), 1, cache)  # @inspect cost cache
    text("Every state is computed once.")  # @clear cache
    text("Assumption: the graph has no cycles.")
    if cost > 4:
        text("The tram was worth it.")
    else:
        text("Walking alone would have cost 5.")
    text("Back to "), link(modelling), text(" for the definition.")


def future_cost(problem, state, cache):  # @inspect state
    if problem.is_end(state):
        return 0
    if state not in cache:
        cache[state] = min(  # @stepover
            step.cost + future_cost(problem, step.state, cache)
            for step in problem.successors(state)
        )
    return cache[state]
