"""The rewriting driver: constants, dead code, termination, locations."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import arith, tt
from tilewright.ir.locations import find_call_sites, find_span
from tilewright.ir.passes import PassContext
from tilewright.ir.printing import print_op
from tilewright.ir.rules import RewriteRule, RuleRewriter, op_type_rewrite_pattern
from tilewright.support.errors import PassError
from tilewright.transforms.common.canonicalize import canonicalize
from tilewright.transforms.common.greedy import rewrite_greedily
from tilewright.transforms.common.inline import InlinePass

Parse = Callable[[str], ModuleOp]


class SwapForEver(RewriteRule):
    """a - b = a - b: a rule that never ends."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: RuleRewriter, /) -> None:
        rewriter.replace(op, arith.SubiOp(op.operands[0], op.operands[1]))


def test_rules_without_end_are_named(parse: Parse) -> None:
    module = parse(
        "tt.func public @k(%x: i32, %y: i32) -> i32 {\n %0 = arith.subi %x, %y : i32\n tt.return %0 : i32\n}"
    )
    with pytest.raises(PassError, match="SwapForEver"):
        rewrite_greedily(module, [SwapForEver()], pass_name="test")


class Broken(RewriteRule):
    """A rule that fails."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.SubiOp, rewriter: RuleRewriter, /) -> None:
        raise KeyError("nothing here")


def test_failing_rules_are_named(parse: Parse) -> None:
    module = parse(
        "tt.func public @k(%x: i32, %y: i32) -> i32 {\n %0 = arith.subi %x, %y : i32\n tt.return %0 : i32\n}"
    )
    with pytest.raises(PassError, match="rule Broken failed"):
        rewrite_greedily(module, [Broken()], pass_name="test")


def test_canonical_form_is_a_fixed_point(parse: Parse) -> None:
    text = """
    tt.func public @k(%p: !tt.ptr<i32>, %c: i1, %n: i32) {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (i32) : i32 {
        %one = arith.constant 1 : i32
        %b = arith.addi %a, %one : i32
        %d = arith.addi %b, %one : i32
        scf.yield %d : i32
      }
      tt.store %p, %r : !tt.ptr<i32>
      tt.return
    }
    """
    module = parse(text)
    assert canonicalize(module)
    once = print_op(module)
    assert not canonicalize(module)
    assert print_op(module) == once


def test_constants_of_one_value_are_one_op(parse: Parse) -> None:
    text = """
    tt.func public @k(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>) {
      %a = arith.constant 7 : i32
      tt.store %p, %a : !tt.ptr<i32>
      %b = arith.constant 7 : i32
      tt.store %q, %b : !tt.ptr<i32>
      tt.return
    }
    tt.func public @other(%p: !tt.ptr<i32>) {
      %a = arith.constant 7 : i32
      tt.store %p, %a : !tt.ptr<i32>
      tt.return
    }
    """
    module = parse(text)
    canonicalize(module)
    constants = [op for op in module.walk() if isinstance(op, arith.ConstantOp)]
    assert len(constants) == 2
    assert all(op.prev_op is None for op in constants)


def test_inlined_ops_know_both_places(parse: Parse) -> None:
    text = """
    tt.func private @twice(%x: f32) -> f32 {
      %0 = arith.addf %x, %x : f32 loc("lib.py":3:5)
      tt.return %0 : f32
    }
    tt.func public @k(%p: !tt.ptr<f32>, %x: f32) {
      %0 = tt.call @twice(%x) : (f32) -> f32 loc("kernel.py":10:9)
      tt.store %p, %0 : !tt.ptr<f32>
      tt.return
    }
    """
    module = parse(text)
    InlinePass().run(module, PassContext())
    assert not any(isinstance(op, tt.CallOp) for op in module.walk())
    added = next(op for op in module.walk() if isinstance(op, arith.AddfOp))
    assert str(find_span(added.location)).startswith("lib.py:3:5")
    assert [str(site) for site in find_call_sites(added.location)] == ["kernel.py:10:9"]


def test_recursion_is_refused_with_its_place(parse: Parse) -> None:
    text = """
    tt.func private @f(%x: i32) -> i32 {
      %0 = tt.call @f(%x) : (i32) -> i32 loc("kernel.py":4:12)
      tt.return %0 : i32
    }
    """
    with pytest.raises(PassError) as caught:
        InlinePass().run(parse(text), PassContext())
    assert "f -> f" in str(caught.value) and "kernel.py:4:12" in str(caught.value)


def test_one_callee_inlined_many_times(parse: Parse, run: Callable[[ModuleOp, str], PassContext]) -> None:
    calls = "\n".join(f"%v{i + 1} = tt.call @f(%v{i}) : (i32) -> i32" for i in range(8))
    text = f"""
    tt.func private @g(%x: i32) -> i32 {{
      %0 = arith.muli %x, %x : i32
      tt.return %0 : i32
    }}
    tt.func private @f(%x: i32) -> i32 {{
      %0 = tt.call @g(%x) : (i32) -> i32
      %1 = tt.call @g(%0) : (i32) -> i32
      tt.return %1 : i32
    }}
    tt.func public @k(%v0: i32) -> i32 {{
      {calls}
      tt.return %v8 : i32
    }}
    """
    module = parse(text)
    run(module, "inline")
    assert len([op for op in module.walk() if isinstance(op, arith.MuliOp)]) == 16
    assert [op.sym_name.data for op in module.ops if isinstance(op, tt.FuncOp)] == ["k"]


def test_block_pointer_in_an_unknown_op_is_an_error(parse: Parse, run: Callable[[ModuleOp, str], PassContext]) -> None:
    text = """
    tt.func public @k(%p: !tt.ptr<f32>, %n: i64, %i: i32) -> i64 {
      %bp = tt.make_tensor_ptr %p, [%n], [%n], [%i] {order = array<i32: 0>} : <tensor<8xf32>>
      %0 = tt.ptr_to_int %bp : !tt.ptr<tensor<8xf32>> -> i64
      tt.return %0 : i64
    }
    """
    with pytest.raises(PassError, match="cannot take a value of type"):
        run(parse(text), "triton-rewrite-tensor-pointer")
