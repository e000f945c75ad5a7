"""The pass `linalg-to-loops`."""

from __future__ import annotations

from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects import func
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.lowering.linalg_to_loops.function_lowering import FunctionLowering
from tilewright.lowering.linalg_to_loops.function_state import Decisions
from tilewright.support.facts import DEFAULT_FACTS
from tilewright.support.modules import import_modules

import_modules("tilewright.lowering.linalg_to_loops", is_deep=True)  # whose functions fill the table


@register_pass
class LinalgToLoopsPass(Pass):
    """Tensors become memory: loop nests over explicit vectors that read and write views and arena buffers.

    ```mlir
    %0 = bufferization.to_tensor %x restrict : memref<1024xf32, ...> to tensor<1024xf32>
    %1 = linalg.generic ... ins(%0) outs(%e) { math.exp } -> tensor<1024xf32>
    bufferization.materialize_in_destination %1 in writable %y
    // becomes
    scf.for %i = %c0 to %c1024 step %c16 {
      %v = vector.load %xs[%i] : memref<?xf32>, vector<16xf32>
      %w = math.exp %v : vector<16xf32>
      vector.store %w, %ys[%i] : memref<?xf32>, vector<16xf32>
    }
    ```
    """

    name = "linalg-to-loops"

    vector_bits: int = 0
    """Width of a vector register; 0: as the target says."""

    vectorize: bool = True
    """Whether loops run over vectors."""

    jam: bool = True
    """Whether several iterations of an outer loop share a reduction (unroll-and-jam)."""

    prefetch: bool = True
    """Whether loops prefetch."""

    stream: bool = True
    """Whether large launches store non-temporally."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        facts = context.facts or DEFAULT_FACTS
        if self.vector_bits:
            facts = replace(facts, vector_bits=self.vector_bits)
        decisions = Decisions(self.vectorize, self.jam, self.prefetch, self.stream)
        for op in list(module.ops):
            if isinstance(op, func.FuncOp) and op.body.blocks.first is not None:
                FunctionLowering(op, context, facts, decisions).run()
