"""Recurrences one step after another: updated states, causal convolutions, RWKV, gated units with gradients."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

from typing import Any

import numpy as np
from library_cases import Array, Checks, Library, normal, sigmoid, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# --------------------------------------------------------------------- one step of a state, slots chosen by indices


@triton.heuristics({"HAS_DT_BIAS": lambda args: args["dt_bias_ptr"] is not None})
@triton.heuristics({"HAS_D": lambda args: args["D_ptr"] is not None})
@triton.heuristics({"HAS_Z": lambda args: args["z_ptr"] is not None})
@triton.heuristics({"BLOCK_SIZE_DSTATE": lambda args: triton.next_power_of_2(args["dstate"])})
@triton.jit
def selective_state_update(
    state_ptr, x_ptr, dt_ptr, dt_bias_ptr, A_ptr, B_ptr, C_ptr, D_ptr, z_ptr, out_ptr, state_batch_indices_ptr,
    pad_slot_id, batch, nheads, dim, dstate, nheads_ngroups_ratio,
    DT_SOFTPLUS: tl.constexpr, BLOCK_SIZE_M: tl.constexpr, HAS_DT_BIAS: tl.constexpr, HAS_D: tl.constexpr,
    HAS_Z: tl.constexpr, BLOCK_SIZE_DSTATE: tl.constexpr,
):  # fmt: skip
    pid_m, pid_b, pid_h = tl.program_id(axis=0), tl.program_id(axis=1), tl.program_id(axis=2)
    slot = tl.load(state_batch_indices_ptr + pid_b).to(tl.int64)
    offs_m = pid_m * BLOCK_SIZE_M + tl.arange(0, BLOCK_SIZE_M)
    offs_n = tl.arange(0, BLOCK_SIZE_DSTATE)
    mask = (offs_m[:, None] < dim) & (offs_n[None, :] < dstate)
    state_ptrs = state_ptr + ((slot * nheads + pid_h) * dim + offs_m[:, None]) * dstate + offs_n[None, :]
    here = (pid_b * nheads + pid_h) * dim + offs_m
    group = (pid_b * (nheads // nheads_ngroups_ratio) + pid_h // nheads_ngroups_ratio) * dstate + offs_n
    alive = mask & (slot != pad_slot_id)
    state = tl.load(state_ptrs, mask=alive, other=0.0)
    x = tl.load(x_ptr + here, mask=offs_m < dim, other=0.0).to(tl.float32)
    dt = tl.load(dt_ptr + here, mask=offs_m < dim, other=0.0).to(tl.float32)
    if HAS_DT_BIAS:
        dt += tl.load(dt_bias_ptr + pid_h * dim + offs_m, mask=offs_m < dim, other=0.0).to(tl.float32)
    if DT_SOFTPLUS:
        dt = tl.where(dt <= 20.0, tl.math.log(tl.math.exp(dt) + 1.0), dt)
    A = tl.load(A_ptr + (pid_h * dim + offs_m[:, None]) * dstate + offs_n[None, :], mask=mask, other=0.0).to(tl.float32)
    dA = tl.exp(A * dt[:, None])
    B = tl.load(B_ptr + group, mask=offs_n < dstate, other=0.0).to(tl.float32)
    C = tl.load(C_ptr + group, mask=offs_n < dstate, other=0.0).to(tl.float32)
    state = state * dA + B[None, :] * dt[:, None] * x[:, None]
    tl.store(state_ptrs, state, mask=alive)
    out = tl.sum(state * C[None, :], axis=1)
    if HAS_D:
        out += x * tl.load(D_ptr + pid_h * dim + offs_m, mask=offs_m < dim, other=0.0).to(tl.float32)
    if HAS_Z:
        z = tl.load(z_ptr + here, mask=offs_m < dim, other=0.0).to(tl.float32)
        out *= z * tl.sigmoid(z)
    tl.store(out_ptr + here, out, mask=offs_m < dim)


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
        selective_state_update[lambda meta: (triton.cdiv(dim, meta["BLOCK_SIZE_M"]), batch, heads)](
            state, x, dt, bias if full else None, a, b, c, d if full else None, z if full else None, out, slots, -1,
            batch, heads, dim, n, heads // groups, DT_SOFTPLUS=full, BLOCK_SIZE_M=4,
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
    x_ptr, w_ptr, bias_ptr, state_ptr, o_ptr, query_start_loc, has_state_ptr, dim, stride_x_dim: tl.constexpr, stride_x_token,
    KERNEL_WIDTH: tl.constexpr, HAS_BIAS: tl.constexpr, SILU: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    seq, chunk = tl.program_id(0), tl.program_id(1)
    feats = tl.program_id(2) * BLOCK_N + tl.arange(0, BLOCK_N)
    start = tl.load(query_start_loc + seq)
    length = tl.load(query_start_loc + seq + 1) - start
    offset = BLOCK_M * chunk
    count = min(BLOCK_M, length - offset)
    if count <= 0:
        return
    mask = feats < dim
    base = x_ptr + start * stride_x_token + feats * stride_x_dim
    STATE_LEN: tl.constexpr = KERNEL_WIDTH - 1
    stateful = tl.load(has_state_ptr + seq).to(tl.int1)
    state_base = state_ptr + seq * dim * STATE_LEN + feats * STATE_LEN
    if chunk == 0:
        col0 = tl.load(state_base + 0, mask=mask & stateful, other=0.0)
        col1 = tl.load(state_base + 1, mask=mask & stateful, other=0.0)
        col2 = tl.load(state_base + 2, mask=mask & stateful, other=0.0)
    else:
        prior = base + (offset - 1) * stride_x_token
        col2 = tl.load(prior, mask, 0.0)
        col1 = tl.load(prior - 1 * stride_x_token, mask, 0.0)
        col0 = tl.load(prior - 2 * stride_x_token, mask, 0.0)
    acc_preload = tl.zeros((BLOCK_N,), dtype=tl.float32)
    if HAS_BIAS:
        acc_preload = tl.load(bias_ptr + feats, mask=mask, other=0.0).to(tl.float32)
    w_col0 = tl.load(w_ptr + feats * KERNEL_WIDTH + 0, mask, other=0.0)
    w_col1 = tl.load(w_ptr + feats * KERNEL_WIDTH + 1, mask, other=0.0)
    w_col2 = tl.load(w_ptr + feats * KERNEL_WIDTH + 2, mask, other=0.0)
    w_col3 = tl.load(w_ptr + feats * KERNEL_WIDTH + 3, mask, other=0.0)
    for idx in range(count):
        acc = acc_preload
        matrix_w, matrix_x = w_col0, col0
        for j in tl.static_range(KERNEL_WIDTH):
            if j == 1:
                matrix_w, matrix_x = w_col1, col1
            elif j == 2:
                matrix_w, matrix_x = w_col2, col2
            elif j == 3:
                matrix_w = w_col3
                matrix_x = tl.load(base + (offset + idx) * stride_x_token, mask=mask)
            acc += matrix_x * matrix_w
        col0 = col1
        col1 = col2
        col2 = matrix_x
        if SILU:
            acc = acc / (1 + tl.exp(-acc))
        tl.store(o_ptr + (start + offset + idx) * stride_x_token + feats * stride_x_dim, acc, mask=mask)


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
            KERNEL_WIDTH=4, HAS_BIAS=with_bias, SILU=with_bias, BLOCK_M=8, BLOCK_N=16,
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
def wkv_forward(w_ptr, u_ptr, k_ptr, v_ptr, state_ptr, out_ptr, chans, tsz, BLOCK_SIZE_C: tl.constexpr):
    b_idx, c_idx = tl.program_id(0), tl.program_id(1)
    cs = c_idx * BLOCK_SIZE_C + tl.arange(0, BLOCK_SIZE_C)
    cmask = cs < chans
    k_ptr += b_idx * tsz * chans
    v_ptr += b_idx * tsz * chans
    out_ptr += b_idx * tsz * chans
    alpha_ptr = state_ptr + b_idx * 3 * chans + cs
    alpha = tl.load(alpha_ptr, mask=cmask).to(tl.float32)
    beta = tl.load(alpha_ptr + chans, mask=cmask).to(tl.float32)
    eps = tl.load(alpha_ptr + 2 * chans, mask=cmask).to(tl.float32)
    w, u = tl.load(w_ptr + cs, mask=cmask).to(tl.float32), tl.load(u_ptr + cs, mask=cmask).to(tl.float32)
    for t in range(tsz):
        kt = tl.load(k_ptr + t * chans + cs, mask=cmask).to(tl.float32)
        vt = tl.load(v_ptr + t * chans + cs, mask=cmask).to(tl.float32)
        ukt = u + kt
        tau = tl.maximum(ukt, eps)
        e1a, e2a = tl.exp(eps - tau), tl.exp(ukt - tau)
        tl.store(out_ptr + t * chans + cs, (e1a * alpha + e2a * vt) / (e1a * beta + e2a), mask=cmask)
        w_eps = w + eps
        eps = tl.maximum(w_eps, kt)
        e1b, e2b = tl.exp(w_eps - eps), tl.exp(kt - eps)
        alpha, beta = e1b * alpha + e2b * vt, e1b * beta + e2b
    tl.store(alpha_ptr, alpha, mask=cmask)
    tl.store(alpha_ptr + chans, beta, mask=cmask)
    tl.store(alpha_ptr + 2 * chans, eps, mask=cmask)


@LIBRARY.case
def receptance_weighted_values() -> Checks:
    b, t, c = 2, 13, 20
    w, u, k, v = -uniform(c, seed=33), normal(c, seed=34), normal(b, t, c, seed=35) * 4, normal(b, t, c, seed=36)
    state = np.zeros((b, 3, c), np.float32)
    state[:, 2] = -1e30
    out = np.empty_like(k)
    wkv_forward[(b, 2)](w, u, k, v, state, out, c, t, BLOCK_SIZE_C=16)
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
