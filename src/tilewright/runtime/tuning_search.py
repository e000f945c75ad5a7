"""Which configurations the autotuner measures where there are many: a model of the times says what to measure next.

The model is a Gaussian process over the configurations. Logarithms of times differ the less the closer two
configurations are; a factor of two in a number counts as one step, and so does another value of anything that is not a
number. After each measurement the next is that of the least expected time, less one standard deviation, so that what
nothing is known of is tried, too. (Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapter 2;
Srinivas and others, Gaussian Process Optimization in the Bandit Setting, 2010.) docs/speed.md says what it loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

MANY = 20
"""Up to so many configurations are measured all."""

LEAST = 10
"""So many are measured at least, and a tenth of all."""

VARIANCE, REACH, NOISE = 0.1, 8.0, 0.03**2
"""Of logarithms of times: how much they vary, over how many steps, and how exact measurements are."""

HOPELESS = 4.0
"""What does not run counts as so many times the slowest that does."""


class TuningSearch:
    """Chooses configurations one after the other; `tell` it what one took before the next is asked for."""

    def __init__(self, configs: Sequence[Mapping[str, Any]]) -> None:
        places = _places(configs)
        distances = np.sqrt(((places[:, None] - places[None]) ** 2).sum(-1))
        self._alike: Array = VARIANCE * np.exp(-distances / REACH)
        self._times: dict[int, float] = {}
        self._asked = 0
        self._left = max(LEAST, math.ceil(len(configs) / 10))

    def next(self) -> int | None:
        """The index of the configuration to measure; None at the end. The first is the user's first."""
        if len(self._times) == len(self._alike) or (self._left <= 0 and self._runs()):
            return None
        if self._times:
            expected, deviation = self._expect()
            bound = expected - deviation
            bound[list(self._times)] = np.inf
            self._asked = int(np.argmin(bound))
        return self._asked

    def tell(self, time: float, *, is_new: bool = True) -> None:
        """Note what the last configuration took: infinite where it does not run, not `is_new` where its code was
        measured before."""
        self._times[self._asked] = time
        self._left -= is_new

    def ratio(self, index: int) -> float:
        """Return the time that a configuration is expected to take, over that of the fastest."""
        expected, _ = self._expect()
        return float(np.exp(expected[index]) / min(self._runs()))

    def _runs(self) -> list[float]:
        return [time for time in self._times.values() if time < math.inf]

    def _expect(self) -> tuple[Array, Array]:
        """The logarithms of times of all configurations: what is expected, and its standard deviation."""
        seen, runs = list(self._times), self._runs()
        worst = HOPELESS * max(runs, default=1.0)
        known = np.log([max(1e-9, min(self._times[index], worst)) for index in seen])
        mean = known.mean()
        inverse = np.linalg.inv(self._alike[np.ix_(seen, seen)] + NOISE * np.eye(len(seen)))
        weights = self._alike[:, seen] @ inverse
        variance = VARIANCE - (weights * self._alike[:, seen]).sum(1)
        return mean + weights @ (known - mean), np.sqrt(np.maximum(variance, 0))


def _places(configs: Sequence[Mapping[str, Any]]) -> Array:
    """Coordinates of configurations: a row each, a step apart where one value differs by a factor of two."""
    columns: list[list[float]] = []
    for name in dict.fromkeys(name for config in configs for name in config):
        values = [config.get(name) for config in configs]
        if all(isinstance(value, (int, float)) and value > 0 for value in values):
            columns.append([math.log2(value) for value in values])  # pyright: ignore[reportArgumentType]
            continue
        kinds = {repr(value): None for value in values}
        if len(kinds) > 1:
            columns += [[math.sqrt(0.5) * (repr(value) == kind) for value in values] for kind in kinds]
    return np.array(columns or [[0.0] * len(configs)]).T
