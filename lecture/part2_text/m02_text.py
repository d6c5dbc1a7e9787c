"""From text to bytes: what a tokenizer is for, and the alphabet it starts from."""

import itertools
import unicodedata

import torch

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


def a_tokenizer_turns_text_into_integers():  # M2.1 @core
    """A tokenizer turns text into integers.

    We want to train a language model, and it computes with numbers. Text is characters. How do they
    become numbers? A *tokenizer* cuts a text into pieces from a fixed list, its *vocabulary*, and
    replaces each piece by its place in the list. The pieces are *tokens*, their places *ids*.
    """
    # @note Let the class cut the sentence themselves before the coloured tokens are shown. Then
    # point at two things: where the spaces went, and that the last letter of Zoë is two tokens.
    #
    # The tokenizer below has read two hundred little stories. `lecture.stories` makes them up, the
    # same on every machine.
    read = list(itertools.islice(stories.stories(), 200))
    first_story = read[0]  # @inspect first_story
    # It has kept what they repeat. [The next chapter](#the_most_frequent_pair_is_merged) says how.
    tokenizer = Tokenizer.train(read, 1500)
    assert len(tokenizer) == 1500
    sentence = "Once upon a time there was a kind zebra named Zoë."
    ids = tokenizer.encode(sentence)  # @inspect ids
    # Below each token stands its id, and `␣` is a space. Guess what becomes of a word that the
    # tokenizer has never read.
    tokens = [tokenizer.vocabulary[number] for number in ids]
    coloured = figures.coloured_tokens(tokens, ids)  # @inspect coloured
    # A frequent word is one token here, with the space before it. An unknown word is spelled in
    # pieces: the stories have no zebra. Ids below 256 are single bytes here. The last letter of Zoë
    # takes two of them, c3 and ab in hexadecimal.
    assert b" there" in tokens
    assert b" zebra" not in tokens
    assert ids[tokens.index(b"\xc3")] == 0xC3
    # Nothing is lost: the ids give the text back. And 51 bytes have become 20 numbers.
    assert tokenizer.decode(ids) == sentence
    assert (len(sentence.encode()), len(ids)) == (51, 20)
    assert all(0 <= number < len(tokenizer) for number in ids)


def a_character_can_be_there_and_not_be_seen():  # M2.2 E90
    """A character can be there and not be seen.

    Our tokenizer has to give back what it was given, to the last character. Which characters are
    there? The [Unicode standard](https://www.unicode.org/versions/latest/) numbers them; the number
    is the *code point*, and Python's `chr` returns the character. What is number 0?
    """
    nul = chr(0)  # @inspect nul
    # It is called NUL. `repr` shows it as it would stand in a program, with an escape; `print`
    # writes it out as it is, and most terminals show nothing.
    assert repr(nul) == "'\\x00'"
    # It is easy to take for an empty string. It is one character, and it stays where it is.
    assert len(nul) == 1  # @predict
    between = "a" + nul + "b"  # @inspect between
    assert len(between) == 3  # @predict
    assert between != "ab"
    # As a byte it is a zero, where the string functions of C believe that the text ends. To our
    # tokenizer it is a byte like every other.
    assert between.encode() == b"a\x00b"
    assert Tokenizer([]).decode([97, 0, 98]) == between


def utf8_is_not_always_the_smallest():  # M2.3 E89
    """UTF-8 is not always the smallest.

    How do code points become bytes? UTF-32 gives each four bytes. UTF-16 gives two bytes to the
    first 65 536 of them and four to the others. UTF-8 gives one byte to the 128 characters of
    ASCII (English letters, digits, signs, controls), and two, three or four to all others. Which of
    the three makes the fewest bytes? ("le" in two names stands for *little endian*: of the bytes of
    a number, the lowest comes first.)
    """
    encoded_bytes = {
        script: [len(word.encode(encoding)) for encoding in ENCODINGS]
        for script, word in GREETINGS.items()
    }  # @inspect encoded_bytes
    characters = {script: len(word) for script, word in GREETINGS.items()}
    sizes = figures.sizes_by_script(encoded_bytes, characters, ENCODINGS)  # @inspect sizes
    # A common mistake is to answer UTF-8 at once. That is right for text that is mostly ASCII. A
    # usual Chinese or Japanese character takes three bytes in UTF-8, and two in UTF-16. (A rare
    # one, from code point 65 536 on, takes four in both.)
    assert encoded_bytes["English"] == [5, 10, 20]
    assert encoded_bytes["French"] == [6, 10, 20]
    assert encoded_bytes["Chinese"] == [6, 4, 8]
    assert encoded_bytes["Japanese"] == [15, 10, 20]
    assert encoded_bytes["emoji"] == [4, 4, 4]
    assert [len("𠮷".encode(encoding)) for encoding in ENCODINGS[:2]] == [4, 4]
    ascii_text = "".join(map(chr, range(128)))
    assert len(ascii_text.encode()) == 128
    assert len(chr(128).encode()) == 2  # @predict
    # Still, [nearly all sites](https://w3techs.com/technologies/details/en-utf8) of the web use
    # UTF-8. It has no zeros but for NUL, and no order of bytes to agree on. If you ask Python for
    # plain "utf-16", it puts a *byte order mark* in front that says which order it took.
    word = GREETINGS["English"]
    assert word.encode("utf-32-le").count(0) == 15 > word.encode("utf-8").count(0) == 0
    marks = {
        name: len(word.encode(name)) - len(word.encode(f"{name}-le"))
        for name in ("utf-16", "utf-32")
    }
    assert marks == {"utf-16": 2, "utf-32": 4}


def one_letter_can_have_two_spellings():  # M2.3
    """One letter can have two spellings.

    Are two texts that look the same the same text? Unicode has é as one code point. It also has an
    accent that goes on top of the letter before it. The two are meant to look the same.
    """
    composed, with_accent = "\u00e9", "e\u0301"  # @inspect composed with_accent
    assert unicodedata.normalize("NFC", with_accent) == composed
    assert unicodedata.normalize("NFD", composed) == with_accent
    # A tokenizer sees bytes. To it these are two different words, and a model has to learn both.
    assert (composed.encode(), with_accent.encode()) == (b"\xc3\xa9", b"e\xcc\x81")
    # We could *normalize* every text to one spelling first. But then we cannot always give back the
    # text that went in. The tokenizers of GPT-2 and GPT-4 do not normalize, and neither does ours.
    only_bytes = Tokenizer([])
    assert only_bytes.decode(only_bytes.encode(with_accent)) == with_accent


def bytes_are_an_alphabet_for_every_text():  # M2.4
    """Bytes are an alphabet for every text.

    From which pieces should a vocabulary start, so that no text is ever outside it? Words will not
    do: people invent new ones every day. Why not characters?
    """
    # Unicode has room for 1 114 112 of them, and `chr` refuses one more.
    assert chr(CODE_POINTS - 1) == "\U0010ffff"
    with refused(ValueError) as error:
        chr(CODE_POINTS)
    assert "range(0x110000)" in error.message
    # 2048 of these numbers are no characters: UTF-16 uses them in pairs, called *surrogates*, to
    # spell what does not fit into two bytes. UTF-8 has no bytes for one.
    encodable = [n for n in range(CODE_POINTS) if chr(n).encode("utf-8", "ignore")]  # @stepover
    assert len(encodable) == CODE_POINTS - len(SURROGATES)
    # Most of the room is empty. Unicode 17 assigns nearly 160 000 characters. Each needs a [row of
    # D numbers](#an_embedding_is_a_table_of_vectors) in the model. With the width of the smallest
    # GPT-2, 768, that is about as much as the whole of that model, 124 million; and a character
    # that the next version adds still has no row.
    empty = {"Cn", "Co", "Cs"}  # not assigned, for private use, surrogates
    assigned = sum(unicodedata.category(chr(n)) not in empty for n in encodable)  # @stepover
    table = torch.nn.Embedding(assigned, 768, device="meta").weight
    assert len(table) == assigned
    assert 0.85 < table.numel() / 124_439_808 < 1.1
    # And most rows would hardly ever be trained. Two hundred stories use 56 characters.
    read = itertools.islice(stories.stories(), 200)
    assert len({character for story in read for character in story}) == 56
    # Bytes have 256 values, and all text is made of them. So a tokenizer that knows the bytes and
    # nothing more takes any text, in any script, and gives it back.
    only_bytes = Tokenizer([])
    assert len(only_bytes) == 256  # @predict
    for word in GREETINGS.values():
        ids = only_bytes.encode(word)
        assert ids == [*word.encode("utf-8")]
        assert only_bytes.decode(ids) == word
    # The price is length: one token for each byte, and a model costs FLOPs for each token. The next
    # chapter makes texts shorter and keeps the alphabet.
    assert len(only_bytes.encode(GREETINGS["Japanese"])) == 3 * len(GREETINGS["Japanese"])


def decode_byte_by_byte(encoded: bytes) -> str:  # @stepover
    """Turn each byte into a character by itself, which is wrong."""
    return "".join(bytes([value]).decode("utf-8") for value in encoded)


def bytes_cannot_be_decoded_one_by_one():  # M2.5
    """Bytes cannot be decoded one by one.

    A model writes one token after the other, and a token may be one byte. Can we turn each byte
    into text as it comes? `decode_byte_by_byte`, above, tries. On ASCII it works, so a test with
    plain English alone notices nothing.
    """
    assert decode_byte_by_byte(b"hello") == "hello"
    encoded = "é".encode()  # @inspect encoded
    reasons = []
    for value in encoded:
        try:
            decode_byte_by_byte(bytes([value]))
        except UnicodeDecodeError as error:
            reasons.append(error.reason)  # @inspect reasons
    # A character may have several bytes, and no single one of those is text.
    assert reasons == ["unexpected end of data", "invalid start byte"]
    # How does a reader know where a character ends? The first byte says it with its leading ones: 0
    # is one byte, 110 two, 1110 three and 11110 four. All further bytes begin with 10.
    leading = {}
    for character in ("e", "é", "你", "🙂"):
        first, *others = character.encode()
        leading[character] = f"{first:08b}"  # @inspect leading
        assert all(other >> 6 == 0b10 for other in others)
        ones = leading[character].index("0")
        assert ones == (len(others) + 1 if others else 0)
    assert [*leading.values()] == ["01100101", "11000011", "11100100", "11110000"]
    # So a reader that starts in the middle finds the next character: it skips what begins with 10.
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

    Every text is a sequence of bytes. Is every sequence of bytes a text? There are 65 536 pairs,
    few enough to try them all. Guess which share of them is text.
    """
    pairs = itertools.product(range(256), repeat=2)
    valid = {pair for pair in pairs if is_text(bytes(pair))}  # @stepover
    pairs_of_text = figures.pairs_that_are_text(valid)  # @inspect pairs_of_text
    # Little more than a quarter. A pair is text if it is two characters of one byte, 128·128, or
    # one character of two, with 30 first bytes and 64 second ones.
    assert len(valid) == 128 * 128 + 30 * 64
    text_percent = 100 * len(valid) / 256**2  # @inspect text_percent
    assert round(text_percent, 1) == 27.9
    # Why 30, when 110 leaves five bits? C0 and C1 would begin characters that fit into one byte,
    # and a second spelling is dangerous: a program that looks for "/" in the name of a file would
    # miss one written as C0 AF. So UTF-8 forbids it.
    assert ord("/") == 0xAF & 0b111111
    assert not is_text(b"\xc0\xaf")
    assert {first for first, _ in valid if first > 127} == {*range(0xC2, 0xE0)}
    # Nor are two bytes text that only continue a character, or any with FF.
    assert not is_text(b"\x80\x80")
    assert not any(0xFF in pair for pair in valid)
    # A model may well write such a sequence. `decode` then shows U+FFFD, the *replacement
    # character*, in place of what is broken.
    assert Tokenizer([]).decode([0x80, 0xFF]) == "\ufffd\ufffd"
    # What we can do now: spell any text with 256 tokens, without an exception, and give it back.
    # The price is length, and the next chapter is about that.


def exercise_bytes_of_a_flag():  # M2.3 @exercise
    """Exercise: bytes of a flag.

    The flag of France, 🇫🇷, looks like one character. How many code points is it, and how many bytes
    in UTF-8 and in UTF-16? (The composed é is one code point, and two bytes in either.)
    """
    flag = "🇫🇷"
    sizes = {"code points": len(flag), "utf-8": len(flag.encode())}
    sizes["utf-16"] = len(flag.encode("utf-16-le"))  # @inspect sizes
    # Two letters, F and R, from a set of 26, of which two name a region. Neither is among the
    # first 65 536 code points, so each takes four bytes in both.
    assert [unicodedata.name(letter)[-1] for letter in flag] == ["F", "R"]
    assert [*sizes.values()] == [2, 8, 8]


def exercise_cut_within_bounds():  # M2.5 @exercise
    """Exercise: cut within bounds.

    A message may have at most 10 bytes. How do you shorten a text to fit without breaking a
    character, looking at no more than four bytes? Write it down before you look.
    """

    def shortened(text: str, most_bytes: int) -> str:
        encoded = text.encode()
        end = min(most_bytes, len(encoded))
        # The first byte that is left out must begin a character; else go back to one that does.
        while end < len(encoded) and encoded[end] >> 6 == 0b10:
            end -= 1
        return encoded[:end].decode()

    # Every cut of every greeting is text, and no longer one would fit.
    for text in GREETINGS.values():
        for most_bytes in range(len(text.encode()) + 1):
            short = shortened(text, most_bytes)
            assert len(short.encode()) <= most_bytes
            assert text == short or len(text[: len(short) + 1].encode()) > most_bytes
        # And with room for all of it, nothing is cut.
        assert short == text
