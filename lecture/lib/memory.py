"""What memory a tensor holds."""

from jaxtyping import Shaped
from torch import Tensor

from lecture.lib.shapes import shape_checked


@shape_checked
def same_storage(x: Shaped[Tensor, "..."], y: Shaped[Tensor, "..."]) -> bool:
    """Tell whether two tensors read the same memory. On `meta` there is none to tell apart."""
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


@shape_checked
def held_bytes(x: Shaped[Tensor, "..."]) -> int:  # @stepover
    """Return the bytes of memory that a tensor holds."""
    return x.untyped_storage().nbytes()
