"""Aliases of attributes in printed IR: ``#map``, ``#blocked``, ``#loc3``.

While a module is printed, a use of an aliased attribute puts an `Alias` between the pieces of text. Names are only
chosen at the end, when all are known: by nesting depth, then by name, then in order of first use, as upstream does.

An attribute class asks for an alias by a property `alias_name` (None for no alias):

```python
class BlockedEncodingAttr(ParametrizedAttribute):
    @property
    def alias_name(self) -> str:
        return "blocked"    # #blocked, #blocked1, ... with `#blocked = #ttg.blocked<{...}>` on top
```
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir import Attribute, TypeAttribute

from tilewright.support.records import dataclass


@dataclass(eq=False)
class Alias:
    """One aliased attribute: the pieces of its definition, and its name once that is chosen."""

    base: str
    is_type: bool
    deferrable: bool
    body: list[str | Alias] = field(default_factory=list["str | Alias"])
    depth: int = 1
    name: str = ""

    def close(self) -> None:
        """The definition is complete: an alias lies one deeper than the aliases in it."""
        self.depth = 1 + max((piece.depth for piece in self.body if isinstance(piece, Alias)), default=0)

    def require_early(self) -> None:
        """The alias is used where its definition must come first: at the top, with everything it uses."""
        if not self.deferrable:
            return
        self.deferrable = False
        for piece in self.body:
            if isinstance(piece, Alias):
                piece.require_early()


Pieces = list[str | Alias]
"""Printed text with names of aliases still open."""


def alias_base(attribute: Attribute) -> str | None:
    """The alias that an attribute asks for, without ``#`` and number."""
    if isinstance(attribute, AffineMapAttr):
        return "map"
    if isinstance(attribute, AffineSetAttr):
        return "set"
    return getattr(attribute, "alias_name", None)


class AliasTable:
    """All aliases of one printed module."""

    def __init__(self) -> None:
        self._by_attribute: dict[Attribute, Alias] = {}
        self._unaliased: dict[type[Attribute], bool] = {}

    def never_aliased(self, cls: type[Attribute]) -> bool:
        """Return whether no attribute of a class has an alias, so that looking it up can be saved."""
        known = self._unaliased.get(cls)
        if known is None:
            known = not (issubclass(cls, AffineMapAttr | AffineSetAttr) or hasattr(cls, "alias_name"))
            self._unaliased[cls] = known
        return known

    def use(
        self, attribute: Attribute, base: str, print_body: Callable[[Pieces], None], *, deferrable: bool = False
    ) -> Alias:
        """The alias of an attribute; at its first use `print_body` writes the definition."""
        alias = self._by_attribute.get(attribute)
        if alias is None:
            alias = Alias(base, isinstance(attribute, TypeAttribute), deferrable)
            self._by_attribute[attribute] = alias
            print_body(alias.body)
            alias.close()
        if not deferrable:
            alias.require_early()
        return alias

    def choose_names(self) -> None:
        """Fix the names of all aliases."""
        counts: dict[str, int] = {}
        for alias in self._sorted():
            index = counts.get(alias.base, 0)
            counts[alias.base] = index + 1
            gap = "_" if index and alias.base[-1:].isdigit() else ""
            alias.name = f"{'!' if alias.is_type else '#'}{alias.base}{gap}{index or ''}"

    def definitions(self, *, deferred: bool) -> Iterator[str]:
        """The lines ``#name = definition`` for the top, or for the end of the file."""
        for alias in self._sorted():
            if alias.deferrable == deferred:
                yield f"{alias.name} = {join_pieces(alias.body)}\n"

    def _sorted(self) -> list[Alias]:
        return sorted(self._by_attribute.values(), key=lambda alias: (alias.depth, not alias.is_type, alias.base))


def join_pieces(pieces: Pieces) -> str:
    """The text, once names are chosen."""
    return "".join([piece if isinstance(piece, str) else piece.name for piece in pieces])
