"""What runs where no dispatch mode of ours is: compiled regions, and other threads. Needs torch."""

import contextlib
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch.utils._python_dispatch import TorchDispatchMode, _pop_mode, _push_mode

from .imports import when_imported

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


@contextlib.contextmanager
def compiled_regions(report: Callable[[], object]) -> Iterator[None]:
    """Inside the block, call `report` whenever code compiled by inductor runs.

    Of such code only the calls of library kernels arrive at a dispatch mode. Other backends run
    torch's operators, which are all seen.
    """
    with contextlib.ExitStack() as stack:

        def watch() -> None:
            for kind in sys.modules[_INDUCTOR].OutputCode.__subclasses__():
                if "__call__" in vars(kind):
                    stack.callback(setattr, kind, "__call__", kind.__call__)
                    kind.__call__ = _reporting(kind.__call__, report)

        if _INDUCTOR in sys.modules:
            watch()
        else:
            stack.enter_context(when_imported(_INDUCTOR, watch))
        yield


def _reporting(call: Callable[..., Any], report: Callable[[], object]) -> Callable[..., Any]:
    def __call__(self: object, inputs: object) -> Any:
        report()
        return call(self, inputs)

    return __call__


@contextlib.contextmanager
def other_threads(report: Callable[[Any], object]) -> Iterator[None]:
    """Inside the block, call `report` with each operator in a thread that is started meanwhile."""
    thread: Any = threading.Thread
    run = thread._bootstrap_inner

    def run_reporting(self: threading.Thread) -> None:
        _push_mode(_Reporter(report))  # not `with`, which sets flags of the whole process
        try:
            run(self)
        finally:
            _pop_mode()

    thread._bootstrap_inner = run_reporting
    try:
        yield
    finally:
        thread._bootstrap_inner = run


class _Reporter(TorchDispatchMode):  # type: ignore[misc]
    """Names each operator and passes it on unchanged."""

    supports_higher_order_operators = True

    def __init__(self, report: Callable[[Any], object]) -> None:
        super().__init__()
        self.report = report

    @classmethod
    def is_infra_mode(cls) -> bool:
        return True

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return not CAN_KEEP_COMPILER_OUT

    @never_compiled
    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.report(func)
        return func(*args, **kwargs) if kwargs else func(*args)
