"""Buffers in shared memory: allocation, access by tensors, and views, which move nothing."""

from __future__ import annotations

import builtins
import math
from typing import TYPE_CHECKING, Any

from tilewright.language import dtypes as dt
from tilewright.language.context import emit, emit_void
from tilewright.language.creation import to_tensor
from tilewright.language.gluon.agreement import type_with_layout
from tilewright.language.gluon.layout_base import Layout
from tilewright.language.gluon.types import placed_block, shared_memory_descriptor_type
from tilewright.language.ir_modules import ttg
from tilewright.language.registry import builtin, unwrap_list, unwrap_shape
from tilewright.language.shape import broadcast_pair
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
    def gather(self, indices: Any, axis: Any) -> tensor:
        """The elements whose coordinate along `axis` is `indices`: `out[i, j] = buffer[indices[i, j], j]` for axis 0.

        `indices` are integers in a block of the buffer's rank; the result has its shape and layout. An index outside
        of the buffer has no meaning.
        """
        dim = _indexed_axis(self, indices, axis)
        ty = type_with_layout(indices, "`indices`").with_element_ty(self.dtype)
        return tensor(emit(ttg.LocalGatherOp(self.handle, indices.handle, dim)), ty)

    @builtin
    def scatter(self, values: Any, indices: Any, axis: Any) -> None:
        """Write `values` to the elements whose coordinate along `axis` is `indices`: `buffer[indices[i, j], j] =
        values[i, j]` for axis 0. Both are broadcast to one shape; of values for one element any may be the last."""
        dim = _indexed_axis(self, indices, axis)
        placed, index, _ = _scattered(self, values, indices, dim, None)
        emit_void(ttg.LocalScatterOp(self.handle, placed.handle, index.handle, dim))

    @builtin
    def atomic_scatter_add(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Add `values` to the elements that `scatter` would write, where `mask` holds; returns what they were.

        Values, indices and mask are broadcast to one shape, which the result has. What other threads do before and
        after is not ordered by it. Integers of 32 and 64 bits and floats.
        """
        return _atomic_scatter(self, "add", values, indices, axis, mask)

    @builtin
    def atomic_scatter_max(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """The maximum with integers `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "max", values, indices, axis, mask)

    @builtin
    def atomic_scatter_min(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """The minimum with integers `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "min", values, indices, axis, mask)

    @builtin
    def atomic_scatter_and(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise and with integers `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "and", values, indices, axis, mask)

    @builtin
    def atomic_scatter_or(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise or with integers `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "or", values, indices, axis, mask)

    @builtin
    def atomic_scatter_xor(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Bitwise exclusive or with integers `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "xor", values, indices, axis, mask)

    @builtin
    def atomic_scatter_xchg(self, values: Any, indices: Any, axis: Any, mask: Any = None) -> tensor:
        """Exchange with `values`, see `atomic_scatter_add`."""
        return _atomic_scatter(self, "exch", values, indices, axis, mask)

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


def _indexed_axis(buffer: shared_memory_descriptor, indices: Any, axis: Any) -> int:
    """The dimension that indices are for; TypeError or ValueError for what no elements of a buffer can be named by."""
    dim = unwrap(axis)
    if not isinstance(indices, tensor):
        raise TypeError(f"expected 'indices' to be a tensor, but got {describe(indices)}")
    if not isinstance(dim, int):
        raise TypeError(f"expected 'axis' to be an int, but got {describe(dim)}")
    if len(indices.extents) != buffer.rank:
        raise ValueError(f"indices rank must match the buffer's: got {len(indices.extents)} and {buffer.rank}")
    if not 0 <= dim < buffer.rank:
        raise ValueError(f"axis {dim} is out of bounds for a buffer of rank {buffer.rank}")
    if not indices.dtype.is_int():
        raise ValueError(f"indices must have integer dtype, got {indices.dtype}")
    _check_others(buffer, indices, dim)
    return dim


def _check_others(buffer: shared_memory_descriptor, indices: tensor, axis: int) -> None:
    """ValueError where a buffer has no elements for the coordinates that are not indexed."""
    for dim, (size, extent) in enumerate(zip(indices.extents, buffer.shape, strict=True)):
        if dim != axis and size > extent:
            raise ValueError(f"{size} indices along dimension {dim} are too many for a buffer of shape {buffer.shape}")


def _scattered(
    buffer: shared_memory_descriptor, values: Any, indices: tensor, axis: int, mask: Any
) -> builtins.tuple[tensor, tensor, tensor | None]:
    """Values, indices and mask of one shape and layout; TypeError or ValueError for what does not fit the buffer."""
    if not isinstance(values, tensor):
        raise TypeError(f"expected 'values' to be a tensor, but got {describe(values)}")
    if values.dtype != buffer.dtype:
        raise ValueError(
            f"values element type must match destination element type: got {values.dtype} and {buffer.dtype}"
        )
    values, indices = broadcast_pair(values, indices)
    lanes = None
    if unwrap(mask) is not None:
        values, lanes = broadcast_pair(values, to_tensor(mask))
        indices, values = broadcast_pair(indices, values)
        if not lanes.dtype.is_bool():
            raise ValueError(f"mask must have boolean dtype, got {lanes.dtype}")
    type_with_layout(values, "`values`")
    _check_others(buffer, indices, axis)
    return values, indices, lanes


def _atomic_scatter(
    buffer: shared_memory_descriptor, kind: str, values: Any, indices: Any, axis: Any, mask: Any
) -> tensor:
    dim = _indexed_axis(buffer, indices, axis)
    placed, index, lanes = _scattered(buffer, values, indices, dim, mask)
    dtype = placed.dtype
    if not (dtype.is_int() or (dtype.is_floating() and kind in ("add", "exch"))):
        raise ValueError(f"atomic_scatter_{'xchg' if kind == 'exch' else kind} does not support dtype {dtype}")
    if kind == "add" and dtype.is_floating():
        op = "fadd"
    elif kind in ("max", "min") and dtype.is_int_unsigned():
        op = f"u{kind}"
    else:
        op = kind
    mask_handle = None if lanes is None else lanes.handle
    made = ttg.LocalAtomicScatterRMWOp(
        buffer.handle, placed.handle, index.handle, mask_handle, atomic_rmw_op=op, axis=dim
    )
    return tensor(emit(made), placed.type)


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
