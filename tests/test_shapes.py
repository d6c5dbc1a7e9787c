"""Annotated shapes bind, except where a loop repeats what was checked."""

import contextlib
from dataclasses import asdict

import jaxtyping
import numpy as np
import pytest
import torch
from jaxtyping import Float
from torch import Tensor

from lecture.lib import generation
from lecture.lib.shapes import shape_checked, without_checks
from lecture.lib.transformer import TransformerConfig, TransformerLM
from lecture.train import loop
from lecture.train.config import CONFIGS


@shape_checked
def first_of(x: Float[Tensor, " n"], y: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    return x


def refuses() -> bool:
    try:
        first_of(torch.ones(2), torch.ones(3))
    except jaxtyping.TypeCheckError:
        return True
    return False


def test_checks_are_off_inside_and_on_again_after_an_error():
    assert refuses()
    with pytest.raises(ZeroDivisionError), without_checks():
        assert not refuses()
        assert not torch.utils.deterministic.fill_uninitialized_memory
        with without_checks():
            pass
        assert not refuses()
        1 / 0  # noqa: B018
    assert refuses()
    assert torch.utils.deterministic.fill_uninitialized_memory


def losses(monkeypatch, checks) -> list[dict]:
    monkeypatch.setattr(loop, "without_checks", checks)
    run = loop.Run(CONFIGS["tiny"])
    return [asdict(step) for step in loop.train(run, np.arange(300))]


def test_training_without_checks_computes_the_same(monkeypatch):
    plain, entered = losses(monkeypatch, contextlib.nullcontext), []

    @contextlib.contextmanager
    def noted():
        entered.append(None)
        with without_checks():
            yield

    assert losses(monkeypatch, noted) == plain
    # The first step is checked.
    assert len(entered) == len(plain) - 1


def test_shapes_are_checked_between_the_steps():
    steps = loop.train(loop.Run(CONFIGS["tiny"]), np.arange(300))
    for _ in range(3):
        next(steps)
        assert refuses()


def test_only_the_first_token_is_checked(monkeypatch):
    seen = []

    class Watched(TransformerLM):
        def forward(self, *arguments):
            seen.append(refuses())
            return super().forward(*arguments)

    sizes = {"vocabulary": 8, "context": 8, "layers": 1, "width": 4, "heads": 1, "feed_forward": 4}
    generation.generate(Watched(TransformerConfig(**sizes)), torch.zeros(1, 1, dtype=int), 3)
    assert seen == [True, False, False]
