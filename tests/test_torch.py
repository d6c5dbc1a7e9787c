"""What torch does to functions (compile, script, checkpoint, transform) works under the recorder as
without it: every program prints the same, runs its own asserts, and is recorded where it can be."""

import contextlib
import io
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.tracing import record_source, story, trace_source

ROOT = Path(__file__).parents[1]

COMPILED = """
    import torch

    torch._dynamo.config.suppress_errors = False
    SEEN = []

    def backend(graph, inputs):
        SEEN.append(len(graph.graph.nodes))
        return graph.forward

    {program}
    """

PROGRAMS = {
    "compile": """
        @torch.compile(backend=backend, fullgraph=True)
        def f(x):
            y = x + 1
            return y * 2

        def main():
            print(f(torch.ones(3)).tolist(), f(torch.zeros(3)).tolist(), SEEN)
        """,
    "compile with callees": """
        def inner(x):
            return x.relu()

        def f(x):
            return inner(x) + inner(-x)

        def main():
            print(torch.compile(f, backend=backend, fullgraph=True)(torch.ones(3)).tolist(), SEEN)
            print(f(torch.ones(3)).tolist())
        """,
    "compile a module": """
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.w = torch.nn.Parameter(torch.ones(3))

            def forward(self, x):
                return (x * self.w).sum()

        def main():
            net = torch.compile(Net(), backend=backend, fullgraph=True)
            loss = net(torch.ones(3))
            loss.backward()
            print(loss.item(), [p.grad.tolist() for p in net.parameters()], SEEN)
        """,
    "export": """
        class Net(torch.nn.Module):
            def forward(self, x):
                return x.sin() + 1

        def main():
            program = torch.export.export(Net(), (torch.zeros(2),))
            print(program.module()(torch.zeros(2)).tolist())
        """,
    "script": """
        def f(x: torch.Tensor, n: int) -> torch.Tensor:
            for i in range(n):
                x = x + i
            return x

        def main():
            print(torch.jit.script(f)(torch.zeros(2), 3).tolist())
        """,
    "jit.trace, checked and printed": """
        def f(x):
            return (x * 2 + 1.5).view(3)

        def main():
            traced = torch.jit.trace(f, torch.ones(3), check_trace=True)
            print(traced.code, len(str(traced.graph).splitlines()), traced(torch.ones(3)).tolist())
        """,
    "a traceback that is printed": """
        import traceback

        def main():
            try:
                torch.ones(3) @ torch.ones(4)
            except RuntimeError as error:
                print([entry.name for entry in traceback.extract_tb(error.__traceback__)])
                print(len(traceback.format_exc().splitlines()))
        """,
    "checkpoint": """
        from torch.utils.checkpoint import checkpoint

        def block(x):
            return x.sin().exp()

        def main():
            for reentrant in (False, True):
                x = torch.ones(3, requires_grad=True)
                checkpoint(block, x, use_reentrant=reentrant).sum().backward()
                print(x.grad.tolist())
        """,
    "func transforms": """
        from torch.func import grad, jvp, vmap

        def f(x):
            y = x * x
            return y.sum()

        def main():
            x = torch.arange(3.0)
            print(grad(f)(x).tolist(), vmap(f)(x.view(3, 1)).tolist())
            print(vmap(grad(f))(x.view(3, 1)).tolist(), jvp(f, (x,), (x,))[1].item())
        """,
    "autograd functions and hooks": """
        class Double(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return 2 * x

            @staticmethod
            def backward(ctx, gradient):
                return 3 * gradient

        def hook(gradient):
            return gradient + 1

        def main():
            x = torch.ones(2, requires_grad=True)
            x.register_hook(hook)
            Double.apply(x).sum().backward()
            print(x.grad.tolist())
        """,
    "inference mode, autocast, dropout": """
        def main():
            torch.manual_seed(0)
            layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout())
            with torch.autocast("cpu", torch.bfloat16):
                print(layer(torch.ones(2, 4)).tolist())
            with torch.inference_mode():
                print(layer(torch.ones(2, 4)).tolist(), torch.rand(2).tolist())
        """,
}


def printed(program: str, traced: bool) -> str:
    source = textwrap.dedent(COMPILED).replace("{program}", textwrap.dedent(program))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        if traced:
            recording = record_source(source)
            assert recording.failure is None, recording.failure
        else:
            run_plainly(source)
    return output.getvalue()


def run_plainly(source: str) -> None:
    import importlib
    import sys
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "plain_sample.py").write_text(source, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            importlib.import_module("plain_sample").main()
        finally:
            sys.path.remove(folder)
            sys.modules.pop("plain_sample", None)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_torch_does_the_same_under_the_recorder(program: str) -> None:
    import torch

    torch._dynamo.reset()
    plain = printed(program, traced=False)
    torch._dynamo.reset()
    assert printed(program, traced=True) == plain
    assert plain


CHECKED = """
    import torch
    from jaxtyping import Float, jaxtyped
    from typeguard import typechecked

    @jaxtyped(typechecker=typechecked)
    def product(x: Float[torch.Tensor, "b d"], w: Float[torch.Tensor, "d k"]):
        y = x @ w  # @inspect y.shape
        assert y.ndim == 2
        return y

    def main():
        product(torch.ones(2, 3), torch.ones(3, 4))
        product(torch.ones(2, 3), torch.ones(4, 4))
    """


def test_shape_checked_functions_are_stepped_into_and_their_checks_fire() -> None:
    document = trace_source(CHECKED)
    assert story(document).startswith("12 product( 7 8 9 ) 13")
    assert document["claims"]["held"] == [True]
    assert document["failure"]["type"] == "TypeCheckError"
    assert document["failure"]["traceback"][0] == {
        "path": "sample.py",
        "line": 13,
        "function": "main",
    }


def test_recomputation_and_custom_backward_are_booked_on_their_own_steps() -> None:
    document = trace_source(
        """
        import torch
        from torch.utils.checkpoint import checkpoint

        W = torch.ones(4, 4)

        def main():
            x = torch.ones(2, 4, requires_grad=True)
            y = checkpoint(block, x, use_reentrant=False).sum()
            y.backward()

        def block(x):
            return (x @ W).exp()
        """
    )
    assert story(document) == "7 8 block( 12 ) 9 block( 12 )"
    costs = document["costs"]
    flops = {}
    for step, count in zip(costs["step"], costs["matmul_flops"], strict=True):
        flops[step] = flops.get(step, 0) + count
    assert {step: n for step, n in flops.items() if n} == {2: 64, 3: 64, 4: 64}


def test_calls_of_a_compiled_function_are_one_step() -> None:
    document = trace_source(
        """
        import torch

        def main():
            g = torch.compile(f, backend="eager")
            g(torch.ones(2))
            f(torch.ones(2))

        def f(x):
            return x + 1
        """
    )
    assert story(document) == "4 5 6 f( 9 )"


def test_the_first_compilation_of_a_process_may_be_a_traced_one(tmp_path) -> None:
    (tmp_path / "compiled.py").write_text(
        "import torch\n\n"
        "def f(x):\n    return x + 1\n\n"
        "def main():\n    print(torch.compile(f, backend='eager', fullgraph=True)(torch.ones(1)))\n"
    )
    command = [sys.executable, "-m", "trace", str(tmp_path / "compiled.py"), "-q"]
    command += ["-o", str(tmp_path / "compiled.json")]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert (run.returncode, run.stdout) == (0, "tensor([2.])\n"), run.stderr


def test_an_operator_that_fails_has_the_traceback_it_has_without_the_meter() -> None:
    recording = record_source(
        """
        import torch

        def main():
            return torch.ones(2, 3) @ torch.ones(2, 3)
        """
    )
    assert [entry["function"] for entry in recording.failure["traceback"]] == ["main"]
