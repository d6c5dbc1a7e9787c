"""Claims that cannot fail are found, and others are left alone."""

from pathlib import Path

import pytest

from tests.hollow import hollow_claims

LECTURE = sorted((Path(__file__).parent.parent / "lecture").rglob("*.py"))

NOTHING_RAN = "nothing in it ran, and no cited number is in it"
RESTATED = "it restates a cited number"
TWICE = "both sides are the same expression"

# the lines of a function -> the fault of the claim in it
CLAIMS = [
    ("assert 64 / 256 == 0.25", NOTHING_RAN),
    ("sizes = [4, 8]", "assert sizes == [2**power for power in (2, 3)]", NOTHING_RAN),
    ("B, D = 2, 3", "x = B * D", "assert x == 6", NOTHING_RAN),
    ("shares = {n: n / 2 for n in range(9)}", "assert max(shares) == 8", NOTHING_RAN),
    ("loss = 1.656939", "assert round(loss / 4, 3) == 0.414", NOTHING_RAN),
    ("names = []", "names.append('a')", "assert names == ['a']", NOTHING_RAN),
    ("with measure() as cost:", "    run()", "assert 2 * 3 == 6", NOTHING_RAN),
    ("assert LONGEST_SCANNED == 64", RESTATED),
    ("peaks = H100.dense", "assert peaks['bf16'] == 989.5e12", RESTATED),
    ("assert EU_FLOPS < GPT4_FLOPS < US_FLOPS", RESTATED),
    ("x = run()", "assert x == x", TWICE),
    ("x, n = run(), 2", "m = n", "assert x * m == x * n", TWICE),
    ("x = run()", "assert x.shape == x.shape == x.shape", TWICE),
    # What can fail: it ran, was counted in a loop or changed by what was called, or computes with
    # cited numbers.
    ("assert run() == 6", ""),
    ("with measure() as cost:", "    run()", "assert cost.flops == 2 * 3", ""),
    ("n = 0", "for _ in range(3):", "    n += 1", "assert n == 3", ""),
    ("heap = [3, 1]", "heapify(heap)", "assert heap == [1, 3]", ""),
    ("try:", "    run()", "except OSError as error:", "    assert error.errno == 2", ""),
    ("nan = run()", "assert nan != nan", ""),
    ("x = run()", "assert x.shape == (2, 3) == (B, D)", ""),
    ("assert 6 * GPT3_PARAMETERS * GPT3_TOKENS == 3.15e23", ""),
    ("days = WORK_FLOPS / RATE", "assert round(days) == 156", ""),
    ("now = 0", "def tick():", "    nonlocal now", "    now += 1", "assert now == 3", ""),
    ("assert not torch.backends.cudnn.benchmark", ""),
]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim[-2])
def test_a_claim_that_cannot_fail_is_found(claim):
    *lines, fault = claim
    body = "\n".join(f"    {line}" for line in lines)
    source = f"from lecture.facts import H100\n\ndef section():\n{body}\n"
    claimed = 3 + next(number for number, line in enumerate(lines, 1) if "assert" in line)
    assert list(hollow_claims(source)) == ([("section", claimed, fault)] if fault else [])


@pytest.mark.parametrize("path", LECTURE, ids=lambda path: path.stem)
def test_every_claim_of_the_lecture_can_fail(path):
    assert list(hollow_claims(path.read_text(encoding="utf-8"))) == []


def test_what_a_helper_is_given_may_be_anything():
    assert list(hollow_claims("def helper(x):\n    assert x == 3\n")) == []


def test_a_table_of_the_module_is_followed():
    source = "TABLE = {'a': 4}\n\n\ndef section():\n    assert TABLE['a'] == 4\n"
    assert list(hollow_claims(source)) == [("section", 5, NOTHING_RAN)]
