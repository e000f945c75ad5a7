"""Bytes of tensors four at a time, as words."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TensorType, UnitAttr, VectorType, i8, i16, i32
from xdsl.ir import Attribute
from xdsl.irdl import VarConstraint, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import unit_if
from tilewright.dialects.definition import Op
from tilewright.dialects.fields import (
    Operand,
    OptionalOperand,
    Result,
    inferred_result_def,
    operand_def,
    opt_operand_def,
    opt_prop_def,
)
from tilewright.dialects.traits import ElementwiseMappable
from tilewright.dialects.types import ANY_TENSOR, ANY_VECTOR, INTEGER_LIKE, element_type, shape_of

WORD_BYTES = 4


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
    """``%r = linalg_ext.dot_bytes unsigned_lhs %a, %b plus %c : i32``.

    The sum of the four products of the bytes of two words, and of an addend where there is one, modulo 2^32. Bytes have
    signs unless they are said to have none; `small_lhs` promises that those on the left are at most 127 and unsigned.
    """

    name = "linalg_ext.dot_bytes"

    T: ClassVar = VarConstraint("T", INTEGER_LIKE)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    addend: OptionalOperand = opt_operand_def(T, default=None, kw_only=True)
    result: Result = inferred_result_def(T)
    unsigned_lhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)
    unsigned_rhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)
    small_lhs: UnitAttr | None = opt_prop_def(UnitAttr, default=None, converter=unit_if, kw_only=True)

    traits = traits_def(Pure(), ElementwiseMappable())
    assembly_format = (
        "(`unsigned_lhs` $unsigned_lhs^)? (`unsigned_rhs` $unsigned_rhs^)? (`small_lhs` $small_lhs^)? "
        "$lhs `,` $rhs (`plus` $addend^)? attr-dict `:` type($result)"
    )

    def verify_(self) -> None:
        if element_type(self.result.type) != i32:
            raise VerifyException("words have 32 bits")


def pairs_type(words: Attribute) -> VectorType[Attribute]:
    """The type of the sums of pairs of bytes of vectors of words."""
    return VectorType(i16, [2 * (shape_of(words) or (0,))[-1]])


def words_of_pairs_type(pairs: Attribute) -> VectorType[Attribute]:
    """The type of the sums of two neighbours of a vector."""
    return VectorType(i32, [(shape_of(pairs) or (0,))[-1] // 2])


class DotPairsOp(Op):
    """``%r = linalg_ext.dot_pairs %a, %b : vector<8xi32> -> vector<16xi16>``.

    The sums of two products of neighbouring bytes, of `lhs` without a sign, of `rhs` with one. Who writes it promises
    that they have 16 bits.
    """

    name = "linalg_ext.dot_pairs"

    T: ClassVar = VarConstraint("T", ANY_VECTOR)

    lhs: Operand = operand_def(T)
    rhs: Operand = operand_def(T)
    result: Result = inferred_result_def(ANY_VECTOR, of="lhs", by=pairs_type)

    traits = traits_def(Pure())
    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)"

    def verify_(self) -> None:
        if element_type(self.lhs.type) != i32 or self.result.type != pairs_type(self.lhs.type):
            raise VerifyException("words of 32 bits make twice as many pairs of 16")


class SumPairsOp(Op):
    """``%r = linalg_ext.sum_pairs %p : vector<16xi16> -> vector<8xi32>``.

    The sums of neighbours, in 32 bits.
    """

    name = "linalg_ext.sum_pairs"

    source: Operand = operand_def(ANY_VECTOR)
    result: Result = inferred_result_def(ANY_VECTOR, of="source", by=words_of_pairs_type)

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def verify_(self) -> None:
        if element_type(self.source.type) != i16 or pairs_type(self.result.type) != self.source.type:
            raise VerifyException("an even number of elements of 16 bits makes half as many words")
