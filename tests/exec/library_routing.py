"""Attention with gates and breaks, sparse choices of experts and tokens, losses of reinforcement learning, odd widths of
weights."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import numpy as np
from library_cases import Checks, Library, integers, normal, sigmoid, softmax, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.core import CONSTEXPR_0

LIBRARY = Library()

# --------------------------------------------------------------------------------------------------------- attention


@triton.jit
def forgetting_attention(
    q_ptr, k_ptr, v_ptr, gate_ptr, out_ptr, T, scale, WINDOW: tl.constexpr, D: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr,
):  # fmt: skip
    """Scores lose the gates between query and key, whose running sums are an argument; WINDOW None looks back far."""
    base = tl.program_id(1).to(tl.int64) * T
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (base + m[:, None]) * D + d, mask=m[:, None] < T, other=0.0) * scale
    gate_q = tl.load(gate_ptr + base + m, mask=m < T, other=0.0)
    top, total = tl.full((BM,), -1e30, tl.float32), tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    first = 0 if WINDOW is None else tl.maximum(tl.program_id(0) * BM - WINDOW + 1, 0) // BN * BN
    for start in range(first, tl.minimum((tl.program_id(0) + 1) * BM, T), BN):
        n = start + tl.arange(0, BN)
        k = tl.load(k_ptr + (base + n[None, :]) * D + d[:, None], mask=n[None, :] < T, other=0.0)
        gate_k = tl.load(gate_ptr + base + n, mask=n < T, other=0.0)
        seen = (m[:, None] >= n[None, :]) & (n[None, :] < T)
        if WINDOW is not None:
            seen &= m[:, None] - n[None, :] < WINDOW
        score = tl.dot(q, k, input_precision="ieee") + gate_q[:, None] - gate_k[None, :]
        score = tl.where(seen, score, -1e30)
        new_top = tl.maximum(top, tl.max(score, 1))
        weight = tl.where(seen, tl.exp(score - new_top[:, None]), 0.0)
        rescale = tl.exp(top - new_top)
        v = tl.load(v_ptr + (base + n[:, None]) * D + d, mask=n[:, None] < T, other=0.0)
        out = tl.dot(weight, v, acc=out * rescale[:, None], input_precision="ieee")
        total = total * rescale + tl.sum(weight, 1)
        top = new_top
    tl.store(out_ptr + (base + m[:, None]) * D + d, out / total[:, None], mask=m[:, None] < T)


@LIBRARY.case
def attention_that_forgets() -> Checks:
    heads, length, width = 2, 37, 16
    q, k, v = (normal(heads, length, width, seed=seed) for seed in (1, 2, 3))
    gates = np.log(sigmoid(normal(heads, length, seed=4))).cumsum(1).astype(np.float32)
    results: Checks = []
    for window in (None, 10):
        out = np.zeros_like(q)
        grid = (triton.cdiv(length, 16), heads)
        forgetting_attention[grid](q, k, v, gates, out, length, 0.25, WINDOW=window, D=width, BM=16, BN=16)
        score = 0.25 * wide(q) @ wide(k).transpose(0, 2, 1) + gates[:, :, None] - gates[:, None, :]
        distance = np.arange(length)[:, None] - np.arange(length)
        score[:, (distance < 0) | (distance >= (window or length))] = -np.inf
        results.append((out, softmax(score) @ wide(v), 1e-4))
    return results


@triton.jit
def stick_breaking(q_ptr, k_ptr, v_ptr, out_ptr, rest_ptr, T, scale, D: tl.constexpr, BM: tl.constexpr):
    """From the nearest key backwards each takes its share of what the nearer ones left of the stick."""
    base = tl.program_id(1).to(tl.int64) * T
    m = tl.program_id(0) * BM + tl.arange(0, BM)
    d = tl.arange(0, D)
    q = tl.load(q_ptr + (base + m[:, None]) * D + d, mask=m[:, None] < T, other=0.0)
    left = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for block in range(tl.program_id(0), -1, -1):
        n = block * BM + tl.arange(0, BM)
        k = tl.load(k_ptr + (base + n[:, None]) * D + d, mask=n[:, None] < T, other=0.0)
        score = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        seen = m[:, None] > n[None, :]
        rest = tl.where(seen, -tl.maximum(score, 0.0) - tl.log(1 + tl.exp(-tl.abs(score))), 0.0)
        nearer = tl.cumsum(rest, axis=1, reverse=True) - rest
        weight = tl.where(seen, tl.exp(score + rest + nearer + left[:, None]), 0.0)
        v = tl.load(v_ptr + (base + n[:, None]) * D + d, mask=n[:, None] < T, other=0.0)
        out += tl.dot(weight, v, input_precision="ieee")
        left += tl.sum(rest, axis=1)
    tl.store(out_ptr + (base + m[:, None]) * D + d, out, mask=m[:, None] < T)
    tl.store(rest_ptr + base + m, tl.exp(left), mask=m < T)


@LIBRARY.case
def stick_breaking_attention() -> Checks:
    heads, length, width = 2, 37, 16
    q, k, v = (normal(heads, length, width, seed=seed) for seed in (5, 6, 7))
    out, rest = np.zeros_like(q), np.zeros((heads, length), np.float32)
    stick_breaking[(triton.cdiv(length, 16), heads)](q, k, v, out, rest, length, 0.25, D=width, BM=16)
    share = sigmoid(0.25 * wide(q) @ wide(k).transpose(0, 2, 1))
    weight, left = np.zeros_like(share), np.ones((heads, length))
    for i in range(length):
        for j in range(i - 1, -1, -1):
            weight[:, i, j] = share[:, i, j] * left[:, i]
            left[:, i] *= 1 - share[:, i, j]
    return [(out, weight @ wide(v), 1e-4), (rest, left, 1e-4)]


@triton.jit
def gated_delta_steps(
    q_ptr, k_ptr, v_ptr, gate_ptr, beta_ptr, out_ptr, state_ptr, slot_ptr, starts_ptr, scale, H: tl.constexpr,
    HV: tl.constexpr, K: tl.constexpr, V: tl.constexpr, BV: tl.constexpr, NORMALISE: tl.constexpr,
):  # fmt: skip
    """The gated delta rule token by token, over sequences of any length, with states in slots of a cache."""
    sequence, head = tl.program_id(1) // HV, tl.program_id(1) % HV
    start, end = tl.load(starts_ptr + sequence), tl.load(starts_ptr + sequence + 1)
    k, v = tl.arange(0, K), tl.program_id(0) * BV + tl.arange(0, BV)
    slot = tl.load(slot_ptr + sequence).to(tl.int64)
    place = ((slot * HV + head) * K + k[:, None]) * V + v[None, :]
    state = tl.load(state_ptr + place, mask=slot >= 0, other=0.0)
    for t in range(start, end):
        key = tl.load(k_ptr + (t * H + head // (HV // H)) * K + k)
        query = tl.load(q_ptr + (t * H + head // (HV // H)) * K + k) * scale
        if NORMALISE:
            key *= tl.rsqrt(tl.sum(key * key) + 1e-6)
        state *= tl.exp(tl.load(gate_ptr + t * HV + head))
        value = tl.load(v_ptr + (t * HV + head) * V + v)
        correction = (value - tl.sum(state * key[:, None], 0)) * tl.load(beta_ptr + t * HV + head)
        state += key[:, None] * correction[None, :]
        tl.store(out_ptr + (t * HV + head) * V + v, tl.sum(state * query[:, None], 0))
    if slot >= 0:
        tl.store(state_ptr + place, state)


@LIBRARY.case
def gated_delta_rule_with_slots() -> Checks:
    starts, slots, heads, wide_heads, width, values = np.array([0, 4, 4, 13], np.int32), [2, 0, -1], 1, 2, 16, 32
    q, k, v = (
        normal(13, heads, width, seed=8),
        normal(13, heads, width, seed=9),
        normal(13, wide_heads, values, seed=10),
    )
    gate, beta = np.log(uniform(13, wide_heads, seed=11, low=0.5)), uniform(13, wide_heads, seed=12)
    state = normal(3, wide_heads, width, values, seed=13)
    expected_state, expected = wide(state), np.zeros((13, wide_heads, values))
    for sequence, slot in enumerate(slots):
        for head in range(wide_heads):
            s = expected_state[slot, head].copy() if slot >= 0 else np.zeros((width, values))
            for t in range(starts[sequence], starts[sequence + 1]):
                key = wide(k)[t, 0] / np.sqrt((wide(k)[t, 0] ** 2).sum() + 1e-6)
                s *= np.exp(gate[t, head])
                s += np.outer(key, (v[t, head] - key @ s) * beta[t, head])
                expected[t, head] = 0.25 * wide(q)[t, 0] @ s
            if slot >= 0:
                expected_state[slot, head] = s
    out = np.zeros(v.shape, np.float32)
    gated_delta_steps[(2, 3 * wide_heads)](
        q, k, v, gate, beta, out, state, np.array(slots, np.int32), starts, 0.25, H=heads, HV=wide_heads, K=width,
        V=values, BV=16, NORMALISE=True,
    )  # fmt: skip
    return [(out, expected, 1e-4), (state, expected_state, 1e-4)]


# -------------------------------------------------------------------------------------------------------- choices


@triton.jit
def sparsemax(x_ptr, out_ptr, N, BLOCK: tl.constexpr, FROM_BELOW: tl.constexpr = CONSTEXPR_0):
    """The point of the simplex next to a row: what is left of it above a threshold that sorting finds."""
    row = tl.program_id(0) * N
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
    falling = tl.sort(x, descending=True) if not FROM_BELOW else tl.flip(tl.sort(x))
    sums = tl.cumsum(tl.where(j < N, falling, 0.0)) - 1
    is_above = (j < N) & (falling * (j + 1) > sums)
    count = tl.sum(is_above.to(tl.int32))
    threshold = tl.sum(tl.where(j == count - 1, sums, 0.0)) / count
    tl.store(out_ptr + row + j, tl.maximum(x - threshold, 0.0), mask=j < N)


@LIBRARY.case
def projections_onto_the_simplex() -> Checks:
    x = normal(3, 50, seed=14)
    falling = -np.sort(-wide(x), axis=1)
    sums = falling.cumsum(1) - 1
    count = (falling * np.arange(1, 51) > sums).sum(1)
    expected = np.maximum(wide(x) - (sums[np.arange(3), count - 1] / count)[:, None], 0)
    results: Checks = []
    for from_below in (False, True):
        out = np.zeros_like(x)
        sparsemax[(3,)](x, out, 50, BLOCK=64, FROM_BELOW=from_below)
        results.append((out, expected, 1e-5))
    return results


@triton.jit
def grouped_choice(
    logits_ptr, bias_ptr, weight_ptr, expert_ptr, scale, E: tl.constexpr, GROUPS: tl.constexpr,
    KEPT_GROUPS: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """DeepSeek's routing: the groups with the best two experts first, then the best experts of these groups."""
    PER_GROUP: tl.constexpr = E // GROUPS
    token = tl.program_id(0)
    e = tl.arange(0, E)
    score = tl.sigmoid(tl.load(logits_ptr + token * E + e).to(tl.float32))
    choice = score + tl.load(bias_ptr + e)
    grouped = tl.reshape(choice, (GROUPS, PER_GROUP))
    best, place = tl.max(grouped, axis=1, return_indices=True)
    others = tl.where(tl.arange(0, PER_GROUP)[None, :] == place[:, None], float("-inf"), grouped)
    of_group = best + tl.max(others, axis=1)
    better = (of_group[None, :] > of_group[:, None]).to(tl.int32)
    kept = tl.sum(better, axis=1) < KEPT_GROUPS
    masked = tl.reshape(tl.where(kept[:, None], grouped, float("-inf")), (E,))
    total = 0.0
    for k in tl.static_range(K):
        expert = tl.argmax(masked, axis=0)
        weight = tl.sum(tl.where(e == expert, score, 0.0))
        total += weight
        tl.store(expert_ptr + token * K + k, expert)
        tl.store(weight_ptr + token * K + k, weight)
        masked = tl.where(e == expert, float("-inf"), masked)
    tl.debug_barrier()
    k = tl.arange(0, K)
    tl.store(weight_ptr + token * K + k, tl.load(weight_ptr + token * K + k) * scale / total)


@LIBRARY.case
def experts_chosen_by_groups() -> Checks:
    tokens, experts, groups, kept, k = 5, 32, 8, 4, 4
    logits, bias = normal(tokens, experts, seed=15), 0.1 * normal(experts, seed=16)
    weight, expert = np.zeros((tokens, k), np.float32), np.zeros((tokens, k), np.int32)
    grouped_choice[(tokens,)](logits, bias, weight, expert, 2.5, E=experts, GROUPS=groups, KEPT_GROUPS=kept, K=k)
    score = sigmoid(wide(logits))
    choice = (score + bias).reshape(tokens, groups, -1)
    of_group = np.sort(choice, axis=2)[:, :, -2:].sum(2)
    for token in range(tokens):
        choice[token, np.argsort(-of_group[token])[kept:]] = -np.inf
    chosen = np.argsort(-choice.reshape(tokens, experts), axis=1)[:, :k]
    picked = np.take_along_axis(score, chosen, 1)
    return [(expert, chosen, 0.0), (weight, 2.5 * picked / picked.sum(1, keepdims=True), 1e-5)]


@triton.jit
def policy_loss(
    logits_ptr, chosen_ptr, old_ptr, reference_ptr, advantage_ptr, mask_ptr, loss_ptr, gradient_ptr, V, T, low, high,
    kl_weight, BLOCK: tl.constexpr,
):  # fmt: skip
    """GRPO for one token per program: log-probability by one pass over the vocabulary, gradient by a second one."""
    token = tl.program_id(0).to(tl.int64)
    if tl.load(mask_ptr + token) == 0:
        for start in range(0, V, BLOCK):
            j = start + tl.arange(0, BLOCK)
            tl.store(gradient_ptr + token * V + j, tl.zeros((BLOCK,), tl.float32), mask=j < V)
        tl.store(loss_ptr + token, 0.0)
        return
    top, total = float("-inf"), 0.0
    for start in range(0, V, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + token * V + j, mask=j < V, other=float("-inf"))
        new_top = tl.maximum(top, tl.max(x))
        total = total * tl.exp(top - new_top) + tl.sum(tl.exp(x - new_top))
        top = new_top
    chosen = tl.load(chosen_ptr + token)
    log_prob = tl.load(logits_ptr + token * V + chosen) - top - tl.log(total)
    advantage = tl.load(advantage_ptr + token // T)
    ratio = tl.exp(log_prob - tl.load(old_ptr + token))
    clipped = tl.clamp(ratio, 1 - low, 1 + high)
    slope = tl.where(ratio * advantage <= clipped * advantage, -ratio * advantage, 0.0)
    loss = -tl.minimum(ratio * advantage, clipped * advantage)
    if reference_ptr is not None:
        difference = tl.load(reference_ptr + token) - log_prob
        loss += kl_weight * (tl.exp(difference) - difference - 1)
        slope += kl_weight * (1 - tl.exp(difference))
    tl.store(loss_ptr + token, loss)
    for start in range(0, V, BLOCK):
        j = start + tl.arange(0, BLOCK)
        x = tl.load(logits_ptr + token * V + j, mask=j < V, other=float("-inf"))
        probability = tl.exp(x - top) / total
        tl.store(gradient_ptr + token * V + j, slope * (tl.where(j == chosen, 1.0, 0.0) - probability), mask=j < V)


@LIBRARY.case
def losses_of_policies() -> Checks:
    rows, length, vocabulary = 2, 4, 70
    tokens = rows * length
    logits, chosen = normal(tokens, vocabulary, seed=17), integers(0, vocabulary, tokens, seed=18, dtype=np.int64)
    log_prob = np.log(softmax(wide(logits)))[np.arange(tokens), chosen]
    old = (log_prob + 0.3 * normal(tokens, seed=19)).astype(np.float32)
    reference = (log_prob + 0.3 * normal(tokens, seed=20)).astype(np.float32)
    advantage, mask = np.array([1.5, -0.7], np.float32), np.array([1, 1, 1, 0, 1, 0, 1, 1], np.int32)
    results: Checks = []
    for weight in (0.0, 0.1):
        loss, gradient = np.zeros(tokens, np.float32), np.full_like(logits, np.nan)
        policy_loss[(tokens,)](
            logits, chosen, old, reference if weight else None, advantage, mask, loss, gradient, vocabulary, length,
            0.2, 0.25, weight, BLOCK=32,
        )  # fmt: skip
        a, ratio = np.repeat(wide(advantage), length), np.exp(log_prob - old)
        clipped = np.clip(ratio, 0.8, 1.25)
        difference = reference - log_prob
        expected = -np.minimum(ratio * a, clipped * a) + weight * (np.exp(difference) - difference - 1)
        slope = np.where(ratio * a <= clipped * a, -ratio * a, 0) + weight * (1 - np.exp(difference))
        one_hot = np.eye(vocabulary)[chosen]
        slopes = (slope * mask)[:, None] * (one_hot - softmax(wide(logits)))
        results += [(loss, expected * mask, 1e-4), (gradient, slopes, 1e-4)]
    return results


# ------------------------------------------------------------------------------------------------- weights of odd widths


@triton.jit
def three_bit_matmul(
    x_ptr, packed_ptr, scale_ptr, zero_ptr, out_ptr, M, N, K: tl.constexpr, GROUP: tl.constexpr, BM: tl.constexpr,
    BN: tl.constexpr, BK: tl.constexpr,
):  # fmt: skip
    """Weights of three bits, 32 in three words, so that some lie across two words."""
    m, n = tl.program_id(0) * BM + tl.arange(0, BM), tl.program_id(1) * BN + tl.arange(0, BN)
    out = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        bit = (k % 32) * 3
        word = k // 32 * 3 + bit // 32
        shift = (bit % 32)[:, None]
        mask = n[None, :] < N
        low = tl.load(packed_ptr + word[:, None] * N + n[None, :], mask=mask, other=0)
        high = tl.load(packed_ptr + (word[:, None] + 1) * N + n[None, :], mask=mask & (shift > 29), other=0)
        value = ((low >> shift) | tl.where(shift > 29, high << (32 - shift) % 32, 0)) & 7
        group = k[:, None] // GROUP
        scale = tl.load(scale_ptr + group * N + n[None, :], mask=mask, other=0.0)
        zero = tl.load(zero_ptr + group * N + n[None, :], mask=mask, other=0)
        x = tl.load(x_ptr + m[:, None] * K + k[None, :], mask=m[:, None] < M, other=0.0)
        weight = (value.to(tl.int32) - zero).to(tl.float32) * scale
        out += tl.dot(x, weight, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * N + n[None, :], out, mask=(m[:, None] < M) & (n[None, :] < N))


@LIBRARY.case
def weights_of_three_bits() -> Checks:
    m, n, k, group = 5, 20, 64, 32
    x, value = normal(m, k, seed=21), integers(0, 8, k, n, seed=22)
    scale, zero = uniform(k // group, n, seed=23), integers(0, 8, k // group, n, seed=24)
    words = np.zeros((k // 32 * 3, n), np.uint64)
    for row in range(k):
        bit = row % 32 * 3
        word = row // 32 * 3 + bit // 32
        words[word] |= value[row].astype(np.uint64) << np.uint64(bit % 32) & np.uint64(0xFFFFFFFF)
        if bit % 32 > 29:
            words[word + 1] |= value[row].astype(np.uint64) >> np.uint64(32 - bit % 32)
    packed: Array = words.astype(np.uint32)
    out = np.zeros((m, n), np.float32)
    three_bit_matmul[(1, 2)](x, packed, scale, zero, out, m, n, K=k, GROUP=group, BM=16, BN=16, BK=32)
    weight = (value - np.repeat(zero, group, 0)) * np.repeat(wide(scale), group, 0)
    return [(out, wide(x) @ weight, 1e-4)]


@triton.jit
def two_of_four_matmul(kept_ptr, place_ptr, x_ptr, out_ptr, M, N, K: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr):
    """A matrix with two of every four elements: what was kept, and two bits each that say where it belongs."""
    m, n = tl.arange(0, BM), tl.program_id(0) * BN + tl.arange(0, BN)
    half = tl.arange(0, K // 2)
    kept = tl.load(kept_ptr + m[:, None] * (K // 2) + half[None, :], mask=m[:, None] < M, other=0.0)
    place = tl.load(place_ptr + m[:, None] * (K // 8) + half[None, :] // 4, mask=m[:, None] < M, other=0)
    place = (place >> (half % 4 * 2)[None, :]) & 3
    first, second = tl.split(tl.reshape(kept, (BM, K // 4, 2)))
    at_first, at_second = tl.split(tl.reshape(place, (BM, K // 4, 2)))
    lane = tl.arange(0, 4)[None, None, :]
    dense = tl.where(lane == at_first[:, :, None], first[:, :, None], 0.0)
    dense += tl.where(lane == at_second[:, :, None], second[:, :, None], 0.0)
    k = tl.arange(0, K)
    x = tl.load(x_ptr + k[:, None] * N + n[None, :], mask=n[None, :] < N, other=0.0)
    out = tl.dot(tl.reshape(dense, (BM, K)), x, input_precision="ieee")
    tl.store(out_ptr + m[:, None] * N + n[None, :], out, mask=(m[:, None] < M) & (n[None, :] < N))


@LIBRARY.case
def matrices_with_two_of_four() -> Checks:
    m, n, k = 13, 20, 32
    kept, x = normal(m, k // 2, seed=25), normal(k, n, seed=26)
    pairs = np.array([(0, 1), (0, 3), (1, 2), (2, 3), (1, 3)])[integers(0, 5, m, k // 4, seed=27)]
    dense = np.zeros((m, k // 4, 4))
    np.put_along_axis(dense, pairs, wide(kept).reshape(m, k // 4, 2), 2)
    bits = pairs.reshape(m, k // 8, 4)
    packed = (bits << np.array([0, 2, 4, 6])).sum(2).astype(np.uint8)
    out = np.zeros((m, n), np.float32)
    two_of_four_matmul[(2,)](kept, packed, x, out, m, n, K=k, BM=16, BN=16)
    return [(out, dense.reshape(m, k) @ wide(x), 1e-4)]
