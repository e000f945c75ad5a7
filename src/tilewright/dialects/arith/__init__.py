"""The arith dialect: constants, integer and floating-point arithmetic, comparison, selection and casts."""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.ir import Attribute, Dialect, Operation

from tilewright.dialects.arith.attributes import *
from tilewright.dialects.arith.casts import *
from tilewright.dialects.arith.compare import *
from tilewright.dialects.arith.constant import *
from tilewright.dialects.arith.floating import *
from tilewright.dialects.arith.integer import *
from tilewright.dialects.fields import operations_of


class ArithConstants(ConstantMaterializationInterface):
    """How a folded attribute becomes an op again."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        return materialize_constant(value, type)


OPERATIONS = operations_of(__name__)

Arith = Dialect("arith", OPERATIONS, [FastMathFlagsAttr, IntegerOverflowAttr], [ArithConstants()])
