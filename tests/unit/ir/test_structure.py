"""Dominance, verification, stages, effects, folding, builder."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import FusedLoc, ModuleOp, NameLoc, NoneAttr, StringAttr, i32
from xdsl.ir import Block, Operation
from xdsl.traits import MemoryEffectKind

from tilewright.dialects import arith
from tilewright.ir import effects
from tilewright.ir.builder import Cursor, OpBuilder
from tilewright.ir.dominance import DominatorTree, properly_dominates, verify_dominance
from tilewright.ir.folding import try_fold
from tilewright.ir.locations import (
    describe_location,
    file_location,
    find_call_sites,
    find_name,
)
from tilewright.ir.printing import print_op
from tilewright.ir.stages import LINALG, LOOPS, STAGES, TT, check_stage, register_stage
from tilewright.ir.verify import verify_module
from tilewright.support.errors import StageContractError, VerifyError
from tilewright.transforms.common.canonicalize import canonicalize

Parse = Callable[[str], ModuleOp]

DIAMOND = """
func.func @f(%p: i1, %a: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %1 = arith.addi %0, %a : i32
  cf.br ^bb3(%1 : i32)
^bb2:
  cf.br ^bb3(%0 : i32)
^bb3(%2: i32):
  %3 = arith.addi %2, %0 : i32
  cf.cond_br %p, ^bb1, ^bb4
^bb4:
  return %3 : i32
^bb5:
  %4 = arith.addi %1, %3 : i32
  cf.br ^bb3(%4 : i32)
}"""


def _blocks(module: ModuleOp) -> list[Block]:
    return list(next(iter(module.ops)).regions[0].blocks)


def test_dominator_tree_of_a_loop_and_a_diamond(parse: Parse) -> None:
    blocks = _blocks(parse(DIAMOND))
    entry, left, right, join, end, dead = blocks
    parent = entry.parent
    assert parent is not None
    tree = DominatorTree(parent)
    assert not tree.dominates(left, end)
    assert tree.dominates(entry, end)
    assert tree.dominates(join, end)
    assert not tree.dominates(left, join)
    assert not tree.dominates(end, join)
    assert tree.dominates(right, right)
    assert not tree.is_reachable(dead)
    assert not tree.dominates(entry, dead)


def test_dominance_accepts_uses_in_unreachable_blocks(parse: Parse) -> None:
    verify_module(parse(DIAMOND))


@pytest.mark.parametrize(
    "source",
    [
        DIAMOND.replace("return %3", "return %1"),
        "func.func @f(%a: i32) {\n%1 = arith.addi %0, %a : i32\n%0 = arith.addi %a, %a : i32\nreturn\n}",
        "func.func @f(%a: i32) {\n%0 = arith.addi %0, %a : i32\nreturn\n}",
        """func.func @f(%p: i1, %a: i32) {
          scf.if %p { "t.use"(%0) : (i32) -> () }
          %0 = arith.addi %a, %a : i32
          return
        }""",
    ],
    ids=["sibling block", "same block", "itself", "nested before"],
)
def test_uses_before_definitions_are_found(parse: Parse, source: str) -> None:
    with pytest.raises(VerifyError, match="does not dominate this use"):
        verify_dominance(parse(source))


def test_uses_of_values_of_an_inner_region_are_found(parse: Parse) -> None:
    module = parse('"t.a"() ({ %0 = "t.x"() : () -> i32 }) : () -> ()\n"t.use"() : () -> ()')
    outer, use = list(module.ops)
    inner = outer.regions[0].blocks[0].first_op
    assert inner is not None
    use.operands = [inner.results[0]]
    with pytest.raises(VerifyError, match="operand #0 does not dominate"):
        verify_dominance(module)


def test_ops_are_ordered_by_dominance(parse: Parse) -> None:
    module = parse(DIAMOND)
    named = {op.results[0].name_hint: op for op in module.walk() if op.name == "arith.addi"}
    adds = [op for op in module.walk() if op.name == "arith.addi"]
    assert len(named) <= len(adds) == 4
    first, left, join, _dead = adds
    assert properly_dominates(first, join)
    assert not properly_dominates(left, join)
    assert not properly_dominates(first, first)
    assert not properly_dominates(join, first)


def test_verify_reports_the_op_and_its_place_alone(parse: Parse) -> None:
    module = parse('func.func @f(%a: i32, %b: i64) {\n  %0 = "arith.addi"(%a, %b) : (i32, i64) -> i32\n  return\n}')
    with pytest.raises(VerifyError) as caught:
        verify_module(module)
    assert caught.value.op_name == "arith.addi"
    assert str(caught.value).startswith("test.mlir:2:8: error: 'arith.addi' op ")
    assert "module" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("func.func @f() {\n  %0 = arith.constant 1 : i32\n}", "error: block with no terminator, has %0 = "),
        (
            'func.func @f() {\n  "func.return"() : () -> ()\n  return\n}',
            "must be the last operation in the parent block",
        ),
    ],
)
def test_verify_checks_terminators(parse: Parse, source: str, reason: str) -> None:
    with pytest.raises(VerifyError, match=reason):
        verify_module(parse(source))


def test_stages_name_what_is_not_legal(parse: Parse) -> None:
    module = parse("func.func @f() {\n  return\n}")
    check_stage(module, LINALG)
    check_stage(module, LOOPS)
    with pytest.raises(StageContractError) as caught:
        check_stage(module, TT, pass_name="last")
    assert str(caught.value).startswith("test.mlir:1:1: error: pass last, 'func.func': is not legal in stage 'tt'")


def test_stage_facts_are_checked(parse: Parse) -> None:
    module = parse("func.func @f(%t: tensor<4xf32>) {\n  return\n}")
    check_stage(module, LOOPS)
    module = parse("func.func @f(%t: tensor<4xf32>) -> tensor<4xf32> {\n  return %t : tensor<4xf32>\n}")
    with pytest.raises(StageContractError, match="still has a value of type tensor<4xf32>"):
        check_stage(module, LOOPS)


def test_unregistered_ops_are_not_legal(parse: Parse) -> None:
    with pytest.raises(StageContractError, match=r"'foo.bar': is not legal"):
        check_stage(parse('"foo.bar"() : () -> ()'), LINALG)


def test_stages_have_their_own_names() -> None:
    assert list(STAGES)[:4] == ["tt", "structured", "linalg", "loops"]
    assert [stage.asm_key for stage in STAGES.values()][:4] == ["ttir", "structured", "linalg", "loops"]
    with pytest.raises(ValueError, match="registered already"):
        register_stage(TT.derive("linalg", "linalg"))


def _op(module: ModuleOp, name: str) -> Operation:
    return next(op for op in module.walk() if op.name == name)


def test_effects_follow_from_traits(parse: Parse) -> None:
    module = parse("""
      func.func @f(%m: memref<4xf32>, %i: index, %p: i1, %n: i32) {
        %0 = arith.addi %n, %n : i32
        %1 = arith.divsi %n, %n : i32
        %2 = memref.load %m[%i] : memref<4xf32>
        scf.if %p { memref.store %2, %m[%i] : memref<4xf32> }
        %3 = scf.if %p -> (i32) { scf.yield %0 : i32 } else { scf.yield %1 : i32 }
        "unknown.op"() : () -> ()
        return
      }""")
    add, load = _op(module, "arith.addi"), _op(module, "memref.load")
    assert effects.is_pure(add)
    assert effects.is_memory_free(_op(module, "arith.divsi"))
    assert not effects.is_pure(_op(module, "arith.divsi"))
    assert effects.memory_effects(load) == {MemoryEffectKind.READ}
    assert not effects.may_write(load) and not effects.is_pure(load)
    writing, reading = (op for op in module.walk() if op.name == "scf.if")
    assert effects.may_write(writing)
    assert effects.is_memory_free(reading)
    unknown = _op(module, "builtin.unregistered")
    assert effects.memory_effects(unknown) == frozenset(MemoryEffectKind)
    assert effects.may_write(unknown)
    assert not effects.is_trivially_dead(unknown)
    assert effects.is_trivially_dead(reading)
    assert not effects.is_trivially_dead(load)
    assert not effects.is_trivially_dead(_op(module, "func.func"))
    assert not effects.is_trivially_dead(_op(module, "func.return"))


def test_folding_replaces_ops_by_constants(parse: Parse) -> None:
    module = parse("""
      func.func @f() -> i32 {
        %0 = arith.constant 2 : i32
        %1 = arith.addi %0, %0 : i32
        %2 = arith.muli %1, %1 : i32
        return %2 : i32
      }""")
    assert try_fold(_op(module, "arith.constant")) is None
    assert canonicalize(module)
    assert "return %c16_i32 : i32" in print_op(module)
    assert not canonicalize(module)


def test_builder_stamps_locations_and_moves(parse: Parse) -> None:
    module = parse('func.func @f() {\n  %0 = arith.constant 1 : i32 loc("k.py":5:1)\n  return\n}')
    constant, end = _op(module, "arith.constant"), _op(module, "func.return")
    builder = OpBuilder.after(constant)
    added = builder.insert(arith.AddiOp(constant, constant))
    assert describe_location(added.location) == "k.py:5:1"
    kept = arith.AddiOp(added, added)
    kept.location = file_location("other.py", 1, 1)
    assert describe_location(builder.insert(kept).location) == "other.py:1:1"
    block = Block(arg_types=[i32])
    with builder.at(block, file_location("in.py", 2, 2)):
        inside = builder.insert(arith.AddiOp(block.args[0], block.args[0]))
    assert describe_location(inside.location) == "in.py:2:2"
    assert inside.parent is block
    with builder.located(file_location("k.py", 9, 1)):
        assert describe_location(builder.insert(arith.AddiOp(kept, kept)).location) == "k.py:9:1"
    builder.move_before(constant)
    builder.insert_all([arith.constant_int(7, i32)])
    builder.move_to_end(block)
    assert builder.block is block
    builder.cursor = Cursor.before(end)
    assert builder.block is end.parent
    assert [op.name for op in _blocks(module)[0].ops] == ["arith.constant"] * 2 + ["arith.addi"] * 3 + ["func.return"]


def test_the_first_place_of_a_fusion_is_the_ops() -> None:
    first, second = file_location("a.py", 1, 1), file_location("b.py", 2, 2)
    fused = FusedLoc((first, second), NoneAttr())
    assert describe_location(fused) == "a.py:1:1"
    assert find_name(NameLoc(StringAttr("x"), fused)) == "x"
    assert find_call_sites(first) == ()
