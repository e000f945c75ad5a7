"""The pass triton-to-unstructured."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.analysis.order import ProgramOrder
from tilewright.analysis.origins import Origins
from tilewright.dialects import tt
from tilewright.dialects.attributes import NOALIAS
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import find_ops
from tilewright.lowering.dead_addresses import erase_dead_values
from tilewright.lowering.tt_to_unstructured.accesses import NO_ARGUMENT, POINTER_USERS, AccessRewriter, pointers_of
from tilewright.lowering.tt_to_unstructured.offsets import OffsetEmitter
from tilewright.lowering.tt_to_unstructured.signatures import Pairs, give_offsets


@register_pass
class TritonToUnstructuredPass(Pass):
    """Accesses that have no structure become gathers, scatters and atomics on a base with element offsets.

    ```mlir
    %zeros = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %p = tt.splat %x : !tt.ptr<f32> -> tensor<64x!tt.ptr<f32>>
    %q = tt.addptr %p, %rows : tensor<64x!tt.ptr<f32>>, tensor<64xi32>
    %v = tt.load %q, %m, %zeros : tensor<64x!tt.ptr<f32>>
    tt.store %y, %s : !tt.ptr<f32>
    ```
    becomes
    ```mlir
    %zero = arith.constant 0.000000e+00 : f32
    %v = tts.gather %x[%rows] mask = %m default = %zero : (<f32>, tensor<64xi32>) -> tensor<64xf32>
    %c0 = arith.constant 0 : i32
    tts.scatter %s into %y[%c0] : f32 into (<f32>, i32)
    ```
    Pointers carried by control flow become carried offsets, plus a carried base if the base changes. Offsets are as
    wide as necessary: a single offset keeps its type, and sums have 64 bits. Pointers with lane-dependent bases,
    pointers made from integers, and pointers read from memory are treated as addresses and expressed relative to a
    function argument; a kernel without pointer arguments gets one that no launch passes, address 0
    (`tilewright.address_zero`). The arguments are then no longer known to be disjoint (`tilewright.noalias` is
    dropped). Bases of structured pointers become function arguments in the same way. Memory cast to wider elements need
    not be aligned to their size: a scalar cast becomes a base of its own, and lanes are read and written as several
    narrower integers, whereas atomics on lanes are assumed to be aligned. Device functions take an offset for each
    pointer that is not a base at every call. Anything that cannot be expressed is left alone, with a remark.
    """

    name = "triton-to-unstructured"

    offset_bit_width: int = 0
    """The narrowest width of offsets, and the width of their sums unless an offset is wider; 0 leaves none to
    overflow."""

    def run(self, module: ModuleOp, context: PassContext) -> None:
        passed = give_offsets(module)
        for op in find_ops(module, tt.FuncOp):
            if op.body.blocks:
                self.run_on_function(op, passed, context)

    def run_on_function(self, function: tt.FuncOp, passed: Pairs, context: PassContext) -> None:
        """Decides first what can be rewritten, then makes the offsets, then rewrites."""
        users = [op for op in find_ops(function.body, *POINTER_USERS) if not isinstance(op, tt.CallOp) or op in passed]
        if not users:
            return
        origins = Origins(function, self.offset_bit_width or None)
        rewriter = AccessRewriter(function, origins, passed)
        chosen = [op for op in users if rewriter.needs_rewriting(op) and self._is_possible(op, rewriter, context)]
        if not chosen:
            return
        offsets = OffsetEmitter(origins, ProgramOrder(function), rewriter.load_address)
        rewriter.emitter = offsets
        offsets.require(pointer for op in chosen for pointer in pointers_of(op))
        offsets.emit()
        for op in chosen:
            rewriter.rewrite(op)
        if rewriter.uses_addresses:
            function.attributes.pop(NOALIAS, None)
        erase_dead_values(function)

    @staticmethod
    def _is_possible(op: Operation, rewriter: AccessRewriter, context: PassContext) -> bool:
        problem = rewriter.problem(op)
        if problem is not None:
            context.remark(op, f"no base to count from: {problem}")
        if problem == NO_ARGUMENT:
            for maker in find_ops(rewriter.function.body, tt.IntToPtrOp):
                context.remark(maker, problem)
        return problem is None
