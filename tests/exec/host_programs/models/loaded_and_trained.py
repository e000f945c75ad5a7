"""A training loop whose layers are kernels with gradients, fed by loader workers that launch kernels, with checkpoints and accumulated gradients."""

import copy
import io

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def gelu_forward(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), mask=i < n)


@triton.jit
def gelu_backward(x, grad, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n).to(tl.float32)
    g = tl.load(grad + i, mask=i < n)
    d = 0.5 * (1 + tl.erf(v * 0.7071067811865476)) + v * 0.3989422804014327 * tl.exp(-0.5 * v * v)
    tl.store(out + i, g * d, mask=i < n)


class Gelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.contiguous()
        ctx.save_for_backward(x)
        out = torch.empty_like(x)
        gelu_forward[(triton.cdiv(x.numel(), 256),)](x, out, x.numel(), BLOCK=256)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        out = torch.empty_like(x)
        gelu_backward[(triton.cdiv(x.numel(), 256),)](x, grad.contiguous(), out, x.numel(), BLOCK=256)
        return out


@triton.jit
def dropout(x, out, n, p, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


class Dropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, p, seed):
        ctx.p, ctx.seed = p, seed
        out = torch.empty_like(x)
        dropout[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), p, seed, BLOCK=128)
        return out

    @staticmethod
    def backward(ctx, grad):
        grad = grad.contiguous()
        out = torch.empty_like(grad)
        dropout[(triton.cdiv(grad.numel(), 128),)](grad, out, grad.numel(), ctx.p, ctx.seed, BLOCK=128)
        return out, None, None


@triton.jit
def adam(
    p, g, m, v, rate, beta1: tl.constexpr, beta2: tl.constexpr, correction1, correction2, eps, n, BLOCK: tl.constexpr
):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    ok = i < n
    grad = tl.load(g + i, mask=ok)
    first = tl.load(m + i, mask=ok) * beta1 + grad * (1 - beta1)
    second = tl.load(v + i, mask=ok) * beta2 + grad * grad * (1 - beta2)
    tl.store(m + i, first, mask=ok)
    tl.store(v + i, second, mask=ok)
    step = rate * (first / correction1) / (tl.sqrt(second / correction2) + eps)
    tl.store(p + i, tl.load(p + i, mask=ok) - step, mask=ok)


class Adam(torch.optim.Optimizer):
    def __init__(self, params, lr):
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                if not state:
                    state.update(step=0, m=torch.zeros_like(p), v=torch.zeros_like(p))
                state["step"] += 1
                adam[(triton.cdiv(p.numel(), 256),)](
                    p,
                    p.grad,
                    state["m"],
                    state["v"],
                    group["lr"],
                    0.9,
                    0.999,
                    1 - 0.9 ** state["step"],
                    1 - 0.999 ** state["step"],
                    1e-8,
                    p.numel(),
                    BLOCK=256,
                )


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = torch.nn.Linear(12, 32), torch.nn.Linear(32, 3)

    def forward(self, x, seed=None):
        h = (
            Gelu.apply(self.a(x))
            if seed is not None or not torch.is_grad_enabled()
            else torch.nn.functional.gelu(self.a(x))
        )
        if seed:
            h = Dropout.apply(h, 0.2, seed)
        return self.b(h)


@triton.jit
def standardise(x, out, n: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    mean = tl.sum(v) / n
    d = tl.where(i < n, v - mean, 0.0)
    tl.store(out + i, d * tl.rsqrt(tl.sum(d * d) / n + 1e-6), mask=i < n)


class Rows(torch.utils.data.Dataset):
    def __len__(self):
        return 96

    def __getitem__(self, i):
        x = torch.randn(12, generator=torch.Generator().manual_seed(i))
        out = torch.empty_like(x)
        standardise[(1,)](x, out, 12, BLOCK=16)
        return out, int(out[:4].sum() > out[4:8].sum()) + int(out[8] > 0)


def collate(items):
    x = torch.stack([i[0] for i in items])
    y = torch.empty_like(x)
    gelu_forward[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), BLOCK=64)
    return x, y, torch.tensor([i[1] for i in items])


def start(worker):
    assert triton.runtime.driver.active.get_current_target() is not None


def main():
    torch.manual_seed(0)
    assert torch.autograd.gradcheck(
        lambda x: Gelu.apply(x.float()).double(),
        torch.randn(20, dtype=torch.float64, requires_grad=True),
        eps=1e-2,
        atol=2e-3,
        rtol=1e-2,
    )
    net = Net().to(DEVICE)
    other = copy.deepcopy(net)
    mine, theirs = Adam(net.parameters(), 0.02), torch.optim.Adam(other.parameters(), 0.02)
    loader = torch.utils.data.DataLoader(
        Rows(),
        batch_size=16,
        num_workers=1,
        multiprocessing_context="spawn",
        persistent_workers=True,
        collate_fn=collate,
        worker_init_fn=start,
    )
    losses = []
    for _ in range(6):
        for k, (x, y, label) in enumerate(loader):
            torch.testing.assert_close(y, torch.nn.functional.gelu(x), rtol=1e-5, atol=1e-5)
            torch.testing.assert_close(x.mean(-1), torch.zeros(len(x)), rtol=0, atol=1e-5)
            for model, optimizer, seed in ((net, mine, 0), (other, theirs, None)):
                loss = torch.nn.functional.cross_entropy(model(x, seed), label) / 2
                loss.backward()
                if k % 2:
                    optimizer.step()
                    optimizer.zero_grad(set_to_none=False)
                losses.append(loss.item())
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(a, b, rtol=2e-3, atol=2e-3)
    assert losses[-1] < 0.8 * losses[0], (losses[0], losses[-1])
    # dropout's gradient keeps what its forward kept
    x = torch.randn(500, requires_grad=True)
    y = Dropout.apply(x, 0.3, 77)
    y.sum().backward()
    assert torch.equal(x.grad != 0, y != 0) and 0.6 < (y != 0).float().mean() < 0.8
    # the same layer recomputed by checkpoint, and under autocast
    x = torch.randn(4, 12, requires_grad=True)
    torch.utils.checkpoint.checkpoint(net, x, 5, use_reentrant=False).sum().backward()
    a = x.grad.clone()
    x.grad = None
    net(x, 5).sum().backward()
    torch.testing.assert_close(a, x.grad)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        half = net(x, 0)
    torch.testing.assert_close(half.float(), net(x, 0), rtol=5e-2, atol=5e-2)
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "optimizer": mine.state_dict()}, buffer)
    buffer.seek(0)
    saved = torch.load(buffer, weights_only=True)
    again = Net()
    again.load_state_dict(saved["net"])
    with torch.no_grad():
        torch.testing.assert_close(again(x), net(x))
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
