"""Kernels with descriptors inside torch.compile: made in the kernel, made in the graph, and out of the graph's sight."""

import torch
import triton
import triton.language as tl
from torch.utils import _triton
from triton.tools.tensor_descriptor import TensorDescriptor


@triton.jit
def double_by_its_own(x, out, M, N, B: tl.constexpr):
    source = tl.make_tensor_descriptor(x, [M, N], [N, 1], [B, B])
    target = tl.make_tensor_descriptor(out, [M, N], [N, 1], [B, B])
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    target.store([row, column], source.load([row, column]) * 2)


@triton.jit
def double(source, target, B: tl.constexpr):
    row, column = tl.program_id(0) * B, tl.program_id(1) * B
    target.store([row, column], source.load([row, column]) * 2)


def by_kernel(x):
    shifted = x + 1
    out = torch.empty_like(x)
    double_by_its_own[(4, 4)](shifted, out, *x.shape, B=16)
    return out - 1


def by_graph(x):
    shifted = x + 1
    out = torch.empty_like(x)
    double[(4, 4)](TensorDescriptor.from_tensor(shifted, [16, 16]), TensorDescriptor.from_tensor(out, [16, 16]), B=16)
    return out - 1


@torch.compiler.disable
def descriptor(tensor):
    return TensorDescriptor(tensor, list(tensor.shape), list(tensor.stride()), [16, 16])


def by_hand(x):
    """Dynamo does not follow this constructor: the launch is outside of the graph, and so is all that it calls."""
    shifted = x + 1
    out = torch.empty_like(x)
    double[(4, 4)](descriptor(shifted), descriptor(out), B=16)
    return out - 1


assert _triton.has_triton_stable_tma_api() and _triton.has_triton_tensor_descriptor_host_tma()
assert not _triton.has_triton_tma_device(), "there is no such device"
x = torch.randn(64, 64)
for backend in ("triton", "cpp"):
    torch._inductor.config.cpu_backend = backend
    for function in (by_kernel, by_graph, by_hand):
        torch._dynamo.reset()
        result = torch.compile(function, fullgraph=function is not by_hand)(x)
        torch.testing.assert_close(result, (x + 1) * 2 - 1)
print("right on", triton.runtime.driver.active.get_current_target().backend)
