"""Tensors without memory: constants, fills, single elements."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import arith, bufferization, linalg, tensor
from tilewright.dialects.arith.constant import is_dense
from tilewright.dialects.types import is_memref, is_tensor
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, Splat, StridedView, Words, offset_at
from tilewright.lowering.linalg_to_loops.words import load_word
from tilewright.transforms.linalg.index_proofs import fold_index


@lowers(arith.ConstantOp)
def lower_constant(op: arith.ConstantOp, lowering: FunctionLowering) -> None:
    """A splat constant is the same scalar everywhere; other constants are written to a buffer element by element."""
    type_ = op.result.type
    if not is_tensor(type_):
        return
    value = op.value
    if not is_dense(value):
        lowering.fail(op, "constant of unknown form")
        return
    numbers = list(cast("Sequence[int | float]", value.get_values()))
    element = type_.element_type
    if value.is_splat() or len(set(numbers)) == 1:
        lowering.define(op, Splat(lowering.emitter.constant(numbers[0], element)))
        return
    buffer = lowering.memory.new_buffer(element, type_.get_shape())
    stored = buffer.flat.type
    assert is_memref(stored)
    for index, number in enumerate(numbers):
        lowering.emitter.store(lowering.emitter.constant(number, stored.element_type), buffer.flat, index)
    lowering.define(op, buffer)


@lowers(tensor.EmptyOp, bufferization.AllocTensorOp)
def lower_empty(op: Operation, lowering: FunctionLowering) -> None:
    """Nothing is known of the elements; reading them gives zeros."""
    type_ = op.results[0].type
    assert is_tensor(type_)
    if DYNAMIC_INDEX in type_.get_shape():
        lowering.fail(op, "tensor of dynamic shape")
    lowering.define(op, Splat(lowering.emitter.zero(type_.element_type)))


@lowers(linalg.FillOp)
def lower_fill(op: linalg.FillOp, lowering: FunctionLowering) -> None:
    """A fill of a tensor is a uniform source; a fill of a buffer is a loop."""
    value = op.inputs[0]
    if op.results:
        lowering.define(op, Splat(value))
        return
    dest = lowering.view_for(op, op.outputs[0])
    if DYNAMIC_INDEX in dest.shape:
        lowering.fail(op, "fill of a buffer of dynamic shape")
    lowering.copy(Splat(value), dest)
    lowering.values.dead.append(op)


@lowers(tensor.SplatOp)
def lower_splat(op: tensor.SplatOp, lowering: FunctionLowering) -> None:
    """The same scalar everywhere."""
    lowering.define(op, Splat(op.input))


@lowers(tensor.ExtractOp)
def lower_extract(op: tensor.ExtractOp, lowering: FunctionLowering) -> None:
    """One element, loaded here and now."""
    if not is_tensor(op.tensor.type):
        return
    source = lowering.source(op.tensor)
    op.result.replace_all_uses_with(read_element(lowering, source, list(op.indices)))
    lowering.values.dead.append(op)


def read_element(lowering: FunctionLowering, source: Source, indices: Sequence[SSAValue]) -> SSAValue:
    """The scalar at `indices` of a source."""
    emitter = lowering.emitter
    match source:
        case Splat():
            return source.value
        case StridedView():
            value = emitter.load(source.flat, offset_at(emitter, source, [fold_index(index) for index in indices]))
            return emitter.unpack(value, source.stored_as_byte)
        case Words(first_bytes=inner):
            return load_word(emitter, inner.flat, offset_at(emitter, inner, [fold_index(index) for index in indices]))
        case PaddedView():
            inside: SSAValue | bool = True
            for index, low, high in zip(indices, source.low, source.high, strict=True):
                number = fold_index(index)
                inside = emitter.both(inside, emitter.compare("sge", number, low))
                inside = emitter.both(inside, emitter.compare("slt", number, high))
            if isinstance(inside, bool):
                return read_element(lowering, source.inner, indices) if inside else source.fill
            return emitter.load_if(inside, lambda: read_element(lowering, source.inner, indices), source.fill)


@lowers(tensor.InsertOp)
def lower_insert(op: tensor.InsertOp, lowering: FunctionLowering) -> None:
    """One element changed: in place where the old tensor is not needed any more, else in a copy."""
    shape = tensor_shape(op.result)
    if prod(shape) == 1 and not lowering.storage.has_target(op.result):
        lowering.define(op, Splat(op.scalar))
        return
    dest = lowering.storage.updated(op, op.dest, op.result)
    offset = offset_at(lowering.emitter, dest, [fold_index(index) for index in op.indices])
    store_scalar(lowering, op.scalar, dest, offset)
    lowering.define(op, dest)


def store_scalar(lowering: FunctionLowering, value: SSAValue, dest: StridedView, offset: Index) -> None:
    """Store one element, in the form the buffer keeps it."""
    lowering.emitter.store(lowering.emitter.pack(value, dest.stored_as_byte), dest.flat, offset)


@lowers(tensor.DimOp)
def lower_dim(op: tensor.DimOp, lowering: FunctionLowering) -> None:
    """Extents are static."""
    number = fold_index(op.index)
    assert isinstance(number, int)
    op.result.replace_all_uses_with(lowering.emitter.constant(tensor_shape(op.source)[number], INDEX))
    lowering.values.dead.append(op)
