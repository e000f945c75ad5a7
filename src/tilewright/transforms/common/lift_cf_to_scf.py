"""`lift-cf-to-scf`: branches between blocks become nested conditionals where there are no cycles."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import ReturnLike

from tilewright.dialects import arith, cf, scf, ub
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import successors_of
from tilewright.ir.walking import ops_within
from tilewright.transforms.common.regions import passed_by

MAX_COPIES = 4
"""How many times a block that several paths share may be written out before the region is left as it is."""


class NotStructurable(Exception):
    """The region has a cycle, a terminator that is not understood, or would grow too much."""


Exit = Block | None
"""Where a part of the region ends: at the start of a block, or (None) with a return."""


class _Flow:
    """The blocks of an acyclic region in topological order, and what is reached from where."""

    def __init__(self, entry: Block) -> None:
        self.order: dict[Block, int] = {}
        finished: list[Block] = []
        active: set[Block] = set()
        stack = [(entry, iter(successors_of(entry)))]
        active.add(entry)
        while stack:
            block, successors = stack[-1]
            following = next((b for b in successors if b in active or b not in self.order), None)
            if following is None:
                stack.pop()
                active.discard(block)
                self.order[block] = len(finished)
                finished.append(block)
            elif following in active:
                raise NotStructurable("the control flow has a cycle")
            else:
                active.add(following)
                stack.append((following, iter(successors_of(following))))
        last = len(finished) - 1
        self.order = {block: last - position for block, position in self.order.items()}

    def reach(self, starts: Sequence[Block], stops: Collection[Exit]) -> set[Block]:
        """The blocks that hold code and are reached from `starts` without passing a stop."""
        found: set[Block] = set()
        stack = list(starts)
        while stack:
            block = stack.pop()
            if block not in found and block not in stops and not _only_returns(block):
                found.add(block)
                stack.extend(successors_of(block))
        return found

    def find_join(self, branch: cf.ConditionalBranchOp, exits: Sequence[Exit]) -> tuple[Block | None, bool]:
        """Return where the two sides of a branch meet again before they leave by `exits`, and whether some path from
        the branch leaves without passing it. None where they do not meet, or not in a block that parts what comes
        before it from what comes after.
        """
        then, otherwise = branch.then_block, branch.else_block
        shared = self.reach([then], exits) & self.reach([otherwise], exits)
        for join in sorted(shared, key=self.order.__getitem__):
            if not self.reach([then, otherwise], (join, *exits)) & self.reach([join], exits):
                return join, self._leaves_around(branch, join, exits)
        return None, False

    def _leaves_around(self, branch: cf.ConditionalBranchOp, join: Block, exits: Sequence[Exit]) -> bool:
        """Return whether a path from the branch returns, or comes to an exit, without passing the join."""
        seen: set[Block] = {join}
        stack = [branch.then_block, branch.else_block]
        while stack:
            block = stack.pop()
            if block in seen:
                continue
            seen.add(block)
            successors = successors_of(block)
            if block in exits or not successors:
                return True
            stack.extend(successors)
        return False


def _only_returns(block: Block) -> bool:
    last = block.last_op
    return last is block.first_op and last is not None and last.has_trait(ReturnLike, value_if_unregistered=False)


class Structurizer:
    """Writes the body of an acyclic region into one block, with an `scf.if` for every conditional branch.

    A part of the region that can be left in several ways (where the sides of a branch meet, or by a return before that)
    yields the index of the way that was taken, then the values of each, of which the others are never read.
    """

    def __init__(self, region: Region, returned: Sequence[Attribute]) -> None:
        entry = region.blocks.first
        assert entry is not None
        self._flow = _Flow(entry)
        self._returned = tuple(returned)
        self._copies: dict[Block, int] = {}

    def emit(
        self,
        block: Block,
        arguments: Sequence[SSAValue],
        into: Block,
        mapping: dict[SSAValue, SSAValue],
        exits: Sequence[Exit] = (None,),
    ) -> list[SSAValue]:
        """Append copies of `block` and of what follows up to `exits` to the block `into`.

        Returns the values that reach the only exit, or of several the index and then the values of each."""
        while block not in exits:
            self._count(block)
            mapping.update(zip(block.args, arguments, strict=True))
            terminator = block.last_op
            assert terminator is not None
            for op in block.ops:
                if op is not terminator:
                    into.add_op(op.clone(mapping))
            match terminator:
                case cf.BranchOp():
                    block, arguments = terminator.successor, _mapped(terminator.arguments, mapping)
                case cf.ConditionalBranchOp():
                    join, leaves = self._flow.find_join(terminator, exits)
                    if join is None:
                        return self._emit_if(terminator, into, mapping, exits)
                    inner = (join, *exits) if leaves else (join,)
                    block, arguments = join, self._emit_if(terminator, into, mapping, inner)
                    if leaves:
                        return self._emit_rest(terminator, join, arguments, into, mapping, exits)
                case _ if terminator.has_trait(ReturnLike, value_if_unregistered=False):
                    return self._leave(None, _mapped(terminator.operands, mapping), into, mapping, exits)
                case _:
                    raise NotStructurable(f"'{terminator.name}' is not understood")
        return self._leave(block, list(arguments), into, mapping, exits)

    def _count(self, block: Block) -> None:
        copies = self._copies[block] = self._copies.get(block, 0) + 1
        if copies > MAX_COPIES and not _only_returns(block):
            raise NotStructurable("too many paths share a block")

    def _leave(
        self, end: Exit, values: list[SSAValue], into: Block, mapping: dict[SSAValue, SSAValue], exits: Sequence[Exit]
    ) -> list[SSAValue]:
        """Return what is yielded where one of several exits is taken."""
        if len(exits) == 1:
            return values
        found: list[SSAValue] = [_add(into, _integer(exits.index(end)))]
        for other in exits:
            if other is end:
                found += values
            elif other is None:
                found += [_add(into, ub.PoisonOp(kind)) for kind in self._returned]
            else:
                found += [
                    _find_stand_in(argument, mapping) or _add(into, ub.PoisonOp(argument.type))
                    for argument in other.args
                ]
        return found

    def _emit_if(
        self, branch: cf.ConditionalBranchOp, into: Block, mapping: dict[SSAValue, SSAValue], exits: Sequence[Exit]
    ) -> list[SSAValue]:
        sides: list[tuple[Block, list[SSAValue]]] = []
        for target, arguments in (
            (branch.then_block, branch.then_arguments),
            (branch.else_block, branch.else_arguments),
        ):
            body = Block()
            sides.append((body, self.emit(target, _mapped(arguments, mapping), body, dict(mapping), exits)))
        return _conditional(branch, mapping.get(branch.cond, branch.cond), into, sides)

    def _emit_rest(
        self,
        branch: cf.ConditionalBranchOp,
        join: Block,
        left: Sequence[SSAValue],
        into: Block,
        mapping: dict[SSAValue, SSAValue],
        exits: Sequence[Exit],
    ) -> list[SSAValue]:
        """Return what follows the join, where it is reached; else what left before that goes on to leave."""
        way, arguments, others = left[0], left[1 : 1 + len(join.args)], list(left[1 + len(join.args) :])
        zero = _add(into, _integer(0))
        reached = _add(into, arith.CmpiOp(way, zero, "eq"))
        then, otherwise = Block(), Block()
        values = self.emit(join, arguments, then, dict(mapping), exits)
        if len(exits) > 1:
            one = _add(otherwise, _integer(1))
            others.insert(0, _add(otherwise, arith.SubiOp(way, one)))
        return _conditional(branch, reached, into, [(then, values), (otherwise, others)])


def _mapped(values: Sequence[SSAValue], mapping: dict[SSAValue, SSAValue]) -> list[SSAValue]:
    return [mapping.get(value, value) for value in values]


def _find_stand_in(argument: BlockArgument, mapping: dict[SSAValue, SSAValue]) -> SSAValue | None:
    """A value that is known here in place of an argument that nothing will read: one that an edge passes, or that such
    a one is computed from. (Of a poison pointer nobody could tell the memory.)"""
    block = argument.block
    for predecessor in block.predecessors():
        for passed in passed_by(predecessor.last_op, block, argument.index) or ():
            value: SSAValue | None = passed
            while value is not None and value not in mapping:
                operands = value.owner.operands if isinstance(value.owner, Operation) else ()
                value = next((operand for operand in operands if operand.type == argument.type), None)
            if value is not None:
                return mapping[value]
    return None


def _add(into: Block, op: Operation) -> SSAValue:
    into.add_op(op)
    return op.results[0]


def _integer(value: int) -> arith.ConstantOp:
    return arith.ConstantOp(IntegerAttr(value, i32))


def _conditional(
    branch: Operation, condition: SSAValue, into: Block, sides: Sequence[tuple[Block, list[SSAValue]]]
) -> list[SSAValue]:
    """The `scf.if` of a branch, from its two sides and what these yield."""
    (then, values), (otherwise, _) = sides
    for body, yielded in sides:
        body.add_op(scf.YieldOp(*yielded))
    is_one_armed = not values and otherwise.first_op is otherwise.last_op
    types = [value.type for value in values]
    conditional = scf.IfOp(condition, types, Region(then), None if is_one_armed else Region(otherwise))
    conditional.location = branch.location
    into.add_op(conditional)
    return list(conditional.results)


def structurize(region: Region) -> str | None:
    """Turn the blocks of an acyclic region into one block; returns why not when the region stays as it is."""
    entry = region.blocks.first
    if entry is None or entry.next_block is None:
        return None
    single = Block(arg_types=entry.arg_types)
    for old, new in zip(entry.args, single.args, strict=True):
        new.name_hint, new.location = old.name_hint, old.location
    terminator = _find_return(region)
    try:
        if terminator is None:
            raise NotStructurable("no path returns")
        returned = [value.type for value in terminator.operands]
        values = Structurizer(region, returned).emit(entry, list(single.args), single, {})
    except NotStructurable as reason:
        single.erase(safe_erase=False)
        return str(reason)
    last = terminator.clone_without_regions(clone_operands=False)
    last.operands = values
    single.add_op(last)
    for block in tuple(region.blocks):
        region.detach_block(block)
        block.drop_all_references()
    region.add_block(single)
    return None


def _find_return(region: Region) -> Operation | None:
    """A terminator that leaves the region."""
    for block in region.blocks:
        last = block.last_op
        if last is not None and not last.successors and last.has_trait(ReturnLike, value_if_unregistered=False):
            return last
    return None


@register_pass
class LiftCfToScfPass(Pass):
    """Gives every function without cyclic branches a single block, so that later passes see structured code only.

    Before:
    ```mlir
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      tt.return
    ^bb2:
      tt.store %p, %v : !tt.ptr<f32>
      tt.return
    ```
    After:
    ```mlir
      scf.if %c {
      } else {
        tt.store %p, %v : !tt.ptr<f32>
      }
      tt.return
    ```
    """

    name = "lift-cf-to-scf"
    title = "LiftControlFlowToSCFPass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            for region in op.regions:
                reason = structurize(region)
                if reason is not None:
                    context.remark(op, f"branches stay as they are: {reason}")
