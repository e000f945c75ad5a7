"""Kernels of which as many programs run as fit a GPU, each for several, on the simulated H100 (three at a time): the
results, what keeps programs apart, every wait and arrival between two of them, and what ptxas makes of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from test_overlapped_products import attention, error, expected_attention, is_refused, matrices
from test_specialized_warps import check_assembled, has_computed_maps, has_roles, multiply, product

import tilewright as triton
import tilewright.language as tl
from suite.missing_instructions import without_each
from tilewright.codegen.nvptx.ptxas import find_ptxas
from tilewright.support import knobs

E4M3: Any = ml_dtypes.float8_e4m3fn


@pytest.fixture(autouse=True)
def persisting(a_gpu: str) -> Iterator[None]:
    """Hopper, simulated where the real one was not named."""
    with knobs.scope(override_arch="sm90", specialize_warps="always", tma_loads="always", persist_programs="always"):
        yield


def is_persistent(compiled: Any) -> bool:
    assert ("ttg.tiles" in compiled.asm["ttgir"]) == compiled.native.facts.is_persistent
    return compiled.native.facts.is_persistent


def stores_by_tma(compiled: Any) -> bool:
    return "async_tma_copy_local_to_global" in compiled.asm["ttgir"]


@pytest.mark.parametrize("wraps", [False, True])
@pytest.mark.parametrize(("m", "n", "k"), [(64, 64, 32), (144, 208, 160), (272, 336, 96)])
def test_products_of_ragged_matrices(m: int, n: int, k: int, wraps: bool) -> None:
    """One program, fewer than run at a time, and more, the last of which have nothing left to do."""
    compiled = multiply(*matrices((m, k), (k, n), scale=0.5), wraps=wraps)
    assert is_persistent(compiled) and has_roles(compiled) and stores_by_tma(compiled)


@pytest.mark.parametrize("stages", [2, 4])
def test_two_warp_groups_multiply(stages: int) -> None:
    a, b = matrices((512, 192), (192, 128), scale=0.5)
    compiled = multiply(a, b, block=(128, 128, 64), warps=8, stages=stages)
    assert is_persistent(compiled) and has_roles(compiled) and stores_by_tma(compiled)


@pytest.mark.parametrize("direct", [True, False])
def test_roles_that_a_kernel_consists_of(direct: bool) -> None:
    """The copying warp prepares its first copies before it waits for the others; the same programs, the same results."""
    a, b = matrices((512, 192), (192, 256), scale=0.5)
    with knobs.scope(enter_roles_directly=direct):
        compiled = multiply(a, b, block=(128, 128, 64), warps=8)
    text = compiled.asm["ttgir"]
    assert is_persistent(compiled) and ("ttg.direct" in text) == direct
    assert text.count("ttng.async_tma_prefetch") == (2 if direct else 0)
    assert ("ttng.inval_barrier" in text) != direct


def test_rows_of_the_result_at_odd_distances() -> None:
    """They are stored through pointers, in a loop over programs all the same."""
    a, b = matrices((320, 96), (96, 80), scale=0.5)
    out = np.full((320, 84), np.nan, np.float16)
    keywords = {"BM": 64, "BN": 64, "BK": 32, "WRAPS": True}
    compiled = product[(10,)](a, b, out, 320, 80, 96, 96, 1, 80, 1, 84, **keywords)
    assert is_persistent(compiled) and has_roles(compiled) and not stores_by_tma(compiled)
    assert error(out[:, :80], a.astype(np.float64) @ b.astype(np.float64)) < 1e-3
    assert np.isnan(out[:, 80:]).all()


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, K, N, B: tl.constexpr, BK: tl.constexpr):
    """A product for each program along y, with what there is to know of the grid in the corner of each block."""
    i, depth = tl.arange(0, B), tl.arange(0, BK)
    row, batch, column = tl.program_id(0) * B, tl.program_id(1), tl.program_id(2) * B
    high = tl.num_programs(0) * B
    a, b = a_ptr + batch * high * K, b_ptr + batch * K * N
    total = tl.zeros((B, B), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a + (row + i)[:, None] * K + (start + depth)[None, :])
        y = tl.load(b + (start + depth)[:, None] * N + (column + i)[None, :])
        total = tl.dot(x, y, total)
    tl.store(c_ptr + batch * high * N + (row + i)[:, None] * N + (column + i)[None, :], total)


def test_a_grid_of_three_dimensions() -> None:
    a, b = matrices((2, 192, 64), (2, 64, 128), scale=0.5)
    out = np.full((2, 192, 128), np.nan, np.float32)
    compiled: Any = batched[(3, 2, 2)](a, b, out, 64, 128, B=64, BK=32)
    assert is_persistent(compiled)
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3


@pytest.mark.parametrize("overlap", ["never", "always"])
@pytest.mark.parametrize("keys", [64, 160])
def test_attention(keys: int, overlap: str) -> None:
    """Two rings of buffers go on from one program to the next."""
    q, k, v = matrices((512, 64), (keys, 64), (keys, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(overlap_products=overlap):
        compiled: Any = attention[(4,)](q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=False, num_warps=8)
    assert is_persistent(compiled) and has_roles(compiled)
    assert error(out, expected_attention(q, k, v, masked=False)) < 1e-3


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize(("head", "masked"), [(64, False), (64, True), (128, True), (128, False)])
def test_attention_is_persistent_unasked(head: int, masked: bool) -> None:
    """Where groups of warps take turns. Of three iterations that may be under way at 128 numbers there is room for two;
    ptxas neither spills nor serialises.
    """
    q, k, v = matrices((512, head), (256, head), (256, head), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(specialize_warps="auto", tma_loads="auto", persist_programs="auto"):
        compiled: Any = attention[(4,)](q, k, v, out, 256, HEAD=head, M=128, N=128, MASKED=masked, num_warps=8)
        assert is_persistent(compiled) and stores_by_tma(compiled) and copies_queries(compiled) and has_roles(compiled)
        assert "warpRows = 16" in compiled.asm["ttgir"]
        assert error(out, expected_attention(q, k, v, masked)) < 1e-3
        check_assembled(compiled)
        with knobs.scope(take_turns="never"):
            compiled = attention[(4,)](q, k, v, out, 256, HEAD=head, M=128, N=128, MASKED=masked, num_warps=8)
            assert not is_persistent(compiled)


def copies_queries(compiled: Any) -> bool:
    """Whether a third copy by TMA is made, beside those of keys and values."""
    return compiled.asm["ttgir"].count("async_tma_copy_global_to_local") == 3


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("keys", [32, 96])
def test_queries_of_the_next_program(keys: int, kept: bool) -> None:
    q, k, v = matrices((640, 64), (keys, 64), (keys, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    with knobs.scope(copy_kept=kept):
        compiled: Any = attention[(5,)](q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=False, num_warps=8)
    assert is_persistent(compiled) and copies_queries(compiled) == kept
    assert error(out, expected_attention(q, k, v, masked=False)) < 1e-3


@triton.jit
def causal_attention(
    q_ptr, k_ptr, v_ptr, out_ptr, length, HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, RIGHT: tl.constexpr
):  # fmt: skip
    """Row blocks that need more and more keys to the right, or with RIGHT fewer and fewer."""
    block = tl.program_id(0)
    base = tl.program_id(1) * length * HEAD
    rows, dims, keys = block * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    q = tl.load(q_ptr + base + rows[:, None] * HEAD + dims[None, :])
    top = tl.full([M], -float("inf"), tl.float32)
    total = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    begin, end = 0, (block + 1) * M
    if RIGHT:
        begin, end = block * M, length
    for start in range(begin, end, N):
        k = tl.load(k_ptr + base + (start + keys)[None, :] * HEAD + dims[:, None])
        scores = tl.dot(q, k)
        higher = tl.maximum(top, tl.max(scores, 1))
        p = tl.math.exp2(scores - higher[:, None])
        alpha = tl.math.exp2(top - higher)
        total = total * alpha + tl.sum(p, 1)
        v = tl.load(v_ptr + base + (start + keys)[:, None] * HEAD + dims[None, :])
        acc = tl.dot(p.to(tl.float16), v, acc * alpha[:, None])
        top = higher
    tl.store(out_ptr + base + rows[:, None] * HEAD + dims[None, :], (acc / total[:, None]).to(tl.float16))


@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize(("blocks", "heads"), [(1, 2), (3, 5), (4, 2), (2, 9)])
def test_programs_with_more_to_do_than_others(blocks: int, heads: int, right: bool) -> None:
    """Each is done once, in whatever order: fewer rows than are sorted, and more; what is left over; whole rounds."""
    length = blocks * 128
    q, k, v = matrices((heads, length, 64), (heads, length, 64), (heads, length, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    compiled: Any = causal_attention[(blocks, heads)](
        q, k, v, out, length, HEAD=64, M=128, N=128, RIGHT=right, num_warps=8, num_stages=2
    )
    assert is_persistent(compiled) and has_roles(compiled)
    assert any(getattr(parameter, "grid", "") == "sorted" for parameter in compiled.native.facts.parameters)
    block = np.arange(length) // 128
    scores = np.einsum("hid,hjd->hij", q.astype(np.float64), k.astype(np.float64)) * np.log(2)
    seen = block[:, None] <= block if right else block[:, None] >= block
    scores = np.where(seen, scores, -np.inf)
    p = np.exp(scores - scores.max(2, keepdims=True))
    assert error(out, p @ v.astype(np.float64) / p.sum(2, keepdims=True)) < 1e-3


@triton.jit
def products_of_those_before(a_ptr, b_ptr, c_ptr, B: tl.constexpr):
    i = tl.arange(0, B)
    rows = tl.program_id(0) * B + i
    a = tl.load(a_ptr + rows[:, None] * B + i[None, :])
    total = tl.zeros((B, B), tl.float32)
    for start in range(0, tl.program_id(0) * B, B):
        total = tl.dot(a, tl.load(b_ptr + (start + i)[:, None] * B + i[None, :]), total)
    tl.store(c_ptr + rows[:, None] * B + i[None, :], total)


def test_programs_without_iterations() -> None:
    """What they keep is copied, waited for and given back all the same: the first of five."""
    a, b = matrices((320, 64), (320, 64), scale=0.5)
    out = np.full((320, 64), np.nan, np.float32)
    compiled: Any = products_of_those_before[(5,)](a, b, out, B=64)
    assert is_persistent(compiled) and has_roles(compiled)
    assert compiled.asm["ttgir"].count("async_tma_copy_global_to_local") == 2
    blocks = b.reshape(5, 64, 64).astype(np.float64)
    expected = [a[n * 64 : n * 64 + 64].astype(np.float64) @ blocks[:n].sum(0) for n in range(5)]
    assert error(out, np.concatenate(expected)) < 1e-3


@triton.jit
def sums_of_two(a_ptr, b_ptr, c_ptr, out_ptr, M, K, B: tl.constexpr):
    """Rows of two matrices times one after the other of a third; the rows end with a mask."""
    i = tl.arange(0, B)
    rows = tl.program_id(0) * B + i
    inside = (rows < M)[:, None]
    a = tl.load(a_ptr + rows[:, None] * B + i[None, :], inside, other=0.0)
    b = tl.load(b_ptr + rows[:, None] * B + i[None, :], inside, other=0.0)
    total = tl.zeros((B, B), tl.float32)
    for start in range(0, K, B):
        c = tl.load(c_ptr + (start + i)[:, None] * B + i[None, :])
        d = tl.load(c_ptr + (K + start + i)[:, None] * B + i[None, :])
        total = tl.dot(b, d, tl.dot(a, c, total))
    tl.store(out_ptr + rows[:, None] * B + i[None, :], total.to(tl.float16), inside)


@pytest.mark.parametrize("specialize", ["always", "auto"])
def test_programs_that_keep_two(specialize: str) -> None:
    """Without roles for the warps, each program waits for its own copies."""
    a, b, c = matrices((300, 64), (300, 64), (256, 64), scale=0.5)
    out = np.full((300, 64), np.nan, np.float16)
    with knobs.scope(specialize_warps=specialize):
        compiled: Any = sums_of_two[(5,)](a, b, c, out, 300, 128, B=64)
    assert is_persistent(compiled) and has_roles(compiled) == (specialize == "always")
    assert "tt.load" not in compiled.asm["ttgir"]
    blocks = c.reshape(4, 64, 64).astype(np.float64)
    expected = a.astype(np.float64) @ (blocks[0] + blocks[1]) + b.astype(np.float64) @ (blocks[2] + blocks[3])
    assert error(out, expected) < 1e-3


@pytest.mark.parametrize("kind", ["counts", "sums", "waits"])
def test_programs_that_may_depend_on_each_other(kind: str) -> None:
    """Kernels with atomics, and with loads that others may answer, run as they were launched."""

    @triton.jit
    def telling(a_ptr, b_ptr, c_ptr, told_ptr, K, KIND: tl.constexpr, B: tl.constexpr):
        i = tl.arange(0, B)
        row = tl.program_id(0) * B
        total = tl.zeros((B, B), tl.float32)
        for start in range(0, K, B):
            x = tl.load(a_ptr + (row + i)[:, None] * K + (start + i)[None, :])
            total = tl.dot(x, tl.load(b_ptr + (start + i)[:, None] * B + i[None, :]), total)
        target = c_ptr + (row + i)[:, None] * B + i[None, :]
        if KIND == "sums":
            tl.atomic_add(target, total)
        else:
            tl.store(target, total)
        if KIND == "counts":
            tl.atomic_add(told_ptr, 1)
        if KIND == "waits":
            tl.store(told_ptr + 1 + tl.program_id(0), tl.load(told_ptr, volatile=True))

    a, b = matrices((256, 128), (128, 64), scale=0.5)
    out, told = np.zeros((256, 64), np.float32), np.zeros(8, np.int32)
    compiled: Any = telling[(4,)](a, b, out, told, 128, KIND=kind, B=64)
    assert has_computed_maps(compiled) and not is_persistent(compiled)
    assert error(out, a.astype(np.float64) @ b.astype(np.float64)) < 1e-3
    assert told[0] == (4 if kind == "counts" else 0)


def test_launches_without_maps_run_as_they_are() -> None:
    """A loop that does not run has no blocks: the form without tensor maps, which is launched with the user's grid."""
    out = np.full((320, 64), np.nan, np.float16)
    a, b = matrices((320, 32), (32, 64))
    compiled: Any = product[(5,)](a, b, out, 320, 64, 0, 32, 1, 64, 1, 64, BM=64, BN=64, BK=32, WRAPS=True)
    assert is_persistent(compiled)
    assert not out.any()


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
def test_what_gains_is_persistent_unasked() -> None:
    """Blocks of 128x256, whose result and copies for three iterations fill shared memory, so that a fourth is left out;
    ptxas neither spills nor serialises.
    """
    a, b = matrices((384, 256), (256, 512), scale=0.5)
    with knobs.scope(specialize_warps="auto", tma_loads="auto", persist_programs="auto"):
        compiled = multiply(a, b, block=(128, 256, 64), warps=8)
        assert is_persistent(compiled) and has_roles(compiled) and stores_by_tma(compiled)
        check_assembled(compiled)
        assert multiply(a, b, block=(128, 256, 64), warps=8, stages=4).native.facts == compiled.native.facts
        for columns, warps, stages in ((64, 8, 4), (128, 4, 3), (128, 8, 1)):
            other = multiply(a, b, block=(128, columns, 64), warps=warps, stages=stages)
            assert not is_persistent(other) and not has_computed_maps(other)


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize(("kind", "limit", "stages"), [(np.float16, 0, 3), (E4M3, 128, 3), (E4M3, 0, 4), (E4M3, 0, 3)])
def test_smaller_products_that_gain_are_persistent_unasked(kind: Any, limit: int, stages: int) -> None:
    """Blocks of 128x128, of 16 bits, or where a multiprocessor has no room for a second program: for four iterations,
    or as the hardware may not add up all of a block. Four iterations are under way; ptxas neither spills nor
    serialises.
    """
    depth = 128 // np.dtype(kind).itemsize
    a, b = (x.astype(kind) for x in matrices((256, 2 * depth), (128, 2 * depth), scale=0.5))
    out = np.full((256, 128), np.nan, np.float16)
    with knobs.scope(specialize_warps="auto", tma_loads="auto", persist_programs="auto"):
        compiled: Any = product[(2,)](
            a, b.T, out, 256, 128, 2 * depth, 2 * depth, 1, 1, 2 * depth, 128, BM=128, BN=128, BK=depth, WRAPS=True,
            num_warps=8, num_stages=stages, max_num_imprecise_acc_default=limit or None,
        )  # fmt: skip
    gains = kind is np.float16 or stages == 4 or limit > 0
    assert is_persistent(compiled) == has_roles(compiled) == stores_by_tma(compiled) == gains
    assert error(out, a.astype(np.float64) @ b.astype(np.float64).T) < 1e-3
    if gains:
        assert compiled.asm["ttgir"].count(f"memdesc<4x128x{depth}x") > 0
        check_assembled(compiled)


@triton.jit
def scaled_by_block(a_ptr, b_ptr, scale_ptr, c_ptr, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows, columns, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        x = tl.load(a_ptr + rows[:, None] * K + (start + depth)[None, :])
        y = tl.load(b_ptr + (start + depth)[:, None] * BN + columns[None, :])
        total += tl.dot(x, y) * tl.load(scale_ptr + start // BK * BN + columns)[None, :]
    tl.store(c_ptr + rows[:, None] * BN + columns[None, :], total.to(tl.float16))


def test_loops_that_read_more_than_operands_stay_as_they_are() -> None:
    a, b = matrices((256, 128), (128, 256), scale=0.5)
    scales = np.random.default_rng(3).random((2, 256), np.float32)
    out = np.full((256, 256), np.nan, np.float16)
    with knobs.scope(specialize_warps="auto", tma_loads="auto", persist_programs="auto"):
        compiled: Any = scaled_by_block[(2,)](a, b, scales, out, 128, BM=128, BN=256, BK=64, num_warps=8)
    assert not is_persistent(compiled) and not has_computed_maps(compiled)
    parts = [a[:, i : i + 64].astype(np.float64) @ b[i : i + 64].astype(np.float64) for i in (0, 64)]
    assert error(out, parts[0] * scales[0] + parts[1] * scales[1]) < 1e-3


NEEDED = (
    "mbarrier.try_wait", "mbarrier.arrive", "wgmma.wait_group", "bar.sync", "fence.proxy.async",
    "cp.async.bulk.wait_group.read",
)  # fmt: skip


@pytest.mark.costly
def test_each_wait_and_arrival_is_needed(a_gpu: str) -> None:
    """Small rings show what keeps them apart from one round to the next, and what is read long before it is stored
    shows what keeps two results apart: each instruction is found missing by one of the two.
    """
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    missed = _missed(32, 4, _missed(128, 2, None))
    assert missed.keys() == set(NEEDED) and not any(missed.values()), missed


@pytest.mark.costly
def test_each_wait_and_arrival_of_attention_is_needed(a_gpu: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    missed: dict[str, set[int]] | None = None
    for keys in (32, 128):
        q, k, v = matrices((896, 64), (keys, 64), (keys, 64), scale=0.5)
        out = np.zeros_like(q)
        compiled: Any = attention[(7,)](
            q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=False, num_warps=8, num_stages=2
        )
        assert copies_queries(compiled)
        missed = _missed_by(compiled, [q, k, v, out, keys], 7, NEEDED, missed)
        _check_stores(compiled, [q, k, v, out, keys])
    assert missed is not None and missed.keys() == set(NEEDED) and not any(missed.values()), missed


def _check_stores(compiled: Any, arguments: list[Any]) -> None:
    """The threads of a warp meet before they write rows of a result that TMA still reads, and before it reads them."""
    ptx = compiled.native.ptx
    begin = ptx.index("cp.async.bulk.wait_group.read")
    rest = ptx[begin : ptx.index("cp.async.bulk.commit_group", begin)]
    before = ptx[:begin].count("bar.warp.sync")
    assert rest.count("bar.warp.sync") == 2
    missed = _missed_by(compiled, arguments, 7, ("bar.warp.sync",))["bar.warp.sync"]
    assert not missed & {before, before + 1}


def _missed(depth: int, stages: int, among: dict[str, set[int]] | None) -> dict[str, set[int]]:
    """The numbers of the instructions of each kind, among some or all, without which a product is taken to be right."""
    a, b = matrices((512, depth), (depth, 64), scale=0.5)
    compiled = multiply(a, b, stages=stages)
    arguments = [a, b, np.zeros((512, 64), np.float16), 512, 64, depth, depth, 64, 64]
    return _missed_by(compiled, arguments, 8, NEEDED, among)


def _missed_by(
    compiled: Any,
    arguments: list[Any],
    grid: int,
    needed: tuple[str, ...],
    among: dict[str, set[int]] | None = None,
) -> dict[str, set[int]]:
    """The numbers of the instructions of each kind, among some or all, without which a launch is taken to be right."""
    found: dict[str, set[int]] = {}
    for instruction in needed:
        kernels = [kernel for _, kernel in without_each(compiled.native, instruction)]
        assert kernels, instruction
        tried = range(len(kernels)) if among is None else among[instruction]
        found[instruction] = {n for n in tried if not is_refused(kernels[n], arguments, grid=grid)}
    return found
