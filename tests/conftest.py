"""What all tests share: the right `trace`, readable claims, golden files, a reproducible torch."""

import asyncio
import contextlib
import os
import signal
from pathlib import Path

import hypothesis
import pytest

# The sections of the lecture are test cases, so a false claim of theirs shows both of its sides.
pytest.register_assert_rewrite("lecture")

# Several processes that share out the tests also share the cores, and two threads of each would
# wait for each other. What sections claim holds with one thread as with two (`.ci/machines`).
SHARED = "PYTEST_XDIST_WORKER" in os.environ
if SHARED:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

import lecture  # noqa: E402, F401  (says how torch's threads wait, before anything imports torch)
import trace  # noqa: E402  (the one plain import of it: to see which one it is)

if not hasattr(trace, "__path__"):
    raise pytest.UsageError(
        f"`trace` is the standard library's ({trace.__file__}), imported before pytest could put "
        "this repository first: start the tests from its root with `python -m pytest`"
    )

# Started in the background of a script, `make test &`, a process ignores Ctrl-C, and so do those it
# starts. Some tests press it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A busy machine is slow, not wrong: how long an example takes decides nothing.
hypothesis.settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any machine")

GOLDEN = Path(__file__).parent / "golden"


def pytest_addoption(parser):
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the expected files in tests/golden anew; review their difference like code",
    )


def pytest_collection_modifyitems(config, items):
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
    if hasattr(config, "workerinput"):  # one of several processes: what is long should not be last
        long = {item.path for item in items if item.get_closest_marker("slow")}
        items.sort(key=lambda item: item.path not in long)


@pytest.fixture(autouse=True)
def no_loop_but_its_own(request):
    """Playwright's loop runs for as long as its browser; no other test may find it running."""
    if "browser" in request.fixturenames:
        yield
        return
    running = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    yield
    asyncio._set_running_loop(running)


def compare_with_golden(path: Path, actual: str, update: bool) -> None:
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(actual, encoding="utf-8", newline="\n")
    if not path.exists():
        pytest.fail(f"there is no {path.name} yet: `pytest --update-golden` writes it")
    expected = path.read_text(encoding="utf-8")
    assert actual == expected, f"{path.name} differs; `pytest --update-golden` if it should"


@pytest.fixture
def golden(request):
    """`golden("loop.json", text)` compares text with tests/golden/loop.json."""
    update = request.config.getoption("--update-golden")
    return lambda name, actual: compare_with_golden(GOLDEN / name, actual, update)


@contextlib.contextmanager
def same_numbers_everywhere():
    """Deterministic algorithms as in `lecture.main.main`, and two threads; afterwards as before."""
    import torch

    threads = torch.get_num_threads()
    mode = torch.get_deterministic_debug_mode()
    torch.set_num_threads(1 if SHARED else 2)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
        torch.set_deterministic_debug_mode(mode)


@pytest.fixture(autouse=True)
def sections_are_reproducible(request):
    if request.node.get_closest_marker("lecture") is None:
        yield
    else:
        with same_numbers_everywhere():
            yield
