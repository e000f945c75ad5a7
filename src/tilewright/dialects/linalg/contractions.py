"""Matmuls and their relatives: ``C += A B``, each operand read through its own map."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, ClassVar, Self, cast

from xdsl.dialects.builtin import AffineMapAttr, ArrayAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.ir.affine import AffineDimExpr, AffineExpr, AffineMap
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from tilewright.dialects.arith import AddfOp, AddiOp, AndIOp, MulfOp, MuliOp, OrIOp
from tilewright.dialects.fields import opt_prop_def, prop_def
from tilewright.dialects.linalg.attributes import IteratorType
from tilewright.dialects.linalg.generic import YieldOp
from tilewright.dialects.linalg.named import NamedOp, map_of_dims
from tilewright.dialects.linalg.scalars import convert
from tilewright.dialects.linalg.structured import entry_block
from tilewright.dialects.text import write
from tilewright.dialects.types import bit_width, is_float
from tilewright.dialects.words import WordAttr

MapArray = ArrayAttr[AffineMapAttr]


class TypeFn(StrEnum):
    """Whether integers are converted as signed or unsigned ones."""

    CAST_SIGNED = "cast_signed"
    CAST_UNSIGNED = "cast_unsigned"


@irdl_attr_definition
class TypeFnAttr(WordAttr[TypeFn]):
    """``#linalg.type_fn<cast_unsigned>``."""

    name = "linalg.type_fn"


@cache
def standard_maps(*letters: str) -> MapArray:
    """The maps of operands whose dimensions are these loops; the loops are named in the order of their counters.

    >>> print(standard_maps("mnk", "mk", "kn", "mn").data[0])
    affine_map<(d0, d1, d2) -> (d0, d2)>
    """
    loops, *operands = letters
    return ArrayAttr(
        AffineMapAttr(map_of_dims(len(loops), [loops.index(letter) for letter in dims])) for dims in operands
    )


def parse_maps(parser: Parser) -> dict[str, Attribute]:
    """``indexing_maps = [...]``, or nothing."""
    if parser.parse_optional_keyword("indexing_maps") is None:
        return {}
    parser.parse_punctuation("=")
    position = parser.pos
    maps = parser.parse_attribute()
    if not isinstance(maps, ArrayAttr) or not all(isinstance(map_, AffineMapAttr) for map_ in cast(Any, maps)):
        parser.raise_error("expected an array of affine maps", position, parser.pos)
    return {"indexing_maps": maps}


def print_maps(printer: Printer, maps: Attribute) -> None:
    """`` indexing_maps = [...]``."""
    write(printer, " indexing_maps = ", maps)


class ContractionOp(NamedOp, ABC, init=False):
    """A matmul that accumulates into its destination: ``C[.., i, j] += A[.., i, k] * B[.., k, j]``.

    Operands of other element types are converted to the destination's before the multiplication.
    """

    INPUTS: ClassVar[int] = 2

    LOOPS: ClassVar[tuple[str, ...]]
    """The loops, a letter for each, then those that index each operand."""

    cast: TypeFnAttr | None = opt_prop_def(TypeFnAttr, kw_only=True)

    WRITTEN_AMONG_ATTRIBUTES: ClassVar[tuple[str, ...]] = ("cast",)

    @classmethod
    def make_body(
        cls, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], properties: Mapping[str, Attribute]
    ) -> Region:
        signed = properties.get("cast") != TypeFnAttr(TypeFn.CAST_UNSIGNED)
        return _multiply_accumulate_body(inputs, outputs, signed=signed)

    @classmethod
    def standard_maps(cls) -> MapArray:
        """The maps that the name stands for."""
        return standard_maps(*cls.LOOPS)

    @property
    def map_attrs(self) -> MapArray:
        """The maps of the operands as an attribute."""
        return self.standard_maps()

    @property
    def maps(self) -> Sequence[AffineMap]:
        return [attr.data for attr in self.map_attrs]

    @property
    def iterators(self) -> Sequence[IteratorType]:
        """Loops that do not index the result are summed over."""
        loops, *_, result = self.LOOPS
        return [IteratorType.PARALLEL if loop in result else IteratorType.REDUCTION for loop in loops]


class MappedContractionOp(ContractionOp, ABC, init=False):
    """A product whose operands may be transposed or broadcast, by maps in place of those that the name stands for."""

    indexing_maps: MapArray = prop_def(MapArray, kw_only=True)

    @classmethod
    def create(cls, **parts: Any) -> Self:
        made = cls.class_for(parts.get("properties", {}))
        return super(MappedContractionOp, made).create(**parts)

    @classmethod
    def fixed_properties(cls) -> dict[str, Attribute]:
        return {"indexing_maps": cls.standard_maps()}

    @property
    def map_attrs(self) -> MapArray:
        return cast(MapArray, self.properties["indexing_maps"])

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        return parse_maps(parser)

    def print_properties(self, printer: Printer) -> None:
        if self.indexing_maps != self.standard_maps():
            print_maps(printer, self.indexing_maps)

    def verify_(self) -> None:
        if self.indexing_maps != self.standard_maps():
            if isinstance(self, STANDARD_FORMS):
                raise VerifyException("only the standard maps are known of this class")
            self._verify_inputs()
        super().verify_()

    def _verify_inputs(self) -> None:
        """Check that each input is indexed only by loops that index it by the standard maps."""
        for standard, given in zip(self.standard_maps().data[:-1], self.indexing_maps.data, strict=False):
            if not given.data.results or not set(given.data.results) <= set(standard.data.results):
                raise VerifyException("Unexpected dim expression in map result.")


def _is_standard(cls: type[MappedContractionOp], properties: Mapping[str, Attribute]) -> bool:
    return properties.get("indexing_maps", cls.standard_maps()) == cls.standard_maps()


class MatmulLikeOp(MappedContractionOp, ABC, init=False):
    """Matmuls of any maps."""

    LOOPS: ClassVar[tuple[str, ...]] = ("mnk", "mk", "kn", "mn")


class MatmulOp(MatmulLikeOp, init=False):
    """``%c = linalg.matmul ins(%a, %b : tensor<4x8xbf16>, tensor<8x16xbf16>) outs(%acc : tensor<4x16xf32>) ->
    tensor<4x16xf32>``."""

    name = "linalg.matmul"


class MappedMatmulOp(MatmulLikeOp, init=False):
    """``%c = linalg.matmul indexing_maps = [#ta, #b, #c] ins(%a, %b : tensor<8x4xf32>, tensor<8x16xf32>)
    outs(%acc : tensor<4x16xf32>) -> tensor<4x16xf32>``.

    A matmul is read as this class, and becomes a `MatmulOp` where its maps are the standard ones: passes that ask for
    that class meet no operand that is transposed or broadcast.
    """

    name = "linalg.matmul"

    @classmethod
    def class_for(cls, properties: Mapping[str, Attribute]) -> type[Self]:
        return cast(type[Self], MatmulOp) if _is_standard(cls, properties) else cls


class BatchMatmulLikeOp(MappedContractionOp, ABC, init=False):
    """Matmuls with a leading batch dimension, of any maps."""

    LOOPS: ClassVar[tuple[str, ...]] = ("bmnk", "bmk", "bkn", "bmn")


class BatchMatmulOp(BatchMatmulLikeOp, init=False):
    """``%r = linalg.batch_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%c : tensor<2x4x4xf32>)
    -> tensor<2x4x4xf32>``: :class:`MatmulOp` with a leading batch dimension."""

    name = "linalg.batch_matmul"


class MappedBatchMatmulOp(BatchMatmulLikeOp, init=False):
    """``%r = linalg.batch_matmul indexing_maps = [#a, #tb, #c] ins(%a, %b : tensor<2x4x8xf32>, tensor<2x4x8xf32>)
    outs(%c : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>``: to `BatchMatmulOp` what `MappedMatmulOp` is to `MatmulOp`."""

    name = "linalg.batch_matmul"

    @classmethod
    def class_for(cls, properties: Mapping[str, Attribute]) -> type[Self]:
        return cast(type[Self], BatchMatmulOp) if _is_standard(cls, properties) else cls


STANDARD_FORMS = (MatmulOp, BatchMatmulOp)
"""Classes whose ops are read as the class below them, by the name of both."""


class BatchReduceMatmulOp(MappedContractionOp, init=False):
    """``%r = linalg.batch_reduce_matmul ins(%a, %b : tensor<2x4x8xf32>, tensor<2x8x4xf32>) outs(%c : tensor<4x4xf32>)
    -> tensor<4x4xf32>``: the sum of the products of a batch."""

    name = "linalg.batch_reduce_matmul"

    LOOPS: ClassVar[tuple[str, ...]] = ("bmnk", "bmk", "bkn", "mn")


class ContractOp(MappedContractionOp, init=False):
    """``%r = linalg.contract indexing_maps = [#a, #b, #c] ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>)
    outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>``: products of any maps, summed over the loops that index no result.
    """

    name = "linalg.contract"

    @classmethod
    def fixed_properties(cls) -> dict[str, Attribute]:
        return {}

    @property
    def iterators(self) -> Sequence[IteratorType]:
        maps = self.maps
        kept = set(maps[-1].results) if maps else set[AffineExpr]()
        loops = [AffineExpr.dimension(position) for position in range(maps[0].num_dims if maps else 0)]
        return [IteratorType.PARALLEL if loop in kept else IteratorType.REDUCTION for loop in loops]

    @classmethod
    def parse_properties(cls, parser: Parser) -> dict[str, Attribute]:
        position = parser.pos
        found = parse_maps(parser)
        if not found:
            parser.raise_error(f"custom op '{cls.name}' expected 'indexing_maps' attribute", position, position + 1)
        return found

    def print_properties(self, printer: Printer) -> None:
        print_maps(printer, self.indexing_maps)

    def verify_(self) -> None:
        maps = self.maps
        if len(maps) == 3 and len({map_.num_dims for map_ in maps}) == 1:
            _verify_contraction(maps)
        NamedOp.verify_(self)


def _verify_contraction(maps: Sequence[AffineMap]) -> None:
    """Check that each loop indexes both inputs, or the result and an input."""
    for map_ in maps:
        if len(set(map_.results)) != len(map_.results) or not all(isinstance(e, AffineDimExpr) for e in map_.results):
            raise VerifyException("provided affine_map is not a projected permutation")
    left, right, result = (set(map_.results) for map_ in maps)
    for position in range(maps[0].num_dims):
        loop = AffineExpr.dimension(position)
        if (loop in result and loop not in left | right) or (loop not in result and loop not in left & right):
            raise VerifyException(
                f"iteration space dim at index {position} is neither a contracting dim nor of parallel iteration type"
            )


class MatvecOp(ContractionOp, init=False):
    """``%r = linalg.matvec ins(%a, %x : tensor<4x8xf32>, tensor<8xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>``."""

    name = "linalg.matvec"

    LOOPS: ClassVar[tuple[str, ...]] = ("mk", "mk", "k", "m")


class VecmatOp(ContractionOp, init=False):
    """``%r = linalg.vecmat ins(%x, %a : tensor<8xf32>, tensor<8x4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32>``."""

    name = "linalg.vecmat"

    LOOPS: ClassVar[tuple[str, ...]] = ("nk", "k", "kn", "n")


class BatchMatvecOp(ContractionOp, init=False):
    """``%r = linalg.batch_matvec ins(%a, %x : tensor<2x4x8xf32>, tensor<2x8xf32>) outs(%y : tensor<2x4xf32>)
    -> tensor<2x4xf32>``."""

    name = "linalg.batch_matvec"

    LOOPS: ClassVar[tuple[str, ...]] = ("bmk", "bmk", "bk", "bm")


class BatchVecmatOp(ContractionOp, init=False):
    """``%r = linalg.batch_vecmat ins(%x, %a : tensor<2x8xf32>, tensor<2x8x4xf32>) outs(%y : tensor<2x4xf32>)
    -> tensor<2x4xf32>``."""

    name = "linalg.batch_vecmat"

    LOOPS: ClassVar[tuple[str, ...]] = ("bnk", "bk", "bkn", "bn")


class DotOp(ContractionOp, init=False):
    """``%r = linalg.dot ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%s : tensor<f32>) -> tensor<f32>``."""

    name = "linalg.dot"

    LOOPS: ClassVar[tuple[str, ...]] = ("k", "k", "k", "")


class Mmt4DOp(ContractionOp, init=False):
    """``%r = linalg.mmt4d ins(%a, %b : tensor<2x3x4x8xf32>, tensor<5x3x6x8xf32>) outs(%c : tensor<2x5x4x6xf32>)
    -> tensor<2x5x4x6xf32>``: blocks of a matrix times blocks of a transposed one."""

    name = "linalg.mmt4d"

    LOOPS: ClassVar[tuple[str, ...]] = ("MNKmnk", "MKmk", "NKnk", "MNmn")


class BatchMmt4DOp(ContractionOp, init=False):
    """``%r = linalg.batch_mmt4d ins(%a, %b : tensor<7x2x3x4x8xf32>, tensor<7x5x3x6x8xf32>)
    outs(%c : tensor<7x2x5x4x6xf32>) -> tensor<7x2x5x4x6xf32>``."""

    name = "linalg.batch_mmt4d"

    LOOPS: ClassVar[tuple[str, ...]] = ("bMNKmnk", "bMKmk", "bNKnk", "bMNmn")


def _multiply_accumulate_body(inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], *, signed: bool) -> Region:
    block = entry_block(inputs, outputs)
    accumulator = block.args[2]
    element = accumulator.type
    lhs = convert(block.args[0], element, block, signed=signed)
    rhs = convert(block.args[1], element, block, signed=signed)
    if is_float(element):
        product = MulfOp(lhs, rhs)
        total = AddfOp(accumulator, product)
    elif bit_width(element) == 1:
        product = AndIOp(lhs, rhs)
        total = OrIOp(accumulator, product)
    else:
        product = MuliOp(lhs, rhs)
        total = AddiOp(accumulator, product)
    block.add_ops((product, total, YieldOp(total)))
    return Region(block)
