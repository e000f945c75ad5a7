"""Recurrences in chunks, as products: the delta rule, gated linear attention, the chunk kernels of state spaces."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import itertools

import numpy as np
from library_cases import BF16, Checks, Library, normal, sigmoid, strides, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# -------------------------------------------------------------- the delta rule in chunks: four kernels behind each other


@triton.heuristics({"RAGGED": lambda args: args["begin_ptr"] is not None})
@triton.jit
def sum_within_chunks(
    x_ptr, sum_ptr, begin_ptr, piece_ptr, length, HEADS: tl.constexpr, CHUNK: tl.constexpr, RAGGED: tl.constexpr
):
    """One chunk of one head. Sequences are equally long, or begin at `begin_ptr`, and pieces name theirs and the chunk."""
    chunk = tl.program_id(0)
    first = tl.program_id(1) // HEADS * length
    if RAGGED:
        sequence = tl.load(piece_ptr + 2 * chunk).to(tl.int32)
        chunk = tl.load(piece_ptr + 2 * chunk + 1).to(tl.int32)
        first = tl.load(begin_ptr + sequence).to(tl.int32)
        length = tl.load(begin_ptr + sequence + 1).to(tl.int32) - first
    column = first * HEADS + tl.program_id(1) % HEADS
    source = tl.make_block_ptr(x_ptr + column, (length,), (HEADS,), (chunk * CHUNK,), (CHUNK,), (0,))
    target = tl.make_block_ptr(sum_ptr + column, (length,), (HEADS,), (chunk * CHUNK,), (CHUNK,), (0,))
    sums = tl.cumsum(tl.load(source, boundary_check=(0,)).to(tl.float32), axis=0)
    tl.store(target, sums.to(sum_ptr.dtype.element_ty), boundary_check=(0,))


@LIBRARY.case
def sums_within_chunks() -> Checks:
    b, t, h, bt = 2, 21, 3, 8
    g = normal(b, t, h, seed=1)
    out = np.empty_like(g)
    sum_within_chunks[(triton.cdiv(t, bt), b * h)](g, out, None, None, t, HEADS=h, CHUNK=bt)
    expected = np.concatenate([np.cumsum(wide(g[:, i : i + bt]), 1) for i in range(0, t, bt)], 1)
    ragged, starts = np.empty((42, h), np.float32), np.array([0, 5, 22, 42], np.int64)
    pieces = [(n, c) for n, length in enumerate(np.diff(starts)) for c in range(triton.cdiv(int(length), bt))]
    sum_within_chunks[(len(pieces), h)](g, ragged, starts, np.array(pieces, np.int64), 42, HEADS=h, CHUNK=bt)
    parts = [
        wide(g).reshape(42, h)[a:b][i : i + bt] for a, b in itertools.pairwise(starts) for i in range(0, b - a, bt)
    ]
    return [(out, expected, 1e-6), (ragged, np.concatenate([np.cumsum(p, 0) for p in parts]), 1e-6)]


@triton.jit
def _rows_from(ptr, head, first, length, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """A block pointer to `ROWS` rows of one head, all its columns."""
    return tl.make_block_ptr(
        ptr + head * length * WIDTH, (length, WIDTH), (WIDTH, 1), (first, 0), (ROWS, WIDTH), (1, 0)
    )


@triton.jit
def _strengths(ptr, head, first, length, CHUNK: tl.constexpr):
    at = tl.make_block_ptr(ptr + head * length, (length,), (1,), (first,), (CHUNK,), (0,))
    return tl.load(at, boundary_check=(0,))[:, None]


@triton.jit
def delta_rule_inverse(
    key_ptr, strength_ptr, inverse_ptr, length, key_pitch, WIDTH: tl.constexpr, CHUNK: tl.constexpr, PART: tl.constexpr
):
    """(1 + L)^-1 of each chunk, where L is diag(strength) K K^T below the diagonal: by substitution, row by row.

    S. Yang et al., "Parallelizing linear transformers with the delta rule over sequence length", 2024.
    """
    first, head = tl.program_id(0) * CHUNK, tl.program_id(1)
    strength = _strengths(strength_ptr, head, first, length, CHUNK)
    keys = tl.make_block_ptr(
        key_ptr + head * length * WIDTH, (length, WIDTH), (key_pitch, 1), (first, 0), (CHUNK, PART), (1, 0)
    )
    lower = tl.zeros([CHUNK, CHUNK], dtype=tl.float32)
    for _ in range(0, WIDTH, PART):
        part = tl.load(keys, boundary_check=(0, 1))
        lower += tl.dot(part * strength, part.T, allow_tf32=False)
        keys = tl.advance(keys, (0, PART))
    row, col = tl.arange(0, CHUNK)[:, None], tl.arange(0, CHUNK)[None, :]
    lower = tl.where(row > col, lower, 0)
    inverse = (row == col).to(tl.float32)
    for r in range(1, CHUNK):
        coefficients = tl.sum(tl.where(row == r, lower, 0), axis=0)
        solved = tl.sum(coefficients[:, None] * inverse, axis=0)
        inverse -= tl.where(row == r, solved[None, :], 0)
    tl.store(_rows_from(inverse_ptr, head, first, length, CHUNK, CHUNK), inverse, boundary_check=(0, 1))


@triton.jit
def delta_rule_states(
    key_ptr, value_ptr, strength_ptr, inverse_ptr, before_ptr, new_value_ptr, initial_ptr, final_ptr, length,
    WIDTH: tl.constexpr, CHUNK: tl.constexpr, STARTS: tl.constexpr, ENDS: tl.constexpr,
):  # fmt: skip
    """The state before every chunk, and its corrected values U = T diag(b) V - (T diag(b) K) state; then the state
    gains K^T U."""
    head = tl.program_id(0)
    state = tl.zeros([WIDTH, WIDTH], dtype=tl.float32)
    if STARTS:
        state += tl.load(_rows_from(initial_ptr, head, 0, WIDTH, WIDTH, WIDTH)).to(tl.float32)
    chunks = tl.cdiv(length, CHUNK)
    before = _rows_from(before_ptr, head * chunks, 0, WIDTH, WIDTH, WIDTH)
    for first in range(0, length, CHUNK):
        tl.store(before, state.to(before_ptr.dtype.element_ty), boundary_check=(0, 1))
        before = _rows_from(before_ptr, head * chunks + first // CHUNK + 1, 0, WIDTH, WIDTH, WIDTH)
        key = tl.load(_rows_from(key_ptr, head, first, length, WIDTH, CHUNK), boundary_check=(0, 1))
        value = tl.load(_rows_from(value_ptr, head, first, length, WIDTH, CHUNK), boundary_check=(0, 1))
        strength = _strengths(strength_ptr, head, first, length, CHUNK)
        solve = tl.load(_rows_from(inverse_ptr, head, first, length, CHUNK, CHUNK), boundary_check=(0, 1))
        erased = tl.dot(tl.dot(solve, strength * key, allow_tf32=False), state, allow_tf32=False)
        corrected = tl.dot(solve, strength * value, allow_tf32=False) - erased
        state += tl.dot(key.T, corrected, allow_tf32=False)
        target = _rows_from(new_value_ptr, head, first, length, WIDTH, CHUNK)
        tl.store(target, corrected.to(new_value_ptr.dtype.element_ty), boundary_check=(0, 1))
    if ENDS:
        target = _rows_from(final_ptr, head, 0, WIDTH, WIDTH, WIDTH)
        tl.store(target, state.to(final_ptr.dtype.element_ty), boundary_check=(0, 1))


@triton.jit
def delta_rule_outputs(
    query_ptr, key_ptr, value_ptr, state_ptr, out_ptr, scale, length, WIDTH: tl.constexpr, CHUNK: tl.constexpr,
    PART: tl.constexpr,
):  # fmt: skip
    """scale (Q state + tril(Q K^T) U) of one chunk, `PART` columns of it."""
    first, head = tl.program_id(1) * CHUNK, tl.program_id(2)
    column = tl.program_id(0) * PART
    rows = head * length * WIDTH
    matrix = (head * tl.cdiv(length, CHUNK) + tl.program_id(1)) * WIDTH * WIDTH
    query = tl.load(_rows_from(query_ptr, head, first, length, WIDTH, CHUNK), boundary_check=(0, 1)) * scale
    turned = tl.make_block_ptr(key_ptr + rows, (WIDTH, length), (1, WIDTH), (0, first), (WIDTH, CHUNK), (0, 1))
    scores = tl.dot(query, tl.load(turned, boundary_check=(0, 1)), allow_tf32=False)
    later = tl.arange(0, CHUNK)[None, :] > tl.arange(0, CHUNK)[:, None]
    value = tl.make_block_ptr(value_ptr + rows, (length, WIDTH), (WIDTH, 1), (first, column), (CHUNK, PART), (1, 0))
    inside = tl.dot(tl.where(later, 0, scores), tl.load(value, boundary_check=(0, 1)), allow_tf32=False)
    state = tl.make_block_ptr(state_ptr + matrix, (WIDTH, WIDTH), (WIDTH, 1), (0, column), (WIDTH, PART), (1, 0))
    across = tl.dot(query, tl.load(state, boundary_check=(0, 1)), allow_tf32=False)
    target = tl.make_block_ptr(out_ptr + rows, (length, WIDTH), (WIDTH, 1), (first, column), (CHUNK, PART), (1, 0))
    tl.store(target, (inside + across).to(out_ptr.dtype.element_ty), boundary_check=(0, 1))


@LIBRARY.case
def delta_rule_in_chunks() -> Checks:
    heads, t, d, bt = 2, 45, 16, 16
    nt = triton.cdiv(t, bt)
    q, k, v = normal(heads, t, d, seed=2), normal(heads, t, d, seed=3), normal(heads, t, d, seed=4)
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    beta, h0 = uniform(heads, t, seed=5), normal(heads, d, d, seed=6)
    A, h = np.zeros((heads, t, bt), np.float32), np.zeros((heads, nt, d, d), np.float32)
    u, o, ht = np.empty_like(v), np.empty_like(v), np.empty_like(h0)
    delta_rule_inverse[(nt, heads)](k, beta, A, t, d, WIDTH=d, CHUNK=bt, PART=16)
    delta_rule_states[(heads,)](k, v, beta, A, h, u, h0, ht, t, WIDTH=d, CHUNK=bt, STARTS=True, ENDS=True)
    delta_rule_outputs[(2, nt, heads)](q, k, u, h, o, 0.25, t, WIDTH=d, CHUNK=bt, PART=8)
    expected = np.empty(o.shape)
    states = np.empty(h0.shape)
    for i in range(heads):
        state = wide(h0[i])
        for j in range(t):
            state = state + beta[i, j] * np.outer(k[i, j], v[i, j] - k[i, j] @ state)
            expected[i, j] = q[i, j] @ state * 0.25
        states[i] = state
    return [(o, expected, 2e-5), (ht, states, 2e-5)]


# ---------------------------------------------------------------------- gated linear attention, one step after another


@triton.heuristics({"STARTS": lambda args: args["initial_ptr"] is not None})
@triton.heuristics(
    {"ENDS": lambda args: args["final_ptr"] is not None, "GATED": lambda args: args["gate_ptr"] is not None}
)
@triton.jit(do_not_specialize=["steps"])
def gated_linear_attention(
    query_ptr, key_ptr, value_ptr, gate_ptr, initial_ptr, out_ptr, final_ptr, scale, steps, SEQUENCES: tl.constexpr,
    HEADS: tl.constexpr, KEYS: tl.constexpr, VALUES: tl.constexpr, KEY_BLOCK: tl.constexpr, VALUE_BLOCK: tl.constexpr,
    BACKWARDS: tl.constexpr, GATED: tl.constexpr, STARTS: tl.constexpr, ENDS: tl.constexpr,
):  # fmt: skip
    """S = diag(exp(gate)) S + k v^T and out = scale q^T S at each step, a block of S in each program; outputs of
    several blocks of keys are parts of a sum."""
    key_block, both = tl.program_id(1).to(tl.int64), tl.program_id(2).to(tl.int64)
    sequence, head = both // HEADS, both % HEADS
    row = key_block * KEY_BLOCK + tl.arange(0, KEY_BLOCK)
    col = tl.program_id(0).to(tl.int64) * VALUE_BLOCK + tl.arange(0, VALUE_BLOCK)
    cell = (both * KEYS + row[:, None]) * VALUES + col[None, :]
    live = (row < KEYS)[:, None] & (col < VALUES)[None, :]
    state = tl.zeros([KEY_BLOCK, VALUE_BLOCK], dtype=tl.float32)
    if STARTS:
        state += tl.load(initial_ptr + cell, mask=live, other=0).to(tl.float32)
    step = steps - 1 if BACKWARDS else 0
    for _ in range(steps):
        line = (sequence * steps + step) * HEADS + head
        if GATED:
            state *= tl.exp(tl.load(gate_ptr + line * KEYS + row, mask=row < KEYS, other=0).to(tl.float32))[:, None]
        key = tl.load(key_ptr + line * KEYS + row, mask=row < KEYS, other=0).to(tl.float32)
        value = tl.load(value_ptr + line * VALUES + col, mask=col < VALUES, other=0).to(tl.float32)
        state += key[:, None] * value[None, :]
        query = tl.load(query_ptr + line * KEYS + row, mask=row < KEYS, other=0).to(tl.float32)
        answer = tl.sum(query[:, None] * state, axis=0) * scale
        part = key_block * SEQUENCES * steps * HEADS + line
        tl.store(out_ptr + part * VALUES + col, answer.to(out_ptr.dtype.element_ty), mask=col < VALUES)
        step += -1 if BACKWARDS else 1
    if ENDS:
        tl.store(final_ptr + cell, state.to(final_ptr.dtype.element_ty), mask=live)


@LIBRARY.case
def gated_linear_attention_steps() -> Checks:
    b, t, h, kd, vd, bk, bv = 2, 9, 2, 20, 12, 16, 8
    results: Checks = []
    for reverse, gated, stateful in ((False, True, True), (True, True, False), (False, False, True)):
        q, k, v = (normal(b, t, h, n, seed=s).astype(BF16) for s, n in ((7, kd), (8, kd), (9, vd)))
        gate = -uniform(b, t, h, kd, seed=10) if gated else None
        h0 = normal(b, h, kd, vd, seed=11) if stateful else None
        nk = triton.cdiv(kd, bk)
        o, ht = np.zeros((nk, b, t, h, vd), np.float32), np.zeros((b, h, kd, vd), np.float32) if stateful else None
        gated_linear_attention[(triton.cdiv(vd, bv), nk, b * h)](
            q, k, v, gate, h0, o, ht, kd**-0.5, t, SEQUENCES=b, HEADS=h, KEYS=kd, VALUES=vd, KEY_BLOCK=bk, VALUE_BLOCK=bv,
            BACKWARDS=reverse,
        )  # fmt: skip
        expected, state = np.empty((b, t, h, vd)), np.zeros((b, h, kd, vd)) if h0 is None else wide(h0)
        for i in reversed(range(t)) if reverse else range(t):
            decay = 1 if gate is None else np.exp(wide(gate[:, i]))[..., None]
            state = state * decay + wide(k[:, i])[..., None] * wide(v[:, i])[..., None, :]
            expected[:, i] = (wide(q[:, i])[..., None] * state).sum(-2) * kd**-0.5
        results.append((o.sum(0), expected, 2e-5))
        if ht is not None:
            results.append((ht, state, 2e-5))
    return results


# ------------------------------------------------------------------------- Mamba 2: states of chunks, passed on, scanned


@triton.jit
def _tile(ptr, rows, cols, row_pitch, col_pitch, height, width):
    """The elements of a matrix at a column of row indices and a row of column indices; zero past its bounds."""
    at = rows[:, None] * row_pitch + cols[None, :] * col_pitch
    return tl.load(ptr + at, mask=(rows[:, None] < height) & (cols[None, :] < width), other=0.0)


@triton.jit
def state_gained(
    out_ptr, x_ptr, key_ptr, step_ptr, decay_ptr, width, states, chunk, length, sharing, x_pitch, x_head, key_pitch,
    key_head, out_chunk, out_head, step_chunk, step_head, ROWS: tl.constexpr, COLS: tl.constexpr, DEPTH: tl.constexpr,
):  # fmt: skip
    """What a chunk adds to a head's state: the sum over its times t of exp(total - decay[t]) step[t] x[t] key[t]^T.

    T. Dao, A. Gu, "Transformers are SSMs", 2024.
    """
    number, head = tl.program_id(axis=1), tl.program_id(axis=2)
    across = tl.cdiv(states, COLS)
    row = tl.program_id(axis=0) // across * ROWS + tl.arange(0, ROWS)
    col = tl.program_id(axis=0) % across * COLS + tl.arange(0, COLS)
    many = min(chunk, length - number * chunk)
    x_ptr += head * x_head + number * chunk * x_pitch
    key_ptr += head // sharing * key_head + number * chunk * key_pitch
    decay_ptr += number * step_chunk + head * step_head
    step_ptr += number * step_chunk + head * step_head
    total = tl.load(decay_ptr + chunk - 1).to(tl.float32)
    gained = tl.zeros((ROWS, COLS), dtype=tl.float32)
    time = tl.arange(0, DEPTH)
    while many > 0:
        remains = tl.exp(total - tl.load(decay_ptr + time, mask=time < many, other=0.0).to(tl.float32))
        weight = remains * tl.load(step_ptr + time, mask=time < many, other=0.0).to(tl.float32)
        keys = _tile(key_ptr, time, col, key_pitch, 1, many, states).to(tl.float32) * weight[:, None]
        values = _tile(x_ptr, row, time, 1, x_pitch, width, many)
        gained += tl.dot(values, keys.to(values.dtype), input_precision="ieee")
        x_ptr += DEPTH * x_pitch
        key_ptr += DEPTH * key_pitch
        decay_ptr += DEPTH
        step_ptr += DEPTH
        many -= DEPTH
    out_ptr += number * out_chunk + head * out_head
    live = (row[:, None] < width) & (col[None, :] < states)
    tl.store(out_ptr + row[:, None] * states + col[None, :], gained.to(out_ptr.dtype.element_ty), mask=live)


@triton.jit
def states_before_chunks(
    gained_ptr, before_ptr, final_ptr, decay_ptr, initial_ptr, size, chunks, chunk_pitch, head_pitch, decay_pitch,
    STARTS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The recurrence over chunks: each decays the state and adds what it gained; the last state apart."""
    head = tl.program_id(1)
    cell = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = cell < size
    at = head * head_pitch + cell
    state = tl.zeros((BLOCK,), dtype=tl.float32)
    if STARTS:
        state += tl.load(initial_ptr + head * size + cell, mask=live, other=0.0).to(tl.float32)
    for chunk in range(chunks):
        tl.store(before_ptr + at, state, mask=live)
        state *= tl.exp(tl.load(decay_ptr + chunk * decay_pitch + head).to(tl.float32))
        state += tl.load(gained_ptr + at, mask=live, other=0.0).to(tl.float32)
        at += chunk_pitch
    tl.store(final_ptr + head * size + cell, state, mask=live)


@triton.jit
def chunk_answers(
    out_ptr, x_ptr, gate_ptr, query_ptr, key_ptr, before_ptr, step_ptr, decay_ptr, skip_ptr, width, states, chunk, length,
    sharing, x_pitch, x_head, query_pitch, query_head, before_chunk, before_head, step_chunk, step_head,
    GATED: tl.constexpr, SKIP_BY_CHANNEL: tl.constexpr,
    TIMES: tl.constexpr, CHANNELS: tl.constexpr, PART: tl.constexpr, STATES: tl.constexpr,
):  # fmt: skip
    """At each time of a chunk: the query on the state before the chunk, decayed, and on what the chunk gained so far;
    then the skip connection and the gate."""
    number, head = tl.program_id(1), tl.program_id(2)
    many = min(chunk, length - number * chunk)
    values = number * chunk * x_pitch + head * x_head
    queries = number * chunk * query_pitch + head // sharing * query_head
    step_ptr += number * step_chunk + head * step_head
    decay_ptr += number * step_chunk + head * step_head
    now = tl.program_id(0) * TIMES + tl.arange(0, TIMES)
    channel, state = tl.arange(0, CHANNELS), tl.arange(0, STATES)
    query = _tile(query_ptr + queries, now, state, query_pitch, 1, many, states)
    before = _tile(before_ptr + number * before_chunk + head * before_head, state, channel, 1, states, states, width)
    decay_now = tl.load(decay_ptr + now, mask=now < many, other=0.0)
    answer = tl.exp(decay_now)[:, None] * tl.dot(query, before, input_precision="ieee")
    for start in range(0, min(many, (tl.program_id(0) + 1) * TIMES), PART):
        then = tl.multiple_of(start, PART) + tl.arange(0, PART)
        keys = _tile(key_ptr + queries, state, then, 1, query_pitch, states, many)
        remains = decay_now[:, None] - tl.load(decay_ptr + then, mask=then < many, other=0.0)[None, :]
        weight = tl.exp(tl.minimum(remains, 0.0)) * tl.load(step_ptr + then, mask=then < many, other=0.0)[None, :]
        scores = tl.where(then[None, :] > now[:, None], 0.0, weight * tl.dot(query, keys, input_precision="ieee"))
        earlier = _tile(x_ptr + values, then, channel, x_pitch, 1, many, width)
        answer += tl.dot(scores.to(earlier.dtype), earlier, input_precision="ieee")
    if SKIP_BY_CHANNEL:
        skip = tl.load(skip_ptr + head * width + channel, mask=channel < width, other=0.0).to(tl.float32)[None, :]
    else:
        skip = tl.load(skip_ptr + head).to(tl.float32)
    answer += skip * _tile(x_ptr + values, now, channel, x_pitch, 1, many, width).to(tl.float32)
    if GATED:
        gate = _tile(gate_ptr + values, now, channel, x_pitch, 1, many, width).to(tl.float32)
        answer *= gate * tl.sigmoid(gate)
    live = (now[:, None] < many) & (channel[None, :] < width)
    tl.store(out_ptr + values + now[:, None] * x_pitch + channel[None, :], answer, mask=live)


@LIBRARY.case
def state_space_duality() -> Checks:
    results: Checks = []
    for seq, heads, groups, p, n, chunk, gated in ((29, 4, 2, 20, 16, 16, True), (32, 2, 2, 16, 20, 32, False)):
        nchunks = triton.cdiv(seq, chunk)
        x, z = normal(seq, heads, p, seed=12), normal(seq, heads, p, seed=13) if gated else None
        b, c = normal(seq, groups, n, seed=14), normal(seq, groups, n, seed=15)
        dt, a = uniform(seq, heads, seed=16, high=0.3), -uniform(heads, seed=17, low=0.5, high=2)
        skip = normal(heads, p, seed=18) if gated else normal(heads, seed=18)
        init = normal(heads, p, n, seed=19) if gated else None
        padded = np.zeros((nchunks * chunk, heads), np.float32)
        padded[:seq] = dt
        dt_chunks = np.ascontiguousarray(padded.reshape(nchunks, chunk, heads).transpose(0, 2, 1))
        dA = np.cumsum(dt_chunks * a[None, :, None], axis=-1, dtype=np.float32)
        states, passed = np.zeros((nchunks, heads, p, n), np.float32), np.zeros((nchunks, heads, p, n), np.float32)
        final, out = np.zeros((heads, p, n), np.float32), np.empty_like(x)
        ratio = heads // groups
        state_gained[
            lambda meta: (triton.cdiv(p, meta["ROWS"]) * triton.cdiv(n, meta["COLS"]), nchunks, heads)  # noqa: B023
        ](
            states, x, b, dt_chunks, dA, p, n, chunk, seq, ratio, *strides(x)[:2], *strides(b)[:2], *strides(states)[:2],
            *strides(dA)[:2], ROWS=16, COLS=16, DEPTH=16,
        )  # fmt: skip
        last = np.ascontiguousarray(dA[:, :, -1])
        states_before_chunks[(triton.cdiv(p * n, 128), heads)](
            states, passed, final, last, init, p * n, nchunks, *strides(states)[:2], heads,
            STARTS=init is not None, BLOCK=128,
        )  # fmt: skip
        chunk_answers[(triton.cdiv(chunk, 16), nchunks, heads)](
            out, x, z, c, b, passed, dt_chunks, dA, skip, p, n, chunk, seq, ratio, *strides(x)[:2], *strides(c)[:2],
            *strides(passed)[:2], *strides(dA)[:2], GATED=gated, SKIP_BY_CHANNEL=gated,
            TIMES=16, CHANNELS=32, PART=16, STATES=32,
        )  # fmt: skip
        state = np.zeros((heads, p, n)) if init is None else wide(init)
        expected = np.empty(out.shape)
        for t in range(seq):
            bt, ct = np.repeat(wide(b[t]), ratio, 0), np.repeat(wide(c[t]), ratio, 0)
            state = state * np.exp(dt[t] * a)[:, None, None] + (dt[t][:, None] * x[t])[..., None] * bt[:, None]
            expected[t] = (state * ct[:, None]).sum(-1) + x[t] * (skip if gated else skip[:, None])
        if z is not None:
            expected *= wide(z) * sigmoid(wide(z))
        results += [(out, expected, 5e-5), (final, state, 5e-5)]
    return results
