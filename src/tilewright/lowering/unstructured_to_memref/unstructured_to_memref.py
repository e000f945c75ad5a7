"""The pass `unstructured-to-memref`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.access_lowering import lower_accesses
from tilewright.lowering.unstructured_to_memref.accesses import LOWERINGS
from tilewright.support.modules import import_modules

import_modules("tilewright.lowering.unstructured_to_memref")  # whose functions fill the table


@register_pass
class UnstructuredToMemrefPass(Pass):
    """Gathers, scatters and atomics become accesses to one element at a time.

    ```mlir
    %v = tts.gather %p[%i] : (<f32>, i32) -> f32
    // becomes
    %c0 = arith.constant 0 : index
    %m = builtin.unrealized_conversion_cast %p : !tt.ptr<f32> to memref<*xf32>
    %o = arith.index_cast %i : i32 to index
    %e = memref.reinterpret_cast %m to offset: [%o], sizes: [1], strides: [1]
         : memref<*xf32> to memref<1xf32, strided<[1], offset: ?>>
    %v = memref.load %e[%c0] : memref<1xf32, strided<[1], offset: ?>>
    ```
    Masks, defaults and tensors: see `accesses` and `atomics`.
    """

    name = "unstructured-to-memref"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        lower_accesses(module, LOWERINGS, context)
