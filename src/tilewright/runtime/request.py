"""From bound arguments to what the compiler is asked for: signature, constants, attributes."""

from __future__ import annotations

from typing import Any

from tilewright.compiler.source import ArgumentPath, ASTSource
from tilewright.language.callables import JITCallable
from tilewright.runtime.binding import Bound
from tilewright.runtime.specialization import DIVISIBILITY, Classified, Constant, Descriptor, Group, Pointer, Scalar

Constants = dict[ArgumentPath, Any]
Attributes = dict[ArgumentPath, dict[str, int]]


def kernel_source(function: JITCallable, bound: Bound) -> ASTSource:
    """The kernel specialised for a launch with these arguments."""
    constants: Constants = {}
    attributes: Attributes = {}
    signature: dict[str, Any] = {}
    for index, (name, item) in enumerate(zip(bound.names, bound.items, strict=True)):
        signature[name] = _describe((index,), item, constants, attributes)
    return ASTSource(function, signature, constants, attributes, noalias=True, sharing=bound.sharing())


def _describe(path: ArgumentPath, item: Classified, constants: Constants, attributes: Attributes) -> Any:
    match item:
        case Constant(value):
            constants[path] = value
            return "constexpr"
        case Scalar(kind, _, divisible) | Pointer(kind, _, divisible):
            if divisible:
                attributes[path] = {"tt.divisibility": DIVISIBILITY}
            return kind
        case Descriptor(kind, _):
            return kind
        case Group(items, template):
            kinds = [_describe((*path, index), inner, constants, attributes) for index, inner in enumerate(items)]
            return tuple(kinds) if template is None else template(*kinds)
