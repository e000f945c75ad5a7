"""`tritongpu-global-scratch-memory-allocation`: places for the global memory that a program needs for itself."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from tilewright.analysis.call_graph import CallGraph, call_graph_of
from tilewright.dialects import tt, ttg
from tilewright.dialects.construction import i32_attr
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

SIZE = "ttg.global_scratch_memory_size"
ALIGNMENT = "ttg.global_scratch_memory_alignment"
OFFSET = "ttg.global_scratch_memory_offset"


@register_pass
class GlobalScratchMemoryAllocationPass(Pass):
    """Assigns offsets in global scratch memory in every function, callees first.

    Before:
    ```mlir
    tt.func @k() {
      %0 = ttg.global_scratch_alloc {alignment = 128 : i32, nbytes = 128 : i32} : !tt.ptr<i8>
      tt.call @helper() : () -> ()
    ```
    After: each allocation, and each call of a function that allocates, has the byte offset of its part; the module
    states what one program needs in all.
    ```mlir
    module attributes {ttg.global_scratch_memory_alignment = 128 : i32, ttg.global_scratch_memory_size = 256 : i32} {
      %0 = ttg.global_scratch_alloc {..., ttg.global_scratch_memory_offset = 0 : i32} : !tt.ptr<i8>
      tt.call @helper() {ttg.global_scratch_memory_offset = 128 : i32} : () -> ()
    ```
    Allocations never overlap, because descriptors created in them may be read until the kernel ends.
    """

    name = "tritongpu-global-scratch-memory-allocation"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        graph = call_graph_of(module)
        needs: dict[str, tuple[int, int]] = {}
        for function in graph.post_order():
            needs[function.sym_name.data] = _lay_out(function, graph, needs)
        roots = [needs[function.sym_name.data] for function in graph.roots]
        size, alignment = max((s for s, _ in roots), default=0), max((a for _, a in roots), default=1)
        if size:
            module.attributes[SIZE] = i32_attr(_aligned(size, alignment))
            module.attributes[ALIGNMENT] = i32_attr(alignment)


def _lay_out(function: tt.FuncOp, graph: CallGraph, needs: dict[str, tuple[int, int]]) -> tuple[int, int]:
    """Bytes and alignment of one function's scratch, callees included."""
    size, alignment = 0, 1
    for op in ops_within(function.body):
        bytes_needed, wanted = _need_of(op, graph, needs)
        if not bytes_needed:
            continue
        size = _aligned(size, wanted)
        op.attributes[OFFSET] = i32_attr(size)
        size += bytes_needed
        alignment = max(alignment, wanted)
    if size:
        function.attributes[SIZE] = i32_attr(_aligned(size, alignment))
        function.attributes[ALIGNMENT] = i32_attr(alignment)
    return size, alignment


def _need_of(op: Operation, graph: CallGraph, needs: dict[str, tuple[int, int]]) -> tuple[int, int]:
    match op:
        case ttg.GlobalScratchAllocOp():
            return op.nbytes.value.data, op.alignment.value.data
        case tt.CallOp() if (callee := graph.callee(op)) is not None:
            return needs[callee.sym_name.data]
        case _:
            return 0, 1


def _aligned(size: int, alignment: int) -> int:
    return -(-size // alignment) * alignment
