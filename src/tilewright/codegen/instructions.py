"""Instructions of LLVM text, with operands that know their types.

Each function appends one instruction and gives its result as an `Operand`. The types that it is told are held against
those of the operands, so a wrong one is an error here, where the op that is being lowered is known, and not in LLVM's
parser. Literals, parameters, and what was written as text have no type to check.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TypeAlias


class OperandTypeError(TypeError):
    """An instruction is told a type that its operand does not have."""


class Operand(str):
    """A register, or what stands for it, with its LLVM type; in text it is its name."""

    __slots__ = ("type",)
    type: str

    def __new__(cls, name: str, type: str) -> Operand:
        operand = str.__new__(cls, name)
        operand.type = type
        return operand


Value: TypeAlias = str | int
"""An `Operand`, a register of unknown type, or a literal."""


def checked(type: str, value: Value) -> Value:
    """An operand, whose type must be `type` if it has one."""
    if isinstance(value, Operand) and value.type != type:
        raise OperandTypeError(f"{value} is a {value.type}, not a {type}")
    return value


def pointer_in(space: int) -> str:
    """The type of pointers into an address space."""
    return f"ptr addrspace({space})" if space else "ptr"


def same_lanes(type: str, scalar: str) -> str:
    """`scalar`, or a vector of it with as many lanes as a vector type has."""
    return f"{type[: type.index(' x ')]} x {scalar}>" if type[0] == "<" else scalar


def scalar_of(vector: str) -> str:
    """The type of a vector's lanes."""
    return vector[vector.index(" x ") + 3 : -1]


OVERLOADS = {"float": "f32", "double": "f64", "half": "f16", "bfloat": "bf16", "ptr": "p0"}
"""How the names of intrinsics spell scalar types, where not as they are."""


def result_struct(types: Sequence[str]) -> str:
    """The LLVM type of a function, or a call, with these results."""
    if not types:
        return "void"
    return types[0] if len(types) == 1 else "{ " + ", ".join(types) + " }"


def overload_of(type: str) -> str:
    """The suffix of an intrinsic on a type: ``v16f32`` for sixteen floats, ``i32`` for one i32."""
    if type[0] != "<":
        return OVERLOADS.get(type, type)
    lanes, scalar = type[1:-1].split(" x ")
    return f"v{lanes}{OVERLOADS.get(scalar, scalar)}"


class Instructions(ABC):
    """Appends instructions wherever `value` and `emit` put their text."""

    @abstractmethod
    def value(self, instruction: str) -> str:
        """Append an instruction with a result; returns the register that holds it."""

    def unary(self, opcode: str, type: str, a: Value) -> Operand:
        """``fneg float %a``."""
        return Operand(self.value(f"{opcode} {type} {checked(type, a)}"), type)

    def binary(self, opcode: str, type: str, a: Value, b: Value) -> Operand:
        """``add i32 %a, %b``; flags are part of the opcode."""
        return Operand(self.value(f"{opcode} {type} {checked(type, a)}, {checked(type, b)}"), type)

    def icmp(self, predicate: str, type: str, a: Value, b: Value) -> Operand:
        """``icmp slt i32 %a, %b``."""
        text = f"icmp {predicate} {type} {checked(type, a)}, {checked(type, b)}"
        return Operand(self.value(text), same_lanes(type, "i1"))

    def fcmp(self, predicate: str, type: str, a: Value, b: Value) -> Operand:
        """``fcmp olt float %a, %b``."""
        text = f"fcmp {predicate} {type} {checked(type, a)}, {checked(type, b)}"
        return Operand(self.value(text), same_lanes(type, "i1"))

    def select(self, condition: Value, type: str, a: Value, b: Value, *, condition_type: str = "i1") -> Operand:
        """``select i1 %c, float %a, float %b``."""
        condition = checked(condition_type, condition)
        text = f"select {condition_type} {condition}, {type} {checked(type, a)}, {type} {checked(type, b)}"
        return Operand(self.value(text), type)

    def cast(self, opcode: str, source: str, value: Value, target: str) -> Operand:
        """``zext i8 %a to i32``."""
        return Operand(self.value(f"{opcode} {source} {checked(source, value)} to {target}"), target)

    def extract_element(self, vector: str, value: Value, index: Value, *, index_type: str = "i32") -> Operand:
        """``extractelement <4 x float> %v, i32 0``."""
        text = f"extractelement {vector} {checked(vector, value)}, {index_type} {checked(index_type, index)}"
        return Operand(self.value(text), scalar_of(vector))

    def insert_element(
        self, vector: str, into: Value, scalar: str, value: Value, index: Value, *, index_type: str = "i32"
    ) -> Operand:
        """``insertelement <4 x float> %v, float %x, i32 0``."""
        head = f"insertelement {vector} {checked(vector, into)}, {scalar} {checked(scalar, value)}"
        return Operand(self.value(f"{head}, {index_type} {checked(index_type, index)}"), vector)

    def shuffle(self, vector: str, a: Value, b: Value, mask: str) -> Operand:
        """``shufflevector <4 x float> %a, <4 x float> %b, <2 x i32> <i32 0, i32 1>``."""
        text = f"shufflevector {vector} {checked(vector, a)}, {vector} {checked(vector, b)}, {mask}"
        return Operand(self.value(text), same_lanes(mask, scalar_of(vector)))

    def extract_value(self, struct: str, value: Value, position: int, type: str) -> Operand:
        """``extractvalue { i32, i1 } %pair, 1``; `type` is that of the part."""
        return Operand(self.value(f"extractvalue {struct} {checked(struct, value)}, {position}"), type)

    def insert_value(self, struct: str, into: Value, type: str, value: Value, position: int) -> Operand:
        """``insertvalue { i32, i1 } %pair, i1 %x, 1``."""
        text = f"insertvalue {struct} {checked(struct, into)}, {type} {checked(type, value)}, {position}"
        return Operand(self.value(text), struct)

    def load(
        self, type: str, pointer: Value, *, space: int = 0, align: int = 0, flags: str = "", suffix: str = ""
    ) -> Operand:
        """``load float, ptr %p, align 4``; an alignment of 0 is not written."""
        kind = pointer_in(space)
        aligned = f", align {align}" if align else ""
        return Operand(self.value(f"load {flags}{type}, {kind} {checked(kind, pointer)}{aligned}{suffix}"), type)

    def opaque(self, type: str, value: Value, register: str = "r") -> Operand:
        """The same value, in a register of some kind: LLVM looks no further back than here to see what it is."""
        return Operand(self.value(f'call {type} asm "", "={register},0"({type} {checked(type, value)})'), type)

    def load_atomic(self, type: str, pointer: Value, *, align: int) -> Operand:
        """``load atomic i32, ptr %p monotonic, align 4``."""
        return Operand(self.value(f"load atomic {type}, ptr {checked('ptr', pointer)} monotonic, align {align}"), type)

    def address(
        self,
        element: str,
        pointer: Value,
        index: Value,
        *,
        space: int = 0,
        index_type: str = "i64",
        flags: str = "",
    ) -> Operand:
        """``getelementptr float, ptr %p, i64 %i``; a vector of indices gives a vector of pointers."""
        kind = pointer_in(space)
        head = f"getelementptr {flags}{element}, {kind} {checked(kind, pointer)}"
        text = f"{head}, {index_type} {checked(index_type, index)}"
        return Operand(self.value(text), same_lanes(index_type, kind))
