"""Emitting scalar code: constants made once per function, cheap constructors, and index arithmetic that folds as it
goes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeAlias, cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tilewright.dialects import arith, scf
from tilewright.dialects.types import is_float
from tilewright.ir.builder import OpBuilder

INDEX = IndexType()

Index: TypeAlias = "int | SSAValue"
"""An index that is either known now or computed by the program: MLIR's OpFoldResult."""


def constant_of(value: SSAValue) -> int | None:
    """The integer that a value is, if it is an integer or index constant or an index cast of one, else None."""
    owner = value.owner
    if isinstance(owner, arith.IndexCastOp):
        return constant_of(owner.operands[0])
    attribute = owner.properties["value"] if isinstance(owner, arith.ConstantOp) else None
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def fold_index(value: SSAValue) -> Index:
    """The integer where a value is constant, else the value."""
    known = constant_of(value)
    return value if known is None else known


Body = Callable[[Sequence[SSAValue]], Sequence[SSAValue]]
"""From the arguments of a block to the values that it yields; ops go through the builder that runs it."""


class ScalarBuilder(OpBuilder):
    """An `OpBuilder` for scalar arithmetic inside one function.

    Constants go to the start of the function's entry block, one op for each value and type, so that emitting
    `b.index(0)` a hundred times costs one op. Index arithmetic over `Index` (Python ints mixed with values) folds what
    is known.

    ```python
    bytes = b.index_mul(b.index_sub(bound, start), 4)  # an int where both are ints, ops otherwise
    ```
    """

    __slots__ = ("_constants", "_entry", "_last_constant")

    def __init__(self, entry: Block) -> None:
        super().__init__(InsertPoint.at_start(entry))
        self._entry = entry
        self._last_constant: Operation | None = None
        self._constants: dict[Hashable, SSAValue] = {}

    # Constants

    def constant(self, key: Hashable, make: Callable[[], arith.ConstantOp]) -> SSAValue:
        """The function's one constant for a key (its value and type), made on first use."""
        found = self._constants.get(key)
        if found is not None:
            return found
        op = make()
        op.location = self.location
        if self._last_constant is not None:
            self._entry.insert_op_after(op, self._last_constant)
        elif (first := self._entry.first_op) is not None:
            self._entry.insert_op_before(op, first)
        else:
            self._entry.add_op(op)
        self._last_constant = op
        self._constants[key] = op.results[0]
        return op.results[0]

    def index(self, value: int) -> SSAValue:
        """``arith.constant 4 : index``."""
        return self.constant(value, lambda: arith.constant_index(value))

    def int(self, value: int, value_type: Attribute) -> SSAValue:
        """An integer constant; bits above the width of the type are cut off."""
        kind = cast("IntegerType | IndexType", value_type)
        return self.constant((value, value_type), lambda: arith.constant_int(value, kind))

    def float(self, value: float, value_type: Attribute) -> SSAValue:
        """A float constant, rounded to the type."""
        return self.constant((repr(value), value_type), lambda: arith.constant_float(value, value_type))

    def zero(self, value_type: Attribute) -> SSAValue:
        """Zero of an integer, index or float type."""
        return self.float(0.0, value_type) if is_float(value_type) else self.int(0, value_type)

    # Arithmetic

    def cast(
        self, cls: Callable[[SSAValue, Attribute], Operation], value: SSAValue, result_type: Attribute
    ) -> SSAValue:
        """A cast op, or the value itself where it has the type already."""
        return value if value.type == result_type else self.insert(cls(value, result_type)).results[0]

    def emit(self, cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        """An op with one result whose type follows from its operands."""
        return self.insert(cls(*operands)).results[0]

    def cmpi(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """``arith.cmpi slt, %lhs, %rhs``."""
        return self.insert(arith.CmpiOp(lhs, rhs, predicate)).results[0]

    def cmpf(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """``arith.cmpf olt, %lhs, %rhs``."""
        return self.insert(arith.CmpfOp(lhs, rhs, predicate)).results[0]

    def select(self, condition: SSAValue, if_true: SSAValue, if_false: SSAValue) -> SSAValue:
        """``arith.select``, or the value itself where both sides are the same."""
        if if_true is if_false:
            return if_true
        return self.emit(arith.SelectOp, condition, if_true, if_false)

    def not_(self, condition: SSAValue) -> SSAValue:
        """The negation of an i1."""
        return self.emit(arith.XOrIOp, condition, self.int(1, i1))

    # Regions

    def inline(self, block: Block, body: Body) -> Sequence[SSAValue]:
        """Run a body with the insertion point at the end of `block`, then come back."""
        saved = self._block, self._before
        self._block, self._before = block, None
        try:
            return body(block.args)
        finally:
            self._block, self._before = saved

    def for_loop(
        self,
        start: Index,
        end: Index,
        initial: Sequence[SSAValue],
        body: Body,
        *,
        attributes: dict[str, Attribute] | None = None,
    ) -> Sequence[SSAValue]:
        """``scf.for`` over index; the body gets the induction value and the carried values, and gives the next ones."""
        first = self.as_value(start)
        block = Block(arg_types=[first.type, *(value.type for value in initial)])
        end_op = scf.YieldOp(*self.inline(block, body))
        end_op.location = self.location
        block.add_op(end_op)
        loop = scf.ForOp(first, self.as_value(end), self.index(1), initial, Region(block))
        if attributes:
            loop.attributes.update(attributes)
        return self.insert(loop).results

    # Index arithmetic

    def as_value(self, index: Index) -> SSAValue:
        """The SSA value of an index, a constant where it is known."""
        return self.index(index) if isinstance(index, int) else index

    def as_index(self, value: SSAValue) -> SSAValue:
        """A signed integer as an ``index``."""
        known = constant_of(value)
        if known is not None:
            return self.index(known)
        return self.cast(arith.IndexCastOp, value, INDEX)

    def index_add(self, lhs: Index, rhs: Index) -> Index:
        """lhs + rhs."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if rhs == 0 and isinstance(rhs, int):
            return lhs
        return self.emit(arith.AddiOp, self.as_value(lhs), self.as_value(rhs))

    def index_sub(self, lhs: Index, rhs: Index) -> Index:
        """lhs - rhs."""
        if isinstance(rhs, int):
            if isinstance(lhs, int):
                return lhs - rhs
            if rhs == 0:
                return lhs
        elif lhs is rhs:
            return 0
        return self.emit(arith.SubiOp, self.as_value(lhs), self.as_value(rhs))

    def index_mul(self, lhs: Index, rhs: Index) -> Index:
        """lhs * rhs."""
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if isinstance(rhs, int):
            if isinstance(lhs, int):
                return lhs * rhs
            if rhs in (0, 1):
                return lhs if rhs else 0
        return self.emit(arith.MuliOp, self.as_value(lhs), self.as_value(rhs))
