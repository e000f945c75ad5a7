"""Tiles that are vectors in registers, and generics that compute them without a loop.

%acc = linalg_ext.from_vectors %a, %b
%next = linalg.generic ins(%acc, %x) { addf } -> tensor<32xf32>
%n:2 = linalg_ext.to_vectors %next
  ->
if %n >= 32 { addf %a, load %x[0]; ... } else { addf %a, maskedload %x[0], ...; ... }
"""

from __future__ import annotations

from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects import linalg, linalg_ext
from tilewright.dialects.types import element_type
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame
from tilewright.lowering.linalg_to_loops.comparisons import find_unmasked_part
from tilewright.lowering.linalg_to_loops.emitter import LoopEmitter, lanes_of, vector_type
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers
from tilewright.lowering.linalg_to_loops.nest import Nest, Operand, Output, Schedule
from tilewright.lowering.linalg_to_loops.nest_plan import plan_nest
from tilewright.lowering.linalg_to_loops.sources import Splat, StridedView, Vectors
from tilewright.transforms.linalg.promote_carried_tiles import EACH_ELEMENT, can_run_in_registers
from tilewright.transforms.linalg.structured import access_of, loop_extents


@lowers(linalg_ext.ToVectorsOp)
def lower_to_vectors(op: linalg_ext.ToVectorsOp, lowering: FunctionLowering) -> None:
    """Vectors that are there already, or loads of them."""
    made = lowering.values.vectors.get(op.source)
    vectors = _load_vectors(op, lowering) if made is None else made
    for old, new in zip(op.vectors, vectors, strict=True):
        old.replace_all_uses_with(new)
    lowering.values.dead.append(op)


def _load_vectors(op: linalg_ext.ToVectorsOp, lowering: FunctionLowering) -> list[SSAValue]:
    emitter, lanes, count = lowering.emitter, lanes_of(op.vectors[0]), len(op.vectors)
    source = lowering.source(op.source)
    if isinstance(source, Splat):
        return [emitter.broadcast(source.value, lanes)] * count
    if not (isinstance(source, StridedView) and source.strides == (1,)):
        source = lowering.in_memory(op.source)
    offsets = [emitter.add(source.offset, index * lanes) for index in range(count)]
    return [emitter.vector_load(source.flat, offset, lanes) for offset in offsets]


@lowers(linalg_ext.FromVectorsOp)
def lower_from_vectors(op: linalg_ext.FromVectorsOp, lowering: FunctionLowering) -> None:
    """Nothing where all readers compute in registers; stores to a buffer elsewhere."""
    lanes, emitter = lanes_of(op.vectors[0]), lowering.emitter
    lowering.values.dead.append(op)
    readers = [(use.operation, use.index) for use in op.result.uses]
    if all(
        isinstance(reader, linalg.GenericOp)
        and lanes_in_registers(reader) == lanes
        and access_of(reader.maps[index]) == EACH_ELEMENT
        for reader, index in readers
    ):
        lowering.values.vectors[op.result] = list(op.vectors)
        return
    view = lowering.memory.new_tile(op.result)
    for index, vector in enumerate(op.vectors):
        emitter.vector_store(vector, view.flat, index * lanes)
    lowering.storage.put(op.result, view)


def lanes_in_registers(op: linalg.GenericOp) -> int | None:
    """The lanes of the vectors that a generic computes, each by itself; None where its results go to memory."""
    lanes = set[int]()
    for result in op.results:
        uses = list(result.uses)
        if len(uses) != 1 or not isinstance(split := uses[0].operation, linalg_ext.ToVectorsOp):
            return None
        lanes.add(lanes_of(split.vectors[0]))
    if len(lanes) != 1 or lanes == {1} or not can_run_in_registers(op):
        return None
    return lanes.pop()


def run_in_registers(lowering: FunctionLowering, op: linalg.GenericOp, lanes: int) -> None:
    """All vectors of all results at the cursor, without masks where nothing that is read ends before the last one."""
    emitter, nest = lowering.emitter, _plan(lowering, op, lanes)
    (extent,) = nest.extents
    count = extent // lanes
    unmasked = find_unmasked_part(emitter, nest)
    whole = False if unmasked is None else emitter.compare("sge", unmasked.bound, extent)
    if unmasked is None or isinstance(whole, bool):
        results = _vectors(emitter, nest, {}, is_unmasked=whole is True)
    else:
        types = [vector_type(lanes, element_type(result.type)) for result in op.results for _ in range(count)]
        branch, *blocks = emitter.open_if(whole, types)
        for block, is_unmasked in zip(blocks, (True, False), strict=True):
            with emitter.at(block):
                known: dict[object, SSAValue] = {**unmasked.comparisons} if is_unmasked else {}
                emitter.yield_(_vectors(emitter, nest, known, is_unmasked=is_unmasked))
        results = list[SSAValue](branch.results)
    for index, result in enumerate(op.results):
        lowering.values.vectors[result] = results[index * count : (index + 1) * count]


def _plan(lowering: FunctionLowering, op: linalg.GenericOp, lanes: int) -> Nest:
    body, extents = op.body.block, loop_extents(op)

    def operand(value: SSAValue, index: int) -> Operand:
        vectors, access = lowering.values.vectors.get(value), access_of(op.maps[index])
        if vectors is not None:
            return Operand(Vectors(tuple(vectors)), access)
        is_read = body.args[index].uses.get_length() > 0
        return Operand(lowering.source(value) if is_read else Splat(value), access)

    inputs = [operand(value, index) for index, value in enumerate(op.inputs)]
    outputs = [
        Output(None, EACH_ELEMENT, operand(init, index), extents) for index, init in enumerate(op.outputs, len(inputs))
    ]
    nest = Nest(lowering, body, inputs, outputs, (False,), extents, extents, has_tiles=True)
    return replace(plan_nest(nest, lowering.facts), schedule=Schedule((0,), 0, lanes))


def _vectors(emitter: LoopEmitter, nest: Nest, known: dict[object, SSAValue], *, is_unmasked: bool) -> list[SSAValue]:
    """All vectors of all results, result by result."""
    cursor, (extent,) = emitter.cursor, nest.extents
    outside = Frame(cursor)
    steps = [
        BodyValues(emitter, nest, [outside, Frame(cursor, 0, first, dict(known), is_unmasked=is_unmasked)])
        for first in range(0, extent, nest.schedule.lanes)
    ]
    return [values.get_lanes(value) for value in nest.yielded for values in steps]
