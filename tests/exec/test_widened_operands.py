"""Products of which one operand is computed from narrower elements, such as weights of four bits, on Hopper: it goes from
registers into `wgmma`, on either side of the product, and is computed while the product before is under way.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_overlapped_products import error, is_refused

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.missing_instructions import without_each
from suite.products_in_flight import overwritten
from tilewright.codegen.nvptx.disasm import get_sass
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_program, find_ptxas
from tilewright.support import knobs
from tilewright.targets.cuda.simulated import SimulatedKernel

pytestmark = pytest.mark.usefixtures("on_hopper")

GROUP = 64
"""Weights that share a scale."""


@triton.jit
def four_bits(
    a_ptr, w_ptr, scale_ptr, c_ptr, M, N, K, w_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    """C = A W^T, two weights in a byte."""
    rows, columns = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    k, pairs = tl.arange(0, BK), tl.arange(0, BK // 2)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_ptr + rows[:, None] * K + (start + k)[None, :], (rows < M)[:, None], other=0.0)
        packed = tl.load(w_ptr + columns[:, None] * w_row + (start // 2 + pairs)[None, :], (columns < N)[:, None])
        scale = tl.load(scale_ptr + start // GROUP * N + columns, columns < N)
        weights = tl.interleave(packed & 15, packed >> 4).to(x.dtype)
        total = tl.dot(x, tl.trans((weights - 8.0) * scale[:, None]), total)
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, inside)


@triton.jit
def widened(
    a_ptr, b_ptr, c_ptr, K, a_row, a_column, b_row, b_column,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, LEFT: tl.constexpr,
):  # fmt: skip
    """One operand is cast and scaled."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    m += tl.program_id(0) * BM
    n += tl.program_id(1) * BN
    columns = tl.num_programs(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * a_row + (start + k)[None, :] * a_column)
        b = tl.load(b_ptr + (start + k)[:, None] * b_row + n[None, :] * b_column)
        if LEFT:
            a = a.to(b.dtype) * 0.5
        else:
            b = b.to(a.dtype) * 0.5
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * columns + n[None, :], total)


@triton.jit
def computed(
    a_ptr, scale_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, BY_ROW: tl.constexpr
):  # fmt: skip
    """The left operand is widened, and scaled by rows or by columns."""
    m, n, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :]).to(b_ptr.dtype.element_ty)
        b = tl.load(b_ptr + (start + k)[:, None] * BN + n[None, :])
        if BY_ROW:
            a *= tl.load(scale_ptr + start // BK * BM + m)[:, None]
        else:
            a *= tl.load(scale_ptr + start + k)[None, :]
        total = tl.dot(a, b, total)
    tl.store(c_ptr + m[:, None] * BN + n[None, :], total)


def strides(array: Array) -> list[int]:
    return [stride // array.itemsize for stride in array.strides]


def multiply_four_bits(
    m: int, n: int, k: int, block: tuple[int, int, int], *, warps: int, stages: int, dtype: Any = np.float16
) -> tuple[Any, list[Any]]:
    """Launch and check; returns the kernel and its arguments."""
    random = np.random.default_rng(0)
    a = random.standard_normal((m, k)).astype(dtype)
    codes = random.integers(0, 16, (n, k)).astype(np.uint8)
    scales = random.uniform(0.5, 1, (max(k // GROUP, 1), n)).astype(dtype)
    packed = codes[:, 0::2] | codes[:, 1::2] << 4
    out = np.full((m, n), np.nan, np.float32)
    bm, bn, bk = block
    arguments = [a, packed, scales, out, m, n, k, k // 2]
    compiled: Any = four_bits[(-(-m // bm), -(-n // bn))](
        *arguments, BM=bm, BN=bn, BK=bk, GROUP=GROUP, num_warps=warps, num_stages=stages
    )
    weights = (codes.astype(np.float64) - 8) * np.repeat(scales.astype(np.float64), GROUP, 0)[:k].T
    expected = a.astype(np.float64) @ weights.T
    assert np.abs(out - expected).max() <= (2e-2 if dtype is np.float16 else 2e-1) * max(np.abs(expected).max(), 1)
    assert not expected.any() or error(out, expected) < (5e-4 if dtype is np.float16 else 4e-3)
    return compiled, arguments


def multiply_widened(
    shape: tuple[int, int, int], block: tuple[int, int, int], *, left: bool, warps: int, transposed: bool = True
) -> Any:
    """Launch and check; returns the kernel."""
    (m, n, k), (bm, bn, bk) = shape, block
    random = np.random.default_rng(0)
    narrow, wide = random.integers(-8, 8, (m if left else n, k)), random.standard_normal((n if left else m, k))
    a, b_rows = (narrow.astype(np.int8), wide.astype(np.float16)) if left else (wide.astype(np.float16), narrow.astype(np.int8))  # fmt: skip
    b = b_rows.T if transposed else np.ascontiguousarray(b_rows.T)
    out = np.full((m, n), np.nan, np.float32)
    compiled = widened[(m // bm, n // bn)](
        a, b, out, k, *strides(a), *strides(b), BM=bm, BN=bn, BK=bk, LEFT=left, num_warps=warps
    )
    assert error(out, 0.5 * (a.astype(np.float64) @ b.astype(np.float64))) < 1e-5
    return compiled


def reads_registers(compiled: Any) -> bool:
    """Whether products read A from registers."""
    return bool(re.search(r"wgmma\.mma_async\S* \{[^}]*\}, *\{", compiled.asm["ptx"]))


@pytest.mark.pairwise
@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("block", [(64, 64, 64), (128, 128, 32), (64, 128, 64)], ids=str)
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 256), (100, 130, 128), (128, 64, 64), (16, 16, 0)])
def test_weights_of_four_bits(m: int, n: int, k: int, block: tuple[int, int, int], warps: int, stages: int) -> None:
    compiled, _ = multiply_four_bits(m, n, k, block, warps=warps, stages=stages)
    assert reads_registers(compiled)


def test_bfloat16() -> None:
    compiled, _ = multiply_four_bits(64, 64, 192, (64, 64, 64), warps=4, stages=3, dtype=ml_dtypes.bfloat16)
    assert reads_registers(compiled)


@pytest.mark.parametrize("warps", [4, 8])
@pytest.mark.parametrize("left", [False, True])
def test_either_operand(left: bool, warps: int) -> None:
    assert reads_registers(multiply_widened((128, 128, 256), (128, 128, 64), left=left, warps=warps))


@pytest.mark.pairwise
@pytest.mark.parametrize("by_row", [True, False])
@pytest.mark.parametrize("block", [32, 64, 128])
@pytest.mark.parametrize("narrow", [np.int8, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, np.float16], ids=str)
@pytest.mark.parametrize("wide", [np.float16, ml_dtypes.bfloat16, np.float32], ids=str)
def test_computed_left_operands(wide: Any, narrow: Any, block: int, by_row: bool) -> None:
    """Cut along K where a part of A is computed from parts: what is multiplied by a column is, and by a row is not."""
    m, n, k, random = 64, 64, 256, np.random.default_rng(0)
    a, b = random.integers(-8, 8, (m, k)).astype(narrow), random.integers(-8, 8, (k, n)).astype(wide)
    scale = (random.integers(1, 5, (k // block, m) if by_row else (k,)) / 4).astype(wide)
    out = np.full((m, n), np.nan, np.float32)
    compiled: Any = computed[(1,)](a, scale, b, out, k, BM=m, BN=n, BK=block, BY_ROW=by_row)
    factors = np.repeat(scale.astype(np.float64), block, 0).T if by_row else scale.astype(np.float64)
    assert np.array_equal(out, (a.astype(np.float64) * factors) @ b.astype(np.float64))
    assert reads_registers(compiled)


@pytest.fixture
def specialized() -> Iterator[None]:
    """A warp that copies, in a loop over programs, wherever that can be."""
    with knobs.scope(tma_loads="always", persist_programs="always", specialize_warps="always"):
        yield


def check_specialized(compiled: Any) -> None:
    assert "warp_specialize" in compiled.asm["ttgir"] and reads_registers(compiled)
    if find_ptxas() is not None and find_program("cuobjdump") is not None:
        check_assembled(compiled)


@pytest.mark.parametrize("left", [False, True])
def test_a_warp_that_copies(specialized: None, left: bool) -> None:
    check_specialized(multiply_widened((256, 256, 320), (128, 128, 64), left=left, warps=8, transposed=not left))


@pytest.mark.parametrize(("m", "n", "k"), [(256, 256, 320), (100, 130, 64), (64, 64, 0)])
def test_a_warp_that_copies_weights_of_four_bits(specialized: None, m: int, n: int, k: int) -> None:
    """Edges of the matrices and no iterations at all; weights advance by half of what activations do."""
    compiled, _ = multiply_four_bits(m, n, k, (128, 128, 64), warps=8, stages=3)
    check_specialized(compiled)


@pytest.mark.costly
def test_each_wait_and_arrival_of_a_warp_that_copies(a_gpu: str, specialized: None) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    with knobs.scope(persist_programs="never"):
        compiled, arguments = multiply_four_bits(64, 64, 320, (64, 64, 64), warps=4, stages=3)
    check_specialized(compiled)
    kernel = compiled.native
    assert not is_refused(SimulatedKernel(kernel.facts, kernel.ptx), arguments)
    for what in ("wgmma.wait_group", "mbarrier.arrive", "mbarrier.try_wait"):
        changed = without_each(kernel, what)
        missed = [which for which, spoilt in changed if not is_refused(spoilt, arguments)]
        assert len(missed) <= (what == "wgmma.wait_group") < len(changed), missed


def test_rows_across_k_are_not_copied_by_tma(specialized: None) -> None:
    compiled = multiply_widened((64, 64, 128), (64, 64, 64), left=False, warps=4, transposed=False)
    assert "warp_specialize" not in compiled.asm["ttgir"]


@triton.jit
def computed_deeply(a_ptr, b_ptr, c_ptr, K, BM: tl.constexpr, BK: tl.constexpr):
    """Each value is used twice, forty times over."""
    m, k = tl.arange(0, BM), tl.arange(0, BK)
    total = tl.zeros((BM, BM), tl.float32)
    for start in range(0, K, BK):
        a = tl.load(a_ptr + m[:, None] * K + (start + k)[None, :]).to(tl.float16)
        for _ in tl.static_range(40):
            a = tl.where(a > 0, -a, a + 1)
        total = tl.dot(a, tl.load(b_ptr + (start + k)[:, None] * BM + m[None, :]), total)
    tl.store(c_ptr + m[:, None] * BM + m[None, :], total)


def test_deep_expressions() -> None:
    """Shared values are looked at once, not once for each way to them."""
    random = np.random.default_rng(0)
    a, b = random.integers(-8, 8, (64, 128)).astype(np.int8), random.integers(-8, 8, (128, 64)).astype(np.float16)
    out = np.full((64, 64), np.nan, np.float32)
    assert reads_registers(computed_deeply[(1,)](a, b, out, 128, BM=64, BK=64))
    expected = a.astype(np.float64)
    for _ in range(40):
        expected = np.where(expected > 0, -expected, expected + 1)
    assert np.array_equal(out, expected @ b.astype(np.float64))


@pytest.mark.parametrize("warps", [4, 8])
def test_registers_in_flight_are_held(warps: int) -> None:
    """What the last product of a round reads is used after the wait in the next, by a store that no thread executes."""
    ptx = multiply_widened((128, 128, 256), (128, 128, 64), left=True, warps=warps).asm["ptx"]
    loop = ptx[ptx.index("wgmma.mma_async") :]
    held = re.search(
        r"wgmma\.wait_group\.sync\.aligned 3;.{,200}?@%p\d+ st\.shared\.v4\.b32 \[%r\d+\], {(.*?)};", loop, re.DOTALL
    )
    assert held is not None and "wgmma.mma_async" not in held.group()
    for register in held.group(1).split(", "):
        assert re.search(rf"mov\.b32 \t?{register}, %r\d+;", ptx), "it is carried"


def test_weights_across_k_go_through_memory() -> None:
    """Registers would be filled by single bytes."""
    assert not reads_registers(multiply_widened((64, 64, 128), (64, 64, 64), left=False, warps=4, transposed=False))


def test_the_switch() -> None:
    with knobs.scope(widen_in_registers=False):
        assert not reads_registers(multiply_widened((64, 64, 128), (64, 64, 64), left=False, warps=4))


@pytest.mark.parametrize(("left", "warps"), [(False, 8), (True, 8), (True, 4)])
def test_many_programs(a_gpu: str, left: bool, warps: int) -> None:
    """Warp groups that wait for each other's products: here registers were overwritten that these still read."""
    if a_gpu != "cuda":
        pytest.skip("the simulated GPU runs PTX, whose registers are as many as there are values")
    for _ in range(5):
        multiply_widened((1024, 1024, 1024), (128, 128, 64), left=left, warps=warps)


@pytest.mark.costly
def test_each_wait_is_needed(a_gpu: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    compiled, arguments = multiply_four_bits(64, 64, 256, (64, 64, 64), warps=4, stages=3)
    changed = without_each(compiled.native, "wgmma.wait_group")
    missed = [which for which, spoilt in changed if not is_refused(spoilt, arguments)]
    assert len(changed) > len(missed), missed
    assert len(missed) <= 1, missed


@pytest.mark.skipif(find_ptxas() is None or find_program("cuobjdump") is None, reason="there is no disassembler")
@pytest.mark.parametrize(("block", "warps"), [((128, 128, 64), 8), ((256, 128, 64), 8), ((256, 64, 64), 4)], ids=str)
def test_ptxas_keeps_registers_of_products_under_way(block: tuple[int, int, int], warps: int) -> None:
    """Nor does it spill, or run products one by one."""
    compiled, _ = multiply_four_bits(block[0], block[1], 128, block, warps=warps, stages=3)
    check_assembled(compiled)


@pytest.mark.skipif(find_ptxas() is None or find_program("cuobjdump") is None, reason="there is no disassembler")
@pytest.mark.parametrize("warps", [4, 8])
def test_ptxas_keeps_registers_of_widened_left_operands(warps: int) -> None:
    check_assembled(multiply_widened((128, 128, 128), (128, 128, 64), left=True, warps=warps))


def check_assembled(compiled: Any) -> None:
    assembled = assemble(compiled.asm["ptx"], nvptx_facts(90))
    assert assembled.spill_bytes == 0
    assert not re.search("serialized|wait is injected", assembled.log), assembled.log
    assert not overwritten(get_sass(assembled.image))
