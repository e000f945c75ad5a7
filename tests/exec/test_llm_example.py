"""The decode loop of `examples/llm`: its kernels against NumPy, and whole steps against a model in float64."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suite.arrays import Array
from tilewright import compat
from tilewright.support import knobs

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "llm"))
with compat.standing_in():
    import blocks
    import model
    import rows

    import kernels


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Pages are short: a small model's few tokens fill several."""
    monkeypatch.setattr(model, "PAGE", 16)
    with knobs.scope(target="cpu"):
        yield


def quantised(x: Array) -> tuple[Array, ...]:
    """A vector as kernels read it: int8, scales, sums of 16 and of 32."""
    rows = x.reshape(-1, 256)
    scale = np.abs(rows).max(1) / 127
    q = np.floor(rows / scale[:, None] + 0.5).astype(np.int8).reshape(-1)
    sums = [q.reshape(-1, count).sum(1, dtype=np.int64).astype(np.float32) for count in (16, 32)]
    return q, scale.astype(np.float32), *sums


@pytest.mark.parametrize("add", [False, True])
@pytest.mark.parametrize("side", [8, 16])
@pytest.mark.parametrize("kind", ["q4_k", "q6_k", "q8_0"])
@pytest.mark.pairwise
def test_quantised_matrix_times_vector(kind: str, add: bool, side: int) -> None:
    rng = np.random.default_rng(3)
    found = rng.integers(0, 256, (64, 512 // blocks.ELEMENTS[kind], blocks.BYTES[kind]), dtype=np.uint8)
    for at in {"q4_k": (0, 2), "q6_k": (208,), "q8_0": (0,)}[kind]:  # halves that are numbers
        found[..., at : at + 2] = rng.uniform(-1, 1, (*found.shape[:2], 1)).astype(np.float16).view(np.uint8)
    exact = blocks.dequantised(kind, found).astype(np.float64)
    x = quantised(rng.standard_normal(512).astype(np.float32))
    out = rng.standard_normal(64).astype(np.float32)
    expected = exact @ (x[0] * np.repeat(x[1].astype(np.float64), 256)) + (out if add else 0)
    packed, halves = blocks.side_by_side(kind, found, side)
    model.PRODUCTS[kind][(2,)](packed, halves, *x, out, K=512, GROUPS=32 // side, ADD=add, ROWS=side)
    np.testing.assert_allclose(out, expected, atol=1e-6 * np.abs(exact).sum(1).max() * np.abs(x[1]).max() * 127)


@pytest.mark.parametrize(("count", "side"), [(2, 8), (16, 8), (4, 16)])
@pytest.mark.parametrize("kind", ["q4_k", "q6_k", "q8_0"])
def test_quantised_matrix_times_vectors(kind: str, count: int, side: int) -> None:
    rng = np.random.default_rng(7)
    found = blocks.random_blocks(kind, 64, 512, rng)
    vectors = [quantised(each) for each in rng.standard_normal((count, 512)).astype(np.float32)]
    x = [np.stack(parts) for parts in zip(*vectors, strict=True)]
    out, given = np.empty((count, 64), np.float32), rows.by_blocks(vectors)
    packed = blocks.side_by_side(kind, found, side)
    sizes = {"K": 512, "VECTORS": count, "GROUPS": 32 // side, "ROWS": side}
    rows.PRODUCTS[kind][(2,)](*packed, *given, out, 64, **sizes)
    exact = (x[0] * np.repeat(x[1].astype(np.float64), 256, 1)) @ blocks.dequantised(kind, found).astype(np.float64).T
    np.testing.assert_allclose(out, exact, atol=1e-6 * np.abs(exact).max())


def test_row_of_a_quantised_matrix() -> None:
    found = blocks.random_blocks("q6_k", 64, 512, np.random.default_rng(4))
    out = np.empty(512, np.float32)
    for row in (0, 7, 37, 63):
        packed = blocks.side_by_side("q6_k", found, 16)
        kernels.q6k_row[(2,)](*packed, np.array([row], np.int32), out, K=512, ROWS=16)
        np.testing.assert_array_equal(out, blocks.dequantised("q6_k", found)[row])


class Steps:
    """Steps of a small model, with every rounding that its kernels chose.

    What lies between two int8, or between two float16, may go to either, and numbers after it differ by what rounding
    costs (2.7 % of the largest logit). So the model in float64 is given what the kernels rounded to, after a look at it:
    it must be nearest, but for the error that values before rounding have. What is left is float32's error.
    """

    def __init__(self, tokens: list[int], wrong: str = "", by: float = 1.0) -> None:
        """Run the steps; in the last one what the kernel `wrong` writes is multiplied `by` a factor."""
        self.model, self.tokens, self.log = model.Model(model.SMALL, keep=True), tokens, []
        self.logits: list[Array] = []
        with pytest.MonkeyPatch.context() as patch:
            for name in ("normalised", "merged", "gated"):
                patch.setattr(model, name, Observed(getattr(model, name), self._record))
            for position, token in enumerate(tokens):
                if wrong and position == len(tokens) - 1:
                    self._plant(patch, wrong, by)
                self.log.append([])
                self.model.token[0] = token
                self.logits.append(self.model.step(position).copy())
        pages = self.model.cache[:, self.model.pages].transpose(0, 2, 1, 4, 3, 5)  # [layers, 2, pages, PAGE, KV, HEAD]
        self.cached = pages.reshape(-1, pages.shape[2] * model.PAGE, *pages.shape[4:])

    def _record(self, arguments: tuple[Any, ...]) -> None:
        q, scale = next(vector for vector in self._vectors() if any(vector[0] is each for each in arguments))
        self.log[-1].append((q.copy(), scale.copy()))

    def _vectors(self) -> list[tuple[Array, Array]]:
        return [vector[:2] for vector in (self.model.narrow, self.model.mixed, self.model.wide)]

    def _plant(self, patch: pytest.MonkeyPatch, wrong: str, by: float) -> None:
        name, _, which = wrong.partition(":")

        def scale(arguments: tuple[Any, ...]) -> None:
            arguments[int(which)][...] = arguments[int(which)] * by

        if name in model.PRODUCTS:
            patch.setitem(model.PRODUCTS, name, Observed(model.PRODUCTS[name], scale))
        else:
            patch.setattr(model, name, Observed(getattr(model, name), scale))

    def error(self, position: int) -> float:
        """Return how far logits are from those in float64, of the largest."""
        sites = iter(range(len(self.log[position])))
        caches = iter(self.cached[:, : position + 1])
        vectors = self.log[: position + 1]

        def rounded(x: Array) -> Array:
            site = next(sites)
            rows = [vectors[at][site] for at in range(position + 1 - len(x), position + 1)]
            return np.stack([self._looked_at(*row, exact) for row, exact in zip(rows, x, strict=True)])

        def cached(x: Array) -> Array:
            found = next(caches).astype(np.float64)
            tolerance = np.spacing(np.abs(x).astype(np.float16)).astype(np.float64) * 0.51 + 2e-6 * np.abs(x).max()
            assert (np.abs(found - x) <= tolerance).all()
            return found

        exact = model.exact_logits(self.model, self.tokens[: position + 1], rounded=rounded, cached=cached)
        return float(np.abs(self.logits[position] - exact).max() / np.abs(exact).max())

    @staticmethod
    def _looked_at(q: Array, scale: Array, exact: Array) -> Array:
        blocks = exact.reshape(-1, 256)
        np.testing.assert_allclose(scale, np.abs(blocks).max(1) / 127, rtol=1e-5)
        found = q.reshape(-1, 256) * scale[:, None].astype(np.float64)
        assert (np.abs(found - blocks) <= 0.505 * scale[:, None]).all()
        return found.reshape(-1)


class Observed:
    """A kernel whose arguments are looked at after its launches."""

    def __init__(self, kernel: Any, look: Callable[[tuple[Any, ...]], None]) -> None:
        self.kernel, self.look = kernel, look

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        def launch(*arguments: Any, **constants: Any) -> None:
            self.kernel[grid](*arguments, **constants)
            self.look(arguments)

        return launch


TIGHT = 1e-6
"""Of the largest logit; 8e-8 was seen."""
TOKENS = np.random.default_rng(5).integers(0, 512, 40).tolist()


def test_steps_of_a_small_model() -> None:
    """Several pages of the cache, shares of the attention that have nothing at first, all kinds of matrices."""
    steps = Steps(TOKENS)
    errors = [steps.error(position) for position in (0, 3, 15, 16, 39)]
    assert max(errors) < TIGHT, errors


OUTPUTS = {
    "q6k_row": "q6k_row:3",
    "q4_k": "q4_k:6",
    "q6_k": "q6_k:6",
    "normalised": "normalised:3",
    "gated": "gated:3",
    "mixed": "merged:3",
    "queries": "rotate_and_cache:0",
    "cache": "rotate_and_cache:3",
    "shares": "attend:3",
    "statistics": "attend:4",
}


@pytest.mark.parametrize("wrong", OUTPUTS)
def test_an_error_of_a_thousandth_is_seen(wrong: str) -> None:
    """In the last step, of what any one of the kernels writes."""
    with pytest.raises(AssertionError):
        assert Steps(TOKENS[:20], OUTPUTS[wrong], 1.001).error(19) < TIGHT


def test_samples() -> None:
    """With no probability to share the largest logit; else tokens of the smallest set, about as often as is due."""
    small = model.Model(model.SMALL)
    rng = np.random.default_rng(6)
    small.logits[:] = rng.standard_normal(512) * 2
    assert small.choose(0, k=1, p=1.0) == small.logits.argmax()
    assert small.choose(0, k=40, p=1e-6) == small.logits.argmax()
    order = np.argsort(-small.logits)[:20]
    chance = np.exp((small.logits[order] - small.logits.max()) / 0.7)
    nucleus = np.cumsum(chance) - chance < 0.8 * chance.sum()
    expected = np.where(nucleus, chance, 0) / chance[nucleus].sum()
    drawn = [small.choose(position, k=20, p=0.8, temperature=0.7, seed=9) for position in range(400)]
    assert set(drawn) <= set(order[nucleus].tolist())
    counts = np.array([drawn.count(token) for token in order]) / 400
    assert np.abs(counts - expected).max() < 4 * 0.5 / 400**0.5


@pytest.mark.parametrize("shape", ["masked", "few", "one far above", "equal", "short"])
def test_samples_of_other_logits(shape: str) -> None:
    """What is drawn is one of the 20 largest with a chance, whatever the others are; of equal ones any."""
    rng = np.random.default_rng(8)
    logits = rng.standard_normal(5000).astype(np.float32) * 3
    match shape:
        case "masked":
            logits[rng.random(5000) < 0.98] = -np.inf
        case "few":
            logits[np.arange(5000) % 1000 != 7] = -np.inf
        case "one far above":
            logits[777] = 1e4
        case "equal":
            logits[:] = 2
        case _:
            logits = logits[:30]
    kept, token, drawn = np.empty(64, np.int32), np.zeros(1, np.int32), set[int]()
    for position in range(40):
        model.sample[(1,)](logits, kept, token, len(logits), 20, 1.0, 0.9, 3, position, KEPT=64, BLOCK=1024)
        drawn.add(int(token[0]))
    least = np.sort(logits)[-20]
    assert all(logits[each] >= least and np.exp((logits[each] - logits.max()) / 0.9) > 0 for each in drawn), drawn
    assert len(drawn) > 1 or shape == "one far above"


def test_decoding_repeats() -> None:
    first, second = (model.Model(model.SMALL, seed=2) for _ in range(2))
    made = first.decode([1, 2, 3], 6, seed=4)
    assert made == second.decode([1, 2, 3], 6, seed=4)
    assert len(made) == 6 and all(0 <= token < 512 for token in made)
