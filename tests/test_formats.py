"""Reading and writing numbers by hand agrees with PyTorch on every pattern there is to try."""

import pytest
import torch

from lecture.part3_tensors.m06_floating_point import (
    BF16,
    E4M3,
    E5M2,
    FP16,
    FP32,
    FP64,
    UNSIGNED,
    Format,
    every_value,
    pack,
    rounded_to,
    unpack,
)


def assert_same_numbers(by_hand: list[float], by_torch: torch.Tensor) -> None:
    """NaN where NaN is, and elsewhere the same bits: `==` does not see the sign of a zero."""
    read = torch.tensor(by_hand, dtype=torch.float64)
    assert torch.equal(read.isnan(), by_torch.isnan())
    numbers = ~by_torch.isnan()
    assert torch.equal(read[numbers].view(torch.int64), by_torch[numbers].view(torch.int64))


@pytest.mark.parametrize("form", [FP16, BF16, E4M3, E5M2], ids=lambda form: form.name)
def test_every_pattern_of_a_short_format_is_read_as_torch_reads_it(form: Format):
    by_hand = [unpack(pattern, form) for pattern in range(2**form.bits)]
    assert_same_numbers(by_hand, every_value(form.dtype))


@pytest.mark.parametrize(("form", "integer"), [(FP32, torch.int32), (FP64, torch.int64)])
def test_random_patterns_of_a_long_format_are_read_as_torch_reads_them(form, integer):
    ends = torch.iinfo(integer)
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randint(ends.min, ends.max, (1000,), dtype=integer, generator=generator)
    by_hand = [unpack(pattern % 2**form.bits, form) for pattern in patterns.tolist()]
    assert_same_numbers(by_hand, patterns.view(form.dtype).double())


def numbers_of_all_sizes() -> torch.Tensor:
    return torch.randn(1000, generator=torch.Generator().manual_seed(0)).mul(3).exp()


def ties_of_fp16() -> torch.Tensor:
    """The middle between each two neighbours."""
    positive = every_value(torch.float16)[: FP16.largest_pattern + 1]
    return ((positive[1:] + positive[:-1]) / 2).float()


@pytest.mark.parametrize(
    ("form", "wanted"),
    [
        (FP16, ties_of_fp16()),
        (FP16, numbers_of_all_sizes()),
        (BF16, -numbers_of_all_sizes()),
        (E5M2, numbers_of_all_sizes()),
        (FP16, torch.tensor([0.0, -0.0])),
        (FP32, torch.tensor([0.0, -0.0])),
    ],
    ids=["ties of fp16", "fp16", "bf16", "E5M2", "zeros of fp16", "zeros of fp32"],
)
def test_numbers_are_rounded_as_torch_rounds_them(form, wanted):
    by_hand = [pack(value, form) for value in wanted.tolist()]
    assert by_hand == wanted.to(form.dtype).view(UNSIGNED[form.bits // 8]).tolist()


def test_ties_go_to_the_even_pattern():
    ties = ties_of_fp16()
    assert all(pattern % 2 == 0 for pattern in ties.half().view(torch.uint16).tolist())
    assert (ties.half() > ties).tolist() == [False, True] * 15_871 + [False]


@pytest.mark.parametrize("x", [numbers_of_all_sizes(), -numbers_of_all_sizes()], ids=["+", "-"])
def test_dropping_bits_after_adding_half_a_step_rounds_as_torch_does(x):
    assert torch.equal(rounded_to(x, BF16.fraction_bits), x.bfloat16().float())


def test_dropping_bits_rounds_ties_to_even():
    ties = torch.tensor([1 + 2**-8, 1 + 3 * 2**-8])
    assert rounded_to(ties, BF16.fraction_bits).tolist() == [1, 1 + 2**-6]
