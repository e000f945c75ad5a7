"""The simulated GPU notices every barrier, wait and fence that a kernel lacks.

Each kernel of the corpus is compiled once; then one instruction after the other is taken out of its PTX, and every one of
the changed kernels must be refused. Which kernel has which reason for its barriers is said beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import corpus_inputs
import corpus_oracle as oracle
import gpu_engines
import numpy as np
import pytest
from engines import flat, fresh, slot_of

import tilewright as triton
import tilewright.language as tl
from suite.missing_instructions import without_each
from tilewright.compiler.compilation import build_entry
from tilewright.compiler.options import CompileOptions
from tilewright.reference.simt import DeadlockError, SimulationError
from tilewright.reference.simt.errors import RaceError
from tilewright.support import knobs
from tilewright.targets.base import find_target
from tilewright.targets.capabilities import configured
from tilewright.targets.cuda.simulated import SimulatedKernel

BARRIER = "bar.sync"


@dataclass(frozen=True)
class Needed:
    """Instructions of a kernel without which it races."""

    case: str
    why: str
    instruction: str = BARRIER
    arch: str = "sm90"
    size: int = corpus_inputs.SIZE
    programs: int | None = None
    """Of a kernel whose programs write the same elements, as all of its strides are one number."""
    spared: int = 0
    """How many may be missed: another one beside them orders the same."""

    def __str__(self) -> str:
        return f"{self.case}-{self.instruction}-{self.arch}"


ALL = [
    Needed("reductions:sums:0", "partial sums of warps meet in shared memory, whose scratch is used again"),
    Needed("reductions:running:22", "a scan hands the totals of warps on"),
    Needed("shapes:transposes:2", "layouts are converted through shared memory"),
    Needed("shapes:histograms:7", "counters are cleared, counted up by atomics, read"),
    Needed("shapes:gathers:6", "a gather reads what others hold"),
    Needed("shapes:joining:3", "parts that are joined trade places"),
    Needed("memory:atomics:11", "a scalar's old value reaches all threads; two of the barriers publish", spared=2),
    Needed("basics:layer_norm:7", "sums in loops: scratch is written again in the next round", size=2048),
    Needed("functions:products:21", "operands of wgmma come from shared memory", arch="sm90"),
    Needed("functions:products:24", "operands of mma come from shared memory", arch="sm80"),
    Needed("basics:matmul:5", "buffers of a loop are filled again", arch="sm80", size=96, programs=1),
    Needed("basics:fused_softmax:3", "rows are copied ahead of their use", arch="sm80"),
    Needed(
        "basics:fused_softmax:3",
        "copies have to arrive before they are read; after the loop nobody reads",
        "cp.async.wait_group",
        arch="sm80",
        spared=1,
    ),
    Needed(
        "basics:attention:9",
        "keys and values take turns in one buffer; the sums' layout is converted where the queries lie, which is written"
        " before loops that may not run, and behind one that runs no barrier is missed",
        arch="sm80",
        programs=2,
        spared=1,
    ),
    Needed(
        "basics:attention:10",
        "the same; its loop always runs",
        arch="sm80",
        programs=1,
        spared=1,
    ),
    Needed("tutorials:matmul_descriptors:2", "boxes: barriers are made, rings filled again, results stored", size=200),
    Needed("tutorials:matmul_descriptors:2", "products read boxes that are replaced", "wgmma.wait_group", size=200),
    Needed("tutorials:matmul_descriptors:2", "products start from what registers hold", "wgmma.fence", size=200),
    Needed("tutorials:matmul_descriptors:2", "a box that is stored is written by threads", "fence.proxy.async"),
    Needed("tutorials:matmul_descriptors:2", "a store reads until it was waited for", "cp.async.bulk.wait_group"),
    Needed("tutorials:matmul_descriptors:2", "a box has to arrive", "mbarrier.try_wait", size=200),
]


def built(case: oracle.Case, arch: str) -> SimulatedKernel:
    options = CompileOptions(arch=arch)
    target: Any = configured(find_target(gpu_engines.SIMULATED), options)
    entry = build_entry(corpus_inputs.inputs_of(case).source, options, target)
    return target.load(entry.sections["obj"], entry.metadata)


def run(kernel: SimulatedKernel, inputs: corpus_inputs.Inputs) -> None:
    values = flat(fresh(inputs.arguments))
    extents = {slot: gpu_engines.extent(value) for slot, value in enumerate(values) if isinstance(value, np.ndarray)}
    kernel.launch_within([slot_of(value) for value in values], extents, [*inputs.grid, 1, 1][:3])


COSTLY = "basics:attention"
"""Kernels with so many barriers that it takes seconds to leave out each."""


@pytest.mark.parametrize(
    "needed",
    [pytest.param(each, marks=pytest.mark.costly if each.case.startswith(COSTLY) else ()) for each in ALL],
    ids=str,
)
def test_each_missing_one_is_found(needed: Needed) -> None:
    [case] = [case for case in corpus_inputs.runnable_cases() if str(case) == needed.case]
    kernel = built(case, needed.arch)
    inputs = corpus_inputs.inputs_of(case, needed.size)
    if needed.programs is not None:
        inputs = replace(inputs, grid=(needed.programs,))
    run(kernel, inputs)
    changed = without_each(kernel, needed.instruction)
    assert changed, f"{needed.why}: the kernel has no {needed.instruction}"
    missed: list[str] = []
    for which, spoilt in changed:
        try:
            run(spoilt, inputs)
        except (RaceError, DeadlockError):
            continue
        missed.append(which)
    assert len(missed) <= needed.spared, f"{needed.why}, but nobody misses " + "; ".join(missed)
    assert len(missed) < len(changed)


@triton.jit(noinline=True)
def sum_of(x_ptr, N: tl.constexpr):
    return tl.sum(tl.load(x_ptr + tl.arange(0, N)), 0)


@triton.jit
def sums_by_calls(x_ptr, out_ptr, N: tl.constexpr):
    """The caller and the function that it calls have scratch memory for their sums, each at a place of its own."""
    i = tl.arange(0, N)
    total = sum_of(x_ptr, N)
    largest = tl.max(tl.load(x_ptr + i), 0)
    tl.store(out_ptr + i, sum_of(x_ptr, N) * largest + total)


@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_calls_of_functions_that_use_shared_memory(arch: str) -> None:
    x, out = np.arange(256, dtype=np.float32), np.zeros(256, np.float32)
    with knobs.scope(target=gpu_engines.SIMULATED):
        compiled: Any = sums_by_calls[(1,)](x, out, N=256, arch=arch)
    np.testing.assert_array_equal(out, x.sum() * 255 + x.sum())
    assert check_each_is_missed(compiled.native, BARRIER, [x, out]) >= 4


def check_each_is_missed(kernel: SimulatedKernel, instruction: str, arrays: list[Any]) -> int:
    """Run a kernel of one program without each of some instructions; all runs must fail. Returns how many there are."""
    changed = without_each(kernel, instruction)
    arguments = fresh(arrays)
    for _, spoilt in changed:
        extents = {slot: gpu_engines.extent(a) for slot, a in enumerate(arguments) if isinstance(a, np.ndarray)}
        with pytest.raises(SimulationError):
            spoilt.launch_within([slot_of(argument) for argument in arguments], extents, (1, 1, 1))
    return len(changed)


@triton.jit
def product_in_a_loop(a_ptr, b_ptr, out_ptr, K, B: tl.constexpr):
    i = tl.arange(0, B)
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        a = tl.load(a_ptr + i[:, None] * K + (i + k)[None, :])
        acc = tl.dot(a, tl.load(b_ptr + (i + k)[:, None] * B + i[None, :]), acc)
    tl.store(out_ptr + i[:, None] * B + i[None, :], acc)


def test_sums_of_wgmma_are_waited_for_and_begin_after_a_fence() -> None:
    a, b = np.ones((64, 192), np.float16), np.ones((192, 64), np.float16)
    out = np.zeros((64, 64), np.float32)
    with knobs.scope(target=gpu_engines.SIMULATED):
        compiled: Any = product_in_a_loop[(1,)](a, b, out, 192, B=64, arch="sm90")
    assert (out == 192).all()
    for instruction, count in (("wgmma.fence", 1), ("wgmma.wait_group", 2)):
        assert check_each_is_missed(compiled.native, instruction, [a, b, out, 192]) == count
