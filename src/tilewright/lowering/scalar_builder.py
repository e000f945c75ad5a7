"""Emitting scalar code: constants made once per function, cheap constructors, and index arithmetic that folds as it
goes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.irdl import IRDLOperation

from tilewright.dialects import arith, scf
from tilewright.dialects.construction import Index
from tilewright.dialects.types import is_float, with_element_type
from tilewright.ir.builder import Cursor, OpBuilder
from tilewright.transforms.linalg.index_proofs import constant_of

INDEX = IndexType()


Body = Callable[[Sequence[SSAValue]], Sequence[SSAValue]]
"""From the arguments of a block to the values that it yields; ops go through the builder that runs it."""


_NO_OVERFLOW = {"overflowFlags": arith.IntegerOverflowAttr("none")}
_NO_FASTMATH = {"fastmath": arith.FastMathFlagsAttr("none")}
_FLAGS: dict[type[IRDLOperation], Mapping[str, Attribute]] = {
    **dict.fromkeys((arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp), _NO_OVERFLOW),
    **dict.fromkeys((arith.AddfOp, arith.SubfOp, arith.MulfOp, arith.DivfOp), _NO_FASTMATH),
    **dict.fromkeys((arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp), _NO_FASTMATH),
}
_PREDICATES = {name: IntegerAttr(code, i64) for code, name in enumerate(arith.CMPI_KEYWORDS)}


def default_flags(op_class: type[IRDLOperation]) -> Mapping[str, Attribute] | None:
    """The flag property that an arith op class needs to be complete."""
    return _FLAGS.get(op_class)


class ScalarBuilder(OpBuilder):
    """An `OpBuilder` for scalar arithmetic inside one function.

    Constants go to the start of the function's entry block, one op for each value and type, so that emitting
    `b.index(0)` a hundred times costs one op. Index arithmetic over `Index` (Python ints mixed with values) folds what
    is known.

    ```python
    bytes = b.mul(b.sub(bound, start), 4)  # an int where both are ints, ops otherwise
    ```
    """

    __slots__ = ("_constants", "_last_constant", "entry")

    def __init__(self, entry: Block) -> None:
        super().__init__(Cursor.at_start(entry))
        self.entry = entry
        self._last_constant: Operation | None = None
        self._constants: dict[Hashable, SSAValue] = {}

    # Constants

    def constants_cursor(self) -> Cursor:
        """Return where the next constant goes: after the last one."""
        return Cursor.after(self._last_constant or self.entry)

    def shared_constant(self, key: Hashable, make: Callable[[], arith.ConstantOp]) -> SSAValue:
        """The function's one constant for a key (its value and type), made on first use."""
        found = self._constants.get(key)
        if found is None:
            op = make()
            op.location = self.location
            self.constants_cursor().insert(op)
            self._last_constant = op
            found = self._constants[key] = op.results[0]
        return found

    def constant(self, value: int | float, value_type: Attribute) -> SSAValue:
        """A number of an integer, index or float type; see `int` and `float`."""
        return self.float(value, value_type) if is_float(value_type) else self.int(cast("int", value), value_type)

    def index(self, value: int) -> SSAValue:
        """``arith.constant 4 : index``."""
        return self.int(value, INDEX)

    def int(self, value: int, value_type: Attribute) -> SSAValue:
        """An integer constant; bits above the width of the type are cut off."""
        kind = cast("IntegerType | IndexType", value_type)
        return self.shared_constant((value, value_type), lambda: arith.constant_int(value, kind))

    def float(self, value: float, value_type: Attribute) -> SSAValue:
        """A float constant, rounded to the type."""
        value = float(value)
        return self.shared_constant((repr(value), value_type), lambda: arith.constant_float(value, value_type))

    def zero(self, value_type: Attribute) -> SSAValue:
        """Zero of an integer, index or float type."""
        return self.constant(0, value_type)

    # Ops

    def create(
        self,
        op_class: type[IRDLOperation],
        operands: Sequence[SSAValue] = (),
        result_types: Sequence[Attribute] = (),
        properties: Mapping[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Create and insert an op without the cost of the checking constructors."""
        return self.insert(
            op_class.create(
                operands=operands,
                result_types=result_types,
                properties=dict(properties) if properties else {},
                regions=regions,
            )
        )

    def value(
        self,
        op_class: type[IRDLOperation],
        operands: Sequence[SSAValue],
        result_type: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """`create` for an op with one result."""
        return self.create(op_class, operands, (result_type,), properties).results[0]

    def arith(self, op_class: type[IRDLOperation], lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """A binary arith op with default flags, on scalars or vectors."""
        return self.value(op_class, (lhs, rhs), lhs.type, default_flags(op_class))

    def cast(
        self, cls: Callable[[SSAValue, Attribute], Operation], value: SSAValue, result_type: Attribute
    ) -> SSAValue:
        """A cast op, or the value itself where it has the type already."""
        return value if value.type == result_type else self.result(cls(value, result_type))

    def emit(self, cls: Callable[..., Operation], *operands: SSAValue) -> SSAValue:
        """An op with one result whose type follows from its operands."""
        return self.result(cls(*operands))

    def cmpi(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """``arith.cmpi slt, %lhs, %rhs``."""
        kind = with_element_type(lhs.type, i1)
        return self.value(arith.CmpiOp, (lhs, rhs), kind, {"predicate": _PREDICATES[predicate]})

    def cmpf(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """``arith.cmpf olt, %lhs, %rhs``."""
        return self.result(arith.CmpfOp(lhs, rhs, predicate))

    def select(self, condition: SSAValue, if_true: SSAValue, if_false: SSAValue) -> SSAValue:
        """``arith.select``, or the value itself where both sides are the same."""
        if if_true is if_false:
            return if_true
        return self.value(arith.SelectOp, (condition, if_true, if_false), if_true.type)

    def not_(self, condition: SSAValue) -> SSAValue:
        """The negation of an i1."""
        return self.arith(arith.XOrIOp, condition, self.int(1, i1))

    # Regions

    def inline(self, block: Block, body: Body) -> Sequence[SSAValue]:
        """Run a body with the insertion point at the end of `block`, then come back."""
        with self.at(block):
            return body(block.args)

    def yield_(self, values: Sequence[SSAValue] = ()) -> None:
        """``scf.yield``."""
        self.create(scf.YieldOp, values)

    def open_for(
        self, lower: Index, upper: Index, step: Index, inits: Sequence[SSAValue] = ()
    ) -> tuple[scf.ForOp, Block]:
        """An `scf.for` whose body is still without terminator; see `yield_`."""
        first = self.ssa(lower)
        body = Block(arg_types=[first.type, *(value.type for value in inits)])
        types = [value.type for value in inits]
        op = self.create(scf.ForOp, (first, self.ssa(upper), self.ssa(step), *inits), types, regions=[Region(body)])
        assert isinstance(op, scf.ForOp)
        return op, body

    def for_loop(self, start: Index, end: Index, initial: Sequence[SSAValue], body: Body) -> scf.ForOp:
        """``scf.for`` over index; the body gets the induction value and the carried values, and gives the next ones."""
        loop, block = self.open_for(start, end, 1, initial)
        with self.at(block):
            self.yield_(body(block.args))
        return loop

    def open_if(
        self, condition: SSAValue, result_types: Sequence[Attribute] = (), *, has_else: bool = True
    ) -> tuple[scf.IfOp, Block, Block]:
        """An `scf.if` whose blocks are still without terminator; without `has_else` the second is not of the op."""
        then, otherwise = Block(), Block()
        regions = [Region(then), Region(otherwise) if has_else else Region()]
        op = self.create(scf.IfOp, (condition,), result_types, regions=regions)
        assert isinstance(op, scf.IfOp)
        return op, then, otherwise

    def if_else(
        self,
        condition: SSAValue,
        result_types: Sequence[Attribute],
        then: Callable[[], Sequence[SSAValue]],
        otherwise: Callable[[], Sequence[SSAValue]] | None = None,
    ) -> scf.IfOp:
        """``scf.if``; without `otherwise` there are no results and no else region."""
        op, *blocks = self.open_if(condition, result_types, has_else=otherwise is not None)
        for block, body in zip(blocks, (then, otherwise), strict=True):
            if body is not None:
                with self.at(block):
                    self.yield_(body())
        return op

    # Index arithmetic

    def ssa(self, index: Index) -> SSAValue:
        """The SSA value of an index, a constant where it is known."""
        return self.index(index) if isinstance(index, int) else index

    def as_index(self, value: SSAValue) -> SSAValue:
        """A signed integer as an ``index``."""
        known = constant_of(value)
        if known is not None:
            return self.index(known)
        return self.cast(arith.IndexCastOp, value, INDEX)

    def add(self, lhs: Index, rhs: Index) -> Index:
        """lhs + rhs."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        if rhs == 0:
            return lhs
        return rhs if lhs == 0 else self._index_op(arith.AddiOp, lhs, rhs)

    def sub(self, lhs: Index, rhs: Index) -> Index:
        """lhs - rhs."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs - rhs
        if rhs == 0:
            return lhs
        return 0 if lhs is rhs else self._index_op(arith.SubiOp, lhs, rhs)

    def mul(self, lhs: Index, rhs: Index) -> Index:
        """lhs * rhs."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs * rhs
        if lhs == 0 or rhs == 0:
            return 0
        if lhs == 1:
            return rhs
        return lhs if rhs == 1 else self._index_op(arith.MuliOp, lhs, rhs)

    def min(self, lhs: Index, rhs: Index) -> Index:
        """The smaller one, signed."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return min(lhs, rhs)
        return lhs if lhs is rhs else self._index_op(arith.MinSIOp, lhs, rhs)

    def max(self, lhs: Index, rhs: Index) -> Index:
        """The larger one, signed."""
        if isinstance(lhs, int) and isinstance(rhs, int):
            return max(lhs, rhs)
        return lhs if lhs is rhs else self._index_op(arith.MaxSIOp, lhs, rhs)

    def align_down(self, value: Index, step: int) -> Index:
        """The largest multiple of `step`, a power of two, not above a non-negative value."""
        assert step & (step - 1) == 0
        if isinstance(value, int):
            return value // step * step
        return self._index_op(arith.AndIOp, value, -step) if step > 1 else value

    def _index_op(self, op_class: type[IRDLOperation], lhs: Index, rhs: Index) -> SSAValue:
        return self.arith(op_class, self.ssa(lhs), self.ssa(rhs))
