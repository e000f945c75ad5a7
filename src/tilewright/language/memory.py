"""Reading and writing memory through pointers: single pointers, blocks of pointers, block pointers."""

from __future__ import annotations

import builtins
from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.addresses import no_pointer_error
from tilewright.language.casts import cast_to, pointer_to
from tilewright.language.context import emit, emit_void
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import block_of, pointer_type
from tilewright.language.ir_modules import tt
from tilewright.language.registry import builtin, member, must_use_result, unwrap_list, unwrap_shape, with_hint
from tilewright.language.shape import broadcast_pair, broadcast_to_shape
from tilewright.language.values import describe, tensor, unwrap
from tilewright.language.versions import warn_since

LOAD_CACHE = {"": "none", ".ca": "ca", ".cg": "cg", ".cs": "cs", ".cv": "cv"}
_STORE_CACHE = {"": "none", ".wb": "wb", ".cg": "cg", ".cs": "cs", ".wt": "wt"}
EVICTION = {
    "": "evict_normal",
    "evict_normal": "evict_normal",
    "evict_first": "evict_first",
    "evict_last": "evict_last",
}
_PADDING = {"": None, "zero": "zero", "nan": "nan"}


def keyword_of(table: dict[str, Any], value: Any, what: str) -> Any:
    """The IR keyword of a user's option; an unknown one is a ValueError that lists the known. None, 0 and False say as
    little as an empty string."""
    value = unwrap(value) or ""
    if value not in table:
        raise ValueError(f"{what} {value!r} not supported; expected one of {', '.join(map(repr, table))}")
    return table[value]


def is_block_pointer(value: Any) -> bool:
    """Is `value` a block pointer, as made by `make_block_ptr`?"""
    return isinstance(value, tensor) and isinstance(value.type, pointer_type) and value.type.element_ty.is_block()


@builtin
def load(
    pointer: Any,
    mask: Any = None,
    other: Any = None,
    boundary_check: Any = (),
    padding_option: Any = "",
    cache_modifier: Any = "",
    eviction_policy: Any = "",
    volatile: Any = False,
) -> tensor:
    """Read the elements that `pointer` points to.

    - scalar pointer: a scalar; `mask` and `other` must be scalars.
    - block of pointers: a block of that shape. Lanes where `mask` is false are not read and give `other`, or an
      undefined value without it. `mask` and `other` are broadcast to the pointers' shape, `other` is cast to the
      element type.
    - block pointer: a block; `boundary_check` lists the dimensions to check, outside elements are filled as
      `padding_option` ("zero" or "nan") says.

    `cache_modifier` is "", ".ca", ".cg", ".cs" or ".cv"; `eviction_policy` "", "evict_first" or "evict_last". Pointers
    to int1 read bytes and compare with zero. Raises ValueError for `other` without `mask` and for options of the other
    forms.
    """
    if hasattr(pointer, "load") and not isinstance(pointer, tensor):
        raise TypeError("tl.load takes a pointer; read a tensor descriptor with its method .load(offsets)")
    source = as_tensor(pointer, "pointer")
    cache = keyword_of(LOAD_CACHE, cache_modifier, "Cache modifier")
    eviction = keyword_of(EVICTION, eviction_policy, "Eviction policy")
    padding = keyword_of(_PADDING, padding_option, "Padding option")
    hints = {"cache": cache, "evict": eviction, "is_volatile": builtins.bool(unwrap(volatile))}
    mask, other = unwrap(mask), unwrap(other)
    checked = unwrap_list(boundary_check, "boundary_check")
    if is_block_pointer(source):
        return _load_block(source, mask, other, checked, padding, hints)
    return _load_lanes(source, mask, other, checked, padding, hints)


def _check_lane_options(pointer: tensor, checked: list[int], padding: Any, function: str) -> None:
    if not pointer.dtype.is_ptr():
        raise no_pointer_error(pointer, function)
    if checked or padding:
        raise ValueError(
            "`padding_option` or `boundary_check` argument is not supported for loading a tensor of pointers or "
            "a scalar; "
            "use `mask`, or a block pointer made by `make_block_ptr`"
        )


def _scalar_or_block(pointer: tensor, value: Any, what: str) -> tensor:
    """An operand brought to the pointer's shape."""
    operand = as_tensor(value, what)
    if not pointer.extents and operand.extents:
        raise with_hint(
            ValueError(f"{what.capitalize()} argument cannot be block type if pointer argument is not a block"),
            "add the offsets of the block to the pointer: `pointer + tl.arange(...)`",
        )
    return broadcast_to_lanes(operand, pointer)


def broadcast_to_lanes(value: tensor, pointer: tensor) -> tensor:
    """Broadcast a mask or value to the shape of a block of pointers, leading dimensions added where they are
    missing."""
    if value.extents == pointer.extents and not value.type.has_layout:
        return value
    grown, value = broadcast_pair(pointer, value)
    if grown.extents != pointer.extents:
        raise ValueError(f"cannot broadcast a block of shape {value.extents} to pointers of shape {pointer.extents}")
    return value


def _mask_for(pointer: tensor, mask: Any) -> tensor:
    lanes = _scalar_or_block(pointer, mask, "mask")
    if not lanes.dtype.is_bool():
        raise with_hint(ValueError(f"Mask must have boolean scalar type, got {lanes.dtype}"), "compare it: `mask != 0`")
    return lanes


def _widen_for_mask(pointer: tensor, mask: Any) -> tensor:
    """A block of pointers grown to the common shape with the mask (a mask may be larger)."""
    if mask is None or not pointer.extents or not isinstance(mask, tensor) or not mask.extents:
        return pointer
    return broadcast_pair(pointer, mask)[0]


def _placed_by(pointer: tensor, value: Any) -> tensor:
    """A block of pointers in the layout of the value that it is accessed with, where its own is to follow."""
    if isinstance(value, tensor) and value.extents and pointer.type.has_layout:
        return broadcast_pair(pointer, value)[0]
    return pointer


def as_bytes(pointer: tensor) -> tensor:
    """A pointer to int1 as one to int8, the form in which booleans lie in memory; others unchanged."""
    ty = pointer.dtype
    if isinstance(ty, pointer_type) and ty.element_ty.is_bool():
        return cast_to(pointer, pointer_to(dt.int8, ty))
    return pointer


def _load_lanes(
    pointer: tensor, mask: Any, other: Any, checked: list[int], padding: Any, hints: dict[str, Any]
) -> tensor:
    _check_lane_options(pointer, checked, padding, "load")
    if mask is None and other is not None:
        raise ValueError("`other` cannot be provided without `mask`")
    pointer = _placed_by(_widen_for_mask(pointer, mask), other)
    mask_value = _mask_for(pointer, mask) if mask is not None else None
    other_value = _scalar_or_block(pointer, other, "other") if other is not None else None
    was_bool = _pointee(pointer).is_bool()
    pointer = as_bytes(pointer)
    element = _pointee(pointer)
    if other_value is not None:
        other_value = cast_to(other_value, element)
    op = tt.LoadOp(
        pointer.handle,
        mask_value.handle if mask_value is not None else None,
        other_value.handle if other_value is not None else None,
        **hints,
    )
    loaded = tensor(emit(op), pointer.type.with_element_ty(element))
    return cast_to(loaded, dt.int1) if was_bool else loaded


def _pointee(pointer: tensor) -> dt.dtype:
    ty = pointer.dtype
    assert isinstance(ty, pointer_type)
    return ty.element_ty


def _block_of_pointer(pointer: tensor) -> dt.block_type:
    block = _pointee(pointer)
    assert isinstance(block, dt.block_type)
    return block


def _checked_dimensions(checked: list[Any], rank: int) -> list[int]:
    dims = [unwrap(d) for d in checked]
    for d in dims:
        if not isinstance(d, int) or not 0 <= d < rank:
            raise ValueError(f"boundary_check names dimension {d}, the block pointer has rank {rank}")
    if len(set(dims)) != len(dims):
        raise ValueError(f"Duplicate dimension in `boundary_check`: {dims}")
    return sorted(dims)


def _load_block(
    pointer: tensor, mask: Any, other: Any, checked: list[int], padding: Any, hints: dict[str, Any]
) -> tensor:
    if mask is not None or other is not None:
        raise ValueError("`mask` and `other` arguments cannot be specified for loading block pointers")
    block = _block_of_pointer(pointer)
    if block.element_ty.is_int() and padding == "nan":
        raise ValueError("Padding option `nan` is not supported for integer block pointers")
    dims = _checked_dimensions(checked, len(block.shape))
    return tensor(emit(tt.LoadOp(pointer.handle, boundary_check=dims, padding=padding, **hints)), block)


@member
@builtin
def store(
    pointer: Any,
    value: Any,
    mask: Any = None,
    boundary_check: Any = (),
    cache_modifier: Any = "",
    eviction_policy: Any = "",
) -> None:
    """Write `value` to where `pointer` points to; lanes where `mask` is false are left alone.

    `value` and `mask` are broadcast to the pointers' shape, `value` is cast to the element type. Pointers that are
    `const` are refused. With a block pointer, `boundary_check` lists the dimensions in which outside elements are
    skipped. `cache_modifier` is "", ".wb", ".cg", ".cs" or ".wt".
    """
    target = as_tensor(pointer, "pointer")
    stored = as_tensor(value, "value")
    if target.dtype.is_const():
        raise ValueError("Cannot store to a constant pointer")
    cache = keyword_of(_STORE_CACHE, cache_modifier, "Cache modifier")
    eviction = keyword_of(EVICTION, eviction_policy, "Eviction policy")
    hints = {"cache": cache, "evict": eviction}
    mask = unwrap(mask)
    checked = unwrap_list(boundary_check, "boundary_check")
    if is_block_pointer(target):
        _store_block(target, stored, mask, checked, hints)
    else:
        _store_lanes(target, stored, mask, checked, hints)


def _store_lanes(pointer: tensor, value: tensor, mask: Any, checked: list[int], hints: dict[str, Any]) -> None:
    _check_lane_options(pointer, checked, None, "store")
    widened = _widen_for_mask(pointer, mask)
    if widened.extents != pointer.extents:
        raise with_hint(
            ValueError(f"Expected pointer argument to have shape {widened.extents} but got {pointer.extents}"),
            "a mask that is larger would store to one element several times: give the pointers its shape",
        )
    pointer = _placed_by(widened, value)
    value = _scalar_or_block(pointer, value, "value")
    mask_value = _mask_for(pointer, mask) if mask is not None else None
    value = cast_to(value, _pointee(pointer))  # to int1 is a comparison with zero, also on the way to the byte
    pointer = as_bytes(pointer)
    value = cast_to(value, _pointee(pointer))
    emit_void(tt.StoreOp(pointer.handle, value.handle, mask_value.handle if mask_value is not None else None, **hints))


def _store_block(pointer: tensor, value: tensor, mask: Any, checked: list[int], hints: dict[str, Any]) -> None:
    if mask is not None:
        raise ValueError("`mask` and `other` arguments cannot be specified for storing block pointers")
    block = _block_of_pointer(pointer)
    value = broadcast_to_shape(value, block.shape)
    value = cast_to(value, block.element_ty)
    dims = _checked_dimensions(checked, len(block.shape))
    emit_void(tt.StoreOp(pointer.handle, value.handle, boundary_check=dims, **hints))


def integers(items: Any, width: int, what: str) -> list[tensor]:
    """A list of numbers and integer tensors as scalars of the given width, unsigned ones zero extended."""
    target = dt.get_int_dtype(width, signed=True)
    out: list[tensor] = []
    for entry in unwrap_list(items, what) if not isinstance(items, tensor) else [items]:
        if isinstance(entry, int) and not isinstance(entry, bool):
            if not target.get_int_min_value() <= entry <= target.get_int_max_value():
                raise ValueError(f"{what}: {entry} does not fit into {width} bits")
            from tilewright.language.creation import constant

            out.append(constant(entry, target))
            continue
        value = as_tensor(entry, what)
        if value.extents or not value.dtype.is_int():
            raise ValueError(f"Expected a list of scalar integers in `{what}`, got {describe(value)}")
        if width == 64 or value.dtype.int_bitwidth <= width:
            out.append(cast_to(value, target) if value.dtype.int_bitwidth != width else value)
        else:
            raise ValueError(f"Block pointers only support 32 bit `{what}`, add a `.to(tl.int32)`")
    return out


@builtin
def make_block_ptr(base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any) -> tensor:
    """A pointer to a block of a larger array in memory.

    `base` points to the array's first element; `shape` and `strides` (in elements) are 64-bit, `offsets` 32-bit
    integers; `block_shape` is a list of compile-time powers of two; `order` lists the dimensions from the fastest to
    the slowest and is a permutation. All lists have the same length.
    """
    warn_since("3.7", "tl.make_block_ptr is deprecated: use tl.make_tensor_descriptor or a TensorDescriptor")
    pointer = as_tensor(base, "base")
    if not isinstance(pointer.type, pointer_type) or pointer.type.element_ty.is_block():
        raise ValueError("Expected `base` to be a pointer type (but not a block pointer type or others)")
    pointer = as_bytes(pointer)
    extents = integers(shape, 64, "shape")
    steps = integers(strides, 64, "strides")
    starts = integers(offsets, 32, "offsets")
    block = unwrap_shape(block_shape, "block_shape")
    dims = [unwrap(d) for d in unwrap_list(order, "order")]
    if sorted(dims) != list(range(len(dims))):
        raise ValueError(f"Expected a permutation of {list(range(len(dims)))} in order, got {dims}")
    if len({len(extents), len(steps), len(starts), len(block), len(dims)}) != 1:
        raise ValueError("Expected shape/strides/offsets/block_shape/order to have the same length")
    block_ty = block_of(_pointee(pointer), builtins.tuple(block))
    ty = pointer_type(block_ty, 1)
    sizes, jumps, corner = ([v.handle for v in values] for values in (extents, steps, starts))
    return tensor(emit(tt.MakeTensorPtrOp(pointer.handle, sizes, jumps, corner, block, order=dims)), ty)


@must_use_result(
    "Note that tl.advance does not have any side effects. To move the block pointer, you need to assign the "
    "result of tl.advance to a variable."
)
@member
@builtin
def advance(base: tensor, offsets: Any) -> tensor:
    """The block pointer `base` moved by `offsets` elements in each dimension (32-bit integers)."""
    if not is_block_pointer(base):
        raise ValueError(f"tl.advance needs a block pointer made by make_block_ptr, got {describe(base)}")
    steps = integers(offsets, 32, "offsets")
    if len(steps) != len(_block_of_pointer(base).shape):
        raise ValueError("tl.advance needs one offset for each dimension of the block")
    return tensor(emit(tt.AdvanceOp(base.handle, [v.handle for v in steps])), base.type)
