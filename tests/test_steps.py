"""Which statements run, in which order, in which activation."""

import sys

import pytest

from tests.tracing import lines, story, trace_source

CASES = {
    "a loop header runs once more than its body": (
        """
        def main():
            for i in range(2):
                i
            return
        """,
        "2 3 2 3 2 4",
    ),
    "calls in the iterable belong to the header": (
        """
        def main():
            for i in f():
                i

        def f():
            return [1]
        """,
        "2 f( 6 ) 3 2",
    ),
    "an iterable that is none is a step": (
        """
        def main():
            try:
                for i in 1:
                    i
            except TypeError:
                pass
        """,
        "2 3 6",
    ),
    "after break the header does not run again": (
        """
        def main():
            for i in range(9):
                if i == 1:
                    break
            else:
                i = 7
        """,
        "2 3 2 3 4",
    ),
    "continue goes back to the header, else runs at the end": (
        """
        def main():
            for i in range(2):
                if i:
                    continue
                i = 5
            else:
                i = 7
        """,
        "2 3 5 2 3 4 2 7",
    ),
    "a while header is a step each time": (
        """
        def main():
            n = 2
            while n:
                n -= 1
            else:
                n = 6
        """,
        "2 3 4 3 4 3 6",
    ),
    "while True is a step": (
        """
        def main():
            while True:
                break
        """,
        "2 3",
    ),
    "a loop inside try leaves through finally": (
        """
        def main():
            for i in range(3):
                try:
                    if i:
                        return
                finally:
                    i = 7
        """,
        "2 3 4 7 2 3 4 5 7",
    ),
    "elif is a step, else is not": (
        """
        def main():
            n = 2
            if n == 0:
                n = 3
            elif n == 1:
                n = 5
            else:
                n = 8
        """,
        "2 3 5 8",
    ),
    "calls nest": (
        """
        def main():
            x = double(1) + double(2)
            return x

        def double(n):
            return 2 * n
        """,
        "2 double( 6 ) double( 6 ) 3",
    ),
    "recursion": (
        """
        def main():
            down(2)

        def down(n):
            if n:
                down(n - 1)
        """,
        "2 down( 5 6 down( 5 6 down( 5 ) ) )",
    ),
    "closures and nested functions": (
        """
        def main():
            count = 0
            def add(n):
                nonlocal count
                count += n
            add(2)
            return count
        """,
        "2 3 6 main.add( 5 ) 7",
    ),
    "lambdas and comprehensions belong to their statement": (
        """
        def main():
            f = lambda n: n + 1
            return [f(n) for n in range(3)]
        """,
        "2 3",
    ),
    "statements on one line": (
        """
        def main():
            a = 1; b = 2
            if a: b = 3
            return b
        """,
        "2 2 3 3 4",
    ),
    "a statement over several lines is one step": (
        """
        def main():
            x = [
                1,
                2,
            ]
            return x
        """,
        "2 6",
    ),
    "docstrings, global and nonlocal are no steps": (
        '''
        COUNT = 0
        def main():
            """Title."""
            global COUNT
            if True:
                global OTHER
                OTHER = COUNT = 1
        ''',
        "5 7",
    ),
    "exceptions: try is a step, except is not": (
        """
        def main():
            try:
                raise ValueError(1)
            except ValueError as error:
                pass
            else:
                pass
            finally:
                pass
        """,
        "2 3 5 9",
    ),
    "return in finally wins": (
        """
        def main():
            return inner()

        def inner():
            try:
                return 1
            finally:
                return 2
        """,
        "2 inner( 5 6 8 )",
    ),
    "an exception leaves the functions it passes": (
        """
        def main():
            try:
                outer()
            except KeyError:
                return

        def outer():
            inner()

        def inner():
            raise KeyError
        """,
        "2 3 outer( 8 inner( 11 ) ) 5",
    ),
    "with: the exit is no step": (
        """
        from contextlib import contextmanager

        @contextmanager
        def room():
            before = 1
            yield before
            after = 2

        def main():
            with room() as x:
                x += 1
            return x
        """,
        "10 room( 5 6 ) 11 ~room( 7 ) 12",
    ),
    "match: case lines are no steps": (
        """
        def main():
            match [1, 2]:
                case [a]:
                    a
                case [a, b] if a < b:
                    a + b
                case _:
                    pass
        """,
        "2 6",
    ),
    "classes in functions, methods, super, properties": (
        """
        class Base:
            def size(self):
                return 1

        def main():
            class Derived(Base):
                '''Docs.'''
                factor = 2
                def size(self):
                    return self.factor * super().size()
                @property
                def half(self):
                    return self.size() / 2
            return Derived().half
        """,
        "6 8 9 11 14 main.Derived.half( 13 main.Derived.size( 10 Base.size( 3 ) ) )",
    ),
    "generators are left and resumed": (
        """
        def main():
            for n in count(2):
                n
            return

        def count(n):
            for i in range(n):
                yield i
        """,
        "2 count( 7 8 ) 3 2 ~count( 7 8 ) 3 2 ~count( 7 ) 4",
    ),
    "send, throw and close": (
        """
        def main():
            g = echo()
            next(g)
            g.send(1)
            g.throw(ValueError)
            g.close()

        def echo():
            while True:
                try:
                    got = yield 1
                except ValueError:
                    got = 2
        """,
        "2 3 echo( 9 10 11 ) 4 ~echo( 9 10 11 ) 5 ~echo( 13 9 10 11 ) 6 ~echo( )",
    ),
    "yield from passes through both generators": (
        """
        def main():
            return list(outer())

        def outer():
            got = yield from inner()
            yield got

        def inner():
            yield 1
            return 2
        """,
        "2 outer( 5 inner( 9 ) ) ~outer( ~inner( 10 ) 6 ) ~outer( )",
    ),
    "two generators interleave": (
        """
        def main():
            for pair in zip(ones(), ones()):
                pair

        def ones():
            yield 1
            yield 1
        """,
        "2 ones( 6 ) ones( 6 ) 3 2 ~ones( 7 ) ~ones( 7 ) 3 2 ~ones( ) ~ones( )",
    ),
    "stepover hides what a statement's calls run": (
        """
        def main():
            x = f()  # @stepover
            return f()

        def f():
            return 1
        """,
        "2 3 f( 6 )",
    ),
    "stepover on a header is for the header": (
        """
        def f(n):
            return n

        def main():
            if f(1):  # @stepover
                f(2)
            while f(0):  # @stepover
                pass
            for i in map(f, range(2)):  # @stepover
                f(i)
            match f(3):  # @stepover
                case 3:
                    f(3)
        """,
        "5 6 f( 2 ) 7 9 10 f( 2 ) 9 10 f( 2 ) 9 11 13 f( 2 )",
    ),
    "stepover on a with leaves its body alone": (
        """
        class Manager:
            def __enter__(self):
                return 1
            def __exit__(self, *exception):
                return True

        def f():
            return Manager()

        def main():
            with f() as x, f():  # @stepover
                f()
                raise ValueError(x)
            return x
        """,
        "11 12 f( 8 ) 13 14",
    ),
    "a header under stepover that raises": (
        """
        def f(n):
            return 1 // n

        def main():
            for n in range(2):
                try:
                    if f(n):  # @stepover
                        f(1)
                except ZeroDivisionError:
                    pass
            return f(1)
        """,
        "5 6 7 10 5 6 7 8 f( 2 ) 5 11 f( 2 )",
    ),
    "stepover on a function": (
        """
        def main():
            return f()

        def f():  # @stepover
            return g()

        def g():
            return 1
        """,
        "2",
    ),
    "a function made under stepover is recorded later": (
        """
        def main():
            f = make()  # @stepover
            return f()

        def make():
            def f():
                return 1
            return f
        """,
        "2 3 make.f( 7 )",
    ),
    "dataclasses and decorators": (
        """
        from dataclasses import dataclass
        import functools

        @dataclass
        class Point:
            x: int
            def shifted(self, by):
                return Point(self.x + by)

        @functools.cache
        def origin():
            return Point(0)

        def main():
            a = origin()
            b = origin().shifted(2)
            del a
            return b
        """,
        "15 origin( 12 ) 16 Point.shifted( 8 ) 17 18",
    ),
    "walrus, star-unpacking, del, annotated assignment": (
        """
        def main():
            first, *rest = [1, 2, 3]
            if (n := len(rest)) > 1:
                total: int = n
            del first
        """,
        "2 3 4 5",
    ),
    "a generator that goes on under stepover is silent": (
        """
        def main():
            g = count()
            next(g)
            next(g)  # @stepover
            next(g)
            g.close()

        def count():
            for i in range(9):
                yield i
        """,
        "2 3 count( 9 10 ) 4 5 ~count( 9 10 ) 6 ~count( )",
    ),
    "a yield under stepover does not silence the consumer": (
        """
        def main():
            for i in count():
                f(i)

        def count():
            yield f(1)  # @stepover
            yield f(2)

        def f(n):
            return n
        """,
        "2 count( 6 ) 3 f( 10 ) 2 ~count( 7 f( 10 ) ) 3 f( 10 ) 2 ~count( )",
    ),
    "coroutines wait for each other": (
        """
        import asyncio

        def main():
            return asyncio.run(outer())

        async def outer():
            x = await inner(1)
            return x + await inner(2)

        async def inner(n):
            await asyncio.sleep(0)
            return n
        """,
        "4 outer( 7 inner( 11 ) ) ~outer( ~inner( 12 ) 8 inner( 11 ) ) ~outer( ~inner( 12 ) )",
    ),
    "tasks interleave": (
        """
        import asyncio

        def main():
            asyncio.run(both())

        async def both():
            await asyncio.gather(one(1), one(2))

        async def one(n):
            await asyncio.sleep(0)
            n += 1
        """,
        "4 both( 7 ) one( 10 ) one( 10 ) ~one( 11 ) ~one( 11 ) ~both( )",
    ),
    "async for, async with, async generators": (
        """
        import asyncio
        from contextlib import asynccontextmanager

        def main():
            asyncio.run(loop())

        async def loop():
            async with room() as door:
                async for n in count():
                    n += door
                else:
                    n = 0

        @asynccontextmanager
        async def room():
            await asyncio.sleep(0)
            yield 1
            await asyncio.sleep(0)

        async def count():
            yield 1
            await asyncio.sleep(0)
        """,
        (
            "5 loop( 8 room( 16 ) ) ~loop( ~room( 17 ) 9 count( 21 ) 10 9 ~count( 22 ) ) "
            "~loop( ~count( ) 12 ~room( 18 ) ) ~loop( ~room( ) )"
        ),
    ),
    "async comprehensions": (
        """
        import asyncio

        def main():
            asyncio.run(collect())

        async def collect():
            a = [await one(n) for n in (1, 2)]
            b = [n async for n in count()]
            c = [n async for n in (await one(n) for n in a)]

        async def one(n):
            await asyncio.sleep(0)
            return n

        async def count():
            yield 1
        """,
        (
            "4 collect( 7 one( 12 ) ) ~collect( ~one( 13 ) one( 12 ) ) ~collect( ~one( 13 ) "
            "8 count( 16 ) ~count( ) 9 one( 12 ) ) ~collect( ~one( 13 ) one( 12 ) ) "
            "~collect( ~one( 13 ) )"
        ),
    ),
    "a cancelled task": (
        """
        import asyncio

        def main():
            asyncio.run(cancel())

        async def cancel():
            task = asyncio.create_task(sleep())
            await asyncio.sleep(0)
            task.cancel()
            try:
                await task
            except asyncio.CancelledError:
                task = None

        async def sleep():
            try:
                await asyncio.sleep(9)
            finally:
                x = 1
        """,
        "4 cancel( 7 8 ) sleep( 16 17 ) ~cancel( 9 10 11 ) ~sleep( 19 ) ~cancel( 13 )",
    ),
}


if sys.version_info >= (3, 12):
    CASES["type parameters and aliases"] = (
        """
        def main():
            type Pair[T] = tuple[T, T]
            def first[T](pair: Pair[T]) -> T:
                return pair[0]
            class Box[T]:
                def get(self) -> T:
                    return 1
            return first((1, 2)), Box[int]().get()
        """,
        "2 3 5 6 8 main.first( 4 ) main.Box.get( 7 )",
    )


@pytest.mark.parametrize(("source", "expected"), CASES.values(), ids=CASES.keys())
def test_steps(source: str, expected: str) -> None:
    assert story(trace_source(source)) == expected


def test_other_threads_are_not_recorded_and_that_is_said() -> None:
    document = trace_source(
        """
        import threading

        def main():
            thread = threading.Thread(target=work, args=(3,))
            thread.start()
            thread.join()
            work(1)

        def work(n):
            for i in range(n):
                i
        """
    )
    assert story(document) == "4 5 6 7 work( 10 11 10 )"
    assert document["warnings"] == [
        "Functions ran in other threads: their steps and costs are not recorded."
    ]


def test_what_another_thread_prints_stands_where_it_was_started() -> None:
    """Whatever runs when it prints: here it waits until another statement has printed."""
    document = trace_source(
        """
        import _thread, threading

        def main():
            print("before")
            go, gone = threading.Event(), threading.Event()
            thread = threading.Thread(target=work, args=(go,))
            thread.start()
            print("after")
            _thread.start_new_thread(work, (go, gone))
            go.set()
            thread.join()
            gone.wait()
            print("at last")

        def work(go, gone=None):
            go.wait()
            print("by hand" if gone else "other")
            if gone:
                gone.set()
        """
    )
    said = [(row["text"].strip(), lines(document)[row["step"]]) for row in document["output"]]
    assert said == [("before", 4), ("other", 7), ("after", 8), ("by hand", 9), ("at last", 13)]


def test_threads_started_by_hand_are_not_recorded_either() -> None:
    document = trace_source(
        """
        import _thread

        def main():
            lock = _thread.allocate_lock()
            lock.acquire()
            _thread.start_new_thread(work, (lock,))
            lock.acquire()

        def work(lock):
            lock.release()
        """
    )
    assert story(document) == "4 5 6 7"
    assert len(document["warnings"]) == 1


SPAWN = """
    import multiprocessing
    import pickle
    from dataclasses import dataclass

    @dataclass
    class Point:
        x: int

    def square(n):
        m = n * n
        return m

    def main():
        point = pickle.loads(pickle.dumps(Point(3)))
        assert point == Point(3)
        assert pickle.loads(pickle.dumps(square)) is square
        context = multiprocessing.get_context("{method}")
        with context.Pool(1) as pool:
            numbers = pool.map(square, [2, 3])
        assert numbers == [4, 9]
    """


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_pickles_and_worker_processes(method: str) -> None:
    document = trace_source(SPAWN.replace("{method}", method), name=f"workers_{method}")
    assert document["failure"] is None
    assert story(document) == "14 15 16 17 18 19 20"


def test_module_level_code_and_what_it_calls_is_not_recorded() -> None:
    document = trace_source(
        """
        def double(n):
            return 2 * n

        FOUR = double(2)

        def main():
            assert FOUR == 4
        """
    )
    assert story(document) == "7"


def test_a_function_that_a_decorator_recompiled_is_named() -> None:
    document = trace_source(
        """
        import inspect, textwrap

        def recompiled(f):
            text = textwrap.dedent(inspect.getsource(f)).split("\\n", 1)[1]
            namespace = {}
            exec(compile("\\n" + text, __file__, "exec"), namespace)
            return namespace[f.__name__]

        @recompiled
        def double(n):
            return 2 * n

        def main():
            assert double(2) == 4
        """
    )
    assert story(document) == "14"
    assert document["warnings"] == [
        "sample.py:10: a decorator replaced the code of double: its steps are not recorded."
    ]


def test_only_the_chosen_files_are_traced() -> None:
    source = """
        import textwrap

        def main():
            textwrap.dedent(" a")
        """
    assert [file["path"] for file in trace_source(source)["files"]] == ["sample.py"]


def test_decorators_are_looked_at_without_asking_them() -> None:
    document = trace_source(
        """
        class OnTheClass:
            def __init__(self, function):
                self.function = function

            def __get__(self, instance, owner):
                raise RuntimeError("asked")

        class Any(type):
            def __getattr__(cls, name):
                raise RuntimeError(name)

        class Sample(metaclass=Any):
            @OnTheClass
            def value(cls):
                return 1

        def itself(function):
            function.__wrapped__ = function
            return function

        @itself
        def two():
            return 2

        def main():
            assert two() == 2
        """
    )
    assert story(document) == "26 two( 23 )"
    assert document["failure"] is None


@pytest.mark.parametrize(
    "body",
    [
        "x = 7\n" + "".join(f"{'el' * (i > 0)}if x < -{i}:\n    pass\n" for i in range(300)),
        "x = " + " + ".join(["1"] * 1200),
    ],
    ids=["elif", "sum"],
)
def test_sources_nested_as_deep_as_python_allows(body: str) -> None:
    source = "def main():\n" + "".join(f"    {line}\n" for line in body.splitlines())
    assert trace_source(source)["failure"] is None
