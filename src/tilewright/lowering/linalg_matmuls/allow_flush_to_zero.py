"""The pass `linalg-allow-flush-to-zero`."""

from __future__ import annotations

from xdsl.dialects.builtin import BFloat16Type, ModuleOp, UnitAttr
from xdsl.ir import SSAValue

from tilewright.codegen.microkernels import MatmulKernel, flushes_subnormals
from tilewright.dialects import arith, linalg
from tilewright.dialects.attributes import FLUSHES_SUBNORMALS
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.lowering.microkernel_attributes import find_routine


@register_pass
class LinalgAllowFlushToZeroPass(Pass):
    """Lets conversions to bfloat16 flush subnormals to zero if the micro-kernels that read the results do so anyway.

    ```mlir
    %p = linalg.generic { ... arith.truncf %e : f32 to bf16 ... }
    %d = linalg.matmul {microkernel.matmul = ...} ins(%p, %v : ...) outs(...)         // the only reader
    // becomes
    %p = linalg.generic { ... arith.truncf %e {tilewright.flushes_subnormals} : f32 to bf16 ... }
    ```
    x86's instruction for this conversion turns subnormals into zeros, and so do its bfloat16 dot products. Elsewhere,
    lanes with subnormal values are detected and corrected, vector by vector. Nothing is marked for a target whose
    micro-kernels keep subnormals.
    """

    name = "linalg-allow-flush-to-zero"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        if context.facts is not None and flushes_subnormals("bf16", "f32", context.facts):
            for op in ops_within(module):
                if isinstance(op, linalg.StructuredOp):
                    mark_narrowings(op)


def mark_narrowings(op: linalg.StructuredOp) -> None:
    """Mark the narrowings that make the results of an op, where its readers allow that."""
    yielded = op.body.block.last_op
    assert yielded is not None
    for index, result in enumerate(op.results):
        narrowing = yielded.operands[index].owner
        if (
            isinstance(narrowing, arith.TruncFOp)
            and isinstance(narrowing.results[0].type, BFloat16Type)
            and narrowing.results[0].uses.get_length() == 1
            and _feeds_matmuls(result)
        ):
            narrowing.attributes[FLUSHES_SUBNORMALS] = UnitAttr()


def _feeds_matmuls(value: SSAValue) -> bool:
    """Return whether a tensor is the left operand of matmuls by micro-kernels, and nothing else."""
    return bool(value.uses.get_length()) and all(
        isinstance(use.operation, linalg.MatmulOp)
        and use.index == 0
        and isinstance(find_routine(use.operation), MatmulKernel)
        for use in value.uses
    )
