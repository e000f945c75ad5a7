"""Straight-line LLVM code over all lanes of a vector (or over one scalar) with the types spelled once.

The math library and the conversions of narrow floats are written with it, so that one text serves every vector width.

```python
b = LaneBuilder(function, lanes=16)
y = b.fma(x, b.float(2.0), b.float(1.0))  # call contract <16 x float> @llvm.fma.v16f32(...)
```
"""

from __future__ import annotations

from tilewright.codegen.instructions import OVERLOADS
from tilewright.codegen.literals import f32_constant, float_constant, half_constant, splat_constant, vector_constant
from tilewright.codegen.llvm_text import FunctionText


def intrinsic_suffix(scalar_type: str, lanes: int) -> str:
    """The overload suffix of an intrinsic: ``v16f32`` for sixteen floats, ``i32`` for one i32."""
    suffix = OVERLOADS.get(scalar_type, scalar_type)
    return f"v{lanes}{suffix}" if lanes else suffix


class LaneBuilder:
    """Appends instructions on vectors of `lanes` lanes to a function; 0 lanes means scalars.

    Scalar types are named as LLVM spells them. Floats may be contracted to FMAs and are exact otherwise.
    """

    __slots__ = ("fn", "lanes")

    def __init__(self, fn: FunctionText, lanes: int) -> None:
        self.fn = fn
        self.lanes = lanes

    def type(self, scalar_type: str) -> str:
        """The type of all lanes together."""
        return f"<{self.lanes} x {scalar_type}>" if self.lanes else scalar_type

    # ---------------------------------------------------------------------------------------------------- constants

    def splat(self, scalar_type: str, literal: str) -> str:
        """A constant whose lanes are all `literal`."""
        return splat_constant(scalar_type, literal) if self.lanes else literal

    def float(self, value: float, scalar_type: str = "float") -> str:
        """A floating-point constant, rounded to the type."""
        literal = float_constant(value) if scalar_type == "double" else f32_constant(value)
        return self.splat(scalar_type, literal)

    def broadcast(self, value: str, scalar_type: str) -> str:
        """A register in every lane."""
        text = self.type(scalar_type)
        single = self.fn.insert_element(text, "poison", scalar_type, value, 0)
        return self.fn.shuffle(text, single, "poison", f"<{self.lanes} x i32> zeroinitializer")

    def lanes_below(self, count: str, first: int = 0, *, predicate: str = "ult") -> str:
        """The mask of the lanes whose index, counted from `first`, is below an i64."""
        indices = vector_constant("i64", (str(first + lane) for lane in range(self.lanes)))
        return self.icmp(predicate, indices, self.broadcast(count, "i64"), "i64")

    def half(self, bits: int) -> str:
        """A `half` constant from its bits."""
        return self.splat("half", half_constant(bits))

    def int(self, value: int, scalar_type: str = "i32") -> str:
        """An integer constant; values that only fit unsigned are given as such."""
        return self.splat(scalar_type, str(value))

    # --------------------------------------------------------------------------------------------------- arithmetic

    def binary(self, opcode: str, a: str, b: str, scalar_type: str) -> str:
        """Any two-operand instruction, e.g. ``binary("shl", a, b, "i32")``."""
        return self.fn.binary(opcode, self.type(scalar_type), a, b)

    def fadd(self, a: str, b: str, scalar_type: str = "float") -> str:
        return self.binary("fadd contract", a, b, scalar_type)

    def fsub(self, a: str, b: str, scalar_type: str = "float") -> str:
        return self.binary("fsub contract", a, b, scalar_type)

    def fmul(self, a: str, b: str, scalar_type: str = "float") -> str:
        return self.binary("fmul contract", a, b, scalar_type)

    def fdiv(self, a: str, b: str, scalar_type: str = "float") -> str:
        return self.binary("fdiv", a, b, scalar_type)

    def fneg(self, a: str, scalar_type: str = "float") -> str:
        return self.fn.unary("fneg", self.type(scalar_type), a)

    def fma(self, a: str, b: str, c: str, scalar_type: str = "float") -> str:
        """a * b + c, rounded once (on CPUs without FMA instructions LLVM calls libm)."""
        return self.intrinsic("fma", scalar_type, a, b, c)

    def add(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("add", a, b, scalar_type)

    def sub(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("sub", a, b, scalar_type)

    def mul(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("mul", a, b, scalar_type)

    def and_(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("and", a, b, scalar_type)

    def or_(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("or", a, b, scalar_type)

    def xor(self, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.binary("xor", a, b, scalar_type)

    def shl(self, a: str, bits: int, scalar_type: str = "i32") -> str:
        return self.binary("shl", a, self.int(bits, scalar_type), scalar_type)

    def lshr(self, a: str, bits: int, scalar_type: str = "i32") -> str:
        return self.binary("lshr", a, self.int(bits, scalar_type), scalar_type)

    def ashr(self, a: str, bits: int, scalar_type: str = "i32") -> str:
        return self.binary("ashr", a, self.int(bits, scalar_type), scalar_type)

    def not_(self, condition: str) -> str:
        """The negation of an i1."""
        return self.binary("xor", condition, self.splat("i1", "true"), "i1")

    # -------------------------------------------------------------------------------------- comparison and selection

    def icmp(self, predicate: str, a: str, b: str, scalar_type: str = "i32") -> str:
        return self.fn.icmp(predicate, self.type(scalar_type), a, b)

    def fcmp(self, predicate: str, a: str, b: str, scalar_type: str = "float") -> str:
        return self.fn.fcmp(predicate, self.type(scalar_type), a, b)

    def select(self, condition: str, a: str, b: str, scalar_type: str = "float") -> str:
        return self.fn.select(condition, self.type(scalar_type), a, b, condition_type=self.type("i1"))

    # -------------------------------------------------------------------------------------------------- conversions

    def cast(self, opcode: str, value: str, source: str, target: str) -> str:
        """Any conversion instruction, e.g. ``cast("zext", v, "i16", "i32")``."""
        return self.fn.cast(opcode, self.type(source), value, self.type(target))

    def bits(self, value: str, source: str = "float", target: str = "i32") -> str:
        """The same bits as another type of equal width."""
        return self.cast("bitcast", value, source, target)

    # --------------------------------------------------------------------------------------------------- intrinsics

    def intrinsic(self, name: str, scalar_type: str, *operands: str, flags: str = "") -> str:
        """An elementwise intrinsic whose operands and result have one type: ``intrinsic("fabs", "float", x)``."""
        type = self.type(scalar_type)
        full = f"llvm.{name}.{intrinsic_suffix(scalar_type, self.lanes)}"
        return self.fn.call(type, full, [(type, operand) for operand in operands], flags=flags)

    def fabs(self, a: str, scalar_type: str = "float") -> str:
        return self.intrinsic("fabs", scalar_type, a)

    def rint(self, a: str, scalar_type: str = "float") -> str:
        """Round to an integer, ties to even, without raising flags."""
        return self.intrinsic("roundeven", scalar_type, a)

    def sqrt(self, a: str, scalar_type: str = "float") -> str:
        return self.intrinsic("sqrt", scalar_type, a)

    def copysign(self, magnitude: str, sign: str, scalar_type: str = "float") -> str:
        return self.intrinsic("copysign", scalar_type, magnitude, sign)
