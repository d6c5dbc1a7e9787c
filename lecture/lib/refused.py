"""What PyTorch refuses to compute."""

from collections.abc import Callable


def is_refused(call: Callable[[], object]) -> bool:  # @stepover
    """Tell whether PyTorch raises an error instead of computing something."""
    try:
        call()
    except RuntimeError:
        return True
    return False
