"""What can be known about a piece of syntax before it is compiled: which names it assigns, and whether it returns."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator


def assigned_names(nodes: Iterable[ast.AST]) -> set[str]:
    """Names that statements bind: by assignment, as a loop variable, or by `with ... as`. Not inside lambdas or
    comprehensions, which have scopes of their own."""
    found: set[str] = set()
    stack: list[ast.AST] = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Store):
                found.add(node.id)
        elif not isinstance(node, ast.Lambda | ast.ListComp | ast.FunctionDef):
            stack.extend(ast.iter_child_nodes(node))
    return found


def _statements(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    stack = list(nodes)
    while stack:
        node = stack.pop()
        if isinstance(node, ast.FunctionDef | ast.Lambda | ast.ClassDef):
            continue
        yield node
        stack.extend(child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt))


def find_returns(nodes: Iterable[ast.AST]) -> list[ast.Return]:
    """The `return` statements among these, at any depth."""
    return [node for node in _statements(nodes) if isinstance(node, ast.Return)]
