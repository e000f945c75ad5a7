"""Sampling: autotuned penalties with restore_value, top-k by a heuristic block, random numbers, a grammar's bit mask."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def keep_small(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= max(64, triton.next_power_of_2(named_args["vocab"]))] or configs[
        :1
    ]


@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 256, 1024) for w in (1, 4)],
    key=["vocab"],
    restore_value=["logits"],
    prune_configs_by={"early_config_prune": keep_small},
)
@triton.jit
def penalise(
    logits, counts, in_prompt, repetition, presence, frequency, mask, vocab, stride, words, BLOCK: tl.constexpr
):
    row = tl.program_id(0)
    at = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    live = at < vocab
    x = tl.load(logits + row * stride + at, mask=live, other=float("-inf")).to(tl.float32)
    n = tl.load(counts + row * stride + at, mask=live, other=0)
    seen = (n > 0) | (tl.load(in_prompt + row * stride + at, mask=live, other=0) != 0)
    r = tl.load(repetition + row)
    x = tl.where(seen, tl.where(x > 0, x / r, x * r), x)
    x -= tl.load(frequency + row) * n + tl.load(presence + row) * (n > 0)
    word = tl.load(mask + row * words + at // 32, mask=live, other=0)
    x = tl.where((word >> (at % 32)) & 1 == 1, x, float("-inf"))
    tl.store(logits + row * stride + at, x.to(logits.dtype.element_ty), mask=live)


@triton.heuristics(
    {
        "BLOCK": lambda args: triton.next_power_of_2(args["vocab"]),
        "num_warps": lambda args: 4 if args["vocab"] < 2048 else 8,
    }
)
@triton.jit
def gumbel_top_k(logits, noise_seed, temperature, out, kept, vocab, stride, K: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(logits + row * stride + at, mask=at < vocab, other=float("-inf")).to(tl.float32)
    top = tl.topk(x, K)
    threshold = tl.min(top, 0)
    tl.store(kept + row, tl.sum((x >= threshold).to(tl.int32)))
    u = tl.rand(tl.load(noise_seed + row), at)
    g = -tl.log(-tl.log(tl.maximum(u, 1e-10)))
    t = tl.load(temperature + row)
    x = tl.where(x >= threshold, x, float("-inf"))
    score = tl.where(t == 0, x, x / tl.where(t == 0, 1.0, t) + g)
    tl.store(out + row, tl.argmax(score, 0).to(tl.int64))


torch.manual_seed(5)
rows, vocab, K = 6, 1000, 16
logits = torch.randn(rows, vocab, dtype=torch.bfloat16)
counts = torch.randint(0, 3, (rows, vocab), dtype=torch.int32) * (torch.rand(rows, vocab) < 0.1)
prompt = (torch.rand(rows, vocab) < 0.05).to(torch.int8)
rep, pres, freq = (torch.rand(rows) + o for o in (1.0, 0.0, 0.0))
allowed = torch.rand(rows, vocab) < 0.8
bits = torch.zeros(rows, (vocab + 31) // 32 * 32, dtype=torch.int64)
bits[:, :vocab] = allowed
mask = (bits.view(rows, -1, 32) << torch.arange(32)).sum(-1).to(torch.int64)
mask = torch.where(mask >= 2**31, mask - 2**32, mask).to(torch.int32)
x = logits.float()
seen = (counts > 0) | (prompt != 0)
x = torch.where(seen, torch.where(x > 0, x / rep[:, None], x * rep[:, None]), x)
x = x - freq[:, None] * counts - pres[:, None] * (counts > 0)
right = torch.where(allowed, x, float("-inf")).to(torch.bfloat16)
counts = counts.to(torch.int32)
dev = [t.to(DEVICE) for t in (logits, counts, prompt, rep, pres, freq, mask)]
penalise[lambda meta: (rows, triton.cdiv(vocab, meta["BLOCK"]))](*dev, vocab, logits.stride(0), mask.shape[1])
torch.testing.assert_close(dev[0].cpu(), right, rtol=1e-2, atol=1e-2)
assert penalise.best_config.kwargs["BLOCK"] in (64, 256, 1024), penalise.best_config

seeds = torch.arange(rows, dtype=torch.int64, device=DEVICE)
temperature = torch.tensor([0.0, 0.5, 1.0, 1.0, 2.0, 0.0], device=DEVICE)
out = torch.empty(rows, dtype=torch.int64, device=DEVICE)
kept = torch.empty(rows, dtype=torch.int32, device=DEVICE)
gumbel_top_k[(rows,)](dev[0], seeds, temperature, out, kept, vocab, vocab, K=K)
best = dev[0].float().topk(K, dim=1)
for r in range(rows):
    limit = best.values[r, -1]
    assert int(kept[r]) == int((dev[0][r].float() >= limit).sum())
    assert dev[0][r, out[r]].float() >= limit
assert dev[0][0, out[0]] == dev[0][0].max() and dev[0][5, out[5]] == dev[0][5].max()
print("right on", triton.runtime.driver.active.get_current_target().backend)
