"""Prefetches, streamed outputs, whole vectors in spare room: what nests do beyond their elements."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.lowering.linalg_to_loops import streaming
from tilewright.runtime.driver import driver_for
from tilewright.support import knobs
from tilewright.targets.cpu.target import CpuTarget

rng = np.random.default_rng(0)

Processor = Callable[..., None]


@pytest.fixture
def processor(monkeypatch: pytest.MonkeyPatch) -> Processor:
    """Lets the host have other facts for one test."""
    target = driver_for("cpu").target
    assert isinstance(target, CpuTarget)

    def change(**facts: Any) -> None:
        changed = CpuTarget(replace(target.facts, **facts))
        monkeypatch.setattr(target, "_facts", changed.facts)
        monkeypatch.setitem(target.__dict__, "_fingerprint", changed.fingerprint())

    change(loops_prefetch=True, fetched_near_bytes=32 * 1024, streamed_traffic=None, prefetches_by_page=False)
    return change


@triton.jit
def row_softmax(x, o, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * stride + cols, e / tl.sum(e, axis=0), mask=cols < n)


@pytest.mark.parametrize("n", [1, 5, 16, 63, 64, 100, 127, 128])
def test_rows_of_any_length(n: int) -> None:
    x = rng.standard_normal((7, n)).astype(np.float32)
    o = np.full((8, n), 7.0, np.float32)
    row_softmax[(7,)](x, o, n, n, BLOCK=128)
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(o[:7], e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    assert (o[7] == 7.0).all()


def loops_of(kernel: Any, *args: Any, **constants: Any) -> str:
    return triton.jit(kernel.fn).warmup(*args, grid=(1,), **constants).asm["loops"]


@pytest.mark.usefixtures("processor")
def test_the_second_nest_asks_for_the_lines_to_be_written_and_the_writing_one_for_the_next_row() -> None:
    x = np.zeros(1000, np.float32)
    loops = loops_of(row_softmax, x, x.copy(), 100, 100, BLOCK=128)
    reads = re.findall(r"memref.prefetch %\S+\[%\S+\], read", loops)
    writes = re.findall(r"memref.prefetch %\S+\[%\S+\], write", loops)
    assert len(reads) == len(writes) == 1
    assert loops.index("maxnumf") < loops.index("math.exp") < loops.index(writes[0]) < loops.index(reads[0])


@triton.jit
def row_norm(x, o, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=0.0)
    tl.store(o + row * stride + cols, v - tl.sum(v, axis=0) / n, mask=cols < n)


@triton.jit
def row_logsumexp(x, o, n, stride, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + cols, mask=cols < n, other=-float("inf"))
    top = tl.max(v, axis=0)
    tl.store(o + row, top + tl.log(tl.sum(tl.exp(v - top), axis=0)))


@pytest.mark.parametrize("kernel", [row_norm, row_logsumexp])
def test_one_nest_that_reads_again_asks_for_the_next_row_alone(kernel: Any) -> None:
    x, o = rng.standard_normal((5, 100)).astype(np.float32), np.zeros((5, 100), np.float32)
    loops = kernel[(5,)](x, o, 100, 100, BLOCK=128).asm["loops"]
    assert len(re.findall(r"memref.prefetch .*, read", loops)) == 1
    assert not re.findall(r"memref.prefetch .*, write", loops)
    if kernel is row_norm:
        np.testing.assert_allclose(o, x - x.mean(axis=1, keepdims=True), rtol=1e-4, atol=1e-6)
    else:
        np.testing.assert_allclose(o.ravel()[:5], np.log(np.exp(x).sum(axis=1)), rtol=1e-5)


@pytest.mark.parametrize(("kernel", "locality"), [(row_norm, 2), (row_softmax, 3)])
def test_large_rows_are_fetched_near_if_much_is_computed(processor: Processor, kernel: Any, locality: int) -> None:
    x = np.zeros((2, 4096), np.float32)
    for fetched_near_bytes, expected in ((8 * 1024, locality), (16 * 1024, 3)):
        processor(fetched_near_bytes=fetched_near_bytes, loops_prefetch=False)
        loops = loops_of(kernel, x, x.copy(), 4096, 4096, BLOCK=4096)
        fetched = loops[loops.index("vector.reduction") :]
        assert set(re.findall(r"memref.prefetch .*, read, locality<(\d)>", fetched)) == {str(expected)}


@triton.jit
def shifted_sum(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16, np.int16])
@pytest.mark.parametrize("n", [1, 7, 63, 64, 1024, 1040, 5000])
def test_streamed_outputs(monkeypatch: pytest.MonkeyPatch, dtype: Any, n: int) -> None:
    monkeypatch.setattr(streaming, "STREAMED_BYTES", 0)
    kernel = triton.jit(shifted_sum.fn)
    with knobs.scope(always_compile=True):
        for start in (0, 1, 3, 8, 9, 31):
            x, y = ((rng.standard_normal(n + 40) * 100).astype(dtype) for _ in range(2))
            o = np.full(n + 100, 7, dtype)
            compiled = kernel[(triton.cdiv(n, 1024),)](x[start:], y[start:], o[start:], n, BLOCK=1024)
            np.testing.assert_array_equal(o[start : start + n], x[start : start + n] + y[start : start + n])
            assert (o[:start] == 7).all() and (o[start + n :] == 7).all()
            assert "nontemporal" in compiled.asm["loops"]


@pytest.mark.parametrize(
    ("traffic", "least"), [(None, streaming.STREAMED_BYTES), (24 << 20, 8 << 20), (1 << 30, streaming.STREAMED_BYTES)]
)
def test_a_launch_decides_about_streaming(processor: Processor, traffic: int | None, least: int) -> None:
    processor(streamed_traffic=traffic)
    x = np.zeros(4096, np.float32)
    loops = loops_of(shifted_sum, x, x.copy(), x.copy(), 4096, BLOCK=1024)
    assert loops.count("nontemporal = true") == 1
    assert f"arith.constant {least} : index" in loops


@triton.jit
def weighted(x, w, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    row = tl.program_id(0) * BLOCK
    tl.store(o + row + i, tl.load(x + row + i) * tl.load(w + i))


def test_memory_that_all_programs_read_does_not_count_again(processor: Processor) -> None:
    processor(streamed_traffic=24 << 20)
    x = np.zeros(4096, np.float32)
    assert f"arith.constant {12 << 20} : index" in loops_of(weighted, x, x.copy(), x.copy(), BLOCK=1024)


@pytest.mark.parametrize("traffic", [None, 0, 1 << 30])
@pytest.mark.parametrize("n", [5, 63, 64, 500, 1000, 1024])
def test_lines_of_outputs_are_asked_for_unless_they_are_streamed(
    processor: Processor, traffic: int | None, n: int
) -> None:
    processor(streamed_traffic=traffic)
    x = rng.standard_normal((7, n)).astype(np.float32)
    o = np.full((8, n), 7.0, np.float32)
    loops = triton.jit(row_softmax.fn)[(7,)](x, o, n, n, BLOCK=1024).asm["loops"]
    e = np.exp(x - x.max(axis=1, keepdims=True))
    np.testing.assert_allclose(o[:7], e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    assert (o[7] == 7.0).all()
    assert asked_for(loops)[1] == 1
    assert ("nontemporal" in loops) == (traffic is not None)


@triton.jit
def sum_and_difference(x, y, a, b, n, m, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u, v = tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)
    tl.store(a + i, u + v, mask=i < n)
    tl.store(b + i, u - v, mask=i < m)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (16, 32), (3, 19), (0, 5), (7, 0)])
@pytest.mark.parametrize("n", [1, 100, 2048, 2100])
def test_streamed_outputs_that_end_apart(monkeypatch: pytest.MonkeyPatch, first: int, second: int, n: int) -> None:
    monkeypatch.setattr(streaming, "STREAMED_BYTES", 0)
    kernel = triton.jit(sum_and_difference.fn)
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    with knobs.scope(always_compile=True):
        for m in (n, n // 2):
            a, b = (np.full(n + 100, 7, np.float32) for _ in range(2))
            kernel[(triton.cdiv(n, 1024),)](x, y, a[first:], b[second:], n, m, BLOCK=1024)
            for out, start, count, expected in ((a, first, n, x + y), (b, second, m, x - y)):
                np.testing.assert_array_equal(out[start : start + count], expected[:count])
                assert (out[:start] == 7).all()
                assert (out[start + count :] == 7).all()


@triton.jit
def sum_and_product(x, y, a, b, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    u, v = tl.load(x + i, mask=i < n), tl.load(y + i, mask=i < n)
    tl.store(a + i, u + v, mask=i < n)
    tl.store(b + i, u * v, mask=i < n)


@pytest.mark.parametrize(("first", "second"), [(0, 0), (16, 32), (3, 19), (0, 5), (7, 0)])
@pytest.mark.parametrize("n", [1, 100, 2048, 2100])
def test_outputs_of_one_nest_are_streamed_together(
    monkeypatch: pytest.MonkeyPatch, first: int, second: int, n: int
) -> None:
    monkeypatch.setattr(streaming, "STREAMED_BYTES", 0)
    kernel = triton.jit(sum_and_product.fn)
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    a, b = (np.full(n + 100, 7, np.float32) for _ in range(2))
    with knobs.scope(always_compile=True):
        compiled = kernel[(triton.cdiv(n, 1024),)](x, y, a[first:], b[second:], n, BLOCK=1024)
    for out, start, expected in ((a, first, x + y), (b, second, x * y)):
        np.testing.assert_array_equal(out[start : start + n], expected)
        assert (out[:start] == 7).all()
        assert (out[start + n :] == 7).all()
    assert compiled.asm["loops"].count("nontemporal = true") == 2


@triton.jit
def row_scaled(x, o, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    top = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        top = tl.maximum(top, tl.abs(tl.load(x + row * stride + cols, mask=cols < n, other=0.0)))
    scale = 1 / tl.max(top, axis=0)
    for start in range(0, n, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        v = tl.load(x + row * stride + cols, mask=cols < n)
        tl.store(o + row * stride + cols, v * scale, mask=cols < n)


@pytest.mark.parametrize("start", [0, 1, 16])
@pytest.mark.parametrize("n", [5, 255, 256, 300, 1024, 1100])
def test_loops_of_a_program_stream_what_it_only_writes(processor: Processor, n: int, start: int) -> None:
    x = rng.standard_normal((7, n)).astype(np.float32)
    expected = x / np.abs(x).max(axis=1, keepdims=True)
    for traffic in (0, 1 << 40, None):
        processor(streamed_traffic=traffic)
        o = np.full(8 * n + start, 7, np.float32)
        loops = triton.jit(row_scaled.fn)[(7,)](x, o[start:], n, n, BLOCK=256).asm["loops"]
        np.testing.assert_allclose(o[start : start + x.size].reshape(x.shape), expected, rtol=1e-6)
        assert (o[:start] == 7).all() and (o[start + x.size :] == 7).all()
        assert ("nontemporal" in loops) == (traffic is not None)


def test_all_iterations_count_for_the_size_of_a_launch(processor: Processor) -> None:
    processor(streamed_traffic=24 << 20)
    x = np.zeros(4096, np.float32)
    loops = loops_of(row_scaled, x, x.copy(), 1024, 1024, BLOCK=256)
    assert f"arith.constant {12 << 20} : index" in loops, "as much is read as is written"
    assert loops.index("divsi") < loops.rindex("scf.for %arg"), "in front of the loop"


@triton.jit
def written_and_read(x, o, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(o + i, tl.load(x + i) + 1)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(o + n + i, tl.load(o + i) * 2)


@triton.jit
def written_again(x, o, n, BLOCK: tl.constexpr):
    for start in range(0, n, BLOCK):
        i = tl.arange(0, BLOCK)
        tl.store(o + tl.program_id(0) * BLOCK + i, tl.load(x + start + i) + 1)


@pytest.mark.parametrize("kernel", [written_and_read, written_again])
def test_loops_do_not_stream_what_is_needed_again(processor: Processor, kernel: Any) -> None:
    processor(streamed_traffic=0)
    x = np.zeros(4096, np.float32)
    assert "nontemporal" not in loops_of(kernel, x, np.zeros(8192, np.float32), 4096, BLOCK=256)


def asked_for(loops: str) -> tuple[int, int]:
    """Prefetches that read, and those that are for writing."""
    kinds = re.findall(r"memref.prefetch %\S+\[%\S+\], (read|write)", loops)
    return kinds.count("read"), kinds.count("write")


@pytest.mark.parametrize(
    ("asks", "block", "expected"),
    [(True, 128, (0, 0)), (True, 1024, (4, 1)), (True, 4096, (4, 1)), (False, 4096, (0, 0))],
)
def test_programs_one_behind_the_other_ask_for_what_comes(
    processor: Processor, block: int, expected: tuple[int, int], *, asks: bool
) -> None:
    processor(loops_prefetch=asks)
    x = np.zeros(8192, np.float32)
    assert asked_for(loops_of(shifted_sum, x, x.copy(), x.copy(), 8192, BLOCK=block)) == expected


@triton.jit
def doubled(x, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


@pytest.mark.usefixtures("processor")
def test_what_is_updated_is_asked_for_once() -> None:
    loops = loops_of(doubled, np.zeros(8192, np.float32), 8192, BLOCK=1024)
    assert asked_for(loops) == (1, 0)
    assert "nontemporal" not in loops, "its lines are in the caches"


@triton.jit
def picked_rows(table, rows, o, n, BLOCK: tl.constexpr):
    row = tl.load(rows + tl.program_id(0))
    i = tl.arange(0, BLOCK)
    tl.store(o + tl.program_id(0) * BLOCK + i, tl.load(table + row * BLOCK + i) + 1)


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize(("block", "reads"), [(256, 0), (1024, 0), (4096, 1)])
def test_rows_that_do_not_follow_one_another_are_asked_for_if_they_are_long(block: int, reads: int) -> None:
    table = rng.standard_normal((9, block)).astype(np.float32)
    rows, o = np.array([3, 8, 0]), np.zeros((3, block), np.float32)
    loops = triton.jit(picked_rows.fn)[(3,)](table, rows, o, 9, BLOCK=block).asm["loops"]
    np.testing.assert_array_equal(o, table[rows] + 1)
    assert asked_for(loops.rpartition("nontemporal")[2])[0] == reads


@triton.jit
def strided_sums(x, o, n, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        total += tl.load(x + i, mask=i < n, other=0.0)
    tl.store(o + tl.program_id(0), tl.sum(total, axis=0))


@pytest.mark.usefixtures("processor")
@pytest.mark.parametrize(("block", "reads"), [(1024, 0), (2048, 1)])
def test_short_tiles_of_a_loop_are_not_asked_for(block: int, reads: int) -> None:
    x, o = rng.standard_normal(9000).astype(np.float32), np.zeros(2, np.float32)
    loops = triton.jit(strided_sums.fn)[(2,)](x, o, 9000, BLOCK=block).asm["loops"]
    np.testing.assert_allclose(o.sum(), x.sum(), rtol=1e-3)
    assert (asked_for(loops)[0] > 0) == bool(reads)


@triton.jit
def row_sums(x, o, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + tl.program_id(0), tl.sum(tl.load(x + i), axis=0))


@pytest.mark.parametrize(("asks", "reads"), [(True, 4), (False, 0)])
def test_loops_that_only_read_ask_for_what_comes_where_others_do(
    processor: Processor, reads: int, *, asks: bool
) -> None:
    processor(loops_prefetch=asks)
    assert asked_for(loops_of(row_sums, np.zeros(8192, np.float32), np.zeros(2, np.float32), BLOCK=4096)) == (reads, 0)


@triton.jit
def masked_norm(x, o, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols, mask=cols < n, other=0.0)
    mean = tl.sum(v, axis=0) / n
    d = tl.where(cols < n, v - mean, 0.0)
    tl.store(o + cols, d / tl.sqrt(tl.sum(d * d, axis=0) / n), mask=cols < n)


def test_masks_within_their_bounds_are_not_computed() -> None:
    x = rng.standard_normal(200).astype(np.float32)
    o = np.zeros_like(x)
    compiled = masked_norm[(1,)](x, o, 200, BLOCK=256)
    np.testing.assert_allclose(o, (x - x.mean()) / x.std(), rtol=1e-4, atol=1e-5)
    assert not re.search(r"arith.cmpi \w+, .* : vector<", compiled.asm["loops"])


@triton.jit
def half_mask(x, o, n, BLOCK: tl.constexpr):
    cols = tl.arange(0, BLOCK)
    v = tl.load(x + cols, mask=cols < n, other=0.0)
    tl.store(o + cols, tl.where(cols < n // 2, v, -v), mask=cols < n)
    tl.store(o + BLOCK + cols, tl.where(cols >= n, 1.0, v))


def test_masks_that_change_within_the_bounds_are_computed() -> None:
    x = rng.standard_normal(200).astype(np.float32)
    o = np.zeros(512, np.float32)
    half_mask[(1,)](x, o, 200, BLOCK=256)
    np.testing.assert_array_equal(o[:200], np.where(np.arange(200) < 100, x, -x))
    np.testing.assert_array_equal(o[256:456], x)
    assert (o[456:] == 1.0).all()


@triton.jit
def column_sums(x, o, rows, cols, ROWS: tl.constexpr, COLS: tl.constexpr):
    c = tl.program_id(0) * COLS + tl.arange(0, COLS)
    total = tl.zeros((ROWS, COLS), dtype=tl.float32)
    for first in range(0, rows, ROWS):
        r = first + tl.arange(0, ROWS)
        total += tl.load(x + r[:, None] * cols + c[None, :], (r[:, None] < rows) & (c[None, :] < cols), other=0.0)
    tl.store(o + c, tl.sum(total, 0), c < cols)


@pytest.mark.parametrize(
    ("by_page", "tile", "expected"), [(True, (8, 256), True), (True, (4, 256), False), (False, (8, 256), False)]
)
@pytest.mark.parametrize("writers_ask", [True, False])
def test_short_rows_far_apart_are_asked_for_where_nobody_else_does(
    processor: Processor, by_page: bool, tile: tuple[int, int], expected: bool, writers_ask: bool
) -> None:
    """Sums in the arena are no outputs that compete with what is asked for."""
    processor(prefetches_by_page=by_page, loops_prefetch=writers_ask)
    kernel, (rows, cols) = triton.jit(column_sums.fn), tile
    x, o = rng.standard_normal((37, 500)).astype(np.float32), np.zeros(500, np.float32)
    compiled = kernel[(triton.cdiv(500, cols),)](x, o, 37, 500, ROWS=rows, COLS=cols)
    np.testing.assert_allclose(o, x.sum(0), rtol=1e-4, atol=1e-5)
    assert (asked_for(compiled.asm["loops"])[0] > 0) == expected


@triton.jit
def differences(x, o, n, BACK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, i < n)
    if BACK:
        v -= tl.load(x + i - BACK, (i >= BACK) & (i < n), other=0.0)
    tl.store(o + i, v, i < n)


@pytest.mark.parametrize(("traffic", "back", "expected"), [(0, 0, True), (0, 3, False), (None, 3, True)])
def test_what_reads_one_array_twice_is_streamed_only_if_it_writes_much(
    processor: Processor, traffic: int | None, back: int, expected: bool
) -> None:
    processor(streamed_traffic=traffic)
    x, o = rng.standard_normal(5000).astype(np.float32), np.zeros(5000, np.float32)
    loops = triton.jit(differences.fn)[(5,)](x, o, 5000, BACK=back, BLOCK=1024).asm["loops"]
    expected_values = x - np.concatenate([np.zeros(back, np.float32), x[: 5000 - back]]) if back else x
    np.testing.assert_allclose(o, expected_values, rtol=1e-6)
    assert ("nontemporal" in loops) == expected


@triton.jit
def norm_in_loops(x, o, n, stride, IN_PLACE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0) * stride
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        v = tl.load(x + row + i, i < n, other=0.0)
        if IN_PLACE:
            tl.store(x + row + i, v, i < n)
        total += v
    mean = tl.sum(total, 0) / n
    square = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        d = tl.where(i < n, tl.load(x + row + i, i < n, other=0.0) - mean, 0.0)
        square += d * d
    scale = 1 / tl.sqrt(tl.sum(square, 0) / n)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(o + row + i, (tl.load(x + row + i, i < n) - mean) * scale, i < n)


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("n", [100, 1024, 1500])
def test_the_last_loop_over_a_row_asks_for_that_of_the_next_program(
    processor: Processor, n: int, in_place: bool
) -> None:
    """Unless it is changed in place."""
    processor(loops_prefetch=False)
    x = rng.standard_normal((5, n)).astype(np.float32)
    o = np.zeros_like(x)
    loops = triton.jit(norm_in_loops.fn)[(5,)](x, o, n, n, IN_PLACE=in_place, BLOCK=512).asm["loops"]
    expected = (x - x.mean(1, keepdims=True)) / x.std(1, keepdims=True)
    np.testing.assert_allclose(o, expected, rtol=1e-4, atol=1e-4)
    asked = re.findall(r"memref.prefetch .*, read, locality<2>", loops)
    assert len(asked) == (0 if in_place else 1)
    if asked:
        assert loops.index("math.sqrt") < loops.index(asked[0])


@triton.jit
def twice_in_loops(x, o, n, FROM: tl.constexpr, BLOCK: tl.constexpr):
    """Goes over a row, then over the same row, one that starts FROM elements further on, or over other tiles of it."""
    row = tl.program_id(0) * n
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        total += tl.load(x + row + start + tl.arange(0, BLOCK))
    largest = tl.full((BLOCK,), -1e9, tl.float32)
    for start in range(FROM, n, BLOCK):
        largest = tl.maximum(largest, tl.load(x + row + start + tl.arange(0, BLOCK)))
    tl.store(o + tl.program_id(0), tl.max(largest, 0) + tl.sum(total, 0))


@pytest.mark.parametrize("first", [0, 512])
def test_rows_are_the_same_if_their_loops_are(processor: Processor, first: int) -> None:
    processor(loops_prefetch=False)
    x = rng.standard_normal((3, 2048)).astype(np.float32)
    o = np.zeros(3, np.float32)
    loops = triton.jit(twice_in_loops.fn)[(3,)](x, o, 2048, FROM=first, BLOCK=512).asm["loops"]
    np.testing.assert_allclose(o, x[:, first:].max(1) + x.sum(1), rtol=1e-3, atol=1e-3)
    assert ("locality<2>" in loops) == (first == 0)


@triton.jit
def turn_pairs(x, y, c, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a, b, factor = tl.load(x + i, i < n), tl.load(y + i, i < n), tl.load(c + i, i < n)
    tl.store(out + i, (a * factor + b) * factor - a, i < n)


@pytest.mark.parametrize("by_halves", [True, False])
def test_streams_by_halves(processor: Processor, by_halves: bool) -> None:
    processor(streams_half_vectors=by_halves, vector_bits=512)
    x, y, c, out = (np.zeros(1500, np.float32) for _ in range(4))
    kernel = triton.jit(turn_pairs.fn)  # pyright: ignore[reportFunctionMemberAccess]
    loops = kernel.warmup(x, y, c, out, 1500, BLOCK=1024, grid=(2,)).asm["loops"]
    assert ("vector<8xf32>" in loops) == by_halves and ("vector<16xf32>" in loops) != by_halves
    # Few vectors wait for nothing.
    assert "vector<16xf32>" in kernel.warmup(x, y, c, out, 1500, BLOCK=64, grid=(24,)).asm["loops"]
