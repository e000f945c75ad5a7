"""Loads, stores, block pointers, descriptors and atomics of the tt stage, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from triton_text import launch

from suite.arrays import Array
from tilewright.reference import AssertionFailed, ByteRange, ReferenceError

COPY = """tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %n: i32) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %ns = tt.splat %n : i32 -> tensor<8xi32>
  %m = arith.cmpi slt, %i, %ns : tensor<8xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %op = tt.addptr %os, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  %v = tt.load %xp, %m : tensor<8x!tt.ptr<f32>>
  tt.store %op, %v : tensor<8x!tt.ptr<f32>>
  tt.return
}"""


def test_masked_lanes_are_zero_and_touch_nothing() -> None:
    x, out = np.arange(1, 6, dtype=np.float32), np.full(8, 77, np.float32)
    launch(COPY, x, out, 5)
    np.testing.assert_array_equal(out, [1, 2, 3, 4, 5, 0, 0, 0])


def test_leaving_an_argument_names_lane_element_and_program() -> None:
    with pytest.raises(ReferenceError) as caught:
        launch(COPY, np.zeros(5, np.float32), np.zeros(8, np.float32), 6)
    assert "'tt.load': at [5] of the tile: element 5 is outside of argument 'x' of 5 elements (program 0, 0, 0)" in str(
        caught.value
    )


def test_windows_reach_what_lies_around_them() -> None:
    memory = np.arange(16, dtype=np.float32)
    out = np.zeros(8, np.float32)
    launch(COPY, ByteRange(memory.view(np.uint8), 12 * 4), out, 4)
    np.testing.assert_array_equal(out, [12, 13, 14, 15, 0, 0, 0, 0])
    with pytest.raises(ReferenceError, match="element 4 is outside of argument 'x' of 4 elements"):
        launch(COPY, ByteRange(memory.view(np.uint8), 12 * 4), out, 5)


def test_strided_and_aliasing_arguments() -> None:
    memory = np.arange(8, dtype=np.float32)
    launch(COPY, memory, memory, 4)
    np.testing.assert_array_equal(memory, [0, 1, 2, 3, 0, 0, 0, 0])


def test_pointers_are_integers_and_other_types() -> None:
    text = """tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<i32>) {
      %one = arith.constant 1 : i32
      %four = arith.constant 4 : i64
      %p = tt.addptr %x, %one : !tt.ptr<f32>, i32
      %a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
      %b = arith.addi %a, %four : i64
      %q = tt.int_to_ptr %b : i64 -> !tt.ptr<i32>
      %v = tt.load %q : !tt.ptr<i32>
      tt.store %o, %v : !tt.ptr<i32>
      tt.return
    }"""
    x, out = np.array([1, 2, 3], np.float32), np.zeros(1, np.int32)
    launch(text, x, out)
    assert out.view(np.float32)[0] == 3


def test_addresses_found_in_memory() -> None:
    text = """tt.func public @k(%table: !tt.ptr<i64>, %o: !tt.ptr<f32>) {
      %a = tt.load %table : !tt.ptr<i64>
      %p = tt.int_to_ptr %a : i64 -> !tt.ptr<f32>
      %v = tt.load %p : !tt.ptr<f32>
      tt.store %o, %v : !tt.ptr<f32>
      tt.return
    }"""
    target, out = np.array([5.5], np.float32), np.zeros(1, np.float32)
    table = np.array([target.ctypes.data], np.int64)
    launch(text, table, out, reachable=[target])
    assert out[0] == 5.5
    with pytest.raises(ReferenceError, match=r"points into no argument; if it was read from memory: .*validate"):
        launch(text, table, out)
    for wrong, what in ((0, "a null pointer points into no argument "), (-1, "points into no argument ")):
        with pytest.raises(ReferenceError, match=what + r"\("):
            launch(text, np.array([wrong], np.int64), out)


def block(access: str) -> str:
    return f"""tt.func public @k(%x: !tt.ptr<f32>, %o: !tt.ptr<f32>, %m: i64, %n: i64, %i: i32, %j: i32) {{
      %c1 = arith.constant 1 : i64
      %c4 = arith.constant 4 : i64
      %c0 = arith.constant 0 : i32
      %start = tt.make_tensor_ptr %x, [%m, %n], [%n, %c1], [%c0, %c0] {{order = array<i32: 1, 0>}} : <tensor<2x4xf32>>
      %p = tt.advance %start, [%i, %j] : <tensor<2x4xf32>>
      %v = tt.load %p {access} : !tt.ptr<tensor<2x4xf32>>
      %q = tt.make_tensor_ptr %o, [%c4, %c4], [%c4, %c1], [%c0, %c0] {{order = array<i32: 1, 0>}} : <tensor<2x4xf32>>
      tt.store %q, %v : !tt.ptr<tensor<2x4xf32>>
      tt.return
    }}"""


def test_block_pointers() -> None:
    x = np.arange(1, 16, dtype=np.float32).reshape(3, 5)
    out = np.full(8, 77, np.float32)
    launch(block("{boundaryCheck = array<i32: 0, 1>, padding = 1 : i32}"), x, out, 3, 5, 2, 3)
    np.testing.assert_array_equal(out.reshape(2, 4), [[14, 15, 0, 0], [0, 0, 0, 0]])
    launch(block("{boundaryCheck = array<i32: 0, 1>, padding = 2 : i32}"), x, out, 3, 5, -1, 0)
    np.testing.assert_array_equal(out.reshape(2, 4), [[np.nan] * 4, [1, 2, 3, 4]])
    with pytest.raises(ReferenceError, match=r"at \[1, 0\] of the tile: element 18"):
        launch(block("{boundaryCheck = array<i32: 1>, padding = 1 : i32}"), x, out, 3, 5, 2, 3)


DESCRIPTOR = """tt.func public @k(%x: !tt.ptr<{t}>, %o: !tt.ptr<{t}>) {{
  %m = arith.constant 3 : i32
  %n = arith.constant 5 : i32
  %s = arith.constant 5 : i64
  %c1 = arith.constant 1 : i64
  %i = arith.constant 2 : i32
  %j = arith.constant 3 : i32
  %d = tt.make_tensor_descriptor %x, [%m, %n], [%s, %c1] {{padding = {padding} : i32}} : <{t}>, <tensor<2x4x{t}>>
  %r = tt.make_range {{end = 8 : i32, start = 0 : i32}} : tensor<8xi32>
  %os = tt.splat %o : !tt.ptr<{t}> -> tensor<8x!tt.ptr<{t}>>
  %op = tt.addptr %os, %r : tensor<8x!tt.ptr<{t}>>, tensor<8xi32>
  {body}
  tt.return
}}"""


def test_descriptor_loads_pad_and_stores_cut() -> None:
    body = """%v = tt.descriptor_load %d[%i, %j] : !tt.tensordesc<2x4xf32> -> tensor<2x4xf32>
      %w = tt.reshape %v : tensor<2x4xf32> -> tensor<8xf32>
      tt.store %op, %w : tensor<8x!tt.ptr<f32>>
      tt.descriptor_store %d[%j, %i], %v : !tt.tensordesc<2x4xf32>, tensor<2x4xf32>
      tt.descriptor_store %d[%i, %j], %two : !tt.tensordesc<2x4xf32>, tensor<2x4xf32>"""
    body = "%two = arith.constant dense<2.0> : tensor<2x4xf32>\n" + body
    for padding, outside in {1: 0.0, 2: np.nan}.items():
        x, out = np.arange(1, 16, dtype=np.float32), np.zeros(8, np.float32)
        launch(DESCRIPTOR.format(t="f32", padding=padding, body=body), x, out)
        np.testing.assert_array_equal(out, [14, 15, *[outside] * 6])
        np.testing.assert_array_equal(x, [*range(1, 14), 2, 2])


def test_descriptor_reductions() -> None:
    body = """%three = arith.constant dense<3> : tensor<2x4xi32>
      tt.descriptor_reduce {kind}, %d[%i, %j], %three : !tt.tensordesc<2x4xi32>, tensor<2x4xi32>"""
    for kind, last in {"add": [16, 18], "max": [13, 15], "min": [3, 3], "xor": [14, 12], "inc": [0, 0]}.items():
        x = np.arange(15, dtype=np.int32)
        x[13:] = 13, 15
        launch(DESCRIPTOR.format(t="i32", padding=1, body=body.format(kind=kind)), x, np.zeros(8, np.int32))
        np.testing.assert_array_equal(x, [*range(13), *last], err_msg=kind)


def rmw(kind: str, element: str) -> str:
    return f"""tt.func public @k(%x: !tt.ptr<{element}>, %at: tensor<4xi32>, %v: tensor<4x{element}>, %m: tensor<4xi1>,
        %o: !tt.ptr<{element}>) {{
      %r = tt.make_range {{end = 4 : i32, start = 0 : i32}} : tensor<4xi32>
      %xs = tt.splat %x : !tt.ptr<{element}> -> tensor<4x!tt.ptr<{element}>>
      %xp = tt.addptr %xs, %at : tensor<4x!tt.ptr<{element}>>, tensor<4xi32>
      %old = tt.atomic_rmw {kind}, acq_rel, gpu, %xp, %v, %m :
        (tensor<4x!tt.ptr<{element}>>, tensor<4x{element}>, tensor<4xi1>) -> tensor<4x{element}>
      %os = tt.splat %o : !tt.ptr<{element}> -> tensor<4x!tt.ptr<{element}>>
      %op = tt.addptr %os, %r : tensor<4x!tt.ptr<{element}>>, tensor<4xi32>
      tt.store %op, %old : tensor<4x!tt.ptr<{element}>>
      tt.return
    }}"""


@pytest.mark.parametrize(
    ("kind", "element", "memory", "values", "after", "old"),
    [
        ("add", "i32", [10, 20], [1, 2, 3, 4], [18, 20], [10, 0, 11, 14]),
        ("fadd", "f32", [1, 5], [0.5, 9, 0.25, 0.125], [1.875, 5], [1, 0, 1.5, 1.75]),
        ("exch", "i32", [7, 5], [1, 2, 3, 4], [4, 5], [7, 0, 1, 3]),
        ("umax", "i32", [5, 5], [-1, 9, 3, 4], [-1, 5], [5, 0, -1, -1]),
        ("max", "i32", [5, 5], [-1, 9, 3, 8], [8, 5], [5, 0, 5, 5]),
        ("and", "i32", [15, 5], [7, 9, 13, 5], [5, 5], [15, 0, 7, 5]),
    ],
)
def test_atomics_go_lane_by_lane(
    kind: str, element: str, memory: list[float], values: list[float], after: list[float], old: list[float]
) -> None:
    dtype = np.float32 if element == "f32" else np.int32
    x, out = np.array(memory, dtype), np.full(4, 77, dtype)
    mask = np.array([True, False, True, True])
    launch(rmw(kind, element), x, np.zeros(4, np.int32), np.array(values, dtype), mask, out)
    np.testing.assert_array_equal(x, after)
    np.testing.assert_array_equal(out, old)


def test_compare_and_swap_compares_bits() -> None:
    text = """tt.func public @k(%x: !tt.ptr<f32>, %c: f32, %v: f32, %o: !tt.ptr<f32>) {
      %old = tt.atomic_cas acq_rel, gpu, %x, %c, %v : (!tt.ptr<f32>, f32, f32) -> f32
      tt.store %o, %old : !tt.ptr<f32>
      tt.return
    }"""
    for memory, expected, after in ((0.0, -0.0, 0.0), (-0.0, -0.0, 3.0), (1.0, 1.0, 3.0), (1.0, 2.0, 1.0)):
        x, out = np.array([memory], np.float32), np.full(1, 77, np.float32)
        launch(text, x, np.float32(expected), 3.0, out)
        assert x[0] == after
        assert out[0] == memory


def test_programs_run_in_order() -> None:
    text = """tt.func public @k(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
      %one = arith.constant 1 : i32
      %i = tt.get_program_id x : i32
      %j = tt.get_program_id y : i32
      %w = tt.get_num_programs x : i32
      %s = arith.muli %j, %w : i32
      %n = arith.addi %s, %i : i32
      %t = tt.atomic_rmw add, acq_rel, gpu, %x, %one : (!tt.ptr<i32>, i32) -> i32
      %p = tt.addptr %o, %n : !tt.ptr<i32>, i32
      tt.store %p, %t : !tt.ptr<i32>
      tt.return
    }"""
    counter, out = np.zeros(1, np.int32), np.full(6, -1, np.int32)
    launch(text, counter, out, grid=(3, 2))
    np.testing.assert_array_equal(out, range(6))


def test_prints_and_assertions() -> None:
    text = """tt.func public @k(%x: tensor<2xf32>, %n: i32, %ok: tensor<2xi1>) {
      tt.print " v: " {hex = false, isSigned = array<i32: 0>} : %x : tensor<2xf32>
      tt.print " n: " {hex = true, isSigned = array<i32: 1>} : %n : i32
      tt.assert %ok, "all of them" : tensor<2xi1>
      tt.return
    }"""
    x: Array = np.array([1.5, -2], np.float32)
    machine = launch(text, x, -1, np.array([True, True]))
    assert machine.output == [
        "pid (0, 0, 0) idx (0) v: 1.500000",
        "pid (0, 0, 0) idx (1) v: -2.000000",
        "pid (0, 0, 0) idx () n: 0xffffffff",
    ]
    failed = r"at \[1\] of the tile: Assertion `all of them` failed \(program 0, 0, 0\)"
    with pytest.raises(AssertionFailed, match=failed):
        launch(text, x, -1, np.array([True, False]))
