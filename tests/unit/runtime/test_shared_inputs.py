"""What a kernel only reads may lie in one allocation, and the kernel for memory apart still serves; so may pointers
that are the same, which are one argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.source import ASTSource
from tilewright.runtime.compiling import disjoint_first
from tilewright.support import knobs
from tilewright.support.errors import ArgumentValueError, SanitizerError

BLOCK = 64


@triton.jit
def shift(p, q, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(p + i) + 1)
    tl.store(out + BLOCK + i, tl.load(q + i) * 2)


SOURCE = ASTSource(shift, {"p": "*i64", "q": "*i64", "out": "*i64", "BLOCK": "constexpr"}, {"BLOCK": BLOCK})


@pytest.fixture
def declared(tmp_path: Any) -> Any:
    with knobs.scope(cache_dir=str(tmp_path)):
        yield triton.compile(SOURCE)


@pytest.fixture
def declared_apart(tmp_path: Any) -> Any:
    """For memory apart first, as PyTorch's compiler gets its kernels."""
    with knobs.scope(cache_dir=str(tmp_path)):
        token = disjoint_first.set(True)
        try:
            yield triton.compile(SOURCE)
        finally:
            disjoint_first.reset(token)


def _torch(array: Any) -> Any:
    return pytest.importorskip("torch", reason="needs PyTorch").from_numpy(array)


def _owned(array: Any) -> Any:
    return pytest.importorskip("torch", reason="needs PyTorch").tensor(array)


def _run(kernel: Any, make: Callable[[Any], Any], p: int, q: int, out: int | None) -> tuple[Any, Any]:
    """Launch on parts of one buffer, the last part elsewhere for None; what came, and what should have come."""
    numbers = np.arange(1024, dtype=np.int64)
    buffer, apart = make(numbers.copy()), make(numbers.copy())
    target, start = (apart, 0) if out is None else (buffer, out)
    kernel[1,](buffer[p:], buffer[q:], target[start:], BLOCK)
    expected = numbers.copy()
    source = expected if out is not None else numbers
    expected[start : start + BLOCK] = source[p : p + BLOCK] + 1
    expected[start + BLOCK : start + 2 * BLOCK] = source[q : q + BLOCK].copy() * 2
    return np.asarray(target), expected


@pytest.mark.parametrize("make", [np.array, _torch, _owned])
def test_outputs_alone_must_lie_apart(declared: Any, make: Callable[[Any], Any]) -> None:
    for kernel in (declared, triton.jit(shift.fn)):
        for _ in range(4):  # the slow path, the fast path in Python, native code, of both kinds in turns
            for p, q, out in ((0, 32, None), (0, 300, 270), (0, 32, None), (500, 32, 2)):
                found, expected = _run(kernel, make, p, q, out)
                np.testing.assert_array_equal(found, expected)


def test_a_kernel_for_memory_apart_is_compiled_for_other_memory_when_it_comes(declared_apart: Any) -> None:
    relaunch = declared_apart.relaunch
    for round in range(4):
        for p, q, out in ((0, 32, None), (0, 300, 270), (500, 32, 2)):
            found, expected = _run(declared_apart, np.array, p, q, out)
            np.testing.assert_array_equal(found, expected)
            assert relaunch.for_shared.cache_info().currsize == (round > 0 or out is not None)
    assert "noalias" in declared_apart.asm["llir"].split("define")[1].split(")")[0]
    assert "noalias" not in relaunch.for_shared().asm["llir"].split("define")[1].split(")")[0]


def test_inputs_of_one_allocation_get_the_kernel_for_memory_apart(declared: Any) -> None:
    for _ in range(3):
        _run(declared, _owned, 0, 32, None)
        _run(declared, _owned, 0, 32, 40)
    relaunch = declared.relaunch
    ((_, plans),) = relaunch.shortcuts.known.values()
    kernels = {plan.disjoint: plan.kernel for plan in plans.values()}
    assert kernels == {True: relaunch.for_disjoint(), False: declared}
    assert "noalias" in kernels[True].asm["llir"].split("define")[1].split(")")[0]


@pytest.mark.parametrize("pattern", [(0, 100, None), (0, 0, None), (0, 300, 270)])
def test_a_function_is_compiled_once_for_what_is_stored_apart(pattern: tuple[int, int, int | None]) -> None:
    function = triton.jit(shift.fn)
    _run(function, np.array, *pattern)
    (kernel,) = function.cache.values()
    parameters = kernel.asm["llir"].split("define")[1].split(")")[0]
    assert ("noalias" in parameters) == (pattern[2] is None)


@triton.jit
def move(p, q, out, BACK: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    if BACK:
        tl.store(q + i, tl.load(p + i) + 1)
        tl.store(q + BLOCK + i, tl.load(p + i))
    tl.store(out + i, tl.load(p + i) + tl.load(q + i))


@pytest.mark.parametrize("order", [(False, True), (True, False)])
def test_kernels_of_one_function_that_store_through_other_parameters(order: tuple[bool, bool]) -> None:
    function = triton.jit(move.fn)
    for back in (*order * 2, *(order[0],) * 4, *(order[1],) * 4, *order * 3):
        for q, start in ((None, None), (300, None), (8, None), (300, 8)):
            buffer, expected = np.arange(1024, dtype=np.int64), np.arange(1024, dtype=np.int64)
            alone = np.zeros(256, np.int64)
            other, expected_other = (alone, alone.copy()) if q is None else (buffer[q:], expected[q:])
            out = np.zeros(BLOCK, np.int64) if start is None else buffer[start:]
            function[(1,)](buffer, other, out, back, BLOCK)
            if back:
                expected_other[:BLOCK] = expected[:BLOCK] + 1
                expected_other[BLOCK : 2 * BLOCK] = expected[:BLOCK].copy()
            total = expected[:BLOCK] + expected_other[:BLOCK]
            if start is not None:
                expected[start : start + BLOCK] = total
            np.testing.assert_array_equal(buffer, expected)
            np.testing.assert_array_equal(other, expected_other)
            np.testing.assert_array_equal(out[:BLOCK], total)


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(out + offsets, tl.load(x + offsets, mask=mask) + tl.load(y + offsets, mask=mask), mask=mask)


@triton.jit
def reverse(x, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + BLOCK - 1 - i))


PLACES = {"apart": None, "same": 0, "behind": 8, "before": -8}
"""Where the output lies, from the input."""


@pytest.mark.parametrize("make", [np.array, _torch, _owned])
@pytest.mark.parametrize("order", [("apart", "same"), ("same", "apart"), ("same", "behind"), ("before", "same")])
def test_outputs_that_are_inputs(make: Callable[[Any], Any], order: tuple[str, str]) -> None:
    function, turned = triton.jit(add.fn), triton.jit(reverse.fn)
    for where in (order[0], *(order[1],) * 4, *(order[0],) * 4, *order * 3, *PLACES, *PLACES, *PLACES):
        numbers, other = np.arange(256, dtype=np.int64), np.arange(256, dtype=np.int64) * 1000
        buffer, y, apart = make(numbers.copy()), make(other), make(np.zeros(BLOCK, np.int64))
        x, start = buffer[64:], PLACES[where]
        out = apart if start is None else buffer[64 + start :]
        function[(1,)](x, y, out, BLOCK, BLOCK)
        np.testing.assert_array_equal(np.asarray(out)[:BLOCK], numbers[64 : 64 + BLOCK] + other[:BLOCK])
        before = np.asarray(x)[:BLOCK].copy()
        turned[(1,)](x, out, BLOCK)
        np.testing.assert_array_equal(np.asarray(out)[:BLOCK], before[::-1])


@pytest.mark.parametrize("target", ["cpu", "cuda_sim", "reference"])
def test_a_pointer_that_is_passed_twice_is_one_argument(target: str) -> None:
    with knobs.scope(target=target):
        x, y, function = np.arange(100.0), np.full(100, 2.0), triton.jit(add.fn)
        kernel: Any = function[(4,)](x, y, x, 100, BLOCK=32)
        np.testing.assert_array_equal(x, np.arange(100.0) + 2)
        function[(4,)](x, x, x, 100, BLOCK=32)
        np.testing.assert_array_equal(x, np.arange(100.0) * 2 + 4)
        out = np.zeros(100)
        kernel[(4,)](x, y, out, 100, 32)  # not what it was compiled for
        np.testing.assert_array_equal(out, np.arange(100.0) * 2 + 6)
        kernel[(4,)](x, y, x, 100, 32)
        np.testing.assert_array_equal(x, out)
        kernel[(4,)](x, x, x, 100, 32)
        np.testing.assert_array_equal(x, out * 2)
    if target == "cpu":
        assert kernel.asm["ttir"].count("%x") == 1 and kernel.parameters.written == {2}


def test_reports_name_the_argument_of_an_access() -> None:
    x = np.zeros(100)
    with knobs.scope(sanitize=("bounds",)), pytest.raises(SanitizerError, match="of argument 'x'"):
        triton.jit(add.fn)[(4,)](x, x, x, 101, BLOCK=32)


def test_one_of_two_equal_arrays_may_be_read_only() -> None:
    function, whole = triton.jit(add.fn), np.arange(100.0)
    for locked in (False, True, False, True, True):
        x = whole[:]
        x.flags.writeable = not locked
        expected = whole * 2
        function[(4,)](x, x, whole, 100, BLOCK=32)
        np.testing.assert_array_equal(whole, expected)
        if locked:
            with pytest.raises(ArgumentValueError, match="read-only"):
                function[(4,)](whole, whole, x, 100, BLOCK=32)
