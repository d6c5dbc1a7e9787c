"""The meter's formulas against numbers that count their own multiplications and additions.

Each definition is run on such numbers, has to find what torch finds, and counts as many FLOPs as
the meter books for torch's operators, forward and backward.
"""

import itertools

import pytest
import torch
from torch import nn
from torch.nn import functional

from lecture.lib import counting, optim
from lecture.lib.counting import Count
from trace.costs import measure

B, T, D, K, H = 2, 3, 4, 5, 2


def drawn(*shape):
    generator = torch.Generator().manual_seed(sum(shape))
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


def batched(define):
    """A definition for each of a batch."""
    return lambda *stacks: [define(*one) for one in zip(*stacks, strict=True)]


def matrix_of(vector):
    return [[number] for number in vector]


def heads(define):
    return batched(batched(define))


def grouped(x, w):
    """Convolve each half of the planes by its half of the kernels."""
    n, m = len(x) // 2, len(w) // 2
    return counting.convolution(x[:n], w[:m]) + counting.convolution(x[n:], w[m:])


def padded(x, w):
    zero = x[0][0][0].through(0.0, ())  # multiplied, and given a gradient, like all others
    wide = [[[zero, *row, zero] for row in plane] for plane in x]
    blank = [zero] * len(wide[0][0])
    return counting.convolution([[blank, *plane, blank] for plane in wide], w)


def bilinear(x, y, w):
    """Both factors of each row meet each of the matrices: first x, then y."""
    return [
        [counting.dot(counting.matmul([one], matrix)[0], other) for matrix in w]
        for one, other in zip(x, y, strict=True)
    ]


def recurrent(x, from_input, from_state):
    layer = nn.LSTM(D, K, bias=False, dtype=torch.float64)
    pair = {"weight_ih_l0": from_input, "weight_hh_l0": from_state}
    return torch.func.functional_call(layer, pair, x)[0]


# torch's operation, its definition, the shapes of its arguments
DEFINITIONS = {
    "mm": (torch.mm, counting.matmul, [(B, D), (D, K)]),
    "@": (lambda x, w: x @ w, counting.matmul, [(B, D), (D, K)]),
    "linear": (
        functional.linear,
        lambda x, w: counting.matmul(x, counting.transpose(w)),
        [(B, D), (K, D)],
    ),
    "linear with bias": (
        functional.linear,
        lambda x, w, b: counting.matmul(x, counting.transpose(w), b),
        [(B, D), (K, D), (K,)],
    ),
    "addmm": (lambda b, x, w: torch.addmm(b, x, w), lambda b, x, w: counting.matmul(x, w, b),
              [(K,), (B, D), (D, K)]),
    "bmm": (torch.bmm, batched(counting.matmul), [(B, T, D), (B, D, K)]),
    "baddbmm": (
        torch.baddbmm,
        batched(lambda b, x, w: counting.matmul(x, w, b[0])),
        [(B, 1, K), (B, T, D), (B, D, K)],
    ),
    "einsum": (
        lambda x, w: torch.einsum("btd,bkd->btk", x, w),
        batched(lambda x, w: counting.matmul(x, counting.transpose(w))),
        [(B, T, D), (B, K, D)],
    ),
    "mv": (torch.mv, lambda x, v: [counting.dot(row, v) for row in x], [(T, D), (D,)]),
    "addmv": (
        torch.addmv,
        lambda b, x, v: [counting.dot(row, v, start) for row, start in zip(x, b, strict=True)],
        [(T,), (T, D), (D,)],
    ),
    "dot": (torch.dot, counting.dot, [(D,), (D,)]),
    "addbmm": (
        torch.addbmm,
        lambda b, x, w: counting.matmul(
            [list(itertools.chain(*(part[row] for part in x))) for row in range(len(x[0]))],
            list(itertools.chain(*w)),
            b[0],
        ),
        [(1, K), (B, T, D), (B, D, K)],
    ),
    "bilinear": (functional.bilinear, bilinear, [(T, D), (T, K), (B, D, K)]),
    "conv2d": (functional.conv2d, lambda x, w: [counting.convolution(one, w) for one in x],
               [(B, 2, 4, 5), (3, 2, 2, 3)]),
    "conv2d, stride 2": (
        lambda x, w: functional.conv2d(x, w, stride=2),
        lambda x, w: [counting.convolution(one, w, 2) for one in x],
        [(B, 2, 5, 5), (3, 2, 2, 3)],
    ),
    "conv2d, padded": (
        lambda x, w: functional.conv2d(x, w, padding=1),
        lambda x, w: [padded(one, w) for one in x],
        [(B, 2, 3, 3), (3, 2, 2, 2)],
    ),
    "conv2d, groups": (
        lambda x, w: functional.conv2d(x, w, groups=2),
        lambda x, w: [grouped(one, w) for one in x],
        [(B, 4, 4, 4), (6, 2, 3, 3)],
    ),
    "conv1d": (
        functional.conv1d,
        lambda x, w: [
            [
                plane[0]
                for plane in counting.convolution(
                    [[row] for row in one], [[[row] for row in kernel] for kernel in w]
                )
            ]
            for one in x
        ],
        [(B, 2, 6), (3, 2, 3)],
    ),
    "attention written out": (
        lambda q, k, v: (q @ k.mT / D**0.5).softmax(-1) @ v,
        heads(counting.attention),
        [(B, H, T, D)] * 3,
    ),
    "attention": (
        functional.scaled_dot_product_attention,
        heads(counting.attention),
        [(B, H, T, D)] * 3,
    ),
    "LSTM": (recurrent, counting.lstm, [(T, D), (4 * K, D), (4 * K, K)]),
}  # fmt: skip
COMPUTED_AGAIN = {"attention": 2 * B * H * T * T * D}
"""A fused backward pass computes its scores a second time."""
ELEMENTWISE_BACKWARD = {"mv": "the matrix", "addmv": "the matrix", "dot": "both vectors"}
"""Where a gradient is an outer product or a scaled vector, which torch multiplies elementwise."""


@pytest.mark.parametrize("name", DEFINITIONS)
def test_a_definition_counts_the_flops_of_the_meter(name):
    operation, define, shapes = DEFINITIONS[name]
    tensors = [drawn(*shape).requires_grad_() for shape in shapes]
    count = Count()
    numbers = [count.numbers(tensor.tolist()) for tensor in tensors]
    with measure() as forward:
        result = operation(*tensors)
    defined = define(*numbers)
    found = torch.tensor(counting.values(defined), dtype=torch.float64)
    assert torch.allclose(found, result, atol=1e-12)
    assert count.flops == forward.matmul_flops
    assert count.multiplications == count.additions

    with measure() as backward:
        result.sum().backward()
    before = count.flops
    for number in (results := counting.flat(defined)):
        number.gradient = 1.0
    counting.backward(results)
    for tensor, inputs in zip(tensors, numbers, strict=True):
        gradients = torch.tensor([number.gradient for number in counting.flat(inputs)])
        assert torch.allclose(gradients.double(), tensor.grad.flatten(), atol=1e-6)
    counted = count.flops - before + COMPUTED_AGAIN.get(name, 0)
    if name in ELEMENTWISE_BACKWARD:
        assert backward.matmul_flops < counted
    elif name == "bilinear":  # whose gradients torch finds by other products, some of them twice
        assert backward.matmul_flops > counted
    else:
        assert counted == backward.matmul_flops


def test_an_lstm_that_is_one_operator():
    """In fp32 the CPU has one kernel for all steps, which finds the first state's gradient too."""
    x, from_input, from_state = (
        drawn(*shape).float() for shape in ((T, 1, D), (4 * K, D), (4 * K, K))
    )
    layer = nn.LSTM(D, K, bias=False)
    layer.weight_ih_l0, layer.weight_hh_l0 = nn.Parameter(from_input), nn.Parameter(from_state)
    with measure() as forward:
        result = layer(x.requires_grad_())[0]
    with measure() as backward:
        result.sum().backward()
    count = Count()
    numbers = [count.numbers(one.tolist()) for one in (x[:, 0], from_input, from_state)]
    states = counting.lstm(*numbers, state=count.numbers([0.0] * K))
    assert torch.allclose(torch.tensor(counting.values(states)), result[:, 0], atol=1e-6)
    assert count.flops == forward.matmul_flops
    for number in (results := counting.flat(states)):
        number.gradient = 1.0
    counting.backward(results)
    assert count.flops == forward.matmul_flops + backward.matmul_flops


def test_a_count_can_be_wrong():
    """A definition that leaves an addition out is noticed."""
    count = Count()
    x, w = count.numbers([[1.0, 2.0]]), count.numbers([[3.0], [4.0]])
    total = x[0][0] * w[0][0] + x[0][1] * w[1][0]  # it does not begin at zero
    with measure() as cost:
        result = torch.tensor([[1.0, 2.0]]) @ torch.tensor([[3.0], [4.0]])
    assert total.value == result.item()
    assert count.flops == cost.matmul_flops - 1


def test_looking_up_is_free_and_its_gradients_are_added_to_their_rows():
    table = drawn(7, D).requires_grad_()
    places = torch.tensor([3, 0, 3])
    with measure() as forward:
        rows = functional.embedding(places, table)
    assert forward.matmul_flops + forward.other_flops == 0
    arriving = drawn(3, D)
    with measure() as backward:
        rows.backward(arriving)
    count = Count()
    gradient = count.numbers([[0.0] * D for _ in range(7)])
    for place, added in zip(places.tolist(), count.numbers(arriving.tolist()), strict=True):
        gradient[place] = [one + other for one, other in zip(gradient[place], added, strict=True)]
    assert torch.allclose(torch.tensor(counting.values(gradient)).double(), table.grad, atol=1e-6)
    assert (count.flops, backward.matmul_flops) == (backward.other_flops, 0)


LR, MU, DECAY = 0.1, 0.9, 0.01


def plain(w, g, v, rate, mu, decay):
    return w + rate * g


def heavy(w, g, v, rate, mu, decay):
    return w + rate * (mu * v + g)


def nesterov(w, g, v, rate, mu, decay):
    return w + rate * (g + mu * (mu * v + g))


def decaying(w, g, v, rate, mu, decay):
    return w + rate * (g + decay * w)


# settings of both SGDs -> what a step makes of a weight, a gradient and a velocity
STEPS = [
    ({}, plain),
    ({"momentum": MU}, heavy),
    ({"momentum": MU, "nesterov": True}, nesterov),
    ({"weight_decay": DECAY}, decaying),
]


@pytest.mark.parametrize("make", [torch.optim.SGD, optim.SGD], ids=["torch's", "ours"])
@pytest.mark.parametrize(("settings", "define"), STEPS, ids=[step[1].__name__ for step in STEPS])
def test_an_optimizer_without_roots_counts_as_its_definition(make, settings, define):
    weight = drawn(3, D).requires_grad_()
    options = {"foreach": False} if make is torch.optim.SGD else {}
    optimizer = make([weight], lr=LR, **settings, **options)
    weight.grad = drawn(3, D)
    optimizer.step()  # the first makes the velocity
    kept = [state for state in optimizer.state[weight].values() if torch.is_tensor(state)]
    before = [weight.detach(), weight.grad, *kept, weight.grad][
        :3
    ]  # a velocity, or none that counts
    count = Count()
    triples = zip(*(counting.flat(count.numbers(one.tolist())) for one in before), strict=True)
    rate, mu, decay = count.numbers([-LR, MU, DECAY])
    with measure() as cost:
        optimizer.step()
    found = [define(*triple, rate, mu, decay).value for triple in triples]
    assert torch.allclose(torch.tensor(found, dtype=torch.float64), weight.detach().flatten())
    assert count.flops == cost.other_flops
    assert cost.matmul_flops == 0
