"""Structured ops as nests."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import IntegerAttr

from tilewright.analysis.combiners import combiner_of
from tilewright.dialects import linalg
from tilewright.dialects.attributes import UNROLL, VECTOR_DIM
from tilewright.lowering.linalg_to_loops.access_log import location_of_load
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, lowers, tensor_shape
from tilewright.lowering.linalg_to_loops.lower_vectors import lanes_in_registers, run_in_registers
from tilewright.lowering.linalg_to_loops.nest import Nest, Operand, Output, Schedule
from tilewright.lowering.linalg_to_loops.sources import Splat, StridedView
from tilewright.lowering.linalg_to_loops.stored_results import StoredResult, plan_stored_results
from tilewright.transforms.linalg.index_proofs import is_same
from tilewright.transforms.linalg.sink_producers import is_stored_next
from tilewright.transforms.linalg.structured import access_of, joint_combination, loop_extents, reduced_results


def lower_generic(op: linalg.StructuredOp, lowering: FunctionLowering) -> None:
    """A nest; or nothing yet, if the only reader is a store that will run it."""
    if isinstance(op, linalg.GenericOp) and (lanes := lanes_in_registers(op)) is not None:
        run_in_registers(lowering, op, lanes)
        lowering.values.dead.append(op)
        return
    if op in lowering.values.deferred or is_stored_next(op):
        lowering.values.deferred.add(op)
        lowering.values.dead.append(op)
        return
    run_generic(lowering, op)
    lowering.values.dead.append(op)


_BY_RULES_OF_THEIR_OWN = (linalg.FillOp, linalg.TransposeOp, linalg.MatmulOp, linalg.BatchMatmulOp)

lowers(*(op for op in linalg.STRUCTURED if op not in _BY_RULES_OF_THEIR_OWN))(lower_generic)


def run_generic(
    lowering: FunctionLowering,
    op: linalg.StructuredOp,
    dest: StridedView | None = None,
    bounds: Sequence[Index] | None = None,
) -> None:
    """Emit the nest of a generic at the cursor; its only result goes to `dest` if that is given."""
    body, maps, extents = op.body.block, op.maps, loop_extents(op)
    inputs = [
        Operand(
            lowering.source(value) if body.args[index].uses.get_length() else Splat(value),
            access_of(maps[index]),
            location_of_load(value),
        )
        for index, value in enumerate(op.inputs)
    ]
    if not op.results and op.outputs:
        lowering.fail(op, "generic on buffers")
    stored = plan_stored_results(lowering, op) if dest is None else {}
    outputs = [_plan_output(lowering, op, index, dest, stored.get(index)) for index in range(len(op.results))]
    iterators = _reduced_dims(op)
    if bounds is None:
        bounds = _common_bounds([output.bounds for output in outputs], iterators, extents)
    vector_dim = _take_index(lowering, op, VECTOR_DIM)
    if vector_dim is not None and not 0 <= vector_dim < len(extents):
        lowering.fail(op, f"its loops have no dimension {vector_dim} for vectors")
    given = _take_index(lowering, op, UNROLL)
    unroll = 1 if given is None else given
    if unroll < 1 or unroll & (unroll - 1):
        lowering.fail(op, f"{UNROLL} = {unroll} is not a power of two")
    scalars = lowering.run_nest(
        Nest(
            lowering, body, inputs, outputs, iterators, extents, tuple(bounds), has_tiles=True,
            combination=joint_combination(op), schedule=Schedule(vector_dim=vector_dim, unroll=unroll),
        )
    )  # fmt: skip
    lowering.values.written.update(result.store for result in stored.values())
    if dest is None:
        for result, output, scalar in zip(op.results, outputs, scalars, strict=True):
            if output.dest is None:
                assert scalar is not None, "a result without memory is a number"
                lowering.values.sources[result] = Splat(scalar)
            else:
                lowering.values.sources[result] = output.dest


def _take_index(lowering: FunctionLowering, op: linalg.StructuredOp, name: str) -> int | None:
    """Remove an attribute that holds an index; return the index, or None where there is none."""
    attribute = op.attributes.pop(name, None)
    if attribute is None:
        return None
    if not isinstance(attribute, IntegerAttr):
        lowering.fail(op, f"{name} = {attribute} is not an index")
    return attribute.value.data


def _plan_output(
    lowering: FunctionLowering,
    op: linalg.StructuredOp,
    index: int,
    dest: StridedView | None,
    stored: StoredResult | None,
) -> Output:
    """Plan where a result goes: to `dest`, to where it is stored, to a scalar if it is one sum, or to a buffer."""
    access, iterators = access_of(op.maps[len(op.inputs) + index]), _reduced_dims(op)
    init, result, bounds = op.outputs[index], op.results[index], tuple[Index, ...](loop_extents(op))
    reduces = index in reduced_results(op)
    view = dest
    if stored is not None:
        view, bounds = stored.dest, stored.sizes
    elif view is None and not (reduces and all(iterators) and prod(tensor_shape(result)) == 1):
        view = lowering.storage.destination(op, result)
        bounds = lowering.loop_bounds(result, access, loop_extents(op))
    source = lowering.source(init) if init in lowering.values.sources else Splat(init)
    combiner = combiner_of(op.body.block, index) if reduces else None
    may_overrun, is_cut = dest is None and stored is None, stored is not None
    return Output(view, access, Operand(source, access), bounds, reduces, combiner, may_overrun, is_cut)


def _common_bounds(
    bounds: Sequence[tuple[Index, ...]], reduced: tuple[bool, ...], extents: tuple[int, ...]
) -> list[Index]:
    """Bounds that all results agree on; reductions take all elements."""
    if not bounds:
        return list(extents)
    agreed = [all(is_same(bounds[0][dim], other[dim]) for other in bounds) for dim in range(len(extents))]
    return [bounds[0][dim] if agreed[dim] and not reduced[dim] else extent for dim, extent in enumerate(extents)]


def _reduced_dims(op: linalg.StructuredOp) -> tuple[bool, ...]:
    return tuple(iterator == "reduction" for iterator in op.iterators)
