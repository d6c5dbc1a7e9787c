"""The one decorator that makes shape annotations binding.

Annotations such as `Float[Tensor, "B T D"]` only describe. Under `@shape_checked` every call
compares the tensors with the annotations, across arguments and result, and a mismatch raises an
error.
"""

from jaxtyping import jaxtyped
from typeguard import typechecked

shape_checked = jaxtyped(typechecker=typechecked)
