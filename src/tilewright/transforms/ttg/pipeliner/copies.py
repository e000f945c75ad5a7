"""Where a pipelined load puts its data: the layout in shared memory, and how wide the copies into it are."""

from __future__ import annotations

from xdsl.ir import Attribute, SSAValue

from tilewright.analysis.axis_info import ModuleAxisInfo
from tilewright.dialects import tt, ttg
from tilewright.dialects.construction import static_values
from tilewright.dialects.tt.descriptor import block_type_of
from tilewright.dialects.tt.types import PointerType
from tilewright.dialects.ttg.encodings import layout_of
from tilewright.dialects.ttg.shared_encodings import (
    encoding_of_rank,
    find_shared_layout,
    shared_encoding_of,
    shared_layout_of,
)
from tilewright.dialects.ttg.types import MemDescType
from tilewright.dialects.types import as_tensor, bit_width
from tilewright.layouts import reshaping
from tilewright.layouts.distributed import DistributedLayout, DotOperandLayout, NvidiaMmaLayout
from tilewright.layouts.shared import NvmmaSharedLayout, SharedLayout, SwizzledSharedLayout
from tilewright.transforms.ttg.layout_order import order_of

MIN_COPY_BITS = 32
"""The narrowest asynchronous copy of a thread."""


def element_bits(element: Attribute) -> int:
    """Bits of an element in memory; pointers have 64, truth values a byte."""
    return 64 if isinstance(element, PointerType) else max(bit_width(element), 8)


def buffer_encoding(load: tt.LoadOp | tt.DescriptorLoadOp) -> Attribute:
    """The encoding of the buffer that a load is copied to: what `wgmma` or TMA asks for, else one from which the
    operands of `mma.sync` are read without bank conflicts, else plain rows.
    """
    if isinstance(load, tt.DescriptorLoadOp):
        return descriptor_encoding(load)
    for use in load.result.uses:
        if isinstance(use.operation, ttg.LocalAllocOp):
            type = use.operation.result.type
            assert isinstance(type, MemDescType)
            return type.encoding
    type = as_tensor(load.result.type)
    order = order_of(layout_of(type.encoding), type.get_shape())
    for use in load.result.uses:
        layout = _for_operand(use.operation, type.get_shape(), order, element_bits(type.element_type))
        if layout is not None:
            return shared_encoding_of(layout)
    return shared_encoding_of(SwizzledSharedLayout(1, 1, 1, order))


def _for_operand(user: object, shape: tuple[int, ...], order: tuple[int, ...], bits: int) -> SharedLayout | None:
    """Return what fragments are read from without bank conflicts, where `user` converts to those of an operand, or to
    what is their transpose.
    """
    operand = operand_of_mma(user)
    if operand is not None:
        return SwizzledSharedLayout.for_dot_operand(shape, order, bits, operand.op_index, operand.k_width)
    trans = _transpose_of(user)
    operand = None if trans is None else _operand_layout(trans.result)
    if trans is None or operand is None:
        return None
    dims = static_values(trans.order)
    back = tuple(dims.index(dim) for dim in range(len(dims)))
    view = tuple(shape[dim] for dim in dims)
    layout = SwizzledSharedLayout.for_dot_operand(
        view, tuple(back[dim] for dim in order), bits, operand.op_index, operand.k_width
    )
    return reshaping.transpose_shared(layout, view, back)


def _transpose_of(user: object) -> tt.TransOp | None:
    """The transpose that is all that uses a conversion."""
    if not isinstance(user, ttg.ConvertLayoutOp):
        return None
    users = [use.operation for use in user.result.uses]
    return users[0] if len(users) == 1 and isinstance(users[0], tt.TransOp) else None


def descriptor_encoding(load: tt.DescriptorLoadOp) -> Attribute:
    """The encoding of the blocks that a load reads; where none was chosen yet, the widest swizzle that fits."""
    block, shape = block_type_of(load.desc), as_tensor(load.result.type).get_shape()
    if find_shared_layout(block.encoding) is not None:
        return encoding_of_rank(block.encoding, len(shape))
    order = tuple(reversed(range(len(shape))))
    return shared_encoding_of(NvmmaSharedLayout.make(shape, order, element_bits(block.element_type)))


def operand_of_mma(user: object) -> DotOperandLayout | None:
    """The layout that a conversion gives to an operand of `mma.sync`."""
    return _operand_layout(user.result) if isinstance(user, ttg.ConvertLayoutOp) else None


def _operand_layout(value: SSAValue) -> DotOperandLayout | None:
    layout = layout_of(as_tensor(value.type).encoding)
    if isinstance(layout, DotOperandLayout) and isinstance(layout.parent, NvidiaMmaLayout):
        return layout
    return None


def contiguous_run(registers: DistributedLayout, buffer: SharedLayout, shape: tuple[int, ...]) -> int:
    """Return how many elements a thread holds in consecutive registers that lie side by side, and aligned, in a
    buffer.
    """
    return registers.to_linear(shape).invert_and_compose(buffer.to_linear(shape)).num_consecutive_in_out


def copy_bits(load: tt.LoadOp, axis_info: ModuleAxisInfo) -> int:
    """The width of the copies of one thread from memory straight to the buffer."""
    type = as_tensor(load.result.type)
    registers, buffer = layout_of(type.encoding), shared_layout_of(buffer_encoding(load))
    run = min(contiguous_run(registers, buffer, type.get_shape()), axis_info.pointer_contiguity(load.ptr))
    if load.mask is not None:
        run = min(run, axis_info.mask_alignment(load.mask))
    return min(run * element_bits(type.element_type), 128)


def can_copy_asynchronously(load: tt.LoadOp, axis_info: ModuleAxisInfo) -> bool:
    """Return whether `cp.async` can do a load: it copies 4 bytes at least, side by side in both memories."""
    return copy_bits(load, axis_info) >= MIN_COPY_BITS
