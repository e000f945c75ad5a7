"""The rule driver: dispatch, order, budget, locations, errors."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern
from xdsl.pattern_rewriter import op_type_rewrite_pattern as xdsl_op_type_rewrite_pattern

from tilewright.dialects import arith
from tilewright.ir.locations import find_span
from tilewright.ir.printing import print_op
from tilewright.ir.rules import RewriteRule, RuleRewriter, RuleTable, apply_rules, op_type_rewrite_pattern, op_types_of
from tilewright.support.errors import PassError

Parse = Callable[[str], ModuleOp]

MODULE = """
func.func @f(%a: i32) -> i32 {
  %0 = arith.muli %a, %a : i32 loc("k.py":7:3)
  %1 = arith.muli %0, %a : i32 loc("k.py":8:3)
  return %1 : i32
}"""


class MulToAdd(RewriteRule):
    """x * y = x + y (not true, but it ends)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: RuleRewriter, /) -> None:
        rewriter.replace(op, arith.AddiOp(op.lhs, op.rhs))


class SwapForEver(RewriteRule):
    """x + y = y + x, for ever."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp | arith.MuliOp, rewriter: RuleRewriter, /) -> None:
        rewriter.replace(op, type(op)(op.rhs, op.lhs))


class Broken(RewriteRule):
    """Raises."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.MuliOp, rewriter: RuleRewriter, /) -> None:
        raise KeyError("lost")


class Count(RewritePattern):
    """Looks at every op and changes none."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self.seen.append(op.name)


def _op_names(module: ModuleOp) -> list[str]:
    return [op.name for op in module.walk()]


def test_rules_apply_until_nothing_changes(parse: Parse) -> None:
    module = parse(MODULE)
    assert apply_rules(module, [MulToAdd()])
    assert _op_names(module).count("arith.addi") == 2
    assert not apply_rules(module, [MulToAdd()])


def test_new_ops_take_the_location_of_the_replaced_op(parse: Parse) -> None:
    module = parse(MODULE)
    apply_rules(module, [MulToAdd()])
    lines = [find_span(op.location) for op in module.walk() if op.name == "arith.addi"]
    assert [span.line for span in lines if span] == [7, 8]


def test_every_op_is_offered_in_order(parse: Parse) -> None:
    count = Count()
    assert not apply_rules(parse(MODULE), [count])
    assert count.seen == ["func.func", "arith.muli", "arith.muli", "func.return"]


def test_first_rule_that_matches_wins(parse: Parse) -> None:
    class MulToSub(RewriteRule):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: RuleRewriter, /) -> None:
            rewriter.replace(op, arith.SubiOp(op.lhs, op.rhs))

    module = parse(MODULE)
    apply_rules(module, [MulToSub(), MulToAdd()])
    assert "arith.subi" in _op_names(module)
    assert "arith.addi" not in _op_names(module)


def test_endless_rules_are_named(parse: Parse) -> None:
    with pytest.raises(PassError, match=r"pass shuffle, 'arith.muli': rules do not come to an end: SwapForEver fired"):
        apply_rules(parse(MODULE), [SwapForEver()], name="shuffle", max_rewrites_per_op=4)


def test_a_failing_rule_is_an_error_about_the_op_only(parse: Parse) -> None:
    with pytest.raises(PassError) as caught:
        apply_rules(parse(MODULE), [Broken()], name="p")
    assert str(caught.value) == "k.py:7:3: error: pass p, 'arith.muli': rule Broken failed: KeyError: 'lost'"
    assert caught.value.internal


def test_types_of_rules() -> None:
    class Foreign(RewritePattern):
        @xdsl_op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: PatternRewriter, /) -> None:
            rewriter.has_done_action = True

    assert op_types_of(MulToAdd()) == (arith.MuliOp,)
    assert op_types_of(SwapForEver()) == (arith.AddiOp, arith.MuliOp)
    assert op_types_of(Foreign()) == (arith.MuliOp,)
    assert op_types_of(Count()) == (Operation,)


def test_table_keeps_the_order_per_class() -> None:
    swap, mul, count = SwapForEver(), MulToAdd(), Count()
    table = RuleTable([swap, mul, count])
    assert table.rules_for(arith.MuliOp) == (swap, mul, count)
    assert table.rules_for(arith.AddiOp) == (swap, count)
    assert table.rules_for(arith.SubiOp) == (count,)


def test_a_rule_needs_an_annotation() -> None:
    with pytest.raises(TypeError, match="annotate parameter 'op'"):

        @op_type_rewrite_pattern  # pyright: ignore[reportArgumentType]
        def match_and_rewrite(self, op, rewriter) -> None:
            raise AssertionError


def test_erasing_an_op_offers_what_it_used(parse: Parse) -> None:
    class EraseUnused(RewriteRule):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp | arith.AddiOp, rewriter: RuleRewriter, /) -> None:
            if op.results[0].first_use is None:
                rewriter.erase(op)

    module = parse("""
      func.func @f(%a: i32) {
        %0 = arith.muli %a, %a : i32
        %1 = arith.addi %0, %0 : i32
        %2 = arith.addi %1, %0 : i32
        return
      }""")
    apply_rules(module, [EraseUnused()])
    assert _op_names(module) == ["builtin.module", "func.func", "func.return"]


def test_ops_inside_of_an_erased_op_are_forgotten(parse: Parse) -> None:
    class EraseOuter(RewritePattern):
        def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
            if op.attributes.get("outer") is not None:
                rewriter.erase(op)

    module = parse('"t.a"() ({ "t.b"() : () -> () "t.c"() : () -> () }) {outer} : () -> ()')
    assert apply_rules(module, [EraseOuter()])
    assert print_op(module) == "module {\n}\n"


def test_replace_with_existing_values(parse: Parse) -> None:
    class Drop(RewriteRule):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: arith.MuliOp, rewriter: RuleRewriter, /) -> None:
            rewriter.replace(op, (), (op.lhs,))

    module = parse(MODULE)
    apply_rules(module, [Drop()])
    assert "return %arg0 : i32" in print_op(module)
