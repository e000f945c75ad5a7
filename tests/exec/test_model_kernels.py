"""Kernels of the kinds that model libraries have, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from model_kernels import CASES, Case

pytestmark = pytest.mark.usefixtures("every_target")


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_model_kernel(case: Case) -> None:
    for got, expected, tolerance in case():
        np.testing.assert_allclose(got.astype(np.float64), expected, rtol=tolerance, atol=tolerance)
