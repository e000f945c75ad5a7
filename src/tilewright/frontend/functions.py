"""From a Python function and the values of its parameters to a `tt.func`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, NameLoc, i32
from xdsl.ir import Attribute, BlockArgument, SSAValue

from tilewright.dialects import tt, ttg
from tilewright.frontend.returns import emit_returns
from tilewright.frontend.state import CompiledFunction, FunctionState, ModuleState
from tilewright.frontend.statements import lower_body
from tilewright.ir.naming import hint_value
from tilewright.language.callables import JITCallable
from tilewright.language.context import entered
from tilewright.language.dtypes import void
from tilewright.language.values import type_of


def compile_device_function(
    module: ModuleState, function: JITCallable, values: Sequence[Any], num_warps: int
) -> CompiledFunction:
    """Add a private function to the module, for arguments of these types and constants, that so many warps run."""
    is_partition = num_warps != module.options.num_warps
    symbol = unique_symbol(module, mangled_name(function, values) + (f"_NW{num_warps}" if is_partition else ""))
    types = [type_of(value) for value in values]
    state = FunctionState(module, function, num_warps)
    module.in_progress.append(function)
    try:
        with entered(state.context):
            build_body(state, types)
    finally:
        module.in_progress.pop()
    inputs = [ir for ty in types for ir in ty.flatten_ir_types()]
    func = finish(state, symbol, inputs, visibility="private", noinline=function.noinline)
    if is_partition:
        func.attributes[ttg.NUM_WARPS] = IntegerAttr(num_warps, i32)
    return CompiledFunction(symbol, state.returned.type)


def build_body(state: FunctionState, types: Sequence[Any]) -> None:
    """Bind the parameters to the arguments of the entry block and compile the statements."""
    entry = state.builder.block
    location = state.location_of(state.source.tree)
    for ty in types:
        for ir in ty.flatten_ir_types():
            entry.insert_arg(ir, len(entry.args))
    cursor = 0
    args: list[SSAValue] = list(entry.args)
    for parameter, ty in zip(state.function.params, types, strict=True):
        value, end = ty.unflatten_ir(args, cursor)
        state.scope[parameter.name] = value
        for position, arg in enumerate(args[cursor:end]):
            name = parameter.name if end - cursor == 1 else f"{parameter.name}_{position}"
            hint_value(arg, name)
            entry.args[cursor + position].location = NameLoc(state.module.string(name), location)
        cursor = end
    lower_body(state, state.source.tree.body)
    state.mistakes.check()
    emit_returns(state)


def finish(
    state: FunctionState,
    symbol: str,
    inputs: Sequence[Attribute],
    *,
    visibility: str,
    noinline: bool,
    arg_attrs: Sequence[dict[str, Attribute]] | None = None,
) -> tt.FuncOp:
    """Make the function op around the finished region and put it into the module."""
    results: list[Attribute] = [] if state.returned.type == void else state.returned.type.flatten_ir_types()
    arg_attrs = _with_hints(state, len(inputs), arg_attrs)
    func = tt.FuncOp(
        symbol, (list(inputs), results), state.region, visibility=visibility, arg_attrs=arg_attrs, noinline=noinline
    )
    func.location = state.location_of(state.source.tree)
    state.module.module.body.block.add_op(func)
    return func


def _with_hints(
    state: FunctionState, count: int, arg_attrs: Sequence[dict[str, Attribute]] | None
) -> Sequence[dict[str, Attribute]] | None:
    """Argument attributes with what `tl.multiple_of` and its kin said about arguments of the function."""
    hints = state.context.facts.get("argument_hints", [])
    entry = state.region.blocks[0]
    attributes: list[dict[str, Attribute]] = [dict(given) for given in arg_attrs or [{}] * count]
    for handle, name, value in hints:
        if isinstance(handle, BlockArgument) and handle.block is entry:
            attributes[handle.index][name] = value
    return attributes if any(attributes) else None


# -- symbols ----------------------------------------------------------------------------------------------------------
_REPLACED = {"'": "_sq_", "[": "_", "]": "_"}


def mangled_name(function: JITCallable, values: Sequence[Any]) -> str:
    """`<module>.<qualname>__<types>`, as Triton writes it; the type of a constant is `c<repr>`."""
    types = "_".join(type_of(value).mangle() for value in values)
    for character, text in _REPLACED.items():
        types = types.replace(character, text)
    return re.sub(r"[\"\\\n]", "_", f"{function.fn_name}__{types}")


def unique_symbol(module: ModuleState, symbol: str) -> str:
    """Two different functions may mangle alike (closures made in a loop, say): number the later ones."""
    candidate, suffix = symbol, 1
    while candidate in module.symbols:
        candidate, suffix = f"{symbol}_{suffix}", suffix + 1
    module.symbols.add(candidate)
    return candidate
