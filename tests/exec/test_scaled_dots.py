"""`tl.dot_scaled` over every pair of formats, packed both ways, with scales of both kinds and without, against NumPy in
float64: on the CPU and on the simulated GPU.

NumPy decodes from the formats' definitions: a sign, exponent and mantissa, and 2^(s - 127) for scales.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.support import knobs

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
FLOAT8: dict[str, Any] = {"e4m3": ml_dtypes.float8_e4m3fn, "e5m2": ml_dtypes.float8_e5m2}
FLOAT16: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "fp16": np.float16}
FORMATS = ("e2m1", "e4m3", "e5m2", "bf16", "fp16")
ENGINES = (("cpu", None), ("cuda_sim", "sm80"), ("cuda_sim", "sm90"))


@triton.jit
def scaled_product(
    a_ptr, b_ptr, c_ptr, a_scale_ptr, b_scale_ptr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A_ROWS: tl.constexpr, A_COLS: tl.constexpr,
    B_ROWS: tl.constexpr, B_COLS: tl.constexpr, GROUP: tl.constexpr, A: tl.constexpr, B: tl.constexpr,
    HAS_A: tl.constexpr, HAS_B: tl.constexpr, A_ALONG_K: tl.constexpr, B_ALONG_K: tl.constexpr,
):  # fmt: skip
    m, n, group = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K // GROUP)
    a = tl.load(a_ptr + tl.arange(0, A_ROWS)[:, None] * A_COLS + tl.arange(0, A_COLS)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B_ROWS)[:, None] * B_COLS + tl.arange(0, B_COLS)[None, :])
    a_scale = tl.load(a_scale_ptr + m[:, None] * (K // GROUP) + group[None, :]) if HAS_A else None
    b_scale = tl.load(b_scale_ptr + n[:, None] * (K // GROUP) + group[None, :]) if HAS_B else None
    c = tl.dot_scaled(a, a_scale, A, b, b_scale, B, lhs_k_pack=A_ALONG_K, rhs_k_pack=B_ALONG_K)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@dataclass(frozen=True)
class Operand:
    """An operand as the kernel reads it, its scales ([rows or columns, groups]), and the numbers that they mean."""

    stored: Array
    scales: Array
    numbers: Array


def operand(
    random: np.random.Generator,
    kind: str,
    shape: tuple[int, int],
    k_dim: int,
    packed_dim: int,
    scaled: bool,
    group: int,
    *,
    floats: bool = False,
) -> Operand:
    if kind == "e2m1":
        codes = random.integers(0, 16, shape).astype(np.uint8)
        numbers = E2M1[codes]
        low, high = (np.take(codes, range(first, shape[packed_dim], 2), packed_dim) for first in (0, 1))
        stored = low | high << 4
    elif kind in FLOAT8:
        typed = random.standard_normal(shape).astype(FLOAT8[kind])
        numbers, stored = typed.astype(np.float64), typed.view(np.uint8)
    else:
        stored = random.standard_normal(shape).astype(FLOAT16[kind])
        numbers = stored.astype(np.float64)
    outer = shape[1 - k_dim]
    if floats:
        scales = (random.integers(1, 15, (outer, shape[k_dim] // group)) / 4).astype(ml_dtypes.float8_e4m3fn)
        factors = scales.astype(np.float64)
    else:
        scales = random.integers(124, 130, (outer, shape[k_dim] // group)).astype(np.uint8)
        factors = 2.0 ** (scales.astype(np.float64) - 127)
    if scaled:
        factors = np.repeat(factors, group, 1)
        numbers = numbers * (factors if k_dim == 1 else factors.T)
    return Operand(stored, scales, numbers)


def run(
    kinds: tuple[str, str],
    scaled: tuple[bool, bool],
    *,
    along_k: tuple[bool, bool] = (True, True),
    group: int = 32,
    floats: bool = False,
    shape: tuple[int, int, int] = (64, 32, 64),
    num_warps: int = 4,
    special: int | None = None,
) -> tuple[Array, Array, Any]:
    """What the kernel gives, what NumPy gives, and the compiled kernel; with `special` the first scale of A is that."""
    m, n, k = shape
    random = np.random.default_rng(0)
    a = operand(random, kinds[0], (m, k), 1, 1 if along_k[0] else 0, scaled[0], group, floats=floats)
    b = operand(random, kinds[1], (k, n), 0, 0 if along_k[1] else 1, scaled[1], group, floats=floats)
    if special is not None:
        a.numbers[0, :group] *= 2.0 ** (special - 127 - (float(a.scales[0, 0]) - 127)) if special < 255 else np.nan
        a.scales[0, 0] = special
    c = np.full((m, n), np.nan, np.float32)
    kernel = scaled_product[(1,)](
        a.stored, b.stored, c, a.scales, b.scales,
        M=m, N=n, K=k, A_ROWS=a.stored.shape[0], A_COLS=a.stored.shape[1],
        B_ROWS=b.stored.shape[0], B_COLS=b.stored.shape[1], GROUP=group, A=kinds[0], B=kinds[1],
        HAS_A=scaled[0], HAS_B=scaled[1], A_ALONG_K=along_k[0], B_ALONG_K=along_k[1], num_warps=num_warps,
    )  # fmt: skip
    return c, a.numbers @ b.numbers, kernel


@pytest.fixture(params=ENGINES, ids=lambda engine: engine[1] or engine[0])
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    target, arch = request.param
    with knobs.scope(target=target, **({} if arch is None else {"override_arch": arch})):
        yield arch or target


def check(found: Array, expected: Array) -> None:
    """Products are exact; sums of them in f32 are not. Rows may be of very different size."""
    size = np.max(np.abs(expected), 1, keepdims=True)
    np.testing.assert_allclose(found / size, expected / size, rtol=1e-5, atol=1e-5)


@pytest.mark.pairwise
@pytest.mark.parametrize("b", FORMATS)
@pytest.mark.parametrize("a", FORMATS)
def test_formats(engine: str, a: str, b: str) -> None:
    found, expected, kernel = run((a, b), (a not in FLOAT16, b not in FLOAT16))
    check(found, expected)
    if engine != "cpu":
        assert ("wgmma.mma_async" if engine == "sm90" else "mma.sync") in kernel.asm["ptx"]


@pytest.mark.parametrize("along_k", [(True, False), (False, True), (False, False)], ids=str)
def test_pairs_along_other_dimensions(engine: str, along_k: tuple[bool, bool]) -> None:
    check(*run(("e2m1", "e2m1"), (True, True), along_k=along_k)[:2])


@pytest.mark.parametrize("scaled", [(False, False), (True, False), (False, True)], ids=str)
def test_operands_without_scales(engine: str, scaled: tuple[bool, bool]) -> None:
    check(*run(("e2m1", "e5m2"), scaled)[:2])


def test_scales_that_are_floats(engine: str) -> None:
    if engine == "sm80":
        pytest.skip("compute capability 8.0 has no fp8e4nv, the type of these scales")
    check(*run(("e2m1", "e2m1"), (True, True), group=16, floats=True)[:2])


@pytest.mark.parametrize(("group", "floats"), [(16, False), (32, True)])
def test_the_shape_of_scales_says_what_they_cover(engine: str, group: int, floats: bool) -> None:
    if floats and engine == "sm80":
        pytest.skip("compute capability 8.0 has no fp8e4nv, the type of these scales")
    check(*run(("e2m1", "e5m2"), (True, True), group=group, floats=floats)[:2])


@pytest.mark.parametrize("kinds", [("bf16", "e4m3"), ("e5m2", "fp16")], ids=str)
def test_scales_of_16_bit_floats(engine: str, kinds: tuple[str, str]) -> None:
    check(*run(kinds, (True, True))[:2])


def test_scales_that_cover_no_group() -> None:
    with pytest.raises(triton.CompilationError, match=r"lhs_scale must have shape \[..., 64, 2\] or \[..., 64, 4\]"):
        run(("e4m3", "e4m3"), (True, False), group=8)


@pytest.mark.parametrize("scale", [0, 1, 240, 255])
def test_scales_at_the_ends(engine: str, scale: int) -> None:
    """0 is 2^-127, 240 is 2^113, 255 is no number and spoils its row alone."""
    check(*run(("e2m1", "bf16"), (True, False), shape=(64, 32, 32), special=scale)[:2])


@pytest.mark.costly
@pytest.mark.parametrize("num_warps", [1, 8])
@pytest.mark.parametrize("shape", [(16, 16, 64), (128, 64, 32)], ids=str)
def test_shapes(shape: tuple[int, int, int], num_warps: int) -> None:
    for arch in ("sm80", "sm90"):
        with knobs.scope(target="cuda_sim", override_arch=arch):
            check(*run(("e5m2", "e2m1"), (True, True), shape=shape, num_warps=num_warps)[:2])


@triton.jit
def batched(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    i, m, n = tl.arange(0, B)[:, None, None], tl.arange(0, M), tl.arange(0, N)
    k, half, group = tl.arange(0, K), tl.arange(0, K // 2), tl.arange(0, K // 32)
    a = tl.load(a_ptr + (i * M + m[None, :, None]) * (K // 2) + half[None, None, :])
    b = tl.load(b_ptr + (i * K + k[None, :, None]) * N + n[None, None, :])
    a_scale = tl.load(a_scale_ptr + (i * M + m[None, :, None]) * (K // 32) + group[None, None, :])
    b_scale = tl.load(b_scale_ptr + (i * N + n[None, :, None]) * (K // 32) + group[None, None, :])
    c = tl.dot_scaled(a, a_scale, "e2m1", b, b_scale, "e5m2")
    tl.store(c_ptr + (i * M + m[None, :, None]) * N + n[None, None, :], c)


def test_batches(engine: str) -> None:
    random = np.random.default_rng(0)
    pairs = [
        (
            operand(random, "e2m1", (16, 64), 1, 1, True, 32),
            operand(random, "e5m2", (64, 32), 0, 0, True, 32),
        )
        for _ in range(2)
    ]
    stored = [
        np.stack([getattr(pair[side], name) for pair in pairs]) for side in (0, 1) for name in ("stored", "scales")
    ]
    c = np.full((2, 16, 32), np.nan, np.float32)
    batched[(1,)](*stored, c, B=2, M=16, N=32, K=64)
    for found, (a, b) in zip(c, pairs, strict=True):
        check(found, a.numbers @ b.numbers)
