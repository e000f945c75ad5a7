"""tt.reduce, by the plans of `layouts.reduction`: in a thread, between lanes, between warps."""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.analysis.scratch import operand_offsets, reduction_plans
from tilewright.dialects import tt
from tilewright.layouts.convert import ConversionPlan
from tilewright.layouts.reduction import ReductionPlan, WarpReduction
from tilewright.layouts.swizzle import SharedMemoryConversion
from tilewright.lowering.ttg_to_llvm.combining import Combiner, Operands, extension_for, redux_operation
from tilewright.lowering.ttg_to_llvm.conversion import convert_registers, exchange
from tilewright.lowering.ttg_to_llvm.function_lowering import FunctionLowering, allocation_offset, lowers
from tilewright.lowering.ttg_to_llvm.types import ElementType, UnsupportedTypeError
from tilewright.lowering.ttg_to_llvm.words import shuffle_xor

FULL_WARP_MASKS = (16, 8, 4, 2, 1)
MIN_REDUX_CAPABILITY = 80

Tensors = list[list[str]]
"""Registers per operand."""


@lowers(tt.ReduceOp)
def lower_reduce(op: tt.ReduceOp, fn: FunctionLowering) -> None:
    try:
        plans = reduction_plans(op)
    except ValueError as error:
        raise UnsupportedTypeError(str(error)) from error
    elements = [fn.element(source) for source in op.srcs]
    tensors = [list(fn.registers(source)) for source in op.srcs]
    scratches = scratch_pointers(fn, op, [plan.num_bytes for plan in plans])
    reducer = _Reducer(fn, op, elements, scratches)
    for result, registers in zip(op.result, reducer.run(plans, tensors), strict=True):
        fn.set_like(result, registers)


def scratch_pointers(fn: FunctionLowering, op: tt.ReduceOp | tt.ScanOp, sizes: Sequence[int]) -> list[str]:
    """Where the scratch of each operand begins; nothing where none is needed."""
    if not any(sizes):
        return [""] * len(sizes)
    start = allocation_offset(op)
    return [fn.shared_at(start + offset) for offset in operand_offsets(sizes)[:-1]]


class _Reducer:
    """One reduction: its region, its operands' elements and their scratch."""

    def __init__(
        self, fn: FunctionLowering, op: tt.ReduceOp, elements: Sequence[ElementType], scratches: Sequence[str]
    ) -> None:
        self.fn = fn
        self.elements = elements
        self.scratches = scratches
        self.combiner = Combiner(fn, op, op.combine_op, elements)
        self.redux = redux_operation(op.combine_op, elements)
        self._uses_scratch = False

    def run(self, plans: Sequence[ReductionPlan], tensors: Tensors) -> Tensors:
        first = plans[0]
        if first.prepare is not None:
            tensors = self._convert([plan.prepare for plan in plans], tensors)
        tensors = self._in_warps(first.first, tensors)
        if first.exchange is not None and first.second is not None:
            exchanges = [plan.exchange for plan in plans if plan.exchange is not None]
            self._enter_scratch()
            tensors = exchange(self.fn, exchanges, self.elements, tensors, self.scratches)
            tensors = self._in_warps(first.second, tensors)
        return self._convert([plan.finish for plan in plans], tensors)

    def _convert(self, plans: Sequence[ConversionPlan | None], tensors: Tensors) -> Tensors:
        results: Tensors = []
        for plan, element, registers, scratch in zip(plans, self.elements, tensors, self.scratches, strict=True):
            assert plan is not None
            if isinstance(plan, SharedMemoryConversion):
                self._enter_scratch()
            results.append(convert_registers(self.fn, plan, element, registers, scratch))
        return results

    def _enter_scratch(self) -> None:
        """What an earlier step wrote there must have been read by all."""
        if self._uses_scratch:
            self.fn.barrier()
        self._uses_scratch = True

    def _in_warps(self, step: WarpReduction, tensors: Tensors) -> Tensors:
        rows: list[Operands] = list(zip(*tensors, strict=True))
        partials = [self.combiner.combine_all([rows[index] for index in group]) for group in step.groups]
        if step.lane_masks == FULL_WARP_MASKS and self.redux and self.fn.facts.capability >= MIN_REDUX_CAPABILITY:
            partials = [(self._redux(self.redux, operand),) for (operand,) in partials]
        else:
            for mask in step.lane_masks:
                partials = self._between_lanes(partials, mask)
        return [list(column) for column in zip(*partials, strict=True)]

    def _redux(self, operation: str, operand: str) -> str:
        text, type = self.fn.text, self.elements[0].text
        if type == "i32":
            return self.fn.leaf.redux(text, operation, operand)
        wide = text.value(f"{extension_for(operation)} {type} {operand} to i32")
        return text.value(f"trunc i32 {self.fn.leaf.redux(text, operation, wide)} to {type}")

    def _between_lanes(self, partials: Sequence[Operands], mask: int) -> list[Operands]:
        columns = [list(column) for column in zip(*partials, strict=True)]
        received = [shuffle_xor(self.fn, e, column, mask) for e, column in zip(self.elements, columns, strict=True)]
        others: list[Operands] = list(zip(*received, strict=True))
        return [self.combiner.combine(mine, theirs) for mine, theirs in zip(partials, others, strict=True)]
