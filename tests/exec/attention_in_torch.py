"""Flex attention, whose template is C++ on the CPU, between Triton kernels; a program for `tilewright run`."""

import torch
from torch.nn.attention.flex_attention import flex_attention

from tilewright.compat.torch_compile import compile_graph


def biased(score, batch, head, row, column):
    return score + (row - column) * 0.01


def attend(q, k, v):
    return flex_attention(q.sin(), k, v, score_mod=biased).relu().sum(0)


q, k, v = torch.randn(3, 2, 4, 96, 32)
with torch.no_grad():
    compiled = torch.compile(attend, backend=compile_graph, dynamic=False)
    torch.testing.assert_close(compiled(q, k, v), attend(q, k, v), rtol=1e-4, atol=1e-4)
print("right")
