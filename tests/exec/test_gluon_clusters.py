"""Gluon kernels whose programs run on several CTAs: layouts with a part for each, copies and arrivals for others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from device_memory import REAL

from tilewright import gluon
from tilewright.gluon.nvidia.hopper import TensorDescriptor, TensorDescriptorIm2Col
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import (
    async_store,
    cluster,
    mbarrier,
    tma,
    warpgroup_mma,
    warpgroup_mma_wait,
)
from tilewright.reference.simt import SimulationError
from tilewright.support import knobs
from tilewright.support.errors import CompilationError, PassError
from tilewright.targets.cuda.simulated import SimulatedKernel

pytestmark = pytest.mark.usefixtures("on_hopper")

SAME, ROWS, COLUMNS = ([[0, 0]], [[1, 0]], [[0, 1]])


def blocked(cga: list[list[int]]) -> gl.BlockedLayout:
    return gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0], cga_layout=cga)


def descriptor(x: Any, shape: list[int], cga: list[list[int]]) -> TensorDescriptor:
    layout = gl.NVMMASharedLayout.get_default_for(shape, gl.float16, cga_layout=cga)
    return TensorDescriptor.from_tensor(x, shape, layout)


def matrix(rows: int = 128, columns: int = 256) -> Any:
    return np.random.default_rng(3).integers(-99, 99, (rows, columns)).astype(np.float16)


@gluon.jit
def converted(x, out, N: gl.constexpr, source: gl.constexpr, target: gl.constexpr):
    i, j = gl.arange(0, N, gl.SliceLayout(1, source)), gl.arange(0, N, gl.SliceLayout(0, source))
    value = gl.load(x + i[:, None] * N + j[None, :])
    i, j = gl.arange(0, N, gl.SliceLayout(1, target)), gl.arange(0, N, gl.SliceLayout(0, target))
    gl.store(out + i[:, None] * N + j[None, :], gl.convert_layout(value, target))


@pytest.mark.parametrize("target", [SAME, ROWS, COLUMNS])
@pytest.mark.parametrize("source", [SAME, ROWS, COLUMNS])
def test_conversions(source: list[list[int]], target: list[list[int]]) -> None:
    x, out = matrix(64, 64), np.zeros((64, 64), np.float16)
    converted[(1,)](x, out, 64, blocked(source), blocked(target), num_ctas=2)
    np.testing.assert_array_equal(out, x)


@gluon.jit
def copied(desc, out_desc, layout: gl.constexpr, MULTICAST: gl.constexpr):
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, desc.nbytes_per_cta)
    tma.async_load(desc, [0, 64], barrier, buffer, multicast=MULTICAST)
    mbarrier.wait(barrier, 0, deps=[buffer])
    mbarrier.invalidate(barrier)
    buffer.store(buffer.load(layout) * 2.0)
    tma.async_store(out_desc, [0, 0], buffer)
    tma.store_wait(0)


@pytest.mark.parametrize(("cga", "multicast"), [(SAME, True), (SAME, False), (ROWS, True), (COLUMNS, False)])
def test_copies_of_boxes(cga: list[list[int]], multicast: bool) -> None:
    x, out = matrix(), np.zeros((64, 64), np.float16)
    kernel: Any = copied[(1,)](
        descriptor(x, [64, 64], cga), descriptor(out, [64, 64], cga), blocked(cga), multicast, num_ctas=2
    )
    np.testing.assert_array_equal(out, x[:64, 64:128] * 2)
    assert (".multicast::cluster" in kernel.asm["ptx"]) == (multicast and cga == SAME)


def test_copies_to_two_of_four() -> None:
    """Two CTAs have the upper rows, two the lower ones."""
    cga = [[0, 0], [1, 0]]
    x, out = matrix(), np.zeros((64, 64), np.float16)
    copied[(1,)](descriptor(x, [64, 64], cga), descriptor(out, [64, 64], cga), blocked(cga), True, num_ctas=4)
    np.testing.assert_array_equal(out, x[:64, 64:128] * 2)


@gluon.jit
def summed(desc, out, N: gl.constexpr, steps, layout: gl.constexpr):
    """Blocks side by side, each copied once for both CTAs."""
    buffer = gl.allocate_shared_memory(desc.dtype, desc.block_shape, desc.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    total = gl.zeros([N, N], gl.float16, layout)
    for k in range(steps):
        mbarrier.expect(barrier, desc.nbytes_per_cta)
        tma.async_load(desc, [0, k * N], barrier, buffer, multicast=True)
        mbarrier.wait(barrier, k & 1, deps=[buffer])
        total += buffer.load(layout)
    i, j = gl.arange(0, N, gl.SliceLayout(1, layout)), gl.arange(0, N, gl.SliceLayout(0, layout))
    gl.store(out + i[:, None] * N + j[None, :], total)


@gluon.jit
def routed(out, N: gl.constexpr, layout: gl.constexpr, FROM: gl.constexpr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier, count=1, from_cta=FROM)
    mbarrier.wait(barrier, 0)
    gl.store(out + gl.arange(0, N, layout), 1)


@gluon.jit
def paired(out, N: gl.constexpr, layout: gl.constexpr):
    """A barrier that both CTAs arrive at, and the first waits on."""
    barrier = mbarrier.allocate_mbarrier(two_ctas=True)
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier, count=1)
    mbarrier.wait(barrier, 0)
    gl.store(out + gl.arange(0, N, layout), gl.num_ctas())


@gluon.jit
def exchanged(between, out, N: gl.constexpr, layout: gl.constexpr):
    i = gl.arange(0, N, layout)
    gl.store(between + i, i)
    cluster.barrier()
    gl.store(out + i, gl.load(between + (i + N // 2) % N))


LINE = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[1]])


@gluon.jit
def sent(x, out, N: gl.constexpr, source: gl.constexpr, shared: gl.constexpr, target: gl.constexpr):
    """Each element goes to the CTA that has its part of the buffer, and is reported to the barrier there."""
    value = gl.load(x + gl.arange(0, N, source))
    buffer = gl.allocate_shared_memory(value.dtype, [N], shared)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, buffer.nbytes_per_cta)
    async_store(buffer, value, barrier)
    mbarrier.wait(barrier, 0, deps=[buffer])
    gl.store(out + gl.arange(0, N, target), buffer.load(target))


def line(cga: list[list[int]], size: int = 4) -> gl.BlockedLayout:
    return gl.BlockedLayout([size], [32], [4], [0], cga_layout=cga)


def part(cga: list[list[int]]) -> gl.SwizzledSharedLayout:
    return gl.SwizzledSharedLayout(1, 1, 1, [0], cga_layout=cga)


@gluon.jit
def copied_pixels(images, out, layout: gl.constexpr, MULTICAST: gl.constexpr):
    buffer = gl.allocate_shared_memory(images.dtype, images.block_shape, images.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.expect(barrier, images.nbytes_per_cta)
    tma.async_load_im2col(images, [0, -1, -1, 0], [0, 1], barrier, buffer, multicast=MULTICAST)
    mbarrier.wait(barrier, 0, deps=[buffer])
    i, j = gl.arange(0, 64, gl.SliceLayout(1, layout)), gl.arange(0, 64, gl.SliceLayout(0, layout))
    gl.store(out + i[:, None] * 64 + j[None, :], buffer.load(layout))


def pixels(x: Any, cga: list[list[int]]) -> TensorDescriptorIm2Col:
    layout = gl.NVMMASharedLayout.get_default_for([64, 64], gl.float16, cga_layout=cga)
    return TensorDescriptorIm2Col.from_tensor(
        x, [64, 64], layout, pixel_box_lower_corner=[-1, -1], pixel_box_upper_corner=[-1, -1]
    )


@pytest.mark.parametrize(("cga", "multicast"), [(SAME, True), (COLUMNS, False), ([[0, 0], [0, 1]], True)])
def test_copies_of_pixels(cga: list[list[int]], multicast: bool) -> None:
    x, out = matrix(2 * 8 * 8, 64).reshape(2, 8, 8, 64), np.zeros((64, 64), np.float16)
    kernel: Any = copied_pixels[(1,)](pixels(x, cga), out, blocked(cga), multicast, num_ctas=2 ** len(cga))
    padded = np.pad(x, ((0, 0), (1, 0), (0, 0), (0, 0)))[:, :8]
    np.testing.assert_array_equal(out, padded[0].reshape(64, 64))
    assert (".im2col" in kernel.asm["ptx"]) and (".multicast::cluster" in kernel.asm["ptx"]) == multicast


def test_pixels_are_not_shared_out() -> None:
    x, out = matrix(2 * 8 * 8, 64).reshape(2, 8, 8, 64), np.zeros((64, 64), np.float16)
    with pytest.raises(CompilationError, match="cannot share out the pixels"):
        copied_pixels[(1,)](pixels(x, ROWS), out, blocked(ROWS), False, num_ctas=2)


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.int32, np.float64])
@pytest.mark.parametrize(
    ("source", "target"), [([[0]], [[0]]), ([[0]], [[1]]), ([[1], [2]], [[2], [1]]), ([[0], [1]], [[1], [2]])]
)
def test_stores_into_other_ctas(dtype: Any, source: list[list[int]], target: list[list[int]]) -> None:
    x, out = np.arange(1024).astype(dtype), np.zeros(1024, dtype)
    kernel: Any = sent[(1,)](x, out, 1024, line(source), part(target), line(target), num_ctas=2 ** len(source))
    np.testing.assert_array_equal(out, x)
    assert "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes" in kernel.asm["ptx"]


@pytest.mark.parametrize(
    ("source", "size", "message"),
    [([[1]], 4, "do not all hold what is stored there"), ([[0]], 1, "vectorizing stores to at least 32 bits")],
)
def test_stores_that_cannot_be_sent(source: list[list[int]], size: int, message: str) -> None:
    x, out = np.zeros(256, np.float16), np.zeros(256, np.float16)
    with pytest.raises(PassError, match=message):
        sent[(1,)](x, out, 256, line(source, size), part([[0]]), line([[0]]), num_ctas=2)


def test_loops_over_copies() -> None:
    x, out = matrix(64, 256), np.zeros((64, 64), np.float16)
    summed[(1,)](descriptor(x, [64, 64], SAME), out, 64, 4, blocked(SAME), num_ctas=2)
    np.testing.assert_array_equal(out, x.reshape(64, 4, 64).sum(1))


@pytest.mark.parametrize(("num_ctas", "mask"), [(2, 0), (2, 1), (4, 0), (4, 1), (4, 2), (4, 3)])
def test_arrivals_for_others(num_ctas: int, mask: int) -> None:
    layout = gl.BlockedLayout([1], [32], [4], [0], cga_layout=[[1], [2]][: num_ctas.bit_length() - 1])
    out = np.zeros(512, np.int32)
    routed[(1,)](out, 512, layout, mask, num_ctas=num_ctas)
    np.testing.assert_array_equal(out, 1)


def test_barriers_that_ctas_share() -> None:
    out = np.zeros(256, np.int32)
    paired[(1,)](out, 256, LINE, num_ctas=2)
    np.testing.assert_array_equal(out, 2)


def test_barriers_of_the_cluster() -> None:
    between, out = np.zeros(256, np.int32), np.zeros(256, np.int32)
    exchanged[(1,)](between, out, 256, LINE, num_ctas=2)
    np.testing.assert_array_equal(out, (np.arange(256) + 128) % 256)


@gluon.jit
def multiplied(a_desc, b_desc, c_desc, K, layout: gl.constexpr, MULTICAST: gl.constexpr):
    a = gl.allocate_shared_memory(a_desc.dtype, a_desc.block_shape, a_desc.layout)
    b = gl.allocate_shared_memory(b_desc.dtype, b_desc.block_shape, b_desc.layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    M: gl.constexpr = a_desc.block_shape[0]
    N: gl.constexpr = b_desc.block_shape[1]
    row, column, phase = gl.program_id(0) * M, gl.program_id(1) * N, 0
    total = gl.zeros([M, N], gl.float32, layout)
    for k in range(0, K, a_desc.block_shape[1]):
        mbarrier.expect(barrier, a_desc.nbytes_per_cta + b_desc.nbytes_per_cta)
        tma.async_load(a_desc, [row, k], barrier, a, multicast=MULTICAST)
        tma.async_load(b_desc, [k, column], barrier, b, multicast=MULTICAST)
        mbarrier.wait(barrier, phase, deps=[a, b])
        phase ^= 1
        total = warpgroup_mma(a, b, total, is_async=True)
        total = warpgroup_mma_wait(0, deps=[total])
    mbarrier.invalidate(barrier)
    c = gl.allocate_shared_memory(c_desc.dtype, c_desc.block_shape, c_desc.layout)
    c.store(total.to(gl.float16))
    tma.async_store(c_desc, [row, column], c)
    tma.store_wait(0)


@pytest.mark.parametrize("multicast", [True, False])
@pytest.mark.parametrize(
    ("of_a", "of_b", "of_c"),
    [
        (ROWS, SAME, ROWS),
        (SAME, COLUMNS, COLUMNS),
        ([[1, 0], [0, 0]], [[0, 0], [0, 1]], [[1, 0], [0, 1]]),
    ],
)
def test_products(of_a: list[list[int]], of_b: list[list[int]], of_c: list[list[int]], multicast: bool) -> None:
    """Each CTA multiplies its part; what several of them read is copied once."""
    rng = np.random.default_rng(0)
    a, b = (rng.integers(-3, 4, shape).astype(np.float16) for shape in ((256, 128), (128, 256)))
    out = np.zeros((256, 256), np.float16)
    rows, columns = (1 << sum(vector[dim] > 0 for vector in of_c) for dim in (0, 1))
    layout = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16], cga_layout=of_c)
    m, n = 64 * rows, 64 * columns
    multiplied[(256 // m, 256 // n)](
        descriptor(a, [m, 64], of_a),
        descriptor(b, [64, n], of_b),
        descriptor(out, [m, n], of_c),
        128,
        layout,
        multicast,
        num_ctas=1 << len(of_c),
    )
    np.testing.assert_array_equal(out, (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16))


@pytest.mark.parametrize("target", ["reference", "cpu"])
def test_elsewhere(target: str) -> None:
    """Where a program runs as one, each barrier counts the bytes of one CTA, too."""
    if knobs.get("target") == REAL:
        pytest.skip("runs without a GPU")
    with knobs.scope(target=target):
        x, out = matrix(), np.zeros((64, 64), np.float16)
        copied[(1,)](descriptor(x, [64, 64], ROWS), descriptor(out, [64, 64], ROWS), blocked(ROWS), True, num_ctas=2)
        np.testing.assert_array_equal(out, x[:64, 64:128] * 2)
        test_loops_over_copies()
        test_barriers_that_ctas_share()
        test_barriers_of_the_cluster()
        x, out = np.arange(512, dtype=np.int32), np.zeros(512, np.int32)
        sent[(1,)](x, out, 512, line([[0]]), part([[1]]), line([[1]]), num_ctas=2)
        np.testing.assert_array_equal(out, x)


MEETINGS = "barrier.cluster.arrive", "barrier.cluster.wait"


def without_each(ptx: str, *instructions: str) -> list[str]:
    """The PTX without one instruction, or one of several in a row, for each of them."""
    lines = ptx.splitlines()
    found = [[n for n, line in enumerate(lines) if each in line] for each in instructions]
    groups = zip(*found, strict=True)
    return ["\n".join(line for n, line in enumerate(lines) if n not in group) for group in groups]


@pytest.mark.parametrize(
    ("kernel", "instructions", "count", "spared"),
    [
        ("copied", ("fence.mbarrier_init",), 1, 0),
        ("copied", MEETINGS, 2, 1),
        ("summed", MEETINGS, 3, 2),
        ("routed", ("fence.mbarrier_init",), 1, 0),
        ("routed", MEETINGS, 2, 1),
        ("routed", ("mbarrier.arrive.release.cluster",), 1, 0),
        ("exchanged", MEETINGS, 1, 0),
        ("sent", ("fence.mbarrier_init",), 1, 0),
        ("sent", MEETINGS, 2, 1),
        ("sent", ("st.async",), 1, 0),
    ],
)
def test_each_step_is_needed(kernel: str, instructions: tuple[str, ...], count: int, spared: int) -> None:
    """The simulated GPU notices each barrier, fence and arrival that is left out. In a loop the barrier before its
    copies does for the one before the loop, and a CTA that waits for what comes from another needs no barrier at the
    end."""
    if knobs.get("target") == REAL:
        pytest.skip("a GPU notices nothing")
    x, out, between = matrix(64, 256), np.zeros((64, 64), np.float16), np.zeros(256, np.int32)
    row, wide = np.zeros(256, np.int32), np.zeros(512, np.int32)
    launches: dict[str, Any] = {
        "copied": lambda: copied[(1,)](
            descriptor(x, [64, 64], SAME), descriptor(out, [64, 64], SAME), blocked(SAME), True, num_ctas=2
        ),
        "summed": lambda: summed[(1,)](descriptor(x, [64, 64], SAME), out, 64, 4, blocked(SAME), num_ctas=2),
        "routed": lambda: routed[(1,)](row, 256, LINE, 0, num_ctas=2),
        "exchanged": lambda: exchanged[(1,)](between, row, 256, LINE, num_ctas=2),
        "sent": lambda: sent[(1,)](wide, wide, 512, line([[2], [1]]), part([[1], [2]]), line([[1], [2]]), num_ctas=4),
    }
    ptx = launches[kernel]().native.ptx
    changed = without_each(ptx, *instructions)
    assert len(changed) == count
    launch = SimulatedKernel.launch_within
    missed = 0
    for text in changed:

        def launch_changed(self: SimulatedKernel, *given: Any, text: str = text, **named: Any) -> None:
            launch(SimulatedKernel(self.facts, text), *given, **named)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(SimulatedKernel, "launch_within", launch_changed)
            try:
                launches[kernel]()
            except SimulationError:
                continue
        missed += 1
    assert missed == spared
