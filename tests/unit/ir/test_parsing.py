"""What the parser reads beyond xDSL's, and how it says what it cannot read."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    CallSiteLoc,
    DenseIntOrFPElementsAttr,
    FileLineColLoc,
    FloatAttr,
    FusedLoc,
    ModuleOp,
    NameLoc,
    TensorType,
    UnknownLoc,
    f32,
)

from tilewright.ir.locations import find_call_sites, find_span
from tilewright.ir.parsing import parse_attribute, parse_module, parse_part, split_input
from tilewright.ir.passes import PassContext, parse_pipeline
from tilewright.ir.printing import print_attribute, print_op
from tilewright.support.errors import ParseError

Parse = Callable[[str], ModuleOp]


def _dense(text: str, context: Context) -> tuple[float, ...]:
    attribute: Any = parse_attribute(text, context)
    assert isinstance(attribute, DenseIntOrFPElementsAttr)
    values: Any = attribute.get_values()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    return values


@pytest.mark.parametrize(
    ("type", "bits"),
    [("f32", "0xFF800000"), ("bf16", "0xFF80"), ("f16", "0xFC00"), ("f64", "0xFFF0000000000000"), ("f8E5M2", "0xFC")],
)
def test_hexadecimal_floats_in_dense_are_bits(context: Context, type: str, bits: str) -> None:
    assert _dense(f"dense<{bits}> : tensor<3x{type}>", context) == (-math.inf,) * 3
    assert _dense(f"dense<[{bits}, 1.0]> : tensor<2x{type}>", context) == (-math.inf, 1.0)


def test_hexadecimal_integers_in_dense_stay_integers(context: Context) -> None:
    assert _dense("dense<0xFF> : tensor<2xi32>", context) == (255, 255)


def test_hexadecimal_scalar(context: Context) -> None:
    attribute = parse_attribute("0x7F800000 : f32", context)
    assert isinstance(attribute, FloatAttr)
    assert attribute.value.data == math.inf


def test_large_splat_has_all_elements(context: Context) -> None:
    assert _dense("dense<1.5> : tensor<512x512xf32>", context) == (1.5,) * (512 * 512)


def test_equal_type_texts_give_one_object(parse: Parse) -> None:
    module = parse('"t.a"() : () -> tensor<4xf32>\n"t.b"() : () -> tensor<4xf32>\n"t.c"() : () -> tensor<5xf32>')
    first, second, third = (op.results[0].type for op in module.ops)
    assert first is second
    assert first == TensorType(f32, [4])
    assert third == TensorType(f32, [5])


def test_type_alias_before_brackets_is_not_confused(parse: Parse) -> None:
    module = parse('!a = i32\n"t.a"() : () -> (!a, tensor<4xf32>)\n"t.b"() : () -> (!a, tensor<5xf32>)')
    types = [tuple(str(result.type) for result in op.results) for op in module.ops]
    assert types == [("i32", "tensor<4xf32>"), ("i32", "tensor<5xf32>")]


def test_aliases_may_be_defined_after_their_use(parse: Parse) -> None:
    uses = '"t.a"() {m = #later} : () -> () loc(#loc2)\n'
    module = parse(uses + '#later = 3 : i8\n#loc2 = loc("x"(#loc3))\n#loc3 = loc("f.py":1:2)')
    op = next(iter(module.ops))
    assert str(op.attributes["m"]) == "3 : i8"
    assert str(find_span(op.location)) == "f.py:1:2"


@pytest.mark.parametrize(
    ("text", "kind", "span"),
    [
        ('"f.py":3:4', FileLineColLoc, "f.py:3:4"),
        ('"f.py":3:4 to 5:6', FileLineColLoc, "f.py:3:4"),
        ('"f.py":3:4 to :6', FileLineColLoc, "f.py:3:4"),
        ('"x"("f.py":3:4)', NameLoc, "f.py:3:4"),
        ('callsite("f.py":3:4 at "g.py":5:6)', CallSiteLoc, "f.py:3:4"),
        ('fused["f.py":3:4, unknown]', FusedLoc, "f.py:3:4"),
        ('fused<"pass">["f.py":3:4]', FusedLoc, "f.py:3:4"),
        (r'"gr\C3\B6\C3\9Fe.py":3:4', FileLineColLoc, "größe.py:3:4"),
        (r'"gr\C3\B6\C3\9Fe"("f.py":3:4)', NameLoc, "f.py:3:4"),
        ("unknown", UnknownLoc, "None"),
        ('"x"', NameLoc, "None"),
    ],
)
def test_locations(parse: Parse, text: str, kind: type, span: str) -> None:
    op = next(iter(parse(f'"t.a"() : () -> () loc({text})').ops))
    assert isinstance(op.location, kind)
    assert str(find_span(op.location)) == span


def test_call_sites_innermost_first(parse: Parse) -> None:
    op = next(iter(parse('"t.a"() : () -> () loc(callsite("f":1:1 at callsite("g":2:2 at "h":3:3)))').ops))
    assert [str(span) for span in find_call_sites(op.location)] == ["g:2:2", "h:3:3"]


def test_an_op_without_location_gets_its_place_in_the_text(parse: Parse) -> None:
    op = next(iter(parse('\n  "t.a"() : () -> ()').ops))
    assert str(find_span(op.location)) == "test.mlir:2:3"


@pytest.mark.parametrize(
    ("text", "line", "col", "reason"),
    [
        ("func.func @f() {\n  %0 = arith.constant : i32\n  return\n}", 2, 22, "expected attribute value"),
        ("func.func @f(%a: i32) {\n  foo.bar %a\n  return\n}", 2, 3, "Dialect `foo' not found for custom op 'foo.bar'"),
        ("func.func @f(%a: i32) {\n  %0 = arith.subii %a, %a : i32\n}", 2, 8, "custom op 'arith.subii' is unknown"),
        (
            "func.func @f() {\n  %0 = arith.addi %x, %x : i32\n  return\n}",
            2,
            19,
            "use of undeclared SSA value name",
        ),
        (
            "func.func @f() {\n  %0 = arith.constant 1 : i32\n  %0 = arith.constant 1 : i32\n}",
            3,
            3,
            "redefinition of SSA value '%0'",
        ),
        ("func.func @f() {\n  cf.br ^nowhere\n}", 2, 9, "reference to an undefined block"),
        ("func.func @f() {\n^a:\n  return\n^a:\n  return\n}", 4, 1, "redefinition of block '^a'"),
        ("#a = #b\nmodule {}", 1, 8, "undefined symbol alias id 'b'"),
        ("module {} )", 1, 10, "expected operation name in quotes"),
        ('"t.a"() : () -> () loc(here)', 1, 24, "expected location instance"),
        ('"t.a"() {m = affine_map<(d0)[s0] -> (d0 * s0)>} : () -> ()', 1, 45, "semi-affine"),
        ('"t.a"() {x = 0x1FF800000 : f32} : () -> ()', 1, 14, "hexadecimal float constant out of range for type"),
        ("module {\n  $\n}", 2, 3, "unexpected character"),
        ("$", 1, 1, "unexpected character"),
        ("", 0, 0, ""),
    ],
)
def test_errors_point_at_the_text(context: Context, text: str, line: int, col: int, reason: str) -> None:
    if not reason:
        assert not list(parse_module(text, context).ops)
        return
    with pytest.raises(ParseError) as caught:
        parse_module(text, context, "bad.mlir")
    assert reason in caught.value.message
    assert (caught.value.filename, caught.value.line, caught.value.col) == ("bad.mlir", line, col)
    assert str(caught.value).startswith(f"bad.mlir:{line}:{col}: error: ")
    assert "^" in str(caught.value)


def test_a_name_that_is_like_another_has_a_note(context: Context) -> None:
    with pytest.raises(ParseError) as caught:
        parse_module("func.func @f(%a: i32) {\n  %0 = arith.subii %a, %a : i32\n}", context, "bad.mlir")
    assert [note.message for note in caught.value.notes] == ["did you mean 'arith.subi'?"]


def test_deep_nesting_is_an_error_and_no_crash(context: Context) -> None:
    with pytest.raises(ParseError, match="nested too deeply"):
        parse_attribute("[" * 5000 + "]" * 5000, context)


def test_split_parts_keep_their_line_numbers(context: Context) -> None:
    text = "module {}\n// -----\n\nmodule { oops }\n// ----- more\nmodule {}"
    parts = list(split_input(text))
    assert [lines for lines, _ in parts] == [0, 1, 4]
    with pytest.raises(ParseError) as caught:
        parse_part(*parts[1], context, "split.mlir")
    assert (caught.value.line, caught.value.col) == (4, 10)


@pytest.mark.parametrize(
    "text",
    ["tensor<4x?xf32>", "memref<*xf32>", "(i32) -> tensor<2xf32>", "vector<[4]xi8>", "[1, 2.500000e+00]", "#tt.x"],
)
def test_attributes_stand_alone(context: Context, text: str) -> None:
    assert print_attribute(parse_attribute(text, context)) == text


def test_text_after_an_attribute_is_an_error(context: Context) -> None:
    with pytest.raises(ParseError, match="expected nothing after the attribute"):
        parse_attribute("i32 i64", context)


def test_names_that_are_numbers_survive_passes_that_copy_names(context: Context) -> None:
    """Triton calls a value of the variable `_0` `%_0`, and further ones `%_0_1`, of which xDSL keeps no name."""
    text = """
tt.func public @f(%_1: i32) -> i32 {
  %_0_1 = tt.call @g(%_1) : (i32) -> i32
  tt.return %_0_1 : i32
}
tt.func private @g(%_2: i32) -> i32 {
  %_3 = arith.addi %_2, %_2 : i32
  %_3_0 = arith.muli %_3, %_2 : i32
  tt.return %_3_0 : i32
}"""
    module = parse_module(text, context, "names.mlir")
    parse_pipeline("inline,canonicalize,cse").run(module, PassContext())
    assert "arith.muli" in print_op(module)
