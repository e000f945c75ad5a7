"""The pointer analysis, op by op: a table from op class to the state of its result."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from tilewright.analysis.index_algebra import Expr, Uniform, constant_value
from tilewright.analysis.lanes import Base, BlockDim, BlockPointer, Lanes, Unknown
from tilewright.analysis.merges import find_mismatch, parts_of, with_parts
from tilewright.analysis.splats import is_splat_tree
from tilewright.dialects import arith, tt
from tilewright.dialects.tt.types import shape_of
from tilewright.dialects.types import bit_width, element_type, is_integer, is_tensor

if TYPE_CHECKING:
    from tilewright.analysis.pointer import Answer, PointerAnalysis

NARROWEST = 32
"""Narrower integer arithmetic wraps in practice, so it is left alone."""

LARGE_FACTOR = 1 << 16
"""Multiples of numbers may wrap around from here on."""

Rule = Callable[["PointerAnalysis", Operation], "Answer"]
RULES: dict[type[Operation], Rule] = {}


def rule(*classes: type[Operation]) -> Callable[[Rule], Rule]:
    """Files a function as the rule of op classes."""

    def decorate(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(classes, function))
        return function

    return decorate


def _property_int(op: Operation, name: str) -> int:
    attribute = op.properties.get(name)
    assert isinstance(attribute, IntegerAttr)
    return attribute.value.data


def _binary(
    analysis: PointerAnalysis, op: Operation, combine: Callable[[Lanes, Lanes], Lanes | Unknown]
) -> Lanes | Unknown:
    """`combine` of the operands' states; without formula but the same in all lanes, the number itself."""
    lhs, rhs = (analysis.lanes_of(operand) for operand in op.operands)
    if isinstance(lhs, Unknown):
        return lhs
    if isinstance(rhs, Unknown):
        return rhs
    element = element_type(op.results[0].type)
    is_narrow = is_integer(element) and bit_width(element) < NARROWEST
    combined = Unknown(f"arithmetic of less than {NARROWEST} bits") if is_narrow else combine(lhs, rhs)
    if isinstance(combined, Lanes) and (_wraps(op, combined) or _may_be_a_hash(op, lhs, rhs)):
        combined = Unknown("arithmetic that wraps around")
    return _uniform_or(analysis, op, combined)


def _wraps(op: Operation, state: Lanes) -> bool:
    """Return whether lanes are further apart than numbers of their type: so nobody means an address."""
    limit = 1 << (bit_width(element_type(op.results[0].type)) - 1)
    for dim in state.dims:
        offset, stride = constant_value(dim.offset), constant_value(dim.stride)
        if offset is not None and stride is not None and dim.wrap is None:
            last = offset + stride * (dim.size - 1)
            if not (-limit <= offset < limit and -limit <= last < limit):
                return True
    return False


def _may_be_a_hash(op: Operation, lhs: Lanes, rhs: Lanes) -> bool:
    """Return whether one number for all lanes is made of one without formula, or is a large multiple: the program's own
    arithmetic, which wraps around, does for it."""
    type = op.results[0].type
    if not is_tensor(type) or not (prod(shape_of(type)) == 1 or is_splat_tree(op.results[0])):
        return False
    if isinstance(lhs.uniform, Uniform) or isinstance(rhs.uniform, Uniform):
        return True
    if isinstance(op, arith.ShLIOp):
        amount = arith.find_constant_int(op.operands[1])
        return amount is not None and 1 << amount >= LARGE_FACTOR
    factors = [constant_value(state.uniform) for state in (lhs, rhs)] if isinstance(op, arith.MuliOp) else []
    return any(factor is not None and abs(factor) >= LARGE_FACTOR for factor in factors)


def _uniform_or(analysis: PointerAnalysis, op: Operation, answer: Lanes | Unknown) -> Lanes | Unknown:
    result = op.results[0]
    if isinstance(answer, Lanes) or not is_tensor(result.type) or not is_splat_tree(result):
        return answer
    return analysis.lanes.splat(analysis.lanes.scalar(analysis.algebra.uniform(result)), shape_of(result.type))


# Arithmetic


@rule(arith.AddiOp)
def _add(analysis: PointerAnalysis, op: Operation) -> Answer:
    return _binary(analysis, op, analysis.lanes.add)


@rule(arith.SubiOp)
def _subtract(analysis: PointerAnalysis, op: Operation) -> Answer:
    minus_one = analysis.algebra.constant(-1)

    def combine(lhs: Lanes, rhs: Lanes) -> Lanes | Unknown:
        negated = analysis.lanes.scale(rhs, minus_one)
        return negated if isinstance(negated, Unknown) else analysis.lanes.add(lhs, negated)

    return _binary(analysis, op, combine)


@rule(arith.MuliOp)
def _multiply(analysis: PointerAnalysis, op: Operation) -> Answer:
    return _binary(analysis, op, analysis.lanes.multiply)


@rule(arith.ShLIOp)
def _shift_left(analysis: PointerAnalysis, op: Operation) -> Answer:
    shift = arith.find_constant_int(op.operands[1])

    def combine(lhs: Lanes, _: Lanes) -> Lanes | Unknown:
        if shift is None or not 0 <= shift < 64:
            return Unknown("a shift by an amount that is not constant")
        return analysis.lanes.scale(lhs, analysis.algebra.constant(1 << shift))

    return _binary(analysis, op, combine)


@rule(arith.RemSIOp)
def _remainder(analysis: PointerAnalysis, op: Operation) -> Answer:
    return _binary(analysis, op, lambda lhs, rhs: analysis.lanes.remainder(lhs, rhs, op.results[0]))


@rule(arith.RemUIOp)
def _unsigned_remainder(analysis: PointerAnalysis, op: Operation) -> Answer:
    def combine(lhs: Lanes, rhs: Lanes) -> Lanes | Unknown:
        if not (is_nonnegative(analysis, lhs) and is_nonnegative(analysis, rhs)):
            return Unknown("an unsigned remainder of something that may be negative")
        return analysis.lanes.remainder(lhs, rhs, op.results[0])

    return _binary(analysis, op, combine)


@rule(arith.DivSIOp, arith.DivUIOp, arith.ShRSIOp, arith.ShRUIOp)
def _divide(analysis: PointerAnalysis, op: Operation) -> Answer:
    amount = arith.find_constant_int(op.operands[1])
    is_shift = isinstance(op, arith.ShRSIOp | arith.ShRUIOp)
    is_unsigned = isinstance(op, arith.DivUIOp | arith.ShRUIOp)

    def combine(lhs: Lanes, _: Lanes) -> Lanes | Unknown:
        divisor = (1 << amount) if is_shift and amount is not None and 0 <= amount < 64 else amount
        if divisor is None or divisor <= 0 or (is_shift and (amount is None or amount >= 64)):
            return Unknown("a quotient by something that is not a positive constant")
        if is_unsigned and not is_nonnegative(analysis, lhs):
            return Unknown("an unsigned quotient of something that may be negative")
        return analysis.lanes.divide(lhs, divisor)

    return _binary(analysis, op, combine)


@rule(arith.MinSIOp, arith.MaxSIOp, arith.MinUIOp, arith.MaxUIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp)
@rule(arith.CeilDivSIOp, arith.CeilDivUIOp, arith.FloorDivSIOp)
def _irregular(analysis: PointerAnalysis, op: Operation) -> Answer:
    return _uniform_or(analysis, op, Unknown(f"the result of {op.name}"))


@rule(arith.SelectOp)
def _select(analysis: PointerAnalysis, op: Operation) -> Answer:
    condition, *sources = op.operands
    if isinstance(op.results[0].type, TensorType) or isinstance(element_type(op.results[0].type), tt.PointerType):
        answer = _choose(analysis, condition, [analysis.state(source) for source in sources])
        return _uniform_or(analysis, op, answer) if isinstance(answer, Unknown) else answer
    return Unknown("a select")


def _choose(analysis: PointerAnalysis, condition: SSAValue, states: list[Answer]) -> Answer:
    if_true, if_false = states
    if isinstance(if_true, Unknown):
        return if_true
    if isinstance(if_false, Unknown):
        return if_false
    if if_true == if_false:
        return if_true
    if isinstance(condition.type, TensorType):
        splat = condition.owner
        if not isinstance(splat, tt.SplatOp):
            return Unknown("a select whose condition varies from lane to lane")
        condition = splat.operands[0]
    problem = find_mismatch(if_true, if_false)
    if problem is not None:
        return Unknown(f"a select between {problem}")
    chosen: dict[tuple[str, int], Expr] = {}
    right = parts_of(if_false)
    for key, left in parts_of(if_true).items():
        other = right[key]
        if left is other:
            continue
        if not (isinstance(left, Expr) and isinstance(other, Expr)) or key[0] == "base":
            return Unknown("a select between pointers of two bases")
        chosen[key] = analysis.algebra.choice(condition, left, other)
    return with_parts(if_true, chosen)


# Width changes


@rule(arith.ExtSIOp, arith.IndexCastOp)
def _extend(analysis: PointerAnalysis, op: Operation) -> Answer:
    source, target = (element_type(value.type) for value in (op.operands[0], op.results[0]))
    if bit_width(target) < bit_width(source):
        return _narrow(analysis, op)
    if bit_width(source) == 1:
        return Unknown("an extended boolean")
    return analysis.lanes_of(op.operands[0])


@rule(arith.ExtUIOp, arith.IndexCastUIOp)
def _extend_unsigned(analysis: PointerAnalysis, op: Operation) -> Answer:
    source, target = (element_type(value.type) for value in (op.operands[0], op.results[0]))
    state = analysis.lanes_of(op.operands[0])
    if bit_width(target) < bit_width(source):
        return _narrow(analysis, op)
    if bit_width(source) == 1 or isinstance(state, Unknown) or not is_nonnegative(analysis, state):
        return _uniform_or(analysis, op, Unknown("a zero extension of something that may be negative"))
    return state


@rule(arith.TruncIOp)
def _narrow(analysis: PointerAnalysis, op: Operation) -> Answer:
    """A truncation keeps what is known to fit."""
    state = analysis.lanes_of(op.operands[0])
    if isinstance(state, Unknown):
        return state
    limit = 1 << bit_width(element_type(op.results[0].type)) - 1
    bounds = _constant_bounds(analysis, state)
    if bounds is not None and -limit <= bounds[0] and bounds[1] < limit:
        return state
    return _uniform_or(analysis, op, Unknown("a truncation of something that may not fit"))


def _constant_bounds(analysis: PointerAnalysis, state: Lanes) -> tuple[int, int] | None:
    total = constant_value(state.uniform)
    if total is None or state.base is not None or state.gathers:
        return None
    low = high = total
    for dim in state.dims:
        offset, stride = constant_value(dim.offset), constant_value(dim.stride)
        if offset is None or stride is None or dim.wrap is not None:
            return None
        last = offset + stride * (dim.size - 1)
        low, high = low + min(offset, last), high + max(offset, last)
    return low, high


def is_nonnegative(analysis: PointerAnalysis, state: Lanes) -> bool:
    """Return whether all lanes of an integer state are provably at least 0."""
    signs = analysis.signs
    return (
        state.base is None
        and signs.is_nonnegative(state.uniform)
        and all(signs.is_nonnegative(dim.offset) and signs.is_nonnegative(dim.stride) for dim in state.dims)
        and all(signs.is_value_nonnegative(g.index) and signs.is_nonnegative(g.scale) for g in state.gathers)
    )


# Shapes and ranges


@rule(arith.ConstantOp)
def _constant(analysis: PointerAnalysis, op: Operation) -> Answer:
    value = arith.find_constant_int(op.results[0])
    if value is None:
        return Unknown("a constant tensor of different numbers")
    return analysis.lanes.splat(analysis.lanes.scalar(analysis.algebra.constant(value)), shape_of(op.results[0].type))


@rule(tt.MakeRangeOp)
def _make_range(analysis: PointerAnalysis, op: Operation) -> Answer:
    start, end = _property_int(op, "start"), _property_int(op, "end")
    shape = shape_of(op.results[0].type)
    if shape != (end - start,):
        return Unknown("a range whose length is not that of its tensor")
    return analysis.lanes.range(start, end - start)


@rule(tt.SplatOp)
def _splat(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    return state if isinstance(state, Unknown) else analysis.lanes.splat(state, shape_of(op.results[0].type))


@rule(tt.BroadcastOp)
def _broadcast(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    return state if isinstance(state, Unknown) else analysis.lanes.broadcast(state, shape_of(op.results[0].type))


@rule(tt.ExpandDimsOp)
def _expand_dims(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    return state if isinstance(state, Unknown) else analysis.lanes.expand_dims(state, _property_int(op, "axis"))


@rule(tt.TransOp)
def _transpose(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    order = op.properties.get("order")
    if isinstance(state, Unknown) or not isinstance(order, DenseArrayBase):
        return state
    return analysis.lanes.transpose(state, [int(dim) for dim in order.get_values()])


@rule(tt.ReshapeOp)
def _reshape(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    if isinstance(state, Unknown):
        return state
    if "allow_reorder" in op.properties or "allow_reorder" in op.attributes:
        return Unknown("a reshape that may reorder lanes")
    return analysis.lanes.reshape(state, shape_of(op.results[0].type))


# Pointers


@rule(tt.AddPtrOp)
def _addptr(analysis: PointerAnalysis, op: Operation) -> Answer:
    pointer, offset = (analysis.state(operand) for operand in op.operands)
    if isinstance(pointer, Unknown):
        return pointer
    if isinstance(offset, Unknown):
        return offset
    if not isinstance(pointer, Lanes) or not isinstance(offset, Lanes):
        return Unknown("arithmetic on a block pointer")
    return analysis.lanes.add(pointer, offset)


@rule(tt.BitcastOp)
def _bitcast(analysis: PointerAnalysis, op: Operation) -> Answer:
    """A tensor of pointers seen as pointers to another type of the same size; a scalar is a base of its own."""
    source, target = (element_type(value.type) for value in (op.operands[0], op.results[0]))
    if not isinstance(target, tt.PointerType) or not isinstance(source, tt.PointerType):
        return _uniform_or(analysis, op, Unknown("a bitcast"))
    if not isinstance(op.results[0].type, TensorType):
        return Unknown("a bitcast")
    state = analysis.lanes_of(op.operands[0])
    if isinstance(state, Unknown) or state.base is None:
        return state
    sizes = tuple(_memory_bits(pointer.pointee_type) for pointer in (source, target))
    if None in sizes or sizes[0] != sizes[1]:
        return Unknown("a bitcast between pointers to types of different size")
    return Lanes(state.dims, state.uniform, Base(state.base.root, target.pointee_type), state.gathers)


def _memory_bits(type: Attribute) -> int | None:
    if isinstance(type, tt.PointerType):
        return 64
    try:
        return max(8, bit_width(type))
    except TypeError:
        return None


@rule(tt.MakeTensorPtrOp)
def _make_tensor_ptr(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.lanes_of(op.operands[0])
    if isinstance(state, Unknown):
        return state
    pointer = op.results[0].type
    assert isinstance(pointer, tt.PointerType)
    shape = shape_of(pointer.pointee_type)
    order = op.properties.get("order")
    rank = len(shape)
    if state.base is None or len(op.operands) != 1 + 3 * rank or not isinstance(order, DenseArrayBase):
        return Unknown("a block pointer whose lists differ in length")
    numbers = [analysis.algebra.symbol(operand) for operand in op.operands[1:]]
    extents, strides, starts = numbers[:rank], numbers[rank : 2 * rank], numbers[2 * rank :]
    dims = tuple(BlockDim(*dim) for dim in zip(shape, starts, strides, extents, strict=True))
    return BlockPointer(dims, state.uniform, state.base, tuple(int(dim) for dim in order.get_values()))


@rule(tt.AdvanceOp)
def _advance(analysis: PointerAnalysis, op: Operation) -> Answer:
    state = analysis.state(op.operands[0])
    if isinstance(state, Unknown):
        return state
    if not isinstance(state, BlockPointer) or len(op.operands) != 1 + len(state.dims):
        return Unknown("an advance of something that is not a block pointer of that rank")
    dims = tuple(
        BlockDim(dim.size, analysis.algebra.add(dim.start, analysis.algebra.symbol(by)), dim.stride, dim.extent)
        for dim, by in zip(state.dims, op.operands[1:], strict=True)
    )
    return BlockPointer(dims, state.uniform, state.base, state.order)
