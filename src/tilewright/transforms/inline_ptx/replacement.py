"""From one op of inline assembly to the ops that compute the same."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue

from tilewright.dialects import tt
from tilewright.dialects.arith import constant_attr, is_splat
from tilewright.dialects.tt.types import NO_ENCODING, PointerType, is_tensor, tensor_type
from tilewright.dialects.types import bit_width, element_type, with_element_type
from tilewright.ir.builder import OpBuilder
from tilewright.transforms.inline_ptx.columns import Plan, plan_assembly
from tilewright.transforms.inline_ptx.emission import NAMES, Emitter, element_of
from tilewright.transforms.inline_ptx.forms import NotLaneWise
from tilewright.transforms.inline_ptx.numbers import SMALLEST_NORMAL, float_bits


def plan_inline_ptx(op: tt.ElementwiseInlineAsmOp) -> Plan:
    """Return what the assembly of an op computes, as terms. Raises NotLaneWise, with the instruction that it cannot be
    said of.
    """
    packed = op.packed_element.value.data
    if packed < 1 or packed & (packed - 1):
        raise NotLaneWise(f"{packed} elements at a time are no power of two")
    type_ = op.result[0].type
    if packed > 1 and not is_tensor(type_):
        raise NotLaneWise("several elements at a time are no scalars")
    plan = plan_assembly(
        op.asm_string.data,
        op.constraints.data,
        [(_register_type(operand.type), _known_bits(operand)) for operand in op.args],
        [_register_type(result.type) for result in op.result],
        packed,
        prod(_shape(op)),
    )
    if is_tensor(type_) and type_.encoding != NO_ENCODING and not plan.is_map:
        raise NotLaneWise("which elements an instance is given depends on the layout")
    return plan


def _shape(op: tt.ElementwiseInlineAsmOp) -> Sequence[int]:
    type_ = op.result[0].type
    return type_.get_shape() if is_tensor(type_) else ()


def _known_bits(value: SSAValue) -> int | None:
    """The bits of the elements of a constant, or of a tensor made of one."""
    if isinstance(value.owner, tt.SplatOp):
        value = value.owner.src
    attribute, name = constant_attr(value), _register_type(value.type)
    match attribute:
        case IntegerAttr() | FloatAttr():
            number = attribute.value.data
        case DenseIntOrFPElementsAttr() if is_splat(attribute):
            number = attribute.get_values()[0]
        case _:
            return None
    if isinstance(number, int):
        return number
    return float_bits(number, name) if isinstance(number, float) and name in SMALLEST_NORMAL else None


def _register_type(type_: Attribute) -> str:
    """The type of the elements as terms have it: addresses and unusual 8-bit floats are integers."""
    element = element_type(type_)
    if isinstance(element, PointerType):
        return "i64"
    if element in NAMES:
        return NAMES[element]
    return f"i{bit_width(element)}"


def replace_by_ops(op: tt.ElementwiseInlineAsmOp, plan: Plan) -> None:
    """Put the ops of a plan in the place of inline assembly."""
    builder = OpBuilder.before(op)
    arguments = [_as_number(builder, operand) for operand in op.args]
    found = _emit_map(op, builder, plan, arguments) if plan.is_map else _emit_columns(op, builder, plan, arguments)
    for old, value in zip(op.result, found, strict=True):
        new = _as_result(builder, value, old.type)
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def _as_number(builder: OpBuilder, value: SSAValue) -> SSAValue:
    """An argument with the elements that its terms have."""
    wanted = element_of(_register_type(value.type))
    if element_type(value.type) == wanted:
        return value
    type_ = with_element_type(value.type, wanted)
    is_address = isinstance(element_type(value.type), PointerType)
    return builder.result(tt.PtrToIntOp(value, type_) if is_address else tt.BitcastOp(value, type_))


def _as_result(builder: OpBuilder, value: SSAValue, type_: Attribute) -> SSAValue:
    if value.type == type_:
        return value
    is_address = isinstance(element_type(type_), PointerType)
    return builder.result(tt.IntToPtrOp(value, type_) if is_address else tt.BitcastOp(value, type_))


def _emit_map(
    op: tt.ElementwiseInlineAsmOp, builder: OpBuilder, plan: Plan, arguments: Sequence[SSAValue]
) -> list[SSAValue]:
    inputs = {(index, 0): value for index, value in enumerate(arguments)}
    like = op.result[0].type
    emitter = Emitter(builder, lambda element: with_element_type(like, element), inputs)
    return emitter.emit_all([first for (first,) in plan.results])


def _emit_columns(
    op: tt.ElementwiseInlineAsmOp, builder: OpBuilder, plan: Plan, arguments: Sequence[SSAValue]
) -> list[SSAValue]:
    """The function of several elements, on tensors of a row's first, second, ... elements each."""
    shape, packed = _shape(op), len(plan.results[0])
    columns = min(packed, prod(shape))
    rows = prod(shape) // columns
    inputs = {
        (index, column): part
        for index, value in enumerate(arguments)
        for column, part in enumerate(_split(builder, value, rows, columns))
    }

    def shaped(element: Attribute) -> Attribute:
        return tensor_type(element, (rows,))

    emitter = Emitter(builder, shaped, inputs)
    values = iter(emitter.emit_all([term for each in plan.results for term in each]))
    found: list[SSAValue] = []
    for _ in plan.results:
        parts = [next(values) for _ in range(packed)][:columns]
        joined = _join(builder, parts)
        found.append(_reshaped(builder, joined, shape))
    return found


def _split(builder: OpBuilder, value: SSAValue, rows: int, columns: int) -> list[SSAValue]:
    """The columns of a tensor whose elements are read as rows: its last axis as axes of two, split one by one."""
    axes = columns.bit_length() - 1
    parts: list[SSAValue] = [_reshaped(builder, value, (rows, *[2] * axes))]
    # The last axis is the lowest bit of a column's number, so each split puts the parts with a further bit last.
    for _ in range(axes):
        halves = [builder.insert(tt.SplitOp(part)).results for part in parts]
        parts = [half[position] for position in (0, 1) for half in halves]
    return parts


def _join(builder: OpBuilder, parts: Sequence[SSAValue]) -> SSAValue:
    """The inverse of `_split`, without its reshape."""
    while len(parts) > 1:
        half = len(parts) // 2
        parts = [builder.result(tt.JoinOp(low, high)) for low, high in zip(parts[:half], parts[half:], strict=True)]
    return parts[0]


def _reshaped(builder: OpBuilder, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    type_ = value.type
    assert is_tensor(type_)
    if tuple(type_.get_shape()) == tuple(shape):
        return value
    return builder.result(tt.ReshapeOp(value, tensor_type(type_.element_type, shape)))
