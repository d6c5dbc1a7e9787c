"""Encoding and decoding: from text to ids and back, fast, and what the ids are good for."""

import codecs
import functools
import heapq
import itertools
import math
import tempfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lecture import stories
from lecture.facts import (
    GPT2_VOCABULARY,
    GPT4_VOCABULARY,
    LLAMA_VOCABULARY,
    PALM_VOCABULARY,
    PILE_BYTES,
    SECONDS_PER_DAY,
)
from lecture.lib.pairs import Pair, merge
from lecture.lib.refused import refused
from lecture.lib.timing import fastest_seconds
from lecture.lib.token_boxes import coloured_tokens
from lecture.part2_text import m04_figures as figures
from lecture.tokenizer import Tokenizer
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
    if name == "replay":
        return lambda word: encode_by_replaying(word, merges, lookups)
    if name == "smallest rank":
        return lambda word: encode_by_rank(word, ranks, lookups)
    if name == "heap":
        return lambda word: encode_with_heap(word, ranks, lookups)
    return functools.cache(lambda word: encode_with_heap(word, ranks, lookups))


def decoding_joins_before_it_decodes():  # M4.1
    """Decoding joins before it decodes.

    How do ids become text again? Look up the bytes of each, join them all, and decode once. Not
    token by token: a token may be [a part of a character](#bytes_cannot_be_decoded_one_by_one).
    """
    tokenizer = trained()
    word = "café 🙂"
    ids = tokenizer.encode(word)  # @inspect ids
    pieces = [tokenizer.vocabulary[number] for number in ids]  # @inspect pieces
    assert b"".join(pieces).decode() == word
    piece_by_piece = "".join(piece.decode("utf-8", "replace") for piece in pieces)
    assert piece_by_piece != word
    # So a model that has just chosen the first half of a character has produced no text yet, and a
    # program that prints tokens as they come has to wait for the rest. Python's incremental decoder
    # does; `decode`, given ids that are cut off there, shows a replacement character.
    decoder = codecs.getincrementaldecoder("utf-8")()
    printed = [decoder.decode(piece) for piece in pieces]  # @inspect printed
    assert printed == ["c", "a", "f", "", "é", " ", "", "", "", "🙂"]
    assert tokenizer.decode(ids) == word
    assert tokenizer.decode(ids[:-1]) == "café \ufffd"
    # The way there and back holds for all text. Here for two hundred random strings, of all code
    # points that are no surrogates.
    generator = torch.Generator().manual_seed(0)
    characters = set()
    for _ in range(200):
        points = torch.randint(0, 0x110000 - 0x800, (12,), generator=generator).tolist()
        string = "".join(chr(point if point < 0xD800 else point + 0x800) for point in points)
        assert tokenizer.decode(tokenizer.encode(string)) == string
        characters |= {*string}
    assert len(characters) > 2_390
    assert 0x10F000 < max(map(ord, characters)) <= 0x10FFFF
    assert not any(0xD800 <= ord(character) < 0xE000 for character in characters)
    # The other way round it does not hold: ids can be chosen that no text has. Two bytes that
    # training has merged are never encoded as two.
    first = tokenizer.merges[0]
    apart = [tokenizer.vocabulary.index(token) for token in first]
    assert tokenizer.encode(tokenizer.decode(apart)) == [256] != apart


def encoding_replays_the_training():  # M4.2
    """Encoding replays the training.

    Which tokens does a new text get? Those it would have got had it been there in the training:
    the merges are made in it one after the other, in the order in which they were learnt.
    """
    merges = [(b"l", b"o"), (b"lo", b"w"), (b"e", b"r"), (b"low", b"er"), (b"w", b"er")]
    lookups = Lookups()
    tokens = encode_by_replaying("lower", merges, lookups)  # @inspect tokens lookups
    assert tokens == [b"lower"]
    # Five merges were tried, four were there. When "w" + "er" had its turn, the "w" was part of
    # "low".
    assert (lookups.asked, lookups.useful) == (5, 4)
    # The order matters. The same merges with the last one earlier:
    reordered = [(b"l", b"o"), (b"e", b"r"), (b"w", b"er"), (b"lo", b"w"), (b"low", b"er")]
    other = encode_by_replaying("lower", reordered, Lookups())  # @stepover @inspect other
    assert other == [b"lo", b"wer"]
    # A common mistake: to take the longest token that fits, from left to right. [BERT's
    # tokenizer](https://arxiv.org/abs/1810.04805) is made for that. A model trained with BPE has
    # seen other tokens: of the words of forty stories, 58 come out differently.
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

    Replaying is slow: why? A word has a handful of pairs, and thousands of merges ask for theirs.
    """
    tokenizer = trained()
    story = next(stories.stories(seed=1))
    words = Splitter("gpt2").words(story)
    lookups = Lookups()
    for word in words:
        encode_by_replaying(word, tokenizer.merges, lookups)  # @stepover
    # A thousand questions for each word, of which about three have the answer yes.
    assert lookups.asked == 1_000 * len(words) == 104_000
    assert lookups.useful == 345  # @inspect lookups
    assert round(lookups.useful / len(words), 1) == 3.3
    absent_percent = 100 * (1 - lookups.useful / lookups.asked)  # @inspect absent_percent
    assert round(absent_percent, 2) == 99.67
    # To ask the same thousand questions faster helps by a constant factor. Better is to ask other
    # ones: not "is this merge in the word?" for all merges, but "which rank has this pair?" for
    # the few pairs of the word. That is a change of the algorithm.


def the_smallest_rank_comes_first():  # M4.3
    """The smallest rank comes first.

    The place of a merge in the list is its *rank*. Of the pairs in a word, the one with the
    smallest rank is the one that replaying would find first. Is it safe to merge it at once?
    """
    # It is, since a merge can only bring pairs of a higher rank: they contain the new token, and
    # nothing learnt before it can.
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    made_by = {b"".join(pair): rank for pair, rank in ranks.items()}
    assert all(made_by.get(token, -1) < rank for pair, rank in ranks.items() for token in pair)
    # So the three encoders agree, on every word of forty stories it was not trained on.
    texts = itertools.islice(stories.stories(seed=1), 40)
    words = {word for text in texts for word in Splitter("gpt2").words(text)}
    assert len(words) == 648
    replayed, ranked, heaped = Lookups(), Lookups(), Lookups()
    for word in sorted(words):
        tokens = encode_by_replaying(word, tokenizer.merges, replayed)  # @stepover
        assert encode_by_rank(word, ranks, ranked) == tokens  # @stepover
        assert encode_with_heap(word, ranks, heaped) == tokens  # @stepover
    # They ask less than a fiftieth and a ninetieth as often. (The merges are one more with the heap
    # because one word has a pair twice, and only the heap makes each by itself.)
    assert (replayed.asked, ranked.asked, heaped.asked) == (648_000, 11_625, 6_845)
    assert (replayed.useful, ranked.useful, heaped.useful) == (2_974, 2_974, 2_975)


def a_heap_pays_for_long_words():  # M4.3
    """A heap pays for long words.

    Is a heap worth its trouble? Most words are short. But a sentence in a script without spaces is
    one word, and so is a line of dashes.
    """
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    asked = {}
    for story_count in (1, 2, 4):
        text = "".join(itertools.islice(stories.stories(), story_count))
        long_word = text.replace(" ", "")
        scanned, queued = Lookups(), Lookups()
        tokens = encode_by_rank(long_word, ranks, scanned)  # @stepover
        assert encode_with_heap(long_word, ranks, queued) == tokens  # @stepover
        asked[len(long_word)] = scanned.asked, queued.asked  # @inspect asked
    # To scan is to look at all pairs again for each merge: a word four times as long has four times
    # the pairs and more different merges. The heap looks only at the neighbours of what has merged.
    assert asked == {292: (18_621, 580), 861: (93_029, 1_693), 1_619: (232_273, 3_191)}
    # So the tokenizer of this lecture scans short words, which takes no preparations, and makes a
    # heap for longer ones.


def the_same_sample_for_every_rung():  # M4.3 E95
    """Every rung encodes the same text.

    How fast is each encoder? The last one on the ladder is the third with a memory: it thinks about
    each word once. On the clock, the tokenizer of this lecture joins them, which remembers, too.
    There each cuts the text into words first, and those with a memory have read it before.
    """
    tokenizer = trained()
    ranks = {pair: rank for rank, pair in enumerate(tokenizer.merges)}
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    splitter = Splitter("gpt2")
    words = splitter.words(text)
    rungs = ("replay", "smallest rank", "heap", "heap, remembering")
    questions, speeds, encoded = {}, {}, []
    for name in rungs:
        lookups = Lookups()
        encode = encoder(name, tokenizer.merges, ranks, lookups)
        encoded.append([token for word in words for token in encode(word)])  # @stepover
        questions[name] = lookups.asked  # @inspect questions
        seconds = fastest_seconds(lambda call=encode: [*map(call, splitter.words(text))])  # @timed
        speeds[name] = len(text) / seconds  # @timed
    ids = tokenizer.encode(text)
    encoded.append([tokenizer.vocabulary[number] for number in ids])
    seconds = fastest_seconds(lambda: tokenizer.encode(text))  # @timed
    speeds["lecture.tokenizer"] = len(text) / seconds  # @timed
    # The same tokens from all of them.
    assert all(tokens == encoded[0] for tokens in encoded)
    assert len(ids) == 2_977
    by_questions = figures.ladder(
        questions, "questions", "Questions asked"
    )  # @inspect by_questions
    assert list(questions.values()) == [2_379_000, 26_104, 16_601, 5_474]
    by_speed = figures.ladder(speeds, "bytes/s", "Bytes per second")  # @timed @inspect by_speed
    assert speeds["heap"] > 5 * speeds["replay"]  # @timed
    # A common mistake: to try one encoder on one text and the next on another. On a tenth of these
    # stories, the same encoder asks twice as many questions for each byte: fewer words come again.
    few = Lookups()
    start = "".join(itertools.islice(stories.stories(seed=1), 2))
    encode = encoder("heap, remembering", tokenizer.merges, ranks, few)
    assert sum(len(encode(word)) for word in splitter.words(start)) == 265  # @stepover
    assert round(few.asked / len(start) / (questions["heap, remembering"] / len(text)), 1) == 2.1


def bytes_per_token_has_two_conventions():  # M4.5 E91
    """Compression is given in two ways.

    How well does a tokenizer compress? Some give tokens per byte, some bytes per token. The one is
    the inverse of the other, and a "ratio" without its unit can be either.
    """
    tokenizer = trained()
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    bytes_per_token = len(text.encode()) / len(ids)  # @inspect bytes_per_token
    tokens_per_byte = len(ids) / len(text.encode())  # @inspect tokens_per_byte
    assert round(bytes_per_token, 2) == 3.71
    assert round(tokens_per_byte, 4) == 0.2695
    # Half the vocabulary compresses less: 40 tokens for a hundred bytes, not 27. A common mistake
    # is to call these 13 points 13 percent. What a model pays for is the number of tokens, and that
    # is 49 percent larger.
    smaller = trained(600)
    assert len(smaller) == 600
    more_ids = smaller.encode(text)
    assert round(100 * len(more_ids) / len(text)) == 40
    points = 100 * (len(more_ids) - len(ids)) / len(text)
    percent = 100 * (len(more_ids) / len(ids) - 1)
    assert (round(points, 1), round(percent, 1)) == (13.1, 48.7)


def generated_programs(count: int) -> str:  # @stepover
    """Return some text that is no English: lines of a program, made from numbers."""
    lines = (
        f"def f_{n}(x, y):\n    return x[{n * n % 97}] + {n % 7} * y[{n * 31 % 89}]\n"
        for n in range(count)
    )
    return "\n".join(lines)


def a_tokenizer_from_another_domain_costs_tokens():  # M4.6 E91
    """A tokenizer from another domain costs tokens.

    What if the text is not of the kind the vocabulary was learnt from? Everything can still be
    encoded, since all bytes are there, but the long tokens do not fit.
    """
    stories_text = "".join(itertools.islice(stories.stories(), 120))
    # The other kind is lines of a program, made from numbers.
    program_text = generated_programs(400)
    line = program_text.splitlines()[4]  # @inspect line
    assert line == "    return x[1] + 1 * y[31]"
    tokenizers = {
        "stories": Tokenizer.train(stories_text, 600),
        "programs": Tokenizer.train(program_text, 600),
    }
    texts = {
        "stories": "".join(itertools.islice(stories.stories(seed=1), 20)),
        "programs": generated_programs(700)[len(program_text) :],
    }
    assert [len(tokenizer) for tokenizer in tokenizers.values()] == [600, 600]
    assert (len(program_text), len(texts["programs"])) == (18_578, 14_020)
    ratios = {
        (trained_on, kind): len(text) / len(tokenizer.encode(text))
        for trained_on, tokenizer in tokenizers.items()
        for kind, text in texts.items()
    }
    heat_map = figures.compression(ratios)  # @inspect heat_map
    # On the diagonal the tokenizer fits.
    assert {pair: round(ratio, 2) for pair, ratio in ratios.items()} == {
        ("stories", "stories"): 2.5,
        ("stories", "programs"): 1.12,
        ("programs", "stories"): 1.02,
        ("programs", "programs"): 1.87,
    }
    # A model that reads programs with the tokenizer of stories gets 1.67 times the tokens, and
    # training it on the same text costs 1.67 times [the
    # FLOPs](#training_costs_six_flops_per_parameter_and_token).
    excess = ratios["programs", "programs"] / ratios["stories", "programs"]  # @inspect excess
    assert round(excess, 2) == 1.67


def two_bytes_are_enough_for_65536_ids():  # M4.7 E96
    """Two bytes are enough for 65 536 ids.

    How are billions of ids stored? As plain numbers of the smallest type that holds them all. One
    byte is too small, and the four or eight of ordinary integers are twice or four times too much.
    """
    # The 32 000 of [LLaMA](https://arxiv.org/abs/2302.13971) take two. A common mistake is to see
    # in that a reason for the size: two bytes would do for twice as many.
    assert id_type(LLAMA_VOCABULARY).itemsize == id_type(2**16).itemsize == 2
    assert id_type(2**16 + 1).itemsize == 4
    assert np.iinfo(np.uint8).max < LLAMA_VOCABULARY - 1 <= np.iinfo(np.uint16).max == 65_535
    # GPT-2's fits, GPT-4's does not.
    assert GPT2_VOCABULARY - 1 <= np.iinfo(np.uint16).max < GPT4_VOCABULARY - 1
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ids"
        write_ids(path, [0, 31_999, 5], LLAMA_VOCABULARY)
        assert path.stat().st_size == 3 * 2
        ids = read_ids(path, LLAMA_VOCABULARY).tolist()
    assert ids == [0, 31_999, 5]
    # A number that does not fit wraps round in silence where an array changes its type. Where an
    # array is made, it is refused.
    large = np.array([70_000])
    wrapped = large.astype(np.uint16)  # @inspect wrapped
    assert wrapped.tolist() == [70_000 - 2**16] == [4_464]
    with refused(OverflowError) as error:
        np.array(large.tolist(), dtype=np.uint16)
    assert "70000" in error.message
    # PyTorch's embedding takes 32 or 64 bits: a batch is converted when it is used.
    embedding = torch.nn.Embedding(8, 3)
    batch = torch.tensor([1, 7], dtype=torch.uint16)
    assert (embedding.num_embeddings, batch.tolist()) == (8, [1, 7])
    with refused(RuntimeError) as error:
        embedding(batch)
    assert "indices" in error.message
    assert embedding(batch.long()).shape == (2, 3)


def a_larger_vocabulary_costs_parameters():  # M4.8
    """A larger vocabulary costs parameters.

    Why not a million tokens? Each brings a row of the
    [embedding](#an_embedding_is_a_table_of_vectors), which turns ids into D numbers, and a column
    of the *head*, which turns D numbers into a score for every token. GPT-2 uses 50 257 tokens,
    GPT-4 about 100 000, [PaLM](https://arxiv.org/abs/2204.02311) with its many languages 256 000.
    """
    D = 768
    parameters = {}
    for V in (10_000, LLAMA_VOCABULARY, GPT2_VOCABULARY, GPT4_VOCABULARY, PALM_VOCABULARY):
        embedding = torch.nn.Embedding(V, D, device="meta")
        head = torch.nn.Linear(D, V, bias=False, device="meta")
        parameters[V] = embedding.weight.numel() + head.weight.numel()  # @inspect parameters
        assert embedding.weight.shape == head.weight.shape == (V, D)
        assert parameters[V] == 2 * V * D
    assert min(parameters.values()) == 15_360_000
    assert max(parameters.values()) == 393_216_000
    # It is half of that where [one matrix serves as both](#looked_up_parameters_cost_no_products),
    # as in GPT-2.
    head.weight = embedding.weight
    tied = torch.nn.ModuleList([embedding, head])
    assert 2 * sum(p.numel() for p in tied.parameters()) == max(parameters.values())
    # A Transformer of twelve layers at this width has 85 million parameters in its layers. Beside
    # them the vocabulary is a sixth at 10 000 tokens and four fifths at 256 000.
    layers = torch.nn.TransformerEncoderLayer(D, 12, 4 * D, bias=False, device="meta")
    layer_parameters = 12 * sum(p.numel() for p in layers.parameters() if p.ndim == 2)
    assert layer_parameters == 12 * 12 * D**2
    shares = {V: count / (count + layer_parameters) for V, count in parameters.items()}
    assert [round(100 * share) for share in shares.values()] == [15, 37, 48, 64, 82]
    takes = figures.vocabulary_shares(shares)  # @inspect takes


def a_larger_vocabulary_saves_tokens():  # M4.8
    """A larger vocabulary saves tokens.

    What do the parameters buy? Fewer tokens for the same text, and more text in the same *context*,
    the most tokens that a model can look at. But the most frequent words come first, and what comes
    later helps less.
    """
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    ratios = {}
    # Here each vocabulary is half as large again as the last.
    for size in (300, 450, 675, 1_012):
        ratios[size] = len(text) / len(trained(size).encode(text))  # @inspect ratios
    assert [*ratios] == [300, 450, 675, 1_012]
    assert [round(ratio, 2) for ratio in ratios.values()] == [1.49, 2.11, 2.69, 3.29]
    gives = figures.vocabulary_sizes(ratios)  # @inspect gives
    gains = [after / before for before, after in itertools.pairwise(ratios.values())]
    assert gains == sorted(gains, reverse=True)
    # The width of the ids says nothing about it: all of these fit into two bytes.
    assert {id_type(size).itemsize for size in ratios} == {2}


def special_tokens_are_cut_out_first():  # M4.9
    """Special tokens are cut out first.

    How does a text say where a document ends? With a token that is agreed on, not learnt: it has an
    id of its own, after those of bytes and merges, and is found [before anything else is
    cut](#text_is_cut_before_merging).
    """
    specials = ["<|end|>", "<|end|><|end|>"]
    tokenizer = Tokenizer.train("the end of the end", 262, specials)
    end, twice = (tokenizer.special_ids[name] for name in specials)
    ids = tokenizer.encode("the end<|end|>")
    assert len(tokenizer.merges) == 4
    assert ids[-1] == end == 256 + 4
    # When one special token begins with another, the longest counts. Hence they are looked for in
    # the order of their length, and not in the order in which they were given.
    assert tokenizer.encode("<|end|><|end|><|end|>") == [twice, end]
    pieces = [tokenizer.vocabulary[number] for number in ids]
    tokens = coloured_tokens(pieces, ids, "A special token is one token")  # @inspect tokens
    assert len(pieces) == 4
    # Text from outside may contain the same letters, by accident or to make a model believe that
    # a document has ended. Such text is encoded with the special tokens switched off.
    from_outside = tokenizer.encode("<|end|>", special=False)
    assert end not in from_outside
    assert tokenizer.decode(from_outside) == tokenizer.decode([end]) == "<|end|>"


def a_stream_gets_the_ids_of_the_whole_text():  # M4.9
    """A stream gets the ids of the whole text.

    How is a file encoded that does not fit into memory? Piece by piece. A piece may end within a
    word, or within a special token, and there its ids are not known yet.
    """
    tokenizer = trained()
    text = "".join(story + END for story in itertools.islice(stories.stories(seed=2), 3))
    ids = tokenizer.encode(text)
    assert (len(text), len(ids)) == (2_032, 522)
    pieces = [text[start : start + 100] for start in range(0, len(text), 100)]
    # A common mistake: to encode each piece by itself.
    apart = [number for piece in pieces for number in tokenizer.encode(piece)]
    assert tokenizer.decode(apart) == text
    assert len(apart) > len(ids)
    # The stream holds back what could still change, and gives the ids of the whole.
    assert [*tokenizer.encode_iterable(pieces)] == ids
    # Whatever the cuts: here each character comes alone.
    assert [*tokenizer.encode_iterable(iter(text))] == ids
    # The text can be cut where every pattern starts a new word, whatever follows: at a single space
    # between two visible signs, for one. Such places are frequent, so little is held back.
    splitter = Splitter("gpt2", [END])
    settled = [part for part, _ in splitter.stream(pieces, block_characters=100)]
    assert sum(map(len, settled)) == len(text) - 3 * len(END)
    assert (len(settled), max(map(len, settled))) == (12, 483)


def a_corpus_takes_days_to_encode():  # M4.10
    """A corpus takes days to encode.

    [The Pile](https://arxiv.org/abs/2101.00027), a collection of text for training, has 825 GiB.
    How long does it take to encode? That is arithmetic, from the speed of one process.
    """
    days = {
        rate: PILE_BYTES / rate / SECONDS_PER_DAY for rate in (4_000, 200_000, 10_000_000)
    }  # @inspect days
    assert [*days] == [4_000, 200_000, 10_000_000]
    # At 4 kB/s, which replaying in Python may reach, it would be seven years; at 200 kB/s with a
    # heap, seven weeks; at the 10 MB/s of an encoder that remembers its words, a day.
    assert [round(number) for number in days.values()] == [2_563, 51, 1]
    # Documents are independent, so processes share the work without talking to each other. Fifty
    # of the middle kind are done in about a day.
    assert round(days[200_000] / 50, 2) == 1.03
    # What they write is about half of what they read: two bytes for each token of nearly four.
    tokenizer = trained()
    text = "".join(itertools.islice(stories.stories(seed=1), 20))
    id_bytes = len(tokenizer.encode(text)) * id_type(len(tokenizer)).itemsize
    assert (len(text), id_bytes) == (11_047, 5_954)
    assert round(len(text) / id_bytes, 2) == 1.86
    # This chapter in short: encoding repeats the merges in the order in which they were learnt, and
    # is fast when it asks only for pairs that are there. A tokenizer is judged by its bytes per
    # token, since a model pays by the token.
