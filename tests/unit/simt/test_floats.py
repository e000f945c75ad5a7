"""Floating-point instructions against exact rational arithmetic, rounded once."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from ptx_kernels import PREFIX, by_thread

from suite.arrays import Array

random = np.random.default_rng(2)
BF16 = np.dtype(ml_dtypes.bfloat16)
TYPES = {"f16": np.dtype(np.float16), "bf16": BF16, "f32": np.dtype(np.float32), "f64": np.dtype(np.float64)}
SPECIAL = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5]


def numbers(type_: str, count: int = 160, spread: float = 6) -> Array:
    """Special values, subnormals, and numbers of many magnitudes."""
    dtype = TYPES[type_]
    tiny = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    values = random.standard_normal(count - 11) * 2.0 ** random.uniform(-spread, spread, count - 11)
    edges = [*SPECIAL, tiny, -3 * tiny, float(ml_dtypes.finfo(dtype).max)]
    return random.permutation(np.concatenate([np.array(edges), values])).astype(dtype)


def neighbours(exact: Fraction, dtype: np.dtype[Any]) -> tuple[Any, Any]:
    """The largest value of a type that is not above a number, and the smallest that is not below it."""
    integer = np.dtype(f"i{dtype.itemsize}")
    with np.errstate(over="ignore"):
        nearest = np.array(float(exact)).astype(dtype)
    below = above = nearest

    def step(value: Any, direction: int) -> Any:
        if value == 0:
            tiny = np.array(1, integer).view(dtype)
            return tiny if direction > 0 else -tiny
        bits = value.view(integer)
        towards_larger = (direction > 0) == (float(value) > 0)
        return (bits + (1 if towards_larger else -1)).astype(integer).view(dtype)

    while not np.isinf(float(below)) and Fraction(float(below)) > exact:
        below = step(below, -1)
    if float(below) == np.inf:
        below = np.array(float(ml_dtypes.finfo(dtype).max)).astype(dtype)
    while not np.isinf(float(above)) and Fraction(float(above)) < exact:
        above = step(above, 1)
    if float(above) == -np.inf:
        above = -np.array(float(ml_dtypes.finfo(dtype).max)).astype(dtype)
    return below, above


def rounded(exact: Fraction, dtype: np.dtype[Any], mode: str) -> Any:
    """A number as a float; to nearest even through the neighbours on both sides."""
    below, above = neighbours(exact, dtype)
    if mode == "rm":
        return below
    if mode == "rp":
        return above
    if mode == "rz":
        return below if exact > 0 else above
    if float(below) == float(above):
        return below
    most = float(ml_dtypes.finfo(dtype).max)
    if np.isinf(float(above)) or np.isinf(float(below)):
        half = Fraction(most) + Fraction(most) * Fraction(float(ml_dtypes.finfo(dtype).eps)) / 4
        finite = below if np.isinf(float(above)) else above
        return finite if abs(exact) < half else (above if exact > 0 else below)
    low, high = exact - Fraction(float(below)), Fraction(float(above)) - exact
    if low == high:
        return below if below.view(f"i{dtype.itemsize}") % 2 == 0 else above
    return below if low < high else above


def check(found: Array, expected: list[Any], *, zeros: bool = False) -> None:
    """Equal bit by bit, except that NaN is NaN, and zeros may be of either sign."""
    wanted = np.array(expected, found.dtype)
    bits = f"u{found.dtype.itemsize}"
    same = (found.view(bits) == wanted.view(bits)) | (np.isnan(found) & np.isnan(wanted))
    if zeros:
        same |= (found == 0) & (wanted == 0)
    wrong = np.flatnonzero(~same)
    assert not wrong.size, f"{wrong.size} differ: {found[wrong[:5]]} instead of {wanted[wrong[:5]]}"


def operands(type_: str, count: int) -> str:
    return ", ".join(f"%{PREFIX[TYPES[type_].itemsize]}{n}" for n in range(count))


@pytest.mark.parametrize("type_", TYPES)
@pytest.mark.parametrize("op", ["add", "sub", "mul"])
def test_arithmetic(op: str, type_: str) -> None:
    a, b = numbers(type_), numbers(type_)
    function = {"add": np.add, "sub": np.subtract, "mul": np.multiply}[op]
    found = by_thread(f"{op}.{type_} {operands(type_, 3)};", [a, b], TYPES[type_])
    with np.errstate(all="ignore"):
        check(found, list(function(a, b)))


@pytest.mark.parametrize("type_", TYPES)
def test_fused_multiply_add_rounds_once(type_: str) -> None:
    a, b, c = (numbers(type_) for _ in range(3))
    near = random.random(a.size) < 0.5
    with np.errstate(all="ignore"):
        c = np.where(near, -(a * b), c).astype(a.dtype)
    found = by_thread(f"fma.rn.{type_} {operands(type_, 4)};", [a, b, c], TYPES[type_])
    expected: list[Any] = []
    with np.errstate(all="ignore"):
        for x, y, z in zip(a, b, c, strict=True):
            if all(np.isfinite(float(value)) for value in (x, y, z)):
                exact = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
                expected.append(rounded(exact, TYPES[type_], "rn"))
            else:
                expected.append(np.array(float(x) * float(y) + float(z)).astype(a.dtype))
    check(found, expected, zeros=True)


@pytest.mark.parametrize("mode", ["rz", "rm", "rp"])
@pytest.mark.parametrize("op", ["add", "mul", "div", "fma"])
@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_directed_rounding(type_: str, op: str, mode: str) -> None:
    a, b, c = (np.nan_to_num(numbers(type_), posinf=3, neginf=-3) for _ in range(3))
    a, b, c = (np.where(np.abs(x) > 1e30, x.dtype.type(2.1), x) for x in (a, b, c))
    b = np.where(np.abs(b) < 1e-30, b.dtype.type(0.3), b)
    a, c = (np.where(np.abs(x) < 1e-30, x.dtype.type(1.7), x) for x in (a, c))
    count = 4 if op == "fma" else 3
    found = by_thread(f"{op}.{mode}.{type_} {operands(type_, count)};", [a, b, c][: count - 1], TYPES[type_])
    expected: list[Any] = []
    for x, y, z in zip(a, b, c, strict=True):
        p, q, r = (Fraction(float(value)) for value in (x, y, z))
        exact = {"add": p + q, "mul": p * q, "div": p / q, "fma": p * q + r}[op]
        expected.append(rounded(exact, TYPES[type_], mode))
    check(found, expected, zeros=True)


@pytest.mark.parametrize(("type_", "nan"), [("f32", 0x7FFFFFFF), ("f16", 0x7FFF), ("bf16", 0x7FFF)])
def test_nan_has_one_form(type_: str, nan: int) -> None:
    """Sums of the same numbers in different orders are the same bits, whatever NaN they come from."""
    dtype = TYPES[type_]
    values = np.array([np.inf, -np.inf, np.nan, -np.nan, 1.0], dtype)
    a, b = np.repeat(values, 5), np.tile(values, 5)
    for op in (f"add.{type_}", f"sub.{type_}", f"fma.rn.{type_}", f"min.{type_}"):
        last = operands(type_, 3).rpartition(" ")[2]
        body = f"{op} {operands(type_, 3)}{', ' + last if 'fma' in op else ''};"
        for pair in ([a, b], [b, a]):
            found = by_thread(body, pair, dtype)
            assert np.isnan(found).any()
            assert (found[np.isnan(found)].view(f"u{dtype.itemsize}") == nan).all()


def test_subnormals_are_flushed() -> None:
    a = np.array([1e-40, -1e-40, 2e-38, 1.0, 3e-39], np.float32)
    b = np.array([1.0, 1.0, 0.5, 1e-40, 3e-39], np.float32)
    check(by_thread("mul.ftz.f32 %r0, %r1, %r2;", [a, b], np.float32), [0.0, -0.0, 0.0, 0.0, 0.0])
    check(by_thread("add.ftz.f32 %r0, %r1, %r2;", [a, b], np.float32), [1, 1, np.float32(0.5) + a[2], 1, 0])


@pytest.mark.parametrize("type_", TYPES)
def test_extrema(type_: str) -> None:
    a, b = numbers(type_), numbers(type_)
    a, b = (
        np.concatenate([a, a[::-1], [0.0, -0.0]]).astype(a.dtype),
        np.concatenate([b, a, [-0.0, 0.0]]).astype(b.dtype),
    )
    for op in ("min", "max"):

        def choose(x: Any, y: Any, op: str = op) -> Any:
            if np.isnan(float(x)) or np.isnan(float(y)):
                return y if np.isnan(float(x)) else x
            key = (float(x), not np.signbit(x)), (float(y), not np.signbit(y))
            return (x if key[0] <= key[1] else y) if op == "min" else (x if key[0] >= key[1] else y)

        found = by_thread(f"{op}.{type_} {operands(type_, 3)};", [a, b], TYPES[type_])
        check(found, [choose(x, y) for x, y in zip(a, b, strict=True)])
        if type_ == "f64":
            continue
        found = by_thread(f"{op}.NaN.{type_} {operands(type_, 3)};", [a, b], TYPES[type_])
        either = np.isnan(a) | np.isnan(b)
        check(found, [np.nan if bad else choose(x, y) for x, y, bad in zip(a, b, either, strict=True)])
        found = by_thread(f"{op}.xorsign.abs.{type_} {operands(type_, 3)};", [a, b], TYPES[type_])
        chosen = [choose(abs(x), abs(y)) for x, y in zip(a, b, strict=True)]
        negative = np.signbit(a) != np.signbit(b)
        check(found, [-abs(x) if minus else abs(x) for x, minus in zip(chosen, negative, strict=True)])


@pytest.mark.parametrize("type_", TYPES)
def test_signs(type_: str) -> None:
    a, b = numbers(type_), numbers(type_)
    check(by_thread(f"abs.{type_} {operands(type_, 2)};", [a], TYPES[type_]), list(np.abs(a)))
    check(by_thread(f"neg.{type_} {operands(type_, 2)};", [a], TYPES[type_]), list(-a))
    if type_ in ("f32", "f64"):
        found = by_thread(f"copysign.{type_} {operands(type_, 3)};", [a, b], TYPES[type_])
        check(found, list(np.copysign(b, a)))


@pytest.mark.parametrize("type_", ["f32", "f64"])
def test_division_and_roots(type_: str) -> None:
    a, b = numbers(type_), numbers(type_)
    with np.errstate(all="ignore"):
        check(by_thread(f"div.rn.{type_} {operands(type_, 3)};", [a, b], TYPES[type_]), list(a / b))
        check(by_thread(f"sqrt.rn.{type_} {operands(type_, 2)};", [a], TYPES[type_]), list(np.sqrt(a)))
        check(by_thread(f"rcp.rn.{type_} {operands(type_, 2)};", [a], TYPES[type_]), list(1 / a))


@pytest.mark.parametrize(
    ("op", "function"),
    [
        ("ex2.approx.ftz", np.exp2),
        ("lg2.approx", np.log2),
        ("sin.approx", np.sin),
        ("cos.approx", np.cos),
        ("tanh.approx", np.tanh),
        ("rsqrt.approx", lambda x: 1 / np.sqrt(x)),
        ("rcp.approx", lambda x: 1 / x),
        ("sqrt.approx", np.sqrt),
    ],
)
def test_special_functions(op: str, function: Any) -> None:
    a = numbers("f32", spread=3)
    found = by_thread(f"{op}.f32 %r0, %r1;", [a], np.float32)
    with np.errstate(all="ignore"):
        expected = function(a.astype(np.float64)).astype(np.float32)
    tiny = np.abs(a) < 2.0**-126
    np.testing.assert_allclose(found[~tiny], expected[~tiny], rtol=2e-7)


@pytest.mark.parametrize("type_", ["f16", "bf16"])
def test_pairs(type_: str) -> None:
    a, b, c = (numbers(type_, 64).view(np.uint32) for _ in range(3))
    x, y, z = (values.view(TYPES[type_]) for values in (a, b, c))
    with np.errstate(all="ignore"):
        found = by_thread(f"add.{type_}x2 %r0, %r1, %r2;", [a, b], np.uint32)
        check(found.view(TYPES[type_]), list(x + y))
        found = by_thread(f"max.{type_}x2 %r0, %r1, %r2;", [a, b], np.uint32)
        check(found.view(TYPES[type_]), list(np.fmax(x, y)), zeros=True)
        found = by_thread(f"fma.rn.{type_}x2 %r0, %r1, %r2, %r3;", [a, b, c], np.uint32)
        wide = x.astype(np.float64) * y.astype(np.float64) + z.astype(np.float64)
        close = np.isfinite(wide) & (np.abs(wide) < 1e4) & (np.abs(wide) > 1e-2)
        got = found.view(TYPES[type_]).astype(np.float64)
        np.testing.assert_allclose(got[close], wide[close], rtol=2.0**-8)


@pytest.mark.parametrize("type_", TYPES)
def test_comparisons(type_: str) -> None:
    a, b = numbers(type_), numbers(type_)
    b = np.where(random.random(a.size) < 0.3, a, b)
    nan = np.isnan(a) | np.isnan(b)
    sources = ", ".join(f"%{PREFIX[a.dtype.itemsize]}{n}" for n in (1, 2))
    with np.errstate(invalid="ignore"):
        relations = {"lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b, "eq": a == b, "ne": (a != b) & ~nan}
    for op, expected in relations.items():
        np.testing.assert_array_equal(by_thread(f"setp.{op}.{type_} %p0, {sources};", [a, b], np.bool_), expected)
        found = by_thread(f"setp.{op}u.{type_} %p0, {sources};", [a, b], np.bool_)
        np.testing.assert_array_equal(found, expected | nan)
    np.testing.assert_array_equal(by_thread(f"setp.nan.{type_} %p0, {sources};", [a, b], np.bool_), nan)
    np.testing.assert_array_equal(by_thread(f"setp.num.{type_} %p0, {sources};", [a, b], np.bool_), ~nan)


def test_properties() -> None:
    a = numbers("f32")
    tests = {
        "finite": np.isfinite(a),
        "infinite": np.isinf(a),
        "notanumber": np.isnan(a),
        "subnormal": (a != 0) & (np.abs(a) < 2.0**-126),
    }
    for name, expected in tests.items():
        np.testing.assert_array_equal(by_thread(f"testp.{name}.f32 %p0, %r1;", [a], np.bool_), expected)
