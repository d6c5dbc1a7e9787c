"""The stories: the same everywhere, and their probabilities exact."""

import hashlib
import itertools
import math
import random
import re
import subprocess
import sys
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

from lecture import stories

ROOT = Path(__file__).parent.parent


def test_the_same_bytes_on_every_python():
    text = stories.text(100_000)
    assert text.isascii()
    assert hashlib.sha256(text.encode()).hexdigest() == (
        "d2026bef1e9cf593fbdbbb07f060d6b779b9c7ba324fbca60ae7b9ea3ea87cb9"
    )
    assert text.startswith("Long ago, a stubborn boy named Peter lived with a sailor")


def test_the_command_prints_the_same_stories_with_nothing_installed():
    command = [sys.executable, "-S", "-m", "lecture.stories", "0.1"]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    assert printed == stories.text(100_000).encode()


def test_seeds_differ_and_longer_texts_continue_shorter_ones():
    short, long = stories.text(2_000), stories.text(5_000)
    assert 2_000 <= len(short) < 5_000 <= len(long)
    assert long.startswith(short)
    assert short.endswith(stories.END)
    assert stories.text(2_000, seed=1) != short
    assert stories.text(0) == ""


def test_there_are_many_words():
    assert len(set(re.findall(r"[A-Za-z']+", stories.text(1_000_000)))) >= 500


def test_a_word_carries_more_than_two_bits():
    text = stories.text(300_000, seed=5)
    words = text.replace(stories.END, " ").split()
    assert stories.bits(text) / len(words) > 2.1


def test_every_story_that_is_drawn_can_be_read():
    for story in itertools.islice(stories.stories(seed=3), 300):
        assert 0 < stories.probability(story) < Fraction(1, 2**60)


def test_every_template_says_what_its_stage_settles_and_reads_back():
    for stage, templates in enumerate(stories.TEMPLATES):
        for template in templates:
            assert set(stories.SETTLED.get(stage, ())) <= set(template.slots)


def test_a_probability_by_hand():
    hero, colour, thing, animal, pet = "Mia", "red", "ball", "dog", "Biscuit"
    story = (
        f"Once upon a time there was a kind girl named {hero}. "
        f"One sunny morning, she found a big {colour} {thing} by the forest. "
        f"Then she met a big, kind {animal} named {pet}. "
        f"{pet} ran quickly around a red rainbow. "
        f"She quickly gave the {thing} to {pet}, and the {animal} was happy and happy."
    )
    lists = stories.WORDS

    def first(name):
        """The chance of the first of n words: 2n / (2n + ... + (n + 1))."""
        n = len(lists[name])
        return Fraction(2 * n, sum(range(n + 1, 2 * n + 1)))

    settled = [first("girl") / 2, first("colour"), first("thing"), first("animal"), first("pet")]
    free = ["trait", "weather", "time", "size", "place", "size", "trait", "motion", "manner"]
    free += ["colour", "sight", "manner", "feeling", "feeling"]
    templates = [Fraction(1, len(stage)) for stage in stories.STAGES]
    expected = math.prod([*settled, *map(first, free), *templates]) * Fraction(1, 5)
    assert stories.probability(story) == expected


# a change to a story -> whether it is still one
CHANGES = [
    ((" she ", " he "), False),
    (("big red ball", "big blue ball"), False),
    (("One sunny", "One rainy"), True),
    (("near the red ball", "near the red kite"), False),
    (("named Biscuit", "named Pepper"), False),
    (("kind girl", "kind boy"), False),
    (("kind girl", "green girl"), False),
    (("happy.", "happy. "), False),
    (("happy.", "happy"), False),
    (("Biscuit ran quickly around a red rainbow. ", ""), False),
    (("Then she", "Then  she"), False),
]


@pytest.mark.parametrize(("change", "possible"), CHANGES)
def test_what_cannot_be_drawn_has_no_probability(change, possible):
    story = (
        "Once upon a time there was a kind girl named Mia. "
        "One sunny morning, she found a big red ball by the forest. "
        "Then she met a big, kind dog named Biscuit. "
        "Biscuit ran quickly around a red rainbow. "
        "That sunny morning Biscuit slept near the red ball, and she was happy."
    )
    assert stories.probability(story) > 0
    assert change[0] in story
    assert (stories.probability(story.replace(*change)) > 0) is possible


@pytest.mark.parametrize("text", ["", " ", "a", "Long ago, ", "é\0"])
def test_any_text_has_a_probability(text):
    assert stories.probability(text) == 0


def test_the_bits_of_a_text_are_those_of_its_stories():
    one, two = itertools.islice(stories.stories(), 2)
    end = stories.END
    parts = stories.bits(one + end), stories.bits(two + end)
    assert math.isclose(stories.bits(one + end + two + end), sum(parts))
    assert math.isclose(2 ** -parts[0], stories.probability(one), rel_tol=1e-9)
    assert stories.bits(one) == math.inf, "it has not ended"
    assert stories.bits(one + "x" + end) == math.inf
    assert stories.bits("") == 0


def test_probabilities_are_frequencies():
    """Openings, whose probabilities are large enough to be counted."""
    openings = Counter(
        story.partition(" named ")[2].partition(".")[0].split()[0]
        for story in itertools.islice(stories.stories(seed=9), 20_000)
        if story.startswith("Once upon a time")
    )
    total = sum(openings.values())
    assert abs(total / 20_000 - 1 / 4) < 0.01
    for name, chance in stories.CHANCES["hero"].items():
        assert abs(openings[name] / total - chance) < 0.012


def test_agreement_is_beyond_a_bigram():
    """Swapping she and he leaves every pair of neighbours as it can occur, and no story."""
    text = stories.text(500_000)
    pairs = {
        pair for story in text.split(stories.END) for pair in itertools.pairwise(story.split())
    }
    found = 0
    for story in itertools.islice(stories.stories(seed=77), 200):
        words = story.split()
        swap = {"she": "he", "he": "she"}
        place = next((n for n, word in enumerate(words) if word in swap), None)
        if place is None:
            continue
        words[place] = swap[words[place]]
        if all(pair in pairs for pair in itertools.pairwise(words[place - 1 : place + 2])):
            found += 1
            assert stories.probability(" ".join(words)) == 0
    assert found > 50


def test_the_exact_model_beats_the_best_bigram():
    """A bigram model that has seen the very text it is judged on still knows less."""
    text = stories.text(400_000, seed=2)
    words = text.replace(stories.END, f" {stories.END} ").split()
    followers, firsts = Counter(itertools.pairwise(words)), Counter(words[:-1])
    bigram_bits = -sum(
        count * math.log2(count / firsts[first]) for (first, _), count in followers.items()
    )
    assert bigram_bits > 1.3 * stories.bits(text)


def test_the_generator_draws_only_with_what_python_promises():
    class OnlyRandom(random.Random):
        def getrandbits(self, k):
            raise AssertionError

    generator = OnlyRandom(0)
    assert stories.draw_story(generator.random) == next(stories.stories(0))
