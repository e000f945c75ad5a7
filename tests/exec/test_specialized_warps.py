"""Loops with a warp that copies what the others multiply, from plain loads through pointers, on the simulated H100: the
results, every wait and arrival that the loop needs, launches that TMA cannot serve, and what ptxas makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from test_overlapped_products import attention, error, expected_attention, is_refused, matrices

import tilewright as triton
import tilewright.language as tl
from suite.missing_instructions import without_each
from suite.products_in_flight import overwritten
from tilewright.codegen.nvptx.disasm import get_sass
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_program, find_ptxas
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.targets.cuda.computed_maps import ComputedMapParameter

Array = np.ndarray[Any, Any]


@pytest.fixture(autouse=True)
def specializing(a_gpu: str) -> Iterator[None]:
    """Hopper, simulated where the real one was not named."""
    with knobs.scope(override_arch="sm90", specialize_warps="always", tma_loads="always"):
        yield


@triton.jit
def product(
    a_ptr, b_ptr, c_ptr, M, N, K, a_row, a_column, b_row, b_column, c_row,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, WRAPS: tl.constexpr,
):  # fmt: skip
    wide = tl.cdiv(N, BN)
    rows = tl.program_id(0) // wide * BM + tl.arange(0, BM)
    columns = tl.program_id(0) % wide * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    if WRAPS:
        left = a_ptr + (rows % M)[:, None] * a_row + depth[None, :] * a_column
        right = b_ptr + depth[:, None] * b_row + (columns % N)[None, :] * b_column
    else:
        left = a_ptr + rows[:, None] * a_row + depth[None, :] * a_column
        right = b_ptr + depth[:, None] * b_row + columns[None, :] * b_column
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        live = depth < K - start
        if WRAPS:
            x = tl.load(left, live[None, :], other=0.0)
            y = tl.load(right, live[:, None], other=0.0)
        else:
            x = tl.load(left, (rows < M)[:, None] & live[None, :], other=0.0)
            y = tl.load(right, live[:, None] & (columns < N)[None, :], other=0.0)
        total = tl.dot(x, y, total)
        left += BK * a_column
        right += BK * b_row
    inside = (rows < M)[:, None] & (columns < N)[None, :]
    tl.store(c_ptr + rows[:, None] * c_row + columns[None, :], total.to(tl.float16), inside)


@triton.jit
def product_by_descriptors(a, b, c, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row, column = tl.program_id(0) * BM, tl.program_id(1) * BN
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(0, K, BK):
        total = tl.dot(a.load([row, k]), b.load([k, column]), total)
    c.store([row, column], total.to(tl.float16))


def strides(array: Array) -> list[int]:
    return [stride // array.itemsize for stride in array.strides]


def multiply(
    a: Array,
    b: Array,
    *,
    wraps: bool = True,
    block: tuple[int, int, int] = (64, 64, 32),
    warps: int = 4,
    stages: int = 3,
) -> Any:
    """Launch and check the product; returns the compiled kernel."""
    (m, k), n = a.shape, b.shape[1]
    out = np.full((m, n), np.nan, np.float16)
    bm, bn, bk = block
    compiled = product[(-(-m // bm) * -(-n // bn),)](
        a, b, out, m, n, k, *strides(a), *strides(b), n, BM=bm, BN=bn, BK=bk, WRAPS=wraps,
        num_warps=warps, num_stages=stages,
    )  # fmt: skip
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3
    return compiled


def has_roles(compiled: Any) -> bool:
    return "ttg.warp_specialize" in compiled.asm["ttgir"]


def has_computed_maps(compiled: Any) -> bool:
    return any(isinstance(parameter, ComputedMapParameter) for parameter in compiled.native.facts.parameters)


@pytest.mark.pairwise
@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (112, 80, 208), (16, 144, 96)])
def test_products_of_ragged_matrices(m: int, n: int, k: int, transposed: bool, wraps: bool) -> None:
    a, b = matrices((m, k), (k, n), scale=0.5)
    compiled = multiply(a, np.ascontiguousarray(b.T).T if transposed else b, wraps=wraps)
    assert has_roles(compiled) and has_computed_maps(compiled)


@pytest.mark.parametrize("stages", [2, 4])
def test_two_warp_groups_multiply(stages: int) -> None:
    a, b = matrices((128, 320), (320, 128), scale=0.5)
    assert has_roles(multiply(a, b, wraps=False, block=(128, 128, 64), warps=8, stages=stages))


def test_rows_at_odd_distances_are_read_otherwise() -> None:
    a, b = matrices((64, 100), (100, 66), scale=0.5)
    assert not has_roles(multiply(a, b, wraps=False))


def test_no_iterations() -> None:
    """Of a loop that does not run the launcher knows no blocks: the kernel's other form runs."""
    out = np.full((64, 64), np.nan, np.float16)
    a, b = matrices((64, 32), (32, 64))
    product[(1,)](a, b, out, 64, 64, 0, 32, 1, 64, 1, 64, BM=64, BN=64, BK=32, WRAPS=False)
    assert not out.any()


def test_rows_in_reverse_order(a_gpu: str) -> None:
    """A negative distance is no stride of a tensor map, which only the launcher sees."""
    if a_gpu == "cuda":
        pytest.skip("tensors in a GPU's memory have no negative strides")
    a, b = matrices((64, 64), (64, 64), scale=0.5)
    out = np.full((64, 64), np.nan, np.float16)
    keywords = {"BM": 64, "BN": 64, "BK": 32, "WRAPS": False}
    compiled = product[(1,)](a, b, out, 64, 64, 64, 64, 1, 64, 1, 64, **keywords)
    assert has_roles(compiled)
    backwards = np.full((64, 64), np.nan, np.float16)
    again = product[(1,)](a[::-1], b, backwards, 64, 64, 64, -64, 1, 64, 1, 64, **keywords)
    assert again is compiled
    np.testing.assert_array_equal(backwards, out[::-1])


def test_rows_that_wrap_and_show() -> None:
    """Without a mask on what is stored, wrapped rows are seen: they are loaded as they were."""

    @triton.jit
    def wrapped(a_ptr, b_ptr, c_ptr, M, K, B: tl.constexpr):
        i = tl.arange(0, B)
        total = tl.zeros((B, B), tl.float32)
        for start in range(0, K, B):
            x = tl.load(a_ptr + (i % M)[:, None] * K + (start + i)[None, :])
            total = tl.dot(x, tl.load(b_ptr + (start + i)[:, None] * B + i[None, :]), total)
        tl.store(c_ptr + i[:, None] * B + i[None, :], total)

    a, b = matrices((48, 128), (128, 64), scale=0.5)
    out = np.full((64, 64), np.nan, np.float32)
    compiled: Any = wrapped[(1,)](a, b, out, 48, 128, B=64)
    assert not has_computed_maps(compiled)
    expected = np.concatenate([a, a[:16]]).astype(np.float64) @ b.astype(np.float64)
    assert error(out, expected) < 1e-3


def test_memory_that_the_kernel_writes_first() -> None:
    @triton.jit
    def written_first(a_ptr, b_ptr, c_ptr, K, B: tl.constexpr):
        i = tl.arange(0, B)
        tl.store(a_ptr + i[:, None] * K + i[None, :], tl.load(b_ptr + i[:, None] * B + i[None, :]))
        tl.debug_barrier()
        total = tl.zeros((B, B), tl.float32)
        for start in range(0, K, B):
            x = tl.load(a_ptr + i[:, None] * K + (start + i)[None, :])
            total = tl.dot(x, tl.load(b_ptr + (start + i)[:, None] * B + i[None, :]), total)
        tl.store(c_ptr + i[:, None] * B + i[None, :], total)

    a, b = matrices((64, 128), (128, 64), scale=0.5)
    out = np.full((64, 64), np.nan, np.float32)
    compiled: Any = written_first[(1,)](a, b, out, 128, B=64)
    assert not has_computed_maps(compiled)
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3


@pytest.mark.pairwise
@pytest.mark.parametrize("overlap", ["never", "always"])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("keys", "num_stages"), [(32, 3), (64, 2), (256, 3)])
def test_attention(keys: int, num_stages: int, masked: bool, overlap: str) -> None:
    q, k, v = matrices((128, 64), (keys, 64), (keys, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(overlap_products=overlap):
        compiled: Any = attention[(1,)](
            q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=masked, num_warps=8, num_stages=num_stages
        )
    assert has_roles(compiled)
    assert error(out, expected_attention(q, k, v, masked)) < 1e-3


def test_descriptors_of_the_host() -> None:
    a, b = matrices((64, 192), (192, 128), scale=0.5)
    out = np.zeros((64, 128), np.float16)
    described = [TensorDescriptor.from_tensor(x, block) for x, block in ((a, [64, 64]), (b, [64, 64]), (out, [64, 64]))]
    assert has_roles(product_by_descriptors[(1, 2)](*described, 192, BM=64, BN=64, BK=64))
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3


@triton.jit
def scaled_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, keys, HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr
):  # fmt: skip
    rows, dims, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    q = tl.load(q_ptr + rows[:, None] * HEAD + dims[None, :])
    row_max = tl.full([M], -1.0e30, tl.float32)
    row_sum = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, keys, N):
        k = tl.load(k_ptr + (start + columns)[None, :] * HEAD + dims[:, None])
        scores = tl.dot(q, k) * (scale * 1.44269504)
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_max[:, None])
        alpha = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + (start + columns)[:, None] * HEAD + dims[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        row_max = new_max
    tl.store(out_ptr + rows[:, None] * HEAD + dims[None, :], (acc / row_sum[:, None]).to(out_ptr.dtype.element_ty))


def test_scores_of_any_scale() -> None:
    """The largest score is found before scores are scaled; where the scale is not positive, in the other form."""
    q, k, v = matrices((128, 64), (96, 64), (96, 64), scale=0.5)
    compiled: list[Any] = []
    for scale in (0.3, -0.3, 0.0, 1.0e-38):
        outs: list[Array] = []
        for early in (True, False):
            out = np.full_like(q, np.nan)
            with knobs.scope(scale_after_max=early):
                done = scaled_attention[(1,)](q, k, v, out, scale, 96, HEAD=64, M=128, N=32, num_warps=8)
            outs.append(out)
            if early:
                compiled.append(done)
        np.testing.assert_array_equal(*outs)
        assert error(outs[0], expected_attention(q * np.float16(scale / np.log(2)), k, v, masked=False)) < 3e-3
    kernel = compiled[0]
    assert all(other is kernel for other in compiled)
    assert any(parameter.positive for parameter in kernel.native.facts.parameters if not isinstance(parameter, int))
    assert "positive = [4]" in kernel.asm["ttgir"]


NEEDED = {"mbarrier.try_wait": 0, "mbarrier.arrive": 0, "wgmma.wait_group": 1, "mbarrier.init": 0}
"""Instructions of the roles, and how many may be missing: after the loop one waits once more for products."""
TURNS = {"barrier.cta.arrive.aligned": 0, "barrier.cta.sync.aligned": 0}
"""Those of turns: without one, a group waits forever, or arrives twice."""


@pytest.mark.costly
@pytest.mark.parametrize("overlap", ["never", "always"])
def test_each_wait_and_arrival_is_needed(a_gpu: str, overlap: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    q, k, v = matrices((128, 64), (256, 64), (256, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(overlap_products=overlap):
        compiled: Any = attention[(1,)](q, k, v, out, 256, HEAD=64, M=128, N=32, MASKED=False, num_warps=8)
    assert takes_turns(compiled) == (overlap == "never")
    check_needed(compiled, [q, k, v, out, 256], NEEDED | (TURNS if overlap == "never" else {}))


@pytest.mark.costly
def test_each_wait_and_arrival_of_a_product_is_needed(a_gpu: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    a, b = matrices((64, 256), (256, 64), scale=0.5)
    compiled = multiply(a, b, wraps=False)
    out = np.zeros((64, 64), np.float16)
    check_needed(compiled, [a, b, out, 64, 64, 256, 256, 1, 64, 1, 64])


def takes_turns(compiled: Any) -> bool:
    return "ttng.await_turn" in compiled.asm["ttgir"]


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("keys", [0, 32, 96])
def test_warp_groups_take_turns(keys: int, masked: bool) -> None:
    """The results are those of groups that do not, bit by bit; where there are no keys, nobody has a turn."""
    q, k, v = matrices((128, 64), (max(keys, 32), 64), (max(keys, 32), 64), scale=0.5)
    outs: list[Array] = []
    for mode in ("auto", "never"):
        out = np.full_like(q, np.nan)
        with knobs.scope(take_turns=mode, overlap_products="auto"):
            compiled: Any = attention[(1,)](q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=masked, num_warps=8)
        assert takes_turns(compiled) == (mode == "auto") and has_roles(compiled)
        outs.append(out)
    np.testing.assert_array_equal(*outs)
    if keys:
        assert error(outs[0], expected_attention(q, k[:keys], v[:keys], masked)) < 1e-3


@pytest.mark.skipif(find_ptxas() is None or find_program("cuobjdump") is None, reason="there is no disassembler")
@pytest.mark.parametrize("head", [64, 128])
def test_exponentials_stay_between_the_barriers(head: int) -> None:
    """ptxas moves arithmetic across barriers: the turn is passed on by what needs three quarters of the results."""
    q, k, v = matrices((128, head), (128, head), (128, head), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(specialize_warps="auto", tma_loads="auto"):
        compiled: Any = attention[(1,)](q, k, v, out, 128, HEAD=head, M=128, N=128, MASKED=False, num_warps=8)
    assert takes_turns(compiled)
    sass = get_sass(assemble(compiled.asm["ptx"], nvptx_facts(90)).image).splitlines()
    first = next(n for n, line in enumerate(sass) if re.search(r"BAR\.SYNC\S* R", line))
    last = next(n for n, line in enumerate(sass) if n > first and "BAR.ARV" in line)
    assert sum("MUFU.EX2" in line for line in sass[first:last]) >= 64 * 3 // 4


def check_needed(compiled: Any, arguments: list[Any], needed: dict[str, int] = NEEDED) -> None:
    kept = [argument for argument in arguments if not isinstance(argument, int) or argument != 1]
    for instruction, spared in needed.items():
        changed = without_each(compiled.native, instruction)
        missed = [which for which, kernel in changed if not is_refused(kernel, kept)]
        assert len(missed) <= spared < len(changed), missed


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize(("head", "masked"), [(128, False), (128, True), (64, False)])
def test_ptxas_neither_spills_nor_serialises(head: int, masked: bool) -> None:
    """At the sizes where warps are specialised unasked."""
    q, k, v = matrices((128, head), (128, head), (128, head), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(specialize_warps="auto", tma_loads="auto"):
        compiled: Any = attention[(1,)](q, k, v, out, 128, HEAD=head, M=128, N=128, MASKED=masked, num_warps=8)
    assert has_roles(compiled) and has_computed_maps(compiled)
    assert error(out, expected_attention(q, k, v, masked)) < 1e-3
    check_assembled(compiled)
    if find_program("cuobjdump") is not None:
        assert not overwritten(get_sass(assemble(compiled.asm["ptx"], nvptx_facts(90)).image))


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
def test_ptxas_neither_spills_nor_serialises_a_product() -> None:
    a, b = matrices((128, 128), (128, 256), scale=0.5)
    check_assembled(multiply(a, b, wraps=True, block=(128, 256, 64), warps=8))


def check_assembled(compiled: Any) -> None:
    ptx = compiled.asm["ptx"]
    assembled = assemble(ptx, nvptx_facts(90))
    assert assembled.spill_bytes == 0
    assert not re.search("serialized|wait is injected|setmaxnreg", assembled.log), assembled.log
    assert "setmaxnreg.inc.sync.aligned.u32 \t240" in ptx
    meetings = re.findall(r"(bar\.sync|mbarrier\.\w+|setmaxnreg\.(?:inc|dec))", ptx)
    assert all(before == "bar.sync" for before, op in pairwise(meetings) if op.endswith("inc"))
    loops = re.findall(r"\n(\$L__BB\d+_\d+):((?:(?!\n\$L__BB).)*)bra\s+\1;", ptx, re.DOTALL)
    assert loops and all("bar.sync" not in body for _, body in loops)


@pytest.mark.parametrize(("head", "block", "stages"), [(64, 64, 3), (256, 64, 2), (64, 128, 1)])
def test_products_that_do_not_gain_stay_as_they_are(head: int, block: int, stages: int) -> None:
    """Small ones, ones whose results leave too few registers, and those that nothing is copied ahead for."""
    q, k, v = matrices((128, head), (128, head), (128, head), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(specialize_warps="auto", tma_loads="auto"):
        compiled: Any = attention[(1,)](
            q, k, v, out, 128, HEAD=head, M=128, N=block, MASKED=False, num_warps=8, num_stages=stages
        )
    assert not has_roles(compiled) and not has_computed_maps(compiled)


@triton.jit
def causal_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, scale, keys,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, LEAST: tl.constexpr,
):  # fmt: skip
    rows, dims, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    q = tl.load(q_ptr + rows[:, None] * HEAD + dims[None, :])
    row_max = tl.full([M], -float("inf"), tl.float32)
    row_sum = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, keys, N):
        k = tl.load(k_ptr + (start + columns)[None, :] * HEAD + dims[:, None])
        scores = tl.dot(q, k) * scale
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, LEAST)
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_max[:, None])
        alpha = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + (start + columns)[:, None] * HEAD + dims[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        row_max = new_max
    tl.store(out_ptr + rows[:, None] * HEAD + dims[None, :], (acc / row_sum[:, None]).to(out_ptr.dtype.element_ty))


@pytest.mark.parametrize(
    ("head", "scale", "least"),
    [(128, 0.3, -1.0e6), (128, 0.3, 0.25), (128, -0.3, -1.0e6), (128, -0.3, 0.25), (64, 0.3, 0.25)],
)
def test_masked_scores_of_any_scale(head: int, scale: float, least: float) -> None:
    """What a mask puts in the place of scores counts in the rows where it does: also where it is the largest. Numbers
    are scaled twice nowhere, and only one branch asks for the mask.
    """
    q, k, v = matrices((256, head), (256, head), (256, head), scale=0.5)
    outs: list[Array] = []
    for early in (True, False):
        out = np.full_like(q, np.nan)
        with knobs.scope(scale_after_max=early):
            compiled: Any = causal_attention[(2,)](
                q, k, v, out, scale, 256, HEAD=head, M=128, N=64, LEAST=least, num_warps=8
            )
        assert ("positive = [4]" in compiled.asm["ttgir"]) == early
        assert len(re.findall(r"arith.cmpi sge.* : tensor<128x64xi32", compiled.asm["ttgir"])) == 1
        outs.append(out)
    a, b, c = (x.astype(np.float64) for x in (q, k, v))
    scores = np.where(np.tri(256), a @ b.T * scale, least)
    p = np.exp2(scores - scores.max(1, keepdims=True))
    expected = p / p.sum(1, keepdims=True) @ c
    assert error(outs[0], expected) < 1e-3
    assert error(outs[0], outs[1].astype(np.float64)) < 1e-3
