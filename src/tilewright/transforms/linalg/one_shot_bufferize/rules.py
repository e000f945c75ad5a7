"""What rules of the bufferisation work on: the function, its buffers, and a table from op class to rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, func
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import INDEX, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.diagnostics import op_error
from tilewright.ir.dominance import DominatorTree
from tilewright.ir.lowerings import Lowerings
from tilewright.transforms.linalg.one_shot_bufferize.buffers import PASS_NAME, Buffers


class Bufferizer:
    """The bufferisation of one function."""

    def __init__(self, function: func.FuncOp, elementwise: Callable[[Bufferizer, Operation], None]) -> None:
        entry = function.body.blocks.first
        assert entry is not None
        self.function = function
        self.builder = OpBuilder.at_start(entry)
        self.buffers = Buffers(function, self.builder)
        self._elementwise = elementwise
        self._dead: list[Operation] = []

    def run(self) -> None:
        """Bufferise the body in place."""
        self.region(self.function.body)
        for op in reversed(self._dead):
            op.detach()
            op.erase(safe_erase=False)

    def region(self, region: Region) -> None:
        """Bufferise the blocks of a region, dominators first, and drop their tensor arguments."""
        entry = region.blocks.first
        if entry is None:
            return
        order = [entry] if entry.next_block is None else DominatorTree(region).order
        unreachable = [block for block in region.blocks if block not in order]
        for block in order[1:]:
            for argument in block.args:
                if is_tensor(argument.type):
                    self.buffers.of(argument)
        for block in (*order, *unreachable):
            self.block(block)
        for block in (*order[1:], *unreachable):
            for argument in reversed(block.args):
                if is_tensor(argument.type):
                    block.erase_arg(argument, safe_erase=False)

    def block(self, block: Block) -> None:
        """Bufferise the ops of a block."""
        for op in list(block.ops):
            self._op(op)

    def _op(self, op: Operation) -> None:
        self.move_before(op)
        rule = RULES.get(type(op))
        if rule is not None:
            rule(op, self)
        elif any(is_tensor(value.type) for value in (*op.operands, *op.results)):
            if not op.has_trait(ElementwiseMappable):
                self.fail(op, "has no form on memrefs")
            self._elementwise(self, op)
        else:
            for region in op.regions:
                self.region(region)

    # -- what rules do ----------------------------------------------------------------------------------------------

    def move_before(self, op: Operation) -> None:
        """Insert before `op` from here on, at its location."""
        self.builder.move_before(op)
        self.builder.location = op.location

    def index(self, value: int | SSAValue) -> SSAValue:
        """An index as a value."""
        if isinstance(value, SSAValue):
            return value
        return self.builder.result(arith.ConstantOp(IntegerAttr(value, INDEX)))

    def retire(self, op: Operation) -> None:
        """An op whose results are in buffers goes away, once nothing refers to them."""
        self._dead.append(op)

    def replace(self, op: Operation, values: Sequence[SSAValue]) -> None:
        """An op whose results are no tensors is replaced by values."""
        for result, value in zip(op.results, values, strict=True):
            result.replace_all_uses_with(value)
        self._dead.append(op)

    def rebuild(self, op: Operation, new: Operation, dropped: Sequence[int]) -> None:
        """Insert `new`, which has the results of `op` but for those that are dropped, and retire `op`."""
        new.attributes = dict(op.attributes)
        self.move_before(op)
        self.builder.insert(new)
        kept = [result for position, result in enumerate(op.results) if position not in dropped]
        for result, value in zip(kept, new.results, strict=True):
            result.replace_all_uses_with(value)
        self._dead.append(op)

    def fail(self, op: Operation, reason: str) -> NoReturn:
        """Stop with an error about `op`."""
        raise op_error(op, reason, pass_name=PASS_NAME)


RULES = Lowerings[[Bufferizer], None]()
"""From op class to what bufferises it. An op that a rule has replaced is listed as dead by it."""
lowers = RULES.lowers
