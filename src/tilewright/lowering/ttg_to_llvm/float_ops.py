"""arith on floats, conversions between floats and integers, and the ops of `tt` on floats.

- a product and a sum may be contracted, unless the module says otherwise; all else is exact;
- `arith.divf` on f32 (and narrower floats) is `div.full.f32`, at most 2 ulp; `tt.precise_divf` is rounded correctly;
- `maximumf`/`minimumf` keep NaN, `maxnumf`/`minnumf` drop it;
- float to integer truncates and saturates (at 32 bits for narrower results, which then wrap).
"""

from __future__ import annotations

from xdsl.ir import Operation

from tilewright.codegen.lane_builder import LaneBuilder, intrinsic_suffix
from tilewright.dialects import arith, math, tt
from tilewright.dialects.tt.enums import PropagateNan, RoundingMode
from tilewright.ir.diagnostics import op_error
from tilewright.lowering.ttg_to_llvm.float_conversions import compute_type, convert, from_compute, to_compute
from tilewright.lowering.ttg_to_llvm.function_lowering import PASS_NAME, GpuFunctionLowering, lowers
from tilewright.lowering.ttg_to_llvm.int_to_float import convert_words, goes_by_words
from tilewright.lowering.ttg_to_llvm.library import call_library
from tilewright.lowering.ttg_to_llvm.types import F32, F64, I32, ElementType

_BINARY: dict[type[Operation], str] = {arith.AddfOp: "fadd", arith.SubfOp: "fsub", arith.MulfOp: "fmul"}
_MINMAX: dict[type[Operation], str] = {
    arith.MaximumfOp: "maximum",
    arith.MinimumfOp: "minimum",
    arith.MaxnumfOp: "maxnum",
    arith.MinnumfOp: "minnum",
}
_TO_NEAREST_EVEN, _TOWARD_ZERO = 0, 3


@lowers(*_BINARY)
def lower_binary(op: Operation, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    flags = " contract" if fn.module.fuses else ""
    opcode, type_text = f"{_BINARY[type(op)]}{flags}", compute_type(element).text
    if element.format is None:
        fn.elementwise(op, lambda a, b: fn.text.binary(opcode, type_text, a, b))
        return

    def compute(a: str, b: str) -> str:
        value = fn.text.binary(opcode, type_text, to_compute(fn, a, element), to_compute(fn, b, element))
        return from_compute(fn, value, element)

    fn.elementwise(op, compute)


@lowers(*_MINMAX)
def lower_minmax(op: Operation, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    name = _MINMAX[type(op)]
    fn.elementwise(op, lambda a, b: intrinsic(fn, name, element, a, b, flags="nsz "))


def intrinsic(fn: GpuFunctionLowering, name: str, element: ElementType, *operands: str, flags: str = "") -> str:
    """An LLVM intrinsic on operands and result of one float type."""
    type_text = compute_type(element).text
    values = [to_compute(fn, operand, element) for operand in operands]
    result = fn.text.call(
        type_text, f"llvm.{name}.{intrinsic_suffix(type_text, 0)}", [(type_text, v) for v in values], flags=flags
    )
    return from_compute(fn, result, element)


@lowers(arith.NegfOp)
def lower_negf(op: arith.NegfOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    if element.format is None:
        fn.elementwise(op, lambda x: fn.text.unary("fneg", element.text, x))
    elif element.format.unsigned_zero:
        b = LaneBuilder(fn.text, 0)
        fn.elementwise(op, lambda x: from_compute(fn, b.fneg(to_compute(fn, x, element)), element))
    else:
        sign = 1 << (element.bits - 1)
        fn.elementwise(op, lambda x: fn.text.binary("xor", element.text, x, sign))


# --------------------------------------------------------------------------------------------------------- division


@lowers(arith.DivfOp)
def lower_divf(op: arith.DivfOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    fn.elementwise(op, lambda a, b: divide(fn, a, b, element, precise=False))


@lowers(tt.PreciseDivFOp)
def lower_precise_divf(op: tt.PreciseDivFOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    fn.elementwise(op, lambda a, b: divide(fn, a, b, element, precise=True))


@lowers(tt.ApproxDivFOp)
def lower_approx_divf(op: tt.ApproxDivFOp, fn: GpuFunctionLowering) -> None:
    def quotient(a: str, b: str) -> str:
        return fn.text.call("float", "llvm.nvvm.div.approx.f", [("float", a), ("float", b)])

    fn.elementwise(op, quotient)


def divide(fn: GpuFunctionLowering, a: str, b: str, element: ElementType, *, precise: bool) -> str:
    """A quotient; f16 and bf16 are divided as f32, whose two roundings give the one right result."""
    if element == F64:
        return fn.text.binary("fdiv", "double", a, b)
    x, y = convert(fn, [a, b], element, F32)
    if precise:
        quotient = fn.text.binary("fdiv", "float", x, y)
    else:
        quotient = fn.text.call("float", "llvm.nvvm.div.full", [("float", x), ("float", y)])
    return convert(fn, [quotient], F32, element)[0]


@lowers(arith.RemFOp)
def lower_remf(op: arith.RemFOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])
    fn.elementwise(op, lambda a, b: call_library(fn, op, "fmod", element, (a, b)))


# ------------------------------------------------------------------------------------------------- special operations


@lowers(tt.PreciseSqrtOp)
def lower_precise_sqrt(op: tt.PreciseSqrtOp, fn: GpuFunctionLowering) -> None:
    element = fn.element(op.results[0])

    def root(x: str) -> str:
        wide = F64 if element == F64 else F32
        value = intrinsic(fn, "sqrt", wide, convert(fn, [x], element, wide)[0])
        return convert(fn, [value], wide, element)[0]

    fn.elementwise(op, root)


@lowers(math.ClampFOp, tt.ClampFOp)
def lower_clampf(op: math.ClampFOp | tt.ClampFOp, fn: GpuFunctionLowering) -> None:
    """min(max(x, low), high). NaN stays NaN in `math`, and in `tt` if the op says so; otherwise it becomes a bound."""
    element = fn.element(op.result)
    keeps_nan = isinstance(op, math.ClampFOp) or PropagateNan.of(op.propagate_nan) is PropagateNan.ALL
    upper, lower = ("minimum", "maximum") if keeps_nan else ("minnum", "maxnum")

    def clamp(x: str, low: str, high: str) -> str:
        return intrinsic(fn, upper, element, intrinsic(fn, lower, element, x, low, flags="nsz "), high, flags="nsz ")

    fn.elementwise(op, clamp)


# ------------------------------------------------------------------------------------------------------- conversions


@lowers(arith.ExtFOp)
def lower_extf(op: arith.ExtFOp, fn: GpuFunctionLowering) -> None:
    _convert_all(op, fn, to_zero=False)


@lowers(arith.TruncFOp)
def lower_truncf(op: arith.TruncFOp, fn: GpuFunctionLowering) -> None:
    rounding = _TO_NEAREST_EVEN if op.roundingmode is None else op.roundingmode.value.data
    if rounding not in (_TO_NEAREST_EVEN, _TOWARD_ZERO):
        raise op_error(
            op, "rounds in a way that GPUs do not have (to_nearest_even and toward_zero they have)", pass_name=PASS_NAME
        )
    _convert_all(op, fn, to_zero=rounding == _TOWARD_ZERO)


@lowers(tt.FpToFpOp)
def lower_fp_to_fp(op: tt.FpToFpOp, fn: GpuFunctionLowering) -> None:
    _convert_all(op, fn, to_zero=op.rounding is not None and RoundingMode.of(op.rounding) is RoundingMode.RTZ)


def _convert_all(op: Operation, fn: GpuFunctionLowering, *, to_zero: bool) -> None:
    """All registers at a time, so that pairs of 8-bit floats are converted together; equal ones once."""
    source, target = fn.element(op.operands[0]), fn.element(op.results[0])
    registers = fn.registers(op.operands[0])
    distinct = list(dict.fromkeys(registers))
    made = dict(zip(distinct, convert(fn, distinct, source, target, to_zero=to_zero), strict=True))
    fn.set_like(op.results[0], [made[register] for register in registers])


@lowers(arith.SIToFPOp, arith.UIToFPOp)
def lower_int_to_float(op: Operation, fn: GpuFunctionLowering) -> None:
    """Integers of up to 32 bits to narrow floats go through f32 or f64, which hold them; 64 bits to f16 directly.
    Several narrow ones go by the word.
    """
    source, target = fn.element(op.operands[0]), fn.element(op.results[0])
    is_unsigned = isinstance(op, arith.UIToFPOp)
    distinct = list(dict.fromkeys(fn.registers(op.operands[0])))
    if goes_by_words(source, distinct):
        made = dict(zip(distinct, convert_words(fn, distinct, source, target, signed=not is_unsigned), strict=True))
        fn.set_like(op.results[0], [made[register] for register in fn.registers(op.operands[0])])
        return
    opcode = "uitofp" if is_unsigned else "sitofp"
    through = _holder(source, target)

    def to_float(x: str) -> str:
        value = fn.text.cast(opcode, source.text, x, through.text)
        return convert(fn, [value], through, target)[0]

    fn.elementwise(op, to_float)


def _holder(source: ElementType, target: ElementType) -> ElementType:
    """The float type to convert an integer to, so that only one rounding shows."""
    if target in (F32, F64):
        return target
    return F32 if source.bits <= 16 else F64


@lowers(arith.FPToSIOp, arith.FPToUIOp)
def lower_float_to_int(op: Operation, fn: GpuFunctionLowering) -> None:
    source, target = fn.element(op.operands[0]), fn.element(op.results[0])
    wide = F64 if source == F64 else F32
    through = target if target.bits == 64 else I32
    unsigned = isinstance(op, arith.FPToUIOp) and target.bits >= 32
    name = f"llvm.nvvm.{'d' if wide == F64 else 'f'}2{'u' if unsigned else ''}{'ll' if through != I32 else 'i'}.rz"

    def to_int(x: str) -> str:
        value = fn.text.call(through.text, name, [(wide.text, convert(fn, [x], source, wide)[0])])
        return value if through == target else fn.text.cast("trunc", through.text, value, target.text)

    fn.elementwise(op, to_int)
