"""Hopper's own instructions on the simulated GPU (on a real one with `TILEWRIGHT_TARGET=cuda`): products of warp groups
over every operand type and order, and copies of boxes through descriptors from the host and from the kernel."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from device_memory import REAL

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs

pytestmark = pytest.mark.usefixtures("on_hopper")


@triton.jit
def product(a_ptr, b_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, TRANSPOSED: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    if TRANSPOSED:  # noqa: SIM108
        b = tl.load(b_ptr + n[:, None] * K + k[None, :]).T
    else:
        b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    c = tl.dot(a, b)
    tl.store(c_ptr + m[:, None] * N + n[None, :], c)


@triton.jit
def looped_product(a, b, c, K, M: tl.constexpr, N: tl.constexpr, BLOCK: tl.constexpr):
    row, col = tl.program_id(0) * M, tl.program_id(1) * N
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, K, BLOCK):
        acc = tl.dot(a.load([row, k]), b.load([k, col]), acc)
    c.store([row, col], acc.to(tl.float16))


@triton.jit
def scaled_copy(x_ptr, out_ptr, rows, cols, M: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [rows, cols], [cols, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [rows, cols], [cols, 1], [M, N])
    row, col = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([row, col], x.load([row, col]) * 2)


@triton.jit
def summed_boxes(x, out, M: tl.constexpr, N: tl.constexpr):
    out.atomic_add([0, 0], x.load([tl.program_id(0) * M, 0]))


def numbers(shape: tuple[int, ...], dtype: Any, seed: int) -> Array:
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind == "i":
        return random.integers(-100, 100, shape).astype(dtype)
    return random.standard_normal(shape).astype(dtype)


@pytest.mark.pairwise
@pytest.mark.parametrize("num_warps", [4, 8])
@pytest.mark.parametrize("shape", [(64, 64, 64), (128, 128, 32), (128, 16, 128)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(
    ("dtype", "opcode"),
    [(np.float16, "f32.f16.f16"), (ml_dtypes.bfloat16, "f32.bf16.bf16"), (np.float32, "f32.tf32.tf32")],
)
def test_products(dtype: Any, opcode: str, transposed: bool, shape: tuple[int, int, int], num_warps: int) -> None:
    m, n, k = shape
    a, b = numbers((m, k), dtype, 1), numbers((n, k) if transposed else (k, n), dtype, 2)
    c = np.full((m, n), np.nan, np.float32)
    kernel = product[(1,)](a, b, c, M=m, N=n, K=k, TRANSPOSED=transposed, num_warps=num_warps)
    expected = a.astype(np.float64) @ (b.T if transposed else b).astype(np.float64)
    np.testing.assert_allclose(c, expected, rtol=2e-3, atol=2e-2)
    assert f".{opcode}" in kernel.asm["ptx"]
    assert "wgmma.mma_async" in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("dtype", "result", "opcode"),
    [
        (np.int8, np.int32, "s32.s8.s8"),
        (ml_dtypes.float8_e4m3fn, np.float32, "f32.e4m3.e4m3"),
        (ml_dtypes.float8_e5m2, np.float32, "f32.e5m2.e5m2"),
    ],
)
def test_products_of_bytes(dtype: Any, result: Any, opcode: str) -> None:
    """A real Hopper sums products of 8-bit floats with about 14 bits."""
    a, b = numbers((64, 64), dtype, 1), numbers((32, 64), dtype, 2)
    c = np.zeros((64, 32), result)
    kernel = product[(1,)](a, b, c, M=64, N=32, K=64, TRANSPOSED=True)
    expected = a.astype(np.float64) @ b.T.astype(np.float64)
    limit = 2e-3 if result is np.float32 and knobs.get("target") == REAL else 1e-5
    np.testing.assert_allclose(c, expected, rtol=limit, atol=10 * limit)
    assert f"wgmma.mma_async.sync.aligned.m64n32k32.{opcode}" in kernel.asm["ptx"]


@pytest.mark.parametrize("block", [32, 64])
@pytest.mark.parametrize("num_warps", [4, 8])
def test_descriptors_of_the_host(num_warps: int, block: int) -> None:
    """Boxes that reach over the edge read zeros, and write nothing there."""
    m, n, k, tile = 200, 136, 144, 128
    a, b = numbers((m, k), np.float16, 1), numbers((k, n), np.float16, 2)
    c = np.full((m, n), np.nan, np.float16)
    descriptors = [
        TensorDescriptor.from_tensor(x, shape)
        for x, shape in ((a, [tile, block]), (b, [block, tile]), (c, [tile, tile]))
    ]
    kernel = looped_product[(2, 2)](*descriptors, k, M=tile, N=tile, BLOCK=block, num_warps=num_warps)
    np.testing.assert_allclose(c, a.astype(np.float32) @ b.astype(np.float32), rtol=4e-3, atol=4e-2)
    ptx = kernel.asm["ptx"]
    assert "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes" in ptx
    assert "cp.async.bulk.tensor.2d.global.shared::cta" in ptx


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32])
@pytest.mark.parametrize("box", [(16, 16), (8, 64), (64, 128)])
def test_descriptors_of_the_kernel(box: tuple[int, int], dtype: Any) -> None:
    x = numbers((72, 136), dtype, 3)
    out = np.zeros_like(x)
    grid = (triton.cdiv(72, box[0]), triton.cdiv(136, box[1]))
    kernel = scaled_copy[grid](x, out, 72, 136, M=box[0], N=box[1])
    np.testing.assert_array_equal(out, x * 2)
    assert "tensormap.replace.tile.global_address" in kernel.asm["ptx"]


def test_boxes_are_added() -> None:
    x = numbers((64, 32), np.float32, 4)
    out = np.zeros((16, 32), np.float32)
    summed_boxes[(4,)](
        TensorDescriptor.from_tensor(x, [16, 32]), TensorDescriptor.from_tensor(out, [16, 32]), M=16, N=32
    )
    np.testing.assert_allclose(out, x.reshape(4, 16, 32).sum(0), rtol=1e-5, atol=1e-5)
