"""Products whose last terms are added where the result is stored.

    %c = scf.for ... { linalg.matmul ... }                                the loop over k, interchanged (k_loop.py)
    bufferization.materialize_in_destination %c[0, 0] [%m, %n] in %dest   its only reader
      ->
    %direct = %m >= 128 and %n >= 128 and %row_stride >= 128
    call @tw_mk_..._out(..., %buffer, ..., select(%direct, %dest, %buffer), select(%direct, %row_stride, 128))
    scf.if %interchanged and %direct {} else { %dest[0, 0] [%m, %n] = %buffer }

A result that is rounded to a narrower type after the loop may be stored so, too, by kernels that round:

    scf.if %direct { call @tw_mk_..._out_bf16(..., %buffer, ..., %dest, %row_stride) }
    else { call @tw_mk_...(..., %buffer, ...) }

Sums are kept in a buffer between the steps of the micro-kernel along k, as its rows are near one another. Copying them
to memory that the caches do not hold would cost a twentieth of a product with a thousand terms; written tile by tile,
that goes on beside the multiplications. A tile that is cut off at the edge of its matrix is copied.

Nothing may read or write memory between the loop and the store; what the address of the store is made of is computed in
front of the loop, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineMap

from tilewright.dialects import arith, bufferization, linalg, memref, scf, tensor
from tilewright.dialects.arith.attributes import RoundingMode
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.linalg_to_loops.emitter import Index
from tilewright.lowering.linalg_to_loops.first_iteration import NoMatchError
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering, tensor_shape
from tilewright.lowering.linalg_to_loops.provable import constant_of
from tilewright.lowering.linalg_to_loops.sources import Window
from tilewright.transforms.linalg.sink_producers import find_store

_TRANSPARENT = (
    *(memref.ReinterpretCastOp, memref.SubviewOp, memref.CastOp),
    *(tensor.ExtractSliceOp, tensor.EmptyOp),
)


@dataclass(frozen=True, slots=True)
class DirectStore:
    """Where a product is stored, of which type, and when it may be written there by the micro-kernel."""

    store: Operation
    target: Window
    condition: SSAValue | bool


def plan_direct_store(
    lowering: FunctionLowering,
    loop: scf.ForOp,
    result: SSAValue,
    counts: tuple[Index, Index],
    factors: tuple[Window, Window],
) -> DirectStore | None:
    """The store that is the only reader of a loop's product of two factors, with its address computed at the cursor,
    which is before the loop; None where something may come between, or read what it overwrites.

    `counts`: how many rows and columns are computed: all, or just those that are stored.
    """
    narrowing = _find_narrowing(result)
    store = find_store(result if narrowing is None else narrowing.results[0])
    if store is None or store.parent_block() is not loop.parent_block():
        return None
    shape = tensor_shape(result)
    sizes: list[Index] = list(shape)
    cut = store.source.owner
    if isinstance(cut, tensor.ExtractSliceOp):
        if any(start != 0 for start in cut.mixed_offsets) or any(step != 1 for step in cut.mixed_strides):
            return None
        pairs = zip(cut.mixed_sizes, counts, shape, strict=True)
        sizes = [size if count == extent else extent for size, count, extent in pairs]
    if not _only_addresses_between(loop, store, narrowing):
        return None
    try:
        return _plan(lowering, store, sizes, factors, shape, _Earlier(lowering, loop))
    except NoMatchError:
        return None


def _plan(
    lowering: FunctionLowering,
    store: bufferization.MaterializeInDestinationOp,
    sizes: Sequence[Index],
    factors: tuple[Window, Window],
    shape: tuple[int, ...],
    earlier: _Earlier,
) -> DirectStore | None:
    emitter = lowering.emitter
    target = lowering.memory.window(earlier.value(store.dest))
    if target is None or len(target.strides) != 2 or constant_of(target.strides[1]) != 1:
        return None
    whole = Window(target.flat, target.offset, target.strides, shape, target.element, target.root, target.owned)
    # The windows are those of the first terms only: more of the same memory may be read.
    if any(factor.root is whole.root or not lowering.storage.is_disjoint(factor, whole) for factor in factors):
        return None
    # Rows that overlap are written one after the other, the last one last.
    condition = emitter.compare("sge", target.strides[0], shape[1])
    for size, extent in zip(sizes, shape, strict=True):
        if not (isinstance(size, int) and size >= extent):
            size = size if isinstance(size, int) else earlier.value(size)
            condition = emitter.both(condition, emitter.compare("sge", size, extent))
    return DirectStore(store, whole, condition) if condition is not False else None


def _find_narrowing(value: SSAValue) -> linalg.GenericOp | None:
    """The only reader of a value, where it rounds all its elements to a narrower float type and does nothing else."""
    uses = list(value.uses)
    user = uses[0].operation if len(uses) == 1 else None
    if not isinstance(user, linalg.GenericOp) or list(user.inputs) != [value] or len(user.outputs) != 1:
        return None
    identity = AffineMap.identity(len(tensor_shape(value)))
    body = list(user.body.block.ops)
    if len(body) != 2 or not isinstance(body[0], arith.TruncFOp) or any(map_ != identity for map_ in user.maps):
        return None
    return user if body[0].rounding is RoundingMode.TO_NEAREST_EVEN else None


def _only_addresses_between(loop: Operation, store: Operation, narrowing: Operation | None) -> bool:
    op = loop.next_op
    while op is not None and op is not store:
        if op is not narrowing and not (is_arithmetic(op) or isinstance(op, _TRANSPARENT)):
            return False
        op = op.next_op
    return op is store


class _Earlier:
    """Values after a loop, computed at the cursor before it."""

    def __init__(self, lowering: FunctionLowering, loop: scf.ForOp) -> None:
        self._emitter = lowering.emitter
        self._loop = loop
        self._known: dict[SSAValue, SSAValue] = {}
        self._after: set[Operation] = set()
        op = loop.next_op
        while op is not None:
            self._after.add(op)
            op = op.next_op

    def value(self, value: SSAValue) -> SSAValue:
        """The same value; itself if it is there already. Raises NoMatchError for a result of the loop."""
        op = value.owner
        if op is self._loop:
            raise NoMatchError
        if not isinstance(op, Operation) or op not in self._after:
            return value
        if (found := self._known.get(value)) is None:
            copy = type(op).create(
                operands=[self.value(operand) for operand in op.operands],
                result_types=[result.type for result in op.results],
                properties=dict(op.properties),
            )
            self._emitter.insert(copy)
            found = self._known[value] = copy.results[op.results.index(value)]  # pyright: ignore[reportArgumentType]
        return found
