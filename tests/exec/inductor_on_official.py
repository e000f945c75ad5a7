"""PyTorch's compiler, and a user's kernel in it, with official Triton and tilewright as its back end for the CPU; run
with `TILEWRIGHT_TRITON_BACKEND=cpu`."""

import torch
import torch._inductor.config as inductor
import triton
import triton.language as tl
from torch._dynamo import trace_rules

import tilewright
import tilewright.language
import tilewright.runtime.driver

inductor.cpu_backend = "triton"
assert "tilewright" not in triton.__file__ and triton.__file__ != tilewright.__file__


@triton.jit
def scaled(x, y, n, factor, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


def softmax_of_scaled(x):
    y = torch.empty_like(x)
    scaled[(triton.cdiv(x.numel(), 256),)](x.sin(), y, x.numel(), 2.5, B=256)
    return y.cos().softmax(-1)


x = torch.linspace(0, 1, 700).view(7, 100)
expected = (x.sin() * 2.5).cos().softmax(-1)
torch.testing.assert_close(torch.compile(softmax_of_scaled)(x), expected)
# PyTorch's tracer leaves the back end alone.
assert trace_rules.check_file(tilewright.runtime.driver.__file__).skipped
assert not trace_rules.check_file(tilewright.language.__file__).skipped
print("right")
