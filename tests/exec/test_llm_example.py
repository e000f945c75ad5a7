"""The decode loop of `examples/llm`: its kernels against NumPy, and whole steps against a model in float64."""

from __future__ import annotations

import sys
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

    import kernels


@pytest.fixture(autouse=True)
def on_cpu() -> Any:
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
@pytest.mark.parametrize("kind", ["q4_k", "q6_k", "q8_0"])
def test_quantised_matrix_times_vector(kind: str, add: bool) -> None:
    rng = np.random.default_rng(3)
    found = rng.integers(0, 256, (64, 512 // blocks.ELEMENTS[kind], blocks.BYTES[kind]), dtype=np.uint8)
    for at in {"q4_k": (0, 2), "q6_k": (208,), "q8_0": (0,)}[kind]:  # halves that are numbers
        found[..., at : at + 2] = rng.uniform(-1, 1, (*found.shape[:2], 1)).astype(np.float16).view(np.uint8)
    exact = blocks.dequantised(kind, found).astype(np.float64)
    x = quantised(rng.standard_normal(512).astype(np.float32))
    out = rng.standard_normal(64).astype(np.float32)
    expected = exact @ (x[0] * np.repeat(x[1].astype(np.float64), 256)) + (out if add else 0)
    packed, halves = blocks.side_by_side(kind, found)
    model.PRODUCTS[kind][(2,)](packed, halves, *x, out, K=512, GROUPS=4, ADD=add)
    np.testing.assert_allclose(out, expected, atol=1e-6 * np.abs(exact).sum(1).max() * np.abs(x[1]).max() * 127)


def test_row_of_a_quantised_matrix() -> None:
    found = blocks.random_blocks("q6_k", 64, 512, np.random.default_rng(4))
    out = np.empty(512, np.float32)
    for row in (0, 7, 37, 63):
        kernels.q6k_row[(2,)](*blocks.side_by_side("q6_k", found), np.array([row], np.int32), out, K=512)
        np.testing.assert_array_equal(out, blocks.dequantised("q6_k", found)[row])


def test_steps_of_a_small_model() -> None:
    """Several pages of the cache, shares of the attention that have nothing at first, all kinds of matrices.

    What lies between two int8 may be rounded to the other one than NumPy's, after which numbers differ by some percent of
    what rounding costs (2.7 % of the largest logit without it): at one place at least all are rounded alike.
    """
    small = model.Model(model.SMALL, keep=True)
    errors: list[float] = []
    tokens = np.random.default_rng(5).integers(0, 512, 40).tolist()
    for position, token in enumerate(tokens):
        small.token[0] = token
        logits = small.step(position)
        if position in (0, 3, 15, 16, 39):
            exact = model.exact_logits(small, tokens[: position + 1])
            errors.append(np.abs(logits - exact).max() / np.abs(exact).max())
    assert min(errors) < 1e-5 and max(errors) < 3e-2, errors


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


def test_decoding_repeats() -> None:
    first, second = (model.Model(model.SMALL, seed=2) for _ in range(2))
    made = first.decode([1, 2, 3], 6, seed=4)
    assert made == second.decode([1, 2, 3], 6, seed=4)
    assert len(made) == 6 and all(0 <= token < 512 for token in made)
