"""Where text is cut before anything is merged: at special tokens first, then into words.

A *word* here is what one match of a split pattern covers: letters with the space before them, a few
digits, a run of signs, a run of white space. No merge crosses the border between two words.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import regex

from lecture.tokenizer.errors import TokenizerError

PATTERNS = {
    # GPT-2, 2019: https://github.com/openai/gpt-2/blob/master/src/encoder.py
    "gpt2": r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+""",
    # GPT-4, 2023, named cl100k_base: https://github.com/openai/tiktoken/blob/0.7.0/tiktoken_ext/openai_public.py
    "gpt4": (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}"""
        r"""| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"""
    ),
}
# The same for text that is all ASCII, in the faster patterns of the standard library.
ASCII_PATTERNS = {
    "gpt2": r"""'(?:[sdmt]|ll|ve|re)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+""",
    "gpt4": (
        r"""'(?i:[sdmt]|ll|ve|re)|[^\r\nA-Za-z0-9]?+[A-Za-z]+|[0-9]{1,3}"""
        r"""| ?[^\sA-Za-z0-9]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"""
    ),
}
# At a single space between two visible signs both patterns start a new word, whatever else is near.
SURE_CUT = re.compile(r"(?<=\S) (?=\S)")
# To choose a match, both patterns look at most two characters past its start and, after its end, at
# the white space there and one character more.
LOOK_AHEAD = 3
BLOCK_CHARACTERS = 2**16


class Splitter:
    """Cuts text at special tokens and into words, whole or as it arrives."""

    def __init__(self, pattern: str, special_tokens: Sequence[str] = ()) -> None:  # @stepover
        if pattern not in PATTERNS:
            known = ", ".join(PATTERNS)
            raise TokenizerError(f"there is no split pattern {pattern!r}; there are: {known}")
        self.special_tokens = check_special_tokens(special_tokens)
        self.pattern = regex.compile(PATTERNS[pattern])
        self.ascii_pattern = re.compile(ASCII_PATTERNS[pattern], re.ASCII)
        longest_first = sorted(self.special_tokens, key=len, reverse=True)
        choices = "|".join(map(re.escape, longest_first))
        self.special = re.compile(f"({choices})") if longest_first else None

    def words(self, text: str) -> list[str]:  # @stepover
        """Cut a text into words."""
        return (self.ascii_pattern if text.isascii() else self.pattern).findall(text)

    def parts(self, text: str) -> Iterator[tuple[str, str]]:  # @stepover
        """Yield (text, the special token after it); the last text has none, which is "".

        Where several special tokens begin, the longest one counts.
        """
        parts = self.special.split(text) if self.special else [text]
        yield from zip(parts[::2], [*parts[1::2], ""], strict=True)

    def stream(
        self, pieces: Iterable[str], block_characters: int = BLOCK_CHARACTERS
    ) -> Iterator[tuple[str, str]]:  # @stepover
        """Yield such parts of a text that arrives in pieces; each can be cut into words alone.

        The pieces may end anywhere, also inside a word or a special token. Kept in memory is about
        a block and a piece, or the longest word where that is longer.
        """
        longest = max(map(len, self.special_tokens), default=1)
        waiting, characters, enough = [""], 0, block_characters
        for piece in pieces:
            waiting.append(piece)
            characters += len(piece)
            if characters < enough:
                continue
            text = "".join(waiting)
            # A special token that starts before `limit` is here as a whole.
            limit = len(text) - longest + 1
            start = 0
            for match in self.special.finditer(text) if self.special else ():
                if match.start() >= limit:
                    break
                yield text[start : match.start()], match[0]
                start = match.end()
            if length := self.settled_length(text[start:limit]) if start < limit else 0:
                yield text[start : start + length], ""
            waiting, characters = [text[start + length :]], 0
            enough = max(block_characters, len(waiting[0]))  # search a long word rarely
        yield from self.parts("".join(waiting))

    def settled_length(self, text: str) -> int:
        """Return how much of the text is cut into words in the same way whatever follows it."""
        for match in SURE_CUT.finditer(text, max(0, len(text) - 256)):
            return match.start()
        limit = len(text.rstrip()) - LOOK_AHEAD
        length = 0
        for match in self.pattern.finditer(text):
            if match.end() > limit:
                break
            if not match[0][-1].isspace():  # the end of a text is the one thing white space sees
                length = match.end()
        return length


def utf8(text: str) -> bytes:  # @stepover
    """Return the bytes of a text; some strings of Python are no text and have none."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        lone = f"U+{ord(text[error.start]):04X}"
        raise TokenizerError(f"{lone} is half a surrogate pair and no text") from None


def check_special_tokens(special_tokens: Sequence[str]) -> list[str]:
    """Return the special tokens, if they can be told from text and from each other."""
    if isinstance(special_tokens, str):
        raise TokenizerError(f"special tokens are a list, not one text: {special_tokens!r}")
    seen: set[str] = set()
    for token in special_tokens:
        if not token:
            raise TokenizerError("a special token is empty; it would be found everywhere")
        if token in seen:
            raise TokenizerError(f"the special token {token!r} is given twice")
        utf8(token)
        seen.add(token)
    return [*special_tokens]
