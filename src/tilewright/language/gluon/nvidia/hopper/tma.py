"""Copies of boxes between a tensor in global memory and buffers, started by one thread (TMA)."""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any

from tilewright.language import descriptors
from tilewright.language import dtypes as dt
from tilewright.language.casts import cast_to
from tilewright.language.context import emit_void
from tilewright.language.creation import as_tensor
from tilewright.language.descriptors import tensor_descriptor as plain_descriptor
from tilewright.language.dtypes import block_type
from tilewright.language.gluon.buffers import as_buffer, shared_memory_descriptor
from tilewright.language.gluon.cache_policies import check_policy_of_box
from tilewright.language.gluon.nvidia.ampere.mbarrier import as_barrier, predicate
from tilewright.language.gluon.shared_layouts import NVMMASharedLayout
from tilewright.language.gluon.types import shared_layout
from tilewright.language.ir_modules import builtin as builtin_dialect
from tilewright.language.ir_modules import tt, ttng
from tilewright.language.memory import integers
from tilewright.language.registry import builtin, unwrap_list, with_hint, wrong_layout
from tilewright.language.values import describe, tuple, tuple_type, unwrap

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

    from tilewright.dialects.tt import TensorDescType


class tensor_descriptor_type(descriptors.tensor_descriptor_type):
    """The type of a descriptor whose blocks lie in shared memory in a layout."""

    def __init__(
        self,
        block: block_type,
        shape_type: tuple_type,
        strides_type: tuple_type,
        layout: NVMMASharedLayout,
        rounds_to_tf32: bool = False,
    ) -> None:
        super().__init__(block, shape_type, strides_type, rounds_to_tf32)
        self.layout = layout

    @classmethod
    def of_layout(cls, block: block_type, layout: Any, *, rounds_to_tf32: bool = False) -> tensor_descriptor_type:
        """The type of a descriptor that comes as a kernel argument. Raises TypeError for a layout that TMA does not
        write."""
        place = shared_layout(layout)
        if not isinstance(place, NVMMASharedLayout):
            raise TypeError(f"expected layout to be an NVMMASharedLayout, got {place}")
        rank = len(block.shape)
        return cls(block, tuple_type([dt.int32] * rank), tuple_type([dt.int64] * rank), place, rounds_to_tf32)

    def descriptor_ir(self) -> TensorDescType:
        plain = super().descriptor_ir().block_type
        element, shape = plain.element_type, plain.get_shape()
        return tt.TensorDescType(builtin_dialect.TensorType(element, shape, self.layout.encoding()))

    def mangle(self) -> str:
        return f"{super().mangle()}_{self.layout.mangle()}TD"

    def argument_attributes(self) -> dict[str, Attribute]:
        return {"tt.round_f32_to_tf32": builtin_dialect.UnitAttr()} if self.rounds_to_tf32 else {}

    def wrap(self, handle: SSAValue, shape: tuple, strides: tuple) -> tensor_descriptor:
        return tensor_descriptor(handle, shape, strides, self)

    @property
    def nbytes_per_cta(self) -> int:
        """Bytes of a block, or of the part that one CTA of a cluster takes."""
        splits = sum(any(vector) for vector in self.layout.cga_layout)
        return self.block_type.nbytes >> splits

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tensor_descriptor_type) and super().__eq__(other) and self.layout == other.layout

    __hash__ = descriptors.tensor_descriptor_type.__hash__


class tensor_descriptor(plain_descriptor):
    """A tensor in global memory, seen as blocks that lie in shared memory in `.layout`."""

    type: tensor_descriptor_type

    @property
    def layout(self) -> NVMMASharedLayout:
        return self.type.layout

    @property
    def nbytes_per_cta(self) -> int:
        return self.type.nbytes_per_cta

    @property
    def block_shape(self) -> Any:
        return list(self.block_type.shape)


Corner = builtins.tuple[int, ...]


class tensor_descriptor_im2col_type(tensor_descriptor_type):
    """The type of a descriptor of images, whose blocks are pixels by channels. `pixels` are the lower and upper corner
    of the walk over them, and its steps."""

    pixels: builtins.tuple[Corner, Corner, Corner] = ((), (), ())

    @classmethod
    def of_pixels(
        cls, block: block_type, layout: Any, pixels: builtins.tuple[Corner, Corner, Corner], *, rounds_to_tf32: bool
    ) -> tensor_descriptor_im2col_type:
        """The type of a descriptor that comes as a kernel argument."""
        place = tensor_descriptor_type.of_layout(block, layout).layout
        rank = len(pixels[0]) + 2
        made = cls(block, tuple_type([dt.int32] * rank), tuple_type([dt.int64] * rank), place, rounds_to_tf32)
        made.pixels = pixels
        return made

    def descriptor_ir(self) -> Any:
        return ttng.TensorDescIm2ColType(super().descriptor_ir().block_type)

    def mangle(self) -> str:
        return f"{super().mangle()}I"

    def argument_attributes(self) -> dict[str, Attribute]:
        from tilewright.dialects.ttng.pixels import PIXELS, Pixels

        return {**super().argument_attributes(), PIXELS: Pixels(*self.pixels).attribute()}

    def wrap(self, handle: SSAValue, shape: tuple, strides: tuple) -> tensor_descriptor_im2col:
        return tensor_descriptor_im2col(handle, shape, strides, self)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, tensor_descriptor_im2col_type) and super().__eq__(other) and self.pixels == other.pixels
        )

    __hash__ = tensor_descriptor_type.__hash__


class tensor_descriptor_im2col(tensor_descriptor):
    """Images in global memory, seen as blocks of pixels by channels."""


def _described(value: Any) -> tensor_descriptor:
    if not isinstance(value, tensor_descriptor):
        raise with_hint(
            TypeError(f"`tensor_desc` must be a descriptor with a layout, got {describe(value)}"),
            "make it on the host with gluon.nvidia.hopper.TensorDescriptor, or with tma.make_tensor_descriptor",
        )
    return value


def _box(
    tensor_desc: Any, coord: Any, buffer: Any, what: str
) -> builtins.tuple[tensor_descriptor, list[SSAValue], shared_memory_descriptor]:
    """Descriptor, coordinates and buffer of a copy. Raises TypeError or ValueError where they do not fit."""
    descriptor, memory = _described(tensor_desc), as_buffer(buffer, what)
    place = integers(coord, 32, "coord")
    block, rank = descriptor.block_type, len(descriptor.shape)
    if len(place) != rank:
        raise ValueError(f"expected {rank} coordinates, but got {len(place)}")
    if memory.shape != block.shape or memory.dtype != block.element_ty:
        raise ValueError(
            f"the descriptor's blocks are {block}, the buffer has shape {memory.shape} and dtype {memory.dtype}"
        )
    if memory.layout != descriptor.layout:
        raise wrong_layout(ValueError(f"the descriptor's layout is {descriptor.layout}, the buffer's {memory.layout}"))
    return descriptor, [value.handle for value in place], memory


@builtin
def async_load(
    tensor_desc: Any,
    coord: Any,
    barrier: Any,
    result: Any,
    pred: Any = True,
    multicast: Any = False,
    cache_policy: Any = None,
) -> None:
    """Start copying the box at `coord` into the buffer `result`, unless `pred` is false; `barrier` counts its bytes.
    Elements outside of the tensor become the descriptor's padding. With `multicast`, one CTA copies for all of a
    cluster that have the same part of the buffer."""
    check_policy_of_box(cache_policy)
    if isinstance(tensor_desc, tensor_descriptor_im2col):
        raise with_hint(TypeError("`tensor_desc` describes pixels (im2col)"), "call async_load_im2col")
    descriptor, place, buffer = _box(tensor_desc, coord, result, "result")
    op = ttng.AsyncTMACopyGlobalToLocalOp(
        descriptor.handle,
        place,
        as_barrier(barrier, "barrier").handle,
        buffer.handle,
        predicate(pred).handle,
        multicast=_goes_to_several(multicast, descriptor),
        round_to_tf32=descriptor.type.rounds_to_tf32,
    )
    emit_void(op)


@builtin
def async_load_im2col(
    tensor_desc: Any,
    coord: Any,
    offsets: Any,
    barrier: Any,
    result: Any,
    pred: Any = True,
    multicast: Any = False,
    cache_policy: Any = None,
) -> None:
    """Start copying pixels of images into the buffer `result`: those of a walk that begins at `coord` (image, [depth,]
    [height,] width, channel), each moved by `offsets` ([depth,] [height,] width; integers, or int16 values). The
    descriptor says how the walk goes on; pixels outside of their image become its padding. `multicast` as in
    `async_load`."""
    check_policy_of_box(cache_policy)
    if not isinstance(tensor_desc, tensor_descriptor_im2col):
        raise with_hint(
            TypeError(f"`tensor_desc` must be a descriptor of pixels, got {describe(tensor_desc)}"),
            "make it on the host with gluon.nvidia.hopper.TensorDescriptorIm2Col",
        )
    descriptor, place, buffer = _box(tensor_desc, coord, result, "result")
    if any(basis[0] for basis in descriptor.layout.plain().cga):
        raise with_hint(
            ValueError("the CTAs of a cluster cannot share out the pixels of a copy"),
            "share out the channels (`cga_layout=[[0, 1]]`), or give all CTAs the same (`[[0, 0]]`)",
        )
    moves = [cast_to(as_tensor(offset, "offsets"), dt.int16) for offset in unwrap_list(offsets, "offsets")]
    if len(moves) != len(place) - 2:
        raise ValueError(f"expected {len(place) - 2} offsets, but got {len(moves)}")
    op = ttng.AsyncTMACopyGlobalToLocalOp(
        descriptor.handle,
        place,
        as_barrier(barrier, "barrier").handle,
        buffer.handle,
        predicate(pred).handle,
        offsets=[move.handle for move in moves],
        multicast=_goes_to_several(multicast, descriptor),
        round_to_tf32=descriptor.type.rounds_to_tf32,
    )
    emit_void(op)


def _goes_to_several(multicast: Any, descriptor: tensor_descriptor | tensor_descriptor_im2col) -> bool:
    """Return whether a copy is for several CTAs: those of a cluster that have the same part of the buffer."""
    return bool(unwrap(multicast)) and any(not any(basis) for basis in descriptor.layout.plain().cga)


@builtin
def async_store(tensor_desc: Any, coord: Any, src: Any, cache_policy: Any = None) -> None:
    """Start copying the buffer `src` to the box at `coord`; elements outside of the tensor are dropped. The buffer may
    be written again after `store_wait`."""
    check_policy_of_box(cache_policy)
    descriptor, place, buffer = _box(tensor_desc, coord, src, "src")
    emit_void(ttng.AsyncTMACopyLocalToGlobalOp(descriptor.handle, place, buffer.handle))


@builtin
def async_copy_global_to_shared(*args: Any, **kwargs: Any) -> None:
    """Removed in Triton 3.9: `async_load`."""
    raise with_hint(RuntimeError("async_copy_global_to_shared has been removed"), "call async_load instead")


@builtin
def async_copy_global_to_shared_im2col(*args: Any, **kwargs: Any) -> None:
    """Removed in Triton 3.9: `async_load_im2col`."""
    error = RuntimeError("async_copy_global_to_shared_im2col has been removed")
    raise with_hint(error, "call async_load_im2col instead")


@builtin
def async_copy_shared_to_global(*args: Any, **kwargs: Any) -> None:
    """Removed in Triton 3.9: `async_store`."""
    raise with_hint(RuntimeError("async_copy_shared_to_global has been removed"), "call async_store instead")


def _reduce(kind: str, tensor_desc: Any, coord: Any, src: Any) -> None:
    descriptor, place, buffer = _box(tensor_desc, coord, src, "src")
    emit_void(ttng.AsyncTMAReduceOp(descriptor.handle, place, buffer.handle, kind=kind))


@builtin
def async_atomic_add(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start adding a buffer to the box at `coord`, element by element, atomically."""
    _reduce("add", tensor_desc, coord, src)


@builtin
def async_atomic_min(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start taking the minimum of a buffer and the box at `coord`, element by element, atomically."""
    _reduce("min", tensor_desc, coord, src)


@builtin
def async_atomic_max(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start taking the maximum of a buffer and the box at `coord`, element by element, atomically."""
    _reduce("max", tensor_desc, coord, src)


@builtin
def async_atomic_and(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start combining the box at `coord` with a buffer by bitwise and, atomically."""
    _reduce("and", tensor_desc, coord, src)


@builtin
def async_atomic_or(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start combining the box at `coord` with a buffer by bitwise or, atomically."""
    _reduce("or", tensor_desc, coord, src)


@builtin
def async_atomic_xor(tensor_desc: Any, coord: Any, src: Any) -> None:
    """Start combining the box at `coord` with a buffer by bitwise exclusive or, atomically."""
    _reduce("xor", tensor_desc, coord, src)


@builtin
def store_wait(pendings: Any, read_only: Any = True) -> None:
    """Wait until at most `pendings` copies out of shared memory, a constant, still read it; with `read_only=False`,
    until at most that many are under way: what the others wrote may then be announced to other programs."""
    count = unwrap(pendings)
    if not isinstance(count, int) or count < 0:
        raise ValueError(f"pendings must be a constant that is not negative, got {describe(pendings)}")
    emit_void(ttng.TMAStoreWaitOp(count, read_only=bool(unwrap(read_only))))


@builtin
def make_tensor_descriptor(
    base: Any, shape: Any, strides: Any, block_shape: Any, layout: Any, padding_option: Any = "zero"
) -> plain_descriptor:
    """As `tl.make_tensor_descriptor`, with the layout that blocks have in shared memory."""

    def type_of(block: block_type) -> tensor_descriptor_type:
        return tensor_descriptor_type.of_layout(block, layout)

    return descriptors.made_descriptor(base, shape, strides, block_shape, padding_option, type_of)


__all__ = [
    "async_atomic_add",
    "async_atomic_and",
    "async_atomic_max",
    "async_atomic_min",
    "async_atomic_or",
    "async_atomic_xor",
    "async_copy_global_to_shared",
    "async_copy_global_to_shared_im2col",
    "async_copy_shared_to_global",
    "async_load",
    "async_load_im2col",
    "async_store",
    "make_tensor_descriptor",
    "store_wait",
    "tensor_descriptor",
    "tensor_descriptor_im2col",
    "tensor_descriptor_im2col_type",
    "tensor_descriptor_type",
]
