"""The device library on CPUs and in the reference: rounding modes bit by bit, Bessel functions, parts of floats."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import f32, f64, i32, i64
from xdsl.ir import Attribute

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.language.extra import libdevice
from tilewright.lowering.arith_to_linalg.elementwise import SYMBOL_TABLES
from tilewright.lowering.arith_to_linalg.extern_symbols import find_extern_symbol
from tilewright.support import knobs

BLOCK = 256
BITS: dict[Any, Any] = {np.float32: np.uint32, np.float64: np.uint64}
MODES = ("rd", "ru", "rz")


@triton.jit
def of_one(x_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i)))


@triton.jit
def of_two(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def of_three(x_ptr, y_ptr, z_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)))


KERNELS = (of_one, of_two, of_three)


def run(function: Any, result: Any, *operands: Array, target: str = "cpu") -> Array:
    """A function of the library on arrays of any length."""
    blocks = -(-len(operands[0]) // BLOCK)
    padded = [np.concatenate([v, np.ones(blocks * BLOCK - len(v), v.dtype)]) for v in operands]
    out = np.zeros(blocks * BLOCK, result)
    with knobs.scope(target=target):
        KERNELS[len(operands) - 1][(blocks,)](*padded, out, FUNCTION=function, N=BLOCK)
    return out[: len(operands[0])]


def assert_same_bits(got: Array, want: Array) -> None:
    """Equal, zeros with their signs; any NaN equals any other."""
    np.testing.assert_array_equal(got, want)
    number = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]))


# Every function has a meaning

_TYPES: dict[str, Attribute] = {"i": i32, "u": i32, "l": i64, "v": i64, "f": f32, "d": f64}


def overloads() -> list[tuple[str, str, str]]:
    """(arguments, symbol, result) of every function that the library declares."""
    table: dict[str, str] = libdevice.FUNCTIONS
    parts = [overload.split(":") for text in table.values() for overload in text.split()]
    return [(arguments, f"__nv_{symbol}", result) for arguments, symbol, result in parts]


def test_every_declared_function_is_lowered() -> None:
    missing = [
        symbol
        for arguments, symbol, result in overloads()
        if find_extern_symbol(SYMBOL_TABLES, symbol, [_TYPES[letter] for letter in arguments], _TYPES[result]) is None
    ]
    assert not missing


# Rounding modes

ARITHMETIC: dict[str, tuple[int, Callable[..., Any]]] = {
    "add": (2, lambda x, y: x + y),
    "sub": (2, lambda x, y: x - y),
    "mul": (2, lambda x, y: x * y),
    "div": (2, lambda x, y: x / y),
    "rcp": (1, lambda x: 1 / x),
    "fma": (3, lambda x, y, z: x * y + z),
}


def special_values(dtype: Any) -> list[float]:
    info = np.finfo(dtype)
    least, tiny, top = float(info.smallest_subnormal), float(info.tiny), float(info.max)
    half = 2.0 ** (info.minexp // 2)
    positive = [0.0, least, 3 * least, tiny - least, tiny, half, 1.0, 1 + float(info.eps), 3.0, top, math.inf]
    return [*positive, *(-value for value in positive), math.nan]


def operands(dtype: Any, count: int) -> list[Array]:
    """Special values with each other, any bits at all, and numbers so close in size that all digits meet."""
    random = np.random.default_rng(count)
    special = np.array(list(itertools.product(special_values(dtype), repeat=count)), dtype)
    if len(special) > 600:
        special = special[random.choice(len(special), 600, replace=False)]
    anything = random.integers(0, np.iinfo(BITS[dtype]).max, (300, count), BITS[dtype], endpoint=True).view(dtype)
    info = np.finfo(dtype)
    scale = random.integers(info.minexp - info.nmant, info.maxexp, 400)
    parts = [np.ldexp(random.uniform(-2, 2, 400), scale - 40), np.ldexp(random.uniform(-2, 2, 400), 40)]
    with np.errstate(all="ignore"):
        parts.append(-(parts[0] * parts[1]) * random.choice([1, 1, 1 + 2.0**-20, 2.0**-60], 400))
        close = np.stack(parts[:count] if count != 2 else [parts[0], parts[2] * 2.0**-40], 1).astype(dtype)
    return [np.ascontiguousarray(column) for column in np.concatenate([special, anything, close]).T]


def next_up(value: float, dtype: Any) -> float:
    """The following float, which may be infinite."""
    with np.errstate(over="ignore"):
        return float(np.nextafter(dtype(value), dtype(np.inf)))


def assert_encloses(low: float, high: float, exact: Fraction, dtype: Any) -> None:
    """Two neighbouring floats, or twice the same, with a number between them."""
    bottom = -math.inf if low == -math.inf else Fraction(low)
    top = math.inf if high == math.inf else Fraction(high)
    assert bottom <= exact <= top
    assert low == high == exact or (low < high == next_up(low, dtype) and bottom != exact != top)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_directed_arithmetic(name: str, dtype: Any) -> None:
    """Down and up enclose the exact value; towards zero is the one of them that is nearer to zero."""
    count, meaning = ARITHMETIC[name]
    x = operands(dtype, count)
    down, up, cut = (run(getattr(libdevice, f"{name}_{mode}"), dtype, *x) for mode in MODES)
    for lane, low, high, inner in zip(zip(*x, strict=True), down, up, cut, strict=True):
        numbers = [float(value) for value in lane]
        dividend = numbers[-1] if name in ("div", "rcp") else 1
        if not all(map(math.isfinite, numbers)) or dividend == 0:
            np.testing.assert_array_equal([low, high, inner], [low] * 3)
            continue
        exact = meaning(*map(Fraction, numbers))
        assert_encloses(float(low), float(high), exact, dtype)
        assert inner == (low if exact >= 0 else high)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_directed_roots(dtype: Any) -> None:
    (x,) = operands(dtype, 1)
    down, up, cut = (run(libdevice.__dict__[f"sqrt_{mode}"], dtype, x) for mode in MODES)
    assert_same_bits(cut, down)
    for value, low, high in zip(x.tolist(), down.tolist(), up.tolist(), strict=True):
        if math.isfinite(value) and value > 0:
            assert Fraction(low) ** 2 <= Fraction(value) <= Fraction(high) ** 2
            assert high == (low if Fraction(low) ** 2 == Fraction(value) else next_up(low, dtype))
        else:
            np.testing.assert_array_equal([low, high], [math.sqrt(value) if value >= 0 else math.nan] * 2)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", [*ARITHMETIC, "sqrt"])
def test_reference_rounds_as_the_cpu(name: str, dtype: Any) -> None:
    """Also what enclosing leaves open: signs of zeros, infinities and NaN."""
    count = ARITHMETIC[name][0] if name in ARITHMETIC else 1
    random = np.random.default_rng(1)
    columns = operands(dtype, count)
    chosen = random.choice(len(columns[0]), 250)
    x = [column[chosen] for column in columns]
    for mode in MODES:
        function = getattr(libdevice, f"{name}_{mode}")
        assert_same_bits(run(function, dtype, *x), run(function, dtype, *x, target="reference"))


def test_signs_of_zeros_and_overflow() -> None:
    x = np.array([1, 0, 0, -0.0, -0.0, 3e38, -3e38, np.inf], np.float32)
    y = np.array([-1, 0, -0.0, 0, -0.0, 3e38, -3e38, -1], np.float32)
    top = np.finfo(np.float32).max
    want = {
        "rd": [-0.0, 0.0, -0.0, -0.0, -0.0, top, -np.inf, np.inf],
        "ru": [0.0, 0.0, 0.0, 0.0, -0.0, np.inf, -top, np.inf],
        "rz": [0.0, 0.0, 0.0, 0.0, -0.0, top, -top, np.inf],
    }
    for target, mode in itertools.product(("cpu", "reference"), MODES):
        got = run(getattr(libdevice, f"add_{mode}"), np.float32, x, y, target=target)
        assert_same_bits(got, np.array(want[mode], np.float32))


@triton.jit
def product_and_sum(x, y, z):
    return libdevice.add_rn(libdevice.mul_rn(x, y), z)


@triton.jit
def sum_of_a_product(x, y, z):
    return libdevice.add_ru(x * y, z)


def test_roundings_are_not_contracted() -> None:
    """A product may be fused with a plain sum only: x * y - round(x * y) is zero in two roundings."""
    x, y = (np.random.default_rng(seed).uniform(1, 2, BLOCK).astype(np.float32) for seed in range(2))
    for function in (product_and_sum, sum_of_a_product):
        assert_same_bits(run(function, np.float32, x, y, -(x * y)), np.zeros(BLOCK, np.float32))


CONVERSIONS = [
    *((source, "float", mode) for source in ("int", "uint", "ll", "ull", "double") for mode in MODES),
    *((source, "double", mode) for source in ("ll", "ull") for mode in MODES),
]
SOURCES: dict[str, Any] = {
    "int": np.int32,
    "uint": np.uint32,
    "ll": np.int64,
    "ull": np.uint64,
    "double": np.float64,
}


def convertible(dtype: Any) -> Array:
    if dtype is np.float64:
        with np.errstate(invalid="ignore"):  # NaN of any bits
            narrow = operands(np.float32, 1)[0].astype(np.float64)
        return np.concatenate([operands(np.float64, 1)[0], narrow, narrow[25:] * (1 + 2.0**-40)])
    info = np.iinfo(dtype)
    near = [sign * (2**power + step) for power in range(64) for step in (-1, 0, 1) for sign in (1, -1)]
    edges = np.array([value for value in near if info.min <= value <= info.max], dtype)
    random = np.random.default_rng(2)
    spread = random.integers(info.min, info.max, 200, dtype, endpoint=True)
    return np.concatenate([edges, spread >> random.integers(0, info.bits, 200).astype(dtype)])


@pytest.mark.parametrize(("source", "target", "mode"), CONVERSIONS)
def test_directed_conversions(source: str, target: str, mode: str) -> None:
    x, result = convertible(SOURCES[source]), np.float32 if target == "float" else np.float64
    function = getattr(libdevice, f"{source}2{target}_{mode}")
    got = run(function, result, x)
    assert_same_bits(got, run(function, result, x, target="reference"))
    for value, rounded in zip(x.tolist(), got.tolist(), strict=True):
        if math.isfinite(value) and math.isfinite(rounded):
            inner = Fraction(value) if mode == "rd" else -Fraction(value) if mode == "ru" else abs(Fraction(value))
            mirrored = rounded if mode == "rd" else -rounded if mode == "ru" else abs(rounded)
            following = next_up(mirrored, result)
            assert Fraction(mirrored) <= inner
            assert following == math.inf or inner < Fraction(following)


def test_inverse_roots_are_rounded_once() -> None:
    x = np.random.default_rng(4).uniform(1, 4, 8 * BLOCK).astype(np.float32)
    got = run(libdevice.rsqrt_rn, np.float32, x)
    assert_same_bits(got, (1 / np.sqrt(x.astype(np.longdouble))).astype(np.float32))


# Bessel functions

VALUES = {
    "j0": (1.0, 0.7651976865579666),
    "j1": (10.0, 0.04347274616886144),
    "y0": (1.0, 0.08825696421567697),
    "y1": (10.0, 0.24901542420695388),
    "cyl_bessel_i0": (10.0, 2815.716628466254),
    "cyl_bessel_i1": (1.0, 0.5651591039924851),
}


def arguments(dtype: Any) -> Array:
    random = np.random.default_rng(6)
    parts = [random.uniform(0, 8, 40), random.uniform(7.9, 60, 30), random.uniform(60, 700, 20)]
    ends = [0.0, 8.0, 1e-300, 1e-30, 5e3, math.inf, math.nan]
    x = np.concatenate([*parts, 10 ** random.uniform(-9, 0, 20), ends])
    return np.concatenate([x, -x[::5]]).astype(dtype)


def assert_near(got: Array, want: Array, tolerance: float) -> None:
    """Within a tolerance, absolute for values below 1; infinities and NaN in the same places."""
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    error = np.abs(got[finite].astype(np.float64) - want[finite]) / np.maximum(1, np.abs(want[finite]))
    assert np.all(error < tolerance), float(np.max(error))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", VALUES)
def test_bessel_functions(name: str, dtype: Any) -> None:
    x, function = arguments(dtype), getattr(libdevice, name)
    want = run(function, dtype, x, target="reference")
    assert_near(run(function, dtype, x), want, 1e-13 if dtype is np.float64 else 1.3e-7)
    place, value = VALUES[name]
    for target in ("cpu", "reference"):
        got = run(function, np.float64, np.array([place]), target=target)
        np.testing.assert_allclose(got, [value], rtol=1e-14)


@pytest.mark.costly
def test_single_bessel_functions_are_next_to_the_exact_value() -> None:
    x = np.random.default_rng(8).uniform(0, 100, 300).astype(np.float32)
    for name in VALUES:
        function = getattr(libdevice, name)
        if name.startswith("cyl"):
            x = x[x < 80]
        exact = run(function, np.float64, x.astype(np.float64), target="reference")
        got = run(function, np.float32, x).astype(np.float64)
        assert np.all(np.abs(got - exact) <= np.spacing(np.abs(exact).astype(np.float32)))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", ["jn", "yn"])
def test_bessel_functions_of_any_order(name: str, dtype: Any) -> None:
    random = np.random.default_rng(7)
    ends: Sequence[tuple[int, float]] = [
        *itertools.product((0, 1, 2, 3, -1), (0.0, -3.0, 3.0, 1e-120, math.inf, -math.inf, math.nan)),
        (200, 1.0),
        (100000, 1.0),
        (700, 690.0),
    ]
    n = np.concatenate([random.integers(0, 12, 60), random.integers(0, 300, 30), [order for order, _ in ends]])
    x = np.concatenate([random.uniform(-20, 20, 60), random.uniform(0, 300, 30), [place for _, place in ends]])
    n, x, function = n.astype(np.int32), x.astype(dtype), getattr(libdevice, name)
    want = run(function, dtype, n, x, target="reference")
    assert_near(run(function, dtype, n, x), want, 1e-13 if dtype is np.float64 else 1.3e-7)


# Parts of floats


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_exponents(dtype: Any) -> None:
    (x,) = operands(dtype, 1)
    exponents = np.frexp(x)[1] - 1
    usual = np.isfinite(x) & (x != 0)
    logb = np.where(x == 0, -np.inf, np.abs(x))
    ilogb = np.where(np.isinf(x), 2**31 - 1, -(2**31))
    for target in ("cpu", "reference"):
        got = run(libdevice.logb, dtype, x, target=target)
        np.testing.assert_array_equal(got, np.where(usual, exponents, logb))
        got = run(libdevice.ilogb, np.int32, x, target=target)
        np.testing.assert_array_equal(got, np.where(usual, exponents, ilogb))


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
def test_neighbours(dtype: Any) -> None:
    x, y = operands(dtype, 2)
    with np.errstate(all="ignore"):
        want = np.nextafter(x, y)
    for target in ("cpu", "reference"):
        assert_same_bits(run(libdevice.nextafter, dtype, x, y, target=target), want)


def test_upper_words_of_reciprocals() -> None:
    (x,) = operands(np.float64, 1)
    got = run(libdevice.rcp64h, np.float64, x)
    assert_same_bits(got, run(libdevice.rcp64h, np.float64, x, target="reference"))
    assert not np.any(got[~np.isnan(got)].view(np.uint64) & np.uint64(0xFFFFFFFF))
    usual = (np.abs(x) > 1e-307) & (np.abs(x) < 1e307)
    np.testing.assert_allclose(got[usual] * x[usual], 1, rtol=2.0**-19)


# Functions at their difficult places

DIFFICULT: dict[str, tuple[list[float], float]] = {
    "sinpi": ([1 + 2.0**-20, -3 + 2.0**-18, 2.5, 1e6 + 0.25, 3.0, -4.0, -0.0, 2.0**-20], 4),
    "cospi": ([0.5 + 2.0**-20, -1.5 + 2.0**-18, 2.0, 1e6 + 0.25, 0.5, -2.5, 0.48710337], 4),
    "normcdf": ([-3.676114, -4.7666, -9.0, -12.5, 0.0, 3.0, -37.0, -50.0, math.inf, -math.inf, math.nan], 4),
    "tgamma": ([-1 - 2.0**-20, -1 + 2.0**-20, -2 - 2.0**-19, -4.98171, 1e-30, -1e-30, 0.0, -0.0, 5.0], 60),
    "lgamma": ([-1 - 2.0**-20, -3.5, -1e15, 2.5, 100.0, -math.inf], 60),
    "erfinv": ([0.0, -0.0, 1e-30, 0.5, -0.9, 1 - 2.0**-24, 1.0, -1.0, 1.5], 16),
    "round": ([0.5, -2.5, 0.49999997, 8388609.0, -0.0, -0.3, math.inf], 0),
    "erfcx": ([-2.0, 0.0, 1.0, 2.999, 11.9, 12.1, 1e10, 1e38, math.inf], 200),
}
"""Places, and how many units in the last place of f64 the results may differ; those of f32 are rounded once."""


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["f32", "f64"])
@pytest.mark.parametrize("name", DIFFICULT)
def test_difficult_places(name: str, dtype: Any) -> None:
    places, units = DIFFICULT[name]
    x, function = np.array(places, np.float32).astype(dtype), getattr(libdevice, name)
    got, want = run(function, dtype, x), run(function, dtype, x, target="reference")
    bound = (4 if dtype is np.float32 else units) * np.finfo(dtype).eps
    np.testing.assert_allclose(got, want, rtol=bound, atol=float(np.finfo(dtype).smallest_subnormal))
    zeros = want == 0
    np.testing.assert_array_equal(np.signbit(got[zeros]), np.signbit(want[zeros]))


EXACT: dict[str, list[tuple[float, float]]] = {
    "erfinv": [
        (9.999999960041972e-13, 8.8622692191157e-13),
        (0.019999999552965164, 0.017726394630379203),
        (0.3499999940395355, 0.320858315860063),
        (0.699999988079071, 0.7328690598827589),
        (0.8999999761581421, 1.1630870719457722),
        (0.9980000257492065, 2.185126922883975),
        (0.9999998807907104, 3.7439211627767994),
        (0.9999999403953552, 3.832506856900711),
        (0.9999999999999999, 5.8635847487551676),
    ],
    "erfcinv": [
        (1.5, -0.4769362762044699),
        (0.8999999761581421, 0.08885601179103844),
        (0.10000000149011612, 1.1630871485684922),
        (0.0010000000474974513, 2.326753756064405),
        (9.99999993922529e-09, 4.052237244600268),
        (9.999999682655225e-21, 6.601580624732017),
        (9.99999991097579e-38, 9.078074885063522),
        (1e-100, 15.065574702592645),
        (1e-300, 26.209469960516124),
    ],
    "normcdfinv": [
        (0.75, 0.6744897501960817),
        (0.30000001192092896, -0.5244004784222137),
        (0.009999999776482582, -2.3263478824273123),
        (9.999999974752427e-07, -4.7534243093331225),
        (1.0000000036274937e-15, -7.941345325721135),
        (1.0000000031710769e-30, -11.464024688169063),
        (1e-100, -21.273453560965326),
        (1e-300, -37.0470962993612),
    ],
    "tgamma": [
        (9.999999974752427e-07, 999999.4253100815),
        (0.30000001192092896, 2.9915688627795913),
        (0.5, 1.772453850905516),
        (1.7000000476837158, 0.9086387418891017),
        (3.200000047683716, 2.4239655953848476),
        (7.989999771118164, 4939.459271842532),
        (8.5, 14034.407293483413),
        (9.25, 69106.22689508938),
        (20.299999237060547, 2.9724543040495354e17),
        (33.5, 1.505856975626702e36),
        (-0.30000001192092896, -4.3268509998205005),
        (-3.299999952316284, 0.43851746790086976),
        (-8.75, -2.1426084765762824e-05),
        (-20.600000381469727, -2.1976804130174706e-19),
        (100.2, 2.3423720250294662e156),
        (168.5, 1.9474602083488703e301),
        (-120.3, -1.3782875831085362e-199),
    ],
    "lgamma": [
        (9.999999974752427e-07, 13.81550998327419),
        (0.30000001192092896, 1.095797953064734),
        (0.5099999904632568, 0.5529738361925451),
        (1.7000000476837158, -0.09580768746272736),
        (3.200000047683716, 0.8854048747832592),
        (7.989999771118164, 8.505011145049691),
        (8.5, 9.549267257300997),
        (9.25, 11.143400119951712),
        (33.5, 83.30242550295006),
        (10000.0, 82099.71749644238),
        (1.0000000200408773e20, 4.5051702782797425e21),
        (-0.30000001192092896, 1.4648400256649878),
        (-3.299999952316284, -0.8243556323855047),
        (-8.75, -10.75090146392139),
        (-200.60000610351562, -865.2184876875289),
        (1e200, 4.595170185988091e202),
    ],
}
"""Places that f32 has too, up to 1e37, and the values of forty-five digits there, rounded."""


@pytest.mark.parametrize(
    ("name", "units"), [("erfinv", 3), ("erfcinv", 3), ("normcdfinv", 4), ("tgamma", 5), ("lgamma", 4)]
)
def test_inverses_and_gamma_functions_against_values_of_many_digits(name: str, units: int) -> None:
    x, want = np.array(EXACT[name]).T
    function = getattr(libdevice, name)
    got = run(function, np.float64, x, target="cpu")
    np.testing.assert_array_less(np.abs(got - want) / np.spacing(np.abs(want)), units + 0.5)
    with np.errstate(over="ignore"):
        is_float = x.astype(np.float32) == x
        x, want = x[is_float].astype(np.float32), want[is_float].astype(np.float32)
    np.testing.assert_array_max_ulp(run(function, np.float32, x, target="cpu"), want, maxulp=1)


def test_the_inverse_in_single_precision_is_within_two_units() -> None:
    rng = np.random.default_rng(3)
    near_one = 1 - 10 ** rng.uniform(-7.2, 0, 4000)
    x = np.concatenate([rng.uniform(-1, 1, 4000), near_one, 10 ** rng.uniform(-44, 0, 2000)]).astype(np.float32)
    got, want = run(libdevice.erfinv, np.float32, x), run(libdevice.erfinv, np.float64, x.astype(np.float64))
    inside = np.abs(x) < 1
    units = np.abs(got - want)[inside] / np.spacing(np.abs(want[inside]).astype(np.float32))
    assert units.max() < 2
    np.testing.assert_array_equal(got[~inside], np.copysign(np.inf, x[~inside]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_near_the_zeros_of_its_logarithm(dtype: Any) -> None:
    """The first terms of the Taylor series at 1 and 2 are exact to 19 digits there, the logarithm at them is 0."""
    step = np.array([2.0**-20, -(2.0**-20), 2.0**-22, 0, 0.0])
    euler, zeta_2, zeta_3 = 0.5772156649015329, 1.6449340668482264, 1.2020569031595943
    for zero, terms in ((1, (-euler, zeta_2 / 2, -zeta_3 / 3)), (2, (1 - euler, (zeta_2 - 1) / 2, (1 - zeta_3) / 3))):
        got = run(libdevice.lgamma, dtype, (zero + step).astype(dtype), target="cpu")
        want = step * (terms[0] + step * (terms[1] + step * terms[2]))
        np.testing.assert_allclose(got, want, rtol=3 * np.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gamma_of_whole_numbers_and_halves(dtype: Any) -> None:
    """Factorials, and gamma(x + 1) = x gamma(x) from sqrt(pi) on: both reductions and the formula for large numbers."""
    x = np.arange(0.5, 20.5, 0.5)
    want = [
        math.factorial(int(v) - 1) if v % 1 == 0 else math.prod(np.arange(0.5, v)) * math.pi**0.5 for v in x.tolist()
    ]
    got = run(libdevice.tgamma, dtype, x.astype(dtype), target="cpu")
    np.testing.assert_allclose(got, np.array(want, dtype), rtol=6 * np.finfo(dtype).eps)
    logarithms = run(libdevice.lgamma, dtype, x.astype(dtype), target="cpu")
    np.testing.assert_allclose(logarithms, np.log(want), rtol=4 * np.finfo(dtype).eps, atol=0)


def test_normal_distribution_far_from_its_middle() -> None:
    """Values of forty digits, rounded; the error of -x / sqrt 2 alone would be twenty units in the last place."""
    x = np.array([-4.5350994454384725, -7.3, -12.0])
    want = [2.878817526998499e-06, 1.4388386381575877e-13, 1.776482112077679e-33]
    for target in ("cpu", "reference"):
        np.testing.assert_allclose(run(libdevice.normcdf, np.float64, x, target=target), want, rtol=1e-15)


def test_numbers_next_to_those_that_cannot_be_told_apart() -> None:
    """log(x) of the smallest number, and a large odd number plus a half, which is not a double."""
    for target in ("cpu", "reference"):
        least, large = np.array([5e-324, -5e-324]), np.array([6311184575413999.0, 0.49999999999999994])
        np.testing.assert_allclose(run(libdevice.lgamma, np.float64, least, target=target), 744.4400719213812)
        np.testing.assert_array_equal(run(libdevice.llround, np.int64, large, target=target), [6311184575413999, 0])


def test_inverse_norms_of_large_vectors() -> None:
    """The norm is too large for f32, its inverse is subnormal."""
    x = np.array([3e38, -3.4e38, 0.0, 3.0, np.inf, np.nan, 1e-40], np.float32)
    y = np.array([3e38, 3.4e38, 0.0, -4.0, np.nan, 1.0, 1e-40], np.float32)
    for target in ("cpu", "reference"):
        got = run(libdevice.rhypot, np.float32, x, y, target=target)
        want = np.array([1 / 4.2426407e38, 1 / 4.8083261e38, np.inf, 0.2, 0.0, np.nan, np.inf], np.float32)
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_large_odd_powers_keep_the_sign() -> None:
    """An odd integer that f32 cannot count is still odd."""
    x = np.array([-1.0, -1.0, -0.99999994, -2.0, -2.0, 3.0], np.float32)
    n = np.array([2**24 + 1, 2**31 - 1, -718407241, 33554433, -33554433, 3], np.int32)
    want = np.array([-1, -1, -3.9506417e18, -np.inf, -0.0, 27], np.float32)
    for target in ("cpu", "reference"):
        got = run(libdevice.pow, np.float32, x, n, target=target)
        np.testing.assert_allclose(got, want, rtol=1e-6)
        np.testing.assert_array_equal(np.signbit(got), np.signbit(want))
