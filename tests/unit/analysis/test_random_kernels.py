"""Random kernels mean the same after each pass."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

import numpy as np
import pytest
from random_kernels import KernelText

BATCH = 12


@pytest.mark.costly
@pytest.mark.parametrize("batch", range(12))
def test_random_kernels(check: Callable[..., Any], batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        text = KernelText(seed).text()
        numbers = Random(seed)
        data = np.arange(8192, dtype=np.float32)
        scalars = [[*(numbers.randint(-5, 12) for _ in range(4)), numbers.randint(0, 1)] for _ in range(3)]
        try:
            check(text, [data, np.zeros(64, np.float32)], scalars[0], more_scalars=scalars[1:], may_be_wild=True)
        except BaseException as error:
            error.add_note(f"seed {seed}\n{text}")
            raise
