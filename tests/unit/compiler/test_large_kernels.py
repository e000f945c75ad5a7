"""Compiling costs time linear in the size of a kernel: in the calls of functions that it makes, which no load changes.

`benchmarks/large_kernels.py` times kernels of all kinds; here are those that passes once took the square of.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from suite.counting import count_calls
from tilewright import compat
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.source import ASTSource
from tilewright.compiler.stages import lower
from tilewright.dialects import arith, func, scf
from tilewright.ir.walking import find_ops
from tilewright.support import recursion
from tilewright.support.recursion import deep_recursion
from tilewright.targets.base import find_target

with compat.standing_in():
    import triton
    import triton.language as tl


@triton.jit
def loads(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    total = tl.zeros([64], tl.float32)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        total += tl.load(p + i * 64 + lanes)
    tl.store(q + lanes, total)


@triton.jit
def choices(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 64)
    x = tl.load(p + lanes)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        x = tl.where(lanes > i % 64, x + i, x * 2)
    tl.store(q + lanes, x)


@triton.jit
def maxima(p, q, N: tl.constexpr):
    r = tl.arange(0, 16)
    x = tl.load(p + r[:, None] * 16 + r[None, :])
    for _ in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        x = x - tl.max(x, 1)[:, None]
    tl.store(q + r[:, None] * 16 + r[None, :], x)


@triton.jit
def chain(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 16)
    x = (tl.load(p + lanes) * 100).to(tl.int32)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        x = x * 3 + i
    tl.store(q + lanes, x.to(tl.float32))


@triton.jit
def inner(x, N: tl.constexpr):
    if N == 0:
        return x * 2
    return inner(x, N - 1) + N


@triton.jit
def nested_calls(p, q, N: tl.constexpr):
    lanes = tl.arange(0, 16)
    tl.store(q + lanes, inner(tl.load(p + lanes), N))


@deep_recursion()
def calls(kernel: Any, size: int) -> int:
    """How many functions, of Python and of C, all passes on a kernel call, up to LLVM's text."""
    from tilewright.lowering.loops_to_llvm import lower_to_llvm

    signature = {"p": "*fp32", "q": "*fp32", "N": "constexpr"}
    source = ASTSource(kernel, signature, {"N": size})
    target: Any = find_target("cpu")

    def compile_kernel() -> None:
        *_, (_, module) = lower(source, CompileOptions(), target)
        lower_to_llvm(module, target.facts)

    return count_calls(compile_kernel)


@pytest.mark.costly
@pytest.mark.parametrize(("kernel", "size"), [(loads, 40), (choices, 40), (maxima, 20), (chain, 40)])
def test_four_times_the_size_takes_four_times_the_calls(kernel: Any, size: int) -> None:
    calls(kernel, 3)
    few, many = calls(kernel, size), calls(kernel, 4 * size)
    assert many < 4.6 * few


@pytest.mark.costly
def test_nested_calls() -> None:
    """Each function receives the bodies of all below it, at few calls an op: its location, as deep as the nest, is not
    gone through."""
    calls(nested_calls, 3)
    few, many = calls(nested_calls, 20), calls(nested_calls, 80)
    assert many < 6 * few


@pytest.mark.costly
def test_a_chain_longer_than_a_body_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its ops are those of several loops, each short enough for walks along what a body computes."""
    monkeypatch.setattr(recursion, "RECURSION_LIMIT", 8000)
    x, y = np.arange(16, dtype=np.float32), np.zeros(16, np.float32)
    chain[(1,)](x, y, 1300)
    expected = (x * 100).astype(np.int32)
    with np.errstate(over="ignore"):
        for i in range(1300):
            expected = expected * np.int32(3) + np.int32(i)
    np.testing.assert_array_equal(y, expected.astype(np.float32))


@triton.jit
def masked_copies(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 16)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        mask = i * 16 + lanes < n
        tl.store(q + i * 16 + lanes, tl.load(p + i * 16 + lanes, mask) + 1, mask)


@pytest.mark.costly
def test_bounds_live_as_long_as_they_are_needed() -> None:
    """Those of all copies are made before the first one: LLVM would carry each through the loops of all others."""
    source = ASTSource(masked_copies, {"p": "*fp32", "q": "*fp32", "n": "i32", "N": "constexpr"}, {"N": 30})
    with deep_recursion():
        *_, (_, module) = lower(source, CompileOptions(), find_target("cpu"))
    (function,) = find_ops(module, func.FuncOp)
    ops = list(function.body.block.ops)
    bounds = [place for place, op in enumerate(ops) if isinstance(op, arith.MinSIOp)]
    assert len(bounds) >= 30
    assert all(any(isinstance(op, scf.ForOp) for op in ops[one:other]) for one, other in pairwise(bounds))


@triton.jit
def copies_between(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 16)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        mask = i * 16 + lanes < n
        x = tl.load(p + i * 16 + lanes, mask, 7)
        tl.store(q + i * 16 + lanes, x * 2 + tl.max(x, 0), mask)


@pytest.mark.costly
@pytest.mark.parametrize("distance", [None, 3])
def test_copies_by_one_function(distance: int | None) -> None:
    """Equal loops are calls of a few functions: what is computed, with arrays that overlap as well. These do without
    hidden arguments, and no block has more than two groups of calls."""
    for n in (1003, 2557):
        memory = np.arange(160 * 16 + 16, dtype=np.float32)[::-1].copy()
        expected = memory.copy()
        x, y = memory[:2560], np.zeros(2560, np.float32) if distance is None else memory[distance:][:2560]
        source, result = expected[:2560], y.copy() if distance is None else expected[distance:][:2560]
        for i in range(160):
            tile = slice(i * 16, i * 16 + 16)
            mask = np.arange(i * 16, i * 16 + 16) < n
            row = np.where(mask, source[tile], np.float32(7))
            result[tile][mask] = (row * 2 + row.max())[mask]
        compiled = copies_between[(1,)](x, y, n, 160)
        np.testing.assert_array_equal(y, result)
    blocks = [block.count("@copies_between_loop_") for block in re.split(r"\n\w+:", compiled.asm["llir"])]
    assert sum(blocks) >= 160
    assert max(blocks) <= 32
    assert "ptr poison, ptr poison)" in compiled.asm["llir"]


@pytest.mark.costly
def test_what_many_loops_share_is_read_as_copies() -> None:
    """Pointers and the number of elements; kernels of few loops have none."""
    x, y = np.arange(40 * 16, dtype=np.float32), np.zeros(40 * 16, np.float32)
    copies: list[int] = []
    for count in (7, 40):
        compiled = masked_copies[(1,)](x, y, 630, count)
        copies.append(compiled.asm["llir"].count("load volatile ptr"))
    assert copies[0] == 0
    assert copies[1] >= 2
    np.testing.assert_array_equal(y, np.where(np.arange(640) < 630, x + 1, 0))


@triton.jit
def sums_between(p, q, n, N: tl.constexpr):
    lanes = tl.arange(0, 16)
    total = tl.load(p)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        x = tl.load(p + i * 16 + lanes, i * 16 + lanes < n, 1)
        total += tl.max(tl.cumsum(x, 0), 0)
        tl.store(q + i * 16 + lanes, x * total + i, i * 16 + lanes < n)
    tl.store(q + N * 16, total)


@pytest.mark.costly
def test_long_functions_are_calls_of_their_parts() -> None:
    """No function has more loops and calls than a few parts, and what is computed goes from one to the next."""
    x, y = np.arange(80 * 16, dtype=np.float32) % 3, np.zeros(80 * 16 + 1, np.float32)
    compiled = sums_between[(1,)](x, y, 1250, 80)
    rows = np.where(np.arange(1280) < 1250, x, np.float32(1)).reshape(80, 16)
    totals = x[0] + np.cumsum(rows.cumsum(1).max(1))
    expected = np.where(np.arange(1280) < 1250, (rows * totals[:, None] + np.arange(80)[:, None]).ravel(), 0)
    np.testing.assert_array_equal(y, [*expected, totals[-1]])
    definitions = compiled.asm["llir"].split("\ndefine ")
    assert sum("@sums_between_part_" in definition for definition in definitions) >= 3
    assert max(len(re.findall("(?m)^loop|call void @", definition)) for definition in definitions) < 200


@triton.jit
def passes_over_a_row(p, q, n, N: tl.constexpr):
    limit = tl.load(q)
    for i in tl.static_range(N):  # pyright: ignore[reportGeneralTypeIssues, reportAttributeAccessIssue]
        total = 0.0
        least = float("inf")
        for start in range(0, 32768, 1024):
            r = start + tl.arange(0, 1024)
            x = tl.load(p + r, r < n, -float("inf"))
            total += tl.sum(tl.where(x > limit, x, 0), 0)
            least = tl.minimum(least, tl.min(tl.where(x > limit, x * 2, float("inf")), 0))
        limit = least - total * 0.25
        tl.store(q + i, limit)


@pytest.mark.costly
@pytest.mark.parametrize("n", [2, 1000, 5000])
def test_few_loops_that_run_long_are_one_function(n: int) -> None:
    """Each gives the next one its results."""
    x, y = np.arange(n, 0, -1, dtype=np.float32), np.full(5, 0.5, np.float32)
    compiled = passes_over_a_row[(1,)](x, y, n, 5)
    limit, expected = np.float32(0.5), list[np.float32]()
    for _ in range(5):
        above = x[x > limit]
        limit = above.min(initial=np.inf) * 2 - above.sum() * np.float32(0.25) if above.size else np.float32(np.inf)
        expected.append(limit)
    np.testing.assert_allclose(y, np.array(expected, np.float32), rtol=1e-5)
    text = compiled.asm["llir"]
    assert text.count("call { float, float } @passes_over_a_row_loop_0(") == 5
    assert len(re.findall(r"^define internal .*@passes_over_a_row_loop_\d+\(", text, re.MULTILINE)) == 1
