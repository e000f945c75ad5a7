"""The functions of libdevice as our arith and math ops, through upstream's code generation, against Python's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array

Run = Callable[..., list[Array]]
rng = np.random.default_rng(29)


def each(function: Callable[..., float]) -> Callable[..., Array]:
    """A function of numbers on arrays, in double precision."""
    return lambda *x: np.array([function(*map(float, lanes)) for lanes in zip(*x, strict=True)])


UNARY: dict[str, Callable[..., Any]] = {
    "fabs": np.abs,
    "sin": np.sin,
    "tan": np.tan,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: 10.0 ** x.astype(np.float64),
    "expm1": np.expm1,
    "erf": each(math.erf),
    "erfc": each(math.erfc),
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "ceil": np.ceil,
    "floor": np.floor,
    "trunc": np.trunc,
    "rint": np.rint,
    "round": lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x),
    "normcdf": each(lambda x: 0.5 * math.erfc(-x / math.sqrt(2))),
    "sinpi": each(lambda x: math.sin(math.pi * math.remainder(x, 2))),
    "cospi": each(lambda x: math.cos(math.pi * math.remainder(x, 2))),
    "saturate": lambda x: np.clip(x, 0, 1),
    "fast_exp": np.exp,
}
BINARY: dict[str, Callable[..., Any]] = {
    "atan2": np.arctan2,
    "fmod": np.fmod,
    "remainder": each(math.remainder),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "fdim": lambda x, y: np.maximum(x - y, 0),
    "copysign": np.copysign,
    "hypot": np.hypot,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
}


def call(symbol: str, operands: str, kinds: str, result: str) -> str:
    attributes = f'{{libname = "", libpath = "", pure = true, symbol = "__nv_{symbol}"}}'
    return f"tt.extern_elementwise {operands} {attributes} : ({kinds}) -> {result}"


@pytest.mark.parametrize(("suffix", "element", "dtype"), [("f", "f32", np.float32), ("", "f64", np.float64)])
def test_functions_of_floats(run_tiles: Run, suffix: str, element: str, dtype: Any) -> None:
    x = np.concatenate([rng.uniform(-3, 3, 28), [0.5, 2.5, -1.5, 1e-3]]).astype(dtype)
    y = np.concatenate([rng.uniform(0.3, 3, 31), [1e-3]]).astype(dtype)
    kind = f"tensor<32x{element}>"
    unary = [name for name in UNARY if suffix or not name.startswith(("fast", "saturate"))]
    lines = [f"%{name} = {call(name + suffix, '%x', kind, kind)}" for name in unary]
    lines += [f"%{name} = {call(name + suffix, '%x, %y', f'{kind}, {kind}', kind)}" for name in BINARY]
    outputs = dict.fromkeys([*unary, *BINARY], f"32x{element}")
    results = run_tiles({"x": f"32x{element}", "y": f"32x{element}"}, "\n".join(lines), outputs, x, y)
    tolerance = 2e-5 if suffix else 1e-11
    for name, got in zip(outputs, results, strict=True):
        expected = UNARY[name](x) if name in UNARY else BINARY[name](x, y)
        np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance / 10, err_msg=name)


def test_scaling_by_powers_of_two(run_tiles: Run) -> None:
    x = np.array([1.5, -1.5, 1.0, 3.0, 1.0, 1.0, 2.0**-100, 1.0], np.float32)
    n = np.array([3, -4, 127, -149, 128, -151, 200, -(2**31)], np.int32)
    body = "%r = " + call("ldexpf", "%x, %n", "tensor<8xf32>, tensor<8xi32>", "tensor<8xf32>")
    (r,) = run_tiles({"x": "8xf32", "n": "8xi32"}, body, {"r": "8xf32"}, x, n)
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_array_equal(r, np.ldexp(x.astype(np.float64), n).astype(np.float32))


def test_norms_do_not_overflow(run_tiles: Run) -> None:
    x = np.array([3e30, 3e-30, 0, np.inf], np.float32)
    y = np.array([4e30, 4e-30, 0, 1], np.float32)
    body = "%r = " + call("hypotf", "%x, %y", "tensor<4xf32>, tensor<4xf32>", "tensor<4xf32>")
    (r,) = run_tiles({"x": "4xf32", "y": "4xf32"}, body, {"r": "4xf32"}, x, y)
    np.testing.assert_allclose(r, np.array([5e30, 5e-30, 0, np.inf], np.float32), rtol=1e-6)


def low_24(value: int) -> int:
    """The low 24 bits as a signed number."""
    return ((value % 2**24) ^ 2**23) - 2**23


INTEGERS: dict[str, tuple[int, Callable[..., Any]]] = {
    "mulhi": (2, lambda x, y: (x * y) >> 32),
    "umulhi": (2, lambda x, y: ((x % 2**32) * (y % 2**32)) >> 32),
    "popc": (1, lambda x: (x % 2**32).bit_count()),
    "clz": (1, lambda x: 32 - (x % 2**32).bit_length()),
    "ffs": (1, lambda x: (x & -x).bit_length()),
    "brev": (1, lambda x: int(f"{x % 2**32:032b}"[::-1], 2)),
    "hadd": (2, lambda x, y: (x + y) >> 1),
    "urhadd": (2, lambda x, y: ((x % 2**32) + (y % 2**32) + 1) >> 1),
    "abs": (1, abs),
    "mul24": (2, lambda x, y: low_24(x) * low_24(y)),
    "umul24": (2, lambda x, y: (x % 2**24) * (y % 2**24)),
}


def test_functions_of_integers(run_tiles: Run) -> None:
    x, y = (rng.integers(-(2**31), 2**31, 16).astype(np.int32) for _ in range(2))
    x[:3] = 0, 1, -1
    lines = [
        f"%{name} = "
        + call(name, ", ".join(["%x", "%y"][:arity]), ", ".join(["tensor<16xi32>"] * arity), "tensor<16xi32>")
        for name, (arity, _) in INTEGERS.items()
    ]
    outputs = dict.fromkeys(INTEGERS, "16xi32")
    results = run_tiles({"x": "16xi32", "y": "16xi32"}, "\n".join(lines), outputs, x, y)
    for (name, (arity, function)), got in zip(INTEGERS.items(), results, strict=True):
        lanes = zip(x.tolist(), y.tolist(), strict=True)
        expected = np.array([function(*lane[:arity]) % 2**32 for lane in lanes], np.uint32)
        np.testing.assert_array_equal(got.view(np.uint32), expected, err_msg=name)


def test_saturating_conversions(run_tiles: Run) -> None:
    x = np.array([1.5, -1.5, 2.5, 1e20, -1e20, np.nan, np.inf, 0.0], np.float32)
    lines = [
        f"%{m} = " + call(f"float2int_{m}", "%x", "tensor<8xf32>", "tensor<8xi32>") for m in ("rn", "rz", "rd", "ru")
    ]
    outputs = dict.fromkeys(("rn", "rz", "rd", "ru"), "8xi32")
    results = run_tiles({"x": "8xf32"}, "\n".join(lines), outputs, x)
    top, low = 2**31 - 1, -(2**31)
    for got, first in zip(results, ([2, -2, 2], [1, -1, 2], [1, -2, 2], [2, -1, 3]), strict=True):
        np.testing.assert_array_equal(got, [*first, top, low, 0, top, 0])


SPECIAL = ("erfinv", "erfcinv", "normcdfinv", "erfcx", "tgamma", "lgamma")


def special(run_tiles: Run, name: str, suffix: str, x: Array) -> Array:
    element = "f32" if suffix else "f64"
    kind = f"{len(x)}x{element}"
    body = f"%r = {call(name + suffix, '%x', f'tensor<{kind}>', f'tensor<{kind}>')}"
    (result,) = run_tiles({"x": kind}, body, {"r": kind}, x)
    return result


@pytest.mark.parametrize(("suffix", "dtype", "tolerance"), [("f", np.float32, 2e-7), ("", np.float64, 2e-13)])
def test_inverses_of_the_error_functions(run_tiles: Run, suffix: str, dtype: Any, tolerance: float) -> None:
    """An inverse is right if the function takes it back, up to how much the function stretches the rounding."""
    x = np.concatenate([rng.uniform(-1, 1, 28), [0.99999, -0.5, 1e-6, 0.0]]).astype(dtype)
    y = special(run_tiles, "erfinv", suffix, x).astype(np.float64)
    slope = 2 / np.sqrt(np.pi) * np.exp(-y * y)
    np.testing.assert_array_less(np.abs(each(math.erf)(y) - x), tolerance * np.abs(y) * slope + 3e-16)
    q = np.concatenate([rng.uniform(0, 2, 20), 10.0 ** -np.arange(1, 38, 3.1)]).astype(dtype)[:32]
    for name, back in (("erfcinv", math.erfc), ("normcdfinv", lambda t: 0.5 * math.erfc(-t / math.sqrt(2)))):
        p = q if name == "erfcinv" else q / 2
        y = special(run_tiles, name, suffix, p).astype(np.float64)
        scale = 1 if name == "erfcinv" else 1 / math.sqrt(2)
        slope = 2 / np.sqrt(np.pi) * np.exp(-((y * scale) ** 2)) * (1 if name == "erfcinv" else 0.5 * scale)
        bound = tolerance * np.abs(y) * slope + 3e-16 * np.maximum(1, np.abs(p)) * (p > 1e-3) + 1e-13 * p
        np.testing.assert_array_less(np.abs(each(back)(y) - p), bound, err_msg=name)


@pytest.mark.parametrize(("suffix", "dtype", "tolerance"), [("f", np.float32, 3e-7), ("", np.float64, 5e-13)])
def test_gamma_and_scaled_error_function(run_tiles: Run, suffix: str, dtype: Any, tolerance: float) -> None:
    x = np.concatenate([rng.uniform(-8, 8, 24), [0.5, 1, 2, 5, 30, 1e-5, -0.25, 33.1]]).astype(dtype)
    gamma = each(math.gamma)(x)
    np.testing.assert_allclose(special(run_tiles, "tgamma", suffix, x), gamma.astype(dtype), rtol=tolerance * 10)
    lgamma = special(run_tiles, "lgamma", suffix, x)
    np.testing.assert_allclose(lgamma, each(math.lgamma)(x), rtol=tolerance, atol=tolerance * 3)
    near = np.abs(x[:24]) * 3
    expected = each(lambda t: math.exp(t * t) * math.erfc(t))(near)
    np.testing.assert_allclose(special(run_tiles, "erfcx", suffix, near), expected, rtol=max(1e-12, tolerance))


@pytest.mark.costly
def test_special_functions_at_their_ends(run_tiles: Run) -> None:
    ends = np.array([np.nan, np.inf, -np.inf, 0.0, 1.0, -1.0, 2.0, -2.0])
    inf, nan = np.inf, np.nan
    expected = {
        "erfinv": [nan, nan, nan, 0, inf, -inf, nan, nan],
        "erfcinv": [nan, nan, nan, inf, 0, nan, -inf, nan],
        "normcdfinv": [nan, nan, nan, -inf, inf, nan, nan, nan],
        "erfcx": [nan, 0, inf, 1, math.e * math.erfc(1), math.e * math.erfc(-1), math.exp(4) * math.erfc(2), 108.94090],
        "tgamma": [nan, inf, nan, inf, 1, nan, 1, nan],
        "lgamma": [nan, inf, inf, inf, 0, inf, 0, inf],
    }
    for name, values in expected.items():
        got = special(run_tiles, name, "", ends)
        np.testing.assert_allclose(got, values, rtol=1e-6, atol=1e-14, err_msg=name)


ROUNDED: dict[str, tuple[int, str]] = {
    **{f"{prefix}{name}": (2, prefix) for prefix in "fd" for name in ("add", "sub", "mul", "div")},
    **{f"{prefix}{name}": (1, prefix) for prefix in "fd" for name in ("rcp", "sqrt")},
    "fmaf": (3, "f"),
    "fma": (3, "d"),
}


@pytest.mark.parametrize(("prefix", "dtype"), [("f", np.float32), ("d", np.float64)])
def test_directed_roundings(run_tiles: Run, prefix: str, dtype: Any) -> None:
    """Upstream's code generation takes the error-free steps as they are: bit by bit the reference's exact rounding."""
    from tilewright.reference.tt.libdevice_rounding import ROUNDED_FUNCTIONS

    element = "f32" if prefix == "f" else "f64"
    kind = f"tensor<32x{element}>"
    columns = [rng.uniform(-3, 3, 32) * 2.0 ** rng.integers(-60, 60, 32) for _ in range(3)]
    x, y, z = (column.astype(dtype) for column in columns)
    tiny = float(np.finfo(dtype).tiny)
    x[:6], y[:6], z[:6] = (
        [0.0, -0.0, 1, tiny, 3 * tiny, np.inf],
        [0.0, 0.0, -1, 0.3, 2**-9, 1],
        [-0.0, 0, 1, 0, tiny, 0],
    )
    names = [f"{name}_{mode}" for name, (_, of) in ROUNDED.items() if of == prefix for mode in ("rd", "ru", "rz")]
    lines: list[str] = []
    for name in names:
        arity = ROUNDED[name[:-3]][0]
        lines.append(f"%{name} = " + call(name, ", ".join(["%x", "%y", "%z"][:arity]), ", ".join([kind] * arity), kind))
    shape = f"32x{element}"
    results = run_tiles(dict.fromkeys("xyz", shape), "\n".join(lines), dict.fromkeys(names, shape), x, y, z)
    for name, got in zip(names, results, strict=True):
        want = ROUNDED_FUNCTIONS[name](*(x, y, z)[: ROUNDED[name[:-3]][0]])
        number = ~np.isnan(want)
        np.testing.assert_array_equal(got, want, err_msg=name)
        np.testing.assert_array_equal(np.signbit(got[number]), np.signbit(want[number]), err_msg=name)


@pytest.mark.costly
def test_bessel_functions(run_tiles: Run) -> None:
    """Orders 0 and 1 as expansions, any order as a loop inside the body of a `linalg.generic`."""
    from tilewright.reference.tt.libdevice_bessel import BESSEL_FUNCTIONS

    x = np.concatenate([rng.uniform(0, 12, 24), [0, 8, 40, 1e-6, 90, 200, 3, 5]])
    n = rng.integers(0, 20, 32).astype(np.int32)
    kind = "tensor<32xf64>"
    lines = [
        f"%{name} = "
        + call(name, *(("%n, %x", f"tensor<32xi32>, {kind}") if name in ("jn", "yn") else ("%x", kind)), kind)
        for name in BESSEL_FUNCTIONS
    ]
    outputs = dict.fromkeys(BESSEL_FUNCTIONS, "32xf64")
    results = run_tiles({"n": "32xi32", "x": "32xf64"}, "\n".join(lines), outputs, n, x)
    for (name, function), got in zip(BESSEL_FUNCTIONS.items(), results, strict=True):
        want = function(n, x) if name in ("jn", "yn") else function(x)
        np.testing.assert_allclose(got, want, rtol=1e-13, atol=1e-13, err_msg=name)
