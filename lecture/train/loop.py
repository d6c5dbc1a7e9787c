"""A step of training, and everything that it changes."""

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lecture.lib.batches import derived_generator, get_batch
from lecture.lib.optim import AdamW
from lecture.lib.shapes import without_checks
from lecture.lib.transformer import TransformerLM, cross_entropy
from lecture.train.clipping import clip_gradients, gradients_of
from lecture.train.config import TrainingConfig, config_from, difference
from lecture.train.errors import TrainingError
from lecture.train.parallel import Alone
from lecture.train.schedule import learning_rate, warm_up_stable_decay

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

    def __init__(
        self,
        config: TrainingConfig,
        device: torch.device | str = "cpu",
        shard: Callable[[TransformerLM], None] = lambda model: None,
    ) -> None:
        self.config = config
        self.device = torch.device(device)
        weights = derived_generator(config.seed, WEIGHTS)
        # Drawn on the CPU, so that every device starts from the same numbers.
        self.model = TransformerLM(config.model(), generator=weights).to(self.device)
        shard(self.model)  # before the optimizer makes room for what each process keeps
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
        config = self.config
        ends = {"max_lr": config.max_lr, "min_lr": config.min_lr, "end_step": config.steps}
        ends["warm_up_steps"] = config.warm_up_steps
        if config.decay_steps:
            return warm_up_stable_decay(self.step + 1, decay_steps=config.decay_steps, **ends)
        return learning_rate(self.step + 1, **ends)

    def state_dict(self) -> dict[str, Any]:
        """Return what it takes to go on. The learning rate follows from the step."""
        rest = self.rest_of_state()
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        return rest | state

    def rest_of_state(self) -> dict[str, Any]:
        """Return what it takes beside weights and moments."""
        return {
            "config": asdict(self.config),
            "step": self.step,
            "order": self.order.get_state(),
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on from there. The run may have become longer; nothing else may differ."""
        self.load_rest(state)
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])

    def load_rest(self, state: dict[str, Any]) -> None:
        """Go on from there, but for weights and moments."""
        saved = config_from(state["config"])
        if self.config.steps > saved.steps:
            saved = replace(saved, steps=self.config.steps)
        if changed := difference(saved, self.config):
            raise TrainingError(f"the checkpoint is of another run ({changed})")
        self.order.set_state(state["order"].cpu())
        self.step = state["step"]


def low_precision(device: torch.device, precision: str) -> contextlib.AbstractContextManager[None]:
    """Let matrix products run in bf16; parameters, gradients and norms stay in fp32."""
    if precision == "fp32":
        return contextlib.nullcontext()
    return torch.autocast(device.type, torch.bfloat16)


def train_step(
    run: Run, tokens: np.ndarray, group: Alone, precision: str = "fp32", micro_batches: int = 1
) -> Step:  # @stepover
    """Draw a batch, go forward and back, and change the parameters."""
    config, lr = run.config, run.lr
    x, y = get_batch(tokens, config.batch, config.context, run.order)
    x, y = group.share(x), group.share(y)
    run.optimizer.zero_grad()
    loss = add_gradients(run, x, y, precision, micro_batches)
    group.average([loss, *group.unshared(gradients_of(run.model.parameters()))])
    norm = clip_gradients(run.model.parameters(), config.max_norm)
    if not math.isfinite(norm):
        raise TrainingError(f"the gradient of step {run.step + 1} is not finite; lower max_lr")
    for settings in run.optimizer.param_groups:
        settings["lr"] = lr
    run.optimizer.step()
    run.step += 1
    return Step(run.step, loss.item(), lr, norm)


def add_gradients(
    run: Run, x: Tensor, y: Tensor, precision: str, micro_batches: int
) -> Tensor:  # @stepover
    """Go forward and back, in parts one after the other; return the mean loss."""
    if len(x) % micro_batches:
        raise TrainingError(
            f"{len(x)} sequences of a batch cannot be cut evenly into {micro_batches} micro-batches"
        )
    losses = []
    # PyTorch's data parallelism averages in the backward pass: once a step is enough, at the end.
    silence = getattr(run.forward, "no_sync", contextlib.nullcontext)
    for inputs, targets in zip(x.chunk(micro_batches), y.chunk(micro_batches), strict=True):
        is_last = len(losses) == micro_batches - 1
        with contextlib.nullcontext() if is_last else silence():
            with low_precision(run.device, precision):
                logits = run.forward(inputs.to(run.device))
                loss = cross_entropy(logits, targets.to(run.device)) / micro_batches
            loss.backward()
        losses.append(loss.detach())
    return torch.stack(losses).sum()


def train(
    run: Run,
    tokens: np.ndarray,
    group: Alone | None = None,
    precision: str = "fp32",
    micro_batches: int = 1,
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
            step = train_step(run, tokens, group, precision, micro_batches)
        yield step
        checks = without_checks()  # what went well once has the same shapes ever after
