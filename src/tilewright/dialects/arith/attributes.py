"""Flags and predicates of arith ops, spelled as upstream spells them."""

from __future__ import annotations

from abc import ABC
from collections.abc import Iterable
from enum import IntEnum
from typing import Literal

from xdsl.dialects.builtin import IntegerAttr
from xdsl.dialects.utils import BitEnumAttribute, FastMathAttrBase, FastMathFlag
from xdsl.irdl import irdl_attr_definition
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.assembly import EnumKeyword
from tilewright.dialects.construction import int_attr
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import prop_def


@irdl_attr_definition
class FastMathFlagsAttr(FastMathAttrBase):
    """``#arith.fastmath<nnan,contract>``: what a float op may assume or approximate."""

    name = "arith.fastmath"

    def __init__(self, flags: Iterable[FastMathFlag] | Literal["none", "fast"] | None) -> None:
        super().__init__(flags)


class IntegerOverflowFlag(StrEnum):
    """What an integer op promises about overflow: no signed wrap, no unsigned wrap."""

    NSW = "nsw"
    NUW = "nuw"


@irdl_attr_definition
class IntegerOverflowAttr(BitEnumAttribute[IntegerOverflowFlag]):
    """``#arith.overflow<nsw, nuw>``."""

    name = "arith.overflow"
    none_value = "none"

    def __init__(self, flags: Iterable[IntegerOverflowFlag] | Literal["none"] | None) -> None:
        super().__init__(flags)

    def print_parameter(self, printer: Printer) -> None:
        flags = [flag.value for flag in IntegerOverflowFlag if flag in self.data]
        printer.print_string(f"<{', '.join(flags) or 'none'}>")


NO_FASTMATH = FastMathFlagsAttr("none")
NO_OVERFLOW = IntegerOverflowAttr("none")


class CmpIPredicate(IntEnum):
    """The predicates of ``arith.cmpi``, by the integers that the attribute stores."""

    EQ = 0
    NE = 1
    SLT = 2
    SLE = 3
    SGT = 4
    SGE = 5
    ULT = 6
    ULE = 7
    UGT = 8
    UGE = 9


class CmpFPredicate(IntEnum):
    """The predicates of ``arith.cmpf``: ``O..`` is false and ``U..`` is true when an operand is NaN."""

    FALSE = 0
    OEQ = 1
    OGT = 2
    OGE = 3
    OLT = 4
    OLE = 5
    ONE = 6
    ORD = 7
    UEQ = 8
    UGT = 9
    UGE = 10
    ULT = 11
    ULE = 12
    UNE = 13
    UNO = 14
    TRUE = 15


class RoundingMode(IntEnum):
    """How ``arith.truncf`` rounds when told."""

    TO_NEAREST_EVEN = 0
    DOWNWARD = 1
    UPWARD = 2
    TOWARD_ZERO = 3
    TO_NEAREST_AWAY = 4


def _keywords(enum: type[IntEnum]) -> tuple[str, ...]:
    return tuple(member.name.lower() for member in enum)


CMPI_KEYWORDS = _keywords(CmpIPredicate)
"""The predicates of ``arith.cmpi`` in text, by their integers; LLVM's ``icmp`` has the same."""
CMPF_KEYWORDS = _keywords(CmpFPredicate)
"""The predicates of ``arith.cmpf`` in text, by their integers; LLVM's ``fcmp`` has the same."""


@irdl_custom_directive
class CmpIPredicateKeyword(EnumKeyword):
    """``slt`` for ``2 : i64``."""

    attribute: AttributeVariable
    keywords = CMPI_KEYWORDS


@irdl_custom_directive
class CmpFPredicateKeyword(EnumKeyword):
    """``oeq`` for ``1 : i64``."""

    attribute: AttributeVariable
    keywords = CMPF_KEYWORDS


@irdl_custom_directive
class RoundingModeKeyword(EnumKeyword):
    """``to_nearest_even`` for ``0 : i32``."""

    attribute: AttributeVariable
    keywords = _keywords(RoundingMode)
    width = 32


def overflow_attr(overflow: IntegerOverflowAttr | Iterable[str] | None) -> IntegerOverflowAttr:
    """Overflow flags from ``("nsw",)``, an attribute or nothing."""
    if overflow is None:
        return NO_OVERFLOW
    if isinstance(overflow, IntegerOverflowAttr):
        return overflow
    return IntegerOverflowAttr([IntegerOverflowFlag(flag) for flag in overflow])


def fastmath_attr(fastmath: FastMathFlagsAttr | Iterable[str] | None) -> FastMathFlagsAttr:
    """Fast-math flags from ``("contract",)``, ``"fast"``, an attribute or nothing."""
    if fastmath is None:
        return NO_FASTMATH
    if isinstance(fastmath, FastMathFlagsAttr):
        return fastmath
    if fastmath in ("fast", "none"):
        return FastMathFlagsAttr(fastmath)
    return FastMathFlagsAttr([FastMathFlag(flag) for flag in fastmath])


class FastMathOp(Op, ABC):
    """An op on floats with flags for what it may assume."""

    fastmath: FastMathFlagsAttr = prop_def(
        FastMathFlagsAttr, default_value=NO_FASTMATH, converter=fastmath_attr, default=None, kw_only=True
    )


def cmpi_attr(predicate: CmpIPredicate | int | str) -> IntegerAttr:
    """The attribute of a predicate, by member, integer or keyword."""
    return int_attr(int(CmpIPredicate[predicate.upper()] if isinstance(predicate, str) else predicate))


def cmpf_attr(predicate: CmpFPredicate | int | str) -> IntegerAttr:
    """The attribute of a predicate, by member, integer or keyword."""
    return int_attr(int(CmpFPredicate[predicate.upper()] if isinstance(predicate, str) else predicate))


def rounding_attr(rounding: RoundingMode | str | IntegerAttr | None) -> IntegerAttr | None:
    """The attribute of a rounding mode, by member or keyword, or as it is."""
    if rounding is None or isinstance(rounding, IntegerAttr):
        return rounding
    return int_attr(int(RoundingMode[rounding.upper()] if isinstance(rounding, str) else rounding), 32)
