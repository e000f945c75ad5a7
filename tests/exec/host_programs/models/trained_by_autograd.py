"""A training loop whose layer is an `autograd.Function` of Triton kernels, forward and backward."""

import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


@triton.jit
def scaled_rows(x_ptr, gain_ptr, y_ptr, scale_ptr, columns, eps, BLOCK: tl.constexpr):
    """RMSNorm of one row; keeps what the backward pass divides by."""
    row = tl.program_id(0).to(tl.int64)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + cols, mask=cols < columns, other=0.0).to(tl.float32)
    scale = tl.rsqrt(tl.sum(x * x) / columns + eps)
    gain = tl.load(gain_ptr + cols, mask=cols < columns, other=0.0).to(tl.float32)
    tl.store(scale_ptr + row, scale)
    tl.store(y_ptr + row * columns + cols, (x * scale * gain).to(y_ptr.dtype.element_ty), mask=cols < columns)


@triton.jit
def scaled_rows_backward(x_ptr, gain_ptr, dy_ptr, scale_ptr, dx_ptr, dgain_ptr, rows, columns, BLOCK: tl.constexpr):
    """Gradients of the rows p, p + P, ...; those of the gains are added up at the end."""
    cols = tl.arange(0, BLOCK)
    live = cols < columns
    gain = tl.load(gain_ptr + cols, mask=live, other=0.0).to(tl.float32)
    dgain = tl.zeros((BLOCK,), tl.float32)
    for row in range(tl.program_id(0), rows, tl.num_programs(0)):
        x = tl.load(x_ptr + row * columns + cols, mask=live, other=0.0).to(tl.float32)
        dy = tl.load(dy_ptr + row * columns + cols, mask=live, other=0.0).to(tl.float32)
        scale = tl.load(scale_ptr + row)
        unit, inner = x * scale, dy * gain
        dx = scale * (inner - unit * (tl.sum(unit * inner) / columns))
        tl.store(dx_ptr + row * columns + cols, dx.to(dx_ptr.dtype.element_ty), mask=live)
        dgain += dy * unit
    tl.atomic_add(dgain_ptr + cols, dgain, mask=live, sem="relaxed")


class ScaledRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, gain, eps):
        rows, columns = x.shape
        y, scale = torch.empty_like(x), torch.empty(rows, device=x.device)
        ctx.block = triton.next_power_of_2(columns)
        scaled_rows[(rows,)](x, gain, y, scale, columns, eps, BLOCK=ctx.block)
        ctx.save_for_backward(x, gain, scale)
        return y

    @staticmethod
    def backward(ctx, dy):
        x, gain, scale = ctx.saved_tensors
        dx, dgain = torch.empty_like(x), torch.zeros_like(gain, dtype=torch.float32)
        scaled_rows_backward[lambda meta: (triton.cdiv(x.shape[0], 8),)](
            x, gain, dy.contiguous(), scale, dx, dgain, *x.shape, BLOCK=ctx.block
        )
        return dx, dgain.to(gain.dtype), None


class Norm(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gain = torch.nn.Parameter(torch.ones(size))

    def forward(self, x):
        return ScaledRows.apply(x, self.gain, 1e-6)


class PlainNorm(Norm):
    def forward(self, x):
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * self.gain


def losses(norm):
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(24, 40), norm(40), torch.nn.SiLU(), torch.nn.Linear(40, 8)).to(DEVICE)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.randn(50, 24).to(DEVICE)
    labels = torch.randint(0, 8, (50,)).to(DEVICE)
    found = []
    for _ in range(8):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), labels)
        loss.backward()
        optimizer.step()
        found.append(loss.item())
    return torch.tensor(found)


ours, plain = losses(Norm), losses(PlainNorm)
assert ours[-1] < ours[0] - 0.5, ours
torch.testing.assert_close(ours, plain, rtol=1e-4, atol=1e-4)
print("right on", triton.runtime.driver.active.get_current_target().backend)
