"""`tl.dot` over every element type, order in memory and number of warps on the simulated GPUs, against NumPy in float64;
which instruction computes it; and that ptxas takes the PTX.

`INSTRUCTIONS` is what official Triton 3.6 chooses for the same products too, but for f16 sums of fp8 products on compute
capability 8.9: ptxas takes these from PTX 8.7 on only.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_ptxas
from tilewright.support import knobs
from tilewright.support.errors import CompilationError

E4M3: Any = ml_dtypes.float8_e4m3fn
E5M2: Any = ml_dtypes.float8_e5m2
BF16: Any = ml_dtypes.bfloat16


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A_TRANSPOSED: tl.constexpr,
    B_TRANSPOSED: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr, LIMIT: tl.constexpr, DOUBLED: tl.constexpr,
):  # fmt: skip
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    if A_TRANSPOSED:  # noqa: SIM108
        a = tl.load(a_ptr + k[:, None] * M + m[None, :]).T
    else:
        a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    if B_TRANSPOSED:  # noqa: SIM108
        b = tl.load(b_ptr + n[:, None] * K + k[None, :]).T
    else:
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    if DOUBLED:
        a = a + a
    c = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT, max_num_imprecise_acc=LIMIT)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i, m, n, k = tl.arange(0, B), tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + (i[:, None, None] * M + m[None, :, None]) * K + k[None, None, :])
    b = tl.load(b_ptr + (i[:, None, None] * K + k[None, :, None]) * N + n[None, None, :])
    tl.store(c_ptr + (i[:, None, None] * M + m[None, :, None]) * N + n[None, None, :], tl.dot(a, b))


@triton.jit
def chained(q_ptr, k_ptr, v_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, STEPS: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    acc = tl.zeros((M, D), tl.float32)
    for start in range(0, STEPS * N, N):
        k = tl.load(k_ptr + (start + n)[:, None] * D + d[None, :])
        v = tl.load(v_ptr + (start + n)[:, None] * D + d[None, :])
        p = tl.dot(q, k.T) * 0.125
        acc = tl.dot(p.to(v.dtype), v, acc)
    tl.store(out_ptr + m[:, None] * D + d[None, :], acc)


@triton.jit
def narrow_floats(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr, IS_MIXED: tl.constexpr):
    i = tl.arange(0, SIZE)
    a = tl.load(a_ptr + i[:, None] * SIZE + i[None, :]).to(tl.float8e4b15)
    b = tl.load(b_ptr + i[:, None] * SIZE + i[None, :]).to(tl.float8e4b15)
    if IS_MIXED:
        b = b.to(tl.float16).to(tl.float8e5)
    tl.store(c_ptr + i[:, None] * SIZE + i[None, :], tl.dot(a, b))


@dataclass(frozen=True)
class Kind:
    """Element types of a product, and how far it may be from the exact one, relative to the sum of magnitudes."""

    a: Any
    b: Any
    result: Any = np.float32
    precision: str | None = None
    tolerance: float = 1e-6
    options: dict[str, Any] = field(default_factory=dict[str, Any])


TF32_ERROR, F16_SUM_ERROR = 2.0**-9, 2.0**-8
KINDS: dict[str, Kind] = {
    "f16": Kind(np.float16, np.float16),
    "f16-f16": Kind(np.float16, np.float16, np.float16, tolerance=F16_SUM_ERROR),
    "bf16": Kind(BF16, BF16),
    "tf32": Kind(np.float32, np.float32, precision="tf32", tolerance=TF32_ERROR),
    "ieee": Kind(np.float32, np.float32, precision="ieee"),
    "tf32x3": Kind(np.float32, np.float32, precision="tf32x3", tolerance=2.0**-20),
    "bf16x3": Kind(np.float32, np.float32, precision="bf16x3", tolerance=2.0**-15),
    "bf16x6": Kind(np.float32, np.float32, precision="bf16x6", tolerance=2.0**-21),
    "f64": Kind(np.float64, np.float64, np.float64, tolerance=1e-15),
    "i8": Kind(np.int8, np.int8, np.int32, tolerance=0.0),
    "e4m3": Kind(E4M3, E4M3),
    "e5m2": Kind(E5M2, E5M2),
    "e4m3-e5m2": Kind(E4M3, E5M2),
    "e5m2-f16": Kind(E5M2, E5M2, np.float16, tolerance=F16_SUM_ERROR),
}
"""tf32 keeps 11 bits of each operand, tf32x3 22, bf16x3 16, bf16x6 24."""

INSTRUCTIONS: dict[str, tuple[str, str, str]] = {
    "f16": ("mma m16n8k16 f32.f16.f16", "mma m16n8k16 f32.f16.f16", "wgmma m64n32k16 f32.f16.f16"),
    "f16-f16": ("mma m16n8k16 f16.f16.f16", "mma m16n8k16 f16.f16.f16", "wgmma m64n32k16 f16.f16.f16"),
    "bf16": ("mma m16n8k16 f32.bf16.bf16", "mma m16n8k16 f32.bf16.bf16", "wgmma m64n32k16 f32.bf16.bf16"),
    "tf32": ("mma m16n8k8 f32.tf32.tf32", "mma m16n8k8 f32.tf32.tf32", "wgmma m64n32k8 f32.tf32.tf32"),
    "tf32x3": ("mma m16n8k8 f32.tf32.tf32", "mma m16n8k8 f32.tf32.tf32", "wgmma m64n32k8 f32.tf32.tf32"),
    "bf16x3": ("mma m16n8k16 f32.bf16.bf16", "mma m16n8k16 f32.bf16.bf16", "wgmma m64n32k16 f32.bf16.bf16"),
    "bf16x6": ("mma m16n8k16 f32.bf16.bf16", "mma m16n8k16 f32.bf16.bf16", "wgmma m64n32k16 f32.bf16.bf16"),
    "ieee": ("", "", ""),
    "f64": ("mma m8n8k4 f64.f64.f64", "", "mma m16n8k16 f64.f64.f64"),
    "i8": ("mma m16n8k32 s32.s8.s8", "mma m16n8k32 s32.s8.s8", "wgmma m64n32k32 s32.s8.s8"),
    "e4m3": ("", "mma m16n8k32 f32.e4m3.e4m3", "wgmma m64n32k32 f32.e4m3.e4m3"),
    "e5m2": ("mma m16n8k16 f32.f16.f16", "mma m16n8k32 f32.e5m2.e5m2", "wgmma m64n32k32 f32.e5m2.e5m2"),
    "e4m3-e5m2": ("", "mma m16n8k32 f32.e4m3.e5m2", "wgmma m64n32k32 f32.e4m3.e5m2"),
    "e5m2-f16": ("mma m16n8k16 f16.f16.f16", "mma m16n8k16 f16.f16.f16", "wgmma m64n32k32 f16.e5m2.e5m2"),
}
"""By kind the instruction for 64x32x64 on compute capability 8.0, 8.9 and 9.0; none where threads multiply."""

ARCHITECTURES = ("sm80", "sm89", "sm90")
LACKING = {("sm80", "e4m3"), ("sm80", "e4m3-e5m2")}
"""Compute capability 8.0 has no fp8e4nv."""

CASES = [(arch, kind) for arch in ARCHITECTURES for kind in KINDS if (arch, kind) not in LACKING]


def numbers(random: np.random.Generator, shape: tuple[int, ...], dtype: Any) -> Array:
    if np.dtype(dtype).kind == "i":
        return random.integers(-128, 128, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


def run(
    arch: str,
    kind: Kind,
    shape: tuple[int, int, int],
    transposed: tuple[bool, bool] = (False, False),
    *,
    limit: int | None = None,
    is_doubled: bool = False,
    num_warps: int = 4,
    inputs: tuple[Array, Array] | None = None,
) -> tuple[Array, Array, Array, str]:
    """What the kernel gives, the exact product, the sum of magnitudes of its terms, and the PTX."""
    m, n, k = shape
    random = np.random.default_rng(0)
    a, b = inputs or (numbers(random, (m, k), kind.a), numbers(random, (k, n), kind.b))
    c = np.zeros((m, n), kind.result)
    stored = [
        np.ascontiguousarray(x.T) if is_transposed else x for x, is_transposed in zip((a, b), transposed, strict=True)
    ]
    with knobs.scope(target="cuda_sim", override_arch=arch):
        kernel = product[(1,)](
            *stored, c, M=m, N=n, K=k, A_TRANSPOSED=transposed[0], B_TRANSPOSED=transposed[1],
            PRECISION=kind.precision, OUT=tl.float16 if kind.result == np.float16 else tl.float32, LIMIT=limit,
            DOUBLED=is_doubled, num_warps=num_warps,
        )  # fmt: skip
    left, right = a.astype(np.float64) * (2 if is_doubled else 1), b.astype(np.float64)
    return c, left @ right, np.abs(left) @ np.abs(right), kernel.asm["ptx"]


def check(found: Array, exact: Array, magnitude: Array, tolerance: float) -> None:
    error = np.abs(found.astype(np.float64) - exact)
    assert np.all(error <= tolerance * magnitude), f"{np.max(error / magnitude)} > {tolerance}"


def instructions(ptx: str) -> set[str]:
    """The matrix instructions of a program as `INSTRUCTIONS` writes them."""
    found = re.findall(
        r"(wgmma|mma)(?:\.mma_async)?\.sync\.aligned\.(m\d+n\d+k\d+)\.(?:row\.col\.)?(\w+\.\w+\.\w+)", ptx
    )
    return {" ".join(parts) for parts in found}


@pytest.mark.parametrize(("arch", "name"), CASES)
def test_types(arch: str, name: str) -> None:
    kind = KINDS[name]
    *found, ptx = run(arch, kind, (64, 32, 64))
    check(*found, kind.tolerance)
    expected = INSTRUCTIONS[name][ARCHITECTURES.index(arch)]
    assert instructions(ptx) == ({expected} if expected else set())
    if find_ptxas() is None:
        pytest.skip("no ptxas to assemble the PTX with")
    assert assemble(ptx, nvptx_facts(int(arch[2:])), fp_fusion=True).registers > 0


@pytest.mark.pairwise
@pytest.mark.parametrize("shape", [(16, 16), (64, 32), (128, 64), (2, 16)], ids=str)
@pytest.mark.parametrize("name", ["tf32", "ieee", "tf32x3", "bf16x3", "bf16x6", "f64"])
@pytest.mark.parametrize("arch", ARCHITECTURES)
def test_the_shortest_rows(arch: str, name: str, shape: tuple[int, int]) -> None:
    """32 bytes along K, as official Triton 3.9 takes them: 8 of f32, 4 of f64."""
    *found, _ = run(arch, KINDS[name], (*shape, 4 if name == "f64" else 8))
    check(*found, KINDS[name].tolerance)


@pytest.mark.pairwise
@pytest.mark.parametrize("transposed", [(True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize(
    ("arch", "name"), [(a, n) for a, n in CASES if a != "sm89" and n in ("f16", "tf32", "f64", "i8", "e5m2")]
)
def test_orders(arch: str, name: str, transposed: tuple[bool, bool]) -> None:
    """Also of types that `wgmma` wants along K: these go through registers."""
    kind = KINDS[name]
    *found, ptx = run(arch, kind, (64, 32, 64), transposed)
    check(*found, kind.tolerance)
    assert instructions(ptx) == {INSTRUCTIONS[name][ARCHITECTURES.index(arch)]}


@pytest.mark.pairwise
@pytest.mark.parametrize("num_warps", [1, 2, 8, 16])
@pytest.mark.parametrize("shape", [(128, 64, 32), (64, 128, 32), (16, 16, 32)], ids=str)
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_warps(arch: str, shape: tuple[int, int, int], num_warps: int) -> None:
    check(*run(arch, KINDS["f16"], shape, num_warps=num_warps)[:3], KINDS["f16"].tolerance)


@pytest.mark.parametrize(
    "shape", [(1, 16, 16), (16, 1, 16), (2, 4, 32), (8, 8, 64), (64, 8, 16), (128, 16, 16)], ids=str
)
@pytest.mark.parametrize("name", ["f16", "tf32"])
def test_extents_that_fill_no_tile(name: str, shape: tuple[int, int, int]) -> None:
    for arch in ("sm80", "sm90"):
        check(*run(arch, KINDS[name], shape)[:3], KINDS[name].tolerance)


@pytest.mark.parametrize("name", ["f16", "bf16", "tf32", "tf32x3"])
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_computed_operands(arch: str, name: str) -> None:
    """A in registers."""
    check(*run(arch, KINDS[name], (64, 32, 64), is_doubled=True)[:3], KINDS[name].tolerance)


@pytest.mark.parametrize("limit", [0, 32, 48, 64, 128])
def test_limits_of_imprecise_sums(limit: int) -> None:
    *found, ptx = run("sm90", KINDS["e4m3"], (64, 32, 128), limit=limit)
    check(*found, KINDS["e4m3"].tolerance)
    # Sums that must be precise are those of mma.sync, to which 8-bit floats go as f16 on Hopper.
    assert instructions(ptx) == {"wgmma m64n32k32 f32.e4m3.e4m3" if limit else "mma m16n8k16 f32.f16.f16"}


@triton.jit
def sums_of_blocks(a_ptr, b_ptr, c_ptr, SIZE: tl.constexpr, DEPTH: tl.constexpr, BK: tl.constexpr, LIMIT: tl.constexpr):
    """Rows of A times rows of B, a block of K at a time."""
    i, k = tl.arange(0, SIZE), tl.arange(0, BK)
    total = tl.zeros((SIZE, SIZE), tl.float32)
    for start in range(0, DEPTH, BK):
        a = tl.load(a_ptr + i[:, None] * DEPTH + start + k[None, :])
        b = tl.load(b_ptr + i[:, None] * DEPTH + start + k[None, :])
        total = tl.dot(a, b.T, total, max_num_imprecise_acc=LIMIT)
    tl.store(c_ptr + i[:, None] * SIZE + i[None, :], total)


@pytest.mark.parametrize("limit", [48, 64, None])
def test_sums_go_on_outside_of_the_narrow_accumulator(limit: int | None) -> None:
    """With a limit of no more than a block, each product starts at zero, and ordinary additions sum up the blocks."""
    random = np.random.default_rng(0)
    a, b = (numbers(random, (64, 192), KINDS["e4m3"].a) for _ in range(2))
    c = np.full((64, 64), np.nan, np.float32)
    with knobs.scope(target="cuda_sim", override_arch="sm90"):
        kernel = sums_of_blocks[(1,)](a, b, c, SIZE=64, DEPTH=192, BK=64, LIMIT=limit)
    exact, magnitude = (x.astype(np.float64) @ y.astype(np.float64).T for x, y in ((a, b), (np.abs(a), np.abs(b))))
    check(c, exact, magnitude, KINDS["e4m3"].tolerance)
    assert bool(re.search(r"\badd(\.rn)?\.f32\b", kernel.asm["ptx"])) == (limit is not None)


@pytest.mark.parametrize("name", ["tf32x3", "bf16x3", "bf16x6"])
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_split_operands_that_are_not_finite(arch: str, name: str) -> None:
    """An infinity leaves no NaN behind; a NaN stays in its row."""
    random = np.random.default_rng(1)
    a, b = numbers(random, (64, 32), np.float32), np.abs(numbers(random, (32, 32), np.float32)) + 1
    a[3, 5], a[7, 1], a[9, 2] = np.inf, -np.inf, np.nan
    found, exact, _, _ = run(arch, KINDS[name], (64, 32, 32), inputs=(a, b))
    np.testing.assert_allclose(found, exact, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_batches(arch: str, dtype: Any) -> None:
    random = np.random.default_rng(0)
    a, b = numbers(random, (4, 16, 32), dtype), numbers(random, (4, 32, 16), dtype)
    c = np.zeros((4, 16, 16), np.float32)
    with knobs.scope(target="cuda_sim", override_arch=arch):
        kernel = batched[(1,)](a, b, c, B=4, M=16, N=16, K=32)
    exact = a.astype(np.float64) @ b.astype(np.float64)
    check(c, exact, np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64), TF32_ERROR)
    assert "mma.sync" in kernel.asm["ptx"]


@pytest.mark.pairwise
@pytest.mark.parametrize("num_warps", [4, 8])
@pytest.mark.parametrize("dtype", [np.float16, BF16, np.float32])
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_chains(arch: str, dtype: Any, num_warps: int) -> None:
    """A product that is an operand of another keeps its rows in their warps; on Hopper it never leaves registers."""
    m, n, d, steps = 128, 32, 64, 3
    random = np.random.default_rng(0)
    q, k, v = (numbers(random, shape, dtype) for shape in ((m, d), (steps * n, d), (steps * n, d)))
    out = np.zeros((m, d), np.float32)
    with knobs.scope(target="cuda_sim", override_arch=arch):
        chained[(1,)](q, k, v, out, M=m, N=n, D=d, STEPS=steps, num_warps=num_warps)
    q, k, v = (x.astype(np.float64) for x in (q, k, v))
    check(out, q @ k.T * 0.125 @ v, np.abs(q) @ np.abs(k.T) * 0.125 @ np.abs(v), 2.0**-8)


@pytest.mark.parametrize(("target", "arch"), [("cpu", None), ("cuda_sim", "sm80"), ("cuda_sim", "sm90")])
@pytest.mark.parametrize("is_mixed", [False, True])
def test_fp8e4b15(target: str, arch: str | None, is_mixed: bool) -> None:
    """No machine multiplies this type: f16 holds its values."""
    random = np.random.default_rng(0)
    a, b = ((random.integers(-7, 8, (32, 32)) / 8).astype(np.float16) for _ in range(2))
    b = np.clip(np.round(b * 4) / 4, -0.75, 0.75).astype(np.float16)
    c = np.zeros((32, 32), np.float32)
    with knobs.scope(target=target, **({} if arch is None else {"override_arch": arch})):
        narrow_floats[(1,)](a, b, c, SIZE=32, IS_MIXED=is_mixed)
    np.testing.assert_array_equal(c, a.astype(np.float64) @ b.astype(np.float64))


def test_there_is_no_product_of_unsigned_bytes() -> None:
    bytes_ = np.zeros((32, 32), np.uint8)
    with pytest.raises(CompilationError, match="Unsupported dtype uint8"), knobs.scope(target="cuda_sim"):
        product[(1,)](
            bytes_, bytes_, np.zeros((32, 32), np.int32), M=32, N=32, K=32, A_TRANSPOSED=False, B_TRANSPOSED=False,
            PRECISION=None, OUT=tl.float32, LIMIT=None, DOUBLED=False,
        )  # fmt: skip
