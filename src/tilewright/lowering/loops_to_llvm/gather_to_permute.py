"""Gathers whose lanes lie within one vector of memory: one load and a permutation instead of a load for each lane.

    %v = gather p[%i]  ->  %distance = %i - %i[0];  %span = min(%distance[last], lanes - 1)
                           if all of %distance <= %span (unsigned):
                             %w = maskedload p[%i[0]], the first %span + 1;  %v = permute %w by %distance
                           else: %v = gather p[%i]

Where offsets are computed from the lane indices alone, as those of an image that grows, neighbours are near one
another; of those that are loaded nothing is known, and no check is made. Elements between the first lane's and the last
lane's are read although they may belong to another array: they lie in the pages of these two. Measured (Zen 4, 16
floats at offsets that grow by 1/2 from lane to lane): 2.2 times as fast.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Operation, SSAValue

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.literals import vector_constant
from tilewright.codegen.llvm_text import FunctionText
from tilewright.dialects import arith, vector
from tilewright.dialects.arithmetic import is_arithmetic
from tilewright.lowering.loops_to_llvm.types import ValueType
from tilewright.support.facts import TargetFacts
from tilewright.support.records import dataclass

_PERMUTATIONS = {
    (8, 4): ("llvm.x86.avx2.permps", "float", "i32"),
    (16, 4): ("llvm.x86.avx512.permvar.sf.512", "float", "i32"),
    (4, 8): ("llvm.x86.avx512.permvar.df.256", "double", "i64"),
    (8, 8): ("llvm.x86.avx512.permvar.df.512", "double", "i64"),
}
"""By lanes and bytes of an element: what permutes a vector, and the types of elements and offsets that it takes."""

_MAX_OPS = 64
_EVEN = arith.AddiOp | arith.SubiOp | arith.MuliOp | arith.ShLIOp | arith.IndexCastOp | arith.ExtSIOp
_ALL_LANES = "splat (i1 true)"


@dataclass(frozen=True, slots=True)
class LaneOffsets:
    """What is known at run time of the lanes' offsets: registers, of which those of lanes have offsets of `type`."""

    type: str
    first: str
    distances: str
    """How far the lanes are from the first one."""
    span: str
    """How far the last lane is, at most as far as a vector reaches; in all lanes."""
    are_near: str
    """Whether no lane is before the first, or past the last, or out of reach of a vector."""


def may_permute(facts: TargetFacts, indices: SSAValue, type: ValueType) -> bool:
    """Return whether a run-time check of the distances of a gather's lanes pays."""
    if facts.has_fast_gathers or not (facts.has("avx512f") and facts.has("avx512vl")):
        return False
    return (type.lanes, type.scalar.bytes) in _PERMUTATIONS and _is_computed(indices)


def compare_offsets(fn: FunctionText, lanes: int, type: str, offsets: str, mask: str) -> LaneOffsets:
    """Emit the run-time check that lanes are near one another; where one is masked off it fails."""
    b, whole = LaneBuilder(fn, lanes), f"<{lanes} x {type}>"
    first = fn.extract_element(whole, offsets, 0, index_type="i64")
    last = fn.extract_element(whole, offsets, lanes - 1, index_type="i64")
    reach = LaneBuilder(fn, 0).intrinsic("umin", type, fn.binary("sub", type, last, first), str(lanes - 1))
    distances = b.sub(offsets, _splat(b, type, first), type)
    span = _splat(b, type, reach)
    inside = b.icmp("ule", distances, span, type)
    if mask != _ALL_LANES:
        inside = b.and_(inside, mask, "i1")
    everywhere = fn.call("i1", f"llvm.vector.reduce.and.v{lanes}i1", [(b.type("i1"), inside)])
    return LaneOffsets(type, first, distances, span, everywhere)


def gather_or_permute(
    fn: FunctionText, type: ValueType, address: tuple[str, str], near: LaneOffsets, gather: Callable[[], str]
) -> str:
    """Emit both versions of a gather: a load and a permutation where the lanes are near one another, else
    `gather`. `address` is the elements' type in memory and the base."""
    here, anywhere, done = fn.new_label("near"), fn.new_label("far"), fn.new_label("gathered")
    fn.branch_if(near.are_near, here, anywhere)
    fn.start(here)
    element, base = address
    start = fn.address(element, base, near.first, index_type=near.type)
    permuted = _load_and_permute(LaneBuilder(fn, type.lanes), type, start, near)
    fn.branch(done)
    fn.start(anywhere)
    gathered = gather()
    fn.branch(done)
    fn.start(done)
    result = fn.phi(type.text)
    result.add(permuted, here)
    result.add(gathered, anywhere)
    return result.name


def _load_and_permute(b: LaneBuilder, type: ValueType, start: str, near: LaneOffsets) -> str:
    lanes, fn = type.lanes, b.fn
    intrinsic, element, number = _PERMUTATIONS[lanes, type.scalar.bytes]
    whole = b.type(element)
    live = b.icmp("ule", vector_constant(near.type, map(str, range(lanes))), near.span, near.type)
    loaded = fn.masked_load(whole, start, live, align=type.scalar.bytes)
    offsets = _resize(b, near.distances, near.type, number)
    permuted = fn.call(whole, intrinsic, [(whole, loaded), (b.type(number), offsets)])
    return permuted if whole == type.text else fn.cast("bitcast", whole, permuted, type.text)


def _resize(b: LaneBuilder, value: str, source: str, target: str) -> str:
    if source == target:
        return value
    return b.fn.cast("trunc" if target == "i32" else "zext", b.type(source), value, b.type(target))


def _splat(b: LaneBuilder, scalar: str, value: str) -> str:
    text = b.type(scalar)
    single = b.fn.insert_element(text, "poison", scalar, value, 0)
    return b.fn.shuffle(text, single, "poison", f"{b.type('i32')} zeroinitializer")


def _is_computed(offsets: SSAValue) -> bool:
    """Return whether lanes are computed from their indices, and from what all lanes share, by arithmetic alone, and not
    so that all neighbours are equally far apart: by one, they would be no gather.
    """
    pending, seen, has_indices, is_even = [offsets], set[SSAValue](), False, True
    while pending:
        value = pending.pop()
        op = value.owner
        if value in seen or isinstance(op, vector.BroadcastOp | arith.ConstantOp):
            continue
        seen.add(value)
        if isinstance(op, vector.StepOp):
            has_indices = True
        elif isinstance(op, Operation) and is_arithmetic(op) and len(seen) < _MAX_OPS:
            is_even = is_even and isinstance(op, _EVEN)
            pending.extend(operand for operand in op.operands if isinstance(operand.type, VectorType))
        else:
            return False
    return has_indices and not is_even
