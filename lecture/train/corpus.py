"""From text to a file of tokens, which is mapped into memory and read where it is needed."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lecture import stories
from lecture.tokenizer import Tokenizer
from lecture.tokenizer.counting import read_text
from lecture.tokenizer.token_files import read_ids, write_ids
from lecture.train.config import TrainingConfig
from lecture.train.errors import TrainingError

VOCABULARY, TOKENS = "tokens.vocab", "tokens.ids"
MOST_STORY_BYTES, LEAST_STORY_BYTES = 5_000_000, 100_000
STORY_BYTES_PER_TOKEN = 4  # of a vocabulary of some thousand, rounded up
STORIES_FOR_TOKENS_BYTES = 200_000
MOST_VALIDATION_TOKENS = 50_000


@dataclass(frozen=True)
class Corpus:
    """A text to learn from and another to be judged by, both as tokens."""

    tokenizer: Tokenizer
    training: np.ndarray
    validation: np.ndarray

    @property
    def end(self) -> int:
        """The token between two texts."""
        return self.tokenizer.special_ids[stories.END]


def write_corpus(folder: Path, tokenizer: Tokenizer, pieces: Iterable[str]) -> None:  # @stepover
    """Write a text, which may come in pieces, as tokens. Memory does not grow with it."""
    write_ids(folder / TOKENS, tokenizer.encode_iterable(pieces), len(tokenizer))
    tokenizer.save(folder / VOCABULARY)


def open_corpus(folder: Path, validation_tokens: int | None = None) -> Corpus:  # @stepover
    """Map the tokens into memory and set the last ones apart, a twentieth unless told otherwise."""
    tokenizer = Tokenizer.load(folder / VOCABULARY)
    tokens = read_ids(folder / TOKENS, len(tokenizer))
    if validation_tokens is None:
        validation_tokens = min(len(tokens) // 20, MOST_VALIDATION_TOKENS)
    if not 0 < validation_tokens < len(tokens):
        raise TrainingError(f"{folder / TOKENS}: {len(tokens)} tokens are too few to learn from")
    return Corpus(tokenizer, tokens[:-validation_tokens], tokens[-validation_tokens:])


def story_tokenizer(vocabulary: int, seed: int) -> Tokenizer:  # @stepover
    """Learn the tokens of stories."""
    return Tokenizer.train(
        stories.pieces(STORIES_FOR_TOKENS_BYTES, seed), vocabulary, [stories.END]
    )


def story_bytes_for(config: TrainingConfig) -> int:
    """Return how much text to make: as much as the steps read, within bounds."""
    wanted_bytes = STORY_BYTES_PER_TOKEN * config.steps * config.step_tokens
    return min(max(wanted_bytes, LEAST_STORY_BYTES), MOST_STORY_BYTES)


def prepare(folder: Path, config: TrainingConfig, text: Path | None) -> None:
    """Turn a file of text into tokens, or stories where there is none."""
    if text is None:
        tokenizer = story_tokenizer(config.vocabulary, seed=1)
        write_corpus(folder, tokenizer, stories.pieces(story_bytes_for(config), 1))
    else:
        tokenizer = Tokenizer.train(text, config.vocabulary, [stories.END])
        write_corpus(folder, tokenizer, read_text(text))
