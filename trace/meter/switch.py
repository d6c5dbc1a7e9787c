"""Turns the meter on for a block, as soon as torch is there."""

import contextlib
import threading
from collections.abc import Iterator

from ..own_builtins import use_own_builtins
from .ledger import Account
from .when_imported import when_imported

use_own_builtins(globals())


@contextlib.contextmanager
def metered(account: Account) -> Iterator[None]:
    """Report to `account` what runs inside the block. Without torch there is nothing to report."""
    with contextlib.ExitStack() as stack:
        thread = threading.get_ident()

        def begin() -> None:
            if threading.get_ident() == thread:
                from .mode import meter_of_this_thread

                stack.enter_context(meter_of_this_thread().reporting_to(account))

        stack.enter_context(when_imported("torch", begin))
        yield
