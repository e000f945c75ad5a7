"""Matmuls as calls of register-tiled micro-kernels.

    %d = linalg.matmul ins(%a, %b) outs(%c) : 64x32 * 32x64
      ->  for n = 0 to 64 step 32 { for m = 0 to 64 step 8 {
            call @tw_mk_f32_f32_8x32(a + m * lda, lda, 1, b + n, ldb, c + m * 64 + n, 64, 32, 8, 32) } }

A micro-kernel adds an MR x NR block to C, its operands are byte addresses and strides in elements:

    @tw_mk_<operand>_<accumulator>_<MR>x<NR>(a, a_row_stride, a_k_stride, b, b_row_stride, c, c_row_stride,
                                             k_count, m_count, n_count)

Operands that are plain views of memory are read in place. A padded view is read in place if a run-time check finds
it full, else copied into the arena with its padding, so the result is that of the whole matmul. If both operands are
padded with zeros from the same k on, the sum stops there: what is left out is 0 * 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import arith, linalg, linalg_ext
from tilewright.lowering.linalg_to_loops.dot_operands import MatrixAddress, in_place, operand_address, right_operand
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.external_calls import call_microkernel
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_structured import lower_generic
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, Splat, StridedView
from tilewright.lowering.microkernel_attributes import find_routine
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.index_proofs import is_same

Operands: TypeAlias = tuple[MatrixAddress, MatrixAddress, MatrixAddress]
"""A, B or its panels, and C."""
Bases: TypeAlias = tuple[SSAValue, SSAValue, SSAValue]
"""Where the operands of one batch start."""


@lowers(linalg.MatmulOp, linalg.BatchMatmulOp, linalg_ext.PackedMatmulOp)
def lower_matmul(
    op: linalg.MatmulOp | linalg.BatchMatmulOp | linalg_ext.PackedMatmulOp, lowering: FunctionLowering
) -> None:
    """See the module's docstring."""
    lhs, rhs, init = op.operands
    result, kernel, panels = op.results[0], find_routine(op), lowering.values.panels.get(rhs)
    if not isinstance(kernel, MatmulKernel):
        if isinstance(op, linalg_ext.PackedMatmulOp):
            lowering.fail(op, "a matmul by panels without a micro-kernel")
            return
        lower_generic(op, lowering)
        return
    kernel = replace(kernel, from_zero=starts_from_zero(lowering.source(init)))
    storage = lowering.storage
    target = storage.destination(op, result) if kernel.from_zero else storage.updated(op, init, result)
    a, shape = _unwritten(lowering, lhs, target), tensor_shape(lhs)
    b = None if panels is not None else _unwritten(lowering, rhs, target)
    batch = len(shape) - 2
    depth = shape[-1] if b is None else common_depth(a, b, batch, shape[-1])
    a_address = operand_address(lowering, a, shape, k_dim=batch + 1, k_count=depth)
    if panels is not None:
        b_address = MatrixAddress(panels, (0, 0), 1)
    else:
        assert b is not None
        b_address, rows_adjoin = right_operand(lowering, b, tensor_shape(rhs), depth)
        kernel = replace(kernel, transposed_b=rows_adjoin)
    counts = (shape[0] if batch else 1, shape[batch], tensor_shape(result)[-1])
    operands = (a_address, b_address, in_place(lowering.emitter, target))
    MatmulCalls(lowering.emitter, kernel, operands, depth).emit(counts)
    lowering.define(op, target)


def _unwritten(lowering: FunctionLowering, operand: SSAValue, target: StridedView) -> Source:
    """Return how to read an operand while `target` is written: the old accumulator itself has to survive the first
    block that is written."""
    source = lowering.source(operand)
    if _flat(source) is not target.flat:
        return source
    buffer = lowering.memory.new_tile(operand)
    lowering.copy(source, buffer)
    return buffer


def starts_from_zero(source: Source) -> bool:
    """Return whether what a sum starts from is zero everywhere."""
    return isinstance(source, Splat) and _is_zero(source.value)


def _flat(source: Source) -> SSAValue | None:
    view = source.inner if isinstance(source, PaddedView) else source
    return view.flat if isinstance(view, StridedView) else None


def common_depth(a: Source, b: Source, batch: int, depth: int) -> Index:
    """Return how many terms the sums have, if both operands are padded with zeros from the same index on."""
    if not isinstance(a, PaddedView) or not isinstance(b, PaddedView) or not (_is_zero(a.fill) and _is_zero(b.fill)):
        return depth
    first, second = a.high[batch + 1], b.high[batch]
    if a.low[batch + 1] == 0 and b.low[batch] == 0 and is_same(first, second):
        return first
    return depth


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp):
        return False
    number = getattr(owner.value, "value", None)
    return number is not None and number.data == 0


@dataclass(frozen=True, slots=True)
class MatmulCalls:
    """Calls of a micro-kernel for all blocks of C, at the cursor."""

    emitter: LoopEmitter
    kernel: MatmulKernel
    operands: Operands
    depth: Index
    """Terms of each sum."""
    output: MatrixAddress | None = None
    """A separate result."""

    def emit(self, counts: Sequence[int], needed: tuple[Index, Index] | None = None) -> None:
        """Emit loops over batches, columns and rows; rows inside, so that the panel of B stays in the L1 cache.

        `needed`: how many rows and columns are read; less than all of them only where C is one block, as where the
        result has an `output` of its own.
        """
        batches, rows, columns = counts
        kernel, (a, b, c) = self.kernel, self.operands

        def blocks(base: Bases) -> None:
            _loop(self.emitter, columns, kernel.columns, lambda n: _loop(
                self.emitter, rows, kernel.rows, lambda m: self._call(base, m, n, self._block(counts, m, n, needed))
            ))  # fmt: skip

        def of_batch(index: Index) -> None:
            moved = [_moved(self.emitter, item, item.address, index, item.strides[0]) for item in self.operands]
            blocks((moved[0], moved[1], moved[2]))

        if len(a.strides) == 3:
            _loop(self.emitter, batches, 1, of_batch)
        else:
            blocks((a.address, b.address, c.address))

    def _block(
        self, counts: Sequence[int], m: Index, n: Index, needed: tuple[Index, Index] | None
    ) -> tuple[Index, Index]:
        """The rows and columns of the block at a row and a column."""
        (_, rows, columns), kernel = counts, self.kernel
        block = (_count(self.emitter, rows, m, kernel.rows), _count(self.emitter, columns, n, kernel.columns))
        return (needed or (rows, columns)) if rows <= kernel.rows and columns <= kernel.columns else block

    def _call(self, base: Bases, m: Index, n: Index, block: tuple[Index, Index]) -> None:
        emitter, kernel, output, (a, b, c) = self.emitter, self.kernel, self.output, self.operands
        a_row, a_k = a.strides[-2:]
        a_address = _moved(emitter, a, base[0], m, a_row)
        b_address = _moved(emitter, b, base[1], n, b.strides[-1])
        c_address = _moved(emitter, c, _moved(emitter, c, base[2], m, c.strides[-2]), n, 1)
        values = (
            a_address, a_row, a_k, b_address, b.strides[-1 if kernel.transposed_b else -2], c_address, c.strides[-2],
            self.depth, *block, *(() if b.packed_from is None else (b.packed_from,)),
            *((output.address, output.strides[0]) if output is not None else ()),
        )  # fmt: skip
        call_microkernel(emitter, kernel, values)


def _loop(emitter: LoopEmitter, extent: int, step: int, body: Callable[[Index], None]) -> None:
    if extent <= step:
        body(0)
        return
    _, block = emitter.open_for(0, extent, step)
    with emitter.at(block):
        body(block.args[0])
        emitter.yield_()


def _moved(emitter: LoopEmitter, item: MatrixAddress, address: SSAValue, steps: Index, stride: Index) -> SSAValue:
    distance = emitter.mul(emitter.mul(steps, stride), item.element_bytes)
    return emitter.ssa(emitter.add(address, distance))


def _count(emitter: LoopEmitter, extent: int, start: Index, step: int) -> Index:
    if extent % step == 0:
        return step
    return emitter.min(step, emitter.sub(extent, start))
