"""The one decorator that makes shape annotations binding.

Annotations such as `Float[Tensor, "B T D"]` only describe. Under `@shape_checked` every call
compares the tensors with the annotations, across arguments and result, and a mismatch raises an
error.
"""

import contextlib
from collections.abc import Iterator

import jaxtyping
import torch
from jaxtyping import jaxtyped
from typeguard import typechecked

shape_checked = jaxtyped(typechecker=typechecked)


@contextlib.contextmanager
def without_checks() -> Iterator[None]:  # @stepover
    """Trust what runs inside: a loop that does the same again after a first pass with all checks.

    Shapes are not compared, and memory that will be written anyway is not filled with NaN before.
    The results are the same to the last bit.
    """
    config, deterministic = jaxtyping.config, torch.utils.deterministic
    before = config.jaxtyping_disable, deterministic.fill_uninitialized_memory
    config.update("jaxtyping_disable", True)
    deterministic.fill_uninitialized_memory = False
    try:
        yield
    finally:
        config.update("jaxtyping_disable", before[0])
        deterministic.fill_uninitialized_memory = before[1]
