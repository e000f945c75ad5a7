"""Tensors of pointers, with ``tensor-ptr-to-linalg``: each op on them becomes a `linalg.generic` around its scalar
form.

```mlir
%q = tt.addptr %p, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>
// becomes
%q = linalg.generic ins(%p, %o : tensor<16x!tt.ptr<f32>>, tensor<16xi32>) outs(%p : tensor<16x!tt.ptr<f32>>) {
^bb0(%in: !tt.ptr<f32>, %in_0: i32, %out: !tt.ptr<f32>):
  %s = tt.addptr %in, %in_0 : !tt.ptr<f32>, i32
  linalg.yield %s : !tt.ptr<f32>
} -> tensor<16x!tt.ptr<f32>>
```
What the earlier passes understood has no pointers left; `triton-ptr-to-memref` gives the scalar ops that remain a
meaning on addresses.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tt
from tilewright.lowering.arith_to_linalg.elementwise import lower_bitcast, lower_by_lane
from tilewright.lowering.arith_to_linalg.lowering import LoweringContext, NotLowered, has_pointers, lowers
from tilewright.lowering.scalar_builder import ScalarBuilder
from tilewright.lowering.tensor_builder import element_of


def _scalar_form(op: Operation, b: ScalarBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """The same op on scalars; what lies in memory keeps its type, 8-bit floats too."""
    kinds = [element_of(result) for result in op.results]
    return b.insert(type(op).create(operands=operands, result_types=kinds, properties=op.properties)).results


_by_lane = lower_by_lane(_scalar_form)


def _require_tensor_pointers(f: LoweringContext) -> None:
    if not f.options.tensor_ptr_to_linalg:
        raise NotLowered("a tensor of pointers is left to the pointer passes")


def lower_pointer_op(op: Operation, f: LoweringContext) -> Sequence[SSAValue]:
    """addptr, int_to_ptr, ptr_to_int: scalars are left to the pointer passes."""
    if not isinstance(op.results[0].type, TensorType):
        return op.results
    if not f.options.tensor_ptr_to_linalg and not (f.options.addptr_to_linalg and isinstance(op, tt.AddPtrOp)):
        raise NotLowered("a tensor of pointers is left to the pointer passes")
    return _by_lane(op, f)


lowers(tt.AddPtrOp, tt.IntToPtrOp, tt.PtrToIntOp)(lower_pointer_op)


@lowers(tt.BitcastOp)
def lower_any_bitcast(op: tt.BitcastOp, f: LoweringContext) -> Sequence[SSAValue]:
    """Casts of values, and of tensors of pointers."""
    if not has_pointers(op.src):
        return lower_bitcast(op, f)
    return lower_pointer_op(op, f)


@lowers(tt.LoadOp)
def lower_load(op: tt.LoadOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A load through a tensor of pointers, lane by lane."""
    if not isinstance(op.ptr.type, TensorType):
        return op.results
    _require_tensor_pointers(f)
    return _by_lane(op, f)


@lowers(tt.StoreOp)
def lower_store(op: tt.StoreOp, f: LoweringContext) -> Sequence[SSAValue]:
    """A store through a tensor of pointers, lane by lane."""
    if not isinstance(op.ptr.type, TensorType):
        return op.results
    _require_tensor_pointers(f)

    def body(lanes: Sequence[SSAValue]) -> None:
        f.b.insert(tt.StoreOp.create(operands=lanes, properties=op.properties))

    f.b.for_each_lane(list(op.operands), body)
    return ()
