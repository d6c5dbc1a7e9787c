"""The bill as a sheet: all figures of a plan, and how they are printed."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lecture.accounting import formulas
from lecture.facts import COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER, Accelerator
from lecture.lib.transformer import TransformerConfig

ELEMENT_BYTES = {"fp32": 4, "bf16": 2}
GIB = 2**30

Sheet = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """A model and how it is to be trained. Raises `ValueError` for what cannot be."""

    config: TransformerConfig
    batch: int = 1
    dtype: str = "fp32"
    optimizer: str = "adamw"
    accelerator: Accelerator | None = None
    devices: int = 1
    memory_bytes: int | None = None
    mfu: float = 0.4
    training_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("batch", "devices", "memory_bytes", "training_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name.replace('_', ' ')} must be at least 1, not {value}.")
        if not 0 < self.mfu <= 1:
            raise ValueError(
                f"the MFU is a share of the peak, above 0 and at most 1, not {self.mfu}."
            )
        if self.optimizer == "adamw-master" and self.dtype == "fp32":
            raise ValueError("a master copy is for weights in fewer bits than fp32.")
        if self.accelerator and self.dtype not in self.accelerator.dense_flops_per_second:
            raise ValueError(f"{self.accelerator.name} has no {self.dtype} rate on its data sheet.")


def sheet_of(plan: Plan) -> Sheet:
    """Compute all figures, with the unit in each name."""
    config, batch, T = plan.config, plan.batch, plan.config.context
    element_bytes = ELEMENT_BYTES[plan.dtype]
    N = formulas.parameters(config)
    return {
        "model": dataclasses.asdict(config),
        "batch": batch,
        "dtype": plan.dtype,
        "optimizer": plan.optimizer,
        "parameters": formulas.parameters_by_part(config),
        "forward_flops": formulas.forward_flops_by_part(config, T, batch),
        "backward_flops": formulas.backward_flops(config, T, batch),
        "step_flops": formulas.step_flops(config, T, batch),
        "activation_bytes": formulas.activation_bytes_by_part(config, T, batch, element_bytes),
        "training_bytes": formulas.training_bytes_by_part(
            config, T, batch, element_bytes, plan.optimizer
        ),
        "cache_bytes_per_token": formulas.cache_bytes(config, 1, 1, element_bytes),
        **_of_the_card(plan, element_bytes),
        **_of_the_run(plan, N),
    }


def _of_the_card(plan: Plan, element_bytes: int) -> Sheet:
    """How many sequences fit, where the memory is known."""
    memory_bytes = plan.memory_bytes
    if memory_bytes is None and plan.accelerator:
        memory_bytes = plan.accelerator.memory_bytes
    if memory_bytes is None:
        return {}
    largest = formulas.largest_batch(
        plan.config, plan.config.context, memory_bytes, element_bytes, plan.optimizer
    )
    return {"memory_bytes": memory_bytes, "largest_batch": largest}


def _of_the_run(plan: Plan, N: int) -> Sheet:
    """The whole training, and its days where the rate is known."""
    tokens = plan.training_tokens or COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER * N
    T = plan.config.context
    found: Sheet = {
        "training_tokens": tokens,
        "training_flops": formulas.step_flops(plan.config, T) // T * tokens,
    }
    if plan.accelerator:
        rate = plan.accelerator.dense_flops_per_second[plan.dtype]
        days = formulas.training_days(plan.config, T, tokens, plan.devices * rate, plan.mfu)
        found |= {
            "accelerator": plan.accelerator.name,
            "devices": plan.devices,
            "mfu": plan.mfu,
            "training_days": days,
        }
    return found


def lines_of(sheet: Sheet) -> Iterator[str]:
    """Write the sheet for people."""
    model = sheet["model"]
    yield (
        f"{model['layers']} layers, width {model['width']}, {model['heads']} heads, feed-forward "
        f"{model['feed_forward']}, vocabulary {grouped(model['vocabulary'])}"
    )
    yield (
        f"{sheet['batch']} × {grouped(model['context'])} tokens, {sheet['dtype']}, "
        f"{sheet['optimizer']}"
    )
    yield from table("Parameters", sheet["parameters"])
    yield from table("Forward pass, matmul FLOPs", sheet["forward_flops"])
    yield line("backward pass", sheet["backward_flops"])
    yield line("training step", sheet["step_flops"])
    yield from table("Activations, bytes", sheet["activation_bytes"], GIB)
    yield from table("Training, bytes", sheet["training_bytes"], GIB)
    if "largest_batch" in sheet:
        yield line("memory", sheet["memory_bytes"], f"{sheet['memory_bytes'] / GIB:.2f} GiB")
        yield line("largest batch", sheet["largest_batch"])
    yield from ("", "Writing, bytes")
    yield line("keys and values, per token", sheet["cache_bytes_per_token"])
    yield from ("", "The whole training")
    yield line("tokens", sheet["training_tokens"])
    yield f"  {'matmul FLOPs':28}{sheet['training_flops']:25.4g}"
    if "training_days" in sheet:
        yield f"  {'days':28}{sheet['training_days']:25,.2f}".replace(",", " ")
        yield (
            f"  on {sheet['devices']} × {sheet['accelerator']}, MFU {sheet['mfu']:g} of the "
            f"dense {sheet['dtype']} peak"
        )


def table(title: str, parts: Mapping[str, int], unit: int = 0) -> Iterator[str]:
    """Write parts, their shares and their sum; with a unit, in GiB as well."""
    total = sum(parts.values())
    yield ""
    yield title
    for name, amount in [*parts.items(), ("all", total)]:
        in_units = f"{amount / unit:10.3f} GiB" if unit else ""
        yield line(name, amount, f"{in_units}{amount / total:9.2%}")


def line(name: str, amount: int, more: str = "") -> str:
    """Write a number behind its name, and what else there is to say."""
    return f"  {name:28}{grouped(amount):>25}  {more}".rstrip()


def grouped(amount: int) -> str:
    """Write digits in groups of three."""
    return f"{amount:,}".replace(",", " ")
