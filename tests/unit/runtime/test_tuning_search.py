"""Of many configurations the autotuner measures some, which a model of the times chooses."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.runtime.autotuner import Autotuner, Config
from tilewright.runtime.tuning_search import LEAST, MANY, NOISE, TuningSearch
from tilewright.support import knobs

POWERS = [2**i for i in range(4, 9)]
SPACE = [{"M": m, "N": n, "K": k, "FORM": f} for m, n, k, f in itertools.product(POWERS, POWERS, POWERS[:2], "ab")]


def smooth(best: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], float]:
    """Times that grow with the distance to a best configuration, and from a form to the other."""

    def time(config: Mapping[str, Any]) -> float:
        steps = sum(abs(math.log2(config[name] / best[name])) for name in "MNK")
        return 1e-3 * 1.15**steps * (1.0 if config["FORM"] == best["FORM"] else 1.2)

    return time


def search(time: Callable[[Mapping[str, Any]], float], space: list[dict[str, Any]] = SPACE) -> list[float]:
    chooser, times = TuningSearch(space, ["M", "N"]), list[float]()
    while (index := chooser.next()) is not None:
        times.append(time(space[index]))
        chooser.tell(times[-1])
    return times


@pytest.mark.parametrize("best", SPACE[::13], ids=str)
def test_a_tenth_is_measured_and_little_is_lost(best: Mapping[str, Any]) -> None:
    times = search(smooth(best))
    assert len(times) == LEAST
    assert min(times) <= 1.33e-3, "two steps off at most, of up to nine"


COLUMN_SUMS = """
2.18 2.37 2.59 1.55 1.72 2.32 2.77 2.55
1.69 1.96 1.81 1.33 1.43 1.92 2.48 2.29
1.55 1.76 1.74 1.18 1.17 1.52 2.08 1.93
1.42 1.62 1.63 1.18 1.32 1.52 1.97 1.75
1.61 1.58 1.57 1.11 1.11 1.25 1.71 1.65
1.58 1.59 1.62 1.02 1.00 1.30 1.88 1.67
1.61 1.57 1.61 1.03 1.02 1.30 1.87 1.59
1.61 1.57 1.61 1.12 1.13 1.50 3.28 3.10
"""
"""Times over the best of sums of columns on a Zen 3: rows of a block (1 to 128) down, columns (8 to 1024) across."""

ROTARY = """
4.23 2.35 1.86 1.63 1.38 1.01 1.00 1.00
4.55 2.47 1.93 1.56 1.38 1.10 1.07 1.17
5.05 2.94 2.26 1.98 1.84 1.53 1.63 1.61
4.49 2.47 2.06 2.01 1.86 1.89 1.65 1.61
4.86 2.59 2.64 2.11 1.92 1.91 1.65 1.60
5.00 2.84 2.13 2.01 1.92 1.93 1.67 1.60
5.15 2.61 1.96 2.03 1.96 1.93 1.68 1.64
"""
"""The same of rotary embeddings, rows of a block 1 to 64."""


@pytest.mark.parametrize("table", [COLUMN_SUMS, ROTARY], ids=["column sums", "rotary"])
def test_what_one_parameter_does_by_itself_is_found(table: str) -> None:
    """Ridges along a parameter."""
    times = {
        (2**row, 2 ** (column + 3)): float(time)
        for row, line in enumerate(table.split("\n")[1:-1])
        for column, time in enumerate(line.split())
    }
    space = [{"M": m, "N": n} for m, n in times]
    for order in (space, space[::-1], space[37:] + space[:37]):
        found = search(lambda config: times[config["M"], config["N"]], order)
        assert len(found) == LEAST and min(found) <= 1.03


def test_what_does_not_run_is_left_behind() -> None:
    times = search(lambda config: math.inf if config["M"] * config["N"] > 4096 else 1 / (config["M"] * config["N"]))
    assert min(times) <= 1 / 2048


def test_what_is_learned_row_by_row_is_what_whole_matrices_say() -> None:
    """Gaussian processes for machine learning, algorithm 2.1, with a mean of what is left."""
    chooser, random = TuningSearch(SPACE, ["M", "N"]), np.random.default_rng(1)
    seen = list[int]()
    while (index := chooser.next()) is not None:
        seen.append(index)
        chooser.tell(1.0)
    known = random.standard_normal(len(seen))
    steps = np.abs(chooser._places[:, None] - chooser._places[None, seen])
    for fit in chooser._fits:
        model = fit.model
        alike = np.stack([model.alike(steps[:, number], index) for number, index in enumerate(seen)], 1)
        rest = known - model.mean[seen]
        inverse = np.linalg.inv(alike[seen] + NOISE**2 * np.eye(len(seen)))
        left = rest - rest.mean()
        _, log_determinant = np.linalg.slogdet(inverse)
        likelihood, expected, deviation = fit.expect(seen, known)
        assert likelihood == pytest.approx(model.weight - 0.5 * left @ inverse @ left + 0.5 * log_determinant)
        np.testing.assert_allclose(expected, model.mean + rest.mean() + alike @ inverse @ left, atol=1e-9)
        variances = model.variances() - np.einsum("ij,jk,ik->i", alike, inverse, alike)
        np.testing.assert_allclose(deviation**2, np.maximum(variances, 0), atol=1e-9)


def test_the_search_goes_on_until_something_runs() -> None:
    for runs in SPACE[::45]:
        assert min(search(lambda config, runs=runs: 1.0 if config is runs else math.inf)) == 1.0
    assert len(search(lambda config: math.inf)) == len(SPACE)


def test_equal_configurations_are_one_place() -> None:
    chooser, seen = TuningSearch([{"M": 16, "N": 16}] * 30, ["M", "N"]), list[int]()
    while (index := chooser.next()) is not None:
        seen.append(index)
        chooser.tell(1.0)
    assert len(set(seen)) == LEAST


@triton.jit
def copy(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    for start in range(0, 64, ROWS):
        rows = start + tl.arange(0, ROWS)
        columns = tl.arange(0, COLUMNS)
        at = rows[:, None] * 512 + columns[None, :]
        tl.store(out_ptr + at, tl.load(x_ptr + at, mask=columns[None, :] < 512), mask=columns[None, :] < 512)


class Tuner(Autotuner):
    """Measures by a formula; notes what it was asked for."""

    asked: list[Config]

    def _bench(self, *args: Any, config: Config, **meta: Any) -> list[float]:
        self.asked.append(config)
        return [1.3 ** abs(math.log2(config.kwargs["COLUMNS"] / 128)) * 1.1 ** math.log2(config.kwargs["ROWS"])] * 3


CONFIGS = [Config({"COLUMNS": 2**c, "ROWS": 2**r}) for c in range(3, 10) for r in range(7)]


def tuned(configs: list[Config] = CONFIGS, kernel: Any = copy, **more: Any) -> Tuner:
    tuner = Tuner(kernel, kernel.arg_names, configs, [], **more)
    tuner.asked = []
    x = np.ones((64, 512), np.float32)
    tuner.run(x, np.zeros_like(x), grid=(1,))
    return tuner


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(keep_autotuning=False):
        yield


def test_the_autotuner_measures_a_tenth_and_says_what_it_left() -> None:
    tuner = tuned()
    assert len(tuner.asked) == LEAST == len(tuner.configs_timings)
    assert tuner.best_config is not None and tuner.best_config.kwargs == {"COLUMNS": 128, "ROWS": 1}
    assert len(tuner.configs_skipped) == len(CONFIGS) - LEAST
    assert all("not measured: about" in note for note in tuner.configs_skipped.values())


def test_the_switch_and_the_users_own_pruning_measure_all() -> None:
    with knobs.scope(model_autotuning=False):
        assert len(tuned().asked) == len(CONFIGS)
    assert len(tuned(prune_configs_by={"early_config_prune": lambda configs, *_, **__: configs[:45]}).asked) == 45


def test_short_lists_are_measured_whole() -> None:
    assert len(tuned(CONFIGS[:MANY]).asked) == MANY


def test_all_are_measured_where_no_access_says_what_is_a_tile() -> None:
    @triton.jit
    def fill(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, COLUMNS: tl.constexpr, ROWS: tl.constexpr):
        tl.store(out_ptr, A * B)

    configs = [Config({"A": a, "B": b, "COLUMNS": 1, "ROWS": 1}) for a in range(1, 8) for b in range(11, 18)]
    assert len(tuned(configs, kernel=fill).asked) == len(configs)


def test_what_was_compiled_before_is_searched_alike() -> None:
    """The front end's module is that of a kernel, where this process has it."""
    asked = tuned().asked
    assert tuned().asked == asked


def test_other_parameters_count_by_themselves() -> None:
    """A third of each, of which one is ten times as fast, whatever the tile."""
    space = [{"M": m, "N": n, "FORM": form} for m in POWERS for n in POWERS for form in ("a", "b", "c")]
    times = search(
        lambda config: (
            (1.0 if config["FORM"] == "b" else 10.0) * smooth(SPACE[0] | {"FORM": "b"})(config | {"K": 16, "FORM": "b"})
        ),
        space,
    )
    assert min(times) <= 1.4e-3
