"""What a kernel only reads may lie in one allocation, and the kernel for memory apart still serves."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compiler.source import ASTSource
from tilewright.support import knobs

BLOCK = 64


@triton.jit
def shift(p, q, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(p + i) + 1)
    tl.store(out + BLOCK + i, tl.load(q + i) * 2)


@pytest.fixture
def declared(tmp_path: Any) -> Any:
    signature = {"p": "*i64", "q": "*i64", "out": "*i64", "BLOCK": "constexpr"}
    with knobs.scope(cache_dir=str(tmp_path)):
        yield triton.compile(ASTSource(shift, signature, {"BLOCK": BLOCK}))


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
    for _ in range(4):  # the slow path, the fast path in Python, native code, of both kinds in turns
        for p, q, out in ((0, 32, None), (0, 300, 270), (0, 32, None), (500, 32, 2)):
            found, expected = _run(declared, make, p, q, out)
            np.testing.assert_array_equal(found, expected)


def test_inputs_of_one_allocation_get_the_kernel_for_memory_apart(declared: Any) -> None:
    for _ in range(3):
        _run(declared, _owned, 0, 32, None)
        _run(declared, _owned, 0, 32, 40)
    relaunch = declared.relaunch
    ((_, plans),) = relaunch.shortcuts.known.values()
    kernels = {plan.disjoint: plan.kernel for plan in plans.values()}
    assert kernels == {True: relaunch.for_disjoint(), False: declared}
    assert "noalias" in kernels[True].asm["llir"].split("define")[1].split(")")[0]
