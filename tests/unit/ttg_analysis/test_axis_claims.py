"""Claims of axis info hold for whatever random programs compute."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from axis_claims import Overflow, complaints_about, false_claims
from random_indices import random_function

from tilewright.analysis.axis_info import AxisInfo
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module

CONTEXT = make_context()


def check(seed: int) -> bool:
    """Whether a random program ran to its end within its widths; all claims held if it did."""
    text = random_function(random.Random(seed))
    module = parse_module(text, CONTEXT)
    pointers = [np.int64(0x7000), np.int64(0x9020), np.int64(0xB003)]
    numbers = [np.int32(16 * (seed % 7)), np.int32(seed % 41)]
    try:
        complaints = complaints_about(module, "f", [*pointers, *numbers], program_id=seed % 5)
    except Overflow:
        return False
    assert not complaints, "\n".join((*complaints[:3], text))
    return True


@pytest.mark.costly
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(st.integers(0, 1 << 30))
def test_claims_hold(seed: int) -> None:
    assume(check(seed))


@pytest.mark.parametrize(
    ("info", "values"),
    [
        (AxisInfo((4,), (4,), (1,)), [0, 1, 2, 3, 8, 9, 10, 12]),
        (AxisInfo((4,), (4,), (1,)), [0, 1, 2, 3, 6, 7, 8, 9]),
        (AxisInfo((1,), (2,), (1,)), [0, 2, 5, 4]),
        (AxisInfo((1,), (1,), (2,)), [3, 3, 4, 5]),
        (AxisInfo((1,), (1,), (4,), 3), [3, 3, 3, 4]),
    ],
)
def test_false_claims_are_seen(info: AxisInfo, values: list[int]) -> None:
    assert false_claims(info, 1, np.array(values))
