"""The fingerprint of the arithmetic: the same for the same kernels, another for others, unseen."""

import contextlib
import functools
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from tests.tracing import trace_source
from trace.record.fingerprint import DIGITS, fingerprint

ROOT = Path(__file__).parent.parent
PRINT = """
import torch
from trace.record.fingerprint import fingerprint
torch.set_num_threads(2)
print(fingerprint(torch))
"""


@contextlib.contextmanager
def threads(count):
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@functools.cache
def in_another_process(**environment):
    command = [sys.executable, "-c", PRINT]
    started = subprocess.run(
        command, cwd=ROOT, env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return started.stdout.strip()


def test_it_is_the_same_each_time_and_in_each_process():
    with threads(2):
        found = fingerprint(torch)
        assert len(found) == DIGITS
        assert int(found, 16) >= 0
        assert fingerprint(torch) == found
    assert in_another_process() == found


@pytest.mark.skipif(
    torch.backends.cpu.get_cpu_capability() == "DEFAULT", reason="there are no other kernels here"
)
def test_it_is_another_where_other_kernels_are_forced():
    assert in_another_process(ATEN_CPU_CAPABILITY="default") != in_another_process()


def test_it_is_another_with_another_number_of_threads():
    found = set()
    for count in (1, 2):
        with threads(count):
            found.add(fingerprint(torch))
    assert len(found) == 2


def settings():
    return (
        torch.get_rng_state().tolist(),
        torch.get_num_threads(),
        torch.get_default_dtype(),
        torch.get_default_device(),
        torch.get_deterministic_debug_mode(),
        torch.is_grad_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.get_float32_matmul_precision(),
    )


def test_nothing_is_changed_and_nothing_it_is_not_meant_for_changes_it():
    expected = fingerprint(torch)
    mode = torch.get_deterministic_debug_mode()
    torch.set_default_dtype(torch.float64)
    torch.set_default_device("meta")
    torch.use_deterministic_algorithms(True)
    try:
        with torch.autocast("cpu", torch.bfloat16):
            before = settings()
            assert fingerprint(torch) == expected
            assert settings() == before
    finally:
        torch.set_default_dtype(torch.float32)
        torch.set_default_device(None)
        torch.set_deterministic_debug_mode(mode)


WITH_TORCH = "import torch\n\ndef main():\n    x = torch.ones(2) + 1"


def test_a_document_has_it_where_torch_was_imported_and_nothing_of_how_it_is_found():
    document = trace_source(WITH_TORCH)
    assert document["environment"]["arithmetic"] == fingerprint(torch)
    operators = {document["names"][index] for index in document["costs"]["operator"]}
    assert operators == {"aten.ones", "aten.add", "memory"}
    assert document["uncounted"] == {}
