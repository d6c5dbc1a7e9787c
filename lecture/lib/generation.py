"""Text from a language model, one token at a time, with a cache of keys and values or without."""

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.transformer import LayerCache, TransformerLM, softmax


@shape_checked
def keep_top_k(logits: Float[Tensor, "B V"], k: int) -> Float[Tensor, "B V"]:
    """Rule out all but the k most likely tokens of each row; ties with the k-th stay."""
    smallest_kept = logits.topk(min(k, logits.shape[-1])).values[:, -1:]
    return logits.masked_fill(logits < smallest_kept, -torch.inf)


@shape_checked
def keep_top_p(logits: Float[Tensor, "B V"], p: float) -> Float[Tensor, "B V"]:
    """Keep of each row the fewest tokens whose probabilities reach p, the most likely first."""
    ordered, order = logits.sort(dim=-1, descending=True, stable=True)
    probability = softmax(ordered)
    # A token is needed as long as those before it fall short of p; the first always is.
    before = probability.cumsum(dim=-1) - probability
    beyond = (before >= p).scatter(-1, order, before >= p)
    return logits.masked_fill(beyond, -torch.inf)


COLDEST = 1e-30


@shape_checked
def sample(
    logits: Float[Tensor, "B V"],
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " B"]:
    """Draw the next token of each row; at temperature 0 take the most likely one, as well as at one
    so low that logits divided by it would overflow."""
    if temperature < COLDEST:
        return logits.argmax(dim=-1)
    logits = logits.float() / temperature
    if top_k is not None:
        logits = keep_top_k(logits, top_k)
    if top_p is not None:
        logits = keep_top_p(logits, top_p)
    return torch.multinomial(softmax(logits), 1, generator=generator)[:, 0]


def check_sampling(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Raise `ValueError` for settings that leave nothing to draw from."""
    if not temperature >= 0:
        raise ValueError(f"temperature must be 0 or more, not {temperature}.")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1, not {top_k}.")
    if top_p is not None and not 0 < top_p <= 1:
        raise ValueError(f"top_p must be above 0 and at most 1, not {top_p}.")


def stream(
    model: TransformerLM,
    tokens: Int[Tensor, "B T"],
    new_tokens: int,
    *,
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    cached: bool = True,
) -> Iterator[Int[Tensor, " B"]]:
    """Continue each row of `tokens`, and yield the next token of each as soon as it is drawn.

    With the cache, each token passes through the model once; without it, all of them do for each
    new one. Both draw the same tokens, up to rounding of the logits. Raises `ValueError` for an
    empty prompt, for settings that make no sense, and when the result would not fit into the
    model's context.
    """
    check_sampling(temperature, top_k, top_p)
    prompt_tokens, context = tokens.shape[1], model.config.context
    if prompt_tokens == 0:
        raise ValueError("the prompt must have at least one token to go on from.")
    if prompt_tokens + new_tokens > context:
        raise ValueError(
            f"{prompt_tokens} tokens and {new_tokens} new ones do not fit into the model's "
            f"context of {context}."
        )
    caches = [LayerCache() for _ in model.blocks] if cached else None
    unread = tokens  # first the prompt: prefill; then token by token: decode
    checks: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    for _ in range(new_tokens):
        with checks, torch.no_grad():
            logits = model(unread, caches)[:, -1]
            drawn = sample(
                logits, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator
            )
        yield drawn
        tokens = torch.cat([tokens, drawn[:, None]], dim=1)
        unread = tokens[:, -1:] if cached else tokens
        checks = without_checks()  # per token, they would take as long as the model


@shape_checked
def generate(
    model: TransformerLM, tokens: Int[Tensor, "B T"], new_tokens: int, **settings: Any
) -> Int[Tensor, "B T_and_new"]:
    """Continue each row of `tokens` by `new_tokens` tokens and return all of it; see `stream`."""
    drawn = stream(model, tokens, new_tokens, **settings)
    return torch.cat([tokens, *(new[:, None] for new in drawn)], dim=1)
