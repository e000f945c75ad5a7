"""What is said where a pointer is expected and there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tilewright.language.registry import with_hint
from tilewright.language.values import tensor

if TYPE_CHECKING:
    from xdsl.ir import SSAValue


def no_pointer_error(pointer: tensor, function: str) -> Exception:
    """The error of `tl.load(7)`; it names the arguments that are integers, for those may be addresses."""
    error = ValueError(f"Unsupported ptr type {pointer} in `tl.{function}`")
    if not pointer.dtype.is_int():
        return with_hint(error, "expected a pointer or a block of pointers")
    names = _wide_arguments(pointer.handle)
    said = f"; {' and '.join(f'`{name}`' for name in names)} came as an integer" if names else ""
    return with_hint(
        error, f"expected a pointer or a block of pointers{said}; pass the array or tensor itself, not its address"
    )


def _wide_arguments(value: SSAValue) -> list[str]:
    """The names of the 64-bit integers among the arguments that a value is computed from: an address needs so many."""
    from xdsl.dialects.builtin import i64
    from xdsl.ir import Operation

    names: list[str] = []
    pending, seen = [value], set[object]()
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if isinstance(one.owner, Operation):
            pending.extend(one.owner.operands)
        elif one.name_hint and one.type == i64:
            names.append(one.name_hint)
    return sorted(names)
