"""Programs on several ranks: what comes back, what is counted, and how a failure is told."""

import contextlib
import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.distributed as dist

from lecture.accounting.sharding import bytes_per_parameter, sent_bytes_per_parameter
from lecture.lib import ranks
from lecture.lib.ranks import Traffic, on_ranks, on_ranks_elsewhere

ROOT = Path(__file__).parent.parent


def place(rank, n, more):
    assert (rank, n) == (dist.get_rank(), dist.get_world_size())
    return rank, n, os.getpid(), more


def test_each_rank_is_a_process_of_its_own_and_this_one_is_the_first():
    found = on_ranks(3, place, "word")
    assert [(rank, n, more) for rank, n, _, more in found] == [(r, 3, "word") for r in range(3)]
    processes = [process for _, _, process, _ in found]
    assert processes[0] == os.getpid()
    assert len(set(processes)) == 3


def test_all_ranks_may_be_elsewhere():
    found = on_ranks_elsewhere(2, place, 0)
    assert [rank for rank, *_ in found] == [0, 1]
    assert os.getpid() not in [process for _, _, process, _ in found]
    with pytest.raises(RuntimeError, match="rank 0 failed"):
        on_ranks_elsewhere(2, fail_on, 0)


def test_one_rank_may_be_alone():
    assert on_ranks(1, place, None) == [(0, 1, os.getpid(), None)]


ASKED_EARLY = """
from multiprocessing import forkserver
from lecture.lib import ranks

ranks.prepare_to_fork("lecture.lib.ranks")
early = forkserver._forkserver._forkserver_pid
assert early
assert ranks.on_ranks(2, divmod) == [(0, 0), (0, 1)]
assert forkserver._forkserver._forkserver_pid == early
"""


@pytest.mark.skipif(not ranks._can_fork(), reason="ranks are not forked here")
def test_what_forks_ranks_can_be_asked_for_early():
    subprocess.run([sys.executable, "-c", ASKED_EARLY], cwd=ROOT, check=True)


def test_afterwards_all_is_as_before():
    def state():
        return (
            dist.is_initialized(),
            torch.get_num_threads(),
            torch.get_deterministic_debug_mode(),
            sys.excepthook,
            os.environ.get("PYTHONPATH"),
            sys.modules["__main__"],
        )

    before = state()
    on_ranks(2, place, None)
    assert state() == before


def settings(rank, n):
    return torch.get_num_threads(), torch.get_deterministic_debug_mode()


def test_all_ranks_add_up_in_the_same_order():
    assert on_ranks(2, settings) == 2 * [(1, 2)]


def fail_on(rank, n, failing):
    if rank == failing:
        raise ValueError("no such thing")
    dist.all_reduce(torch.ones(3))


@pytest.mark.parametrize("failing", [1, 2])
def test_a_rank_that_fails_is_named_with_its_traceback(failing):
    with pytest.raises(RuntimeError, match=rf"rank {failing} failed:\n(.*\n)*.*no such thing"):
        on_ranks(3, fail_on, failing)
    assert on_ranks(2, place, 0)[1][0] == 1  # and the next program runs


def test_a_failure_of_the_first_rank_is_its_own():
    with pytest.raises(ValueError, match="no such thing"):
        on_ranks(2, fail_on, 0)
    assert not dist.is_initialized()


def fail_alone(rank, n, failing):
    if rank == failing:
        raise ValueError("no such thing")


@pytest.mark.parametrize(
    ("run", "failing"), [(on_ranks, 1), (on_ranks, 2), *((on_ranks_elsewhere, n) for n in range(3))]
)
def test_a_rank_that_fails_where_the_others_are_done_is_named(run, failing):
    with pytest.raises(RuntimeError, match=rf"rank {failing} failed:\n(.*\n)*.*no such thing"):
        run(3, fail_alone, failing)


def failure(seconds, rank, words):
    return seconds, rank, f"Traceback ...\nRuntimeError: {words}"


TIMED_OUT = "Timed out waiting 3000ms for recv operation to complete"
CLOSED = "Connection closed by peer [127.0.0.1]:8074."
RESET = "Read error [127.0.0.1]:8074: Connection reset by peer"
CAUSES = [
    ([], None),
    ([failure(2, 1, "b"), failure(1, 2, "a")], "rank 2"),
    ([failure(1, 0, "a"), failure(2, 1, "b")], None),
    ([failure(2, 0, "b"), failure(1, 2, "a")], "rank 2"),
    ([failure(2, 0, TIMED_OUT), failure(1, 2, CLOSED)], None),
    ([failure(1, 1, CLOSED), failure(2, 2, TIMED_OUT)], "rank 2"),
    ([failure(1, 0, RESET), failure(2, 1, "b")], "rank 1"),
    ([failure(2, 0, CLOSED), failure(1, 1, RESET)], "rank 1"),
]


@pytest.mark.parametrize(("failures", "blamed"), CAUSES)
def test_who_only_lost_a_peer_is_not_the_cause(failures, blamed):
    said = [b"+" + pickle.dumps("done")]
    said += [b"-" + pickle.dumps(failure) for failure in failures if failure[1] != 0]
    own = [failure for failure in failures if failure[1] == 0]
    expected = pytest.raises(RuntimeError, match=blamed) if blamed else contextlib.nullcontext()
    with expected:
        ranks._raise_the_cause(said, *own)


def end_silently(rank, n):
    if rank == 1:
        os._exit(3)
    dist.barrier()


def test_a_rank_that_ends_without_a_word_does_not_keep_the_others_waiting():
    for run in (on_ranks, on_ranks_elsewhere):
        with pytest.raises(RuntimeError, match="ended without a word"):
            run(2, end_silently)


def collectives(rank, n, elements):
    x = torch.ones(elements)
    found = {}
    for name, call in {
        "all-reduce": lambda: dist.all_reduce(x),
        "all-gather": lambda: dist.all_gather_single(x.new_empty(n * elements), x),
        "reduce-scatter": lambda: dist.reduce_scatter_single(x.new_empty(elements // n), x),
        "all-to-all": lambda: dist.all_to_all_single(torch.empty_like(x), x),
        "send": lambda: dist.isend(x, 1).wait() if rank == 0 else None,
    }.items():
        with Traffic() as traffic:
            if name == "send" and rank == 1:
                dist.recv(torch.empty_like(x), 0)
            call()
        found[name] = traffic.calls[name], traffic.sent_bytes
    return found


def test_traffic_counts_calls_and_bytes():
    found, second = on_ranks(2, collectives, 600)
    once = dict.fromkeys(("reduce-scatter", "all-to-all"), (1, 2400 // 2))
    assert found == once | {
        "all-reduce": (1, 2 * 2400 // 2),
        "all-gather": (1, 2400),
        "send": (1, 2400),
    }
    assert second["send"] == (0, 0)


def written_bytes():
    """What this process has handed to the system to be written: to files, pipes and sockets."""
    counters = Path("/proc/self/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in counters)["wchar"])


def bytes_of_an_all_reduce(rank, n, elements):
    x = torch.ones(elements)
    dist.all_reduce(x)  # connects
    dist.barrier()
    before = written_bytes()
    with Traffic() as traffic:
        dist.all_reduce(x)
    dist.barrier()
    return written_bytes() - before, traffic.sent_bytes


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="asks Linux for its counters")
@pytest.mark.parametrize("n", [2, 3, 4])
def test_the_system_counts_the_bytes_of_the_formula(n):
    S = 4 * 120_000
    for written, counted in on_ranks(n, bytes_of_an_all_reduce, 120_000):
        assert counted == 2 * (n - 1) * S // n
        assert counted < written < 1.01 * counted  # each message has a head


@pytest.mark.skipif(sys.platform == "win32", reason="starts no other server for processes there")
def test_from_any_folder_and_from_a_program_that_trains_when_imported(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "print('imported')\n"
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from lecture.lib.ranks import on_ranks\n"
        "from tests.test_ranks import settings\n"
        "print(on_ranks(2, settings))\n"
    )
    command = [sys.executable, str(program)]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert finished.returncode == 0, finished.stderr
    assert finished.stdout == "imported\n[(1, 2), (1, 2)]\n"


def test_what_sharding_buys():
    # by hand, for bf16 weights and gradients and 12 bytes of state, on 8 ranks
    assert [bytes_per_parameter(stage, 8) for stage in range(4)] == [16, 5.5, 3.75, 2]
    # fp32 weights and gradients, 8 bytes of state, on 2 ranks
    assert [bytes_per_parameter(stage, 2, 4, 4, 8) for stage in range(4)] == [16, 12, 10, 8]
    assert [sent_bytes_per_parameter(stage, 4) for stage in range(4)] == [3, 3, 3, 4.5]
    assert sent_bytes_per_parameter(0, 1) == 0
