"""Blocks that `backend="tilewright"` chooses for Inductor's kernels; a program for `tilewright run`."""

import random

import torch
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

import tilewright
from tilewright.compat.torch_compile import compile_graph

made = []
original = CachingAutotuner.__init__


def noted(self, *args, **keywords):
    original(self, *args, **keywords)
    made.append([dict(config.kwargs) for config in self.configs])


CachingAutotuner.__init__ = noted


def blocks_of(function, *args, options=None, dynamic=False):
    """The blocks of each kernel of a function, all that Inductor would try. The result is checked."""
    torch._dynamo.reset()
    made.clear()
    compiled = torch.compile(function, backend=compile_graph, dynamic=dynamic, fullgraph=True, options=options)
    torch.testing.assert_close(compiled(*args), function(*args), rtol=1e-4, atol=1e-4)
    return list(made)


def weighed(x, rows):
    """The kernel of mobilenet's backward pass: rows that belong to images."""
    images = rows.repeat_interleave(x.shape[0] // rows.shape[0], 0)
    return (x * images).sum(0), (x + images).amax(0), x.var(0)


tilewright.set_num_threads(1)
x = torch.randn(392, 96)
# Columns of whole cache lines, not two at a time; one size, which no tuning chooses.
assert blocks_of(lambda x: x.sum(0), x) == [[{"XBLOCK": 64, "R0_BLOCK": 8}]]
assert blocks_of(lambda x: x.exp() + 1, x) == [[{"XBLOCK": 1024}]]
tilewright.set_num_threads(4)
unsplit = {"split_reductions": False}  # which more than two threads leave to Inductor
assert blocks_of(lambda x: x.sum(0), x, options=unsplit) == [[{"XBLOCK": 32, "R0_BLOCK": 8}]]
assert blocks_of(lambda x: x.exp() + 1, x[:4]) == [[{"XBLOCK": 128}]]
tilewright.set_num_threads(1)
# A block that crossed the end of an image's channels would read them one by one; rows at indices have their own dimension.
images, at = torch.randn(2, 96, 14, 14).to(memory_format=torch.channels_last), torch.randint(0, 30, (50,))
assert blocks_of(lambda x: x.mean((2, 3)), images) == [[{"XBLOCK": 32, "R0_BLOCK": 8}]]
# Whole rows where their length is a power of two: what belongs to a row is found once.
assert blocks_of(lambda x, at: x[at] * 2, x[:, :64], at) == [[{"XBLOCK": 64, "YBLOCK": 16}]]
assert blocks_of(lambda x, at: x[at] * 2, x, at) == [[{"XBLOCK": 32, "YBLOCK": 32}]]
assert blocks_of(lambda x, y: (x[..., None] * y).exp(), x, torch.randn(96, 8)) == [[{"XBLOCK": 8, "YBLOCK": 128}]]
# So have rows that become columns: squares do not lie in two images.
for side, block in (96, 32), (128, 64), (12, 64):
    images = torch.randn(28, 14, side)
    assert blocks_of(lambda x: x.transpose(1, 2).contiguous() + 1, images) == [[{"XBLOCK": 16, "YBLOCK": block}]]
assert blocks_of(lambda x, y: x * y, x, x[0]) == [[{"XBLOCK": 1024}]]
# What is costly and the same for a whole column, or a whole row, is computed once for a block of rows.
norm = torch.nn.BatchNorm2d(32).eval()
with torch.no_grad():
    norm.running_var.copy_(torch.rand(32) + 0.5)
    image = torch.randn(2, 32, 14, 14).to(memory_format=torch.channels_last)
    assert blocks_of(norm, image) == [[{"XBLOCK": 32, "YBLOCK": 32}]]
assert blocks_of(lambda x, y: x / y.sqrt()[:, None], x, x[:, 0].abs()) == [[{"XBLOCK": 32, "YBLOCK": 32}]]
assert blocks_of(lambda x, y: x * y[:, None], x, x[:, 0]) == [[{"XBLOCK": 1024}]]
# Sums that lie a page apart share the ways of one set of a cache: few at a time. Others do not.
pixels = torch.randn(2, 32, 16, 16).to(memory_format=torch.channels_last)


def enlarged(x, rows, side):
    images, channels = torch.arange(2)[:, None, None, None], torch.arange(32)[:, None, None]
    return torch.zeros(2, 32, side, side).index_put((images, channels, rows[:, None], rows), x, True)


for side, block in (32, 8), (33, 32):
    zeros, sums = blocks_of(enlarged, pixels, torch.randint(0, 32, (16,)), side)
    assert sums == [{"XBLOCK": block, "YBLOCK": 1024 // block}]
# Whole rows, few at a time, or whole columns: one size.
assert blocks_of(lambda x: x.softmax(-1), x) == [[{"XBLOCK": 4}]]
assert blocks_of(lambda x: (x[:32] * 2).sum(0), x) == [[{"XBLOCK": 64}]]
# Longer rows in parts; those of a size that is not known are as long as in the first call.
assert blocks_of(lambda x: x.softmax(-1), torch.randn(8, 3000)) == [[{"XBLOCK": 4, "R0_BLOCK": 256}]]
assert blocks_of(lambda x: x.sum(), x) == [[{"XBLOCK": 1, "R0_BLOCK": 1024}]]
scores, biases = torch.randn(2, 4, 17, 17), torch.randn(17, 17, 4)
for weighed_by in lambda x, y: (x + y.permute(2, 0, 1)).softmax(-1), lambda x, y: x.softmax(-1):
    [[blocks]] = blocks_of(weighed_by, scores, biases, dynamic=True)
    assert (blocks["XBLOCK"], blocks["R0_BLOCK"]) == (8, 32)
# Sizes that are not known are taken for long ones.
assert blocks_of(lambda x: x.exp() + 1, x[:4], dynamic=True) == [[{"XBLOCK": 1024}]]
assert blocks_of(lambda x: x.sum(0), x[:20], dynamic=True) == [[{"XBLOCK": 64, "R0_BLOCK": 8}]]
assert blocks_of(lambda x: x.t().contiguous() + 1, x[:, :30], dynamic=True) == [[{"XBLOCK": 16, "YBLOCK": 16}]]
# Scans of rows are of one row, whole or in parts.
assert blocks_of(lambda x: x.cumsum(-1), x) == [[{"XBLOCK": 4}]]
assert blocks_of(lambda x: x.cumsum(-1), torch.randn(8, 3000)) == [[{"XBLOCK": 1, "R0_BLOCK": 2048}]]
# Sums of few columns, and kernels that are tuned, keep Inductor's blocks.
assert all("R0_BLOCK" not in kwargs or kwargs["R0_BLOCK"] > 8 for [kwargs] in blocks_of(lambda x: x.sum(0), x[:, :4]))
assert len(blocks_of(lambda x: x.exp() + 1, x, options={"max_autotune_pointwise": True})[0]) > 1

chosen = random.Random(7)
for _ in range(2):
    threads, images, length, columns = (chosen.randint(1, most) for most in (2, 5, 70, 150))
    tilewright.set_num_threads(threads)
    x = torch.randn(images * length + images, columns)
    blocks_of(weighed, x, torch.randn(images, columns))
    blocks_of(lambda x: (x.argmax(0), x.cumsum(0), x.amin(0).exp()), x)
print("right")
