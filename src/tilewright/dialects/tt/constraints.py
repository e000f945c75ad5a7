"""Type constraints that check operand and result types, and infer those that the assembly leaves out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    AnyAttr,
    AttrConstraint,
    VarConstraint,
    VerificationContext,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.tt.enums import TTEnum
from tilewright.dialects.tt.types import is_pointer_like, is_tensor, mask_like, pointee_like
from tilewright.dialects.types import FIXED_INTEGER_LIKE, Derived, TypeWhere, bool_like
from tilewright.support.records import dataclass


@dataclass(frozen=True)
class MemberOf(AttrConstraint[IntegerAttr]):
    """The number of a member of an enumeration."""

    enumeration: type[TTEnum]

    def verify(self, attr: Attribute, constraint_context: VerificationContext) -> None:
        if not isinstance(attr, IntegerAttr) or attr.value.data not in set(self.enumeration):
            raise VerifyException(f"{attr} is not a {self.enumeration.__name__}")

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> MemberOf:
        return self


TENSOR = TypeWhere("a ranked tensor", lambda type: is_tensor(type))
POINTER_LIKE = TypeWhere("a pointer or a tensor of pointers", is_pointer_like)
INTEGER_LIKE = FIXED_INTEGER_LIKE

SAME_TYPE = VarConstraint("T", AnyAttr())
"""One type, shared by every operand and result that bears this constraint."""

POINTER = VarConstraint("Ptr", POINTER_LIKE)
"""The pointer operand of a memory op; the value and mask types follow from it."""

POINTEE = Derived("Ptr", pointee_like, "value type matches ptr type")
RESULT_POINTEE = Derived("Ptr", pointee_like, "result matches ptr type")
CMP_POINTEE = Derived("Ptr", pointee_like, "ptr type matches cmp type")
MASK = Derived("Ptr", mask_like, "mask type matches ptr type")
MASK_OF_SOURCE = Derived("T", bool_like, "mask type matches the type of the source")
