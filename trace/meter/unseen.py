"""What runs where no dispatch mode of ours is: compiled regions, and other threads. Needs torch."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from ..own_builtins import use_own_builtins
from .when_imported import when_imported

use_own_builtins(globals())

Callback = TypeVar("Callback", bound=Callable[..., Any])
_INDUCTOR = "torch._inductor.output_code"
_DYNAMO: Any = torch._C._dynamo.eval_frame
CAN_KEEP_COMPILER_OUT = hasattr(_DYNAMO, "_FrameExecStrategy")
"""Whether this torch has what `never_compiled` needs."""


def never_compiled(function: Callback) -> Callback:
    """Keep `torch.compile` away from a function that it may meet in what it compiles, and from all
    that the function calls."""
    if CAN_KEEP_COMPILER_OUT:
        skip = _DYNAMO._FrameAction.SKIP
        strategy = _DYNAMO._FrameExecStrategy(skip, skip)
        _DYNAMO.set_code_exec_strategy(function.__code__, strategy)
    return function


class OnlookerMode(TorchDispatchMode):  # type: ignore[misc]
    """A dispatch mode that changes nothing: torch runs the same kernels, and compiles as before."""

    supports_higher_order_operators = True  # without it torch.compile is silently turned off

    @classmethod
    def is_infra_mode(cls) -> bool:
        """Let torch choose the same kernels as without us."""
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Torch's own way to keep the compiler out costs 2 us a call."""
        return not CAN_KEEP_COMPILER_OUT


class Watch:
    """Tells listeners of something that torch or Python do not tell of by themselves.

    To notice it, torch or Python is patched; the patch is in place only while somebody listens.
    Blocks need not nest, and may be in several threads.
    """

    def __init__(self, patched: "Patch") -> None:
        self.patched = patched
        self.reports: list[Callable[..., object]] = []
        self.lock = threading.Lock()
        self.patches = contextlib.ExitStack()

    @contextlib.contextmanager
    def told_to(self, report: Callable[..., object]) -> Iterator[None]:
        """Inside the block, call `report` whenever it happens."""
        with self.lock:
            if not self.reports:
                self.patches.enter_context(self.patched(self.tell))
            self.reports.append(report)
        try:
            yield
        finally:
            with self.lock:
                self.reports.remove(report)
                if not self.reports:
                    self.patches.close()

    def tell(self, *what: object) -> None:
        """Call all those that listen."""
        for report in tuple(self.reports):
            report(*what)


Tell = Callable[..., None]
Patch = Callable[[Tell], contextlib.AbstractContextManager[None]]


@contextlib.contextmanager
def _compiled_regions(tell: Tell) -> Iterator[None]:
    with contextlib.ExitStack() as stack:

        def watch() -> None:
            for kind in sys.modules[_INDUCTOR].OutputCode.__subclasses__():
                if "__call__" in vars(kind):
                    stack.callback(setattr, kind, "__call__", kind.__call__)
                    kind.__call__ = _telling(kind.__call__, tell)

        stack.enter_context(when_imported(_INDUCTOR, watch))
        yield


def _telling(call: Callable[..., Any], tell: Tell) -> Callable[..., Any]:
    def __call__(self: object, inputs: object) -> Any:
        tell()
        return call(self, inputs)

    return __call__


@contextlib.contextmanager
def _other_threads(tell: Tell) -> Iterator[None]:
    thread: Any = threading.Thread
    run = thread._bootstrap_inner

    def run_telling(self: threading.Thread) -> None:
        _push_mode(_Reporter(tell))  # not `with`, which sets flags of the whole process
        try:
            run(self)
        finally:
            _pop_mode()

    thread._bootstrap_inner = run_telling
    try:
        yield
    finally:
        thread._bootstrap_inner = run


compiled_regions = Watch(_compiled_regions)
"""Code compiled by inductor that runs. Of such code only the calls of library kernels arrive at a
dispatch mode. Other backends run torch's operators, which are all seen."""
other_threads = Watch(_other_threads)
"""Each operator in a thread that is started while somebody listens."""


class _Reporter(OnlookerMode):
    """Names each operator and passes it on unchanged."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self.tell = tell

    @never_compiled
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.tell(func)
        return func(*args, **kwargs) if kwargs else func(*args)
