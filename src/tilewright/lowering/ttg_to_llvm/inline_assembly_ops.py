"""tt.elementwise_inline_asm: the user's PTX applied to groups of elements. ttg.inline_asm: once in each thread.

Elements of less than 32 bits go into 32-bit registers, as many as fit and `packed_element` says: with f16 and
`packed_element = 2` an operand is one register that holds two. Results come back the same way.
"""

from __future__ import annotations

from collections.abc import Sequence

from tilewright.codegen.nvptx.inline_asm import inline_asm
from tilewright.dialects import tt, ttg
from tilewright.dialects.ttg.constraints import may_begin_elsewhere
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.buffers import pads_of
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.packing import from_words, to_words
from tilewright.lowering.ttg_to_llvm.shared_access import Pads, padded_operand, step_pointer
from tilewright.lowering.ttg_to_llvm.types import ElementType
from tilewright.lowering.ttg_to_llvm.values import SharedValue

WORD_BITS = 32


@lowers(tt.ElementwiseInlineAsmOp)
def lower_inline_asm(op: tt.ElementwiseInlineAsmOp, fn: GpuFunctionLowering) -> None:
    packed = op.packed_element.value.data
    columns = [fn.registers(operand) for operand in op.args]
    count = len(columns[0]) if columns else max(fn.num_registers(result.type) for result in op.result)
    elements = [fn.element(operand) for operand in op.args]
    results: list[list[str]] = [[] for _ in op.result]
    # Registers beyond the last whole group repeat the last one, and are dropped again.
    for start in range(0, count, packed):
        positions = [min(start + index, count - 1) for index in range(packed)]
        operands: list[tuple[str, str]] = []
        for column, element in zip(columns, elements, strict=True):
            operands += _operands(fn, element, [column[position] for position in positions])
        outputs = _emit(op, fn, operands, packed)
        for result, output in zip(results, outputs, strict=True):
            result += output[: count - start]
    for value, registers in zip(op.result, results, strict=True):
        fn.set_like(value, registers)


@lowers(ttg.InlineAsmOp)
def lower_inline_asm_of_threads(op: ttg.InlineAsmOp, fn: GpuFunctionLowering) -> None:
    operands: list[tuple[str, str]] = []
    for operand in op.args:
        if isinstance(operand.type, ttg.MemDescType):
            if may_begin_elsewhere(operand.type):
                raise op_error(op, "takes a slice that may begin in another CTA", pass_name=PASS_NAME)
            operands.append(("i32", _address(fn, fn.shared(operand), pads_of(operand.type))))
        else:
            operands += [(fn.element(operand).text, register) for register in fn.registers(operand)]
    counts = [fn.num_registers(result.type) for result in op.result]
    types = [fn.element(result).text for result, count in zip(op.result, counts, strict=True) for _ in range(count)]
    constraints = op.constraints.data.replace(" ", "")
    given = [constraint for constraint in constraints.split(",") if constraint and not constraint.startswith("~")]
    if len(given) != len(types) + len(operands):
        raise op_error(
            op,
            f"has {len(given)} constraints for {len(types)} registers of results and {len(operands)} of operands",
            pass_name=PASS_NAME,
        )
    has_effect = not op.pure.value.data
    registers = inline_asm(fn.text, op.asm_string.data, constraints, types, operands, has_effect=has_effect)
    for result, count in zip(op.result, counts, strict=True):
        fn.set_like(result, registers[:count])
        del registers[:count]


def _address(fn: GpuFunctionLowering, view: SharedValue, pads: Pads) -> str:
    """Return the address of the first element of a view, an i32."""
    offset = view.flip if view.flip == "0" else padded_operand(fn, view.flip, pads)
    return fn.text.cast("ptrtoint", "ptr addrspace(3)", step_pointer(fn, view.base, offset), "i32")


def _operands(fn: GpuFunctionLowering, element: ElementType, group: Sequence[str]) -> list[tuple[str, str]]:
    """The asm operands of a group of elements: packed into words where several share one, else one each."""
    per_word = _per_word(element, len(group))
    if per_word == 1:
        return [(element.text, operand) for operand in group]
    words = to_words(fn.text, element, group, element.bits * per_word)
    return [(f"i{element.bits * per_word}", word) for word in words]


def _per_word(element: ElementType, packed: int) -> int:
    return max(1, min(packed, WORD_BITS // element.bits))


def _emit(
    op: tt.ElementwiseInlineAsmOp, fn: GpuFunctionLowering, operands: Sequence[tuple[str, str]], packed: int
) -> list[list[str]]:
    """One instance of the asm; the elements of each result."""
    types: list[str] = []
    for result in op.result:
        element = fn.element(result)
        per_word = _per_word(element, packed)
        word = element.text if per_word == 1 else f"i{element.bits * per_word}"
        types += [word] * (packed // per_word)
    outputs = _call(op, fn, types, operands)
    elements: list[list[str]] = []
    for result in op.result:
        element = fn.element(result)
        per_word = _per_word(element, packed)
        mine, outputs = outputs[: packed // per_word], outputs[packed // per_word :]
        elements.append(mine if per_word == 1 else from_words(fn.text, element, mine, element.bits * per_word))
    return elements


def _call(
    op: tt.ElementwiseInlineAsmOp, fn: GpuFunctionLowering, types: Sequence[str], operands: Sequence[tuple[str, str]]
) -> list[str]:
    """Check that the constraints fit, and emit the call."""
    constraints = op.constraints.data.replace(" ", "")
    given = [constraint for constraint in constraints.split(",") if constraint and not constraint.startswith("~")]
    if len(given) != len(types) + len(operands):
        raise op_error(
            op,
            f"has {len(given)} constraints for {len(types)} results and {len(operands)} operands of 32 bits; "
            "elements of less than 32 bits share registers as far as packed_element goes",
            pass_name=PASS_NAME,
        )
    is_pure = bool(op.pure.value.data)
    return inline_asm(fn.text, op.asm_string.data, constraints, types, operands, has_effect=not is_pure)
