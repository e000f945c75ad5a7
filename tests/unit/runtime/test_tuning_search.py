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
from tilewright.runtime.tuning_search import LEAST, TuningSearch
from tilewright.support import knobs

POWERS = [2**i for i in range(4, 9)]
SPACE = [{"M": m, "N": n, "K": k, "FORM": f} for m, n, k, f in itertools.product(POWERS, POWERS, POWERS[:2], "ab")]


def smooth(best: Mapping[str, Any]) -> Callable[[Mapping[str, Any]], float]:
    """Times that grow with the distance to a best configuration, and from a form to the other."""

    def time(config: Mapping[str, Any]) -> float:
        steps = sum(abs(math.log2(config[name] / best[name])) for name in "MNK")
        return 1e-3 * 1.15**steps * (1.0 if config["FORM"] == best["FORM"] else 1.2)

    return time


def search(time: Callable[[Mapping[str, Any]], float]) -> list[float]:
    chooser, times = TuningSearch(SPACE), list[float]()
    while (index := chooser.next()) is not None:
        times.append(time(SPACE[index]))
        chooser.tell(times[-1])
    return times


@pytest.mark.parametrize("best", SPACE[::13], ids=str)
def test_a_tenth_is_measured_and_little_is_lost(best: Mapping[str, Any]) -> None:
    times = search(smooth(best))
    assert len(times) == LEAST
    assert min(times) <= 1.33e-3, "two steps off at most, of up to nine"


def test_what_does_not_run_is_left_behind() -> None:
    times = search(lambda config: math.inf if config["M"] * config["N"] > 4096 else 1 / (config["M"] * config["N"]))
    assert min(times) <= 1 / 2048


def test_the_search_goes_on_until_something_runs() -> None:
    for runs in SPACE[::17]:
        assert min(search(lambda config, runs=runs: 1.0 if config is runs else math.inf)) == 1.0
    assert len(search(lambda config: math.inf)) == len(SPACE)


def test_equal_configurations_are_one_place() -> None:
    chooser, seen = TuningSearch([{"M": 16}] * 30), list[int]()
    while (index := chooser.next()) is not None:
        seen.append(index)
        chooser.tell(1.0)
    assert len(set(seen)) == LEAST


@triton.jit
def copy(x_ptr, out_ptr, BLOCK: tl.constexpr, PART: tl.constexpr):
    for start in range(0, 64, BLOCK):
        i = start + tl.arange(0, BLOCK)
        tl.store(out_ptr + i, tl.load(x_ptr + i) * PART)


class Tuner(Autotuner):
    """Measures by a formula; notes what it was asked for."""

    asked: list[Config]

    def _bench(self, *args: Any, config: Config, **meta: Any) -> list[float]:
        self.asked.append(config)
        return [abs(config.kwargs["PART"] - 20) + 1.0] * 3


CONFIGS = [Config({"BLOCK": 64, "PART": part}) for part in range(1, 31)]


def tuned(**more: Any) -> Tuner:
    tuner = Tuner(copy, copy.arg_names, CONFIGS, [], **more)
    tuner.asked = []
    x = np.ones(64, np.float32)
    tuner.run(x, np.zeros_like(x), grid=(1,))
    return tuner


@pytest.fixture(autouse=True)
def _nothing_is_kept() -> Any:  # pyright: ignore[reportUnusedFunction]
    with knobs.scope(keep_autotuning=False, model_autotuning=True):
        yield


def test_the_autotuner_measures_a_tenth_and_says_what_it_left() -> None:
    tuner = tuned()
    assert len(tuner.asked) == LEAST == len(tuner.configs_timings)
    assert abs(tuner.best_config.kwargs["PART"] - 20) <= 2  # pyright: ignore[reportOptionalMemberAccess]
    assert len(tuner.configs_skipped) == len(CONFIGS) - LEAST
    assert all("not measured: about" in note for note in tuner.configs_skipped.values())


def test_the_switch_and_the_users_own_pruning_measure_all() -> None:
    with knobs.scope(model_autotuning=False):
        assert len(tuned().asked) == len(CONFIGS)
    kept = lambda configs, args, **more: configs[:25]  # noqa: E731
    assert len(tuned(prune_configs_by={"early_config_prune": kept}).asked) == 25
