"""Makes a failing kernel small: statements, branches and expressions are taken away while the failure stays."""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from tilewright.tools.fuzzing.differential import Failure
from tilewright.tools.fuzzing.values import GeneratedKernel

Test = Callable[[str], bool]
"""Whether a kernel's source still fails in the same way."""


def shrink_kernel(source: str, still_fails: Test, attempts: int = 400) -> str:
    """The smallest source found within a number of attempts; `source` itself if nothing could be left out."""
    tree = ast.parse(source)
    remaining = attempts
    changed = True
    while changed and remaining > 0:
        changed = False
        for candidate in _smaller(tree):
            remaining -= 1
            if remaining < 0:
                break
            text = ast.unparse(candidate)
            if still_fails(text + "\n"):
                tree = candidate
                changed = True
                break
    return ast.unparse(tree) + "\n"


def _smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """Candidates, those that take most away first."""
    places = _statements(tree)
    size = max(1, len(places) // 2)
    while size >= 1:
        for start in range(len(places) - size, -1, -size):
            yield _without(tree, set(range(start, start + size)))
        size //= 2
    for index in range(len(places) - 1, -1, -1):
        yield from _simpler(tree, index)
    for index in range(sum(1 for _ in _expressions(tree))):
        yield from _simpler_expression(tree, index)


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse"):
        block = getattr(node, name, None)
        if isinstance(block, list):
            yield block  # pyright: ignore[reportUnknownVariableType]


def _kernel(tree: ast.Module) -> ast.FunctionDef:
    """The kernel, after the functions that it calls."""
    return [node for node in tree.body if isinstance(node, ast.FunctionDef)][-1]


def _statements(tree: ast.Module) -> list[tuple[list[ast.stmt], int]]:
    """All statements of the kernel's body, as (block, position), in a fixed order."""
    found: list[tuple[list[ast.stmt], int]] = []

    def visit(node: ast.AST) -> None:
        for block in _bodies(node):
            for position, statement in enumerate(block):
                found.append((block, position))
                visit(statement)

    function = _kernel(tree)
    visit(function)
    return found


def _without(tree: ast.Module, numbers: set[int]) -> ast.Module:
    """A copy without some statements."""
    result = copy.deepcopy(tree)
    places = _statements(result)
    dropped = {id(block[position]) for index, (block, position) in enumerate(places) if index in numbers}
    for node in ast.walk(result):
        for block in _bodies(node):
            kept = [statement for statement in block if id(statement) not in dropped]
            if not kept and block is getattr(node, "body", None):
                kept = [ast.Pass()]
            block[:] = kept
    return result


def _simpler(tree: ast.Module, number: int) -> Iterator[ast.Module]:
    """Copies in which a compound statement is replaced by one of its bodies."""
    block, position = _statements(tree)[number]
    for which in range(len(list(_bodies(block[position])))):
        result = copy.deepcopy(tree)
        block, position = _statements(result)[number]
        block[position : position + 1] = list(_bodies(block[position]))[which]
        yield result


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Places that hold an expression with subexpressions."""
    function = _kernel(tree)
    for statement in function.body:
        for node in ast.walk(statement):
            for name, value in ast.iter_fields(node):
                if isinstance(value, ast.BinOp | ast.Call | ast.UnaryOp | ast.Compare | ast.BoolOp):
                    yield node, name, None
                elif isinstance(value, list):
                    for index, item in enumerate(value):  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
                        if isinstance(item, ast.BinOp | ast.Call | ast.UnaryOp | ast.Compare):
                            yield node, name, index


def _simpler_expression(tree: ast.Module, number: int) -> Iterator[ast.Module]:
    """Copies in which an expression is replaced by one of its operands."""
    for which in range(3):
        result = copy.deepcopy(tree)
        node, name, index = list(_expressions(result))[number]
        holder = getattr(node, name)
        old = holder if index is None else holder[index]
        parts = _parts(old)
        if which >= len(parts):
            return
        if index is None:
            setattr(node, name, parts[which])
        else:
            holder[index] = parts[which]
        yield result


def _parts(node: ast.AST) -> list[ast.expr]:
    match node:
        case ast.BinOp():
            return [node.left, node.right]
        case ast.UnaryOp():
            return [node.operand]
        case ast.Compare():
            return [node.left]
        case ast.Call(func=ast.Attribute() as function):
            keywords = [word.value for word in node.keywords]
            is_method = not (isinstance(function.value, ast.Name) and function.value.id in ("tl", "gl"))
            return [*([function.value] if is_method else []), *node.args, *keywords]
        case _:
            return []


def shrink_generated(
    kernel: GeneratedKernel, check: Callable[[GeneratedKernel], Failure | None], failure: Failure, attempts: int
) -> GeneratedKernel:
    """A smaller kernel that fails in the same way: same engine, same kind, same first words."""

    def still_fails(source: str) -> bool:
        found = check(replace(kernel, source=source))
        return found is not None and signature(found) == signature(failure)

    source = shrink_kernel(kernel.source, still_fails, attempts)
    used = {node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name)}
    used |= {argument.within for argument in kernel.arguments if argument.name in used}
    arguments = tuple(argument for argument in kernel.arguments if argument.name in used)
    scalars = {name: value for name, value in kernel.scalars.items() if name in used}
    tree = ast.parse(source)
    function = _kernel(tree)
    function.args.args = [arg for arg in function.args.args if arg.arg in used]
    smaller = replace(kernel, source=ast.unparse(tree) + "\n", arguments=arguments, scalars=scalars)
    found = check(smaller)
    same = found is not None and signature(found) == signature(failure)
    return smaller if same else replace(kernel, source=source)


def signature(failure: Failure) -> tuple[str, str, str]:
    """Return what makes two failures the same one: places and numbers do not matter."""
    if failure.kind == "difference":
        return failure.engine, failure.kind, ""
    words = re.sub(r"\S*\d\S*|/\S+", "", failure.message.partition("error:")[2] or failure.message)
    return failure.engine, failure.kind, " ".join(words.split())[:60]
