"""Kernels compiled from the text of a stage are launched with what their functions declare."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as triton
import tilewright.language as tl
from suite.arrays import Array
from tilewright.compiler.source import ASTSource, TextSource
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support import knobs
from tilewright.support.errors import ArgumentError, ArgumentValueError, MisalignedPointerError

TARGETS = ("cpu", "cuda_sim", "reference")


@triton.jit
def scale(x_ptr, out_ptr, n, factor, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x * factor, mask=offsets < n)


@triton.jit
def corner(block, out_ptr):
    i = tl.arange(0, 8)
    tl.store(out_ptr + i[:, None] * 8 + i[None, :], block.load([0, 8]))


def text_of(tmp_path: Path, source: ASTSource, stage: str = "ttir", **options: Any) -> Path:
    path = tmp_path / "kernel.ttir"
    path.write_text(triton.compile(source, **options).asm[stage])
    return path


def aligned(n: int, dtype: Any = np.float32) -> Array:
    base = np.zeros(n + 16, dtype)
    return base[-(base.ctypes.data // base.itemsize) % (16 // base.itemsize) :][:n]


SCALE = ASTSource(
    scale,
    {"x_ptr": "*fp32", "out_ptr": "*fp32", "n": "i32", "factor": "fp32"},
    {"BLOCK": 32},
    {(0,): [["tt.divisibility", 16]]},
)


@pytest.mark.parametrize("target", TARGETS)
def test_launching(tmp_path: Path, target: str) -> None:
    kernel = triton.compile(text_of(tmp_path, SCALE), target=target)
    x, out = aligned(64), aligned(64)
    x[:] = np.arange(64)
    with knobs.scope(target=target):
        kernel[2,](x, out, 50, 3)
        np.testing.assert_array_equal(out, np.where(np.arange(64) < 50, 3 * x, 0))
        kernel[lambda meta: (1,)](x_ptr=x, out_ptr=out, n=1, factor=0.5)
    assert out[:2].tolist() == [0, 3]


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    kernel = triton.compile(text_of(tmp_path, SCALE))
    x, out = aligned(64), aligned(64)
    with pytest.raises(ArgumentValueError, match=r"'x_ptr': a value of another type \(\*fp64\); expected \*fp32"):
        kernel[1,](aligned(64, np.float64), out, 32, 1.0)
    with pytest.raises(MisalignedPointerError, match="'x_ptr'"):
        kernel[1,](x[1:], out, 32, 1.0)
    with pytest.raises(ArgumentError, match="'factor': missing"):
        kernel[1,](x, out, 32)
    out.flags.writeable = False
    with pytest.raises(ArgumentValueError, match="'out_ptr'"):
        kernel[1,](x, out, 32, 1.0)


def test_pointers_that_are_promised_apart(tmp_path: Path) -> None:
    source = ASTSource(scale, SCALE.signature, SCALE.constexprs, noalias=True)
    kernel = triton.compile(text_of(tmp_path, source))
    x = aligned(64)
    with pytest.raises(ArgumentValueError, match="share memory"):
        kernel[1,](x, x, 32, 1.0)


def test_integers_of_text_have_no_sign(tmp_path: Path) -> None:
    source = ASTSource(scale, {"x_ptr": "*u16", "out_ptr": "*u16", "n": "i32", "factor": "i32"}, {"BLOCK": 32})
    kernel = triton.compile(text_of(tmp_path, source))
    for dtype in (np.uint16, np.int16):
        out = np.zeros(32, dtype)
        kernel[1,](np.arange(32, dtype=dtype), out, 32, 2)
        np.testing.assert_array_equal(out, 2 * np.arange(32))
    with pytest.raises(ArgumentValueError, match=r"another type \(\*fp16\)"):
        kernel[1,](np.zeros(32, np.float16), out, 32, 2)


@pytest.mark.parametrize("stage", ["source", "ast"])
@pytest.mark.parametrize("target", TARGETS)
def test_descriptors(tmp_path: Path, target: str, stage: str) -> None:
    source: Any = ASTSource(corner, {"block": "tensordesc<fp32[8, 8]>", "out_ptr": "*fp32"})
    kernel = triton.compile(source if stage == "ast" else text_of(tmp_path, source, stage), target=target)
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    out = np.zeros((8, 8), np.float32)
    with knobs.scope(target=target):
        kernel[1,](TensorDescriptor.from_tensor(x, [8, 8]), out)
    np.testing.assert_array_equal(out, x[:8, 8:])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "k.linalg",
            "func.func @k(%x: memref<*xf32>) { return }",
        ),
        ("k.ttir", "tt.func public @k(%x: tensor<8xf32>) { tt.return }"),
    ],
)
def test_text_that_does_not_say_what_it_takes(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert TextSource.read(path).declaration is None


@triton.jit
def shifted(pair, out, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(out + i, tl.load(pair[0] + i) + pair[1])


def test_declared_tuples_are_launched() -> None:
    types = {"pair": ("*fp32", "i32"), "out": "*fp32", "B": "constexpr"}
    compiled = triton.compile(ASTSource(shifted, types, {"B": 8}))
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, np.float32)
    compiled[(1,)]((x, 3), out, 8)
    np.testing.assert_array_equal(out, x + 3)
    with pytest.raises(ArgumentError):
        compiled[(1,)]((x.astype(np.float64), 3), out, 8)


POINTERS = """
tt.func public @gather(%rows: !tt.ptr<!tt.ptr<f32>>, %out: !tt.ptr<f32>) {
  %lanes = tt.make_range {start = 0 : i32, end = 4 : i32} : tensor<4xi32>
  %base = tt.splat %rows : !tt.ptr<!tt.ptr<f32>> -> tensor<4x!tt.ptr<!tt.ptr<f32>>>
  %places = tt.addptr %base, %lanes : tensor<4x!tt.ptr<!tt.ptr<f32>>>, tensor<4xi32>
  %starts = tt.load %places : tensor<4x!tt.ptr<!tt.ptr<f32>>>
  %firsts = tt.load %starts : tensor<4x!tt.ptr<f32>>
  %o = tt.splat %out : !tt.ptr<f32> -> tensor<4x!tt.ptr<f32>>
  %p = tt.addptr %o, %lanes : tensor<4x!tt.ptr<f32>>, tensor<4xi32>
  tt.store %p, %firsts : tensor<4x!tt.ptr<f32>>
  %row = tt.load %rows : !tt.ptr<!tt.ptr<f32>>
  %x = tt.load %row : !tt.ptr<f32>
  tt.store %out, %x : !tt.ptr<f32>
  tt.return
}
"""


def test_memory_that_holds_pointers(tmp_path: Path) -> None:
    path = tmp_path / "gather.ttir"
    path.write_text(POINTERS)
    kernel = triton.compile(path, target="cpu")
    values, out = np.array([3.5, 1, 2, 4], np.float32), np.zeros(4, np.float32)
    rows = values.ctypes.data + 4 * np.array([2, 0, 3, 1])
    with knobs.scope(target="cpu"):
        kernel[1,](rows, out)
    np.testing.assert_array_equal(out, [2, 3.5, 4, 1])


MASKED_AWAY = """
tt.func public @sum(%x: !tt.ptr<f32>, %indices: !tt.ptr<i32>, %out: !tt.ptr<f32>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %none = arith.constant dense<false> : tensor<16xi1>
  %zeros = arith.constant dense<0.0> : tensor<16xf32>
  %lanes = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32>
  %i = tt.splat %indices : !tt.ptr<i32> -> tensor<16x!tt.ptr<i32>>
  %j = tt.addptr %i, %lanes : tensor<16x!tt.ptr<i32>>, tensor<16xi32>
  %steps = tt.load %j : tensor<16x!tt.ptr<i32>>
  %base = tt.splat %x : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %first = tt.addptr %base, %steps : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  %sum:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%p = %first, %a = %zeros)
      -> (tensor<16x!tt.ptr<f32>>, tensor<16xf32>) : i32 {
    %v = tt.load %p, %none, %zeros : tensor<16x!tt.ptr<f32>>
    %b = arith.addf %a, %v : tensor<16xf32>
    %more = tt.load %j : tensor<16x!tt.ptr<i32>>
    %q = tt.addptr %p, %more : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
    scf.yield %q, %b : tensor<16x!tt.ptr<f32>>, tensor<16xf32>
  }
  %o = tt.splat %out : !tt.ptr<f32> -> tensor<16x!tt.ptr<f32>>
  %to = tt.addptr %o, %lanes : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
  tt.store %to, %sum#1 : tensor<16x!tt.ptr<f32>>
  tt.return
}
"""


def test_a_carried_pointer_whose_accesses_are_folded_away(tmp_path: Path) -> None:
    """Nothing but itself reads what the loop still carries."""
    path = tmp_path / "sum.ttir"
    path.write_text(MASKED_AWAY)
    kernel = triton.compile(path, target="cpu")
    x, indices, out = np.ones(64, np.float32), np.arange(16, dtype=np.int32), np.ones(16, np.float32)
    with knobs.scope(target="cpu"):
        kernel[1,](x, indices, out)
    np.testing.assert_array_equal(out, np.zeros(16, np.float32))
