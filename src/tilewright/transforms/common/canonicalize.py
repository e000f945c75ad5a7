"""`canonicalize`: the normal form that every later pass may rely on."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import replace
from functools import cache
from typing import Literal

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.traits import HasCanonicalizationPatternsTrait

from tilewright.ir.folding import fold_of
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.rules import RewriteRule, op_types_of
from tilewright.ir.walking import is_subclass
from tilewright.transforms.common.arithmetic_rules import ARITHMETIC_RULES
from tilewright.transforms.common.branch_rules import BRANCH_RULES
from tilewright.transforms.common.greedy import Entry, GreedyRewriter, RewriteConfig, is_commutative
from tilewright.transforms.common.loop_rules import LOOP_RULES
from tilewright.transforms.common.slice_rules import SLICE_RULES

SHARED_RULES = (*ARITHMETIC_RULES, *LOOP_RULES, *BRANCH_RULES, *SLICE_RULES)
"""Rules of ops whose dialects know no rewriting: arith, scf, cf and tensor."""


@cache
def canonical_entry(cls: type[Operation]) -> Entry:
    """The fold and the canonicalization rules of an op class."""
    rules: list[RewriteRule] = []
    for trait in getattr(cls, "traits", ()):
        if isinstance(trait, HasCanonicalizationPatternsTrait):
            rules.extend(trait.get_patterns(cls))
    rules.extend(rule for rule in SHARED_RULES if is_subclass(cls, op_types_of(rule)))
    return Entry(fold_of(cls), tuple(rules), is_commutative(cls))


def canonicalize(root: Operation, normal: Set[Operation] = frozenset()) -> bool:
    """Bring everything inside `root` to normal form, ops in `normal` being so already; returns whether anything
    changed."""
    return GreedyRewriter(root, canonical_entry, pass_name=CanonicalizePass.name).run(normal)


@register_pass
class CanonicalizePass(Pass):
    """Applies all folds and all dialects' canonicalization rules, merges constants, and removes dead and unreachable
    code.

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
    title = "Canonicalizer"

    max_iterations: int = 10
    """Times that the module is looked at because blocks or constants moved; -1: until nothing changes."""
    max_num_rewrites: int = -1
    """Rewrites within one of these times; -1: no limit."""
    region_simplify: Literal["disabled", "normal"] = "normal"
    """Whether unreachable blocks, chains of blocks and unused block arguments are removed."""
    test_convergence: bool = False
    """Fail where a limit ended the pass too early."""
    top_down: bool = True
    """Look at ops in their order first, or at the last op first."""
    disable_patterns: tuple[str, ...] = ()
    """Rules that are not used, by the names of their classes."""
    enable_patterns: tuple[str, ...] = ()
    """The only rules that are used, besides folds; none named: all."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        config = RewriteConfig(
            self.max_iterations, self.max_num_rewrites, self.region_simplify != "disabled", self.top_down
        )
        driver = GreedyRewriter(module, self._entry, pass_name=self.name, config=config)
        driver.run()
        if self.test_convergence and not driver.converged:
            context.fail(module, "failed to converge")

    def _entry(self, cls: type[Operation]) -> Entry:
        entry = canonical_entry(cls)
        if not self.disable_patterns and not self.enable_patterns:
            return entry
        return replace(entry, rules=tuple(rule for rule in entry.rules if self._is_used(type(rule).__name__)))

    def _is_used(self, rule: str) -> bool:
        return rule not in self.disable_patterns and (not self.enable_patterns or rule in self.enable_patterns)
