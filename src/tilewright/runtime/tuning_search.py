"""Which configurations the autotuner measures where there are many: a model of the times says what to measure next.

The model is a Gaussian process over the configurations. How times vary is not known: the expectations of several models
are averaged by how likely the measurements make each. There are two kinds.

- The logarithm of a time is what is expected of tiles with such rows and columns (`tuning_prior`), and a function of
  all parameters, which differs the less the closer two configurations are; a factor of two in a number counts as one
  step, and so does another value of anything that is not a number.
- In case that this kernel is unlike those that were learned from: a function of each parameter by itself, and one of
  all of them.

The first is what is expected to be fastest. After that the next is that of the least expected time, less one standard
deviation, so that what nothing is known of is tried, too.
(Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, chapters 2 and 5; Duvenaud and others, Additive
Gaussian Processes, 2011; Srinivas and others, Gaussian Process Optimization in the Bandit Setting, 2010.)
docs/speed.md says what it loses."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from tilewright.runtime.tuning_prior import Prior, learned_prior, tile_weights
from tilewright.support.records import dataclass

Array = np.ndarray[Any, np.dtype[np.float64]]

MANY = 40
"""Up to so many configurations are measured all."""

LEAST = 10
"""So many are measured at least, and a tenth of all."""

NOISE = 0.02
"""How exact logarithms of times are measured: a standard deviation."""


class _Sizes(NamedTuple):
    """Of logarithms of times: the variance by each parameter and over how many steps, the same by all parameters."""

    own: float
    own_reach: float
    joint: float
    joint_reach: float


MODELS = tuple(map(_Sizes._make, product((0.03, 0.15), (2.0, 8.0), (0.01, 0.05), (2.0, 8.0))))

TILE_PARTS = (0.3, 1.0)
"""Of the covariance that was learned for tiles."""

TILE_MODELS = tuple(map(_Sizes._make, product((0.06,), (4.0,), (0.005, 0.02), (2.0, 6.0))))
"""Only parameters that are not sizes of tiles vary by themselves in these."""

DOUBT = 3.0
"""Models that do not know of tiles count so much less: a difference of logarithms."""

HOPELESS = 4.0
"""What does not run counts as so many times the slowest that does."""


@dataclass(frozen=True)
class _Model:
    """What is expected before anything is measured, and how alike the times of two configurations are."""

    weight: float
    """A logarithm."""
    mean: Array
    tiles: Array
    """The covariance of two configurations is the product of their rows here, plus what follows."""
    sizes: _Sizes
    varies: Array
    """Which parameters vary by themselves."""

    def alike(self, steps: Array, index: int) -> Array:
        """The covariances of all with one of them; `steps` is by how many they differ from it, by parameter."""
        own = (self.varies * np.exp(-steps / self.sizes.own_reach)).sum(-1)
        joint = np.exp(-np.sqrt((steps**2).sum(-1)) / self.sizes.joint_reach)
        return self.tiles @ self.tiles[index] + self.sizes.own * own + self.sizes.joint * joint

    def variances(self) -> Array:
        """The variance of each."""
        return (self.tiles**2).sum(-1) + self.sizes.own * self.varies.sum() + self.sizes.joint


class _Fit:
    """A model and what was measured. With K the covariances of all with those seen and L the Cholesky factor of the
    covariances of those seen, a new one adds a row to L^-1 K and to L^-1: its row of L is its column of L^-1 K."""

    def __init__(self, model: _Model) -> None:
        self.model = model
        self.explained = np.zeros((0, len(model.mean)))
        """L^-1 K."""
        self.inverse = np.zeros((0, 0))
        """L^-1."""
        self.half_log_determinant = 0.0
        self.unexplained = model.variances()
        """The variance of each that is left."""

    def add(self, index: int, steps: Array) -> None:
        """Take in where the next one that was measured is: `steps` from all."""
        alike, row = self.model.alike(steps, index), self.explained[:, index]
        pivot = math.sqrt(max(alike[index] + NOISE**2 - float(row @ row), 1e-12))
        explained = (alike - row @ self.explained) / pivot
        self.unexplained = self.unexplained - explained**2
        self.inverse = np.block(
            [[self.inverse, np.zeros((len(row), 1))], [-(row @ self.inverse)[None] / pivot, np.array([[1 / pivot]])]]
        )
        self.explained = np.vstack((self.explained, explained))
        self.half_log_determinant += math.log(pivot)

    def expect(self, seen: Sequence[int], known: Array) -> tuple[float, Array, Array]:
        """Return the logarithm of the model's likelihood, what it expects of all, and the deviation of that."""
        rest = known - self.model.mean[seen]
        own = self.inverse @ (rest - rest.mean())
        likelihood = self.model.weight - 0.5 * float(own @ own) - self.half_log_determinant
        expected = self.model.mean + rest.mean() + own @ self.explained
        return likelihood, expected, np.sqrt(np.maximum(self.unexplained, 0))


class TuningSearch:
    """Chooses configurations one after the other; `tell` it what one took before the next is asked for. `tile` has the
    names of the parameters that are a tile's rows and columns, and of a third size, if there is one."""

    def __init__(self, configs: Sequence[Mapping[str, Any]], tile: Sequence[str], prior: Prior | None = None) -> None:
        self._places, names = _places(configs)
        is_other = np.array([name not in tile[:3] for name in names], float)
        models = _tile_models(tile_weights(configs, tile), prior or learned_prior(), is_other)
        self._fits = [_Fit(model) for model in (*models, *_plain_models(len(configs), len(names)))]
        self._times: dict[int, float] = {}
        self._asked = 0
        self._left = max(LEAST, math.ceil(len(configs) / 10))

    def next(self) -> int | None:
        """The index of the configuration to measure; None at the end."""
        if len(self._times) == len(self._places) or (self._left <= 0 and self._runs()):
            return None
        if not self._times:
            bound = self._fits[0].model.mean.copy()
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
        steps = np.abs(self._places - self._places[self._asked])
        for fit in self._fits:
            fit.add(self._asked, steps)
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
        fits = [fit.expect(seen, known) for fit in self._fits]
        likely = np.exp([fit[0] - max(fit[0] for fit in fits) for fit in fits])
        weights = likely / likely.sum()
        nothing = np.zeros(len(self._places))
        expected = sum((weight * fit[1] for weight, fit in zip(weights, fits, strict=True)), nothing)
        deviation = sum((weight * fit[2] for weight, fit in zip(weights, fits, strict=True)), nothing)
        return np.asarray(expected), np.asarray(deviation)


def _plain_models(num_configs: int, num_names: int) -> list[_Model]:
    nothing, all_vary = np.zeros(num_configs), np.ones(num_names)
    return [_Model(-DOUBT, nothing, nothing[:, None], sizes, all_vary) for sizes in MODELS]


def _tile_models(weights: Array, prior: Prior, varies: Array) -> list[_Model]:
    mean = weights @ prior.mean
    values, vectors = np.linalg.eigh(prior.covariance)
    tiles = weights @ (vectors * np.sqrt(np.maximum(values, 0)))
    return [
        _Model(0.0, mean - mean.mean(), math.sqrt(part) * tiles, sizes, varies)
        for part, sizes in product(TILE_PARTS, TILE_MODELS)
    ]


def _places(configs: Sequence[Mapping[str, Any]]) -> tuple[Array, list[str]]:
    """Coordinates of configurations: a row each, a step apart where one value differs by a factor of two; and the
    parameter of each column."""
    columns: list[list[float]] = []
    names: list[str] = []
    for name in dict.fromkeys(name for config in configs for name in config):
        values = [config.get(name) for config in configs]
        if all(map(is_size, values)):
            columns.append([math.log2(value) for value in values])  # pyright: ignore[reportArgumentType]
            names.append(name)
            continue
        kinds = {repr(value): None for value in values}
        if len(kinds) > 1:
            columns += [[math.sqrt(0.5) * (repr(value) == kind) for value in values] for kind in kinds]
            names += [name] * len(kinds)
    return np.array(columns or [[0.0] * len(configs)]).T, names or [""]


def is_size(value: object) -> bool:
    """Return whether a value is a number with a logarithm."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value > 0
