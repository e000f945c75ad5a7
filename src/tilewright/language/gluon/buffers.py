"""Buffers in shared memory: allocation, access by tensors, and views, which move nothing."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from tilewright.language import dtypes as dt
from tilewright.language.context import emit, emit_void
from tilewright.language.creation import to_tensor
from tilewright.language.gluon.agreement import type_with_layout
from tilewright.language.gluon.layouts import Layout
from tilewright.language.gluon.types import placed_block, shared_memory_descriptor_type
from tilewright.language.ir_modules import ttg
from tilewright.language.registry import builtin, unwrap_list, unwrap_shape
from tilewright.language.values import base_value, describe, tensor, unwrap

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


class shared_memory_descriptor(base_value):
    """A buffer in shared memory, or a view of one. `.shape`, `.dtype`, `.layout`, `.rank` and `.numel` are known while
    compiling."""

    def __init__(self, handle: SSAValue, element_ty: Any, shape: Any, layout: Any, alloc_shape: Any) -> None:
        self.handle = handle
        self.type = shared_memory_descriptor_type(element_ty, shape, layout, alloc_shape)

    def flatten_ir(self, handles: list[SSAValue]) -> None:
        handles.append(self.handle)

    @property
    def dtype(self) -> dt.dtype:
        return self.type.element_ty

    @property
    def shape(self) -> list[int]:
        return self.type.shape

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes_per_cta(self) -> int:
        return self.type.nbytes_per_cta

    @property
    def layout(self) -> Layout:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)

    @builtin
    def load(self, layout: Any) -> tensor:
        """All of the view, as a tensor in `layout`."""
        ty = placed_block(self.dtype, builtins.tuple(self.shape), _given(layout, "load"))
        return tensor(emit(ttg.LocalLoadOp(self.handle, ty.to_ir())), ty)

    @builtin
    def store(self, value: Any) -> None:
        """Write a tensor of the view's shape and dtype."""
        check_contents(self, value)
        emit_void(ttg.LocalStoreOp(value.handle, self.handle))

    @builtin
    def slice(self, start: Any, length: Any, dim: Any = 0) -> shared_memory_descriptor:
        """The part of `length` elements from `start` on, along dimension `dim`; all are constants."""
        first, count, axis = unwrap(start), unwrap(length), unwrap(dim)
        for name, number in (("start", first), ("length", count), ("dim", axis)):
            if not isinstance(number, int):
                raise TypeError(f"expected '{name}' to be an int but got {describe(number)}")
        if not 0 <= axis < self.rank:
            raise ValueError(f"dim {axis} is out of range for a buffer of shape {self.shape}")
        if first < 0 or count <= 0 or first + count > self.shape[axis]:
            raise ValueError(f"{count} elements from {first} on are not in dimension {axis} of shape {self.shape}")
        offsets, shape = [0] * self.rank, list(self.shape)
        offsets[axis], shape[axis] = first, count
        return self._view(ttg.MemDescSubsliceOp(self.handle, offsets, shape))

    @builtin
    def index(self, index: Any) -> shared_memory_descriptor:
        """One of several buffers: the view at `index`, an int32, of the first dimension."""
        place = to_tensor(index)
        if place.type != dt.int32:
            raise TypeError(f"expected 'index' to be int32 but got {place.type}")
        if self.rank < 2:
            raise ValueError(f"a buffer of shape {self.shape} has no first dimension to index")
        return self._view(ttg.MemDescIndexOp(self.handle, place.handle))

    @builtin
    def permute(self, order: Any) -> shared_memory_descriptor:
        """The view with reordered dimensions: dimension i of it is dimension `order[i]` of this one."""
        wanted = [unwrap(dim) for dim in unwrap_list(order, "order")]
        if sorted(wanted) != list(range(self.rank)):
            raise ValueError(f"order must be a permutation of the {self.rank} dimensions, got {wanted}")
        return self._view(ttg.MemDescTransOp(self.handle, wanted))

    @builtin
    def reshape(self, shape: Any) -> shared_memory_descriptor:
        """The same elements, in row-major order, in another shape."""
        extents = unwrap_shape(shape)
        if math.prod(extents) != self.numel:
            raise ValueError(f"memdesc_reshape total elements mismatch: {self.shape} -> {extents}")
        return self._view(ttg.MemDescReshapeOp(self.handle, extents))

    @builtin
    def reinterpret(self, dtype: Any = None, shape: Any = None, layout: Any = None) -> shared_memory_descriptor:
        """The bytes of the buffer as another dtype, shape or layout of the same size."""
        element = self.dtype if unwrap(dtype) is None else unwrap(dtype)
        extents = self.shape if unwrap(shape) is None else unwrap_shape(shape)
        place = self.layout if unwrap(layout) is None else layout
        ty = shared_memory_descriptor_type(_element(element), extents, place, extents)
        return ty.wrap(emit(ttg.MemDescReinterpretOp(self.handle, ty.to_ir())))

    @builtin
    def _reinterpret(self, dtype: Any, shape: Any, layout: Any) -> shared_memory_descriptor:
        """`reinterpret`, as it was called before Triton 3.8."""
        return self.reinterpret(dtype, shape, layout)

    @builtin
    def _keep_alive(self) -> None:
        """The buffer's memory is not used for anything else before this place."""
        emit_void(ttg.LocalDeallocOp(self.handle))

    def _view(self, op: Any) -> shared_memory_descriptor:
        handle = emit(op)
        return shared_memory_descriptor_type.of_ir(handle.type, self.dtype).wrap(handle)


def _element(ty: Any) -> dt.dtype:
    ty = unwrap(ty)
    if not isinstance(ty, dt.dtype):
        raise TypeError(f"expected 'element_ty' to be a dtype but got {describe(ty)}")
    return ty


def _given(layout: Any, what: str) -> Any:
    if unwrap(layout) is None:
        raise TypeError(f"{what} from shared memory needs a layout")
    return layout


def check_contents(buffer: shared_memory_descriptor, value: Any) -> None:
    """Raises TypeError or ValueError unless a value is a tensor of a buffer's shape and dtype."""
    ty = type_with_layout(value, "`value`") if isinstance(value, tensor) else None
    if ty is None:
        raise TypeError(f"expected 'value' to be a tensor, but got {describe(value)}")
    if ty.shape != buffer.shape:
        raise ValueError(f"source shape {ty.shape} and destination shape {buffer.shape} must match")
    if ty.element_ty != buffer.dtype:
        raise ValueError(f"source dtype {ty.element_ty} and destination dtype {buffer.dtype} must match")


def as_buffer(value: Any, what: str) -> shared_memory_descriptor:
    """A buffer among the arguments; TypeError for anything else."""
    if not isinstance(value, shared_memory_descriptor):
        raise TypeError(f"`{what}` must be a buffer in shared memory, got {describe(value)}")
    return value


@builtin
def allocate_shared_memory(element_ty: Any, shape: Any, layout: Any, value: Any = None) -> shared_memory_descriptor:
    """A buffer in shared memory, with the elements of `value` if that is given. It lives to the end of its uses."""
    extents = unwrap_shape(shape)
    ty = shared_memory_descriptor_type(_element(element_ty), extents, layout, extents)
    if unwrap(value) is None:
        return ty.wrap(emit(ttg.LocalAllocOp(ty.to_ir())))
    check_contents(ty.wrap(value.handle), value)
    return ty.wrap(emit(ttg.LocalAllocOp(ty.to_ir(), value.handle)))
