"""Tensor descriptors made on the host, against NumPy; and what the constructor refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support.errors import ArgumentValueError, CompilationError, DeviceAssertionError
from tilewright.tools.ragged_tma import (
    atomic_add_ragged,
    create_ragged_descriptor,
    load_ragged,
    store_ragged,
)

pytestmark = pytest.mark.usefixtures("every_target")


@triton.jit
def copy_scaled(src, dst, factor, M: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0) * M
    col = tl.program_id(1) * N
    dst.store([row, col], src.load([row, col]) * factor + src.shape[0])


@triton.jit
def product(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    col = tl.program_id(1) * BN
    acc = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        acc = tl.dot(a.load([row, k]), b.load([col, k]).T, acc)
    c.store([row, col], acc)


@triton.jit
def load_padded(src, out_ptr, M: tl.constexpr, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], src.load([0, 0]))


@triton.jit
def doubled(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    src = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    dst = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    dst.store([0, 0], src.load([0, 0]) * 2)


def normal(*shape: int) -> Array:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def test_loads_and_stores_stay_inside() -> None:
    x, out = normal(20, 40), np.zeros((22, 40), np.float32)
    src = TensorDescriptor.from_tensor(x, [16, 16])
    dst = TensorDescriptor(out, [20, 40], [40, 1], [16, 16])
    copy_scaled[(2, 3)](src, dst, 2.0, M=16, N=16)
    np.testing.assert_allclose(out[:20], x * 2 + 20, rtol=1e-6)
    assert not out[20:].any()


def test_matmul() -> None:
    a, b, c = normal(50, 36), normal(30, 36), np.zeros((50, 32), np.float32)
    descriptors = [TensorDescriptor.from_tensor(array, [16, 16]) for array in (a, b, c)]
    product[(4, 2)](*descriptors, 36, BM=16, BN=16, BK=16)
    np.testing.assert_allclose(c[:, :30], a @ b.T, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_padding(padding: str) -> None:
    x, out = normal(5, 8), np.ones((8, 16), np.float32)
    load_padded[(1,)](TensorDescriptor.from_tensor(x, [8, 16], padding), out, M=8, N=16)
    expected = np.full((8, 16), np.nan if padding == "nan" else 0, np.float32)
    expected[:5, :8] = x
    np.testing.assert_array_equal(out, expected)


@triton.jit
def copy_block(src, dst, M: tl.constexpr, N: tl.constexpr):
    tl.store(dst + tl.arange(0, M)[:, None] * N + tl.arange(0, N), src.load([0, 0]))


def as_tf32(x: Array) -> Array:
    """To 11 significant bits, ties to even, computed without a look at the bits."""
    mantissa, exponent = np.frexp(x.astype(np.float64))
    return np.where(np.isfinite(x), np.ldexp(np.rint(mantissa * 2**11) / 2**11, exponent), x).astype(np.float32)


def test_values_are_rounded_to_tf32() -> None:
    x = np.random.default_rng(5).standard_normal((8, 32)).astype(np.float32) * 1e3
    ties = [1 + 2**-11, 1 + 3 * 2**-11, -1 - 2**-11 - 2**-23, 2 - 2**-12, np.inf, -np.inf, np.nan, 0.0, -0.0]
    x[0, : len(ties)] = ties
    y = np.empty_like(x)
    for rounding, wanted in ((True, as_tf32(x)), (False, x)):
        copy_block[(1,)](TensorDescriptor.from_tensor(x, [8, 32], round_f32_to_tf32=rounding), y, 8, 32)
        np.testing.assert_array_equal(y, wanted)


def test_only_fp32_is_rounded_to_tf32() -> None:
    with pytest.raises(ArgumentValueError, match="round_f32_to_tf32=True of fp16"):
        TensorDescriptor.from_tensor(np.zeros((8, 32), np.float16), [8, 32], round_f32_to_tf32=True)


def test_a_read_only_base_is_noticed(every_target: str) -> None:
    if every_target == "cuda":
        pytest.skip("nothing in a GPU's memory is read-only")
    x, out = normal(16, 16), np.zeros((16, 16), np.float32)
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="argument 'dst': a read-only array"):
        copy_scaled[(1, 1)](*(TensorDescriptor.from_tensor(t, [16, 16]) for t in (x, out)), 2.0, M=16, N=16)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda x: TensorDescriptor(x, [4, 8], [1, 8], [4, 8]), "innermost stride 8"),
        (lambda x: TensorDescriptor(x, [4, 8], [7, 1], [4, 8]), "stride of 28 bytes"),
        (lambda x: TensorDescriptor(x[0, 1:], [7], [1], [4]), "unaligned base"),
        (lambda x: TensorDescriptor(x, [4, 8], [8, 1], [4]), "block of rank 1"),
        (lambda x: TensorDescriptor(x, [4, 8], [8, 1], [4, 8], "one"), "padding 'one'"),
        (lambda x: TensorDescriptor(x.astype(np.int32), [4, 8], [8, 1], [4, 8], "nan"), "NaN padding of i32"),
    ],
)
def test_wrong_descriptors(make: Any, text: str) -> None:
    with pytest.raises(ArgumentValueError, match=text):
        make(np.zeros((4, 8), np.float32))


@pytest.mark.parametrize("columns", [36, 35, 33])
def test_rows_of_any_length_or_a_clear_error(columns: int, every_target: str) -> None:
    """The copy engine of a GPU reads rows that begin at multiples of 16 bytes, and must not read others wrongly."""
    x, out = normal(12, columns), np.zeros((12, columns), np.float32)
    if columns % 4 and every_target != "cpu":
        if every_target == "cuda":
            pytest.skip("a failed assertion ends the CUDA context of this process: benchmarks/gpu/errors.py tests it")
        with pytest.raises(DeviceAssertionError, match="multiples of 16 bytes"):
            doubled[(1,)](x, out, 12, columns, M=16, N=64)
        return
    doubled[(1,)](x, out, 12, columns, M=16, N=64)
    np.testing.assert_array_equal(out, x * 2)


@triton.jit
def scale_group(src, dst, sums, first, count, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * BLOCK
    block = load_ragged(src, first, count, [row, 0])
    store_ragged(dst, first, count, [row, 0], block * 2)
    atomic_add_ragged(sums, 0, count, [row, 0], block)


@triton.jit
def copy_group_of_planes(src, dst, first, count, PLANE: tl.constexpr):
    store_ragged(dst, first, count, [PLANE, 0, 0], load_ragged(src, first, count, [PLANE, 0, 0], 1) + 1, 1)


def test_groups_of_rows_have_bounds_of_their_own() -> None:
    x, out, sums = normal(40, 32), np.zeros((40, 32), np.float32), np.zeros((24, 32), np.float32)
    groups = [(3, 9), (12, 0), (12, 24)]
    for first, count in groups:
        descriptors = [create_ragged_descriptor(array, [16, 32]) for array in (x, out, sums)]
        scale_group[(2,)](*descriptors, first, count, ROWS=40, BLOCK=16)
    inside = ((np.arange(40) >= 3) & (np.arange(40) < 36))[:, None]
    np.testing.assert_array_equal(out, np.where(inside, x * 2, 0))
    expected = x[12:36].copy()
    expected[:9] += x[3:12]
    np.testing.assert_allclose(sums, expected, rtol=1e-6)


def test_groups_of_rows_of_the_middle_dimension() -> None:
    x, out = normal(3, 20, 16), np.zeros((3, 20, 16), np.float32)
    descriptors = [create_ragged_descriptor(array, [1, 16, 16], ragged_dim=-2) for array in (x, out)]
    copy_group_of_planes[(1,)](*descriptors, 5, 7, PLANE=1)
    expected = np.zeros_like(x)
    expected[1, 5:12] = x[1, 5:12] + 1
    np.testing.assert_array_equal(out, expected)


def test_wrong_groups_of_rows() -> None:
    with pytest.raises(ArgumentValueError, match="before the last"):
        create_ragged_descriptor(normal(8, 16), [8, 16], ragged_dim=1)
    with pytest.raises(ArgumentValueError, match="two or three"):
        create_ragged_descriptor(np.zeros(8, np.float32), [8])


@triton.jit
def rows_by_number(x, out, KIND: tl.constexpr, ROWS: tl.constexpr, N: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [16, 16], [16, 1], [1, N])
    target = tl.make_tensor_descriptor(out, [16, 16], [16, 1], [1, N])
    rows = (15 - tl.arange(0, ROWS)).to(KIND)
    target.scatter(source.gather(rows, 0), rows, 0)


@pytest.mark.parametrize("kind", [tl.int16, tl.int32])
def test_rows_are_gathered_by_integers_of_two_widths(kind: Any) -> None:
    """As official Triton 3.9 takes them; 3.6 takes int32 alone."""
    x, out = normal(16, 16), np.zeros((16, 16), np.float32)
    rows_by_number[(1,)](x, out, kind, 8, 16)
    np.testing.assert_array_equal(out[8:], x[8:])
    assert not out[:8].any()


@pytest.mark.parametrize(
    ("kind", "rows", "columns", "message"),
    [
        (tl.int8, 8, 16, "x offsets must be a 1D block of int16 or int32, got a tensor int8"),
        (tl.int64, 8, 16, "x offsets must be a 1D block of int16 or int32, got a tensor int64"),
        (tl.int32, 4, 16, "descriptor gather must have at least 8 rows, but got 4"),
        (tl.int32, 8, 4, "descriptor gather of fp32 must have at least 8 columns, but got 4"),
        (tl.int32, 8, 2, r"at least 16 bytes in the last dimension, but got 2 \* 4 = 8 bytes"),
    ],
)
def test_rows_and_blocks_that_are_refused(kind: Any, rows: int, columns: int, message: str) -> None:
    with pytest.raises(CompilationError, match=message):
        rows_by_number[(1,)](normal(16, 16), np.zeros((16, 16), np.float32), kind, rows, columns)
