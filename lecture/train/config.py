"""The numbers that define a run.

Two runs with the same numbers and data compute the same, on one machine and started alike.
"""

import math
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from lecture.lib.transformer import TransformerConfig
from lecture.train.errors import TrainingError


@dataclass(frozen=True)
class TrainingConfig:
    """What a run is made of. Raises `TrainingError` for numbers that make none."""

    vocabulary: int = 1024  # V: entries
    context: int = 128  # T: tokens of a sequence
    layers: int = 2  # L
    width: int = 128  # D
    heads: int = 4  # H
    feed_forward: int = 344  # F
    batch: int = 8  # B: sequences of a step, over all processes
    steps: int = 300
    warm_up_steps: int = 20
    decay_steps: int = 0  # 0: a cosine down to the end; else a straight line over the last steps
    max_lr: float = 0.01
    min_lr: float = 0.0005
    beta1: float = 0.9
    beta2: float = 0.95
    weight_decay: float = 0.1
    max_norm: float = 0.8  # of the gradient, over all parameters
    seed: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int and (type(value) is not int or value < 0):
                raise TrainingError(f"{field.name} has to be a whole number, and is {value!r}")
            if field.type is float and not (
                isinstance(value, int | float) and 0 <= value < math.inf
            ):
                raise TrainingError(f"{field.name} has to be a number from 0 up, and is {value!r}")
        if not self.warm_up_steps < self.steps:
            raise TrainingError(
                f"warm_up_steps ({self.warm_up_steps}) has to be less than steps ({self.steps})"
            )
        if self.warm_up_steps + self.decay_steps > self.steps:
            raise TrainingError(
                f"warm_up_steps ({self.warm_up_steps}) and decay_steps ({self.decay_steps}) have "
                f"to fit into steps ({self.steps})"
            )
        if not self.batch:
            raise TrainingError("batch has to be at least 1")
        try:
            self.model()
        except ValueError as error:
            raise TrainingError(str(error)) from None

    def model(self) -> TransformerConfig:
        """Return the sizes of the model."""
        names = ("vocabulary", "context", "layers", "width", "heads", "feed_forward")
        return TransformerConfig(**{name: getattr(self, name) for name in names})

    @property
    def step_tokens(self) -> int:
        """The tokens that a step learns from."""
        return self.batch * self.context


CONFIGS = {
    # For tests: done as soon as torch is there.
    "tiny": TrainingConfig(
        vocabulary=300,
        context=16,
        layers=1,
        width=16,
        heads=2,
        feed_forward=32,
        batch=4,
        steps=20,
        warm_up_steps=4,
    ),
    # The run of the lecture: 658,048 parameters, a quarter of a minute on two cores.
    "lecture": TrainingConfig(),
    # Some ten minutes on two cores.
    "small": TrainingConfig(
        layers=4, context=256, batch=16, steps=1500, warm_up_steps=100, max_lr=0.006
    ),
    # For an accelerator: 34 million parameters.
    "medium": TrainingConfig(
        vocabulary=8192,
        context=512,
        layers=8,
        width=512,
        heads=8,
        feed_forward=1376,
        batch=64,
        steps=5000,
        warm_up_steps=200,
        max_lr=0.001,
        min_lr=0.0001,
    ),
}


def config_from(values: dict[str, Any]) -> TrainingConfig:
    """Make a configuration of named values; what is not named is as in "lecture"."""
    known = [field.name for field in fields(TrainingConfig)]
    if unknown := [name for name in values if name not in known]:
        raise TrainingError(f"there is no setting {unknown[0]!r}; there are: {', '.join(known)}")
    return TrainingConfig(**values)


def read_config(name_or_path: str) -> TrainingConfig:
    """Return the configuration of this name, or the one in a TOML file."""
    if name_or_path in CONFIGS:
        return CONFIGS[name_or_path]
    path = Path(name_or_path)
    try:
        return config_from(tomllib.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise TrainingError(
            f"there is no configuration and no file {name_or_path!r}; "
            f"configurations are: {', '.join(CONFIGS)}"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, TrainingError) as error:
        raise TrainingError(f"{path}: {error}") from None


def difference(one: TrainingConfig, other: TrainingConfig) -> str:
    """Name what differs between two configurations, as `name: value, not value`."""
    pairs = zip(asdict(one).items(), asdict(other).values(), strict=True)
    return "; ".join(f"{name}: {a}, not {b}" for (name, a), b in pairs if a != b)
