"""`tl.core`: the core of the language under Triton's module name, with the helpers that user code takes from there."""

# ruff: noqa: F401, F403
from tilewright.language import *
from tilewright.language import (
    _aggregate,
    base_type,
    base_value,
    builtin,
    get_int_dtype,
    item,
    must_use_result,
    to_tensor,
)
from tilewright.language.callables import constexpr_function
from tilewright.language.creation import unsplat as _unsplat
from tilewright.language.elementwise import PropagateNan
from tilewright.language.inline import extern, extern_elementwise, inline_asm_elementwise
from tilewright.language.registry import is_builtin
from tilewright.language.values import constexpr, tensor, tuple
from tilewright.language.values import unwrap as _unwrap_if_constexpr
