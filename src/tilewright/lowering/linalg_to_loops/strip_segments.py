"""Loops that take indices apart by // and % run from one multiple of the divisor to the next.

    for %i = 0 to %n step 16 { %x = %first + lanes(%i); %q = %x / %c; %r = %x % %c; gather p[%r + %q * %stride] }
      ->
    while (%i < %n) {
      %x0 = %first + %i; %q = %x0 / %c; %r0 = %x0 - %q * %c                 once, as scalars
      %end = min(%n, %i + %c - %r0)
      for %j = %i to %end step 16 { load p[%r0 + %q * %stride - %i + %j] }  the last vector masked
    } with %i = %end

Along a segment each quotient is one scalar, each remainder grows with the lane (see `lane_steps`); several divisions,
of one index or of each other's results, end a segment where the first of them does. Quotients by multiples of another
divisor are made from the other's: they change where that does. What is at least 0 when the loop starts is divided
without signs. A divisor that is known when the
program runs is tested for being long enough before the loop, which is written both ways.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from xdsl.ir import SSAValue

from tilewright.dialects import arith, memref, vector
from tilewright.lowering.linalg_to_loops.body_values import BodyValues, Frame, first_of
from tilewright.lowering.linalg_to_loops.emitter import INDEX, Index, LoopEmitter
from tilewright.lowering.linalg_to_loops.lane_steps import Division, LaneSteps, Rounding, find_lane_steps
from tilewright.lowering.linalg_to_loops.nest import SEGMENT, Nest
from tilewright.lowering.linalg_to_loops.nest_plan import with_lanes
from tilewright.lowering.linalg_to_loops.predication import is_straight
from tilewright.support.cpu_costs import FEWEST_GATHERED, HEAVY, LONG_SEGMENT, SHORTEST_SEGMENT
from tilewright.transforms.linalg.body_cost import ACCESSES, vector_cost


def plan_segments(nest: Nest, known: Collection[SSAValue]) -> Nest | None:
    """A planned nest with a loop over segments around its vector loop; None where it divides no lane indices. The
    comparisons in `known` are scalars there."""
    dim = nest.schedule.vector_dim
    if dim is None or nest.schedule.lanes == 1 or nest.folds() or not is_straight(nest.body):
        return None
    depends = {**nest.facts.depends, **dict.fromkeys(known, frozenset[int]())}
    level = nest.schedule.order.index(dim)
    outside = frozenset(nest.schedule.order[:level])
    steps = find_lane_steps(nest.body, depends, nest.facts.predicates, dim, outside)
    if not steps.divisions:
        return None
    for value, step in steps.of.items():
        if step == 0:
            depends[value] = depends[value] - {dim} | {SEGMENT}
    order = (*nest.schedule.order[:level], SEGMENT, *nest.schedule.order[level:])
    # Vectors of a segment start anywhere, so the last one of a tile may reach beyond it.
    segmented = replace(
        nest,
        facts=replace(nest.facts, depends=depends, steps=steps),
        schedule=replace(nest.schedule, order=order, unroll=1),
        has_tiles=False,
        fetches=(),
    )
    if nest.has_reduction:  # accumulators keep the lanes that they have after it
        return segmented
    return _narrowed(segmented) if _has_strides(segmented) else _widened(segmented)


def _has_strides(nest: Nest) -> bool:
    """Return whether lanes lie apart somewhere: the last vector of a segment, which is not full, gathers them."""
    casts = [op for op in nest.body.ops if isinstance(op, memref.ReinterpretCastOp)]
    offsets = (value for op in casts for value in op.mixed_offsets if isinstance(value, SSAValue))
    return any(nest.facts.steps.of.get(offset, 1) not in (0, 1) for offset in offsets)


def _narrowed(nest: Nest) -> Nest:
    """The nest with half of its lanes, where these gather fewer elements past the end of each segment."""
    lanes = nest.schedule.lanes
    divisors = [division.divisor for division in nest.facts.steps.divisions]
    gathered = {size: sum(-(-d // size) * size for d in divisors if isinstance(d, int)) for size in (lanes, lanes // 2)}
    if lanes < 2 * FEWEST_GATHERED or gathered[lanes] <= gathered[lanes // 2]:
        return nest
    return replace(nest, schedule=replace(nest.schedule, lanes=lanes // 2, registers=1))


def _widened(nest: Nest) -> Nest:
    """The nest with the lanes that its vectors can have where offsets are one scalar along a segment.

    Where little is computed they get half of them: more of a short segment is in full vectors.
    """
    wide = with_lanes(nest)
    divisors = [division.divisor for division in nest.facts.steps.divisions]
    if all(isinstance(divisor, int) and divisor >= LONG_SEGMENT * wide.schedule.lanes for divisor in divisors):
        return wide
    computed = sum(vector_cost(op) for op in nest.body.ops if not op.regions and not isinstance(op, ACCESSES))
    if computed >= HEAVY:
        return wide
    lanes = max(nest.schedule.lanes, wide.schedule.lanes // 2)
    return replace(wide, schedule=replace(wide.schedule, lanes=lanes))


def scalar_of_splat(lanes: SSAValue) -> SSAValue:
    """The scalar of a splat."""
    assert isinstance(lanes.owner, vector.BroadcastOp)
    return lanes.owner.operands[0]


def segments_pay(values: BodyValues) -> SSAValue | bool:
    """Return whether all divisors are long enough; `values` are those before the loop."""
    emitter = values.emitter
    verdict: SSAValue | bool = True
    for divisor in dict.fromkeys(division.divisor for division in values.nest.facts.steps.divisions):
        if isinstance(divisor, SSAValue):
            number = values.get(divisor)
            least = emitter.constant(SHORTEST_SEGMENT, number.type)
            verdict = emitter.both(verdict, emitter.compare("sge", number, least))
    return verdict


def without_signs(values: BodyValues) -> tuple[SSAValue, Nest] | None:
    """Return the nest with unsigned divisions, and whether all that it divides is at least 0: an index that is not
    negative in the first lane is in none. None where that has no signs, or is another in each row; `values` are those
    before the loop.
    """
    nest, emitter, cursor = values.nest, values.emitter, values.frames[-1].cursor
    steps, dim = nest.facts.steps, nest.schedule.vector_dim
    dividends = dict.fromkeys(each.dividend for each in steps.divisions if each.rounding is Rounding.TO_ZERO)
    if dim is None or not dividends or any(nest.facts.depends[each] != frozenset((dim,)) for each in dividends):
        return None
    frames = [Frame(cursor, each, 0) for each in nest.schedule.order[: nest.schedule.order.index(SEGMENT) + 1]]
    first = BodyValues(emitter, nest, [*values.frames, *frames])
    verdict: SSAValue | bool = True
    for dividend in dividends:
        number = first.first(dividend)
        verdict = emitter.both(verdict, emitter.compare("sge", number, emitter.constant(0, number.type)))
    if not isinstance(verdict, SSAValue):
        return None
    unsigned = {each: replace(each, rounding=Rounding.UNSIGNED) for each in steps.divisions}
    changed = LaneSteps(
        steps.of,
        dict.fromkeys(unsigned.values()),
        {op: unsigned[each] for op, each in steps.remainders.items()},
        {op: unsigned[each] for op, each in steps.quotients.items()},
    )
    return verdict, replace(nest, facts=replace(nest.facts, steps=changed))


def start_segment(values: BodyValues, upper: Index) -> Index:
    """Divide the first lane of a segment, and say where the segment ends; `values` are those before its loop."""
    emitter, steps = values.emitter, values.nest.facts.steps
    known = values.frames[-1].values
    end = upper
    quotients: dict[Division, SSAValue] = {}
    with emitter.at(values.frames[-1].cursor):
        for division in sorted(steps.divisions, key=_constant_divisor):
            factor = _find_factor(division, quotients)
            quotient, rest, room = _divide_first(values, division, factor)
            quotients[division] = quotient
            known.update((op.results[0], quotient) for op, other in steps.quotients.items() if other == division)
            known.update((first_of(op.results[0]), rest) for op, other in steps.remainders.items() if other == division)
            if room is not None:
                end = emitter.min(end, emitter.add(values.induction(SEGMENT), emitter.index_cast(room, INDEX)))
    return end


def _constant_divisor(division: Division) -> int:
    return division.divisor if isinstance(division.divisor, int) else 0


def _find_factor(division: Division, quotients: Mapping[Division, SSAValue]) -> tuple[SSAValue, int] | None:
    """Return a quotient of the same dividend, by the greatest factor of the divisor that there is, and what is left of
    the divisor: x / (a b) = (x / a) / b, wherever quotients are rounded to.
    """
    found: tuple[SSAValue, int] | None = None
    for other, quotient in quotients.items():
        number, factor = division.divisor, other.divisor
        if not isinstance(number, int) or not isinstance(factor, int) or number % factor:
            continue
        if (other.dividend, other.rounding) == (division.dividend, division.rounding):
            found = quotient, number // factor
    return found


def _divide_first(
    values: BodyValues, division: Division, factor: tuple[SSAValue, int] | None
) -> tuple[SSAValue, SSAValue, SSAValue | None]:
    """Quotient and remainder of the first lane, and how many lanes from there on have that quotient: None with a
    quotient by a factor of the divisor, which changes no later.
    """
    emitter = values.emitter
    dividend = values.first(division.dividend)
    type_ = dividend.type
    match division.divisor:
        case int() as number:
            divisor = emitter.constant(number, type_)
        case divisor:
            divisor = values.get(divisor)
    if factor is None:
        quotient = _quotient(emitter, division.rounding, dividend, divisor, division.divisor)
    else:
        divided, number = factor
        quotient = _quotient(emitter, division.rounding, divided, emitter.constant(number, type_), number)
    rest = emitter.arith(arith.SubiOp, dividend, emitter.arith(arith.MuliOp, quotient, divisor))
    if factor is not None:
        return quotient, rest, None
    length = divisor
    if division.rounding is Rounding.TO_ZERO:
        # Below zero quotients change after a multiple of the divisor, not before it.
        one, zero = emitter.constant(1, type_), emitter.constant(0, type_)
        length = emitter.select(emitter.cmpi("sge", dividend, zero), divisor, one)
    return quotient, rest, emitter.arith(arith.SubiOp, length, rest)


def _quotient(
    emitter: LoopEmitter, rounding: Rounding, dividend: SSAValue, divisor: SSAValue, number: SSAValue | int
) -> SSAValue:
    """Divide scalars; `number` is the divisor where that is known."""
    type_ = dividend.type
    if rounding is Rounding.DOWN and isinstance(number, int):
        bits = emitter.constant(number.bit_length() - 1, type_)
        return emitter.value(arith.ShRSIOp, (dividend, bits), type_)
    op_class = arith.DivUIOp if rounding is Rounding.UNSIGNED else arith.DivSIOp
    return emitter.value(op_class, (dividend, divisor), type_)
