"""A sampler of a serving engine: counts of tokens, penalties with drafted tokens, grammar masks of packed bits, bad words, min-p, Gumbel noise, top-k and top-p by thresholds, log-probabilities and ranks, rejection of drafts."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()
V = 1003


@triton.jit(do_not_specialize=["total", "prompt"])
def count_tokens(tokens, total, prompt, seen, counts, BLOCK: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    if first >= total:
        return
    at = first + tl.arange(0, BLOCK)
    if first < prompt:
        t = tl.load(tokens + at, mask=at < prompt, other=0)
        tl.atomic_or(seen + t // 32, tl.full((BLOCK,), 1, tl.int32) << (t % 32), mask=at < prompt)
    if first + BLOCK >= prompt:
        ok = (at < total) & (at >= prompt)
        t = tl.load(tokens + at, mask=ok)
        tl.atomic_add(counts + t, 1, mask=ok)


@triton.jit
def penalise(
    logits, stride, requests, drafts, repetition, frequency, presence, seen, seen_stride, counts, counts_stride, vocab,
    BLOCK: tl.constexpr, DRAFTED: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0)
    r = tl.load(requests + row)
    rep, freq, pres = tl.load(repetition + r), tl.load(frequency + r), tl.load(presence + r)
    if not (rep != 1.0 or freq != 0.0 or pres != 0.0):
        return
    block = tl.program_id(1)
    at = block * BLOCK + tl.arange(0, BLOCK)
    ok = at < vocab
    x = tl.load(logits + row * stride + at, mask=ok).to(tl.float32)
    n = tl.load(counts + r * counts_stride + at, mask=ok, other=0)
    place = 0
    for i in tl.static_range(DRAFTED):
        if row - i - 1 >= 0:
            place += (tl.load(requests + row - i - 1) == r).to(tl.int32)
    for i in tl.static_range(DRAFTED):
        if i < place:
            n += (at == tl.load(drafts + row - place + i + 1)).to(tl.int32)
    if rep != 1.0:
        words = block * BLOCK // 32 + tl.arange(0, BLOCK // 32)
        packed = tl.load(seen + r * seen_stride + words, mask=words < tl.cdiv(vocab, 32), other=0)
        bits = ((packed[:, None] >> tl.arange(0, 32)[None, :]) & 1).to(tl.int1).reshape(BLOCK)
        scale = tl.where(bits | (n > 0), rep, 1.0)
        x *= tl.where(x > 0, 1.0 / scale, scale)
    x -= freq * n
    x -= pres * (n > 0)
    tl.store(logits + row * stride + at, x, mask=ok)


@triton.jit
def mask_by_grammar(logits, bits, rows, count, vocab, stride, bits_stride, PROGRAMS: tl.constexpr, BLOCK: tl.constexpr):
    blocks = tl.cdiv(vocab, BLOCK)
    for work in tl.range(tl.program_id(0), count * blocks, PROGRAMS):
        i, start = work // blocks, (work % blocks) * BLOCK
        row = i if rows is None else tl.load(rows + i)
        at = start + tl.arange(0, BLOCK)
        words = start // 32 + tl.arange(0, BLOCK // 32)
        packed = tl.load(bits + row * bits_stride + words, words < bits_stride)
        off = (((packed[:, None] >> tl.arange(0, 32)[None, :]) & 1) == 0).reshape(BLOCK)
        tl.store(logits + row * stride + at, -float("inf"), (at < vocab) & off)


@triton.jit
def forbid_words(logits, stride, history, lengths, H: tl.constexpr, words, ends, count, WORD: tl.constexpr):
    row, w = tl.program_id(0), tl.program_id(1)
    first = tl.where(w == 0, 0, tl.load(ends + w - 1, mask=w > 0, other=0))
    last = tl.load(ends + w) - 1
    n = tl.load(lengths + row)
    match = n >= last - first
    for k in range(WORD - 1):
        if first + k < last and match:
            match = tl.load(history + row * H + n - (last - first) + k) == tl.load(words + first + k)
    if match:
        tl.store(logits + row * stride + tl.load(words + last), -float("inf"))


@triton.jit
def threshold(logits, out, stride, ks, ps, min_ps, vocab, BLOCK: tl.constexpr):
    """The value below which top-k, top-p and min-p cut: bisection, no sort."""
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(logits + row * stride + at, mask=at < vocab, other=-float("inf"))
    k, p, least = tl.load(ks + row), tl.load(ps + row), tl.load(min_ps + row)
    high = tl.max(x)
    low = tl.min(tl.where(x == -float("inf"), high, x))
    cut = low
    if k > 0 and k < vocab:
        a, b = low, high
        steps = 0
        while steps < 40:
            middle = a + (b - a) * 0.5
            enough = tl.sum((x >= middle).to(tl.int32)) >= k
            a = tl.where(enough, middle, a)
            b = tl.where(enough, b, middle)
            steps += 1
        cut = tl.min(tl.where(x >= a, x, high))
    e = tl.where(x >= cut, tl.exp(x - high), 0.0)
    total = tl.sum(e)
    if p < 1.0:
        a, b = cut, high
        for _ in range(40):
            middle = a + (b - a) * 0.5
            enough = tl.sum(tl.where(x >= middle, e, 0.0)) >= p * total
            a = tl.where(enough, middle, a)
            b = tl.where(enough, b, middle)
        cut = tl.maximum(cut, tl.min(tl.where(x >= a, x, high)))
    if least > 0:
        cut = tl.maximum(cut, high + tl.log(least))
    tl.store(logits + row * stride + at, tl.where(x >= cut, x, -float("inf")), mask=at < vocab)
    tl.store(out + row, cut)


@triton.jit
def best_of_block(logits, stride, index, value, blocks, seeds, positions, temperature, vocab, BLOCK: tl.constexpr):
    row, block = tl.program_id(0), tl.program_id(1)
    at = block * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(logits + row * stride + at, mask=at < vocab, other=-float("inf")).to(tl.float32)
    t = tl.load(temperature + row)
    if t != 0.0:
        seed = tl.load(seeds + row)
        u = tl.rand(tl.randint(seed, tl.load(positions + row)), at)
        u = tl.maximum(u, 1e-7)
        x = x / t - tl.log(-tl.log(u))
    v, i = tl.max(tl.where(at < vocab, x, -float("inf")), axis=0, return_indices=True)
    tl.store(index + row * blocks + block, block * BLOCK + i)
    tl.store(value + row * blocks + block, v)


@triton.jit
def score(logits, stride, tokens, logprob, rank, vocab, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    high, total, ahead = float("-inf"), 0.0, 0
    mine = tl.load(logits + row * stride + tl.load(tokens + row))
    for start in range(0, vocab, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(logits + row * stride + at, mask=at < vocab, other=float("-inf"))
        new = tl.maximum(high, tl.max(x))
        total = total * tl.exp(high - new) + tl.sum(tl.exp(x - new))
        ahead += tl.sum((x > mine).to(tl.int32))
        high = new
    tl.store(logprob + row, mine - (high + tl.log(total)))
    tl.store(rank + row, ahead + 1)


@triton.jit(do_not_specialize=["longest"])
def accept(out, starts, drafts, wanted, bonus, longest):
    r = tl.program_id(0)
    first = 0 if r == 0 else tl.load(starts + r - 1)
    n = tl.load(starts + r) - first
    rejected = False
    for k in range(n):
        if not rejected:
            t = tl.load(wanted + first + k)
            tl.store(out + r * (longest + 1) + k, t)
            if tl.load(drafts + first + k) != t:
                rejected = True
    if not rejected:
        tl.store(out + r * (longest + 1) + n, tl.load(bonus + r))


torch.manual_seed(0)


def ints(*values):
    return torch.tensor(values, dtype=torch.int32, device=DEVICE)


def floats(*values):
    return torch.tensor(values, device=DEVICE)


# counts
tokens = torch.randint(0, V, (700,), device=DEVICE)
seen, counts = (
    torch.zeros(3, (V + 31) // 32, dtype=torch.int32, device=DEVICE),
    torch.zeros(3, V, dtype=torch.int32, device=DEVICE),
)
for r, (prompt, total) in enumerate(((300, 700), (0, 511), (256, 256))):
    count_tokens[(triton.cdiv(total, 128),)](tokens, total, prompt, seen[r], counts[r], BLOCK=128)
    assert torch.equal(counts[r], torch.bincount(tokens[prompt:total], minlength=V).int())
    bits = (seen[r][:, None] >> torch.arange(32, device=DEVICE)) & 1
    assert torch.equal(bits.flatten()[:V] > 0, torch.bincount(tokens[:prompt], minlength=V) > 0)
# penalties of three requests, the first with two drafted tokens
requests, drafts = ints(0, 0, 0, 1, 2), ints(0, 7, 8, 0, 0)
rep, freq, pres = floats(1.3, 1.0, 1.1), floats(0.2, 0.0, 0.0), floats(0.0, 0.0, 0.5)
logits = torch.randn(5, V, device=DEVICE) * 3
want = logits.clone()
for row, (r, extra) in enumerate(((0, []), (0, [7]), (0, [7, 8]), (1, []), (2, []))):
    n = counts[r].clone()
    for token in extra:
        n[token] += 1
    hit = (((seen[r][:, None] >> torch.arange(32, device=DEVICE)) & 1).flatten()[:V] > 0) | (n > 0)
    x = want[row]
    x = torch.where(hit, torch.where(x > 0, x / rep[r], x * rep[r]), x)
    want[row] = x - freq[r] * n - pres[r] * (n > 0)
penalise[(5, triton.cdiv(V, 256))](
    logits,
    logits.stride(0),
    requests,
    drafts,
    rep,
    freq,
    pres,
    seen,
    seen.stride(0),
    counts,
    counts.stride(0),
    V,
    BLOCK=256,
    DRAFTED=3,
)
torch.testing.assert_close(logits, want, rtol=1e-5, atol=1e-5)
# grammar masks, for all rows and for some
allowed = torch.rand(5, V, device=DEVICE) < 0.8
padded = torch.nn.functional.pad(allowed, (0, -V % 32)).view(5, -1, 32).to(torch.int64)
bits = (padded << torch.arange(32, device=DEVICE)).sum(-1)
bits = torch.where(bits >= 2**31, bits - 2**32, bits).to(torch.int32)
for rows in (None, ints(4, 1)):
    got = logits.clone()
    count = 5 if rows is None else 2
    for dtype in (torch.float32, torch.float16):
        got, base = logits.to(dtype), logits.to(dtype)
        mask_by_grammar[(3,)](got, bits, rows, count, V, V, bits.shape[1], 3, 512, num_warps=8)
        chosen = (
            torch.ones(5, dtype=torch.bool, device=DEVICE)
            if rows is None
            else torch.zeros(5, dtype=torch.bool, device=DEVICE)
        )
        if rows is not None:
            chosen[rows.long()] = True
        assert torch.equal(got, base.masked_fill(~allowed & chosen[:, None], float("-inf")))
# bad words of one to three tokens
history = torch.tensor([[5, 6, 7, 0], [1, 2, 0, 0], [9, 5, 6, 0]], dtype=torch.int32, device=DEVICE)
got = torch.zeros(3, V, device=DEVICE)
forbid_words[(3, 3)](got, V, history, ints(3, 2, 3), 4, ints(40, 2, 41, 5, 6, 42), ints(1, 3, 6), 3, WORD=3)
assert (got == float("-inf")).nonzero().tolist() == [[0, 40], [1, 40], [1, 41], [2, 40], [2, 42]]
# top-k, top-p, min-p
x = torch.randn(6, V, device=DEVICE) * 2
ks, ps, mins = ints(0, 1, 50, 0, 20, 0), floats(1.0, 1.0, 1.0, 0.6, 0.9, 1.0), floats(0, 0, 0, 0, 0, 0.1)
want = x.clone()
for row in range(6):
    ordered = want[row].sort(descending=True)
    if ks[row]:
        want[row][want[row] < ordered.values[ks[row] - 1]] = float("-inf")
    if ps[row] < 1:
        probabilities = want[row].softmax(0)[ordered.indices]
        keep = ordered.indices[probabilities.cumsum(0) - probabilities < ps[row]]
        kept = torch.zeros(V, dtype=torch.bool, device=DEVICE)
        kept[keep] = True
        want[row][~kept] = float("-inf")
    if mins[row]:
        p = want[row].softmax(0)
        want[row][p < mins[row] * p.max()] = float("-inf")
cut = torch.empty(6, device=DEVICE)
threshold[(6,)](x, cut, V, ks, ps, mins, V, BLOCK=1024)
different = ((x == float("-inf")) != (want == float("-inf"))).sum(-1)
assert different.max() <= 1, different  # a sum in another order may move one token across p
# noise: greedy rows are the maximum, others follow the distribution, and a seed repeats itself
rows = 4000
few = torch.tensor([0.1, 0.2, 0.3, 0.4], device=DEVICE).log().repeat(rows, 1)
few = torch.cat([few, torch.full((rows, 60), float("-inf"), device=DEVICE)], 1)
index, value = torch.empty(rows, 2, dtype=torch.int64, device=DEVICE), torch.empty(rows, 2, device=DEVICE)
temperature = torch.ones(rows, device=DEVICE)
temperature[:5] = 0
seeds, positions = torch.arange(rows, device=DEVICE), torch.full((rows,), 3, device=DEVICE)
best_of_block[(rows, 2)](few, 64, index, value, 2, seeds, positions, temperature, 64, BLOCK=32)
picked = index.gather(1, value.argmax(1, keepdim=True))[:, 0]
assert picked[:5].tolist() == [3] * 5 and picked.max() <= 3
frequencies = torch.bincount(picked[5:], minlength=4) / (rows - 5)
assert (frequencies - torch.tensor([0.1, 0.2, 0.3, 0.4], device=DEVICE)).abs().max() < 0.03, frequencies
again = torch.empty_like(index)
best_of_block[(rows, 2)](few, 64, again, value, 2, seeds, positions, temperature, 64, BLOCK=32)
assert torch.equal(index, again)
# log-probabilities and ranks
x = torch.randn(4, V, device=DEVICE)
t = torch.randint(0, V, (4,), device=DEVICE)
logprob, rank = torch.empty(4, device=DEVICE), torch.empty(4, dtype=torch.int64, device=DEVICE)
score[(4,)](x, V, t, logprob, rank, V, BLOCK=128)
torch.testing.assert_close(logprob, x.log_softmax(-1).gather(1, t[:, None])[:, 0], rtol=1e-5, atol=1e-5)
assert torch.equal(rank, (x > x.gather(1, t[:, None])).sum(-1) + 1)
# drafts
out = torch.full((3, 4), -1, dtype=torch.int32, device=DEVICE)
accept[(3,)](out, ints(3, 3, 5), ints(1, 2, 3, 4, 5), ints(1, 9, 3, 4, 5), ints(70, 71, 72), 3)
assert out.tolist() == [[1, 9, -1, -1], [71, -1, -1, -1], [4, 5, 72, -1]]
print("right on", triton.runtime.driver.active.get_current_target().backend)
