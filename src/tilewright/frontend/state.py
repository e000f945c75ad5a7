"""What the walk over one function carries along: names, the place where ops go, the module that is being made."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import lru_cache
from typing import Any, TypeVar

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, LocationAttr, ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region, SSAValue

from tilewright.dialects import arith, ub
from tilewright.frontend.errors import located, unsupported, wrapped
from tilewright.frontend.names import Returns
from tilewright.frontend.recovery import FollowUpError, Mistakes, WrongValue
from tilewright.frontend.scope import PYTHON_BUILTINS, global_error, is_usable_global, unknown_name_error
from tilewright.ir.builder import OpBuilder
from tilewright.ir.locations import located_place, named_place
from tilewright.ir.naming import hint_value
from tilewright.language.callables import JITCallable
from tilewright.language.context import CodegenOptions, KernelContext
from tilewright.language.dtypes import block_of, block_type, dtype
from tilewright.language.source import KernelSource
from tilewright.language.values import base_value, tensor
from tilewright.support import knobs
from tilewright.support.errors import CompilationError
from tilewright.support.records import dataclass

OpT = TypeVar("OpT", bound=Operation)


@dataclass
class CompiledFunction:
    """A device function in the module: its symbol, and the type of what it returns (None: nothing)."""

    symbol: str
    return_type: Any


@dataclass
class ModuleState:
    """The module being made, and the device functions that are in it already."""

    module: ModuleOp
    options: CodegenOptions
    functions: dict[Any, CompiledFunction | None] = field(default_factory=dict[Any, "CompiledFunction | None"])
    """By function and what it is compiled for; None while its body is being compiled."""
    failed: set[Any] = field(default_factory=set[Any])
    """Those of them that have errors, which are reported once."""
    symbols: set[str] = field(default_factory=set[str])
    in_progress: list[JITCallable] = field(default_factory=list[JITCallable])
    strings: dict[str, StringAttr] = field(default_factory=dict[str, StringAttr])
    new_block: Callable[[dtype, tuple[int, ...]], block_type] = block_of
    """The type of a block that is made from nothing."""

    def string(self, text: str) -> StringAttr:
        """A string attribute, made once per text."""
        attr = self.strings.get(text)
        if attr is None:
            attr = self.strings[text] = StringAttr(text)
        return attr


@dataclass
class LoopVariableAfterLoop:
    """Stands for a loop variable once its loop has ended: Triton leaves it undefined, so reading it gives
    `ub.poison`."""

    type: dtype
    name: str


@lru_cache(maxsize=8192)
def _int_attr(value: int) -> IntAttr:
    return IntAttr(value)


@dataclass
class Returned:
    """What a function returns: see `frontend.returns`."""

    collected: list[Any] = field(default_factory=list[Any])
    """The `return` statements so far."""
    type: Any = None
    """None as long as it is not known."""


class FunctionState:
    """The walk over one function; one that is compiled `inside` of its caller adds to the caller's body."""

    def __init__(
        self,
        module: ModuleState,
        function: JITCallable,
        num_warps: int | None = None,
        *,
        inside: FunctionState | None = None,
    ) -> None:
        self.module = module
        self.function = function
        self.source: KernelSource = function.source
        self.region = Region(Block()) if inside is None else inside.region
        self.builder = OpBuilder.at_end(self.region.blocks[0]) if inside is None else inside.builder
        self.context = self._new_context(num_warps) if inside is None else inside.context
        self.scope: dict[str, Any] = {}
        self.mistakes = Mistakes()
        self.undefined_reasons: dict[str, str] = {}
        self.returned = Returned()
        self.declared_constants: set[str] = set()
        """Names that are declared `name: tl.constexpr` and not assigned yet."""
        self.terminated = False
        self.structured_depth = 0 if inside is None else inside.structured_depth + 1
        """How many regions of scf ops lie around the current place; `return` is possible only outside of all."""
        self.returns = Returns()
        self.node: ast.AST = self.source.tree
        self._locations: dict[tuple[int, int], LocationAttr] = {}
        self._filename = module.string(self.source.filename)

    def _new_context(self, num_warps: int | None) -> KernelContext:
        options = self.module.options
        return KernelContext(
            self.builder,
            options,
            self._call_from_language,
            self.warn,
            options.num_warps if num_warps is None else num_warps,
            self.module.new_block,
        )

    # -- places -------------------------------------------------------------------------------------------------------
    def locate(self, node: ast.AST) -> None:
        """The ops that follow come from `node`."""
        self.node = node
        self.builder.location = self.location_of(node)

    def location_of(self, node: ast.AST) -> LocationAttr:
        line, column = self.source.line_of(node), self.source.column_of(node)
        found = self._locations.get((line, column))
        if found is None:
            found = located_place(self._filename, _int_attr(line), _int_attr(column))
            self._locations[line, column] = found
        return found

    def insert(self, op: OpT) -> OpT:
        return self.builder.insert(op)

    def new_block(self, arg_types: Sequence[Any] = ()) -> Block:
        """A block at the end of the function, for control flow around `return`."""
        block = Block(arg_types=arg_types)
        self.region.add_block(block)
        return block

    @contextmanager
    def in_region(self, block: Block) -> Generator[None]:
        """Work in the block of an scf op."""
        self.structured_depth += 1
        try:
            with self.builder.at(block):
                yield
        finally:
            self.structured_depth -= 1

    # -- names --------------------------------------------------------------------------------------------------------
    def find(self, name: str) -> Any:
        """The value of a name, or an error that says what to do."""
        if name in self.scope:
            value = self.scope[name]
            if isinstance(value, WrongValue):
                raise FollowUpError(f"the assignment of `{name}` is wrong")
            return self._poison(value) if isinstance(value, LoopVariableAfterLoop) else value
        found, value = self.function.find_name(name)
        if found:
            if not (is_usable_global(value) or self._allows_any_global()):
                raise global_error(name, value)
            return value
        if self.module.options.runs_in_python:
            from tilewright.frontend.host_calls import HOST_FUNCTIONS

            if name in HOST_FUNCTIONS:
                return HOST_FUNCTIONS[name]
        if name in PYTHON_BUILTINS:
            return PYTHON_BUILTINS[name]
        known = [*self.scope, *self.function.fn.__globals__, *PYTHON_BUILTINS]
        raise unknown_name_error(name, known, self.undefined_reasons.get(name))

    def _allows_any_global(self) -> bool:
        return self.module.options.allow_non_constexpr_globals or knobs.get("allow_non_constexpr_globals")

    def _poison(self, variable: LoopVariableAfterLoop) -> tensor:
        self.warn(f"the loop variable `{variable.name}` is undefined after its loop")
        return tensor(self.insert(ub.PoisonOp(variable.type.to_ir())).results[0], variable.type)

    def assign(self, name: str, value: Any) -> None:
        """Bind a local name; the ops that made the value are named after it."""
        self.scope[name] = value
        if isinstance(value, tensor):
            self._name_handle(value.handle, name)
        elif isinstance(value, base_value):
            handles: list[SSAValue] = []
            value.flatten_ir(handles)
            for position, handle in enumerate(handles):
                self._name_handle(handle, f"{name}_{position}")

    def _name_handle(self, handle: SSAValue, name: str) -> None:
        owner = handle.owner
        if isinstance(owner, Block):
            return
        if isinstance(owner.location, FileLineColLoc):
            owner.location = named_place(self.module.string(name), owner.location)
        if handle.name_hint is None and not isinstance(owner, arith.ConstantOp):
            hint_value(handle, name)

    # -- errors -------------------------------------------------------------------------------------------------------
    def error(
        self, node: ast.AST, message: str, hint: str | None = None, kind: type[CompilationError] = CompilationError
    ) -> CompilationError:
        return located(self.source, node, message, hint=hint, kind=kind)

    def unsupported(self, node: ast.AST, message: str, hint: str | None = None) -> CompilationError:
        return unsupported(self.source, node, message, hint)

    def wrapped(self, node: ast.AST, error: Exception) -> CompilationError:
        return wrapped(self.source, node, error)

    def warn(self, message: str) -> None:
        """A Python warning at the current source line."""
        warnings.warn_explicit(message, UserWarning, self.source.filename, self.source.line_of(self.node))

    # -- calls --------------------------------------------------------------------------------------------------------
    def _call_from_language(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        from tilewright.frontend.calls import call

        return call(self, function, args, kwargs)


Visitor = Callable[[FunctionState, Any], Any]
