"""Run a lecture under the recorder, and leave the interpreter as it was."""

import _thread
import builtins
import contextlib
import importlib
import inspect
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any, TextIO, cast

from . import costs
from .errors import LectureError, UsageError
from .loader import LectureFinder, Scope, TracedFile
from .recorder import Printed, Recorder
from .schema import Environment, Failure, TracebackEntry
from .tables import Tables
from .target import Target

POLL_SECONDS = 0.05
"""How often the step limit is looked at; the document is cut at the exact step."""

_OWN_FOLDER = str(Path(__file__).parent)


@dataclass(frozen=True)
class Options:
    """What can be chosen about a run."""

    max_steps: int = 1_000_000
    costs: bool = True
    time: bool = False
    """Note the clock at each step, and what `@timed` statements measure."""
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    progress: Callable[[int | None], None] | None = None
    """Called now and then with the number of events so far, and with None before output."""


@dataclass
class Recording:
    """One finished run."""

    target: Target
    title: str
    files: list[TracedFile]
    tables: Tables
    recorder: Recorder
    environment: Environment
    topics: dict[str, str]
    max_steps: int
    used_torch: bool
    failure: Failure | None = None
    error: BaseException | None = None
    warnings: list[str] = field(default_factory=list)


class StepLimitReached(BaseException):
    """Raised inside the lecture by the timer; not an Exception, so that lectures let it pass."""


def record(target: Target, options: Options) -> Recording:
    """Import the lecture, call its `main()`, return what happened.

    Raises UsageError when there is nothing to run, LectureError when the source is wrong. Whatever
    the lecture itself raises ends the run and is in the recording.
    """
    tables = Tables()
    recorder = Recorder(tables, options.time)
    scope = Scope(target.root, target.folder, options.include, options.exclude)
    finder = LectureFinder(scope, tables, recorder)
    with _installed(target, finder, recorder):
        module = _import(target)
        main = _main_of(module, target)
        for warning in finder.replaced_functions():
            recorder.warnings[warning] = None
        with contextlib.ExitStack() as stack:
            stack.enter_context(_tees(recorder, options))
            stack.enter_context(_step_limit(recorder, options))
            stack.enter_context(_thread_watch(recorder))
            recorder.torch_loaded()
            if options.costs:
                stack.enter_context(costs.metered(recorder))
            error = _call(main)
            recorder.end_seconds = time.perf_counter()
        if error is None and recorder.step_count(len(recorder.events)) > options.max_steps:
            error = _too_many_steps(options)  # it ended before the timer looked
        return Recording(
            target=target,
            title=_title(main.__doc__) or _title(module.__doc__) or target.module,
            files=finder.files,
            tables=tables,
            recorder=recorder,
            environment=_environment(),
            topics=_topics(target),
            max_steps=options.max_steps,
            used_torch="torch" in sys.modules,
            failure=_failure(error, recorder, target) if error else None,
            error=error,
            warnings=[*tables.warnings, *recorder.warnings],
        )


@contextlib.contextmanager
def _installed(target: Target, finder: LectureFinder, recorder: Recorder) -> Iterator[None]:
    """Put the import hook and the inserted names in place for the duration of a run."""
    root = str(target.root)
    sys.path.insert(0, root)
    sys.meta_path.insert(0, finder)
    builtins.__dict__.update(recorder.names())
    try:
        yield
    finally:
        builtins.__dict__.update(recorder.names_afterwards())
        sys.meta_path.remove(finder)
        sys.path.remove(root)
        finder.forget()


def _import(target: Target) -> ModuleType:
    try:
        return importlib.import_module(target.module)
    except (LectureError, KeyboardInterrupt):
        raise
    except BaseException as error:
        entries = traceback.extract_tb(without_own_frames(error.__traceback__))
        own = [entry for entry in entries if target.root in Path(entry.filename).parents]
        file, line = (own[-1].filename, own[-1].lineno) if own else (None, None)
        if isinstance(error, SyntaxError) and error.filename:  # found while compiling
            file, line = error.filename, error.lineno
        if file is None:  # nobody's frames but ours: a mistake of the tracer
            raise
        place = f"{_relative(file, target.root)}:{line}"
        message = error.msg if isinstance(error, SyntaxError) else error
        reason = f"{place}: {type(error).__name__}: {message}"
        if not isinstance(error, SyntaxError):
            reason = f"{target.module} cannot be imported: {reason}"
        raise LectureError(reason) from None


def _main_of(module: ModuleType, target: Target) -> Callable[[], object]:
    main = getattr(module, "main", None)
    if not callable(main):
        raise UsageError(
            f"{target.module} has no function main(): define one without arguments; it is what "
            "the tracer calls."
        )
    with contextlib.suppress(ValueError):  # some callables do not tell their parameters
        parameters = inspect.signature(main).parameters.values()
        needed = [p.name for p in parameters if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
        if needed:
            raise UsageError(
                f"main() of {target.module} asks for {', '.join(needed)}: the tracer calls it "
                "without arguments."
            )
    return main  # type: ignore[no-any-return]


def _title(docstring: str | None) -> str:
    return (docstring or "").strip().partition("\n")[0].removesuffix(".")


def _call(main: Callable[[], object]) -> BaseException | None:
    """Call `main()`; return what it raised, if anything."""
    try:
        main()
    except BaseException as error:
        error.__traceback__ = without_own_frames(error.__traceback__)
        return None if isinstance(error, SystemExit) and not error.code else error
    return None


def without_own_frames(entry: TracebackType | None) -> TracebackType | None:
    """Take the tracer's own frames, and the import system's, out of a traceback.

    An operator that fails under the meter passes through frames of torch that it does not pass
    through without: those go as well.
    """
    entries: list[TracebackType] = []
    while entry is not None:
        file = entry.tb_frame.f_code.co_filename
        if file == costs.__file__ and _only_torch(entry.tb_next):
            while entries and entries[-1].tb_frame.f_code.co_filename.endswith(_AROUND_THE_METER):
                entries.pop()
            break
        if not file.startswith((_OWN_FOLDER, "<frozen importlib", importlib.__file__ or "\0")):
            entries.append(entry)
        entry = entry.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


_AROUND_THE_METER = (
    str(Path("torch", "_compile.py")),
    str(Path("torch", "_dynamo", "eval_frame.py")),
)


def _only_torch(entry: TracebackType | None) -> bool:
    while entry is not None:
        module = str(entry.tb_frame.f_globals.get("__name__"))
        if module.partition(".")[0] != "torch" and module != costs.__name__:
            return False
        entry = entry.tb_next
    return True


def _failure(error: BaseException, recorder: Recorder, target: Target) -> Failure:
    at = len(recorder.events)
    entries = [
        TracebackEntry(
            path=_relative(entry.filename, target.root), line=entry.lineno or 0, function=entry.name
        )
        for entry in traceback.extract_tb(error.__traceback__)
    ]
    failed_claims = [claim for claim in recorder.claims[-1:] if claim.held is False]
    kind = "claim" if isinstance(error, AssertionError) and failed_claims else "exception"
    kinds = {SystemExit: "exit", KeyboardInterrupt: "interrupt", StepLimitReached: "step limit"}
    name = type(error).__name__
    text = "".join(traceback.format_exception_only(error)).strip().removeprefix(f"{name}: ")
    return Failure(
        kind=kinds.get(type(error), kind),  # type: ignore[typeddict-item]
        type=name,
        message="" if text == name else text,
        step=-1,
        at=at,
        traceback=entries,
    )


def _relative(filename: str, root: Path) -> str:
    """A path as the document may hold it: relative to the lecture, else the file's name alone."""
    file = Path(filename)
    if root in file.parents:
        return file.relative_to(root).as_posix()
    return file.name


def _too_many_steps(options: Options) -> StepLimitReached:
    return StepLimitReached(
        f"the lecture made more than {options.max_steps:,} steps; raise --max-steps, or mark the "
        "call or function that runs so long with @stepover."
    )


@contextlib.contextmanager
def _step_limit(recorder: Recorder, options: Options) -> Iterator[None]:
    """Interrupt the lecture soon after it has made more steps than allowed; report progress."""
    done = threading.Event()
    reached = threading.Event()

    def poll() -> None:
        while not done.wait(POLL_SECONDS):
            count = len(recorder.events)
            if options.progress:
                options.progress(count)
            if count > options.max_steps and recorder.step_count(count) > options.max_steps:
                reached.set()  # and again if the lecture, or a finalizer, swallows it
                signal.raise_signal(signal.SIGINT)

    def on_interrupt(number: int, frame: object) -> None:
        if not reached.is_set():
            signal.default_int_handler(number, None)
        if not done.is_set():
            raise _too_many_steps(options)

    previous = signal.signal(signal.SIGINT, on_interrupt)
    poller = threading.Thread(target=poll, daemon=True)
    poller.start()
    try:
        yield
    finally:
        done.set()
        poller.join()
        signal.signal(signal.SIGINT, previous)


@contextlib.contextmanager
def _thread_watch(recorder: Recorder) -> Iterator[None]:
    """Tell the recorder when the lecture starts a thread."""
    start, outer = _thread.start_new_thread, threading.gettrace()

    def on_start(*arguments: Any) -> int:
        recorder.thread_started()
        return start(*arguments)

    def in_new_thread(frame: FrameType, event: Any, argument: object) -> Any:
        recorder.thread_started()
        sys.settrace(outer)
        return outer(frame, event, argument) if outer else None

    _thread.start_new_thread = on_start
    threading.settrace(in_new_thread)
    try:
        yield
    finally:
        _thread.start_new_thread = start
        threading.settrace(outer)


@contextlib.contextmanager
def _tees(recorder: Recorder, options: Options) -> Iterator[None]:
    streams = sys.stdout, sys.stderr
    sys.stdout = cast(TextIO, _Tee(streams[0], "stdout", recorder, options.progress))
    sys.stderr = cast(TextIO, _Tee(streams[1], "stderr", recorder, options.progress))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = streams


class _Tee:
    """Writes to a stream and notes the text. Not an `IOBase`, which would close the stream."""

    def __init__(
        self,
        stream: TextIO,
        name: str,
        recorder: Recorder,
        progress: Callable[[int | None], None] | None,
    ) -> None:
        self._stream = stream
        self._name = name
        self._recorder = recorder
        self._progress = progress

    def write(self, text: str) -> int:
        if self._progress:
            self._progress(None)
        output, at = self._recorder.output, len(self._recorder.events)
        if output and (output[-1].at, output[-1].stream) == (at, self._name):
            output[-1].text += text
        else:
            output.append(Printed(at, self._name, text))
        return self._stream.write(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _environment() -> Environment:
    environment = Environment(python=f"{sys.version_info.major}.{sys.version_info.minor}")
    torch = sys.modules.get("torch")
    if torch is not None:
        cuda = torch.cuda.is_available()
        environment["torch"] = str(torch.__version__).partition("+")[0]
        environment["device"] = torch.cuda.get_device_name() if cuda else "cpu"
        environment["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
        environment["threads"] = torch.get_num_threads()
    return environment


def _topics(target: Target) -> dict[str, str]:
    """Return the mapping `TOPICS` of the module `syllabus` beside the lecture, if there is one."""
    name = ".".join([*target.module.split(".")[:-1], "syllabus"])
    if not (target.root / (name.replace(".", "/") + ".py")).is_file():
        return {}
    return dict(getattr(importlib.import_module(name), "TOPICS", {}))
