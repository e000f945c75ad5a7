"""Tables, checksums and generators of random bits; ragged and sparse rows; tokens sorted to experts."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import itertools
import zlib

import numpy as np
from library_cases import Checks, Library, integers, normal, uniform, wide

from suite.arrays import Array
from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl
    from triton.language.extra import libdevice

LIBRARY = Library()


# -------------------------------------------------------------------------- hash tables, checks, bits, and random numbers


@triton.jit
def murmur_mix(h):
    h ^= h >> 16
    h *= 0x85EBCA6B
    h ^= h >> 13
    h *= 0xC2B2AE35
    h ^= h >> 16
    return h


@triton.jit
def table_insert(keys_ptr, table_ptr, values_ptr, n, CAPACITY: tl.constexpr):
    """Open addressing, one key a program; -1 marks an empty place, counts go to the values."""
    i = tl.program_id(0)
    key = tl.load(keys_ptr + i)
    slot = (murmur_mix(key.to(tl.uint32, bitcast=True)) % CAPACITY).to(tl.int32)
    done = False
    while not done:
        old = tl.atomic_cas(table_ptr + slot, -1, key)
        done = (old == -1) | (old == key)
        slot = tl.where(done, slot, (slot + 1) % CAPACITY)
    tl.atomic_add(values_ptr + slot, 1)


@triton.jit
def table_lookup(queries_ptr, table_ptr, values_ptr, out_ptr, n, CAPACITY: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    key = tl.load(queries_ptr + i, mask=i < n, other=0)
    slot = (murmur_mix(key.to(tl.uint32, bitcast=True)) % CAPACITY).to(tl.int32)
    found = tl.full([BLOCK], 0, tl.int32)
    active = i < n
    while tl.sum(active.to(tl.int32), 0) > 0:
        here = tl.load(table_ptr + slot, mask=active, other=-1)
        hit = active & (here == key)
        found = tl.where(hit, tl.load(values_ptr + slot, mask=hit, other=0), found)
        active = active & (here != key) & (here != -1)
        slot = (slot + 1) % CAPACITY
    tl.store(out_ptr + i, found, mask=i < n)


@LIBRARY.case
def hash_tables() -> Checks:
    keys, queries = integers(0, 60, 150, seed=11), np.arange(100, dtype=np.int32)
    table, counts, out = np.full(128, -1, np.int32), np.zeros(128, np.int32), np.empty(100, np.int32)
    table_insert[(150,)](keys, table, counts, 150, CAPACITY=128)
    table_lookup[(2,)](queries, table, counts, out, 100, CAPACITY=128, BLOCK=64)
    return [(out, np.bincount(keys, minlength=100), 0)]


@triton.jit
def bit_tricks(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    count = x - ((x >> 1) & 0x55555555)
    count = (count & 0x33333333) + ((count >> 2) & 0x33333333)
    count = (((count + (count >> 4)) & 0x0F0F0F0F) * 0x01010101) >> 24
    reverse = ((x >> 1) & 0x55555555) | ((x & 0x55555555) << 1)
    reverse = ((reverse >> 2) & 0x33333333) | ((reverse & 0x33333333) << 2)
    reverse = ((reverse >> 4) & 0x0F0F0F0F) | ((reverse & 0x0F0F0F0F) << 4)
    reverse = ((reverse >> 8) & 0x00FF00FF) | ((reverse & 0x00FF00FF) << 8)
    reverse = (reverse >> 16) | (reverse << 16)
    gray = x ^ (x >> 1)
    morton = tl.zeros([BLOCK], tl.uint64)
    for b in tl.static_range(32):
        morton |= ((x >> b) & 1).to(tl.uint64) << (2 * b)
    tl.store(out_ptr + i, count, mask=i < n)
    tl.store(out_ptr + n + i, reverse, mask=i < n)
    tl.store(out_ptr + 2 * n + i, gray, mask=i < n)
    tl.store(out_ptr + 3 * n + i, (morton >> 32).to(tl.uint32), mask=i < n)
    tl.store(out_ptr + 4 * n + i, libdevice.popc(x.to(tl.int32, bitcast=True)).to(tl.uint32), mask=i < n)
    tl.store(out_ptr + 5 * n + i, libdevice.brev(x.to(tl.int32, bitcast=True)).to(tl.uint32, bitcast=True), mask=i < n)
    tl.store(out_ptr + 6 * n + i, libdevice.clz(x.to(tl.int32, bitcast=True)).to(tl.uint32), mask=i < n)


@triton.jit
def checksums(data_ptr, starts_ptr, table_ptr, crc_ptr, fnv_ptr, count, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < count
    at, end = tl.load(starts_ptr + i, mask=live, other=0), tl.load(starts_ptr + i + 1, mask=live, other=0)
    crc = tl.full([BLOCK], 0xFFFFFFFF, tl.uint32)
    fnv = tl.full([BLOCK], 0xCBF29CE484222325, tl.uint64)
    while tl.max((at < end).to(tl.int32), 0) == 1:
        more = at < end
        byte = tl.load(data_ptr + at, mask=more, other=0)
        looked_up = tl.load(table_ptr + ((crc ^ byte) & 0xFF), mask=more, other=0)
        crc = tl.where(more, looked_up ^ (crc >> 8), crc)
        fnv = tl.where(more, (fnv ^ byte) * 0x100000001B3, fnv)
        at += 1
    tl.store(crc_ptr + i, ~crc, mask=live)
    tl.store(fnv_ptr + i, fnv, mask=live)


@LIBRARY.case
def bits_and_checksums() -> Checks:
    n = 70
    x = integers(0, 2**32, n, seed=12, dtype=np.uint32)
    x[:2] = 0, 0xFFFFFFFF
    out = np.empty((7, n), np.uint32)
    bit_tricks[(2,)](x, out, n, BLOCK=64)
    texts = [format(int(v), "032b") for v in x]
    spread = [int("".join("0" + c for c in t), 2) >> 32 for t in texts]
    expected = [
        [t.count("1") for t in texts], [int(t[::-1], 2) for t in texts], [int(v) ^ int(v) >> 1 for v in x], spread,
        [t.count("1") for t in texts], [int(t[::-1], 2) for t in texts], [len(t) - len(t.lstrip("0")) for t in texts],
    ]  # fmt: skip
    words = [b"", b"123456789", b"tile", b"a" * 40]
    data, starts = np.frombuffer(b"".join(words), np.uint8), np.cumsum([0, *map(len, words)]).astype(np.int32)
    table = np.array([_crc_entry(byte) for byte in range(256)], np.uint32)
    crc, fnv = np.empty(4, np.uint32), np.empty(4, np.uint64)
    checksums[(1,)](data, starts, table, crc, fnv, 4, BLOCK=4)
    hashes = np.array([_fnv(w) for w in words], np.uint64)
    return [
        (out, np.array(expected, np.float64), 0), (crc, np.array([zlib.crc32(w) for w in words]), 0),
        ((fnv == hashes), np.ones(4), 0),
    ]  # fmt: skip


def _crc_entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (0xEDB88320 if byte & 1 else 0)
    return byte


def _fnv(word: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in word:
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


@triton.jit
def generators(state_ptr, out_ptr, steps, n, BLOCK: tl.constexpr):
    """xorwow, splitmix64, a linear congruence: each lane its own stream."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    a, b = tl.load(state_ptr + i, mask=live, other=1), tl.load(state_ptr + n + i, mask=live, other=2)
    c, d = tl.load(state_ptr + 2 * n + i, mask=live, other=3), tl.load(state_ptr + 3 * n + i, mask=live, other=4)
    e = tl.load(state_ptr + 4 * n + i, mask=live, other=5)
    counter = tl.zeros([BLOCK], tl.uint32)
    mix = a.to(tl.uint64)
    lcg = b.to(tl.uint64)
    for step in range(steps):
        t = e ^ (e >> 2)
        e, d, c, b = d, c, b, a
        t = t ^ (t << 1)
        a = t ^ (b ^ (b << 4))
        counter += 362437
        tl.store(out_ptr + (step * 3) * n + i, (a + counter).to(tl.uint64), mask=live)
        mix += 0x9E3779B97F4A7C15
        z = (mix ^ (mix >> 30)) * 0xBF58476D1CE4E5B9
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB
        tl.store(out_ptr + (step * 3 + 1) * n + i, z ^ (z >> 31), mask=live)
        lcg = lcg * 6364136223846793005 + 1442695040888963407
        tl.store(out_ptr + (step * 3 + 2) * n + i, lcg, mask=live)


@LIBRARY.case
def generators_by_hand() -> Checks:
    n, steps = 20, 5
    state = integers(1, 2**32, 5, n, seed=13, dtype=np.uint32)
    out, expected = np.empty((steps, 3, n), np.uint64), np.empty((steps, 3, n), np.uint64)
    generators[(1,)](state, out, steps, n, BLOCK=32)
    for lane in range(n):
        a, b, c, d, e = (int(v) for v in state[:, lane])
        counter, mix, lcg = 0, a, b
        for step in range(steps):
            t = e ^ e >> 2
            e, d, c, b = d, c, b, a
            t = (t ^ t << 1) % 2**32
            a = (t ^ b ^ b << 4) % 2**32
            counter += 362437
            mix = (mix + 0x9E3779B97F4A7C15) % 2**64
            z = (mix ^ mix >> 30) * 0xBF58476D1CE4E5B9 % 2**64
            z = (z ^ z >> 27) * 0x94D049BB133111EB % 2**64
            lcg = (lcg * 6364136223846793005 + 1442695040888963407) % 2**64
            expected[step, :, lane] = (a + counter) % 2**32, z ^ z >> 31, lcg
    return [(out == expected, np.ones(out.shape), 0)]


# ------------------------------------------------------------------------------------ ragged rows: sums, softmax, padding


@triton.jit
def ragged_softmax(x_ptr, offsets_ptr, out_ptr, BLOCK: tl.constexpr, LOG: tl.constexpr):
    row = tl.program_id(0)
    begin, end = tl.load(offsets_ptr + row), tl.load(offsets_ptr + row + 1)
    top, total = -float("inf"), 0.0
    for start in tl.range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < end, other=-float("inf"))
        new = max(top, tl.max(x, 0))
        total = total * tl.exp(top - new) + tl.sum(tl.exp(x - new), 0)
        top = new
    for start in tl.range(begin, end, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + i, mask=i < end)
        tl.store(out_ptr + i, (x - top) - tl.log(total) if LOG else tl.exp(x - top) / total, mask=i < end)


@triton.jit
def jagged_to_dense(
    values_ptr,
    offsets_ptr,
    dense_ptr,
    max_length,
    D,
    padding,
    BLOCK_L: tl.constexpr,
    BLOCK_D: tl.constexpr,
    BACK: tl.constexpr,
):
    b = tl.program_id(0)
    begin = tl.load(offsets_ptr + b)
    length = tl.minimum(tl.load(offsets_ptr + b + 1) - begin, max_length)
    d = tl.program_id(1) * BLOCK_D + tl.arange(0, BLOCK_D)
    for start in range(0, max_length, BLOCK_L):
        l = start + tl.arange(0, BLOCK_L)
        inside = (l < length)[:, None] & (d < D)[None, :]
        ragged = values_ptr + (begin + l)[:, None] * D + d[None, :]
        padded = dense_ptr + (b * max_length + l)[:, None] * D + d[None, :]
        if BACK:
            tl.store(ragged, tl.load(padded, mask=inside), mask=inside)
        else:
            tl.store(
                padded, tl.load(ragged, mask=inside, other=padding), mask=(l < max_length)[:, None] & (d < D)[None, :]
            )


@LIBRARY.case
def ragged_rows() -> Checks:
    offsets = np.array([0, 7, 7, 40, 41, 100], np.int64)
    x, results = normal(100, seed=14), Checks()
    for log in (False, True):
        out = np.empty_like(x)
        ragged_softmax[(5,)](x, offsets, out, BLOCK=16, LOG=log)
        rows = [wide(x[a:b]) for a, b in itertools.pairwise(offsets)]
        expected = np.concatenate([np.exp(r) / np.exp(r).sum() for r in rows])
        results.append((out, np.log(expected) if log else expected, 1e-5))
    values, dense = normal(100, 10, seed=15), np.empty((5, 34, 10), np.float32)
    jagged_to_dense[(5, 1)](values, offsets, dense, 34, 10, -1.0, BLOCK_L=16, BLOCK_D=16, BACK=False)
    padded = np.full(dense.shape, -1.0)
    for b in range(5):
        rows_of = values[offsets[b] : offsets[b + 1]][:34]
        padded[b, : len(rows_of)] = rows_of
    back = np.zeros_like(values)
    jagged_to_dense[(5, 1)](back, offsets, dense, 34, 10, 0.0, BLOCK_L=8, BLOCK_D=16, BACK=True)
    kept = wide(values)
    kept[41 + 34 :] = 0
    return [*results, (dense, padded, 0), (back, kept, 0)]


# ----------------------------------------------------------------------------------------- sparse rows and scattered sums


@triton.jit
def csr_times_vector(values, columns, crow, x, y, rows, ROWS: tl.constexpr, LANES: tl.constexpr):
    r = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    begin = tl.load(crow + r, mask=r < rows, other=0)
    end = tl.load(crow + r + 1, mask=r < rows, other=0)
    acc = tl.zeros([ROWS, LANES], tl.float32)
    steps = tl.cdiv(tl.max(end - begin, 0), LANES)
    for s in range(steps):
        at = begin[:, None] + s * LANES + tl.arange(0, LANES)[None, :]
        live = at < end[:, None]
        column = tl.load(columns + at, mask=live, other=0)
        acc += tl.load(values + at, mask=live, other=0.0) * tl.load(x + column, mask=live, other=0.0)
    tl.store(y + r, tl.sum(acc, 1), mask=r < rows)


@triton.jit
def csr_times_matrix(values, columns, crow, b_ptr, c_ptr, N, BLOCK: tl.constexpr):
    row, n = tl.program_id(0), tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    acc = tl.zeros([BLOCK], tl.float32)
    start, end = tl.load(crow + row), tl.load(crow + row + 1)
    for i in range(start, end):
        acc += tl.load(values + i) * tl.load(b_ptr + tl.load(columns + i) * N + n, mask=n < N, other=0.0)
    tl.store(c_ptr + row * N + n, acc, mask=n < N)


@triton.jit
def segments_by_scan(x_ptr, ids_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """Sums of runs: scanned with their ids, written where a run ends."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ids = tl.load(ids_ptr + i, mask=i < n, other=-1)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    sums, _ = tl.associative_scan((x, ids), 0, _add_within)
    after = tl.load(ids_ptr + i + 1, mask=i + 1 < n, other=-1)
    last = (ids != after) | (tl.arange(0, BLOCK) == BLOCK - 1)
    tl.atomic_add(out_ptr + ids, sums, mask=last & (i < n))


@triton.jit
def _add_within(x, id_x, y, id_y):
    return tl.where(id_x == id_y, x + y, y), id_y


@LIBRARY.case
def sparse_rows() -> Checks:
    rows, cols, n = 21, 30, 10
    dense = np.where(uniform(rows, cols, seed=16) < 0.2, wide(normal(rows, cols, seed=17)), 0)
    dense[3] = 0
    dense[4] = 1
    columns = np.nonzero(dense)[1].astype(np.int32)
    values = dense[dense != 0].astype(np.float32)
    crow = np.concatenate([[0], np.cumsum((dense != 0).sum(1))]).astype(np.int32)
    x, b = normal(cols, seed=18), normal(cols, n, seed=19)
    y, c = np.empty(rows, np.float32), np.empty((rows, n), np.float32)
    csr_times_vector[(3,)](values, columns, crow, x, y, rows, ROWS=8, LANES=8)
    csr_times_matrix[(rows, 1)](values, columns, crow, b, c, n, BLOCK=16)
    ids = np.sort(integers(0, 30, 200, seed=20))
    data, sums = normal(200, seed=21), np.zeros(30, np.float32)
    segments_by_scan[(4,)](data, ids, sums, 200, BLOCK=64)
    expected = np.zeros(30)
    np.add.at(expected, ids, data)
    return [(y, dense @ x, 1e-5), (c, dense @ b, 1e-5), (sums, expected, 1e-5)]


# ------------------------------------------------------------------- tokens to experts: counted, aligned, permuted, summed


@triton.jit
def tally(choice_ptr, tally_ptr, tokens, SHARE: tl.constexpr, EXPERTS: tl.constexpr):
    """Row p + 1 of the table: how many of program p's tokens chose each expert."""
    mine_ptr = tally_ptr + (tl.program_id(0) + 1) * EXPERTS
    token = tl.program_id(0) * SHARE
    for _ in range(SHARE):
        if token < tokens:
            cell = mine_ptr + tl.load(choice_ptr + token)
            tl.store(cell, tl.load(cell) + 1)
        token += 1


@triton.jit
def running_tally(tally_ptr, EXPERTS: tl.constexpr):
    """Sum one column from row to row, in place."""
    cell = tally_ptr + tl.program_id(0)
    sum = tl.load(cell)
    for _ in range(EXPERTS):
        cell += EXPERTS
        sum += tl.load(cell)
        tl.store(cell, sum)


@triton.jit
def whole_blocks(tally_ptr, begin_ptr, length_ptr, BLOCK: tl.constexpr, EXPERTS: tl.constexpr):
    """Where each expert's tokens begin when each has blocks to itself, and the length of all."""
    begin = 0
    for expert in range(EXPERTS):
        chosen = tl.load(tally_ptr + EXPERTS * EXPERTS + expert)
        begin += (chosen + BLOCK - 1) // BLOCK * BLOCK
        tl.store(begin_ptr + expert + 1, begin)
    tl.store(length_ptr, begin)


@triton.jit
def deal_out(
    choice_ptr, tally_ptr, begin_ptr, order_ptr, owner_ptr, tokens, SHARE: tl.constexpr, BLOCK: tl.constexpr,
    EXPERTS: tl.constexpr,
):  # fmt: skip
    """Name the owner of this expert's blocks; then put this program's tokens where they belong, and count them."""
    program = tl.program_id(0)
    block = tl.load(begin_ptr + program) // BLOCK
    while block * BLOCK < tl.load(begin_ptr + program + 1):
        tl.store(owner_ptr + block, program)
        block += 1
    for token in range(program * SHARE, min(tokens, (program + 1) * SHARE)):
        expert = tl.load(choice_ptr + token)
        taken_ptr = tally_ptr + program * EXPERTS + expert
        taken = tl.load(taken_ptr)
        tl.store(taken_ptr, taken + 1)
        tl.store(order_ptr + tl.load(begin_ptr + expert) + taken, token)


@LIBRARY.case
def tokens_aligned_to_experts() -> Checks:
    experts, block, tokens = 5, 8, 37
    ids = integers(0, experts, tokens, seed=22)
    counts, cumsum = np.zeros((experts + 1, experts), np.int32), np.zeros(experts + 1, np.int32)
    total, owners = np.empty(1, np.int32), np.full(12, -1, np.int32)
    places = np.full(tokens + experts * block, tokens, np.int32)
    per = triton.cdiv(tokens, experts)
    grid = (experts,)
    tally[grid](ids, counts, tokens, SHARE=per, EXPERTS=experts)
    running_tally[grid](counts, EXPERTS=experts)
    whole_blocks[(1,)](counts, cumsum, total, BLOCK=block, EXPERTS=experts)
    deal_out[grid](ids, counts, cumsum, places, owners, tokens, SHARE=per, BLOCK=block, EXPERTS=experts)
    expected: list[int] = []
    wanted: list[int] = []
    for e in range(experts):
        mine = [int(t) for t in np.flatnonzero(ids == e)]
        mine += [tokens] * (-len(mine) % block)
        expected += mine
        wanted += [e] * (len(mine) // block)
    return [
        (total, [len(expected)], 0),
        (places[: len(expected)], np.array(expected), 0),
        (owners[: len(wanted)], np.array(wanted), 0),
    ]


@triton.jit
def route(
    logits_ptr,
    weights_ptr,
    ids_ptr,
    bias_ptr,
    tokens,
    E: tl.constexpr,
    TOP: tl.constexpr,
    RENORM: tl.constexpr,
    BLOCK: tl.constexpr,
):
    t = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.arange(0, E)
    live = (t < tokens)[:, None]
    logits = tl.load(logits_ptr + t[:, None] * E + e[None, :], mask=live, other=0.0).to(tl.float32)
    probs = tl.softmax(logits, dim=1, keep_dims=True) if bias_ptr is None else tl.sigmoid(logits)
    choice = probs if bias_ptr is None else probs + tl.load(bias_ptr + e)[None, :]
    total = tl.zeros([BLOCK], tl.float32)
    for k in tl.static_range(TOP):
        best = tl.argmax(choice, axis=1, tie_break_left=True)
        chosen = e[None, :] == best[:, None]
        weight = tl.sum(tl.where(chosen, probs, 0.0), 1)
        choice = tl.where(chosen, float("-inf"), choice)
        total += weight
        tl.store(weights_ptr + t * TOP + k, weight, mask=t < tokens)
        tl.store(ids_ptr + t * TOP + k, best, mask=t < tokens)
    if RENORM:
        tl.debug_barrier()
        for k in range(TOP):
            at = weights_ptr + t * TOP + k
            tl.store(at, tl.load(at, mask=t < tokens) / total, mask=t < tokens)


@LIBRARY.case
def routes_to_experts() -> Checks:
    results: Checks = []
    tokens, experts, top = 21, 16, 3
    logits, bias = normal(tokens, experts, seed=23, dtype=np.float16), normal(experts, seed=24)
    for b, renorm in ((None, False), (bias, True)):
        w, ids = np.empty((tokens, top), np.float32), np.empty((tokens, top), np.int32)
        route[(2,)](logits, w, ids, b, tokens, E=experts, TOP=top, RENORM=renorm, BLOCK=16)
        x = wide(logits)
        p = np.exp(x) / np.exp(x).sum(1, keepdims=True) if b is None else 1 / (1 + np.exp(-x))
        order = np.argsort(-(p if b is None else p + b), 1, kind="stable")[:, :top]
        expected: Array = np.take_along_axis(p, order, 1)
        results += [(ids, order, 0), (w, expected / expected.sum(1, keepdims=True) if renorm else expected, 1e-5)]
    return results
