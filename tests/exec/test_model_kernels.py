"""Kernels of the kinds that model libraries have, against NumPy."""

from __future__ import annotations

import model_kernels
import numpy as np
import pytest
import sequence_kernels
from model_cases import CASES, Case

FILES = (model_kernels, sequence_kernels)
"""Importing them fills CASES."""

pytestmark = pytest.mark.usefixtures("every_target")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_model_kernel(case: Case) -> None:
    for got, expected, tolerance in case():
        np.testing.assert_allclose(got.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
