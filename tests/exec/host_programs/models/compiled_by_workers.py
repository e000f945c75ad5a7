"""triton_op inside torch.compile with compile workers: mutation, several kernels, autotuned kernels, dynamic shapes, gradients, a second process that finds the cache, kernels in a module of Inductor's own."""

import subprocess
import sys

import torch
import triton
import triton.language as tl
from torch.library import triton_op, wrap_triton


@triton.jit
def rotate(x, cos, sin, out, half, row_stride, BLOCK: tl.constexpr, INVERSE: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    ok = i < half
    c, s = tl.load(cos + row * half + i, mask=ok), tl.load(sin + row * half + i, mask=ok)
    if INVERSE:
        s = -s
    a, b = tl.load(x + row * row_stride + i, mask=ok), tl.load(x + row * row_stride + half + i, mask=ok)
    tl.store(out + row * 2 * half + i, a * c - b * s, mask=ok)
    tl.store(out + row * 2 * half + half + i, b * c + a * s, mask=ok)


@triton_op("workers::rotate", mutates_args={})
def rotate_op(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, inverse: bool = False) -> torch.Tensor:
    x = x.contiguous()
    out = torch.empty_like(x)
    half = x.shape[1] // 2
    wrap_triton(rotate)[(x.shape[0],)](
        x, cos, sin, out, half, x.stride(0), BLOCK=triton.next_power_of_2(half), INVERSE=inverse
    )
    return out


def setup(ctx, inputs, output):
    ctx.save_for_backward(inputs[1], inputs[2])


def backward(ctx, grad):
    cos, sin = ctx.saved_tensors
    return rotate_op(grad, cos, sin, True), None, None, None


rotate_op.register_autograd(backward, setup_context=setup)


@triton.autotune([triton.Config({"BLOCK": b}) for b in (64, 128)], key=["n"], restore_value=["into"])
@triton.jit
def accumulate(x, into, factor, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(into + i, tl.load(into + i, mask=i < n) + factor * tl.load(x + i, mask=i < n), mask=i < n)


@triton_op("workers::accumulate", mutates_args={"into"})
def accumulate_op(x: torch.Tensor, into: torch.Tensor, factor: float) -> None:
    wrap_triton(accumulate)[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, into, factor, x.numel())


@torch.library.custom_op("workers::halve", mutates_args=())
def halve(x: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    accumulate[(triton.cdiv(x.numel(), 64),)](x, out, 0.5, x.numel())
    return out


@halve.register_fake
def _(x):
    return torch.empty_like(x)


def model(x, cos, sin, state):
    y = rotate_op(torch.nn.functional.layer_norm(x, x.shape[-1:]), cos, sin)
    accumulate_op(y.detach(), state, 0.5)
    z = torch.softmax(y * 2, -1) + halve(x.detach()).sum()
    return z * state.sum()


def wanted(x, cos, sin, state):
    x_ = torch.nn.functional.layer_norm(x, x.shape[-1:])
    a, b = x_.chunk(2, -1)
    y = torch.cat([a * cos - b * sin, b * cos + a * sin], -1)
    state += 0.5 * y.detach()
    return (torch.softmax(y * 2, -1) + (x.detach() / 2).sum()) * state.sum()


def check(compiled, rows):
    angle = torch.rand(rows, 10)
    x = torch.randn(rows, 20)
    state = torch.zeros(rows, 20)
    a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
    state2 = state.clone()
    one = compiled(a, angle.cos(), angle.sin(), state)
    two = wanted(b, angle.cos(), angle.sin(), state2)
    torch.testing.assert_close(one, two, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(state, state2, rtol=1e-4, atol=1e-4)
    one.square().sum().backward()
    two.square().sum().backward()
    torch.testing.assert_close(a.grad, b.grad, rtol=1e-3, atol=1e-3)


def main():
    import torch._inductor.config as config

    torch.manual_seed(0)
    config.cpu_backend = "triton"
    config.compile_threads = 1 if sys.argv[1:] else 2
    config.worker_start_method = "subprocess"
    if sys.argv[1:]:
        check(torch.compile(model, fullgraph=True), 6)
        print("right in a second process")
        return
    check(model, 5)
    check(torch.compile(model, fullgraph=True), 6)
    dynamic = torch.compile(model, dynamic=True)
    for rows in (7, 9):
        check(dynamic, rows)
    done = subprocess.run([sys.executable, __file__, "again"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "right in a second process" in done.stdout, done.stderr
    from torch.utils._triton import has_triton, has_triton_package

    assert has_triton_package() and has_triton(), "PyTorch sees a Triton"
    print("right on", triton.runtime.driver.active.get_current_target().backend)


if __name__ == "__main__":
    main()
