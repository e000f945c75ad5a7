"""Where tensors come from: splats, constants, ranges, and the only element of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import FloatAttr, i32
from xdsl.ir import SSAValue

from tilewright.dialects import arith, tt, ub
from tilewright.dialects.numeric import array_of, attr_of
from tilewright.dialects.types import is_tensor
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, has_pointers, lowers
from tilewright.lowering.tensor_builder import element_of, identity_maps, shape_of


@lowers(tt.SplatOp)
def lower_splat(op: tt.SplatOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %t = tt.splat %x : f32 -> tensor<4xf32>
    // becomes
    %e = tensor.empty() : tensor<4xf32>
    %t = linalg.fill ins(%x : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    ```
    """
    if has_pointers(op.src) and not f.options.tensor_ptr_to_linalg:
        raise NotLowered("a tensor of pointers is left to the pointer passes")
    source = f.b.extract(op.src, []) if is_tensor(op.src.type) else op.src
    return (f.b.splat(source, op.result.type),)


@lowers(arith.ConstantOp)
def lower_constant(op: arith.ConstantOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A splat constant becomes a scalar constant and a fill; any other constant is legal as it is."""
    array = array_of(op.value) if is_tensor(op.result.type) else None
    if array is None or array.ndim:
        return op.results
    scalar = cast("FloatAttr", attr_of(array, element_of(op.result)))
    return (f.b.splat(f.b.shared_constant(scalar, lambda: arith.ConstantOp(scalar)), op.result.type),)


@lowers(tt.UnsplatOp)
def lower_unsplat(op: tt.UnsplatOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``tensor.extract`` at all-zero indices."""
    return (f.b.extract(op.src, [0] * len(shape_of(op.src))),)


@lowers(tt.MakeRangeOp)
def lower_make_range(op: tt.MakeRangeOp, f: LoweringContext) -> Sequence[SSAValue]:
    """
    ```mlir
    %r = tt.make_range {end = 8 : i32, start = 4 : i32} : tensor<4xi32>
    // becomes
    %r = linalg.generic outs(%e : tensor<4xi32>) {
      %i = linalg.index 0 : index
      %n = arith.index_cast %i : index to i32
      %s = arith.addi %n, %c4_i32 : i32
      linalg.yield %s : i32
    } -> tensor<4xi32>
    ```
    """
    b, start = f.b, op.start.value.data

    def body(_: Sequence[SSAValue]) -> Sequence[SSAValue]:
        lane = b.cast(arith.IndexCastOp, b.lane_index(0), i32)
        return (b.emit(arith.AddiOp, lane, b.int(start, i32)) if start else lane,)

    out = b.empty(op.result.type)
    return b.generic((), (out,), body, maps=identity_maps(1, 1), iterators=("parallel",))


@lowers(ub.PoisonOp)
def lower_poison(op: ub.PoisonOp, f: LoweringContext) -> Sequence[SSAValue]:
    """``tensor.empty``: a tensor of which nothing reads an element that matters."""
    return (f.b.empty(op.result.type),) if is_tensor(op.result.type) else op.results
