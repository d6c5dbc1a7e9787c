"""Run a lecture without the tracer, and say how many sections it had."""

import functools
import inspect
import time
from collections.abc import Callable
from types import ModuleType


class SectionCounter:
    """Counts the calls of the functions it wraps."""

    def __init__(self) -> None:
        self.calls = 0

    def counted(self, section: Callable[[], None]) -> Callable[[], None]:
        """Wrap a section so that each call that returns is counted."""

        @functools.wraps(section)
        def call() -> None:
            section()
            self.calls += 1

        return call

    def watch(self, chapter: ModuleType) -> None:
        """Count the sections of a chapter: its own functions that take no arguments."""
        for name, function in inspect.getmembers(chapter, inspect.isfunction):
            own = function.__module__ == chapter.__name__
            if own and not inspect.signature(function).parameters:
                setattr(chapter, name, self.counted(function))


def run(main: Callable[[], None]) -> None:
    """Call `main` and print how many sections of the chapters it names have run."""
    counter = SectionCounter()
    for value in list(main.__globals__.values()):
        if isinstance(value, ModuleType) and value.__name__.startswith("lecture."):
            counter.watch(value)
    start_seconds = time.perf_counter()
    main()
    seconds = time.perf_counter() - start_seconds
    print(f"{counter.calls} sections in {seconds:.1f} s")
