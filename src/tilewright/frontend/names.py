"""What can be known about a piece of syntax before it is compiled: which names it assigns, and whether it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any


def assigned_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind: by assignment, as a loop variable, or by `with ... as`. Not inside lambdas or
    comprehensions, which have scopes of their own."""
    found: set[str] = set()
    for node in nodes:
        found.update(_names_assigned_in(node))
    return found


def _names_assigned_in(node: Any) -> frozenset[str]:
    """Find what a node binds. It is kept with nodes that hold others: loops in one another ask for it each."""
    known: frozenset[str] | None = node.__dict__.get("tilewright_assigned")
    if known is not None:
        return known
    if isinstance(node, ast.Name):
        return frozenset((node.id,)) if isinstance(node.ctx, ast.Store) else frozenset()
    if isinstance(node, ast.Lambda | ast.ListComp | ast.FunctionDef):
        return frozenset()
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        found |= _names_assigned_in(child)
    node.tilewright_assigned = frozenset(found)
    return node.tilewright_assigned


class Returns:
    """The `return` statements inside of statements, each looked at once: a chain of `elif` is conditionals in one
    another, of which each is asked about."""

    def __init__(self) -> None:
        self._known: dict[ast.AST, ast.Return | None] = {}

    def find(self, node: ast.AST) -> ast.Return | None:
        """A `return` statement at any depth: the last one of the function, and not of functions inside of it."""
        if node in self._known:
            return self._known[node]
        found = self._find(node)
        self._known[node] = found
        return found

    def _find(self, node: ast.AST) -> ast.Return | None:
        if isinstance(node, ast.Return):
            return node
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            return None
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]
        for child in reversed(children):  # no generator: recursion through it would take the machine's stack
            found = self.find(child)
            if found is not None:
                return found
        return None
