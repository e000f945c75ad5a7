"""Values of a loop's first iteration, computed before the loop, and by how much they change per iteration.

scf.for %i = %lb to %ub step %c64 { %k = arith.index_cast %i; %o = arith.addi %base, %k }
  ->  first(%o) = %base + %lb, change(%o) = 64
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from tilewright.dialects import arith, scf
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.transforms.linalg.index_proofs import fold_index


class NoMatchError(Exception):
    """The code does not match the form that a pass needs; says why not."""


_NOT_LINEAR = "an address in it is not linear in its steps"


class FirstIteration:
    """Values of a loop's first iteration, and by how much they change from one to the next."""

    def __init__(self, emitter: LoopEmitter, loop: scf.ForOp):
        self.emitter = emitter
        self.loop = loop
        self.body = loop.body.block
        self._first: dict[SSAValue, SSAValue] = {self.body.args[0]: loop.lb}
        yield_op = self.body.last_op
        assert yield_op is not None
        self.steps: dict[SSAValue, SSAValue] = {}
        for argument, init, after in zip(self.body.args[1:], loop.iter_args, yield_op.operands, strict=True):
            self._first[argument] = init
            self.steps[argument] = after

    def is_invariant(self, value: SSAValue) -> bool:
        """Return whether a value is defined outside of the loop."""
        owner = value.owner
        op = owner.parent_op() if isinstance(owner, Block) else owner
        return op is None or not self.loop.is_ancestor(op) or (op is self.loop and value.owner is not self.body)

    def first(self, value: Index) -> Index:
        """The value in the first iteration, computed before the loop."""
        if isinstance(value, int) or self.is_invariant(value):
            return value
        if (found := self._first.get(value)) is not None:
            return found
        op = value.owner
        if not isinstance(op, Operation) or not is_arithmetic(op):
            raise NoMatchError(_NOT_LINEAR)
        operands = [self.emitter.ssa(self.first(operand)) for operand in op.operands]
        copy = self.emitter.insert(
            type(op).create(
                operands=operands,
                result_types=[result.type for result in op.results],
                properties=dict(op.properties),
            )
        )
        for result, new in zip(op.results, copy.results, strict=True):
            self._first[result] = new
        return self._first[value]

    def is_loop_invariant(self, value: Index, depth: int = 24) -> bool:
        """Return whether a value is the same in every iteration, wherever it is computed."""
        if isinstance(value, int) or self.is_invariant(value):
            return True
        op = value.owner
        if depth == 0 or not isinstance(op, Operation) or not is_arithmetic(op):
            return False
        return all(self.is_loop_invariant(operand, depth - 1) for operand in op.operands)

    def change(self, value: Index) -> Index:
        """By how much an index grows per iteration."""
        emitter = self.emitter
        if self.is_loop_invariant(value):
            return 0
        assert isinstance(value, SSAValue)
        if value is self.body.args[0]:
            return to_index(self.emitter, self.loop.step)
        if isinstance(value, BlockArgument):
            return self._change_of_argument(value)
        op = value.owner
        match op:
            case arith.AddiOp():
                return emitter.add(self.change(op.lhs), self.change(op.rhs))
            case arith.SubiOp():
                return emitter.sub(self.change(op.lhs), self.change(op.rhs))
            case arith.MuliOp():
                left, right = op.lhs, op.rhs
                if not self.is_loop_invariant(right):
                    left, right = right, left
                if not self.is_loop_invariant(right):
                    raise NoMatchError(_NOT_LINEAR)
                return emitter.mul(self.change(left), to_index(self.emitter, self.first(right)))
            case arith.IndexCastOp() | arith.ExtSIOp():
                return self.change(op.operands[0])
            case _:
                raise NoMatchError(_NOT_LINEAR)

    def _change_of_argument(self, argument: BlockArgument) -> Index:
        after = self.steps.get(argument)
        op = after.owner if after is not None else None
        if not isinstance(op, arith.AddiOp):
            raise NoMatchError(_NOT_LINEAR)
        for own, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if own is argument and self.is_loop_invariant(other):
                return to_index(self.emitter, self.first(other))
        raise NoMatchError(_NOT_LINEAR)


def to_index(emitter: LoopEmitter, value: Index) -> Index:
    """The value as an index: an integer where it is known."""
    value = fold_index(value)
    if isinstance(value, int):
        return value
    return value if isinstance(value.type, IndexType) else emitter.value(arith.IndexCastOp, (value,), INDEX)
