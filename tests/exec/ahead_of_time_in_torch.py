"""PyTorch's ahead-of-time compiler with users' kernels on CPUs; a program for `tilewright run`, whose argument is a
folder for the package."""

import sys
from pathlib import Path

import torch
import torch._inductor.config as inductor
import triton
import triton.language as tl
from torch._inductor import aoti_compile_and_package
from torch.export import Dim, export
from torch.library import triton_op, wrap_triton

inductor._use_fp64_for_unbacked_floats = False
inductor.aot_inductor.precompile_headers = False  # each would be used once
folder = Path(sys.argv[1])


@triton.jit
def weighted(x, weights, y, columns, factor, one, B: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, B)
    inside = i < columns
    values = tl.load(x + row * columns + i, mask=inside, other=0.0) * tl.load(weights + i, mask=inside, other=0.0)
    tl.device_assert(tl.max(values, 0) < 1000.0, "too large")
    tl.store(y + row * columns + i * one, values / tl.sum(values, 0) * factor, mask=inside)


@triton.jit
def counted(indices, counts, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(counts + tl.load(indices + i, mask=i < n, other=0), 1, mask=i < n)


@triton_op("tilewright_tests::weighted", mutates_args={})
def weighted_op(x: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(weighted)[(x.shape[0],)](x, weights, y, x.shape[1], 2.5, 1, B=64)
    return y


@triton_op("tilewright_tests::counted", mutates_args={})
def counted_op(indices: torch.Tensor) -> torch.Tensor:
    counts = torch.zeros(8, dtype=torch.int64)
    wrap_triton(counted)[(triton.cdiv(indices.numel(), 32),)](indices, counts, indices.numel(), B=32)
    return counts


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.linspace(1, 2, 50), requires_grad=False)

    def forward(self, x):
        return weighted_op(x.exp(), self.weights).sin(), counted_op((x * 3).abs().long() % 8)


torch.manual_seed(0)
model, x = Model(), torch.randn(33, 50)
torch.testing.assert_close(model(x)[0], ((w := x.exp() * model.weights) / w.sum(1, keepdim=True) * 2.5).sin())
assert (model(x)[1] == ((x * 3).abs().long() % 8).reshape(-1).bincount(minlength=8)).all()
program = export(model, (x,), dynamic_shapes=({0: Dim("rows", min=2, max=100)},))
aoti_compile_and_package(program, package_path=str(folder / "model.pt2"))
inputs = [torch.randn(rows, 50) for rows in (33, 7)]
torch.save([(x, model(x)) for x in inputs], folder / "expected.pt")
print("right")
