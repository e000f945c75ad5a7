"""The pointer analysis: which pointers and index tensors have a formula.

`PointerAnalysis.state(value)` answers with the `Lanes` of an integer or pointer value, the `BlockPointer` of a block
pointer, or an `Unknown` with the reason. It computes on demand, backwards from the values asked for, each value
once, and emits nothing: see `lowering.tt_to_structured` for how a state becomes IR.

Tensor arithmetic of 32 bits and more is taken not to overflow, as address arithmetic in kernels is meant, unless its
constants show that it does, as those of hashes (`pointer_rules`). Scalars are taken as the program computes them, with
whatever overflow that has.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.analysis.index_algebra import Choice, Expr, IndexAlgebra, Phi, Product, Sum, Symbol, Uniform
from tilewright.analysis.lane_algebra import LaneAlgebra
from tilewright.analysis.lanes import Base, BlockPointer, Lanes, Unknown
from tilewright.analysis.merges import (
    PartKey,
    Slot,
    State,
    changed_parts,
    find_mismatch,
    likely_carried,
    parts_of,
    with_parts,
    without_computed,
)
from tilewright.analysis.order import ProgramOrder
from tilewright.analysis.signs import Signs
from tilewright.dialects import scf, tt
from tilewright.dialects.tt.types import is_block_pointer, shape_of
from tilewright.dialects.types import element_type, is_tensor

MAX_NESTING = 40
"""Deepest chain of merges whose states depend on each other."""

Answer = Lanes | BlockPointer | Unknown


class PointerAnalysis:
    """States of the values of one function. With `follow_loops` off, loop-carried values have no formula."""

    def __init__(self, function: Operation, *, follow_loops: bool = True) -> None:
        self.algebra = IndexAlgebra()
        self.lanes = LaneAlgebra(self.algebra)
        self.signs = Signs()
        self.order = ProgramOrder(function)
        self.follow_loops = follow_loops
        self._known: dict[SSAValue, Answer] = {}
        self._trail: list[SSAValue] = []
        self._nesting = 0

    # Demand-driven evaluation

    def state(self, value: SSAValue) -> Answer:
        """The state of an integer or pointer value."""
        known = self._known.get(value)
        if known is not None:
            return known
        pending = [value]
        expanded: set[SSAValue] = set()
        while pending:
            current = pending[-1]
            if current in self._known:
                pending.pop()
            elif current in expanded:
                self._set(current, self._evaluate(current))
                pending.pop()
            else:
                expanded.add(current)
                pending.extend(v for v in self._dependencies(current) if v not in self._known and v not in expanded)
        return self._known[value]

    def lanes_of(self, value: SSAValue) -> Lanes | Unknown:
        """The state of a value that is not a block pointer."""
        state = self.state(value)
        return Unknown("a block pointer") if isinstance(state, BlockPointer) else state

    def _set(self, value: SSAValue, answer: Answer) -> None:
        self._known[value] = answer
        self._trail.append(value)

    def _forget_since(self, mark: int) -> None:
        for value in self._trail[mark:]:
            self._known.pop(value, None)
        del self._trail[mark:]

    def _dependencies(self, value: SSAValue) -> Iterator[SSAValue]:
        from tilewright.analysis.pointer_rules import RULES

        if isinstance(value, OpResult):
            op = value.op
            if is_scalar_integer(value.type):
                return
            if type(op) in RULES:
                yield from (operand for operand in op.operands if carries_addresses(operand.type))
            else:
                yield from self._merge_sources(op, value.index)
        elif isinstance(value, BlockArgument) and not is_scalar_integer(value.type):
            op = value.owner.parent_op()
            if isinstance(op, scf.ForOp) and value.index > 0:
                yield op.operands[2 + value.index]
            elif isinstance(op, scf.WhileOp):
                yield from self._while_sources(op, value)

    @staticmethod
    def _while_sources(op: scf.WhileOp, value: BlockArgument) -> Iterator[SSAValue]:
        if value.owner is op.regions[0].block:
            yield op.operands[value.index]
        elif (passed := _passed_on(op, value.index)) is not None:
            yield passed

    @staticmethod
    def _merge_sources(op: Operation, index: int) -> Iterator[SSAValue]:
        match op:
            case scf.ForOp():
                yield op.operands[3 + index]
            case scf.IfOp():
                yield from (y for region in op.regions if (y := _yielded(region.first_block, index)) is not None)
            case scf.WhileOp() if (passed := _passed_on(op, index)) is not None:
                yield passed
            case _:
                return

    def _evaluate(self, value: SSAValue) -> Answer:
        from tilewright.analysis.pointer_rules import RULES

        if is_scalar_integer(value.type):
            return self.lanes.scalar(self.algebra.symbol(value))
        if not carries_addresses(value.type):
            return Unknown(f"a value of type {value.type}")
        if isinstance(value, BlockArgument):
            return self._evaluate_argument(value)
        assert isinstance(value, OpResult)
        rule = RULES.get(type(value.op))
        if rule is not None:
            answer = rule(self, value.op)
            return self.opaque(value, answer.reason) if isinstance(answer, Unknown) else answer
        match value.op:
            case scf.ForOp() if self.follow_loops:
                return self._evaluate_for(value.op, value.index, value)
            case scf.IfOp():
                return self._evaluate_if(value.op, value)
            case scf.WhileOp() if self.follow_loops:
                return self._evaluate_passed_on(value.op, value.index, value)
            case _:
                return self.opaque(value, f"the result of {value.op.name}")

    def opaque(self, value: SSAValue, reason: str) -> Answer:
        """Return what is known of a value without formula: a scalar stands for itself, a one-dimensional index tensor
        gathers."""
        element = element_type(value.type)
        if not is_tensor(value.type):
            if isinstance(element, tt.PointerType) and not is_block_pointer(element):
                return self.lanes.scalar(self.algebra.zero, Base(value, element.pointee_type))
            return Unknown(reason)
        if isinstance(element, tt.PointerType):
            return Unknown(reason)
        shape = shape_of(value.type)
        several = [dim for dim, size in enumerate(shape) if size > 1]
        if len(several) == 1:
            return self.lanes.gather(value, shape, several[0])
        if not several:
            return self.lanes.splat(self.lanes.scalar(self.algebra.uniform(value)), shape)
        return Unknown(reason)

    # Merges

    def _evaluate_argument(self, value: BlockArgument) -> Answer:
        op = value.owner.parent_op()
        if self.follow_loops:
            if isinstance(op, scf.ForOp) and value.index > 0:
                return self._evaluate_for(op, value.index - 1, value)
            if isinstance(op, scf.WhileOp):
                if value.owner is op.regions[0].block:
                    return self._evaluate_before(op, value)
                return self._evaluate_passed_on(op, value.index, value)
        return self.opaque(value, "an argument of a block")

    def _evaluate_for(self, op: scf.ForOp, index: int, asked: SSAValue) -> Answer:
        body = op.regions[0].block
        argument, result, following = body.args[index + 1], op.results[index], _yielded(body, index)
        merged = self._merge_loop(op, "for", argument, op.operands[3 + index], following, ("body", "result"))
        if isinstance(merged, Unknown):
            pair = self.opaque(argument, merged.reason), self.opaque(result, merged.reason)
        else:
            pair = merged
        self._set(argument, pair[0])
        self._set(result, pair[1])
        return pair[0] if asked is argument else pair[1]

    def _evaluate_before(self, op: scf.WhileOp, argument: BlockArgument) -> Answer:
        following = _yielded(op.regions[1].block, argument.index)
        merged = self._merge_loop(op, "before", argument, op.operands[argument.index], following, ("before", "before"))
        return self.opaque(argument, merged.reason) if isinstance(merged, Unknown) else merged[0]

    def _merge_loop(
        self,
        op: Operation,
        group: str,
        argument: SSAValue,
        initial_value: SSAValue,
        next_value: SSAValue | None,
        places: tuple[str, str],
    ) -> tuple[State, State] | Unknown:
        """The states of a carried value inside the loop and after it: a fixed point, found by widening slots."""
        initial = self.state(initial_value)
        if isinstance(initial, Unknown):
            return initial
        if next_value is None or self._nesting >= MAX_NESTING:
            return Unknown("a loop-carried value that can not be followed")
        keys = likely_carried(initial, self.algebra)
        while True:
            slots = {key: Slot(op, group, key) for key in keys}
            inside = with_parts(initial, {key: self._phi(slot, places[0]) for key, slot in slots.items()})
            mark = len(self._trail)
            self._set(argument, inside)
            self._nesting += 1
            following = self.state(next_value)
            self._nesting -= 1
            problem = following.reason if isinstance(following, Unknown) else find_mismatch(inside, following)
            if problem is not None or isinstance(following, Unknown):
                self._forget_since(mark)
                return Unknown(f"a loop-carried value that becomes {problem}")
            changed = changed_parts(inside, following) - keys
            if not changed:
                break
            self._forget_since(mark)
            keys |= changed
        before, after = parts_of(initial), parts_of(following)
        for key, slot in slots.items():
            slot.incoming = before[key], after[key]
        outside = with_parts(initial, {key: self._phi(slot, places[1]) for key, slot in slots.items()})
        return inside, outside

    def _phi(self, slot: Slot, place: str) -> Expr:
        return self.algebra.phi(slot, place)

    def _evaluate_if(self, op: scf.IfOp, value: OpResult) -> Answer:
        sources = [_yielded(region.first_block, value.index) for region in op.regions]
        if len(sources) != 2 or sources[0] is None or sources[1] is None:
            return self.opaque(value, "the result of a conditional without else")
        then, other = self.state(sources[0]), self.state(sources[1])
        if isinstance(then, Unknown):
            return self.opaque(value, then.reason)
        if isinstance(other, Unknown):
            return self.opaque(value, other.reason)
        problem = find_mismatch(then, other)
        if problem is not None:
            return self.opaque(value, f"a conditional that chooses between {problem}")
        left, right = parts_of(then), parts_of(other)
        slots = {key: Slot(op, "if", key, (left[key], right[key])) for key in changed_parts(then, other)}
        merged = {key: self._phi(slot, "result") for key, slot in slots.items()}
        return with_parts(without_computed(then), merged)

    def _evaluate_passed_on(self, op: scf.WhileOp, index: int, asked: SSAValue) -> Answer:
        """The value that a while loop's condition hands to the body and to the code after the loop."""
        argument, result = op.regions[1].block.args[index], op.results[index]
        passed = _passed_on(op, index)
        state = Unknown("a value of a while loop") if passed is None else self.state(passed)
        if isinstance(state, Unknown) or not self._gathers_visible(state, op):
            reason = state.reason if isinstance(state, Unknown) else "a while loop with a part without formula"
            pair = self.opaque(argument, reason), self.opaque(result, reason)
        else:
            slots: dict[PartKey, Slot] = {}
            state = without_computed(state)
            for key, part in parts_of(state).items():
                if not self._is_visible(part, op):
                    slots[key] = Slot(op, "after", key, (part,))
            inside = with_parts(state, {key: self._phi(slot, "after") for key, slot in slots.items()})
            pair = inside, with_parts(state, {key: self._phi(slot, "result") for key, slot in slots.items()})
        self._set(argument, pair[0])
        self._set(result, pair[1])
        return pair[0] if asked is argument else pair[1]

    def _gathers_visible(self, state: State, op: Operation) -> bool:
        entry = self.order.position_of_entry(op)
        if isinstance(state, BlockPointer):
            return True
        return all(self.order.position(g.index) <= entry and self._is_visible(g.scale, op) for g in state.gathers)

    def _is_visible(self, part: Expr | SSAValue, op: Operation) -> bool:
        """Return whether everything that a part depends on is available before `op`."""
        return self.position(part) <= self.order.position_of_entry(op)

    def position(self, part: Expr | SSAValue) -> int:
        """Return when everything that a part depends on is available."""
        match part:
            case SSAValue():
                return self.order.position(part)
            case Symbol(value=value) | Uniform(value=value):
                return self.order.position(value)
            case Phi(slot=slot, place=place):
                return self.position_of_phi(slot, place)
            case Sum(terms=terms):
                return max(self.position(term) for term, _ in terms)
            case Product(lhs=lhs, rhs=rhs):
                return max(self.position(lhs), self.position(rhs))
            case Choice(condition=condition, if_true=if_true, if_false=if_false):
                return max(self.order.position(condition), self.position(if_true), self.position(if_false))
            case _:
                return 0

    def position_of_phi(self, slot: Slot, place: str) -> int:
        """Return when a slot is available at a place."""
        if place == "result":
            return self.order.position_after(slot.op)
        region = slot.op.regions[1 if place == "after" else 0]
        return self.order.position_of_start(region.block)


def _yielded(block: Block | None, index: int) -> SSAValue | None:
    last = block.last_op if block is not None else None
    return last.operands[index] if isinstance(last, scf.YieldOp) and index < len(last.operands) else None


def _passed_on(op: scf.WhileOp, index: int) -> SSAValue | None:
    last = op.regions[0].block.last_op
    return last.operands[1 + index] if isinstance(last, scf.ConditionOp) and index + 1 < len(last.operands) else None


def is_scalar_integer(type: Attribute) -> bool:
    """Return whether a value is one integer or index."""
    return isinstance(type, IntegerType | IndexType)


def carries_addresses(type: Attribute) -> bool:
    """Return whether a value is an integer, a pointer or a block pointer, or a tensor of integers or pointers."""
    return isinstance(element_type(type), IntegerType | IndexType | tt.PointerType)
