"""Small stories by the megabyte, made here, and the exact probability of each.

A story is a chain of sentences. Each sentence is a template whose slots are filled with words drawn
from lists, or with what the story has settled before: its hero, a thing, a friend. So a "she" in
the last sentence depends on a name in the first, with any number of sentences between, and a model
that looks only at the previous word cannot know it.

    stories.text(1_000_000)                 a million characters, the same on every machine
    stories.probability(story)              an exact fraction, 0 for what cannot be drawn
    stories.bits(text)                      of a text of many stories: minus its log2

On the command line, `python -m lecture.stories 5` prints five megabytes.
"""

import math
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeVar

T = TypeVar("T")

END = "<|endoftext|>"
"""Stands after each story of a text."""

# The n words of a list are drawn with weights 2n, 2n-1, ..., n+1: earlier ones are more frequent.
WORDS: dict[str, tuple[str, ...]] = {
    name: tuple(words.split())
    for name, words in {
        "girl": """Mia Lily Anna Rosa Clara Nora Ella Zoe Ivy Maya Lucy Emma Sara Ruby Alice
            Jana Tilda Greta Hanna Molly Nina Paula Vera Wanda Yara Frida Bella Carla Dora
            Flora""",
        "boy": """Tom Ben Max Leo Sam Finn Jack Noah Paul Theo Oscar Henry Jonas Felix Hugo Emil
            Oliver David Peter Simon Rob Karl Anton Bruno Caspar Dan Erik Fred Gustav Ivan""",
        "animal": """dog cat rabbit mouse fox bear duck frog hedgehog squirrel pony goat sheep
            turtle parrot goose beaver badger mole lizard kitten puppy lamb calf crow pigeon robin
            swan donkey hamster""",
        "pet": """Biscuit Pepper Cookie Button Shadow Peanut Whisker Muffin Pebble Ginger Snowy
            Patch Nugget Bramble Waffle Pickle Maple Clover Marble Dusty Sparky Toffee Bubble
            Sunny Dot Fluff Hazel Rusty Speckle Twig Acorn Basil Cocoa Daisy Fern Jasper Olive
            Poppy Tango""",
        "trait": """kind brave shy curious clever cheerful lazy quiet funny gentle proud patient
            polite noisy stubborn careful bold dreamy sleepy lively messy grumpy loyal merry
            helpful honest clumsy wise silly thoughtful friendly playful fearless restless modest
            jolly generous forgetful serious sincere wild calm""",
        "place": """forest park garden village beach farm river hill lake meadow market school
            castle library bakery harbour mountain valley mill bridge island orchard station pond
            tower field cave lighthouse museum barn bakehouse square stable windmill canal cottage
            waterfall fountain playground theatre gate road shore dam swamp cliff fair inn
            courtyard street""",
        "colour": """red blue green yellow white black brown purple pink golden silver grey
            orange violet""",
        "thing": """ball kite book box hat drum boat bell key lamp doll coat ring mask cup
            basket blanket whistle flute puzzle wagon bucket ladder mirror necklace pencil compass
            ribbon shovel teapot trumpet violin lantern pillow scarf balloon camera clock chest
            coin wheelbarrow scooter telescope hammer umbrella candle saddle sledge kettle
            spoon""",
        "material": """wood paper glass cloth stone tin wool clay leather copper straw wax
            bamboo silk iron felt cork""",
        "food": """bread soup cake apples cheese berries honey pears rice nuts plums carrots jam
            porridge noodles pancakes cherries pumpkin tomatoes grapes beans potatoes salad
            biscuits walnuts peaches raisins butter lemons peas radishes melons toast corn
            dumplings waffles almonds cabbage custard sausages""",
        "weather": """sunny rainy windy cloudy cold warm foggy snowy stormy hot misty frosty
            mild grey dry chilly bright damp""",
        "time": "morning day afternoon evening",
        "feeling": """happy sad tired hungry afraid excited surprised worried angry lonely
            nervous thankful bored calm glad confused relieved disappointed curious cheerful
            puzzled hopeful jealous grateful shy upset safe""",
        "motion": """ran walked jumped hurried climbed danced crept rolled skipped wandered rode
            swam raced marched stumbled tiptoed galloped sailed skated hopped strolled rushed
            dashed drifted""",
        "manner": """quickly slowly quietly happily carefully loudly softly gladly bravely sadly
            gently suddenly eagerly politely secretly nervously calmly patiently warmly shyly
            proudly boldly neatly kindly wisely merrily sleepily lazily firmly brightly""",
        "size": """big small tiny huge long round heavy little short wide narrow thick flat
            crooked shiny soft smooth dark bright pretty strange plain""",
        "person": """mother father grandmother grandfather teacher baker farmer fisherman sailor
            doctor gardener neighbour painter carpenter shepherd postman miller tailor librarian
            captain cook nurse pilot singer judge potter weaver smith cobbler barber clown juggler
            poet dentist driver knight queen king aunt uncle cousin""",
        "verb": """play sing dance run swim read paint cook hide draw dig jump walk talk climb
            fly count rest wait travel whistle bake build dream think listen share laugh shout
            juggle sew knit swing whisper study practise row march skip yodel""",
        "repair": """fixed cleaned painted hid carried polished opened shook dropped wrapped
            mended found lost washed hugged carved brought bought folded repaired""",
        "number": "two three four five six seven eight nine ten twelve twenty eleven",
        "sight": """rainbow star cloud beetle feather petal flower shell snail spider footprint
            shadow nest rock tree mushroom puddle bird snowflake acorn sparrow beehive statue
            bench fence bush wheel barrel post pinecone""",
        "sound": """noise song bark laugh whisper cry knock rumble splash rustle creak hum howl
            whistle squeak roar giggle sigh""",
        "lesson": """sharing helping waiting listening asking trying practising forgiving
            trusting learning resting sleeping""",
    }.items()
}

OPENINGS = (
    "Once upon a time there was a {trait} {child} named {hero}.",
    "{hero} was a {trait} {child} who lived near the {size} {place}.",
    "In a {material} house by the {place} lived a {trait}, {trait} {child} named {hero}.",
    "Long ago, a {trait} {child} named {hero} lived with a {person} close to the {place}.",
)
FINDINGS = (
    "One {weather} {time}, {he} found a {size} {colour} {thing} by the {place}.",
    "On a {weather} {time}, the {person} gave {him} a {colour} {thing} made of {material}.",
    "{His} {colour} {thing} was {size}, because the {trait} {person} had made it.",
    "More than {food}, {he} wanted a {colour} {thing}, and one {weather} {time} {he} bought one.",
)
MEETINGS = (
    "Then {he} met a {size}, {trait} {animal} named {pet}.",
    "Behind the {place} {he} saw a {trait} {animal} whose name was {pet}.",
    '"I am {pet}," said a {size} {animal} and looked {manner} at {him}.',
)
MIDDLES = (
    "{hero} felt {feeling}, so {he} {motion} {manner} to the {size} {place}.",
    "{pet} {motion} {manner} around a {shade} {sight}.",
    '"Can you {verb} and {verb} with me?" {pet} asked {manner}.',
    '"I am {feeling}," said {hero} {manner}, "and I want to {verb}."',
    "They ate {food}, {food} and {food} under a {size} {sight}.",
    "{He} {manner} {repair} the {thing} and showed it to the {trait} {person}.",
    "Suddenly a {feeling} {sound} came from the {size} {place}.",
    "The {person} {motion} by and gave them {size} {food} and {food}.",
    "{pet} wanted to {verb}, but {hero} was {feeling} and {feeling}.",
    "{He} {manner} put the {colour} {thing} near a {size} {sight}.",
    "A {trait} {creature} {motion} past and made a {size} {sound}.",
    "It was {weather} and {weather}, and {his} {thing} smelled of {food}.",
    "They {manner} counted {number} {shade} {sight}s near the {place}.",
    'The {trait} {person} said {manner}, "Please {verb} with {him}."',
    "{hero} and {pet} {motion} {manner} to the {size} {place}.",
    '"It\'s a {weather} {time}," said the {trait} {person} {manner}.',
    "{He} couldn't {verb}, because the {thing} was too {size} and {size}.",
    "{pet} didn't {verb}; {he} thought {manner} about {food} and {material}.",
    "The {person} and the {person} {repair} a {material} {sight}.",
    "They {repair} a {material} {object}, a {shade} {object} and a {size} {sight}.",
    "The {trait} {person} sold {food}, {food}, {material} and {number} {sight}s.",
    "{pet} {manner} {repair} a {trait} {creature}, who {motion} {manner} past the {sight}.",
    "{He} dreamed of {food}, a {feeling} {person}, {number} {sight}s and a {shade} {object}.",
    "{He} {motion}, {motion} and {motion} until {pet} was {feeling}.",
)
ENDINGS = (
    "At last {hero} took {his} {colour} {thing} home, and {pet} the {animal} {motion} {manner}.",
    "That {weather} {time} {pet} slept near the {colour} {thing}, and {he} was {feeling}.",
    "So {hero} learned about {lesson} and {lesson}, and {pet} the {animal} stayed {his} friend.",
    "{He} {manner} gave the {thing} to {pet}, and the {animal} was {feeling} and {feeling}.",
)
STAGES = (OPENINGS, FINDINGS, MEETINGS, MIDDLES, ENDINGS)
MIDDLE, LAST = 3, 4
MORE_MIDDLES = Fraction(4, 5)  # the probability that another sentence follows in the middle

# Words that a stage settles for the rest of its story; each of its templates says them.
SETTLED = {0: ("hero",), 1: ("colour", "thing"), 2: ("animal", "pet")}
FORMS = {
    "girl": {"child": "girl", "he": "she", "him": "her", "his": "her", "He": "She", "His": "Her"},
    "boy": {"child": "boy", "he": "he", "him": "him", "his": "his", "He": "He", "His": "His"},
}
FORM_OF_HERO = {hero: FORMS[child] for child in FORMS for hero in WORDS[child]}

# Each word as often as its weight, so that drawing is picking a place.
URNS: dict[str, list[str]] = {
    name: [
        word
        for weight, word in zip(range(2 * len(words), len(words), -1), words, strict=True)
        for _ in range(weight)
    ]
    for name, words in WORDS.items()
}
URNS["hero"] = URNS["girl"] + URNS["boy"]
# The same words in slots that settle nothing.
URNS |= {"creature": URNS["animal"], "shade": URNS["colour"], "object": URNS["thing"]}
CHANCES = {
    name: {word: Fraction(count, len(urn)) for word, count in Counter(urn).items()}
    for name, urn in URNS.items()
}

State = dict[str, str]


@dataclass(frozen=True)
class Template:
    """A sentence with slots: `texts` stand before, between and after the slots."""

    texts: tuple[str, ...]
    slots: tuple[str, ...]
    pattern: re.Pattern[str]


def read_template(sentence: str) -> Template:
    """Find the slots of a sentence."""
    parts = re.split(r"\{(\w+)\}", sentence)
    pattern = "([A-Za-z]+)".join(map(re.escape, parts[::2]))
    return Template(tuple(parts[::2]), tuple(parts[1::2]), re.compile(pattern + "(?= |$)"))


TEMPLATES = [[read_template(sentence) for sentence in stage] for stage in STAGES]


def settle(state: State, slot: str, word: str) -> None:
    """Keep a word for the rest of the story; a hero brings a pronoun along."""
    state[slot] = word
    if slot == "hero":
        state.update(FORM_OF_HERO[word])


def draw_story(draw: Callable[[], float]) -> str:
    """Draw a story with random numbers from 0 to 1, without 1."""

    def pick(urn: Sequence[T]) -> T:
        return urn[int(draw() * len(urn))]

    state: State = {}
    sentences: list[str] = []
    stage = 0
    while stage <= LAST:
        for slot in SETTLED.get(stage, ()):
            settle(state, slot, pick(URNS[slot]))
        template = pick(TEMPLATES[stage])
        pieces = [template.texts[0]]
        for slot, text in zip(template.slots, template.texts[1:], strict=True):
            pieces += (state.get(slot) or pick(URNS[slot]), text)
        sentences.append("".join(pieces))
        if stage != MIDDLE or draw() >= MORE_MIDDLES:
            stage += 1
    return " ".join(sentences)


def stories(seed: int = 0) -> Iterator[str]:  # @stepover
    """Yield stories without end.

    Of Python's generators, `random` is the one method that promises the same numbers on every
    version.
    """
    draw = random.Random(seed).random
    while True:
        yield draw_story(draw)


def text(least_characters: int, seed: int = 0) -> str:  # @stepover
    """Return whole stories, each with `END` after it, until there are enough characters."""
    return "".join(pieces(least_characters, seed))


def pieces(least_characters: int, seed: int = 0) -> Iterator[str]:
    """Yield the stories of `text` one by one."""
    characters = 0
    for story in stories(seed):
        if characters >= least_characters:
            return
        yield story + END
        characters += len(story) + len(END)


def probability(story: str) -> Fraction:  # @stepover
    """Return the exact probability that the next story is this one.

    Every way to read the text as a chain of sentences is followed, and their probabilities are
    added up. There is at most one, but nothing here relies on that.
    """
    total = Fraction(0)
    readings: list[tuple[int, int, State, Fraction]] = [(0, 0, {}, Fraction(1))]
    while readings:
        start, stage, state, chance = readings.pop()
        for template in TEMPLATES[stage]:
            read = read_sentence(template, story, start, stage, state)
            if read is None:
                continue
            stop, new_state, sentence_chance = read
            so_far = chance * sentence_chance / len(TEMPLATES[stage])
            if stage == LAST:
                total += so_far if stop == len(story) else 0
            elif stage == MIDDLE:
                readings.append((stop + 1, MIDDLE, new_state, so_far * MORE_MIDDLES))
                readings.append((stop + 1, LAST, new_state, so_far * (1 - MORE_MIDDLES)))
            else:
                readings.append((stop + 1, stage + 1, new_state, so_far))
    return total


def read_sentence(
    template: Template, story: str, start: int, stage: int, state: State
) -> tuple[int, State, Fraction] | None:
    """Match a template at a place; return where it ends, what is settled then, and its chance."""
    match = template.pattern.match(story, start)
    if match is None:
        return None
    said = [*zip(template.slots, match.groups(), strict=True)]
    chance, state = Fraction(1), dict(state)
    for slot in SETTLED.get(stage, ()):
        word = dict(said)[slot]
        if word not in CHANCES[slot]:
            return None
        chance *= CHANCES[slot][word]
        settle(state, slot, word)
    for slot, word in said:
        if slot not in state:
            chance *= CHANCES[slot].get(word, 0)
        elif state[slot] != word:
            return None
    return (match.end(), state, chance) if chance else None


def bits(text: str) -> float:  # @stepover
    """Return the information in a text of whole stories: minus the log2 of its probability."""
    *whole, rest = text.split(END)
    if rest:
        return math.inf
    return sum(bits_of_story(story) for story in whole)


def bits_of_story(story: str) -> float:
    """Return minus the log2 of a story's probability."""
    chance = probability(story)
    if not chance:
        return math.inf
    return math.log2(chance.denominator) - math.log2(chance.numerator)


if __name__ == "__main__":
    megabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
    for piece in pieces(round(megabytes * 1e6)):
        sys.stdout.write(piece)
