"""Graphs that `backend="tilewright"` compiles launch their kernels at sites; a program for `tilewright run`."""

import random

import torch
from torch._inductor.runtime.triton_heuristics import CachingAutotuner

import tilewright
from tilewright.compat.torch_compile import compile_graph
from tilewright.runtime import compiling

tilewright.set_num_threads(1)
runs = []
original = CachingAutotuner.run


def counted(self, *args, **keywords):
    runs.append(self.inductor_meta["kernel_name"])
    return original(self, *args, **keywords)


CachingAutotuner.run = counted
again = []
compile_again = compiling._compile_other


def noted(source, *others):
    again.append(source)
    return compile_again(source, *others)


compiling._compile_other = noted


def check(compiled, function, *args):
    torch.testing.assert_close(compiled(*args), function(*args), rtol=1e-4, atol=1e-4)


def chain(x, w, places):
    """Kernels with products between them: in place, a concatenation of rows from a table, a sum."""
    y = torch.relu(x @ w)
    rows = torch.cat([y, w[places], y.sin()], 1)
    return (rows @ rows.T).softmax(-1), rows.sum(0)


# Sizes of all kinds: each is a graph of its own. After some calls no kernel is launched by PyTorch's object.
chosen = random.Random(5)
for _ in range(4):
    n, k = chosen.randint(1, 90), chosen.randint(1, 70)
    compiled = torch.compile(chain, backend=compile_graph, dynamic=False)
    args = torch.randn(n, k), torch.randn(k, k), torch.randint(0, k, (n,))
    for _ in range(4):
        check(compiled, chain, *args)
    runs.clear()
    for _ in range(3):
        args = torch.randn(n, k), torch.randn(k, k), torch.randint(0, k, (n,))
        check(compiled, chain, *args)
    assert not runs, runs
    torch._dynamo.reset()


def scaled(x, y):
    return (x + y).exp()


compiled = torch.compile(scaled, backend=compile_graph, dynamic=False)
whole = torch.linspace(0, 1, 4096)
for _ in range(4):
    check(compiled, scaled, whole[:1000], whole[1000:2000])
runs.clear()
check(compiled, scaled, whole[:1000], whole[1000:2000])
assert not runs
check(compiled, scaled, whole[:1000], whole[500:1500])  # memory that is shared
check(compiled, scaled, whole[:1000], whole[:1000])
for first in (3, 1, 2):  # addresses that 16 does not divide: PyTorch copies them, or guards
    check(compiled, scaled, whole[first : 1000 + first], whole[1000:2000])
check(compiled, scaled, whole[:1000], whole[1000:2000])

# A profiler sees each kernel, and later launches are native again.
runs.clear()
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    compiled(whole[:1000], whole[1000:2000])
assert len(runs) == 1 and any(runs[0] in event.name for event in profile.events() or ())
runs.clear()
check(compiled, scaled, whole[:1000], whole[1000:2000])
assert not runs


# Sizes that vary have a site each: of the last ones, launches are native.
compiled = torch.compile(scaled, backend=compile_graph, dynamic=True)
for n in (40, 1, 77, 512, 77, 5000, 40, 70000):
    for _ in range(4):
        check(compiled, scaled, torch.randn(n), torch.randn(n))
runs.clear()
for n in (5000, 40, 70000, 77):
    check(compiled, scaled, torch.randn(n), torch.randn(n))
assert not runs, runs
for n in range(100, 200):  # more than are kept
    check(compiled, scaled, torch.randn(n), torch.randn(n))
assert len(runs) >= 100
runs.clear()
for n in (40, 199, 198, 40, 77):
    for _ in range(3):
        check(compiled, scaled, torch.randn(n), torch.randn(n))
assert 0 < len(runs) < 7, runs
check(compiled, scaled, torch.randn(0), torch.randn(0))


def normed(x, w):
    """Sizes among the arguments of kernels, sums of rows and of columns, products between them."""
    y = torch.cat([x, x.cos()], 1) @ w
    return y.softmax(-1), (y * 2).sum(0), y.roll(1, 0)[::2] + y[: (y.shape[0] + 1) // 2]


compiled = torch.compile(normed, backend=compile_graph, dynamic=True)
sizes = [(chosen.randint(2, 90), chosen.randint(2, 70)) for _ in range(3)]
for n, k in [*sizes, *sizes]:
    for _ in range(4):
        check(compiled, normed, torch.randn(n, k), torch.randn(2 * k, k))
runs.clear()
for n, k in sizes:
    check(compiled, normed, torch.randn(n, k), torch.randn(2 * k, k))
assert not runs, runs


# An index out of range raises each time, natively as before.
def looked_up(table, places):
    return table[places].sin()


compiled = torch.compile(looked_up, backend=compile_graph, dynamic=False)
table, places = torch.randn(50, 16), torch.arange(32)
for _ in range(4):
    check(compiled, looked_up, table, places)
for _ in range(2):
    try:
        compiled(table, places + 1000)
    except tilewright.TilewrightError as error:
        assert "index out of bounds" in str(error), error
    else:
        raise AssertionError("nothing was raised")
    check(compiled, looked_up, table, places)


# A training step: its kernels, too, are launched at sites.
layer = torch.nn.Sequential(torch.nn.Linear(24, 40), torch.nn.ReLU(), torch.nn.LayerNorm(40))
compiled = torch.compile(layer, backend=compile_graph, dynamic=False)
x = torch.randn(30, 24)


def gradients(model):
    layer.zero_grad()
    model(x).square().sum().backward()
    return [p.grad.clone() for p in layer.parameters() if p.grad is not None]


expected = gradients(layer)
for _ in range(5):
    runs.clear()
    torch.testing.assert_close(gradients(compiled), expected, rtol=1e-3, atol=1e-4)
assert not runs, runs
# The kernels of a concatenation have two outputs in one tensor; all others were compiled once, for memory apart.
assert len(again) == 5 and all("out_ptr1" in source.fn.src for source in again)
print("right")
