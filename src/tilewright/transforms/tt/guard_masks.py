"""`triton-guard-masks`: loops skip selections whose mask is all true."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, i32, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt
from tilewright.dialects.arith import find_constant_int
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.dialects.tt.folds import splat_of
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.ir.effects import is_pure
from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass
from tilewright.transforms.tt.branch_slices import clone_ops, erase_unused, slice_of

LEAST, MOST = -(1 << 31), (1 << 31) - 1
"""What i32 holds."""
MOST_TERMS = 8
LARGEST_FACTOR = 1 << 24
"""So that sums of so many terms fit i64."""

_SHAPES = (tt.ExpandDimsOp, tt.BroadcastOp, tt.ReshapeOp, tt.TransOp)


@dataclass(frozen=True)
class _Range:
    """Numbers between `low` and `high`, both added to the sum of some scalars of type i32, each times a factor."""

    low: int
    high: int
    terms: tuple[tuple[SSAValue, int], ...] = ()

    def plus(self, other: _Range) -> _Range:
        """The range of sums."""
        return _Range(self.low + other.low, self.high + other.high, self.terms + other.terms)

    def times(self, factor: int) -> _Range:
        """The range of products with a constant."""
        ends = sorted((self.low * factor, self.high * factor))
        return _Range(ends[0], ends[1], tuple((value, factor * old) for value, old in self.terms))

    @property
    def is_small(self) -> bool:
        """True if i64 holds the ends."""
        numbers = (self.low, self.high, *(factor for _, factor in self.terms))
        return len(self.terms) <= MOST_TERMS and all(abs(number) <= LARGEST_FACTOR for number in numbers)


def _range_of(value: SSAValue) -> _Range | None:
    """The numbers in a tensor of type i32; None where they do not follow from scalars and ranges by sums."""
    if element_type(value.type) != i32:
        return None
    constant = splat_of(value) if is_tensor(value.type) else find_constant_int(value)
    if isinstance(constant, int):
        return _Range(constant, constant)
    if not is_tensor(value.type):
        return _Range(0, 0, ((value, 1),))
    op = value.op if isinstance(value, OpResult) else None
    match op:
        case tt.MakeRangeOp():
            return _Range(op.start.value.data, op.end.value.data - 1)
        case tt.SplatOp():
            return _range_of(op.operands[0])
        case arith.AddiOp():
            lhs, rhs = (_range_of(operand) for operand in op.operands)
            return None if lhs is None or rhs is None else lhs.plus(rhs)
        case arith.SubiOp():
            lhs, rhs = (_range_of(operand) for operand in op.operands)
            return None if lhs is None or rhs is None else lhs.plus(rhs.times(-1))
        case arith.MuliOp():
            lhs, rhs = (_range_of(operand) for operand in op.operands)
            if lhs is None or rhs is None:
                return None
            if lhs.terms or lhs.low != lhs.high:
                lhs, rhs = rhs, lhs
            return None if lhs.terms or lhs.low != lhs.high else rhs.times(lhs.low)
        case _:
            return _range_of(op.operands[0]) if isinstance(op, _SHAPES) else None


_ORDERS = {
    arith.CmpIPredicate.SLT: (True, 1),
    arith.CmpIPredicate.SLE: (True, 0),
    arith.CmpIPredicate.SGT: (False, 1),
    arith.CmpIPredicate.SGE: (False, 0),
}
"""Per predicate, whether the left side is to be the smaller one, and by how much at least."""


@dataclass(frozen=True)
class _Order:
    """All numbers of `small` plus `gap` are at most all numbers of `large`."""

    small: _Range
    large: _Range
    gap: int


def _orders_of(mask: SSAValue) -> list[_Order] | None:
    """Return what must hold for a mask to be all true; None where that is not known."""
    op = mask.op if isinstance(mask, OpResult) else None
    if isinstance(op, arith.AndIOp):
        lhs, rhs = (_orders_of(operand) for operand in op.operands)
        return None if lhs is None or rhs is None else lhs + rhs
    if isinstance(op, _SHAPES):
        return _orders_of(op.operands[0])
    order = _ORDERS.get(op.kind) if isinstance(op, arith.CmpiOp) else None
    if op is None or order is None:
        return None
    is_less, gap = order
    lhs, rhs = (_range_of(operand) for operand in op.operands[:2])
    if lhs is None or rhs is None or not lhs.is_small or not rhs.is_small:
        return None
    return [_Order(lhs, rhs, gap) if is_less else _Order(rhs, lhs, gap)]


class _Emitter:
    """Emits the condition that a mask is all true, in i64, where nothing wraps."""

    def __init__(self, builder: OpBuilder) -> None:
        self._builder = builder
        self._sums: dict[tuple[tuple[SSAValue, int], ...], SSAValue] = {}

    def condition(self, orders: list[_Order]) -> SSAValue:
        """All orders hold, and no number wrapped around on the way to them: the largest and the smallest fit i32."""
        tests = [test for order in orders for test in self._tests(order)]
        result = tests[0]
        for test in tests[1:]:
            result = self._builder.result(arith.AndIOp(result, test))
        return result

    def _tests(self, order: _Order) -> Iterator[SSAValue]:
        small, large = order.small, order.large
        yield self._at_most(self._end(small.terms, small.high + order.gap), self._end(large.terms, large.low))
        if not _is_one(small) or small.low < 0:
            yield self._at_most(self._number(LEAST), self._end(small.terms, small.low))
        if not _is_one(large) or large.high > 0:
            yield self._at_most(self._end(large.terms, large.high), self._number(MOST))

    def _at_most(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self._builder.result(arith.CmpiOp(lhs, rhs, "sle"))

    def _number(self, value: int) -> SSAValue:
        return self._builder.result(arith.constant_int(value, i64))

    def _end(self, terms: tuple[tuple[SSAValue, int], ...], constant: int) -> SSAValue:
        total = self._sum(terms) if terms else None
        number = self._number(constant)
        return number if total is None else self._builder.result(arith.AddiOp(total, number))

    def _sum(self, terms: tuple[tuple[SSAValue, int], ...]) -> SSAValue:
        known = self._sums.get(terms)
        if known is None:
            *rest, (value, factor) = terms
            known = self._builder.result(arith.ExtSIOp(value, i64))
            if factor != 1:
                known = self._builder.result(arith.MuliOp(known, self._number(factor)))
            if rest:
                known = self._builder.result(arith.AddiOp(self._sum(tuple(rest)), known))
            self._sums[terms] = known
        return known


def _is_one(range: _Range) -> bool:
    """Return whether a range is one scalar and constants, so that only these can leave i32."""
    return not range.terms or (len(range.terms) == 1 and range.terms[0][1] == 1)


def _end_of_chain(select: arith.SelectOp) -> Operation:
    """The op whose result the conditional gives: the selection, or what adds a constant selected to something else."""
    result = select.results[0]
    if splat_of(select.operands[1]) is None or not result.has_one_use():
        return select
    user = next(iter(result.uses)).operation
    is_simple = is_arithmetic(user) and len(user.results) == 1 and user.parent is select.parent and not user.regions
    return user if is_simple and user.results[0].type == result.type else select


def _follows_product(select: arith.SelectOp, body: Block) -> bool:
    """Return whether a selection is made among what a product of the same iteration gives."""
    needed = slice_of(_end_of_chain(select).operands, body, lambda op: True)
    return any(isinstance(op, tt.DotOp) for op in needed)


def _guard(select: arith.SelectOp, orders: list[_Order], body: Block) -> None:
    mask, chosen = select.operands[:2]
    end = _end_of_chain(select)
    condition = _Emitter(OpBuilder.before(end)).condition(orders)
    type: Attribute = end.results[0].type
    then, otherwise = Block(), Block()
    inside = OpBuilder.at_end(then, end.location)
    values: dict[SSAValue, SSAValue] = {select.results[0]: chosen}
    if end is not select:
        clone_ops(inside, [end], values)
    inside.insert(scf.YieldOp(values[end.results[0]]))
    inside, values = OpBuilder.at_end(otherwise, end.location), {}
    made = slice_of([mask], body, is_pure)
    clone_ops(inside, [*made, select, *([end] if end is not select else [])], values)
    inside.insert(scf.YieldOp(values[end.results[0]]))
    branch = OpBuilder.before(end).insert(scf.IfOp(condition, [type], then, otherwise))
    branch.results[0].name_hint = end.results[0].name_hint
    end.results[0].replace_all_uses_with(branch.results[0])
    erase_unused([*made, *dict.fromkeys((select, end))])


@register_pass
class GuardMasksPass(Pass):
    """In loops with matmuls, skips selections whose mask scalars prove to be all true. In causal attention that is so
    for all blocks but those at the diagonal, and for a ragged number of keys in all blocks but the last.

    Before:
    ```mlir
    %m = arith.cmpi sge, %rows, %columns : tensor<64x64xi32>
    %t = arith.select %m, %s, %least : tensor<64x64xi1>, tensor<64x64xf32>
    ```
    After:
    ```mlir
    %all = arith.cmpi sle, %last_column, %first_row : i64
    %t = scf.if %all -> (tensor<64x64xf32>) {
      scf.yield %s : tensor<64x64xf32>
    } else {
      %m = arith.cmpi sge, %rows, %columns : tensor<64x64xi32>
      %u = arith.select %m, %s, %least : tensor<64x64xi1>, tensor<64x64xf32>
      scf.yield %u : tensor<64x64xf32>
    }
    ```
    The pass handles masks that compare sums of scalars, ranges, and constants. The condition compares the ends of both
    sides in 64 bits, and checks that they fit the 32 bits in which the lanes are computed. If the selected value is a
    constant, as in `s + where(mask, 0, -inf)`, the addition moves into the conditional.
    """

    name = "triton-guard-masks"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        for loop in [op for op in ops_within(module) if isinstance(op, scf.ForOp)]:
            body = loop.body.block
            ops = list(body.ops)
            if not any(isinstance(op, tt.DotOp) for op in ops):
                continue
            for op in ops:
                if not isinstance(op, arith.SelectOp) or not is_tensor(op.operands[0].type):
                    continue
                if not _follows_product(op, body):
                    continue
                orders = _orders_of(op.operands[0])
                if orders:
                    _guard(op, orders, body)
                else:
                    context.remark(op, "the mask is looked at in every iteration: when it is all true is not known")
