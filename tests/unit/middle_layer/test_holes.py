"""What existing middle layers get wrong, one test for each numbered problem.

The problems of addresses and masks (1 to 7, 14 to 18) are in `tests/unit/analysis/test_holes.py`, on a machine that
runs the tt and structured stages; here are the others, run by the reference at the linalg stage.
"""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tilewright import reference
from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.verify import verify_module

rng = np.random.default_rng(41)


def run(text: str, *arguments: Any) -> PassContext:
    """Lower a kernel and run it; the arrays hold what the linalg stage left."""
    module = parse_module(text, make_context())
    verify_module(module)
    context = PassContext()
    parse_pipeline("triton-to-linalg").run(module, context)
    verify_module(module)
    reference.run_grid(module, "k", arguments, (1,), track_initialisation=True)
    return context


def tile(name: str, pointer: str, shape: tuple[int, ...], element: str) -> str:
    """Pointers `%name` to a contiguous tile behind `pointer`."""
    kind, count = "x".join(map(str, shape)), math.prod(shape)
    return f"""
    %{name}r = tt.make_range {{end = {count} : i32, start = 0 : i32}} : tensor<{count}xi32>
    %{name}i = tt.reshape %{name}r : tensor<{count}xi32> -> tensor<{kind}xi32>
    %{name}b = tt.splat {pointer} : !tt.ptr<{element}> -> tensor<{kind}x!tt.ptr<{element}>>
    %{name} = tt.addptr %{name}b, %{name}i : tensor<{kind}x!tt.ptr<{element}>>, tensor<{kind}xi32>
    """


def reduction(element: str, shape: tuple[int, ...], axis: int, op: str) -> str:
    kept = tuple(extent for dim, extent in enumerate(shape) if dim != axis)
    source, target = ("x".join(map(str, s)) for s in (shape, kept))
    return f"""tt.func public @k(%x: !tt.ptr<{element}>, %y: !tt.ptr<{element}>) {{
    {tile("p", "%x", shape, element)} {tile("q", "%y", kept, element)}
    %v = tt.load %p : tensor<{source}x!tt.ptr<{element}>>
    %s = "tt.reduce"(%v) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: {element}, %b: {element}):
      %c = {op} %a, %b : {element}
      tt.reduce.return %c : {element}
    }}) : (tensor<{source}x{element}>) -> tensor<{target}x{element}>
    tt.store %q, %s : tensor<{target}x!tt.ptr<{element}>>
    tt.return
  }}"""


@pytest.mark.parametrize(("element", "dtype"), [("i8", np.int8), ("i32", np.int32), ("i64", np.int64)])
def test_8_bitwise_and_starts_from_all_ones(element: str, dtype: Any) -> None:
    x, y = rng.integers(-128, 128, (4, 8)).astype(dtype) | 6, np.zeros(4, dtype)
    run(reduction(element, (4, 8), 1, "arith.andi"), x, y)
    np.testing.assert_array_equal(y, np.bitwise_and.reduce(x, axis=1))
    assert np.all(y & 6 == 6)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("element", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_9_half_sums_of_any_rank_add_up_in_f32(element: str, dtype: Any, axis: int) -> None:
    """2048 + 1 is 2048 in f16, 256 + 1 is 256 in bf16: a sum of ones stops there if it is kept in half precision."""
    shape = (4096, 2) if axis == 0 else (2, 4096)
    x, y = np.ones(shape, dtype), np.zeros(2, dtype)
    run(reduction(element, shape, axis, "arith.addf"), x, y)
    np.testing.assert_array_equal(y.astype(np.float64), [4096, 4096])


def test_10_a_half_dot_accumulates_in_f32() -> None:
    text = f"""tt.func public @k(%x: !tt.ptr<f16>, %y: !tt.ptr<f16>, %z: !tt.ptr<f16>) {{
    {tile("p", "%x", (16, 128), "f16")} {tile("q", "%y", (128, 16), "f16")} {tile("r", "%z", (16, 16), "f16")}
    %a = tt.load %p : tensor<16x128x!tt.ptr<f16>>
    %b = tt.load %q : tensor<128x16x!tt.ptr<f16>>
    %c = tt.load %r : tensor<16x16x!tt.ptr<f16>>
    %d = tt.dot %a, %b, %c : tensor<16x128xf16> * tensor<128x16xf16> -> tensor<16x16xf16>
    tt.store %r, %d : tensor<16x16x!tt.ptr<f16>>
    tt.return
  }}"""
    a, b = np.ones((16, 128), np.float16), np.full((128, 16), 0.5, np.float16)
    c = np.full((16, 16), 2000, np.float16)
    run(text, a, b, c)
    np.testing.assert_array_equal(c, np.full((16, 16), 2064, np.float16))


@pytest.mark.parametrize("predicate", ["ogt", "oge", "olt", "ole", "ugt", "ult", "oeq", "une", "ord", "uno"])
def test_11_a_comparison_and_a_selection_keep_their_nan_rule(predicate: str) -> None:
    text = f"""tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %z: !tt.ptr<f32>) {{
    {tile("p", "%x", (16,), "f32")} {tile("q", "%y", (16,), "f32")} {tile("r", "%z", (16,), "f32")}
    %a = tt.load %p : tensor<16x!tt.ptr<f32>>
    %b = tt.load %q : tensor<16x!tt.ptr<f32>>
    %m = arith.cmpf {predicate}, %a, %b : tensor<16xf32>
    %c = arith.select %m, %a, %b : tensor<16xi1>, tensor<16xf32>
    tt.store %r, %c : tensor<16x!tt.ptr<f32>>
    tt.return
  }}"""
    values = [0.0, -0.0, 1.0, np.nan]
    a, b = (np.array(m, np.float32).ravel() for m in np.meshgrid(values, values))
    out = np.zeros(16, np.float32)
    run(text, a, b, out)
    compare = {"gt": np.greater, "ge": np.greater_equal, "lt": np.less, "le": np.less_equal, "eq": np.equal}
    unordered = np.isnan(a) | np.isnan(b)
    if predicate in ("ord", "uno"):
        holds = unordered == (predicate == "uno")
    elif predicate == "une":
        holds = ~np.equal(a, b)
    else:
        holds = compare[predicate[1:]](a, b) | (unordered if predicate[0] == "u" else False)
    np.testing.assert_array_equal(out.view(np.int32), np.where(holds, a, b).view(np.int32))


@pytest.mark.parametrize("value", [-math.inf, math.inf, math.nan])
def test_12_argmax_of_equal_infinities_or_nan_is_a_place(value: float) -> None:
    text = f"""tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<i32>) {{
    {tile("p", "%x", (8,), "f32")}
    %v = tt.load %p : tensor<8x!tt.ptr<f32>>
    %s:2 = "tt.reduce"(%v, %pr) <{{axis = 0 : i32}}> ({{
    ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):
      %same = arith.cmpf oeq, %a, %b : f32
      %first = arith.cmpi slt, %i, %j : i32
      %tie = arith.andi %same, %first : i1
      %more = arith.cmpf ogt, %a, %b : f32
      %left = arith.ori %more, %tie : i1
      %m = arith.select %left, %a, %b : f32
      %n = arith.select %left, %i, %j : i32
      tt.reduce.return %m, %n : f32, i32
    }}) : (tensor<8xf32>, tensor<8xi32>) -> (f32, i32)
    tt.store %y, %s#1 : !tt.ptr<i32>
    tt.return
  }}"""
    place = np.array([-5], np.int32)
    run(text, np.full(8, value, np.float32), place)
    assert place[0] == 0 if not math.isnan(value) else 0 <= place[0] < 8


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", ["true", "false"])
def test_13_scans_of_any_axis_and_direction(axis: int, reverse: str) -> None:
    text = f"""tt.func public @k(%x: !tt.ptr<i32>, %y: !tt.ptr<i32>) {{
    {tile("p", "%x", (4, 8), "i32")} {tile("q", "%y", (4, 8), "i32")}
    %v = tt.load %p : tensor<4x8x!tt.ptr<i32>>
    %s = "tt.scan"(%v) <{{axis = {axis} : i32, reverse = {reverse}}}> ({{
    ^bb0(%a: i32, %b: i32):
      %c = arith.addi %a, %b : i32
      tt.scan.return %c : i32
    }}) : (tensor<4x8xi32>) -> tensor<4x8xi32>
    tt.store %q, %s : tensor<4x8x!tt.ptr<i32>>
    tt.return
  }}"""
    x, y = rng.integers(-9, 9, (4, 8)).astype(np.int32), np.zeros((4, 8), np.int32)
    run(text, x, y)
    turned = np.flip(x, axis) if reverse == "true" else x
    expected = np.cumsum(turned, axis=axis)
    np.testing.assert_array_equal(y, np.flip(expected, axis) if reverse == "true" else expected)


def test_19_a_pointer_that_is_not_understood_leaves_the_module_whole() -> None:
    """One access through a pointer from outside, in a loop with others: the others are rewritten, it stays."""
    text = """tt.func public @k(%x: !tt.ptr<f32>, %t: tensor<8x!tt.ptr<f32>>, %n: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %one = arith.constant dense<1> : tensor<8xi32>
    %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %t) -> (!tt.ptr<f32>, tensor<8x!tt.ptr<f32>>) : i32 {
      %v = tt.load %p : !tt.ptr<f32>
      %s = tt.splat %v : f32 -> tensor<8xf32>
      tt.store %q, %s : tensor<8x!tt.ptr<f32>>
      %np = tt.addptr %p, %c1 : !tt.ptr<f32>, i32
      %nq = tt.addptr %q, %one : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      scf.yield %np, %nq : !tt.ptr<f32>, tensor<8x!tt.ptr<f32>>
    }
    tt.return
  }"""
    module = parse_module(text, make_context())
    context = PassContext()
    for name in ("triton-to-structured", "triton-to-unstructured", "triton-arith-to-linalg", "unstructured-to-memref"):
        parse_pipeline(name).run(module, context)
        verify_module(module)
    names = [op.name for op in module.walk()]
    assert "tt.store" in names and "tt.load" not in names
    assert any("tensor of pointers" in remark.reason for remark in context.remarks)


def test_20_masked_loads_without_other_read_zero() -> None:
    """The buffer of a load starts as bits that are no zero, and the reference tells where they are read."""
    text = f"""tt.func public @k(%x: !tt.ptr<f32>, %y: !tt.ptr<f32>, %n: i32) {{
    {tile("p", "%x", (8,), "f32")} {tile("q", "%y", (8,), "f32")}
    %s = tt.splat %n : i32 -> tensor<8xi32>
    %m = arith.cmpi slt, %pr, %s : tensor<8xi32>
    %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
    tt.store %q, %v : tensor<8x!tt.ptr<f32>>
    tt.return
  }}"""
    x, y = np.arange(1, 9, dtype=np.float32), np.full(8, 7, np.float32)
    run(text, x, y, 3)
    np.testing.assert_array_equal(y, [1, 2, 3, 0, 0, 0, 0, 0])


def test_every_problem_has_a_test() -> None:
    numbers: set[int] = set()
    for path in (Path(__file__), Path(__file__).parents[1] / "analysis" / "test_holes.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                for part in node.name.split("_")[1:]:
                    if not part.isdigit():
                        break
                    numbers.add(int(part))
    assert numbers == set(range(1, 21))
