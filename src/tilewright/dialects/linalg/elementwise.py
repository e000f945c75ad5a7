"""Named linalg ops that compute element by element, and `linalg.elementwise`, which is any of them by its kind."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.fields import opt_prop_def, prop_def
from tilewright.dialects.linalg.attributes import IteratorType
from tilewright.dialects.linalg.contractions import MapArray, TypeFn, TypeFnAttr, parse_maps, print_maps
from tilewright.dialects.linalg.generic import YieldOp
from tilewright.dialects.linalg.named import NamedOp
from tilewright.dialects.linalg.scalars import FUNCTIONS, ScalarFunction, convert
from tilewright.dialects.linalg.structured import entry_block
from tilewright.dialects.text import write
from tilewright.dialects.types import shape_of
from tilewright.dialects.words import WordAttr

NAMED_FUNCTIONS: Mapping[str, ScalarFunction] = {
    **{f"linalg.{kind}": function for kind, function in FUNCTIONS.items()},
    "linalg.max": FUNCTIONS["max_signed"],
    "linalg.min": FUNCTIONS["min_signed"],
}
"""By the names of ops that compute element by element."""


class PointwiseOp(NamedOp, ABC, init=False):
    """Loops over the dimensions of the destination; operands are read at the element that is written."""

    @property
    def maps(self) -> Sequence[AffineMap]:
        return [AffineMap.identity(len(self.iterators))] * len(self.operands)

    @property
    def iterators(self) -> Sequence[IteratorType]:
        return (IteratorType.PARALLEL,) * len(shape_of(self.operands[-1].type) or ())


class ElementwiseNamedOp(PointwiseOp, ABC, init=False):
    """Every operand has the shape of the destination; nothing is converted."""

    @classmethod
    def input_count(cls, properties: Mapping[str, Attribute]) -> int:
        return NAMED_FUNCTIONS[cls.name].inputs

    @classmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        return _body_of(NAMED_FUNCTIONS[cls.name], inputs, outputs)


def _body_of(function: ScalarFunction, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue]) -> Region:
    block = entry_block(inputs, outputs)
    value = function.emit(tuple(block.args[:-1]), block)
    block.add_op(YieldOp(value))
    return Region(block)


class ExpOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: e^x."""

    name = "linalg.exp"


class LogOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.log ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: natural logarithms."""

    name = "linalg.log"


class AbsOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.abs ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: absolute values."""

    name = "linalg.abs"


class CeilOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.ceil ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: rounded up."""

    name = "linalg.ceil"


class FloorOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.floor ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: rounded down."""

    name = "linalg.floor"


class NegFOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.negf ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: negated."""

    name = "linalg.negf"


class ReciprocalOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.reciprocal ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: 1 / x."""

    name = "linalg.reciprocal"


class RoundOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.round ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: to the nearest integer,
    halves away from zero."""

    name = "linalg.round"


class SqrtOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.sqrt ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: square roots."""

    name = "linalg.sqrt"


class RsqrtOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.rsqrt ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: 1 / sqrt(x)."""

    name = "linalg.rsqrt"


class SquareOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.square ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: x * x."""

    name = "linalg.square"


class TanhOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.tanh ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: hyperbolic tangents."""

    name = "linalg.tanh"


class ErfOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.erf ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``: error functions."""

    name = "linalg.erf"


class AddOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.add ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    sums; of booleans, or."""

    name = "linalg.add"


class SubOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.sub ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    differences."""

    name = "linalg.sub"


class MulOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.mul ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    products; of booleans, and."""

    name = "linalg.mul"


class DivOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.div ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    quotients, of signed integers."""

    name = "linalg.div"


class DivUnsignedOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.div_unsigned ins(%x, %y : tensor<4xi32>, tensor<4xi32>) outs(%e : tensor<4xi32>)
    -> tensor<4xi32>``: quotients of unsigned integers."""

    name = "linalg.div_unsigned"


class MaxOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.max ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    the larger of two, integers signed."""

    name = "linalg.max"


class MinOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.min ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    the smaller of two, integers signed."""

    name = "linalg.min"


class PowFOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.powf ins(%x, %y : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>``:
    powers."""

    name = "linalg.powf"


class SelectOp(ElementwiseNamedOp, init=False):
    """``%r = linalg.select ins(%c, %x, %y : tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>)
    -> tensor<4xf32>``: one of two by a condition."""

    name = "linalg.select"


class CopyOp(PointwiseOp, init=False):
    """``%r = linalg.copy ins(%x : tensor<4xf32>) outs(%e : tensor<4xf16>) -> tensor<4xf16>``: copied, and converted."""

    name = "linalg.copy"

    cast: TypeFnAttr | None = opt_prop_def(TypeFnAttr, kw_only=True)

    WRITTEN_AMONG_ATTRIBUTES: ClassVar[tuple[str, ...]] = ("cast",)

    @classmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        block = entry_block(inputs, outputs)
        signed = properties.get("cast") != TypeFnAttr(TypeFn.CAST_UNSIGNED)
        block.add_op(YieldOp(convert(block.args[0], block.args[1].type, block, signed=signed)))
        return Region(block)


class ElementwiseKind(StrEnum):
    """The functions that `linalg.elementwise` computes."""

    EXP = "exp"
    LOG = "log"
    ABS = "abs"
    CEIL = "ceil"
    FLOOR = "floor"
    NEGF = "negf"
    RECIPROCAL = "reciprocal"
    ROUND = "round"
    SQRT = "sqrt"
    RSQRT = "rsqrt"
    SQUARE = "square"
    TANH = "tanh"
    ERF = "erf"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    DIV = "div"
    DIV_UNSIGNED = "div_unsigned"
    MAX_SIGNED = "max_signed"
    MIN_SIGNED = "min_signed"
    MAX_UNSIGNED = "max_unsigned"
    MIN_UNSIGNED = "min_unsigned"
    POWF = "powf"
    SELECT = "select"


@irdl_attr_definition
class ElementwiseKindAttr(WordAttr[ElementwiseKind]):
    """``#linalg.elementwise_kind<add>``."""

    name = "linalg.elementwise_kind"


class ElementwiseOp(PointwiseOp, init=False):
    """``%r = linalg.elementwise kind=#linalg.elementwise_kind<add> indexing_maps = [#row, #id, #id]
    ins(%x, %y : tensor<8xf32>, tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>``: a function by its
    kind; inputs may be transposed or broadcast by maps."""

    name = "linalg.elementwise"

    kind: ElementwiseKindAttr = prop_def(ElementwiseKindAttr, kw_only=True)
    indexing_maps: MapArray | None = opt_prop_def(MapArray, kw_only=True)

    @classmethod
    def input_count(cls, properties: Mapping[str, Attribute]) -> int:
        return _function_of(properties).inputs

    @classmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        return _body_of(_function_of(properties), inputs, outputs)

    @property
    def maps(self) -> Sequence[AffineMap]:
        if self.indexing_maps is not None:
            return [attr.data for attr in self.indexing_maps]
        return super().maps

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = super().parse(parser)
        if op.indexing_maps is None:
            op.indexing_maps = ArrayAttr([AffineMapAttr(map_) for map_ in op.maps])
        return op

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        position = parser.pos
        if parser.parse_optional_keyword("kind") is None:
            parser.raise_error(f"custom op '{cls.name}' expected operation 'kind' attribute", position, position + 1)
        parser.parse_punctuation("=")
        position = parser.pos
        kind = parser.parse_attribute()
        if not isinstance(kind, ElementwiseKindAttr):
            parser.raise_error(f"custom op '{cls.name}' expected operation 'kind' attribute", position, position + 1)
        return {"kind": kind, **parse_maps(parser)}

    def print_properties(self, printer: Printer) -> None:
        write(printer, " kind=", self.kind)
        rank = len(self.iterators)
        if self.indexing_maps is not None and any(map_ != AffineMap.identity(rank) for map_ in self.maps):
            print_maps(printer, self.indexing_maps)


def _function_of(properties: Mapping[str, Attribute]) -> ScalarFunction:
    return FUNCTIONS[cast(ElementwiseKindAttr, properties["kind"]).data]
