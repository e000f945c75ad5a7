"""Reductions, scans and maps of the tt stage, by hand; regions on slices give what regions on scalars give."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from triton_text import call

ADD = "%s = arith.addf %a, %b : {t}"


def reduce(body: str, kind: str, axis: int, shape: tuple[int, ...], result: tuple[int, ...]) -> str:
    source, target = ("x".join(map(str, [*extents, kind])) for extents in (shape, result))
    target = f"tensor<{target}>" if result else kind
    return f"""%r = "tt.reduce"(%x) <{{axis = {axis} : i32}}> ({{
    ^bb0(%a: {kind}, %b: {kind}):
      {body}
      tt.reduce.return %s : {kind}
    }}) : (tensor<{source}>) -> {target}"""


def test_sums_go_in_order() -> None:
    values = np.array([2**24, 1, 1, 1], np.float32)
    (total,) = call(reduce(ADD.format(t="f32"), "f32", 0, (4,), ()), "%x: tensor<4xf32>", "f32", values)
    assert total == 2**24, "each 1 is lost by itself"
    (total,) = call(reduce(ADD.format(t="f32"), "f32", 0, (4,), ()), "%x: tensor<4xf32>", "f32", values[::-1].copy())
    assert total == 2**24 + 3 + 1, "3 rounds up to the even neighbour"


@pytest.mark.parametrize(("kind", "dtype"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_sums_of_narrow_floats_are_rounded_once(kind: str, dtype: type) -> None:
    values = np.array([256, 1, 1, 1, 1, 1, 1, 1], dtype)
    (total,) = call(reduce(ADD.format(t=kind), kind, 0, (8,), ()), f"%x: tensor<8x{kind}>", kind, values)
    assert total == np.float32(263).astype(dtype)


def test_axes() -> None:
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    padded = np.zeros((2, 4), np.float32)
    padded[:, :3] = x
    for axis, kept in ((0, (4,)), (1, (2,))):
        kinds = f"tensor<{kept[0]}xf32>"
        (result,) = call(reduce(ADD.format(t="f32"), "f32", axis, (2, 4), kept), "%x: tensor<2x4xf32>", kinds, padded)
        np.testing.assert_array_equal(result, padded.sum(axis))


def test_extrema_and_nan() -> None:
    x = np.array([3, np.nan, -1, 7], np.float32)
    for name, expected in {"maxnumf": 7, "minnumf": -1, "maximumf": np.nan, "minimumf": np.nan}.items():
        body = f"%s = arith.{name} %a, %b : f32"
        (result,) = call(reduce(body, "f32", 0, (4,), ()), "%x: tensor<4xf32>", "f32", x)
        np.testing.assert_array_equal(result, np.float32(expected))


def test_integers_wrap() -> None:
    x = np.array([100, 100, 100, 1], np.int8)
    (result,) = call(reduce("%s = arith.addi %a, %b : i8", "i8", 0, (4,), ()), "%x: tensor<4xi8>", "i8", x)
    assert result == 301 - 256


ARGMAX = """%r:2 = "tt.reduce"(%x, %i) <{axis = 1 : i32}> ({
^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
  %gt = arith.cmpf ogt, %a, %b : f32
  %eq = arith.cmpf oeq, %a, %b : f32
  %lt = arith.cmpi slt, %ai, %bi : i32
  %tie = arith.andi %eq, %lt : i1
  %left = arith.ori %gt, %tie : i1
  %v = arith.select %left, %a, %b : f32
  %k = arith.select %left, %ai, %bi : i32
  tt.reduce.return %v, %k : f32, i32
}) : (tensor<2x4xf32>, tensor<2x4xi32>) -> (tensor<2xf32>, tensor<2xi32>)"""


def test_argmax_takes_the_first_of_equals() -> None:
    x = np.array([[1, 9, 9, 2], [4, 3, 4, 1]], np.float32)
    places = np.tile(np.arange(4, dtype=np.int32), (2, 1))
    signature = "%x: tensor<2x4xf32>, %i: tensor<2x4xi32>"
    values, indices = call(ARGMAX, signature, "tensor<2xf32>, tensor<2xi32>", x, places)
    np.testing.assert_array_equal(values, [9, 4])
    np.testing.assert_array_equal(indices, [1, 0])


def scan(body: str, axis: int, reverse: bool) -> str:
    return f"""%r = "tt.scan"(%x) <{{axis = {axis} : i32, reverse = {str(reverse).lower()}}}> ({{
    ^bb0(%a: f32, %b: f32):
      {body}
      tt.scan.return %s : f32
    }}) : (tensor<2x4xf32>) -> tensor<2x4xf32>"""


def test_scans() -> None:
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    for axis in (0, 1):
        (result,) = call(scan(ADD.format(t="f32"), axis, False), "%x: tensor<2x4xf32>", "tensor<2x4xf32>", x)
        np.testing.assert_array_equal(result, x.cumsum(axis))
    (result,) = call(scan(ADD.format(t="f32"), 1, True), "%x: tensor<2x4xf32>", "tensor<2x4xf32>", x)
    np.testing.assert_array_equal(result, x[:, ::-1].cumsum(1)[:, ::-1])


@pytest.mark.parametrize("reverse", [False, True])
def test_scans_combine_what_ran_with_what_comes(reverse: bool) -> None:
    """2 * a + b is not commutative: the running value is a."""
    body = "%t = arith.addf %a, %a : f32\n %s = arith.addf %t, %b : f32"
    x = np.arange(1, 9, dtype=np.float32).reshape(2, 4)
    (result,) = call(scan(body, 1, reverse), "%x: tensor<2x4xf32>", "tensor<2x4xf32>", x)
    expected = np.array(x[:, ::-1] if reverse else x)
    for place in range(1, 4):
        expected[:, place] += 2 * expected[:, place - 1]
    np.testing.assert_array_equal(result, expected[:, ::-1] if reverse else expected)


def test_regions_with_branches_and_loops() -> None:
    """A branch runs on slices, a loop element by element: the same function, both ways."""
    branch = """%z = arith.constant 0.0 : f32
      %neg = arith.cmpf olt, %a, %z : f32
      %q = scf.if %neg -> (f32) {
        scf.yield %z : f32
      } else {
        %w = arith.addf %a, %a : f32
        scf.yield %w : f32
      }"""
    loop = """%z = arith.constant 0.0 : f32
      %neg = arith.cmpf olt, %a, %z : f32
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c2 = arith.constant 2 : i32
      %n = arith.select %neg, %c0, %c2 : i32
      %q = scf.for %i = %c0 to %n step %c1 iter_args(%t = %z) -> (f32) : i32 {
        %u = arith.addf %t, %a : f32
        scf.yield %u : f32
      }"""
    x = np.array([1, -2, 3, -4], np.float32)
    for body in (branch, loop):
        text = f"""%r = "tt.map_elementwise"(%x) <{{pack = 1 : i32}}> ({{
        ^bb0(%a: f32):
          {body}
          tt.map_elementwise.return %q : f32
        }}) : (tensor<4xf32>) -> tensor<4xf32>"""
        (result,) = call(text, "%x: tensor<4xf32>", "tensor<4xf32>", x)
        np.testing.assert_array_equal(result, [2, 0, 6, 0])


def test_packs_are_neighbours() -> None:
    text = """%r = "tt.map_elementwise"(%x) <{pack = 2 : i32}> ({
    ^bb0(%a: i32, %b: i32):
      %s = arith.addi %a, %b : i32
      %d = arith.subi %a, %b : i32
      tt.map_elementwise.return %s, %d : i32, i32
    }) : (tensor<2x2xi32>) -> tensor<2x2xi32>"""
    (result,) = call(text, "%x: tensor<2x2xi32>", "tensor<2x2xi32>", np.array([[1, 2], [30, 40]], np.int32))
    np.testing.assert_array_equal(result, [[3, -1], [70, -10]])
