"""func: calls and returns. Every function takes the arena and its own frame in it as hidden last parameters."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tilewright.codegen.instructions import result_struct
from tilewright.codegen.llvm_text import global_name
from tilewright.codegen.microkernels import (
    MatmulKernel,
    Packing,
    PanelRoutine,
    Routine,
    configured_variant,
    direct_variant,
    exact_variant,
)
from tilewright.dialects import arith, func
from tilewright.dialects.coroutines import RESUME
from tilewright.lowering.loops_to_llvm.arena import HEADER_BYTES
from tilewright.lowering.loops_to_llvm.atomic_calls import lower_atomic_call
from tilewright.lowering.loops_to_llvm.byte_products import lower_byte_product
from tilewright.lowering.loops_to_llvm.coroutines import lower_coroutine_call, lower_start
from tilewright.lowering.loops_to_llvm.function_lowering import ARENA, CpuFunctionLowering, lowers

A_K_STRIDE, K_COUNT, M_COUNT, N_COUNT = 2, 7, 8, 9
"""Which parameters of a micro-kernel are the stride of A along k, the terms of a sum, and the rows and columns of C."""


@lowers(func.ReturnOp)
def lower_return(op: func.ReturnOp, low: CpuFunctionLowering) -> None:
    low.emit_return(low.flat_all(op.operands))


@lowers(func.CallOp)
def lower_call(op: func.CallOp, low: CpuFunctionLowering) -> None:
    """A op of a function of this module passes the part of the arena after this frame."""
    name = op.callee.root_reference.data
    shape = low.module.functions.get(name)
    if shape is None:
        low.fail(op, f"calls '{name}', which the module does not have")
        return
    if lower_atomic_call(low, op) or lower_byte_product(low, op):
        return
    if lower_coroutine_call(low, op):
        if name == RESUME:
            low.leave_if(_has_stopped(low))
        return
    arguments = low.flat_all(op.operands)
    results = [text for result in op.results for text in low.flat_types(result.type)]
    if shape.is_declaration:
        _call_external(low, op, name, arguments, results)
        return
    if op in low.coroutine_notes:
        lower_start(low, op, arguments)
        low.leave_if(_has_stopped(low))
        return
    hidden = ("poison", "poison") if shape.is_leaf else (ARENA, low.callee_frame())
    arguments += [("ptr", operand) for operand in hidden]
    result_type = result_struct(results)
    operands = ", ".join(f"{type} {operand}" for type, operand in arguments)
    instruction = f"call {result_type} {global_name(name)}({operands})"
    registers = _take_apart(low, instruction, results, result_type)
    if shape.may_stop:
        low.leave_if(_has_stopped(low))
    low.bind_flat(op.results, iter(registers))


def _call_external(
    low: CpuFunctionLowering, op: Operation, name: str, arguments: list[tuple[str, str]], results: list[str]
) -> None:
    """A function that the module only declares: a micro-kernel, libm, or part of the runtime."""
    routine = low.module.known.routines.get(name)
    match routine:
        case MatmulKernel():
            routine = _variant(low, routine, arguments)
            name = routine.symbol
        case PanelRoutine() if takes_pack_cache(routine):
            arguments.append(("ptr", ARENA))
        case _:
            pass
    low.module.use_external(name, routine)
    result_type = result_struct(results)
    fn = low.fn
    types = ", ".join(type for type, _ in arguments)
    fn.module.declarations.setdefault(name, f"declare {result_type} {global_name(name)}({types})")
    operands = ", ".join(f"{type} {operand}" for type, operand in arguments)
    registers = _take_apart(low, f"call {result_type} {global_name(name)}({operands})", results, result_type)
    low.bind_flat(op.results, iter(registers))


def takes_pack_cache(routine: Routine | None) -> bool:
    """Return whether a routine keeps panels in a cache, part of its caller's arena."""
    return isinstance(routine, PanelRoutine) and routine.packing in (Packing.CACHE, Packing.RESERVE)


def _variant(low: CpuFunctionLowering, kernel: MatmulKernel, arguments: list[tuple[str, str]]) -> MatmulKernel:
    """The variant of a kernel for what is known of the arguments of a call."""
    facts, unit_stride = low.module.facts, arguments[A_K_STRIDE][1] == "1"
    k_count, m_count, n_count = (_constant(arguments[index][1]) for index in (K_COUNT, M_COUNT, N_COUNT))
    if m_count is not None and n_count is not None:
        exact = exact_variant(kernel, m_count, n_count, facts, k_count if unit_stride else None)
        # The variant without edges saves little, and a kernel that is needed anyway costs nothing to compile.
        if exact.has_edges or kernel.symbol not in low.module.known.open_kernels:
            kernel = exact
    if unit_stride:
        kernel = direct_variant(kernel, facts)
    configured = configured_variant(kernel, facts)
    if configured is None:
        return kernel
    low.module.needs.uses_tiles = True
    return configured


def is_open_kernel(op: func.CallOp, routines: Mapping[str, Routine]) -> bool:
    """Return whether a call is one of a micro-kernel whose rows or columns are known at run time only."""
    if not isinstance(routines.get(op.callee.root_reference.data), MatmulKernel):
        return False
    return any(not isinstance(op.operands[index].owner, arith.ConstantOp) for index in (M_COUNT, N_COUNT))


def _constant(operand: str) -> int | None:
    return None if operand[0] == "%" else int(operand)


def _take_apart(low: CpuFunctionLowering, instruction: str, results: list[str], result_type: str) -> list[str]:
    if not results:
        low.fn.emit(instruction)
        return []
    value = low.fn.value(instruction)
    if len(results) == 1:
        return [value]
    return [low.fn.extract_value(result_type, value, position, type) for position, type in enumerate(results)]


def _has_stopped(low: CpuFunctionLowering) -> str:
    """The stop flag of the launch, which the arena's header points to."""
    fn = low.fn
    header = fn.address("i8", ARENA, f"-{HEADER_BYTES}")
    launch = fn.load("ptr", header)
    flag = fn.load_atomic("i32", launch, align=4)
    return fn.icmp("ne", "i32", flag, 0)
