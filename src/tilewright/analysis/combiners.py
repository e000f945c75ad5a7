"""Properties of the ops that reductions combine with: identity, name of the horizontal form, idempotence."""

from __future__ import annotations

from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from tilewright.dialects import arith
from tilewright.dialects.types import is_integer
from tilewright.support.records import dataclass

_FLOATS = (Float16Type, BFloat16Type, Float32Type, Float64Type)
INFINITY = float("inf")
NAN = float("nan")


@dataclass(frozen=True, slots=True)
class Combiner:
    """A commutative, associative op: `acc = op(element, acc)`."""

    op_class: type[IRDLOperation]
    kind: str
    """The kind of `vector.reduction` that does the same over the lanes."""
    idempotent: bool


_COMBINERS: dict[type[Operation], Combiner] = {
    op_class: Combiner(op_class, kind, idempotent)
    for op_class, kind, idempotent in (
        (arith.AddfOp, "add", False),
        (arith.AddiOp, "add", False),
        (arith.MulfOp, "mul", False),
        (arith.MuliOp, "mul", False),
        (arith.AndIOp, "and", True),
        (arith.OrIOp, "or", True),
        (arith.XOrIOp, "xor", False),
        (arith.MaximumfOp, "maximumf", True),
        (arith.MinimumfOp, "minimumf", True),
        (arith.MaxnumfOp, "maxnumf", True),
        (arith.MinnumfOp, "minnumf", True),
        (arith.MaxSIOp, "maxsi", True),
        (arith.MaxUIOp, "maxui", True),
        (arith.MinSIOp, "minsi", True),
        (arith.MinUIOp, "minui", True),
    )
}


def find_combiner(body: Block, accumulator: SSAValue, yielded: SSAValue) -> Combiner | None:
    """The combiner of one output of a generic, if its body is `yield op(..., accumulator)` with a known op."""
    op = yielded.owner
    if not isinstance(op, Operation) or op.parent_block() is not body:
        return None
    combiner = _COMBINERS.get(type(op))
    uses = list(accumulator.uses)
    if combiner is None or len(uses) != 1 or uses[0].operation is not op or len(list(yielded.uses)) != 1:
        return None
    return combiner if isinstance(yielded.type, (*_FLOATS, IntegerType, IndexType)) else None


def identity_of(combiner: Combiner, element: Attribute) -> int | float | None:
    """The neutral element, as a number to make a constant of; None where the type has none that we can write."""
    if isinstance(element, _FLOATS):
        return {
            "add": 0.0,
            "mul": 1.0,
            "maximumf": -INFINITY,
            "minimumf": INFINITY,
            "maxnumf": NAN,
            "minnumf": NAN,
        }.get(combiner.kind)
    if not (is_integer(element) or isinstance(element, IndexType)):
        return None
    width = 64 if isinstance(element, IndexType) else element.width.data
    signed_min = -(1 << (width - 1))
    return {
        "add": 0,
        "or": 0,
        "xor": 0,
        "mul": 1,
        "and": -1,
        "maxui": 0,
        "minui": -1,
        "maxsi": signed_min,
        "minsi": -signed_min - 1,
    }.get(combiner.kind)


def is_identity(combiner: Combiner, value: SSAValue) -> bool:
    """Return whether a value is known to be the neutral element."""
    if not isinstance(value.owner, arith.ConstantOp):
        return False
    neutral = identity_of(combiner, value.type)
    match value.owner.value:
        case FloatAttr() as attr:
            number = attr.value.data
            return number == neutral or (number != number and neutral != neutral)
        case IntegerAttr() as attr:
            number = attr.value.data
            if is_integer(value.type) and isinstance(neutral, int):
                mask = (1 << value.type.width.data) - 1
                return number & mask == neutral & mask
            return number == neutral
        case _:
            return False


def combiner_of(body: Block, output_index: int) -> Combiner | None:
    """The known combiner of one output, provided its element type has an identity."""
    yield_op = body.last_op
    assert yield_op is not None
    yielded = yield_op.operands[output_index]
    accumulator = body.args[len(body.args) - len(yield_op.operands) + output_index]
    combiner = find_combiner(body, accumulator, yielded)
    return combiner if combiner is not None and identity_of(combiner, yielded.type) is not None else None
