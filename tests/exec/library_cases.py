"""What the kernels of libraries have in common as tests: one list of cases per file, and which engines run them.

A case is a function that runs kernels on arrays of its own and returns (got, expected, tolerance) triples; a tolerance
of zero asks for equality.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np

from suite.arrays import Array

Checks = list[tuple[Array, Any, float]]

BF16: Any = ml_dtypes.bfloat16
E4M3: Any = ml_dtypes.float8_e4m3fn
E5M2: Any = ml_dtypes.float8_e5m2


@dataclass(frozen=True)
class Case:
    name: str
    run: Callable[[], Checks]
    simulated: bool
    """Whether it runs on the simulated GPU, too; those that would take seconds there do not."""
    kind: str
    """The subject of its file: turns take a case of each (tests/suite/sampling.py)."""
    capability: int = 0
    """The least compute capability of a GPU that has all its instructions."""


@dataclass(frozen=True)
class Library:
    """The cases of one file."""

    cases: list[Case] = field(default_factory=list[Case])

    def case(self, run: Callable[[], Checks]) -> Callable[[], Checks]:
        """Decorator: a case for every engine."""
        self.cases.append(Case(run.__name__, run, True, run.__module__))
        return run

    def blackwell_case(self, run: Callable[[], Checks]) -> Callable[[], Checks]:
        """Decorator: a case for every engine but GPUs before compute capability 10.0."""
        self.cases.append(Case(run.__name__, run, True, run.__module__, capability=100))
        return run

    def native_case(self, run: Callable[[], Checks]) -> Callable[[], Checks]:
        """Decorator: a case for the CPU alone."""
        self.cases.append(Case(run.__name__, run, False, run.__module__))
        return run


def normal(*shape: int, seed: int = 0, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def uniform(*shape: int, seed: int = 0, low: float = 0.0, high: float = 1.0, dtype: Any = np.float32) -> Array:
    return np.random.default_rng(seed).uniform(low, high, shape).astype(dtype)


def integers(low: int, high: int, *shape: int, seed: int = 0, dtype: Any = np.int32) -> Array:
    return np.random.default_rng(seed).integers(low, high, shape).astype(dtype)


def wide(x: Array) -> Array:
    return x.astype(np.float64)


def softmax(x: Array, axis: int = -1) -> Array:
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def strides(x: Array) -> tuple[int, ...]:
    """Strides in elements, as PyTorch counts them."""
    return tuple(stride // x.itemsize for stride in x.strides)
