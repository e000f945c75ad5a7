"""`lift-cf-to-scf`: branches between blocks become nested conditionals where there are no cycles."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import ReturnLike

from tilewright.dialects import cf, scf
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

MAX_COPIES = 4
"""How many times a block that several paths share may be written out before the region is left as it is."""


class NotStructurable(Exception):
    """The region has a cycle, a terminator that is not understood, or would grow too much."""


class _PostDominators:
    """For every block the closest block that all paths from it to a return pass, or None if there is none."""

    def __init__(self, region: Region) -> None:
        self._paths: dict[int, list[Block]] = {}
        self._active: set[int] = set()
        entry = region.blocks.first
        assert entry is not None
        self._chain(entry)

    def _chain(self, block: Block) -> list[Block]:
        """The blocks that every path from `block` to a return passes, nearest first, `block` itself included."""
        known = self._paths.get(id(block))
        if known is not None:
            return known
        if id(block) in self._active:
            raise NotStructurable("the control flow has a cycle")
        self._active.add(id(block))
        last = block.last_op
        chains = [self._chain(successor) for successor in (last.successors if last is not None else ())]
        self._active.discard(id(block))
        shared: list[Block] = []
        if chains:
            shared = [b for b in chains[0] if all(any(b is other for other in chain) for chain in chains[1:])]
        self._paths[id(block)] = [block, *shared]
        return self._paths[id(block)]

    def join_of(self, block: Block) -> Block | None:
        """Where the paths that leave `block` meet again."""
        chain = self._paths[id(block)]
        return chain[1] if len(chain) > 1 else None


class Structurizer:
    """Writes the body of an acyclic region into one block, with an `scf.if` for every conditional branch."""

    def __init__(self, region: Region) -> None:
        self._joins = _PostDominators(region)
        self._copies: dict[int, int] = {}

    def emit(
        self,
        block: Block,
        arguments: Sequence[SSAValue],
        into: Block,
        mapping: dict[SSAValue, SSAValue],
        stop: Block | None = None,
    ) -> list[SSAValue]:
        """Append copies of `block` and of what follows up to `stop` to the block `into`.

        Returns the values that reach `stop`, or without a stop those that the region returns."""
        while True:
            copies = self._copies[id(block)] = self._copies.get(id(block), 0) + 1
            if copies > MAX_COPIES:
                raise NotStructurable("too many paths share a block")
            mapping.update(zip(block.args, arguments, strict=True))
            terminator = block.last_op
            assert terminator is not None
            for op in block.ops:
                if op is not terminator:
                    into.add_op(op.clone(mapping))
            match terminator:
                case cf.BranchOp():
                    block, arguments = terminator.successor, self._map(terminator.arguments, mapping)
                case cf.ConditionalBranchOp():
                    join = self._joins.join_of(block)
                    arguments = self._emit_if(terminator, join, into, mapping, stop)
                    if join is None or join is stop:
                        return list(arguments)
                    block = join
                case _ if terminator.has_trait(ReturnLike, value_if_unregistered=False):
                    return self._map(terminator.operands, mapping)
                case _:
                    raise NotStructurable(f"'{terminator.name}' is not understood")
            if block is stop:
                return list(arguments)

    @staticmethod
    def _map(values: Sequence[SSAValue], mapping: dict[SSAValue, SSAValue]) -> list[SSAValue]:
        return [mapping.get(value, value) for value in values]

    def _emit_if(
        self,
        branch: cf.ConditionalBranchOp,
        join: Block | None,
        into: Block,
        mapping: dict[SSAValue, SSAValue],
        stop: Block | None,
    ) -> list[SSAValue]:
        end = join or stop
        branches: list[Block] = []
        types: list[Attribute] = []
        for target, arguments in (
            (branch.then_block, branch.then_arguments),
            (branch.else_block, branch.else_arguments),
        ):
            body, inner = Block(), dict(mapping)
            passed = self._map(arguments, mapping)
            values = passed if target is end else self.emit(target, passed, body, inner, end)
            body.add_op(scf.YieldOp(*values))
            types = [value.type for value in values]
            branches.append(body)
        is_one_armed = not types and branches[1].first_op is branches[1].last_op
        otherwise = None if is_one_armed else Region(branches[1])
        conditional = scf.IfOp(mapping.get(branch.cond, branch.cond), types, Region(branches[0]), otherwise)
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
        values = Structurizer(region).emit(entry, list(single.args), single, {})
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

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            for region in op.regions:
                reason = structurize(region)
                if reason is not None:
                    context.remark(op, f"branches stay as they are: {reason}")
