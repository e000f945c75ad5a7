"""Structured pointers and accesses of the tts dialect, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from triton_text import launch

from tilewright.reference import ReferenceError

NO = "-9223372036854775808"
"""How a dynamic entry is written in a static list."""

STORE = '"tts.store"(%q, %v) <{static_mask_dims = array<i64>}> : (tensor<2x4x!tt.ptr<f32>>, tensor<2x4xf32>) -> ()'


def kernel(body: str, extra: str = "") -> str:
    """A kernel that stores a 2x4 tile %v densely behind %o."""
    return f"""tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>{extra}) {{
      {body}
      %q = tts.make_tptr %o to sizes: [2, 4], strides: [4, 1], offsets: [0, 0], shape: [0, 0], order: []
        : <f32> to tensor<2x4x!tt.ptr<f32>>
      {STORE}
      tt.return
    }}"""


def pointer(strides: str, offsets: str, shape: str = "[0, 0]") -> str:
    return f"""%p = tts.make_tptr %x to sizes: [2, 4], strides: {strides}, offsets: {offsets}, shape: {shape}, order: []
      : <f32> to tensor<2x4x!tt.ptr<f32>>"""


LOAD = '%v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> : ' \
       "(tensor<2x4x!tt.ptr<f32>>) -> tensor<2x4xf32>"  # fmt: skip


def test_boxes() -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(8, np.float32)
    launch(kernel(f"{pointer('[10, 2]', '[10, 1]')}\n{LOAD}"), x, out)
    np.testing.assert_array_equal(out, [11, 13, 15, 17, 21, 23, 25, 27])


def test_wrapping_dimensions() -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(8, np.float32)
    launch(kernel(f"{pointer('[10, 1]', '[0, 3]', '[0, 5]')}\n{LOAD}"), x, out)
    np.testing.assert_array_equal(out, [3, 4, 0, 1, 13, 14, 10, 11])


def test_a_bound_that_is_zero_at_run_time_does_not_wrap() -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(8, np.float32)
    body = f"%n = arith.index_cast %b : i32 to index\n{pointer('[10, 1]', '[0, 3]', '[0, %n]')}\n{LOAD}"
    launch(kernel(body, ", %b: i32"), x, out, 0)
    np.testing.assert_array_equal(out, [3, 4, 5, 6, 13, 14, 15, 16])
    launch(kernel(body, ", %b: i32"), x, out, 4)
    np.testing.assert_array_equal(out, [3, 0, 1, 2, 13, 10, 11, 12])


@pytest.mark.parametrize(("other", "outside"), [(False, 0.0), (True, 9.0)])
def test_masked_boxes(other: bool, outside: float) -> None:
    x, out = np.arange(6, dtype=np.float32), np.zeros(8, np.float32)
    load = f"""%n = arith.index_cast %b : i32 to index
      %nine = arith.constant 9.0 : f32
      %v = "tts.load"(%p, %n{", %nine" if other else ""}) <{{operandSegmentSizes = array<i32: 1, 1, {int(other)}>,
        static_mask_dims = array<i64: {NO}, 2>}}> :
        (tensor<2x4x!tt.ptr<f32>>, index{", f32" if other else ""}) -> tensor<2x4xf32>"""
    launch(kernel(f"{pointer('[4, 1]', '[0, 0]')}\n{load}", ", %b: i32"), x, out, 2)
    np.testing.assert_array_equal(out, [0, 1, outside, outside, 4, 5, outside, outside])
    launch(kernel(f"{pointer('[4, 1]', '[0, 0]')}\n{load}", ", %b: i32"), x, out, 1)
    np.testing.assert_array_equal(out, [0, 1, *[outside] * 6])


def test_boxes_that_start_anywhere_and_lane_masks() -> None:
    x, out = np.arange(1, 9, dtype=np.float32), np.zeros(8, np.float32)
    load = """%keep = arith.constant dense<[[true], [false]]> : tensor<2x1xi1>
      %v = "tts.masked_load"(%p, %keep) <{operandSegmentSizes = array<i32: 1, 0, 0, 1, 0>,
        static_mask_starts = array<i64: 0, 1>, static_mask_dims = array<i64: 2, 2>}> :
        (tensor<2x4x!tt.ptr<f32>>, tensor<2x1xi1>) -> tensor<2x4xf32>"""
    launch(kernel(f"{pointer('[4, 1]', '[0, 0]')}\n{load}"), x, out)
    np.testing.assert_array_equal(out, [0, 2, 3, 0, 0, 0, 0, 0])
    leaves = load.replace("static_mask_dims = array<i64: 2, 2>", "static_mask_dims = array<i64: 2, 4>")
    with pytest.raises(ReferenceError, match=r"dimension 1: lanes \[1, 5\) are not in a tile of 4"):
        launch(kernel(f"{pointer('[4, 1]', '[0, 0]')}\n{leaves}"), x, out)


def test_gathered_rows() -> None:
    x, out = np.arange(40, dtype=np.float32), np.zeros(8, np.float32)
    body = """%rows = arith.constant dense<[3, 1]> : tensor<2xi32>
      %p = tts.make_gather_scatter_tptr %x to sizes: [2, 4] gather_scatter_dim: 0 gather_scatter_offset: %rows,
        strides: [10, 1], offsets: [0, 5] : tensor<2xi32> <f32> to !tt.ptr<tensor<2x4xf32>>
      %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}> :
        (!tt.ptr<tensor<2x4xf32>>) -> tensor<2x4xf32>"""
    launch(kernel(body), x, out)
    np.testing.assert_array_equal(out, [35, 36, 37, 38, 15, 16, 17, 18])


def test_gather_and_scatter() -> None:
    text = """tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %at: tensor<4xi32>, %m: tensor<4xi1>) {
      %v = tts.gather %x[%at] mask = %m : (<f32>, tensor<4xi32>) -> tensor<4xf32>
      tts.scatter %v into %o[%at] : tensor<4xf32> into (<f32>, tensor<4xi32>)
      tt.return
    }"""
    x, out = np.arange(1, 9, dtype=np.float32), np.full(8, 77, np.float32)
    at = np.array([7, 0, 2, 7], np.int32)
    launch(text, x, out, at, np.array([True, True, False, False]))
    np.testing.assert_array_equal(out, [1, 77, 0, 77, 77, 77, 77, 0])
    with pytest.raises(ReferenceError, match=r"'tts.gather': at \[2\] of the tile: element 8 is outside of"):
        launch(text, x, out, np.array([0, 99, 8, 1], np.int32), np.array([True, False, True, False]))


def test_atomics() -> None:
    text = """tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>, %at: tensor<4xi32>, %v: tensor<4xi32>) {
      %old = "tts.atomic_rmw"(%x, %at, %v) <{atomic_rmw_op = 4 : i32, sem = 4 : i32, scope = 1 : i32}> :
        (!tt.ptr<i32>, tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
      %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
      tts.scatter %old into %o[%i] : tensor<4xi32> into (<i32>, tensor<4xi32>)
      tt.return
    }"""
    x, out = np.zeros(2, np.int32), np.full(4, 77, np.int32)
    launch(text, x, out, np.array([0, 1, 0, 0], np.int32), np.array([1, 2, 3, 4], np.int32))
    np.testing.assert_array_equal(x, [8, 2])
    np.testing.assert_array_equal(out, [0, 0, 1, 4])
