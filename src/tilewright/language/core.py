"""`tl.core`: the core of the language under Triton's module name, with the helpers that user code takes from there."""

from __future__ import annotations

from typing import Any

from tilewright import language as _language
from tilewright.language import _aggregate, get_int_dtype, item, must_use_result, to_tensor
from tilewright.language.callables import JITCallable, constexpr_function
from tilewright.language.creation import unsplat as _unsplat
from tilewright.language.dtypes import base_type, validate_block_shape
from tilewright.language.inline import extern, extern_elementwise, inline_asm_elementwise
from tilewright.language.registry import builtin, is_builtin
from tilewright.language.values import base_value, constexpr, slice_type
from tilewright.language.values import unwrap as _unwrap_if_constexpr

CONSTEXPR_0 = constexpr(0)
"""What Triton's own library functions have as a default where they mean 0 or False; copies of them name it too."""


def __getattr__(name: str) -> Any:
    """Everything else is the language's own."""
    return getattr(_language, name)


__all__ = [
    "CONSTEXPR_0",
    "JITCallable",
    "_aggregate",
    "_unsplat",
    "_unwrap_if_constexpr",
    "base_type",
    "base_value",
    "builtin",
    "constexpr",
    "constexpr_function",
    "extern",
    "extern_elementwise",
    "get_int_dtype",
    "inline_asm_elementwise",
    "is_builtin",
    "item",
    "must_use_result",
    "slice_type",
    "to_tensor",
    "validate_block_shape",
]
