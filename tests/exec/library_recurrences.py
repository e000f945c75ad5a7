"""Recurrences one step after another: updated states, causal convolutions, RWKV, gated units with gradients."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
from library_cases import Checks, Library, normal, sigmoid, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# --------------------------------------------------------------------- one step of a state, slots chosen by indices


@triton.heuristics({"GATED": lambda args: args["gate_ptr"] is not None})
@triton.heuristics({"SKIPS": lambda args: args["skip_ptr"] is not None})
@triton.heuristics({"SHIFTED": lambda args: args["shift_ptr"] is not None})
@triton.heuristics({"STATES": lambda args: triton.next_power_of_2(args["size"])})
@triton.jit
def selective_state_update(
    h_ptr, x_ptr, step_ptr, shift_ptr, rate_ptr, in_ptr, read_ptr, skip_ptr, gate_ptr, y_ptr, slot_ptr, no_slot,
    heads, width, size, sharing, POSITIVE: tl.constexpr, CHANNELS: tl.constexpr, SHIFTED: tl.constexpr,
    SKIPS: tl.constexpr, GATED: tl.constexpr, STATES: tl.constexpr,
):  # fmt: skip
    """h = exp(step rate) h + step x in and y = h read + skip x, times gate sigmoid(gate), of each head of each sequence.

    h has a row of `size` states for each of a head's `width` channels and lies in the sequence's slot; `sharing` heads
    have one `in` and one `read`. A sequence without a slot begins with zeros and leaves nothing behind."""
    sequence, head = tl.program_id(1), tl.program_id(2)
    channel = CHANNELS * tl.program_id(0) + tl.arange(0, CHANNELS)
    has_channel = channel < width
    of_head, row = head * width + channel, (sequence * heads + head) * width + channel
    step = tl.load(step_ptr + row, mask=has_channel, other=0.0).to(tl.float32)
    if SHIFTED:
        step += tl.load(shift_ptr + of_head, mask=has_channel, other=0.0).to(tl.float32)
    if POSITIVE:
        step = tl.where(step > 20.0, step, tl.log(1.0 + tl.exp(step)))
    x = tl.load(x_ptr + row, mask=has_channel, other=0.0).to(tl.float32)
    n = tl.arange(0, STATES)
    has_state = n < size
    live = has_state[None, :] & has_channel[:, None]
    slot = tl.load(slot_ptr + sequence).to(tl.int64)
    kept = h_ptr + (slot * heads * width + of_head[:, None]) * size + n[None, :]
    is_kept = (slot != no_slot) & live
    rate = tl.load(rate_ptr + of_head[:, None] * size + n[None, :], mask=live, other=0.0).to(tl.float32)
    h = tl.load(kept, mask=is_kept, other=0.0) * tl.exp(rate * step[:, None])
    shared = (sequence * (heads // sharing) + head // sharing) * size + n
    h += (step * x)[:, None] * tl.load(in_ptr + shared, mask=has_state, other=0.0).to(tl.float32)[None, :]
    y = tl.sum(h * tl.load(read_ptr + shared, mask=has_state, other=0.0).to(tl.float32)[None, :], axis=1)
    tl.store(kept, h, mask=is_kept)
    if SKIPS:
        y += tl.load(skip_ptr + of_head, mask=has_channel, other=0.0).to(tl.float32) * x
    if GATED:
        gate = tl.load(gate_ptr + row, mask=has_channel, other=0.0).to(tl.float32)
        y *= tl.sigmoid(gate) * gate
    tl.store(y_ptr + row, y, mask=has_channel)


@LIBRARY.case
def states_updated_by_slots() -> Checks:
    results: Checks = []
    batch, heads, groups, dim, n = 3, 4, 2, 10, 12
    for full in (True, False):
        state = normal(5, heads, dim, n, seed=20)
        before, slots = state.copy(), np.array([4, -1, 0], np.int32)
        x, dt, z = (normal(batch, heads, dim, seed=s) for s in (21, 22, 23))
        bias, a, d = normal(heads, dim, seed=24), -uniform(heads, dim, n, seed=25), normal(heads, dim, seed=26)
        b, c, out = normal(batch, groups, n, seed=27), normal(batch, groups, n, seed=28), np.empty_like(x)
        selective_state_update[lambda meta: (triton.cdiv(dim, meta["CHANNELS"]), batch, heads)](
            state, x, dt, bias if full else None, a, b, c, d if full else None, z if full else None, out, slots, -1,
            heads, dim, n, heads // groups, POSITIVE=full, CHANNELS=4,
        )  # fmt: skip
        step = wide(dt) + (bias if full else 0)
        step = np.log1p(np.exp(step)) if full else step
        old = np.where((slots >= 0)[:, None, None, None], before[np.maximum(slots, 0)], 0)
        new = old * np.exp(a * step[..., None]) + np.repeat(b, 2, 1)[:, :, None] * (step * x)[..., None]
        y = (new * np.repeat(c, 2, 1)[:, :, None]).sum(-1) + (x * d if full else 0)
        expected = wide(before)
        expected[4], expected[0] = new[0], new[2]
        results += [(out, y * (z * sigmoid(wide(z)) if full else 1), 2e-5), (state, expected, 1e-5)]
    return results


# ------------------------------------------------------------------------------------------------- causal convolutions


@triton.jit
def causal_conv1d(
    x_ptr, taps_ptr, bias_ptr, before_ptr, y_ptr, begin_ptr, has_before_ptr, width, CHANNEL_STEP: tl.constexpr, time_step,
    TAPS: tl.constexpr, BIASED: tl.constexpr, SILU: tl.constexpr, TIMES: tl.constexpr, CHANNELS: tl.constexpr,
):  # fmt: skip
    """y[t] = sum of taps[j] x[t + j - 3], four taps, of sequences behind one another; x before a sequence's first time
    comes from `before` or is zero. A program takes TIMES of one sequence, and CHANNELS."""
    tl.static_assert(TAPS == 4)
    sequence = tl.program_id(0)
    begin, end = tl.load(begin_ptr + sequence), tl.load(begin_ptr + sequence + 1)
    first = begin + tl.program_id(1) * TIMES
    if first >= end:
        return
    channel = tl.program_id(2) * CHANNELS + tl.arange(0, CHANNELS)
    live = channel < width
    column = x_ptr + channel * CHANNEL_STEP
    if first == begin:
        known = live & tl.load(has_before_ptr + sequence).to(tl.int1)
        before = before_ptr + (sequence * width + channel) * 3
        third = tl.load(before, mask=known, other=0.0)
        second = tl.load(before + 1, mask=known, other=0.0)
        last = tl.load(before + 2, mask=known, other=0.0)
    else:
        third = tl.load(column + (first - 3) * time_step, mask=live, other=0.0)
        second = tl.load(column + (first - 2) * time_step, mask=live, other=0.0)
        last = tl.load(column + (first - 1) * time_step, mask=live, other=0.0)
    row = taps_ptr + channel * TAPS
    taps = (
        tl.load(row, mask=live, other=0.0), tl.load(row + 1, mask=live, other=0.0),
        tl.load(row + 2, mask=live, other=0.0), tl.load(row + 3, mask=live, other=0.0),
    )  # fmt: skip
    bias = (
        tl.load(bias_ptr + channel, mask=live, other=0.0).to(tl.float32) if BIASED else tl.zeros([CHANNELS], tl.float32)
    )
    for time in range(first, tl.minimum(first + TIMES, end)):
        now = tl.load(column + time * time_step, mask=live)
        window = (third, second, last, now)
        y = bias
        for j in tl.static_range(TAPS):
            y += taps[j] * window[j]
        if SILU:
            y *= tl.sigmoid(y)
        tl.store(y_ptr + time * time_step + channel * CHANNEL_STEP, y, mask=live)
        third, second, last = second, last, now


@LIBRARY.case
def causal_convolution_of_ragged_sequences() -> Checks:
    results: Checks = []
    dim, starts = 20, np.array([0, 3, 16, 17, 40], np.int32)
    x, w, bias, state = (
        normal(40, dim, seed=29),
        normal(dim, 4, seed=30),
        normal(dim, seed=31),
        normal(4, dim, 3, seed=32),
    )
    stateful = np.array([1, 0, 1, 1], np.bool_)
    for with_bias in (True, False):
        out = np.full_like(x, np.nan)
        causal_conv1d[(4, 3, 2)](
            x, w, bias if with_bias else None, state, out, starts, stateful, dim, 1, dim,
            TAPS=4, BIASED=with_bias, SILU=with_bias, TIMES=8, CHANNELS=16,
        )  # fmt: skip
        expected = np.empty(x.shape)
        for s in range(4):
            rows = slice(starts[s], starts[s + 1])
            padded = np.concatenate([wide(state[s]).T * stateful[s], wide(x[rows])])
            y = sum(padded[j : j + len(padded) - 3] * w[:, j] for j in range(4))
            expected[rows] = (y + bias) * sigmoid(y + bias) if with_bias else y
        results.append((out, expected, 1e-5))
    return results


# ------------------------------------------------------------------------------- RWKV's recurrence, stable by exponents


@triton.jit
def _join(top, values, weights, key, value):
    """Adds exp(key) value and exp(key) to two sums that are kept divided by exp(top)."""
    higher = tl.maximum(top, key)
    old, new = tl.exp(top - higher), tl.exp(key - higher)
    return higher, old * values + new * value, old * weights + new


@triton.jit
def wkv_forward(decay_ptr, bonus_ptr, k_ptr, v_ptr, state_ptr, out_ptr, width, times, CHANNELS: tl.constexpr):
    """Means of the values with weights exp(k), those of earlier times decayed, the present one with a bonus."""
    sequence = tl.program_id(0)
    channel = CHANNELS * tl.program_id(1) + tl.arange(0, CHANNELS)
    live = channel < width
    decay, bonus = tl.load(decay_ptr + channel, mask=live), tl.load(bonus_ptr + channel, mask=live)
    state = state_ptr + 3 * width * sequence + channel
    values, weights = tl.load(state, mask=live), tl.load(state + width, mask=live)
    top = tl.load(state + 2 * width, mask=live)
    for time in range(times):
        at = (sequence * times + time) * width + channel
        key, value = tl.load(k_ptr + at, mask=live), tl.load(v_ptr + at, mask=live)
        _, above, below = _join(top, values, weights, bonus + key, value)
        tl.store(out_ptr + at, above / below, mask=live)
        top, values, weights = _join(decay + top, values, weights, key, value)
    tl.store(state + 2 * width, top, mask=live)
    tl.store(state + width, weights, mask=live)
    tl.store(state, values, mask=live)


@LIBRARY.case
def receptance_weighted_values() -> Checks:
    b, t, c = 2, 13, 20
    w, u, k, v = -uniform(c, seed=33), normal(c, seed=34), normal(b, t, c, seed=35) * 4, normal(b, t, c, seed=36)
    state = np.zeros((b, 3, c), np.float32)
    state[:, 2] = -1e30
    out = np.empty_like(k)
    wkv_forward[(b, 2)](w, u, k, v, state, out, c, t, CHANNELS=16)
    top, bottom, expected = np.zeros((b, c)), np.zeros((b, c)), np.empty(k.shape)
    for i in range(t):
        now = np.exp(wide(u) + k[:, i])
        expected[:, i] = (top + now * v[:, i]) / (bottom + now)
        top, bottom = (np.exp(wide(w)) * s + np.exp(wide(k[:, i])) * f for s, f in ((top, v[:, i]), (bottom, 1)))
    return [(out, expected, 2e-5), (state[:, 0] * np.exp(wide(state[:, 2])), top, 1e-4 * np.abs(top).max())]


# ----------------------------------------------------- a gated recurrence and its gradient, states read back as they grow


@triton.autotune(
    configs=[triton.Config({"LANES": lanes}, num_warps=warps) for lanes in (16, 32) for warps in (1, 2)], key=["width"]
)
@triton.jit
def gated_recurrence(
    state_ptr, x_ptr, gate_ptr, first_ptr, steps, width: tl.constexpr, LANES: tl.constexpr, STARTS: tl.constexpr
):
    """h[t] = exp(gate[t]) h[t - 1] + x[t], every state kept."""
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    live = lane < width
    sequence = tl.program_id(1)
    h = (
        tl.load(first_ptr + sequence * width + lane, mask=live, other=0).to(tl.float32)
        if STARTS
        else tl.zeros([LANES], tl.float32)
    )
    at = sequence * steps * width + lane
    for _ in range(steps):
        decay = tl.exp(tl.load(gate_ptr + at, mask=live, other=0).to(tl.float32))
        h = h * decay + tl.load(x_ptr + at, mask=live, other=0).to(tl.float32)
        tl.store(state_ptr + at, h.to(state_ptr.dtype.element_ty), mask=live)
        at += width


@triton.jit
def gated_recurrence_gradient(
    dstate_ptr, state_ptr, gate_ptr, first_ptr, dx_ptr, dgate_ptr, steps, width: tl.constexpr, LANES: tl.constexpr
):
    """From the last step to the first: dx[t] = dh, then dh flows on through the gate, whose gradient it is times
    h[t - 1]."""
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    live = lane < width
    past_end = (tl.program_id(1) + 1) * steps * width + lane
    gate_ptr += past_end
    dstate_ptr += past_end
    dx_ptr += past_end
    dgate_ptr += past_end
    earlier_ptr = state_ptr + past_end - width
    carried = tl.zeros([LANES], dtype=tl.float32)
    for step in range(steps, 0, -1):
        gate_ptr -= width
        dstate_ptr -= width
        dx_ptr -= width
        dgate_ptr -= width
        earlier_ptr -= width
        dh = carried + tl.load(dstate_ptr, mask=live, other=0).to(tl.float32)
        tl.store(dx_ptr, dh.to(dx_ptr.dtype.element_ty), mask=live)
        carried = tl.exp(tl.load(gate_ptr, mask=live, other=0).to(tl.float32)) * dh
        if step > 1:
            earlier = tl.load(earlier_ptr, mask=live, other=0).to(tl.float32)
        else:
            earlier = tl.load(first_ptr + tl.program_id(1) * width + lane, mask=live, other=0).to(tl.float32)
        tl.store(dgate_ptr, (earlier * carried).to(dgate_ptr.dtype.element_ty), mask=live)


@LIBRARY.case
def gated_recurrence_and_gradient() -> Checks:
    b, t, d = 2, 11, 40
    x, g, h0, do = normal(b, t, d, seed=37), -uniform(b, t, d, seed=38), normal(b, d, seed=39), normal(b, t, d, seed=40)
    o, dx, dg = np.empty_like(x), np.empty_like(x), np.empty_like(x)

    def grid(meta: dict[str, Any]) -> tuple[Any, int]:
        return (triton.cdiv(d, meta["LANES"]), b)

    gated_recurrence[grid](o, x, g, h0, t, width=d, STARTS=True)
    gated_recurrence_gradient[(triton.cdiv(d, 32), b)](do, o, g, h0, dx, dg, t, width=d, LANES=32)
    states, slope = [wide(h0)], np.zeros((b, d))
    for i in range(t):
        states.append(np.exp(wide(g[:, i])) * states[-1] + x[:, i])
    wanted_dx, wanted_dg = np.empty(x.shape), np.empty(x.shape)
    for i in reversed(range(t)):
        slope = slope + do[:, i]
        wanted_dx[:, i] = slope
        slope = slope * np.exp(wide(g[:, i]))
        wanted_dg[:, i] = slope * states[i]
    expected: Array = np.stack(states[1:], 1)
    return [(o, expected, 1e-5), (dx, wanted_dx, 1e-5), (dg, wanted_dg, 1e-5)]
