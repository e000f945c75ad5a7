"""Symbolic index expressions become IR; slots of merges become carried values."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import cast

from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.index_algebra import Choice, Constant, Expr, Phi, Product, Sum, Symbol, Uniform
from tilewright.analysis.lanes import Base
from tilewright.analysis.merges import Slot
from tilewright.analysis.pointer import PointerAnalysis
from tilewright.analysis.splats import emit_scalar, is_splat_tree
from tilewright.dialects import arith, scf, tt
from tilewright.dialects.tt.types import PointerType, pointer_type
from tilewright.ir.appending import append_argument, append_operands, append_result
from tilewright.lowering.scalar_builder import INDEX, Index
from tilewright.lowering.tt_to_structured.placement import Placement


class IndexEmitter:
    """Emits expressions of one function, each once. Call `finish` when all that is needed has been asked for."""

    def __init__(self, analysis: PointerAnalysis, placement: Placement) -> None:
        self._analysis = analysis
        self._placement = placement
        self._made: dict[Expr, SSAValue] = {}
        self._scalars: dict[SSAValue, SSAValue] = {}
        self._binaries: dict[tuple[type[Operation], SSAValue, SSAValue], SSAValue] = {}
        self._unfinished: deque[Slot] = deque()

    # Expressions

    def index(self, expr: Expr) -> Index:
        """An expression as an entry of a mixed list."""
        return _signed64(expr.value) if isinstance(expr, Constant) else self.value(expr)

    def value(self, expr: Expr) -> SSAValue:
        """An expression as a value of type `index`."""
        found = self._made.get(expr)
        if found is None:
            found = self._made[expr] = self._emit(expr)
        return found

    def _emit(self, expr: Expr) -> SSAValue:
        match expr:
            case Constant(value=value):
                return self._placement.constant(_signed64(value))
            case Symbol(value=value, unsigned=unsigned):
                return self.as_index(self._placement.current(value), unsigned=unsigned)
            case Uniform(value=value):
                return self.as_index(self.scalar(value))
            case Phi(slot=slot, place=place):
                return self._emit_phi(slot, place)
            case Product(lhs=lhs, rhs=rhs):
                return self.binary(arith.MuliOp, self.value(lhs), self.value(rhs))
            case Choice(condition=condition, if_true=if_true, if_false=if_false):
                condition = self._placement.current(condition)
                return self.select(condition, self.value(if_true), self.value(if_false))
            case Sum(constant=constant, terms=terms):
                return self._emit_sum(constant, terms)
            case _:
                raise AssertionError(f"no code for {expr}")

    def _emit_sum(self, constant: int, terms: Sequence[tuple[Expr, int]]) -> SSAValue:
        """Summands in program order, so that what a loop does not change is added up before it."""
        ordered = sorted(terms, key=lambda summand: (summand[1] < 0, self._analysis.position(summand[0])))
        total: SSAValue | None = None
        if ordered[0][1] < 0:
            total, constant = self._placement.constant(_signed64(constant)), 0
        for index, (term, coefficient) in enumerate(ordered):
            value = self.value(term)
            if abs(coefficient) != 1:
                value = self.binary(arith.MuliOp, value, self._placement.constant(_signed64(abs(coefficient))))
            if total is None:
                total = value
            else:
                total = self.binary(arith.AddiOp if coefficient > 0 else arith.SubiOp, total, value)
            if index == 0 and constant:
                total = self.binary(arith.AddiOp, total, self._placement.constant(_signed64(constant)))
        assert total is not None
        return total

    def scalar(self, value: SSAValue) -> SSAValue:
        """The number in all lanes of a tensor, as a scalar of its element type."""
        found = self._scalars.get(value)
        if found is None:
            value = self._placement.current(value)
            owner = value.owner
            if isinstance(owner, Operation) and is_splat_tree(value):
                found = emit_scalar(value, lambda op: self._placement.insert_before(op, owner))
            else:
                found = emit_scalar(value, self._placement.place)
            self._scalars[value] = found
        return found

    # Single ops

    def as_index(self, value: SSAValue, *, unsigned: bool = False) -> SSAValue:
        """A scalar integer as an index."""
        if value.type == INDEX:
            return value
        cast = arith.IndexCastUIOp if unsigned else arith.IndexCastOp
        return self._placement.place(cast.create(operands=[value], result_types=[INDEX])).results[0]

    def binary(self, cls: type[Operation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """`cls(lhs, rhs)` of a pure op, made once for each pair of operands."""
        found = self._binaries.get((cls, lhs, rhs))
        if found is None:
            found = self._placement.place(cls(lhs, rhs)).results[0]  # pyright: ignore[reportCallIssue]
            self._binaries[cls, lhs, rhs] = found
        return found

    def select(self, condition: SSAValue, if_true: SSAValue, if_false: SSAValue) -> SSAValue:
        """`arith.select`."""
        return self._placement.place(arith.SelectOp(condition, if_true, if_false)).results[0]

    # Bases

    def base(self, base: Base) -> SSAValue:
        """The scalar pointer of a base, at the type that its addresses have."""
        root = base.root
        value = self._placement.current(root) if isinstance(root, SSAValue) else self._emit_phi(root.slot, root.place)
        assert isinstance(value.type, PointerType)
        return self._as_pointer(value, pointer_type(base.pointee, value.type.address_space.data))

    def _as_pointer(self, value: SSAValue, type: Attribute) -> SSAValue:
        return value if value.type == type else self._placement.place(tt.BitcastOp(value, type)).results[0]

    # Merges

    def _emit_phi(self, slot: Slot, place: str) -> SSAValue:
        if slot.is_invariant:
            return self._part(slot.incoming[0])
        if not slot.carried:
            self._carry(slot)
        return slot.carried[place]

    def _part(self, part: Expr | SSAValue) -> SSAValue:
        return self._placement.current(part) if isinstance(part, SSAValue) else self.value(part)

    def _carry(self, slot: Slot) -> None:
        """Adds the values that stand for a slot to its op; what flows into them follows in `finish`."""
        op, regions = slot.op, slot.op.regions
        type = self._pointer_type(slot) if slot.is_pointer else INDEX
        match slot.group:
            case "for":
                slot.carried = {"body": append_argument(regions[0].block, type), "result": append_result(op, type)}
            case "before":
                slot.carried = {"before": append_argument(regions[0].block, type)}
            case "after":
                slot.carried = {"after": append_argument(regions[1].block, type), "result": append_result(op, type)}
            case _:
                slot.carried = {"result": append_result(op, type)}
        for place, value in slot.carried.items():
            self._placement.note(value, self._analysis.position_of_phi(slot, place))
        self._unfinished.append(slot)

    @staticmethod
    def _pointer_type(slot: Slot) -> Attribute:
        part = slot.incoming[0]
        while isinstance(part, Phi):
            part = part.slot.incoming[0]
        assert isinstance(part, SSAValue)
        return cast("Attribute", part.type)  # pyright: ignore[reportUnknownMemberType]

    def finish(self) -> None:
        """Connects all carried values with their sources."""
        while self._unfinished:
            slot = self._unfinished.popleft()
            op, sources = slot.op, [self._part(part) for part in slot.incoming]
            if slot.is_pointer:
                type = next(iter(slot.carried.values())).type
                sources = [self._as_pointer(source, type) for source in sources]
            match slot.group:
                case "for":
                    append_operands(op, sources[:1])
                    append_operands(_terminator(op, 0, scf.YieldOp), sources[1:])
                case "before":
                    append_operands(op, sources[:1])
                    append_operands(_terminator(op, 1, scf.YieldOp), sources[1:])
                case "after":
                    append_operands(_terminator(op, 0, scf.ConditionOp), sources)
                case _:
                    for index, source in enumerate(sources):
                        append_operands(_terminator(op, index, scf.YieldOp), [source])


def _terminator(op: Operation, region: int, cls: type[Operation]) -> Operation:
    last = op.regions[region].block.last_op
    assert isinstance(last, cls)
    return last


def _signed64(value: int) -> int:
    """Index arithmetic is modulo 2**64; its constants are printed signed."""
    value &= (1 << 64) - 1
    return value - (1 << 64) if value >> 63 else value
