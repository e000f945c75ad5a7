"""arith on integers, comparison and selection, pointers: one LLVM instruction per distinct register.

Choices where MLIR and LLVM leave room: a zero divisor gives an unspecified value, never undefined behaviour (lanes that
a mask throws away may hold one).
"""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.dialects import arith, math, tt
from tilewright.dialects.types import element_type, is_tensor
from tilewright.lowering.llvm_instructions import INTEGER_BINARY, INTEGER_MINMAX
from tilewright.lowering.ttg_to_llvm.float_conversions import compute_type, to_compute
from tilewright.lowering.ttg_to_llvm.function_lowering import GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.shared_operands import SharedOperands
from tilewright.lowering.ttg_to_llvm.types import element_of
from tilewright.lowering.ttg_to_llvm.values import is_literal

_DIVISIONS: dict[type[Operation], str] = {
    arith.DivSIOp: "sdiv",
    arith.DivUIOp: "udiv",
    arith.RemSIOp: "srem",
    arith.RemUIOp: "urem",
    arith.CeilDivSIOp: "up sdiv",
    arith.CeilDivUIOp: "unsigned up udiv",
    arith.FloorDivSIOp: "down sdiv",
}
_UNARY: dict[type[Operation], tuple[str, str]] = {
    math.CountLeadingZerosOp: ("ctlz", ", i1 false"),
    math.CountTrailingZerosOp: ("cttz", ", i1 false"),
    math.CtPopOp: ("ctpop", ""),
    math.AbsIOp: ("abs", ", i1 false"),
}


@lowers(*(cls for cls in INTEGER_BINARY if cls is not arith.AddiOp))
def lower_binary(op: Operation, fn: GpuFunctionLowering) -> None:
    opcode, type_text = INTEGER_BINARY[type(op)], fn.element(op.results[0]).text
    fn.elementwise(op, lambda a, b: fn.text.binary(opcode, type_text, a, b))


@lowers(arith.AddiOp)
def lower_sum(op: arith.AddiOp, fn: GpuFunctionLowering) -> None:
    type = fn.element(op.result).text
    shared = SharedOperands(fn.text, type, len(fn.registers(op.lhs)))
    fn.elementwise(op, lambda a, b: fn.text.binary("add", type, shared.next_use(a), shared.next_use(b)))


@lowers(*INTEGER_MINMAX)
def lower_minmax(op: Operation, fn: GpuFunctionLowering) -> None:
    b, type = LaneBuilder(fn.text, 0), fn.element(op.results[0]).text
    fn.elementwise(op, lambda x, y: b.intrinsic(INTEGER_MINMAX[_class_of(op)], type, x, y))


def _class_of(op: Operation) -> type[Operation]:
    return type(op)


@lowers(*_UNARY)
def lower_unary(op: Operation, fn: GpuFunctionLowering) -> None:
    name, flag = _UNARY[type(op)]
    type_text = fn.element(op.results[0]).text
    fn.declare(f"llvm.{name}.{type_text}", type_text, [type_text, *(["i1"] if flag else [])])
    fn.elementwise(op, lambda x: fn.text.value(f"call {type_text} @llvm.{name}.{type_text}({type_text} {x}{flag})"))


# --------------------------------------------------------------------------------------------------------- division


@lowers(*_DIVISIONS)
def lower_division(op: Operation, fn: GpuFunctionLowering) -> None:
    rounding, _, opcode = _DIVISIONS[type(op)].rpartition(" ")
    type_text = fn.element(op.results[0]).text
    b = LaneBuilder(fn.text, 0)
    divisors: dict[str, str] = {}

    def divide(x: str, y: str) -> str:
        divisor = divisors.get(y)
        if divisor is None:
            divisor = divisors[y] = _safe_divisor(b, y, type_text)
        quotient = b.binary(opcode, x, divisor, type_text)
        return _rounded(b, rounding, x, divisor, quotient, type_text) if rounding else quotient

    fn.elementwise(op, divide)


def _safe_divisor(b: LaneBuilder, y: str, type_text: str) -> str:
    """The divisor, or 1 where it is 0."""
    if is_literal(y):
        return y if int(y) else "1"
    return b.select(b.icmp("eq", y, "0", type_text), "1", y, type_text)


def _rounded(b: LaneBuilder, rounding: str, x: str, y: str, quotient: str, type_text: str) -> str:
    """Round a quotient up or down that was rounded towards zero; `unsigned up` where operands have no sign."""
    rest = b.sub(x, b.mul(quotient, y, type_text), type_text)
    has_rest = b.icmp("ne", rest, "0", type_text)
    if rounding == "unsigned up":
        return b.add(quotient, b.cast("zext", has_rest, "i1", type_text), type_text)
    unlike = b.icmp("slt", b.xor(x, y, type_text), "0", type_text)
    if rounding == "down":
        adjust = b.and_(has_rest, unlike, "i1")
        return b.sub(quotient, b.cast("zext", adjust, "i1", type_text), type_text)
    adjust = b.and_(has_rest, b.not_(unlike), "i1")
    return b.add(quotient, b.cast("zext", adjust, "i1", type_text), type_text)


# --------------------------------------------------------------------------------------------- wide sums and products


@lowers(arith.AddUIExtendedOp)
def lower_add_extended(op: arith.AddUIExtendedOp, fn: GpuFunctionLowering) -> None:
    type_text = fn.element(op.results[0]).text
    columns = [fn.registers(operand) for operand in op.operands]
    sums = fn.each(columns, lambda a, b: fn.text.binary("add", type_text, a, b))
    fn.set_like(op.results[0], sums)
    overflow = fn.each([sums, columns[0]], lambda s, a: fn.text.icmp("ult", type_text, s, a))
    fn.set_like(op.results[1], overflow)


@lowers(arith.MulSIExtendedOp, arith.MulUIExtendedOp)
def lower_multiply_extended(op: Operation, fn: GpuFunctionLowering) -> None:
    columns = [fn.registers(operand) for operand in op.operands]
    type_text = fn.element(op.results[0]).text
    fn.set_like(op.results[0], fn.each(columns, lambda a, b: fn.text.binary("mul", type_text, a, b)))
    extend = "sext" if isinstance(op, arith.MulSIExtendedOp) else "zext"
    fn.set_like(op.results[1], fn.each(columns, lambda a, b: _upper_half(fn, type_text, extend, a, b)))


@lowers(tt.MulhiUIOp)
def lower_multiply_high(op: tt.MulhiUIOp, fn: GpuFunctionLowering) -> None:
    type_text = fn.element(op.results[0]).text
    fn.elementwise(op, lambda a, b: _upper_half(fn, type_text, "zext", a, b))


def _upper_half(fn: GpuFunctionLowering, type_text: str, extend: str, x: str, y: str) -> str:
    bits = int(type_text[1:])
    wide = f"i{2 * bits}"
    b = LaneBuilder(fn.text, 0)
    product = b.mul(b.cast(extend, x, type_text, wide), b.cast(extend, y, type_text, wide), wide)
    return b.cast("trunc", b.lshr(product, bits, wide), wide, type_text)


# ------------------------------------------------------------------------------------------ comparison, selection


@lowers(arith.CmpiOp)
def lower_cmpi(op: arith.CmpiOp, fn: GpuFunctionLowering) -> None:
    predicate, type_text = arith.CMPI_KEYWORDS[op.predicate.value.data], fn.element(op.lhs).text
    fn.elementwise(op, lambda a, b: fn.text.icmp(predicate, type_text, a, b))


@lowers(arith.CmpfOp)
def lower_cmpf(op: arith.CmpfOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.lhs)
    predicate, type_text = arith.CMPF_KEYWORDS[op.predicate.value.data], compute_type(element).text

    def compare(a: str, b: str) -> str:
        return fn.text.fcmp(predicate, type_text, to_compute(fn, a, element), to_compute(fn, b, element))

    fn.elementwise(op, compare)


@lowers(arith.SelectOp)
def lower_select(op: arith.SelectOp, fn: GpuFunctionLowering) -> None:
    if is_tensor(op.operands[0].type):
        text = fn.element(op.result).text
        fn.elementwise(op, lambda condition, a, b: _select(fn, condition, text, a, b))
        return
    [condition] = fn.registers(op.operands[0])
    pairs = list(zip(fn.flat(op.operands[1]), fn.flat(op.operands[2]), strict=True))
    made = {(yes, no): _select(fn, condition, yes[0], yes[1], no[1]) for yes, no in dict.fromkeys(pairs)}
    fn.bind_flat(op.results, iter([made[pair] for pair in pairs]))


def _select(fn: GpuFunctionLowering, condition: str, type_text: str, a: str, b: str) -> str:
    if a == b or condition == "true":
        return a
    return b if condition == "false" else fn.text.select(condition, type_text, a, b)


# ----------------------------------------------------------------------------------------------------- casts, pointers


@lowers(arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp, arith.IndexCastOp, arith.IndexCastUIOp)
def lower_integer_cast(op: Operation, fn: GpuFunctionLowering) -> None:
    source, target = fn.element(op.operands[0]), fn.element(op.results[0])
    if source.text == target.text:
        fn.set(op.results[0], fn.values[op.operands[0]])
        return
    unsigned = isinstance(op, arith.ExtUIOp | arith.IndexCastUIOp)
    grows = int(target.text[1:]) > int(source.text[1:])
    opcode = ("zext" if unsigned else "sext") if grows else "trunc"
    fn.elementwise(op, lambda x: fn.text.cast(opcode, source.text, x, target.text))


@lowers(arith.BitcastOp, tt.BitcastOp)
def lower_bitcast(op: Operation, fn: GpuFunctionLowering) -> None:
    source, target = fn.element(op.operands[0]), fn.element(op.results[0])
    if source.text == target.text:
        fn.set(op.results[0], fn.values[op.operands[0]])
        return
    fn.elementwise(op, lambda x: fn.text.cast("bitcast", source.text, x, target.text))


@lowers(tt.AddPtrOp)
def lower_addptr(op: tt.AddPtrOp, fn: GpuFunctionLowering) -> None:
    """`getelementptr` by the pointee; offsets are signed."""
    pointer = element_type(op.results[0].type)
    assert isinstance(pointer, tt.PointerType)
    pointee = element_of(pointer.pointee_type).memory
    type_text, offset = fn.element(op.ptr).text, fn.element(op.offset).text
    space = pointer.address_space.data
    shared = SharedOperands(fn.text, type_text, len(fn.registers(op.ptr)))

    def move(base: str, index: str) -> str:
        if index == "0":
            return base
        base = base if is_literal(index) else shared.next_use(base)
        return fn.text.address(pointee, base, index, space=space, index_type=offset)

    fn.elementwise(op, move)


@lowers(tt.PtrToIntOp)
def lower_ptr_to_int(op: tt.PtrToIntOp, fn: GpuFunctionLowering) -> None:
    source, target = fn.element(op.src).text, fn.element(op.result).text
    fn.elementwise(op, lambda x: fn.text.cast("ptrtoint", source, x, target))


@lowers(tt.IntToPtrOp)
def lower_int_to_ptr(op: tt.IntToPtrOp, fn: GpuFunctionLowering) -> None:
    source, target = fn.element(op.src).text, fn.element(op.result).text
    fn.elementwise(op, lambda x: fn.text.cast("inttoptr", source, x, target))
