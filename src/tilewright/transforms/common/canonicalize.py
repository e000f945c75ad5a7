"""`canonicalize`: the normal form that every later pass may rely on."""

from __future__ import annotations

from collections.abc import Set
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import HasCanonicalizationPatternsTrait

from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, op_types_of
from tilewright.ir.walking import is_subclass
from tilewright.transforms.common.arithmetic_rules import ARITHMETIC_RULES
from tilewright.transforms.common.branch_rules import BRANCH_RULES
from tilewright.transforms.common.greedy import Entry, GreedyRewriter, fold_of, is_commutative
from tilewright.transforms.common.loop_rules import LOOP_RULES

SHARED_RULES = (*ARITHMETIC_RULES, *LOOP_RULES, *BRANCH_RULES)
"""Rules of ops whose dialects know no rewriting: arith, scf and cf."""


@cache
def canonical_entry(cls: type[Operation]) -> Entry:
    """The fold and the canonicalization rules of an op class."""
    rules: list[RewriteRule] = []
    for trait in getattr(cls, "traits", ()):
        if isinstance(trait, HasCanonicalizationPatternsTrait):
            rules.extend(trait.get_patterns(cls))
    rules.extend(rule for rule in SHARED_RULES if is_subclass(cls, op_types_of(rule)))
    return Entry(fold_of(cls), tuple(rules), is_commutative(cls))


def canonicalize(root: Operation, settled: Set[Operation] = frozenset()) -> bool:
    """Bring everything inside `root` to normal form, ops in `settled` being so already; returns whether anything
    changed."""
    return GreedyRewriter(root, canonical_entry, pass_name="canonicalize").run(settled)


@register_pass
class CanonicalizePass(Pass):
    """Folds of all ops, canonicalization rules of all dialects, merged constants, no dead or unreachable code.

    Before:
    ```mlir
    %c0 = arith.constant 0 : i32
    %0 = arith.addi %n, %c0 : i32
    %1 = tt.splat %0 : i32 -> tensor<16x1xi32>
    %2 = tt.broadcast %1 : tensor<16x1xi32> -> tensor<16x8xi32>
    ```
    After:
    ```mlir
    %0 = tt.splat %n : i32 -> tensor<16x8xi32>
    ```
    """

    name = "canonicalize"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        canonicalize(module)
