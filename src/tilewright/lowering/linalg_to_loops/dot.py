"""Matrix products as calls of register-tiled micro-kernels.

    %d = linalg.matmul ins(%a, %b) outs(%c) : 64x32 * 32x64
      ->  for n = 0 to 64 step 32 { for m = 0 to 64 step 8 {
            call @tw_mk_f32_f32_8x32(a + m * lda, lda, 1, b + n, ldb, c + m * 64 + n, 64, 32, 8, 32) } }

A micro-kernel adds an MR x NR block to C, its operands are byte addresses and strides in elements:

    @tw_mk_<operand>_<accumulator>_<MR>x<NR>(a, a_row_stride, a_k_stride, b, b_row_stride, c, c_row_stride,
                                             k_count, m_count, n_count)

Operands that are plain windows of memory are read in place. A box is read in place when the program finds it full
when it runs, else copied into the arena with its padding, so the result is that of the whole product. Where both
operands are padded with zeros past the same k, the sum stops there: what is left out is 0 * 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeAlias

from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import MatmulKernel
from tilewright.dialects import arith, linalg, linalg_ext
from tilewright.dialects.types import element_type
from tilewright.lowering.linalg_to_loops.dot_operands import MatrixAddress, in_place, operand_address, right_operand
from tilewright.lowering.linalg_to_loops.emitter import Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.external_calls import call_microkernel
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_structured import lower_generic
from tilewright.lowering.linalg_to_loops.provable import is_same
from tilewright.lowering.linalg_to_loops.sources import Box, Source, Uniform, Window
from tilewright.lowering.microkernel_attributes import find_routine

Operands: TypeAlias = tuple[MatrixAddress, MatrixAddress, MatrixAddress]
"""A, B or its panels, and C."""


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
    emit_calls(lowering.emitter, kernel, (a_address, b_address, in_place(lowering.emitter, target)), counts, depth)
    lowering.define(op, target)


def _unwritten(lowering: FunctionLowering, operand: SSAValue, target: Window) -> Source:
    """How to read an operand while `target` is written: one that is the old accumulator itself has to survive the
    first block that is written."""
    source = lowering.source(operand)
    if _flat(source) is not target.flat:
        return source
    buffer = lowering.memory.new_buffer(element_type(operand.type), tensor_shape(operand))
    lowering.copy(source, buffer)
    return buffer


def starts_from_zero(source: Source) -> bool:
    """Return whether what a sum starts from is zero everywhere."""
    return isinstance(source, Uniform) and _is_zero(source.value)


def _flat(source: Source) -> SSAValue | None:
    window = source.inner if isinstance(source, Box) else source
    return window.flat if isinstance(window, Window) else None


def common_depth(a: Source, b: Source, batch: int, depth: int) -> Index:
    """Return how many terms the sums have, if both operands are padded with zeros from the same place on."""
    if not isinstance(a, Box) or not isinstance(b, Box) or not (_is_zero(a.fill) and _is_zero(b.fill)):
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


def emit_calls(
    emitter: LoopEmitter,
    kernel: MatmulKernel,
    operands: Operands,
    counts: Sequence[int],
    depth: Index,
    wanted: tuple[Index, Index] | None = None,
    output: MatrixAddress | None = None,
) -> None:
    """Loops over the blocks of C; columns outside, so that the panel of B stays in the first level cache.

    `wanted`: how many of the rows and columns anybody reads; less than all of them only where C is one block, as where
    the result has an `output` of its own.
    """
    batches, rows, columns = counts
    with_batch = len(operands[0].strides) == 3

    def block_call(base: tuple[SSAValue, SSAValue, SSAValue], m: Index, n: Index) -> None:
        block = (_count(emitter, rows, m, kernel.rows), _count(emitter, columns, n, kernel.columns))
        if rows <= kernel.rows and columns <= kernel.columns:
            block = wanted or (rows, columns)
        _call(emitter, kernel, operands, base, m, n, block, depth, output)

    def block_calls(base: tuple[SSAValue, SSAValue, SSAValue]) -> None:
        _loop(emitter, columns, kernel.columns, lambda n: _loop(
            emitter, rows, kernel.rows, lambda m: block_call(base, m, n)
        ))  # fmt: skip

    if not with_batch:
        block_calls((operands[0].address, operands[1].address, operands[2].address))
        return

    def of_batch(number: Index) -> None:
        moved = [_moved(emitter, item, item.address, number, item.strides[0]) for item in operands]
        block_calls((moved[0], moved[1], moved[2]))

    _loop(emitter, batches, 1, of_batch)


def _loop(emitter: LoopEmitter, extent: int, step: int, body: Callable[[Index], None]) -> None:
    if extent <= step:
        body(0)
        return
    loop, block = emitter.open_for(0, extent, step)
    with emitter.at(block):
        body(block.args[0])
        emitter.yield_()
    _ = loop


def _moved(emitter: LoopEmitter, item: MatrixAddress, address: SSAValue, steps: Index, stride: Index) -> SSAValue:
    distance = emitter.mul(emitter.mul(steps, stride), item.element_bytes)
    return emitter.ssa(emitter.add(address, distance))


def _call(
    emitter: LoopEmitter,
    kernel: MatmulKernel,
    operands: Operands,
    base: tuple[SSAValue, SSAValue, SSAValue],
    m: Index,
    n: Index,
    counts: tuple[Index, Index],
    depth: Index,
    output: MatrixAddress | None,
) -> None:
    a, b, c = operands
    a_row, a_k = a.strides[-2:]
    a_address = _moved(emitter, a, base[0], m, a_row)
    b_address = _moved(emitter, b, base[1], n, b.strides[-1])
    c_address = _moved(emitter, c, _moved(emitter, c, base[2], m, c.strides[-2]), n, 1)
    values = (
        a_address, a_row, a_k, b_address, b.strides[-1 if kernel.transposed_b else -2], c_address, c.strides[-2], depth,
        *counts, *(() if b.packed_from is None else (b.packed_from,)),
        *((output.address, output.strides[0]) if output is not None else ()),
    )  # fmt: skip
    call_microkernel(emitter, kernel, values)


def _count(emitter: LoopEmitter, extent: int, start: Index, step: int) -> Index:
    if extent % step == 0:
        return step
    return emitter.min(step, emitter.sub(extent, start))
