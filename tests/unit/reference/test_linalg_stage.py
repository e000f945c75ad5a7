"""The reference on modules of the linalg and loops stages: results against NumPy, order, bounds, effects."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.traits import IsTerminator
from xdsl.utils.exceptions import VerifyException

from tilewright import reference
from tilewright.dialects import DIALECTS, load_dialect, make_context
from tilewright.ir.parsing import parse_module
from tilewright.reference.machine import BRANCHES, MEANINGS

rng = np.random.default_rng(7)


def run(text: str, *arguments: Any, name: str = "f") -> tuple[Any, ...]:
    return reference.run_module(parse_module(text, make_context()), name, arguments)


def test_every_op_has_a_meaning() -> None:
    """Ops of tptr and ptr are only read, written and reconciled: what runs them is the user's tool of triton-shared."""
    missing = [
        op.name
        for name in DIALECTS
        if name not in ("gluon", "ptr", "tptr", "ttg", "ttng")
        for op in load_dialect(name).operations
        if op not in MEANINGS and op not in BRANCHES and not any(isinstance(trait, IsTerminator) for trait in op.traits)
    ]
    assert sorted(missing) == ["func.func", "tt.func"]


@pytest.mark.parametrize(("name", "dtype"), [("f32", np.float32), ("bf16", ml_dtypes.bfloat16), ("i8", np.int8)])
def test_cumulative_sums_round_and_wrap_at_each_step(name: str, dtype: Any) -> None:
    type_ = f"tensor<3x40x{name}>"
    text = f"""
      func.func @f(%x: {type_}, %e: {type_}) -> {type_} {{
        %s = ttx.cumsum {{axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1>}}
          ins(%x : {type_}) outs(%e : {type_}) -> {type_}
        return %s : {type_}
      }}
    """
    x = (rng.standard_normal((3, 40)) * 9).astype(dtype)
    expected = x.copy()
    for column in range(1, 40):
        expected[:, column] = expected[:, column - 1] + x[:, column]
    (result,) = run(text, x, np.zeros_like(x))
    np.testing.assert_array_equal(result, expected)


def test_integers_wrap_and_read_unsigned() -> None:
    text = """
func.func @f(%a: i8, %b: i8, %c: i4) -> (i8, i8, i8, i1, i32, i4) {
  %0 = arith.addi %a, %b : i8
  %1 = arith.divui %a, %b : i8
  %2 = arith.shrui %a, %b : i8
  %3 = arith.cmpi ugt, %a, %b : i8
  %4 = arith.extui %a : i8 to i32
  %5 = arith.addi %c, %c : i4
  return %0, %1, %2, %3, %4, %5 : i8, i8, i8, i1, i32, i4
}"""
    assert [int(v) for v in run(text, -120, 3, 5)] == [-117, 45, 17, 1, 136, -6]
    assert int(run(text, 127, 1, 0)[0]) == -128


def test_bfloat16_rounds_after_every_op() -> None:
    text = """
func.func @f(%a: bf16, %b: bf16) -> bf16 {
  %0 = arith.addf %a, %b : bf16
  %1 = arith.addf %0, %b : bf16
  return %1 : bf16
}"""
    (result,) = run(text, 256.0, 1.0)
    assert result.dtype == ml_dtypes.bfloat16 and float(result) == 256.0


def test_loops_carry_values() -> None:
    text = """
func.func @f(%n: i32) -> (i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %s = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
    %next = arith.addi %acc, %i : i32
    scf.yield %next : i32
  }
  %w = scf.while (%x = %n) : (i32) -> i32 {
    %more = arith.cmpi sgt, %x, %c1 : i32
    scf.condition(%more) %x : i32
  } do {
  ^bb0(%x: i32):
    %half = arith.shrsi %x, %c1 : i32
    scf.yield %half : i32
  }
  return %s, %w : i32, i32
}"""
    assert [int(v) for v in run(text, 10)] == [45, 1]
    assert [int(v) for v in run(text, 0)] == [0, 0]


def test_unsigned_loops_and_steps_without_meaning() -> None:
    text = """
func.func @f(%a: i8, %b: i8, %s: i8) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = scf.for unsigned %i = %a to %b step %s iter_args(%n = %c0) -> (i32) : i8 {
    %m = arith.addi %n, %c1 : i32
    scf.yield %m : i32
  }
  return %r : i32
}"""
    assert int(run(text, 100, -56, 10)[0]) == 10
    with pytest.raises(reference.ReferenceError, match=r"'scf.for': the step"):
        run(text, 0, 10, 0)


def test_branches_between_blocks() -> None:
    text = """
func.func @f(%a: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c10 = arith.constant 10 : i32
  %neg = arith.cmpi slt, %a, %c0 : i32
  cf.cond_br %neg, ^bb1(%c0 : i32), ^bb2
^bb1(%x: i32):
  return %x : i32
^bb2:
  cf.switch %a : i32, [
    default: ^bb1(%a : i32),
    7: ^bb1(%c10 : i32)
  ]
}"""
    assert [int(run(text, a)[0]) for a in (-3, 5, 7)] == [0, 5, 10]


def test_calls_and_what_lies_outside() -> None:
    text = """
func.func private @outside(%a: i32) -> i32
func.func private @twice(%a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  return %0 : i32
}
func.func @f(%a: i32) -> i32 {
  %0 = call @twice(%a) : (i32) -> i32
  %1 = call @outside(%0) : (i32) -> i32
  return %1 : i32
}""".replace("(%a: i32) -> i32\nfunc.func private @twice", "(i32) -> i32\nfunc.func private @twice")
    module = parse_module(text, make_context())
    machine = reference.Machine(module, external={"outside": lambda value: np.int32(int(value) + 1)})
    assert int(reference.run_module(module, "f", [4], machine=machine)[0]) == 9
    with pytest.raises(reference.ReferenceError, match="'outside' is declared outside"):
        run(text, 4)


def test_functions_from_outside_take_memory() -> None:
    text = """
func.func private @extent(memref<4xi32>) -> i32
func.func @f() -> i32 {
  %m = memref.alloc() : memref<4xi32>
  %0 = call @extent(%m) : (memref<4xi32>) -> i32
  return %0 : i32
}"""
    module = parse_module(text, make_context())
    machine = reference.Machine(module, external={"extent": lambda memory: np.int32(memory.sizes[0])})
    assert int(reference.run_module(module, "f", [], machine=machine)[0]) == 4


def test_memory_of_arguments_has_no_dimensions() -> None:
    text = """
func.func @f(%x: memref<*xf32>) -> (index, index) {
  %none = memref.rank %x : memref<*xf32>
  %v = memref.reinterpret_cast %x to offset: [0], sizes: [2, 4], strides: [4, 1] : memref<*xf32> to memref<2x4xf32>
  %two = memref.rank %v : memref<2x4xf32>
  return %none, %two : index, index
}"""
    assert [int(rank) for rank in run(text, np.zeros(8, np.float32))] == [0, 2]


def test_endless_loops_are_errors() -> None:
    text = """
func.func @f() {
  cf.br ^bb1
^bb1:
  %0 = arith.constant 1 : i32
  cf.br ^bb1
}"""
    module = parse_module(text, make_context())
    with pytest.raises(reference.ReferenceError, match="more than 1000 ops"):
        reference.run_module(module, "f", [], machine=reference.Machine(module, step_limit=1000))


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_reductions_add_in_order(dtype: Any) -> None:
    element = "f32" if dtype == np.float32 else "bf16"
    text = f"""
func.func @f(%x: tensor<7x33x{element}>, %init: tensor<7x{element}>) -> tensor<7x{element}> {{
  %r = linalg.reduce {{ arith.addf }} ins(%x : tensor<7x33x{element}>) outs(%init : tensor<7x{element}>) dimensions =
  [1]
  return %r : tensor<7x{element}>
}}"""
    x = rng.standard_normal((7, 33)).astype(dtype)
    expected = np.ones(7, dtype)
    for column in x.T:
        expected = (expected + column).astype(dtype)
    (found,) = run(text, x, np.ones(7, dtype))
    np.testing.assert_array_equal(found, expected)


def test_a_maximum_and_its_index() -> None:
    text = """
func.func @f(%x: tensor<4x8xf32>, %i: tensor<4x8xi32>, %v0: tensor<4xf32>, %i0: tensor<4xi32>) -> (tensor<4xf32>,
tensor<4xi32>) {
  %r:2 = linalg.reduce ins(%x, %i : tensor<4x8xf32>, tensor<4x8xi32>) outs(%v0, %i0 : tensor<4xf32>, tensor<4xi32>)
  dimensions = [1]
    (%v: f32, %n: i32, %bv: f32, %bn: i32) {
      %gt = arith.cmpf ogt, %v, %bv : f32
      %nv = arith.select %gt, %v, %bv : f32
      %nn = arith.select %gt, %n, %bn : i32
      linalg.yield %nv, %nn : f32, i32
    }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xi32>
}"""
    x = rng.standard_normal((4, 8)).astype(np.float32)
    numbers = np.broadcast_to(np.arange(8, dtype=np.int32), (4, 8))
    value, index = run(text, x, numbers, np.full(4, -np.inf, np.float32), np.full(4, -1, np.int32))
    np.testing.assert_array_equal(value, x.max(1))
    np.testing.assert_array_equal(index, x.argmax(1))


def test_matmul_accumulates_in_the_wide_type() -> None:
    text = """
func.func @f(%a: tensor<5x9xi8>, %b: tensor<9x3xi8>, %c: tensor<5x3xi32>) -> tensor<5x3xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<5x9xi8>, tensor<9x3xi8>) outs(%c : tensor<5x3xi32>) -> tensor<5x3xi32>
  return %r : tensor<5x3xi32>
}"""
    a, b = (rng.integers(-128, 127, shape, np.int8) for shape in ((5, 9), (9, 3)))
    c = rng.integers(-1000, 1000, (5, 3)).astype(np.int32)
    (found,) = run(text, a, b, c)
    np.testing.assert_array_equal(found, a.astype(np.int32) @ b.astype(np.int32) + c)


def test_transpose_broadcast_and_maps() -> None:
    text = """
func.func @f(%x: tensor<2x3x4xi32>, %row: tensor<3xi32>) -> (tensor<4x2x3xi32>, tensor<2x3xi32>, tensor<3xi32>) {
  %e = tensor.empty() : tensor<4x2x3xi32>
  %t = linalg.transpose ins(%x : tensor<2x3x4xi32>) outs(%e : tensor<4x2x3xi32>) permutation = [2, 0, 1]
  %e2 = tensor.empty() : tensor<2x3xi32>
  %b = linalg.broadcast ins(%row : tensor<3xi32>) outs(%e2 : tensor<2x3xi32>) dimensions = [0]
  %e3 = tensor.empty() : tensor<3xi32>
  %g = linalg.generic {indexing_maps = [affine_map<(d0) -> (2 - d0)>, affine_map<(d0) -> (d0)>], iterator_types =
  ["parallel"]} ins(%row : tensor<3xi32>) outs(%e3 : tensor<3xi32>) {
  ^bb0(%in: i32, %out: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addi %in, %n : i32
    linalg.yield %s : i32
  } -> tensor<3xi32>
  return %t, %b, %g : tensor<4x2x3xi32>, tensor<2x3xi32>, tensor<3xi32>
}"""
    x, row = np.arange(24, dtype=np.int32).reshape(2, 3, 4), np.array([10, 20, 30], np.int32)
    transposed, repeated, reversed_ = run(text, x, row)
    np.testing.assert_array_equal(transposed, x.transpose(2, 0, 1))
    np.testing.assert_array_equal(repeated, np.stack([row, row]))
    np.testing.assert_array_equal(reversed_, [30, 21, 12])


GATHER = """
func.func @f(%m: memref<*xf32>, %i: tensor<6xi32>, %k: tensor<6xi1>) -> tensor<6xf32> {
  %c = memref.cast %m : memref<*xf32> to memref<?xf32>
  %t = bufferization.to_tensor %c restrict : memref<?xf32> to tensor<?xf32>
  %z = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
  iterator_types = ["parallel"]} ins(%i, %k : tensor<6xi32>, tensor<6xi1>) outs(%e : tensor<6xf32>) {
  ^bb0(%in: i32, %on: i1, %out: f32):
    %v = scf.if %on -> (f32) {
      %p = arith.index_cast %in : i32 to index
      %x = tensor.extract %t[%p] : tensor<?xf32>
      scf.yield %x : f32
    } else {
      scf.yield %z : f32
    }
    linalg.yield %v : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}"""


def test_masked_lanes_of_a_gather_are_not_read() -> None:
    memory = np.arange(5, dtype=np.float32)
    mask = np.array([1, 1, 0, 1, 0, 1], np.bool_)
    (found,) = run(GATHER, memory, np.array([4, 0, 99, 2, -7, 2], np.int32), mask)
    np.testing.assert_array_equal(found, [4, 0, 0.5, 2, 0.5, 2])
    with pytest.raises(reference.ReferenceError, match=r"'tensor.extract': index 99 is outside of dimension 0"):
        run(GATHER, memory, np.array([4, 0, 99, 2, -7, 2], np.int32), ~mask)


def test_stores_from_a_body_happen_in_order() -> None:
    text = """
func.func @f(%m: memref<4xi32>, %i: tensor<6xindex>, %v: tensor<6xi32>) -> tensor<6xi32> {
  linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
  ins(%i, %v : tensor<6xindex>, tensor<6xi32>) {
  ^bb0(%p: index, %x: i32):
    memref.store %x, %m[%p] : memref<4xi32>
    linalg.yield
  }
  %e = tensor.empty() : tensor<6xi32>
  %old = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) ->
  (d0)>], iterator_types = ["parallel"]} ins(%i, %v : tensor<6xindex>, tensor<6xi32>) outs(%e : tensor<6xi32>) {
  ^bb0(%p: index, %x: i32, %out: i32):
    %o = memref.atomic_rmw addi %x, %m[%p] : (i32, memref<4xi32>) -> i32
    linalg.yield %o : i32
  } -> tensor<6xi32>
  return %old : tensor<6xi32>
}"""
    memory = np.zeros(4, np.int32)
    (old,) = run(text, memory, np.array([0, 1, 1, 3, 0, 0]), np.array([1, 2, 3, 4, 5, 6], np.int32))
    np.testing.assert_array_equal(memory, [6 + 1 + 5 + 6, 3 + 2 + 3, 0, 4 + 4])
    np.testing.assert_array_equal(old, [6, 3, 5, 4, 7, 12])


def test_views_share_storage() -> None:
    text = """
func.func @f(%u: memref<*xi32>, %o: index) -> i32 {
  %c1 = arith.constant 1 : index
  %v = memref.reinterpret_cast %u to offset: [%o], sizes: [3, 2], strides: [4, 1] : memref<*xi32> to memref<3x2xi32,
  strided<[4, 1], offset: ?>>
  %s = memref.subview %v[1, 0] [2, 1] [1, 1] : memref<3x2xi32, strided<[4, 1], offset: ?>> to memref<2xi32,
  strided<[4], offset: ?>>
  %x = memref.load %s[%c1] : memref<2xi32, strided<[4], offset: ?>>
  %b = memref.alloc() : memref<2xi32>
  memref.copy %s, %b : memref<2xi32, strided<[4], offset: ?>> to memref<2xi32>
  memref.store %x, %v[%c1, %c1] : memref<3x2xi32, strided<[4, 1], offset: ?>>
  %y = memref.load %b[%c1] : memref<2xi32>
  return %y : i32
}"""
    memory = np.arange(16, dtype=np.int32)
    assert int(run(text, memory, 2)[0]) == 10
    assert memory[7] == 10
    with pytest.raises(reference.ReferenceError, match=r"'memref.load': element \d+ is outside"):
        run(text, memory[:9].copy(), 2)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            "%s = memref.subview %m[2] [%i] [1] : memref<4xf32> to memref<?xf32, strided<[1], offset: 2>>",
            "memref.subview",
        ),
        ("%x = memref.load %m[%i] : memref<4xf32>", r"'memref.load': index 4 is outside of dimension 0 of size 4"),
        (
            "%d = memref.alloc() : memref<4xf32>\n memref.dealloc %d : memref<4xf32>\n"
            " %x = memref.load %d[%z] : memref<4xf32>",
            "was freed",
        ),
        ('%c = arith.cmpi slt, %i, %z : index\n cf.assert %c, "too large"', "too large"),
        (
            "%e = tensor.empty() : tensor<4xf32>\n"
            " %x = tensor.extract_slice %e[1] [%i] [1] : tensor<4xf32> to tensor<?xf32>",
            "extract_slice",
        ),
    ],
)
def test_what_has_no_meaning_names_the_op(body: str, reason: str) -> None:
    text = f"func.func @f(%m: memref<4xf32>, %i: index) {{\n %z = arith.constant 0 : index\n {body}\n return\n}}"
    with pytest.raises(reference.ReferenceError, match=reason):
        run(text, np.zeros(4, np.float32), 4)


def test_errors_say_where_the_op_came_from() -> None:
    text = """
func.func @f(%m: memref<4xf32>, %i: index) {
  %x = memref.load %m[%i] : memref<4xf32> loc("kernel.py":12:9)
  return
}"""
    with pytest.raises(reference.ReferenceError, match=r"kernel.py:12:9"):
        run(text, np.zeros(4, np.float32), 9)


def test_vectors() -> None:
    text = """
func.func @f(%m: memref<?xf32>, %i: index, %n: index) -> (vector<8xf32>, f32, vector<4xf32>, vector<16xf32>) {
  %z = arith.constant 0.0 : f32
  %other = vector.broadcast %z : f32 to vector<8xf32>
  %mask = vector.create_mask %n : vector<8xi1>
  %v = vector.maskedload %m[%i], %mask, %other : memref<?xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
  %sum = vector.reduction <add>, %v, %z : vector<8xf32> into f32
  %s = vector.shuffle %v, %v [7, 8, 0, 15] : vector<8xf32>, vector<8xf32>
  %w = vector.interleave %v, %other : vector<8xf32> -> vector<16xf32>
  vector.maskedstore %m[%n], %mask, %v : memref<?xf32>, vector<8xi1>, vector<8xf32>
  return %v, %sum, %s, %w : vector<8xf32>, f32, vector<4xf32>, vector<16xf32>
}"""
    memory = np.arange(10, dtype=np.float32)
    loaded, total, shuffled, woven = run(text, memory, 5, 5)
    np.testing.assert_array_equal(loaded, [5, 6, 7, 8, 9, 0, 0, 0])
    assert float(total) == 35
    np.testing.assert_array_equal(shuffled, [0, 5, 5, 0])
    np.testing.assert_array_equal(woven[:4], [5, 0, 6, 0])
    np.testing.assert_array_equal(memory[5:], [5, 6, 7, 8, 9])
    with pytest.raises(reference.ReferenceError, match=r"vector\.maskedload"):
        run(text, memory, 5, 6)


def test_vectors_agree_with_tensors_on_layout() -> None:
    text = """
func.func @f(%v: vector<2x4xi16>) -> (vector<4x2xi16>, vector<8xi16>, vector<2x2xi32>, vector<2xi16>, vector<2x4xi16>) {
  %t = vector.transpose %v, [1, 0] : vector<2x4xi16> to vector<4x2xi16>
  %s = vector.shape_cast %v : vector<2x4xi16> to vector<8xi16>
  %b = vector.bitcast %v : vector<2x4xi16> to vector<2x2xi32>
  %z = arith.constant dense<0> : vector<2xi16>
  %r = vector.multi_reduction <add>, %v, %z [1] : vector<2x4xi16> to vector<2xi16>
  %p, %last = vector.scan <add>, %v, %z {inclusive = true, reduction_dim = 1 : i64} : vector<2x4xi16>, vector<2xi16>
  return %t, %s, %b, %r, %p : vector<4x2xi16>, vector<8xi16>, vector<2x2xi32>, vector<2xi16>, vector<2x4xi16>
}"""
    v = np.arange(8, dtype=np.int16).reshape(2, 4)
    transposed, flat, bits, total, running = run(text, v)
    np.testing.assert_array_equal(transposed, v.T)
    np.testing.assert_array_equal(flat, v.reshape(-1))
    np.testing.assert_array_equal(bits, v.view(np.int32))
    np.testing.assert_array_equal(total, v.sum(1))
    np.testing.assert_array_equal(running, v.cumsum(1))


def test_arguments_share_their_memory_whatever_they_call_their_bits() -> None:
    text = """
func.func @f(%m: memref<*xbf16>) {
  %c0 = arith.constant 0 : index
  %v = memref.reinterpret_cast %m to offset: [0], sizes: [1], strides: [1] : memref<*xbf16> to memref<1xbf16,
  strided<[1]>>
  %x = arith.constant 1.5 : bf16
  memref.store %x, %v[%c0] : memref<1xbf16, strided<[1]>>
  return
}"""
    bits = np.zeros(2, np.uint16)
    run(text, bits)
    assert list(bits) == [0x3FC0, 0]
    columns = np.zeros((4, 4), np.uint16)
    run(text, columns[1:, 1::2])
    assert columns[1, 1] == 0x3FC0 and columns.sum() == 0x3FC0
    with pytest.raises(TypeError, match="strides"):
        run(text, bits[::-1])
    with pytest.raises(TypeError, match="expected elements of bf16"):
        run(text, np.zeros(4, np.float32))


GRID = """
func.func @k(%o: memref<*xi32>, %gx: i32, %gy: i32, %gz: i32, %px: i32, %py: i32, %pz: i32) {
  %c0 = arith.constant 0 : index
  %r = arith.muli %py, %gx : i32
  %n = arith.addi %r, %px : i32
  %i = arith.index_cast %n : i32 to index
  %v = memref.reinterpret_cast %o to offset: [%i], sizes: [1], strides: [1] : memref<*xi32> to memref<1xi32,
  strided<[1], offset: ?>>
  %x = arith.addi %n, %gy : i32
  memref.store %x, %v[%c0] : memref<1xi32, strided<[1], offset: ?>>
  return
}"""


def test_a_grid_runs_every_program() -> None:
    out = np.zeros(12, np.int32)
    reference.run_grid(parse_module(GRID, make_context()), "k", [out], (4, 3))
    np.testing.assert_array_equal(out, np.arange(12) + 3)
    with pytest.raises(reference.ReferenceError, match="has no function 'q'"):
        reference.run_grid(parse_module(GRID, make_context()), "q", [out], (1,))


@pytest.mark.parametrize(("direction", "axis"), [("", 0), ("", 1), ("reverse ", 0), ("reverse ", 1)])
def test_scans(direction: str, axis: int) -> None:
    text = f"""
func.func @f(%x: tensor<4x8xi32>, %o: tensor<4x8xi32>) -> tensor<4x8xi32> {{
  %r = linalg_ext.scan {direction}dimension({axis}) ins(%x : tensor<4x8xi32>) outs(%o : tensor<4x8xi32>) {{
  ^bb0(%running: i32, %current: i32):
    %c2 = arith.constant 2 : i32
    %0 = arith.muli %running, %c2 : i32
    %1 = arith.addi %0, %current : i32
    linalg.yield %1 : i32
  }} -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}}"""
    x = rng.integers(-9, 9, (4, 8)).astype(np.int32)
    (found,) = run(text, x, np.zeros_like(x))
    rows = np.moveaxis(x if not direction else np.flip(x, axis), axis, 0)
    expected = [rows[0]]
    for row in rows[1:]:
        expected.append(2 * expected[-1] + row)
    again = np.moveaxis(np.stack(expected), 0, axis)
    np.testing.assert_array_equal(found, np.flip(again, axis) if direction else again)


def test_matmuls_of_views() -> None:
    """A view of fewer rows than the tile has: the others hold what they held."""
    text = """
func.func @f(%a: memref<2x3xi32>, %b: memref<3x4xi32>, %c: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %n = arith.constant 2 : index
  %view = memref.subview %a[0, 0] [%n, 3] [1, 1] : memref<2x3xi32> to memref<?x3xi32, strided<[3, 1]>>
  %d = linalg_ext.view_matmul ins(%view, %b : memref<?x3xi32, strided<[3, 1]>>, memref<3x4xi32>)
    outs(%c : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %d : tensor<4x4xi32>
}"""
    a, b, c = (rng.integers(-9, 9, shape).astype(np.int32) for shape in ((2, 3), (3, 4), (4, 4)))
    (found,) = run(text, a.copy(), b.copy(), c.copy())
    c[:2] += a @ b
    np.testing.assert_array_equal(found, c)


def test_packed_operands() -> None:
    """Panels of all columns, with zeros past the last; and of a view, of which the condition says that there are."""
    text = """
func.func @f(%a: tensor<4x3xi32>, %b: tensor<3x5xi32>, %v: memref<3x5xi32>, %c: tensor<4x5xi32>, %s: i1)
    -> (tensor<4x5xi32>, tensor<3x4x2xi32>, tensor<?x?x4xi32>, i1) {
  %p = linalg_ext.pack %b : tensor<3x5xi32> -> tensor<3x4x2xi32>
  %q, %there = linalg_ext.pack %v cached(0) if %s : memref<3x5xi32> -> tensor<?x?x4xi32>, i1
  %d = linalg_ext.packed_matmul ins(%a, %p : tensor<4x3xi32>, tensor<3x4x2xi32>) outs(%c : tensor<4x5xi32>)
    -> tensor<4x5xi32>
  return %d, %p, %q, %there : tensor<4x5xi32>, tensor<3x4x2xi32>, tensor<?x?x4xi32>, i1
}"""
    a, b, c = (rng.integers(-9, 9, shape).astype(np.int32) for shape in ((4, 3), (3, 5), (4, 5)))
    found, panels, others, is_there = run(text, a.copy(), b.copy(), b.copy(), c.copy(), np.bool_(True))
    np.testing.assert_array_equal(found, c + a @ b)
    np.testing.assert_array_equal(panels[1, :3], b[:, 2:4])
    assert not panels[2, :, 1].any() and not panels[:, 3].any() and bool(is_there)
    np.testing.assert_array_equal(others[0], b[:, :4])
    assert others.shape == (2, 3, 4)


def test_tiles_in_vectors() -> None:
    text = """
func.func @f(%x: tensor<8xf32>) -> (vector<4xf32>, tensor<8xf32>) {
  %v:2 = linalg_ext.to_vectors %x : tensor<8xf32> -> vector<4xf32>, vector<4xf32>
  %t = linalg_ext.from_vectors %v#1, %v#0 : vector<4xf32>, vector<4xf32> -> tensor<8xf32>
  return %v#1, %t : vector<4xf32>, tensor<8xf32>
}"""
    x = np.arange(8, dtype=np.float32)
    second, swapped = run(text, x.copy())
    np.testing.assert_array_equal(second, x[4:])
    np.testing.assert_array_equal(swapped, np.roll(x, 4))


def test_elements_that_nobody_needs_are_lost() -> None:
    text = """
func.func @f(%x: tensor<4x8xf32>, %n: index) -> tensor<4x8xf32> {
  linalg_ext.needed %x[4, %n] : tensor<4x8xf32>
  return %x : tensor<4x8xf32>
}"""
    x = np.arange(32, dtype=np.float32).reshape(4, 8)
    (found,) = run(text, x.copy(), np.int64(3))
    np.testing.assert_array_equal(found[:, :3], x[:, :3])
    assert np.isnan(found[:, 3:]).all()


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [("4", "2 dimensions have as many bounds"), ("4, 9", "bound 9 is not in a dimension of 8")],
)
def test_bounds_of_another_tensor(bounds: str, reason: str) -> None:
    text = f"func.func @f(%x: tensor<4x8xf32>) {{\n  linalg_ext.needed %x[{bounds}] : tensor<4x8xf32>\n  return\n}}"
    with pytest.raises(VerifyException, match=reason):
        parse_module(text, make_context()).verify()


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("linalg_ext.from_vectors %v, %w : vector<4xf32>, vector<2xf32> -> tensor<6xf32>", "of one type"),
        ("linalg_ext.from_vectors %v, %v : vector<4xf32>, vector<4xf32> -> tensor<4xf32>", "2 times .* are not"),
        ("linalg_ext.from_vectors %v : vector<4xf32> -> tensor<4x1xf32>", "1 times .* are not"),
        ("linalg_ext.from_vectors %b : vector<4xi1> -> tensor<4xi1>", "bytes at least"),
        ("linalg_ext.to_vectors %t : tensor<4xf32> -> vector<2xf32>", "1 times .* are not"),
    ],
)
def test_vectors_that_are_no_tile(form: str, reason: str) -> None:
    text = f"""
func.func @f(%v: vector<4xf32>, %w: vector<2xf32>, %b: vector<4xi1>, %t: tensor<4xf32>) {{
  %0 = {form}
  return
}}"""
    with pytest.raises(VerifyException, match=reason):
        parse_module(text, make_context()).verify()


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("linalg_ext.pack %b : tensor<3x5xi32> -> tensor<2x4x2xi32>", "the whole matrix"),
        ("linalg_ext.pack %b : tensor<3x5xi32> -> tensor<4x10xi32>", "three dimensions"),
        ("linalg_ext.pack %b if %s : tensor<3x5xi32> -> tensor<3x4x2xi32>, i1", "only panels in a cache"),
        ("linalg_ext.pack %b cached(0) if %s : tensor<3x5xi32> -> tensor<3x4x2xi32>", "come together"),
        (
            "linalg_ext.packed_matmul ins(%b, %p : tensor<3x5xi32>, tensor<1x4x2xi32>) outs(%b : tensor<3x5xi32>) "
            "-> tensor<3x5xi32>",
            "as many rows and columns",
        ),
        (
            "linalg_ext.packed_matmul ins(%b, %b : tensor<3x5xi32>, tensor<3x5xi32>) outs(%b : tensor<3x5xi32>) "
            "-> tensor<3x5xi32>",
            "three dimensions",
        ),
    ],
)
def test_packed_operands_of_other_sizes(form: str, reason: str) -> None:
    text = f"""
func.func @f(%b: tensor<3x5xi32>, %p: tensor<1x4x2xi32>, %s: i1) {{
  {"%0, %1" if ", i1" in form else "%0"} = {form}
  return
}}"""
    with pytest.raises(VerifyException, match=reason):
        parse_module(text, make_context()).verify()
