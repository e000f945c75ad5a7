"""Matmuls that read views of memory, or panels, and what packs matrices into panels."""

from __future__ import annotations

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, MemRefType, TensorType, i1, i64
from xdsl.ir import Operation
from xdsl.irdl import AttrSizedOperandSegments, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    OptionalResult,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    result_def,
)
from tilewright.dialects.types import ANY_TENSOR, TypeWhere, shape_of, shapes_agree
from tilewright.support.records import dataclass

_TENSOR_OR_VIEW = TypeWhere("a tensor or a memref", lambda t: isinstance(t, TensorType | MemRefType))
_READ, _WRITE = EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)


@dataclass(frozen=True)
class PackEffect(MemoryEffect):
    """Reads memory where a view is packed."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        return {_READ} if isinstance(op.operands[0].type, MemRefType) else set()


class PackOp(Op):
    """``%p = linalg_ext.pack %b {microkernel.packing = ...} : tensor<60x100xf32> -> tensor<2x64x64xf32>``.

    The columns of a matrix in panels, the form in which a micro-kernel reads its right operand: number of panels, rows,
    columns of each. Rows and columns past the matrix are zero; elements may be of a wider type than those of the
    matrix. The attribute says how a panel lies in memory: only matmuls with the micro-kernel for it read panels.

    `cached(%number)`: where another program of the launch packed the same view of memory, its panels are used. There
    is one cache for each number.

    ``%p, %there = linalg_ext.pack %v cached(0) if %c {...} : memref<?x64xf32> -> tensor<1x?x64xf32>, i1``: only if %c
    holds and the cache has room; %there says whether it was so. Panels that are new may be left to be packed by the
    matmul that reads them first, from the same view.
    """

    name = "linalg_ext.pack"

    source: Operand = operand_def(_TENSOR_OR_VIEW)
    condition: OptionalOperand = opt_operand_def(i1, default=None, kw_only=True)
    cache: IntegerAttr | None = opt_prop_def(IntegerAttr.constr(i64), default=None)
    panels: Result = result_def(ANY_TENSOR)
    is_there: OptionalResult = opt_result_def(i1, default=None)

    traits = traits_def(PackEffect())
    assembly_format = (
        "$source (`cached` `(` $cache^ `)`)? (`if` $condition^)? attr-dict `:` type($source) `->` type($panels) "
        "(`,` type($is_there)^)?"
    )

    def verify_(self) -> None:
        match shape_of(self.source.type), shape_of(self.panels.type):
            case (rows, columns), (panels, depth, width):
                known = DYNAMIC_INDEX not in (columns, panels), DYNAMIC_INDEX not in (rows, depth)
                if (known[0] and panels * width < columns) or (known[1] and depth < rows):
                    raise VerifyException("the panels must hold the whole matrix")
            case _:
                raise VerifyException("a matrix becomes panels, which have three dimensions")
        if (self.condition is None) is not (self.is_there is None):
            raise VerifyException("a condition, and whether the panels are there, come together")
        if self.condition is not None and self.cache is None:
            raise VerifyException("only panels in a cache may be missing")


class PackedMatmulOp(Op):
    """``%d = linalg_ext.packed_matmul ins(%a, %p : tensor<32x60xf32>, tensor<2x64x64xf32>)
    outs(%c : tensor<32x100xf32>) {microkernel.matmul = ...} -> tensor<32x100xf32>``.

    The matmul of a matrix and a packed one, added to a tile.
    """

    name = "linalg_ext.packed_matmul"

    a: Operand = operand_def(ANY_TENSOR)
    panels: Operand = operand_def(ANY_TENSOR)
    init: Operand = operand_def(ANY_TENSOR)
    result: Result = inferred_result_def(ANY_TENSOR, of="init")

    traits = traits_def(Pure())
    assembly_format = (
        "`ins` `(` $a `,` $panels `:` type($a) `,` type($panels) `)` `outs` `(` $init `:` type($init) `)` attr-dict "
        "`->` type($result)"
    )

    def verify_(self) -> None:
        match [shape_of(value.type) for value in self.operands]:
            case [(rows, depth), (panels, panel_rows, width), (tile_rows, columns)]:
                if rows != tile_rows or panel_rows < depth or panels * width < columns:
                    raise VerifyException("the panels must hold as many rows and columns as are multiplied")
            case _:
                raise VerifyException("operand and tile must be matrices, the panels have three dimensions")


@dataclass(frozen=True)
class ViewMatmulEffect(MemoryEffect):
    """Reads memory; writes it where there is a destination."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, ViewMatmulOp)
        return {_READ} if op.dest is None else {_READ, _WRITE}


class ViewMatmulOp(Op):
    """``%d = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[?, 1]>>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>``.

    The matmul of two matrices in memory, added to a tile. Rows of A, or columns of B, may be fewer than those of the
    tile: what the result holds there is not defined. `shared(%s)`: whether other programs may multiply by the same B.

    ``%d, %stored = linalg_ext.view_matmul ins(...) outs(%c : tensor<64x64xf32>) into(%v : memref<?x?xf32, ...>) if
    %whole -> tensor<64x64xf32>, i1`` may write to %v, which has as many rows and columns as are multiplied, instead of
    into a tile, if %whole holds: then it says so, and what is in the tile is not defined.

    `panels(%p : tensor<1x?x64xf32>)`: B in panels, which are read in place of it.
    """

    name = "linalg_ext.view_matmul"

    a: Operand = operand_def(MemRefType)
    b: Operand = operand_def(MemRefType)
    init: Operand = operand_def(ANY_TENSOR)
    is_shared: OptionalOperand = opt_operand_def(i1, default=None)
    dest: OptionalOperand = opt_operand_def(MemRefType, default=None)
    may_store: OptionalOperand = opt_operand_def(i1, default=None)
    panels: OptionalOperand = opt_operand_def(ANY_TENSOR, default=None, kw_only=True)
    result: Result = inferred_result_def(ANY_TENSOR, of="init")
    stored: OptionalResult = opt_result_def(i1, default=None)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ViewMatmulEffect())
    assembly_format = (
        "`ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $init `:` type($init) `)` "
        "(`panels` `(` $panels^ `:` type($panels) `)`)? (`shared` `(` $is_shared^ `)`)? "
        "(`into` `(` $dest^ `:` type($dest) `)` `if` $may_store)? attr-dict `->` type($result) (`,` type($stored)^)?"
    )

    def verify_(self) -> None:
        match [shape_of(value.type) for value in self.operands[:3]]:
            case [(rows, depth), (b_depth, columns), (_, _) as tile]:
                if not shapes_agree((*tile, depth), (rows, columns, b_depth)):
                    raise VerifyException("rows and columns must be those of the operands, which must agree in k")
            case _:
                raise VerifyException("operands and tile must be matrices")
        if len({self.dest is None, self.may_store is None, self.stored is None}) != 1:
            raise VerifyException("a destination, when it is written, and whether it was come together")
