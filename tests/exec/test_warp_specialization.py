"""Kernels in Gluon whose warps do different work, on the simulated GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from specialized_kernels import check_product, check_rounds

import tilewright
from tilewright import gluon
from tilewright.language import gluon as gl
from tilewright.language.gluon.nvidia.hopper import mbarrier
from tilewright.support import knobs

pytestmark = pytest.mark.usefixtures("a_gpu")
RNG = np.random.default_rng(11)


@pytest.mark.parametrize(("rows", "warps", "registers"), [(64, 4, 240), (128, 8, 160)])
def test_a_product_by_three_roles(rows: int, warps: int, registers: int) -> None:
    compiled = check_product(rows, warps, registers)
    ptx = compiled.asm["ptx"]
    assert "setmaxnreg.dec" in ptx and "setmaxnreg.inc" in ptx
    assert f".reqntid {32 * (4 + warps + 4)}" in ptx


def test_partitions_exchange_among_their_own_warps() -> None:
    check_rounds()


# -- what is refused --------------------------------------------------------------------------------------------------
@gluon.jit
def one(x_ptr):
    gl.store(x_ptr, 1.0)


@gluon.jit
def too_many(x_ptr):
    gl.warp_specialize([(one, (x_ptr,)), (one, (x_ptr,)), (one, (x_ptr,))], [16, 16])


@gluon.jit
def too_hungry(x_ptr):
    gl.warp_specialize([(one, (x_ptr,)), (one, (x_ptr,))], [8], [248])


@gluon.jit
def takes(tensor, x_ptr):
    gl.store(x_ptr + gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [4], [0])), tensor)


@gluon.jit
def hands_over_a_tensor(x_ptr):
    x = gl.load(x_ptr + gl.arange(0, 128, layout=gl.BlockedLayout([1], [32], [4], [0])))
    gl.warp_specialize([(one, (x_ptr,)), (takes, (x, x_ptr))], [4])


@gluon.jit(noinline=True)
def not_inlined(x_ptr):
    gl.store(x_ptr, 1.0)


@gluon.jit
def calls(x_ptr):
    not_inlined(x_ptr)


@gluon.jit
def calls_in_a_partition(x_ptr):
    gl.warp_specialize([(one, (x_ptr,)), (calls, (x_ptr,))], [4])


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        pytest.param(too_many, "36 warps; a CTA has 32", id="warps"),
        pytest.param(too_hungry, "nothing is left for the rest", id="registers"),
        pytest.param(hands_over_a_tensor, "cannot take a tensor: hand it over in shared memory", id="tensor"),
        pytest.param(calls_in_a_partition, "a partition calls '.*not_inlined", id="call"),
    ],
)
def test_what_partitions_cannot_do(kernel: Any, message: str) -> None:
    with pytest.raises(tilewright.TilewrightError, match=message) as error:
        kernel[(1,)](np.zeros(128, np.float32))
    assert "test_warp_specialization.py" in str(error.value)


# -- barriers that are used wrongly -----------------------------------------------------------------------------------
@gluon.jit
def waits_for_nobody(x_ptr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier, count=1)
    mbarrier.wait(barrier, 1)  # the wrong phase: 0 is over, 1 never ends


@gluon.jit
def waits_too_early(x_ptr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.wait(barrier, 0)


@gluon.jit
def arrives_too_often(x_ptr):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=1)
    mbarrier.arrive(barrier, count=2)


@pytest.mark.parametrize(
    ("kernel", "message", "line"),
    [
        (waits_for_nobody, "threads wait forever at mbarriers", "mbarrier.wait(barrier, 1)"),
        (waits_too_early, "it was not initialised", "mbarrier.wait(barrier, 0)"),
        (arrives_too_often, "2 arrivals at an mbarrier that expects 1", "mbarrier.arrive(barrier, count=2)"),
    ],
)
def test_misused_barriers_are_found_at_their_line(kernel: Any, message: str, line: str) -> None:
    """By the simulated GPU; a real one would wait for ever."""
    with knobs.scope(target="cuda_sim"), pytest.raises(tilewright.TilewrightError, match=message) as error:
        kernel[(1,)](np.zeros(1, np.float32))
    assert line in str(error.value)
