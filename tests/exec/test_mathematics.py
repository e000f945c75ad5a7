"""Functions on GPUs against exact values: how many units in the last place they are off at most."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.language.extra import libdevice

pytestmark = pytest.mark.usefixtures("a_gpu")

Exact = Callable[..., Any]
N = 256


@triton.jit
def apply(x_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i)))


@triton.jit
def apply_to_two(x_ptr, y_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i)))


@triton.jit
def apply_to_three(x_ptr, y_ptr, z_ptr, out_ptr, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i), tl.load(z_ptr + i)))


def each(function: Callable[[float], float]) -> Exact:
    return np.vectorize(function, otypes=[np.float64])


def units(got: Array, exact: Array) -> float:
    """The largest error in units in the last place of the type; infinite where one is NaN or infinite alone."""
    want = exact.astype(got.dtype)
    finite = np.isfinite(want) & np.isfinite(got)
    if not np.array_equal(np.where(finite, 0, got), np.where(finite, 0, want), equal_nan=True):
        return math.inf
    spacing = np.spacing(np.abs(want[finite])).astype(np.float64)
    return float(np.max(np.abs(got[finite].astype(np.float64) - exact[finite]) / spacing, initial=0))


WIDE, POSITIVE, UNIT, ABOVE_ONE = (-6.0, 6.0), (1e-3, 50.0), (-0.99, 0.99), (1.001, 40.0)

ONE = [
    ("exp", tl.exp, np.exp, WIDE, 12),
    ("exp2", tl.exp2, np.exp2, WIDE, 2),
    ("log", tl.log, np.log, POSITIVE, 3),
    ("log2", tl.log2, np.log2, POSITIVE, 3),
    ("sin", tl.sin, np.sin, WIDE, 3),
    ("cos", tl.cos, np.cos, WIDE, 3),
    ("sqrt", tl.sqrt, np.sqrt, POSITIVE, 2),
    ("sqrt_rn", tl.sqrt_rn, np.sqrt, POSITIVE, 0.5),
    ("rsqrt", tl.rsqrt, lambda x: 1 / np.sqrt(x), POSITIVE, 2),
    ("erf", tl.erf, each(math.erf), WIDE, 3),
    ("floor", tl.floor, np.floor, WIDE, 0),
    ("ceil", tl.ceil, np.ceil, WIDE, 0),
    ("abs", tl.abs, np.abs, WIDE, 0),
    ("sigmoid", tl.sigmoid, lambda x: 1 / (1 + np.exp(-x)), WIDE, 12),
    ("tan", libdevice.tan, np.tan, WIDE, 5),
    ("tanh", libdevice.tanh, np.tanh, WIDE, 3),
    ("sinh", libdevice.sinh, np.sinh, WIDE, 4),
    ("cosh", libdevice.cosh, np.cosh, WIDE, 3),
    ("asin", libdevice.asin, np.arcsin, UNIT, 4),
    ("acos", libdevice.acos, np.arccos, UNIT, 4),
    ("atan", libdevice.atan, np.arctan, WIDE, 3),
    ("asinh", libdevice.asinh, np.arcsinh, WIDE, 4),
    ("acosh", libdevice.acosh, np.arccosh, ABOVE_ONE, 5),
    ("atanh", libdevice.atanh, np.arctanh, UNIT, 4),
    ("expm1", libdevice.expm1, np.expm1, WIDE, 2),
    ("log1p", libdevice.log1p, np.log1p, POSITIVE, 2),
    ("log10", libdevice.log10, np.log10, POSITIVE, 3),
    ("exp10", libdevice.exp10, lambda x: 10**x, WIDE, 3),
    ("cbrt", libdevice.cbrt, np.cbrt, WIDE, 2),
    ("erfc", libdevice.erfc, each(math.erfc), (-3.0, 3.0), 5),
    ("lgamma", libdevice.lgamma, each(math.lgamma), (3.0, 40.0), 6),
    ("tgamma", libdevice.tgamma, each(math.gamma), (0.1, 20.0), 12),
    ("rint", libdevice.rint, np.rint, WIDE, 0),
    ("trunc", libdevice.trunc, np.trunc, WIDE, 0),
    ("round", libdevice.round, lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), WIDE, 0),
    ("sinpi", libdevice.sinpi, each(lambda x: math.sin(math.pi * math.fmod(x, 2))), UNIT, 4),
]
TWO = [
    ("pow", libdevice.pow, np.power, (0.1, 5.0), 9),
    ("atan2", libdevice.atan2, np.arctan2, WIDE, 4),
    ("hypot", libdevice.hypot, np.hypot, WIDE, 4),
    ("fmod", libdevice.fmod, np.fmod, POSITIVE, 0),
    ("copysign", libdevice.copysign, np.copysign, WIDE, 0),
    ("div_rn", tl.div_rn, np.divide, POSITIVE, 0.5),
    ("fdiv", tl.fdiv, np.divide, POSITIVE, 3),
    ("fdim", libdevice.fdim, lambda x, y: np.maximum(x - y, 0), WIDE, 0.5),
    ("nextafter", libdevice.nextafter, None, WIDE, 0),
]
IN_DOUBLE = ("exp", "log", "sin", "sqrt", "rsqrt", "erf", "tanh", "floor", "cbrt")
"""Functions that are looked at in float64 too."""

CASES = [
    *(pytest.param(np.float32, *case, id=case[0]) for case in ONE),
    *(pytest.param(np.float64, *case, id=f"{case[0]}-double") for case in ONE if case[0] in IN_DOUBLE),
]


def within(limits: tuple[float, float], dtype: Any, seed: int) -> Array:
    return np.random.default_rng(seed).uniform(*limits, N).astype(dtype)


@pytest.mark.parametrize(("dtype", "name", "function", "exact", "limits", "most"), CASES)
def test_functions(
    dtype: Any, name: str, function: Any, exact: Exact, limits: tuple[float, float], most: float
) -> None:
    x, out = within(limits, dtype, 1), np.zeros(N, dtype)
    apply[(1,)](x, out, FUNCTION=function, N=N)
    if dtype is np.float32:
        assert units(out, np.asarray(exact(x.astype(np.float64)))) <= max(most, 1e-9)
    else:  # NumPy is off by a unit itself
        assert units(out, np.asarray(exact(x))) <= most + 1


@pytest.mark.parametrize(("name", "function", "exact", "limits", "most"), TWO, ids=[case[0] for case in TWO])
def test_functions_of_two(
    name: str, function: Any, exact: Exact | None, limits: tuple[float, float], most: float
) -> None:
    x, y, out = within(limits, np.float32, 1), within(limits, np.float32, 2), np.zeros(N, np.float32)
    apply_to_two[(1,)](x, y, out, FUNCTION=function, N=N)
    if exact is None:
        np.testing.assert_array_equal(out, np.nextafter(x, y))
        return
    assert units(out, exact(x.astype(np.float64), y.astype(np.float64))) <= max(most, 1e-9)


def test_fused_products() -> None:
    x, y, z = (within(WIDE, np.float32, seed) for seed in range(3))
    out = np.zeros(N, np.float32)
    apply_to_three[(1,)](x, y, z, out, FUNCTION=tl.fma, N=N)
    exact = x.astype(np.longdouble) * y + z
    np.testing.assert_array_equal(out, exact.astype(np.float32))


@pytest.mark.parametrize(
    ("function", "meaning"),
    [
        (tl.umulhi, lambda x, y: ((x.astype(np.uint64) * y.astype(np.uint64)) >> 32).astype(np.uint32)),
        (tl.cdiv, lambda x, y: ((x.astype(np.uint64) + y - 1) // y).astype(np.uint32)),
    ],
    ids=["umulhi", "cdiv"],
)
def test_integers(function: Any, meaning: Exact) -> None:
    random = np.random.default_rng(3)
    x, y = random.integers(0, 2**31, N).astype(np.uint32), random.integers(1, 2**31, N).astype(np.uint32)
    out = np.zeros(N, np.uint32)
    apply_to_two[(1,)](x, y, out, FUNCTION=function, N=N)
    np.testing.assert_array_equal(out, meaning(x, y))


@pytest.mark.parametrize(
    ("name", "meaning"),
    [
        ("popc", lambda x: np.bitwise_count(x.view(np.uint32)).astype(np.int32)),
        ("clz", lambda x: np.array([32 - int(v).bit_length() for v in x.view(np.uint32)], np.int32)),
        ("ffs", lambda x: np.array([(int(v) & -int(v)).bit_length() for v in x.view(np.uint32)], np.int32)),
        (
            "brev",
            lambda x: np.array([int(f"{int(v):032b}"[::-1], 2) for v in x.view(np.uint32)], np.uint32).view(np.int32),
        ),
        ("abs", np.abs),
    ],
)
def test_bits(name: str, meaning: Exact) -> None:
    x, out = np.random.default_rng(4).integers(-(2**31) + 1, 2**31, N).astype(np.int32), np.zeros(N, np.int32)
    x[:2] = 0, 1
    apply[(1,)](x, out, FUNCTION=getattr(libdevice, name), N=N)
    np.testing.assert_array_equal(out, meaning(x))


@triton.jit
def propagating(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@pytest.mark.parametrize(
    ("function", "meaning"), [(tl.maximum, np.fmax), (tl.minimum, np.fmin), (propagating, np.maximum)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float16], ids=lambda dtype: np.dtype(dtype).name)
def test_extremes_of_nan(function: Any, meaning: Exact, dtype: Any) -> None:
    x, y, out = within(WIDE, dtype, 1), within(WIDE, dtype, 2), np.zeros(N, dtype)
    x[::7], y[::5] = np.nan, np.nan
    apply_to_two[(1,)](x, y, out, FUNCTION=function, N=N)
    np.testing.assert_array_equal(out, meaning(x, y))
