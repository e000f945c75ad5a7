"""Each problem that other middle layers are known to have, as a kernel that must mean the same before and after.

The numbers are those of the list of known problems; the ones about reductions, products and scans belong to other
passes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tile_machine import OutOfBounds

Check = Callable[..., Any]
rng = np.random.default_rng(5)


def floats(count: int) -> Any:
    return rng.standard_normal(count).astype(np.float32)


def tile_kernel(body: str, arguments: str, rows: int, cols: int) -> str:
    """A kernel that loads a tile through `%p`, optionally masked by `%m`, and writes it densely to `%out`."""
    shape = f"{rows}x{cols}"
    return f"""
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>{arguments}) {{
      %rr = tt.make_range {{end = {rows} : i32, start = 0 : i32}} : tensor<{rows}xi32>
      %cr = tt.make_range {{end = {cols} : i32, start = 0 : i32}} : tensor<{cols}xi32>
      %re = tt.expand_dims %rr {{axis = 1 : i32}} : tensor<{rows}xi32> -> tensor<{rows}x1xi32>
      %ce = tt.expand_dims %cr {{axis = 0 : i32}} : tensor<{cols}xi32> -> tensor<1x{cols}xi32>
      %rb = tt.broadcast %re : tensor<{rows}x1xi32> -> tensor<{shape}xi32>
      %cb = tt.broadcast %ce : tensor<1x{cols}xi32> -> tensor<{shape}xi32>
      %width = arith.constant dense<{cols}> : tensor<{shape}xi32>
      %row_start = arith.muli %rb, %width : tensor<{shape}xi32>
      %dense = arith.addi %row_start, %cb : tensor<{shape}xi32>
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<{shape}x!tt.ptr<f32>>
      %outp = tt.addptr %outs, %dense : tensor<{shape}x!tt.ptr<f32>>, tensor<{shape}xi32>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<{shape}x!tt.ptr<f32>>
      {body}
      tt.store %outp, %v : tensor<{shape}x!tt.ptr<f32>>
      tt.return
    }}
    """


def test_1_scalar_accesses_are_masked(check: Check, names: Any) -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32, %i: i32) {
      %other = arith.constant 7.0 : f32
      %live = arith.cmpi slt, %i, %n : i32
      %p = tt.addptr %x, %i : !tt.ptr<f32>, i32
      %v = tt.load %p, %live, %other : !tt.ptr<f32>
      tt.store %out, %v : !tt.ptr<f32>
      %q = tt.addptr %out, %i : !tt.ptr<f32>, i32
      tt.store %q, %v, %live : !tt.ptr<f32>
      tt.return
    }
    """
    module = check(text, [floats(4), floats(4)], (4, 3), more_scalars=[(4, 1000), (4, 4)])
    assert names(module).count("tts.gather") == 1 and names(module).count("tts.scatter") == 2


@pytest.mark.parametrize("start", [-8, -3, 0, 5, 20])
def test_2_lower_bounds_are_checked(check: Check, names: Any, start: int) -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %s: i32, %n: i32) {
      %zero = arith.constant dense<0> : tensor<8xi32>
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %ss = tt.splat %s : i32 -> tensor<8xi32>
      %o = arith.addi %ss, %r : tensor<8xi32>
      %ns = tt.splat %n : i32 -> tensor<8xi32>
      %low = arith.cmpi sge, %o, %zero : tensor<8xi32>
      %high = arith.cmpi slt, %o, %ns : tensor<8xi32>
      %m = arith.andi %low, %high : tensor<8xi1>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %q = tt.addptr %outs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %q, %v : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    """
    module = check(text, [floats(10), floats(8)], (start, 10))
    assert "tts.masked_load" in names(module)


WRAP_COLUMNS = """
  %base = tt.splat %start : i32 -> tensor<1x16xi32>
  %moved = arith.addi %base, %ce : tensor<1x16xi32>
  %ns = tt.splat %n : i32 -> tensor<1x16xi32>
  %c = arith.remsi %moved, %ns : tensor<1x16xi32>
  %scs = tt.splat %sc : i32 -> tensor<1x16xi32>
  %cc = arith.muli %c, %scs : tensor<1x16xi32>
  %ccb = tt.broadcast %cc : tensor<1x16xi32> -> tensor<8x16xi32>
  %srs = tt.splat %sr : i32 -> tensor<8x16xi32>
  %rc = arith.muli %rb, %srs : tensor<8x16xi32>
  %o = arith.addi %rc, %ccb : tensor<8x16xi32>
  %p = tt.addptr %xs, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
"""
WRAP_ARGUMENTS = ", %start: i32, %n: i32, %sr: i32, %sc: i32"
WRAPS = [
    (32, 40, 40, 1),  # unit stride, divisible rows
    (32, 37, 48, 1),  # padded leading dimension
    (5, 7, 1, 8),  # transposed operand: column stride is not 1
    (3, 4, 16, 1),  # several wraps in one tile
    (12, 30, 64, 2),
    (0, 5, 0, 1),  # rows all the same
    (3, 9, 11, 0),  # a stride of 0 makes the bound 0
    (-9, 20, 64, 1),  # the remainder of a negative number is negative
]


@pytest.mark.parametrize("scalars", WRAPS)
def test_3_4_5_wraps_of_any_stride(check: Check, names: Any, scalars: tuple[int, ...]) -> None:
    shift = """
      %hundred = arith.constant 100 : i32
      %x0 = tt.addptr %x, %hundred : !tt.ptr<f32>, i32
      %xt = tt.splat %x0 : !tt.ptr<f32> -> tensor<8x16x!tt.ptr<f32>>
    """
    body = shift + WRAP_COLUMNS.replace("%xs", "%xt")
    body += "%v = tt.load %p : tensor<8x16x!tt.ptr<f32>>"
    module = check(tile_kernel(body, WRAP_ARGUMENTS, 8, 16), [floats(1000), floats(128)], scalars)
    assert "tts.make_tptr" in names(module) and "tts.gather" not in names(module)


@pytest.mark.parametrize("scalars", [(*wrap, columns) for wrap in WRAPS[:5] for columns in (0, 5, 16, 99)])
def test_6_masks_along_a_wrapped_dimension(check: Check, names: Any, scalars: tuple[int, ...]) -> None:
    body = (
        WRAP_COLUMNS
        + """
      %limit = tt.splat %columns : i32 -> tensor<1x16xi32>
      %mc = arith.cmpi slt, %ce, %limit : tensor<1x16xi32>
      %m = tt.broadcast %mc : tensor<1x16xi1> -> tensor<8x16xi1>
      %v = tt.load %p, %m : tensor<8x16x!tt.ptr<f32>>
    """
    )
    arguments = WRAP_ARGUMENTS + ", %columns: i32"
    module = check(tile_kernel(body, arguments, 8, 16), [floats(1000), floats(128)], scalars)
    assert "tts.load" in names(module)


@pytest.mark.parametrize("dimension", [0, 1])
def test_7_a_bump_goes_outside_of_the_remainder(check: Check, names: Any, dimension: int) -> None:
    """`p = x + (rows % n) * stride + cols; for ...: load p; p += step`, wrapping along either dimension."""
    wrapped, other = ("%rb", "%cb") if dimension == 0 else ("%cb", "%rb")
    body = f"""
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %zero = arith.constant dense<0.0> : tensor<8x16xf32>
      %ns = tt.splat %n : i32 -> tensor<8x16xi32>
      %w = arith.remsi {wrapped}, %ns : tensor<8x16xi32>
      %ss = tt.splat %s : i32 -> tensor<8x16xi32>
      %ws = arith.muli %w, %ss : tensor<8x16xi32>
      %o = arith.addi %ws, {other} : tensor<8x16xi32>
      %p0 = tt.addptr %xs, %o : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
      %steps = tt.splat %step : i32 -> tensor<8x16xi32>
      %v, %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%acc = %zero, %p = %p0)
          -> (tensor<8x16xf32>, tensor<8x16x!tt.ptr<f32>>)  : i32 {{
        %t = tt.load %p : tensor<8x16x!tt.ptr<f32>>
        %sum = arith.addf %acc, %t : tensor<8x16xf32>
        %next = tt.addptr %p, %steps : tensor<8x16x!tt.ptr<f32>>, tensor<8x16xi32>
        scf.yield %sum, %next : tensor<8x16xf32>, tensor<8x16x!tt.ptr<f32>>
      }}
    """
    text = tile_kernel(body, ", %n: i32, %s: i32, %step: i32", 8, 16)
    module = check(text, [floats(1000), floats(128)], (5, 32, 7), more_scalars=[(3, 1, 100), (16, 20, 5)])
    assert "tts.gather" not in names(module) and "tt.addptr" not in names(module)


BLOCK_POINTER = """
  %c1 = arith.constant 1 : i64
  %bp = tt.make_tensor_ptr %x, [%m, %n], [%STRIDES], [%i, %j] {order = array<i32: ORDER>} : <tensor<8x16xf32>>
  %bq = tt.advance %bp, [%di, %dj] : <tensor<8x16xf32>>
  %v = tt.load %bq {boundaryCheck = array<i32: 0, 1>, padding = 1 : i32} : !tt.ptr<tensor<8x16xf32>>
"""


@pytest.mark.parametrize("order", ["1, 0", "0, 1"])
@pytest.mark.parametrize("place", [(0, 0, 0, 0), (4, 8, 2, 3), (-3, -20, 0, 5), (18, 0, 7, 1), (-2, 25, 1, 1)])
def test_14_boundary_checks_of_block_pointers(check: Check, order: str, place: tuple[int, ...]) -> None:
    strides = "ld, %c1" if order == "1, 0" else "c1, %ld"
    body = BLOCK_POINTER.replace("STRIDES", strides).replace("ORDER", order)
    arguments = ", %m: i64, %n: i64, %ld: i64, %i: i32, %j: i32, %di: i32, %dj: i32"
    check(
        tile_kernel(body, arguments, 8, 16),
        [floats(20 * 30), floats(128)],
        (20, 30, 30 if order == "1, 0" else 20, *place),
    )


def test_15_mask_and_address_of_two_index_tensors(check: Check, names: Any) -> None:
    """Two index tensors in one loop; the mask uses the one that the address does not."""
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %out: !tt.ptr<f32>, %n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %c3 = arith.constant 3 : i32
      %four = arith.constant dense<4> : tensor<8xi32>
      %eight = arith.constant dense<8> : tensor<8xi32>
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %r5 = tt.make_range {end = 13 : i32, start = 5 : i32} : tensor<8xi32>
      %ns = tt.splat %n : i32 -> tensor<8xi32>
      %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %res:3 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %r, %b = %r5, %acc = %zero)
          -> (tensor<8xi32>, tensor<8xi32>, tensor<8xf32>)  : i32 {
        %m = arith.cmpi slt, %a, %ns : tensor<8xi32>
        %p = tt.addptr %xs, %b : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
        %t = tt.load %p, %m, %zero : tensor<8x!tt.ptr<f32>>
        %sum = arith.addf %acc, %t : tensor<8xf32>
        %a2 = arith.addi %a, %eight : tensor<8xi32>
        %b2 = arith.addi %b, %four : tensor<8xi32>
        scf.yield %a2, %b2, %sum : tensor<8xi32>, tensor<8xi32>, tensor<8xf32>
      }
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %q = tt.addptr %outs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %q, %res#2 : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    """
    module = check(text, [floats(32), floats(8)], (0,), more_scalars=[(1,), (13,), (24,)])
    assert names(module).count("tts.load") == 1 and "tt.addptr" not in names(module)


def test_16_wide_offsets_are_not_truncated(check: Check) -> None:
    """`(x + big) + (-big + 2)` with offsets beyond 32 bits, and a sum of 32-bit offsets beyond 32 bits."""
    text = """
    tt.func public @k(%x: !tt.ptr<i8>, %out: !tt.ptr<i8>, %big: i64, %i: i32) {
      %p = tt.addptr %x, %big : !tt.ptr<i8>, i64
      %c2 = arith.constant 2 : i64
      %zero = arith.constant 0 : i64
      %minus = arith.subi %c2, %big : i64
      %q = tt.addptr %p, %minus : !tt.ptr<i8>, i64
      %v = tt.load %q : !tt.ptr<i8>
      tt.store %out, %v : !tt.ptr<i8>
      %a = tt.addptr %x, %i : !tt.ptr<i8>, i32
      %b = tt.addptr %a, %i : !tt.ptr<i8>, i32
      %w = arith.extsi %i : i32 to i64
      %w2 = arith.addi %w, %w : i64
      %back = arith.subi %zero, %w2 : i64
      %d = tt.addptr %b, %back : !tt.ptr<i8>, i64
      %v2 = tt.load %d : !tt.ptr<i8>
      %out1 = tt.addptr %out, %c2 : !tt.ptr<i8>, i64
      tt.store %out1, %v2 : !tt.ptr<i8>
      tt.return
    }
    """
    arrays = [np.arange(8, dtype=np.int8), np.zeros(8, np.int8)]
    check(text, arrays, (1 << 40, 2147483647))


def test_17_a_moved_base_of_a_block_pointer(check: Check) -> None:
    body = "%x2 = tt.addptr %x, %shift : !tt.ptr<f32>, i32\n" + BLOCK_POINTER.replace("%x,", "%x2,")
    body = body.replace("STRIDES", "ld, %c1").replace("ORDER", "1, 0")
    arguments = ", %shift: i32, %m: i64, %n: i64, %ld: i64, %i: i32, %j: i32, %di: i32, %dj: i32"
    from tilewright.lowering.tt_to_unstructured.triton_to_unstructured import TritonToUnstructuredPass

    text = tile_kernel(body, arguments, 8, 16)
    check(text, [floats(1000), floats(128)], (100, 20, 30, 30, 1, 2, 3, 4))
    check(text, [floats(1000), floats(128)], (100, 20, 30, 30, 1, 2, 3, 4), passes=[TritonToUnstructuredPass()])


def test_18_a_lane_mask_on_a_tile_with_a_negative_offset(check: Check, names: Any) -> None:
    text = """
    tt.func public @k(%x: !tt.ptr<f32>, %flags: !tt.ptr<i8>, %out: !tt.ptr<f32>, %s: i32) {
      %c8 = arith.constant 8 : i32
      %zero = arith.constant dense<0> : tensor<8xi8>
      %r = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
      %fs = tt.splat %flags : !tt.ptr<i8> -> tensor<8x!tt.ptr<i8>>
      %fp = tt.addptr %fs, %r : tensor<8x!tt.ptr<i8>>, tensor<8xi32>
      %f = tt.load %fp : tensor<8x!tt.ptr<i8>>
      %m = arith.cmpi ne, %f, %zero : tensor<8xi8>
      %end = tt.addptr %x, %c8 : !tt.ptr<f32>, i32
      %ss = tt.splat %s : i32 -> tensor<8xi32>
      %o = arith.addi %ss, %r : tensor<8xi32>
      %xs = tt.splat %end : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %p = tt.addptr %xs, %o : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      %v = tt.load %p, %m : tensor<8x!tt.ptr<f32>>
      %outs = tt.splat %out : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
      %q = tt.addptr %outs, %r : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
      tt.store %q, %v, %m : tensor<8x!tt.ptr<f32>>
      tt.return
    }
    """
    flags = np.array([1, 0, 1, 1, 0, 0, 1, 0], np.int8)
    module = check(text, [floats(16), flags, floats(8)], (-8,), more_scalars=[(-3,), (0,)])
    assert names(module).count("tts.masked_load") == 1 and names(module).count("tts.masked_store") == 1


def test_the_machine_notices_dead_lanes(check: Check) -> None:
    """The tests above can fail: an unmasked access beyond the array raises."""
    body = WRAP_COLUMNS + "%v = tt.load %p : tensor<8x16x!tt.ptr<f32>>"
    with pytest.raises(OutOfBounds):
        check(tile_kernel(body, WRAP_ARGUMENTS, 8, 16), [floats(10), floats(128)], WRAPS[0])
