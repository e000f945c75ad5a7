"""Undefined lanes: for each value the lanes that come from masked-off lanes of a load without `other`.

A lane of a result is undefined where a lane that it is computed from is undefined; a `select` takes the shadow of what
it chooses. Values that a `while` loop carries count as defined.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.analysis.origins import merge_sources
from tilewright.dialects import arith, scf, tt, tts
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.types import bool_like, element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.ir.walking import ops_within
from tilewright.transforms.sanitize.accesses import LOADS, describe_access
from tilewright.transforms.sanitize.emission import Emitter

REARRANGING = (
    tt.SplatOp, tt.UnsplatOp, tt.BroadcastOp, tt.ExpandDimsOp, tt.ReshapeOp, tt.TransOp, tt.JoinOp, tt.SplitOp, tt.CatOp
)  # fmt: skip
"""Ops that move lanes: the shadow moves by the same op."""

_OPAQUE = (*LOADS, tts.AtomicRMWOp, tts.AtomicCASOp, tt.CallOp, scf.WhileOp)
"""Ops whose results are defined whatever their operands are (loads and calls have their own rules)."""


def has_undefined_lanes(op: Operation) -> bool:
    """Return whether a load leaves lanes without a value."""
    match op:
        case tts.LoadOp():
            return op.has_mask and op.other is None
        case tts.MaskedLoadOp():
            return op.other is None
        case tts.GatherOp():
            return op.mask is not None and op.other is None
        case _:
            return False


class UndefinedLanes:
    """Shadows (i1, of the shape of the value) of all values of a function that may have undefined lanes."""

    def __init__(self, function: tt.FuncOp) -> None:
        self._tainted = _find_tainted(function)
        self._shadows: dict[SSAValue, SSAValue] = {}
        if self._tainted:
            self._visit_block(function.body.blocks[0])

    def of(self, value: SSAValue) -> SSAValue | None:
        """The undefined lanes of a value; None for none."""
        return self._shadows.get(value)

    def _visit_block(self, block: Block) -> None:
        for op in list(block.ops):
            match op:
                case scf.ForOp():
                    self._visit_loop(op)
                case scf.IfOp():
                    self._visit_branch(op)
                case scf.WhileOp():
                    for region in op.regions:
                        self._visit_block(region.block)
                case _ if any(result in self._tainted for result in op.results):
                    self._visit(op)
                case _:
                    continue

    def _visit(self, op: Operation) -> None:
        e = Emitter(OpBuilder.after(op))
        match op:
            case _ if has_undefined_lanes(op):
                access = describe_access(op)
                live = None if access is None or isinstance(access, str) else access.live(e)
                shadows = [None if live is None else e.negation(live)]
            case arith.SelectOp():
                shadows = [self._select(e, op)]
            case tt.ReduceOp():
                shadows = [self._combine(e, op, lambda s: tt.ReduceOp([s], op.axis.value.data))] * len(op.results)
            case tt.ScanOp():
                reverse = bool(op.reverse.value.data)
                shadows = [self._combine(e, op, lambda s: tt.ScanOp([s], op.axis.value.data, reverse=reverse))]
                shadows *= len(op.results)
            case tt.DotOp():
                shadows = [self._dot(e, op)]
            case tt.GatherOp():
                moved = e.insert(tt.GatherOp(self._given(e, op.src), op.indices, op.axis.value.data))
                shadows = [e.either(moved, self.of(op.indices))]
            case _ if isinstance(op, REARRANGING):
                operands = [self._given(e, operand) for operand in op.operands]
                types = [with_element_type(result.type, i1) for result in op.results]
                made = type(op).create(operands=operands, result_types=types, properties=op.properties)
                shadows = list(e.builder.insert(made).results)
            case _:
                shadows = self._by_lane(e, op)
        for result, shadow in zip(op.results, shadows, strict=True):
            if shadow is not None:
                self._shadows[result] = shadow

    def _given(self, e: Emitter, value: SSAValue) -> SSAValue:
        """The shadow of a value, also where it is nothing but zeros."""
        found = self.of(value)
        return e.constant(0, with_element_type(value.type, i1)) if found is None else found

    def _by_lane(self, e: Emitter, op: Operation) -> list[SSAValue | None]:
        """Lane by lane where all shapes agree; otherwise every lane depends on every lane."""
        shadows = [self._shadows[operand] for operand in op.operands if operand in self._shadows]
        results: list[SSAValue | None] = []
        for result in op.results:
            type = bool_like(result.type)
            fitting = [s if s.type == type else e.like(e.reduce(s, arith.OrIOp), type) for s in shadows]
            results.append(e.either(*fitting))
        return results

    def _select(self, e: Emitter, op: arith.SelectOp) -> SSAValue | None:
        condition, then, otherwise = op.operands
        chosen = None
        if then in self._shadows or otherwise in self._shadows:
            chosen = e.insert(arith.SelectOp(condition, self._given(e, then), self._given(e, otherwise)))
        unclear = self.of(condition)
        if unclear is not None:
            unclear = e.like(unclear, bool_like(op.result.type))
        return e.either(chosen, unclear)

    def _combine(
        self, e: Emitter, op: tt.ReduceOp | tt.ScanOp, make: Callable[[SSAValue], Operation]
    ) -> SSAValue | None:
        together = e.either(*(self.of(source) for source in op.srcs))
        if together is None:
            return None
        made = make(together)
        block = made.regions[0].block
        inner = OpBuilder.at_end(block, op.location)
        joined = inner.insert(arith.OrIOp(*block.args))
        inner.insert((tt.ReduceReturnOp if isinstance(op, tt.ReduceOp) else tt.ScanReturnOp)([joined]))
        return e.insert(made)

    def _dot(self, e: Emitter, op: tt.DotOp) -> SSAValue | None:
        """A row of A or a column of B with an undefined lane spoils a row or column of the result."""
        shape = shape_of(op.results[0].type)
        rank = len(shape)
        parts = [self.of(op.c)]
        for operand, axis in ((op.a, rank - 1), (op.b, rank - 2)):
            shadow = self.of(operand)
            if shadow is not None:
                reduced = _or_along(e, shadow, axis)
                parts.append(e.spread(e.insert(tt.ExpandDimsOp(reduced, axis)), shape))
        return e.either(*parts)

    def _visit_loop(self, loop: scf.ForOp) -> None:
        carried = [n for n, result in enumerate(loop.results) if result in self._tainted]
        if not carried:
            self._visit_block(loop.body.block)
            return
        e = Emitter(OpBuilder.before(loop))
        operands = [self._given(e, loop.iter_args[n]) for n in carried]
        block = loop.body.block
        for n, operand in zip(carried, operands, strict=True):
            self._shadows[block.args[1 + n]] = block.insert_arg(operand.type, len(block.args))
        self._visit_block(block)
        end = block.last_op
        assert end is not None
        last = Emitter(OpBuilder.before(end))
        end.operands = [*end.operands, *(self._given(last, end.operands[n]) for n in carried)]
        self._replace(loop, loop.carrying([*loop.iter_args, *operands]), carried)

    def _visit_branch(self, branch: scf.IfOp) -> None:
        for region in branch.regions:
            if region.blocks:
                self._visit_block(region.block)
        passed = [n for n, result in enumerate(branch.results) if result in self._tainted]
        if not passed:
            return
        types: list[Attribute] = [bool_like(branch.results[n].type) for n in passed]
        regions: Sequence[Region] = [branch.detach_region(region) for region in list(branch.regions)]
        for region in regions:
            end = region.block.last_op
            assert end is not None
            e = Emitter(OpBuilder.before(end))
            end.operands = [*end.operands, *(self._given(e, end.operands[n]) for n in passed)]
        new = scf.IfOp.create(
            operands=branch.operands,
            result_types=[*branch.result_types, *types],
            properties=branch.properties,
            attributes=branch.attributes,
            regions=regions,
        )
        self._replace(branch, new, passed)

    def _replace(self, old: Operation, new: Operation, shadowed: Sequence[int]) -> None:
        OpBuilder.before(old).insert(new)
        for result, value in zip(old.results, new.results, strict=False):
            value.name_hint = result.name_hint
            result.replace_all_uses_with(value)
        for position, n in enumerate(shadowed):
            self._shadows[new.results[n]] = new.results[len(old.results) + position]
        old.detach()
        old.erase()


def _or_along(e: Emitter, value: SSAValue, axis: int) -> SSAValue:
    op = tt.ReduceOp([value], axis)
    inner = OpBuilder.at_end(op.combine_op.block, e.builder.location)
    inner.insert(tt.ReduceReturnOp([inner.insert(arith.OrIOp(*op.combine_op.block.args))]))
    return e.insert(op)


def _find_tainted(function: tt.FuncOp) -> set[SSAValue]:
    """Values that may have undefined lanes: the least fixed point over data flow."""
    tainted: set[SSAValue] = {op.results[0] for op in ops_within(function) if has_undefined_lanes(op)}
    ops = ops_within(function)
    changed = bool(tainted)
    while changed:
        before = len(tainted)
        for op in ops:
            if isinstance(op, scf.ForOp | scf.IfOp):
                values = [*op.results, *(op.regions[0].block.args if isinstance(op, scf.ForOp) else ())]
                for value in values:
                    sources = merge_sources(value) or ()
                    if any(source in tainted for source in sources if source is not None):
                        tainted.add(value)
            elif _passes_on(op) and any(operand in tainted for operand in op.operands):
                tainted.update(r for r in op.results if not isinstance(element_type(r.type), tt.PointerType))
        changed = len(tainted) != before
    return tainted


def _passes_on(op: Operation) -> bool:
    """Return whether results may be undefined where operands are."""
    return not isinstance(op, _OPAQUE) and (not op.regions or isinstance(op, tt.ReduceOp | tt.ScanOp))
