"""Leaving the language: inline assembly and functions of a device library."""

from __future__ import annotations

import builtins
from typing import Any

from tilewright.language.casts import element_type
from tilewright.language.context import emit, emit_many
from tilewright.language.creation import as_tensor
from tilewright.language.dtypes import dtype
from tilewright.language.ir_modules import tt
from tilewright.language.promotion import promote_operands
from tilewright.language.registry import builtin, unwrap_list
from tilewright.language.shape import broadcast_pair, broadcast_to_shape
from tilewright.language.values import is_sequence, tensor, tuple, unwrap


@builtin
def inline_asm_elementwise(asm: Any, constraints: Any, args: Any, dtype: Any, is_pure: Any, pack: Any) -> Any:
    """Run target assembly on `pack` elements of the arguments at a time; they are broadcast to one shape.

    `dtype` is the result's element type, or a tuple of them for several results. Targets other than NVIDIA's take PTX
    whose instructions treat every lane by itself.
    """
    plain = unwrap(dtype)
    several = is_sequence(plain)
    dtypes = [element_type(d) for d in plain] if several else [element_type(plain)]
    values = [as_tensor(a, "args") for a in unwrap_list(args, "args")]
    for position in range(1, len(values)):
        values[0], values[position] = broadcast_pair(values[0], values[position])
    values = [broadcast_to_shape(v, values[0].extents) for v in values]
    types = [values[0].type.with_element_ty(ty) if values else ty for ty in dtypes]
    op = tt.ElementwiseInlineAsmOp(
        [v.handle for v in values],
        [ty.to_ir() for ty in types],
        asm_string=unwrap(asm),
        constraints=unwrap(constraints),
        pure=bool(unwrap(is_pure)),
        packed_element=unwrap(pack),
    )
    results = [tensor(handle, ty) for handle, ty in zip(emit_many(op), types, strict=True)]
    return tuple(results) if several else results[0]


@builtin
def extern_elementwise(lib_name: Any, lib_path: Any, args: Any, arg_type_symbol_dict: Any, is_pure: Any) -> tensor:
    """Call a function of a device library on each element.

    `arg_type_symbol_dict` maps a tuple of argument dtypes to (symbol, result dtype). Arguments are promoted and
    broadcast together; the resulting dtypes must be in the table.
    """
    table: dict[Any, Any] = unwrap(arg_type_symbol_dict)
    values = [as_tensor(a, "args") for a in unwrap_list(args, "args")]
    given = builtins.tuple(v.dtype for v in values)
    if len(values) > 1 and given not in table:
        values = _promote_all(values)
        given = builtins.tuple(v.dtype for v in values)
    elif len(values) > 1:
        for position in range(1, len(values)):
            values[0], values[position] = broadcast_pair(values[0], values[position])
        values = [broadcast_to_shape(v, values[0].extents) for v in values]
    symbol, result = _find_symbol(table, given)
    ty = values[0].type.with_element_ty(result)
    op = tt.ExternElementwiseOp(
        [v.handle for v in values],
        ty.to_ir(),
        libname=unwrap(lib_name),
        libpath=unwrap(lib_path),
        symbol=symbol,
        pure=bool(unwrap(is_pure)),
    )
    return tensor(emit(op), ty)


def _promote_all(values: list[tensor]) -> list[tensor]:
    first = values[0]
    for other in values[1:]:
        first, _ = promote_operands(first, other)
    return [promote_operands(v, first)[0] for v in values]


def _find_symbol(table: dict[Any, Any], given: Any) -> builtins.tuple[str, dtype]:
    plain = {builtins.tuple(element_type(t) for t in key): value for key, value in table.items()}
    if given not in plain:
        known = "; ".join(str([str(t) for t in key]) for key in plain)
        raise ValueError(f"input arg type does not match. Expect one of {known}, got {[str(t) for t in given]}")
    symbol, result = plain[given]
    return symbol, element_type(result)


def extern(fn: Any) -> Any:
    """Decorator for library functions that end in `extern_elementwise`."""
    return builtin(fn)
