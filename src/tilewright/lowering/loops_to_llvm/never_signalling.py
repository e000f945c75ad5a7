"""maxnumf and minnumf of vectors in one instruction, where no operand can be a signalling NaN.

    %m = arith.maxnumf %x, %acc      ->      vrangeps $5, %acc, %x, %m      (else vmaxps, vcmpunordps, a masked move)

`vrangeps` returns the other operand where one is a quiet NaN, as maxnumf does; a signalling one it returns, quieted,
and so would lose the other. The results of arithmetic, and of products, are never signalling. Arithmetic with a
constant does not count: LLVM may find that x * 1.0 is x.
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue, Use

from tilewright.codegen.lane_builder import LaneBuilder
from tilewright.codegen.microkernels import MatmulKernel, Routine
from tilewright.dialects import arith, func, memref, vector
from tilewright.lowering.loops_to_llvm.lane_facts import LaneFact
from tilewright.lowering.loops_to_llvm.types import ScalarType
from tilewright.support.facts import TargetFacts

_ARITHMETIC = (arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp)
_MINMAX = (arith.MaxnumfOp, arith.MinnumfOp, arith.MaximumfOp, arith.MinimumfOp)
_COMPARED_SIGN = 4
_KINDS = {"minnumf": _COMPARED_SIGN, "maxnumf": _COMPARED_SIGN + 1}


class NeverSignalling(LaneFact):
    """No lane is ever a signalling NaN."""

    def __init__(self, routines: Mapping[str, Routine]) -> None:
        super().__init__()
        self._routines = routines

    def proves(self, op: Operation) -> bool:
        if isinstance(op, arith.ConstantOp):
            return True
        if isinstance(op, _MINMAX):
            return all(map(self.holds, op.operands))
        return isinstance(op, _ARITHMETIC) and not any(map(_is_constant, op.operands))

    def _keeps_fact(self, use: Use) -> bool:
        if isinstance(use.operation, memref.ExtractAlignedPointerAsIndexOp):
            return all(map(self._is_of_matmul, use.operation.aligned_pointer.uses))
        return super()._keeps_fact(use)

    def _is_of_matmul(self, use: Use) -> bool:
        """Return whether an address goes to a micro-kernel that only reads there, or writes sums of products."""
        if not isinstance(use.operation, func.CallOp):
            return False
        return isinstance(self._routines.get(use.operation.callee.root_reference.data), MatmulKernel)


def _is_constant(value: SSAValue) -> bool:
    owner = value.owner
    if isinstance(owner, vector.BroadcastOp):
        owner = owner.operands[0].owner
    return isinstance(owner, arith.ConstantOp)


def has_range(facts: TargetFacts, kind: str, scalar: ScalarType, lanes: int) -> bool:
    """Return whether the machine has the instruction for this operation on so many lanes."""
    if kind not in _KINDS or scalar.text not in ("float", "double") or not facts.has("avx512dq"):
        return False
    bits = scalar.bits * lanes
    return bits == 512 or (bits == 256 and facts.has("avx512vl"))


def emit_range(b: LaneBuilder, kind: str, x: str, y: str, scalar: ScalarType) -> str:
    """The instruction on two vectors of quiet numbers."""
    bits, type = scalar.bits * b.lanes, b.type(scalar.text)
    mask = f"i{max(8, b.lanes)}"
    arguments = [(type, x), (type, y), ("i32", str(_KINDS[kind])), (type, "zeroinitializer"), (mask, "-1")]
    if bits == 512:
        arguments.append(("i32", "4"))
    suffix = "ps" if scalar.bits == 32 else "pd"
    return b.fn.call(type, f"llvm.x86.avx512.mask.range.{suffix}.{bits}", arguments)
