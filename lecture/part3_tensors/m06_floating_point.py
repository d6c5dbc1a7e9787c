"""Floating-point formats: what a number's bits say, and what each format cannot say."""

import math
from dataclasses import dataclass
from fractions import Fraction

import torch
from einops import rearrange, reduce
from jaxtyping import Float, Shaped
from torch import Tensor

from lecture.facts import (
    GPT3_TRAINING_TOKENS,
    H100_SXM,
    MXFP4_BLOCK_VALUES,
    NVFP4_BLOCK_VALUES,
)
from lecture.lib.hardware import AMPERE, gpu_is_at_least
from lecture.lib.rounding import relative_error
from lecture.lib.shapes import shape_checked
from lecture.part3_tensors import m06_figures as figures
from trace.costs import measure

UNSIGNED = {1: torch.uint8, 2: torch.uint16, 4: torch.uint32, 8: torch.uint64}


@dataclass(frozen=True)
class Format:
    """How a number format divides its bits, and which patterns it sets aside."""

    name: str
    exponent_bits: int
    fraction_bits: int
    dtype: torch.dtype | None  # as which PyTorch stores single numbers of it
    set_aside: str = "the top exponent"  # for infinity and NaN; or "all ones", or "nothing"

    @property
    def bits(self) -> int:  # @stepover
        return 1 + self.exponent_bits + self.fraction_bits

    @property
    def bias(self) -> int:  # @stepover
        return 2 ** (self.exponent_bits - 1) - 1

    @property
    def largest_pattern(self) -> int:  # @stepover
        """The pattern of the largest finite number."""
        if self.set_aside == "the top exponent":
            return (2**self.exponent_bits - 1 << self.fraction_bits) - 1
        return 2 ** (self.bits - 1) - (2 if self.set_aside == "all ones" else 1)


FP64 = Format("fp64", 11, 52, torch.float64)
FP32 = Format("fp32", 8, 23, torch.float32)
TF32 = Format("tf32", 8, 10, None)
FP16 = Format("fp16", 5, 10, torch.float16)
BF16 = Format("bf16", 8, 7, torch.bfloat16)
E4M3 = Format("fp8 E4M3", 4, 3, torch.float8_e4m3fn, "all ones")
E5M2 = Format("fp8 E5M2", 5, 2, torch.float8_e5m2)
E2M1 = Format("fp4 E2M1", 2, 1, None, "nothing")
FORMATS = (FP64, FP32, TF32, FP16, BF16, E4M3, E5M2, E2M1)
STORED = tuple(form for form in FORMATS if form.dtype is not None)


@shape_checked
def pattern_of(x: Shaped[Tensor, ""]) -> int:  # @stepover
    """Read the bits of one number as an integer, without converting anything."""
    return x.view(UNSIGNED[x.element_size()]).item()


def value_of(pattern: int, dtype: torch.dtype) -> float:  # @stepover
    """Let PyTorch read an integer's bits as a number of this dtype."""
    return torch.tensor(pattern, dtype=UNSIGNED[dtype.itemsize]).view(dtype).item()


def every_value(dtype: torch.dtype) -> Float[Tensor, " n"]:  # @stepover
    """Return what PyTorch reads in every pattern of at most 16 bits, in the patterns' order."""
    return torch.arange(2 ** (8 * dtype.itemsize)).to(UNSIGNED[dtype.itemsize]).view(dtype).double()


def bit_text(pattern: int, form: Format) -> str:  # @stepover
    """Write a pattern as sign, exponent and fraction."""
    digits = f"{pattern:0{form.bits}b}"
    cut = 1 + form.exponent_bits
    return f"{digits[0]} {digits[1:cut]} {digits[cut:]}"


def unpack(pattern: int, form: Format) -> float:
    """Read a pattern by hand."""
    fraction = pattern % 2**form.fraction_bits
    field = (pattern >> form.fraction_bits) % 2**form.exponent_bits
    sign = -1.0 if pattern >> (form.bits - 1) else 1.0
    if pattern % 2 ** (form.bits - 1) > form.largest_pattern:
        with_infinity = form.set_aside == "the top exponent"
        return sign * (math.inf if with_infinity and fraction == 0 else math.nan)
    if field == 0:
        return sign * (fraction / 2**form.fraction_bits) * 2.0 ** (1 - form.bias)
    return sign * (1 + fraction / 2**form.fraction_bits) * 2.0 ** (field - form.bias)


def pack(value: float, form: Format) -> int:
    """Round to the nearest number of the format, to the even pattern in a tie; give its pattern."""
    _, power = math.frexp(value)
    exponent = max(power - 1, 1 - form.bias)
    # Between two powers of two the numbers lie at equal steps; Python rounds ties to even.
    steps = round(abs(value) / 2.0 ** (exponent - form.fraction_bits))
    # The hidden one is among the steps, and adds 1 to the exponent field. So does rounding up to
    # the next power of two.
    pattern = (exponent + form.bias - 1) * 2**form.fraction_bits + steps
    sign = math.copysign(1, value) < 0
    # Beyond the last number comes infinity. A format without one stops at its largest.
    with_infinity = form.set_aside == "the top exponent"
    pattern = min(pattern, form.largest_pattern + with_infinity)
    return sign * 2 ** (form.bits - 1) + pattern


def a_number_is_sign_exponent_and_fraction():  # M6.1
    """A number is sign, exponent and fraction.

    How can the same 16 bits hold one number near a thousandth and another near ten thousand? In the
    way of scientific notation: a sign, a few significant digits, and a power that puts the point in
    its place. In base 2, -13 is $-1101_2 = -1.101_2·2^3$.
    """
    x = torch.tensor(-13.0, dtype=torch.float16)
    # Its sixteen bits, read as an integer: one for the sign, five for the exponent, ten for the
    # fraction, which are the digits after the point.
    pattern = pattern_of(x)
    assert pattern == 0b1_10010_1010000000
    assert bit_text(pattern, FP16) == "1 10010 1010000000"
    fields = figures.bit_fields({"-13 in fp16": bit_text(pattern, FP16)})  # @inspect fields
    sign, exponent, fraction = pattern >> 15, (pattern >> 10) & 0b11111, pattern & 0b1111111111
    assert (sign, exponent) == (1, 18)
    # The fraction is 0.101 in base 2: a half and an eighth.
    assert fraction / 2**10 == 1 / 2 + 1 / 8
    # Back to a number. Two details are left for the next sections: where the 1 before the point
    # comes from, and why 15 is subtracted.
    by_hand = (-1) ** sign * (1 + fraction / 2**10) * 2.0 ** (exponent - 15)  # @inspect by_hand
    assert by_hand == x.item()


def every_format_divides_its_bits_its_own_way():  # M6.1
    """Every format divides its bits its own way.

    If the idea is always the same, why does this chapter need eight formats? Because bits cost
    memory and time. Exponent bits buy range, fraction bits buy resolution, and each format spends
    differently. E4M3 has four bits of exponent and three of fraction, also called *mantissa*.
    """
    bit_counts = {form.name: form.bits for form in FORMATS}  # @inspect bit_counts
    assert list(bit_counts.values()) == [64, 32, 19, 16, 16, 8, 8, 4]
    # Ranges and resolutions come back: TF32 takes the range of bf16 and the resolution of fp16.
    assert (TF32.exponent_bits, TF32.fraction_bits) == (BF16.exponent_bits, FP16.fraction_bits)
    # Six of them are dtypes of PyTorch and can be measured. The size of an element gives all bits;
    # `eps`, the step from 1 to the next larger number, gives those of the fraction.
    for form in STORED:
        assert torch.empty((), dtype=form.dtype).element_size() * 8 == form.bits
        assert torch.finfo(form.dtype).eps == 2.0**-form.fraction_bits
    # All eight, with π in them: a filled box is a one. The digits of π stand under each other, as
    # far as a format goes, and the last one is rounded. The eighth to the tenth are 0, so bf16 is
    # no worse here than fp16.
    patterns = {form.name: pack(math.pi, form) for form in FORMATS}  # @stepover
    layouts = figures.layouts(
        {form.name: bit_text(patterns[form.name], form) for form in FORMATS},
        {form.name: f"{unpack(patterns[form.name], form):.10g}" for form in FORMATS},
    )  # @inspect layouts @stepover
    # `pack` rounds by hand and `unpack` reads by hand. For π they agree with PyTorch; sections
    # below try them on all patterns of 8 and 16 bits.
    for form in STORED:
        assert patterns[form.name] == pattern_of(torch.tensor(math.pi, dtype=form.dtype))
    # In the four bits of fp4, π is 3.
    assert unpack(patterns["fp4 E2M1"], E2M1) == 3  # @stepover


def exponents_are_stored_with_a_bias():  # M6.5
    """Exponents are stored with a bias.

    How does a field that counts from 0 say that an exponent is negative? A constant is subtracted
    from it, the *bias*. It lies in the middle of what the field can hold: $2^{k-1}-1$ for k bits.
    """
    # $1=1·2^0$ has exponent 0, so what stands in its exponent field is the bias.
    biases = {}
    for form in STORED:
        one = pattern_of(torch.ones((), dtype=form.dtype))
        biases[form.name] = one >> form.fraction_bits  # @inspect biases
        assert biases[form.name] == form.bias
    assert list(biases.values()) == [1023, 127, 15, 127, 7, 15]
    # Why not a sign bit for the exponent? Because this way larger positive numbers have larger
    # patterns. To compare them, compare integers; the next number is the next integer.
    values = every_value(torch.float16)[: 2**15]
    numbers = values[values.isfinite()]
    assert len(numbers) == 31_744
    assert (numbers.diff() > 0).all()
    # That includes the steps from one exponent to the next: after 1.999 comes 2.
    before_two, two = numbers[2**14 - 1].item(), numbers[2**14].item()  # @inspect before_two two
    assert two == 2
    assert before_two == 2 - 2**-10


def two_exponent_fields_are_reserved():  # M6.5 E18
    """Two exponent fields are reserved.

    Where are zero, infinity and "not a number"? None of them is a one followed by digits. They have
    the two ends of the exponent field: all zeros for zero and the numbers next to it, all ones for
    infinity, and for NaN, the result of 0/0.
    """
    patterns = torch.arange(2**16)
    values = every_value(torch.float16)
    fields = (patterns >> 10) & 0b11111
    # A common mistake is to write one digit too many, and reserve 111111. Five bits end at 11111,
    # which is 31.
    assert fields.max() == 0b11111 < 0b111111
    assert torch.equal(values.isfinite(), fields < 0b11111)
    normal = values[(fields > 0) & (fields < 0b11111)].abs()
    assert (values[fields == 0].abs() < normal.min()).all()
    # In between, the exponents that are left run from -14 to 15.
    assert math.log2(normal.min()) == -14
    assert math.floor(math.log2(normal.max())) == 15
    # Of 65 536 patterns, 63 488 are numbers (zero twice, with either sign) and 2 are infinite. NaN
    # has all others, a waste that eight bits can hardly afford.
    counts = [values.isfinite().sum(), values.isinf().sum(), values.isnan().sum()]
    assert counts == [63_488, 2, 2 * (2**10 - 1)]  # @inspect counts
    # The patterns at both ends of the fields.
    ends = {
        "smallest positive, 2⁻²⁴": 0b0_00000_0000000001,
        "smallest with a leading one, 2⁻¹⁴": 0b0_00001_0000000000,
        "largest, 65504": 0b0_11110_1111111111,
        "infinity": 0b0_11111_0000000000,
        "NaN, one of 2046": 0b0_11111_0000000001,
    }
    found = [value_of(pattern, torch.float16) for pattern in ends.values()]  # @inspect found
    assert found[:4] == [2**-24, 2**-14, 65504, math.inf]
    assert math.isnan(found[4])
    end_fields = figures.bit_fields(
        {name: bit_text(pattern, FP16) for name, pattern in ends.items()}
    )  # @inspect end_fields


def the_leading_one_is_not_stored():  # M6.6
    """The leading one is not stored.

    How do ten stored digits make eleven significant ones? The first digit of scientific notation is
    never 0. In base 2 it is then a 1, always, and nobody has to write it down: the *hidden one*.
    """
    # The largest number below 2 has a fraction of ten ones, $1/2+1/4+...+1/1024$.
    below_two = value_of(0b0_01111_1111111111, torch.float16)
    halves = [Fraction(1, 2**place) for place in range(1, 11)]
    assert sum(halves) == Fraction(1023, 1024)
    assert below_two == 1 + sum(halves)  # @inspect below_two
    # So each fraction gives one number from 1 to below 2: 1024 of them in fp16, 128 in bf16. From
    # 2 to below 4 there are as many, twice as far apart.
    counts = {}
    for form in (FP16, BF16):
        values = every_value(form.dtype)
        for low in (1, 2):
            inside = values[(values >= low) & (values < 2 * low)]
            counts[form.name, low] = len(inside)  # @inspect counts
            assert (inside.diff() == low * 2.0**-form.fraction_bits).all()
    assert list(counts.values()) == [1024, 1024, 128, 128]
    # So the spacing doubles at each power of two. Relative to the numbers it stays the same, but
    # for a factor of two. In eight bits it can be drawn.
    rows = {
        form.name: {"representable": every_value(form.dtype)[: 2**7].tolist()}
        for form in (E4M3, E5M2)
    }
    spacing = figures.number_line(
        "Spacing near 1", rows, {"0.5": 0.5, "1": 1, "2": 2, "3": 3, "4": 4}
    )  # @inspect spacing
    drawn = [value for value in rows["fp8 E4M3"]["representable"] if 0.5 <= value < 4]
    assert len(drawn) == 3 * 8
    assert len(rows["fp8 E4M3"]["representable"]) == 2**8 / 2


def subnormals_reach_down_to_zero():  # M6.6 E19 E20 E22
    """Subnormals reach down to zero.

    What lies between 0 and the smallest number with a hidden one? Nothing, if all numbers had one:
    a gap much wider than the steps above it. So in the lowest exponent field the one is left out.
    The numbers of that field, the *subnormals*, continue the last spacing down to zero.
    """
    values = every_value(torch.float8_e4m3fn)
    small = values[: 2**7][values[: 2**7] <= 2**-5]
    first_normal = value_of(0b0_0001_000, torch.float8_e4m3fn)
    rows = {
        "fp8 E4M3": {
            "with hidden one": small[small >= first_normal].tolist(),
            "subnormal": small[small < first_normal].tolist(),
        }
    }
    near_zero = figures.number_line(
        "Spacing near 0", rows, {"0": 0, "2⁻⁷": 2**-7, "2⁻⁶": 2**-6, "2⁻⁵": 2**-5}
    )  # @inspect near_zero
    assert [len(values) for values in rows["fp8 E4M3"].values()] == [9, 8]
    # The step no longer shrinks with the numbers, so they lose a significant digit with each
    # halving.
    assert first_normal == 2**-6
    assert (small[small <= 2 * first_normal].diff() == 2**-9).all()
    # A common mistake is to give subnormals the exponent that the field 0 seems to say, 0 - 15.
    # They share the exponent of the field above it, 1 - 15 = -14. The smallest fp16 number is:
    smallest = value_of(0b0_00000_0000000001, torch.float16)  # @inspect smallest
    assert smallest == 2**-10 * 2**-14 == 2**-24
    assert smallest != 2**-10 * 2**-15
    # Another is to give the smallest numbers a sign bit of 1, since something about them is below
    # zero. That is their exponent; the sign bit makes the number negative. Nor are they the minimum
    # of the format: that is at the other end.
    assert value_of(0b1_00001_0000000000, torch.float16) == -(2**-14)
    assert every_value(torch.float16).nan_to_num(neginf=0).min() == -65504
    # What subnormals are good for: `x - y` is 0 only if x equals y. Here the difference of two
    # neighbours is far below the smallest number with a hidden one, and still there. (Processors
    # can be told to take subnormals for 0, which is faster; then it would be 0.)
    x = torch.tensor([2**-14 + 2**-24, 2**-14], dtype=torch.float16)
    assert x[0] - x[1] == 2**-24


def reading_by_hand_agrees_on_every_pattern():  # M6.1
    """Reading by hand agrees on every pattern.

    Do the rules so far leave anything out? Up to 16 bits there are few enough patterns to try all
    of them: read each by hand, and compare with what PyTorch reads in the same bits.
    """
    # One by hand, to step through: exponent field 3, fraction 5/8.
    assert unpack(0b0_0011_101, E4M3) == (1 + 5 / 8) * 2 ** (3 - 7)
    compared = 0
    for form in (FP16, BF16, E4M3, E5M2):
        by_hand = [unpack(pattern, form) for pattern in range(2**form.bits)]  # @stepover
        by_hand = torch.tensor(by_hand, dtype=torch.float64)
        by_torch = every_value(form.dtype)
        assert torch.equal(by_hand.isnan(), by_torch.isnan())
        # Compared as integers, since `==` does not see that a zero has a sign, too.
        numbers = torch.stack([by_hand, by_torch])[:, ~by_torch.isnan()].view(torch.int64)
        assert torch.equal(numbers[0], numbers[1])
        compared += len(by_hand)
    assert compared == 2 * 2**16 + 2 * 2**8  # @inspect compared
    # For the long formats, a thousand patterns at random. Their NaNs are left out.
    generator = torch.Generator().manual_seed(0)
    for form, integer in ((FP32, torch.int32), (FP64, torch.int64)):
        ends = torch.iinfo(integer)
        patterns = torch.randint(ends.min, ends.max, (1000,), dtype=integer, generator=generator)
        by_torch = patterns.view(form.dtype).double()
        by_hand = [
            unpack(pattern % 2**form.bits, form) for pattern in patterns.tolist()
        ]  # @stepover
        by_hand = torch.tensor(by_hand, dtype=torch.float64)
        numbers = torch.stack([by_hand, by_torch])[:, ~by_torch.isnan()].view(torch.int64)
        assert torch.equal(numbers[0], numbers[1])
        assert 900 < numbers.shape[1] <= len(by_hand) == 1000


def digits_by_doubling(value: Fraction, count: int) -> list[int]:  # @stepover
    """Return the first binary digits after the point of a number below 1."""
    digits = []
    for _ in range(count):
        value *= 2
        digits.append(math.floor(value))
        value -= digits[-1]
    return digits


def a_hundredth_has_no_last_digit():  # M6.7 E16 E17
    """A hundredth has no last digit.

    What happens to 0.01? Doubling a number moves its point by one binary digit: what then stands
    before the point, 0 or 1, is the next digit. Take it off and double again.
    """
    digits = digits_by_doubling(Fraction(1, 100), 18)  # @inspect digits
    # The first 1 comes at the seventh doubling: $0.01=1.28·2^{-7}$.
    assert digits.index(1) + 1 == 7
    assert Fraction(1, 100) * 2**7 == Fraction("1.28")
    # This 1 is hidden. The next ten digits are the fraction, and the one after them decides how to
    # round: up, since 0.72 of a last digit is left.
    fraction, following = digits[7:17], digits[-1]
    assert len(fraction) == 10
    rest = Fraction(1, 100) * 2**17 % 1
    assert rest == Fraction(72, 100)
    assert following == 1
    doublings = figures.doublings(Fraction(1, 100), 18, 10)  # @inspect doublings
    # Kept digits, plus one for rounding up; exponent field -7 + 15 = 8.
    by_hand = (8 << 10) + int("".join(map(str, fraction)), base=2) + following
    pattern = pattern_of(torch.tensor(0.01, dtype=torch.float16))
    assert pattern == by_hand == 0b0_01000_0100011111 == 0x211F
    stored = value_of(pattern, torch.float16)  # @inspect stored
    assert stored == 0.01000213623046875
    # A common mistake is to count the six zeros and take -6 for the exponent, so -6 + 15 = 9 for
    # the field (which is 01001, not 001001: it has five bits). That number is twice as large.
    assert value_of(0b0_01001_0100011111, torch.float16) == 2 * stored
    # bf16 has seven digits and rounds differently. No format of base 2 has 0.01, since 100 does not
    # divide any power of 2: from the third on, the digits repeat every twenty, for ever.
    assert pattern_of(torch.tensor(0.01, dtype=torch.bfloat16)) == 0x3C24
    assert value_of(0x3C24, torch.bfloat16) == 0.010009765625
    assert (
        digits_by_doubling(Fraction(1, 100), 42)[2:22]
        == digits_by_doubling(Fraction(1, 100), 42)[22:42]
    )


def rounding_goes_to_the_nearest_and_ties_to_even():  # M6.1
    """Rounding goes to the nearest, and ties to even.

    Which number is stored when the one we want lies between two? The nearer one. If both are
    equally near, the one whose last bit is 0: half of the ties go up and half down, and a sum of
    many roundings does not drift.
    """
    step = 2**-10
    x = 1 + step * torch.tensor([0.5, 1.5, 2.5, 2.501])
    rounded = x.half().tolist()  # @inspect rounded
    assert rounded == [1, 1 + 2 * step, 1 + 2 * step, 1 + 3 * step]
    # Writing a number by hand is finding its exponent, counting steps and rounding the count. A
    # carry into the exponent field is right as it is: after 1.999 comes 2.
    assert pack(1.9999, FP16) == pattern_of(torch.tensor(2.0).half())
    # Random numbers of all sizes, and all ties between neighbours of fp16, are written as PyTorch
    # writes them.
    generator = torch.Generator().manual_seed(0)
    numbers = torch.randn(1000, generator=generator).mul(3).exp()
    positive = every_value(torch.float16)[: FP16.largest_pattern + 1]
    ties = ((positive[1:] + positive[:-1]) / 2).float()
    assert len(ties) == 31_743
    for form, wanted in ((FP16, ties), (FP16, numbers), (BF16, -numbers), (E5M2, numbers)):
        by_hand = [pack(value, form) for value in wanted.tolist()]  # @stepover
        bits = wanted.to(form.dtype).view(UNSIGNED[form.bits // 8])
        assert by_hand == bits.tolist()
    # Ties never end on an odd pattern, so every second one goes up.
    assert all(pattern % 2 == 0 for pattern in ties.half().view(torch.uint16).tolist())
    assert (ties.half() > ties).tolist() == [False, True] * 15_871 + [False]


def the_exponent_is_range_and_the_fraction_resolution():  # M6.2
    """The exponent is range, the fraction resolution.

    What does a format give for its bits? Three numbers say it: the largest, the smallest with a
    hidden one, and *eps*, the step from 1 to the next. By hand they are three patterns.
    """
    by_hand = {}
    for form in STORED:
        one = form.bias << form.fraction_bits
        by_hand[form.name] = (
            unpack(form.largest_pattern, form),
            unpack(1 << form.fraction_bits, form),
            unpack(one + 1, form) - unpack(one, form),
        )  # @inspect by_hand @stepover
        limits = torch.finfo(form.dtype)
        assert by_hand[form.name] == (limits.max, limits.smallest_normal, limits.eps)
    # fp16 resolves better than bf16, and bf16 reaches as far as fp32: to 3.4e38, and down to
    # 1.2e-38.
    assert by_hand["fp16"] == (65504, 2**-14, 2**-10)
    assert by_hand["bf16"] == ((2 - 2**-7) * 2.0**127, 2**-126, 2**-7)
    assert by_hand["fp32"] == ((2 - 2**-23) * 2.0**127, 2**-126, 2**-23)
    assert by_hand["fp8 E4M3"] == (448, 2**-6, 2**-3)
    assert by_hand["fp8 E5M2"] == (57344, 2**-14, 2**-2)
    assert f"{by_hand['fp32'][0]:.4e} {by_hand['bf16'][0]:.4e}" == "3.4028e+38 3.3895e+38"
    assert f"{by_hand['bf16'][1]:.4e}" == "1.1755e-38"
    # The ranges on a logarithmic scale, with the subnormals. fp64 would be eight times as wide as
    # fp32: it ends just below 2 to the 1024th, fp32 below 2 to the 128th.
    ends = {}
    for form in (FP32, BF16, FP16, E5M2, E4M3, E2M1):
        three_patterns = (1, 1 << form.fraction_bits, form.largest_pattern)
        ends[form.name] = [unpack(pattern, form) for pattern in three_patterns]  # @stepover
    ranges = figures.ranges(ends)  # @inspect ranges
    assert ends["fp16"] == [2**-24, 2**-14, 65504]
    powers = [math.frexp(by_hand[name][0])[1] for name in ("fp64", "fp32")]
    assert powers == [1024, 128]


def fp32_counts_to_sixteen_million():  # M6.3
    """fp32 counts to 16 777 216.

    Why is fp32 called "full precision"? In machine learning it is the default, and the most that
    training uses. Scientific computing calls it single, and takes fp64.
    """
    assert torch.zeros(1).dtype == torch.float32
    # 24 significant bits hold every integer up to $2^{24}$. After that the step is 2, and adding 1
    # is a tie that goes back to even.
    counter = torch.tensor(2.0**24)
    assert counter - 1 != counter
    assert counter + 1 == counter  # @inspect counter
    assert counter + 2 == 2**24 + 2
    # So a count of the tokens seen in training belongs in an integer. Counted one by one in fp32,
    # the 300 billion of GPT-3 would have stopped after a small part of a percent.
    counted_share = counter.item() / GPT3_TRAINING_TOKENS  # @inspect counted_share
    assert round(100 * counted_share, 4) == 0.0056
    # fp64 has 53 significant bits. Python's own numbers are fp64, and become fp32 in a tensor: 0.1
    # is then another number, 1.5e-9 larger.
    assert torch.tensor(2.0**24, dtype=torch.float64) + 1 == 2**24 + 1
    assert torch.tensor(2.0**53, dtype=torch.float64) + 1 == 2**53
    tenth = torch.tensor(0.1).item()
    difference = tenth - 0.1  # @inspect difference
    assert round(difference, 11) == 1.49e-9


def fp16_ends_soon_on_both_sides():  # M6.4
    """fp16 ends soon on both sides.

    What goes wrong with an exponent of five bits? Training has small gradients, and sums and
    squares that are large. What is too small becomes 0, which is *underflow*; what is too large
    becomes infinite, which is *overflow*.
    """
    gradient = torch.tensor(1e-8, dtype=torch.float16)  # @inspect gradient
    assert gradient == 0
    # The smallest positive number is $2^{-24}$. Half of it is a tie, and goes to the even side,
    # which is 0; anything above the half goes up.
    small = (torch.tensor([1, 0.5, 0.501]) * 2**-24).half()
    assert small.tolist() == [2**-24, 0, 2**-24]
    # The largest is $(2-2^{-10})·2^{15}$, and up there the step is 32: the pattern before it,
    # 0x7BFE, is that much less. Up to half a step beyond, numbers round back; from 65 520 on they
    # are infinite.
    largest = torch.finfo(torch.float16).max
    assert largest == (2 - 2**-10) * 2**15 == 65504
    assert value_of(FP16.largest_pattern, torch.float16) - 32 == value_of(0x7BFE, torch.float16)
    large = torch.tensor([65519.0, 65520.0]).half()  # @inspect large
    assert large.tolist() == [65504, math.inf]
    # Sums and squares get there quickly. The square of 256 is too much already, and one infinity
    # in a sum spoils it all: infinity minus infinity is NaN.
    squares = torch.tensor([255.0, 256.0], dtype=torch.float16).square()  # @inspect squares
    assert squares.tolist() == [65024, math.inf]
    assert (squares[1] - squares[1]).isnan()


@shape_checked
def rounded_to(x: Float[Tensor, "..."], fraction_bits: int) -> Float[Tensor, "..."]:
    """Round fp32 numbers to fewer fraction bits, ties to even, by integer arithmetic alone."""
    bits = x.view(torch.int32)
    dropped = 23 - fraction_bits
    last_kept = (bits >> dropped) & 1
    almost_half = 2 ** (dropped - 1) - 1
    return ((bits + almost_half + last_kept) >> dropped << dropped).view(torch.float32)


def bf16_is_the_upper_half_of_fp32():  # M6.8
    """bf16 is the upper half of fp32.

    What if a 16-bit format keeps the whole exponent of fp32, and saves on the fraction alone? That
    is bf16, the *brain floating point* of Google Brain, made known in 2018 with Google's
    accelerators. [Kalamkar et al.](https://arxiv.org/abs/1905.12322) showed in 2019 that networks
    train in it with the settings of fp32.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(4096, generator=generator)
    short = x.bfloat16()
    # Back to fp32 loses nothing: sixteen zeros are appended.
    as_integers = short.view(torch.int16).int() << 16
    assert torch.equal(as_integers.view(torch.float32), short.float())
    # From fp32, the simple way is to drop sixteen bits. That always moves towards zero. PyTorch
    # rounds to the nearest: before the bits are dropped, almost half a step is added, and in a tie
    # with an odd number the rest of it.
    truncated = (x.view(torch.int32) >> 16 << 16).view(torch.float32)
    assert torch.equal(rounded_to(x, 7), short.float())
    # Random numbers are hardly ever ties. Here are two: half a step, and one and a half.
    assert rounded_to(torch.tensor([1 + 2**-8, 1 + 3 * 2**-8]), 7).tolist() == [1, 1 + 2**-6]
    # Dropping shrinks numbers by half a step on average. That is a 256th of numbers just above a
    # power of two and half as much below the next, 0.28 % in all. Rounding moves as many up as
    # down.
    shrinkage = 1 - (truncated / x).mean()  # @inspect shrinkage
    rounding_drift = 1 - (short.float() / x).mean()  # @inspect rounding_drift
    assert (truncated.abs() <= x.abs()).all()
    assert round(shrinkage.item(), 4) == round(2**-8 / (2 * math.log(2)), 4) == 0.0028
    assert rounding_drift.abs() < shrinkage / 50
    moved_up = (short.float().abs() > x.abs()).float().mean()
    assert 0.45 < moved_up < 0.55


def bf16_trades_resolution_for_range():  # M6.8 E21 E25
    """bf16 trades resolution for range.

    What did the three bits that moved from the fraction to the exponent buy? Range: what fp16 loses
    at both ends is there.
    """
    small = torch.tensor(1e-8, dtype=torch.bfloat16)
    large = torch.tensor(1e5, dtype=torch.bfloat16)
    assert round(small.item(), 13) == 1.00117e-8  # @inspect small
    assert large == 99_840  # @inspect large
    assert torch.tensor([1e-8, 1e5]).half().tolist() == [0, math.inf]
    # The price shows in the second number: 1e5 is off by 160. A common mistake is to confuse the
    # two, and expect bf16 to tell 1.001 from 1. It is fp16 that does.
    near_one = torch.tensor(1.001)
    assert near_one.bfloat16() == 1
    assert near_one.half() == 1.0009765625
    # Another is to call the resolution "slightly" worse. The step is 8 times that of fp16 and
    # 65 536 times that of fp32.
    eps = {form.name: torch.finfo(form.dtype).eps for form in (BF16, FP16, FP32)}
    assert eps["bf16"] / eps["fp16"] == 8
    assert eps["bf16"] / eps["fp32"] == 65_536
    # In decimal digits, counting the hidden bit: 2.4, 3.3 and 7.2.
    decimal_digits = {name: round(math.log10(2 / step), 1) for name, step in eps.items()}
    assert decimal_digits == {"bf16": 2.4, "fp16": 3.3, "fp32": 7.2}  # @inspect decimal_digits
    # Integers show what that means, the numbers of tokens in a vocabulary, say: from 256 on, bf16
    # does not hold all of them.
    integers = torch.arange(260).bfloat16().long()
    assert (integers == torch.arange(260)).sum() == 258
    assert integers[-4:].tolist() == [256, 256, 258, 260]


def tf32_is_for_computing_not_for_storing():  # M6.9 E7
    """TF32 is for computing, not for storing.

    Why does a format of 19 bits exist, when memory comes in bytes? TF32 is what [tensor
    cores](#tensor_cores_multiply_tiles) of the A100 and later can make of fp32: they read four
    bytes, use the exponent and ten digits of the fraction, and add up in fp32. The tensors stay as
    large as they were.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 256, generator=generator)
    w = torch.randn(256, 64, generator=generator)
    exact = x.double() @ w.double()
    short_x, short_w = rounded_to(x, 10), rounded_to(w, 10)
    assert short_x.untyped_storage().nbytes() == x.untyped_storage().nbytes()
    # The loss of 13 bits in the inputs costs a factor of about a thousand in precision. (About,
    # since what fp32 loses in the sums depends on the order in which a machine adds.) The result is
    # still eight times as fine as that of bf16. (The bits are rounded off here; a card may simply
    # ignore them.)
    errors = {
        "fp32": relative_error(x @ w, exact),
        "tf32": relative_error(short_x @ short_w, exact),
        "bf16": relative_error(rounded_to(x, 7) @ rounded_to(w, 7), exact),
    }  # @inspect errors
    assert math.isclose(errors["tf32"], 2.99e-4, rel_tol=0.01)
    assert 250 < errors["tf32"] / errors["fp32"] < 4000
    assert 7.5 < errors["bf16"] / errors["tf32"] < 8.5
    # A common mistake is to believe that fp32 matrix products use them by default. They keep their
    # precision, and their speed, until TF32 is [asked for](#fp32_gets_tensor_cores_on_request).
    assert torch.get_float32_matmul_precision() == "highest"
    # (Convolutions are the exception: cuDNN may take TF32 unless it is told not to.)
    assert torch.backends.cudnn.allow_tf32
    if gpu_is_at_least(AMPERE):
        torch.set_float32_matmul_precision("high")
        tf32_error = relative_error((x.cuda() @ w.cuda()).cpu(), exact)  # @inspect tf32_error
        torch.set_float32_matmul_precision("highest")
        assert 1e-4 < tf32_error < 1e-3
    else:
        skipped = "no GPU here that knows TF32: it is emulated by rounding"  # @inspect skipped


def fp8_comes_in_two_kinds():  # M6.10 E24 E28
    """fp8 comes in two kinds.

    How should eight bits be divided? No one answer serves all tensors, so the [proposal of
    2022](https://arxiv.org/abs/2209.05433) has two: E4M3, with four exponent and three fraction
    bits, for weights and activations, and E5M2 for gradients, which spread wider. (With scales for
    small blocks, as below, [E4M3 can do for all](https://arxiv.org/abs/2412.19437).)
    """
    found = {}
    for form in (E4M3, E5M2):
        values = every_value(form.dtype)
        found[form.name] = {
            "finite": values.isfinite().sum().item(),
            "infinite": values.isinf().sum().item(),
            "NaN": values.isnan().sum().item(),
            "largest": values[values.isfinite()].max().item(),
            "smallest": values[values > 0].min().item(),
        }  # @inspect found
    assert list(found["fp8 E4M3"].values()) == [254, 0, 2, 448, 2**-9]
    assert list(found["fp8 E5M2"].values()) == [248, 2, 6, 57344, 2**-16]
    # A common mistake is to take them for one format in two versions. The largest number of one is
    # 128 times that of the other. Here are all positive numbers, on a logarithmic scale.
    assert found["fp8 E5M2"]["largest"] / found["fp8 E4M3"]["largest"] == 128
    positive = {
        form.name: [
            value for value in every_value(form.dtype)[1 : 2**7].tolist() if math.isfinite(value)
        ]
        for form in (E4M3, E5M2)
    }
    all_ticks = figures.octaves(positive)  # @inspect all_ticks
    assert [len(values) for values in positive.values()] == [126, 123]
    # Another is to take fp8 for one company's format: NVIDIA proposed it together with Arm and
    # Intel. Whether a card computes in it is a different matter. The data sheet of the A100 does
    # not list it; that of the H100 does, at twice the rate of bf16.
    dense = H100_SXM.dense_flops_per_second
    assert dense["fp8"] == 2 * dense["bf16"]


def e4m3_gives_up_infinity():  # M6.10
    """E4M3 gives up infinity.

    Can so few patterns be wasted on special cases? With the whole top exponent reserved, as in the
    longer formats, E4M3 would end at 240. It reserves a single pattern of each sign, for NaN, and
    reaches 448.
    """
    like_the_others = Format("E4M3, top exponent reserved", 4, 3, None)
    assert unpack(like_the_others.largest_pattern, like_the_others) == 240
    assert value_of(0b0_1111_110, torch.float8_e4m3fn) == 448
    assert math.isnan(value_of(0b0_1111_111, torch.float8_e4m3fn))
    # (PyTorch writes `e4m3fn` for it: finite, and NaN.) What a cast makes of 1e4 differs between
    # programs and between their versions: 448 or NaN. So no tensor is cast as it is. It is divided
    # by a [*scale*](#eight_bits_need_scales) first that brings its largest number to 448, and the
    # scale is kept beside it.
    ten_thousand = torch.tensor(1e4).to(torch.float8_e4m3fn).float()  # @inspect ten_thousand
    assert ten_thousand == 448 or ten_thousand.isnan()
    generator = torch.Generator().manual_seed(0)
    x = 1e-4 * torch.randn(1000, generator=generator)
    as_it_is = x.to(torch.float8_e4m3fn)
    assert (as_it_is.float() == 0).all()
    scale = x.abs().max() / torch.finfo(torch.float8_e4m3fn).max
    scaled = (x / scale).to(torch.float8_e4m3fn)
    restored = scaled.float() * scale
    assert scaled.float().abs().max() == 448
    # All numbers were lost without the scale. With it the error is a 36th of the tensor's size, and
    # no number is off by more than half a step, a 16th of it, as long as it is not subnormal.
    error = relative_error(restored, x.double())  # @inspect error
    assert round(1 / error) == 36
    is_normal = scaled.float().abs() >= torch.finfo(torch.float8_e4m3fn).smallest_normal
    assert (restored / x - 1)[is_normal].abs().max() <= 1 / 16


def fp4_has_fifteen_values():  # M6.11
    """fp4 has fifteen values.

    What is left with four bits: a sign, two exponent bits, one of fraction? Few enough numbers to
    list them. None is infinite and none is NaN: the format cannot afford it.
    """
    values = [unpack(pattern, E2M1) for pattern in range(2**4)]  # @inspect values @stepover
    assert values[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    assert values[8:] == [-value for value in values[:8]]
    # Sixteen patterns and fifteen values, since zero comes with both signs.
    assert len(set(values)) == 15
    ticks = figures.number_line(
        "All values of fp4",
        {"fp4 E2M1": {"representable": values}},
        {f"{value:g}": value for value in (-6, -4, -2, 0, 2, 4, 6)},
    )  # @inspect ticks
    # Rounding to them by hand: ties go to the pattern with a 0 at its end, and what is too large
    # stops at 6.
    wanted = (2.4, 2.5, 3.5, 5.0, 100.0, -0.7)
    rounded = [unpack(pack(value, E2M1), E2M1) for value in wanted]  # @inspect rounded @stepover
    assert rounded == [2, 2, 4, 4, 6, -0.5]
    # A byte takes two, and PyTorch's dtype for them says so: one element of it is a pair.
    assert torch.float4_e2m1fn_x2.itemsize * 8 == 2 * E2M1.bits


@shape_checked
def nearest_fp4(x: Float[Tensor, "..."]) -> Float[Tensor, "..."]:  # @stepover
    """Round to fp4, number by number."""
    rounded = [unpack(pack(value, E2M1), E2M1) for value in x.flatten().tolist()]
    return torch.tensor(rounded).view(x.shape)


@shape_checked
def in_mxfp4(x: Float[Tensor, "block value"]) -> Float[Tensor, "block value"]:  # @stepover
    """Round to fp4, each block scaled by a power of two that brings its largest below 8."""
    largest = reduce(x.abs(), "block value -> block 1", "max")
    scale = torch.exp2(largest.log2().floor() - 2)
    return nearest_fp4(x / scale) * scale


@shape_checked
def in_nvfp4(x: Float[Tensor, "block value"]) -> Float[Tensor, "block value"]:  # @stepover
    """Round to fp4, each block scaled by an E4M3 number, all blocks by an fp32 number."""
    largest = reduce(x.abs(), "block value -> block 1", "max")
    tensor_scale = x.abs().max() / (6 * torch.finfo(torch.float8_e4m3fn).max)
    block_scale = (largest / 6 / tensor_scale).to(torch.float8_e4m3fn).float()
    return nearest_fp4(x / (block_scale * tensor_scale)) * block_scale * tensor_scale


@shape_checked
def errors_of_blocks(
    x: Float[Tensor, " n"], exact: Float[Tensor, " n"], block_values: int
) -> list[float]:  # @stepover
    """Return the relative error of each block of this many values."""
    pairs = zip(x.split(block_values), exact.double().split(block_values), strict=True)
    return [relative_error(block, exact_block) for block, exact_block in pairs]


def a_scale_for_each_block_contains_outliers():  # M6.11
    """A scale for each block contains outliers.

    How can fifteen values serve a whole tensor? With one scale they cannot: one large number, an
    *outlier*, sets it, and all small ones become 0. So short blocks get scales of their own.
    [MXFP4](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)
    has a power of two for each 32 values, which brings the largest to between 4 and 8;
    [NVFP4](https://developer.nvidia.com/blog/introducing-nvfp4-for-efficient-and-accurate-low-precision-inference/)
    an E4M3 number for each 16, which brings it to 6, and one fp32 number for the tensor.
    """
    # Weights with a spread of 0.02, and one that is a hundred times as large.
    weights = 0.02 * torch.randn(512, generator=torch.Generator().manual_seed(0))
    weights[100] = 2
    blocks_of_32 = rearrange(weights, "(block value) -> block value", value=MXFP4_BLOCK_VALUES)
    blocks_of_16 = rearrange(weights, "(block value) -> block value", value=NVFP4_BLOCK_VALUES)
    scale = weights.abs().max() / 6
    restored = {
        "one scale": nearest_fp4(weights / scale) * scale,
        "MXFP4": in_mxfp4(blocks_of_32).flatten(),
        "NVFP4": in_nvfp4(blocks_of_16).flatten(),
    }
    # With one scale, all that is left is the outlier. In blocks it takes down its neighbours only,
    # 31 of them or 15. (The errors are those of the others: number 100 is left out.)
    assert restored["one scale"].nonzero().flatten().tolist() == [100]
    assert restored["one scale"][100] == 2
    weights[100] = 0
    errors = {}
    for name, numbers in restored.items():
        numbers[100] = 0
        errors[name] = relative_error(numbers, weights.double())  # @inspect errors
    assert [round(error, 3) for error in errors.values()] == [1, 0.255, 0.169]
    block_errors = {
        name: errors_of_blocks(numbers, weights, NVFP4_BLOCK_VALUES)
        for name, numbers in restored.items()
    }
    error_chart = figures.block_errors(block_errors)  # @inspect error_chart
    lost_blocks = [sum(error == 1 for error in blocks) for blocks in block_errors.values()]
    assert lost_blocks == [32, 2, 1]
    # Elsewhere NVFP4 is better, too: its blocks are shorter, and its scales fit them.
    assert sum(block_errors["NVFP4"][8:]) < 0.9 * sum(block_errors["MXFP4"][8:])


def block_scales_cost_a_fraction_of_a_bit():  # M6.11
    """Block scales cost a fraction of a bit.

    What do the scales add to four bits? An 8-bit scale for 32 values is a quarter of a bit for
    each, for 16 values half a bit. (The one fp32 number that NVFP4 has for a whole tensor is too
    little to count.)
    """
    values = 32
    bits_per_value = {}
    for name, block_values, scale_dtype in (
        ("MXFP4", MXFP4_BLOCK_VALUES, torch.float8_e8m0fnu),
        ("NVFP4", NVFP4_BLOCK_VALUES, torch.float8_e4m3fn),
    ):
        with measure() as cost:
            pairs = torch.zeros(values // 2, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
            scales = torch.zeros(values // block_values, dtype=torch.uint8).view(scale_dtype)
        bits_per_value[name] = 8 * cost.allocated_bytes / values
    assert bits_per_value == {"MXFP4": 4.25, "NVFP4": 4.5}  # @inspect bits_per_value


@shape_checked
def running_sums(start: Float[Tensor, ""], addends: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Add numbers one at a time, rounding after each addition; return all sums."""
    sums = []
    for addend in addends:  # @stepover
        start = start + addend
        sums.append(start)
    return torch.stack(sums)


def counting_stops_early_in_16_bits():  # M6.12
    """Counting stops early in 16 bits.

    How far can one count by adding 1? Until the step between numbers is 2. Then 1 more is half a
    step, a tie, and the even neighbour is the number one had.
    """
    sums = {
        form.name: running_sums(
            torch.tensor(0.0).to(form.dtype), torch.ones(2500).to(form.dtype)
        ).tolist()
        for form in (FP32, FP16, BF16)
    }  # @stepover
    ends = {name: numbers[-1] for name, numbers in sums.items()}  # @inspect ends
    assert ends == {"fp32": 2500, "fp16": 2048, "bf16": 256}
    # That is 2 to the number of significant bits, the hidden one included: 11 of them and 8.
    assert (ends["fp16"], ends["bf16"]) == (2 * 2**FP16.fraction_bits, 2 * 2**BF16.fraction_bits)
    growth = figures.sums(sums)  # @inspect growth
    # Nothing overflowed, and no error was reported: every single addition is rounded correctly.
    # `sum` gets it right, because it adds up in fp32 inside and rounds once, at the end.
    ones = torch.ones(len(sums["bf16"]), dtype=torch.bfloat16)
    assert ones.sum() == torch.tensor(2500.0).bfloat16() == 2496


def small_updates_are_lost():  # M6.12
    """Small updates are lost.

    Training adds to each weight a little at a time. What if a little is less than half a step? The
    weight stays where it is, however often that is repeated.
    """
    # A thousand times 0.001, on a weight of 1. In bf16 the step above 1 is 1/128.
    updates = torch.tensor(0.001).expand(1000)
    trained = {
        form.name: running_sums(torch.tensor(1.0).to(form.dtype), updates.to(form.dtype))[-1].item()
        for form in (FP32, FP16, BF16)
    }  # @inspect trained @stepover
    assert trained["bf16"] == 1
    assert round(trained["fp32"], 5) == 2.00005
    # In fp16 each update is rounded to one whole step, and 2 % of the way is missing.
    assert trained["fp16"] == 1 + 1000 * 2**-10
    # Near 1 a bf16 weight needs an update above 1/256 to grow, and above 1/512 to shrink.
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert (one + 1 / 256, one - 1 / 512) == (1, 1)
    assert one + 1.01 / 256 == 1 + 1 / 128
    assert one - 1.01 / 512 == 1 - 1 / 256
    # The remedy is [an fp32 copy](#a_master_collects_small_updates) that collects the updates. What
    # is computed with is rounded from it, and moves on when enough has come together: not with the
    # first three updates, but with the fourth, and in the end through all 128 steps from 1 to 2.
    # (Another remedy is to round up or down [by chance](#rounding_by_chance_is_right_on_average),
    # so that the average is right.)
    master = running_sums(torch.tensor(1.0), updates)  # @stepover
    used = master.bfloat16().tolist()
    assert used[-1] == 2
    assert used.count(1.0) == 3
    assert len(set(used)) == 129


def each_format_fails_in_its_own_way():  # M6.12 E23
    """fp16 and bf16 fail in their own ways.

    Is 16-bit training unstable because small numbers vanish? A common mistake is to blame underflow
    for everything. There are three ways to lose a number, and 16-bit formats differ in theirs.
    """
    kept = {}
    for form in (FP32, FP16, BF16):
        small, large, one = torch.tensor([1e-8, 1e5, 1.0]).to(form.dtype)
        kept[form.name] = [f"{number.item():.4g}" for number in (small, large, one + 0.001)]
    # fp32 keeps all three. fp16 loses numbers at both ends of its range, by *underflow* and by
    # *overflow*. bf16 loses neither; it loses small changes instead.
    assert kept["fp32"] == ["1e-08", "1e+05", "1.001"]
    assert kept["fp16"] == ["0", "inf", "1.001"]
    assert kept["bf16"] == ["1.001e-08", "9.984e+04", "1"]
    # So there are different cures. For fp16, gradients are multiplied by a large number before
    # they are rounded, and divided by it in fp32; that is [loss
    # scaling](https://arxiv.org/abs/1710.03740), which has [sections of its
    # own](#a_scale_lifts_gradients_into_range).
    gradient = torch.tensor(1e-8)
    scaled = (gradient * 2**16).half()
    assert torch.isclose(scaled.float() / 2**16, torch.tensor(1e-8), rtol=2**-11, atol=0)
    # Scaling does nothing for lost updates: multiplied by the same power of two, weight and update
    # are as far apart as before.
    weight, update = torch.tensor([1.0, 0.001]).bfloat16() * 2**10
    assert (weight.item(), update.item()) == (1024, 1.0234375)
    assert weight + update == weight


def each_format_has_its_job():  # M6.13
    """Each format has its job.

    Which format, then? It depends on what becomes of the number. What is computed, used and
    forgotten may be short; what collects many small contributions may not.
    """
    generator = torch.Generator().manual_seed(0)
    x, w = torch.rand(2, 4096, generator=generator)
    exact = (x.double() * w.double()).sum()
    products = x.bfloat16() * w.bfloat16()
    total = running_sums(torch.zeros((), dtype=torch.bfloat16), products)[-1]  # @stepover
    # One dot product of 4096 numbers, twice from bf16 inputs.
    errors = {
        "added up in bf16": relative_error(total.float(), exact),
        "added up in fp32": relative_error(x.bfloat16().float() @ w.bfloat16().float(), exact),
    }  # @inspect errors
    # The sum in bf16 stopped at 256, and three quarters of it are missing. Added up in fp32, the
    # same inputs are good to a ten-thousandth, and that is how tensor cores multiply bf16.
    assert total == 256
    assert round(errors["added up in bf16"], 2) == 0.75
    assert errors["added up in fp32"] < 1e-4
    # Hence the usual division of labour. fp32, safe and large: weights, sums and the optimizer's
    # averages, whatever accumulates. bf16: activations and the inputs of matrix products. fp16,
    # which needs loss scaling, is rare in training since there is bf16. fp8 and fp4, with scales:
    # matrix products where the hardware has them, and weights that are only read. [A later
    # chapter](#both_ends_have_their_price) puts this together as mixed precision. What is saved is
    # half the memory.
    with measure() as cost:
        x.bfloat16()
    assert cost.allocated_bytes == x.numel() * x.element_size() / 2
    # This chapter in short: a format divides its bits between range and resolution. What leaves the
    # range becomes zero, or infinite where the format has infinity. What is finer than a step is
    # rounded away, each time anew.
