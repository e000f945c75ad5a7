"""Where upstream MLIR checks the same rule, an error is at the same place and has upstream's words."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tilewright.dialects import make_context
from tilewright.ir.parsing import parse_module
from tilewright.ir.verify import verify_module
from tilewright.support.errors import TilewrightError

MLIR_OPT = shutil.which("mlir-opt-22") or "/usr/lib/llvm-22/bin/mlir-opt"

CASES = {
    "undeclared value": "func.func @f(%a: i32) { %0 = arith.addi %a, %b : i32 return }",
    "value of another type": "func.func @f(%a: i32, %b: i64) { %0 = arith.addi %a, %b : i32 return }",
    "value defined twice": "func.func @f(%a: i32) { %0 = arith.addi %a, %a : i32 %0 = arith.addi %a, %a : i32 return }",
    "undefined block": "func.func @f() { cf.br ^bb1 }",
    "unknown dialect": "func.func @f(%a: i32) { foo.bar return }",
    "float for an integer": "func.func @f(%a: i32) { %0 = arith.constant 1.0 : i32 return }",
    "integer for a float": "func.func @f() { %0 = arith.constant dense<1> : tensor<4xf32> return }",
    "block name": "func.func @f(%x: i32) -> i32 { ^bb0: return %x : i32 }",
    "callee": "func.func @f(%a: i32) { func.call @g() : () -> () return }",
    "callee's operand": "func.func @f(%x: f32) { func.call @g(%x) : (f32) -> () return } func.func private @g(i32)",
    "return count": "func.func @f(%x: i32) -> i32 { return %x, %x : i32, i32 }",
    "return type": "func.func @f(%x: i64) -> i32 { return %x : i64 }",
    "yield outside of loops": "func.func @f() { scf.yield }",
    "condition outside of while": "func.func @f(%c: i1) { scf.condition(%c) }",
    "if without else": "func.func @f(%c: i1, %x: i32) { %0 = scf.if %c -> (i32) { scf.yield %x : i32 } return }",
    "branch operands": "func.func @f() { cf.br ^a ^a(%y: i64): return }",
    "branch types": "func.func @f(%x: i32) { cf.br ^a(%x : i32) ^a(%y: i64): return }",
    "no terminator": "func.func @f() { %0 = arith.constant 1 : i32 }",
    "empty block": "func.func @f(%x: i32) { return ^bb1: }",
    "dominance": "func.func @f(%x: i32) { %0 = arith.addi %y, %x : i32 %y = arith.constant 1 : i32 return }",
    "narrower": "func.func @f(%x: i32) { %0 = arith.extsi %x : i32 to i16 return }",
    "wider": "func.func @f(%x: i16) { %0 = arith.trunci %x : i16 to i32 return }",
    "bits": "func.func @f(%x: f32) { %0 = arith.bitcast %x : f32 to i64 return }",
    "memref cast": "func.func @f(%a: memref<4xf32>) { %0 = memref.cast %a : memref<4xf32> to memref<5xf32> return }",
    "sizes": "func.func @f() { %0 = memref.alloc() : memref<?xf32> return }",
    "operand count": 'func.func @f() { %0 = "arith.addi"() : () -> i32 return }',
    "operand types": 'func.func @f(%x: i32) { %0 = "arith.addi"(%x, %x) : (i32, i32) -> i64 return }',
    "attribute": 'func.func @f() { %0 = "arith.constant"() : () -> i64 return }',
    "symbol": "func.func @f() { return } func.func @f() { return }",
    "unknown op of a dialect": '"func.foo"() : () -> ()',
    "unknown op": 'func.func @f() { "foo"() : () -> () return }',
    "first character": "! = i32",
    "unknown attribute": "module attributes {a.b = #foo.bar<1>} {}",
    "unknown attribute in brackets": "module attributes {a.b = #foo<bar>} {}",
    "unknown type in brackets": "func.func private @f(!foo<bar>)",
    "boolean for a float": "module attributes {a.b = dense<[1.0, true]> : tensor<2xf32>} {}",
    "boolean for an index": "module attributes {a.b = dense<true> : tensor<2xindex>} {}",
    "boolean of an array": "module attributes {a.b = array<i32: 1, true>} {}",
    "number of an array of i1": "module attributes {a.b = array<i1: 1>} {}",
    "strides": "func.func private @f(memref<4xf32, strided[1]>)",
    "offset": "func.func private @f(memref<4xf32, strided<[1] offset: 3>>)",
}


def first_error(source: str) -> str:
    with pytest.raises(TilewrightError) as caught:
        verify_module(parse_module(source, make_context(), "x.mlir"))
    return str(caught.value).partition("\n")[0]


def without_extras(line: str) -> str:
    """A message without what one of both adds: `'func.func' op`, names in quotes, and dots."""
    place, _, message = line.partition(" error: ")
    message = re.sub(r"^'[\w.]+' op ", "", message)
    return f"{place} {message.partition(', has %')[0].strip()}"


@pytest.mark.needs("mlir-opt")
@pytest.mark.parametrize("name", CASES)
def test_the_words_are_upstreams(name: str, tmp_path: Path) -> None:
    file = tmp_path / "x.mlir"
    file.write_text(CASES[name])
    said = subprocess.run([MLIR_OPT, file.name], cwd=tmp_path, capture_output=True, text=True, check=False).stderr
    theirs, ours = without_extras(said.partition("\n")[0]), without_extras(first_error(CASES[name]))
    assert ours.startswith(theirs), f"upstream: {theirs}\nours:     {ours}"
