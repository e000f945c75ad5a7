"""Kernels that take one index apart into several dimensions by // and %, against what PyTorch and its compiler make of
the same expression. All write memory that is there already."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flattened_kernels as kernels
import numpy as np
from case import Case, Launch, cdiv, empty, normal, tensors, torch

functional: Any = torch.nn.functional if torch is not None else None
BLOCKS = (512, 2048)


def flat_case(
    kernel: Any, inputs: tuple[Any, ...], shape: tuple[int, ...], sizes: tuple[Any, ...],
    compute: Callable[..., Any], **constants: int,
) -> Case:  # fmt: skip
    """A kernel of `(*inputs, out, n, *sizes)` over the `n` elements of `out`; `compute` is the same in PyTorch."""
    out = empty(shape, np.float32)
    n = out.size
    shared = tensors(*inputs, out)

    def into(*values: Any) -> Any:
        return values[-1].copy_(compute(*values[:-1]))

    return Case(
        [Launch(kernel, (cdiv(n, block),), (*inputs, out, n, *sizes), {**constants, "BLOCK": block})
         for block in BLOCKS],
        sum(array.nbytes for array in inputs), out.nbytes, eager=lambda: into(*shared), traced=into, tensors=shared,
        results=lambda: (out, compute(*shared[:-1])),
    )  # fmt: skip


def batch_norm_case(n: int, c: int, side: int) -> Case:
    x, mean, weight, bias = normal(n, c, side, side), normal(c), normal(c, seed=1), normal(c, seed=2)
    variance = np.abs(normal(c, seed=3)) + np.float32(0.5)
    return flat_case(
        kernels.batch_norm_kernel, (x, mean, variance, weight, bias), x.shape, (c, side * side, 1e-5),
        lambda x, mean, var, w, b: functional.relu(functional.batch_norm(x, mean, var, w, b)),
    )  # fmt: skip


def im2col_case(n: int, c: int, side: int) -> Case:
    return flat_case(
        kernels.im2col_kernel, (normal(n, c, side, side),), (n, c * 9, side * side), (c, side, side),
        lambda x: functional.unfold(x, 3, padding=1), K=3, PAD=1,
    )  # fmt: skip


def embedding_case(words: int, width: int, batch: int, length: int) -> Case:
    ids = np.random.default_rng(0).integers(0, words, (batch, length)).astype(np.int64)
    return flat_case(
        kernels.embedding_kernel, (ids, normal(words, width), normal(length, width, seed=1)), (batch, length, width),
        (length, width), lambda ids, table, positions: functional.embedding(ids, table) + positions,
    )  # fmt: skip


def channel_sums_case(n: int, c: int, side: int) -> Case:
    x, out = normal(n, c, side, side), empty(c, np.float32)
    tx, tout = tensors(x, out) or (None,) * 2

    def into(x: Any, out: Any) -> Any:
        return out.copy_(x.sum((0, 2, 3)))

    return Case(
        [Launch(kernels.channel_sums_kernel, (c,), (x, out, n, c, side * side), {"BLOCK": block}) for block in BLOCKS],
        x.nbytes, out.nbytes, eager=lambda: into(tx, tout), traced=into, tensors=(tx, tout),
        results=lambda: (out, x.sum((0, 2, 3))),
    )  # fmt: skip


def cat_case(n: int, a: int, b: int, side: int) -> Case:
    return flat_case(
        kernels.cat_kernel, (normal(n, a, side, side), normal(n, b, side, side, seed=1)), (n, a + b, side, side),
        (a, b, side * side), lambda x, y: torch.cat((x, y), 1),
    )  # fmt: skip


def permute_case(n: int, c: int, side: int, *, back: bool) -> Case:
    if back:
        return flat_case(
            kernels.permute_back_kernel, (normal(n, side, side, c),), (n, c, side, side), (c, side * side),
            lambda x: x.permute(0, 3, 1, 2),
        )  # fmt: skip
    return flat_case(
        kernels.permute_kernel, (normal(n, c, side, side),), (n, side, side, c), (c, side * side),
        lambda x: x.permute(0, 2, 3, 1),
    )  # fmt: skip


def heads_case(n: int, length: int, heads: int, width: int) -> Case:
    return flat_case(
        kernels.permute_heads_kernel, (normal(n, length, heads, width),), (n, heads, length, width),
        (length, heads, width), lambda x: x.permute(0, 2, 1, 3),
    )  # fmt: skip


def bias_case(n: int, c: int, side: int) -> Case:
    return flat_case(
        kernels.bias_kernel, (normal(n, c, side, side), normal(c)), (n, c, side, side), (c, side * side),
        lambda x, b: x + b[:, None, None],
    )  # fmt: skip


def channels_last_case(rows: int, c: int) -> Case:
    return flat_case(
        kernels.channels_last_add_kernel, (normal(rows, c), normal(c)), (rows, c), (c,), lambda x, b: x + b
    )


FLATTENED: dict[str, Callable[[], Case]] = {
    "NCHW to NHWC 8x64x56x56": lambda: permute_case(8, 64, 56, back=False),
    "NHWC to NCHW 8x56x56x64": lambda: permute_case(8, 64, 56, back=True),
    "heads 8x512x8x64 to the front": lambda: heads_case(8, 512, 8, 64),
    "cat of channels 8x(32 + 64)x56x56": lambda: cat_case(8, 32, 64, 56),
    "batch norm + relu 8x64x56x56": lambda: batch_norm_case(8, 64, 56),
    "batch norm + relu 8x512x7x7": lambda: batch_norm_case(64, 512, 7),
    "im2col 3x3 2x32x56x56": lambda: im2col_case(2, 32, 56),
    "average pool 3x3 8x64x56x56": lambda: flat_case(
        kernels.avg_pool_kernel, (normal(8, 64, 56, 56),), (8, 64, 54, 54), (56, 56),
        lambda x: functional.avg_pool2d(x, 3, 1),
    ),
    "max pool 2x2 8x64x56x56": lambda: flat_case(
        kernels.max_pool_kernel, (normal(8, 64, 56, 56),), (8, 64, 28, 28), (56, 56),
        lambda x: functional.max_pool2d(x, 2),
    ),
    "bias of channels 8x64x56x56": lambda: bias_case(8, 64, 56),
    "nearest upsampling 8x64x28x28": lambda: flat_case(
        kernels.upsample_kernel, (normal(8, 64, 28, 28),), (8, 64, 56, 56), (28, 28),
        lambda x: functional.interpolate(x, scale_factor=2),
    ),
    "pixel shuffle 4x64x56x56": lambda: flat_case(
        kernels.pixel_shuffle_kernel, (normal(4, 64, 56, 56),), (4, 16, 112, 112), (16, 56, 56),
        lambda x: functional.pixel_shuffle(x, 2), R=2,
    ),
    "embedding + positions 8x512x256": lambda: embedding_case(20000, 256, 8, 512),
    "NHWC + bias 8192x100": lambda: channels_last_case(8192, 100),
    "channel sums 8x64x56x56": lambda: channel_sums_case(8, 64, 56),
}  # fmt: skip
