"""`split-long-functions`: parts of a kernel with hundreds of loops and calls become functions of their own."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from itertools import count

from xdsl.dialects.builtin import MemRefType, ModuleOp, UnitAttr, UnrankedMemRefType
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, cf, func, memref, scf
from tilewright.dialects.coroutines import COROUTINE
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import arguments_in
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.common.outline_equal_loops import is_made_again

STAYING = (
    cf.AssertOp,
    func.ReturnOp,
    memref.AtomicRMWOp,
    memref.GenericAtomicRMWOp,
    scf.WhileOp,
)
"""Ops that code generation ties to the function they are in: its exit, what it knows of waiting."""

MEMREFS = (MemRefType, UnrankedMemRefType)


@register_pass
@dataclass
class SplitLongFunctionsPass(Pass):
    """Runs of loops and calls, and what only these read, become private functions.

    ```mlir
    %a = arith.minsi %n, %c64 : index
    scf.for %i = %c0 to %a step %c8 { ... memref.store %x, %p[%i] ... }
    ... a thousand more
    // becomes
    func.call @kernel_part_0(%n, %p) : (index, memref<256xf32>) -> ()
    func.call @kernel_part_1(%n, %p) : (index, memref<256xf32>) -> ()
    ...
    func.func private @kernel_part_0(%0: index, %1: memref<256xf32>) attributes {no_inline} {
      %c0 = arith.constant 0 : index
      ...
    ```
    What LLVM does for values that live through many blocks takes the square of a function's length: of 20,000
    statements two thirds of all time. Constants and what costs nothing is in each function that reads it; scalars that
    several parts read stay before them; other results of a part, none of which is a memref, its function returns.
    """

    name = "split-long-functions"

    most: int = 128
    """Loops, branches and calls of a function that stays whole."""

    part: int = 48
    """Loops, branches and calls of a part."""

    results: int = 16
    """Most results of a part."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        functions = {op.sym_name.data: op for op in module.ops if isinstance(op, func.FuncOp)}
        plain = {name for name, op in functions.items() if op.body.blocks.first and COROUTINE not in op.attributes}
        for name in [name for name in functions if name in plain]:
            body = functions[name].body
            if len(body.blocks) == 1 and sum(map(is_step, body.block.ops)) > self.most:
                names = (part for n in count() if (part := f"{name}_part_{n}") not in functions)
                for ops in self._runs(body.block, plain):
                    self._move(module, ops, names)

    def _runs(self, block: Block, plain: set[str]) -> list[list[Operation]]:
        """Runs of ops that may move, with as many steps as a part has, or half of that where something stays."""
        runs: list[list[Operation]] = []
        run: list[Operation] = []
        steps = 0
        for op in block.ops:
            stays = not may_move(op, plain)
            if stays or steps == self.part:
                if 2 * steps >= self.part:
                    runs.append(run)
                run, steps = [], 0
            if not stays:
                run.append(op)
                steps += is_step(op)
        return runs

    def _move(self, module: ModuleOp, ops: list[Operation], names: Iterator[str]) -> None:
        """Make a function of a part, and a call in its place, unless its results are too many, or memrefs."""
        following = ops[-1].next_op
        moved = choose_moved(ops)
        results = [result for op in moved for result in op.results if _readers_outside(result, moved)]
        if len(results) > self.results or any(isinstance(result.type, MEMREFS) for result in results):
            return
        assert following is not None and following.parent is not None
        block, kinds = following.parent, [result.type for result in results]
        outside = [use for result in results for use in result.uses if _in_block(use.operation, block) not in moved]
        function, operands = make_function(next(names), list(moved), results)
        call = func.CallOp(function.sym_name.data, operands, kinds)
        call.location = function.location
        block.insert_op_before(call, following)
        indices: dict[SSAValue, int] = {result: index for index, result in enumerate(results)}
        for use in outside:
            op = use.operation
            op.operands[use.index] = call.results[indices[op.operands[use.index]]]
        for old, new in zip(results, call.results, strict=True):
            new.name_hint = old.name_hint
        module.body.block.add_op(function)


def is_step(op: Operation) -> bool:
    """Return whether an op is a loop, a branch or a call."""
    return bool(op.regions) or isinstance(op, func.CallOp)


def may_move(op: Operation, plain: set[str]) -> bool:
    """Return whether an op may be in another function: with what it holds, it calls none but those in `plain`."""
    return not any(
        isinstance(inner, STAYING) or (isinstance(inner, func.CallOp) and inner.callee.string_value() not in plain)
        for inner in ops_within(op)
    )


def choose_moved(ops: Sequence[Operation]) -> dict[Operation, None]:
    """The ops of a part that its function takes: all but numbers and buffers that others read, and what these are
    made from.
    """
    free: set[Operation] = set()
    """What can be made before all that is no number and no buffer."""
    inside = set(ops)
    for op in ops:
        if is_cheap(op) and all(value.owner in free or value.owner not in inside for value in op.operands):
            free.add(op)
    moved = dict.fromkeys(reversed(ops))
    for op in reversed(ops):
        if op in free and any(_readers_outside(result, moved) for result in op.results):
            del moved[op]
    return dict.fromkeys(reversed(moved))


def is_cheap(op: Operation) -> bool:
    """Return whether an op makes a number or a buffer, and may be before what it is behind."""
    return isinstance(op, memref.AllocaOp) or (not op.regions and is_pure(op))


def _readers_outside(value: SSAValue, moved: Container[Operation]) -> bool:
    """Return whether an op of the value's block that is not moved reads a value, or holds one that does."""
    block = value.owner.parent if isinstance(value.owner, Operation) else value.owner
    assert block is not None
    return any(_in_block(use.operation, block) not in moved for use in value.uses)


def _in_block(op: Operation, block: Block) -> Operation:
    """The op of a block that an op is, or is inside of."""
    while op.parent is not block:
        outer = op.parent_op()
        assert outer is not None
        op = outer
    return op


def make_function(
    name: str, ops: Sequence[Operation], results: Sequence[SSAValue]
) -> tuple[func.FuncOp, list[SSAValue]]:
    """Move ops of a block into a private function; also what calls of it pass."""
    block = Block()
    own = {value for op in ops for inner in ops_within(op) for value in (*inner.results, *arguments_in(inner))}
    known: dict[SSAValue, SSAValue] = {}
    passed: list[SSAValue] = []

    def bring(value: SSAValue) -> SSAValue:
        """A value from outside, inside of the function."""
        found = known.get(value)
        if found is not None:
            return found
        op = value.owner
        if isinstance(op, Operation) and (isinstance(op, arith.ConstantOp) or is_made_again(value)):
            again = op.clone()
            for position, operand in enumerate(op.operands):
                again.operands[position] = bring(operand)
            block.add_op(again)
            found = again.results[0]
        else:
            passed.append(value)
            found = block.insert_arg(value.type, len(block.args))
        found.name_hint = value.name_hint
        known[value] = found
        return found

    for op in ops:
        for inner in ops_within(op):
            for position, operand in enumerate(inner.operands):
                if operand not in own:
                    inner.operands[position] = bring(operand)
    for op in ops:
        op.detach()
        block.add_op(op)
    block.add_op(func.ReturnOp(*results))
    types = [argument.type for argument in block.args], [result.type for result in results]
    function = func.FuncOp(name, types, Region(block), "private")
    function.properties["no_inline"] = UnitAttr()
    function.location = ops[0].location
    return function, passed
