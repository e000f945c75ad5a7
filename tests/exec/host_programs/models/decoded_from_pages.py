"""One step of decoding: attention over a paged cache in parts, put together by a second kernel, then a sampler."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def attend_part(
    q, k_cache, v_cache, pages, lengths, parts, sums, stride_page, stride_slot, stride_head, max_pages, scale,
    HEADS: tl.constexpr, GROUP: tl.constexpr, SIZE: tl.constexpr, PAGE: tl.constexpr, PART: tl.constexpr,
):  # fmt: skip
    """Program (sequence, key head, part): its heads over PART pages; keeps the maximum and the sum beside them."""
    seq, kv, part = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    length = tl.load(lengths + seq)
    if part * PART * PAGE >= length:
        return
    heads = kv * GROUP + tl.arange(0, GROUP)
    d = tl.arange(0, SIZE)
    query = tl.load(q + (seq * HEADS + heads)[:, None] * SIZE + d[None, :]) * scale
    top = tl.full((GROUP,), float("-inf"), tl.float32)
    total = tl.zeros((GROUP,), tl.float32)
    acc = tl.zeros((GROUP, SIZE), tl.float32)
    for i in range(part * PART, min((part + 1) * PART, tl.cdiv(length, PAGE))):
        page = tl.load(pages + seq * max_pages + i).to(tl.int64)
        slots = tl.arange(0, PAGE)
        where = page * stride_page + slots[:, None] * stride_slot + kv * stride_head + d[None, :]
        k = tl.load(k_cache + where)
        v = tl.load(v_cache + where)
        s = tl.sum(query[:, None, :] * k[None, :, :], 2)
        s = tl.where((i * PAGE + slots)[None, :] < length, s, float("-inf"))
        new = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new[:, None])
        fade = tl.exp(top - new)
        total = total * fade + tl.sum(p, 1)
        acc = acc * fade[:, None] + tl.sum(p[:, :, None] * v[None, :, :], 1)
        top = new
    number = (seq * HEADS + heads) * tl.num_programs(2) + part
    tl.store(parts + number[:, None] * SIZE + d[None, :], acc)
    tl.store(sums + number * 2, top)
    tl.store(sums + number * 2 + 1, total)


@triton.jit
def combine_parts(parts, sums, lengths, out, PARTS: tl.constexpr, SIZE: tl.constexpr, SPAN: tl.constexpr):
    seq, head = tl.program_id(0), tl.program_id(1)
    number = (seq * tl.num_programs(1) + head) * PARTS + tl.arange(0, PARTS)
    there = tl.arange(0, PARTS) * SPAN < tl.load(lengths + seq)
    d = tl.arange(0, SIZE)
    top = tl.load(sums + number * 2, mask=there, other=float("-inf"))
    total = tl.load(sums + number * 2 + 1, mask=there, other=0.0)
    acc = tl.load(parts + number[:, None] * SIZE + d[None, :], mask=there[:, None], other=0.0)
    weight = tl.exp(top - tl.max(top, 0))
    result = tl.sum(acc * weight[:, None], 0) / tl.sum(total * weight, 0)
    tl.store(out + (seq * tl.num_programs(1) + head) * SIZE + d, result)


@triton.jit
def pick_token(logits, seeds, tokens, vocabulary, temperature, BLOCK: tl.constexpr):
    """The largest of logits over temperature plus Gumbel noise."""
    seq = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    x = tl.load(logits + seq * vocabulary + i, mask=i < vocabulary, other=float("-inf"))
    u = tl.maximum(tl.rand(tl.load(seeds + seq), i), 1e-10)
    noisy = tl.where(temperature > 0.0, x / tl.maximum(temperature, 1e-6) - tl.log(-tl.log(u)), x)
    tl.store(tokens + seq, tl.argmax(noisy, 0, tie_break_left=True))


torch.manual_seed(1)
SEQS, HEADS, KV, SIZE, PAGE, PART = 3, 8, 2, 32, 16, 2
lengths = torch.tensor([70, 5, 33], dtype=torch.int32)
max_pages = triton.cdiv(int(lengths.max()), PAGE)
pages = torch.randperm(20)[: SEQS * max_pages].reshape(SEQS, max_pages).to(torch.int32)
k_cache, v_cache = torch.randn(2, 20, PAGE, KV, SIZE)
q = torch.randn(SEQS, HEADS, SIZE)
right = torch.empty_like(q)
for seq, length in enumerate(lengths.tolist()):
    keys, values = (c[pages[seq].long()].reshape(-1, KV, SIZE)[:length].repeat_interleave(HEADS // KV, 1)
                    for c in (k_cache, v_cache))  # fmt: skip
    weights = torch.einsum("hd,lhd->hl", q[seq], keys).mul(SIZE**-0.5).softmax(1)
    right[seq] = torch.einsum("hl,lhd->hd", weights, values)

q, k_cache, v_cache, pages, lengths = (t.to(DEVICE) for t in (q, k_cache, v_cache, pages, lengths))
parts = triton.next_power_of_2(triton.cdiv(max_pages, PART))
partial = torch.full((SEQS, HEADS, parts, SIZE), float("nan"), device=DEVICE)
sums = torch.full((SEQS, HEADS, parts, 2), float("nan"), device=DEVICE)
out = torch.empty_like(q)
attend_part[(SEQS, KV, parts)](
    q, k_cache, v_cache, pages, lengths, partial, sums, *k_cache.stride()[:3], max_pages, SIZE**-0.5,
    HEADS=HEADS, GROUP=HEADS // KV, SIZE=SIZE, PAGE=PAGE, PART=PART,
)  # fmt: skip
combine_parts[(SEQS, HEADS)](partial, sums, lengths, out, PARTS=parts, SIZE=SIZE, SPAN=PART * PAGE)
torch.testing.assert_close(out.cpu(), right, rtol=1e-4, atol=1e-4)

vocabulary = 50
logits = torch.randn(SEQS, vocabulary)
seeds = torch.arange(SEQS).to(DEVICE)
tokens = torch.empty(SEQS, dtype=torch.int64, device=DEVICE)
pick_token[(SEQS,)](logits.to(DEVICE), seeds, tokens, vocabulary, 0.0, BLOCK=64)
assert torch.equal(tokens.cpu(), logits.argmax(1))
peaked = logits + 40 * torch.nn.functional.one_hot(torch.tensor([3, 49, 0]), vocabulary)
pick_token[(SEQS,)](peaked.to(DEVICE), seeds, tokens, vocabulary, 1.0, BLOCK=64)
assert tokens.tolist() == [3, 49, 0]
print("right on", triton.runtime.driver.active.get_current_target().backend)
