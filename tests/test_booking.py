"""Where the document books costs: on the step that caused them."""

from tests.tracing import lines, trace_source


def by_line(document, column: str) -> dict[int, int]:
    """The sums of a column of `costs` by the line of the step."""
    line_of, sums = lines(document), {}
    costs = document["costs"]
    for step, count in zip(costs["step"], costs[column], strict=True):
        sums[line_of[step]] = sums.get(line_of[step], 0) + count
    return {line: count for line, count in sums.items() if count}


def test_backward_is_booked_on_the_statement_that_calls_it():
    document = trace_source(
        """
        import torch

        def main():
            w = torch.ones(5, 7, requires_grad=True)
            y = (torch.ones(3, 5) @ w).sum()
            y.backward()
        """
    )
    product = 2 * 3 * 5 * 7
    assert by_line(document, "matmul_flops") == {5: product, 6: product}


def test_a_custom_backward_is_booked_on_its_own_lines():
    document = trace_source(
        """
        import torch

        class Product(torch.autograd.Function):
            @staticmethod
            def forward(context, x, w):
                context.save_for_backward(x)
                return x @ w

            @staticmethod
            def backward(context, g):
                x, = context.saved_tensors
                return None, x.T @ g

        def main():
            w = torch.ones(5, 7, requires_grad=True)
            y = Product.apply(torch.ones(3, 5), w).sum()
            y.backward()
        """
    )
    product = 2 * 3 * 5 * 7
    assert by_line(document, "matmul_flops") == {7: product, 12: product}


def test_an_optimizer_s_step_is_booked_on_its_statement():
    document = trace_source(
        """
        import torch

        def main():
            w = torch.ones(100, requires_grad=True)
            w.grad = torch.ones(100)
            optimizer = torch.optim.SGD([w], lr=0.5)
            optimizer.step()
        """
    )
    assert by_line(document, "other_flops") == {7: 2 * 100}, "a product and a difference each"


def test_a_generator_s_work_is_booked_on_the_statement_that_runs_inside_it():
    document = trace_source(
        """
        import torch

        def main():
            for x in batches():
                y = x @ x

        def batches():
            for size in (2, 3):
                yield torch.ones(size, size).exp()
        """
    )
    assert by_line(document, "matmul_flops") == {5: 2 * 2**3 + 2 * 3**3}
    assert by_line(document, "other_flops") == {9: 20 * (4 + 9)}


def test_what_is_stepped_over_is_booked_on_the_statement():
    document = trace_source(
        """
        import torch

        def main():
            f()  # @stepover

        def f():
            torch.ones(2, 2) @ torch.ones(2, 2)
        """
    )
    assert by_line(document, "matmul_flops") == {4: 16}


def test_reading_values_is_booked_nowhere_and_measure_sees_none_of_it():
    source = """
        import torch
        from trace.costs import measure

        def main():
            with measure() as cost:
                x = torch.ones(200, 300)  # @inspect x
            assert cost.other_flops == 0
            assert cost.allocated_bytes == 4 * 200 * 300
        """
    document = trace_source(source)
    assert document["claims"]["held"] == [True, True]
    assert by_line(document, "other_flops") == {}


def test_sums_by_operator():
    document = trace_source(
        """
        import torch

        def main():
            x = torch.ones(2, 3)
            y = (x + 1) + (x + 2)
        """
    )
    costs, names = document["costs"], document["names"]
    columns = ("step", "calls", "other_flops", "read_bytes", "written_bytes")
    rows = {
        names[costs["operator"][row]]: [costs[column][row] for column in columns]
        for row in range(len(costs["step"]))
    }
    assert rows["aten.add"] == [1, 3, 18, 4 * 24, 3 * 24]
    assert rows["memory"] == [1, 0, 0, 0, 0]


TRAINING = """
import torch
import torch.nn.functional as F
from trace.costs import measure

def main():
    torch.manual_seed(0)
    with measure() as cost:
        model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.GELU())
        optimizer = torch.optim.AdamW(model.parameters())
        for _ in range(2):
            loss = step(model, optimizer)  # @inspect loss model
    print(cost, cost.live_bytes, dict(cost.uncounted))

def step(model, optimizer):
    with torch.autocast("cpu", torch.bfloat16):
        loss = model(torch.randn(4, 8)).float().square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss.detach()
"""


def test_measure_says_the_same_inside_and_outside_a_traced_run(capsys):
    names = {"__name__": "plain"}
    exec(compile(TRAINING, "plain.py", "exec"), names)
    names["main"]()
    plain = capsys.readouterr().out
    document = trace_source(TRAINING)
    assert document["output"][0]["text"] == plain
    assert "matmul_flops=2048" in plain, "2 steps, forward and the gradient of the weight"


def test_calls_without_a_formula_are_booked_on_their_step():
    document = trace_source(
        """
        import torch

        def main():
            x = torch.ones(3)
            for _ in range(2):
                y = torch.polar(x, x).abs() + torch.polar(x * 2, x).abs()
        """
    )
    assert by_line(document, "uncounted") == {6: 4}
    assert document["uncounted"] == {"aten.polar": 4}


def test_what_ran_on_meta_has_rows_of_its_own():
    document = trace_source(
        """
        import torch

        def main():
            for device in ("cpu", "meta", "cpu"):
                w = torch.ones(5, 7, device=device)
                y = w.T @ w
                y.add_(1)
            z = (w @ w.T, torch.empty(2, 5, device="meta") @ y.to("meta")[:5])
            copied = torch.ones(2).to("meta")
        """
    )
    assert document["failure"] is None
    costs, line_of = document["costs"], lines(document)
    rows = [dict(zip(costs, row, strict=True)) for row in zip(*costs.values(), strict=True)]
    for row in rows:
        row["line"], row["name"] = line_of[row["step"]], document["names"][row["operator"]]
    spent = [(row["line"], row["name"], row["meta"], row["matmul_flops"]) for row in rows]
    product = 2 * 7 * 5 * 7
    assert [row for row in spent if row[1] == "aten.mm"] == [
        (6, "aten.mm", 0, product),
        (6, "aten.mm", 1, product),
        (6, "aten.mm", 0, product),
        (8, "aten.mm", 0, 2 * 5 * 7 * 5),
        (8, "aten.mm", 1, 2 * 2 * 5 * 7),
    ]
    in_place = [row["meta"] for row in rows if row["name"] == "aten.add_"]
    assert in_place == [0, 1, 0]
    memory = [row for row in rows if row["name"] == "memory" and row["line"] == 9]
    allocated = [(row["meta"], row["allocated_bytes"]) for row in memory]
    assert [row for row in allocated if row[1]] == [(0, 8), (1, 8)]
    copies = [row["meta"] for row in rows if row["name"] == "aten._to_copy"]
    assert set(copies) == {1}
