"""Gluon's shared memory, copies and barriers on the CPU: the kernels of the GPU's tests and examples, views, misuse."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright
from tilewright import compat, gluon
from tilewright.gluon.nvidia.hopper import TensorDescriptor
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.ampere import async_copy
from tilewright.language.gluon.nvidia.hopper import mbarrier
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError, PassError

with compat.standing_in():
    import gluon_kernels as kernels

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "gluon"
ROW = gl.BlockedLayout([1], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [0])
SWIZZLED = gl.SwizzledSharedLayout(8, 1, 8, [1, 0])
COLUMNS_FIRST = gl.SwizzledSharedLayout(1, 1, 1, [0, 1])
PADDED = gl.PaddedSharedLayout.with_identity_for([[32, 4]], [32, 32], [1, 0])
RNG = np.random.default_rng(3)


@pytest.fixture(autouse=True, params=["strict", "0"], ids=["optimised", "baseline"])
def on_the_cpu(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    with knobs.scope(target="cpu", opt=request.param):
        yield


def floats(*shape: int, dtype: Any = np.float32) -> Any:
    return RNG.standard_normal(shape).astype(dtype)


def described(array: Any, block: list[int]) -> TensorDescriptor:
    element = {np.dtype(np.float16): gl.float16, np.dtype(np.float32): gl.float32}[array.dtype]
    return TensorDescriptor.from_tensor(array, block, gl.NVMMASharedLayout.get_default_for(block, element))


@pytest.mark.parametrize("shared", [SWIZZLED, COLUMNS_FIRST, PADDED], ids=["swizzled", "columns-first", "padded"])
def test_a_transpose_through_a_view(shared: Any) -> None:
    x, y = floats(32, 32), np.zeros((32, 32), np.float32)
    kernels.transpose_in_memory[(1,)](x, y, 32, kernels.TILE, shared)
    assert (y == x.T).all()


def test_buffers_by_number() -> None:
    x, y = floats(512), np.zeros(512, np.float32)
    kernels.halves[(1,)](x, y, 256, ROW, PLAIN)
    assert (y == np.concatenate([x[256:], x[:256]])).all()
    kernels.halves[(1,)](x, x_copy := x.copy(), 256, ROW, PLAIN)
    assert (x_copy == y).all()


def test_copies_that_run_ahead() -> None:
    x, y = floats(6, 256), np.zeros(256, np.float32)
    kernels.rows_ahead[(1,)](x, y, 5, 256, kernels.WIDE, PLAIN)
    np.testing.assert_allclose(y, x[:5].sum(0), atol=1e-5)


def test_boxes_that_overhang() -> None:
    x, y = floats(50, 60), np.zeros((50, 60), np.float32)
    kernels.add_one_by_tma[(2,)](described(x, [32, 64]), described(y, [32, 64]), kernels.TILE)
    assert (y == x + 1).all()


def test_a_product_of_warp_groups() -> None:
    a, b, c = floats(64, 192, dtype=np.float16), floats(192, 128, dtype=np.float16), np.zeros((64, 128), np.float16)
    kernels.product_v3[(1, 2)](described(a, [64, 64]), described(b, [64, 64]), described(c, [64, 64]), 192)
    np.testing.assert_allclose(c.astype(np.float32), a.astype(np.float32) @ b.astype(np.float32), atol=0.1)


@pytest.mark.parametrize("name", ["column_sums", "halve", "persistent_matmul", "specialised_matmul"])
def test_examples_run(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with compat.standing_in():
        runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    assert float(capsys.readouterr().out.split("largest error ")[1]) < 1e-4


def test_other_work_for_other_warps() -> None:
    x, y = floats(5, 128), np.zeros(128, np.float32)
    kernels.roles[(1,)](described(x, [1, 128]), y, 5, kernels.LINE)
    np.testing.assert_allclose(y, x.sum(0), atol=1e-5)


# -- views and control flow -------------------------------------------------------------------------------------------
@gluon.jit
def parts(x_ptr, y_ptr, layout: gl.constexpr, half: gl.constexpr, flat: gl.constexpr, shared: gl.constexpr):
    places = gl.arange(0, 32, gl.SliceLayout(1, layout))[:, None] * 32
    places += gl.arange(0, 32, gl.SliceLayout(0, layout))[None, :]
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], shared, gl.load(x_ptr + places))
    for part in gl.static_range(2):
        view = buffer.slice(16 * part, 16, 1)
        view.store(view.load(half) + (1 + part))
    turned = buffer.permute((1, 0)).slice(8, 8)
    turned.store(turned.load(half) * 2)
    gl.store(y_ptr + gl.arange(0, 1024, flat), buffer.reshape([1024]).load(flat))


def test_slices_of_views_and_other_shapes() -> None:
    x, y = floats(32, 32), np.zeros((32, 32), np.float32)
    parts[(1,)](x, y, kernels.TILE, kernels.TILE, ROW, gl.SwizzledSharedLayout(1, 1, 1, [1, 0]))
    expected = x + np.repeat([1, 2], 16).astype(np.float32)
    expected[:, 8:16] *= 2
    assert (y == expected).all()


@gluon.jit
def as_bits(x_ptr, y_ptr, layout: gl.constexpr, shared: gl.constexpr):
    places = gl.arange(0, 128, layout)
    buffer = gl.allocate_shared_memory(gl.float32, [128], shared)
    buffer.store(gl.load(x_ptr + places))
    bits = buffer.reinterpret(gl.int32, [128], shared)
    gl.store(y_ptr + places, bits.load(layout))
    bits.store(gl.zeros([128], gl.int32, layout))
    gl.store(x_ptr + places, buffer.load(layout))


def test_bytes_as_another_type() -> None:
    x, y = floats(128), np.zeros(128, np.int32)
    expected = x.view(np.int32).copy()
    as_bits[(1,)](x, y, ROW, PLAIN)
    assert (y == expected).all() and not x.any()


@gluon.jit
def swizzled_bits(y_ptr, layout: gl.constexpr, shared: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    other = buffer.reinterpret(gl.int32, [32, 32], shared)
    other.store(gl.zeros([32, 32], gl.int32, layout))


def test_swizzled_bytes_as_another_type_are_refused() -> None:
    with pytest.raises(tilewright.TilewrightError, match="swizzles or gaps as another type") as caught:
        swizzled_bits[(1,)](np.zeros(1, np.float32), kernels.TILE, SWIZZLED)
    assert "other = buffer.reinterpret(" in str(caught.value)


@gluon.jit(noinline=True)
def double(buffer, layout: gl.constexpr):
    buffer.store(buffer.load(layout) * 2)


@gluon.jit
def calls(x_ptr, y_ptr, layout: gl.constexpr, shared: gl.constexpr):
    places = gl.arange(0, 128, layout)
    buffers = gl.allocate_shared_memory(gl.float32, [2, 128], shared)
    buffers.index(0).store(gl.load(x_ptr + places))
    buffers.index(1).store(gl.load(x_ptr + places) + 1)
    current, other = buffers.index(0), buffers.index(1)
    for _ in range(gl.program_id(0) + 3):
        double(current, layout)
        current, other = other, current
    gl.store(y_ptr + gl.program_id(0) * 256 + places, current.load(layout))
    gl.store(y_ptr + gl.program_id(0) * 256 + 128 + places, other.load(layout))


def test_buffers_go_around_loops_and_into_functions() -> None:
    x, y = floats(128), np.zeros((2, 2, 128), np.float32)
    calls[(2,)](x, y, ROW, PLAIN)
    assert (y[0] == [(x + 1) * 2, x * 4]).all()
    assert (y[1] == [x * 4, (x + 1) * 4]).all()


@gluon.jit
def masked(x_ptr, y_ptr, n, layout: gl.constexpr, shared: gl.constexpr):
    places = gl.arange(0, 128, layout)
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=128)
    buffer = gl.allocate_shared_memory(gl.float32, [128], shared, gl.full([128], 7.0, gl.float32, layout))
    async_copy.async_load(buffer, x_ptr + places, mask=places < n)
    async_copy.mbarrier_arrive(barrier, increment_count=False)
    mbarrier.wait(barrier, 0)
    gl.store(y_ptr + places, buffer.load(layout))


def test_a_barrier_counts_the_copies_of_all_threads() -> None:
    x, y = floats(128), np.ones(128, np.float32)
    masked[(1,)](x, y, 100, ROW, PLAIN)
    assert (y == np.where(np.arange(128) < 100, x, 0)).all()


# -- what is for GPUs ---------------------------------------------------------------------------------------------------
@gluon.jit
def keeps_bits(y_ptr, layout: gl.constexpr, shared: gl.constexpr):
    offsets = gl.arange(0, 128, layout)
    bits = gl.allocate_shared_memory(gl.int1, [128], shared)
    bits.store(offsets > 5)
    gl.store(y_ptr + offsets, bits.load(layout).to(gl.int32))


def test_buffers_of_bits_are_refused_by_name() -> None:
    with pytest.raises(PassError, match="buffers of int1 are for GPUs") as caught:
        keeps_bits[(1,)](np.zeros(128, np.int32), ROW, PLAIN)
    assert "gl.allocate_shared_memory(gl.int1" in str(caught.value) and Path(__file__).name in str(caught.value)


# -- barriers that are used wrongly -----------------------------------------------------------------------------------
@gluon.jit
def phases(y_ptr, parity):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=2)
    mbarrier.arrive(barrier, count=1)
    mbarrier.wait(barrier, 1)
    mbarrier.arrive(barrier, count=1)
    mbarrier.wait(barrier, parity)
    mbarrier.wait(barrier, 1, pred=False)
    gl.store(y_ptr, 1)


@gluon.jit
def arrives_at_nothing(y_ptr, parity):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.arrive(barrier, count=1)
    gl.store(y_ptr, parity)


@gluon.jit
def waits_after_the_end(y_ptr, parity):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.invalidate(barrier)
    mbarrier.wait(barrier, parity)
    gl.store(y_ptr, 1)


@gluon.jit
def arrives_too_often(y_ptr, parity):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=2)
    mbarrier.arrive(barrier, count=3)
    gl.store(y_ptr, parity)


def test_phases_follow_each_other() -> None:
    y = np.zeros(1, np.int32)
    phases[(1,)](y, 0)
    assert y[0] == 1


@pytest.mark.parametrize(
    ("kernel", "message", "line"),
    [
        (phases, "waits forever", "mbarrier.wait(barrier, parity)"),
        (arrives_at_nothing, "no barrier is initialised", "mbarrier.arrive(barrier, count=1)"),
        (waits_after_the_end, "no barrier is initialised", "mbarrier.wait(barrier, parity)"),
        (arrives_too_often, "arrived at more often", "mbarrier.arrive(barrier, count=3)"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_barrier_that_is_used_wrongly_is_an_error(kernel: Any, message: str, line: str) -> None:
    y = np.zeros(1, np.int32)
    with pytest.raises(DeviceAssertionError, match=message) as caught:
        kernel[(1,)](y, 1)
    assert line in str(caught.value)
    assert y[0] == 0
