"""The ub dialect: values that nothing is known about, and points that are never reached."""

from __future__ import annotations

from xdsl.dialects.ub import PoisonAttr, UnreachableOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import Result, internal_prop_def, result_def

POISON = PoisonAttr()


class PoisonOp(Op):
    """``%0 = ub.poison : i32``: any value, chosen anew by each use."""

    name = "ub.poison"

    value: Attribute = internal_prop_def(default_value=POISON)
    result: Result = result_def()

    traits = traits_def(Pure())

    assembly_format = "attr-dict (`<` $value^ `>`)? `:` type($result)"


Ub = Dialect("ub", [PoisonOp, UnreachableOp], [PoisonAttr])

__all__ = ["PoisonAttr", "PoisonOp", "Ub", "UnreachableOp"]
