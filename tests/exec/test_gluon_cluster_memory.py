"""Gluon kernels that read and write buffers of which the CTAs of a cluster have parts, others' parts too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tilewright import gluon
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import cluster, mbarrier

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


def test_stores_from_partitions() -> None:
    out = np.zeros(256, np.int32)
    in_partitions[(1,)](out, 256, line([[0]]), part([[1]]), num_ctas=2)
    np.testing.assert_array_equal(out, np.arange(256))


@gluon.jit
def meets(between, out, N: gl.constexpr, layout: gl.constexpr):
    """Twice, so that phases of both parities are waited for."""
    i = gl.arange(0, N, layout)
    for k in range(2):
        gl.store(between + i, i + k)
        cluster.barrier()
        gl.store(out + i, gl.load(between + (i + N // 2) % N))
        cluster.barrier()


@gluon.jit
def meets_in_partitions(between, out, N: gl.constexpr, layout: gl.constexpr):
    for _ in range(2):
        first, second, third = (between, out), (between + N, out + N), (between + 2 * N, out + 2 * N)
        gl.warp_specialize(
            [(meets, (*first, N, layout)), (meets, (*second, N, layout)), (meets, (*third, N, layout))], [4, 4]
        )


@pytest.mark.parametrize("num_ctas", [2, 4])
def test_partitions_meet(num_ctas: int) -> None:
    """Each role meets the same role of the other CTAs; what the others do is nothing to it."""
    between, out = np.zeros(3 * 512, np.int32), np.zeros(3 * 512, np.int32)
    layout = line([[1], [2]][: num_ctas.bit_length() - 1], 1)
    kernel: Any = meets_in_partitions[(1,)](between, out, 512, layout, num_ctas=num_ctas)
    np.testing.assert_array_equal(out.reshape(3, 512), [np.roll(np.arange(512), -256) + 1] * 3)
    assert "mbarrier.arrive.release.cluster.shared::cluster.b64" in kernel.asm["ptx"]


@gluon.jit
def converts(x, out, N: gl.constexpr, source: gl.constexpr, target: gl.constexpr):
    for k in range(3):
        value = gl.load(x + k * N + gl.arange(0, N, source))
        gl.store(out + k * N + gl.arange(0, N, target), gl.convert_layout(value, target))
        gl.store(out + 3 * N + k, gl.sum(value, 0))


@gluon.jit
def converts_in_partitions(x, out, N: gl.constexpr, source: gl.constexpr, target: gl.constexpr):
    gl.warp_specialize(
        [(converts, (x, out, N, source, target)), (converts, (x, out + 4 * N, N, target, source))], [4], [32]
    )


def test_conversions_in_partitions() -> None:
    x, out = np.arange(768, dtype=np.int32), np.zeros((2, 4, 256), np.int32)
    converts_in_partitions[(1,)](x, out, 256, line([[1]]), line([[0]]), num_ctas=2)
    for half in out:
        np.testing.assert_array_equal(half[:3], x.reshape(3, 256))
        np.testing.assert_array_equal(half[3, :3], x.reshape(3, 256).sum(1))


@gluon.jit
def arrives_for_all(barrier):
    mbarrier.arrive(barrier, from_cta=0)


@gluon.jit
def arrives_in_partitions(out, N: gl.constexpr, layout: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    gl.warp_specialize([(waits, (barrier,)), (arrives_for_all, (barrier,))], [4], [24])
    gl.store(out + gl.arange(0, N, layout), 7)


def test_arrivals_from_partitions() -> None:
    out = np.zeros(256, np.int32)
    arrives_in_partitions[(1,)](out, 256, line([[1]]), num_ctas=2)
    np.testing.assert_array_equal(out, 7)


@gluon.jit
def part_of_a_buffer(out, N: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr, AT: gl.constexpr):
    """A part of a buffer written in one way and read in another; the rest stays."""
    whole = gl.allocate_shared_memory(gl.int32, [2 * N], shared)
    j = gl.arange(0, 2 * N, layout)
    whole.store(j * 0 - 1)
    half = whole.slice(AT, N)
    i = gl.arange(0, N, layout)
    half.store(i)
    gl.store(out + i, half.gather(N - 1 - i, 0))
    half.scatter(i * 2, i, 0)
    gl.store(out + N + i, half.load(layout))
    gl.store(out + 2 * N + j, whole.load(layout))


@pytest.mark.parametrize("at", [0, 256])
@pytest.mark.parametrize("cga", [[[1]], [[0]]])
def test_slices_that_lie_in_other_ctas(cga: Bases, at: int) -> None:
    """Each half of a buffer is all in one CTA."""
    out = np.zeros(1024, np.int32)
    part_of_a_buffer[(1,)](out, 256, line(cga), part([[1]]), at, num_ctas=2)
    np.testing.assert_array_equal(out[:256], np.arange(256)[::-1])
    np.testing.assert_array_equal(out[256:512], 2 * np.arange(256))
    expected = np.full(512, -1)
    expected[at : at + 256] = 2 * np.arange(256)
    np.testing.assert_array_equal(out[512:], expected)


@gluon.jit
def counted(index, out, old, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, AT: gl.constexpr):
    """Elements are added where an index says, and then doubled by an exchange."""
    bins = gl.allocate_shared_memory(gl.int32, [2 * N], shared)
    bins.store(gl.full([2 * N], 0, gl.int32, source))
    bins = bins.slice(AT, N)
    i = gl.arange(0, N, source)
    where = gl.load(index + i)
    gl.store(old + i, bins.atomic_scatter_add(i, where, 0))
    gl.store(out + i, bins.load(source))
    bins.atomic_scatter_xchg(i * 2, i, 0, mask=i % 2 == 0)
    gl.store(out + N + i, bins.load(source))


@pytest.mark.parametrize("at", [0, 256])
@pytest.mark.parametrize("shared", [[[1]], [[0]]], ids=str)
@pytest.mark.parametrize("source", [[[1]], [[0]]], ids=str)
def test_atomics_on_other_ctas(source: Bases, shared: Bases, at: int) -> None:
    index = np.random.default_rng(2).integers(0, 64, 256).astype(np.int32)
    out, old = np.zeros((2, 256), np.int32), np.zeros(256, np.int32)
    kernel: Any = counted[(1,)](index, out, old, 256, line(source), part(shared), at, num_ctas=2)
    sums = np.bincount(index, np.arange(256), 256).astype(np.int32)
    np.testing.assert_array_equal(out[0], sums)
    np.testing.assert_array_equal(out[1], np.where(np.arange(256) % 2, sums, 2 * np.arange(256)))
    for bin in range(64):  # some order of the additions gave what each one found
        added = np.flatnonzero(index == bin)
        chain = added[np.argsort(old[added], kind="stable")]
        np.testing.assert_array_equal(np.sort(old[added]), np.concatenate([[0], np.cumsum(chain)])[:-1])
    assert ("atom.relaxed.cluster.shared::cluster.add" in kernel.asm["ptx"]) == (shared == [[1]] or source == [[1]])
