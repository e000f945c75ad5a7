"""Kernels of which roles and buffers as they are chosen at first take more shared memory than Hopper has: they are
compiled with smaller ones, on the simulated H100, and right.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_overlapped_products import error, matrices
from test_specialized_warps import check_assembled, has_roles

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.codegen.nvptx.ptxas import find_ptxas
from tilewright.support import knobs
from tilewright.support.errors import OutOfSharedMemory

pytestmark = pytest.mark.usefixtures("on_hopper")

LIMIT = 232448
"""Bytes of shared memory that a program of Hopper may have."""


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, x_ptr, gate_ptr, w_ptr, out_ptr, keys,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, AFTER: tl.constexpr,
):  # fmt: skip
    """Attention, of whose result more is made than its numbers one by one."""
    rows, dims, i = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    at = rows[:, None] * HEAD + dims[None, :]
    q = tl.load(q_ptr + at)
    top, total = tl.full([M], -1e30, tl.float32), tl.zeros([M], tl.float32)
    result = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, keys, N):
        k = tl.load(k_ptr + (start + i)[None, :] * HEAD + dims[:, None])
        v = tl.load(v_ptr + (start + i)[:, None] * HEAD + dims[None, :])
        scores = tl.dot(q, k)
        new_top = tl.maximum(top, tl.max(scores, 1))
        scale, p = tl.exp2(top - new_top), tl.exp2(scores - new_top[:, None])
        total = total * scale + tl.sum(p, 1)
        result = tl.dot(p.to(v.dtype), v, result * scale[:, None])
        top = new_top
    result /= total[:, None]
    if AFTER == "product":
        w = tl.load(w_ptr + dims[:, None] * HEAD + dims[None, :])
        result = tl.dot(result.to(w.dtype), w)
    else:
        result += tl.load(x_ptr + at)
    if AFTER == "gate":
        result *= tl.load(gate_ptr + at)
        result *= tl.rsqrt(tl.sum(result * result, 1) / HEAD)[:, None]
    tl.store(out_ptr + at, result.to(out_ptr.dtype.element_ty))


def expected(q: Array, k: Array, v: Array, x: Array, gate: Array, w: Array, after: str) -> Array:
    q, k, v, x, gate, w = (each.astype(np.float64) for each in (q, k, v, x, gate, w))
    scores = q @ k.T
    p = np.exp2(scores - scores.max(1, keepdims=True))
    result = p @ v / p.sum(1, keepdims=True)
    if after == "product":
        return result @ w
    result = result + x
    if after == "gate":
        result = result * gate
        result /= np.sqrt((result * result).mean(1, keepdims=True))
    return result


def attend(after: str, *, dtype: Any = np.float16, stages: int = 3, columns: int = 128) -> Any:
    """Compile attention of heads of 128, check what it gives and that it fits; return the kernel."""
    arrays = [each.astype(dtype) for each in matrices(*[(256, 128)] * 5, (128, 128), scale=0.3)]
    out = np.full_like(arrays[0], np.nan)
    options = {"num_warps": 8, "num_stages": stages}
    keywords = {"HEAD": 128, "M": 128, "N": columns, "AFTER": after}
    compiled: Any = attention[(2,)](*arrays, out, 256, **keywords, **options)
    assert compiled.metadata.shared <= LIMIT
    assert error(out.astype(np.float64), expected(*arrays, after)) < (1e-3 if dtype is np.float16 else 1e-2)
    return compiled


@pytest.mark.parametrize("after", ["sum", "gate", "product"])
def test_what_is_made_of_a_result_has_room(after: str) -> None:
    """A warp that copies is there all the same; ptxas neither spills nor serialises."""
    compiled = attend(after)
    assert has_roles(compiled)
    assert "ttg.tiles" in compiled.asm["ttgir"], "with fewer blocks at a time it is a loop over programs"
    if find_ptxas() is not None:
        check_assembled(compiled)


@pytest.mark.parametrize("stages", [2, 3, 5])
@pytest.mark.parametrize(("dtype", "columns"), [(np.float16, 128), (ml_dtypes.bfloat16, 64)])
def test_any_number_of_stages(stages: int, dtype: Any, columns: int) -> None:
    attend("gate", dtype=dtype, stages=stages, columns=columns)


@pytest.mark.parametrize("switches", [{"persist_programs": "always"}, {"tma_loads": "always"}])
def test_forced_plans_fit_too(switches: dict[str, str]) -> None:
    with knobs.scope(**switches):
        attend("gate")


def test_programs_without_room_for_a_loop_over_them() -> None:
    """What is scanned goes through shared memory whole, beside three blocks of each operand."""

    @triton.jit
    def scanned(a_ptr, b_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
        i, j, depth = tl.arange(0, M), tl.arange(0, N), tl.arange(0, BK)
        total = tl.zeros([M, N], tl.float32)
        for start in range(0, K, BK):
            a = tl.load(a_ptr + i[:, None] * K + (start + depth)[None, :])
            b = tl.load(b_ptr + (start + depth)[:, None] * N + j[None, :])
            total = tl.dot(a, b, total)
        tl.store(c_ptr + i[:, None] * N + j[None, :], tl.cumsum(total, 1))

    a, b = matrices((128, 192), (192, 256), scale=0.3)
    out = np.full((128, 256), np.nan, np.float32)
    with knobs.scope(tma_loads="always", persist_programs="always", specialize_warps="always"):
        compiled: Any = scanned[(1,)](a, b, out, 192, M=128, N=256, BK=64, num_warps=8, num_stages=4)
    assert compiled.metadata.shared <= LIMIT
    assert error(out, np.cumsum(a.astype(np.float64) @ b.astype(np.float64), 1)) < 1e-3


@triton.jit
def two_products(x_ptr, w_ptr, u_ptr, out_ptr, hidden, HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    rows, dims, i = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    x = tl.load(x_ptr + rows[:, None] * HEAD + dims[None, :])
    result = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, hidden, N):
        w = tl.load(w_ptr + dims[:, None] * hidden + (start + i)[None, :])
        u = tl.load(u_ptr + (start + i)[:, None] * HEAD + dims[None, :])
        result = tl.dot(tl.maximum(tl.dot(x, w), 0.0), u, result)
    tl.store(out_ptr + rows[:, None] * HEAD + dims[None, :], result)


@pytest.mark.parametrize("stages", [2, 3])
def test_products_of_transposes_are_left_out_where_they_do_not_fit(stages: int) -> None:
    """The result of one goes through shared memory to be multiplied again: 64 KiB beside three blocks of each operand."""
    x, w, u = matrices((128, 64), (64, 512), (512, 64), scale=0.3)
    x, w, u = (each.astype(np.float32) for each in (x, w, u))
    out = np.full((128, 64), np.nan, np.float32)
    compiled: Any = two_products[(1,)](x, w, u, out, 512, HEAD=64, M=128, N=128, num_warps=8, num_stages=stages)
    assert compiled.metadata.shared <= LIMIT
    assert ("#linear" in compiled.asm["ttgir"]) == (stages == 2)
    assert error(out, np.maximum(x.astype(np.float64) @ w, 0) @ u) < 2e-3


def test_the_text_of_a_stage_is_that_of_the_kernel() -> None:
    """It is made anew when it is asked for, with the plan that the machine code has."""
    assert "local_alloc : () -> !ttg.memdesc<2x128x128xf16" in attend("sum").asm["ttgir"], "two blocks of three"


def test_a_remark_says_what_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    with knobs.scope(remarks=True):
        attend("sum", stages=4)  # as no other test has it: compiled now
    assert "bytes of shared memory are left to what is not in this loop" in capsys.readouterr().err


def test_what_does_not_fit_without_us_is_refused() -> None:
    with (
        knobs.scope(tma_loads="never"),
        pytest.raises(OutOfSharedMemory, match="reducing block sizes or num_stages may help"),
    ):
        attend("gate", stages=6)


def test_plans_that_fit_cost_no_second_compilation(monkeypatch: pytest.MonkeyPatch) -> None:
    from tilewright.targets.cuda.target import CudaTarget

    asked: list[Any] = []
    original = CudaTarget.with_more_room

    def watched(self: CudaTarget, module: Any) -> CudaTarget | None:
        asked.append(original(self, module))
        return asked[-1]

    monkeypatch.setattr(CudaTarget, "with_more_room", watched)
    with knobs.scope(always_compile=True):
        attend("sum", stages=2, columns=64)
    assert asked == [None]
