"""Programs of several CTAs (`num_ctas`): each computes its part, and gets what it needs of the others' parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import gpu_engines
import numpy as np
import pytest
from device_memory import REAL

import tilewright as triton
import tilewright.language as tl
from tilewright.reference.simt import SimulationError
from tilewright.support import knobs
from tilewright.targets.cuda.simulated import SimulatedKernel

pytestmark = pytest.mark.usefixtures("on_hopper")


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    y = tl.load(y_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.load(x_ptr + i, mask=i < n) + y * tl.num_programs(0) + tl.program_id(1), mask=i < n)


@triton.jit
def sum_columns(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + (j if AXIS == 0 else i), tl.sum(x, AXIS))


@triton.jit
def count(x_ptr, N: tl.constexpr):
    tl.atomic_add(x_ptr + tl.arange(0, N), 1.0)


@triton.jit
def count_once(x_ptr, y_ptr, N: tl.constexpr):
    before = tl.atomic_add(x_ptr, 1)
    tl.store(y_ptr + tl.program_id(0) * N + tl.arange(0, N), before)


@triton.jit
def extremes(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, tl.sum(x, 0))
    tl.store(out_ptr + 1, tl.max(x, 0))


@triton.jit
def running(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.cumsum(tl.load(x_ptr + i), 0))


@triton.jit
def ordered(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@triton.jit
def counts(x_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(tl.load(x_ptr + tl.arange(0, N)), BINS))


@triton.jit
def picked(x_ptr, index_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.gather(tl.load(x_ptr + i), tl.load(index_ptr + i), 0))


@triton.jit
def turned(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    i, j = tl.arange(0, M), tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(out_ptr + j[:, None] * M + i[None, :], tl.trans(x))


@triton.jit
def product(a_ptr, b_ptr, out_ptr, K, N: tl.constexpr, BLOCK: tl.constexpr):
    i, k = tl.arange(0, N), tl.arange(0, BLOCK)
    total = tl.zeros((N, N), tl.float32)
    for start in range(0, K, BLOCK):
        a = tl.load(a_ptr + i[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + i[None, :])
        total = tl.dot(a, b, total)
    tl.store(out_ptr + i[:, None] * N + i[None, :], total)


@triton.jit
def normalised(x_ptr, out_ptr, rows, N: tl.constexpr):
    """A loop that asks for stages, which programs of several CTAs do not have."""
    i = tl.arange(0, N)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=3):
        x = tl.load(x_ptr + row * N + i)
        tl.store(out_ptr + row * N + i, x - tl.max(x, 0))


@triton.jit
def halved(x_ptr, out_ptr, N: tl.constexpr):
    """Descriptors of a program of several CTAs are pointers."""
    x = tl.make_tensor_descriptor(x_ptr, [N, N], [N, 1], [N, N])
    out = tl.make_tensor_descriptor(out_ptr, [N, N], [N, 1], [N, N])
    out.store([0, 0], x.load([0, 0]) * 0.5)


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_parts_of_programs(num_ctas: int) -> None:
    x, y = (np.random.default_rng(seed).integers(-99, 99, 5000).astype(np.float32) for seed in range(2))
    out = np.zeros_like(x)
    kernel: Any = add[(5,)](x, y, out, x.size, N=1024, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x + y * 5)
    assert f".reqnctapercluster {num_ctas}" in kernel.asm["ptx"]


def test_reductions_within_a_part() -> None:
    """The first dimension is split between the CTAs: sums of rows stay in one."""
    x, out = np.arange(64 * 32, dtype=np.float32).reshape(64, 32), np.zeros(64, np.float32)
    sum_columns[(1,)](x, out, M=64, N=32, AXIS=1, num_ctas=2)
    np.testing.assert_array_equal(out, x.sum(1))


def test_atomics_on_parts() -> None:
    x = np.zeros(512, np.float32)
    count[(3,)](x, N=512, num_ctas=2)
    np.testing.assert_array_equal(x, 3)


def integers(shape: Any, dtype: Any = np.int32, *, low: int = -99, high: int = 99) -> Any:
    return np.random.default_rng(7).integers(low, high, shape).astype(dtype)


NUM_CTAS = pytest.mark.parametrize("num_ctas", [2, 4])


@NUM_CTAS
def test_reductions_across_ctas(num_ctas: int) -> None:
    x, out = integers((64, 32), np.float32), np.zeros(32, np.float32)
    sum_columns[(1,)](x, out, M=64, N=32, AXIS=0, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x.sum(0))
    y, both = integers(1024), np.zeros(2, np.int32)
    extremes[(1,)](y, both, N=1024, num_ctas=num_ctas)
    assert both.tolist() == [y.sum(), y.max()]


@NUM_CTAS
def test_scans_and_sorts_across_ctas(num_ctas: int) -> None:
    x, out = integers(512), np.zeros(512, np.int32)
    running[(1,)](x, out, N=512, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, x.cumsum())
    ordered[(1,)](x, out, N=512, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, np.sort(x))


@NUM_CTAS
def test_histograms_and_gathers_across_ctas(num_ctas: int) -> None:
    x, out = integers(512, low=0, high=64), np.zeros(64, np.int32)
    counts[(1,)](x, out, N=512, BINS=64, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, np.bincount(x, minlength=64))
    index, chosen = integers(512, low=0, high=512), np.zeros(512, np.int32)
    picked[(1,)](x, index, chosen, N=512, num_ctas=num_ctas)
    np.testing.assert_array_equal(chosen, x[index])


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float32, np.float64, np.bool_])
def test_conversions_across_ctas(dtype: Any) -> None:
    x = integers((64, 32), dtype)
    out = np.zeros((32, 64), dtype)
    kernel: Any = turned[(1,)](x, out, M=64, N=32, num_ctas=2)
    np.testing.assert_array_equal(out, x.T)
    assert "mapa.shared::cluster" in kernel.asm["ptx"]


@NUM_CTAS
def test_products_across_ctas(num_ctas: int) -> None:
    a, b = integers((32, 64), np.float16, low=-3, high=3), integers((64, 32), np.float16, low=-3, high=3)
    out = np.zeros((32, 32), np.float32)
    product[(1,)](a, b, out, 64, N=32, BLOCK=32, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, a.astype(np.float32) @ b.astype(np.float32))


def test_what_is_done_once() -> None:
    x, out = np.zeros(1, np.int32), np.zeros((5, 256), np.int32)
    count_once[(5,)](x, out, N=256, num_ctas=2)
    assert x[0] == 5 and sorted(out[:, 0].tolist()) == list(range(5))
    np.testing.assert_array_equal(out, np.broadcast_to(out[:, :1], out.shape))


def test_loops_with_stages() -> None:
    x, out = integers((5, 256), np.float32), np.zeros((5, 256), np.float32)
    normalised[(2,)](x, out, 5, N=256, num_ctas=2)
    np.testing.assert_array_equal(out, x - x.max(1, keepdims=True))


def test_descriptors_of_several_ctas() -> None:
    x, out = integers((64, 64), np.float32), np.zeros((64, 64), np.float32)
    halved[(1,)](x, out, N=64, num_ctas=2)
    np.testing.assert_array_equal(out, x / 2)


def without_each_meeting(ptx: str) -> list[str]:
    """The PTX without one of the places where all CTAs meet, for each of them."""
    lines = ptx.splitlines()
    arrivals = [number for number, line in enumerate(lines) if "barrier.cluster.arrive" in line]
    waits = [number for number, line in enumerate(lines) if "barrier.cluster.wait" in line]
    return [
        "\n".join(line for number, line in enumerate(lines) if number not in pair)
        for pair in zip(arrivals, waits, strict=True)
    ]


@pytest.mark.parametrize(
    ("kernel", "arrays", "meta", "meetings"),
    [
        (turned, ((64, 32), (32, 64)), {"M": 64, "N": 32}, 2),
        (sum_columns, ((64, 32), (32,)), {"M": 64, "N": 32, "AXIS": 0}, 2),
        (running, ((256,), (256,)), {"N": 256}, 2),
        (count_once, ((1,), (256,)), {"N": 256}, 3),
    ],
)
def test_each_meeting_is_needed(kernel: Any, arrays: Any, meta: dict[str, int], meetings: int) -> None:
    """The simulated GPU notices each barrier of the cluster that is left out; one that only publishes what a kernel
    wrote before is not needed in a kernel that wrote nothing."""
    if knobs.get("target") == REAL:
        pytest.skip("a GPU notices nothing")
    given = [np.ones(shape, np.int32) for shape in arrays]
    compiled = kernel[(1,)](*given, **meta, num_ctas=2)
    changed = without_each_meeting(compiled.native.ptx)
    assert len(changed) == meetings
    missed = 0
    for ptx in changed:
        fresh = [np.ones(shape, np.int32) for shape in arrays]
        extents = {slot: gpu_engines.extent(array) for slot, array in enumerate(fresh)}
        try:
            SimulatedKernel(replace(compiled.native.facts), ptx).launch_within(
                [array.ctypes.data for array in fresh], extents, (1, 1, 1)
            )
        except SimulationError:
            continue
        missed += 1
    assert missed == (kernel is count_once)


def test_older_gpus_have_no_clusters() -> None:
    if knobs.get("target") == REAL:
        pytest.skip("this GPU has clusters")
    x = np.zeros(512, np.float32)
    with pytest.raises(ValueError, match=r"num_ctas=2 needs clusters, .* from compute capability 9\.0"):
        count[(1,)](x, N=512, num_ctas=2, arch="sm80")
