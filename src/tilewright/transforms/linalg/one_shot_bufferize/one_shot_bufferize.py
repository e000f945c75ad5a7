"""The pass `one-shot-bufferize`."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import func
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.support.modules import import_modules
from tilewright.transforms.linalg.one_shot_bufferize import functions, structured_rules
from tilewright.transforms.linalg.one_shot_bufferize.rules import Bufferizer

import_modules("tilewright.transforms.linalg.one_shot_bufferize")  # whose functions fill the table


@register_pass
class OneShotBufferizePass(Pass):
    """Gives every tensor a buffer in its function: linalg on tensors becomes linalg on memrefs.

    ```mlir
    %x = bufferization.to_tensor %view restrict : memref<16xf32, strided<[1]>> to tensor<16xf32>
    %r = linalg.generic ... ins(%x : tensor<16xf32>) outs(%x : tensor<16xf32>) { math.exp } -> tensor<16xf32>
    bufferization.materialize_in_destination %r in writable %target
    // becomes
    %b0 = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
    %b1 = memref.alloca() {alignment = 64 : i64} : memref<16xf32>
    memref.copy %view, %b0
    linalg.generic ... ins(%b0 : memref<16xf32>) outs(%b1 : memref<16xf32>) { math.exp }
    memref.copy %b1, %target
    ```
    Any control flow is allowed, and so are tensors in signatures. Unlike upstream's pass of this name, it does not try
    to avoid copies, except for destinations that nothing else reads: this is the baseline, which accepts every module.
    """

    name = "one-shot-bufferize"
    title = "OneShotBufferizePass"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        found = [op for op in module.ops if isinstance(op, func.FuncOp)]
        for function in found:
            if function.body.blocks.first is not None:
                bufferizer = Bufferizer(function, structured_rules.bufferize_elementwise)
                if functions.has_tensors(function):
                    functions.add_buffer_arguments(bufferizer)
                bufferizer.run()
        for function in found:
            if functions.has_tensors(function):
                functions.convert_signature(function)
