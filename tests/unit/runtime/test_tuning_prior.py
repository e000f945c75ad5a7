"""What is expected of tiles before anything is measured, and by which parameters tiles are known."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime.tuning_prior import NUM_VALUES, learned_prior, tile_weights
from tilewright.runtime.tuning_tiles import find_tile_parameters

ROOT = Path(__file__).parents[3]


def test_sizes_between_powers_of_two_count_as_both() -> None:
    weights = tile_weights([{"R": 4, "C": 96, "K": 32}, {"R": 1 << 20, "C": 1 << 20, "K": 1}], ["R", "C", "K"])
    assert weights.shape == (2, NUM_VALUES)
    np.testing.assert_allclose(weights.sum(1), 4)
    between = weights[0][(weights[0] > 0) & (weights[0] < 1)]
    part = np.log2(96) - 6
    np.testing.assert_allclose(sorted(between), sorted([part, 1 - part] * 2))


def test_the_prior_is_a_distribution_that_prefers_vectors() -> None:
    prior = learned_prior()
    assert np.linalg.eigvalsh(prior.covariance).min() > -1e-3
    expected = tile_weights([{"R": 1, "C": 8}, {"R": 2, "C": 128}, {"R": 64, "C": 2048}], "RC") @ prior.mean
    assert expected[1] < expected[0] and expected[1] < expected[2]


def test_the_prior_is_what_the_benchmark_learns(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """From the tables as they are."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tuning: Any = __import__("tuning")
    monkeypatch.delitem(sys.modules, "tuning")
    prior = tuning.learn([table for table in tuning.read_tables().values() if table.learn])
    np.testing.assert_allclose(prior.mean, learned_prior().mean, atol=1e-3)
    np.testing.assert_allclose(prior.covariance, learned_prior().covariance, atol=1e-3)


def test_tables_that_are_not_learned_from_lose_little(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    tuning: Any = __import__("tuning")
    monkeypatch.delitem(sys.modules, "tuning")
    losses = [tuning.loss(t, learned_prior(), t.tile) for t in tuning.read_tables().values() if not t.learn]
    assert len(losses) == 10 and np.mean(losses) < 1.02 and max(losses) < 1.05


@triton.jit
def transposed(x_ptr, out_ptr, N, M: tl.constexpr, C: tl.constexpr, R: tl.constexpr):
    rows, columns = tl.arange(0, R), tl.arange(0, C)
    x = tl.load(x_ptr + rows[:, None] * N + columns[None, :])
    y = tl.load(x_ptr + M + rows[:, None] * N + columns[None, :])
    tl.store(out_ptr + columns[:, None] * N + rows[None, :], tl.trans(x + y))


@triton.jit
def by_a_loop(x_ptr, out_ptr, n, C: tl.constexpr, R: tl.constexpr):
    rows, total = tl.arange(0, R), tl.zeros((R,), tl.float32)
    for start in range(0, n, C):
        columns = start + tl.arange(0, C)
        total += tl.sum(tl.load(x_ptr + rows[:, None] * 2 * n + columns[None, :] * 2), 1)
    tl.store(out_ptr + rows * 2, total)


@triton.jit
def strided_rows(x_ptr, out_ptr, n, C: tl.constexpr, R: tl.constexpr):
    i = tl.arange(0, R) * C
    tl.store(out_ptr + i, tl.load(x_ptr + i))


def find(kernel: Any, configs: list[dict[str, int]], *args: Any, **constants: int) -> list[str]:
    compile = partial(kernel.run, *args, grid=(1,), warmup=True, **constants)
    return find_tile_parameters(configs, set(constants.values()), lambda config: compile(**config))


CONFIGS = [{"C": c, "R": r} for c in (16, 32, 64) for r in (16, 32, 64)]
X = np.zeros(100_000, np.float32)


def test_columns_are_what_most_accesses_have_side_by_side() -> None:
    assert find(transposed, CONFIGS, X, X, 64, M=32) == ["R", "C"]


def test_columns_are_what_a_loop_goes_on_by() -> None:
    assert find(by_a_loop, CONFIGS, X, X, 64) == ["R", "C"]


def test_nothing_is_said_of_other_kernels_and_of_equal_sizes() -> None:
    assert find(strided_rows, CONFIGS, X, X, 64) == []
    assert find(by_a_loop, [{"C": size, "R": size} for size in (16, 32)], X, X, 64) == []
