"""Several processes that run one program, each as a rank of `torch.distributed`.

The process that asks is rank 0 itself, so its program can be stepped through like any other
function. The others are forked by a process that has imported torch once and for all, which takes
a hundredth of a second each; where a system cannot fork, each imports torch itself.
"""

import contextlib
import multiprocessing
import os
import pickle
import socket
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from multiprocessing import forkserver
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
import torch.distributed as dist
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

# FSDP says of every model whose result is a view what would happen if it were changed in place.
warnings.filterwarnings("ignore", "FSDP2-wrapped module .* returned a view", UserWarning)

LONGEST_WAIT = timedelta(minutes=10)  # for ranks that are slow; one that has ended is noticed
READY = b"ready"
SILENCE = b""  # of a rank that has ended and not said why
WITHOUT_A_WORD = "a rank has ended without a word"
LOST_A_PEER = " by peer"  # gloo: the connection was closed, or reset, by peer
ONCE_FOR_ALL = (__name__, "torch._dynamo", "torch.distributed.fsdp")  # imported before forking


def on_ranks(count: int, program: Callable[..., Any], *arguments: Any) -> list[Any]:
    """Run `program(rank, count, *arguments)` on each rank; return what it returns, by rank.

    The program has to be a function of a module, and what it takes and returns has to be
    picklable. Raises `RuntimeError` with the traceback of a rank that failed.
    """
    with other_ranks(count, program, arguments) as others:
        mine = program(0, count, *arguments)
    return [mine, *others]


def on_ranks_elsewhere(
    count: int, program: Callable[..., Any], *arguments: Any
) -> list[Any]:  # @stepover
    """Do the same with rank 0 in a process of its own, too, where nobody watches it.

    For programs whose memory is not the same in two runs, such as those of FSDP.
    """
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as at_the_end:
        meeting = (str(Path(folder) / "meeting"), count)
        pipes = []
        for rank in range(count):
            process, pipe = _started(rank, meeting, program, arguments)
            at_the_end.callback(_ended, process)
            pipes.append(pipe)
        _wait_until_ready(pipes)
        return _results(pipes)


def prepare_to_fork(module: str) -> None:  # @stepover
    """Start the process that forks ranks, if there is none yet, and do not wait for its imports.

    They take seconds. Asked for early, it is ready when the first rank is wanted. `module` is
    where the programs of the ranks are, and is imported with the rest.
    """
    if _can_fork():
        with _empty_main_program(), _modules_found():
            forkserver.set_forkserver_preload([*ONCE_FOR_ALL, module])
            forkserver.ensure_running()


def _can_fork() -> bool:
    return "forkserver" in multiprocessing.get_all_start_methods()


@contextlib.contextmanager
def other_ranks(
    count: int, program: Callable[..., Any], arguments: tuple[Any, ...]
) -> Iterator[list[Any]]:  # @stepover
    """Be rank 0 while ranks 1, 2, ... run the program; afterwards the list has their results."""
    results: list[Any] = []
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as at_the_end:
        meeting = (str(Path(folder) / "meeting"), count)
        pipes = []
        for rank in range(1, count):
            process, pipe = _started(rank, meeting, program, arguments)
            at_the_end.callback(_ended, process)
            pipes.append(pipe)
        _wait_until_ready(pipes)
        try:
            with _member(0, *meeting):
                yield results
        except RuntimeError as own:
            # A rank that ends without a word may still be ending.
            said = [_message(pipe) for pipe in wait(pipes, timeout=1)]
            _raise_the_cause(said, (time.monotonic(), 0, str(own)))
            raise
        results += _results(pipes)


def _wait_until_ready(pipes: list[Connection]) -> None:
    """Wait until each rank is imported."""
    if any(_message(pipe) != READY for pipe in pipes):
        raise RuntimeError(WITHOUT_A_WORD)


def _results(pipes: list[Connection]) -> list[Any]:
    """Return what each rank returns, or raise what went wrong."""
    said = [_message(pipe) for pipe in pipes]
    _raise_the_cause(said)
    return [pickle.loads(message[1:]) for message in said]


def _raise_the_cause(said: list[bytes], *own: tuple[float, int, str]) -> None:
    """Raise what went wrong first on a rank, if anything did and it was not rank 0's `own` error.

    A rank that fails says so before it becomes silent, and one that has waited in vain closes its
    connections: whoever then finds that a peer is gone has failed because of another.
    """
    failures = [*own, *(pickle.loads(message[1:]) for message in said if message[:1] == b"-")]
    causes = [failure for failure in failures if LOST_A_PEER not in failure[2]]
    if SILENCE in said and not causes:
        raise RuntimeError(WITHOUT_A_WORD)
    _, rank, words = min(causes or failures, default=(0, 0, ""))
    if rank != 0 or (words and not own):
        raise RuntimeError(f"rank {rank} failed:\n{words}")


def _started(
    rank: int, meeting: tuple[str, int], program: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[BaseProcess, Connection]:
    """Start a rank; what it returns will come through the pipe."""
    prepare_to_fork(program.__module__)
    context = multiprocessing.get_context("forkserver" if _can_fork() else "spawn")
    pipe, their_end = context.Pipe(duplex=False)
    process = context.Process(
        target=_run, args=(rank, meeting, their_end, program, arguments), daemon=True
    )
    with _empty_main_program(), _modules_found():
        process.start()
    their_end.close()
    return process, pipe


def _run(
    rank: int,
    meeting: tuple[str, int],
    pipe: Connection,
    program: Callable[..., Any],
    arguments: tuple[Any, ...],
) -> None:
    """Be a rank: join, run the program, and send what it returns or why it failed."""
    pipe.send_bytes(READY)
    with _member(rank, *meeting):
        try:
            message = b"+" + pickle.dumps(program(rank, meeting[1], *arguments))
        except BaseException:
            why = (time.monotonic(), rank, traceback.format_exc())
            pipe.send_bytes(b"-" + pickle.dumps(why))
            os._exit(1)  # the others notice that this one is gone
    pipe.send_bytes(message)


def _message(pipe: Connection) -> bytes:
    """Wait for what a rank sends."""
    try:
        return pipe.recv_bytes()
    except EOFError:
        return SILENCE


def _ended(process: BaseProcess) -> None:
    """Wait for a rank that has sent its result; end one that has nobody to talk to any more."""
    if sys.exc_info()[0] is not None:
        process.terminate()
    process.join()


@contextlib.contextmanager
def _member(rank: int, path: str, count: int) -> Iterator[None]:
    """Belong to the ranks that meet at this file; add up in the same order on each."""
    threads, mode = torch.get_num_threads(), torch.get_deterministic_debug_mode()
    excepthook = sys.excepthook  # torch puts one of its own there
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    _talk_within_this_machine()
    dist.init_process_group(
        "gloo", init_method=f"file://{path}", rank=rank, world_size=count, timeout=LONGEST_WAIT
    )
    try:
        dist.barrier()  # nobody fails while others still look for him
        with _Holding():
            yield
        dist.barrier()  # nobody leaves while others still expect something
    finally:
        dist.destroy_process_group()
        sys.excepthook = excepthook
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)


class _Holding(TorchDispatchMode):
    """Holds on to what is sent or received until all is done.

    A thread of gloo lets go of a tensor a moment after its message; how long, no two runs agree on.
    Held, it is freed at the same place in each, and the meter finds the same memory.
    """

    def __init__(self) -> None:
        super().__init__()
        self.tensors: list[torch.Tensor] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func.namespace == "c10d":
            self.tensors += [leaf for leaf in tree_leaves(args) if isinstance(leaf, torch.Tensor)]
        return func(*args, **(kwargs or {}))


def _talk_within_this_machine() -> None:
    """Let gloo use the loopback, which also works where a host's own name leads nowhere."""
    names = {name for _, name in socket.if_nameindex()} if hasattr(socket, "if_nameindex") else ()
    loopback = next((name for name in ("lo", "lo0") if name in names), None)
    if loopback:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", loopback)


@contextlib.contextmanager
def _empty_main_program() -> Iterator[None]:
    """Keep the main program out of new processes, which would import it once more."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _modules_found() -> Iterator[None]:
    """Let new processes find modules where this one does, whatever the current folder is."""
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join(path or str(Path.cwd()) for path in sys.path)
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before


class Traffic(TorchDispatchMode):
    """Counts the collectives that this rank calls inside a block, and the bytes it sends for them.

    `calls` has their number by kind, `sent_bytes` what goes out of this rank if they go round a
    ring, and `largest_bytes` the largest tensor that was put together from parts.
    """

    def __init__(self) -> None:
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.sent_bytes = self.largest_bytes = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func._schema.name
        if name.startswith("c10d::"):
            self._count(name.removeprefix("c10d::"), args)
        return func(*args, **(kwargs or {}))

    def _count(self, name: str, args: tuple[Any, ...]) -> None:
        n = dist.get_world_size()
        if name == "allreduce_":
            [tensor] = args[0]
            self._add("all-reduce", 2 * (n - 1) * tensor.nbytes // n)
        elif name == "_allgather_base_":
            whole, part = args[:2]
            self._add("all-gather", (n - 1) * part.nbytes)
            self.largest_bytes = max(self.largest_bytes, whole.nbytes)
        elif name == "_reduce_scatter_base_":
            part = args[0]
            self._add("reduce-scatter", (n - 1) * part.nbytes)
        elif name == "alltoall_base_":
            self._add("all-to-all", (n - 1) * args[1].nbytes // n)
        elif name == "send":
            [tensor] = args[0]
            self._add("send", tensor.nbytes)

    def _add(self, kind: str, sent_bytes: int) -> None:
        self.calls[kind] += 1
        self.sent_bytes += sent_bytes
