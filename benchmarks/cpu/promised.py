"""The cases with a promised ratio to PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numba_kernels as numba
import numpy as np
from case import Case, Launch, bf16, cdiv, empty, empty_like, normal, tensors, torch

from tilewright import compat

with compat.standing_in():
    import attention
    import kernels
    import matmul
    import softmax
    import vector_add

functional: Any = torch.nn.functional if torch is not None else None
aten: Any = torch.ops.aten if torch is not None else None


def vector_add_case(n: int, floor: float) -> Case:
    x, y = normal(n), normal(n, seed=1)
    out = empty_like(x)
    ours = [
        Launch(vector_add.add_kernel, (cdiv(n, block),), (x, y, out, n), {"BLOCK": block})
        for block in (1024, 4096, 16384)
    ]
    tx, ty, tout = tensors(x, y, out) or (None,) * 3
    return Case(
        ours, 8 * n, 4 * n, n, floor=floor,
        eager=lambda: torch.add(tx, ty, out=tout), traced=lambda x, y: x + y, tensors=(tx, ty),
        numpy=lambda: np.add(x, y, out=out), numba=lambda: numba.vector_add(x, y, out),
        results=lambda: (out, x + y),
    )  # fmt: skip


def gelu_case(n: int, floor: float) -> Case:
    x = normal(n)
    out = empty_like(x)
    ours = [Launch(kernels.gelu_kernel, (cdiv(n, block),), (x, out, n), {"BLOCK": block}) for block in (1024, 4096)]
    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        ours, 4 * n, 4 * n, 20 * n, floor=floor,
        prepared=lambda: aten.gelu.out(tx, approximate="tanh", out=tout),
        traced=lambda x: functional.gelu(x, approximate="tanh"), tensors=(tx,), numba=lambda: numba.gelu(x, out),
        results=lambda: (out, functional.gelu(tx, approximate="tanh")),
    )  # fmt: skip


def softmax_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out = empty_like(x)
    block = 1 << (cols - 1).bit_length()

    def by_numpy() -> None:
        np.subtract(x, x.max(axis=1, keepdims=True), out=out)
        np.exp(out, out=out)
        np.divide(out, out.sum(axis=1, keepdims=True), out=out)

    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        [Launch(softmax.softmax_kernel, (rows,), (out, x, cols, cols, cols), {"BLOCK": block})],
        4 * x.size, 4 * x.size, 15 * x.size, floor=floor,
        prepared=lambda: aten._softmax.out(tx, 1, False, out=tout), traced=lambda x: torch.softmax(x, 1), tensors=(tx,),
        numpy=by_numpy, numba=lambda: numba.softmax(x, out), results=lambda: (out, torch.softmax(tx, 1)),
    )  # fmt: skip


def layer_norm_case(rows: int, cols: int, floor: float) -> Case:
    x, w, b = normal(rows, cols), normal(cols, seed=1), normal(cols, seed=2)
    out = empty_like(x)
    mean, rstd = empty((rows, 1), np.float32), empty((rows, 1), np.float32)
    block = 1 << (cols - 1).bit_length()
    tx, tw, tb, tout, tmean, trstd = tensors(x, w, b, out, mean, rstd) or (None,) * 6
    return Case(
        [Launch(kernels.layer_norm_kernel, (rows,), (x, out, w, b, cols, cols, 1e-5), {"BLOCK": block})],
        4 * x.size, 4 * x.size, 8 * x.size, floor=floor,
        prepared=lambda: aten.native_layer_norm.out(tx, (cols,), tw, tb, 1e-5, out0=tout, out1=tmean, out2=trstd),
        traced=lambda x, w, b: functional.layer_norm(x, (cols,), w, b), tensors=(tx, tw, tb),
        numba=lambda: numba.layer_norm(x, w, b, out),
        results=lambda: (out, functional.layer_norm(tx, (cols,), tw, tb)),
    )  # fmt: skip


PRODUCT_BLOCKS = ((64, 64, 64), (128, 128, 64), (128, 128, 256), (256, 256, 64))
NARROW_PRODUCT_BLOCKS = ((64, 64, 64), (64, 256, 64), (128, 128, 64), (128, 256, 64))


def product_launches(a: Any, b: Any, out: Any, blocks: Sequence[tuple[int, int, int]] = PRODUCT_BLOCKS) -> list[Launch]:
    """The matrix multiplication of the examples at a few block sizes."""
    (m, k), n = a.shape, b.shape[1]
    arguments = (a, b, out, m, n, k, *matmul.strides(a), *matmul.strides(b), *matmul.strides(out))
    return [
        Launch(
            matmul.matmul_kernel, (cdiv(m, bm) * cdiv(n, bn),), arguments,
            {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP_M": 8},
        )
        for bm, bn, bk in blocks
    ]  # fmt: skip


def matmul_case(n: int, floor: float) -> Case:
    a, b = normal(n, n), normal(n, n, seed=1)
    out = empty_like(a)
    ta, tb, tout = tensors(a, b, out) or (None,) * 3
    return Case(
        product_launches(a, b, out), 8 * n * n, 4 * n * n, 2 * n**3, floor=floor,
        eager=lambda: torch.mm(ta, tb, out=tout), traced=lambda a, b: a @ b, tensors=(ta, tb),
        numpy=lambda: np.matmul(a, b, out=out), results=lambda: (out, a @ b),
    )  # fmt: skip


def matmul_nt_case(n: int, floor: float) -> Case:
    a, b = normal(n, n), normal(n, n, seed=1)
    out = empty_like(a)
    ours = [
        Launch(
            kernels.matmul_nt_kernel, (cdiv(n, bn), cdiv(n, bm)), (a, b, out, n, n, n, n, n, n),
            {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk},
        )
        for bm, bn, bk in PRODUCT_BLOCKS
    ]  # fmt: skip
    ta, tb, tout = tensors(a, b, out) or (None,) * 3
    return Case(
        ours, 8 * n * n, 4 * n * n, 2 * n**3, floor=floor,
        eager=lambda: torch.mm(ta, tb.T, out=tout), traced=lambda a, b: a @ b.T, tensors=(ta, tb),
        numpy=lambda: np.matmul(a, b.T, out=out), results=lambda: (out, a @ b.T),
    )  # fmt: skip


def bf16_matmul_case(n: int, floor: float) -> Case:
    a, b = bf16(n, n), bf16(n, n, seed=1)
    out = torch.empty_like(a)
    return Case(
        product_launches(a, b, out, NARROW_PRODUCT_BLOCKS), 4 * n * n, 2 * n * n, 2 * n**3, "bf16", floor=floor,
        eager=lambda: torch.mm(a, b, out=out), traced=lambda a, b: a @ b, tensors=(a, b),
        results=lambda: (out, a @ b), tolerance=1e-2,
    )  # fmt: skip


def attention_case(heads: int, length: int, dim: int, floor: float, *, causal: bool = False, kind: str = "f32") -> Case:
    if kind == "bf16":
        q, k, v = (bf16(heads, length, dim, seed=seed) for seed in range(3))
        out = torch.empty_like(q)
    else:
        q, k, v = (normal(heads, length, dim, seed=seed) for seed in range(3))
        out = empty_like(q)
    lse = empty((heads, length), np.float32)
    strides = (length * dim, dim) * 4
    ours = [
        Launch(
            attention.attention_forward, (cdiv(length, bm), heads),
            (q, k, v, out, lse, dim**-0.5, length, length, *strides),
            {"HEAD": dim, "BLOCK_M": bm, "BLOCK_N": bn, "CAUSAL": causal},
        )
        for bm, bn in ([(64, 64), (128, 64)] if causal else [(64, 64), (128, 64), (64, 128), (32, 64), (32, 256)])
    ]  # fmt: skip
    batch = (q, k, v) if kind == "bf16" else tensors(q, k, v)
    batch = tuple(tensor[None] for tensor in batch)

    def attend(q: Any, k: Any, v: Any) -> Any:
        return functional.scaled_dot_product_attention(q, k, v, is_causal=causal)

    size = (2 if kind == "bf16" else 4) * heads * length * dim
    return Case(
        ours, 3 * size, size, 4 * heads * length * length * dim / (2 if causal else 1), kind, floor=floor,
        traced=attend, tensors=batch,
        results=lambda: (out, attend(*batch)[0]), tolerance=2e-2 if kind == "bf16" else 1e-4,
    )  # fmt: skip


def gather_case(table_rows: int, width: int, n: int, floor: float) -> Case:
    table = normal(table_rows, width)
    index = np.random.default_rng(0).integers(0, table_rows, n)
    out = empty((n, width), np.float32)
    ours = [
        Launch(kernels.gather_kernel, (cdiv(n, rows),), (index, table, out, width, n), {"ROWS": rows, "BLOCK": width})
        for rows in (1, 8, 32)
    ]
    tt, ti, tout = tensors(table, index, out) or (None,) * 3
    return Case(
        ours, 4 * n * width, 4 * n * width, floor=floor,
        prepared=lambda: aten.embedding.out(tt, ti, out=tout),
        traced=lambda table, index: functional.embedding(index, table),
        tensors=(tt, ti), numpy=lambda: np.take(table, index, axis=0, out=out),
        numba=lambda: numba.gather(table, index, out), results=lambda: (out, table[index]),
    )  # fmt: skip


def column_sum_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out = empty(cols, np.float32)
    ours = [
        Launch(kernels.column_sum_kernel, (cdiv(cols, bn),), (x, out, rows, cols), {"BLOCK_M": bm, "BLOCK_N": bn})
        for bm, bn in ((16, 512), (32, 256), (8, 1024))
    ]
    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        ours, 4 * x.size, 4 * cols, x.size, floor=floor,
        prepared=lambda: torch.sum(tx, dim=0, out=tout), traced=lambda x: x.sum(0), tensors=(tx,),
        numpy=lambda: np.sum(x, axis=0, out=out), numba=lambda: numba.column_sums(x, out),
        results=lambda: (out, x.sum(axis=0, dtype=np.float64)),
    )  # fmt: skip


def cumsum_case(rows: int, cols: int, floor: float) -> Case:
    x = normal(rows, cols)
    out = empty_like(x)
    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        [Launch(kernels.cumsum_kernel, (rows,), (x, out, cols), {"BLOCK": cols})],
        4 * x.size, 4 * x.size, x.size, floor=floor,
        prepared=lambda: torch.cumsum(tx, 1, out=tout), traced=lambda x: torch.cumsum(x, 1), tensors=(tx,),
        numpy=lambda: np.cumsum(x, axis=1, out=out), numba=lambda: numba.cumsum(x, out),
        results=lambda: (out, np.cumsum(x, axis=1, dtype=np.float64)),
    )  # fmt: skip


PROMISED: dict[str, Callable[[], Case]] = {
    "vector add f32 2^20": lambda: vector_add_case(2**20, 0.95),
    "vector add f32 2^24": lambda: vector_add_case(2**24, 1.1),
    "gelu (tanh) f32 2^22": lambda: gelu_case(2**22, 3.0),
    "softmax f32 4096x781": lambda: softmax_case(4096, 781, 1.6),
    "softmax f32 2048x4096": lambda: softmax_case(2048, 4096, 1.6),
    "layer norm f32 1024x4096": lambda: layer_norm_case(1024, 4096, 1.4),
    "layer norm f32 512x8192": lambda: layer_norm_case(512, 8192, 1.4),
    "matmul f32 512": lambda: matmul_case(512, 1.0),
    "matmul f32 1536": lambda: matmul_case(1536, 1.0),
    "matmul f32 1000, B transposed": lambda: matmul_nt_case(1000, 0.9),
    "matmul bf16 1024": lambda: bf16_matmul_case(1024, 0.92),
    "attention f32 8x1024x64": lambda: attention_case(8, 1024, 64, 1.15),
    "attention f32 8x1024x64 causal": lambda: attention_case(8, 1024, 64, 1.0, causal=True),
    "attention bf16 8x1024x64": lambda: attention_case(8, 1024, 64, 1.9, kind="bf16"),
    "gather 50000x256, 8192 rows": lambda: gather_case(50000, 256, 8192, 0.95),
    "column sums f32 4096x4096": lambda: column_sum_case(4096, 4096, 0.95),
    "row cumsum f32 2048x4096": lambda: cumsum_case(2048, 4096, 1.2),
}
"""The floors of the table, by name."""
