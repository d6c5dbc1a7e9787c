"""Learning merges: byte pair encoding, first plain, then fast, each step counted and timed."""

import heapq
import itertools
import math
import re
import tempfile
import time
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
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


def the_most_frequent_pair_is_merged():  # M3.2 @core
    """The most frequent pair is merged.

    With a token for each byte, texts are long. Which longer pieces should be tokens? *Byte pair
    encoding*, BPE, starts with single bytes, finds the two tokens that stand side by side most
    often, makes one new token of them, and starts again. (It was made in 1994 to compress files.
    [Sennrich and others](https://arxiv.org/abs/1508.07909) took it to language in 2015, with
    characters; GPT-2 with bytes.)
    """
    # @note Do the first merge on the board: count the pairs of the four words, each as often as the
    # word was seen. Then move through the rounds and ask for each merge before you show it. For
    # the tie the short path has one sentence, its rule: say that some rule is needed.
    #
    # Four words, and how often each was seen. A word of three letters has two pairs of neighbours.
    words = in_bytes(SMALL)
    start = SMALL  # @inspect start
    assert count_pairs(words, SMALL, Work()).total() == 5 * 2 + 2 * 4 + 6 * 5 + 3 * 5  # @stepover
    # In each round we merge the most frequent pair, in all words at once. Guess the first three
    # merges. (`Work` counts operations, for later.)
    merges: list[Pair] = []
    work = Work()
    for _ in range(6):
        pair_counts = count_pairs(words, SMALL, work)
        merges.append(most_frequent(pair_counts, work))  # @inspect merges
        for word, tokens in words.items():
            words[word] = merge(tokens, merges[-1])
        spelled = figures.spelled_words(words, SMALL)  # @inspect spelled
    # Nine words end in "est". "st" came before "es", which is there as often; why is our next
    # question.
    assert merges[:3] == [(b"s", b"t"), (b"e", b"st"), (b"o", b"w")]
    assert [b"".join(pair) for pair in merges[3:]] == [b"low", b"west", b"ne"]
    assert words["newest"] == [b"ne", b"west"]
    assert words["widest"] == [b"w", b"i", b"d", b"est"]
    # That is the whole trainer; `train_plainly` does the same.
    assert train_plainly(SMALL, 6, Work()) == merges  # @stepover


def ties_need_a_rule():  # M3.2
    """Ties need a rule.

    What if two pairs are equally frequent? By the count, either will do. But programs that choose
    differently can learn different vocabularies, and the same id stands for different tokens.
    """
    # In "ab" and "ba", seen four times each, both pairs tie. We take the larger pair, and compare
    # byte strings as Python does: byte by byte, a beginning before what continues it, capitals
    # before small letters.
    assert train_plainly({"ab": 4, "ba": 4}, 1, Work()) == [(b"b", b"a")]  # @stepover
    tied = [(b"a", b"b"), (b"a", b"ba"), (b"Z", b"zz")]
    assert most_frequent(Counter(tied), Work()) == (b"a", b"ba")  # @stepover
    # And without a rule, if we take whichever pair comes first? Turn the corpus round, and the
    # merges change.
    word_counts = {"ab": 4, "ba": 4}
    backwards = dict(reversed(word_counts.items()))
    chosen = set()
    for corpus in (word_counts, backwards):
        counts = count_pairs(in_bytes(corpus), corpus, Work())  # @stepover
        chosen.add(max(counts, key=lambda pair: counts[pair]))
    assert chosen == {(b"a", b"b"), (b"b", b"a")}


def a_vocabulary_is_bytes_merges_and_special_tokens():  # M3.2 @core
    """A vocabulary is bytes, merges and special tokens.

    How many merges fill a vocabulary of 10 000 tokens? Each merge makes one token. 256 bytes were
    there before, and *special tokens*, which stand for something outside the text such as its end,
    take a place without being learnt. With one of those: 10 000 - 256 - 1.
    """
    # @note One subtraction, one minute. Turn it round: how many merges has a vocabulary of 50 257
    # with one special token? (50 000.)
    word_counts = count_words(itertools.islice(stories.stories(), 30))
    small = Tokenizer.train(itertools.islice(stories.stories(), 30), 500, [END])
    assert len(small) == 500
    assert len(small.vocabulary) == 256 + len(small.merges) + len(small.special_tokens)
    # The tokenizer of this lecture learns what the plain trainer learns.
    assert small.merges == train_plainly(word_counts, 500 - 256 - 1, Work())  # @stepover
    # Training can end early: when each word has become one token, no pairs are left.
    full = Tokenizer.train("low low lower", len(small))
    assert len(full) == 256 + 5  # @predict
    assert full.encode(" lower") == [full.vocabulary.index(b" lower")]


def text_is_cut_before_merging():  # M3.1
    """Text is cut before anything is merged.

    Left alone, what does BPE learn from a text with many dogs?
    """
    uncut = {"the dog. a dog, my dog. our dog, dog. dog,": 1}
    learnt = [b"".join(pair) for pair in train_plainly(uncut, 5, Work())]  # @stepover
    assert learnt == [b"og", b"dog", b" dog", b" dog.", b" dog,"]  # @inspect learnt
    # One token for " dog." and one for " dog,"; and it would join the end of one document to the
    # start of the next. So we cut the text twice first, and never merge across a cut.
    text = f"It's 10 o'clock,{END}  said  the DOG."
    splitter = Splitter("gpt2", [END])
    # First at special tokens.
    parts = [*splitter.parts(text)]  # @inspect parts
    assert parts == [("It's 10 o'clock,", END), ("  said  the DOG.", "")]
    # Then into words, by [the pattern of
    # GPT-2](https://github.com/openai/gpt-2/blob/master/src/encoder.py). A word is the end of a
    # contraction; or letters, or numbers, or other signs, with the space before them; or white
    # space. Of several spaces the last goes to what follows.
    pattern = PATTERNS["gpt2"]  # @inspect pattern
    words = [regex.findall(pattern, part) for part, _ in parts]  # @inspect words
    assert words[0] == ["It", "'s", " 10", " o", "'", "clock", ","]
    assert words[1] == [" ", " said", " ", " the", " DOG", "."]
    # Nothing is lost, and no special token is inside a word.
    assert END.join("".join(cut) for cut in words) == text
    assert not any(END in word for cut in words for word in cut)
    # From here on we forget where a word stood, and keep how often it came.
    word_counts = count_words(part for part, _ in parts)
    assert sum(word_counts.values()) == sum(map(len, words))
    assert word_counts[" "] == 2


def letters_need_their_own_pattern():  # M3.1
    """Letters need their own pattern.

    The pattern asks for letters, `\\p{L}`, and numbers, `\\p{N}`. Python's module `re` knows
    neither; the package `regex` knows both. Will "a word character, but no digit and no
    underscore" do instead?
    """
    letter = regex.compile(r"\p{L}")
    almost = re.compile(r"[^\W\d_]")
    characters = "".join(map(chr, range(0x110000)))  # @stepover
    differing = {*letter.findall(characters)} ^ {*almost.findall(characters)}
    # Not quite. Superscripts, fractions and Roman numerals count as word characters, and they are
    # numbers, not letters. And `re` knows the Unicode of the day when this Python was made. `regex`
    # comes with its own, here a later one, and has letters that `re` does not know yet, thousands
    # if Python is old.
    assert all(number in differing for number in "²½Ⅷ")
    assert {unicodedata.category(c) for c in differing} <= {"No", "Nl", "Cn"}
    assert not any(other in differing for other in "aéж你2_ ")
    # In ASCII there is no difference, so our tokenizer uses `re` for text that is all ASCII.
    assert min(map(ord, differing)) > 127


def numbers_are_cut_by_three():  # M3.1
    """GPT-4 cuts numbers by three.

    Do all tokenizers cut in the same way? [GPT-4](https://github.com/openai/tiktoken)'s pattern
    treats numbers, capitals, lines and signs in another way than GPT-2's.
    """
    text = "IT'S 2048 dogs\n\n"
    older, newer = Splitter("gpt2").words(text), Splitter("gpt4").words(text)
    # GPT-2 knows contractions in small letters only, and takes digits in a row whole. So a frequent
    # year or price can become one token, and merges cut the others into pieces of any length.
    assert older == ["IT", "'", "S", " 2048", " dogs", "\n\n"]
    # GPT-4 cuts numbers after every three digits, and keeps no space with them. There are only 1110
    # strings of one to three digits, so each can have its token. It counts from the left, though:
    # 2048 is 204 and 8, where people write 2,048.
    assert newer == ["IT", "'S", " ", "204", "8", " dogs", "\n\n"]
    # For code, another difference matters. GPT-4 lets any one sign or tab stand in front of a word,
    # as the space does, so "(word" can be a token.
    code = "f(word)\tx"
    assert Splitter("gpt2").words(code) == ["f", "(", "word", ")", "\t", "x"]
    assert Splitter("gpt4").words(code) == ["f", "(word", ")", "\tx"]


def measure_before_making_it_faster():  # M3.3
    """Measure before making it faster.

    The plain trainer is correct and slow. Which part of it is slow: counting the pairs, choosing
    the most frequent, or the search for it in all words? We ask it in two ways, with a stopwatch
    and by counting operations.
    """
    word_counts = hundred_stories()
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
    # (No part lies within another, so together they take no longer than the whole.)
    assert sum(seconds.values()) <= time.process_time() - start  # @timed
    # Seconds depend on the machine and the day. Operations do not: for one merge we count every
    # pair of every word, and then look at each again in the search. To choose is a small part.
    assert work.counted == sum(len(word.encode()) - 1 for word in word_counts)
    assert work.compared == len(pair_counts)
    looked_at = sum(len(tokens) - 1 for tokens in words.values())
    parts = {"count": work.counted, "choose": work.compared, "search": looked_at}
    one_merge = figures.stacked_parts(
        {"one merge": parts}, "operations", "Where a merge spends its operations"
    )  # @inspect one_merge
    assert parts["count"] == parts["search"] > 9 * parts["choose"]
    # And nearly all of the counts were known before. The merge changed eighteen words of 765.
    changed = [word for word in words if merged[word] != words[word]]
    assert (len(changed), len(words)) == (18, 765)


def only_words_with_the_pair_change():  # M3.4
    """Only words with the pair change.

    If nearly all words stay as they are, why count them again? Keep the counts. For a word that
    changes, take its old pairs off and add its new ones. How much counting is left?
    """
    few = train_incrementally(SMALL, 3, Work())
    assert few == train_plainly(SMALL, 3, Work())  # @stepover
    # We count the whole word again. Correcting only the neighbours of the pair would be less work,
    # and easy to get wrong where pairs overlap: "aaaa" has three, and one remains, of new tokens.
    assert merge([b"a"] * 4, (b"a", b"a")) == [b"aa", b"aa"]  # @stepover
    # Now the same on a hundred stories.
    word_counts = hundred_stories()
    plain, incremental = Work(), Work()
    merges = train_plainly(word_counts, 50, plain)  # @stepover
    assert train_incrementally(word_counts, 50, incremental) == merges  # @stepover
    parts = {
        name: {"count": work.counted, "choose": work.compared, "search": work.searched}
        for name, work in (("plain", plain), ("incremental", incremental))
    }
    operations = figures.stacked_parts(
        parts, "operations", "Operations for 50 merges"
    )  # @inspect operations
    # Less than a ninth. What is left is counting everything once, and then what changes.
    assert plain.counted > 9 * incremental.counted
    # The largest part is now the search: each merge still looks through all words for its pair.
    assert incremental.searched == plain.searched == plain.counted
    assert max(parts["incremental"], key=parts["incremental"].__getitem__) == "search"


def an_index_knows_the_words():  # M3.6
    """An index knows the words.

    Which words hold a pair? Ask each word, as before; or write it down once, in an *index*: for
    every pair the set of words in which it occurs. Each merge then brings the index up to date.
    """
    words = in_bytes(SMALL)
    index = index_pairs(words)
    assert index[b"e", b"s"] == {"newest", "widest"}
    # After every merge the index must say what a fresh look at all words would find.
    merges = [(b"s", b"t"), (b"e", b"st"), (b"o", b"w"), (b"l", b"ow")]
    for pair in merges:
        merge_indexed(words, index, pair, Work())
        fresh = index_pairs(words)
        assert {pair: found for pair, found in index.items() if found} == fresh
    assert index[b"w", b"est"] == {"newest"}
    few = train_indexed(SMALL, 3, Work())
    assert few == merges[:3]
    # On a hundred stories the search nearly disappears.
    word_counts = hundred_stories()
    incremental, indexed = Work(), Work()
    merges = train_incrementally(word_counts, 50, incremental)  # @stepover
    assert train_indexed(word_counts, 50, indexed) == merges  # @stepover
    assert incremental.searched > 20 * indexed.searched
    assert indexed.counted == incremental.counted
    # It costs memory: where a count takes one place for a pair, the index takes one for each word
    # that has the pair, here nine times as many.
    places = sum(map(len, index_pairs(in_bytes(word_counts)).values()))
    pairs = len(count_pairs(in_bytes(word_counts), word_counts, Work()))  # @stepover
    assert places > 9 * pairs  # @inspect places pairs


def a_heap_keeps_the_best_on_top():  # M3.5
    """A heap keeps the best on top.

    How do we find the most frequent of n pairs without looking at all of them? In a *heap* no
    element is better than the one above it, so the best is on top. When it goes, at most one
    element moves up from each of the $\\log_2 n$ rows below, the last one fills the gap, and the
    rest stays. For 1024 elements: ten rows.
    """
    work = Work()
    n = 1024
    mixed = [(389 * number) % n for number in range(n)]
    assert sorted(mixed) == [*range(n)]
    # An `Offer` is a pair with a count, and counts how often it is compared.
    heap = [Offer(count, (b"a", b"b"), work) for count in mixed]
    heapq.heapify(heap)
    to_build = work.compared  # @inspect to_build
    assert all(heap[(place - 1) // 2].count > heap[place].count for place in range(1, n))
    assert heapq.heappop(heap).count == n - 1
    to_take = work.compared - to_build  # @inspect to_take
    heapq.heappush(heap, Offer(n, (b"a", b"b"), work))
    to_add = work.compared - to_build - to_take  # @inspect to_add
    # To build the heap takes less than two comparisons for each element. To take the best off, or
    # to put a better one on top, takes about ten, where a search would take a thousand.
    assert to_build < 2 * n
    assert abs(to_take - math.log2(n)) <= 2
    assert abs(to_add - math.log2(n)) <= 2


def a_heap_forgets_lazily():  # M3.5
    """A heap forgets lazily.

    With every merge, counts change. How does the heap learn of it? To find an element in its middle
    takes a search, and to build it anew is what we wanted to avoid. So we change nothing. We add
    the new count as a new offer; the old one stays, and when it comes to the top and its count is
    no longer true, `pop_live` throws it away.
    """
    work = Work()
    pair_counts = {(b"a", b"b"): 9, (b"a", b"c"): 7, (b"b", b"a"): 7}
    heap = [Offer(count, pair, work) for pair, count in pair_counts.items()]
    heapq.heapify(heap)
    # One count falls from 9 to 4. What we take off must still be the largest every time.
    pair_counts[b"a", b"b"] = 4
    heapq.heappush(heap, Offer(4, (b"a", b"b"), work))
    order = []
    while pair_counts:
        largest = max(pair_counts, key=lambda pair: (pair_counts[pair], pair))
        order.append(pop_live(heap, pair_counts))
        assert order[-1] == largest
        del pair_counts[largest]
    assert order == [(b"b", b"a"), (b"a", b"c"), (b"a", b"b")]
    # A common mistake: `heapify` and `heappush` put the smallest element on top, so one stores
    # (-count, pair). (Python 3.14 adds others, for the largest.) Then counts are the right way
    # round, and ties the wrong one. An `Offer` turns both round: it says that it is smaller when
    # (count, pair) is larger.
    negated = [(-7, (b"b", b"a")), (-7, (b"a", b"c"))]
    heapq.heapify(negated)
    assert negated[0] == (-7, (b"a", b"c"))
    # The same merges as with the index, for a fifth of the comparisons.
    word_counts = hundred_stories()
    indexed, lazy = Work(), Work()
    merges = train_indexed(word_counts, 243, indexed)  # @stepover
    assert train_with_heap(word_counts, 243, lazy) == merges  # @stepover
    assert indexed.compared / lazy.compared > 4.9


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


def the_ladder_so_far():  # M3.3
    """Operations and seconds disagree.

    What have three ideas brought? Here are the four trainers on the same hundred stories, counted
    and timed. A fifth is on the clock only, the tokenizer of this lecture. It works on numbers in
    place of byte strings, and its pairs lie in *buckets*, one for each count. (A merge brings new
    pairs, but from then on the count of a pair only falls. So a pair waits in the bucket of a count
    that it once had, and moves down when its turn comes.)
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
    assert all(merges == learnt[0] for merges in learnt)
    assert len(learnt[0]) == wanted
    by_operations = figures.ladder(
        operations, "operations", "Operations for 243 merges"
    )  # @inspect by_operations
    by_seconds = figures.ladder(
        seconds, "seconds", "Seconds for 243 merges"
    )  # @timed @inspect by_seconds
    # They do not agree about the steps from rung to rung. By operations, keeping the counts saves
    # little, and the heap most.
    saved = [a / b for a, b in itertools.pairwise(operations.values())]  # @inspect saved
    assert saved[0] < 2 < saved[1] < 3 < saved[2]
    # On the clock the first step brings more than that, and the heap less: operations do not take
    # equally long. Two suspects: the plain trainer's search builds every word anew, where the next
    # one's only looks; and what the heap compares are `Offer`s, each time by a call.
    assert seconds["plain"] / seconds["incremental"] > 1.5 * saved[0]  # @timed
    assert seconds["indexed"] / seconds["heap"] < saved[2] / 1.5  # @timed
    # So: count to find out why, and time to find out whether.
    assert seconds["plain"] > 10 * seconds["lecture.tokenizer"]  # @timed


def counting_can_be_shared_out():  # M3.7
    """Counting can be shared out.

    Before any merge we count the words of the whole text, which may be larger than memory. Can
    several processes each take a piece? Yes, if no piece ends within a word. Cut at fixed places,
    and words fall apart into others.
    """
    text = "".join(story + END for story in itertools.islice(stories.stories(), 60))
    splitter = Splitter("gpt2", [END])
    whole = counting.count_texts([text], splitter)
    place = text.index("crept") + 3
    halves = counting.count_texts([text[:place], text[place:]], splitter)
    assert {*(halves - whole)} == {" cre", "pt"}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stories.txt"
        path.write_bytes(text.encode())
        # No word spans a special token. So we go on from a cut by a quarter of the text, look from
        # there for the next special token, and cut in front of it. (A text could also be cut [at
        # some spaces](#a_stream_gets_the_ids_of_the_whole_text). Our program does not do that, and
        # leaves a text without special tokens to one process.)
        quarter = len(text) // 4
        ranges = counting.Cutter(path, (END.encode(),)).ranges(quarter)  # @inspect ranges
        assert [text[start:].startswith(END) for start, _ in ranges[1:]] == [True] * 3
        assert (ranges[0][0], ranges[-1][1]) == (0, len(text))
        assert all(stop == start for (_, stop), (start, _) in itertools.pairwise(ranges))
        # Two processes count the four pieces, and the sum is that of one pass.
        shared = counting.count_file(path, splitter, workers=2, range_bytes=quarter)  # @stepover
        assert shared == whole


def quickest_seconds(*calls: Callable[[], object]) -> list[float]:  # @stepover
    """Time calls in turn, in three rounds, and return the shortest reading of each.

    In turn, so that a moment in which other programs slow the processor down is not that of one
    call alone. Read are the seconds that it works for us.
    """
    readings: list[list[float]] = [[] for _ in calls]
    for _ in range(3):
        for call, taken in zip(calls, readings, strict=True):
            start = time.process_time()
            call()
            taken.append(time.process_time() - start)
    return [min(taken) for taken in readings]


def the_part_not_improved_sets_the_limit():  # M3.8 E92
    """The part that was not improved sets the limit.

    With the heap, merging is faster. Is training? It also reads the text and counts its words, and
    that takes as long as before. If merging is a share $p$ of the time and becomes $s$ times as
    fast, the whole becomes $1/(1-p+p/s)$ times as fast:
    [Amdahl's law](https://doi.org/10.1145/1465482.1465560).
    """
    wanted, bars, word_counts = 600, {}, {}
    for story_count in (50, 400):
        texts = [*itertools.islice(stories.stories(), story_count)]
        word_counts[story_count] = counts = count_words(texts)
        read, slow, fast = quickest_seconds(
            partial(count_words, texts),
            partial(train_indexed, counts, wanted, Work()),
            partial(train_with_heap, counts, wanted, Work()),
        )  # @timed
        bars[f"{story_count} stories, indexed"] = {"read": read, "merge": slow}  # @timed
        bars[f"{story_count} stories, heap"] = {"read": read, "merge": fast}  # @timed
        share, gain = slow / (read + slow), slow / fast  # @timed @inspect share gain
        predicted = 1 / (1 - share + share / gain)  # @timed @inspect predicted
    # Where this was written, merging took about half as long with the heap. Does the law hold? On
    # the longer text, we time the two runs as a whole.
    assert gain > 1.25  # @timed
    slow, fast = quickest_seconds(
        lambda: train_indexed(count_words(texts), wanted, Work()),
        lambda: train_with_heap(count_words(texts), wanted, Work()),
    )  # @timed
    measured = slow / fast  # @timed @inspect measured
    assert 0.7 < predicted / measured < 1.4  # @timed
    runs = figures.stacked_parts(bars, "seconds", "Runs of training")  # @timed @inspect runs
    # A common mistake is to report the gain of the part as the gain of the whole. With eight times
    # the text, reading takes eight times as long, and merging does not: our stories have few new
    # words. If merging took no time at all, the whole would still take as long as reading. So with
    # enough of our stories the next gain is there: processes that read side by side.
    fewer, more = word_counts.values()
    assert more.total() > 7.5 * fewer.total()
    assert len(more) < 1.2 * len(fewer)


def timers_inside_timers_count_twice():  # M3.8 E94
    """Timers inside timers count twice.

    Do the times of the phases add up to the time of the run? Only if no phase lies within another.
    It happens easily: a timer around the first count, and another around a trainer that begins with
    that count.
    """
    word_counts = count_words(itertools.islice(stories.stories(), 20))
    # Our clock here counts operations, so its readings are exact.
    work, readings = Work(), {}
    count_pairs(in_bytes(word_counts), word_counts, work)  # @stepover
    readings["first count"] = work.total()
    train_incrementally(word_counts, 40, work := Work())  # @stepover
    readings["merging, with the first count"] = work.total()  # @inspect readings
    # A trainer that makes no merge does only that count. So the same operations stand twice in the
    # sum. A sum of phases that exceeds the whole can be a sign of this.
    train_incrementally(word_counts, 0, alone := Work())  # @stepover
    assert alone.total() == readings["first count"]


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
    that are everywhere, like "he" and " t". Late ones finish rare words.
    """
    word_counts = count_words(itertools.islice(stories.stories(), 400))
    touched = words_touched(word_counts, 1_000)
    by_merge = figures.work_by_merge(touched)  # @inspect by_merge
    # More than half of the touches are in the first tenth of the merges. So with an index and a
    # heap, the work of merging grows more slowly than the vocabulary.
    first, last = sum(touched[:100]), sum(touched[-100:])  # @inspect first last
    assert first > sum(touched) / 2
    assert first > 15 * last
    # Nor does it grow with the length of the text as such: what counts is how many different words
    # there are. Four times as many stories have hardly any new ones.
    longer_counts = count_words(itertools.islice(stories.stories(), 1_600))
    assert longer_counts.total() > 3.9 * word_counts.total()
    assert len(longer_counts) < 1.05 * len(word_counts)
    assert sum(words_touched(longer_counts, 1_000)) < 1.05 * sum(touched)
    # But `lecture.stories` knows few words. A text with more to say has new ones all the time: four
    # times as much of this very chapter's source has over twice the words. So what we time on
    # stories is too good for a corpus of web pages.
    source = Path(__file__).read_text(encoding="utf-8")
    quarter, whole = (count_words([source[:size]]) for size in (len(source) // 4, len(source)))
    assert len(whole) > 2 * len(quarter)


def late_tokens_are_longer():  # M3.10 E97
    """Late tokens are longer, about half of them whole words.

    What has the tokenizer learnt? We can read a vocabulary, and it is worth reading: what is in it
    was frequent in the text, whether we wanted that or not.
    """
    texts = [*itertools.islice(stories.stories(), 400)]
    tokenizer = Tokenizer.train(texts, 1_200)
    learnt = tokenizer.vocabulary[256:]
    lengths = Counter(map(len, learnt))
    histogram = figures.token_lengths(lengths)  # @inspect histogram
    # Early tokens are mostly pieces, late ones are long, and about half are words of the text,
    # with the space before them.
    early, late = learnt[:5], learnt[-5:]  # @inspect early late
    assert early == [b" a", b"he", b" t", b" s", b"nd"]
    assert late == [b" orchard", b" miller", b" judge", b" jolly", b" honest"]
    words = {word.encode() for word in count_words(texts)}
    assert len(words & {*learnt[:100]}) == 15
    assert len(words & {*learnt[-100:]}) == 48
    assert sum(map(len, learnt[-100:])) > 2 * sum(map(len, learnt[:100]))
    # How often does the longest one occur? That depends on the question. 111 stories contain it,
    # and some say it twice; so do not count lines and call it the number of times.
    longest = max(learnt, key=len).decode()  # @inspect longest
    containing = sum(longest in story for story in texts)
    occurrences = sum(story.count(longest) for story in texts)
    assert (containing, occurrences) == (111, 120)
    # The longest tokens are a cheap test of a corpus. Put thirty lines of forty dashes among the
    # stories, as between the parts of a web page, and seven tokens are dashes.
    dashes = b"-" * 40
    dashed = Tokenizer.train([*texts, *[dashes.decode()] * 30], 1_200)
    only_dashes = [token for token in dashed.vocabulary if {*token} == {*dashes}]
    assert max(dashed.vocabulary, key=len) == dashes
    assert [*map(len, only_dashes)] == [1, 2, 4, 8, 16, 32, 40]
    # What we can do now: learn a vocabulary, by joining the most frequent pair again and again, and
    # learn it fast, by doing less. We keep the counts, an index says where a pair is, and a heap
    # which pair comes next.


def exercise_banana():  # M3.2 @exercise
    """Exercise: banana.

    A text has "banana" ten times and "bandana" once. Which are the first three merges, and how many
    tokens is "banana" then? (Of pairs that are equally frequent, take the larger.)
    """
    word_counts = {"banana": 10, "bandana": 1}
    merges = train_plainly(word_counts, 3, Work())  # @stepover @inspect merges
    tokens = [bytes([value]) for value in b"banana"]
    for pair in merges:
        tokens = merge(tokens, pair)  # @inspect tokens
    # "an" is there 22 times. Then "b" + "an" and "an" + "a" tie at 11, and "b" is larger.
    assert [b"".join(pair) for pair in merges] == [b"an", b"ban", b"ana"]
    assert tokens == [b"ban", b"ana"]


def train_all(word_counts: Mapping[str, int]) -> list[Pair]:  # @stepover
    """Merge until every word is one token."""
    return learn_merges(word_counts, wanted_merges=10**6)


def exercise_seven_or_eight():  # M3.2 @exercise
    """Exercise: seven or eight.

    A text is one word of eight letters, "aaaaaaaa". How many merges does it take to make it one
    token? And if it is a letter shorter: fewer, as many, or more?
    """
    needed = {n: len(train_all({"a" * n: 1})) for n in (8, 7)}  # @inspect needed
    # Eight halves three times. Seven makes aa and aaaa, adds the odd aa, and at last the odd "a".
    assert needed == {8: 3, 7: 4}
