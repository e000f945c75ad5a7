"""Kernels of libraries for training and inference against what a PyTorch user would write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from case import Case, Launch, cdiv, torch

from tilewright import compat

with compat.standing_in():
    import library_kernels as kernels

functional: Any = torch.nn.functional if torch is not None else None
aten: Any = torch.ops.aten if torch is not None else None


def normal(*shape: int, seed: int = 0) -> Any:
    """Random numbers, as a tensor. Raises RuntimeError where PyTorch is absent."""
    if torch is None:
        raise RuntimeError("needs PyTorch")
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def integers(low: int, high: int, shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    """Random integers, as a tensor. Raises RuntimeError where PyTorch is absent."""
    if torch is None:
        raise RuntimeError("needs PyTorch")
    return torch.randint(low, high, shape, generator=torch.Generator().manual_seed(seed)).to(getattr(torch, dtype))


def row_case(
    kernel: Any, inputs: tuple[Any, ...], out: Any, compute: Callable[[], Any], sizes: tuple[int, ...]
) -> Case:
    """A kernel of `(*inputs, out, columns)` with a program for each row."""
    rows, cols = inputs[0].shape
    return Case(
        [Launch(kernel, (rows,), (*inputs, out, cols), {"BLOCK": block}) for block in sizes],
        sum(tensor.nbytes for tensor in inputs), out.nbytes, eager=compute, results=lambda: (out, compute()),
    )  # fmt: skip


def softmax_gradient_case(rows: int, cols: int) -> Case:
    y, dy = normal(rows, cols).softmax(1), normal(rows, cols, seed=1)
    return row_case(
        kernels.softmax_gradient, (y, dy), torch.empty_like(y),
        lambda: aten._softmax_backward_data(dy, y, 1, torch.float32), (cols,),
    )  # fmt: skip


def log_softmax_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    return row_case(kernels.log_softmax, (x,), torch.empty_like(x), lambda: torch.log_softmax(x, 1), (cols,))


def divergence_case(rows: int, cols: int) -> Case:
    x, target = normal(rows, cols).log_softmax(1), normal(rows, cols, seed=1).softmax(1)
    return row_case(
        kernels.divergence, (x, target), torch.empty(rows),
        lambda: functional.kl_div(x, target, reduction="none").sum(1), (1024, 4096),
    )  # fmt: skip


def rms_norm_gradient_case(rows: int, cols: int) -> Case:
    x, w, dy = normal(rows, cols), normal(cols), normal(rows, cols, seed=1)
    dx, dw = torch.empty_like(x), torch.zeros(cols)
    leaves = x.clone().requires_grad_(), w.clone().requires_grad_()
    y = functional.rms_norm(leaves[0], (cols,), leaves[1], 1e-6)

    def eager() -> Any:
        return torch.autograd.grad(y, leaves, dy, retain_graph=True)

    return Case(
        [
            Launch(
                kernels.rms_norm_gradient, (cdiv(rows, each),), (x, w, dy, dx, dw, rows, cols, 1e-6),
                {"ROWS": each, "BLOCK": cols},
            )
            for each in (16, 64)
        ],
        8 * rows * cols, 4 * rows * cols, eager=eager, results=lambda: (dx, eager()[0]),
    )  # fmt: skip


def matmul_int8_case(n: int) -> Case:
    a, b = integers(-128, 127, (n, n), "int8"), integers(-128, 127, (n, n), "int8", seed=1)
    left, right, out = normal(n), normal(n, seed=1), torch.empty(n, n)

    def eager() -> Any:
        return torch._int_mm(a, b).float() * left[:, None] * right

    return Case(
        [
            Launch(
                kernels.matmul_int8, (n // side, n // side), (a, b, out, left, right, n, n, n),
                {"BM": side, "BN": side, "BK": 64},
            )
            for side in (64, 128)
        ],
        2 * n * n, 4 * n * n, eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def matmul_int4_case(m: int, n: int, k: int, group: int) -> Case:
    a, packed = normal(m, k), integers(-(2**31), 2**31 - 1, (k // 8, n), "int32")
    scales, out = normal(k // group, n), torch.empty(m, n)
    shifts = (4 * torch.arange(8))[None, :, None]

    def eager() -> Any:
        values = ((packed[:, None, :] >> shifts) & 15).reshape(k, n)
        return a @ ((values - 8).float() * scales.repeat_interleave(group, 0))

    return Case(
        [
            Launch(
                kernels.matmul_int4, (m // 64, n // bn), (a, packed, scales, out, m, n, k),
                {"G": group, "BM": 64, "BN": bn},
            )
            for bn in (64, 128)
        ],
        a.nbytes + packed.nbytes, out.nbytes, 2 * m * n * k, eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def dequantise_nf4_case(n: int, group: int) -> Case:
    packed, table, scales = integers(0, 255, (n // 2,), "uint8"), normal(16), normal(n // group)
    out = torch.empty(n)

    def eager() -> Any:
        places = torch.stack((packed & 15, packed >> 4), 1).reshape(-1).long()
        return (table[places].view(-1, group) * scales[:, None]).ravel()

    return Case(
        [
            Launch(
                kernels.dequantise_nf4, (cdiv(n, block),), (packed, table, scales, out, n), {"G": group, "BLOCK": block}
            )
            for block in (1024, 4096)
        ],
        n / 2, 4 * n, eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def causal_conv1d_case(batch: int, channels: int, length: int) -> Case:
    x, w, b = normal(batch, channels, length), normal(channels, 4), normal(channels, seed=1)
    out = torch.empty_like(x)

    def eager() -> Any:
        return functional.silu(functional.conv1d(x, w[:, None], b, padding=3, groups=channels)[..., :length])

    return Case(
        [
            Launch(
                kernels.causal_conv1d, (batch * channels, cdiv(length, block)), (x, w, b, out, channels, length),
                {"W": 4, "BLOCK": block},
            )
            for block in (512, 2048)
        ],
        x.nbytes, out.nbytes, 30 * x.numel(), eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def state_update_case(batch: int, dim: int, states: int) -> Case:
    state, x, dt = normal(batch, dim, states), normal(batch, dim), normal(batch, dim, seed=1)
    a, b, c, d = -normal(dim, states).abs(), normal(batch, states), normal(batch, states, seed=1), normal(dim)
    other, out = state.clone(), torch.empty(batch, dim)

    def eager() -> Any:
        step = functional.softplus(dt)
        other.copy_(other * torch.exp(a * step[..., None]) + b[:, None] * (step * x)[..., None])
        return (other * c[:, None]).sum(-1) + x * d

    return Case(
        [
            Launch(
                kernels.state_update, (batch, dim // block), (state, x, dt, a, b, c, d, out, dim),
                {"BD": block, "N": states},
            )
            for block in (16, 64)
        ],
        state.nbytes, state.nbytes, 30 * state.numel(), eager=eager,
    )  # fmt: skip


def depthwise_case(batch: int, channels: int, side: int) -> Case:
    x, w = normal(batch, channels, side, side), normal(channels, 1, 3, 3)
    out = torch.empty_like(x)

    def eager() -> Any:
        return functional.conv2d(x, w, padding=1, groups=channels)

    block = 1 << (side - 1).bit_length()
    return Case(
        [Launch(kernels.depthwise_3x3, (batch * channels, side), (x, w, out, channels, side, side), {"BLOCK": block})],
        x.nbytes, out.nbytes, 18 * x.numel(), eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def batch_norm_case(batch: int, channels: int, side: int) -> Case:
    x, w, b = normal(batch, channels, side, side), normal(channels), normal(channels, seed=1)
    out = torch.empty_like(x)

    def eager() -> Any:
        return functional.batch_norm(x, None, None, w, b, True)

    return Case(
        [
            Launch(
                kernels.batch_norm, (channels,), (x, w, b, out, batch, channels, side * side, 1e-5), {"BLOCK": block}
            )
            for block in (256, 1024)
        ],
        2 * x.nbytes, out.nbytes, eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def upsample_case(batch: int, channels: int, side: int) -> Case:
    x, out = normal(batch, channels, side, side), torch.empty(batch, channels, 2 * side, 2 * side)

    def eager() -> Any:
        return functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)

    return Case(
        [
            Launch(
                kernels.upsample_bilinear, (batch * channels, 2 * side), (x, out, side, side), {"BLOCK": 2 * side}
            )
        ],
        x.nbytes, out.nbytes, eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


def count_case(n: int, bins: int) -> Case:
    places, out = integers(0, bins, (n,), "int32"), torch.zeros(bins, dtype=torch.int32)
    return Case(
        [Launch(kernels.count, (cdiv(n, block),), (places, out, n), {"BLOCK": block}) for block in (1024, 4096)],
        4 * n, 0, eager=lambda: torch.bincount(places, minlength=bins),
    )  # fmt: skip


def add_rows_case(count: int, rows: int, width: int) -> Case:
    x, places = normal(count, width), integers(0, rows, (count,), "int64")
    out, other = torch.zeros(rows, width), torch.zeros(rows, width)
    return Case(
        [
            Launch(kernels.add_rows, (cdiv(count, each),), (x, places, out, count), {"W": width, "R": each})
            for each in (16, 64)
        ],
        2 * x.nbytes, x.nbytes, eager=lambda: other.index_add_(0, places, x),
    )  # fmt: skip


def column_maxima_case(rows: int, cols: int) -> Case:
    x, out = normal(rows, cols), torch.full((cols,), -1e30)
    return Case(
        [
            Launch(
                kernels.column_maxima, (cdiv(rows, bm), cdiv(cols, bn)), (x, out, rows, cols), {"BM": bm, "BN": bn}
            )
            for bm, bn in ((32, 128), (64, 256))
        ],
        x.nbytes, out.nbytes, eager=lambda: x.amax(0), results=lambda: (out, x.amax(0)),
    )  # fmt: skip


def matvec_case(rows: int, cols: int) -> Case:
    a, x, out = normal(rows, cols), normal(cols), torch.empty(rows)
    return Case(
        [
            Launch(kernels.matvec, (cdiv(rows, bm),), (a, x, out, cols), {"BM": bm, "BN": bn})
            for bm, bn in ((1, cols), (4, 512), (8, 256))
        ],
        a.nbytes, out.nbytes, 2 * a.numel(), eager=lambda: torch.mv(a, x), results=lambda: (out, torch.mv(a, x)),
    )  # fmt: skip


def linear_case(m: int, n: int, k: int) -> Case:
    x, w = normal(m, k).bfloat16(), normal(n, k, seed=1).bfloat16()
    out = torch.empty(m, n, dtype=torch.bfloat16)
    rows = (16,) if m <= 16 else (64, 128)
    return Case(
        [
            Launch(kernels.linear, (cdiv(m, bm), cdiv(n, bn)), (x, w, out, m, n, k), {"BM": bm, "BN": bn, "BK": 64})
            for bm in rows
            for bn in (64, 128, 256)
        ],
        x.nbytes + w.nbytes, out.nbytes, 2 * m * n * k, "bf16",
        eager=lambda: functional.linear(x, w), results=lambda: (out, functional.linear(x, w)), tolerance=1e-2,
    )  # fmt: skip


def decode_case(batch: int, heads: int, width: int, length: int, page: int) -> Case:
    blocks = length // page
    q, k, v = normal(batch, heads, width), *(normal(batch * blocks, page, heads, width, seed=seed) for seed in (1, 2))
    pages = integers(0, batch * blocks, (batch, blocks), "int32")
    lengths, out = torch.full((batch,), length, dtype=torch.int32), torch.empty_like(q)

    def eager() -> Any:
        keys, values = (x[pages.long()].view(batch, length, heads, width).transpose(1, 2) for x in (k, v))
        return functional.scaled_dot_product_attention(q[:, :, None], keys, values)[:, :, 0]

    return Case(
        [
            Launch(
                kernels.decode_pages, (batch, heads), (q, k, v, pages, lengths, out, width**-0.5, blocks),
                {"H": heads, "D": width, "P": page},
            )
        ],
        k.nbytes + v.nbytes, out.nbytes, 4 * k.numel(), eager=eager, results=lambda: (out, eager()),
    )  # fmt: skip


LIBRARY: dict[str, Callable[[], Case]] = {
    "softmax gradient 2048x2048": lambda: softmax_gradient_case(2048, 2048),
    "log softmax 1024x4096": lambda: log_softmax_case(1024, 4096),
    "divergence 1024x4096": lambda: divergence_case(1024, 4096),
    "rms norm gradient 2048x2048": lambda: rms_norm_gradient_case(2048, 2048),
    "matmul int8 512": lambda: matmul_int8_case(512),
    "matmul 4-bit weights 64x1024x1024": lambda: matmul_int4_case(64, 1024, 1024, 128),
    "dequantise nf4 2^21": lambda: dequantise_nf4_case(2**21, 64),
    "causal conv1d 4x512x2048": lambda: causal_conv1d_case(4, 512, 2048),
    "state update 16x2048x16": lambda: state_update_case(16, 2048, 16),
    "depthwise 3x3 8x64x56x56": lambda: depthwise_case(8, 64, 56),
    "batch norm 16x64x56x56": lambda: batch_norm_case(16, 64, 56),
    "upsample 4x32x64x64": lambda: upsample_case(4, 32, 64),
    "count by atomics 2^20": lambda: count_case(2**20, 256),
    "add rows by atomics 16384x64": lambda: add_rows_case(16384, 4096, 64),
    "column maxima by atomics 2048x2048": lambda: column_maxima_case(2048, 2048),
    "matrix times vector 2048": lambda: matvec_case(2048, 2048),
    "linear bf16 512x512x512": lambda: linear_case(512, 512, 512),
    "linear bf16 16x2048x2048": lambda: linear_case(16, 2048, 2048),
    "decode from pages 8x8x1024x64": lambda: decode_case(8, 8, 64, 1024, 16),
}
