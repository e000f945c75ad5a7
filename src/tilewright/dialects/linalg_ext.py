"""The `linalg_ext` dialect: what linalg has no op for, named as in IREE's dialect of this name.

It stands between two passes of the CPU only: no stage allows its ops.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, MemRefType, TensorType, UnitAttr, i1, i8, i32, i64
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import AttrSizedOperandSegments, SameVariadicOperandSize, VarConstraint, traits_def
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import int_attr, unit_if
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Body,
    Operand,
    Operands,
    OptionalOperand,
    OptionalResult,
    Result,
    Results,
    inferred_result_def,
    inferred_results_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    opt_result_def,
    prop_def,
    region_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import ANY_TENSOR, INTEGER_LIKE, element_type, is_tensor, shape_of, shapes_agree

WORD_BYTES = 4


class ScanOp(Op):
    """``%r = linalg_ext.scan dimension(1) ins(%x : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) { ^bb0(%running: f32,
    %current: f32): ... linalg.yield %next : f32 } -> tensor<4x8xf32>``.

    Each element of a result is the combination of all elements up to it along a dimension, or, in `reverse`, of all
    elements from it on; several inputs may be scanned together. The body combines what came before with the current
    elements. Destinations have the types of the inputs; what they hold is not read.
    """

    name = "linalg_ext.scan"

    inputs: Operands = var_operand_def(ANY_TENSOR)
    outputs: Operands = var_operand_def(ANY_TENSOR)
    dimension: IntegerAttr = prop_def(IntegerAttr.constr(i64), converter=int_attr)
    reverse: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if)
    res: Results = inferred_results_def(ANY_TENSOR, of="outputs")
    body: Body = region_def("single_block")

    irdl_options = (SameVariadicOperandSize(),)
    traits = traits_def(RecursiveMemoryEffect())
    assembly_format = (
        "(`reverse` $reverse^)? `dimension` `(` $dimension `)` `ins` `(` $inputs `:` type($inputs) `)` "
        "`outs` `(` $outputs `:` type($outputs) `)` $body attr-dict `->` type($res)"
    )

    def verify_(self) -> None:
        types = [value.type for value in self.inputs]
        if types != [value.type for value in self.outputs] or types != [value.type for value in self.res]:
            raise VerifyException("inputs, destinations and results must have the same types")
        shapes = {shape_of(type_) for type_ in types}
        if len(shapes) != 1 or not all(map(is_tensor, types)):
            raise VerifyException("all inputs must have one shape")
        if not 0 <= self.dimension.value.data < len(shapes.pop() or ()):
            raise VerifyException(f"there is no dimension {self.dimension.value.data}")
        elements = [element_type(type_) for type_ in types]
        block, end = self.body.block, self.body.block.last_op
        if [argument.type for argument in block.args] != [*elements, *elements]:
            raise VerifyException("the body must take what came before and the current elements")
        if end is None or end.name != "linalg.yield" or [value.type for value in end.operands] != elements:
            raise VerifyException("the body must yield one element per result")


class ExchangeNetworkOp(Op):
    """``%y = linalg_ext.exchange_network { ... linalg.yield %2 : tensor<256x2x2xf32> } -> tensor<256x2x2xf32>``.

    The steps of a sort, a butterfly or a sum over pairs: linalg ops that combine elements whose indices differ in one
    bit, and reshapes between them. The body reads tensors from outside, and yields what others read.
    """

    name = "linalg_ext.exchange_network"

    body: Body = region_def("single_block")
    res: Results = var_result_def(ANY_TENSOR)

    traits = traits_def(RecursiveMemoryEffect())
    assembly_format = "$body attr-dict (`->` type($res)^)?"

    def verify_(self) -> None:
        end = self.body.block.last_op
        if self.body.block.args or end is None or end.name != "linalg.yield":
            raise VerifyException("the body must have no arguments and end in 'linalg.yield'")
        if [value.type for value in end.operands] != [result.type for result in self.res]:
            raise VerifyException("the body must yield the results")


@dataclass(frozen=True)
class ViewMatmulEffect(MemoryEffect):
    """Reads memory; writes it where there is a destination."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        assert isinstance(op, ViewMatmulOp)
        return {_READ} if op.dest is None else {_READ, _WRITE}


_READ, _WRITE = EffectInstance(MemoryEffectKind.READ), EffectInstance(MemoryEffectKind.WRITE)


class ViewMatmulOp(Op):
    """``%d = linalg_ext.view_matmul ins(%a, %b : memref<64x?xf32, strided<[?, 1]>>, memref<?x64xf32, strided<[?, 1]>>)
    outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>``.

    The matmul of two matrices in memory, added to a tile. Rows of A, or columns of B, may be fewer than those of the
    tile: what the result holds there is not defined. `shared(%s)`: whether other programs may multiply by the same B.

    ``%d, %stored = linalg_ext.view_matmul ins(...) outs(%c : tensor<64x64xf32>) into(%v : memref<?x?xf32, ...>) if
    %whole -> tensor<64x64xf32>, i1`` may write to %v, which has as many rows and columns as are multiplied, instead of
    into a tile, if %whole holds: then it says so, and what is in the tile is not defined.
    """

    name = "linalg_ext.view_matmul"

    a: Operand = operand_def(MemRefType)
    b: Operand = operand_def(MemRefType)
    init: Operand = operand_def(ANY_TENSOR)
    is_shared: OptionalOperand = opt_operand_def(i1, default=None)
    dest: OptionalOperand = opt_operand_def(MemRefType, default=None)
    may_store: OptionalOperand = opt_operand_def(i1, default=None)
    result: Result = inferred_result_def(ANY_TENSOR, of="init")
    stored: OptionalResult = opt_result_def(i1, default=None)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(ViewMatmulEffect())
    assembly_format = (
        "`ins` `(` $a `,` $b `:` type($a) `,` type($b) `)` `outs` `(` $init `:` type($init) `)` "
        "(`shared` `(` $is_shared^ `)`)? (`into` `(` $dest^ `:` type($dest) `)` `if` $may_store)? attr-dict "
        "`->` type($result) (`,` type($stored)^)?"
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


def words_type(bytes_: Attribute) -> TensorType[Attribute]:
    """The type of the words that the bytes of a tensor make along its last dimension."""
    *outer, last = shape_of(bytes_) or (0,)
    return TensorType(i32, [*outer, last // WORD_BYTES])


class AsWordsOp(Op):
    """``%w = linalg_ext.as_words %b : tensor<8x32xi8> -> tensor<8x8xi32>``.

    Four neighbours of the last dimension become one integer of 32 bits, of which the first has the lowest bits.
    """

    name = "linalg_ext.as_words"

    source: Operand = operand_def(ANY_TENSOR)
    result: Result = inferred_result_def(ANY_TENSOR, of="source", by=words_type)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def verify_(self) -> None:
        shape = shape_of(self.source.type)
        if element_type(self.source.type) != i8 or not shape or shape[-1] % WORD_BYTES or shape[-1] < WORD_BYTES:
            raise VerifyException("the last dimension must be whole words of bytes")
        if self.result.type != words_type(self.source.type):
            raise VerifyException(f"the words of {self.source.type} are {words_type(self.source.type)}")


class DotBytesOp(Op):
    """``%r = linalg_ext.dot_bytes unsigned_lhs %a, %b : i32``.

    The sum of the four products of the bytes of two words, modulo 2^32. Bytes have signs unless they are said to have
    none; `small_lhs` promises that those on the left are at most 127 and unsigned.
    """

    name = "linalg_ext.dot_bytes"

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(T)
    unsigned_lhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)
    unsigned_rhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)
    small_lhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)

    traits = traits_def(Pure(), ElementwiseMappable())
    assembly_format = (
        "(`unsigned_lhs` $unsigned_lhs^)? (`unsigned_rhs` $unsigned_rhs^)? (`small_lhs` $small_lhs^)? "
        "$lhs `,` $rhs attr-dict `:` type($result)"
    )

    def verify_(self) -> None:
        if element_type(self.result.type) != i32:
            raise VerifyException("words have 32 bits")


LinalgExt = Dialect("linalg_ext", [AsWordsOp, DotBytesOp, ExchangeNetworkOp, ScanOp, ViewMatmulOp])
"""The dialect, to be loaded into a context."""
