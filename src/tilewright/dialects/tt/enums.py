"""Enumerations of the `tt` dialect. In the IR they are `i32` integers; custom assembly prints their keywords."""

from __future__ import annotations

from enum import IntEnum
from typing import Self

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Attribute

from tilewright.dialects.construction import i32_attr


class TTEnum(IntEnum):
    """An enumeration whose members print as `keyword` in op assembly."""

    @property
    def keyword(self) -> str:
        """The member's spelling in the IR, for instance `evict_last` or `and`."""
        return self.name.lower().rstrip("_")

    @classmethod
    def of(cls, attribute: Attribute | None) -> Self:
        """The member that an `i32` attribute stands for. Raises ValueError for an unknown integer."""
        if not isinstance(attribute, IntegerAttr):
            raise ValueError(f"{attribute} is not an integer attribute of {cls.__name__}")
        return cls(attribute.value.data)

    @classmethod
    def attr(cls, value: Self | int | str) -> IntegerAttr[IntegerType]:
        """The attribute of a member, which may be given as for `get`."""
        return i32_attr(cls.get(value))

    @classmethod
    def get(cls, value: Self | int | str) -> Self:
        """The member for a member, an integer or a keyword. Raises ValueError for anything else."""
        if not isinstance(value, str):
            return cls(value)
        for member in cls:
            if member.keyword == value:
                return member
        known = ", ".join(member.keyword for member in cls)
        raise ValueError(f"unknown {cls.__name__} '{value}'; known: {known}")


class ProgramIDDim(TTEnum):
    """Axis of the launch grid."""

    X = 0
    Y = 1
    Z = 2


class CacheModifier(TTEnum):
    """Cache behaviour of a load or store (PTX's cache operators)."""

    NONE = 1
    CA = 2
    CG = 3
    WB = 4
    CS = 5
    WT = 6
    CV = 7


class EvictionPolicy(TTEnum):
    """Eviction priority of the cache line that a load or store touches."""

    EVICT_NORMAL = 1
    EVICT_FIRST = 2
    EVICT_LAST = 3


class PaddingOption(TTEnum):
    """What a block load yields outside the parent tensor."""

    ZERO = 1
    NAN = 2


class MemSemantic(TTEnum):
    """Memory ordering of an atomic."""

    RELAXED = 1
    ACQUIRE = 2
    RELEASE = 3
    ACQ_REL = 4


class MemSyncScope(TTEnum):
    """Set of threads that an atomic orders memory with."""

    GPU = 1
    CTA = 2
    SYS = 3


class RMWOp(TTEnum):
    """Combining function of `tt.atomic_rmw`."""

    AND = 1
    OR = 2
    XOR = 3
    ADD = 4
    FADD = 5
    MAX = 6
    MIN = 7
    UMAX = 8
    UMIN = 9
    XCHG = 10

    @property
    def keyword(self) -> str:
        """The spelling in the IR: the exchange is `exch`."""
        return "exch" if self is RMWOp.XCHG else self.name.lower()


class DescriptorReduceKind(TTEnum):
    """Combining function of `tt.descriptor_reduce`."""

    ADD = 1
    MIN = 2
    MAX = 3
    INC = 4
    DEC = 5
    AND = 6
    OR = 7
    XOR = 8


class RoundingMode(TTEnum):
    """Rounding of a narrowing float conversion: toward zero, or to nearest even."""

    RTZ = 0
    RTNE = 1


class PropagateNan(TTEnum):
    """Says of a clamp whether it yields NaN when its input is NaN."""

    NONE = 0
    ALL = 0xFFFF


class InputPrecision(TTEnum):
    """How `tt.dot` may round f32 operands."""

    TF32 = 0
    TF32X3 = 1
    IEEE = 2
    BF16X3 = 3
    BF16X6 = 4


class ScaleDotElemType(TTEnum):
    """Element format of a `tt.dot_scaled` operand."""

    E4M3 = 0
    E5M2 = 1
    E2M3 = 2
    E3M2 = 3
    E2M1 = 4
    BF16 = 5
    FP16 = 6
