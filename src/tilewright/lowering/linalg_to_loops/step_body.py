"""One step of a nest, the innermost part of its loops: the body's values, what it stores, the new accumulators.

All elements are read before the first is written: an output may lie where an input does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import linalg, memref, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.linalg_to_loops.accumulators import Accumulators
from tilewright.lowering.linalg_to_loops.body_values import BodyValues
from tilewright.lowering.linalg_to_loops.element_access import emit_atomic, emit_store, load_at
from tilewright.lowering.linalg_to_loops.emitter import Cursor
from tilewright.lowering.linalg_to_loops.nest import Nest, Output, stride_along
from tilewright.lowering.linalg_to_loops.operand_access import write_interleaved, write_output
from tilewright.lowering.linalg_to_loops.predication import is_straight
from tilewright.lowering.linalg_to_loops.sources import Splat, StridedView
from tilewright.lowering.linalg_to_loops.strided_lanes import find_interleaved, is_narrow
from tilewright.transforms.linalg.index_proofs import is_at_most

Written = tuple[Output, StridedView, SSAValue]
"""An output, where it goes, and what one step writes there."""


def emit_step(values: BodyValues, accumulators: Accumulators, carried: Sequence[SSAValue]) -> list[SSAValue]:
    """Emit one step at the cursor. `carried`: one set of accumulators; returns what they are after the step."""
    nest, emitter, frame = values.nest, values.emitter, values.frames[-1]
    for index, accumulator in zip(accumulators.reducing, carried, strict=True):
        frame.values[nest.accumulator(index)] = accumulator
    if is_straight(nest.body):
        for op in nest.body.ops:
            if isinstance(op, memref.StoreOp):
                emit_store(values, op)
            elif isinstance(op, memref.AtomicRMWOp):
                emit_atomic(values, op)
    else:
        _run_in_order(values)
    written = [
        (output, output.dest, _yielded(values, output, yielded))
        for output, yielded in zip(nest.outputs, nest.yielded, strict=True)
        if output.dest is not None and not output.reduces
    ]
    results = [
        values.get_lanes(accumulators.first_term(nest, index, accumulator) or nest.yielded[index])
        for index, accumulator in zip(accumulators.reducing, carried, strict=True)
    ]
    for outputs in _interleaved(values, written):
        if len(outputs) > 1:
            elements = [element for _, _, element in outputs]
            write_interleaved(values, [dest for _, dest, _ in outputs], outputs[0][0].access, elements)
        else:
            _write(values, *outputs[0])
    mask = values.mask() if nest.vector_reduces() else None
    if mask is not None:
        results = [emitter.select(mask, new, old) for new, old in zip(results, carried, strict=True)]
    return results


# -- outputs ----------------------------------------------------------------------------------------------------------


def _interleaved(values: BodyValues, written: Sequence[Written]) -> Iterator[list[Written]]:
    """Outputs of one step, those together that fill each other's gaps in memory."""
    left = list(written)
    while left:
        output, dest, _ = left[0]
        stride = stride_along(dest, output.access, values.nest.schedule.vector_dim or 0)
        group = left[:1]
        if is_narrow(stride) and stride > 1 and _is_whole(values, output):
            alike = [item for item in left if item[0].access == output.access and _is_whole(values, item[0])]
            _, views = find_interleaved(dest, [view for _, view, _ in alike], stride)
            if len(views) == stride:
                group = [next(item for item in alike if item[1] is views[member]) for member in range(stride)]
        left = [item for item in left if item not in group]
        yield group


def _is_whole(values: BodyValues, output: Output) -> bool:
    """Return whether all lanes of the current step are written to an output."""
    is_unmasked = not output.is_cut or values.frames[-1].is_unmasked or not _past(values.nest, output)
    return is_unmasked and values.is_lanes(_dims_of(output)) and values.mask() is None


def _past(nest: Nest, output: Output) -> list[int]:
    """The dimensions along which the nest runs further than an output is read."""
    return [dim for dim, bound in enumerate(nest.bounds) if not is_at_most(bound, output.bounds[dim])]


def _write(values: BodyValues, output: Output, dest: StridedView, element: SSAValue) -> None:
    """Write what one step computed; of an output that is cut only what is before its end."""
    past = _past(values.nest, output)
    if not output.is_cut or not past or values.frames[-1].is_unmasked:
        write_output(values, dest, output.access, element, whole_vectors=output.may_overrun)
        return
    (dim,) = past
    if dim == values.nest.schedule.vector_dim:
        write_output(values, dest, output.access, element, end=output.bounds[dim])
        return
    emitter = values.emitter
    index, end = emitter.ssa(values.induction(dim)), emitter.ssa(output.bounds[dim])
    with emitter.when(emitter.cmpi("slt", index, end)):
        write_output(values, dest, output.access, element)


def _yielded(values: BodyValues, output: Output, yielded: SSAValue) -> SSAValue:
    """Return what one step writes to an output."""
    return values.get_lanes(yielded) if values.is_lanes(_dims_of(output)) else values.get(yielded)


def _dims_of(output: Output) -> frozenset[int]:
    return frozenset(dim for expr in output.access for dim in expr.used_dims())


# -- bodies with control flow -----------------------------------------------------------------------------------------


def _run_in_order(values: BodyValues) -> None:
    """A body that touches memory in branches or loops: its ops are copied in their order, one element at a time."""
    nest, frame = values.nest, values.frames[-1]
    mapper: dict[SSAValue, SSAValue] = {}
    for op in nest.body.ops:
        if isinstance(op, linalg.YieldOp) or _is_plain_value(op):
            continue
        for inner in op.walk():
            for operand in inner.operands:
                if operand in nest.facts.depends and operand not in mapper:
                    mapper[operand] = values.get(operand)
        copy = values.emitter.insert(op.clone(value_mapper=mapper))
        results: list[SSAValue] = list(copy.results)
        for nested in list(copy.walk()):
            if isinstance(nested, linalg.IndexOp):
                _resolve_index(values, nested)
            elif isinstance(nested, tensor.ExtractOp):
                element = _resolve_extract(values, nested)
                if nested is copy:
                    results = [element]
        for result, new in zip(op.results, results, strict=True):
            frame.values[result] = mapper[result] = new


def _resolve_index(values: BodyValues, op: linalg.IndexOp) -> None:
    op.result.replace_all_uses_with(values.emitter.ssa(values.induction(op.dim.value.data)))
    op.detach()
    op.erase()


def _resolve_extract(values: BodyValues, op: tensor.ExtractOp) -> SSAValue:
    """A tensor element becomes a load, or the scalar that all elements are."""
    block = op.parent_block()
    assert block is not None
    with values.emitter.at(Cursor(block, op)):
        source = values.nest.around.source(op.tensor)
        loaded = source.value if isinstance(source, Splat) else load_at(values, source, list(op.indices))
    op.result.replace_all_uses_with(loaded)
    op.detach()
    op.erase()
    return loaded


def _is_plain_value(op: Operation) -> bool:
    """Return whether an op is a pure computation on scalars, which can be evaluated wherever its operands are."""
    return isinstance(op, linalg.IndexOp) or is_arithmetic(op)
