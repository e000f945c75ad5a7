"""How a kernel's parameters treat their arguments, read off its annotations and the decorator's options."""

from __future__ import annotations

from tilewright.language.callables import JITCallable, Parameter
from tilewright.language.dtypes import dtype
from tilewright.runtime.specialization import ParameterRule
from tilewright.runtime.storage import NUMPY_DTYPES
from tilewright.support.errors import CompilationError

#: What an annotation may say to force the type of a scalar, by every spelling of it.
SCALAR_TYPES = {
    **{name: name for name in ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64")},
    **{f"int{width}": f"i{width}" for width in (8, 16, 32, 64)},
    **{f"uint{width}": f"u{width}" for width in (8, 16, 32, 64)},
    "int1": "u1",
    "i1": "u1",
    "u1": "u1",
    "bool": "u1",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float32": "fp32",
    "float64": "fp64",
}

TYPE_NAMES = {
    **NUMPY_DTYPES,
    **{dtype(short).codegen_name(): short for short in dtype.FP_TYPES},
    **{short: short for short in (*NUMPY_DTYPES.values(), *dtype.FP_TYPES)},
    **SCALAR_TYPES,
    "uint1": "u1",
    "half": "fp16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
    "void": "void",
}
"""Every spelling of an element type, of NumPy and PyTorch as well, and its name in signatures."""

#: Annotations that also turn specialisation off, as in Triton.
UNSPECIALIZED = ("fp", "bf", "u1")


def parameter_rules(function: JITCallable) -> tuple[ParameterRule, ...]:
    """One rule per parameter. Raises CompilationError when a constexpr parameter is told not to specialise."""
    for parameter in function.params:
        for option in ("do_not_specialize", "do_not_specialize_on_alignment"):
            if parameter.is_constexpr and getattr(parameter, option):
                raise CompilationError(
                    f"kernel '{function.__name__}': {parameter.name} marked as constexpr and listed in {option}",
                    filename=function.source.filename,
                    line=function.source.start_line,
                    hint="list run-time parameters only: a constant is always specialised on",
                )
    return tuple(_rule(parameter) for parameter in function.params)


def _rule(parameter: Parameter) -> ParameterRule:
    forced = None if parameter.is_constexpr else _forced_type(parameter.annotation)
    specialize = not parameter.do_not_specialize and not (forced or "").startswith(UNSPECIALIZED)
    return ParameterRule(
        name=parameter.name,
        is_constexpr=parameter.is_constexpr,
        is_const=parameter.is_const,
        specialize=specialize,
        specialize_alignment=not parameter.do_not_specialize_on_alignment,
        forced_type=forced,
    )


def _forced_type(annotation: str) -> str | None:
    """The signature type that an annotation asks for: `tl.int64`, "i64", `*fp32`; None for any other annotation."""
    text = annotation.rpartition(".")[2] if not annotation.startswith("*") else annotation
    if text.startswith("*"):
        element = text.removeprefix("*").removeprefix("k").rpartition(".")[2]
        return f"*{SCALAR_TYPES[element].replace('u1', 'i1')}" if element in SCALAR_TYPES else None
    return SCALAR_TYPES.get(text)
