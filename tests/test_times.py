"""What depends on the clock goes to a file of its own."""

import json

import pytest

from tests.tracing import record_source, shown
from trace.document.build import build
from trace.document.encoding import encode
from trace.document.times import encode_times, processor_name, step_seconds

SOURCE = """
    import time

    def main():
        start = time.perf_counter()  # @inspect start @timed
        f()
        list(g())
        seconds = time.perf_counter() - start  # @inspect seconds @timed
        assert seconds > 0.05  # @timed

    def f():
        time.sleep(0.02)

    def g():
        time.sleep(0.01)
        yield 1
        time.sleep(0.03)
    """


def test_seconds_are_booked_on_the_step_that_spent_them() -> None:
    recording = record_source(SOURCE, time=True)
    document = json.loads(encode(build(recording)))
    lines = [document["statements"][event - 1][1] for event in document["events"] if event > 0]
    seconds = dict(zip(lines, step_seconds(recording), strict=True))
    assert lines == [4, 5, 11, 6, 14, 15, 16, 7, 8]
    for line, least in {11: 0.02, 14: 0.01, 16: 0.03}.items():
        assert seconds[line] >= least
    # The time of a callee is its own: the steps between two readings of the lecture's clock take no
    # longer than the lecture read, however slow the machine is.
    read = json.loads(encode_times(recording))["inspections"]["1"]["value"]
    assert sum(seconds[line] for line in (5, 11, 6, 14, 15, 16)) <= read


def test_the_sidecar_holds_the_values_and_the_document_does_not() -> None:
    recording = record_source(SOURCE, time=True)
    sidecar = json.loads(encode_times(recording))
    document = json.loads(encode(build(recording)))
    assert [name for _, name, _ in shown(document)] == ["start", "seconds"]
    assert sidecar["inspections"]["1"]["value"] > 0.05
    assert sidecar["claims"] == {"0": {"0": sidecar["inspections"]["1"], "1": {
        "type": "float", "value": 0.05,
    }}}  # fmt: skip
    assert len(sidecar["seconds"]) == 9
    assert "perf_counter" not in json.dumps(document["values"])
    plain = record_source(SOURCE)
    assert encode(build(plain)) == encode(build(recording)), "the option does not change it"


@pytest.mark.parametrize("option", [True, False])
def test_the_command_writes_it_on_request(tmp_path, option: bool, capsys) -> None:
    from trace.cli import main

    (tmp_path / "clock.py").write_text("def main(): pass")
    arguments = [str(tmp_path / "clock.py"), "-o", str(tmp_path / "clock.json")]
    assert main([*arguments, *["--time"] * option]) == 0
    assert (tmp_path / "clock.times.json").exists() == option


def test_the_sidecar_names_the_processor(tmp_path) -> None:
    sidecar = json.loads(encode_times(record_source(SOURCE, time=True)))
    assert sidecar["environment"]["processor"] == processor_name() != ""
    table = tmp_path / "cpuinfo"
    table.write_text("processor\t: 0\nmodel name\t: A Processor @ 2.00GHz\nflags\t: a b\n")
    assert processor_name(table) == "A Processor @ 2.00GHz"
    table.write_text("processor\t: 0\n")
    assert processor_name(table) == processor_name(tmp_path / "none") != ""


def test_times_of_a_run_that_met_the_limit_of_recursion() -> None:
    recording = record_source(
        """
        def deeper(n):
            return deeper(n + 1)

        def main():
            try:
                deeper(0)
            except RecursionError:
                pass
        """,
        time=True,
    )
    steps = sum(event > 0 for event in build(recording).events)
    assert len(json.loads(encode_times(recording))["seconds"]) == steps
