"""What is expected of a CPU kernel's configurations before one is measured: learned from complete tables of times.

The logarithm of a time is taken for a sum of functions of the rows of a tile, of its columns (which are contiguous), of
its number of elements, and of a third size, where a kernel has one. Each function is its values at powers of two;
numbers between two of them count as a mixture of both. `tuning_prior.json` has the mean of those values over many
kernels, and their covariance. benchmarks/tuning.py computes it, and says what choosing by it loses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tilewright.support.records import dataclass

Array = np.ndarray[Any, np.dtype[np.float64]]

ROWS, COLUMNS, ELEMENTS, THIRD = range(11), range(14), range(21), range(3, 8)
"""Logarithms of sizes at which values are known; beyond the ends, the values there are taken."""

NUM_VALUES = sum(map(len, (ROWS, COLUMNS, ELEMENTS, THIRD)))


@dataclass(frozen=True)
class Prior:
    """The distribution of the values of all functions, in a row."""

    mean: Array
    covariance: Array


@cache
def learned_prior() -> Prior:
    """Read what was learned."""
    data = json.loads(Path(__file__).with_suffix(".json").read_text())
    covariance = np.zeros((NUM_VALUES, NUM_VALUES))
    covariance[np.tril_indices(NUM_VALUES)] = data["covariance"]
    return Prior(np.array(data["mean"]), covariance + np.tril(covariance, -1).T)


def tile_weights(configs: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Array:
    """Return how much of each value the sum for a configuration has; `names` are the parameters that are rows, columns
    and a third size."""
    logarithms = np.array([[math.log2(config[name]) for name in names[:3]] for config in configs])
    sizes = [logarithms[:, 0], logarithms[:, 1], logarithms[:, 0] + logarithms[:, 1]]
    if logarithms.shape[1] > 2:
        sizes.append(logarithms[:, 2])
    weights, start = np.zeros((len(configs), NUM_VALUES)), 0
    for size, known in zip(sizes, (ROWS, COLUMNS, ELEMENTS, THIRD), strict=False):
        place = np.clip(size, known[0], known[-1]) - known[0]
        below = np.minimum(place.astype(int), len(known) - 2)
        lines = np.arange(len(configs))
        weights[lines, start + below] += 1 - (place - below)
        weights[lines, start + below + 1] += place - below
        start += len(known)
    return weights
