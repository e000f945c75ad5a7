"""The pass `linalg-select-microkernels`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from tilewright.codegen.microkernels import WHOLE_BLOCK, MatmulKernel, variant_for_rows
from tilewright.dialects import linalg
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.microkernel_attributes import microkernel_attributes
from tilewright.support.facts import DEFAULT_FACTS, TargetFacts
from tilewright.transforms.linalg.structured import shape_or_scalar

_TYPES = frozenset({("f32", "f32"), ("bf16", "f32"), ("f16", "f32"), ("f64", "f64"), ("i8", "i32")})
"""Of operands and accumulators that there are micro-kernels for, and that tiles reach them with."""


@register_pass
class LinalgSelectMicrokernelsPass(Pass):
    """Chooses the micro-kernel of each matmul, and the blocks of the result that it computes.

    ```mlir
    %d = linalg.matmul ins(%a, %b : tensor<2x64xf32>, tensor<64x32xf32>) outs(%c : tensor<2x32xf32>)
    // becomes
    %d = linalg.matmul {microkernel.matmul = {accumulator = "f32", columns = 1024 : i64, element = "f32",
                                              for_few_rows = true, rows = 2 : i64}} ins(%a, %b : ...) outs(%c : ...)
    ```
    A block of 1024 rows or columns means all of them. Kernels for few rows read B in place. Which form of B the other
    kernels read, and what their sums start from, is decided once operands and results have buffers. Matmuls without the
    attribute become loops.
    """

    name = "linalg-select-microkernels"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for op in ops_within(module):
            if isinstance(op, linalg.MatmulOp | linalg.BatchMatmulOp):
                kernel = select_microkernel([value.type for value in op.operands], context.facts or DEFAULT_FACTS)
                if kernel is None:
                    context.remark(op, "runs as loops: there is no micro-kernel for these types")
                else:
                    op.attributes.update(microkernel_attributes(kernel))


def select_microkernel(types: Sequence[Attribute], facts: TargetFacts) -> MatmulKernel | None:
    """The micro-kernel for operands and result of these types; None where there is none."""
    if len(types) != 3 or not all(map(is_tensor, types)):
        return None
    a, b, c = map(element_type, types)
    if a != b or (str(a), str(c)) not in _TYPES:
        return None
    return variant_for_rows(
        MatmulKernel(str(a), str(c), WHOLE_BLOCK, WHOLE_BLOCK), shape_or_scalar(types[0])[-2], facts
    )
