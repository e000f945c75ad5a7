"""Several results of one generic, each computed straight into the memory that it is stored to.

%a, %b = linalg.generic ... -> tensor<64xf32>, tensor<64xf32>
bufferization.materialize_in_destination %a in writable %x
bufferization.materialize_in_destination %b in writable %y
  ->  for %i = 0 to 64 step 16 { %a, %b = ...; store %a, %x[%i]; store %b, %y[%i] }

The stores must follow the generic at once, and no element may be overwritten before it is read: what the nest reads and
writes is apart, or is the element that the same step writes. A generic with one result runs with its store instead
(`lower_structured`).
"""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.dialects import bufferization, linalg, memref, tensor
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.overlaps import is_disjoint, writes_directly
from tilewright.lowering.linalg_to_loops.sources import StridedView
from tilewright.lowering.linalg_to_loops.store_targets import target_of
from tilewright.support.records import dataclass
from tilewright.transforms.linalg.effects import may_write
from tilewright.transforms.linalg.index_proofs import is_same
from tilewright.transforms.linalg.needed_bounds import make_available
from tilewright.transforms.linalg.sink_producers import find_store
from tilewright.transforms.linalg.structured import access_of, is_elementwise, loop_extents

_ADDRESSES = (memref.ReinterpretCastOp, memref.SubviewOp, memref.CastOp, tensor.ExtractSliceOp, tensor.EmptyOp)


@dataclass(frozen=True, slots=True)
class StoredResult:
    """Where a result goes: element (0, 0, ...) to (sizes[0] - 1, ...) of it, and no more."""

    store: Operation
    dest: StridedView
    sizes: tuple[Index, ...]


def plan_stored_results(lowering: FunctionLowering, op: linalg.StructuredOp) -> dict[int, StoredResult]:
    """Plan which results of a generic, by index, its nest writes to their destinations."""
    if len(op.results) < 2 or not is_elementwise(op) or any(may_write(inner) for inner in op.body.block.ops):
        return {}
    accesses = {access_of(map_) for map_ in op.maps[len(op.inputs) :]}
    if len(accesses) != 1:
        return {}
    stores = {store: index for index, result in enumerate(op.results) if (store := find_store(result)) is not None}
    planned: dict[int, StoredResult] = {}
    follower = op.next_op
    while follower is not None and len(planned) < len(stores):
        if isinstance(follower, bufferization.MaterializeInDestinationOp):
            found = _plan(lowering, op, follower, list(planned.values())) if follower in stores else None
            if found is None:
                break
            planned[stores[follower]] = found
        elif not isinstance(follower, _ADDRESSES) and not is_arithmetic(follower):
            break
        follower = follower.next_op
    return planned if _fit_one_nest(op, planned) else {}


def _plan(
    lowering: FunctionLowering,
    op: linalg.StructuredOp,
    store: bufferization.MaterializeInDestinationOp,
    others: list[StoredResult],
) -> StoredResult | None:
    target = target_of(lowering, store)
    if any(start != 0 for start in target.starts):
        return None
    dest, sizes = target.view, tuple(target.sizes)
    order = lowering.storage.lifetimes.order
    if not all(make_available(part, op, order) for part in (dest.offset, *dest.strides, *sizes)):
        return None
    if any(not is_disjoint(lowering, other.dest, dest) for other in others) or not writes_directly(lowering, op, dest):
        return None
    return StoredResult(store, dest, sizes)


def _fit_one_nest(op: linalg.StructuredOp, planned: dict[int, StoredResult]) -> bool:
    """Return whether one nest can write all results: only the lanes of rows are cut off one by one."""
    extents = loop_extents(op)
    if len(extents) == 1:
        return True
    whole = list[tuple[Index, ...]]([extents] if len(planned) < len(op.results) else [])
    sizes = [*whole, *(stored.sizes for stored in planned.values())]
    return all(is_same(a, b) for other in sizes[1:] for a, b in zip(sizes[0], other, strict=True))
