"""Which argument an address derives from, and how far that argument's memory reaches."""

from __future__ import annotations

from xdsl.dialects.builtin import i32, i64
from xdsl.ir import BlockArgument, OpResult, SSAValue

from tilewright.dialects import arith, scf, tt, tts
from tilewright.dialects.attributes import find_address_zero
from tilewright.dialects.tt.types import PointerType
from tilewright.ir.builder import OpBuilder
from tilewright.support.records import dataclass
from tilewright.support.sanitizing import EXTENTS
from tilewright.transforms.sanitize.accesses import pointee_size
from tilewright.transforms.sanitize.emission import Emitter


@dataclass(frozen=True)
class Extent:
    """The elements [low, high) around an argument's address, as i64 scalars; `argument` is -1 for one of several."""

    argument: int
    low: SSAValue
    high: SSAValue


class Extents:
    """Reads the extents of a kernel's pointer arguments from the table, once per argument and element size."""

    def __init__(self, function: tt.FuncOp, table: SSAValue) -> None:
        unknown = find_address_zero(function.arg_attrs)
        self._arguments: dict[SSAValue, int] = {
            argument: index for index, argument in enumerate(function.body.blocks[0].args) if index != unknown
        }
        self._table = table
        self._entry = Emitter(OpBuilder.at_start(function.body.blocks[0], function.location))
        self._found: dict[tuple[SSAValue, int], Extent | None] = {}

    def argument_of(self, base: SSAValue) -> int:
        """The argument that a scalar pointer is derived from, -1 if it is not a single one."""
        root = strip(base)
        return self._arguments.get(root, -1) if isinstance(root.type, PointerType) else -1

    def find(self, base: SSAValue) -> tuple[Extent, SSAValue | None] | None:
        """The extent of the argument that a scalar pointer is based on, and the pointer's offset from it in elements
        (None for none), an i32 or i64; None where the argument is not known."""
        offset: SSAValue | None = None
        size = pointee_size(base)
        if isinstance(base.owner, tt.AddPtrOp):
            base, offset = base.owner.ptr, base.owner.offset
        while isinstance(base.owner, tt.BitcastOp):
            base = base.owner.src
        extent = self._extent(base, size)
        return None if extent is None else (extent, offset)

    def _extent(self, root: SSAValue, size: int) -> Extent | None:
        key = (root, size)
        if key not in self._found:
            self._found[key] = None  # a pointer that a loop carries to itself is not known
            self._found[key] = self._make(root, size)
        return self._found[key]

    def _make(self, root: SSAValue, size: int) -> Extent | None:
        if isinstance(root, BlockArgument):
            index = self._arguments.get(root)
            return None if index is None else self._read(index, size)
        assert isinstance(root, OpResult)
        match root.op:
            case arith.SelectOp():
                return self._choose(root.op.cond, root.op.operands[1], root.op.operands[2], root, size)
            case scf.IfOp():
                then, otherwise = (region.block.last_op for region in root.op.regions)
                assert then is not None and otherwise is not None
                return self._choose(root.op.cond, then.operands[root.index], otherwise.operands[root.index], root, size)
            case tt.BitcastOp():
                return self._extent(root.op.src, size)
            case _:
                return None

    def _choose(
        self, condition: SSAValue, then: SSAValue, otherwise: SSAValue, root: OpResult, size: int
    ) -> Extent | None:
        first, second = self._extent(then, size), self._extent(otherwise, size)
        if first is None or second is None:
            return None
        if first.argument == second.argument >= 0:
            return first
        e = Emitter(OpBuilder.after(root.op))
        low, high = e.select(condition, first.low, second.low), e.select(condition, first.high, second.high)
        return Extent(-1, low, high)

    def _read(self, index: int, size: int) -> Extent:
        e, shift = self._entry, size.bit_length() - 1
        words = [e.constant(EXTENTS + 2 * index + part, i32) for part in range(2)]
        low, high = (e.insert(tts.GatherOp(self._table, word)) for word in words)
        if shift:
            low, high = (e.binary(arith.ShRSIOp, value, shift) for value in (low, high))
        assert low.type == i64
        return Extent(index, low, high)


def strip(pointer: SSAValue) -> SSAValue:
    """A scalar pointer without offsets and casts."""
    while isinstance(pointer.owner, tt.AddPtrOp | tt.BitcastOp):
        pointer = pointer.owner.operands[0]
    return pointer
