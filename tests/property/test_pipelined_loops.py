"""Pipelined loops do what the loops did: every kind of loop, on both kinds of GPU, for each number of stages and few or
no iterations, on the simulated GPU, which notices races and reads of memory that was never written."""

from __future__ import annotations

import numpy as np
import pytest
from pipelined_kernels import LOOPS, Loop

from tilewright.support import knobs

TRIPS = (0, 1, 2, 3, 5)
USUAL_STAGES = 3


def _stages(count: int) -> object:
    return pytest.param(count, marks=() if count == USUAL_STAGES else (pytest.mark.long,))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.name)
@pytest.mark.parametrize("arch", ["sm80", "sm90"])
@pytest.mark.parametrize("stages", [_stages(count) for count in (1, 2, 3, 4)])
def test_same_results(loop: Loop, arch: str, stages: int) -> None:
    with knobs.scope(target="cuda_sim", override_arch=arch):
        for trips in TRIPS:
            launch = loop.launch(trips)
            constants = dict(launch.constants)
            if "STAGES" in loop.kernel.arg_names:
                constants["STAGES"] = stages
            loop.kernel[(launch.grid,)](*launch.arguments, **constants, num_stages=stages)
            for found, expected in zip(launch.written, launch.expected, strict=True):
                np.testing.assert_array_equal(found, expected, err_msg=f"{trips} iterations")
