"""Element-wise accesses on a base with computed offsets: `tts.gather` and `tts.scatter`.

A lane that is masked off touches no memory, scalar lanes included:

```mlir
%g = tts.gather %base[%off] mask = %m default = %x : (<f32>, tensor<4xi32>) -> tensor<4xf32>
// becomes
%g = linalg.generic ins(%off, %m : tensor<4xi32>, tensor<4xi1>) outs(%e : tensor<4xf32>) {
^bb0(%in: i32, %in_0: i1, %out: f32):
  %i = arith.index_cast %in : i32 to index
  %r = scf.if %in_0 -> (f32) {
    %p = memref.reinterpret_cast %mem to offset: [%i], sizes: [1], strides: [1]
         : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %v = memref.load %p[%c0] : memref<1xf32, strided<[1], offset: ?>>
    scf.yield %v : f32
  } else {
    scf.yield %x : f32
  }
  linalg.yield %r : f32
} -> tensor<4xf32>
```
An offset may be negative (a pointer argument may point into the middle of an array), which is why the offset is the
view's and not an index.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from tilewright.dialects import tts
from tilewright.lowering.access_lowering import AccessLowerings
from tilewright.lowering.memory_builder import MemoryBuilder
from tilewright.lowering.scalar_builder import Index
from tilewright.lowering.tensor_builder import TensorBuilder, element_of
from tilewright.transforms.linalg.index_proofs import fold_index

LOWERINGS = AccessLowerings()


def element_index(b: TensorBuilder, start: Index, offset: SSAValue) -> Index:
    """The index of a lane in the memory of its base."""
    return b.add(start, fold_index(b.as_index(offset)))


@LOWERINGS.lowers(tts.GatherOp)
def lower_gather(op: tts.GatherOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """Reads; dead lanes are ``default``, and zero without it."""
    b = memory.ops
    base, start = memory.resolve(op.ptr)
    element, is_volatile = element_of(op.result), "isVolatile" in op.attributes
    default = op.other if op.other is not None else b.zero(element) if op.mask is not None else None

    def load(offset: SSAValue) -> SSAValue:
        return b.as_type(memory.load_element(base, element_index(b, start, offset), is_volatile=is_volatile), element)

    def read(offset: SSAValue, live: SSAValue | None) -> SSAValue:
        if live is None or default is None:
            return load(offset)
        dead: tuple[SSAValue] = (default,)
        (value,) = b.if_else(live, [element], lambda: (load(offset),), lambda: dead).results
        return value

    if not isinstance(op.offset.type, TensorType):
        return (read(op.offset, op.mask),)
    inputs = [op.offset, *([op.mask] if op.mask is not None else [])]
    return b.lanes(inputs, op.result.type, lambda lanes: read(lanes[0], lanes[1] if op.mask is not None else None))


@LOWERINGS.lowers(tts.ScatterOp)
def lower_scatter(op: tts.ScatterOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """Writes, in the order of the lanes."""
    b = memory.ops
    base, start = memory.resolve(op.ptr)

    def write(offset: SSAValue, value: SSAValue, live: SSAValue | None) -> None:
        def store() -> Sequence[SSAValue]:
            memory.store_element(value, base, element_index(b, start, offset))
            return ()

        if live is None:
            store()
        else:
            b.if_else(live, (), store)

    if not isinstance(op.offset.type, TensorType):
        write(op.offset, op.value, op.mask)
        return ()
    inputs = [op.offset, op.value, *([op.mask] if op.mask is not None else [])]
    b.for_each_lane(inputs, lambda lanes: write(lanes[0], lanes[1], lanes[2] if op.mask is not None else None))
    return ()
