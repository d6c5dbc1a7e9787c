"""Memory by storage: what it is for, how high it rises, and when it comes back."""

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint

from tests.programs_of_torch import ModelOfGpt2Shape
from tests.tracing import trace_source
from trace.costs import measure
from trace.meter.allocator import allocator_figures
from trace.meter.ledger import (
    ACTIVATIONS,
    CATEGORIES,
    GRADIENTS,
    OPTIMIZER_STATE,
    OTHER,
    PARAMETERS,
)

SCALAR_BYTES = 4


def bytes_of(tensors) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def saved_bytes(run, *left_out) -> int:
    """Bytes of the distinct storages that autograd saves while `run` runs, but those left out."""
    left = {tensor.untyped_storage().data_ptr() for tensor in left_out}
    saved = {}

    def pack(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in left:
            saved[storage.data_ptr()] = storage.nbytes()
        kept.append(tensor.detach())  # so that no address is used twice
        return tensor

    kept = []
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        run()
    return sum(saved.values())


def perceptron() -> nn.Sequential:
    return nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 8))


def test_a_training_step_told_apart():
    with measure() as cost:
        model = perceptron()
        optimizer = torch.optim.AdamW(model.parameters())
        x = torch.randn(4, 16)
        F.cross_entropy(model(x), torch.tensor([0, 1, 2, 0])).backward()
        optimizer.step()
    parameter_bytes = bytes_of(model.parameters())
    assert cost.live_bytes == {
        PARAMETERS: parameter_bytes,
        GRADIENTS: parameter_bytes,
        OPTIMIZER_STATE: 2 * parameter_bytes + 4 * SCALAR_BYTES,  # and a step count each
        ACTIVATIONS: 0,
        OTHER: bytes_of([x]),
    }


def parameter_of_a_module():
    return nn.Linear(4, 4)


def bare_parameter_in_use():
    weight = nn.Parameter(torch.ones(4, 4))
    return weight, weight @ torch.ones(4, 4)


def leaf_changed_by_an_optimizer():
    weight = torch.ones(4, 4, requires_grad=True)
    weight.grad = torch.ones(4, 4)
    torch.optim.SGD([weight]).step()
    return weight


def result_of_a_custom_function():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            return x * 2

        @staticmethod
        def backward(context, gradient):
            return gradient * 2

    return Double.apply(torch.ones(4, 4, requires_grad=True)).exp()


def without_autograd():
    with torch.no_grad():
        return nn.Parameter(torch.ones(4, 4)) @ torch.ones(4, 4)


def input_gradient():
    x = torch.ones(4, 4, requires_grad=True)
    return torch.autograd.grad(x.exp().sum(), x)


class MovingAverage(torch.optim.Optimizer):
    """Keeps a number for each parameter in `state`, and as many in a list of its own."""

    def __init__(self, weights):
        super().__init__(weights, {"lr": torch.tensor(0.5)})
        self.latest = [torch.zeros(4, 4) for group in self.param_groups for _ in group["params"]]

    @torch.no_grad()
    def update(self, weight):
        kept = self.state[weight].setdefault("average", torch.zeros(4, 4))
        self.latest[0].copy_(weight.grad)
        weight.sub_(kept.lerp_(weight.grad, 0.5))


def weight_with_gradient():
    weight = nn.Parameter(torch.ones(4, 4))
    weight.grad = torch.ones(4, 4)
    return weight


def updated_by_another_method():
    optimizer = MovingAverage([weight_with_gradient()])
    optimizer.update(optimizer.param_groups[0]["params"][0])
    return optimizer


def state_that_was_loaded():
    optimizer = torch.optim.SGD([weight_with_gradient()], momentum=0.9)
    state = {0: {"momentum_buffer": torch.ones(4, 4)}}
    optimizer.load_state_dict(optimizer.state_dict() | {"state": state})
    return optimizer


def changed_by_hand():
    """An optimizer there is, but it keeps nothing of this."""
    weight = weight_with_gradient()
    average = torch.zeros(4, 4)
    with torch.no_grad():
        weight.sub_(average.lerp_(weight.grad, 0.5))
    return torch.optim.SGD([weight]), average


# program -> bytes alive at its end
PURPOSES = {
    "a module registers": (parameter_of_a_module, {PARAMETERS: 64 + 16}),
    "a bare parameter": (bare_parameter_in_use, {PARAMETERS: 64, ACTIVATIONS: 64, OTHER: 64}),
    "an optimizer changes": (leaf_changed_by_an_optimizer, {PARAMETERS: 64, OTHER: 64}),
    "a custom function": (result_of_a_custom_function, {OTHER: 64, ACTIVATIONS: 64}),
    "without autograd": (without_autograd, {OTHER: 64}),
    "a gradient asked for": (input_gradient, {GRADIENTS: 64}),
    "an optimizer keeps": (updated_by_another_method, {OPTIMIZER_STATE: 64 + 64}),
    "an optimizer loads": (state_that_was_loaded, {OPTIMIZER_STATE: 64}),
    "no optimizer keeps": (changed_by_hand, {OTHER: 3 * 64}),
}


@pytest.mark.parametrize(("program", "expected"), PURPOSES.values(), ids=PURPOSES)
def test_what_a_storage_is_for(program, expected):
    with measure() as cost:
        result = program()
    assert result is not None
    live = {category: count for category, count in cost.live_bytes.items() if count}
    live.pop(OTHER, None) if OTHER not in expected else None
    assert live == expected


def test_optimizers_are_patched_only_while_something_is_measured():
    before = torch.optim.Optimizer._patch_step_function
    with measure():
        assert torch.optim.Optimizer._patch_step_function is not before
    assert torch.optim.Optimizer._patch_step_function is before


def test_an_optimizer_that_is_known_is_not_kept_alive():
    with measure() as cost:
        optimizer = updated_by_another_method()
        assert cost.live_bytes[OPTIMIZER_STATE] == 2 * 64
        del optimizer
        assert cost.live_bytes[OPTIMIZER_STATE] == 0


@pytest.mark.parametrize("build", [perceptron, lambda: ModelOfGpt2Shape(2, 16, 2).blocks])
def test_activations_are_what_autograd_saves(build):
    torch.manual_seed(0)
    model = build()
    shape = (4, 16) if isinstance(model, nn.Sequential) else (2, 5, 16)
    x = torch.randn(shape, requires_grad=True)

    def run():
        y = x
        for layer in model:
            y = layer(y)
        return y.sum()

    expected = saved_bytes(run, x, *model.parameters())
    with measure() as cost:
        loss = run()
    assert cost.live_bytes[ACTIVATIONS] == expected + bytes_of([loss])


# The peak of a chain of L layers, h = relu(h @ w), in bytes of one activation (B by D) and of one
# weight (D by D). By hand: forward, L activations and one temporary. Backward through layer i,
# the gradients of the layers above are there, and the activations below: relu turns one gradient
# into another beside its saved result, then the product makes the gradients of weight and input.
# The loss and its gradient are two scalars.


def backward_peak(layers, activation_bytes, weight_bytes, resident_bytes=0):
    """When `resident_bytes` of older gradients are there, each new one is added to its own."""
    moments = [layers * activation_bytes + activation_bytes]
    for i in range(1, layers + 1):
        finished_bytes = resident_bytes or (layers - i) * weight_bytes
        below_bytes = (i - 1) * activation_bytes
        gradients_of_two = (2 if i > 1 else 1) * activation_bytes  # the data need none
        moments.append(finished_bytes + weight_bytes + below_bytes + gradients_of_two)
        if i < layers:
            moments.append(finished_bytes + below_bytes + 3 * activation_bytes)
    return max(moments) + 2 * SCALAR_BYTES


SIZES = [(3, 8, 16), (4, 64, 16), (4, 8, 64)]


def chain(weights, x, wrap=lambda function, *args: function(*args)):
    for weight in weights:
        x = wrap(lambda h, w: (h @ w).relu(), x, weight)
    return x.sum()


@pytest.mark.parametrize(("layers", "batch", "width"), SIZES)
def test_the_peak_of_forward_and_backward(layers, batch, width):
    weights = [nn.Parameter(torch.ones(width, width)) for _ in range(layers)]
    x = torch.ones(batch, width)
    with measure(timeline=True) as cost:
        chain(weights, x).backward()
    assert cost.peak_bytes == backward_peak(layers, 4 * batch * width, 4 * width * width)
    assert cost.peak_bytes == max(sum(moment.values()) for moment in cost.timeline)


@pytest.mark.parametrize(("layers", "batch", "width"), SIZES)
def test_the_peak_with_accumulated_gradients(layers, batch, width):
    weights = [nn.Parameter(torch.ones(width, width)) for _ in range(layers)]
    micro_batches = torch.ones(4, batch // 4, width)
    with measure() as cost:
        for x in micro_batches:
            chain(weights, x).backward()
    activation_bytes, weight_bytes = 4 * (batch // 4) * width, 4 * width * width
    resident_bytes = layers * weight_bytes
    forward_bytes = resident_bytes + (layers + 1) * activation_bytes + SCALAR_BYTES
    backward_bytes = backward_peak(layers, activation_bytes, weight_bytes, resident_bytes)
    assert cost.peak_bytes == max(forward_bytes, backward_bytes)


def test_the_peak_with_checkpoints():
    layers, batch, width = 6, 64, 16
    weights = [nn.Parameter(torch.ones(width, width)) for _ in range(layers)]
    x = torch.ones(batch, width)

    def segment(h, *three):
        for weight in three:
            h = (h @ weight).relu()
        return h

    with measure() as forward:
        half = checkpoint(segment, x, *weights[:3], use_reentrant=False)
        loss = checkpoint(segment, half, *weights[3:], use_reentrant=False).sum()
        del half
    activation_bytes, weight_bytes = 4 * batch * width, 4 * width * width
    assert forward.live_bytes[ACTIVATIONS] == activation_bytes + SCALAR_BYTES, "one of six"
    with measure(timeline=True) as backward:
        loss.backward()
    # The upper half is computed again, and leaves the gradients of its weights and of its input.
    # Most is there when the lower half has been computed again: its three results and a temporary.
    highest = max(backward.timeline, key=lambda moment: sum(moment.values()))
    assert highest[ACTIVATIONS] == 3 * activation_bytes + activation_bytes
    assert highest[GRADIENTS] == 3 * weight_bytes + activation_bytes
    assert backward.live_bytes[GRADIENTS] == layers * weight_bytes


def growing_result():
    return torch.add(torch.ones(4), 1, out=torch.empty(0))


def resized():
    x = torch.ones(4)
    return x.resize_(8)


# program -> bytes allocated, bytes alive at its end
CHANGES_OF_SIZE = {
    "a result that has to grow": (growing_result, 16 + 16, 16),
    "resized": (resized, 16 + 32, 32),
    "numpy's own memory": (lambda: torch.from_numpy(torch.ones(4).numpy()), 16, 16),
    "parts that share memory": (lambda: torch.unsafe_chunk(torch.ones(4), 2), 16, 16),
}


@pytest.mark.parametrize("name", CHANGES_OF_SIZE)
def test_memory_that_changes_its_size_or_is_shared(name):
    program, allocated_bytes, live_bytes = CHANGES_OF_SIZE[name]
    with measure() as cost:
        result = program()
    assert result is not None
    assert cost.allocated_bytes == allocated_bytes
    assert cost.allocated_bytes - cost.freed_bytes == live_bytes


def test_a_tensor_from_before_that_grows_is_new_memory():
    x = torch.empty(0)
    with measure() as cost:
        x.resize_(4)
    assert (cost.allocated_bytes, cost.freed_bytes) == (16, 0)


def test_a_timeline_is_kept_on_request():
    with measure() as cost:
        torch.ones(4)
    with pytest.raises(ValueError, match=r"measure\(timeline=True\)"):
        cost.timeline  # noqa: B018
    with measure(timeline=True) as cost:
        x = torch.ones(4)
        y = x.exp()
        del x
    assert [moment[OTHER] for moment in cost.timeline] == [16, 32, 16]
    assert y.numel() == 4


class Cuda:
    """Stands for `torch.cuda` where there is none."""

    def __init__(self):
        self.now = self.peak = 0

    def is_initialized(self):
        return True

    def allocate(self, count):
        self.now += count
        self.peak = max(self.peak, self.now)

    def memory_allocated(self):
        return self.now

    def max_memory_allocated(self):
        return self.peak

    def reset_peak_memory_stats(self):
        self.peak = self.now


def test_the_allocator_s_figures_of_nested_blocks():
    cuda, outer, inner = Cuda(), {}, {}
    cuda.allocate(512)
    with allocator_figures(outer, cuda):
        cuda.allocate(1024)
        cuda.allocate(-1024)
        with allocator_figures(inner, cuda):
            cuda.allocate(256)
            cuda.allocate(-128)
        cuda.allocate(-128)
    assert inner == {"allocated_bytes": 128, "peak_bytes": 256}
    assert outer == {"allocated_bytes": 0, "peak_bytes": 1024}


def test_the_allocator_tells_blocks_apart_that_have_equal_peaks():
    cuda, outer, inner = Cuda(), {}, {}
    with allocator_figures(outer, cuda):
        with allocator_figures(inner, cuda):
            cuda.allocate(64)
        cuda.allocate(512)
    assert inner == {"allocated_bytes": 64, "peak_bytes": 64}
    assert outer == {"allocated_bytes": 576, "peak_bytes": 576}


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
def test_the_allocator_rounds_up_what_the_meter_counts():
    with measure() as cost:
        x = torch.ones(1000, device="cuda")
    assert cost.allocated_bytes == x.untyped_storage().nbytes() == 4000
    assert 4000 <= cost.allocator["allocated_bytes"] <= cost.allocator["peak_bytes"] <= 8192


SOURCE = """
    import torch

    def main():
        model = torch.nn.Linear(8, 8, bias=False)
        optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
        loss = model(torch.ones(2, 8)).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    """


def test_the_document_has_the_memory_of_each_category_over_time():
    document = trace_source(SOURCE)
    memory, names = document["memory"], document["names"]
    most = dict.fromkeys(CATEGORIES, 0)
    last = {}
    for category, live_bytes in zip(memory["category"], memory["live_bytes"], strict=True):
        name = names[category]
        most[name], last[name] = max(most[name], live_bytes), live_bytes
    weight_bytes = 8 * 8 * 4
    assert most[PARAMETERS] == weight_bytes
    assert most[OPTIMIZER_STATE] == weight_bytes, "momentum"
    assert most[GRADIENTS] == weight_bytes
    assert most[ACTIVATIONS] == 2 * 8 * 4 + SCALAR_BYTES
    assert set(last.values()) == {0}, "all is freed when main() returns"
    assert memory["at"] == sorted(memory["at"])


ON_META = """
    def main():
        import torch
        x = torch.ones(8)
        y = torch.ones(1000, device="meta")
        z = torch.empty_like(y[:10], device="cpu")
    """


def test_what_is_on_meta_is_counted_but_never_alive_in_the_document():
    document = trace_source(ON_META)
    bytes_on_cpu = (8 + 10) * SCALAR_BYTES
    assert max(document["memory"]["live_bytes"]) == bytes_on_cpu
    assert document["memory"]["live_bytes"][-1] == 0
    assert sum(document["costs"]["allocated_bytes"]) == bytes_on_cpu + 1000 * SCALAR_BYTES
    with measure() as cost:
        y = torch.ones(1000, device="meta")
    assert cost.live_bytes[OTHER] == cost.peak_bytes == y.nbytes
