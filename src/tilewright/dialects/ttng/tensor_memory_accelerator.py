"""Bulk copies of boxes between global and shared memory (TMA)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, Signedness, UnitAttr, f32, i1, i16, i32
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import AttrSizedOperandSegments, ParsePropInAttrDict, traits_def
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import i32_attr, unit_if
from tilewright.dialects.fields import (
    Operand,
    Operands,
    operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
)
from tilewright.dialects.tt.cache_policy import CachedOp, VolatileOp
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.enums import DescriptorReduceKind
from tilewright.dialects.tt.types import (
    NO_ENCODING,
    TensorDescType,
)
from tilewright.dialects.ttg.constraints import MEMDESC, TritonGPUOp, as_memdesc, check_mutable, may_begin_elsewhere
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.shared_encodings import encoding_of_rank, find_shared_layout
from tilewright.dialects.ttng.barriers import ORDERS_MEMORY, check_barrier, check_tma_barrier
from tilewright.dialects.ttng.tensor_descriptors import ANY_DESCRIPTOR, DESCRIPTOR, TensorDescIm2ColType
from tilewright.dialects.types import as_tensor, bit_width, is_float, is_integer
from tilewright.ir.verify import VerifiedAmongOthers
from tilewright.layouts.shared import NvmmaSharedLayout

INTO_SHARED = Touches(((READ, GLOBAL), (WRITE, SHARED)))
OUT_OF_SHARED = Touches(((READ, SHARED), (WRITE, GLOBAL)))
FLOAT_REDUCTIONS = frozenset({DescriptorReduceKind.ADD, DescriptorReduceKind.MIN, DescriptorReduceKind.MAX})
"""What TMA combines floats of 16 bits by; those of 32 it adds only."""
READ_AND_WRITE_GLOBAL = Touches(((READ, SHARED), (READ, GLOBAL), (WRITE, GLOBAL)))


def _same_bits(left: Attribute, right: Attribute) -> bool:
    """Return whether elements are of one type, unsigned integers of a descriptor counting as integers."""
    if is_integer(left) and is_integer(right):
        return bit_width(left) == bit_width(right)
    return left == right


def _check_encoding(descriptor: Attribute, buffer: Attribute) -> None:
    """VerifyException unless the buffer has the descriptor's layout, one that TMA can write."""
    assert isinstance(descriptor, TensorDescType | TensorDescIm2ColType)
    memory, block = as_memdesc(buffer), descriptor.block_type
    if not _same_bits(memory.element_type, block.element_type):
        raise VerifyException(f"descriptor and buffer have elements {block.element_type} and {memory.element_type}")
    layout = find_shared_layout(memory.encoding)
    if isinstance(layout, NvmmaSharedLayout) and layout.swaps_dims:
        raise VerifyException("TMA does not support transposed layouts")
    wanted = block.encoding if layout is None else encoding_of_rank(block.encoding, layout.rank)
    if wanted not in (NO_ENCODING, memory.encoding):
        raise VerifyException(f"TMA descriptor layout must match shared layout: {block.encoding} and {memory.encoding}")


def _check_box(descriptor: SSAValue, coordinates: Sequence[SSAValue], buffer: SSAValue) -> None:
    assert isinstance(descriptor.type, TensorDescType)
    rank = len(descriptor.type.block_type.get_shape())
    if not 1 <= len(coordinates) <= 5:
        raise VerifyException("TMA copies must have between 1 and 5 coordinates")
    if len(coordinates) != rank:
        raise VerifyException(f"expected {rank} coordinates, but got {len(coordinates)}")
    _check_encoding(descriptor.type, buffer.type)


def _check_source(buffer: Attribute) -> None:
    """VerifyException for a part of a buffer that may lie in another CTA than the one that copies out of it."""
    if may_begin_elsewhere(as_memdesc(buffer)):
        raise VerifyException("source subview may have an origin in another CTA")


def _check_multicast(buffer: Attribute) -> None:
    """VerifyException for a copy to several CTAs where each has a part of its own."""
    layout = find_shared_layout(as_memdesc(buffer).encoding)
    if layout is not None and all(any(basis) for basis in layout.cga):
        raise VerifyException("multicast requires the shared layout to broadcast across CTAs")


def _check_rows(offsets: Attribute, buffer: Attribute) -> None:
    """VerifyException unless each CTA has the indices of the rows that it has."""
    encoding, layout = as_tensor(offsets).encoding, find_shared_layout(as_memdesc(buffer).encoding)
    if encoding == NO_ENCODING or layout is None:
        return
    if [basis[0] for basis in layout_of(encoding).cga] != [basis[-2] for basis in layout.cga]:
        raise VerifyException("x offsets must have the same row CGA layout as the memdesc")


def _check_pixels(op: AsyncTMACopyGlobalToLocalOp) -> None:
    """VerifyException unless coordinates and offsets fit a tensor of pixels, of 3 to 5 dimensions."""
    rank, offsets = len(op.coord), len(op.offsets)
    if rank < 3:
        raise VerifyException(f"IM2COL mode requires at least 3D coordinates, but got {rank}D")
    if rank > 5:
        raise VerifyException(f"IM2COL mode supports at most 5D coordinates, but got {rank}D")
    if not offsets:
        raise VerifyException("IM2COL mode requires offsets to be provided")
    if offsets != rank - 2:
        raise VerifyException(f"IM2COL mode with {rank}D coordinates requires {rank - 2} offsets, but got {offsets}")
    _check_encoding(op.desc.type, op.result.type)


class AsyncTMAPrefetchOp(TritonGPUOp):
    """Ours: has the L2 cache fetch what a copy of the box into a buffer like this one would read.

    `ttng.async_tma_prefetch %d[%i, %j] %A : !tt.tensordesc<...>, !ttg.memdesc<...>`
    """

    name = "ttng.async_tma_prefetch"

    desc: Operand = operand_def(DESCRIPTOR)
    coord: Operands = var_operand_def(i32)
    buffer: Operand = operand_def(MEMDESC)

    assembly_format = "$desc `[` $coord `]` $buffer attr-dict `:` type($desc) `,` type($buffer)"
    traits = traits_def(ORDERS_MEMORY, VerifiedAmongOthers())

    def verify_(self) -> None:
        _check_box(self.desc, self.coord, self.buffer)


class AsyncTMACopyGlobalToLocalOp(CachedOp, VolatileOp, TritonGPUOp):
    """Starts copying a box into a buffer; the barrier counts its bytes.

    `ttng.async_tma_copy_global_to_local %d[%i, %j] %A, %b, %pred : !tt.tensordesc<...>, !ttg.memdesc<1xi64, ...> ->
    !ttg.memdesc<...>`
    """

    name = "ttng.async_tma_copy_global_to_local"

    desc: Operand = operand_def(ANY_DESCRIPTOR)
    coord: Operands = var_operand_def(i32)
    offsets: Operands = var_operand_def(i16, default=(), kw_only=True)
    """Of the pixel that a descriptor of pixels looks at, from the one at the coordinates: depth, height, width."""
    barrier: Operand = operand_def(MEMDESC)
    result: Operand = operand_def(MEMDESC)
    pred: Operand = operand_def(i1)
    multicast: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False, kw_only=True)
    """The box goes to all CTAs that have the same part of the buffer."""
    round_to_tf32: UnitAttr | None = opt_prop_def(
        UnitAttr, prop_name="roundToTf32", converter=unit_if, default=False, kw_only=True
    )
    """Ours: the descriptor rounds f32 to tf32. On a GPU its tensor map says so; other engines read it here."""

    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    assembly_format = (
        "$desc `[` $coord `]` (`offsets` `=` `[` $offsets^ `]`)? "
        "$result `,` $barrier `,` $pred custom<MemoryHints>($cache, $evict) attr-dict "
        "`:` type($desc) `,` type($barrier) `->` type($result)"
    )
    traits = traits_def(INTO_SHARED, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.barrier.type)
        check_tma_barrier(self, self.barrier.type)
        check_mutable(self.result.type)
        if self.round_to_tf32 is not None and as_memdesc(self.result.type).element_type != f32:
            raise VerifyException("only elements of f32 are rounded to tf32")
        if isinstance(self.desc.type, TensorDescIm2ColType):
            _check_pixels(self)
        else:
            _check_box(self.desc, self.coord, self.result)
            if self.offsets:
                raise VerifyException("TILED mode does not support offsets")
        if self.multicast is not None:
            _check_multicast(self.result.type)


def num_parts(type: Attribute) -> int:
    """Return how many different parts of a buffer the CTAs of a cluster have: what comes for a whole buffer comes for
    each barrier in one part."""
    layout = find_shared_layout(as_memdesc(type).encoding)
    return 1 << sum(any(basis) for basis in (() if layout is None else layout.cga))


class AsyncTMACopyLocalToGlobalOp(TritonGPUOp):
    """Starts copying a buffer to a box: `ttng.async_tma_copy_local_to_global %d[%i, %j] %A : !tt.tensordesc<...>,
    !ttg.memdesc<...>`. Ours, with `warpRows`: each warp copies its own rows of a matrix, so many next to each other,
    dealt to warps in turn, and waits for none but its own threads.
    """

    name = "ttng.async_tma_copy_local_to_global"

    desc: Operand = operand_def(DESCRIPTOR)
    coord: Operands = var_operand_def(i32)
    src: Operand = operand_def(MEMDESC)
    warp_rows: IntegerAttr | None = opt_prop_def(IntegerAttr, prop_name="warpRows", default=None, kw_only=True)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"
    traits = traits_def(OUT_OF_SHARED)

    def verify_(self) -> None:
        _check_box(self.desc, self.coord, self.src)
        _check_source(self.src.type)


class AsyncTMAReduceOp(TritonGPUOp):
    """Starts combining a buffer into a box: `ttng.async_tma_reduce add, %d[%i, %j] %A : !tt.tensordesc<...>,
    !ttg.memdesc<...>`.
    """

    name = "ttng.async_tma_reduce"

    kind: IntegerAttr = prop_def(IntegerAttr, converter=DescriptorReduceKind.attr, kw_only=True)
    desc: Operand = operand_def(DESCRIPTOR)
    coord: Operands = var_operand_def(i32)
    src: Operand = operand_def(MEMDESC)

    assembly_format = (
        "custom<DescriptorReduceKind>($kind) `,` $desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"
    )
    traits = traits_def(READ_AND_WRITE_GLOBAL)

    def verify_(self) -> None:
        _check_box(self.desc, self.coord, self.src)
        _check_source(self.src.type)
        assert isinstance(self.desc.type, TensorDescType)
        kind, element = DescriptorReduceKind.of(self.kind), self.desc.type.block_type.element_type
        if not can_reduce(kind, element):
            raise VerifyException(f"unsupported reduce kind {kind.keyword} for element type {element}")


def can_reduce(kind: DescriptorReduceKind, element: Attribute) -> bool:
    """Return whether TMA combines elements of a type into memory in that way."""
    if is_float(element):
        kinds = {DescriptorReduceKind.ADD} if bit_width(element) == 32 else FLOAT_REDUCTIONS
        return bit_width(element) in (16, 32) and kind in kinds
    if not is_integer(element) or bit_width(element) not in (32, 64):
        return False
    if kind is DescriptorReduceKind.ADD:
        return bit_width(element) == 32 or element.signedness.data is not Signedness.SIGNED
    return kind not in (DescriptorReduceKind.INC, DescriptorReduceKind.DEC)


class AsyncTMAGatherOp(TritonGPUOp):
    """Starts copying rows `x_offsets`, from column `y_offset` on, into a buffer: `ttng.async_tma_gather %d[%xs, %y]
    %A, %b, %pred : ...`.
    """

    name = "ttng.async_tma_gather"

    desc: Operand = operand_def(DESCRIPTOR)
    x_offsets: Operand = operand_def(TENSOR)
    y_offset: Operand = operand_def(i32)
    barrier: Operand = operand_def(MEMDESC)
    result: Operand = operand_def(MEMDESC)
    pred: Operand = operand_def(i1)

    assembly_format = (
        "$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)"
    )
    traits = traits_def(INTO_SHARED, VerifiedAmongOthers())

    def verify_(self) -> None:
        check_barrier(self, self.barrier.type)
        check_mutable(self.result.type)
        _check_encoding(self.desc.type, self.result.type)
        if "multicast" in self.attributes:
            _check_multicast(self.result.type)
        _check_rows(self.x_offsets.type, self.result.type)


class AsyncTMAScatterOp(TritonGPUOp):
    """Starts copying a buffer to rows `x_offsets`, from column `y_offset` on: `ttng.async_tma_scatter %d[%xs, %y] %A
    : ...`.
    """

    name = "ttng.async_tma_scatter"

    desc: Operand = operand_def(DESCRIPTOR)
    x_offsets: Operand = operand_def(TENSOR)
    y_offset: Operand = operand_def(i32)
    src: Operand = operand_def(MEMDESC)

    assembly_format = "$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)"
    traits = traits_def(OUT_OF_SHARED)

    def verify_(self) -> None:
        _check_encoding(self.desc.type, self.src.type)
        _check_source(self.src.type)
        _check_rows(self.x_offsets.type, self.src.type)


class TMAStoreWaitOp(TritonGPUOp):
    """Waits until at most `pendings` stores are under way: `ttng.async_tma_store_wait {pendings = 0 : i32}`; with
    `read_only`, until at most that many still read shared memory, which says nothing about what they write. Ours, with
    `perWarp`: the threads of a warp wait for each other, too.
    """

    name = "ttng.async_tma_store_wait"

    pendings: IntegerAttr = prop_def(IntegerAttr, converter=i32_attr)
    read_only: UnitAttr | None = opt_prop_def(UnitAttr, converter=unit_if, default=False, kw_only=True)
    per_warp: UnitAttr | None = opt_prop_def(
        UnitAttr, prop_name="perWarp", converter=unit_if, default=False, kw_only=True
    )

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))
