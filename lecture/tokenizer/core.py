"""The tokenizer: trained from text, it turns text into ids and back."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from os import PathLike
from pathlib import Path

from lecture.tokenizer import files, foreign
from lecture.tokenizer.counting import count_file, count_texts
from lecture.tokenizer.encoding import merge_symbols
from lecture.tokenizer.errors import TokenizerError
from lecture.tokenizer.merging import Pair, learn_merges
from lecture.tokenizer.splitting import Splitter, check_special_tokens, utf8

BYTES = 256
MOST_REMEMBERED_WORDS = 2**18
LONGEST_REMEMBERED_WORD = 64

Progress = Callable[[str, int, int], object]
"""Called with the name of a phase, what is done and what there is to do."""


def no_progress(phase: str, done: int, total: int) -> None:
    """Show nothing."""


class WordIds(dict[str, tuple[int, ...]]):
    """The ids of words; those of a new word are found and remembered, up to a limit."""

    def __init__(self, find_ids: Callable[[str], tuple[int, ...]]) -> None:  # @stepover
        super().__init__()
        self.find_ids = find_ids

    def __missing__(self, word: str) -> tuple[int, ...]:  # @stepover
        ids = self.find_ids(word)
        if len(word) <= LONGEST_REMEMBERED_WORD:
            if len(self) >= MOST_REMEMBERED_WORDS:
                self.clear()
            self[word] = ids
        return ids


class Tokenizer:
    """A byte-level BPE tokenizer.

    The ids: 0 to 255 are the bytes, then come the merges in the order in which they were learnt,
    then the special tokens in the order given. A vocabulary of another program keeps its own ids;
    one that it gave to nothing stands for no bytes.
    """

    def __init__(
        self,
        merges: Sequence[Pair],
        special_tokens: Sequence[str] = (),
        pattern: str = "gpt2",
        numbering: files.Numbering | None = None,
    ) -> None:  # @stepover
        self.pattern = pattern
        self.merges = [*merges]
        self.special_tokens = check_special_tokens(special_tokens)
        self.numbering = numbering
        self.vocabulary = [bytes([value]) for value in range(BYTES)]
        self._merged: dict[tuple[int, int], int] = {}
        self._learn()
        self._public: list[int] | None = None  # the ids of another program, by ours
        if numbering is None:
            self.special_ids = {
                token: len(self.vocabulary) + number
                for number, token in enumerate(self.special_tokens)
            }
            self.vocabulary += [token.encode() for token in self.special_tokens]
        else:
            self._renumber(numbering)
        self._splitter = Splitter(pattern, self.special_tokens)
        self._plain_splitter = Splitter(pattern)
        self._word_ids = WordIds(self._encode_word)

    def _learn(self) -> None:  # @stepover
        """Number the merges; each joins two tokens that exist and makes one that does not."""
        ids = {token: number for number, token in enumerate(self.vocabulary)}
        for number, (left, right) in enumerate(self.merges, start=1):
            if left not in ids or right not in ids:
                raise TokenizerError(f"merge {number} joins {left!r} and {right!r}: not both known")
            if left + right not in ids:
                ids[left + right] = len(self.vocabulary)
                self.vocabulary.append(left + right)
            elif self.numbering is None or left + right != self.vocabulary[-1]:
                raise TokenizerError(f"merge {number} makes {left + right!r}, which exists already")
            self._merged[ids[left], ids[right]] = ids[left + right]
        self._learnt = ids

    def _renumber(self, numbering: files.Numbering) -> None:  # @stepover
        """Take the ids of another program."""
        self._public = [numbering.ids[token] for token in self.vocabulary]
        self._learnt = numbering.ids if numbering.whole_words else {}
        self.special_ids = numbering.special_ids
        tokens = {number: token for token, number in numbering.ids.items()}
        tokens |= {number: token.encode() for token, number in self.special_ids.items()}
        self.vocabulary = [tokens.get(number, b"") for number in range(max(tokens) + 1)]

    def __len__(self) -> int:  # @stepover
        return len(self.vocabulary)

    @property
    def tokens(self) -> list[bytes]:  # @stepover
        """All tokens but the special ones: the bytes, and what each merge makes, in order."""
        made = (left + right for left, right in self.merges)
        return [*(bytes([value]) for value in range(BYTES)), *dict.fromkeys(made)]

    @classmethod
    def train(
        cls,
        source: str | PathLike[str] | Iterable[str],
        vocabulary_size: int,
        special_tokens: Sequence[str] = (),
        pattern: str = "gpt2",
        *,
        workers: int = 1,
        progress: Progress = no_progress,
    ) -> "Tokenizer":  # @stepover
        """Learn a vocabulary from a file (a `Path`), from one text, or from several.

        The size counts bytes, merges and special tokens; it is smaller if the text has no more
        pairs to merge. A file may be larger than memory, and is read by as many processes as there
        are workers; the result does not depend on them.
        """
        wanted_merges = vocabulary_size - BYTES - len(check_special_tokens(special_tokens))
        if wanted_merges < 0:
            least = vocabulary_size - wanted_merges
            raise TokenizerError(
                f"a vocabulary of {vocabulary_size} is too small: {BYTES} bytes and "
                f"{len(special_tokens)} special tokens take {least}"
            )
        splitter = Splitter(pattern, special_tokens)
        if isinstance(source, PathLike):
            counts = count_file(
                Path(source), splitter, workers, lambda *done: progress("counting", *done)
            )
        else:
            counts = count_texts([source] if isinstance(source, str) else source, splitter)
        merges = learn_merges(
            counts, wanted_merges, lambda done: progress("merging", done, wanted_merges)
        )
        return cls(merges, special_tokens, pattern)

    def encode(self, text: str, special: bool = True) -> list[int]:  # @stepover
        """Return the ids of a text; with `special=False` special tokens in it are plain text."""
        splitter = self._splitter if special else self._plain_splitter
        return [*chain.from_iterable(map(self._encode_part, splitter.parts(text)))]

    def encode_iterable(
        self, pieces: Iterable[str], special: bool = True
    ) -> Iterator[int]:  # @stepover
        """Return the ids of a text that arrives in pieces, such as the lines of a file.

        They are those of the whole text, wherever it was cut. Memory grows with the longest word,
        not with the text.
        """
        splitter = self._splitter if special else self._plain_splitter
        return chain.from_iterable(map(self._encode_part, splitter.stream(pieces)))

    def _encode_part(self, part: tuple[str, str]) -> list[int]:  # @stepover
        text, token = part
        words = self._splitter.words(text)
        ids = [*chain.from_iterable(map(self._word_ids.__getitem__, words))]
        if token:
            ids.append(self.special_ids[token])
        return ids

    def _encode_word(self, word: str) -> tuple[int, ...]:  # @stepover
        word_bytes = utf8(word)
        if (whole := self._learnt.get(word_bytes)) is not None:
            return (whole,)
        symbols = merge_symbols([*word_bytes], self._merged.get)
        return tuple(symbols if self._public is None else map(self._public.__getitem__, symbols))

    def decode_bytes(self, ids: Iterable[int]) -> bytes:  # @stepover
        """Return the bytes of the ids, one after the other."""
        vocabulary = self.vocabulary
        ids = [*ids]
        if ids and not 0 <= min(ids) <= max(ids) < len(vocabulary):
            unknown = next(number for number in ids if not 0 <= number < len(vocabulary))
            raise TokenizerError(
                f"there is no id {unknown}; this vocabulary has 0 to {len(vocabulary) - 1}"
            )
        return b"".join([vocabulary[number] for number in ids])

    def decode(self, ids: Iterable[int], errors: str = "replace") -> str:  # @stepover
        """Return the text of the ids. Bytes that are no UTF-8 become U+FFFD, or as `errors` says.

        All bytes are joined first: one token may be a part of a character.
        """
        return self.decode_bytes(ids).decode("utf-8", errors)

    def save(self, path: str | PathLike[str]) -> None:  # @stepover
        """Write the vocabulary to a text file, which is replaced as a whole or not at all."""
        if self.numbering is not None:
            raise TokenizerError("our files have no place for the ids of another program")
        saved = files.Vocabulary(self.pattern, self.merges, self.special_tokens)
        files.write_vocabulary(Path(path), saved)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Tokenizer":  # @stepover
        """Read a vocabulary that `save` wrote, or one of GPT-2's or Hugging Face's form."""
        path = Path(path)
        read = foreign.read_foreign if foreign.is_foreign(path) else files.read_vocabulary
        saved = read(path)
        try:
            return cls(saved.merges, saved.special_tokens, saved.pattern, saved.numbering)
        except TokenizerError as error:
            raise TokenizerError(f"{path}: {error}") from None
