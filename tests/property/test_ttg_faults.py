"""Every seeded fault on the way to GPUs is found: by the reference behind a pass, or by the simulated GPU."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from faulty_launches import TARGET, recorded
from ttg_faults import FAULTS, GpuFault, inputs

from faults import seeded
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError
from tilewright.targets.base import find_target
from tilewright.tools.validation.compare import find_difference
from tilewright.tools.validation.engines import run_native, run_reference, walk_passes
from tilewright.tools.validation.launches import Array, Launch
from tilewright.tools.validation.observer import FLOATS


@cache
def launches(arch: str) -> list[tuple[Launch, list[Array]]]:
    return recorded(inputs(arch), arch)


def where_found(launch: Launch, expected: list[Array], struck: list[bool]) -> str:
    """The pass behind which the reference differs or fails, `machine code` where the simulated GPU does, or nothing."""
    target, last = find_target(TARGET), ""
    try:
        for point, module in walk_passes(launch, target):
            last = point.pass_name
            if struck:
                verify_module(module)
                outcome = run_reference(launch, module, str(point))
                if outcome.error or find_difference(launch, expected, outcome.memory, FLOATS):
                    return point.pass_name
        last = "machine code"
        outcome = run_native(launch, target)
    except TilewrightError:
        return last
    return last if outcome.error or find_difference(launch, expected, outcome.memory, FLOATS) else ""


def test_names_are_different() -> None:
    assert len({fault.fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_without_a_fault_all_is_well(arch: str) -> None:
    for launch, expected in launches(arch):
        assert where_found(launch, expected, []) == ""


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.fault.name)
def test_fault_is_found(fault: GpuFault) -> None:
    for launch, expected in launches(fault.arch):
        with seeded(fault.fault) as struck:
            found = where_found(launch, expected, struck)
        if struck and found:
            assert (found == "machine code") == fault.is_race, found
            return
    pytest.fail("no kernel showed the fault")
