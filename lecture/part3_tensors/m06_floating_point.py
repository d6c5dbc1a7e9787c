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
    lowest = 1 - form.bias
    exponent = max(power - 1, lowest) if value else lowest  # of zero, frexp says 0
    # Between two powers of two the numbers lie at equal steps; Python rounds ties to even.
    steps = round(abs(value) / 2.0 ** (exponent - form.fraction_bits))
    # The hidden one is among the steps, and adds 1 to the exponent field. So does rounding up to
    # the next power of two.
    pattern = (exponent + form.bias - 1) * 2**form.fraction_bits + steps
    sign = math.copysign(1, value) < 0
    # Beyond the last number comes infinity. A format without one stops at its largest,
    # as PyTorch's do; E4M3 has a NaN that others take there.
    with_infinity = form.set_aside == "the top exponent"
    pattern = min(pattern, form.largest_pattern + with_infinity)
    return sign * 2 ** (form.bits - 1) + pattern


def a_number_is_sign_exponent_and_fraction():  # M6.1 @core
    """A number is sign, exponent and fraction.

    We can say how many bytes a number takes. What do they hold? How can the same 16 bits hold one
    number near a thousandth and another near ten thousand? As scientific notation does it: a sign,
    a few significant digits, and a power that moves the point. In base 2, -13 is $-1101_2 =
    -1.101_2·2^3$.
    """
    # @note Go slowly. Write −13 in base 2 with the class, move the point, and only then show the
    # bits. Ask what the 1 in front and the 15 are for, and allow yourself to leave it a question.
    x = torch.tensor(-13.0, dtype=torch.float16)
    # These are its sixteen bits, read as an integer: one for the sign, five for the exponent, ten
    # for the *fraction* (or *mantissa*), which are the digits after the point.
    pattern = pattern_of(x)
    assert pattern == 0b1_10010_1010000000
    fields = figures.bit_fields({"-13 in fp16": bit_text(pattern, FP16)})  # @inspect fields
    sign, exponent, fraction = pattern >> 15, (pattern >> 10) & 0b11111, pattern & 0b1111111111
    # The fraction is 0.101 in base 2.
    assert fraction / 2**10 == 1 / 2 + 1 / 8  # @predict
    # Back to a number: $(-1)^s\,(1+f)\,2^{e-15}$. Two things in it are odd, the 1 before the point
    # and the 15.
    by_hand = (-1) ** sign * (1 + fraction / 2**10) * 2.0 ** (exponent - 15)  # @inspect by_hand
    assert by_hand == x.item()


def every_format_divides_its_bits_its_own_way():  # M6.1
    """Every format divides its bits its own way.

    If the idea is always the same, why are there eight formats on this page? Because bits cost
    memory and time. Exponent bits buy *range*, fraction bits buy *resolution*, and each format
    spends them differently.
    """
    # Here is π in all eight. A filled box is a one; the digits of π stand under each other as far
    # as a format goes. Which formats share a range, and which share a resolution?
    patterns = {form.name: pack(math.pi, form) for form in FORMATS}  # @stepover
    layouts = figures.layouts(
        {form.name: bit_text(patterns[form.name], form) for form in FORMATS},
        {form.name: f"{unpack(patterns[form.name], form):.10g}" for form in FORMATS},
    )  # @inspect layouts @stepover
    # bf16 and TF32 have the exponents of fp32, and E5M2 those of fp16: the same powers of two. TF32
    # has the resolution of fp16.
    assert TF32.exponent_bits == BF16.exponent_bits == FP32.exponent_bits
    assert E5M2.exponent_bits == FP16.exponent_bits
    assert TF32.fraction_bits == FP16.fraction_bits
    # Of six of the eight, PyTorch stores single numbers, and we can ask it: the size of an element
    # gives all bits, and `eps`, the step from 1 to the next number, gives those of the fraction.
    for form in STORED:
        assert torch.empty((), dtype=form.dtype).element_size() * 8 == form.bits
        assert torch.finfo(form.dtype).eps == 2.0**-form.fraction_bits
    # `pack` rounds a number by hand and `unpack` reads it by hand. `pack` agrees with PyTorch for π
    # (and `unpack`, in the tests of this lecture, for all 65 536 patterns of 16 bits).
    for form in STORED:
        assert patterns[form.name] == pattern_of(torch.tensor(math.pi, dtype=form.dtype))
    # You can open them: they are the rules of this chapter in some 25 lines. In the four bits of
    # fp4, π is 3.
    short = pack(math.pi, E2M1)
    assert unpack(short, E2M1) == 3  # @predict


def exponents_are_stored_with_a_bias():  # M6.5 E18
    """Exponents are stored with a bias, and two are reserved.

    The exponent field counts from 0. How does it say that an exponent is negative? A constant is
    subtracted from it, the *bias*: with k bits, $e=\\text{field}-(2^{k-1}-1)$. That is the 15
    above.
    """
    # $1=1·2^0$ has exponent 0, so its exponent field holds the bias itself.
    for form in STORED:
        one = pattern_of(torch.ones((), dtype=form.dtype))
        assert one >> form.fraction_bits == form.bias
    # Why a bias, and no sign bit for the exponent? Because now a larger positive number has a
    # larger pattern. Two positive numbers compare like their patterns, read as integers; the next
    # number is the next integer.
    values = every_value(torch.float16)[: 2**15]
    assert (values[values.isfinite()].diff() > 0).all()
    # And where are zero, infinity, and NaN, the result of 0/0? None of them is a one followed by
    # digits. They get the two ends of the exponent field: all zeros for zero and what lies next to
    # it, all ones for infinity and NaN. Exponents from -14 to 15 are left.
    ends = {
        "smallest positive": 0b0_00000_0000000001,
        "smallest with exponent -14": 0b0_00001_0000000000,
        "largest": 0b0_11110_1111111111,
        "infinity": 0b0_11111_0000000000,
        "NaN": 0b0_11111_1000000000,
    }
    found = [value_of(pattern, torch.float16) for pattern in ends.values()]  # @inspect found
    assert found[1:4] == [2**-14, (2 - 2**-10) * 2**15, math.inf]
    assert math.isnan(found[4])
    # By hand we read the same, with either sign.
    assert [unpack(pattern, FP16) for pattern in ends.values()][:4] == found[:4]
    assert math.isnan(unpack(ends["NaN"], FP16))
    assert unpack(2**15 + ends["infinity"], FP16) == -math.inf
    end_fields = figures.bit_fields(
        {name: bit_text(pattern, FP16) for name, pattern in ends.items()}
    )  # @inspect end_fields
    # NaN has 2046 patterns of fp16. One of the formats of eight bits is more sparing, as we will
    # see.
    assert every_value(torch.float16).isnan().sum() == 2 * (2**10 - 1)  # @predict


def the_leading_one_is_not_stored():  # M6.6 E19 E20
    """The leading one is not stored, except near zero.

    How do ten stored digits make eleven significant ones? The first digit of scientific notation is
    never 0. In base 2 it is then a 1, and nobody has to store it: the *hidden one*.
    """
    # So from 1 to below 2 there is a number for each fraction, 1024 of them in fp16. From 2 to
    # below 4 there are as many, twice as far apart, and so on at each further power of two.
    values = every_value(torch.float16)
    for low in (1, 2):
        inside = values[(values >= low) & (values < 2 * low)]
        assert len(inside) == 2**10
        assert (inside.diff() == low * 2**-10).all()
    # Towards zero the spacing would halve and halve. In eight bits we can draw it.
    rows = {
        form.name: {"representable": every_value(form.dtype)[: 2**7].tolist()}
        for form in (E4M3, E5M2)
    }
    marks = {"0.5": 0.5, "1": 1, "2": 2, "3": 3, "4": 4}
    spacing = figures.number_line("Spacing near 1", rows, marks)  # @inspect spacing
    # But what lies between 0 and the smallest number with a hidden one? Nothing, if all numbers had
    # one: a gap much wider than the steps above it. So in the lowest exponent field the one is left
    # out. Its numbers besides zero, the *subnormals*, continue the last spacing down to zero.
    small = every_value(torch.float8_e4m3fn)[:17]
    near_zero = figures.number_line(
        "Spacing near 0",
        {
            "fp8 E4M3": {
                "with hidden one": small[8:].tolist(),
                "subnormal": small[1:8].tolist(),
                "zero": small[:1].tolist(),
            }
        },
        {"0": 0, "2⁻⁷": 2**-7, "2⁻⁶": 2**-6, "2⁻⁵": 2**-5},
    )  # @inspect near_zero
    assert (small.diff() == 2**-9).all()
    # They share the exponent of the field above, so in fp16 that is $1-15=-14$ and not $0-15$.
    assert value_of(0b0_00000_0000000001, torch.float16) == 2**-10 * 2**-14
    # (Small is not negative: a tiny number has its sign bit for its sign, like any other.)
    assert value_of(0b1_00001_0000000000, torch.float16) == -(2**-14)


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

    A learning rate of 0.01 looks harmless. What does the computer store? We need its binary digits.
    Doubling a number moves its point by one: what then stands before the point, 0 or 1, is the next
    digit. Take it off and double again.
    """
    digits = digits_by_doubling(Fraction(1, 100), 18)  # @inspect digits
    doublings = figures.doublings(Fraction(1, 100), 18, 10)  # @inspect doublings
    # The first 1 comes at the seventh doubling, so $0.01=1.28·2^{-7}$, and this 1 is hidden. (If
    # you count the six zeros instead, you get $2^{-6}$ and a number twice as large.)
    assert digits.index(1) + 1 == 7
    assert Fraction(1, 100) * 2**7 == Fraction("1.28")
    # The next ten digits are the fraction. The one after them is a 1: 0.72 of a last digit is left,
    # and we round up. The exponent field is -7 + 15 = 8.
    rest = Fraction(1, 100) * 2**17 % 1
    assert rest == Fraction(72, 100)
    by_hand = (8 << 10) + int("".join(map(str, digits[7:17])), base=2) + 1
    pattern = pattern_of(torch.tensor(0.01, dtype=torch.float16))
    assert pattern == by_hand == 0b0_01000_0100011111
    stored = value_of(pattern, torch.float16)  # @inspect stored
    assert 0.010002 < stored < 0.010003
    assert value_of(0b0_01001_0100011111, torch.float16) == 2 * stored
    # Would more digits help? No format of base 2 has 0.01, since 100 divides no power of 2. From
    # the third on, the digits repeat every twenty, for ever.
    many = digits_by_doubling(Fraction(1, 100), 42)
    assert many[2:22] == many[22:42]


def rounding_goes_to_the_nearest_and_ties_to_even():  # M6.2
    """Rounding goes to the nearest, and ties to even.

    Which number is stored when the one we want lies between two? The nearer one. And if both are
    equally near? The one whose last bit is 0.
    """
    # In steps of fp16 above 1:
    step = 2**-10
    x = 1 + step * torch.tensor([0.5, 1.5, 2.5, 2.501])
    rounded = (x.half() - 1) / step  # @inspect rounded
    assert rounded.tolist() == [0, 2, 2, 3]
    # `pack` above finds the same patterns by hand, and infinity's for what lies beyond the format.
    for number in (x[1], -x[3], torch.tensor(1e6)):
        assert pack(number.item(), FP16) == pattern_of(number.half())
    # Half of all ties go up and half go down. And independent roundings to the nearest do not
    # drift. To see that, compare with dropping the bits, which never moves away from zero.
    numbers = torch.randn(4096, generator=torch.Generator().manual_seed(0))
    rounded_drift = (numbers.bfloat16().float() / numbers - 1).mean()
    dropped = (numbers.view(torch.int32) >> 16 << 16).view(torch.float32)
    dropped_drift = (dropped / numbers - 1).mean()  # @inspect rounded_drift dropped_drift
    # Dropping 16 of the 32 bits loses half a step of bf16 on average. That is 1/256 of a number
    # just above a power of two and half as much just below the next. Over numbers that lie evenly
    # on a logarithmic scale, the average is $2^{-8}/(2\ln 2)$, 0.28 %.
    assert (dropped.abs() <= numbers.abs()).all()
    assert math.isclose(-dropped_drift, 2**-8 / (2 * math.log(2)), rel_tol=0.01)
    assert rounded_drift.abs() < -dropped_drift / 50
    # The roundings of a running sum are not independent: each starts where the last one ended. That
    # is [another story](#counting_stops_early_in_16_bits).


def the_exponent_is_range_and_the_fraction_resolution():  # M6.2
    """The exponent is range, the fraction resolution.

    What does a format give for its bits? Three numbers say it: the largest, the smallest with a
    hidden one, and *eps*, the step from 1 to the next number. You can work each of them out from
    the number of exponent and fraction bits and the patterns that are set aside.
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
    # fp16 resolves eight times as finely as bf16; bf16 reaches nearly as far as fp32.
    assert by_hand["fp16"] == (65504, 2**-14, 2**-10)
    assert by_hand["bf16"] == ((2 - 2**-7) * 2.0**127, 2**-126, 2**-7)
    # Here are the ranges on a logarithmic scale (each step to the right multiplies), with the
    # subnormals. fp64 would reach eight times as far to the right as fp32.
    ends = {}
    for form in (FP32, BF16, FP16, E5M2, E4M3, E2M1):
        three_patterns = (1, 1 << form.fraction_bits, form.largest_pattern)
        ends[form.name] = [unpack(pattern, form) for pattern in three_patterns]  # @stepover
    ranges = figures.ranges(ends)  # @inspect ranges
    assert round(math.log2(by_hand["fp64"][0]) / math.log2(by_hand["fp32"][0])) == 8
    # In decimal digits, counting the hidden one, $\log_{10}(2/\text{eps})$:
    decimal_digits = {
        name: round(math.log10(2 / by_hand[name][2]), 1) for name in ("bf16", "fp16", "fp32")
    }
    assert decimal_digits == {"bf16": 2.4, "fp16": 3.3, "fp32": 7.2}  # @inspect decimal_digits


@shape_checked
def running_sums(start: Float[Tensor, ""], addends: Float[Tensor, " n"]) -> Float[Tensor, " n"]:
    """Add numbers one at a time, rounding after each addition; return all sums."""
    sums = []
    for addend in addends:  # @stepover
        start = start + addend
        sums.append(start)
    return torch.stack(sums)


def counting_stops_early_in_16_bits():  # M6.3 M6.12
    """Counting stops early in 16 bits.

    How far can you count by adding 1? Until the step between numbers is 2. Then 1 more is half a
    step, a tie, and the even neighbour is the number you had. In bf16, with seven fraction bits and
    a hidden one, where is that?
    """
    sums = {
        form.name: running_sums(
            torch.tensor(0.0).to(form.dtype), torch.ones(2500).to(form.dtype)
        ).tolist()
        for form in (FP32, FP16, BF16)
    }  # @stepover
    ends = {name: numbers[-1] for name, numbers in sums.items()}  # @inspect ends
    growth = figures.sums(sums)  # @inspect growth
    # At 2 to the number of significant bits: 8 in bf16, 11 in fp16, the hidden one included. Every
    # tie went the same way.
    assert ends == {"fp32": 2500, "fp16": 2**11, "bf16": 2**8}
    # Nothing overflowed, and no error was reported: every single addition is rounded correctly.
    # `sum` is as near as bf16 can be: it adds in fp32 inside and rounds at the end. (Long sums that
    # several threads share are rounded once in each thread as well.)
    ones = torch.ones(len(sums["bf16"]), dtype=torch.bfloat16)
    assert ones.sum() == torch.tensor(2500.0).bfloat16() == 2496
    # fp32 is the default, and called *full precision* in machine learning. (Scientific computing
    # calls it single, and often takes fp64.) It stops, too, at $2^{24}$, 16.8 million.
    counter = torch.tensor(2.0**24)
    assert counter.dtype == torch.get_default_dtype()
    assert counter - 1 != counter
    assert counter + 1 == counter
    # If you counted the 300 billion training tokens of GPT-3 one by one in fp32, you would stop at
    # 0.006 %. So count in integers.
    assert round(100 * counter.item() / GPT3_TRAINING_TOKENS, 3) == 0.006


def fp16_ends_soon_on_both_sides():  # M6.4
    """fp16 ends soon on both sides.

    What goes wrong with an exponent of five bits? Training has small gradients, and sums and
    squares that are large. What is too small becomes 0, which is *underflow*; what is too large
    becomes infinite, which is *overflow*.
    """
    gradient = torch.tensor(1e-8, dtype=torch.float16)  # @inspect gradient
    assert gradient == 0  # @predict
    # The smallest positive number is $2^{-24}$. Half of it is a tie and goes to the even side,
    # which is 0; anything above the half goes up.
    small = (torch.tensor([1, 0.5, 0.501]) * 2**-24).half()
    assert small.tolist() == [2**-24, 0, 2**-24]
    # The largest is 65 504, and up there the step is 32. Up to half a step beyond, numbers round
    # back; from 65 520 on they are infinite.
    large = torch.tensor([65519.0, 65520.0]).half()  # @inspect large
    assert large.tolist() == [65504, math.inf]
    # Squares get there quickly. What is the largest whole number whose square does not overflow?
    # And one infinity makes a whole sum infinite. Infinity minus infinity is NaN.
    squares = torch.tensor([255.0, 256.0], dtype=torch.float16).square()  # @inspect squares
    assert squares.tolist() == [65024, math.inf]
    assert (squares[1] - squares[1]).isnan()
    # fp16 has a remedy for its lower end. A gradient that is multiplied by a large number before it
    # is rounded, and divided by it in fp32, survives. That is [loss
    # scaling](#a_scale_lifts_gradients_into_range).
    scaled = (torch.tensor(1e-8) * 2**16).half()
    assert torch.isclose(scaled.float() / 2**16, torch.tensor(1e-8), rtol=2**-11, atol=0)


def bf16_trades_resolution_for_range():  # M6.8 E21 E25 @core
    """bf16 trades resolution for range.

    What if a 16-bit format keeps all [exponent bits](#a_number_is_sign_exponent_and_fraction) of
    fp32, and saves on the fraction, its digits, alone? That is bf16, the *brain floating point* of
    Google Brain. [Kalamkar et al.](https://arxiv.org/abs/1905.12322) showed in 2019 that networks
    train with it beside fp32 weights and sums.
    """
    # @note Two questions before the claims: which of the two 16-bit formats overflows at 100 000,
    # and which cannot tell 1.001 from 1? Ask which loss they would rather have in a gradient, and
    # why.
    #
    # It is the upper half of fp32: back to fp32, sixteen zeros are appended, and nothing is lost.
    x = torch.randn(4096, generator=torch.Generator().manual_seed(0))
    short = x.bfloat16()
    as_integers = short.view(torch.int16).int() << 16
    assert torch.equal(as_integers.view(torch.float32), short.float())
    # What fp16 [loses at both ends](#fp16_ends_soon_on_both_sides) of its range is there.
    assert torch.tensor([1e-8, 1e5]).half().tolist() == [0, math.inf]
    small, large = torch.tensor([1e-8, 1e5]).bfloat16().tolist()  # @inspect small large
    assert math.isclose(small, 1e-8, rel_tol=2**-8)
    # The price shows in the second number, which is off by 160. Does bf16 tell 1.001 from 1? fp16
    # does, bf16 does not. How many times as large as that of fp16 is its step from 1 to the next
    # number, and how many times as large as that of fp32?
    assert large == 1e5 - 160
    near_one = torch.tensor(1.001)
    assert near_one.half() == 1 + 2**-10
    assert near_one.bfloat16() == 1
    eps = {form.name: torch.finfo(form.dtype).eps for form in (BF16, FP16, FP32)}
    assert eps["bf16"] / eps["fp16"] == 8  # @predict
    assert eps["bf16"] / eps["fp32"] == 65_536  # @predict
    # Not even the tokens of a small vocabulary can be numbered in it: 256 and 257 become one
    # id.
    last_four = torch.arange(260).bfloat16().long()[-4:]  # @inspect last_four
    assert last_four.tolist() == [256, 256, 258, 260]
    # So: bf16 needs no more care for range than fp32, and must not collect small changes.


@shape_checked
def rounded_to(x: Float[Tensor, "..."], fraction_bits: int) -> Float[Tensor, "..."]:
    """Round fp32 numbers to fewer fraction bits, ties to even, by integer arithmetic alone.

    Half a step is added before the bits are dropped. So that a tie goes to the even side, it is a
    little less than half where the last bit that is kept is 0.
    """
    bits = x.view(torch.int32)
    dropped = 23 - fraction_bits
    last_kept = (bits >> dropped) & 1
    almost_half = 2 ** (dropped - 1) - 1
    return ((bits + almost_half + last_kept) >> dropped << dropped).view(torch.float32)


def tf32_is_for_computing_not_for_storing():  # M6.9 E7
    """TF32 is for computing, not for storing.

    Memory comes in bytes. Why is there a format of 19 bits? TF32 is what [tensor
    cores](#tensor_cores_multiply_tiles), the units of a GPU that multiply small matrices, make of
    fp32 on the A100 and later: they read four bytes, use the exponent and ten digits of the
    fraction, and add up in fp32.
    """
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, 256, generator=generator)
    w = torch.randn(256, 64, generator=generator)
    exact = x.double() @ w.double()
    short_x, short_w = rounded_to(x, 10), rounded_to(w, 10)
    # We take the even one of two that are as near. (A GPU may take the larger, or drop the digits.)
    halfway = 1 + torch.tensor([1.0, 3.0]) * 2**-11
    assert rounded_to(halfway, 10).tolist() == [1, 1 + 2**-9]
    # The tensors stay as large as they were.
    assert short_x.untyped_storage().nbytes() == x.untyped_storage().nbytes()
    # How much worse is the result? The *relative error* is the norm of the difference divided by
    # the norm of the exact result. Rounding the inputs to 10 bits costs a factor of about a
    # thousand; the result is still eight times as fine as with the 7 bits of bf16.
    errors = {
        "fp32": relative_error(x @ w, exact),
        "tf32": relative_error(short_x @ short_w, exact),
        "bf16": relative_error(rounded_to(x, 7) @ rounded_to(w, 7), exact),
    }  # @inspect errors
    assert 250 < errors["tf32"] / errors["fp32"] < 4000
    assert 7.5 < errors["bf16"] / errors["tf32"] < 8.5
    # PyTorch does not use it unless you [ask](#fp32_gets_tensor_cores_on_request): matmuls in fp32
    # keep their precision, and their speed. (In convolutions, cuDNN may use it by itself.)
    assert torch.get_float32_matmul_precision() == "highest"
    assert torch.backends.cudnn.allow_tf32
    if gpu_is_at_least(AMPERE):
        torch.set_float32_matmul_precision("high")
        tf32_error = relative_error((x.cuda() @ w.cuda()).cpu(), exact)  # @inspect tf32_error
        torch.set_float32_matmul_precision("highest")
        assert 1e-4 < tf32_error < 1e-3
    else:
        skipped = "no GPU here that knows TF32: it is emulated by rounding"  # @inspect skipped


def fp8_comes_in_two_kinds():  # M6.10 E24 E28
    """fp8 comes in two kinds, and needs a scale.

    How should we divide eight bits? The [proposal of 2022](https://arxiv.org/abs/2209.05433), by
    NVIDIA, Arm and Intel, has two answers: E4M3, with four exponent and three fraction bits, for
    weights and activations, and E5M2 for gradients.
    """
    values = {form.name: every_value(form.dtype)[: 2**7] for form in (E4M3, E5M2)}
    positive = {name: x[(x > 0) & x.isfinite()].tolist() for name, x in values.items()}
    all_ticks = figures.octaves(positive)  # @inspect all_ticks
    assert [max(numbers) for numbers in positive.values()] == [448, 57344]
    # With the whole top exponent reserved, as in the longer formats, E4M3 would end at 240. It
    # reserves a single pattern of each sign, for NaN, and has no infinity.
    like_the_others = Format("E4M3, top exponent reserved", 4, 3, None)
    assert unpack(like_the_others.largest_pattern, like_the_others) == 240
    assert not every_value(torch.float8_e4m3fn).isinf().any()
    assert every_value(torch.float8_e4m3fn).isnan().sum() == 2
    # (Hence PyTorch's name `e4m3fn`: finite, and NaN.) What if we cast gradients of 1e-4 to it?
    x = 1e-4 * torch.randn(1000, generator=torch.Generator().manual_seed(0))
    as_it_is = x.to(torch.float8_e4m3fn)
    assert (as_it_is.float() == 0).all()
    # All gone. In E5M2 nearly all survive, with an error of 6 %; of gradients a hundred times
    # smaller, none would.
    survivors = x.to(torch.float8_e5m2).float()
    assert (survivors != 0).float().mean() > 0.9
    assert round(relative_error(survivors, x.double()), 2) == 0.06
    assert ((x / 100).to(torch.float8_e5m2).float() == 0).all()
    # So numbers that do not fit the range are not cast as they are. We divide them by a
    # [*scale*](#eight_bits_need_scales) first that brings the largest to 448, the end of E4M3, and
    # keep the scale beside them.
    scale = x.abs().max() / torch.finfo(torch.float8_e4m3fn).max
    scaled = (x / scale).to(torch.float8_e4m3fn)
    restored = scaled.float() * scale
    # Now no number is off by more than half a step, 1/16 of it, unless it is subnormal.
    is_normal = scaled.float().abs() >= torch.finfo(torch.float8_e4m3fn).smallest_normal
    assert (restored / x - 1)[is_normal].abs().max() <= 1 / 16
    error = relative_error(restored, x.double())  # @inspect error
    assert error < 0.03
    # What do we gain? Half the bytes, and on an H100 twice the peak of bf16.
    dense = H100_SXM.dense_flops_per_second
    assert dense["fp8"] == 2 * dense["bf16"]


def fp4_has_fifteen_values():  # M6.11
    """fp4 has fifteen values.

    What is left with four bits: a sign, two exponent bits, one of fraction? So few numbers that you
    can list them. None is infinite and none is NaN: the format cannot afford it.
    """
    values = [unpack(pattern, E2M1) for pattern in range(2**4)]  # @inspect values @stepover
    ticks = figures.number_line(
        "All values of fp4",
        {"fp4 E2M1": {"representable": values}},
        {f"{value:g}": value for value in (-6, -4, -2, 0, 2, 4, 6)},
    )  # @inspect ticks
    assert values[:8] == [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    # Sixteen patterns and fifteen values, since zero comes with both signs.
    assert len(set(values)) == 15
    # Rounding works as ever: to the nearest, ties to the pattern with a 0 at its end. What is too
    # large stops at 6.
    wanted = (2.4, 2.5, 3.5, 5.0, 100.0, -0.7)
    rounded = [unpack(pack(value, E2M1), E2M1) for value in wanted]  # @inspect rounded @stepover
    assert rounded == [2, 2, 4, 4, 6, -0.5]
    # Two of them fit in a byte, and PyTorch's dtype says so: one element of it is a pair.
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

    How can fifteen values serve a whole tensor? With one scale they may not: one large number, an
    *outlier*, sets it, and all small ones become 0. So short blocks get scales of their own.
    [MXFP4](https://www.opencompute.org/documents/ocp-microscaling-formats-mx-v1-0-spec-final-pdf)
    has a power of two for each 32 values;
    [NVFP4](https://developer.nvidia.com/blog/introducing-nvfp4-for-efficient-and-accurate-low-precision-inference/)
    an E4M3 number for each 16 that brings the largest near 6, and one fp32 number for the tensor.
    """
    # Weights with a standard deviation of 0.02, and one that is a hundred times as large.
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
    # With one scale, all that is left is the outlier. How many neighbours does it take down when
    # there are blocks? Here is the error of each block of 16, without the outlier itself.
    assert restored["one scale"].nonzero().flatten().tolist() == [100]
    weights[100] = 0
    for numbers in restored.values():
        numbers[100] = 0
    block_errors = {
        name: errors_of_blocks(numbers, weights, NVFP4_BLOCK_VALUES)
        for name, numbers in restored.items()
    }
    error_chart = figures.block_errors(block_errors)  # @inspect error_chart
    lost_blocks = [sum(error == 1 for error in blocks) for blocks in block_errors.values()]
    assert lost_blocks == [32, 2, 1]
    # Elsewhere NVFP4 is better, too, with its shorter blocks and finer scales.
    assert sum(block_errors["NVFP4"][8:]) < 0.9 * sum(block_errors["MXFP4"][8:])
    # What do the scales of blocks cost? Eight bits for 32 or 16 values: $4+8/32$ or $4+8/16$ bits
    # for each value.
    bits_per_value = {}
    for name, block_values in (("MXFP4", MXFP4_BLOCK_VALUES), ("NVFP4", NVFP4_BLOCK_VALUES)):
        with measure() as cost:
            pairs = torch.zeros(512 // 2, dtype=torch.uint8)
            scales = torch.zeros(512 // block_values, dtype=torch.uint8)
        bits_per_value[name] = 8 * cost.allocated_bytes / (2 * len(pairs))  # @inspect scales.shape
    assert bits_per_value == {"MXFP4": 4 + 8 / 32, "NVFP4": 4 + 8 / 16}  # @inspect bits_per_value


def small_updates_are_lost():  # M6.12 E23
    """Small updates are lost.

    Training adds to each weight a little at a time. What if a little is less than half a step? The
    weight stays where it is, however often that is repeated. We add 0.001 to a weight of 1, a
    thousand times. Where does each format end?
    """
    updates = torch.tensor(0.001).expand(1000)
    trained = {
        form.name: running_sums(torch.tensor(1.0).to(form.dtype), updates.to(form.dtype))[-1].item()
        for form in (FP32, FP16, BF16)
    }  # @inspect trained @stepover
    assert round(trained["fp32"], 4) == 2
    # In fp16 the step above 1 is 1/1024, and 0.001 is 1.02 of it. Each update is rounded to one
    # whole step, so 2.3 % of the distance is missing at the end.
    assert trained["fp16"] == 1 + 1000 * 2**-10  # @predict
    # In bf16 the step is 1/128. To grow, a weight of 1 needs an update above 1/256.
    assert trained["bf16"] == 1  # @predict
    one = torch.tensor(1.0, dtype=torch.bfloat16)
    assert one + 1 / 256 == 1
    assert one + 1.01 / 256 == 1 + 1 / 128
    # No underflow happened, so no scaling helps: multiplied by the same number, weight and update
    # are as far apart as before.
    weight, update = torch.tensor([1.0, 0.001]).bfloat16() * 2**10
    assert weight + update == weight
    # What helps is [an fp32 copy](#a_master_collects_small_updates) that collects the updates, the
    # *master*. The bf16 weight is rounded from it, and moves on when enough has come together: not
    # with the first three updates, but with the fourth, and in the end all the way to 2. (Or round
    # up or down [by chance](#rounding_by_chance_is_right_on_average), so that the mean is right.)
    master = running_sums(torch.tensor(1.0), updates)  # @stepover
    used = master.bfloat16().tolist()
    assert used.count(1.0) == 3
    assert used[-1] == 2  # @predict
    # So: bf16 loses small changes, fp16 those an eighth as large. fp16 loses numbers at both ends
    # of its range as well.


def each_format_has_its_job():  # M6.13
    """Each format has its job.

    Which format, then? It depends on what becomes of the number. Here is a dot product of 4096
    numbers, added up in two ways from the same bf16 inputs.
    """
    generator = torch.Generator().manual_seed(0)
    x, w = torch.rand(2, 4096, generator=generator)
    exact = (x.double() * w.double()).sum()
    products = x.bfloat16() * w.bfloat16()
    total = running_sums(torch.zeros((), dtype=torch.bfloat16), products)[-1]  # @stepover
    errors = {
        "added up in bf16": relative_error(total.float(), exact),
        "added up in fp32": relative_error(x.bfloat16().float() @ w.bfloat16().float(), exact),
    }  # @inspect errors
    # The sum in bf16 stopped at 256, with three quarters missing. Added up in fp32, the same inputs
    # are good to a ten-thousandth, and that is how tensor cores multiply bf16.
    assert total == 256  # @predict
    assert round(errors["added up in bf16"], 2) == 0.75
    assert errors["added up in fp32"] < 1e-4
    # So: bf16 for the inputs of matmuls, fp32 for the sums. In training that means fp32 for
    # whatever accumulates: master weights, sums, the optimizer's averages. bf16 for activations and
    # matmul inputs. fp16 in its place, if you scale the loss. fp8 and fp4, with scales, for matmuls
    # where the hardware has them, and for weights that are only read.
    #
    # What does this *mixed precision* save? Up to half of the activations; of parameters and
    # optimizer state [nothing](#bytes_per_parameter_depend_on_the_recipe): the master is in fp32.
    with measure() as cost:
        x.bfloat16()
    assert cost.allocated_bytes == x.numel() * x.element_size() / 2
    # What we can do now: choose a format by its range and its resolution, and say how it will fail:
    # beyond its range by zeros and infinities, within it by changes too small to see. How the
    # numbers lie in memory comes next.


def exercise_a_counter_of_tokens():  # M6.3 @exercise
    """Exercise: a counter of tokens.

    A program counts tokens in an fp32 number, a batch of 4096 at a time. At which count does it
    stop?

    **Hint.** fp32 has 23 fraction bits, and a one that is not stored.
    """
    counter = torch.tensor(2.0**24 * 4096)  # @inspect counter
    # With 24 bits, multiples of 4096 have numbers of their own up to $2^{24}\cdot4096$. Then the
    # step is 8192, and 4096 is half of it: a tie, which goes to the even neighbour, the counter
    # itself.
    assert counter - 4096 + 4096 == counter == counter + 4096
    assert counter - 4096 != counter
    assert counter.item() == 68_719_476_736


def exercise_six_bits():  # M6.2 M6.5 @exercise
    """Exercise: six bits.

    A format has a sign, 3 exponent bits and 2 fraction bits, and sets nothing aside: no infinity,
    no NaN. What is its largest number, and how many different ones does it have?
    """
    e3m2 = Format("fp6 E3M2", 3, 2, None, "nothing")
    largest = unpack(e3m2.largest_pattern, e3m2)  # @inspect largest
    # The bias is 3, so the top exponent is $7-3=4$, and the fraction adds three quarters.
    assert largest == 2**4 * (1 + 3 / 4) == 28
    # $2^6$ patterns, but zero has two.
    values = {unpack(pattern, e3m2) for pattern in range(2**6)}
    assert len(values) == 63
