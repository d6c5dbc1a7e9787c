"""Run a lecture under the recorder, and leave the interpreter as it was."""

import atexit
import builtins
import contextlib
import gc
import importlib
import inspect
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import NoReturn

from ..errors import LectureError, StepLimitReached, UsageError
from ..meter.switch import metered
from ..meter.when_imported import when_imported
from ..options import Options
from ..own_builtins import use_own_builtins
from ..rewrite.rows import Tables
from ..rewrite.short_path import ShortPath
from ..rewrite.source import Source
from ..said.listening import heard
from ..said.media import Media
from ..schema import Environment, Failure
from ..target import Target, file_of
from ..terminal import PROGRAM
from .failures import failure_of, relative
from .finder import LectureFinder, Scope
from .fingerprint import fingerprint
from .frames import without_own_frames
from .limits import step_limit, thread_watch, too_many_steps
from .opened import data_files, opened_files
from .recorder import Recorder
from .shows import shown_on_the_page
from .streams import tees

use_own_builtins(globals())

_FROZEN_BY_PYTHON = gc.get_freeze_count()


@dataclass
class Recording:
    """One finished run."""

    target: Target
    title: str
    files: list[Source]
    tables: Tables
    recorder: Recorder
    environment: Environment
    topics: dict[str, str]
    max_steps: int
    media: Media
    failure: Failure | None = None
    error: BaseException | None = None
    data: list[str] = field(default_factory=list)
    """Files beside the lecture that it read, relative to the root."""
    warnings: list[str] = field(default_factory=list)


def record(target: Target, options: Options, media: Media | None = None) -> Recording:
    """Import the lecture, call its `main()`, return what happened.

    Raises UsageError when there is nothing to run, LectureError when the source is wrong. Whatever
    the lecture itself raises ends the run and is in the recording.
    """
    tables = Tables()
    recorder = Recorder(tables, options.time, options.locals)
    media = media or Media(options.download)
    scope = Scope(target.root, target.folder, options.include, options.exclude)
    path = _short_path(target, options.path) if options.path else None
    finder = LectureFinder(scope, tables, recorder, path)
    process = os.getpid()
    with (
        _kept_interpreter() as restore_interpreter,
        _out_of_the_collectors_way(),
        _installed(target, finder, recorder),
        _own_arguments(target),
        shown_on_the_page(recorder.show),
        opened_files() as opened,
        tees(recorder, options, importing=True),
        heard(file_of(target), scope, recorder, media),
    ):
        module = _import(target)
        main = _main_of(module, target)
        recorder.skip()
        for warning in finder.replaced_functions():
            recorder.warnings[warning] = None
        recorder.unskip()
        with contextlib.ExitStack() as stack:
            stack.enter_context(tees(recorder, options))
            end_limit = stack.enter_context(step_limit(recorder, options))
            stack.enter_context(thread_watch(recorder))
            stack.enter_context(when_imported("torch", recorder.torch_loaded))
            if options.costs:
                stack.enter_context(metered(recorder))
            recorder.running = True
            error = _call(main, restore_interpreter, end_limit)
            if os.getpid() != process:
                _end_as_program(error)
            recorder.running = False
            recorder.end_seconds = time.perf_counter()
        error = _limited(error, recorder, options)
        title = _title(main.__doc__) or _title(module.__doc__) or target.module
        return Recording(
            target=target,
            title=title + (", the short path" if path else ""),
            files=finder.files,
            tables=tables,
            recorder=recorder,
            environment=_environment(),
            topics=_topics(target),
            max_steps=options.max_steps,
            failure=failure_of(error, recorder, target) if error else None,
            error=error,
            data=data_files(opened, target.folder, target.root),
            media=media,
            warnings=[*tables.warnings, *recorder.warnings],
        )


def _limited(
    error: BaseException | None, recorder: Recorder, options: Options
) -> BaseException | None:
    """Say that there were too many steps, where that ended the run or should have."""
    if isinstance(error, StepLimitReached):
        return too_many_steps(options).with_traceback(error.__traceback__)
    if error is None and recorder.step_count(len(recorder.events)) > options.max_steps:
        return too_many_steps(options)  # it ended before the timer looked
    return error


def _short_path(target: Target, mark: str) -> ShortPath:
    path = ShortPath(file_of(target), target.root, mark)
    if not path.exists:
        raise UsageError(
            f"{target.module} has no path of its own with @{mark}: put # @{mark} at the end of the "
            "`def` line of each section that belongs to it."
        )
    return path


@contextlib.contextmanager
def _kept_interpreter() -> Iterator[Callable[[], None]]:
    """Yield what gives back what the lecture may leave in a state in which no document can be
    written: the built-in functions, and how deep calls may go."""
    limit, own = sys.getrecursionlimit(), dict(vars(builtins))

    def restore() -> None:
        sys.setrecursionlimit(limit)
        vars(builtins).update(own)

    try:
        yield restore
    finally:
        restore()


@contextlib.contextmanager
def _out_of_the_collectors_way() -> Iterator[None]:
    """Let Python's collector of garbage look at what the lecture makes, not at what there was
    before, most of it the tool's. Who has frozen that already knows better."""
    if gc.get_freeze_count() > _FROZEN_BY_PYTHON:
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextlib.contextmanager
def _installed(target: Target, finder: LectureFinder, recorder: Recorder) -> Iterator[None]:
    """Put the import hook in place for the duration of a run."""
    root = str(target.root)
    sys.path.insert(0, root)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        recorder.end()
        sys.meta_path.remove(finder)
        sys.path.remove(root)
        finder.forget()


@contextlib.contextmanager
def _own_arguments(target: Target) -> Iterator[None]:
    """Let the lecture find in `sys.argv` what it would find if it were started plainly."""
    arguments = sys.argv
    sys.argv = [str(file_of(target))]
    try:
        yield
    finally:
        sys.argv = arguments


def _end_as_program(error: BaseException | None) -> NoReturn:
    """End a process that the lecture has forked, and that came back from `main()`, as Python would
    have: the document and the summary are the parent's."""
    status = 0
    if isinstance(error, SystemExit):
        status = error.code if isinstance(error.code, int) else 1
        if isinstance(error.code, str):
            print(error.code, file=sys.stderr)
    elif error is not None:
        status = 1
        sys.excepthook(type(error), error, error.__traceback__)
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


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
        place = f"{relative(file, target.root)}:{line}"
        if isinstance(error, ImportError) and "no known parent package" in str(error):
            raise LectureError(_why_no_package(target, place)) from None
        message = error.msg if isinstance(error, SyntaxError) else error
        reason = f"{place}: {type(error).__name__}: {message}"
        if not isinstance(error, SyntaxError):
            reason = f"{target.module} cannot be imported: {reason}"
        raise LectureError(reason) from None


def _why_no_package(target: Target, place: str) -> str:
    """A relative import, in a file that was given by its path and lies in no package."""
    folder = target.root.name
    return (
        f"{place}: a relative import needs a package: go to the folder above and run "
        f"{PROGRAM} {folder}.{target.module}, or put an __init__.py into {folder}."
    )


def _main_of(module: ModuleType, target: Target) -> Callable[[], object]:
    main = getattr(module, "main", None)
    if not callable(main):
        raise UsageError(
            f"{target.module} has no function main(): define one without arguments; it is what "
            "the tracer calls."
        )
    if inspect.iscoroutinefunction(main) or inspect.isasyncgenfunction(main):
        raise UsageError(
            f"main() of {target.module} is asynchronous: let an ordinary main() run it with "
            "asyncio.run()."
        )
    if inspect.isgeneratorfunction(main):
        raise UsageError(f"main() of {target.module} has a yield: nothing in it would run.")
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


def _call(main: Callable[[], object], *afterwards: Callable[[], None]) -> BaseException | None:
    """Call `main()`, then what ends its run; return what it raised, if anything."""
    error: BaseException | None = None
    try:
        try:
            main()
        except BaseException as raised:
            error = raised
        for end in afterwards:
            end()
    except StepLimitReached as raised:  # which came when `main()` had just ended
        error = error or raised
        for end in afterwards:
            end()
    if isinstance(error, SystemExit) and not error.code:
        return None
    if error is not None:
        error.__traceback__ = without_own_frames(error.__traceback__)
    return error


def _environment() -> Environment:
    environment = Environment(python=f"{sys.version_info.major}.{sys.version_info.minor}")
    torch = sys.modules.get("torch")
    if torch is not None:
        cuda = torch.cuda.is_available()
        environment["torch"] = str(torch.__version__).partition("+")[0]
        environment["device"] = torch.cuda.get_device_name() if cuda else "cpu"
        environment["cpu_capability"] = torch.backends.cpu.get_cpu_capability()
        environment["threads"] = torch.get_num_threads()
        environment["arithmetic"] = fingerprint(torch)
    return environment


def _topics(target: Target) -> dict[str, str]:
    """Return the mapping `TOPICS` of the module `syllabus` beside the lecture, if there is one.

    Authors read of it in docs/guide.md, under "Text".
    """
    name = ".".join([*target.module.split(".")[:-1], "syllabus"])
    if not (target.root / (name.replace(".", "/") + ".py")).is_file():
        return {}
    return dict(getattr(importlib.import_module(name), "TOPICS", {}))
