"""Runs the sections that may notice a mutant, in processes that may be ended at any time."""

import ast
import collections
import contextlib
import functools
import importlib
import io
import math
import multiprocessing
import os
import signal
import sys
import tempfile
import time
import types
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from tests import mutants
from tests.mutants import Mutant
from tests.sections import run_with_its_clocks

# A mutant may take this long, and this many times as long as its sections do unchanged. Its ranks
# may wait this long for one another.
SECONDS = 10.0
TIMES_AS_LONG = 10
MOST_BYTES = 8 * 2**30

KILLED, CRASHED, SURVIVED = "killed", "crashed", "survived"

Section = tuple[str, str]


@dataclass(frozen=True)
class Task:
    """A mutant and the sections that may notice it."""

    mutant: Mutant
    sections: tuple[Section, ...]


class ForeignFaultError(Exception):
    """A section fails as it is, or cannot be found: no mutant can be judged."""


# What a worker does: one mutant after the other, in a process that may be ended at any time.


def cuda_is_here() -> bool:
    import torch

    return torch.cuda.is_available()


def as_in_the_lecture() -> None:
    """Put back what mutants may have left changed."""
    import torch

    torch.set_num_threads(2)
    torch.use_deterministic_algorithms(True)
    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.set_float32_matmul_precision("highest")
    torch.manual_seed(0)


def modules_below(package: str) -> dict[str, types.ModuleType]:
    """The modules of a package that are loaded."""
    return {name: found for name, found in sys.modules.items() if name.startswith(f"{package}.")}


@contextlib.contextmanager
def installed(tree: Any, module: str, path: Path) -> Iterator[None]:
    """Let a changed module take the place of the original, for those who import it as well."""
    package, _, name = module.rpartition(".")
    lecture = module.partition(".")[0]
    before = modules_below(lecture)
    attributes = dict(vars(sys.modules[lecture]))
    try:
        changed = types.ModuleType(module)
        changed.__file__, changed.__package__ = str(path), package
        for loaded in before:
            if not loaded.endswith("_figures"):
                del sys.modules[loaded]
        sys.modules[module] = changed
        setattr(importlib.import_module(package), name, changed)
        exec(compile(tree, str(path), "exec"), vars(changed))
        yield
    finally:
        for loaded in modules_below(lecture):
            del sys.modules[loaded]
        sys.modules.update(before)
        vars(sys.modules[lecture]).clear()
        vars(sys.modules[lecture]).update(attributes)


class OnARank:
    """A program with the changed module around it, to be run by another process."""

    def __init__(self, tree: Any, module: str, path: Path, program: Callable[..., Any]) -> None:
        self.changed = tree, module, path
        self.program = program.__module__, program.__qualname__

    def __call__(self, *arguments: Any) -> Any:
        KEPT_INSTALLED.enter_context(installed(*self.changed))
        module, name = self.program
        return getattr(importlib.import_module(module), name)(*arguments)


KEPT_INSTALLED = contextlib.ExitStack()  # a rank ends with its program, so nothing is put back


def change_all_ranks(
    tree: Any, module: str, path: Path, longest_wait_seconds: float = SECONDS
) -> None:
    """Where a section starts ranks, let these import the changed module, too, and not wait for
    messages that the change lets nobody send."""
    try:
        ranks = importlib.import_module(f"{module.partition('.')[0]}.lib.ranks")
    except ModuleNotFoundError:
        return
    started = ranks._started

    def started_with_the_change(rank, meeting, program, arguments):
        return started(rank, meeting, OnARank(tree, module, path, program), arguments)

    ranks._started = started_with_the_change
    ranks.LONGEST_WAIT = timedelta(seconds=longest_wait_seconds)


def claim_failed(error: BaseException, root: Path) -> bool:
    """Whether it is an `assert` of the lecture that raised this."""
    traceback = error.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    inside = traceback is not None and root in Path(traceback.tb_frame.f_code.co_filename).parents
    return isinstance(error, AssertionError) and inside


def run_section(section: Section) -> None:
    """Run a section as the tests do: where a claim about seconds fails, it has three tries."""
    module, name = section
    as_in_the_lecture()
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        run_with_its_clocks(getattr(importlib.import_module(module), name))


def judge(run: Callable[[], None], root: Path) -> str:
    """Run something and say how it ended."""
    try:
        run()
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        return KILLED if claim_failed(error, root) else CRASHED
    return SURVIVED


def path_of(module: str, root: Path) -> Path:
    return root / (module.replace(".", "/") + ".py")


def verdict_on(task: Task, root: Path, cuda: bool) -> str:
    """The strongest verdict of the sections: killed, else crashed, else survived."""
    module, path = task.mutant.module, path_of(task.mutant.module, root)
    tree = mutants.mutated(task.mutant, path.read_text(encoding="utf-8"), cuda)
    verdicts = {SURVIVED}
    for section in task.sections:

        def run(section: Section = section) -> None:
            with installed(tree, module, path):
                change_all_ranks(tree, module, path)
                run_section(section)

        verdicts.add(judge(run, root))
        if KILLED in verdicts:
            return KILLED
    return CRASHED if CRASHED in verdicts else SURVIVED


def seconds_unchanged(section: Section, root: Path) -> float:
    """Run a section as it is: it has to pass, and says how long its mutants may take.

    It is run twice, as in the first run it may import much, or start what forks ranks; and each
    time with fresh modules as a mutant is, which find nothing in a cache.
    """
    module = section[0]
    path = path_of(module, root)
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def run() -> None:
        with installed(tree, module, path):
            run_section(section)

    try:
        return min(seconds_of(run) for _ in range(2))
    except Exception as error:
        raise ForeignFaultError(f"{'.'.join(section)} fails unchanged: {error!r}") from None


def seconds_of(run: Callable[[], None]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


@contextlib.contextmanager
def ended_by_the_system(seconds: float) -> Iterator[None]:
    """Should nobody be left to end this process, have the system do it."""
    if not hasattr(signal, "alarm"):
        yield
        return
    signal.alarm(math.ceil(2 * seconds) + 5)
    yield
    signal.alarm(0)


def limit_memory() -> None:
    """A loop that has lost its end should not take the whole machine with it."""
    with contextlib.suppress(ImportError):
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (MOST_BYTES, hard))


def work(connection: Connection, root: Path, folder: str, seconds: float) -> None:
    """Judge mutants until told to stop: for each, first how long it may take, then the verdict."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends this process
    if hasattr(os, "setpgrp"):
        os.setpgrp()  # and with it the ranks that it has started
    warnings.simplefilter("ignore")
    os.chdir(folder)
    tempfile.tempdir = folder
    sys.path.insert(0, str(root))
    unchanged = functools.cache(functools.partial(seconds_unchanged, root=root))
    try:
        cuda = cuda_is_here()
        if not cuda:
            limit_memory()
        importlib.import_module("lecture")
        while (task := connection.recv()) is not None:
            limit = seconds + TIMES_AS_LONG * sum(map(unchanged, task.sections))
            connection.send(limit)
            with ended_by_the_system(limit):
                verdict = verdict_on(task, root, cuda)
            connection.send(verdict)
    except (EOFError, BrokenPipeError):
        pass  # nobody is interested any more
    except ForeignFaultError as fault:
        connection.send(fault)


# What the parent does: hand out mutants, wait, and end workers that take too long.


@dataclass
class Worker:
    """A process, what it is judging, and until when."""

    root: Path
    folder: str
    seconds: float
    task: Task | None = None
    deadline: float = float("inf")
    process: Any = field(init=False)
    connection: Any = field(init=False)

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, there = context.Pipe()
        arguments = (there, self.root, self.folder, self.seconds)
        self.process = context.Process(target=work, args=arguments)  # no daemon: it starts ranks
        self.process.start()
        there.close()

    def give(self, task: Task) -> None:
        self.task, self.deadline = task, float("inf")
        self.connection.send(task)

    def end(self) -> None:
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):  # it has no group yet, or has ended
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join()
        self.connection.close()

    def verdict(self) -> str | None:
        """The verdict, if there is one already."""
        try:
            if time.monotonic() > self.deadline:
                raise EOFError
            if not self.connection.poll():
                return None
            answer = self.connection.recv()
        except (EOFError, OSError):  # too long, or the process is gone
            self.end()
            self.start()
            return CRASHED
        if isinstance(answer, ForeignFaultError):
            raise answer
        if isinstance(answer, float):
            self.deadline = time.monotonic() + answer
            return None
        return str(answer)


def verdicts(
    tasks: list[Task], root: Path, workers: int = 2, seconds: float = SECONDS
) -> Iterator[tuple[Mutant, str]]:
    """Judge all tasks, in the order in which they are done."""
    waiting = collections.deque(tasks)
    crew: list[Worker] = []
    with tempfile.TemporaryDirectory() as folder:
        try:
            for _ in range(min(workers, len(tasks))):
                crew.append(Worker(root, folder, seconds))
                crew[-1].give(waiting.popleft())
            while busy := [worker for worker in crew if worker.task is not None]:
                wait([worker.connection for worker in busy], timeout=0.5)
                for worker in busy:
                    if (found := worker.verdict()) is None or worker.task is None:
                        continue
                    yield worker.task.mutant, found
                    worker.task = None
                    if waiting:
                        worker.give(waiting.popleft())
        finally:
            for worker in crew:
                worker.end()
