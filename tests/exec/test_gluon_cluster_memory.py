"""Gluon kernels that read and write buffers of which the CTAs of a cluster have parts, others' parts too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import gluon
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import cluster, mbarrier
from tilewright.support.errors import PassError

pytestmark = pytest.mark.usefixtures("on_hopper")

Bases = list[list[int]]


@gluon.jit
def through_a_buffer(x, out, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, target: gl.constexpr):
    buffer = gl.allocate_shared_memory(x.dtype.element_ty, [N], shared)
    for k in range(2):
        buffer.store(gl.load(x + k * N + gl.arange(0, N, source)))
        gl.store(out + k * N + gl.arange(0, N, target), buffer.load(target))


@gluon.jit
def gathered(x, index, out, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, target: gl.constexpr):
    buffer = gl.allocate_shared_memory(x.dtype.element_ty, [N], shared)
    i = gl.arange(0, N, target)
    for k in range(2):
        buffer.store(gl.load(x + k * N + gl.arange(0, N, source)))
        gl.store(out + k * N + i, buffer.gather(gl.load(index + i), 0))


@gluon.jit
def scattered(x, index, out, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, target: gl.constexpr):
    buffer = gl.allocate_shared_memory(x.dtype.element_ty, [N], shared)
    i = gl.arange(0, N, source)
    for k in range(2):
        buffer.scatter(gl.load(x + k * N + i), gl.load(index + i), 0)
        gl.store(out + k * N + gl.arange(0, N, target), buffer.load(target))


def line(cga: Bases, size: int = 4) -> gl.BlockedLayout:
    return gl.BlockedLayout([size], [32], [4], [0], cga_layout=cga)


def part(cga: Bases) -> gl.SwizzledSharedLayout:
    return gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=cga)


PLACES = [
    ([[0]], [[1]], [[0]]),
    ([[1]], [[0]], [[0]]),
    ([[1], [2]], [[2], [1]], [[1], [2]]),
    ([[2], [1]], [[0], [1]], [[1], [2]]),
    ([[0], [1]], [[1], [0]], [[0], [1]]),
]
"""Which part the CTAs have of what is stored, of the buffer, and of what is loaded."""
DTYPES = [np.int8, np.float16, np.int32, np.float64]


@pytest.mark.pairwise
@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("places", PLACES, ids=str)
def test_stores_and_loads(places: tuple[Bases, Bases, Bases], dtype: Any, size: int) -> None:
    x, out = np.arange(2048).astype(dtype), np.zeros(2048, dtype)
    source, shared, target = places
    kernel: Any = through_a_buffer[(1,)](
        x, out, 1024, line(source, size), part(shared), line(target, size), num_ctas=2 ** len(shared)
    )
    np.testing.assert_array_equal(out, x)
    assert "shared::cluster" in kernel.asm["ptx"]


@pytest.mark.pairwise
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("places", PLACES, ids=str)
@pytest.mark.parametrize("kernel", [gathered, scattered], ids=["gather", "scatter"])
def test_gathers_and_scatters(kernel: Any, places: tuple[Bases, Bases, Bases], dtype: Any) -> None:
    x, index = np.arange(2048).astype(dtype), np.random.default_rng(1).permutation(1024).astype(np.int32)
    out, expected = np.zeros(2048, dtype), np.zeros((2, 1024), dtype)
    if kernel is gathered:
        expected[:] = x.reshape(2, 1024)[:, index]
    else:
        expected[:, index] = x.reshape(2, 1024)
    source, shared, target = places
    kernel[(1,)](x, index, out, 1024, line(source), part(shared), line(target), num_ctas=2 ** len(shared))
    np.testing.assert_array_equal(out.reshape(2, 1024), expected)


@gluon.jit
def turned(x, out, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, target: gl.constexpr):
    """A matrix whose rows the CTAs share out, transposed in a buffer."""
    i, j = gl.arange(0, N, gl.SliceLayout(1, source)), gl.arange(0, N, gl.SliceLayout(0, source))
    buffer = gl.allocate_shared_memory(x.dtype.element_ty, [N, N], shared, gl.load(x + i[:, None] * N + j[None, :]))
    i, j = gl.arange(0, N, gl.SliceLayout(1, target)), gl.arange(0, N, gl.SliceLayout(0, target))
    gl.store(out + i[:, None] * N + j[None, :], buffer.permute((1, 0)).load(target))


def test_transposes() -> None:
    x, out = np.arange(64 * 64, dtype=np.float32).reshape(64, 64), np.zeros((64, 64), np.float32)
    rows = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=[[1, 0]])
    turned[(1,)](x, out, 64, rows, gl.SwizzledSharedLayout(1, 1, 1, [1, 0], cga_layout=[[1, 0]]), rows, num_ctas=2)
    np.testing.assert_array_equal(out, x.T)


@gluon.jit
def stores_elsewhere(buffer, barrier, N: gl.constexpr, layout: gl.constexpr):
    buffer.store(gl.arange(0, N, layout))
    mbarrier.arrive(barrier)


@gluon.jit
def waits(barrier):
    mbarrier.wait(barrier, 0)


@gluon.jit
def in_partitions(out, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    buffer, barrier = gl.allocate_shared_memory(gl.int32, [N], shared), mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    gl.warp_specialize([(waits, (barrier,)), (stores_elsewhere, (buffer, barrier, N, layout))], [4], [24])
    gl.store(out + gl.arange(0, N, layout), buffer.load(layout))


def test_partitions_cannot() -> None:
    with pytest.raises(PassError, match="which partitions of warps cannot"):
        in_partitions[(1,)](np.zeros(256, np.int32), 256, line([[0]]), part([[1]]), num_ctas=2)


@gluon.jit
def meets(out):
    cluster.barrier()


@gluon.jit
def meets_in_partitions(out):
    gl.warp_specialize([(meets, (out,)), (meets, (out,))], [4])


def test_partitions_cannot_meet() -> None:
    """The barrier is one of all threads: those of another role would have to come to it."""
    with pytest.raises(PassError, match="meets the other CTAs, which partitions of warps cannot"):
        meets_in_partitions[(1,)](np.zeros(256, np.int32), num_ctas=2)


@gluon.jit
def half_of_a_buffer(out, index, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr, HOW: gl.constexpr):
    half = gl.allocate_shared_memory(gl.int32, [2 * N], shared).slice(N, N)
    i = gl.arange(0, N, layout)
    if HOW == "store":
        half.store(i)
    elif HOW == "scatter":
        half.scatter(i, i, 0)
    elif HOW == "load":
        gl.store(out + i, half.load(layout))
    else:
        gl.store(out + i, half.gather(i, 0))


@pytest.mark.parametrize("how", ["load", "store", "gather", "scatter"])
def test_slices_that_lie_in_other_ctas(how: str) -> None:
    """The second half of a buffer is all in the second CTA."""
    out = np.zeros(256, np.int32)
    with pytest.raises(PassError, match="a slice of a buffer along a dimension that the CTAs of a cluster share out"):
        half_of_a_buffer[(1,)](out, out, 256, line([[1]]), part([[1]]), how, num_ctas=2)
