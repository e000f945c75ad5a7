"""Validation finds every seeded fault, and blames the pass that has it (or the first one behind it that can be run)."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_all_start_methods, get_context
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from fault_kernels import tilewright_inputs

from faults import FAULTS, Fault, seeded
from tilewright.support.errors import TilewrightError
from tilewright.tools.validation.engines import find_cpu
from tilewright.tools.validation.launches import Launch, record_launch
from tilewright.tools.validation.observer import FLOATS
from tilewright.tools.validation.validate import validate_launch


@cache
def launches() -> list[Launch]:
    return [record_launch(kernel, grid, (), keywords) for kernel, grid, keywords in tilewright_inputs()]


def test_there_are_forty_and_more() -> None:
    assert len(FAULTS) >= 40
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


@pytest.mark.costly
def test_without_a_fault_all_is_well() -> None:
    for launch in launches():
        report = validate_launch(launch, find_cpu(), FLOATS)
        assert report.is_valid, report.render()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_found(fault: Fault) -> None:
    if fault.spoil is not None:
        check_fault(fault)
        return
    if "fork" not in get_all_start_methods():
        pytest.skip("wrong machine code runs in a fork, and this system has none")
    # Wrong machine code may write past its arrays: only a child's heap is at stake.
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as child:
        child.submit(check_native_fault, FAULTS.index(fault)).result()


def check_native_fault(number: int) -> None:
    check_fault(FAULTS[number])


def check_fault(fault: Fault) -> None:
    for launch in launches():
        with seeded(fault) as struck:
            try:
                report = validate_launch(launch, find_cpu(), FLOATS, native=fault.spoil is None)
            except TilewrightError:
                assert struck, "an error without the fault"
                return  # a pass refused the wrong module
        if not report.is_valid:
            assert struck
            assert report.culprit is not None
            blamed = report.culprit.pass_name
            assert fault.spoil is None or blamed == fault.pass_name.partition("#")[0] or _stands_behind(report.rows)
            return
    pytest.fail("no kernel showed the fault")


def _stands_behind(rows: list[object]) -> bool:
    """Whether modules that cannot be run lie between the fault and the row that shows it."""
    return len(rows) >= 2 and getattr(rows[-2], "verdict", "") == "-"
