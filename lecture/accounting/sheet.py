"""The cost sheet: all figures of a plan, and how they are printed."""

import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from lecture.accounting import formulas, memory, sharding
from lecture.accounting.memory import PRECISIONS, Training
from lecture.facts import COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER, Accelerator
from lecture.lib.transformer import TransformerConfig

GIB = 2**30
RATES = {"fp32": "fp32", "bf16": "bf16", "bf16-weights": "bf16"}
"""In which format matmuls run, by precision."""

Sheet = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """A model and how it is to be trained. Raises `ValueError` for what cannot be."""

    config: TransformerConfig
    batch: int = 1
    micro_batches: int = 1
    precision: str = "bf16"
    optimizer: str = "adamw"
    attention: str = "written-out"
    accelerator: Accelerator | None = None
    devices: int = 1
    shard_state: bool = False
    memory_bytes: int | None = None
    mfu: float = 0.4
    training_tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("batch", "micro_batches", "devices", "memory_bytes", "training_tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name.replace('_', ' ')} must be at least 1, not {value}.")
        if not 0 < self.mfu <= 1:
            raise ValueError(
                f"the MFU is a share of the peak, above 0 and at most 1, not {self.mfu}."
            )
        if self.batch % self.micro_batches:
            raise ValueError(
                f"a batch of {self.batch} cannot be taken in {self.micro_batches} equal parts."
            )
        if self.optimizer == "adamw-master" and self.precision != "bf16-weights":
            raise ValueError(
                "a master copy is for weights in fewer bits: --precision bf16-weights."
            )
        if self.shard_state and self.devices == 1:
            raise ValueError("to shard the optimizer's state takes more than one of --devices.")
        if self.devices > 1 and self.accelerator is None and not self.shard_state:
            raise ValueError("--devices needs an --accelerator, whose days they share.")
        rate = RATES[self.precision]
        if self.accelerator and rate not in self.accelerator.dense_flops_per_second:
            raise ValueError(f"{self.accelerator.name} has no {rate} rate on its data sheet.")

    @property
    def training(self) -> Training:  # @stepover
        """What memory depends on: what passes a device at once."""
        return Training(
            tokens=self.config.context,
            batch=self.batch // self.micro_batches,
            precision=self.precision,
            optimizer=self.optimizer,
            attention=self.attention,
            accumulating=self.micro_batches > 1,
            shards=self.devices if self.shard_state else 1,
        )


def sheet_of(plan: Plan) -> Sheet:
    """Compute all figures, with the unit in each name. Memory is that of one device."""
    config, batch, T = plan.config, plan.batch, plan.config.context
    training, element_bytes = plan.training, PRECISIONS[plan.precision].element_bytes
    moments = memory.moments(config, training)
    peak = max(moments, key=moments.__getitem__)
    return {
        "model": dataclasses.asdict(config),
        "batch": batch,
        "micro_batches": plan.micro_batches,
        "precision": plan.precision,
        "optimizer": plan.optimizer,
        "attention": plan.attention,
        "parameters": formulas.parameters_by_part(config),
        "active_parameters": formulas.active_parameters(config),
        "forward_flops": formulas.forward_flops_by_part(config, T, batch),
        "backward_flops": formulas.backward_flops(config, T, batch),
        "step_flops": formulas.step_flops(config, T, batch),
        "activation_bytes": memory.activation_bytes_by_part(config, training),
        "training_bytes": memory.training_bytes_by_part(config, training),
        "peak_bytes": moments[peak],
        "peak_moment": peak,
        "cache_bytes_per_token": formulas.cache_bytes(config, 1, 1, element_bytes),
        **_of_sharding(plan),
        **_of_the_card(plan, moments[peak]),
        **_of_the_run(plan, moments[peak]),
    }


def _of_sharding(plan: Plan) -> Sheet:
    """What each of several devices would keep and send in a step, by what is shared out."""
    if plan.devices == 1:
        return {}
    N, weight_bytes = formulas.parameters(plan.config), PRECISIONS[plan.precision].weight_bytes
    parts = memory.training_bytes_by_part(plan.config, replace(plan.training, shards=1))
    state_bytes = parts["optimizer state"] / N
    found = {}
    for stage, name in enumerate(sharding.STAGES):
        kept = sharding.bytes_per_parameter(
            stage, plan.devices, weight_bytes, weight_bytes, state_bytes
        )
        sent = sharding.sent_bytes_per_parameter(stage, plan.devices, weight_bytes)
        found[name] = {"kept_bytes": round(kept * N), "sent_bytes": round(sent * N)}
    return {"sharding": found}


def _memory_of(plan: Plan) -> int | None:
    """The memory of a device, where it is known."""
    return plan.memory_bytes or (plan.accelerator and plan.accelerator.memory_bytes) or None


def _of_the_card(plan: Plan, peak_bytes: int) -> Sheet:
    """Whether it fits, and how many sequences would."""
    memory_bytes = _memory_of(plan)
    if memory_bytes is None:
        return {}
    return {
        "memory_bytes": memory_bytes,
        "fits": peak_bytes <= memory_bytes,
        "largest_batch": memory.largest_batch(plan.config, plan.training, memory_bytes),
    }


def _of_the_run(plan: Plan, peak_bytes: int) -> Sheet:
    """The whole training, and its days where the rate is known and the memory is enough."""
    N = formulas.active_parameters(plan.config)
    tokens = plan.training_tokens or COMPUTE_OPTIMAL_TOKENS_PER_PARAMETER * N
    T = plan.config.context
    found: Sheet = {
        "training_tokens": tokens,
        "training_flops": formulas.step_flops(plan.config, T) // T * tokens,
    }
    memory_bytes = _memory_of(plan)
    if plan.accelerator and (memory_bytes is None or peak_bytes <= memory_bytes):
        rate = plan.accelerator.dense_flops_per_second[RATES[plan.precision]]
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
    groups = f" in {model['key_value_heads']} groups" if model["key_value_heads"] else ""
    experts = f"{model['experts']} × " if model["experts"] > 1 else ""
    tied = ", tied" if model["tied"] else ""
    yield (
        f"{model['layers']} layers, width {model['width']}, {model['heads']} heads{groups}, "
        f"feed-forward {experts}{model['feed_forward']}, vocabulary "
        f"{grouped(model['vocabulary'])}{tied}"
    )
    parts = f", in {sheet['micro_batches']} parts" if sheet["micro_batches"] > 1 else ""
    yield (
        f"{sheet['batch']} × {grouped(model['context'])} tokens{parts}, {sheet['precision']}, "
        f"{sheet['optimizer']}, attention {sheet['attention']}"
    )
    yield from table("Parameters", sheet["parameters"])
    if sheet["active_parameters"] != sum(sheet["parameters"].values()):
        yield line("that a token meets", sheet["active_parameters"])
    yield from table("Forward pass, matmul FLOPs", sheet["forward_flops"])
    yield line("backward pass", sheet["backward_flops"])
    yield line("training step", sheet["step_flops"])
    yield from table("Activations, bytes", sheet["activation_bytes"], GIB)
    yield from table("Training, bytes of a device", sheet["training_bytes"], GIB)
    yield line("peak", sheet["peak_bytes"], f"{sheet['peak_bytes'] / GIB:10.3f} GiB")
    yield f"  (at: {sheet['peak_moment']})"
    if "largest_batch" in sheet:
        yield line("memory", sheet["memory_bytes"], f"{sheet['memory_bytes'] / GIB:10.3f} GiB")
        yield line("largest batch at once", sheet["largest_batch"])
        if not sheet["fits"]:
            missing = (sheet["peak_bytes"] - sheet["memory_bytes"]) / GIB
            yield f"  does not fit: {missing:.2f} GiB are missing"
    if "sharding" in sheet:
        yield from ("", "What sharding buys: parameters, gradients and state on each device")
        for name, found in sheet["sharding"].items():
            kept, sent = found["kept_bytes"], found["sent_bytes"]
            yield line(name, kept, f"{kept / GIB:10.3f} GiB, sends {sent / GIB:.3f} GiB a step")
    yield from ("", "Decoding, bytes")
    yield line("keys and values, per token", sheet["cache_bytes_per_token"])
    yield from ("", "The whole training")
    yield line("tokens", sheet["training_tokens"])
    yield f"  {'matmul FLOPs':28}{sheet['training_flops']:25.4g}"
    if "training_days" in sheet:
        yield f"  {'days':28}{sheet['training_days']:25,.2f}".replace(",", " ")
        yield (
            f"  on {sheet['devices']} × {sheet['accelerator']}, MFU {sheet['mfu']:g} of the "
            f"dense {RATES[sheet['precision']]} peak"
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
