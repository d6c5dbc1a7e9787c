"""Programs made to hurt a tracer. Each is run as Python runs it and under the recorder, in a
process of its own: it prints the same, ends the same, and leaves a document."""

import importlib
import importlib.util
import inspect
import json
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import pytest

from tests.standard_library import Runs, differences
from trace.events import RESUMED, Log, Replay
from trace.own_builtins import OWN_BUILTINS

ROOT = Path(__file__).parent.parent

PROGRAMS = {
    "a generator that another thread consumes": """
        import threading

        def numbers(count):
            yield from range(count)

        def main():
            stream = numbers(50_000)
            next(stream)
            others = [threading.Thread(target=sum, args=(numbers(50_000),)) for _ in range(2)]
            others.append(threading.Thread(target=sum, args=(stream,)))
            for thread in others:
                thread.start()
            total = sum(numbers(50_000))
            for thread in others:
                thread.join()
            print(total)
        """,
    "builtins of its own": """
        def helper():
            return 3

        def main():
            space = {"__builtins__": {"len": len}, "helper": helper}
            exec("def f(): return helper() + len('ab')", space)
            print(space["f"]())
        """,
    "names that programs list": """
        import builtins, dataclasses, inspect, keyword, pickle, runpy, traceback

        LISTED = [name for name in vars(builtins) if not name.startswith("__")]

        def numbers():
            yield 1

        def main():
            print(sorted(vars(builtins)), all(map(str.isidentifier, LISTED)))
            fields = [name for name in LISTED if not keyword.iskeyword(name)]
            print(len(dataclasses.fields(dataclasses.make_dataclass("All", fields))))
            for value in list(vars(builtins).values()):
                if isinstance(value, type) and value.__module__ == "builtins":
                    assert pickle.loads(pickle.dumps(value)) is value
            variables = inspect.getclosurevars(numbers)
            print(variables.nonlocals, variables.builtins)
            print([name for name in globals() if name[0] != "_"])
            try:
                stop
            except NameError as error:
                print("".join(traceback.format_exception_only(error)), hash(numbers.__code__) != 0)
            space = runpy.run_module("program_0")
            print([name for name in space if name[0] != "_"], space["f"](), space["__name__"])
        """,
    "a module with builtins of its own": """
        __builtins__ = {"print": print, "range": range}

        def main():
            for number in range(2):
                other = number
                assert other == number
            print(other)
        """,
    "threads that are counted": """
        import sys, threading

        def main():
            own = threading.Thread(target=print, args=("in a thread",))
            own.start()
            own.join()
            print(threading.active_count(), threading.enumerate() == [threading.main_thread()])
            print(own.name, threading.main_thread() is threading.current_thread())
        """,
    "what the collector of garbage looks at": """
        import gc

        def references():
            return sum(len(gc.get_referents(one)) for one in gc.get_objects())

        def main():
            before = references()
            for number in range(50_000):
                other = number
            print(before < 30_000, references() - before < 20_000, gc.isenabled())
        """,
    "a cell that is emptied": """
        def main():
            a = 12
            def f():
                return a
            b = f.__closure__[0]
            del b.cell_contents
            c = 3
            try:
                print(a)
            except NameError as error:
                print(type(error).__name__, c)
        """,
    "values that hit back": """
        class Closed:
            def __getattribute__(self, name):
                raise RuntimeError(name)

        class Interrupting:
            def __repr__(self):
                raise KeyboardInterrupt

        class Ending(list):
            def __len__(self):
                raise SystemExit(3)

        class Pretending:
            @property
            def __class__(self):
                raise KeyboardInterrupt

            @property
            def part(self):
                raise KeyboardInterrupt

        class Nameless(type):
            def __getattribute__(cls, name):
                raise KeyboardInterrupt

        class Meta(metaclass=Nameless):
            pass

        def main():
            closed = Closed()  # @inspect closed
            interrupting = Interrupting()  # @inspect interrupting
            ending = Ending()  # @inspect ending
            pretending = Pretending()  # @inspect pretending pretending.part
            nameless = Meta()  # @inspect nameless
            print("unharmed")
        """,
    "a class body with a mapping of its own": """
        class Log(dict):
            read = []

            def __getitem__(self, name):
                self.read.append(name)
                return super().__getitem__(name)

        class Seven(dict):
            def __missing__(self, name):
                return 7

        class Logged(type):
            def __prepare__(name, bases):
                return Log()

        class Answered(type):
            def __prepare__(name, bases):
                return Seven()

        def main():
            class A(metaclass=Logged):
                x = 1  # @inspect x
                assert x == 1
                y = [x for x in (x, x)]

                @staticmethod
                def method(default=x):
                    return default

            class B(metaclass=Answered):
                for a in range(3):
                    b = whatever + a

            print(Log.read, A.method(), B.b)
        """,
    "a child that ends by itself": """
        import os, sys

        def main():
            for end in (lambda: None, lambda: sys.exit(3), lambda: os._exit(4), lambda: 1 / 0):
                child = os.fork()
                if child == 0:
                    return end()
                print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        """,
    "as many blocks as Python allows": "def main():\n"
    + "".join(f"{'    ' * (i + 1)}with open(__file__):\n" for i in range(19))
    + f"{'    ' * 20}print(inner())\n"
    + "def inner():\n    x = 1  # @inspect x\n    assert x == 1\n    return x\n",
    "a text of a value that draws random numbers": """
        import random

        class Lazy:
            def __repr__(self):
                return str(random.random())

        def main():
            random.seed(0)
            lazy = Lazy()  # @inspect lazy
            print(random.random())
        """,
    "arguments of the command": """
        import argparse, sys

        def main():
            parser = argparse.ArgumentParser()
            parser.add_argument("--size", default=3)
            print(len(sys.argv), parser.parse_args().size)
        """,
    "a hook for exceptions": """
        import sys

        def main():
            sys.excepthook = lambda kind, error, entry: print("hooked", kind.__name__, flush=True)
            raise ValueError
        """,
    "objects that pass through generators": """
        import weakref

        class Thing:
            pass

        def make(count):
            for _ in range(count):
                yield Thing()

        def passing_on(count):
            yield from make(count)

        def sink():
            while True:
                got = yield
                del got

        def down():
            yield from sink()

        def main():
            for stream in (make(3), passing_on(3)):
                seen = []
                for thing in stream:
                    seen.append(weakref.ref(thing))
                    del thing
                    print([one() is None for one in seen])
            for stream in (sink(), down()):
                next(stream)
                thing = Thing()
                seen = weakref.ref(thing)
                stream.send(thing)
                del thing
                print(seen() is None)
        """,
    "a module that is loaded anew": """
        import importlib
        import program_0 as other

        def main():
            print(importlib.reload(other) is other)
        """,
    "built-in functions that are replaced": """
        import builtins

        class Point:
            def __init__(self, x):
                self.x = x

        def main():
            calls = []
            for name in ("len", "type", "id", "isinstance", "repr", "getattr", "issubclass"):
                def replaced(*arguments, plain=getattr(builtins, name), name=name):
                    calls.append(name)
                    return plain(*arguments)
                setattr(builtins, name, replaced)
            values = [1, "two", [3.0], {4: None}, Point(5), ValueError("six"), len]
            for value in values:
                other = value
            points = {point: point for point in values if hasattr(point, "x")}
            print(calls)
            calls.clear()
            assert other is value  # @inspect points values
            print("len" in calls, "repr" in calls, "id" in calls)
            builtins.len = builtins.sorted = builtins.dict = builtins.open = None
        """,
    "a trace function of its own": """
        import sys

        class Point:
            def __init__(self, x):
                self.x = x

        def main():
            seen = set()

            def trace(frame, event, argument):
                seen.add(frame.f_code.co_name)
                return trace

            point = Point(1)
            sys.settrace(trace)
            other = Point(point)
            numbers = [other, [point]]
            total = compute(numbers)
            sys.settrace(None)
            print(sorted(seen), total)

        def compute(numbers):
            count = len(numbers)
            return count
        """,
    "calls as deep as they go": """
        import sys

        def depth():
            frame, count = sys._getframe(), 0
            while frame:
                frame, count = frame.f_back, count + 1
            return count

        def in_place(numbers):
            first = numbers
            second = numbers
            for third in numbers:
                break
            return 5

        def main():
            before = sys.getrecursionlimit()
            try:
                sys.setrecursionlimit(depth() + 60)  # more than what is recorded takes
                print(deep(0) > 30)
            finally:
                sys.setrecursionlimit(before)
            sys.setrecursionlimit(depth() + 5)
            numbers = [1, 2, 3]
            pair = numbers, numbers
            one = two = three = [pair]
            raise KeyError("the limit is left as it is")

        def deep(n):
            try:
                return deep(n + 1)
            except RecursionError:
                return n
        """,
    "weak references that are counted": """
        import weakref

        class Point:
            pass

        def main():
            point = Point()
            other = weakref.ref(point)
            print(weakref.getweakrefcount(point), len(weakref.getweakrefs(point)))
            print(point.__weakref__ is other)
        """,
    "finders that are hashed": """
        import sys

        def main():
            print(len(set(sys.meta_path)) == len(sys.meta_path))
        """,
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    """By name: status and printed text of the plain and of the traced run, and the document."""
    folder = tmp_path_factory.mktemp("hostile")

    def run(*command):
        done = subprocess.run(
            [sys.executable, *map(str, command)],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=300,
        )
        return done.returncode, done.stdout, done.stderr

    found = {}
    for index, (name, source) in enumerate(PROGRAMS.items()):
        file = folder / f"program_{index}.py"
        file.write_text(textwrap.dedent(source).lstrip("\n"), encoding="utf-8")
        plain = run("-c", f"import {file.stem}; {file.stem}.main()")
        traced = run(ROOT / "trace", file, "-o", folder / "out.json", "--quiet")
        assert (folder / "out.json").exists(), (name, traced)
        found[name] = plain, traced, json.loads((folder / "out.json").read_text())
        (folder / "out.json").unlink()
    return found


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_what_it_does_plainly(name, outcomes):
    (status, printed, _), (traced_status, traced_printed, traced_said), _ = outcomes[name]
    assert traced_printed == printed
    assert traced_status == status, traced_said


def test_blocks_that_leave_no_room_run_as_written(outcomes):
    _, (_, _, said), document = outcomes["as many blocks as Python allows"]
    assert "main has more than 13 blocks inside each other: its steps are not recorded." in said
    ran = {document["functions"][-event - 1]["name"] for event in document["events"] if event < 0}
    assert ran == {"inner"}


def test_a_file_is_listed_once_however_often_it_is_loaded(outcomes):
    document = outcomes["a module that is loaded anew"][2]
    assert sorted(file["path"] for file in document["files"])[0] == "program_0.py"
    assert len(document["files"]) == 2


def test_what_a_value_does_wrong_is_its_picture(outcomes):
    document = outcomes["values that hit back"][2]
    values = [document["values"][index] for index in document["inspections"]["value"]]
    assert [value["type"] for value in values] == [
        "Closed",
        "Interrupting",
        "Ending",
        "Pretending",
        "Meta",
    ]
    assert values[1]["error"].startswith("KeyboardInterrupt")


def test_events_in_any_order_can_be_replayed():
    """What two threads note goes into one list; an index may be that of the other's event."""
    for events in (
        [-1, 5, RESUMED - 1, 0, 0, RESUMED - 7, 6],
        [RESUMED - 0, 0, 0, -1, RESUMED - 3, 0],
        [-1, -2, 0, RESUMED - 0, RESUMED - 1, 3, 0, RESUMED - 2],
    ):
        log = Log.of_recorder(events, first_steps={2: 9})
        assert len(log.as_document(function_count=2)) == len(log.events)
        replay = Replay(log.events)
        replay.to(len(log.events))


def test_a_test_of_python_that_ends_otherwise_is_told_unless_its_reason_is_known():
    plain = {"test_patma.A.test_default_capture": "passed", "test_patma.A.test_other": "passed"}
    traced = dict.fromkeys(plain, "failed: no")
    found = differences("test_patma", Runs("plainly", [plain]), Runs("traced", [traced]))
    assert found.different == ["test_patma.A.test_other: plainly passed, traced failed: no"]
    assert (found.tests, found.known) == (2, 1)
    same = differences("test_patma", Runs("plainly", [plain]), Runs("traced", [traced, plain]))
    assert same.different == [], "it ended traced as it did plainly, once"


def test_a_relative_import_without_a_package_is_told_the_command(tmp_path):
    folder = tmp_path / "course"
    folder.mkdir()
    (folder / "numbers_of_it.py").write_text("def two(): return 2\n")
    lecture = folder / "week.py"
    lecture.write_text("from .numbers_of_it import two\ndef main():\n    assert two() == 2\n")
    wrong = subprocess.run(
        [sys.executable, ROOT / "trace", lecture], capture_output=True, text=True, cwd=tmp_path
    )
    assert wrong.returncode == 1
    assert "week.py:1: a relative import needs a package: go to the folder above" in wrong.stderr
    assert f"run python {ROOT / 'trace'} course.week" in wrong.stderr
    right = subprocess.run(
        [sys.executable, ROOT / "trace", "course.week", "-o", tmp_path / "out.json"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert (right.returncode, right.stderr) == (0, "")


def test_a_file_of_the_tracer_that_is_started_says_what_to_start():
    started = subprocess.run(
        [sys.executable, ROOT / "trace" / "cli.py", "x.py"], capture_output=True, text=True
    )
    said = "Start the folder, not a file in it: python -m trace my_lecture.py\n"
    assert (started.returncode, started.stderr) == (2, said)


def test_what_runs_inside_a_lecture_has_pythons_own_built_in_functions():
    """Whatever the lecture puts in their place."""
    with_torch = importlib.util.find_spec("torch") is not None
    files = [
        file
        for room in ("record", "rewrite", *(["meter"] if with_torch else []))
        for file in (ROOT / "trace" / room).glob("*.py")
    ]
    names = [f"trace.{file.parent.name}.{file.stem}" for file in files]
    modules = [importlib.import_module(name) for name in (*names, "trace.events")]
    modules += [importlib.import_module("trace.costs")] if with_torch else []
    found = [
        function
        for module in modules
        for function in vars(module).values()
        if isinstance(function, types.FunctionType) and function.__module__ == module.__name__
        if function.__name__ != "__annotate__"  # Python 3.14's, which only a type checker calls
    ]
    assert len(found) > 100
    others = [f for f in map(inspect.unwrap, found) if f.__builtins__ is not OWN_BUILTINS]
    assert {f.__module__ for f in others} == set(), "call use_own_builtins(globals()) there"
