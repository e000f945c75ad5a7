"""Reads, writes and read-modify-writes of memory that no other program can interleave with, and waiting for a value."""

from __future__ import annotations

from typing import Any

from tilewright.language import dtypes as dt
from tilewright.language.addresses import no_pointer_error
from tilewright.language.arithmetic import and_, compare, invert, where
from tilewright.language.casts import bitcast_to, cast_to, pointer_to
from tilewright.language.context import emit, emit_void
from tilewright.language.creation import as_tensor, constant
from tilewright.language.dtypes import dtype, pointer_type
from tilewright.language.ir_modules import tt
from tilewright.language.memory import as_bytes, broadcast_to_lanes, keyword_of
from tilewright.language.registry import builtin, member
from tilewright.language.shape import broadcast_pair
from tilewright.language.values import tensor, unwrap
from tilewright.language.versions import since

_SEMANTICS = {"": "acq_rel", "acquire": "acquire", "release": "release", "acq_rel": "acq_rel", "relaxed": "relaxed"}
_SCOPES = {"": "gpu", "gpu": "gpu", "cta": "cta", "sys": "sys"}


def _element_type(pointer: tensor, function: str) -> dtype:
    ty = pointer.dtype
    if not isinstance(ty, pointer_type):
        raise ValueError(f"Pointer argument of `tl.{function}` must be a pointer, got {pointer}")
    if ty.const or ty.element_ty.is_const():
        raise ValueError("Cannot store to a constant pointer")
    return ty.element_ty


def _check_element(element: dtype, function: str) -> None:
    if (element.is_fp16() or element.is_bf16()) and function not in ("atomic_add", "atomic_xchg"):
        raise ValueError(f"{function} does not support {element}")
    if element.is_block() or element in (dt.int16, dt.uint16) or element.primitive_bitwidth < 16:
        raise ValueError(f"{function} does not support {element}")


def _operands(pointer: Any, val: Any, mask: Any, function: str) -> tuple[tensor, tensor, tensor]:
    """Pointer, value and mask of one shape; the value has the element type, an absent mask is all true."""
    target = as_tensor(pointer, "pointer")
    element = _element_type(target, function)
    _check_element(element, function)
    value = as_tensor(val, "val")
    lanes = _lanes_of(mask)
    if not target.extents and (value.extents or lanes.extents):
        raise ValueError(f"{function}: a scalar pointer takes a scalar value and mask")
    value = cast_to(broadcast_to_lanes(value, target), element)
    return target, value, broadcast_to_lanes(lanes, target)


def _lanes_of(mask: Any) -> tensor:
    mask = unwrap(mask)
    lanes = as_tensor(mask, "mask") if mask is not None else constant(True, dt.int1)
    if not lanes.dtype.is_bool():
        raise ValueError("Mask must have boolean scalar type")
    return lanes


def _emit_rmw(kind: str, pointer: tensor, value: tensor, mask: tensor, sem: Any, scope: Any) -> tensor:
    op = tt.AtomicRMWOp(
        pointer.handle,
        value.handle,
        mask.handle,
        atomic_rmw_op=kind,
        sem=keyword_of(_SEMANTICS, sem, "Memory semantic"),
        scope=keyword_of(_SCOPES, scope, "Memory scope"),
    )
    return tensor(emit(op), value.type)


@member
@builtin
def atomic_add(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer += val` at each lane where `mask` holds; returns the old values.

    16-bit floats, float32, float64, and integers of 32 and 64 bits. `sem` is "relaxed", "acquire", "release" or
    "acq_rel" (the default), `scope` is "gpu" (default), "cta" or "sys". Masked-off lanes return an undefined value.
    """
    target, value, mask = _operands(pointer, val, mask, "atomic_add")
    return _emit_rmw("fadd" if value.dtype.is_floating() else "add", target, value, mask, sem, scope)


def _atomic_bits(kind: str, pointer: Any, val: Any, mask: Any, sem: Any, scope: Any) -> tensor:
    target, value, mask = _operands(pointer, val, mask, f"atomic_{kind}")
    if kind != "xchg" and not value.dtype.is_int():
        raise TypeError(f"atomic_{kind} works on integers, got {value.dtype}")
    return _emit_rmw("exch" if kind == "xchg" else kind, target, value, mask, sem, scope)


@member
@builtin
def atomic_and(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer &= val`; returns the old values. Integers of 32 and 64 bits; options as in `atomic_add`."""
    return _atomic_bits("and", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_or(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer |= val`; returns the old values. Integers of 32 and 64 bits; options as in `atomic_add`."""
    return _atomic_bits("or", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_xor(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer ^= val`; returns the old values. Integers of 32 and 64 bits; options as in `atomic_add`."""
    return _atomic_bits("xor", pointer, val, mask, sem, scope)


@member
@builtin
def atomic_xchg(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """Store `val` and return what was there before. Numbers of 32 and 64 bits; options as in `atomic_add`."""
    return _atomic_bits("xchg", pointer, val, mask, sem, scope)


def _atomic_extremum(pointer: Any, val: Any, mask: Any, sem: Any, scope: Any, *, largest: bool) -> tensor:
    """Integers have an operation of their own. Floats are ordered like their bits read as signed integers where the
    sign bit is clear, and in reverse like unsigned integers where it is set: two masked integer operations do it."""
    function = "atomic_max" if largest else "atomic_min"
    target, value, mask = _operands(pointer, val, mask, function)
    up, down = ("max", "umin") if largest else ("min", "umax")
    element = value.dtype
    if element.is_int():
        kind = up if element.is_int_signed() else {"max": "umax", "min": "umin"}[up]
        return _emit_rmw(kind, target, value, mask, sem, scope)
    if element not in (dt.float32, dt.float64):
        raise TypeError(f"{function} not supported for dtype {element}")
    bits = element.primitive_bitwidth
    signed, unsigned = dt.get_int_dtype(bits, signed=True), dt.get_int_dtype(bits, signed=False)
    as_signed, as_unsigned = bitcast_to(value, signed), bitcast_to(value, unsigned)
    signed_ptr = cast_to(target, pointer_to(signed, target.dtype))
    unsigned_ptr = cast_to(target, pointer_to(unsigned, target.dtype))
    negative = compare("ne", as_unsigned >> (bits - 1), 0)
    positive = invert(negative)
    from_positive = _emit_rmw(up, signed_ptr, as_signed, and_(mask, positive), sem, scope)
    from_negative = _emit_rmw(down, unsigned_ptr, as_unsigned, and_(mask, negative), sem, scope)
    return bitcast_to(where(positive, from_positive, bitcast_to(from_negative, signed)), element)


@member
@builtin
def atomic_max(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer = max(*pointer, val)`; returns the old values. Integers and floats of 32 and 64 bits; options as in
    `atomic_add`."""
    return _atomic_extremum(pointer, val, mask, sem, scope, largest=True)


@member
@builtin
def atomic_min(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """`*pointer = min(*pointer, val)`; returns the old values. Integers and floats of 32 and 64 bits; options as in
    `atomic_add`."""
    return _atomic_extremum(pointer, val, mask, sem, scope, largest=False)


@member
@builtin
def atomic_cas(pointer: Any, cmp: Any, val: Any, sem: Any = None, scope: Any = None) -> tensor:
    """Store `val` where the memory equals `cmp`; returns the old values. Elements of 16, 32 and 64 bits."""
    target = as_tensor(pointer, "pointer")
    element = _element_type(target, "atomic_cas")
    if element.primitive_bitwidth not in (16, 32, 64):
        raise ValueError("atomic_cas only supports elements with width {16, 32, 64}")
    expected = cast_to(broadcast_to_lanes(as_tensor(cmp, "cmp"), target), element)
    value = cast_to(broadcast_to_lanes(as_tensor(val, "val"), target), element)
    op = tt.AtomicCASOp(
        target.handle,
        expected.handle,
        value.handle,
        sem=keyword_of(_SEMANTICS, sem, "Memory semantic"),
        scope=keyword_of(_SCOPES, scope, "Memory scope"),
    )
    return tensor(emit(op), value.type)


# -- reads, writes, waiting -------------------------------------------------------------------------------------------
def _order(function: str, sem: Any, scope: Any, ordered: str) -> dict[str, str]:
    """The semantics, of which there are two, and the scope of a read or a write."""
    semantics = unwrap(sem) or ordered
    if semantics not in ("relaxed", ordered):
        keyword_of(_SEMANTICS, semantics, "Memory semantic")
        raise ValueError(f"{function} only supports {ordered} and relaxed semantics, got {semantics!r}")
    return {"sem": semantics, "scope": keyword_of(_SCOPES, scope, "Memory scope")}


def _pointee(pointer: tensor, function: str) -> dtype:
    ty = pointer.dtype
    if not isinstance(ty, pointer_type) or ty.element_ty.is_block():
        raise no_pointer_error(pointer, function)
    return ty.element_ty


def _number_pointers(pointer: Any, function: str) -> tensor:
    """Pointers to numbers; those to int1 as bytes, in which form booleans lie in memory."""
    target = as_tensor(pointer, "pointer")
    element = _pointee(target, function)
    if not (element.is_int() or element.is_floating()):
        raise ValueError(f"{function} only supports integer and floating-point elements, got {element}")
    return as_bytes(target)


@since("3.9")
@member
@builtin
def atomic_load(pointer: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> tensor:
    """Read the elements that `pointer` points to, each as one indivisible step. Numbers of every type.

    Lanes where `mask` is false are not read and give an undefined value. `sem` is "acquire" (the default: what was
    written before a release of the value that is read is there for all that follows) or "relaxed"; `scope` as in
    `atomic_add`.
    """
    order = _order("atomic_load", sem, scope, "acquire")
    target = _number_pointers(pointer, "atomic_load")
    lanes = _lanes_of(mask)
    if lanes.extents and not target.extents:
        raise ValueError("Mask argument cannot be block type if pointer argument is not a block")
    target, lanes = broadcast_pair(target, lanes)
    op = tt.AtomicLoadOp(target.handle, lanes.handle, **order)
    loaded = tensor(emit(op), target.type.with_element_ty(_pointee(target, "atomic_load")))
    was_bool = _pointee(as_tensor(pointer, "pointer"), "atomic_load").is_bool()
    return cast_to(loaded, dt.int1) if was_bool else loaded


@since("3.9")
@member
@builtin
def atomic_store(pointer: Any, val: Any, mask: Any = None, sem: Any = None, scope: Any = None) -> None:
    """Write `val` to where `pointer` points, each element as one indivisible step. Numbers of every type.

    Lanes where `mask` is false are left alone. `sem` is "release" (the default: who acquires the value sees all that
    was written before) or "relaxed"; `scope` as in `atomic_add`.
    """
    order = _order("atomic_store", sem, scope, "release")
    _element_type(as_tensor(pointer, "pointer"), "atomic_store")
    target = _number_pointers(pointer, "atomic_store")
    value, lanes = as_tensor(val, "val"), _lanes_of(mask)
    for name, operand in {"Value": value, "Mask": lanes}.items():
        if operand.extents and not target.extents:
            raise ValueError(f"{name} argument cannot be block type if pointer argument is not a block")
    value = cast_to(broadcast_to_lanes(value, target), _pointee(target, "atomic_store"))
    lanes = broadcast_to_lanes(lanes, target)
    emit_void(tt.AtomicStoreOp(target.handle, value.handle, lanes.handle, **order))


@since("3.9")
@member
@builtin
def atomic_poll(
    pointer: Any, expected_value: Any, sem: Any = None, scope: Any = None, timeout_ns: Any = None
) -> tensor:
    """Wait until the integers that `pointer` points to (16, 32 or 64 bits) equal `expected_value`.

    Returns a block of int1 of the pointers' shape: whether each had the value before `timeout_ns` nanoseconds had
    passed, which all elements share; without a timeout the program waits for as long as it takes. Each element is read
    once at least. `sem` is "acquire" (the default) or "relaxed", `scope` as in `atomic_add`.
    """
    order = _order("atomic_poll", sem, scope, "acquire")
    target = as_tensor(pointer, "pointer")
    element = _pointee(target, "atomic_poll")
    if not element.is_int() or element.primitive_bitwidth not in (16, 32, 64):
        raise ValueError(f"atomic_poll only supports integer elements with width {{16, 32, 64}}, got {element}")
    expected = as_tensor(expected_value, "expected_value")
    if expected.extents and not target.extents:
        raise ValueError("Value argument cannot be block type if pointer argument is not a block")
    expected = broadcast_to_lanes(cast_to(expected, element), target)
    timeout = _timeout(unwrap(timeout_ns))
    op = tt.AtomicPollOp(target.handle, expected.handle, None if timeout is None else timeout.handle, **order)
    return tensor(emit(op), expected.type.with_element_ty(dt.int1))


def _timeout(timeout_ns: Any) -> tensor | None:
    if timeout_ns is None:
        return None
    if isinstance(timeout_ns, int) and timeout_ns < 0:
        raise ValueError("atomic_poll timeout_ns must be non-negative")
    timeout = as_tensor(timeout_ns, "timeout_ns")
    if timeout.extents or not timeout.dtype.is_int():
        raise ValueError(f"atomic_poll timeout_ns must be a scalar integer, got {timeout}")
    return cast_to(timeout, dt.uint64)
