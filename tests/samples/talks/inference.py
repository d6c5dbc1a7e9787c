import contextlib

from edtrace import image, link, text


@contextlib.contextmanager
def timed():
    yield


def main():
    text("# Inference")
    text("What happens after training.")
    setup = describe("prefill", 1)  # @inspect setup
    other = describe("decode", 2)  # @inspect other
    caches()
    batching()
    speculation()


def describe(phase, order):  # @inspect phase
    text(f"### {phase}")
    text("A phase has a cost and a bound.")
    bound = "compute" if order == 1 else "memory"
    text(f"This one is bound by {bound}.")
    return bound


def caches():
    text("## Caches")
    text("Keys and values of the past are kept.")
    layers, heads, dim = 32, 8, 128
    size = 2 * layers * heads * dim * 2  # @inspect size
    text(f"That is {size:,} bytes for each token.")
    with timed():
        text("To make it smaller:")
        text("- share heads,")
        text("- quantise,")
        text("- look at a window only.")
        tokens = 4096
    try:
        share = size / 0
    except ZeroDivisionError:
        text("Nothing can be divided by zero.")
        share = 0  # @inspect share
    finally:
        text("On to batches.")


def batching():
    text("## Batching")

    def show(batch):
        text("Inside a nested function.")
        return batch * 2

    doubled = show(4)  # @inspect doubled
    text("Requests arrive at different times.")
    for batch in [1, 8]:
        if batch == 1:
            text("- One alone leaves the device idle.")
        else:
            text("- Eight share the weights.")
    text("**Continuous batching**: a slot is filled as soon as it is free.")
    image("stairs.svg")


def speculation():
    text("## Speculation")
    text("A small model drafts, a large one checks.")
    text("Exact: the distribution is that of the large one.")
    accepted, drafted = 3, 4
    rate = accepted / drafted  # @inspect rate
    text(f"Accepted: {rate!r} of the tokens.")
    match accepted:
        case 3:
            text("Three of four were kept.")
            done = True
        case _:
            text("Something else.")
    text("Read on: "), link("https://example.org/spec")
