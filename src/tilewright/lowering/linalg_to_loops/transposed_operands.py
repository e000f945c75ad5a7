"""Operands of elementwise nests that are contiguous along the rows of the nest instead of its vectors: square blocks of
them are loaded along the rows and transposed in registers.

dest[i, j] = source[i, j] + 1      source contiguous in i, dest contiguous in j
  ->  for blocks of 8 x 8: 8 vectors loaded along i, 3 rounds of 8 shuffles, 8 times: addf, store along j
"""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.ir.affine import AffineDimExpr

from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.emitter import LoopEmitter
from tilewright.lowering.linalg_to_loops.nest import SEGMENT, Nest, Operand, stride_along
from tilewright.lowering.linalg_to_loops.sources import PaddedView, StridedView, Words, memory_of
from tilewright.lowering.linalg_to_loops.strided_lanes import is_narrow
from tilewright.lowering.linalg_to_loops.transposing_copy import transpose_lanes
from tilewright.support.cpu_costs import BLOCK_SIDES
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.body_cost import ACCESSES
from tilewright.transforms.linalg.index_proofs import constant_of, is_at_most


@dataclass(frozen=True, slots=True)
class TransposedOperand:
    """An operand, what stands for it in the body, and the memory that it is in."""

    argument: SSAValue
    operand: Operand
    view: StridedView

    def is_inside(self, nest: Nest, column: Frame) -> bool:
        """Return whether what one step over lanes reads is all in memory, none of it past the end of a padded view."""
        padded = self.operand.source
        if not isinstance(padded, PaddedView):
            return True
        for expr, low, high in zip(self.operand.access, padded.low, padded.high, strict=True):
            assert isinstance(expr, AffineDimExpr)
            unmasked = column.is_unmasked and expr.position == nest.schedule.vector_dim
            if low != 0 or not (unmasked or is_at_most(nest.bounds[expr.position], high)):
                return False
        return True

    def load_block(self, emitter: LoopEmitter, nest: Nest, frames: list[Frame]) -> list[SSAValue]:
        """The lanes of `nest.schedule.lanes` rows, of which `frames` is the first, at the cursor."""
        *outer, column = frames
        loaded = list[SSAValue]()
        for lane in range(nest.schedule.lanes):
            here = Frame(column.cursor, column.dim, emitter.add(column.induction, lane))
            offset = BodyValues(emitter, nest, [*outer, here]).linear_index(self.view, self.operand.access)
            loaded.append(emitter.vector_load(self.view.flat, offset, nest.schedule.lanes))
        return transpose_lanes(emitter, loaded)


def find_transposed_operands(nest: Nest) -> list[TransposedOperand]:
    """The operands that a nest had better transpose in registers; none where its loops are not a row of vectors, or
    where blocks could read what was written for another element."""
    if (
        nest.schedule.lanes not in BLOCK_SIDES
        or any(nest.iterators)
        or SEGMENT in nest.schedule.order
        or len(nest.schedule.order) < 2
    ):
        return []
    row, column = nest.schedule.order[-2:]
    if (
        column != nest.schedule.vector_dim
        or nest.extents[row] < nest.schedule.lanes
        or is_at_most(nest.bounds[row], nest.schedule.lanes - 1)
    ):
        return []
    if any(op.regions or isinstance(op, ACCESSES) for op in nest.body.ops):
        return []
    found = list[TransposedOperand]()
    for argument, operand in zip(nest.body.args, nest.inputs, strict=False):
        view = memory_of(operand.source)
        if view is None or isinstance(operand.source, Words) or view.stored_as_byte or not argument.uses.get_length():
            continue
        if _is_transposed(operand, row, column) and _is_only_read(nest, view):
            found.append(TransposedOperand(argument, operand, view))
    return found


def _is_transposed(operand: Operand, row: int, column: int) -> bool:
    dims = [expr.position for expr in operand.access if isinstance(expr, AffineDimExpr)]
    if len(dims) != len(operand.access) or len(set(dims)) != len(dims) or not {row, column} <= set(dims):
        return False
    across = stride_along(operand.source, operand.access, column)
    if constant_of(stride_along(operand.source, operand.access, row)) != 1:
        return False
    return constant_of(across) not in (0, 1) and not is_narrow(across)


def _is_only_read(nest: Nest, view: StridedView) -> bool:
    written = (output.dest for output in nest.outputs if output.dest is not None)
    return all(nest.around.are_apart(view.root, dest.root) for dest in written)
