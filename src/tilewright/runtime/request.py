"""From bound arguments to what the compiler is asked for: signature, constants, attributes."""

from __future__ import annotations

from typing import Any

from tilewright.compiler.compile import CompileRequest
from tilewright.compiler.options import CompileOptions
from tilewright.language.callables import JITCallable
from tilewright.runtime.binding import Bound
from tilewright.runtime.specialization import DIVISIBILITY, Classified, Constant, Group, Pointer, Scalar

Path = tuple[int, ...]


def kernel_request(function: JITCallable, bound: Bound, options: CompileOptions) -> CompileRequest:
    """The compilation that a launch with these arguments needs."""
    constants: dict[Path, Any] = {}
    attributes: dict[Path, dict[str, int]] = {}
    signature: dict[str, Any] = {}
    for index, (name, item) in enumerate(zip(bound.names, bound.items, strict=True)):
        signature[name] = _describe((index,), item, constants, attributes)
    return CompileRequest(function, signature, constants, attributes, options, bound.pointers_disjoint())


def _describe(path: Path, item: Classified, constants: dict[Path, Any], attributes: dict[Path, dict[str, int]]) -> Any:
    match item:
        case Constant(value):
            constants[path] = value
            return "constexpr"
        case Scalar(kind, _, divisible) | Pointer(kind, _, divisible):
            if divisible:
                attributes[path] = {"tt.divisibility": DIVISIBILITY}
            return kind
        case Group(items, template):
            kinds = [_describe((*path, index), inner, constants, attributes) for index, inner in enumerate(items)]
            return tuple(kinds) if template is None else template(*kinds)
