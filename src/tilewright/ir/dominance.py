"""Definitions come before uses: dominance between blocks, and the check that xDSL's own verifier leaves out."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tilewright.ir.diagnostics import op_place, verify_error
from tilewright.ir.values import successors_of
from tilewright.ir.walking import ops_within
from tilewright.support.errors import Note
from tilewright.support.spans import Span


class DominatorTree:
    """Immediate dominators of the blocks of a region, and constant-time queries.

    Computed by iterating intersections over reverse post-order until nothing changes (Cooper, Harvey and Kennedy,
    "A Simple, Fast Dominance Algorithm", 2001).
    """

    def __init__(self, region: Region) -> None:
        self.order: list[Block] = _reverse_post_order(region)
        self._number = {id(block): index for index, block in enumerate(self.order)}
        self._idom = self._compute()
        self.children: dict[int, list[Block]] = {}
        for index, dominator in enumerate(self._idom):
            if index:
                self.children.setdefault(dominator, []).append(self.order[index])
        self._enter, self._leave = self._intervals()

    def _compute(self) -> list[int]:
        predecessors: list[list[int]] = [[] for _ in self.order]
        for index, block in enumerate(self.order):
            for successor in successors_of(block):
                predecessors[self._number[id(successor)]].append(index)
        idom = [0] + [-1] * (len(self.order) - 1)
        changed = True
        while changed:
            changed = False
            for index in range(1, len(self.order)):
                known = [pred for pred in predecessors[index] if idom[pred] >= 0]
                new = known[0]
                for pred in known[1:]:
                    new = _intersect(idom, new, pred)
                if idom[index] != new:
                    idom[index], changed = new, True
        return idom

    def _intervals(self) -> tuple[list[int], list[int]]:
        """Entry and exit times of a walk over the tree: a dominates b if b's interval lies in a's."""
        enter, leave = [0] * len(self.order), [0] * len(self.order)
        clock = 0
        stack: list[tuple[int, bool]] = [(0, False)] if self.order else []
        while stack:
            index, done = stack.pop()
            clock += 1
            if done:
                leave[index] = clock
                continue
            enter[index] = clock
            stack.append((index, True))
            stack.extend((self._number[id(child)], False) for child in self.children.get(index, ()))
        return enter, leave

    def is_reachable(self, block: Block) -> bool:
        """Return whether control can come to the block from the region's entry."""
        return id(block) in self._number

    def dominates(self, first: Block, second: Block) -> bool:
        """Return whether every path from the entry to `second` passes `first`; a block dominates itself."""
        if first is second:
            return True
        if not (self.is_reachable(first) and self.is_reachable(second)):
            return False
        outer, inner = self._number[id(first)], self._number[id(second)]
        return self._enter[outer] <= self._enter[inner] and self._leave[inner] <= self._leave[outer]

    def dominated_by(self, block: Block) -> list[Block]:
        """The blocks whose immediate dominator is `block`."""
        return self.children.get(self._number[id(block)], [])


def _intersect(idom: list[int], first: int, second: int) -> int:
    while first != second:
        while first > second:
            first = idom[first]
        while second > first:
            second = idom[second]
    return first


def _reverse_post_order(region: Region) -> list[Block]:
    entry = region.first_block
    if entry is None:
        return []
    seen = {id(entry)}
    finished: list[Block] = []
    stack = [(entry, iter(successors_of(entry)))]
    while stack:
        block, successors = stack[-1]
        following = next((succ for succ in successors if id(succ) not in seen), None)
        if following is None:
            finished.append(block)
            stack.pop()
        else:
            seen.add(id(following))
            stack.append((following, iter(successors_of(following))))
    finished.reverse()
    return finished


def properly_dominates(first: Operation, second: Operation) -> bool:
    """Return whether `first` runs before `second` on every path to `second`: same block and earlier, a dominating block
    of the same region, or the same for the op that holds `second` in that region.
    """
    region = first.parent_region()
    if region is None or first.parent is None:
        return False
    holder: Operation | None = second
    while holder is not None and holder.parent_region() is not region:
        holder = holder.parent_op()
    if holder is None or holder is first or holder.parent is None:
        return False
    if holder.parent is first.parent:
        return first.is_before_in_block(holder)
    return DominatorTree(region).dominates(first.parent, holder.parent)


class _Checker:
    """Walks regions in dominance order and keeps the set of values that are defined at the current point."""

    def __init__(self) -> None:
        self.defined: set[int] = set()

    def check_region(self, region: Region) -> None:
        first = region.first_block
        if first is None:
            return
        if first.next_block is None:
            self._leave(self._check_block(first))
            return
        tree = DominatorTree(region)
        stack: list[tuple[Block, list[SSAValue] | None]] = [(first, None)]
        while stack:
            block, defined_here = stack.pop()
            if defined_here is not None:
                self._leave(defined_here)
                continue
            stack.append((block, self._check_block(block)))
            stack.extend((child, None) for child in tree.dominated_by(block))

    def _leave(self, values: list[SSAValue]) -> None:
        self.defined.difference_update(map(id, values))

    def _check_block(self, block: Block) -> list[SSAValue]:
        defined_here: list[SSAValue] = list(block.args)
        self.defined.update(map(id, defined_here))
        defined = self.defined
        for op in block.ops:
            for index, operand in enumerate(op.operands):
                if id(operand) not in defined:
                    reason = f"operand #{index} does not dominate this use"
                    raise verify_error(op, reason, _definition(operand, op), bare=True)
            if op.regions:
                self._check_regions(op)
            for result in op.results:
                defined.add(id(result))
                defined_here.append(result)
        return defined_here

    def _check_regions(self, op: Operation) -> None:
        if op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
            inner = _Checker()
            for region in op.regions:
                inner.check_region(region)
            return
        for region in op.regions:
            self.check_region(region)


def _definition(operand: SSAValue, user: Operation) -> list[Note]:
    """Say where a value is defined that does not dominate its use, in upstream's words."""
    owner = operand.owner
    block = owner if isinstance(owner, Block) else owner.parent
    if block is None:
        return []
    relation = _relation_of(block.parent, user.parent_region())
    if isinstance(owner, Block):
        assert block.parent is not None
        number = next(index for index, other in enumerate(block.parent.blocks) if other is block)
        said = f"operand defined as a block argument (block #{number} {relation})"
    else:
        place = "in the same block" if block is user.parent else relation
        said = f"operand defined here (op {'is ' * place.startswith('neither')}{place})"
    holder = owner.parent_op() if isinstance(owner, Block) else owner
    span = None if holder is None else op_place(holder)
    return [Note(said, span if isinstance(span, Span) else None)]


def _relation_of(region: Region | None, other: Region | None) -> str:
    """Say where a region is, seen from another."""
    if region is other:
        return "in the same region"
    if region is not None and other is not None:
        if _holds(region, other):
            return "in a parent region"
        if _holds(other, region):
            return "in a child region"
    return "neither in a parent nor in a child region"


def _holds(region: Region, inner: Region) -> bool:
    """Return whether a region is within another, at any depth."""
    op = inner.parent
    while op is not None:
        if op.parent_region() is region:
            return True
        op = op.parent_op()
    return False


def verify_dominance(root: Operation) -> None:
    """Check every use below `root` in linear time; raises `VerifyError` at the first value used before its definition.

    Uses in unreachable blocks are not checked, as in MLIR. The body of a module is a graph: order does not matter
    between its own ops.
    """
    checker = _Checker()
    if isinstance(root, ModuleOp):
        checker.defined.update(id(result) for op in root.ops for result in op.results)
    if not root.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        checker.defined.update(
            id(operand) for op in ops_within(root) for operand in op.operands if _is_outside(operand, root)
        )
    for region in root.regions:
        checker.check_region(region)


def _is_outside(value: SSAValue, root: Operation) -> bool:
    owner = value.owner
    current = owner if isinstance(owner, Operation) else owner.parent_op()
    if isinstance(owner, Operation) and owner is root:
        return False
    while current is not None:
        if current is root:
            return False
        current = current.parent_op()
    return True
