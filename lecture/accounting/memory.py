"""What is in memory while a Transformer is trained, part by part, and the most there is at once.

Closed formulas for `lecture/lib/transformer.py`; the tests compare them with the meter. What is
counted:

- Activation bytes are what waits for the backward pass once the loss has been computed, as this
  implementation keeps it (`lecture/lib/transformer.py` says where). The masks and the rows of sines
  and cosines that wait with them are listed by themselves.
- The peak is the largest of a few moments of a step (`moments`). Memory that no tensor has, such as
  a CUDA context and the gaps that an allocator leaves, is not in it.

With experts, what waits is counted to the byte, and the peak inside a layer is an estimate: it
depends on how evenly the router shares out the tokens.

Letters: B sequences of T tokens, L layers, D features, H heads, F features inside a feed-forward
network, V entries in the vocabulary, N parameters.
"""

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

from lecture.accounting.formulas import multiplying_parameters_by_part, parameters
from lecture.lib.transformer import TransformerConfig

FP32_BYTES = 4
INT64_BYTES = 8


class Precision(NamedTuple):
    """The bytes of a number: of weights and gradients, and of what a forward pass computes."""

    weight_bytes: int
    element_bytes: int

    @property
    def rounds_weights(self) -> bool:  # @stepover
        """Whether matmuls get a shorter copy of each weight, which waits with the activations."""
        return self.element_bytes < self.weight_bytes


# "bf16" is what `lecture.train --precision bf16` does: fp32 weights, under autocast. In
# "bf16-weights" the model itself is in bf16; norms and loss compute in fp32 nevertheless.
PRECISIONS = {
    "fp32": Precision(4, 4),
    "bf16": Precision(4, 2),
    "bf16-weights": Precision(2, 2),
}
ATTENTION = ("written-out", "fused")


class OptimizerMemory(NamedTuple):
    """What an optimizer keeps for each parameter, and needs while it works."""

    numbers: int
    as_weights: bool = False  # the numbers have the format of the weights; otherwise they are fp32
    at_once: bool = False  # it works on all parameters at once, otherwise on one after the other


# Those of `lecture/lib/optim.py`, and PyTorch's AdamW in the form that it prefers on a GPU. A
# master copy, one of the three numbers, is for weights in fewer bits.
OPTIMIZERS = {
    "sgd": OptimizerMemory(0),
    "momentum": OptimizerMemory(1),
    "adagrad": OptimizerMemory(1),
    "adamw": OptimizerMemory(2),
    "adamw-master": OptimizerMemory(3),
    "adamw-foreach": OptimizerMemory(2, as_weights=True, at_once=True),
}


@dataclass(frozen=True)
class Training:
    """How a model is trained, as far as it matters to memory."""

    tokens: int  # T, of a sequence
    batch: int = 1  # B, sequences that pass at once
    precision: str = "fp32"
    optimizer: str = "adamw"
    attention: str = "written-out"
    accumulating: bool = False  # there are gradients already when a backward pass begins
    shards: int = 1  # devices among which the state of the optimizer is divided

    @property
    def bytes_of(self) -> Precision:  # @stepover
        return PRECISIONS[self.precision]


def activation_bytes_by_part(config: TransformerConfig, training: Training) -> dict[str, int]:
    """Count the bytes that wait for the backward pass when the loss has been computed."""
    D, V, BT = config.width, config.vocabulary, training.batch * training.tokens
    per_layer = _activation_bytes_of_a_layer(config, training)
    # The last normalization, and its result for the head.
    last = BT * (2 * FP32_BYTES * D + FP32_BYTES) + BT * D * training.bytes_of.element_bytes
    parts = {name: config.layers * found for name, found in per_layer.items()}
    parts["norms"] += last
    if training.bytes_of.rounds_weights:
        parts["rounded weights"] += V * D * training.bytes_of.element_bytes
    return parts | {"loss": FP32_BYTES * (BT * V + BT + 1)}


def _activation_bytes_of_a_layer(config: TransformerConfig, training: Training) -> dict[str, int]:
    D, F, H, e = config.width, config.feed_forward, config.heads, training.bytes_of.element_bytes
    BT = training.batch * training.tokens
    if training.attention == "fused":
        # No attention weights: a logarithm for each row, and the mean once more with its heads in
        # another order.
        parts = {"sums of attention": BT * H * FP32_BYTES}
        means = 2 if H > 1 else 1
    else:
        parts = {"attention weights": H * BT * training.tokens * e}
        means = 1
    # Two norms: what came in and what was divided, in fp32, a factor per token, and the results.
    # Under autocast each matrix that a result meets keeps a rounded copy of its own.
    results = 5 if training.bytes_of.rounds_weights else 2
    parts |= {
        "feed-forward": config.active_experts * 4 * BT * F * e,
        "norms": 2 * BT * (2 * FP32_BYTES * D + FP32_BYTES) + results * BT * D * e,
        "queries, keys, values, mean": BT * ((1 + means) * D + 2 * config.key_value_width) * e,
    }
    if config.experts > 1:
        # For each choice of a token: what goes into the network and what comes out, the weight it
        # is multiplied by, once among those of the token and once by itself, and what was chosen.
        choices = config.active_experts * BT
        parts["routing"] = choices * ((2 * D + 2) * e + INT64_BYTES)
        if training.bytes_of.rounds_weights:
            parts["routing"] += (choices - BT) * D * e  # gathered in fp32, then rounded
    if training.bytes_of.rounds_weights:
        of_layers = sum(multiplying_parameters_by_part(config).values()) // config.layers
        parts["rounded weights"] = of_layers * e
    return parts


def activation_bytes(config: TransformerConfig, training: Training) -> int:  # @stepover
    """Add up all that waits for the backward pass."""
    return sum(activation_bytes_by_part(config, training).values())


def constant_bytes(config: TransformerConfig, training: Training) -> int:
    """Count the bytes of what waits with the activations and depends on no parameter.

    Masks, cosines and sines are made once per layer for all sequences; the loss numbers its rows.
    """
    rows = training.batch * training.tokens
    return config.layers * _constant_bytes_of_a_layer(config, training) + rows * INT64_BYTES


def _constant_bytes_of_a_layer(config: TransformerConfig, training: Training) -> int:
    T, K = training.tokens, config.width // config.heads
    mask_bytes = 0 if training.attention == "fused" else T**2  # a truth value takes a byte
    rotation_bytes = 2 * 2 * T * (K // 2) * FP32_BYTES  # cosine and sine, for queries and keys
    # For each choice, its row and its place among those of the token.
    choices = config.active_experts * training.batch * T if config.experts > 1 else 0
    return mask_bytes + rotation_bytes + 2 * choices * INT64_BYTES


def training_bytes_by_part(config: TransformerConfig, training: Training) -> dict[str, int]:
    """Add up what is in memory once a loss has been computed and gradients are still there.

    That is the case from the second of several micro-batches on. Not counted are the data, and
    tensors that live for one operation; the peak has them.
    """
    N, weight_bytes = parameters(config), training.bytes_of.weight_bytes
    optimizer = OPTIMIZERS[training.optimizer]
    number_bytes = weight_bytes if optimizer.as_weights else FP32_BYTES
    # Cosines and sines for each position there can be, shared by all layers.
    table_bytes = 2 * config.context * (config.width // config.heads // 2) * FP32_BYTES
    return {
        "parameters": weight_bytes * N,
        "gradients": weight_bytes * N,
        "optimizer state": math.ceil(number_bytes * optimizer.numbers * N / training.shards),
        "activations": activation_bytes(config, training),
        "masks and positions": constant_bytes(config, training) + table_bytes,
    }


def training_bytes(config: TransformerConfig, training: Training) -> int:  # @stepover
    """Add up all parts of the memory in training."""
    return sum(training_bytes_by_part(config, training).values())


def moments(config: TransformerConfig, training: Training) -> dict[str, int]:
    """Count the bytes in memory at the moments of a step that can be its peak.

    A backward pass lets go of the activations of one layer after the other and, unless there are
    gradients already, makes those of its weights. So of the moments in a layer, those in the last
    and in the first layer are enough.
    """
    B, T, D, V = training.batch, training.tokens, config.width, config.vocabulary
    F, h, e = config.feed_forward, config.heads, training.bytes_of.element_bytes
    BT, weight_bytes = B * T, training.bytes_of.weight_bytes
    new = 0 if training.accumulating else weight_bytes
    parts = training_bytes_by_part(config, training)
    waiting = sum(parts.values()) - (0 if training.accumulating else parts["gradients"])
    # Around the loss: two more tables of what a softmax has for each token and entry. The one that
    # comes from the head is among them if it is in fp32, and otherwise lies beside its fp32 copy.
    table_bytes, row_bytes = FP32_BYTES * BT * V, 2 * FP32_BYTES * BT + FP32_BYTES
    logits_bytes = BT * V * e if e < FP32_BYTES else 0
    found = {
        "loss, forward": waiting + 2 * table_bytes - row_bytes + logits_bytes,
        "loss, backward": waiting + 2 * table_bytes + row_bytes,
    }
    # In the head and in the last norm all of this is let go of; their gradients come.
    norm_bytes = BT * (D * (2 * FP32_BYTES + e) + FP32_BYTES)
    behind = waiting - table_bytes - 4 * FP32_BYTES * BT + V * D * new + FP32_BYTES
    layer_bytes = sum(_activation_bytes_of_a_layer(config, training).values())
    layer_bytes += _constant_bytes_of_a_layer(config, training)
    of_layer = _layer_parameters(config) * new - layer_bytes
    for name, layer in {"last": 0, "first": config.layers - 1}.items():
        here = behind + layer * of_layer - norm_bytes + BT * FP32_BYTES
        # Inside the feed-forward network, two more of its tensors.
        found[f"feed-forward, {name} layer"] = here + (D + D * F) * new + BT * (D + 2 * F) * e
        if training.attention == "written-out":
            # In the softmax, four more tensors like the attention weights.
            freed_bytes = 4 * BT * F * e + norm_bytes + BT * D * e
            made = (2 * D + 3 * D * F + D**2) * new
            scores_bytes = 4 * h * BT * T * e
            found[f"attention, {name} layer"] = (
                here - freed_bytes + made + scores_bytes + BT * D * e
            )
    # All gradients are there, and that of the embedding is added up in one more.
    done = waiting - parts["activations"] - constant_bytes(config, training)
    done += parameters(config) * new
    found["embedding"] = done + V * D * weight_bytes * (2 if training.accumulating else 1)
    found["embedding"] += BT * D * e + 2 * FP32_BYTES
    found["optimizer"] = done + _optimizer_work_bytes(config, training)
    return found


def _layer_parameters(config: TransformerConfig) -> int:
    """Parameters of one layer."""
    multiplying = multiplying_parameters_by_part(config)
    return sum(multiplying.values()) // config.layers + 2 * config.width


def _optimizer_work_bytes(config: TransformerConfig, training: Training) -> int:
    """What an optimizer needs while it works: a denominator for each number of a parameter."""
    if training.optimizer in ("sgd", "momentum"):
        return 0
    if OPTIMIZERS[training.optimizer].at_once:
        return training.bytes_of.weight_bytes * parameters(config)
    D = config.width
    return FP32_BYTES * D * max(config.vocabulary, config.feed_forward, D)


def peak_bytes(config: TransformerConfig, training: Training) -> int:  # @stepover
    """Return the most that is in memory at once during a step after the first."""
    return max(moments(config, training).values())


def largest_batch(
    config: TransformerConfig, training: Training, memory_bytes: int
) -> int:  # @stepover
    """Return how many sequences can pass at once; 0 if there is no room for one."""
    fitting, too_many = 0, 1
    while _fits(config, training, too_many, memory_bytes):
        fitting, too_many = too_many, 2 * too_many
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if _fits(config, training, middle, memory_bytes):
            fitting = middle
        else:
            too_many = middle
    return fitting


def _fits(
    config: TransformerConfig, training: Training, batch: int, memory_bytes: int
) -> bool:  # @stepover
    return peak_bytes(config, replace(training, batch=batch)) <= memory_bytes
