"""`symbol-dce`: functions that no public one reaches."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation
from xdsl.traits import SymbolOpInterface

from tilewright.ir.passes import Pass, PassContext, register_pass
from tilewright.ir.walking import ops_within

_WITHOUT_SYMBOLS = {DenseArrayBase, DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, StringAttr, UnitAttr}
"""Attributes that most ops have, in which no other attribute that names a symbol can be."""


def symbols_used_by(attributes: Iterable[Attribute]) -> set[str]:
    """The root symbols that attributes refer to, however deep inside them."""
    found: set[str] = set()
    stack = list(attributes)
    while stack:
        attribute = stack.pop()
        if isinstance(attribute, SymbolRefAttr):
            found.add(attribute.root_reference.data)
        stack.extend(_children(attribute))
    return found


def _children(attribute: Attribute) -> Iterable[Attribute]:
    parameters = getattr(attribute, "parameters", None)
    if parameters is not None:
        return parameters
    data = getattr(attribute, "data", None)
    if isinstance(data, tuple | list):
        return [child for child in cast(Sequence[object], data) if isinstance(child, Attribute)]
    if isinstance(data, dict):
        return cast(Mapping[str, Attribute], data).values()
    return ()


def referenced_symbols(op: Operation) -> set[str]:
    """The symbols that `op` and what it holds refer to."""
    found: set[str] = set()
    for inner in ops_within(op):
        for kept in (inner.properties, inner.attributes):
            attributes = [attribute for attribute in kept.values() if type(attribute) not in _WITHOUT_SYMBOLS]
            if attributes:
                found |= symbols_used_by(attributes)
    return found


def is_private(op: Operation) -> bool:
    """Return whether a symbol can be seen only from inside its module."""
    visibility = op.properties.get("sym_visibility")
    return isinstance(visibility, StringAttr) and visibility.data == "private"


def symbol_name(op: Operation) -> str | None:
    """The name that an op defines in its module, or None."""
    name = op.properties.get("sym_name")
    return (
        name.data
        if isinstance(name, StringAttr) and op.has_trait(SymbolOpInterface, value_if_unregistered=False)
        else None
    )


@register_pass
class SymbolDcePass(Pass):
    """Erases private functions that no public one reaches.

    Before:
    ```mlir
    tt.func private @unused() { tt.return }
    tt.func public @kernel() { tt.return }
    ```
    After:
    ```mlir
    tt.func public @kernel() { tt.return }
    ```
    """

    name = "symbol-dce"
    title = "SymbolDCE"

    def run(self, module: ModuleOp, context: PassContext) -> None:
        symbols = {name: op for op in module.ops if (name := symbol_name(op)) is not None}
        private = {name for name, op in symbols.items() if is_private(op)}
        if not private:
            return
        live: set[str] = set()
        stack = [op for op in module.ops if symbol_name(op) not in private]
        while stack:
            for name in referenced_symbols(stack.pop()) - live:
                live.add(name)
                if name in private:
                    stack.append(symbols[name])
        for name in private - live:
            module.body.block.erase_op(symbols[name], safe_erase=False)
