"""Asserts are evidence: outcome and measured operands."""

import pytest

from tests.tracing import claims, record_source, story, trace_source

CASES = {
    "equal": ("assert 1 + 1 == 2", [("1 + 1 == 2", True, [2, 2])]),
    "unequal": ("assert 1 != 2", [("1 != 2", True, [1, 2])]),
    "a chain": ("x = 2\nassert 1 < x < 3", [("1 < x < 3", True, [1, 2, 3])]),
    "in": ("assert 1 in [1, 2]", [("1 in [1, 2]", True, [1, [1, 2]])]),
    "is": ("x = None\nassert x is None", [("x is None", True, [None, None])]),
    "not": ("assert not 0", [("not 0", True, [0])]),
    "and, or": (
        "a, b = 1, 2\nassert a == 1 and (b == 3 or b > 1)",
        [("a == 1 and (b == 3 or b > 1)", True, [1, 1, 2, 3, 2, 1])],
    ),
    "what is not evaluated has no value": (
        "a = 1\nassert a == 1 or b == 2",
        [("a == 1 or b == 2", True, [1, 1, None, None])],
    ),
    "calls show their arguments": (
        "import math\nassert math.isclose(1 + 1, 2.5, abs_tol=1.0)",
        [("math.isclose(1 + 1, 2.5, abs_tol=1.0)", True, [2])],
    ),
    "isinstance": ("assert isinstance(3, int)", [("isinstance(3, int)", True, ["int"])]),
    "truth of a value": ("x = [1]\nassert x", [("x", True, [[1]])]),
    "all of a generator": ("assert all(i for i in (1, 2))", [("all(i for i in (1, 2))", True, [])]),
    "several lines": ("assert (\n    1\n    == 1\n), 'message'", [("1 == 1", True, [1, 1])]),
    "a line that goes on": ("x = 2\nassert x \\\n    == 2", [("x == 2", True, [2, 2])]),
    "comments inside": (
        "x = 2  # two\nassert (\n    x  # left\n    == 2  # right\n) != ('# no')",
        [("( x == 2 ) != ('# no')", True, [True, "# no"])],
    ),
    "each execution is an occurrence": (
        "for i in range(2):\n    assert i < 2",
        [("i < 2", True, [0, 2]), ("i < 2", True, [1, 2])],
    ),
    "a caught failure": (
        "try:\n    assert 1 == 2\nexcept AssertionError:\n    pass",
        [("1 == 2", False, [1, 2])],
    ),
    "an operand that raises": (
        "try:\n    assert 1 == 1 / 0\nexcept ZeroDivisionError:\n    pass",
        [("1 == 1 / 0", None, [1, None])],
    ),
    "addresses are numbered": (
        "x = object()\ny = x\nassert id(x) == id(y) != id(main)",
        [("id(x) == id(y) != id(main)", True, ["#1", "#1", "#2"])],
    ),
    "mutable operands are read at the time of the claim": (
        "x = [1]\nassert x == [1]\nx.append(2)",
        [("x == [1]", True, [[1], [1]])],
    ),
}


@pytest.mark.parametrize(("body", "expected"), CASES.values(), ids=CASES.keys())
def test_claims(body: str, expected: list) -> None:
    source = "def main():\n" + "".join(f"    {line}\n" for line in body.split("\n"))
    assert claims(trace_source(source)) == expected


def test_operands_are_evaluated_once_and_in_order() -> None:
    document = trace_source(
        """
        def main():
            assert note(1) < note(2) < note(3)

        def note(n):
            print(n)
            return n
        """
    )
    assert story(document) == "2 note( 5 6 ) note( 5 6 ) note( 5 6 )"
    assert "".join(piece["text"] for piece in document["output"]) == "1\n2\n3\n"


def test_a_claim_inside_an_operand() -> None:
    document = trace_source(
        """
        def main():
            assert f(2) == 4

        def f(n):
            assert n == 2
            return n * n
        """
    )
    assert claims(document) == [("n == 2", True, [2, 2]), ("f(2) == 4", True, [4, 4])]
    assert document["claims"]["step"] == [1, 0]


def test_a_false_claim_ends_the_run_and_is_recorded() -> None:
    document = trace_source(
        """
        def main():
            check(3)

        def check(n):
            assert n == 4, f"{n} is not 4"
        """
    )
    failure = document["failure"]
    assert (failure["kind"], failure["type"]) == ("claim", "AssertionError")
    assert (failure["message"], failure["step"]) == ("3 is not 4", 1)
    assert [(entry["path"], entry["line"]) for entry in failure["traceback"]] == [
        ("sample.py", 2),
        ("sample.py", 5),
    ]
    assert claims(document) == [("n == 4", False, [3, 4])]


def test_the_exception_and_its_traceback_are_the_author_s() -> None:
    recording = record_source(
        """
        def main():
            assert f(1) == 2

        def f(n):
            return n / 0
        """
    )
    entry, places = recording.error.__traceback__, []
    while entry:
        places.append((entry.tb_frame.f_code.co_name, entry.tb_lineno))
        entry = entry.tb_next
    assert places == [("main", 2), ("f", 5)]


def test_a_claim_that_is_left_in_the_middle_and_resumed() -> None:
    document = trace_source(
        """
        def ask(n):
            for i in range(n):
                assert (yield i) == 10 * i

        def main():
            first, second = ask(3), ask(3)
            assert next(first) == 0
            assert next(second) == 0
            assert first.send(0) == 1
            first.close()
        """
    )
    assert document["failure"] is None
    assert claims(document) == [
        ("next(first) == 0", True, [0, 0]),
        ("next(second) == 0", True, [0, 0]),
        ("(yield i) == 10 * i", True, [0, 0]),
        ("first.send(0) == 1", True, [1, 1]),
    ]


def test_claims_of_coroutines_that_take_turns() -> None:
    document = trace_source(
        """
        import asyncio

        async def value(n):
            await asyncio.sleep(0)
            return n

        async def check(n):
            assert await value(n) != 2, f"{await value(n)} is two"

        async def all_of_them():
            return await asyncio.gather(check(1), check(2), check(3), return_exceptions=True)

        def main():
            assert str(asyncio.run(all_of_them())[1]) == "2 is two"
        """
    )
    assert sorted(claims(document)[:3], key=lambda claim: claim[2]) == [
        ("await value(n) != 2", True, [1, 2]),
        ("await value(n) != 2", False, [2, 2]),
        ("await value(n) != 2", True, [3, 2]),
    ]
    assert claims(document)[3][2] == ["2 is two", "2 is two"]
