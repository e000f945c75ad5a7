"""Vector math against NumPy in f64: largest error in ulp, special values, every way that the forms are written."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from math_harness import compiled_math, ulp_error

from suite.arrays import Array
from tilewright.codegen.math_library import LIBM_FUNCTIONS, VECTOR_FORMS
from tilewright.targets.cpu.facts import CpuFacts, host_facts, named_facts

SPECIAL = np.array(
    [
        *(
            0.0,
            -0.0,
            np.inf,
            -np.inf,
            np.nan,
            1,
            -1,
            2,
            -2,
            0.5,
            -0.5,
            1e-45,
            -1e-45,
            1e-40,
            1.1754944e-38,
            3.4e38,
            -3.4e38,
        ),
        *(1e-20, 1e30, -1e30, np.pi, -np.pi, 88.7228, 88.7229, -87.4, -103.9, -104.1, 128.0, -149.0, -150.0),
    ],
    np.float32,
)


def every_kind_of_float(count: int = 1 << 17) -> Array:
    """Floats with evenly spread bit patterns: all exponents, both signs, subnormals, NaNs."""
    codes = np.arange(count, dtype=np.uint64) * np.uint64((1 << 32) // count) + np.uint64(12345)
    return codes.astype(np.uint32).view(np.float32)


def between(low: float, high: float, count: int = 1 << 16) -> Array:
    return np.linspace(low, high, count).astype(np.float32)


def samples(*ranges: tuple[float, float]) -> Array:
    return np.concatenate([SPECIAL, every_kind_of_float(), *(between(*r) for r in ranges)])


Reference = Callable[[Array], Array]

UNARY: dict[str, tuple[Reference, list[tuple[float, float]], float]] = {
    "exp": (np.exp, [(-105, 90)], 1.7),
    "exp2": (np.exp2, [(-151, 130)], 1.7),
    "expm1": (np.expm1, [(-20, 90), (-1, 1)], 1.0),
    "log": (np.log, [(0, 10), (0.5, 2)], 1.0),
    "log2": (np.log2, [(0, 10), (0.5, 2)], 1.1),
    "log10": (np.log10, [(0, 10), (0.5, 2)], 1.1),
    "log1p": (np.log1p, [(-1, 10), (-0.5, 0.5)], 1.0),
    "sin": (np.sin, [(-10, 10), (-131072, 131072)], 2.0),
    "cos": (np.cos, [(-10, 10), (-131072, 131072)], 2.0),
    "tanh": (np.tanh, [(-10, 10), (-1, 1)], 2.0),
    "atan": (np.arctan, [(-3, 3)], 2.0),
    "tan": (np.tan, [(-10, 10), (-131072, 131072)], 2.0),
    "asin": (np.arcsin, [(-1, 1)], 2.0),
    "acos": (np.arccos, [(-1, 1)], 2.0),
    "sinh": (np.sinh, [(-90, 90), (-1, 1)], 2.0),
    "cosh": (np.cosh, [(-90, 90)], 2.0),
    "asinh": (np.arcsinh, [(-10, 10), (-1e5, 1e5)], 2.0),
    "acosh": (np.arccosh, [(1, 1.1), (1, 1e5)], 2.0),
    "atanh": (np.arctanh, [(-1, 1)], 2.0),
    "cbrt": (np.cbrt, [(-8, 8)], 1.0),
    "rsqrt": (lambda x: 1 / np.sqrt(x), [(0, 10)], 2.0),
}


def machines() -> list[CpuFacts]:
    """The host and, where it runs here, a machine without AVX-512."""
    host = host_facts()
    portable = [named_facts("x86-64-v3")] if host.is_x86 and host.has("avx2") else []
    return [host, *portable]


def test_every_vector_form_is_measured() -> None:
    assert set(VECTOR_FORMS) == {*UNARY, "erf", "erfc", "pow", "atan2", "fmod"}  # the last two in test_double_forms.py


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_unary_error_in_ulp(name: str) -> None:
    reference, ranges, limit = UNARY[name]
    x = samples(*ranges)
    exact = reference(x.astype(np.float64))
    for facts in machines():
        for lanes in (4, 8, 16):
            assert ulp_error(compiled_math(name, 1, lanes, facts)(x), exact) <= limit, (facts.cpu, lanes)


@pytest.mark.parametrize("lanes", [4, 8, 16, 32])
def test_whole_powers_of_two_are_exact(lanes: int) -> None:
    """Softmax relies on exp(0) = 1; those of more than 126 places are subnormal, or infinite."""
    numbers = np.arange(-150, 130)
    with np.errstate(over="ignore"):
        exact = np.ldexp(1.0, numbers).astype(np.float32)
    for facts in machines():
        assert np.array_equal(compiled_math("exp2", 1, lanes, facts)(numbers.astype(np.float32)), exact)
        assert np.all(compiled_math("exp", 1, lanes, facts)(np.array([0.0, -0.0], np.float32)) == 1)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "erf"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_scalars_give_what_vectors_give(name: str) -> None:
    x = np.concatenate([SPECIAL, between(-20, 20, 4096)])
    scalar = compiled_math(name, 1, 0, host_facts())(x)
    vector = compiled_math(name, 1, 8, host_facts())(x)
    assert np.all(np.isclose(scalar, vector, rtol=2e-7, atol=0, equal_nan=True))


@pytest.mark.parametrize("name", ["erf", "erfc"])
def test_error_functions(name: str) -> None:
    x = np.concatenate([SPECIAL, every_kind_of_float(1 << 14), between(-5, 11, 1 << 15), between(-0.1, 0.1, 4096)])
    exact = np.array([getattr(math, name)(float(v)) for v in x])
    for facts in machines():
        for lanes in (4, 8, 16, 32):
            assert ulp_error(compiled_math(name, 1, lanes, facts)(x), exact) <= {"erf": 1.1, "erfc": 2.0}[name]


@pytest.mark.parametrize("lanes", [0, 4, 8, 16, 32])
def test_large_numbers_have_erf_one(lanes: int) -> None:
    x = np.concatenate([np.geomspace(3.925, 3e38, 1000), [np.inf]]).astype(np.float32)
    for facts in machines():
        erf = compiled_math("erf", 1, lanes, facts)
        assert np.all(erf(x) == 1)
        assert np.all(erf(-x) == -1)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_pow_and_its_special_values() -> None:
    random = np.random.default_rng(1)
    x = np.concatenate(
        [random.uniform(0, 10, 1 << 15), np.repeat(SPECIAL, SPECIAL.size), -random.integers(1, 50, 4096)]
    )
    y = np.concatenate(
        [random.uniform(-20, 20, 1 << 15), np.tile(SPECIAL, SPECIAL.size), random.integers(-9, 20, 4096)]
    )
    x, y = x.astype(np.float32), y.astype(np.float32)
    exact = np.power(x.astype(np.float64), y.astype(np.float64))
    for facts in machines():
        assert ulp_error(compiled_math("pow", 2, 8, facts)(x, y), exact) <= 1.0


@pytest.mark.parametrize(
    "name", ["sin", "tan", "sinh", "asinh", "asin", "atanh", "tanh", "erf", "atan", "expm1", "log1p", "cbrt"]
)
def test_odd_functions_keep_the_sign_of_zero(name: str) -> None:
    result = compiled_math(name, 1, 8, host_facts())(np.array([-0.0, 0.0], np.float32))
    assert np.array_equal(np.signbit(result), [True, False])
    assert np.array_equal(result, [0.0, 0.0])


@pytest.mark.parametrize("name", ["nextafter", "remainder", "fdim"])
def test_rare_functions_call_libm_on_each_lane(name: str) -> None:
    x, y = between(-0.9, 0.9, 64), between(3, 5, 64)
    functions = {"nextafter": np.nextafter, "remainder": np.vectorize(math.remainder), "fdim": lambda x, y: x * 0.0}
    assert name in LIBM_FUNCTIONS
    np.testing.assert_array_equal(compiled_math(name, 2, 8, host_facts())(x, y), functions[name](x, y))
