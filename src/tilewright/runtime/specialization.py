"""What one launch argument means for the compiler: its signature type, what it is specialised on, and its launch slot.

The rules are Triton's: integers are i32, i64 or u64 by range, 1 becomes a constant, multiples of 16 and 16-byte aligned
pointers are marked, None and constexpr parameters are constants. `classify` is the only place that knows them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from tilewright.language.callables import JITCallable
from tilewright.runtime.storage import Storage, find_storage
from tilewright.runtime.tensor_descriptor import TensorDescriptor
from tilewright.support.errors import ArgumentRangeError, ArgumentTypeError, ArgumentValueError
from tilewright.support.records import dataclass

DIVISIBILITY = 16

_NUMPY_BOOL: Any = np.bool_
_NUMPY_SCALAR: Any = np.generic

_TAKEN = "an array or tensor, a number, None, a @jit function, or a tuple of these"
_SEQUENCES: Any = (tuple, list)

_FLOAT_FORMATS = {"fp16": struct.Struct("<e"), "fp32": struct.Struct("<f"), "fp64": struct.Struct("<d")}


@dataclass(frozen=True, slots=True)
class Constant:
    """A value known at compile time; `value` takes part in the compilation key."""

    value: Any


@dataclass(frozen=True, slots=True)
class Scalar:
    """A run-time scalar: signature type (`i32`, `fp32`, ...), its 64 slot bits, and whether 16 divides it."""

    type: str
    bits: int
    divisible: bool = False


@dataclass(frozen=True, slots=True)
class Pointer:
    """A pointer to data: signature type (`*fp32`), the storage it points to, and whether it is 16-byte aligned."""

    type: str
    storage: Storage
    divisible: bool


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple argument: its elements classified one by one; `template` rebuilds a named tuple of the same class."""

    items: tuple[Classified, ...]
    template: type | None = None


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A host-made tensor descriptor: its signature type and the slots that it takes.

    The slots are what `triton-rewrite-tensor-descriptor-to-pointer` leaves of the argument (base, i64 extents, i64
    strides, NaN padding), then the extents (i32) and strides (i64) that the front end passes beside it.
    """

    type: str
    leaves: tuple[Pointer | Scalar, ...]


Classified = Constant | Scalar | Pointer | Group | Descriptor


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """How one parameter of the kernel treats its argument."""

    name: str
    is_constexpr: bool = False
    is_const: bool = False
    specialize: bool = True
    specialize_alignment: bool = True
    forced_type: str | None = None


def classify(value: Any, rule: ParameterRule) -> Classified:
    """Classify one argument. Raises ArgumentTypeError/ArgumentValueError that name the parameter."""
    if rule.is_constexpr:
        return Constant(value.item() if isinstance(value, _NUMPY_SCALAR) else value)
    try:
        handler = _HANDLERS.get(value.__class__)
        if handler is not None:
            return handler(value, rule)
        return _classify_other(value, rule)
    except (ArgumentTypeError, ArgumentValueError) as error:
        if error.name:
            raise
        raise type(error)(rule.name, error.what, error.expected) from None


def key_of(item: Classified) -> Hashable:
    """Return what of a classified argument decides which compiled kernel fits."""
    match item:
        case Scalar(type_, _, divisible) | Pointer(type_, _, divisible):
            return (type_, divisible)
        case Constant(value):
            return ("constexpr", value.__class__, _hashable(value))
        case Group(items, template):
            return (template, *(key_of(inner) for inner in items))
        case Descriptor(type_, _):
            return type_


def _hashable(value: Any) -> Hashable:
    """Return what tells constants apart: equal values may not be the same to a kernel, such as 0.0 and -0.0, or 1 and
    True.
    """
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, _SEQUENCES):
        return tuple((item.__class__, _hashable(item)) for item in value)
    try:
        hash(value)
    except TypeError:
        return repr(value)
    return value


def _classify_bool(value: bool, rule: ParameterRule) -> Classified:
    return Scalar("u1", int(value)) if rule.forced_type is None else _forced_scalar(value, rule)


def _classify_int(value: int, rule: ParameterRule) -> Classified:
    if rule.forced_type is not None:
        return _forced_scalar(value, rule)
    if rule.specialize and value == 1:
        return Constant(1)
    if -(2**31) <= value < 2**31:
        kind = "i32"
    elif -(2**63) <= value < 2**63:
        kind = "i64"
    elif 0 <= value < 2**64:
        kind = "u64"
    else:
        raise ArgumentRangeError("", f"integer {value}", "an integer of at most 64 bits")
    divisible = rule.specialize and rule.specialize_alignment and value % DIVISIBILITY == 0
    return Scalar(kind, value & (2**64 - 1), divisible)


def _classify_float(value: float, rule: ParameterRule) -> Classified:
    if rule.forced_type is not None:
        return _forced_scalar(value, rule)
    return Scalar("fp32", float_bits(value, "fp32"))


def _classify_none(value: None, rule: ParameterRule) -> Classified:
    return Constant(None)


def _classify_tuple(value: tuple[Any, ...], rule: ParameterRule) -> Classified:
    template = type(value) if hasattr(value, "_fields") else None
    return Group(tuple(classify(item, rule) for item in value), template)


def _classify_other(value: Any, rule: ParameterRule) -> Classified:
    if isinstance(value, _NUMPY_BOOL):
        return _classify_bool(bool(value), rule)
    if isinstance(value, _NUMPY_SCALAR) and value.dtype.kind in "iu":
        return _classify_int(value.item(), rule)
    if isinstance(value, _NUMPY_SCALAR) and value.dtype.kind == "f":
        return _classify_float(float(value.item()), rule)
    if isinstance(value, tuple):
        return _classify_tuple(value, rule)  # pyright: ignore[reportUnknownArgumentType]
    if isinstance(value, int | float):
        return (_classify_int if isinstance(value, int) else _classify_float)(value, rule)  # pyright: ignore[reportArgumentType]
    if isinstance(value, TensorDescriptor):
        return _classify_descriptor(value)
    storage = find_storage(value)
    if storage is not None:
        return _classify_storage(storage, rule)
    if getattr(value, "is_compile_time", False):
        return Constant(value.value)
    if isinstance(value, JITCallable):
        return Constant(value)
    raise ArgumentTypeError(
        "",
        f"failed to specialize argument of type: {type(value).__name__}",
        "a `tl.constexpr` parameter for strings" if isinstance(value, str) else _TAKEN,
    )


def _classify_storage(storage: Storage, rule: ParameterRule) -> Classified:
    aligned = rule.specialize and rule.specialize_alignment and storage.address % DIVISIBILITY == 0
    if rule.forced_type is not None and rule.forced_type.startswith("*"):
        return Pointer(rule.forced_type, storage, aligned)
    return Pointer(("*k" if rule.is_const else "*") + storage.dtype, storage, aligned)


def _classify_descriptor(descriptor: TensorDescriptor) -> Descriptor:
    storage = descriptor.storage()
    extents = [Scalar("i64", extent) for extent in descriptor.shape]
    strides = [Scalar("i64", stride) for stride in descriptor.strides]
    leaves = (
        Pointer(f"*{storage.dtype}", storage, True),
        *extents,
        *strides,
        Scalar("u1", int(descriptor.padding == "nan")),
        *(Scalar("i32", extent) for extent in descriptor.shape),
        *strides,
    )
    return Descriptor(descriptor.signature(), leaves)


def _forced_scalar(value: float, rule: ParameterRule) -> Classified:
    """An argument whose parameter is annotated with a scalar type."""
    kind = rule.forced_type or ""
    if kind.startswith("*"):
        raise ArgumentTypeError(
            "", f"a value of type {type(value).__name__}", f"an array or tensor, as the annotation {kind} says"
        )
    if kind.startswith(("fp", "bf")):
        try:
            return Scalar(kind, float_bits(float(value), kind))
        except OverflowError:
            raise ArgumentValueError("", f"integer {value}", f"a value that fits {kind}, as annotated") from None
    if not isinstance(value, int):
        raise ArgumentTypeError(
            "", f"a value of type {type(value).__name__}", f"an integer, as the annotation {kind} says"
        )
    width = int(kind[1:])
    low, high = (0, 2**width) if kind.startswith("u") or width == 1 else (-(2 ** (width - 1)), 2 ** (width - 1))
    if not low <= value < high:
        raise ArgumentValueError("", f"integer {value}", f"a value that fits {kind}, as annotated")
    if width == 1:
        return Scalar(kind, int(value))
    if rule.specialize and value == 1:
        return Constant(1)
    divisible = rule.specialize and rule.specialize_alignment and value % DIVISIBILITY == 0
    return Scalar(kind, value & (2**64 - 1), divisible)


def float_bits(value: float, kind: str) -> int:
    """The bits of a float argument in its slot, little-endian, in the low bytes; too large a value becomes infinite."""
    if kind == "bf16":
        import ml_dtypes

        return int.from_bytes(np.asarray(value, dtype=ml_dtypes.bfloat16).tobytes(), "little")
    form = _FLOAT_FORMATS.get(kind)
    if form is None:
        raise ArgumentTypeError("", f"scalar annotated {kind}", "fp16, bf16, fp32 or fp64")
    try:
        return int.from_bytes(form.pack(value), "little")
    except OverflowError:
        return int.from_bytes(form.pack(float("inf") if value > 0 else float("-inf")), "little")


_HANDLERS: dict[type, Callable[[Any, ParameterRule], Classified]] = {
    bool: _classify_bool,
    int: _classify_int,
    float: _classify_float,
    type(None): _classify_none,
    tuple: _classify_tuple,
}
