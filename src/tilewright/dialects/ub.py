"""The ub dialect: values that nothing is known about, and points that are never reached."""

from __future__ import annotations

from xdsl.dialects.ub import PoisonAttr, UnreachableOp
from xdsl.ir import Attribute, Dialect
from xdsl.irdl import IRDLOperation, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tilewright.dialects.construction import init_op
from tilewright.dialects.definition import op_definition

POISON = PoisonAttr()


@op_definition
class PoisonOp(IRDLOperation):
    """``%0 = ub.poison : i32``: any value, chosen anew by each use."""

    name = "ub.poison"

    value = prop_def(default_value=POISON)
    result = result_def()

    traits = traits_def(Pure())

    assembly_format = "attr-dict (`<` $value^ `>`)? `:` type($result)"

    def __init__(self, result_type: Attribute) -> None:
        init_op(self, (), (result_type,), {"value": POISON})


Ub = Dialect("ub", [PoisonOp, UnreachableOp], [PoisonAttr])

__all__ = ["PoisonAttr", "PoisonOp", "Ub", "UnreachableOp"]
