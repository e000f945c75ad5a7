"""What PyTorch finds out about users' kernels, and such kernels in functions that it compiles; a program for
`tilewright run`."""

import logging
import os
import re
import sys

import torch
import triton
import triton.language as tl
from torch._higher_order_ops.triton_kernel_wrap import identify_accessed_tensors
from torch._inductor.utils import run_and_get_code
from torch.library import triton_op, wrap_triton

import tilewright

complaints: list[str] = []


class Complaints(logging.Handler):
    def emit(self, record):
        complaints.append(record.getMessage())


for name in ("torch._dynamo", "torch._inductor"):
    logging.getLogger(name).addHandler(Complaints(logging.WARNING))


@triton.jit
def moved(p, by):
    return p + by


@triton.jit(noinline=True)
def moved_by_call(p, by):
    return p + by


@triton.jit
def either(p, q, first):
    if first:
        return p
    return q


@triton.jit
def plain(x, y, n, factor, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i, mask=i < n) * factor, mask=i < n)


@triton.jit
def through_helpers(x, y, z, n):
    tl.store(moved(y, n), tl.load(moved(x, n)))
    tl.store(moved_by_call(y, n), tl.load(moved_by_call(z, n)))


@triton.jit
def exchanged(x, y, z, n):
    """In every second round they are each other."""
    for _ in range(n):
        tl.store(x, tl.load(z))
        x, y = y, x


@triton.jit
def early(x, y, z, n):
    if n == 5:
        return
    p = either(x, y, n > 3)
    while n > 0:
        tl.store(p, tl.load(z))
        p += 1
        n -= 1


@triton.jit
def atomics(x, y, z, w):
    tl.atomic_add(x, 1.0)
    tl.atomic_store(y, tl.atomic_load(z))
    tl.atomic_cas(w, 0.0, 1.0)


@triton.jit
def blocks(x, y, z, w):
    from_x = tl.make_block_ptr(x, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
    to_y = tl.make_block_ptr(y, (4, 4), (4, 1), (0, 0), (4, 4), (1, 0))
    tl.store(to_y, tl.load(from_x))
    loaded = tl.make_tensor_descriptor(w, [4, 4], [4, 1], [4, 4]).load([0, 0])
    tl.make_tensor_descriptor(z, [4, 4], [4, 1], [4, 4]).atomic_add([0, 0], loaded)


@triton.jit
def as_integers(x, y):
    there = (y.to(tl.int64) + 4).to(tl.pointer_type(tl.float32))
    tl.store(there, tl.load(x))


@triton.jit
def scattered(x, index, y):
    """Values and indices are no addresses."""
    i = tl.arange(0, 4)
    tl.store(y + tl.load(index + i), tl.sum(tl.load(x + i)))


@triton.jit
def without_one(x, y, absent, one):
    if absent is None:
        tl.store(y + one, tl.load(x + one))
    else:
        tl.store(absent, tl.load(x))


@triton.jit
def pure(x, y):
    tl.store(y, tl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r", [tl.load(x)], tl.float32, True, 1))


t = [torch.zeros(4, 4) for _ in range(4)]
CASES = [
    (plain, {"x": t[0], "y": t[1], "n": 16, "factor": 2.0, "B": 16}, "x", "y"),
    (through_helpers, {"x": t[0], "y": t[1], "z": t[2], "n": 3}, "xz", "y"),
    (exchanged, {"x": t[0], "y": t[1], "z": t[2], "n": 3}, "z", "xy"),
    (early, {"x": t[0], "y": t[1], "z": t[2], "n": 3}, "z", "xy"),
    (atomics, {"x": t[0], "y": t[1], "z": t[2], "w": t[3]}, "xzw", "xyw"),
    (blocks, {"x": t[0], "y": t[1], "z": t[2], "w": t[3]}, "xzw", "yz"),
    (as_integers, {"x": t[0], "y": t[1]}, "x", "y"),
    (scattered, {"x": t[0], "index": t[1].long(), "y": t[2]}, ["x", "index"], "y"),
    (without_one, {"x": t[0], "y": t[1], "absent": None, "one": 1}, "x", "y"),
    (pure, {"x": t[0], "y": t[1]}, "x", "y"),
]
for kernel, arguments, read, written in CASES:
    found = identify_accessed_tensors(kernel, arguments, {})
    names = [{dependency.name for dependency in each} for each in (found.read_writes.reads, found.read_writes.writes)]
    assert names == [set(read), set(written)], (kernel, names)
    is_only_store = kernel in (plain, as_integers, scattered, without_one, pure)
    assert found.can_fuse_epilogue == is_only_store, kernel
assert not complaints, complaints


@triton.jit
def busy(x, rounds, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    values = tl.load(x + i)
    for _ in range(rounds):
        values = tl.sin(values) + 1
    tl.store(x + i, values)


def threads_after(launch):
    """How many threads the process has more than before."""
    before = len(os.listdir("/proc/self/task"))
    launch()
    return len(os.listdir("/proc/self/task")) - before


data = torch.ones(64 * 256)
if sys.platform == "linux":
    torch.set_num_threads(1)
    assert tilewright.get_num_threads() == 1
    assert threads_after(lambda: [busy[(64,)](data, 300, B=256) for _ in range(3)]) == 0
    torch.set_num_threads(3)
    assert tilewright.get_num_threads() == 3
    assert threads_after(lambda: [busy[(64,)](data, 300, B=256) for _ in range(3)]) == 2
    tilewright.set_num_threads(2)
    assert torch.get_num_threads() == 2
    tilewright.set_num_threads(0)


def scaled(x, factor):
    y = torch.empty_like(x)
    plain[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel(), factor, B=64)
    return y


tuned = triton.autotune([triton.Config({"B": 32}), triton.Config({"B": 64})], ["n"])(plain)


@triton_op("tilewright_tests::scaled", mutates_args={})
def scaled_op(x: torch.Tensor, factor: float) -> torch.Tensor:
    y = torch.empty_like(x)
    wrap_triton(tuned)[lambda meta: (triton.cdiv(x.numel(), meta["B"]),)](x, y, x.numel(), factor)
    return y


@triton_op("tilewright_tests::into", mutates_args={"y"})
def into(x: torch.Tensor, y: torch.Tensor) -> None:
    wrap_triton(plain)[(triton.cdiv(x.numel(), 64),)](x, y, x.numel(), 3.0, B=64)


def program(x, y):
    into(x, y)
    return scaled(x.sin(), 2.0).cos() + scaled_op(x, 0.5)


x, y = torch.linspace(0, 1, 200), torch.zeros(200)
with torch._inductor.config.patch(cpu_backend="triton"):
    result, (code,) = run_and_get_code(torch.compile(program), x, y)
torch.testing.assert_close(result, (x.sin() * 2).cos() + x * 0.5)
torch.testing.assert_close(y, x * 3)
sites = re.findall(r"(site_\d+) = varying_site\(globals\(\), 'plain_\d'", code)
assert [code.count(f"{site}[") for site in sites] == [1, 1, 1], code
assert "copy" not in code.partition("def call(")[2], code
assert not complaints, complaints
print("right")
