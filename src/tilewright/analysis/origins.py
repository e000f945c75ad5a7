"""The origins of pointers: the base of each, and the width that its element offset needs.

Unlike the pointer analysis this one says nothing about the shape of offsets, so it has an answer for almost every
pointer:

- `Based`: `base + offset` with one scalar base for all lanes. The base is a *root* (a function argument, the result
  of a call, a scalar cast to elements that need not begin at a multiple of their size), or is itself chosen by control
  flow, in which case it is named by the merged value.
- `Absolute`: an address. Lanes with different bases, integers turned into pointers, pointers read from memory.
- `Opaque`: nothing is known (tensors of pointers that come from outside).

Pointers that come from outside, from integers and from memory are taken to point to a multiple of the size of their
elements. What is cast to wider elements later keeps the alignment that it had.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import arith, cf, scf, tt, tts
from tilewright.dialects.tt.types import is_block_pointer, is_pointer_like
from tilewright.dialects.types import bit_width, element_type, is_integer, is_tensor
from tilewright.ir.walking import ops_within
from tilewright.support.records import dataclass


@dataclass(frozen=True, slots=True)
class Based:
    """`width` is that of the element offset in bits; 0 means that the offset is zero. The address is a multiple of
    `alignment` bytes."""

    base: SSAValue
    width: int
    alignment: int


@dataclass(frozen=True, slots=True)
class Absolute:
    """A 64-bit address for each lane, a multiple of `alignment` bytes."""

    alignment: int


@dataclass(frozen=True, slots=True)
class Opaque:
    """No origin."""

    reason: str


Origin = Based | Absolute | Opaque

SHAPE_CHANGES = (tt.SplatOp, tt.BroadcastOp, tt.ExpandDimsOp, tt.ReshapeOp, tt.TransOp)
LOADS = (tt.LoadOp, tts.GatherOp)


class Origins:
    """Origins of all pointer values of a function: the least fixed point of the rules below.

    `offset_width` is the narrowest width of an offset. With None it is as wide as it has to be for nothing to overflow:
    a single offset keeps its width, sums have 64 bits."""

    def __init__(self, function: Operation, offset_width: int | None = None) -> None:
        self._offset_width = offset_width
        self._origins: dict[SSAValue, Origin] = {}
        self._facts = _facts_for_casts(function)
        self._solve(function)

    def origin(self, value: SSAValue) -> Origin:
        """The origin of a pointer value; what the fixed point never reached is dead code."""
        return self._origins.get(value, Opaque("it is never reached"))

    def is_root(self, value: SSAValue) -> bool:
        """Return whether a pointer is its own base."""
        match self.origin(value):
            case Based(base=base, width=width):
                is_cast = isinstance(value.owner, tt.BitcastOp)
                return base is value and width == 0 and not is_cast and merge_sources(value) is None
            case _:
                return False

    def _solve(self, function: Operation) -> None:
        pointers = [value for value in values_in(function) if is_address(value.type)]
        changed = True
        while changed:
            changed = False
            for value in pointers:
                old = self._origins.get(value)
                new = self._transfer(value)
                if new is not None and new != old:
                    self._origins[value] = new
                    changed = True

    def _transfer(self, value: SSAValue) -> Origin | None:
        sources = merge_sources(value)
        if sources is not None:
            return self._visible(value, self._join(value, sources, may_carry_base=True))
        if isinstance(value, BlockArgument):
            return self._outside(value, "an argument")
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case tt.AddPtrOp():
                return self._moved(op)
            case tt.BitcastOp():
                return self._recast(op)
            case tt.IntToPtrOp():
                return Absolute(natural_alignment(value.type))
            case arith.SelectOp():
                uniform = not isinstance(op.cond.type, TensorType)
                return self._join(value, op.operands[1:], may_carry_base=uniform)
            case tt.CatOp() | tt.JoinOp():
                return self._join(value, op.operands, may_carry_base=False)
            case _ if isinstance(op, SHAPE_CHANGES):
                return self._origins.get(op.operands[0])
            case _ if isinstance(op, LOADS):
                return Absolute(natural_alignment(value.type))
            case _:
                return self._outside(value, f"the result of {op.name}")

    @staticmethod
    def _visible(value: SSAValue, origin: Origin | None) -> Origin | None:
        """Return the origin as seen outside of the region that `value` leaves: its own base if that is inside."""
        if not isinstance(origin, Based) or origin.base is value:
            return origin
        op = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        leaves = isinstance(value, OpResult) or (
            isinstance(op, scf.WhileOp) and value.owner is op.regions[1].first_block
        )
        if op is not None and leaves and _is_inside(origin.base, op):
            return Based(value, origin.width, origin.alignment)
        return origin

    @staticmethod
    def _outside(value: SSAValue, what: str) -> Origin:
        if isinstance(value.type, TensorType):
            return Opaque(f"{what} is a tensor of pointers")
        return Based(value, 0, natural_alignment(value.type))

    def _moved(self, op: tt.AddPtrOp) -> Origin | None:
        source = self._origins.get(op.operands[0])
        if source is None or isinstance(source, Opaque):
            return source
        alignment = min(source.alignment, natural_alignment(op.result.type) * self._divisor(op.offset))
        if isinstance(source, Absolute):
            return Absolute(alignment)
        element = element_type(op.operands[1].type)
        width = max(32, bit_width(element)) if is_integer(element) else 64
        if self._offset_width is not None:
            width = max(width, source.width, self._offset_width)
        elif source.width:
            width = 64
        return Based(source.base, width, alignment)

    def _divisor(self, offset: SSAValue) -> int:
        """A number that all lanes of an offset are known to be a multiple of, where casts ask for it."""
        if self._facts is None:
            return 1
        facts = self._facts.of(offset)
        return max((d for d, run in zip(facts.divisibility, facts.contiguity, strict=True) if run == 1), default=1)

    def _recast(self, op: tt.BitcastOp) -> Origin | None:
        """A bitcast rescales the offset. Where wider elements need not begin at a multiple of their size, a scalar is a
        base of its own; lanes become addresses."""
        source = self._origins.get(op.operands[0])
        if not isinstance(source, Based) or source.width == 0:
            return source
        old, new = (pointee_bytes(value.type) for value in (op.operands[0], op.results[0]))
        if old == new:
            return source
        if old and new and old % new == 0:
            return Based(source.base, 64, source.alignment)
        return Absolute(source.alignment) if is_tensor(op.result.type) else Based(op.result, 0, source.alignment)

    def _join(self, value: SSAValue, sources: Iterable[SSAValue | None], *, may_carry_base: bool) -> Origin | None:
        joined: Origin | None = None
        for source in sources:
            origin = Opaque("it has a source out of sight") if source is None else self._origins.get(source)
            if origin is None:
                continue
            joined = origin if joined is None else self._join_two(value, joined, origin, may_carry_base)
        old = self._origins.get(value)
        if isinstance(old, Based) and isinstance(joined, Based) and old.base is value:
            return Based(value, max(old.width, joined.width), min(old.alignment, joined.alignment))
        return joined

    @staticmethod
    def _join_two(value: SSAValue, lhs: Origin, rhs: Origin, may_carry_base: bool) -> Origin:
        if isinstance(lhs, Opaque):
            return lhs
        if isinstance(rhs, Opaque):
            return rhs
        alignment = min(lhs.alignment, rhs.alignment)
        if not (isinstance(lhs, Based) and isinstance(rhs, Based)):
            return Absolute(alignment)
        width = max(lhs.width, rhs.width)
        if lhs.base is rhs.base:
            return Based(lhs.base, width, alignment)
        return Based(value, width, alignment) if may_carry_base else Absolute(alignment)


def _is_inside(value: SSAValue, op: Operation) -> bool:
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    while block is not None:
        parent = block.parent_op()
        if parent is op:
            return True
        block = parent.parent if parent is not None else None
    return False


def is_address(type: Attribute) -> bool:
    """Return whether a type is a pointer to elements, or a tensor of them."""
    return is_pointer_like(type) and not is_block_pointer(type)


def pointee_bytes(type: Attribute) -> int | None:
    """The size in bytes of the elements that a pointer points to."""
    pointer = element_type(type)
    assert isinstance(pointer, tt.PointerType)
    if isinstance(pointer.pointee_type, tt.PointerType):
        return 8
    try:
        return max(8, bit_width(pointer.pointee_type)) // 8
    except TypeError:
        return None


def natural_alignment(type: Attribute) -> int:
    """Bytes that the address of an element is a multiple of, where nothing was cast; 1 of elements without a size."""
    return pointee_bytes(type) or 1


def _facts_for_casts(function: Operation) -> ModuleAxisInfo | None:
    """Return what divides the offsets of a function that casts lanes to wider elements; None of other functions."""
    module = function.parent_op()
    for op in ops_within(function):
        if isinstance(op, tt.BitcastOp) and is_tensor(op.result.type) and is_address(op.result.type):
            old, new = natural_alignment(op.src.type), natural_alignment(op.result.type)
            if old < new and isinstance(module, ModuleOp):
                return ModuleAxisInfo(module)
    return None


def values_in(root: Operation) -> Iterator[SSAValue]:
    """All values defined inside an op, in order."""
    for op in ops_within(root):
        yield from op.results
        for region in op.regions:
            for block in region.blocks:
                yield from block.args


def merge_sources(value: SSAValue) -> list[SSAValue | None] | None:
    """The values that control flow merges into this one, None for a source out of sight; no list for other values."""
    if isinstance(value, OpResult):
        return _result_sources(value.op, value.index)
    assert isinstance(value, BlockArgument)
    block = value.owner
    op = block.parent_op()
    region = block.parent
    if region is not None and region.blocks.first is not block:
        return [_branch_operand(use.operation, use.index, value.index) for use in block.uses]
    match op:
        case scf.ForOp() if value.index > 0:
            return [op.operands[2 + value.index], _terminator_operand(block, value.index - 1)]
        case scf.WhileOp() if region is op.regions[0]:
            return [op.operands[value.index], _terminator_operand(op.regions[1].block, value.index)]
        case scf.WhileOp():
            return [_terminator_operand(op.regions[0].block, 1 + value.index)]
        case _:
            return None


def _result_sources(op: Operation, index: int) -> list[SSAValue | None] | None:
    match op:
        case scf.ForOp():
            return [op.operands[3 + index], _terminator_operand(op.regions[0].block, index)]
        case scf.IfOp():
            return [_terminator_operand(region.first_block, index) for region in op.regions]
        case scf.WhileOp():
            return [_terminator_operand(op.regions[0].block, 1 + index)]
        case _:
            return None


def _terminator_operand(block: Block | None, index: int) -> SSAValue | None:
    last = block.last_op if block is not None else None
    return last.operands[index] if last is not None and index < len(last.operands) else None


def _branch_operand(branch: Operation, successor: int, index: int) -> SSAValue | None:
    """The operand that a branch passes to argument `index` of its successor number `successor`."""
    match branch:
        case cf.BranchOp():
            return branch.operands[index]
        case cf.ConditionalBranchOp():
            passed = branch.then_arguments if successor == 0 else branch.else_arguments
            return passed[index]
        case _:
            return None
