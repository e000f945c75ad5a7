"""tt.reduce, by the plans of `layouts.reduction`: in a thread, between lanes, between warps."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.analysis.scratch import reduction_plans
from tilewright.dialects import tt
from tilewright.layouts.reduction import ReductionPlan, WarpReduction
from tilewright.lowering.ttg_to_llvm.combining import Combiner, Operands, extension_for, redux_operation
from tilewright.lowering.ttg_to_llvm.conversion import Scratch, Tensors
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.words import shuffle_xor
from tilewright.lowering.unsupported import UnsupportedError

FULL_WARP_MASKS = (16, 8, 4, 2, 1)
MIN_REDUX_CAPABILITY = 80


@lowers(tt.ReduceOp)
def lower_reduce(op: tt.ReduceOp, fn: GpuFunctionLowering) -> None:
    try:
        plans = reduction_plans(op)
    except ValueError as error:
        raise UnsupportedError(str(error)) from error
    elements = [fn.element(source) for source in op.srcs]
    tensors = [list(fn.registers(source)) for source in op.srcs]
    scratch = Scratch(fn, op, elements, [plan.num_bytes for plan in plans])
    reducer = _Reducer(fn, op, elements, scratch)
    for result, registers in zip(op.result, reducer.run(plans, tensors), strict=True):
        fn.set_like(result, registers)


def _may_use_redux(fn: GpuFunctionLowering, op: tt.ReduceOp) -> bool:
    """Return whether `redux.sync` exists and is safe: in code that every thread of the kernel runs once.

    ptxas 12.8 and 12.9 (of Triton 3.6 and 3.9) turn a uniform branch around `redux.sync` into a predicate that they
    compute after the instruction that it guards, seen in their SASS and on an H100; `bar.warp.sync` before it changes
    nothing. ptxas 13.4 computes it first.
    """
    if fn.facts.capability < MIN_REDUX_CAPABILITY or not fn.is_kernel or fn.workers is not None:
        return False
    block = op.parent_block()
    region = block and block.parent_region()
    return region is not None and isinstance(region.parent_op(), tt.FuncOp) and region.first_block is block


class _Reducer:
    """One reduction: its region, its operands' elements and their scratch."""

    def __init__(
        self, fn: GpuFunctionLowering, op: tt.ReduceOp, elements: Sequence[ElementType], scratch: Scratch
    ) -> None:
        self.fn = fn
        self.elements = elements
        self.scratch = scratch
        self.combiner = Combiner(fn, op, op.combine_op, elements)
        self.redux = redux_operation(op.combine_op, elements) if _may_use_redux(fn, op) else None

    def run(self, plans: Sequence[ReductionPlan], tensors: Tensors) -> Tensors:
        first = plans[0]
        if first.prepare is not None:
            tensors = self.scratch.convert([plan.prepare for plan in plans], tensors)
        tensors = self._in_warps(first.first, tensors)
        if first.exchange is not None and first.second is not None:
            exchanges = [plan.exchange for plan in plans if plan.exchange is not None]
            tensors = self.scratch.exchange(exchanges, tensors)
            tensors = self._in_warps(first.second, tensors)
        return self.scratch.convert([plan.finish for plan in plans], tensors)

    def _in_warps(self, step: WarpReduction, tensors: Tensors) -> Tensors:
        rows: list[Operands] = list(zip(*tensors, strict=True))
        partials = [self.combiner.combine_all([rows[index] for index in group]) for group in step.groups]
        if step.lane_masks == FULL_WARP_MASKS and self.redux:
            partials = [(self._redux(self.redux, operand),) for (operand,) in partials]
        else:
            for mask in step.lane_masks:
                partials = self._between_lanes(partials, mask)
        return [list(column) for column in zip(*partials, strict=True)]

    def _redux(self, operation: str, operand: str) -> str:
        text, type = self.fn.text, self.elements[0].text
        if type == "i32":
            return self.fn.emitter.redux(text, operation, operand)
        wide = text.cast(extension_for(operation), type, operand, "i32")
        return text.cast("trunc", "i32", self.fn.emitter.redux(text, operation, wide), type)

    def _between_lanes(self, partials: Sequence[Operands], mask: int) -> list[Operands]:
        columns = [list(column) for column in zip(*partials, strict=True)]
        received = [shuffle_xor(self.fn, e, column, mask) for e, column in zip(self.elements, columns, strict=True)]
        others: list[Operands] = list(zip(*received, strict=True))
        return [self.combiner.combine(mine, theirs) for mine, theirs in zip(partials, others, strict=True)]
