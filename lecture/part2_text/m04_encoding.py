"""Encoding and decoding: from text to ids and back, fast, and what the ids are good for."""

import codecs
import functools
import heapq
import itertools
import math
import tempfile
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lecture import stories
from lecture.facts import (
    GPT2_VOCABULARY,
    GPT4_VOCABULARY,
    LLAMA_VOCABULARY,
    PALM_LAYERS,
    PALM_VOCABULARY,
    PALM_WIDTH,
    PILE_BYTES,
    SECONDS_PER_DAY,
)
from lecture.lib.pairs import Pair, merge
from lecture.lib.refused import refused
from lecture.lib.timing import fastest_seconds
from lecture.lib.token_boxes import coloured_tokens
from lecture.part2_text import m04_figures as figures
from lecture.tokenizer import Tokenizer, encoding
from lecture.tokenizer.splitting import Splitter
from lecture.tokenizer.token_files import id_type, read_ids, write_ids

END = stories.END
VOCABULARY_SIZE = 256 + 1_000 + 1


def trained(vocabulary_size: int = VOCABULARY_SIZE) -> Tokenizer:  # @stepover
    """Return a tokenizer that has learnt from two hundred stories."""
    texts = [*itertools.islice(stories.stories(), 200)]
    assert sum(map(len, texts)) == 110_446
    return Tokenizer.train(texts, vocabulary_size, [END])


@dataclass
class Lookups:
    """What an encoder asks, in operations: the same numbers on every machine."""

    asked: int = 0
    """Questions whether a pair is there, or which rank it has."""
    useful: int = 0
    """Those that led to a merge."""


def encode_by_replaying(word: str, merges: Sequence[Pair], lookups: Lookups) -> list[bytes]:
    """Try every merge of the training on the word, in order."""
    tokens = [bytes([value]) for value in word.encode()]
    for pair in merges:
        lookups.asked += 1
        if pair in itertools.pairwise(tokens):
            tokens = merge(tokens, pair)
            lookups.useful += 1
    return tokens


def encode_by_rank(word: str, ranks: dict[Pair, int], lookups: Lookups) -> list[bytes]:
    """Of the pairs that are there, merge the one that was learnt first."""
    tokens = [bytes([value]) for value in word.encode()]
    while len(tokens) > 1:
        lookups.asked += len(tokens) - 1
        first = min(itertools.pairwise(tokens), key=lambda pair: ranks.get(pair, math.inf))
        if first not in ranks:
            break
        tokens = merge(tokens, first)
        lookups.useful += 1
    return tokens


def encode_with_heap(word: str, ranks: dict[Pair, int], lookups: Lookups) -> list[bytes]:
    """The same with a heap of ranks, and tokens in a chain that shrinks where they merge."""
    tokens: list[bytes | None] = [bytes([value]) for value in word.encode()]
    following = [place + 1 for place in range(len(tokens))]
    previous = [*range(-1, len(tokens))]
    heap: list[tuple[int, int, Pair]] = []

    def offer(left: int) -> None:
        if left >= 0 and following[left] < len(tokens):
            pair = (tokens[left], tokens[following[left]])
            lookups.asked += 1
            if pair in ranks:
                heapq.heappush(heap, (ranks[pair], left, pair))

    for place in range(len(tokens)):
        offer(place)
    while heap:
        _, place, pair = heapq.heappop(heap)
        right = following[place]
        if right == len(tokens) or (tokens[place], tokens[right]) != pair:
            continue  # one of the two has been merged with another token
        tokens[place] = b"".join(pair)
        tokens[right] = None
        lookups.useful += 1
        following[place] = following[right]
        previous[following[place]] = place
        offer(previous[place])
        offer(place)
    return [token for token in tokens if token is not None]


def encode_greedily(word: str, vocabulary: Collection[bytes]) -> list[bytes]:  # @stepover
    """Take the longest token that fits, again and again: not what the training did."""
    rest = word.encode()
    tokens = []
    while rest:
        ends = range(len(rest), 0, -1)
        tokens.append(next(rest[:end] for end in ends if rest[:end] in vocabulary))
        rest = rest[len(tokens[-1]) :]
    return tokens


def encoder(
    name: str, merges: Sequence[Pair], ranks: dict[Pair, int], lookups: Lookups
) -> Callable[[str], list[bytes]]:  # @stepover
    """Return one of the encoders, by name, as a function of the word alone."""
    with_heap = functools.partial(encode_with_heap, ranks=ranks, lookups=lookups)
    encoders: dict[str, Callable[[str], list[bytes]]] = {
        "replay": functools.partial(encode_by_replaying, merges=merges, lookups=lookups),
        "smallest rank": functools.partial(encode_by_rank, ranks=ranks, lookups=lookups),
        "heap": with_heap,
        "heap, remembering": functools.cache(with_heap),
    }
    return encoders[name]


def decoding_joins_before_it_decodes():  # M4.1
    """Decoding joins before it decodes.

    How do ids become text again? Look up the bytes of each, join them all, and decode once. Why not
    token by token? A token may be [a part of a character](#bytes_cannot_be_decoded_one_by_one).
    """
    tokenizer = trained()
    word = "café 🙂"
    ids = tokenizer.encode(word)
    pieces = [tokenizer.vocabulary[number] for number in ids]  # @inspect ids pieces
    assert b"".join(pieces).decode() == word
    piece_by_piece = "".join(piece.decode("utf-8", "replace") for piece in pieces)
    assert piece_by_piece != word
    # A program that prints tokens as a model writes them has to wait until a character is whole.
    # Python's incremental decoder does that. `decode`, given ids that end in the middle, shows a
    # replacement character.
    decoder = codecs.getincrementaldecoder("utf-8")()
    printed = [decoder.decode(piece) for piece in pieces]  # @inspect printed
    assert printed == ["c", "a", "f", "", "é", " ", "", "", "", "🙂"]
    assert tokenizer.decode(ids[:-1]) == "café \ufffd"
    # The round trip is lossless for every text. We try two hundred random strings of all code
    # points but surrogates, which UTF-8 does not encode.
    generator = torch.Generator().manual_seed(0)
    for _ in range(200):
        points = torch.randint(0, 0x110000, (12,), generator=generator).tolist()
        string = "".join(map(chr, points)).encode(errors="ignore").decode()
        assert tokenizer.decode(tokenizer.encode(string)) == string
    # From ids to text and back is another matter: no text has the ids of two bytes that were merged
    # first.
    first = tokenizer.merges[0]
    apart = [tokenizer.vocabulary.index(token) for token in first]
    assert tokenizer.encode(tokenizer.decode(apart)) == [256] != apart


def encoding_replays_the_training():  # M4.2
    """Encoding replays the training.

    Which tokens does a new text get? Those that the merges of the training give it. So we make the
    merges in it one after the other, in the order in which they were learnt.
    """
    merges = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"low", b"er"), (b"w", b"er")]
    lookups = Lookups()
    tokens = encode_by_replaying("lower", merges, lookups)  # @inspect tokens lookups
    assert tokens == [b"lower"]
    # Five merges were tried, and four were there. When "w" + "er" had its turn, the "w" was part of
    # "lower". The order matters. Here are the same merges, "w" + "er" before "lo" + "w":
    assert (lookups.asked, lookups.useful) == (5, 4)
    reordered = [(b"l", b"o"), (b"e", b"r"), (b"w", b"er"), (b"lo", b"w"), (b"low", b"er")]
    other = encode_by_replaying("lower", reordered, Lookups())  # @stepover @inspect other
    assert other == [b"lo", b"wer"]
    # Why not simply take the longest token that fits, from left to right? That is another tokenizer
    # ([BERT's](https://arxiv.org/abs/1810.04805) works so). A model trained with BPE has seen other
    # tokens: of the different words of forty stories, 58 come out differently.
    tokenizer = trained()
    beetles = encode_by_replaying(" beetles", tokenizer.merges, Lookups())  # @stepover
    assert beetles == [b" beet", b"les"]
    assert encode_greedily(" beetles", tokenizer.vocabulary) == [b" beetle", b"s"]
    texts = itertools.islice(stories.stories(seed=1), 40)
    words = sorted({word for text in texts for word in Splitter("gpt2").words(text)})
    replayed = {w: encode_by_replaying(w, tokenizer.merges, Lookups()) for w in words}  # @stepover
    greedy = {w: encode_greedily(w, tokenizer.vocabulary) for w in words}
    assert (sum(greedy[w] != replayed[w] for w in words), len(words)) == (58, 648)


def most_merges_are_absent():  # M4.4
    """Most merges are absent.

    Replaying is slow. Why? A word has a handful of pairs, and a thousand merges ask for theirs. How
    many of them get a yes?
    """
    tokenizer = trained()
    story = next(stories.stories(seed=1))
    words = Splitter("gpt2").words(story)
    lookups = Lookups()
    for word in words:
        encode_by_replaying(word, tokenizer.merges, lookups)  # @stepover @inspect lookups
    assert lookups.asked == len(tokenizer.merges) * len(words)
    # About three of a thousand.
    useful_per_word = lookups.useful / len(words)  # @inspect useful_per_word
    assert round(useful_per_word, 1) == 3.3
    # To ask the same thousand questions faster would help by a constant factor. It is better to ask
    # other ones: not "is this merge in the word?" for all merges, but "which rank has this pair?"
    # for the few pairs of the word. That is another algorithm.


def the_smallest_rank_comes_first():  # M4.3
    """The smallest rank comes first.

    The place of a merge in the list is its *rank*. Of the pairs in a word, the one with the
    smallest rank is the one that replaying would find first. May we merge it at once?
    """
    # We may, as a merge can only bring pairs of a higher rank: they contain the new token, and no
    # merge learnt before it can.
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    made_by = {b"".join(pair): rank for pair, rank in ranks.items()}
    assert all(made_by.get(token, -1) < rank for pair, rank in ranks.items() for token in pair)
    # So the three encoders agree, on every word of forty stories that were not in the training.
    texts = itertools.islice(stories.stories(seed=1), 40)
    words = {word for text in texts for word in Splitter("gpt2").words(text)}
    replayed, ranked, heaped, saved = Lookups(), Lookups(), Lookups(), 0
    for word in sorted(words):
        tokens = encode_by_replaying(word, tokenizer.merges, replayed)  # @stepover
        assert encode_by_rank(word, ranks, ranked) == tokens  # @stepover
        assert encode_with_heap(word, ranks, heaped) == tokens  # @stepover
        # And nothing is left to do: no two neighbours in the result are a pair that was learnt.
        assert not ranks.keys() & {*itertools.pairwise(tokens)}
        saved += len(word.encode()) - len(tokens)
    # They make the same merges: one that has two places in a word is one for replaying and rank and
    # two for the heap, where each merge saves a token.
    assert ranked.useful == replayed.useful
    assert heaped.useful == saved > ranked.useful
    # How much less do they ask? The rank less than a fiftieth, the heap than a ninetieth.
    asked = [lookups.asked for lookups in (replayed, ranked, heaped)]  # @inspect asked
    assert asked[0] > 50 * asked[1] > 80 * asked[2]
    assert asked[0] > 90 * asked[2]


def a_heap_pays_for_long_words():  # M4.3
    """A heap pays for long words.

    Scanning looks at all pairs of a word again for each merge. The heap looks only at the
    neighbours of what has merged. Most words are short; but a clause of Chinese, which has no
    spaces, is one word, and so is a line of dashes. From which length on does a heap pay?
    """
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    text = "".join(itertools.islice(stories.stories(), 8)).replace(" ", "")
    asked = {}
    for length in (32, 128, 512, 2048):
        scanned, queued = Lookups(), Lookups()
        tokens = encode_by_rank(text[:length], ranks, scanned)  # @stepover
        assert encode_with_heap(text[:length], ranks, queued) == tokens  # @stepover
        asked[length] = scanned.asked, queued.asked  # @inspect asked
    # In questions it pays for all four. Four times the length is four times the questions for the
    # heap, and more than seven times for the scan. (Where one merge has many places, the scan makes
    # them at once: "aaaaaaaa" takes it fewer.)
    assert all(scan > heap for scan, heap in asked.values())
    for short, long in itertools.pairwise(asked.values()):
        assert long[1] < 4.5 * short[1]
        assert long[0] > 7 * short[0]
    encode_by_rank("a" * 8, {(b"a", b"a"): 0}, few := Lookups())  # @stepover
    encode_with_heap("a" * 8, {(b"a", b"a"): 0}, more := Lookups())  # @stepover
    assert few.asked < more.asked
    # On the clock it may not. In the tokenizer of this lecture a scan is one call of `min` on a
    # list, and the heap has to be built. We time both on the same text, in words of some bytes.
    merged = tokenizer._merged.get
    gains = {}
    for size in (8, 32, 128, 512):
        words = [[*text.encode()[place : place + size]] for place in range(0, 1024, size)]
        scan, heap = (
            fastest_seconds(lambda f=merge, words=words: [f([*word], merged) for word in words])
            for merge in (encoding.merge_short, encoding.merge_long)
        )  # @timed
        gains[size] = scan / heap  # @timed
    clock = figures.gains_by_length(gains)  # @timed @inspect clock
    # Short words are faster with the scan, long ones with the heap. So the tokenizer scans words of
    # up to 48 bytes, and takes the heap for longer ones.
    assert gains[8] < 1 < gains[512]  # @timed


def the_same_sample_for_every_rung():  # M4.3 E95
    """Every rung encodes the same text.

    How fast is each encoder? Here are the three, counted and timed on the same text, and a fourth:
    the heap with a memory, which thinks about each word once. On the clock the tokenizer of this
    lecture joins them. The timings include splitting into words, and the last two start with a full
    memory.
    """
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    splitter = Splitter("gpt2")
    words = splitter.words(text)
    questions, seconds, encoded = {}, {}, []
    for name in ("replay", "smallest rank", "heap", "heap, remembering"):
        lookups = Lookups()
        encode = encoder(name, tokenizer.merges, ranks, lookups)
        encoded.append([token for word in words for token in encode(word)])  # @stepover
        questions[name] = lookups.asked  # @inspect questions
        seconds[name] = fastest_seconds(lambda f=encode: [*map(f, splitter.words(text))])  # @timed
    encoded.append([tokenizer.vocabulary[number] for number in tokenizer.encode(text)])
    seconds["lecture.tokenizer"] = fastest_seconds(lambda: tokenizer.encode(text))  # @timed
    speeds = {name: len(text) / taken for name, taken in seconds.items()}  # @timed
    assert all(tokens == encoded[0] for tokens in encoded)
    by_questions = figures.ladder(
        questions, "questions", "Questions asked"
    )  # @inspect by_questions
    by_speed = figures.ladder(speeds, "bytes/s", "Bytes per second")  # @timed @inspect by_speed
    # From replaying to ranks, we ask 91 times fewer questions. The clock gives less than half of
    # that.
    fewer = questions["replay"] / questions["smallest rank"]  # @inspect fewer
    assert round(fewer) == 91
    faster = speeds["smallest rank"] / speeds["replay"]  # @timed @inspect faster
    assert 5 < faster < fewer / 2  # @timed
    # With a memory a third of the questions is left, those of the first time. But once it has read
    # the words, it asks none: on the clock this step is about as large as the first, or larger.
    assert 3 < questions["heap"] / questions["heap, remembering"] < 4
    assert speeds["heap, remembering"] / speeds["heap"] > 0.8 * faster  # @timed
    # A common mistake: to try one encoder on one text and the next on another. On a tenth of these
    # stories, the same encoder asks twice as many questions for each byte: fewer words come again.
    few, start = Lookups(), "".join(itertools.islice(stories.stories(seed=1), 2))
    encode = encoder("heap, remembering", tokenizer.merges, ranks, few)
    assert sum(len(encode(word)) for word in splitter.words(start)) == 265  # @stepover
    assert round(few.asked / len(start) / (questions["heap, remembering"] / len(text)), 1) == 2.1


def bytes_per_token_has_two_conventions():  # M4.5 E91
    """Compression is given in two ways.

    How well does a tokenizer compress? Some give tokens per byte, some bytes per token. Each is the
    inverse of the other, so a "compression ratio" without its unit can be either.
    """
    tokenizer = trained()
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    bytes_per_token = len(text.encode()) / len(ids)  # @inspect bytes_per_token
    assert round(bytes_per_token, 2) == 3.71
    # Now about half the vocabulary. For a hundred bytes it needs 40 tokens in place of 27. How much
    # more does a model pay?
    smaller = trained(600)
    more_ids = smaller.encode(text)
    per_hundred = [round(100 * len(found) / len(text)) for found in (ids, more_ids)]
    assert per_hundred == [27, 40]  # @inspect per_hundred
    # It pays by the token, and there are 49 % more of them. To say "13 percent" because 40 is 27
    # and 13 is to take points for percent.
    percent = 100 * (len(more_ids) / len(ids) - 1)  # @inspect percent
    assert round(percent) == 49


def generated_programs(count: int) -> str:  # @stepover
    """Return some text that is no English: lines of a program, made from numbers."""
    lines = (
        f"def f_{n}(x, y):\n    return x[{n * n % 97}] + {n % 7} * y[{n * 31 % 89}]\n"
        for n in range(count)
    )
    return "\n".join(lines)


def a_tokenizer_from_another_domain_costs_tokens():  # M4.6 E91
    """A tokenizer from another domain costs tokens.

    What if the text is not of the kind that the vocabulary was learnt from? Everything can still be
    encoded, since all bytes are there. But do the long tokens fit?
    """
    stories_text = "".join(itertools.islice(stories.stories(), 120))
    # The other kind is lines of a program, made from numbers.
    program_text = generated_programs(400)
    line = program_text.splitlines()[4]  # @inspect line
    tokenizers = {
        "stories": Tokenizer.train(stories_text, 600),
        "programs": Tokenizer.train(program_text, 600),
    }
    texts = {
        "stories": "".join(itertools.islice(stories.stories(seed=1), 20)),
        "programs": generated_programs(700)[len(program_text) :],
    }
    ratios = {
        (trained_on, kind): len(text) / len(tokenizer.encode(text))
        for trained_on, tokenizer in tokenizers.items()
        for kind, text in texts.items()
    }
    heat_map = figures.compression(ratios)  # @inspect heat_map
    # On the diagonal the tokenizer fits. Off it, a token is hardly more than a byte.
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items()} == {
        ("stories", "stories"): 2.5,
        ("stories", "programs"): 1.12,
        ("programs", "stories"): 1.02,
        ("programs", "programs"): 1.87,
    }
    # A model that reads programs with the tokenizer of stories gets 1.67 times the tokens. By [the
    # rule of 6](#training_costs_six_flops_per_parameter_and_token), to train it on the same text
    # costs 1.67 times the FLOPs.
    excess = ratios["programs", "programs"] / ratios["stories", "programs"]  # @inspect excess
    assert round(excess, 2) == 1.67


def two_bytes_are_enough_for_65536_ids():  # M4.7 E96
    """Two bytes are enough for 65 536 ids.

    How do we store billions of ids? As plain numbers of the smallest type that holds them all. One
    byte is too small. Four or eight, as ordinary integers have, are two or four times too much, up
    to this size of the vocabulary.
    """
    # The 32 000 tokens of [LLaMA](https://arxiv.org/abs/2302.13971) take two. (That is no reason
    # for the size: two bytes would do for twice as many.) GPT-2's fit, too, and GPT-4's do not.
    assert id_type(LLAMA_VOCABULARY).itemsize == id_type(2**16).itemsize == 2
    assert id_type(2**16 + 1).itemsize == id_type(GPT4_VOCABULARY).itemsize == 4
    assert id_type(GPT2_VOCABULARY).itemsize == 2
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids"
        write_ids(path, [0, 31_999, 5], LLAMA_VOCABULARY)
        assert path.stat().st_size == 3 * 2
        ids = read_ids(path, LLAMA_VOCABULARY).tolist()
    assert ids == [0, 31_999, 5]
    # What if an id does not fit? `astype` wraps it round in silence. An array made from a Python
    # list refuses, since NumPy 2.
    large = np.array([70_000])
    wrapped = large.astype(np.uint16)  # @inspect wrapped
    assert wrapped.tolist() == [70_000 - 2**16]
    with refused(OverflowError) as error:
        np.array(large.tolist(), dtype=np.uint16)
    assert "70000" in error.message
    # PyTorch's embedding takes 32 or 64 bits: convert a batch when you use it.
    embedding = torch.nn.Embedding(8, 3)
    batch = torch.tensor([1, 7], dtype=torch.uint16)
    with refused(RuntimeError) as error:
        embedding(batch)
    assert "indices" in error.message
    assert embedding(batch.long()).shape == (2, 3)  # @predict


def a_larger_vocabulary_costs_parameters():  # M4.8
    """A larger vocabulary costs parameters.

    Why not a million tokens? Each of V entries brings a row of the
    [embedding](#an_embedding_is_a_table_of_vectors), which turns ids into D numbers, and a row of
    the *LM head*, which turns D numbers into a score for every token: 2VD parameters. (Half of
    that where [one matrix serves as both](#looked_up_parameters_cost_no_products).) GPT-2 has
    50 257 tokens, GPT-4 about 100 000, [PaLM](https://arxiv.org/abs/2204.02311), for many
    languages, 256 000. How much of a model is that?
    """
    # A Transformer has about 12D² parameters in each layer. We take the layers and the width of the
    # smallest GPT-2, 12 and 768, and those of PaLM, 118 and 18 432.
    vocabularies = (10_000, LLAMA_VOCABULARY, GPT2_VOCABULARY, GPT4_VOCABULARY, PALM_VOCABULARY)
    percent: dict[int, list[int]] = {768: [], PALM_WIDTH: []}
    for D, L in ((768, 12), (PALM_WIDTH, PALM_LAYERS)):
        layer = torch.nn.TransformerEncoderLayer(D, 12, 4 * D, bias=False, device="meta")
        matrices = L * sum(weight.numel() for weight in layer.parameters() if weight.ndim == 2)
        assert matrices == L * 12 * D**2
        for V in vocabularies:
            embedding = torch.nn.Embedding(V, D, device="meta")
            head = torch.nn.Linear(D, V, bias=False, device="meta")
            assert embedding.weight.shape == head.weight.shape == (V, D)
            tables = embedding.weight.numel() + head.weight.numel()
            percent[D].append(round(100 * tables / (tables + matrices)))
    # In the small model the vocabulary takes 15 % with 10 000 tokens and 82 % with 256 000.
    assert percent[768] == [15, 37, 48, 64, 82]
    takes = figures.vocabulary_shares(vocabularies, percent[768])  # @inspect takes
    # The tables grow with D, and the layers with D². So the share falls as models get wider: at the
    # size of PaLM two tables for its 256 000 tokens are 2 %, and it has only one. So a large
    # model can afford a large vocabulary.
    assert percent[PALM_WIDTH] == [0, 0, 0, 1, 2]


def a_larger_vocabulary_saves_tokens():  # M4.8
    """A larger vocabulary saves tokens.

    What do the parameters buy? Fewer tokens for the same text, and more text in the same *context*,
    the most tokens that a model can look at. Each step below makes the vocabulary half as large
    again. Does each step help as much?
    """
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    ratios = {}
    for size in (300, 450, 675, 1_012):
        ratios[size] = len(text) / len(trained(size).encode(text))  # @inspect ratios
    assert [round(ratio, 2) for ratio in ratios.values()] == [1.49, 2.11, 2.69, 3.29]
    gives = figures.vocabulary_sizes(ratios)  # @inspect gives
    # No. The most frequent pieces come first, and what comes later helps less. (And by what was
    # learnt the first step is the longest, more than fourfold: from 43 merges to 193.)
    gains = [after / before for before, after in itertools.pairwise(ratios.values())]
    assert gains == sorted(gains, reverse=True)
    assert [len(trained(size).merges) for size in (300, 450)] == [43, 193]


def special_tokens_are_cut_out_first():  # M4.9
    """Special tokens are cut out first.

    How does a text say where a document ends? With a token that we agree on and that is not learnt.
    It has an id of its own, after those of bytes and merges, and is found [before anything else is
    cut](#text_is_cut_before_merging).
    """
    specials = ["<|end|>", "<|end|><|end|>"]
    tokenizer = Tokenizer.train("the end of the end", 262, specials)
    end, twice = (tokenizer.special_ids[name] for name in specials)
    ids = tokenizer.encode("the end<|end|>")
    assert ids[-1] == end == 256 + len(tokenizer.merges)
    pieces = [tokenizer.vocabulary[number] for number in ids]
    tokens = coloured_tokens(pieces, ids, "A special token is one token")  # @inspect tokens
    # When one special token begins with another, the longest counts. So they are looked for in the
    # order of their length, not in the order in which they were given.
    assert tokenizer.encode("<|end|><|end|><|end|>") == [twice, end]
    # Text from outside may contain the same letters, by accident, or to make a model believe that a
    # document has ended. So encode such text with the special tokens switched off.
    from_outside = tokenizer.encode("<|end|>", special=False)
    assert end not in from_outside
    assert tokenizer.decode(from_outside) == tokenizer.decode([end]) == "<|end|>"


def a_stream_gets_the_ids_of_the_whole_text():  # M4.9 M4.10
    """A stream gets the ids of the whole text.

    How do we encode a file that does not fit into memory? Piece by piece. But a piece may end
    within a word, or within a special token. Encode each piece by itself, and the ids are others.
    """
    tokenizer = trained()
    text = "".join(story + END for story in itertools.islice(stories.stories(seed=2), 3))
    ids = tokenizer.encode(text)
    pieces = [text[start : start + 100] for start in range(0, len(text), 100)]
    apart = [number for piece in pieces for number in tokenizer.encode(piece)]
    assert tokenizer.decode(apart) == text
    assert len(apart) > len(ids)
    # The stream holds back what could still change, and gives the ids of the whole, whatever the
    # cuts: pieces of a hundred characters, or each character alone.
    assert [*tokenizer.encode_iterable(pieces)] == ids
    assert [*tokenizer.encode_iterable(iter(text))] == ids
    # Where may it cut? Where every pattern starts a new word, whatever follows: at a single space
    # between two visible signs, for one. How much does it hold back? We count what it has read and
    # not given out.
    splitter = Splitter("gpt2", [END])
    read = given = held_back = 0

    def reading() -> Iterator[str]:
        nonlocal read, held_back
        for piece in pieces:
            held_back = max(held_back, read - given)
            read += len(piece)
            yield piece

    for part, special in splitter.stream(reading(), block_characters=100):
        given += len(part) + len(special)
    # A few hundred characters here, however long the text. Our stream looks for such a space in the
    # last 256 characters, takes the first that it finds, and looks again when as much again has
    # come.
    assert given == len(text) == 2_032
    assert 256 < held_back < 2 * 256  # @inspect held_back


def days_for_the_pile(bytes_per_second: float) -> float:
    return PILE_BYTES / bytes_per_second / SECONDS_PER_DAY


def a_corpus_takes_days_to_encode():  # M4.10
    """A corpus takes days to encode.

    [The Pile](https://arxiv.org/abs/2101.00027), a collection of text for training, has 825 GiB.
    How long does it take to encode? At one megabyte per second, ten days.
    """
    days_at_a_megabyte = days_for_the_pile(1e6)  # @inspect days_at_a_megabyte
    assert round(days_at_a_megabyte) == 10
    # And at the speeds of our encoders? We time replaying and the heap on 500 characters, and the
    # tokenizer of this lecture with an empty memory, on stories that it meets for the first time.
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    words = Splitter("gpt2").words(text[:500])
    days = {}
    for name in ("replay", "heap"):
        encode = encoder(name, tokenizer.merges, ranks, Lookups())
        assert b"".join(itertools.chain(*map(encode, words))) == text[:500].encode()  # @stepover
        seconds = fastest_seconds(lambda call=encode: [*map(call, words)])  # @timed
        days[name] = days_for_the_pile(500 / seconds)  # @timed
    seconds = fastest_seconds(lambda: Tokenizer(tokenizer.merges, [END]).encode(text))  # @timed
    days["lecture.tokenizer"] = days_for_the_pile(len(text) / seconds)  # @timed
    bars = figures.ladder(days, "days", "Days for the Pile, on one core")  # @timed @inspect bars
    # The heap takes less than a tenth of the days of replaying, and our tokenizer less than half of
    # those of the heap. (For that one, more than a fifth of the words are new. In a long text fewer
    # are.)
    assert days["replay"] > 10 * days["heap"]  # @timed
    assert days["heap"] > 2 * days["lecture.tokenizer"]  # @timed
    met = Splitter("gpt2").words(text)
    assert 0.2 < len({*met}) / len(met) < 0.25
    # Documents are independent of each other, so fifty cores can share them, for a fiftieth of the
    # time at best. They write about half of what they read: two bytes for a token of nearly four.
    ids = tokenizer.encode(text)
    id_bytes = len(ids) * id_type(len(tokenizer)).itemsize  # @inspect id_bytes
    assert 1.8 < len(text.encode()) / id_bytes < 1.9
    # What we can do now: turn text into ids by repeating the merges in the order in which they were
    # learnt, and fast, by asking only for pairs that are there. We judge a tokenizer by its bytes
    # per token, since a model pays by the token.


def exercise_a_space_at_the_end():  # M4.2 @exercise
    """Exercise: a space at the end.

    A model is to go on after "the old". You give it the prompt "the old ", with a space at the end,
    to be helpful. Is that the beginning of the ids of "the old king"?
    """
    tokenizer = trained()
    whole, prompt, spaced = map(tokenizer.encode, ("the old king", "the old", "the old "))
    shown = [tokenizer.vocabulary[number] for number in spaced]  # @inspect shown
    # No. Words carry their space in front, so " king" begins with it. A space alone is a token that
    # the model has hardly ever seen before a word. So end a prompt without a space.
    assert whole[: len(prompt)] == prompt
    assert whole[: len(spaced)] != spaced
    assert tokenizer.decode(spaced) == "the old "


def exercise_how_much_fits_into_a_context():  # M4.5 @exercise
    """Exercise: how much fits into a context.

    A model looks at 1000 tokens. With the tokenizer of 1257 tokens these are 3.7 bytes each. You
    cut the vocabulary to 600. How many bytes of a story does the model still see? And what
    happens to the FLOPs of a forward pass over its full context?
    """
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    seen = {}
    for size in (VOCABULARY_SIZE, 600):
        tokenizer = trained(size)
        ids = tokenizer.encode(text)[:1000]
        seen[size] = len(tokenizer.decode_bytes(ids))  # @inspect seen
    # Two thirds: about 2500 bytes in place of 3700. The FLOPs of the blocks stay the same, as there
    # are 1000 tokens as before; so there each byte costs half as much again. (The LM head, which
    # has a row for each entry, costs half.)
    assert 0.6 < seen[600] / seen[VOCABULARY_SIZE] < 0.7
