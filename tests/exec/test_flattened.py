"""Indices taken apart by // and %, in kernels as they are written and for divisors, blocks and offsets of all kinds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flattened_kernels as kernels
import numpy as np
import pytest
from library_cases import integers, normal

from suite.arrays import Array

pytestmark = pytest.mark.usefixtures("every_target")

Flat = tuple[Any, tuple[Any, ...], tuple[Any, ...], Any, dict[str, int]]
"""Kernel, input arrays, sizes, what it computes, constants."""


def permute(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, c, h, w)
    return kernels.permute_kernel, (x,), (c, h * w), x.transpose(0, 2, 3, 1), {}


def permute_back(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, h, w, c)
    return kernels.permute_back_kernel, (x,), (c, h * w), x.transpose(0, 3, 1, 2), {}


def heads(n: int, s: int, h: int, d: int) -> Flat:
    x = normal(n, s, h, d)
    return kernels.permute_heads_kernel, (x,), (s, h, d), x.transpose(0, 2, 1, 3), {}


def cat(n: int, c: int, h: int, w: int) -> Flat:
    a, b = normal(n, c, h, w), normal(n, c + 3, h, w, seed=1)
    return kernels.cat_kernel, (a, b), (c, c + 3, h * w), np.concatenate((a, b), 1), {}


def batch_norm(n: int, c: int, h: int, w: int) -> Flat:
    x, mean, weight, bias = normal(n, c, h, w), normal(c, seed=1), normal(c, seed=2), normal(c, seed=3)
    variance = np.abs(normal(c, seed=4)) + np.float32(0.5)
    mean_, scale, bias_ = (v[:, None, None] for v in (mean, weight / np.sqrt(variance + 1e-5), bias))
    expected = np.maximum((x - mean_) * scale + bias_, 0)
    return kernels.batch_norm_kernel, (x, mean, variance, weight, bias), (c, h * w, 1e-5), expected, {}


def im2col(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, c, h, w)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
    return kernels.im2col_kernel, (x,), (c, h, w), windows.transpose(0, 1, 4, 5, 2, 3), {"K": 3, "PAD": 1}


def avg_pool(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, c, h, w)
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (2, 3))
    return kernels.avg_pool_kernel, (x,), (h, w), windows.mean((-1, -2)), {}


def max_pool(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, c, 2 * h, 2 * w)
    return kernels.max_pool_kernel, (x,), (2 * h, 2 * w), x.reshape(n, c, h, 2, w, 2).max((3, 5)), {}


def bias(n: int, c: int, h: int, w: int) -> Flat:
    x, b = normal(n, c, h, w), normal(c, seed=1)
    return kernels.bias_kernel, (x, b), (c, h * w), x + b[:, None, None], {}


def upsample(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n * c, h, w)
    return kernels.upsample_kernel, (x,), (h, w), x.repeat(2, 1).repeat(2, 2), {}


def pixel_shuffle(n: int, c: int, h: int, w: int) -> Flat:
    x = normal(n, c * 4, h, w)
    expected = x.reshape(n, c, 2, 2, h, w).transpose(0, 1, 4, 2, 5, 3)
    return kernels.pixel_shuffle_kernel, (x,), (c, h, w), expected, {"R": 2}


def embedding(n: int, s: int, words: int, d: int) -> Flat:
    ids, table, positions = integers(0, words, n, s, dtype=np.int64), normal(words, d), normal(s, d, seed=1)
    return kernels.embedding_kernel, (ids, table, positions), (s, d), table[ids] + positions, {}


def channels_last(n: int, c: int, h: int, w: int) -> Flat:
    x, b = normal(n, h, w, c), normal(c, seed=1)
    return kernels.channels_last_add_kernel, (x, b), (c,), x + b, {}


FLAT = (
    permute, permute_back, heads, cat, batch_norm, im2col, avg_pool, max_pool, bias, upsample, pixel_shuffle,
    embedding, channels_last,
)  # fmt: skip


@pytest.mark.parametrize("make", FLAT, ids=lambda make: make.__name__)
def test_flattened_kernel(make: Callable[..., Flat], every_target: str) -> None:
    # Sizes with stretches of many, few and less than eight lanes, which begin and end anywhere in a block.
    shapes = ((2, 3, 9, 11), (1, 16, 16, 16), (1, 5, 4, 3)) if every_target == "cpu" else ((2, 3, 9, 11),)
    for shape in shapes:
        kernel, inputs, sizes, expected, constants = make(*shape)
        if min(expected.shape) <= 0:
            continue
        got: Array = np.zeros(expected.shape, np.float32)
        n = got.size
        for block in (64, 256):
            got[...] = np.nan
            kernel[(-(-n // block),)](*inputs, got, n, *sizes, BLOCK=block, **constants)
            np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)


def test_channels_are_summed_over_images_and_pixels() -> None:
    x, got = normal(3, 4, 5, 9), np.zeros(4, np.float32)
    kernels.channel_sums_kernel[(4,)](x, got, 3, 4, 45, BLOCK=64)
    np.testing.assert_allclose(got, x.sum((0, 2, 3)), rtol=1e-5, atol=1e-5)
