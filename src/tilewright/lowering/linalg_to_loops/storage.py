"""Where computed tensors are: in which buffer, and when it may be overwritten.

A loop-carried tile has one buffer; the value that the loop yields is computed into it in place when nothing needs the
old tile any more:

    scf.for ... iter_args(%acc = %zero) { %next = linalg.generic ins(%acc, %x) ...; scf.yield %next }
      ->  the nest reads and writes the buffer of %acc
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import bufferization, linalg, linalg_ext, scf, tensor
from tilewright.ir.walking import ops_within
from tilewright.lowering.linalg_to_loops.overlaps import is_same_element
from tilewright.lowering.linalg_to_loops.sources import PaddedView, Source, StridedView, memory_of
from tilewright.transforms.linalg.lifetimes import Lifetimes, aliased
from tilewright.transforms.linalg.structured import access_of, is_elementwise, shape_or_scalar

if TYPE_CHECKING:
    from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering

_MATMULS = (linalg.MatmulOp, linalg.BatchMatmulOp, linalg_ext.PackedMatmulOp, linalg_ext.ViewMatmulOp)


class Storage:
    """Buffers of one function and what they hold at the point that the lowering has reached."""

    def __init__(self, lowering: FunctionLowering):
        self.lowering = lowering
        self.lifetimes = Lifetimes(lowering.known.function)
        self.targets: dict[tuple[Operation, int], StridedView] = {}
        """From a region's terminator and the position of an operand to where that value has to be in the end."""
        self.contents: dict[SSAValue, SSAValue] = {}
        """From a buffer to the tensor value that is in it."""

    def put(self, value: SSAValue, view: StridedView) -> None:
        """Note that a tensor is in a buffer from now on."""
        self.lowering.values.sources[value] = view
        self.contents[view.flat] = value

    def put_all(self, values: Sequence[SSAValue], views: Mapping[int, StridedView]) -> None:
        """Note where some of several values are, by their positions."""
        for position, view in views.items():
            self.put(values[position], view)

    def set_targets(self, terminator: Operation, views: Mapping[int, StridedView]) -> None:
        """Note where the operands of a region's terminator have to be in the end."""
        self.targets.update(((terminator, position), view) for position, view in views.items())

    # -- where a result goes ----------------------------------------------------------------------------------------

    def destination(self, op: Operation, result: SSAValue) -> StridedView:
        """A buffer for a result that is computed element by element."""
        view = self.find_target(result)
        if view is None or not self.may_overwrite(view, op):
            by_columns = isinstance(op, linalg.StructuredOp) and self._reads_columns(op, result)
            view = self.lowering.memory.new_tile(result, by_columns=by_columns)
        self.contents[view.flat] = result
        return view

    def _reads_columns(self, op: linalg.StructuredOp, result: SSAValue) -> bool:
        """Return whether the matrices that `op` reads element by element are laid out by columns."""
        maps = op.maps
        if len(shape_or_scalar(result.type)) != 2:
            return False
        output = access_of(maps[len(op.inputs) + op.results.index(result)])
        found = False
        for index, value in enumerate(op.inputs):
            source = self.lowering.values.sources.get(value)
            view = source.inner if isinstance(source, PaddedView) else source
            if not isinstance(view, StridedView) or access_of(maps[index]) != output:
                continue
            if view.strides[-1] == 1 and view.shape[-1] > 1:
                return False
            found = found or (view.owned and view.strides[0] == 1)
        return found

    def has_target(self, value: SSAValue) -> bool:
        """Return whether the value has to end up in a buffer anyway."""
        return self.find_target(value) is not None

    def find_target(self, value: SSAValue, depth: int = 8) -> StridedView | None:
        """The buffer that a value should be computed into, because its user would copy it there."""
        if depth == 0:
            return None
        for use in value.uses:
            user, index = use.operation, use.index
            if (view := self.targets.get((user, index))) is not None:
                return view
            result: SSAValue | None = None
            if isinstance(user, _MATMULS) and index == 2:
                result = user.results[0]
            elif isinstance(user, tensor.InsertOp | tensor.InsertSliceOp) and index == 1:
                result = user.result
            elif isinstance(user, scf.ForOp) and index >= 3:
                result = user.results[index - 3]
            elif isinstance(user, linalg_ext.ScanOp) and index >= len(user.inputs):
                result = user.results[index - len(user.inputs)]
            if result is not None and (found := self.find_target(result, depth - 1)) is not None:
                return found
        return None

    def updated(self, op: Operation, old: SSAValue, result: SSAValue) -> StridedView:
        """A buffer with the elements of `old` that `op` may change in place to make `result`."""
        source = self.lowering.source(old)
        fresh = isinstance(old.owner, tensor.EmptyOp | bufferization.AllocTensorOp)
        if self._may_reuse(source, old, op):
            assert isinstance(source, StridedView)
            self.contents[source.flat] = result
            return source
        view = self.destination(op, result)
        if not fresh:
            self.lowering.copy(source, view)
        return view

    def _may_reuse(self, source: Source, old: SSAValue, op: Operation) -> bool:
        if not isinstance(source, StridedView) or not source.owned or not source.is_contiguous() or source.offset != 0:
            return False
        holder = self.contents.get(source.flat)
        if holder is not None and holder is not old:
            return False
        # A slice is read from the memory of what it was cut from, which others may still read.
        return self.lifetimes.is_last_reader(op, aliased(old))

    def may_overwrite(self, view: StridedView, op: Operation) -> bool:
        """Return whether what a buffer holds is dead once `op` has read it, and `op` reads it element by element."""
        holder = self.contents.get(view.flat)
        if holder is None:
            return True
        if not self.lifetimes.is_last_reader(op, holder):
            return False
        if not any(self._reads(operand, view.flat) for operand in op.operands):
            return True
        return isinstance(op, linalg.StructuredOp) and self._reads_pointwise(op, view)

    def may_overwrite_after(self, view: StridedView, op: Operation) -> bool:
        """Return whether what a buffer holds is dead once everything inside of `op` has run."""
        holder = self.contents.get(view.flat)
        return holder is None or self.lifetimes.ends_within(holder, op)

    def _reads(self, value: SSAValue, flat: SSAValue) -> bool:
        source = self.lowering.values.sources.get(value)
        view = None if source is None else memory_of(source)
        return view is not None and view.flat is flat

    def _reads_pointwise(self, op: linalg.StructuredOp, view: StridedView) -> bool:
        maps = op.maps
        output = access_of(maps[-1])
        if not is_elementwise(op) or any(access_of(map_) != output for map_ in maps[len(op.inputs) :]):
            return False
        if any(isinstance(inner, tensor.ExtractOp) for inner in ops_within(op.body)):
            return False
        for index, value in enumerate(op.inputs):
            if self._reads(value, view.flat):
                source = self.lowering.source(value)
                if not is_same_element(source, access_of(maps[index]), view, output):
                    return False
        return True

    def find_reusable(self, value: SSAValue, op: Operation) -> StridedView | None:
        """The buffer of a value, if a loop may use it for its carried tile; None where others still need it."""
        source = self.lowering.source(value)
        if self._may_reuse(source, value, op) and isinstance(source, StridedView):
            return source
        return None
