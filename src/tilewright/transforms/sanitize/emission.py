"""Small pieces of IR that checks are made of: 64-bit arithmetic on scalars and tiles, and the report."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from tilewright.dialects import arith, scf, tt, tts
from tilewright.dialects.arith import constant_splat
from tilewright.dialects.tt.types import shape_of, tensor_type
from tilewright.dialects.types import element_type, is_tensor
from tilewright.ir.builder import OpBuilder
from tilewright.support.sanitizing import ASSERTION, CLAIMED, KEY, OFFSET_BITS, PROGRAM, SITE

NO_LANE = (1 << 63) - 1
"""The key of a tile without a bad lane."""

Number = SSAValue | int


class Emitter:
    """Arithmetic at an insertion point. Values are i64 scalars or tiles of them; operands of a tile's shape may be
    scalars or Python integers, which are spread over it."""

    def __init__(self, builder: OpBuilder) -> None:
        self.builder = builder

    def insert(self, op: Operation) -> SSAValue:
        return self.builder.result(op)

    def constant(self, value: int, type: Attribute = i64) -> SSAValue:
        return self.insert(constant_splat(value, type))

    def wide(self, value: SSAValue) -> SSAValue:
        """An integer or index, scalar or tile, as i64."""
        element = element_type(value.type)
        if element == i64:
            return value
        type = i64 if not is_tensor(value.type) else tensor_type(i64, shape_of(value.type))
        return self.insert((arith.ExtSIOp if isinstance(element, IntegerType) else arith.IndexCastOp)(value, type))

    def like(self, value: Number, type: Attribute) -> SSAValue:
        """A number spread over a type."""
        if isinstance(value, int):
            return self.constant(value, type)
        return value if value.type == type else self.insert(tt.SplatOp(value, type))

    def binary(self, op: type[Operation], lhs: Number, rhs: Number) -> SSAValue:
        """`op(lhs, rhs)` at the type of whichever is a tile."""
        types = [value.type for value in (lhs, rhs) if isinstance(value, SSAValue)]
        type = next((t for t in types if is_tensor(t)), types[0] if types else i64)
        return self.insert(op(self.like(lhs, type), self.like(rhs, type)))  # pyright: ignore[reportCallIssue]

    def add(self, lhs: Number, rhs: Number) -> SSAValue:
        return self.binary(arith.AddiOp, lhs, rhs)

    def sub(self, lhs: Number, rhs: Number) -> SSAValue:
        return self.binary(arith.SubiOp, lhs, rhs)

    def mul(self, lhs: Number, rhs: Number) -> SSAValue:
        return self.binary(arith.MuliOp, lhs, rhs)

    def minimum(self, lhs: Number, rhs: Number) -> SSAValue:
        return self.binary(arith.MinSIOp, lhs, rhs)

    def maximum(self, lhs: Number, rhs: Number) -> SSAValue:
        return self.binary(arith.MaxSIOp, lhs, rhs)

    def compare(self, predicate: str, lhs: Number, rhs: Number) -> SSAValue:
        types = [value.type for value in (lhs, rhs) if isinstance(value, SSAValue)]
        type = next((t for t in types if is_tensor(t)), types[0])
        return self.insert(arith.CmpiOp(self.like(lhs, type), self.like(rhs, type), predicate))

    def both(self, *flags: SSAValue | None) -> SSAValue | None:
        """The conjunction of the flags that are there."""
        result: SSAValue | None = None
        for flag in flags:
            if flag is not None:
                result = flag if result is None else self.insert(arith.AndIOp(result, flag))
        return result

    def either(self, *flags: SSAValue | None) -> SSAValue | None:
        """The disjunction of the flags that are there."""
        result: SSAValue | None = None
        for flag in flags:
            if flag is not None:
                result = flag if result is None else self.insert(arith.OrIOp(result, flag))
        return result

    def negation(self, flag: SSAValue) -> SSAValue:
        return self.binary(arith.XOrIOp, flag, self.constant(1, flag.type))

    def select(self, condition: SSAValue, then: SSAValue, otherwise: Number) -> SSAValue:
        return self.insert(arith.SelectOp(condition, then, self.like(otherwise, then.type)))

    def counting(self, shape: Sequence[int], dim: int) -> SSAValue:
        """The index along a dimension of each lane, as i64, with the extent 1 in all other dimensions."""
        value = self.insert(tt.MakeRangeOp(0, shape[dim]))
        for axis in range(len(shape)):
            if axis != dim:
                value = self.insert(tt.ExpandDimsOp(value, axis))
        return self.wide(value)

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """A tile broadcast to a shape."""
        if shape_of(value.type) == tuple(shape):
            return value
        return self.insert(tt.BroadcastOp(value, tensor_type(element_type(value.type), tuple(shape))))

    def lane_numbers(self, shape: Sequence[int]) -> SSAValue:
        """Each lane's number in row-major order."""
        step, total = 1, None
        for dim in reversed(range(len(shape))):
            part = self.spread(self.mul(self.counting(shape, dim), step), shape)
            total = part if total is None else self.add(total, part)
            step *= shape[dim]
        assert total is not None
        return total

    def reduce(self, value: SSAValue, combine: type[Operation]) -> SSAValue:
        """All lanes combined to one scalar."""
        while is_tensor(value.type):
            op = tt.ReduceOp([value], len(shape_of(value.type)) - 1)
            block = op.combine_op.block
            inner = OpBuilder.at_end(block, self.builder.location)
            combined = inner.insert(combine(*block.args))  # pyright: ignore[reportCallIssue]
            inner.insert(tt.ReduceReturnOp([combined]))
            value = self.insert(op)
        return value

    def first_key(self, bad: SSAValue, offset: SSAValue) -> SSAValue:
        """The key of the first bad lane: its number above the element offset; `NO_LANE` if there is none."""
        low = self.binary(arith.AndIOp, offset, (1 << OFFSET_BITS) - 1)
        if is_tensor(bad.type):
            numbers = self.binary(arith.ShLIOp, self.lane_numbers(shape_of(bad.type)), OFFSET_BITS)
            low = self.binary(arith.OrIOp, numbers, self.like(low, numbers.type))
        return self.reduce(self.select(bad, low, NO_LANE), arith.MinSIOp)

    def when(self, condition: SSAValue) -> Emitter:
        """An emitter for what runs where a scalar condition holds; the branch ends by itself."""
        body = Block()
        self.builder.insert(scf.IfOp(condition, (), Region(body)))
        end = scf.YieldOp()
        body.add_op(end)
        return Emitter(OpBuilder.before(end, self.builder.location))

    def report_if(self, key: SSAValue, table: SSAValue, site: int) -> None:
        """Claim the report where a key names a lane, fill it in, and stop the program.

        ```mlir
        scf.if %bad {
          %old = "tts.atomic_cas"(%table, 0, 0, 1) ...
          scf.if (%old == 0) { tts.scatter site, key and program id into %table }
          tt.assert %false, "sanitizer"
        }
        ```
        """
        found = self.when(self.compare("ne", key, NO_LANE))
        words = [found.constant(word, i32) for word in (CLAIMED, SITE, KEY, PROGRAM, PROGRAM + 1, PROGRAM + 2)]
        old = found.insert(tts.AtomicCASOp(table, words[0], found.constant(0), found.constant(1)))
        first = found.when(found.compare("eq", old, 0))
        ids = [first.wide(first.insert(tt.GetProgramIdOp(axis))) for axis in range(3)]
        for word, value in zip(words[1:], (first.constant(site), key, *ids), strict=True):
            first.builder.insert(tts.ScatterOp(table, word, value))
        found.builder.insert(tt.AssertOp(found.constant(0, i1), ASSERTION))
