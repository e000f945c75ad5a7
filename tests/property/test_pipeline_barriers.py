"""Every barrier and wait of a pipelined loop on sm80 is needed, and the simulated GPU sees that: each is taken out in
turn, and some number of iterations has to race without it. What may be left out is named, with the reason.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from pipelined_kernels import LOOPS, Launch, Loop

from suite.missing_instructions import without_line
from tilewright.reference.simt import SimulationError
from tilewright.support import knobs
from tilewright.targets.cuda.simulated import SimulatedKernel

BARRIER, WAIT = "bar.sync", "cp.async.wait_group"
TRIPS = (5, 3, 2, 1, 0)

OWN = "each thread reads what it has copied itself, which its own wait orders"
LAST = "behind the loop nobody reads shared memory or writes to it"
SPARED = {
    ("summed", BARRIER): (2, OWN),
    ("gathered", BARRIER): (4, OWN),
    ("summed", WAIT): (1, LAST),
    ("gathered", WAIT): (1, LAST),
    ("with_condition", WAIT): (1, LAST),
    ("flat_by_pointers", WAIT): (1, LAST),
}
"""How many of a loop's may be left out, at most, and why."""

BY_POINTERS = [loop for loop in LOOPS if "descriptors" not in loop.name]
"""Descriptors are host-made arguments here; on sm80 their accesses are those of pointers."""


def compiled(loop: Loop, stages: int) -> SimulatedKernel:
    launch = loop.launch(3)
    constants = launch.constants | ({"STAGES": stages} if "STAGES" in loop.kernel.arg_names else {})
    with knobs.scope(target="cuda_sim", override_arch="sm80"):
        return loop.kernel[(launch.grid,)](*launch.arguments, **constants, num_stages=stages).native


def run(kernel: SimulatedKernel, launch: Launch) -> None:
    """Raises SimulationError, and AssertionError for a wrong result."""
    slots: list[int] = []
    extents: dict[int, tuple[int, int]] = {}
    for number, value in enumerate(launch.arguments):
        if isinstance(value, np.ndarray):
            extents[number] = (value.ctypes.data, value.ctypes.data + value.nbytes)
            slots.append(value.ctypes.data)
        else:
            slots.append(value)
    kernel.launch_within(slots, extents, (launch.grid, 1, 1))
    for found, expected in zip(launch.written, launch.expected, strict=True):
        np.testing.assert_array_equal(found, expected)


def is_missed(kernel: SimulatedKernel, loop: Loop) -> bool:
    """Whether the simulated GPU refuses a kernel after some number of iterations."""
    for trips in TRIPS:
        try:
            run(kernel, loop.launch(trips))
        except SimulationError:
            return True
    return False


def lines_with(ptx: str, instruction: str) -> list[int]:
    return [n for n, line in enumerate(ptx.splitlines(), 1) if re.match(rf"\s*{re.escape(instruction)}\b", line)]


@pytest.mark.parametrize(
    "stages", [3, pytest.param(2, marks=pytest.mark.long), pytest.param(4, marks=pytest.mark.long)]
)
@pytest.mark.parametrize("loop", BY_POINTERS, ids=lambda loop: loop.name)
def test_each_barrier_and_wait_is_missed(loop: Loop, stages: int) -> None:
    kernel: Any = compiled(loop, stages)
    for trips in TRIPS:
        run(kernel, loop.launch(trips))
    for instruction in (BARRIER, WAIT):
        numbers = lines_with(kernel.ptx, instruction)
        assert numbers
        spared, why = SPARED.get((loop.name, instruction), (0, ""))
        left = [n for n in numbers if not is_missed(without_line(kernel, n), loop)]
        assert len(left) <= spared, f"{instruction} in lines {left}; known is {spared}: {why}"
