"""Learning merges: byte pair encoding, first plain, then fast, each step measured."""

import heapq
import itertools
import math
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import regex

from lecture import stories
from lecture.lib.pairs import Pair, merge
from lecture.lib.timing import fastest_seconds
from lecture.part2_text import m03_figures as figures
from lecture.tokenizer import Tokenizer, counting
from lecture.tokenizer.merging import learn_merges
from lecture.tokenizer.splitting import PATTERNS, Splitter

Words = dict[str, list[bytes]]


@dataclass
class Work:
    """What a trainer does, in operations: the same numbers on every machine."""

    counted: int = 0
    """Pairs added to a count or taken off it."""
    compared: int = 0
    """Pairs compared with another to find the most frequent."""
    searched: int = 0
    """Pairs looked at in the search for the one to merge."""

    def total(self) -> int:  # @stepover
        return self.counted + self.compared + self.searched


def count_words(texts: Iterable[str]) -> Counter[str]:  # @stepover
    """Count the words of texts as GPT-2 cuts them."""
    pattern = regex.compile(PATTERNS["gpt2"])
    return Counter(word for text in texts for word in pattern.findall(text))


def hundred_stories(seed: int = 0) -> Counter[str]:  # @stepover
    """Count the words of a hundred stories."""
    word_counts = count_words(itertools.islice(stories.stories(seed), 100))
    assert (len(word_counts), word_counts.total()) == (765, 11_636)
    return word_counts


def in_bytes(word_counts: Mapping[str, int]) -> Words:
    """Spell every word in tokens of one byte."""
    return {word: [bytes([value]) for value in word.encode()] for word in word_counts}


def count_pairs(words: Words, word_counts: Mapping[str, int], work: Work) -> Counter[Pair]:
    """Count the pairs of neighbours, each as often as its word occurs."""
    pair_counts: Counter[Pair] = Counter()
    for word, tokens in words.items():
        for pair in itertools.pairwise(tokens):
            pair_counts[pair] += word_counts[word]
            work.counted += 1
    return pair_counts


def most_frequent(pair_counts: Mapping[Pair, int], work: Work) -> Pair:
    """Return the pair with the largest count and, among equals, the largest pair."""
    work.compared += len(pair_counts)
    return max(pair_counts, key=lambda pair: (pair_counts[pair], pair))


def train_plainly(word_counts: Mapping[str, int], wanted_merges: int, work: Work) -> list[Pair]:
    """Count all pairs, merge the most frequent one everywhere, repeat."""
    words = in_bytes(word_counts)
    merges: list[Pair] = []
    for _ in range(wanted_merges):
        pair_counts = count_pairs(words, word_counts, work)
        merges.append(most_frequent(pair_counts, work))
        for word, tokens in words.items():
            words[word] = merge(tokens, merges[-1])
            work.searched += len(tokens) - 1
    return merges


def recount(
    pair_counts: Counter[Pair], tokens: list[bytes], times: int, work: Work
) -> None:  # @stepover
    """Add the pairs of a word to their counts; a negative number takes them off."""
    for pair in itertools.pairwise(tokens):
        pair_counts[pair] += times
        work.counted += 1
        if not pair_counts[pair]:
            del pair_counts[pair]


def train_incrementally(
    word_counts: Mapping[str, int], wanted_merges: int, work: Work
) -> list[Pair]:
    """Keep the counts, and count again only the words in which something was merged."""
    words = in_bytes(word_counts)
    pair_counts = count_pairs(words, word_counts, work)
    merges: list[Pair] = []
    for _ in range(wanted_merges):
        merges.append(most_frequent(pair_counts, work))
        for word, tokens in words.items():
            work.searched += len(tokens) - 1
            if merges[-1] in itertools.pairwise(tokens):
                words[word] = merge(tokens, merges[-1])
                recount(pair_counts, tokens, -word_counts[word], work)
                recount(pair_counts, words[word], word_counts[word], work)
    return merges


def index_pairs(words: Words) -> dict[Pair, set[str]]:  # @stepover
    """Return for each pair the words in which it occurs."""
    found: dict[Pair, set[str]] = {}
    for word, tokens in words.items():
        for pair in itertools.pairwise(tokens):
            found.setdefault(pair, set()).add(word)
    return found


def merge_indexed(
    words: Words, index: dict[Pair, set[str]], pair: Pair, work: Work
) -> dict[str, list[bytes]]:  # @stepover
    """Merge a pair in the words where it occurs; return how those were spelled before."""
    before = {}
    for word in sorted(index[pair]):
        work.searched += len(words[word]) - 1
        before[word] = words[word]
        words[word] = merge(words[word], pair)
        old, new = set(itertools.pairwise(before[word])), set(itertools.pairwise(words[word]))
        for lost in old - new:
            index[lost].remove(word)
        for gained in sorted(new - old):
            index.setdefault(gained, set()).add(word)
    return before


def train_indexed(word_counts: Mapping[str, int], wanted_merges: int, work: Work) -> list[Pair]:
    """Look up the words that hold the pair, and touch no others."""
    words = in_bytes(word_counts)
    pair_counts = count_pairs(words, word_counts, work)
    index = index_pairs(words)
    merges: list[Pair] = []
    for _ in range(wanted_merges):
        merges.append(most_frequent(pair_counts, work))
        before = merge_indexed(words, index, merges[-1], work)
        for word, tokens in before.items():
            recount(pair_counts, tokens, -word_counts[word], work)
            recount(pair_counts, words[word], word_counts[word], work)
    return merges


@dataclass(frozen=True)
class Offer:
    """A pair and the count it had. Smaller, which for a heap means sooner, is the larger one."""

    count: int
    pair: Pair
    work: Work

    def __lt__(self, other: "Offer") -> bool:  # @stepover
        self.work.compared += 1
        return (self.count, self.pair) > (other.count, other.pair)


def pop_live(heap: list[Offer], pair_counts: Mapping[Pair, int]) -> Pair:  # @stepover
    """Take the best offer whose count is still true; throw away those before it."""
    while True:
        offer = heapq.heappop(heap)
        if pair_counts.get(offer.pair) == offer.count:
            return offer.pair


def train_with_heap(word_counts: Mapping[str, int], wanted_merges: int, work: Work) -> list[Pair]:
    """Keep offers in a heap; when a count changes, add an offer and let the old one go stale."""
    words = in_bytes(word_counts)
    pair_counts = count_pairs(words, word_counts, work)
    index = index_pairs(words)
    heap = [Offer(count, pair, work) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    merges: list[Pair] = []
    for _ in range(wanted_merges):
        merges.append(pop_live(heap, pair_counts))
        before = merge_indexed(words, index, merges[-1], work)
        changed: set[Pair] = set()
        for word, tokens in before.items():
            recount(pair_counts, tokens, -word_counts[word], work)
            recount(pair_counts, words[word], word_counts[word], work)
            changed |= {*itertools.pairwise(tokens), *itertools.pairwise(words[word])}
        for pair in sorted(changed & pair_counts.keys()):
            heapq.heappush(heap, Offer(pair_counts[pair], pair, work))
    return merges


Trainer = Callable[[Mapping[str, int], int, Work], list[Pair]]
RUNGS: dict[str, Trainer] = {
    "plain": train_plainly,
    "incremental": train_incrementally,
    "indexed": train_indexed,
    "heap": train_with_heap,
}


SMALL = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
END = stories.END


def text_is_cut_before_merging():  # M3.1
    """Text is cut before anything is merged.

    With a token for each byte, texts are long. Which longer pieces should be tokens? *Byte pair
    encoding*, BPE, [joins pieces](#the_most_frequent_pair_is_merged) that often stand side by side.
    Left alone it would learn " dog." and " dog,", and join the end of one document to the start of
    the next. So the text is cut twice first, and nothing is ever merged across a cut.
    """
    uncut = {"the dog. a dog, my dog. our dog, dog. dog,": 1}
    learnt = [b"".join(pair) for pair in train_plainly(uncut, 5, Work())]  # @stepover
    assert learnt == [b"og", b"dog", b" dog", b" dog.", b" dog,"]
    text = f"It's 10 o'clock,{END}  said  the DOG."
    splitter = Splitter("gpt2", [END])
    # First at *special tokens*, which stand for something outside the text, such as its end.
    parts = [*splitter.parts(text)]  # @inspect parts
    assert parts == [("It's 10 o'clock,", END), ("  said  the DOG.", "")]
    # Then into words, by [the pattern of
    # GPT-2](https://github.com/openai/gpt-2/blob/master/src/encoder.py). A word is the end of a
    # contraction; or letters, or numbers, or other signs, with the space before them if there is
    # one; or white space. Of several spaces the last is left to what follows.
    pattern = PATTERNS["gpt2"]  # @inspect pattern
    words = [regex.findall(pattern, part) for part, _ in parts]  # @inspect words
    assert words[0] == ["It", "'s", " 10", " o", "'", "clock", ","]
    assert words[1] == [" ", " said", " ", " the", " DOG", "."]
    # Nothing is lost, and no special token is inside a word.
    assert END.join("".join(cut) for cut in words) == text
    assert not any(END in word for cut in words for word in cut)
    # From here on, where a word stood is forgotten, and how often it came is not.
    word_counts = count_words(part for part, _ in parts)
    assert sum(word_counts.values()) == sum(map(len, words)) == 13
    assert word_counts[" "] == 2


def letters_need_their_own_pattern():  # M3.1
    """Letters need their own pattern.

    The pattern speaks of letters, `\\p{L}`, and of numbers, `\\p{N}`. Python's module `re` knows
    neither. Will "a word character, but no digit and no underscore" do instead?
    """
    letter = regex.compile(r"\p{L}")
    almost = re.compile(r"[^\W\d_]")
    characters = [chr(number) for number in range(0x110000)]  # @stepover
    differing = {c for c in characters if bool(letter.match(c)) != bool(almost.match(c))}
    # Not quite. Superscripts, fractions and Roman numerals count as word characters, and they are
    # numbers, not letters. How many differ depends on the Unicode version of each module.
    assert all(number in differing for number in "²½Ⅷ")
    assert not any(other in differing for other in "aéж你2_ ")
    # In ASCII there is no difference.
    assert min(map(ord, differing)) > 127


def numbers_are_cut_by_three():  # M3.1
    """Numbers are cut by three.

    Do all tokenizers cut in the same way? [GPT-4](https://github.com/openai/tiktoken)'s pattern
    differs from GPT-2's in what it does with numbers, capitals and lines.
    """
    text = "IT'S 2048 dogs\n\n"
    older, newer = Splitter("gpt2").words(text), Splitter("gpt4").words(text)
    # GPT-2 knows contractions in small letters only, and takes any number whole. So it learns
    # tokens for frequent years and prices, and others come in pieces of all lengths.
    assert older == ["IT", "'", "S", " 2048", " dogs", "\n\n"]
    # GPT-4 cuts numbers after every three digits, and keeps no space with them. Of up to three
    # digits there are only 1 110 numbers, and each can have its token.
    assert newer == ["IT", "'S", " ", "204", "8", " dogs", "\n\n"]
    # From the left, though: 2048 is 204 and 8, where people write 2,048.
    assert f"{2048:,}".split(",") == ["2", "048"]


def the_most_frequent_pair_is_merged():  # M3.2
    """The most frequent pair is merged.

    Which pieces should a vocabulary have? [Byte pair
    encoding](https://arxiv.org/abs/1508.07909) starts with single bytes, and then again and again
    makes one new token of the two that stand side by side most often.
    """
    # Four words and how often each was seen. A word of three letters has two pairs of neighbours.
    words = in_bytes(SMALL)
    assert count_pairs(words, SMALL, Work()).total() == 5 * 2 + 2 * 4 + 6 * 5 + 3 * 5  # @stepover
    # At each step the pair that is there most often grows together, in all words at once: the
    # slider of the loop shows them. (`Work` counts operations, for later.)
    merges: list[Pair] = []
    work = Work()
    for _ in range(6):
        pair_counts = count_pairs(words, SMALL, work)
        merges.append(most_frequent(pair_counts, work))  # @inspect merges
        for word, tokens in words.items():
            words[word] = merge(tokens, merges[-1])
        spelled = figures.spelled_words(words, SMALL)  # @inspect spelled
    # Of nine words that end in "est", six are "newest" and three "widest". Why "st" came before
    # "es", which is there as often, is the next question.
    assert merges[:3] == [(b"s", b"t"), (b"e", b"st"), (b"o", b"w")]
    assert [b"".join(pair) for pair in merges[3:]] == [b"low", b"west", b"ne"]
    assert words["newest"] == [b"ne", b"west"]
    assert words["widest"] == [b"w", b"i", b"d", b"est"]
    # That is the whole trainer; the function does the same.
    assert train_plainly(SMALL, 6, Work()) == merges  # @stepover


def ties_need_a_rule():  # M3.2
    """Ties need a rule.

    What if two pairs are equally frequent? Either choice is as good, but programs that choose
    differently learn different vocabularies, in which the same id stands for different tokens.
    """
    # In "ab" and "ba", seen four times each, both pairs tie. This lecture takes the largest pair,
    # and compares byte strings as Python does: byte by byte, a beginning before what continues
    # it, and capitals before small letters.
    assert train_plainly({"ab": 4, "ba": 4}, 1, Work()) == [(b"b", b"a")]  # @stepover
    tied = [(b"a", b"b"), (b"a", b"ba"), (b"Z", b"zz")]
    assert most_frequent(Counter(tied), Work()) == (b"a", b"ba")  # @stepover
    # A common mistake: to leave it to the order in which pairs happen to be found. Turn the corpus
    # round, and the merges change.
    word_counts = {"ab": 4, "ba": 4}
    backwards = dict(reversed(word_counts.items()))
    chosen = set()
    for corpus in (word_counts, backwards):
        counts = count_pairs(in_bytes(corpus), corpus, Work())  # @stepover
        chosen.add(max(counts, key=lambda pair: counts[pair]))
    assert chosen == {(b"a", b"b"), (b"b", b"a")}


def a_vocabulary_is_bytes_merges_and_special_tokens():  # M3.2
    """A vocabulary is bytes, merges and special tokens.

    How many merges does it take to fill a vocabulary? Each makes one token, 256 were there before,
    and special tokens take a place without being learnt.
    """
    word_counts = count_words(itertools.islice(stories.stories(), 30))
    small = Tokenizer.train(itertools.islice(stories.stories(), 30), 500, [END])
    assert len(small) == 500
    assert small.merges == train_plainly(word_counts, 243, Work())  # @stepover
    assert len(small.vocabulary) == 256 + len(small.merges) + len(small.special_tokens)
    merges = {size: size - 256 - 1 for size in (500, 10_000, 32_000)}  # @inspect merges
    assert len(small.merges) == merges[500]
    # Training can stop early. When each word has become one token, there are no pairs left.
    full = Tokenizer.train("low low lower", len(small))
    assert len(full) == 256 + 5
    assert full.encode(" lower") == [full.vocabulary.index(b" lower")]


def measure_before_making_it_faster():  # M3.3
    """Measure before making it faster.

    The plain trainer is correct and slow. Which part of it is slow? Guesses about that are often
    wrong, so we ask it, in two ways: with a stopwatch, and by counting operations.
    """
    # A hundred stories have 765 different words, 11 636 in all.
    word_counts = hundred_stories()
    assert (len(word_counts), word_counts.total()) == (765, 11_636)
    words = in_bytes(word_counts)
    work, seconds = Work(), {}
    start = time.process_time()  # @timed
    pair_counts = count_pairs(words, word_counts, work)  # @stepover
    seconds["count"] = time.process_time() - start  # @timed
    middle = time.process_time()  # @timed
    best = most_frequent(pair_counts, work)  # @stepover
    seconds["choose"] = time.process_time() - middle  # @timed
    middle = time.process_time()  # @timed
    merged = {word: merge(tokens, best) for word, tokens in words.items()}  # @stepover
    seconds["search"] = time.process_time() - middle  # @timed
    profile = figures.stacked_parts(
        {"one merge": seconds}, "seconds", "Where a merge spends its time"
    )  # @timed @inspect profile
    assert seconds["choose"] < seconds["count"] + seconds["search"]  # @timed
    # Seconds depend on the machine and the day. Operations do not, and they say the same thing:
    # for one merge every pair of every word is counted, and then looked at again in the search for
    # the one to merge. To choose it is a small part.
    assert work.counted == sum(len(word.encode()) - 1 for word in word_counts) == 4_038
    assert work.compared == len(pair_counts) == 438
    looked_at = sum(len(tokens) - 1 for tokens in words.values())
    parts = {"count": work.counted, "choose": work.compared, "search": looked_at}
    one_merge = figures.stacked_parts(
        {"one merge": parts}, "operations", "Where a merge spends its operations"
    )  # @inspect one_merge
    assert parts["count"] == parts["search"] > 9 * parts["choose"]
    # And nearly all of the counts were known before. The merge changed eighteen words of 765.
    changed = [word for word in words if merged[word] != words[word]]
    assert len(changed) == 18


def only_words_with_the_pair_change():  # M3.4
    """Only words with the pair change.

    If nearly all words stay as they are, why count them again? Keep the counts; for a word that
    changes, take its old pairs off and add its new ones.
    """
    few = train_incrementally(SMALL, 3, Work())
    assert few == train_plainly(SMALL, 3, Work())  # @stepover
    # The whole word is counted again. To correct only the neighbours of the pair is less work, and
    # easy to get wrong where pairs overlap: of the three in "aaaa" one remains, of other tokens.
    assert merge([b"a"] * 4, (b"a", b"a")) == [b"aa", b"aa"]  # @stepover
    # Now the same on a hundred stories.
    word_counts = hundred_stories()
    plain, incremental = Work(), Work()
    merges = train_plainly(word_counts, 50, plain)  # @stepover
    assert train_incrementally(word_counts, 50, incremental) == merges  # @stepover
    # The merges are the same, and the counting has become a small part.
    assert plain.counted == 160_725
    assert incremental.counted == 16_826
    # What is left of it is counting everything once and then only what changes.
    parts = {
        "plain": {"count": plain.counted, "choose": plain.compared, "search": plain.searched},
        "incremental": {
            "count": incremental.counted,
            "choose": incremental.compared,
            "search": incremental.searched,
        },
    }
    operations = figures.stacked_parts(
        parts, "operations", "Operations for 50 merges"
    )  # @inspect operations
    # The largest part is now the search: each merge still looks through all words for its pair.
    assert incremental.searched == plain.searched == plain.counted
    assert max(parts["incremental"], key=parts["incremental"].__getitem__) == "search"


def an_index_knows_the_words():  # M3.6
    """An index knows the words.

    Who says which words hold a pair? Ask each word, as before, or write it down once: for every
    pair the set of words in which it occurs. Each merge then brings the index up to date.
    """
    words = in_bytes(SMALL)
    index = index_pairs(words)
    assert index[b"e", b"s"] == {"newest", "widest"}
    # After every merge the index must be what a fresh look at all words would find.
    merges = [(b"s", b"t"), (b"e", b"st"), (b"o", b"w"), (b"l", b"ow")]
    for pair in merges:
        merge_indexed(words, index, pair, Work())
        fresh = index_pairs(words)
        assert {pair: found for pair, found in index.items() if found} == fresh
    assert index[b"w", b"est"] == {"newest"}
    # The gain is the search that is no longer made.
    few = train_indexed(SMALL, 3, Work())
    assert few == merges[:3]
    word_counts = hundred_stories()
    incremental, indexed = Work(), Work()
    merges = train_incrementally(word_counts, 50, incremental)  # @stepover
    assert train_indexed(word_counts, 50, indexed) == merges  # @stepover
    assert (incremental.searched, indexed.searched) == (160_725, 7_072)
    assert indexed.counted == incremental.counted
    # What it costs is memory, for a place in a set for each pair of each word.
    places = sum(map(len, index_pairs(in_bytes(word_counts)).values()))
    assert places == 4_031


def a_heap_keeps_the_best_on_top():  # M3.5
    """A heap keeps the best on top.

    How is the most frequent of n pairs found without looking at all of them? In a *heap* each
    element is better than the two below it, so the best is on top. When it goes, one element moves
    up in each of the $\\log_2 n$ rows, and the rest stays as it is.
    """
    work = Work()
    n = 1024
    mixed = [(389 * number) % n for number in range(n)]
    assert sorted(mixed) == [*range(n)]
    assert mixed[:3] == [0, 389, 778]
    heap = [Offer(count, (b"a", b"b"), work) for count in mixed]
    heapq.heapify(heap)
    to_build = work.compared  # @inspect to_build
    assert all(heap[(place - 1) // 2].count > heap[place].count for place in range(1, n))
    assert heapq.heappop(heap).count == n - 1
    to_take = work.compared - to_build  # @inspect to_take
    heapq.heappush(heap, Offer(n, (b"a", b"b"), work))
    to_add = work.compared - to_build - to_take  # @inspect to_add
    # Building the heap takes less than two comparisons for each element. To take the best off, or
    # to put a better one on top, takes about ten, where a search would take a thousand.
    assert to_build < 2 * n
    assert math.log2(n) == 10
    assert abs(to_take - 10) <= 2
    assert abs(to_add - 10) <= 2


def a_heap_forgets_lazily():  # M3.5
    """A heap forgets lazily.

    With every merge counts change. How does the heap learn of it? It cannot find an element in its
    middle, and to build it anew is what we wanted to avoid.
    """
    # So nothing is changed. The new count is added as a new offer; the old one stays, and is
    # thrown away when it comes to the top and its count is no longer true.
    work = Work()
    pair_counts = {(b"a", b"b"): 9, (b"a", b"c"): 7, (b"b", b"a"): 7}
    heap = [Offer(count, pair, work) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    assert [offer.count for offer in sorted(heap)] == [9, 7, 7]
    # One count falls from 9 to 4. What is taken off must still be the largest every time.
    pair_counts[b"a", b"b"] = 4
    heapq.heappush(heap, Offer(4, (b"a", b"b"), work))
    order = []
    while pair_counts:
        largest = max(pair_counts, key=lambda pair: (pair_counts[pair], pair))
        order.append(pop_live(heap, pair_counts))
        assert order[-1] == largest
        del pair_counts[largest]
    assert order == [(b"b", b"a"), (b"a", b"c"), (b"a", b"b")]
    # A common mistake: since Python's heaps have the smallest element on top, to store
    # (-count, pair). Counts are then the right way round, and ties the wrong one.
    negated = [(-7, (b"b", b"a")), (-7, (b"a", b"c"))]
    heapq.heapify(negated)
    assert negated[0] == (-7, (b"a", b"c"))
    # Turning both round, as `Offer` does, gives the same merges, with a fifth of the comparisons.
    word_counts = hundred_stories()
    indexed, lazy = Work(), Work()
    merges = train_indexed(word_counts, 243, indexed)  # @stepover
    assert train_with_heap(word_counts, 243, lazy) == merges  # @stepover
    assert (indexed.compared, lazy.compared) == (258_203, 51_906)


def trained_by(
    train: Trainer, word_counts: Mapping[str, int], wanted: int
) -> tuple[list[Pair], Work, float]:  # @stepover
    """Train, and return the merges, the operations, and the seconds of the fastest reading."""
    runs = []

    def train_once() -> None:
        work = Work()
        runs.append((train(word_counts, wanted, work), work))

    seconds = fastest_seconds(train_once)
    return *runs[0], seconds


def the_ladder_so_far():  # M3.3 M3.6
    """Each rung does the same with less.

    What have three ideas brought together? Here are the four trainers on the same hundred stories.
    On the clock, a fifth joins them: the tokenizer of this lecture. It works on numbers instead of
    byte strings. Its pairs lie in *buckets*, one for each count, and since the count of a pair only
    falls, a pair moves to a lower bucket when its turn comes: no heap of pairs is needed.
    """
    word_counts = hundred_stories()
    operations, seconds, learnt = {}, {}, []
    wanted = 243
    for name, train in RUNGS.items():
        merges, work, seconds[name] = trained_by(train, word_counts, wanted)  # @timed
        learnt.append(merges)
        operations[name] = work.total()  # @inspect operations
    learnt.append(learn_merges(word_counts, wanted))
    seconds["lecture.tokenizer"] = fastest_seconds(
        lambda: learn_merges(word_counts, wanted)
    )  # @timed
    # All five have learnt the same 243 merges.
    assert all(merges == learnt[0] for merges in learnt)
    assert len(learnt[0]) == 243
    assert list(operations.values()) == [1_394_411, 848_814, 291_079, 84_782]
    by_operations = figures.ladder(
        operations, "operations", "Operations for 243 merges"
    )  # @inspect by_operations
    # The stopwatch agrees. The gap widens with the text: plain training does everything again for
    # each merge, the top only what the merge changes.
    by_seconds = figures.ladder(
        seconds, "seconds", "Seconds for 243 merges"
    )  # @timed @inspect by_seconds
    assert seconds["plain"] > 2 * seconds["lecture.tokenizer"]  # @timed


def counting_can_be_shared_out():  # M3.7
    """Counting can be shared out.

    Before any merge, the words of the whole text are counted, and that text may be larger than
    memory. Can several processes each take a piece? Yes, if no piece ends within a word.
    """
    text = "".join(story + END for story in itertools.islice(stories.stories(), 60))
    splitter = Splitter("gpt2", [END])
    whole = counting.count_texts([text], splitter)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stories.txt"
        path.write_bytes(text.encode())
        # At a special token it never does. So from every quarter on, the next one is looked for.
        # A text without special tokens cannot be shared out.
        quarter = len(text) // 4
        assert counting.Cutter(path, ()).ranges(quarter) == [(0, len(text))]
        ranges = counting.Cutter(path, (END.encode(),)).ranges(quarter)  # @inspect ranges
        assert [text[start:].startswith(END) for start, _ in ranges[1:]] == [True] * 3
        assert ranges[-1][1] == len(text) == 33_335
        # Two processes count the four pieces, and the counts are added up. The sum is that of one
        # pass. A process has only one block of the file in memory at a time.
        shared = counting.count_file(path, splitter, workers=2, range_bytes=quarter)  # @stepover
        assert shared == whole
    # A common mistake: to cut at fixed places. The words there fall apart into others.
    place = text.index("crept") + 3
    halves = counting.count_texts([text[:place], text[place:]], splitter)
    assert {*(halves - whole)} == {" cre", "pt"}


def operations_of_a_run(story_count: int) -> tuple[int, Work, Work]:  # @stepover
    """Return the characters of so many stories, and the work of two trainers on them."""
    texts = [*itertools.islice(stories.stories(), story_count)]
    word_counts = count_words(texts)
    indexed, lazy = Work(), Work()
    assert train_indexed(word_counts, 100, indexed) == train_with_heap(word_counts, 100, lazy)
    return sum(map(len, texts)), indexed, lazy


def the_part_not_improved_sets_the_limit():  # M3.8 E92
    """The part that was not improved sets the limit.

    With the heap, merging takes about half of the operations. Does training, too? It also reads the
    text and counts its words, and that takes as many as before.
    """
    runs, gains = {}, {}
    for story_count in (50, 200, 800):
        characters, indexed, lazy = operations_of_a_run(story_count)
        # For an exact example, suppose that an operation takes as long as the reading of one
        # character. On a clock it does not, and the shares are others.
        runs[f"{story_count} stories, indexed"] = {"read": characters, "merge": indexed.total()}
        runs[f"{story_count} stories, heap"] = {"read": characters, "merge": lazy.total()}
        merge_gain = indexed.total() / lazy.total()
        gains[story_count] = (characters + indexed.total()) / (characters + lazy.total())
        # [Amdahl](https://doi.org/10.1145/1465482.1465560): if a share $p$ of the work becomes $s$
        # times faster, the whole becomes $1 / (1 - p + p/s)$ times faster.
        share = indexed.total() / (characters + indexed.total())
        assert 1.9 < merge_gain <= 2  # @inspect merge_gain
    assert [*gains] == [50, 200, 800]
    bars = figures.stacked_parts(runs, "operations", "Whole runs of training")  # @inspect bars
    # A common mistake: to report the gain of the part as the gain of the whole. The more text, the
    # more of the time is reading, which grows with the text, while the number of different words
    # hardly does.
    rounded = [round(gain, 2) for gain in gains.values()]
    assert rounded == [1.67, 1.34, 1.12]
    # If merging took no time at all, $s$ would be infinite and the last run 1.27 times faster, no
    # more. The next gain is in the reading: processes that read side by side.
    assert round(1 / (1 - share), 2) == 1.27


def timers_inside_timers_count_twice():  # M3.8 E94
    """Timers inside timers count twice.

    Do the times of the phases add up to the time of the run? Only if no phase lies within another.
    A common mistake is to start a timer inside a phase that has one, and to add up both.
    """
    texts = [*itertools.islice(stories.stories(), 20)]
    # The clock here counts operations, so that its readings are exact.
    work, readings = Work(), {}
    word_counts = count_words(texts)
    words = in_bytes(word_counts)
    pair_counts = count_pairs(words, word_counts, work)  # @stepover
    readings["first count"] = work.total()
    # The trainer, started for the whole of the merging, counts the pairs again at its beginning.
    train_incrementally(word_counts, 40, work := Work())  # @stepover
    readings["merging, with the first count"] = work.total()  # @inspect readings
    assert len(pair_counts) == 375
    assert readings["merging, with the first count"] == 114_593
    # Without any merge to make, what it does is that count: the same operations stand twice in the
    # sum. Sums that exceed the total are a sign of this.
    train_incrementally(word_counts, 0, alone := Work())  # @stepover
    assert alone.total() == readings["first count"] == 2_520


def words_touched(word_counts: Mapping[str, int], wanted_merges: int) -> list[int]:  # @stepover
    """Return for each merge in how many words it was made."""
    words = in_bytes(word_counts)
    index = index_pairs(words)
    touched = []
    for pair in train_with_heap(word_counts, wanted_merges, Work()):
        touched.append(len(merge_indexed(words, index, pair, Work())))
    return touched


def later_merges_touch_fewer_words():  # M3.9
    """Later merges touch fewer words.

    Do ten thousand merges take ten times as long as one thousand? The first merges are of pairs
    that are everywhere, like "he" and " t"; late ones finish rare words.
    """
    word_counts = count_words(itertools.islice(stories.stories(), 400))
    touched = words_touched(word_counts, 1_000)
    assert len(touched) == 1_000
    by_merge = figures.work_by_merge(touched)  # @inspect by_merge
    # More than half of the work is in the first tenth of the merges.
    first, last = sum(touched[:100]), sum(touched[-100:])
    assert (first, last) == (1_838, 118)
    assert first > sum(touched) / 2
    # So the time for merging grows more slowly than the vocabulary. Nor does it grow with the
    # length of the text, once the words are counted, but with the number of different words. Four
    # times as many stories have hardly any new ones. (Pages of the web always have.)
    longer_counts = count_words(itertools.islice(stories.stories(), 1_600))
    longer_touched = words_touched(longer_counts, 1_000)
    assert (word_counts.total(), longer_counts.total()) == (47_632, 190_533)
    assert len(longer_touched) == len(touched)
    assert (len(word_counts), len(longer_counts)) == (812, 827)
    assert sum(longer_touched) < 1.05 * sum(touched)


def late_tokens_are_whole_words():  # M3.10 E97
    """Late tokens are whole words.

    What has the tokenizer learnt? A vocabulary can be read, and it is worth reading: what is in
    it was frequent in the text, whether or not one wanted that.
    """
    texts = [*itertools.islice(stories.stories(), 400)]
    tokenizer = Tokenizer.train(texts, 1_200)
    learnt = tokenizer.vocabulary[256:]
    assert (len(texts), len(tokenizer)) == (400, 1_200)
    lengths = Counter(map(len, learnt))
    histogram = figures.token_lengths(lengths)  # @inspect histogram
    # The first merges are pieces, the last ones whole words with the space before them. Of the
    # first hundred tokens 15 are words of the text, of the last hundred 48.
    early, late = learnt[:5], learnt[-5:]  # @inspect early late
    assert early == [b" a", b"he", b" t", b" s", b"nd"]
    assert late == [b" orchard", b" miller", b" judge", b" jolly", b" honest"]
    words = {word.encode() for word in count_words(texts)}
    assert (len(words & {*learnt[:100]}), len(words & {*learnt[-100:]})) == (15, 48)
    longest = max(learnt, key=len)  # @inspect longest
    assert longest == b" afternoon"
    # How often does it occur? A common mistake is to count the lines that contain it and call
    # that the number of times. Here a story is a line, and may say a word twice.
    word = longest.decode()
    containing = sum(word in story for story in texts)
    occurrences = sum(story.count(word) for story in texts)
    assert (containing, occurrences) == (111, 120)
    # A look at the longest tokens is a cheap test of a corpus. Thirty lines of forty dashes among
    # the stories, as between the parts of a web page, and seven tokens are dashes.
    dashes = b"-" * 40
    lines = [dashes.decode()] * 30
    dashed = Tokenizer.train([*texts, *lines], 1_200)
    assert (len(lines), len(dashed)) == (30, 1_200)
    assert max(dashed.vocabulary, key=len) == dashes
    only_dashes = [token for token in dashed.vocabulary if {*token} == {*dashes}]
    assert [*map(len, only_dashes)] == [1, 2, 4, 8, 16, 32, 40]
    # This chapter in short: a vocabulary is learnt by joining the most frequent pair again and
    # again. It is learnt fast by doing less: counts are kept, an index says where a pair is, and a
    # heap which pair comes next.
