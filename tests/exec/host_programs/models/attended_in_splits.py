"""Decoding attention over a table of tokens in two stages, grouped heads, a part with positions, a cap; states merged; a prefix and new tokens."""

import math

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def attend_split(
    q, keys, values, scale, starts, tokens, out, lse, splits_of,
    q_row: tl.int64, q_head, k_row: tl.int64, k_head, v_row: tl.int64, v_head, o_row, o_head, o_split,
    GROUP: tl.constexpr, HEADS: tl.constexpr, D: tl.constexpr, POSITIONS: tl.constexpr, DV: tl.constexpr, H: tl.constexpr, N: tl.constexpr,
    LEAST: tl.constexpr, CAP: tl.constexpr, DK: tl.constexpr, LV: tl.constexpr, SINK: tl.constexpr,
):  # fmt: skip
    batch, block, split = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    kv_head = block // tl.cdiv(GROUP, H)
    if GROUP > H:
        VALID: tl.constexpr = H
    else:
        VALID: tl.constexpr = GROUP
    head = block * VALID + tl.arange(0, H)
    ok = (head < (block + 1) * VALID) & (head < HEADS)
    d, dv = tl.arange(0, D), tl.arange(0, DV)
    first = tl.load(starts + batch)
    length = tl.load(starts + batch + 1) - first
    splits = tl.load(splits_of + batch)
    at_q = batch * q_row + head[:, None] * q_head
    if POSITIONS > 0:
        dp = D + tl.arange(0, POSITIONS)
        qp = tl.load(q + at_q + dp[None, :], mask=ok[:, None] & (dp < DK)[None, :], other=0.0)
    each = tl.cdiv(tl.cdiv(length, splits), LEAST) * LEAST
    begin = each * split
    end = tl.minimum(begin + each, length)
    high = tl.zeros([H], tl.float32) - float("inf")
    total = tl.zeros([H], tl.float32)
    acc = tl.zeros([H, DV], tl.float32)
    if end > begin:
        qv = tl.load(q + at_q + d[None, :], mask=ok[:, None] & (d < DK)[None, :], other=0.0)
        for start in range(begin, end, N):
            n = start + tl.arange(0, N)
            place = tl.load(tokens + first + n, mask=n < end, other=0)
            k = tl.load(
                keys + place[None, :] * k_row + kv_head * k_head + d[:, None],
                mask=(n < end)[None, :] & (d < DK)[:, None],
                other=0.0,
            )
            s = tl.dot(qv, k.to(qv.dtype))
            if POSITIONS > 0:
                kp = tl.load(
                    keys + place[None, :] * k_row + kv_head * k_head + dp[:, None],
                    mask=(n < end)[None, :] & (dp < DK)[:, None],
                    other=0.0,
                )
                s += tl.dot(qp, kp.to(qp.dtype))
            s *= scale
            if CAP > 0:
                s = CAP * tanh(s / CAP)
            s = tl.where(ok[:, None] & (n < end)[None, :], s, float("-inf"))
            v = tl.load(
                values + place[:, None] * v_row + kv_head * v_head + dv[None, :],
                mask=(n < end)[:, None] & (dv < LV)[None, :],
                other=0.0,
            )
            new = tl.maximum(tl.max(s, 1), high)
            old = tl.exp(high - new)
            p = tl.exp(s - new[:, None])
            acc = acc * old[:, None] + tl.dot(p.to(v.dtype), v)
            total = total * old + tl.sum(p, 1)
            high = new
        at = batch * o_row + head * o_head + split * o_split
        tl.store(out + at[:, None] + dv[None, :], acc / total[:, None], mask=ok[:, None] & (dv < LV)[None, :])
        tl.store(lse + at // LV, high + tl.log(total), mask=ok)


@triton.jit
def merge_splits(
    parts,
    lse,
    out,
    starts,
    splits_of,
    sinks,
    p_row,
    p_head,
    p_split,
    o_row,
    o_head,
    MAX: tl.constexpr,
    LEAST: tl.constexpr,
    DV: tl.constexpr,
    LV: tl.constexpr,
    SINK: tl.constexpr,
):
    batch, head = tl.program_id(0), tl.program_id(1)
    length = tl.load(starts + batch + 1) - tl.load(starts + batch)
    splits = tl.load(splits_of + batch)
    d = tl.arange(0, DV)
    each = tl.cdiv(tl.cdiv(length, splits), LEAST) * LEAST
    total, high = 0.0, -float("inf")
    acc = tl.zeros([DV], tl.float32)
    for split in range(MAX):
        if tl.minimum(each * (split + 1), length) > each * split:
            at = batch * p_row + head * p_head + split * p_split
            v = tl.load(parts + at + d, mask=d < LV, other=0.0)
            l = tl.load(lse + at // LV)
            new = tl.maximum(l, high)
            old, e = tl.exp(high - new), tl.exp(l - new)
            acc = acc * old + e * v
            total = total * old + e
            high = new
    if SINK:
        total += tl.exp(tl.load(sinks + head) - high)
    tl.store(out + batch * o_row + head * o_head + d, acc / total, mask=d < LV)


def attend(q, keys, values, starts, tokens, scale, cap=0.0, sinks=None, dk=None):
    batches, heads, lk = q.shape
    lv, kv_heads = values.shape[-1], values.shape[1]
    positions = {72: 8, 96: 32}.get(lk, 0)
    d = triton.next_power_of_2(lk - positions)
    group = heads // kv_heads
    splits = torch.tensor([1 + i % 4 for i in range(batches)], dtype=torch.int32, device=q.device)
    parts = torch.full((batches, heads, 4, lv), float("nan"), device=q.device)
    lse = torch.full((batches, heads, 4), float("nan"), device=q.device)
    h = 16
    attend_split[(batches, triton.cdiv(heads, min(h, group)), 4)](
        q, keys, values, scale, starts, tokens, parts, lse, splits, q.stride(0), q.stride(1), keys.stride(0), keys.stride(1),
        values.stride(0), values.stride(1), *parts.stride()[:3], GROUP=group, HEADS=heads, D=d, POSITIONS=positions, DV=triton.next_power_of_2(lv),
        H=h, N=32, LEAST=16, CAP=cap, DK=lk, LV=lv, SINK=sinks is not None, num_warps=4, num_stages=2, waves_per_eu=1, matrix_instr_nonkdim=16, kpack=2,
    )  # fmt: skip
    out = torch.empty(batches, heads, lv, dtype=q.dtype, device=q.device)
    merge_splits[(batches, heads)](
        parts,
        lse,
        out,
        starts,
        splits,
        sinks,
        *parts.stride()[:3],
        *out.stride()[:2],
        MAX=4,
        LEAST=16,
        DV=triton.next_power_of_2(lv),
        LV=lv,
        SINK=sinks is not None,
    )
    return out


def right(q, keys, values, starts, tokens, scale, cap, sinks):
    outs = []
    group = q.shape[1] // values.shape[1]
    for b in range(q.shape[0]):
        at = tokens[starts[b] : starts[b + 1]].long()
        k, v = (t[at].float().repeat_interleave(group, 1) for t in (keys, values))
        s = torch.einsum("hd,nhd->hn", q[b].float(), k) * scale
        if cap:
            s = cap * torch.tanh(s / cap)
        if sinks is not None:
            s = torch.cat([s, sinks[:, None]], 1)
        p = s.softmax(-1)[:, : len(at)]
        outs.append(torch.einsum("hn,nhd->hd", p, v))
    return torch.stack(outs)


torch.manual_seed(0)
lengths = [1, 17, 100, 64, 33]
starts = torch.tensor([0, *torch.tensor(lengths).cumsum(0)], dtype=torch.int32, device=DEVICE)
tokens = torch.randperm(400, device=DEVICE)[: sum(lengths)].to(torch.int32)
for heads, kv_heads, lk, lv, cap, sink, dtype in (
    (8, 2, 64, 64, 0.0, False, torch.float32),
    (4, 4, 80, 80, 5.0, False, torch.float32),
    (40, 1, 72, 64, 0.0, False, torch.bfloat16),
    (6, 2, 96, 64, 3.0, True, torch.float16),
):
    q = torch.randn(len(lengths), heads, lk, device=DEVICE).to(dtype)
    keys = torch.randn(400, kv_heads, lk, device=DEVICE).to(dtype)
    values = keys[..., :lv] if lk == 72 else torch.randn(400, kv_heads, lv, device=DEVICE).to(dtype)
    sinks = torch.randn(heads, device=DEVICE) if sink else None
    got = attend(q, keys, values, starts, tokens, 1 / math.sqrt(lk), cap, sinks)
    bound = 1e-4 if dtype == torch.float32 else 2e-2
    torch.testing.assert_close(
        got.float(), right(q, keys, values, starts, tokens, 1 / math.sqrt(lk), cap, sinks), rtol=bound, atol=bound
    )
print("right on", triton.runtime.driver.active.get_current_target().backend)
