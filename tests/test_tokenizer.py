"""The tokenizer people can use: its results, its files, its errors, its command line."""

import contextlib
import io
import itertools
import json
import multiprocessing
import os
import pty
import re
import signal
import subprocess
import sys
import tracemalloc
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import regex
import tiktoken
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tiktoken.load import data_gym_to_mergeable_bpe_ranks

from benchmarks.tokenizer import tiktoken_of
from lecture import stories
from lecture.tokenizer import Tokenizer, TokenizerError, cli, counting, files, merging, token_files
from lecture.tokenizer.encoding import NEVER, merge_long, merge_symbols
from lecture.tokenizer.progress import ProgressBar
from lecture.tokenizer.splitting import PATTERNS, SURE_CUT, Splitter

ROOT = Path(__file__).parent.parent
END = stories.END
MIXED = (
    "Hello, world! It's 3 o'clock; we'll have 12345 €.\n\n  Indented\tand\r\nbroken.  \n"
    "Größe, naïve, Москва, Ελλάδα, नमस्ते दुनिया, 你好，世界。こんにちは "
    "🙂👩\u200d👩\u200d👧 e\u0301\u00a0x\u2003y\x00z\x1c\x85 ½²Ⅷ"
)
# Few letters, so that pairs repeat, tie and overlap.
words = st.text("ab", max_size=9) | st.text("abcé🙂", max_size=7)
corpora = st.dictionaries(words, st.integers(1, 4), max_size=8)
any_text = st.text() | st.text(" \n\t'saltre1é🙂.", max_size=40) | st.text("ab ", max_size=30)


def train_plainly(word_counts, wanted):
    """The definition: count everything, merge the largest of the most frequent, repeat."""
    rows = [([bytes([b]) for b in word.encode()], n) for word, n in word_counts.items()]
    merges = []
    while len(merges) < wanted:
        counts = Counter()
        for row, n in rows:
            for pair in itertools.pairwise(row):
                counts[pair] += n
        if not counts:
            break
        best = max(counts, key=lambda pair: (counts[pair], pair))
        merges.append(best)
        rows = [(replace_pair(row, best), n) for row, n in rows]
    return merges


def replace_pair(row, pair):
    new = []
    for token in row:
        # The token on the left may itself have been made just now; it is not `pair[0]` then.
        if new and not new[-1][1] and (new[-1][0], token) == pair:
            new[-1] = (new[-1][0] + token, True)
        else:
            new.append((token, False))
    return [token for token, _ in new]


def encode_plainly(word, merges):
    row = [bytes([b]) for b in word.encode()]
    for pair in merges:
        row = replace_pair(row, pair)
    return row


@given(corpora, st.integers(0, 30))
@settings(max_examples=1500)
@example({"aaaaaaa": 1, "aaaa": 2}, 10)
@example({"abab": 1, "ba": 1}, 10)
def test_the_same_merges_as_by_definition(word_counts, wanted):
    assert merging.learn_merges(word_counts, wanted) == train_plainly(word_counts, wanted)


def test_ties_go_to_the_largest_pair_of_byte_strings():
    assert merging.learn_merges({"ab": 3, "ba": 3}, 1) == [(b"b", b"a")]
    # (a, ba) and (a, b) are compared as pairs, not as what they make.
    assert merging.learn_merges({"ba": 2, "aba": 1, "ab": 1}, 2)[1] == (b"a", b"ba")


@given(corpora, words)
@settings(max_examples=500)
@example({"aaaaa": 1, "aaa": 3}, "aaaaaaa")
def test_the_same_tokens_as_by_replaying_the_merges(word_counts, word):
    merges = merging.learn_merges(word_counts, 20)
    tokenizer = Tokenizer(merges)
    expected = encode_plainly(word, merges)
    merged = tokenizer._merged.get
    for encode in (merge_symbols, merge_long):
        assert [tokenizer.vocabulary[n] for n in encode([*word.encode()], merged)] == expected
    assert tokenizer._encode_word(word) == tuple(merge_symbols([*word.encode()], merged))


@given(corpora)
@settings(max_examples=300)
def test_every_learnt_token_is_new_and_encodes_to_itself(word_counts):
    tokenizer = Tokenizer(merging.learn_merges(word_counts, 30))
    assert len(set(tokenizer.vocabulary)) == len(tokenizer)
    for number, token in enumerate(tokenizer.vocabulary):
        assert merge_symbols([*token], tokenizer._merged.get) == [number]


def test_long_words_take_the_other_way_to_the_same_tokens():
    tokenizer = Tokenizer.train("ab" * 40 + "a" * 50 + "b" * 70, 300)
    for word in ("ab" * 500, "a" * 999, "abb" * 333, "ba" * 33):
        ids = [*word.encode()]
        short = merge_short(ids, tokenizer._merged.get)
        assert merge_symbols([*ids], tokenizer._merged.get) == short


def merge_short(symbols, merged):
    while True:
        offers = [merged(pair, NEVER) for pair in itertools.pairwise(symbols)]
        if not offers or min(offers) == NEVER:
            return symbols
        place = offers.index(min(offers))
        symbols = [*symbols[:place], min(offers), *symbols[place + 2 :]]


# --- text and ids -------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=PATTERNS)
def tokenizer(request):
    text = stories.text(60_000) + MIXED * 5
    return Tokenizer.train(text, 1_200, [END, "<|pad|>"], request.param)


@given(any_text)
@settings(max_examples=300)
def test_decoding_gives_the_text_back(tokenizer, text):
    assert tokenizer.decode(tokenizer.encode(text)) == text


def hugging_face_of(tokenizer):
    """The same vocabulary in Hugging Face's form, where bytes are written as characters."""
    alphabet = [*range(33, 127), *range(161, 173), *range(174, 256)]
    shown = {byte: chr(byte) for byte in alphabet}
    rest = (byte for byte in range(256) if byte not in shown)
    shown |= {byte: chr(256 + number) for number, byte in enumerate(rest)}

    def spell(token):
        return "".join(shown[byte] for byte in token)

    plain = tokenizer.vocabulary[: 256 + len(tokenizer.merges)]
    model = tokenizers.models.BPE(
        {spell(token): number for number, token in enumerate(plain)},
        [(spell(left), spell(right)) for left, right in tokenizer.merges],
    )
    theirs = tokenizers.Tokenizer(model)
    # Their regular expressions (Oniguruma) read `\s` and possessive signs as ours do.
    split = tokenizers.pre_tokenizers.Split(
        tokenizers.Regex(PATTERNS[tokenizer.pattern]), "isolated"
    )
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.Sequence([split, byte_level])
    theirs.add_special_tokens(tokenizer.special_tokens)
    return theirs


def test_the_same_ids_as_tiktoken_and_hugging_face(tokenizer):
    for text in (
        MIXED,
        stories.text(20_000, seed=4),
        MIXED[::-1],
        (ROOT / "README.md").read_text(),
    ):
        ids = tokenizer.encode(text)
        assert ids == tiktoken_of(tokenizer).encode(text, allowed_special="all")
        assert ids == hugging_face_of(tokenizer).encode(text).ids


@given(any_text)
@settings(max_examples=200)
def test_the_same_ids_as_tiktoken_on_any_text(tokenizer, text):
    assert tokenizer.encode(text) == tiktoken_of(tokenizer).encode(text, allowed_special="all")


@given(st.text(st.characters(max_codepoint=127)) | st.text(" \n\r'tslLvV12.!a\x1c", max_size=12))
@settings(max_examples=1500)
@pytest.mark.parametrize("name", PATTERNS)
def test_the_faster_patterns_cut_ascii_in_the_same_way(name, text):
    splitter = Splitter(name)
    assert splitter.ascii_pattern.findall(text) == splitter.pattern.findall(text)


def test_white_space_of_the_standard_library_includes_that_of_the_patterns():
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    ours = set(re.findall(r"\s", every))
    assert set(regex.findall(r"\s", every)) <= ours
    assert ours == {c for c in every if c.isspace()}


pieces = st.lists(
    st.text(" \n\r'tsl12.!éa<|>endof", max_size=6) | st.sampled_from([END, "<|a|>", "<|a|><|b|>"])
)


@given(pieces, st.integers(1, 12))
@settings(max_examples=1000)
@pytest.mark.parametrize("name", PATTERNS)
def test_a_stream_is_cut_like_the_whole_text(name, pieces, block_characters):
    splitter = Splitter(name, [END, "<|a|>", "<|a|><|b|>", "|><"])

    def cut(parts):
        return [word for text, token in parts for word in (*splitter.words(text), token) if word]

    whole = cut(splitter.parts("".join(pieces)))
    assert cut(splitter.stream(pieces, block_characters)) == whole
    assert "".join(whole) == "".join(pieces)


def test_a_sure_cut_is_one_for_both_patterns():
    text = MIXED + " " + stories.text(3_000)
    cuts = [match.start() for match in SURE_CUT.finditer(text)]
    assert len(cuts) > 400
    for name in PATTERNS:
        starts = {match.start() for match in Splitter(name).pattern.finditer(text)}
        assert starts >= set(cuts)


@given(st.lists(any_text, max_size=5))
@settings(max_examples=100)
def test_streaming_gives_the_ids_of_the_whole_text(tokenizer, pieces):
    text = "".join(pieces)
    assert [*tokenizer.encode_iterable(pieces)] == tokenizer.encode(text)


def test_streaming_takes_little_memory():
    tokenizer = Tokenizer.train(stories.text(50_000), 600, [END])
    story = next(stories.stories())
    text = f"{story} {END}" * 2_000

    def peak(encode):
        tracemalloc.start()
        for _ in encode():
            pass
        _, peak_bytes = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak_bytes

    def lines():
        for start in range(0, len(text), 1_000):
            yield text[start : start + 1_000]

    tokenizer.encode(text[:100_000])
    assert peak(lambda: tokenizer.encode_iterable(lines())) < 1_500_000
    assert peak(lambda: tokenizer.encode(text)) > 3_000_000


def test_a_stream_of_one_endless_word_is_not_searched_again_and_again():
    tokenizer = Tokenizer.train("aaaa", 258)
    ids = [*tokenizer.encode_iterable(itertools.repeat("a" * 1_000, 300))]
    assert len(ids) == 300_000 // 4


# --- special tokens -----------------------------------------------------------------------------


def test_special_tokens_have_one_id_each_and_the_longest_counts():
    tokenizer = Tokenizer.train("aaa", 259 + 1, ["<|a|>", "<|a|><|b|>", "(.*)"])
    short, long, dots = (tokenizer.special_ids[name] for name in tokenizer.special_tokens)
    assert [short, long, dots] == [257, 258, 259]
    assert tokenizer.encode("<|a|>") == [short]
    assert tokenizer.encode("<|a|><|b|>") == [long]
    assert tokenizer.encode("<|a|><|a|><|b|>(.*)") == [short, long, dots]
    assert tokenizer.decode([short, 97, long]) == "<|a|>a<|a|><|b|>"


def test_special_tokens_can_be_taken_as_text():
    tokenizer = Tokenizer.train("aaa", 300, ["<|a|>"])
    assert tokenizer.encode("<|a|>", special=False) == [*b"<|a|>"]
    assert [*tokenizer.encode_iterable(["<|", "a|>"], special=False)] == [*b"<|a|>"]
    assert [*tokenizer.encode_iterable(["<|", "a|>"])] == [tokenizer.special_ids["<|a|>"]]


def test_nothing_is_learnt_from_special_tokens_or_across_them():
    tokenizer = Tokenizer.train("ab<|x|>ab<|x|>", 300, ["<|x|>"])
    assert tokenizer.merges == [(b"a", b"b")]
    assert len(tokenizer) == 258, "there was no more to merge"
    assert Tokenizer.train("", 300).merges == []


# --- training from files ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    path = tmp_path_factory.mktemp("corpus") / "stories.txt"
    path.write_text(stories.text(300_000) + MIXED + END + MIXED, encoding="utf-8", newline="")
    return path


def test_the_count_depends_neither_on_workers_nor_on_ranges(corpus):
    text = corpus.read_bytes().decode()
    splitter = Splitter("gpt2", [END])
    expected = Counter(
        itertools.chain.from_iterable(map(splitter.pattern.findall, text.split(END)))
    )
    for workers, range_bytes in [(1, 10**9), (1, 1), (1, 7_000), (2, 50_000)]:
        counts = counting.count_file(corpus, splitter, workers, range_bytes=range_bytes)
        assert counts == expected
    assert counting.count_texts(text.split(END), splitter) == expected
    assert multiprocessing.active_children() == []


def test_the_same_vocabulary_from_a_file_a_text_and_its_parts(corpus):
    text = corpus.read_bytes().decode()
    from_file = Tokenizer.train(corpus, 700, [END])
    assert Tokenizer.train(text, 700, [END]).merges == from_file.merges
    assert Tokenizer.train(text.split(END), 700, [END]).merges == from_file.merges
    assert len(from_file) == 700


def test_ranges_are_small_enough_for_workers_to_end_together():
    assert counting.good_range_bytes(10**8, 2) == 10**8 // 16
    assert counting.good_range_bytes(10**5, 2) == counting.LEAST_RANGE_BYTES
    assert counting.good_range_bytes(10**12, 2) == counting.MOST_RANGE_BYTES


special_texts = st.lists(st.sampled_from(["ab", "bc", "abc", "a", "c", "é", "<x>", "x><", "  "]))


@given(special_texts, st.integers(1, 6), st.integers(8, 40))
@settings(max_examples=300)
def test_cuts_fall_only_where_a_special_token_begins(tmp_path_factory, parts, range_bytes, block):
    """Also where special tokens overlap, and where the file is read in small blocks."""
    path = tmp_path_factory.mktemp("cut") / "text"
    text = "".join(parts)
    path.write_bytes(text.encode())
    specials = ["ab", "bc", "<x>", "x><"]
    splitter = Splitter("gpt2", specials)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(counting, "BLOCK_BYTES", block)
        ranges = counting.Cutter(path, tuple(t.encode() for t in specials)).ranges(range_bytes)
        counts = counting.count_file(path, splitter, range_bytes=range_bytes)
    starts, place = {0}, 0
    for part, token in splitter.parts(text):
        place += len(part.encode())
        if token:
            starts.add(place)
            place += len(token.encode())
    assert [start for start, _ in ranges if start not in starts] == []
    assert [0, *(stop for _, stop in ranges)] == [
        *(start for start, _ in ranges),
        len(text.encode()),
    ]
    assert counts == counting.count_texts([text], splitter)


def test_a_large_file_is_counted_in_little_memory(tmp_path):
    path = tmp_path / "large"
    path.write_text((next(stories.stories()) + "\n") * 40_000)
    assert path.stat().st_size > 14_000_000
    splitter = Splitter("gpt2")
    tracemalloc.start()
    counts = counting.count_file(path, splitter)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 8_000_000
    assert counts["\n"] == 40_000


# Without the usual guard for its main part: a worker that ran the script again would never end.
SCRIPT = """
import sys
from pathlib import Path
from lecture.tokenizer.counting import count_file
from lecture.tokenizer.splitting import Splitter

splitter = Splitter("gpt2", ["<|endoftext|>"])
print(count_file(Path(sys.argv[1]), splitter, 2, range_bytes=100_000).total())
assert "torch" not in sys.modules
"""


def test_a_script_can_count_with_workers_and_without_torch(corpus, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    command = [sys.executable, str(script), str(corpus)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    finished = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == f"{counting.count_file(corpus, Splitter('gpt2', [END])).total()}\n"


def count_as_a_worker(corpus):
    return counting.count_file(corpus, Splitter("gpt2", [END]), 2, range_bytes=100_000).total()


def test_a_process_that_may_start_no_others_counts_alone(corpus):
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(count_as_a_worker, (corpus,)) == count_as_a_worker(corpus)


class KillingSplitter(Splitter):
    def words(self, text):
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_worker_that_is_killed_is_noticed(corpus):
    """As by a system that has run out of memory."""
    with pytest.raises(TokenizerError, match="a worker was killed"):
        counting.count_file(corpus, KillingSplitter("gpt2", [END]), 2, range_bytes=100_000)
    assert multiprocessing.active_children() == []


def test_a_worker_says_what_is_wrong_with_the_file(tmp_path):
    path = tmp_path / "latin1"
    path.write_bytes(f"ab{END}".encode() * 1_000 + b"ab\xe9cd")
    with pytest.raises(TokenizerError, match=r"latin1 is not UTF-8 at byte 15,002"):
        counting.count_file(path, Splitter("gpt2", [END]), 2, range_bytes=5_000)


def told_of(corpus, **options):
    told = []
    counting.count_file(
        corpus, Splitter("gpt2", [END]), progress=lambda *state: told.append(state), **options
    )
    return told


def test_progress_is_told(corpus):
    seen = []
    Tokenizer.train(corpus, 300, [END], progress=lambda *state: seen.append(state))
    size = corpus.stat().st_size
    assert seen[:2] == [("counting", counting.BLOCK_BYTES, size), ("counting", size, size)]
    assert seen[2:] == [("merging", done, 43) for done in range(1, 44)]
    total = 0
    for done, whole in told_of(corpus, workers=2, range_bytes=100_000):
        assert total < done <= whole == size
        total = done
    assert total == size


# --- bad input ----------------------------------------------------------------------------------

# what is done -> what the error says
ERRORS = [
    (lambda: Tokenizer.train("a", 257, ["<|x|>", "<|y|>"]), "too small: 256 bytes and 2 special"),
    (lambda: Tokenizer.train("a", 0), "a vocabulary of 0 is too small"),
    (lambda: Tokenizer.train("a", 300, [""]), "a special token is empty"),
    (lambda: Tokenizer.train("a", 300, ["<|x|>", "<|x|>"]), "'<|x|>' is given twice"),
    (lambda: Tokenizer.train("a", 300, "<|x|>"), "a list, not one text"),
    (lambda: Tokenizer.train("a", 300, pattern="gpt3"), "no split pattern 'gpt3'; there are: gpt2"),
    (lambda: Tokenizer.train(Path(__file__), 300, workers=0), "0 workers count nothing"),
    (lambda: Tokenizer([(b"a", b"b"), (b"c", b"bd")]), "merge 2 joins b'c' and b'bd'"),
    (lambda: Tokenizer([(b"a", b"b"), (b"a", b"b")]), "merge 2 makes b'ab', which exists"),
    (lambda: Tokenizer([]).decode([3, 256]), "there is no id 256; this vocabulary has 0 to 255"),
    (lambda: Tokenizer([]).decode([-1]), "there is no id -1"),
    (lambda: Tokenizer([]).encode("a\ud800"), "U+D800 is half a surrogate pair"),
    (lambda: Tokenizer.train("ab\udfff", 300), "U+DFFF is half a surrogate pair"),
    (lambda: Tokenizer.train("a", 300, ["<\ud800>"]), "U+D800 is half a surrogate pair"),
    (lambda: Tokenizer([]).save(ROOT), "is a folder"),
    (lambda: Tokenizer([]).save(ROOT / "missing" / "a.vocab"), "there is no folder"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors_say_what_was_wrong(call, message):
    with pytest.raises(TokenizerError, match=re.escape(message)):
        call()


def test_invalid_utf8_is_replaced_or_refused():
    tokenizer = Tokenizer([])
    ids = [*"é".encode(), 0xFF, 0xC3]
    assert tokenizer.decode(ids) == "é\ufffd\ufffd"
    assert tokenizer.decode_bytes(ids) == b"\xc3\xa9\xff\xc3"
    with pytest.raises(UnicodeDecodeError):
        tokenizer.decode(ids, errors="strict")


def test_a_file_that_is_no_utf8_is_refused_with_the_place(tmp_path):
    path = tmp_path / "latin1"
    path.write_bytes("é".encode() + b"ab\xe9cd")
    with pytest.raises(TokenizerError, match=r"latin1 is not UTF-8 at byte 4"):
        Tokenizer.train(path, 300)
    path.write_bytes(b"ab" + "é".encode()[:1])
    with pytest.raises(TokenizerError, match=r"latin1 is not UTF-8 at byte 2"):
        Tokenizer.train(path, 300)


# --- vocabulary files ---------------------------------------------------------------------------


def test_a_vocabulary_is_saved_and_loaded(tokenizer, tmp_path):
    path = tmp_path / "a.vocab"
    tokenizer.save(path)
    loaded = Tokenizer.load(path)
    assert loaded.vocabulary == tokenizer.vocabulary
    assert loaded.encode(MIXED) == tokenizer.encode(MIXED)
    assert loaded.pattern == tokenizer.pattern
    assert [*tmp_path.iterdir()] == [path]
    if os.name == "posix":
        (tmp_path / "plain").touch()
        assert path.stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_the_form_of_the_file_is_the_documented_one(tmp_path):
    path = tmp_path / "a.vocab"
    documented = re.findall(r"^    (.*)$", files.__doc__, flags=re.MULTILINE)
    path.write_text("".join(f"{line}\n" for line in documented), encoding="utf-8")
    loaded = Tokenizer.load(path)
    assert loaded.merges == [(b" ", b"t"), (b" t", b"h"), (b"\n", b"\n"), (b"\xc3", b"\xa9")]
    assert loaded.special_tokens == [END]
    loaded.save(tmp_path / "again.vocab")
    assert (tmp_path / "again.vocab").read_bytes() == path.read_bytes()


@given(st.binary() | any_text.map(lambda text: text.encode("utf-8", "replace")))
def test_any_token_can_be_written(token):
    line = files.escape(token)
    assert files.unescape(line) == token
    assert not re.search(r"\s", line) and line.isprintable()


# a change to a good file -> what the error says
BROKEN = [
    (lambda text: "", "is no vocabulary; its first line should be"),
    (lambda text: '{"model": "BPE"}\n', "is no vocabulary"),
    (lambda text: text.replace("version 1", "version 2"), "is no vocabulary"),
    (lambda text: text[:-4], "the file ends too early"),
    (lambda text: text[:-1], "the file ends too early"),
    (lambda text: text[:90], ": the file ends too early"),
    (lambda text: text.replace("gpt2", "gpt9"), ":2: there is no split pattern 'gpt9'"),
    (lambda text: text.replace("merges: 2", "merges: two"), ":3: here should be the number of"),
    (lambda text: text.replace("merges: 2", "merges: 1"), ":5: here should be 'special tokens: "),
    (lambda text: text.replace("merges: 2", "merges: 3"), ":6: here should be 2 tokens"),
    (lambda text: text.replace("a b", "a  b"), ":4: here should be 2 tokens"),
    (lambda text: text.replace("a b", r"a \q"), "is no escape"),
    (lambda text: text.replace("a b", "a\\"), ":4: "),
    (lambda text: text.replace("ab c", "ax c"), "merge 2 joins b'ax' and b'c'"),
    (lambda text: text.replace("ab c", "a b"), "merge 2 makes b'ab', which exists"),
    (lambda text: text.replace(END, f"{END}\n{END}").replace("ns: 1", "ns: 2"), "given twice"),
    (lambda text: text.replace("end\n", "more\n"), ":8: here should be 'end'"),
    (lambda text: text + "\n", ":8: nothing should follow the end"),
    (lambda text: text.replace(END, r"\xff"), r":7: the special token \xff is no UTF-8"),
    (lambda text: text.replace("ns: 1", "ns: " + "9" * 5_000), ":6: here should be the number of"),
]


@pytest.mark.parametrize(("change", "message"), BROKEN)
def test_a_wrong_or_truncated_file_is_refused(change, message, tmp_path):
    path = tmp_path / "a.vocab"
    Tokenizer([(b"a", b"b"), (b"ab", b"c")], [END]).save(path)
    path.write_text(change(path.read_text()))
    with pytest.raises(TokenizerError, match=re.escape(message)) as error:
        Tokenizer.load(path)
    assert str(path) in str(error.value)


def test_a_binary_file_is_refused(tmp_path):
    path = tmp_path / "a.vocab"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TokenizerError, match="it is no UTF-8 text"):
        Tokenizer.load(path)


def test_a_file_is_replaced_as_a_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.vocab"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), files.replacing(path) as file:
        file.write(b"half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert [*tmp_path.iterdir()] == [path]


def test_what_is_no_file_is_written_into_and_a_link_stays_one(tmp_path):
    pipe, link, target = (tmp_path / name for name in ("pipe", "link", "target"))
    os.mkfifo(pipe)
    link.symlink_to(target)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_bytes)
        for path in (pipe, link):
            with files.replacing(path) as file:
                file.write(b"all of it")
        assert read.result() == target.read_bytes() == b"all of it"
    assert pipe.is_fifo() and link.is_symlink()


# --- token files --------------------------------------------------------------------------------


@pytest.mark.parametrize(("size", "itemsize"), [(300, 2), (65_536, 2), (65_537, 4)])
def test_ids_are_written_in_the_smallest_type(size, itemsize, tmp_path):
    path = tmp_path / "a.ids"
    ids = [0, 1, 258, size - 1] * 50_000
    assert token_files.write_ids(path, iter(ids), size) == len(ids)
    assert path.stat().st_size == itemsize * len(ids)
    assert path.read_bytes()[: 3 * itemsize] == b"".join(
        n.to_bytes(itemsize, "little") for n in ids[:3]
    )
    read = token_files.read_ids(path, size)
    assert read.dtype == np.dtype(f"<u{itemsize}")
    assert read.tolist() == ids


def test_bad_ids_leave_nothing_behind(tmp_path):
    for ids in ([1, 300], [-1]):
        with pytest.raises(TokenizerError, match="outside a vocabulary of 300"):
            token_files.write_ids(tmp_path / "a.ids", ids, 300)
    assert [*tmp_path.iterdir()] == []
    (tmp_path / "odd").write_bytes(b"abc")
    with pytest.raises(TokenizerError, match="has 3 bytes"):
        token_files.read_ids(tmp_path / "odd", 300)
    (tmp_path / "odd").write_bytes(b"")
    assert token_files.read_ids(tmp_path / "odd", 300).tolist() == []


# --- the command line ---------------------------------------------------------------------------


def run(*arguments, cwd):
    command = [sys.executable, "-m", "lecture.tokenizer", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, env=environment)


def test_the_commands_from_text_to_ids_and_back(tmp_path):
    text = stories.text(30_000) + MIXED
    (tmp_path / "a.txt").write_text(text, encoding="utf-8", newline="")
    trained = run(
        "train", "a.txt", "--size", "500", "--special", END, "--workers", "2", cwd=tmp_path
    )
    assert trained.returncode == 0, trained.stderr
    assert trained.stderr == "", "no bar where nobody watches"
    assert re.match(r"a\.txt\.vocab: [\d,]+ bytes in [\d.]+ s, [\d,]+ bytes/s\n", trained.stdout)
    assert "500 tokens: 256 bytes, 243 merges, 1 special" in trained.stdout
    encoded = run("encode", "a.txt", "-v", "a.txt.vocab", cwd=tmp_path)
    assert re.match(
        r"a\.txt\.ids: [\d,]+ ids of 16 bits, \d\.\d{3} bytes per token", encoded.stdout
    )
    assert re.search(r"[\d,]+ bytes/s", encoded.stdout)
    decoded = run("decode", "a.txt.ids", "-v", "a.txt.vocab", "-o", "b.txt", cwd=tmp_path)
    assert decoded.returncode == 0
    assert (tmp_path / "b.txt").read_bytes() == text.encode()
    inspected = run("inspect", "a.txt.vocab", "--text", "a.txt", cwd=tmp_path)
    assert "longest tokens: " in inspected.stdout
    assert re.search(r"a\.txt: [\d,]+ tokens, \d\.\d{3} bytes per token", inspected.stdout)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "a.txt", "a.txt.ids", "a.txt.vocab", "b.txt",
    ]  # fmt: skip


def test_decoding_to_the_terminal(tmp_path, capsys):
    Tokenizer([]).save(tmp_path / "v")
    token_files.write_ids(tmp_path / "ids", [*"Grüße 🙂".encode(), 0xFF], 256)
    assert cli.main(["decode", str(tmp_path / "ids"), "-v", str(tmp_path / "v")]) == 0
    assert capsys.readouterr().out == "Grüße 🙂\ufffd"


# arguments -> what stands on stderr
BAD_COMMANDS = [
    (["train", "missing"], "missing: No such file"),
    (["train", "a.txt", "--size", "3"], "a vocabulary of 3 is too small"),
    (["encode", "a.txt", "-v", "a.txt"], "is no vocabulary"),
    (["decode", "a.txt", "-v", "missing"], "missing"),
    (["inspect", "a.txt"], "is no vocabulary"),
    (["train", "."], ".: Is a directory"),
    (["train", "a.txt", "--special", ""], "a special token is empty"),
    (["train", "a.txt", "-o", "folder/a.vocab"], "there is no folder"),
    (["train", "a.txt", "-o", "."], "is a folder"),
]


@pytest.mark.parametrize(("arguments", "message"), BAD_COMMANDS)
def test_bad_commands_end_in_a_sentence(arguments, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("abc")
    assert cli.main(arguments) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.out == ""
    assert [*map(str, Path().iterdir())] == ["a.txt"]


def test_an_interrupted_training_writes_nothing(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("abab abab")
    Path("a.txt.vocab").write_text("old")

    def interrupted(*state):
        raise KeyboardInterrupt

    monkeypatch.setattr(ProgressBar, "__call__", interrupted)
    assert cli.main(["train", "a.txt"]) == 130
    assert "no file was written" in capsys.readouterr().err
    assert Path("a.txt.vocab").read_text() == "old"
    assert sorted(map(str, Path().iterdir())) == ["a.txt", "a.txt.vocab"]


def test_a_training_that_cannot_be_written_does_not_begin(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("abc")
    monkeypatch.setattr(Tokenizer, "train", lambda *_, **__: pytest.fail("it began"))
    assert cli.main(["train", "a.txt", "-o", "folder/a.vocab"]) == 1


# a command -> the phase in which it is interrupted
INTERRUPTED = [
    (["train", "a.txt", "-o", "out", "--special", END, "--workers", "2"], b"counting"),
    (["train", "a.txt", "-o", "out", "--size", "2000000"], b"counting"),
    (["encode", "a.txt", "-o", "out", "-v", "v"], b"encoding"),
]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize(("arguments", "phase"), INTERRUPTED)
def test_an_interrupted_command_leaves_nothing_behind(arguments, phase, number, tmp_path):
    """Its workers, which a terminal interrupts with it, say nothing."""
    text = stories.text(100_000)
    with (tmp_path / "a.txt").open("w") as file:
        for _ in range(400):
            file.write(text)
    Tokenizer([]).save(tmp_path / "v")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "lecture.tokenizer", *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    shown = b""
    while phase not in shown:
        shown += os.read(ours, 100)
    os.killpg(process.pid, number)
    with contextlib.suppress(OSError):  # the terminal is gone
        while more := os.read(ours, 100):
            shown += more
    os.close(ours)
    assert process.wait(timeout=120) == 130
    assert shown.endswith(b"\rinterrupted; no file was written\r\n")
    assert b"Traceback" not in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "v"]


def test_a_pipe_that_closes_early_is_no_error(tmp_path):
    Tokenizer([]).save(tmp_path / "v")
    token_files.write_ids(tmp_path / "ids", [97] * 2_000_000, 256)
    process = subprocess.Popen(
        [sys.executable, "-m", "lecture.tokenizer", "decode", "ids", "-v", "v"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout.read(3) == b"aaa"
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=120) == 1


def test_the_module_started_as_a_file_says_how_it_is_started(tmp_path):
    command = [sys.executable, str(ROOT / "lecture/tokenizer/__main__.py")]
    finished = subprocess.run(command, capture_output=True, text=True)
    assert finished.returncode == 2
    assert "python -m lecture.tokenizer" in finished.stderr


def test_a_bar_fills_on_a_terminal():
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    bar = ProgressBar(terminal)
    bar("merging", 1, 4)
    bar("merging", 2, 4)
    bar("merging", 4, 4)
    bar.clear()
    shown = terminal.getvalue().split("\r")
    assert shown[1] == f"merging    [{'#' * 8:<30}]  25%"
    assert shown[2] == f"merging    [{'#' * 30}] 100%", "what comes at once is left out"
    assert shown[3].isspace()


# Vocabularies of other programs ------------------------------------------------------------------

GPT4_AS_OTHERS_WRITE_IT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def cutting_like_gpt2():
    return tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)


def cutting_like_gpt4():
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(GPT4_AS_OTHERS_WRITE_IT), "isolated")
    byte_level = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return tokenizers.pre_tokenizers.Sequence([split, byte_level])


@pytest.fixture(scope="module", params=[cutting_like_gpt2, cutting_like_gpt4])
def peer(request):
    """A tokenizer that Hugging Face's library has learnt; its special token has the id 0."""
    peer = tokenizers.Tokenizer(tokenizers.models.BPE())
    peer.pre_tokenizer = request.param()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=[END],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    texts = [stories.text(30_000), (ROOT / "README.md").read_text(), MIXED]
    peer.train_from_iterator(texts, trainer)
    return peer


@pytest.fixture(scope="module")
def saved(peer, tmp_path_factory):
    path = tmp_path_factory.mktemp("peer") / "tokenizer.json"
    peer.save(str(path))
    return path


def test_a_tokenizer_json_gives_its_ids(peer, saved):
    ours = Tokenizer.load(saved)
    assert len(ours) == peer.get_vocab_size()
    for text in (MIXED, f"a{END}b", stories.text(20_000, seed=4), MIXED[::-1]):
        assert ours.encode(text) == peer.encode(text).ids
        assert ours.decode(ours.encode(text)) == text
    assert ours.encode(END) == [0]
    assert END not in {ours.decode([number]) for number in ours.encode(END, special=False)}


def test_what_a_program_puts_around_a_text_is_left_out(saved, tmp_path):
    """As Llama 3's file puts a token at the beginning."""
    peer = tokenizers.Tokenizer.from_file(str(saved))
    peer.post_processor = tokenizers.processors.TemplateProcessing(
        single=f"{END} $A", special_tokens=[(END, 0)]
    )
    peer.save(str(tmp_path / "tokenizer.json"))
    assert [0, *Tokenizer.load(tmp_path).encode(MIXED)] == peer.encode(MIXED).ids


@given(any_text)
@settings(max_examples=200)
def test_a_tokenizer_json_gives_its_ids_on_any_text(peer, saved, text):
    assert Tokenizer.load(saved).encode(text) == peer.encode(text).ids


def test_gpt2_s_files_give_the_ids_that_tiktoken_reads_from_them(tmp_path):
    """The same files, made here, under both pairs of names; the ids skip some numbers."""
    peer = tokenizers.ByteLevelBPETokenizer(add_prefix_space=False)
    peer.train_from_iterator([stories.text(30_000), MIXED], vocab_size=600, show_progress=False)
    peer.save_model(str(tmp_path))
    ids_path, merges_path = tmp_path / "vocab.json", tmp_path / "merges.txt"
    # tiktoken wants the bytes in GPT-2's order and the special token at the end, as GPT-2 has them.
    ids_path.write_text(json.dumps(peer.get_vocab() | {END: 1000}))
    ranks = data_gym_to_mergeable_bpe_ranks(str(merges_path), str(ids_path))
    theirs = tiktoken.Encoding(
        "gpt2", pat_str=PATTERNS["gpt2"], mergeable_ranks=ranks, special_tokens={END: 1000}
    )
    for text in (MIXED, f"a{END}b", stories.text(20_000, seed=4)):
        wanted = theirs.encode(text, allowed_special="all")
        for path in (tmp_path, ids_path, merges_path):
            assert Tokenizer.load(path).encode(text) == wanted
    ours = Tokenizer.load(tmp_path)
    assert len(ours) == 1001
    assert ours.decode([999]) == "", "an id that stands for nothing"
    ids_path.rename(tmp_path / "encoder.json")
    merges_path.rename(tmp_path / "vocab.bpe")
    assert Tokenizer.load(tmp_path).encode(MIXED) == ours.encode(MIXED)


@pytest.mark.parametrize("ignore_merges", [False, True])
def test_several_merges_may_make_a_token_and_words_may_be_taken_whole(ignore_merges, tmp_path):
    """As in Llama 3's file: "abc" from two pairs, and "bca", which no merge makes."""
    alphabet = sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    vocab = {name: number for number, name in enumerate([*alphabet, "ab", "bc", "abc", "bca"])}
    merges = [("a", "b"), ("b", "c"), ("ab", "c"), ("a", "bc")]
    model = tokenizers.models.BPE(vocab, merges, ignore_merges=ignore_merges)
    peer = tokenizers.Tokenizer(model)
    peer.pre_tokenizer = cutting_like_gpt2()
    peer.save(str(tmp_path / "tokenizer.json"))
    ours = Tokenizer.load(tmp_path)
    for word in map("".join, itertools.product("abc", repeat=5)):
        assert ours.encode(f"{word} {word[:3]}") == peer.encode(f"{word} {word[:3]}").ids
    assert (ours.encode("bca") == [vocab["bca"]]) is ignore_merges


def test_a_vocabulary_of_another_program_is_not_saved_as_ours(saved, tmp_path):
    with pytest.raises(TokenizerError, match="no place for the ids"):
        Tokenizer.load(saved).save(tmp_path / "a.vocab")


def without_byte(data):
    del data["model"]["vocab"]["Ġ"]
    data["model"]["merges"] = []


FOREIGN = [
    (lambda data: data["model"].update(type="Unigram"), "holds no BPE tokenizer"),
    (lambda data: data.update(normalizer={"type": "NFC"}), "uses a normalizer"),
    (lambda data: data.update(truncation={"max_length": 2}), "uses truncation"),
    (lambda data: data.update(padding={"strategy": {"Fixed": 9}}), "uses padding"),
    (lambda data: data["model"].update(byte_fallback=True), "uses byte_fallback"),
    (lambda data: data["model"].update(end_of_word_suffix="</w>"), "uses end_of_word_suffix"),
    (lambda data: data["pre_tokenizer"].update(add_prefix_space=True), "puts a space before"),
    (lambda data: data.update(pre_tokenizer={"type": "Whitespace"}), "cuts text in a way"),
    (lambda data: data.update(pre_tokenizer=None), "cuts text in a way"),
    (lambda data: data["added_tokens"][0].update(lstrip=True), "takes white space around it"),
    (lambda data: data["model"]["merges"].append("a b c"), "is no merge of two tokens"),
    (lambda data: data["model"]["merges"].append(["q", "\u4f60"]), "is not spelled in GPT-2's"),
    (lambda data: data["model"]["merges"].append(["Q", "z"]), "has no id for b'Qz'"),
    (lambda data: data["model"]["vocab"].update(QQ=1), "gives an id twice"),
    (without_byte, "has no token for the byte 20"),
]


@pytest.mark.parametrize(("change", "message"), FOREIGN)
def test_what_would_give_other_ids_is_refused(change, message, tmp_path):
    peer = tokenizers.ByteLevelBPETokenizer(add_prefix_space=False)
    peer.train_from_iterator(["low lower"], special_tokens=[END], show_progress=False)
    path = tmp_path / "tokenizer.json"
    peer.save(str(path))
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
    with pytest.raises(TokenizerError, match=re.escape(message)) as error:
        Tokenizer.load(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "this is no JSON"), ("[]", "holds no JSON object"), ("\udcff", "it is no UTF-8 text")],
)
def test_a_file_that_is_no_tokenizer_json_is_refused(text, message, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.load(path)


def test_a_folder_without_a_vocabulary_is_refused(tmp_path):
    with pytest.raises(TokenizerError, match=r"holds none of encoder\.json"):
        Tokenizer.load(tmp_path)


# Standard input and output, and tokens to look at -------------------------------------------------


def piped(*arguments, cwd, given):
    command = [sys.executable, "-m", "lecture.tokenizer", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    return subprocess.run(command, cwd=cwd, input=given, capture_output=True, env=environment)


def test_text_passes_from_standard_input_to_standard_output(tmp_path):
    Tokenizer.train(stories.text(20_000), 500, [END]).save(tmp_path / "v")
    text = (stories.text(5_000, seed=3) + MIXED).encode()
    encoded = piped("encode", "-", "-v", "v", cwd=tmp_path, given=text)
    assert encoded.returncode == 0, encoded.stderr
    assert re.match(rb"-: [\d,]+ ids of 16 bits, [\d.]+ bytes per token\n", encoded.stderr)
    (tmp_path / "a.txt").write_bytes(text)
    piped("encode", "a.txt", "-v", "v", cwd=tmp_path, given=b"")
    assert encoded.stdout == (tmp_path / "a.txt.ids").read_bytes()
    decoded = piped("decode", "-", "-v", "v", cwd=tmp_path, given=encoded.stdout)
    assert decoded.stdout == text
    to_a_file = piped("decode", "-", "-v", "v", "-o", "b", cwd=tmp_path, given=encoded.stdout)
    assert (to_a_file.returncode, (tmp_path / "b").read_bytes()) == (0, text)
    judged = piped("inspect", "v", "--text", "-", cwd=tmp_path, given=text)
    assert f"-: {len(encoded.stdout) // 2:,} tokens, " in judged.stdout.decode()
    assert [*map(str, sorted(tmp_path.rglob("*")))] == [
        str(tmp_path / name) for name in ("a.txt", "a.txt.ids", "b", "v")
    ]


def test_a_vocabulary_is_learnt_from_standard_input(tmp_path):
    text = stories.text(20_000).encode()
    (tmp_path / "a.txt").write_bytes(text)
    trained = piped("train", "-", "-o", "v", "--size", "400", cwd=tmp_path, given=text)
    assert trained.returncode == 0, trained.stderr
    assert Tokenizer.load(tmp_path / "v").merges == Tokenizer.train(tmp_path / "a.txt", 400).merges
    for arguments in (["train", "-"], ["train", "a.txt", "-o", "-"]):
        refused = piped(*arguments, cwd=tmp_path, given=text)
        assert refused.stderr == b"a vocabulary is written to a file: give -o FILE\n"
        assert refused.returncode == 1


def test_a_sentence_is_shown_with_its_tokens_marked(tmp_path, capsys, monkeypatch):
    path = str(tmp_path / "v")
    Tokenizer.train("low low lower", 300).save(path)
    assert cli.main(["show", "-v", path, "low", "lower é"]) == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown == [
        r"low|␣lower|␣|\xc3|\xa9",
        "257 260 32 195 169",
        "5 tokens, 2.400 bytes per token",
    ]
    # On a terminal by colours, which take turns.
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    assert cli.main(["show", "-v", path, "low lower"]) == 0
    first = capsys.readouterr().out.splitlines()[0]
    assert first == "\x1b[30;46mlow\x1b[0m\x1b[30;43m␣lower\x1b[0m"
    # Ids are not for a terminal.
    Path(tmp_path / "a.txt").write_text("low")
    monkeypatch.setattr(cli.sys.stdout, "isatty", lambda: True, raising=False)
    assert cli.main(["encode", str(tmp_path / "a.txt"), "-v", path, "-o", "-"]) == 1
    assert "ids are no text" in capsys.readouterr().err


def test_lines_of_standard_input_are_shown_one_by_one(tmp_path):
    Tokenizer.train("low low lower", 300).save(tmp_path / "v")
    shown = piped("show", "-v", "v", cwd=tmp_path, given=b"low\nlower").stdout.decode()
    assert shown.splitlines()[::3] == ["low", "low|er"]
