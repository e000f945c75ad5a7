"""A kernel without an instruction behaves as its text without that line does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.missing_instructions import without_each
from tilewright.reference.simt.errors import RaceError, SimulationError
from tilewright.support import knobs
from tilewright.targets.cuda.simulated import SimulatedKernel


@triton.jit
def product(a_ptr, b_ptr, out_ptr, N: tl.constexpr):
    """Warps hand the operands on through shared memory."""
    i = tl.arange(0, N)
    a, b = tl.load(a_ptr + i[:, None] * N + i[None, :]), tl.load(b_ptr + i[:, None] * N + i[None, :])
    tl.store(out_ptr + i[:, None] * N + i[None, :], tl.dot(a, b))


def launched(kernel: SimulatedKernel, arrays: list[Any]) -> tuple[type[Exception], str] | None:
    """The error of a launch, if it had one."""
    extents = {slot: (array.ctypes.data, array.ctypes.data + array.nbytes) for slot, array in enumerate(arrays)}
    try:
        kernel.launch_within([array.ctypes.data for array in arrays], extents, (1, 1, 1))
    except SimulationError as error:
        return type(error), str(error).partition(" at ")[0]
    return None


@pytest.mark.parametrize("instruction", ["bar.sync", "wgmma.fence", "wgmma.wait_group"])
def test_decoded_and_text(instruction: str) -> None:
    arrays: list[Any] = [np.ones((64, 64), dtype) for dtype in (np.float16, np.float16, np.float32)]
    with knobs.scope(target="cuda_sim"):
        compiled: Any = product[(1,)](*arrays, N=64, arch="sm90")
    kernel: SimulatedKernel = compiled.native
    lines, found = kernel.ptx.splitlines(), list[Any]()
    for which, changed in without_each(kernel, instruction):
        number = int(which.split()[1].rstrip(":"))
        assert instruction in lines[number - 1]
        text = "\n".join([*lines[: number - 1], "", *lines[number:]])
        found.append(launched(changed, arrays))
        assert launched(SimulatedKernel(kernel.facts, text), arrays) == found[-1]
    assert launched(kernel, arrays) is None
    assert RaceError in [error[0] for error in found if error is not None]
