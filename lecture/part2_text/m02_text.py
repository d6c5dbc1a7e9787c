"""From text to bytes: what a tokenizer is for, and the alphabet it starts from."""

import itertools
import unicodedata

from lecture import stories
from lecture.lib.refused import refused
from lecture.part2_text import m02_figures as figures
from lecture.tokenizer import Tokenizer

GREETINGS = {
    "English": "hello",
    "French": "héllo",
    "Chinese": "你好",
    "Japanese": "こんにちは",
    "emoji": "🙂",
}
ENCODINGS = ("utf-8", "utf-16-le", "utf-32-le")
CODE_POINTS = 0x110000
SURROGATES = range(0xD800, 0xE000)


def a_tokenizer_turns_text_into_integers():  # M2.1
    """A tokenizer turns text into integers.

    A network computes with numbers, and text has none. How does the one become the other? A
    *tokenizer* cuts a text into pieces from a fixed list, its *vocabulary*, and writes down the
    place of each piece in the list. The pieces are *tokens*, their numbers *ids*.
    """
    # The one below has read two hundred little stories, which `lecture.stories` makes up, the same
    # on every machine. It has kept what they repeat; [the next
    # chapter](#the_most_frequent_pair_is_merged) says how.
    read = list(itertools.islice(stories.stories(), 200))
    first_story = read[0]  # @inspect first_story
    assert len(first_story) == 355
    tokenizer = Tokenizer.train(read, 1500)
    assert len(tokenizer) == 1500
    assert sum(map(len, read)) == 110_446
    sentence = "Once upon a time there was a kind zebra named Zoë."
    ids = tokenizer.encode(sentence)  # @inspect ids
    # Below each token stands its id, and `␣` is a space. Frequent words are one token, with the
    # space before them; a rare word is spelled in pieces. Ids below 256 are single bytes: the last
    # letter of Zoë has two of them, written here in hexadecimal, c3 and ab.
    tokens = [tokenizer.vocabulary[number] for number in ids]
    coloured = figures.coloured_tokens(tokens, ids)  # @inspect coloured
    assert all(isinstance(number, int) and 0 <= number < len(tokenizer) for number in ids)
    assert ids[tokens.index(b"\xc3")] == 0xC3
    assert tokenizer.decode(ids) == sentence
    # So 51 bytes have become 20 numbers.
    assert (len(sentence.encode()), len(ids)) == (51, 20)
    # A piece is not always a word: the stories know " there" and never a zebra.
    assert b" there" in tokens
    assert b" zebra" not in tokens


def a_character_can_be_there_and_not_be_seen():  # M2.2 E90
    """A character can be there and not be seen.

    Can a character be missed because nobody sees it? A tokenizer must not: what it is given, it
    has to give back. Characters are numbered: the [Unicode
    standard](https://www.unicode.org/versions/latest/) gives each a *code point*, and `chr` finds
    the character of a number. Number 0, the first of all, is called NUL.
    """
    nul = chr(0)  # @inspect nul
    # There are two ways to show text. `repr` writes it so that it could stand in a program, and
    # escapes what cannot be seen; `str`, which `print` uses, is the text itself.
    assert repr(nul) == "'\\x00'"
    # A common mistake: "NUL is an empty string, printing it does nothing". It is one character, it
    # is written out like any other, and a terminal shows nothing for it.
    assert len(nul) == 1
    assert nul != ""
    between = "a" + nul + "b"  # @inspect between
    assert len(between) == 3
    assert between != "ab"
    # As a byte it is a zero, at which some programs believe that a text ends. A tokenizer gives it
    # back like every other byte.
    assert between.encode() == b"a\x00b"
    assert Tokenizer([]).decode([97, 0, 98]) == between


def utf8_is_not_always_the_smallest():  # M2.3 E89
    """UTF-8 is not always the smallest.

    How do code points become bytes? UTF-32 gives each four bytes. UTF-16 gives the first 65 536
    of them two bytes and the others four. UTF-8 takes one byte for English letters and digits,
    and two, three or four for the rest. The "le" in two names stands for little endian: of the
    bytes of a number the lowest comes first.
    """
    encoded_bytes = {
        script: [len(word.encode(encoding)) for encoding in ENCODINGS]
        for script, word in GREETINGS.items()
    }  # @inspect encoded_bytes
    assert encoded_bytes["English"] == [5, 10, 20]
    assert encoded_bytes["French"] == [6, 10, 20]
    # A common mistake: "UTF-8 makes fewer bytes". That is so for text that is mostly English
    # letters. Chinese and Japanese take three bytes a character, and two in UTF-16.
    assert encoded_bytes["Chinese"] == [6, 4, 8]
    assert encoded_bytes["Japanese"] == [15, 10, 20]
    assert encoded_bytes["emoji"] == [4, 4, 4]
    characters = {script: len(word) for script, word in GREETINGS.items()}
    sizes = figures.sizes_by_script(encoded_bytes, characters, ENCODINGS)  # @inspect sizes
    # Asked for plain "utf-16", Python puts a *byte order mark* in front, which says whether the
    # low or the high byte comes first. UTF-8 has no such choice to make.
    word = GREETINGS["English"]
    marks = {
        name: len(word.encode(name)) - len(word.encode(f"{name}-le"))
        for name in ("utf-16", "utf-32")
    }
    assert marks == {"utf-16": 2, "utf-32": 4}
    # On the web, [nearly all sites](https://w3techs.com/technologies/details/en-utf8) use UTF-8.
    # Its zeros are only where the text has NULs. In UTF-32, three of four bytes of English are
    # zero.
    assert word.encode("utf-32-le").count(0) == 15
    assert word.encode("utf-8").count(0) == 0


def one_letter_can_have_two_spellings():  # M2.3
    """One letter can have two spellings.

    Are two texts that look the same the same text? Unicode has é as one code point, and it has an
    accent that goes on top of the letter before it. Nobody sees the difference.
    """
    composed, with_accent = "\u00e9", "e\u0301"  # @inspect composed with_accent
    assert unicodedata.normalize("NFC", with_accent) == composed
    assert unicodedata.normalize("NFD", composed) == with_accent
    # A tokenizer sees bytes, so they are different words to it, and a model has to learn both.
    assert (composed.encode(), with_accent.encode()) == (b"\xc3\xa9", b"e\xcc\x81")
    # One could *normalize* every text to one spelling first. But then the text that went in cannot
    # be given back, so the tokenizers of GPT do not, and neither does the one of this lecture.
    only_bytes = Tokenizer([])
    assert only_bytes.decode(only_bytes.encode(with_accent)) == with_accent


def bytes_are_an_alphabet_for_every_text():  # M2.4
    """Bytes are an alphabet for every text.

    Which pieces should a vocabulary start from, so that no text is ever outside it? Words will not
    do: somebody invents a new one every day. Characters would, at a price.
    """
    # Unicode has room for more than a million of them. Asking Python for one more is an error.
    assert chr(CODE_POINTS - 1) == "\U0010ffff"
    with refused(ValueError) as error:
        chr(CODE_POINTS)
    assert "range(0x110000)" in error.message
    assert CODE_POINTS == 1_114_112
    # Of these numbers 2 048 are no characters: UTF-16 needs them, in pairs called *surrogates*, to
    # spell what does not fit into two bytes. No text may have them, and UTF-8 has no bytes for one.
    encodable = [n for n in range(CODE_POINTS) if chr(n).encode("utf-8", "ignore")]  # @stepover
    assert len(encodable) == CODE_POINTS - len(SURROGATES) == 1_112_064
    assert not {*encodable} & {*SURROGATES}
    # Each character would need its own [row of D numbers](#an_embedding_is_a_table_of_vectors) in
    # the model. With the 768 of the smallest GPT-2 that is 854 million, nearly seven times the
    # whole model.
    assert len(encodable) * 768 == 854_065_152
    # Bytes have 256 values, and all text is made of them. So a tokenizer that knows the bytes and
    # nothing more takes any text, in any script, and gives it back.
    only_bytes = Tokenizer([])
    assert len(only_bytes) == 256
    for word in GREETINGS.values():
        ids = only_bytes.encode(word)
        assert ids == [*word.encode("utf-8")]
        assert only_bytes.decode(ids) == word
    # The price is length: one token for each byte, and the bill of a model grows with its tokens.
    # The next chapter brings the length down without giving up the alphabet.
    assert len(only_bytes.encode(GREETINGS["Japanese"])) == 3 * len(GREETINGS["Japanese"])


def decode_byte_by_byte(encoded: bytes) -> str:  # @stepover
    """Turn each byte into a character by itself, which is wrong."""
    return "".join(bytes([value]).decode("utf-8") for value in encoded)


def bytes_cannot_be_decoded_one_by_one():  # M2.5
    """Bytes cannot be decoded one by one.

    Can text be put together from its bytes one at a time? A character of UTF-8 may have several,
    and no single one of those is text.
    """
    # `decode_byte_by_byte` makes a character of each byte and joins them. A test with English
    # alone would not notice anything.
    assert decode_byte_by_byte(b"hello") == "hello"
    encoded = "é".encode()  # @inspect encoded
    assert [*encoded] == [0xC3, 0xA9]
    reasons = []
    for value in encoded:
        try:
            decode_byte_by_byte(bytes([value]))
        except UnicodeDecodeError as error:
            reasons.append(error.reason)  # @inspect reasons
    assert reasons == ["unexpected end of data", "invalid start byte"]
    # How long a character is, its first byte says with its leading ones: 0 is one byte, 110 two,
    # 1110 three and 11110 four. All further bytes begin with 10.
    leading = {}
    for character in ("e", "é", "你", "🙂"):
        first, *others = character.encode()
        leading[character] = f"{first:08b}"  # @inspect leading
        assert all(other >> 6 == 0b10 for other in others)
        ones = leading[character].index("0")
        assert ones == (len(others) + 1 if others else 0)
    assert [*leading.values()] == ["01100101", "11000011", "11100100", "11110000"]
    # So a reader that starts in the middle finds the next character by itself: it skips what begins
    # with 10. For the same reason a search for the bytes of a text finds nothing but that text.
    greeting = GREETINGS["Chinese"]
    late = greeting.encode()[1:]
    begun = next(place for place, value in enumerate(late) if value >> 6 != 0b10)
    assert late[begun:].decode() == greeting[1:]


def is_text(encoded: bytes) -> bool:
    """Tell whether bytes are UTF-8."""
    try:
        encoded.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def most_pairs_of_bytes_are_no_text():  # M2.6 E98
    """Most pairs of bytes are no text.

    Is every sequence of bytes a text? There are 65 536 pairs, few enough to try them all.
    """
    pairs = itertools.product(range(256), repeat=2)
    valid = {pair for pair in pairs if is_text(bytes(pair))}  # @stepover
    # A pair is text if it is two characters of one byte, or one character of two. The first kind
    # has 128 · 128 members; for the second there are 30 first bytes and 64 second ones.
    assert len(valid) == 128 * 128 + 30 * 64 == 18_304
    assert 256**2 - len(valid) == 47_232
    pairs_of_text = figures.pairs_that_are_text(valid)  # @inspect pairs_of_text
    # Why 30 and not 32? C0 and C1 would begin characters that fit into one byte. A second spelling
    # is dangerous: a program that looks for "/" in the name of a file must not miss one written as
    # C0 AF. So it is forbidden.
    assert ord("/") == 0xAF & 0b111111
    assert not is_text(b"\xc0\xaf")
    assert not is_text(b"\xc0\x80")
    assert {first for first, _ in valid if first > 127} == {*range(0xC2, 0xE0)}
    # A common mistake: to believe that few pairs are broken, and to look for a special one. Seven
    # of ten are, such as two bytes that only continue a character, or any with FF, which occurs
    # nowhere in UTF-8.
    broken_percent = 100 * (1 - len(valid) / 256**2)  # @inspect broken_percent
    assert round(broken_percent, 1) == 72.1
    assert not is_text(b"\x80\x80")
    assert not any(0xFF in pair for pair in valid)
    # A model may well produce such a sequence. `decode` then shows U+FFFD, the *replacement
    # character*, in place of what is broken.
    assert Tokenizer([]).decode([0x80, 0xFF]) == "\ufffd\ufffd"
    # This chapter in short: all text is bytes, and 256 tokens spell any text without an exception.
    # The price is length, and the next chapter is about that.
