"""tt.print and tt.assert, by the functions that the CUDA driver provides: `vprintf` and `__assertfail`.

A print is one line per element, from one thread that holds it: `pid (0, 0, 0) idx ( 5) x: 3.000000`. An assertion that
fails in any thread ends the launch with an error.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.construction import static_values
from tilewright.dialects.types import as_tensor, is_tensor
from tilewright.ir.diagnostics import op_place
from tilewright.lowering.ttg_to_llvm.carried_values import distinct_registers
from tilewright.lowering.ttg_to_llvm.float_conversions import convert
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.types import F32, F64, ElementType
from tilewright.support.spans import Span

Arguments = list[tuple[str, str]]
"""(type, operand) pairs of a formatted line."""


@lowers(tt.PrintOp)
def lower_print(op: tt.PrintOp, fn: GpuFunctionLowering) -> None:
    prefix = op.prefix.data
    ids: Arguments = [("i32", fn.emitter.program_id(fn.text, axis, fn.module.num_ctas)) for axis in range(3)]
    if not op.args:
        _guarded(fn, fn.threads.first(), lambda: _print(fn, f"pid (%u, %u, %u){prefix}\n", ids))
        return
    signs = [bool(sign) for sign in static_values(op.is_signed)]
    for index, (value, is_signed) in enumerate(zip(op.args, signs, strict=True)):
        name = f"(operand {index}) " if len(op.args) > 1 else ""
        _print_value(fn, value, f"{prefix}{name}", ids, is_hex=bool(op.hex.value.data), is_signed=is_signed)


def _print_value(
    fn: GpuFunctionLowering, value: SSAValue, prefix: str, ids: Arguments, *, is_hex: bool, is_signed: bool
) -> None:
    """One line per element; the whole tensor under one test of who prints."""
    element, registers = fn.element(value), fn.registers(value)
    if not is_tensor(value.type):
        owner, coordinates, wanted, fields = fn.threads.first(), [()], [0], ""
    else:
        layout = fn.layout(value)
        owner, coordinates = fn.threads.owner_predicate(layout), fn.threads.index.coordinates(layout)
        wanted = distinct_registers(layout)
        fields = ", ".join(f"%{len(str(size))}u" for size in as_tensor(value.type).get_shape())

    def lines() -> None:
        for register in wanted:
            spec, argument = _formatted(fn, element, registers[register], is_hex=is_hex, is_signed=is_signed)
            line = f"pid (%u, %u, %u) idx ({fields}){prefix}{spec}\n"
            _print(fn, line, [*ids, *(("i32", coordinate) for coordinate in coordinates[register]), argument])

    _guarded(fn, owner, lines)


def _formatted(
    fn: GpuFunctionLowering, element: ElementType, operand: str, *, is_hex: bool, is_signed: bool
) -> tuple[str, tuple[str, str]]:
    """The conversion of a printed element, and the argument that it takes (as C promotes it)."""
    if element.is_pointer:
        return "%p", (element.text, operand)
    if is_hex:
        return _hexadecimal(fn, element, operand)
    if element.is_float:
        wide = convert(fn, [operand], element, F32)[0] if element != F64 else operand
        return "%f", ("double", wide if element == F64 else fn.text.cast("fpext", "float", wide, "double"))
    signed = is_signed and element.text != "i1"
    if element.bits == 64:
        return ("%lli" if signed else "%llu"), ("i64", operand)
    if element.text == "i32":
        return ("%i" if signed else "%u"), ("i32", operand)
    opcode = "sext" if signed else "zext"
    return ("%i" if signed else "%u"), ("i32", fn.text.cast(opcode, element.text, operand, "i32"))


def _hexadecimal(fn: GpuFunctionLowering, element: ElementType, operand: str) -> tuple[str, tuple[str, str]]:
    digits = 1 if element.text == "i1" else element.bits // 4
    bits = operand
    if element.is_float and element.format is None:
        bits = fn.text.cast("bitcast", element.text, operand, f"i{element.bits}")
    if element.bits == 64:
        return f"0x%0{digits}llx", ("i64", bits)
    source = element.text if not element.is_float else f"i{element.bits}"
    wide = bits if source == "i32" else fn.text.cast("zext", source, bits, "i32")
    return f"0x%0{digits}x", ("i32", wide)


def _print(fn: GpuFunctionLowering, format: str, arguments: Arguments) -> None:
    """A call of vprintf, which takes its arguments as a structure in memory."""
    text = fn.text
    struct = "{ " + ", ".join(type for type, _ in arguments) + " }"
    slot = text.alloca(struct, align=8)
    for index, (type, operand) in enumerate(arguments):
        field = text.value(f"getelementptr {struct}, ptr {slot}, i32 0, i32 {index}")
        text.store(type, operand, field)
    message = text.module.string(format.encode())
    text.call("i32", "vprintf", [("ptr", message), ("ptr", slot)])


def _guarded(fn: GpuFunctionLowering, predicate: str | None, body: object) -> None:
    assert callable(body)
    if predicate is None:
        body()
        return
    then, done = fn.text.new_label("print"), fn.text.new_label("printed")
    fn.text.branch_if(predicate, then, done)
    fn.text.start(then)
    body()
    fn.text.branch(done)
    fn.text.start(done)


@lowers(tt.AssertOp)
def lower_assert(op: tt.AssertOp, fn: GpuFunctionLowering) -> None:
    holds: str | None = None
    for condition in dict.fromkeys(fn.registers(op.condition)):
        holds = fn.both(holds, condition)
    if holds is not None:
        fail_unless(op, fn, holds, op.message.data)


def fail_unless(op: Operation, fn: GpuFunctionLowering, holds: str, message: str) -> None:
    """End the launch with a message and the source position of `op` where an i1 does not hold."""
    text = fn.text
    failed, passed = text.new_label("failed"), text.new_label("passed")
    text.branch_if(holds, passed, failed)
    text.start(failed)
    span = op_place(op)
    filename, line = (span.filename, span.line) if isinstance(span, Span) else ("unknown", 0)
    strings: Sequence[str] = (message, filename, text.name)
    said, file, function = (text.module.string(string.encode()) for string in strings)
    arguments = [("ptr", said), ("ptr", file), ("i32", str(line)), ("ptr", function), ("i64", "1")]
    text.call("void", "__assertfail", arguments)
    text.branch(passed)
    text.start(passed)
