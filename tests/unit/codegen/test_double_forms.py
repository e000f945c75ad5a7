"""Vector math of f64, and what f32 takes from it: largest error in ulp against extended precision, special values."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from math_harness import compiled_math

from suite.arrays import Array
from tilewright.codegen.math_library import DOUBLE_FORMS
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
SPECIAL = np.array([
    0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 2, -2, 0.5, -0.5, 5e-324, -5e-324, 1e-310, 2.2250738585072014e-308,
    1.7e308, -1.7e308, 1e-20, np.pi, -np.pi, 709.78, 709.79, -745.1, -745.2, 1024, -1074, -1075, 0.625,
])  # fmt: skip
random = np.random.default_rng(0)

Reference = Callable[[Array], Array]
UNARY: dict[str, tuple[Reference, list[tuple[float, float]]]] = {
    "exp": (np.exp, [(-746, 710), (-1, 1)]),
    "exp2": (np.exp2, [(-1076, 1025), (-1, 1)]),
    "log": (np.log, [(0, 10), (0.5, 2)]),
    "log2": (np.log2, [(0, 10), (0.5, 2)]),
    "log10": (np.log10, [(0, 10), (0.5, 2)]),
    "log1p": (np.log1p, [(-1, 10), (-0.5, 0.5), (-1e-3, 1e-3)]),
    "sin": (np.sin, [(-10, 10), (-1e6, 1e6)]),
    "cos": (np.cos, [(-10, 10), (-1e6, 1e6)]),
    "tanh": (np.tanh, [(-20, 20), (-1, 1)]),
    "expm1": (np.expm1, [(-40, 710), (-1, 1)]),
    "tan": (np.tan, [(-10, 10), (-1e6, 1e6)]),
    "asin": (np.arcsin, [(-1, 1), (0.4, 0.6)]),
    "acos": (np.arccos, [(-1, 1), (-0.6, -0.4)]),
    "sinh": (np.sinh, [(-711, 711), (-2, 2)]),
    "cosh": (np.cosh, [(-711, 711), (-2, 2)]),
    "asinh": (np.arcsinh, [(-10, 10), (-1e9, 1e9), (-1e-3, 1e-3)]),
    "acosh": (np.arccosh, [(1, 1.1), (1, 1e9)]),
    "atanh": (np.arctanh, [(-1, 1), (-1e-3, 1e-3)]),
    "cbrt": (np.cbrt, [(-8, 8), (-1e-308, 1e-308)]),
    "atan": (np.arctan, [(-3, 3), (-0.5, 0.5)]),
}


def machines() -> list[CpuFacts]:
    host = host_facts()
    return [host, named_facts("x86-64-v3")] if host.is_x86 and host.has("avx2") else [host]


def samples(*ranges: tuple[float, float]) -> Array:
    """Special values, all exponents and both signs, and some ranges."""
    every = random.integers(0, 1 << 64, 1 << 14, dtype=np.uint64).view(np.float64)
    return np.concatenate([SPECIAL, every, *(random.uniform(*r, 1 << 13) for r in ranges)])


def error_in_ulp(result: Array, exact: Array) -> float:
    """The largest error; infinities and NaNs have to agree."""
    rounded = exact.astype(result.dtype)
    assert np.array_equal(np.isnan(result), np.isnan(rounded))
    finite = np.isfinite(rounded) & np.isfinite(result)
    assert np.array_equal(result[~finite], rounded[~finite], equal_nan=True)
    spacing = np.spacing(np.maximum(np.abs(rounded[finite]), np.finfo(result.dtype).tiny))
    return float((np.abs(result[finite].astype(exact.dtype) - exact[finite]) / spacing).max())


def test_every_form_is_measured() -> None:
    assert set(DOUBLE_FORMS) == {*UNARY, "atan2", "erf", "erfc", "fmod", "pow", "rsqrt"}


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_number(name: str) -> None:
    reference, ranges = UNARY[name]
    x = samples(*ranges)
    exact = reference(x.astype(np.longdouble))
    for facts in machines():
        for lanes in (0, 8):
            result = compiled_math(name, 1, lanes, facts, "double")(x)
            reached = np.abs(x) < 2.0**20 if name in ("sin", "cos", "tan") else np.ones(x.shape, np.bool_)
            # What is too large to reduce, and what shares a vector with it, is libm's.
            assert error_in_ulp(result[reached], exact[reached]) <= 2.0, (facts.cpu, lanes)


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_large_angles_are_those_of_libm(name: str) -> None:
    x = np.array([2.0**20, 1e10, -1e22, 1.7e308, np.inf, 0.5, -0.0, np.nan])
    result = compiled_math(name, 1, 8, host_facts(), "double")(x)
    np.testing.assert_allclose(result, getattr(np, name)(x), rtol=1e-15)


@pytest.mark.parametrize(
    "name", ["sin", "tan", "sinh", "asinh", "asin", "atanh", "tanh", "erf", "atan", "expm1", "log1p", "cbrt"]
)
def test_odd_functions_keep_the_sign_of_zero(name: str) -> None:
    result = compiled_math(name, 1, 8, host_facts(), "double")(np.array([-0.0, 0.0]))
    assert np.array_equal(np.signbit(result), [True, False])


def pairs(dtype: type) -> tuple[Array, Array]:
    """Special values with each other, and numbers of similar and of different size."""
    y, x = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    y = np.concatenate(
        [y, random.uniform(-9, 9, 1 << 14), random.uniform(-1e9, 1e9, 512), random.integers(-99, 99, 4096)]
    )
    x = np.concatenate(
        [x, random.uniform(-3, 3, 1 << 14), random.uniform(-1e-9, 1e-9, 512), random.integers(-9, 9, 4096)]
    )
    return y.astype(dtype), x.astype(dtype)


@pytest.mark.parametrize(("scalar", "dtype", "limit"), [("double", np.float64, 2.0), ("float", np.float32, 0.51)])
def test_angles_of_two_numbers(scalar: str, dtype: type, limit: float) -> None:
    y, x = pairs(dtype)
    exact = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    for facts in machines():
        result = compiled_math("atan2", 2, 8, facts, scalar)(y, x)
        assert error_in_ulp(result, exact) <= limit
        known = ~np.isnan(exact)
        assert np.array_equal(np.signbit(result[known]), np.signbit(exact[known]))


@pytest.mark.parametrize(("scalar", "dtype"), [("double", np.float64), ("float", np.float32)])
def test_remainders_are_exact(scalar: str, dtype: type) -> None:
    x, y = pairs(dtype)
    exact = np.fmod(x, y)
    for facts in machines():
        for lanes in (0, 8):
            result = compiled_math("fmod", 2, lanes, facts, scalar)(x, y)
            np.testing.assert_array_equal(result, exact)
            known = ~np.isnan(exact)
            assert np.array_equal(np.signbit(result[known]), np.signbit(exact[known]))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions(name: str) -> None:
    """Against libm's, which are within an ulp of the exact values."""
    x = np.concatenate([samples()[: 1 << 12], random.uniform(-6, 28, 1 << 13), random.uniform(-1, 1, 1 << 13)])
    exact = np.array([getattr(math, name)(v) for v in x]).astype(np.longdouble)
    for facts in machines():
        for lanes in (0, 8):
            assert error_in_ulp(compiled_math(name, 1, lanes, facts, "double")(x), exact) <= 3.0


def test_powers() -> None:
    """Also where the exponent makes every digit of the logarithm count, and of special values."""
    count = 1 << 13
    base = np.concatenate([
        random.uniform(0, 10, count), np.exp(random.uniform(-700, 700, count)), random.uniform(0.9, 1.1, count),
        -random.integers(1, 50, count).astype(np.float64), np.repeat(SPECIAL, SPECIAL.size),
    ])  # fmt: skip
    exponent = np.concatenate([
        random.uniform(-300, 300, count), random.uniform(-1.2, 1.2, count), random.uniform(-7000, 7000, count),
        random.integers(-30, 30, count).astype(np.float64), np.tile(SPECIAL, SPECIAL.size),
    ])  # fmt: skip
    exact = np.power(base.astype(np.longdouble), exponent.astype(np.longdouble))
    for facts in machines():
        for lanes in (0, 8):
            result = compiled_math("pow", 2, lanes, facts, "double")(base, exponent)
            assert error_in_ulp(result, exact) <= 1.0
            known = ~np.isnan(exact)
            assert np.array_equal(np.signbit(result[known]), np.signbit(exact[known]))
