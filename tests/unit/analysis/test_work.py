"""Operations and bytes of kernels: counted by hand beside `analysis.work`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright
import tilewright.language as tl
from tilewright.analysis.work import Work, count_work
from tilewright.compiler.options import CompileOptions
from tilewright.compiler.stages import lower
from tilewright.targets.base import find_target
from tilewright.tools.aot.signature import read_signature
from tilewright.tools.aot.variants import source_of
from tilewright.tools.explore.recording import record
from tilewright.tools.validation.launches import record_launch


@tilewright.jit
def twice(x):
    return x + x


@tilewright.jit
def scaled(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, twice(tl.exp(x)) * 3, mask=offsets < n)


@tilewright.jit
def matmul(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    rows, depth = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(tl.cdiv(K, BLOCK)):
        a = tl.load(a_ptr + rows[:, None] * K + start * BLOCK + depth[None, :])
        b = tl.load(b_ptr + (start * BLOCK + depth)[:, None] * BLOCK + rows[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + rows[:, None] * BLOCK + rows[None, :], total)


@tilewright.jit
def triangle(x_ptr, out_ptr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    for block in range(tl.program_id(0)):
        total += tl.load(x_ptr + block * BLOCK + tl.arange(0, BLOCK))
    tl.store(out_ptr, tl.sum(total, 0))


@tilewright.jit
def branching(x_ptr, n, BLOCK: tl.constexpr):
    if n > 4:
        tl.store(x_ptr + tl.arange(0, BLOCK), tl.zeros((BLOCK,), tl.float32))
    while n > 0:
        tl.atomic_add(x_ptr, 1.0)
        n -= 1


def work_of(kernel: Any, signature: str, grid: tuple[int, int, int] = (1, 1, 1), **scalars: int) -> Work:
    source = source_of(kernel, read_signature(signature, kernel))
    for stage, module in lower(source, CompileOptions(), find_target("cpu")):
        if stage == "ttir":
            found = count_work(module, grid, {name: np.int32(value) for name, value in scalars.items()})
            assert found is not None
            return found
    raise AssertionError


def test_elementwise_work_of_a_grid() -> None:
    assert work_of(scaled, "*fp32, *fp32, i32, 64", (10, 1, 1)) == Work(10 * 64 * 3, 0, 10 * 256, 10 * 256)


@pytest.mark.parametrize(("depth", "rounds", "unknown"), [({"K": 64}, 4, 0), ({"K": 65}, 5, 0), ({}, 1, 1)])
def test_loops_run_as_often_as_their_bounds_say(depth: dict[str, int], rounds: int, unknown: int) -> None:
    work = work_of(matmul, "*fp16, *fp16, *fp32, i32, 16", **depth)
    assert work == Work(rounds * 2 * 16**3, rounds * 2 * 16**3, rounds * 2 * 16 * 16 * 2, 16 * 16 * 4, unknown)


def test_loops_that_depend_on_the_program() -> None:
    """Program p loads p blocks: 0 + 1 + ... + 26, of which every one is looked at."""
    work = work_of(triangle, "*fp32, *fp32, 8", (27, 1, 1))
    assert work.loaded == 26 * 27 / 2 * 8 * 4 and work.stored == 27 * 4 and not work.unknown_loops
    assert work.flops == 26 * 27 / 2 * 8 + 27 * 8


def test_branches_and_loops_of_unknown_length() -> None:
    assert work_of(branching, "*fp32, i32, 8", n=3) == Work(0, 0, 4, 4, 1), "the branch is not taken"
    assert work_of(branching, "*fp32, i32, 8", n=5) == Work(0, 0, 4, 4 + 32, 1)
    assert work_of(branching, "*fp32, i32, 8") == Work(0, 0, 4, 4 + 32, 2)


def test_a_recorded_launch_says_its_scalars() -> None:
    a, b, c = np.ones((16, 48), np.float16), np.ones((48, 16), np.float16), np.zeros((16, 16), np.float32)
    launch = record_launch(matmul, (2,), (a, b, c, 48, 16), {})
    work = record(launch.source, launch.options, find_target("cpu"), launch).work
    assert work is not None and work.flops == 2 * 3 * 2 * 16**3 and not work.unknown_loops
