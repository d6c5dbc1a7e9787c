"""What a text costs: minus the logarithm of its probability, in nats, token by token."""

import math

import numpy as np
import torch
from jaxtyping import Float, Int64
from torch import Tensor

from lecture.lib.shapes import shape_checked
from lecture.lib.transformer import TransformerLM

TOKENS_AT_ONCE = 4096


@shape_checked
@torch.no_grad()
def model_nats(
    model: TransformerLM, tokens: np.ndarray, first: int
) -> Float[Tensor, " n"]:  # @stepover
    """Return what each token costs, given those before it; the first one is given `first`.

    The text is read through windows that overlap by half, and a token counts where it has most
    before it: half a context or more, save at the beginning of the text.
    """
    context, device = model.config.context, next(model.parameters()).device
    row = np.concatenate([[first], tokens]).astype(np.int64)
    last = max(len(tokens) - context, 0)
    starts = [*range(0, last, max(context // 2, 1)), last]
    windows = torch.from_numpy(np.stack([row[start : start + context + 1] for start in starts]))
    rows = [
        token_nats(model(some[:, :-1]), some[:, 1:]).cpu()
        for some in windows.to(device).split(max(TOKENS_AT_ONCE // context, 1))
    ]
    costs = torch.empty(len(tokens))
    for start, cost in reversed([*zip(starts, torch.cat(rows), strict=True)]):
        costs[start : start + context] = cost
    return costs


@shape_checked
def token_nats(
    logits: Float[Tensor, "B T V"], targets: Int64[Tensor, "B T"]
) -> Float[Tensor, "B T"]:
    """Return what each target costs."""
    chances = logits.float().log_softmax(dim=-1)
    return -chances.gather(-1, targets[..., None])[..., 0]


@shape_checked
def pair_nats(
    training: np.ndarray, tokens: np.ndarray, first: int, vocabulary: int, added: float = 0.01
) -> Float[Tensor, " n"]:  # @stepover
    """Return what each token costs given the one before it, by the pairs counted in training.

    `added` is added to every count: no pair is impossible because it has not been seen.
    """
    counts = np.full((vocabulary, vocabulary), added)
    np.add.at(counts, (training[:-1], training[1:]), 1)
    chances = counts / counts.sum(axis=1, keepdims=True)
    before = np.concatenate([[first], tokens[:-1]]).astype(np.int64)
    return torch.from_numpy(-np.log(chances[before, tokens]))


def uniform_nats(vocabulary: int) -> float:
    """Return what each token costs someone who knows nothing."""
    return math.log(vocabulary)
