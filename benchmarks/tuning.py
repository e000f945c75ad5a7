"""What the autotuner's search loses, and what it knows of tiles before it measures.

    python benchmarks/tuning.py judge          # each kernel by what is learned from all others (a minute)
    python benchmarks/tuning.py learn          # write src/tilewright/runtime/tuning_prior.json

results/tuning_tables.json has the times of every configuration of many kernels, measured on a Zen 3 with one thread
(CPU time, the second-least of eight calls or more, in turns): `family` groups kernels that are alike, `tile` names the
parameters that are rows, columns and a third size, `learn` says whether `learn` may look at the table.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tilewright.runtime import tuning_prior
from tilewright.runtime.tuning_prior import COLUMNS, ELEMENTS, NUM_VALUES, ROWS, THIRD, Array, Prior, tile_weights
from tilewright.runtime.tuning_search import TuningSearch

TABLES = Path(__file__).parent / "results" / "tuning_tables.json"
ROUNDS = 10
BELIEF = 30
"""The covariance before anything is learned counts as much as so many tables."""

CUT = math.log(3)
"""How slow a configuration is beyond three times the fastest does not matter."""


class Table(NamedTuple):
    """All configurations of a kernel, with their times in milliseconds."""

    family: str
    tile: list[str]
    learn: bool
    configs: list[dict[str, int]]
    times: list[float]


def read_tables() -> dict[str, Table]:
    """All tables by the name of the kernel."""
    data: dict[str, Any] = json.loads(TABLES.read_text())
    return {
        name: Table(
            entry["family"],
            entry["tile"],
            entry["learn"],
            [dict(zip(entry["names"], row[:-1], strict=True)) for row in entry["rows"]],
            [row[-1] for row in entry["rows"]],
        )
        for name, entry in data.items()
    }


def believed_covariance() -> Array:
    """Values of a function are the more alike the closer they are; a single row is something else."""
    blocks: list[Array] = []
    for known in (ROWS, COLUMNS, ELEMENTS, THIRD):
        sizes = np.array(known)
        block = 0.06 * np.exp(-np.abs(sizes[:, None] - sizes[None]) / 4)
        if known is ROWS:
            block += 0.04 * np.equal.outer(sizes == 0, sizes == 0)
        blocks.append(block)
    covariance, start = np.zeros((NUM_VALUES, NUM_VALUES)), 0
    for block in blocks:
        covariance[start : start + len(block), start : start + len(block)] = block
        start += len(block)
    return covariance


def learn(tables: Sequence[Table]) -> Prior:
    """The distribution of a kernel's values, by expectation maximisation over the tables."""
    believed = believed_covariance()
    mean, covariance = np.zeros(NUM_VALUES), believed
    known = [_prepare(table) for table in tables]
    for _ in range(ROUNDS):
        means: list[Array] = []
        spread = BELIEF * believed
        for weights, times, rest in known:
            inverse = np.linalg.inv(weights @ covariance @ weights.T + rest)
            missed = times - weights @ mean
            level = inverse.sum(0) @ missed / inverse.sum()
            gain = covariance @ weights.T @ inverse
            means.append(mean + gain @ (missed - level))
            spread = spread + covariance - gain @ weights @ covariance
        found = np.array(means)
        mean = found.sum(0) / (len(found) + 3)
        covariance = (spread + (found - mean).T @ (found - mean)) / (len(found) + BELIEF)
    return Prior(mean, covariance)


def _prepare(table: Table) -> tuple[Array, Array, Array]:
    """The weights of values, logarithms of times, and the covariance of what no function of sizes explains."""
    times = np.minimum(np.log(np.array(table.times) / min(table.times)), CUT)
    places = np.log2([[config[name] for name in table.tile] for config in table.configs])
    distances = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
    rest = 0.01 * np.exp(-distances / 2) + 0.05**2 * np.eye(len(times))
    return tile_weights(table.configs, table.tile), times, rest


def loss(table: Table, prior: Prior, tile: Sequence[str]) -> float:
    """The best time that a search finds, over that of the best configuration."""
    search, found = TuningSearch(table.configs, tile, prior), math.inf
    while (index := search.next()) is not None:
        found = min(found, table.times[index])
        search.tell(table.times[index])
    return found / min(table.times)


def judge() -> None:
    """Print what searches lose, with what is learned from kernels of other families."""
    tables = read_tables()
    losses: dict[str, list[float]] = {"learned": [], "rows and columns mistaken": []}
    for name, table in tables.items():
        prior = learn([other for other in tables.values() if other.family != table.family])
        swapped = [table.tile[1], table.tile[0], *table.tile[2:]]
        row = (loss(table, prior, table.tile), loss(table, prior, swapped))
        print(f"{name:12s} {len(table.times):4d} configurations  " + "  ".join(f"{value:.3f}" for value in row))
        for values, value in zip(losses.values(), row, strict=True):
            values.append(value)
    prior = learn([table for table in tables.values() if table.learn])
    unseen = [loss(table, prior, table.tile) for table in tables.values() if not table.learn]
    for title, values in {**losses, "tables that are not learned from": unseen}.items():
        near = np.mean(np.array(values) <= 1.03)
        print(f"{title}: mean {np.mean(values):.4f}, worst {max(values):.3f}, within 3 %: {near:.0%} of {len(values)}")


def write() -> None:
    """Learn from all tables that may be learned from."""
    prior = learn([table for table in read_tables().values() if table.learn])
    lower = prior.covariance[np.tril_indices(NUM_VALUES)]
    data = {"mean": [round(float(x), 4) for x in prior.mean], "covariance": [round(float(x), 5) for x in lower]}
    path = Path(tuning_prior.__file__).with_suffix(".json")
    path.write_text(json.dumps(data, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    {"judge": judge, "learn": write}[sys.argv[1]]()
