"""The parameters that a kernel's text declares, as signatures of launches spell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice
from keyword import iskeyword
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr

from tilewright.dialects import make_context, tt
from tilewright.dialects.attributes import NOALIAS
from tilewright.ir.parsing import parse_module
from tilewright.ir.walking import find_ops
from tilewright.language.dtypes import dtype
from tilewright.language.type_names import SCALARS
from tilewright.support.records import dataclass

if TYPE_CHECKING:
    from xdsl.ir import Attribute, BlockArgument

ADDRESS = "i64"
"""What a pointer in memory is to the host."""


@dataclass(frozen=True)
class DeclaredParameter:
    """A parameter of a kernel: its name, its type in signatures, and whether 16 divides what is passed."""

    name: str
    kind: str
    divisible: bool


@dataclass(frozen=True)
class Declaration:
    """What a text says of its kernel: the parameters, and whether pointers are to point to disjoint memory."""

    kernel: str
    parameters: tuple[DeclaredParameter, ...]
    disjoint: bool


def read_declaration(text: str, filename: str) -> Declaration | None:
    """Read the parameters of the first public `tt.func`; None where there is none, or one of them cannot be passed by
    a launch (a tensor). Raises ParseError."""
    module = parse_module(text, make_context(), filename)
    for function in find_ops(module, tt.FuncOp):
        if function.is_public and not function.is_declaration:
            kinds = list(_kinds(function.args))
            if None in kinds:
                return None
            return Declaration(function.sym_name.data, _parameters(function, kinds), NOALIAS in function.attributes)
    return None


def _parameters(function: tt.FuncOp, kinds: Sequence[tuple[int, str] | None]) -> tuple[DeclaredParameter, ...]:
    hints = [argument.name_hint or "" for argument in function.args]
    is_named = all(hint.isidentifier() and not iskeyword(hint) for hint in hints) and len(set(hints)) == len(hints)
    return tuple(
        DeclaredParameter(hints[index] if is_named else f"arg{index}", kind, _is_divisible(function, index))
        for index, kind in filter(None, kinds)
    )


def _kinds(arguments: Sequence[BlockArgument]) -> Iterator[tuple[int, str] | None]:
    """Yield the index and the type of each argument that a launch passes; None for a type that it cannot pass.

    The extents and strides of a descriptor follow it, and come with it: ``%d: !tt.tensordesc<8x8xf16>, %m: i32,
    %n: i32, %row: i64, %column: i64`` is one argument.
    """
    remaining = enumerate(arguments)
    for index, argument in remaining:
        kind = _kind(argument.type)
        yield None if kind is None else (index, kind)
        if isinstance(argument.type, tt.TensorDescType):
            rank = len(argument.type.block_type.get_shape())
            following = [_kind(argument.type) for _, argument in islice(remaining, 2 * rank)]
            if following != ["i32"] * rank + ["i64"] * rank:
                yield None


def _kind(type: Attribute) -> str | None:
    match type:
        case tt.TensorDescType():
            element = _scalar_names().get(type.block_type.element_type)
            return None if element is None else f"tensordesc<{element}{list(type.block_type.get_shape())}>"
        case tt.PointerType(pointee_type=tt.PointerType()):
            return f"*{ADDRESS}"
        case tt.PointerType():
            element = _scalar_names().get(type.pointee_type)
            return None if element is None else f"*{element}".replace("*u1", "*i1")
        case _:
            return _scalar_names().get(type)


@cache
def _scalar_names() -> dict[Attribute, str]:
    """Element types, as the IR and as signatures have them; integers of the IR have no sign."""
    names = ("u1", *(f"i{bits}" for bits in (8, 16, 32, 64)), *dtype.FP_TYPES)
    found: dict[Attribute, str] = {}
    for name in names:
        found.setdefault(SCALARS[name].to_ir(), name)
    return found


def _is_divisible(function: tt.FuncOp, index: int) -> bool:
    """Return whether the text promises that 16 divides an argument."""
    attributes = function.arg_attrs
    hint = None if attributes is None else attributes.data[index].data.get("tt.divisibility")
    return isinstance(hint, IntegerAttr) and hint.value.data % 16 == 0
