"""The training run of the lecture: a Transformer that learns to tell the made-up stories."""

import functools
import itertools
import math
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from lecture import stories
from lecture.lib.generation import generate
from lecture.lib.shapes import shape_checked
from lecture.tokenizer import Tokenizer
from lecture.train.config import TrainingConfig
from lecture.train.corpus import Corpus, open_corpus, story_tokenizer, write_corpus
from lecture.train.loop import Run, Step, train
from lecture.train.scoring import model_nats, pair_nats, uniform_nats

TRAINING_BYTES, VALIDATION_BYTES = 2_000_000, 60_000
TRAINING_SEED, VALIDATION_SEED = 1, 2


@dataclass(frozen=True)
class StoryRun:
    """What became of a run, and what the stories of the validation text cost whom."""

    training_tokens: int
    validation_tokens: int
    tokenizer: Tokenizer
    run: Run
    log: list[Step]
    story_bytes: np.ndarray
    nats: dict[str, np.ndarray]  # by who predicts: one number for each story

    def tell(self, count: int, seed: int) -> list[str]:  # @stepover
        """Let the model write, from the beginning of a story to the end of its context."""
        end, generator = self.tokenizer.special_ids[stories.END], torch.Generator()
        rows = generate(
            self.run.model,
            torch.full((count, 1), end),
            self.run.config.context - 1,
            top_p=0.9,  # leave out what is unlikely, which is where a small model errs most
            generator=generator.manual_seed(seed),
        )
        return [self.tokenizer.decode(row[1:]) for row in rows.tolist()]


def story_corpus(folder: Path, vocabulary: int) -> Corpus:
    """Write stories for training and validation to a file of tokens, and map it into memory."""
    tokenizer = story_tokenizer(vocabulary, TRAINING_SEED)
    validation = stories.text(VALIDATION_BYTES, VALIDATION_SEED)
    pieces = itertools.chain(stories.pieces(TRAINING_BYTES, TRAINING_SEED), [validation])
    write_corpus(folder, tokenizer, pieces)
    return open_corpus(folder, len(tokenizer.encode(validation)))


@shape_checked
def per_story(nats: Float[Tensor, " n"], corpus: Corpus) -> np.ndarray:
    """Add up what tokens cost, from the beginning of each story to the token that ends it."""
    ends = np.flatnonzero(corpus.validation == corpus.end)
    return np.add.reduceat(nats.double().numpy(), [0, *(ends[:-1] + 1)])


@functools.cache
def run_on_stories(config: TrainingConfig) -> StoryRun:  # @stepover
    """Train, and judge by stories that were not trained on. The same run is made only once."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = story_corpus(Path(folder), config.vocabulary)
        tokens, size = corpus.validation, config.vocabulary
        run = Run(config)
        log = [*train(run, corpus.training)]
        costs = {
            "uniform": torch.full((len(tokens),), uniform_nats(len(corpus.tokenizer))),
            "pairs": pair_nats(corpus.training, tokens, corpus.end, size),
            "model": model_nats(run.model, tokens, corpus.end),
        }
        nats = {name: per_story(cost, corpus) for name, cost in costs.items()}
        sizes = len(corpus.training), len(tokens)
    told = stories.text(VALIDATION_BYTES, VALIDATION_SEED).split(stories.END)[:-1]
    story_bytes = np.array([len((story + stories.END).encode()) for story in told])
    nats["source"] = math.log(2) * np.array([stories.bits(story + stories.END) for story in told])
    return StoryRun(*sizes, corpus.tokenizer, run, log, story_bytes, nats)


def could_begin(story: str) -> bool:  # @stepover
    """Tell whether the source could begin a story with this one's first sentence."""
    openings = stories.TEMPLATES[0]
    return any(stories.read_sentence(template, story, 0, 0, {}) for template in openings)
