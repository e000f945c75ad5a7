"""Structured pointers: a base plus, per dimension, a size, a stride and an offset."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, AttrSizedResultSegments, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import (
    MixedIndex,
    Value,
    i32_array,
    i32_attr,
    index_array,
    index_list,
    init_op,
    join_mixed,
    segment_sizes,
    split_mixed,
    static_values,
    value_of,
)
from tilewright.dialects.definition import WithOlderFormats
from tilewright.dialects.fields import (
    I64Array,
    InferableResult,
    MixedOperands,
    Operand,
    Operands,
    OptionalOperand,
    Result,
    Results,
    internal_prop_def,
    mixed_operand_def,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    var_operand_def,
    var_result_def,
)
from tilewright.dialects.tt.constraints import POINTER_LIKE, TENSOR
from tilewright.dialects.tt.definition import TritonOp
from tilewright.dialects.tt.types import PointerType, is_block_pointer, is_tensor, pointer_type, tensor_type
from tilewright.dialects.types import element_type
from tilewright.ir.verify import VerifiedAmongOthers

INDEX = IndexType()


class PointerKind(Enum):
    """The three meanings of `tts.make_tptr`, told apart by its attributes."""

    STRUCTURED = "structured"
    """A plain strided box of addresses."""
    WRAP_AROUND = "wrap-around"
    """Some dimension's addresses wrap at a bound."""
    BLOCK = "block"
    """A block pointer; `shape` holds the extents of the parent tensor."""


def _check_lists(sizes: int, **lists: Sequence[object]) -> None:
    for name, entries in lists.items():
        if len(entries) != sizes:
            raise VerifyException(f"{name} must have one entry per size: expected {sizes}, got {len(entries)}")


def _check_dynamic(**groups: tuple[DenseArrayBase, Sequence[SSAValue]]) -> None:
    for name, (static, dynamic) in groups.items():
        expected = static_values(static).count(DYNAMIC_INDEX)
        if expected != len(dynamic):
            raise VerifyException(f"{name} must have {expected} dynamic entries, got {len(dynamic)} operands")


class MakeTensorPtrOp(WithOlderFormats, TritonOp):
    """The addresses `base + sum_d a_d` for lanes `(i_0, i_1, ..)` of a box of `sizes`, where
    `a_d = offset_d + i_d * stride_d`; strides and offsets count elements, and offsets are already scaled by strides.

    With an empty `order` and `shape_d != 0`, `a_d` is `(offset_d + i_d * stride_d) remsi shape_d`, lane by lane: the
    addresses wrap around (what is not negative lands in `[0, shape_d)`; bound and offset share the sign of a scaling
    stride). A bound operand that is 0 at run time stems from a stride of 0 and means no wrap: `a_d` is then 0 as well.
    With an `order` this is a block pointer whose parent tensor has the extents `shape`.

    Behind triton-to-unstructured the base is a function argument, or one `tt.addptr` by a scalar of an argument, of an
    argument's `tt.bitcast`, or of a value that has no such form and was remarked upon.

    ```mlir
    %p = tts.make_tptr %base to sizes: [4, 8], strides: [%ld, 1], offsets: [%row, 0], shape: [0, 0], order: []
      : <f32> to tensor<4x8x!tt.ptr<f32>>
    ```
    """

    name = "tts.make_tptr"

    base: Operand = operand_def(PointerType)
    strides: Operands = var_operand_def(INDEX)
    offsets: Operands = var_operand_def(INDEX)
    shape: Operands = var_operand_def(INDEX)
    sizes: I64Array = prop_def(DenseArrayBase.constr(i64))
    static_strides: I64Array = prop_def(DenseArrayBase.constr(i64))
    static_offsets: I64Array = prop_def(DenseArrayBase.constr(i64))
    static_shape: I64Array = prop_def(DenseArrayBase.constr(i64))
    order: I64Array = prop_def(DenseArrayBase.constr(i32))
    result: Result = result_def(POINTER_LIKE)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$base `to` `sizes` `` `:` $sizes `` `,` `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) "
        "`` `,` `offsets` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) "
        "`` `,` `shape` `` `:` custom<DynamicIndexList>($shape, $static_shape) `` `,` `order` `` `:` $order "
        "attr-dict `:` custom<ShortType>(type($base)) `to` type($result)"
    )
    OLDER_FORMATS: ClassVar[tuple[str, ...]] = (assembly_format.replace("`shape`", "`parent_sizes`"),)
    traits = traits_def(Pure())

    def __init__(
        self,
        base: Value,
        sizes: Sequence[int],
        strides: Sequence[MixedIndex],
        offsets: Sequence[MixedIndex],
        shape: Sequence[MixedIndex] | None = None,
        order: Sequence[int] = (),
    ):
        pointer = value_of(base)
        static_strides, dynamic_strides = split_mixed(strides)
        static_offsets, dynamic_offsets = split_mixed(offsets)
        static_shape, dynamic_shape = split_mixed([0] * len(sizes) if shape is None else shape)
        init_op(
            self,
            (pointer, *dynamic_strides, *dynamic_offsets, *dynamic_shape),
            (_pointer_result(pointer.type, sizes, is_block=bool(order)),),
            {
                "operandSegmentSizes": segment_sizes(1, len(dynamic_strides), len(dynamic_offsets), len(dynamic_shape)),
                "order": i32_array(tuple(order)),
                "sizes": index_array(tuple(sizes)),
                "static_offsets": static_offsets,
                "static_shape": static_shape,
                "static_strides": static_strides,
            },
        )

    @property
    def mixed_strides(self) -> list[int | SSAValue]:
        """One stride per dimension, an integer where it is static."""
        return join_mixed(self.static_strides, self.strides)

    @property
    def mixed_offsets(self) -> list[int | SSAValue]:
        """One offset per dimension, an integer where it is static."""
        return join_mixed(self.static_offsets, self.offsets)

    @property
    def mixed_shape(self) -> list[int | SSAValue]:
        """One wrap bound or parent extent per dimension, an integer where it is static."""
        return join_mixed(self.static_shape, self.shape)

    @property
    def kind(self) -> PointerKind:
        """The kind of pointer that the attributes select."""
        if len(self.order):
            return PointerKind.BLOCK
        return PointerKind.WRAP_AROUND if any(static_values(self.static_shape)) else PointerKind.STRUCTURED

    def verify_(self) -> None:
        rank = len(self.sizes)
        _check_lists(
            rank,
            static_strides=static_values(self.static_strides),
            static_offsets=static_values(self.static_offsets),
            static_shape=static_values(self.static_shape),
        )
        _check_dynamic(
            strides=(self.static_strides, self.strides),
            offsets=(self.static_offsets, self.offsets),
            shape=(self.static_shape, self.shape),
        )
        order = static_values(self.order)
        if order and sorted(order) != list(range(rank)):
            raise VerifyException("order must be empty or a permutation of [0, ..., rank - 1]")
        expected = _pointer_result(self.base.type, static_values(self.sizes), is_block=bool(order))
        if self.result.type != expected:
            raise VerifyException(f"result must be {expected}, got {self.result.type}")


def _pointer_result(base: Attribute, sizes: Sequence[int], *, is_block: bool) -> Attribute:
    """`tensor<sizes x base>`, or for a block pointer `!tt.ptr<tensor<sizes x T>>`."""
    if not isinstance(base, PointerType):
        raise VerifyException(f"base must be a pointer, got {base}")
    if is_block:
        return pointer_type(tensor_type(base.pointee_type, sizes), base.address_space.data)
    return tensor_type(base, sizes)


def _block_pointer(base: Attribute, sizes: Sequence[int]) -> Attribute:
    return _pointer_result(base, sizes, is_block=True)


class MakeGatherScatterTensorPtrOp(TritonOp):
    """Like `tts.make_tptr`, with one dimension g whose indices come from a tensor: the address of lane (.., i_g, ..) is
    `base + offset_tensor[i_g] * stride_g + sum_{d != g} (offset_d + i_d * stride_d)`. The mask keeps or drops slices.

    ```mlir
    %p = tts.make_gather_scatter_tptr %base to sizes: [8, 16] gather_scatter_dim: 0 gather_scatter_offset: %rows,
      strides: [%ld, 1], offsets: [0, 0] : tensor<8xi32> <f32> to !tt.ptr<tensor<8x16xf32>>
    ```
    """

    name = "tts.make_gather_scatter_tptr"

    base: Operand = operand_def(PointerType)
    gather_scatter_offset: Operand = operand_def(TENSOR)
    gather_scatter_dim: IntegerAttr = prop_def(IntegerAttr.constr(i32), converter=i32_attr)
    sizes: I64Array = prop_def(DenseArrayBase.constr(i64), converter=index_list)
    strides: MixedOperands = mixed_operand_def("static_strides", INDEX)
    offsets: MixedOperands = mixed_operand_def("static_offsets", INDEX)
    gather_scatter_mask: OptionalOperand = opt_operand_def(TENSOR, default=None)
    static_strides: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    static_offsets: I64Array = internal_prop_def(DenseArrayBase.constr(i64))
    result: InferableResult = result_def(
        POINTER_LIKE, default=None, of=("base", "sizes"), by=_block_pointer, kw_only=True
    )

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$base `to` `sizes` `` `:` $sizes `gather_scatter_dim` `` `:` $gather_scatter_dim "
        "`gather_scatter_offset` `` `:` $gather_scatter_offset "
        "(`gather_scatter_mask` `` `:` $gather_scatter_mask^)? "
        "`` `,` `strides` `` `:` custom<DynamicIndexList>($strides, $static_strides) "
        "`` `,` `offsets` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) "
        "attr-dict `:` type($gather_scatter_offset) (type($gather_scatter_mask)^)? custom<ShortType>(type($base)) "
        "`to` type($result)"
    )
    traits = traits_def(Pure(), VerifiedAmongOthers())

    @property
    def mixed_strides(self) -> list[int | SSAValue]:
        """One stride per dimension, an integer where it is static."""
        return join_mixed(self.static_strides, self.strides)

    @property
    def mixed_offsets(self) -> list[int | SSAValue]:
        """One offset per dimension, an integer where it is static; that of the gathered dimension is 0."""
        return join_mixed(self.static_offsets, self.offsets)

    def verify_(self) -> None:
        rank, dim = len(self.sizes), self.gather_scatter_dim.value.data
        if not 0 <= dim < rank:
            raise VerifyException(f"gather_scatter_dim must be in [0, {rank}), got {dim}")
        _check_lists(
            rank,
            static_strides=static_values(self.static_strides),
            static_offsets=static_values(self.static_offsets),
        )
        _check_dynamic(strides=(self.static_strides, self.strides), offsets=(self.static_offsets, self.offsets))
        extent = static_values(self.sizes)[dim]
        self._check_slices("gather_scatter_offset", self.gather_scatter_offset, extent)
        if self.gather_scatter_mask is None:
            return
        self._check_slices("gather_scatter_mask", self.gather_scatter_mask, extent)
        for use in self.result.uses:
            mask_dims = use.operation.properties.get("static_mask_dims")
            dims = static_values(cast(DenseArrayBase, mask_dims)) if isinstance(mask_dims, DenseArrayBase) else None
            if dims is None or (dims and dims[dim] != 0):
                raise VerifyException(
                    "with a gather_scatter_mask, every user must be a tts.load or tts.store whose "
                    f"mask dimension {dim} is 0"
                )

    @staticmethod
    def _check_slices(name: str, value: SSAValue, extent: int) -> None:
        assert is_tensor(value.type)
        if value.type.get_shape() != (extent,) or not isinstance(value.type.element_type, IntegerType):
            raise VerifyException(f"{name} must be a 1D integer tensor of {extent} elements, got {value.type}")


class GetStructuredStateOp(TritonOp):
    """A placeholder for the offsets and strides of a pointer or index tensor that a loop or branch carries; the
    analysis that follows replaces it.

    ```mlir
    %q, %offset, %stride = "tts.get_structured_state"(%t) <{resultSegmentSizes = array<i32: 1, 1, 1>}>
      : (tensor<4xi32>) -> (tensor<4xi32>, index, index)
    ```
    """

    name = "tts.get_structured_state"

    input: Operand = operand_def()
    structured: Result = result_def()
    offsets: Results = var_result_def(INDEX)
    strides: Results = var_result_def(INDEX)

    irdl_options = (AttrSizedResultSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(self, input: Value):
        source = value_of(input)
        offsets, strides = self.counts(source.type)
        init_op(
            self,
            (source,),
            (source.type, *([INDEX] * (offsets + strides))),
            {"resultSegmentSizes": segment_sizes(1, offsets, strides)},
        )

    @staticmethod
    def counts(type: Attribute) -> tuple[int, int]:
        """Return how many offsets and strides describe a value of `type`. Raises ValueError for types without such
        state.
        """
        if is_block_pointer(type):
            assert isinstance(type, PointerType) and is_tensor(type.pointee_type)
            rank = type.pointee_type.get_num_dims()
            return rank, rank
        if isinstance(type, PointerType):
            return 1, 0
        element = element_type(type)
        is_index = isinstance(element, IntegerType) and element != i1
        if is_tensor(type) and (is_index or isinstance(element, PointerType)):
            return type.get_num_dims(), type.get_num_dims()
        raise ValueError(f"{type} has no structured state")

    def verify_(self) -> None:
        if self.structured.type != self.input.type:
            raise VerifyException(f"first result must be of the input's type {self.input.type}")
        try:
            expected = self.counts(self.input.type)
        except ValueError as error:
            raise VerifyException(str(error)) from error
        if (len(self.offsets), len(self.strides)) != expected:
            raise VerifyException(f"expected {expected[0]} offsets and {expected[1]} strides for {self.input.type}")
