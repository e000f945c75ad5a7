"""Calls of functions that are not inlined, and returns.

A callee gets, after its arguments, the address of the shared memory that allocation gave the call (`allocation.offset`
on `tt.call`) and, in modules that use one, the global scratch pointer.
"""

from __future__ import annotations

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.llvm_text import global_name
from tilewright.codegen.nvptx.names import ptx_name
from tilewright.dialects import tt
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.carried_values import flat_types
from tilewright.lowering.ttg_to_llvm.function_lowering import ALLOCATION_OFFSET, PASS_NAME, GpuFunctionLowering, lowers


@lowers(tt.ReturnOp)
def lower_return(op: tt.ReturnOp, fn: GpuFunctionLowering) -> None:
    if fn.workers is not None:
        fn.workers.end_kernel()
    values = fn.flat_all(op.operands)
    if not values:
        fn.text.ret()
        return
    if len(values) == 1:
        type, operand = values[0]
        fn.text.ret(type, operand)
        return
    struct = result_struct([type for type, _ in values])
    whole = "poison"
    for position, (type, operand) in enumerate(values):
        whole = fn.text.insert_value(struct, whole, type, operand, position)
    fn.text.ret(struct, whole)


@lowers(tt.CallOp)
def lower_call(op: tt.CallOp, fn: GpuFunctionLowering) -> None:
    name = op.callee.root_reference.data
    if name not in fn.module.functions:
        raise op_error(op, f"calls '{name}', which the module does not have", pass_name=PASS_NAME)
    if fn.threads.partition is not None:
        reason = f"a partition calls '{name}', which is not inlined and would run on all warps: leave out noinline"
        raise op_error(op, reason, pass_name=PASS_NAME)
    arguments = fn.flat_all(op.operands)
    shared = fn.shared_pointer(op) if ALLOCATION_OFFSET in op.attributes else fn.shared_base
    arguments.append(("ptr addrspace(3)", shared))
    if fn.scratch_base is not None:
        arguments.append(("ptr addrspace(1)", fn.program_scratch()))
    results = [text for result in op.results for text in flat_types(result.type)]
    struct = result_struct(results)
    callee = global_name(ptx_name(name, is_kernel=False))
    call = f"call {struct} {callee}({', '.join(f'{type} {operand}' for type, operand in arguments)})"
    if not results:
        fn.text.emit(call)
        return
    value = fn.text.value(call)
    operands = [value]
    if len(results) > 1:
        operands = [fn.text.extract_value(struct, value, index, type) for index, type in enumerate(results)]
    fn.bind_flat(op.results, iter(operands))
