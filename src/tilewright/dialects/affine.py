"""The affine dialect as far as the middle layer uses it: accesses and index arithmetic through affine maps."""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import AffineMapAttr, IntegerAttr, MemRefType
from xdsl.interfaces import HasFolderInterface
from xdsl.ir import Attribute, Dialect, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap, AffineSymExpr
from xdsl.irdl import AnyAttr, IRDLOperation, VarConstraint, traits_def
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    VariadicOperandVariable,
    irdl_custom_directive,
)
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.affine_for import ForOp, YieldOp, parse_map_operands, print_map_operands
from tilewright.dialects.arith.constant import find_constant_int
from tilewright.dialects.construction import MixedIndex, Value, init_op, value_of
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    Operands,
    Result,
    inferred_result_def,
    operand_def,
    prop_def,
    result_def,
    var_operand_def,
)
from tilewright.dialects.text import write
from tilewright.dialects.types import INDEX, element_type, shape_of
from tilewright.ir.affine_text import format_expr, format_map


class SubscriptReader:
    """Reads ``[%i * 4 + 1, symbol(%n)]`` as a map and its operands: every value becomes a dimension, or a symbol
    where so marked."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.dims: list[UnresolvedOperand] = []
        self.symbols: list[UnresolvedOperand] = []

    def read(self) -> tuple[AffineMap, list[UnresolvedOperand]]:
        """The map and the operands, dimensions first."""
        exprs = self.parser.parse_comma_separated_list(self.parser.Delimiter.SQUARE, self._sum)
        return AffineMap(len(self.dims), len(self.symbols), tuple(exprs)), [*self.dims, *self.symbols]

    def _sum(self) -> AffineExpr:
        left = self._product()
        while True:
            if self.parser.parse_optional_punctuation("+") is not None:
                left = left + self._product()
            elif self.parser.parse_optional_punctuation("-") is not None:
                left = left - self._product()
            else:
                return left

    def _product(self) -> AffineExpr:
        left = self._primary()
        while True:
            if self.parser.parse_optional_punctuation("*") is not None:
                left = left * self._primary()
            elif self.parser.parse_optional_keyword("floordiv"):
                left = left // self._primary()
            elif self.parser.parse_optional_keyword("ceildiv"):
                left = left.ceil_div(self._primary())
            elif self.parser.parse_optional_keyword("mod"):
                left = left % self._primary()
            else:
                return left

    def _primary(self) -> AffineExpr:
        parser = self.parser
        if parser.parse_optional_punctuation("-") is not None:
            return -self._primary()
        if parser.parse_optional_punctuation("(") is not None:
            inner = self._sum()
            parser.parse_punctuation(")")
            return inner
        if parser.parse_optional_keyword("symbol"):
            parser.parse_punctuation("(")
            operand = parser.parse_unresolved_operand()
            parser.parse_punctuation(")")
            return AffineExpr.symbol(self._position(self.symbols, operand))
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            return AffineExpr.dimension(self._position(self.dims, operand))
        return AffineExpr.constant(parser.parse_integer(allow_negative=False))

    @staticmethod
    def _position(known: list[UnresolvedOperand], operand: UnresolvedOperand) -> int:
        for position, other in enumerate(known):
            if (other.operand_name, other.index) == (operand.operand_name, operand.index):
                return position
        known.append(operand)
        return len(known) - 1


_VARIABLE = re.compile(r"\b([ds])(\d+)\b")


def print_subscripts(printer: Printer, map_: AffineMap, operands: Sequence[SSAValue]) -> None:
    """``%i * 4 + 1, symbol(%n)``: the results of a map with operands in place of its variables."""
    for position, expr in enumerate(map_.results):
        printer.print_string(", " if position else "")
        pieces = _VARIABLE.split(format_expr(expr))
        for text, kind, index in zip(pieces[::3], [*pieces[1::3], ""], [*pieces[2::3], ""], strict=True):
            printer.print_string(text)
            if kind == "d":
                printer.print_ssa_value(operands[int(index)])
            elif kind == "s":
                write(printer, "symbol(", operands[map_.num_dims + int(index)], ")")


@irdl_custom_directive
class Subscripts(CustomDirective):
    """``[%i * 4 + 1]``: operands, and the map that they go through."""

    operands: VariadicOperandVariable
    map: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        map_, operands = SubscriptReader(parser).read()
        self.map.set(state, AffineMapAttr(map_))
        self.operands.set(state, operands)

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        map_ = self.map.get(op)
        assert isinstance(map_, AffineMapAttr)
        printer.print_string("[")
        print_subscripts(printer, map_.data, self.operands.get(op))
        printer.print_string("]")
        state.last_was_punctuation = state.should_emit_space = True


def _subscript_map(subscripts: Sequence[MixedIndex]) -> tuple[AffineMap, list[SSAValue]]:
    """The map of plain subscripts: constants and values."""
    operands: list[SSAValue] = []
    exprs: list[AffineExpr] = []
    for subscript in subscripts:
        if isinstance(subscript, int):
            exprs.append(AffineExpr.constant(subscript))
            continue
        exprs.append(AffineExpr.dimension(len(operands)))
        operands.append(value_of(subscript))
    return AffineMap(len(operands), 0, tuple(exprs)), operands


def _verify_map(map_: AffineMap, operands: Sequence[SSAValue]) -> None:
    if map_.num_dims + map_.num_symbols != len(operands):
        raise VerifyException(f"the map takes {map_.num_dims + map_.num_symbols} operands, got {len(operands)}")


def _verify_rank(map_: AffineMap, memref: Attribute) -> None:
    rank = len(shape_of(memref) or ())
    if len(map_.results) != rank:
        raise VerifyException(f"the map gives {len(map_.results)} subscripts for {memref}")


class LoadOp(Op):
    """``%x = affine.load %m[%i * 4 + 1] : memref<?xf32>``."""

    name = "affine.load"

    T: ClassVar = VarConstraint("T", AnyAttr())

    memref: Operand = operand_def(MemRefType.constr(T))
    indices: Operands = var_operand_def(INDEX)
    map: AffineMapAttr = prop_def(AffineMapAttr)
    result: Result = result_def(T)

    traits = traits_def(MemoryReadEffect())

    custom_directives = (Subscripts,)
    assembly_format = "$memref custom<Subscripts>($indices, $map) attr-dict `:` type($memref)"

    def __init__(self, memref: Value, subscripts: Sequence[MixedIndex], map: AffineMap | None = None) -> None:
        memref = value_of(memref)
        map_, operands = _subscript_map(subscripts)
        properties = {"map": AffineMapAttr(map_ if map is None else map)}
        init_op(self, [memref, *operands], (element_type(memref.type),), properties)

    def verify_(self) -> None:
        _verify_map(self.map.data, self.indices)
        _verify_rank(self.map.data, self.operands[0].type)


class StoreOp(Op):
    """``affine.store %x, %m[%i, %j + 2] : memref<4x8xf32>``."""

    name = "affine.store"

    T: ClassVar = VarConstraint("T", AnyAttr())

    value: Operand = operand_def(T)
    memref: Operand = operand_def(MemRefType.constr(T))
    indices: Operands = var_operand_def(INDEX)
    map: AffineMapAttr = prop_def(AffineMapAttr)

    traits = traits_def(MemoryWriteEffect())

    custom_directives = (Subscripts,)
    assembly_format = "$value `,` $memref custom<Subscripts>($indices, $map) attr-dict `:` type($memref)"

    def __init__(
        self, value: Value, memref: Value, subscripts: Sequence[MixedIndex], map: AffineMap | None = None
    ) -> None:
        map_, operands = _subscript_map(subscripts)
        properties = {"map": AffineMapAttr(map_ if map is None else map)}
        init_op(self, [value_of(value), value_of(memref), *operands], (), properties)

    def verify_(self) -> None:
        _verify_map(self.map.data, self.indices)
        _verify_rank(self.map.data, self.operands[1].type)


def map_attr(map: AffineMap | AffineMapAttr) -> AffineMapAttr:
    """The attribute of a map."""
    return AffineMapAttr(map) if isinstance(map, AffineMap) else map


class MapOp(Op, HasFolderInterface, ABC):
    """``%r = affine.apply #map(%i)[%n]``: an index computed by a map."""

    mapOperands: Operands = var_operand_def(INDEX)
    map: AffineMapAttr = prop_def(AffineMapAttr, converter=map_attr)
    result: Result = inferred_result_def(INDEX)

    traits = traits_def(Pure())

    def verify_(self) -> None:
        _verify_map(self.map.data, self.operands)

    @classmethod
    def parse(cls, parser: Parser) -> MapOp:
        position = parser.pos
        map_ = parser.parse_attribute()
        if not isinstance(map_, AffineMapAttr):
            parser.raise_error("expected an affine map", position, parser.pos)
        op = cls(parse_map_operands(parser), map_)
        op.attributes.update(parser.parse_optional_attr_dict())
        return op

    def print(self, printer: Printer) -> None:
        write(printer, " ", self.map)
        print_map_operands(printer, self.map.data, self.operands)
        printer.print_op_attributes(self.attributes)

    def constant_results(self) -> list[int] | None:
        """The results of the map where all operands are constants."""
        values = [find_constant_int(operand) for operand in self.operands]
        known = [value for value in values if value is not None]
        if len(known) != len(values):
            return None
        dims = self.map.data.num_dims
        return [expr.eval(known[:dims], known[dims:]) for expr in self.map.data.results]


class ApplyOp(MapOp):
    """``%r = affine.apply affine_map<(d0)[s0] -> (d0 * 4 + s0)>(%i)[%n]``."""

    name = "affine.apply"

    def verify_(self) -> None:
        super().verify_()
        if len(self.map.data.results) != 1:
            raise VerifyException(f"the map must give one result: {format_map(self.map.data)}")

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        (expr,) = self.map.data.results
        if isinstance(expr, AffineDimExpr):
            return (self.operands[expr.position],)
        if isinstance(expr, AffineSymExpr):
            return (self.operands[self.map.data.num_dims + expr.position],)
        results = self.constant_results()
        return None if results is None else (IntegerAttr(results[0], INDEX),)


class MinOp(MapOp):
    """``%r = affine.min affine_map<(d0) -> (d0, 8)>(%i)``: the smallest result."""

    name = "affine.min"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        results = self.constant_results()
        return None if not results else (IntegerAttr(min(results), INDEX),)


class MaxOp(MapOp):
    """``%r = affine.max affine_map<(d0) -> (d0, 8)>(%i)``: the largest result."""

    name = "affine.max"

    def fold(self) -> Sequence[SSAValue | Attribute] | None:
        results = self.constant_results()
        return None if not results else (IntegerAttr(max(results), INDEX),)


Affine = Dialect("affine", [ApplyOp, ForOp, LoadOp, MaxOp, MinOp, StoreOp, YieldOp], [])
