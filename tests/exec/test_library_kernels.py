"""Kernels as users of libraries bring them, on the CPU and on the simulated GPU, against NumPy."""

from __future__ import annotations

from types import ModuleType

import library_assembly
import library_attention
import library_decoding
import library_geometry
import library_images
import library_losses
import library_norms
import library_numerics
import library_products
import library_quantised
import library_recurrences
import library_routing
import library_scans
import library_sequences
import library_tables
import library_training
import numpy as np
import pytest
from device_memory import device_capability
from library_cases import Case

from tilewright.support import knobs

FILES: tuple[ModuleType, ...] = (
    library_assembly,
    library_attention,
    library_decoding,
    library_geometry,
    library_images,
    library_losses,
    library_norms,
    library_numerics,
    library_products,
    library_quantised,
    library_recurrences,
    library_routing,
    library_scans,
    library_sequences,
    library_tables,
    library_training,
)
CASES: list[Case] = [case for file in FILES for case in file.LIBRARY.cases]

pytestmark = pytest.mark.usefixtures("every_target")


def param(case: Case) -> object:
    """A case; one that would take seconds on the simulated GPU is not for it."""
    return pytest.param(case, marks=() if case.simulated else pytest.mark.only_on("cpu", "cuda"), id=case.name)


@pytest.mark.parametrize("case", [param(case) for case in CASES])
def test_library_kernel(case: Case) -> None:
    if knobs.get("target") == "cuda" and device_capability() < case.capability:
        pytest.skip("inline PTX with instructions that this GPU lacks")
    for got, expected, tolerance in case.run():
        np.testing.assert_allclose(got.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
