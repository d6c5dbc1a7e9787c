import json

from edtrace import link, plot, text

BYTES_OF = {"fp32": 4, "bf16": 2, "fp8": 1}
GPU = "H100"


def main():
    text("# Systems: where the time goes")
    text("We have a budget and want the most of it.")
    memory_of_weights()
    rooflines()
    a_log()
    text("Next: **parallelism**.")


def memory_of_weights():
    text("## Memory")
    text("A parameter takes a few bytes:")
    for name in BYTES_OF:
        size = BYTES_OF[name]
        text(f"- `{name}`: {size} bytes")
    num_parameters = 7_000_000_000  # @inspect num_parameters
    num_bytes = num_parameters * BYTES_OF["bf16"]  # @inspect num_bytes
    text(f"So {num_parameters / 1e9:.0f} billion parameters take {num_bytes / 1e9:.0f} GB.")
    text("An optimiser multiplies that:")
    text("- gradients")
    text("- two moments of Adam")
    text("- a copy in fp32")
    factor = 1 + 1 + 4 + 2  # @inspect factor
    text("In total " + str(factor) + " times as much.")


def rooflines():
    text("## Rooflines")
    text("Specification of the " + GPU + ":")
    peak, bandwidth = 989e12, 3.35e12
    text(f"- {peak:.3g} FLOP/s")
    text(f"- {bandwidth:.3g} bytes/s")
    intensity = peak / bandwidth  # @inspect intensity
    text("Below this **intensity** a kernel is memory-bound, above it compute-bound.")
    is_bound = intensity > 100
    text("It is " + ("high" if is_bound else "low") + ".")
    plot({
        "mark": "line",
        "data": {"values": [{"x": 1, "y": 1}, {"x": 2, "y": 2}]},
        "encoding": {"x": {"field": "x", "type": "quantitative"}, "y": {"field": "y", "type": "quantitative"}},
    })
    text("The corner is where both meet.")


def a_log():
    text("## A log")
    text("What a run prints:")
    text("step 0  loss 5.1\nstep 10 loss 3.2\n\n  done", verbatim=True)
    config = {"lr": 0.1, "steps": 10}
    text(json.dumps(config, indent=2), verbatim=True)
    text("Things to look at:")
    text("- Does the loss go down?")
    text("- Is the device busy?")
    text("- Read "), link(title="the guide", url="https://example.org/guide"), text(" first.")
