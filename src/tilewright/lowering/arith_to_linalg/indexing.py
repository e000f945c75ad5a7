"""Ops whose lanes are found by computed indices: gather and histogram."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, lowers
from tilewright.lowering.tensor_builder import element_of, identity_maps, shape_of


@lowers(tt.GatherOp)
def lower_gather(op: tt.GatherOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %r = tt.gather %src[%idx] {axis = 0 : i32} : (tensor<32xf32>, tensor<16xi32>) -> tensor<16xf32>
    // becomes
    %r = linalg.generic ins(%idx : tensor<16xi32>) outs(%e : tensor<16xf32>) {
    ^bb0(%in: i32, %out: f32):
      %i = arith.index_cast %in : i32 to index
      %v = tensor.extract %src[%i] : tensor<32xf32>
      linalg.yield %v : f32
    } -> tensor<16xf32>
    ```
    """
    b, axis, rank = f.b, op.axis.value.data, len(shape_of(op.indices))
    if not 0 <= axis < rank:
        raise NotLowered(f"axis {axis} of {op.src.type}")

    def body(lanes: Sequence[SSAValue]) -> Sequence[SSAValue]:
        position = b.as_index(lanes[0])
        return (b.extract(op.src, [position if dim == axis else b.lane_index(dim) for dim in range(rank)]),)

    out = b.empty(op.result.type)
    return b.generic((op.indices,), (out,), body, maps=identity_maps(2, rank), iterators=("parallel",) * rank)


@lowers(tt.HistogramOp)
def lower_histogram(op: tt.HistogramOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A loop over the values that counts into a tensor of zeros.

    A value outside of ``[0, bins)`` has no bin and is not counted (Triton leaves its effect open; memory stays safe
    here), nor is one whose mask lane is false.

    ```mlir
    %h = tt.histogram %x : tensor<64xi32> -> tensor<16xi32>
    // becomes
    %h = scf.for %i = %c0 to %c64 step %c1 iter_args(%bins = %zeros) -> (tensor<16xi32>) {
      %v = tensor.extract %x[%i]
      %bin = arith.index_castui %v
      %ok = arith.cmpi ult, %bin, %c16
      %next = scf.if %ok { extract, add 1, insert } else { %bins }
      scf.yield %next
    }
    ```
    """
    b, kind, bins = f.b, op.result.type, shape_of(op.result)[0]
    counted = element_of(op.result)
    source = element_of(op.src)
    if len(shape_of(op.src)) != 1 or not isinstance(source, IntegerType):
        raise NotLowered(f"a histogram of {op.src.type}")

    def step(carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
        position, counts = carried
        bin_index = b.cast(arith.IndexCastUIOp, b.extract(op.src, [position]), b.index(0).type)
        live = b.cmpi("ult", bin_index, b.index(bins))
        if op.mask is not None:
            live = b.emit(arith.AndIOp, live, b.extract(op.mask, [position]))

        def count() -> Sequence[SSAValue]:
            total = b.emit(arith.AddiOp, b.extract(counts, [bin_index]), b.int(1, counted))
            return (b.insert_lane(total, counts, [bin_index]),)

        return b.if_else(live, [kind], count, lambda: (counts,)).results

    return b.for_loop(0, shape_of(op.src)[0], [b.splat(b.int(0, counted), kind)], step).results
