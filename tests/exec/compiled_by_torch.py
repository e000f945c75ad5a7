"""Functions that PyTorch's compiler turns into Triton kernels, which tilewright compiles for the CPU; a program for
`tilewright run`. Arguments name functions, which are all by default."""

import sys
import warnings

import torch
import torch._inductor.config as inductor
import torch.nn.functional as F
from torch._inductor.async_compile import AsyncCompile
from torch._inductor.codegen.common import device_codegens

warnings.filterwarnings("error", "Could not find an active")
inductor.cpu_backend = "triton"
torch.manual_seed(0)


def pointwise():
    x = torch.linspace(0.1, 1.1, 300)
    powers = x.pow(2.5), x.log1p(), x.rsqrt(), torch.erf(x), torch.lgamma(x), torch.atan2(x, x + 1)
    return *powers, F.gelu(x), torch.where(x > 0.5, x, -x), torch.remainder(x, -0.3), x.half() * 2


def reductions():
    x = torch.sin(torch.arange(33 * 65.0)).view(33, 65)
    return x.sum(0), x.amax(1), x.argmax(1), x.prod(0), torch.var_mean(x), x.cumsum(1), (x > 0).any(0), x.logsumexp(1)


def indexing():
    table, rows = torch.arange(50 * 32.0).view(50, 32), torch.arange(140).view(20, 7) * 17 % 50
    spread = torch.zeros(20, 50).scatter_add(1, rows, rows * 0.5)
    return F.embedding(rows, table).sum(1), torch.gather(table[:20], 1, rows % 32), spread


def attention():
    q, k, v = torch.sin(torch.arange(3 * 2 * 4 * 33 * 16.0)).view(3, 2, 4, 33, 16)
    scores = (q @ k.transpose(-1, -2) / 4).masked_fill(torch.ones(33, 33).triu(1).bool(), float("-inf"))
    return scores.softmax(-1) @ v


def gradients():
    x = torch.sin(torch.arange(1600.0)).view(16, 100).requires_grad_()
    loss = (F.layer_norm(x, (100,)).softmax(-1) * torch.arange(100.0)).mean().sin()
    return torch.autograd.grad(loss, x)


if (inductor.compile_threads or 0) > 1:
    AsyncCompile.wait_pool_ready()  # until then PyTorch compiles in this process
functions = pointwise, reductions, indexing, attention, gradients
for function in [each for each in functions if each.__name__ in sys.argv[1:]] or functions:
    result = torch.compile(function)()
    say = lambda text, name=function.__name__: f"{name}: {text}"  # noqa: E731
    torch.testing.assert_close(result, function(), rtol=1e-4, atol=1e-4, equal_nan=True, msg=say)
# `backend="tilewright"` is not needed for launches by native code, nor for blocks that fit a CPU.
assert device_codegens["cpu"].wrapper_codegen.__name__ == "SiteWrapper"
print("right")
