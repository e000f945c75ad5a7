"""Numbers that a program computes from its id, its arguments and the counter of a loop, by arithmetic alone: what they
are one program later, and whether two loops compute the same.

    %row = muli %pid_x, %stride;  for %i { %at = addi %row, %i }   ->   %next = addi (muli (%pid_x + 1), %stride), %i
"""

from __future__ import annotations

from collections.abc import Hashable

from xdsl.dialects.builtin import IndexType, IntegerType, i32
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects import arith
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.support.cpu_costs import MOST_REPEATED_OPS

_DIVISIONS = (arith.DivSIOp, arith.DivUIOp, arith.RemSIOp, arith.RemUIOp)


class ProgramExpressions:
    """Of the function that an emitter writes. Without `program_id` it has no programs that follow each other."""

    def __init__(self, emitter: LoopEmitter, program_id: SSAValue | None):
        self._emitter = emitter
        self.program_id = program_id

    def ops_of(self, value: SSAValue, loop: Block | None = None) -> list[Operation] | None:
        """The ops that compute a value from arguments and constants, and from the counter of the `loop` with that body,
        in order; None if they are many or not arithmetic."""
        entry = self._emitter.entry
        ops: dict[Operation, None] = {}
        pending = [value]
        while pending:
            current = pending.pop()
            if isinstance(current, BlockArgument):
                if not (is_argument_of(entry, current) or is_counter_of(loop, current)):
                    return None
                continue
            op = current.owner
            assert isinstance(op, Operation)
            if isinstance(op, arith.ConstantOp) or op in ops:
                continue
            if not is_arithmetic(op) or op.parent_block() not in (entry, loop) or len(ops) == MOST_REPEATED_OPS:
                return None
            ops[op] = None
            pending.extend(op.operands)
        found: list[Operation] = []
        _in_order(value, ops, found, set())
        return found

    def copy(self, value: Index) -> Index | None:
        """The same expression at the cursor, which may be before where `value` is defined."""
        if isinstance(value, int):
            return value
        ops = self.ops_of(value)
        if ops is None:
            return None
        copies: dict[SSAValue, SSAValue] = {}
        for op in ops:
            self._emitter.insert(copy := op.clone(value_mapper=copies))
            copies.update(zip(op.results, copy.results, strict=True))
        return copies.get(value, value)

    def in_next_program(self, value: SSAValue, loop: Block | None = None) -> SSAValue | None:
        """The value that an expression of the program id has one program later, at the cursor; None where it stays the
        same."""
        assert self.program_id is not None
        ops = self.ops_of(value, loop)
        if ops is None:
            return None
        one = self._emitter.constant(1, i32)
        changed: dict[SSAValue, SSAValue] = {}
        for op in ops:
            operands = [changed.get(operand, operand) for operand in op.operands]
            if self.program_id in operands:
                following = self._emitter.arith(arith.AddiOp, self.program_id, one)
                operands = [following if operand is self.program_id else operand for operand in operands]
            if operands == list(op.operands):
                continue
            if isinstance(op, _DIVISIONS) and operands[1] is not op.operands[1]:
                return None
            result_types = [result.type for result in op.results]
            copy = self._emitter.insert(
                type(op).create(operands=operands, result_types=result_types, properties=dict(op.properties))
            )
            changed.update(zip(op.results, copy.results, strict=True))
        return changed.get(value)

    def key(self, value: SSAValue, loop: Block) -> Hashable | None:
        """Return what two loops have in common for values that are equal wherever their counters are."""
        ops = self.ops_of(value, loop)
        if ops is None:
            return None
        keys: dict[SSAValue, Hashable] = {}
        for op in ops:
            operands = tuple(_key_of_operand(operand, loop, keys) for operand in op.operands)
            properties = tuple(sorted(op.properties.items()))
            keys.update((result, (op.name, properties, result.type, operands)) for result in op.results)
        return _key_of_operand(value, loop, keys)


def is_argument_of(entry: Block, value: BlockArgument) -> bool:
    """Return whether a value is an integer argument of the function."""
    return value.block is entry and isinstance(value.type, IntegerType)


def is_counter_of(loop: Block | None, value: SSAValue) -> bool:
    """Return whether a value is the counter of the loop with that body."""
    return loop is not None and value is loop.args[0] and isinstance(value.type, IntegerType | IndexType)


def _key_of_operand(value: SSAValue, loop: Block, keys: dict[SSAValue, Hashable]) -> Hashable:
    if is_counter_of(loop, value):
        return "counter"
    if isinstance(value.owner, arith.ConstantOp):
        return value.owner.value
    return keys.get(value, value)


def _in_order(value: SSAValue, ops: dict[Operation, None], found: list[Operation], done: set[Operation]) -> None:
    op = value.owner
    if not isinstance(op, Operation) or op not in ops or op in done:
        return
    done.add(op)
    for operand in op.operands:
        _in_order(operand, ops, found, done)
    found.append(op)
