"""A layer of experts: routing and its counts, tokens put in order, a grouped product over them, results put back."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def route(logits, weights, experts, counts, tokens, EXPERTS: tl.constexpr, TOP: tl.constexpr, BLOCK: tl.constexpr):
    """The TOP experts of each token with normalised weights, and how many tokens each expert has."""
    token = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    e = tl.arange(0, EXPERTS)
    x = tl.load(logits + token[:, None] * EXPERTS + e[None, :], mask=token[:, None] < tokens, other=0.0)
    x = tl.softmax(x, dim=1)
    left = x
    total = tl.zeros((BLOCK,), tl.float32)
    for _ in tl.static_range(TOP):
        total += tl.max(left, 1)
        left = tl.where(e[None, :] == tl.argmax(left, 1)[:, None], -1.0, left)
    left = x
    for rank in tl.static_range(TOP):
        best, which = tl.max(left, 1, return_indices=True)
        tl.store(weights + token * TOP + rank, best / total, mask=token < tokens)
        tl.store(experts + token * TOP + rank, which, mask=token < tokens)
        tl.atomic_add(counts + which, 1, mask=token < tokens)
        left = tl.where(e[None, :] == which[:, None], -1.0, left)


@triton.jit
def grouped_product(
    x, w, out, order, weights, starts, blocks, tokens_of, columns, inner, TOP: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr,
):  # fmt: skip
    """One block of rows of one expert, by the list of blocks that the host made."""
    expert = tl.load(blocks + tl.program_id(0) * 2)
    first = tl.load(blocks + tl.program_id(0) * 2 + 1)
    end = tl.load(starts + expert + 1)
    rows = first + tl.arange(0, M)
    live = rows < end
    slot = tl.load(order + rows, mask=live, other=0)
    cols = tl.program_id(1) * N + tl.arange(0, N)
    ks = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for k in range(0, inner, K):
        a = tl.load(
            x + (slot // TOP)[:, None] * inner + (k + ks)[None, :],
            mask=live[:, None] & (k + ks < inner)[None, :],
            other=0.0,
        )
        b = tl.load(
            w + expert.to(tl.int64) * inner * columns + (k + ks)[:, None] * columns + cols[None, :],
            mask=(k + ks < inner)[:, None] & (cols < columns)[None, :],
            other=0.0,
        )
        acc = tl.dot(a, b, acc)
    acc *= tl.load(weights + slot, mask=live, other=0.0)[:, None]
    tl.store(out + slot[:, None] * columns + cols[None, :], acc, mask=live[:, None] & (cols < columns)[None, :])


torch.manual_seed(2)
tokens, inner, columns, EXPERTS, TOP, M = 37, 40, 24, 8, 2, 16
x = torch.randn(tokens, inner).to(torch.float16)
w = (torch.randn(EXPERTS, inner, columns) / 8).to(torch.float16)
logits = torch.randn(tokens, EXPERTS)
picked, chosen = logits.softmax(1).topk(TOP)
picked = picked / picked.sum(1, keepdim=True)
right = sum(
    picked[:, rank, None] * torch.einsum("tk,tkn->tn", x.float(), w.float()[chosen[:, rank]]) for rank in range(TOP)
)

x, w, logits = x.to(DEVICE), w.to(DEVICE), logits.to(DEVICE)
weights = torch.empty(tokens, TOP, device=DEVICE)
experts = torch.empty(tokens, TOP, dtype=torch.int32, device=DEVICE)
counts = torch.zeros(EXPERTS, dtype=torch.int32, device=DEVICE)
route[(triton.cdiv(tokens, 16),)](logits, weights, experts, counts, tokens, EXPERTS=EXPERTS, TOP=TOP, BLOCK=16)
assert torch.equal(experts.cpu().long(), chosen)
assert torch.equal(counts.cpu().long(), torch.bincount(chosen.flatten(), minlength=EXPERTS))

order = experts.flatten().argsort(stable=True).to(torch.int32)
ends = counts.cumsum(0).tolist()
starts = torch.tensor([0, *ends], dtype=torch.int32, device=DEVICE)
blocks = [(e, first) for e in range(EXPERTS) for first in range(int(starts[e]), ends[e], M)]
table = torch.tensor(blocks, dtype=torch.int32, device=DEVICE)
out = torch.empty(tokens * TOP, columns, device=DEVICE)
grouped_product[lambda meta: (len(blocks), triton.cdiv(columns, meta["N"]))](
    x, w, out, order, weights, starts, table, tokens, columns, inner, TOP=TOP, M=M, N=16, K=16, num_stages=2
)
torch.testing.assert_close(out.view(tokens, TOP, columns).sum(1).cpu(), right, rtol=2e-3, atol=2e-3)
print("right on", triton.runtime.driver.active.get_current_target().backend)
