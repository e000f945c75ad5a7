"""Types and specialisation of arguments in Triton's words: what programs ask that describe kernels to the compiler
themselves, as PyTorch's does, or that keep track of what is compiled, as vLLM does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tilewright.runtime.specialization import (
    DIVISIBILITY,
    Constant,
    Descriptor,
    Group,
    ParameterRule,
    Pointer,
    Scalar,
    classify,
)
from tilewright.runtime.storage import dtype_name

CONSTANT = "constexpr"

ALIGNED = "D"
"""What Triton writes for a multiple of 16; `parse_attr` of a back end reads it."""


def native_specialize_impl(
    backend: Any, arg: Any, is_const: bool = False, specialize_value: bool = True, align: bool = True
) -> tuple[Any, Any]:
    """The type of an argument, and what the kernel is told of it: "D" of a multiple of 16, its value if it is a
    constant, None where nothing is. Raises ArgumentTypeError for what kernels do not take."""
    name = dtype_name(arg.dtype) if hasattr(arg, "data_ptr") and hasattr(arg, "dtype") else None
    if name is not None:  # PyTorch asks of tensors while it traces, when many of their methods are not to be called
        is_aligned = align and arg.data_ptr() % DIVISIBILITY == 0
        return ("*k" if is_const else "*") + name, ALIGNED if is_aligned else None
    rule = ParameterRule("", is_const=is_const, specialize=specialize_value, specialize_alignment=align)
    return described(classify(arg, rule))


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """The type of an argument."""
    return native_specialize_impl(None, arg, False, specialize, True)[0]


def described(item: Any) -> tuple[Any, Any]:
    """The same of an argument that is classified."""
    match item:
        case Constant(value):
            return CONSTANT, value
        case Scalar(type, _, divisible) | Pointer(type, _, divisible):
            return type, ALIGNED if divisible else None
        case Group(items):
            pairs = [described(inner) for inner in items]
            return tuple(kind for kind, _ in pairs), tuple(told for _, told in pairs)
        case _:
            assert isinstance(item, Descriptor)
            return item.type, None


def compute_cache_key(kernel_key_cache: dict[Any, Any], specialization: Sequence[Any], options: Any) -> str:
    """Return what tells a compiled kernel from others of its function: the last two of what `binder(...)` of
    `kernel.device_caches` returns. `kernel_key_cache` keeps it."""
    key = (tuple(specialization), str(options))
    if key not in kernel_key_cache:
        kernel_key_cache[key] = f"{[tuple(map(_named, pair)) for pair in specialization]}{options}"
    return kernel_key_cache[key]


def _named(value: Any) -> Any:
    """A constant, kernels by their source."""
    return getattr(value, "cache_key", value)
