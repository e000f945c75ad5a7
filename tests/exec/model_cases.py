"""What the kernels of model libraries have in common as tests: a list of cases, and inputs.

A case is a function that runs a kernel on arrays of its own and returns (got, expected, tolerance) triples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suite.arrays import Array

Case = Callable[[], list[tuple[Array, Any, float]]]
CASES: list[Case] = []


def case(function: Case) -> Case:
    CASES.append(function)
    return function


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)
