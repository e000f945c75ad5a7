"""Softmax, cross entropy with every term, divergences: losses that write gradients over their input."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import Checks, Library, normal, softmax, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra.libdevice import tanh

LIBRARY = Library()


# --------------------------------------------------------------------------------------- softmax and its gradient in tiles


@triton.jit
def _through_softmax(y, dy, along, LOG: tl.constexpr):
    """dx from dy: y (dy - along), where along = sum(y dy); for y = log p it is dy - p along, along = sum(dy)."""
    return dy - tl.exp(y) * along if LOG else y * (dy - along)


@triton.jit
def softmax_gradient(
    y_ptr,
    dy_ptr,
    dx_ptr,
    rows,
    width,
    ROWS: tl.constexpr,
    COLS: tl.constexpr,
    WHOLE_ROW: tl.constexpr,
    LOG: tl.constexpr,
):
    """One pass where a row fits into a tile; else one that sums and one that reads everything again."""
    row = (tl.program_id(0) * ROWS + tl.arange(0, ROWS))[:, None]
    col = tl.arange(0, COLS)[None, :]
    at = row * width + col
    if WHOLE_ROW:
        live = (row < rows) & (col < width)
        y = tl.load(y_ptr + at, mask=live, other=0)
        dy = tl.load(dy_ptr + at, mask=live, other=0)
        along = tl.sum(dy if LOG else dy * y, axis=1, keep_dims=True)
        tl.store(dx_ptr + at, _through_softmax(y, dy, along, LOG), mask=live)
        return
    partial = tl.zeros([ROWS, COLS], dtype=tl.float32)
    for done in range(0, width, COLS):
        live = (row < rows) & (col < width - done)
        term = tl.load(dy_ptr + at, mask=live, other=0, eviction_policy="evict_last")
        if not LOG:
            term *= tl.load(y_ptr + at, mask=live, other=0, eviction_policy="evict_last")
        partial += term
        at += COLS
    along = tl.sum(partial, axis=1, keep_dims=True)
    for _ in range(0, width, COLS):
        at -= COLS
        live = (row < rows) & (at < (row + 1) * width)
        dy = tl.load(dy_ptr + at, mask=live, eviction_policy="evict_first")
        y = tl.load(y_ptr + at, mask=live, eviction_policy="evict_first")
        tl.store(dx_ptr + at, _through_softmax(y, dy, along, LOG), mask=live)


@LIBRARY.case
def gradients_of_softmax() -> Checks:
    m, n = 7, 45
    dy, p = normal(m, n, seed=18), softmax(normal(m, n, seed=19).astype(np.float64))
    results: Checks = []
    for log in (False, True):
        y = np.log(p) if log else p
        expected = dy - p * dy.sum(1, keepdims=True) if log else p * (dy - (p * dy).sum(1, keepdims=True))
        for one in (True, False):
            dx = np.empty_like(dy)
            softmax_gradient[(2,)](
                y.astype(np.float32), dy, dx, m, n, ROWS=4, COLS=64 if one else 16, WHOLE_ROW=one, LOG=log
            )
            results.append((dx, expected, 1e-5))
    return results


# ----------------------------------------------------- losses that write gradients over their input, all terms optional


@triton.jit
def _squashed(logits, cap):
    """Logits between -cap and cap, and the slope there; None for no cap."""
    if cap is None:
        return logits, 1.0
    ratio = tanh(logits / cap)
    return cap * ratio, 1 - ratio * ratio


@triton.jit
def _clear(row_ptr, width, BLOCK: tl.constexpr):
    for first in range(0, width, BLOCK):
        at = first + tl.arange(0, BLOCK)
        tl.store(row_ptr + at, 0.0, mask=at < width)


@triton.jit
def _log_sum(row_ptr, weight_ptr, width, cap, BLOCK: tl.constexpr, SMOOTH: tl.constexpr):
    """log(sum(exp(z))) in one pass, and sum(w z) where labels are smoothed."""
    peak, mass, weighted = float("-inf"), 0.0, 0.0
    for first in range(0, width, BLOCK):
        at = first + tl.arange(0, BLOCK)
        live = at < width
        z, _ = _squashed(tl.load(row_ptr + at, mask=live, other=0.0).cast(tl.float32), cap)
        if SMOOTH:
            share = z if weight_ptr is None else z * tl.load(weight_ptr + at, mask=live)
            weighted += tl.sum(tl.where(live, share, 0.0))
        z = tl.where(live, z, float("-inf"))
        higher = tl.maximum(peak, tl.max(z))
        mass = mass * tl.exp(peak - higher) + tl.sum(tl.exp(z - higher))
        peak = higher
    return peak + tl.log(mass), weighted


@triton.jit
def smoothed_cross_entropy(
    logits_ptr, pitch, target_ptr, weight_ptr, loss_ptr, penalty_ptr, width, rows_counted, weight_total, skipped, cap,
    penalty: tl.constexpr, smoothing: tl.constexpr, MEAN: tl.constexpr, BLOCK: tl.constexpr, WITH_SLOPE: tl.constexpr,
):  # fmt: skip
    """Of z, the logits of one row, with target t and weights w (1 if there are none), the sum of
    (1 - s) w_t (L - z_t), s/n sum(w (L - z)) and `penalty` L^2, where L = log(sum(exp(z))). The slope replaces the
    logits; a row whose target is `skipped` has none."""
    row = tl.program_id(0).to(tl.int64)
    logits_ptr += row * pitch
    target = tl.load(target_ptr + row)
    if target == skipped:
        _clear(logits_ptr, width, BLOCK)
        return
    L, weighted = _log_sum(logits_ptr, weight_ptr, width, cap, BLOCK, smoothing > 0)
    at_target, _ = _squashed(tl.load(logits_ptr + target).cast(tl.float32), cap)
    hard, soft = 1.0 - smoothing, smoothing / width
    entropy_scale, penalty_scale, total = 1.0, 1.0, width.to(tl.float32)
    if weight_ptr is not None:
        hard *= tl.load(weight_ptr + target).cast(tl.float32)
        total = weight_total
    if MEAN:
        penalty_scale = 1.0 / rows_counted
        entropy_scale = penalty_scale if weight_ptr is None else 1.0 / weight_total
    squared = penalty * penalty_scale * L * L
    tl.store(loss_ptr + row, (hard * (L - at_target) + soft * (total * L - weighted)) * entropy_scale + squared)
    if penalty_ptr is not None:
        tl.store(penalty_ptr + row, squared)
    if WITH_SLOPE:
        tl.debug_barrier()
        pull = (hard + soft * total) * entropy_scale + 2 * penalty * penalty_scale * L
        for first in range(0, width, BLOCK):
            at = first + tl.arange(0, BLOCK)
            live = at < width
            z, bend = _squashed(tl.load(logits_ptr + at, mask=live, other=0.0).cast(tl.float32), cap)
            wanted = tl.where(at == target, hard, 0.0)
            wanted += soft if weight_ptr is None else soft * tl.load(weight_ptr + at, mask=live)
            tl.store(logits_ptr + at, (pull * tl.exp(z - L) - wanted * entropy_scale) * bend, mask=live)


def cross_entropy_of(
    x: Array, y: Array, w: Array | None, z: float, smooth: float, cap: float | None, index: int
) -> float:
    """The mean loss with row `index` alone as its numerator."""
    alive = y != -100
    capped = wide(x[index]) if cap is None else cap * np.tanh(x[index] / cap)
    lse = np.log(np.exp(capped).sum())
    weights = np.ones(len(capped)) if w is None else w
    count = alive.sum() if w is None else weights.sum()
    loss = weights[y[index]] * (lse - capped[y[index]]) * (1 - smooth)
    loss += smooth / len(capped) * (weights * (lse - capped)).sum()
    return loss / count + z * lse * lse / alive.sum()


@LIBRARY.case
def cross_entropy_of_every_kind() -> Checks:
    results: Checks = []
    rows, n = 5, 37
    x, y = wide(normal(rows, n, seed=20)), np.array([3, 36, -100, 0, 11], np.int64)
    weight = uniform(n, seed=21, low=0.5)
    for w, z, smooth, cap in (
        (None, 0.0, 0.0, None),
        (None, 0.01, 0.1, None),
        (weight, 0.02, 0.2, None),
        (None, 0.0, 0.1, 2.0),
    ):
        got, loss, z_loss = x.astype(np.float32), np.zeros(rows, np.float32), np.zeros(rows, np.float32)
        smoothed_cross_entropy[(rows,)](
            got, n, y, w, loss, z_loss if z else None, n, 4, 0.0 if w is None else float(w.sum()), -100, cap,
            penalty=z, smoothing=smooth, MEAN=True, BLOCK=16, WITH_SLOPE=True,
        )  # fmt: skip
        expected, slope, h = np.zeros(rows), np.zeros((rows, n)), 1e-5
        for i in np.flatnonzero(y != -100):
            expected[i] = cross_entropy_of(x, y, w, z, smooth, cap, i)
            for j in range(n):
                step = np.zeros_like(x)
                step[i, j] = h
                up, down = (cross_entropy_of(x + s, y, w, z, smooth, cap, i) for s in (step, -step))
                slope[i, j] = (up - down) / (2 * h)
        results += [(loss, expected, 1e-5), (got, slope, 1e-5)]
    return results


@triton.jit
def _divergence(student, teacher, share: tl.constexpr):
    """The generalised Jensen-Shannon divergence of log probabilities, and its slope to the student's.

    `share` of the mixture is the teacher's: 0 stands for KL(teacher, student), 1 for KL(student, teacher).
    """
    q, p = tl.exp(student), tl.exp(teacher)
    if share == 0.0:
        return p * (teacher - student), -p
    if share == 1.0:
        apart = q * (student - teacher)
        return apart, apart + q
    log_mixture = tl.log(share * p + (1 - share) * q)
    slope = (1 - share) * q * (student - log_mixture)
    return share * p * (teacher - log_mixture) + slope, slope


@triton.jit
def mixed_divergence(
    student_ptr, teacher_ptr, loss_ptr, slope_ptr, pitch, label_ptr, counted: int, width,
    share: tl.constexpr, SKIPPED: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    student_ptr += row * pitch
    teacher_ptr += row * pitch
    loss_ptr += row * pitch
    slope_ptr += row * pitch
    skip = False if label_ptr is None else tl.load(label_ptr + row) == SKIPPED
    if skip:
        _clear(slope_ptr, width, BLOCK)
        return
    for left in range(width, 0, -BLOCK):
        live = tl.arange(0, BLOCK) < left
        at = width - left + tl.arange(0, BLOCK)
        log_q = tl.load(student_ptr + at, mask=live, other=-100.0).to(tl.float32)
        log_p = tl.load(teacher_ptr + at, mask=live, other=-100.0).to(tl.float32)
        loss, slope = _divergence(log_q, log_p, share)
        tl.store(slope_ptr + at, slope / counted, mask=live)
        tl.store(loss_ptr + at, loss / counted, mask=live)


@LIBRARY.case
def divergences() -> Checks:
    results: Checks = []
    rows, n = 4, 50
    x, y = np.log(softmax(wide(normal(rows, n, seed=22)))), np.log(softmax(wide(normal(rows, n, seed=23))))
    labels = np.array([1, -100, 3, 4], np.int64)
    for beta, labelled in ((0.0, False), (1.0, True), (0.3, True)):
        loss, dx = np.zeros((rows, n), np.float32), np.zeros((rows, n), np.float32)
        mixed_divergence[(rows,)](
            x.astype(np.float32), y.astype(np.float32), loss, dx, n, labels if labelled else None, 3, n,
            share=beta, SKIPPED=-100, BLOCK=32,
        )  # fmt: skip
        p, q = np.exp(y), np.exp(x)
        m = beta * p + (1 - beta) * q
        if beta == 0:
            wanted, slope = p * (y - x), -p
        elif beta == 1:
            wanted, slope = q * (x - y), q * (x - y + 1)
        else:
            wanted = beta * p * (y - np.log(m)) + (1 - beta) * q * (x - np.log(m))
            slope = (1 - beta) * q * (x - np.log(m))
        live = (labels != -100)[:, None] if labelled else 1
        results += [(loss, wanted * live / 3, 1e-5), (dx, slope * live / 3, 1e-5)]
    return results
