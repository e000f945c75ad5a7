"""Addresses as integers: `tt.ptr_to_int` of a pointer that is memory plus an offset.

```mlir
%a = tt.ptr_to_int %p : !tt.ptr<f32> -> i64
// becomes, with %m the memory of %p
%e = memref.reinterpret_cast %m to offset: [0], sizes: [1], strides: [1] : memref<*xf32> to memref<1xf32, strided<[1]>>
%i = memref.extract_aligned_pointer_as_index %e : memref<1xf32, strided<[1]>> -> index
%a = arith.index_cast %i : index to i64
```
Single bits lie in bytes: an address among them is one of the bytes.

A program that computes with addresses may reach any memory from any pointer, so its functions lose
``tilewright.noalias``.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp, i1, i8, i64
from xdsl.ir import SSAValue

from tilewright.dialects import arith, func, memref, tt
from tilewright.dialects.attributes import NOALIAS
from tilewright.dialects.types import bit_width, is_tensor
from tilewright.ir.passes import PassContext
from tilewright.ir.walking import find_ops
from tilewright.lowering.access_lowering import AccessLowerings, lower_accesses
from tilewright.lowering.memory_builder import MemoryBuilder, NotAddressable, check_pointer

LOWERINGS = AccessLowerings()


@LOWERINGS.lowers(tt.PtrToIntOp)
def lower_ptr_to_int(op: tt.PtrToIntOp, memory: MemoryBuilder) -> Sequence[SSAValue]:
    """The address of the memory, plus the pointer's offset there in bytes."""
    b = memory.ops
    if is_tensor(op.src.type):
        raise NotAddressable("a tensor of addresses")
    start, offset = memory.find_start(op.src)
    element = check_pointer(start)
    if element == i1:
        start = b.result(tt.BitcastOp(start, tt.PointerType(i8)))
    size = max(1, bit_width(element) // 8)
    first = b.result(memref.ExtractAlignedPointerAsIndexOp(memory.element(memory.memory(start), 0)))
    address = b.ssa(b.add(first, b.mul(offset, size)))
    return (b.cast(arith.IndexCastOp, address, i64),)


def lower_addresses(module: ModuleOp, context: PassContext) -> None:
    """Lower every `tt.ptr_to_int` of a module."""
    for function in module.ops:
        if isinstance(function, func.FuncOp | tt.FuncOp) and find_ops(function, tt.PtrToIntOp, tt.IntToPtrOp):
            function.attributes.pop(NOALIAS, None)
    lower_accesses(module, LOWERINGS, context)
