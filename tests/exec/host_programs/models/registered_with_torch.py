"""triton_op, wrap_triton, register_autograd, vmap-free training inside torch.compile; a fused cross entropy as Liger writes it; export."""

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def entropy_and_gradient(logits, target, loss, grad, columns, ignore, smoothing: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    logits += row * columns
    grad += row * columns
    y = tl.load(target + row)
    if y == ignore:
        for i in range(0, columns, BLOCK):
            at = i + tl.arange(0, BLOCK)
            tl.store(grad + at, 0.0, mask=at < columns)
        tl.store(loss + row, 0.0)
        return
    m = float("-inf")
    d = 0.0
    total = 0.0
    picked = tl.load(logits + y).cast(tl.float32)
    for i in range(0, columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).cast(tl.float32)
        if smoothing > 0:
            total += tl.sum(tl.where(at < columns, x, 0.0))
        new = tl.maximum(m, tl.max(x))
        d = d * tl.exp(m - new) + tl.sum(tl.exp(x - new))
        m = new
    lse = m + tl.log(d)
    tl.debug_barrier()
    for i in range(0, columns, BLOCK):
        at = i + tl.arange(0, BLOCK)
        x = tl.load(logits + at, mask=at < columns, other=float("-inf")).cast(tl.float32)
        g = tl.exp(x - lse) - smoothing / columns
        g = tl.where(at == y, g - (1 - smoothing), g)
        tl.store(grad + at, g.to(grad.dtype.element_ty), mask=at < columns)
    value = (1 - smoothing) * (lse - picked)
    if smoothing > 0:
        value += smoothing * (lse - total / columns)
    tl.store(loss + row, value)


@triton_op("mine::cross_entropy", mutates_args={})
def cross_entropy(logits: torch.Tensor, target: torch.Tensor, smoothing: float) -> tuple[torch.Tensor, torch.Tensor]:
    rows, columns = logits.shape
    loss = torch.empty(rows, dtype=torch.float32, device=logits.device)
    grad = torch.empty_like(logits)
    wrap_triton(entropy_and_gradient)[(rows,)](
        logits, target, loss, grad, columns, -100, smoothing=smoothing, BLOCK=min(1024, triton.next_power_of_2(columns))
    )
    return loss, grad


def keep(ctx, inputs, output):
    ctx.save_for_backward(output[1])


def back(ctx, d_loss, _):
    (grad,) = ctx.saved_tensors
    return d_loss[:, None].to(grad.dtype) * grad, None, None


cross_entropy.register_autograd(back, setup_context=keep)


class Head(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = torch.nn.RMSNorm(32)
        self.out = torch.nn.Linear(32, 300, bias=False)

    def forward(self, x, target):
        loss, _ = torch.ops.mine.cross_entropy(self.out(self.norm(x)), target, 0.1)
        return loss.sum() / (target != -100).sum()


torch.manual_seed(0)
head = Head().to(DEVICE)
x = torch.randn(10, 32, device=DEVICE)
target = torch.randint(0, 300, (10,), device=DEVICE)
target[3] = -100


def right():
    head.zero_grad()
    value = torch.nn.functional.cross_entropy(head.out(head.norm(x)), target, label_smoothing=0.1)
    value.backward()
    return value.detach(), head.out.weight.grad.clone()


wanted = right()
for call, backend in ((head, "cpp"), (torch.compile(head), "cpp"), (torch.compile(head, dynamic=True), "triton")):
    torch._inductor.config.cpu_backend = backend
    head.zero_grad()
    value = call(x, target)
    value.backward()
    torch.testing.assert_close(value.detach(), wanted[0], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(head.out.weight.grad, wanted[1], rtol=1e-3, atol=1e-5)
torch.library.opcheck(
    torch.ops.mine.cross_entropy.default,
    (torch.randn(4, 50), torch.randint(0, 50, (4,)), 0.0),
    test_utils=("test_schema", "test_faketensor"),
)
exported = torch.export.export(head, (x, target))
torch.testing.assert_close(exported.module()(x, target), wanted[0], rtol=1e-4, atol=1e-5)
print("right on", triton.runtime.driver.active.get_current_target().backend)
