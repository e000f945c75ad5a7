"""What the verifiers reject, with messages, and that official Triton rejects the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from suite.official_parser import printed_by_triton
from tilewright.ir.verify import verify_module
from tilewright.support.errors import ParseError, TilewrightError

HEADER = """tt.func public @k(
  %p: !tt.ptr<f32>, %ps: tensor<16x!tt.ptr<f32>>, %v: tensor<16xf32>, %i: tensor<16xi32>, %m: tensor<16xi1>,
  %a: tensor<16x32xf16>, %b: tensor<32x16xf16>, %c: tensor<16x16xf32>, %f: f32, %n: i32, %l: i64,
  %d: !tt.tensordesc<4x8xf32>, %rows: !tt.tensordesc<1x64xf16>, %two: !tt.tensordesc<2x64xf16>,
  %h: !tt.ptr<f16>, %x: tensor<8x4xf32>, %e: tensor<16xf8E5M2>) {
"""

# name, body, part of our message
REJECTED = [
    ("range-order", "%0 = tt.make_range {end = 4 : i32, start = 4 : i32} : tensor<4xi32>", "less than"),
    ("range-size", "%0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<8xi32>", "doesn't match the range"),
    ("range-rank", "%0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<4x4xi32>", "1D tensor"),
    ("range-element", "%0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi64>", "must be i32"),
    ("size-power", '%0 = "test.op"() : () -> tensor<6xf32>\n %1 = tt.precise_sqrt %0 : tensor<6xf32>', "power-of-two"),
    ("size-limit", "%0 = tt.splat %f : f32 -> tensor<2097152xf32>", "Maximum allowed number of elements"),
    ("splat-element", "%0 = tt.splat %f : f32 -> tensor<16xi32>", "same element type"),
    ("unsplat", "%0 = tt.unsplat %v : tensor<16xf32>", "exactly one element"),
    ("expand-type", "%0 = tt.expand_dims %v {axis = 0 : i32} : tensor<16xf32> -> tensor<16x1xf32>", "inferred type(s)"),
    ("broadcast-rank", "%0 = tt.broadcast %v : tensor<16xf32> -> tensor<16x16xf32>", "rank of source"),
    ("broadcast-dim", "%0 = tt.broadcast %x : tensor<8x4xf32> -> tensor<8x8xf32>", "Different dimensions at index 1"),
    ("reshape", "%0 = tt.reshape %x : tensor<8x4xf32> -> tensor<16xf32>", "number of src and dst elements"),
    ("trans-order", "%0 = tt.trans %x {order = array<i32: 1, 1>} : tensor<8x4xf32> -> tensor<4x8xf32>", "permutation"),
    ("trans-type", "%0 = tt.trans %x {order = array<i32: 1, 0>} : tensor<8x4xf32> -> tensor<8x4xf32>",
     "inferred type(s)"),
    ("split", "%0, %1 = tt.split %x : tensor<8x4xf32> -> tensor<8xf32>", "last dimension of input tensor must be 2"),
    ("join", "%0 = tt.join %v, %v : tensor<16xf32> -> tensor<2x16xf32>", "inferred type(s)"),
    ("gather-dim", '%0 = "test.op"() : () -> tensor<4x4xi32>\n %1 = tt.gather %x[%0] {axis = 1 : i32} : '
     "(tensor<8x4xf32>, tensor<4x4xi32>) -> tensor<4x4xf32>", "indices dimension 0 must match"),
    ("gather-rank", "%1 = tt.gather %x[%i] {axis = 0 : i32} : (tensor<8x4xf32>, tensor<16xi32>) -> tensor<16xf32>",
     "rank"),
    ("addptr-shape", "%0 = tt.addptr %p, %i : !tt.ptr<f32>, tensor<16xi32>", "same shape"),
    ("bitcast-size", "%0 = tt.bitcast %v : tensor<16xf32> -> tensor<16xi8>", "size 32 to data-type of size 8"),
    ("bitcast-pointer", "%0 = tt.bitcast %p : !tt.ptr<f32> -> i64", "pointer to non-pointer"),
    ("bitcast-space", "%0 = tt.bitcast %p : !tt.ptr<f32> -> !tt.ptr<f32, 3>", "address space"),
    ("downcast", "%0 = tt.fp_to_fp %v : tensor<16xf32> -> tensor<16xf8E5M2>", "Rounding mode is required"),
    ("load-type", '%0 = "tt.load"(%ps) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (tensor<16x!tt.ptr<f32>>) -> '
     "tensor<16xi32>", "result matches ptr type"),
    ("load-mask", '%0 = "test.op"() : () -> tensor<8xi1>\n %1 = "tt.load"(%ps, %0) <{operandSegmentSizes = '
     "array<i32: 1, 1, 0>}> : (tensor<16x!tt.ptr<f32>>, tensor<8xi1>) -> tensor<16xf32>", "mask type matches ptr type"),
    ("store-value", '"tt.store"(%ps, %i) : (tensor<16x!tt.ptr<f32>>, tensor<16xi32>) -> ()',
     "value type matches ptr type"),
    ("rmw-value", "%0 = tt.atomic_rmw add, relaxed, gpu, %ps, %i : (tensor<16x!tt.ptr<f32>>, tensor<16xi32>) -> "
     "tensor<16xf32>", "value type matches ptr type"),
    ("cas-cmp", "%0 = tt.atomic_cas relaxed, gpu, %p, %n, %f : (!tt.ptr<f32>, i32, f32) -> f32", "cmp type"),
    ("dot-k", "%0 = tt.dot %a, %a, %c : tensor<16x32xf16> * tensor<16x32xf16> -> tensor<16x16xf32>", "last dimension"),
    ("dot-bits", '%0 = "test.op"() : () -> tensor<32x16xf32>\n %1 = tt.dot %a, %0, %c : '
     "tensor<16x32xf16> * tensor<32x16xf32> -> tensor<16x16xf32>", "same bit width"),
    ("reduce-type", '%0 = "tt.reduce"(%x) <{axis = 0 : i32}> ({\n ^bb0(%q: f32, %w: f32):\n '
     'tt.reduce.return %q : f32\n})'
     " : (tensor<8x4xf32>) -> tensor<8xf32>", "inferred type(s)"),
    ("reduce-arguments", '%0 = "tt.reduce"(%v) <{axis = 0 : i32}> ({\n ^bb0(%q: f32):\n tt.reduce.return %q : f32\n})'
     " : (tensor<16xf32>) -> f32", "must take 2 arguments, but given block with 1"),
    ("reduce-return", '%0 = "tt.reduce"(%v) <{axis = 0 : i32}> ({\n ^bb0(%q: f32, %w: f32):\n '
     'tt.reduce.return %n : i32\n})'
     " : (tensor<16xf32>) -> f32", "type mismatch on combine operation"),
    ("scan-return", '%0 = "tt.scan"(%v) <{axis = 0 : i32, reverse = false}> ({\n ^bb0(%q: f32, %w: f32):\n'
     " tt.scan.return %n : i32\n}) : (tensor<16xf32>) -> tensor<16xf32>", "type mismatch on combine operation"),
    ("descriptor-load", "%0 = tt.descriptor_load %d[%n, %n] : !tt.tensordesc<4x8xf32> -> tensor<4x8xf16>",
     "tensor descriptor block and tensor types must match"),
    ("descriptor-gather-rows", "%0 = tt.descriptor_gather %two[%i, %n] : (!tt.tensordesc<2x64xf16>, "
     "tensor<16xi32>, "
     "i32) -> tensor<16x64xf16>", "exactly 1 row"),
    ("descriptor-gather-few", '%0 = "test.op"() : () -> tensor<4xi32>\n %1 = tt.descriptor_gather %rows[%0, %n] : '
     "(!tt.tensordesc<1x64xf16>, tensor<4xi32>, i32) -> tensor<4x64xf16>", "at least 8 rows"),
    ("call-unknown", "%0 = tt.call @nobody(%f) : (f32) -> f32", "does not reference a valid function"),
    ("call-operands", "%0 = tt.call @callee(%f, %f) : (f32, f32) -> f32", "incorrect number of operands"),
    ("call-types", "%0 = tt.call @callee(%n) : (i32) -> f32", "operand type mismatch"),
]  # fmt: skip

# Rejected by us alone: official 3.6 does not look, or only its later passes do.
REJECTED_HERE = [
    ("reduce-axis", '%0 = "tt.reduce"(%v) <{axis = 3 : i32}> ({\n ^bb0(%q: f32, %w: f32):\n '
     'tt.reduce.return %q : f32\n})'
     " : (tensor<16xf32>) -> f32", "axis must be between 0 and 0"),
    ("print-signs", 'tt.print "x" {hex = false, isSigned = array<i32>} : %n : i32', "one entry for each of 1 values"),
    ("descriptor-lists", "%0 = tt.make_tensor_descriptor %h, [%n], [%l] : <f16>, <tensor<4x8xf16>>", "2 entries"),
    ("block-lists", "%0 = tt.make_tensor_ptr %h, [%l], [%l], [%n] {order = array<i32: 1, 0>} : <tensor<4x8xf16>>",
     "2 entries"),
    ("boundary-dimension", "%0 = tt.make_tensor_ptr %h, [%l], [%l], [%n] {order = array<i32: 0>} : <tensor<8xf16>>\n"
     " %1 = tt.load %0 {boundaryCheck = array<i32: 1>} : !tt.ptr<tensor<8xf16>>", "boundaryCheck must name"),
]  # fmt: skip

FOOTER = """
  tt.return
}
tt.func private @callee(%x: f32) -> f32 {
  tt.return %x : f32
}
"""


def _text(body: str) -> str:
    return HEADER + body.replace('"test.op"()', '"ub.poison"() <{value = #ub.poison}>') + FOOTER


def _rejection(parse: Callable[[str], ModuleOp], text: str) -> str:
    with pytest.raises(TilewrightError) as caught:
        verify_module(parse(text))
    return str(caught.value)


@pytest.mark.parametrize(("body", "message"), [case[1:] for case in REJECTED], ids=[case[0] for case in REJECTED])
def test_rejected(parse: Callable[[str], ModuleOp], body: str, message: str) -> None:
    assert message in _rejection(parse, _text(body))


@pytest.mark.parametrize(("body", "message"), [c[1:] for c in REJECTED_HERE], ids=[c[0] for c in REJECTED_HERE])
def test_rejected_here(parse: Callable[[str], ModuleOp], body: str, message: str) -> None:
    assert message in _rejection(parse, _text(body))


def test_header_is_accepted(parse: Callable[[str], ModuleOp]) -> None:
    """The cases above fail for their body, not for what stands around it."""
    verify_module(parse(_text("")))


def test_triton_rejects_the_same() -> None:
    answers = printed_by_triton([_text(body) for _, body, _ in REJECTED])
    accepted = [name for (name, _, _), answer in zip(REJECTED, answers, strict=True) if not answer.startswith("ERROR")]
    assert accepted == []


def test_return_must_match_the_function(parse: Callable[[str], ModuleOp]) -> None:
    text = "tt.func public @k(%x: f32) -> i32 {\n tt.return %x : f32\n}"
    assert "doesn't match function result type" in _rejection(parse, text)
    assert "has 0 operands" in _rejection(parse, "tt.func public @k(%x: f32) -> i32 {\n tt.return\n}")


def test_unknown_keyword_is_a_parse_error(parse: Callable[[str], ModuleOp]) -> None:
    with pytest.raises(ParseError) as caught:
        parse("tt.func public @k() {\n %0 = tt.get_program_id w : i32\n tt.return\n}")
    assert "unknown ProgramIDDim 'w'; known: x, y, z" in str(caught.value)
