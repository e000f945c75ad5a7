"""Products of matrices whose loop works on two iterations at a time, on the simulated H100: the results, every wait and
arrival that the loop needs, and what ptxas makes of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import gpu_engines
import numpy as np
import pytest
from engines import fresh, slot_of

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from suite.missing_instructions import without_each
from tilewright.codegen.nvptx.facts import nvptx_facts
from tilewright.codegen.nvptx.ptxas import assemble, find_ptxas
from tilewright.reference.simt import SimulationError
from tilewright.support import knobs
from tilewright.targets.cuda.simulated import SimulatedKernel


@pytest.fixture(autouse=True)
def overlapping(a_gpu: str) -> Iterator[None]:
    """Hopper, simulated where the real one was not named."""
    with knobs.scope(override_arch="sm90", overlap_products="always", specialize_warps="never"):
        yield


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, keys,
    HEAD: tl.constexpr, M: tl.constexpr, N: tl.constexpr, MASKED: tl.constexpr,
):  # fmt: skip
    rows, dims, columns = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, HEAD), tl.arange(0, N)
    q = tl.load(q_ptr + rows[:, None] * HEAD + dims[None, :])
    k_ptrs = k_ptr + columns[None, :] * HEAD + dims[:, None]
    v_ptrs = v_ptr + columns[:, None] * HEAD + dims[None, :]
    row_max = tl.full([M], -1.0e30, tl.float32)
    row_sum = tl.zeros([M], tl.float32)
    acc = tl.zeros([M, HEAD], tl.float32)
    for start in range(0, keys, N):
        k = tl.load(k_ptrs + start * HEAD)
        scores = tl.dot(q, k)
        if MASKED:
            scores = tl.where(rows[:, None] >= (start + columns)[None, :], scores, -1.0e30)
        new_max = tl.maximum(row_max, tl.max(scores, 1))
        p = tl.math.exp2(scores - new_max[:, None])
        alpha = tl.math.exp2(row_max - new_max)
        row_sum = row_sum * alpha + tl.sum(p, 1)
        v = tl.load(v_ptrs + start * HEAD)
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        row_max = new_max
    tl.store(out_ptr + rows[:, None] * HEAD + dims[None, :], (acc / row_sum[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def summed_powers(a_ptr, b_ptr, c_ptr, out_ptr, K, B: tl.constexpr):
    """The later product adds up what the first one made, and nothing is scaled."""
    i = tl.arange(0, B)
    a = tl.load(a_ptr + i[:, None] * B + i[None, :])
    acc = tl.zeros((B, B), tl.float32)
    for k in range(0, K, B):
        b = tl.load(b_ptr + (k + i)[:, None] * B + i[None, :])
        c = tl.load(c_ptr + (k + i)[:, None] * B + i[None, :])
        acc = tl.dot(tl.dot(a, b).to(tl.float16), c, acc)
    tl.store(out_ptr + i[:, None] * B + i[None, :], acc)


@triton.jit
def chained_sums(a_ptr, b_ptr, out_ptr, steps, B: tl.constexpr):
    """The first product of an iteration reads the last one's result of the iteration before."""
    i = tl.arange(0, B)
    acc = tl.load(a_ptr + i[:, None] * B + i[None, :])
    for step in range(0, steps):
        b = tl.load(b_ptr + (step * B + i)[:, None] * B + i[None, :])
        acc = tl.dot(tl.dot(acc, b).to(tl.float16), b).to(tl.float16)
    tl.store(out_ptr + i[:, None] * B + i[None, :], acc)


def expected_attention(q: Array, k: Array, v: Array, masked: bool) -> Array:
    scores = (q.astype(np.float64) @ k.astype(np.float64).T) * np.log(2)
    if masked:
        scores = np.where(np.tri(*scores.shape, dtype=np.bool_), scores, -np.inf)
    p = np.exp(scores - scores.max(1, keepdims=True))
    return p / p.sum(1, keepdims=True) @ v.astype(np.float64)


def matrices(*shapes: tuple[int, int], scale: float = 1.0) -> list[Array]:
    random = np.random.default_rng(0)
    return [(random.standard_normal(shape) * scale).astype(np.float16) for shape in shapes]


SPARED = {"wgmma.wait_group": 1, "mbarrier.try_wait": 6, "cp.async.mbarrier.arrive": 0, "mbarrier.arrive": 0}
"""Instructions of the loop, and how many may be missing: after the loop nothing of it is under way, where one waits once
more for products and five times for copies; and copies arrive on the simulated GPU only when they are waited for, which
orders all that happened until then, so that the wait for the warps behind is not missed.
"""


def is_refused(kernel: SimulatedKernel, arguments: list[Any], grid: int = 1) -> bool:
    """Whether the simulator finds that some programs of a kernel race or wait forever."""
    values = fresh(arguments)
    extents = {slot: gpu_engines.extent(value) for slot, value in enumerate(values) if isinstance(value, np.ndarray)}
    try:
        kernel.launch_within([slot_of(value) for value in values], extents, (grid, 1, 1))
    except SimulationError:
        return True
    return False


def error(found: Array, expected: Array) -> float:
    return float(np.linalg.norm(found.astype(np.float64) - expected) / np.linalg.norm(expected))


def check_meetings(ttgir: str) -> None:
    """Copies wait until all warps are done with the round before, which these say at its end, and arrive at mbarriers."""
    loop = re.search(r"ttng.arrive_barrier (%\w+), 1 \{perWarp\}[^\n]*\n[^\n]*scf.for(.*?)\n    \}", ttgir, re.DOTALL)
    assert loop is not None
    done, body = loop.groups()
    wait, copy, arrival = (
        body.index(text) for text in (f"wait_barrier {done},", "async_copy_global", "mbarrier_arrive")
    )
    assert wait < copy < arrival < body.index(f"arrive_barrier {done}, 1 {{perWarp}}")
    assert body.index("pendings = 1") < body.index("pendings = 0")
    assert "async_wait" not in body


@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize(("keys", "num_stages"), [(32, 3), (64, 3), (128, 2), (192, 4), (256, 3)])
def test_attention(keys: int, num_stages: int, masked: bool) -> None:
    q, k, v = matrices((128, 64), (keys, 64), (keys, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    compiled: Any = attention[(1,)](
        q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=masked, num_warps=8, num_stages=num_stages
    )
    check_meetings(compiled.asm["ttgir"])
    assert error(out, expected_attention(q, k, v, masked)) < 1e-3


def test_products_without_arithmetic_between() -> None:
    a, b, c = matrices((64, 64), (256, 64), (256, 64), scale=0.25)
    out = np.zeros((64, 64), np.float32)
    summed_powers[(1,)](a, b, c, out, 256, B=64, num_warps=8)
    expected = np.zeros((64, 64))
    for k in range(0, 256, 64):
        power = (a.astype(np.float32) @ b[k : k + 64].astype(np.float32)).astype(np.float16)
        expected += power.astype(np.float64) @ c[k : k + 64].astype(np.float64)
    assert error(out, expected) < 1e-3


def test_a_chain_over_iterations_does_not_overlap() -> None:
    a, b = matrices((64, 64), (128, 64), scale=0.1)
    out = np.zeros_like(a)
    compiled: Any = chained_sums[(1,)](a, b, out, 2, B=64, num_warps=8)
    assert "ttg.meet_at_mbarriers" not in compiled.asm["ttgir"]


@pytest.mark.costly
def test_each_wait_and_arrival_is_needed(a_gpu: str) -> None:
    if a_gpu == "cuda":
        pytest.skip("what is taken out is found by the simulated GPU")
    keys = 256
    q, k, v = matrices((128, 64), (keys, 64), (keys, 64), scale=0.5)
    out = np.full_like(q, np.nan)
    compiled: Any = attention[(1,)](q, k, v, out, keys, HEAD=64, M=128, N=32, MASKED=False, num_warps=8)
    arguments = [q, k, v, out, keys]
    for instruction, spared in SPARED.items():
        changed = without_each(compiled.native, instruction)
        missed = [which for which, kernel in changed if not is_refused(kernel, arguments)]
        assert len(missed) <= spared < len(changed), missed


@pytest.mark.skipif(find_ptxas() is None, reason="there is no ptxas")
@pytest.mark.parametrize("masked", [False, True])
def test_ptxas_neither_spills_nor_serialises(masked: bool) -> None:
    """At the size that is fastest on an H200, where the model decides for it."""
    with knobs.scope(overlap_products="auto"):
        q, k, v = matrices((128, 128), (128, 128), (128, 128), scale=0.5)
        out = np.full_like(q, np.nan)
        compiled: Any = attention[(1,)](q, k, v, out, 128, HEAD=128, M=128, N=128, MASKED=masked, num_warps=8)
    assert error(out, expected_attention(q, k, v, masked)) < 1e-3
    assembled = assemble(compiled.asm["ptx"], nvptx_facts(90))
    assert assembled.spill_bytes == 0
    assert not re.search("serialized|wait is injected", assembled.log), assembled.log
    loop = re.search(r"\n(\$L__BB\d+_\d+):(.*)bra\s+\1;", compiled.asm["ptx"], re.DOTALL)
    assert loop is not None
    assert "bar.sync" not in loop[2]
