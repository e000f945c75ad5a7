"""Kernels in Gluon whose warps do different work, on the CPU: one thread runs the partitions in turns."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
import pytest
from specialized_kernels import check_product, check_rounds

import tilewright
from tilewright import gluon
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import mbarrier
from tilewright.support import knobs
from tilewright.support.errors import DeviceAssertionError

ROW = gl.BlockedLayout([1], [32], [4], [0])
PLAIN = gl.SwizzledSharedLayout(1, 1, 1, [0])
RNG = np.random.default_rng(5)


@pytest.fixture(autouse=True, params=["strict", "0"], ids=["optimised", "baseline"])
def on_the_cpu(request: pytest.FixtureRequest) -> Any:
    with knobs.scope(target="cpu", opt=request.param):
        yield


@pytest.mark.parametrize(("rows", "warps"), [(64, 4), (128, 8)])
def test_a_product_by_three_roles(rows: int, warps: int) -> None:
    check_product(rows, warps, registers=160)


def test_partitions_in_loops_and_branches_with_results() -> None:
    check_rounds()


# -- partitions that wait for each other, and for the kernel's own warps ----------------------------------------------
@gluon.jit(noinline=True)
def wait_for(barrier, phase):
    mbarrier.wait(barrier, phase)


@gluon.jit
def passes_on(own, following, buffer, rounds, layout: gl.constexpr):
    """Doubles what it is given and gives it on; keeps a tile of its own across the waits."""
    seen = gl.zeros([256], gl.float32, layout)
    for r in range(rounds):
        wait_for(own, r & 1)
        tile = buffer.load(layout)
        seen += tile
        buffer.store(tile * 2)
        if r == rounds - 1:
            buffer.store(tile * 2 + seen)
        mbarrier.arrive(following, count=1)


@gluon.jit
def begins(x_ptr, first, last, buffer, rounds, layout: gl.constexpr):
    offsets = gl.arange(0, 256, layout)
    tile = gl.load(x_ptr + offsets)
    for r in range(rounds):
        buffer.store(tile)
        mbarrier.arrive(first, count=1)
        mbarrier.wait(last, r & 1)
        tile = buffer.load(layout) + 1
    return tile


@gluon.jit
def ring(x_ptr, y_ptr, rounds, layout: gl.constexpr, shared: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [256], shared)
    bars = mbarrier.allocate_mbarrier(batch=3)
    for i in gl.static_range(3):
        mbarrier.init(bars.index(i), count=1)
    x_ptr += gl.program_id(0) * 256
    tile = gl.warp_specialize(
        [
            (begins, (x_ptr, bars.index(0), bars.index(2), buffer, rounds, layout)),
            (passes_on, (bars.index(1), bars.index(2), buffer, rounds, layout)),
            (passes_on, (bars.index(0), bars.index(1), buffer, rounds, layout)),
        ],
        [4, 4],
    )
    gl.store(y_ptr + gl.program_id(0) * 256 + gl.arange(0, 256, layout), tile)


def around(x: Any, rounds: int) -> Any:
    """What the ring computes."""
    tile, first, second = x, np.zeros_like(x), np.zeros_like(x)
    for r in range(rounds):
        first += tile
        given = tile * 2 + (first if r == rounds - 1 else 0)
        second += given
        tile = given * 2 + (second if r == rounds - 1 else 0) + 1
    return tile


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_a_ring_of_partitions(rounds: int) -> None:
    x = RNG.integers(0, 8, (3, 256)).astype(np.float32)
    y = np.zeros_like(x)
    ring[(3,)](x, y, rounds, ROW, PLAIN)
    assert (y == around(x, rounds)).all()


def test_frames_are_given_back() -> None:
    x = np.zeros((20000, 256), np.float32)
    y = np.zeros_like(x)
    ring[(100,)](x, y, 1, ROW, PLAIN)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    y[:] = 1
    for _ in range(5):
        ring[(20000,)](x, y, 1, ROW, PLAIN)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # KiB; 200,000 frames are 200 MB


# -- programs that cannot end -----------------------------------------------------------------------------------------
@gluon.jit
def does_nothing(x_ptr):
    gl.store(x_ptr, 1.0)


@gluon.jit
def waits(bar):
    mbarrier.wait(bar, 0)  # of a partition


@gluon.jit
def waits_by_itself(bar):
    mbarrier.wait(bar, 0)  # of the kernel's warps


@gluon.jit
def a_partition_hangs(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.warp_specialize([(does_nothing, (x_ptr,)), (waits, (bar,))], [4])


@gluon.jit
def the_default_hangs(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.warp_specialize([(waits_by_itself, (bar,)), (does_nothing, (x_ptr,))], [4])


@gluon.jit
def waits_then_arrives(own, other):
    mbarrier.wait(own, 0)
    mbarrier.arrive(other, count=1)


@gluon.jit
def each_waits_for_the_other(x_ptr):
    bars = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(bars.index(0), count=1)
    mbarrier.init(bars.index(1), count=1)
    gl.warp_specialize(
        [
            (does_nothing, (x_ptr,)),
            (waits_then_arrives, (bars.index(0), bars.index(1))),
            (waits_then_arrives, (bars.index(1), bars.index(0))),
        ],
        [1, 1],
    )


@gluon.jit
def arrives_twice(bar):
    mbarrier.arrive(bar, count=2)  # one too many


@gluon.jit
def a_partition_arrives_too_often(x_ptr):
    bar = mbarrier.allocate_mbarrier()
    mbarrier.init(bar, count=1)
    gl.warp_specialize([(waits_by_itself, (bar,)), (arrives_twice, (bar,))], [1])


@pytest.mark.parametrize(
    ("kernel", "message", "line"),
    [
        (a_partition_hangs, "waits forever", "mbarrier.wait(bar, 0)  # of a partition"),
        (the_default_hangs, "waits forever", "mbarrier.wait(bar, 0)  # of the kernel's warps"),
        (each_waits_for_the_other, "waits forever", "mbarrier.wait(own, 0)"),
        (a_partition_arrives_too_often, "more often than it was initialised", "mbarrier.arrive(bar, count=2)"),
    ],
)
def test_what_would_hang_is_an_error_at_its_line(kernel: Any, message: str, line: str) -> None:
    with pytest.raises(DeviceAssertionError, match=message) as error:
        kernel[(4,)](np.zeros(1, np.float32))
    assert line in str(error.value)


# -- what is refused --------------------------------------------------------------------------------------------------
@gluon.jit
def takes(tensor, x_ptr):
    gl.store(x_ptr + gl.arange(0, 128, gl.BlockedLayout([1], [32], [4], [0])), tensor)


@gluon.jit
def hands_over_a_tensor(x_ptr):
    x = gl.load(x_ptr + gl.arange(0, 128, gl.BlockedLayout([1], [32], [4], [0])))
    gl.warp_specialize([(does_nothing, (x_ptr,)), (takes, (x, x_ptr))], [4])


def test_a_tensor_is_not_handed_over() -> None:
    with pytest.raises(tilewright.TilewrightError, match="hand it over in shared memory") as error:
        hands_over_a_tensor[(1,)](np.zeros(128, np.float32))
    assert "gl.warp_specialize(" in str(error.value)


def test_the_reference_runs_partitions_after_every_pass() -> None:
    x = RNG.integers(0, 8, (1, 256)).astype(np.float32)
    y = np.zeros_like(x)
    with knobs.scope(validate=True, always_compile=True):
        ring[(1,)](x, y, 2, ROW, PLAIN)
    assert (y == around(x, 2)).all()
