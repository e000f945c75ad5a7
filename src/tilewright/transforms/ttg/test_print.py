"""`test-print-alignment`, `test-print-alias`, `test-print-allocation`, `test-print-membar`: what analyses find.

The first three leave the IR as it is and say what they found in remarks, in triton-opt's words; the last inserts
barriers, for IR whose buffers have no places yet.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp

from tilewright.analysis.alias import ModuleAliases
from tilewright.analysis.allocation import BufferKind, ModuleAllocation
from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.analysis.call_graph import call_graph_of
from tilewright.dialects import tt
from tilewright.dialects.types import element_type, is_integer_or_index
from tilewright.ir.naming import ValueNames
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.values import op_of
from tilewright.transforms.ttg.membar import filter_of, insert_barriers


@register_pass
class PrintAlignmentPass(Pass):
    """Remarks with the axis info of each result that is made of integers or pointers.

    ```mlir
    %0 = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
    // remark: contiguity = [128], divisibility = [1073741824], constancy = [1], constant_value = <none>
    ```
    """

    name = "test-print-alignment"
    takes: ClassVar[tuple[str, ...]] = ("tt", "structured", "open_ttg")

    def run(self, module: ModuleOp, context: PassContext) -> None:
        infos = ModuleAxisInfo(module)
        for op in module.walk():
            for result in op.results:
                element = element_type(result.type)
                if is_integer_or_index(element) or isinstance(element, tt.PointerType):
                    context.remark(op, str(infos.of(result)))


@register_pass
class PrintAliasPass(Pass):
    """Remarks with the buffers that each memdesc may be, arguments of blocks at the op around them.

    ```mlir
    %v = ttg.memdesc_index %a[%i] : ...                 // remark: %v -> %a
    ```
    """

    name = "test-print-alias"
    takes: ClassVar[tuple[str, ...]] = ("tt", "structured", "open_ttg")

    def run(self, module: ModuleOp, context: PassContext) -> None:
        aliases = ModuleAliases(call_graph_of(module))
        names = ValueNames(module).values
        for value in aliases.values:
            op = op_of(value)
            buffers = sorted(names[buffer] for buffer in aliases.of(value))
            if op is not None and buffers:
                context.remark(op, f"{names[value]} -> {','.join(buffers)}")


@register_pass
class PrintAllocationPass(Pass):
    """Remarks with the offset of each buffer, and the total that each function needs.

    ```mlir
    %a = ttg.local_alloc : () -> ...                    // remark: offset = 0, size = 512
    %y = ttg.convert_layout %x : ...                    // remark: scratch offset = 512, size = 1024
    tt.call @f() : () -> ()                             // remark: virtual offset = 512, size = 256
    ```
    """

    name = "test-print-allocation"
    takes: ClassVar[tuple[str, ...]] = ("open_ttg",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for function, allocation in ModuleAllocation(module).functions.items():
            context.remark(function, function.sym_name.data)
            for buffer in allocation.buffers:
                kind = "" if buffer.kind is BufferKind.EXPLICIT else f"{buffer.kind.value} "
                context.remark(buffer.owner, f"{kind}offset = {buffer.offset}, size = {buffer.size}")
            context.remark(function, f"size = {allocation.shared_bytes}")


@register_pass
class PrintMembarPass(Pass):
    """Inserts the barriers that `membar` would insert after `allocate-shared-memory`.

    ```mlir
    ttg.local_store %x, %m : ...
    ttg.barrier local                                   // is new
    %y = ttg.local_load %m : ...
    ```
    """

    name = "test-print-membar"
    takes: ClassVar[tuple[str, ...]] = ("open_ttg",)

    def run(self, module: ModuleOp, context: PassContext) -> None:
        insert_barriers(ModuleAllocation(module), filter_of(module))
