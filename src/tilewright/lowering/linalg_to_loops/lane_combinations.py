"""Combinations (`analysis/combination.py`) on the lanes of vectors.

As in Triton, combine functions are associative; those of reductions are commutative too, since lanes keep partial
results of every n-th element:

    reduce(%v, %i: vector lanes)   ->   fold the upper half of the lanes into the lower one, log2(lanes) times
    scan(%v)                       ->   fold the last lane of each half of blocks into the other half, log2(lanes) times
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import UnitAttr, i32
from xdsl.ir import Attribute, SSAValue

from tilewright.analysis.combination import Combination
from tilewright.dialects import arith, vector
from tilewright.dialects.attributes import COMPUTES_ALL_LANES
from tilewright.dialects.types import is_vector
from tilewright.lowering.linalg_to_loops.emitter import LoopEmitter, lanes_of, vector_type


def combine(
    emitter: LoopEmitter, combination: Combination, left: Sequence[SSAValue], right: Sequence[SSAValue]
) -> list[SSAValue]:
    """The combined values of scalars, or lane by lane of vectors."""
    kind = left[0].type
    lanes = kind.get_shape()[0] if is_vector(kind) else 1
    known = dict(zip((*combination.left, *combination.right), (*left, *right), strict=True))

    def value(operand: SSAValue) -> SSAValue:
        found = known.get(operand)
        if found is None:
            found = known[operand] = operand if lanes == 1 else emitter.broadcast(operand, lanes)
        return found

    for op in combination.ops:
        if isinstance(op, arith.ConstantOp):
            scalar = emitter.result(op.clone())
            known[op.result] = scalar if lanes == 1 else emitter.broadcast(scalar, lanes)
            continue
        operands = [value(operand) for operand in op.operands]
        types: list[Attribute] = [
            result.type if lanes == 1 else vector_type(lanes, result.type) for result in op.results
        ]
        copy = emitter.insert(type(op).create(operands=operands, result_types=types, properties=dict(op.properties)))
        known.update(zip(op.results, copy.results, strict=True))
    return [value(result) for result in combination.results]


def fold_lanes(emitter: LoopEmitter, combination: Combination, values: Sequence[SSAValue]) -> list[SSAValue]:
    """All lanes of some vectors combined into scalars: halves of halves, and the last two lanes as scalars.

    (A fold within whole vectors whose lane 0 is taken in the end is compiled wrongly by LLVM 22 for f64: the last
    comparison becomes a scalar one of lane 0 with itself.)
    """
    folded = list(values)
    half = lanes_of(folded[0]) // 2
    while half > 1:
        lower = [emitter.pick(value, range(half)) for value in folded]
        upper = [emitter.pick(value, range(half, 2 * half)) for value in folded]
        folded = combine(emitter, combination, lower, upper)
        half //= 2
    first, second = ([lane_of(emitter, value, lane) for value in folded] for lane in (0, 1))
    return combine(emitter, combination, first, second)


def scan_lanes(
    emitter: LoopEmitter, combination: Combination, values: Sequence[SSAValue], *, reverse: bool
) -> list[SSAValue]:
    """In each lane the combination of all lanes up to it, or in reverse of all from it on.

    One half of each block of lanes takes the outermost lane of the other half (J. Sklansky, Conditional-sum addition
    logic, 1960): of all shuffles, only those of halves of 256 bits and more leave lanes of 128 bits.
    """
    scanned = list(values)
    lanes = lanes_of(scanned[0])
    half = 1
    while half < lanes:
        nearest = half if reverse else half - 1
        order = [(lane & -2 * half) + nearest if bool(lane & half) != reverse else lane for lane in range(lanes)]
        before = [emitter.pick(value, order) for value in scanned]
        combined = combine(emitter, combination, before, scanned)
        mask = _lanes_of_halves(emitter, lanes, half, lower=reverse)
        scanned = [_replace_lanes(emitter, mask, new, old) for new, old in zip(combined, scanned, strict=True)]
        half *= 2
    return scanned


def _replace_lanes(emitter: LoopEmitter, mask: SSAValue, new: SSAValue, old: SSAValue) -> SSAValue:
    """`new` in some lanes, `old` in the others."""
    selection = emitter.create(arith.SelectOp, (mask, new, old), (old.type,))
    selection.attributes[COMPUTES_ALL_LANES] = UnitAttr()
    return selection.results[0]


def lane_of(emitter: LoopEmitter, value: SSAValue, lane: int) -> SSAValue:
    """One lane as a scalar."""
    return emitter.result(vector.ExtractOp(value, (lane,)))


def _lanes_of_halves(emitter: LoopEmitter, lanes: int, half: int, *, lower: bool) -> SSAValue:
    """The lanes of the upper halves of all blocks, or of the lower ones."""
    bit, zero = (emitter.broadcast(emitter.constant(number, i32), lanes) for number in (half, 0))
    return emitter.cmpi("eq" if lower else "ne", emitter.arith(arith.AndIOp, emitter.step(lanes, i32), bit), zero)
