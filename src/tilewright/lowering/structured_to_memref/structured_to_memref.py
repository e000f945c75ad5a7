"""The pass `structured-to-memref`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import tts
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.access_lowering import erase_unused, lower_accesses
from tilewright.lowering.structured_to_memref.loads import lower_load_in_lanes
from tilewright.lowering.structured_to_memref.tiles import LOWERINGS
from tilewright.support.modules import import_modules

import_modules("tilewright.lowering.structured_to_memref")  # whose functions fill the table

POINTERS = (tts.MakeTensorPtrOp, tts.MakeGatherScatterTensorPtrOp)


@register_pass
class StructuredToMemrefPass(Pass):
    """Structured accesses become copies between strided views of memory and local buffers.

    ```mlir
    %p = tts.make_tptr %x to sizes: [64], strides: [1], offsets: [%o], shape: [0], order: []
         : <f32> to tensor<64x!tt.ptr<f32>>
    %v = "tts.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>, static_mask_dims = array<i64>}>
         : (tensor<64x!tt.ptr<f32>>) -> tensor<64xf32>
    // becomes
    %m = builtin.unrealized_conversion_cast %x : !tt.ptr<f32> to memref<*xf32>
    %p = memref.reinterpret_cast %m to offset: [%o], sizes: [64], strides: [1]
         : memref<*xf32> to memref<64xf32, strided<[1], offset: ?>>
    %buf = memref.alloc() : memref<64xf32>
    memref.copy %p, %buf : memref<64xf32, strided<[1], offset: ?>> to memref<64xf32>
    %v = bufferization.to_tensor %buf restrict writable : memref<64xf32> to tensor<64xf32>
    ```
    See `boxes` for wrapped and gathered tiles, and `loads` for masks. An access whose pointer does not come from a
    visible ``make_tptr`` is left alone, with a remark.
    """

    name = "structured-to-memref"

    rows_by_lane: bool = False
    """Load a row that wraps around, and gathered rows without a mask, element by element, as a `linalg.generic` that
    fuses with its readers, in place of copies and a loop over lanes or rows."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        in_lanes = {tts.LoadOp: lower_load_in_lanes} if self.rows_by_lane else {}
        lower_accesses(module, {**LOWERINGS, **in_lanes}, context)
        erase_unused(module, POINTERS)
