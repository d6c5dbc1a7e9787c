"""A step of training, and everything that it changes."""

import contextlib
import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch

from lecture.lib.batches import derived_generator, get_batch
from lecture.lib.optim import AdamW
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import TransformerLM, cross_entropy
from lecture.train.clipping import clip_gradients, gradients_of
from lecture.train.config import TrainingConfig, config_from, difference
from lecture.train.errors import TrainingError
from lecture.train.parallel import Alone
from lecture.train.schedule import learning_rate

WEIGHTS, ORDER = 0, 1  # each purpose has its own stream of random numbers


@dataclass(frozen=True)
class Step:
    """What is known after a step."""

    step: int  # steps done
    loss: float  # of this step's batch, before the step: nats per token
    lr: float
    gradient_norm: float  # before clipping


class Run:
    """Everything that changes during training, and so everything that a checkpoint has to hold."""

    def __init__(self, config: TrainingConfig, device: torch.device | str = "cpu") -> None:
        self.config = config
        self.device = torch.device(device)
        weights = derived_generator(config.seed, WEIGHTS)
        # Drawn on the CPU, so that every device starts from the same numbers.
        self.model = TransformerLM(config.model(), generator=weights).to(self.device)
        # Weight decay is for matrices; there is no reason to pull the gains of norms to zero.
        matrices = [weight for weight in self.model.parameters() if weight.ndim > 1]
        gains = [weight for weight in self.model.parameters() if weight.ndim == 1]
        self.optimizer = AdamW(
            [
                {"params": matrices, "weight_decay": config.weight_decay},
                {"params": gains, "weight_decay": 0.0},
            ],
            betas=(config.beta1, config.beta2),
        )
        self.order = derived_generator(config.seed, ORDER)
        self.step = 0
        self.forward = self.model  # or what `torch.compile` made of it

    @property
    def lr(self) -> float:
        """The learning rate of the next step. The first is one step up, as 0 would do nothing."""
        return learning_rate(
            self.step + 1,
            max_lr=self.config.max_lr,
            min_lr=self.config.min_lr,
            warm_up_steps=self.config.warm_up_steps,
            end_step=self.config.steps,
        )

    def state_dict(self) -> dict[str, Any]:
        """Return what it takes to go on. The learning rate follows from the step."""
        return {
            "config": asdict(self.config),
            "step": self.step,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "order": self.order.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there."""
        saved = config_from(state["config"])
        if changed := difference(saved, self.config):
            raise TrainingError(f"the checkpoint is of another run ({changed})")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.order.set_state(state["order"].cpu())
        self.step = state["step"]


def low_precision(device: torch.device, precision: str) -> contextlib.AbstractContextManager[None]:
    """Let matrix products run in bf16; parameters, gradients and norms stay in fp32."""
    if precision == "fp32":
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16)


def train_step(
    run: Run, tokens: np.ndarray, group: Alone, precision: str = "fp32"
) -> Step:  # @stepover
    """Draw a batch, go forward and back, and change the parameters."""
    config, lr = run.config, run.lr
    x, y = get_batch(tokens, config.batch, config.context, run.order)
    x, y = group.share(x).to(run.device), group.share(y).to(run.device)
    run.optimizer.zero_grad()
    with low_precision(run.device, precision):
        loss = cross_entropy(run.forward(x), y)
    loss.backward()
    group.average([loss, *gradients_of(run.model.parameters())])
    norm = clip_gradients(run.model.parameters(), config.max_norm)
    if not math.isfinite(norm):
        raise TrainingError(f"the gradient of step {run.step + 1} is not finite; lower max_lr")
    for settings in run.optimizer.param_groups:
        settings["lr"] = lr
    run.optimizer.step()
    run.step += 1
    return Step(run.step, loss.item(), lr, norm)


def train(
    run: Run, tokens: np.ndarray, group: Alone | None = None, precision: str = "fp32"
) -> Iterator[Step]:  # @stepover
    """Train to the end, and report each step."""
    if len(tokens) <= run.config.context:
        raise TrainingError(
            f"{len(tokens)} tokens are too few; a sequence takes {run.config.context + 1}"
        )
    group = group or Alone()
    checks: contextlib.AbstractContextManager[None] = contextlib.nullcontext()
    while run.step < run.config.steps:
        with checks:
            step = train_step(run, tokens, group, precision)
        yield step
        checks = without_checks()  # what went well once has the same shapes ever after
