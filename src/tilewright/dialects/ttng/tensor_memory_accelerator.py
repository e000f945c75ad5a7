"""Bulk copies of boxes between global and shared memory (TMA), and the descriptors that they use."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import FunctionType, IntegerAttr, i1, i32, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.construction import Value, init_op, segment_sizes, value_of, values_of
from tilewright.dialects.tt.constraints import TENSOR
from tilewright.dialects.tt.definition import bool_attr, i32_attr
from tilewright.dialects.tt.enums import CacheModifier, DescriptorReduceKind, EvictionPolicy
from tilewright.dialects.tt.types import NO_ENCODING, PointerType, TensorDescType
from tilewright.dialects.ttg.constraints import MEMDESC, as_memdesc, check_mutable, op_definition
from tilewright.dialects.ttg.effects import GLOBAL, READ, SHARED, WRITE, Touches
from tilewright.dialects.ttg.shared_encodings import find_shared_layout
from tilewright.dialects.ttng.barriers import check_barrier
from tilewright.dialects.types import TypeWhere, bit_width, is_integer
from tilewright.layouts.shared import NvmmaSharedLayout

DESCRIPTOR = TypeWhere("a tensor descriptor", lambda type: isinstance(type, TensorDescType))
POINTER = TypeWhere("a pointer", lambda type: isinstance(type, PointerType))
INTO_SHARED = Touches(((READ, GLOBAL), (WRITE, SHARED)))
OUT_OF_SHARED = Touches(((READ, SHARED), (WRITE, GLOBAL)))
READ_AND_WRITE_GLOBAL = Touches(((READ, SHARED), (READ, GLOBAL), (WRITE, GLOBAL)))


def _same_bits(left: Attribute, right: Attribute) -> bool:
    """Return whether elements are of one type, unsigned integers of a descriptor counting as integers."""
    if is_integer(left) and is_integer(right):
        return bit_width(left) == bit_width(right)
    return left == right


def _check_encoding(descriptor: Attribute, buffer: Attribute) -> None:
    """VerifyException unless the buffer has the descriptor's layout, one that TMA can write."""
    assert isinstance(descriptor, TensorDescType)
    memory, block = as_memdesc(buffer), descriptor.block_type
    if not _same_bits(memory.element_type, block.element_type):
        raise VerifyException(f"descriptor and buffer have elements {block.element_type} and {memory.element_type}")
    layout = find_shared_layout(memory.encoding)
    if isinstance(layout, NvmmaSharedLayout) and layout.swaps_dims:
        raise VerifyException("TMA does not support transposed layouts")
    if block.encoding != NO_ENCODING and block.encoding != memory.encoding:
        raise VerifyException(f"TMA descriptor layout must match shared layout: {block.encoding} and {memory.encoding}")


def _check_box(descriptor: SSAValue, coordinates: Sequence[SSAValue], buffer: SSAValue) -> None:
    _check_encoding(descriptor.type, buffer.type)
    assert isinstance(descriptor.type, TensorDescType)
    rank = len(descriptor.type.block_type.get_shape())
    if not 1 <= len(coordinates) <= 5:
        raise VerifyException("TMA copies must have between 1 and 5 coordinates")
    if len(coordinates) != rank:
        raise VerifyException(f"expected {rank} coordinates, but got {len(coordinates)}")


@op_definition
class AsyncTMACopyGlobalToLocalOp(IRDLOperation):
    """Starts copying a box into a buffer; the barrier counts its bytes.

    `ttng.async_tma_copy_global_to_local %d[%i, %j] %A, %b, %pred : !tt.tensordesc<...>, !ttg.memdesc<1xi64, ...> ->
    !ttg.memdesc<...>`
    """

    name = "ttng.async_tma_copy_global_to_local"

    desc = operand_def(DESCRIPTOR)
    coord = var_operand_def(i32)
    barrier = operand_def(MEMDESC)
    result = operand_def(MEMDESC)
    pred = operand_def(i1)
    cache = prop_def(IntegerAttr, default_value=i32_attr(CacheModifier.NONE))
    evict = prop_def(IntegerAttr, default_value=i32_attr(EvictionPolicy.EVICT_NORMAL))
    is_volatile = prop_def(IntegerAttr, default_value=bool_attr(False), prop_name="isVolatile")

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = (
        "$desc `[` $coord `]` $result `,` $barrier `,` $pred custom<MemoryHints>($cache, $evict) attr-dict "
        "`:` type($desc) `,` type($barrier) `->` type($result)"
    )
    traits = traits_def(INTO_SHARED)

    def __init__(
        self,
        desc: Value,
        coord: Sequence[Value],
        barrier: Value,
        result: Value,
        pred: Value,
        *,
        cache: CacheModifier | int | str = CacheModifier.NONE,
        evict: EvictionPolicy | int | str = EvictionPolicy.EVICT_NORMAL,
        is_volatile: bool = False,
    ):
        properties: dict[str, Attribute] = {
            "cache": i32_attr(CacheModifier.get(cache)),
            "evict": i32_attr(EvictionPolicy.get(evict)),
            "isVolatile": bool_attr(is_volatile),
        }
        init_op(self, values_of((desc, *coord, barrier, result, pred)), (), properties)

    def verify_(self) -> None:
        check_barrier(self.barrier.type)
        check_mutable(self.result.type)
        _check_box(self.desc, self.coord, self.result)


@op_definition
class AsyncTMACopyLocalToGlobalOp(IRDLOperation):
    """Starts copying a buffer to a box: `ttng.async_tma_copy_local_to_global %d[%i, %j] %A : !tt.tensordesc<...>,
    !ttg.memdesc<...>`.
    """

    name = "ttng.async_tma_copy_local_to_global"

    desc = operand_def(DESCRIPTOR)
    coord = var_operand_def(i32)
    src = operand_def(MEMDESC)

    assembly_format = "$desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"
    traits = traits_def(OUT_OF_SHARED)

    def __init__(self, desc: Value, coord: Sequence[Value], src: Value):
        init_op(self, values_of((desc, *coord, src)))

    def verify_(self) -> None:
        _check_box(self.desc, self.coord, self.src)


@op_definition
class AsyncTMAReduceOp(IRDLOperation):
    """Starts combining a buffer into a box: `ttng.async_tma_reduce add, %d[%i, %j] %A : !tt.tensordesc<...>,
    !ttg.memdesc<...>`.
    """

    name = "ttng.async_tma_reduce"

    kind = prop_def(IntegerAttr)
    desc = operand_def(DESCRIPTOR)
    coord = var_operand_def(i32)
    src = operand_def(MEMDESC)

    assembly_format = (
        "custom<DescriptorReduceKind>($kind) `,` $desc `[` $coord `]` $src attr-dict `:` type($desc) `,` type($src)"
    )
    traits = traits_def(READ_AND_WRITE_GLOBAL)

    def __init__(self, desc: Value, coord: Sequence[Value], src: Value, *, kind: DescriptorReduceKind | int | str):
        properties = {"kind": i32_attr(DescriptorReduceKind.get(kind))}
        init_op(self, values_of((desc, *coord, src)), (), properties)

    def verify_(self) -> None:
        _check_box(self.desc, self.coord, self.src)


@op_definition
class AsyncTMAGatherOp(IRDLOperation):
    """Starts copying rows `x_offsets`, from column `y_offset` on, into a buffer: `ttng.async_tma_gather %d[%xs, %y]
    %A, %b, %pred : ...`.
    """

    name = "ttng.async_tma_gather"

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(TENSOR)
    y_offset = operand_def(i32)
    barrier = operand_def(MEMDESC)
    result = operand_def(MEMDESC)
    pred = operand_def(i1)

    assembly_format = (
        "$desc `[` $x_offsets `,` $y_offset `]` $result `,` $barrier `,` $pred attr-dict `:` type(operands)"
    )
    traits = traits_def(INTO_SHARED)

    def __init__(self, desc: Value, x_offsets: Value, y_offset: Value, barrier: Value, result: Value, pred: Value):
        init_op(self, values_of((desc, x_offsets, y_offset, barrier, result, pred)))

    def verify_(self) -> None:
        check_barrier(self.barrier.type)
        check_mutable(self.result.type)
        _check_encoding(self.desc.type, self.result.type)


@op_definition
class AsyncTMAScatterOp(IRDLOperation):
    """Starts copying a buffer to rows `x_offsets`, from column `y_offset` on: `ttng.async_tma_scatter %d[%xs, %y] %A
    : ...`.
    """

    name = "ttng.async_tma_scatter"

    desc = operand_def(DESCRIPTOR)
    x_offsets = operand_def(TENSOR)
    y_offset = operand_def(i32)
    src = operand_def(MEMDESC)

    assembly_format = "$desc `[` $x_offsets `,` $y_offset `]` $src attr-dict `:` type(operands)"
    traits = traits_def(OUT_OF_SHARED)

    def __init__(self, desc: Value, x_offsets: Value, y_offset: Value, src: Value):
        init_op(self, values_of((desc, x_offsets, y_offset, src)))

    def verify_(self) -> None:
        _check_encoding(self.desc.type, self.src.type)


@op_definition
class TMAStoreWaitOp(IRDLOperation):
    """Waits until at most `pendings` stores still read shared memory: `ttng.async_tma_store_wait {pendings = 0 :
    i32}`.
    """

    name = "ttng.async_tma_store_wait"

    pendings = prop_def(IntegerAttr)

    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict"
    traits = traits_def(Touches(((READ, SHARED), (WRITE, SHARED))))

    def __init__(self, pendings: int):
        init_op(self, (), (), {"pendings": i32_attr(pendings)})


@irdl_op_definition
class TensormapCreateOp(IRDLOperation):
    """Writes a hardware descriptor to memory.

    `ttng.tensormap_create %p, %g, [%b0, %b1], [%n0, %n1], [%s0], [%e0, %e1] {elem_type = 6 : i32, ...} : (...) -> ()`
    """

    name = "ttng.tensormap_create"

    desc_ptr = operand_def(POINTER)
    global_address = operand_def(POINTER)
    box_dim = var_operand_def(i32)
    global_dim = var_operand_def(i32)
    global_stride = var_operand_def(i64)
    element_stride = var_operand_def(i32)
    elem_type = prop_def(IntegerAttr)
    interleave_layout = prop_def(IntegerAttr)
    swizzle_mode = prop_def(IntegerAttr)
    fill_mode = prop_def(IntegerAttr)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))

    def __init__(
        self,
        desc_ptr: Value,
        global_address: Value,
        box_dim: Sequence[Value],
        global_dim: Sequence[Value],
        global_stride: Sequence[Value],
        element_stride: Sequence[Value],
        *,
        elem_type: int,
        interleave_layout: int = 0,
        swizzle_mode: int,
        fill_mode: int = 0,
    ):
        groups = (box_dim, global_dim, global_stride, element_stride)
        properties: dict[str, Attribute] = {
            "elem_type": i32_attr(elem_type),
            "fill_mode": i32_attr(fill_mode),
            "interleave_layout": i32_attr(interleave_layout),
            "operandSegmentSizes": segment_sizes(1, 1, *(len(group) for group in groups)),
            "swizzle_mode": i32_attr(swizzle_mode),
        }
        flat = [value for group in groups for value in group]
        init_op(self, values_of((desc_ptr, global_address, *flat)), (), properties)

    def verify_(self) -> None:
        rank = len(self.box_dim)
        if not 1 <= rank <= 5:
            raise VerifyException(f"Rank must be between 1 and 5, got {rank}")
        if len(self.global_dim) != rank or len(self.element_stride) != rank:
            raise VerifyException(f"Rank mismatch: box of {rank}, global {len(self.global_dim)} dimensions")
        if len(self.global_stride) + 1 != rank:
            raise VerifyException(
                f"Rank mismatch for global stride: expected {rank - 1}, got {len(self.global_stride)}"
            )

    @classmethod
    def parse(cls, parser: Parser) -> TensormapCreateOp:
        operands = [parser.parse_unresolved_operand()]
        parser.parse_punctuation(",")
        operands.append(parser.parse_unresolved_operand())
        sizes = [1, 1]
        for _ in range(4):
            parser.parse_punctuation(",")
            group = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_unresolved_operand)
            sizes.append(len(group))
            operands += group
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type = parser.parse_function_type()
        values = parser.resolve_operands(operands, type.inputs.data, parser.pos)
        own = cls.get_irdl_definition().properties
        properties = {name: attributes.pop(name) for name in list(attributes) if name in own}
        properties["operandSegmentSizes"] = segment_sizes(*sizes)
        return cls.create(operands=values, properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_list((self.desc_ptr, self.global_address), printer.print_ssa_value)
        for group in (self.box_dim, self.global_dim, self.global_stride, self.element_stride):
            printer.print_string(", [")
            printer.print_list(group, printer.print_ssa_value)
            printer.print_string("]")
        shown = {name: value for name, value in self.properties.items() if name != "operandSegmentSizes"}
        printer.print_op_attributes({**self.attributes, **shown})
        printer.print_string(" : ")
        printer.print_attribute(FunctionType.from_lists([value.type for value in self.operands], []))


@op_definition
class TensormapFenceproxyAcquireOp(IRDLOperation):
    """Makes a written descriptor visible to TMA: `ttng.tensormap_fenceproxy_acquire %p : !tt.ptr<i8>`."""

    name = "ttng.tensormap_fenceproxy_acquire"

    desc_ptr = operand_def(POINTER)

    assembly_format = "$desc_ptr attr-dict `:` type($desc_ptr)"
    traits = traits_def(Touches(((READ, GLOBAL), (WRITE, GLOBAL))))

    def __init__(self, desc_ptr: Value):
        init_op(self, (value_of(desc_ptr),))


@op_definition
class ReinterpretTensorDescOp(IRDLOperation):
    """A descriptor in memory as one that ops take: `%d = ttng.reinterpret_tensor_descriptor %p : !tt.ptr<i8> to
    !tt.tensordesc<...>`.
    """

    name = "ttng.reinterpret_tensor_descriptor"

    raw_desc = operand_def(POINTER)
    result = result_def(DESCRIPTOR)

    assembly_format = "$raw_desc attr-dict `:` type($raw_desc) `to` type($result)"
    traits = traits_def(Pure())

    def __init__(self, raw_desc: Value, result_type: Attribute):
        init_op(self, (value_of(raw_desc),), (result_type,))
