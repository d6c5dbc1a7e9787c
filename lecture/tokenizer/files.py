r"""The files of vocabularies, which people can read: UTF-8 text, one thing on each line:

    byte-level BPE vocabulary, version 1
    split pattern: gpt2
    merges: 4
    \s t
    \st h
    \n \n
    \xc3 \xa9
    special tokens: 1
    <|endoftext|>
    end

A merge is its two tokens with a space between them; the n-th one, counted from 0, has the id
256 + n. In tokens a space is `\s`, a backslash `\\`, line ends and tabs are `\n`, `\r`, `\t`, and
bytes that are no printable character are `\x` and two hexadecimal digits. All else is itself.
"""

import contextlib
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.merging import Pair
from lecture.tokenizer.splitting import PATTERNS

HEADER = "byte-level BPE vocabulary, version 1"
ESCAPES = {" ": r"\s", "\\": r"\\", "\n": r"\n", "\r": r"\r", "\t": r"\t"}
UNESCAPES = {escape: character for character, escape in ESCAPES.items()}


@dataclass(frozen=True)
class Numbering:
    """The ids that another program gave to its tokens, and what it does with whole words."""

    ids: dict[bytes, int]  # of bytes and of all other tokens that are not special
    special_ids: dict[str, int]
    whole_words: bool  # a word that is a token gets its id, whatever the merges would make of it


@dataclass(frozen=True)
class Vocabulary:
    """What a vocabulary file holds."""

    pattern: str
    merges: list[Pair]
    special_tokens: list[str]
    numbering: Numbering | None = None


def escape(token: bytes) -> str:
    """Write a token so that it fits into a line, without spaces."""
    characters = token.decode("utf-8", "surrogateescape")
    return "".join(map(escape_character, characters))


def escape_character(character: str) -> str:
    """Write one character, or one byte that is no character."""
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode("utf-8", "surrogateescape"))


def unescape(text: str) -> bytes:
    """Read a token that `escape` wrote."""
    parts = re.split(r"(\\x[0-9a-f]{2}|\\[^x])", text)
    return b"".join(map(unescape_part, parts))


def unescape_part(part: str) -> bytes:
    """Read one escape or the text between two."""
    if part.startswith("\\x") and len(part) == 4:
        return bytes.fromhex(part[2:])
    if part.startswith("\\") or "\\" in part:
        part = UNESCAPES[part]
    return part.encode()


def check_place(path: Path) -> None:
    """Refuse a place where no file can be written."""
    if path.is_dir():
        raise TokenizerError(f"{path} is a folder; a file would be written there")
    if not path.parent.is_dir():
        raise TokenizerError(f"there is no folder {path.parent} for {path.name}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` when all is written, and vanishes otherwise. What
    is no file, such as `/dev/null` or a pipe, is opened itself, and a link stays one."""
    check_place(path)
    path = path.resolve()
    if path.exists() and not path.is_file():
        with path.open("wb") as file:
            yield file
        return
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        mask = os.umask(0)
        os.umask(mask)
        Path(temporary).chmod(0o666 & ~mask)  # as open() would: mkstemp lets nobody else read
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_vocabulary(path: Path, vocabulary: Vocabulary) -> None:
    """Write a vocabulary in the form that stands at the top of this module."""
    lines = [HEADER, f"split pattern: {vocabulary.pattern}", f"merges: {len(vocabulary.merges)}"]
    lines += (f"{escape(left)} {escape(right)}" for left, right in vocabulary.merges)
    lines.append(f"special tokens: {len(vocabulary.special_tokens)}")
    lines += (escape(token.encode()) for token in vocabulary.special_tokens)
    lines.append("end")
    with replacing(path) as file:
        file.write("".join(f"{line}\n" for line in lines).encode())


class Lines:
    """The lines of a vocabulary file, read with the number of the line at hand for errors."""

    def __init__(self, path: Path) -> None:
        self.path, self.number = path, 0
        try:
            self.lines = path.read_bytes().decode().split("\n")
        except UnicodeDecodeError:
            raise self.error("it is no UTF-8 text") from None

    def error(self, what: str) -> TokenizerError:
        """Return an error that names the file and line."""
        place = f"{self.path}:{self.number}" if self.number else f"{self.path}"
        return TokenizerError(f"{place}: {what}")

    def take(self) -> str:
        """Return the next line."""
        self.number += 1
        if self.number >= len(self.lines):  # after the last line end comes an empty rest
            raise self.error("the file ends too early; it has been cut off")
        return self.lines[self.number - 1].removesuffix("\r")

    def take_named(self, name: str) -> str:
        """Return what follows `name: ` on the next line."""
        label, _, value = self.take().partition(": ")
        if label != name:
            raise self.error(f"here should be '{name}: ...'")
        return value

    def take_count(self, name: str) -> int:
        """Return the number that follows `name: ` on the next line."""
        value = self.take_named(name)
        if not re.fullmatch("[0-9]{1,9}", value):
            raise self.error(f"here should be the number of {name}, not {value[:20]!r}")
        return int(value)

    def take_tokens(self, count: int) -> list[bytes]:
        """Return the tokens of the next line, so many of them."""
        words = self.take().split(" ")
        if len(words) != count or "" in words:
            raise self.error(f"here should be {count} token{'s' * (count > 1)}")
        try:
            return [unescape(word) for word in words]
        except KeyError as error:
            raise self.error(f"{error.args[0]!r} is no escape") from None

    def take_text(self) -> str:
        """Return the one token of the next line, which has to be text."""
        (token,) = self.take_tokens(1)
        try:
            return token.decode()
        except UnicodeDecodeError:
            raise self.error(f"the special token {escape(token)} is no UTF-8") from None


def read_vocabulary(path: Path) -> Vocabulary:
    """Read a vocabulary file, or say in which line it is not one."""
    lines = Lines(path)
    if lines.lines[0].removesuffix("\r") != HEADER:
        raise TokenizerError(f"{path} is no vocabulary; its first line should be '{HEADER}'")
    lines.take()
    pattern = lines.take_named("split pattern")
    if pattern not in PATTERNS:
        raise lines.error(
            f"there is no split pattern {pattern!r}; there are: {', '.join(PATTERNS)}"
        )
    merges: list[Pair] = []
    for _ in range(lines.take_count("merges")):
        left, right = lines.take_tokens(2)
        merges.append((left, right))
    special_tokens = []
    for _ in range(lines.take_count("special tokens")):
        special_tokens.append(lines.take_text())
    if lines.take() != "end":
        raise lines.error("here should be 'end'")
    if lines.lines[lines.number :] != [""]:
        raise lines.error("nothing should follow the end")
    return Vocabulary(pattern, merges, special_tokens)
