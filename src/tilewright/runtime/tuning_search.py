"""Which configurations the autotuner measures where there are many: a model of the times says what to measure next.

The model is a Gaussian process over the configurations. Logarithms of times are a sum: a function of each parameter by
itself, and a function of all of them, which differs the less the closer two configurations are; a factor of two in a
number counts as one step, and so does another value of anything that is not a number. How much each part varies, and
over how many steps, is not known: the expectations of several models are averaged by how likely the measurements make
each. The first few configurations are spread over the list; after that the next is that of the least expected time,
less one standard deviation, so that what nothing is known of is tried, too. (Rasmussen and Williams, Gaussian Processes
for Machine Learning, 2006, chapters 2 and 5; Duvenaud and others, Additive Gaussian Processes, 2011; Srinivas and
others, Gaussian Process Optimization in the Bandit Setting, 2010.) docs/speed.md says what it loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

MANY = 20
"""Up to so many configurations are measured all."""

LEAST = 10
"""So many are measured at least, and a tenth of all."""

SPREAD = 4
"""So many are measured before the model chooses: one in the middle, then those far from each other ..."""

INWARDS = 0.7
"""... where the mean distance to all counts so much against a place, since the best are seldom at the edge."""

NOISE = 0.02
"""How exact logarithms of times are measured: a standard deviation."""

MODELS = tuple(product((0.03, 0.15), (2.0, 8.0), (0.01, 0.05), (2.0, 8.0)))
"""Of logarithms of times: the variance by each parameter and over how many steps, the same by all parameters."""

HOPELESS = 4.0
"""What does not run counts as so many times the slowest that does."""


class TuningSearch:
    """Chooses configurations one after the other; `tell` it what one took before the next is asked for."""

    def __init__(self, configs: Sequence[Mapping[str, Any]]) -> None:
        self._places = _places(configs)
        self._remoteness: Array = np.array([self._distances([index]).mean() for index in range(len(configs))])
        self._times: dict[int, float] = {}
        self._asked = 0
        self._left = max(LEAST, math.ceil(len(configs) / 10))

    def next(self) -> int | None:
        """The index of the configuration to measure; None at the end."""
        if len(self._times) == len(self._places) or (self._left <= 0 and self._runs()):
            return None
        if len(self._times) < SPREAD:
            bound = INWARDS * self._remoteness
            if self._times:
                bound -= self._distances(list(self._times)).min(1)
        else:
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

    def _steps(self, seen: Sequence[int]) -> Array:
        """Return by how many steps configurations differ from those seen: [configuration, seen, parameter]."""
        return np.abs(self._places[:, None] - self._places[None, seen])

    def _distances(self, seen: Sequence[int]) -> Array:
        return np.sqrt((self._steps(seen) ** 2).sum(-1))

    def _expect(self) -> tuple[Array, Array]:
        """The logarithms of times of all configurations: what is expected, and its standard deviation."""
        seen, runs = list(self._times), self._runs()
        worst = HOPELESS * max(runs, default=1.0)
        known = np.log([max(1e-9, min(self._times[index], worst)) for index in seen])
        steps, distances = self._steps(seen), self._distances(seen)
        fits: list[tuple[float, Array, Array]] = []
        for own, own_reach, joint, joint_reach in MODELS:
            alike = own * np.exp(-steps / own_reach).sum(-1) + joint * np.exp(-distances / joint_reach)
            fits.append(_fit(alike, seen, known - known.mean(), own * steps.shape[-1] + joint))
        likely = np.exp([fit[0] - max(fit[0] for fit in fits) for fit in fits])
        weights = likely / likely.sum()
        expected = sum((weight * fit[1] for weight, fit in zip(weights, fits, strict=True)), known.mean())
        deviation = sum(
            (weight * fit[2] for weight, fit in zip(weights, fits, strict=True)), np.zeros(len(self._places))
        )
        return np.asarray(expected), np.asarray(deviation)


def _fit(alike: Array, seen: Sequence[int], known: Array, variance: float) -> tuple[float, Array, Array]:
    """Return the logarithm of the likelihood of what is known, what is expected of all, and its standard deviation.

    `alike` has the covariances of all with those seen, `variance` is that of each.
    """
    factor = np.linalg.cholesky(alike[seen] + NOISE**2 * np.eye(len(seen)))
    own, others = np.linalg.solve(factor, known), np.linalg.solve(factor, alike.T)
    likelihood = -0.5 * float(own @ own) - float(np.log(np.diag(factor)).sum())
    return likelihood, others.T @ own, np.sqrt(np.maximum(variance - (others**2).sum(0), 0))


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
