"""Other kernels: of the examples, the test corpus and model libraries, each against what a PyTorch user would write.

None is to be slower than PyTorch by more than `SLACK` on one thread, and none slower than Numba.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba_kernels as numba
import numpy as np
from case import Case, Launch, bf16, cdiv, empty, empty_like, normal, tensors, torch, zeros
from library import LIBRARY
from promised import bf16_matmul_case, matmul_case

from tilewright import compat

with compat.standing_in():
    import model_kernels
    import tutorials

    import dropout
    import kernels
    import layer_norm
    import persistent_matmul

functional: Any = torch.nn.functional if torch is not None else None
aten: Any = torch.ops.aten if torch is not None else None

SLACK = 1.25


def by_block(
    kernel: Any, n: int, arguments: tuple[Any, ...], sizes: tuple[int, ...] = (1024, 4096), **more: Any
) -> list[Launch]:
    """Launches over `n` elements in blocks of a few sizes."""
    return [Launch(kernel, (cdiv(n, block),), arguments, {"BLOCK": block, **more}) for block in sizes]


def rms_norm_case(rows: int, cols: int) -> Case:
    x, w = normal(rows, cols) * np.float32(1e-3), normal(cols, seed=1)
    r = np.ones_like(x)
    out = empty_like(x)
    tx, tr, tw = tensors(x, r, w) or (None,) * 3
    ours = [
        Launch(model_kernels.rms_norm_residual, (rows,), (x, r, w, out, cols, cols, 1e-6), {"BLOCK": block})
        for block in (512, cols)
    ]

    def eager() -> Any:
        tr.add_(tx)
        return functional.rms_norm(tr, (cols,), tw, 1e-6)

    return Case(
        ours, 8 * x.size, 8 * x.size, eager=eager,
        traced=lambda x, r, w: functional.rms_norm(r.add_(x), (cols,), w, 1e-6), tensors=(tx, tr, tw),
        numba=lambda: numba.rms_norm_residual(x, r, w, out, np.float32(1e-6)),
        results=lambda: (out, functional.rms_norm(torch.from_numpy(r), (cols,), tw, 1e-6)),
    )  # fmt: skip


def rotary_case(tokens: int, heads: int, width: int) -> Case:
    q = normal(tokens, heads, width)
    angle = np.random.default_rng(0).uniform(0, 6, (tokens, width // 2)).astype(np.float32)
    cos, sin = np.cos(angle), np.sin(angle)
    half = width // 2
    tq, tc, ts = tensors(q, cos, sin) or (None,) * 3

    def rotate(q: Any, cos: Any, sin: Any) -> Any:
        c, s = torch.cat((cos, cos), -1)[:, None], torch.cat((sin, sin), -1)[:, None]
        return q * c + torch.cat((-q[..., half:], q[..., :half]), -1) * s

    return Case(
        [
            Launch(
                model_kernels.rotary, (tokens, heads), (q, cos, sin, tokens, heads), {"HALF": half, "BACKWARD": False}
            ),
            Launch(tutorials.rotary, (tokens,), (q, cos, sin, heads * width), {"HALF": half, "HEADS": heads}),
        ],
        4 * q.size, 4 * q.size, eager=lambda: rotate(tq, tc, ts), traced=rotate, tensors=(tq, tc, ts),
        numba=lambda: numba.rotary(q, cos, sin, tokens),
    )  # fmt: skip


def cross_entropy_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    target = np.random.default_rng(0).integers(0, cols, rows)
    loss = empty(rows, np.float32)
    tx, tt = tensors(x, target) or (None,) * 2

    def entropy(x: Any, t: Any) -> Any:
        return functional.cross_entropy(x, t, reduction="none")

    return Case(
        [
            Launch(
                tutorials.cross_entropy, (rows,), (x, target, loss, cols, cols, -100),
                {"BLOCK": block, "SMOOTHING": 0.0},
            )
            for block in (1024, 4096)
        ],
        4 * x.size, 4 * rows, eager=lambda: entropy(tx, tt), traced=entropy, tensors=(tx, tt),
        results=lambda: (loss, entropy(tx, tt)),
    )  # fmt: skip


def entropy_gradient_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    target = np.random.default_rng(0).integers(0, cols, rows)
    loss, grad = empty(rows, np.float32), x.copy()
    tx, tt = tensors(x.copy(), target) or (None,) * 2

    def eager() -> Any:
        tx.grad = None
        functional.cross_entropy(tx.requires_grad_(), tt, reduction="sum").backward()

    return Case(
        [
            Launch(
                model_kernels.cross_entropy, (rows,), (grad, target, loss, cols, -100),
                {"smoothing": 0.0, "BLOCK": block},
            )
            for block in (1024, 4096)
        ],
        4 * x.size, 4 * x.size, eager=eager,
    )  # fmt: skip


def gated_case(rows: int, cols: int, kind: str) -> Case:
    """silu(gate) * up of rows that hold both."""
    if kind == "bf16":
        x = bf16(rows, 2 * cols)
        out, tx = torch.empty(rows, cols, dtype=torch.bfloat16), x
    else:
        x, out = normal(rows, 2 * cols), empty((rows, cols), np.float32)
        (tx,) = tensors(x) or (None,)
    size = rows * cols * (2 if kind == "bf16" else 4)

    def gate(x: Any) -> Any:
        return functional.silu(x[:, :cols]) * x[:, cols:]

    return Case(
        [
            Launch(
                model_kernels.gated, (rows, cdiv(cols, block)), (x, out, cols),
                {"ACT": model_kernels.silu, "BLOCK": block},
            )
            for block in (1024, 4096)
        ],
        2 * size, size, 8 * rows * cols, eager=lambda: gate(tx), traced=gate, tensors=(tx,),
        numba=(lambda: numba.swiglu(x, out)) if kind == "f32" else None,
        results=lambda: (out, gate(tx)), tolerance=1e-2 if kind == "bf16" else 1e-5,
    )  # fmt: skip


def layer_norm_bf16_case(rows: int, cols: int) -> Case:
    x, w, b = bf16(rows, cols), bf16(cols, seed=1), bf16(cols, seed=2)
    out = torch.empty_like(x)
    mean, rstd = empty(rows, np.float32), empty(rows, np.float32)
    means = [torch.empty((rows, 1), dtype=torch.bfloat16) for _ in range(2)]
    return Case(
        [
            Launch(
                layer_norm.layer_norm_forward, (rows,), (x, out, w, b, mean, rstd, cols, cols, 1e-5), {"BLOCK": block}
            )
            for block in (1024, cols)
        ],
        2 * rows * cols, 2 * rows * cols, 8 * rows * cols,
        prepared=lambda: aten.native_layer_norm.out(x, (cols,), w, b, 1e-5, out0=out, out1=means[0], out2=means[1]),
        traced=lambda x, w, b: functional.layer_norm(x, (cols,), w, b), tensors=(x, w, b),
        results=lambda: (out, functional.layer_norm(x, (cols,), w, b)), tolerance=1e-2,
    )  # fmt: skip


def weight_gradient_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    out = empty(cols, np.float32)
    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        [
            Launch(tutorials.norm_weights_gradient, (cdiv(cols, bn),), (x, out, rows, cols), {"BM": bm, "BN": bn})
            for bm, bn in ((32, 128), (8, 512), (32, 512))
        ],
        4 * x.size, 4 * cols, x.size, prepared=lambda: torch.sum(tx, 0, out=tout), traced=lambda x: x.sum(0),
        tensors=(tx,), results=lambda: (out, x.sum(0, dtype=np.float64)),
    )  # fmt: skip


def dropout_case(n: int) -> Case:
    x = normal(n)
    out = empty_like(x)
    (tx,) = tensors(x) or (None,)
    return Case(
        by_block(dropout.dropout_kernel, n, (x, out, n, 0.5, 123)),
        4 * n, 4 * n, 60 * n, eager=lambda: functional.dropout(tx, 0.5), traced=lambda x: functional.dropout(x, 0.5),
        tensors=(tx,),
    )  # fmt: skip


def group_norm_case(batch: int, channels: int, side: int, groups: int) -> Case:
    x = normal(batch, channels, side, side)
    out = empty_like(x)
    per_group = channels // groups * side * side
    (tx,) = tensors(x) or (None,)
    return Case(
        [
            Launch(model_kernels.group_norm, (batch * groups,), (x, out, per_group, 1e-5), {"BLOCK": block})
            for block in (256, 1024)
        ],
        4 * x.size, 4 * x.size, 8 * x.size, eager=lambda: functional.group_norm(tx, groups),
        traced=lambda x: functional.group_norm(x, groups), tensors=(tx,),
        results=lambda: (out, functional.group_norm(tx, groups)),
    )  # fmt: skip


def quantise_int8_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    out, scale = empty((rows, cols), np.int8), empty(rows, np.float32)
    (tx,) = tensors(x) or (None,)

    def quantise(x: Any) -> Any:
        scale = x.abs().amax(1, keepdim=True) / 127
        return (x / scale).clamp(-127, 127).round().to(torch.int8), scale

    return Case(
        [Launch(tutorials.quantize_rows, (rows,), (x, out, scale, cols), {"BLOCK": 1 << (cols - 1).bit_length()})],
        4 * x.size, x.size, 4 * x.size, eager=lambda: quantise(tx), traced=quantise, tensors=(tx,),
        results=lambda: (out, quantise(tx)[0]),
    )  # fmt: skip


def quantise_float8_case(rows: int, cols: int) -> Case:
    if torch is None:
        raise RuntimeError("needs PyTorch for float8")
    x = normal(rows, cols)
    out, scale = torch.empty((rows, cols), dtype=torch.float8_e4m3fn), empty(rows, np.float32)
    (tx,) = tensors(x)

    def quantise(x: Any) -> Any:
        scale = x.abs().amax(1, keepdim=True).clamp(min=1e-12) / 448
        return (x / scale).to(torch.float8_e4m3fn), scale

    return Case(
        [Launch(model_kernels.quantise_rows, (rows,), (x, out, scale, cols), {"BLOCK": 1 << (cols - 1).bit_length()})],
        4 * x.size, x.size, 8 * x.size, eager=lambda: quantise(tx), traced=quantise, tensors=(tx,),
        results=lambda: (out.float(), quantise(tx)[0].float()),
    )  # fmt: skip


def embedding_bag_case(rows: int, width: int, bags: int, size: int) -> Case:
    table = normal(rows, width)
    index = np.random.default_rng(0).integers(0, rows, bags * size)
    offsets = np.arange(0, bags * size + 1, size)
    out = empty((bags, width), np.float32)
    tt, ti, to = tensors(table, index, offsets) or (None,) * 3

    def bag(index: Any, table: Any, offsets: Any) -> Any:
        return functional.embedding_bag(index, table, offsets, mode="mean", include_last_offset=True)

    return Case(
        [
            Launch(
                model_kernels.embedding_bag, (bags,), (table, index, offsets, out, width),
                {"MODE": "mean", "BLOCK": width},
            )
        ],
        4 * index.size * width, 4 * out.size, index.size * width, eager=lambda: bag(ti, tt, to), traced=bag,
        tensors=(ti, tt, to), numba=lambda: numba.embedding_bag(table, index, offsets, out),
        results=lambda: (out, bag(ti, tt, to)),
    )  # fmt: skip


def embedding_gradient_case(rows: int, width: int, count: int) -> Case:
    index = np.random.default_rng(0).integers(0, rows, count)
    grad, table, other = normal(count, width), zeros((rows, width), np.float32), zeros((rows, width), np.float32)
    ti, tg, to = tensors(index, grad, other) or (None,) * 3
    return Case(
        [
            Launch(
                model_kernels.embedding_gradient, (cdiv(count, rows),), (grad, index, table, count, width),
                {"ROWS": rows, "BLOCK": width},
            )
            for rows in (1, 8)
        ],
        8 * grad.size, 4 * grad.size, grad.size, eager=lambda: to.index_add_(0, ti, tg),
    )  # fmt: skip


def segment_sum_case(n: int, segments: int) -> Case:
    x = normal(n)
    ids = np.sort(np.random.default_rng(0).integers(0, segments, n)).astype(np.int32)
    out, other = zeros(segments, np.float32), zeros(segments, np.float32)
    tx, ti, to = tensors(x, ids.astype(np.int64), other) or (None,) * 3
    return Case(
        by_block(tutorials.segment_sums, n, (x, ids, out, n)),
        8 * n, 0, n, eager=lambda: to.index_add_(0, ti, tx),
    )  # fmt: skip


def gating_case(rows: int, experts: int) -> Case:
    logits = normal(rows, experts)
    weights, index = empty((rows, 2), np.float32), empty((rows, 2), np.int32)
    (tl,) = tensors(logits) or (None,)

    def gate(logits: Any) -> Any:
        best, index = torch.topk(logits, 2, dim=1)
        return torch.softmax(best, 1), index

    return Case(
        [Launch(tutorials.top2_gating, (rows,), (logits, weights, index, experts), {"BLOCK": experts})],
        4 * logits.size, 16 * rows, 4 * logits.size, eager=lambda: gate(tl), traced=gate, tensors=(tl,),
        results=lambda: (weights, gate(tl)[0]),
    )  # fmt: skip


def binary_search_case(n: int, keys: int) -> Case:
    values = np.sort(normal(n))
    wanted, out = normal(keys, seed=1), empty(keys, np.int32)
    tv, tk = tensors(values, wanted) or (None,) * 2
    return Case(
        [Launch(tutorials.binary_search, (1,), (values, wanted, out, n), {"BLOCK": keys})],
        4 * keys, 4 * keys, eager=lambda: torch.searchsorted(tv, tk, out_int32=True),
        results=lambda: (out, np.searchsorted(values, wanted)),
    )  # fmt: skip


def conv1d_case(n: int, taps: int) -> Case:
    x, w = normal(n), normal(taps, seed=1)
    out = empty_like(x)
    tx, tw = tensors(x, w) or (None,) * 2

    def convolve(x: Any, w: Any) -> Any:
        return functional.conv1d(x[None, None], w[None, None], padding=taps // 2)

    return Case(
        by_block(tutorials.conv1d, n, (x, w, out, n), TAPS=taps),
        4 * n, 4 * n, 2 * taps * n, eager=lambda: convolve(tx, tw), traced=convolve, tensors=(tx, tw),
        results=lambda: (out, convolve(tx, tw)[0, 0]),
    )  # fmt: skip


def attention_delta_case(heads: int, length: int, dim: int) -> Case:
    out, grad = normal(heads, length, dim), normal(heads, length, dim, seed=1)
    delta = empty((heads, length), np.float32)
    to, tg = tensors(out, grad) or (None,) * 2
    return Case(
        [
            Launch(
                tutorials.attention_preprocess, (cdiv(length, bm), heads), (out, grad, delta, length),
                {"BM": bm, "D": dim},
            )
            for bm in (16, 64)
        ],
        8 * out.size, 4 * delta.size, 2 * out.size, eager=lambda: (to * tg).sum(-1),
        traced=lambda o, g: (o * g).sum(-1), tensors=(to, tg), results=lambda: (delta, (to * tg).sum(-1)),
    )  # fmt: skip


def geglu_case(n: int, kind: str) -> Case:
    x = normal(2 * n)
    out = empty(n, np.float32)
    (tx,) = tensors(x) or (None,)
    form = "none" if kind == "gelu" else "tanh"

    def gate(x: Any) -> Any:
        return functional.gelu(x[:n], approximate=form) * x[n:]

    return Case(
        by_block(tutorials.swiglu, n, (x, out, n), KIND=kind),
        8 * n, 4 * n, 20 * n, eager=lambda: gate(tx), traced=gate, tensors=(tx,), results=lambda: (out, gate(tx)),
    )  # fmt: skip


def transpose_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    out = empty((cols, rows), np.float32)
    tx, tout = tensors(x, out) or (None,) * 2
    return Case(
        [
            Launch(
                kernels.transpose_kernel, (cdiv(rows, bm), cdiv(cols, bn)), (x, out, rows, cols),
                {"BLOCK_M": bm, "BLOCK_N": bn},
            )
            for bm, bn in ((32, 32), (64, 64), (64, 16))
        ],
        4 * x.size, 4 * x.size, eager=lambda: tout.copy_(tx.T), numpy=lambda: np.copyto(out, x.T),
        numba=lambda: numba.transpose(x, out), results=lambda: (out, x.T),
    )  # fmt: skip


def sort_case(rows: int, cols: int) -> Case:
    x = normal(rows, cols)
    out = empty_like(x)
    (tx,) = tensors(x) or (None,)
    return Case(
        [Launch(kernels.sort_rows_kernel, (rows,), (x, out), {"BLOCK": cols})],
        4 * x.size, 4 * x.size, eager=lambda: torch.sort(tx, dim=1), numpy=lambda: np.sort(x, axis=1),
        results=lambda: (out, np.sort(x, axis=1)),
    )  # fmt: skip


def topk_case(rows: int, cols: int, k: int) -> Case:
    x, out = normal(rows, cols), empty((rows, k), np.float32)
    (tx,) = tensors(x) or (None,)
    return Case(
        [Launch(kernels.topk_rows_kernel, (rows,), (x, out), {"BLOCK": cols, "K": k})], x.nbytes, out.nbytes,
        eager=lambda: torch.topk(tx, k, dim=1), results=lambda: (out, np.sort(x, axis=1)[:, ::-1][:, :k]),
    )  # fmt: skip


def complex_product_case(n: int) -> Case:
    a, b, out = normal(n, 2), normal(n, 2, seed=1), empty((n, 2), np.float32)
    ca, cb, cout = (array.view(np.complex64)[:, 0] for array in (a, b, out))
    ta, tb, tout = tensors(ca, cb, empty_like(cout)) or (None,) * 3
    return Case(
        by_block(kernels.complex_product_kernel, n, (a, b, out, n)), 2 * a.nbytes, out.nbytes,
        eager=lambda: torch.mul(ta, tb, out=tout), numpy=lambda: np.multiply(ca, cb),
        results=lambda: (out, (ca * cb)[:, None].view(np.float32)),
    )  # fmt: skip


def three_outputs_case(n: int) -> Case:
    x, y = normal(n), normal(n, seed=1)
    outs = [empty(n, np.float32) for _ in range(3)]
    tx, ty, *touts = tensors(x, y, *outs) or (None,) * 5

    def eager() -> None:
        for op, out in zip((torch.add, torch.sub, torch.mul), touts, strict=True):
            op(tx, ty, out=out)

    return Case(
        by_block(kernels.sum_difference_product_kernel, n, (x, y, *outs, n), (4096, 16384)),
        2 * x.nbytes, 3 * x.nbytes, eager=eager, results=lambda: (outs[2], x * y),
    )  # fmt: skip


def tanh_f64_case(n: int) -> Case:
    x, out = empty(n, np.float64), empty(n, np.float64)
    x[:] = np.random.default_rng(0).standard_normal(n)
    tx, tout = tensors(x, empty_like(out)) or (None,) * 2
    return Case(
        by_block(kernels.tanh_kernel, n, (x, out, n)), x.nbytes, out.nbytes, eager=lambda: torch.tanh(tx, out=tout),
        numpy=lambda: np.tanh(x), results=lambda: (out, np.tanh(x)), tolerance=1e-14,
    )  # fmt: skip


def argmax_case(rows: int, cols: int) -> Case:
    x, out = normal(rows, cols), empty(rows, np.int64)
    (tx,) = tensors(x) or (None,)
    return Case(
        [Launch(kernels.argmax_rows_kernel, (rows,), (x, out, cols), {"BLOCK": 1 << (cols - 1).bit_length()})],
        4 * x.size, 8 * rows, x.size, eager=lambda: torch.argmax(tx, 1), traced=lambda x: torch.argmax(x, 1),
        tensors=(tx,), numpy=lambda: np.argmax(x, axis=1), results=lambda: (out, x.argmax(1)),
    )  # fmt: skip


def histogram_case(n: int, bins: int) -> Case:
    x = np.random.default_rng(0).integers(0, bins, n).astype(np.int32)
    out = zeros(bins, np.int32)
    (tx,) = tensors(x) or (None,)
    return Case(
        by_block(kernels.histogram_kernel, n, (x, out, n), (1024, 8192), BINS=bins),
        4 * n, 4 * bins, n, eager=lambda: torch.bincount(tx, minlength=bins),
        numpy=lambda: np.bincount(x, minlength=bins),
    )  # fmt: skip


def adamw_case(n: int) -> Case:
    sets = [[normal(n, seed=seed) if seed < 2 else zeros(n, np.float32) for seed in range(4)] for _ in range(2)]
    p, g, m, v = tensors(*sets[1]) or (None,) * 4
    settings = (1e-3, 0.9, 0.999, 1e-8, 1e-2)

    def eager() -> None:
        """As `torch.optim.AdamW(foreach=False, fused=False)` steps."""
        rate, beta1, beta2, eps, decay = settings
        p.mul_(1 - rate * decay)
        m.lerp_(g, 1 - beta1)
        v.mul_(beta2).addcmul_(g, g, value=1 - beta2)
        p.addcdiv_(m, (v.sqrt() / (1 - beta2**10) ** 0.5).add_(eps), value=-rate / (1 - beta1**10))

    return Case(
        by_block(kernels.adamw_kernel, n, (*sets[0], n, *settings, 10.0)),
        16 * n, 12 * n, 15 * n, eager=eager,
    )  # fmt: skip


def persistent_matmul_case(n: int) -> Case:
    a, b = normal(n, n), normal(n, n, seed=1)
    out = empty_like(a)
    ta, tb, tout = tensors(a, b, out) or (None,) * 3
    return Case(
        [
            Launch(
                persistent_matmul.persistent_matmul_kernel, (8,), (a, b, out, n, n, n, n, 1, n, 1, n, 1),
                {"BLOCK_M": bm, "BLOCK_N": bn, "BLOCK_K": bk, "GROUP_M": 8, "PROGRAMS": 8},
            )
            for bm, bn, bk in ((64, 64, 64), (128, 128, 64))
        ],
        8 * n * n, 4 * n * n, 2 * n**3, eager=lambda: torch.mm(ta, tb, out=tout), results=lambda: (out, a @ b),
    )  # fmt: skip


OTHERS: dict[str, Callable[[], Case]] = {
    "rms norm + residual f32 2048x4096": lambda: rms_norm_case(2048, 4096),
    "rotary f32 2048x16x128": lambda: rotary_case(2048, 16, 128),
    "cross entropy f32 1024x8192": lambda: cross_entropy_case(1024, 8192),
    "cross entropy + gradient 1024x8192": lambda: entropy_gradient_case(1024, 8192),
    "swiglu f32 1024x4096": lambda: gated_case(1024, 4096, "f32"),
    "swiglu bf16 1024x4096": lambda: gated_case(1024, 4096, "bf16"),
    "geglu (erf) f32 2^21": lambda: geglu_case(2**21, "gelu"),
    "geglu (tanh) f32 2^21": lambda: geglu_case(2**21, "tanh"),
    "layer norm bf16 1024x4096": lambda: layer_norm_bf16_case(1024, 4096),
    "layer norm weights gradient 2048x2048": lambda: weight_gradient_case(2048, 2048),
    "group norm f32 16x128x32x32": lambda: group_norm_case(16, 128, 32, 32),
    "dropout f32 2^22": lambda: dropout_case(2**22),
    "adamw step f32 2^20": lambda: adamw_case(2**20),
    "quantise rows int8 1024x4096": lambda: quantise_int8_case(1024, 4096),
    "quantise rows float8 1024x4096": lambda: quantise_float8_case(1024, 4096),
    "embedding bags 2048 of 32 x 128": lambda: embedding_bag_case(20000, 128, 2048, 32),
    "embedding gradient 8192x256": lambda: embedding_gradient_case(20000, 256, 8192),
    "segment sums 2^20": lambda: segment_sum_case(2**20, 4096),
    "top-2 gating 16384x64": lambda: gating_case(16384, 64),
    "binary search 4096 keys in 2^20": lambda: binary_search_case(2**20, 4096),
    "conv1d f32 2^21, 7 taps": lambda: conv1d_case(2**21, 7),
    "attention delta 8x4096x64": lambda: attention_delta_case(8, 4096, 64),
    "transpose f32 2048x2048": lambda: transpose_case(2048, 2048),
    "sort rows 512x1024": lambda: sort_case(512, 1024),
    "top 8 of 512x1024": lambda: topk_case(512, 1024, 8),
    "complex products 2^19": lambda: complex_product_case(2**19),
    "three outputs 2^24": lambda: three_outputs_case(2**24),
    "tanh f64 2^19": lambda: tanh_f64_case(2**19),
    "argmax rows 2048x4096": lambda: argmax_case(2048, 4096),
    "histogram 2^20, 256 bins": lambda: histogram_case(2**20, 256),
    "persistent matmul f32 1024": lambda: persistent_matmul_case(1024),
    "matmul f32 777": lambda: matmul_case(777, floor=0.8),
    "matmul bf16 1000": lambda: bf16_matmul_case(1000, floor=0.8),
    **LIBRARY,
}
