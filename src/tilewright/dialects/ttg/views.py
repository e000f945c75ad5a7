"""Views of buffers: they move no data and touch no memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.dialects.builtin import DenseArrayBase, i32
from xdsl.interfaces import HasCanonicalizationPatternsInterface, HasFolderInterface
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import ParsePropInAttrDict, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, i32_array, init_op, static_values, value_of
from tilewright.dialects.fields import I64Array, Operand, Result, inferred_result_def, operand_def, prop_def, result_def
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, as_memdesc
from tilewright.dialects.ttg.shared_encodings import find_shared_layout, shared_encoding_of, shared_layout_of
from tilewright.dialects.ttg.types import MemDescType, element_bits, memdesc_type
from tilewright.layouts import gf2, reshaping
from tilewright.layouts.distributed import BLOCK
from tilewright.layouts.shared import OFFSET, PaddedSharedLayout, SharedLayout

I32_ARRAY = DenseArrayBase.constr(i32)


def _with(type: MemDescType, shape: tuple[int, ...], encoding: Attribute, alloc: tuple[int, ...]) -> MemDescType:
    return memdesc_type(
        shape,
        type.element_type,
        encoding,
        memory_space=type.memory_space,
        mutable=type.is_mutable,
        alloc_shape=alloc,
    )


def _layout_of(type: MemDescType) -> SharedLayout | None:
    return find_shared_layout(type.encoding)


def _check_same_memory(source: MemDescType, result: MemDescType) -> None:
    if source.memory_space != result.memory_space:
        raise VerifyException("source and result must have the same memory space")
    if source.is_mutable != result.is_mutable:
        raise VerifyException("source and result must have the same mutability")


def _check_equivalent(expected: MemDescType, actual: MemDescType, what: str) -> None:
    """VerifyException unless the types agree, encodings up to how they are written."""
    same = (expected.shape, expected.element_type) == (actual.shape, actual.element_type)
    if same and expected.encoding == actual.encoding:
        return
    wanted, found = _layout_of(expected), _layout_of(actual)
    if not same or wanted is None or found is None or not reshaping.equivalent(wanted, found, actual.get_shape()):
        raise VerifyException(f"{what}: expected {expected}, got {actual}")


def _inferred(infer: Callable[[], SharedLayout]) -> Attribute:
    try:
        return shared_encoding_of(infer())
    except ValueError as error:
        raise VerifyException(str(error)) from error


def _indexed(source: Attribute) -> MemDescType:
    type = as_memdesc(source)
    shape = type.get_shape()[1:]
    return _with(type, shape, type.encoding, shape)


class MemDescIndexOp(TritonGPUOp):
    """One buffer out of several: `%s = ttg.memdesc_index %m[%i] : !ttg.memdesc<2x16x32xf16, ...> ->
    !ttg.memdesc<16x32xf16, ...>`.
    """

    name = "ttg.memdesc_index"

    src: Operand = operand_def(MEMDESC)
    index: Operand = operand_def(i32)
    result: Result = inferred_result_def(MEMDESC, of="src", by=_indexed)

    assembly_format = "$src `[` $index `]` attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        source, result = as_memdesc(self.src.type), as_memdesc(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException("result element type must match desc element type")
        if result.get_shape() != source.get_shape()[1:]:
            raise VerifyException("result shape must equal srcShape[1:]")
        if source.get_alloc_shape()[1:] != source.get_shape()[1:]:
            raise VerifyException("We don't support memdesc_index on a subview")
        if source.encoding != result.encoding:
            raise VerifyException("src and result must have the same encoding")
        if result.shape != result.alloc_shape:
            raise VerifyException("alloc shape must match shape for the result")
        _check_same_memory(source, result)


class MemDescSubsliceOp(HasFolderInterface, TritonGPUOp):
    """A box of a buffer at fixed offsets:
    `%s = ttg.memdesc_subslice %m[0, 16] : !ttg.memdesc<16x32xf16, ...> -> !ttg.memdesc<16x16xf16, ..., 16x32>`."""

    name = "ttg.memdesc_subslice"

    src: Operand = operand_def(MEMDESC)
    offsets: I64Array = prop_def(I32_ARRAY)
    result: Result = result_def(MEMDESC)

    assembly_format = "$src `` $offsets attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, src: Value, offsets: Sequence[int], shape: Sequence[int]):
        source = value_of(src)
        type = as_memdesc(source.type)
        result = _with(type, tuple(shape), type.encoding, type.get_alloc_shape())
        init_op(self, (source,), (result,), {"offsets": i32_array(tuple(offsets))})

    def fold(self) -> tuple[SSAValue | Attribute, ...] | None:
        """A slice of everything is its source."""
        return (self.src,) if self.src.type == self.result.type else None

    def verify_(self) -> None:
        source, result = as_memdesc(self.src.type), as_memdesc(self.result.type)
        offsets = static_values(self.offsets)
        if source.element_type != result.element_type:
            raise VerifyException("result element type must match desc element type")
        if len(offsets) != len(source.get_shape()):
            raise VerifyException("offsets must have the same rank as input")
        if len(result.get_shape()) != len(source.get_shape()):
            raise VerifyException("result rank must equal to the input rank")
        if source.encoding != result.encoding:
            raise VerifyException("src and result must have the same encoding")
        if source.get_alloc_shape() != result.get_alloc_shape():
            raise VerifyException("source and result must have the same allocation shape")
        _check_same_memory(source, result)
        layout, shape = _layout_of(source), source.get_shape()
        leading = len(shape) - layout.rank if layout is not None else 0  # tiles, which lie one after the other
        for dim, (offset, extent, whole) in enumerate(zip(offsets, result.get_shape(), shape, strict=True)):
            if offset and extent == whole:
                raise VerifyException("A non zero offset found in a dimension that is not being split")
            if offset < 0 or offset + extent > whole:
                raise VerifyException(
                    f"The split offset may not exceed the source shape: {extent} elements at {offset} of {whole}"
                )
            if dim >= leading and offset and (extent & (extent - 1) or offset % extent):
                raise VerifyException("The split offset may not touch the tile")
        if isinstance(layout, PaddedSharedLayout) and leading and source.shape != result.shape:
            raise VerifyException(
                "SubSlice of low rank PaddedSharedEncoding from higher rank tensors is not supported yet"
            )
        if is_cut_by_swizzle(source, result.get_shape()):
            raise VerifyException("We don't support splitting along the swizzling pattern")


def is_cut_by_swizzle(source: MemDescType, shape: Sequence[int]) -> bool:
    """Return whether slices of a shape cut through what the layout permutes. They do not where moving one along a
    dimension that it splits flips a single bit of the offsets of its elements.
    """
    layout = _layout_of(source)
    if layout is None or layout.rank != len(source.get_shape()):
        return False
    split = [dim for dim, (a, b) in enumerate(zip(source.get_shape(), shape, strict=True)) if a != b]
    offsets_of = layout.to_linear(source.get_alloc_shape()).pseudoinvert()
    columns = list(offsets_of.packed_bases.values())
    return any(column & (column - 1) for dim in split for column in columns[dim][shape[dim].bit_length() - 1 :])


class MemDescTransOp(HasFolderInterface, HasCanonicalizationPatternsInterface, TritonGPUOp):
    """A buffer with permuted dimensions: `ttg.memdesc_trans %m {order = array<i32: 1, 0>} : !ttg.memdesc<16x32xf16,
    #shared, #smem> -> !ttg.memdesc<32x16xf16, #shared1, #smem>`.
    """

    name = "ttg.memdesc_trans"

    src: Operand = operand_def(MEMDESC)
    order: I64Array = prop_def(I32_ARRAY)
    result: Result = result_def(MEMDESC)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, src: Value, order: Sequence[int]):
        source = value_of(src)
        result = transposed_memdesc(as_memdesc(source.type), tuple(order))
        init_op(self, (source,), (result,), {"order": i32_array(tuple(order))})

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tilewright.dialects.ttg.canonicalization import MemDescTransOfTrans

        return (MemDescTransOfTrans(),)

    def fold(self) -> tuple[SSAValue | Attribute, ...] | None:
        """The identity order with the same type is its source."""
        order = static_values(self.order)
        return (self.src,) if order == tuple(range(len(order))) and self.src.type == self.result.type else None

    def verify_(self) -> None:
        source, result = as_memdesc(self.src.type), as_memdesc(self.result.type)
        order = static_values(self.order)
        if sorted(order) != list(range(len(source.get_shape()))):
            raise VerifyException("order must be a permutation of the dimensions")
        _check_same_memory(source, result)
        _check_equivalent(transposed_memdesc(source, order), result, "result of the permutation")


def transposed_memdesc(type: MemDescType, order: tuple[int, ...]) -> MemDescType:
    """The type of a buffer with permuted dimensions. Raises VerifyException where no layout describes it."""
    layout, shape, allocated = _layout_of(type), type.get_shape(), type.get_alloc_shape()
    lead = len(allocated) - len(shape)
    encoding = type.encoding
    if layout is not None:
        inner = _inner_order(order, len(shape) - layout.rank)
        base = allocated[len(allocated) - layout.rank :]
        encoding = _inferred(lambda: reshaping.transpose_shared(layout, base, inner))
    new_alloc = (*allocated[:lead], *reshaping.permuted(allocated[lead:], order))
    return _with(type, reshaping.permuted(shape, order), encoding, new_alloc)


def _inner_order(order: tuple[int, ...], leading: int) -> tuple[int, ...]:
    """The permutation of the dimensions that the encoding knows; those in front must stay."""
    if order[:leading] != tuple(range(leading)):
        raise VerifyException("the dimension of several buffers must stay first")
    return tuple(dim - leading for dim in order[leading:])


class MemDescReshapeOp(TritonGPUOp):
    """The same elements of a buffer, row-major, in another shape:
    `ttg.memdesc_reshape %m : !ttg.memdesc<16x32xf16, #shared, #smem> -> !ttg.memdesc<512xf16, #shared1, #smem>`."""

    name = "ttg.memdesc_reshape"

    src: Operand = operand_def(MEMDESC)
    result: Result = result_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def __init__(self, src: Value, shape: Sequence[int]):
        source = value_of(src)
        init_op(self, (source,), (reshaped_memdesc(as_memdesc(source.type), tuple(shape)),))

    def verify_(self) -> None:
        source, result = as_memdesc(self.src.type), as_memdesc(self.result.type)
        if source.element_type != result.element_type:
            raise VerifyException("result element type must match src element type")
        if source.num_elements != result.num_elements:
            raise VerifyException("number of src and dst elements of reshape must be the same")
        _check_same_memory(source, result)
        _check_equivalent(reshaped_memdesc(source, result.get_shape()), result, "result of the reshape")


def reshaped_memdesc(type: MemDescType, shape: tuple[int, ...]) -> MemDescType:
    """The type of a buffer in another shape. Raises VerifyException where no layout describes it."""
    if type.get_shape() != type.get_alloc_shape():
        raise VerifyException("memdesc_reshape of a subslice is not supported")
    layout = _layout_of(type)
    encoding = type.encoding
    if layout is not None:
        encoding = _inferred(lambda: reshaping.reshape_shared(layout, type.get_shape(), shape))
    return _with(type, shape, encoding, shape)


class MemDescReinterpretOp(HasFolderInterface, TritonGPUOp):
    """The bytes of a buffer, or the first of them, as something else:
    `ttg.memdesc_reinterpret %m : !ttg.memdesc<16x32xf16, ...> -> !ttg.memdesc<16x16xf32, ...>`."""

    name = "ttg.memdesc_reinterpret"

    src: Operand = operand_def(MEMDESC)
    result: Result = result_def(MEMDESC)

    assembly_format = "$src attr-dict `:` type($src) `->` type($result)"
    traits = traits_def(Pure())

    def fold(self) -> tuple[SSAValue | Attribute, ...] | None:
        """The same type: its source."""
        return (self.src,) if self.src.type == self.result.type else None

    def verify_(self) -> None:
        source, result = as_memdesc(self.src.type), as_memdesc(self.result.type)
        _check_same_memory(source, result)
        if _gaps_in_bytes(source) != _gaps_in_bytes(result):
            raise VerifyException(
                "cannot reinterpret between padded and non-padded layouts"
                if None in (_gaps_in_bytes(source), _gaps_in_bytes(result))
                else "cannot reinterpret with different padding pattern"
            )
        if _is_part(result):
            raise VerifyException("result must not be a subview")
        if _is_part(source):
            _check_owner_of_all(source)
        _check_footprint(source, result)


def _gaps_in_bytes(type: MemDescType) -> frozenset[tuple[int, int]] | None:
    """Return where a padded layout has gaps, None for any other layout."""
    layout, size = _layout_of(type), element_bits(type) // 8
    if not isinstance(layout, PaddedSharedLayout):
        return None
    return frozenset((interval * size, padding * size) for interval, padding in layout.pads)


def _is_part(type: MemDescType) -> bool:
    """Return whether a buffer is part of a tile; of several tiles each is whole."""
    layout = _layout_of(type)
    rank = len(type.get_shape()) if layout is None else layout.rank
    return type.get_shape()[-rank:] != type.get_alloc_shape()[-rank:]


def _check_owner_of_all(part: MemDescType) -> None:
    """VerifyException where a part of a tile does not say by itself which bytes it has."""
    layout = shared_layout_of(part.encoding)
    if isinstance(layout, PaddedSharedLayout):
        raise VerifyException("cannot reinterpret a padded source subview")
    shape = part.get_shape()[-layout.rank :]
    blocks = layout.to_linear(part.get_alloc_shape()[-layout.rank :]).bases_of(BLOCK)
    if any(component >= extent for basis in blocks for component, extent in zip(basis, shape, strict=True)):
        raise VerifyException("cannot reinterpret a source subview sliced across CTAs")


def _check_footprint(source: MemDescType, result: MemDescType) -> None:
    """VerifyException where the result has bytes that the source does not have."""
    (tiles, elements), (wanted_tiles, wanted_elements) = _tiles(source), _tiles(result)
    wanted = wanted_tiles * wanted_elements * element_bits(result)
    if (available := tiles * elements * element_bits(source)) < wanted:
        raise VerifyException(
            f"result shared-memory footprint ({wanted // 8} bytes) exceeds the source view ({available // 8} bytes)"
        )
    if not _is_part(source) or (first := _first_elements(source)) == elements:
        return
    if (available := first * element_bits(source)) < wanted:
        raise VerifyException(
            "result shared-memory footprint includes offsets not owned by the source subview "
            f"({wanted // 8} bytes requested; {available // 8} contiguous bytes available)"
        )


def _tiles(type: MemDescType) -> tuple[int, int]:
    """The number of tiles, and of elements that each takes in a CTA, gaps aside."""
    layout = shared_layout_of(type.encoding)
    linear = layout.to_linear(type.get_alloc_shape()[-layout.rank :])
    return prod(type.get_shape()[: -layout.rank]), linear.in_dims[OFFSET]


def _first_elements(part: MemDescType) -> int:
    """Count the elements of the tile, from its first on, that belong to the part of it; what no element takes does."""
    layout = shared_layout_of(part.encoding)
    linear = layout.to_linear(part.get_alloc_shape()[-layout.rank :])
    inverse, shape = linear.pseudoinvert().sublayout(linear.out_dims, [OFFSET]), part.get_shape()[-layout.rank :]
    owned = [
        column
        for columns, extent in zip(inverse.packed_bases.values(), shape, strict=True)
        for column in columns[: extent.bit_length() - 1]
    ]
    owned += [1 << bit for bit, column in enumerate(linear.packed_bases[OFFSET]) if not column]
    bits = range(len(linear.packed_bases[OFFSET]))
    missing = next((bit for bit in bits if gf2.solve(owned, 1 << bit) is None), len(bits))
    return 1 << missing
