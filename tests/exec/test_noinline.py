"""Functions that ask not to be inlined are calls on the CPU: with pointers, numbers and tiles, by both ways to loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from tilewright.compat.backends.compiler import GPUTarget
from tilewright.support import knobs


@triton.jit(noinline=True)
def tile_result(p, k):
    i = tl.arange(0, 64)
    return tl.load(p + i) * k, k + 1


@triton.jit
def tiles(p, out, n):
    i = tl.arange(0, 64)
    s = tl.zeros((64,), tl.float32)
    for j in range(n):
        v, m = tile_result(p + j * 2, j)
        s += v * m
    tl.store(out + i, s)


@triton.jit(noinline=True)
def write(p, q, n):
    i = tl.arange(0, 64)
    a = tl.load(p + i)
    tl.store(q + i, a + 1, mask=i < n)
    b = tl.load(p + i)
    return tl.sum(a - b)


@triton.jit
def alias(p, out, n):
    x = write(p, p, n)
    y = write(p + 1, p, n)
    z = write(p, out, n)
    i = tl.arange(0, 64)
    tl.store(out + i, tl.load(out + i) + x + y + z, mask=i < n)


@triton.jit(noinline=True)
def read(p, k):
    return tl.load(p + k)


@triton.jit(noinline=True)
def read_twice(p, k):
    return read(p, k) + read(p + k, k)


@triton.jit
def nested(p, out, n):
    tl.store(out, read_twice(p + 3, n) + read_twice(p, 1) + read(out, 2))


@triton.jit(noinline=True)
def pid_fn(p):
    return tl.load(p + tl.program_id(0)) + tl.num_programs(0)


@triton.jit
def ids(p, out, n):
    tl.store(out + tl.program_id(0), pid_fn(p))


@triton.jit(noinline=True)
def ptr_result(p, n):
    if n > 3:
        return p + 1
    return p + n


@triton.jit
def ptrs(p, out, n):
    q = ptr_result(p, n)
    i = tl.arange(0, 64)
    tl.store(p + i, 5.0)
    tl.store(out + i, tl.load(q + i))


@triton.jit(noinline=True)
def chosen_fn(p, q, n):
    r = p
    if n > 2:
        r = q
    return tl.load(r + n)


@triton.jit
def chosen(p, out, n):
    r = p
    for j in range(n):
        tl.store(out + j, chosen_fn(r, p + 1, j))
        r += 2
    tl.store(out + 5, chosen_fn((p + n).to(tl.pointer_type(tl.int32)).to(tl.pointer_type(tl.float32)), out, n))


@triton.jit(noinline=True)
def dot_fn(p, n):
    i = tl.arange(0, 16)
    a = tl.load(p + i[:, None] * 16 + i[None, :])
    acc = tl.zeros((16, 16), tl.float32)
    for _ in range(n):
        acc = tl.dot(a, a, acc)
    return acc


@triton.jit
def dots(p, out, n):
    i = tl.arange(0, 16)
    x = dot_fn(p, n)
    y = dot_fn(p + 16, 2)
    tl.store(out + i[:, None] * 16 + i[None, :], tl.dot(x, y) + x)


@triton.jit(noinline=True)
def early(p, n):
    if n > 3:
        return tl.load(p + tl.arange(0, 64))
    tl.store(p, 4.0)
    return tl.load(p + tl.arange(0, 64)) * 2


@triton.jit
def earlies(p, out, n):
    i = tl.arange(0, 64)
    tl.store(out + i, early(p, n) + early(p + 4, 4))


@triton.jit(noinline=True)
def atomic(p, n):
    tl.atomic_add(p + tl.arange(0, 64) % 8, 1.0)
    return tl.atomic_max(p + n, 3.0)


@triton.jit
def atomics(p, out, n):
    tl.store(out, atomic(p + 1, n) + atomic(out + 8, 2))


@triton.jit(noinline=True)
def large(p, n):
    s = 0.0
    for j in range(n):
        a = tl.load(p + j)
        s += tl.exp(a) * tl.sin(a) + tl.cos(a * 2.0)
        if a > 3.0:
            s = s * 0.5 + tl.log(a)
    v = tl.load(p + tl.arange(0, 64))
    return s + tl.sum(tl.exp(v) * tl.sin(v))


@triton.jit
def one_call(p, out, n):
    tl.store(out, large(p, n))


@triton.jit
def ten_calls(p, out, n):
    s = 0.0
    for i in tl.static_range(10):
        s += large(p + i, n)
    tl.store(out, s)


KERNELS = [tiles, alias, nested, ids, ptrs, chosen, dots, earlies, atomics, one_call, ten_calls]


def launch(kernel: Any, n: int) -> tuple[Any, Any, Any]:
    p, out = (np.arange(512) % 37).astype(np.float32) / 8, np.zeros(256, np.float32)
    compiled = kernel[(2,) if kernel is ids else (1,)](p, out, n)
    return p, out, compiled


@pytest.mark.parametrize("opt", ["strict", "0"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_results(kernel: Any, opt: str) -> None:
    for n in (2, 5):
        with knobs.scope(target="reference"):
            expected_p, expected_out, _ = launch(kernel, n)
        with knobs.scope(target="cpu", opt=opt):
            p, out, _ = launch(kernel, n)
        np.testing.assert_array_equal(p, expected_p)
        np.testing.assert_allclose(out, expected_out, rtol=1e-5)


@pytest.mark.parametrize("opt", ["strict", "0"])
def test_code_of_ten_calls_is_that_of_one(opt: str) -> None:
    with knobs.scope(target="cpu", opt=opt):
        one, ten = (len(launch(kernel, 2)[2].asm["obj"]) for kernel in (one_call, ten_calls))
    assert ten <= 1.5 * one


TWO_KERNELS = """
module {
  tt.func public @first(%p: !tt.ptr<f32>) attributes {noinline = false} {
    %one = arith.constant 1.0 : f32
    tt.call @second(%p, %one) : (!tt.ptr<f32>, f32) -> ()
    tt.return
  }
  tt.func public @second(%p: !tt.ptr<f32>, %x: f32) attributes {noinline = true} {
    %0 = tt.load %p : !tt.ptr<f32>
    %1 = arith.addf %0, %x : f32
    tt.store %p, %1 : !tt.ptr<f32>
    tt.return
  }
}
"""


def test_the_first_public_function_is_the_kernel(tmp_path: Any) -> None:
    path = tmp_path / "kernels.ttir"
    path.write_text(TWO_KERNELS)
    p = np.array([2.0], np.float32)
    triton.compile(str(path))[(1,)](p)
    assert p[0] == 3.0
    compiled = triton.compile(str(path), target=GPUTarget("cuda", 90, 32))
    assert compiled.asm["ptx"].count(".entry first") == 1


TILE_ARGUMENTS = """
module {
  tt.func public @k(%p: !tt.ptr<f32>) {
    %i = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
    %four = arith.constant dense<4> : tensor<16xi32>
    %low = arith.cmpi slt, %i, %four : tensor<16xi32>
    %x, %n = tt.call @f(%p, %i) : (!tt.ptr<f32>, tensor<16xi32>) -> (tensor<16xf32>, i32)
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %s, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %m = tt.splat %n : i32 -> tensor<16xi32>
    %r = tt.addptr %q, %m : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    tt.call @g(%r, %x, %low) : (tensor<16x!tt.ptr<f32>>, tensor<16xf32>, tensor<16xi1>) -> ()
    tt.return
  }
  tt.func private @f(%p: !tt.ptr<f32>, %i: tensor<16xi32>) -> (tensor<16xf32>, i32) attributes {noinline = true} {
    %s = tt.splat %p : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
    %q = tt.addptr %s, %i : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    %x = tt.load %q : tensor<16x!tt.ptr<f32>>
    %n = arith.constant 16 : i32
    tt.return %x, %n : tensor<16xf32>, i32
  }
  tt.func private @g(%p: tensor<16x!tt.ptr<f32>>, %x: tensor<16xf32>, %m: tensor<16xi1>)
      attributes {noinline = true} {
    tt.store %p, %x, %m : tensor<16x!tt.ptr<f32>>
    tt.return
  }
}
"""


@pytest.mark.parametrize("opt", ["strict", "0"])
def test_tiles_are_arguments(opt: str, tmp_path: Any) -> None:
    path = tmp_path / "tiles.ttir"
    path.write_text(TILE_ARGUMENTS)
    p = np.arange(32, dtype=np.float32)
    with knobs.scope(target="cpu", opt=opt):
        triton.compile(str(path))[(1,)](p)
    assert p[16:].tolist() == [0, 1, 2, 3, *range(20, 32)]
