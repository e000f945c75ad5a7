"""Scans and sorts over whole arrays: look-back in one pass, two passes, radix passes, compaction, searches."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false
# pyright: reportUnusedVariable=false

from __future__ import annotations

import numpy as np
from library_cases import Checks, Library, integers, normal, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()


# ----------------------------------------------------------------- one pass over the array: looking back at other programs


@triton.jit
def pack_state(value, flag):
    return (value.to(tl.uint32, bitcast=True).to(tl.uint64) << 32) | flag.to(tl.uint64)


@triton.jit
def unpack_state(packed):
    return (packed >> 32).to(tl.uint32).to(tl.float32, bitcast=True), packed.to(tl.uint32)


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def scan_looking_back(x_ptr, y_ptr, state_ptr, counter_ptr, n, BLOCK: tl.constexpr):
    """Flags: 1 for the sum of a block alone, 2 for the sum of everything up to it."""
    block = tl.atomic_add(counter_ptr, 1)
    offsets = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    inner = tl.associative_scan(x, 0, plus)
    total = tl.reduce(x, 0, plus)
    flag = tl.where(block == 0, 2, 1)
    tl.atomic_xchg(state_ptr + block, pack_state(total, flag), sem="release")
    before = 0.0
    if block > 0:
        look = block - 1
        while look >= 0:
            packed = tl.atomic_add(state_ptr + look, tl.full([], 0, tl.uint64), sem="acquire")
            value, state = unpack_state(packed)
            if state == 2:
                before += value
                look = -1
            elif state == 1:
                before += value
                look -= 1
        tl.atomic_xchg(state_ptr + block, pack_state(before + total, tl.full([], 2, tl.int32)), sem="release")
    tl.store(y_ptr + offsets, inner + before, mask=offsets < n)


@LIBRARY.case
def scan_in_one_pass() -> Checks:
    n, block = 1000, 64
    x = normal(n, seed=1)
    y, states, counter = np.empty_like(x), np.zeros(triton.cdiv(n, block), np.uint64), np.zeros(1, np.int32)
    scan_looking_back[(triton.cdiv(n, block),)](x, y, states, counter, n, BLOCK=block)
    return [(y, np.cumsum(wide(x)), 1e-4)]


@triton.jit
def scan_parts(in_ptr, out_ptr, sums_ptr, n_elements, REVERSE: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offset = pid * BLOCK + tl.arange(0, BLOCK)
    mask = offset < n_elements
    x = tl.load(in_ptr + offset, mask=mask, other=1 if KIND == "prod" else 0)
    if tl.constexpr(x.dtype.is_int64()):
        acc = x
    elif tl.constexpr(x.dtype.is_int()):
        acc = x.to(tl.int32)
    else:
        acc = x.to(tl.float32)
    result = tl.cumprod(acc, 0, reverse=REVERSE) if KIND == "prod" else tl.cumsum(acc, 0, reverse=REVERSE)
    tl.store(out_ptr + offset, result, mask=mask)
    if KIND == "sum":
        tl.store(sums_ptr + pid, tl.sum(acc, axis=0))


@triton.jit
def add_parts_before(out_ptr, sums_ptr, n_elements, PARTS: tl.constexpr, REVERSE: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offset = pid * BLOCK + tl.arange(0, BLOCK)
    part = tl.arange(0, PARTS)
    chosen = (part > pid) & (part < tl.num_programs(0)) if REVERSE else part < pid
    base = tl.sum(tl.load(sums_ptr + part, mask=chosen, other=0))
    tl.store(out_ptr + offset, tl.load(out_ptr + offset, mask=offset < n_elements) + base, mask=offset < n_elements)


@LIBRARY.case
def scans_in_two_kernels() -> Checks:
    results: Checks = []
    n, block = 333, 64
    parts = triton.cdiv(n, block)
    for dtype in (np.int8, np.int16, np.int64, np.float16, np.float32):
        wide_type = np.int64 if dtype is np.int64 else np.int32 if np.issubdtype(dtype, np.integer) else np.float32
        for reverse in (False, True):
            x = integers(-50, 50, n, seed=2, dtype=dtype)
            out, sums = np.empty(n, wide_type), np.empty(parts, wide_type)
            scan_parts[(parts,)](x, out, sums, n, REVERSE=reverse, KIND="sum", BLOCK=block)
            add_parts_before[(parts,)](out, sums, n, PARTS=8, REVERSE=reverse, BLOCK=block)
            expected = wide(x)[::-1].cumsum()[::-1] if reverse else wide(x).cumsum()
            results.append((out, expected, 1e-6))
    x, out = uniform(100, seed=3, low=0.9, high=1.1), np.empty(100, np.float32)
    scan_parts[(1,)](x, out, None, 100, REVERSE=True, KIND="prod", BLOCK=128)
    return [*results, (out, np.cumprod(wide(x)[::-1])[::-1], 1e-5)]


# -------------------------------------------------------------------------------- radix sort: count, scan, scatter, again


@triton.jit
def ordered_bits(x):
    """Unsigned numbers in the order of x."""
    if x.dtype.is_floating():
        bits = x.to(tl.int32, bitcast=True)
        ordered = (bits ^ ((bits >> 31) & 0x7FFFFFFF)).to(tl.uint32, bitcast=True) ^ 0x80000000
    elif x.dtype.is_int_signed():
        ordered = x.to(tl.uint32, bitcast=True) ^ 0x80000000
    else:
        ordered = x
    return ordered


@triton.jit
def radix_count(keys_ptr, counts_ptr, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    keys = ordered_bits(tl.load(keys_ptr + offsets, mask=offsets < n, other=0))
    digit = ((keys >> shift) & ((1 << BITS) - 1)).to(tl.int32)
    counts = tl.histogram(digit, 1 << BITS, mask=offsets < n)
    tl.store(counts_ptr + tl.arange(0, 1 << BITS) * tl.num_programs(0) + pid, counts)


@triton.jit
def radix_scatter(
    keys_ptr, values_ptr, out_keys_ptr, out_values_ptr, starts_ptr, n, shift, BITS: tl.constexpr, BLOCK: tl.constexpr
):
    pid = tl.program_id(0)
    offsets = pid * BLOCK + tl.arange(0, BLOCK)
    live = offsets < n
    keys = tl.load(keys_ptr + offsets, mask=live, other=0)
    values = tl.load(values_ptr + offsets, mask=live, other=0)
    digit = ((ordered_bits(keys) >> shift) & ((1 << BITS) - 1)).to(tl.int32)
    mine = (digit[:, None] == tl.arange(0, 1 << BITS)[None, :]) & live[:, None]
    rank = tl.cumsum(mine.to(tl.int32), axis=0) - 1
    starts = tl.load(starts_ptr + tl.arange(0, 1 << BITS) * tl.num_programs(0) + pid)
    place = tl.sum(tl.where(mine, rank + starts[None, :], 0), axis=1)
    tl.store(out_keys_ptr + place, keys, mask=live)
    tl.store(out_values_ptr + place, values, mask=live)


@LIBRARY.case
def radix_sort() -> Checks:
    results: Checks = []
    n, block, bits = 700, 128, 4
    programs = triton.cdiv(n, block)
    for keys in (
        normal(n, seed=4),
        integers(-(2**31), 2**31, n, seed=5),
        integers(0, 2**32, n, seed=6, dtype=np.uint32),
    ):
        first, values = keys.copy(), np.arange(n, dtype=np.int32)
        other, other_values = np.empty_like(keys), np.empty_like(values)
        for shift in range(0, 32, bits):
            counts = np.empty((1 << bits, programs), np.int32)
            radix_count[(programs,)](first, counts, n, shift, BITS=bits, BLOCK=block)
            starts = (np.cumsum(counts.ravel()) - counts.ravel()).astype(np.int32)
            radix_scatter[(programs,)](first, values, other, other_values, starts, n, shift, BITS=bits, BLOCK=block)
            first, other, values, other_values = other, first, other_values, values
        results += [(first, np.sort(keys), 0), (values, np.argsort(keys, kind="stable"), 0)]
    return results


# ------------------------------------------------------------------------------ sorted, unique, compacted, searched, placed


@triton.jit
def run_starts(sorted_ptr, flags_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    here = tl.load(sorted_ptr + i, mask=i < n)
    before = tl.load(sorted_ptr + i - 1, mask=(i < n) & (i > 0), other=0)
    tl.store(flags_ptr + i, ((here != before) | (i == 0)).to(tl.int8), mask=i < n)


@triton.jit
def compact(x_ptr, keep_ptr, out_ptr, index_ptr, count_ptr, n, BLOCK: tl.constexpr, STABLE: tl.constexpr):
    pid = tl.program_id(0)
    if STABLE:
        # Every program counts what the programs in front of it keep.
        before = 0
        for start in range(0, pid * BLOCK, BLOCK):
            before += tl.sum(tl.load(keep_ptr + start + tl.arange(0, BLOCK)).to(tl.int32), 0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    keep = tl.load(keep_ptr + i, mask=i < n, other=0) != 0
    place = tl.cumsum(keep.to(tl.int32), 0) - 1
    number = tl.sum(keep.to(tl.int32), 0)
    if not STABLE:
        before = tl.atomic_add(count_ptr, number, sem="relaxed", scope="gpu")
    elif pid == tl.num_programs(0) - 1:
        tl.store(count_ptr, before + number)
    tl.store(out_ptr + before + place, tl.load(x_ptr + i, mask=keep), mask=keep)
    tl.store(index_ptr + before + place, i, mask=keep)


@LIBRARY.case
def unique_values() -> Checks:
    n, block = 500, 128
    x = np.sort(integers(0, 90, n, seed=7, dtype=np.int64))
    flags, results = np.empty(n, np.int8), Checks()
    run_starts[(4,)](x, flags, n, BLOCK=block)
    for stable in (True, False):
        out, index, count = np.zeros(n, np.int64), np.zeros(n, np.int32), np.zeros(1, np.int32)
        compact[(4,)](x, flags, out, index, count, n, BLOCK=block, STABLE=stable)
        values, first = np.unique(x, return_index=True)
        number = int(count[0])
        got, place = (out, index) if stable else (np.sort(out[:number]), np.sort(index[:number]))
        results += [(got[:number], values, 0), (place[:number], first, 0)]
    return results


@triton.jit
def search_sorted(bounds_ptr, x_ptr, out_ptr, n_bounds, n, RIGHT: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0.0)
    low, high = tl.zeros([BLOCK], tl.int32), tl.full([BLOCK], 0, tl.int32) + n_bounds
    while tl.max(high - low, 0) > 0:
        middle = (low + high) // 2
        active = low < high
        bound = tl.load(bounds_ptr + middle, mask=active, other=0.0)
        further = (bound <= x) if RIGHT else (bound < x)
        low = tl.where(active & further, middle + 1, low)
        high = tl.where(active & ~further, middle, high)
    tl.store(out_ptr + i, low, mask=i < n)


@triton.jit
def two_stage_argmax(x_ptr, best_ptr, where_ptr, n, BLOCK: tl.constexpr):
    pid = tl.program_id(0)
    i = pid * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=-float("inf"))
    best, at = tl.max(x, axis=0, return_indices=True, return_indices_tie_break_left=True)
    tl.store(best_ptr + pid, best)
    tl.store(where_ptr + pid, pid * BLOCK + at)


@LIBRARY.case
def searches() -> Checks:
    n = 300
    bounds, x = np.sort(integers(0, 40, 37, seed=8, dtype=np.float32)), integers(-2, 43, n, seed=9, dtype=np.float32)
    results: Checks = []
    for right in (False, True):
        out = np.empty(n, np.int64)
        search_sorted[(3,)](bounds, x, out, 37, n, RIGHT=right, BLOCK=128)
        results.append((out, np.searchsorted(bounds, x, "right" if right else "left"), 0))
    best, where = np.empty(3, np.float32), np.empty(3, np.int64)
    two_stage_argmax[(3,)](x, best, where, n, BLOCK=128)
    pieces = [x[i : i + 128] for i in range(0, n, 128)]
    return [*results, (where, np.array([i * 128 + p.argmax() for i, p in enumerate(pieces)]), 0)]


@triton.jit
def _ends(pairs):
    """The first and the second of every pair of [outer, 2, inner], each spread over both: sums that skip the other."""
    second = tl.arange(0, 2)[None, :, None]
    low = tl.sum(pairs * (1 - second), axis=1, keep_dims=True)
    high = tl.sum(pairs * second, axis=1, keep_dims=True)
    return tl.broadcast_to(low, pairs.shape), tl.broadcast_to(high, pairs.shape)


@triton.jit
def _order_pairs(keys, payload, falling, DISTANCE: tl.constexpr):
    """Exchange keys `DISTANCE` apart, and what goes with them, where they stand against `falling` (of keys' shape)."""
    view: tl.constexpr = [keys.numel // (2 * DISTANCE), 2, DISTANCE]
    raw: tl.constexpr = tl.core.get_int_dtype(bitwidth=keys.dtype.primitive_bitwidth, signed=True)
    bits = tl.reshape(keys.to(raw, bitcast=True), view)
    low, high = _ends(bits)
    out_of_order = (low.to(raw).to(keys.dtype, bitcast=True) > high.to(raw).to(keys.dtype, bitcast=True)) ^ tl.reshape(
        falling, view
    )
    carried = tl.reshape(payload, view)
    first, second = _ends(carried)
    carried ^= tl.where(out_of_order, first ^ second, 0)
    bits ^= tl.where(out_of_order, low ^ high, 0).to(raw)
    return tl.reshape(bits, keys.shape).to(keys.dtype, bitcast=True), tl.reshape(carried, payload.shape)


@triton.jit
def sorted_with(keys, payload, LOG: tl.constexpr, FALLING: tl.constexpr):
    """Batcher's bitonic sort of 2**LOG keys: runs of 2, 4, ... of them, each second one the other way round."""
    index = tl.reshape(tl.arange(0, keys.numel), keys.shape)
    for run in tl.static_range(1, LOG + 1):
        falling = ((index >> run) & 1) != 0
        if FALLING:
            falling = falling == (run != LOG)
        for halving in tl.static_range(1, run + 1):
            keys, payload = _order_pairs(keys, payload, falling, 1 << (run - halving))
    return keys, payload


@triton.jit
def sort_rows_with_places(x_ptr, out_ptr, index_ptr, n, N: tl.constexpr, LOG: tl.constexpr, DESCENDING: tl.constexpr):
    cols = tl.arange(0, N)[None, :]
    at = tl.program_id(0) * n + cols
    filler = float("-inf") if DESCENDING else float("inf")
    x, came_from = sorted_with(tl.load(x_ptr + at, mask=cols < n, other=filler), cols, LOG, DESCENDING)
    tl.store(index_ptr + at, came_from, mask=cols < n)
    tl.store(out_ptr + at, x, mask=cols < n)


@LIBRARY.case
def sorts_with_places() -> Checks:
    results: Checks = []
    x = normal(3, 25, seed=10)
    for descending in (False, True):
        out, index = np.empty_like(x), np.empty(x.shape, np.int64)
        sort_rows_with_places[(3,)](x, out, index, 25, N=32, LOG=5, DESCENDING=descending)
        order = np.argsort(-x if descending else x, 1)
        results += [(out, np.take_along_axis(x, order, 1), 0), (index, order, 0)]
    return results
