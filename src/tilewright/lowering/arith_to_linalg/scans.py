"""`tt.scan` with any combine function, along any axis, from either end.

A loop walks the axis with the running value and the result as loop-carried values. For rank 1 these are scalars and
single lanes, for higher ranks slices that a `linalg.generic` combines:

```mlir
%s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({ addf }) : (tensor<8xf32>) -> tensor<8xf32>
// becomes
%first = tensor.extract %x[%c0]
%start = tensor.insert %first into %e[%c0]
%s:2 = scf.for %i = %c1 to %c8 step %c1 iter_args(%out = %start, %acc = %first) -> (tensor<8xf32>, f32) {
  %cur = tensor.extract %x[%i]
  %new = arith.addf %acc, %cur
  %next = tensor.insert %new into %out[%i]
  scf.yield %next, %new
} {tilewright.scan = 0 : i64}
```
The loop starts at the second element, so no neutral element is needed. A scan of 16-bit floats rounds at every step,
as its definition says.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, IntegerType, i64
from xdsl.ir import Block, SSAValue

from tilewright.dialects import arith, linalg, tt, ttx
from tilewright.dialects.attributes import SCAN_AXIS
from tilewright.lowering.arith_to_linalg.combine import Combine, combine_of
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.tensor_builder import TensorBuilder, element_of, identity_maps, shape_of, tensor_of


@lowers(tt.ScanOp)
def lower_scan(op: tt.ScanOp, f: LoweringContext) -> Sequence[SSAValue]:
    """See the module's docstring."""
    axis = op.axis.value.data
    if not 0 <= axis < len(shape_of(op.operands[0])):
        raise NotLowered(f"axis {axis} of {op.operands[0].type}")
    return _scan(f.b, op.operands, axis, combine_of(op), reverse=bool(op.reverse.value.data))


@lowers(ttx.CumSumOp)
def lower_cumulative_sum(op: ttx.CumSumOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A scan whose combine function is the sum."""
    kind = element_of(op.input)
    block = Block(arg_types=(kind, kind))
    add = (arith.AddiOp if isinstance(kind, IntegerType) else arith.AddfOp)(*block.args)
    block.add_ops([add, linalg.YieldOp(add.result)])
    return _scan(f.b, [op.input], op.axis.value.data, Combine(block), reverse=False)


def _scan(
    b: TensorBuilder, sources: Sequence[SSAValue], axis: int, combine: Combine, *, reverse: bool
) -> Sequence[SSAValue]:
    shape = shape_of(sources[0])
    slices = _Slices(b, shape, axis, reverse)
    first = [slices.take(source, 0) for source in sources]
    outs = [slices.put(value, b.empty(source.type), 0) for value, source in zip(first, sources, strict=True)]
    if shape[axis] == 1:
        return outs
    count = len(sources)

    def step(carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        index, outs, running = carried[0], carried[1 : 1 + count], carried[1 + count :]
        current = [slices.take(source, index) for source in sources]
        combined = slices.combine(combine, running, current)
        return [*(slices.put(v, out, index) for v, out in zip(combined, outs, strict=True)), *combined]

    loop = b.for_loop(1, shape[axis], [*outs, *first], step)
    loop.attributes[SCAN_AXIS] = IntegerAttr(axis, i64)
    return loop.results[:count]


class _Slices:
    """Slices of one extent along the scanned axis: scalars where the tensor has rank 1."""

    def __init__(self, b: TensorBuilder, shape: Sequence[int], axis: int, reverse: bool) -> None:
        self.b, self.shape, self.axis, self.reverse = b, shape, axis, reverse
        self.rest = (*shape[:axis], *shape[axis + 1 :])

    def _offsets(self, index: Index) -> list[Index]:
        if self.reverse:
            index = self.b.sub(self.shape[self.axis] - 1, index)
        return [index if dim == self.axis else 0 for dim in range(len(self.shape))]

    def _sizes(self) -> list[int]:
        return [1 if dim == self.axis else extent for dim, extent in enumerate(self.shape)]

    def take(self, source: SSAValue, index: Index) -> SSAValue:
        """The slice at a step of the scan."""
        if not self.rest:
            return self.b.extract(source, self._offsets(index))
        kind = tensor_of(element_of(source), *self.rest)
        return self.b.extract_slice(source, self._offsets(index), self._sizes(), result_type=kind)

    def put(self, value: SSAValue, into: SSAValue, index: Index) -> SSAValue:
        """The tensor with the slice at a step of the scan replaced."""
        if not self.rest:
            return self.b.insert_lane(value, into, self._offsets(index))
        return self.b.insert_slice(value, into, self._offsets(index), self._sizes())

    def combine(self, combine: Combine, acc: Sequence[SSAValue], cur: Sequence[SSAValue]) -> Sequence[SSAValue]:
        """The combine function on scalars, or lane by lane on slices."""
        if not self.rest:
            return combine.inline(self.b, acc, cur)
        count, rank = len(acc), len(self.rest)
        outs = [self.b.empty(value.type) for value in acc]
        return self.b.generic(
            (*acc, *cur),
            outs,
            lambda lanes: combine.inline(self.b, lanes[:count], lanes[count : 2 * count]),
            maps=identity_maps(3 * count, rank),
            iterators=("parallel",) * rank,
        )
