"""Concatenations by PyTorch's compiler: which of them are computed where they are used, and that all are right; a
program for `tilewright run`."""

import torch
from torch._inductor.utils import run_and_get_code

torch.manual_seed(0)
X, Y = torch.randn(3, 5, 48), torch.randn(5, 48)


def rotated(x, y):
    a, b = x.chunk(2, -1)
    return x * y + torch.cat((-b, a), -1) * y.cos()


def in_the_middle(x, y):
    return torch.cat((x[:, :2] * 2, x[:, 4:], x[:, 2:3]), 1).relu() + 1


def of_parts_of_zero_elements(x, y):
    return torch.cat((x[:, :0], -x, x[:, 5:]), -2) * 3


def of_integers(x, y):
    i = x.to(torch.int64)
    return torch.cat((i[..., :7], -i[..., 7:]), -1) + i


def widened(x, y):
    return torch.cat((x[..., :7].double(), x[..., 7:]), -1) * 2


def returned(x, y):
    return torch.cat((-x, x), 0)


def read_by_a_sum(x, y):
    return torch.cat((-x, x), 0).sum(0)


def expensive(x, y):
    return torch.cat(((x.exp() + 1).log() * x.sin(), x), 0) + 1


def of_many(x, y):
    return torch.cat([x + at for at in range(5)], 0) * 2


def check(function, *, in_place):
    """Compare a function with itself in eager PyTorch, and look for parts of a buffer in its code."""
    with torch.no_grad():
        found, (code, *_) = run_and_get_code(torch.compile(function, backend="tilewright", dynamic=False), X, Y)
        torch.testing.assert_close(found, function(X, Y), rtol=1e-5, atol=1e-5)
    assert ("# alias" not in code) == in_place, function.__name__


for each in rotated, in_the_middle, of_parts_of_zero_elements, of_integers:
    check(each, in_place=True)
for each in returned, read_by_a_sum, expensive, of_many, widened:
    check(each, in_place=False)
for rows in 3, 4, 7:
    compiled = torch.compile(rotated, backend="tilewright", dynamic=True)
    x = torch.randn(rows, 5, 48, requires_grad=True)
    twin = x.detach().clone().requires_grad_()
    compiled(x, Y).sin().sum().backward()
    rotated(twin, Y).sin().sum().backward()
    torch.testing.assert_close(x.grad, twin.grad, rtol=1e-5, atol=1e-5)
print("right")
