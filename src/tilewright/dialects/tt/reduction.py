"""Ops with a region that says how elements combine: reductions, scans, and element-wise maps."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, traits_def
from xdsl.traits import (
    HasParent,
    IsTerminator,
    MemoryEffectKind,
    Pure,
    RecursivelySpeculatable,
    RecursiveMemoryEffect,
    ReturnLike,
    get_effects,
)
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, bool_attr, i32_attr, init_op, values_of
from tilewright.dialects.fields import Body, Operands, Results, prop_def, region_def, var_operand_def, var_result_def
from tilewright.dialects.tt import inference
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.traits import SameOperandsAndResultEncoding, TensorSizeTrait
from tilewright.dialects.tt.types import is_tensor
from tilewright.dialects.types import as_tensor, element_type, with_element_type

__all__ = [
    "MapElementwiseOp",
    "MapElementwiseReturnOp",
    "ReduceOp",
    "ReduceReturnOp",
    "ScanOp",
    "ScanReturnOp",
    "combine_region",
]


def combine_region(srcs: Sequence[SSAValue]) -> Region:
    """An empty combine region for `srcs`: one block with all accumulators, then all current values, as arguments."""
    elements = [element_type(src.type) for src in srcs]
    return Region(Block(arg_types=(*elements, *elements)))


def _check_sources(op: IRDLOperation, srcs: Sequence[SSAValue]) -> None:
    if not srcs:
        raise VerifyException(f"{op.name} must have at least 1 operand")
    if len({src.type.get_shape() for src in srcs if is_tensor(src.type)}) > 1:
        raise VerifyException(f"{op.name} requires the same shape for all operands")


def _check_combine(
    op: IRDLOperation, region: Region, srcs: Sequence[SSAValue], terminator: type[IRDLOperation]
) -> None:
    """Checks the block arguments and what the region returns."""
    block = region.blocks.first
    if block is None:
        raise VerifyException(f"{op.name} requires a combine region with one block")
    elements = [element_type(src.type) for src in srcs]
    if len(block.args) != 2 * len(elements):
        raise VerifyException(
            f"nested block must take {2 * len(elements)} arguments, but given block with {len(block.args)} arguments"
        )
    for index, (arg, element) in enumerate(zip(block.args, (*elements, *elements), strict=True)):
        if arg.type != element:
            raise VerifyException(
                f"type mismatch on combine operation: argument {index} is {arg.type}, expected {element}"
            )
    for nested in region.blocks:
        last = nested.last_op
        if not isinstance(last, terminator):
            continue
        if [operand.type for operand in last.operands] != elements:
            raise VerifyException(
                f"type mismatch on combine operation: region returns {list(map(str, last.operand_types))}, "
                f"expected {list(map(str, elements))}"
            )


class ReduceOp(TritonOp):
    """Elements along `axis` combined to one by an associative, commutative region. The region takes all accumulators,
    then all current values, and returns one value per operand.

    ```mlir
    %r = "tt.reduce"(%x) <{axis = 1 : i32}> ({
    ^bb0(%acc: f32, %cur: f32):
      %s = arith.addf %acc, %cur : f32
      tt.reduce.return %s : f32
    }) : (tensor<8x16xf32>) -> tensor<8xf32>
    ```
    """

    name = "tt.reduce"

    srcs: Operands = var_operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr)
    result: Results = var_result_def()
    combine_op: Body = region_def()

    traits = traits_def(RecursiveMemoryEffect(), RecursivelySpeculatable(), TensorSizeTrait())

    def __init__(self, srcs: Sequence[Value], axis: int, combine_op: Region | None = None):
        sources = values_of(srcs)
        results = [inference.reduce(source.type, axis) for source in sources]
        region = combine_region(sources) if combine_op is None else combine_op
        init_op(self, sources, results, {"axis": i32_attr(axis)}, regions=(region,))

    def verify_(self) -> None:
        _check_sources(self, self.srcs)
        if len(self.result) != len(self.srcs):
            raise VerifyException(f"{self.name} must have one result per operand")
        for source, result in zip(self.srcs, self.result, strict=True):
            inference.check_inferred(self.name, inference.reduce(source.type, self.axis.value.data), result.type)
        _check_combine(self, self.combine_op, self.srcs, ReduceReturnOp)


class ScanOp(TritonOp):
    """Running combination along `axis`, from the end with `reverse`; the region is that of `tt.reduce`.

    ```mlir
    %s = "tt.scan"(%x) <{axis = 0 : i32, reverse = false}> ({
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tt.scan.return %c : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    ```
    """

    name = "tt.scan"

    srcs: Operands = var_operand_def(TENSOR)
    axis: IntegerAttr = prop_def(IntegerAttr)
    reverse: IntegerAttr = prop_def(IntegerAttr)
    result: Results = var_result_def(TENSOR)
    combine_op: Body = region_def()

    traits = traits_def(
        RecursiveMemoryEffect(), RecursivelySpeculatable(), TensorSizeTrait(), SameOperandsAndResultEncoding()
    )

    def __init__(self, srcs: Sequence[Value], axis: int, combine_op: Region | None = None, *, reverse: bool = False):
        sources = values_of(srcs)
        region = combine_region(sources) if combine_op is None else combine_op
        properties = {"axis": i32_attr(axis), "reverse": bool_attr(reverse)}
        init_op(self, sources, [source.type for source in sources], properties, regions=(region,))

    def verify_(self) -> None:
        _check_sources(self, self.srcs)
        if [result.type for result in self.result] != [source.type for source in self.srcs]:
            raise VerifyException(f"{self.name} must have one result per operand, of the operand's type")
        rank = len(as_tensor(self.srcs[0].type).get_shape())
        if not 0 <= self.axis.value.data < rank:
            raise VerifyException(f"axis must be between 0 and {rank - 1}, got {self.axis.value.data}")
        _check_combine(self, self.combine_op, self.srcs, ScanReturnOp)


class MapElementwiseOp(TritonOp):
    """A scalar function applied to each element, or to `pack` elements at a time: the region takes all packed elements
    of operand 0, then those of operand 1, and so on, and returns likewise.

    ```mlir
    %m = "tt.map_elementwise"(%x) <{pack = 1 : i32}> ({
    ^bb0(%a: f32):
      tt.map_elementwise.return %a : f32
    }) : (tensor<16xf32>) -> tensor<16xf32>
    ```
    """

    name = "tt.map_elementwise"

    srcs: Operands = var_operand_def(TENSOR)
    pack: IntegerAttr = prop_def(IntegerAttr)
    result: Results = var_result_def(TENSOR)
    scalar_op: Body = region_def()

    traits = traits_def(
        RecursiveMemoryEffect(), RecursivelySpeculatable(), TensorSizeTrait(), SameOperandsAndResultEncoding()
    )

    def __init__(
        self,
        srcs: Sequence[Value],
        element_types: Sequence[Attribute],
        scalar_op: Region | None = None,
        *,
        pack: int = 1,
    ):
        sources = values_of(srcs)
        if scalar_op is None:
            scalar_op = Region(Block(arg_types=[element_type(source.type) for source in sources for _ in range(pack)]))
        results = [with_element_type(sources[0].type, element) for element in element_types]
        init_op(self, sources, results, {"pack": i32_attr(pack)}, regions=(scalar_op,))

    def verify_(self) -> None:
        _check_sources(self, self.srcs)
        pack = self.pack.value.data
        if pack <= 0 or pack & (pack - 1):
            raise VerifyException(f"pack must be a power of two, got {pack}")
        block = self.scalar_op.blocks.first
        if block is None:
            raise VerifyException(f"{self.name} requires a region with at least one block")
        expected = [element_type(source.type) for source in self.srcs for _ in range(pack)]
        if [arg.type for arg in block.args] != expected:
            raise VerifyException(f"region must take {list(map(str, expected))}, got {list(map(str, block.arg_types))}")
        for inner in self.scalar_op.walk():
            effects = get_effects(inner)
            if effects is not None and any(effect.kind == MemoryEffectKind.WRITE for effect in effects):
                raise VerifyException(f"Stores are not supported inside map_elementwise, got {inner.name}")
        returned = [element_type(result.type) for result in self.result for _ in range(pack)]
        for nested in self.scalar_op.blocks:
            last = nested.last_op
            if isinstance(last, MapElementwiseReturnOp) and list(last.operand_types) != returned:
                raise VerifyException(
                    f"region must return {list(map(str, returned))}, got {list(map(str, last.operand_types))}"
                )


class ReduceReturnOp(TritonOp):
    """The combined values: `tt.reduce.return %s : f32`."""

    name = "tt.reduce.return"

    result: Operands = var_operand_def()

    assembly_format = "$result attr-dict `:` type($result)"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), HasParent(ReduceOp))


class ScanReturnOp(TritonOp):
    """The combined values: `tt.scan.return %s : f32`."""

    name = "tt.scan.return"

    result: Operands = var_operand_def()

    assembly_format = "$result attr-dict `:` type($result)"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), HasParent(ScanOp))


class MapElementwiseReturnOp(TritonOp):
    """The mapped values: `tt.map_elementwise.return %r : f32`."""

    name = "tt.map_elementwise.return"

    result: Operands = var_operand_def()

    assembly_format = "attr-dict ($result^ `:` type($result))?"
    traits = traits_def(Pure(), IsTerminator(), ReturnLike(), HasParent(MapElementwiseOp))
