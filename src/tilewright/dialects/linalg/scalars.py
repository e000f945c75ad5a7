"""What named linalg ops do to one element of each operand: upstream's choice of ops for floats, booleans, integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tilewright.dialects import arith, math
from tilewright.dialects.types import bit_width, is_float
from tilewright.support.records import dataclass

Make = Callable[..., Operation]


@dataclass(frozen=True)
class ScalarFunction:
    """A function of scalars and the op that computes it, by the kind of the first one; None where there is none."""

    inputs: int
    of_floats: Make | None = None
    of_bools: Make | None = None
    of_integers: Make | None = None
    otherwise: str = "unsupported non numeric type"
    """What upstream says where there is none."""

    def emit(self, values: tuple[SSAValue, ...], block: Block) -> SSAValue:
        """Add what computes the function to a body. Raises `ValueError` where elements have no such op."""
        element = values[0].type
        make = self.of_floats if is_float(element) else self.of_bools if bit_width(element) == 1 else self.of_integers
        if make is None:
            raise ValueError(self.otherwise)
        op = make(*values)
        block.add_ops((*_new_operands(op), op))
        return op.results[0]


def _new_operands(op: Operation) -> list[Operation]:
    """The constants that were made for an op and lie in no block yet."""
    owners = (operand.owner for operand in op.operands)
    return [owner for owner in owners if isinstance(owner, Operation) and owner.parent is None]


def _of_floats(make: Make) -> ScalarFunction:
    return ScalarFunction(1, make)


def _of_numbers(floats: Make | None, bools: Make | None, integers: Make, otherwise: str = "") -> ScalarFunction:
    return ScalarFunction(2, floats, bools, integers, f"unsupported operation: {otherwise}")


def _reciprocal(value: SSAValue) -> Operation:
    element = value.type
    assert is_float(element)
    return arith.DivfOp(arith.ConstantOp(FloatAttr(1.0, element)), value)


def _square(value: SSAValue) -> Operation:
    return arith.MulfOp(value, value)


MAX_SIGNED = _of_numbers(arith.MaximumfOp, arith.MaxSIOp, arith.MaxSIOp)
MIN_SIGNED = _of_numbers(arith.MinimumfOp, arith.MinSIOp, arith.MinSIOp)
SELECT = ScalarFunction(3, arith.SelectOp, arith.SelectOp, arith.SelectOp)

FUNCTIONS: Mapping[str, ScalarFunction] = {
    "exp": _of_floats(math.ExpOp),
    "log": _of_floats(math.LogOp),
    "abs": _of_floats(math.AbsFOp),
    "ceil": _of_floats(math.CeilOp),
    "floor": _of_floats(math.FloorOp),
    "negf": _of_floats(arith.NegfOp),
    "reciprocal": _of_floats(_reciprocal),
    "round": _of_floats(math.RoundOp),
    "sqrt": _of_floats(math.SqrtOp),
    "rsqrt": _of_floats(math.RsqrtOp),
    "square": _of_floats(_square),
    "tanh": _of_floats(math.TanhOp),
    "erf": _of_floats(math.ErfOp),
    "add": _of_numbers(arith.AddfOp, arith.OrIOp, arith.AddiOp),
    "sub": _of_numbers(arith.SubfOp, None, arith.SubiOp, "sub with bools"),
    "mul": _of_numbers(arith.MulfOp, arith.AndIOp, arith.MuliOp),
    "div": _of_numbers(arith.DivfOp, None, arith.DivSIOp, "div with bools"),
    "div_unsigned": _of_numbers(None, None, arith.DivUIOp, "unsigned div not on uint"),
    "max_signed": MAX_SIGNED,
    "min_signed": MIN_SIGNED,
    "max_unsigned": _of_numbers(arith.MaximumfOp, arith.MaxUIOp, arith.MaxUIOp),
    "min_unsigned": _of_numbers(arith.MinimumfOp, arith.MinUIOp, arith.MinUIOp),
    "powf": _of_numbers(math.PowFOp, math.PowFOp, math.PowFOp),
    "select": SELECT,
}
"""By the names of ``#linalg.elementwise_kind``, in upstream's order."""


def convert(value: SSAValue, target: Attribute, block: Block, *, signed: bool = True) -> SSAValue:
    """A scalar in another element type, as named ops convert their inputs to the type they compute in."""
    source = value.type
    if source == target:
        return value
    wider = bit_width(target) > bit_width(source)
    match is_float(source), is_float(target):
        case True, True:
            op = arith.ExtFOp(value, target) if wider else arith.TruncFOp(value, target)
        case False, False if wider:
            op = arith.ExtSIOp(value, target) if signed else arith.ExtUIOp(value, target)
        case False, False:
            op = arith.TruncIOp(value, target)
        case False, True:
            op = arith.SIToFPOp(value, target) if signed else arith.UIToFPOp(value, target)
        case _:
            op = arith.FPToSIOp(value, target) if signed else arith.FPToUIOp(value, target)
    block.add_op(op)
    return op.results[0]
