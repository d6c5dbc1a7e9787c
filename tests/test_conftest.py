"""The helpers that all tests share."""

import os
import time

import hypothesis
import hypothesis.strategies
import pytest

from tests.conftest import compare_with_golden, same_numbers_everywhere


def test_equal_text_passes(tmp_path):
    path = tmp_path / "loop.json"
    path.write_text("{}\n")
    compare_with_golden(path, "{}\n", update=False)


def test_a_difference_shows_both_and_names_the_option(tmp_path):
    path = tmp_path / "loop.json"
    path.write_text("old\n")
    with pytest.raises(
        AssertionError, match=r"loop\.json differs; `pytest --update-golden`"
    ) as found:
        compare_with_golden(path, "new\n", update=False)
    assert "+ new" in str(found.value)
    assert "- old" in str(found.value)
    assert path.read_text() == "old\n"


def test_a_missing_file_is_a_failure_that_names_the_option(tmp_path):
    with pytest.raises(pytest.fail.Exception, match=r"no loop\.json yet: `pytest --update-golden`"):
        compare_with_golden(tmp_path / "loop.json", "new\n", update=False)


def test_the_option_writes_the_file(tmp_path):
    path = tmp_path / "deeper" / "loop.json"
    compare_with_golden(path, "new\n", update=True)
    assert path.read_bytes() == b"new\n"


@pytest.mark.parametrize(("deadline", "error"), [({}, None), ({"deadline": 100}, "exceeds")])
def test_no_property_test_fails_for_slowness(deadline, error):
    """An example takes longer than hypothesis allows unless told otherwise, and so do the draws."""

    @hypothesis.settings(max_examples=3, database=None, **deadline)
    @hypothesis.given(hypothesis.strategies.builds(time.sleep, hypothesis.strategies.just(0.4)))
    def slow(_):
        time.sleep(0.3)

    if error is None:
        slow()
    else:
        with pytest.raises(hypothesis.errors.DeadlineExceeded, match=error):
            slow()


def state_of_torch():
    import torch

    return torch.get_num_threads(), torch.get_deterministic_debug_mode()


def test_sections_run_with_two_threads_or_a_core_each_and_deterministic_algorithms():
    import torch

    threads = 1 if "PYTEST_XDIST_WORKER" in os.environ else 2
    torch.set_deterministic_debug_mode("default")  # programs that other tests call choose their own
    before = state_of_torch()
    with same_numbers_everywhere():
        assert state_of_torch() == (threads, 2)
    assert state_of_torch() == before
