"""The optimizers of the lecture against PyTorch's."""

import copy
import io
import math

import pytest
import torch
from torch import nn

from lecture.lib.optim import SGD, AdaGrad, AdamW, Muon, RMSProp, orthogonalized
from trace.costs import measure

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]

# ours, PyTorch's, the settings
PAIRS = [
    (SGD, torch.optim.SGD, {"lr": 0.05}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "weight_decay": 0.1}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "dampening": 0.9}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "momentum": 0.5, "dampening": 0.3}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "weight_decay": 0.1}),
    (SGD, torch.optim.SGD, {"lr": 0.05, "momentum": 0.9, "nesterov": True}),
    (
        SGD,
        torch.optim.SGD,
        {"lr": 0.05, "momentum": 0.8, "nesterov": True, "weight_decay": 0.01},
    ),
    (AdaGrad, torch.optim.Adagrad, {}),
    (AdaGrad, torch.optim.Adagrad, {"lr": 0.1, "eps": 1e-3, "weight_decay": 0.1}),
    (RMSProp, torch.optim.RMSprop, {}),
    (RMSProp, torch.optim.RMSprop, {"lr": 1e-3, "alpha": 0.9, "eps": 1e-3}),
    (RMSProp, torch.optim.RMSprop, {"lr": 1e-3, "alpha": 0.0, "weight_decay": 0.1}),
    (AdamW, torch.optim.AdamW, {}),
    (AdamW, torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.1}),
    (AdamW, torch.optim.AdamW, {"lr": 0.01, "weight_decay": 0.0, "eps": 1e-3}),
    (AdamW, torch.optim.AdamW, {"lr": 0.01, "betas": (0.8, 0.95)}),
    (AdamW, torch.optim.AdamW, {"lr": 1e-3, "betas": (0.0, 0.0)}),
    (AdamW, torch.optim.AdamW, {"lr": 0.01, "betas": (0.0, 0.99)}),
]


def small_model(device="cpu", dtype=torch.float32):
    """Two layers with biases, the same ones on each call."""
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 3))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(torch.randn(weight.shape, generator=generator) / 2)
    return model.to(device, dtype)


def train(model, optimizer, steps, first=0):
    """Fit random targets; batch number i is the same for everyone."""
    weight = next(model.parameters())
    for number in range(first, first + steps):
        generator = torch.Generator().manual_seed(number)
        x = torch.randn(4, 5, generator=generator).to(weight)
        target = torch.randn(4, 3, generator=generator).to(weight)
        optimizer.zero_grad()
        (model(x) - target).square().mean().backward()
        optimizer.step()


def largest_difference(model, other):
    """Over all parameters."""
    pairs = zip(model.parameters(), other.parameters(), strict=True)
    return max((ours - theirs).abs().max().item() for ours, theirs in pairs)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(("ours", "theirs", "settings"), PAIRS)
def test_hundreds_of_steps_end_where_pytorch_s_do(ours, theirs, settings, device):
    start, model, other = small_model(device), small_model(device), small_model(device)
    train(model, ours(model.parameters(), **settings), 300)
    train(other, theirs(other.parameters(), **settings), 300)
    assert largest_difference(model, start) > 0.01
    # On a GPU, PyTorch takes all parameters in one kernel, which may round otherwise.
    assert largest_difference(model, other) <= (0 if device == "cpu" else 1e-4)


@pytest.mark.parametrize(("ours", "theirs", "settings"), PAIRS)
def test_in_fp64_nothing_but_rounding_is_left(ours, theirs, settings):
    model, other = small_model(dtype=torch.float64), small_model(dtype=torch.float64)
    optimizer = ours(model.parameters(), **settings)
    train(model, optimizer, 100)
    train(other, theirs(other.parameters(), **settings), 100)
    assert largest_difference(model, other) <= 1e-12
    for state in optimizer.state.values():
        kept = [value for value in state.values() if isinstance(value, torch.Tensor)]
        assert {value.dtype for value in kept} <= {torch.float64}


def test_each_group_has_its_own_settings():
    model, other = small_model(), small_model()
    for network, kind in ((model, AdamW), (other, torch.optim.AdamW)):
        first, last = network[0].parameters(), network[2].parameters()
        groups = [{"params": first, "lr": 0.02, "weight_decay": 0.0}, {"params": last}]
        optimizer = kind(groups, lr=0.01, betas=(0.8, 0.9), weight_decay=0.5)
        assert [group["weight_decay"] for group in optimizer.param_groups] == [0.0, 0.5]
        for number in range(100):
            for group in optimizer.param_groups:
                group["lr"] *= 0.99  # what a schedule does
            train(network, optimizer, 1, number)
    assert largest_difference(model, other) == 0


def test_pytorch_s_schedules_drive_them():
    weight = nn.Parameter(torch.zeros(1))
    optimizer = SGD([weight], lr=1.0)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    for _ in range(4):
        weight.grad = torch.ones(1)
        optimizer.step()
        schedule.step()
    assert weight.item() == -(1 + 0.5 + 0.25 + 0.125)


KINDS = [
    (SGD, {"momentum": 0.9}),
    (AdaGrad, {}),
    (RMSProp, {}),
    (AdamW, {}),
]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_a_saved_state_goes_on_bit_for_bit(kind, settings, dtype):
    straight = small_model(dtype=dtype)
    train(straight, kind(straight.parameters(), **settings), 20)

    half = small_model(dtype=dtype)
    optimizer = kind(half.parameters(), **settings)
    train(half, optimizer, 10)
    file = io.BytesIO()
    torch.save({"model": half.state_dict(), "optimizer": optimizer.state_dict()}, file)
    file.seek(0)
    saved = torch.load(file, weights_only=True)

    resumed = small_model(dtype=dtype)
    resumed.load_state_dict(saved["model"])
    optimizer = kind(resumed.parameters(), lr=123.0)
    optimizer.load_state_dict(saved["optimizer"])
    train(resumed, optimizer, 10, first=10)
    assert largest_difference(resumed, straight) == 0.0

    forgetful = small_model(dtype=dtype)
    forgetful.load_state_dict(saved["model"])
    train(forgetful, kind(forgetful.parameters(), **settings), 10, first=10)
    assert largest_difference(forgetful, straight) > 0


def test_a_loaded_state_is_a_copy():
    model = small_model()
    first, second = AdamW(model.parameters()), AdamW(model.parameters())
    train(model, first, 1)
    second.load_state_dict(first.state_dict())
    kept = copy.deepcopy(first.state_dict())
    train(model, second, 5)
    for number, state in first.state_dict()["state"].items():
        assert torch.equal(state["m"], kept["state"][number]["m"])
        assert state["step"] == 1


@pytest.mark.parametrize(("kind", "settings"), KINDS)
def test_what_is_kept_for_bf16_is_in_fp32(kind, settings):
    model = small_model(dtype=torch.bfloat16)
    optimizer = kind(model.parameters(), **settings)
    train(model, optimizer, 2)
    other = kind(model.parameters(), **settings)
    other.load_state_dict(optimizer.state_dict())
    for state in (*optimizer.state.values(), *other.state.values()):
        kept = [value for value in state.values() if isinstance(value, torch.Tensor)]
        assert {value.dtype for value in kept} == {torch.float32}
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}


# optimizer, settings -> numbers kept for a parameter, FLOPs of a step for a parameter
COSTS = [
    (SGD, {}, 0, 2),
    (SGD, {"momentum": 0.9}, 1, 4),  # a factor of 1 is none
    (AdaGrad, {}, 1, 27),
    (RMSProp, {}, 1, 28),
    (AdamW, {}, 2, 33),
    (AdamW, {"weight_decay": 0.0}, 2, 32),
]


@pytest.mark.parametrize(("kind", "settings", "kept", "flops"), COSTS)
def test_memory_and_work_of_a_step(kind, settings, kept, flops):
    weight = nn.Parameter(torch.ones(30, 40))
    weight.grad = torch.ones(30, 40)
    optimizer = kind([weight], **settings)
    with measure() as first:
        optimizer.step()
    assert first.live_bytes["optimizer state"] == 4 * 1200 * kept
    with measure() as second:
        optimizer.step()
    assert second.other_flops == 1200 * flops
    assert dict(second.uncounted) == {}
    assert second.allocated_bytes - second.freed_bytes == 0
    assert second.peak_bytes <= 4 * 1200


@pytest.mark.parametrize("shape", [(8, 8), (5, 12), (12, 5), (1, 7)])
def test_orthogonalizing_brings_singular_values_near_one_and_turns_nothing(shape):
    generator = torch.Generator().manual_seed(0)
    left, values, right = torch.linalg.svd(
        torch.randn(shape, generator=generator), full_matrices=False
    )
    found = left.T @ orthogonalized(left @ values.diag() @ right) @ right.T
    assert 0.6 < found.diag().min() <= found.diag().max() < 1.25
    assert (found - found.diag().diag()).abs().max() < 1e-4


def test_muon_is_that_of_pytorch_within_bf16():
    model, other = small_model(), small_model()
    settings = {"lr": 0.01, "weight_decay": 0.1}
    ours = Muon([weight for weight in model.parameters() if weight.ndim == 2], **settings)
    theirs = torch.optim.Muon(
        [weight for weight in other.parameters() if weight.ndim == 2],
        adjust_lr_fn="match_rms_adamw",
        **settings,
    )
    train(model, ours, 20)
    train(other, theirs, 20)
    assert largest_difference(model, small_model()) > 0.02
    assert largest_difference(model, other) < 0.02


def test_muon_refuses_what_is_no_matrix():
    weight = nn.Parameter(torch.ones(3))
    weight.grad = torch.ones(3)
    with pytest.raises(ValueError, match="Muon takes matrices, and this parameter has 1 axes"):
        Muon([weight]).step()


def test_muon_keeps_one_number_and_its_step_is_matmuls():
    weight = nn.Parameter(torch.ones(30, 40))
    weight.grad = torch.ones(30, 40)
    optimizer = Muon([weight])
    with measure() as step:
        optimizer.step()
    assert step.live_bytes["optimizer state"] == 4 * 1200
    assert step.matmul_flops == 5 * (2 * 2 * 30 * 30 * 40 + 2 * 30**3)


def test_parameters_without_a_gradient_stay():
    used, unused = nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))
    optimizer = AdamW([used, unused])
    used.grad = torch.ones(2)
    optimizer.step()
    assert used[0] < 1
    assert unused.tolist() == [1, 1]
    assert unused not in optimizer.state


def test_a_closure_is_called_with_gradients_on():
    weight = nn.Parameter(torch.tensor(3.0))
    optimizer = SGD([weight], lr=0.5)

    def closure():
        optimizer.zero_grad()
        loss = weight.square()
        loss.backward()
        return loss.item()

    assert optimizer.step(closure) == 9
    assert weight.item() == 3 - 0.5 * 6
    assert optimizer.step() is None


def test_without_a_rate_nothing_moves():
    weight = nn.Parameter(torch.ones(2))
    weight.grad = torch.ones(2)
    AdamW([weight], lr=0.0).step()
    assert weight.tolist() == [1, 1]


# optimizer, settings -> the end of what is said
REFUSED = [
    (SGD, {"lr": -1}, "lr has to be a number of at least 0 and finite, and is -1"),
    (SGD, {"lr": math.inf}, "lr has to be a number of at least 0 and finite, and is inf"),
    (AdamW, {"lr": math.nan}, "lr has to be a number of at least 0 and finite, and is nan"),
    (AdamW, {"lr": "fast"}, "lr has to be a number of at least 0 and finite, and is 'fast'"),
    (AdamW, {"eps": -1e-8}, "eps has to be a number of at least 0 and finite, and is -1e-08"),
    (
        AdamW,
        {"weight_decay": -0.1},
        "weight_decay has to be a number of at least 0 and finite, and is -0.1",
    ),
    (
        AdamW,
        {"betas": (0.9, 1.0)},
        "betas has to be a number of at least 0 and below 1, and is 1.0",
    ),
    (AdamW, {"betas": (-0.1, 0.9)}, "betas has to be a number of at least 0 and below 1"),
    (AdamW, {"betas": 0.9}, "betas has to be a pair of numbers, and is 0.9"),
    (AdamW, {"betas": (0.9,)}, "betas has to be a pair of numbers, and is (0.9,)"),
    (SGD, {"momentum": 1}, "momentum has to be a number of at least 0 and below 1, and is 1"),
    (SGD, {"dampening": 1.5}, "dampening has to be a number from 0 to 1, and is 1.5"),
    (SGD, {"nesterov": True}, "nesterov needs a momentum above 0 and a dampening of 0"),
    (
        SGD,
        {"nesterov": True, "momentum": 0.9, "dampening": 0.1},
        "nesterov needs a momentum above 0 and a dampening of 0",
    ),
    (RMSProp, {"alpha": 1.0}, "alpha has to be a number of at least 0 and below 1, and is 1.0"),
    (AdaGrad, {"eps": None}, "eps has to be a number of at least 0 and finite, and is None"),
]


@pytest.mark.parametrize(("kind", "settings", "sentence"), REFUSED)
def test_bad_settings_are_refused(kind, settings, sentence):
    with pytest.raises(ValueError) as refusal:
        kind([nn.Parameter(torch.ones(2))], **settings)
    assert str(refusal.value).startswith(sentence)
    with pytest.raises(ValueError):  # also those of a single group
        kind([{"params": [nn.Parameter(torch.ones(2))], **settings}])


def test_sparse_gradients_are_refused():
    table = nn.Embedding(10, 3, sparse=True)
    optimizer = AdamW(table.parameters())
    table(torch.tensor([1, 2])).sum().backward()
    with pytest.raises(ValueError, match="AdamW takes dense gradients of real numbers"):
        optimizer.step()
