"""Every float16, every bfloat16 and a sweep of wider floats as each 8-bit float: the reference, the CPU and both
simulated GPUs agree bit for bit, and the reference agrees with `ml_dtypes`.

Narrowing rounds once and saturates: magnitudes beyond the largest finite one, infinities among them, become that one;
every NaN becomes the NaN without a sign. Official Triton does so where the hardware converts (float8e4nv, and float8e5
from float32, from compute capability 8.9 on).
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.dialects.float8 import UNSIGNED_ZERO, finite_magnitudes, narrow_to_float8
from tilewright.support import knobs

BYTES = (ml_dtypes.float8_e5m2, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2fnuz)
OF_GPUS = {"sm80": BYTES[:1], "sm90": BYTES[:2]}
SOURCES = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
BLOCK = 4096


@triton.jit
def narrow(x_ptr, out_ptr, ROUNDING: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty, fp_downcast_rounding=ROUNDING))


@triton.jit
def widen(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.load(x_ptr + i).to(out_ptr.dtype.element_ty))


@triton.jit
def through_e4b15(x_ptr, code_ptr, back_ptr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    narrow = tl.load(x_ptr + i).to(tl.float8e4b15)
    tl.store(code_ptr + i, narrow.to(tl.uint8, bitcast=True))
    tl.store(back_ptr + i, narrow.to(tl.float16))


@triton.jit
def compute(x_ptr, out_ptr, OP: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + tl.program_id(0))
    if OP == "add":
        result = a + b
    elif OP == "mul":
        result = a * b
    elif OP == "fma":
        result = tl.fma(a, b, a)
    elif OP == "maximum":
        result = tl.maximum(a, b)
    elif OP == "minimum":
        result = tl.minimum(a, b)
    elif OP == "negative":
        result = -a
    else:
        result = tl.abs(a)
    tl.store(out_ptr + tl.program_id(0) * N + i, result)


@triton.jit
def folded(out_ptr):
    large, tiny = tl.full([4], 448.0, tl.float8e4nv), tl.full([4], 0.001953125, tl.float8e4nv)
    tl.store(out_ptr + tl.arange(0, 4), large + large)
    tl.store(out_ptr + 4 + tl.arange(0, 4), tiny * tiny)


@triton.jit
def compute_e4b15(x_ptr, out_ptr, OP: tl.constexpr):
    x = tl.load(x_ptr).to(tl.float8e4b15, bitcast=True)
    if OP == "<":
        result = x < x
    elif OP == "-":
        result = -x
    elif OP == "max":
        result = tl.maximum(x, x)
    elif OP == "clamp":
        result = tl.clamp(x, x, x)
    elif OP == "fma":
        result = tl.fma(x, x, x)
    else:
        result = x.to(tl.int1)
    tl.store(out_ptr, result.to(tl.uint8, bitcast=True))


def name_of(dtype: Any) -> str:
    return np.dtype(dtype).name


@cache
def values(dtype: Any) -> Array:
    """All there are of 16 bits. Of float32, every upper half with a lower half of zeros, of one, and of ones; of
    float64, what lies just below, on and just above every value of every 8-bit type and every middle between two."""
    every = np.arange(1 << 16, dtype=np.uint32)
    match np.dtype(dtype).itemsize:
        case 2:
            return every.astype(np.uint16).view(dtype)
        case 4:
            return np.concatenate([every << 16 | lower for lower in (0, 1, 0xFFFF)]).astype(np.uint32).view(dtype)
        case _:
            exact = np.unique(np.concatenate([finite_magnitudes(np.dtype(to)) for to in BYTES]))
            places = np.concatenate([exact, (exact[1:] + exact[:-1]) / 2, [np.inf, np.nan, 1e300, 5e-324]])
            near = np.concatenate([np.nextafter(places, toward) for toward in (0.0, np.inf)])
            found = np.concatenate([places, near, -places, -near])
            return np.resize(found, -(-found.size // BLOCK) * BLOCK)


def codes(array: Array) -> Array:
    return array.view(np.uint8)


@cache
def expected(source: Any, to: Any, rounding: str) -> Array:
    with np.errstate(invalid="ignore"):
        return codes(narrow_to_float8(values(source), np.dtype(to), towards_zero=rounding == "rtz"))


def check(source: Any, to: Any, rounding: str, **options: Any) -> None:
    """Where a code differs, the message has the number that it was made of."""
    x, out = values(source), np.zeros(values(source).size, to)
    narrow[(x.size // BLOCK,)](x, out, ROUNDING=rounding, BLOCK=BLOCK, **options)
    wrong = np.flatnonzero(codes(out) != expected(source, to, rounding))
    shown = [(x[n], codes(out)[n], expected(source, to, rounding)[n]) for n in wrong[:4]]
    assert not shown, f"{wrong.size} values as {name_of(to)}, {rounding}: {shown}"


@pytest.mark.parametrize("to", BYTES, ids=name_of)
@pytest.mark.parametrize("source", SOURCES[:3], ids=name_of)
def test_the_reference_rounds_like_ml_dtypes(source: Any, to: Any) -> None:
    """Inside of the range of the type, where `ml_dtypes` does not overflow."""
    x, largest = values(source), finite_magnitudes(np.dtype(to))[-1]
    with np.errstate(invalid="ignore"):
        wide = x.astype(np.float64)
        theirs = codes(np.clip(x.astype(np.float32), -largest, largest).astype(to))
    finite = ~np.isnan(wide)
    np.testing.assert_array_equal(expected(source, to, "rtne")[finite], theirs[finite])
    assert set(expected(source, to, "rtne")[~finite]) == {0x80 if name_of(to) in UNSIGNED_ZERO else 0x7F}


@pytest.mark.parametrize("to", BYTES, ids=name_of)
@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_the_reference_cuts_towards_zero(source: Any, to: Any) -> None:
    """The largest magnitude of the type that is no larger, with the sign."""
    table = finite_magnitudes(np.dtype(to))
    with np.errstate(invalid="ignore"):
        wide = values(source).astype(np.float64)
    finite = np.isfinite(wide)
    got, magnitude = expected(source, to, "rtz")[finite], np.abs(wide[finite])
    is_nothing = np.equal(got, 0x80) & (name_of(to) in UNSIGNED_ZERO)
    assert not is_nothing.any()
    number = got & 0x7F
    assert np.all(table[number] <= magnitude)
    assert np.all((number == table.size - 1) | (table[np.minimum(number + 1, table.size - 1)] > magnitude))
    assert np.all((got >> 7 == np.signbit(wide[finite])) | ((number == 0) & (name_of(to) in UNSIGNED_ZERO)))


@pytest.mark.pairwise
@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize("to", BYTES, ids=name_of)
@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_cpu(source: Any, to: Any, rounding: str) -> None:
    with knobs.scope(target="cpu"):
        check(source, to, rounding)


@pytest.mark.pairwise
@pytest.mark.parametrize("rounding", ["rtne", "rtz"])
@pytest.mark.parametrize(("arch", "to"), [(arch, to) for arch, types in OF_GPUS.items() for to in types], ids=str)
@pytest.mark.parametrize("source", SOURCES, ids=name_of)
def test_simulated_gpus(source: Any, arch: str, to: Any, rounding: str) -> None:
    with knobs.scope(target="cuda_sim"):
        check(source, to, rounding, arch=arch)


@pytest.mark.parametrize("target", ["cpu", "cuda_sim"])
@pytest.mark.parametrize("source", BYTES, ids=name_of)
def test_widening_is_exact(source: Any, target: str) -> None:
    """All 256 codes; which NaN a NaN becomes is not said."""
    arch = {"arch": "sm90"} if target == "cuda_sim" else {}
    if arch and source not in OF_GPUS["sm90"]:
        pytest.skip("NVIDIA's GPUs do not have this type")
    x = np.arange(256, dtype=np.uint8).view(source)
    with knobs.scope(target=target):
        for to in SOURCES[:3]:
            out = np.zeros(256, to)
            widen[(1,)](x, out, N=256, **arch)
            with np.errstate(invalid="ignore"):
                np.testing.assert_array_equal(out.astype(np.float64), x.astype(np.float64))
            signs = ~np.isnan(x.astype(np.float32))
            np.testing.assert_array_equal(np.signbit(out)[signs], np.signbit(x.astype(np.float32))[signs])


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "interpreter"])
def test_e4b15(target: str) -> None:
    """Every float16: clamped to 1.75 (NaN too), halves away from zero, as official Triton's assembly does it."""
    x = values(np.float16)
    code, back = np.zeros(x.size, np.uint8), np.zeros(x.size, np.float16)
    switches: dict[str, Any] = {"interpret": True} if target == "interpreter" else {"target": target}
    with knobs.scope(**switches):
        through_e4b15[(x.size // BLOCK,)](x, code, back, BLOCK=BLOCK)
    bits = x.view(np.uint16)
    magnitude = np.minimum(bits & 0x7FFF, 0x3F00)
    wanted = (bits >> 8 & 0x80) | (magnitude + 0x40 >> 7)
    np.testing.assert_array_equal(code, wanted.astype(np.uint8))
    wide = code.astype(np.uint16)
    np.testing.assert_array_equal(back.view(np.uint16), (wide & 0x80) << 8 | (wide & 0x7F) << 7)


WHERE: dict[str, dict[str, Any]] = {
    "reference": {"interpret": True},
    "cpu": {"target": "cpu", "opt": "strict"},
    "baseline": {"target": "cpu", "opt": "0"},
    "sm80": {"target": "cuda_sim", "override_arch": "sm80"},
    "sm90": {"target": "cuda_sim", "override_arch": "sm90"},
}


def computed(op: str, to: Any) -> Array:
    """What `op` gives for all pairs of codes (b by rows): rounded once, too large as the largest, infinities kept."""
    numbers = np.arange(256, dtype=np.uint8).view(to).astype(np.float64)
    a, b = numbers[None, :], numbers[:, None]
    if op in ("fma", "add", "mul"):
        exact = a * b + a if op == "fma" else a + b if op == "add" else a * b
        return narrow_to_float8(exact, np.dtype(to), keeps_infinity=True).astype(np.float64)
    pairs = {"maximum": np.fmax, "minimum": np.fmin, "negative": lambda x, _: -x, "absolute": lambda x, _: np.abs(x)}
    return np.broadcast_to(pairs[op](a, b), (256, 256))


@pytest.mark.pairwise
@pytest.mark.parametrize("op", ["add", "mul", "fma", "maximum", "minimum", "negative", "absolute"])
@pytest.mark.parametrize("to", BYTES, ids=name_of)
@pytest.mark.parametrize("where", WHERE)
def test_arithmetic(where: str, to: Any, op: str) -> None:
    """Sums and products of all pairs saturate as conversions do; infinities stay, and extrema, signs are exact."""
    if to not in OF_GPUS.get(where, BYTES):
        pytest.skip("this GPU does not have this type")
    x, out = np.arange(256, dtype=np.uint8).view(to), np.zeros((256, 256), to)
    with knobs.scope(**WHERE[where]):
        compute[(256,)](x, out, OP=op, N=256)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(out.astype(np.float64), computed(op, to))


def test_folded_arithmetic_saturates() -> None:
    """What the compiler computes is what the machine would."""
    out = np.zeros(8, ml_dtypes.float8_e4m3fn)
    folded[(1,)](out)
    assert out.astype(np.float32).tolist() == [448.0] * 4 + [0.0] * 4


@pytest.mark.parametrize("op", ["<", "-", "max", "clamp", "fma", "int1"])
def test_e4b15_has_no_arithmetic(op: str) -> None:
    x = np.zeros(1, np.uint8)
    with pytest.raises(triton.CompilationError, match="fp8e4b15 has no arithmetic"):
        compute_e4b15[(1,)](x, x, OP=op)
