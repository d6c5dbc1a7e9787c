"""What no dispatch mode sees is named, and the meter stays out of the compiler's way."""

import contextlib
import importlib.util
import json
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

from tests.tracing import trace_source
from trace.costs import measure
from trace.meter.when_imported import when_imported

ROOT = Path(__file__).parent.parent


def in_a_thread(run):
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()


def test_operators_in_other_threads_are_listed():
    with measure() as cost:
        in_a_thread(lambda: torch.ones(2, 2) @ torch.ones(2, 2))
        torch.ones(2, 2)
    assert cost.uncounted == {"aten.ones in another thread": 2, "aten.mm in another thread": 1}
    assert (cost.matmul_flops, cost.allocated_bytes) == (0, 16)


def test_a_block_belongs_to_its_thread():
    costs = {}
    together = threading.Barrier(2)

    def work(count):
        together.wait()
        with measure() as costs[count]:
            together.wait()
            for _ in range(count):
                torch.ones(2, 2) @ torch.ones(2, 2)
            together.wait()

    threads = [threading.Thread(target=work, args=(count,)) for count in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {count: cost.matmul_flops for count, cost in costs.items()} == {1: 16, 2: 32}


def test_a_block_in_a_thread_started_inside_another():
    inner = {}

    def work():
        with measure() as inner["cost"]:
            torch.mm(torch.ones(2, 2), torch.ones(2, 2))

    with measure() as outer:
        in_a_thread(work)
    assert inner["cost"].matmul_flops == 16
    assert not inner["cost"].uncounted
    assert (outer.matmul_flops, outer.uncounted["aten.mm in another thread"]) == (0, 1)


def test_a_model_can_be_exported_inside_a_block():
    model = torch.nn.Linear(3, 4)
    graphs = []
    for context in (contextlib.nullcontext(), measure()):
        with context:
            graphs.append(str(torch.export.export(model, (torch.ones(2, 3),)).graph))
    assert graphs[0] == graphs[1]


def test_threads_are_left_alone_after_the_block():
    before = threading.Thread._bootstrap_inner
    with measure() as cost:
        assert threading.Thread._bootstrap_inner is not before
    assert threading.Thread._bootstrap_inner is before
    in_a_thread(lambda: torch.ones(2))
    assert not cost.uncounted


def test_an_exception_in_a_thread_has_the_traceback_it_has_otherwise(monkeypatch):
    def fail():
        raise ValueError

    frames = []

    def note(problem):
        entry, names = problem.exc_traceback, []
        while entry:
            names.append(entry.tb_frame.f_code.co_name)
            entry = entry.tb_next
        frames.append(names)

    monkeypatch.setattr(threading, "excepthook", note)
    in_a_thread(fail)
    with measure():
        in_a_thread(fail)
    assert frames[0] == frames[1] == ["_bootstrap_inner", "run", "fail"]


def test_the_document_lists_them_too():
    document = trace_source(
        """
        import threading
        import torch

        def main():
            thread = threading.Thread(target=torch.ones, args=(2,))
            thread.start()
            thread.join()
            torch.linalg.svd(torch.ones(2, 2))
        """
    )
    assert document["uncounted"] == {"aten._linalg_svd": 1, "aten.ones in another thread": 1}


def function(x, w):
    return ((x @ w).sin() * 2).sum()


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_backends_that_run_torch_s_operators_are_counted(backend):
    torch._dynamo.reset()
    x, w = torch.ones(3, 5), torch.ones(5, 7, requires_grad=True)
    compiled = torch.compile(function, backend=backend)
    for _ in range(2):
        with measure() as cost:
            compiled(x, w).backward()
        assert cost.matmul_flops == 2 * 2 * 3 * 5 * 7
        assert not cost.uncounted


@pytest.mark.slow
@pytest.mark.skipif(not any(map(shutil.which, ("g++", "clang++"))), reason="no C++ compiler")
def test_regions_compiled_by_inductor_are_listed_each_time_they_run(monkeypatch):
    # Vectors of its own choice do not compile where other kernels are forced on torch.
    import torch._inductor.config

    monkeypatch.setattr(torch._inductor.config.cpp, "simdlen", 0)
    torch._dynamo.reset()
    compiled = torch.compile(function)
    x, w = torch.ones(3, 5), torch.ones(5, 7, requires_grad=True)
    for _ in range(2):
        with measure() as forward:
            loss = compiled(x, w)
        with measure() as backward:
            loss.backward()
        assert forward.uncounted["compiled region"] == 1
        assert backward.uncounted["compiled region"] == 1


def breaking(x):
    y = x.sin()
    torch._dynamo.graph_break()
    return uncompiled(y * 2).cos()


@torch.compiler.disable
def uncompiled(x):
    return (x @ x.T).relu()


def graphs_of(context):
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    graphs = []

    def backend(graph, inputs):
        graphs.append([str(node.target) for node in graph.graph.nodes])
        return graph.forward

    compiled = torch.compile(breaking, backend=backend)
    with context:
        compiled(torch.ones(2, 2)), compiled(torch.ones(2, 2))
    return graphs, dict(torch._dynamo.utils.counters["frames"])


def test_the_compiler_does_not_meet_the_meter():
    plain = graphs_of(contextlib.nullcontext())
    assert graphs_of(measure()) == plain
    assert len(plain[0]) == 3


def test_the_meter_does_not_load_the_compiler():
    program = (
        "import sys, torch\n"
        "from trace.costs import measure\n"
        "with measure(): torch.ones(2) + 1\n"
        "sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], cwd=ROOT).returncode == 0


def test_torch_may_be_imported_inside_the_block():
    program = (
        "import sys\n"
        "from trace.costs import measure\n"
        "assert 'torch' not in sys.modules\n"
        "with measure() as cost:\n"
        "    import torch\n"
        "    torch.ones(2, 3) @ torch.ones(3, 4)\n"
        "torch.ones(2, 3) @ torch.ones(3, 4)\n"
        "assert cost.matmul_flops == 2 * 2 * 3 * 4, cost\n"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_and_in_the_middle_of_a_traced_run(tmp_path):
    lecture, document = tmp_path / "late.py", tmp_path / "late.json"
    lecture.write_text(
        "def main():\n    import torch\n    torch.ones(2, 3) @ torch.ones(3, 4)\n", encoding="utf-8"
    )
    command = [sys.executable, "-m", "trace", str(lecture), "-q", "-o", str(document)]
    subprocess.run(command, cwd=ROOT, check=True)
    costs = json.loads(document.read_text(encoding="utf-8"))["costs"]
    assert sum(costs["matmul_flops"]) == 2 * 2 * 3 * 4


@pytest.fixture
def module(tmp_path, monkeypatch):
    (tmp_path / "made_up_module.py").write_text("VALUE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield "made_up_module"
    sys.modules.pop("made_up_module", None)


def test_to_be_told_of_an_import(module):
    values, finders = [], list(sys.meta_path)
    with when_imported(module, lambda: values.append(sys.modules[module].VALUE)):
        assert importlib.util.find_spec(module), "which only looks"
        assert not values
        __import__(module)
        __import__(module)
    assert values == [1]
    assert sys.meta_path == finders


def test_an_import_after_the_block_is_not_told(module):
    values = []
    with when_imported(module, lambda: values.append(1)):
        pass
    __import__(module)
    assert values == []
