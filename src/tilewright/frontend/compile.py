"""The entry of the front end: a kernel with argument types and constants becomes a module."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.ir import Attribute

from tilewright.frontend.errors import span_of
from tilewright.frontend.functions import build_body, finish
from tilewright.frontend.returns import warn_of_lost_constants
from tilewright.frontend.state import FunctionState, ModuleState
from tilewright.language.callables import JITCallable
from tilewright.language.context import CodegenOptions, entered
from tilewright.language.descriptors import tensor_descriptor_type
from tilewright.language.dtypes import void
from tilewright.language.type_names import parse_type
from tilewright.support.errors import ArgumentError, CompilationError
from tilewright.support.recursion import deep_recursion


def compile_to_tt(
    kernel: JITCallable,
    signature: dict[str, Any],
    constants: dict[tuple[int, ...], Any] | None = None,
    attrs: dict[tuple[int, ...], dict[str, int]] | None = None,
    options: CodegenOptions | None = None,
    *,
    name: str | None = None,
) -> ModuleOp:
    """Compile a kernel and the device functions that it calls to a module of the `tt` dialect.

    `signature` maps each parameter to a type (`"*fp32"`, `"i32"`, `"constexpr"`, a tuple of types, ...); `constants`
    maps argument paths, `(2,)` or `(2, 0)` inside of a tuple argument, to compile-time values; `attrs` maps paths to
    argument attributes such as `{"tt.divisibility": 16}`. `name` is the symbol of the kernel, by default the
    function's name.

    Raises CompilationError for a mistake in the kernel and ArgumentError for an unknown type.
    """
    constants = dict(constants or {})
    module = ModuleOp([])
    functions = ModuleState(module, options or CodegenOptions())
    if kernel.is_gluon():
        from tilewright.language.gluon.types import auto_block

        functions.new_block = auto_block
        module.attributes.update(_program_attributes(functions.options))
    try:
        source_tree = kernel.source.tree
    except SyntaxError as error:
        raise CompilationError(str(error), filename=kernel.source.filename, line=kernel.source.start_line) from None
    state = FunctionState(functions, kernel)
    symbol = name or kernel.fn.__name__
    functions.symbols.add(symbol)
    functions.in_progress.append(kernel)
    module.location = state.location_of(source_tree)
    types = [_type_of_parameter(kernel, p, signature, constants) for p in kernel.params]
    with deep_recursion(), entered(state.context):
        build_body(state, types)
    if state.returned.type != void and state.returned.type.flatten_ir_types():
        raise CompilationError(
            f"the kernel `{kernel.fn.__name__}` returns a value; a kernel has no caller to return it to",
            span=span_of(kernel.source, source_tree),
            hint="store the result through a pointer with tl.store",
        )
    warn_of_lost_constants(state)
    inputs = [ir for ty in types for ir in ty.flatten_ir_types()]
    arg_attrs = _argument_attributes(types, attrs or {})
    func = finish(state, symbol, inputs, visibility="public", noinline=False, arg_attrs=arg_attrs)
    block = module.body.block
    if block.first_op is not func:
        func.detach()
        assert block.first_op is not None
        block.insert_op_before(func, block.first_op)
    return module


def _program_attributes(options: CodegenOptions) -> dict[str, Attribute]:
    """Return what layouts are checked against: warps, lanes, CTAs."""
    from tilewright.dialects.ttg import verification

    numbers = {
        verification.NUM_CTAS: options.num_ctas,
        verification.NUM_WARPS: options.num_warps,
        verification.THREADS_PER_WARP: verification.DEFAULT_THREADS_PER_WARP,
    }
    target = StringAttr(f"{options.target_name}:{options.arch}")
    return {verification.TARGET: target, **{name: IntegerAttr(number, i32) for name, number in numbers.items()}}


def _type_of_parameter(
    kernel: JITCallable, parameter: Any, signature: dict[str, Any], constants: dict[Any, Any]
) -> Any:
    path = (parameter.index,)
    text = signature.get(parameter.name)
    if text is None and path not in constants:
        if not parameter.has_default:
            raise CompilationError(
                f"no type and no value is given for the parameter `{parameter.name}` of `{kernel.fn.__name__}`",
                span=span_of(kernel.source, kernel.source.tree),
            )
        constants = {**constants, path: parameter.default}
    try:
        return parse_type(text, constants, path)
    except (ValueError, TypeError) as error:
        raise ArgumentError(parameter.name, str(error), kernel=kernel.fn.__name__) from None


def _argument_attributes(
    types: list[Any], attrs: dict[tuple[int, ...], dict[str, int]]
) -> list[dict[str, Attribute]] | None:
    """Attributes for each IR argument; an argument path leads into tuples."""
    result: list[dict[str, Attribute]] = []
    for position, ty in enumerate(types):
        _collect_attributes(ty, (position,), attrs, result)
    return result if any(result) else None


def _collect_attributes(
    ty: Any, path: tuple[int, ...], attrs: dict[tuple[int, ...], dict[str, int]], result: list[dict[str, Attribute]]
) -> None:
    parts = getattr(ty, "types", None)
    if parts is not None:
        for position, part in enumerate(parts):
            _collect_attributes(part, (*path, position), attrs, result)
        return
    first: dict[str, Attribute] = {key: IntegerAttr(value, i32) for key, value in _as_dict(attrs.get(path, {})).items()}
    if isinstance(ty, tensor_descriptor_type):
        first.update(ty.argument_attributes())
    result.extend(first if index == 0 else {} for index, _ in enumerate(ty.flatten_ir_types()))


def _as_dict(given: Any) -> dict[str, int]:
    """Triton writes attributes as a list of pairs; a dict is accepted as well."""
    return dict(given)
