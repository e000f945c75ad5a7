"""The functions that the front end compiles. They are defined in `language`, whose library functions are such
themselves."""

from tilewright.language.callables import (
    ConstexprFunction,
    JITCallable,
    KernelSource,
    Parameter,
    constexpr_function,
    is_jit,
    language_function,
)

__all__ = [
    "ConstexprFunction",
    "JITCallable",
    "KernelSource",
    "Parameter",
    "constexpr_function",
    "is_jit",
    "language_function",
]
