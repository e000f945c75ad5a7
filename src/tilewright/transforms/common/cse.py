"""`cse`: equal computations are done once."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cache

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, IRNode, Operation, Region, SSAValue
from xdsl.traits import IsTerminator, MemoryEffectKind

from tilewright.ir.dominance import DominatorTree
from tilewright.ir.effects import WRITES, EffectTable, is_trivially_dead
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.transforms.common.constants import is_isolated_class
from tilewright.transforms.common.greedy import is_commutative

READS_ONLY = frozenset({MemoryEffectKind.READ})


@cache
def _is_terminator(cls: type[Operation]) -> bool:
    return any(isinstance(trait, IsTerminator) for trait in getattr(cls, "traits", ()))


def operation_key(op: Operation) -> Hashable:
    """A key that equal ops share: class, operands and attributes. Regions are not part of it, result types only where
    there are no operands (`tensor.empty` of all types): ops of the same operands seldom differ in types alone, and
    these are hashed and compared in Python."""
    operands = [id(operand) for operand in op.operands]
    if len(operands) == 2 and is_commutative(type(op)):
        operands.sort()
    return (
        type(op),
        *(operands or op.result_types),
        frozenset(op.properties.items()) if op.properties else None,
        frozenset(op.attributes.items()) if op.attributes else None,
    )


def _same_types(op: Operation, other: Operation) -> bool:
    """Return whether the results of two ops with equal keys have the same types."""
    mine, theirs = [value.type for value in op.results], [value.type for value in other.results]
    return mine == theirs


class CommonSubexpressionElimination:
    """One walk in dominance order with a table of what was computed already.

    A read is merged with an earlier one of the same block only when nothing in between may have written.
    `is_pure_call` names calls whose results depend on their operands alone.
    """

    def __init__(self, is_pure_call: Callable[[Operation], bool] = lambda _: False) -> None:
        self.changed = False
        self._known: dict[Hashable, list[Operation]] = {}
        self._entered: list[list[Operation]] = []
        self._reads: dict[Hashable, Operation] = {}
        self._table = EffectTable()
        self._is_pure_call = is_pure_call

    def run(self, op: Operation) -> bool:
        """Process everything inside `op`; returns whether anything changed."""
        for region in op.regions:
            self._visit_region(region, isolated=is_isolated_class(type(op)))
        return self.changed

    def _visit_region(self, region: Region, *, isolated: bool) -> None:
        first = region.blocks.first
        if first is None:
            return
        reads, known = self._reads, self._known
        if isolated:
            self._known = {}
        mark = len(self._entered)
        if first.next_block is None:
            self._visit_block(first)
        else:
            self._visit_tree(DominatorTree(region), first)
        self._forget(mark)
        self._reads, self._known = reads, known

    def _visit_tree(self, tree: DominatorTree, root: Block) -> None:
        """Blocks in preorder of the dominator tree; what a block computed is forgotten when its subtree is done."""
        stack: list[Block | int] = [root]
        while stack:
            entry = stack.pop()
            if isinstance(entry, int):
                self._forget(entry)
                continue
            stack.append(len(self._entered))
            self._visit_block(entry)
            stack.extend(reversed(tree.dominated_by(entry)))

    def _forget(self, mark: int) -> None:
        while len(self._entered) > mark:
            self._entered.pop().pop()

    def _visit_block(self, block: Block) -> None:
        self._reads = {}
        op = block.first_op
        while op is not None:
            following = op.next_op
            self._visit_op(op)
            op = following

    def _visit_op(self, op: Operation) -> None:
        if is_trivially_dead(op, self._table.effects):
            self._erase(op)
            return
        for region in op.regions:
            self._visit_region(region, isolated=is_isolated_class(type(op)))
        self._table.forget(op)
        if _is_terminator(type(op)):
            return
        effects = self._table.effects(op)
        if not effects or self._is_pure_call(op):
            self._merge_pure(op)
        elif effects == READS_ONLY:
            self._merge_read(op)
        elif not WRITES.isdisjoint(effects):
            self._reads.clear()

    def _merge_pure(self, op: Operation) -> None:
        if not op.results:
            return
        key = operation_key(op)
        known = self._known.setdefault(key, [])
        for other in known:
            if _same_types(op, other) and (not op.regions or _same_regions(op, other)):
                self._replace(op, other)
                return
        known.append(op)
        self._entered.append(known)

    def _merge_read(self, op: Operation) -> None:
        if op.regions or not op.results:
            return
        key = (operation_key(op), *op.result_types)
        other = self._reads.get(key)
        if other is None:
            self._reads[key] = op
        else:
            self._replace(op, other)

    def _replace(self, op: Operation, other: Operation) -> None:
        for old, new in zip(op.results, other.results, strict=True):
            if new.name_hint is None:
                new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        self._erase(op)

    def _erase(self, op: Operation) -> None:
        op.detach()
        op.erase(safe_erase=False)
        self.changed = True


def _same_regions(op: Operation, other: Operation) -> bool:
    """Return whether two ops with equal keys also hold equal regions."""
    context: dict[IRNode | SSAValue, IRNode | SSAValue] = {operand: operand for operand in op.operands}
    return all(
        mine.is_structurally_equivalent(theirs, dict(context))
        for mine, theirs in zip(op.regions, other.regions, strict=True)
    )


def eliminate_common_subexpressions(root: Operation) -> bool:
    """Merge equal computations inside `root`; returns whether anything changed. Linear in the number of ops."""
    return CommonSubexpressionElimination().run(root)


@register_pass
class CsePass(Pass):
    """Merges ops that compute the same result from the same operands, and reads with no write in between.

    Before:
    ```mlir
    %0 = arith.addi %a, %b : i32
    %1 = arith.addi %b, %a : i32
    %2 = arith.muli %0, %1 : i32
    ```
    After:
    ```mlir
    %0 = arith.addi %a, %b : i32
    %1 = arith.muli %0, %0 : i32
    ```
    """

    name = "cse"
    title = "CSE"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        eliminate_common_subexpressions(module)
