"""Every seeded fault of the lowering to PTX is found by the simulated GPU: memory differs, or the launch ends with an
error."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from faulty_launches import TARGET, recorded
from lowering_faults import FAULTS, LoweringFault, inputs, installed

from tilewright.support.errors import TilewrightError
from tilewright.targets.base import find_target
from tilewright.tools.validation.compare import find_difference
from tilewright.tools.validation.engines import run_native
from tilewright.tools.validation.launches import Array, Launch
from tilewright.tools.validation.observer import FLOATS


@cache
def launches(arch: str) -> list[tuple[Launch, list[Array]]]:
    return recorded(inputs(arch), arch)


def is_right(launch: Launch, expected: list[Array]) -> bool:
    """Whether machine code gives what the reference gives."""
    try:
        outcome = run_native(launch, find_target(TARGET))
    except TilewrightError:
        return False
    return outcome.error is None and find_difference(launch, expected, outcome.memory, FLOATS) is None


def test_names_are_different() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.parametrize("arch", ["sm80", "sm90"])
def test_without_a_fault_all_is_well(arch: str) -> None:
    assert all(is_right(launch, expected) for launch, expected in launches(arch))


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_found(fault: LoweringFault) -> None:
    with installed(fault):
        assert not all(is_right(launch, expected) for launch, expected in launches(fault.arch))
