"""Optimisers, clipping, sampling and quantised states: what runs around the layers of a model."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import BF16, Checks, Library, integers, normal, softmax, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

LIBRARY = Library()


# ------------------------------------------------------------------------------------------------- optimisers, fused


@triton.jit
def _unbiased(average, memory, step):
    """An exponential average that began at zero, as if it had begun at the mean."""
    return average / (1 - libdevice.pow(memory, step))


@triton.jit
def adam_step(
    weight_ptr, slope_ptr, mean_ptr, square_ptr, highest_ptr, factor_ptr, step_ptr, rate, decay, memory1, memory2, tiny, count,
    DECAYS_WEIGHTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Adam (Kingma and Ba 2015): decay added to the slope, or taken off the weights (Loshchilov and Hutter 2019); with
    `highest_ptr` AMSGrad (Reddi et al. 2018)."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = at < count
    w = tl.load(weight_ptr + at, mask=live).to(tl.float32)
    slope = tl.load(slope_ptr + at, mask=live).to(tl.float32)
    if factor_ptr is not None:
        slope *= tl.load(factor_ptr)
    if DECAYS_WEIGHTS:
        w -= rate * decay * w
    else:
        slope += decay * w
    mean = tl.load(mean_ptr + at, mask=live)
    mean += (slope - mean) * (1 - memory1)
    tl.store(mean_ptr + at, mean, mask=live)
    square = tl.load(square_ptr + at, mask=live)
    square += (slope * slope - square) * (1 - memory2)
    tl.store(square_ptr + at, square, mask=live)
    if highest_ptr is not None:
        square = tl.maximum(square, tl.load(highest_ptr + at, mask=live))
        tl.store(highest_ptr + at, square, mask=live)
    step = tl.load(step_ptr).to(tl.float32)
    spread = tl.sqrt_rn(_unbiased(square, memory2, step)) + tiny
    w -= rate * _unbiased(mean, memory1, step) / spread
    tl.store(weight_ptr + at, w.to(weight_ptr.dtype.element_ty), mask=live)


@LIBRARY.case
def adam_of_several_kinds() -> Checks:
    results: Checks = []
    n = 100
    for dtype, decoupled, clipped, ams in ((np.float32, True, True, False), (BF16, False, False, True)):
        p, g = normal(n, seed=1).astype(dtype), normal(n, seed=2).astype(dtype)
        m, v = normal(n, seed=3), uniform(n, seed=4)
        top, step, clip = uniform(n, seed=5), np.array([3], np.int64), np.array([0.5], np.float32)
        wp, wm, wv, wt = wide(p), wide(m), wide(v), wide(top)
        wg = wide(g) * (0.5 if clipped else 1)
        adam_step[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](
            p, g, m, v, top if ams else None, clip if clipped else None, step, 0.1, 0.01, 0.9, 0.99, 1e-8, n,
            DECAYS_WEIGHTS=decoupled, BLOCK=64,
        )  # fmt: skip
        wp, wg = (wp * (1 - 0.001), wg) if decoupled else (wp, wg + 0.01 * wp)
        wm, wv = 0.9 * wm + 0.1 * wg, 0.99 * wv + 0.01 * wg * wg
        wt = np.maximum(wt, wv) if ams else wv
        wp -= 0.1 * wm / (1 - 0.9**3) / (np.sqrt(wt / (1 - 0.99**3)) + 1e-8)
        results += [(p, wp, 1e-5 if dtype is np.float32 else 1e-2), (m, wm, 1e-5), (v, wv, 1e-5)]
    return results


@triton.jit
def adam_one_by_one(p_ptr, g_ptr, m_ptr, v_ptr, lr, beta1, beta2, eps, step, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    g = tl.load(g_ptr + i, mask=mask)
    m = beta1 * tl.load(m_ptr + i, mask=mask) + (1 - beta1) * g
    tl.store(m_ptr + i, m, mask=mask)
    v = beta2 * tl.load(v_ptr + i, mask=mask) + (1 - beta2) * g * g
    tl.store(v_ptr + i, v, mask=mask)
    rate = lr * tl.sqrt(1 - tl.exp2(step * tl.log2(beta2))) / (1 - tl.exp2(step * tl.log2(beta1)))
    p = tl.load(p_ptr + i, mask=mask)
    tl.store(p_ptr + i, p - rate * m / (tl.sqrt(v) + eps), mask=mask)


@LIBRARY.case
def adam_whose_loads_follow_stores() -> Checks:
    """Arrays that are one, too: what is loaded then is what was stored."""
    results: Checks = []
    n = 100
    for shared in ("", "pm", "pv", "gp", "gm"):
        arrays = {name: normal(n, seed=seed) for seed, name in enumerate("pgmv")}
        arrays["v"] = uniform(n, seed=5) + 1
        if shared:
            arrays[shared[0]] = arrays[shared[1]]
        memory = {id(array): wide(array) for array in arrays.values()}
        p, g, m, v = (memory[id(array)] for array in arrays.values())
        adam_one_by_one[triton.cdiv(n, 64),](*arrays.values(), 0.1, 0.9, 0.99, 1e-3, 3.0, n, BLOCK=64)
        grad = g.copy()
        m[:] = moment = 0.9 * m + 0.1 * grad
        v[:] = spread = 0.99 * v + 0.01 * grad * grad
        p -= 0.1 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3) * moment / (np.sqrt(spread) + 1e-3)
        results += [(array, memory[id(array)], 1e-4) for array in arrays.values()]
    return results


@triton.autotune(
    configs=[triton.Config({"BLOCK": 32}, num_warps=1), triton.Config({"BLOCK": 128}, num_warps=4)],
    key=["count"], restore_value=["weight_ptr", "momentum_ptr"],
)  # fmt: skip
@triton.jit
def lion_step(weight_ptr, slope_ptr, momentum_ptr, rate, decay, mix, memory, count, BLOCK: tl.constexpr):
    """w = (1 - rate decay) w - rate sign(mix m + (1 - mix) g), m = memory m + (1 - memory) g.

    X. Chen et al., "Symbolic discovery of optimization algorithms", 2023.
    """
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = at < count
    weight_ptr += at
    momentum_ptr += at
    g = tl.load(slope_ptr + at, mask=live)
    m = tl.load(momentum_ptr, mask=live)
    direction = mix * m + (1 - mix) * g
    sign = (direction > 0).to(tl.float32) - (direction < 0).to(tl.float32)
    tl.store(momentum_ptr, memory * m + (1 - memory) * g, mask=live)
    w = tl.load(weight_ptr, mask=live)
    tl.store(weight_ptr, w - rate * (decay * w + sign), mask=live)


@LIBRARY.case
def lion() -> Checks:
    p, g, m = normal(150, seed=6), normal(150, seed=7), normal(150, seed=8)
    g[3], m[3] = 0, 0
    wp, wg, wm = wide(p), wide(g), wide(m)
    lion_step[lambda meta: (triton.cdiv(150, meta["BLOCK"]),)](p, g, m, 0.1, 0.01, 0.9, 0.99, 150)
    return [(p, wp * 0.999 - 0.1 * np.sign(0.9 * wm + 0.1 * wg), 1e-5), (m, 0.99 * wm + 0.01 * wg, 1e-5)]


@triton.jit
def stochastic_bf16(x_ptr, out_ptr, seed, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    noise = tl.randint(seed, i).to(tl.uint32, bitcast=True) & 0xFFFF
    bits = (x.to(tl.uint32, bitcast=True) + noise) & 0xFFFF0000
    tl.store(out_ptr + i, bits.to(tl.float32, bitcast=True).to(tl.bfloat16), mask=i < n)


@triton.jit
def quantise_state(x_ptr, code_ptr, q_ptr, absmax_ptr, n, BLOCK: tl.constexpr):
    """Blocks scaled by their largest value; each value becomes the nearest of 256 sorted codes."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    absmax = tl.max(tl.abs(x), axis=0)
    scaled = x / absmax
    low, high = tl.zeros([BLOCK], tl.int32), tl.full([BLOCK], 255, tl.int32)
    for _ in range(8):
        middle = (low + high) // 2
        larger = tl.load(code_ptr + middle) > scaled
        high = tl.where(larger, middle, high)
        low = tl.where(larger, low, middle)
    left, right = tl.load(code_ptr + low), tl.load(code_ptr + high)
    tl.store(q_ptr + i, tl.where(scaled - left > right - scaled, high, low), mask=i < n)
    tl.store(absmax_ptr + tl.program_id(0), absmax)


@LIBRARY.case
def rounded_and_quantised_states() -> Checks:
    x = np.full(4000, 1.0 + 1 / 512, np.float32)
    out = np.empty(4000, BF16)
    stochastic_bf16[(32,)](x, out, 99, 4000, BLOCK=128)
    step = 1 / 128
    share = (wide(out) > 1).mean()
    n = 300
    y, code = normal(n, seed=9), np.sort(np.sign(r := uniform(256, seed=10, low=-1)) * r**2).astype(np.float32)
    code[0], code[-1] = -1, 1
    q, absmax = np.empty(n, np.uint8), np.empty(3, np.float32)
    quantise_state[(3,)](y, code, q, absmax, n, BLOCK=128)
    blocks = [np.abs(y[i : i + 128]).max() for i in range(0, n, 128)]
    scaled = y / np.repeat(blocks, 128)[:n]
    error = np.abs(code[q] - scaled) - np.abs(code[None] - scaled[:, None]).min(1)
    return [
        (np.isin(wide(out), [1, 1 + step]), np.ones(4000), 0), (np.array(share), 0.25, 0.03),
        (absmax, np.array(blocks), 0), (error, np.zeros(n), 1e-6),
    ]  # fmt: skip


@triton.jit
def square_sums(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    acc = tl.zeros([BLOCK], tl.float32)
    for start in range(tl.program_id(0) * BLOCK, n, tl.num_programs(0) * BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0).to(tl.float32)
        acc += x * x
    tl.atomic_add(out_ptr, tl.sum(acc))


@triton.jit
def clip_and_average(x_ptr, ema_ptr, total_ptr, limit, decay, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    norm = tl.sqrt(tl.load(total_ptr))
    factor = tl.clamp(limit / (norm + 1e-6), 0.0, 1.0)
    x = tl.load(x_ptr + i, mask=i < n) * factor
    tl.store(x_ptr + i, x, mask=i < n)
    ema = tl.load(ema_ptr + i, mask=i < n)
    tl.store(ema_ptr + i, tl.fma(decay, ema - x, x), mask=i < n)


@LIBRARY.case
def clipped_gradients() -> Checks:
    x, ema, total = normal(500, seed=11), normal(500, seed=12), np.zeros(1, np.float32)
    before, old = wide(x), wide(ema)
    square_sums[(3,)](x, total, 500, BLOCK=64)
    clip_and_average[(4,)](x, ema, total, 2.0, 0.9, 500, BLOCK=128)
    clipped = before * 2 / np.linalg.norm(before)
    return [(total, [(before**2).sum()], 1e-5), (x, clipped, 1e-5), (ema, 0.9 * old + 0.1 * clipped, 1e-5)]


# --------------------------------------------------------------------------------------------- choosing the next token


@triton.jit
def penalise(
    logits_ptr, history_ptr, length_ptr, temperature_ptr, repetition, presence, frequency, vocab, max_length,
    BLOCK: tl.constexpr, HISTORY: tl.constexpr,
):  # fmt: skip
    row, block = tl.program_id(0), tl.program_id(1)
    cols = block * BLOCK + tl.arange(0, BLOCK)
    h = tl.arange(0, HISTORY)
    length = tl.load(length_ptr + row)
    tokens = tl.load(history_ptr + row * max_length + h, mask=h < length, other=-1)
    count = tl.sum((tokens[:, None] == cols[None, :]).to(tl.int32), axis=0)
    at = logits_ptr + row * vocab + cols
    x = tl.load(at, mask=cols < vocab, other=0.0)
    seen = count > 0
    x = tl.where(seen, tl.where(x > 0, x / repetition, x * repetition), x)
    x -= count * frequency + seen * presence
    tl.store(at, x / tl.load(temperature_ptr + row), mask=cols < vocab)


@triton.jit
def sample_above(logits_ptr, uniform_ptr, out_ptr, vocab, top_p, min_p, BLOCK: tl.constexpr):
    """The threshold of the nucleus by bisection, then a choice by the sums of what is left."""
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(logits_ptr + row * vocab + cols, mask=cols < vocab, other=-float("inf"))
    p = tl.exp(x - tl.max(x, 0))
    p = p / tl.sum(p, 0)
    low, high = 0.0, tl.max(p, 0)
    while high - low > 1e-7:
        middle = (low + high) / 2
        kept = tl.sum(tl.where(p >= middle, p, 0.0), 0)
        if kept >= top_p:
            low = middle
        else:
            high = middle
    alive = (p >= low) & (p >= min_p * tl.max(p, 0))
    p = tl.where(alive, p, 0.0)
    sums = tl.cumsum(p, 0)
    target = tl.load(uniform_ptr + row) * tl.sum(p, 0)
    tl.store(out_ptr + row, tl.argmax((sums > target).to(tl.int32), 0))


@triton.jit
def gumbel_choice(logits_ptr, out_ptr, seed_ptr, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    best, chosen = -float("inf"), 0
    for start in range(0, vocab, BLOCK):
        cols = start + tl.arange(0, BLOCK)
        u = tl.rand(tl.load(seed_ptr + row), row * vocab + cols)
        noisy = tl.load(logits_ptr + row * vocab + cols, mask=cols < vocab, other=-float("inf")) - tl.log(
            -tl.log(u + 1e-20)
        )
        value, at = tl.max(noisy, axis=0, return_indices=True)
        if value > best:
            best = value
            chosen = start + at
    tl.store(out_ptr + row, chosen)


@LIBRARY.case
def next_tokens() -> Checks:
    rows, vocab = 4, 90
    logits, history = normal(rows, vocab, seed=13), integers(0, vocab, rows, 16, seed=14)
    lengths, temperature = np.array([0, 5, 10, 16], np.int32), uniform(rows, seed=15, low=0.5, high=2)
    got = logits.copy()
    penalise[(rows, 3)](got, history, lengths, temperature, 1.3, 0.2, 0.1, vocab, 16, BLOCK=32, HISTORY=16)
    counts: Array = np.stack([np.bincount(history[r, : lengths[r]], minlength=vocab) for r in range(rows)])
    x = np.where(counts > 0, np.where(logits > 0, logits / 1.3, logits * 1.3), wide(logits)) - counts * 0.1
    x = (x - (counts > 0) * 0.2) / temperature[:, None]
    u, tokens = uniform(rows, seed=16), np.empty(rows, np.int64)
    sample_above[(rows,)](got, u, tokens, vocab, 0.8, 0.02, BLOCK=128)
    wanted: list[int] = []
    for r in range(rows):
        p = softmax(x[r])
        order = np.sort(p)[::-1]
        bound = order[np.searchsorted(np.cumsum(order), 0.8)]
        p = np.where((p >= bound) & (p >= 0.02 * p.max()), p, 0)
        wanted.append(int((np.cumsum(p) > u[r] * p.sum()).argmax()))
    many = np.tile(np.log([0.5, 0.25, 0.125, 0.125]).astype(np.float32), (400, 1))
    choices = np.empty(400, np.int32)
    gumbel_choice[(400,)](many, choices, np.arange(400, dtype=np.int64), 4, BLOCK=4)
    share = np.bincount(choices, minlength=4) / 400
    return [(got, x, 1e-5), (tokens, np.array(wanted), 0), (share, np.array([0.5, 0.25, 0.125, 0.125]), 0.08)]


@triton.jit
def accept_drafts(
    out_ptr, starts_ptr, draft_ptr, draft_probs_ptr, target_probs_ptr, bonus_ptr, uniform_ptr, max_spec, vocab,
    NO_DRAFT_PROBS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Drafted tokens are taken while the target agrees; the first refused one is drawn from what is left."""
    req = tl.program_id(0)
    start = 0 if req == 0 else tl.load(starts_ptr + req - 1)
    end = tl.load(starts_ptr + req)
    number = end - start
    rejected = False
    for pos in range(number):
        if not rejected:
            token = tl.load(draft_ptr + start + pos)
            draft = 1.0
            if not NO_DRAFT_PROBS:
                draft = tl.load(draft_probs_ptr + (start + pos) * vocab + token)
            target = tl.load(target_probs_ptr + (start + pos) * vocab + token)
            if draft > 0 and target / draft >= tl.load(uniform_ptr + start + pos):
                tl.store(out_ptr + req * (max_spec + 1) + pos, token)
            else:
                rejected = True
                v = tl.arange(0, BLOCK)
                p = tl.load(target_probs_ptr + (start + pos) * vocab + v, mask=v < vocab, other=0.0)
                if NO_DRAFT_PROBS:
                    p = tl.where(v == token, 0.0, p)
                else:
                    q = tl.load(draft_probs_ptr + (start + pos) * vocab + v, mask=v < vocab, other=0.0)
                    p = tl.maximum(p - q, 0.0)
                tl.store(out_ptr + req * (max_spec + 1) + pos, tl.argmax(p, axis=-1))
    if not rejected:
        tl.store(out_ptr + req * (max_spec + 1) + number, tl.load(bonus_ptr + req))


@LIBRARY.case
def drafts_accepted_or_refused() -> Checks:
    results: Checks = []
    lengths, vocab = [3, 0, 2, 4], 20
    ends, total = np.cumsum(lengths).astype(np.int32), sum(lengths)
    draft, bonus = integers(0, vocab, total, seed=17), integers(0, vocab, 4, seed=18)
    q, p = softmax(normal(total, vocab, seed=19)), softmax(normal(total, vocab, seed=20))
    u = uniform(total, seed=21)
    for without in (False, True):
        out = np.full((4, 5), -1, np.int32)
        accept_drafts[(4,)](
            out, ends, draft, None if without else q, p, bonus, u, 4, vocab, NO_DRAFT_PROBS=without, BLOCK=32
        )
        expected = np.full((4, 5), -1)
        for r, (length, end) in enumerate(zip(lengths, ends, strict=True)):
            for i in range(length):
                at = end - length + i
                token = draft[at]
                if p[at, token] / (1 if without else q[at, token]) >= u[at]:
                    expected[r, i] = token
                    continue
                left = np.where(np.arange(vocab) == token, 0, p[at]) if without else np.maximum(p[at] - q[at], 0)
                expected[r, i] = left.argmax()
                break
            else:
                expected[r, length] = bonus[r]
        results.append((out, expected, 0))
    return results
