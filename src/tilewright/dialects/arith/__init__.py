"""The arith dialect: constants, integer and floating-point arithmetic, comparison, selection and casts."""

from xdsl.dialect_interfaces.constant_materialization import ConstantMaterializationInterface
from xdsl.ir import Attribute, Dialect, Operation

from tilewright.dialects.arith.attributes import (
    CmpFPredicate,
    CmpIPredicate,
    FastMathFlagsAttr,
    IntegerOverflowAttr,
    IntegerOverflowFlag,
    RoundingMode,
)
from tilewright.dialects.arith.casts import (
    BitcastOp,
    ExtFOp,
    ExtSIOp,
    ExtUIOp,
    FPToSIOp,
    FPToUIOp,
    IndexCastOp,
    IndexCastUIOp,
    SIToFPOp,
    TruncFOp,
    TruncIOp,
    UIToFPOp,
)
from tilewright.dialects.arith.compare import CmpfOp, CmpiOp, SelectOp
from tilewright.dialects.arith.constant import (
    ConstantOp,
    constant_attr,
    constant_bool,
    constant_float,
    constant_index,
    constant_int,
    constant_splat,
    find_constant_int,
    float_attr,
    is_splat,
    materialize_constant,
    splat_attr,
)
from tilewright.dialects.arith.floating import (
    AddfOp,
    DivfOp,
    MaximumfOp,
    MaxnumfOp,
    MinimumfOp,
    MinnumfOp,
    MulfOp,
    NegfOp,
    RemFOp,
    SubfOp,
)
from tilewright.dialects.arith.integer import (
    AddiOp,
    AddUIExtendedOp,
    AndIOp,
    CeilDivSIOp,
    CeilDivUIOp,
    DivSIOp,
    DivUIOp,
    FloorDivSIOp,
    MaxSIOp,
    MaxUIOp,
    MinSIOp,
    MinUIOp,
    MuliOp,
    MulSIExtendedOp,
    MulUIExtendedOp,
    OrIOp,
    RemSIOp,
    RemUIOp,
    ShLIOp,
    ShRSIOp,
    ShRUIOp,
    SubiOp,
    XOrIOp,
)


class ArithConstants(ConstantMaterializationInterface):
    """How a folded attribute becomes an op again."""

    def materialize_constant(self, value: Attribute, type: Attribute) -> Operation | None:
        return materialize_constant(value, type)


OPERATIONS = [
    ConstantOp,
    AddiOp,
    AddUIExtendedOp,
    SubiOp,
    MuliOp,
    MulUIExtendedOp,
    MulSIExtendedOp,
    DivUIOp,
    DivSIOp,
    FloorDivSIOp,
    CeilDivSIOp,
    CeilDivUIOp,
    RemUIOp,
    RemSIOp,
    MinSIOp,
    MaxSIOp,
    MinUIOp,
    MaxUIOp,
    AndIOp,
    OrIOp,
    XOrIOp,
    ShLIOp,
    ShRUIOp,
    ShRSIOp,
    AddfOp,
    SubfOp,
    MulfOp,
    DivfOp,
    RemFOp,
    NegfOp,
    MinimumfOp,
    MinnumfOp,
    MaximumfOp,
    MaxnumfOp,
    CmpiOp,
    CmpfOp,
    SelectOp,
    BitcastOp,
    IndexCastOp,
    IndexCastUIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    UIToFPOp,
    ExtFOp,
    TruncFOp,
    TruncIOp,
    ExtSIOp,
    ExtUIOp,
]

Arith = Dialect("arith", OPERATIONS, [FastMathFlagsAttr, IntegerOverflowAttr], [ArithConstants()])

__all__ = [
    *(op.__name__ for op in OPERATIONS),
    "Arith",
    "CmpFPredicate",
    "CmpIPredicate",
    "FastMathFlagsAttr",
    "IntegerOverflowAttr",
    "IntegerOverflowFlag",
    "RoundingMode",
    "constant_attr",
    "constant_bool",
    "constant_float",
    "constant_index",
    "constant_int",
    "constant_splat",
    "find_constant_int",
    "float_attr",
    "is_splat",
    "splat_attr",
]
