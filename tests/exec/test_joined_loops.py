"""Loops that become one, and masks that are skipped, on the simulated H100: the results, to the bit those of the kernel
as it is written, and what ptxas makes of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_ptxas
from tilewright.support import knobs


@pytest.fixture(autouse=True)
def hopper(a_gpu: str) -> Iterator[None]:
    """Hopper, simulated where the real one was not named."""
    with knobs.scope(override_arch="sm90"):
        yield


@triton.jit
def step(q, k_ptrs, v_ptrs, start, rows, columns, row_max, row_sum, acc, HEAD: tl.constexpr, FORM: tl.constexpr):
    """One block of keys; `FORM` says how it is masked."""
    k = tl.load(k_ptrs + start * HEAD)
    scores = tl.dot(q, k) * 0.5
    if FORM == "select":
        scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, -1.0e30)
    if FORM == "add":
        scores += tl.where((start + columns)[None, :] <= rows[:, None], 0, -1.0e30)
    new_max = tl.maximum(row_max, tl.max(scores, 1))
    p = tl.math.exp2(scores - new_max[:, None])
    alpha = tl.math.exp2(row_max - new_max)
    row_sum = row_sum * alpha + tl.sum(p, 1)
    v = tl.load(v_ptrs + start * HEAD)
    acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
    return new_max, row_sum, acc


@triton.jit(do_not_specialize=["first", "middle", "last"])
def two_loops(
    q_ptr, k_ptr, v_ptr, out_ptr, first, middle, last,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr,
):  # fmt: skip
    """Keys of blocks `first` to `middle`, then, masked, to `last`; rows begin at block `middle`."""
    columns, dims = tl.arange(0, N), tl.arange(0, HEAD)
    rows = middle * N + tl.arange(0, M)
    q = tl.load(q_ptr + tl.arange(0, M)[:, None] * HEAD + dims[None, :])
    k_ptrs = k_ptr + columns[None, :] * HEAD + dims[:, None]
    v_ptrs = v_ptr + columns[:, None] * HEAD + dims[None, :]
    row_max = tl.full([M], -1.0e30, tl.float32)
    row_sum = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    for start in range(first * N, middle * N, N):
        row_max, row_sum, acc = step(
            q, k_ptrs, v_ptrs, start, rows, columns, row_max, row_sum, acc, HEAD, "none"
        )  # fmt: skip
    for start in range(middle * N, last * N, N):
        row_max, row_sum, acc = step(
            q, k_ptrs, v_ptrs, start, rows, columns, row_max, row_sum, acc, HEAD, FORM
        )  # fmt: skip
    tl.store(out_ptr + tl.arange(0, M)[:, None] * HEAD + dims[None, :], acc / row_sum[:, None])


@triton.jit(do_not_specialize=["row", "key", "blocks"])
def one_loop(
    q_ptr, k_ptr, v_ptr, out_ptr, row, key, blocks,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, FORM: tl.constexpr,
):  # fmt: skip
    """All blocks of keys are masked; rows and keys are counted from `row` and `key` on."""
    columns, dims = tl.arange(0, N), tl.arange(0, HEAD)
    rows = row + tl.arange(0, M)
    q = tl.load(q_ptr + tl.arange(0, M)[:, None] * HEAD + dims[None, :])
    k_ptrs = k_ptr + columns[None, :] * HEAD + dims[:, None]
    v_ptrs = v_ptr + columns[:, None] * HEAD + dims[None, :]
    row_max = tl.full([M], -1.0e30, tl.float32)
    row_sum = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, blocks * N, N):
        row_max, row_sum, acc = step(
            q, k_ptrs, v_ptrs, start, rows, key + columns, row_max, row_sum, acc, HEAD, FORM
        )  # fmt: skip
    tl.store(out_ptr + tl.arange(0, M)[:, None] * HEAD + dims[None, :], acc / row_sum[:, None])


SPECIALISED: dict[Any, Any] = {kernel: triton.jit(kernel.fn) for kernel in (two_loops, one_loop)}
"""The kernels for counts that are known to be 1 or divisible by 16 where they are: others share their compiled form."""


def matrices(rows: int, keys: int, head: int) -> list[Array]:
    random = np.random.default_rng(0)
    return [(random.standard_normal((count, head)) * 0.5).astype(np.float16) for count in (rows, keys, keys)]


def run(kernel: Any, numbers: tuple[int, ...], form: str, *, warps: int = 8, keys: int = 192, head: int = 64) -> Any:
    """What a kernel gives for 128 rows and blocks of 32 keys, and its TTGIR."""
    q, k, v = matrices(128, keys, head)
    out = np.zeros((128, head), np.float32)
    compiled: Any = kernel[(1,)](q, k, v, out, *numbers, HEAD=head, M=128, N=32, FORM=form, num_warps=warps)
    return out, compiled.asm["ttgir"]


def count(ttgir: str, text: str) -> int:
    return len(re.findall(rf"\b{re.escape(text)}\b", ttgir))


@pytest.mark.parametrize(
    ("first", "middle", "last", "form", "overlap"),
    [
        (0, 2, 6, "select", "always"),
        (0, 2, 6, "add", "never"),
        (0, 1, 2, "add", "always"),
        (0, 0, 4, "select", "never"),
        (1, 3, 4, "select", "always"),
        (0, 3, 3, "add", "never"),
        (2, 1, 4, "select", "always"),
        (0, 3, 2, "select", "never"),
        (3, 2, 2, "select", "always"),
        (4, 2, 3, "add", "always"),
    ],
)
def test_two_loops_are_one(first: int, middle: int, last: int, form: str, overlap: str) -> None:
    """Either of the loops may have no iteration, and the second may begin before the first would."""
    check_two_loops(two_loops, (first, middle, last), form, overlap)


@pytest.mark.parametrize("counts", [(0, 1, 2), (1, 3, 4)])
def test_two_loops_with_known_counts_are_one(counts: tuple[int, int, int]) -> None:
    check_two_loops(SPECIALISED[two_loops], counts, "select", "always")


def check_two_loops(kernel: Any, counts: tuple[int, int, int], form: str, overlap: str) -> None:
    with knobs.scope(overlap_products=overlap, defer_row_sums=False):  # the second loop's sums do not begin at zero
        with knobs.scope(join_loops=False):
            expected, apart = run(kernel, counts, form)
        found, joined = run(kernel, counts, form)
    assert count(apart, "scf.for") == 2
    assert count(joined, "scf.for") == 1
    np.testing.assert_array_equal(found, expected)


HIGHEST = (1 << 31) - 1


@pytest.mark.parametrize(
    ("row", "key", "form"),
    [
        (64, 0, "select"),
        (63, 0, "add"),
        (0, 0, "select"),
        (300, 0, "add"),
        (0, 500, "select"),
        (-7, -40, "add"),
        (HIGHEST - 127, HIGHEST - 191, "select"),
        (HIGHEST - 64, HIGHEST - 300, "select"),
        (HIGHEST - 127, HIGHEST - 64, "select"),
        (-HIGHEST - 1, -HIGHEST + 20, "add"),
        (HIGHEST - 64, HIGHEST - 64, "add"),
        (-HIGHEST - 1, HIGHEST - 191, "select"),
    ],
)
def test_masks_are_skipped(row: int, key: int, form: str) -> None:
    """Rows and keys that wrap around are compared as they are without the pass."""
    check_masks(one_loop, (row, key, 5), form)


@pytest.mark.parametrize(("row", "key", "form"), [(64, 0, "select"), (HIGHEST - 63, HIGHEST - 191, "add")])
def test_masks_of_known_numbers_are_skipped(row: int, key: int, form: str) -> None:
    check_masks(SPECIALISED[one_loop], (row, key, 5), form)


def check_masks(kernel: Any, numbers: tuple[int, int, int], form: str) -> None:
    with knobs.scope(guard_masks=False):
        expected, plain = run(kernel, numbers, form)
    found, guarded = run(kernel, numbers, form)
    assert count(plain, "scf.if") == 0
    assert count(guarded, "scf.if") > 0
    np.testing.assert_array_equal(found, expected)


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("kernel", SPECIALISED.values(), ids=["two_loops", "one_loop"])
def test_ptxas_neither_spills_nor_serialises(kernel: Any) -> None:
    """At the size that is fastest on an H200."""
    q, k, v = matrices(128, 128, 128)
    out = np.zeros((128, 128), np.float32)
    compiled: Any = kernel[(1,)](q, k, v, out, 0, 0, 1, HEAD=128, M=128, N=128, FORM="select", num_warps=8)
    assembled = assemble(compiled.asm["ptx"], nvptx_facts(90))
    assert assembled.spill_bytes == 0
    assert not re.search("serialized|wait is injected", assembled.log), assembled.log


def test_older_gpus_keep_their_loops(a_gpu: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("machine code for older GPUs does not run on newer ones")
    with knobs.scope(override_arch="sm80"):
        _, ttgir = run(two_loops, (0, 2, 4), "select", warps=4)
    assert count(ttgir, "scf.for") == 2
