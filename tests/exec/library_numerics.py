"""Numerical methods: factorisations, transforms modulo a prime, recursions in log space, sums without rounding errors."""

# Kernels move their pointers, loop over what only a kernel can, and unpack what a JIT function returns.
# pyright: reportConstantRedefinition=false, reportGeneralTypeIssues=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import hashlib

import numpy as np
from library_cases import Checks, Library, integers, normal, softmax, uniform, wide

from tilewright import compat

with compat.standing_in():
    import triton
    import triton.language as tl

LIBRARY = Library()

# --------------------------------------------------------------------------------------------------- linear algebra


@triton.jit
def cholesky_solve(a_ptr, b_ptr, l_ptr, x_ptr, N: tl.constexpr):
    """One small system per program: A = L L', then L y = b and L' x = y, a column at a time."""
    pid = tl.program_id(0)
    i = tl.arange(0, N)
    rows, columns = i[:, None], i[None, :]
    a = tl.load(a_ptr + pid * N * N + rows * N + columns)
    lower = tl.zeros((N, N), tl.float32)
    for j in tl.range(N):
        column = tl.sum(tl.where(columns == j, a, 0.0), axis=1)
        pivot = tl.sqrt_rn(tl.sum(tl.where(i == j, column, 0.0)))
        column = tl.where(i >= j, column / pivot, 0.0)
        lower = tl.where(columns == j, column[:, None], lower)
        a -= column[:, None] * column[None, :]
    tl.store(l_ptr + pid * N * N + rows * N + columns, lower)
    y = tl.load(b_ptr + pid * N + i)
    for j in tl.range(N):
        column = tl.sum(tl.where(columns == j, lower, 0.0), axis=1)
        known = tl.sum(tl.where(i == j, y / column, 0.0))
        y = tl.where(i == j, known, tl.where(i > j, y - known * column, y))
    for j in tl.range(N - 1, -1, -1):
        row = tl.sum(tl.where(rows == j, lower, 0.0), axis=0)
        known = tl.sum(tl.where(i == j, y / row, 0.0))
        y = tl.where(i == j, known, tl.where(i < j, y - known * row, y))
    tl.store(x_ptr + pid * N + i, y)


@LIBRARY.case
def small_systems() -> Checks:
    n, count = 8, 3
    m = normal(count, n, n, seed=1)
    a = (m @ m.transpose(0, 2, 1) + n * np.eye(n)).astype(np.float32)
    b, lower, x = normal(count, n, seed=2), np.zeros_like(a), np.zeros((count, n), np.float32)
    cholesky_solve[(count,)](a, b, lower, x, N=n)
    return [
        (lower, np.linalg.cholesky(wide(a)), 1e-4),
        (x, np.linalg.solve(wide(a), wide(b)[..., None])[..., 0], 1e-4),
    ]


@triton.jit
def orthogonalise(g_ptr, out_ptr, M, STEPS: tl.constexpr, R: tl.constexpr, C: tl.constexpr):
    """Muon's step: five rounds of a quintic iteration turn a matrix into the orthogonal one next to it."""
    rows, columns = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    mask = rows < M
    x = tl.load(g_ptr + rows * C + columns, mask=mask, other=0.0)
    x /= tl.sqrt(tl.sum(x * x)) + 1e-7
    for _ in tl.static_range(STEPS):
        gram = tl.dot(x, tl.trans(x), input_precision="ieee")
        square = tl.dot(gram, gram, input_precision="ieee")
        x = 3.4445 * x + tl.dot(-4.7750 * gram + 2.0315 * square, x, input_precision="ieee")
    tl.store(out_ptr + rows * C + columns, x, mask=mask)


@LIBRARY.case
def newton_schulz_iteration() -> Checks:
    g = normal(11, 32, seed=3)
    out = np.zeros_like(g)
    orthogonalise[(1,)](g, out, 11, STEPS=5, R=16, C=32)
    x = wide(g) / np.linalg.norm(wide(g))
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (-4.7750 * gram + 2.0315 * gram @ gram) @ x
    return [(out, x, 1e-3)]


@triton.jit
def sinkhorn(logits_ptr, out_ptr, count, STEPS, N: tl.constexpr, ROWS: tl.constexpr):
    """Doubly stochastic matrices, several per program, by normalising rows and columns in turn."""
    which = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None, None]
    i, j = tl.arange(0, N)[None, :, None], tl.arange(0, N)[None, None, :]
    offsets = which * N * N + i * N + j
    x = tl.load(logits_ptr + offsets, mask=which < count, other=0.0)
    x = tl.exp(x - tl.max(x, axis=2, keep_dims=True))
    for _ in range(STEPS):
        x /= tl.sum(x, axis=2, keep_dims=True)
        x /= tl.sum(x, axis=1, keep_dims=True)
    tl.store(out_ptr + offsets, x, mask=which < count)


@LIBRARY.case
def doubly_stochastic_matrices() -> Checks:
    logits = normal(5, 4, 4, seed=4)
    out = np.zeros_like(logits)
    sinkhorn[(2,)](logits, out, 5, 7, N=4, ROWS=4)
    x = np.exp(wide(logits))
    for _ in range(7):
        x /= x.sum(2, keepdims=True)
        x /= x.sum(1, keepdims=True)
    return [(out, x, 1e-5)]


# -------------------------------------------------------------------------------------------------------- transforms

PRIME = tl.constexpr(998244353)
GENERATOR = 3


@triton.jit
def montgomery(a, b, INVERSE: tl.constexpr):
    """a b / 2^32 modulo the prime, for unsigned 32-bit numbers below it."""
    low = a * b
    high = tl.umulhi(a, b)
    m = low * INVERSE
    reduced = high - tl.umulhi(m, tl.full(m.shape, PRIME, tl.uint32))
    return tl.where(reduced.to(tl.int32, bitcast=True) < 0, reduced + PRIME, reduced)


@triton.jit
def number_theoretic_transform(x_ptr, roots_ptr, out_ptr, INVERSE: tl.constexpr, LOG: tl.constexpr):
    """One row per program, by butterflies in registers; `roots` are those of each level, one level after the other."""
    N: tl.constexpr = 2**LOG
    pid = tl.program_id(0)
    x = tl.load(x_ptr + pid * N + tl.arange(0, N)).to(tl.uint32)
    for level in tl.static_range(LOG):
        half: tl.constexpr = 2 ** (LOG - 1 - level)
        first, second = tl.split(tl.permute(tl.reshape(x, (2**level, 2, half)), (0, 2, 1)))
        roots = tl.load(roots_ptr + N - 2 * half + tl.arange(0, half)).to(tl.uint32)[None, :]
        total = first + second
        total = tl.where(total >= PRIME, total - PRIME, total)
        difference = tl.where(first >= second, first - second, first + PRIME - second)
        turned = montgomery(difference, tl.broadcast_to(roots, difference.shape), INVERSE)
        x = tl.reshape(tl.permute(tl.join(total, turned), (0, 2, 1)), (N,))
    tl.store(out_ptr + pid * N + tl.arange(0, N), x)


@LIBRARY.case
def transforms_modulo_a_prime() -> Checks:
    log, p = 6, PRIME.value
    n = 2**log
    x = integers(0, p, 2, n, seed=5, dtype=np.uint32)
    inverse = pow(p, -1, 2**32)
    roots: list[int] = []
    for level in range(log):
        root = pow(GENERATOR, (p - 1) // (n >> level), p)
        roots += [pow(root, k, p) * 2**32 % p for k in range(n >> (level + 1))]
    out = np.zeros_like(x)
    number_theoretic_transform[(2,)](x, np.array(roots, np.uint32), out, INVERSE=inverse, LOG=log)
    root = pow(GENERATOR, (p - 1) // n, p)
    expected = np.zeros(x.shape)
    for row in range(2):
        for k in range(n):
            place = int(f"{k:0{log}b}"[::-1], 2)
            expected[row, place] = sum(int(x[row, j]) * pow(root, j * k, p) for j in range(n)) % p
    return [(out, expected, 0.0)]


# ------------------------------------------------------------------------------------------- recursions in log space


@triton.jit
def log_add(a, b):
    top = tl.maximum(a, b)
    return tl.where(top == float("-inf"), top, top + tl.log(tl.exp(a - top) + tl.exp(b - top)))


@triton.jit
def ctc_forward(
    log_probs_ptr, targets_ptr, lengths_ptr, target_lengths_ptr, alpha_ptr, loss_ptr, T, V, S, BLOCK: tl.constexpr
):  # fmt: skip
    """The loss of a sequence per program: paths through blanks and labels, by a step for each frame."""
    pid = tl.program_id(0)
    length, target_length = tl.load(lengths_ptr + pid), tl.load(target_lengths_ptr + pid)
    state = tl.arange(0, BLOCK)
    is_label = state % 2 == 1
    inside = state < 2 * target_length + 1
    label = tl.load(targets_ptr + pid * S + state // 2, mask=is_label & inside, other=0)
    before = tl.load(targets_ptr + pid * S + state // 2 - 1, mask=is_label & inside & (state > 1), other=-1)
    may_skip = is_label & (state > 1) & (label != before)
    frames = log_probs_ptr + pid * T * V
    alpha = tl.where((state < 2) & inside, tl.load(frames + label, mask=inside, other=0.0), float("-inf"))
    scratch = alpha_ptr + pid * BLOCK
    for t in range(1, length):
        tl.store(scratch + state, alpha)
        tl.debug_barrier()
        one = tl.load(scratch + state - 1, mask=state >= 1, other=float("-inf"))
        two = tl.load(scratch + state - 2, mask=may_skip, other=float("-inf"))
        tl.debug_barrier()
        emitted = tl.load(frames + t * V + label, mask=inside, other=float("-inf"))
        alpha = log_add(log_add(alpha, one), two) + emitted
    last = tl.max(tl.where(state == 2 * target_length, alpha, float("-inf")))
    label_end = tl.max(tl.where(state == 2 * target_length - 1, alpha, float("-inf")))
    tl.store(loss_ptr + pid, -log_add(last, label_end))


@LIBRARY.case
def connectionist_temporal_classification() -> Checks:
    frames, vocabulary = 12, 5
    log_probs = np.log(softmax(normal(3, frames, vocabulary, seed=6))).astype(np.float32)
    targets = np.array([[1, 1, 2], [3, 0, 0], [2, 4, 4]], np.int32)
    lengths, target_lengths = np.array([12, 7, 9], np.int32), np.array([3, 1, 3], np.int32)
    alpha, loss = np.zeros((3, 8), np.float32), np.zeros(3, np.float32)
    ctc_forward[(3,)](log_probs, targets, lengths, target_lengths, alpha, loss, frames, vocabulary, 3, BLOCK=8)
    expected: list[float] = []
    for row, length, count in zip(range(3), lengths, target_lengths, strict=True):
        states = [0]
        for label in targets[row, :count]:
            states += [int(label), 0]
        a = np.full(len(states), -np.inf)
        a[:2] = wide(log_probs)[row, 0, states[:2]]
        for t in range(1, length):
            new = a.copy()
            for s, label in enumerate(states):
                new[s] = np.logaddexp(new[s], a[s - 1]) if s else new[s]
                if s > 1 and label and label != states[s - 2]:
                    new[s] = np.logaddexp(new[s], a[s - 2])
            a = new + wide(log_probs)[row, t, states]
        expected.append(-np.logaddexp(a[-1], a[-2]))
    return [(loss, np.array(expected), 1e-4)]


@triton.jit
def log_sum_pair(top_a, sum_a, top_b, sum_b):
    top = tl.maximum(top_a, top_b)
    return top, sum_a * tl.exp(top_a - top) + sum_b * tl.exp(top_b - top)


@triton.jit
def later_maximum(value_a, place_a, value_b, place_b):
    takes_b = (value_b >= value_a) | (value_b != value_b)
    takes_b &= value_a == value_a
    return tl.where(takes_b, value_b, value_a), tl.where(takes_b, place_b, place_a)


@triton.jit
def running_extremes(x_ptr, lse_ptr, top_ptr, place_ptr, N, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * N
    j = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row + j, mask=j < N, other=float("-inf"))
    top, total = tl.associative_scan((x, tl.full(x.shape, 1.0, tl.float32)), 0, log_sum_pair)
    tl.store(lse_ptr + row + j, top + tl.log(total), mask=j < N)
    top, place = tl.associative_scan((x, j), 0, later_maximum)
    tl.store(top_ptr + row + j, top, mask=j < N)
    tl.store(place_ptr + row + j, place, mask=j < N)


@LIBRARY.case
def running_maxima_and_sums_of_exponentials() -> Checks:
    x = np.round(normal(3, 100, seed=7) * 2) / 2
    x[1, 50:] += 80
    lse, top, place = np.zeros_like(x), np.zeros_like(x), np.zeros(x.shape, np.int32)
    running_extremes[(3,)](x, lse, top, place, 100, BLOCK=128)
    best = np.maximum.accumulate(x, axis=1)
    places = np.zeros(x.shape)
    for row in range(3):
        found = 0
        for j in range(100):
            found = j if x[row, j] >= x[row, found] else found
            places[row, j] = found
    return [(lse, np.logaddexp.accumulate(wide(x), axis=1), 1e-5), (top, best, 0.0), (place, places, 0.0)]


@triton.jit
def viterbi(start_ptr, step_ptr, emitted_ptr, back_ptr, path_ptr, T, STATES: tl.constexpr):
    """The likeliest path of a hidden Markov model, forwards by maxima, backwards along where they came from."""
    pid = tl.program_id(0)
    i = tl.arange(0, STATES)
    score = tl.load(start_ptr + i) + tl.load(emitted_ptr + pid * T * STATES + i)
    steps = tl.load(step_ptr + i[:, None] * STATES + i[None, :])
    for t in range(1, T):
        best, came_from = tl.max(score[:, None] + steps, axis=0, return_indices=True)
        tl.store(back_ptr + (pid * T + t) * STATES + i, came_from)
        score = best + tl.load(emitted_ptr + (pid * T + t) * STATES + i)
    tl.debug_barrier()
    state = tl.argmax(score, axis=0)
    t = T - 1
    while t >= 0:
        tl.store(path_ptr + pid * T + t, state)
        state = tl.load(back_ptr + (pid * T + t) * STATES + state, mask=t > 0, other=0)
        t -= 1


@LIBRARY.case
def likeliest_paths() -> Checks:
    frames, states, count = 9, 8, 2
    start, steps, emitted = (
        normal(states, seed=8),
        normal(states, states, seed=9),
        normal(count, frames, states, seed=10),
    )
    back, path = np.zeros((count, frames, states), np.int32), np.zeros((count, frames), np.int32)
    viterbi[(count,)](start, steps, emitted, back, path, frames, STATES=states)
    expected = np.zeros((count, frames))
    for row in range(count):
        score, came = start + emitted[row, 0], np.zeros((frames, states), int)
        for t in range(1, frames):
            both = score[:, None] + steps
            came[t], score = both.argmax(0), both.max(0) + emitted[row, t]
        state = int(score.argmax())
        for t in range(frames - 1, -1, -1):
            expected[row, t], state = state, int(came[t, state])
    return [(path, expected, 0.0)]


# ----------------------------------------------------------------------------------------------- exact sums, hashing


@triton.jit
def two_sum(high_a, low_a, high_b, low_b):
    """The sum of two numbers and what rounding took of it, by additions alone."""
    total = high_a + high_b
    part = total - high_a
    lost = (high_a - (total - part)) + (high_b - part)
    return total, low_a + low_b + lost


@triton.jit
def compensated_sum(x_ptr, out_ptr, N, BLOCK: tl.constexpr):
    j = tl.arange(0, BLOCK)
    high, low = tl.zeros((BLOCK,), tl.float32), tl.zeros((BLOCK,), tl.float32)
    for start in range(0, N, BLOCK):
        x = tl.load(x_ptr + start + j, mask=start + j < N, other=0.0)
        high, low = two_sum(high, low, x, tl.zeros_like(x))
    high, low = tl.reduce((high, low), 0, two_sum)
    tl.store(out_ptr, high + low)


@LIBRARY.case
def sums_that_remember_what_rounding_took() -> Checks:
    big = normal(300, seed=11) * 1e8
    x = np.concatenate([big, uniform(401, seed=12), -big]).astype(np.float32)
    out = np.zeros(1, np.float32)
    compensated_sum[(1,)](x, out, x.size, BLOCK=64)
    return [(out, wide(x).sum(keepdims=True), 1e-6)]


SHA_ROUNDS = 64


@triton.jit
def rotated(x, BITS: tl.constexpr):
    return (x >> BITS) | (x << (32 - BITS))


@triton.jit
def big_endian(x):
    return (x << 24) | ((x & 0xFF00) << 8) | ((x >> 8) & 0xFF00) | (x >> 24)


@triton.jit
def sha256(words_ptr, round_ptr, start_ptr, schedule_ptr, out_ptr, count, blocks, LANES: tl.constexpr):
    """A message per lane, all of them `blocks` times 64 bytes long with the padding."""
    lane = tl.program_id(0) * LANES + tl.arange(0, LANES)
    live = lane < count
    words = words_ptr + lane * blocks * 16
    schedule = schedule_ptr + lane * 64
    same = start_ptr + tl.zeros_like(lane)
    s0, s1, s2, s3 = tl.load(same), tl.load(same + 1), tl.load(same + 2), tl.load(same + 3)
    s4, s5, s6, s7 = tl.load(same + 4), tl.load(same + 5), tl.load(same + 6), tl.load(same + 7)
    for block in range(blocks):
        a, b, c, d, e, f, g, h = s0, s1, s2, s3, s4, s5, s6, s7
        for i in range(64):
            if i < 16:
                w = big_endian(tl.load(words + block * 16 + i, mask=live, other=0))
            else:
                x = tl.load(schedule + i - 15, mask=live, other=0)
                y = tl.load(schedule + i - 2, mask=live, other=0)
                w = rotated(x, 7) ^ rotated(x, 18) ^ (x >> 3)
                w += rotated(y, 17) ^ rotated(y, 19) ^ (y >> 10)
                w += tl.load(schedule + i - 16, mask=live, other=0) + tl.load(schedule + i - 7, mask=live, other=0)
            tl.store(schedule + i, w, mask=live)
            mixed = h + (rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)) + ((e & f) ^ (~e & g))
            mixed += tl.load(round_ptr + i) + w
            majority = (a & b) ^ (a & c) ^ (b & c)
            h, g, f, e = g, f, e, d + mixed
            d, c, b, a = c, b, a, mixed + (rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)) + majority
        s0, s1, s2, s3, s4, s5, s6, s7 = s0 + a, s1 + b, s2 + c, s3 + d, s4 + e, s5 + f, s6 + g, s7 + h
    tl.store(out_ptr + lane * 8, big_endian(s0), mask=live)
    tl.store(out_ptr + lane * 8 + 1, big_endian(s1), mask=live)
    tl.store(out_ptr + lane * 8 + 2, big_endian(s2), mask=live)
    tl.store(out_ptr + lane * 8 + 3, big_endian(s3), mask=live)
    tl.store(out_ptr + lane * 8 + 4, big_endian(s4), mask=live)
    tl.store(out_ptr + lane * 8 + 5, big_endian(s5), mask=live)
    tl.store(out_ptr + lane * 8 + 6, big_endian(s6), mask=live)
    tl.store(out_ptr + lane * 8 + 7, big_endian(s7), mask=live)


def _root_fraction(number: int, degree: int) -> int:
    """The first 32 bits of the fractional part of a square or cube root."""
    scaled, low, high = number << (32 * degree), 0, number << 32
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**degree <= scaled else (low, middle - 1)
    return low & 0xFFFFFFFF


@LIBRARY.case
def secure_hashes() -> Checks:
    primes = [n for n in range(2, 312) if all(n % k for k in range(2, n))]
    rounds = np.array([_root_fraction(p, 3) for p in primes[:SHA_ROUNDS]], np.uint32)
    start = np.array([_root_fraction(p, 2) for p in primes[:8]], np.uint32)
    messages = [bytes([65 + k] * 70) for k in range(5)]
    padded = b"".join(m + b"\x80" + bytes(49) + (8 * len(m)).to_bytes(8, "big") for m in messages)
    words = np.frombuffer(padded, np.uint32)
    out, schedule = np.zeros((5, 8), np.uint32), np.zeros((5, 64), np.uint32)
    sha256[(2,)](words, rounds, start, schedule, out, 5, 2, LANES=4)
    expected = np.frombuffer(b"".join(hashlib.sha256(m).digest() for m in messages), np.uint32).reshape(5, 8)
    return [(out, expected.astype(np.float64), 0.0)]
